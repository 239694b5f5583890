"""The Python object of a tensor: identity, life time, subclasses, attributes, conversions."""

import copy
import gc
import pickle
import weakref

import pytest

import torch


class Sub(torch.Tensor):
    pass


def test_identity_outlives_the_name():
    a = torch.ones(3, requires_grad=True)
    a.note = "kept"
    b = a * 2
    number = id(a)
    del a
    gc.collect()
    back = b.grad_fn.next_functions[0][0].variable
    assert id(back) == number and back.note == "kept"


def test_weak_references_live_as_long_as_the_tensor():
    t = torch.ones(2, requires_grad=True)
    c = t * 3
    ref = weakref.ref(t)
    del t
    assert ref() is not None
    del c
    gc.collect()
    assert ref() is None


def test_cycles_are_collected():
    x = torch.ones(2)
    x.self = x
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None
    y = torch.ones(2, requires_grad=True)
    y.register_hook(lambda g: y and None)
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None


def test_many_objects():
    for _ in range(20):
        kept = [torch.ones(2) for _ in range(1000)]
    assert len(kept) == 1000


def test_finalizer_of_subclass_runs_once():
    calls = []

    class Noisy(torch.Tensor):
        def __del__(self):
            calls.append(1)

    u = torch.ones(1).as_subclass(Noisy)
    del u
    gc.collect()
    assert calls == [1]


def test_subclass_propagates():
    s = torch.ones(2, 2).as_subclass(Sub)
    assert type(s + 1) is Sub and type(1 + s) is Sub and type(s[0]) is Sub
    assert type(s.T) is Sub and type(torch.add(torch.ones(2, 2), s)) is Sub
    assert isinstance(s.shape, torch.Size)
    assert repr(s[0]) == "Sub([1., 1.])"
    assert type(copy.deepcopy(s)) is Sub


def test_make_subclass():
    class P(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

        def __new__(cls, data):
            return torch.Tensor._make_subclass(cls, data, True)

    p = P(torch.ones(2))
    assert p.requires_grad and p.is_leaf and type(p * 2) is torch.Tensor
    (p * 2).sum().backward()
    assert p.grad.tolist() == [2.0, 2.0]


def test_hash_is_id():
    x = torch.ones(1)
    assert hash(x) == id(x) and x in {x}


def test_numbers():
    assert int(torch.tensor(2.7)) == 2 and float(torch.tensor(2)) == 2.0
    assert complex(torch.tensor(1.0)) == 1 + 0j and [1, 2, 3][torch.tensor(1)] == 2
    assert not torch.tensor(0) and torch.tensor([3])
    x = torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        bool(x)
    with pytest.raises(RuntimeError, match="with no values is ambiguous"):
        bool(torch.tensor([]))
    with pytest.raises(ValueError, match="only one element tensors"):
        float(x)
    with pytest.raises(RuntimeError, match="a Tensor with 6 elements cannot be converted"):
        x.item()
    with pytest.raises(TypeError, match="len\\(\\) of a 0-d tensor"):
        len(torch.tensor(1))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(torch.tensor(1))


def test_attributes():
    x = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert (x.shape, x.dtype, x.ndim, x.itemsize, x.nbytes) == ((2, 3), torch.float32, 2, 4, 24)
    assert x.T.shape == (3, 2) and x.mT.stride() == (1, 3) and x.device.type == "cpu"
    assert not x.T.is_contiguous() and x[1].storage_offset() == 3 and x.view(6)._base is x
    assert x.data is not x and x.data.data_ptr() == x.data_ptr()
    with pytest.raises(TypeError, match="imag is not implemented"):
        x.imag
    assert x.type() == "torch.FloatTensor" and x.type(torch.int).dtype == torch.int32
    assert isinstance(x, torch.FloatTensor) and not isinstance(x, torch.LongTensor)


def test_conversions():
    x = torch.ones(2)
    assert x.to("cpu") is x and x.to(torch.float32) is x
    assert x.to(torch.float32, copy=True) is not x and x.to(torch.int8).dtype == torch.int8
    assert x.to(torch.tensor(1)).dtype == torch.int64 and x.to("meta").is_meta
    assert x.half().dtype == torch.float16 and x.long().dtype == torch.int64
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        x.cuda()


def test_copies_and_pickles():
    x = torch.tensor([[0.0, 1.0], [2.0, 3.0]], requires_grad=True)
    for y in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert y.tolist() == x.tolist() and y.requires_grad
    base = torch.zeros(4)
    a, b = copy.deepcopy([base[:2], base[2:]])
    a.fill_(1)
    assert a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)


def test_set_and_storage():
    x = torch.tensor([1.0, 2.0, 3.0])
    y = torch.empty(0).set_(x.untyped_storage(), 1, (2,), (1,))
    assert y.tolist() == [2.0, 3.0] and y.untyped_storage() is x.untyped_storage()
    assert x.untyped_storage().nbytes() == 12 and len(x.untyped_storage()[4:8]) == 4
    with pytest.raises(RuntimeError):
        y.set_(x.untyped_storage(), -1, (2,), (1,))
