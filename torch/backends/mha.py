"""The fast path of `nn.MultiheadAttention` and `nn.TransformerEncoder` in inference."""

_enabled = True


def get_fastpath_enabled():
    return _enabled


def set_fastpath_enabled(value):
    global _enabled
    _enabled = value
