"""Adamax: Adam with the infinity norm (Kingma and Ba, 2015, section 7.1)."""
import torch

from .optimizer import (Optimizer, _check_capturable, _check_common, _check_steps, _closure_loss,
                        _gather, _get_value, _new_step, _real_lists, _set_defaults,
                        _state_to_tensors, _use_grad_for_differentiable, _zeros_like)

__all__ = ["Adamax", "adamax"]


class Adamax(Optimizer):
    r"""Adamax: the mean of the gradient over a decaying maximum of its magnitude.

    Arguments and errors as in :class:`torch.optim.Adam`.
    """

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
                 foreach=None, *, maximize=False, differentiable=False, capturable=False):
        _check_common(lr, eps, weight_decay, betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable})

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)
        _state_to_tensors(self, "step")

    @staticmethod
    def _new_state(p, group):
        return {"step": _new_step(), "exp_avg": _zeros_like(p), "exp_inf": _zeros_like(p)}

    def _init_group(self, group, *lists):
        return _gather(self, group, ("exp_avg", "exp_inf", "step"), self._new_state, lists)[0]

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], [], [], []
            has_complex = self._init_group(group, *lists)
            beta1, beta2 = group["betas"]
            adamax(*lists, eps=group["eps"], beta1=beta1, beta2=beta2, lr=group["lr"],
                   weight_decay=group["weight_decay"], foreach=group["foreach"],
                   maximize=group["maximize"], differentiable=group["differentiable"],
                   capturable=group["capturable"], has_complex=has_complex)
        return loss


def adamax(params, grads, exp_avgs, exp_infs, state_steps, foreach=None, maximize=False,
           differentiable=False, capturable=False, has_complex=False, *, eps, beta1, beta2, lr,
           weight_decay):
    r"""One step of :class:`Adamax` over lists of tensors."""
    _check_steps(state_steps)
    _check_capturable(capturable, params, foreach=foreach,
                      differentiable=differentiable)
    lr = lr if differentiable else _get_value(lr)
    lists = _real_lists(has_complex, params, grads, exp_avgs, exp_infs)
    for param, grad, exp_avg, exp_inf, step in zip(*lists, state_steps):
        step += 1
        grad = -grad if maximize else grad
        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_inf.copy_(torch.maximum(exp_inf * beta2, grad.abs() + eps))
        rate = lr / (1 - beta1 ** _get_value(step))
        if differentiable:
            param.sub_(exp_avg.clone() / exp_inf.clone() * rate)
        else:
            param.addcdiv_(exp_avg, exp_inf, value=-rate)
