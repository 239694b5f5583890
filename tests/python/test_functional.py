"""torch.nn.functional: arguments that only Python has, images, padding, CTC."""

import itertools
import math
import warnings

import pytest

import torch
import torch.nn.functional as F


def test_inplace_and_reduction():
    x = torch.tensor([-1.0, 2.0])
    assert F.relu(x, inplace=True) is x and x.tolist() == [0.0, 2.0]
    with pytest.raises(ValueError, match="abc is not a valid value for reduction"):
        F.mse_loss(x, x, reduction="abc")
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert F.mse_loss(x, x + 1, size_average=False).item() == 2.0
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        F.softmax(x)
    with pytest.raises(ValueError, match="between 0 and 1, but got 1.5"):
        F.dropout(x, 1.5)


def test_interpolate_values():
    x = torch.tensor([[[0.0, 1.0, 2.0, 3.0]]])
    assert F.interpolate(x, size=2).flatten().tolist() == [0.0, 2.0]
    assert F.interpolate(x, size=2, mode="linear").flatten().tolist() == [0.5, 2.5]
    assert F.interpolate(x, size=7, mode="linear", align_corners=True).flatten().tolist() == [
        0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    y = torch.randn(2, 3, 6, 5)
    last = y.to(memory_format=torch.channels_last)
    a = F.interpolate(y, scale_factor=1.7, mode="bicubic")
    b = F.interpolate(last, scale_factor=1.7, mode="bicubic")
    assert torch.allclose(a, b) and b.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_interpolate_gradients(mode):
    x = torch.randn(1, 2, 3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: F.interpolate(t, size=(5, 3), mode=mode), (x,))
    if mode != "nearest":
        assert torch.autograd.gradcheck(
            lambda t: F.interpolate(t, size=(2, 3), mode=mode, antialias=True), (x,))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample_gradients(mode, padding):
    x = torch.randn(1, 2, 4, 3, dtype=torch.float64, requires_grad=True)
    grid = (torch.rand(1, 2, 3, 2, dtype=torch.float64) * 2.6 - 1.3).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda a, g: F.grid_sample(a, g, mode, padding, align_corners=False), (x, grid))


def test_affine_grid_identity():
    theta = torch.eye(2, 3).unsqueeze(0)
    x = torch.randn(1, 1, 4, 5)
    grid = F.affine_grid(theta, [1, 1, 4, 5], align_corners=False)
    assert torch.allclose(F.grid_sample(x, grid, align_corners=False), x, atol=1e-5)


def test_pad():
    x = torch.arange(3.0).view(1, 3)
    assert F.pad(x, (2, 1), "reflect").flatten().tolist() == [2.0, 1.0, 0.0, 1.0, 2.0, 1.0]
    assert F.pad(x, (2, 1), "replicate").flatten().tolist() == [0.0, 0.0, 0.0, 1.0, 2.0, 2.0]
    assert F.pad(x, (2, 1), "circular").flatten().tolist() == [1.0, 2.0, 0.0, 1.0, 2.0, 0.0]
    assert F.pad(x, (-1, 1), value=7).flatten().tolist() == [1.0, 2.0, 7.0]
    y = torch.randn(1, 2, 3, 4, dtype=torch.float64, requires_grad=True)
    for mode in ("constant", "reflect", "replicate", "circular"):
        assert torch.autograd.gradcheck(lambda t: F.pad(t, (1, 2, 2, 0), mode), (y,))
    with pytest.raises(RuntimeError, match="Padding size should be less than"):
        F.pad(x, (3, 0), "reflect")


def test_unfold_and_fold_are_transposes():
    x = torch.randn(2, 3, 5, 6, dtype=torch.float64)
    args = dict(kernel_size=(2, 3), dilation=(2, 1), padding=(1, 2), stride=(1, 2))
    columns = F.unfold(x, **args)
    other = torch.randn_like(columns)
    image = F.fold(other, (5, 6), **args)
    assert torch.allclose((columns * other).sum(), (x * image).sum())


def paths(length, labels, blank=0):
    """All label sequences of a length that collapse to `labels`."""
    for path in itertools.product(range(3), repeat=length):
        kept = [c for i, c in enumerate(path) if (i == 0 or c != path[i - 1]) and c != blank]
        if kept == labels:
            yield path


def test_ctc_sums_over_paths():
    p = torch.randn(4, 1, 3, dtype=torch.float64).log_softmax(2)
    for labels in ([1], [1, 2], [2, 2], [1, 2, 1], []):
        total = sum(math.exp(sum(p[t, 0, c].item() for t, c in enumerate(path)))
                    for path in paths(4, labels))
        loss = F.ctc_loss(p, torch.tensor([labels], dtype=torch.long), [4], [len(labels)],
                          reduction="sum")
        assert abs(loss.item() + math.log(total)) < 1e-9


def test_ctc_gradient():
    x = torch.randn(5, 2, 4, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[1, 2], [3, 3]])
    assert torch.autograd.gradcheck(
        lambda t: F.ctc_loss(t.log_softmax(2), targets, (5, 4), (2, 2)), (x,))


def test_overrides_see_the_function():
    seen = []

    class Watched(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(2).as_subclass(Watched)
    F.relu(x)
    assert F.relu in seen


def test_absent_names():
    with pytest.raises(AttributeError):
        F.no_such_function
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert callable(F.max_pool2d) and F.max_pool2d.__name__ == "max_pool2d"
