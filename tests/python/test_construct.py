"""Tensors from Python values, arrays, buffers and DLPack."""

import pytest

import torch


@pytest.mark.parametrize(
    "data, dtype",
    [(1, torch.int64), (1.5, torch.float32), (True, torch.bool), (1j, torch.complex64),
     ([1, 2.0, True], torch.float32), ([True, 1], torch.int64), ([], torch.float32),
     ([[1], [2]], torch.int64), (range(3), torch.int64)],
)
def test_inferred_dtype(data, dtype):
    assert torch.tensor(data).dtype == dtype


@pytest.mark.parametrize(
    "data, kind, text",
    [([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
     ([1, [2]], TypeError, "'list' object cannot be interpreted as an integer"),
     ([[1, 2], 3], TypeError, "not a sequence"),
     ("a", TypeError, "new\\(\\): invalid data type 'str'"),
     (["a"], ValueError, "too many dimensions 'str'"),
     (None, RuntimeError, "Could not infer dtype of NoneType"),
     ({1, 2}, RuntimeError, "Could not infer dtype of set"),
     ([2**63], ValueError, "Overflow when unpacking long")],
)
def test_errors(data, kind, text):
    with pytest.raises(kind, match=text):
        torch.tensor(data)


def test_dtype_conversion():
    assert torch.tensor([1.5], dtype=torch.int32).tolist() == [1]
    assert torch.tensor([-1], dtype=torch.uint8).tolist() == [255]
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8 without overflow"):
        torch.tensor(300, dtype=torch.uint8)
    assert torch.tensor([1e6], dtype=torch.float16).item() == float("inf")
    assert torch.tensor([2**63 + 5], dtype=torch.uint64).tolist() == [2**63 + 5]


def test_deep_and_cyclic_lists():
    deep = [1]
    for _ in range(200):
        deep = [deep]
    with pytest.raises(ValueError, match="too many dimensions"):
        torch.tensor(deep)
    cyclic = []
    cyclic.append(cyclic)
    with pytest.raises((ValueError, TypeError)):
        torch.tensor(cyclic)


def test_legacy_constructors():
    assert torch.Tensor(2, 3).shape == (2, 3) and torch.Tensor().shape == (0,)
    assert torch.Tensor([1, 2]).dtype == torch.float32
    assert torch.IntTensor([1.5]).tolist() == [1] and torch.LongTensor(3).shape == (3,)
    with pytest.raises(TypeError, match=r"data must be a sequence \(got float\)"):
        torch.Tensor(2.0)


def test_buffers():
    data = bytearray(b"abcd")
    t = torch.frombuffer(data, dtype=torch.uint8)
    t[0] = 65
    assert data == b"Abcd"
    assert torch.frombuffer(data, dtype=torch.uint8, count=2, offset=1).tolist() == [98, 99]
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        torch.frombuffer(bytearray(3), dtype=torch.int16)


def test_dlpack_round_trip():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).T
    y = torch.from_dlpack(x)
    y[0, 1] = 9
    assert x[0, 1] == 9 and y.stride() == x.stride()
    capsule = torch.to_dlpack(x)
    torch.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        torch.from_dlpack(capsule)


def test_numpy():
    np = pytest.importorskip("numpy")
    a = np.arange(6).reshape(2, 3)[:, ::2]
    t = torch.from_numpy(a)
    t[0, 0] = 7
    assert a[0, 0] == 7 and t.stride() == (3, 2) and torch.tensor(a).dtype == torch.int64
    assert np.shares_memory(t.numpy(), a) and np.asarray(t).dtype == np.int64
    assert torch.tensor([np.float64(1)]).dtype == torch.float64
    for dtype in (torch.float16, torch.bool, torch.complex64, torch.uint8, torch.float64):
        x = torch.zeros(2, 3).to(dtype)
        assert torch.from_numpy(x.numpy()).dtype == dtype
    with pytest.raises(ValueError, match="strides in the given numpy array is negative|negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(TypeError, match="can't convert np.ndarray of type numpy.str_"):
        torch.from_numpy(np.array(["a"]))
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
        torch.ones(1, requires_grad=True).numpy()
    with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
        torch.ones(1, dtype=torch.bfloat16).numpy()
