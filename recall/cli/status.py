"""What `recall status` tells: a snapshot that changes nothing."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from recall.cli.render import counted, iso_time
from recall.cli.settings import load_settings
from recall.cli.streams import complain
from recall.errors import ModelError
from recall.index import Index
from recall.opening import open_index
from recall.retention import count_removed
from recall.room import room_of


def status_document(home: Path) -> dict[str, Any]:
    """The document of `recall status --json`. A home that does not exist yet is not made."""
    path = home / "recall.db"
    settings = load_settings(home)
    recall: dict[str, Any] = {"db_path": str(path), "db_exists": path.is_file(), "db_bytes": 0}
    recall |= dict.fromkeys(("session_count", "message_count", "passage_count", "transcript_count"), 0)
    recall |= {"problems": [], "removed_count": 0, "room": None}
    embedder: dict[str, Any] = {"model": settings.model, "problem": None, "passages_without_vector": 0}
    document = {
        "timestamp": iso_time(datetime.now().astimezone()),
        "home": str(home),
        "session_recall": recall,
        "embedder": embedder,
    }
    if not path.is_file():
        return document
    with open_index(home, settings.model) as index:
        for sentence in index.repaired:
            complain(sentence)
        counts = index.counts()
        recall |= {
            "db_bytes": path.stat().st_size,
            "session_count": counts["sessions"],
            "message_count": counts["messages"],
            "passage_count": counts["passages"],
            "transcript_count": counts["transcripts"],
            "problems": index.problems(),
            "removed_count": count_removed(index.database),
            "room": {f"{name}_bytes": size for name, size in asdict(room_of(index.database, home)).items()},
        }
        embedder["passages_without_vector"] = counts["without_vector"]
        embedder["problem"] = index.database.vectors_missing or _model_problem(index)
    return document


def _model_problem(index: Index) -> str | None:
    """Why the model cannot be used, as far as this machine can tell without a network."""
    try:
        index.embedder.embed_query("status")
    except ModelError as error:
        return str(error)
    return None


def _room_text(room: dict[str, int]) -> list[str]:
    names = ("text", "word index", "vectors", "other", "free", "log", "models", "kept after damage", "rest")
    sizes = dict(zip(names, room.values(), strict=True))
    parts = [f"{name} {size / 2**20:.1f}" for name, size in sizes.items() if size >= 2**20 // 20]
    return [f"room       {', '.join(parts)} MB"] if parts else []


def status_text(document: dict[str, Any]) -> str:
    """The same for a person."""
    recall, embedder = document["session_recall"], document["embedder"]
    lines = [f"home       {document['home']}"]
    if not recall["db_exists"]:
        return "\n".join([*lines, "archive    none yet; make it with: recall ingest"])
    lines.append(
        f"archive    {counted(recall['session_count'], 'session')}, {counted(recall['message_count'], 'message')}, "
        f"{counted(recall['transcript_count'], 'transcript')}; {recall['db_bytes'] / 2**20:.1f} MB"
    )
    lines += _room_text(recall["room"])
    if recall["removed_count"]:
        lines.append(f"removed    {counted(recall['removed_count'], 'session')}, older than what config.toml keeps")
    missing = embedder["passages_without_vector"]
    vectors = f'{missing} passages without a vector; run "recall embed"' if missing else "up to date"
    lines.append(f"vectors    {vectors} (model {embedder['model']})")
    if embedder["problem"]:
        lines.append(f"problem    {embedder['problem']}")
    lines += [f"not read   {reason}" for reason in recall["problems"]]
    return "\n".join(lines)
