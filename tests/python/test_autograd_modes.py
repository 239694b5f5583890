"""Forward mode, autograd.functional, gradcheck."""
import pytest

import torch
import torch.autograd.forward_ad as fwad
from torch.autograd import Function, functional, gradcheck, gradgradcheck
from torch.autograd.gradcheck import GradcheckError


def vec(*v, grad=False):
    return torch.tensor(v, dtype=torch.float64, requires_grad=grad)


# ---- forward mode
def test_dual_basics():
    with pytest.raises(RuntimeError, match="no level exists"):
        fwad.make_dual(vec(1.0), vec(1.0))
    with fwad.dual_level():
        d = fwad.make_dual(vec(1.0, 2.0), vec(3.0, 4.0))
        p, t = fwad.unpack_dual(d * d)
        assert p.tolist() == [1, 4] and t.tolist() == [6, 16]
        assert fwad.unpack_dual(d.detach()).tangent is None
        assert fwad.unpack_dual(vec(1.0)).tangent is None
        assert fwad.unpack_dual(d[1:]).tangent.tolist() == [4]
        assert fwad.unpack_dual(d > 0).tangent is None
        with pytest.raises(RuntimeError, match="has a different size than that of the original"):
            fwad.make_dual(vec(1.0), vec(1.0, 2.0))
        with pytest.raises(
            RuntimeError, match="already has a forward gradient at the same level 0"
        ):
            fwad.make_dual(d, vec(1.0, 1.0))
        with pytest.raises(RuntimeError, match="Nested forward mode AD"):
            fwad.enter_dual_level()
        with pytest.raises(NotImplementedError, match="because it is an out= function"):
            torch.add(d, d, out=vec(0.0, 0.0))
    assert fwad.unpack_dual(d).tangent is None


def test_dual_inplace():
    with fwad.dual_level():
        d = fwad.make_dual(vec(1.0, 1.0), vec(3.0, 3.0))
        d[0:1].mul_(2)
        assert fwad.unpack_dual(d).tangent.tolist() == [6, 3]
        b = torch.zeros(3, dtype=torch.float64)
        b[0:2].copy_(d)
        assert fwad.unpack_dual(b).tangent.tolist() == [6, 3, 0]
        d.exp_()
        assert fwad.unpack_dual(d).tangent.tolist() == pytest.approx(
            [6 * torch.e ** 2, 3 * torch.e])


def test_dual_function():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            assert ctx.saved_tensors[0].tolist() == [1]
            return t * 2

    class Without(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with fwad.dual_level():
        d = fwad.make_dual(vec(1.0), vec(5.0))
        assert fwad.unpack_dual(Twice.apply(d)).tangent.item() == 10
        with pytest.raises(NotImplementedError, match="must implement the jvp function"):
            Without.apply(d)


def test_forward_over_reverse():
    x = vec(2.0, 3.0, grad=True)
    with fwad.dual_level():
        d = fwad.make_dual(x, vec(1.0, 10.0))
        y = (d.exp() * d * d).sum()
        g, = torch.autograd.grad(y, d, create_graph=True)
        hv = fwad.unpack_dual(g).tangent
    want = [v * torch.e ** p * (p * p + 4 * p + 2) for p, v in ((2, 1), (3, 10))]
    assert hv.tolist() == pytest.approx(want)


def test_reverse_over_forward():
    x = vec(2.0, grad=True)
    with fwad.dual_level():
        t = fwad.unpack_dual((lambda d: d * d * d)(fwad.make_dual(x, vec(1.0)))).tangent
    assert t.item() == 12
    g, = torch.autograd.grad(t, x)
    assert g.item() == 12


# ---- functional
def cube_sum(x):
    return (x ** 3).sum()


def test_products():
    x = vec(1.0, 2.0)
    out, g = functional.vjp(cube_sum, x)
    assert out.item() == 9 and g.tolist() == [3, 12] and not g.requires_grad
    out, t = functional.jvp(lambda a: a * a, x, vec(1.0, 10.0))
    assert t.tolist() == [2, 40]
    assert functional.hvp(cube_sum, x, vec(1.0, 1.0))[1].tolist() == [6, 12]
    assert functional.vhp(cube_sum, x, vec(1.0, 1.0))[1].tolist() == [6, 12]
    out, (ga, gb) = functional.vjp(lambda a, b: (a * b).sum(), (x, x))
    assert ga.tolist() == [1, 2] and gb.tolist() == [1, 2]


def test_matrices():
    x = vec(1.0, 2.0)
    assert functional.jacobian(lambda a: a * a, x).tolist() == [[2, 0], [0, 4]]
    assert functional.jacobian(lambda a: a * a, x, vectorize=True).tolist() == [[2, 0], [0, 4]]
    assert functional.jacobian(lambda a: a * a, x, vectorize=True,
                               strategy="forward-mode").tolist() == [[2, 0], [0, 4]]
    j = functional.jacobian(lambda a, b: (a * b, a + b), (x, x))
    assert j[0][1].tolist() == [[1, 0], [0, 2]] and j[1][0].tolist() == [[1, 0], [0, 1]]
    assert functional.hessian(cube_sum, x).tolist() == [[6, 0], [0, 12]]
    h = functional.hessian(lambda a, b: (a * a * b).sum(), (x, x))
    assert h[0][1].tolist() == [[2, 0], [0, 4]]
    y = vec(1.0, 2.0, grad=True)
    j = functional.jacobian(lambda a: a * a, y, create_graph=True)
    assert torch.autograd.grad(j.sum(), y)[0].tolist() == [2, 2]


def test_strict():
    x = vec(1.0)
    with pytest.raises(RuntimeError, match="does not require gradients"):
        functional.vjp(lambda a: a.detach().sum(), x, strict=True)
    assert functional.vjp(lambda a: a.detach().sum(), x)[1].tolist() == [0]
    with pytest.raises(RuntimeError, match="independent of input 1"):
        functional.jacobian(lambda a, b: a * 2, (x, x), strict=True)
    with pytest.raises(RuntimeError, match="v can only be None"):
        functional.vjp(lambda a: a * vec(1.0, 2.0), x)
    with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors"):
        functional.vjp(cube_sum, 3)
    with pytest.raises(RuntimeError, match="single element"):
        functional.hessian(lambda a: a * vec(1.0, 2.0), x)


# ---- gradcheck
class Bad(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


@pytest.mark.parametrize("fast", [False, True])
def test_gradcheck(fast):
    x, y = vec(0.3, 0.7, grad=True), vec(1.1, -0.4, grad=True)
    assert gradcheck(lambda a, b: (a * b).exp() / b, (x, y), fast_mode=fast, check_forward_ad=True)
    assert gradgradcheck(lambda a, b: a * b * b, (x, y), fast_mode=fast)
    with pytest.raises(
        GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"
    ):
        gradcheck(Bad.apply, (x,), fast_mode=fast)
    assert gradcheck(Bad.apply, (x,), raise_exception=False, fast_mode=fast) is False


def test_gradcheck_complex():
    z = torch.tensor([0.3 + 1j, -2 + 0.5j], dtype=torch.complex128, requires_grad=True)
    assert gradcheck(lambda a: a * a, (z,), check_forward_ad=True)
    assert gradcheck(lambda a: a.abs(), (z,))
    with pytest.raises(
        GradcheckError, match="While considering the imaginary part of complex outputs"
    ):
        gradcheck(Bad.apply, (z,))


def test_gradcheck_arguments():
    x = vec(1.0, 2.0, grad=True)
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda a: a * 2, (vec(1.0),))
    with pytest.raises(
        AssertionError, match="at least one of check_forward_ad or check_backward_ad"
    ):
        gradcheck(lambda a: a * 2, (x,), check_backward_ad=False)
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda a: a.detach() * 2, (x,))
    assert gradcheck(lambda a: a * 2, x, check_batched_grad=True)
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda a: a * 2, (vec(1.0, grad=True).expand(3),))
    assert gradcheck(lambda a: (a * 2, torch.ones(2, dtype=torch.long)), (x,))

    class Random(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 + torch.rand_like(g) * 1e-9

    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(Random.apply, (x,))
