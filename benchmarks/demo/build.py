"""Writes the invented sessions as the agents would have: transcripts with the same bytes each time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.demo import claude_code, codex
from benchmarks.demo.scripts import Script, read_scripts


def write_sessions(folder: Path, shop: Path, notes: Path) -> None:
    """Writes all sessions below `folder/codex` and `folder/claude`, as if they had run in `shop` and `notes`.

    The two directories need not exist. That of a linked worktree runs in a directory beside its repository.
    """
    scripts = read_scripts()
    for script in scripts:
        cwd = working_directory(script, shop, notes)
        if script.agent == "codex":
            path = folder / "codex" / "sessions" / codex.rollout_name(script)
            _write(path, codex.rollout(script, cwd))
        else:
            path = folder / "claude" / "projects" / claude_code.transcript_name(script, cwd)
            _write(path, claude_code.transcript(script, cwd))
    titles = (codex.index_record(script) for script in scripts if script.agent == "codex")
    _write(folder / "codex" / "session_index.jsonl", titles)


def working_directory(script: Script, shop: Path, notes: Path) -> Path:
    """Where the session ran: its repository, or the worktree of that name beside it."""
    repository = {"shop": shop, "notes": notes}[script.repository]
    return repository.with_name(script.worktree) if script.worktree else repository


def _write(path: Path, records: Iterable[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
