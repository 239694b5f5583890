"""x[...] and x[...] = v."""

import pytest

import torch


@pytest.fixture
def x():
    return torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


@pytest.fixture
def y():
    return torch.tensor(list(range(24))).view(2, 3, 4)


MASK = [[True, False, True], [False, True, False]]


def test_views(x, y):
    assert x[0].tolist() == [0, 1, 2] and x[-1, 1] == 4 and x[:, 1].tolist() == [1, 4]
    assert x[None].shape == (1, 2, 3) and x[..., None].shape == (2, 3, 1)
    assert x[None, ..., 0].shape == (1, 2) and x[()].shape == (2, 3) and x[...]._base is x
    assert y[1, ..., ::2].tolist() == [[12, 14], [16, 18], [20, 22]]
    assert x[torch.tensor(0) : torch.tensor(1)].shape == (1, 3)
    assert x[torch.tensor(1)].tolist() == [3, 4, 5]


def test_errors(x):
    cases = [
        (lambda: x[5], IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        (lambda: x[0, 5], IndexError, "index 5 is out of bounds for dimension 1 with size 3"),
        (lambda: x[0, 0, 0], IndexError, "too many indices for tensor of dimension 2"),
        (lambda: x[0][0][0], IndexError, "invalid index of a 0-dim tensor"),
        (lambda: x[::-1], ValueError, "step must be greater than zero"),
        (lambda: x[1.0], IndexError, r"valid indices \(got float\)"),
        (lambda: x[torch.tensor([1.0])], IndexError, "tensors used as indices must be long"),
        (lambda: x[0:1:0], ValueError, "slice step cannot be zero"),
        (lambda: x[2**70], ValueError, "Overflow when unpacking long"),
    ]
    for call, kind, text in cases:
        with pytest.raises(kind, match=text):
            call()


def test_index_tensors(x, y):
    assert x[[0, 1], [0, 2]].tolist() == [0, 5]
    assert x[:, [0, 2]].tolist() == [[0, 2], [3, 5]]
    assert x[[]].shape == (0, 3) and x[range(2)].shape == (2, 3)
    assert y[[0, 1], :, [1, 2]].tolist() == [[1, 5, 9], [14, 18, 22]]
    assert y[:, [0, 1], [1, 2]].tolist() == [[1, 6], [13, 18]]
    with pytest.raises(IndexError, match="shape mismatch: indexing tensors could not be broadcast"):
        x[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]


def test_masks(x, y):
    mask = torch.tensor(MASK)
    assert y[mask].tolist() == [[0, 1, 2, 3], [8, 9, 10, 11], [16, 17, 18, 19]]
    assert y[mask, 1:2].tolist() == [[1], [9], [17]]
    assert x[True].shape == (1, 2, 3) and x[False].shape == (0, 2, 3)
    assert x[[True, False]].tolist() == [[0, 1, 2]]
    with pytest.raises(IndexError, match=r"The shape of the mask \[3\] at index 0 does not match"):
        x[torch.tensor([True, False, True])]


def test_assignment(x):
    x[0] = 5
    assert x[0].tolist() == [5, 5, 5]
    x[0] = torch.ones(1, 1, 3)
    x[:, [0, 2]] = 7
    assert x.tolist() == [[7, 1, 7], [7, 4, 7]]
    x[torch.tensor(MASK)] = torch.tensor([1.0, 2.0, 3.0])
    assert x.tolist() == [[1, 1, 2], [7, 3, 7]]
    x[True] = 3
    x[False] = 9
    x[0, 1] = torch.tensor(5)
    assert x.tolist() == [[3, 5, 3], [3, 3, 3]]
    x[x > 4] += 1
    assert x[0, 1] == 6


def test_assignment_errors(x):
    cases = [
        ([1, 2, 3], TypeError, "can't assign a list to a torch.FloatTensor"),
        (None, TypeError, "can't assign a NoneType to a torch.FloatTensor"),
        (1j, RuntimeError, "value cannot be converted to type float without overflow"),
        (torch.ones(2), RuntimeError, "must match the existing size"),
    ]
    for value, kind, text in cases:
        with pytest.raises(kind, match=text):
            x[0] = value


def test_numpy_indices(x):
    np = pytest.importorskip("numpy")
    assert x[np.int64(1)].tolist() == [3, 4, 5] and x[np.array(1)].tolist() == [3, 4, 5]
    assert x[np.array([0, 1])].shape == (2, 3)
    assert x[np.array([True, False])].tolist() == [[0, 1, 2]]
