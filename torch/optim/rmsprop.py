"""RMSprop (Tieleman and Hinton, 2012; centered: Graves, 2013)."""
import torch

from .optimizer import (Optimizer, _check_capturable, _check_common, _check_option, _check_steps,
                        _closure_loss, _fusable, _gather, _get_value, _new_step, _real_lists,
                        _set_defaults, _state_to_tensors, _use_grad_for_differentiable,
                        _zeros_like)

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(Optimizer):
    r"""RMSprop: divides by the root of a running mean of the squared gradient.

    Args:
        params: parameters, named parameters or parameter groups.
        lr: learning rate.
        alpha: decay of the running mean.
        eps: added to the denominator.
        weight_decay: factor of the L2 penalty's gradient.
        momentum: of the steps.
        centered: divide by an estimate of the standard deviation instead.
        capturable, foreach, maximize, differentiable: as in :class:`torch.optim.Adam`.

    Raises:
        ValueError: an option outside its range.
    """

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0,
                 centered=False, capturable=False, foreach=None, maximize=False,
                 differentiable=False):
        _check_common(lr, eps, 0)
        _check_option(0.0 <= momentum, "momentum value", momentum)
        _check_option(0.0 <= weight_decay, "weight_decay value", weight_decay)
        _check_option(0.0 <= alpha, "alpha value", alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable})

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, momentum=0, centered=False, foreach=None, maximize=False,
                      differentiable=False, capturable=False)
        _state_to_tensors(self, "step")

    @staticmethod
    def _new_state(p, group):
        state = {"step": _new_step(), "square_avg": _zeros_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = _zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = _zeros_like(p)
        return state

    def _init_group(self, group, params, grads, square_avgs, buffers, grad_avgs, steps):
        keys, lists = ["square_avg", "step"], [params, grads, square_avgs, steps]
        if group["momentum"] > 0:
            keys.append("momentum_buffer")
            lists.append(buffers)
        if group["centered"]:
            keys.append("grad_avg")
            lists.append(grad_avgs)
        return _gather(self, group, keys, self._new_state, lists)[0]

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            params, grads, squares, buffers, means, steps = lists = [], [], [], [], [], []
            has_complex = self._init_group(group, *lists)
            rmsprop(params, grads, squares, means, buffers, steps, lr=group["lr"],
                    alpha=group["alpha"], eps=group["eps"], weight_decay=group["weight_decay"],
                    momentum=group["momentum"], centered=group["centered"],
                    foreach=group["foreach"], maximize=group["maximize"],
                    differentiable=group["differentiable"], capturable=group["capturable"],
                    has_complex=has_complex)
        return loss


def rmsprop(params, grads, square_avgs, grad_avgs, momentum_buffer_list, state_steps,
            foreach=None, maximize=False, differentiable=False, capturable=False,
            has_complex=False, *, lr, alpha, eps, weight_decay, momentum, centered):
    r"""One step of :class:`RMSprop` over lists of tensors."""
    _check_steps(state_steps)
    _check_capturable(capturable, params, foreach=foreach, differentiable=differentiable,
                      foreach_xla=True)
    lr = lr if differentiable else _get_value(lr)
    if not differentiable and _fusable(params, grads):
        torch._C._advance_steps_(state_steps)
        torch._C._fused_rmsprop_(
            params, grads, square_avgs, grad_avgs if centered else [],
            momentum_buffer_list if momentum > 0 else [], lr=lr, alpha=alpha,
            weight_decay=weight_decay, eps=eps, momentum=momentum, maximize=maximize)
        return
    params, grads, square_avgs, grad_avgs, momentum_buffer_list = _real_lists(
        has_complex, params, grads, square_avgs, grad_avgs, momentum_buffer_list)
    for i, param in enumerate(params):
        state_steps[i].add_(1)
        grad = -grads[i] if maximize else grads[i]
        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)
        square = square_avgs[i]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if centered:
            mean = grad_avgs[i]
            mean.lerp_(grad, 1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt_() + eps
        else:
            root = (square.clone() if differentiable else square).sqrt() + eps
        move = grad / root
        if momentum > 0:
            move = momentum_buffer_list[i].mul_(momentum).add_(move)
            move = move.clone() if differentiable else move
        param.sub_(move * lr)
