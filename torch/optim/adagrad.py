"""Adagrad (Duchi, Hazan and Singer, 2011)."""
import torch

from .optimizer import (Optimizer, _check_capturable, _check_common, _check_fused,
                        _check_option, _check_steps, _closure_loss, _fusable, _gather,
                        _get_scalar_dtype, _get_value, _real_lists, _set_defaults,
                        _state_to_tensors, _use_grad_for_differentiable)

__all__ = ["Adagrad", "adagrad"]


class Adagrad(Optimizer):
    r"""Adagrad: divides by the root of the sum of all squared gradients.

    Args:
        params: parameters, named parameters or parameter groups.
        lr: learning rate, divided by ``1 + (step - 1) * lr_decay``.
        weight_decay: factor of the L2 penalty's gradient.
        initial_accumulator_value: value that the sums start with.
        eps: added to the denominator.
        foreach, maximize, differentiable, fused: as in :class:`torch.optim.Adam`.

    Raises:
        ValueError: an option outside its range.
    """

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0,
                 eps=1e-10, foreach=None, *, maximize=False, differentiable=False, fused=None):
        _check_common(lr, 0, 0)
        _check_option(0.0 <= lr_decay, "lr_decay value", lr_decay)
        _check_option(0.0 <= weight_decay, "weight_decay value", weight_decay)
        _check_option(0.0 <= initial_accumulator_value, "initial_accumulator_value value",
                      initial_accumulator_value)
        _check_option(0.0 <= eps, "epsilon value", eps)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused})
        _check_fused(self, fused, foreach, differentiable)
        # Unlike the other optimizers' the state exists from the start.
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p].update(self._new_state(p, group))

    @staticmethod
    def _new_state(p, group):
        value = group["initial_accumulator_value"]
        if p.is_complex():
            value = complex(value, value)
        return {"step": torch.zeros((), dtype=_get_scalar_dtype(group["fused"])),
                "sum": torch.full_like(p, value, memory_format=torch.preserve_format)}

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, fused=None)
        _state_to_tensors(self, "step", fused=True)

    def share_memory(self):
        """Moves the sums to shared memory."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _init_group(self, group, *lists):
        complex_, sparse = _gather(self, group, ("sum", "step"), self._new_state, lists, True)
        return sparse, complex_

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], [], []
            has_sparse, has_complex = self._init_group(group, *lists)
            adagrad(*lists, lr=group["lr"], weight_decay=group["weight_decay"],
                    lr_decay=group["lr_decay"], eps=group["eps"], has_sparse_grad=has_sparse,
                    foreach=group["foreach"], maximize=group["maximize"],
                    differentiable=group["differentiable"], has_complex=has_complex,
                    fused=group["fused"], grad_scale=getattr(self, "grad_scale", None),
                    found_inf=getattr(self, "found_inf", None))
        return loss


def adagrad(params, grads, state_sums, state_steps, fused=None, grad_scale=None, found_inf=None,
            has_sparse_grad=False, foreach=None, differentiable=False, has_complex=False, *, lr,
            weight_decay, lr_decay, eps, maximize):
    r"""One step of :class:`Adagrad` over lists of tensors."""
    _check_steps(state_steps)
    if fused and (has_sparse_grad or has_complex):
        raise RuntimeError("`fused` does not support sparse grad or complex param")
    _check_capturable(False, params, foreach=foreach, differentiable=differentiable)
    lr = lr if differentiable else _get_value(lr)
    if not differentiable and _fusable(params, grads):
        torch._C._advance_steps_(state_steps)
        torch._fused_adagrad_(params, grads, state_sums, state_steps, lr=lr, lr_decay=lr_decay,
                              weight_decay=weight_decay, eps=eps, maximize=maximize,
                              grad_scale=grad_scale, found_inf=found_inf)
        return
    for param, grad, total, step_t in zip(params, grads, state_sums, state_steps):
        step_t += 1
        rate = lr / (1 + (step_t.item() - 1) * lr_decay)
        grad = -grad if maximize else grad
        if weight_decay != 0:
            if grad.is_sparse:
                raise RuntimeError("weight_decay option is not compatible with sparse gradients")
            grad = grad.add(param, alpha=weight_decay)
        if grad.is_sparse:
            _sparse_step(param, grad.coalesce(), total, rate, eps)
            continue
        param, grad, total = _real_lists(param.is_complex(), [param], [grad], [total])
        param, grad, total = param[0], grad[0], total[0]
        total.addcmul_(grad, grad, value=1)
        if differentiable:
            param.sub_(grad / (total.sqrt() + eps) * rate)
        else:
            param.addcdiv_(grad, total.sqrt().add_(eps), value=-rate)


def _sparse_step(param, grad, total, rate, eps):
    """Touches only the rows that the gradient has."""
    values = grad._values()
    if values.numel() == 0:
        return
    at = tuple(grad._indices())
    total.index_put_(at, values.pow(2), accumulate=True)
    param.index_put_(at, values / (total[at].sqrt() + eps) * -rate, accumulate=True)
