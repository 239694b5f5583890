"""Counts the floating point operations of matrix products, convolutions and attention."""
from collections import defaultdict
from functools import wraps
from math import prod

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

aten = torch.ops.aten
flop_registry = {}   # operator packet -> formula of shapes
suffixes = ["", "K", "M", "B", "T"]


def get_shape(i):
    return i.shape if isinstance(i, torch.Tensor) else i


def shape_wrapper(f):
    """`f`, which takes shapes, for tensors."""

    @wraps(f)
    def nf(*args, out_val=None, **kwargs):
        args, kwargs, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return f(*args, out_shape=out_shape, **kwargs)

    return nf


def register_flop_formula(targets, get_raw=False):
    """A decorator that makes a function the count of an operator or of a list of them: it gets the
    arguments, tensors as shapes unless `get_raw`, and ``out_shape`` (``out_val``)."""

    def register_fun(formula):
        made = formula if get_raw else shape_wrapper(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if isinstance(target, str) or not hasattr(target, "overloads"):
                raise ValueError("register_flop_formula(targets): expected each target to be an "
                                 f"OpOverloadPacket, got {target} of type {type(target)}")
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = made
        return formula

    return register_fun


@register_flop_formula(aten.mm)
def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    """Of a product of matrices."""
    m, k = a_shape
    k2, n = b_shape
    assert k == k2
    return m * n * 2 * k


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs):
    """Of a batch of products of matrices."""
    b, m, k = a_shape
    b2, k2, n = b_shape
    assert b == b2 and k == k2
    return b * m * n * 2 * k


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """Of a convolution: every output position (input position if transposed) meets the kernel."""
    positions = (x_shape if transposed else out_shape)[2:]
    c_out, c_in, *kernel = w_shape
    return prod(positions) * prod(kernel) * x_shape[0] * c_out * c_in * 2


@register_flop_formula(aten.convolution)
def conv_flop(x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, *args,
              out_shape=None, **kwargs):
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


# The gradients of a convolution are operators of their own here, each a convolution itself.
@register_flop_formula(aten._conv_grad_input)
def conv_grad_input_flop(grad_out_shape, w_shape, input_size, _stride, _padding, _dilation,
                         transposed, *args, out_shape=None, **kwargs):
    return conv_flop_count(grad_out_shape, w_shape, out_shape, transposed=not transposed)


@register_flop_formula(aten._conv_grad_weight)
def conv_grad_weight_flop(grad_out_shape, x_shape, weight_size, _stride, _padding, _dilation,
                          transposed, *args, out_shape=None, **kwargs):
    positions = (x_shape if transposed else grad_out_shape)[2:]
    return prod(positions) * prod(out_shape) * x_shape[0] * 2


def sdpa_flop_count(query_shape, key_shape, value_shape):
    """Of attention: scores, then their product with the values."""
    b, h, s_q, d_q = query_shape
    _, _, s_k, _ = key_shape
    _, _, _, d_v = value_shape
    return bmm_flop((b * h, s_q, d_q), (b * h, d_q, s_k)) + bmm_flop((b * h, s_q, s_k),
                                                                     (b * h, s_k, d_v))


@register_flop_formula(aten._scaled_dot_product_flash_attention_for_cpu)
def sdpa_flop(query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs):
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape):
    """Of attention's gradients, the scores being computed again."""
    b, h, s_q, d_q = query_shape
    _, _, s_k, _ = key_shape
    _, _, _, d_v = value_shape
    scores, values = (b * h, s_q, s_k), (b * h, s_k, d_v)
    count = bmm_flop((b * h, s_q, d_q), (b * h, d_q, s_k))
    count += bmm_flop((b * h, s_q, d_v), (b * h, d_v, s_k))
    count += bmm_flop((b * h, s_k, s_q), (b * h, s_q, values[2]))
    count += bmm_flop(scores, (b * h, s_k, d_q))
    return count + bmm_flop((b * h, d_q, s_q), scores)


@register_flop_formula(aten._scaled_dot_product_flash_attention_for_cpu_backward)
def sdpa_backward_flop(grad_out_shape, query_shape, key_shape, value_shape, *args, out_shape=None,
                       **kwargs):
    return sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape)


def get_suffix_str(number):
    """The unit that leaves at least four digits before the point, where there are so many."""
    index = max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))
    return suffixes[index]


def convert_num_with_suffix(number, suffix):
    index = suffixes.index(suffix)
    return f"{number / 1000**index:.3f}{suffixes[index]}"


def convert_to_percent_str(num, denom):
    return "0%" if denom == 0 else f"{num / denom:.2%}"


class FlopCounterMode:
    """Counts what runs inside the block, by module and operator.

    ::

        with FlopCounterMode() as counter:
            model(x).sum().backward()
        counter.get_total_flops()

    Args:
        depth: how deep modules are listed in the table.
        display: prints the table at the end of the block.
        custom_mapping: counts of further operators, as :func:`register_flop_formula` makes them.
    """

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None,
                 skip_unsupported=False):
        if mods is not None:
            import warnings
            warnings.warn("mods argument is not needed anymore, you can stop passing it",
                          stacklevel=2)
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.depth = depth
        self.display = display
        self.mode = None
        self.skip_unsupported = skip_unsupported
        self._unsupported = set()
        custom = {}
        for op, formula in (custom_mapping or {}).items():
            custom[op] = formula if getattr(formula, "_get_raw", False) else shape_wrapper(formula)
        self.flop_registry = {**flop_registry, **custom}
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self):
        """All that was counted."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        """{module: {operator: count}}; the whole is the module ``"Global"``."""
        return {k: dict(v) for k, v in self.flop_counts.items()}

    def get_unsupported_ops(self):
        return set(self._unsupported)

    def get_table(self, depth=None):
        """The counts as text."""
        depth = 999999 if depth is None else depth
        total = self.get_total_flops()
        suffix = get_suffix_str(total)
        rows = []

        def add(name, indent):
            count = sum(self.flop_counts[name].values())
            rows.append([" " * indent + name, convert_num_with_suffix(count, suffix),
                         convert_to_percent_str(count, total)])
            for op, n in self.flop_counts[name].items():
                rows.append([" " * indent + " - " + str(op), convert_num_with_suffix(n, suffix),
                             convert_to_percent_str(n, total)])

        for name in sorted(self.flop_counts):
            level = name.count(".") + 1
            if name != "Global" and level <= depth:
                add(name, level - 1)
        if total or not rows:
            inner, rows = [[" " + r[0], *r[1:]] for r in rows], []
            add("Global", 0)
            rows += inner
        return _text_table(["Module", "FLOP", "% Total"], rows)

    def _count_flops(self, packet, out, args, kwargs):
        formula = self.flop_registry.get(packet)
        if formula is None:
            self._unsupported.add(packet)
            return out
        count = formula(*args, **kwargs, out_val=out)
        for parent in set(self.mod_tracker.parents):
            self.flop_counts[parent][packet] += count
        return out

    def __enter__(self):
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _Mode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *args):
        self.mode.__exit__(*args)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))


class _Mode(TorchDispatchMode):
    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        return self.counter._count_flops(func._overloadpacket, out, args, kwargs)


def _text_table(header, rows):
    widths = [max(len(r[i]) for r in [header, *rows]) for i in range(len(header))]

    def line(cells):
        return "  ".join(f"{c:{'<' if i == 0 else '>'}{w}}"
                         for i, (c, w) in enumerate(zip(cells, widths))).rstrip()

    rule = "  ".join("-" * w for w in widths)
    return "\n".join([line(header), rule, *map(line, rows)])
