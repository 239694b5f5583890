"""torch.utils.data: datasets, samplers, collating, and iteration in one process.

The expected orders and draws were recorded from PyTorch 2.15. Worker processes: test_data_workers.
"""

import collections

import pytest
import torch
import torch.utils.data as D


class Numbers(D.Dataset):
    def __init__(self, n=10):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


class Stream(D.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))


# ---------------------------------------------------------------- datasets


def test_base_classes():
    with pytest.raises(NotImplementedError, match="should implement __getitem__"):
        D.Dataset()[0]
    with pytest.raises(TypeError, match="abstract"):
        D.IterableDataset()
    assert isinstance(Numbers() + Numbers(), D.ConcatDataset)
    assert isinstance(Stream(1) + Stream(2), D.ChainDataset)

    class Typed(D.Dataset[int]):
        pass

    assert issubclass(Typed, D.Dataset)


def test_tensor_dataset():
    x, y = torch.arange(6.0).view(3, 2), torch.arange(3)
    ds = D.TensorDataset(x, y)
    assert len(ds) == 3 and isinstance(ds[1], tuple)
    assert torch.equal(ds[1][0], x[1]) and ds[1][1].item() == 1
    with pytest.raises(AssertionError, match="Size mismatch"):
        D.TensorDataset(x, y[:2])


def test_concat_and_chain():
    ds = Numbers(3) + Numbers(4)
    assert [ds[i] for i in range(7)] == [0, 1, 2, 0, 1, 2, 3]
    assert ds[-1] == 3 and ds.cumulative_sizes == [3, 7]
    with pytest.raises(ValueError, match="should not exceed dataset length"):
        ds[-8]
    with pytest.raises(AssertionError, match="empty"):
        D.ConcatDataset([])
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        D.ConcatDataset([Stream(1)])
    assert list(Stream(2) + Stream(1)) == [0, 1, 0]
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        list(D.ChainDataset([Numbers()]))


def test_stack_dataset():
    ds = D.StackDataset(Numbers(3), Numbers(3))
    assert ds[1] == (1, 1) and ds.__getitems__([0, 2]) == [(0, 0), (2, 2)]
    ds = D.StackDataset(a=Numbers(3), b=Numbers(3))
    assert ds[2] == {"a": 2, "b": 2}
    bad = (((), {}), ((Numbers(),), {"a": Numbers()}), ((Numbers(1), Numbers(2)), {}))
    for args, kwargs in bad:
        with pytest.raises(ValueError):
            D.StackDataset(*args, **kwargs)


def test_subset_and_random_split():
    sub = D.Subset(Numbers(), [4, 5, 6])
    assert len(sub) == 3 and sub[1] == 5 and sub.__getitems__([0, 2]) == [4, 6]
    g = torch.Generator().manual_seed(4)
    parts = D.random_split(range(10), [0.25, 0.75], g)
    assert [p.indices for p in parts] == [[0, 4, 9], [6, 7, 3, 2, 8, 1, 5]]
    assert [len(p) for p in D.random_split(Numbers(), [0.33, 0.33, 0.34])] == [4, 3, 3]
    with pytest.raises(ValueError, match="Sum of input lengths"):
        D.random_split(Numbers(), [5, 6])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between"):
        D.random_split(Numbers(), [1.5, -0.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        D.random_split(Numbers(), [1, 0.0])


# ---------------------------------------------------------------- samplers

SAMPLES = {
    0: ([0, 3, 6, 4, 1, 2, 5], [0, 4, 1, 5, 2, 6, 3, 2, 0, 1, 3, 4, 5, 6, 4, 2, 6],
        [2, 1, 4, 3, 2, 6, 3, 1, 1, 0, 4, 1, 1, 5, 3, 3, 0, 6, 6, 0, 6, 3, 0, 0, 2, 5, 4, 3, 4, 2,
         6, 3, 4, 5, 4, 3, 2, 5, 0, 0], [6, 7, 5], [2, 2, 1, 1, 1, 1], [1, 2, 0], 226605593),
    1: ([2, 1, 0, 3, 4, 5, 6], [0, 5, 1, 4, 2, 3, 6, 1, 2, 6, 5, 4, 3, 0, 5, 6, 3],
        [2, 6, 4, 0, 0, 0, 3, 6, 0, 1, 2, 0, 5, 4, 5, 5, 4, 2, 3, 4, 5, 5, 4, 4, 5, 6, 5, 5, 5, 5,
         1, 5, 3, 0, 5, 1, 3, 2, 4, 3], [7, 5, 6], [1, 1, 1, 2, 1, 1], [1, 2, 0], 148544156),
    2**40 + 7: ([6, 0, 4, 1, 2, 5, 3], [2, 0, 5, 6, 3, 4, 1, 4, 3, 6, 0, 2, 5, 1, 4, 5, 0],
                [5, 6, 3, 4, 1, 6, 6, 0, 4, 6, 6, 2, 1, 6, 5, 4, 4, 5, 4, 6, 6, 3, 5, 6, 3, 0, 1,
                 0, 0, 3, 6, 3, 5, 6, 4, 2, 1, 2, 3, 3], [7, 5, 6], [2, 2, 1, 1, 2, 2], [1, 2, 0],
                990163255),
}


@pytest.mark.parametrize("seed", SAMPLES)
def test_samplers_draw_as_recorded(seed):
    torch.manual_seed(seed)
    samplers = (
        D.RandomSampler(range(7)),
        D.RandomSampler(range(7), num_samples=17),
        D.RandomSampler(range(7), True, 40),
        D.SubsetRandomSampler([5, 6, 7]),
        D.WeightedRandomSampler([0.1, 0.5, 0.4], 6),
        D.WeightedRandomSampler([0.1, 0.5, 0.4], 3, False),
    )
    got = [list(s) for s in samplers]
    assert got == list(SAMPLES[seed][:-1])
    assert torch.randint(10**9, (1,)).item() == SAMPLES[seed][-1]


def test_sampler_with_generator():
    g = torch.Generator().manual_seed(3)
    sampler = D.RandomSampler(range(7), generator=g)
    assert list(sampler) == [5, 3, 4, 6, 0, 2, 1]
    assert list(sampler) == [0, 6, 3, 4, 2, 5, 1]
    assert list(D.RandomSampler(range(5), num_samples=5, generator=g)) == [2, 3, 4, 1, 0]
    assert torch.randint(10**9, (1,), generator=g).item() == 911282817


def test_distributed_sampler():
    shares = [list(D.DistributedSampler(range(10), 3, r, seed=2)) for r in range(3)]
    assert shares == [[8, 5, 0, 3], [7, 6, 4, 8], [1, 9, 2, 7]]
    sampler = D.DistributedSampler(range(10), 3, 1)
    sampler.set_epoch(4)
    assert list(sampler) == [4, 7, 8, 0]
    assert list(D.DistributedSampler(range(10), 3, 1, shuffle=False)) == [1, 4, 7, 0]
    assert len(D.DistributedSampler(range(10), 3, 1, drop_last=True)) == 3
    with pytest.raises(ValueError, match="Invalid rank 2"):
        D.DistributedSampler(range(10), 2, 2)


def test_batch_sampler():
    assert list(D.BatchSampler([1, 2, 3], 2, False)) == [[1, 2], [3]]
    assert list(D.BatchSampler([1, 2, 3], 2, True)) == [[1, 2]]
    assert len(D.BatchSampler([1, 2, 3], 2, False)) == 2


@pytest.mark.parametrize("make, message", [
    (lambda: D.RandomSampler(Numbers(), replacement=3), "replacement should be a boolean"),
    (lambda: D.RandomSampler(Numbers(), num_samples=0), "num_samples should be a positive"),
    (lambda: D.RandomSampler([]), "num_samples should be a positive"),
    (lambda: D.WeightedRandomSampler([0.1], True), "num_samples should be a positive"),
    (lambda: D.WeightedRandomSampler([[0.1]], 1), "weights should be a 1d sequence"),
    (lambda: D.BatchSampler([1], 0, True), "batch_size should be a positive"),
    (lambda: D.BatchSampler([1], 1, 1), "drop_last should be a boolean"),
])
def test_sampler_errors(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


# ---------------------------------------------------------------- collating

Point = collections.namedtuple("Point", "a b")


def test_collate_numbers_and_tensors():
    assert D.default_collate([1, 2]).dtype is torch.int64
    assert D.default_collate([1.0, 2]).dtype is torch.float64
    assert D.default_collate([True, False]).dtype is torch.bool
    assert D.default_collate(["a", "b"]) == ["a", "b"]
    x = D.default_collate([torch.ones(2), torch.zeros(2)])
    assert torch.equal(x, torch.tensor([[1.0, 1.0], [0.0, 0.0]]))


def test_collate_containers():
    got = D.default_collate([(1, 2.0), (3, 4.0)])
    assert type(got) is list and got[0].tolist() == [1, 3]
    got = D.default_collate([Point(1, 2), Point(3, 4)])
    assert type(got) is Point and got.b.tolist() == [2, 4]
    got = D.default_collate([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    assert got["a"].tolist() == [1, 2] and got["b"] == ["x", "y"]
    got = D.default_collate([collections.OrderedDict(a=1), collections.OrderedDict(a=2)])
    assert type(got) is collections.OrderedDict
    assert D.default_collate([(), ()]) == []


def test_collate_errors():
    for bad in (None, object(), {1}, 1j):
        with pytest.raises(TypeError, match="batch must contain tensors, numpy arrays"):
            D.default_collate([bad])
    with pytest.raises(RuntimeError, match="should be of equal size"):
        D.default_collate([[1, 2], [3]])
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        D.default_collate([torch.ones(2), torch.ones(3)])


def test_collate_numpy():
    np = pytest.importorskip("numpy")
    assert D.default_collate([np.float32(1), np.float32(2)]).dtype is torch.float32
    assert D.default_collate([np.float64(1)]).dtype is torch.float64
    assert D.default_collate([np.array([1, 2]), np.array([3, 4])]).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="found <U1"):
        D.default_collate([np.array("a")])
    assert torch.equal(D.default_convert(np.array([1.0])), torch.tensor([1.0]).double())
    assert D.default_convert({"a": (1, "x")}) == {"a": [1, "x"]}


def test_collate_fn_map():
    from torch.utils.data._utils.collate import collate

    table = {int: lambda batch, *, collate_fn_map=None: sum(batch)}
    assert collate([(1, 2), (3, 4)], collate_fn_map=table) == [4, 6]


# ---------------------------------------------------------------- DataLoader


def batches(*args, **kwargs):
    return [b.tolist() for b in D.DataLoader(*args, **kwargs)]


def test_loader_order_and_seed():
    assert batches(Numbers(4), batch_size=3) == [[0, 1, 2], [3]]
    assert batches(Numbers(4), batch_size=3, drop_last=True) == [[0, 1, 2]]
    assert batches(Numbers(4), sampler=[3, 1], batch_size=2) == [[3, 1]]
    assert batches(Numbers(4), batch_sampler=[[3], [1, 2]]) == [[3], [1, 2]]
    assert list(D.DataLoader(Numbers(3), batch_size=None)) == [0, 1, 2]
    assert batches(Stream(5), batch_size=2) == [[0, 1], [2, 3], [4]]
    torch.manual_seed(0)
    assert batches(Numbers(), batch_size=3, shuffle=True) == [[6, 7, 1], [4, 2, 0], [9, 8, 3], [5]]


def test_loader_generator():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(5)
    got = batches(Numbers(), batch_size=3, shuffle=True, generator=g)
    assert got == [[7, 4, 8], [1, 2, 3], [6, 5, 9], [0]]
    assert torch.randint(1000, (1,)).item() == 44


def test_loader_gathers_tensor_datasets_alike():
    x = torch.randn(20, 3, 2).permute(0, 2, 1)
    y = torch.arange(20)
    subset = D.Subset(D.TensorDataset(x, y), [5, 3, 19, 0, 7])
    for ds in (D.TensorDataset(x, y), subset):
        for a, b in D.DataLoader(ds, batch_size=4):
            assert torch.equal(a, torch.stack([x[i] for i in b])) and a.is_contiguous()
    x = torch.randn(4, 2, requires_grad=True)
    (batch,) = next(iter(D.DataLoader(D.TensorDataset(x), batch_size=2)))
    assert batch.requires_grad
    with pytest.raises(IndexError):
        batches(D.TensorDataset(y), sampler=[25])


def test_loader_uses_getitems():
    class Many(Numbers):
        def __getitems__(self, indices):
            return [100 + i for i in indices]

    assert batches(Many(4), batch_size=2) == [[100, 101], [102, 103]]


@pytest.mark.parametrize("options, message", [
    ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
    ({"num_workers": -1}, "num_workers option should be non-negative"),
    ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing"),
    ({"timeout": -1}, "timeout option should be non-negative"),
    ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
    ({"shuffle": True, "sampler": [1]}, "sampler option is mutually exclusive with shuffle"),
    ({"batch_sampler": [[1]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
    ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
    ({"multiprocessing_context": "spawn"}, "can only be used with multi-process loading"),
    ({"multiprocessing_context": "no", "num_workers": 1}, "valid start method"),
])
def test_loader_argument_errors(options, message):
    with pytest.raises(ValueError, match=message):
        D.DataLoader(Numbers(), **options)


def test_loader_attributes():
    loader = D.DataLoader(Numbers(), batch_size=3)
    assert len(loader) == 4 and loader.batch_size == 3 and loader.num_workers == 0
    for name in ("batch_size", "sampler", "batch_sampler", "drop_last", "dataset"):
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after"):
            setattr(loader, name, 1)
    loader.num_workers = 2
    with pytest.raises(ValueError, match="expected unspecified shuffle option"):
        D.DataLoader(Stream(3), shuffle=True)
    with pytest.raises(TypeError):
        len(D.DataLoader(Stream(3)))


def test_iterable_length_warning():
    class Short(Stream):
        def __len__(self):
            return 2

    loader = D.DataLoader(Short(4), batch_size=None)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2"):
        list(loader)


def test_pin_memory_warns_without_accelerator():
    if torch.cuda.is_available():
        pytest.skip("there is an accelerator")
    with pytest.warns(UserWarning, match="no accelerator is found"):
        batches(Numbers(2), pin_memory=True)


def test_no_worker_here():
    assert D.get_worker_info() is None
