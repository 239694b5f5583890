"""The batching rules of indexing and embedding (see _batching_rules.py)."""

import torch
from torch.func._batching_rules import behind, by_example, joined, padded, rule, shifted


@rule("index_select")
def index_select(call):
    dim, rank = call.args[1], call.rank()
    if call.has(2):
        if rank == 0 or call.rank(2) != 1:
            return by_example(call)
        at, index = behind(dim, rank), call.raw(2)
        value = call.all(0)
        shape = list(value.shape)
        shape[at] = index.size(1)
        room = index.reshape(index.size(0), *([1] * (at - 1)), -1, *([1] * (rank - at)))
        return torch.gather(value, at, room.expand(shape))
    if rank == 0:
        return by_example(call)
    return call.run(call.all(0), behind(dim, rank), call.args[2])


@rule(
    "index_add",
    "index_add_",
    "index_copy",
    "index_copy_",
    "index_fill",
    "index_fill_",
    "index_reduce",
    "index_reduce_",
)
def along_index(call):
    source = call.args[3]
    scalar = isinstance(source, torch.Tensor) and source.dim() == 0
    if call.has(2) or call.rank() == 0 or (scalar and call.has(3)):
        return by_example(call)
    args = shifted(call, call.rank())
    args[0] = call.all(0)
    if isinstance(source, torch.Tensor) and not scalar:
        args[3] = call.all(3)
    return call.run(*args)


def no_masks(indices):
    return all(i is None or i.dtype not in (torch.bool, torch.uint8) for i in indices)


@rule("index")
def index(call):
    x, indices = call.args
    level = call.level
    given = [k for k, i in enumerate(indices) if i is not None]
    adjacent = given and given == list(range(given[0], given[-1] + 1))
    if not any(level.has(i) for i in indices if i is not None):
        out = call.run(call.raw(0), [None, *indices])
        if adjacent or not no_masks(indices):
            return out if adjacent else by_example(call)
        shape = torch.broadcast_shapes(*[indices[k].shape for k in given])
        return out.movedim(len(shape), 0)  # the dimensions of the index went first
    if not adjacent or not no_masks(indices):
        return by_example(call)
    rank = max(indices[k].dim() for k in given)
    full = [
        None if i is None else padded(i._vmap[0], i.dim(), rank) if level.has(i) else i
        for i in indices
    ]
    if not level.has(x):  # [before, B, index, after]
        return call.run(x, full).movedim(given[0], 0)
    rows = torch.arange(level.size).reshape(-1, *([1] * rank))
    out = call.run(call.raw(0), [rows, *full])  # [B, index, before, after]
    return (
        out
        if given[0] == 0
        else out.movedim(list(range(1, rank + 1)), list(range(given[0] + 1, given[0] + rank + 1)))
    )


@rule("index_put", "index_put_", "_index_put_impl_")
def index_put(call):
    x, indices, values, *rest = call.args
    level = call.level
    given = [k for k, i in enumerate(indices) if i is not None]
    if given != list(range(len(given))) or not given or not no_masks(indices):
        return by_example(call)
    rank = max(indices[k].dim() for k in given)
    rows = torch.arange(level.size).reshape(-1, *([1] * rank))
    full = [
        padded(i._vmap[0], i.dim(), rank) if level.has(i) else i
        for i in (indices[k] for k in given)
    ]
    want = rank + x.dim() - len(given)
    if level.has(values):
        values = padded(values._vmap[0], values.dim(), want)
    return call.run(call.all(0), [rows, *full], values, *rest)


@rule("embedding")
def embedding(call):
    weight, indices, padding, by_freq, sparse = call.args
    if not call.has(0):
        return (
            call.run(weight, call.raw(1), padding, by_freq, sparse)
            if not by_freq
            else by_example(call)
        )
    if padding >= 0 or by_freq or sparse:
        return by_example(call)
    table = call.raw(0)
    rows = torch.arange(table.size(0)) * table.size(1)
    at = call.all(1) + rows.reshape(-1, *([1] * call.rank(1)))
    return call.run(joined(table), at, -1, False, False)


@rule("embedding_dense_backward")
def embedding_backward(call):
    g, indices, count, padding, by_freq = call.args
    if padding >= 0 or by_freq:
        return by_example(call)
    size = call.level.size
    rows = (torch.arange(size) * count).reshape(-1, *([1] * call.rank(1)))
    out = call.run(call.all(0), call.all(1) + rows, count * size, -1, False)
    return out.reshape(size, count, -1)
