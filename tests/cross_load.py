"""Files across implementations: one interpreter writes what another reads back and compares.

    python tests/cross_load.py write DIR      # with one `torch`
    python tests/cross_load.py read DIR       # with the other: loads each file in every way

Both make the same objects from the same seeds, so the reader knows what the files must hold:
bytes of tensors exactly, states of optimizers within rounding of their arithmetic. The results
with PyTorch 2.15 stand in docs/FILES.md. pytest does not collect this file.
"""

import collections
import pathlib
import sys
import warnings

import torch
import torch.nn.utils.prune
from torch import nn

DTYPES = """uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64
    complex32 complex64 complex128 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz
    float8_e8m0fnu""".split()


def tensors():
    made = {name: torch.arange(64, dtype=torch.uint8).view(getattr(torch, name))
            for name in DTYPES}
    return {**made, "bool": torch.tensor([True, False])}


def views():
    x = torch.arange(24.0).reshape(2, 3, 4)
    return {"whole": x, "permuted": x.permute(2, 0, 1), "strided": x[:, 1:, ::2],
            "expanded": x[0, 0, 0].expand(5), "empty": torch.zeros(0, 3),
            "number": torch.tensor(3.0), "part": x.view(-1)[5:7],
            "other dtype": x.view(torch.int32),
            "channels last": torch.ones(1, 2, 3, 3).contiguous(memory_format=torch.channels_last),
            "leaf": torch.ones(2, requires_grad=True), "buffer": nn.Buffer(torch.ones(2)),
            "shared": [x, x.view(-1), x[1]]}


def values():
    torch.manual_seed(3)
    return {"plain": [None, 2**100, -3, 1.5, float("inf"), b"abc", "ü" * 300, (1, (2,)), 1 + 2j,
                      list(range(300)), -2**40, {}, [], True],
            "torch": [torch.Size([1, 2]), torch.float16, torch.device("cpu"), torch.strided],
            "collections": [collections.OrderedDict(a=1), collections.Counter("aab"), {1, 2}],
            "random state": torch.get_rng_state()}


LAYERS = {
    "Linear": (3, 2), "Bilinear": (2, 3, 4), "Conv1d": (2, 3, 2), "Conv2d": (2, 3, 2),
    "ConvTranspose2d": (2, 3, 2), "BatchNorm2d": (3,), "InstanceNorm2d": (3,),
    "GroupNorm": (1, 3), "LayerNorm": (3,), "RMSNorm": (3,), "SyncBatchNorm": (3,),
    "RNN": (2, 3), "LSTM": (2, 3, 2), "GRU": (2, 3), "LSTMCell": (2, 3), "Embedding": (4, 3),
    "EmbeddingBag": (4, 3), "MultiheadAttention": (4, 2), "TransformerEncoderLayer": (4, 2),
    "Transformer": (4, 2, 1, 1), "PReLU": (), "GELU": (), "Softmax": (1,), "Dropout": (0.3,),
    "MaxPool2d": (2,), "Upsample": (None, 2), "CrossEntropyLoss": (), "CTCLoss": (),
    "AdaptiveLogSoftmaxWithLoss": (4, 6, [2, 4]), "Unflatten": (1, (2, 3)),
}


def modules():
    torch.manual_seed(0)
    made = {name: getattr(nn, name)(*args) for name, args in LAYERS.items()}
    made["Sequential"] = nn.Sequential(collections.OrderedDict(a=nn.Linear(2, 2), b=nn.ReLU()))
    made["ModuleDict"] = nn.ModuleDict({"x": nn.Linear(1, 1)})
    made["ParameterList"] = nn.ParameterList([torch.ones(2)])
    made["pruned"] = nn.utils.prune.l1_unstructured(nn.Linear(3, 3), "weight", 0.5)
    made["spectral"] = nn.utils.spectral_norm(nn.Linear(2, 2))
    made["averaged"] = torch.optim.swa_utils.AveragedModel(nn.Linear(2, 2))
    made["half"] = nn.Linear(2, 2).half().eval().requires_grad_(False)
    return made


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9}, "Adam": {"amsgrad": True}, "AdamW": {}, "NAdam": {},
    "RAdam": {}, "Adamax": {}, "Adagrad": {}, "Adadelta": {}, "Rprop": {}, "ASGD": {},
    "RMSprop": {"centered": True, "momentum": 0.5}, "Adafactor": {}, "Muon": {},
    "LBFGS": {"max_iter": 4},
}


def optimizers():
    made = {}
    for name, options in OPTIMIZERS.items():
        torch.manual_seed(1)
        parameters = [nn.Parameter(torch.randn(3, 4)), nn.Parameter(torch.randn(4, 4))]
        groups = parameters if name == "LBFGS" else [{"params": [p]} for p in parameters]
        optimizer = getattr(torch.optim, name)(groups, **options)

        def closure():
            optimizer.zero_grad()
            loss = sum((p ** 2).sum() for p in parameters)
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        made[name] = [optimizer.state_dict(), scheduler.state_dict()]
    return made


def others():
    dense = torch.eye(4)
    return {"coo": dense.to_sparse(), "csr": dense.to_sparse_csr(), "csc": dense.to_sparse_csc(),
            "bsr": dense.to_sparse_bsr((2, 2)), "meta": torch.empty(2, 3, device="meta"),
            "conjugate": torch.tensor([1 + 2j]).conj()}


KINDS = (tensors, views, values, modules, optimizers, others)
UNSAFE = {"modules"}  # need weights_only=False
IGNORED = {"_flat_weight_refs"}  # weak references


def difference(a, b, path, exact):
    """Where two objects differ, or None."""
    if type(a).__name__ != type(b).__name__:
        return f"{path}: {type(a)} {type(b)}"
    if isinstance(a, torch.Tensor):
        return tensor_difference(a, b, path, exact)
    if isinstance(a, nn.Module):
        a, b = (dict(sorted(vars(module).items())) for module in (a, b))
    if isinstance(a, dict):
        if list(a) != list(b):
            return f"{path}: keys {list(a)} {list(b)}"
        pairs = [(key, a[key], b[key]) for key in a if key not in IGNORED]
    elif isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return f"{path}: lengths {len(a)} {len(b)}"
        pairs = list(zip(range(len(a)), a, b))
    elif callable(a) or isinstance(a, float) and not exact and abs(a - b) < 1e-5:
        return None
    elif type(a).__module__.startswith("torch.nn"):
        return None  # hooks: their effect is in the tensors
    else:
        return None if a == b or a != a and b != b else f"{path}: {a!r} {b!r}"
    found = (difference(x, y, f"{path}[{key!r}]", exact) for key, x, y in pairs)
    return next((text for text in found if text is not None), None)


def tensor_difference(a, b, path, exact):
    facts = [(t.dtype, t.shape, t.layout, t.requires_grad, t.device.type) for t in (a, b)]
    if facts[0] != facts[1]:
        return f"{path}: {facts}"
    if a.device.type == "meta":
        return None
    a, b = (t.detach().resolve_conj() for t in (a, b))
    if a.layout != torch.strided:
        a, b = a.to_dense(), b.to_dense()
    if not exact and a.is_floating_point():
        return None if torch.allclose(a, b, rtol=1e-5, atol=1e-5) else f"{path}: {a} {b}"
    if not exact or a.stride() == b.stride():
        a, b = (t.contiguous().view(-1).view(torch.uint8).tolist() for t in (a, b))
        return None if a == b else f"{path}: values"
    return f"{path}: strides {a.stride()} {b.stride()}"


def files():
    for kind in KINDS:
        for name, value in kind().items():
            for form in ("zip", "old"):
                yield kind.__name__, name, value, form, f"{kind.__name__}.{name}.{form}.pt"


def write(folder):
    folder.mkdir(exist_ok=True)
    for _, _, value, form, file in files():
        torch.save(value, folder / file, _use_new_zipfile_serialization=form == "zip")


def read(folder):
    good = total = 0
    for kind, name, value, form, file in files():
        for weights_only in (False,) if kind in UNSAFE else (True, False):
            for mapped in (True, False) if form == "zip" else (False,):
                total += 1
                try:
                    loaded = torch.load(folder / file, weights_only=weights_only, mmap=mapped)
                    problem = difference(value, loaded, name, kind != "optimizers")
                except Exception as error:
                    problem = f"{type(error).__name__}: {error}"
                if problem is None:
                    good += 1
                else:
                    print(f"{file} weights_only={weights_only} mmap={mapped}: {problem:.200}")
    print(f"{good} of {total} loads gave what was saved")
    return good == total


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    action, place = sys.argv[1], pathlib.Path(sys.argv[2])
    sys.exit(0 if {"write": write, "read": read}[action](place) in (None, True) else 1)
