"""Known failures, each with its reason, stand in tests/known_failures.txt."""
import pathlib

import pytest

KNOWN = pathlib.Path(__file__).parent / "known_failures.txt"


def pytest_collection_modifyitems(items):
    reasons = {}
    for line in KNOWN.read_text().splitlines():
        if line and not line.startswith("#"):
            test, _, reason = line.partition(" # ")
            reasons[test.strip()] = reason.strip()
    for item in items:
        name = item.nodeid.rsplit("/", 1)[-1]
        if name in reasons:
            item.add_marker(pytest.mark.xfail(reason=reasons[name], strict=False))
