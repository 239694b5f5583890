"""Names of linear algebra that PyTorch has removed: each says what to call instead."""

_REPLACEMENTS = {
    "matrix_rank": "torch.linalg.matrix_rank",
    "solve": "torch.linalg.solve",
    "lstsq": "torch.linalg.lstsq",
    "eig": "torch.linalg.eig",
    "symeig": "torch.linalg.eigh",
    "qr": "torch.linalg.qr",
    "cholesky": "torch.linalg.cholesky",
}


def _removed(name):
    def function(*args, **kwargs):
        raise RuntimeError(
            "This function was deprecated since version 1.9 and is now removed. "
            f"`torch.{name}` is deprecated in favor of `{_REPLACEMENTS[name]}`."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Removed; `{_REPLACEMENTS[name]}` replaces it. RuntimeError when called."
    return function


for _name in _REPLACEMENTS:
    globals()[_name] = _removed(_name)
del _name
