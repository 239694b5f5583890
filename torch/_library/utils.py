"""Names of operators."""

__all__ = ["is_out", "lookup_op", "mutates_and_returns_first_arg", "parse_namespace"]


def parse_namespace(qualname):
    """``("namespace", "name")`` of ``"namespace::name"``. ValueError otherwise."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError("Expected `qualname` to be of the form \"namespace::name\", but got "
                         f"{qualname}. ")
    return parts[0], parts[1]


def lookup_op(qualname):
    """The `OpOverload` of ``"namespace::name.overload"``."""
    from torch import _ops

    name, _, overload = qualname.partition(".")
    parse_namespace(name)
    return _ops._find_overload(name, overload)


def is_out(op):
    """Whether an operator writes to an argument that is given by keyword only."""
    return any(a.is_out for a in op._schema.arguments)


def mutates_and_returns_first_arg(op):
    """Whether an operator writes to its first argument alone and returns it."""
    schema = op._schema
    if not schema.arguments or len(schema.returns) != 1 or not schema.arguments[0].is_write:
        return False
    others = any(a.is_write for a in schema.arguments[1:])
    result = schema.returns[0].alias_info
    return not others and result is not None and (
        result.before_set == schema.arguments[0].alias_info.before_set)
