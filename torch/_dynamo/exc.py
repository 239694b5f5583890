"""Errors of the compiler."""


class TorchDynamoException(RuntimeError):
    """The base of all."""


class InternalTorchDynamoError(TorchDynamoException):
    """The compiler failed."""


class Unsupported(TorchDynamoException):
    """Python that the compiler does not take."""

    def __init__(self, msg, *, case_name=None):
        super().__init__(msg)
        self.msg = msg


class UserError(Unsupported):
    """The program must be changed to be compiled."""


class UncapturedHigherOrderOpError(Unsupported):
    """An operator that takes functions could not be captured."""


class BackendCompilerFailed(TorchDynamoException):
    """A backend failed."""

    def __init__(self, backend_fn, inner_exception):
        self.backend_name = getattr(backend_fn, "__name__", "?")
        self.inner_exception = inner_exception
        super().__init__(f"backend={self.backend_name!r} raised:\n"
                         f"{type(inner_exception).__name__}: {inner_exception}")


class InvalidBackend(TorchDynamoException):
    """No backend of that name."""

    def __init__(self, name):
        super().__init__(f"Invalid backend: {name!r}. See `torch._dynamo.list_backends()` for "
                         "available backends.")


class TorchRuntimeError(TorchDynamoException):
    """The program failed while it was compiled."""


class ResetRequired(TorchDynamoException):
    """Settings changed: `torch._dynamo.reset()` is needed."""


class FailOnRecompileLimitHit(TorchDynamoException):
    """Compiled too often."""


class RecompileLimitExceeded(Unsupported):
    """Compiled too often."""
