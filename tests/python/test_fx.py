"""torch.fx: traced graphs, their code, and changes of them. Texts are PyTorch's, recorded."""

import copy
import math
import operator
import pickle
import textwrap

import pytest

import torch
import torch.fx as fx
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.seq = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.w = nn.Parameter(torch.ones(8))
        self.register_buffer("buf", torch.zeros(8))

    def forward(self, x, y=1, *args, scale: float = 2.0, **kw):
        a = self.bn(self.conv(x))
        b = self.seq(a) + self.w - self.buf
        c = torch.cat([b, b], dim=-1)[..., :4][:, None, 0:2]
        d = c.relu().view(c.shape[0], -1)
        e = F.dropout(d, p=0.5, training=self.training)
        f = e * scale + y
        z = 2 - (-f) @ (-f).t()
        z = abs(2 ** z // 3 % 2) < 1
        return {"out": f, "t": (f, e)}, 1 | z & z, torch.float32, float("inf"), slice(1, 2), [1, 2]


def body(function, **kwargs):
    """The statements of a traced function."""
    lines = fx.symbolic_trace(function, **kwargs).code.strip("\n ").split("\n")
    return [line.strip() for line in lines[1:]]


def test_code_and_graph_of_a_module():
    gm = fx.symbolic_trace(Net())
    assert gm.code.startswith(
        "\n\n\ndef forward(self, x, y = 1, scale : float = 2.0, *args, **kw):\n"
        "    _args = args\n    _kw = kw\n    conv = self.conv(x);  x = None\n"
        "    bn = self.bn(conv);  conv = None\n"
        '    seq_0 = getattr(self.seq, "0")(bn);  bn = None\n'
    )
    lines = [line.strip() for line in gm.code.split("\n")]
    for expected in [
        "w = self.w",
        "add = seq_1 + w;  seq_1 = w = None",
        "cat = torch.cat([sub, sub], dim = -1);  sub = None",
        "getitem = cat[(Ellipsis, slice(None, 4, None))];  cat = None",
        "getattr_1 = getitem_1.shape;  getitem_1 = None",
        "view = relu.view(getitem_2, -1);  relu = getitem_2 = None",
        "dropout = torch.nn.functional.dropout(view, p = 0.5, training = True, inplace = False);"
        "  view = None",
        "add_1 = mul + y;  mul = y = None",
        "sub_1 = 2 - matmul;  matmul = None",
        "pow_1 = 2 ** sub_1;  sub_1 = None",
        "abs_1 = _operator_abs(mod);  mod = None",
        "and_ = lt & lt;  lt = None",
        "return ({'out': add_1, 't': (add_1, dropout)}, or_, torch.float32, inf, "
        "slice(1, 2, None), [1, 2])",
    ]:
        assert expected in lines
    graph = str(gm.graph).split("\n")
    assert graph[0] == "graph():"
    assert "    %y : [num_users=1] = placeholder[target=y](default=1)" in graph
    assert "    %scale : float [num_users=1] = placeholder[target=scale](default=2.0)" in graph
    assert "    %w : [num_users=1] = get_attr[target=w]" in graph
    assert ("    %add : [num_users=1] = call_function[target=operator.add](args = (%seq_1, %w), "
            "kwargs = {})") in graph
    assert ("    %getattr_1 : [num_users=1] = call_function[target=builtins.getattr]"
            "(args = (%getitem_1, shape), kwargs = {})") in graph
    assert str(gm).startswith("Net(\n  (conv): Conv2d(3, 4,")
    assert str(gm).endswith(
        "# To see more debug info, please use `graph_module.print_readable()`")


def test_a_traced_module_computes_the_same():
    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.lst = nn.ModuleList([nn.ReLU(), nn.Linear(2, 2)])
            self.p = nn.Parameter(torch.ones(2))
            self.k = [torch.ones(1)]

        def forward(self, x: torch.Tensor, y: int = 3) -> torch.Tensor:
            for m in self.lst:
                x = m(x)
            return x + self.p + self.k[0] + y

    m = Small()
    gm = fx.symbolic_trace(m)
    x = torch.randn(3, 2)
    assert torch.equal(gm(x), m(x)) and torch.equal(gm(x, 1), m(x, 1))
    assert "def forward(self, x : torch.Tensor, y : int = 3) -> torch.Tensor:" in gm.code
    assert [n for n, _ in gm.named_buffers()] == ["_tensor_constant0"]
    assert getattr(gm.lst, "0") is m.lst[0]
    for other in (copy.deepcopy(gm), pickle.loads(pickle.dumps(gm)), copy.copy(gm)):
        assert other.code == gm.code
        assert torch.equal(other(x), m(x))


def test_values_that_functions_meet():
    assert body(lambda x: (x.shape, x.foo.bar(1))) == [
        "getattr_1 = x.foo", "bar = getattr_1.bar(1);  getattr_1 = None",
        "getattr_2 = x.shape;  x = None", "return (getattr_2, bar)"]
    assert body(lambda x: torch.ones(2) + x) == [
        "_tensor_constant0 = self._tensor_constant0",
        "add = _tensor_constant0.add(x);  _tensor_constant0 = x = None", "return add"]
    assert body(lambda x: torch.special.erf(x).size(-1))[-1] == "return size"
    assert body(lambda x: x * (1 + 2j)) == ["mul = x * (1+2j);  x = None", "return mul"]
    assert body(lambda input: -input) == [
        "input_1 = input", "neg = -input_1;  input_1 = None", "return neg"]
    text = fx.symbolic_trace(lambda x: math.sqrt(x)).code
    assert 'torch.fx._symbolic_trace.wrap("math_sqrt")' in text
    assert "sqrt = math_sqrt(x);  x = None" in text

    def unpack(x):
        a, b = x.split(2)
        return a + b

    assert body(unpack)[1:3] == ["getitem = split[0]", "getitem_1 = split[1];  split = None"]
    assert body(lambda x: torch._assert(x.sum() > 0, "m"))[-2] == (
        "_assert = torch._assert(gt, 'm');  gt = None")


@pytest.mark.parametrize("function, error, words", [
    (lambda x: 1 if x > 0 else 2, fx.proxy.TraceError, "inputs to control flow"),
    (lambda x: [a for a in x], fx.proxy.TraceError, "Proxy object cannot be iterated"),
    (lambda x: len(x), RuntimeError, "'len' is not supported in symbolic tracing"),
    (lambda x: int(x), TypeError, "Proxy"),
    (lambda x: nn.Linear(2, 2)(x), NameError, "module is not installed as a submodule"),
    (lambda x: (x, object()), NotImplementedError, "argument of type: <class 'object'>"),
])
def test_what_cannot_be_traced(function, error, words):
    with pytest.raises(error, match=words):
        fx.symbolic_trace(function)


def test_concrete_arguments():
    def f(x, n=3, flag=True):
        return x * n if flag else x + n

    gm = fx.symbolic_trace(f, concrete_args={"flag": True, "n": 5})
    assert gm.code.split("\n")[3:6] == [
        "def forward(self, x, n_1 = 3, flag_1 = True):",
        "    eq = n_1 == 5;  n_1 = None",
        "    _assert = torch._assert(eq, 'n has been specialized to have value 5 but got another "
        "value');  eq = _assert = None",
    ]
    assert gm(torch.ones(1), 5, True).item() == 5
    with pytest.raises(AssertionError, match="n has been specialized to have value 5"):
        gm(torch.ones(1), 4, True)

    def g(d, flag):
        return {"r": d["a"] + d["b"][0]} if flag else d["a"]

    gm = fx.symbolic_trace(g, concrete_args={"d": {"a": fx.PH, "b": [fx.PH]}, "flag": True})
    assert ("d_1, d_2, flag_1, = fx_pytree.tree_flatten_spec([d, flag], self._in_spec)"
            in gm.code)
    assert "return pytree.tree_unflatten([add], self._out_spec)" in gm.code
    arguments = {"a": torch.ones(1), "b": [torch.ones(1)]}, True
    assert gm(*arguments)["r"].item() == 2
    assert fx.Interpreter(gm).run(*arguments)["r"].item() == 2


def test_building_a_graph():
    g = fx.Graph()
    x, y = g.placeholder("x"), g.placeholder("x")
    a = g.call_function(torch.add, (x, y))
    b = g.call_function(operator.add, (a, 1))
    c = g.call_method("add", (b, a), {"alpha": 2})
    out = g.output((a, [b, c], {"d": c}))
    assert [n.name for n in g.nodes] == ["x", "x_1", "add", "add_1", "add_2", "output"]
    assert list(a.users) == [b, c, out] and b.all_input_nodes == [a] and x < a < b
    g.lint()
    with pytest.raises(RuntimeError, match="Tried to erase Node add but it still had 3 users"):
        g.erase_node(a)
    with pytest.raises(TypeError, match="'immutable_list' object does not support mutation"):
        out.args[0][1].append(1)
    with pytest.raises(ValueError, match="but a Callable is expected"):
        g.call_function("abc")
    assert b.replace_all_uses_with(a) == [c, out] and b.users == {}
    assert c.args == (a, a)
    assert g.eliminate_dead_code() and b not in list(g.nodes)
    x.append(c)
    with pytest.raises(RuntimeError, match="Argument 'add' of Node 'add_2' was used before it has"):
        g.lint()
    assert g.find_nodes(op="placeholder") == [x, y]
    assert g.find_nodes(op="call_function", target=torch.add) == [a]
    assert fx.node.map_arg({"k": [x, (y, slice(x, None))]}, lambda n: n.name) == {
        "k": ["x", ("x_1", slice("x", None))]}


def test_editing_and_insertion_points():
    gm = fx.symbolic_trace(lambda x: (x + 1).relu())
    relu = gm.graph.find_nodes(op="call_method", target="relu")[0]
    with gm.graph.inserting_after(relu):
        new = gm.graph.call_function(torch.sigmoid, (relu,))
    relu.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
    gm.recompile()
    assert gm(torch.zeros(1)).item() == pytest.approx(torch.sigmoid(torch.ones(1)).item())
    other = copy.deepcopy(gm.graph)
    assert str(other) == str(gm.graph) and other is not gm.graph
    with gm.graph.on_generate_code(lambda _: lambda lines: ["# hello\n", *lines]):
        assert "    # hello\n    add = x + 1" in gm.recompile().src


def test_many_nodes_between_two_keep_their_order():
    g = fx.Graph()
    first, last = g.placeholder("a"), g.placeholder("b")
    made = []
    for i in range(200):
        with g.inserting_before(last) if i % 2 else g.inserting_after(first):
            made.append(g.call_function(torch.neg, (first,)))
    order = list(g.nodes)
    assert sorted(made) == [n for n in order if n in set(made)]
    assert all(a < b for a, b in zip(order, order[1:]))


def test_interpreter_and_transformer():
    gm = fx.symbolic_trace(lambda x: F.relu(x) + 1)
    seen = []

    class Watch(fx.Interpreter):
        def run_node(self, n):
            seen.append((n.name, [k.name for k in self.env]))
            return super().run_node(n)

    assert Watch(gm).run(torch.ones(1)).item() == 2
    assert seen == [("x", []), ("relu", ["x"]), ("add", ["relu"]), ("output", ["add"])]
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x"):
        fx.Interpreter(gm).run()
    bad = fx.symbolic_trace(lambda x: torch.matmul(x, torch.ones(5, 5)))
    with pytest.raises(RuntimeError, match="While executing %matmul"):
        fx.Interpreter(bad).run(torch.ones(2, 2))

    class Swap(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(F.gelu if target is F.relu else target, args, {})

    assert "torch._C._nn.gelu(x)" in Swap(gm).transform().code


def test_error_in_generated_code_shows_the_line(capsys):
    bad = fx.symbolic_trace(lambda x: torch.matmul(x, torch.ones(5, 5)))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        bad(torch.ones(2, 2))
    text = capsys.readouterr().err
    assert "Call using an FX-traced Module, line 6 of the traced Module's generated forward" in text
    assert "~~~ <--- HERE" in text


def test_replace_pattern():
    def f(a, b):
        c = torch.relu(a) + b
        return c - (torch.relu(c) + a)

    gm = fx.symbolic_trace(f)
    found = fx.replace_pattern(gm, lambda x, y: torch.relu(x) + y,
                               lambda x, y: torch.sigmoid(x) * y)
    assert len(found) == 2
    assert {k.name: v.name for k, v in found[1].nodes_map.items()} == {
        "add": "add_1", "relu": "relu_1", "x": "mul", "y": "a"}
    assert [line.strip() for line in gm.code.strip().split("\n")[1:]] == [
        "sigmoid = torch.sigmoid(a)", "mul = sigmoid * b;  sigmoid = b = None",
        "sigmoid_1 = torch.sigmoid(mul)", "mul_1 = sigmoid_1 * a;  sigmoid_1 = a = None",
        "sub = mul - mul_1;  mul = mul_1 = None", "return sub"]
    # A value from the middle that is used elsewhere prevents the match.
    gm = fx.symbolic_trace(lambda x: (x.relu(), x.relu().neg()))
    two = fx.symbolic_trace(lambda x: [x.relu()] + [x.relu().neg()])
    assert len(fx.replace_pattern(two, lambda x: x.relu().neg(), lambda x: x.tanh())) == 1

    class Linear(nn.Module):
        def __init__(self):
            super().__init__()
            self.new = nn.Linear(1, 1)

        def forward(self, x):
            return self.new(x)

    assert len(fx.replace_pattern(gm, lambda x: x.relu(), Linear())) == 2
    assert isinstance(gm.new, nn.Linear) and gm(torch.ones(1))[0].shape == (1,)


def test_shapes_splitting_and_fusion():
    from torch.fx.experimental.optimization import fuse
    from torch.fx.passes.shape_prop import ShapeProp
    from torch.fx.passes.split_module import split_module

    m = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()).eval()
    m[1].running_mean.fill_(0.5)
    x = torch.randn(1, 1, 2, 2)
    fused = fuse(m)
    assert [n.target for n in fused.graph.nodes if n.op == "call_module"] == ["0", "2"]
    assert torch.allclose(fused(x), m(x), atol=1e-6)
    gm = fx.symbolic_trace(lambda x, y: (x + y).relu() * 2 + x)
    ShapeProp(gm).propagate(torch.ones(2, 3), torch.ones(3))
    relu = gm.graph.find_nodes(op="call_method", target="relu")[0]
    assert relu.meta["tensor_meta"].shape == (2, 3) and relu.meta["type"] is torch.Tensor
    assert '        relu: "f32[2, 3]" = add.relu();  add = None\n' in gm.print_readable(
        print_output=False)
    numbers = {"add": 0, "relu": 0, "mul": 1, "add_1": 1}
    split = split_module(gm, gm, lambda node: numbers[node.name])
    assert "submod_1 = self.submod_1(submod_0, x);  submod_0 = x = None" in split.code
    assert split.submod_0.code.strip().endswith("return relu")
    assert torch.equal(split(torch.ones(2, 3), torch.ones(3)),
                       gm(torch.ones(2, 3), torch.ones(3)))


def test_submodules_and_folder(tmp_path):
    gm = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    assert gm.add_submodule("a.b", nn.ReLU()) and isinstance(gm.a.b, nn.ReLU)
    assert gm.delete_submodule("a.b") and not gm.delete_submodule("zzz")
    gm.delete_all_unused_submodules()
    assert [n for n, _ in gm.named_children()] == ["0"]
    gm.to_folder(tmp_path / "net", "Net")
    text = (tmp_path / "net" / "module.py").read_text()
    assert "setattr(self, '0', Linear(in_features=2, out_features=2, bias=True))" in text
    assert "class Net(torch.nn.Module):" in text
    import importlib.util

    spec = importlib.util.spec_from_file_location("net_module", tmp_path / "net" / "module.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = torch.ones(1, 2)
    assert torch.equal(module.Net()(x), gm(x))


def test_custom_tracer_and_wrap():
    class Leaves(fx.Tracer):
        def is_leaf_module(self, m, name):
            return isinstance(m, nn.Sequential) or super().is_leaf_module(m, name)

        def to_bool(self, obj):
            return True

    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.seq = nn.Sequential(nn.ReLU())

        def forward(self, x):
            return self.seq(x) if x else x

    graph = Leaves().trace(Branches())
    assert [n.target for n in graph.nodes if n.op == "call_module"] == ["seq"]
    scope = {"__name__": "scope_of_wrap"}
    exec(compile(textwrap.dedent("""
        import torch
        torch.fx.wrap("len")

        @torch.fx.wrap
        def twice(x, n):
            return [x] * int(n)

        def f(x):
            return len(x), twice(x, 2)
    """), "wrapped.py", "exec"), scope)
    gm = fx.symbolic_trace(scope["f"])
    assert "len_1 = len(x)" in gm.code and gm([1, 2, 3]) == (3, [[1, 2, 3]] * 2)
    with pytest.raises(NotImplementedError, match="wrap must be called at the top level"):
        fx.wrap("len")
    with pytest.raises(RuntimeError, match="Unsupported type for global function"):
        fx.wrap(3)


@pytest.mark.parametrize("function, expected", [
    (lambda x: F.conv3d(x, x), "torch.conv3d(x, x)"),
    (lambda x: F.prelu(x, x), "torch.prelu(x, x)"),
    (lambda x: F.gelu(x), "torch._C._nn.gelu(x)"),
    (lambda x: F.l1_loss(x, x), "torch.nn.functional.l1_loss(x, x, size_average = None, "
                                "reduce = None, reduction = 'mean')"),
    (lambda x: F.threshold(x, 0.1, 0), "torch.nn.functional._threshold(x, 0.1, 0, "
                                       "inplace = False)"),
    (lambda x: torch.linalg.norm(x), "torch._C._linalg.linalg_norm(x)"),
    (lambda x: torch.split(x, 1), "torch.functional.split(x, 1, dim = 0)"),
    (lambda x: torch.meshgrid(x, x), "torch.functional.meshgrid(x, x, indexing = None)"),
    (lambda x: torch.einsum("i->i", x), "torch.functional.einsum('i->i', x)"),
    (lambda x: torch.zeros(2, x), "torch.zeros(2, x)"),
    (lambda x: torch.full((x, 2), 1.0), "torch.full((x, 2), 1.0)"),
    (lambda x: torch.arange(x, device=x), "torch.arange(x, device = x)"),
    (lambda x: torch.is_floating_point(x), "torch.is_floating_point(x)"),
    (lambda x: torch.sym_max(x, 1), "torch.sym_max(x, 1)"),
    (lambda x: torch.ops.aten.add.Tensor(x, 1), "torch.ops.aten.add.Tensor(x, 1)"),
    (lambda x: torch.tensor_split(x, indices=(1,)), "torch.tensor_split(x, indices = (1,))"),
])
def test_how_functions_are_recorded(function, expected):
    assert body(function)[0].split(" = ", 1)[1] == expected + ";  x = None"


def test_a_tensor_meets_a_proxy():
    assert body(lambda x: torch.ones(2).view(x, 2))[1].split(" = ", 1)[1] == (
        "_tensor_constant0.view(x, 2);  _tensor_constant0 = x = None")
    assert "_tensor_constant0.__getitem__(x)" in body(lambda x: torch.ones(2)[x])[1]


def test_normalized_calls():
    from torch.fx.operator_schemas import normalize_function, normalize_module

    x = torch.ones(2, 3)
    pair = normalize_function(torch.clamp, (x,), {"min": 0.0}, (torch.Tensor,), {"min": float})
    assert pair.args[0] is x and pair.kwargs == {"min": 0.0, "max": None}
    pair = normalize_function(F.relu, (x,), normalize_to_only_use_kwargs=True)
    assert pair.args == () and pair.kwargs["input"] is x and pair.kwargs["inplace"] is False
    with pytest.raises(RuntimeError, match="the schema match was ambiguous"):
        normalize_function(torch.add, (x, 2))
    assert normalize_function(len, (x,)) is None
    assert normalize_module(nn.Sequential(nn.ReLU()), "0", (x,)).args == (x,)
    tracer = fx.Tracer()
    tracer.check_mutable_operations = True
    with pytest.raises(RuntimeError, match=r"Tried to trace mutable operation aten::relu_\("):
        tracer.trace(lambda x: torch.relu_(x))


def test_nodes_remember_their_place():
    class M(nn.Module):
        def forward(self, x):
            return x.relu()

    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    graph = tracer.trace(M())
    relu = graph.find_nodes(op="call_method", target="relu")[0]
    assert 'in forward\n    return x.relu()' in relu.stack_trace
    text = graph.python_code("self", verbose=True).src
    assert "in forward, code: return x.relu()" in text


def test_what_dead_code_elimination_keeps():
    g = fx.Graph()
    x = g.placeholder("x")
    impure = [torch.rand, torch.bernoulli, operator.setitem, torch._assert,
              torch.ops.aten.relu_.default, torch.ops.aten.bernoulli.default]
    pure = [torch.relu_, operator.iadd, print, F.dropout, torch.ops.aten.relu.default]
    assert all(g.call_function(f, (x,)).is_impure() for f in impure)
    assert not any(g.call_function(f, (x,)).is_impure() for f in pure)
    random = g.call_function(torch.ops.aten.rand.default, ([2],))
    assert random.is_impure() and not random.is_impure(impure_random=False)

    @fx.has_side_effect
    def log(x):
        return x

    assert g.call_function(log, (x,)).is_impure()
    gm = fx.symbolic_trace(nn.Sequential(nn.Dropout(), nn.ReLU()))
    assert [n.is_impure() for n in gm.graph.nodes] == [True, False, False, True]


def test_graph_modules_inside_others_and_hooks():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = fx.symbolic_trace(lambda x: x + 1)

        def forward(self, x):
            return self.inner(x) * 2

    class Leaves(fx.Tracer):
        def is_leaf_module(self, m, name):
            return True

    m = Outer()
    assert "add = x + 1" in fx.symbolic_trace(m).code
    gm = fx.GraphModule(m, Leaves().trace(m))
    assert "    class inner(torch.nn.Module):\n        def forward(self, x):\n" in (
        gm.print_readable(print_output=False))
    seen = []
    gm.register_forward_hook(lambda *a: seen.append(a[2].item()))
    assert gm(torch.ones(1)).item() == 4 and seen == [4]
    with pytest.raises(AssertionError, match="Expected FunctionType"):
        fx.symbolic_trace(torch.relu)


def test_partitions_of_what_a_backend_supports():
    from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
    from torch.fx.passes.operator_support import create_op_support

    supported = create_op_support(lambda modules, node: node.op == "call_function" and (
        node.target in (operator.add, operator.mul, torch.relu)))

    def f(a, b):
        c = a + b
        return torch.relu((c * 2).sin()) + c

    gm = fx.symbolic_trace(f)
    partitioner = CapabilityBasedPartitioner(gm, supported)
    parts = partitioner.propose_partitions()
    assert [sorted(n.name for n in p.nodes) for p in parts] == [["add_1", "relu"], ["add", "mul"]]
    fused = partitioner.fuse_partitions(parts)
    assert [line.strip() for line in fused.code.strip().split("\n")[1:]] == [
        "fused_1 = self.fused_1(a, b);  a = b = None", "getitem = fused_1[0]",
        "getitem_1 = fused_1[1];  fused_1 = None", "sin = getitem_1.sin();  getitem_1 = None",
        "fused_0 = self.fused_0(sin, getitem);  sin = getitem = None", "return fused_0"]
    x, y = torch.randn(3), torch.randn(3)
    assert torch.equal(fused(x, y), f(x, y))
    # A part may not be left and entered again.
    gm = fx.symbolic_trace(lambda a, b: (a + b) * 2 + torch.sin(a + b))
    parts = CapabilityBasedPartitioner(gm, supported, True).propose_partitions()
    assert len(parts) >= 1
    assert torch.allclose(
        CapabilityBasedPartitioner(gm, supported, True).partition_and_fuse()(x, y),
        (x + y) * 2 + torch.sin(x + y))
