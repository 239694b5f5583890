"""`PassManager`: runs passes in an order that keeps constraints."""

import inspect
from functools import wraps

import torch.nn as nn
from torch.fx._compatibility import compatibility
from torch.fx.passes.infra.pass_base import PassResult

__all__ = ["pass_result_wrapper", "this_before_that_pass_constraint", "PassManager"]


@compatibility(is_backward_compatible=False)
def pass_result_wrapper(fn):
    """A pass that returns nothing, as one that returns a `PassResult`."""
    if fn is None:
        return None

    @wraps(fn)
    def wrapped(gm):
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        if isinstance(result, PassResult):
            return result
        if isinstance(result, nn.Module):
            return PassResult(result, True)
        return result

    if not inspect.isfunction(fn):
        wrapped.__name__ = type(fn).__name__
    return wrapped


def _validate_pass_schedule_constraint(constraint, passes):
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1:]):
            if not constraint(a, b):
                raise RuntimeError(f"pass schedule constraint violated. Expected {a} before {b} but"
                                   f" found {a} at index {i} and {b} at index{j} in pass list.")


@compatibility(is_backward_compatible=False)
def this_before_that_pass_constraint(this, that):
    """The constraint that `that` does not come before `this`."""

    def depends_on(a, b):
        return a != that or b != this

    return depends_on


def _topological_sort_passes(passes, constraints):
    """The passes in an order that all constraints allow. RuntimeError if there is none."""
    if not constraints:
        return passes
    left, order = list(passes), []
    while left:
        for p in left:
            if all(c(p, q) for q in left if q is not p for c in constraints):
                break
        else:
            names = [getattr(p, "__name__", str(p)) for p in left]
            raise RuntimeError(f"Circular dependency detected within the following passes: {names}")
        left.remove(p)
        order.append(p)
    return order


@compatibility(is_backward_compatible=False)
class PassManager:
    """A list of passes that run one after the other, `steps` times or until nothing changes."""

    _validated = False
    steps = 1

    def __init__(self, passes=None, constraints=None, steps=None,
                 run_checks_after_each_pass=False, suppress_check_failures=False):
        self.passes = passes or []
        self.constraints = constraints or []
        if steps:
            self.steps = steps
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures

    def add_pass(self, _pass):
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint):
        """``constraint(a, b)`` says whether `a` may run before `b`."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self):
        """RuntimeError if the order breaks a constraint."""
        if self._validated:
            return
        for constraint in self.constraints:
            _validate_pass_schedule_constraint(constraint, self.passes)
        self._validated = True

    def solve_constraints(self):
        """Puts the passes into an order that keeps all constraints."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check):
        """A function of a module to run after passes, if checks are on."""
        if [p.name for p in inspect.signature(check).parameters.values()] != ["module"]:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check

    def check(self, module):
        pass

    def __call__(self, module):
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        overall = False
        for _ in range(self.steps):
            modified = False
            for fn in self.passes:
                name = fn.__name__ if inspect.isfunction(fn) else type(fn).__name__
                try:
                    result = fn(module)
                except Exception as error:
                    raise Exception(f"An error occurred when running the '{name}' pass: "
                                    f"{error}") from error
                if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
                    raise TypeError(f"The result of the pass {name} should be type PassResult. "
                                    "Please wrap it with pass_result_wrapper()")
                module, modified = result.graph_module, modified or result.modified
                if self.run_checks_after_each_pass:
                    self.check(module)
            overall = overall or modified
            if not modified:
                break
        return PassResult(module, overall)
