"""Tensors of a module by dotted name: exchange them without hooks or checks of `setattr`."""

import torch

_ABSENT = object()


def swap_tensor(module, name, tensor, allow_missing=False):
    """Puts `tensor` in place of a parameter, buffer or attribute; returns what was there.

    `name` has no dots. A missing name raises AttributeError unless `allow_missing`.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    for table in (module._parameters, module._buffers, module.__dict__):
        if name in table:
            old = table[name]
            if tensor is _ABSENT:
                del table[name]
            else:
                table[name] = tensor
            return old
    if not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if tensor is not _ABSENT:
        setattr(module, name, tensor)
    return None
