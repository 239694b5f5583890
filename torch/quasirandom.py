"""Quasi-random numbers: the Sobol sequence.

Direction numbers are those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better
two-dimensional projections", SIAM J. Sci. Comput. 30 (2008), table new-joe-kuo-6.21201 (BSD
licence); points come in the order of Antonov and Saleev (Gray code). Scrambling multiplies by
random lower triangular matrices and shifts (J. Matousek, "On the L2-discrepancy for anchored
boxes", 1998).
"""

import os

import torch

__all__ = ["SobolEngine"]

_BITS = 30
_BITMAP = 1 << 15  # bytes: which odd numbers below 2**19 stand for primitive polynomials


def _polynomials(data, count):
    """The first `count` primitive polynomials over GF(2), as binary numbers, smallest first."""
    found = []
    for at in range(_BITMAP):
        byte = data[at]
        while byte:
            low = byte & -byte
            found.append(2 * (8 * at + low.bit_length() - 1) + 1)
            byte ^= low
        if len(found) >= count:
            break
    return found[:count]


def _initial_numbers(data, degrees):
    """m_1 ... m_s of every dimension; m_i is odd and below 2**i, so i - 1 bits are stored."""
    at, rows = 8 * _BITMAP, []
    for s in degrees:
        row = [1]
        for i in range(1, s):
            chunk = int.from_bytes(data[at >> 3:(at >> 3) + 4], "little") >> (at & 7)
            row.append(2 * (chunk & ((1 << i) - 1)) + 1)
            at += i
        rows.append(row)
    return rows


def _directions(dimension):
    """int64 of (dimension, 30): the direction numbers, scaled to 30 bits."""
    state = torch.empty(dimension, _BITS, dtype=torch.int64)
    state[0] = torch.tensor([1 << (_BITS - 1 - j) for j in range(_BITS)])
    if dimension == 1:
        return state
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_sobol_directions.bin")
    with open(path, "rb") as file:
        data = file.read()
    polynomials = _polynomials(data, dimension - 1)
    degrees = [p.bit_length() - 1 for p in polynomials]
    numbers = _initial_numbers(data, degrees)
    for s in sorted(set(degrees)):
        rows = [i for i, d in enumerate(degrees) if d == s]
        p = torch.tensor([polynomials[i] for i in rows])
        v = [torch.tensor([numbers[i][j] for i in rows]) << (_BITS - 1 - j) for j in range(s)]
        for j in range(s, _BITS):
            new = v[j - s] ^ (v[j - s] >> s)
            for k in range(1, s):
                new = new ^ v[j - k] * ((p >> (s - k)) & 1)
            v.append(new)
        state[torch.tensor(rows) + 1] = torch.stack(v[:_BITS], 1)
    return state


def _scrambled(state, matrices):
    """Every direction number times a unit lower triangular matrix over GF(2), top bit first."""
    places = torch.arange(_BITS - 1, -1, -1)
    bits = (state.unsqueeze(-1) >> places) & 1                      # dimension, number, bit
    lower = matrices.tril(-1) + torch.eye(_BITS, dtype=torch.int64)
    product = torch.einsum("dij,dnj->dni", lower.double(), bits.double()).to(torch.int64) & 1
    return (product << places).sum(-1)


class SobolEngine:
    """Points of a Sobol sequence in the unit cube, which fill it more evenly than random ones.

    Args:
        dimension: of the cube, 1 to 21201.
        scramble: randomises the sequence (Owen scrambling by linear matrices and a shift).
        seed: of the scrambling; the default generator is used if None.
    """

    MAXBIT = _BITS
    MAXDIM = 21201

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError("Supported range of dimensionality for SobolEngine is "
                             f"[1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = _directions(dimension)
        self.shift = torch.zeros(dimension, dtype=torch.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2 ** self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self):
        generator = None
        if self.seed is not None:
            generator = torch.Generator()
            generator.manual_seed(self.seed)
        bits = torch.randint(2, (self.dimension, _BITS), generator=generator)
        self.shift = (bits << torch.arange(_BITS)).sum(1)
        matrices = torch.randint(2, (self.dimension, _BITS, _BITS), generator=generator)
        self.sobolstate = _scrambled(self.sobolstate, matrices)

    def _points(self, first, count):
        """Points `first` to `first + count - 1` as 30-bit numbers."""
        index = torch.arange(first, first + count)
        gray = index ^ (index >> 1)
        out = self.shift.unsqueeze(1).repeat(1, count)  # long rows: dimension first
        for bit in range(max(first + count - 1, 1).bit_length()):
            out ^= ((gray >> bit) & 1) * self.sobolstate[:, bit:bit + 1]
        return out.t().contiguous()

    def draw(self, n=1, out=None, dtype=None):
        """The next `n` points: a tensor of (n, dimension) of `dtype` (the default dtype)."""
        dtype = torch.get_default_dtype() if dtype is None else dtype
        points = self._points(self.num_generated, n)
        if n:
            self.quasi = points[-1].clone()
        self.num_generated += n
        result = points.to(dtype) / 2 ** self.MAXBIT
        if out is not None:
            return out.resize_as_(result).copy_(result)
        return result

    def draw_base2(self, m, out=None, dtype=None):
        """The next ``2 ** m`` points; ValueError unless the sum of points stays a power of 2."""
        n = 2 ** m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please "
                "use 'SobolEngine.draw()' instead.")
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Back to the first point. Returns self."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Skips `n` points. Returns self."""
        if n:
            self.quasi = self._points(self.num_generated + n - 1, 1)[0]
        self.num_generated += n
        return self

    def __repr__(self):
        text = f"dimension={self.dimension}"
        if self.scramble:
            text += ", scramble=True"
        if self.seed is not None:
            text += f", seed={self.seed}"
        return f"{type(self).__name__}({text})"
