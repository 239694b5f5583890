"""Calls of a module with other parameters than its own."""
from __future__ import annotations

import contextlib

from torch import Tensor

__all__ = ["functional_call"]

_ABSENT = object()


def _tied_names(module):
    """name -> the set of all names of the same tensor, for tensors with several names."""
    names_of = {}
    for source in (module.named_parameters(remove_duplicate=False),
                   module.named_buffers(remove_duplicate=False)):
        for name, tensor in source:
            names_of.setdefault(id(tensor), set()).add(name)
    return {name: names for names in names_of.values() if len(names) > 1 for name in names}


def _untie(module, replacements, strict):
    """`replacements` with each value under all names of its tensor."""
    given = set(replacements)
    known = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    known |= {name for name, _ in module.named_buffers(remove_duplicate=False)}
    if strict:
        missing = known - given
        unexpected = given - known
        tied = _tied_names(module)
        missing = {name for name in missing if not tied.get(name, set()) & given}
        if missing or unexpected:
            parts = []
            if unexpected:
                parts.append("Unexpected key(s): "
                             + ", ".join(f"'{n}'" for n in sorted(unexpected)) + ".")
            if missing:
                parts.append("Missing key(s): "
                             + ", ".join(f"'{n}'" for n in sorted(missing)) + ".")
            raise RuntimeError("Error(s) in reparametrizing for "
                               f"{module._get_name()}:\n\t" + "\n\t".join(parts))
    result = dict(replacements)
    for name, names in _tied_names(module).items():
        values = {id(replacements[n]): replacements[n] for n in names & given}
        if len(values) > 1:
            raise ValueError(
                "functional_call got multiple values for keys "
                f"{sorted(names & given)}, which are tied. Consider using tie_weights=False")
        for value in values.values():
            result[name] = value
    return result


def _owner_of(module, path):
    prefix, _, name = path.rpartition(".")
    return module.get_submodule(prefix), name


def _swap(owner, name, value):
    """Put `value` in the place of the tensor `name` of `owner`; returns what stood there."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{value} is not an instance of torch.Tensor")
    for place in (owner._parameters, owner._buffers):
        if name in place:
            old = place[name]
            place[name] = value
            return old
    # A plain attribute, such as what a weight-norm hook set, or one that is not there yet.
    old = getattr(owner, name, _ABSENT)
    if old is not _ABSENT and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    setattr(owner, name, value)
    return old


def _put_back(owner, name, old):
    """Undo `_swap`; returns the tensor that stood there in between."""
    for place in (owner._parameters, owner._buffers):
        if name in place:
            present = place[name]
            place[name] = old
            return present
    present = getattr(owner, name)
    if old is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, old)
    return present


@contextlib.contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False,
                          stack_weights=False):
    """Within it the named tensors of `module` are replaced."""
    if tie_weights:
        replacements = _untie(module, parameters_and_buffers, strict)
    else:
        replacements = dict(parameters_and_buffers)
    saved = []
    try:
        for path, value in replacements.items():
            owner, name = _owner_of(module, path)
            saved.append((path, owner, name, _swap(owner, name, value)))
        yield
    finally:
        for path, owner, name, old in reversed(saved):
            present = _put_back(owner, name, old)
            # What forward assigned to buffers reaches the caller's dictionary this way.
            if path in parameters_and_buffers:
                parameters_and_buffers[path] = present


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *,
                    tie_weights=True, strict=False):
    """Deprecated; use ``torch.func.functional_call``, which has the same arguments."""
    import warnings
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will "
        "be removed in a future version of PyTorch. Please use `torch.func.functional_call` "
        "instead which is a drop-in replacement.", FutureWarning, stacklevel=2)
    return _functional_call(module, parameters_and_buffers, args, kwargs,
                            tie_weights=tie_weights, strict=strict)


def _functional_call(module, parameters_and_buffers, args=None, kwargs=None, *,
                     tie_weights=True, strict=False):
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    if kwargs is None:
        kwargs = {}
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights,
                               strict=strict):
        return module(*args, **kwargs)
