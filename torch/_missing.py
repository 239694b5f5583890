"""Names of features that are not written yet: they can be imported, and say so when used."""


def missing_function(path):
    """A function that raises NotImplementedError naming itself."""

    def function(*args, **kwargs):
        raise NotImplementedError(f"{path} is not implemented")

    module, _, name = path.rpartition(".")
    function.__module__, function.__name__, function.__qualname__ = module, name, name
    function.__doc__ = "Not implemented yet: raises NotImplementedError."
    return function


def missing_class(path, base=object):
    """A class, for `isinstance` and annotations, that cannot be constructed."""
    module, _, name = path.rpartition(".")

    def new(cls, *args, **kwargs):
        raise NotImplementedError(f"{path} is not implemented")

    return type(name, (base,), {
        "__module__": module, "__new__": new,
        "__doc__": "Not implemented yet: constructing raises NotImplementedError.",
    })


def add_missing(namespace, module, functions="", classes=""):
    """Puts functions and classes (names separated by spaces) into a module's globals."""
    for name in functions.split():
        namespace[name] = missing_function(f"{module}.{name}")
    for name in classes.split():
        namespace[name] = missing_class(f"{module}.{name}")
