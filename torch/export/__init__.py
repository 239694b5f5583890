"""torch.export: names for annotations and type checks. Exporting is not written yet."""

from torch._missing import add_missing, missing_class
from torch.export.dynamic_shapes import (  # noqa: F401
    AdditionalInputs,
    Dim,
    ShapesCollection,
    dims,
)

__all__ = ["AdditionalInputs", "Constraint", "CustomDecompTable", "default_decompositions", "Dim",
           "dims", "draft_export", "export", "ExportBackwardSignature", "ExportedProgram",
           "ExportGraphSignature", "FlatArgsAdapter", "load", "ModuleCallEntry",
           "ModuleCallSignature", "register_dataclass", "save", "ShapesCollection", "unflatten",
           "UnflattenedModule"]

add_missing(globals(), "torch.export",
            "default_decompositions draft_export export load save unflatten",
            "CustomDecompTable ExportBackwardSignature ExportedProgram ExportGraphSignature "
            "FlatArgsAdapter ModuleCallEntry ModuleCallSignature UnflattenedModule")
Constraint = missing_class("torch.export.Constraint")


def register_dataclass(cls, *, serialized_type_name=None):
    """Makes instances of a dataclass inner nodes of trees: see `torch.utils._pytree`."""
    from torch.utils import _pytree

    _pytree.register_dataclass(cls, serialized_type_name=serialized_type_name)


def __getattr__(name):
    if name in ("dynamic_shapes", "exported_program", "graph_signature", "decomp_utils"):
        from importlib import import_module

        return import_module("torch.export." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
