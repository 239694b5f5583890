"""Names for other backends, rounding to quantized steps, and segment_reduce: recorded values."""

import math

import pytest
import torch


def test_functions_of_other_backends_refuse():
    x = torch.ones(1, 1, 4, 4)
    for name in ("cudnn_convolution", "miopen_rnn", "batch_norm_stats", "native_norm", "q_scale"):
        with pytest.raises(NotImplementedError, match=f"Could not run 'aten::{name}'.*'CPU'"):
            getattr(torch, name)(x)
    with pytest.raises(NotImplementedError, match="torch.quantize_per_tensor is not implemented"):
        torch.quantize_per_tensor(x, 0.5, 0, torch.quint8)
    with pytest.raises(NotImplementedError, match="aten::int_repr"):
        x.int_repr()
    assert x.half().dequantize().dtype == torch.float32
    out = torch.mkldnn_convolution(x, torch.ones(1, 1, 3, 3), None, [0, 0], [1, 1], [1, 1], 1)
    assert out.flatten().tolist() == [9, 9, 9, 9]


def test_fake_quantize():
    y = torch.tensor([-1.0, 0.3, 0.25, 0.75, 5.0, 2.6, 1e9], requires_grad=True)
    out = torch.fake_quantize_per_tensor_affine(y, 0.5, 1, 0, 7)
    assert out.tolist() == [-0.5, 0.5, 0.0, 1.0, 3.0, 2.5, 3.0]
    out.sum().backward()
    assert y.grad.tolist() == [0, 1, 1, 1, 0, 1, 0]
    z = torch.tensor([[0.3, 0.7], [1.2, -0.4]])
    out = torch.fake_quantize_per_channel_affine(
        z, torch.tensor([0.1, 0.5]), torch.tensor([0, 2], dtype=torch.int32), 0, 0, 255)
    assert torch.allclose(out, torch.tensor([[0.3, 0.7], [1.0, -0.5]]))
    with pytest.raises(RuntimeError, match="`zero_point` must be between"):
        torch.fake_quantize_per_tensor_affine(y, 0.5, 9, 0, 7)
    with pytest.raises(RuntimeError, match="`quant_min` should be less than"):
        torch.fake_quantize_per_tensor_affine(y, 0.5, 1, 7, 0)
    with pytest.raises(RuntimeError, match="not consistent with input"):
        torch.fake_quantize_per_channel_affine(z, torch.ones(3), torch.zeros(3), 0, 0, 5)


@pytest.mark.parametrize("reduce, expected", [
    ("sum", [1, 0, 14]), ("mean", [0.5, math.nan, 3.5]), ("max", [1, -math.inf, 5]),
    ("amin", [0, math.inf, 2]), ("prod", [0, 1, 120])])
def test_segment_reduce(reduce, expected):
    d = torch.arange(6.0)
    out = torch.segment_reduce(d, reduce, lengths=torch.tensor([2, 0, 4]))
    right = torch.tensor(expected, dtype=torch.float32)
    assert torch.equal(out.nan_to_num(7), right.nan_to_num(7))


def test_segment_reduce_forms():
    d = torch.arange(6.0, requires_grad=True)
    out = torch.segment_reduce(d, "sum", offsets=torch.tensor([0, 2, 6]))
    assert out.tolist() == [1, 14]
    (out * torch.tensor([1.0, 2.0])).sum().backward()
    assert d.grad.tolist() == [1, 1, 2, 2, 2, 2]
    rows = torch.segment_reduce(d.reshape(3, 2), "max", lengths=torch.tensor([1, 2]), initial=2.5)
    assert rows.tolist() == [[2.5, 2.5], [4, 5]]
    deep = torch.segment_reduce(d.reshape(2, 3), "sum", lengths=torch.tensor([[1, 2], [3, 0]]),
                                axis=1)
    assert deep.tolist() == [[0, 3], [12, 0]]
    with pytest.raises(RuntimeError, match="Expected all rows of lengths"):
        torch.segment_reduce(d, "sum", lengths=torch.tensor([2, 3]))
    with pytest.raises(RuntimeError, match="must be either sum"):
        torch.segment_reduce(d, "foo", lengths=torch.tensor([2, 4]))


def test_einsum_of_a_list_is_traced_flat():
    from torch import fx

    graph = fx.symbolic_trace(lambda a, b: torch.einsum("ij,jk->ik", [a, b])).graph
    node = [n for n in graph.nodes if n.op == "call_function"][0]
    assert len(node.args) == 3 and node.args[0] == "ij,jk->ik"
