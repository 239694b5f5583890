"""What rules of the older exporter are written with: `parse_args` and questions about values."""

import functools
import inspect

from torch._missing import add_missing

_FORMS = ("i", "is", "f", "fs", "b", "s", "t", "v", "none")


def parse_args(*arg_descriptors):
    """Tells which arguments of a rule are values of the graph (``"v"``) and which are constants of
    a kind: ``"i"`` int, ``"f"`` float, ``"is"`` list of int, ``"b"`` bool, ``"s"`` str, ..."""

    def decorator(fn):
        fn._arg_descriptors = arg_descriptors

        @functools.wraps(fn)
        def wrapper(g, *args, **kwargs):
            if len(arg_descriptors) < len(args):
                raise AssertionError(f"A mismatch between the number of arguments ({len(args)}) and"
                                     f" their descriptors ({len(arg_descriptors)}) was found at "
                                     f"symbolic function '{fn.__name__}'.")
            values = [_parse_arg(a, d) for a, d in zip(args, arg_descriptors)]
            names = list(inspect.signature(fn).parameters)[1:]
            kinds = dict(zip(names, arg_descriptors))
            named = {k: _parse_arg(v, kinds.get(k, "v")) for k, v in kwargs.items()}
            return fn(g, *values, **named)

        return wrapper

    return decorator


def _parse_arg(value, desc, arg_name=None, node_name=None):
    """A constant as a Python value. Values of a graph need the exporter."""
    if desc in ("none", "v") or value is None:
        return value
    if hasattr(value, "node"):
        raise NotImplementedError("torch.onnx.symbolic_helper: constants of an exported graph are "
                                  "not implemented")
    kind = {"i": int, "f": float, "b": bool, "s": str}.get(desc)
    if kind is not None:
        return kind(value)
    if desc in ("is", "fs"):
        return [(int if desc == "is" else float)(v) for v in value]
    return value


def quantized_args(*arg_q_descriptors, scale=None, zero_point=None, quantize_output=True):
    """Marks a rule as one for quantised values too."""
    return lambda fn: fn


def _is_none(x):
    return x is None


def _unimplemented(op, msg, value=None):
    import warnings

    warnings.warn(f"ONNX export failed on {op} because {msg} not supported", stacklevel=2)


def _onnx_unsupported(op_name, value=None):
    from torch.onnx.errors import OnnxExporterError

    raise OnnxExporterError(f"Unsupported: ONNX export of operator {op_name}. Please feel free to "
                            "request support or submit a pull request on PyTorch GitHub")


add_missing(globals(), "torch.onnx.symbolic_helper",
            "_get_tensor_rank _get_tensor_sizes _maybe_get_const _maybe_get_scalar _is_value "
            "_is_constant _unsqueeze_helper _squeeze_helper _slice_helper _reducesum_helper "
            "_interpolate_helper _node_get _get_const _unpack_list _if_scalar_type_as")
