"""Compiled extensions of the stable C ABI: one is built here against nothing but the C functions.

torchvision's own tests are at the end, for where it is installed.
"""

import ctypes
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
STANDINS = pathlib.Path(torch.__file__).parent / "lib" / "standins"
COMPILER = shutil.which("c++") or shutil.which("g++")


def build(source, library, *flags):
    subprocess.run(
        [COMPILER, "-std=c++17", "-O1", "-shared", "-fPIC", *flags, "-o", str(library),
         str(source), "-Wl,--no-as-needed", f"-L{STANDINS}", "-ltorch_cpu",
         "-Wl,--allow-shlib-undefined"], check=True)


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("no C++ compiler")
    library = tmp_path_factory.mktemp("extension") / "extension.so"
    build(ROOT / "tests/cpp/extension/stable_extension.cpp", library)
    torch.ops.load_library(str(library))
    assert str(library) in torch.ops.loaded_libraries
    return torch.ops.rlabi


def test_call(ops):
    assert str(ops.scale.default._schema) == (
        "rlabi::scale(Tensor x, float factor=2., *, int? grain=None) -> Tensor")
    x = torch.arange(5.0)
    assert ops.scale(x).tolist() == [0, 2, 4, 6, 8]
    assert ops.scale(x, 3, grain=1).tolist() == [0, 3, 6, 9, 12]
    with pytest.raises(RuntimeError, match="scale: expected float32"):
        ops.scale(x.double())
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x'"):
        ops.scale(3)
    with pytest.raises(RuntimeError, match="no_such_operator"):
        ops.fails(x)
    with pytest.raises(NotImplementedError, match="Meta"):
        ops.scale(torch.ones(2, device="meta"))


def test_values(ops):
    x = torch.arange(6.0).reshape(2, 3)
    dropped, kept = ops.sums(x, [1])
    assert dropped.tolist() == [3.0, 12.0] and kept.tolist() == [[3.0], [12.0]]
    parts = ops.parts(x, 3)
    assert len(parts) == 3 and all(p.data_ptr() == x.data_ptr() for p in parts)
    given = (torch.device("meta"), torch.bfloat16, True, -5, "text", None, torch.strided,
             torch.channels_last)
    assert ops.same(*given) == given
    assert ops.same(*given[:5], 2.5, *given[6:])[5] == 2.5
    # a device is its type in the upper and its index in the lower half; dtypes are ScalarType
    assert ops.codes(torch.device("cuda:1"), torch.float16, "ab") == (0x100000001, 5, "abab")
    assert ops.codes("cpu", torch.bool, "") == (0xFFFFFFFF, 11, "")


def test_generators_and_tags(ops):
    g = torch.Generator().manual_seed(3)
    x = torch.empty(4)
    assert ops.drawn(x, g) is not None
    assert torch.equal(x, torch.rand(4, generator=torch.Generator().manual_seed(3)))
    assert ops.drawn(torch.empty(2), None).shape == (2,)
    assert ops.drawn.default.tags == [torch.Tag.pointwise] and ops.scale.default.tags == []


def test_objects(ops):
    library = ctypes.PyDLL(next(p for p in torch.ops.loaded_libraries if p.endswith("ion.so")))
    x, out = torch.ones(2), ctypes.c_void_p()
    assert library.rlabi_same_object(ctypes.py_object(x), ctypes.byref(out)) == 0
    assert out.value == id(x)
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(x))
    assert library.rlabi_same_object(ctypes.py_object(3), ctypes.byref(out)) == 1


def test_borrowed_memory(ops):
    t = ops.borrowed()
    assert t.tolist() == [1, 2, 3, 4]
    view, before = t[1:], ops.returned()
    del t
    gc.collect()
    assert ops.returned() == before
    del view
    gc.collect()
    assert ops.returned() == before + 1


def test_python_registrations_are_seen_by_compiled_code(ops):
    """rlabi::twice calls rlabi::scale by name: with the gradient that Python registers."""
    x = torch.ones(3, requires_grad=True)
    with pytest.warns(UserWarning, match="an autograd kernel was not registered"):
        ops.scale(x).sum().backward()
    assert x.grad is None

    def setup(ctx, inputs, keyword_only_inputs, output):
        ctx.factor = inputs[1]

    torch.library.register_autograd("rlabi::scale", lambda ctx, g: (g * ctx.factor, None),
                                    setup_context=setup)
    assert ops.scale(x, 4.0).grad_fn.name() == "GeneratedBackwardFor_rlabi_scale_defaultBackward"
    y = ops.twice(x)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    torch.library.register_fake("rlabi::scale",
                                lambda x, factor=2.0, *, grain=None: torch.empty_like(x))
    assert ops.scale(torch.ones(2, device="meta")).shape == (2,)
    assert torch._C._dispatch_has_kernel_for_dispatch_key("rlabi::scale", "CPU")
    lib = torch.library.Library("rlabi", "IMPL")
    lib.impl("scale", lambda x, factor=2.0, *, grain=None: x - factor, "CPU")
    assert ops.twice(torch.ones(1)).item() == -1
    lib._destroy()


def test_import_as_module(ops, tmp_path):
    """`import extension`, in a process that has loaded nothing else."""
    include = sysconfig.get_paths()["include"]
    if not (pathlib.Path(include) / "Python.h").exists():
        pytest.skip("no Python.h")
    source = tmp_path / "importable.cpp"
    source.write_text("""
        #include <Python.h>
        #include "%s"
        static PyModuleDef module = {PyModuleDef_HEAD_INIT, "importable", nullptr, -1};
        PyMODINIT_FUNC PyInit_importable() { return PyModule_Create(&module); }
    """ % (ROOT / "tests/cpp/extension/stable_extension.cpp"))
    build(source, tmp_path / "importable.so", f"-I{include}")
    program = ("import torch, importable\n"
               "print(torch.ops.rlabi.twice(torch.ones(2)).tolist())")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(STANDINS.parents[2]), str(tmp_path)])}
    out = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert out.stdout == "[2.0, 2.0]\n", out.stderr


def test_missing_library():
    with pytest.raises(OSError, match="nowhere.so"):
        torch.ops.load_library("/nowhere.so")


@pytest.fixture(scope="module")
def vision():
    return pytest.importorskip("torchvision.ops")


def test_torchvision(vision):
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30]])
    assert vision.nms(boxes, torch.tensor([0.5, 0.9, 0.1]), 0.5).tolist() == [1, 2]
    x = torch.arange(32.0, dtype=torch.float64).reshape(1, 2, 4, 4).requires_grad_()
    rois = torch.tensor([[0.0, 0.5, 0.5, 3, 3]], dtype=torch.float64)
    y = vision.roi_align(x, rois, (2, 2), aligned=True)
    assert y.flatten().tolist() == pytest.approx(
        [3.125, 4.375, 8.125, 9.375, 19.125, 20.375, 24.125, 25.375])
    assert torch.autograd.gradcheck(lambda t: vision.roi_align(t, rois, (2, 2)), (x,))
