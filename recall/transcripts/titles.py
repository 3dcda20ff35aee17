"""Names that people gave their Codex sessions, from `session_index.jsonl` (one `{"id", "thread_name"}` a line)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from recall.transcripts.reader import loads_leniently


def title_lists(transcripts: Iterable[Path]) -> list[Path]:
    """The lists that belong to these rollouts: `sessions/2026/11/03/rollout-….jsonl` lies four folders below one."""
    folders: set[Path] = set()
    for path in transcripts:
        if path.name.startswith("rollout-"):
            folders.update(path.parents[1:5])
    return sorted(path for folder in folders if (path := folder / "session_index.jsonl").is_file())


def read_titles(path: Path) -> dict[str, str]:
    """Session id to name. Lines are appended when a name changes, so the last one counts; broken lines do not."""
    titles: dict[str, str] = {}
    try:
        lines = path.read_bytes().splitlines()
    except OSError:  # Codex may be writing it anew; the names come with the next ingest
        return {}
    for line in lines:
        record = loads_leniently(line)
        if isinstance(record, dict):
            name, title = record.get("id"), record.get("thread_name")
            if isinstance(name, str) and isinstance(title, str) and title.strip():
                titles[name] = title
    return titles
