"""The zip container of `torch.save`: a writer of its exact layout, and a strict reader.

Layout: stored (never compressed) records below one folder, the data of each at a multiple of 64
bytes so that files can be mapped; sizes and CRC follow the data and stand again in the central
directory; zip64 throughout. The reader trusts nothing: every offset is checked against the file
before it is used, and nothing is allocated that the file cannot hold.
See APPNOTE.TXT 6.3 of PKWARE for the structures.
"""

import os
import struct
import zlib

_LOCAL = struct.Struct("<IHHHHHIIIHH")
_CENTRAL = struct.Struct("<IHHHHHHIIIHHHHHII")
_END = struct.Struct("<IHHHHIIH")
_END64 = struct.Struct("<IQHHIIQQQQ")
_LOCATOR = struct.Struct("<IIQI")

_FLAGS = 0x0808  # sizes follow the data; names are UTF-8
_M16 = 0xFFFF
_M32 = 0xFFFFFFFF
ALIGNMENT = 64

_CORRUPT = (
    "This is an internal error of the archive. If you are seeing this error, there is a high "
    "likelihood that your checkpoint file is corrupted. This can happen if the checkpoint was not "
    "saved properly, was transferred incorrectly, or the file was modified after saving."
)


def crc32(data, value=0):
    """CRC-32 of a buffer."""
    import torch

    fast = getattr(torch._C, "_crc32", None)
    return zlib.crc32(data, value) if fast is None else fast(data, value)


class ArchiveWriter:
    """Writes records one after the other to `write`, a function that takes a buffer."""

    def __init__(self, write, folder, compute_crc32=True, alignment=ALIGNMENT):
        self._write = write
        self._folder = folder
        self._compute_crc32 = compute_crc32
        self._alignment = alignment
        self._at = 0
        self._entries = []

    def _put(self, data):
        self._write(data)
        self._at += len(data)

    def _header(self, name, flags):
        """The local header: its extra field is filler up to the next aligned position."""
        start = self._at + _LOCAL.size + len(name) + 4
        fill = -start % self._alignment
        extra = b"FB" + struct.pack("<H", fill) + b"Z" * fill
        head = _LOCAL.pack(0x04034B50, 0, flags, 0, 0, 0, 0, 0, 0, len(name), len(extra))
        return head + name + extra

    def write_record(self, name, data):
        """Adds a record; `data` is bytes or a flat buffer of bytes."""
        name = f"{self._folder}/{name}".encode()
        size = len(data)
        # A record without data needs nothing after it.
        flags = _FLAGS if size else _FLAGS & ~8
        crc = crc32(data) if self._compute_crc32 else 0
        self._entries.append((name, flags, crc, size, self._at))
        self._put(self._header(name, flags))
        if not size:
            return
        self._put(data)
        sizes = "<IIQQ" if size >= _M32 else "<IIII"
        self._put(struct.pack(sizes, 0x08074B50, crc, size, size))

    def content_id(self):
        """Forty digits that depend on the names and contents so far: equal files, equal ids."""
        names = b"\n".join(entry[0].partition(b"/")[2] for entry in self._entries)
        sums = b"".join(struct.pack("<IQ", entry[2], entry[3]) for entry in self._entries)
        import hashlib

        parts = (hashlib.blake2b(part, digest_size=8).digest() for part in (names, sums))
        return "".join(f"{int.from_bytes(part, 'little'):020d}" for part in parts).encode()

    def _central_entry(self, name, flags, crc, size, offset):
        extra = b""
        if size >= _M32:
            extra += struct.pack("<QQ", size, size)
        if offset >= _M32:
            extra += struct.pack("<Q", offset)
        if extra:
            extra = struct.pack("<HH", 1, len(extra)) + extra
        return (
            _CENTRAL.pack(
                0x02014B50, 0, 0, flags, 0, 0, 0, crc, min(size, _M32), min(size, _M32),
                len(name), len(extra), 0, 0, 0, 0, min(offset, _M32),
            )
            + name
            + extra
        )

    def close(self):
        """Writes the central directory."""
        start = self._at
        for entry in self._entries:
            self._put(self._central_entry(*entry))
        size = self._at - start
        end64 = self._at
        n = len(self._entries)
        self._put(_END64.pack(0x06064B50, 44, 0x031E, 45, 0, 0, n, n, size, start))
        self._put(_LOCATOR.pack(0x07064B50, 0, end64, 1))
        m = min(n, _M16)
        self._put(_END.pack(0x06054B50, 0, 0, m, m, min(size, _M32), min(start, _M32), 0))


class FileSource:
    """Reads from a file by its descriptor; offsets are relative to `base`."""

    def __init__(self, file, base=0):
        self._file = file  # keeps the descriptor open
        self._fd = file.fileno()
        self.base = base
        self.size = max(0, os.fstat(self._fd).st_size - base)

    def fileno(self):
        return self._fd

    def read(self, offset, n):
        parts = []
        while n:
            part = os.pread(self._fd, n, self.base + offset)
            if not part:
                break
            parts.append(part)
            offset += len(part)
            n -= len(part)
        return b"".join(parts)

    def read_into(self, offset, view):
        done = 0
        while done < len(view):
            n = os.preadv(self._fd, [view[done:]], self.base + offset + done)
            if not n:
                break
            done += n
        return done


class StreamSource:
    """Reads from any seekable file-like object, from its present position on."""

    def __init__(self, file):
        self._file = file
        self.base = file.tell()
        file.seek(0, 2)
        self.size = max(0, file.tell() - self.base)
        file.seek(self.base)

    def read(self, offset, n):
        self._file.seek(self.base + offset)
        parts = []
        while n:
            part = self._file.read(n)
            if not part:
                break
            parts.append(bytes(part))
            n -= len(part)
        return b"".join(parts)

    def read_into(self, offset, view):
        readinto = getattr(self._file, "readinto", None)
        if readinto is None:
            data = self.read(offset, len(view))
            view[: len(data)] = data
            return len(data)
        self._file.seek(self.base + offset)
        done = 0
        while done < len(view):
            n = readinto(view[done:])
            if not n:
                break
            done += n
        return done


class ArchiveReader:
    """The records of an archive, by their names without the folder.

    Raises:
        RuntimeError: anything wrong with the structure; also on access to a record.
    """

    def __init__(self, source):
        self._source = source
        self._records = {}
        self.folder = None
        self._read_directory(*self._find_directory())

    def _fail(self, reason, record=None):
        where = "reading zip archive" if record is None else f"reading file {record}"
        raise RuntimeError(f"PytorchStreamReader failed {where}: {reason}. {_CORRUPT}")

    def _find_end(self):
        """Offset of the end record; it lies in the last 64 KiB."""
        size = self._source.size
        if size < _END.size:
            self._fail("not a ZIP archive")
        start = max(0, size - 65535 - _END.size)
        tail = self._source.read(start, size - start)
        at = tail.rfind(b"PK\x05\x06")
        while at >= 0 and len(tail) - at < _END.size:
            at = tail.rfind(b"PK\x05\x06", 0, at)
        if at < 0:
            self._fail("failed finding central directory")
        return start + at

    def _find_directory(self):
        """(number of entries, size, offset) of the central directory."""
        end = self._find_end()
        _, _, _, _, n, size, offset, _ = _END.unpack(self._source.read(end, _END.size))
        locator = self._source.read(end - _LOCATOR.size, _LOCATOR.size) if end >= 20 else b""
        if locator[:4] == b"PK\x06\x07" and len(locator) == _LOCATOR.size:
            at = _LOCATOR.unpack(locator)[2]
            data = self._source.read(at, _END64.size) if at <= end - _END64.size else b""
            if data[:4] != b"PK\x06\x06" or len(data) != _END64.size:
                self._fail("invalid header or archive is corrupted")
            *_, n, size, offset = _END64.unpack(data)
        if offset > end or size > end - offset or n * _CENTRAL.size > size:
            self._fail("invalid header or archive is corrupted")
        return n, size, offset

    def _read_directory(self, n, size, offset):
        data = self._source.read(offset, size)
        if len(data) != size:
            self._fail("invalid header or archive is corrupted")
        at = 0
        for _ in range(n):
            at = self._read_entry(data, at, offset)

    def _read_entry(self, data, at, limit):
        if at + _CENTRAL.size > len(data):
            self._fail("invalid header or archive is corrupted")
        (magic, _, _, flags, method, _, _, crc, packed, size, n_name, n_extra, n_comment, _, _, _,
         offset) = _CENTRAL.unpack_from(data, at)
        at += _CENTRAL.size
        end = at + n_name + n_extra + n_comment
        if magic != 0x02014B50 or end > len(data):
            self._fail("invalid header or archive is corrupted")
        name = data[at : at + n_name].decode("utf-8", "replace")
        extra = data[at + n_name : at + n_name + n_extra]
        packed, size, offset = self._zip64(extra, packed, size, offset)
        if offset > limit or packed > limit - offset:
            self._fail("invalid header or archive is corrupted")
        folder, slash, rest = name.partition("/")
        if not slash:
            self._fail(f"file name {name!r} has no folder")
        if self.folder is None:
            self.folder = folder
        if folder == self.folder:
            self._records[rest] = (offset, method, crc, packed, size, flags, name)
        return end

    def _zip64(self, extra, packed, size, offset):
        """Replaces the fields that did not fit in 32 bits."""
        at = 0
        while at + 4 <= len(extra):
            tag, length = struct.unpack_from("<HH", extra, at)
            at += 4
            if tag == 1:
                values = extra[at : at + length]
                fields = [size, packed, offset]
                used = 0
                for i, value in enumerate(fields):
                    if value == _M32:
                        if used + 8 > len(values):
                            self._fail("invalid header or archive is corrupted")
                        (fields[i],) = struct.unpack_from("<Q", values, used)
                        used += 8
                size, packed, offset = fields
            at += length
        return packed, size, offset

    def names(self):
        """The names of all records."""
        return list(self._records)

    def has(self, name):
        """Whether there is a record of that name."""
        return name in self._records

    def _locate(self, name):
        """(offset of the data, method, crc, stored size, size); checks the local header."""
        entry = self._records.get(name)
        if entry is None:
            raise RuntimeError(
                f"PytorchStreamReader failed locating file {name}: file not found. {_CORRUPT}"
            )
        offset, method, crc, packed, size, flags, full = entry
        head = self._source.read(offset, _LOCAL.size)
        if len(head) != _LOCAL.size or head[:4] != b"PK\x03\x04":
            self._fail("invalid header or archive is corrupted", name)
        fields = _LOCAL.unpack(head)
        start = offset + _LOCAL.size + fields[9] + fields[10]
        if flags & 1 or method not in (0, 8) or (method == 0 and packed != size):
            self._fail("unsupported method", name)
        if start + packed > self._source.size:
            self._fail("invalid header or archive is corrupted", name)
        return start, method, crc, packed, size

    def span(self, name):
        """(offset in the source, size) of a record that is stored, not compressed."""
        start, method, _, _, size = self._locate(name)
        if method != 0:
            self._fail("compressed records cannot be mapped", name)
        return start, size

    def size(self, name):
        """Size of a record's data."""
        return self._locate(name)[4]

    def read(self, name):
        """A record's data. Raises if its CRC does not fit."""
        start, method, crc, packed, size = self._locate(name)
        data = self._source.read(start, packed)
        if len(data) != packed:
            self._fail("unexpected end of file", name)
        if method == 8:
            data = self._inflate(name, data, size)
        self._check(name, data, crc)
        return data

    def read_into(self, name, view):
        """Reads a record into a flat buffer of its size. Raises if its CRC does not fit."""
        start, method, crc, packed, size = self._locate(name)
        if method == 8:
            view[:] = self._inflate(name, self._source.read(start, packed), size)
        elif self._source.read_into(start, view) != size:
            self._fail("unexpected end of file", name)
        self._check(name, view, crc)

    def read_to(self, name, address, size):
        """Reads a record to memory of its size. Raises if its CRC does not fit."""
        import ctypes

        import torch

        start, method, crc, _, _ = self._locate(name)
        if method == 0 and isinstance(self._source, FileSource):
            # On several threads, checking each block while it is in the cache.
            job = (self._source.base + start, address, size, crc)
            (result,) = torch._C._read_records(self._source.fileno(), [job])
            if result:
                self._fail(("unexpected end of file", "CRC-32 check failed")[result - 1], name)
            return
        view = memoryview((ctypes.c_char * size).from_address(address)).cast("B")
        self.read_into(name, view)

    def _inflate(self, name, data, size):
        # Deflate cannot expand more than 1032 times: the claim is checked before memory is taken.
        if size > 1032 * len(data) + 64:
            self._fail("invalid header or archive is corrupted", name)
        try:
            engine = zlib.decompressobj(-15)
            out = engine.decompress(data, size) if size else b""
        except zlib.error:
            out = None
        if out is None or len(out) != size:
            self._fail("decompression failed", name)
        return out

    def _check(self, name, data, crc):
        # Zero stands for "not computed" (see `set_crc32_options`).
        if crc and crc32(data) != crc:
            self._fail("CRC-32 check failed", name)
