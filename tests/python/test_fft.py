"""torch.fft against the definition of the transform, round trips, gradients and errors."""

import cmath
import math

import pytest

import torch


def definition(x, sign=-1):
    n = len(x)
    return [sum(x[j] * cmath.exp(sign * 2j * math.pi * j * k / n) for j in range(n))
            for k in range(n)]


def close(a, b, tol=1e-9):
    assert len(a) == len(b)
    assert all(abs(x - y) < tol for x, y in zip(a, b))


# Powers of each radix, products, primes with a stage of their own, and Bluestein's lengths.
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 30, 31, 37, 49, 64, 74, 97])
def test_definition(n):
    x = torch.tensor([complex(math.sin(3 * i + 1), math.cos(i * i)) for i in range(n)],
                     dtype=torch.complex128)
    close(torch.fft.fft(x).tolist(), definition(x.tolist()), 1e-8)
    close(torch.fft.ifft(torch.fft.fft(x)).tolist(), x.tolist())
    r = x.real.clone()
    close(torch.fft.rfft(r).tolist(), definition(r.tolist())[: n // 2 + 1], 1e-8)
    close(torch.fft.irfft(torch.fft.rfft(r), n).tolist(), r.tolist())
    close(torch.fft.hfft(torch.fft.ihfft(r), n).tolist(), r.tolist())


def test_dimensions_and_norms():
    x = torch.randn(3, 4, 5, dtype=torch.float64)
    one = torch.fft.fft(torch.fft.fft(x, dim=0), dim=2)
    assert torch.allclose(torch.fft.fftn(x, dim=(0, 2)), one)
    assert torch.allclose(torch.fft.ifftn(torch.fft.fftn(x)).real, x)
    assert torch.allclose(torch.fft.irfftn(torch.fft.rfftn(x), s=x.shape), x)
    assert torch.allclose(torch.fft.fft(x, norm="ortho") * math.sqrt(5), torch.fft.fft(x))
    assert torch.allclose(torch.fft.fft(x, norm="forward") * 5, torch.fft.fft(x))
    assert torch.fft.fft(x, n=7).shape == (3, 4, 7)
    assert torch.fft.rfft2(x).shape == (3, 4, 3)


def test_gradients():
    x = torch.randn(2, 6, dtype=torch.float64, requires_grad=True)
    for f in (torch.fft.fft, torch.fft.rfft, torch.fft.ihfft, torch.fft.fftn):
        assert torch.autograd.gradcheck(f, (x,))
    for f in (torch.fft.irfft, torch.fft.hfft, torch.fft.irfft2):
        assert torch.autograd.gradcheck(f, (x,))


def test_errors():
    with pytest.raises(RuntimeError, match="Invalid number of data points"):
        torch.fft.fft(torch.ones(3), n=0)
    with pytest.raises(TypeError, match="rfft expects a real input tensor"):
        torch.fft.rfft(torch.ones(3, dtype=torch.complex64))
    with pytest.raises(RuntimeError, match="FFT dims must be unique"):
        torch.fft.fftn(torch.ones(2, 2), dim=(0, 0))
    with pytest.raises(RuntimeError, match="Invalid normalization mode"):
        torch.fft.fft(torch.ones(3), norm="big")


def test_stft_round_trip():
    x = torch.randn(2, 40, dtype=torch.float64)
    window = torch.hann_window(8, dtype=torch.float64)
    s = torch.stft(x, 8, 2, window=window, return_complex=True)
    assert s.shape == (2, 5, 21)
    assert torch.allclose(torch.istft(s, 8, 2, window=window, length=40), x)
