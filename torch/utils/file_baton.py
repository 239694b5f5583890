"""`FileBaton`: a lock between processes, held by whoever creates a file."""

import os
import time
import warnings


class FileBaton:
    """A lock at `lock_file_path`; waiting looks every `wait_seconds`."""

    def __init__(self, lock_file_path, wait_seconds=0.1, warn_after_seconds=None):
        self.lock_file_path, self.wait_seconds = lock_file_path, wait_seconds
        self.warn_after_seconds = warn_after_seconds
        self.fd = None

    def try_acquire(self):
        """True if the lock is now ours."""
        try:
            self.fd = os.open(self.lock_file_path, os.O_CREAT | os.O_EXCL)
            return True
        except FileExistsError:
            return False

    def wait(self):
        """Waits until the holder has released the lock."""
        begin, warned = time.time(), False
        while os.path.exists(self.lock_file_path):
            time.sleep(self.wait_seconds)
            if (self.warn_after_seconds is not None and not warned
                    and time.time() - begin > self.warn_after_seconds):
                warnings.warn(f'Waited on lock file "{self.lock_file_path}" for '
                              f"{self.warn_after_seconds} seconds.", stacklevel=2)
                warned = True

    def release(self):
        """Gives the lock back."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None
        os.remove(self.lock_file_path)
