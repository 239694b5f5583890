"""Batching: what lets vmap run a function once on whole batches.

Inside vmap a tensor that differs between examples is seen as one example: an alias of the first
one, marked in the core so that no kernel reads it, whose attribute `_vmap` holds the tensor of all
examples (batch dimension first) and the level, the running vmap, it belongs to. A mode of the core
hands every primitive operator here; a rule of _batching_rules.py applies it to the whole batch,
and operators without one run example by example. Composites run their bodies under the mode, and
autograd works on the whole batches underneath, so derivatives nest in either order.
"""

import torch
from torch import _C

levels = []  # running vmaps of this process, outermost first


class NotBatchable(Exception):
    """The function cannot run on whole batches: vmap runs it example by example instead."""


class Level:
    """One running vmap."""

    def __init__(self, size, randomness):
        self.size, self.randomness = size, randomness

    def __enter__(self):
        from torch.func._batching_rules import run

        levels.append(self)
        _C._push_mode(lambda handle, name, overload, args: run(self, handle, name, args), True)
        return self

    def __exit__(self, *error):
        _C._pop_mode()
        levels.remove(self)

    def wrap(self, value):
        """One example of `value`, whose first dimension is the batch."""
        deeper = getattr(value, "_vmap", None)
        if deeper is not None and depth(deeper[1]) > depth(self):
            inner, level = deeper
            return level.wrap(self.wrap(inner.movedim(1, 0)))
        with torch.set_grad_enabled(value.requires_grad or torch.is_grad_enabled()):
            example = value.select(0, 0)
        _C._mark_batched(example)
        example._vmap = (value, self)
        return example

    def has(self, t):
        batch = getattr(t, "_vmap", None)
        return batch is not None and batch[1] is self

    def value(self, t):
        """All examples of t, which may be the same for all."""
        if self.has(t):
            return t._vmap[0]
        return t.unsqueeze(0).expand(self.size, *t.shape)


def depth(level):
    return levels.index(level) if level in levels else -1


def is_batched(t):
    return isinstance(t, torch.Tensor) and getattr(t, "_vmap", None) is not None


# ---- derivatives inside vmap
def base_of(t):
    """The tensor of all examples of all levels under t."""
    while is_batched(t):
        t = t._vmap[0]
    return t


def leaf(t):
    """(alias, base): an alias of t that requires gradients, different for every example even if t
    is not, so that each example has a gradient of its own."""
    base = t
    for level in reversed(levels):
        base = level.value(base)
    with torch.no_grad():
        base = base.view_as(base)
    base.requires_grad_()
    return rewrap(base, levels), base


def everywhere(t):
    """An alias of t that differs between the examples of every level, connected to t."""
    base = t
    for level in reversed(levels):
        base = level.value(base)
    return rewrap(base.view_as(base), levels)


def rewrap(base, over):
    for level in over:
        base = level.wrap(base)
    return base


def chain(t):
    """Levels of t, outermost first."""
    out = []
    while is_batched(t):
        t, level = t._vmap
        out.append(level)
    return out[::-1]


def match(cotangent, output):
    """A cotangent of `output` as one of the tensor of all its examples."""
    while is_batched(output):
        output, level = output._vmap
        if not level.has(cotangent) and level in chain(cotangent):
            raise NotBatchable("a cotangent batched at an outer level only")
        cotangent = level.value(cotangent)
    return cotangent


def grad(outputs, inputs, cotangents, **options):
    """torch.autograd.grad where some of the tensors belong to running vmaps."""
    bases = [base_of(x) for x in inputs]
    roots, seeds = [], []
    for o, c in zip(outputs, cotangents):
        root = base_of(o)
        if c is None:
            if o.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            c = torch.ones_like(root)
        else:
            c = match(c, o)
        roots.append(root)
        seeds.append(c)
    found = torch.autograd.grad(roots, bases, seeds, **options)
    return tuple(None if g is None else rewrap(g, chain(x)) for g, x in zip(found, inputs))
