"""Modules that learn the sizes of their parameters from the first input."""
from __future__ import annotations

import torch
from torch.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Base of lazy modules; stands before the module class among the bases.

    Subclasses create :class:`UninitializedParameter` objects in ``__init__``, and materialize
    them in ``initialize_parameters(*args)``, which gets the arguments of the first call. Then
    the object turns into an instance of ``cls_to_become``, if that is set.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        # An uninitialized tensor cannot be detached: it is saved as it is.
        for name, param in self._parameters.items():
            if param is not None:
                if not (is_lazy(param) or keep_vars):
                    param = param.detach()
                destination[prefix + name] = param
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                if not (is_lazy(buffer) or keep_vars):
                    buffer = buffer.detach()
                destination[prefix + name] = buffer

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys,
                        unexpected_keys, error_msgs):
        """Materialize what the checkpoint has values for."""
        from itertools import chain
        for name, param in chain(self._parameters.items(), self._buffers.items()):
            key = prefix + name
            if key in state_dict and param is not None:
                loaded = state_dict[key]
                if is_lazy(param) and not is_lazy(loaded):
                    with torch.no_grad():
                        param.materialize(loaded.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Materialize the parameters from the arguments of the first call."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {self.__class__.__name__}")

    def has_uninitialized_params(self):
        """Whether any own parameter or buffer still lacks a shape."""
        return any(is_lazy(t) for t in
                   (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self, module, args, kwargs=None):
        kwargs = kwargs if kwargs else {}
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook
        del module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self):
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a "
            "dummy forward pass to correctly initialize the modules")
