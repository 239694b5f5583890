"""`torch.UntypedStorage`: the memory under tensors, byte by byte."""

import torch
from torch import _C

__all__ = ["UntypedStorage"]


class UntypedStorage(_C.StorageBase):
    """Bytes with an owner; tensors that are views of each other share one.

    ``UntypedStorage(n)`` makes `n` uninitialised bytes; ``UntypedStorage([1, 2])`` takes values.
    """

    __module__ = "torch.storage"
    is_sparse = False
    is_sparse_csr = False

    def __repr__(self):
        if self.device.type == "meta":
            values = "..."
        else:
            values = "\n " + "\n ".join(str(x) for x in self.tolist())
            values = values[1:] if self.nbytes() else ""
        info = f"[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"
        return f"{values}\n{info}" if values else info

    def __str__(self):
        return self.__repr__()

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __eq__(self, other):
        return self is other

    __hash__ = _C.StorageBase.__hash__

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    @property
    def is_hpu(self):
        return self.device.type == "hpu"

    @property
    def filename(self):
        """The file that the memory is mapped from, or None."""
        return self.__dict__.get("_filename")

    def get_device(self):
        index = self.device.index
        return -1 if index is None else index

    def tolist(self):
        """The bytes as a list of ints."""
        return list(self)

    def untyped(self):
        return self

    def clone(self):
        """A copy."""
        return type(self)(self.nbytes(), device=self.device).copy_(self)

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        memo = memo.setdefault("torch", {})
        if self._cdata in memo:
            return memo[self._cdata]
        new = memo[self._cdata] = self.clone()
        return new

    def __reduce__(self):
        import io

        from torch.serialization import save
        from torch.storage import _load_from_bytes

        file = io.BytesIO()
        save(self, file, _use_new_zipfile_serialization=False)
        return _load_from_bytes, (file.getvalue(),)

    def __sizeof__(self):
        return object.__sizeof__(self) + self.nbytes()

    def type(self, dtype=None, non_blocking=False):
        """The name of the class; with `dtype`, a copy converted to it."""
        if dtype is None:
            return f"{self.__class__.__module__}.{self.__class__.__name__}"
        return self.clone()

    def cpu(self):
        """This storage if it is on the CPU, else a copy there."""
        return self if self.device.type == "cpu" else UntypedStorage(self.nbytes()).copy_(self)

    def cuda(self, device=None, non_blocking=False):
        raise AssertionError("Torch not compiled with CUDA enabled")

    def to(self, *, device, non_blocking=False):
        device = torch.device(device)
        if device.type == self.device.type:
            return self
        new = type(self)(self.nbytes(), device=device)
        return new if device.type == "meta" else new.copy_(self, non_blocking)

    def is_pinned(self, device="cuda"):
        return False

    def pin_memory(self, device="cuda"):
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def share_memory_(self):
        """Moves the bytes to where other processes can map them. Returns self."""
        if self.is_shared():
            return self
        import torch.multiprocessing as mp

        if mp.get_sharing_strategy() == "file_system":
            self._share_filename_cpu_()
        else:
            self._share_fd_cpu_()
        return self

    @classmethod
    def _new_shared(cls, size, *, device="cpu"):
        """`size` bytes in shared memory."""
        import torch.multiprocessing as mp

        if mp.get_sharing_strategy() == "file_system":
            return cls._new_using_filename_cpu(size)
        return cls._new_using_fd_cpu(size)

    def byteswap(self, dtype):
        """Reverses the bytes of every element, in place."""
        size = dtype.itemsize // (2 if dtype.is_complex else 1)
        data = bytes(self.tolist())
        swapped = b"".join(data[i : i + size][::-1] for i in range(0, len(data), size))
        self.copy_(type(self).from_buffer(swapped, dtype=torch.uint8))


def _add_conversions():
    """`float()`, `long()`, ...: the bytes read as numbers and converted, as a TypedStorage."""
    names = "double float half long int short char byte bool bfloat16 complex_double complex_float"
    for name in names.split():
        def convert(self, _name=name):
            from torch.storage import TypedStorage

            typed = TypedStorage(wrap_storage=self, dtype=torch.uint8, _internal=True)
            return getattr(typed, _name)()

        convert.__name__ = name
        setattr(UntypedStorage, name, convert)


_add_conversions()
_C._set_storage_class(UntypedStorage)
