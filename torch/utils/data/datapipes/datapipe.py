"""The base classes of DataPipes."""

from ..dataset import Dataset, IterableDataset


class _Chained:
    """What both kinds share: a table of functions that appear as methods."""

    functions = {}
    getstate_hook = None
    reduce_ex_hook = None

    def __getattr__(self, name):
        make = type(self).functions.get(name)
        if make is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def chain(*args, **kwargs):
            return make(self, *args, **kwargs)

        return chain

    @classmethod
    def register_function(cls, function_name, function):
        """Makes ``function(datapipe, ...)`` callable as a method of all pipes of this kind."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name, cls_to_register, enable_df_api_tracing=False
    ):
        """Makes ``cls_to_register(datapipe, ...)`` callable as a method.

        Raises:
            Exception: the name is taken.
        """
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )
        cls.functions[function_name] = cls_to_register

    @classmethod
    def set_getstate_hook(cls, hook_fn):
        """Sets what is called instead of taking an object's attributes for pickling."""
        if _Chained.getstate_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing getstate_hook")
        cls.getstate_hook = staticmethod(hook_fn) if hook_fn is not None else None

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn):
        """Sets what is called first on pickling."""
        if cls.reduce_ex_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing reduce_ex_hook")
        cls.reduce_ex_hook = staticmethod(hook_fn) if hook_fn is not None else None

    def __getstate__(self):
        hook = type(self).getstate_hook
        return self.__dict__ if hook is None else hook(self)

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __reduce_ex__(self, protocol):
        hook = type(self).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass
        return super().__reduce_ex__(protocol)

    def __str__(self):
        return type(self).__qualname__

    __repr__ = __str__

    def __dir__(self):
        return [*super().__dir__(), *type(self).functions]


class IterDataPipe(_Chained, IterableDataset):
    """Base of the iterable pipes: a subclass defines ``__iter__()``."""

    functions = {}

    def reset(self):
        """Called before a new pass; by default nothing is to do."""


class MapDataPipe(_Chained, Dataset):
    """Base of the map-style pipes: a subclass defines ``__getitem__(index)`` and ``__len__()``."""

    functions = {}


class DFIterDataPipe(IterDataPipe):
    """Base of the pipes of data frames."""

    def _is_dfpipe(self):
        return True

    def __iter__(self):
        raise NotImplementedError("DFIterDataPipe.__iter__")


class DataChunk(list):
    """A batch as a list."""

    def __init__(self, items):
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent=""):
        """The items in brackets."""
        return f"{indent}[{', '.join(str(i) for i in iter(self))}]"

    def __iter__(self):
        yield from super().__iter__()

    def raw_iterator(self):
        """The items."""
        yield from self.items
