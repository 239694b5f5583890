"""Errors of the script compiler's parser. There is no parser yet."""

from torch._missing import add_missing


class FrontendError(Exception):
    """Script that is not understood."""


class NotSupportedError(FrontendError):
    """Python that script does not have."""


class UnsupportedNodeError(NotSupportedError):
    """A statement or expression that script does not have."""


class FrontendTypeError(FrontendError):
    """A type that script does not have."""


add_missing(globals(), "torch.jit.frontend",
            "get_jit_class_def get_jit_def get_default_args get_class_properties")
