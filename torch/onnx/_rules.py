"""The rules of the `symbolic_opset` modules: functions that other rules may call."""

from torch._missing import missing_function

# Operators for which packages call the exporter's own rule from theirs.
_NAMES = frozenset(
    """add arange argmax argmin avg_pool2d bmm cat clamp clamp_max clamp_min clone contiguous conv2d
    cumsum div dropout embedding eq expand expand_as flatten floor_divide full gather gelu ge gt
    hardswish index index_put index_select interpolate layer_norm le linear linspace log_softmax lt
    masked_fill masked_fill_ masked_scatter matmul max max_pool2d mean meshgrid min mm mul narrow ne
    neg nonzero norm ones ones_like pad permute pixel_shuffle pow prim_ConstantChunk prod relu
    repeat reshape reshape_as round rsub scatter scatter_add select sigmoid silu size slice softmax
    softplus sort split split_with_sizes sqrt squeeze stack std sub sum t tanh topk transpose tril
    triu unbind unfold unsqueeze upsample_bilinear2d upsample_nearest2d view where zeros
    zeros_like""".split()
)


def rule_of(module):
    """The ``__getattr__`` of a module of rules."""

    def lookup(name):
        if name in _NAMES:
            return missing_function(f"{module}.{name}")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return lookup
