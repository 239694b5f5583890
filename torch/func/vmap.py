"""vmap: a function of one example applied to a batch.

The function runs once, on whole batches (_batching.py). What cannot (data-dependent control flow,
custom autograd Functions, writes into memory the examples share) runs once for each example and the
results are stacked, which is right for every operator and every nesting with derivatives.
"""
import torch
from torch import _C
from torch.func._batching import Level, NotBatchable
from torch.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["vmap"]


def _name(func):
    return getattr(func, "__name__", repr(func))


def _spread(dims, tree, describe):
    """One entry of `dims` for each leaf of `tree`: dims may be a prefix of its structure."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(tree_flatten(tree)[0])
    sequences = isinstance(dims, (tuple, list)) and isinstance(tree, (tuple, list))
    if sequences and len(dims) == len(tree):
        return [d for x, t in zip(dims, tree) for d in _spread(x, t, describe)]
    if isinstance(dims, dict) and isinstance(tree, dict) and dims.keys() == tree.keys():
        return [d for k in tree for d in _spread(dims[k], tree[k], describe)]
    raise describe()


def _batch_dims(func, in_dims, args):
    name = _name(func)
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(f"{where}: expected `in_dims` to be int or a (potentially nested) tuple "
                         f"matching the structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to "
                         f"add inputs, or you "
                         "are trying to vmap over a function with no inputs. The "
                         "latter is unsupported.")
    flat, spec = tree_flatten(args)

    def mismatch():
        return ValueError(f"{where}: in_dims is not compatible with the structure of "
                          f"`inputs`. in_dims "
                          f"has structure {tree_flatten(in_dims)[1]} but inputs has "
                          f"structure {spec}.")

    dims = _spread(in_dims, args, mismatch)
    sizes = []
    for i, (x, d) in enumerate(zip(flat, dims)):
        if d is None:
            continue
        if not isinstance(d, int):
            raise ValueError(f"{where}: Got in_dim={d} for an input but in_dim must "
                             f"be either an integer "
                             "dimension or None.")
        if not isinstance(x, torch.Tensor):
            raise ValueError(f"{where}: Got in_dim={d} for an input but the input is "
                             f"of type {type(x)}. "
                             "We cannot vmap over non-Tensor arguments, please use None as the "
                             "respective in_dim")
        if not -x.dim() <= d < x.dim():
            raise ValueError(f"{where}: Got in_dim={d} for some input, but that input "
                             f"is a Tensor of "
                             f"dimensionality {x.dim()} so expected in_dim to satisfy "
                             f"-{x.dim()} <= in_dim < {x.dim()}.")
        sizes.append(x.shape[d])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the "
                         "mapped dimension, got "
                         f"sizes {sizes} for the mapped dimension")
    return flat, spec, dims, sizes[0]


class _Randomness:
    """What random operators do inside: fail, repeat for each example, or go on."""

    def __init__(self, kind):
        self.kind = kind
        self.state = torch.get_rng_state() if kind == "same" else None

    def __enter__(self):
        if self.kind == "error":
            _C._push_random_error_mode()

    def __exit__(self, *error):
        if self.kind == "error":
            _C._pop_write_mode()

    def next_example(self):
        if self.state is not None:
            torch.set_rng_state(self.state)


def _examples(func, flat, spec, dims, size, kwargs, randomness):
    """The flat outputs of every example, and their structure."""
    rows, out_spec, output = [], None, None
    guard = _Randomness(randomness)
    with guard:
        for i in range(max(size, 1)):
            guard.next_example()
            if size:
                args = [x if d is None else x.select(d, i) for x, d in zip(flat, dims)]
            else:  # nothing to map over: the shapes of results are still wanted
                args = [x if d is None else x.new_zeros(_without(x.shape, d)) for x, d in
                        zip(flat, dims)]
            output = func(*tree_unflatten(args, spec), **kwargs)
            leaves, out_spec = tree_flatten(output)
            rows.append(leaves)
    return rows, out_spec, output


def _without(shape, d):
    shape = list(shape)
    del shape[d]
    return shape


def _check_leaf(x, d, func):
    if isinstance(x, torch.Tensor) or d is None:
        return
    raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` must only return "
                     f"Tensors, got type "
                     f"{type(x)}. Did you mean to set out_dims= to None for output?")


_MAY_WORK_SINGLY = (NotBatchable, NotImplementedError, RuntimeError, IndexError, TypeError,
                    ValueError)


_IMPOSSIBLE = "is not possible because there exists a Tensor"


def _mismatch(func, out_dims, out_spec):
    return lambda: ValueError(
        f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
        f"the structure of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but "
        f"outputs has structure {out_spec}.")


def _at_once(func, flat, spec, dims, size, kwargs, randomness, out_dims):
    """One run of the function on the whole batch."""
    level = Level(size, randomness)
    state = torch.get_rng_state() if randomness != "error" else None
    try:
        batched = [x if d is None else level.wrap(x.movedim(d, 0)) for x, d in zip(flat, dims)]
        with level:
            output = func(*tree_unflatten(batched, spec), **kwargs)
            leaves, out_spec = tree_flatten(output)
            where = _spread(out_dims, output, _mismatch(func, out_dims, out_spec))
            results = []
            for x, d in zip(leaves, where):
                _check_leaf(x, d, func)
                if d is None:
                    if level.has(x):
                        raise NotBatchable("a result that differs between the examples")
                    results.append(x)
                else:
                    results.append(level.value(x))
        results = [x if d is None else x.movedim(0, d) for x, d in zip(results, where)]
        return tree_unflatten(results, out_spec)
    except BaseException:
        if state is not None:
            torch.set_rng_state(state)
        raise


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that applies `func` to each example of a batch and stacks the results.

    Args:
        func (callable): a function of one example; it returns tensors (or a tree of them).
        in_dims (int, None, or nested tuple): the batch dimension of each argument; ``None`` for
            those
            that all examples share.
        out_dims (int, None, or nested tuple): where the batch dimension of each result goes.
        randomness (str): ``"error"``, ``"same"`` numbers for all examples, or ``"different"``.
        chunk_size (int): how many examples at once; the result is the same.

    Raises:
        ValueError: dimensions that do not fit the arguments, batches of different sizes, results
        that
            are no tensors.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError("Only allowed values for randomness are 'error', "
                           "'different', or 'same'. Got "
                           f"{randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    from functools import wraps

    @wraps(func)
    def wrapped(*args, **kwargs):
        flat, spec, dims, size = _batch_dims(func, in_dims, args)
        if size:
            try:
                return _at_once(func, flat, spec, dims, size, kwargs, randomness, out_dims)
            except _MAY_WORK_SINGLY as error:
                if _IMPOSSIBLE in str(error):
                    raise  # else the loop gives the result, or the error as one example has it
        rows, out_spec, output = _examples(func, flat, spec, dims, size, kwargs, randomness)
        where = _spread(out_dims, output, _mismatch(func, out_dims, out_spec))
        results = []
        for column, d in zip(zip(*rows), where):
            _check_leaf(column[0], d, func)
            if d is None:
                results.append(column[0])
            elif size:
                results.append(torch.stack(column, d))
            else:
                shape = list(column[0].shape)
                shape.insert(d if d >= 0 else d + len(shape) + 1, 0)
                results.append(column[0].new_zeros(shape))
        return tree_unflatten(results, out_spec)

    return wrapped
