"""`make_fx`: records the operators that a function calls on real tensors, those of its gradients
too, as a graph.

A dispatch mode sees every call; tensors that come from the inputs, or from recorded calls, stand
for nodes. Other tensors become constants of the graph module.
"""

import functools
import inspect
from contextlib import contextmanager

import torch
import torch.fx as fx
from torch.fx.passes.shape_prop import _extract_tensor_metadata
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["PythonKeyTracer", "dispatch_trace", "make_fx", "py_sym_types", "get_proxy_mode",
           "get_innermost_proxy_mode", "get_isolated_graphmodule", "disable_proxy_modes_tracing",
           "maybe_disable_thunkify", "maybe_enable_thunkify", "is_sym_node"]

py_sym_types = (torch.SymInt, torch.SymFloat, torch.SymBool)
_active = []


class PythonKeyTracer(fx.Tracer):
    """A tracer that looks into no module: the operators are what is recorded."""

    def __init__(self):
        super().__init__(autowrap_modules=())
        self.root = torch.nn.Module()

    def call_module(self, m, forward, args, kwargs):
        return forward(*args, **kwargs)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        return attr_val

    def create_arg(self, a):
        if isinstance(a, torch.nn.Parameter):
            return self._constant(a, "_param_constant")
        return super().create_arg(a)


def _geometry(t):
    """What tells a tensor when autograd hands out another handle of it."""
    return t.untyped_storage().data_ptr(), t.storage_offset(), t.shape, t.stride(), t.dtype


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Records operators into a tracer's graph while they run."""

    def __init__(self, tracer, decomposition_table):
        super().__init__()
        self.tracer = tracer
        self.table = decomposition_table or {}
        self.known = {}  # id of a tensor -> (the tensor, its proxy)
        self.places = {}  # geometry -> proxy, for handles that autograd makes

    def track(self, tensor, proxy):
        """From now on `tensor` is `proxy`."""
        self.known[id(tensor)] = tensor, proxy
        if tensor.device.type != "meta" and tensor.numel():
            self.places[_geometry(tensor)] = proxy
        meta = proxy.node.meta
        meta["tensor_meta"] = _extract_tensor_metadata(tensor)
        with torch.utils._python_dispatch._disable_current_modes():
            meta["val"] = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype,
                                              device="meta")

    def proxy_of(self, x):
        """The proxy of a tensor, or the tensor itself."""
        if not isinstance(x, torch.Tensor):
            return x
        if id(x) in self.known:
            return self.known[id(x)][1]
        if x.device.type != "meta" and x.numel() and not isinstance(x, torch.nn.Parameter):
            return self.places.get(_geometry(x), x)
        return x

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in self.table:
            with self:
                result = self.table[func](*args, **kwargs)
            if result is not NotImplemented:
                return result
        proxy_args, proxy_kwargs = pytree.tree_map(self.proxy_of, (tuple(args), kwargs))
        name = self.tracer.graph._target_to_str(func.overloadpacket.__name__)
        proxy = self.tracer.create_proxy("call_function", func, proxy_args, proxy_kwargs, name)
        result = func(*args, **kwargs)
        self.track_result(result, proxy)
        return result

    def track_result(self, result, proxy):
        if isinstance(result, torch.Tensor):
            self.track(result, proxy)
        elif isinstance(result, (tuple, list)):
            proxy.node.meta["val"] = type(result)
            for index, item in enumerate(result):
                if isinstance(item, (torch.Tensor, tuple, list)):
                    self.track_result(item, proxy[index])


def _parameter_names(f, count):
    """The names of the graph's inputs."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters
             if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]
    if len(names) < count:
        return [f"arg{i}" for i in range(count)]
    return names


def dispatch_trace(root, tracer, concrete_args=None):
    """The GraphModule of a function that takes proxies; dead code is gone."""
    graph = tracer.trace(root, concrete_args)
    graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output") or (
        node.op == "call_function" and node.is_impure()))
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return fx.GraphModule(tracer.root, graph, name)


def make_fx(f, decomposition_table=None, tracing_mode="real", _allow_non_fake_inputs=False, *,
            pre_dispatch=False, record_module_stack=False, _allow_fake_constant=False,
            _error_on_data_dependent_ops=True, record_stack_traces=False,
            proxy_module_inputs=False, _disable_torch_fn_metadata_mode=False):
    """A function that traces `f` on the arguments it is given and returns the GraphModule.

    Args:
        decomposition_table: {operator: function of the same arguments} to record in their place.
        tracing_mode: only ``"real"``: the operators run on the given tensors.
    """
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"Unexpected tracing type: {tracing_mode}")
    if tracing_mode != "real":
        raise NotImplementedError(f"make_fx with tracing_mode={tracing_mode!r} is not implemented")

    @functools.wraps(f)
    def wrapped(*args):
        return _trace(f, args, decomposition_table, record_stack_traces)

    return wrapped


def _trace(f, args, decomposition_table, record_stack_traces):
    tracer = PythonKeyTracer()
    tracer.record_stack_traces = record_stack_traces
    mode = ProxyTorchDispatchMode(tracer, decomposition_table)
    leaves = pytree.tree_leaves(args)

    def run(*proxies):
        for tensor, proxy in zip(leaves, pytree.tree_leaves(proxies)):
            if isinstance(tensor, torch.Tensor):
                mode.track(tensor, proxy)
        _active.append(mode)
        try:
            with mode:
                result = f(*args)
        finally:
            _active.pop()
        return pytree.tree_map(mode.proxy_of, result)

    names = _parameter_names(f, len(args))
    # A function with these parameter names, for the tracer to name its inputs after.
    function = eval(f"lambda {', '.join(names)}: run({', '.join(names)})", {"run": run})
    function.__name__ = getattr(f, "__name__", type(f).__name__)
    holes = {name: pytree.tree_map(lambda _: fx.PH, arg) for name, arg in zip(names, args)}
    return dispatch_trace(function, tracer, holes)


def get_proxy_mode():
    """The mode that records now, or None."""
    return _active[-1] if _active else None


get_innermost_proxy_mode = get_proxy_mode


def get_isolated_graphmodule(func, args, kwargs, tracing_mode="real", decomposition_table=None):
    """The GraphModule of ``func(*args, **kwargs)``; its inputs are the tensors among them."""
    leaves, spec = pytree.tree_flatten((args, kwargs))

    def flat(*values):
        a, k = pytree.tree_unflatten(list(values), spec)
        return func(*a, **k)

    with disable_proxy_modes_tracing():
        return make_fx(flat, decomposition_table, tracing_mode)(*leaves)


@contextmanager
def disable_proxy_modes_tracing():
    """Nothing is recorded inside the block."""
    mode = _active.pop() if _active else None
    try:
        with torch.utils._python_dispatch._disable_current_modes():
            yield mode
    finally:
        if mode is not None:
            _active.append(mode)


@contextmanager
def _nothing():
    yield


maybe_disable_thunkify = maybe_enable_thunkify = _nothing


def is_sym_node(node):
    """Is the node's value a symbolic number? Never."""
    if "val" not in node.meta:
        raise AssertionError("node must have meta['val']")
    return False
