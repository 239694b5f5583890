"""Nested tensors as subclasses of Tensor that hold their elements and hand functions on to them.

`NestedTensor` is the jagged layout: the elements lie one after the other in `values`, and differ
in the size of one dimension. `StridedNestedTensor` holds any elements of one rank. Gradients flow
through the elements, so no function needs a rule of its own.
"""

import itertools

import torch
from torch import _C

__all__ = ["NestedTensor", "StridedNestedTensor"]

_ELEMENTWISE = frozenset(
    """abs absolute acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or
    bitwise_xor ceil celu clamp clamp_max clamp_min copysign cos cosh deg2rad digamma div divide
    dropout elu eq erf erfc erfinv exp exp2 expm1 feature_dropout floor floor_divide fmod frac ge
    gelu gt hardshrink hardsigmoid hardswish hardtanh isfinite isinf isnan le leaky_relu lerp log
    log10 log1p log2 logical_and logical_not logical_or logical_xor logit logsigmoid lt masked_fill
    maximum minimum mish mul multiply nan_to_num ne neg negative pow rad2deg reciprocal relu relu6
    remainder round rsqrt rsub selu sgn sigmoid sign signbit silu sin sinh softplus softshrink
    softsign sqrt square sub subtract tan tanh tanhshrink threshold true_divide trunc where
    zeros_like ones_like full_like empty_like rand_like randn_like bernoulli clone detach to type
    double float half bfloat16 int long bool cpu contiguous __add__ __radd__ __sub__ __rsub__
    __mul__ __rmul__ __truediv__ __rtruediv__ __div__ __rdiv__ __floordiv__ __mod__ __pow__ __rpow__
    __neg__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __and__ __or__ __xor__ __invert__
    __abs__""".split()
)
_SYMBOLS = itertools.count(1)


class _Nested(torch.Tensor):
    """What both kinds share. A subclass has `parts()` and `like(self, parts)`."""

    is_nested = True

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", str(func))
        if name == "__get__" or name == "__set__":
            with _C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        first = next((a for a in _flat(args, kwargs) if isinstance(a, _Nested)), None)
        if first is None:
            return NotImplemented
        own = getattr(first, "_do_" + name.strip("_"), None)
        if own is not None:
            return own(*args, **kwargs)
        if name in _ELEMENTWISE:
            return first._map(func, args, kwargs)
        raise NotImplementedError(f"{name} of nested tensors is not implemented")

    # ---- facts
    def dim(self):
        return self._rank

    ndim = property(lambda self: self._rank)

    def numel(self):
        return self._buffer.numel()

    def is_contiguous(self, *, memory_format=None):
        return True

    def contiguous(self, *, memory_format=None):
        return self

    requires_grad = property(lambda self: self._buffer.requires_grad)
    grad_fn = property(lambda self: self._buffer.grad_fn)
    is_leaf = property(lambda self: self._buffer.is_leaf)

    def requires_grad_(self, requires_grad=True):
        self._buffer.requires_grad_(requires_grad)
        return self

    @property
    def grad(self):
        g = self._buffer.grad
        return None if g is None else self._over(g)

    @grad.setter
    def grad(self, value):
        self._buffer.grad = None if value is None else value._buffer

    def detached_copy(self):
        """A leaf with memory of its own."""
        return self._over(self._buffer.detach().clone())

    # ---- functions
    def unbind(self, dim=0):
        if dim % self._rank:
            raise RuntimeError("unbind(): only supported for dim=0 on jagged layout nested tensor")
        return tuple(self.parts())

    def _do_unbind(self, *args, **kwargs):
        return self.unbind(*args[1:], **kwargs)

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if not index or not isinstance(index[0], int):
            raise NotImplementedError("nested tensors are indexed by a number first")
        part = self.parts()[index[0]]
        return part[index[1:]] if len(index) > 1 else part

    def to_padded_tensor(self, padding, output_size=None):
        parts = self.parts()
        if not parts:
            raise RuntimeError("to_padded_tensor(): at least one constituent tensor is needed")
        rank = self._rank - 1
        size = [max(p.shape[d] for p in parts) for d in range(rank)]
        if output_size is not None:
            wanted = list(output_size)
            if len(wanted) != rank + 1 or any(w < s for w, s in zip(wanted[1:], size)):
                raise RuntimeError("Value in output_size is less than NestedTensor padded size. "
                                   "Truncation is not supported.")
            size = wanted[1:]
        rows = []
        for p in parts:
            room = []
            for d in reversed(range(rank)):
                room += [0, size[d] - p.shape[d]]
            rows.append(torch.nn.functional.pad(p, room, value=padding))
        return torch.stack(rows)

    def _do_linear(self, input, weight, bias=None):
        return self._each(lambda p: torch.nn.functional.linear(p, weight, bias))

    def _do_matmul(self, a, b):
        if isinstance(a, _Nested) and isinstance(b, _Nested):
            return a.like([x @ y for x, y in zip(a.parts(), b.parts())])
        if not isinstance(a, _Nested):
            raise NotImplementedError("matmul of a strided and a nested tensor")
        return a._each(lambda p: p @ b)

    _do_bmm = _do_matmul

    def _last(self, dim):
        """The dimension of an element that `dim` names; it must be one that all share."""
        d = dim % self._rank
        if d == 0:
            raise RuntimeError("the batch dimension of a nested tensor cannot be reduced over")
        return d - 1

    def _do_softmax(self, input, dim, *args, **kwargs):
        return self._each(lambda p: torch.softmax(p, self._last(dim), *args[2:], dtype=kwargs.get(
            "dtype")))

    def _do_log_softmax(self, input, dim, *args, **kwargs):
        return self._each(lambda p: torch.log_softmax(p, self._last(dim),
                                                      dtype=kwargs.get("dtype")))

    def _do_layer_norm(self, input, normalized_shape, *args, **kwargs):
        return self._each(lambda p: torch.nn.functional.layer_norm(
            p, normalized_shape, *args, **kwargs))

    def _do_transpose(self, input, dim0, dim1):
        a, b = self._last(dim0), self._last(dim1)
        return self._each(lambda p: p.transpose(a, b))

    def _do_unsqueeze(self, input, dim):
        d = dim % (self._rank + 1) - 1
        if d < 0:
            raise RuntimeError("unsqueeze(): cannot add a dimension before the batch dimension")
        return self._each(lambda p: p.unsqueeze(d))

    def _do_chunk(self, input, chunks, dim=0):
        d = self._last(dim)
        pieces = zip(*[p.chunk(chunks, d) for p in self.parts()])
        return tuple(self.like(list(p)) for p in pieces)

    def _do_cat(self, tensors, dim=0):
        d = self._last(dim)
        return self.like([torch.cat(row, d) for row in zip(*[t.parts() for t in tensors])])

    @property
    def T(self):
        raise ValueError("Permute is not supported on the batch dimension of nested tensors")

    def __bool__(self):
        if self.numel() != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self._buffer)

    def item(self):
        return self._buffer.item()

    def numpy(self, *, force=False):
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")

    def tolist(self):
        raise RuntimeError(f".tolist() is not supported for tensor subclasses, got "
                           f"{type(self).__name__}")

    def _each(self, f):
        return self.like([f(p) for p in self.parts()])

    def __repr__(self, *, tensor_contents=None):
        return self._text()

    __str__ = __repr__

    def __reduce_ex__(self, proto):
        raise NotImplementedError("pickling of nested tensors is not implemented")

    def __deepcopy__(self, memo):
        copy = self.detached_copy()
        return copy.requires_grad_() if self.requires_grad else copy


def _flat(args, kwargs):
    for a in itertools.chain(args, kwargs.values()):
        if isinstance(a, (list, tuple)):
            yield from a
        else:
            yield a


def _swap(items, change):
    return tuple(type(a)(map(change, a)) if isinstance(a, (list, tuple)) else change(a)
                 for a in items)


class NestedTensor(_Nested):
    """The jagged layout."""

    layout = property(lambda self: torch.jagged)

    @staticmethod
    def __new__(cls, values, offsets, symbol=None):
        shell = torch.empty(0, dtype=values.dtype, device=values.device)
        self = torch.Tensor._make_subclass(cls, shell)
        self._buffer, self._offsets, self._rank = values, offsets, values.dim() + 1
        self._symbol = next(_SYMBOLS) if symbol is None else symbol
        return self

    def __init__(self, *args, **kwargs):
        pass

    @classmethod
    def of(cls, parts):
        if not parts:
            raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
        if len({p.dim() for p in parts}) != 1:
            raise RuntimeError("When constructing a nested tensor, all tensors in list must have "
                               "the same dim")
        if any(p.shape[1:] != parts[0].shape[1:] for p in parts):
            raise NotImplementedError("jagged nested tensors that differ in another dimension "
                                      "than the first are not implemented")
        ends = list(itertools.accumulate((p.shape[0] for p in parts), initial=0))
        offsets = torch.tensor(ends, dtype=torch.int64, device=parts[0].device)
        return cls(torch.cat(parts), offsets)

    def _over(self, values):
        return NestedTensor(values, self._offsets, self._symbol)

    def like(self, parts):
        same = [p.shape[0] for p in parts] == self._offsets.diff().tolist()
        if same and all(p.shape[1:] == parts[0].shape[1:] for p in parts):
            return self._over(torch.cat(parts))
        return NestedTensor.of(parts)

    def parts(self):
        return list(self._buffer.split(self._offsets.diff().tolist()))

    def values(self):
        return self._buffer

    def offsets(self):
        return self._offsets

    def lengths(self):
        return None

    def size(self, dim=None):
        shape = (len(self), _Ragged(f"j{self._symbol}")) + tuple(self._buffer.shape[1:])
        return _Sizes(shape) if dim is None else shape[dim]

    shape = property(lambda self: self.size())

    def __len__(self):
        return self._offsets.shape[0] - 1

    def __iter__(self):
        return iter(self.parts())

    def _map(self, func, args, kwargs):
        def change(a):
            if not isinstance(a, NestedTensor):
                return self._repeated(a)
            if a is not self and not torch.equal(a._offsets, self._offsets):
                raise RuntimeError(f"cannot call binary pointwise function {func.__name__} with "
                                   f"inputs of shapes {tuple(self.shape)} and {tuple(a.shape)}")
            return a._buffer

        out = func(*_swap(args, change), **{k: change(v) for k, v in kwargs.items()})
        return self._over(out)

    def _repeated(self, a):
        """A strided operand (batch, 1, ...) has a row for each element."""
        if not isinstance(a, torch.Tensor) or a.dim() < self._rank:
            return a
        if a.dim() == self._rank and a.shape[1] == 1 and a.shape[0] in (1, len(self)):
            rows = a.squeeze(1).expand(len(self), *a.shape[2:])
            return rows.repeat_interleave(self._offsets.diff(), 0)
        raise RuntimeError("a strided operand of a jagged nested tensor must be broadcast along "
                           "its ragged dimension")

    def _do_linear(self, input, weight, bias=None):
        return self._over(torch.nn.functional.linear(self._buffer, weight, bias))

    def view(self, *size):
        size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
        ragged = len(size) > 1 and (size[1] == -1 or size[1] == self.shape[1])
        if not ragged or size[0] not in (-1, len(self)):
            raise RuntimeError(f"view(): cannot view shape {tuple(self.shape)} as {list(size)}")
        return self._over(self._buffer.reshape(-1, *size[2:]))

    reshape = view

    def _do_sum(self, input, dim=None, keepdim=False, *, dtype=None):
        return self._reduce(torch.sum, dim, keepdim, dtype)

    def _do_mean(self, input, dim=None, keepdim=False, *, dtype=None):
        return self._reduce(torch.mean, dim, keepdim, dtype)

    def _reduce(self, f, dim, keepdim, dtype):
        if dim is None:
            return f(self._buffer, dtype=dtype)
        dims = [d % self._rank for d in (dim if isinstance(dim, (list, tuple)) else [dim])]
        if dims == [1]:
            return torch.stack([f(p, 0, keepdim, dtype=dtype) for p in self.parts()])
        if 0 in dims or 1 in dims:
            raise RuntimeError(f"{f.__name__}(): reducing along a ragged and non-batch dimension "
                               "is not supported for nested tensors")
        return self._over(f(self._buffer, [d - 1 for d in dims], keepdim, dtype=dtype))

    def _text(self):
        extra = ""
        if self.grad_fn is not None:
            extra = f", grad_fn={self.grad_fn}"
        elif self.requires_grad:
            extra = ", requires_grad=True"
        size = "(" + ", ".join(map(str, self.shape)) + ")"
        return f"NestedTensor(size={size}, offsets={self._offsets}{extra}, contiguous=True)"


class _Ragged:
    """The size of the ragged dimension: a symbol, equal only to itself."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return self._name

    def __eq__(self, other):
        return isinstance(other, _Ragged) and other._name == self._name

    def __hash__(self):
        return hash(self._name)


class _Sizes(tuple):
    """A size with a symbol in it; prints as torch.Size does."""

    def __repr__(self):
        return "torch.Size([" + ", ".join(map(str, self)) + "])"


class StridedNestedTensor(_Nested):
    """The strided layout: elements of any sizes of one rank."""

    layout = property(lambda self: torch.strided)

    @staticmethod
    def __new__(cls, parts, buffer=None):
        first = parts[0] if parts else torch.empty(0)
        shell = torch.empty(0, dtype=first.dtype, device=first.device)
        self = torch.Tensor._make_subclass(cls, shell)
        self._shapes = [p.shape for p in parts]
        flat = [p.reshape(-1) for p in parts]
        self._buffer = (torch.cat(flat) if flat else first) if buffer is None else buffer
        self._rank = first.dim() + 1 if parts else 1
        return self

    def __init__(self, *args, **kwargs):
        pass

    @classmethod
    def of(cls, parts):
        for i, p in enumerate(parts):
            if p.dim() != parts[0].dim():
                raise RuntimeError(
                    "All Tensors given to nested_tensor must have the same dimension. Found "
                    f"dimension {p.dim()} for Tensor at index {i} and dimension {parts[0].dim()} "
                    "for Tensor at index 0.")
        return cls(list(parts))

    def _over(self, buffer):
        parts = [b.view(s) for b, s in zip(buffer.split(self._counts()), self._shapes)]
        return StridedNestedTensor(parts, buffer)

    def _counts(self):
        return [s.numel() for s in self._shapes]

    def like(self, parts):
        return StridedNestedTensor(parts)

    def parts(self):
        if not self._shapes:
            return []
        return [b.view(s) for b, s in zip(self._buffer.split(self._counts()), self._shapes)]

    def values(self):
        return self._buffer

    def size(self, dim=None):
        if dim is None:
            raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes. Please "
                               "file an issue.")
        d = dim % self._rank
        if d == 0:
            return len(self._shapes)
        sizes = {s[d - 1] for s in self._shapes}
        if len(sizes) != 1:
            raise RuntimeError(f"Given dimension {d} is irregular and does not have a size.")
        return sizes.pop()

    shape = property(lambda self: self.size())

    def __len__(self):
        return self.size()

    def __iter__(self):
        return self.size()

    def _do_matmul(self, a, b):
        for x, y in ((a, b), (b, a)):
            if not isinstance(y, _Nested):
                raise RuntimeError("Expected both to be nested, but got a "
                                   f"{'nested' if x is a else 'non-nested'} self and "
                                   f"{'non-nested' if y is b else 'nested'} other")
        return super()._do_matmul(a, b)

    _do_bmm = _do_matmul

    def _nested_tensor_size(self):
        return torch.tensor([list(s) for s in self._shapes])

    def _map(self, func, args, kwargs):
        rows = []
        for i, own in enumerate(self.parts()):
            def change(a):
                return a.parts()[i] if isinstance(a, StridedNestedTensor) else a

            rows.append(func(*_swap(args, change), **{k: change(v) for k, v in kwargs.items()}))
        return self.like(rows)

    def _do_sum(self, input, dim=None, keepdim=False, *, dtype=None):
        if dim is None:
            raise NotImplementedError("Could not run 'aten::sum' with arguments from the "
                                      "'NestedTensorCPU' backend.")
        dims = dim if isinstance(dim, (list, tuple)) else [dim]
        if len(dims) != 1:
            raise RuntimeError("NestedTensor only allows reduction of a single dimension for now.")
        if dims[0] % self._rank != self._rank - 1:
            raise RuntimeError("NestedTensor can only be reduced across the last dimension for now "
                               f"got dimension {dims[0] % self._rank} instead.")
        if not keepdim:
            raise RuntimeError("NestedTensor always requires keepdim=True for now.")
        return self._each(lambda p: p.sum(-1, True, dtype=dtype))

    def _text(self):
        leaf = self.requires_grad and self.is_leaf
        lines = ["  " + repr(p.detach().requires_grad_(leaf)).replace("\n", "\n  ")
                 for p in self.parts()]
        flags = ", requires_grad=True" if leaf else ""
        return "nested_tensor([\n" + ",\n".join(lines) + "\n]" + flags + ")"
