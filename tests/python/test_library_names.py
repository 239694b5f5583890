"""Names that widespread libraries use beside the documented ones."""

import gc
import pickle

import pytest
import torch


def test_checks():
    torch._check(True)
    with pytest.raises(RuntimeError, match="Expected cond to be True, but got False"):
        torch._check(False)
    with pytest.raises(IndexError, match="^why$"):
        torch._check_index(False, lambda: "why")
    with pytest.raises(TypeError, match="cond must be a bool, but got <class 'int'>"):
        torch._check(1)
    with pytest.raises(TypeError, match="_check_tensor_all"):
        torch._check(torch.tensor(True))
    with pytest.raises(RuntimeError):
        torch._check_is_size(-1)
    with pytest.raises(KeyError, match="k"):
        torch._check_tensor_all_with(KeyError, torch.tensor([True, False]), lambda: "k")
    with pytest.raises(TypeError, match="must have dtype torch.bool"):
        torch._check_tensor_all(torch.tensor([1]))
    torch._assert_async(torch.tensor(1))
    with pytest.raises(RuntimeError, match="single nonzero value"):
        torch._assert_async(torch.tensor(0))
    assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]


def test_pytree_functions():
    from torch.utils import _pytree as tree

    assert tree._dict_flatten({"a": 1, "b": 2}) == ([1, 2], ["a", "b"])
    assert tree._dict_unflatten([1, 2], ["a", "b"]) == {"a": 1, "b": 2}
    assert tree._list_unflatten([1, 2], None) == [1, 2]
    assert [k.key for k, _ in tree._dict_flatten_with_keys({"x": 1})[0]] == ["x"]


def test_names_of_the_extension():
    a = torch.ones(3)
    assert torch._C._is_alias_of(a, a[1:]) and not torch._C._is_alias_of(a, a.clone())
    assert torch._C._get_accelerator() == torch.device("cpu")
    assert torch._C._log_api_usage_once("x") is None
    assert torch._C._is_torch_function_mode_enabled() is False
    from torch._C._functorch import get_unwrapped, is_batchedtensor

    assert not is_batchedtensor(a) and get_unwrapped(a) is a
    with pytest.raises(AttributeError):
        torch._C.no_such_name


def test_weak_dictionary():
    from torch.utils.weak import WeakIdKeyDictionary

    a, b = torch.ones(1), torch.ones(1)
    d = WeakIdKeyDictionary({a: 1})
    d[b] = 2
    assert d[a] == 1 and d[b] == 2 and len(d) == 2 and "x" not in d
    del b
    gc.collect()
    assert len(d) == 1 and [x is a for x in d] == [True]


def test_dictionaries_of_lazy_modules_are_complete():
    assert torch.optim.__dict__["SGD"] is torch.optim.SGD
    assert "Linear" in vars(torch.nn) and "Normal" in vars(torch.distributions)
    assert callable(vars(torch.nn.functional)["relu"])
    assert pickle.loads(pickle.dumps(torch.optim.Adam)) is torch.optim.Adam


def test_absent_devices():
    assert torch.xpu.memory_allocated() == 0 and torch.xpu.get_rng_state_all() == []
    assert torch.mtia.device_count() == 0 and not torch.xpu.is_bf16_supported()
    with pytest.raises(AssertionError, match="Torch not compiled with XPU enabled"):
        torch.xpu.synchronize()
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.cuda.graph(None)
    with pytest.raises(RuntimeError, match="dummy base class"):
        torch.cuda.sparse.FloatTensor()


def test_custom_classes_are_missing():
    with pytest.raises(RuntimeError, match="'pyg.CUDAHashMap', but it does not exist"):
        torch.classes.pyg.CUDAHashMap()


def test_monitor():
    from datetime import timedelta

    from torch import monitor

    seen = []
    handle = monitor.register_event_handler(seen.append)
    stat = monitor.Stat("s", [monitor.Aggregation.SUM, monitor.Aggregation.MEAN],
                        timedelta(hours=1), max_samples=2)
    stat.add(1.0)
    assert stat.count == 1 and not seen
    stat.add(2.0)
    assert seen[0].data == {"s.sum": 3.0, "s.mean": 1.5} and stat.count == 0
    assert stat.get() == {monitor.Aggregation.SUM: 3.0, monitor.Aggregation.MEAN: 1.5}
    monitor.unregister_event_handler(handle)
    monitor.log_event(seen[0])
    assert len(seen) == 1


def test_fill_diagonal():
    def filled(*shape, wrap=False):
        return torch.zeros(shape).fill_diagonal_(1, wrap).nonzero().tolist()

    assert filled(2, 3) == [[0, 0], [1, 1]]
    assert filled(5, 2) == [[0, 0], [1, 1]]
    assert filled(5, 2, wrap=True) == [[0, 0], [1, 1], [3, 0], [4, 1]]
    assert filled(2, 2, 2) == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="dimensions must larger than 1"):
        filled(3)
    with pytest.raises(RuntimeError, match="must be of equal length"):
        filled(2, 3, 2)
    a = torch.zeros(2, 2, requires_grad=True)
    (a * 1).fill_diagonal_(2).sum().backward()
    assert a.grad.tolist() == [[0, 1], [1, 0]]


def test_in_place_functions():
    x = torch.ones(2)
    assert torch.fill_(x, 3) is x and x.tolist() == [3, 3]
    assert torch.zero_(x) is x and x.tolist() == [0, 0]
    assert torch.ldexp_(torch.ones(2), torch.tensor([1, 2])).tolist() == [2, 4]


def test_operators_that_only_callers_by_name_need():
    aten = torch.ops.aten
    x = torch.arange(3.0)
    assert aten.alias.default(x).data_ptr() == x.data_ptr() and aten.lift_fresh(x) is x
    assert aten._is_all_true(x < 5).item() and not aten._is_any_true(x > 5).item()
    assert aten.any.dim(torch.tensor([[True, False]]), 0).tolist() == [True, False]
    with pytest.raises(RuntimeError, match="no accelerator|none is available"):
        aten._pin_memory(x)


def test_numpy_of_what_requires_grad():
    numpy = pytest.importorskip("numpy")
    p = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        p.numpy()
    with torch.no_grad():
        assert p.numpy().tolist() == [1, 1] and numpy.asarray(p).sum() == 2


def test_file_reader(tmp_path):
    torch.save({"a": torch.arange(4.0)}, tmp_path / "x.pt")
    reader = torch.PyTorchFileReader(str(tmp_path / "x.pt"))
    assert {"data.pkl", "data/0", "version"} <= set(reader.get_all_records())
    assert reader.has_record("data/0") and reader.get_record_size("data/0") == 16
    t = reader.get_storage_from_record("data/0", 4, torch.float32)
    assert torch.tensor([], dtype=torch.float32).set_(t.untyped_storage()).tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="failed locating file x: file not found"):
        reader.get_record("x")


def test_grouped_products():
    a = torch.arange(64.0).reshape(8, 8).requires_grad_()
    b = (torch.arange(192.0).reshape(3, 8, 8) / 100).requires_grad_()
    offs = torch.tensor([2, 5, 8], dtype=torch.int32)
    out = torch.nn.functional.grouped_mm(a, b, offs=offs)
    expected = torch.cat([a[:2] @ b[0], a[2:5] @ b[1], a[5:] @ b[2]])
    assert torch.equal(out, expected)
    out.sum().backward()
    assert a.grad.shape == a.shape and b.grad[1, 0, 0] == a[2:5, 0].sum()
    assert torch._grouped_mm(torch.ones(4, 8), torch.ones(8, 8), offs=offs).shape == (3, 4, 8)
    for call, message in [
        (lambda: torch._grouped_mm(a, b), "Have to provide offsets"),
        (lambda: torch._grouped_mm(a, b[:2], offs=offs), "batch sizes have to match"),
        (lambda: torch._grouped_mm(a, b, offs=offs.long()), "Offsets have to be int32"),
        (lambda: torch._grouped_mm(a.double(), b.double(), offs=offs), "got Double"),
        (lambda: torch._grouped_mm(a[:, :6], b[:, :6], offs=offs), None),
        (lambda: torch._grouped_mm(torch.ones(8, 6), b[:, :6], offs=offs), "multiple of 16"),
    ]:
        if message is None:
            call()
            continue
        with pytest.raises(RuntimeError, match=message):
            call()
