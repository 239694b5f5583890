"""Behaviours that may become the default: how modules exchange converted parameters."""

_overwrite_module_params_on_conversion = False
_swap_module_params_on_conversion = False


def set_overwrite_module_params_on_conversion(value):
    """Whether ``module.to(...)`` and the like make new Parameter objects instead of changing
    those that there are. Default: ``False``."""
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion():
    """What `set_overwrite_module_params_on_conversion` was told last."""
    return _overwrite_module_params_on_conversion


def set_swap_module_params_on_conversion(value):
    """Whether conversions swap the contents of old and new Parameter objects."""
    global _swap_module_params_on_conversion
    if value:
        raise NotImplementedError("torch.__future__.set_swap_module_params_on_conversion(True)")
    _swap_module_params_on_conversion = value


def get_swap_module_params_on_conversion():
    """What `set_swap_module_params_on_conversion` was told last."""
    return _swap_module_params_on_conversion
