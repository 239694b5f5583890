"""torch.onnx: names for programs that register or ask. The exporter is not written yet."""

import enum

from torch._missing import add_missing
from torch.version import __version__ as _version

__all__ = [
    "ExportableModule", "InputObserver", "JitScalarType", "ONNXProgram", "OnnxExporterError",
    "OperatorExportTypes", "TensorProtoDataType", "TrainingMode", "errors", "export",
    "is_in_onnx_export", "ops", "producer_name", "producer_version",
    "register_custom_op_symbolic", "select_model_mode_for_export",
    "unregister_custom_op_symbolic",
]

producer_name = "pytorch"
producer_version = _version.split("+")[0]


class _Kind(enum.IntEnum):
    def __str__(self):
        return f"{type(self).__name__}.{self.name}"


OperatorExportTypes = _Kind("OperatorExportTypes", [
    ("ONNX", 0), ("ONNX_ATEN", 1), ("ONNX_ATEN_FALLBACK", 2), ("ONNX_FALLTHROUGH", 3),
], module="torch.onnx")
TrainingMode = _Kind("TrainingMode", [("EVAL", 0), ("PRESERVE", 1), ("TRAINING", 2)],
                     module="torch.onnx")
# Numbers of TensorProto.DataType in the ONNX specification.
TensorProtoDataType = _Kind("TensorProtoDataType", [
    (name, number) for number, name in enumerate(
        "UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 "
        "UINT64 COMPLEX64 COMPLEX128 BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 "
        "FLOAT8E5M2FNUZ".split()
    )
], module="torch.onnx")


class OnnxExporterError(RuntimeError):
    """A model cannot be exported."""


add_missing(globals(), "torch.onnx", "select_model_mode_for_export",
            "ExportableModule InputObserver ONNXProgram")


def export(model, args=(), f=None, *, kwargs=None, verbose=None, input_names=None,
           output_names=None, opset_version=None, dynamo=True, external_data=True,
           dynamic_shapes=None, custom_translation_table=None, report=False, optimize=True,
           verify=False, profile=False, dump_exported_program=False, artifacts_dir=".",
           export_params=True, keep_initializers_as_inputs=False, dynamic_axes=None,
           training=TrainingMode.EVAL, operator_export_type=OperatorExportTypes.ONNX,
           do_constant_folding=True, custom_opsets=None, export_modules_as_functions=False,
           autograd_inlining=True):
    """Would write the model as an ONNX file."""
    raise NotImplementedError("torch.onnx.export is not implemented")


def is_in_onnx_export():
    """Is an export running? No."""
    return False


_symbolics = {}


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """Keeps the function that will export an operator (``"domain::name"``) of your own."""
    if "::" not in symbolic_name:
        symbolic_name = f"aten::{symbolic_name}"
    _symbolics[(symbolic_name, opset_version)] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """Forgets what `register_custom_op_symbolic` was given."""
    if "::" not in symbolic_name:
        symbolic_name = f"aten::{symbolic_name}"
    _symbolics.pop((symbolic_name, opset_version), None)


_MODULES = frozenset(["errors", "ops", "operators", "symbolic_helper", "utils",
                      *(f"symbolic_opset{n}" for n in range(7, 21))])


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return import_module("torch.onnx." + name)
    if name == "JitScalarType":
        from torch.onnx._type_utils import JitScalarType

        return JitScalarType
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
