"""The common map-style DataPipes."""

import copy

from ._decorator import functional_datapipe
from .datapipe import DataChunk, MapDataPipe

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Zipper"]


class SequenceWrapperMapDataPipe(MapDataPipe):
    """The elements of a sequence or mapping, of a deep copy of it."""

    def __init__(self, sequence, deepcopy=True):
        self.sequence = copy.deepcopy(sequence) if deepcopy else sequence

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self):
        return len(self.sequence)


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """``fn`` of each element."""

    def __init__(self, datapipe, fn=lambda data: data):
        self.datapipe = datapipe
        self.fn = fn

    def __getitem__(self, index):
        return self.fn(self.datapipe[index])

    def __len__(self):
        return len(self.datapipe)


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Batches of `batch_size` elements."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index):
        if index < 0 or index >= len(self):
            raise IndexError(f"Index {index} is out of bound.")
        start = index * self.batch_size
        end = min(start + self.batch_size, len(self.datapipe))
        return self.wrapper_class([self.datapipe[i] for i in range(start, end)])

    def __len__(self):
        full, rest = divmod(len(self.datapipe), self.batch_size)
        return full + (1 if rest and not self.drop_last else 0)


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """Pipes one after the other."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        self.datapipes = datapipes

    def __getitem__(self, index):
        for datapipe in self.datapipes:
            if index < len(datapipe):
                return datapipe[index]
            index -= len(datapipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self):
        return sum(len(d) for d in self.datapipes)


@functional_datapipe("zip")
class ZipperMapDataPipe(ConcaterMapDataPipe):
    """Tuples of the elements of several pipes."""

    def __getitem__(self, index):
        return tuple(d[index] for d in self.datapipes)

    def __len__(self):
        return min(len(d) for d in self.datapipes)


for _name in __all__:
    globals()[_name] = globals()[f"{_name}MapDataPipe"]
del _name
