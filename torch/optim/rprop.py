"""Resilient backpropagation (Riedmiller and Braun, 1993)."""
import torch

from .optimizer import (Optimizer, _check_capturable, _check_lr_tensor, _check_option,
                        _check_steps, _closure_loss, _gather, _get_value, _new_step, _real_lists,
                        _set_defaults, _state_to_tensors, _use_grad_for_differentiable,
                        _zeros_like)

__all__ = ["Rprop", "rprop"]


class Rprop(Optimizer):
    r"""Rprop: uses only the signs of the gradient; every element has a step size of its own.

    Args:
        params: parameters, named parameters or parameter groups.
        lr: first step size.
        etas: factors of the step size after a change of sign and without one.
        step_sizes: smallest and largest step size.
        capturable, foreach, maximize, differentiable: as in :class:`torch.optim.Adam`.

    Raises:
        ValueError: an option outside its range.
    """

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        _check_lr_tensor(lr)
        _check_option(0.0 <= lr, "learning rate", lr)
        _check_option(0.0 < etas[0] < 1.0 < etas[1], "eta values", f"{etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)
        _state_to_tensors(self, "step")

    @staticmethod
    def _new_state(p, group):
        lr = _get_value(group["lr"])
        return {"step": _new_step(), "prev": _zeros_like(p),
                "step_size": torch.full_like(p.grad, complex(lr, lr) if p.is_complex() else lr)}

    def _init_group(self, group, *lists):
        return _gather(self, group, ("prev", "step_size", "step"), self._new_state, lists)[0]

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], [], [], []
            has_complex = self._init_group(group, *lists)
            etaminus, etaplus = group["etas"]
            smallest, largest = group["step_sizes"]
            rprop(*lists, step_size_min=smallest, step_size_max=largest, etaminus=etaminus,
                  etaplus=etaplus, foreach=group["foreach"], maximize=group["maximize"],
                  differentiable=group["differentiable"], capturable=group["capturable"],
                  has_complex=has_complex)
        return loss


def rprop(params, grads, prevs, step_sizes, state_steps, foreach=None, capturable=False,
          maximize=False, differentiable=False, has_complex=False, *, step_size_min,
          step_size_max, etaminus, etaplus):
    r"""One step of :class:`Rprop` over lists of tensors."""
    _check_steps(state_steps)
    _check_capturable(capturable, params, foreach=foreach, differentiable=differentiable,
                      foreach_xla=True)
    lists = _real_lists(has_complex, params, grads, prevs, step_sizes)
    for param, grad, prev, size, step in zip(*lists, state_steps):
        step += 1
        grad = -grad if maximize else grad
        turn = grad.mul(prev.clone() if differentiable else prev)
        turned = turn < 0
        factor = torch.ones_like(size).masked_fill_(turn > 0, etaplus)
        factor.masked_fill_(turned, etaminus)
        size.mul_(factor).clamp_(step_size_min, step_size_max)
        # After a change of sign the element rests for one step.
        grad = grad.masked_fill(turned, 0)
        param.sub_(grad.sign() * size)
        prev.copy_(grad)
