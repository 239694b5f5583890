"""`PyTorchFileReader`: the records of a file of `torch.save`, one by one."""

import os

import torch
from torch._zip_archive import ArchiveReader, FileSource, StreamSource

__all__ = ["PyTorchFileReader"]


class PyTorchFileReader:
    """Opens an archive by path or as a file-like object; RuntimeError if it is not one."""

    __module__ = "torch"

    def __init__(self, name_or_buffer):
        if isinstance(name_or_buffer, (str, os.PathLike)):
            try:
                self._file = open(name_or_buffer, "rb")
            except OSError as e:
                raise RuntimeError(f"PytorchStreamReader failed opening file: {e}") from None
            source = FileSource(self._file)
        else:
            source = StreamSource(name_or_buffer)
        self._archive = ArchiveReader(source)

    def get_all_records(self):
        """The names of all records."""
        return self._archive.names()

    def has_record(self, name):
        return self._archive.has(name)

    def get_record(self, name):
        """A record as bytes."""
        return bytes(self._archive.read(name))

    def get_record_offset(self, name):
        """Where a record's data begin in the file."""
        return self._archive.span(name)[0]

    def get_record_size(self, name):
        return self._archive.size(name)

    def get_storage_from_record(self, name, numel, dtype):
        """An empty tensor of `dtype` over a new storage that holds a record's bytes."""
        data = torch.frombuffer(bytearray(self.get_record(name)) or bytearray(1), dtype=torch.uint8)
        return torch.empty(0, dtype=dtype).set_(data.untyped_storage(), 0, (0,))

    def serialization_id(self):
        """The number that was given to the file when it was written."""
        name = ".data/serialization_id"
        return self.get_record(name).decode() if self.has_record(name) else ""
