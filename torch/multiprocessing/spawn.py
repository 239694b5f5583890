"""Running one function in several processes and reporting the first failure."""

import multiprocessing
import os
import pickle
import signal
import sys
import time
import warnings

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"


class ProcessException(Exception):
    """One of several processes failed.

    Attributes:
        error_index: which, from 0. error_pid: its process id. msg: the message.
    """

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.pid = pid
        self.error_pid = pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process raised; the message has its traceback."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """A process ended without an exception: with an exit code, or by a signal."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self):
        args = (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)
        return type(self), args


def _die_with_parent():
    """Asks the kernel to interrupt this process when its parent ends."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):
        pass


def _wrap(fn, i, args, error_file):
    _die_with_parent()
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent got it too, and reports
    except Exception:
        import traceback

        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """The processes that `start_processes` started."""

    def __init__(self, processes, error_files):
        self.error_files = error_files
        self.processes = processes
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self):
        """The ids of the processes."""
        return [int(process.pid) for process in self.processes]

    def _stop_all(self, grace_period):
        """Ends the processes that still run: politely, then surely."""
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        deadline = time.monotonic() + (30.0 if grace_period is None else grace_period)
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def join(self, timeout=None, grace_period=None):
        """Waits for one or more processes to end.

        Args:
            timeout: seconds to wait; None waits until one ends.
            grace_period: seconds between asking the others to end after a failure, and killing.

        Returns:
            True once all have ended well; False if some still run.

        Raises:
            ProcessRaisedException, ProcessExitedException: one failed; all are ended.
        """
        if not self.sentinels:
            return True
        from multiprocessing.connection import wait

        ready = wait(list(self.sentinels), timeout=timeout)
        failed = None
        for sentinel in ready:
            i = self.sentinels.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode != 0 and failed is None:
                failed = i
        if failed is None:
            return not self.sentinels
        self._stop_all(grace_period)
        self._raise(failed)

    def _raise(self, i):
        process = self.processes[i]
        path = self.error_files[i]
        if os.path.exists(path) and os.path.getsize(path):
            with open(path, "rb") as file:
                original = pickle.load(file)
            msg = f"\n\n-- Process {i} terminated with the following error:\n{original}"
            raise ProcessRaisedException(msg, i, process.pid)
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            msg = f"process {i} terminated with signal {name}"
            raise ProcessExitedException(msg, i, process.pid, code, signal_name=name)
        msg = f"process {i} terminated with exit code {code}"
        raise ProcessExitedException(msg, i, process.pid, code)

    def __del__(self):
        for path in self.error_files:
            try:
                os.unlink(path)
            except OSError:
                pass


SpawnContext = ProcessContext


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """As `spawn`, with any start method."""
    import tempfile

    context = multiprocessing.get_context(start_method)
    processes = []
    error_files = []
    for i in range(nprocs):
        handle, path = tempfile.mkstemp(prefix="torch-mp-", suffix=".pickle")
        os.close(handle)
        error_files.append(path)
        process = context.Process(target=_wrap, args=(fn, i, args, path), daemon=daemon)
        process.start()
        processes.append(process)
    started = ProcessContext(processes, error_files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs ``fn(i, *args)`` in `nprocs` processes, i from 0.

    If one fails the others are terminated.

    Args:
        fn: a function that can be pickled.
        args: further arguments.
        join: wait for all; otherwise return at once.
        daemon: make the processes daemons.
        start_method: deprecated for other values than ``"spawn"``.

    Returns:
        None, or with ``join=False`` a `ProcessContext`.

    Raises:
        ProcessRaisedException: a process raised; the message has its traceback.
        ProcessExitedException: a process ended by itself or by a signal.
    """
    if start_method != "spawn":
        warnings.warn(
            "This method only supports start_method=spawn (got: "
            f"{start_method}). To use a different start_method use:\n\t\t "
            "torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
