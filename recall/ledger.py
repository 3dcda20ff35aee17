"""What has been read of each transcript: the table `transcripts`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import orjson

from recall.database import Row
from recall.privacy import NOT_REMEMBERED
from recall.rendering import safe_text
from scanning import redact

HEAD_SIZE = 4_096

NOT_KEPT = "its session is older than what is kept"
LEFT_OUT = (NOT_REMEMBERED, NOT_KEPT)
"""How the problem of a transcript ends that is left out on purpose."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How far a transcript has been read. Stored under its path with any secret in it masked."""

    size: int
    modified_ns: int
    head_size: int
    head_digest: bytes
    """Of the first head_size bytes: tells a file that grew from one that was written anew."""
    read_to: int
    line_count: int
    reader: str
    state: dict[str, Any]
    skipped: dict[str, int]
    problem: str
    session_id: int | None = None
    id: int = 0


def find(connection: apsw.Connection, path: Path) -> Entry | None:
    """The entry of a transcript; None for one that was never read."""
    row = connection.execute(_FIND, (stored_path(path),)).fetchone()
    return _entry(row) if row else None


def find_moved(connection: apsw.Connection, head_size: int, head_digest: bytes) -> Entry | None:
    """The entry of a transcript that begins alike and whose path is gone: it was moved or archived."""
    for row in connection.execute(_FIND_ALIKE, (head_size, head_digest)).fetchall():
        if not Path(str(row[-1])).exists():
            return _entry(row)
    return None


def put(connection: apsw.Connection, path: Path, entry: Entry) -> int:
    """Row id of the entry, added or replaced."""
    values = (
        stored_path(path), entry.session_id, entry.size, entry.modified_ns, entry.head_size, entry.head_digest,
        entry.read_to, entry.line_count, entry.reader, orjson.dumps(redacted(entry.state)).decode(),
        orjson.dumps(entry.skipped).decode(), redact(entry.problem).text,
    )  # fmt: skip
    row = connection.execute(_PUT, values).fetchone()
    assert row is not None
    return int(row[0])


def move(connection: apsw.Connection, entry: Entry, path: Path) -> None:
    """Give an entry a new path: its file was moved."""
    connection.execute("update transcripts set path = ? where id = ?", (stored_path(path), entry.id))


def adopt_messages(connection: apsw.Connection, session_id: int, transcript_id: int) -> None:
    """Let messages whose transcript is gone point to the one that holds them now (compressed, or copied elsewhere)."""
    others: list[Row] = connection.execute(_OTHER_TRANSCRIPTS, (session_id, transcript_id)).fetchall()
    for other, path in others:
        if not Path(path).exists():
            connection.execute(_ADOPT, (transcript_id, session_id, other))


def problems(connection: apsw.Connection) -> list[str]:
    """Why transcripts could not be taken in, one sentence each; not those that were left out on purpose."""
    rows = connection.execute("select problem from transcripts where problem <> '' order by id")
    return [safe_text(str(problem)) for (problem,) in rows if not str(problem).endswith(LEFT_OUT)]


def redacted(value: Any) -> Any:
    """The same JSON value with every string in it redacted: masked in its encoded form, a quoted secret could stay."""
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, dict):
        return {redact(key).text: redacted(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(inner) for inner in value]
    return value


def stored_path(path: Path) -> str:
    """The path as it is stored: a token in a folder's name is a secret too."""
    return redact(str(path)).text


def _entry(row: Row) -> Entry:
    return Entry(
        size=row[2], modified_ns=row[3], head_size=row[4], head_digest=bytes(row[5]), read_to=row[6],
        line_count=row[7], reader=row[8], state=orjson.loads(row[9]), skipped=orjson.loads(row[10]),
        problem=row[11], session_id=row[1], id=row[0],
    )  # fmt: skip


_COLUMNS = """id, session_id, size, modified_ns, head_size, head_digest, read_to, line_count, reader, state, skipped,
problem, path"""
_FIND = f"select {_COLUMNS} from transcripts where path = ?"
_FIND_ALIKE = f"select {_COLUMNS} from transcripts where head_size = ? and head_digest = ? and problem = ''"
_PUT = """
insert into transcripts (path, session_id, size, modified_ns, head_size, head_digest, read_to, line_count, reader,
                         state, skipped, problem)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (path) do update set session_id = excluded.session_id, size = excluded.size,
  modified_ns = excluded.modified_ns, head_size = excluded.head_size, head_digest = excluded.head_digest,
  read_to = excluded.read_to, line_count = excluded.line_count, reader = excluded.reader, state = excluded.state,
  skipped = excluded.skipped, problem = excluded.problem
returning id
"""
_OTHER_TRANSCRIPTS = """
select distinct t.id, t.path from messages m join transcripts t on t.id = m.transcript_id
where m.session_id = ? and t.id <> ?
"""
_ADOPT = "update messages set transcript_id = ? where session_id = ? and transcript_id = ?"
