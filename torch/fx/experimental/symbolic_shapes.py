"""Questions about sizes that may be symbols. In this package sizes are numbers, so that all of them
have an answer at once.
"""

from torch import SymBool, SymFloat, SymInt
from torch._missing import add_missing

__all__ = [
    "guard_or_false", "guard_or_true", "guard_size_oblivious", "statically_known_true",
    "statically_known_false", "free_symbols", "free_unbacked_symbols", "has_free_symbols",
    "has_free_unbacked_symbols", "is_concrete_int", "is_concrete_bool", "is_concrete_float",
    "guard_int", "guard_bool", "guard_float", "guard_scalar", "sym_eq", "sym_and", "sym_or",
    "is_symbolic", "has_static_value", "constrain_range", "constrain_unify", "expect_true",
    "has_symbolic_sizes_strides", "is_nested_int", "optimization_hint", "has_guarding_hint",
    "guarding_hint_or_throw", "check_consistent", "create_contiguous", "fx_placeholder_vals",
    "fx_placeholder_targets", "GuardOnDataDependentSymNode", "ShapeEnv",
]


class GuardOnDataDependentSymNode(RuntimeError):
    """The course of a program depends on a size that is not known."""

    def __init__(self, cond=None, *args):
        super().__init__(*args)
        self.cond = cond


class ConstraintViolationError(RuntimeError):
    """A size is not what a program was told it would be."""


add_missing(
    globals(), "torch.fx.experimental.symbolic_shapes",
    "bind_symbols compute_unbacked_bindings eval_guards find_symbol_binding_fx_nodes "
    "rebind_unbacked resolve_unbacked_bindings",
    "DimConstraints DimDynamic EqualityConstraint RelaxedUnspecConstraint ShapeEnv "
    "StatefulSymbolicContext StatelessSymbolicContext StrictMinMaxConstraint SymbolicContext",
)


def canonicalize_bool_expr(expr):
    """One form for all ways to write a comparison of symbols; a bool is itself."""
    return expr


def is_symbol_binding_fx_node(node):
    """The symbol that a node brings in: None."""
    return None


def guard_or_false(a):
    """`a`; False where it cannot be known."""
    return bool(a)


def guard_or_true(a):
    """`a`; True where it cannot be known."""
    return bool(a)


def guard_size_oblivious(expr):
    """`expr` as a bool."""
    return bool(expr)


def statically_known_true(x):
    """Is it known to be true?"""
    return bool(x)


def statically_known_false(x):
    """Is it known to be false?"""
    return not x


def free_symbols(val):
    """The symbols in a size, tensor or containers of them: none."""
    return set()


free_unbacked_symbols = free_symbols


def has_free_symbols(val):
    return False


has_free_unbacked_symbols = has_free_symbols


def is_symbolic(val):
    return isinstance(val, (SymInt, SymFloat, SymBool))


def _kind(name, kinds):
    def question(a):
        if not isinstance(a, kinds):
            raise AssertionError(f"Expected {name}, got {a}")
        return True

    question.__name__ = question.__qualname__ = f"is_concrete_{name}"
    question.__doc__ = "Is it a number rather than a symbol?"
    return question


is_concrete_int = _kind("int", int)
is_concrete_bool = _kind("bool", bool)
is_concrete_float = _kind("float", float)


def _guard(name, kinds, convert):
    def guard(a):
        if not isinstance(a, kinds):
            raise AssertionError(f"Expected {name}, got {a}")
        return convert(a)

    guard.__name__ = guard.__qualname__ = f"guard_{name}"
    guard.__doc__ = f"The {name} that a size is."
    return guard


guard_int = _guard("int", int, int)
guard_bool = _guard("bool", bool, bool)
guard_float = _guard("float", float, float)


def guard_scalar(a):
    """The number that a size is."""
    if not isinstance(a, (bool, int, float)):
        raise AssertionError(f"unrecognized scalar {a}")
    return a


def sym_eq(x, y):
    """Equality of sizes or of sequences of them."""
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(sym_eq(a, b) for a, b in zip(x, y))
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return x == y
    raise AssertionError(f"unexpected sym_eq between {type(x)} {type(y)}")


def sym_and(x, *others):
    """All of them."""
    return x and all(others) if others else x


def sym_or(x, *others):
    """Any of them."""
    return x or any(others) if others else x


def has_static_value(a):
    return True


def constrain_range(a, *, min, max=None):
    """ValueError unless the size is within bounds."""
    if (min is not None and a < min) or (max is not None and a > max):
        raise ValueError(f"Invalid value {a} for range [{min}:{max}]")


def constrain_unify(a, b):
    """AssertionError unless the sizes are equal."""
    if a != b:
        raise AssertionError(f"{a} != {b}")


def expect_true(a, skip=0):
    """`a` as a bool: what a program assumes to be true."""
    return bool(a)


def check_consistent(new, old):
    """AssertionError if two runs disagree on a shape or number."""
    import torch

    if isinstance(new, torch.Tensor):
        if not isinstance(old, torch.Tensor) or new.shape != old.shape:
            raise AssertionError(f"{getattr(old, 'shape', old)} != {new.shape} (old != new)")
    elif isinstance(new, (int, float)) and new != old:
        raise AssertionError(f"{old} != {new} (old != new)")


def has_symbolic_sizes_strides(elem):
    return False


def is_nested_int(s):
    return False


def optimization_hint(a, fallback=None):
    """A likely value of a size: the value."""
    return a


guarding_hint_or_throw = optimization_hint


def has_guarding_hint(a):
    return True


def create_contiguous(shape):
    """The strides of a contiguous tensor of that shape."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(size * strides[-1])
    return strides[::-1]


def fx_placeholder_targets(gm):
    """The names of a graph module's inputs."""
    return [n.target for n in gm.graph.nodes if n.op == "placeholder"]


def fx_placeholder_vals(gm):
    """``meta["val"]`` of a graph module's inputs."""
    return [n.meta["val"] for n in gm.graph.nodes if n.op == "placeholder"]
