"""`Future`: a value that will be there later."""

import threading

__all__ = ["Future", "collect_all", "wait_all"]


class _FutureMeta(type):
    def __getitem__(cls, item):  # Future[T] in annotations
        return cls


class Future(metaclass=_FutureMeta):
    """A result that some thread sets; others wait for it or add callbacks.

    Args:
        devices: devices of the value; only the CPU exists.
    """

    def __init__(self, *, devices=None):
        self._condition = threading.Condition()
        self._done = False
        self._value = self._error = None
        self._callbacks = []

    def done(self):
        """Is there a result (or an error)?"""
        return self._done

    def wait(self):
        """Blocks until it is there and returns it, or raises the error."""
        with self._condition:
            self._condition.wait_for(lambda: self._done)
        return self.value()

    def value(self):
        """The result of a completed future; RuntimeError before."""
        if not self._done:
            raise RuntimeError("value() was called on a Future that is not completed()")
        if self._error is not None:
            raise self._error
        return self._value

    def then(self, callback):
        """A future of ``callback(self)``, which runs when this one is completed."""
        result = Future()

        def run(done):
            try:
                result.set_result(callback(done))
            except Exception as error:
                wrapped = RuntimeError("Got the following error when running the callback: "
                                       f"{type(error).__name__}: {error}")
                wrapped.__cause__ = error
                result._complete(None, wrapped)

        self.add_done_callback(run)
        return result

    def add_done_callback(self, callback):
        """Calls ``callback(self)`` on completion, or now if completed."""
        with self._condition:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def set_result(self, result):
        """Completes it; only once."""
        self._complete(result, None)

    def set_exception(self, result):
        """Completes it with an error, which `wait` and `value` raise."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def _complete(self, value, error):
        with self._condition:
            if self._done:
                raise RuntimeError("Attempting to mark a completed Future as complete again. Note "
                                   "that a Future can only be marked completed once.")
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._condition.notify_all()
        for callback in callbacks:
            callback(self)


def collect_all(futures):
    """A future of the list `futures`, completed when all of them are."""
    futures = list(futures)
    result = Future()
    left = [len(futures)]
    lock = threading.Lock()
    if not futures:
        result.set_result([])

    def finished(_):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            result.set_result(futures)

    for future in futures:
        future.add_done_callback(finished)
    return result


def wait_all(futures):
    """The results of all, in order; raises the first error."""
    return [future.wait() for future in collect_all(futures).wait()]
