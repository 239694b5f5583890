"""Errors and warnings of the exporter."""

from torch.onnx import OnnxExporterError  # noqa: F401

__all__ = ["OnnxExporterError", "OnnxExporterWarning", "SymbolicValueError",
           "UnsupportedOperatorError"]


class OnnxExporterWarning(UserWarning):
    """The exported model may differ."""


class UnsupportedOperatorError(OnnxExporterError):
    """An operator that has no ONNX form in that opset."""

    def __init__(self, name, version, supported_version):
        self.name, self.version, self.supported_version = name, version, supported_version
        text = f"Exporting the operator '{name}' to ONNX opset version {version} is not supported"
        if supported_version is not None:
            text += (f". Support for this operator was added in version {supported_version}, try "
                     "exporting with this version")
        super().__init__(text)


class SymbolicValueError(OnnxExporterError):
    """A value of the exported graph is not what a rule needs."""

    def __init__(self, msg, value):
        self.value = value
        super().__init__(f"{msg}  [Caused by the value '{value}']")
