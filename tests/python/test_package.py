"""The top of the package: lazy names, version, settings, torch.ops."""

import subprocess
import sys

import pytest

import torch


def test_import_is_light():
    code = (
        "import sys, torch; heavy = ['numpy', 'torch.nn', 'torch.optim', 'unittest', "
        "'multiprocessing', 'inspect']; print([m for m in heavy if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_version():
    assert torch.__version__ == "2.15.0+rushlight" and isinstance(torch.__version__, str)
    assert torch.__version__ >= "2.9" and torch.__version__ >= (2, 15) and torch.__version__ < "3"
    assert torch.version.cuda is None and "Rushlight" in torch.__config__.show()


def test_unknown_names():
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'nonexistent'"):
        torch.nonexistent
    assert not hasattr(torch.backends, "foo") and not hasattr(torch.utils, "foo")


def test_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor(1.0).dtype == torch.float64 and torch.ones(1).dtype == torch.float64
        assert torch.tensor(1j).dtype == torch.complex128
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError, match="only floating-point types are supported"):
        torch.set_default_dtype(torch.int32)


def test_threads():
    n = torch.get_num_threads()
    torch.set_num_threads(1)
    assert torch.get_num_threads() == 1
    torch.set_num_threads(n)
    with pytest.raises(RuntimeError, match="expects a positive integer"):
        torch.set_num_threads(0)


def test_no_cuda():
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.cuda.current_device()
    assert not torch.backends.mps.is_available() and torch.accelerator.current_accelerator() is None
    torch.backends.cudnn.benchmark = True
    with torch.backends.cudnn.flags(enabled=False):
        assert not torch.backends.cudnn.enabled
    assert torch.backends.cudnn.enabled


def test_ops():
    add = torch.ops.aten.add
    assert repr(add) == "<OpOverloadPacket(op='aten.add')>"
    assert repr(add.Tensor) == "<OpOverload(op='aten.add', overload='Tensor')>"
    assert add.Tensor.name() == "aten::add.Tensor"
    x = torch.ones(2)
    assert add.Tensor(x, x).tolist() == [2.0, 2.0] and add(x, 2).tolist() == [3.0, 3.0]
    assert [a.name for a in add.Tensor._schema.arguments] == ["self", "other", "alpha"]
    with pytest.raises(RuntimeError, match="is missing value for argument 'other'"):
        add.Tensor(x)
    with pytest.raises(AttributeError, match="has no attribute 'nosuch'"):
        torch.ops.aten.nosuch


def test_random_state():
    state = torch.get_rng_state()
    torch.manual_seed(3)
    assert torch.initial_seed() == 3
    torch.set_rng_state(state)
    with torch.random.fork_rng():
        torch.manual_seed(9)
    assert torch.get_rng_state().tolist() == state.tolist()
