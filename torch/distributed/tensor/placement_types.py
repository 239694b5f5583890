"""How a tensor lies on one dimension of a device mesh."""


class Placement:
    """Base of the placements."""

    def is_shard(self, dim=None):
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self):
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None):
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)

    def _key(self):
        return ()

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self):
        return hash((type(self), self._key()))


class Shard(Placement):
    """Every device has a piece of dimension `dim`."""

    def __init__(self, dim):
        self.dim = dim

    def _key(self):
        return self.dim

    def __repr__(self):
        return f"Shard(dim={self.dim})"

    def __str__(self):
        return f"S({self.dim})"


class Replicate(Placement):
    """Every device has the whole tensor."""

    def __repr__(self):
        return "Replicate()"

    def __str__(self):
        return "R"


class Partial(Placement):
    """Every device has a term; the tensor is their reduction."""

    def __init__(self, reduce_op="sum"):
        self.reduce_op = reduce_op

    def _key(self):
        return self.reduce_op

    def __repr__(self):
        return f"Partial({self.reduce_op})"

    def __str__(self):
        return f"P({self.reduce_op})"


__all__ = ["Placement", "Shard", "Replicate", "Partial"]
