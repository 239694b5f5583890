"""See `fused`."""

from torch.ao.nn.intrinsic.modules.fused import *  # noqa: F401,F403
from torch.ao.nn.intrinsic.modules.fused import __all__, _FusedModule  # noqa: F401
