"""`Compare`: measurements side by side in tables."""

import enum
import itertools
import math
import operator

from torch.utils.benchmark.utils import common

__all__ = ["Colorize", "Compare"]

BEST = "\033[92m"
GOOD = "\033[34m"
BAD = "\033[2m\033[91m"
VERY_BAD = "\033[31m"
BOLD = "\033[1m"
TERMINATE = "\033[0m"

_SEPARATOR = "  |  "


class Colorize(enum.Enum):
    """Which times are compared for colours."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


def _color_segment(segment, value, best_value):
    if value <= best_value * 1.1:
        return BEST + BOLD + segment + TERMINATE + TERMINATE
    if value >= best_value * 5:
        return VERY_BAD + BOLD + segment + TERMINATE + TERMINATE
    if value >= best_value * 2:
        return BAD + segment + TERMINATE * 2
    return segment


class _Column:
    """The texts of one column, all of one width, given its measurements or None."""

    def __init__(self, header, cells, time_scale, trim, highlight):
        self._scale, self._trim, self._highlight = time_scale, trim, highlight
        present = [cell for cell in cells if cell is not None]
        if trim:
            self._decimals = min((max(m.significant_figures - self._leading_digits(m), 0)
                                  for m in present), default=1)
        else:
            self._decimals = 1
        texts = [self._number(cell) for cell in present]
        self._number_width = max((len(text) for text in texts), default=0)
        self._mark_width = max((len(self._mark(cell)) for cell in present), default=0)
        self.width = max(self._number_width + self._mark_width, len(header))
        self.header = header.center(self.width)

    def _leading_digits(self, measurement):
        return max(int(math.ceil(math.log10(measurement.median / self._scale))), 0)

    def _number(self, measurement):
        value = measurement.median / self._scale
        if self._trim:
            value = common.trim_sigfig(value, measurement.significant_figures)
        return f"{value:.{self._decimals}f}"

    def _mark(self, measurement):
        if not self._highlight or not measurement.has_warnings:
            return ""
        return f" (! {measurement.iqr / measurement.median * 100:.0f}%)"

    def text(self, measurement, best=None):
        """The cell; in colour if `best`, the median to compare with, is given."""
        if measurement is None:
            return " " * self.width
        content = (self._number(measurement).rjust(self._number_width)
                   + self._mark(measurement).ljust(self._mark_width))
        cell = content.center(self.width)
        return cell if best is None else _color_segment(cell, measurement.median, best)


class Table:
    """The measurements of one label: a row for each thread count, environment and name."""

    def __init__(self, results, colorize, trim_significant_figures, highlight_warnings):
        assert len({m.label for m in results}) == 1
        self.results = results
        self._colorize = colorize
        self._highlight = highlight_warnings
        self.label = results[0].label or ""
        self.time_unit, self.time_scale = common.select_unit(min(m.median for m in results))
        self.row_keys = sorted(
            common.ordered_unique(self.row_fn(m) for m in results),
            key=lambda key: (key[0], key[1] or ""))  # stable: names stay in order of appearance
        self.column_keys = common.ordered_unique(self.col_fn(m) for m in results)
        self._cells = {}
        for m in results:
            self._cells.setdefault((self.row_fn(m), self.col_fn(m)), []).append(m)
        self._cells = {key: self._joined(found) for key, found in self._cells.items()}
        self._columns = [
            _Column(key or "", [self._cells.get((row, key)) for row in self.row_keys],
                    self.time_scale, trim_significant_figures, highlight_warnings)
            for key in self.column_keys]

    @staticmethod
    def _joined(found):
        if len(found) == 1:
            return found[0]
        times = [t for m in found for t in m.times]
        return common.Measurement(1, times, found[0].task_spec)

    @staticmethod
    def row_fn(m):
        return m.num_threads, m.env, m.as_row_name

    @staticmethod
    def col_fn(m):
        return m.description

    def _best(self, rows):
        """{(row, column): median to compare with} for the rows of one thread count."""
        if self._colorize == Colorize.NONE:
            return {}
        by = 0 if self._colorize == Colorize.ROWWISE else 1
        keys = [key for key in self._cells if key[0] in rows]
        lowest = {}
        for key in keys:
            median = self._cells[key].median
            lowest[key[by]] = min(lowest.get(key[by], median), median)
        return {key: lowest[key[by]] for key in keys}

    def render(self):
        """The table as text."""
        environments = any(env is not None for _, env, _ in self.row_keys)
        indent = max((len(f"  ({env})  ") for _, env, _ in self.row_keys if env), default=6)
        names = max(len(name) for _, _, name in self.row_keys)
        first = [" " * (indent + names)] + [column.header for column in self._columns]
        header = _SEPARATOR.join(first)
        width = len(header)
        lines = ["[" + f" {self.label} ".center(width - 2, "-") + "]", header]
        for threads, rows in itertools.groupby(self.row_keys, operator.itemgetter(0)):
            rows = list(rows)
            best = self._best(rows)
            lines.append(f"{threads} threads: ".ljust(width, "-"))
            previous = None
            for row in rows:
                _, env, name = row
                shown = f"  ({env})  " if environments and env and env != previous else ""
                previous = env
                cells = [column.text(self._cells.get((row, key)), best.get((row, key)))
                         for key, column in zip(self.column_keys, self._columns)]
                lines.append(_SEPARATOR.join(
                    [shown.ljust(indent) + name.ljust(names), *cells]))
        lines += ["", f"Times are in {common.unit_to_english(self.time_unit)}s "
                  f"({self.time_unit})."]
        if self._highlight and any(m.has_warnings for m in self._cells.values()):
            lines.append("(! XX%) Measurement has high variance, where XX is the IQR / median * "
                         "100.")
        return "\n".join(lines) + "\n"


class Compare:
    """Tables of measurements: one for each label, with a column for each description."""

    def __init__(self, results):
        self._results = []
        self.extend_results(results)
        self._trim_significant_figures = False
        self._colorize = Colorize.NONE
        self._highlight_warnings = False

    def __str__(self):
        return "\n".join(self._render())

    def extend_results(self, results):
        """Adds measurements."""
        for result in results:
            if not isinstance(result, common.Measurement):
                raise ValueError("Expected an instance of `Measurement`, "
                                 f"got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self):
        """Shows only the digits that mean something."""
        self._trim_significant_figures = True

    def colorize(self, rowwise=False):
        """Colours good and bad times, compared within a column or a row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self):
        """Marks times that vary much."""
        self._highlight_warnings = True

    def print(self):
        """Prints the tables."""
        print(str(self))

    def _render(self):
        groups = {}
        for measurement in common.Measurement.merge(self._results):
            groups.setdefault(measurement.label, []).append(measurement)
        return [Table(group, self._colorize, self._trim_significant_figures,
                      self._highlight_warnings).render() for group in groups.values()]
