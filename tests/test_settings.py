from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.cli import settings
from recall.cli.settings import Settings, load_settings, write_model
from recall.errors import UsageError

posix = pytest.mark.skipif(os.name == "nt", reason="permissions and links are those of POSIX")


def written(home: Path, before: bytes, model: str = "BAAI/bge-small-zh-v1.5") -> bytes:
    """What config.toml holds after `model` was set in one that held `before`."""
    (home / "config.toml").write_bytes(before)
    write_model(home, model)
    return (home / "config.toml").read_bytes()


def test_a_home_that_does_not_exist_yet_is_made_for_the_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "a" / "home"
    assert write_model(home, "BAAI/bge-small-zh-v1.5") == home / "config.toml"
    assert (home / "config.toml").read_bytes() == b'model = "BAAI/bge-small-zh-v1.5"\n'
    assert load_settings(home) == Settings("BAAI/bge-small-zh-v1.5")
    assert [path.name for path in home.iterdir()] == ["config.toml"]
    if os.name != "nt":
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'model = "minilm"\n', b'model = "BAAI/bge-small-zh-v1.5"\n'),
        (b"model='minilm'", b'model="BAAI/bge-small-zh-v1.5"'),
        (b'"model" = "minilm" # bundled\n', b'"model" = "BAAI/bge-small-zh-v1.5" # bundled\n'),
        (
            b'# me\r\n\tmodel  =  "minilm"\t# why\r\na = 1\r\n',
            b'# me\r\n\tmodel  =  "BAAI/bge-small-zh-v1.5"\t# why\r\na = 1\r\n',
        ),
        (b'\xef\xbb\xbfmodel = "minilm"\r\n', b'\xef\xbb\xbfmodel = "BAAI/bge-small-zh-v1.5"\r\n'),
        (b'model = """\nminilm"""\n', b'model = "BAAI/bge-small-zh-v1.5"\n'),
        (
            b'# model = "x"\nmodel = "minilm"\n# model = "y"\n',
            b'# model = "x"\nmodel = "BAAI/bge-small-zh-v1.5"\n# model = "y"\n',
        ),
        (
            b'note = """\nmodel = "x"\n"""\nmodel = "a"\n',
            b'note = """\nmodel = "x"\n"""\nmodel = "BAAI/bge-small-zh-v1.5"\n',
        ),
        (b'model = "a"\n[table]\nmodel = "x"\n', b'model = "BAAI/bge-small-zh-v1.5"\n[table]\nmodel = "x"\n'),
        ('note = "灯塔"\nmodel = "a"\n'.encode(), 'note = "灯塔"\nmodel = "BAAI/bge-small-zh-v1.5"\n'.encode()),
    ],
)
def test_nothing_but_the_name_of_the_model_changes(tmp_path: Path, before: bytes, after: bytes) -> None:
    assert written(tmp_path, before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b'model = "BAAI/bge-small-zh-v1.5"\n'),
        (b"\xef\xbb\xbf", b'\xef\xbb\xbfmodel = "BAAI/bge-small-zh-v1.5"\n'),
        (b"# mine\r\n", b'# mine\r\nmodel = "BAAI/bge-small-zh-v1.5"\r\n'),
        (b"other = 1", b'other = 1\nmodel = "BAAI/bge-small-zh-v1.5"\n'),
        (b'other = """\nmodel = "x"\n"""\n', b'other = """\nmodel = "x"\n"""\nmodel = "BAAI/bge-small-zh-v1.5"\n'),
        (b"# mine\n[table]\nkey = 1\n", b'model = "BAAI/bge-small-zh-v1.5"\n# mine\n[table]\nkey = 1\n'),
        (
            b'\xef\xbb\xbf[table]\nmodel = "x"\n',
            b'\xef\xbb\xbfmodel = "BAAI/bge-small-zh-v1.5"\n[table]\nmodel = "x"\n',
        ),
    ],
)
def test_a_file_that_names_no_model_gets_a_line_outside_its_tables(tmp_path: Path, before: bytes, after: bytes) -> None:
    assert written(tmp_path, before) == after


@pytest.mark.parametrize("model", ["BAAI/bge-small-zh-v1.5", r"C:\models\keeper", 'a "quoted" name', "灯塔", "\x7f\t"])
def test_every_name_comes_back_as_it_was(tmp_path: Path, model: str) -> None:
    written(tmp_path, b"", model)
    assert load_settings(tmp_path).model == model


LINES = ["# note", "", "other = 1", 'words = """', '"""', "[table]", 'model = "old"', "x = '"]


@given(
    before=st.lists(st.sampled_from(LINES)),
    model=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_the_file_holds_either_the_model_alone_changes_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], model: str, end: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    path, text = home / "config.toml", end.join(before)
    path.write_bytes(text.encode())
    try:
        write_model(home, model)
    except UsageError:
        assert path.read_bytes() == text.encode()
        return
    after = path.read_bytes().decode()
    assert tomllib.loads(after) == tomllib.loads(text) | {"model": model}
    lines = after.splitlines()
    changed = [line for line in before if line and line not in lines]
    assert changed in ([], ['model = "old"'])


@pytest.mark.parametrize(
    "before", [b'"mod\\u0065l" = "minilm"\n', b'model.name = "minilm"\n', b"model = 7\n", b"model = [\n", b"\xff\xfe"]
)
def test_a_file_that_cannot_be_changed_alone_is_left_as_it_is(tmp_path: Path, before: bytes) -> None:
    (tmp_path / "config.toml").write_bytes(before)
    with pytest.raises(UsageError, match=r"config\.toml"):
        write_model(tmp_path, "BAAI/bge-small-zh-v1.5")
    assert (tmp_path / "config.toml").read_bytes() == before


def test_a_reader_meanwhile_sees_the_old_file_or_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b'model = "minilm"\n')
    really, seen = settings.os.fsync, []

    def look(handle: int) -> None:
        seen.append(path.read_bytes())
        really(handle)

    monkeypatch.setattr(settings.os, "fsync", look)
    write_model(tmp_path, "BAAI/bge-small-zh-v1.5")
    assert [*seen, path.read_bytes()] == [b'model = "minilm"\n', b'model = "BAAI/bge-small-zh-v1.5"\n']


def test_a_disk_that_is_full_leaves_the_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "config.toml").write_bytes(b'model = "minilm"\n')
    monkeypatch.setattr(settings.os, "fsync", full)
    with pytest.raises(UsageError, match="No space left"):
        write_model(tmp_path, "BAAI/bge-small-zh-v1.5")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("config.toml", b'model = "minilm"\n')]


@posix
def test_permissions_and_a_link_to_a_file_elsewhere_are_kept(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "dotfiles" / "recall.toml"
    home.mkdir()
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(b'model = "minilm"\n')
    elsewhere.chmod(0o640)
    (home / "config.toml").symlink_to(elsewhere)
    assert write_model(home, "BAAI/bge-small-zh-v1.5") == elsewhere
    assert (home / "config.toml").is_symlink()
    assert elsewhere.read_bytes() == b'model = "BAAI/bge-small-zh-v1.5"\n'
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o640
