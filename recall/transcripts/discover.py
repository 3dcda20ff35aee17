"""Finding transcripts: those of the agents on this machine, or those below a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

SUFFIXES = (".jsonl", ".jsonl.zst", ".md")
"""Names that a transcript may have. `.jsonl.zst.compress.*.tmp` is a file that Codex is still writing."""

HISTORY = "history.jsonl"
"""Name of the file in which both agents keep what was typed."""

_NOT_SESSIONS = frozenset({HISTORY, "session_index.jsonl", "journal.jsonl"})
_NOT_SESSIONS_MD = frozenset({"readme.md", "changelog.md", "claude.md", "agents.md", "memory.md", "user.md"})


def agent_folders() -> list[Path]:
    """Where Codex and Claude Code keep transcripts and prompts on this machine: folders and files that exist."""
    codex = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex").resolve()
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude").resolve()
    folders = [codex / "sessions", codex / "archived_sessions", claude / "projects"]
    histories = [codex / HISTORY, claude / HISTORY]
    return [*(folder for folder in folders if folder.is_dir()), *(file for file in histories if file.is_file())]


def find_transcripts(roots: Iterable[Path]) -> Iterator[Path]:
    """Transcripts among and below `roots`, each once, newest first, prompt histories last.

    A root that is a file is taken whatever its name; below a folder, a prompt history is not: it tells of all folders.

    Where a rollout exists both plain and compressed, the plain one is taken.
    """
    found: dict[Path, float] = {}
    for root in roots:
        for path in [root] if root.is_file() else _below(root):
            try:
                found[path] = path.stat().st_mtime
            except OSError:  # gone since it was listed
                continue
    for path in list(found):
        if path.suffix == ".zst" and path.with_suffix("") in found:
            del found[path]
    yield from sorted(found, key=lambda path: (path.name == HISTORY, -found[path], str(path)))


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(SUFFIXES) or name in _NOT_SESSIONS or name.lower() in _NOT_SESSIONS_MD:
                continue
            yield Path(folder) / name
