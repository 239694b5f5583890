"""gen/autograd_<family>.cpp: wrappers (modes -> native -> record) and Node classes."""

import os
import re

import emit_pointwise
from emit_api import declarations, has, ident, inplace_args, out_names, out_params, params

WORD = re.compile(r"[A-Za-z_]\w*")


def call_args(e):
    return ", ".join(a.name for a in e.args)


def names_in(text):
    return set(WORD.findall(re.sub(r'"[^"]*"', "", text)))


class Saved:
    """What the formulas of an entry mention, hence what its node keeps."""

    def __init__(self, e):
        self.tensors, self.infos, self.values, self.outputs, self.output_infos = [], [], [], [], []
        text = " ; ".join(f for _, f in e.grads)
        for a in e.args:
            tensor = a.is_tensor or a.is_list
            used_info = tensor and re.search(rf"\b{a.name}\.\w", text)
            bare = re.search(rf"\b{a.name}\b(?!\.)", text)
            if tensor and used_info:
                self.infos.append(a)
            if tensor and bare:
                self.tensors.append(a)
            if not tensor and bare:
                self.values.append(a)
        for f in e.fields:
            if re.search(rf"\b{f}\b(?!\.)", text):
                self.outputs.append(f)
            if re.search(rf"\b{f}\.\w", text):
                self.output_infos.append(f)


def rewrite(formula, saved):
    for a in saved.infos:
        formula = re.sub(rf"\b{a.name}\.info\(\)", f"{a.name}_info", formula)
        formula = re.sub(rf"\b{a.name}\.", f"{a.name}_info.", formula)
    for f in saved.output_infos:
        formula = re.sub(rf"\b{f}\.", f"{f}_info.", formula)
    return formula


# ---------------------------------------------------------------- nodes
def node(e):
    if not e.grads:
        return []
    s = Saved(e)
    out = [
        f"// {e.file}:{e.line}",
        f"struct Node_{ident(e)} final : Node {{",
        f'  std::string name() const override {{ return "{e.node_name}"; }}',
    ]
    for a in s.tensors:
        out.append(f"  {a.stored} {a.name}_;")
    for f in s.outputs:
        out.append(f"  SavedTensor {f}_;")
    for a in s.infos:
        out.append(f"  {'std::vector<TensorInfo>' if a.is_list else 'TensorInfo'} {a.name}_info;")
    for f in s.output_infos:
        out.append(f"  TensorInfo {f}_info;")
    for a in s.values:
        out.append(f"  {a.stored} {a.name};")
    lists = [a for a in e.diff_args if a.is_list]
    for a in lists:
        out.append(f"  size_t {a.name}_size = 0;")
    release = [f"{x}_.release();" for x in [a.name for a in s.tensors] + s.outputs]
    if release:
        out.append("  void release_saved() override { " + " ".join(release) + " }")
    out += saved_listing(s)
    out += apply_body(e, s)
    return out + ["};", ""]


def saved_listing(s):
    """Names for grad_fn._saved_<name>."""
    items = [
        f'if (key == "{a.name}") return box({a.name}_.unpack());'
        for a in s.tensors
        if not a.is_list
    ]
    items += [
        f'if (key == "{f}") return box({f}_.unpack(NodePtr(const_cast<Node*>(static_cast<const'
        " Node*>(this)))));"
        for f in s.outputs
    ]
    items += [
        f'if (key == "{a.name}") return box_stored({a.name});'
        for a in s.values
        if a.type != "Generator?"
    ]
    if not items:
        return []
    keys = ", ".join(re.search(r'"\w+"', i).group() for i in items)
    return (
        [
            f"  std::vector<std::string> saved_names() const override {{ return {{{keys}}}; }}",
            "  std::optional<IValue> saved(std::string_view key) const override {",
        ]
        + ["    " + i for i in items]
        + ["    return std::nullopt;", "  }"]
    )


def apply_body(e, s):
    out = ["  Grads apply(Grads&& grads) override {", "    Grads result_grads(edges.size());"]
    if e.multi or "Tensor[]" in e.returns:
        out.append("    if (none_defined(grads)) return result_grads;")
        text = " ".join(f for _, f in e.grads)
        if e.multi:
            for i, f in enumerate(e.fields):
                if re.search(rf"\bgrad_{f}\b", text):
                    out.append(f"    const Tensor grad_{f} = grad_or_zeros(*this, grads, {i});")
            if re.search(r"\bgrad\b", text):
                out.append("    const Tensor grad = grad_or_zeros(*this, grads, 0);")
    else:
        out += [
            "    if (!grads[0].defined()) return result_grads;",
            "    [[maybe_unused]] const Tensor& grad = grads[0];",
        ]
    for a in s.tensors:
        kind = "std::vector<Tensor>" if a.is_list else "Tensor"
        out.append(f"    const {kind} {a.name} = {a.name}_.unpack();")
    for f in s.outputs:
        out.append(f"    const Tensor {f} = {f}_.unpack(NodePtr(this));")
    position = {}
    at, prefix = 0, ""
    for a in e.diff_args:
        position[a.name] = f"{at}{prefix}"
        if a.is_list:
            prefix += f" + {a.name}_size"
        else:
            at += 1
    for group, formula in e.grads:
        out += grad_statement(e, group, rewrite(formula, s), position)
    return out + ["    return result_grads;", "  }"]


def grad_statement(e, group, formula, position):
    by_name = {a.name: a for a in e.args}
    if len(group) == 1:
        name, p = group[0], position[group[0]]
        if by_name[name].is_list:
            return [
                f"    if (any_edge(edges, {p}, {name}_size))",
                f"      put_list(result_grads, {p}, {formula});",
            ]
        return [f"    if (should_compute({p})) result_grads[{p}] = {formula};"]
    mask = ", ".join(f"should_compute({position[n]})" for n in group)
    out = [
        f"    if (const std::array<bool, {len(group)}> mask{{{mask}}}; any_of(mask)) {{",
        f"      auto parts = {formula};",
    ]
    for i, n in enumerate(group):
        out.append(
            f"      if (mask[{i}]) result_grads[{position[n]}] = std::get<{i}>(std::move(parts));"
        )
    return out + ["    }"]


# ---------------------------------------------------------------- wrappers
def prepare(e, inplace=False):
    """Statements that make `node` and keep what it needs of the inputs: before they are written."""
    s, self_name = Saved(e), e.args[0].name
    out = [f"node = make_intrusive<Node_{ident(e)}>();"]
    for a in e.diff_args:
        out.append(f"add_edges(*node, {a.name});")
        if a.is_list:
            out.append(f"node->{a.name}_size = {a.name}.size();")
    for a in s.tensors:
        src = "self_before" if inplace and a.name == self_name else a.name
        out.append(f"{save_condition(e, a)}node->{a.name}_ = {a.stored}({src});")
    for a in s.infos:
        out.append(f"node->{a.name}_info = tensor_info({a.name});")
    for a in s.values:
        out.append(f"node->{a.name} = store({a.name});")
    return out


def attach(e, results, inplace=False):
    """Statements that make `results`, a C++ expression, the outputs of `node`."""
    s, link, out = Saved(e), "rebase_history" if inplace else "set_history", []
    if e.multi and not inplace:
        for i, r in enumerate(e.returns):
            out.append(f"{link}(std::get<{i}>({results}), node);")
    else:
        out.append(f"{link}({results}, node);")
    for i, f in enumerate(e.fields):
        item = f"std::get<{i}>({results})" if e.multi and not inplace else results
        if f in s.outputs:
            out.append(f"{save_condition(e, f)}node->{f}_ = SavedTensor({item}, true);")
        if f in s.output_infos:
            out.append(f"node->{f}_info = tensor_info({item});")
    return out


def record(e, results):
    first, *rest = prepare(e)
    return ["auto " + first] + rest + attach(e, results)


def around_write(e, write):
    """`write` changes the first argument; the node is filled before and linked after."""
    self_name = e.args[0].name
    out = [
        f"  const bool record = {needs(e)};" if e.grads else "  const bool record = false;",
        f"  check_inplace({self_name}, record || needs_grad({self_name}));",
    ]
    if any(a.name == self_name for a in Saved(e).tensors):
        out.append(keep_self(e, self_name))
    if e.grads:
        out += [f"  intrusive_ptr<Node_{ident(e)}> node;", "  if (record) {"]
        out += ["    " + x for x in prepare(e, True)] + ["  }"]
    out += [f"  {write}", f"  bump_version({self_name});"]
    if e.grads:
        out += ["  if (record) {"] + ["    " + x for x in attach(e, self_name, True)] + ["  }"]
    return out + [f"  return {self_name};"]


def wanted_by(e, name):
    """Inputs whose gradient mentions `name`; empty when all do."""
    wanted = [n for group, f in e.grads if re.search(rf"\b{name}\b(?!\.)", f) for n in group]
    return [] if len(set(wanted)) == len(e.diff_args) else list(dict.fromkeys(wanted))


def save_condition(e, a):
    """A tensor is kept only if an input whose gradient mentions it needs one."""
    wanted = wanted_by(e, getattr(a, "name", a))
    return f"if (any_requires_grad({', '.join(wanted)})) " if wanted else ""


def keep_self(e, self_name):
    """The old value of what is written in place, for formulas that mention it."""
    wanted = wanted_by(e, self_name)
    need = f"record && any_requires_grad({', '.join(wanted)})" if wanted else "record"
    return f"  const Tensor self_before = {need} ? native_clone({self_name}) : {self_name};"


def needs(e):
    return "needs_grad(" + ", ".join(a.name for a in e.diff_args) + ")"


def space_of(e):
    return "composite" if e.kind == "composite" else "native"


def native_call(e):
    return f"{space_of(e)}::{e.data.get('impl', e.name)}({call_args(e)})"


def tensor_args(e):
    return [a.name for a in e.args if a.is_tensor or a.is_list]


def any_sparse(e, more=()):
    return "any_sparse(" + ", ".join(tensor_args(e) + list(more)) + ")"


def sparse_call(e):
    """What computes the operator of sparse arguments; None: they are refused."""
    name = e.data.get("sparse")
    if name in ("native", "composite"):
        return None
    if name == "values":
        first, rest = e.args[0].name, ", ".join(["v"] + [a.name for a in e.args[1:]])
        return (
            f"sparse::map_values({first}, [&](const Tensor& v) {{ return {space_of(e)}::"
            f"{e.data.get('impl', e.name)}({rest}); }})"
        )
    return f"sparse::{name}({call_args(e)})" if name else None


def sparse_inplace_call(e, shown):
    name, self_name = e.data.get("sparse_inplace"), e.args[0].name
    if name:
        return f"sparse::{name}({call_args(e)});"
    return f'sparse::assign({self_name}, {sparse_call(e)}, "{shown}");'


def refuse_line(e, ident_, more=()):
    names = tensor_args(e) + list(more)
    if e.kind == "composite" or e.data.get("sparse") or not names:
        return []
    return [f"  check_strided(op_{ident_}, {', '.join(names)});"]


def qualified(e):
    """The public function: an argument may have its name."""
    return f"rl::{e.name}"


def mode_line(e, fn, name, args, ret, extra=()):
    """Above autograd. A composite hands over its body, whose parts meet the modes themselves."""
    pointer = f"static_cast<{ret} (*)({params(e, names=False, extra=extra)})>(&{fn})"
    call = ", ".join(x for x in [pointer, f"op_{name}", args] if x)
    return f"  if (tls.modes & kAboveAutograd) [[unlikely]] return call_above({call});"


def parts_line(e):
    """decompose: modes that see parts see those of this body instead of the one kernel."""
    name = e.data.get("decompose")
    if not name:
        return []
    call = mode_line(e, f"composite::{name}", ident(e), call_args(e), e.cpp_return)
    return [call.replace("tls.modes & kAboveAutograd",
                         f"(tls.modes & (kProfiling | kModeStack)) || goes_below({call_args(e)})")]


def below_call(e, name, args, ret, extra=()):
    types = ", ".join(x for x in [ret, params(e, names=False, extra=extra)] if x)
    return f"call_below<{types}>({', '.join(x for x in [f'op_{name}', args] if x)})"


def native_result(e):
    """What takes the place of the kernel, or the sparse one, or the kernel."""
    below, sparse = below_call(e, ident(e), call_args(e), e.cpp_return), sparse_call(e)
    call = f"{any_sparse(e)} ? {sparse} : {native_call(e)}" if sparse else native_call(e)
    return f"goes_below({call_args(e)}) ? {below} : {call}"


def write_or_below(e, name, ret, write):
    below = below_call(e, name, call_args(e), ret)
    return f"if (goes_below({call_args(e)})) {below};\n  else {write}"


def device_check(e):
    """Structured operators read the memory of all their tensors; copy_ has words of its own."""
    tensors = [a for a in e.args if a.is_tensor or a.is_list]
    if e.kind != "structured" or e.name == "copy_":
        return []
    if len(tensors) < 2 and not any(a.is_list for a in tensors):
        return []
    args = ", ".join(a.name for a in tensors)
    return [f'  check_same_device("{e.name}", {args});']


def refusals(e):
    """Statements that raise what PyTorch raises for dtypes and gradients it does not support."""
    out = []
    tensors = [a for a in e.args if a.is_tensor]
    name = e.data.get("error_name", e.name)
    if "dtypes" in e.data and e.kind != "pointwise":
        mask = " | ".join(emit_pointwise.BITS[c] for c in emit_pointwise.classes(e))
        if tensors:
            out.append(f'  check_takes({tensors[0].name}.dtype(), {mask}, "{name}");')
        else:
            out.append(f'  if (dtype) check_takes(*dtype, {mask}, "{name}");')
    if "check" in e.data:
        out.append(f"  {e.data['check']};")
    for n in e.data.get("no_grad", []):
        if n not in [a.name for a in tensors]:
            e.fail(f"no_grad: '{n}' is no tensor argument")
        out.append(f'  if (needs_grad({n})) [[unlikely]] refuse_gradient({n}, "{e.name}", "{n}");')
    if e.data.get("no_complex_grad"):
        all_ = ", ".join(a.name for a in e.args if a.is_tensor or a.is_list)
        out.append(
            f"  if ({tensors[0].name}.is_complex() && needs_grad({all_})) [[unlikely]]"
            f' refuse_complex_gradient("{e.name}");'
        )
    return out


def wrapper(e):
    body = f"composite::{e.data.get('impl', e.name)}" if e.kind == "composite" else qualified(e)
    out = [f"{e.cpp_return} {e.name}({params(e)}) {{"] + parts_line(e)
    out.append(mode_line(e, body, ident(e), call_args(e), e.cpp_return))
    if e.data.get("sparse") == "composite":
        call = f"composite::sparse_{e.name}({call_args(e)})"
        out.append(f"  if ({any_sparse(e)}) [[unlikely]] return {call};")
    out += refuse_line(e, ident(e))
    out += device_check(e)
    out += refusals(e)
    if e.inplace_only and e.kind != "composite":
        return out + inplace_only_body(e) + ["}", ""]
    if e.kind == "composite":
        sparse = sparse_call(e)
        if sparse:
            out.append(f"  if ({any_sparse(e)}) [[unlikely]] return {sparse};")
        return out + [f"  return {native_call(e)};", "}", ""]
    if not e.grads and e.kind != "view":
        return out + [f"  return {native_result(e)};", "}", ""]
    out.append(f"  {e.cpp_return} result = {native_result(e)};")
    if e.grads:
        out.append(f"  if ({needs(e)}) {{")
        out += ["    " + x for x in record(e, "result")]
        out.append("  }")
    if e.kind == "view":
        out += view_marks(e)
    return out + ["  return result;", "}", ""]


def view_marks(e):
    """Autograd replays a view by its geometry; only a change of dtype needs the call itself."""
    first = e.args[0].name
    if e.data.get("sparse"):
        return [f"  if ({any_sparse(e)}) [[unlikely]] return result;"] + strided_view_marks(e)
    return strided_view_marks(e)


def strided_view_marks(e):
    first = e.args[0].name
    if e.returns == ["Tensor[]"]:
        return [f"  mark_views({first}, result);"]
    captures = ", ".join(f"{a.name} = store({a.name})" for a in e.args[1:])
    args = ", ".join(["base"] + [f"load({a.name})" for a in e.args[1:]])
    return [
        f"  Replay replay;",
        f"  if (result.dtype() != {first}.dtype())",
        f"    replay = [{captures}](const Tensor& base) {{ return {e.name}({args}); }};",
        f"  mark_view({first}, result, std::move(replay));",
    ]


def inplace_only_body(e):
    """f_(self, ...): the native function writes self."""
    write = f"native::{e.data.get('impl', e.name)}({call_args(e)});"
    if sparse_call(e):
        write = f"if ({any_sparse(e)}) {sparse_call(e)}; else {write}"
    return around_write(e, write_or_below(e, ident(e), e.cpp_return, write))


def inplace(e):
    self_name, name = e.args[0].name, inplace_ident(e)
    if e.kind == "composite":
        return composite_inplace(e)
    out = [f"Tensor {e.name}_({params(e)}) {{"]
    out.append(mode_line(e, qualified(e) + "_", name, call_args(e), "Tensor"))
    out += refuse_line(e, name)
    out += device_check(e)
    out += refusals(e)
    if e.kind == "pointwise":
        write = f"native::{e.name}_into({call_args(e)}, {self_name}, true);"
    elif e.kind == "view":
        write = f"adopt_geometry({self_name}, {native_call(e)});"
    else:
        write = f'write_inplace({self_name}, {native_call(e)}, "{e.name}_");'
    if sparse_call(e):
        write = f"if ({any_sparse(e)}) {sparse_inplace_call(e, e.name + '_')} else {write}"
    return out + around_write(e, write_or_below(e, name, "Tensor", write)) + ["}", ""]


def composite_inplace(e):
    name, args = inplace_ident(e), ", ".join(["old"] + [a.name for a in e.args[1:]])
    self_name = e.args[0].name
    # What the parts save of self must not be what is written afterwards.
    return [
        f"static Tensor body_{name}({params(e)}) {{",
        f"  const Tensor old = needs_grad({', '.join(tensor_args(e))}) ? clone({self_name})"
        f" : {self_name};",
        f"  const Tensor made = {e.name}({args});",
        f'  check_inplace_result({self_name}, made, "{e.name}_");',
        f"  return copy_({self_name}, made);",
        "}",
        f"Tensor {e.name}_({params(e)}) {{",
        mode_line(e, f"body_{name}", name, call_args(e), "Tensor"),
        f"  return body_{name}({call_args(e)});",
        "}",
        "",
    ]


def inplace_ident(e):
    return f"{e.name}_" + (f"_{e.overload}" if e.overload else "")


def out_variant(e):
    outs, name, composite = out_names(e), ident(e) + "_out", e.kind == "composite"
    args, signature = ", ".join([a.name for a in e.args] + outs), params(e, extra=out_params(e))
    types = ["const Tensor&"] * len(outs)
    body = f"body_{name}" if composite else qualified(e) + "_out"
    mode = mode_line(e, body, name, args, e.cpp_return, types)
    result = f"  return {'{' + ', '.join(outs) + '}' if e.multi else 'out'};"
    out = [f"static {e.cpp_return} {body}({signature}) {{"] if composite else [
        f"{e.cpp_return} {e.name}_out({signature}) {{", mode]
    out += [
        *refuse_line(e, name, outs),
        f'  check_out("{e.name}", needs_grad({", ".join(tensor_args(e) + outs)}));',
        "  NoGrad no_grad;",
        *device_check(e),
    ]
    if composite:
        out.append("  AutocastAside aside;")
    else:
        below = below_call(e, name, args, e.cpp_return, types)
        out += [f"  if (goes_below({args})) {{", f"    {below};", *bumped(outs), result, "  }"]
    if e.kind == "pointwise":
        out += [f"  check_out_device({', '.join([n] + tensor_args(e))});" for n in outs]
    if sparse_call(e) and not e.multi:
        out.append(f"  if ({any_sparse(e, outs)}) [[unlikely]] {{")
        out.append(f'    sparse::assign(out, {sparse_call(e)}, "{e.name}");')
        out += [*bumped(outs), result, "  }"]
    if e.kind != "composite":
        out += refusals(e)
    if e.kind == "pointwise":
        out.append(f"  native::{e.name}_into({call_args(e)}, out, false);")
    else:
        call = f"{e.name}({call_args(e)})" if composite else native_call(e)
        out.append(f"  auto made = {call};")
        for i, n in enumerate(outs):
            item = f"std::get<{i}>(made)" if e.multi else "made"
            cast = "true" if e.out_rule == "cast" else "false"
            out.append(f'  write_out({n}, {item}, "{e.name}", {cast});')
    out += [*bumped(outs), result, "}"]
    if composite:
        out += [f"{e.cpp_return} {e.name}_out({signature}) {{", mode,
                f"  return {body}({args});", "}"]
    return out + [""]


# The parts of a call that writes a given tensor compute in that tensor's type.
ASIDE = [
    "struct AutocastAside {",
    "  AutocastAside() : bit(tls.modes & kAutocast) { tls.modes &= uint8_t(~kAutocast); }",
    "  ~AutocastAside() { tls.modes |= bit; }",
    "  uint8_t bit;",
    "};",
]


def bumped(outs):
    return [f"  bump_version({n});" for n in outs]


BACKWARD = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src/ops/backward.h"
)


def helper_declarations(path=BACKWARD):
    """name -> declarations in backward.h. Files get only those that their formulas use, so
    that a new
    helper of one family rebuilds no other."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"//[^\n]*|^#[^\n]*|^namespace rl {|^}", "", f.read(), flags=re.M)
    out = {}
    for statement in text.split(";"):
        line = " ".join(statement.split())
        m = re.search(r"(\w+)\(", line)
        if line.startswith("using "):
            out.setdefault("using", []).append(line + ";")
        elif m:
            out.setdefault(m.group(1), []).append(line + ";")
    return out


def implementations(e):
    """(namespace, declaration) of every hand-written function that the entry's wrappers call."""
    ret = "void" if e.inplace_only and e.kind != "composite" else e.cpp_return
    out = []
    if e.kind != "pointwise":
        space = "composite" if e.kind == "composite" else "native"
        out.append((space, f"{ret} {e.data.get('impl', e.name)}({params(e)});"))
    if "decompose" in e.data:
        out.append(("composite", f"{ret} {e.data['decompose']}({params(e)});"))
    sparse = e.data.get("sparse")
    if sparse == "composite":
        out.append(("composite", f"{e.cpp_return} sparse_{e.name}({params(e)});"))
    elif sparse not in (None, "values", "native"):
        out.append(("sparse", f"{ret} {sparse}({params(e)});"))
    if e.data.get("sparse_inplace"):
        out.append(("sparse", f"void {e.data['sparse_inplace']}({params(e)});"))
    return out


def emit(family, entries, index):
    """index: op name -> (family, entry) of all families, for forward declarations."""
    used, own = set(), {e.name for e in entries}
    impls = {}
    for e in entries:
        for _, f in e.grads:
            used |= {n for n in names_in(f) if n in index and n not in own}
            used |= {n[:-4] for n in names_in(f) if n.endswith("_out") and n[:-4] in index}
        if inplace_args(e) and e.kind == "composite" and "copy_" not in own:
            used.add("copy_")
        if inplace_args(e) and e.kind == "composite" and "clone" not in own:
            used.add("clone")
        impls.update(dict.fromkeys(implementations(e), True))
    out = [
        f"// Generated from ops/{family}.yaml.",
        "#include <array>",
        "",
        '#include "autograd/recording.h"',
        '#include "core/mode_call.h"',
        f'#include "gen/ops/{family}.h"',
        '#include "ops/formula.h"',
    ]
    if any(e.kind == "pointwise" for e in entries):
        out.append(f'#include "gen/pointwise_{family}.h"')
    if any(e.kind != "pointwise" and "dtypes" in e.data for e in entries):
        out.append('#include "kernels/iter/pointwise.h"')
    out += ["", "namespace rl {", ""]
    for n in sorted(used):
        for _, e in index[n]:
            out += declarations(e)
    helpers = helper_declarations()
    out += helpers.get("using", [])
    texts = [f for e in entries for _, f in e.grads] + [e.data.get("check", "") for e in entries]
    for n in sorted({n for f in texts for n in names_in(f)}):
        out += helpers.get(n, [])
    for space in ("native", "composite", "sparse"):
        lines = [d for (s, d) in impls if s == space]
        if lines:
            out += [f"namespace {space} {{"] + lines + ["}", ""]
    out += ["namespace {", ""]
    if any(e.kind == "composite" and has(e, "out") for e in entries):
        out += ASIDE
    for e in entries:
        out += node(e)
    out += ["}  // namespace", ""]
    for e in entries:
        out += wrapper(e)
        if inplace_args(e):
            out += inplace(e)
        if has(e, "out"):
            out += out_variant(e)
    return "\n".join(out + ["}  // namespace rl", ""])
