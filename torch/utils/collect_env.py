"""What a report of a fault should say about the machine: `python -m torch.utils.collect_env`."""

import locale
import os
import platform
import re
import shutil
import subprocess
import sys
from collections import namedtuple

SystemEnv = namedtuple("SystemEnv", [
    "torch_version", "is_debug_build", "cuda_compiled_version", "gcc_version", "clang_version",
    "cmake_version", "os", "libc_version", "python_version", "python_platform",
    "is_cuda_available", "cuda_runtime_version", "cuda_module_loading", "nvidia_driver_version",
    "nvidia_gpu_models", "cudnn_version", "is_xpu_available", "pip_version", "pip_packages",
    "conda_packages", "hip_compiled_version", "hip_runtime_version", "miopen_runtime_version",
    "rocm_compiled_version", "caching_allocator_config", "is_xnnpack_available", "cpu_info"])

COMMON_PATTERNS = ["torch", "numpy", "triton", "optree"]
PIP_PATTERNS = ["mypy", "flake8", "onnx"]
_ABSENT = "N/A"


def run(command):
    """(return code, output, errors) of a command: a list, or a string for the shell."""
    try:
        done = subprocess.run(command, shell=isinstance(command, str), capture_output=True,
                              timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, "", str(error)
    encoding = locale.getpreferredencoding()
    return (done.returncode, done.stdout.decode(encoding, "replace").strip(),
            done.stderr.decode(encoding, "replace").strip())


def run_and_read_all(run_lambda, command):
    """The output, or None if the command failed."""
    code, output, _ = run_lambda(command)
    return output if code == 0 else None


def run_and_parse_first_match(run_lambda, command, regex):
    """The first group of `regex` in the output, or None."""
    output = run_and_read_all(run_lambda, command)
    match = re.search(regex, output) if output else None
    return match.group(1) if match else None


def run_and_return_first_line(run_lambda, command):
    """The first line of the output, or None."""
    output = run_and_read_all(run_lambda, command)
    return output.split("\n")[0] if output else None


def get_gcc_version(run_lambda):
    return run_and_parse_first_match(run_lambda, "gcc --version", r"gcc (.*)")


def get_clang_version(run_lambda):
    return run_and_parse_first_match(run_lambda, "clang --version", r"clang version (\S+)")


def get_cmake_version(run_lambda):
    return run_and_parse_first_match(run_lambda, "cmake --version", r"cmake (.*)")


def get_nvidia_driver_version(run_lambda):
    if shutil.which("nvidia-smi") is None:
        return None
    return run_and_parse_first_match(run_lambda, "nvidia-smi", r"Driver Version: (.*?) ")


def get_gpu_info(run_lambda):
    if shutil.which("nvidia-smi") is None:
        return None
    names = run_and_read_all(run_lambda, "nvidia-smi -L")
    return re.sub(r" \(UUID: .+?\)", "", names) if names else None


def get_os(run_lambda):
    """The name of the operating system and its machine type."""
    machine = platform.machine()
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]} ({machine})"
    name = run_and_parse_first_match(run_lambda, "cat /etc/*-release", r'PRETTY_NAME="(.*)"')
    return f"{name or platform.system()} ({machine})"


def get_libc_version():
    return "-".join(platform.libc_ver()) if sys.platform == "linux" else _ABSENT


def get_python_platform():
    return platform.platform()


def get_cpu_info(run_lambda):
    if sys.platform == "darwin":
        return run_and_read_all(run_lambda, "sysctl -n machdep.cpu.brand_string")
    return run_and_read_all(run_lambda, "lscpu")


def get_pip_packages(run_lambda, patterns=None):
    """(pip's name, lines of installed packages that matter)."""
    patterns = PIP_PATTERNS + COMMON_PATTERNS if patterns is None else patterns
    listed = run_and_read_all(run_lambda, [sys.executable, "-m", "pip", "list",
                                           "--format=freeze"])
    lines = [line for line in (listed or "").splitlines()
             if any(pattern in line for pattern in patterns)]
    return "pip3" if sys.version_info.major == 3 else "pip", "\n".join(lines)


def get_conda_packages(run_lambda, patterns=None):
    """The installed conda packages that matter, or None without conda."""
    conda = os.environ.get("CONDA_EXE") or shutil.which("conda")
    output = run_and_read_all(run_lambda, [conda, "list"]) if conda else None
    if output is None:
        return None
    patterns = COMMON_PATTERNS + ["mkl"] if patterns is None else patterns
    return "\n".join(line for line in output.splitlines()
                     if not line.startswith("#") and any(p in line for p in patterns))


def get_env_info():
    """All facts, as a `SystemEnv`."""
    import torch

    pip_version, pip_packages = get_pip_packages(run)
    bits = sys.maxsize.bit_length() + 1
    version = sys.version.replace("\n", " ")
    return SystemEnv(
        torch_version=torch.__version__, is_debug_build=str(torch.version.debug),
        cuda_compiled_version=torch.version.cuda or "None", gcc_version=get_gcc_version(run),
        clang_version=get_clang_version(run), cmake_version=get_cmake_version(run),
        os=get_os(run), libc_version=get_libc_version(),
        python_version=f"{version} ({bits}-bit runtime)", python_platform=get_python_platform(),
        is_cuda_available=str(torch.cuda.is_available()), cuda_runtime_version=None,
        cuda_module_loading=_ABSENT, nvidia_driver_version=get_nvidia_driver_version(run),
        nvidia_gpu_models=get_gpu_info(run), cudnn_version=None,
        is_xpu_available=torch.xpu.is_available(), pip_version=pip_version,
        pip_packages=pip_packages, conda_packages=get_conda_packages(run),
        hip_compiled_version=_ABSENT, hip_runtime_version=_ABSENT,
        miopen_runtime_version=_ABSENT, rocm_compiled_version=_ABSENT,
        caching_allocator_config=_ABSENT, is_xnnpack_available="False",
        cpu_info=get_cpu_info(run))


_TITLES = [
    ("torch_version", "PyTorch version"), ("is_debug_build", "Is debug build"),
    ("cuda_compiled_version", "CUDA used to build PyTorch"),
    ("rocm_compiled_version", "ROCm SDK used to build PyTorch"),
    ("hip_compiled_version", "HIP used to build PyTorch"), None,
    ("os", "OS"), ("gcc_version", "GCC version"), ("clang_version", "Clang version"),
    ("cmake_version", "CMake version"), ("libc_version", "Libc version"), None,
    ("python_version", "Python version"), ("python_platform", "Python platform"),
    ("is_cuda_available", "Is CUDA available"), ("cuda_runtime_version", "CUDA runtime version"),
    ("cuda_module_loading", "CUDA_MODULE_LOADING set to"),
    ("nvidia_gpu_models", "GPU models and configuration"),
    ("nvidia_driver_version", "Nvidia driver version"), ("cudnn_version", "cuDNN version"),
    ("is_xpu_available", "Is XPU available"), ("hip_runtime_version", "HIP runtime version"),
    ("miopen_runtime_version", "MIOpen runtime version"),
    ("is_xnnpack_available", "Is XNNPACK available"),
    ("caching_allocator_config", "Caching allocator config")]


def pretty_str(envinfo):
    """The report."""
    def shown(value):
        return "Could not collect" if value is None else str(value)

    lines = ["" if item is None else f"{item[1]}: {shown(getattr(envinfo, item[0]))}"
             for item in _TITLES]
    lines += ["", "CPU:", shown(envinfo.cpu_info), "", "Versions of relevant libraries:"]
    packages = [f"[{envinfo.pip_version}] {line}"
                for line in (envinfo.pip_packages or "").splitlines()]
    if envinfo.conda_packages is None:
        packages.append("[conda] Could not collect")
    else:
        packages += [f"[conda] {line}" for line in envinfo.conda_packages.splitlines()]
    return "\n".join(lines + packages)


def get_pretty_env_info():
    """The report about this machine."""
    return pretty_str(get_env_info())


def main():
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
