"""torch._foreach_*: operators over lists of tensors, made from the operators over one tensor.

Every function exists for new results (a tuple is returned) and, with a final underscore, in place
(the list is returned). The second operand may be a number, a list of numbers, a list of tensors
or, where it makes sense, one 0-dim tensor.
"""
import torch
from torch import Tensor

_UNARY = ("abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p "
          "log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc").split()
# name -> (method, keyword of the operand, takes alpha, takes one tensor)
_BINARY = {
    "add": ("add", "other", True, True), "sub": ("sub", "other", True, False),
    "mul": ("mul", "other", False, True), "div": ("div", "other", False, True),
    "clamp_max": ("clamp_max", "other", False, False),
    "clamp_min": ("clamp_min", "other", False, False),
    "maximum": ("clamp_min", "other", False, False),
    "minimum": ("clamp_max", "other", False, False),
    "pow": ("pow", "exponent", False, False),
}
_NUMBERS = (int, float, complex, bool)


def _check_list(name, tensors):
    if isinstance(tensors, Tensor) or not isinstance(tensors, (list, tuple)) \
            or not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError(f"{name}() received an invalid combination of arguments: expected a "
                        f"tuple of Tensors, got {type(tensors).__name__}")
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")


def _check_lengths(first, *others):
    for other in others:
        if len(first) != len(other):
            raise RuntimeError("Tensor lists must have the same number of tensors, got "
                               f"{len(first)} and {len(other)}")


def _is_tensors(value):
    return isinstance(value, (list, tuple)) and any(isinstance(t, Tensor) for t in value)


def _operands(name, tensors, value, one_tensor):
    """One operand for each tensor."""
    if isinstance(value, _NUMBERS):
        return [value] * len(tensors)
    if isinstance(value, Tensor):
        if not one_tensor:
            return [value.item()] * len(tensors)
        if value.dim() != 0:
            raise RuntimeError(f"scalar tensor expected to be 0 dim but it has {value.dim()} "
                               f"dimensions and {value.numel()} elements.")
        return [value] * len(tensors)
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name}() received an invalid combination of arguments: "
                        f"{type(value).__name__} is no operand")
    if _is_tensors(value):
        _check_lengths(tensors, value)
    elif len(value) != len(tensors):
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    return value


def _scalars(tensors, value):
    """One number for each tensor, from a number, a list or a tensor with as many elements."""
    if isinstance(value, Tensor):
        value = value.tolist()
        if len(value) != len(tensors):
            raise RuntimeError(f"Expected length of scalars to match input of length "
                               f"{len(tensors)} but got {len(value)} instead.")
        return value
    if isinstance(value, (list, tuple)):
        if len(value) != len(tensors):
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")
        return value
    return [value] * len(tensors)


def _result(results, tensors, inplace):
    return tensors if inplace else tuple(results)


def _unary(method, inplace):
    function = getattr(Tensor, method + "_" * inplace)

    def run(self):
        _check_list(run.__name__, self)
        return _result([function(t) for t in self], self, inplace)

    return run


def _binary(method, keyword, has_alpha, one_tensor, inplace):
    function = getattr(Tensor, method + "_" * inplace)

    def run(self, *args, **kwargs):
        name = run.__name__
        alpha = kwargs.pop("alpha", 1) if has_alpha else 1
        given = list(args)
        for key in (keyword, "scalar", "scalars", "exponent", "other"):
            if key in kwargs:
                given.append(kwargs.pop(key))
        if kwargs or len(given) != 1:
            raise TypeError(f"{name}() received an invalid combination of arguments")
        if method == "pow" and not inplace and isinstance(self, _NUMBERS):
            _check_list(name, given[0])
            return tuple(torch.pow(self, t) for t in given[0])
        _check_list(name, self)
        values = _operands(name, self, given[0], one_tensor)
        if alpha == 1:
            results = [function(t, v) for t, v in zip(self, values)]
        else:
            results = [function(t, v, alpha=alpha) for t, v in zip(self, values)]
        return _result(results, self, inplace)

    return run


def _ternary(method, inplace):
    function = getattr(Tensor, method + "_" * inplace)

    def run(self, tensor1, tensor2, value=1, *, scalars=None):
        for tensors in (self, tensor1, tensor2):
            _check_list(run.__name__, tensors)
        _check_lengths(self, tensor1, tensor2)
        values = _scalars(self, value if scalars is None else scalars)
        return _result([function(t, a, b, value=v)
                        for t, a, b, v in zip(self, tensor1, tensor2, values)], self, inplace)

    return run


def _lerp(inplace):
    function = Tensor.lerp_ if inplace else Tensor.lerp

    def run(self, tensors1, weight=None, *, weights=None):
        _check_list(run.__name__, self)
        _check_list(run.__name__, tensors1)
        _check_lengths(self, tensors1)
        values = _operands(run.__name__, self, weight if weights is None else weights, False)
        return _result([function(t, end, w) for t, end, w in zip(self, tensors1, values)], self,
                       inplace)

    return run


def _foreach_norm(self, ord=2, dtype=None):
    _check_list("_foreach_norm", self)
    norm = torch._C._linalg.linalg_vector_norm
    return tuple(norm(t, ord, dtype=dtype) for t in self)


def _foreach_powsum(self, ord=2, dtype=None):
    _check_list("_foreach_powsum", self)
    return tuple(t.abs().pow(ord).sum(dtype=dtype) for t in self)


def _foreach_max(self):
    _check_list("_foreach_max", self)
    return tuple(t.max() for t in self)


def _foreach_mm(self, mat2):
    _check_list("_foreach_mm", self)
    _check_lengths(self, mat2)
    return tuple(torch.mm(a, b) for a, b in zip(self, mat2))


def _foreach_clone(self, *, memory_format=torch.preserve_format):
    _check_list("_foreach_clone", self)
    return tuple(t.clone(memory_format=memory_format) for t in self)


def _foreach_copy_(self, src, non_blocking=False):
    _check_list("_foreach_copy_", self)
    _check_lengths(self, src)
    for t, s in zip(self, src):
        t.copy_(s, non_blocking)
    return self


def _foreach_zero_(self):
    _check_list("_foreach_zero_", self)
    for t in self:
        t.zero_()
    return self


def _build(stem, inplace):
    if stem in _UNARY:
        return _unary(stem, inplace)
    if stem in _BINARY:
        return _binary(*_BINARY[stem], inplace)
    if stem in ("addcmul", "addcdiv"):
        return _ternary(stem, inplace)
    if stem == "lerp":
        return _lerp(inplace)
    return None


def __getattr__(name):
    prefix = "_foreach_"
    stem = name[len(prefix):]
    inplace = stem.endswith("_")
    function = _build(stem.rstrip("_"), inplace) if name.startswith(prefix) else None
    if function is None:
        raise AttributeError(f"module 'torch' has no attribute {name!r}")
    function.__name__ = function.__qualname__ = name
    globals()[name] = function
    return function
