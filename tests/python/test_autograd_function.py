"""autograd.Function."""
import gc
import weakref

import pytest

import torch
from torch.autograd import Function, grad
from torch.autograd.function import once_differentiable


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def make(forward, backward=None, **more):
    d = {"forward": staticmethod(forward), **more}
    if backward:
        d["backward"] = staticmethod(backward)
    return type(Function)("Foo", (Function,), d)


class Square(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * scale

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 * x * ctx.scale, None


def test_basic():
    x = leaf(1.0, 2.0)
    y = Square.apply(x, 3)
    assert type(y.grad_fn).__name__ == "SquareBackward" and y.grad_fn.name() == "SquareBackward"
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert y.grad_fn.saved_tensors[0] is x
    assert y.grad_fn.scale == 3
    assert y.grad_fn.next_functions[0][0].variable is x
    y.sum().backward()
    assert x.grad.tolist() == [6, 12]
    with pytest.raises(RuntimeError, match="second time"):
        y.grad_fn.saved_tensors


def test_double_backward():
    x = leaf(2.0)
    g, = grad(Square.apply(x, 1), x, create_graph=True)
    gg, = grad(g, x)
    assert gg.item() == 2


def test_no_grad_and_constants():
    assert not Square.apply(torch.ones(2), 1).requires_grad
    x = leaf(1.0)
    with torch.no_grad():
        assert not Square.apply(x, 1).requires_grad


def test_setup_context():
    class Cube(Function):
        @staticmethod
        def forward(x, power=3):
            return x ** power, x

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, power = inputs
            ctx.power = power
            ctx.save_for_backward(x, output[0])
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx, g, _):
            x, y = ctx.saved_tensors
            return g * ctx.power * y / x, None

    x = leaf(2.0)
    y, same = Cube.apply(x)
    assert not same.requires_grad
    y.backward()
    assert x.grad.item() == 12
    y, _ = Cube.apply(x, power=2)
    assert grad(y, x)[0].item() == 4


def test_needs_input_grad_and_outputs():
    seen = []

    def forward(ctx, a, b, c):
        seen.append(ctx.needs_input_grad)
        return a * 2, "text", b * 3

    def backward(ctx, ga, gt, gb):
        seen.append((ga.tolist(), gt, gb.tolist()))
        return ga * 2, None, None

    x = leaf(1.0)
    a, text, b = make(forward, backward).apply(x, torch.ones(1), 5)
    assert text == "text" and a.requires_grad and b.requires_grad
    a.backward()
    assert seen == [(True, False, False), ([1.0], None, [0.0])]


def test_materialize_off():
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, a, b):
        seen.append((a is None, b is None))
        return a * 2

    x = leaf(1.0)
    make(forward, backward).apply(x)[0].backward()
    assert seen == [(False, True)]


def test_non_differentiable():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return x * 3, y

    a, b = make(forward, lambda ctx, g, h: g * 3).apply(leaf(1.0))
    assert a.requires_grad and not b.requires_grad


def test_dirty():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    f = make(forward, lambda ctx, g: g * 2)
    x = leaf(1.0, 2.0)
    y = x * 1
    z = f.apply(y)
    assert z is y
    z.sum().backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
        f.apply(leaf(1.0))
    y = x * 1
    v = y[:1]
    assert f.apply(v) is v
    assert type(y.grad_fn).__name__ == "CopySlices"
    assert grad(y.sum(), x)[0].tolist() == [2, 1]
    bad = make(lambda ctx, x: (ctx.mark_dirty(x), x * 2)[1], lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="marked as dirty during the forward method were not"):
        bad.apply(x * 1)


def test_returned_input():
    f = make(lambda ctx, x: x, lambda ctx, g: g * 7)
    x = leaf(1.0)
    y = f.apply(x)
    assert y is not x and type(y.grad_fn).__name__ == "FooBackward" and x.grad_fn is None
    y.backward()
    assert x.grad.item() == 7
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        f.apply(x).add_(1)


def test_errors():
    x = leaf(1.0, 2.0, 3.0)
    double = lambda ctx, x: x * 2

    def run(forward, backward, *args, **more):
        make(forward, backward, **more).apply(*args).sum().backward()

    cases = [
        (
            lambda: run(double, lambda c, g: g[:2], x),
            r"Function FooBackward returned an invalid gradient at index 0 - got \[2\] "
            r"but expected shape "
            r"compatible with \[3\]",
        ),
        (
            lambda: run(double, lambda c, g: (g, g), x),
            r"function FooBackward returned an incorrect number of gradients \(expected 1, got 2\)",
        ),
        (
            lambda: run(lambda c, x, y: x * 2, lambda c, g: (g, g), x, 3),
            "returned a gradient different than None at position 2",
        ),
        (lambda: run(double, lambda c, g: 3, x), r"expected Variable or None \(got int\)"),
        (
            lambda: run(double, lambda c, g: g, x, vjp=staticmethod(lambda c, g: g)),
            "Implementing both 'backward' and 'vjp'",
        ),
    ]
    for f, text in cases:
        with pytest.raises(RuntimeError, match=text):
            f()
    run(double, lambda c, g: (g, None), x)
    with pytest.raises(NotImplementedError, match="either the backward or vjp method"):
        run(double, None, x)
    with pytest.raises(NotImplementedError, match="must implement the forward function"):
        Function.apply(x)
    with pytest.raises(TypeError, match="argument 1 is of type int"):
        make(lambda c, x: (c.save_for_backward(x, 3), x * 2)[1], lambda c, g: g).apply(x)
    with pytest.raises(KeyError):
        run(double, lambda c, g: {}["missing"], x)


def test_once_differentiable():
    f = make(lambda ctx, x: x * 3, once_differentiable(lambda ctx, g: g * 3))
    x = leaf(1.0)
    g, = grad(f.apply(x), x)
    assert g.item() == 3
    y = f.apply(x)
    g, = grad(y * y, x, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        g.backward()


def test_saved_output():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            y, = ctx.saved_tensors
            assert y.grad_fn is ctx
            return g * y

    x = leaf(0.0)
    y = Exp.apply(x)
    ref = weakref.ref(y.grad_fn)
    g, = grad(y, x, create_graph=True)
    assert grad(g, x)[0].item() == 1
    del y, g
    gc.collect()
    assert ref() is None  # no cycle
    z = Exp.apply(x)
    z.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_context_lives_as_long_as_needed():
    f = make(lambda ctx, x: x * 3, lambda ctx, g: g * 3)
    x = leaf(1.0)
    y = f.apply(x)
    fn = y.grad_fn
    fn.note = "kept"
    assert y.grad_fn is fn and y.grad_fn.note == "kept"
    h = y.register_hook(lambda g: g * 2)
    z = y * 1
    del y, h
    z.backward()
    assert x.grad.item() == 6


def test_vjp_and_jvp_names():
    f = make(lambda ctx, x: x * 3, None, vjp=staticmethod(lambda ctx, g: g * 3))
    x = leaf(1.0)
    f.apply(x).backward()
    assert x.grad.item() == 3


def test_hooks_on_node():
    log = []
    f = make(lambda ctx, x: x * 3, lambda ctx, g: g * 3)
    x = leaf(1.0)
    y = f.apply(x)
    y.grad_fn.register_hook(lambda gi, go: log.append((gi[0].item(), go[0].item())))
    y.backward()
    assert log == [(3, 1)]


def test_output_grad_dtype():
    seen = []

    def forward(ctx, x):
        ctx.set_output_grad_dtype(torch.float64, None)
        return x * 1, x * 2

    def backward(ctx, a, b):
        seen.append((a.dtype, b.dtype))
        return a.float()

    f = make(forward, backward)
    x = leaf(1.0)
    a, b = f.apply(x)
    assert a.grad_dtype is torch.float64 and b.grad_dtype is None
    (a + b).sum().backward()
    assert seen == [(torch.float64, torch.float32)]
    bad = make(lambda ctx, x: (ctx.set_output_grad_dtype(None), (x * 1, x * 2))[1], backward)
    with pytest.raises(RuntimeError, match="returned 2 values but 1 declarations were provided"):
        bad.apply(x)


def test_input_grad_buffers():
    seen = []

    def backward(ctx, g):
        buffer, number = ctx.input_grad_buffers
        assert number is None
        seen.append(buffer is not None)
        if buffer is not None:
            buffer.add_(g * 2)
            return None, None
        return g * 2, None

    f = make(lambda ctx, x, n: x * 2, backward)
    for order in (True, False):
        x = leaf(1.0)
        y = x * 1
        if order:
            a = f.apply(y, 3)
            b = y * 5
        else:
            b = y * 5
            a = f.apply(y, 3)
        (a + b).sum().backward()
        assert x.grad.item() == 7
    assert seen == [True, False]
