"""Messages between a `DataLoader` and its worker processes: framing, pickling, process death.

Two pipes per worker carry length-prefixed frames. Requests are pickled; results are a marshalled
header plus the pickled batch, in which every dense CPU tensor is replaced by a number: the tensors
themselves lie in shared memory (`arena.py`).

Each end of a pipe is open in exactly one process. So a dead peer shows at once: as an end of file
to a worker whose parent is gone, and to the parent through the worker's pidfd.
"""

import io
import marshal
import os
import pickle
import struct
import threading
from multiprocessing.reduction import ForkingPickler

import torch

from ...._utils import _parameter_class
from .arena import Reader, Writer

# Longer batches go through shared memory as well: a worker never blocks for long in `write`.
_PIPE_LIMIT = 4000

_LENGTH = struct.Struct("<I")

# Descriptors of all loaders of this process. A process forked from it must not hold them: an end
# of file would no longer be seen.
_open_fds = set()


def _close_inherited():
    for fd in _open_fds:
        try:
            os.close(fd)
        except OSError:
            pass
    _open_fds.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)


class FdHolder:
    """A descriptor that survives being an argument of a `Process`, whatever the start method."""

    def __init__(self, fd):
        self.fd = fd

    def __reduce__(self):
        from multiprocessing.reduction import DupFd

        return _detach, (DupFd(self.fd),)


def _detach(dup):
    return FdHolder(dup.detach())


def write_all(fd, data):
    """Writes all of `data` to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def frame(payload):
    """The payload with its length in front."""
    return _LENGTH.pack(len(payload)) + payload


class FrameReader:
    """Cuts the byte stream of one descriptor into frames."""

    def __init__(self, fd):
        self.fd = fd
        self._rest = b""

    def read_some(self):
        """One `read`; returns the complete frames so far, or None at the end of the stream."""
        data = os.read(self.fd, 65536)
        if not data:
            return None
        data = self._rest + data if self._rest else data
        frames = []
        at = 0
        while len(data) - at >= 4:
            (length,) = _LENGTH.unpack_from(data, at)
            if len(data) - at - 4 < length:
                break
            frames.append(data[at + 4 : at + 4 + length])
            at += 4 + length
        self._rest = data[at:]
        return frames


class _BatchPickler(ForkingPickler):
    """Pickles a batch, taking out its dense CPU tensors in order of appearance."""

    def __init__(self, file):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.tensors = []

    def reducer_override(self, obj):
        if isinstance(obj, torch.Tensor):
            return self._reduce_tensor(obj)
        return NotImplemented

    def _reduce_tensor(self, t):
        if t.layout is not torch.strided or t.device.type != "cpu" or t.is_quantized or t.is_nested:
            return NotImplemented
        if t.requires_grad and not t.is_leaf:
            raise RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, "
                "since autograd does not support crossing process boundaries. "
                "If you just want to transfer the data, call detach() on the tensor "
                "before serializing (e.g., putting it on the queue)."
            )
        kind = type(t)
        parameter = _parameter_class()
        if kind is not torch.Tensor and kind is not parameter:
            return NotImplemented
        requires_grad = t.requires_grad
        plain = kind is torch.Tensor and not requires_grad
        if t.is_conj() or t.is_neg():
            t = t.resolve_conj().resolve_neg()
        k = len(self.tensors)
        self.tensors.append(t if plain else t.detach())
        if plain:
            return _tensor_at, (k,)
        return _special_at, (k, kind is parameter, requires_grad)


_current = threading.local()  # .tensors: those of the message that this thread unpickles


def _tensor_at(k):
    return _current.tensors[k]


def _special_at(k, is_parameter, requires_grad):
    if is_parameter:
        return torch.nn.Parameter(_current.tensors[k], requires_grad)
    return _current.tensors[k].requires_grad_(requires_grad)


class WorkerEnd:
    """A worker's ends of its pipes and its arena."""

    def __init__(self, requests, results, arena):
        self._reader = FrameReader(requests.fd)
        self._results = results.fd
        self.arena = Writer(arena.fd)
        self._pending = []

    def receive(self):
        """The next request, or None when the parent closed the pipe or died."""
        while not self._pending:
            frames = self._reader.read_some()
            if frames is None:
                return None
            self._pending = frames[::-1]
        request, freed = pickle.loads(self._pending.pop())
        if freed:
            self.arena.release(freed)
        return request

    def send(self, epoch, idx, data):
        """Sends one batch. Raises if it cannot be pickled; nothing is sent then."""
        file = io.BytesIO()
        pickler = _BatchPickler(file)
        try:
            pickler.dump(data)
            descriptions = self.arena.describe(pickler.tensors)
        finally:
            self.arena.end_batch()
        body = file.getvalue()
        payload = marshal.dumps((epoch, idx, body, descriptions, self.arena.take_new_chunks()))
        if len(payload) > _PIPE_LIMIT:
            payload = self._in_slots(epoch, idx, body, descriptions)
        write_all(self._results, frame(payload))

    def _in_slots(self, epoch, idx, body, descriptions):
        whole = marshal.dumps((body, descriptions))
        place = (self.arena.put_bytes(whole), len(whole))
        return marshal.dumps((epoch, idx, None, place, self.arena.take_new_chunks()))


class ParentEnd:
    """The parent's ends for one worker."""

    def __init__(self):
        requests_read, self.requests = os.pipe()
        self.results, results_write = os.pipe()
        self._arena_fd = os.memfd_create("rushlight-dataloader")
        self._arena = Reader(self._arena_fd)
        self._reader = FrameReader(self.results)
        self._worker_fds = (requests_read, results_write, os.dup(self._arena_fd))
        self._fds = [self.requests, self.results, self._arena_fd]
        _open_fds.update(self._fds)
        os.set_blocking(self.requests, False)

    def worker_args(self):
        """The arguments of `WorkerEnd` in the worker."""
        return tuple(map(FdHolder, self._worker_fds))

    def started(self):
        """To be called once the worker runs (or failed to start): closes the worker's ends."""
        for fd in self._worker_fds:
            os.close(fd)

    def pack(self, request):
        """The frame for a request, with the slots freed since the last one."""
        freed, self._arena.freed = self._arena.freed, []
        return frame(pickle.dumps((request, freed), pickle.HIGHEST_PROTOCOL))

    def receive(self):
        """The messages that have arrived, or None if the worker closed its end."""
        frames = self._reader.read_some()
        if frames is None:
            return None
        messages = []
        for data in frames:
            epoch, idx, body, descriptions, chunks = marshal.loads(data)
            self._arena.map(chunks)
            messages.append((epoch, idx, body, descriptions))
        return messages

    def _open(self, body, descriptions):
        if body is not None:
            return body, descriptions
        offset, nbytes = descriptions
        return marshal.loads(self._arena.view(offset, nbytes))

    def unpack(self, body, descriptions):
        """The batch of a message."""
        body, descriptions = self._open(body, descriptions)
        _current.tensors = self._arena.tensors(descriptions)
        try:
            return pickle.loads(body)
        finally:
            _current.tensors = None

    def discard(self, body, descriptions):
        """Drops a message, freeing its slots."""
        self._arena.discard(self._open(body, descriptions)[1])

    def close(self):
        """Closes the pipes: the worker ends. Tensors on the shared memory stay valid."""
        for fd in self._fds:
            _open_fds.discard(fd)
            os.close(fd)
        self._fds = []
