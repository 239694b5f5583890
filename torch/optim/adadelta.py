"""Adadelta (Zeiler, 2012)."""
from .optimizer import (Optimizer, _check_capturable, _check_common, _check_option, _check_steps,
                        _closure_loss, _gather, _get_value, _new_step, _real_lists, _set_defaults,
                        _state_to_tensors, _use_grad_for_differentiable, _zeros_like)

__all__ = ["Adadelta", "adadelta"]


class Adadelta(Optimizer):
    r"""Adadelta: steps in the ratio of the running sizes of past steps and gradients.

    Args:
        params: parameters, named parameters or parameter groups.
        lr: factor of the step.
        rho: decay of the running means of squares.
        eps: added below the square roots.
        weight_decay: factor of the L2 penalty's gradient.
        foreach, capturable, maximize, differentiable: as in :class:`torch.optim.Adam`.

    Raises:
        ValueError: an option outside its range.
    """

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *,
                 capturable=False, maximize=False, differentiable=False):
        _check_common(lr, 0, 0)
        _check_option(0.0 <= rho <= 1.0, "rho value", rho)
        _check_common(lr, eps, weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable})

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)
        _state_to_tensors(self, "step")

    @staticmethod
    def _new_state(p, group):
        return {"step": _new_step(), "square_avg": _zeros_like(p), "acc_delta": _zeros_like(p)}

    def _init_group(self, group, *lists):
        return _gather(self, group, ("square_avg", "acc_delta", "step"), self._new_state,
                       lists)[0]

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], [], [], []
            has_complex = self._init_group(group, *lists)
            adadelta(*lists, lr=group["lr"], rho=group["rho"], eps=group["eps"],
                     weight_decay=group["weight_decay"], foreach=group["foreach"],
                     maximize=group["maximize"], differentiable=group["differentiable"],
                     capturable=group["capturable"], has_complex=has_complex)
        return loss


def adadelta(params, grads, square_avgs, acc_deltas, state_steps, capturable=False, foreach=None,
             differentiable=False, has_complex=False, *, lr, rho, eps, weight_decay, maximize):
    r"""One step of :class:`Adadelta` over lists of tensors."""
    _check_steps(state_steps)
    _check_capturable(capturable, params, foreach=foreach,
                      differentiable=differentiable, supports_xla=False)
    lr = lr if differentiable else _get_value(lr)
    for step in state_steps:
        step += 1
    lists = _real_lists(has_complex, params, grads, square_avgs, acc_deltas)
    for param, grad, square, acc in zip(*lists):
        grad = -grad if maximize else grad
        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = acc.add(eps).sqrt_()
        delta = (delta.clone() if differentiable else delta) / square.add(eps).sqrt_() * grad
        acc.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.sub_(delta * lr)
