"""Which devices have operators over lists of tensors, and grouping of such lists."""

import torch
from torch.optim.optimizer import (  # noqa: F401
    _get_foreach_kernels_supported_devices,
    _get_fused_kernels_supported_devices,
)

_foreach_supported_types = [torch.Tensor]


def _device_has_foreach_support(device):
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors, device):
    return _device_has_foreach_support(device) and all(
        t is None or type(t) in _foreach_supported_types for t in tensors)


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """{(device, dtype): (lists, indices)}; the first list decides where its row belongs."""
    groups = {}
    for index, row in enumerate(zip(*tensorlistlist)):
        key = row[0].device, row[0].dtype
        if key not in groups:
            groups[key] = [[] for _ in tensorlistlist], []
        lists, indices = groups[key]
        for values, tensor in zip(lists, row):
            values.append(tensor)
        if with_indices:
            indices.append(index)
    return groups
