"""`torch.cuda`'s graphs, under the name they also have."""

from torch.cuda import graph_pool_handle, is_current_stream_capturing  # noqa: F401
from torch.cuda._absent import CUDAGraph  # noqa: F401
