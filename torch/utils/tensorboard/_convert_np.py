"""Values that users log, as numpy arrays."""

import numpy as np

import torch


def make_np(x):
    """An array of a tensor, array or number; anything else raises NotImplementedError."""
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if isinstance(x, torch.Tensor):
        x = x.detach().cpu()
        # numpy has no bfloat16
        return (x.to(torch.float16) if x.dtype == torch.bfloat16 else x).numpy()
    raise NotImplementedError(
        f"Got {type(x)}, but numpy array or torch tensor are expected.")
