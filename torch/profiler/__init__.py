"""The profiler: what ran, for how long, in which memory; tables and traces of it."""
from torch.autograd.profiler import record_function
from torch.autograd.profiler_util import DeviceType

from .profiler import (ProfilerAction, ProfilerActivity, _KinetoProfile, kineto_available, profile,
                       schedule, supported_activities, tensorboard_trace_handler)

__all__ = ["profile", "schedule", "supported_activities", "tensorboard_trace_handler",
           "ProfilerAction", "ProfilerActivity", "kineto_available", "DeviceType",
           "record_function"]


def __getattr__(name):
    if name == "itt":
        from importlib import import_module

        return import_module("torch.profiler.itt")
    raise AttributeError(f"module 'torch.profiler' has no attribute {name!r}")
