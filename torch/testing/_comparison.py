"""`assert_close`: two results, alone or in containers, agree within tolerances.

The values are first arranged in pairs (`originate_pairs`), then each pair compares itself
(`not_close_error_metas`). Other test suites extend this with pairs of their own. The texts of
the assertions are in _messages.py.
"""

import abc
import cmath
import collections.abc
import contextlib
import dataclasses
import sys
import warnings

import torch
from torch.testing._messages import (
    make_bitwise_mismatch_msg,
    make_scalar_mismatch_msg,
    make_tensor_mismatch_msg,
)


class ErrorMeta(Exception):
    """A failure that has been found: the exception to raise, and the item it happened in."""

    def __init__(self, type, msg, *, id=()):
        super().__init__(
            "A comparison failed; this is its description and not meant to be raised itself: "
            "raise ErrorMeta.to_error().")
        self.type, self.msg, self.id = type, msg, id

    def to_error(self, msg=None):
        """The exception. `msg` replaces its text or, if callable, makes a text from it."""
        if not isinstance(msg, str):
            generated = self.msg
            if self.id:
                place = "".join(str([item]) for item in self.id)
                generated += f"\n\nThe failure occurred for item {place}"
            msg = msg(generated) if callable(msg) else generated
        return self.type(msg)


class UnsupportedInputs(Exception):
    """Raised in a pair's constructor: these inputs are for another kind of pair."""


# (relative, absolute) tolerances; integers and bool are compared exactly.
_DTYPE_PRECISIONS = {
    torch.float16: (0.001, 1e-5),
    torch.bfloat16: (0.016, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (0.001, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


def default_tolerances(*inputs, dtype_precisions=None):
    """(rtol, atol) for tensors or dtypes: the widest of theirs."""
    table = dtype_precisions or _DTYPE_PRECISIONS
    found = []
    for item in inputs:
        dtype = item.dtype if isinstance(item, torch.Tensor) else item
        if not isinstance(dtype, torch.dtype):
            raise TypeError(
                f"Expected a torch.Tensor or a torch.dtype, but got {type(item)} instead.")
        found.append(table.get(dtype, (0.0, 0.0)))
    rtols, atols = zip(*found)
    return max(rtols), max(atols)


def get_tolerances(*inputs, rtol, atol, id=()):
    """The tolerances given, or the default ones if neither is."""
    if (rtol is None) != (atol is None):
        raise ErrorMeta(
            ValueError, "Both 'rtol' and 'atol' must be either specified or omitted, "
            f"but got no {'rtol' if rtol is None else 'atol'}.", id=id)
    return default_tolerances(*inputs) if rtol is None else (rtol, atol)


class Pair(abc.ABC):
    """Two values to be compared. `id` is the way to them through the containers."""

    def __init__(self, actual, expected, *, id=(), **unknown_parameters):
        self.actual, self.expected, self.id = actual, expected, id
        self._unknown_parameters = unknown_parameters

    @staticmethod
    def _inputs_not_supported():
        raise UnsupportedInputs

    @staticmethod
    def _check_inputs_isinstance(*inputs, cls):
        if not all(isinstance(item, cls) for item in inputs):
            Pair._inputs_not_supported()

    def _fail(self, type, msg, *, id=()):
        raise ErrorMeta(type, msg, id=self.id if not id else id)

    @abc.abstractmethod
    def compare(self):
        """Raises an ErrorMeta if the values differ."""

    def extra_repr(self):
        """Names of attributes, or (name, value), that the repr shows after the values."""
        return []

    def __repr__(self):
        shown = [("id", self.id), ("actual", self.actual), ("expected", self.expected)]
        shown += [item if isinstance(item, tuple) else (item, getattr(self, item))
                  for item in self.extra_repr()]
        lines = "".join(f"    {name}={value!s},\n" for name, value in shown)
        return f"{type(self).__name__}(\n{lines})"


class ObjectPair(Pair):
    """Any objects, compared with ==."""

    def compare(self):
        try:
            equal = self.actual == self.expected
        except Exception as error:
            self._fail(ValueError, f"{self.actual} == {self.expected} failed with:\n{error}.")
        if not equal:
            self._fail(AssertionError, f"{self.actual} != {self.expected}")


class _DataclassPair(ObjectPair):
    """Instances of one dataclass."""

    def __init__(self, actual, expected, **other_parameters):
        for item in (actual, expected):
            if isinstance(item, type) or not dataclasses.is_dataclass(item):
                self._inputs_not_supported()
        super().__init__(actual, expected, **other_parameters)


class NonePair(Pair):
    """At least one value is None."""

    def __init__(self, actual, expected, **other_parameters):
        if actual is not None and expected is not None:
            self._inputs_not_supported()
        super().__init__(actual, expected, **other_parameters)

    def compare(self):
        if self.actual is not self.expected:
            self._fail(AssertionError, f"None mismatch: {self.actual} is not {self.expected}")


def _numpy():
    """numpy if the program uses it: its values cannot be among the inputs otherwise."""
    return sys.modules.get("numpy")


class BooleanPair(Pair):
    """bool and numpy.bool."""

    def __init__(self, actual, expected, *, id=(), **other_parameters):
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)

    @property
    def _supported_types(self):
        numpy = _numpy()
        return (bool,) if numpy is None else (bool, numpy.bool_)

    def _process_inputs(self, actual, expected, *, id):
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return bool(actual), bool(expected)

    def compare(self):
        if self.actual is not self.expected:
            self._fail(AssertionError,
                       f"Booleans mismatch: {self.actual} is not {self.expected}")


class NumberPair(Pair):
    """Python's and numpy's numbers."""

    _TYPE_TO_DTYPE = {bool: torch.bool, int: torch.int64, float: torch.float64,
                      complex: torch.complex128}
    _NUMBER_TYPES = tuple(_TYPE_TO_DTYPE)

    def __init__(self, actual, expected, *, id=(), rtol=None, atol=None, equal_nan=False,
                 check_dtype=False, **other_parameters):
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)
        dtypes = [self._TYPE_TO_DTYPE[type(item)] for item in (actual, expected)]
        self.rtol, self.atol = get_tolerances(*dtypes, rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_dtype = equal_nan, check_dtype

    @property
    def _supported_types(self):
        numpy = _numpy()
        return self._NUMBER_TYPES if numpy is None else (*self._NUMBER_TYPES, numpy.number)

    def _process_inputs(self, actual, expected, *, id):
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return self._to_number(actual, id=id), self._to_number(expected, id=id)

    def _to_number(self, number_like, *, id):
        numpy = _numpy()
        if numpy is not None and isinstance(number_like, numpy.number):
            return number_like.item()
        for kind in self._NUMBER_TYPES:
            if type(number_like) is kind:
                return number_like
        for kind in (int, float, complex):  # subclasses
            if isinstance(number_like, kind):
                return kind(number_like)
        raise ErrorMeta(TypeError, f"Unknown number type {type(number_like)}.", id=id)

    def compare(self):
        if self.check_dtype and type(self.actual) is not type(self.expected):
            self._fail(AssertionError, "The (d)types do not match: "
                       f"{type(self.actual)} != {type(self.expected)}.")
        if self.actual == self.expected:
            return
        if self.equal_nan and cmath.isnan(self.actual) and cmath.isnan(self.expected):
            return
        difference = abs(self.actual - self.expected)
        if difference <= self.atol + self.rtol * abs(self.expected) and cmath.isfinite(difference):
            return
        self._fail(AssertionError, make_scalar_mismatch_msg(
            self.actual, self.expected, rtol=self.rtol, atol=self.atol))

    def extra_repr(self):
        return ["rtol", "atol", "equal_nan", "check_dtype"]


# Compared by their bits: these dtypes have no arithmetic.
_BITWISE = tuple(
    getattr(torch, name) for name in
    ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
     "float4_e2m1fn_x2") if hasattr(torch, name))


class TensorLikePair(Pair):
    """Tensors, or what `torch.as_tensor` makes tensors of (arrays)."""

    def __init__(self, actual, expected, *, id=(), allow_subclasses=True, rtol=None, atol=None,
                 equal_nan=False, check_device=True, check_dtype=True, check_layout=True,
                 check_stride=False, **other_parameters):
        actual, expected = self._process_inputs(
            actual, expected, id=id, allow_subclasses=allow_subclasses)
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(actual, expected, rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_device, self.check_dtype = equal_nan, check_device, check_dtype
        self.check_layout, self.check_stride = check_layout, check_stride

    def _process_inputs(self, actual, expected, *, id, allow_subclasses):
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if not related or not (allow_subclasses or type(actual) is type(expected)):
            self._inputs_not_supported()
        tensors = self._to_tensor(actual), self._to_tensor(expected)
        for tensor in tensors:
            self._check_supported(tensor, id=id)
        return tensors

    def _to_tensor(self, tensor_like):
        if isinstance(tensor_like, torch.Tensor):
            return tensor_like
        if isinstance(tensor_like, (str, bytes, collections.abc.Sequence, bool, int, float,
                                    complex, collections.abc.Mapping)):
            self._inputs_not_supported()  # numbers and containers have pairs of their own
        try:
            return torch.as_tensor(tensor_like)
        except Exception:
            return self._inputs_not_supported()

    def _check_supported(self, tensor, *, id):
        if tensor.layout not in (torch.strided, torch.sparse_coo, torch.sparse_csr,
                                 torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc):
            raise ErrorMeta(ValueError, f"Unsupported tensor layout {tensor.layout}", id=id)

    def compare(self):
        actual, expected = self.actual, self.expected
        self._compare_attributes(actual, expected)
        if "meta" in (actual.device.type, expected.device.type):
            return
        actual, expected = self._equalize_attributes(actual, expected)
        self._compare_values(actual, expected)

    def _compare_attributes(self, actual, expected):
        def check(name, one, other):
            if one != other:
                self._fail(AssertionError, f"The values for attribute {name!r} do not match: "
                           f"{one} != {other}.")

        check("shape", actual.shape, expected.shape)
        if self.check_layout:
            check("layout", actual.layout, expected.layout)
        if self.check_stride and actual.layout == torch.strided == expected.layout:
            check("stride()", actual.stride(), expected.stride())
        if self.check_device:
            check("device", actual.device, expected.device)
        if self.check_dtype:
            check("dtype", actual.dtype, expected.dtype)

    def _equalize_attributes(self, actual, expected):
        if actual.device != expected.device:
            actual, expected = actual.cpu(), expected.cpu()
        if actual.dtype != expected.dtype:
            dtype = torch.promote_types(actual.dtype, expected.dtype)
            actual, expected = actual.to(dtype), expected.to(dtype)
        if actual.layout != expected.layout:
            actual = actual.to_dense() if actual.layout != torch.strided else actual
            expected = expected.to_dense() if expected.layout != torch.strided else expected
        if actual.dtype == torch.complex32:  # which has hardly any arithmetic
            actual, expected = actual.to(torch.complex64), expected.to(torch.complex64)
        return actual, expected

    def _compare_values(self, actual, expected):
        if actual.layout == torch.sparse_coo:
            self._compare_sparse_coo_values(actual, expected)
        elif actual.layout != torch.strided:
            self._compare_sparse_compressed_values(actual, expected)
        else:
            self._compare_strided(actual, expected)

    def _compare_sparse_coo_values(self, actual, expected):
        self._compare_counts("sparse COO", actual._nnz(), expected._nnz())
        self._compare_strided(actual._indices(), expected._indices(), exact=True,
                              identifier="Sparse COO indices")
        self._compare_strided(actual._values(), expected._values(),
                              identifier="Sparse COO values")

    def _compare_sparse_compressed_values(self, actual, expected):
        name = str(actual.layout).rpartition("_")[2].upper()
        compressed, plain = (("crow", "col") if name in ("CSR", "BSR") else ("ccol", "row"))
        self._compare_counts(f"sparse {name}", actual._nnz(), expected._nnz())
        for part in (compressed, plain):
            self._compare_strided(getattr(actual, f"{part}_indices")(),
                                  getattr(expected, f"{part}_indices")(), exact=True,
                                  identifier=f"Sparse {name} {part}_indices")
        self._compare_strided(actual.values(), expected.values(),
                              identifier=f"Sparse {name} values")

    def _compare_counts(self, name, actual, expected):
        if actual != expected:
            self._fail(AssertionError, f"The number of specified values in {name} tensors does "
                       f"not match: {actual} != {expected}")

    def _compare_strided(self, actual, expected, *, identifier=None, exact=False):
        rtol, atol = (0.0, 0.0) if exact else (self.rtol, self.atol)
        if actual.dtype in _BITWISE:
            return self._compare_bits(actual, expected, rtol, atol, identifier)
        if rtol == 0 and atol == 0 and not (actual.is_floating_point() or actual.is_complex()):
            matches = actual == expected
        else:
            matches = torch.isclose(actual, expected, rtol=rtol, atol=atol,
                                    equal_nan=self.equal_nan)
        if torch.all(matches):
            return None
        if actual.dim() == 0 and identifier is None:
            message = make_scalar_mismatch_msg(actual.item(), expected.item(), rtol=rtol,
                                               atol=atol)
        else:
            message = make_tensor_mismatch_msg(actual, expected, matches, rtol=rtol, atol=atol,
                                               identifier=identifier)
        self._fail(AssertionError, message)

    def _compare_bits(self, actual, expected, rtol, atol, identifier):
        if rtol != 0 or atol != 0:
            self._fail(AssertionError, f"Rtol={rtol} and atol={atol} are not supported for "
                       "bitwise comparison of low dimensional floats. Please use rtol=0.0 and "
                       "atol=0.0.")
        matches = actual.view(torch.uint8) == expected.view(torch.uint8)
        if actual.dtype is not getattr(torch, "float4_e2m1fn_x2", None):
            both = actual.float().isnan() & expected.float().isnan()
            matches = matches | both if self.equal_nan else matches & ~both
        if torch.all(matches):
            return
        if actual.dim() == 0:
            message = make_scalar_mismatch_msg(actual.item(), expected.item(), rtol=0.0, atol=0.0)
        else:
            message = make_bitwise_mismatch_msg(matches, identifier)
        self._fail(AssertionError, message)

    def extra_repr(self):
        return ["rtol", "atol", "equal_nan", "check_device", "check_dtype", "check_layout",
                "check_stride"]


def _ordered_keys(keys):
    with contextlib.suppress(Exception):
        return sorted(keys)
    return list(keys)


def originate_pairs(actual, expected, *, pair_types,
                    sequence_types=(collections.abc.Sequence,),
                    mapping_types=(collections.abc.Mapping,), id=(), **options):
    """The pairs in two equal structures of sequences and mappings, in order.

    `pair_types` are tried one after the other; `options` go to their constructors. Raises an
    ErrorMeta if the structures differ or no type accepts two values.
    """
    def inside(one, other, key):
        return originate_pairs(one, other, pair_types=pair_types, sequence_types=sequence_types,
                               mapping_types=mapping_types, id=(*id, key), **options)

    if (isinstance(actual, sequence_types) and isinstance(expected, sequence_types)
            and not isinstance(actual, str) and not isinstance(expected, str)):
        if len(actual) != len(expected):
            raise ErrorMeta(AssertionError, "The length of the sequences mismatch: "
                            f"{len(actual)} != {len(expected)}", id=id)
        return [pair for index in range(len(actual))
                for pair in inside(actual[index], expected[index], index)]
    if isinstance(actual, mapping_types) and isinstance(expected, mapping_types):
        missing, additional = expected.keys() - actual.keys(), actual.keys() - expected.keys()
        if missing or additional:
            raise ErrorMeta(
                AssertionError, "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {_ordered_keys(missing)}\n"
                f"Additional keys in the actual mapping: {_ordered_keys(additional)}", id=id)
        return [pair for key in _ordered_keys(actual)
                for pair in inside(actual[key], expected[key], key)]
    for pair_type in pair_types:
        try:
            return [pair_type(actual, expected, id=id, **options)]
        except UnsupportedInputs:
            continue
        except ErrorMeta:
            raise
        except Exception as error:
            raise RuntimeError(
                f"Originating a {pair_type.__name__}() at item {''.join(str([i]) for i in id)} "
                f"with\n\n{type(actual).__name__}(): {actual}\n\nand\n\n"
                f"{type(expected).__name__}(): {expected}\n\n"
                "resulted in the unexpected exception above.") from error
    raise ErrorMeta(TypeError, "No comparison pair was able to handle inputs of type "
                    f"{type(actual)} and {type(expected)}.", id=id)


def not_close_error_metas(actual, expected, *, pair_types=(ObjectPair,),
                          sequence_types=(collections.abc.Sequence,),
                          mapping_types=(collections.abc.Mapping,), **options):
    """All failures of a comparison; empty if there is none."""
    __tracebackhide__ = True  # pytest leaves this frame out of its reports
    try:
        pairs = originate_pairs(actual, expected, pair_types=pair_types,
                                sequence_types=sequence_types, mapping_types=mapping_types,
                                **options)
    except ErrorMeta as failure:
        raise failure.to_error() from None
    failures = []
    for pair in pairs:
        try:
            pair.compare()
        except ErrorMeta as failure:
            failures.append(failure)
        except Exception as error:
            raise RuntimeError(f"Comparing\n\n{pair}\n\nresulted in the unexpected exception "
                               "above.") from error
    return failures


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None,
                 equal_nan=False, check_device=True, check_dtype=True, check_layout=True,
                 check_stride=False, msg=None):
    """Raises AssertionError unless `actual` and `expected` agree.

    Elements agree if ``|actual - expected| <= atol + rtol * |expected|``. Without tolerances
    they follow from the dtypes; give both or none. Tensors, arrays and numbers are compared,
    and sequences and mappings of them; a tensor is not close to a number or an array, shapes
    must be equal, and so must device, dtype, layout and strides as far as the `check_` options
    say. NaN equals NaN with `equal_nan`. `msg` replaces the text of the error or, if callable,
    makes it from the generated one. Types that cannot be compared raise TypeError.
    """
    __tracebackhide__ = True
    failures = not_close_error_metas(
        actual, expected,
        pair_types=(NonePair, BooleanPair, NumberPair, TensorLikePair, _DataclassPair),
        allow_subclasses=allow_subclasses, rtol=rtol, atol=atol, equal_nan=equal_nan,
        check_device=check_device, check_dtype=check_dtype, check_layout=check_layout,
        check_stride=check_stride)
    if failures:
        raise failures[0].to_error(msg)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The older, more lenient `assert_close`: anything that becomes a tensor, of any dtype."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead. You can find detailed "
        "upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning, stacklevel=2)
    if not isinstance(actual, torch.Tensor):
        actual = torch.tensor(actual)
    if not isinstance(expected, torch.Tensor):
        expected = torch.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions={
            torch.float16: (1e-3, 1e-3), torch.float32: (1e-4, 1e-5), torch.float64: (1e-5, 1e-8)})
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True,
                 check_dtype=False, check_stride=False, msg=msg or None)
