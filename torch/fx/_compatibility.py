"""Marks of the parts of torch.fx whose interface is promised to stay."""

import textwrap

_BACK_COMPAT_OBJECTS = {}
_MARKED_WITH_COMPATIBILITY = {}


def compatibility(is_backward_compatible):
    """A decorator that notes in a class's or function's docstring how stable it is."""
    note = (
        "Backwards-compatibility for this API is guaranteed." if is_backward_compatible else
        "This API is experimental and is *NOT* backward-compatible."
    )

    def mark(fn):
        doc = textwrap.dedent(getattr(fn, "__doc__", None) or "")
        fn.__doc__ = f"{doc}\n.. note::\n    {note}\n"
        _MARKED_WITH_COMPATIBILITY.setdefault(fn)
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(fn)
        return fn

    return mark
