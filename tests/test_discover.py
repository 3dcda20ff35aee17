from __future__ import annotations

import os
from pathlib import Path

import pytest

from recall.transcripts.discover import agent_folders, find_transcripts


def write(path: Path, age: int = 0) -> Path:
    """A file last changed `age` seconds before a fixed time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}\n")
    os.utime(path, (1_770_000_000 - age, 1_770_000_000 - age))
    return path


def found(*roots: Path) -> list[str]:
    return [path.name for path in find_transcripts(roots)]


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with both agents in their usual places."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for folder in (".codex/sessions", ".codex/archived_sessions", ".claude/projects"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path.resolve()


def test_both_agents_are_found_in_their_usual_places(agents: Path) -> None:
    assert agent_folders() == [
        agents / ".codex" / "sessions",
        agents / ".codex" / "archived_sessions",
        agents / ".claude" / "projects",
    ]


def test_agents_that_were_moved_are_found_there(agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (agents / "c" / "sessions").mkdir(parents=True)
    (agents / "d" / "projects").mkdir(parents=True)
    monkeypatch.setenv("CODEX_HOME", str(agents / "c"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(agents / "d"))
    assert agent_folders() == [agents / "c" / "sessions", agents / "d" / "projects"]


def test_without_an_agent_there_is_no_folder(agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(agents / "nowhere"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(agents / "nowhere"))
    assert agent_folders() == []


def test_transcripts_are_found_at_any_depth_newest_first(tmp_path: Path) -> None:
    write(tmp_path / "2026" / "03" / "01" / "rollout-a.jsonl", age=300)
    write(tmp_path / "2026" / "03" / "02" / "rollout-b.jsonl", age=100)
    write(tmp_path / "-work-kite" / "c.jsonl", age=200)
    assert found(tmp_path) == ["rollout-b.jsonl", "c.jsonl", "rollout-a.jsonl"]


def test_files_of_one_time_are_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.md"):
        write(tmp_path / name)
    assert found(tmp_path) == ["a.jsonl", "b.jsonl", "c.md"]


def test_only_what_can_be_a_transcript_is_taken(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl.zst", "notes.md"):
        write(tmp_path / name)
    for name in (
        "c.json", "d.txt", "e.jsonl.bak", "f.jsonl.zst.compress.123.tmp", "g.zst", "history.jsonl",
        "session_index.jsonl", "README.md", "CLAUDE.md", "AGENTS.md", "MEMORY.md", "USER.md", "changelog.md", "noext",
    ):  # fmt: skip
        write(tmp_path / name)
    assert sorted(found(tmp_path)) == ["a.jsonl", "b.jsonl.zst", "notes.md"]


def test_a_file_that_is_named_is_taken_whatever_its_name(tmp_path: Path) -> None:
    assert found(write(tmp_path / "export.txt"), write(tmp_path / "README.md")) == ["README.md", "export.txt"]


def test_a_file_is_taken_once_however_often_it_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "sub" / "a.jsonl")
    assert found(tmp_path, tmp_path / "sub", path, path) == ["a.jsonl"]


def test_of_a_rollout_that_is_also_compressed_the_plain_one_is_taken(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.jsonl.zst", "b.jsonl.zst"):
        write(tmp_path / name)
    assert sorted(found(tmp_path)) == ["a.jsonl", "b.jsonl.zst"]


def test_a_compressed_file_that_is_named_alone_is_taken(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl")
    assert found(write(tmp_path / "a.jsonl.zst")) == ["a.jsonl.zst"]


def test_a_folder_named_like_a_transcript_is_walked_into(tmp_path: Path) -> None:
    write(tmp_path / "old.jsonl" / "a.jsonl")
    assert found(tmp_path) == ["a.jsonl"]


def test_what_is_not_there_has_no_transcripts(tmp_path: Path) -> None:
    assert found(tmp_path / "nowhere") == []
    assert found() == []


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege on Windows")
def test_a_link_that_leads_nowhere_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    assert found(tmp_path) == ["a.jsonl"]


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege on Windows")
def test_a_link_back_to_its_own_folder_ends(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert found(tmp_path) == ["a.jsonl"]
