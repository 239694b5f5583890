"""`FileCheck`: a text contains certain strings in a certain order, after LLVM's tool of that name.

Checks are collected by the methods, or read from lines `# CHECK: text`, and run in order: each
looks behind the match of the one before it.
"""

import re

_DIRECTIVE = re.compile(
    r"CHECK(?:-(NOT|NEXT|SAME|DAG|REGEX|SOURCE-HIGHLIGHTED|COUNT-(?:EXACTLY-)?\d+))?: ?(.*)$")


class FileCheck:
    """Collects checks; `run(text)` raises RuntimeError at the first that fails."""

    def __init__(self):
        self._checks = []  # (kind, text, count)

    def _add(self, kind, text, count=None):
        self._checks.append((kind, text, count))
        return self

    def check(self, text):
        """`text` follows the last match."""
        return self._add("CHECK", text)

    def check_not(self, text):
        """`text` does not occur between the neighbouring matches."""
        return self._add("CHECK-NOT", text)

    def check_same(self, text):
        """`text` follows the last match on the same line."""
        return self._add("CHECK-SAME", text)

    def check_next(self, text):
        """`text` follows the last match on the next line."""
        return self._add("CHECK-NEXT", text)

    def check_count(self, text, count, exactly=False):
        """`text` follows `count` times; with `exactly`, it does not occur after that."""
        if count == 0 and not exactly:
            raise RuntimeError("Count == 0 && !exactly doesn't do anything")
        if count:
            self._add(f"CHECK-COUNT-{count}", text, count)
        return self.check_not(text) if exactly else self

    def check_dag(self, text):
        """`text` follows the last match; neighbouring `check_dag` may match in any order."""
        return self._add("CHECK-DAG", text)

    def check_regex(self, pattern):
        """Something that matches the regular expression follows the last match."""
        return self._add("CHECK-REGEX", pattern)

    def check_source_highlighted(self, text):
        """`text` follows the last match, and the line below it underlines it with ~."""
        return self._add("CHECK-SOURCE-HIGHLIGHTED", text)

    def run(self, text, *more):
        """`run(text)`, or `run(checks, text)` with a text that holds `# CHECK` lines."""
        if more:
            self._read(text)
            text = more[0]
        if not self._checks:
            raise RuntimeError("No checks have been added to this instance of "
                               "Filecheck! Check for bad input.")
        start, i = 0, 0
        while i < len(self._checks):
            kind = self._checks[i][0]
            group = [self._checks[i]]
            if kind in ("CHECK-NOT", "CHECK-DAG"):
                while i + len(group) < len(self._checks) and (
                        self._checks[i + len(group)][0] == kind):
                    group.append(self._checks[i + len(group)])
            i += len(group)
            if kind == "CHECK-NOT":
                end = self._first_match_after(i, text, start)
                for check in group:
                    _absent(check, text, start, end)
            elif kind == "CHECK-DAG":
                start = max(_find(check, text, start)[1] for check in group)
            else:
                start = _run_one(self._checks[i - 1], text, start)

    def _read(self, source):
        for line in source.splitlines():
            match = _DIRECTIVE.search(line)
            if match is None:
                continue
            kind, text = match.group(1), match.group(2)
            if kind is not None and kind.startswith("COUNT-"):
                number = int(kind.rpartition("-")[2])
                self.check_count(text, number, exactly="EXACTLY" in kind)
            else:
                self._add("CHECK" if kind is None else f"CHECK-{kind}", text)

    def _first_match_after(self, i, text, start):
        """Where the check behind a run of CHECK-NOT matches: they look no further than that."""
        if i == len(self._checks):
            return len(text)
        return _find(self._checks[i], text, start)[0]


def _find(check, text, start):
    kind, wanted, _ = check
    if kind == "CHECK-REGEX":
        match = re.compile(wanted).search(text, start)
        if match is not None:
            return match.span()
        raise RuntimeError(f'Expected to find regex "{wanted}" but did not find it\n'
                           f"Searched string:\n{text[start:]}\nFrom {kind}: {wanted}\n")
    at = text.find(wanted, start)
    if at < 0:
        raise RuntimeError(f'Expected to find "{wanted}" but did not find it\n'
                           f"Searched string:\n{text[start:]}\nFrom {kind}: {wanted}\n")
    return at, at + len(wanted)


def _absent(check, text, start, end):
    kind, unwanted, _ = check
    at = text.find(unwanted, start, end)
    if at >= 0:
        line_start, line_end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        mark = " " * (at - line_start) + "~" * len(unwanted) + " <--- HERE"
        raise RuntimeError(f'Expected to not find "{unwanted}" but found it\n'
                           f"{text[:line_end]}\n{mark}{text[line_end:]}From {kind}: {unwanted}\n")


def _run_one(check, text, start):
    kind, wanted, count = check
    if count is not None:
        for _ in range(count):
            start = _find(check, text, start)[1]
        return start
    begin, end = _find(check, text, start)
    lines_between = text.count("\n", start, begin)
    if (kind == "CHECK-SAME" and lines_between != 0) or (
            kind == "CHECK-NEXT" and lines_between != 1):
        outcome = "not find \"\\n\" but found" if lines_between else "find \"\\n\" but did not find"
        raise RuntimeError(f"Expected to {outcome} it\n{text}\nFrom {kind}: {wanted}\n")
    if kind == "CHECK-SOURCE-HIGHLIGHTED":
        column = begin - (text.rfind("\n", 0, begin) + 1)
        below = text[text.find("\n", begin) + 1:].split("\n", 1)[0] if "\n" in text[begin:] else ""
        if below[column:column + len(wanted)] != "~" * len(wanted) or not wanted:
            raise RuntimeError(f'Expected to find "{wanted}"highlighted but it is not.\n{text}')
    return end
