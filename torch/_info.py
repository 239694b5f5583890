"""`torch.finfo` and `torch.iinfo`: limits of number types."""

import torch

__all__ = ["finfo", "iinfo"]

# bits of mantissa (stored), smallest and largest exponent, all of normal numbers
_FLOATS = {
    "float64": (52, -1022, 1023),
    "float32": (23, -126, 127),
    "float16": (10, -14, 15),
    "bfloat16": (7, -126, 127),
    "float8_e5m2": (2, -14, 15),
    "float8_e4m3fn": (3, -6, 8),
    "float8_e5m2fnuz": (2, -15, 15),
    "float8_e4m3fnuz": (3, -7, 7),
    "float8_e8m0fnu": (0, -127, 127),
}
_PARTS = {"complex128": "float64", "complex64": "float32", "complex32": "float16"}
_RESOLUTION = {"float64": 1e-15, "float32": 1e-6, "float16": 1e-3, "bfloat16": 1e-2}


def _short(x):
    return f"{x:g}"


class finfo:
    """Limits of a floating point type, of the default dtype if none is given.

    A complex type answers for its parts. Raises TypeError for other types.
    """

    def __init__(self, type=None):
        dtype = torch.get_default_dtype() if type is None else type
        if not isinstance(dtype, torch.dtype):
            raise TypeError(
                f"finfo(): argument 'type' (position 1) must be torch.dtype, not "
                f"{dtype.__class__.__name__}"
            )
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        name = str(dtype)[6:]
        self.dtype = _PARTS.get(name, name)
        bits, low, high = _FLOATS[self.dtype]
        self.bits = torch.dtype.itemsize.__get__(getattr(torch, self.dtype)) * 8
        self.eps = 2.0**-bits
        self.smallest_normal = self.tiny = 2.0**low
        top = 2.0 - 2.0**-bits
        if self.dtype == "float8_e4m3fn":
            top -= 2.0**-bits  # the last code is NaN
        self.max = (1.0 if bits == 0 else top) * 2.0**high
        self.min = self.tiny if bits == 0 else -self.max  # powers of two have no sign
        self.resolution = _RESOLUTION.get(self.dtype, 1.0)

    def __repr__(self):
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        parts = [f"{n}={_short(getattr(self, n))}" for n in names]
        return f"finfo({', '.join(parts)}, dtype={self.dtype})"

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(("finfo", self.dtype))


class iinfo:
    """Limits of an integer type. Raises TypeError for other types."""

    def __init__(self, *args, **kwargs):
        names = ("type",)
        if len(args) + len(kwargs) != 1 or any(k not in names for k in kwargs):
            raise TypeError('iinfo() missing 1 required positional arguments: "type"')
        dtype = args[0] if args else kwargs["type"]
        if not isinstance(dtype, torch.dtype):
            raise TypeError(
                f"iinfo(): argument 'type' (position 1) must be torch.dtype, not "
                f"{dtype.__class__.__name__}"
            )
        if dtype.is_floating_point or dtype.is_complex:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        if dtype is torch.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        self.dtype = str(dtype)[6:].replace("quint", "uint").replace("qint", "int")
        self.bits = dtype.itemsize * 8
        if dtype.is_signed:
            self.min, self.max = -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1
        else:
            self.min, self.max = 0, 2**self.bits - 1

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(("iinfo", self.dtype))


finfo.__module__ = iinfo.__module__ = "torch"
