"""Scaling of a loss, so that small gradients survive a small element type."""
import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum

import torch

__all__ = ["OptState", "GradScaler"]


class OptState(Enum):
    """What has been done with an optimizer since the last ``update``."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state():
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class _MultiDeviceReplicator:
    """A tensor and, made at need, its copies on other devices."""

    def __init__(self, master_tensor):
        self.master = master_tensor
        self._copies = {}

    def get(self, device):
        if device not in self._copies:
            self._copies[device] = self.master.to(device=device, non_blocking=True, copy=True)
        return self._copies[device]


class GradScaler:
    """Multiplies a loss by a scale that follows what the gradients can bear.

    ::

        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)     # only to look at the gradients, as for clipping
        scaler.step(optimizer)         # left out when a gradient is infinite or NaN
        scaler.update()

    The scale shrinks by `backoff_factor` after such a step and grows by `growth_factor` after
    `growth_interval` steps without.
    """

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5,
                 growth_interval=2000, enabled=True):
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and not torch.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  "
                          "Disabling.", stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        assert growth_factor > 1.0, "The growth factor must be > 1.0."
        assert backoff_factor < 1.0, "The backoff factor must be < 1.0."
        self._init_scale = init_scale
        self._scale = None              # a tensor once the device is known
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker = None
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _check_scale_growth_tracker(self, funcname):
        fix = ("This may indicate your script did not use scaler.scale(loss or outputs) earlier in "
               "the iteration.")
        assert self._scale is not None, f"Attempted {funcname} but _scale is None.  {fix}"
        assert self._growth_tracker is not None, (
            f"Attempted {funcname} but _growth_tracker is None.  {fix}")
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, dev):
        assert self._growth_tracker is None, "_growth_tracker initialized before _scale"
        self._scale = torch.full((), self._init_scale, dtype=torch.float32, device=dev)
        self._growth_tracker = torch.full((), self._init_growth_tracker, dtype=torch.int32,
                                          device=dev)

    def scale(self, outputs):
        """The tensor, or the tensors of an iterable, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale.to(device=outputs.device, non_blocking=True)
        replicas = []

        def scaled(value):
            if isinstance(value, torch.Tensor):
                if not replicas:
                    if self._scale is None:
                        self._lazy_init_scale_growth_tracker(value.device)
                    replicas.append(_MultiDeviceReplicator(self._scale))
                return value * replicas[0].get(value.device)
            if isinstance(value, Iterable):
                each = map(scaled, value)
                return type(value)(each) if isinstance(value, (list, tuple)) else each
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")

        return scaled(outputs)

    def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
        """Unscales every gradient in place; {device: 1.0 if one was not finite}."""
        inverse, found = _MultiDeviceReplicator(inv_scale), _MultiDeviceReplicator(found_inf)
        groups = defaultdict(lambda: defaultdict(list))
        with torch.no_grad():
            for param in (p for g in optimizer.param_groups for p in g["params"]):
                if param.grad is None:
                    continue
                if not allow_fp16 and param.grad.dtype is torch.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                values = param.grad
                if values.is_sparse:
                    # A sum of duplicates may overflow only when it is made.
                    if values.dtype is torch.float16:
                        param.grad = values = values.coalesce()
                    values = values._values()
                groups[values.device][values.dtype].append(values)
            for device, by_dtype in groups.items():
                for grads in by_dtype.values():
                    torch._amp_foreach_non_finite_check_and_unscale_(
                        grads, found.get(device), inverse.get(device))
        return found._copies

    def unscale_(self, optimizer):
        """Divides the gradients of the optimizer's parameters by the scale; once in a step."""
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        # in float64: 1 / scale is exact for more scales than in float32
        inv_scale = self._scale.double().reciprocal().float()
        found_inf = torch.full((), 0.0, dtype=torch.float32, device=self._scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inv_scale, found_inf, False)
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(self, optimizer, optimizer_state, *args, **kwargs):
        if any(v.item() for v in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer, *args, **kwargs):
        """Unscales, unless that was done, and calls ``optimizer.step`` if every gradient is
        finite. Returns what that returned, or None."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return self._step_that_scales(optimizer, state, args, kwargs)
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        assert len(state["found_inf_per_device"]) > 0, (
            "No inf checks were recorded for this optimizer.")
        result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_that_scales(self, optimizer, state, args, kwargs):
        """An optimizer that unscales by itself, as the fused ones do."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed "
                "optimizer. In the near future GradScaler registers `grad_scale: Tensor` and "
                "`found_inf: Tensor` to the passed optimizer and let the optimizer use them "
                "directly.", FutureWarning, stacklevel=3)
            result = optimizer.step(*args, **kwargs, grad_scaler=self)
            state["stage"] = OptState.STEPPED
            return result
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        found = [v.to(self._scale.device, non_blocking=True)
                 for v in state["found_inf_per_device"].values()]
        ready = state["stage"] is OptState.READY
        optimizer.grad_scale = (self._scale if ready and not hasattr(optimizer, "grad_scale")
                                else None if not ready
                                else self._scale * getattr(optimizer, "grad_scale", 1))
        optimizer.found_inf = torch.stack(found).sum() if found else None
        try:
            result = optimizer.step(*args, **kwargs)
        finally:
            state["stage"] = OptState.STEPPED
            del optimizer.grad_scale
            del optimizer.found_inf
        return result

    def update(self, new_scale=None):
        """The next scale: computed from the steps since the last call, or `new_scale`."""
        if not self._enabled:
            return
        scale, growth_tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            self._set_scale(scale, new_scale)
        else:
            found = [v.to(device=scale.device, non_blocking=True)
                     for state in self._per_optimizer_states.values()
                     for v in state["found_inf_per_device"].values()]
            assert len(found) > 0, "No inf checks were recorded prior to update."
            combined = found[0]
            for more in found[1:]:
                combined = combined + more
            torch._amp_update_scale_(scale, growth_tracker, combined, self._growth_factor,
                                     self._backoff_factor, self._growth_interval)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _set_scale(self, scale, new_scale):
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
            return
        reason = ("new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                  "torch.FloatTensor with requires_grad=False.")
        assert isinstance(new_scale, torch.Tensor), reason
        assert new_scale.dtype is torch.float32 and new_scale.numel() == 1, reason
        assert new_scale.requires_grad is False, reason
        scale.copy_(new_scale)

    def _get_scale_async(self):
        return self._scale

    def get_scale(self):
        """The scale as a number; 1.0 when disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        if self._growth_tracker is None:
            return self._init_growth_tracker
        return self._growth_tracker.item()

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        """Scale, factors and counter; empty when disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved "
                               "from a disabled instance of GradScaler.")
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self):
        state = self.__dict__.copy()
        if self._enabled:
            assert len(self._per_optimizer_states) == 0, (
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at "
                "the end after scaler.update().")
            # Tensors are not kept: a new process makes them where its loss is.
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)

    def _check_inf_per_device(self, optimizer):
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one = torch.full((), 1.0, dtype=torch.float32, device=scale.device)
        found_inf = torch.full((), 0.0, dtype=torch.float32, device=scale.device)
        found = self._unscale_grads_(optimizer, one, found_inf, True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer):
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
