"""The memory folders of an older plugin: planned, merged, archived, taken back. With real git repositories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT, Home
from here import run_here
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repositories import linked_worktree, repository

from memory import MemoryStoreError, legacy_migration
from memory.json_merge import merge_json
from memory.legacy_buckets import SIDECAR, mangled, plan_migration
from memory.legacy_migration import apply, undo
from memory.markdown_merge import lines_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="that plugin ran on POSIX systems only")

USER, MEMORY = b"# User\n\n- prefers tabs\n", b"# Memory\n\n## Rules\n\n- run make test\n"
Tree = dict[str, tuple[bytes, int]]


@dataclass(frozen=True, slots=True)
class Plugin:
    """A home of the plugin, and a repository `app` with a linked worktree `app-fix`."""

    home: Path
    app: Path
    fix: Path

    def bucket(self, cwd: Path, named: bool = True, **files: bytes) -> Path:
        """The folder of a directory. files: names with `__` for `/` and `_` for `.`."""
        folder = self.home / "projects" / mangled(str(cwd))
        (folder / "memory").mkdir(parents=True, exist_ok=True)
        if named:
            (folder / SIDECAR).write_text(str(cwd), encoding="utf-8")
        for name, content in files.items():
            path = folder / "memory" / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return folder

    def tree(self) -> Tree:
        """Every file of the memory folders, with its permissions."""
        found = [path for path in (self.home / "projects").rglob("*") if path.is_file()]
        return {str(path.relative_to(self.home)): (path.read_bytes(), path.stat().st_mode & 0o777) for path in found}

    def apply(self) -> list[legacy_migration.Applied]:
        return apply(self.home, plan_migration(self.home)[0])


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    base = tmp_path.resolve() / "work 风筝"
    app = repository(base / "app")
    (tmp_path / "csep").mkdir()
    return Plugin(tmp_path / "csep", app, linked_worktree(app, base / "app-fix"))


def test_the_markdown_of_two_worktrees_becomes_one_and_the_source_is_archived(plugin: Plugin) -> None:
    target = plugin.bucket(plugin.app, USER_md=USER, MEMORY_md=MEMORY)
    source = plugin.bucket(plugin.fix, USER_md=USER, MEMORY_md=MEMORY + b"- never push\n", refs__api_md=b"# API\n")
    (target / "memory" / "MEMORY.md").chmod(0o640)
    (done,) = plugin.apply()
    assert (done.error, done.merged_entries) == ("", 1)
    assert (target / "memory" / "USER.md").read_bytes() == USER
    assert (target / "memory" / "MEMORY.md").read_bytes() == MEMORY + b"- never push\n"
    assert (target / "memory" / "MEMORY.md").stat().st_mode & 0o777 == 0o640
    assert (target / "memory" / "refs" / "api.md").read_bytes() == b"# API\n"
    assert not source.exists()
    archived = source.with_name(done.archived_as)
    assert archived.name.startswith(f"{source.name}.archived.2")
    assert (archived / "memory" / "MEMORY.md").read_bytes() == MEMORY + b"- never push\n"


def test_a_dry_run_changes_nothing_and_a_migration_is_taken_back_byte_by_byte(plugin: Plugin) -> None:
    plugin.bucket(plugin.app, MEMORY_md=b"\xef\xbb\xbf- a\r\n- b")
    (plugin.bucket(plugin.fix, MEMORY_md=MEMORY, USER_md=USER) / "memory" / "USER.md").chmod(0o600)
    plugin.bucket(plugin.app / "src", MEMORY_md=b"- of a folder\n")
    (plugin.app / "src").mkdir()
    before = plugin.tree()
    plan_migration(plugin.home)
    assert plugin.tree() == before
    assert [done.error for done in plugin.apply()] == ["", ""]
    assert plugin.tree() != before
    assert len(undo(plugin.home)) == 2
    assert plugin.tree() == before
    with pytest.raises(MemoryStoreError, match="no migration to take back"):
        undo(plugin.home)
    plugin.apply()
    undo(plugin.home)
    assert plugin.tree() == before


def test_a_repository_without_a_folder_of_its_own_gets_one_and_undo_takes_it_away(plugin: Plugin) -> None:
    plugin.bucket(plugin.fix, MEMORY_md=MEMORY)
    before = plugin.tree()
    plugin.apply()
    target = plugin.home / "projects" / mangled(str(plugin.app))
    assert (target / "memory" / "MEMORY.md").read_bytes() == MEMORY
    assert (target / SIDECAR).read_text(encoding="utf-8").strip() == str(plugin.app)
    undo(plugin.home)
    assert plugin.tree() == before
    assert not target.exists()


@pytest.mark.parametrize("changed", ["target", "source", "source is back"])
def test_undo_refuses_what_would_lose_something_written_since(plugin: Plugin, changed: str) -> None:
    target, source = plugin.bucket(plugin.app, MEMORY_md=MEMORY), plugin.bucket(plugin.fix, MEMORY_md=b"- x\n")
    (done,) = plugin.apply()
    if changed == "source is back":
        plugin.bucket(plugin.fix, MEMORY_md=b"- new\n")
    else:
        folder = target if changed == "target" else source.with_name(done.archived_as)
        (folder / "memory" / "MEMORY.md").write_bytes(b"- by hand\n")
    before = plugin.tree()
    with pytest.raises(MemoryStoreError, match="not taken back"):
        undo(plugin.home)
    assert plugin.tree() == before


def test_what_stays_says_why(plugin: Plugin, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "o-ne" / "x").mkdir(parents=True)
    (tmp_path / "o" / "ne" / "x").mkdir(parents=True)
    expected = {
        plugin.bucket(plugin.app).name: "already canonical",
        plugin.bucket(tmp_path / "gone").name: "no longer exists",
        plugin.bucket(tmp_path / "gone too", named=False).name: "no longer exists",
        plugin.bucket(tmp_path / "plain").name: "not in a git repository",
        plugin.bucket(tmp_path / "o-ne" / "x", named=False).name: "may stand for",
    }
    (plugin.home / "projects" / "-srv-app.archived.20260302T100000Z").mkdir()
    plans, skipped = plan_migration(plugin.home)
    assert plans == []
    reasons = {one.bucket: one.reason for one in skipped}
    assert reasons.pop("-srv-app.archived.20260302T100000Z") == "already archived"
    assert reasons.keys() == expected.keys()
    for bucket, reason in expected.items():
        assert reason in reasons[bucket]


def test_a_name_that_only_one_directory_can_have_needs_no_sidecar(plugin: Plugin) -> None:
    plugin.bucket(plugin.fix, named=False, MEMORY_md=MEMORY)
    (plan,) = plan_migration(plugin.home)[0]
    assert plan.source_cwd == str(plugin.fix)
    assert plan.target_cwd == str(plugin.app)
    assert plan.entries == 1


def test_a_folder_that_another_repository_uses_is_no_target(plugin: Plugin, tmp_path: Path) -> None:
    """`/a/b-c` and `/a/b/c` have one name."""
    other = repository(plugin.app.parent / "ap" / "p")
    target = plugin.home / "projects" / mangled(str(plugin.app))
    plugin.bucket(plugin.fix, MEMORY_md=MEMORY)
    target.mkdir()
    (target / SIDECAR).write_text(str(other), encoding="utf-8")
    plans, skipped = plan_migration(plugin.home)
    assert plans == []
    assert any("is used by" in one.reason for one in skipped)


def test_what_cannot_be_merged_is_kept_beside_and_never_replaced(plugin: Plugin) -> None:
    target = plugin.bucket(plugin.app, notes_txt=b"ours", memory_json=b'{"v": 1}', MEMORY_md=b"```\nopen\n")
    plugin.bucket(plugin.fix, notes_txt=b"theirs", memory_json=b'{"v": 2}', MEMORY_md=b"- x\n")
    (done,) = plugin.apply()
    held = {path.name: path.read_bytes() for path in (target / "memory").iterdir()}
    assert len(done.kept_aside) == 3
    assert {held[name] for name in ("notes.txt", "memory.json", "MEMORY.md")} == {b"ours", b'{"v": 1}', b"```\nopen\n"}
    assert {held[name] for name in done.kept_aside} == {b"theirs", b'{"v": 2}', b"- x\n"}


def test_lists_of_entries_in_json_are_joined() -> None:
    ours = b'{"entries": [{"scope": "user", "text": "tabs", "at": 1}], "version": 1}'
    theirs = b'{"entries": [{"scope": "user", "text": "tabs", "at": 2}, {"scope": "repo", "text": "tabs"}], "by": "x"}'
    merged = merge_json(ours, theirs)
    assert merged is not None
    assert json.loads(merged) == {
        "entries": [{"scope": "user", "text": "tabs", "at": 1}, {"scope": "repo", "text": "tabs"}],
        "version": 1,
        "by": "x",
    }
    for odd in (b'{"a": 1, "a": 2}', b"[1.00000000000000000001]", b"{"):
        with pytest.raises(ValueError):
            merge_json(odd, b"[]")


TEXT = st.lists(
    st.sampled_from(
        [b"# M\n", b"## R\r\n", b"- a\n", b"- b", b"\n", b"text\r", b"```\n", "风筝\n".encode(), b"\xff\xfe"]
    )
    | st.binary(max_size=6)
).map(b"".join)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT, TEXT, TEXT)
def test_no_line_of_any_file_is_lost(plugin: Plugin, one: bytes, two: bytes, three: bytes) -> None:
    sub = plugin.app / "src"
    sub.mkdir(exist_ok=True)
    target = plugin.bucket(plugin.app, MEMORY_md=one)
    plugin.bucket(plugin.fix, MEMORY_md=two)
    plugin.bucket(sub, MEMORY_md=three)
    before = plugin.tree()
    assert [done.error for done in plugin.apply()] == ["", ""]
    held = {line for path in (target / "memory").iterdir() for line in lines_of(path.read_bytes())}
    for content in (one, two, three):
        assert held >= set(lines_of(content))
    undo(plugin.home)
    assert plugin.tree() == before


_KILLED = """
import os, sys
from pathlib import Path
from memory import legacy_migration
from memory.legacy_buckets import plan_migration
left = int(sys.argv[2])
def counted(real):
    def step(*arguments, **more):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return real(*arguments, **more)
    return step
legacy_migration.replace_file, Path.rename = counted(legacy_migration.replace_file), counted(Path.rename)
home = Path(sys.argv[1])
legacy_migration.apply(home, plan_migration(home)[0])
"""


@pytest.mark.parametrize("writes", [2, 3, 4, 5])
def test_a_migration_that_was_killed_has_lost_nothing_and_can_be_finished_or_taken_back(
    plugin: Plugin, writes: int
) -> None:
    target = plugin.bucket(plugin.app, MEMORY_md=MEMORY, USER_md=USER)
    plugin.bucket(plugin.fix, MEMORY_md=b"- x\n", USER_md=b"- y\n")
    before = plugin.tree()
    ran = subprocess.run(
        [sys.executable, "-c", _KILLED, str(plugin.home), str(writes)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert ran.returncode == 9
    if writes % 2 and any((plugin.home / "backups").glob("*/record.json")):
        undo(plugin.home)
        assert {name: file for name, file in plugin.tree().items() if "/." not in name} == {
            name: file for name, file in before.items() if "/." not in name
        }
    plugin.apply()
    held = [line for path in (target / "memory").glob("*.md") for line in lines_of(path.read_bytes())]
    assert sorted(held) == sorted([*lines_of(MEMORY), *lines_of(USER), "- x", "- y"])
    assert plan_migration(plugin.home)[0] == []


def test_an_editor_that_saves_meanwhile_loses_nothing(plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    target, source = plugin.bucket(plugin.app, MEMORY_md=b"- a\n"), plugin.bucket(plugin.fix, MEMORY_md=b"- b\n")
    real = legacy_migration._enter

    def saved_just_then(*arguments: object) -> None:
        monkeypatch.setattr(legacy_migration, "_enter", real)
        real(*arguments)  # type: ignore[arg-type]
        (source / "memory" / "MEMORY.md").write_bytes(b"- b\n- c\n")

    monkeypatch.setattr(legacy_migration, "_enter", saved_just_then)
    (done,) = plugin.apply()
    assert done.error == ""
    assert (target / "memory" / "MEMORY.md").read_bytes() == b"- a\n- b\n- c\n"

    plugin.bucket(plugin.fix, MEMORY_md=b"- d\n")

    def target_saved_just_then(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]
        (target / "memory" / "MEMORY.md").write_bytes(b"- by hand\n")

    monkeypatch.setattr(legacy_migration, "_enter", target_saved_just_then)
    (done,) = plugin.apply()
    assert "run the command again" in done.error
    assert (target / "memory" / "MEMORY.md").read_bytes() == b"- by hand\n"
    assert source.exists()

    monkeypatch.setattr(legacy_migration, "_enter", real)
    (target / "memory" / "MEMORY.md").write_bytes(b"- a\n- b\n- c\n")
    shutil.rmtree(source)
    assert undo(plugin.home) == [source.name]  # the first one: the second came to nothing
    assert (target / "memory" / "MEMORY.md").read_bytes() == b"- a\n"


def test_a_plan_that_another_process_has_carried_out_is_no_loss(plugin: Plugin) -> None:
    target, _ = plugin.bucket(plugin.app, MEMORY_md=b"- a\n"), plugin.bucket(plugin.fix, MEMORY_md=b"- b\n")
    plans, _ = plan_migration(plugin.home)
    apply(plugin.home, plans)
    (late,) = apply(plugin.home, plans)
    assert "no longer there" in late.error
    assert (target / "memory" / "MEMORY.md").read_bytes() == b"- a\n- b\n"
    assert len(undo(plugin.home)) == 1


def test_one_migration_is_at_work_at_a_time(plugin: Plugin) -> None:
    plugin.bucket(plugin.fix, MEMORY_md=MEMORY)
    with legacy_migration._locked(plugin.home), pytest.raises(MemoryStoreError, match="another migration"):
        plugin.apply()


# recall migrate-worktrees


def test_the_command_plans_applies_and_takes_back(home: Home, plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_SELF_EVOLUTION_HOME", str(plugin.home))
    plugin.bucket(plugin.app, MEMORY_md=MEMORY)
    source = plugin.bucket(plugin.fix, MEMORY_md=b"- x\n- y\n")
    before = plugin.tree()
    planned = run_here("migrate-worktrees", "--json").document
    assert planned.keys() == {"home", "plans", "skipped", "counts", "applied", "apply_results"}
    assert planned["home"] == str(plugin.home)
    assert planned["counts"] == {"to_migrate": 1, "skipped": 1}
    assert planned["applied"] is False
    assert planned["plans"][0]["source_bucket"] == source.name
    assert planned["plans"][0]["source_memory_entries"] == 2
    assert planned["skipped"][0]["reason"] == "already canonical"
    assert "--apply" in run_here("migrate-worktrees").text
    assert plugin.tree() == before
    done = run_here("migrate-worktrees", "--apply", "--json", "--home", str(plugin.home)).document
    assert done["applied"] is True
    assert done["apply_results"][0]["merged_memory_entries"] == 2
    assert (plugin.home / "projects" / done["apply_results"][0]["archived_as"]).is_dir()
    assert run_here("migrate-worktrees", "--undo").code == 0
    assert plugin.tree() == before
    again = run_here("migrate-worktrees", "--undo")
    assert (again.code, again.text) == (1, "")
    assert "no migration to take back" in again.complaint
    assert run_here("migrate-worktrees", "--undo", "--apply").code == 2


def test_a_home_that_does_not_exist_holds_nothing_to_merge(home: Home) -> None:
    ran = run_here("migrate-worktrees", "--json")
    assert ran.document["counts"] == {"to_migrate": 0, "skipped": 0}
    assert not (home.root / ".codex-self-evolution").exists()
