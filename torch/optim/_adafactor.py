"""Adafactor (Shazeer and Stern, 2018): second moments kept as a row and a column."""
import torch

from .optimizer import (Optimizer, _check_lr_tensor, _check_steps, _closure_loss, _gather,
                        _get_value, _new_step, _no_grad_step, _set_defaults, _state_to_tensors,
                        _zeros_like)

__all__ = ["Adafactor", "adafactor"]


class Adafactor(Optimizer):
    r"""Adafactor: for matrices the mean of squares is a product of row and column means.

    Args:
        params: parameters, named parameters or parameter groups.
        lr: upper bound of the relative step.
        beta2_decay: the mean's weight of step t is ``t ** beta2_decay``.
        eps: lower bounds of the mean of squares (None: the dtype's precision) and of the
            parameter's scale.
        d: threshold of the update's root mean square.
        weight_decay: decay of the weights.
        foreach, maximize: as in :class:`torch.optim.Adam`.

    Raises:
        ValueError: an option outside its range.
    """

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0,
                 weight_decay=0.0, *, foreach=None, maximize=False):
        _check_lr_tensor(lr)
        for ok, text, value in (
                (0.0 <= lr, "Learning rate should be >= 0", lr),
                (0.0 >= beta2_decay, "beta2_decay should be <= 0", beta2_decay),
                (eps[0] is None or 0.0 <= eps[0], "epsilon1 should be >= 0", eps[0]),
                (0.0 <= eps[1], "epsilon2 should be >= 0", eps[1]),
                (1.0 <= d, "Clipping threshold d should be >= 1", d),
                (0.0 <= weight_decay, "weight_decay should be >= 0", weight_decay)):
            if not ok:
                raise ValueError(f"{text} but is: {value}")
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
            "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize})

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, foreach=None)
        _state_to_tensors(self, "step")

    __module__ = "torch.optim"

    @staticmethod
    def _new_state(p, group):
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state = {"step": _new_step()}
        if p.grad.dim() > 1:
            row, column = list(p.grad.shape), list(p.grad.shape)
            row[-1] = column[-2] = 1
            state["row_var"] = p.grad.new_zeros(row)
            state["col_var"] = p.grad.new_zeros(column)
        else:
            state["variance"] = _zeros_like(p.grad)
        return state

    def _init_group(self, group, params, grads, row_vars, col_vars, variances, steps):
        has_complex, _ = _gather(self, group, ("step",), self._new_state, (params, grads, steps))
        for p in params:
            state = self.state[p]
            row_vars.append(state.get("row_var"))
            col_vars.append(state.get("col_var"))
            variances.append(state.get("variance"))
        return has_complex

    @_no_grad_step
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], [], [], [], []
            has_complex = self._init_group(group, *lists)
            eps1, eps2 = group["eps"]
            adafactor(*lists, d=group["d"], lr=group["lr"], beta2_decay=group["beta2_decay"],
                      weight_decay=group["weight_decay"], eps1=eps1, eps2=eps2,
                      foreach=group["foreach"], maximize=group["maximize"],
                      grad_scale=getattr(self, "grad_scale", None),
                      found_inf=getattr(self, "found_inf", None), has_complex=has_complex)
        return loss


def adafactor(params, grads, row_vars, col_vars, variances, state_steps, foreach=None,
              grad_scale=None, found_inf=None, has_complex=False, *, d, lr, beta2_decay,
              weight_decay, eps1, eps2, maximize):
    r"""One step of :class:`Adafactor` over lists of tensors."""
    _check_steps(state_steps)
    if has_complex:
        raise RuntimeError("Adafactor does not support complex parameters")
    lr = _get_value(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        state_steps[i].add_(1)
        step = state_steps[i].item()
        smallest = torch.finfo(param.dtype).eps if eps1 is None else eps1
        weight = step ** beta2_decay
        scale = max(eps2, _rms(param)) * min(lr, 1 / step ** 0.5)
        if weight_decay != 0:
            param.mul_(1 - lr * weight_decay)
        if grad.dim() > 1:
            row, column = row_vars[i], col_vars[i]
            row.lerp_(_mean_square(grad, -1), weight)
            column.lerp_(_mean_square(grad, -2), weight)
            square = row * column
            square.div_(row.mean(dim=-2, keepdim=True).clamp_(min=smallest))
        else:
            square = variances[i].lerp_(grad.square(), weight).clone()
        update = square.clamp_(min=smallest * smallest).rsqrt_().mul_(grad)
        param.add_(update, alpha=-scale / max(1.0, _rms(update) / d))


def _rms(x):
    return x.double().square().mean().sqrt().item()


def _mean_square(grad, dim):
    return grad.square().mean(dim, keepdim=True)
