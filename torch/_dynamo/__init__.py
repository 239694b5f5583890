"""Names of the bytecode compiler. Nothing is compiled: `torch.compile` with ``backend="eager"``
runs functions as they are, other backends raise NotImplementedError when the function is called.
"""

from torch._dynamo.decorators import (  # noqa: F401
    allow_c_slot,
    allow_in_graph,
    assume_constant_result,
    disable,
    disable_nested_graph_breaks,
    disallow_in_graph,
    dont_skip_tracing,
    error_on_graph_break,
    forbid_in_graph,
    graph_break,
    is_dynamo_disable_recursive,
    mark_dynamic,
    mark_static,
    mark_static_address,
    maybe_mark_dynamic,
    nonstrict_trace,
    override_cudagraphs,
    patch_dynamo_config,
    run,
    set_stance,
    skip_frame,
    step_unsupported,
    substitute_in_graph,
)
from torch._dynamo.eval_frame import (  # noqa: F401
    OptimizedModule,
    is_dynamo_supported,
    is_inductor_supported,
    list_backends,
    lookup_backend,
    optimize,
    optimize_assert,
    register_backend,
)
from torch._missing import add_missing
from torch.compiler import is_compiling, reset  # noqa: F401

__all__ = [
    "allow_c_slot", "allow_in_graph", "assume_constant_result", "config", "disable",
    "disable_nested_graph_breaks", "disallow_in_graph", "dont_skip_tracing", "export", "explain",
    "forbid_in_graph", "graph_break", "is_compiling", "is_dynamo_disable_recursive",
    "list_backends", "lookup_backend", "mark_dynamic", "maybe_mark_dynamic", "mark_static",
    "mark_static_address", "nonstrict_trace", "optimize", "optimize_assert", "OptimizedModule",
    "patch_dynamo_config", "register_backend", "replay", "reset", "run", "override_cudagraphs",
    "error_on_graph_break", "set_recursion_limit", "set_stance", "skip_frame", "step_unsupported",
    "substitute_in_graph",
]

add_missing(globals(), "torch._dynamo", "export explain replay aot_compile")

orig_code_map, guard_failures, graph_break_reasons = {}, {}, []
_MODULES = frozenset(["config", "utils", "eval_frame", "decorators", "exc", "external_utils",
                      "mutation_guard", "testing", "_trace_wrapped_higher_order_op", "comptime",
                      "backends"])


def set_recursion_limit(limit):
    """Remembers how deep the compiler may recurse."""
    global _recursion_limit
    if limit <= 0:
        raise ValueError("recursion limit must be greater or equal than 1")
    _recursion_limit = limit


def get_recursion_limit():
    return _recursion_limit


_recursion_limit = -1


def reset_code_caches():
    """Forgets compiled code: there is none."""


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        try:
            return import_module("torch._dynamo." + name)
        except ModuleNotFoundError as error:
            if error.name != "torch._dynamo." + name:
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
