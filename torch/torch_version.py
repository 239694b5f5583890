"""`TorchVersion`: the version as a string that compares as a version.

Comparisons with strings, tuples and `packaging` versions follow PEP 440 as far as release numbers,
pre-releases and local parts go; no package is needed for it.
"""

__all__ = ["TorchVersion"]

_PATTERN = (
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>a|alpha|b|beta|c|rc|pre|preview)[-_.]?(?P<pre_n>\d*))?"
    r"(?:-(?P<post_n1>\d+)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_n2>\d*))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_n>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$"
)
_PRE = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}


def _key(text):
    """A tuple that orders as PEP 440 says; ValueError for what is no version."""
    import re  # only comparisons need it

    m = re.match(_PATTERN, text.strip(), re.IGNORECASE)
    if not m:
        raise ValueError(f"Invalid version: {text!r}")
    release = [int(x) for x in m["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    has_post = m["post"] is not None or m["post_n1"] is not None
    post = int(m["post_n1"] or m["post_n2"] or 0) if has_post else -1
    dev = int(m["dev_n"] or 0) if m["dev"] else float("inf")
    if m["pre"]:
        pre = (_PRE[m["pre"].lower()], int(m["pre_n"] or 0))
    elif m["dev"] and not has_post:
        pre = (-1, 0)
    else:
        pre = (3, 0)
    local = ()
    if m["local"]:
        import re

        parts = re.split(r"[-_.]", m["local"].lower())
        local = tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in parts)
    return int(m["epoch"] or 0), tuple(release), pre, post, dev, local


class TorchVersion(str):
    """A string such as ``"2.15.0+x"``; ``<``, ``==`` and so on compare versions.

    The other side may be a string, a tuple like ``(2, 15)``, or an object whose text is a version.
    What cannot be read as a version is compared as plain text.
    """

    def _keys(self, other):
        if isinstance(other, (tuple, list)):
            other = ".".join(str(x) for x in other)
        return _key(str(self)), _key(str(other))

    def _compare(self, other, name):
        try:
            a, b = self._keys(other)
        except ValueError:
            return getattr(str, name)(str(self), other)
        return getattr(a, name)(b)

    def __lt__(self, other):
        return self._compare(other, "__lt__")

    def __le__(self, other):
        return self._compare(other, "__le__")

    def __gt__(self, other):
        return self._compare(other, "__gt__")

    def __ge__(self, other):
        return self._compare(other, "__ge__")

    def __eq__(self, other):
        return self._compare(other, "__eq__")

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__

    # A plain string to pickle and to copy by.
    def __reduce__(self):
        return TorchVersion, (str(self),)

    def __str__(self):
        return str.__str__(self)
