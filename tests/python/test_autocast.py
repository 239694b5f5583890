"""torch.autocast, custom_fwd/bwd and GradScaler. Which type each operator computes in was recorded
from PyTorch 2.15 on the CPU."""
import threading
import warnings

import pytest
import torch
import torch.nn.functional as F

A = torch.ones(2, 2)
LOW, FULL = torch.bfloat16, torch.float32


def low():
    return torch.ones(2, 2, dtype=torch.bfloat16)


IN_LOW = {
    "mm": lambda: torch.mm(A, A), "matmul": lambda: A @ A,
    "bmm": lambda: torch.bmm(A[None], A[None]),
    "addmm": lambda: torch.addmm(A, A, A), "linear": lambda: F.linear(A, A),
    "baddbmm": lambda: torch.baddbmm(A[None], A[None], A[None]),
    "addbmm": lambda: torch.addbmm(A, A[None], A[None]),
    "conv1d": lambda: F.conv1d(A[None], A[None]), "prelu": lambda: F.prelu(A, torch.ones(1)),
    "conv2d": lambda: F.conv2d(A[None, None], A[None, None]),
    "conv3d": lambda: F.conv3d(A[None, None, None], A[None, None, None]),
    "conv_transpose2d": lambda: F.conv_transpose2d(A[None, None], A[None, None]),
    "einsum": lambda: torch.einsum("ij,jk", A, A), "tensordot": lambda: torch.tensordot(A, A, 1),
    "sdpa": lambda: F.scaled_dot_product_attention(A[None], A[None], A[None]),
    "vecdot": lambda: torch.linalg.vecdot(A, A), "matrix @ vector": lambda: A @ A[0],
    "lstm": lambda: torch.nn.LSTM(2, 3)(A)[0], "rnn": lambda: torch.nn.RNN(2, 3)(A)[0],
    "softmax of low": lambda: torch.softmax(A @ A, -1), "relu of low": lambda: (A @ A).relu(),
}
IN_FULL = {
    "mse_loss": lambda: F.mse_loss(low(), low()), "l1_loss": lambda: F.l1_loss(low(), low()),
    "bce": lambda: F.binary_cross_entropy(low(), low()),
    "bce_logits": lambda: F.binary_cross_entropy_with_logits(low(), low()),
    "cross_entropy": lambda: F.cross_entropy(low(), torch.tensor([0, 1])),
    "nll_loss": lambda: F.nll_loss(low(), torch.tensor([0, 1])),
    "kl_div": lambda: F.kl_div(low(), low(), reduction="sum"),
    "prod": lambda: low().prod(), "prod dim": lambda: low().prod(0), "cdist": lambda:
    torch.cdist(low(), low()), "trace": lambda: torch.trace(low()),
    "quantile": lambda: torch.quantile(low(), 0.5), "inv": lambda: torch.linalg.inv(
        low() + torch.eye(2)), "svdvals": lambda: torch.linalg.svdvals(low()),
    "avg_pool3d": lambda: F.avg_pool3d(low()[None, None], (1, 2, 2)),
    "reflection_pad": lambda: F.pad(low(), (1, 1), mode="reflect"),
    "grid_sample": lambda: F.grid_sample(low()[None, None], torch.zeros(1, 1, 1, 2).bfloat16()),
    "mv": lambda: torch.mv(A, A[0]), "dot": lambda: torch.dot(A[0], A[0]),
    "layer_norm": lambda: F.layer_norm(A, (2,)), "exp": lambda: A.exp(),
    "gru": lambda: torch.nn.GRU(2, 3)(A)[0], "lstm cell": lambda: torch.nn.LSTMCell(2, 3)(A)[0],
    "float64": lambda: (A.double() @ A.double()).float(), "bilinear": lambda:
    F.bilinear(A, A, torch.ones(3, 2, 2)),
}


@pytest.mark.parametrize("name", IN_LOW)
def test_computed_in_low_precision(name):
    with torch.autocast("cpu"):
        assert IN_LOW[name]().dtype is LOW


@pytest.mark.parametrize("name", IN_FULL)
def test_computed_in_float32(name):
    with torch.autocast("cpu"):
        assert IN_FULL[name]().dtype is FULL


def test_promotion():
    one = torch.ones(2)
    with torch.autocast("cpu"):
        assert torch.cat([one, one.half()]).dtype is FULL
        assert torch.cat([one.bfloat16(), one.bfloat16()]).dtype is LOW
        assert torch.stack([one.bfloat16(), one]).dtype is FULL
        assert torch.cat([one.bfloat16(), one.double()]).dtype is torch.float64
        assert torch.cat([one.bool(), one.bfloat16()]).dtype is LOW
        with pytest.raises(RuntimeError, match="Unexpected floating ScalarType"):
            torch.cat([one.half(), one.half()])


def test_only_functional_calls_cast():
    with torch.autocast("cpu"):
        assert torch.mm(A, A, out=torch.empty(2, 2)).dtype is FULL
        assert A.clone().addmm_(A, A).dtype is FULL
        assert torch.matmul(A, A, out=torch.empty(2, 2)).tolist() == [[2, 2], [2, 2]]
        assert torch.mm(A.to("meta"), A.to("meta")).dtype is FULL
        with pytest.raises(RuntimeError, match="same dtype"):
            torch.mm(A.double(), A)


def test_nesting_and_state():
    assert not torch.is_autocast_enabled("cpu")
    with torch.autocast("cpu"):
        assert torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is LOW
        with torch.autocast("cpu", enabled=False):
            assert (A @ A).dtype is FULL
        with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
            assert (A @ A).dtype is torch.float16 and not torch.is_autocast_cache_enabled()
        assert (A @ A).dtype is LOW
    assert (A @ A).dtype is FULL and torch.get_autocast_dtype("cpu") is LOW


def test_decorator_and_threads():
    @torch.autocast("cpu", dtype=torch.float16)
    def f(x):
        """doc"""
        return x @ x

    assert f(A).dtype is torch.float16 and f.__doc__ == "doc"
    seen = []
    with torch.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((A @ A).dtype))
        thread.start()
        thread.join()
    assert seen == [FULL]


def test_a_weight_is_cast_once():
    w, frozen = torch.nn.Parameter(torch.ones(2, 2)), torch.nn.Parameter(torch.ones(2, 2))
    with torch.autocast("cpu"):
        a, b = torch.mm(A, w), torch.mm(A, w)
        cast = a.grad_fn.next_functions[1][0]
        assert cast is b.grad_fn.next_functions[1][0] and cast.name() == "ToCopyBackward0"
        with torch.no_grad():
            torch.mm(A, frozen)
            w.mul_(3)
        assert torch.mm(A, frozen).requires_grad          # no copy without history was kept
        assert torch.mm(A, w)[0, 0] == 6                  # nor one of the old values
    with torch.autocast("cpu", cache_enabled=False):
        a, b = torch.mm(A, w), torch.mm(A, w)
        assert a.grad_fn.next_functions[1][0] is not b.grad_fn.next_functions[1][0]


def test_gradients_are_of_the_parameters_type():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    with torch.autocast("cpu"):
        out = model(torch.randn(3, 4))
        loss = F.cross_entropy(out, torch.tensor([0, 1, 0]))
    assert out.dtype is LOW and loss.dtype is FULL
    loss.backward()
    assert all(p.grad.dtype is FULL and p.grad.abs().sum() > 0 for p in model.parameters())


def test_warnings_and_errors():
    with pytest.warns(UserWarning, match="CUDA is not available.*Disabling"):
        assert not torch.autocast("cuda")._enabled
    with pytest.warns(UserWarning, match="only supports dtypes of torch.bfloat16, torch.float16"):
        torch.autocast("cpu", dtype=torch.float64)
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.autocast(torch.device("cpu"))
    with pytest.raises(RuntimeError, match="unsupported scalarType"):
        torch.autocast("meta")
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.autocast("foo")
    with pytest.raises(TypeError, match="'enabled' .position 2. must be bool, not int"):
        torch.set_autocast_enabled("cpu", 1)
    with pytest.warns(DeprecationWarning, match=r"get_autocast_dtype\('cpu'\)"):
        assert torch.get_autocast_cpu_dtype() is LOW
    with pytest.warns(FutureWarning, match=r"torch.amp.autocast\('cpu', args...\)"):
        torch.cpu.amp.autocast()
    with pytest.warns(FutureWarning, match="torch.cuda.amp.custom_fwd"):
        torch.cuda.amp.custom_fwd(lambda ctx: None)


class Product(torch.autograd.Function):
    seen = []

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        Product.seen.append(torch.is_autocast_enabled("cpu"))
        return x @ w

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        Product.seen.append(torch.is_autocast_enabled("cpu"))
        return g @ w.t(), x.t() @ g


class InFloat(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x, options):
        assert not torch.is_autocast_enabled("cpu") and not ctx._fwd_used_autocast
        return x @ options["w"][0]

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        return g, None


def test_custom_functions():
    x = torch.ones(2, 2, requires_grad=True)
    Product.seen.clear()
    with torch.autocast("cpu"):
        y = Product.apply(x, x)
    assert y.dtype is LOW
    y.sum().backward()
    assert Product.seen == [True, True] and x.grad.dtype is FULL
    with torch.autocast("cpu"):
        z = InFloat.apply(x.detach().bfloat16().requires_grad_(), {"w": (low(),)})
    assert z.dtype is FULL
    z.sum().backward()


# ---------------------------------------------------------------- GradScaler


def scaled_step(scaler, bad=False):
    w = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([w], lr=1.0)
    scaler.scale(w.sum()).backward()
    if bad:
        w.grad[1] = float("nan")
    scaler.step(optimizer)
    scaler.update()
    return w.detach()


def test_scaler_grows_and_backs_off():
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
    assert scaled_step(scaler).tolist() == [0, 0, 0]
    assert scaled_step(scaler, bad=True).tolist() == [1, 1, 1]       # left out
    assert scaler.state_dict() == {"scale": 2.0, "growth_factor": 2.0, "backoff_factor": 0.5,
                                   "growth_interval": 2, "_growth_tracker": 0}
    scaled_step(scaler), scaled_step(scaler)
    assert scaler.get_scale() == 4.0
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()


def test_scaler_order_of_calls():
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    w = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adam([w], lr=0.1)
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.step(optimizer)
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="step.. has already been called"):
        scaler.step(optimizer)
    scaler.update(new_scale=2.0)
    assert scaler.get_scale() == 2.0
    with pytest.raises(AssertionError, match="No inf checks"):
        scaler.update()
    half = torch.nn.Parameter(torch.ones(1).half())
    half.grad = torch.ones(1).half()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(torch.optim.SGD([half], lr=0.1))
    nested = scaler.scale([torch.ones(1), (torch.ones(1),)])
    assert nested[1][0].item() == 2.0 and isinstance(nested[1], tuple)


def test_scaler_with_a_fused_optimizer():
    scaler = torch.amp.GradScaler("cpu", init_scale=16.0)
    plain, fused = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(3))
    (plain * torch.tensor([1.0, 2, 3])).sum().backward()
    torch.optim.SGD([plain], lr=0.5).step()
    scaler.scale((fused * torch.tensor([1.0, 2, 3])).sum()).backward()
    scaler.step(torch.optim.SGD([fused], lr=0.5, fused=True))
    torch.testing.assert_close(plain, fused)


def test_disabled_scaler_passes_through():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = torch.amp.GradScaler()
    assert scaler.state_dict() == {} and scaler.get_scale() == 1.0
    x = torch.ones(1)
    assert scaler.scale(x) is x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not torch.cuda.amp.GradScaler().is_enabled()


def test_unscaling_kernel():
    found = torch.zeros(1)
    grads = [torch.tensor([1.0, 2.0]), torch.ones(2, 3).t(), torch.ones(2, dtype=torch.float64)]
    torch._amp_foreach_non_finite_check_and_unscale_(grads, found, torch.tensor(0.5))
    assert grads[0].tolist() == [0.5, 1.0] and grads[1].sum() == 3 and found.item() == 0
    for bad in (float("inf"), float("-inf"), float("nan")):
        found = torch.zeros(1)
        torch._amp_foreach_non_finite_check_and_unscale_(
            [torch.ones(3), torch.tensor([0.0, bad]).half()], found, torch.tensor(1.0))
        assert found.item() == 1
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        torch._amp_foreach_non_finite_check_and_unscale_([torch.tensor([1])], found, found)
    scale, tracker = torch.tensor([3e38]), torch.tensor([1], dtype=torch.int32)
    torch._amp_update_scale_(scale, tracker, torch.zeros(1), 2.0, 0.5, 2)
    assert scale.item() == pytest.approx(3e38) and tracker.item() == 0
