"""Test inputs by the name in an entry's `samples:` key. Each yields (arguments, keywords)."""

import torch

SAMPLES = {}


def samples(*names):
    def register(f):
        for n in names:
            SAMPLES[n] = f
        return f

    return register


def rand(*size, dtype=torch.float64, low=0.1, high=0.9):
    """Values away from the edges of domains, so that most functions are smooth there."""
    return torch.rand(size, dtype=torch.float64).mul_(high - low).add_(low).to(dtype)


def layouts(*size, dtype=torch.float64):
    """The same shape contiguous, transposed, strided, and with a zero size."""
    yield rand(*size, dtype=dtype)
    yield rand(*size[::-1], dtype=dtype).permute(*range(len(size) - 1, -1, -1))
    yield rand(*(2 * s for s in size), dtype=dtype)[tuple(slice(None, None, 2) for _ in size)]
    yield rand(*size[:-1], 0, dtype=dtype)


@samples("unary")
def unary(dtype):
    for x in layouts(3, 4, dtype=dtype):
        yield (x,), {}
    yield (rand(dtype=dtype),), {}


@samples("binary", "binary_alpha", "binary_nonzero", "pow", "loss")
def binary(dtype):
    for x in layouts(3, 4, dtype=dtype):
        yield (x, rand(*x.shape, dtype=dtype)), {}
    yield (rand(3, 1, dtype=dtype), rand(3, 1, dtype=dtype)), {}


@samples("ternary")
def ternary(dtype):
    yield (rand(3, 4, dtype=dtype), rand(4, dtype=dtype), rand(3, 1, dtype=dtype)), {}


@samples("lerp")
def lerp(dtype):
    yield (rand(3, 4, dtype=dtype), rand(3, 4, dtype=dtype), 0.3), {}


@samples("reduce")
def reduce(dtype):
    for dim in (0, -1, (0, 2)):
        yield (rand(2, 3, 4, dtype=dtype), dim), {}
        yield (rand(2, 3, 4, dtype=dtype), dim, True), {}


@samples("along_dim")
def along_dim(dtype):
    for dim in (0, 1, -1):
        yield (rand(3, 4, dtype=dtype), dim), {}


@samples("matrix")
def matrix(dtype):
    for x in list(layouts(3, 4, dtype=dtype))[:3]:
        yield (x,), {}


@samples("batch_matrix")
def batch_matrix(dtype):
    yield (rand(2, 3, 4, dtype=dtype),), {}


@samples("transpose")
def transpose(dtype):
    yield (rand(2, 3, 4, dtype=dtype), 0, -1), {}


@samples("permute")
def permute(dtype):
    yield (rand(2, 3, 4, dtype=dtype), (2, 0, 1)), {}


@samples("view")
def view(dtype):
    yield (rand(2, 6, dtype=dtype), (3, -1)), {}


@samples("expand")
def expand(dtype):
    yield (rand(3, 1, dtype=dtype), (2, 3, 4)), {}


@samples("select")
def select(dtype):
    yield (rand(3, 4, dtype=dtype), 1, -2), {}


@samples("narrow")
def narrow(dtype):
    yield (rand(3, 4, dtype=dtype), 1, 1, 2), {}


@samples("unsqueeze")
def unsqueeze(dtype):
    yield (rand(3, 4, dtype=dtype), -1), {}


@samples("squeeze", "squeeze_dim")
def squeeze(dtype):
    yield (rand(3, 1, 4, dtype=dtype), 1), {}


@samples("diagonal")
def diagonal(dtype):
    for offset in (-1, 0, 2):
        yield (rand(3, 4, dtype=dtype), offset), {}


@samples("unfold")
def unfold(dtype):
    yield (rand(3, 7, dtype=dtype), 1, 3, 2), {}


@samples("reduce_one")
def reduce_one(dtype):
    for dim in (0, -1):
        yield (rand(2, 3, 4, dtype=dtype), dim), {}
        yield (rand(2, 3, 4, dtype=dtype), dim, True), {}


@samples("clamp")
def clamp(dtype):
    yield (rand(3, 4, dtype=dtype),), {"min": 0.35}
    yield (rand(3, 4, dtype=dtype),), {"min": 0.35, "max": 0.65}


@samples("sum_to")
def sum_to(dtype):
    yield (rand(2, 3, 4, dtype=dtype), (3, 1)), {}


@samples("expand_as")
def expand_as(dtype):
    yield (rand(3, 1, dtype=dtype), rand(2, 3, 4, dtype=dtype)), {}


@samples("along_even_dim")
def along_even_dim(dtype):
    yield (rand(4, 3, dtype=dtype), 0), {}
    yield (rand(3, 4, dtype=dtype),), {}


@samples("vector_norm")
def vector_norm(dtype):
    for order in (1, 2, 3.5, float("inf")):
        yield (rand(3, 4, dtype=dtype), order), {}
        yield (rand(3, 4, dtype=dtype), order, 1, True), {}
