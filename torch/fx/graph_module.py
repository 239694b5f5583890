"""`GraphModule`: a module whose ``forward`` is generated from a `Graph`."""

import contextlib
import copy
import itertools
import linecache
import os
import sys
import traceback
import warnings
from pathlib import Path

import torch
import torch.nn as nn
from torch.fx._compatibility import compatibility
from torch.fx.graph import (  # noqa: F401
    Graph,
    PythonCode,
    _custom_builtins,
    _is_from_torch,
    _override_sym_repr,
    _PyTreeCodeGen,
)

__all__ = ["GraphModule", "reduce_graph_module", "reduce_package_graph_module"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
FX_GRAPH_MODULE_FILE_PREFIX = "fx_generated_"


class _EvalCacheLoader:
    """Keeps generated source where tracebacks and `inspect` look for it."""

    def __init__(self):
        self.eval_cache = {}
        self.next_id = 0

    def cache(self, src, globals, co_fields=None):
        """Remembers the source; returns the file name to compile it under."""
        key = f"<eval_with_key>.{self.next_id}"
        self.next_id += 1
        if co_fields:
            if "co_filename" in co_fields:
                key += f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in " \
                       f"{co_fields['co_name']}"
        self.eval_cache[key] = src
        globals_copy = globals.copy()
        globals_copy["__file__"] = globals_copy["__name__"] = key
        globals_copy["__loader__"] = self
        linecache.lazycache(key, globals_copy)
        return key

    def get_source(self, module_name):
        return self.eval_cache.get(module_name)


_loader = _EvalCacheLoader()


def _exec_with_source(src, globals, co_fields=None):
    key = _loader.cache(src, globals, co_fields)
    exec(compile(src, key, "exec"), globals)


def _forward_from_src(src, globals, co_fields=None):
    return _method_from_src("forward", src, globals, co_fields)


def _method_from_src(method_name, src, globals, co_fields=None):
    """The function of that name that the source defines."""
    globals = globals.copy()
    _exec_with_source(src, globals, co_fields)
    return globals.pop(method_name)


def _format_import_statement(name, obj, importer):
    """A statement that makes `name` mean `obj`."""
    if name in _custom_builtins:
        return _custom_builtins[name].import_str
    if _is_from_torch(name):
        return "import torch"
    if importer is not None:
        module, attribute = importer.get_name(obj)
    else:
        module, attribute = _importable_name(obj)
    return f"from {module} import {attribute} as {name}"


def _importable_name(obj):
    import pickle

    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    module = pickle.whichmodule(obj, name)
    return module, name


def _format_import_block(globals, importer=None):
    statements = {_format_import_statement(n, obj, importer) for n, obj in globals.items()}
    return "\n".join(sorted(statements))


# ---------------------------------------------------------------- attributes by path


def _walk(module, names, create=False):
    for name in names:
        child = getattr(module, name, None)
        if child is None and create:
            child = torch.nn.Module()
            setattr(module, name, child)
        module = child
    return module


def _copy_attr(from_module, to_module, target):
    """Copies the attribute of that path, making plain modules on the way."""
    *prefix, field = target.split(".")
    for name in prefix:
        source, dest = getattr(from_module, name), getattr(to_module, name, None)
        if source is dest:
            return  # the whole subtree is shared
        if dest is None:
            dest = torch.nn.Module()
            setattr(to_module, name, dest)
        from_module, to_module = source, dest
    _set(to_module, field, getattr(from_module, field))


def _set(module, field, value):
    """Sets an attribute; a tensor that is no parameter becomes a buffer."""
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        module.register_buffer(field, value)
    else:
        setattr(module, field, value)


def _assign_attr(from_obj, to_module, target):
    """Puts `from_obj` at that path."""
    *prefix, field = target.split(".")
    _set(_walk(to_module, prefix, create=True), field, from_obj)


def _del_attr(model, attr_name):
    *prefix, field = attr_name.split(".")
    delattr(_walk(model, prefix), field)


def _get_attr(model, attr_name):
    return _get_attr_via_attr_list(model, attr_name.split("."))


def _get_attr_via_attr_list(model, attr_list):
    for name in attr_list:
        model = getattr(model, name)
    return model


def _has_attr(model, attr_name):
    *prefix, field = attr_name.split(".")
    module = _walk(model, prefix) if all(hasattr(model, p) for p in prefix[:1]) else None
    return module is not None and hasattr(module, field)


# ---------------------------------------------------------------- pickling


class _CodeOnlyModule(torch.nn.Module):
    """A module that is only its dictionary: what unpickling traces to get a graph back."""

    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


@compatibility(is_backward_compatible=False)
def reduce_graph_module(body, import_block):
    """Makes a `GraphModule` from its pickled dictionary."""
    src = body.get("_code") or body["code"]
    return _deserialize_graph_module(_forward_from_src(import_block + src, {}), body)


@compatibility(is_backward_compatible=False)
def reduce_package_graph_module(importer, body, generated_module_name):
    forward = importer.import_module(generated_module_name).forward
    return _deserialize_graph_module(forward, body)


def _deserialize_graph_module(forward, body, graph_module_cls=None):
    """Traces `forward` on the old attributes, every module a leaf."""
    from torch.fx._symbolic_trace import Tracer

    _CodeOnlyModule.forward = forward
    tracer_cls = body.get("_tracer_cls") or Tracer

    class KeepModules(tracer_cls):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    com = _CodeOnlyModule(body)
    extras = body.get("_tracer_extras") or {}
    graph = KeepModules().trace(com, **extras)
    graph._tracer_cls = tracer_cls
    if graph_module_cls is None:
        graph_module_cls = GraphModule
    gm = graph_module_cls(com, graph, class_name="GraphModule")
    for key, value in body.items():  # what the constructor does not set
        if not hasattr(gm, key):
            setattr(gm, key, value)
    return gm


# ---------------------------------------------------------------- calls


class _WrappedCall:
    """Calls the module; on an error in generated code prints the line to stderr."""

    def __init__(self, cls, cls_call):
        self.cls = cls
        self.cls_call = cls_call

    @staticmethod
    def _generate_error_message(frame_summary):
        lineno = frame_summary.lineno
        lines = linecache.getlines(frame_summary.filename)
        if lineno is None:
            raise AssertionError("the frame has no line number")
        line = f"{lines[lineno - 1] if lineno <= len(lines) else ''}"
        before = "".join(lines[max(lineno - 2, 0):lineno - 1])
        after = "\n".join(lines[lineno:lineno + 2]) + "\n"
        mark = "~" * len(line.strip()) + "~~~ <--- HERE"
        return "\n".join([
            traceback.format_exc(),
            f"Call using an FX-traced Module, line {lineno} of the traced Module's generated "
            "forward function:",
            before + line, mark, after,
        ])

    def __call__(self, obj, *args, **kwargs):
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)
        except Exception as error:
            if not error.__traceback__:
                raise
            frames = traceback.extract_tb(error.__traceback__)
            if frames and "eval_with_key" in frames[-1].filename:
                print(_WrappedCall._generate_error_message(frames[-1]), file=sys.stderr)
                raise error.with_traceback(None) from None
            raise


@compatibility(is_backward_compatible=True)
class GraphModule(torch.nn.Module):
    """A module made of a graph. Its ``forward`` is the graph's code, its submodules, parameters and
    buffers are those that the graph names, taken from `root`.

    After a change of the graph call `recompile`. Each instance has a class of its own.

    Args:
        root: a Module, or a dict from paths to attributes.
        graph (Graph): becomes the module's (not copied).
        class_name (str): the name that the module prints.
    """

    __jit_unused_properties__ = ["graph"]

    def __new__(cls, *args, **kwargs):
        # The class made below may be derived from again: take the user's class.
        for base in cls.__mro__:
            if base.__qualname__.split(".")[-1] != "GraphModuleImpl":
                cls = base
                break

        class GraphModuleImpl(cls):
            pass

        return super().__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        self.__class__.__name__ = class_name
        if isinstance(root, torch.nn.Module):
            if hasattr(root, "training"):
                self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    if not isinstance(node.target, str):
                        raise AssertionError("the target must be a str")
                    _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            self._take(root, graph)
        else:
            raise RuntimeError("Unsupported type " + str(root) + " passed for root!")
        self.graph = graph
        self._tracer_cls = None
        tracer_cls = graph._tracer_cls
        if tracer_cls and "<locals>" not in tracer_cls.__qualname__:
            self._tracer_cls = tracer_cls
        self._tracer_extras = graph._tracer_extras or {}
        self.meta = {}
        self.shape_env = None
        self._replace_hooks = []
        self._create_node_hooks = []
        self._erase_node_hooks = []
        self._deepcopy_hooks = []

    def _take(self, root, graph):
        targets = []
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                if node.target not in root:
                    raise RuntimeError(f"Node {node!s} referenced target {node.target} but that "
                                       "target was not provided in ``root``!")
                targets.append(node.target)
        for target in sorted(targets, key=lambda t: t.count(".")):
            _assign_attr(root[target], self, target)

    # ---------------------------------------------------------------- the graph

    @property
    def graph(self):
        """The graph; setting it recompiles."""
        return self._graph

    @graph.setter
    def graph(self, g):
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The source of ``forward``."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self):
        """Makes ``forward`` anew from the graph; returns the source as a `PythonCode`."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            info = self._graph._codegen.pytree_info
            self._in_spec, self._out_spec = info.in_spec, info.out_spec
        python_code = self._graph.python_code(root_module="self")
        self._code = python_code.src
        self._lineno_map = python_code._lineno_map
        self._prologue_start = python_code._prologue_start
        cls = type(self)
        co_fields = getattr(self._graph, "_co_fields", {})
        cls.forward = _forward_from_src(self._code, python_code.globals, co_fields)
        cls_call = cls.__call__ if "__call__" in vars(cls) else None
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, cls_call)

        def call_wrapped(self, *args, **kwargs):
            return self._wrapped_call(self, *args, **kwargs)

        cls.__call__ = call_wrapped
        return python_code

    def _recompile_submodules(self):
        return [(name, module.recompile()) for name, module in self.named_modules()
                if isinstance(module, GraphModule)]

    # ---------------------------------------------------------------- submodules

    def add_submodule(self, target, m):
        """Adds a module at a path, with empty modules on the way. False if something is there that
        is no module."""
        *prefix, field = target.split(".")
        module = self
        for name in prefix:
            child = getattr(module, name, None)
            if child is None:
                child = torch.nn.Module()
                setattr(module, name, child)
            elif not isinstance(child, torch.nn.Module):
                return False
            module = child
        module.add_module(field, m)
        return True

    def delete_submodule(self, target):
        """Removes the module at a path. False if there is none."""
        *prefix, field = target.split(".")
        module = self
        for name in [*prefix, field]:
            parent = module
            if not hasattr(parent, name):
                return False
            module = getattr(parent, name)
            if not isinstance(module, torch.nn.Module):
                return False
        delattr(parent, field)
        return True

    def delete_all_unused_submodules(self):
        """Removes the modules that no node calls or reads from."""
        used = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                used.update(itertools.accumulate(node.target.split("."), "{}.{}".format))
                if node.op == "call_module":
                    try:
                        module = self.get_submodule(node.target)
                    except AttributeError:
                        continue  # lint tells about it
                    used.update(f"{node.target}.{name}" for name, _ in module.named_modules()
                                if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # ---------------------------------------------------------------- text and files

    def print_readable(self, print_output=True, include_stride=False, include_device=False,
                       colored=False, *, fast_sympy_print=False, expanded_def=False,
                       additional_meta=None):
        """The source of this module and of GraphModules in it, with comments; printed too."""
        text = _print_readable(self, self._get_name(), False, include_stride, include_device,
                               colored, expanded_def, additional_meta)
        if print_output:
            print(text)
        return text

    def __str__(self):
        note = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, note])

    def to_folder(self, folder, module_name="FxModule"):
        """Writes a Python package with this module's source and state to `folder`."""
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        torch.save(self.state_dict(), folder / "state_dict.pt")
        code = self.recompile()
        imports = "\n".join(_format_import_statement(name, obj, None)
                            for name, obj in code.globals.items())
        lines, by_pickle = [], []
        safe = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d,
                nn.BatchNorm3d)
        for name, module in self.named_children():
            if type(module) in safe:
                lines.append(f"setattr(self, '{name}', {module!r})")
                continue
            torch.save(module, folder / f"{name}.pt")
            by_pickle.append(name)
            lines.append(f"setattr(self, '{name}', torch.load(r'{folder}{os.sep}{name}.pt', "
                         f"weights_only=False)) # {_one_line(module)}")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                lines.append(f"self.register_buffer('{name}', torch.empty({list(buffer.shape)}, "
                             f"dtype={buffer.dtype}))")
        for name, param in self._parameters.items():
            if param is not None:
                lines.append(f"setattr(self, '{name}', torch.nn.Parameter(torch.empty("
                             f"{list(param.shape)}, dtype={param.dtype})))")
        lines.append(f"self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))")
        body = "".join(f"        {line}\n" for line in lines)
        forward = "\n".join("    " + line if line else line
                            for line in self.code.rstrip().split("\n"))
        (folder / "module.py").write_text(
            f"\nimport torch\n{imports}\n\nfrom torch.nn import *\nclass {module_name}"
            f"(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n{body}"
            f"{forward}\n\n"
        )
        (folder / "__init__.py").write_text("from .module import *")
        if by_pickle:
            warnings.warn("Was not able to save the following children modules as reprs -"
                          f"saved as pickled files instead: {by_pickle}", stacklevel=2)

    # ---------------------------------------------------------------- copies

    def __reduce__(self):
        state = self.__dict__.copy()
        code = self.recompile()
        imports = _format_import_block(code.globals)
        del state["_graph"]
        return reduce_graph_module, (state, imports)

    def __reduce_package__(self, exporter):
        raise NotImplementedError("torch.package of a GraphModule is not implemented")

    def _deepcopy_init(self):
        return GraphModule.__init__

    def __deepcopy__(self, memo):
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        fake = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(result, fake, fake.__dict__["_graph"])
        result.__class__.__name__ = self.__class__.__name__
        extra = ["_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
                 "_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks",
                 "_tracer_cls", "_tracer_extras"]
        for name in extra:
            if name in self.__dict__:
                setattr(result, name, fake.__dict__[name])
        result.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for name, value in result.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(result, name, value)
        for hook in self._deepcopy_hooks:
            hook(result)
        return result

    def __copy__(self):
        result = GraphModule(self, self.graph)
        result.__class__.__name__ = self.__class__.__name__
        result.meta = getattr(self, "meta", {})
        return result

    def _replicate_for_data_parallel(self):
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        return replica

    # ---------------------------------------------------------------- hooks on the graph

    @contextlib.contextmanager
    def _set_replace_hook(self, f):
        """Calls ``f(old=, new=, user=)`` when a node takes the place of another, in the block."""
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_replace_node_hook(self, f):
        _register(self._replace_hooks, f, "replace_node")

    def _unregister_replace_node_hook(self, f):
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f):
        _register(self._create_node_hooks, f, "create_node")

    def _unregister_create_node_hook(self, f):
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f):
        _register(self._erase_node_hooks, f, "erase_node")

    def _unregister_erase_node_hook(self, f):
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f):
        _register(self._deepcopy_hooks, f, "deepcopy")

    def _unregister_deepcopy_hook(self, f):
        self._deepcopy_hooks.remove(f)


def _register(hooks, f, kind):
    if not callable(f):
        raise AssertionError(f"{kind} hook must be a callable.")
    hooks.append(f)


def _one_line(module):
    return repr(module).replace("\r", " ").replace("\n", " ")


def _print_readable(module, module_name, print_output=True, include_stride=False,
                    include_device=False, colored=False, expanded_def=False,
                    additional_meta=None):
    """See `GraphModule.print_readable`."""
    from torch.nn.modules.module import _addindent

    graph = getattr(module, "graph", None)
    if not isinstance(graph, Graph):
        raise AssertionError("print_readable must be used on a module with a graph")
    code = graph.python_code("self", verbose=True, include_stride=include_stride,
                             include_device=include_device, colored=colored,
                             expanded_def=expanded_def, additional_meta=additional_meta)
    own = _addindent("    " + code.src.lstrip("\n"), 4)
    children = [""]
    for name, child in module.named_children():
        if isinstance(getattr(child, "graph", None), Graph):
            children.append(_print_readable(child, name, False, include_stride, include_device,
                                            colored))
    inner = _addindent("\n".join(children), 4)
    output = f"class {module_name}(torch.nn.Module):\n{own}{inner}"
    output = "\n".join(line.rstrip() for line in output.rstrip().split("\n")) + "\n"
    if print_output:
        print(output)
    return output
