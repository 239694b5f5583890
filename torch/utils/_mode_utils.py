"""A question about function and dispatch modes."""


def all_same_mode(modes):
    """Whether all are the same object."""
    return all(mode is modes[0] for mode in modes)
