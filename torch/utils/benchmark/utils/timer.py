"""`Timer`: times a statement of Python like `timeit`, with warm-up, thread count and statistics."""

import enum
import textwrap
import timeit
from timeit import default_timer as timer

import torch
from torch.utils.benchmark.utils import common

__all__ = ["Timer", "timer", "Language"]


class Language(enum.Enum):
    """Languages of statements."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Times `stmt`.

    `setup` runs before, `globals` are the names both see (`torch` is always there). The labels
    go into the results; `num_threads` threads are used. Statements in C++ are not implemented.
    """

    _timer_cls = timeit.Timer

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None,
                 label=None, sub_label=None, description=None, env=None, num_threads=1,
                 language=Language.PYTHON):
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        self._globals = dict(globals or {})
        if language in (Language.PYTHON, "py", "python"):
            self._globals.setdefault("torch", torch)
            self._language = Language.PYTHON
            if global_setup:
                raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely "
                                 "this code can simply be moved to `setup`.")
        elif language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError("torch.utils.benchmark.Timer of C++ is not implemented")
        else:
            raise ValueError(f"Invalid language `{language}`.")
        # The code of a test is usually indented.
        stmt = textwrap.dedent(stmt)
        stmt = (stmt[1:] if stmt and stmt[0] == "\n" else stmt).rstrip()
        setup = textwrap.dedent(setup)
        setup = (setup[1:] if setup and setup[0] == "\n" else setup).rstrip()
        self._timer = self._timer_cls(stmt=stmt, setup=setup, timer=timer, globals=self._globals)
        self._task_spec = common.TaskSpec(
            stmt=stmt, setup=setup, global_setup=global_setup, label=label, sub_label=sub_label,
            description=description, env=env, num_threads=num_threads)

    def _timeit(self, number):
        # Some clocks are so coarse that they measure no time.
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number=1000000):
        """Runs the statement `number` times, after a warm-up, as one measurement."""
        with common.set_torch_threads(self._task_spec.num_threads):
            self._timeit(number=max(int(number // 100), 2))
            return common.Measurement(number_per_run=number,
                                      raw_times=[self._timeit(number=number)],
                                      task_spec=self._task_spec)

    def repeat(self, repeat=-1, number=-1):
        """Not supported: see `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback=None):
        """Not supported: see `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _threaded_measurement_loop(self, number, time_hook, stop_hook, min_run_time,
                                   max_run_time=None, callback=None):
        total, times = 0.0, []
        can_stop = False
        with common.set_torch_threads(self._task_spec.num_threads):
            while total < min_run_time or not can_stop:
                spent = time_hook()
                times.append(spent)
                total += spent
                if callback:
                    callback(number, spent)
                can_stop = stop_hook(times)
                if max_run_time and total > max_run_time:
                    break
        return times

    def _estimate_block_size(self, min_run_time):
        with common.set_torch_threads(self._task_spec.num_threads):
            # A call of the clock should cost less than a thousandth of a block.
            overhead = sorted(self._timeit(0) for _ in range(5))[2]
            number = 1
            while True:
                spent = self._timeit(number)
                if overhead / spent <= 1e-4 and spent >= min_run_time / 1000:
                    return number
                if spent > min_run_time:
                    return number
                number *= 10

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Measures blocks of runs until `min_run_time` seconds have passed."""
        number = self._estimate_block_size(min_run_time)
        times = self._threaded_measurement_loop(
            number, lambda: self._timeit(number), lambda times: True,
            min_run_time=min_run_time, callback=callback)
        return common.Measurement(number_per_run=number, raw_times=times,
                                  task_spec=self._task_spec)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0,
                           callback=None):
        """Measures until the interquartile range is below `threshold` of the median."""
        number = self._estimate_block_size(min_run_time=0.05)

        def stop(times):
            if len(times) <= 3:
                return False
            return common.Measurement(number_per_run=number, raw_times=times,
                                      task_spec=self._task_spec).meets_confidence(threshold)

        times = self._threaded_measurement_loop(
            number, lambda: self._timeit(number), stop, min_run_time, max_run_time,
            callback=callback)
        return common.Measurement(number_per_run=number, raw_times=times,
                                  task_spec=self._task_spec)

    def collect_callgrind(self, number=100, *, repeats=None, collect_baseline=True,
                          retain_out_file=False):
        """Would count instructions with Valgrind."""
        raise NotImplementedError("Timer.collect_callgrind is not implemented")
