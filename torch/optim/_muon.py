"""Muon: momentum, orthogonalised by Newton-Schulz iterations (Jordan et al., 2024)."""
import torch

from .optimizer import Optimizer, _check_lr_tensor, _closure_loss, _gather, _get_value, \
    _no_grad_step, _zeros_like

__all__ = ["Muon", "muon"]


class Muon(Optimizer):
    r"""Muon, for the matrices of a network.

    Args:
        params: matrices, named matrices or parameter groups.
        lr: learning rate.
        weight_decay: decay of the weights.
        momentum: decay of the running mean of gradients.
        nesterov: look one step of the momentum ahead.
        ns_coefficients: the three coefficients of the iteration's polynomial.
        eps: smallest norm that is divided by.
        ns_steps: number of iterations, below 100.
        adjust_lr_fn: how the rate depends on the shape: ``"original"`` (None),
            ``"match_rms_adamw"`` or ``"spectral_unclamped"``.

    Raises:
        ValueError: an option outside its range, or a parameter that is no matrix.
    """

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.7750, 2.0315), eps=1e-7, ns_steps=5,
                 adjust_lr_fn=None):
        _check_lr_tensor(lr)
        for ok, text, value in (
                (0.0 <= lr, "Learning rate should be >= 0", lr),
                (0.0 <= momentum, "momentum should be >= 0", momentum),
                (0.0 <= weight_decay, "weight decay should be >= 0", weight_decay)):
            if not ok:
                raise ValueError(f"{text} but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw", "spectral_unclamped"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a "
                                     f"parameter with size: {p.size()}")

    __module__ = "torch.optim"

    @staticmethod
    def _new_state(p, group):
        return {"momentum_buffer": _zeros_like(p.grad)}

    def _init_group(self, group, *lists):
        has_complex, _ = _gather(self, group, ("momentum_buffer",), self._new_state, lists)
        if has_complex:
            raise RuntimeError("Muon does not support complex parameters")
        return False

    @_no_grad_step
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], []
            has_complex = self._init_group(group, *lists)
            muon(*lists, lr=group["lr"], weight_decay=group["weight_decay"],
                 momentum=group["momentum"], nesterov=group["nesterov"],
                 ns_coefficients=group["ns_coefficients"], eps=group["eps"],
                 ns_steps=group["ns_steps"], adjust_lr_fn=group["adjust_lr_fn"],
                 has_complex=has_complex)
        return loss


def _orthogonalise(matrix, coefficients, steps, eps):
    """A matrix with the singular vectors of `matrix` and singular values near 1, in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if matrix.dim() != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = matrix.bfloat16()
    tall = matrix.size(0) > matrix.size(1)
    if tall:
        x = x.T
    x = x / x.float().square().sum().sqrt().bfloat16().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        polynomial = torch.addmm(gram, gram, gram, beta=b, alpha=c)
        x = torch.addmm(x, polynomial, x, beta=a)
    return x.T if tall else x


def _adjusted_rate(lr, how, shape):
    rows, columns = shape[:2]
    if how is None or how == "original":
        return lr * max(1, rows / columns) ** 0.5
    if how == "match_rms_adamw":
        return lr * 0.2 * max(rows, columns) ** 0.5
    return lr * (rows / columns) ** 0.5


def muon(params, grads, muon_momentum_bufs, *, foreach=None, lr, weight_decay, momentum, nesterov,
         ns_coefficients, ns_steps, eps, adjust_lr_fn, has_complex):
    r"""One step of :class:`Muon` over lists of matrices.

    Raises:
        RuntimeError: ``foreach``, which does not exist for it.
        ValueError: complex parameters.
    """
    if foreach:
        raise RuntimeError("Foreach is not supported for Muon yet")
    if has_complex:
        raise ValueError("Complex parameters are not supported")
    lr = _get_value(lr)
    for param, grad, buf in zip(params, grads, muon_momentum_bufs):
        buf.lerp_(grad, 1 - momentum)
        update = grad.lerp(buf, momentum) if nesterov else buf
        update = _orthogonalise(update, ns_coefficients, ns_steps, eps)
        param.mul_(1 - lr * weight_decay)
        param.add_(update, alpha=-_adjusted_rate(lr, adjust_lr_fn, param.shape))
