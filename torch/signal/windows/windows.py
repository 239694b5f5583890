"""The windows of torch.signal.windows. M: number of points; `sym=False` leaves out the last of a
symmetric window of M + 1 points, as spectra want it."""

import math

import torch


def _checked(name, M, dtype, layout):
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not torch.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _window(name, M, sym, dtype, layout, device, requires_grad, values):
    """`values(k, n)`: the window at k = 0 ... n, k in the result's dtype."""
    dtype = _checked(name, M, dtype, layout)
    if M <= 1:
        return torch.ones(M, dtype=dtype, device=device, requires_grad=requires_grad)
    k = torch.arange(M, dtype=torch.float64, device=device)
    out = values(k, float(M - 1 if sym else M)).to(dtype)
    return out.requires_grad_() if requires_grad else out


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=torch.strided, device=None,
                requires_grad=False):
    """exp(-|k - center| / tau)."""
    dtype = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def values(k, n):
        return torch.exp(-(k - (n / 2 if center is None else center)).abs() / tau)

    return _window("exponential", M, sym, dtype, layout, device, requires_grad, values)


def cosine(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    """A half period of the sine, sampled at the centres of the points."""
    return _window("cosine", M, sym, dtype, layout, device, requires_grad,
                   lambda k, n: torch.sin((k + 0.5) * (math.pi / (n + 1))))


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=torch.strided, device=None,
             requires_grad=False):
    """exp(-(x / std)^2 / 2) around the middle."""
    dtype = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window("gaussian", M, sym, dtype, layout, device, requires_grad,
                   lambda k, n: torch.exp(-0.5 * ((k - n / 2) / std) ** 2))


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=torch.strided, device=None,
           requires_grad=False):
    """I0(beta sqrt(1 - x^2)) / I0(beta), x from -1 to 1."""
    dtype = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def values(k, n):
        x = 2 * k / n - 1
        root = torch.sqrt(torch.clamp(1 - x * x, min=0))
        return torch.i0(beta * root) / torch.i0(torch.tensor(float(beta), dtype=torch.float64))

    return _window("kaiser", M, sym, dtype, layout, device, requires_grad, values)


def general_cosine(M, *, a, sym=True, dtype=None, layout=torch.strided, device=None,
                   requires_grad=False):
    """a[0] - a[1] cos(x) + a[2] cos(2 x) - ..., x over one period."""
    dtype = _checked("general_cosine", M, dtype, layout)
    if not hasattr(a, "__iter__"):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")

    def values(k, n):
        x = k * (2 * math.pi / n)
        return sum((-1) ** i * w * torch.cos(i * x) for i, w in enumerate(a))

    return _window("general_cosine", M, sym, dtype, layout, device, requires_grad, values)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=torch.strided, device=None,
                    requires_grad=False):
    """alpha - (1 - alpha) cos(x)."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout,
                          device=device, requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    """general_hamming with alpha = 0.54."""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device,
                           requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    """general_hamming with alpha = 0.5."""
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device,
                           requires_grad=requires_grad)


def blackman(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    """general_cosine with 0.42, 0.5, 0.08."""
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout,
                          device=device, requires_grad=requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    """Nuttall's minimal window of four terms (1981)."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype,
                          layout=layout, device=device, requires_grad=requires_grad)


def bartlett(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    """A triangle that is 0 at both ends."""
    return _window("bartlett", M, sym, dtype, layout, device, requires_grad,
                   lambda k, n: 1 - (2 * k / n - 1).abs())
