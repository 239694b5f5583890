"""rearrange: reorders, splits and joins dimensions by a pattern of names."""

__all__ = ["rearrange"]


def _parse(side):
    """A list of groups of names; "..." stands alone."""
    groups, inside = [], None
    for token in side.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            if inside is not None:
                raise ValueError(f"Invalid pattern: nested parentheses in {side!r}")
            inside = []
        elif token == ")":
            if inside is None:
                raise ValueError(f"Invalid pattern: unbalanced parentheses in {side!r}")
            groups.append(inside)
            inside = None
        elif inside is None:
            groups.append([] if token == "1" else [token])
        elif token != "1":
            inside.append(token)
    if inside is not None:
        raise ValueError(f"Invalid pattern: unbalanced parentheses in {side!r}")
    return groups


def _expand(groups, rank, names):
    """Replaces the ellipsis by as many anonymous names as there are dimensions left."""
    if ["..."] not in groups:
        return groups
    at = groups.index(["..."])
    if names is None:
        names = [f".{i}" for i in range(rank - len(groups) + 1)]
    return groups[:at] + [[n] for n in names] + groups[at + 1:]


def _lengths(left, shape, given):
    lengths = dict(given)
    for group, size in zip(left, shape):
        known, unknown = 1, None
        for n in group:
            if n in lengths:
                known *= lengths[n]
            elif unknown is not None:
                raise ValueError(f"Could not infer the sizes of {unknown!r} and {n!r}")
            else:
                unknown = n
        if unknown is not None:
            if known == 0 or size % known:
                raise ValueError(f"Shape mismatch, can't divide axis of length {size} in chunks of "
                                 f"{known}")
            lengths[unknown] = size // known
        elif known != size:
            raise ValueError(f"Shape mismatch, {size} != {known}")
    return lengths


def rearrange(tensor, pattern, **axes_lengths):
    """The tensor with its dimensions named on the left of ``->`` arranged as on the right.

    Args:
        tensor (Tensor, or sequence of Tensor, which is stacked first): what is rearranged.
        pattern (str): such as ``"b (h w) c -> b c h w"``; parentheses join, ``...`` stands for the
            rest, ``1`` for a dimension of size 1.
        axes_lengths: sizes that cannot be inferred.
    """
    import torch
    if not isinstance(tensor, torch.Tensor):
        tensor = torch.stack(list(tensor))
    if pattern.count("->") != 1:
        raise ValueError(f"Invalid pattern {pattern!r}: expected one '->'")
    left_text, right_text = pattern.split("->")
    left = _expand(_parse(left_text), tensor.dim(), None)
    if len(left) != tensor.dim():
        raise ValueError(f"Number of dimensions in pattern ({len(left)}) and tensor "
                         f"({tensor.dim()}) "
                         "do not match")
    dots = [g[0] for g in left if g and g[0].startswith(".")]
    right = _expand(_parse(right_text), 0, dots)
    flat_left = [n for g in left for n in g]
    flat_right = [n for g in right for n in g]
    if sorted(flat_left) != sorted(flat_right) or len(set(flat_left)) != len(flat_left):
        raise ValueError(f"Invalid pattern {pattern!r}: both sides need the same names, once each")
    lengths = _lengths(left, tensor.shape, axes_lengths)
    split = tensor.reshape([lengths[n] for n in flat_left])
    moved = split.permute([flat_left.index(n) for n in flat_right])
    sizes = []
    for group in right:
        size = 1
        for n in group:
            size *= lengths[n]
        sizes.append(size)
    return moved.reshape(sizes)
