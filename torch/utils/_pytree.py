"""Trees of Python containers: flatten them to leaves, map over leaves, put them together again.

Inner nodes are tuples, named tuples, lists, dicts, OrderedDicts, defaultdicts, deques and
registered classes; everything else is a leaf.
"""

import json
from collections import OrderedDict, defaultdict, deque, namedtuple

__all__ = [
    "PyTree", "Context", "FlattenFunc", "UnflattenFunc", "DumpableContext", "ToDumpableContextFn",
    "FromDumpableContextFn", "PyTreeSpec", "TreeSpec", "LeafSpec", "keystr", "key_get",
    "register_pytree_node", "tree_is_leaf", "tree_flatten", "tree_flatten_with_path",
    "tree_unflatten", "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_structure",
    "tree_map", "tree_map_with_path", "tree_map_", "tree_map_only", "tree_map_only_", "tree_all",
    "tree_any", "tree_all_only", "tree_any_only", "treespec_dumps", "treespec_loads",
    "treespec_pprint", "is_namedtuple", "is_namedtuple_class", "is_namedtuple_instance",
    "is_structseq", "is_structseq_class", "is_structseq_instance", "SUPPORTED_NODES",
]

PyTree = Context = DumpableContext = object
FlattenFunc = UnflattenFunc = ToDumpableContextFn = FromDumpableContextFn = object

NodeDef = namedtuple("NodeDef", ["type", "flatten_fn", "unflatten_fn", "flatten_with_keys_fn"])
SUPPORTED_NODES = {}
CONSTANT_NODES = set()
_names = {}       # serialised name -> class
_serialised = {}  # class -> (name, to_dumpable, from_dumpable)


# ---------------------------------------------------------------- keys of paths


class SequenceKey:
    """An index into a sequence."""

    def __init__(self, idx):
        self.idx = idx

    def __str__(self):
        return f"[{self.idx!r}]"

    def __repr__(self):
        (name, value), = self.__dict__.items()
        return f"{type(self).__name__}({name}={value!r})"

    def get(self, sequence):
        return sequence[self.idx]

    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self):
        return hash((type(self), *self.__dict__.values()))


class MappingKey(SequenceKey):
    """A key of a mapping."""

    def __init__(self, key):
        self.key = key

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        return mapping[self.key]


class GetAttrKey(SequenceKey):
    """The name of an attribute."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        return getattr(obj, self.name)


KeyEntry = object
KeyPath = tuple


def keystr(kp):
    """A path as text: ``"[0].weight['a']"``."""
    return "".join(str(k) for k in kp)


def key_get(obj, kp):
    """What a path leads to."""
    for k in kp:
        obj = k.get(obj)
    return obj


# ---------------------------------------------------------------- kinds of nodes


def is_namedtuple_class(cls):
    """A class made by `collections.namedtuple` or `typing.NamedTuple`?"""
    fields = getattr(cls, "_fields", None)
    return (
        isinstance(cls, type) and issubclass(cls, tuple) and isinstance(fields, tuple)
        and all(isinstance(f, str) for f in fields) and hasattr(cls, "_make")
    )


def is_namedtuple(obj):
    cls = obj if isinstance(obj, type) else type(obj)
    return is_namedtuple_class(cls)


def is_namedtuple_instance(obj):
    return is_namedtuple_class(type(obj))


def is_structseq_class(cls):
    """A named tuple made in C, such as ``torch.return_types.max``?"""
    return (
        isinstance(cls, type) and issubclass(cls, tuple) and cls is not tuple
        and all(isinstance(getattr(cls, n, None), int)
                for n in ("n_fields", "n_sequence_fields", "n_unnamed_fields"))
    )


def is_structseq(obj):
    cls = obj if isinstance(obj, type) else type(obj)
    return is_structseq_class(cls)


def is_structseq_instance(obj):
    return is_structseq_class(type(obj))


def _node_type(tree):
    kind = type(tree)
    if kind in SUPPORTED_NODES or not issubclass(kind, tuple):
        return kind
    if kind.__module__ == "torch.return_types":  # the named results of operators, when first met
        flatten, unflatten, keys = _sequence(kind)
        _register(kind, flatten, unflatten, f"torch.return_types.{kind.__name__}", with_keys=keys)
        return kind
    return namedtuple if is_namedtuple_class(kind) else kind


_get_node_type = _node_type


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None,
                         to_dumpable_context=None, from_dumpable_context=None,
                         flatten_with_keys_fn=None):
    """Makes instances of `cls` inner nodes.

    ``flatten_fn(x)`` returns (children, context) and ``unflatten_fn(children, context)`` the
    instance.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _register(cls, flatten_fn, unflatten_fn, serialized_type_name, to_dumpable_context,
              from_dumpable_context, flatten_with_keys_fn)


def _register(cls, flatten_fn, unflatten_fn, name=None, to_dumpable=None, from_dumpable=None,
              with_keys=None):
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, with_keys)
    if (to_dumpable is None) != (from_dumpable is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be "
                         "None or registered.")
    if name is not None:
        _names[name] = cls
        _serialised[cls] = (name, to_dumpable, from_dumpable)


def _register_pytree_node(cls, flatten_fn, unflatten_fn, to_str_fn=None, maybe_from_str_fn=None, *,
                          serialized_type_name=None, to_dumpable_context=None,
                          from_dumpable_context=None, flatten_with_keys_fn=None):
    _register(cls, flatten_fn, unflatten_fn, serialized_type_name, to_dumpable_context,
              from_dumpable_context, flatten_with_keys_fn)


_private_register_pytree_node = _register_pytree_node


def _deregister_pytree_node(cls):
    SUPPORTED_NODES.pop(cls, None)
    name = _serialised.pop(cls, (None,))[0]
    _names.pop(name, None)


def register_dataclass(cls, *, field_names=None, drop_field_names=None,
                       serialized_type_name=None):
    """Makes a dataclass an inner node with its fields as children."""
    import dataclasses

    names = field_names or [f.name for f in dataclasses.fields(cls) if f.init]
    names = [n for n in names if n not in set(drop_field_names or ())]

    def flatten(obj):
        kept = [n for n in names if getattr(obj, n) is not None]
        dropped = [n for n in names if getattr(obj, n) is None]
        return [getattr(obj, n) for n in kept], [kept, dropped]

    def unflatten(values, context):
        kept, dropped = context
        return cls(**dict(zip(kept, values)), **{n: None for n in dropped})

    def with_keys(obj):
        values, context = flatten(obj)
        return [(GetAttrKey(n), v) for n, v in zip(context[0], values)], context

    _register(cls, flatten, unflatten, serialized_type_name or
              f"{cls.__module__}.{cls.__qualname__}", with_keys=with_keys)


def register_constant(cls):
    """Makes instances of `cls` nodes without children: they belong to the structure."""
    class Constant:
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return isinstance(other, Constant) and self.value == other.value

        def __hash__(self):
            return hash(self.value)

    _register(cls, lambda x: ([], Constant(x)), lambda _, c: c.value,
              with_keys=lambda x: ([], Constant(x)))
    CONSTANT_NODES.add(cls)


def is_constant_class(cls):
    return isinstance(cls, type) and cls in CONSTANT_NODES


# ---- containers of Python


def _sequence(make):
    return (
        lambda x: (list(x), None),
        lambda values, _: make(values),
        lambda x: ([(SequenceKey(i), v) for i, v in enumerate(x)], None),
    )


def _mapping(make):
    return (
        lambda d: (list(d.values()), list(d.keys())),
        lambda values, keys: make(zip(keys, values)),
        lambda d: ([(MappingKey(k), v) for k, v in d.items()], list(d.keys())),
    )


def _default_dict_flatten(d):
    return list(d.values()), [d.default_factory, list(d.keys())]


def _install():
    from torch import Size

    for cls, functions, name in (
        (Size, _sequence(Size), "torch.Size"),
        (tuple, _sequence(tuple), "builtins.tuple"),
        (list, _sequence(list), "builtins.list"),
        (dict, _mapping(dict), "builtins.dict"),
        (OrderedDict, _mapping(OrderedDict), "collections.OrderedDict"),
    ):
        flatten, unflatten, keys = functions
        _register(cls, flatten, unflatten, name, with_keys=keys)
    _register(
        namedtuple, lambda x: (list(x), type(x)), lambda values, cls: cls(*values),
        "collections.namedtuple",
        with_keys=lambda x: ([(GetAttrKey(n), v) for n, v in zip(type(x)._fields, x)], type(x)),
    )
    _register(
        defaultdict, _default_dict_flatten,
        lambda values, context: defaultdict(context[0], zip(context[1], values)),
        "collections.defaultdict",
        with_keys=lambda d: ([(MappingKey(k), v) for k, v in d.items()],
                             [d.default_factory, list(d.keys())]),
    )
    _register(
        deque, lambda d: (list(d), d.maxlen), lambda values, n: deque(values, maxlen=n),
        "collections.deque",
        with_keys=lambda d: ([(SequenceKey(i), v) for i, v in enumerate(d)], d.maxlen),
    )


_install()


def _name_functions():
    """Functions of the standard nodes under the private names that other libraries call."""
    for cls, name in ((tuple, "tuple"), (list, "list"), (dict, "dict"), (OrderedDict, "odict"),
                      (namedtuple, "namedtuple"), (defaultdict, "defaultdict"), (deque, "deque")):
        node = SUPPORTED_NODES[cls]
        globals().update({f"_{name}_flatten": node.flatten_fn,
                          f"_{name}_unflatten": node.unflatten_fn,
                          f"_{name}_flatten_with_keys": node.flatten_with_keys_fn})


_name_functions()
STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})
BUILTIN_TYPES = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})


# ---------------------------------------------------------------- structure


class TreeSpec:
    """The structure of a tree: kind of the node, its context and the structures below."""

    __slots__ = ("type", "_context", "_children", "num_nodes", "num_leaves", "num_children")

    def __init__(self, type, context, children_specs):
        self.type, self._context, self._children = type, context, list(children_specs)
        if type is None:
            self.num_nodes = self.num_leaves = 1
        else:
            self.num_nodes = 1 + sum(c.num_nodes for c in self._children)
            self.num_leaves = sum(c.num_leaves for c in self._children)
        self.num_children = len(self._children)

    @property
    def context(self):
        return self._context

    @property
    def children_specs(self):
        return self._children

    def children(self):
        return list(self._children)

    def child(self, index):
        return self._children[index]

    def is_leaf(self):
        return self.type is None

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type is other.type and self._context == other._context
                and self._children == other._children)

    def __hash__(self):
        context = self._context
        if isinstance(context, list):
            context = tuple(x if not isinstance(x, list) else tuple(x) for x in context)
        return hash((self.type, context, tuple(self._children)))

    def __repr__(self, indent=0):
        if self.is_leaf():
            return "*"
        prefix = f"TreeSpec({self.type.__name__}, {self._context}, ["
        indent += 2
        inner = [c.__repr__(indent) for c in self._children]
        text = inner[0] if inner else ""
        for t in inner[1:]:
            text += ",\n" + " " * indent + t
        return prefix + text + "])"

    def __len__(self):
        return self.num_leaves

    # ---- going down together with a tree
    def _check_node(self, tree):
        if _node_type(tree) is not self.type and not (
            self.type in STANDARD_DICT_TYPES and _node_type(tree) in STANDARD_DICT_TYPES
        ):
            raise ValueError(f"Type mismatch; expected {self.type!r}, but got {type(tree)!r}.")

    def _children_of(self, tree):
        self._check_node(tree)
        if self.type in STANDARD_DICT_TYPES:
            keys = self._context[1] if self.type is defaultdict else self._context
            if set(tree) != set(keys):
                missing = [k for k in keys if k not in tree]
                extra = [k for k in tree if k not in keys]
                raise ValueError(f"Node keys mismatch; missing key(s): {missing!r}, extra key(s): "
                                 f"{extra!r}.")
            return [tree[k] for k in keys]
        children, context = SUPPORTED_NODES[self.type].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got "
                             f"{len(children)}.")
        if context != self._context and self.type is not deque:
            raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
        return children

    def flatten_up_to(self, tree):
        """The subtrees of `tree` where this structure has leaves. ValueError if they differ."""
        if self.is_leaf():
            return [tree]
        out = []
        for spec, child in zip(self._children, self._children_of(tree)):
            out.extend(spec.flatten_up_to(child))
        return out

    def unflatten(self, leaves):
        """The tree with these leaves. ValueError when their number is wrong."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(leaves))

    def _build(self, leaves):
        if self.is_leaf():
            return next(leaves)
        children = [c._build(leaves) for c in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self._context)


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    __slots__ = ()

    def __init__(self):
        super().__init__(None, None, [])

    def __repr__(self, indent=0):
        return "*"


_LEAF = LeafSpec()


def treespec_leaf():
    return _LEAF


def treespec_tuple(iterable=(), /):
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping=(), /, **kwargs):
    items = dict(mapping, **kwargs)
    return TreeSpec(dict, list(items), list(items.values()))


def treespec_pprint(treespec):
    """The structure as text with stars for leaves."""
    import pprint

    class Dummy:
        def __repr__(self):
            return "*"

    return pprint.pformat(treespec.unflatten([Dummy() for _ in range(treespec.num_leaves)]))


# ---------------------------------------------------------------- flattening


def tree_is_leaf(tree, is_leaf=None):
    """Is `tree` a leaf, or said to be one?"""
    if is_leaf is not None and is_leaf(tree):
        return True
    return _node_type(tree) not in SUPPORTED_NODES


_is_leaf = tree_is_leaf


def _flatten_into(tree, leaves, is_leaf):
    kind = _node_type(tree)
    if kind not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten_into(c, leaves, is_leaf) for c in children])


def tree_flatten(tree, is_leaf=None):
    """(list of leaves, structure)"""
    leaves = []
    return leaves, _flatten_into(tree, leaves, is_leaf)


def tree_unflatten(leaves, treespec):
    """The tree with these leaves and this structure."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of "
                        f"TreeSpec but got item of type {type(treespec)}.")
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """The leaves, one after the other."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
        return
    for child in SUPPORTED_NODES[_node_type(tree)].flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree, is_leaf=None):
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree of ``func(leaf, corresponding subtrees of the other trees)``."""
    leaves, spec = tree_flatten(tree, is_leaf)
    flat = [leaves] + [spec.flatten_up_to(r) for r in rests]
    return spec.unflatten(func(*xs) for xs in zip(*flat))


def tree_map_(func, tree, *rests, is_leaf=None):
    """`tree_map` for what `func` does; returns `tree`."""
    leaves, spec = tree_flatten(tree, is_leaf)
    flat = [leaves] + [spec.flatten_up_to(r) for r in rests]
    for xs in zip(*flat):
        func(*xs)
    return tree


def _of_kind(kind):
    if isinstance(kind, (type, tuple)):
        return lambda x: isinstance(x, kind)
    if callable(kind):
        return kind
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred, /):
    """A decorator: the function is applied to leaves of a kind, others stay."""
    wanted = _of_kind(type_or_types_or_pred)

    def wrap(func):
        return lambda x: func(x) if wanted(x) else x

    return wrap


def tree_map_only(type_or_types_or_pred, func, tree, is_leaf=None):
    """`tree_map` over the leaves of a kind."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, func, tree, is_leaf=None):
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types, pred, tree, is_leaf=None):
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, pred, tree, is_leaf=None):
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of `tree`, repeated where the structure goes deeper; None if they do not fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf():
        return None
    kind = _node_type(tree)
    if kind != treespec.type:
        return None
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    out = []
    for child, spec in zip(children, treespec.children_specs):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        out.extend(part)
    return out


# ---------------------------------------------------------------- paths


def _with_path(path, tree, is_leaf):
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    node = SUPPORTED_NODES[_node_type(tree)]
    if node.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass "
                         "a flatten_with_keys_fn argument to register_pytree_node.")
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _with_path((*path, key), child, is_leaf)


def tree_flatten_with_path(tree, is_leaf=None):
    """(list of (path, leaf), structure)"""
    return list(_with_path((), tree, is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    return list(_with_path((), tree, is_leaf))


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """`tree_map` with the path as the first argument."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    flat = [list(x) for x in zip(*pairs)] or [[], []]
    flat += [spec.flatten_up_to(r) for r in rests]
    return spec.unflatten(func(*xs) for xs in zip(*flat))


# ---------------------------------------------------------------- as text


def _to_plain(spec):
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    if spec.type not in _serialised:
        raise NotImplementedError(f"Serializing {spec.type} in pytree is not registered.")
    name, to_dumpable, _ = _serialised[spec.type]
    context = spec.context
    if to_dumpable is not None:
        context = to_dumpable(context)
    elif spec.type is namedtuple or spec.type is defaultdict:
        context = _class_names(context)
    return {"type": name, "context": json.dumps(context),
            "children_spec": [_to_plain(c) for c in spec.children_specs]}


def _class_names(context):
    def name(cls):
        return None if cls is None else f"{cls.__module__}.{cls.__qualname__}"

    return [name(context[0]), context[1]] if isinstance(context, list) else name(context)


def _class_of(name):
    from importlib import import_module

    if name is None:
        return None
    module, _, cls = name.rpartition(".")
    return getattr(import_module(module), cls)


def _from_plain(plain):
    if plain["type"] is None:
        return _LEAF
    cls = _names[plain["type"]]
    context = json.loads(plain["context"])
    from_dumpable = _serialised[cls][2]
    if from_dumpable is not None:
        context = from_dumpable(context)
    elif cls is namedtuple:
        context = _class_of(context)
    elif cls is defaultdict:
        context = [_class_of(context[0]), context[1]]
    return TreeSpec(cls, context, [_from_plain(c) for c in plain["children_spec"]])


def treespec_dumps(treespec, protocol=None):
    """A structure as JSON."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError("treespec_dumps(treespec, protocol): Expected `treespec` to be instance of "
                        f"TreeSpec but got item of type {type(treespec)}.")
    return json.dumps((protocol or 1, _to_plain(treespec)))


def treespec_loads(serialized):
    """The structure that `treespec_dumps` wrote."""
    _, plain = json.loads(serialized)
    return _from_plain(plain)


def arg_tree_leaves(*args, **kwargs):
    """The leaves of the arguments of a call."""
    out = []
    for a in (*args, *kwargs.values()):
        out.extend(tree_iter(a))
    return out
