"""Backward, grad, grad modes, in-place and view rules, hooks."""
import gc
import threading
import warnings
import weakref

import pytest

import torch
from torch import autograd


def leaf(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def message(f):
    with pytest.raises(RuntimeError) as info:
        f()
    return str(info.value)


# ---- backward and grad
def test_backward_accumulates():
    x = leaf(1.0, 2.0, 3.0)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4, 6]
    first = x.grad
    (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8, 12]
    assert x.grad is first
    assert x.grad.requires_grad is False


def test_backward_arguments():
    x = leaf(1.0, 2.0)
    y = x * 3
    assert "only for scalar outputs" in message(y.backward)
    assert "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a " \
        "shape of torch.Size([2])." == message(lambda: y.backward(torch.ones(3)))
    assert "element 0 of tensors does not require grad and does not have a grad_fn" == \
        message(lambda: torch.ones(1).backward())
    y.backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [3, 30]
    assert "same dtype" in message(lambda: (x * 2).backward(torch.ones(2, dtype=torch.cfloat)))


def test_second_backward():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [8]
    assert "Trying to backward through the graph a second time" in message(y.backward)
    z = x + 1
    z.backward()
    z.backward()  # nothing was saved


def test_grad():
    x, w, unused = leaf(3.0), leaf(5.0), leaf(1.0)
    h = x * w
    y = h * h
    gx, gh = autograd.grad(y, [x, h], retain_graph=True)
    assert (gx.item(), gh.item()) == (150, 30)
    assert x.grad is None and w.grad is None
    assert message(lambda: autograd.grad(x * 2, unused)) == (
        "The differentiated Tensor at index 0 appears to not have been used in the graph. Set "
        "allow_unused=True if this is the desired behavior.")
    assert autograd.grad(x * 2, [x, unused], allow_unused=True)[1] is None
    assert autograd.grad(x * 2, [x, unused], materialize_grads=True)[1].tolist() == [0]
    assert "does not require grad" in message(lambda: autograd.grad(x * 2, torch.ones(1)))
    assert (
        message(lambda: autograd.grad(x * 2, []))
        == "`inputs` argument to `grad()` cannot be empty."
    )
    with pytest.raises(ValueError):
        autograd.grad(x * 2, x, materialize_grads=True, allow_unused=False)
    d = autograd.grad(x * 2, {"x": x})
    assert list(d) == ["x"] and d["x"].item() == 2


def test_higher_derivatives():
    x = leaf(2.0)
    y = x * x * x
    out = []
    for _ in range(3):
        y, = autograd.grad(y, x, create_graph=True)
        out.append(y.item())
    assert out == [12, 12, 6]


def test_create_graph_accumulates_with_graph():
    x = leaf(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x * x * x).backward(create_graph=True)
    assert x.grad.requires_grad
    g, = autograd.grad(x.grad, x)
    assert g.item() == 12
    x.grad = None


def test_is_grads_batched():
    x = leaf(1.0, 2.0)
    y = x * x
    g, = autograd.grad(y, x, torch.eye(2), is_grads_batched=True)
    assert g.tolist() == [[2, 0], [0, 4]]


def test_backward_inputs():
    x, w = leaf(3.0), leaf(4.0)
    y = x * w
    z = y * y
    z.backward(inputs=[x], retain_graph=True)
    assert x.grad.item() == 96 and w.grad is None
    z.backward(inputs=[y])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert y.grad.item() == 24
    assert "cannot be empty" in message(lambda: (x * w).backward(inputs=[]))


def test_deep_graph():
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    y.backward()
    assert x.grad.item() == 1
    z = x
    for _ in range(100_000):
        z = z + 0.0
    del y, z
    gc.collect()


def test_broadcast_gradients():
    a, b = leaf(1.0), torch.ones(2, 3, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.shape == (1,) and a.grad.item() == 6
    assert b.grad.shape == (2, 3)


def test_gradient_layout_follows_leaf():
    x = torch.ones(2, 3).t().requires_grad_()
    (x * torch.ones(3, 2)).sum().backward()
    assert x.grad.stride() == x.stride()


def test_one_gradient_for_two_leaves():
    a, b = leaf(1.0, 1.0), leaf(1.0, 1.0)
    (a + b).backward(torch.ones(2))
    a.grad.mul_(5)
    assert b.grad.tolist() == [1, 1]


# ---- flags
def test_requires_grad_rules():
    x = leaf(1.0)
    assert (x * 2).requires_grad and not (x * 2).is_leaf and x.is_leaf
    assert message(lambda: torch.ones(1, dtype=torch.int).requires_grad_()).startswith(
        "only Tensors of floating point")
    y = x * 2
    assert "you can only change requires_grad flags of leaf variables" in message(
        lambda: y.requires_grad_(False))
    assert y.detach().requires_grad is False
    assert y.requires_grad_() is y
    assert repr(type(y.grad_fn).__name__) == "'MulBackward0'"


def test_grad_modes():
    x = leaf(1.0)
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
    assert torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_grad_mode_decorators():
    x = leaf(1.0)

    @torch.no_grad()
    def f():
        return (x * 2).requires_grad

    @torch.no_grad
    def g():
        return (x * 2).requires_grad

    @torch.no_grad()
    def generator():
        got = yield torch.is_grad_enabled()
        while got is not None:
            got = yield torch.is_grad_enabled(), got
        return "end"

    @torch.inference_mode()
    def h():
        return torch.is_inference_mode_enabled()

    @torch.set_grad_enabled(False)
    def k():
        return torch.is_grad_enabled()

    assert (f(), g(), h(), k()) == (False, False, True, False)
    gen = generator()
    assert next(gen) is False and torch.is_grad_enabled()
    assert gen.send(1) == (False, 1) and torch.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        gen.send(None)
    assert stop.value.value == "end"
    assert f.__name__ == "f"


def test_inference_mode():
    x = leaf(1.0)
    with torch.inference_mode():
        y = torch.ones(1) * 2
        assert y.is_inference() and not torch.is_grad_enabled()
        y.add_(1)
    z = y.clone()
    assert "Inference tensors cannot be saved for backward" in message(lambda: x * y)
    assert "Inplace update to inference tensor outside InferenceMode" in message(lambda: y.add_(1))
    assert "Inference tensors do not track version counter" in message(lambda: y._version)
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    (x * z).backward()
    assert x.grad.item() == 3


# ---- in-place and views
def test_inplace_on_leaf():
    x = leaf(1.0, 2.0)
    assert message(lambda: x.add_(1)) == \
        "a leaf Variable that requires grad is being used in an in-place operation."
    assert message(lambda: x[0].add_(1)) == \
        "a view of a leaf Variable that requires grad is being used in an in-place operation."
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2, 3] and x._version == 1


def test_version_error():
    x = leaf(1.0, 2.0, 3.0)
    a = torch.ones(3)
    y = x * a
    a.add_(1)
    assert message(y.sum().backward) == (
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.FloatTensor [3]] is at version 1; expected version 0 instead. "
        "Hint: enable "
        "anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    e = x.exp()
    e.mul_(2)
    assert "which is output 0 of Exp, is at version 1" in message(e.sum().backward)


def test_inplace_history():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.mul_(3).add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_write_to_view():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    v = y[1:3]
    v.mul_(v.clone())
    assert type(y.grad_fn).__name__ == "CopySlices"
    assert type(v.grad_fn).__name__ == "AsStridedBackward0"
    (y * y).sum().backward()
    assert x.grad.tolist() == [2, 32, 108, 8]


def test_views_made_before_the_write():
    x = leaf(1.0, 2.0)
    base = torch.zeros(3)
    early, other = base[:2], base[1:]
    assert not early.requires_grad
    other.copy_(x)
    assert early.requires_grad and not early.is_leaf
    early.sum().backward()
    assert x.grad.tolist() == [1, 0]


def test_write_to_view_chain():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = (x * 1).view(2, 2)
    y.t()[0].mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [10, 1, 10, 1]


def test_view_write_errors():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    with torch.no_grad():
        v = y[:2]
    assert (
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled"
        in message(lambda: v.mul_(2))
    )
    first = (x * 1).unbind()[0]
    assert message(lambda: first.mul_(2)).startswith(
        "Output 0 of Unbind is a view and is being modified inplace. This view is the output of a "
        "function that returns multiple views.")
    assert "Can't detach views in-place" in message(lambda: (x * 1)[0].detach_())


def test_detach_shares_version():
    x = torch.ones(2)
    d = x.detach()
    d.add_(1)
    assert x._version == 1 and x.tolist() == [2, 2]
    x.data.add_(1)
    assert x._version == 1


# ---- hooks
def test_tensor_hooks():
    x = leaf(1.0, 2.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    h = y.register_hook(lambda g: g * 10)
    y.retain_grad()
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward()
    assert seen == [[1, 1], [10, 10]]
    assert y.grad.tolist() == [10, 10] and y.retains_grad
    assert x.grad.tolist() == [20, 20]
    h.remove()
    assert "cannot register a hook on a tensor that doesn't require gradient" == \
        message(lambda: torch.ones(1).register_hook(print))


def test_leaf_hooks():
    x = leaf(1.0)
    h = x.register_hook(lambda g: g * 3)
    assert len(x._backward_hooks) == 1
    (x * 1).backward()
    h.remove()
    (x * 1).backward()
    assert x.grad.item() == 4
    assert autograd.grad(x * 1, x)[0].item() == 1


def test_hook_errors():
    def run(hook):
        x = leaf(1.0, 2.0)
        y = x * 2
        y.register_hook(hook)
        y.sum().backward()

    with pytest.raises(TypeError, match="expected Variable, but hook returned 'int'"):
        run(lambda g: 3)
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        run(lambda g: g[:1])
    with pytest.raises(RuntimeError, match="has changed the type of value"):
        run(lambda g: g.double())
    with pytest.raises(ZeroDivisionError):
        run(lambda g: 1 / 0)


def test_hook_after_inplace_belongs_to_new_history():
    x = leaf(1.0)
    y = x * 2
    log = []
    y.register_hook(lambda g: log.append(("before", g.item())))
    y.mul_(5)
    y.register_hook(lambda g: log.append(("after", g.item())))
    y.backward()
    assert log == [("after", 1), ("before", 5)]


def test_accumulate_hook():
    x = leaf(1.0, 2.0)
    seen = []

    def hook(p):
        assert p is x
        seen.append(p.grad.tolist())
        p.grad = None

    x.register_post_accumulate_grad_hook(hook)
    (x * 2).sum().backward()
    assert seen == [[2, 2]] and x.grad is None
    assert "non-leaf" in message(lambda: (x * 2).register_post_accumulate_grad_hook(hook))


def test_node_hooks():
    x = leaf(1.0)
    y = x * 2
    log = []
    y.grad_fn.register_hook(lambda gi, go: log.append((gi[0].item(), go[0].item())))
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.backward()
    assert log == [(20, 10)]
    assert x.grad.item() == 20


def test_hooks_are_collected():
    class Box:
        pass

    def make():
        x = leaf(1.0)
        box = Box()
        box.x = x
        x.register_hook(lambda g: box)
        return weakref.ref(box)

    ref = make()
    gc.collect()
    assert ref() is None


# ---- nodes
def test_node_objects():
    x = leaf(1.0)
    y = x * 2
    fn = y.grad_fn
    assert fn is y.grad_fn and fn.name() == "MulBackward0"
    assert isinstance(fn, autograd.graph.Node)
    (acc, nr), *rest = fn.next_functions
    assert nr == 0 and acc.variable is x and type(acc).__name__ == "AccumulateGrad"
    fn.metadata["key"] = 1
    assert fn.metadata["key"] == 1
    assert repr(fn).startswith("<MulBackward0 object at 0x")
    z = y * y
    assert z.grad_fn.next_functions[0][0] is fn
    assert z.grad_fn._saved_self is y


def test_gradient_edge():
    x = leaf(2.0)
    y = x * x
    z = y * 3
    edge = autograd.graph.get_gradient_edge(y)
    g, = autograd.grad(z, edge, retain_graph=True)
    assert g.item() == 3
    del y
    autograd.backward(edge, torch.ones(1))
    assert x.grad.item() == 4


def test_saved_tensor_hooks():
    x = leaf(3.0)
    packed = []

    def pack(t):
        packed.append(t.requires_grad)
        return [t]

    with autograd.graph.saved_tensors_hooks(pack, lambda p: p[0]):
        y = x * x
    y.backward()
    assert len(packed) == 2 and x.grad.item() == 6
    with autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        z = x * x
    x.grad = None
    z.backward()
    assert x.grad.item() == 12
    with autograd.graph.disable_saved_tensors_hooks("not here"):
        assert message(autograd.graph.saved_tensors_hooks(pack, pack).__enter__) == "not here"
    with autograd.graph.save_on_cpu():
        w = x * x
    x.grad = None
    w.backward()
    assert x.grad.item() == 6


def test_saved_hooks_double_backward():
    x = leaf(3.0)
    with autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x * x * x
        g, = autograd.grad(y, x, create_graph=True)
    g.backward()
    assert x.grad.item() == 18


def test_allow_mutation():
    with autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf(1.0, 2.0)
        y = x * 1
        z = y * y
        y.add_(100)
        z.sum().backward()
        assert x.grad.tolist() == [2, 4]


def test_multi_grad_hook():
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    seen = []
    h = autograd.graph.register_multi_grad_hook(
        (a, b, c), lambda gs: seen.append([None if g is None else g.item() for g in gs]))
    (a * b).backward()
    assert seen == [[2, 1, None]]
    h.remove()
    (a * b).backward()
    assert len(seen) == 1
    once = []
    autograd.graph.register_multi_grad_hook((a, b), lambda g: once.append(g.item()), mode="any")
    (a * b).backward()
    assert len(once) == 1


def test_queue_callback():
    x = leaf(1.0)
    log = []

    def hook(g):
        autograd.Variable._execution_engine.queue_callback(lambda: log.append("end"))
        log.append("hook")

    y = x * 2
    y.register_hook(hook)
    y.backward()
    assert log == ["hook", "end"]
    assert "Final callbacks can only be installed during backward pass." == message(
        lambda: autograd.Variable._execution_engine.queue_callback(print))


# ---- anomaly mode
def test_anomaly():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with autograd.detect_anomaly():
            x = leaf(0.0)
            y = torch.sqrt(x - 1)
            assert "test_anomaly" in "".join(y.grad_fn.metadata["traceback_"])
            assert message(y.backward) == \
                "Function 'SqrtBackward0' returned nan values in its 0th output."
    texts = [str(w.message) for w in caught]
    assert any("Traceback of forward call that caused the error" in t for t in texts)


# ---- re-entrant and threaded
def test_reentrant_backward():
    class Inner(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x * ctx.x
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            ctx.y.backward(g)
            return ctx.x.grad

    x = leaf(3.0)
    Inner.apply(x * 2).backward()
    assert x.grad.item() == 24


def test_deep_reentrant():
    class Deep(autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if ctx.depth:
                with torch.enable_grad():
                    x = torch.ones(1, requires_grad=True)
                    Deep.apply(x, ctx.depth - 1).backward()
            return g, None

    x = leaf(1.0)
    Deep.apply(x, 400).backward()
    assert x.grad.item() == 1


def test_threads():
    x = leaf(1.0, 1.0)
    y = (x * x * x).sum()

    def work():
        for _ in range(50):
            y.backward(retain_graph=True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert x.grad.tolist() == [600, 600]


# ---- dtype and layout of gradients
def test_grad_dtype():
    x = leaf(1.0, 2.0)
    assert x.grad_dtype is torch.float32 and (x * 1).grad_dtype is torch.float32
    x.grad_dtype = torch.float64
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float64 and x.grad.tolist() == [2, 2]
    assert message(lambda: setattr(x, "grad_dtype", torch.float16)).startswith(
        "Cannot set grad_dtype to 'Half' because there is already a gradient with dtype 'double'")
    x.grad_dtype = None
    assert x.grad_dtype is None
    assert message(lambda: setattr(x * 1, "grad_dtype", None)) == \
        "grad_dtype can only be set on leaf tensors."
    assert "with dtype 'double' to a tensor with grad_dtype 'Float'" in message(
        lambda: setattr(leaf(1.0), "grad", torch.ones(1, dtype=torch.float64)))


def test_grad_layout_policy():
    class Transposed(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return torch.ones(2, 3).t()

    def strides():
        x = torch.ones(3, 2, requires_grad=True)
        Transposed.apply(x).sum().backward()
        return x.grad.stride()

    assert strides() == (2, 1)
    with autograd.enforce_grad_layout_policy(False):
        assert strides() == (1, 3)
    assert strides() == (2, 1)
