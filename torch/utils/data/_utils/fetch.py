"""Fetchers: from the index of a batch (or sample) to the collated data, in whichever process.

A batch from a plain `TensorDataset`, directly or through `Subset`s, is gathered column by column
with one `index_select` each instead of sample by sample; the result is the same.
"""

import torch

from ..dataset import Subset, TensorDataset
from . import collate as _collate


class _BaseDatasetFetcher:
    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, possibly_batched_index):
        raise NotImplementedError


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index):
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        data = []
        for _ in possibly_batched_index:
            try:
                data.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not data or (self.drop_last and len(data) < len(possibly_batched_index)):
            raise StopIteration
        return self.collate_fn(data)


def _is_gatherable(tensor):
    return (
        type(tensor) is torch.Tensor
        and tensor.layout is torch.strided
        and tensor.device.type == "cpu"
        and not tensor.requires_grad
    )


def _gather_rows(tensor, rows):
    if _collate._shared_empty is not None:
        out = _collate._shared_empty((len(rows), *tensor.shape[1:]), tensor.dtype)
        if out is not None:
            return torch.index_select(tensor, 0, rows, out=out)
    return torch.index_select(tensor, 0, rows)


def _gather(dataset, index):
    """The collated batch if `dataset` is columns of plain tensors, else None."""
    kind = type(dataset)
    while kind is Subset:
        chosen = dataset.indices
        index = [chosen[i] for i in index]
        dataset = dataset.dataset
        kind = type(dataset)
    if kind is not TensorDataset or not index or set(map(type, index)) != {int}:
        return None
    tensors = dataset.tensors
    if min(index) < 0 or not all(map(_is_gatherable, tensors)):
        return None
    if max(index) >= min(len(t) for t in tensors):
        return None
    rows = torch.tensor(index)
    return [_gather_rows(t, rows) for t in tensors]


class _MapDatasetFetcher(_BaseDatasetFetcher):
    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self._may_gather = (
            auto_collation
            and type(dataset) in (TensorDataset, Subset)
            and collate_fn is _collate.default_collate
            # A user may have registered another way to collate tensors.
            and _collate.default_collate_fn_map.get(torch.Tensor) is _collate.collate_tensor_fn
        )

    def fetch(self, possibly_batched_index):
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        if self._may_gather:
            batch = _gather(self.dataset, possibly_batched_index)
            if batch is not None:
                return batch
        dataset = self.dataset
        if getattr(dataset, "__getitems__", None):
            data = dataset.__getitems__(possibly_batched_index)
        else:
            data = [dataset[idx] for idx in possibly_batched_index]
        return self.collate_fn(data)
