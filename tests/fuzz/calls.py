"""What is called: every registered operator with its schema, and every public function."""

import keyword
import operator

import torch

import values

SPACES = {
    "torch": torch,
    "F": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch.special": torch.special,
    "torch.Tensor": torch.Tensor,
    "torch.nn.init": torch.nn.init,
    "torch.signal.windows": torch.signal.windows,
    "torch.autograd.functional": torch.autograd.functional,
    "operator": operator,
}
# They change the process, read files, run what they are given, or are not about tensors.
LEFT_OUT = set(
    """set_num_threads set_num_interop_threads from_file load save compile set_default_device
    set_default_dtype set_default_tensor_type set_printoptions set_flush_denormal set_warn_always
    set_rng_state seed manual_seed initial_seed use_deterministic_algorithms fork wait
    set_deterministic_debug_mode set_float32_matmul_precision import_module vmap share_memory_
    set_grad_enabled set_anomaly_enabled attrgetter methodcaller itemgetter boolean_dispatch
    has_torch_function handle_torch_function assert_int_or_pair get_file_path
    prepare_multiprocessing_environment call indexOf countOf length_hint concat lobpcg typename sys
    os""".split()
)
MORE = {  # with types, for what has no entry in the registry
    "operator.getitem": ["Tensor", "index"],
    "operator.setitem": ["Tensor", "index", "wild"],
    "torch.tensor": ["wild"],
    "torch.as_tensor": ["wild"],
    "torch.Tensor.to": ["Tensor", "wild"],
    "torch.Tensor.new_tensor": ["Tensor", "wild"],
    "torch.Tensor.set_": ["Tensor", "Tensor", "int", "int[]", "int[]"],
    "torch.Tensor.resize_": ["Tensor", "int[]"],
    "torch.einsum": ["str", "Tensor", "Tensor"],
}
MORE = {**MORE, **{f"operator.{n}": ["Tensor", "wild"] for n in "iadd isub imul and_ or_".split()}}


class Target:
    def __init__(self, source, arguments=None):
        self.source = source
        self.arguments = arguments  # [(type, name or "" if positional, required)] or None


def schema_arguments(schema):
    out = []
    for a in schema.arguments:
        kind = str(getattr(a, "real_type", a.type)) if False else str(a.type)
        kind = kind.replace("List[", "").replace("Optional[", "")
        out.append((kind, a.name if a.kwarg_only else "", not a.has_default_value()))
    return out


def text_arguments(text):
    """The arguments of ``name(Tensor self, int[2] k, *, bool b=False) -> Tensor``."""
    inside = text[text.index("(") + 1 : text.rindex(") ->")]
    out, depth, start, parts = [], 0, 0, []
    for i, c in enumerate(inside + ","):
        depth += c in "([" and 1 or c in ")]" and -1 or 0
        if c == "," and depth == 0:
            parts.append(inside[start:i].strip())
            start = i + 1
    only = False
    for p in filter(None, parts):
        if p == "*":
            only = True
            continue
        kind, _, name = p.partition(" ")
        name, _, default = name.partition("=")
        out.append((kind.split("(")[0], name if only else "", not default))
    return out


# Their work grows with a number, as the caller asked.
LONG = {"mvlgamma", "mvlgamma_", "multigammaln"}


def registered(private):
    """Private operators have no counterpart in PyTorch: formulas call them."""
    for name, overload in torch._C._all_ops():
        if name in LONG or (name.startswith("_") and not (private or hasattr(torch, name))):
            continue
        if name.isidentifier() and not keyword.iskeyword(name) and name not in LEFT_OUT:
            packet = f"torch.ops.aten.{name}"
            info = torch._C._op_info(torch._C._find_op(name, overload))
            yield name, Target(f"{packet}.{overload or 'default'}", text_arguments(info["schema"]))


def targets(private=False):
    out, kinds = [], {}
    for name, target in registered(private):
        out.append(target)
        kinds.setdefault(name, []).append(target.arguments)
    for space, owner in SPACES.items():
        for name in sorted(set(dir(owner)) - LEFT_OUT):
            if name in LONG or keyword.iskeyword(name) or (name[0] == "_" and name not in kinds):
                continue
            source = f"{space}.{name}"
            f = getattr(owner, name, None)
            if not callable(f) or isinstance(f, type) or source in MORE:
                continue
            plain = name[:-1] if space == "torch.Tensor" and name.endswith("_") else name
            known = kinds.get(name) or kinds.get(plain) or kinds.get(f"{space[6:]}_{name}")
            if space == "operator":
                known = [[("Tensor", "", True), ("wild", "", True)]]
            out += [Target(source, a) for a in known or [None]]
    out += [Target(s, [(k, "", True) for k in ks]) for s, ks in MORE.items()]
    return out


def arguments(target, v):
    r = v.rng
    if target.arguments is None or r.random() < 0.08:
        first = [v.tensor()] if target.source.startswith("torch.Tensor.") else []
        return first + [v.wild() for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4, 5]))]
    out, keep = [], r.random()
    for kind, name, required in target.arguments:
        if name:
            if required or r.random() < 0.3:
                out.append(f"{name}={v.of_type(kind)}")
        elif required or (len(out) == 0 or r.random() < keep):
            out.append(v.of_type(kind))
        else:
            keep = -1
    if r.random() < 0.04 and out:
        out.pop(r.randrange(len(out)))
        out = [a for a in out if "=" not in a.split("(")[0]]
    elif r.random() < 0.05 and not any(a.startswith("out=") for a in out):
        out.append("out=" + v.tensor())
    return out


def call(target, rng):
    """The source of one call."""
    return f"{target.source}({', '.join(arguments(target, values.Values(rng)))})"
