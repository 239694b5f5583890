"""Dictionaries with weak keys that compare by identity, which suits tensors."""

import weakref
from collections.abc import MutableMapping

__all__ = ["TensorWeakRef", "WeakIdRef", "WeakIdKeyDictionary", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to another one of the same object."""

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = id(key)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        mine, theirs = self(), other()
        if mine is not None and theirs is not None:
            return mine is theirs
        return self is other


class WeakIdKeyDictionary(MutableMapping):
    """A mapping whose entries vanish with their keys; keys are compared by identity."""

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.ref_type = ref_type
        self.data = {}
        myself = weakref.ref(self)

        def remove(reference):
            owner = myself()
            if owner is not None:
                owner.data.pop(reference, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # what has no weak references cannot be a key
            return False

    def __iter__(self):
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def __len__(self):
        return sum(reference() is not None for reference in self.data)

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def copy(self):
        """A new dictionary with the same entries."""
        new = type(self)()
        new.update(self)
        return new

    __copy__ = copy


class WeakTensorKeyDictionary(WeakIdKeyDictionary):
    """A `WeakIdKeyDictionary` of tensors."""


class TensorWeakRef:
    """A weak reference to a tensor; calling it gives the tensor or None."""

    def __init__(self, tensor):
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()
