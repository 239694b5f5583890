"""Iteration with worker processes: hands out requests, takes in results, keeps the order.

Every worker has its own pair of pipes and its own shared memory (`_utils/channel.py`); there are
no queues, locks or helper threads, and nothing with a name outside of the processes.
"""

import os
import select
import signal
import time

from ..._utils import ExceptionWrapper
from ._utils.channel import ParentEnd
from ._utils.worker import _IterableDatasetStopIteration, _ResumeIteration, _worker_loop
from .dataloader import _BaseDataLoaderIter

_JOIN_SECONDS = 5.0  # what a worker gets to finish its current batch before it is terminated


class _Handle:
    """The parent's view of one worker: process, pipes, and what it still owes."""

    def __init__(self, process, end):
        self.process = process
        self.end = end
        self.active = True
        self.owed = 0
        self.sentinel = process.sentinel
        self.own_sentinel = False
        if hasattr(os, "pidfd_open"):
            try:
                self.sentinel = os.pidfd_open(process.pid)
                self.own_sentinel = True
            except OSError:
                pass  # kernel older than 5.3: multiprocessing's sentinel does

    def close(self):
        self.end.close()
        if self.own_sentinel:
            os.close(self.sentinel)
            self.own_sentinel = False


def _describe_death(process):
    code = process.exitcode
    if code is not None and code < 0:
        name = signal.strsignal(-code) or f"signal {-code}"
        return f"DataLoader worker (pid {process.pid}) is killed by signal: {name}. "
    return (
        f"DataLoader worker (pid {process.pid}) exited unexpectedly with exit code {code}. "
        "Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better "
        "error trace."
    )


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Iterates over a loader's batches with ``num_workers`` processes."""

    _shutdown = True  # until the workers run

    def __init__(self, loader):
        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor
        self._in_order = loader.in_order
        self._worker_init_fn = loader.worker_init_fn
        if self._num_workers <= 0:
            raise AssertionError("_MultiProcessingDataLoaderIter requires num_workers > 0")
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0")
        self._owner = os.getpid()
        self._epoch = 0
        self._handles = []
        self._poll = select.poll()
        self._by_fd = {}
        context = loader.multiprocessing_context
        if context is None:
            from ... import multiprocessing as context
        self._shutdown = False
        try:
            for worker_id in range(self._num_workers):
                self._start_worker(context, worker_id)
        except BaseException:
            self._shutdown_workers()
            raise
        self._begin_pass()

    @property
    def _workers(self):
        return [h.process for h in self._handles]

    @property
    def _workers_status(self):
        return [h.active for h in self._handles]

    def _start_worker(self, context, worker_id):
        end = ParentEnd()
        try:
            process = context.Process(
                target=_worker_loop,
                args=(
                    end.worker_args(),
                    self._dataset_kind,
                    self._dataset,
                    self._auto_collation,
                    self._collate_fn,
                    self._drop_last,
                    self._base_seed,
                    self._worker_init_fn,
                    worker_id,
                    self._num_workers,
                ),
            )
            process.daemon = True
            process.start()
        except BaseException:
            end.started()
            end.close()
            raise
        end.started()
        handle = _Handle(process, end)
        self._handles.append(handle)
        for fd in (end.results, handle.sentinel):
            self._by_fd[fd] = handle
            self._poll.register(fd, select.POLLIN)

    def _begin_pass(self):
        self._send_idx = 0  # number of the next request
        self._rcvd_idx = 0  # number of the batch that is to be returned next
        self._tasks = {}  # requests not yet returned: number -> handle
        self._store = {}  # results not yet returned: number -> (handle, body, descriptions)
        self._turn = 0
        for handle in self._handles:
            handle.active = True
            handle.owed = 0
        for _ in range(self._prefetch_factor * self._num_workers):
            self._request_next()

    def _reset(self, loader, first_iter=False):
        """Starts another pass with the same workers."""
        super()._reset(loader, first_iter)
        for handle, body, descriptions in self._store.values():
            handle.end.discard(body, descriptions)
        self._epoch += 1
        for handle in self._handles:
            self._send(handle, _ResumeIteration())
        self._begin_pass()

    # ---------------------------------------------------------------- requests

    def _pick_worker(self):
        """The next active worker in turn; the least busy one if order does not matter."""
        n = self._num_workers
        order = [self._handles[(self._turn + k) % n] for k in range(n)]
        active = [h for h in order if h.active]
        if not active:
            return None
        handle = active[0] if self._in_order else min(active, key=lambda h: h.owed)
        self._turn = (self._handles.index(handle) + 1) % n
        return handle

    def _request_next(self):
        """Sends the next index to a worker, if there is one and a worker to take it."""
        handle = self._pick_worker()
        if handle is None:
            return
        try:
            index = self._next_index()
        except StopIteration:
            return
        handle.owed += 1
        self._tasks[self._send_idx] = handle
        idx = self._send_idx
        self._send_idx += 1
        self._send(handle, (self._epoch, idx, index))

    def _send(self, handle, request):
        """Writes a request; takes in results while the pipe is full, so nobody waits in a ring."""
        view = memoryview(handle.end.pack(request))
        while view:
            try:
                view = view[os.write(handle.end.requests, view) :]
            except BlockingIOError:
                self._poll.register(handle.end.requests, select.POLLOUT)
                try:
                    self._take_in(None)
                finally:
                    self._poll.unregister(handle.end.requests)
            except BrokenPipeError:
                self._report_dead({handle})

    # ---------------------------------------------------------------- results

    def _take_in(self, timeout_ms):
        """Waits for any event and stores the results that came. False if the time ran out."""
        events = self._poll.poll(timeout_ms)
        dead = set()
        for fd, _ in events:
            handle = self._by_fd.get(fd)
            if handle is None:
                continue  # a request pipe that can be written again
            messages = handle.end.receive() if fd == handle.end.results else None
            if messages is None:
                dead.add(handle)
                continue
            for epoch, idx, body, descriptions in messages:
                if epoch == self._epoch:
                    self._store[idx] = (handle, body, descriptions)
                else:
                    handle.end.discard(body, descriptions)
        if dead:
            self._report_dead(dead)
        return bool(events)

    def _report_dead(self, handles):
        for handle in handles:
            handle.process.join(1.0)  # the pipe closes a moment before the process is gone
        dead = [h.process for h in self._handles if h in handles or not h.process.is_alive()]
        cause = RuntimeError(" ".join(map(_describe_death, dead)))
        pids = ", ".join(str(p.pid) for p in dead)
        self._shutdown_workers()
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from cause

    def _wait_for(self, ready):
        """Takes in results until `ready()`; raises when the loader's timeout has passed."""
        if self._timeout <= 0:
            while not ready():
                self._take_in(None)
            return
        deadline = time.monotonic() + self._timeout
        while not ready():
            left = deadline - time.monotonic()
            if left <= 0 or not self._take_in(max(1, int(left * 1000))):
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")

    def _next_ready(self):
        """The number of the batch to return now; its result is in the store."""
        if self._in_order:
            idx = self._rcvd_idx
            self._wait_for(lambda: idx in self._store)
            self._rcvd_idx += 1
            return idx
        self._wait_for(lambda: self._store)
        return next(iter(self._store))

    def _skip_abandoned(self):
        """Passes over requests to workers whose stream ended before they came to them."""
        while self._rcvd_idx < self._send_idx:
            idx = self._rcvd_idx
            handle = self._tasks.get(idx)
            if handle is not None and (handle.active or idx in self._store):
                return
            self._tasks.pop(idx, None)
            self._rcvd_idx += 1

    def _forget_worker(self, handle):
        """A worker's stream ended: nothing more will come from it in this pass."""
        handle.active = False
        for idx in [i for i, h in self._tasks.items() if h is handle and i not in self._store]:
            del self._tasks[idx]

    def _next_data(self):
        while True:
            if self._in_order:
                self._skip_abandoned()
            if not self._tasks:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            idx = self._next_ready()
            handle, body, descriptions = self._store.pop(idx)
            del self._tasks[idx]
            handle.owed -= 1
            data = handle.end.unpack(body, descriptions)
            if isinstance(data, _IterableDatasetStopIteration):
                self._forget_worker(handle)
                self._request_next()
                continue
            self._request_next()
            if isinstance(data, ExceptionWrapper):
                data.reraise()
            if self._pin_memory:
                from ._utils.pin_memory import pin_memory

                data = pin_memory(data, self._pin_memory_device)
            return data

    # ---------------------------------------------------------------- the end

    def _shutdown_workers(self):
        """Ends the workers; terminates those that do not end by themselves within 5 s."""
        if self._shutdown or self._owner != os.getpid():
            return
        self._shutdown = True
        for handle in self._handles:
            handle.close()
        deadline = time.monotonic() + _JOIN_SECONDS
        for handle in self._handles:
            handle.process.join(max(0.0, deadline - time.monotonic()))
            if handle.process.is_alive():
                handle.process.terminate()
                handle.process.join(1.0)
            if handle.process.is_alive():
                handle.process.kill()
                handle.process.join()

    def __del__(self):
        try:
            self._shutdown_workers()
        except (AttributeError, TypeError, ImportError):
            pass  # the interpreter is going down; the closed pipes end the workers
