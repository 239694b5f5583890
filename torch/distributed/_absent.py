"""What is not written yet: classes and functions that have their name and say so when used."""


def refuse(name):
    raise NotImplementedError(f"{name} is not implemented: torch.distributed has no process groups")


def absent_class(name, module, bases=(object,), doc=None):
    """A class for `isinstance` and annotations; making an instance raises NotImplementedError."""
    def __new__(cls, *args, **kwargs):
        refuse(f"{module}.{cls.__name__}")

    return type(name, bases, {"__new__": __new__, "__module__": module,
                              "__doc__": doc or "Not implemented: cannot be made."})


def absent_function(name, module):
    """A function that raises NotImplementedError naming itself."""
    def function(*args, **kwargs):
        refuse(f"{module}.{name}")

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = "Not implemented: raises NotImplementedError."
    return function
