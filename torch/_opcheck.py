"""`torch.library.opcheck`: whether an operator does what its schema and registrations say."""

import torch
from torch import _operators

__all__ = ["OpCheckError", "opcheck"]

_TESTS = ("test_schema", "test_autograd_registration", "test_faketensor")


class OpCheckError(Exception):
    """A test of `opcheck` failed."""


def _leaves(result):
    return list(_operators.tensors_in(result if isinstance(result, (tuple, list)) else [result]))


def test_schema(op, args):
    """No argument is written to, or returned, that the schema does not say so of."""
    before = [t.detach().clone() for t in _operators.tensors_in(args)]
    with torch.no_grad():
        result = op.call(args)
    at = 0
    for argument, value in zip(op.schema.arguments, args):
        for t in _operators.tensors_in([value]):
            if not argument.is_write and not torch.equal(t, before[at]) and not (
                    t.is_floating_point() and bool(torch.isnan(t).any())):
                raise RuntimeError(f"Argument {argument.name} is not defined as mutable but was "
                                   "mutated")
            at += 1
    if not op.schema.is_view and not op.schema.is_mutable:
        inputs = {id(t) for t in _operators.tensors_in(args)}
        if any(id(t) in inputs for t in _leaves(result)):
            raise RuntimeError(f"{op.name}: a result is one of the arguments, and the schema does "
                               "not say so")


def test_autograd_registration(op, args):
    """Gradients come from the autograd key."""
    if not any(t.requires_grad for t in _operators.tensors_in(args)) or op.custom is not None:
        return
    if op.backward is None and not any(k.startswith("Autograd") or
                                       k == "CompositeImplicitAutograd" for k in op.kernels):
        results = _leaves(op.call(args))
        if any(t.requires_grad for t in results):
            raise AssertionError(
                f"{op.name}: the operator makes differentiable results without an implementation "
                "at the Autograd key. Please use torch.library.register_autograd.")


def test_faketensor(op, args):
    """The fake implementation gives the sizes and dtypes of the real one."""
    def fake(v):
        if isinstance(v, torch.Tensor):
            return torch.empty_strided(v.shape, v.stride(), dtype=v.dtype, device="meta")
        return type(v)(fake(x) for x in v) if isinstance(v, (list, tuple)) else v

    with torch.no_grad():
        real = _leaves(op.call(args))
        meta = _leaves(op.call([fake(a) for a in args]))
    if len(real) != len(meta):
        raise AssertionError(f"{op.name}: {len(real)} results, the fake implementation {len(meta)}")
    for r, m in zip(real, meta):
        if r.shape != m.shape or r.dtype != m.dtype or r.stride() != m.stride():
            raise AssertionError(
                f"{op.name}: a result has shape {tuple(r.shape)}, stride {r.stride()} and "
                f"{r.dtype}, the fake implementation's {tuple(m.shape)}, {m.stride()}, {m.dtype}")


_RUN = {"test_schema": test_schema, "test_autograd_registration": test_autograd_registration,
        "test_faketensor": test_faketensor}


def opcheck(op, args, kwargs=None, *, test_utils=_TESTS, raise_exception=True, rtol=None,
            atol=None):
    """Calls an operator with example arguments and checks its registrations.

    Args:
        op: the operator: a custom op, an overload, or a name.
        test_utils: which tests to run, of ``test_schema``, ``test_autograd_registration`` and
            ``test_faketensor``.
        raise_exception: raise `OpCheckError`; otherwise failures are returned.
    """
    from torch.library import _lookup

    found = _lookup(op)
    bound = found.schema.bind(tuple(args), kwargs or {})
    results = {}
    for name in [test_utils] if isinstance(test_utils, str) else test_utils:
        if name not in _RUN:
            raise NotImplementedError(f"torch.library.opcheck: {name} is not implemented")
        try:
            _RUN[name](found, bound)
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error}") from error
            results[name] = error
    return results
