"""Jacobians, Hessians and their products with vectors, of functions of tensors."""
import torch

__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]


# ---- arguments
def _as_tuple(x, what, fn_name):
    single = not isinstance(x, tuple)
    xs = (x,) if single else x
    for i, el in enumerate(xs):
        if not isinstance(el, torch.Tensor):
            if single:
                raise TypeError(
                    f"The {what} given to {fn_name} must be either a Tensor or a tuple of "
                    f"Tensors but the given {what} has type {type(el)}."
                )
            raise TypeError(f"The {what} given to {fn_name} must be either a Tensor or a tuple of "
                            f"Tensors but the value at index {i} of the given {what} has type "
                            f"{type(el)}.")
    return not single, xs


def _leaves(inputs, create_graph, need_graph):
    """Copies of the inputs to differentiate by; with `create_graph` still connected to them."""
    out = []
    for x in inputs:
        if create_graph and x.requires_grad:
            out.append(x.view_as(x))
        else:
            out.append(x.detach().requires_grad_(need_graph))
    return tuple(out)


def _finish(x, create_graph):
    """Results without a graph unless one was asked for."""
    if isinstance(x, tuple):
        return tuple(_finish(el, create_graph) for el in x)
    return x if create_graph else x.detach()


def _untuple(was_tuple, xs):
    return xs if was_tuple else xs[0]


def _check_vectors(v, other, is_other_tuple):
    if len(v) != len(other):
        if is_other_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got "
                               f"{len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (a, b) in enumerate(zip(v, other)):
        if a.size() != b.size():
            at = f"Entry {i} in " if is_other_tuple else ""
            raise RuntimeError(f"{at}v has invalid size: should be {b.size()} but got {a.size()}.")


def _check_outputs(outputs, strict, needed=True):
    if not strict:
        return
    for i, out in enumerate(outputs):
        if not out.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. "
                "The outputs must be computed in a differentiable manner from the input "
                "when running in strict mode."
            )


def _fill(grads, refs, strict, stage, create_graph, index=None):
    """Zeros for gradients that are not there; an error in strict mode, which says where."""
    where = {
        "back": "Output {}is independent of input {}. This is not allowed in strict mode.",
        "back_trick": "The gradient with respect to the input {1} is independent of "
        "entry {0}in the "
        "grad_outputs when using the double backward trick to compute forward mode "
        "gradients. This is not allowed in strict mode.",
        "double_back": "The jacobian of the user-provided function is independent of "
        "input {1}. This "
        "is not allowed in strict mode.",
        "double_back_trick": "The hessian of the user-provided function is independent "
        "of entry {1} "
        "in the grad_jacobian. This is not allowed in strict mode as it prevents "
        "from using the double backward trick to replace forward mode AD.",
    }
    out = []
    for i, g in enumerate(grads):
        if g is None:
            if strict:
                at = "" if index is None else f"{index} of the user-provided function "
                raise RuntimeError(where[stage].format(at, i))
            g = torch.zeros_like(refs[i])
        elif strict and create_graph and not g.requires_grad:
            if "double" not in stage:
                raise RuntimeError(
                    "The jacobian of the user-provided function is independent of input "
                    f"{i}. This is not allowed in strict mode when create_graph=True."
                )
            raise RuntimeError("The hessian of the user-provided function is independent of input "
                               f"{i}. This is not allowed in strict mode when create_graph=True.")
        out.append(g)
    return tuple(out)


def _grad(outputs, inputs, grad_outputs=None, create_graph=False, retain_graph=None):
    """autograd.grad that skips outputs without a graph; ``None`` where nothing flows."""
    if grad_outputs is None:
        grad_outputs = (None,) * len(outputs)
    kept = [(o, g) for o, g in zip(outputs, grad_outputs) if o is not None and o.requires_grad]
    if not kept:
        return (None,) * len(inputs)
    outs, gs = zip(*kept)
    return torch.autograd.grad(outs, inputs, gs, allow_unused=True, create_graph=create_graph,
                               retain_graph=retain_graph)


def _needs_graph(create_graph):
    return create_graph or None


# ---- products
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs of `func` at `inputs`, and ``v^T J``.

    Args:
        func (callable): tensors to a tensor or a tuple of tensors.
        inputs (tuple of Tensor, or Tensor): arguments of `func`.
        v (tuple of Tensor, or Tensor): of the outputs' sizes; may be left out for one element.
        create_graph (bool): the results can be differentiated again.
        strict (bool): an error where an output does not depend on an input, instead of zeros.

    Returns:
        (outputs, product): the product has the structure of `inputs`.
    """
    with torch.enable_grad():
        many, inputs = _as_tuple(inputs, "inputs", "vjp")
        inputs = _leaves(inputs, create_graph, True)
        outputs = func(*inputs)
        many_out, outputs = _as_tuple(outputs, "outputs of the user-provided function", "vjp")
        _check_outputs(outputs, strict)
        if v is not None:
            _, v = _as_tuple(v, "v", "vjp")
            v = _leaves(v, create_graph, False)
            _check_vectors(v, outputs, many_out)
        elif len(outputs) != 1 or outputs[0].nelement() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a "
                "single Tensor with a single element."
            )
    with torch.set_grad_enabled(create_graph or torch.is_grad_enabled()):
        grads = _grad(outputs, inputs, v, create_graph=create_graph)
        result = _fill(grads, inputs, strict, "back", create_graph)
    return (_untuple(many_out, _finish(outputs, create_graph)),
            _untuple(many, _finish(result, create_graph)))


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs of `func` at `inputs`, and ``J v``. Arguments as in :func:`vjp`; `v` has the
    sizes of the inputs. It differentiates ``u^T J``, which is linear in u, by u."""
    with torch.enable_grad():
        many, inputs = _as_tuple(inputs, "inputs", "jvp")
        inputs = _leaves(inputs, create_graph, True)
        if v is not None:
            _, v = _as_tuple(v, "v", "jvp")
            v = _leaves(v, create_graph, False)
            _check_vectors(v, inputs, many)
        elif len(inputs) != 1 or inputs[0].nelement() != 1:
            raise RuntimeError("The vector v can only be None if the input to the user-provided "
                               "function is a single Tensor with a single element.")
        outputs = func(*inputs)
        many_out, outputs = _as_tuple(outputs, "outputs of the user-provided function", "jvp")
        _check_outputs(outputs, strict)
        u = tuple(torch.zeros_like(o, requires_grad=True) for o in outputs)
        grads = _grad(outputs, inputs, u, create_graph=True)
        grads = _fill(grads, inputs, strict, "back", True)
    if create_graph:
        with torch.enable_grad():
            result = _grad(grads, u, _ones(v, inputs), create_graph=True)
            result = _fill(result, outputs, strict, "back_trick", True)
    else:
        result = _grad(grads, u, _ones(v, inputs), create_graph=False)
        result = _fill(result, outputs, strict, "back_trick", False)
    return (_untuple(many_out, _finish(outputs, create_graph)),
            _untuple(many_out, _finish(result, create_graph)))


def _ones(v, like):
    return v if v is not None else tuple(torch.ones_like(x) for x in like)


# ---- matrices
def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False,
             strategy="reverse-mode"):
    """All partial derivatives of `func` at `inputs`.

    Args:
        func, inputs, create_graph, strict: as in :func:`vjp`.
        vectorize (bool): allows several rows at once; the result is the same.
        strategy (str): ``"reverse-mode"``, or ``"forward-mode"`` (with `vectorize`), which computes
            columns.

    Returns:
        For one output and one input a tensor of sizes ``output.size() + input.size()``; for several
        of either, tuples of them: ``result[output][input]``.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If '
            'your function has more outputs than inputs, "forward-mode" tends to be '
            'more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError("torch.autograd.functional.jacobian: `create_graph=True` and "
                                      '`strategy="forward-mode"` are not supported together (yet). '
                                      "Please either set `create_graph=False` or "
                                      '`strategy="reverse-mode"`.')
        if strict:
            raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and "
                               '`strategy="forward-mode"` are not supported together (yet). Please '
                               'either set `strict=False` or `strategy="reverse-mode"`.')
        if not vectorize:
            raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse "
                                      "Hessian is only implemented for `vectorize=True`.")
        return _jacobian_forward(func, inputs)
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are "
            "not supported together. Please either set `strict=False` or "
            "`vectorize=False`."
        )
    with torch.enable_grad():
        many, inputs = _as_tuple(inputs, "inputs", "jacobian")
        inputs = _leaves(inputs, create_graph, True)
        outputs = func(*inputs)
        many_out, outputs = _as_tuple(outputs, "outputs of the user-provided function", "jacobian")
        _check_outputs(outputs, strict)
        rows = tuple(_jacobian_of(out, i, inputs, create_graph, strict)
                     for i, out in enumerate(outputs))
    rows = _finish(rows, create_graph)
    return _untuple(many_out, tuple(_untuple(many, r) for r in rows))


def _jacobian_of(out, index, inputs, create_graph, strict):
    """The Jacobians of one output by every input, one row after the other."""
    columns = tuple([] for _ in inputs)
    flat = out.reshape(-1)
    for j in range(out.nelement()):
        grads = _grad((flat[j],), inputs, create_graph=create_graph, retain_graph=True)
        for i, (column, g, x) in enumerate(zip(columns, grads, inputs)):
            if g is not None:
                if strict and create_graph and not g.requires_grad:
                    raise RuntimeError(
                        "The jacobian of the user-provided function is independent of "
                        f"input {i}. This is not allowed in strict mode when "
                        "create_graph=True."
                    )
                column.append(g)
                continue
            if strict:
                raise RuntimeError(
                    f"Output {index} of the user-provided function is independent of "
                    f"input {i}. This is not allowed in strict mode."
                )
            column.append(torch.zeros_like(x))
    return tuple(torch.stack(c).view(out.size() + x.size()) if c
                 else x.new_zeros(out.size() + x.size()) for c, x in zip(columns, inputs))


def _jacobian_forward(func, inputs):
    import torch.autograd.forward_ad as fwad
    many, inputs = _as_tuple(inputs, "inputs", "jacobian")
    per_input, many_out = [], False
    for i, x in enumerate(inputs):
        columns = []
        for j in range(x.nelement()):
            with fwad.dual_level():
                tangent = torch.zeros_like(x).reshape(-1)
                tangent[j] = 1
                args = tuple(
                    fwad.make_dual(y.detach(), tangent.view(x.size())) if k == i else y.detach()
                    for k, y in enumerate(inputs)
                )
                many_out, outs = _as_tuple(func(*args), "outputs of the user-provided function",
                                           "jacobian")
                pairs = [fwad.unpack_dual(o) for o in outs]
            columns.append([torch.zeros_like(p.primal) if p.tangent is None else p.tangent
                            for p in pairs])
        per_input.append([torch.stack(c, -1).view(c[0].size() + x.size()) for c in zip(*columns)])
    rows = tuple(tuple(p[o] for p in per_input) for o in range(len(per_input[0])))
    return _untuple(many_out, tuple(_untuple(many, r) for r in rows))


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    """All second derivatives of a function with one result of one element.

    Arguments as in :func:`jacobian`. Returns a tensor for one input, for several a tuple of tuples:
    ``result[i][j]`` has the sizes of input i followed by those of input j.
    """
    many, inputs = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*xs):
        out = func(*xs)
        many_out, outs = _as_tuple(out, "outputs of the user-provided function", "hessian")
        _check_outputs(outs, strict)
        if many_out or not isinstance(out, torch.Tensor):
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if out.nelement() != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should contain a "
                "single element"
            )
        return out.squeeze()

    def gradient(*xs):
        if outer_jacobian_strategy == "forward-mode":
            xs = tuple(x.requires_grad_(True) for x in xs)
        grads = jacobian(scalar, xs, create_graph=True)
        _check_gradients(grads, strict)
        return grads

    result = jacobian(gradient, inputs, create_graph=create_graph, strict=strict,
                      vectorize=vectorize, strategy=outer_jacobian_strategy)
    return result if many else result[0][0]


def _check_gradients(grads, strict):
    if not strict:
        return
    for i, g in enumerate(grads):
        if not g.requires_grad:
            raise RuntimeError(
                "The jacobian of the user-provided function with respect to input "
                f"{i} is independent of the input. This is not allowed in strict mode. "
                "You should ensure that your function is thrice differentiable and that "
                "the hessian depends on the inputs."
            )


def _scalar_output(func, inputs, name, strict):
    outputs = func(*inputs)
    many_out, outputs = _as_tuple(outputs, "outputs of the user-provided function", name)
    _check_outputs(outputs, strict)
    if many_out or len(outputs) != 1:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].nelement() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a "
                           "single element")
    return many_out, outputs


def _vector(v, inputs, many, name, create_graph):
    if v is not None:
        _, v = _as_tuple(v, "v", name)
        v = _leaves(v, create_graph, False)
        _check_vectors(v, inputs, many)
        return v
    if len(inputs) != 1 or inputs[0].nelement() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function "
            "is a single Tensor with a single element."
        )
    return tuple(torch.ones_like(x) for x in inputs)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of a scalar function, and ``v^T H``. Arguments as in :func:`vjp`; `v` has the
    sizes of the inputs."""
    with torch.enable_grad():
        many, inputs = _as_tuple(inputs, "inputs", "vhp")
        inputs = _leaves(inputs, create_graph, True)
        v = _vector(v, inputs, many, "vhp", create_graph)
        many_out, outputs = _scalar_output(func, inputs, "vhp", strict)
        jac = _fill(_grad(outputs, inputs, create_graph=True), inputs, strict, "back", True)
    with torch.set_grad_enabled(create_graph or torch.is_grad_enabled()):
        result = _grad(jac, inputs, v, create_graph=create_graph)
        result = _fill(result, inputs, strict, "double_back", create_graph)
    return (_untuple(many_out, _finish(outputs, create_graph)),
            _untuple(many, _finish(result, create_graph)))


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of a scalar function, and ``H v``. Arguments as in :func:`vhp`, which is faster
    where the Hessian is symmetric."""
    with torch.enable_grad():
        many, inputs = _as_tuple(inputs, "inputs", "hvp")
        inputs = _leaves(inputs, create_graph, True)
        v = _vector(v, inputs, many, "hvp", create_graph)
        many_out, outputs = _scalar_output(func, inputs, "hvp", strict)
        jac = _fill(_grad(outputs, inputs, create_graph=True), inputs, strict, "back", True)
        u = tuple(torch.zeros_like(x, requires_grad=True) for x in inputs)
        double = _fill(
            _grad(jac, inputs, u, create_graph=True), inputs, strict, "double_back", True
        )
    with torch.set_grad_enabled(create_graph or torch.is_grad_enabled()):
        result = _grad(double, u, v, create_graph=create_graph)
        result = _fill(result, inputs, strict, "double_back_trick", create_graph)
    return (_untuple(many_out, _finish(outputs, create_graph)),
            _untuple(many, _finish(result, create_graph)))
