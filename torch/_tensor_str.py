"""The text of tensors: `repr`, `print`, `set_printoptions`.

Values are fetched once as nested Python lists; of a large tensor only its edges, with a mark where
the middle was left out.
"""

import math
import sys

import torch

_GAP = object()  # stands for the elements that a summary leaves out

_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


class __PrinterOptions:
    precision = 4
    threshold = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode = None


PRINT_OPTS = __PrinterOptions()


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """How tensors are printed.

    Args:
        precision: digits after the point (4).
        threshold: tensors with more elements are summarised (1000).
        edgeitems: how many items a summary keeps at each end of a dimension (3).
        linewidth: characters in a line (80).
        profile: ``"default"``, ``"short"`` or ``"full"``; the other arguments change it further.
        sci_mode: scientific notation: True, False, or None for whatever reads better.
    """
    if profile is not None:
        for name, value in _PROFILES.get(profile, {}).items():
            setattr(PRINT_OPTS, name, value)
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    for name, value in given.items():
        if value is not None:
            setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions():
    """The present options as a dictionary."""
    names = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
    return {n: getattr(PRINT_OPTS, n) for n in names}


class printoptions:
    """Context manager: other options inside the block."""

    def __init__(self, **options):
        self._options = options

    def __enter__(self):
        self._saved = get_printoptions()
        options = dict(self._options)
        if "sci_mode" not in options:
            options["sci_mode"] = self._saved["sci_mode"]
        set_printoptions(**options)

    def __exit__(self, *exc):
        set_printoptions(**self._saved)


# ---------------------------------------------------------------- values


def _values(tensor, summarize):
    """Nested lists of the elements; in a summary `_GAP` stands in the middle of long dimensions."""
    if not summarize:
        return tensor.tolist()
    if tensor.dim() == 0:
        return tensor.item()
    n, edge = tensor.size(0), PRINT_OPTS.edgeitems
    if n <= 2 * edge:
        if tensor.dim() == 1:
            return tensor.tolist()
        return [_values(tensor.select(0, i), True) for i in range(n)]
    if tensor.dim() == 1:
        tail = tensor.narrow(0, n - edge, edge).tolist() if edge else []
        return tensor.narrow(0, 0, edge).tolist() + [_GAP] + tail
    rows = [_values(tensor.select(0, i), True) for i in range(edge)]
    rows.append(_GAP)
    return rows + [_values(tensor.select(0, i), True) for i in range(n - edge, n)]


def _leaves(nested, out):
    if isinstance(nested, list):
        for x in nested:
            _leaves(x, out)
    elif nested is not _GAP:
        out.append(nested)
    return out


class _PlainFormatter:
    """Integers and booleans: as they are, to the right."""

    def __init__(self, values):
        self.width = max((len(str(v)) for v in values), default=1)

    def format(self, value):
        return str(value).rjust(self.width)


class _FloatFormatter:
    """One notation for all values: whole numbers with a point, fixed, or scientific."""

    def __init__(self, values):
        finite = [v for v in values if v != 0 and math.isfinite(v)]
        self.whole, self.scientific, self.width = True, False, 1
        if not finite:
            return
        sizes = [abs(v) for v in finite]
        low, high = min(sizes), max(sizes)
        self.whole = all(v == math.floor(v) for v in finite)
        # scientific where fixed notation would lose digits or line up badly
        self.scientific = high > 1e8 or _ratio(high, low) > 1000.0
        if not self.whole:
            self.scientific = self.scientific or low < 1.0e-4
        if PRINT_OPTS.sci_mode is not None:
            self.scientific = PRINT_OPTS.sci_mode
        # The automatic choice decides the width, too.
        self.width = max(len(self._text(v)) for v in finite)

    def _text(self, v):
        if not math.isfinite(v):
            return _nonfinite(v)
        if self.scientific:
            return f"{v:.{PRINT_OPTS.precision}e}"
        if self.whole:
            return f"{v:.0f}."
        return f"{v:.{PRINT_OPTS.precision}f}"

    def format(self, value):
        return self._text(value).rjust(self.width)


def _ratio(high, low):
    return high / low if low else math.inf


def _nonfinite(v):
    return "nan" if v != v else ("inf" if v > 0 else "-inf")


class _ComplexFormatter:
    def __init__(self, values):
        self.real = _FloatFormatter([v.real for v in values])
        self.imag = _FloatFormatter([v.imag for v in values])
        self.width = self.real.width + self.imag.width + 1

    def format(self, value):
        imag = (self.imag.format(value.imag) + "j").lstrip()
        sign = "" if imag[0] in "+-" else "+"
        return self.real.format(value.real) + sign + imag


def _formatter(tensor, nested):
    values = _leaves(nested, [])
    if tensor.dtype.is_complex:
        return _ComplexFormatter(values)
    if tensor.dtype.is_floating_point:
        return _FloatFormatter(values)
    return _PlainFormatter(values)


# ---------------------------------------------------------------- layout of the text


def _vector(values, indent, formatter):
    per_line = max(1, int(math.floor((PRINT_OPTS.linewidth - indent) / (formatter.width + 2))))
    items = [" ..." if v is _GAP else formatter.format(v) for v in values]
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(values, dim, indent, formatter):
    if dim == 0:
        return formatter.format(values)
    if dim == 1:
        return _vector(values, indent, formatter)
    parts = [
        "..." if v is _GAP else _nested(v, dim - 1, indent + 1, formatter) for v in values
    ]
    gap = "," + "\n" * (dim - 1) + " " * (indent + 1)
    return "[" + gap.join(parts) + "]"


def _tensor_str(tensor, indent):
    """The elements, without the word ``tensor``."""
    if tensor.numel() == 0:
        return "[]"
    summarize = tensor.numel() > PRINT_OPTS.threshold
    nested = _values(tensor, summarize)
    return _nested(nested, tensor.dim(), indent, _formatter(tensor, nested))


def _add_suffixes(text, suffixes, indent, force_newline):
    last = len(text) - text.rfind("\n") + 1
    out = [text]
    for s in suffixes:
        if force_newline or last + len(s) + 2 > PRINT_OPTS.linewidth:
            out.append(",\n" + " " * indent + s)
            last = indent + len(s)
            force_newline = False
        else:
            out.append(", " + s)
            last += len(s) + 2
    out.append(")")
    return "".join(out)


def _size_text(tensor):
    return "size=" + str(tuple(tensor.shape))


def _common_dtypes():
    default = torch.get_default_dtype()
    names = (default, torch.int64, torch.bool)
    if default in (torch.float32, torch.float64, torch.float16):
        names += (default.to_complex(),)
    return names


def _sparse_coo(tensor, indent, suffixes):
    suffixes += [_size_text(tensor), f"nnz={tensor._nnz()}"]
    indices, values = tensor._indices().detach(), tensor._values().detach()
    text = _labelled("indices", indices, indent)
    text += ",\n" + " " * indent + _labelled("values", values, indent)
    return text


def _labelled(name, tensor, indent):
    prefix = f"{name}=tensor("
    text = _tensor_str(tensor, indent + len(prefix))
    suffixes = [_size_text(tensor)] if tensor.numel() == 0 else []
    if suffixes:
        return prefix + text + ", " + ", ".join(suffixes) + ")"
    return prefix + text + ")"


_COMPRESSED = {
    "torch.sparse_csr": ("crow_indices", "col_indices"),
    "torch.sparse_bsr": ("crow_indices", "col_indices"),
    "torch.sparse_csc": ("ccol_indices", "row_indices"),
    "torch.sparse_bsc": ("ccol_indices", "row_indices"),
}


def _sparse_compressed(tensor, indent, suffixes):
    suffixes += [_size_text(tensor), f"nnz={tensor._nnz()}"]
    names = _COMPRESSED[str(tensor.layout)] + ("values",)
    parts = [_labelled(n, getattr(tensor, n)().detach(), indent) for n in names]
    return (",\n" + " " * indent).join(parts)


def _dense(tensor, indent, suffixes, contents):
    """The elements of a strided tensor; adds size and dtype to the suffixes where they matter."""
    if tensor.is_meta:
        suffixes.append(_size_text(tensor))
        if tensor.dtype != torch.get_default_dtype():
            suffixes.append(f"dtype={tensor.dtype}")
        return "..."
    if tensor.numel() == 0:
        if tensor.dim() != 1:
            suffixes.append(_size_text(tensor))
        if tensor.dtype != torch.get_default_dtype():
            suffixes.append(f"dtype={tensor.dtype}")
        return "[]"
    if tensor.dtype not in _common_dtypes():
        suffixes.append(f"dtype={tensor.dtype}")
    return contents if contents is not None else _tensor_str(tensor, indent)


def _history(tensor, suffixes):
    try:
        fn = tensor.grad_fn
    except RuntimeError:  # a view whose history became invalid by an in-place operation
        suffixes.append("grad_fn=<Invalid>")
        return
    if fn is not None:
        name = type(fn).__name__
        if name == "CppFunction":
            name = fn.name().rsplit("::", 1)[-1]
        suffixes.append(f"grad_fn=<{name}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")


def _tangent(tensor):
    forward_ad = sys.modules.get("torch.autograd.forward_ad")
    if forward_ad is None or tensor.layout != torch.strided:
        return None, tensor
    try:
        primal, tangent = forward_ad.unpack_dual(tensor)
    except RuntimeError:
        return None, tensor
    return tangent, primal


def _text(tensor, contents):
    plain = type(tensor) in (torch.Tensor, _parameter_class())
    prefix = "tensor(" if plain else f"{type(tensor).__name__}("
    indent = len(prefix)
    suffixes = []
    device = tensor.device
    if device.type != "cpu":
        suffixes.append(f"device='{device}'")
    tangent, primal = _tangent(tensor)
    primal = primal.detach()
    force_newline = False
    if tensor.layout == torch.sparse_coo:
        text = _sparse_coo(primal, indent, suffixes)
        force_newline = True
    elif tensor.layout != torch.strided:
        text = _sparse_compressed(primal, indent, suffixes)
    else:
        text = _dense(primal, indent, suffixes, contents)
    if tensor.layout != torch.strided:
        if tensor.dtype not in _common_dtypes():
            suffixes.append(f"dtype={tensor.dtype}")
        suffixes.append(f"layout={tensor.layout}")
    _history(tensor, suffixes)
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    return _add_suffixes(prefix + text, suffixes, indent, force_newline)


def _parameter_class():
    """`nn.Parameter`, which prints as a tensor, if it is loaded."""
    return getattr(sys.modules.get("torch.nn.parameter"), "Parameter", None)


def _str(tensor, *, tensor_contents=None):
    """What `Tensor.__repr__` returns. Overrides of functions are off meanwhile."""
    with torch._C.DisableTorchFunction(), torch.no_grad():
        return _text(tensor, tensor_contents)
