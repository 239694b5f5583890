"""Transforms of functions: derivatives, vectorisation, and calls of modules as functions."""
from .derivatives import (debug_unwrap, functionalize, grad, grad_and_value, hessian, jacfwd,
jacrev,
                          jvp, linearize, vjp)
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .rearrange import rearrange
from .vmap import vmap

__all__ = ["grad", "grad_and_value", "vmap", "vjp", "jvp", "jacrev", "jacfwd", "hessian",
           "functionalize", "linearize", "functional_call", "stack_module_state",
           "replace_all_batch_norm_modules_", "debug_unwrap", "rearrange"]
