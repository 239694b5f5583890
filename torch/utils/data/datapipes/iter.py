"""The common iterable DataPipes."""

import copy
import os
import random

from ._decorator import functional_datapipe
from .datapipe import DataChunk, IterDataPipe

__all__ = [
    "Batcher", "Collator", "Concater", "FileLister", "FileOpener", "Filter", "IterableWrapper",
    "Mapper", "Multiplexer", "Sampler", "ShardingFilter", "Shuffler", "StreamReader", "UnBatcher",
    "Zipper",
]


class _Source(IterDataPipe):
    def __init__(self, datapipe):
        super().__init__()
        self.datapipe = datapipe

    def __len__(self):
        if hasattr(self.datapipe, "__len__"):
            return len(self.datapipe)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


class IterableWrapperIterDataPipe(IterDataPipe):
    """The elements of any iterable, of a deep copy of it on each pass."""

    def __init__(self, iterable, deepcopy=True):
        self.iterable = iterable
        self.deepcopy = deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:
                pass  # generators cannot be copied
        yield from source

    def __len__(self):
        return len(self.iterable)


@functional_datapipe("map")
class MapperIterDataPipe(_Source):
    """``fn`` of each element, or of the columns `input_col` of it."""

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        super().__init__(datapipe)
        self.fn = fn
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        self.input_col = input_col
        self.output_col = output_col

    def _apply(self, data):
        if self.input_col is None:
            return self.fn(data)
        columns = self.input_col
        if isinstance(columns, (list, tuple)):
            result = self.fn(*[data[c] for c in columns])
        else:
            result = self.fn(data[columns])
        out = self.output_col
        if out is None:
            out = columns[0] if isinstance(columns, (list, tuple)) else columns
        kind = type(data)
        items = dict(data) if isinstance(data, dict) else list(data)
        if out == -1:
            items.append(result)
        else:
            items[out] = result
        return kind(items) if kind is tuple else items

    def __iter__(self):
        for data in self.datapipe:
            yield self._apply(data)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Collates each batch."""

    def __init__(self, datapipe, conversion=None, collate_fn=None):
        from .._utils.collate import default_collate

        fn = collate_fn or conversion or default_collate
        if not callable(fn):
            raise NotImplementedError("collate(conversion=dict)")
        super().__init__(datapipe, fn=fn)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The elements for which `filter_fn` is true."""

    def __init__(self, datapipe, filter_fn, input_col=None):
        self.datapipe = datapipe
        self.filter_fn = filter_fn
        self.input_col = input_col

    def __iter__(self):
        column = self.input_col
        for data in self.datapipe:
            if isinstance(column, (list, tuple)):
                keep = self.filter_fn(*[data[c] for c in column])
            else:
                keep = self.filter_fn(data if column is None else data[column])
            if keep:
                yield data


@functional_datapipe("batch")
class BatcherIterDataPipe(_Source):
    """Batches of `batch_size` elements."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        super().__init__(datapipe)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self):
        batch = []
        for x in self.datapipe:
            batch.append(x)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self):
        full, rest = divmod(super().__len__(), self.batch_size)
        return full + (1 if rest and not self.drop_last else 0)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """The elements of the batches, `unbatch_level` levels down (-1: all)."""

    def __init__(self, datapipe, unbatch_level=1):
        if unbatch_level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        self.datapipe = datapipe
        self.unbatch_level = unbatch_level

    def _flatten(self, element, level):
        if level == 0 or (level < 0 and not isinstance(element, list)):
            yield element
            return
        if not isinstance(element, list):
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the pipe")
        for item in element:
            yield from self._flatten(item, level - 1 if level > 0 else level)

    def __iter__(self):
        for element in self.datapipe:
            yield from self._flatten(element, self.unbatch_level)


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe):
    """Pipes one after the other."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        self.datapipes = datapipes

    def __iter__(self):
        for datapipe in self.datapipes:
            yield from datapipe

    def __len__(self):
        return sum(len(d) for d in self.datapipes)


@functional_datapipe("zip")
class ZipperIterDataPipe(ConcaterIterDataPipe):
    """Tuples of the elements of several pipes, as long as the shortest."""

    def __iter__(self):
        yield from zip(*self.datapipes)

    def __len__(self):
        return min(len(d) for d in self.datapipes)


@functional_datapipe("mux")
class MultiplexerIterDataPipe(ConcaterIterDataPipe):
    """One element of each pipe in turn, until the shortest ends."""

    def __iter__(self):
        for row in zip(*self.datapipes):
            yield from row

    def __len__(self):
        return min(len(d) for d in self.datapipes) * len(self.datapipes)


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(_Source):
    """Every n-th element, beginning with the instance's number; all before `apply_sharding`."""

    def __init__(self, source_datapipe, sharding_group_filter=None):
        super().__init__(source_datapipe)
        self.sharding_group_filter = sharding_group_filter
        self.num_of_instances = 1
        self.instance_id = 0

    def apply_sharding(self, num_of_instances, instance_id, sharding_group=None):
        """Chooses the share."""
        if instance_id >= num_of_instances:
            raise ValueError(
                f"instance_id({instance_id}) should be smaller than "
                f"num_of_instances({num_of_instances})"
            )
        self.num_of_instances = num_of_instances
        self.instance_id = instance_id

    def __iter__(self):
        for i, item in enumerate(self.datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield item

    def __len__(self):
        full, rest = divmod(super().__len__(), self.num_of_instances)
        return full + (1 if self.instance_id < rest else 0)


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(_Source):
    """Elements in random order, within a buffer of `buffer_size`."""

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        if buffer_size <= 0:
            raise ValueError("buffer_size should be larger than 0")
        super().__init__(datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level))
        self.buffer_size = buffer_size
        self._enabled = True
        self._seed = None

    def set_shuffle(self, shuffle=True):
        """Switches shuffling on or off."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """Seeds the next pass."""
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        import torch

        seed = self._seed
        if seed is None:
            seed = int(torch.empty((), dtype=torch.int64).random_().item())
        self._seed = None
        chance = random.Random(seed)
        buffer = []
        for x in self.datapipe:
            if len(buffer) == self.buffer_size:
                at = chance.randint(0, len(buffer) - 1)
                buffer[at], x = x, buffer[at]
                yield x
            else:
                buffer.append(x)
        while buffer:
            yield buffer.pop(chance.randint(0, len(buffer) - 1))


class SamplerIterDataPipe(_Source):
    """The elements in a sampler's order."""

    def __init__(self, datapipe, sampler=None, sampler_args=None, sampler_kwargs=None):
        from ..sampler import SequentialSampler

        super().__init__(datapipe)
        kwargs = dict(sampler_kwargs or {}, data_source=datapipe)
        self.sampler = (sampler or SequentialSampler)(*(sampler_args or ()), **kwargs)

    def __iter__(self):
        return iter(self.sampler)


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe):
    """The paths of the files in one or more folders."""

    def __init__(self, root=".", masks="", *, recursive=False, abspath=False,
                 non_deterministic=False, length=-1):
        self.roots = [root] if isinstance(root, str) else root
        self.masks = [masks] if isinstance(masks, str) else masks
        self.recursive = recursive
        self.abspath = abspath
        self.length = length

    def __iter__(self):
        from fnmatch import fnmatch

        for root in self.roots:
            for folder, folders, files in os.walk(os.path.abspath(root) if self.abspath else root):
                folders.sort()
                for name in sorted(files):
                    if any(mask == "" or fnmatch(name, mask) for mask in self.masks):
                        yield os.path.join(folder, name)
                if not self.recursive:
                    break

    def __len__(self):
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(_Source):
    """Pairs of a path and its open file."""

    def __init__(self, datapipe, mode="r", encoding=None, length=-1):
        super().__init__(datapipe)
        self.mode = mode
        self.encoding = encoding

    def __iter__(self):
        for path in self.datapipe:
            yield path, open(path, self.mode, encoding=self.encoding)


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe):
    """Pairs of a path and what its stream holds, whole or in chunks."""

    def __init__(self, datapipe, chunk=None):
        self.datapipe = datapipe
        self.chunk = chunk

    def __iter__(self):
        for path, stream in self.datapipe:
            while True:
                data = stream.read(self.chunk)
                if not data:
                    stream.close()
                    break
                yield path, data


for _name in __all__:
    globals()[_name] = globals()[f"{_name}IterDataPipe"]
del _name
