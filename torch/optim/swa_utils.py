"""Averages of a model's parameters over training (Izmailov et al., 2018; Polyak averages)."""
import math
from copy import deepcopy
from itertools import chain

import torch
from torch.nn import Module

from ._lr_base import LRScheduler, _per_group, _warn_get_lr

__all__ = ["AveragedModel", "update_bn", "SWALR", "get_ema_multi_avg_fn", "get_swa_multi_avg_fn",
           "get_ema_avg_fn", "get_swa_avg_fn"]


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] "
                         "range.")


def _lerps(tensors):
    return all(t.is_floating_point() or t.is_complex() for t in tensors)


def get_ema_multi_avg_fn(decay=0.999):
    """A function that moves a list of averages toward a list of tensors by ``1 - decay``."""
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for ema, current in zip(ema_param_list, current_param_list):
            if _lerps((ema, current)):
                ema.lerp_(current.to(ema.dtype), 1 - decay)
            else:
                ema.copy_(ema * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    """A function that updates a list of equal-weight averages of ``num_averaged`` tensors each."""

    @torch.no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        for averaged, current in zip(averaged_param_list, current_param_list):
            averaged.copy_(averaged + (current - averaged) / (num_averaged + 1))

    return swa_update


def get_ema_avg_fn(decay=0.999):
    """A function of an average and a tensor: the new exponential average."""
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """A function of an average, a tensor and a count: the new equal-weight average."""

    @torch.no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    r"""A copy of a model whose parameters are averages of the model's.

    Args:
        model: the model, which is copied.
        device: where the averages are kept; None leaves them.
        avg_fn: ``avg_fn(average, parameter, count)`` returns the new average.
        multi_avg_fn: the same for lists, in place. Without both: equal weights.
        use_buffers: average the buffers too; otherwise the last ones are copied.

    Raises:
        AssertionError: both functions are given.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        """Calls the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Takes the parameters of ``model`` into the averages."""
        mine, theirs = self._tensors(self.module), self._tensors(model)
        theirs = [p.to(m.device) for m, p in zip(mine, theirs)]
        if self.n_averaged == 0:
            for m, p in zip(mine, theirs):
                m.copy_(p)
        elif self.avg_fn is not None:
            for m, p in zip(mine, theirs):
                m.copy_(self.avg_fn(m, p, self.n_averaged.to(m.device)))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            update(mine, theirs, self.n_averaged)
        if not self.use_buffers:
            for m, b in zip(self.module.buffers(), model.buffers()):
                m.detach().copy_(b.detach().to(m.device))
        self.n_averaged += 1

    def _tensors(self, model):
        tensors = model.parameters()
        if self.use_buffers:
            tensors = chain(tensors, model.buffers())
        return [t.detach() for t in tensors]


@torch.no_grad()
def update_bn(loader, model, device=None):
    r"""Recomputes the running statistics of the batch norms in one pass over ``loader``.

    Args:
        loader: batches; of a list or tuple the first item is the input.
        model: whose layers are updated.
        device: where inputs are moved first.
    """
    momenta = {}
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for batch in loader:
        if isinstance(batch, (list, tuple)):
            batch = batch[0]
        if device is not None:
            batch = batch.to(device)
        model(batch)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    r"""Moves the rate to a constant one.

    Args:
        swa_lr: the constant rate, one or one for each group.
        anneal_epochs: epochs on the way.
        anneal_strategy: ``"cos"`` or ``"linear"``.

    Raises:
        ValueError: another strategy, or a count that is no integer from 0 on.
    """

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for group, lr in zip(optimizer.param_groups, _per_group("swa_lr", swa_lr, optimizer)):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError("anneal_epochs must be equal or greater than 0, got "
                             f"{anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _linear_anneal(t):
        return t

    @staticmethod
    def _cosine_anneal(t):
        return (1 - math.cos(math.pi * t)) / 2

    def _set_anneal_func(self, anneal_strategy):
        self.anneal_func = (self._cosine_anneal if anneal_strategy == "cos"
                            else self._linear_anneal)

    @staticmethod
    def _get_initial_lr(lr, swa_lr, alpha):
        """The rate that the way began with, from the rate at ``alpha``."""
        return swa_lr if alpha == 1 else (lr - alpha * swa_lr) / (1 - alpha)

    def get_lr(self):
        """The rates that a step would set."""
        _warn_get_lr(self)
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        length = max(1, self.anneal_epochs)
        before = self.anneal_func(max(0, min(1, (step - 1) / length)))
        now = self.anneal_func(max(0, min(1, step / length)))
        rates = []
        for group in self.optimizer.param_groups:
            first = self._get_initial_lr(group["lr"], group["swa_lr"], before)
            rates.append(group["swa_lr"] * now + first * (1 - now))
        return rates

    def state_dict(self):
        """Everything except the optimizer and the function, which the strategy's name gives."""
        state = super().state_dict()
        state.pop("anneal_func")
        return state

    def load_state_dict(self, state_dict):
        """Takes over what :meth:`state_dict` returned."""
        super().load_state_dict(state_dict)
        self._set_anneal_func(self._anneal_strategy)
