"""docs/SUPPORT.md is current."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_the_table_is_current():
    script = os.path.join(ROOT, "tools", "support.py")
    assert subprocess.run([sys.executable, script, "--check"], cwd=ROOT).returncode == 0
