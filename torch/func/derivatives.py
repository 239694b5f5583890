"""Derivatives of functions.

A transform differentiates by fresh aliases of the arguments. They stay connected to the
arguments, so that transforms nest and ordinary autograd goes on outside; results that depend on
nothing but these aliases are detached. Forward derivatives come from reverse ones (see
docs/AUTOGRAD.md).
"""
import torch
from torch import _C
from torch.func import _batching
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "functionalize",
           "linearize", "debug_unwrap"]


class _Level:
    """One call of a transform."""

    def __init__(self):
        self.recording = torch.is_grad_enabled()
        self.own = []

    def enter(self, tree):
        """The tree with an alias in place of each tensor, and the list of the aliases."""
        flat, spec = tree_flatten(tree)
        aliases = [self._alias(x) for x in flat]
        return tree_unflatten(aliases, spec), aliases, spec

    def _alias(self, x):
        if not isinstance(x, torch.Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
        if _batching.levels:
            if x.requires_grad:
                with torch.enable_grad():
                    return _batching.everywhere(x)
            alias, base = _batching.leaf(x)
            self.own.append(base)
            return alias
        if x.requires_grad:
            with torch.enable_grad():
                return x.view_as(x)
        with torch.no_grad():
            alias = x.view_as(x)
        alias.requires_grad_()
        self.own.append(alias)
        return alias

    def outlives(self, tensors):
        """Do these depend on something outside that records?"""
        return self.recording and any(_C._reaches_other_leaves(t, self.own) for t in tensors
                                      if isinstance(t, torch.Tensor) and t.requires_grad)

    def leave(self, tree, keep=None):
        def one(t):
            if not isinstance(t, torch.Tensor) or not t.requires_grad:
                return t
            outer = self.outlives([t]) if keep is None else keep
            return t if outer else t.detach()
        return tree_map(one, tree)


def _split_aux(output, has_aux, name):
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, "
                           "aux) if has_aux is True")
    aux = tree_flatten(output[1])[0]
    for a in aux:
        if not isinstance(a, torch.Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(a)}")
    return output


def _check_argnums(argnums, count):
    if not isinstance(argnums, (int, tuple)) or not all(
            isinstance(a, int) for a in (argnums if isinstance(argnums, tuple) else (argnums,))):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for a in numbers:
        if not -count <= a < count:
            raise RuntimeError(f"Got argnum={a}, but only {count} positional inputs")
    positions = tuple(a % count for a in numbers)
    if len(set(positions)) != len(positions):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return positions


def _replace(args, positions, values):
    out = list(args)
    for p, v in zip(positions, values):
        out[p] = v
    return out


def _grads(outputs, inputs, cotangents, create_graph, retain=None):
    """autograd.grad with zeros where nothing flows."""
    pairs = [(o, c) for o, c in zip(outputs, cotangents) if o.requires_grad]
    if not pairs or not inputs:
        return [torch.zeros_like(x) for x in inputs]
    gradient = _batching.grad if _batching.levels else torch.autograd.grad
    found = gradient([o for o, _ in pairs], inputs, [c for _, c in pairs],
                     create_graph=create_graph, allow_unused=True,
                     retain_graph=create_graph if retain is None else retain)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(found, inputs)]


# ---- gradients of scalars
def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives ``(gradient, value)`` of the scalar function `func`.

    Args:
        func (callable): returns a tensor of no dimensions (with `has_aux`: and something else).
        argnums (int or tuple of int): the arguments to differentiate by.
        has_aux (bool): `func` returns ``(value, aux)``; the result is then
            ``(gradient, (value, aux))``.
    """
    from functools import wraps

    @wraps(func)
    def wrapper(*args, **kwargs):
        positions = _check_argnums(argnums, len(args))
        level = _Level()
        with torch.enable_grad():
            entered, flat, spec = level.enter(tuple(args[p] for p in positions))
            output, aux = _split_aux(func(*_replace(args, positions, entered), **kwargs), has_aux,
                                     "grad_and_value(f)(*args)")
            if not isinstance(output, torch.Tensor):
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to "
                                   "return a Tensor, got "
                                   f"{type(output)}")
            if output.dim() != 0:
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar "
                                   f"Tensor, got tensor with {output.dim()} dims. Maybe "
                                   "you wanted to use the vjp or jacrev APIs instead?")
            outer = level.outlives([output])
            grads = _grads([output], flat, [None], outer)
        grads = tree_unflatten([level.leave(g) for g in grads], spec)
        grads = grads if isinstance(argnums, tuple) else grads[0]
        value = level.leave(output)
        return (grads, (value, level.leave(aux))) if has_aux else (grads, value)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of the scalar function `func`, which may itself be
    transformed. Arguments as in :func:`grad_and_value`; with `has_aux` the result is
    ``(gradient, aux)``."""
    from functools import wraps
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def wrapper(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapper


# ---- products
def _check_outputs(flat, name):
    for o in flat:
        if not isinstance(o, torch.Tensor):
            raise RuntimeError(f"{name}: expected f(*primals) to return only tensors, "
                               f"got unsupported type {type(o)}")
    if not flat:
        raise RuntimeError(f"{name}: Expected f to be a function that has non-empty "
                           f"output (got output "
                           "= ())")


def vjp(func, *primals, has_aux=False):
    """``(output, vjp_fn)``: `vjp_fn` takes cotangents with the structure of the output and gives a
    tuple of their products with the Jacobian, one for each primal.

    Args:
        func (callable): a function of tensors.
        primals: its arguments (tensors, or trees of tensors).
        has_aux (bool): `func` returns ``(output, aux)``; the result is ``(output, vjp_fn, aux)``.
    """
    level = _Level()
    with torch.enable_grad():
        entered, flat, spec = level.enter(primals)
        output, aux = _split_aux(func(*entered), has_aux, "vjp(f, *primals)")
        outputs, out_spec = tree_flatten(output)
        _check_outputs(outputs, "vjp(f, *primals)")
    outer = level.outlives(outputs)

    def vjp_fn(cotangents, retain_graph=True, create_graph=None):
        given, given_spec = tree_flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree "
                               "structure of outputs to the function. cotangents: "
                               f"{_show(given_spec)}, primal output: {_show(out_spec)}")
        create = torch.is_grad_enabled() if create_graph is None else create_graph
        create = create and (outer or any(c.requires_grad for c in given))
        inner = _Level()
        inner.own = level.own
        grads = _grads(outputs, flat, given, create, retain_graph)
        return tree_unflatten([inner.leave(g) for g in grads], spec)

    result = tree_map(lambda t: level.leave(t), output)
    return (result, vjp_fn, level.leave(aux)) if has_aux else (result, vjp_fn)


def _show(spec):
    if spec.is_leaf() if callable(getattr(spec, "is_leaf", None)) else not spec.children_specs:
        return "*"
    parts = ", ".join(_show(c) for c in spec.children_specs)
    return f"({parts})" if spec.type is tuple else f"[{parts}]" if spec.type is list else str(spec)


def _zeros_leaf(o):
    if _batching.levels:
        return _batching.leaf(torch.zeros_like(o))[0]
    return torch.zeros_like(o, requires_grad=True)


class _Linear:
    """The derivative of `func` at `primals`, to be applied to tangents."""

    def __init__(self, func, primals, has_aux, name):
        self.level = level = _Level()
        with torch.enable_grad():
            entered, self.inputs, self.spec = level.enter(primals)
            output, self.aux = _split_aux(func(*entered), has_aux, name)
            self.outputs, self.out_spec = tree_flatten(output)
            _check_outputs(self.outputs, name)
            self.us = [_zeros_leaf(o) for o in self.outputs if o.requires_grad]
            live = [o for o in self.outputs if o.requires_grad]
            self.gs = _grads(live, self.inputs, self.us, True)
        self.outer = level.outlives(self.outputs)
        self.output = tree_map(lambda t: level.leave(t), output)

    def __call__(self, tangents):
        """Tangents of the outputs, flat."""
        create = torch.is_grad_enabled() and (self.outer or any(t.requires_grad for t in tangents))
        with torch.enable_grad():
            found = iter(_grads(self.gs, self.us, tangents, create, True))
        inner = _Level()
        inner.own = self.level.own + self.us
        return [inner.leave(next(found)) if o.requires_grad else torch.zeros_like(o)
                for o in self.outputs]


def _check_tangents(primals, tangents, name):
    for what, x in (("primals", primals), ("tangents", tangents)):
        if not isinstance(x, tuple):
            raise RuntimeError(f"{name}: Expected {what} to be a tuple. E.g. it should be valid to "
                               "call f(*primals).")
    flat, spec = tree_flatten(primals)
    flat_tangents, tangent_spec = tree_flatten(tangents)
    if spec != tangent_spec:
        raise RuntimeError(f"{name}: Expected primals and tangents to have the same "
                           f"python structure. "
                           "For example, if primals is a tuple of 3 tensors, tangents "
                           "also must be. "
                           f"Got primals with structure {spec} and tangents with structure "
                           f"{tangent_spec}")
    for p, t in zip(flat, flat_tangents):
        if p.shape != t.shape:
            raise RuntimeError("Trying to set a forward gradient that has a "
                               "different size than that of "
                               "the original Tensor, this is not supported. Tensor is of size "
                               f"{list(p.shape)} while the given forward gradient is of size "
                               f"{list(t.shape)}.")
    return flat_tangents


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """``(output, tangent of the output)`` of `func` at `primals` in the direction `tangents`.

    Args:
        func (callable): a function of tensors.
        primals, tangents (tuples): arguments and directions, of the same structure and sizes.
        strict (bool): an output that does not depend on the primals is an error, not zero.
        has_aux (bool): `func` returns ``(output, aux)``; the result is ``(output, tangent, aux)``.
    """
    name = "jvp(f, primals, tangents)"
    flat = _check_tangents(primals, tangents, name)
    linear = _Linear(func, primals, has_aux, name)
    if strict and any(not o.requires_grad for o in linear.outputs):
        raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f "
                           "is independent of "
                           "the inputs. This is not allowed with strict=True.")
    tangent = tree_unflatten(linear(flat), linear.out_spec)
    if has_aux:
        return linear.output, tangent, linear.level.leave(linear.aux)
    return linear.output, tangent


def linearize(func, *primals):
    """``(output, jvp_fn)``: `func` runs once, `jvp_fn(*tangents)` then gives tangents of the
    output."""
    linear = _Linear(func, primals, False, "linearize(f, *primals)")

    def jvp_fn(*tangents):
        flat = _check_tangents(primals, tangents, "linearize(f, *primals)")
        return tree_unflatten(linear(flat), linear.out_spec)

    return linear.output, jvp_fn


# ---- Jacobians
def _basis(x):
    for i in range(x.numel()):
        e = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        e[i] = 1
        yield e.view(x.shape)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian of `func`, row by row in reverse mode.

    Args:
        func (callable): a function of tensors.
        argnums (int or tuple of int): the arguments to differentiate by.
        has_aux (bool): `func` returns ``(output, aux)``; the result is ``(jacobian, aux)``.
        chunk_size (int): how many rows at once; the result is the same.

    The result has the structure of the output, with that of the arguments inside; each tensor
    has the sizes of its output followed by those of its input.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    from functools import wraps

    @wraps(func)
    def wrapper(*args, **kwargs):
        positions = _check_argnums(argnums, len(args))

        def inner(*chosen):
            return func(*_replace(args, positions, chosen), **kwargs)

        result = vjp(inner, *(args[p] for p in positions), has_aux=has_aux)
        output, pull = result[0], result[1]
        outputs, out_spec = tree_flatten(output)
        rows = []
        for k, o in enumerate(outputs):
            products = []
            for e in _basis(o):
                cotangents = [e if j == k else torch.zeros_like(p) for j, p in enumerate(outputs)]
                products.append(pull(tree_unflatten(cotangents, out_spec)))
            rows.append(_stack_rows(products, o, tuple(args[p] for p in positions)))
        rows = [r if isinstance(argnums, tuple) else r[0] for r in rows]
        jacobian = tree_unflatten(rows, out_spec)
        return (jacobian, result[2]) if has_aux else jacobian

    return wrapper


def _stack_rows(products, output, primals):
    flat, spec = tree_flatten(primals)
    if not products:
        return tree_unflatten([x.new_zeros(output.shape + x.shape) for x in flat], spec)
    columns = zip(*(tree_flatten(p)[0] for p in products))
    return tree_unflatten([torch.stack(c).view(output.shape + x.shape)
                           for c, x in zip(columns, flat)], spec)


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that gives the Jacobian of `func`, column by column in forward mode. Arguments and
    result as in :func:`jacrev`."""
    from functools import wraps

    @wraps(func)
    def wrapper(*args, **kwargs):
        positions = _check_argnums(argnums, len(args))
        primals = tuple(args[p] for p in positions)

        def inner(*chosen):
            return func(*_replace(args, positions, chosen), **kwargs)

        linear = _Linear(inner, primals, has_aux, "jacfwd(f)(*args)")
        flat, spec = tree_flatten(primals)
        per_input = []
        for k, x in enumerate(flat):
            columns = [linear([e if j == k else torch.zeros_like(y) for j, y in enumerate(flat)])
                       for e in _basis(x)]
            per_input.append([torch.stack(c, -1).view(o.shape + x.shape) if c else
                              o.new_zeros(o.shape + x.shape)
                              for o, c in zip(linear.outputs, zip(*columns) if columns else
                                              [()] * len(linear.outputs))])
        rows = [tree_unflatten([p[o] for p in per_input], spec) for o in range(len(linear.outputs))]
        rows = [r if isinstance(argnums, tuple) else r[0] for r in rows]
        jacobian = tree_unflatten(rows, linear.out_spec)
        return (jacobian, linear.level.leave(linear.aux)) if has_aux else jacobian

    return wrapper


def hessian(func, argnums=0):
    """A function that gives the second derivatives of `func`: ``jacfwd(jacrev(func))``."""
    return jacfwd(jacrev(func, argnums), argnums)


# ---- the rest
def functionalize(func, *, remove="mutations"):
    """`func` as seen from outside. There are no programs with mutations to clean here: tracing does
    that itself.

    Args:
        remove (str): ``"mutations"`` or ``"mutations_and_views"``.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize(f, remove='mutations'): received invalid argument for "
                           f"remove={remove}. Valid options are:\n"
                           "     remove='mutations': all inplace and out= operators "
                           "will be removed "
                           "from the program, and replaced with their out-of-place equivalents.\n"
                           "     remove='mutations_and_views': In addition to the "
                           "above, all aliasing "
                           "operators {view} will be replaced with their non-aliasing "
                           "counterparts, "
                           "{view}_copy.\n")
    from functools import wraps

    @wraps(func)
    def wrapped(*args, **kwargs):
        return func(*args, **kwargs)

    return wrapped


def debug_unwrap(tensor, *, recurse=True):
    """The tensor itself: transforms wrap nothing here."""
    return tensor
