"""`torch._C._functorch`: what libraries ask of a tensor inside transforms of `torch.func`.

The transforms of this package call functions with plain tensors, so nothing is ever wrapped.
"""

from torch._missing import add_missing


def is_batchedtensor(tensor):
    """Is it a wrapper that `vmap` made? There are none."""
    return False


def is_gradtrackingtensor(tensor):
    """Is it a wrapper that `grad` made? There are none."""
    return False


def is_functorch_wrapped_tensor(tensor):
    """Is it a wrapper of any transform? There are none."""
    return False


def get_unwrapped(tensor):
    """The tensor under a wrapper: the tensor itself."""
    return tensor


def maybe_get_bdim(tensor):
    """The batched dimension of a wrapper, -1 for other tensors."""
    return -1


def maybe_get_level(tensor):
    """The level of a wrapper, -1 for other tensors."""
    return -1


add_missing(globals(), "torch._C._functorch",
            "_add_batch_dim _remove_batch_dim _vmap_increment_nesting _vmap_decrement_nesting")
