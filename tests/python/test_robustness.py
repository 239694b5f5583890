"""Wrong calls never end the process, hang, or raise an error that is a fault of ours.

Hypothesis draws seeds; tests/fuzz makes a batch of calls of each and runs it in a forked child.
The random part makes the same calls every time; RL_FUZZ_SECONDS goes on for that long instead,
RL_FUZZ_SEED takes another start, and `python tests/fuzz/run.py` is the same without an end.
"""

import os
import random
import sys
import time

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import torch

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "fuzz"))

import calls  # noqa: E402
import sandbox  # noqa: E402

SECONDS = float(os.environ.get("RL_FUZZ_SECONDS", 0))
SEED = int(os.environ.get("RL_FUZZ_SEED", 0))
BATCH, BATCHES = 100, 100  # calls, and how many batches without RL_FUZZ_SECONDS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def report(findings):
    return "\n".join(f"{source}\n    {wrong}" for source, wrong in findings)


def test_random_calls():
    targets, findings, end = calls.targets(), [], time.monotonic() + SECONDS

    @settings(
        max_examples=100000 if SECONDS else BATCHES, derandomize=True, deadline=None,
        database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.integers(0, 2**62))
    def batch(seed):
        if SECONDS and time.monotonic() > end:
            return
        rng = random.Random(seed * 1000003 + SEED)
        findings.extend(sandbox.run([calls.call(rng.choice(targets), rng) for _ in range(BATCH)]))

    batch()
    assert not findings, report(findings)


# One of each kind that once went wrong: crash, hang, wrong class of error.
ONCE_WRONG = """
torch.bucketize(torch.ones(3, 3), torch.ones(3, device='meta'))
torch.randn(3) @ torch.randn(3, device='meta')
torch.add(torch.ones(3), 1, out=torch.ones(3, device='meta'))
torch.isin(100, torch.empty((2**31, 2**31), dtype=torch.uint8, device='meta'))
torch.zeros(2**62)
torch.ones(2**62, 0).fill_diagonal_(7, True)
torch.zeros((0, 2**31, 2**31), dtype=torch.uint8)[::2] + 1
torch.zeros(3).chunk(2**40)
torch.zeros(3).tensor_split(2**63 - 1)
torch.tril_indices(2**40, 0, -3)
torch.triu_indices(2**62, 2**32, dtype=torch.uint8)
torch.ops.aten.zeros.default([2], device='bogus')
torch.ops.aten.zeros.default([2], dtype='fro')
torch.ops.aten.view.dtype(torch.ones(0), 'amax')
torch.ops.aten.upsample_bilinear2d.default(torch.ones(1, 2, 3, 3), None, False, [])
torch.ops.aten._pool_gather.default(torch.ones(2, 3), torch.ones(2, 3), 2**32)
torch.ops.aten._pad_index.default(torch.ones(7), [2**40, 1], 1)
torch.ops.aten._slogdet.default(torch.ones(3))
torch.ops.aten._resample.default(torch.ones(2, 3, 4), [-7, 0, 1, 2, 3], 7, False, [1.0])
torch.ops.aten._adaptive_avg_backward.default(torch.ones(4, 4), [], 5)
torch.ops.aten._avg_pool_backward.default(torch.ones(7), [5], -2**63, [7], [3], [1], True, True, 1)
torch.ops.aten.as_strided_backward.default(torch.ones(2, 3), [-1], [-7], [], [-2, -3], -5)
torch.ops.aten._log_softmax_backward_data.default(torch.ones(2), torch.ones(4), 0, torch.float64)
torch.ops.aten._fft_c2r.default(torch.ones(2, 3), [], 2, 2)
torch.ops.aten._fft_r2c.default(torch.ones(()), [-1], 0, True)
torch.ops.aten._pdist_forward.default(torch.ones(7), float('inf'))
torch.ops.aten._adaptive_avg_pool3d.default(torch.ones(1, 1, 1, 1, 1, 1), (2, 2, 3, 3, 3))
torch.ops.aten._solve_matrix.default(torch.ones(40, 50), torch.ones(40, 50), False)
torch.ops.aten._lu_permutation.default(torch.ones((), dtype=torch.int32), -7)
torch.ops.aten._lu_permutation.default(torch.ones((2, 3), dtype=torch.int32), 1)
torch.ops.aten._softmax_backward_data.default(torch.ones(3).byte(), torch.ones(3).byte(), 0, None)
torch.ops.aten._gru_step.default(torch.ones(2, 0), torch.ones(2, 0), torch.rand(2, 3, 4))
torch.ops.aten._householder.default(torch.rand(1, 2, 5, 5), torch.rand(1, 3, 2))
torch.ops.aten.nll_loss_backward.default(torch.ones(2), (2, 3), torch.ones(0), None, 0, 5, None)
torch.ops.aten.to_sparse_bsc.default(torch.zeros(2, 2, 3), [0, 3])
F.avg_pool2d(torch.arange(24).reshape(2, 3, 4), [2**63 - 1, 2])
F.fractional_max_pool2d(torch.zeros(2, 5, 3), [-3, -100], [3, 4], torch.ones(2, 1, 2))
torch.broadcast_to(torch.ones(1), [2**31 - 1, 5, 4, 2**31 - 1])
""".strip().splitlines()


def test_once_wrong():
    findings = sandbox.run(ONCE_WRONG)
    assert not findings, report(findings)


def test_the_sandbox_sees_what_is_wrong():
    bad = [
        "__import__('os').kill(__import__('os').getpid(), 11)",
        "(_ for _ in ()).throw(SystemError('x'))",
        "torch.ones(3)",
    ]
    found = sandbox.run(bad)
    assert [f[0] for f in found] == bad[:2]
    assert "SIGSEGV" in found[0][1] or "AddressSanitizer" in found[0][1]


def test_devices_do_not_mix():
    cpu, meta = torch.ones(3, 3), torch.ones(3, 3, device="meta")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.mm(cpu, meta)
    with pytest.raises(RuntimeError, match="cross-device copies are not allowed"):
        torch.add(cpu, cpu, out=torch.ones(3, 3, device="meta"))
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        meta.tolist()
    assert torch.mm(meta, cpu).is_meta and (meta + torch.tensor(2.0)).is_meta
    assert meta[torch.tensor([0, 1])].shape == (2, 3)


def test_a_tensor_without_its_memory():
    x = torch.ones(4)
    x.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match="its data is not allocated yet"):
        x.exp()


@pytest.mark.parametrize("offset", [-5, -1, 0, 1, 2, 7])
def test_triangles(offset):
    for rows, cols in ((3, 4), (4, 3), (0, 3), (3, 0), (1, 1)):
        full = torch.ones(rows, cols)
        lower, upper = full.tril(offset).nonzero(), full.triu(offset).nonzero()
        assert torch.tril_indices(rows, cols, offset).T.tolist() == lower.tolist()
        assert torch.triu_indices(rows, cols, offset).T.tolist() == upper.tolist()


def test_operators_by_schema_take_names_of_devices():
    assert torch.ops.aten.zeros.default([2], device="meta").is_meta
    with pytest.raises(RuntimeError, match="Expected a value of type"):
        torch.ops.aten.zeros.default([2], dtype="float")
