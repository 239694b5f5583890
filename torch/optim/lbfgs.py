"""L-BFGS with a line search for the strong Wolfe conditions.

Nocedal and Wright, Numerical Optimization, 2nd edition: the two-loop recursion (algorithm 7.4) and
the line search (algorithms 3.5 and 3.6 with cubic interpolation, equation 3.59).
"""
import torch

from .optimizer import Optimizer, _check_lr_tensor, _check_option, _no_grad_step

__all__ = ["LBFGS"]


def _cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with two slopes is smallest inside the bounds."""
    low, high = bounds if bounds is not None else ((x1, x2) if x1 <= x2 else (x2, x1))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if not square >= 0:  # also for nan, after an overflow
        return (low + high) / 2.0
    d2 = square ** 0.5 if not isinstance(square, torch.Tensor) else square.sqrt()
    if x1 <= x2:
        x = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        x = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(x, low), high)


class _Point:
    """Loss and gradient at one distance along the search direction."""

    __slots__ = ("t", "loss", "grad", "slope")

    def __init__(self, t, loss, grad, slope):
        self.t, self.loss, self.grad, self.slope = t, loss, grad, slope


class _WolfeSearch:
    """A step length that lowers the loss enough and flattens the slope enough."""

    c1, c2 = 1e-4, 0.9

    def __init__(self, evaluate, direction, start, tolerance, max_steps):
        self.evaluate, self.direction, self.start = evaluate, direction, start
        self.tolerance, self.max_steps = tolerance, max_steps
        self.evals = 0
        self.size = direction.abs().max()

    def at(self, t):
        loss, grad = self.evaluate(t)
        self.evals += 1
        return _Point(t, loss, grad, grad.dot(self.direction))

    def too_high(self, point):
        return point.loss > self.start.loss + self.c1 * point.t * self.start.slope

    def flat(self, point):
        return abs(point.slope) <= -self.c2 * self.start.slope

    def run(self, t):
        """-> the best point found."""
        bracket, steps, done = self.bracket(t)
        if not done:
            bracket = self.zoom(bracket, steps)
        return bracket[0] if len(bracket) == 1 or bracket[0].loss <= bracket[1].loss else bracket[1]

    def bracket(self, t):
        """Grows the step until an interval holds acceptable points (algorithm 3.5)."""
        before, now, steps = self.start, self.at(t), 0
        while steps < self.max_steps:
            if self.too_high(now) or (steps > 1 and now.loss >= before.loss):
                return [before, now], steps, False
            if self.flat(now):
                return [now], steps, True
            if now.slope >= 0:
                return [before, now], steps, False
            bounds = (now.t + 0.01 * (now.t - before.t), now.t * 10)
            t = _cubic_minimum(before.t, before.loss, before.slope, now.t, now.loss, now.slope,
                               bounds)
            before, now, steps = now, self.at(t), steps + 1
        return [self.start, now], steps, False

    def zoom(self, bracket, steps):
        """Shrinks the interval around an acceptable point (algorithm 3.6)."""
        stuck = False
        low, high = sorted(bracket, key=lambda p: p.loss)
        while steps < self.max_steps:
            if abs(high.t - low.t) * self.size < self.tolerance:
                break
            t, stuck = self.next_in(low, high, stuck)
            now = self.at(t)
            steps += 1
            if self.too_high(now) or now.loss >= low.loss:
                high = now
                low, high = (low, high) if low.loss <= high.loss else (high, low)
                continue
            if self.flat(now):
                return [now]
            if now.slope * (high.t - low.t) >= 0:
                high = low
            low = now
        return [low, high]

    @staticmethod
    def next_in(low, high, stuck):
        """The next trial; one too near to an end, twice or outside, is moved inside."""
        t = _cubic_minimum(low.t, low.loss, low.slope, high.t, high.loss, high.slope)
        left, right = min(low.t, high.t), max(low.t, high.t)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) >= margin:
            return t, False
        if stuck or t >= right or t <= left:
            return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
        return t, True


class LBFGS(Optimizer):
    r"""L-BFGS. Its step needs a closure, and it has one parameter group.

    Args:
        params: parameters or named parameters.
        lr: length of the first trial step.
        max_iter: iterations in one step.
        max_eval: evaluations of the closure in one step; None is ``max_iter * 5 // 4``.
        tolerance_grad: stop when no element of the gradient is larger.
        tolerance_change: stop when the loss or the parameters change less.
        history_size: number of remembered steps.
        line_search_fn: ``"strong_wolfe"`` or None.
        maximize: ascend instead of descend.

    Raises:
        ValueError: a negative rate, or several parameter groups.
    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7,
                 tolerance_change=1e-9, history_size=100, line_search_fn=None, *, maximize=False):
        _check_lr_tensor(lr)
        _check_option(0.0 <= lr, "learning rate", lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
            "maximize": maximize})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]
        self._numel_cache = None

    def _numel(self):
        if self._numel_cache is None:
            self._numel_cache = sum(2 * p.numel() if p.is_complex() else p.numel()
                                    for p in self._params)
        return self._numel_cache

    def _gather_flat_grad(self):
        parts = []
        for p in self._params:
            if p.grad is None:
                part = p.new_zeros(p.numel())
            elif p.grad.is_sparse:
                part = p.grad.to_dense().reshape(-1)
            else:
                part = p.grad.reshape(-1)
            parts.append(torch.view_as_real(part).reshape(-1) if part.is_complex() else part)
        flat = torch.cat(parts, 0)
        return -flat if self.param_groups[0].get("maximize", False) else flat

    def _add_grad(self, step_size, direction):
        at = 0
        for p in self._params:
            real = torch.view_as_real(p) if p.is_complex() else p
            n = real.numel()
            real.add_(direction[at:at + n].view_as(real), alpha=step_size)
            at += n

    def _clone_param(self):
        return [p.clone(memory_format=torch.contiguous_format) for p in self._params]

    def _set_param(self, params_data):
        for p, data in zip(self._params, params_data):
            p.copy_(data)

    def _directional_evaluate(self, closure, x, t, d):
        self._add_grad(t, d)
        loss = self._loss(closure)
        grad = self._gather_flat_grad()
        self._set_param(x)
        return loss, grad

    def _loss(self, closure):
        loss = closure()
        loss = float(loss.detach() if isinstance(loss, torch.Tensor) else loss)
        return -loss if self.param_groups[0].get("maximize", False) else loss

    @_no_grad_step
    def step(self, closure):
        """Runs up to ``max_iter`` iterations; returns the loss before them."""
        group = self.param_groups[0]
        user_closure = closure

        def closure():
            with torch.enable_grad():
                return user_closure()

        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss = float(first_loss.detach() if isinstance(first_loss, torch.Tensor) else first_loss)
        if group.get("maximize", False):
            loss = -loss
        state["func_evals"] += 1
        grad = self._gather_flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        self._iterate(group, state, closure, loss, grad)
        return first_loss

    def _iterate(self, group, state, closure, loss, grad):
        lr = group["lr"]
        evals, iterations = 1, 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = grad.neg()
                state.update(d=direction, t=lr, old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                direction = self._direction(group, state, grad)
            previous, previous_loss = grad.clone(memory_format=torch.contiguous_format), loss
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            slope = grad.dot(direction)
            state.update(d=direction, prev_flat_grad=previous, prev_loss=previous_loss)
            if slope > -group["tolerance_change"]:
                state["t"] = t
                break
            t, loss, grad, used = self._move(group, closure, direction, t, loss, grad, slope,
                                             last=iterations == group["max_iter"],
                                             left=group["max_eval"] - evals)
            state["t"] = t
            evals += used
            state["func_evals"] += used
            if iterations == group["max_iter"] or evals >= group["max_eval"] \
                    or grad.abs().max() <= group["tolerance_grad"] \
                    or direction.mul(t).abs().max() <= group["tolerance_change"] \
                    or abs(loss - previous_loss) < group["tolerance_change"]:
                break

    def _move(self, group, closure, direction, t, loss, grad, slope, last, left):
        """-> length, loss and gradient after the move, and the evaluations it took."""
        how = group["line_search_fn"]
        if how is None:
            self._add_grad(t, direction)
            if last:
                return t, loss, grad, 0
            return t, self._loss(closure), self._gather_flat_grad(), 1
        if how != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        x = self._clone_param()
        search = _WolfeSearch(lambda at: self._directional_evaluate(closure, x, at, direction),
                              direction, _Point(0, loss, grad, slope), group["tolerance_change"],
                              min(25, left))
        best = search.run(t)
        self._add_grad(best.t, direction)
        return best.t, best.loss, best.grad, search.evals

    @staticmethod
    def _direction(group, state, grad):
        """Remembers the last step and applies the inverse Hessian to the gradient."""
        dirs, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        y, s = grad.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        ys = y.dot(s)
        if ys > 1e-10:
            if len(dirs) == group["history_size"]:
                for items in (dirs, steps, ro):
                    items.pop(0)
            dirs.append(y)
            steps.append(s)
            ro.append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        if "al" not in state:
            # The order of the keys is that of files of PyTorch.
            later = {key: state.pop(key) for key in list(state)
                     if key not in ("func_evals", "n_iter")}
            state.update(al=[None] * group["history_size"], **later)
        al = state["al"]
        q = grad.neg()
        for i in reversed(range(len(dirs))):
            al[i] = steps[i].dot(q) * ro[i]
            q.add_(dirs[i], alpha=-al[i])
        r = torch.mul(q, state["H_diag"])
        for i in range(len(dirs)):
            r.add_(steps[i], alpha=al[i] - dirs[i].dot(r) * ro[i])
        return r
