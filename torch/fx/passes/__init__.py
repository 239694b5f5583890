"""Passes over graphs: shapes, splitting, drawing, support of operators. Loaded when named."""

_MODULES = frozenset(["graph_drawer", "graph_manipulation", "infra", "operator_support",
                      "shape_prop", "split_module", "split_utils", "tools_common", "utils"])


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        try:
            return import_module("torch.fx.passes." + name)
        except ModuleNotFoundError as error:
            if error.name != "torch.fx.passes." + name:
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
