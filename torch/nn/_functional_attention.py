"""Multi-head attention (Vaswani et al. 2017) as a function of all its weights."""

import math

import torch
from torch.nn.functional import (
    _op, _override, _warn, dropout, has_torch_function_variadic, softmax,
)


# ---- checks --------------------------------------------------------------------------------------

def _check_batched(query, key, value, key_padding_mask, attn_mask):
    assert key.dim() == 3 and value.dim() == 3, (
        "For batched (3-D) `query`, expected `key` and `value` to be 3-D but found "
        f"{key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None:
        assert key_padding_mask.dim() == 2, (
            "For batched (3-D) `query`, expected `key_padding_mask` to be `None` or 2-D but found "
            f"{key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None:
        assert attn_mask.dim() in (2, 3), (
            "For batched (3-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{attn_mask.dim()}-D tensor instead")


def _check_unbatched(query, key, value, key_padding_mask, attn_mask, num_heads):
    assert key.dim() == 2 and value.dim() == 2, (
        "For unbatched (2-D) `query`, expected `key` and `value` to be 2-D but found "
        f"{key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None:
        assert key_padding_mask.dim() == 1, (
            "For unbatched (2-D) `query`, expected `key_padding_mask` to be `None` or 1-D but "
            f"found {key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None:
        assert attn_mask.dim() in (2, 3), (
            "For unbatched (2-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{attn_mask.dim()}-D tensor instead")
        if attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            assert attn_mask.shape == expected, (
                f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")


def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the inputs have a batch dimension; AssertionError when their shapes disagree."""
    if query.dim() == 3:
        _check_batched(query, key, value, key_padding_mask, attn_mask)
        return True
    if query.dim() == 2:
        _check_unbatched(query, key, value, key_padding_mask, attn_mask, num_heads)
        return False
    raise AssertionError("query should be unbatched 2D or batched 3D tensor but received "
                         f"{query.dim()}-D query tensor")


def _check_key_padding_mask(key_padding_mask, src_len, bsz):
    assert key_padding_mask.size(0) == bsz, (
        f"Expected key_padded_mask.shape[0] to be {bsz}, but got {key_padding_mask.size(0)}")
    assert key_padding_mask.size(1) == src_len, (
        f"Expected key_padded_mask.shape[1] to be {src_len}, but got {key_padding_mask.size(1)}")


def _none_or_dtype(input):
    """The dtype of a tensor, None for None."""
    if input is None:
        return None
    if isinstance(input, torch.Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as numbers to add: booleans become 0 and -inf."""
    if mask is None:
        return None
    floating = torch.is_floating_point(mask)
    if mask.dtype != torch.bool and not floating:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        _warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type "
              "for both instead.")
    if floating:
        return mask
    return torch.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


# ---- projections ---------------------------------------------------------------------------------

def _in_projection_packed(q, k, v, w, b=None):
    """Queries, keys and values by one weight of three stacked blocks; inputs shared if possible."""
    linear = _op.linear
    width = q.size(-1)
    if k is v:
        if q is k:
            packed = linear(q, w, b)
            packed = packed.unflatten(-1, (3, width)).unsqueeze(0).transpose(0, -2)
            return list(packed.squeeze(-2).contiguous().unbind(0))
        w_q, w_kv = w.split([width, 2 * width])
        b_q, b_kv = (None, None) if b is None else b.split([width, 2 * width])
        pair = linear(k, w_kv, b_kv).unflatten(-1, (2, width)).unsqueeze(0).transpose(0, -2)
        return [linear(q, w_q, b_q), *pair.squeeze(-2).contiguous().unbind(0)]
    biases = (None, None, None) if b is None else b.chunk(3)
    return [linear(x, weight, bias) for x, weight, bias in zip((q, k, v), w.chunk(3), biases)]


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """Queries, keys and values by weights of their own; AssertionError for wrong shapes."""
    width = q.size(-1)
    for x, w, b, name in ((q, w_q, b_q, "query"), (k, w_k, b_k, "key"), (v, w_v, b_v, "value")):
        expected = (width, x.size(-1))
        assert w.shape == expected, (
            f"expecting {name} weights shape of {expected}, but got {w.shape}")
        assert b is None or b.shape == (width,), (
            f"expecting {name} bias shape of {(width,)}, but got {b.shape}")
    linear = _op.linear
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _project(query, key, value, in_proj_weight, in_proj_bias, separate, weights):
    if not separate:
        assert in_proj_weight is not None, \
            "use_separate_proj_weight is False but in_proj_weight is None"
        return _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    for weight, name in zip(weights, ("q", "k", "v")):
        assert weight is not None, (
            f"use_separate_proj_weight is True but {name}_proj_weight is None")
    biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
    return _in_projection(query, key, value, *weights, *biases)


# ---- masks, heads and the product ----------------------------------------------------------------

def _prepare_masks(attn_mask, key_padding_mask, is_causal, need_weights, query):
    """(attn_mask, key_padding_mask, is_causal) with additive masks."""
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask",
                                       _none_or_dtype(attn_mask), "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the "
                           "Transformer module method `generate_square_subsequent_mask` to create "
                           "this mask.")
    if is_causal and key_padding_mask is None and not need_weights:
        return None, None, True
    attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
    return attn_mask, key_padding_mask, False if key_padding_mask is not None else is_causal


def _check_attn_mask(attn_mask, tgt_len, src_len, batch_heads):
    if attn_mask is None:
        return None
    if attn_mask.dim() == 2:
        expected = (tgt_len, src_len)
    elif attn_mask.dim() == 3:
        expected = (batch_heads, tgt_len, src_len)
    else:
        raise RuntimeError(f"attn_mask's dimension {attn_mask.dim()} is not supported")
    if attn_mask.shape != expected:
        raise RuntimeError(f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, "
                           f"but should be {expected}.")
    return attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask


def _one_more(mask):
    return None if mask is None else torch.nn.functional.pad(mask, (0, 1))


def _heads(x, static, name, batch_heads, head_dim):
    if static is None:
        return x.view(x.shape[0], batch_heads, head_dim).transpose(0, 1)
    assert static.size(0) == batch_heads, (
        f"expecting {name}.size(0) of {batch_heads}, but got {static.size(0)}")
    assert static.size(2) == head_dim, (
        f"expecting {name}.size(2) of {head_dim}, but got {static.size(2)}")
    return static


def _merge_padding(attn_mask, key_padding_mask, bsz, num_heads, src_len):
    if key_padding_mask is None:
        return attn_mask
    _check_key_padding_mask(key_padding_mask, src_len, bsz)
    padding = key_padding_mask.view(bsz, 1, 1, src_len).expand(-1, num_heads, -1, -1)
    padding = padding.reshape(bsz * num_heads, 1, src_len)
    return padding if attn_mask is None else attn_mask + padding


def _attend_with_weights(q, k, v, attn_mask, dropout_p):
    q = q * math.sqrt(1.0 / float(q.size(-1)))
    if attn_mask is not None:
        weights = torch.baddbmm(attn_mask, q, k.transpose(-2, -1))
    else:
        weights = torch.bmm(q, k.transpose(-2, -1))
    weights = softmax(weights, dim=-1)
    if dropout_p > 0.0:
        weights = dropout(weights, p=dropout_p)
    return torch.bmm(weights, v), weights


def _with_bias(k, v, bias_k, bias_v, static_k, static_v):
    """Keys and values with the bias rows behind them, and whether there are any."""
    if bias_k is not None and bias_v is not None:
        assert static_k is None, "bias cannot be added to static key."
        assert static_v is None, "bias cannot be added to static value."
        bsz = k.shape[1]
        return (torch.cat([k, bias_k.repeat(1, bsz, 1)]),
                torch.cat([v, bias_v.repeat(1, bsz, 1)]), True)
    assert bias_k is None or bias_v is not None, "bias_k is set but bias_v is None"
    assert bias_v is None or bias_k is not None, "bias_v is set but bias_k is None"
    return k, v, False


def multi_head_attention_forward(
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k,
        bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True,
        key_padding_mask=None, need_weights=True, attn_mask=None, use_separate_proj_weight=False,
        q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
        average_attn_weights=True, is_causal=False):
    """Attention of `num_heads` heads over (L, N, E) or (L, E); returns output and weights.

    Boolean masks forbid where True, floating masks are added. The weights are None unless
    `need_weights`, and averaged over the heads if `average_attn_weights`.
    """
    tensors = (query, key, value, in_proj_weight, in_proj_bias, bias_k, bias_v, out_proj_weight,
               out_proj_bias)
    if has_torch_function_variadic(*tensors):
        return _override(
            multi_head_attention_forward, tensors, query, key, value, embed_dim_to_check, num_heads,
            in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight,
            out_proj_bias, training=training, key_padding_mask=key_padding_mask,
            need_weights=need_weights, attn_mask=attn_mask, is_causal=is_causal,
            use_separate_proj_weight=use_separate_proj_weight, q_proj_weight=q_proj_weight,
            k_proj_weight=k_proj_weight, v_proj_weight=v_proj_weight, static_k=static_k,
            static_v=static_v, average_attn_weights=average_attn_weights)
    batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        # The same object stays the same object: packed projections look at that.
        query, key, value = _with_batch(query, key, value)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    attn_mask, key_padding_mask, is_causal = _prepare_masks(attn_mask, key_padding_mask, is_causal,
                                                            need_weights, query)
    head_dim = _check_embedding(query, key, value, embed_dim_to_check, num_heads,
                                use_separate_proj_weight)
    q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias, use_separate_proj_weight,
                       (q_proj_weight, k_proj_weight, v_proj_weight))
    tgt_len, bsz, _ = query.shape
    attn_mask = _check_attn_mask(attn_mask, tgt_len, key.shape[0], bsz * num_heads)
    k, v, added = _with_bias(k, v, bias_k, bias_v, static_k, static_v)
    if added:
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    q = q.view(tgt_len, bsz * num_heads, head_dim).transpose(0, 1)
    k = _heads(k, static_k, "static_k", bsz * num_heads, head_dim)
    v = _heads(v, static_v, "static_v", bsz * num_heads, head_dim)
    if add_zero_attn:
        zeros = (bsz * num_heads, 1, head_dim)
        k = torch.cat([k, k.new_zeros(zeros)], dim=1)
        v = torch.cat([v, v.new_zeros(zeros)], dim=1)
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    attn_mask = _merge_padding(attn_mask, key_padding_mask, bsz, num_heads, k.size(1))
    output, weights = _attention(q, k, v, attn_mask, dropout_p if training else 0.0, need_weights,
                                 is_causal, bsz, num_heads)
    output = output.view(tgt_len * bsz, -1)
    output = _op.linear(output, out_proj_weight, out_proj_bias).view(tgt_len, bsz, -1)
    if weights is not None:
        weights = weights.view(bsz, num_heads, tgt_len, k.size(1))
        weights = weights.mean(dim=1) if average_attn_weights else weights
    if batched:
        return output, weights
    return output.squeeze(1), None if weights is None else weights.squeeze(0)


def _with_batch(query, key, value):
    shared_k, shared_v = key is query, value is key
    query = query.unsqueeze(1)
    key = query if shared_k else key.unsqueeze(1)
    return query, key, key if shared_v else value.unsqueeze(1)


def _check_embedding(query, key, value, embed_dim_to_check, num_heads, separate):
    """The width of a head."""
    embed_dim = query.size(-1)
    assert embed_dim == embed_dim_to_check, (
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    head_dim = embed_dim // num_heads
    assert head_dim * num_heads == embed_dim, (
        f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if separate:
        assert key.shape[:2] == value.shape[:2], (
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    else:
        assert key.shape == value.shape, (
            f"key shape {key.shape} does not match value shape {value.shape}")
    return head_dim


def _attention(q, k, v, attn_mask, dropout_p, need_weights, is_causal, bsz, num_heads):
    """Output as (target length, batch * heads * width), and the weights or None."""
    tgt_len = q.size(1)
    if need_weights:
        output, weights = _attend_with_weights(q, k, v, attn_mask, dropout_p)
        return output.transpose(0, 1).contiguous(), weights
    if attn_mask is not None:
        if attn_mask.size(0) == 1 and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.view(bsz, num_heads, -1, k.size(1))
    shape = (bsz, num_heads, -1, q.size(2))
    output = _op.scaled_dot_product_attention(q.view(shape), k.view(shape), v.view(shape),
                                              attn_mask, dropout_p, is_causal)
    return output.permute(2, 0, 1, 3).reshape(tgt_len, -1), None
