"""Meta's MTIA, as a build without it answers: no devices; what needs one raises."""


def is_available():
    return False


def is_initialized():
    return False


def device_count():
    return 0


def manual_seed(seed):
    """Remembered for devices that are not there."""
    int(seed)


manual_seed_all = manual_seed


def _asking(name):
    def function(*args, **kwargs):
        raise AssertionError("Torch not compiled with MTIA enabled")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Needs an MTIA device: AssertionError in this build."
    return function


for _name in ("current_device", "set_device", "synchronize", "get_device_name",
              "get_device_properties", "current_stream", "get_rng_state", "set_rng_state", "init"):
    globals()[_name] = _asking(_name)
del _name


def empty_cache():
    """Nothing to empty."""
