"""Names for the device type `privateuse1`, which this build does not have."""

__all__ = ["rename_privateuse1_backend", "generate_methods_for_privateuse1_backend"]

_privateuse1_backend_name = "privateuseone"


def rename_privateuse1_backend(backend_name):
    """Would name the device type of an extension; devices cannot be added."""
    raise NotImplementedError("torch.utils.rename_privateuse1_backend is not implemented")


def generate_methods_for_privateuse1_backend(for_tensor=True, for_module=True,
                                             for_packed_sequence=True, for_storage=False,
                                             unsupported_dtype=None):
    """Would add methods such as `Tensor.is_foo` for such a device type."""
    raise NotImplementedError(
        "torch.utils.generate_methods_for_privateuse1_backend is not implemented")
