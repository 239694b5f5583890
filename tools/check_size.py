"""Fails on files over 800 lines, functions over 60 lines and lines over 100 columns.

Functions are found by indentation: a line at column 0 or 2 that ends in `{` with a `)` in it, or a
Python `def`, up to its end. With --build it also prints the ten slowest translation units.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "codegen", "tools", "torch", "tests", "bench", "examples", "cmake")
CPP = re.compile(r"^( {0,2})(?! |namespace|extern|struct|class|enum|union|#|//|\}).*\).*\{$")
PYTHON = re.compile(r"^( *)(?:async )?def ")


def functions(lines, python):
    """(first line, length) of each function."""
    for i, line in enumerate(lines):
        match = (PYTHON if python else CPP).match(line)
        if not match:
            continue
        inside = (match[1] + " ", match[1] + ")") if python else None
        j = i + 1
        while j < len(lines) and (
                not lines[j] or lines[j].startswith(inside) if python
                else not lines[j].startswith(match[1] + "}")):
            j += 1
        yield i + 1, len("\n".join(lines[i:j]).rstrip().split("\n"))


def problems(path):
    lines = path.read_text(errors="replace").splitlines()
    if len(lines) > 800:
        yield 1, f"{len(lines)} lines (800 at most)"
    for number, line in enumerate(lines, 1):
        if len(line) > 100:
            yield number, f"{len(line)} columns (100 at most)"
    for number, length in functions(lines, path.suffix == ".py"):
        if length > 60:
            yield number, f"function of {length} lines (60 at most)"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path)
    build = parser.parse_args().build
    sources = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    bad = [(path, problem) for path in sources if path.suffix in (".h", ".cpp", ".py", ".cu")
           for problem in problems(path)]
    for path, (number, text) in bad:
        print(f"{path.relative_to(ROOT)}:{number}: {text}")
    if build and (build / ".ninja_log").exists():
        rows = [r.split("\t") for r in (build / ".ninja_log").read_text().splitlines()[1:]]
        units = {r[3]: int(r[1]) - int(r[0]) for r in rows if r[3].endswith(".o")}
        for output in sorted(units, key=units.get, reverse=True)[:10]:
            print(f"{units[output] / 1000:6.1f} s  {output}")
    sys.exit(f"{len(bad)} size errors" if bad else 0)


main()
