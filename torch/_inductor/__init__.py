"""Names of the code-generating compiler, which is not written yet."""

from torch._missing import add_missing

__all__ = ["compile", "list_mode_options", "list_options", "cudagraph_mark_step_begin"]

add_missing(globals(), "torch._inductor",
            "compile aot_compile aoti_compile_and_package aoti_load_package standalone_compile")


def list_mode_options(mode=None, dynamic=None):
    """Settings that a mode of `torch.compile` stands for."""
    modes = {
        "default": {},
        "reduce-overhead": {"triton.cudagraphs": True},
        "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
        "max-autotune": {"max_autotune": True, "triton.cudagraphs": True,
                         "coordinate_descent_tuning": True},
    }
    if mode is None:
        return modes
    if mode not in modes:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(modes)}")
    return modes[mode]


def list_options():
    """Names of all settings."""
    from torch._inductor import config

    return list(config.to_dict())


def cudagraph_mark_step_begin():
    """A new iteration begins: nothing is recorded."""


def __getattr__(name):
    if name in ("config", "utils"):
        from importlib import import_module

        return import_module("torch._inductor." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
