"""The file format from before PyTorch 1.6: pickles one after the other, then raw storages.

A file is the pickles of a magic number, the protocol's version, facts about the system, the object
itself and the list of storage keys; then, per key, the number of elements (8 bytes) and the data.
"""

import io
import pickle
import struct
import sys

import torch

from . import _utils
from ._storage_location import parse_saved_id

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


# ---------------------------------------------------------------- writing


class _LegacyIds:
    """Persistent ids for storages, with keys that are their addresses."""

    def __init__(self):
        self.storages = {}  # key -> (UntypedStorage, dtype)
        self._dtypes = {}

    def __call__(self, obj):
        from ._storage_location import location_tag

        if isinstance(obj, torch.storage.TypedStorage):
            storage, dtype = obj._untyped_storage, obj.dtype
            kind = getattr(torch, obj._pickle_storage_type())
            numel = obj._size()
        elif isinstance(obj, torch.UntypedStorage):
            storage, dtype, kind = obj, torch.uint8, torch.UntypedStorage
            numel = storage.nbytes()
        else:
            return None
        if storage.data_ptr() and self._dtypes.setdefault(storage.data_ptr(), dtype) != dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types"
            )
        key = str(storage._cdata)
        self.storages[key] = (storage, dtype)
        # The last entry described views of storages, which PyTorch 0.1 had.
        return ("storage", kind, key, location_tag(storage), numel, None)


def write_legacy(obj, write, pickle_module, protocol):
    """Writes an object in the old format."""
    from .serialization import _memory

    sizes = {"short": 2, "int": 4, "long": 4}
    system = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": sizes,
    }
    for part in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        write(pickle_module.dumps(part, protocol=protocol))
    ids = _LegacyIds()

    class Pickler(pickle_module.Pickler):
        def persistent_id(self, obj):
            return ids(obj)

    file = io.BytesIO()
    Pickler(file, protocol=protocol).dump(obj)
    write(file.getvalue())
    keys = sorted(ids.storages)
    write(pickle_module.dumps(keys, protocol=protocol))
    for key in keys:
        storage, dtype = ids.storages[key]
        write(struct.pack("<q", storage.nbytes() // dtype.itemsize))
        write(bytes(_memory(storage.cpu())))


# ---------------------------------------------------------------- reading


class _Parts:
    """Reads the pickles of a file one after the other."""

    def __init__(self, file, weights_only, pickle_module, load_args):
        self._file = file
        self._safe = weights_only
        self._module = pickle if pickle_module is None else pickle_module
        self._load_args = load_args

    def plain(self):
        """The next pickle, which holds no storages."""
        return self.next(None)

    def next(self, persistent_load):
        from . import serialization

        if self._safe:
            encoding = self._load_args.get("encoding", "utf-8")
            return serialization._unpickle_safely(self._file, persistent_load, encoding)
        if persistent_load is None:
            return self._module.load(self._file, **self._load_args)
        return serialization._unpickle(
            self._file, persistent_load, self._module, self._load_args
        )


class _LegacyStorages:
    """Storages by key: made empty when the object is unpickled, filled from the file later."""

    def __init__(self, map_location, available):
        from ._storage_location import _get_restore_location

        self._restore = _get_restore_location(map_location)
        self._available = available
        self._claimed = 0
        self._typed = {}
        self._views = {}
        self._cpu = {}

    def persistent_load(self, saved_id):
        if not isinstance(saved_id, tuple) or not saved_id:
            raise RuntimeError(f"Unknown saved id: {saved_id!r:.200}")
        if saved_id[0] == "module":
            # Old files carried the source of pickled modules, to compare.
            return saved_id[1]
        dtype, key, location, numel, view = parse_saved_id(saved_id)
        if key not in self._typed:
            self._typed[key] = self._make(key, dtype, numel, location)
        typed = self._typed[key]
        if not view or view[0] is None:
            return typed
        if not isinstance(view[0], tuple) or len(view[0]) != 3:
            raise RuntimeError("a view of a storage is not described as it should be")
        return self._view(typed, *view[0])

    def _make(self, key, dtype, numel, location):
        nbytes = numel * dtype.itemsize
        # The data must still follow in the file, so it cannot be larger than that.
        self._claimed += nbytes
        if numel < 0 or self._claimed > self._available:
            raise RuntimeError(
                "unexpected EOF: the file is shorter than its storages. "
                "The file might be corrupted."
            )
        storage = self._cpu[key] = torch.UntypedStorage(nbytes)
        storage = self._restore(storage, location)
        return torch.storage.TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)

    def _view(self, typed, key, offset, size):
        if key not in self._views:
            itemsize = typed.dtype.itemsize
            untyped = typed._untyped_storage[offset * itemsize : (offset + size) * itemsize]
            self._views[key] = torch.storage.TypedStorage(
                wrap_storage=untyped, dtype=typed.dtype, _internal=True
            )
        return self._views[key]

    def fill(self, file, key, swap):
        """Reads the data of one storage."""
        from .serialization import _memory, _swap_bytes

        typed = self._typed.get(key)
        if typed is None:
            raise RuntimeError(f"storage key {key!r:.100} was not met in the pickle")
        head = file.read(8)
        storage = self._cpu[key]
        itemsize = typed.dtype.itemsize
        if len(head) != 8:
            raise RuntimeError(
                f"unexpected EOF, expected {8 - len(head)} more bytes. The file might be corrupted."
            )
        (numel,) = struct.unpack("<q", head)
        if numel * itemsize != storage.nbytes():
            raise RuntimeError(
                f"storage has wrong byte size: expected {storage.nbytes()} got {numel * itemsize}"
            )
        view = _memory(storage)
        at = 0
        while at < len(view):
            part = file.read(min(len(view) - at, 1 << 24))
            if not part:
                raise RuntimeError(
                    f"unexpected EOF, expected {(len(view) - at) // itemsize} more bytes. "
                    "The file might be corrupted."
                )
            view[at : at + len(part)] = part
            at += len(part)
        if swap:
            _swap_bytes(view, itemsize // (2 if typed.dtype.is_complex else 1))
        return typed, storage


def _bytes_left(file):
    at = file.tell()
    file.seek(0, 2)
    end = file.tell()
    file.seek(at)
    return end - at


def read_legacy(file, map_location, pickle_module, weights_only, load_args):
    """Reads a file of the old format from its present position."""
    if not _bytes_left(file):
        raise EOFError("Ran out of input: the file is empty")
    parts = _Parts(file, weights_only, pickle_module, load_args)
    if parts.plain() != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = parts.plain()
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version!r:.100}")
    system = parts.plain()
    little = system.get("little_endian", True) if isinstance(system, dict) else True
    swap = little != (sys.byteorder == "little")
    storages = _LegacyStorages(map_location, _bytes_left(file))
    with _utils.late_calls() as finish:
        result = parts.next(storages.persistent_load)
    keys = parts.plain()
    if not isinstance(keys, list):
        raise RuntimeError("the list of storage keys is missing; corrupt file?")
    for key in keys:
        typed, storage = storages.fill(file, key, swap)
        if typed._untyped_storage is not storage:
            typed._untyped_storage.copy_(storage)
    finish()
    return result
