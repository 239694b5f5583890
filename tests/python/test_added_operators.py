"""torch.library and torch.ops: dispatch keys, schemas, gradients and errors of added operators."""

from typing import List, Optional, Sequence, Tuple, Union

import pytest

import torch
from torch import Tensor
from torch._C import DispatchKey, DispatchKeySet


@pytest.fixture
def lib():
    made = torch.library.Library("rlkeys", "FRAGMENT")
    yield made
    made._destroy()


def test_composite_and_backend_implementations(lib):
    lib.define("twice(Tensor x) -> Tensor")
    lib.impl("twice", lambda x: x.sin() * 2)  # composite: differentiable by its parts
    x = torch.ones(2, requires_grad=True)
    assert torch.ops.rlkeys.twice(x).grad_fn.name() == "MulBackward0"
    lib.impl("twice", lambda x: x + 1, "CPU")
    assert torch.ops.rlkeys.twice(torch.ones(1)).item() == 2
    lib.impl("twice", lambda x: torch.empty_like(x), "Meta")
    assert torch.ops.rlkeys.twice(torch.ones(3, device="meta")).shape == (3,)
    with pytest.raises(RuntimeError, match="could not parse dispatch key: Foo"):
        lib.impl("twice", lambda x: x, "Foo")
    with pytest.raises(TypeError, match="required to be a callable"):
        lib.impl("twice", 3)


def test_autograd_key(lib):
    lib.define("grow(Tensor x) -> Tensor")
    lib.impl("grow", lambda x: x.exp(), "CPU")

    class Grow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch._C._AutoDispatchBelowAutograd():
                y = torch.ops.rlkeys.grow(x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] * 10

    lib.impl("grow", Grow.apply, "Autograd")
    x = torch.zeros(2, requires_grad=True)
    torch.ops.rlkeys.grow(x).sum().backward()
    assert x.grad.tolist() == [10, 10]
    lib.impl("grow", torch.library.fallthrough_kernel, "AutogradCPU")
    assert torch.ops.rlkeys.grow(x).grad_fn.name() == "GrowBackward"


def test_implementations_go_with_their_library(lib):
    lib.define("one(Tensor x) -> Tensor")
    lib.impl("one", lambda x: x + 1, "CPU")
    other = torch.library.Library("rlkeys", "IMPL", "CPU")
    other.impl("one", lambda x: x + 2)
    assert torch.ops.rlkeys.one(torch.zeros(1)).item() == 2
    del other
    assert torch.ops.rlkeys.one(torch.zeros(1)).item() == 1
    lib.define("unfinished(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="Could not run 'rlkeys::unfinished'"):
        torch.ops.rlkeys.unfinished(torch.ones(1))
    with pytest.raises(NotImplementedError, match="no fake impl or Meta kernel"):
        torch.ops.rlkeys.unfinished(torch.ones(1, device="meta"))


@pytest.mark.parametrize("schema, words", [
    ("zz", "only the operator name"), ("zz(Tenso x) -> Tensor", "unknown type specifier"),
    ("zz(Tensor x -> Tensor", "expected"), ("other::zz(Tensor x) -> Tensor", "namespace"),
])
def test_wrong_schemas(lib, schema, words):
    with pytest.raises(RuntimeError, match=words):
        lib.define(schema)


def test_results_are_checked(lib):
    lib.define("bad(Tensor x) -> Tensor")
    lib.impl("bad", lambda x: 3, "CPU")
    with pytest.raises(RuntimeError, match="Unable to cast 3 to Tensor"):
        torch.ops.rlkeys.bad(torch.ones(1))
    lib.define("pair(Tensor x) -> (Tensor, Tensor)")
    lib.impl("pair", lambda x: x, "CPU")
    with pytest.raises(TypeError, match="not an instance of 'sequence'"):
        torch.ops.rlkeys.pair(torch.ones(1))


def test_one_owner_of_a_namespace():
    owner = torch.library.Library("rlowned", "DEF")
    with pytest.raises(RuntimeError, match="Only a single TORCH_LIBRARY"):
        torch.library.Library("rlowned", "DEF")
    owner._destroy()
    torch.library.Library("rlowned", "DEF")._destroy()
    with pytest.raises(ValueError, match="Unsupported kind"):
        torch.library.Library("rlowned", "XX")


def test_argument_errors(lib):
    lib.define("f(Tensor x, int n=2, *, float[]? s=None) -> Tensor")
    lib.impl("f", lambda x, n=2, *, s=None: x * n, "CPU")
    f = torch.ops.rlkeys.f
    with pytest.raises(RuntimeError, match=r"rlkeys::f\(\) is missing value for argument 'x'"):
        f()
    with pytest.raises(RuntimeError, match="Expected a value of type 'int' for argument 'n' but "
                                           "instead found type 'str'"):
        f(torch.ones(1), "a")
    with pytest.raises(RuntimeError, match="Unknown keyword argument 'z' for operator 'rlkeys::f'"):
        f(torch.ones(1), z=1)
    with pytest.raises(AttributeError, match="has no overload name 'nope'"):
        f.nope
    with pytest.raises(AttributeError, match="'_OpNamespace' 'rlkeys' object has no attribute"):
        torch.ops.rlkeys.nope
    assert f(torch.ones(1), 3, s=[1, 2.5]).item() == 3


def test_lists_and_several_results():
    @torch.library.custom_op("rlkeys2::multi", mutates_args=())
    def multi(x: Tensor, ys: List[Tensor], k: float = 1.0) -> Tuple[Tensor, List[Tensor]]:
        return x * k, [y + 1 for y in ys]

    seen = {}

    def setup(ctx, inputs, output):
        seen["needs"] = ctx.needs_input_grad
        seen["types"] = (type(inputs), type(output), type(output[1]))

    def backward(ctx, g, gs):
        seen["grads"] = (type(g), type(gs))
        return g * 5, [q * 7 for q in gs], None

    multi.register_autograd(backward, setup_context=setup)
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    a, (b, c) = multi(x, [y, torch.ones(2)])
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [5, 5] and y.grad.tolist() == [7, 7]
    assert seen["needs"] == (True, True, False, False, False)
    assert seen["types"] == (tuple, tuple, list) and seen["grads"] == (Tensor, list)
    assert a.grad_fn.name() == "GeneratedBackwardFor_rlkeys2_multi_defaultBackward"


def test_keyword_only_inputs():
    @torch.library.custom_op("rlkeys2::kw", mutates_args=())
    def kw(x: Tensor, *, c: int = 1) -> Tensor:
        return x * c

    def setup(ctx, inputs, keyword_only_inputs, output):
        ctx.c = keyword_only_inputs["c"]
        assert len(inputs) == 1

    kw.register_autograd(lambda ctx, g: g * ctx.c, setup_context=setup)
    x = torch.ones(1, requires_grad=True)
    kw(x, c=4).backward()
    assert x.grad.item() == 4
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional"):
        @torch.library.custom_op("rlkeys2::mut", mutates_args={"y"})
        def mut(x: Tensor, y: Tensor) -> None:
            y.add_(x)

        mut.register_autograd(lambda ctx, g: g)


def test_aliases_are_refused():
    @torch.library.custom_op("rlkeys2::alias", mutates_args=())
    def alias(x: Tensor) -> Tensor:
        return x[1:]

    with pytest.raises(RuntimeError, match="may not alias any inputs"):
        alias(torch.ones(3))


def test_device_types_and_kernels():
    @torch.library.custom_op("rlkeys2::dev", mutates_args=(), device_types="cuda")
    def dev(x: Tensor) -> Tensor:
        return x.clone()

    with pytest.raises(NotImplementedError, match="'CPU' backend"):
        dev(torch.ones(1))
    dev.register_kernel("cpu")(lambda x: x + 1)
    assert dev(torch.ones(1)).item() == 2
    with dev.set_kernel_enabled("cpu", False):
        assert dev(torch.ones(1)).item() == 1
    with pytest.raises(RuntimeError, match="There was no fake impl registered"):
        dev(torch.ones(1, device="meta"))


def f1(x: Tensor, y: Optional[Tensor], z: List[Tensor], w: Sequence[int], a: int = 3,
       b: float = 1.5, s: str = "hi", d: torch.dtype = torch.float32,
       n: Union[int, float, bool] = 2, *, q: Optional[int] = None) -> Tuple[Tensor, List[Tensor]]:
    pass


def no_hint(x) -> Tensor:
    pass


def no_return(x: Tensor):
    pass


def list_default(x: Tensor, v: List[float] = [1.0]) -> Tensor:
    pass


def test_infer_schema():
    infer = torch.library.infer_schema
    rest = ('SymInt[] w, SymInt a=3, float b=1.5, str s="hi", ScalarType d=float32, Scalar n=2, *, '
            "SymInt? q=None) -> (Tensor, Tensor[])")
    assert infer(f1, mutates_args=()) == "(Tensor x, Tensor? y, Tensor[] z, " + rest
    assert infer(f1, mutates_args="unknown", op_name="f") == (
        "f(Tensor(a0!) x, Tensor(a1!)? y, Tensor(a2!)[] z, " + rest)
    with pytest.raises(ValueError, match="mutates_args were not found"):
        infer(f1, mutates_args={"nope"})
    with pytest.raises(ValueError, match="only Tensors or collections of Tensors can be mutated"):
        infer(f1, mutates_args={"a"})
    with pytest.raises(ValueError, match="must have a type annotation"):
        infer(no_hint, mutates_args=())
    with pytest.raises(ValueError, match="No return type annotation"):
        infer(no_return, mutates_args=())
    with pytest.raises(ValueError, match="unsupported default value"):
        infer(list_default, mutates_args=())


def test_opcheck():
    @torch.library.custom_op("rlkeys2::checked", mutates_args=())
    def checked(x: Tensor) -> Tensor:
        return x * 2

    with pytest.raises(Exception, match="test_faketensor failed with There was no fake impl"):
        torch.library.opcheck(checked, (torch.ones(2),))
    checked.register_fake(lambda x: x.new_empty(3))
    result = torch.library.opcheck(checked, (torch.ones(2),), raise_exception=False)
    assert result["test_schema"] == "SUCCESS" and "shape" in str(result["test_faketensor"])
    checked.register_fake(torch.empty_like)
    assert set(torch.library.opcheck(checked, (torch.ones(2),)).values()) == {"SUCCESS"}


def test_dispatch_key_sets():
    both = DispatchKeySet(DispatchKey.CPU) | DispatchKeySet(DispatchKey.Meta)
    assert repr(both) == "DispatchKeySet(CPU, Meta)" and both.has(DispatchKey.Meta)
    assert str(DispatchKey.CPU) == "DispatchKey.CPU" and int(DispatchKey.AutogradCPU) == 134
    assert DispatchKeySet(DispatchKey.CPU).raw_repr() == 0x10001
    keys = torch._C._dispatch_keys(torch.ones(1))
    assert repr(keys) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    assert keys.highestPriorityTypeId() == DispatchKey.AutocastCPU
    assert repr(both - DispatchKeySet(DispatchKey.CPU)) == "DispatchKeySet()"


def test_schemas_of_the_core():
    aten = torch.ops.aten
    for overload, text in [
        (aten.add.Tensor, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
                          "Tensor"),
        (aten.relu_.default, "aten::relu_(Tensor(a!) self) -> Tensor(a!)"),
        (aten.transpose.int, "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> "
                             "Tensor(a)"),
        (aten.sin.out, "aten::sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    ]:
        assert str(overload._schema) == text
    e = aten.empty.memory_format([2, 3], dtype=torch.int32, layout=torch.strided, pin_memory=False)
    assert e.shape == (2, 3) and e.dtype == torch.int32
    x = torch.ones(2)
    assert aten.mul_.Scalar(x, 3) is x and x.tolist() == [3, 3]
    dim = aten.sum.dim_IntList._schema.arguments[1]
    assert (str(dim.type), dim.type.kind(), dim.N) == ("Optional[List[int]]", "OptionalType", 1)
    info = aten.add_.Tensor._schema.arguments[0].alias_info
    assert info.is_write and info.before_set == {"a"}


def test_first_interface():
    from torch import _custom_ops

    @_custom_ops.custom_op("rlkeys3::cube")
    def cube(x: Tensor) -> Tensor:
        ...

    _custom_ops.impl("rlkeys3::cube", device_types="cpu")(lambda x: x ** 3)
    _custom_ops.impl_save_for_backward("rlkeys3::cube")(lambda inputs, output: inputs.x)
    _custom_ops.impl_backward("rlkeys3::cube")(lambda ctx, saved, g: {"x": g * 3 * saved ** 2})
    x = torch.full((1,), 2.0, requires_grad=True)
    torch.ops.rlkeys3.cube(x).backward()
    assert x.grad.item() == 12
    with pytest.raises(ValueError, match="reserved namespace"):
        _custom_ops.custom_op("aten::x")


def test_names_that_packages_import():
    from torch._library.custom_ops import CustomOpDef
    from torch._library.utils import lookup_op, mutates_and_returns_first_arg, parse_namespace

    @torch.library.custom_op("rlkeys4::plus", mutates_args=())
    def plus(x: Tensor) -> Tensor:
        return x + 1

    assert isinstance(plus, CustomOpDef) and parse_namespace("a::b") == ("a", "b")
    assert lookup_op("rlkeys4::plus") is torch.ops.rlkeys4.plus.default
    assert mutates_and_returns_first_arg(torch.ops.aten.add_.Tensor)
    assert not mutates_and_returns_first_arg(torch.ops.aten.add.Tensor)
    assert str(torch._C._get_schema("aten::relu", "")) == "aten::relu(Tensor self) -> Tensor"
    assert len(torch._C._jit_get_schemas_for_operator("aten::sin")) == 2
    assert "rlkeys4::plus" in {s.name for s in torch._C._jit_get_all_schemas()}


def test_tensor_classes_take_calls_over(lib):
    seen = []

    class Watched(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((str(func), [t.__name__ for t in types]))
            return super().__torch_function__(func, types, args, kwargs or {})

    lib.define("join(Tensor[] xs, Tensor y) -> Tensor")
    lib.impl("join", lambda xs, y: torch.cat([*xs, y]), "CPU")
    x = torch.ones(1).as_subclass(Watched)
    y = torch.ops.rlkeys.join([torch.ones(1), x], torch.zeros(1))
    assert type(y) is Watched and y.tolist() == [1, 1, 0]
    assert seen[0] == ("rlkeys.join", ["Watched"])
    seen.clear()
    assert type(torch.ops.aten.sin(x)) is Watched and seen[0] == ("aten.sin", ["Watched"])


def test_dispatch_modes_see_added_operators(lib):
    from torch.utils._python_dispatch import TorchDispatchMode

    lib.define("thrice(Tensor x, int n=3) -> Tensor")
    lib.impl("thrice", lambda x, n=3: x * n, "CPU")
    seen = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((str(func), len(args)))
            return func(*args, **(kwargs or {}))

    with Log():
        y = torch.ops.rlkeys.thrice(torch.ones(2))
        torch.ops.rlkeys.thrice(torch.ones(2), 4)
    assert y.tolist() == [3, 3]
    calls = [s for s in seen if s[0].startswith("rlkeys")]
    assert calls == [("rlkeys.thrice.default", 1), ("rlkeys.thrice.default", 2)]
    seen.clear()
    assert torch.ops.rlkeys.thrice(torch.ones(1)).item() == 3 and not seen


@pytest.mark.parametrize("text", ["a::f(" + "(" * 10000, "a::f(int[99999999999999999999] x) -> int",
                                  "a::f(int x=99999999999999999999) -> int", "a::f(\0) -> int"])
def test_hostile_schemas_are_errors(text):
    with pytest.raises((RuntimeError, ValueError)):
        torch._C.parse_schema(text)
