"""gradcheck and gradgradcheck: gradients against finite differences."""
import sys
import types
from itertools import product

import torch

__all__ = ["gradcheck", "gradgradcheck", "GradcheckError", "get_numerical_jacobian",
           "get_analytical_jacobian", "get_numerical_jacobian_wrt_specific_input"]


class GradcheckError(RuntimeError):
    """A gradient is not what finite differences say."""


_NONDET = """

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected: call gradcheck/gradgradcheck with `nondet_tol=<tol>`.
"""

_FAST_NOTE = """
The above quantities relating the numerical and analytical jacobians are computed{space}
in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background{space}
about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:

Numerical:
 {numerical}
Analytical:
{analytical}

The max per-element difference (slow mode) is: {difference}.
"""


# ---- small helpers
def _as_tuple(x):
    if isinstance(x, tuple):
        return x
    return tuple(x) if isinstance(x, list) else (x,)


def _differentiable(xs):
    found = tuple(x for x in _as_tuple(xs) if x.requires_grad)
    if any(x.layout is not torch.strided for x in found):
        raise ValueError(
            "Sparse output is not supported at gradcheck yet. Please call "
            "to_dense(masked_grad=...) on the output of fn for gradcheck.")
    return found


def _is_diff_input(x):
    return isinstance(x, torch.Tensor) and x.requires_grad


def _diff_inputs(inputs):
    return tuple(x for x in inputs if _is_diff_input(x))


def _float_or_complex(x):
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


def _positions(x):
    return product(*(range(n) for n in x.shape))


class _Config:
    """The options of one call."""

    def __init__(self, **options):
        self.__dict__.update(options)


# ---- parts of complex functions
def _of_outputs(func, part):
    """`func` with each complex output replaced by its real or imaginary part."""
    def wrapped(*inputs):
        return tuple(part(o) if o.is_complex() else o for o in _as_tuple(func(*inputs)))
    return wrapped


def _of_inputs(func, inputs, imaginary):
    """(function, inputs) with the real or the imaginary part of complex inputs as the input."""
    def wrapped(*parts):
        full = []
        for part, x in zip(parts, inputs):
            if not (isinstance(x, torch.Tensor) and x.is_complex()):
                full.append(part)
            elif imaginary:
                full.append(torch.complex(x.real.detach(), part))
            else:
                full.append(torch.complex(part, x.imag.detach()))
        return func(*full)

    def part_of(x):
        if not (isinstance(x, torch.Tensor) and x.is_complex()):
            return x
        p = (x.imag if imaginary else x.real).detach().clone()
        return p.requires_grad_(x.requires_grad)
    return wrapped, tuple(part_of(x) for x in inputs)


# ---- finite differences
def _evaluate(func, inputs):
    with torch.enable_grad():
        outs = _as_tuple(func(*inputs))
    return tuple(o.detach().clone() for o in outs)


def _central(func, inputs, target, step_to, eps):
    """(f(x + d) - f(x - d)) / 2 eps, where ``step_to(sign)`` writes x + sign d into `target`."""
    original = target.detach().clone()
    try:
        step_to(1)
        plus = _evaluate(func, inputs)
        target.data.copy_(original)
        step_to(-1)
        minus = _evaluate(func, inputs)
    finally:
        target.data.copy_(original)
    return tuple((p - m) / (2 * eps) for p, m in zip(plus, minus))


def _numerical_of_input(func, inputs, x, eps, outputs, forward=False):
    """The Jacobians of all outputs by x, each of sizes (elements of x, elements of the output)."""
    jacobians = [o.new_zeros((x.numel(), o.numel()), dtype=_jacobian_dtype(x, o, forward))
                 for o in outputs]

    def column(i, at, direction):
        def step_to(sign):
            x.data[at] = x.data[at] + sign * eps * direction
        return _central(func, inputs, x, step_to, eps)

    for i, at in enumerate(_positions(x)):
        by_real = column(i, at, 1)
        by_imaginary = column(i, at, 1j) if x.is_complex() else None
        for k, jac in enumerate(jacobians):
            d = by_real[k].reshape(-1)
            if by_imaginary is not None:
                d = d + 1j * by_imaginary[k].reshape(-1)
            jac[i] = d.to(jac.dtype)
    return jacobians


def _jacobian_dtype(x, o, forward):
    if x.is_complex() or o.is_complex():
        return torch.complex128 if torch.float64 in (x.dtype, o.dtype) or torch.complex128 in (
            x.dtype, o.dtype) else torch.complex64
    return torch.promote_types(x.dtype, o.dtype)


def _numerical(func, inputs, eps, outputs, forward=False):
    """[input][output] of Jacobians."""
    return [
        _numerical_of_input(func, inputs, x, eps, outputs, forward) for x in _diff_inputs(inputs)
    ]


# ---- analytical Jacobians
def _analytical_backward(output, inputs, reference):
    """The Jacobians of one output by every input, from one backward pass for each element."""
    jacobians = [x.new_zeros((x.numel(), output.numel()),
                             dtype=_jacobian_dtype(x, output, False)) for x in inputs]
    size_ok = dtype_ok = True
    for j, at in enumerate(_positions(output)):
        cotangent = torch.zeros_like(output, memory_format=torch.contiguous_format)
        cotangent[at] = 1
        grads = torch.autograd.grad(output, inputs, cotangent, retain_graph=True, allow_unused=True)
        for jac, g, x in zip(jacobians, grads, inputs):
            if g is None:
                continue
            dtype_ok = dtype_ok and g.dtype == x.dtype
            if g.size() != x.size():
                size_ok = False
                continue
            jac[:, j] = g.reshape(-1).to(jac.dtype)
    return jacobians, size_ok, dtype_ok


def _analytical_forward(func, inputs, outputs):
    """[input][output] of Jacobians, from one forward pass for each element of each input."""
    import torch.autograd.forward_ad as fwad
    result = []
    for k, x in enumerate(inputs):
        if not _is_diff_input(x):
            continue
        jacobians = [o.new_zeros((x.numel(), o.numel()), dtype=_jacobian_dtype(x, o, True))
                     for o in outputs]
        for i, at in enumerate(_positions(x)):
            tangent = torch.zeros_like(x, memory_format=torch.contiguous_format)
            tangent[at] = 1
            for jac, t in zip(jacobians, _push_forward(fwad, func, inputs, {k: tangent})):
                if t is not None:
                    jac[i] = t.reshape(-1).to(jac.dtype)
        result.append(jacobians)
    return result


def _push_forward(fwad, func, inputs, tangents):
    """Tangents of the differentiable outputs, given those of some inputs by position."""
    with fwad.dual_level():
        args = tuple(fwad.make_dual(x.detach(), tangents[k]) if k in tangents
                     else (x.detach() if isinstance(x, torch.Tensor) else x)
                     for k, x in enumerate(inputs))
        # Derivatives inside func need inputs that ask for them.
        args = tuple(a.requires_grad_() if _is_diff_input(x) and not a.requires_grad else a
                     for a, x in zip(args, inputs))
        outs = [o for o in _as_tuple(func(*args)) if _float_or_complex(o)]
        return [None if (t := fwad.unpack_dual(o).tangent) is None else t.detach() for o in outs]


# ---- comparing
def _close(a, n, rtol, atol):
    dtype = torch.promote_types(a.dtype, n.dtype)
    return torch.allclose(a.to(dtype), n.to(dtype), rtol=rtol, atol=atol)


def _mismatch(a, n, o, i, prefix, forward, detail=""):
    how = "computed with forward mode " if forward else ""
    raise GradcheckError(
        f"{prefix}Jacobian {how}mismatch for output {o} with respect to input {i},\n"
        f"numerical:{n}\nanalytical:{a}\n{detail}"
    )


def _check_size_dtype(size_ok, dtype_ok, check_dtypes):
    if not size_ok:
        raise GradcheckError("Analytical gradient has incorrect size")
    if check_dtypes and not dtype_ok:
        raise GradcheckError("Analytical gradient has incorrect dtype")


def _check_nondet(first, second, tol):
    for a, b in zip(first, second):
        if a.numel() and (a - b).abs().max() > tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output "
                "multiple times gives different values, although analytical gradient "
                "matches numerical "
                f"gradient.The tolerance for nondeterminism was {tol}.{_NONDET}"
            )


def _slow_backward(func, inputs, cfg, prefix=""):
    outputs = _differentiable(func(*inputs))
    targets = _diff_inputs(inputs)
    wanted = _numerical(lambda *xs: _differentiable(func(*xs)), inputs, cfg.eps, outputs)
    for o, out in enumerate(outputs):
        found, size_ok, dtype_ok = _analytical_backward(out, targets, inputs)
        again, _, _ = _analytical_backward(out, targets, inputs)
        _check_size_dtype(size_ok, dtype_ok, cfg.check_grad_dtypes)
        for i, a in enumerate(found):
            if not _close(a, wanted[i][o], cfg.rtol, cfg.atol):
                _mismatch(a, wanted[i][o], o, i, prefix, False)
        _check_nondet(found, again, cfg.nondet_tol)


def _slow_forward(func, inputs, cfg, prefix=""):
    outputs = tuple(o for o in _as_tuple(func(*inputs)) if _float_or_complex(o))
    wanted = _numerical(lambda *xs: tuple(o for o in _as_tuple(func(*xs)) if _float_or_complex(o)),
                        inputs, cfg.eps, outputs, True)
    found = _analytical_forward(func, inputs, outputs)
    for i, row in enumerate(found):
        for o, a in enumerate(row):
            if not _close(a, wanted[i][o], cfg.rtol, cfg.atol):
                _mismatch(a, wanted[i][o], o, i, prefix, True)


# ---- fast mode: one random direction instead of the whole matrix
def _direction(x, generator):
    def real():
        v = torch.rand(x.shape, generator=generator, dtype=torch.float64)
        return v / (v * v).sum().sqrt() if v.numel() else v
    dtype = torch.float64 if x.dtype in (torch.float64, torch.complex128) else torch.float32
    return real().to(dtype), real().to(dtype) if x.is_complex() else None


def _directional(func, inputs, x, u, eps):
    def step_to(sign):
        x.data.copy_(x.data + sign * eps * u)
    return _central(func, inputs, x, step_to, eps)


def _slow_note(func, inputs, i, o, forward, cfg):
    filtered = _float_or_complex if forward else (lambda t: t.requires_grad)
    outputs = tuple(t for t in _as_tuple(func(*inputs)) if filtered(t))
    pick = lambda *xs: tuple(t for t in _as_tuple(func(*xs)) if filtered(t))
    targets = _diff_inputs(inputs)
    n = _numerical_of_input(pick, inputs, targets[i], cfg.eps, outputs, forward)[o]
    if forward:
        a = _analytical_forward(func, inputs, outputs)[i][o]
    else:
        a = _analytical_backward(outputs[o], targets, inputs)[0][i]
    difference = (n - a).abs().max().item() if n.numel() else 0.0
    note = _FAST_NOTE.format(space=" ", numerical=n, analytical=a, difference=difference)
    if _close(a, n, cfg.rtol, cfg.atol):
        note += ("\nThe test on all elements (slow mode) passed; the difference may come from the "
                 "tolerance of fast mode.\n")
    return note


def _fast_backward(func, inputs, cfg, prefix=""):
    outputs = _differentiable(func(*inputs))
    targets = _diff_inputs(inputs)
    gen = torch.Generator().manual_seed(0)
    us = [_direction(x, gen) for x in targets]
    vs = [_direction(o, gen)[0] for o in outputs]
    pick = lambda *xs: _differentiable(func(*xs))
    for i, (x, (ur, ui)) in enumerate(zip(targets, us)):
        by_real = _directional(pick, inputs, x, ur, cfg.eps)
        by_imaginary = _directional(pick, inputs, x, 1j * ui, cfg.eps) if ui is not None else None
        for o, (out, v) in enumerate(zip(outputs, vs)):
            n = (by_real[o] * v).sum()
            if by_imaginary is not None:
                n = n + 1j * (by_imaginary[o] * v).sum()
            a, size_ok, dtype_ok = _fast_analytical(out, x, v, ur, ui)
            b, _, _ = _fast_analytical(out, x, v, ur, ui)
            _check_size_dtype(size_ok, dtype_ok, cfg.check_grad_dtypes)
            # The tolerance is absolute for sums of random weights.
            if not _close(a, n, cfg.rtol, _fast_atol(cfg.atol, ur, ui, v)):
                _mismatch(_number(a), _number(n), o, i, prefix, False,
                          _slow_note(func, inputs, i, o, False, cfg))
            _check_nondet((a,), (b,), cfg.nondet_tol)


def _number(t):
    return t.item() if t.dim() == 0 else t


def _fast_atol(atol, ur, ui, v):
    total = ur.sum() if ui is None else ur.sum() + ui.sum()
    return atol * float(total * v.sum()) if ur.numel() and v.numel() else atol


def _fast_analytical(out, x, v, ur, ui):
    g, = torch.autograd.grad(out, x, v.to(out.dtype), retain_graph=True, allow_unused=True)
    if g is None:
        zero = torch.zeros((), dtype=x.dtype)
        return zero, True, True
    if g.size() != x.size():
        return torch.zeros((), dtype=x.dtype), False, g.dtype == x.dtype
    if ui is None:
        value = (g * ur).sum()
    else:
        value = (g.real * ur).sum() + 1j * (g.imag * ui).sum()
    return value, True, g.dtype == x.dtype


def _fast_forward(func, inputs, cfg, prefix=""):
    import torch.autograd.forward_ad as fwad
    gen = torch.Generator().manual_seed(0)
    pick = lambda *xs: tuple(o for o in _as_tuple(func(*xs)) if _float_or_complex(o))
    i = -1
    for k, x in enumerate(inputs):
        if not _is_diff_input(x):
            continue
        i += 1
        u, _ = _direction(x, gen)
        wanted = _directional(pick, inputs, x, u, cfg.eps)
        found = _push_forward(fwad, func, inputs, {k: u.to(x.dtype)})
        for o, (n, a) in enumerate(zip(wanted, found)):
            a = torch.zeros_like(n) if a is None else a
            if not _close(a, n, cfg.rtol, cfg.atol):
                _mismatch(a, n, o, i, prefix, True, _slow_note(func, inputs, i, o, True, cfg))


# ---- further properties
def _check_zero_numerically(func, inputs, outputs, eps):
    pick = lambda *xs: tuple(o for o in _as_tuple(func(*xs)) if _float_or_complex(o))
    outs = tuple(o for o in outputs if _float_or_complex(o))
    for row in _numerical(pick, inputs, eps, outs):
        for jac in row:
            if torch.ne(jac, 0).sum() > 0:
                raise GradcheckError("Numerical gradient for function expected to be zero")
    return True


def _check_scaled_by_cotangent(outputs, inputs, masked):
    targets = _diff_inputs(inputs)
    zeros = [torch.zeros_like(o, memory_format=torch.contiguous_format) for o in outputs]
    grads = torch.autograd.grad(outputs, targets, zeros, retain_graph=True, allow_unused=True)
    for g, x in zip(grads, targets):
        if g is None:
            continue
        if not g.eq(0).all():
            raise GradcheckError("backward not multiplied by grad_output")
        if g.device != x.device:
            raise GradcheckError("grad is incorrect device")
        if g.size() != x.size():
            raise GradcheckError("grad is incorrect size")


def _check_undefined(func, inputs):
    targets = _diff_inputs(inputs)

    def check(outs):
        zeros = [torch.zeros_like(o, memory_format=torch.contiguous_format) for o in outs]
        try:
            grads = torch.autograd.grad(outs, targets, zeros, allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please "
                'look at "Notes about undefined output gradients" in '
                '"tools/autograd/derivatives.yaml"'
            ) from error
        for g in grads:
            if g is not None and not g.eq(0).all():
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output "
                    'grads are undefined or zero. Please look at "Notes about '
                    'undefined output gradients" in '
                    '"tools/autograd/derivatives.yaml"'
                )

    undefined = torch._C._undefined_grad
    count = len(_differentiable(func(*inputs)))
    check([undefined(o) for o in _differentiable(func(*inputs))])
    if count > 1:
        for k in range(count):
            outs = _differentiable(func(*inputs))
            check([undefined(o) if j == k else o for j, o in enumerate(outs)])


def _check_batched(func, inputs, cfg):
    outputs = _differentiable(func(*inputs))
    targets = _diff_inputs(inputs)
    for o, out in enumerate(outputs):
        rows = [torch.randn_like(out) for _ in range(2)]
        one = [
            torch.autograd.grad(out, targets, r, retain_graph=True, allow_unused=True) for r in rows
        ]
        together = torch.autograd.grad(out, targets, torch.stack(rows), retain_graph=True,
                                       allow_unused=True, is_grads_batched=True)
        for i, got in enumerate(together):
            want = [r[i] for r in one]
            if got is None and all(w is None for w in want):
                continue
            want = torch.stack([torch.zeros_like(targets[i]) if w is None else w for w in want])
            if not torch.allclose(got, want, rtol=1e-5, atol=1e-6):
                raise GradcheckError(
                    f"For output {o} and input {i}, the gradients computed together "
                    "(is_grads_batched) differ from those computed one by one:\n"
                    f"Got:\n{got}\n\nExpected:\n{want}\n"
                )


def _check_batched_forward(func, inputs):
    import torch.autograd.forward_ad as fwad
    from torch.func import vmap
    for k, x in enumerate(inputs):
        if not _is_diff_input(x):
            continue
        rows = [torch.randn_like(x) for _ in range(2)]
        def jvp(t):
            return tuple(torch.zeros(()) if r is None else r
                         for r in _push_forward(fwad, func, inputs, {k: t}))
        want = [torch.stack(c) for c in zip(*(jvp(r) for r in rows))]
        for o, (got, w) in enumerate(zip(vmap(jvp)(torch.stack(rows)), want)):
            if not torch.allclose(got, w, rtol=1e-5, atol=1e-6):
                raise GradcheckError(
                    f"For output {o} and input {k}, batched forward gradients differ "
                    f"from those computed one by one:\nGot:\n{got}\n\nExpected:\n{w}\n"
                )


def _check_inputs(inputs):
    any_grad = False
    for i, x in enumerate(inputs):
        if not _is_diff_input(x):
            continue
        any_grad = True
        if x.dtype not in (torch.float64, torch.complex128):
            import warnings
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point "
                "or complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                stacklevel=4,
            )
        if any(st == 0 and sz > 1 for st, sz in zip(x.stride(), x.size())):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical "
                "gradients correctly. You should call .contiguous on the input before "
                "passing it to gradcheck."
            )
    if not any_grad:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of "
            "them have requires_grad=True."
        )
    for x in _diff_inputs(inputs):
        if not x.is_leaf:
            x.retain_grad()


def _run_backward_checks(func, inputs, cfg):
    one = _fast_backward if cfg.fast_mode else _slow_backward
    outputs = _differentiable(func(*inputs))
    if any(o.is_complex() for o in outputs):
        one(_of_outputs(func, torch.imag), inputs, cfg,
            "While considering the imaginary part of complex outputs only, ")
        one(_of_outputs(func, torch.real), inputs, cfg,
            "While considering the real part of complex outputs only, ")
    else:
        one(func, inputs, cfg)
    if cfg.check_batched_grad:
        _check_batched(func, inputs, cfg)
    _check_scaled_by_cotangent(_differentiable(func(*inputs)), inputs, cfg.masked)
    if cfg.check_undefined_grad:
        _check_undefined(func, inputs)


def _run_forward_checks(func, inputs, cfg):
    one = _fast_forward if cfg.fast_mode else _slow_forward
    if any(isinstance(x, torch.Tensor) and x.is_complex() for x in inputs):
        f, parts = _of_inputs(func, inputs, True)
        one(f, parts, cfg, "While considering the imaginary part of complex inputs only, ")
        f, parts = _of_inputs(func, inputs, False)
        one(f, parts, cfg, "While considering the real part of complex inputs only, ")
    else:
        one(func, inputs, cfg)
    if cfg.check_batched_forward_grad:
        _check_batched_forward(func, inputs)


def _gradcheck(func, inputs, cfg):
    inputs = _as_tuple(inputs)
    _check_inputs(inputs)
    outputs = _as_tuple(func(*inputs))
    if not _differentiable(outputs):
        return _check_zero_numerically(func, inputs, outputs, cfg.eps)
    if cfg.check_forward_ad:
        _run_forward_checks(func, inputs, cfg)
    if cfg.check_backward_ad:
        _run_backward_checks(func, inputs, cfg)
    return True


def _of_strided(func, inputs, masked):
    """Functions of sparse tensors are checked as functions of their elements."""
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if all(not isinstance(x, torch.Tensor) or x.layout is torch.strided for x in given):
        return func, inputs
    from torch.sparse._gradcheck import dense_problem

    return dense_problem(func, inputs, bool(masked))


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
              check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True,
              fast_mode=False, masked=None):
    """Compare gradients of `func` at `inputs` with finite differences.

    Args:
        func (callable): tensors to a tensor or a tuple of tensors.
        inputs (tuple of Tensor, or Tensor): those that require gradients are checked; they should
            be float64 or complex128.
        eps (float): half the width of the differences.
        atol, rtol (float): tolerances.
        raise_exception (bool): an error says what is wrong; else the result is False.
        nondet_tol (float): how far two runs of backward may differ.
        check_undefined_grad (bool): also with gradients of outputs that are not there.
        check_grad_dtypes (bool): gradients have the dtype of their inputs.
        check_batched_grad (bool): also with ``is_grads_batched``.
        check_batched_forward_grad (bool): also forward mode under vmap.
        check_forward_ad, check_backward_ad (bool): which modes are checked.
        fast_mode (bool): one random direction instead of whole Jacobians.
        masked (bool): for sparse inputs only.

    Returns:
        bool: True if all agree.

    Raises:
        GradcheckError: a Jacobian differs, with both of them.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be " "True"
        )
    func, inputs = _of_strided(func, inputs, masked)
    cfg = _Config(**{k: v for k, v in locals().items() if k not in ("func", "inputs")})
    if not raise_exception:
        try:
            return _gradcheck(func, inputs, cfg)
        except GradcheckError:
            return False
    return _gradcheck(func, inputs, cfg)


def _random_cotangents(func, inputs, non_contiguous):
    outs = _differentiable(func(*inputs))
    result = []
    for o in outs:
        dtype = o.dtype if o.is_floating_point() or o.is_complex() else torch.double
        if non_contiguous and o.numel() > 1:
            g = torch.randn((*o.shape, 2), dtype=dtype, device=o.device)[..., 0].detach()
        else:
            g = torch.randn(o.shape, dtype=dtype, device=o.device)
        result.append(g.requires_grad_(True))
    return tuple(result)


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3,
                  gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0,
                  check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
                  check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False):
    """:func:`gradcheck` of the gradients of `func`, as functions of `inputs` and of `grad_outputs`
    (random ones by default).

    Args:
        grad_outputs (tuple of Tensor): the vectors of the vector-Jacobian products.
        gen_non_contig_grad_outputs (bool): random ones are not contiguous.
        check_fwd_over_rev, check_rev_over_rev (bool): by which mode gradients are differentiated.
        the rest: as in :func:`gradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be " "True"
        )
    func, inputs = _of_strided(func, _as_tuple(inputs), masked)
    if not _diff_inputs(inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of "
            "them have requires_grad=True."
        )
    if grad_outputs is None:
        cotangents = _random_cotangents(func, inputs, gen_non_contig_grad_outputs)
    else:
        cotangents = _as_tuple(grad_outputs)
    count = len(cotangents)
    asked = [i for i, x in enumerate(inputs) if _is_diff_input(x)]

    def gradient(*args):
        xs, gs = args[:-count], args[-count:]
        outs = _differentiable(func(*xs))
        targets = tuple(xs[i] for i in asked if xs[i].requires_grad)
        grads = torch.autograd.grad(outs, targets, gs, create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    return gradcheck(gradient, inputs + cotangents, eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
                     check_batched_grad=check_batched_grad, fast_mode=fast_mode,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
                     masked=masked)


# ---- old entry points
def _deprecated(name):
    import warnings
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
        "deprecating it and it will be removed in a future version of PyTorch. If you have a "
        "specific use for this or feature request for this to be a stable API, please file "
        "us an issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )


def get_numerical_jacobian(fn, inputs, target=None, eps=1e-3, grad_out=1.0):
    """Deprecated. Jacobians of ``fn(inputs)`` (one output) by every input, from differences."""
    _deprecated("get_numerical_jacobian")
    if grad_out != 1.0:
        raise ValueError(
            "Expected grad_out to be 1.0. get_numerical_jacobian no longer supports values "
            "of grad_out != 1.0."
        )
    xs = _as_tuple(inputs)
    call = lambda *args: _as_tuple(fn(args))
    return tuple(_numerical_of_input(call, xs, x, eps, call(*xs))[0]
                 for x in _diff_inputs(_as_tuple(target if target is not None else xs)))


def get_numerical_jacobian_wrt_specific_input(fn, input_idx, inputs, outputs, eps, input=None,
                                              is_forward_ad=False):
    """Jacobians of all `outputs` by one input, from differences."""
    xs = _as_tuple(inputs)
    x = xs[input_idx] if input is None else input
    return tuple(
        _numerical_of_input(lambda *a: _as_tuple(fn(*a)), xs, x, eps, outputs, is_forward_ad)
    )


def get_analytical_jacobian(inputs, output, nondet_tol=0.0, grad_out=1.0):
    """Deprecated. ``(jacobians, reentrant, sizes are right, dtypes are right)`` of one output."""
    _deprecated("get_analytical_jacobian")
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_analytical_jacobian no longer supports "
                         "values of grad_out != 1.0.")
    if output.is_complex():
        raise ValueError(
            "Expected output to be non-complex. get_analytical_jacobian no longer supports "
            "functions that return complex outputs."
        )
    targets = _diff_inputs(_as_tuple(inputs))
    first, size_ok, dtype_ok = _analytical_backward(output, targets, None)
    second, _, _ = _analytical_backward(output, targets, None)
    same = all(not a.numel() or (a - b).abs().max() <= nondet_tol for a, b in zip(first, second))
    return tuple(first), bool(same), size_ok, dtype_ok


# The submodule has the name of its function: torch.autograd.gradcheck(...) works however it was
# imported.
class _CallableModule(types.ModuleType):
    def __call__(self, *args, **kwargs):
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
