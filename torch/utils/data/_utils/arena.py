"""Shared memory between one worker process and its parent.

The memory is an anonymous file (memfd): it has no name, so nothing can be left behind whichever
process dies. The worker hands out slots and writes tensors into them; the parent makes tensors
that lie directly on the slots. When the last tensor on a slot dies, the parent reports the slot
with its next request, and the worker uses it again.

Small tensors travel inside the message instead. `channel.py` moves the messages.
"""

import ctypes
import mmap
import os
import weakref

import torch

INLINE_LIMIT = 1024  # bytes; below this a slot costs more than a copy through the pipe
_PAGE = mmap.PAGESIZE
_FIRST_CHUNK = 1 << 18
_LARGE = 8 << 20  # slots from this size on are made one by one


def _size_class(nbytes):
    """Rounds up to 1/8 of a power of two: at most 12.5 % waste, and slots fit later batches."""
    nbytes = max(nbytes, 4096)
    step = 1 << max(12, nbytes.bit_length() - 4)
    return -(-nbytes // step) * step


class Writer:
    """The worker's side: allocates slots, fills them, describes them to the parent."""

    def __init__(self, fd):
        self._fd = fd
        self._length = 0
        self._chunks = []  # (memoryview, address, file offset, length)
        self._new_chunks = []
        self._free = {}  # size class -> offsets
        self._bump = (0, 0)  # unused rest of the last chunk: offset, end
        self._size_of = {}  # offset -> size class
        self._outs = {}  # id -> (tensor, offset): given out by `empty`, not yet sent
        self._local = {}  # offset -> weak reference to the buffer under `empty`'s tensor
        self._waiting = []  # offsets free in the parent but perhaps not here

    def _grow(self, size):
        several = 4 * size if size < _LARGE else size
        length = max(_FIRST_CHUNK, min(self._length // 2, 4 * _LARGE), several)
        length = -(-length // _PAGE) * _PAGE
        # Reserves the memory now: running out of it is an error here, not a SIGBUS later.
        os.posix_fallocate(self._fd, self._length, length)
        chunk = mmap.mmap(self._fd, length, offset=self._length)
        address = ctypes.addressof(ctypes.c_char.from_buffer(chunk))
        self._chunks.append((memoryview(chunk), address, self._length, length))
        self._new_chunks.append((self._length, length))
        offset, end = self._bump
        if end > offset:
            self._size_of[offset] = end - offset
            self._free.setdefault(end - offset, []).append(offset)
        self._bump = (self._length, self._length + length)
        self._length += length

    def _allocate(self, nbytes):
        size = _size_class(nbytes)
        slots = self._free.get(size)
        if slots:
            return slots.pop()
        # Batches of ever new sizes: rather a slot up to twice as large than new memory.
        fitting = [k for k, free in self._free.items() if free and size < k <= 2 * size]
        if fitting:
            return self._free[min(fitting)].pop()
        if self._bump[1] - self._bump[0] < size:
            self._grow(size)
        offset, end = self._bump
        self._bump = (offset + size, end)
        self._size_of[offset] = size
        return offset

    def release(self, offsets):
        """Takes back slots whose tensors are gone in the parent.

        A slot that is still referred to in this process (by a collate function that keeps its
        results, say) waits until it is not.
        """
        self._waiting.extend(offsets)
        waiting = []
        for offset in self._waiting:
            ref = self._local.get(offset)
            if ref is not None and ref() is not None:
                waiting.append(offset)
                continue
            self._local.pop(offset, None)
            self._free.setdefault(self._size_of[offset], []).append(offset)
        self._waiting = waiting

    def _chunk_at(self, offset):
        for chunk in reversed(self._chunks):
            if offset >= chunk[2]:
                return chunk
        raise AssertionError("offset outside of the arena")

    def empty(self, shape, dtype):
        """A tensor in a slot, or None if it is so small that it will travel in the message."""
        count = 1
        for n in shape:
            count *= n
        nbytes = count * dtype.itemsize
        if nbytes < INLINE_LIMIT:
            return None
        offset = self._allocate(nbytes)
        whole, _, start, _ = self._chunk_at(offset)
        buffer = whole[offset - start : offset - start + nbytes]
        self._local[offset] = weakref.ref(buffer)
        tensor = torch.frombuffer(buffer, dtype=dtype).view(shape)
        self._outs[id(tensor)] = (tensor, offset)
        return tensor

    def _put(self, address, nbytes):
        """Copies memory into a slot; returns its offset."""
        offset = self._allocate(nbytes)
        _, base, start, _ = self._chunk_at(offset)
        ctypes.memmove(base + offset - start, address, nbytes)
        return offset

    def put_bytes(self, data):
        """Copies a bytes object into a slot; returns its offset."""
        offset = self._allocate(len(data))
        whole, _, start, _ = self._chunk_at(offset)
        whole[offset - start : offset - start + len(data)] = data
        return offset

    def describe(self, tensors):
        """Brings dense CPU tensors into slots or bytes; returns what `Reader.tensors` needs.

        Each description is (place, nbytes, dtype, shape, stride, offset) where place is a slot's
        offset, the bytes themselves, or a pair (k,) meaning "the storage of description k";
        stride is None for a contiguous tensor that has the place for itself.
        """
        out = [None] * len(tensors)
        others = []
        for k, t in enumerate(tensors):
            known = self._outs.get(id(t))
            if known is not None and known[0] is t:
                del self._outs[id(t)]
                nbytes = t.numel() * t.dtype.itemsize
                out[k] = (known[1], nbytes, _name_of(t.dtype), tuple(t.shape), None, 0)
            else:
                others.append(k)
        if len(others) == 1 and tensors[others[0]].is_contiguous():
            t = tensors[others[0]]
            nbytes = t.numel() * t.dtype.itemsize
            place = self._place(t.data_ptr(), nbytes)
            out[others[0]] = (place, nbytes, _name_of(t.dtype), tuple(t.shape), None, 0)
        elif others:
            spans = _spans([tensors[k] for k in others])
            for k in others:
                out[k] = self._describe_span(k, tensors[k], _name_of(tensors[k].dtype), spans)
        return out

    def _place(self, address, nbytes):
        """Copies memory: the bytes if they are few, else the offset of a slot."""
        if nbytes < INLINE_LIMIT:
            return ctypes.string_at(address, nbytes) if nbytes else b""
        return self._put(address, nbytes)

    def _describe_span(self, k, t, name, spans):
        itemsize = t.dtype.itemsize
        shape = tuple(t.shape)
        if t.numel() == 0:
            return (b"", 0, name, shape, t.stride(), 0)
        span = spans[t.untyped_storage().data_ptr()]
        first = t.data_ptr() - span[0]
        if span[2] is None:
            nbytes = span[1] - span[0]
            place = self._place(span[0], nbytes)
            span[2] = k
            if first == 0 and nbytes == t.numel() * itemsize and t.is_contiguous():
                return (place, nbytes, name, shape, None, 0)
            return (place, nbytes, name, shape, t.stride(), first // itemsize)
        return ((span[2],), span[1] - span[0], name, shape, t.stride(), first // itemsize)

    def take_new_chunks(self):
        """Chunks that the parent does not know yet: (file offset, length)."""
        chunks, self._new_chunks = self._new_chunks, []
        return chunks

    def end_batch(self):
        """Frees the slots given out by `empty` that did not end up in the batch."""
        if self._outs:
            unsent = [offset for _, offset in self._outs.values()]
            self._outs.clear()
            self.release(unsent)


def _spans(tensors):
    """Storage address -> [first byte, end, index of the sender] over all tensors on it."""
    spans = {}
    for t in tensors:
        if t.numel() == 0:
            continue
        # Aligned, so that views of any dtype have a whole offset.
        start = t.untyped_storage().data_ptr()
        low = start + (t.data_ptr() - start) // 16 * 16
        reach = sum((n - 1) * s for n, s in zip(t.shape, t.stride()))
        high = t.data_ptr() + (reach + 1) * t.dtype.itemsize
        span = spans.setdefault(start, [low, high, None])
        span[0] = min(span[0], low)
        span[1] = max(span[1], high)
    return spans


_names = {}
_dtypes = {}


def _name_of(dtype):
    name = _names.get(dtype)
    if name is None:
        name = _names[dtype] = str(dtype).partition(".")[2]
    return name


def _dtype_of(name):
    dtype = _dtypes.get(name)
    if dtype is None:
        dtype = _dtypes[name] = getattr(torch, name)
    return dtype


class _SlotRef(weakref.ref):
    """Watches the buffer under a slot's tensors."""

    __slots__ = ("offset",)


class Reader:
    """The parent's side: makes tensors on slots and remembers which slots became free."""

    def __init__(self, fd):
        self._fd = fd
        self._chunks = []  # (file offset, memoryview)
        self._refs = {}  # offset -> the weak reference that watches it
        self.freed = []

    def map(self, chunks):
        """Maps chunks that the worker added."""
        for start, length in chunks:
            self._chunks.append((start, memoryview(mmap.mmap(self._fd, length, offset=start))))

    def _released(self, ref):
        self.freed.append(ref.offset)
        self._refs.pop(ref.offset, None)

    def view(self, offset, nbytes):
        """A buffer on a slot; when the last user of it is gone the slot counts as free."""
        for start, whole in reversed(self._chunks):
            if offset >= start:
                view = whole[offset - start : offset - start + nbytes]
                break
        else:
            raise AssertionError("offset outside of the arena")
        ref = _SlotRef(view, self._released)
        ref.offset = offset
        self._refs[offset] = ref
        return view

    def tensors(self, descriptions):
        """The tensors that `Writer.describe` described."""
        out = []
        for place, nbytes, name, shape, stride, offset in descriptions:
            dtype = _dtype_of(name)
            if nbytes == 0:
                empty = torch.empty(shape, dtype=dtype)
                out.append(empty if stride is None else empty.as_strided(shape, stride))
                continue
            if type(place) is int:
                buffer = self.view(place, nbytes)
            elif type(place) is bytes:
                buffer = bytearray(place)
            else:
                out.append(_alias(out[place[0]], dtype, shape, stride, offset))
                continue
            if stride is None:
                out.append(torch.frombuffer(buffer, dtype=dtype).view(shape))
            else:
                base = torch.frombuffer(buffer, dtype=torch.uint8)
                out.append(_alias(base, dtype, shape, stride, offset))
        return out

    def discard(self, descriptions):
        """Frees the slots of a message that nobody wants any more."""
        for place, *_ in descriptions:
            if type(place) is int:
                self.freed.append(place)


def _alias(first, dtype, shape, stride, offset):
    """Another tensor on the storage of `first`."""
    tensor = torch.empty(0, dtype=dtype)
    return tensor.set_(first.untyped_storage(), offset, shape, stride)
