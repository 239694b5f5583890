"""Building extensions with setuptools.

`CppExtension` and `BuildExtension` are for extensions that use the stable C ABI or the C API of
Python; the C++ headers (`torch/extension.h`) are not part of this build, so compiling on the fly
(`load`, `load_inline`) and CUDA are not implemented.
"""

import os
import subprocess
import sys

import torch

__all__ = ["get_default_build_root", "check_compiler_ok_for_platform",
           "get_compiler_abi_compatibility_and_version", "BuildExtension", "CppExtension",
           "CUDAExtension", "SyclExtension", "include_paths", "library_paths", "load",
           "load_inline", "is_ninja_available", "verify_ninja_availability", "get_cxx_compiler",
           "check_compiler_is_gcc"]

IS_WINDOWS = sys.platform == "win32"
IS_MACOS = sys.platform.startswith("darwin")
IS_LINUX = sys.platform.startswith("linux")
LIB_EXT = CLIB_EXT = ".pyd" if IS_WINDOWS else ".so"
CLIB_PREFIX = "" if IS_WINDOWS else "lib"
IS_HIP_EXTENSION = False
CUDA_HOME = CUDNN_HOME = ROCM_HOME = HIP_HOME = SYCL_HOME = None
_TORCH_PATH = os.path.dirname(os.path.abspath(torch.__file__))
TORCH_LIB_PATH = os.path.join(_TORCH_PATH, "lib")


def get_cxx_compiler():
    """The C++ compiler: $CXX or c++."""
    return os.environ.get("CXX", "c++")


def get_default_build_root():
    """The folder for builds on the fly."""
    root = os.environ.get("TORCH_EXTENSIONS_DIR")
    if root:
        return root
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return os.path.join(cache, "torch_extensions")


def check_compiler_ok_for_platform(compiler):
    """Whether the command `compiler` exists and compiles C++."""
    try:
        output = subprocess.check_output([compiler, "--version"], stderr=subprocess.STDOUT)
    except (OSError, subprocess.CalledProcessError):
        return False
    text = output.decode(errors="replace").lower()
    return any(word in text for word in ("gcc", "g++", "free software foundation", "clang"))


def check_compiler_is_gcc(compiler):
    """Whether the command `compiler` is GCC."""
    try:
        output = subprocess.check_output([compiler, "-v"], stderr=subprocess.STDOUT)
    except (OSError, subprocess.CalledProcessError):
        return False
    return "gcc version" in output.decode(errors="replace")


def get_compiler_abi_compatibility_and_version(compiler):
    """(whether its binaries work with ours, its version)."""
    from torch.torch_version import TorchVersion

    if not check_compiler_ok_for_platform(compiler):
        return False, TorchVersion("0.0.0")
    version = subprocess.check_output([compiler, "-dumpfullversion", "-dumpversion"]).decode()
    version = TorchVersion(version.strip())
    return version >= (5, 0, 0), version


def include_paths(device_type="cpu", torch_include_dirs=True):
    """Folders of our headers; empty where they are not installed."""
    if device_type not in ("cpu", ""):
        raise NotImplementedError(f"include_paths of {device_type!r} is not implemented")
    folder = os.path.join(_TORCH_PATH, "include")
    if not torch_include_dirs or not os.path.isdir(folder):
        return []
    return [folder, os.path.join(folder, "torch", "csrc", "api", "include")]


def library_paths(device_type="cpu", torch_include_dirs=True, cross_target_platform=None):
    """Folders of our libraries."""
    if device_type not in ("cpu", ""):
        raise NotImplementedError(f"library_paths of {device_type!r} is not implemented")
    return [TORCH_LIB_PATH] if torch_include_dirs else []


def is_ninja_available():
    """Whether the build tool ninja can be run."""
    try:
        subprocess.check_output(["ninja", "--version"], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def verify_ninja_availability():
    """Raises RuntimeError if there is no ninja."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")


def CppExtension(name, sources, *args, **kwargs):
    """A `setuptools.Extension` in C++ with our folders of headers and libraries."""
    import setuptools

    kwargs["include_dirs"] = [*kwargs.get("include_dirs", []), *include_paths()]
    kwargs["library_dirs"] = [*kwargs.get("library_dirs", []), *library_paths()]
    kwargs["language"] = "c++"
    return setuptools.Extension(name, sources, *args, **kwargs)


def CUDAExtension(name, sources, *args, **kwargs):
    """Not implemented: this build has no CUDA."""
    raise NotImplementedError("torch.utils.cpp_extension.CUDAExtension is not implemented")


def SyclExtension(name, sources, *args, **kwargs):
    """Not implemented: this build has no SYCL."""
    raise NotImplementedError("torch.utils.cpp_extension.SyclExtension is not implemented")


def load(name, sources, extra_cflags=None, extra_cuda_cflags=None, extra_sycl_cflags=None,
         extra_ldflags=None, extra_include_paths=None, build_directory=None, verbose=False,
         with_cuda=None, with_sycl=None, is_python_module=True, is_standalone=False,
         keep_intermediates=True):
    """Not implemented: the C++ headers are not part of this build."""
    raise NotImplementedError("torch.utils.cpp_extension.load is not implemented")


def load_inline(name, cpp_sources, cuda_sources=None, sycl_sources=None, functions=None,
                extra_cflags=None, extra_cuda_cflags=None, extra_sycl_cflags=None,
                extra_ldflags=None, extra_include_paths=None, build_directory=None,
                verbose=False, with_cuda=None, with_sycl=None, is_python_module=True,
                with_pytorch_error_handling=True, keep_intermediates=True, use_pch=False,
                no_implicit_headers=False):
    """Not implemented: the C++ headers are not part of this build."""
    raise NotImplementedError("torch.utils.cpp_extension.load_inline is not implemented")


def _build_extension():
    from setuptools.command.build_ext import build_ext

    class BuildExtension(build_ext):
        """setuptools' `build_ext` for C++20, with the name of the module as a macro."""

        def __init__(self, *args, use_ninja=True, no_python_abi_suffix=False, **kwargs):
            super().__init__(*args, **kwargs)
            self.use_ninja, self.no_python_abi_suffix = use_ninja, no_python_abi_suffix

        @classmethod
        def with_options(cls, **options):
            """A subclass with these arguments of the constructor."""
            class WithOptions(cls):
                def __init__(self, *args, **kwargs):
                    super().__init__(*args, **{**kwargs, **options})

            return WithOptions

        def build_extensions(self):
            for extension in self.extensions:
                self._add_flags(extension)
            super().build_extensions()

        @staticmethod
        def _add_flags(extension):
            flags = extension.extra_compile_args
            flags = list(flags.get("cxx", []) if isinstance(flags, dict) else flags)
            if not any(flag.startswith("-std=") for flag in flags):
                flags.append("-std=c++20")
            name = extension.name.rpartition(".")[2]
            extension.extra_compile_args = [*flags, f"-DTORCH_EXTENSION_NAME={name}"]

        def get_ext_filename(self, ext_name):
            name = super().get_ext_filename(ext_name)
            if not self.no_python_abi_suffix:
                return name
            stem, *_, suffix = name.split(".")
            return f"{stem}.{suffix}"

    BuildExtension.__qualname__ = "BuildExtension"
    return BuildExtension


def __getattr__(name):
    if name == "BuildExtension":  # setuptools is loaded for it
        globals()[name] = _build_extension()
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
