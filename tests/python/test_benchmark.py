"""torch.utils.benchmark: statistics, texts and tables recorded from the reference."""
import pickle

import pytest

import torch
from torch.utils import benchmark
from torch.utils.benchmark import Compare, Measurement, TaskSpec, Timer


def spec(**options):
    return TaskSpec(**{"stmt": "x+y", "setup": "pass", **options})


def measured(times, n=1, **options):
    return Measurement(n, times, spec(**options))


def test_statistics():
    m = measured([1e-5, 1.1e-5, 1.2e-5, 1.3e-5], 10)
    assert (m.median, m.mean) == pytest.approx((1.15e-6, 1.15e-6))
    assert m.iqr == pytest.approx(1.5e-7)
    assert m.significant_figures == 1 and m.has_warnings and not m.meets_confidence()
    assert [measured([1e-5 * (1 + 0.1 * (i % 3)) for i in range(n)]).significant_figures
            for n in (1, 5, 100)] == [2, 1, 1]
    assert pickle.loads(pickle.dumps(m)) == m
    merged = Measurement.merge([m, measured([2e-5]), measured([3e-5], label="q")])
    assert [len(x.times) for x in merged] == [5, 1]


@pytest.mark.parametrize("measurement, text", [
    (measured([1e-5, 1.1e-5, 1.2e-5, 1.3e-5], 10),
     "x+y\n  Median: 1.15 us\n  IQR:    0.15 us (1.08 to 1.22)\n"
     "  4 measurements, 10 runs per measurement, 1 thread\n"
     "  WARNING: Interquartile range is 13.0% of the median measurement.\n"
     "           This could indicate system fluctuation."),
    (measured([1e-3], 10), "x+y\n  100.00 us\n  1 measurement, 10 runs , 1 thread"),
    (measured([1e-5] * 3, stmt="a\nb", setup="c\nd", num_threads=2),
     "stmt:\n  a\n  b\n\nsetup:\n  c\n  d\n\n  Median: 10.00 us\n"
     "  3 measurements, 1 runs per measurement, 2 threads"),
    (measured([1.0], label="L", sub_label="S", description="D"),
     "L: S\nD\n  1.00 s\n  1 measurement, 1 runs , 1 thread"),
])
def test_repr(measurement, text):
    assert repr(measurement).split("\n", 1)[1] == text


def results():
    return [Measurement(100, [base * 100 * (1 + 0.01 * i) * scale / threads for i in range(9)],
                        spec(label="matmul", sub_label=name, description=column,
                             num_threads=threads))
            for name, scale in (("8x8", 1), ("64x64", 8))
            for column, base in (("A", 1e-6), ("B", 2.5e-6))
            for threads in (1, 2)]


def test_compare():
    table = Compare(results())
    assert str(table) == """\
[------------ matmul ------------]
             |    A     |     B   \n1 threads: -----------------------
      8x8    |  1040.0  |   2600.0
      64x64  |  8320.0  |  20800.0
2 threads: -----------------------
      8x8    |   520.0  |   1300.0
      64x64  |  4160.0  |  10400.0

Times are in nanoseconds (ns).
"""
    table.trim_significant_figures()
    assert "      64x64  |  8000  |  20000\n" in str(table)
    table.colorize()
    assert ("      64x64  |  \x1b[31m\x1b[1m8000\x1b[0m\x1b[0m  |  \x1b[31m\x1b[1m20000\x1b[0m"
            "\x1b[0m\n") in str(table)
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        Compare([1])


def test_compare_marks_and_environments():
    times = [1e-6 * q for q in (1, 1.01, 1.02, 1.3, 1.5)]
    table = Compare([measured(times, label="L", sub_label=s, description="d1", env=e)
                     for e in ("E1", "E2") for s in ("s1", "s2")])
    table.highlight_warnings()
    assert "  (E1)  s1  |  1.0 (! 28%)\n        s2  |  1.0 (! 28%)\n  (E2)  s1  |" in str(table)


def test_numbers():
    assert [benchmark.select_unit(t)[0] for t in (1e-10, 2e-8, 1e-6, 0.5, 3600)] == [
        "s", "ns", "us", "ms", "s"]
    assert [benchmark.trim_sigfig(x, n) for x, n in ((123.456, 2), (99.99, 1), (0.0, 2))] == [
        120, 100, 0]


def test_timer():
    timer = Timer("  y = x + 1", setup="  x = torch.ones(2)", label="l", num_threads=1)
    assert timer.timeit(10).number_per_run == 10
    assert len(timer.blocked_autorange(min_run_time=0.01).times) >= 1
    assert timer.adaptive_autorange(min_run_time=0.01, max_run_time=0.1).title == "l"
    with pytest.raises(ZeroDivisionError):
        Timer("1/0").timeit(1)
    with pytest.raises(ValueError, match="Invalid language"):
        Timer("x", language="foo")
    with pytest.raises(NotImplementedError):
        Timer("x").repeat()


def test_fuzzer():
    pytest.importorskip("numpy")
    fuzzer = benchmark.Fuzzer(
        [benchmark.FuzzedParameter("k", 1, 100, "loguniform"),
         benchmark.FuzzedParameter("c", distribution={1: 0.5, 2: 0.5}),
         benchmark.FuzzedParameter("b", distribution={benchmark.ParameterAlias("k"): 0.5, 7: 0.5})],
        [benchmark.FuzzedTensor("x", size=("k", "b"), min_elements=4, max_elements=2000,
                                probability_contiguous=0.0),
         benchmark.FuzzedTensor("y", size=("k",), steps=("c",), dtype=torch.int32)], seed=0)
    drawn = list(fuzzer.take(20))
    for tensors, facts, params in drawn:
        assert tensors["x"].shape == (params["k"], params["b"])
        assert params["b"] in (7, params["k"]) and 4 <= tensors["x"].numel() <= 2000
        assert tensors["y"].shape == (params["k"],) and tensors["y"].dtype == torch.int32
    assert [p for _, _, p in fuzzer.take(20)] == [p for _, _, p in drawn]
    with pytest.raises(ValueError, match="Failed to generate"):
        next(benchmark.Fuzzer([benchmark.FuzzedParameter("a", 1, 2, "uniform")], [],
                              constraints=[lambda p: False]).take(1))
