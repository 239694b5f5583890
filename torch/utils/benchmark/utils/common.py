"""What was measured (`TaskSpec`), the times (`Measurement`), and how numbers are shown."""

import contextlib
import dataclasses
import math
import textwrap
from collections import defaultdict

import torch

__all__ = ["TaskSpec", "Measurement", "select_unit", "unit_to_english", "trim_sigfig",
           "ordered_unique", "set_torch_threads"]

_MAX_SIGNIFICANT_FIGURES = 4
# Clocks and interrupts limit what a time can tell.
_MIN_CONFIDENCE_INTERVAL = 25e-9
# Interquartile ranges, as parts of the median, above which a measurement warns.
_IQR_WARN_THRESHOLD = 0.1
_IQR_GROSS_WARN_THRESHOLD = 0.25


def select_unit(t):
    """(name, seconds) of the unit that suits a time of `t` seconds: s, ms, us or ns."""
    power = int(math.floor(math.log10(t) / 3)) if t > 0 else 0
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(power, "s")
    return unit, {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def unit_to_english(u):
    """The unit's name in words."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


def trim_sigfig(x, n):
    """`x` rounded to `n` significant digits."""
    assert n == int(n)
    if x == 0:
        return 0.0
    scale = 10 ** (int(math.ceil(math.log10(abs(x)))) - n)
    return float(torch.tensor(x / scale).round() * scale)


def ordered_unique(elements):
    """The distinct elements in the order of their first appearance."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n):
    """Sets the number of threads for a while."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(n)
        yield
    finally:
        torch.set_num_threads(before)


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """The statement that is timed and the labels that tell it from others."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: "str | None" = None
    sub_label: "str | None" = None
    description: "str | None" = None
    env: "str | None" = None
    num_threads: int = 1

    @property
    def title(self):
        """The label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return (f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n"
                f"{textwrap.indent(self.stmt, '  ')}")

    def setup_str(self):
        """The setup, or "" if there is none."""
        if self.setup == "pass" or not self.setup:
            return ""
        if "\n" in self.setup:
            return f"setup:\n{textwrap.indent(self.setup, '  ')}"
        return f"setup: {self.setup}"

    def summarize(self):
        """Title, description and setup."""
        parts = [self.title, self.description or "", self.setup_str()]
        return "\n".join(part + "\n" if "\n" in part else part for part in parts if part)


_TASKSPEC_FIELDS = tuple(field.name for field in dataclasses.fields(TaskSpec))


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """Times of one task: `raw_times` holds the seconds of `number_per_run` runs each.

    The fields of the task are attributes too.
    """

    number_per_run: int
    raw_times: "list[float]"
    task_spec: TaskSpec
    metadata: "dict | None" = None

    def __post_init__(self):
        self._sorted_times = ()
        self._warnings = ()
        self._median = self._mean = self._p25 = self._p75 = -1.0

    def __getattr__(self, name):
        if name in _TASKSPEC_FIELDS:
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def times(self):
        """Seconds of a single run, one for each measurement."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self):
        """The median of `times`."""
        self._lazy_init()
        return self._median

    @property
    def mean(self):
        """The mean of `times`."""
        self._lazy_init()
        return self._mean

    @property
    def iqr(self):
        """The distance of the quartiles of `times`."""
        self._lazy_init()
        return self._p75 - self._p25

    @property
    def significant_figures(self):
        """How many digits of the median mean something: at least 1.

        From the 90 % confidence interval of a normal distribution around the middle half.
        """
        self._lazy_init()
        n = len(self._sorted_times)
        middle = self._sorted_times[int(n // 4):int(math.ceil(3 * n / 4))]
        spread = torch.tensor(middle, dtype=torch.float64).std(unbiased=False).item()
        if len(middle) > 1:
            spread *= math.sqrt(len(middle) / (len(middle) - 1))
        interval = max(1.645 * spread / math.sqrt(len(middle)), _MIN_CONFIDENCE_INTERVAL)
        digits = int(math.floor(math.log10(self.median / interval)))
        return min(max(digits, 1), _MAX_SIGNIFICANT_FIGURES)

    @property
    def has_warnings(self):
        """Whether the times vary too much."""
        self._lazy_init()
        return bool(self._warnings)

    @property
    def title(self):
        return self.task_spec.title

    @property
    def env(self):
        return self.task_spec.env

    @property
    def as_row_name(self):
        """The row of a table that this belongs to."""
        return self.sub_label or self.stmt or "[Unknown]"

    def _lazy_init(self):
        if not self.raw_times or self._sorted_times:
            return
        self._sorted_times = tuple(sorted(self.times))
        times = torch.tensor(self._sorted_times, dtype=torch.float64)
        self._median = times.quantile(0.5).item()
        self._mean = times.mean().item()
        self._p25, self._p75 = times.quantile(0.25).item(), times.quantile(0.75).item()
        if not self.meets_confidence(_IQR_GROSS_WARN_THRESHOLD):
            self._warnings = ("This suggests significant environmental influence.",)
        elif not self.meets_confidence(_IQR_WARN_THRESHOLD):
            self._warnings = ("This could indicate system fluctuation.",)

    def meets_confidence(self, threshold=_IQR_WARN_THRESHOLD):
        """Whether the interquartile range is a smaller part of the median than `threshold`."""
        return self.iqr / self.median < threshold

    def __repr__(self):
        self._lazy_init()
        n = len(self._sorted_times)
        median = self.median if self._sorted_times else math.nan
        unit, scale = select_unit(median)
        lines = [object.__repr__(self), self.task_spec.summarize()]
        lines.append(f"  {'Median: ' if n > 1 else ''}{median / scale:.2f} {unit}")
        if n >= 4:
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({self._p25 / scale:.2f} to "
                         f"{self._p75 / scale:.2f})")
        threads = self.task_spec.num_threads
        lines.append(f"  {n} measurement{'s' if n > 1 else ''}, {self.number_per_run} runs "
                     f"{'per measurement' if n > 1 else ''}, {threads} "
                     f"thread{'s' if threads > 1 else ''}")
        for warning in self._warnings:
            lines.append(f"  WARNING: Interquartile range is {self.iqr / median * 100:.1f}% of the "
                         f"median measurement.\n           {warning}")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements):
        """Measurements of equal tasks, joined into one each."""
        groups = defaultdict(list)
        for measurement in measurements:
            groups[measurement.task_spec].append(measurement)
        return [Measurement(number_per_run=1, raw_times=[t for m in group for t in m.times],
                            task_spec=spec, metadata=None) for spec, group in groups.items()]
