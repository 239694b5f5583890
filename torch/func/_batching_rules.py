"""The batching rules of primitive operators (see _batching.py).

A rule gets a Call, whose tensor arguments that are batched have been replaced by the tensors of
all examples, and returns the results for all examples. `FRONT` lists operators that take further
leading dimensions as they are, once their dimension arguments are counted from behind the batch.
"""

import math

import torch
from torch import _C
from torch.func._batching import NotBatchable

RULES = {}
RANDOM_ERROR = (
    "vmap: called random operation while in randomness error mode. Please either use the "
    "'same' or 'different' randomness flags on vmap or perform the randomness operation out of "
    "vmap"
)
_facts = {}


def rule(*names):
    def register(f):
        for n in names:
            RULES[n] = f
        return f

    return register


def facts_of(handle):
    """(info, names of the arguments) of an operator."""
    if handle not in _facts:
        info = _C._op_info(handle)
        inside = info["schema"].split("(", 1)[1].rsplit(") ->", 1)[0]
        names, level = [], 0
        word = ""
        for c in inside + ",":
            level += (c in "([") - (c in ")]")
            if c == "," and level == 0:
                names.append(word.split("=")[0].split()[-1] if word.strip() else "")
                word = ""
            else:
                word += c
        _facts[handle] = (info, [n for n in names if n and n != "*"])
    return _facts[handle]


def tensors_in(args):
    for a in args:
        if isinstance(a, torch.Tensor):
            yield a
        elif isinstance(a, (list, tuple)):
            yield from (t for t in a if isinstance(t, torch.Tensor))


class Call:
    """One operator call inside a vmap."""

    def __init__(self, level, handle, args):
        self.level, self.handle, self.args = level, handle, args
        self.info, self.names = facts_of(handle)

    def has(self, i):
        return self.level.has(self.args[i])

    def arg(self, name):
        return self.args[self.names.index(name)]

    def raw(self, i):
        """Argument i for all examples, or as it is if it is the same for all."""
        a = self.args[i]
        return a._vmap[0] if self.level.has(a) else a

    def all(self, i):
        return self.level.value(self.args[i])

    def rank(self, i=0):
        return self.args[i].dim()

    def run(self, *args):
        return _C._call_op(self.handle, args)

    def replaced(self, **changes):
        return [changes.get(n, a) for n, a in zip(self.names, self.args)]


def run(level, handle, name, args):
    """The handler of the mode: results of one operator call."""
    if not any(level.has(t) for t in tensors_in(args)):
        if not facts_of(handle)[0]["random"]:
            return _C._call_op(handle, args)
    call = Call(level, handle, args)
    info = call.info
    if info["random"]:
        return random(call)
    if info["inplace"] and not call.has(0):
        raise RuntimeError(
            f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor "
            "`other` in extra_args that has more elements than `self`. This happened due to "
            "`other` being vmapped over but `self` not being vmapped over in a vmap. Please try to "
            f"use out-of-place operators instead of {name}."
        )
    found = RULES.get(name)
    if found is None and info["pointwise"]:
        found = pointwise
    result = (found or by_example)(call)
    if info["inplace"]:
        return args[0]
    return wrapped(level, result)


def wrapped(level, result):
    if isinstance(result, torch.Tensor):
        absent = result.dim() == 1 and result.size(0) == 0  # a result that was not asked for
        return result if absent else level.wrap(result)
    if isinstance(result, (list, tuple)):
        return [wrapped(level, r) for r in result]
    if result is None:
        return None
    raise NotBatchable("an operator whose result is no tensor")


# ---- the general rule
def examples(call):
    for i in range(call.level.size):

        def pick(a, i=i):
            return a._vmap[0].select(0, i) if call.level.has(a) else a

        yield [[pick(x) for x in a] if isinstance(a, (list, tuple)) else pick(a) for a in call.args]


def by_example(call):
    """Each example by itself; the results are stacked."""
    rows = [call.run(*args) for args in examples(call)]
    return stacked(rows) if not call.info["inplace"] else None


def stacked(rows):
    if rows[0] is None:
        return None
    if isinstance(rows[0], torch.Tensor):
        return torch.stack(rows)
    if not isinstance(rows[0], (list, tuple)):
        raise NotBatchable("an operator whose result is no tensor")
    return [
        torch.stack(column) if isinstance(column[0], torch.Tensor) else stacked(column)
        for column in zip(*rows)
    ]


# ---- element-wise operators
def padded(value, rank, want):
    """Room for `want` dimensions behind the batch of a tensor whose examples have `rank`."""
    for _ in range(want - rank):
        value = value.unsqueeze(1)
    return value


def category(dtype):
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else int(dtype != torch.bool)


def aligned(call):
    """Arguments with batches that broadcast as the examples do, in the dtype they would take."""
    ranks = [t.dim() for t in tensors_in(call.args)]
    want = max(ranks)
    dtypes = {t.dtype for t in tensors_in(call.args) if t.dtype != torch.bool or want == 0}
    mixed = len(dtypes) > 1
    common = None
    for t in tensors_in(call.args):
        if t.dim() == want:
            common = t.dtype if common is None else torch.promote_types(common, t.dtype)

    def one(a):
        if not isinstance(a, torch.Tensor):
            return a
        if not call.level.has(a):
            strong = mixed and want == 0 and not _C._is_wrapped_number(a)
            return a.unsqueeze(0) if strong else a
        value = padded(a._vmap[0], a.dim(), want)
        if mixed and a.dim() == 0 and want > 0 and category(a.dtype) <= category(common):
            if a.dtype != torch.bool:  # a mask stays one
                value = value.to(common)
        return value

    return [one(a) for a in call.args]


@rule(
    "gelu", "isclose", "complex", "polygamma", "mvlgamma", "_standard_gamma_grad", "_dirichlet_grad"
)
def pointwise(call):
    return call.run(*aligned(call))


@rule("masked_fill", "masked_fill_")
def masked_fill(call):
    args = aligned(call)
    if not call.has(2):
        return call.run(*args)
    filled = torch.where(args[1], args[2], args[0])
    return args[0].copy_(filled) if call.info["inplace"] else filled


@rule("_lstm_step", "_lstm_step_backward", "_gru_step", "_gru_step_backward")
def recurrent_step(call):
    """Every argument has one row for each sample."""
    return apart(call.run(*[joined(call.all(i)) for i in range(len(call.args))]), call.level.size)


@rule("_scaled_dot_product_flash_attention_for_cpu")
def attention(call):
    mask = call.arg("attn_mask")
    if mask is not None and (call.level.has(mask) or (mask.dim() == 4 and mask.size(0) != 1)):
        return by_example(call)
    folded = [joined(call.all(i)) for i in range(3)]
    return apart(call.run(*folded, *call.args[3:]), call.level.size)


@rule("resize_", "resize_as_")
def resize(call):
    raise NotBatchable("a change of the shape of one example")


@rule("copy_", "fill_", "zero_")
def overwrite(call):
    args = aligned(call)
    if call.info["name"] == "fill_" and isinstance(args[1], torch.Tensor) and call.has(1):
        args[0].copy_(args[1])
        return None
    return call.run(*args)


# ---- operators along dimensions
DIMS = {"dim", "dims", "dim0", "dim1", "dim2", "dimension"}


def behind(dim, rank):
    """Dimension `dim` of examples of that rank, in the tensor of all examples."""
    size = max(rank, 1)
    if not -size <= dim < size:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-size}, {size - 1}]"
            f", but got {dim})"
        )
    return dim % size + 1


def shifted(call, rank):
    out = list(call.args)
    for i, (n, a) in enumerate(zip(call.names, call.args)):
        if n in DIMS and isinstance(a, int):
            out[i] = behind(a, rank)
        elif n in DIMS and isinstance(a, (list, tuple)):
            out[i] = [behind(d, rank) for d in a]
    return out


FRONT = """
clone _to_copy empty_like detach _alias view_as_real view_as_complex round tril triu flip
select slice unsqueeze transpose diagonal unfold split split_with_sizes unbind cumsum cumprod
logcumsumexp cummax cummin _softmax _log_softmax sort topk kthvalue mode gather scatter scatter_
scatter_add scatter_add_ scatter_reduce scatter_reduce_ cat constant_pad_nd linalg_inv_ex
linalg_qr _linalg_eigh linalg_eig _linalg_svd _pinv linalg_matrix_exp linalg_matrix_sqrth
linalg_lu_factor_ex _lu_permutation _permutation_matrix linalg_solve_triangular
linalg_cholesky_ex cholesky_inverse linalg_ldl_factor_ex linalg_det _slogdet _householder
_fft_c2c _fft_r2c _fft_c2r linalg_cross _cdist_forward select_scatter slice_scatter diagonal_scatter
isin _softmax_backward_data _log_softmax_backward_data diag_embed geqrf squeeze
""".split()
PLAIN_FORMATS = (None, torch.preserve_format, torch.contiguous_format)
LONGER = {"unsqueeze", "diag_embed"}  # count dimensions of the result


@rule(*FRONT)
def front(call):
    """The batch is one more leading dimension; 0-dim examples get a dimension of their own."""
    name = call.info["name"]
    ranks = [t.dim() for t in tensors_in(call.args)]
    rank = max(ranks)
    if "memory_format" in call.names and call.arg("memory_format") not in PLAIN_FORMATS:
        return by_example(call)
    if name == "isin":
        if call.has(1):
            return by_example(call)
        return call.run(*[call.raw(i) for i in range(len(call.args))])
    if name == "squeeze":
        return squeeze(call)
    along = any(n in DIMS for n in call.names) and name not in LONGER
    point = along and rank == 0
    if any(r != rank for r in ranks) and name not in ("cat",):
        if name in ("scatter", "scatter_") or not name.startswith(("select_s", "diagonal_s")):
            return by_example(call)
    args = shifted(call, {"unsqueeze": rank + 1, "diag_embed": rank + 1}.get(name, rank))

    def ready(t):
        value = call.level.value(t)
        return value.unsqueeze(1) if point else value

    for i, a in enumerate(call.args):
        if isinstance(a, torch.Tensor):
            args[i] = ready(a)
        elif isinstance(a, (list, tuple)) and any(isinstance(t, torch.Tensor) for t in a):
            args[i] = [ready(t) for t in a]
    result = call.run(*args)
    if not point or call.info["inplace"]:
        return result
    if isinstance(result, torch.Tensor):
        return result.squeeze(1) if result.dim() > 1 else result
    return [r.squeeze(1) if r.dim() > 1 else r for r in result]


def squeeze(call):
    value, rank = call.all(0), call.rank()
    dims = call.args[1] if len(call.args) > 1 else range(rank)
    dims = [dims] if isinstance(dims, int) else dims
    if rank == 0:
        return value.view_as(value)
    return value.squeeze(tuple(d for d in (behind(d, rank) for d in dims) if value.size(d) == 1))


@rule("roll")
def roll(call):
    value, shifts, dims = call.all(0), call.args[1], list(call.args[2])
    if dims:
        return torch.roll(value, shifts, [behind(d, call.rank()) for d in dims])
    flat = value.reshape(value.size(0), -1)
    return torch.roll(flat, shifts, [1]).reshape(value.shape)


@rule("t")
def t(call):
    return call.all(0).transpose(1, 2) if call.rank() == 2 else call.all(0).view_as(call.all(0))


@rule("permute")
def permute(call):
    return call.all(0).permute(0, *(behind(d, call.rank()) for d in call.args[1]))


@rule("view", "_unsafe_view")
def view(call):
    value, size = call.all(0), call.args[1]
    if not isinstance(size, (list, tuple)):
        return value.view(size)  # another dtype
    size = list(size)
    if -1 in size:
        known = math.prod(s for s in size if s != -1)
        if known == 0:
            return by_example(call)
        size[size.index(-1)] = call.args[0].numel() // known
    return call.run(value, [value.size(0), *size])


@rule("expand")
def expand(call):
    size = list(call.args[1])
    value = padded(call.all(0), call.rank(), len(size))
    return value.expand(value.size(0), *size)


@rule("repeat")
def repeat(call):
    return padded(call.all(0), call.rank(), len(call.args[1])).repeat(1, *call.args[1])


@rule("select_backward", "slice_backward", "diagonal_backward", "unfold_backward")
def view_backward(call):
    sizes = call.arg("input_sizes")
    args = shifted(call, len(sizes))
    args[0], args[1] = call.all(0), [call.level.size, *sizes]
    return call.run(*args)


# ---- reductions
def all_dims(call, dims):
    """(tensor, dims) with dimensions behind the batch; none given means all."""
    value, rank = call.all(0), call.rank()
    if rank == 0:
        return value.unsqueeze(1), [1]
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return value, list(range(1, rank + 1))
    if isinstance(dims, int):
        return value, behind(dims, rank)
    return value, [behind(d, rank) for d in dims]


@rule(
    "nansum",
    "amax",
    "amin",
    "var",
    "var_mean",
    "std",
    "std_mean",
    "linalg_vector_norm",
    "logsumexp",
    "count_nonzero",
    "hash_tensor",
)
def reduction(call):
    value, dims = all_dims(call, call.arg("dim"))
    args = call.replaced(dim=dims)
    if call.rank() == 0 and "keepdim" in call.names:
        args[call.names.index("keepdim")] = False
    args[0] = value
    return call.run(*args)


@rule("sum", "mean", "any", "all", "prod", "max", "min", "median", "nanmedian")
def maybe_full(call):
    """These have an overload without dimensions."""
    name = call.info["name"]
    if "dim" in call.names:
        if isinstance(call.arg("dim"), int) and call.rank() == 0:
            return by_example(call)
        return reduction(call)
    flat = call.all(0).reshape(call.level.size, -1)
    if name in ("max", "min"):
        return torch.amax(flat, 1) if name == "max" else torch.amin(flat, 1)
    if name in ("median", "nanmedian"):
        return getattr(torch, name)(flat, 1).values
    options = {"dtype": call.arg("dtype")} if "dtype" in call.names else {}
    return getattr(torch, name)(flat, 1, **options)


@rule("argmax", "argmin")
def argmax(call):
    dim, keepdim = call.arg("dim"), call.arg("keepdim")
    if dim is not None and call.rank() > 0:
        return call.run(call.all(0), behind(dim, call.rank()), keepdim)
    flat = call.run(call.all(0).reshape(call.level.size, -1), 1, False)
    return flat.reshape(call.level.size, *([1] * call.rank())) if keepdim else flat


@rule("aminmax")
def aminmax(call):
    if call.arg("dim") is None or call.rank() == 0:
        return by_example(call)
    return call.run(call.all(0), behind(call.arg("dim"), call.rank()), call.arg("keepdim"))


# ---- products
@rule("mm", "bmm")
def mm(call):
    if call.info["name"] == "bmm":
        return torch.matmul(call.all(0), call.all(1))
    return torch.matmul(call.raw(0), call.raw(1))


@rule("mv")
def mv(call):
    if not call.has(0) and call.raw(1).dim() == 2:  # one product of matrices
        return torch.mm(call.raw(0), call.raw(1).t()).t()
    return torch.matmul(call.raw(0), call.raw(1).unsqueeze(-1)).squeeze(-1)


@rule("dot", "vdot")
def dot(call):
    a = call.raw(0).conj() if call.info["name"] == "vdot" else call.raw(0)
    return torch.matmul(a.unsqueeze(-2), call.raw(1).unsqueeze(-1)).squeeze(-1).squeeze(-1)


def added(call, product, rank):
    """beta * self + alpha * product, of examples of that rank."""
    beta, alpha = call.arg("beta"), call.arg("alpha")
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product if call.has(1) or call.has(2) else product.expand(call.level.size, -1, -1)
    first = padded(call.raw(0), call.rank(), rank) if call.has(0) else call.args[0]
    return (first if beta == 1 else first * beta) + product


@rule("addmm", "baddbmm")
def addmm(call):
    three = call.info["name"] == "baddbmm"
    a, b = (call.all(1), call.all(2)) if three else (call.raw(1), call.raw(2))
    return added(call, torch.matmul(a, b), 3 if three else 2)


@rule("addbmm")
def addbmm(call):
    return added(call, torch.matmul(call.all(1), call.all(2)).sum(1), 2)


@rule("addmv")
def addmv(call):
    return added(call, torch.matmul(call.raw(1), call.raw(2).unsqueeze(-1)).squeeze(-1), 1)


@rule("linear")
def linear(call):
    bias = call.args[2]
    if not call.has(1) and not (bias is not None and call.has(2)):
        return call.run(call.raw(0), call.args[1], bias)
    rank = call.rank(0)
    weight = call.all(1)
    x = call.all(0)
    rows = x.reshape(x.size(0), -1, x.size(-1))
    out = torch.bmm(rows, weight.transpose(1, 2))
    if bias is not None:
        out = out + (call.raw(2).unsqueeze(1) if call.has(2) else bias)
    return out.reshape(*x.shape[:-1], out.size(-1)) if rank != 2 else out


@rule("_solve_matrix", "cholesky_solve", "_lu_solve", "linalg_ldl_solve")
def solve(call):
    if len({t.dim() for t in tensors_in(call.args) if t.dtype != torch.int32}) > 1:
        return by_example(call)
    return call.run(*[call.level.value(a) if isinstance(a, torch.Tensor) else a for a in call.args])


# ---- convolutions: the batch joins the samples, or becomes groups of channels
def joined(value):
    """Dimensions 0 and 1 as one."""
    return value.reshape(value.size(0) * value.size(1), *value.shape[2:])


def as_channels(value):
    """[B, N, C, ...] -> [N, B * C, ...]"""
    value = value.transpose(0, 1)
    return value.reshape(value.size(0), -1, *value.shape[3:])


def from_channels(value, batch):
    """[N, B * C, ...] -> [B, N, C, ...]"""
    value = value.reshape(value.size(0), batch, -1, *value.shape[2:])
    return value.transpose(0, 1)


@rule("convolution")
def convolution(call):
    x, w, bias, *rest, groups = call.args
    size = call.level.size
    if not call.has(1) and not (bias is not None and call.has(2)):
        out = call.run(joined(call.all(0)), w, bias, *rest, groups)
        return out.reshape(size, -1, *out.shape[1:])
    w = joined(call.all(1))
    if bias is not None:
        bias = call.all(2).reshape(-1)
    out = call.run(as_channels(call.all(0)), w, bias, *rest, groups * size)
    return from_channels(out, size)


@rule("_conv_grad_input")
def conv_grad_input(call):
    g, w, sizes, *rest, groups = call.args
    size = call.level.size
    if not call.has(1):
        out = call.run(joined(call.all(0)), w, [size * sizes[0], *sizes[1:]], *rest, groups)
        return out.reshape(size, *sizes)
    wide = [sizes[0], size * sizes[1], *sizes[2:]]
    out = call.run(as_channels(call.all(0)), joined(call.all(1)), wide, *rest, groups * size)
    return from_channels(out, size)


@rule("_conv_grad_weight")
def conv_grad_weight(call):
    g, x, sizes, *rest, groups = call.args
    size = call.level.size
    wide = [size * sizes[0], *sizes[1:]]
    out = call.run(as_channels(call.all(0)), as_channels(call.all(1)), wide, *rest, groups * size)
    return out.reshape(size, *sizes)


# ---- images: the batch joins the samples
POOLS = {
    "max_pool2d_with_indices": 2,
    "max_pool3d_with_indices": 3,
    "avg_pool2d": 2,
    "avg_pool3d": 3,
    "_adaptive_avg_pool2d": 2,
    "_adaptive_avg_pool3d": 3,
    "adaptive_max_pool2d": 2,
    "adaptive_max_pool3d": 3,
    "im2col": 2,
    "col2im": 1,
    "native_channel_shuffle": 2,
}


@rule(*POOLS)
def pool(call):
    spatial = POOLS[call.info["name"]]
    value = call.all(0)
    if call.rank() == spatial + 1:  # no samples: the batch takes their place
        return call.run(value, *call.args[1:])
    return apart(call.run(joined(value), *call.args[1:]), call.level.size)


def apart(result, size):
    if isinstance(result, torch.Tensor):
        return result.reshape(size, -1, *result.shape[1:])
    return [apart(r, size) for r in result]


@rule("_resample", "_pad_index")
def resample(call):
    return (
        apart(call.run(joined(call.all(0)), *call.args[1:]), call.level.size)
        if call.rank() > 1
        else by_example(call)
    )


@rule("grid_sampler")
def grid_sampler(call):
    out = call.run(joined(call.all(0)), joined(call.all(1)), *call.args[2:])
    return apart(out, call.level.size)


# ---- losses
@rule(
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "soft_margin_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
)
def loss(call):
    args = aligned(call)
    reduction = call.arg("reduction")
    args[call.names.index("reduction")] = 0
    for i, a in enumerate(args):  # the losses want equal shapes
        if isinstance(a, torch.Tensor) and not call.has(i) and call.rank(i) == call.rank(0):
            args[i] = call.all(i)
    out = call.run(*args)
    return reduced(out, reduction)


def reduced(terms, reduction):
    if reduction == 0:
        return terms
    flat = terms.reshape(terms.size(0), -1)
    return flat.mean(1) if reduction == 1 else flat.sum(1)


@rule("nll_loss_forward", "nll_loss2d_forward")
def nll_loss(call):
    x, target, weight, reduction, ignore = call.args
    if weight is not None and call.has(2):
        return by_example(call)
    x, target = call.all(0), call.all(1)
    single = call.rank(0) == 1
    if not single:
        x, target = joined(x), joined(target)
    terms, _ = call.run(x, target, weight, 0, ignore)
    kept = target != ignore
    counts = kept.to(terms.dtype)
    if weight is not None:
        counts = counts * weight[torch.where(kept, target, 0)]
    if not single:
        terms, counts = apart(terms, call.level.size), apart(counts, call.level.size)
    total = counts.reshape(call.level.size, -1).sum(1)
    if reduction == 0:
        return terms, torch.zeros_like(total)
    whole = terms.reshape(call.level.size, -1).sum(1)
    return (whole / total if reduction == 1 else whole), total


# ---- normalisation
def affine(call, out, names, shape):
    """out * weight + bias with weights that differ between the examples."""
    for name, times in zip(names, (True, False)):
        i = call.names.index(name)
        if call.args[i] is not None:
            w = call.raw(i)
            w = w.reshape(*(w.shape[:1] if call.has(i) else (1,)), *shape)
            out = out * w if times else out + w
    return out


def plain_weights(call, names):
    return all(
        call.args[call.names.index(n)] is None or not call.has(call.names.index(n)) for n in names
    )


@rule("native_layer_norm", "fused_rms_norm")
def layer_norm(call):
    names = [n for n in ("weight", "bias") if n in call.names]
    if plain_weights(call, names):
        return call.run(call.raw(0), *call.args[1:])
    bare = call.replaced(**{n: None for n in names})
    bare[0] = call.all(0)
    out, *rest = call.run(*bare)
    shape = call.arg("normalized_shape")
    ones = [1] * (call.rank() - len(shape))
    return [affine(call, out, names, [*ones, *shape]), *rest]


@rule("native_group_norm")
def group_norm(call):
    _, weight, bias, n, c, rest, groups, eps = call.args
    size, names = call.level.size, ("weight", "bias")
    plain = plain_weights(call, names)
    given = (weight, bias) if plain else (None, None)
    out, mean, scale = call.run(joined(call.all(0)), *given, n * size, c, rest, groups, eps)
    out = apart(out, size)
    if not plain:
        out = affine(call, out, names, [1, c] + [1] * (call.rank() - 2))
    return out, apart(mean, size), apart(scale, size)


@rule("native_batch_norm")
def batch_norm(call):
    x, weight, bias, mean, var, training, momentum, eps = call.args
    size = call.level.size
    if training and mean is not None and not call.has(3):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which "
            "will be updated in place, were not batched.\nIf you are using modules and do not need "
            "eval mode, please set `track_running_stats` to be False."
        )
    flat = [None if call.args[i] is None else call.all(i).reshape(-1) for i in range(1, 5)]
    out, *stats = call.run(as_channels(call.all(0)), *flat, training, momentum, eps)
    if training and mean is not None and call.has(3):
        for i in (3, 4):
            call.raw(i).copy_(flat[i - 1].reshape(call.raw(i).shape))
    return [from_channels(out, size)] + [s.reshape(size, -1) for s in stats]


# ---- random numbers
def random(call):
    level, name = call.level, call.info["name"]
    if level.randomness == "error":
        raise RuntimeError(RANDOM_ERROR)
    batched = [i for i in range(len(call.args)) if call.has(i)]
    if level.randomness == "same":
        return same_numbers(call, batched)
    if call.info["inplace"]:
        if not call.has(0):
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This "
                "will appear like same randomness. If this is necessary for your usage, please "
                "file an issue with functorch."
            )
        call.run(*aligned(call))
        return call.args[0]
    if "size" in call.names:
        sizes = call.replaced(size=[level.size, *call.arg("size")])
        return level.wrap(call.run(*sizes))
    if any(isinstance(a, torch.Tensor) for a in call.args) and name != "multinomial":
        return wrapped(
            level,
            call.run(*[level.value(a) if isinstance(a, torch.Tensor) else a for a in call.args]),
        )
    return wrapped(level, by_example(call))


def same_numbers(call, batched):
    if not batched:
        return call.run(*call.args)
    generator = call.arg("generator") if "generator" in call.names else None
    generator = generator or torch.default_generator
    state, rows = generator.get_state(), []
    for args in examples(call):
        generator.set_state(state)
        rows.append(call.run(*args))
    return call.args[0] if call.info["inplace"] else wrapped(call.level, stacked(rows))


from torch.func import _batching_index  # noqa: E402,F401  registers its rules
