"""FakeTensorMode: shapes, strides, dtypes and devices without values."""
import pytest
import torch
from torch._subclasses.fake_tensor import (DataDependentOutputException,
                                           DynamicOutputShapeException, FakeTensor,
                                           FakeTensorMode)


def test_made_inside():
    with FakeTensorMode() as mode:
        x = torch.empty(2, 3)
        assert type(x) is FakeTensor and x.device.type == "cpu" and x.fake_mode is mode
        assert repr(x) == "FakeTensor(..., size=(2, 3))"
        assert (x @ torch.ones(3, 4)).shape == (2, 4)
        assert x.t().stride() == (1, 3) and x.expand(2, 2, 3).stride() == (0, 3, 1)
        assert x.add_(1) is x and x.sum().shape == ()
        assert x.to(torch.float16).dtype is torch.float16
        values, indices = x.max(1)
        assert values.shape == (2,) and indices.dtype is torch.int64
        assert torch.cat([x, x]).shape == (4, 3) and x[0].shape == (3,)
        assert x.to("cuda").device == torch.device("cuda:0")
        assert repr(torch.ones(2, device="cuda")) == "FakeTensor(..., device='cuda:0', size=(2,))"


def test_a_model_and_its_gradients():
    with FakeTensorMode():
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                                    torch.nn.Linear(16, 2))
        out = model(torch.ones(5, 3, 4, 4))
        assert repr(out) == "FakeTensor(..., size=(5, 2), grad_fn=<AddmmBackward0>)"
        out.sum().backward()
        assert model[0].weight.grad.shape == (4, 3, 3, 3)
        assert repr(model[3].weight) == (
            "Parameter(FakeTensor(..., size=(2, 16), requires_grad=True))")


def test_from_tensor():
    mode, real = FakeTensorMode(), torch.ones(3, 3)
    fake = mode.from_tensor(real)
    assert fake is mode.from_tensor(real) and fake.shape == (3, 3)
    assert (fake + 1).shape == (3, 3)                     # outside of the mode, too
    parameter = mode.from_tensor(torch.nn.Parameter(real))
    assert parameter.requires_grad and isinstance(parameter, torch.nn.Parameter)
    with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"):
        with mode:
            fake + real
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert type(real + 1) is FakeTensor
    with pytest.raises(AssertionError, match="Mixing fake modes"):
        with FakeTensorMode():
            fake + 1


def test_what_needs_values():
    with FakeTensorMode():
        x = torch.ones(3)
        with pytest.raises(DataDependentOutputException, match="_local_scalar_dense"):
            x.sum().item()
        with pytest.raises(DataDependentOutputException):
            bool(x.sum() > 0)
        with pytest.raises(DynamicOutputShapeException, match="nonzero"):
            x.nonzero()
        with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
            x.numpy()
