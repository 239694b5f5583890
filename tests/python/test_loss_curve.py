"""A seeded training run of a small CNN: its first 20 losses are those of the reference.

Covers at once the random stream (data, shuffling, initialisation, dropout), the layers, the loss,
gradient clipping, optimizers and a schedule. The losses are recorded; the run is determined by
the seed.
"""
import pytest

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

RUNS = {
    "adam": (lambda p: torch.optim.Adam(p, lr=3e-3), ADAM := [
        1.308348, 1.155852, 1.086546, 1.427283, 1.25329, 1.264547, 1.275965, 1.281432, 1.187723,
        1.11486, 1.16774, 1.097187, 1.129691, 1.280258, 1.209317, 1.200697, 1.327345, 1.35689,
        1.436178, 1.545979]),
    "sgd": (lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4), [
        1.308348, 1.244202, 1.075152, 1.38456, 1.265455, 1.254685, 1.177365, 1.148176, 1.193106,
        1.210927, 1.155001, 1.112313, 1.138554, 1.281399, 1.204429, 1.1554, 1.328769, 1.309182,
        1.36729, 1.411885]),
    "adamw": (lambda p: torch.optim.AdamW(p, lr=3e-3), [
        1.308348, 1.155848, 1.086564, 1.427258, 1.253279, 1.264534, 1.275931, 1.281388, 1.187707,
        1.114893, 1.167736, 1.097196, 1.129676, 1.280213, 1.209287, 1.200689, 1.327256, 1.356821,
        1.436085, 1.545865]),
    "adam, no fused step": (lambda p: torch.optim.Adam(p, lr=3e-3, foreach=False), ADAM),
    "adam, foreach": (lambda p: torch.optim.Adam(p, lr=3e-3, foreach=True), ADAM),
}


def losses(make_optimizer, workers=0):
    torch.manual_seed(0)
    inputs = torch.randn(320, 1, 12, 12)
    labels = (inputs.mean((1, 2, 3)) * 40 + 2).clamp(0, 3).long()
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.GELU(), nn.Flatten(), nn.Dropout(0.25),
        nn.Linear(400, 32), nn.LayerNorm(32), nn.Tanh(), nn.Linear(32, 4))
    optimizer = make_optimizer(model.parameters())
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
    loader = DataLoader(TensorDataset(inputs, labels), batch_size=16, shuffle=True,
                        num_workers=workers)
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        yield loss.item()


@pytest.mark.parametrize("name", RUNS)
def test_losses(name):
    make_optimizer, expected = RUNS[name]
    assert list(losses(make_optimizer)) == pytest.approx(expected, abs=1e-4)


def test_losses_with_workers():
    make_optimizer, expected = RUNS["adam"]
    assert list(losses(make_optimizer, workers=2)) == pytest.approx(expected, abs=1e-4)
