"""Taking the leaves out of containers whose shape is known: what generated code calls."""

from collections import namedtuple

from torch.utils import _pytree as pytree

SUPPORTED_NODES = {}
SUPPORTED_NODES_EXACT_MATCH = {}


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    """``flatten_fn_spec(x, spec)`` lists the children of `x`, an instance of `cls`.

    The other function says whether `x` has no more children than `spec`.
    """
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls):
    del SUPPORTED_NODES[cls], SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree_, spec):
    """The leaves of a tree of the shape `spec`. RuntimeError for a kind that is not registered."""
    if spec.is_leaf():
        return [pytree_]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(
            f"{type(pytree_)} does not have a flatten_fn_spec associated with it. Please register "
            "one with torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your "
            "model, make sure that any custom pytrees have been registered before loading it."
        )
    leaves = []
    for child, child_spec in zip(SUPPORTED_NODES[spec.type](pytree_, spec), spec.children()):
        leaves.extend(tree_flatten_spec(child, child_spec))
    return leaves


def _dict_flatten_spec(d, spec):
    return [d[k] for k in spec.context]


def _list_flatten_spec(d, spec):
    return [d[i] for i in range(spec.num_children)]


_tuple_flatten_spec = _namedtuple_flatten_spec = _list_flatten_spec


def _same_length(d, spec):
    return len(d) == spec.num_children


_dict_flatten_spec_exact_match = _list_flatten_spec_exact_match = _same_length
_tuple_flatten_spec_exact_match = _namedtuple_flatten_spec_exact_match = _same_length

register_pytree_flatten_spec(dict, _dict_flatten_spec, _same_length)
register_pytree_flatten_spec(list, _list_flatten_spec, _same_length)
register_pytree_flatten_spec(tuple, _tuple_flatten_spec, _same_length)
register_pytree_flatten_spec(namedtuple, _namedtuple_flatten_spec, _same_length)
