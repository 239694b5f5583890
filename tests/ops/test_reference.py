"""Dtypes and derivatives of every operator against reference.tsv, recorded from PyTorch 2.15.

No dtype is missing and none is accepted in silence that PyTorch refuses. Second derivatives,
forward mode and vmap work at least where they do there. differences.txt lists what is known to
differ, with reasons; a line that no longer holds fails too.
"""

import os
import sys

import pytest

torch = pytest.importorskip("torch")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import probe  # noqa: E402

REFERENCE = probe.read(os.path.join(HERE, "reference.tsv"))
ENTRIES = {probe.ident(e): e for e in probe.entries()}
EXACT = ("dtypes", "gradients")


def differences():
    out = {}
    with open(os.path.join(HERE, "differences.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                fact, _, reason = line.partition("#")
                name, column, value = fact.split()
                assert reason.strip(), line
                out[name, column] = value
    return out


KNOWN = differences()


def parts(text):
    """'f32,f64:01' -> {'f32': '*', 'f64': '01'}"""
    found = {}
    for item in text.split(","):
        key, _, bits = item.partition(":")
        found[key] = bits or "*"
    return {} if text == "-" else found


def difference(column, ours, theirs):
    """What ours lacks (-) and has beyond (+); '' where they agree."""
    if column not in EXACT:
        return "" if ours == "*" or theirs in ("-", ours) else "-" + theirs
    a, b = parts(ours), parts(theirs)
    missing = [k for k in b if k not in a]
    more = [k for k in a if k not in b]
    partly = [k for k in a if k in b and a[k] != b[k]]
    return "".join(f"{sign}{','.join(keys)}" for sign, keys in
                   (("-", missing), ("+", more), ("~", partly)) if keys)  # fmt: skip


def test_every_entry_is_recorded():
    assert not set(ENTRIES) - set(REFERENCE) - OURS_ONLY


# Entries that are functions of torch here but not there.
OURS_ONLY = {"embedding_dense_backward"}


@pytest.mark.parametrize("name", [n for n in ENTRIES if n in REFERENCE])
def test_support(name):
    ours, theirs = probe.row(ENTRIES[name]), REFERENCE[name]
    found = {c: difference(c, ours[c], theirs[c]) for c in probe.COLUMNS}
    found = {c: d for c, d in found.items() if d}
    assert found == {c: v for (n, c), v in KNOWN.items() if n == name}
