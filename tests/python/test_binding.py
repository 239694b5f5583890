"""Argument binding: keywords, aliases, numbers and the texts of TypeErrors."""

import pytest

import torch


@pytest.fixture
def x():
    return torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


def message(call):
    with pytest.raises(TypeError) as caught:
        call()
    return str(caught.value)


def test_missing_and_surplus(x):
    assert message(lambda: torch.abs()) == (
        'abs() missing 1 required positional arguments: "input"'
    )
    assert message(lambda: torch.abs(x, x)) == "abs() takes 1 positional argument but 2 were given"
    assert message(lambda: torch.abs(x, foo=1)) == (
        "abs() got an unexpected keyword argument 'foo'"
    )
    assert message(lambda: torch.add(x, x, input=x)) == (
        "add() got multiple values for argument 'input'"
    )
    assert message(lambda: x.abs(1)) == "TensorBase.abs() takes no arguments (1 given)"


def test_wrong_types(x):
    assert message(lambda: torch.abs(1)) == (
        "abs(): argument 'input' (position 1) must be Tensor, not int"
    )
    assert message(lambda: x.add("a")) == (
        "add(): argument 'other' (position 1) must be Tensor, not str"
    )
    assert message(lambda: torch.add(x, x, alpha="s")) == (
        "add(): argument 'alpha' must be Number, not str"
    )
    assert message(lambda: x + "a") == "unsupported operand type(s) for +: 'Tensor' and 'str'"
    assert message(lambda: x.unsqueeze(True)) == (
        "unsqueeze(): argument 'dim' (position 1) must be int, not bool"
    )
    assert message(lambda: x.permute(["a"])) == (
        "permute(): argument 'dims' (position 1) must be tuple of ints, but found element of type "
        "str at pos 0"
    )
    assert message(lambda: torch.cat([x, 1])) == (
        "expected Tensor as element 1 in argument 0, but got int"
    )


def test_invalid_combination(x):
    text = message(lambda: x.sum("a"))
    assert text.startswith("sum() received an invalid combination of arguments - got (str), but")
    assert " * (*, torch.dtype dtype = None)\n" in text


def test_varargs_and_sequences(x):
    assert x.view(3, 2).shape == x.view((3, 2)).shape == x.view([3, 2]).shape == (3, 2)
    assert x.permute(1, 0).shape == (3, 2)
    assert torch.zeros(2, 3).shape == torch.zeros((2, 3)).shape == torch.zeros(size=(2, 3)).shape


def test_numpy_spellings(x):
    assert torch.equal(x.sum(axis=0), x.sum(dim=0)) if hasattr(torch, "equal") else True
    assert x.sum(axis=1, keepdims=True).shape == (2, 1)


def test_numbers(x):
    assert (1 + x)[0, 0] == 1.0
    assert (2 - x)[0, 1] == 1.0
    assert torch.add(1, x)[1, 2] == 6.0
    assert x.unsqueeze(torch.tensor(0)).shape == (1, 2, 3)
    numpy = pytest.importorskip("numpy")
    assert (x + numpy.float32(1))[0, 0] == 1.0
    assert x.unsqueeze(numpy.int64(0)).shape == (1, 2, 3)


def test_operators_with_foreign_types():
    class Other:
        def __radd__(self, other):
            return "other"

    assert torch.ones(1) + Other() == "other"


def test_overflow():
    with pytest.raises(ValueError, match="Overflow when unpacking long"):
        torch.zeros(1).unsqueeze(2**70)


def test_small_types():
    assert repr(torch.float32) == "torch.float32" and torch.float is torch.float32
    assert repr(torch.device("cuda", 1)) == "device(type='cuda', index=1)"
    assert str(torch.device("cuda:1")) == "cuda:1"
    assert torch.device("cpu") == torch.device("cpu") and torch.device("cpu") != "cpu"
    assert len({torch.device("cpu"), torch.device("cpu")}) == 1
    with pytest.raises(RuntimeError, match="at start of device string: foo"):
        torch.device("foo")
    size = torch.Size([2, 3])
    assert repr(size) == "torch.Size([2, 3])" and size.numel() == 6
    assert type(size[1:]) is torch.Size and type(size + (1,)) is torch.Size
    assert type((1,) + size) is torch.Size and type(size * 2) is torch.Size
    with pytest.raises(TypeError, match="item 0 is 'float'"):
        torch.Size([1.5])


def test_small_types_pickle():
    import pickle

    values = [torch.float32, torch.device("cuda:1"), torch.Size([1]), torch.strided,
              torch.channels_last, torch.per_tensor_affine]
    assert pickle.loads(pickle.dumps(values)) == values


def test_generator():
    g = torch.Generator().manual_seed(7)
    state = g.get_state()
    assert state.dtype == torch.uint8 and state.numel() == 5056
    assert torch.Generator().set_state(state).initial_seed() == 7
    assert g.clone_state().initial_seed() == 7
    assert torch.Generator().initial_seed() == 67280421310721
    with pytest.raises(RuntimeError):
        g.set_state(torch.zeros(3, dtype=torch.uint8))
