"""torch.nn.attention.flex_attention: results and block masks recorded from PyTorch."""

import pytest

import torch
from torch.nn.attention.flex_attention import (
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)

pytestmark = pytest.mark.filterwarnings("ignore")
Q = torch.sin(torch.arange(2 * 2 * 5 * 4.0)).view(2, 2, 5, 4)
K = torch.cos(torch.arange(2 * 2 * 7 * 4.0)).view(2, 2, 7, 4)
V = torch.sin(torch.arange(2 * 2 * 7 * 4.0) * 2).view(2, 2, 7, 4)


def causal(b, h, q, kv):
    return q >= kv


def test_results():
    plain = flex_attention(Q, K, V)
    assert plain[0, 0, 1].tolist() == pytest.approx([0.26708, -0.19199, -0.10729, 0.28129],
                                                    abs=2e-5)
    assert torch.allclose(
        plain, torch.nn.functional.scaled_dot_product_attention(Q, K, V), atol=1e-6)
    mask = create_block_mask(causal, None, None, 5, 7, device="cpu")
    allowed = torch.ones(5, 7, dtype=torch.bool).tril()
    assert torch.allclose(
        flex_attention(Q, K, V, block_mask=mask),
        torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=allowed), atol=1e-6)
    bias = 0.1 * (torch.arange(5.0)[:, None] - torch.arange(7.0))
    assert torch.allclose(
        flex_attention(Q, K, V, score_mod=lambda s, b, h, q, kv: s + (q - kv) * 0.1),
        torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=bias), atol=1e-6)
    _, lse = flex_attention(Q, K, V, return_lse=True)
    assert lse[0, 0].tolist() == pytest.approx([2.1424, 2.0071, 2.3942, 2.1518, 1.9989], abs=1e-4)
    grouped = flex_attention(Q.repeat_interleave(2, 1), K, V, enable_gqa=True)
    assert torch.allclose(grouped, plain.repeat_interleave(2, 1), atol=1e-6)
    with pytest.raises(ValueError, match="same number of heads"):
        flex_attention(Q.repeat_interleave(2, 1), K, V)


def test_block_masks():
    mask = create_block_mask(causal, None, None, 256, 256, device="cpu")
    assert mask.shape == (1, 1, 256, 256) and mask.BLOCK_SIZE == (128, 128)
    assert mask.kv_num_blocks.tolist() == [[[1, 1]]]
    assert mask.kv_indices.tolist() == [[[[0, 1], [1, 0]]]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1]]]
    assert mask.q_num_blocks.tolist() == [[[1, 1]]] and mask.sparsity() == 25
    assert mask.to_dense().tolist() == [[[[1, 0], [1, 1]]]]
    assert str(mask) == ("BlockMask(shape=(1, 1, 256, 256), sparsity=25.00%, \n(0, 0)\n██  \n████\n"
                         ")")
    small = create_block_mask(causal, 2, 1, 300, 200, device="cpu", BLOCK_SIZE=64)
    assert small.kv_num_blocks[0, 0].tolist() == [1, 1, 1, 1, 4]
    assert small[0].shape == (1, 1, 300, 200)
    cropped = small._adjust(128, 128)
    assert cropped.shape == (2, 1, 128, 128)
    assert cropped.to_dense()[1, 0].tolist() == [[1, 0], [1, 1]]
    again = BlockMask.from_kv_blocks(mask.kv_num_blocks, mask.kv_indices, BLOCK_SIZE=128,
                                     mask_mod=causal)
    assert again.shape == (1, 1, 256, 256)
    with pytest.raises(RuntimeError, match="block_mask was created for a larger length"):
        flex_attention(Q, K, V, block_mask=mask)


def test_masks_of_functions():
    assert create_mask(causal, 1, 1, 3, 4, device="cpu")[0, 0].tolist() == [
        [True, False, False, False], [True, True, False, False], [True, True, True, False]]
    both = create_mask(and_masks(causal, noop_mask), 1, 1, 3, 4, device="cpu")
    assert torch.equal(both, create_mask(causal, 1, 1, 3, 4, device="cpu"))
    either = create_mask(or_masks(causal, lambda b, h, q, kv: kv == 3), 1, 1, 3, 4, device="cpu")
    assert either[0, 0, 0].tolist() == [True, False, False, True]
