"""The functions of an accelerator's module (`torch.xpu`, `torch.mtia`) in a build without it.

Questions have the answers of a machine without devices, seeds are accepted for devices to come,
and what needs a device raises.
"""

import torch

_ASKING = """
    can_device_access_peer current_device current_stream get_device_capability get_device_name
    get_device_properties get_rng_state get_stream_from_external init initial_seed mem_get_info
    memory_snapshot seed seed_all set_device set_rng_state set_stream synchronize
""".split()
_ZERO = """memory_allocated max_memory_allocated memory_reserved max_memory_reserved
           device_count""".split()
_FALSE = "is_available is_initialized is_bf16_supported is_tf32_supported".split()
_EMPTY_LIST = "get_rng_state_all get_arch_list".split()


class device:
    """Chooses a device inside a block; a negative index chooses nothing."""

    def __init__(self, device):
        self.idx = torch._utils._get_device_index(device, optional=True)

    def __enter__(self):
        if self.idx is not None and self.idx >= 0:
            self._refuse()

    def __exit__(self, type, value, traceback):
        return False


def _constant(value, doc):
    def make(name, module):
        def function(device=None):
            return list(value) if isinstance(value, list) else value

        function.__name__ = function.__qualname__ = name
        function.__module__, function.__doc__ = module, doc
        return function

    return make


def fill(namespace, title, refusal=AssertionError):
    """Puts the functions into a module's globals; `title` is the device's name in messages."""
    module = namespace["__name__"]

    def refuse(*args, **kwargs):
        raise refusal(f"Torch not compiled with {title} enabled")

    def asking(name):
        def function(*args, **kwargs):
            refuse()

        function.__name__ = function.__qualname__ = name
        function.__module__ = module
        function.__doc__ = f"Needs a device: {refusal.__name__} in this build."
        return function

    def manual_seed(seed):
        """Remembered for devices that are not there."""
        int(seed)

    def nothing(*args, **kwargs):
        """Nothing to do without devices."""

    made = {name: asking(name) for name in _ASKING}
    for names, make in ((_ZERO, _constant(0, "0: there are no devices.")),
                        (_FALSE, _constant(False, "False: there are no devices.")),
                        (_EMPTY_LIST, _constant([], "Nothing: there are no devices."))):
        made.update({name: make(name, module) for name in names})
    made.update(manual_seed=manual_seed, manual_seed_all=manual_seed, empty_cache=nothing,
                reset_peak_memory_stats=nothing, reset_accumulated_memory_stats=nothing,
                set_rng_state_all=nothing, memory_stats=lambda device=None: {})
    for name in ("Stream", "Event"):
        made[name] = type(name, (), {"__init__": refuse, "__module__": module,
                                     "__doc__": "Needs a device: cannot be made."})
    made["device"] = type("device", (device,), {"_refuse": refuse, "__module__": module,
                                                "__doc__": device.__doc__})
    for name, value in made.items():
        namespace.setdefault(name, value)
