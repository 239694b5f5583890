"""Adam (Kingma and Ba, 2015), AMSGrad (Reddi et al., 2018) and decoupled weight decay."""
import torch

from .optimizer import (Optimizer, _check_capturable, _check_fused, _check_steps, _closure_loss,
                        _fusable, _get_scalar_dtype, _get_value, _real_lists,
                        _use_grad_for_differentiable)

__all__ = ["Adam", "adam"]


def _check_betas(betas, foreach, capturable):
    b1, b2 = betas
    if not ((isinstance(b1, float) and isinstance(b2, float))
            or (isinstance(b1, torch.Tensor) and isinstance(b2, torch.Tensor))):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        if not isinstance(beta, torch.Tensor):
            continue
        if not capturable and foreach:
            raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False "
                             "and foreach=True")
        if beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")


class Adam(Optimizer):
    r"""Adam: steps scaled by running means of the gradient and of its square.

    Args:
        params: parameters, named parameters or parameter groups.
        lr: learning rate, a number or a tensor of one element.
        betas: decay of the mean of the gradient and of its square.
        eps: added to the denominator.
        weight_decay: L2 penalty, or decay of the weights with ``decoupled_weight_decay``.
        amsgrad: divide by the largest mean of squares so far.
        foreach, fused: accepted; the CPU always runs one pass over all parameters.
        maximize: ascend instead of descend.
        capturable: for devices that can capture graphs; the CPU refuses it.
        differentiable: let autograd record the step.

    Raises:
        ValueError: an option outside its range.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
                 amsgrad=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False, fused=None, decoupled_weight_decay=False):
        if isinstance(lr, torch.Tensor):
            if foreach and not capturable:
                raise ValueError("lr as a Tensor is not supported for capturable=False and "
                                 "foreach=True")
            if lr.numel() != 1:
                raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i in (0, 1):
            if not 0.0 <= betas[i] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        _check_betas(betas, foreach, capturable)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        _check_fused(self, fused, foreach, differentiable)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("amsgrad", False)
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("capturable", False)
            group.setdefault("differentiable", False)
            group.setdefault("decoupled_weight_decay", False)
            fused = group.setdefault("fused", None)
            for p in group["params"]:
                _step_to_tensor(self.state.get(p), fused)

    def _new_state(self, state, p, group):
        state["step"] = torch.zeros((), dtype=_get_scalar_dtype(group["fused"]))
        state["exp_avg"] = torch.zeros_like(p, memory_format=torch.preserve_format)
        state["exp_avg_sq"] = torch.zeros_like(p, memory_format=torch.preserve_format)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = torch.zeros_like(p, memory_format=torch.preserve_format)

    def _init_group(self, group, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps):
        has_complex = False
        amsgrad = group["amsgrad"]
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if grad.is_sparse:
                raise RuntimeError("Adam does not support sparse gradients, please consider "
                                   "SparseAdam instead")
            params.append(p)
            grads.append(grad)
            state = self.state[p]
            if not state:
                self._new_state(state, p, group)
            exp_avgs.append(state["exp_avg"])
            exp_avg_sqs.append(state["exp_avg_sq"])
            if amsgrad:
                max_exp_avg_sqs.append(state["max_exp_avg_sq"])
            steps.append(state["step"])
            if p.is_complex():
                has_complex = True
        return has_complex

    @_use_grad_for_differentiable
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], [], [], [], []
            has_complex = self._init_group(group, *lists)
            beta1, beta2 = group["betas"]
            adam(*lists, foreach=group["foreach"], capturable=group["capturable"],
                 differentiable=group["differentiable"], fused=group["fused"],
                 grad_scale=getattr(self, "grad_scale", None),
                 found_inf=getattr(self, "found_inf", None), has_complex=has_complex,
                 decoupled_weight_decay=group["decoupled_weight_decay"],
                 amsgrad=group["amsgrad"], beta1=beta1, beta2=beta2, lr=group["lr"],
                 weight_decay=group["weight_decay"], eps=group["eps"],
                 maximize=group["maximize"])
        return loss


def _step_to_tensor(state, fused=None):
    """Old files keep `step` as a number."""
    if state and "step" in state and not isinstance(state["step"], torch.Tensor):
        state["step"] = torch.tensor(float(state["step"]), dtype=_get_scalar_dtype(fused))


def adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None,
         capturable=False, differentiable=False, fused=None, grad_scale=None, found_inf=None,
         has_complex=False, decoupled_weight_decay=False, *, amsgrad, beta1, beta2, lr,
         weight_decay, eps, maximize):
    r"""One step of :class:`Adam` over lists of tensors.

    Raises:
        RuntimeError: a member of ``state_steps`` is no tensor.
    """
    _check_steps(state_steps)
    _check_capturable(capturable, params, foreach=foreach,
                      differentiable=differentiable)
    if not differentiable and not has_complex and _fusable(params, grads):
        step = torch._fused_adamw_ if decoupled_weight_decay else torch._fused_adam_
        if found_inf is None or found_inf.item() == 0:
            torch._C._advance_steps_(state_steps)
        step(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
             lr=_get_value(lr), beta1=_get_value(beta1), beta2=_get_value(beta2),
             weight_decay=_get_value(weight_decay), eps=eps, amsgrad=amsgrad, maximize=maximize,
             grad_scale=grad_scale, found_inf=found_inf)
        return
    _single_tensor_adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
                        has_complex=has_complex, differentiable=differentiable,
                        decoupled=decoupled_weight_decay, amsgrad=amsgrad, beta1=beta1,
                        beta2=beta2, lr=lr, weight_decay=weight_decay, eps=eps,
                        maximize=maximize)


def _single_tensor_adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *,
                        has_complex, differentiable, decoupled, amsgrad, beta1, beta2, lr,
                        weight_decay, eps, maximize):
    if not differentiable:
        lr, beta1, beta2 = _get_value(lr), _get_value(beta1), _get_value(beta2)
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs = _real_lists(
        has_complex, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        exp_avg, exp_avg_sq, step_t = exp_avgs[i], exp_avg_sqs[i], state_steps[i]
        step_t += 1
        if weight_decay != 0:
            if decoupled:
                param.mul_(1 - lr * weight_decay)
            elif differentiable and isinstance(weight_decay, torch.Tensor):
                grad = grad + param * weight_decay
            else:
                grad = grad.add(param, alpha=weight_decay)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).add_(grad * grad * (1 - beta2))
        step = step_t.clone() if differentiable else step_t.item()
        step_size = lr / (1 - beta1 ** step)
        scale = (1 - beta2 ** step) ** 0.5
        square = exp_avg_sq
        if amsgrad:
            square = max_exp_avg_sqs[i]
            square.copy_(torch.maximum(square.clone(), exp_avg_sq))
        if differentiable:
            # The next step overwrites the state: autograd must keep this step's values.
            param.sub_(exp_avg.clone() * step_size / (square.clone().sqrt() / scale + eps))
        else:
            param.addcdiv_(exp_avg, square.sqrt().div_(scale).add_(eps), value=-step_size)
