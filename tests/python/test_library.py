"""torch.library, trees of containers and modes that see every operator."""

import collections
from typing import List, Optional

import pytest

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode


@torch.library.custom_op("rltest::scaled_square", mutates_args=())
def scaled_square(x: Tensor, k: float = 2.0, names: Optional[List[int]] = None) -> Tensor:
    return x * x * k


def test_custom_op():
    assert scaled_square(torch.ones(2)).tolist() == [2.0, 2.0]
    assert torch.ops.rltest.scaled_square(torch.ones(1), 3.0).tolist() == [3.0]
    assert str(torch.ops.rltest.scaled_square.default._schema) == (
        "rltest::scaled_square(Tensor x, float k=2., SymInt[]? names=None) -> Tensor"
    )
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        scaled_square(x).sum().backward()

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.k = inputs[1]

    def backward(ctx, g):
        (saved,) = ctx.saved_tensors
        return g * 2 * saved * ctx.k, None, None

    scaled_square.register_autograd(backward, setup_context=setup)
    scaled_square(x, 3.0).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    scaled_square.register_fake(lambda x, k=2.0, names=None: torch.empty_like(x))
    assert scaled_square(torch.ones(3, device="meta")).shape == (3,)


def test_library():
    lib = torch.library.Library("rltest_lib", "DEF")
    lib.define("times(Tensor a, int n=2) -> Tensor")
    lib.impl("times", lambda a, n=2: a * n, "CPU")
    assert torch.ops.rltest_lib.times(torch.ones(1), n=5).item() == 5
    with pytest.raises(RuntimeError, match="expected at most 2 argument"):
        torch.ops.rltest_lib.times(torch.ones(1), 2, 3)
    with pytest.raises(RuntimeError, match="multiple times"):
        lib.define("times(Tensor a, int n=2) -> Tensor")
    lib._destroy()
    with pytest.raises(AttributeError):
        torch.ops.rltest_lib.times


def test_mutating_op():
    @torch.library.custom_op("rltest::inc_", mutates_args={"x"})
    def inc_(x: Tensor) -> None:
        x.add_(1)

    z = torch.zeros(2)
    assert inc_(z) is None and z.tolist() == [1.0, 1.0]
    assert str(torch.ops.rltest.inc_.default._schema) == "rltest::inc_(Tensor(a0!) x) -> ()"


def test_trees():
    Point = collections.namedtuple("Point", "x y")
    tree = {"a": [1, (2, 3)], "b": Point(4, None)}
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, 3, 4, None] and pytree.tree_unflatten(leaves, spec) == tree
    assert pytree.tree_map_only(int, lambda v: v + 1, tree)["a"] == [2, (3, 4)]
    assert pytree.tree_leaves_with_path(tree)[2][0][0].key == "a"
    plain = pytree.tree_structure([1, {"k": (2,)}])
    assert pytree.treespec_loads(pytree.treespec_dumps(plain)) == plain
    with pytest.raises(ValueError):
        spec.unflatten([1])


def test_dispatch_mode():
    class Seen(TorchDispatchMode):
        def __init__(self):
            self.names = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.names.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(3, requires_grad=True)
    with Seen() as mode:
        y = (x * 2).sum()
    y.backward()
    assert mode.names == ["aten.mul.Tensor", "aten.sum.default"]
    assert x.grad.tolist() == [2.0] * 3
    torch.ones(1) + 1
    assert len(mode.names) == 2


def test_functional():
    a, b = torch.meshgrid(torch.tensor([0, 1]), torch.tensor([0, 1, 2]), indexing="xy")
    assert a.tolist() == [[0, 1], [0, 1], [0, 1]] and b.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert torch.broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(RuntimeError, match="Mismatching argument at index 1 had \\(3,\\)"):
        torch.broadcast_shapes((2,), (3,))
    assert torch.atleast_3d(torch.ones(2, 3)).shape == (2, 3, 1)
    assert torch.block_diag(torch.ones(1, 2), torch.tensor(1.0)).shape == (2, 3)
    x = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    assert torch.einsum("ij->ji", x).tolist() == [[0, 2], [1, 3]]
    assert torch.einsum("ii->i", x).tolist() == [0, 3]
    assert torch.einsum("...i->...", x).tolist() == [1, 5]
    for equation, text in [
        ("ijk", "number of subscripts in the equation"),
        ("i1", "subscripts must be in"),
        ("ij->ijk", "does not appear in the equation for any input operand"),
        ("ij->ii", "appears more than once in the output"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            torch.einsum(equation, x)
