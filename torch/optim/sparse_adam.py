"""Adam for sparse gradients: only the elements that a gradient has are updated."""
from .optimizer import (Optimizer, _check_lr_tensor, _check_option, _closure_loss, _get_value,
                        _no_grad_step, _zeros_like)

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    r"""Adam whose moments change only where the sparse gradient has elements.

    Arguments as in :class:`torch.optim.Adam`.

    Raises:
        ValueError: an option outside its range, a sparse or a complex parameter.
        RuntimeError: in a step, a dense gradient.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        _check_lr_tensor(lr)
        _check_option(0.0 < lr, "learning rate", lr)
        _check_option(0.0 < eps, "epsilon value", eps)
        for i, beta in enumerate(betas):
            _check_option(0.0 <= beta < 1.0, f"beta parameter at index {i}", beta)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse, complex_ = [], []
        for i, group in enumerate(self.param_groups):
            for j, p in enumerate(group["params"]):
                if p.is_sparse:
                    sparse.append([i, j])
                if p.is_complex():
                    complex_.append([i, j])
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense "
                             "parameter tensors")
        if complex_:
            raise ValueError(f"Complex params at indices {complex_}: SparseAdam does not support "
                             "complex parameters")

    @_no_grad_step
    def step(self, closure=None):
        """Updates the parameters once; returns what ``closure`` returned, if there is one."""
        loss = _closure_loss(closure)
        for group in self.param_groups:
            lists = [], [], [], [], []
            for p in group["params"]:
                if p.grad is not None:
                    self._collect(p, *lists)
            beta1, beta2 = group["betas"]
            sparse_adam(*lists, eps=group["eps"], beta1=beta1, beta2=beta2,
                        lr=_get_value(group["lr"]), maximize=group.get("maximize", False))
        return loss

    def _collect(self, p, params, grads, exp_avgs, exp_avg_sqs, steps):
        if not p.grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider "
                               "Adam instead")
        state = self.state[p]
        if not state:
            state["step"] = 0
            state["exp_avg"] = _zeros_like(p)
            state["exp_avg_sq"] = _zeros_like(p)
        state["step"] += 1
        params.append(p)
        grads.append(p.grad)
        exp_avgs.append(state["exp_avg"])
        exp_avg_sqs.append(state["exp_avg_sq"])
        steps.append(state["step"])


def sparse_adam(params, grads, exp_avgs, exp_avg_sqs, state_steps, *, eps, beta1, beta2, lr,
                maximize):
    r"""One step of :class:`SparseAdam` over lists of tensors; ``state_steps`` are numbers."""
    for param, grad, exp_avg, exp_avg_sq, step in zip(params, grads, exp_avgs, exp_avg_sqs,
                                                      state_steps):
        grad = grad.coalesce()
        values = -grad._values() if maximize else grad._values()
        if values.numel() == 0:
            continue
        at = tuple(grad._indices())
        mean, square = exp_avg[at], exp_avg_sq[at]
        mean = mean + (values - mean) * (1 - beta1)
        square = square + (values * values - square) * (1 - beta2)
        exp_avg.index_put_(at, mean)
        exp_avg_sq.index_put_(at, square)
        step_size = lr * (1 - beta2 ** step) ** 0.5 / (1 - beta1 ** step)
        param.index_put_(at, mean / (square.sqrt() + eps) * -step_size, accumulate=True)
