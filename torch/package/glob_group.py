"""`GlobGroup`: patterns of dotted names. ``*`` is part of one component, ``**`` any components."""

import re

__all__ = ["GlobGroup"]


class GlobGroup:
    """Names that match one of `include` and none of `exclude`."""

    def __init__(self, include, *, exclude=(), separator="."):
        self._dbg = f"GlobGroup(include={include}, exclude={exclude})"
        self.include = self._compile(include, separator)
        self.exclude = self._compile(exclude, separator)
        self.separator = separator

    def __str__(self):
        return self._dbg

    __repr__ = __str__

    def matches(self, candidate):
        candidate = self.separator + candidate
        return any(p.fullmatch(candidate) for p in self.include) and not any(
            p.fullmatch(candidate) for p in self.exclude
        )

    @staticmethod
    def _compile(elems, separator):
        elems = [elems] if isinstance(elems, str) else elems
        return [GlobGroup._pattern(e, separator) for e in elems]

    @staticmethod
    def _pattern(pattern, separator):
        def component(text):
            if "**" in text:
                if text == "**":
                    return f"({re.escape(separator)}[^{separator}]+)*"
                raise ValueError("** can only appear as an entire path segment")
            parts = (re.escape(x) for x in text.split("*"))
            return re.escape(separator) + f"[^{separator}]*".join(parts)

        return re.compile("".join(component(c) for c in pattern.split(separator)))
