"""R16, R19, R22: which sessions belong to the place one stands in, with real git repositories."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import COMMAND, Home
from repositories import bare_repository, linked_worktree, repository, submodule
from transcript_lines import at, cl, claude_lines, codex_lines, uid, write

import recall
from recall import Scope, UsageError

posix = pytest.mark.skipif(os.name == "nt", reason="a directory in use cannot be deleted there")


@dataclass(frozen=True, slots=True)
class Places:
    """The layouts of R16, and one session in each, named after it."""

    app: Path
    web: Path
    fix: Path
    fix_web: Path
    core: Path
    bare_worktree: Path
    lib: Path
    neighbour: Path

    def named(self) -> dict[str, Path]:
        return {name: getattr(self, name) for name in self.__slots__}


APP = ["app", "web", "fix", "fix_web"]


@pytest.fixture
def places(home: Home, tmp_path: Path) -> Places:
    base = tmp_path.resolve() / "work"
    app = repository(base / "app")
    lib = submodule(app, repository(base / "lib-source"), "vendor/lib")
    fix = linked_worktree(app, base / "app-fix")
    core = bare_repository(base / "core.git", app)
    bare_worktree = linked_worktree(core, base / "wt-bare")
    neighbour = repository(base / "app-fix2")
    web, fix_web = app / "packages" / "web", fix / "packages" / "web"
    for folder in (web, fix_web):
        folder.mkdir(parents=True)
    found = Places(app, web, fix, fix_web, core, bare_worktree, lib, neighbour)
    for number, (name, folder) in enumerate(found.named().items()):
        write(
            home.codex / f"rollout-{name}.jsonl",
            codex_lines(name, folder, ("user", f"kite question of {name}"), start=60 * number),
        )
    return found


def sessions(index: recall.Index, scope: Scope) -> list[str]:
    """Sessions that a search and the list of recent sessions give, which must agree."""
    hits = index.search("kite question", scope, mode="lexical", limit=50)
    found = {hit.session.id for hit in hits}
    listed = [session.id for session in index.recent(scope, limit=50)]
    assert found <= set(listed)
    assert sum(1 + hit.similar for hit in hits) == len(listed)
    return sorted(listed)


# R16: worktrees, subdirectories, submodules, bare repositories


@pytest.mark.parametrize("start", APP)
def test_one_repository_is_one_scope_from_all_its_worktrees_and_subdirectories(
    index: recall.Index, places: Places, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.ingest()
    monkeypatch.chdir(places.named()[start])
    assert sessions(index, Scope.here()) == sorted(APP)


@pytest.mark.parametrize(
    ("start", "expected"),
    [("app", ["app", "web"]), ("web", ["app", "web"]), ("fix", ["fix", "fix_web"]), ("fix_web", ["fix", "fix_web"])],
)
def test_a_worktree_scope_leaves_the_other_worktrees_out(
    index: recall.Index, places: Places, start: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    index.ingest()
    monkeypatch.chdir(places.named()[start])
    assert sessions(index, Scope.worktree()) == expected


def test_a_submodule_is_a_repository_of_its_own(index: recall.Index, places: Places) -> None:
    index.ingest()
    assert sessions(index, Scope.repository(places.lib)) == ["lib"]


def test_a_bare_repository_and_its_worktree_are_one(index: recall.Index, places: Places) -> None:
    index.ingest()
    for start in (places.core, places.bare_worktree):
        assert sessions(index, Scope.repository(start)) == ["bare_worktree", "core"]


def test_a_repository_whose_name_begins_alike_is_another(index: recall.Index, places: Places) -> None:
    index.ingest()
    assert sessions(index, Scope.repository(places.neighbour)) == ["neighbour"]


def test_the_command_line_says_where_it_looked(home: Home, places: Places) -> None:
    found = home.run("search", "kite question", "--json", cwd=places.fix_web).document
    assert found["scope"] == {"kind": "repository", "repository": str(places.app), "worktree": None}
    assert {hit["session"]["id"] for hit in found["hits"]} <= set(APP)
    found = home.run("search", "kite question", "--json", "--worktree", cwd=places.fix_web).document
    assert found["scope"] == {"kind": "worktree", "repository": str(places.app), "worktree": str(places.fix)}
    assert {hit["session"]["id"] for hit in found["hits"]} <= {"fix", "fix_web"}
    found = home.run("search", "kite question", "--json", "--repo", str(places.core)).document
    assert {hit["session"]["id"] for hit in found["hits"]} <= {"core", "bare_worktree"}
    found = home.run("search", "kite question", "--json", "--all", cwd=places.fix_web).document
    assert found["scope"] == {"kind": "everywhere", "repository": None, "worktree": None}


def test_a_search_from_a_submodule_names_the_superproject(home: Home, places: Places) -> None:
    """Somebody who stands in `app/vendor/lib` and misses the sessions of `app` must see why."""
    ran = home.run("search", "kite question", cwd=places.lib)
    said = f"{ran.text}\n{ran.complaint}".replace(str(places.lib), "")
    assert str(places.app) in said


# R19: Claude's folder names merge unrelated projects


def test_the_directory_in_the_lines_decides_and_not_the_name_of_the_folder(
    home: Home, index: recall.Index, tmp_path: Path
) -> None:
    kite, harbor = tmp_path / "风筝", tmp_path / "港口"
    folder = home.claude / "-srv-work---"
    write(folder / f"{uid(1)}.jsonl", claude_lines(uid(1), kite, ("user", "kite-only secret plan")))
    write(folder / f"{uid(2)}.jsonl", claude_lines(uid(2), harbor, ("user", "harbor plan"), first=100))
    late = [
        cl(at(5), "user", uid(200), uid(3), None, "plan without a place yet"),
        cl(at(6), "assistant", uid(201), uid(3), None, "plan still without"),
        cl(at(7), "user", uid(202), uid(3), harbor, "plan with a place"),
    ]
    write(folder / f"{uid(3)}.jsonl", late)
    index.ingest()
    hits = index.search("kite-only secret plan", Scope.repository(harbor), mode="lexical", limit=50)
    assert {hit.session.id for hit in hits} == {uid(2), uid(3)}
    assert [session.id for session in index.recent(Scope.repository(kite))] == [uid(1)]


def test_a_session_whose_directory_comes_late_is_in_it_from_its_first_message(
    home: Home, index: recall.Index, tmp_path: Path
) -> None:
    late = [
        cl(at(5), "user", uid(200), uid(3), None, "lantern one"),
        cl(at(6), "assistant", uid(201), uid(3), None, "lantern two"),
        cl(at(7), "user", uid(202), uid(3), tmp_path, "lantern three"),
    ]
    write(home.claude / "-srv-work---" / f"{uid(3)}.jsonl", late)
    index.ingest()
    hits = index.search("one two three", Scope.repository(tmp_path), mode="lexical")
    assert {hit.snippet.text for hit in hits} == {"lantern one", "lantern two", "lantern three"}


@pytest.mark.parametrize("names", [("my_app", "my-app"), ("my.app", "my app"), ("Ünter", "Änter")])
def test_folders_that_claude_spells_alike_stay_apart(
    home: Home, index: recall.Index, tmp_path: Path, names: tuple[str, str]
) -> None:
    for number, name in enumerate(names):
        lines = claude_lines(uid(number), tmp_path / name, ("user", f"plan {number}"), first=100 * (number + 1))
        write(home.claude / "-srv-my-app" / f"{uid(number)}.jsonl", lines)
    index.ingest()
    for number, name in enumerate(names):
        hits = index.search("plan", Scope.repository(tmp_path / name), mode="lexical")
        assert [hit.session.id for hit in hits] == [uid(number)]


def test_a_session_without_a_directory_is_found_everywhere_only(
    home: Home, index: recall.Index, tmp_path: Path
) -> None:
    write(home.claude / "-srv-work---" / f"{uid(1)}.jsonl", claude_lines(uid(1), None, ("user", "harbor plan")))
    write(home.codex / "rollout-2.jsonl", codex_lines("2", "", ("user", "harbor plan of codex")))
    index.ingest()
    for scope in (Scope.repository(tmp_path), Scope.repository("/"), Scope.worktree(tmp_path)):
        assert list(index.search("harbor plan", scope, mode="lexical")) == []
    hits = index.search("harbor plan", Scope.everywhere(), mode="lexical")
    assert {(hit.session.id, hit.session.repository) for hit in hits} == {(uid(1), ""), ("2", "")}


# R22: no repository, the wrong repository, no current directory


def test_a_folder_beside_a_repository_has_no_sessions_and_says_so(home: Home, places: Places) -> None:
    plain = places.app.parent / "plain"
    plain.mkdir()
    ran = home.run("search", "kite question", cwd=plain)
    assert ran.code == 0
    assert "nothing found" in ran.text
    assert "no sessions for this directory" in ran.complaint
    assert "fatal:" not in ran.complaint
    assert "question of" not in ran.text


def test_a_folder_around_repositories_does_not_have_their_sessions(index: recall.Index, places: Places) -> None:
    index.ingest()
    assert sessions(index, Scope.repository(places.app.parent)) == []


def test_git_variables_of_a_hook_do_not_move_the_scope(home: Home, places: Places) -> None:
    other = {
        "GIT_DIR": str(places.neighbour / ".git"),
        "GIT_WORK_TREE": str(places.neighbour),
        "GIT_COMMON_DIR": str(places.neighbour / ".git"),
    }
    found = home.run("search", "kite question", "--json", cwd=places.app, environment=other).document
    assert found["scope"]["repository"] == str(places.app)
    assert {hit["session"]["id"] for hit in found["hits"]} <= set(APP)


def test_git_variables_do_not_move_a_session_that_is_taken_in(
    index: recall.Index, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(places.neighbour / ".git"))
    index.ingest()
    monkeypatch.delenv("GIT_DIR")
    assert sessions(index, Scope.repository(places.app)) == sorted(APP)
    assert sessions(index, Scope.repository(places.neighbour)) == ["neighbour"]


_FROM_A_DELETED_DIRECTORY = """
import json, os, shutil, subprocess, sys
folder, *command = sys.argv[1:]
os.mkdir(folder)
os.chdir(folder)
shutil.rmtree(folder)
ran = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
print(json.dumps([ran.returncode, ran.stdout.decode(), ran.stderr.decode()]))
"""


def from_a_deleted_directory(home: Home, folder: Path, *arguments: str) -> tuple[int, str, str]:
    ran = subprocess.run(
        [sys.executable, "-c", _FROM_A_DELETED_DIRECTORY, str(folder), *COMMAND, *arguments],
        env=home.environment(),
        check=True,
        capture_output=True,
        timeout=120,
    )
    code, out, err = json.loads(ran.stdout)
    return code, out, err


@posix
def test_from_a_deleted_directory_a_search_says_so_in_one_line(home: Home, places: Places, tmp_path: Path) -> None:
    code, out, err = from_a_deleted_directory(home, tmp_path / "gone", "search", "kite question")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "current directory no longer exists" in err
    assert "--all" in err


@posix
@pytest.mark.parametrize("arguments", [("--all",), ("--repo", "APP")])
def test_from_a_deleted_directory_other_places_can_be_searched(
    home: Home, places: Places, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    named = [str(places.app) if argument == "APP" else argument for argument in arguments]
    code, out, err = from_a_deleted_directory(home, tmp_path / "gone", "search", "kite question", "--json", *named)
    assert code == 0, err
    assert json.loads(out)["hits"]


@posix
def test_in_a_deleted_directory_the_library_raises_its_own_error(
    index: recall.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="no longer exists"):
        index.search("kite")
    with pytest.raises(UsageError, match="no longer exists"):
        index.recent()
    assert list(index.search("kite", Scope.everywhere(), mode="lexical")) == []


def test_without_git_on_the_path_everything_is_found_as_before(home: Home, places: Places, tmp_path: Path) -> None:
    """The layout of a repository is read from its files, so nothing is lost without git."""
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = home.run("search", "kite question", "--json", cwd=places.fix_web, environment={"PATH": str(empty)})
    assert ran.code == 0, ran.complaint
    assert ran.document["scope"]["repository"] == str(places.app)
    found = {hit["session"]["id"] for hit in ran.document["hits"]}
    assert found
    assert found <= set(APP)
