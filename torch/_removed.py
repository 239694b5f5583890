"""Functions that PyTorch removed in 1.9 and whose names still answer: with an error that says what
to call instead.
"""

_GONE = "This function was deprecated since version 1.9 and is now removed."
_INSTEAD = {
    "symeig": "torch.linalg.eigh(A, UPLO='U' if upper else 'L') or torch.linalg.eigvalsh; they "
              "read the lower triangle by default",
    "eig": "torch.linalg.eig(A) or torch.linalg.eigvals(A), which return complex tensors",
    "solve": "torch.linalg.solve(A, B); mind the order of the arguments",
    "lstsq": "torch.linalg.lstsq(A, B).solution; mind the order of the arguments",
    "matrix_rank": "torch.linalg.matrix_rank, whose `hermitian` was called `symmetric` here",
}


def _removed(name, instead):
    def function(*args, **kwargs):
        raise RuntimeError(f"{_GONE} Use {instead}.")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Removed: RuntimeError. Use {instead}."
    return function


for _name, _text in _INSTEAD.items():
    globals()[_name] = _removed(_name, _text)
del _name, _text
