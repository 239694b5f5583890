"""The old spellings of mixed precision for the CPU: use :mod:`torch.amp`."""
from .autocast_mode import autocast
from .grad_scaler import GradScaler

__all__ = ["autocast", "GradScaler"]
