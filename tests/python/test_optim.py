"""torch.optim: recorded trajectories, the state's layout, hooks, errors, schedules, averages."""
import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import warnings

import pytest

import torch
from optim_cases import OPTIMIZERS, SCHEDULES, numbers, problem, rates, train
from torch import nn
from torch.optim import lr_scheduler
from torch.optim.swa_utils import (SWALR, AveragedModel, get_ema_multi_avg_fn,
                                   get_swa_multi_avg_fn)

with open(os.path.join(os.path.dirname(__file__), "data", "optim.json")) as file:
    RECORDED = json.load(file)


def close(a, b, rtol=2e-5, atol=2e-6):
    return len(a) == len(b) and all(abs(x - y) <= atol + rtol * abs(y) for x, y in zip(a, b))


@pytest.mark.parametrize("number", range(len(OPTIMIZERS)),
                         ids=lambda i: f"{OPTIMIZERS[i][0]}-{i}")
def test_trajectory(number):
    name, options = OPTIMIZERS[number]
    expected = RECORDED["optimizers"][number]
    params, optimizer = train(name, options)
    for p, want in zip(params, expected["params"]):
        assert close(numbers(p), want)
    if expected["state"]:
        state = optimizer.state_dict()["state"][0]
        assert list(state) and set(state) == set(expected["state"])
        for key, want in expected["state"].items():
            assert close(numbers(state[key]), want), key


@pytest.mark.parametrize("number", range(len(SCHEDULES)), ids=lambda i: SCHEDULES[i][0])
def test_schedule(number):
    name, options = SCHEDULES[number]
    for got, want in zip(rates(name, options), RECORDED["schedules"][number]):
        assert close(got, want, 1e-9, 1e-12)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop"])
@pytest.mark.parametrize("layout", ["transposed", "strided", "large"])
def test_fused_layouts(name, layout):
    """The fused step equals the step in double over plain memory, whatever the layout."""
    base = torch.linspace(-1, 1, 120000 if layout == "large" else 24)
    make = {"transposed": lambda t: t.reshape(4, -1).t(),
            "strided": lambda t: torch.stack([t, t], 1)[:, 0], "large": lambda t: t}[layout]
    options = {"lr": 0.01, "weight_decay": 0.1}
    if name == "SGD":
        options["momentum"] = 0.9
    results = []
    for dtype in (torch.float32, torch.float64):
        p = make(base.clone().to(dtype)).detach().requires_grad_()
        optimizer = getattr(torch.optim, name)([p], **options)
        for i in range(3):
            p.grad = (p.detach() * (i + 1)).sin().contiguous()
            optimizer.step()
        results.append(p.detach().double())
    assert (results[0] - results[1]).abs().max().item() < 2e-6


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_parameters(dtype):
    params, optimizer = train("Adam", {"lr": 0.05}, steps=3, dtype=dtype)
    exact, _ = train("Adam", {"lr": 0.05}, steps=3)
    assert optimizer.state[params[0]]["exp_avg"].dtype == dtype
    assert optimizer.state[params[0]]["step"].dtype == torch.float32
    for p, q in zip(params, exact):
        assert (p.detach().float() - q.detach()).abs().max().item() < 0.05


def test_loss_scale_and_overflow():
    p = torch.ones(3, requires_grad=True)
    p.grad = torch.full((3,), 8.0)
    buf = torch.zeros(3)
    options = {"weight_decay": 0, "momentum": 0.5, "lr": 0.1, "dampening": 0, "nesterov": False,
               "maximize": False, "is_first_step": True, "grad_scale": torch.tensor(4.0)}
    with torch.no_grad():
        torch._fused_sgd_([p], [p.grad], [buf], found_inf=torch.tensor(1.0), **options)
        assert p.tolist() == [1, 1, 1]
        torch._fused_sgd_([p], [p.grad], [buf], found_inf=torch.tensor(0.0), **options)
    assert p.grad.tolist() == [2, 2, 2] and buf.tolist() == [2, 2, 2]
    assert close(p.tolist(), [0.8] * 3)


def test_step_counts_as_a_write():
    p = torch.ones(2, requires_grad=True)
    before = p._version
    p.grad = torch.ones(2)
    torch.optim.SGD([p], lr=0.1).step()
    assert p._version > before


@pytest.mark.parametrize("name", ["Adam", "NAdam", "Rprop", "ASGD", "Adagrad", "SGD"])
def test_state_dict_round_trip(name):
    options = {"momentum": 0.9} if name == "SGD" else {}
    params, first = train(name, options, steps=3)
    saved = pickle.loads(pickle.dumps(first.state_dict()))
    other, second = train(name, options, steps=0)
    second.load_state_dict(saved)
    for p, q in zip(params, other):
        q.data.copy_(p.data)
    for group in (params, other):
        for p in group:
            p.grad = torch.ones_like(p)
    first.step()
    second.step()
    for p, q in zip(params, other):
        assert p.tolist() == q.tolist()


def test_state_dict_layout():
    params, loss = problem()
    optimizer = torch.optim.Adam([{"params": [("w", params[0])], "lr": 0.1},
                                  {"params": [("b", params[1])]}])
    saved = optimizer.state_dict()
    assert saved["state"] == {}
    assert [g["params"] for g in saved["param_groups"]] == [[0], [1]]
    assert [g["param_names"] for g in saved["param_groups"]] == [["w"], ["b"]]
    assert list(saved["param_groups"][0])[-1] == "params"
    loss().backward()
    optimizer.step()
    assert sorted(optimizer.state_dict()["state"]) == [0, 1]


def test_loading_casts_state_to_the_parameter():
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    optimizer.load_state_dict({
        "state": {0: {"momentum_buffer": torch.ones(2, dtype=torch.float64),
                      "step": torch.ones((), dtype=torch.float64)}},
        "param_groups": [{"params": [0], "lr": 3, "momentum": 0.5}]})
    assert optimizer.state[p]["momentum_buffer"].dtype == torch.float32
    assert optimizer.state[p]["step"].dtype == torch.float64
    assert optimizer.param_groups[0]["nesterov"] is False


def test_hooks():
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.1)
    seen = []
    from torch.optim.optimizer import (register_optimizer_step_post_hook,
                                       register_optimizer_step_pre_hook)
    handles = [
        optimizer.register_step_pre_hook(lambda o, a, k: seen.append("pre")),
        optimizer.register_step_post_hook(lambda o, a, k: seen.append("post")),
        register_optimizer_step_pre_hook(lambda o, a, k: seen.append("all pre")),
        register_optimizer_step_post_hook(lambda o, a, k: seen.append("all post")),
    ]
    optimizer.step()
    assert seen == ["all pre", "pre", "post", "all post"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 4
    optimizer.register_step_pre_hook(lambda o, a, k: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        optimizer.step()


def test_state_dict_hooks():
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1)
    optimizer.register_state_dict_post_hook(lambda o, d: {**d, "more": 1})
    assert optimizer.state_dict()["more"] == 1
    optimizer.register_load_state_dict_pre_hook(
        lambda o, d: {**d, "param_groups": [{**d["param_groups"][0], "lr": 7.0}]})
    optimizer.load_state_dict(optimizer.state_dict())
    assert optimizer.param_groups[0]["lr"] == 7.0


@pytest.mark.parametrize("make, error, words", [
    (lambda p: torch.optim.SGD(p), TypeError, "iterable of Tensors or dicts"),
    (lambda p: torch.optim.SGD([]), ValueError, "empty parameter list"),
    (lambda p: torch.optim.SGD([1]), TypeError, "can only optimize Tensors"),
    (lambda p: torch.optim.SGD([p * 2]), ValueError, "non-leaf"),
    (lambda p: torch.optim.SGD([{"params": {p}}]), TypeError, "ordered collections"),
    (lambda p: torch.optim.SGD([{"params": p}, {"params": p}]), ValueError, "more than one"),
    (lambda p: torch.optim.SGD([("a", p), torch.ones(1)]), ValueError, "with/without names"),
    (lambda p: torch.optim.SGD([p], nesterov=True), ValueError, "Nesterov"),
    (lambda p: torch.optim.Adam([p], betas=(1.0, 0.5)), ValueError, "beta parameter at index 0"),
    (lambda p: torch.optim.Adam([p], fused=True, foreach=True), RuntimeError, "cannot be `True`"),
    (lambda p: torch.optim.Adam([p], lr=torch.ones(2)), ValueError, "1-element"),
    (lambda p: torch.optim.Rprop([p], etas=(2, 3)), ValueError, "Invalid eta values: 2, 3"),
    (lambda p: torch.optim.ASGD([p], lambd=-1), ValueError, "Invalid lambd value: -1"),
    (lambda p: torch.optim.Muon([p]), ValueError, "2D parameters"),
    (lambda p: torch.optim.LBFGS([{"params": [p]}, {"params": [torch.ones(1)]}]), ValueError,
     "parameter groups"),
])
def test_errors(make, error, words):
    with pytest.raises(error, match=words):
        make(torch.ones(2, requires_grad=True))


def test_capturable_is_refused():
    p = torch.ones(2, requires_grad=True)
    p.grad = torch.ones(2)
    with pytest.raises(AssertionError, match="capturable=True"):
        torch.optim.Adam([p], capturable=True).step()


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adadelta", "NAdam"])
def test_differentiable(name):
    """The gradient of a parameter after two steps, with respect to the gradients' scale."""
    def after(scale):
        p = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
        q = p.clone()
        optimizer = getattr(torch.optim, name)([q], lr=0.1, differentiable=True)
        for i in range(2):
            q.grad = torch.tensor([1.0, 2.0 + i], dtype=torch.float64) * scale
            optimizer.step()
        return q.sum()

    scale = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    after(scale).backward()
    with torch.no_grad():
        slope = (after(scale + 1e-5) - after(scale - 1e-5)) / 2e-5
    assert abs(scale.grad.item() - slope.item()) < 1e-5


def test_complex_parameters():
    p = torch.tensor([1 + 2j, -0.5j], requires_grad=True)
    p.grad = torch.tensor([0.5 - 1j, 2 + 0j])
    optimizer = torch.optim.Adam([p], lr=0.1)
    optimizer.step()
    assert optimizer.state[p]["exp_avg"].dtype == torch.complex64
    assert abs(p[0].item() - (0.9 + 2.1j)) < 1e-5


def test_zero_grad_and_repr():
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.5)
    p.grad = torch.ones(2)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0, 0]
    optimizer.zero_grad()
    assert p.grad is None
    assert repr(optimizer).startswith("SGD (\nParameter Group 0\n    dampening: 0\n")
    again = copy.deepcopy(optimizer)
    assert again.param_groups[0]["lr"] == 0.5 and again.param_groups[0]["params"][0] is not p


def test_schedule_order_is_checked():
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.5)
    schedule = lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        schedule.step()
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        lr_scheduler.StepLR(3, 2)
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.StepLR(torch.optim.SGD([torch.ones(1)]), 2, last_epoch=4)


def test_composed_schedules():
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=1.0)
    schedule = lr_scheduler.SequentialLR(
        optimizer, [lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2),
                    lr_scheduler.ExponentialLR(optimizer, 0.5)], [2])
    seen = []
    for _ in range(5):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert close(seen, [0.5, 0.75, 1.0, 0.5, 0.25])
    state = pickle.loads(pickle.dumps(schedule.state_dict()))
    schedule.load_state_dict(state)
    assert schedule.last_epoch == 5


def test_plateau():
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=1.0)
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, cooldown=1)
    for metric in (1.0, torch.tensor(2.0), 2.0, 2.0):
        schedule.step(metric)
    assert close(schedule.get_last_lr(), [0.1])


def test_tensor_rate_is_changed_in_place():
    rate = torch.tensor(1.0)
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=rate)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step()
    assert rate.item() == 0.5 and schedule.base_lrs[0].item() == 1.0


def test_schedule_does_not_keep_the_optimizer_alive():
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=1.0)
    lr_scheduler.StepLR(optimizer, 2)
    import weakref
    ref = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert ref() is None


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
        self.register_buffer("count", torch.tensor(3))

    def forward(self, x):
        return x * self.w


def test_averaged_model():
    model = Scale()
    equal = AveragedModel(model)
    moving = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.5), use_buffers=True)
    for _ in range(3):
        with torch.no_grad():
            model.w.add_(1)
            model.count.add_(4)
        equal.update_parameters(model)
        moving.update_parameters(model)
    assert equal.module.w.tolist() == [3, 3] and equal.module.count.item() == 15
    assert moving.module.w.tolist() == [3.25, 3.25] and moving.module.count.item() == 12
    assert list(equal.state_dict()) == ["n_averaged", "module.w", "module.count"]
    with pytest.raises(AssertionError, match="Only one of"):
        AveragedModel(model, avg_fn=max, multi_avg_fn=get_swa_multi_avg_fn())


def test_swa_rate():
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=1.0)
    schedule = SWALR(optimizer, 0.5, anneal_epochs=2, anneal_strategy="linear")
    seen = []
    for _ in range(4):
        optimizer.step()
        schedule.step()
        seen += schedule.get_last_lr()
    assert close(seen, [0.75, 0.5, 0.5, 0.5])


def test_foreach():
    a = [torch.tensor([1.0, 4.0]), torch.tensor([[9.0]])]
    assert [t.tolist() for t in torch._foreach_sqrt(a)] == [[1, 2], [[3]]]
    assert [t.tolist() for t in torch._foreach_add(a, a, alpha=2)] == [[3, 12], [[27]]]
    assert torch._foreach_mul_(a, [2, 3]) is a and a[1].item() == 27
    with pytest.raises(RuntimeError, match="same number of tensors, got 2 and 1"):
        torch._foreach_add(a, a[:1])
    with pytest.raises(RuntimeError, match="at least one tensor"):
        torch._foreach_exp([])


def test_import_is_light():
    code = ("import torch, sys, time; t = time.perf_counter(); import torch.optim;"
            "t = time.perf_counter() - t; print(t, 'inspect' in sys.modules)")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, inspect = out.stdout.split()
    assert inspect == "False"
    assert float(seconds) < 0.1


def test_no_warnings_in_a_plain_loop():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        params, loss = problem()
        optimizer = torch.optim.AdamW(params)
        schedule = lr_scheduler.CosineAnnealingLR(optimizer, 5)
        for _ in range(4):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
            schedule.step()


def test_steps_over_lists_are_not_differentiable():
    for name in ("Adam", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop",
                 "ASGD"):
        p = torch.nn.Parameter(torch.ones(2))
        p.grad = torch.ones(2)
        optimizer = getattr(torch.optim, name)([p], foreach=True, differentiable=True)
        with pytest.raises(AssertionError, match="_foreach ops don't support autograd"):
            optimizer.step()
