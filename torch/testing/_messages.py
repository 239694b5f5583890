"""What the assertions of torch.testing say about numbers and tensors that differ.

Free of state: made from values, tolerances and the mask of agreeing elements.
"""

import torch


def _heading(default, identifier, rtol, atol):
    """First line of a report; `identifier` names the things, or is made from the default name."""
    if identifier is None:
        identifier = default
    elif callable(identifier):
        identifier = identifier(default)
    return f"{identifier} are not {'equal' if rtol == 0 and atol == 0 else 'close'}!\n\n"


def _make_mismatch_msg(*, default_identifier, identifier=None, extra=None, abs_diff,
                       abs_diff_idx=None, atol, rel_diff, rel_diff_idx=None, rtol):
    """The report: heading, `extra`, and the two differences with what would have been allowed."""
    exact = rtol == 0 and atol == 0

    def line(kind, difference, index, allowed):
        name = f"{kind} difference" if index is None else f"Greatest {kind.lower()} difference"
        where = "" if index is None else f" at index {index}"
        return f"{name}: {difference}{where}" + ("" if exact else f" (up to {allowed} allowed)")

    return (_heading(default_identifier, identifier, rtol, atol)
            + (f"{extra.strip()}\n" if extra else "")
            + line("Absolute", abs_diff, abs_diff_idx, atol) + "\n"
            + line("Relative", rel_diff, rel_diff_idx, rtol))


def make_scalar_mismatch_msg(actual, expected, *, rtol, atol, identifier=None):
    """The report about two Python numbers."""
    abs_diff = abs(actual - expected)
    rel_diff = float("inf") if expected == 0 else abs_diff / abs(expected)
    return _make_mismatch_msg(
        default_identifier="Scalars", identifier=identifier,
        extra=f"Expected {expected} but got {actual}.",
        abs_diff=abs_diff, atol=atol, rel_diff=rel_diff, rtol=rtol)


def _index(flat, shape):
    """The position in a tensor of `shape` of its element number `flat`."""
    out = []
    for size in reversed(shape):
        flat, rest = divmod(flat, size)
        out.append(rest)
    return tuple(reversed(out))


def _greatest(values, shape):
    largest, position = torch.max(values.flatten(), dim=0)
    return largest.item(), _index(int(position), shape)


def _count(matches):
    total, wrong = matches.numel(), int(torch.sum(~matches))
    return f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})"


def make_tensor_mismatch_msg(actual, expected, matches, *, rtol, atol, identifier=None):
    """The report about two tensors of one shape, given where they agree."""
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        # Differences of small or unsigned integers must not wrap around.
        actual, expected = actual.to(torch.int64), expected.to(torch.int64)
    abs_diff = torch.abs(actual - expected)
    rel_diff = abs_diff / torch.abs(expected)
    # Where elements agree, also as infinities or NaN, nothing counts as a difference.
    abs_diff[matches] = 0
    rel_diff[matches] = 0
    greatest_abs, abs_index = _greatest(abs_diff, matches.shape)
    greatest_rel, rel_index = _greatest(rel_diff, matches.shape)
    return _make_mismatch_msg(
        default_identifier="Tensor-likes", identifier=identifier, extra=_count(matches),
        abs_diff=greatest_abs, abs_diff_idx=abs_index, atol=atol,
        rel_diff=greatest_rel, rel_diff_idx=rel_index, rtol=rtol)


def make_bitwise_mismatch_msg(matches, identifier=None):
    """The report about tensors of dtypes that have no arithmetic: float8 and smaller."""
    name = "Tensor-likes" if identifier is None else identifier
    name = name("Tensor-likes") if callable(name) else name
    first = _index(int(torch.nonzero(~matches.flatten())[0]), matches.shape)
    return (f"{name} are not 'equal'!\n\n{_count(matches)}\n"
            f"The first mismatched element is at index {first}.")
