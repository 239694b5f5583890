"""Types that annotations of script may use."""

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401

from torch._jit_internal import (  # noqa: F401
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    Future,
    is_dict,
    is_future,
    is_list,
    is_optional,
    is_tuple,
    is_union,
)
