"""The `reduction` argument of losses, and its two older spellings."""


def get_enum(reduction):
    """The core's number for "none", "mean" or "sum"; ValueError for anything else."""
    if reduction == "none":
        return 0
    if reduction == "mean":
        return 1
    if reduction == "sum":
        return 2
    if reduction == "elementwise_mean":
        import warnings
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use "
                      "reduction='mean' instead.", stacklevel=2)
        return 1
    raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The `reduction` that the older flags `size_average` and `reduce` stand for."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    if size_average and reduce:
        result = "mean"
    elif reduce:
        result = "sum"
    else:
        result = "none"
    if emit_warning:
        import warnings
        warnings.warn("size_average and reduce args will be deprecated, please use "
                      f"reduction='{result}' instead.", stacklevel=2)
    return result


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """As `legacy_get_string`, as the core's number."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
