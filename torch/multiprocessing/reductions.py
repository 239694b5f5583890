"""How tensors and storages cross to another process: as handles of shared memory.

Registered with `ForkingPickler`, which `multiprocessing` uses for queues, pipes and arguments.
"""

import os
import weakref
from multiprocessing import reduction
from multiprocessing.reduction import ForkingPickler

import torch


class StorageWeakRef:
    """A weak reference to a storage."""

    __slots__ = ("_ref",)

    def __init__(self, storage):
        self._ref = weakref.ref(getattr(storage, "_untyped_storage", storage))

    def expired(self):
        """Whether the storage is gone."""
        return self._ref() is None

    def __call__(self):
        return self._ref()

    def __hash__(self):
        return id(self._ref)

    def __eq__(self, other):
        return self is other or self._ref == other._ref


class SharedCache(dict):
    """Storages received from other processes, by what identifies their memory."""

    def __init__(self):
        self.limit = 128

    def __setitem__(self, key, storage_ref):
        dict.__setitem__(self, key, storage_ref)
        if len(self) > self.limit:
            self.free_dead_references()

    def free_dead_references(self):
        """Forgets the storages that are gone."""
        for key, ref in list(self.items()):
            if ref.expired():
                del self[key]
        self.limit = max(128, 2 * len(self))


shared_cache = SharedCache()


def _strategy():
    from .. import multiprocessing

    return multiprocessing.get_sharing_strategy()


def fd_id(fd):
    """What is equal for all descriptors of one memory."""
    stat = os.fstat(fd)
    return (stat.st_ino, stat.st_dev)


def storage_from_cache(cls, key):
    """The storage of that key if it still lives, else None."""
    ref = shared_cache.get(key)
    return None if ref is None else ref()


def rebuild_storage_fd(cls, df, size):
    """A storage on shared memory given by a descriptor."""
    fd = df.detach()
    try:
        storage = storage_from_cache(cls, fd_id(fd))
        if storage is None:
            storage = cls._new_shared_fd_cpu(fd, size)
            shared_cache[fd_id(fd)] = StorageWeakRef(storage)
        return storage
    finally:
        os.close(fd)


def rebuild_storage_filename(cls, manager, handle, size, dtype=None):
    """A storage on shared memory given by a name."""
    storage = storage_from_cache(cls, handle)
    if storage is None:
        storage = torch.UntypedStorage._new_shared_filename_cpu(manager, handle, size)
        shared_cache[handle] = StorageWeakRef(storage)
    return storage


def rebuild_storage_empty(cls):
    """A storage without memory."""
    return cls(0)


def reduce_storage(storage):
    """Moves a storage to shared memory; returns how the other side gets it."""
    if storage.device.type == "cuda":
        raise RuntimeError(
            "Cannot pickle CUDA storage; try pickling a CUDA tensor instead"
        )
    if storage.device.type == "meta":
        raise RuntimeError("Cannot pickle meta storage; try pickling a meta tensor instead")
    if storage.nbytes() == 0:
        # Memory of size 0 cannot be mapped.
        return rebuild_storage_empty, (type(storage),)
    if _strategy() == "file_system":
        manager, handle, size = storage._share_filename_cpu_()
        shared_cache[handle] = StorageWeakRef(storage)
        return rebuild_storage_filename, (type(storage), manager, handle, size)
    fd, size = storage._share_fd_cpu_()
    shared_cache[fd_id(fd)] = StorageWeakRef(storage)
    return rebuild_storage_fd, (type(storage), reduction.DupFd(fd), size)


def rebuild_typed_storage(storage, dtype):
    """A typed storage."""
    return torch.storage.TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


def reduce_typed_storage(storage):
    """As `reduce_storage`."""
    return rebuild_typed_storage, (storage._untyped_storage, storage.dtype)


def rebuild_tensor(cls, storage, metadata):
    """A strided tensor on a storage."""
    offset, size, stride, requires_grad, dtype, bits = metadata
    untyped = getattr(storage, "_untyped_storage", storage)
    tensor = torch.empty((0,), dtype=dtype).set_(untyped, offset, size, stride)
    if bits:
        from .._utils import with_tensor_metadata

        tensor = with_tensor_metadata(tensor, bits)
    tensor.requires_grad = requires_grad
    return tensor


def rebuild_meta_tensor(cls, size, stride, offset, dtype, storage_size, requires_grad):
    """A tensor without memory."""
    storage = torch.UntypedStorage(storage_size, device="meta")
    tensor = torch.empty((0,), dtype=dtype, device="meta").set_(storage, offset, size, stride)
    tensor.requires_grad = requires_grad
    return tensor


def rebuild_sparse_coo_tensor(indices, values, shape, is_coalesced):
    """A sparse tensor from its parts."""
    return torch.sparse_coo_tensor(indices, values, shape, is_coalesced=is_coalesced)


def rebuild_sparse_compressed_tensor(compressed, plain, values, shape, layout):
    """A compressed sparse tensor from its parts."""
    return torch.sparse_compressed_tensor(compressed, plain, values, shape, layout=layout)


def reduce_sparse_tensor(sparse):
    """As `reduce_tensor`, part by part."""
    layout = sparse.layout
    if layout is torch.sparse_coo:
        parts = (sparse._indices(), sparse._values(), sparse.shape, sparse.is_coalesced())
        return rebuild_sparse_coo_tensor, parts
    if layout in (torch.sparse_csr, torch.sparse_bsr):
        compressed, plain = sparse.crow_indices(), sparse.col_indices()
    elif layout in (torch.sparse_csc, torch.sparse_bsc):
        compressed, plain = sparse.ccol_indices(), sparse.row_indices()
    else:
        raise NotImplementedError(layout)
    parts = (compressed, plain, sparse.values(), sparse.shape, layout)
    return rebuild_sparse_compressed_tensor, parts


def reduce_tensor(tensor):
    """Moves a tensor to shared memory; returns how the other side gets it.

    Raises:
        RuntimeError: the tensor is part of a graph, which cannot follow it.
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, "
            "since autograd does not support crossing process boundaries.  "
            "If you just want to transfer the data, call detach() on the tensor "
            "before serializing (e.g., putting it on the queue)."
        )
    if tensor._backward_hooks:
        import warnings

        warnings.warn(
            "Backward hooks of a tensor are not sent to the other process", stacklevel=2
        )
    if tensor.layout is not torch.strided:
        return reduce_sparse_tensor(tensor)
    layout = (tensor.storage_offset(), tuple(tensor.size()), tensor.stride())
    if tensor.device.type == "meta":
        offset, size, stride = layout
        storage_size = tensor.untyped_storage().size()
        return rebuild_meta_tensor, (
            type(tensor), size, stride, offset, tensor.dtype, storage_size, tensor.requires_grad,
        )
    from .._utils import get_tensor_metadata

    metadata = (*layout, tensor.requires_grad, tensor.dtype, get_tensor_metadata(tensor))
    return rebuild_tensor, (type(tensor), tensor.untyped_storage(), metadata)


def init_reductions():
    """Registers all of the above with `multiprocessing`'s pickler."""
    ForkingPickler.register(torch.UntypedStorage, reduce_storage)
    ForkingPickler.register(torch.storage.TypedStorage, reduce_typed_storage)
    ForkingPickler.register(torch.Tensor, reduce_tensor)
    # Parameters reduce to their data by themselves, which comes here.
