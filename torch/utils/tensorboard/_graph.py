"""The graph of a model as TensorBoard shows it: one run of the model, operator by operator.

Operators are those below autograd (a linear layer is ``aten::t`` and ``aten::addmm``), in the scope
of the module that called them. Parameters and buffers are ``prim::GetAttr`` nodes of their module.
"""

import contextlib
import inspect

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def _shape(tensor):
    dims = [TensorShapeProto.Dim(size=n) for n in tensor.shape]
    return AttrValue(list=AttrValue.ListValue(shape=[TensorShapeProto(dim=dims)]))


def _node(name, op, inputs=(), shaped=None, text="{}"):
    attributes = {"attr": AttrValue(s=text.encode())}
    if shaped is not None:
        attributes["_output_shapes"] = _shape(shaped)
    return NodeDef(name=name, op=op, input=list(inputs), attr=attributes)


class _Recorder(TorchDispatchMode):
    """Writes down every operator; values are known by the tensors that carry them."""

    def __init__(self, model):
        super().__init__()
        self.nodes, self.scopes, self.count = [], [], 0
        self.names, self.kept = {}, []  # id of a tensor -> its node; and the tensors, kept alive
        self.state = {}  # id of a parameter or buffer -> scope of its module, its name
        for path, module in model.named_modules():
            scope = self.scope_of(model, path)
            for name, t in (*module.named_parameters(recurse=False),
                            *module.named_buffers(recurse=False)):
                self.state.setdefault(id(t), (scope, name))

    @staticmethod
    def scope_of(model, path):
        parts, module = [type(model).__name__], model
        for name in path.split(".") if path else ():
            module = getattr(module, name)
            parts.append(f"{type(module).__name__}[{name}]")
        return "/".join(parts)

    def add(self, name, op, inputs, value, text="{}"):
        self.nodes.append(_node(name, op, inputs, value, text))
        self.names[id(value)] = name
        self.kept.append(value)

    def name_of(self, tensor):
        if id(tensor) not in self.names:
            scope, name = self.state.get(id(tensor), (self.scopes[-1], "constant"))
            op = "prim::GetAttr" if id(tensor) in self.state else "prim::Constant"
            unique = f"{name}.{len(self.kept)}"
            self.add(f"{scope}/{name}/{unique}", op, (), tensor, f"{{ name :  {name} }}")
        return self.names[id(tensor)]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        leaves = tree_leaves((args, kwargs))
        inputs = [self.name_of(x) for x in leaves if isinstance(x, torch.Tensor)]
        others = ", ".join(repr(x) for x in leaves
                           if not isinstance(x, torch.Tensor) and x is not None)
        for value in tree_leaves(out):
            if isinstance(value, torch.Tensor):
                self.count += 1
                op = func._schema.name
                name = f"{self.scopes[-1]}/{op.split('::')[-1]}.{self.count}"
                self.add(name, op, inputs, value, f"{{ value : {others}}}" if others else "{}")
        return out

    @contextlib.contextmanager
    def watching(self, model):
        """Scopes follow the calls of modules."""
        handles = []
        for path, module in model.named_modules():
            scope = self.scope_of(model, path)
            handles.append(module.register_forward_pre_hook(
                lambda m, a, scope=scope: self.scopes.append(scope)))
            handles.append(module.register_forward_hook(
                lambda m, a, out: self.scopes.pop() and None, always_call=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def _input_names(model, args):
    try:
        names = list(inspect.signature(model.forward).parameters)
    except (TypeError, ValueError):
        names = []
    return [names[i] if i < len(names) else f"input.{i}" for i in range(len(args))]


def graph(model, args, verbose=False):
    """(GraphDef, RunMetadata) of one call of `model`, in evaluation mode and without gradients."""
    args = args if isinstance(args, (tuple, list)) else (args,)
    recorder = _Recorder(model)
    recorder.scopes.append(type(model).__name__)
    for name, arg in zip(_input_names(model, args), args):
        for t in tree_leaves(arg):
            if isinstance(t, torch.Tensor) and id(t) not in recorder.names:
                recorder.add(f"input/{name}", "IO Node", (), t, "")
    training = [m for m in model.modules() if m.training]
    model.eval()
    try:
        with torch.no_grad(), recorder.watching(model), recorder:
            out = model(*args)
    finally:
        for module in training:
            module.training = True
    for i, t in enumerate(x for x in tree_leaves(out) if isinstance(x, torch.Tensor)):
        recorder.nodes.append(
            _node(f"output/output.{i + 1}", "IO Node", [recorder.name_of(t)], t, ""))
    if verbose:
        for node in recorder.nodes:
            print(f"{node.name} = {node.op}({', '.join(node.input)})")
    stats = RunMetadata(step_stats=StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0")]))
    return GraphDef(node=recorder.nodes, versions=VersionDef(producer=22)), stats
