"""A tensor with a mask of the elements that count. Element-wise functions keep the mask; reductions
go through `torch.masked`."""

import torch

_REDUCTIONS = frozenset("sum mean prod amax amin argmax argmin var std".split())


def _warn():
    import warnings

    warnings.warn("The PyTorch API of MaskedTensors is in prototype stage and will change in the "
                  "near future. Please open a Github issue for feature requests and see our "
                  "documentation on the torch.masked module for further information about the "
                  "project.", UserWarning, stacklevel=3)


class MaskedTensor(torch.Tensor):
    """`data` where `mask` is True; what is under the mask is not defined."""

    @staticmethod
    def __new__(cls, data, mask, requires_grad=False):
        if is_masked_tensor(data) or not isinstance(data, torch.Tensor):
            raise TypeError("data must be a Tensor")
        if is_masked_tensor(mask) or not isinstance(mask, torch.Tensor):
            raise TypeError("mask must be a Tensor")
        _warn()
        return torch.Tensor._make_subclass(cls, data.detach(), requires_grad)

    def __init__(self, data, mask, requires_grad=False):
        if data.shape != mask.shape:
            raise ValueError("data.shape must equal mask.shape.")
        if mask.dtype != torch.bool:
            raise TypeError("mask must have dtype bool.")
        self._masked_data, self._masked_mask = data, mask

    def get_data(self):
        """The plain tensor, values under the mask included."""
        return self._masked_data

    def get_mask(self):
        """The boolean mask."""
        return self._masked_mask

    def to_tensor(self, value):
        """A plain tensor with `value` where the mask is False."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    def __repr__(self):
        if self.dim() == 0:
            shown = f"{self.get_data().item():8.4f}" if bool(self.get_mask()) else "--"
            return f"MaskedTensor({shown}, {bool(self.get_mask())})"
        return "MaskedTensor(\n" + _format(self.get_data(), self.get_mask(), "  ") + "\n)"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in _REDUCTIONS and args:
            return getattr(torch.masked, name)(*args, **kwargs)
        if name in ("__get__", "dim", "size", "numel", "stride", "is_contiguous", "__repr__"):
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        masks = [a.get_mask() for a in args if isinstance(a, MaskedTensor)]
        plain = [a.get_data() if isinstance(a, MaskedTensor) else a for a in args]
        result = func(*plain, **kwargs)
        mask = masks[0]
        for other in masks[1:]:
            if other.shape == mask.shape and not torch.equal(other, mask):
                raise ValueError("Input masks must match. If you need support for this, please "
                                 "open an issue on Github.")
        if not isinstance(result, torch.Tensor):
            return result
        if result.shape != mask.shape:
            mask = func(mask, *args[1:], **kwargs) if name in _SHAPES else None
        if mask is None:
            raise TypeError(f"no implementation found for 'torch.{name}' on types that implement "
                            "__torch_function__: [<class 'torch.masked.MaskedTensor'>]")
        return MaskedTensor(result, mask)


_SHAPES = frozenset("reshape view transpose permute t unsqueeze squeeze expand flatten select "
                    "narrow contiguous clone __getitem__".split())


def _format(data, mask, indent):
    if data.dim() == 1:
        cells = [f"{v:8.4f}" if m and isinstance(v, float) else str(v) if m else "--".rjust(8)
                 for v, m in zip(data.tolist(), mask.tolist())]
        return indent + "[" + ", ".join(cells) + "]"
    rows = [_format(d, m, indent + "  ") for d, m in zip(data, mask)]
    return indent + "[\n" + ",\n".join(rows) + "\n" + indent + "]"


def is_masked_tensor(obj):
    """Whether `obj` is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


def masked_tensor(data, mask, requires_grad=False):
    """A MaskedTensor of `data` where `mask` is True."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data, mask):
    """As `masked_tensor`; gradients of the data are kept."""
    return MaskedTensor(data, mask)
