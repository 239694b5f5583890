"""How `linear_cross_entropy` may trade memory for time."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass
class LinearCrossEntropyOptions:
    """Options of ``nn.functional.linear_cross_entropy``.

    Attributes:
        allow_retain_graph (bool): whether backward may run more than once.
        batch_chunk_size (int, optional): rows that are worked on at a time.
        chunking_method (str, optional): how rows are divided; "auto" or None.
        acc_policy (str): "accurate", "compact" or "auto" accumulation.
        acc_dtype (dtype, optional): dtype of the accumulation.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: object = None
