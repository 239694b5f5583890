"""Sparse tensors: layouts, arithmetic, products, gradients, files. Expected values are recorded
from the reference implementation or follow from the dense computation."""

import copy
import io

import pytest

import torch

LAYOUTS = [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr,
           torch.sparse_bsc]
A = [[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]]


def dense(dtype=torch.float32):
    return torch.tensor(A, dtype=dtype)


def in_layout(t, layout):
    block = (1, 1) if layout in (torch.sparse_bsr, torch.sparse_bsc) else None
    return t.to_sparse(layout=layout, blocksize=block)


def uncoalesced(**options):
    return torch.sparse_coo_tensor([[1, 0, 1], [0, 1, 0]], [1.0, 2, 3], (2, 2), **options)


# ---------------------------------------------------------------- construction
def test_coo_parts():
    s = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4, 5])
    assert s.shape == (2, 3) and s._nnz() == 3 and not s.is_coalesced()
    assert (s.sparse_dim(), s.dense_dim(), s.layout, s.is_sparse) == (2, 0, torch.sparse_coo, True)
    assert s.to_dense().tolist() == [[0, 0, 3], [4, 0, 5]]
    with pytest.raises(RuntimeError, match="Cannot get values on an uncoalesced tensor"):
        s.values()
    assert s.coalesce().values().tolist() == [3, 4, 5]
    assert torch.sparse_coo_tensor((2, 4))._nnz() == 0


@pytest.mark.parametrize("parts, words", [
    (([[0, 1], [0, 5]], [1.0, 2], (2, 2)), "for dim 1, size is 2 but found index 5"),
    (([[0, -1], [0, 1]], [1.0, 2], (2, 2)), "found negative index -1 for dim 0"),
    (([[0, 1], [0, 1]], [1.0, 2, 3], (2, 2)), "must have same nnz"),
    (([[0, 1], [0, 1]], [1.0, 2], (2, 2, 2)), "is not satisfied: len.size. = 3, sparse_dim = 2"),
])
def test_coo_invariants(parts, words):
    with pytest.raises(RuntimeError, match=words):
        torch.sparse_coo_tensor(*parts, check_invariants=True)


@pytest.mark.parametrize("crow, col, words", [
    ([1, 1, 3], [1, 0, 2], r"`crow_indices\[..., 0\] == 0` is not satisfied."),
    ([0, 1, 2], [1, 0, 2], r"`crow_indices\[..., -1\] == nnz` is not satisfied."),
    ([0, 1, 3], [1, 0, 3], "`0 <= col_indices < ncols` is not satisfied."),
    ([0, 1, 3], [1, 2, 0], "are sorted and distinct along the last dimension"),
    ([0, 3], [1, 0, 2], r"must be equal to the number of rows \+ 1 \(=3\), but got 2"),
])
def test_csr_invariants(crow, col, words):
    with torch.sparse.check_sparse_tensor_invariants():
        with pytest.raises(RuntimeError, match=words):
            torch.sparse_csr_tensor(crow, col, [1.0, 2, 3], (2, 3))
    assert not torch.sparse.check_sparse_tensor_invariants.is_enabled()


def test_bad_indices_never_reach_memory():
    s = torch.sparse_coo_tensor([[0], [5]], [1.0], (2, 3))
    with pytest.raises(RuntimeError, match="found index 5"):
        s.to_dense()
    c = torch.sparse_csr_tensor([0, 1, 9], [0, 700], [1.0, 2], (2, 3))
    with pytest.raises(RuntimeError):
        c @ torch.ones(3, 1)


# ---------------------------------------------------------------- layouts
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64,
                                   torch.bfloat16])
def test_there_and_back(layout, dtype):
    d = dense().to(dtype)
    s = in_layout(d, layout)
    assert s.layout == layout and s._nnz() == 3 and s.dtype == dtype
    assert torch.equal(s.to_dense(), d)
    for other in LAYOUTS:
        if layout in LAYOUTS[3:] and other in LAYOUTS[1:3]:
            continue
        assert torch.equal(in_layout(s, other).to_dense(), d)


def test_compressed_parts():
    d = dense()
    c = d.to_sparse_csr()
    assert c.crow_indices().tolist() == [0, 1, 3] and c.col_indices().tolist() == [1, 0, 2]
    c = d.to_sparse_csc()
    assert c.ccol_indices().tolist() == [0, 1, 2, 3] and c.row_indices().tolist() == [1, 0, 1]
    b = torch.arange(8.0).view(2, 4).to_sparse_bsr((1, 2))
    assert b.values().tolist() == [[[0, 1]], [[2, 3]], [[4, 5]], [[6, 7]]]
    assert b.t().layout == torch.sparse_bsc and torch.equal(b.t().to_dense(), b.to_dense().t())
    with pytest.raises(RuntimeError, match=r"must be divisible by given blocksize \(2,2\)"):
        d.to_sparse_bsr((2, 2))
    with pytest.raises(RuntimeError, match="blocksize needs to be positive"):
        d.to_sparse_bsr((0, 1))
    batch = torch.stack([d, d]).to_sparse_csr()
    assert batch.values().shape == (2, 3) and torch.equal(batch.to_dense()[1], d)
    with pytest.raises(RuntimeError, match="row_indices expected sparse column compressed"):
        d.to_sparse_csr().row_indices()


def test_hybrid_and_small():
    h = torch.ones(2, 3).to_sparse(1)
    assert h.sparse_dim() == 1 and h.values().shape == (2, 3)
    z = torch.tensor(3.0).to_sparse()
    assert z._nnz() == 1 and z.to_dense().item() == 3
    assert torch.zeros(2, 2).to_sparse_csr()._nnz() == 0


def test_repr():
    assert repr(dense().to_sparse()) == (
        "tensor(indices=tensor([[0, 1, 1],\n                       [1, 0, 2]]),\n"
        "       values=tensor([2., 3., 4.]),\n"
        "       size=(2, 3), nnz=3, layout=torch.sparse_coo)")
    assert repr(dense().to_sparse_csr()) == (
        "tensor(crow_indices=tensor([0, 1, 3]),\n       col_indices=tensor([1, 0, 2]),\n"
        "       values=tensor([2., 3., 4.]), size=(2, 3), nnz=3,\n       layout=torch.sparse_csr)")


# ---------------------------------------------------------------- elementwise
def test_coalesce_adds_up():
    c = uncoalesced().coalesce()
    assert c.indices().tolist() == [[0, 1], [1, 0]] and c.values().tolist() == [2, 4]
    assert c.coalesce() is c


def test_sums_of_layouts():
    a, b = dense(), torch.tensor([[1.0, 2, 0], [0, 0, 5]])
    for x, y in ((a.to_sparse(), b.to_sparse()), (a.to_sparse_csr(), b.to_sparse_csr())):
        s = x + y
        assert s.layout == x.layout and torch.equal(s.to_dense(), a + b)
        assert torch.equal(torch.sub(a, b.to_sparse(), alpha=2), a - 2 * b)
    assert torch.equal(b + a.to_sparse(), a + b)
    x = b.clone()
    x.add_(a.to_sparse(), alpha=0.5)
    assert torch.equal(x, b + 0.5 * a)
    with pytest.raises(RuntimeError, match="add.sparse, dense. is not supported"):
        a.to_sparse() + b
    w = uncoalesced()
    assert (w + w)._values().tolist() == [2, 4, 6]


def test_products_and_quotients():
    a, b = dense(), torch.tensor([[1.0, 2, 0], [0, 0, 5]])
    p = a.to_sparse() * b.to_sparse()
    assert p._nnz() == 2 and torch.equal(p.to_dense(), a * b)
    assert torch.equal((a.to_sparse() * b).to_dense(), a * b)
    assert torch.equal((a.to_sparse_csr() * b.to_sparse_csr()).to_dense(), a * b)
    assert (a.to_sparse() * 2.5).values().tolist() == [5, 7.5, 10]
    assert (a.long().to_sparse() / 2).dtype == torch.float32
    assert (a.to_sparse() // 2).values().tolist() == [1, 1, 2]
    assert (a.to_sparse() ** 2).values().tolist() == [4, 9, 16]
    with pytest.raises(RuntimeError, match="Sparse division requires a scalar or zero-dim"):
        a.to_sparse() / b


@pytest.mark.parametrize("name", "abs asin atan ceil erf expm1 floor log1p neg relu round sgn sign "
                                 "sin sinh sqrt tan tanh trunc isnan signbit".split())
def test_functions_that_keep_zero(name):
    d = dense() / 5
    for layout in LAYOUTS[:3]:
        out = getattr(in_layout(d, layout), name)()
        assert out.layout == layout
        assert torch.equal(out.to_dense(), getattr(d, name)())


@pytest.mark.parametrize("name", ["cos", "exp", "sort", "cumsum", "argmax", "nonzero"])
def test_other_functions_refuse(name):
    args = {"cumsum": (0,)}.get(name, ())
    with pytest.raises(NotImplementedError, match="Could not run 'aten::.*'SparseCPU' backend"):
        getattr(dense().to_sparse(), name)(*args)
    with pytest.raises((NotImplementedError, RuntimeError)):
        getattr(dense().to_sparse_csr(), name)(*args)


def test_memory_is_refused():
    s = dense().to_sparse()
    for read in (s.data_ptr, s.tolist, s.storage, s.numpy, lambda: s.view(6), lambda: s[0:1]):
        with pytest.raises((RuntimeError, TypeError, NotImplementedError)):
            read()
    with pytest.raises(TypeError, match="Cannot assign to a sparse tensor"):
        s[0] = 1


# ---------------------------------------------------------------- shape and reductions
def test_shape_functions():
    a = dense()
    s = a.to_sparse()
    cases = [
        (s.t(), a.t()), (s.transpose(0, 1), a.t()), (s.permute(1, 0), a.t()),
        (s.unsqueeze(0), a[None]), (s.unsqueeze(-1), a[..., None]), (s[1], a[1]),
        (s.select(1, 2), a[:, 2]), (s.narrow_copy(1, 1, 2), a[:, 1:]),
        (s.index_select(1, torch.tensor([2, 0, 2])), a[:, [2, 0, 2]]),
        (torch.cat([s, s], 1), torch.cat([a, a], 1)), (torch.stack([s, s]), torch.stack([a, a])),
        (torch._sparse_broadcast_to(s, (2, 2, 3)), a.expand(2, 2, 3)),
        (s.to_sparse_csr().t(), a.t()), (s.to_sparse_csr()[1], a[1]),
    ]
    for got, want in cases:
        assert got.shape == want.shape and torch.equal(got.to_dense(), want)
    assert s[0, 1].item() == 2 and s[0, 0].item() == 0
    with pytest.raises(RuntimeError, match="a dense tensor was found at position 1"):
        torch.cat([s, a])


def test_complex_parts_and_new():
    z = (dense() + 1j * dense()).to_sparse()
    assert torch.equal(z.real.to_dense(), dense()) and torch.equal(z.imag.to_dense(), dense())
    assert torch.equal(z.abs().to_dense(), (dense() + 1j * dense()).abs())
    assert torch.equal(z.H.to_dense(), (dense() - 1j * dense()).t())
    assert z.new_zeros(4, 5).is_sparse and z.new_zeros(4, 5).shape == (4, 5)


def test_reductions():
    a = dense()
    s = a.to_sparse()
    assert s.sum().item() == 9 and s.norm().item() == pytest.approx(29 ** 0.5)
    assert torch.equal(torch.sparse.sum(s, 0).to_dense(), a.sum(0))
    assert torch.equal(s.sum(1, keepdim=True).to_dense(), a.sum(1, keepdim=True))
    assert torch.equal(s.to_sparse_csr().sum(1, keepdim=True).to_dense(), a.sum(1, keepdim=True))
    h = torch.ones(2, 3, 2).to_sparse(2)
    assert torch.sparse.sum(h, (0, 1)).tolist() == [6, 6]
    assert torch.sparse.sum(s, dtype=torch.float64).dtype == torch.float64


# ---------------------------------------------------------------- products
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.bfloat16,
                                   torch.int64])
def test_mm(dtype):
    g = torch.Generator().manual_seed(0)
    a = torch.randint(-4, 5, (17, 23), generator=g) * (torch.rand(17, 23, generator=g) < 0.3)
    a, b = a.to(dtype), torch.randint(-4, 5, (23, 70), generator=g).to(dtype)
    for layout in LAYOUTS:
        s = in_layout(a, layout)
        assert torch.equal(s @ b, a @ b)
        assert torch.equal(torch.mv(s, b[:, 0]), a @ b[:, 0])
        assert torch.equal(torch.mm(b.t(), in_layout(a.t(), layout)), b.t() @ a.t())
    for layout in LAYOUTS[:2]:
        out = torch.sparse.mm(in_layout(a, layout), in_layout(b, layout))
        assert out.layout == layout and torch.equal(out.to_dense(), a @ b)


def test_product_family():
    a, m = dense(), torch.arange(1.0, 7).view(3, 2)
    s = a.to_sparse()
    want = [[20.0, 26], [71, 92]]
    assert torch.addmm(torch.ones(2, 2), s, m, beta=2, alpha=3).tolist() == want
    assert torch.sparse.addmm(torch.ones(2, 2), s, m, beta=2, alpha=3).tolist() == want
    assert torch.hspmm(s, m).to_dense().tolist() == (a @ m).tolist()
    assert torch.smm(s, m).to_dense().tolist() == (a @ m).tolist()
    one = torch.ones(2, 2)
    assert torch.equal(torch.sspaddmm(one.to_sparse(), s, m).to_dense(), one + a @ m)
    batch = torch.stack([a, 2 * a])
    assert torch.equal(torch.bmm(batch.to_sparse(), torch.stack([m, m])),
                       batch @ torch.stack([m, m]))
    c = a.to_sparse_csr()
    got = torch.sparse.sampled_addmm(c, torch.ones(2, 2), torch.ones(2, 3), beta=0.5, alpha=2)
    assert got.values().tolist() == [5, 5.5, 6]
    assert torch.sparse.mm(c, m, "amax").tolist() == [[6, 8], [20, 24]]
    assert torch.sparse.mm(c, m, reduce="mean").tolist() == [[6, 8], [11.5, 15]]
    with pytest.raises(RuntimeError, match="Expected dim 0 size 3, got 2"):
        torch.mm(s, a)
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        torch.mm(s, m.double())


def test_softmax_and_diagonals():
    s = dense().to_sparse()
    assert torch.sparse.softmax(s, 1).values().tolist() == pytest.approx([1, 0.26894143, 0.7310586])
    assert torch.sparse.log_softmax(s, 0).values().tolist() == [0, 0, 0]
    d = torch.sparse.spdiags(torch.arange(9.0).view(3, 3), torch.tensor([0, -1, 2]), (3, 4))
    assert d.to_dense().tolist() == [[0, 0, 8, 0], [3, 1, 0, 0], [0, 4, 2, 0]]
    with pytest.raises(RuntimeError, match="duplicate"):
        torch.sparse.spdiags(torch.ones(2, 3), torch.tensor([0, 0]), (3, 3))


# ---------------------------------------------------------------- gradients
def weighted(y):
    y = y.to_dense()
    return (y * torch.arange(1.0, y.numel() + 1, dtype=y.dtype).view(y.shape)).sum()


@pytest.mark.parametrize("f, node, layout, grad", [
    (lambda x, m: torch.mm(x, m), "MmBackward0", "strided", [[5, 11, 17], [11, 25, 39]]),
    (lambda x, m: torch.sparse.mm(x, m), "SparseAddmmBackward0", "sparse",
     [[0, 11, 0], [11, 0, 39]]),
    (lambda x, m: x.to_dense(), "ToDenseBackward0", "sparse", [[0, 2, 0], [4, 0, 6]]),
    (lambda x, m: x + x, "AddBackward0", "sparse", [[0, 4, 0], [8, 0, 12]]),
    (lambda x, m: x * x, "MulBackward0", "sparse", [[0, 8, 0], [24, 0, 48]]),
    (lambda x, m: x * 3, "MulBackward0", "sparse", [[0, 6, 0], [12, 0, 18]]),
    (lambda x, m: x.abs(), "AbsBackward0", "sparse", [[0, 2, 0], [4, 0, 6]]),
    (lambda x, m: x.t(), "TBackward0", "sparse", [[0, 3, 0], [2, 0, 6]]),
    (lambda x, m: x.sum(), "SumBackward0", "strided", [[1, 1, 1], [1, 1, 1]]),
    (lambda x, m: x.double(), "ToCopyBackward0", "sparse", [[0, 2, 0], [4, 0, 6]]),
    (lambda x, m: x.values(), "ValuesBackward0", "sparse", [[0, 1, 0], [2, 0, 3]]),
])
@pytest.mark.parametrize("to", ["to_sparse", "to_sparse_csr"])
def test_gradients(f, node, layout, grad, to):
    x = getattr(dense(), to)().requires_grad_()
    m = torch.arange(1.0, 7).view(3, 2).requires_grad_()
    y = f(x, m)
    assert y.grad_fn.name() == node
    weighted(y).backward()
    assert (x.grad.layout == torch.strided) == (layout == "strided")
    assert x.grad.to_dense().tolist() == grad
    if m.grad is not None:
        assert m.grad.tolist() == [[9, 12], [2, 4], [12, 16]]


def test_gradients_of_parts():
    v = torch.tensor([1.0, 2, 3], requires_grad=True)
    weighted(torch.sparse_coo_tensor([[1, 0, 1], [0, 1, 0]], v, (2, 3))).backward()
    assert v.grad.tolist() == [4, 2, 4]
    v.grad = None
    weighted(torch.sparse_csr_tensor([0, 1, 3], [1, 0, 2], v, (2, 3))).backward()
    assert v.grad.tolist() == [2, 4, 6]
    d = dense().requires_grad_()
    weighted(d.to_sparse()).backward()
    assert d.grad.tolist() == [[0, 2, 0], [4, 0, 6]]
    d.grad = None
    weighted(d.sparse_mask(dense().to_sparse())).backward()
    assert d.grad.tolist() == [[0, 2, 0], [4, 0, 6]]
    x = dense().to_sparse().requires_grad_()
    weighted(torch.sparse.sum(x, 0)).backward()
    assert x.grad.is_sparse and x.grad.coalesce().values().tolist() == [2, 1, 3]
    x.grad = None
    weighted(torch.sparse.softmax(x, 1)).backward()
    assert x.grad.coalesce().values().tolist() == pytest.approx([0, -0.39322, 0.39322], abs=1e-4)


def test_gradcheck():
    check = torch.sparse.as_sparse_gradcheck(torch.autograd.gradcheck)
    x = dense(torch.float64).to_sparse().requires_grad_()
    m = torch.rand(3, 2, dtype=torch.float64, requires_grad=True)
    assert check(torch.sparse.mm, (x, m), masked=True)
    assert check(lambda s: torch.sparse.log_softmax(s, 1), (x,), masked=True)
    c = dense(torch.float64).to_sparse_csr().requires_grad_()
    assert check(lambda s, b: torch.sparse.mm(s, b, "amin"), (c, m), masked=True)
    left = torch.rand(2, 2, dtype=torch.float64, requires_grad=True)
    right = torch.rand(2, 3, dtype=torch.float64, requires_grad=True)
    assert check(torch.sparse.sampled_addmm, (c, left, right), masked=True)


@pytest.mark.parametrize("to", ["to_sparse", "to_sparse_csr"])
def test_gradcheck_of_sparse_inputs(to):
    x = getattr(dense(torch.float64), to)().requires_grad_()
    m = torch.rand(3, 2, dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(torch.sparse.mm, (x, m), masked=True)
    assert not check(torch.sparse.mm, (x, m), raise_exception=False)
    assert check(lambda t: t.to_dense(masked_grad=False), (x,), masked=False)
    twice = torch.autograd.gradgradcheck
    assert twice(torch.sparse.mm, (x, m), masked=True)
    assert twice(lambda t: (t * t).to_dense(), (x,), masked=True)
    with pytest.raises(ValueError, match="Sparse output is not supported at gradcheck yet"):
        check(lambda t: t * 2, (x,), masked=True)


# ---------------------------------------------------------------- embeddings and optimizers
def test_linear_and_square():
    x = dense().to_sparse().requires_grad_()
    torch.nn.functional.linear(torch.ones(1, 3), x).sum().backward()
    assert x.grad.tolist() == [[1, 1, 1], [1, 1, 1]]
    x.grad = None
    weighted(x.square()).backward()
    assert x.grad.to_dense().tolist() == [[0, 8, 0], [24, 0, 48]]
    x.grad = None
    weighted(x.relu()).backward()
    assert x.grad.to_dense().tolist() == [[0, 2, 0], [4, 0, 6]]


def test_embedding():
    e = torch.nn.Embedding(5, 2, sparse=True)
    e(torch.tensor([1, 3, 1])).sum().backward()
    g = e.weight.grad
    assert g.is_sparse and not g.is_coalesced() and g._indices().tolist() == [[1, 3, 1]]
    e(torch.tensor([1, 0])).sum().backward()
    assert e.weight.grad._indices().tolist() == [[1, 3, 1, 1, 0]]
    e.weight.sum().backward()
    assert e.weight.grad.tolist() == [[2, 2], [4, 4], [1, 1], [2, 2], [1, 1]]
    e(torch.tensor([2])).sum().backward()
    assert e.weight.grad[2].tolist() == [2, 2]
    p = torch.nn.Embedding(5, 2, sparse=True, padding_idx=1)
    p(torch.tensor([[1, 3], [3, 0]])).sum().backward()
    assert p.weight.grad._indices().tolist() == [[3, 3, 0]]
    bag = torch.nn.EmbeddingBag(5, 2, sparse=True, mode="mean")
    bag(torch.tensor([1, 3, 1, 2]), torch.tensor([0, 2])).sum().backward()
    assert bag.weight.grad._values().tolist() == [[0.5, 0.5]] * 4


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.SGD(p, lr=0.5), lambda p: torch.optim.Adagrad(p, lr=0.5)])
def test_optimizers_agree_with_dense(make):
    weights = []
    for sparse in (True, False):
        torch.manual_seed(3)
        e = torch.nn.Embedding(6, 3, sparse=sparse)
        opt = make(e.parameters())
        for _ in range(3):
            opt.zero_grad()
            (e(torch.tensor([1, 3, 1])) ** 2).sum().backward()
            opt.step()
        weights.append(e.weight.detach())
    torch.testing.assert_close(*weights)


def test_sparse_adam():
    w = torch.ones(4, 2, requires_grad=True)
    opt = torch.optim.SparseAdam([w], lr=0.1)
    w.grad = torch.sparse_coo_tensor([[2]], torch.full((1, 2), 0.5), (4, 2))
    opt.step()
    assert w[0].tolist() == [1, 1] and w[2].tolist() == pytest.approx([0.9, 0.9])
    w.grad = torch.ones(4, 2)
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients"):
        opt.step()


# ---------------------------------------------------------------- copies and files
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_and_files(layout):
    s = in_layout(dense(), layout)
    c = copy.deepcopy(s)
    assert c.layout == layout and torch.equal(c.to_dense(), s.to_dense())
    f = io.BytesIO()
    torch.save({"s": s, "u": uncoalesced()}, f)
    for weights_only in (True, False):
        f.seek(0)
        back = torch.load(f, weights_only=weights_only)
        assert back["s"].layout == layout and repr(back["s"]) == repr(s)
        assert not back["u"].is_coalesced() and back["u"]._nnz() == 3
    c.zero_()
    assert c._nnz() == 0 and s._nnz() == 3
    assert torch.zeros_like(s)._nnz() == 0
    assert s.clone().values().data_ptr() != s.values().data_ptr()


def test_resize():
    s = dense().to_sparse()
    assert s.sparse_resize_((3, 4), 2, 0).shape == (3, 4) and s._nnz() == 3
    with pytest.raises(RuntimeError, match="shrinking the size of sparse dimensions"):
        s.sparse_resize_((1, 1), 2, 0)
    assert s.sparse_resize_and_clear_((1, 1), 2, 0)._nnz() == 0
