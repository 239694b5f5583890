"""torch.hub: models described by a `hubconf.py`, from a folder or a repository, and weight files.

Repositories of GitHub are fetched as archives and kept under `get_dir()`; weight files under
`get_dir()/checkpoints`. A folder on disk (`source="local"`) needs no network. Downloads use
urllib; nothing runs from a repository that the user has not trusted (`trust_repo`).
"""

import contextlib
import errno
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import uuid
import warnings
import zipfile
from pathlib import Path
from urllib.parse import urlparse

import torch

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url",
           "set_dir"]

ENV_GITHUB_TOKEN = "GITHUB_TOKEN"
ENV_TORCH_HOME = "TORCH_HOME"
ENV_XDG_CACHE_HOME = "XDG_CACHE_HOME"
DEFAULT_CACHE_DIR = "~/.cache"
VAR_DEPENDENCY = "dependencies"
MODULE_HUBCONF = "hubconf.py"
READ_DATA_CHUNK = 128 * 1024
# Names of weight files end in a dash and the first digits of their SHA-256: resnet18-f37072fd.pth
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")

_TRUSTED_REPO_OWNERS = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")
_hub_dir = None


class _Faketqdm:
    """The progress line of a download where the package tqdm is not installed."""

    def __init__(self, total=None, disable=False, unit=None, *args, **kwargs):
        self.total, self.disable, self.n = total, disable, 0

    def update(self, n):
        if self.disable:
            return
        self.n += n
        if self.total is None:
            sys.stderr.write(f"\r{self.n:.1f} bytes")
        else:
            sys.stderr.write(f"\r{100 * self.n / float(self.total):.1f}%")
        sys.stderr.flush()

    def set_description(self, *args, **kwargs):
        pass

    def write(self, s):
        sys.stderr.write(f"{s}\n")

    def close(self):
        self.disable = True

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if not self.disable:
            sys.stderr.write("\n")


try:
    from tqdm import tqdm
except ImportError:
    tqdm = _Faketqdm


def _get_torch_home():
    cache = os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR)
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, os.path.join(cache, "torch")))


def get_dir():
    """The folder of downloads: what `set_dir` chose, or `hub` under `$TORCH_HOME`.

    `$TORCH_HOME` defaults to `$XDG_CACHE_HOME/torch`, and that to `~/.cache/torch`.
    """
    if os.getenv("TORCH_HUB"):
        warnings.warn("TORCH_HUB is deprecated, please use env TORCH_HOME instead", stacklevel=2)
    return _hub_dir if _hub_dir is not None else os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    """Chooses the folder that holds downloaded repositories and weights."""
    global _hub_dir
    _hub_dir = os.path.expanduser(d)


# ---- entry points of a hubconf.py ---------------------------------------------------------------


@contextlib.contextmanager
def _add_to_sys_path(path):
    sys.path.insert(0, path)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(path)


def _import_module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _load_attr_from_module(module, func_name):
    return getattr(module, func_name, None)


def _check_module_exists(name):
    return importlib.util.find_spec(name) is not None


def _check_dependencies(m):
    needed = _load_attr_from_module(m, VAR_DEPENDENCY)
    missing = [name for name in needed or () if not _check_module_exists(name)]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")


def _load_entry_from_hubconf(m, model):
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    _check_dependencies(m)  # before the entry, whose import may need them
    entry = _load_attr_from_module(m, model)
    if entry is None or not callable(entry):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return entry


@contextlib.contextmanager
def _hubconf_of(folder):
    with _add_to_sys_path(folder):
        yield _import_module(MODULE_HUBCONF, os.path.join(folder, MODULE_HUBCONF))


def list(github, force_reload=False, skip_validation=False, trust_repo="check", verbose=True):
    """Names of the callables of a repository's `hubconf.py`.

    `github` is `"owner/name[:branch or tag]"`; the other arguments are those of `load`.
    """
    folder = _get_cache_or_reload(github, force_reload, trust_repo, verbose=verbose,
                                  skip_validation=skip_validation)
    with _hubconf_of(folder) as hubconf:
        return [name for name in dir(hubconf)
                if callable(getattr(hubconf, name)) and not name.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo="check"):
    """The docstring of the entry point `model` of a repository."""
    folder = _get_cache_or_reload(github, force_reload, trust_repo, verbose=True,
                                  skip_validation=skip_validation)
    with _hubconf_of(folder) as hubconf:
        return _load_entry_from_hubconf(hubconf, model).__doc__


def load(repo_or_dir, model, *args, source="github", trust_repo="check", force_reload=False,
         verbose=True, skip_validation=False, **kwargs):
    """Calls the entry point `model` of a `hubconf.py` with the remaining arguments.

    With `source="github"` the first argument is `"owner/name[:branch or tag]"`, with
    `source="local"` a folder. `trust_repo`: True adds the repository to the trusted ones, False
    always asks, "check" asks unless it is trusted or already downloaded.
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        repo_or_dir = _get_cache_or_reload(repo_or_dir, force_reload, trust_repo, verbose=verbose,
                                           skip_validation=skip_validation)
    return _load_local(repo_or_dir, model, *args, **kwargs)


def _load_local(hubconf_dir, model, *args, **kwargs):
    with _hubconf_of(hubconf_dir) as hubconf:
        return _load_entry_from_hubconf(hubconf, model)(*args, **kwargs)


# ---- repositories -------------------------------------------------------------------------------


def _request(url, **headers):
    from urllib.request import Request

    return Request(url, headers=dict(headers, **{"User-Agent": "torch.hub"}))


def _read_url(url):
    from urllib.request import urlopen

    with urlopen(_request(url)) as response:
        return response.read().decode(response.headers.get_content_charset("utf-8"))


def _github_headers():
    token = os.environ.get(ENV_GITHUB_TOKEN)
    headers = {"Accept": "application/vnd.github.v3+json"}
    return dict(headers, Authorization=f"token {token}") if token else headers


def _git_archive_link(repo_owner, repo_name, ref):
    return f"https://github.com/{repo_owner}/{repo_name}/zipball/{ref}"


def _parse_repo_info(github):
    """("owner", "name", "ref") of "owner/name[:ref]"; without ref, main or master is asked for."""
    from urllib.error import HTTPError, URLError
    from urllib.request import urlopen

    info, _, ref = github.partition(":")
    owner, name = info.split("/")
    if ref:
        return owner, name, ref
    try:
        with urlopen(f"https://github.com/{owner}/{name}/tree/main/"):
            return owner, name, "main"
    except HTTPError as error:
        if error.code != 404:
            raise
        return owner, name, "master"
    except URLError as error:
        for ref in ("main", "master"):
            if os.path.exists(os.path.join(get_dir(), f"{owner}_{name}_{ref}")):
                return owner, name, ref
        raise RuntimeError("It looks like there is no internet connection and the repo could not "
                           f"be found in the cache ({get_dir()})") from error


def _validate_not_a_forked_repo(repo_owner, repo_name, ref):
    """Refuses a ref that exists in a fork only: its code is not the owner's."""
    import json
    from urllib.request import urlopen

    for kind in ("branches", "tags"):
        page = 0
        while True:
            page += 1
            url = (f"https://api.github.com/repos/{repo_owner}/{repo_name}/{kind}"
                   f"?per_page=100&page={page}")
            with urlopen(_request(url, **_github_headers())) as response:
                refs = json.loads(response.read().decode("utf-8"))
            if not refs:
                break
            if any(r["name"] == ref or r["commit"]["sha"].startswith(ref) for r in refs):
                return
    raise ValueError(
        f"Cannot find {ref} in https://github.com/{repo_owner}/{repo_name}. If it's a commit from "
        "a forked repo, please call hub.load() with forked repo directly.")


def _check_repo_is_trusted(repo_owner, repo_name, owner_name_branch, trust_repo):
    """Asks the user where that is needed; raises if the answer is no."""
    hub_dir = get_dir()
    path = os.path.join(hub_dir, "trusted_list")
    if not os.path.exists(path):
        Path(path).touch()
    trusted = Path(path).read_text().split()
    downloaded = {"_".join(p.name.split("_")[:-1]) for p in Path(hub_dir).iterdir() if p.is_dir()}
    name = f"{repo_owner}_{repo_name}"
    known = name in trusted or name in downloaded or repo_owner in _TRUSTED_REPO_OWNERS
    if trust_repo is None:
        if not known:
            warnings.warn(
                "You are about to download and run code from an untrusted repository. Pass "
                "trust_repo=True to trust it, or trust_repo=False to be asked.", stacklevel=4)
        return
    if trust_repo is False or (trust_repo == "check" and not known):
        answer = input(
            f"The repository {name} does not belong to the list of trusted repositories and as "
            "such cannot be downloaded. Do you trust this repository and wish to add it to the "
            "trusted list of repositories (y/N)?")
        if answer.lower() not in ("y", "yes"):
            if answer.lower() in ("", "n", "no"):
                raise Exception("Untrusted repository.")
            raise ValueError(f"Unrecognized response {answer}.")
        if known:
            print("The repository is already trusted.")
    if not known:
        with open(path, "a") as file:
            file.write(name + "\n")


def _get_cache_or_reload(github, force_reload, trust_repo, verbose=True, skip_validation=False):
    """The folder of a repository, downloaded unless it is there."""
    from urllib.error import HTTPError

    hub_dir = get_dir()
    os.makedirs(hub_dir, exist_ok=True)
    owner, name, ref = _parse_repo_info(github)
    # Branches may contain slashes; the folder's name must not.
    folder_name = "_".join([owner, name, ref.replace("/", "_")])
    folder = os.path.join(hub_dir, folder_name)
    _check_repo_is_trusted(owner, name, folder_name, trust_repo)
    if not force_reload and os.path.exists(folder):
        if verbose:
            sys.stderr.write(f"Using cache found in {folder}\n")
        return folder
    if not skip_validation:
        _validate_not_a_forked_repo(owner, name, ref)
    archive = os.path.join(hub_dir, ref.replace("/", "_") + ".zip")
    _remove_if_exists(archive)
    try:
        url = _git_archive_link(owner, name, ref)
        if verbose:
            sys.stderr.write(f'Downloading: "{url}" to {archive}\n')
        download_url_to_file(url, archive, progress=False)
    except HTTPError as error:
        if error.code != 300:
            raise
        # GitHub answers 300 where a branch and a tag share the name: the branch is meant.
        warnings.warn(f"The ref {ref} is ambiguous. Perhaps it is both a tag and a branch in the "
                      "repo? Torchhub will now assume that it's a branch. You can disambiguate "
                      "tags and branches by explicitly passing refs/heads/branch_name or "
                      "refs/tags/tag_name as the ref. That might require using "
                      "skip_validation=True.", stacklevel=3)
        url = _git_archive_link(owner, name, f"refs/heads/{ref}")
        download_url_to_file(url, archive, progress=False)
    _unpack_repository(archive, hub_dir, folder)
    return folder


def _unpack_repository(archive, hub_dir, folder):
    with zipfile.ZipFile(archive) as content:
        top = content.infolist()[0].filename
        extracted = os.path.join(hub_dir, top)
        _remove_if_exists(extracted)
        _safe_extract_zip(content, hub_dir)
    _remove_if_exists(archive)
    _remove_if_exists(folder)
    shutil.move(extracted, folder)


def _safe_extract_zip(zip_file, extract_to):
    """Extracts, refusing members that would land outside of `extract_to`."""
    base = os.path.realpath(extract_to)
    for name in zip_file.namelist():
        target = os.path.realpath(os.path.join(base, name))
        if os.path.isabs(name) or os.path.commonpath([base, target]) != base:
            raise ValueError(f"Archive member {name!r} would be extracted outside of {extract_to}")
    zip_file.extractall(extract_to)


def _remove_if_exists(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


# ---- files --------------------------------------------------------------------------------------


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Downloads `url` into the file `dst`, which appears only when it is complete.

    `hash_prefix`: the first digits that its SHA-256 must have, else RuntimeError.
    """
    from urllib.request import urlopen

    dst = os.path.expanduser(dst)
    partial = f"{dst}.{uuid.uuid4().hex}.partial"
    with urlopen(_request(url)) as source:
        length = source.headers.get("Content-Length")
        digest = hashlib.sha256() if hash_prefix is not None else None
        try:
            with open(partial, "xb") as file, tqdm(
                    total=int(length) if length else None, disable=not progress, unit="B",
                    unit_scale=True, unit_divisor=1024) as bar:
                while chunk := source.read(READ_DATA_CHUNK):
                    file.write(chunk)
                    if digest is not None:
                        digest.update(chunk)
                    bar.update(len(chunk))
            if digest is not None and not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got '
                                   f'"{digest.hexdigest()}")')
            shutil.move(partial, dst)
        finally:
            _remove_if_exists(partial)


def _is_legacy_zip_format(filename):
    """Whether the file is a zip archive around one checkpoint, not a checkpoint in zip format."""
    if not zipfile.is_zipfile(filename):
        return False
    members = zipfile.ZipFile(filename).infolist()
    return len(members) == 1 and not members[0].is_dir()


def _legacy_zip_load(filename, model_dir, map_location, weights_only):
    warnings.warn("Falling back to the old format < 1.6. This support will be deprecated in favor "
                  "of default zipfile format introduced in 1.6. Please redo torch.save() to save "
                  "it in the new zipfile format.", FutureWarning, stacklevel=3)
    with zipfile.ZipFile(filename) as archive, tempfile.TemporaryDirectory(dir=model_dir) as place:
        member = archive.infolist()[0].filename
        _safe_extract_zip(archive, place)
        return torch.load(os.path.join(place, member), map_location=map_location,
                          weights_only=weights_only)


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True,
                             check_hash=False, file_name=None, weights_only=False):
    """`torch.load` of a file that is downloaded unless `model_dir` has it already.

    `model_dir` defaults to `get_dir()/checkpoints`, the file's name to the last part of the URL.
    With `check_hash` the name must hold the first digits of the SHA-256: `name-<digits>.ext`.
    """
    if os.getenv("TORCH_MODEL_ZOO"):
        warnings.warn("TORCH_MODEL_ZOO is deprecated, please use env TORCH_HOME instead",
                      stacklevel=2)
    if model_dir is None:
        model_dir = os.path.join(get_dir(), "checkpoints")
    try:
        os.makedirs(model_dir)
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise
    name = file_name if file_name is not None else os.path.basename(urlparse(url).path)
    cached = os.path.join(model_dir, name)
    if not os.path.exists(cached):
        print(f'Downloading: "{url}" to {cached}')
        match = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, cached, match.group(1) if match else None, progress=progress)
    if _is_legacy_zip_format(cached):
        return _legacy_zip_load(cached, model_dir, map_location, weights_only)
    return torch.load(cached, map_location=map_location, weights_only=weights_only)
