"""Element types of tensors as the older exporter numbers them."""

import enum

import torch
from torch.onnx import TensorProtoDataType

_ROWS = [  # member, name in schemas, name of the tensor class, dtype, ONNX type
    ("UINT8", "uint8_t", "Byte", "uint8", "UINT8"), ("INT8", "int8_t", "Char", "int8", "INT8"),
    ("INT16", "int16_t", "Short", "int16", "INT16"), ("INT", "int", "Int", "int32", "INT32"),
    ("INT64", "int64_t", "Long", "int64", "INT64"), ("HALF", "half", "Half", "float16", "FLOAT16"),
    ("FLOAT", "float", "Float", "float32", "FLOAT"),
    ("DOUBLE", "double", "Double", "float64", "DOUBLE"),
    ("COMPLEX32", "complex32", "ComplexHalf", "complex32", None),
    ("COMPLEX64", "complex64", "ComplexFloat", "complex64", "COMPLEX64"),
    ("COMPLEX128", "complex128", "ComplexDouble", "complex128", "COMPLEX128"),
    ("BOOL", "bool", "Bool", "bool", "BOOL"), ("QINT8", "qint8", "QInt8", "qint8", "INT8"),
    ("QUINT8", "quint8", "QUInt8", "quint8", "UINT8"),
    ("QINT32", "qint32", "QInt32", "qint32", "INT32"),
    ("BFLOAT16", "bfloat16", "BFloat16", "bfloat16", "BFLOAT16"),
    ("FLOAT8E5M2", "float8_e5m2", "Float8E5M2", "float8_e5m2", "FLOAT8E5M2"),
    ("FLOAT8E4M3FN", "float8_e4m3fn", "Float8E4M3FN", "float8_e4m3fn", "FLOAT8E4M3FN"),
    ("FLOAT8E5M2FNUZ", "float8_e5m2fnuz", "Float8E5M2FNUZ", "float8_e5m2fnuz", "FLOAT8E5M2FNUZ"),
    ("FLOAT8E4M3FNUZ", "float8_e4m3fnuz", "Float8E4M3FNUZ", "float8_e4m3fnuz", "FLOAT8E4M3FNUZ"),
    ("UNDEFINED", "undefined", "Undefined", None, "UNDEFINED"),
]


class _JitScalarTypeMethods(enum.IntEnum):
    @classmethod
    def from_dtype(cls, dtype):
        """The member of a ``torch.dtype``."""
        from torch.onnx import OnnxExporterError

        for number, row in enumerate(_ROWS):
            if row[3] is not None and dtype is not None and getattr(torch, row[3], 0) is dtype:
                return cls(number)
        raise OnnxExporterError(f"Unknown dtype: {dtype}")

    def scalar_name(self):
        return _ROWS[self][1]

    def torch_name(self):
        return _ROWS[self][2]

    def dtype(self):
        name = _ROWS[self][3]
        return getattr(torch, name) if name else None

    def onnx_type(self):
        name = _ROWS[self][4]
        if name is None:
            from torch.onnx import OnnxExporterError

            raise OnnxExporterError(f"Scalar type {self} cannot be converted to ONNX")
        return TensorProtoDataType[name]

    def onnx_compatible(self):
        return self.name not in ("UNDEFINED", "COMPLEX32")


JitScalarType = _JitScalarTypeMethods(
    "JitScalarType", [(row[0], number) for number, row in enumerate(_ROWS)],
    module="torch.onnx._type_utils",
)
