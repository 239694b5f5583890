"""torch.testing: what is close, what the errors say, and the stream of make_tensor.

Texts and numbers are recorded from the reference.
"""
import collections
import warnings

import pytest

import torch
from torch.testing import FileCheck, assert_allclose, assert_close, make_tensor

t = torch.tensor
NAN, INF = float("nan"), float("inf")

CLOSE = [
    ((1.0, 1.0 + 1e-9), {}), ((None, None), {}), ((True, True), {}), (([], []), {}),
    ((t([1.0, 2, 3]), t([1.0, 2, 3 + 1e-5])), {}), ((t([NAN]), t([NAN])), {"equal_nan": True}),
    ((t([INF]), t([INF])), {}), ((torch.nn.Parameter(t([1.0])), t([1.0])), {}),
    ((t([1.0]), t([1.0]).double()), {"check_dtype": False}), (((1,), [1]), {}),
    ((collections.OrderedDict(a=1), {"a": 1}), {}),
    ((torch.empty(1, device="meta"), t([1.0])), {"check_device": False}),
    ((t([1j], dtype=torch.complex32), t([1j], dtype=torch.complex32)), {}),
    ((torch.ones(3, dtype=torch.float8_e5m2), torch.ones(3, dtype=torch.float8_e5m2)), {}),
]

TENSORS = "Tensor-likes are not close!\n\nMismatched elements: "
FAILS = [
    ((t([1.0, 2]), t([1.0, 3])), {}, TENSORS + "1 / 2 (50.0%)\n"
     "Greatest absolute difference: 1.0 at index (1,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: 0.3333333432674408 at index (1,) (up to 1.3e-06 allowed)"),
    ((t([[1.0, 2], [3, 4]]), t([[0.0, 0], [0, 0]])), {}, TENSORS + "4 / 4 (100.0%)\n"
     "Greatest absolute difference: 4.0 at index (1, 1) (up to 1e-05 allowed)\n"
     "Greatest relative difference: inf at index (0, 0) (up to 1.3e-06 allowed)"),
    ((t([NAN]), t([NAN])), {}, TENSORS + "1 / 1 (100.0%)\n"
     "Greatest absolute difference: nan at index (0,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: nan at index (0,) (up to 1.3e-06 allowed)"),
    ((t([1, 2], dtype=torch.uint8), t([255, 2], dtype=torch.uint8)), {},
     "Tensor-likes are not equal!\n\nMismatched elements: 1 / 2 (50.0%)\n"
     "Greatest absolute difference: 254 at index (0,)\n"
     "Greatest relative difference: 0.9960784316062927 at index (0,)"),
    ((t(1.0), t(2.0)), {}, "Scalars are not close!\n\nExpected 2.0 but got 1.0.\n"
     "Absolute difference: 1.0 (up to 1e-05 allowed)\n"
     "Relative difference: 0.5 (up to 1.3e-06 allowed)"),
    (({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3]}), {},
     "Scalars are not equal!\n\nExpected 3 but got 2.\nAbsolute difference: 1\n"
     "Relative difference: 0.3333333333333333\n\nThe failure occurred for item ['b'][1]"),
    ((1, 1.0), {}, "The (d)types do not match: <class 'int'> != <class 'float'>."),
    ((True, False), {}, "Booleans mismatch: True is not False"),
    ((None, 1), {}, "None mismatch: None is not 1"),
    (([1.0], [1.0, 2]), {}, "The length of the sequences mismatch: 1 != 2"),
    (({"a": 1}, {"b": 1}), {}, "The keys of the mappings do not match:\n"
     "Missing keys in the actual mapping: ['b']\nAdditional keys in the actual mapping: ['a']"),
    ((t([1.0]), t([1.0, 2])), {},
     "The values for attribute 'shape' do not match: torch.Size([1]) != torch.Size([2])."),
    ((t([1.0]), t([1])), {},
     "The values for attribute 'dtype' do not match: torch.float32 != torch.int64."),
    ((torch.zeros(2, 3).t(), torch.zeros(3, 2)), {"check_stride": True},
     "The values for attribute 'stride()' do not match: (1, 3) != (2, 1)."),
    ((t([1.0, 2]).to(torch.float8_e4m3fn), t([1.0, 4]).to(torch.float8_e4m3fn)), {},
     "Tensor-likes are not 'equal'!\n\nMismatched elements: 1 / 2 (50.0%)\n"
     "The first mismatched element is at index (1,)."),
    ((1.0, 2.0), {"msg": "mine"}, "mine"),
    (([None], [1]), {"msg": lambda text: f"<{text}>"},
     "<None mismatch: None is not 1\n\nThe failure occurred for item [0]>"),
]


@pytest.mark.parametrize("pair, options", CLOSE)
def test_close(pair, options):
    assert_close(*pair, **options)


@pytest.mark.parametrize("pair, options, text", FAILS)
def test_not_close(pair, options, text):
    with pytest.raises(AssertionError) as caught:
        assert_close(*pair, **options)
    assert str(caught.value) == text


@pytest.mark.parametrize("pair", [("a", "a"), (t([1.0]), [1.0]), (t(1.0), 1.0), ({1}, {1})])
def test_types_that_cannot_be_compared(pair):
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        assert_close(*pair)


def test_options():
    with pytest.raises(ValueError, match="must be either specified or omitted, but got no atol"):
        assert_close(1.0, 1.0, rtol=1e-3)
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(torch.nn.Parameter(t([1.0])), t([1.0]), allow_subclasses=False)
    with pytest.warns(FutureWarning, match="assert_allclose"):
        assert_allclose([1.0], t([1.0]))


MADE = [
    (torch.float32, (2, 2), {}, [-0.0674, 4.8280, -7.4074, -6.6235]),
    (torch.int64, (4,), {}, [6, -5, -9, -9]), (torch.uint8, (4,), {}, [4, 9, 3, 0]),
    (torch.bool, (4,), {}, [False, True, True, False]),
    (torch.int8, (5,), {"exclude_zero": True, "low": -1, "high": 1}, [-1, 1, 1, -1, 1]),
    (torch.complex64, (1,), {"low": -1, "high": 2}, [0.4888 + 1.3047j]),
    (torch.float32, (2, 3), {"noncontiguous": True},
     [4.8280, -6.6235, 2.4134, 7.1360, 2.3815, -1.7691]),
    (torch.float16, (3,), {"low": -60000, "high": 60000}, [-449.25, 32192.0, -49376.0]),
]


@pytest.mark.parametrize("dtype, shape, options, expected", MADE)
def test_make_tensor(dtype, shape, options, expected):
    torch.manual_seed(0)
    made = make_tensor(shape, dtype=dtype, device="cpu", **options)
    assert made.shape == shape and made.dtype == dtype
    assert made.is_contiguous() != options.get("noncontiguous", False)
    assert made.flatten().tolist() == pytest.approx(expected, abs=1e-4)


def test_make_tensor_refuses():
    def fails(text, *shape, **options):
        with pytest.raises((ValueError, TypeError)) as caught:
            make_tensor(*shape, device="cpu", **options)
        assert text in str(caught.value)

    fails("`low` must be less than `high`, but got 2 >= 1", 3, dtype=torch.float32, low=2, high=1)
    fails("[300, 400), but torch.uint8 only supports [0, 256)", 3, dtype=torch.uint8, low=300,
          high=400)
    fails("cannot be NaN", 3, dtype=torch.float32, low=NAN)
    fails("`requires_grad=True` is not supported", 3, dtype=torch.int8, requires_grad=True)
    fails("mutually exclusive", 3, dtype=torch.float32, noncontiguous=True,
          memory_format=torch.contiguous_format)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FutureWarning, match="low==high"):
            make_tensor(3, dtype=torch.float32, device="cpu", low=1, high=1)


TEXT = "a = add(b, c)\nd = mul(a, 2)\ne = add(d, 1)\nreturn e\n"


def test_file_check():
    FileCheck().check("add").check_next("mul").check_same("2").check_not("mul").run(TEXT)
    FileCheck().check_count("add", 2, exactly=True).check_regex(r"return \w").run(TEXT)
    FileCheck().check_dag("mul").check_dag("a =").run(TEXT)
    FileCheck().run("# CHECK: add\n# CHECK-NEXT: mul\n# CHECK-COUNT-1: add", TEXT)


@pytest.mark.parametrize("check, text", [
    (FileCheck().check("mul").check("mul"), 'Expected to find "mul" but did not find it'),
    (FileCheck().check("add").check_not("mul").check("return"), 'Expected to not find "mul"'),
    (FileCheck().check_count("add", 1, exactly=True), "From CHECK-NOT: add"),
    (FileCheck().check("add").check_next("return"), "From CHECK-NEXT: return"),
    (FileCheck().check("add").check_same("mul"), "From CHECK-SAME: mul"),
    (FileCheck(), "No checks have been added"),
])
def test_file_check_fails(check, text):
    with pytest.raises(RuntimeError) as caught:
        check.run(TEXT)
    assert text in str(caught.value)
