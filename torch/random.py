"""Seeds and states of the default generator."""

from contextlib import contextmanager

from torch._C import Generator, default_generator

__all__ = [
    "set_rng_state", "get_rng_state", "manual_seed", "seed", "initial_seed", "fork_rng",
    "thread_safe_generator",
]


def set_rng_state(new_state):
    """Puts the default CPU generator into a state that `get_rng_state` returned."""
    default_generator.set_state(new_state)


def get_rng_state():
    """The state of the default CPU generator: a `uint8` tensor."""
    return default_generator.get_state()


def manual_seed(seed):
    """Seeds the default generator; the same seed gives the same numbers. Returns the generator."""
    return default_generator.manual_seed(int(seed))


def seed():
    """Seeds the default generator from the system and returns the seed."""
    return default_generator.seed()


def initial_seed():
    """The seed that the default generator was last given."""
    return default_generator.initial_seed()


def thread_safe_generator():
    """The generator that a worker process of a DataLoader draws from; None in other places."""
    return None


@contextmanager
def fork_rng(
    devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"
):
    """A block after which the generator stands where it stood before.

    Args:
        devices: devices besides the CPU whose generators are kept as well; none exist here.
        enabled: False leaves everything as it is.
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
