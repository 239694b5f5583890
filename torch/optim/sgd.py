"""Stochastic gradient descent with momentum (Sutskever et al., 2013, for the Nesterov form)."""
import torch

from .optimizer import (Optimizer, _check_fused, _closure_loss, _fusable, _get_value,
                        _use_grad_for_differentiable)

__all__ = ["SGD", "sgd"]


class SGD(Optimizer):
    r"""Stochastic gradient descent.

    With momentum: ``buf = momentum * buf + (1 - dampening) * grad`` (at first ``buf = grad``), and
    the parameter moves by ``-lr * buf``, or ``-lr * (grad + momentum * buf)`` with ``nesterov``.

    Args:
        params: parameters, named parameters or parameter groups.
        lr: learning rate, a number or a tensor of one element.
        weight_decay: factor of the L2 penalty's gradient added to the gradient.
        maximize: ascend instead of descend.
        foreach, fused: accepted; the CPU always runs one pass over all parameters.
        differentiable: let autograd record the step.

    Raises:
        ValueError: a negative ``lr``, ``momentum`` or ``weight_decay``, or ``nesterov`` without
            momentum or with dampening.
    """

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False,
                 *, maximize=False, foreach=None, differentiable=False, fused=None):
        if isinstance(lr, torch.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        }
        super().__init__(params, defaults)
        _check_fused(self, fused, foreach, differentiable)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("differentiable", False)
            group.setdefault("fused", False)

    def _init_group(self, group, params, grads, momentum_buffer_list):
        has_sparse_grad = False
        momentum = group["momentum"] != 0
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            params.append(p)
            grads.append(grad)
            if grad.is_sparse:
                has_sparse_grad = True
            if momentum:
                momentum_buffer_list.append(self.state[p].get("momentum_buffer"))
        return has_sparse_grad

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            params, grads, buffers = [], [], []
            has_sparse_grad = self._init_group(group, params, grads, buffers)
            sgd(params, grads, buffers, has_sparse_grad=has_sparse_grad,
                foreach=group["foreach"], fused=group["fused"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
                weight_decay=group["weight_decay"], momentum=group["momentum"], lr=group["lr"],
                dampening=group["dampening"], nesterov=group["nesterov"],
                maximize=group["maximize"])
            if group["momentum"] != 0:
                for p, buf in zip(params, buffers):
                    self.state[p]["momentum_buffer"] = buf
        return loss


def sgd(params, d_p_list, momentum_buffer_list, has_sparse_grad=False, foreach=None, fused=None,
        grad_scale=None, found_inf=None, *, weight_decay, momentum, lr, dampening, nesterov,
        maximize):
    r"""One step of :class:`SGD` over lists. ``None`` in the list of buffers is filled in."""
    options = {"weight_decay": weight_decay, "momentum": momentum, "lr": lr,
               "dampening": dampening, "nesterov": nesterov, "maximize": maximize}
    if has_sparse_grad or torch.is_grad_enabled() or not _fusable(params, d_p_list):
        if fused and (has_sparse_grad or any(p.is_complex() for p in params)):
            raise RuntimeError("`fused` does not support sparse grad or complex param")
        _single_tensor_sgd(params, d_p_list, momentum_buffer_list, **options)
        return
    if isinstance(lr, torch.Tensor):
        options["lr"] = lr.item()
    if isinstance(weight_decay, torch.Tensor):
        options["weight_decay"] = weight_decay.item()
    if grad_scale is not None or found_inf is not None:
        options.update(grad_scale=grad_scale, found_inf=found_inf)
    if momentum == 0:
        torch._fused_sgd_(params, d_p_list, [], is_first_step=False, **options)
    elif _all_set(momentum_buffer_list):
        torch._fused_sgd_(params, d_p_list, momentum_buffer_list, is_first_step=False, **options)
    else:
        _fused_with_new_buffers(params, d_p_list, momentum_buffer_list, options)


def _all_set(items):
    for item in items:
        if item is None:
            return False
    return True


def _fused_with_new_buffers(params, grads, buffers, options):
    """The first step of some of the parameters: their buffers become the gradients."""
    new = [i for i, buf in enumerate(buffers) if buf is None]
    old = [i for i, buf in enumerate(buffers) if buf is not None]
    for i in new:
        buffers[i] = torch.empty_like(params[i])
    for at, first in ((new, True), (old, False)):
        if at:
            torch._fused_sgd_([params[i] for i in at], [grads[i] for i in at],
                              [buffers[i] for i in at], is_first_step=first, **options)


def _single_tensor_sgd(params, grads, momentum_buffer_list, *, weight_decay, momentum, lr,
                       dampening, nesterov, maximize):
    if not (isinstance(lr, torch.Tensor) and lr.requires_grad):
        lr = _get_value(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        if isinstance(weight_decay, torch.Tensor):
            grad = grad + param * weight_decay
        elif weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)
        if momentum != 0:
            buf = momentum_buffer_list[i]
            if buf is None:
                buf = momentum_buffer_list[i] = grad.detach().clone()
            else:
                buf.mul_(momentum).add_(grad, alpha=1 - dampening)
            grad = grad.add(buf, alpha=momentum) if nesterov else buf
        if isinstance(lr, torch.Tensor):
            param.add_(grad * -lr)
        else:
            param.add_(grad, alpha=-lr)
