"""What stands in for compilers: torch.jit, torch.compile, torch._dynamo, torch.onnx, settings."""

import copy
import pickle
import typing

import pytest

import torch
from torch import nn

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def double(x, n: int = 2):
    return x * n


class Model(nn.Module):
    k: torch.jit.Final[int]

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(2, 2)
        self.k = 3

    def forward(self, x):
        return self.l(x) + self.k

    @torch.jit.ignore
    def ignored(self, x) -> int:
        return 1

    @torch.jit.unused
    def unused(self, x):
        return 2


def test_scripted_things_run_as_python():
    f = torch.jit.script(double)
    assert isinstance(f, torch.jit.ScriptFunction) and f.name == "double"
    assert f(torch.ones(1)).item() == 2 and f(torch.ones(1), n=3).item() == 3
    with pytest.raises(NotImplementedError, match="ScriptFunction.save"):
        f.save("f.pt")
    m = Model()
    s = torch.jit.script(m)
    assert isinstance(s, torch.jit.ScriptModule) and s.original_name == "Model" and s.k == 3
    assert repr(s) == ("RecursiveScriptModule(\n  original_name=Model\n"
                       "  (l): RecursiveScriptModule(original_name=Linear)\n)")
    assert list(s.state_dict()) == ["l.weight", "l.bias"]
    x = torch.ones(1, 2)
    assert torch.equal(s(x), m(x))
    assert not s.eval().training and not m.training
    with pytest.raises(NotImplementedError, match="torch.jit.save"):
        torch.jit.save(s, "s.pt")
    with pytest.raises(NotImplementedError, match="torch.jit.trace"):
        torch.jit.trace(m, x)
    assert torch.jit.script(s) is s


def test_marks_and_questions_of_script():
    assert Model.unused._torchscript_modifier.startswith("unused")
    assert Model.ignored._torchscript_modifier.startswith("ignore")
    assert not torch.jit.is_scripting() and not torch.jit.is_tracing()
    assert torch.jit.annotate(int, 3) == 3
    assert torch.jit.isinstance([1], typing.List[int])
    assert not torch.jit.isinstance([1], typing.List[str])
    assert torch.jit.isinstance({"a": 1}, typing.Dict[str, int])
    assert torch.jit.isinstance(None, typing.Optional[int])
    assert not torch.jit.isinstance((1, 2), typing.Tuple[int, str])
    assert torch.jit.script_if_tracing(double)(2) == 4
    with pytest.raises(RuntimeError, match="Only `pass` statement or `...` can be the body"):
        torch.jit._overload(double)
    assert torch.jit.wait(torch.jit.fork(double, 4)) == 8


def test_futures():
    future = torch.futures.Future()
    assert not future.done()
    later = future.then(lambda f: f.wait() + 1)
    seen = []
    future.add_done_callback(lambda f: seen.append(f.value()))
    future.set_result(1)
    assert future.wait() == 1 and later.wait() == 2 and seen == [1]
    with pytest.raises(RuntimeError, match="Attempting to mark a completed Future"):
        future.set_result(2)
    bad = torch.futures.Future()
    bad.set_exception(ValueError("boo"))
    with pytest.raises(ValueError, match="boo"):
        bad.wait()
    assert torch.futures.wait_all([future, later]) == [1, 2]
    assert [f.value() for f in torch.futures.collect_all([future, later]).wait()] == [1, 2]


def test_compile():
    m = Model()
    c = torch.compile(m, backend="eager")
    assert isinstance(c, torch._dynamo.OptimizedModule) and c._orig_mod is m
    assert list(c.state_dict()) == ["_orig_mod.l.weight", "_orig_mod.l.bias"]
    assert torch.equal(c(torch.ones(1, 2)), m(torch.ones(1, 2))) and c.k == 3
    assert not c.eval().training and not m.training
    c.k = 5
    assert m.k == 5
    assert pickle.loads(pickle.dumps(c)).k == 5 and copy.deepcopy(c).k == 5
    f = torch.compile(double, backend="eager")
    assert f(3) == 6 and f.__name__ == "double" and f._torchdynamo_orig_callable is double
    assert torch.compile(backend="eager")(double)(3) == 6
    assert torch.compile(double, disable=True) is double
    late = torch.compile(double)
    with pytest.raises(NotImplementedError, match="backend='inductor'"):
        late(3)
    with pytest.raises(RuntimeError, match="Invalid backend: 'nope'"):
        torch.compile(double, backend="nope")
    with pytest.raises(RuntimeError, match="Either mode or options"):
        torch.compile(double, mode="a", options={})
    with pytest.raises(AssertionError, match="A callable function is expected"):
        torch.compile(3, backend="eager")


def test_settings_modules():
    import torch._dynamo.config as config

    assert config.cache_size_limit == config.recompile_limit == 8
    with config.patch(cache_size_limit=16):
        assert config.recompile_limit == 16
    assert config.recompile_limit == 8
    with pytest.raises(AttributeError, match="torch._dynamo.config.foo does not exist"):
        config.foo = 1
    with pytest.raises(AttributeError, match="torch._dynamo.config.foo does not exist"):
        config.foo  # noqa: B018
    state = config.save_config()
    config.suppress_errors = True
    config.load_config(state)
    assert config.suppress_errors is False
    torch._inductor.config.triton.cudagraphs = False


def test_onnx_names():
    assert not torch.onnx.is_in_onnx_export()
    assert int(torch.onnx.TensorProtoDataType.INT64) == 7
    assert str(torch.onnx.OperatorExportTypes.ONNX) == "OperatorExportTypes.ONNX"
    with pytest.raises(NotImplementedError, match="torch.onnx.export"):
        torch.onnx.export(Model(), (torch.ones(1, 2),), "m.onnx")
    from torch.onnx.symbolic_helper import parse_args

    @parse_args("v", "i", "is")
    def rule(g, x, n, sizes):
        return x, n, sizes

    assert rule(None, "x", 2.0, [1.0, 2.0]) == ("x", 2, [1, 2])


def test_promotion_rules_as_functions():
    import torch._prims_common as utils

    kind = utils.ELEMENTWISE_TYPE_PROMOTION_KIND
    a, b = torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.int64)
    assert utils.elementwise_dtypes(a, b, type_promotion_kind=kind.DEFAULT) == (
        torch.float32, torch.float16)
    assert utils.elementwise_dtypes(b, type_promotion_kind=kind.INT_TO_FLOAT) == (
        torch.float32, torch.float32)
    assert utils.elementwise_dtypes(b, 2.5, type_promotion_kind=kind.DEFAULT)[1] == torch.float32
    assert utils.make_contiguous_strides_for((2, 3, 4)) == (12, 4, 1)
    assert utils.make_channels_last_2d_strides_for((2, 3, 4, 5)) == (60, 1, 15, 3)
    with pytest.raises(IndexError, match="Dimension out of range"):
        utils.canonicalize_dim(2, 3)


def test_decompositions_by_registration():
    from torch._decomp import get_decompositions, register_decomposition

    table = {}

    @register_decomposition(torch.ops.aten.sigmoid, table)
    def sigmoid(x):
        return 1 / (1 + torch.exp(-x))

    assert table[torch.ops.aten.sigmoid.default] is sigmoid
    with pytest.raises(RuntimeError, match="duplicate registrations"):
        register_decomposition(torch.ops.aten.sigmoid.default, table)(sigmoid)
    assert get_decompositions([torch.ops.aten.tanh]) == {}


def test_associative_scan():
    from torch._higher_order_ops.associative_scan import associative_scan

    x = torch.randn(3, 7, dtype=torch.float64)
    assert torch.allclose(associative_scan(torch.add, x, 1), x.cumsum(1))
    assert torch.allclose(associative_scan(torch.mul, x, 0, reverse=True),
                          x.flip(0).cumprod(0).flip(0))
    a, b = torch.rand(5), torch.rand(5)
    got = associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b), 0)
    state, expected = 0.0, []
    for i in range(5):
        state = a[i] * state + b[i]
        expected.append(float(state))
    assert got[1].tolist() == pytest.approx(expected)


def test_make_fx():
    from torch.fx.experimental.proxy_tensor import get_proxy_mode, make_fx

    seen = []

    def f(x, y):
        seen.append(get_proxy_mode())
        return torch.autograd.grad((x * y).sin().sum(), x)[0]

    x, y = torch.randn(3, requires_grad=True), torch.randn(3)
    gm = make_fx(f)(x, y)
    assert seen[0] is not None and get_proxy_mode() is None
    assert gm.code.startswith("\n\n\ndef forward(self, x_1, y_1):\n    "
                              "mul = torch.ops.aten.mul.Tensor(x_1, y_1)")
    u, v = torch.randn(3, requires_grad=True), torch.randn(3)
    assert torch.allclose(gm(u, v), f(u, v))
    gm = make_fx(lambda d: {"m": d["x"].max(dim=0)})({"x": torch.eye(2)})
    assert gm({"x": torch.tensor([[1.0, 2.0], [3.0, 0.0]])})["m"].values.tolist() == [3, 2]
    gm = make_fx(lambda x: x.sigmoid(), {
        torch.ops.aten.sigmoid.default: lambda x: torch.exp(-x)})(torch.ones(2))
    assert [str(n.target) for n in gm.graph.nodes if n.op == "call_function"] == [
        "aten.neg.default", "aten.exp.default"]
