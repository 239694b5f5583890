"""Switches for warnings about behaviour of versions before 0.2; nothing warns any more."""


class Warning:
    """A switch, `enabled`."""

    def __init__(self):
        self._enabled = False

    def set_enabled(self, value):
        self._enabled = bool(value)

    def get_enabled(self):
        return self._enabled

    enabled = property(get_enabled, set_enabled)


broadcast_warning = Warning()
keepdim_warning = Warning()
