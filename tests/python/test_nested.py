"""torch.nested: both layouts, against what the same does to each element."""

import pytest

import torch

A, B = torch.arange(6.0).view(2, 3), torch.arange(3.0).view(1, 3)
LAYOUTS = [torch.strided, torch.jagged]


def nested(layout, **options):
    return torch.nested.nested_tensor([A, B], layout=layout, **options)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_facts(layout):
    x = nested(layout)
    assert x.is_nested and x.layout == layout and x.dim() == 3 and x.numel() == 9
    assert x.size(0) == 2 and x.size(-1) == 3 and x.dtype == torch.float32
    assert [p.tolist() for p in x.unbind()] == [A.tolist(), B.tolist()]
    assert x[1, 0].tolist() == [0, 1, 2]
    assert not A.is_nested


def test_texts():
    assert repr(nested(torch.strided)) == (
        "nested_tensor([\n  tensor([[0., 1., 2.],\n          [3., 4., 5.]]),\n"
        "  tensor([[0., 1., 2.]])\n])")
    text = repr(nested(torch.jagged))
    assert text.startswith("NestedTensor(size=(2, j")
    assert text.endswith(", 3), offsets=tensor([0, 2, 3]), contiguous=True)")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_padding(layout):
    x = nested(layout)
    want = [[[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [-1, -1, -1]]]
    assert torch.nested.to_padded_tensor(x, -1.0).tolist() == want
    assert x.to_padded_tensor(0.0, (2, 3, 3)).shape == (2, 3, 3)
    if layout == torch.strided:
        with pytest.raises(RuntimeError, match="Truncation is not supported"):
            x.to_padded_tensor(0.0, (2, 1, 3))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("f", [
    lambda x: x + x, lambda x: x * 2, lambda x: -x, torch.sin, torch.relu,
    lambda x: torch.softmax(x, -1), lambda x: x.double(), lambda x: x.unsqueeze(-1),
    lambda x: torch.nn.functional.linear(x, torch.ones(2, 3)),
    lambda x: torch.nn.functional.gelu(x), lambda x: torch.nn.functional.layer_norm(x, (3,)),
    lambda x: torch.cat([x, x], -1), lambda x: x.chunk(3, -1)[1],
])
def test_functions_of_elements(layout, f):
    out = f(nested(layout))
    assert out.is_nested and out.layout == layout
    for part, source in zip(out.unbind(), (A, B)):
        assert torch.equal(part, f(source))


def test_jagged_reductions():
    x = nested(torch.jagged)
    assert x.sum().item() == 18 and x.sum(1).tolist() == [[3, 5, 7], [0, 1, 2]]
    assert x.mean(-1).values().tolist() == [1, 4, 1]
    with pytest.raises(RuntimeError, match="reducing along a ragged and non-batch dimension"):
        x.sum((1, 2))
    y = torch.nested.nested_tensor_from_jagged(torch.arange(6.0).view(3, 2),
                                               lengths=torch.tensor([1, 2]))
    assert y.offsets().tolist() == [0, 1, 3] and y[1].tolist() == [[2, 3], [4, 5]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients(layout):
    x = nested(layout, requires_grad=True)
    torch.nested.to_padded_tensor(x * x, 0.0).sum().backward()
    assert [g.tolist() for g in x.grad.unbind()] == [(2 * A).tolist(), (2 * B).tolist()]
    a = A.clone().requires_grad_()
    y = torch.nested.as_nested_tensor([a, B], layout=layout)
    torch.nested.to_padded_tensor(y * y, 0.0).sum().backward()
    assert torch.equal(a.grad, 2 * A)


def test_errors():
    with pytest.raises(RuntimeError, match="must have the same dimension. Found dimension 1"):
        torch.nested.nested_tensor([A, torch.ones(2)])
    with pytest.raises(TypeError, match="Only lists"):
        torch.nested.nested_tensor(3)
    with pytest.raises(RuntimeError, match="is irregular and does not have a size"):
        nested(torch.strided).size(1)
    with pytest.raises(NotImplementedError, match="cumsum of nested tensors"):
        nested(torch.jagged).cumsum(0)
