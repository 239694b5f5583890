"""Meta's MTIA, as a build without it answers: no devices; what needs one raises."""

from torch import _absent_device

_absent_device.fill(globals(), "MTIA")
