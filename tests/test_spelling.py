"""Which spellings of a directory are one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.spelling import System, spelled_here, true_case

KITE = ["C:\\kite", "c:/kite", "\\\\?\\C:\\kite", "//?/c:/kite", "/c/kite", "/mnt/c/kite", "/cygdrive/c/kite"]


def spelled(path: str, system: System, drives: str = "C:\\ /mnt/c") -> str:
    return spelled_here(path, system, lambda folder: folder in drives.split())


def test_on_windows_a_drive_has_the_names_that_git_bash_and_wsl_give_it() -> None:
    assert {spelled(path, "windows") for path in KITE[4:]} == {"C:\\kite"}
    assert [spelled(path, "windows") for path in KITE[:4]] == KITE[:4]  # path_key makes these one
    assert spelled("/c", "windows") == spelled("/c/", "windows") == "C:\\"


def test_under_wsl_a_drive_is_where_it_is_mounted() -> None:
    assert {spelled(path, "wsl") for path in [*KITE[:4], "/mnt/c/kite"]} == {"/mnt/c/kite"}
    assert spelled("/c/kite", "wsl") == "/c/kite"  # a folder of Linux


def test_elsewhere_a_drive_is_one_of_another_machine() -> None:
    assert [spelled(path, "posix") for path in KITE] == KITE


@pytest.mark.parametrize(
    "path", ["/d/kite", "/mnt/d/kite", "D:\\kite", "/cc/kite", "/mnt/kite", "/srv/c/kite", "C:kite"]
)
def test_a_drive_that_is_not_here_is_none_of_this_machine(path: str) -> None:
    assert spelled(path, "windows") == spelled(path, "wsl") == path


@given(st.text(), st.sampled_from(["windows", "wsl", "posix"]))
def test_a_path_as_it_is_named_here_stays(path: str, system: System) -> None:
    once = spelled_here(path, system, lambda _: True)
    assert spelled_here(once, system, lambda _: True) == once


class Disk:
    """Folders of a disk that tells no case apart, as that of a Mac."""

    folders = ("/", "/Users", "/Users/ana", "/Users/ana/Kite", "/Users/ana/風箏", "/Users/ana/Caf\u00e9")

    def true(self, path: str) -> str:
        return true_case(path, self.exists, self.is_same, self.listing)

    def exists(self, path: str) -> bool:
        return path.casefold() in {folder.casefold() for folder in self.folders}

    def is_same(self, one: str, other: str) -> bool:
        return one.casefold() == other.casefold()

    def listing(self, path: str) -> list[str]:
        parent = path.rstrip("/").casefold()
        return [
            name
            for head, _, name in (one.rpartition("/") for one in self.folders)
            if name and head.casefold() == parent
        ]


@pytest.mark.parametrize("path", ["/Users/ana/Kite", "/users/ANA/kite", "/USERS/ana/KITE"])
def test_on_a_disk_that_tells_no_case_apart_a_path_has_the_letters_of_its_folders(path: str) -> None:
    assert Disk().true(path) == "/Users/ana/Kite"
    assert Disk().true(f"{path}/gone/Src") == "/Users/ana/Kite/gone/Src"
    assert Disk().true("/users/ana/風箏") == "/Users/ana/風箏"


def test_what_is_not_there_is_left_as_it_is() -> None:
    assert Disk().true("/nowhere/Kite") == "/nowhere/Kite"
    assert Disk().true("/") == "/"


def test_on_a_disk_that_tells_case_apart_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "Kite").mkdir()
    if (tmp_path / "kITE").exists():
        pytest.skip("this disk tells no case apart")
    for name in ("Kite", "kite", "KITE/gone"):
        assert true_case(str(tmp_path / name)) == str(tmp_path / name)
    (tmp_path / "kITE").mkdir()
    assert true_case(str(tmp_path / "Kite")) == str(tmp_path / "Kite")
