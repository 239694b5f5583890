"""torch.save and torch.load. The files in data/ were written by PyTorch 2.15 (see WRITTEN below for
what is in them); ours must be readable there too, which their layout shows.
"""

import collections
import io
import os
import pickle
import signal
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

DATA = Path(__file__).parent / "data"


def ramp(n, dtype=torch.float32):
    return torch.arange(n).to(dtype)


def saved(obj, **kwargs):
    file = io.BytesIO()
    torch.save(obj, file, **kwargs)
    return file.getvalue()


def loaded(data, **kwargs):
    return torch.load(io.BytesIO(data), **kwargs)


def round_trip(obj, **kwargs):
    return loaded(saved(obj), **kwargs)


DTYPES = (
    "float32 float64 float16 bfloat16 int8 uint8 int16 int32 int64 bool complex64 complex128 "
    "uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz "
    "float8_e8m0fnu complex32"
).split()


def raw(tensor):
    return tensor.contiguous().view(torch.uint8).tolist()


# ---------------------------------------------------------------- files of PyTorch


@pytest.fixture(params=["read", "map"])
def load(request):
    def load(name, **kwargs):
        return torch.load(DATA / name, mmap=request.param == "map", **kwargs)

    return load


def test_shared_views(load):
    d = load("shared_views.pt")
    x = ramp(12).view(3, 4)
    for name, want in (("whole", x), ("row", x[1]), ("column", x[:, 2]), ("transposed", x.t())):
        assert torch.equal(d[name], want) and d[name].stride() == want.stride()
        assert d[name].storage_offset() == want.storage_offset()
    assert d["empty"].shape == (0, 2) and d["scalar"].item() == 2.5
    assert d["twice"][0] is d["twice"][1] is d["whole"]
    d["whole"][1, 2] = -1.0
    assert d["row"][2] == d["column"][1] == d["transposed"][2, 1] == -1.0


def test_mapped_file_is_not_changed():
    before = (DATA / "shared_views.pt").read_bytes()
    torch.load(DATA / "shared_views.pt", mmap=True)["whole"].fill_(3)
    assert (DATA / "shared_views.pt").read_bytes() == before


def test_dtypes(load):
    d = load("dtypes.pt")
    assert list(d) == DTYPES
    for name, x in d.items():
        dtype = getattr(torch, name)
        assert x.dtype is dtype
        assert raw(x) == raw(torch.tensor([0, 1, 2, 4]).to(dtype)), name


def test_state_dict(load):
    d = load("state_dict.pt")
    assert type(d) is collections.OrderedDict and d._metadata["bn"] == {"version": 2}
    assert torch.equal(d["fc.weight"], ramp(6).view(2, 3))
    assert torch.equal(d["bn.bias"], ramp(2) + 3)
    assert d["bn.num_batches_tracked"].dtype is torch.int64


def test_optimizer(load):
    d = load("optimizer.pt")
    assert d["param_groups"][0]["lr"] == 0.5 and d["state"][0]["exp_avg"].shape == (2, 3)


def test_parameters(load):
    p, q, state, buffer = load("parameters.pt")
    assert type(p) is torch.nn.Parameter and p.requires_grad and torch.equal(p.detach(), ramp(3))
    assert type(q) is torch.nn.Parameter and not q.requires_grad and q.note == "x"
    assert torch.equal(state["0"], ramp(3))
    assert isinstance(buffer, torch.Tensor) and buffer.persistent


def test_values(load):
    d = load("values.pt")
    want = [1, 2.5, None, True, "é€", b"abc", bytearray(b"q"), 2**70, -(2**40), (1, (2,)),
            {1, 2}, 1j, collections.Counter("aab"), collections.OrderedDict(a=1),
            torch.Size([1, 2]), torch.device("cpu"), torch.float16, float("inf"), {3: {"k": []}}]
    assert d == want and [type(a) for a in d] == [type(b) for b in want]


def test_big_endian():
    d = torch.load(DATA / "big_endian.pt")
    assert torch.equal(d["f"], ramp(3)) and torch.equal(d["i"], ramp(3, torch.int16))
    assert d["c"].tolist() == [1 + 2j]


def test_meta_and_conj(load):
    m, c = load("meta_and_conj.pt")
    assert m.device.type == "meta" and m.shape == (2,)
    assert c.tolist() == [1 - 2j]


def test_sparse():
    coo, csr = torch.load(DATA / "sparse.pt")
    assert coo.layout is torch.sparse_coo and torch.equal(coo.to_dense(), torch.eye(2))
    assert csr.layout is torch.sparse_csr and torch.equal(csr.to_dense(), torch.eye(2))


def test_legacy_files():
    d = torch.load(DATA / "legacy.pt")
    x = ramp(12).view(3, 4)
    assert torch.equal(d["whole"], x) and torch.equal(d["row"], x[1])
    assert torch.equal(d["h"], x.half()) and type(d["p"]) is torch.nn.Parameter
    d["whole"][1] = 0
    assert d["row"].sum() == 0
    assert torch.equal(torch.load(DATA / "state_dict_legacy.pt")["bn.bias"], ramp(2) + 3)
    assert torch.equal(torch.load(DATA / "legacy.pt", weights_only=False)["whole"], x)


def test_legacy_conjugates_have_their_values():
    loaded = torch.load(DATA / "legacy_conj.pt")
    assert loaded["conj"].tolist() == [1 - 2j, 3 + 1j]
    assert loaded["base"].tolist() == [0, 1, 2]


def test_legacy_sparse():
    dense = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    for sparse in (dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc()):
        buffer = io.BytesIO()
        torch.save(sparse, buffer, _use_new_zipfile_serialization=False)
        buffer.seek(0)
        loaded = torch.load(buffer)
        assert loaded.layout == sparse.layout and torch.equal(loaded.to_dense(), dense)
    # Indices out of range are found when they have been read.
    at = buffer.getvalue().rfind(struct.pack("<qqq", 0, 1, 2))
    broken = buffer.getvalue()[:at] + struct.pack("<qqq", 0, 1, 9) + buffer.getvalue()[at + 24:]
    with pytest.raises(RuntimeError, match="nnz"):
        torch.load(io.BytesIO(broken))


def test_hooks_and_layouts_are_named_as_in_pytorch():
    module = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))
    buffer = io.BytesIO()
    torch.save([module, torch.strided], buffer)
    assert b"torch.nn.modules.module\n_WrappedHook" in buffer.getvalue()
    assert b"torch.serialization\n_get_layout" in buffer.getvalue()
    buffer.seek(0)
    loaded, layout = torch.load(buffer, weights_only=False)
    assert layout is torch.strided
    assert torch.equal(loaded.weight_orig, module.weight_orig)


def test_whole_module():
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global: GLOBAL torch.nn.modules"):
        torch.load(DATA / "module.pt")
    m = torch.load(DATA / "module.pt", weights_only=False)
    assert type(m.fc) is torch.nn.Linear and torch.equal(m.fc.bias.detach(), ramp(2) + 1)


# ---------------------------------------------------------------- our files


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("weights_only", [False, True])
def test_round_trip(legacy, weights_only):
    for path in sorted(DATA.glob("*.pt")):
        if path.name in ("module.pt", "sparse.pt", "big_endian.pt"):
            continue
        obj = torch.load(path)
        data = saved(obj, _use_new_zipfile_serialization=not legacy)
        again = loaded(data, weights_only=weights_only)
        assert type(again) is type(obj)
        # Saved once more the pickle is the same, so the objects are.
        if not legacy:
            a, b = (zipfile.ZipFile(io.BytesIO(d)) for d in (data, saved(again)))
            assert a.namelist() == b.namelist()
            assert all(a.read(n) == b.read(n) for n in a.namelist()), path.name


@pytest.mark.parametrize("name", ["shared_views", "dtypes", "optimizer", "parameters"])
def test_bytes_are_those_of_pytorch(name):
    """Everything but the identification, which is a hash of its own kind."""
    theirs = zipfile.ZipFile(DATA / f"{name}.pt")
    data = saved(torch.load(DATA / f"{name}.pt"))
    ours = zipfile.ZipFile(io.BytesIO(data))
    assert ours.testzip() is None
    assert [n.split("/", 1)[1] for n in theirs.namelist()] == [
        n.split("/", 1)[1] for n in ours.namelist()
    ]
    for a, b in zip(theirs.infolist(), ours.infolist()):
        if not a.filename.endswith("serialization_id"):
            assert theirs.read(a) == ours.read(b), a.filename
        assert a.flag_bits == b.flag_bits
        fields = struct.unpack_from("<IHHHHHIIIHH", data, b.header_offset)
        assert (b.header_offset + 30 + fields[9] + fields[10]) % 64 == 0


def test_file_name_is_the_folder(tmp_path):
    torch.save(1, tmp_path / "model.best.pt")
    assert zipfile.ZipFile(tmp_path / "model.best.pt").namelist()[0] == "model.best/data.pkl"
    assert zipfile.ZipFile(io.BytesIO(saved(1))).namelist()[0] == "archive/data.pkl"


@pytest.mark.parametrize("protocol", [1, 2, 3, 4, 5])
def test_pickle_protocols(protocol):
    obj = {"x": ramp(3), "p": torch.nn.Parameter(ramp(2)), "v": [b"a", {1}, 2**80, "é" * 300]}
    d = loaded(saved(obj, pickle_protocol=protocol))
    assert torch.equal(d["x"], ramp(3)) and d["v"] == obj["v"]


def test_file_objects(tmp_path):
    class Writer:
        data = b""

        def write(self, part):
            assert type(part) is bytes
            self.data += part
            return len(part)

    w = Writer()
    torch.save(ramp(3), w)
    assert torch.equal(loaded(w.data), ramp(3))
    with open(tmp_path / "a", "wb") as f:
        torch.save(ramp(4), f)
    with open(tmp_path / "a", "rb") as f:
        assert torch.equal(torch.load(f), ramp(4))
    with pytest.raises(AttributeError, match="only torch.load from a file that is seekable"):
        torch.load(3)
    with pytest.raises(AttributeError, match="with a 'write' attribute"):
        torch.save(1, 3)


def test_one_dtype_per_memory():
    x = ramp(4)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        saved([x, x.view(torch.int32)])


def test_crc_option():
    torch.serialization.set_crc32_options(False)
    try:
        data = saved(ramp(3))
    finally:
        torch.serialization.set_crc32_options(True)
    assert all(i.CRC == 0 for i in zipfile.ZipFile(io.BytesIO(data)).infolist())
    assert torch.equal(loaded(data), ramp(3))


def test_skip_data():
    with torch.serialization.skip_data():
        data = saved(ramp(6) + 1)
    assert len(data) == len(saved(ramp(6) + 1)) and loaded(data).sum() == 0


def test_storages():
    x = ramp(3)
    s = round_trip(x.untyped_storage())
    assert isinstance(s, torch.storage.TypedStorage) and s.nbytes() == 12
    assert torch.equal(pickle.loads(pickle.dumps(x)), x)


# ---------------------------------------------------------------- where things go


def test_map_location():
    data = saved({"x": ramp(3)})
    seen = []
    loaded(data, map_location=lambda s, where: seen.append((s.nbytes(), where)))
    assert seen == [(12, "cpu")]
    for where in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda s, w: s):
        assert torch.equal(loaded(data, map_location=where)["x"], ramp(3))
    for where in ("meta", {"cpu": "meta"}):
        assert loaded(data, map_location=where)["x"].device.type == "meta"
    with pytest.raises(RuntimeError, match="don't know how to restore data location"):
        loaded(data, map_location="foo")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
            loaded(data, map_location="cuda:0")

    def broken(storage, where):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        loaded(data, map_location=broken)


def test_mmap_needs_a_path_and_an_archive():
    with pytest.raises(ValueError, match="must be a file path"):
        loaded(saved(1), mmap=True)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        torch.load(DATA / "legacy.pt", mmap=True)


# ---------------------------------------------------------------- an interrupted save


class Bomb:
    def __reduce__(self):
        raise ValueError("boom")


def test_failed_save_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.pt"
    torch.save(ramp(3), path)
    with pytest.raises(ValueError, match="boom"):
        torch.save([ramp(5), Bomb()], path)
    assert torch.equal(torch.load(path), ramp(3)) and os.listdir(tmp_path) == ["a.pt"]
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        torch.save(1, tmp_path / "no" / "a.pt")


def test_killed_save_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.pt"
    torch.save(ramp(3), path)
    script = (
        "import os, sys, torch\n"
        "import torch._atomic_file as a\n"
        "write = a.AtomicFile.write\n"
        "def stop(self, data):\n"
        "    write(self, data[:100])\n"
        "    os.kill(os.getpid(), 9)\n"
        "a.AtomicFile.write = stop\n"
        "torch.save(torch.ones(1000), sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)])
    assert done.returncode == -signal.SIGKILL
    assert torch.equal(torch.load(path), ramp(3))


def test_save_goes_through_links_and_keeps_the_mode(tmp_path):
    path, link = tmp_path / "a.pt", tmp_path / "link.pt"
    torch.save(1, path)
    os.chmod(path, 0o640)
    link.symlink_to(path)
    torch.save(2, link)
    assert link.is_symlink() and torch.load(path) == 2
    assert path.stat().st_mode & 0o777 == 0o640


# ---------------------------------------------------------------- what is allowed


class Mine:
    def __init__(self, x):
        self.x = x


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/rushlight-was-here",)


def test_safe_globals():
    data = saved(Mine(ramp(2)))
    name = f"{__name__}.Mine"
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed") as info:
        loaded(data)
    assert f"add_safe_globals([{name}])" in str(info.value)
    assert torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data)) == [name]
    with torch.serialization.safe_globals([Mine]):
        assert torch.equal(loaded(data).x, ramp(2))
        assert Mine in torch.serialization.get_safe_globals()
    assert Mine not in torch.serialization.get_safe_globals()
    torch.serialization.add_safe_globals([(Mine, name)])
    try:
        assert torch.equal(loaded(data).x, ramp(2))
    finally:
        torch.serialization.clear_safe_globals()


def test_nothing_is_executed():
    with pytest.raises(pickle.UnpicklingError, match="blocked"):
        loaded(saved(Evil()))
    for obj in (print, eval, os.path.join, int, type, slice(1), frozenset([1]), range(3)):
        with pytest.raises(pickle.UnpicklingError, match="Unsupported global"):
            round_trip(obj)
    assert not os.path.exists("/tmp/rushlight-was-here")


def archive(pkl, **records):
    """An archive with a hand-made pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("a/data.pkl", pkl)
        z.writestr("a/version", records.pop("version", "3\n"))
        for name, data in records.items():
            z.writestr(f"a/{name}", data)
    return file.getvalue()


@pytest.mark.parametrize("pkl", [
    b"\x80\x02ctorch\nFloatTensor\nJ\xff\xff\xff\x7f\x85R.",   # would allocate 8 GiB
    b"\x80\x02c__builtin__\nbytearray\n\x8a\x06\0\0\0\0\0\x7f\x85R.",
    b"\x80\x02c_codecs\nencode\nX\1\0\0\0aX\3\0\0\0hex\x86R.",
    b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nK\1\x85R.",
    b"\x80\x02cbuiltins\nset\nK\1\x85R.",
    b"\x80\x02}K\1b.",
    b"\x80\x02]" + b"\x85" * 5000 + b".",
    b"\x80\x02(.",
    b"\x80\x02(X\x07\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0" + b"0X\x03\0\0\0cpu"
    b"J\xff\xff\xff\x7ftQ.",
])
def test_hostile_pickles(pkl):
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        loaded(archive(pkl, **{"data/0": b"abcd"}))


def test_default_names_resolve():
    """Each name that the reader allows is one that this version has, or is refused politely."""
    for name in ("float64", "uint16", "float8_e4m3fn", "Size", "FloatStorage", "LongTensor"):
        pkl = b"\x80\x02ctorch\n" + name.encode() + b"\n."
        assert loaded(archive(pkl)) is not None


# ---------------------------------------------------------------- damage


def test_truncation_and_flips_give_clear_errors():
    data = saved({"x": ramp(40), "m": [1, "a"]})
    for n in range(0, len(data) - 1, 13):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            loaded(data[:n])
    start = data.index(struct.pack("<3f", 0, 1, 2))
    for i in range(start, start + 160, 7):
        bad = bytearray(data)
        bad[i] ^= 1 << i % 8
        with pytest.raises(RuntimeError, match="PytorchStreamReader failed reading file data/0"):
            loaded(bytes(bad))


def test_other_damage():
    good = saved(ramp(3))
    z = zipfile.ZipFile(io.BytesIO(good))
    pkl = z.read("archive/data.pkl")
    data0 = z.read("archive/data/0")
    with pytest.raises(RuntimeError, match="failed locating file data/0: file not found"):
        loaded(archive(pkl))
    with pytest.raises(RuntimeError, match="record size"):
        loaded(archive(pkl, **{"data/0": b"abc"}))
    with pytest.raises(RuntimeError, match="maximum supported version"):
        loaded(archive(pkl, version="99", **{"data/0": data0}))
    with pytest.raises(ValueError, match="Unknown endianness type: foo"):
        loaded(archive(pkl, byteorder="foo", **{"data/0": data0}))
    assert torch.equal(loaded(archive(pkl, **{"data/0": data0})), ramp(3))
    with pytest.raises(EOFError):
        loaded(b"")
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        loaded(b"hello world, this is text")


def test_random_damage_never_does_worse_than_an_error():
    import random

    seeds = [p.read_bytes() for p in sorted(DATA.glob("*.pt")) if p.stat().st_size < 20000]
    torch.serialization.set_crc32_options(False)
    try:
        seeds += [saved(torch.load(DATA / n)) for n in ("values.pt", "parameters.pt")]
    finally:
        torch.serialization.set_crc32_options(True)
    chance = random.Random(1)
    for _ in range(2000):
        bad = bytearray(chance.choice(seeds))
        for _ in range(chance.choice((1, 2, 5))):
            at = chance.randrange(len(bad))
            if chance.random() < 0.7:
                bad[at] = chance.randrange(256)
            else:
                del bad[at : at + chance.randrange(1, 20)]
        try:
            loaded(bytes(bad))
        except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError):
            pass
