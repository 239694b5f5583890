"""Lists and dictionaries that refuse to change: what the arguments of a `Node` are kept in.

A node's arguments may only be replaced as a whole, so that the graph can keep account of users.
"""

from torch.utils._pytree import register_pytree_node

__all__ = ["immutable_list", "immutable_dict"]

_help_mutation = """If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:

    new_args = ...  # copy and mutate args
    node.args = new_args"""


def _no_mutation(self, *args, **kwargs):
    raise TypeError(f"{type(self).__name__!r} object does not support mutation. {_help_mutation}")


class immutable_list(list):
    """A list that cannot be changed; it hashes like the tuple of its elements."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _no_mutation
    append = clear = extend = insert = pop = remove = reverse = sort = _no_mutation

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return type(self), (tuple(self),)


class immutable_dict(dict):
    """A dictionary that cannot be changed; it hashes by its items."""

    __delitem__ = __ior__ = __setitem__ = _no_mutation
    clear = pop = popitem = setdefault = update = _no_mutation

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return type(self), (tuple(self.items()),)


def _immutable_list_flatten(d):
    return list(d), None


def _immutable_list_unflatten(values, context):
    return immutable_list(values)


def _immutable_dict_flatten(d):
    return list(d.values()), list(d)


def _immutable_dict_unflatten(values, context):
    return immutable_dict(zip(context, values))


def _register():
    from torch.utils._pytree import MappingKey, SequenceKey

    register_pytree_node(
        immutable_list, _immutable_list_flatten, _immutable_list_unflatten,
        serialized_type_name="torch.fx.immutable_collections.immutable_list",
        flatten_with_keys_fn=lambda d: ([(SequenceKey(i), v) for i, v in enumerate(d)], None),
    )
    register_pytree_node(
        immutable_dict, _immutable_dict_flatten, _immutable_dict_unflatten,
        serialized_type_name="torch.fx.immutable_collections.immutable_dict",
        flatten_with_keys_fn=lambda d: ([(MappingKey(k), v) for k, v in d.items()], list(d)),
    )


_register()
