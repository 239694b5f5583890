"""`torch.library.custom_op`: a Python function as an operator."""

import contextlib
import functools

import torch
from torch import _dispatch, _operators
from torch._infer_schema import infer_schema

__all__ = ["CustomOpDef", "custom_op"]


def _keys(device_types):
    if device_types is None or device_types == "default":
        return ["CompositeExplicitAutograd"]
    names = [device_types] if isinstance(device_types, str) else device_types
    return [_dispatch._dispatch_key_for_device(n) for n in names]


def _memories(values):
    out = set()
    for t in _operators.tensors_in(values):
        if t.layout is torch.strided and t.numel() and t.device.type != "meta":
            out.add(t.untyped_storage().data_ptr())
    return out


class CustomOpDef:
    """What `custom_op` returns: the operator, and decorators that add to it."""

    def __init__(self, namespace, name, schema, fn, tags=()):
        self._namespace, self._name, self._schema = namespace, name, schema
        self._qualname = f"{namespace}::{name}"
        self._init_fn = fn
        self._operator = _operators.define(f"{namespace}::{name}{schema}",
                                           [*tags, torch.Tag.pt2_compliant_tag])
        self._operator.custom = self
        functools.update_wrapper(self, fn)

    @property
    def _opoverload(self):
        return getattr(getattr(torch.ops, self._namespace), self._name).default

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    # ---- what a call asks
    def _no_fake(self):
        return RuntimeError(
            f"There was no fake impl registered for {self}. This is necessary for "
            f"torch.compile/export/fx tracing to work. Please use `{self._init_fn.__name__}."
            "register_fake` to add an fake impl.")

    def _after(self, args, result):
        """Mutated inputs get a new version; results must be tensors of their own."""
        results = result if isinstance(result, (tuple, list)) else [result]
        known = {id(t) for t in _operators.tensors_in(args)}
        memories = _memories(args)
        for t in _operators.tensors_in(results):
            if id(t) in known or _memories([t]) & memories:
                raise RuntimeError(
                    f"{self._name} (with implementation in {self._init_fn.__module__}): The "
                    "output of this custom operator (1) must not also be an input to this custom "
                    "operator and (2) may not alias any inputs to this custom operator or other "
                    "returns. The most common way to trigger this error is if we have y = "
                    "custom_op(x) and y and x are the same Tensor. Please instead return a clone "
                    "of the offending output tensor(s) (e.g. return x.clone()) or refactor the "
                    "custom operator to not return y.")
            known.add(id(t))
            memories |= _memories([t])
        if self._operator.schema.is_mutable:
            for argument, value in zip(self._operator.schema.arguments, args):
                if argument.is_write:
                    torch.autograd.graph.increment_version(
                        list(_operators.tensors_in([value])))

    # ---- additions
    def register_kernel(self, device_types, fn=None, /):
        """Implements the operator for device types; also a decorator."""
        def register(f):
            for key in _keys(device_types):
                self._operator.put(key, f)
            return f

        return register if fn is None else register(fn)

    def register_fake(self, fn, /):
        """Says what the operator returns for tensors without data."""
        self._operator.put("Meta", fn)
        return fn

    def register_autograd(self, backward, /, *, setup_context=None):
        """Gives the operator a gradient (`torch.library.register_autograd`)."""
        from torch.library import register_autograd

        register_autograd(self, backward, setup_context=setup_context)

    def register_vmap(self, func=None):
        from torch.library import register_vmap

        return register_vmap(self, func)

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        from torch.library import register_torch_dispatch

        return register_torch_dispatch(self, torch_dispatch_class, fn)

    def register_autocast(self, device_type, cast_inputs):
        from torch.library import register_autocast

        register_autocast(self, device_type, cast_inputs)

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type, enabled=True):
        """With ``enabled=False``: the function that the operator was made from runs in the place
        of the implementation of a device type."""
        key = _keys(device_type)[0]
        kernel = self._operator.kernels.get(key)
        if not enabled and kernel is not None:
            self._operator.kernels[key] = self._init_fn
        try:
            yield
        finally:
            if kernel is not None:
                self._operator.kernels[key] = kernel


def _consistent(schema, mutates_args):
    written = {a.name for a in _operators.parse("x::x" + schema).arguments if a.is_write}
    if mutates_args != "unknown" and written != (
            {mutates_args} if isinstance(mutates_args, str) else set(mutates_args)):
        raise ValueError(
            f"Attempted to create a custom op with `mutates_args={mutates_args}` and "
            f"`schema={schema}. The schema suggests that the op mutates {written}which is "
            "different from what was provided to us in `mutates_args`. Please make these "
            "consistent.")


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Makes a function an operator ``"namespace::name"``; a decorator.

    Args:
        mutates_args: names of the arguments that it writes to, or ``"unknown"``.
        device_types: device types that it is for; None for all.
        schema: its schema; made from the annotations if left out.
        tags: one `torch.Tag` or several.
    """
    def decorate(f):
        text = schema
        if text is None:
            text = infer_schema(f, mutates_args=mutates_args)
        namespace, _, op_name = name.partition("::")
        if not op_name:
            raise ValueError(f"Expected {name} to be of the form \"namespace::name\"")
        if "." in op_name:
            raise ValueError("The torch.custom_ops APIs do not handle overloads, i.e. operator "
                             f"names with '.' in them. Please name your operator something like "
                             f"{op_name.replace('.', '_')}.")
        if schema is not None:
            _consistent(schema, mutates_args)
        several = (tags,) if isinstance(tags, torch.Tag) else tags or ()
        made = CustomOpDef(namespace, op_name, text, f, several)
        made.register_kernel(device_types, f)
        return made

    return decorate if fn is None else decorate(fn)
