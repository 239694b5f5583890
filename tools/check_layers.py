"""Fails when a file in src/ includes from a higher layer, or Python.h outside src/python.

The order is ARCHITECTURE.md's; a file includes only from its own folder or a lower one. Generated
headers count by their folder: gen/ops is the ops layer, any other gen/*.h is free.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOP = ("jit", "export", "compile", "nn", "optim", "data", "serialize", "dist", "abi")
ORDER = [("base",), ("core",), ("kernels",), ("ops",), ("autograd",), ("modes",), ("graph",), TOP,
         ("python",)]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def problems(path):
    folder = path.relative_to(ROOT / "src").parts[0]
    if folder not in LEVEL:
        yield 1, f"src/{folder} is not a layer of ARCHITECTURE.md"
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        parts = match[1].split("/")
        other = parts[1] if parts[0] == "gen" and len(parts) > 2 else parts[0]
        if match[1] == "Python.h" and folder != "python":
            yield number, "Python.h belongs to src/python"
        elif len(parts) > 1 and other in LEVEL and other != folder:
            if LEVEL[other] >= LEVEL[folder]:
                yield number, f"{folder} may not include {match[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", help="ignored; every check takes it")
    parser.parse_args()
    bad = 0
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".h", ".cpp", ".cuh", ".cu"):
            for number, text in problems(path):
                print(f"{path.relative_to(ROOT)}:{number}: {text}")
                bad += 1
    sys.exit(f"{bad} layering errors" if bad else 0)


main()
