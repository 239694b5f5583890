"""`profile` with a schedule of steps and a handler for finished traces."""
import json
import os
import socket
import time
from enum import Enum
from warnings import warn

import torch
from torch.autograd import profiler as prof
from torch.autograd.profiler import kineto_available  # noqa: F401

__all__ = ["supported_activities", "ProfilerAction", "ProfilerActivity", "schedule",
           "tensorboard_trace_handler", "profile"]

PROFILER_STEP_NAME = "ProfilerStep"


class ProfilerAction(Enum):
    """What to do in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


class ProfilerActivity(Enum):
    """What can be recorded; here: the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities():
    """The activities that this build records."""
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A schedule for :class:`profile`: `skip_first` steps of nothing, then cycles of `wait` steps
    of nothing, `warmup` recorded and thrown away, `active` recorded. `repeat` cycles; 0: without
    end. With a true `skip_first_wait` the first cycle does not wait.
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
            f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0).")
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    cycle = wait + warmup + active

    def schedule_fn(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait != 0:
            step += wait
        if repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return schedule_fn


def _default_schedule_fn(_):
    """Records every step as one."""
    return ProfilerAction.RECORD


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False, use_python_export=False):
    """For ``on_trace_ready``: writes each trace into `dir_name` under a name that TensorBoard's
    profiler plugin knows."""

    def handler_fn(prof):
        try:
            os.makedirs(dir_name, exist_ok=True)
        except Exception as e:
            raise RuntimeError("Can't create directory: " + dir_name) from e
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        file_name = f"{name}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, file_name))

    return handler_fn


class _KinetoProfile:
    """One recording at a time, started and stopped by hand."""

    def __init__(self, *, activities=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, experimental_config=None,
                 execution_trace_observer=None, acc_events=False, custom_trace_id_callback=None,
                 post_processing_timeout_s=None):
        self.activities = set(activities) if activities else supported_activities()
        self.record_shapes = record_shapes
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.profiler = None
        self.use_device = None
        self.preset_metadata = {}

    def start(self):
        self.prepare_trace()
        self.start_trace()

    def stop(self):
        self.stop_trace()

    def prepare_trace(self):
        if self.profiler is None or not self.acc_events:
            self.profiler = prof.profile(
                use_cpu=ProfilerActivity.CPU in self.activities, use_kineto=True,
                record_shapes=self.record_shapes, with_flops=self.with_flops,
                profile_memory=self.profile_memory, with_stack=self.with_stack,
                with_modules=self.with_modules, acc_events=self.acc_events)
        self.profiler._prepare_trace()

    def start_trace(self):
        self._needs("starting trace")
        self.profiler._start_trace()
        for key, value in self.preset_metadata.items():
            self.add_metadata_json(key, value)

    def stop_trace(self):
        self._needs("stopping trace")
        self.profiler._stop_trace()

    def _needs(self, what):
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {what}")
        return self.profiler

    def export_chrome_trace(self, path, use_python_export=False, cuda_graph_annotations=None,
                            graph_lanes="none", default_stream=7):
        """Writes the trace for ``chrome://tracing`` or Perfetto; compressed if the name ends in
        ``.gz``."""
        return self._needs("exporting chrome trace").export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes stacks and their times, one a line; needs ``with_stack=True``."""
        return self._needs("exporting stacks").export_stacks(path, metric)

    def toggle_collection_dynamic(self, enable, activities):
        """Pauses and resumes the recording."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0,
                     group_by_overload_name=False, include_python_functions=False):
        """Sums over the calls of each name, and of each set of input shapes or each stack."""
        return self._needs("getting key averages").key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name,
            include_python_functions)

    def events(self):
        """All events of the last recording."""
        return self._needs("accessing events").function_events

    def add_metadata(self, key, value):
        """A text for the trace's head."""
        self.add_metadata_json(key, json.dumps(value))

    def add_metadata_json(self, key, value):
        """A JSON value, as text, for the trace's head."""
        if self.profiler is not None:
            self.profiler._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key, value):
        """As :meth:`add_metadata_json`, for every recording to come."""
        self.preset_metadata[key] = value

    def export_memory_timeline(self, path, device=None):
        raise NotImplementedError("torch.profiler.profile.export_memory_timeline is not written")

    def _get_distributed_info(self):
        return None


class profile(_KinetoProfile):
    """Records what runs inside the block, or, with a `schedule`, in some of the steps that
    :meth:`step` counts.

    ::

        with torch.profiler.profile(
                schedule=torch.profiler.schedule(wait=1, warmup=1, active=3),
                on_trace_ready=torch.profiler.tensorboard_trace_handler("./log")) as p:
            for batch in loader:
                train(batch)
                p.step()
        print(p.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))

    Args:
        activities: :class:`ProfilerActivity` members; default all that this build records.
        schedule: step number -> :class:`ProfilerAction`; default: one recording of all.
        on_trace_ready: called with the profiler at the end of each recording.
        record_shapes, profile_memory, with_stack, with_flops: see
            :class:`torch.autograd.profiler.profile`.
    """

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None,
                 record_shapes=False, profile_memory=False, with_stack=False, with_flops=False,
                 with_modules=False, experimental_config=None, execution_trace_observer=None,
                 acc_events=False, use_cuda=None, custom_trace_id_callback=None,
                 post_processing_timeout_s=None):
        activities = set(activities) if activities else supported_activities()
        if not all(isinstance(a, ProfilerActivity) for a in activities):
            raise TypeError("activities must be members of torch.profiler.ProfilerActivity")
        if ProfilerActivity.CUDA in activities or use_cuda:
            warn("CUDA is not available, disabling CUDA profiling", stacklevel=2)
        super().__init__(activities=activities, record_shapes=record_shapes,
                         profile_memory=profile_memory, with_stack=with_stack,
                         with_flops=with_flops, with_modules=with_modules,
                         experimental_config=experimental_config,
                         execution_trace_observer=execution_trace_observer, acc_events=acc_events,
                         custom_trace_id_callback=custom_trace_id_callback)
        self.schedule = schedule or _default_schedule_fn
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(self.step_num)
        self.step_rec_fn = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.stop()
        prof.KinetoStepTracker.erase_step_count(PROFILER_STEP_NAME)

    def start(self):
        self._transit_action(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self):
        self._end_step()
        self._transit_action(self.current_action, None)

    def step(self):
        """The next step begins."""
        self._end_step()
        previous = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._transit_action(previous, self.current_action)
        prof.KinetoStepTracker.increment_step(PROFILER_STEP_NAME)
        self._begin_step()

    def _begin_step(self):
        if self.record_steps:
            self.step_rec_fn = prof.record_function(f"{PROFILER_STEP_NAME}#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self):
        if self.record_steps and self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _trace_ready(self):
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _transit_action(self, before, after):
        recording = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if before is ProfilerAction.RECORD and after in (ProfilerAction.NONE,
                                                         ProfilerAction.WARMUP):
            warn(f"Incorrect schedule: {before.name} followed by {after.name}", stacklevel=3)
        if before in recording and (before is ProfilerAction.RECORD_AND_SAVE
                                    or after not in recording):
            self.stop_trace()
            if before is ProfilerAction.RECORD_AND_SAVE or after is None:
                self._trace_ready()
            before = ProfilerAction.NONE
        if after is ProfilerAction.WARMUP and before is not ProfilerAction.WARMUP:
            self.prepare_trace()
        elif after in recording and before not in recording:
            if before is not ProfilerAction.WARMUP:
                self.prepare_trace()
            self.start_trace()
        elif before is ProfilerAction.WARMUP and after in (ProfilerAction.NONE, None):
            self.profiler = None if after is ProfilerAction.NONE else self.profiler

    def set_custom_trace_id_callback(self, callback):
        self.custom_trace_id_callback = callback

    def get_trace_id(self):
        return None if self.profiler is None else self.profiler.trace_id
