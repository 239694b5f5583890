"""Fails when a kernel object compiled for one instruction set leaks code out of its namespace.

A weak function (an inline function or template of a shared header) compiled with -march=x86-64-v4
may be the copy that the linker keeps for everybody, and crashes older machines. A static
initialiser runs before the CPU has been asked. So per-ISA objects may hold weak text symbols only
inside rl::cpu::<isa>, and no .init_array.
"""
import argparse
import pathlib
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def leaks(path, isa):
    """Weak text symbols outside the ISA's namespace, and initialisers."""
    for line in run("nm", "--defined-only", str(path)).splitlines():
        kind, name = line.split()[-2:]
        if kind in "WV" and f"3cpu2{isa}" not in name and not name.startswith("DW.ref."):
            yield f"weak symbol {run('c++filt', name).strip()}"
        elif kind == "u":
            yield f"process-wide symbol {run('c++filt', name).strip()}"
    if re.search(r"\.(init_array|ctors)\b", run("readelf", "-SW", str(path))):
        yield "static initialiser"


def large_tls(build):
    """1 when the core's thread-local block is more than a library opened late may have."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("RL_CORE_LIBRARY:"):
            segments = run("readelf", "-lW", line.split("=", 1)[1])
            size = re.search(r"^ *TLS .* 0x\w+ (0x\w+) R", segments, re.M)
            if size and int(size[1], 16) > 1024:
                print(
                    f"librushlight.so: {int(size[1], 16)} bytes of thread-local data (1024 at most)"
                )
                return 1
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    bad, build = 0, parser.parse_args().build
    for folder in sorted(build.glob("CMakeFiles/kernels_*.dir")):
        isa = folder.stem[len("kernels_"):]
        for path in sorted(folder.rglob("*.o")):
            for text in leaks(path, isa):
                print(f"{path.relative_to(folder)}: {text}")
                bad += 1
    bad += large_tls(build)
    sys.exit(f"{bad} leaks out of instruction-set objects" if bad else 0)


main()
