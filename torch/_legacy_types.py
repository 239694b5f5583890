"""`torch.FloatTensor` and the other classes that name a dtype: constructors and `isinstance` tests.

They are no classes of tensors: calling one gives a `torch.Tensor` of its dtype.
"""

from torch import _C

__all__ = ["tensortype"]


class tensortype(type):
    """The type of `torch.FloatTensor` and the others."""

    dtype = None
    is_cuda = False
    is_xpu = False
    is_sparse = False

    def __instancecheck__(cls, instance):
        if not isinstance(instance, _C.TensorBase):
            return False
        return (
            instance.dtype == cls.dtype
            and instance.device.type == "cpu"
            and instance.layout == _C.strided
        )

    def __call__(cls, *args, **kwargs):
        return _C._legacy_new(cls.dtype, args, kwargs or None)

    def __repr__(cls):
        return f"<class 'torch.{cls.__name__}'>"

    @property
    def layout(cls):
        return _C.strided

    def __reduce_ex__(cls, proto):
        return f"{cls.__name__}"


_KINDS = {
    "BFloat16Tensor": "bfloat16",
    "BoolTensor": "bool",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "DoubleTensor": "float64",
    "FloatTensor": "float32",
    "HalfTensor": "float16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "ShortTensor": "int16",
}
for _name, _dtype in _KINDS.items():
    globals()[_name] = tensortype(
        _name, (), {"__module__": "torch", "dtype": getattr(_C, _dtype), "is_cuda": False}
    )
del _name, _dtype
