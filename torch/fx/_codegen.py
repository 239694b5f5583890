"""From a `Graph` to Python source: names, the text of statements, and the shape of the function.

`torch.fx.graph` gives these names out. See `CodeGen._gen_python_code` for the order of things.
"""

import builtins
import contextlib
import enum
import keyword
import re
import types
import typing
from collections import namedtuple
from dataclasses import dataclass
from itertools import chain

import torch
import torch.fx._pytree as fx_pytree
import torch.utils._pytree as pytree
from torch.fx.node import Node, _get_qualified_name, _type_repr, dtype_abbrs, map_arg

__all__ = ["CodeGen", "PythonCode"]

_CustomBuiltin = namedtuple("_CustomBuiltin", ["import_str", "obj"])
_PyTreeInfo = namedtuple("_PyTreeInfo", ["orig_args", "in_spec", "out_spec"])
_custom_builtins = {}


def _register_custom_builtin(name, import_str, obj):
    """Generated code may use `name` as if it were a builtin: `import_str` makes it so."""
    _custom_builtins[name] = _CustomBuiltin(import_str, obj)


_register_custom_builtin("inf", "from math import inf", float("inf"))
_register_custom_builtin("nan", "from math import nan", float("nan"))
_register_custom_builtin("NoneType", "NoneType = type(None)", type(None))
_register_custom_builtin("torch", "import torch", torch)
_register_custom_builtin("device", "from torch import device", torch.device)
_register_custom_builtin("fx_pytree", "import torch.fx._pytree as fx_pytree", fx_pytree)
_register_custom_builtin("pytree", "import torch.utils._pytree as pytree", pytree)

_illegal_names = {k: object() for k in keyword.kwlist}
_illegal_names.update(builtins.__dict__)
_illegal_names.update((name, custom.obj) for name, custom in _custom_builtins.items())

_symbols = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "div": "/",
            "mod": "%", "pow": "**", "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|",
            "xor": "^"}
reflectable_magic_methods = {name: f"{{}} {symbol} {{}}" for name, symbol in _symbols.items()}
reflectable_magic_methods.update(getitem="{}[{}]", matmul="{} @ {}")
magic_methods = {"eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}",
                 "le": "{} <= {}", "ge": "{} >= {}", "pos": "+{}", "neg": "-{}", "invert": "~{}",
                 **reflectable_magic_methods}
inplace_methods = {
    "i" + name.rstrip("_"): f"{{}} {symbol}= {{}}"
    for name, symbol in {**_symbols, "matmul": "@"}.items() if name != "div"
}
inplace_methods["setitem"] = "{}[{}] = {}"

_torch_but_not_dynamo = re.compile(r"^torch(?:\.(?!_dynamo\.|_inductor\.)[^.]+)*$").fullmatch
_origin_type_map = {list: typing.List, dict: typing.Dict, set: typing.Set,
                    frozenset: typing.FrozenSet, tuple: typing.Tuple}
_colors = {"yellow": "\033[33m", "cyan": "\033[36m", "green": "\033[32m", "red": "\033[31m",
           "blue": "\033[34m", "dim": "\033[2m"}


def _is_magic(x):
    return x.startswith("__") and x.endswith("__")


def _snake_case(s):
    """``someName`` as ``some_name``."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", s).lower()


def _is_from_torch(obj):
    """Can generated code reach `obj` by its path in torch?"""
    module = getattr(obj, "__module__", None)
    if module is not None:
        return _torch_but_not_dynamo(module) is not None
    name = getattr(obj, "__name__", None)
    if name is not None and name != "torch":
        return any(getattr(m, name, None) is obj for m in (torch, torch.nn.functional))
    return False


def _format_target(base, target):
    """``base.a.b``, with getattr() for parts that are no identifiers."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


class _Namespace:
    """Gives every object or candidate a Python name of its own."""

    __module__ = "torch.fx.graph"

    def __init__(self):
        self._obj_to_name = {}
        self._used_names = set()
        self._base_count = {}

    def create_name(self, candidate, obj):
        """A free name like `candidate`; always the same for the same `obj` (if not None)."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = "_" + candidate
        match = re.fullmatch(r"(.*)_(\d+)", candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, None)
        if match:
            candidate = f"{base}_{number}"
        if not number:
            number = self._base_count.get(base, 0)
        while candidate in self._used_names or self._is_illegal_name(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name, obj):
        """Remembers that `obj` is called `name`."""
        if self._obj_to_name.setdefault(obj, name) != name:
            raise AssertionError("obj is already associated")

    def _is_illegal_name(self, name, obj):
        return name in _illegal_names and _illegal_names[name] is not obj

    def _rename_object(self, obj, name):
        if obj not in self._obj_to_name:
            raise AssertionError("obj has no name yet")
        self._obj_to_name[obj] = name
        self._used_names.add(name)


@dataclass
class PythonCode:
    """Source, and the globals that it needs."""

    __module__ = "torch.fx.graph"

    src: str
    globals: typing.Dict[str, typing.Any]
    _lineno_map: typing.Optional[typing.Dict[int, typing.Optional[int]]]
    _prologue_start: int = 0


@dataclass(frozen=True)
class _ParsedStackTrace:
    """The frame of a stack trace that a comment shows."""

    file: str
    lineno: str
    name: str
    code: str

    def get_summary_str(self):
        return f"File: {self.file}:{self.lineno} in {self.name}, code: {self.code}"


def _parse_stack_trace(stack_trace, filter_fn=None):
    """The innermost frame of a printed stack trace, None if there is none."""
    frame = re.compile(r'^\s*File "(.+)", line (\d+), in (.+)$')
    lines = stack_trace.strip().split("\n")
    for index in range(len(lines) - 2, -1, -1):
        match = frame.match(lines[index])
        if match and (filter_fn is None or filter_fn(*match.groups())):
            return _ParsedStackTrace(*match.groups(), lines[index + 1].strip())
    return None


_sym_repr = repr


@contextlib.contextmanager
def _override_sym_repr(override):
    """Symbolic numbers are written by `override` inside the block."""
    before, CodeGen._sym_repr = CodeGen._sym_repr, staticmethod(override)
    try:
        yield
    finally:
        CodeGen._sym_repr = before


class _Writer:
    """The state of writing one function: statements, globals, free variables."""

    def __init__(self, codegen, nodes, root_module, namespace, options):
        self.codegen, self.nodes, self.root = codegen, list(nodes), root_module
        self.namespace, self.options = namespace, options
        self.free_vars, self.body, self.globals, self.wrapped = [], [], {}, {}
        self.returns = ""
        self.previous_trace = None
        for name, value in chain(
            ((n, c.obj) for n, c in _custom_builtins.items()), codegen.additional_globals()
        ):
            self.add_global(name, value)

    # ---- text of values and types

    def color(self, name, text):
        return f"{_colors[name]}{text}\033[0m" if self.options["colored"] else text

    def add_global(self, name_hint, obj):
        """The name by which the code reaches `obj`, which becomes a global if need be."""
        if _is_from_torch(obj) and obj is not torch.device:
            return _get_qualified_name(obj)
        name = self.namespace.create_name(name_hint.replace(".", "_"), obj)
        self.globals.setdefault(name, obj)
        return name

    def type_repr(self, o):
        """An annotation as source; the types it names become globals."""
        if o == ():
            return "()"
        if isinstance(o, getattr(types, "UnionType", ())):
            o = typing.Union[o.__args__]
        origin = getattr(o, "__origin__", None)
        if origin is not None:
            if not isinstance(o, types.GenericAlias):
                origin = _origin_type_map.get(origin, origin)
            origin_name = self.add_global(_type_repr(origin), origin)
            args = getattr(o, "__args__", ())
            if not args:
                return origin_name
            return f"{origin_name}[{','.join(self.type_repr(a) for a in args)}]"
        return self.add_global(_type_repr(o), o)

    def value(self, arg):
        """An argument as source."""
        if isinstance(arg, Node):
            return self.color("dim", repr(arg)) if self.options["colored"] else repr(arg)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            name = self.add_global(_get_qualified_name(type(arg)), type(arg))
            return f"{name}{tuple(arg)!r}"
        if isinstance(arg, torch._ops.OpOverload):
            return _get_qualified_name(arg)
        if isinstance(arg, enum.Enum):
            cls = type(arg)
            return f"{self.add_global(cls.__name__, cls)}.{arg.name}"
        if isinstance(arg, torch.Tensor):
            size, dtype = list(arg.size()), str(arg.dtype).split(".")[-1]
            return f"torch.Tensor(size={size}, dtype={dtype})"
        if isinstance(arg, tuple):
            items = ", ".join(self.value(a) for a in arg)
            return f"({items},)" if len(arg) == 1 else f"({items})"
        if isinstance(arg, list):
            return f"[{', '.join(self.value(a) for a in arg)}]"
        if isinstance(arg, slice):
            parts = ", ".join(self.value(a) for a in (arg.start, arg.stop, arg.step))
            return f"slice({parts})"
        return repr(arg)

    def arguments(self, args, kwargs):
        return ", ".join(chain((self.value(a) for a in args),
                               (f"{k} = {self.value(v)}" for k, v in kwargs.items())))

    # ---- comments and annotations of the verbose form

    def stack_comment(self, node):
        """A comment line where the place in the program changes."""
        if node.op in ("placeholder", "output"):
            return
        trace = node.stack_trace
        if trace:
            if trace == self.previous_trace:
                return
            self.previous_trace = trace
            parsed = _parse_stack_trace(trace)
            text = parsed.get_summary_str() if parsed else ""
            self.body.append("\n" + self.color("dim", f"# {text}") + "\n")
        elif self.previous_trace != "":
            self.previous_trace = ""
            self.body.append("\n" + self.color("dim", "# No stacktrace found for following nodes")
                             + "\n")

    def shape_text(self, value):
        """``f32[2, 3][3, 1]cpu``: dtype, shape, strides and device as far as asked for."""
        text = f"{dtype_abbrs.get(value.dtype, value.dtype)}{list(value.shape)}"
        if isinstance(value, torch.Tensor):
            if self.options["include_stride"]:
                text += str(list(value.stride()))
            if self.options["include_device"]:
                text += str(value.device)
        return text

    def shape_annotation(self, node):
        value = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return f': "{self.shape_text(value)}"'
        return ""

    def annotation(self, node):
        if self.options["verbose"]:
            shaped = self.shape_annotation(node)
            if shaped:
                return shaped
        return "" if node.type is None else f" : {self.type_repr(node.type)}"

    # ---- statements

    def emit(self, node):
        text = self.annotation(node) if node.op not in ("placeholder", "output") else ""
        getattr(self, "emit_" + node.op)(node, f"{node!r}{text}")

    def emit_placeholder(self, node, left):
        default = f" = {node.args[0]!r}" if node.args else ""
        self.free_vars.append(f"{node.target}{self.annotation(node)}{default}")
        raw = node.target.replace("*", "")
        if raw != repr(node):
            self.body.append(f"{node!r} = {raw}\n")

    def emit_call_method(self, node, left):
        self.body.append(f"{left} = {_format_target(self.value(node.args[0]), node.target)}"
                         f"({self.arguments(node.args[1:], node.kwargs)})")

    def emit_call_function(self, node, left):
        target, args = node.target, node.args
        name = getattr(target, "__name__", None)
        if getattr(target, "__module__", None) == "_operator" and not node.kwargs:
            if name in magic_methods:
                operands = magic_methods[name].format(*map(self.value, args))
                self.body.append(f"{left} = {operands}")
                return
            if name in inplace_methods:
                operands = inplace_methods[name].format(*map(self.value, args))
                self.body.append(f"{operands};  {left} = {self.value(args[0])}")
                return
        qualified = _get_qualified_name(target)
        global_name = self.add_global(qualified, target)
        if (global_name == "getattr" and len(args) == 2 and isinstance(args[1], str)
                and args[1].isidentifier() and not node.kwargs):
            self.body.append(f"{left} = {_format_target(self.value(args[0]), args[1])}")
            return
        self.body.append(f"{left} = {global_name}({self.arguments(args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(global_name)

    def emit_call_module(self, node, left):
        self.body.append(f"{left} = {_format_target(self.root, node.target)}"
                         f"({self.arguments(node.args, node.kwargs)})")

    def emit_get_attr(self, node, left):
        self.body.append(f"{left} = {_format_target(self.root, node.target)}")

    def emit_output(self, node, left):
        if node.type is not None:
            self.returns = f" -> {self.type_repr(node.type)}"
        self.body.append(self.codegen.generate_output(node.args[0]))

    # ---- the whole

    def last_uses(self):
        """For each node the nodes that nothing after it uses."""
        seen, result = set(), {}

        def note(used, user):
            if used not in seen:
                seen.add(used)
                result.setdefault(user, []).append(used)

        for node in reversed(self.nodes):
            map_arg(node.args, lambda n: note(n, node))
            map_arg(node.kwargs, lambda n: note(n, node))
        return result

    def delete_unused(self, node, last_uses):
        """Ends the statement, setting to None what is not used again."""
        if node.op == "placeholder":
            return
        unused = list(last_uses.get(node, []))
        if not node.users:
            unused.append(node)
        if node.op == "output" or not unused:
            self.body.append("\n")
            return
        names = " = ".join([repr(n) for n in unused] + ["None"])
        self.body.append(self.color("dim", f";  {names}\n"))

    def write(self):
        last_uses = self.last_uses()
        marks = {}
        for index, node in enumerate(self.nodes):
            if self.options["verbose"]:
                self.stack_comment(node)
            marks[len(self.body)] = index
            self.emit(node)
            self.delete_unused(node, last_uses)
        if not self.body:
            self.body.append("pass\n")
        return marks


class CodeGen:
    """How the function of a graph begins, ends and takes its arguments."""

    __module__ = "torch.fx.graph"
    _sym_repr = staticmethod(repr)

    def __init__(self):
        self._body_transformer = None
        self._func_name = "forward"

    def _format_multiline_args(self, args):
        return "".join(f"    {arg},\n" for arg in args)

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        """The line ``def forward(self, ...):``; `expanded_def` puts each argument on a line."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if expanded_def:
            args = "\n" + self._format_multiline_args(free_vars)
        else:
            args = ", ".join(free_vars)
        return f"def {self._func_name}({args}){maybe_return_annotation}:"

    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        """The return statement."""
        return f"return {(repr_fn or repr)(output_args)}"

    def process_inputs(self, *args):
        """The values of the placeholders, from the arguments of the function."""
        return args

    def process_outputs(self, outputs):
        """What the function returns, from the value of the output node."""
        return outputs

    def additional_globals(self):
        """(name, value) pairs that the code needs besides those of its nodes."""
        return []

    def _gen_python_code(self, nodes, root_module, namespace, *, verbose=False,
                         include_stride=False, include_device=False, colored=False,
                         expanded_def=False, record_func=False, additional_meta=None):
        if record_func:
            raise NotImplementedError("torch.fx code generation with record_func=True is not "
                                      "implemented")
        options = dict(verbose=verbose, include_stride=include_stride,
                       include_device=include_device, colored=colored)
        writer = _Writer(self, nodes, root_module, namespace, options)
        marks = writer.write()
        wrapped = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped)
        body = writer.body
        if self._body_transformer:
            body, marks = self._body_transformer(body), None
        prologue = self.gen_fn_def(writer.free_vars, writer.returns, expanded_def=expanded_def)
        lines = _line_map(body, marks, prologue)
        code = "".join(body).lstrip("\n")
        code = "\n".join("    " + line for line in code.split("\n"))
        source = f"\n{wrapped}\n\n{prologue}\n{code}"
        start = wrapped.count("\n") + 4
        return PythonCode(source, writer.globals, lines, start)


def _line_map(body, marks, prologue):
    """From lines of the function's body to indices of nodes."""
    if marks is None:
        return None
    lines, line, current = {}, prologue.count("\n") + 1, None
    for index, text in enumerate(body):
        current = marks.get(index, current)
        if index in marks:
            lines[line] = current
        line += text.count("\n")
    return lines


class _BoxedCodeGen(CodeGen):
    """A function that takes one list of arguments and empties it."""

    __module__ = "torch.fx.graph"

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        plain = [v.split("=")[0].split(":")[0].strip() for v in free_vars if v != "self"]
        text = f"def {self._func_name}(self, args_list){maybe_return_annotation}:\n"
        if plain:
            text += f"    {', '.join(plain)}, = args_list\n"
        return text + "    args_list.clear()"


class _PyTreeCodeGen(CodeGen):
    """A function whose arguments and result are trees; nodes see their leaves."""

    __module__ = "torch.fx.graph"

    def __init__(self, pytree_info):
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs):
        return pytree.tree_leaves(inputs)

    def process_outputs(self, out):
        if self.pytree_info is None or self.pytree_info.out_spec is None:
            return out
        if not isinstance(out, (list, tuple)):
            out = [out]
        return pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_var_bindings(self, fn_args, free_vars, expanded_def):
        """The line that takes the leaves out of the arguments."""
        plain = [v.split("=")[0].split(":")[0].strip() for v in free_vars]
        spec = "self._in_spec"
        if not plain:
            return ""
        signature = f"[{', '.join(fn_args)}], {spec}"
        if getattr(self.pytree_info.in_spec, "num_children", 0) == 2 and _takes_kwargs(
            self.pytree_info.in_spec
        ):
            count = self.pytree_info.in_spec.child(0).num_children
            keys = self.pytree_info.in_spec.child(1).context
            names = ", ".join(f"'{k}':{n}" for k, n in zip(keys, fn_args[count:]))
            args = "".join(n + ", " for n in fn_args[:count])
            signature = f"(({args[:-1]}), {{{names}}}), {spec}"
        return f"\n    {', '.join(plain)}, = fx_pytree.tree_flatten_spec({signature})"

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation,
                                      expanded_def=expanded_def)
        args = list(self.pytree_info.orig_args)
        has_self = bool(args) and args[0] == "self"
        if has_self and "self" not in free_vars:
            free_vars.insert(0, "self")
        text = super().gen_fn_def(args[:], maybe_return_annotation, expanded_def=expanded_def)
        fn_args = args[1:] if has_self else args
        leaves = free_vars[1:] if has_self else free_vars
        return text + self.gen_var_bindings(fn_args, leaves, expanded_def)

    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        if self.pytree_info is not None and self.pytree_info.out_spec is not None:
            if not isinstance(output_args, (list, tuple)):
                output_args = [output_args]
            text = (repr_fn or repr)(output_args)
            return f"return pytree.tree_unflatten({text}, self._out_spec)"
        return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)


def _takes_kwargs(spec):
    """Is it the specification of a pair (args, kwargs)?"""
    return (spec.type is tuple and spec.child(0).type is tuple and spec.child(1).type is dict)
