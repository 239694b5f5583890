"""Helpers that pickled files refer to by name, and small ones shared across the package.

The `_rebuild_*` functions are what a pickled tensor calls to come back; their names and arguments
are part of the file format.
"""

import sys
import traceback

import torch


class KeyErrorMessage(str):
    """A message whose repr is itself: `KeyError` shows the repr of its argument."""

    def __repr__(self):
        return self


class ExceptionWrapper:
    """Carries an exception, with its traceback as text, to another thread or process.

    Args:
        exc_info: as from `sys.exc_info`; that of the exception being handled by default.
        where: words for the message, such as ``"in DataLoader worker process 0"``.
    """

    def __init__(self, exc_info=None, where="in background"):
        if exc_info is None:
            exc_info = sys.exc_info()
        self.exc_type = exc_info[0]
        # The traceback as text: frames would keep everything alive, and cannot be pickled.
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        """Raises the exception again, its message extended by the original traceback."""
        msg = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            msg = KeyErrorMessage(msg)
        elif getattr(self.exc_type, "message", None):
            # Some exceptions take their text only by this keyword.
            raise self.exc_type(message=msg)
        try:
            exception = self.exc_type(msg)
        except Exception:
            # The constructor wants other arguments.
            raise RuntimeError(msg) from None
        raise exception
