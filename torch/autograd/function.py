"""Custom operators with a backward of their own."""
import torch
from torch import _C
from torch._C import _FunctionBase

__all__ = ["FunctionCtx", "BackwardCFunction", "FunctionMeta", "Function", "once_differentiable",
           "InplaceFunction", "NestedIOFunction"]


class FunctionCtx:
    """What forward and backward share: the methods of ``ctx``."""

    def save_for_backward(self, *tensors):
        """Keep tensors (or ``None``) for backward, which finds them in ``ctx.saved_tensors``.

        Inputs and outputs of forward must be kept this way, not as attributes: it guards against
        in-place changes and reference cycles.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for :meth:`Function.jvp`."""
        for i, t in enumerate(tensors):
            if not (isinstance(t, torch.Tensor) or t is None):
                raise TypeError(
                    f"save_for_forward expects all arguments to be tensors, but argument "
                    f"{i} is of type {type(t)}"
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        """Say which inputs forward wrote to; all of them must also be returned."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs):
        import warnings
        warnings.warn(
            "function 'mark_shared_storage' is deprecated. Tensors with shared storages are "
            "automatically tracked. Note that calls to `set_()` are not tracked",
            DeprecationWarning,
            stacklevel=2,
        )

    def mark_non_differentiable(self, *args):
        """Say which outputs have no gradient; backward still gets a place for each of them."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool):
        """Whether backward sees zeros (the default) or ``None`` for absent gradients."""
        self.materialize_grads = value


    def set_output_grad_dtype(self, *dtypes):
        """Say in which dtype backward is to get the gradient of each output (``None``: any)."""
        self.output_grad_dtypes = dtypes


class _HookMixin:
    @staticmethod
    def _register_hook(backward_hooks, hook):
        from torch.utils.hooks import RemovableHandle
        if backward_hooks is None:
            from collections import OrderedDict
            backward_hooks = OrderedDict()
        handle = RemovableHandle(backward_hooks)
        backward_hooks[handle.id] = hook
        return backward_hooks, handle


class BackwardCFunction(_FunctionBase, FunctionCtx, _HookMixin):
    """The class of ``ctx`` and of ``grad_fn`` of a custom Function."""

    def apply(self, *args):
        """Run the Function's backward on gradients of its outputs."""
        return self._apply_function(*args)

    def _apply_function(self, *args):
        cls = self._forward_cls
        backward, vjp = cls.backward, cls.vjp
        if vjp is Function.vjp:
            return backward(self, *args)
        if backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not "
                "allowed. You should only implement one of them."
            )
        return vjp(self, *args)

    def apply_jvp(self, *args):
        """Run the Function's jvp on tangents of its inputs."""
        return self._forward_cls.jvp(self, *args)


class FunctionMeta(type):
    """Makes, with every Function ``Foo``, the class ``FooBackward`` of its contexts."""

    def __init__(cls, name, bases, attrs):
        super().__init__(name, bases, attrs)
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        setup = getattr(cls, "setup_context", None)
        cls._has_setup_context = setup is not None and setup is not _no_setup_context
        # setup_context sees all arguments of forward: with fewer given, the defaults are filled in.
        forward = getattr(cls, "forward", None)
        code = getattr(forward, "__code__", None)
        has_defaults = code is not None and forward.__defaults__
        cls._setup_arity = code.co_argcount if has_defaults else 0


def _no_setup_context(ctx, inputs, output):
    raise NotImplementedError("setup_context is not implemented.")


class _SingleLevelFunction(_FunctionBase, FunctionCtx, _HookMixin, metaclass=FunctionMeta):
    @staticmethod
    def forward(*args, **kwargs):
        """The operator: ``forward(ctx, *args)``, or ``forward(*args)`` with `setup_context`."""
        raise NotImplementedError("You must implement the forward function for custom "
                                  "autograd.Function.")

    setup_context = staticmethod(_no_setup_context)

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Gradients of the inputs of forward (``None`` for those that are not tensors)."""
        raise NotImplementedError("You must implement either the backward or vjp method for your "
                                  "custom autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Tangents of the outputs of forward, given those of its inputs."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function "
            "to use it with forward mode AD."
        )


class Function(_SingleLevelFunction):
    """Base class of custom operators: static methods `forward` and `backward`; call ``apply``.

    ``y = Foo.apply(x, 3)`` runs ``Foo.forward(ctx, x, 3)`` without recording and makes its tensors
    outputs of one node. In backward ``Foo.backward(ctx, *gradients)`` returns one gradient per
    argument of forward. Alternatively forward takes no `ctx` and `setup_context(ctx, inputs,
    output)` is called after it.
    """

    generate_vmap_rule = False
    clear_saved_tensors_on_access = False
    boxed_grads_call = False

    def __init__(self, *args, **kwargs):
        import warnings
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are "
            "all static, so you should invoke them on the class itself. Instantiating an "
            "autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. "
                           "Please use new-style autograd function with static forward method. "
                           "(Example: https://pytorch.org/docs/stable/autograd.html"
                           "#torch.autograd.Function)")

    @staticmethod
    def vmap(info, in_dims, *args):
        """How the operator acts on batched arguments: returns ``(output, out_dims)``."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the "
            "vmap staticmethod or set generate_vmap_rule=True."
        )


def _bind_keywords(cls, args, kwargs):
    """Arguments of forward in the order of its signature (called by ``apply``)."""
    import inspect
    params = args if cls._has_setup_context else (None, *args)
    bound = inspect.signature(cls.forward).bind(*params, **(kwargs or {}))
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"{cls.__name__}.apply() cannot pass keyword-only arguments: "
                        f"{', '.join(bound.kwargs)}")
    return bound.args if cls._has_setup_context else bound.args[1:]


def once_differentiable(fn):
    """Decorate a backward that cannot itself be differentiated: trying to is an error."""
    from functools import wraps

    @wraps(fn)
    def wrapper(ctx, *args):
        with torch.no_grad():
            outputs = fn(ctx, *args)
        if not torch.is_grad_enabled():
            return outputs
        if not any(isinstance(a, torch.Tensor) and a.requires_grad for a in args):
            return outputs
        several = isinstance(outputs, tuple)
        result = _C._delayed_error("trying to differentiate twice a function that was marked with "
                                   "@once_differentiable", outputs if several else (outputs,))
        return result if several else result[0]

    return wrapper


class InplaceFunction(Function):
    """Kept for old programs: a Function with an `inplace` flag on its instances."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


def _flatten(obj, out):
    if isinstance(obj, torch.Tensor):
        out.append(obj)
        return ("t",)
    if isinstance(obj, (list, tuple)):
        return (type(obj), [_flatten(x, out) for x in obj])
    if isinstance(obj, dict):
        return (dict, {k: _flatten(v, out) for k, v in obj.items()})
    return ("o", obj)


def _unflatten(spec, items):
    if spec[0] == "t":
        return next(items)
    if spec[0] == "o":
        return spec[1]
    if spec[0] is dict:
        return {k: _unflatten(v, items) for k, v in spec[1].items()}
    parts = [_unflatten(s, items) for s in spec[1]]
    return spec[0](*parts) if hasattr(spec[0], "_fields") else spec[0](parts)


class NestedIOFunction(Function):
    """A Function whose arguments and results are nested lists, tuples and dicts of tensors.

    Subclasses implement `forward_extended(ctx, *nested)` and `backward_extended(ctx, *nested)`.
    """

    @classmethod
    def apply(cls, *args):
        flat = []
        spec = _flatten(args, flat)
        holder = {}
        out = super().apply(cls, spec, holder, *flat)
        out = out if isinstance(out, tuple) else (out,)
        return _unflatten(holder["spec"], iter(out))

    @staticmethod
    def forward(ctx, cls, spec, holder, *flat):
        result = cls.forward_extended(ctx, *_unflatten(spec, iter(flat)))
        tensors = []
        holder["spec"] = _flatten(result, tensors)
        ctx._nested_output, ctx._count = holder["spec"], len(flat)
        ctx._nested_cls = cls
        return tuple(tensors)

    @staticmethod
    def backward(ctx, *grads):
        result = ctx._nested_cls.backward_extended(ctx, *_unflatten((tuple, [ctx._nested_output]),
                                                                   iter(grads)))
        flat = []
        _flatten(result, flat)
        if len(flat) != ctx._count:
            raise RuntimeError(f"expected {ctx._count} gradients, but backward_extended returned "
                               f"{len(flat)}")
        return (None, None, None, *flat)

    @staticmethod
    def forward_extended(ctx, *input):
        raise NotImplementedError

    @staticmethod
    def backward_extended(ctx, *grad_output):
        raise NotImplementedError
