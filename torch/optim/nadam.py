"""NAdam: Adam with Nesterov momentum (Dozat, 2016)."""
import torch

from .optimizer import (Optimizer, _check_capturable, _check_common, _check_option, _check_steps,
                        _closure_loss, _gather, _get_scalar_dtype, _get_value, _new_step,
                        _real_lists, _set_defaults, _state_to_tensors,
                        _use_grad_for_differentiable, _zeros_like)

__all__ = ["NAdam", "nadam"]


class NAdam(Optimizer):
    r"""NAdam: Adam that looks one step of its momentum ahead.

    Args:
        momentum_decay: speed at which the momentum approaches its final value.

    The other arguments and the errors as in :class:`torch.optim.Adam`.
    """

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
                 momentum_decay=4e-3, decoupled_weight_decay=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False):
        _check_common(lr, eps, weight_decay, betas)
        _check_option(0.0 <= momentum_decay, "momentum_decay value", momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable})

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, maximize=False, foreach=None, capturable=False, differentiable=False,
                      decoupled_weight_decay=False)
        _state_to_tensors(self, "step", "mu_product")

    @staticmethod
    def _new_state(p, group):
        return {"step": _new_step(), "mu_product": torch.ones((), dtype=_get_scalar_dtype()),
                "exp_avg": _zeros_like(p), "exp_avg_sq": _zeros_like(p)}

    def _init_group(self, group, *lists):
        return _gather(self, group, ("exp_avg", "exp_avg_sq", "mu_product", "step"),
                       self._new_state, lists)[0]

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], [], [], [], []
            has_complex = self._init_group(group, *lists)
            beta1, beta2 = group["betas"]
            nadam(*lists, beta1=beta1, beta2=beta2, lr=group["lr"],
                  weight_decay=group["weight_decay"], momentum_decay=group["momentum_decay"],
                  eps=group["eps"], maximize=group["maximize"],
                  decoupled_weight_decay=group["decoupled_weight_decay"],
                  foreach=group["foreach"], capturable=group["capturable"],
                  differentiable=group["differentiable"], has_complex=has_complex)
        return loss


def nadam(params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps,
          decoupled_weight_decay=False, foreach=None, capturable=False, differentiable=False,
          has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay, momentum_decay,
          eps):
    r"""One step of :class:`NAdam` over lists of tensors."""
    _check_steps(state_steps)
    if not all(isinstance(t, torch.Tensor) for t in mu_products):
        raise RuntimeError("API has changed, `mu_products` argument must contain a list of "
                           "singleton tensors")
    _check_capturable(capturable, params, "params, mu_products" + (", and " if foreach else " and ")
                      + "state_steps", foreach=foreach, differentiable=differentiable)
    lr = lr if differentiable else _get_value(lr)
    lists = _real_lists(has_complex, params, grads, exp_avgs, exp_avg_sqs)
    for param, grad, exp_avg, exp_avg_sq, product, step_t in zip(*lists, mu_products, state_steps):
        step_t += 1
        step = step_t.item()
        grad = -grad if maximize else grad
        if weight_decay != 0:
            if decoupled_weight_decay:
                param.mul_(1 - lr * weight_decay)
            else:
                grad = grad.add(param, alpha=weight_decay)
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * momentum_decay))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
        product *= mu
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        total = product.item()
        denom = exp_avg_sq.div(1 - beta2 ** step).sqrt_() + eps
        by_grad = lr * (1.0 - mu) / (1.0 - total)
        by_mean = lr * mu_next / (1.0 - total * mu_next)
        if differentiable:
            param.sub_(grad / denom * by_grad + exp_avg.clone() / denom * by_mean)
        else:
            param.addcdiv_(grad, denom, value=-by_grad)
            param.addcdiv_(exp_avg, denom, value=-by_mean)
