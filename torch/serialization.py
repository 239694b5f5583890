"""`torch.save` and `torch.load`: public functions, options, and where storages go.

Files are zip archives (`_zip_archive.py`) holding one pickle, in which storages are persistent
ids, and one record per storage. The format from before PyTorch 1.6 is in `_legacy_files.py`.
`weights_only=True`, the default, reads the pickle with `_weights_only_unpickler.py`, which executes
nothing but a fixed list of functions.
"""

import enum
import io
import os
import pickle
import sys
import typing
import warnings

import torch

from . import _weights_only_unpickler
from ._storage_location import (  # noqa: F401
    _package_registry,
    _get_restore_location,
    default_restore_location,
    location_tag,
    parse_saved_id,
    register_package,
    validate_cuda_device,
    validate_hpu_device,
)
from ._zip_archive import ArchiveReader, ArchiveWriter, FileSource, StreamSource

# What `map_location` may be.
MAP_LOCATION = typing.Optional[typing.Union[
    typing.Callable[[typing.Any, str], typing.Any], torch.device, str, typing.Dict[str, str]]]

__all__ = [
    "SourceChangeWarning",
    "mkdtemp",
    "register_package",
    "check_module_version_greater_or_equal",
    "validate_cuda_device",
    "validate_hpu_device",
    "location_tag",
    "default_restore_location",
    "normalize_storage_type",
    "storage_to_tensor_type",
    "save",
    "load",
    "StorageType",
    "LoadEndianness",
    "get_crc32_options",
    "set_crc32_options",
    "get_default_load_endianness",
    "set_default_load_endianness",
    "get_default_mmap_options",
    "set_default_mmap_options",
    "clear_safe_globals",
    "get_safe_globals",
    "add_safe_globals",
    "safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "skip_data",
]

DEFAULT_PROTOCOL = 2

_DOCS = "https://pytorch.org/docs/stable/generated/torch.load.html"


class SourceChangeWarning(Warning):
    """The source of a pickled class differs from the installed one (files of old versions)."""


# ---------------------------------------------------------------- options


class LoadEndianness(enum.Enum):
    """Byte order of files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Options:
    endianness = None
    mmap_flags = 2  # mmap.MAP_PRIVATE
    compute_crc32 = True
    calculate_storage_offsets = False
    skip_data = False


def get_default_load_endianness():
    """The byte order assumed for files that do not say theirs; None means this machine's."""
    return _Options.endianness


def set_default_load_endianness(endianness):
    """Sets the byte order assumed for files that do not say theirs."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _Options.endianness = endianness


def get_crc32_options():
    """Whether `save` computes checksums."""
    return _Options.compute_crc32


def set_crc32_options(compute_crc32):
    """Whether `save` computes checksums. Without, damaged files go unnoticed."""
    _Options.compute_crc32 = compute_crc32


def get_default_mmap_options():
    """The flags of ``load(mmap=True)``: `mmap.MAP_PRIVATE` or `mmap.MAP_SHARED`."""
    return _Options.mmap_flags


class set_default_mmap_options:
    """Sets the flags of ``load(mmap=True)``; as a context manager, within the block.

    Raises:
        ValueError: neither `mmap.MAP_PRIVATE` nor `mmap.MAP_SHARED`.
    """

    def __init__(self, flags):
        import mmap

        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, "
                f"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
            )
        self.prev = _Options.mmap_flags
        _Options.mmap_flags = flags

    def __enter__(self):
        pass

    def __exit__(self, *exc_info):
        _Options.mmap_flags = self.prev


class skip_data:
    """Within the block `save` leaves the storages' bytes zero and `load` does not read them.

    Args:
        materialize_fake_tensors: accepted for compatibility.
    """

    def __init__(self, materialize_fake_tensors=False):
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self):
        self._before = _Options.skip_data
        _Options.skip_data = True

    def __exit__(self, *exc_info):
        _Options.skip_data = self._before


def add_safe_globals(safe_globals):
    """Allows more classes or functions under ``weights_only=True``, in this process.

    Args:
        safe_globals: a list of objects, or of pairs (object, full name in the file).
    """
    _weights_only_unpickler._add_safe_globals(safe_globals)


def get_safe_globals():
    """The list of objects that were added."""
    return _weights_only_unpickler._get_safe_globals()


def clear_safe_globals():
    """Forgets the objects that were added."""
    _weights_only_unpickler._clear_safe_globals()


class safe_globals(_weights_only_unpickler._safe_globals):
    """Context manager: `add_safe_globals` within the block."""


def check_module_version_greater_or_equal(module, req_version_tuple, error_if_malformed=True):
    """Whether a module's ``__version__`` is at least the given tuple."""
    try:
        parts = module.__version__.split(".")
        version = tuple(type(want)(part) for want, part in zip(req_version_tuple, parts))
    except Exception as e:
        message = f"'{module.__name__}' module version string is malformed '{module.__version__}'"
        if error_if_malformed:
            raise RuntimeError(message) from e
        warnings.warn(f"{message}, but continuing anyway", stacklevel=2)
        return True
    return version >= tuple(req_version_tuple)


def mkdtemp():
    """Context manager: a temporary directory, removed at the end."""
    import tempfile

    return tempfile.TemporaryDirectory()


def normalize_storage_type(storage_type):
    """The class of that name in `torch`."""
    return getattr(torch, storage_type.__name__)


def storage_to_tensor_type(storage):
    """The legacy tensor class that goes with a storage's class."""
    kind = type(storage)
    module = torch._utils._import_dotted_name(kind.__module__)
    return getattr(module, kind.__name__.replace("Storage", "Tensor"))


class StorageType:
    """Stands for a storage class in the pickle that is being read."""

    def __init__(self, name):
        self._dtype = torch.storage._get_dtype_from_pickle_storage_type(name)

    @property
    def dtype(self):
        return self._dtype

    def __str__(self):
        return f"StorageType(dtype={self.dtype})"

    __repr__ = __str__


def _get_layout(name):
    """The layout of that name; pickled sparse tensors call this."""
    layout = getattr(torch, name.partition(".")[2], None)
    if not isinstance(layout, torch.layout):
        raise RuntimeError(f"unknown layout {name!r}")
    return layout


# ---------------------------------------------------------------- bytes of storages


def _memory(storage):
    """The bytes of a CPU storage as a flat buffer, without copying."""
    import ctypes

    n = storage.nbytes()
    if n == 0:
        return memoryview(b"")
    return memoryview((ctypes.c_char * n).from_address(storage.data_ptr())).cast("B")


def _swap_bytes(view, itemsize):
    """Reverses the bytes of every item in place."""
    if itemsize > 1:
        data = bytearray(view)
        for k in range(itemsize):
            view[k::itemsize] = data[itemsize - 1 - k :: itemsize]


# ---------------------------------------------------------------- save


class _SavePickler:
    """Pickles an object, collecting its storages."""

    def __init__(self, pickle_module, protocol):
        self.storages = {}  # key -> UntypedStorage
        self._keys = {}
        self._dtypes = {}
        self._module = pickle_module
        self._protocol = protocol

    def dump(self, obj):
        """The pickle as bytes."""
        file = io.BytesIO()
        persistent_id = self._persistent_id

        class Pickler(self._module.Pickler):
            def persistent_id(self, obj):
                return persistent_id(obj)

        Pickler(file, protocol=self._protocol).dump(obj)
        return file.getvalue()

    def _persistent_id(self, obj):
        if isinstance(obj, torch.storage.TypedStorage):
            storage = obj._untyped_storage
            dtype = obj.dtype
            kind = getattr(torch, obj._pickle_storage_type())
            numel = obj._size()
        elif isinstance(obj, torch.UntypedStorage):
            storage = obj
            dtype = torch.uint8
            kind = torch.UntypedStorage
            numel = storage.nbytes()
        else:
            return None
        self._check_one_dtype(storage, dtype)
        key = self._keys.setdefault(storage._cdata, str(len(self._keys)))
        self.storages[key] = storage
        return ("storage", kind, key, location_tag(storage), numel)

    def _check_one_dtype(self, storage, dtype):
        if storage.device.type == "meta" or storage.data_ptr() == 0:
            return
        if self._dtypes.setdefault(storage.data_ptr(), dtype) != dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types"
            )


def _record_of(storage):
    if _Options.skip_data:
        return bytes(storage.nbytes())
    if storage.device.type != "cpu":
        storage = storage.cpu()
    return _memory(storage)


def _write_archive(obj, write, folder, pickle_module, pickle_protocol, no_byteorder):
    pickler = _SavePickler(pickle_module, pickle_protocol)
    data = pickler.dump(obj)
    archive = ArchiveWriter(write, folder, _Options.compute_crc32)
    archive.write_record("data.pkl", data)
    archive.write_record(".format_version", b"1")
    archive.write_record(".storage_alignment", b"64")
    if not no_byteorder:
        archive.write_record("byteorder", sys.byteorder.encode())
    keep = []  # copies from other devices live until they are written
    for key, storage in pickler.storages.items():
        record = _record_of(storage)
        keep.append(storage)
        archive.write_record(f"data/{key}", record)
    archive.write_record("version", b"3\n")
    archive.write_record(".data/serialization_id", archive.content_id())
    archive.close()


def _folder_for(path):
    """The archive's folder: the file's name without its last extension."""
    name = os.path.basename(os.fspath(path))
    name = os.fsdecode(name)
    stem, dot, _ = name.rpartition(".")
    return (stem if dot else name) or "archive"


def _write_file(path, write_to):
    """Calls `write_to(write)` so that `path` holds either its old or its whole new content."""
    from ._atomic_file import AtomicFile

    with AtomicFile(path) as file:
        write_to(file.write)


def _is_path(f):
    return isinstance(f, (str, os.PathLike))


def save(
    obj,
    f,
    pickle_module=pickle,
    pickle_protocol=DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization=True,
    _disable_byteorder_record=False,
):
    """Saves an object, with all tensors in it, to a file.

    Tensors that share memory share it again after `load`. A path is replaced only when the new
    file is complete, so an interrupted call leaves the old one.

    Args:
        obj: anything that can be pickled.
        f: a path, or a binary file object with ``write``.
        pickle_module: whose ``Pickler`` to use.
        pickle_protocol: 2 by default, which every reader knows.

    Raises:
        RuntimeError: the directory does not exist, or two dtypes share one memory.
    """
    if not _is_path(f) and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    if _use_new_zipfile_serialization:
        folder = _folder_for(f) if _is_path(f) else "archive"

        def write_to(write):
            _write_archive(
                obj, write, folder, pickle_module, pickle_protocol, _disable_byteorder_record
            )
    else:
        from ._legacy_files import write_legacy

        def write_to(write):
            write_legacy(obj, write, pickle_module, pickle_protocol)

    if _is_path(f):
        _write_file(f, write_to)
        return
    # Arbitrary file objects may know only bytes.
    write = f.write if isinstance(f, io.IOBase) else lambda data: f.write(bytes(data))
    write_to(write)
    if hasattr(f, "flush"):
        f.flush()


# ---------------------------------------------------------------- load


def _env_flag(name):
    return os.environ.get(name, "0").lower() in ("1", "y", "yes", "true")


def _resolve_weights_only(weights_only, pickle_module):
    """The effective value: argument, environment, `pickle_module`, in that order of strength."""
    force = _env_flag("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    force_not = _env_flag("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    if force and force_not:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` "
            "should be set, but both were set."
        )
    if force:
        weights_only = True
    elif weights_only is None:
        weights_only = pickle_module is None and not force_not
    if weights_only and pickle_module is not None:
        raise RuntimeError(
            "Can not safely load weights when explicit pickle_module is specified"
        )
    return weights_only


_RISK = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` "
    "from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
    "likely succeed, but it can result in arbitrary code execution. Do it only if you got the "
    "file from a trusted source."
)


def _weights_only_message(message):
    """The whole text of the error when the safe reader refuses a file."""
    end = f"\n\nCheck the documentation of torch.load to learn more about types accepted by " \
          f"default with weights_only {_DOCS}."
    if message.startswith("Unsupported global:"):
        return (
            "Weights only load failed. This file can still be loaded, to do so you have two "
            "options, \033[1mdo those steps only if you trust the source of the checkpoint"
            f"\033[0m. \n\t(1) {_RISK}\n\t(2) Alternatively, to load with `weights_only=True` "
            "please check the recommended steps in the following error message.\n"
            f"\tWeightsUnpickler error: {message}{end}"
        )
    return f"Weights only load failed. {_RISK}\nWeightsUnpickler error: \n\n{message}{end}"


_CORRUPT_PICKLE = (
    AttributeError, EOFError, IndexError, KeyError, OverflowError, TypeError, ValueError,
)


def _unpickle_safely(data, persistent_load, encoding="utf-8"):
    unpickler = _weights_only_unpickler.Unpickler(data, encoding=encoding)
    failed = None

    def load_storage(saved_id):
        nonlocal failed
        try:
            return persistent_load(saved_id)
        except Exception as e:
            # Says what is wrong with a record, or comes from the caller's map_location.
            failed = e
            raise

    if persistent_load is not None:
        unpickler.persistent_load = load_storage
    try:
        return unpickler.load()
    except pickle.UnpicklingError as e:
        raise pickle.UnpicklingError(_weights_only_message(str(e))) from None
    except _CORRUPT_PICKLE as e:
        if e is failed:
            raise
        # What a damaged pickle makes of the machine.
        text = f"{type(e).__name__}: {e}"
        raise pickle.UnpicklingError(_weights_only_message(text)) from e


_MOVED_MODULES = {"torch.tensor": "torch._tensor"}


def _unpickle(file, persistent_load, pickle_module, load_args):
    """Unpickles with an ordinary unpickler: executes whatever the file says."""

    class Unpickler(pickle_module.Unpickler):
        def find_class(self, module, name):
            if type(name) is str and "Storage" in name:
                try:
                    return StorageType(name)
                except KeyError:
                    pass
            return super().find_class(_MOVED_MODULES.get(module, module), name)

        def persistent_load(self, pid):
            return persistent_load(pid)

    return Unpickler(file, **load_args).load()


class _StorageLoader:
    """Turns the persistent ids of an archive into storages."""

    def __init__(self, reader, map_location, mapped):
        self._reader = reader
        self._restore = _get_restore_location(map_location)
        self._direct = self._restore is default_restore_location
        self._meta = map_location == "meta" or (
            isinstance(map_location, torch.device) and map_location.type == "meta"
        )
        self._mapped = mapped
        self._loaded = {}
        self._swap = self._must_swap()

    def _must_swap(self):
        if self._reader.has("byteorder"):
            order = self._reader.read("byteorder")
            if order not in (b"little", b"big"):
                shown = order.decode("utf-8", "backslashreplace")
                raise ValueError(f"Unknown endianness type: {shown}")
            return order.decode() != sys.byteorder
        default = _Options.endianness
        if default in (None, LoadEndianness.NATIVE):
            return False
        return default.name.lower() != sys.byteorder

    def persistent_load(self, saved_id):
        """The typed storage of an id ``("storage", class, key, location, numel)``."""
        dtype, key, location, numel, _ = parse_saved_id(saved_id)
        typed = self._loaded.get(key)
        if typed is None:
            typed = self._loaded[key] = self._load(dtype, numel, key, location)
        return typed

    def _load(self, dtype, numel, key, location):
        name = f"data/{key}"
        nbytes = numel * dtype.itemsize
        size = self._reader.size(name)
        if size != nbytes and not (numel == 0 and size == 0):
            raise RuntimeError(
                f"record size ({size} bytes) does not match expected size ({nbytes} bytes = "
                f"{numel} elements * {dtype.itemsize} bytes/element) for dtype {dtype}"
            )
        if self._meta:
            storage = torch.UntypedStorage(nbytes, device="meta")
        elif self._mapped is not None:
            storage = self._mapped.storage(*self._reader.span(name))
        else:
            storage = self._read(name, nbytes)
        if self._swap and not self._meta:
            half = 2 if dtype.is_complex else 1
            _swap_bytes(_memory(storage), dtype.itemsize // half)
        if not (self._direct and location == "cpu"):
            storage = self._restore(storage, location)
        return torch.storage.TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)

    def _read(self, name, nbytes):
        storage = torch.UntypedStorage(nbytes)
        if nbytes and not _Options.skip_data:
            self._reader.read_to(name, storage.data_ptr(), nbytes)
        return storage


class _MappedFile:
    """A file mapped into memory, cut into storages."""

    def __init__(self, file, size):
        import mmap

        flags = _Options.mmap_flags
        # A private mapping can be written to; the changes stay in this process.
        self._map = memoryview(
            mmap.mmap(file.fileno(), size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        )

    def storage(self, offset, size):
        """The storage over a range of the file."""
        if size == 0:
            return torch.UntypedStorage(0)
        buffer = self._map[offset : offset + size]
        return torch.frombuffer(buffer, dtype=torch.uint8).untyped_storage()


def _load_archive(source, map_location, pickle_module, weights_only, mapped, load_args):
    reader = ArchiveReader(source)
    if reader.has("constants.pkl"):
        return _load_torchscript(source, map_location, weights_only)
    _check_version(reader)
    data = reader.read("data.pkl")
    loader = _StorageLoader(reader, map_location, mapped)
    if weights_only:
        return _unpickle_safely(io.BytesIO(data), loader.persistent_load)
    module = pickle if pickle_module is None else pickle_module
    return _unpickle(io.BytesIO(data), loader.persistent_load, module, load_args)


def _check_version(reader):
    for name in ("version", ".data/version"):
        if reader.has(name):
            text = reader.read(name)
            break
    else:
        raise RuntimeError('Expected hasRecord("version") to be true, but got false.')
    try:
        version = int(text)
    except ValueError:
        raise RuntimeError(f"Couldn't parse the version {text[:20]!r} as a number") from None
    if version < 1 or version > 10:
        bound = "minimum supported version for reading is 1" if version < 1 else (
            "maximum supported version for reading is 10"
        )
        raise RuntimeError(
            f"Attempted to read a PyTorch file with version {version}, but the {bound}."
        )


def _load_torchscript(source, map_location, weights_only):
    if weights_only:
        raise RuntimeError(
            "Cannot use ``weights_only=True`` with TorchScript archives passed to "
            f"``torch.load``. {_RISK}"
        )
    warnings.warn(
        "'torch.load' received a zip file that looks like a TorchScript archive dispatching to "
        "'torch.jit.load' (call 'torch.jit.load' directly to silence this warning)",
        UserWarning,
        stacklevel=4,
    )
    return torch.jit.load(io.BytesIO(source.read(0, source.size)), map_location=map_location)


def _is_archive(file):
    """Whether a zip archive begins at the present position."""
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    return magic == b"PK\x03\x04"


def _load_from(file, is_path, path, map_location, pickle_module, weights_only, mmap, load_args):
    if _is_archive(file):
        source = FileSource(file) if is_path else StreamSource(file)
        mapped = _MappedFile(file, source.size) if mmap else None
        return _load_archive(
            source, map_location, pickle_module, weights_only, mapped, load_args
        )
    if mmap:
        shown = f"torch.save({path}, _use_new_zipfile_serialization=True)"
        raise RuntimeError(
            f"mmap can only be used with files saved with `{shown}, please torch.save your "
            "checkpoint with this option in order to use mmap."
        )
    from ._legacy_files import read_legacy

    return read_legacy(file, map_location, pickle_module, weights_only, load_args)


def load(
    f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args
):
    """Loads an object that `save` wrote.

    Args:
        f: a path, or a binary file object with ``read``, ``seek`` and ``tell``.
        map_location: where storages go: a function ``(storage, tag) -> storage or None``, a
            device or its name, or a dict from tags in the file to tags here.
        pickle_module: whose ``Unpickler`` to use; implies ``weights_only=False``.
        weights_only: with True, the default, only tensors, plain Python values and what was
            added by `add_safe_globals` are loaded, and nothing else is executed. With False the
            file can run any code.
        mmap: map the file instead of reading it (paths only).
        pickle_load_args: for the unpickler, such as ``encoding``.

    Raises:
        pickle.UnpicklingError: the pickle holds something that is not allowed, or is damaged.
        RuntimeError: the file is no archive of `save`, damaged, or for a device not here.
    """
    weights_only = _resolve_weights_only(weights_only, pickle_module)
    if weights_only and pickle_load_args and set(pickle_load_args) != {"encoding"}:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    if mmap is None:
        mmap = False
    if mmap and not _is_path(f):
        raise ValueError("f must be a file path in order to use the mmap argument")
    pickle_load_args.setdefault("encoding", "utf-8")
    args = (map_location, pickle_module, weights_only, mmap, pickle_load_args)
    if _is_path(f):
        # Mapping a file for writing, even privately with MAP_SHARED, needs it opened so.
        shared = mmap and _Options.mmap_flags == 1
        with open(f, "r+b" if shared else "rb", buffering=0) as file:
            return _load_from(file, True, os.fspath(f), *args)
    for method in ("seek", "tell", "read"):
        if not hasattr(f, method):
            raise AttributeError(
                f"{type(f).__name__!r} object has no attribute {method!r}. You can only torch.load "
                "from a file that is seekable. Please pre-load the data into a buffer like "
                "io.BytesIO and try to load from it instead."
            )
    return _load_from(f, False, f, *args)


def get_unsafe_globals_in_checkpoint(f):
    """The names in a file that ``weights_only=True`` would refuse.

    Args:
        f: a path or file object, of the zip format.
    """
    def names_in(source):
        reader = ArchiveReader(source)
        if reader.has("constants.pkl"):
            raise ValueError(
                "Expected input to be a checkpoint returned by torch.save "
                "but got a torchscript checkpoint"
            )
        return _weights_only_unpickler.get_globals_in_pkl(io.BytesIO(reader.read("data.pkl")))

    if _is_path(f):
        with open(f, "rb", buffering=0) as file:
            found = names_in(FileSource(file))
    else:
        found = names_in(StreamSource(f))
    allowed = _weights_only_unpickler._get_user_allowed_globals()
    return [
        name for name in found
        if name not in allowed and _weights_only_unpickler._get_allowed(name) is None
    ]
