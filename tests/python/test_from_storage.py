"""Tensors made over storages: torch.tensor, as_tensor and asarray share the bytes."""

import pytest
import torch


@pytest.mark.parametrize("make", [torch.tensor, torch.as_tensor, torch.asarray])
def test_untyped_bytes_are_shared(make):
    s = torch.UntypedStorage([1, 2, 3, 4, 5, 6, 7, 8])
    t = make(s, dtype=torch.uint8)
    assert t.tolist() == [1, 2, 3, 4, 5, 6, 7, 8] and t.data_ptr() == s.data_ptr()
    assert make(s).tolist() == [578437695752307201]  # int64 unless a dtype is given
    part = make(s[2:4], dtype=torch.uint8)
    assert part.tolist() == [3, 4] and part.data_ptr() == s.data_ptr() + 2


@pytest.mark.filterwarnings("ignore:TypedStorage")
def test_a_typed_storage_has_its_dtype():
    s = torch.FloatStorage([1.0, 2.0])
    assert torch.asarray(s).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="Expected a Storage of type Double"):
        torch.as_tensor(s, dtype=torch.float64)
