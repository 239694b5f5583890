"""torch.hub over folders and file URLs: no network. Messages are recorded from the reference."""
import hashlib
import io
import zipfile

import pytest

import torch
from torch import hub

HUBCONF = """
dependencies = ["torch"]
import torch
def net(n=3, pretrained=False):
    "A net."
    return torch.nn.Linear(n, 2)
def _private(): pass
number = 3
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_hub_dir", None)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    return tmp_path


def repository(folder, text=HUBCONF):
    folder.mkdir(parents=True)
    (folder / "hubconf.py").write_text(text)
    return str(folder)


def test_directories(home, monkeypatch):
    assert hub.get_dir() == str(home / "home" / "hub")
    monkeypatch.delenv("TORCH_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    assert hub.get_dir() == str(home / "torch" / "hub")
    hub.set_dir("~/x")
    assert hub.get_dir().endswith("/x") and "~" not in hub.get_dir()


def test_local(home):
    repo = repository(home / "repo")
    assert hub.load(repo, "net", 5, source="local").in_features == 5
    for name in ("nope", "number"):
        with pytest.raises(RuntimeError, match=f"Cannot find callable {name} in hubconf"):
            hub.load(repo, name, source="local")
    with pytest.raises(ValueError, match='Unknown source: "foo"'):
        hub.load(repo, "net", source="foo")
    broken = repository(home / "broken", "dependencies = ['absent_a', 'absent_b']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: absent_a, absent_b"):
        hub.load(broken, "net", source="local")


def test_downloaded_repository(home, capsys, monkeypatch):
    repository(home / "home" / "hub" / "foo_bar_main")
    assert hub.list("foo/bar:main") == ["net"]
    assert hub.help("foo/bar:main", "net") == "A net."
    assert hub.load("foo/bar:main", "net", trust_repo=True).out_features == 2
    assert "Using cache found in" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("N\n"))
    with pytest.raises(Exception, match="Untrusted repository."):
        hub.load("foo/unknown:main", "net")


def test_weights(home, capsys):
    torch.save({"w": torch.ones(2)}, home / "a.pth")
    url = (home / "a.pth").as_uri()
    digest = hashlib.sha256((home / "a.pth").read_bytes()).hexdigest()
    for _ in range(2):
        assert hub.load_state_dict_from_url(url)["w"].tolist() == [1, 1]
    output = capsys.readouterr()
    assert output.out.count("Downloading:") == 1
    place = home / "home" / "hub" / "checkpoints"
    with pytest.raises(RuntimeError, match='invalid hash value .expected "12345678", got'):
        hub.load_state_dict_from_url(url, file_name="b-12345678.pth", check_hash=True)
    name = f"b-{digest[:8]}.pth"
    hub.load_state_dict_from_url(url, file_name=name, check_hash=True, weights_only=True)
    assert sorted(p.name for p in place.iterdir()) == ["a.pth", name]
    with pytest.raises(FileNotFoundError):
        hub.download_url_to_file(url, str(home / "nowhere" / "x"))


def test_zipped_checkpoint(home):
    torch.save({"w": torch.ones(2)}, home / "a.pth")
    with zipfile.ZipFile(home / "z.zip", "w") as archive:
        archive.write(home / "a.pth", "a.pth")
    with pytest.warns(FutureWarning, match="Falling back to the old format"):
        state = hub.load_state_dict_from_url((home / "z.zip").as_uri(), progress=False)
    assert state["w"].tolist() == [1, 1]


def test_archive_members_stay_inside(home):
    with zipfile.ZipFile(home / "evil.zip", "w") as archive:
        archive.writestr("../evil", "x")
    with zipfile.ZipFile(home / "evil.zip") as archive:
        with pytest.raises(ValueError, match="outside of"):
            hub._safe_extract_zip(archive, str(home / "home"))
