"""Is script on? PYTORCH_JIT=0 in the environment says no."""

import os


class EnabledProxy:
    """The switch; true or false by itself."""

    def __init__(self):
        self.enabled = os.environ.get("PYTORCH_JIT", "1") != "0"

    def __bool__(self):
        return self.enabled


_enabled = EnabledProxy()


def disable():
    _enabled.enabled = False


def enable():
    _enabled.enabled = True
