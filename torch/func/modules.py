"""Modules as functions of their parameters."""
import torch

__all__ = ["functional_call", "stack_module_state", "replace_all_batch_norm_modules_"]


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True,
                    strict=False):
    """Call `module` with other parameters and buffers than its own.

    Args:
        module (nn.Module): what is called.
        parameter_and_buffer_dicts (dict, or tuple of dicts): names to tensors; names that are not
            given stay as they are.
        args: a tuple of positional arguments, or the only one.
        kwargs (dict): keyword arguments.
        tie_weights (bool): a tensor that the module has under several names is replaced under all.
        strict (bool): all names must be given, and no others.
    """
    from torch.nn.utils.stateless import _functional_call
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, dict):
        merged = dicts
    elif isinstance(dicts, (tuple, list)):
        if not all(isinstance(d, dict) for d in dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be "
                             "dictionaries")
        names = [n for d in dicts for n in d]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of "
                             "functional call is ambiguous")
        merged = {n: t for d in dicts for n, t in d.items()}
    else:
        raise ValueError("Expected parameter_and_buffer_dicts to be a dict, or a "
                         "list/tuple of dicts, "
                         f"but got {type(dicts)}")
    return _functional_call(module, merged, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models):
    """``(parameters, buffers)`` of several modules of one kind, each name's tensors stacked.

    The parameters are new leaves that require gradients where the originals do.
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval "
                           "mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stack(named):
        every = [dict(getattr(m, named)()) for m in models]
        out = {}
        for name in every[0]:
            tensors = [d[name] for d in every]
            needs = {t.requires_grad for t in tensors}
            if len(needs) > 1:
                raise RuntimeError(f"Expected {name} from each model to have the same "
                                   ".requires_grad")
            with torch.no_grad():
                stacked = torch.stack([t.detach() for t in tensors])
            out[name] = stacked.requires_grad_(needs.pop())
        return out

    return stack("named_parameters"), stack("named_buffers")


def replace_all_batch_norm_modules_(root):
    """Turn off the running statistics of all batch norms of `root`, in place, and return it."""
    from torch.nn.modules.batchnorm import _BatchNorm
    for m in root.modules():
        if isinstance(m, _BatchNorm):
            m.track_running_stats = False
            m.running_mean = m.running_var = m.num_batches_tracked = None
    return root
