"""Optimizers and schedules on one small problem. Run as a script it prints the results as JSON,
with which data/optim.json was recorded from the reference implementation."""
import json
import sys

import torch
from torch.optim import lr_scheduler as schedules

OPTIMIZERS = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.02}),
    ("SGD", {"lr": 0.05, "momentum": 0.8, "nesterov": True, "maximize": True}),
    ("Adam", {"lr": 0.03}),
    ("Adam", {"lr": 0.03, "amsgrad": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.03, "betas": (0.5, 0.7), "eps": 1e-3, "maximize": True}),
    ("AdamW", {"lr": 0.03, "weight_decay": 0.3}),
    ("AdamW", {"lr": 0.03, "amsgrad": True}),
    ("Adamax", {"lr": 0.03, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.03, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.03, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.03, "betas": (0.9, 0.9)}),
    ("RAdam", {"lr": 0.03, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.2}),
    ("Adadelta", {"lr": 0.9, "weight_decay": 0.1}),
    ("ASGD", {"lr": 0.05, "t0": 2, "lambd": 0.01}),
    ("RMSprop", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.5, "centered": True, "weight_decay": 0.1}),
    ("Rprop", {"lr": 0.02}),
    ("Adafactor", {"lr": 0.05, "weight_decay": 0.1}),
    ("LBFGS", {"lr": 0.5, "max_iter": 4}),
    ("LBFGS", {"line_search_fn": "strong_wolfe", "max_iter": 5}),
]

SCHEDULES = [
    ("StepLR", {"step_size": 2, "gamma": 0.5}), ("MultiStepLR", {"milestones": [1, 4, 4]}),
    ("ConstantLR", {"total_iters": 3}), ("LinearLR", {"total_iters": 4}),
    ("ExponentialLR", {"gamma": 0.8}), ("PolynomialLR", {"total_iters": 6, "power": 2.0}),
    ("CosineAnnealingLR", {"T_max": 4, "eta_min": 0.1}),
    ("CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 3, "mode": "triangular2"}),
    ("OneCycleLR", {"max_lr": 2.0, "total_steps": 12, "three_phase": True}),
]


def problem(dtype=torch.float32):
    w = torch.arange(12.0).reshape(4, 3).sub(5).div(4).to(dtype).requires_grad_()
    b = torch.tensor([0.3, -0.2, 1.5], dtype=dtype, requires_grad=True)

    def loss():
        return ((w * 1.3 - b) ** 2).sum() * 0.5 + (b * 2 + w).sin().sum()

    return [w, b], loss


def train(name, options, steps=6, dtype=torch.float32, wrap=lambda params: params):
    params, loss = problem(dtype)
    optimizer = getattr(torch.optim, name)(wrap(params), **options)

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    for _ in range(steps):
        optimizer.step(closure)
    return params, optimizer


def numbers(value):
    if isinstance(value, torch.Tensor):
        return value.detach().double().reshape(-1).tolist()
    if isinstance(value, (list, tuple)):
        return [numbers(v) for v in value]
    return value


def trajectory(name, options):
    params, optimizer = train(name, options)
    state = optimizer.state_dict()["state"][0] if name != "LBFGS" and optimizer.state else {}
    return {"params": [numbers(p) for p in params],
            "state": {key: numbers(value) for key, value in state.items()}}


def rates(name, options, steps=11):
    params, _ = problem()
    optimizer = torch.optim.SGD(params, lr=1.0, momentum=0.9)
    schedule = getattr(schedules, name)(optimizer, **options)
    out = []
    for _ in range(steps):
        out.append([optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["momentum"]])
        optimizer.step()
        schedule.step()
    return out


if __name__ == "__main__":
    json.dump({"optimizers": [trajectory(*case) for case in OPTIMIZERS],
               "schedules": [rates(*case) for case in SCHEDULES]}, sys.stdout)
