"""The order of products in `torch.einsum`: left to right here; the package is not used."""

enabled = False
strategy = None


def is_available():
    return False


def get_opt_einsum():
    return None
