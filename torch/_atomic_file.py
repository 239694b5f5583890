"""A file that appears under its name only when it is complete."""

import os


class AtomicFile:
    """Context manager: writes beside the target, then takes its place.

    The data are on the disk before the name changes, so that neither a kill nor a loss of power
    leaves a damaged file. Targets that are no regular files (a pipe, a device) are written
    directly.

    Raises:
        RuntimeError: the parent directory does not exist. OSError: as from `open` and `write`.
    """

    def __init__(self, path):
        self._shown = os.fsdecode(os.fspath(path))
        # Through symbolic links: the link stays, its target is replaced.
        self._target = os.path.realpath(self._shown)
        self._temporary = None

    def __enter__(self):
        parent = os.path.dirname(self._target)
        if not os.path.isdir(parent):
            shown = os.path.dirname(self._shown) or parent
            raise RuntimeError(f"Parent directory {shown} does not exist.")
        if os.path.isdir(self._target):
            raise RuntimeError(f"open file failed with strerror: Is a directory: {self._shown}")
        if os.path.exists(self._target) and not os.path.isfile(self._target):
            self._file = open(self._target, "wb", buffering=0)
            return self
        self._temporary = f"{self._target}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        self._file = os.fdopen(os.open(self._temporary, flags, 0o666), "wb", buffering=0)
        if os.path.exists(self._target):
            os.chmod(self._temporary, os.stat(self._target).st_mode & 0o7777)
        return self

    def write(self, data):
        """Writes all of a buffer."""
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def __exit__(self, kind, value, tb):
        try:
            if kind is None and self._temporary is not None:
                os.fsync(self._file.fileno())
            self._file.close()
            if kind is None and self._temporary is not None:
                os.replace(self._temporary, self._target)
                self._temporary = None
        finally:
            self._file.close()
            if self._temporary is not None:
                try:
                    os.unlink(self._temporary)
                except FileNotFoundError:
                    pass
