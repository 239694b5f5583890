"""RAdam: Adam with a rectified variance (Liu et al., 2020)."""
from .optimizer import (Optimizer, _check_capturable, _check_common, _check_steps, _closure_loss,
                        _gather, _get_value, _new_step, _real_lists, _set_defaults,
                        _state_to_tensors, _use_grad_for_differentiable, _zeros_like)

__all__ = ["RAdam", "radam"]


class RAdam(Optimizer):
    r"""RAdam: without scaling while the variance of the scale is too large to be estimated.

    Arguments and errors as in :class:`torch.optim.Adam`.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        _check_common(lr, eps, weight_decay, betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable})

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, foreach=None, maximize=False, differentiable=False,
                      decoupled_weight_decay=False, capturable=False)
        _state_to_tensors(self, "step")

    @staticmethod
    def _new_state(p, group):
        return {"step": _new_step(), "exp_avg": _zeros_like(p), "exp_avg_sq": _zeros_like(p)}

    def _init_group(self, group, *lists):
        return _gather(self, group, ("exp_avg", "exp_avg_sq", "step"), self._new_state, lists)[0]

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], [], [], []
            has_complex = self._init_group(group, *lists)
            beta1, beta2 = group["betas"]
            radam(*lists, beta1=beta1, beta2=beta2, lr=group["lr"],
                  weight_decay=group["weight_decay"], eps=group["eps"],
                  maximize=group["maximize"], foreach=group["foreach"],
                  capturable=group["capturable"], differentiable=group["differentiable"],
                  decoupled_weight_decay=group["decoupled_weight_decay"],
                  has_complex=has_complex)
        return loss


def _rectification(step, beta2):
    """The factor r_t of the paper, or None while the variance is intractable."""
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2 ** step / (1 - beta2 ** step)
    if length <= 5.0:
        return None
    return ((length - 4) * (length - 2) * longest
            / ((longest - 4) * (longest - 2) * length)) ** 0.5


def radam(params, grads, exp_avgs, exp_avg_sqs, state_steps, decoupled_weight_decay=False,
          foreach=None, differentiable=False, capturable=False, has_complex=False,
          maximize=False, *, beta1, beta2, lr, weight_decay, eps):
    r"""One step of :class:`RAdam` over lists of tensors."""
    _check_steps(state_steps)
    _check_capturable(capturable, params, foreach=foreach,
                      differentiable=differentiable)
    lr = lr if differentiable else _get_value(lr)
    lists = _real_lists(has_complex, params, grads, exp_avgs, exp_avg_sqs)
    for param, grad, exp_avg, exp_avg_sq, step_t in zip(*lists, state_steps):
        step_t += 1
        step = step_t.item()
        grad = -grad if maximize else grad
        if weight_decay != 0:
            if decoupled_weight_decay:
                param.mul_(1 - lr * weight_decay)
            else:
                grad = grad.add(param, alpha=weight_decay)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        mean = exp_avg / (1 - beta1 ** step)
        factor = _rectification(step, beta2)
        if factor is not None:
            root = (exp_avg_sq.clone() if differentiable else exp_avg_sq).sqrt() + eps
            mean = mean * ((1 - beta2 ** step) ** 0.5 * factor) / root
        param.sub_(mean * lr)
