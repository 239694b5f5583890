"""torch.quasirandom.SobolEngine: points and scrambling as recorded from PyTorch."""

import pytest
import torch
from torch.quasirandom import SobolEngine


def test_points():
    e = SobolEngine(3)
    assert e.draw(5).tolist() == [[0, 0, 0], [.5, .5, .5], [.75, .25, .25], [.25, .75, .75],
                                  [.375, .375, .625]]
    assert e.num_generated == 5
    assert e.draw(2, dtype=torch.float64).tolist() == [[.875, .875, .125], [.625, .125, .875]]
    assert e.reset() is e and e.fast_forward(3).draw().tolist() == [[.25, .75, .75]]
    assert repr(SobolEngine(2, scramble=True, seed=5)) == (
        "SobolEngine(dimension=2, scramble=True, seed=5)")


def test_direction_numbers_of_the_last_dimension():
    state = SobolEngine(SobolEngine.MAXDIM).sobolstate
    assert state.shape == (21201, 30) and state.dtype == torch.int64
    assert state[-1, :4].tolist() == [536870912, 268435456, 939524096, 738197504]
    assert state[-1, -2:].tolist() == [56201214, 254952011]


def test_scrambled_points():
    e = SobolEngine(2, scramble=True, seed=5)
    assert e.sobolstate.flatten()[:3].tolist() == [578044019, 339076269, 149285100]
    assert e.shift.tolist() == [515708045, 125905764]
    expected = torch.tensor([[0.4803, 0.1173], [0.9498, 0.7430], [0.6404, 0.3272]])
    assert torch.allclose(e.draw(3), expected, atol=1e-4)
    torch.manual_seed(0)
    first = SobolEngine(2, scramble=True).draw(1)
    assert torch.allclose(first, torch.tensor([[0.4751, 0.5925]]), atol=1e-4)
    assert abs(torch.rand(1).item() - 0.2063) < 1e-4  # the stream goes on where PyTorch's does


def test_errors():
    for d in (0, 30000):
        with pytest.raises(ValueError, match=r"Supported range of dimensionality .* \[1, 21201\]"):
            SobolEngine(d)
    e = SobolEngine(2)
    e.draw(3)
    with pytest.raises(ValueError, match="require n to be a power of 2. 3 points"):
        e.draw_base2(2)
