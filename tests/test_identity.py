"""What a repository is known by: equal for every spelling of a URL, different for different repositories."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import bare_repository, git, linked_worktree, repository

from recall.identity import is_remote, remote_key, remote_sign, signs_of
from recall.places import place_of

TOKEN = "ghp" + "_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"

SPELLINGS = [
    "https://github.com/ana/kite",
    "https://github.com/ana/kite.git",
    "https://github.com/ana/kite/",
    "HTTPS://GitHub.com:443/Ana/Kite.git",
    "http://github.com/ana/kite",
    f"https://ana:{TOKEN}@github.com/ana/kite.git",
    f"https://{TOKEN}@github.com/ana/kite.git",
    "git://github.com/ana/kite.git",
    "git@github.com:ana/kite.git",
    "github.com:ana/kite",
    "org-12@github.com:ana/kite.git",
    "ssh://git@github.com/ana/kite.git",
    "ssh://git@github.com:22/ana/kite.git/",
    "git+ssh://git@github.com/ana/kite",
    " https://github.com./ana/kite.git\n",
]


@pytest.mark.parametrize("url", SPELLINGS)
def test_all_spellings_of_a_remote_are_one(url: str) -> None:
    assert remote_key(url) == "github.com/ana/kite"
    assert remote_sign(url) == "remote github.com/ana/kite"


def test_different_remotes_are_different() -> None:
    urls = ["https://github.com/ana/kite", "https://github.com/ana/kite2", "https://github.com/bo/kite",
            "https://gitlab.com/ana/kite", "https://kite.example/Ana/kite", "https://kite.example/ana/kite",
            "https://kite.example:8443/ana/kite", "bo@kite.example:ana/kite", "cy@kite.example:ana/kite",
            "https://[2001:db8::1]/ana/kite"]  # fmt: skip
    assert len({remote_key(url) for url in urls} - {""}) == len(urls)


@pytest.mark.parametrize(
    "url",
    ["", "/srv/kite.git", "../kite", "file:///srv/kite.git", "C:\\kite", "C:/kite", "https://localhost/kite",
     "ssh://127.0.0.1/kite", "https://github.com", "https://github.com/", "kite", "https://[REDACTED:x#1]/kite"],
)  # fmt: skip
def test_a_remote_that_may_be_another_one_on_another_machine_says_nothing(url: str) -> None:
    assert remote_key(url) == remote_sign(url) == ""


@given(st.text() | st.text("gitshtp:/@.[]#1a \\").map(lambda text: "https://" + text))
def test_any_text_has_a_key_without_a_secret(url: str) -> None:
    assert TOKEN not in remote_sign(f"{url}/{TOKEN}")


def test_a_repository_is_known_by_its_origin_or_by_its_only_remote(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")

    def remotes() -> set[str]:
        return {sign for sign in signs_of(place_of(app)) if is_remote(sign)}

    assert remotes() == set()
    git(app, "remote", "add", "up", "https://github.com/bo/kite")
    assert remotes() == {"remote github.com/bo/kite"}
    git(app, "remote", "add", "fork", "https://github.com/cy/kite")
    assert remotes() == set()
    git(app, "remote", "add", "origin", "git@github.com:ana/kite.git")
    assert remotes() == {"remote github.com/ana/kite"}


def test_a_repository_keeps_its_signs_when_it_moves_and_a_copy_has_others(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    fix = linked_worktree(app, tmp_path / "fix")
    bare = bare_repository(tmp_path / "core.git", app)
    signs, of_bare = signs_of(place_of(app)), signs_of(place_of(bare))
    assert len(signs) == len(of_bare) == 1
    assert signs_of(place_of(fix)) == signs != of_bare
    app.rename(tmp_path / "app2")
    assert signs_of(place_of(tmp_path / "app2")) == signs
    assert signs_of(place_of(app)) == signs_of(place_of(fix)) == set()
    shutil.copytree(tmp_path / "app2", tmp_path / "copy")
    assert signs_of(place_of(tmp_path / "copy")).isdisjoint(signs)
    git(tmp_path / "app2", "gc", "--quiet")
    assert signs_of(place_of(tmp_path / "app2")) == signs


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_a_folder_and_what_cannot_be_read_have_no_signs(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    (app / ".git" / "config").unlink()
    (app / ".git" / "config").mkdir()
    (app / ".git" / "description").unlink()
    assert signs_of(place_of(app)) == signs_of(place_of(tmp_path)) == signs_of(place_of("")) == set()
