"""`ThroughputBenchmark`: calls of a module per second, from several threads."""

import random
import threading
import time
from collections import namedtuple

__all__ = ["ExecutionStats", "ThroughputBenchmark", "format_time"]

_Config = namedtuple("_Config", "num_calling_threads num_warmup_iters num_iters")
_Stats = namedtuple("_Stats", "latency_avg_ms num_iters")


def format_time(time_us=None, time_ms=None, time_s=None):
    """A time with a suitable unit; exactly one of the arguments is given."""
    if sum(t is not None for t in (time_us, time_ms, time_s)) != 1:
        raise AssertionError("format_time takes exactly one of time_us, time_ms and time_s")
    if time_us is None:
        time_us = time_ms * 1e3 if time_ms is not None else time_s * 1e6
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if time_us >= scale:
            return f"{time_us / scale:.3f}{unit}"
    return f"{time_us:.3f}us"


class ExecutionStats:
    """The result of a benchmark."""

    def __init__(self, c_stats, benchmark_config):
        self._c_stats, self.benchmark_config = c_stats, benchmark_config

    @property
    def latency_avg_ms(self):
        """Mean time of a call."""
        return self._c_stats.latency_avg_ms

    @property
    def num_iters(self):
        """The number of calls."""
        return self._c_stats.num_iters

    @property
    def iters_per_second(self):
        """Calls per second of all threads."""
        return self.num_iters / self.total_time_seconds

    @property
    def total_time_seconds(self):
        """The time of the calls, divided by the number of threads."""
        return self.num_iters * (self.latency_avg_ms / 1000.0) / (
            self.benchmark_config.num_calling_threads)

    def __str__(self):
        return "\n".join([
            "Average latency per example: " + format_time(time_ms=self.latency_avg_ms),
            f"Total number of iterations: {self.num_iters}",
            f"Total number of iterations per second (across all threads): "
            f"{self.iters_per_second:.2f}",
            "Total time: " + format_time(time_s=self.total_time_seconds)])


class ThroughputBenchmark:
    """Runs `module` on inputs given by `add_input`."""

    def __init__(self, module):
        self._module, self._inputs = module, []

    def run_once(self, *args, **kwargs):
        """One call with these inputs."""
        return self._module(*args, **kwargs)

    def add_input(self, *args, **kwargs):
        """Adds the arguments of a call."""
        self._inputs.append((args, kwargs))

    def benchmark(self, num_calling_threads=1, num_warmup_iters=10, num_iters=100,
                  profiler_output_path=""):
        """`num_iters` calls with inputs chosen at random, after a warm-up in each thread."""
        if profiler_output_path:
            raise NotImplementedError("ThroughputBenchmark with profiler_output_path is not "
                                      "implemented")
        if not self._inputs:
            raise RuntimeError("Please provide benchmark inputs.")
        config = _Config(num_calling_threads, num_warmup_iters, num_iters)
        latencies, errors = [], []
        remaining = iter(range(num_iters))
        lock = threading.Lock()
        ready = threading.Barrier(num_calling_threads)

        def work(seed):
            choice = random.Random(seed).choice
            try:
                for _ in range(num_warmup_iters):
                    args, kwargs = choice(self._inputs)
                    self._module(*args, **kwargs)
                ready.wait()
                while True:
                    with lock:
                        if next(remaining, None) is None:
                            return
                    args, kwargs = choice(self._inputs)
                    begin = time.perf_counter()
                    self._module(*args, **kwargs)
                    latencies.append(time.perf_counter() - begin)
            except Exception as error:
                errors.append(error)
                ready.abort()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(num_calling_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise next((e for e in errors if not isinstance(e, threading.BrokenBarrierError)),
                       errors[0])
        return ExecutionStats(_Stats(1000 * sum(latencies) / len(latencies), len(latencies)),
                              config)
