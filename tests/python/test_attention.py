"""scaled_dot_product_attention against its definition in double precision."""

import itertools

import pytest

import torch
import torch.nn.functional as F

SHAPES = [  # batch, heads, key heads, queries, keys, head size
    (2, 4, 4, 6, 6, 8), (2, 4, 2, 130, 700, 16), (1, 2, 1, 300, 300, 33), (2, 2, 2, 1, 1100, 64)]
TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-12, torch.bfloat16: 5e-2, torch.float16: 1e-2}


def attention(q, k, v, mask, causal):
    """The definition: a softmax of all scores; rows that see nothing are zero."""
    k, v = (t.repeat_interleave(q.size(1) // t.size(1), 1) for t in (k, v))
    scores = q @ k.mT / q.size(-1) ** 0.5
    if causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -float("inf"))
    elif mask is not None:
        scores = scores + mask
    weights = scores.softmax(-1)
    return torch.where(weights.isnan(), torch.zeros_like(weights), weights) @ v


def masks(kind, batch, queries, keys):
    if kind == "bool":
        mask = torch.rand(queries, keys) > 0.3
        mask[0] = False
        return mask
    if kind == "float":
        return torch.randn(batch, 1, queries, keys, dtype=torch.float64)
    return torch.rand(batch, 1, 1, keys) > 0.3 if kind == "keys" else None


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_and_gradients(dtype, shape):
    torch.manual_seed(0)
    b, h, kv, t, s, e = shape
    for causal, kind in [(True, None), (False, None), (False, "bool"), (False, "float"),
                         (False, "keys")]:
        mask = masks(kind, b, t, s)
        ours = [torch.randn(b, n, length, e, dtype=torch.float64).to(dtype).requires_grad_()
                for n, length in ((h, t), (kv, s), (kv, s))]
        cast = mask if mask is None or mask.dtype == torch.bool else mask.to(dtype)
        out = F.scaled_dot_product_attention(*ours, cast, is_causal=causal, enable_gqa=h != kv)
        assert out.grad_fn.name() == "ScaledDotProductFlashAttentionForCpuBackward0"
        g = torch.randn(out.shape, dtype=torch.float64)
        wide = [x.detach().double().requires_grad_() for x in ours]
        expected = attention(*wide, mask, causal)
        pairs = itertools.chain(
            [(out, expected)],
            zip(torch.autograd.grad(out, ours, g.to(dtype)),
                torch.autograd.grad(expected, wide, g)))
        for a, b_ in pairs:
            b_ = torch.nan_to_num(b_)
            error = (a.double() - b_).abs().max() / (1 + b_.abs().max())
            assert error < TOLERANCE[dtype], (causal, kind, error)


def test_second_derivatives():
    q, k, v = (torch.randn(1, n, 5, 3, dtype=torch.float64, requires_grad=True)
               for n in (4, 2, 2))

    def f(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    assert torch.autograd.gradcheck(f, (q, k, v))
    assert torch.autograd.gradgradcheck(f, (q, k, v))


def test_memory_order_follows_the_query():
    q = torch.randn(2, 6, 4, 8).transpose(1, 2)
    k = torch.randn(2, 4, 6, 8)
    assert F.scaled_dot_product_attention(q, k, k).stride() == q.stride()
    assert F.scaled_dot_product_attention(k, q, q).stride() == k.stride()
    out, lse = torch._scaled_dot_product_flash_attention_for_cpu(k, k, k)
    assert lse.stride() == (24, 1, 4)
    scores = k @ k.mT / 8**0.5
    assert torch.allclose(lse, scores.logsumexp(-1), atol=1e-6)


def test_without_keys():
    q, k = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 0, 4)
    assert F.scaled_dot_product_attention(q, k, k).tolist() == torch.zeros(1, 2, 3, 4).tolist()
