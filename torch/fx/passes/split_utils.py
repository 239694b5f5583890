"""`split_by_tags`: cuts a graph by an attribute `tag` of its nodes."""

from torch.fx._compatibility import compatibility
from torch.fx.passes.split_module import split_module

__all__ = ["getattr_recursive", "setattr_recursive", "split_by_tags"]


@compatibility(is_backward_compatible=False)
def getattr_recursive(obj, name):
    """The attribute of a dotted path, None where a part is missing."""
    for part in name.split("."):
        obj = getattr(obj, part, None)
    return obj


@compatibility(is_backward_compatible=False)
def setattr_recursive(obj, attr, value):
    """Sets the attribute of a dotted path."""
    *path, last = attr.split(".")
    for part in path:
        obj = getattr(obj, part)
    setattr(obj, last, value)


@compatibility(is_backward_compatible=False)
def split_by_tags(gm, tags, return_fqn_mapping=False, return_tuple=False):
    """A module with one submodule for each tag, in the order of `tags`, named by it."""
    if return_tuple or return_fqn_mapping:
        raise NotImplementedError("split_by_tags with return_tuple or return_fqn_mapping is not "
                                  "implemented")
    number = {tag: i for i, tag in enumerate(tags)}
    result = split_module(gm, gm, lambda node: number[node.tag])
    for i, tag in enumerate(tags):
        old = f"submod_{i}"
        if not hasattr(result, old):
            continue
        result.add_module(tag, getattr(result, old))
        delattr(result, old)
        for node in result.graph.find_nodes(op="call_module", target=old):
            node.target = tag
            node.name = tag
    result.recompile()
    return result
