"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992)."""
import torch

from .optimizer import (Optimizer, _check_capturable, _check_common, _check_option, _check_steps,
                        _closure_loss, _gather, _get_scalar_dtype, _get_value, _new_step,
                        _real_lists, _set_defaults, _state_to_tensors,
                        _use_grad_for_differentiable, _zeros_like)

__all__ = ["ASGD", "asgd"]


class ASGD(Optimizer):
    r"""Gradient descent that also keeps the average of the parameters, in ``state["ax"]``.

    Args:
        params: parameters, named parameters or parameter groups.
        lr: first learning rate; later ``lr / (1 + lambd * lr * step) ** alpha``.
        lambd: decay of the parameters.
        alpha: power of the decay of the rate.
        t0: step at which averaging starts.
        weight_decay: factor of the L2 penalty's gradient.
        foreach, maximize, differentiable, capturable: as in :class:`torch.optim.Adam`.

    Raises:
        ValueError: an option outside its range.
    """

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0,
                 foreach=None, maximize=False, differentiable=False, capturable=False):
        _check_common(lr, 0, weight_decay)
        _check_option(0.0 <= lambd, "lambd value", lambd)
        _check_option(0.0 <= alpha, "alpha value", alpha)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable})

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)
        _state_to_tensors(self, "step", "eta", "mu")

    @staticmethod
    def _new_state(p, group):
        dtype = _get_scalar_dtype()
        return {"step": _new_step(),
                "eta": torch.as_tensor(_get_value(group["lr"]), dtype=dtype),
                "mu": torch.ones((), dtype=dtype), "ax": _zeros_like(p)}

    def _init_group(self, group, *lists):
        return _gather(self, group, ("mu", "ax", "eta", "step"), self._new_state, lists)[0]

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            params, grads, mus, axs, etas, steps = lists = [], [], [], [], [], []
            has_complex = self._init_group(group, *lists)
            asgd(params, grads, axs, mus, etas, steps, lambd=group["lambd"], lr=group["lr"],
                 t0=group["t0"], alpha=group["alpha"], weight_decay=group["weight_decay"],
                 foreach=group["foreach"], maximize=group["maximize"],
                 differentiable=group["differentiable"], capturable=group["capturable"],
                 has_complex=has_complex)
        return loss


def asgd(params, grads, axs, mus, etas, state_steps, foreach=None, maximize=False,
         differentiable=False, capturable=False, has_complex=False, *, lambd, lr, t0, alpha,
         weight_decay):
    r"""One step of :class:`ASGD` over lists of tensors."""
    _check_steps(state_steps)
    _check_capturable(capturable, params, "params, mus, etas, and state_steps", foreach=foreach,
                      differentiable=differentiable)
    rate = _get_value(lr)
    lists = _real_lists(has_complex, params, grads, axs)
    for param, grad, ax, mu, eta, step_t in zip(*lists, mus, etas, state_steps):
        step_t += 1
        step = step_t.item()
        grad = -grad if maximize else grad
        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)
        eta_now, mu_now = eta.item(), mu.item()
        param.mul_(1 - lambd * eta_now)
        param.add_(grad, alpha=-eta_now)
        if mu_now == 1:
            ax.copy_(param)
        else:
            ax.add_((param - ax) * mu_now)
        eta.fill_(rate / (1 + lambd * rate * step) ** alpha)
        mu.fill_(1 / max(1, step - t0))
