"""Scanning again what was stored under older rules; what is newly found goes from text, index, vectors and file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import apsw
import orjson

from recall import archive, ledger
from recall.archive import StoredMessage
from recall.database import Database, Row
from recall.intake import Intake, remove_passages
from recall.types import Message
from scanning import RULES_VERSION, redact

Progress = Callable[[int, int], None]
"""Called with (sessions done, sessions in all)."""


@dataclass(frozen=True, slots=True)
class RescanReport:
    """What became of sessions that older rules had scanned."""

    sessions: int
    """How many were scanned again."""
    changed: int
    """Messages, and fields of sessions, in which something was newly masked."""
    redactions: dict[str, int]
    """What was masked, by rule."""
    left: int
    """Sessions that the time did not suffice for."""


def outdated(connection: apsw.Connection) -> int:
    """Number of sessions whose text was scanned by older rules."""
    row = connection.execute("select count(*) from sessions where rules_version < ?", (RULES_VERSION,)).fetchone()
    return int(row[0]) if row else 0


def rescan(
    database: Database, intake: Intake, progress: Progress | None = None, budget_seconds: float | None = None
) -> RescanReport:
    """Bring every session up to the rules of this version, each in a transaction of its own; can be killed at any time.

    A message that changes is cut and indexed anew; its vectors are missing until the next `embed`.
    """
    started = monotonic()
    waiting = [int(row[0]) for row in database.rows(_OUTDATED, (RULES_VERSION,))]
    changed = done = 0
    if waiting:
        with database.write() as connection:
            changed += _rescan_tables(connection)
    for session_id in waiting:
        if done and budget_seconds is not None and monotonic() - started > budget_seconds:
            break
        with database.write() as connection:
            changed += _rescan_session(connection, intake, session_id)
        done += 1
        if progress:
            progress(done, len(waiting))
    if changed:
        database.sweep()
    return RescanReport(done, changed, dict(intake.redactions), len(waiting) - done)


def _rescan_session(connection: apsw.Connection, intake: Intake, session_id: int) -> int:
    """Number of messages and fields that changed."""
    digests: list[tuple[int, int]] = []
    changed = 0
    rows: list[Row] = connection.execute(_MESSAGES, (session_id,)).fetchall()
    for row in rows:
        old = Message(role=row[1], text=row[2], tool=row[3], files=tuple(row[4].split("\n")), branch=row[5])
        new = Message(
            role=old.role,
            text=intake.masked(old.text),
            tool=intake.masked(old.tool),
            files=tuple(intake.masked(file) for file in old.files),
            branch=intake.masked(old.branch),
        )
        if new != old:
            changed += 1
            digests += _put(connection, intake, session_id, row, new)
    connection.executemany(_FOLLOW_COPIES, digests)
    fields = connection.execute(_FIELDS, (session_id,)).fetchone()
    assert fields is not None
    masked = [intake.masked(str(field)) for field in fields]
    changed += sum(1 for field, new_field in zip(fields, masked, strict=True) if field != new_field)
    connection.execute(_PUT_FIELDS, (*masked, RULES_VERSION, session_id))
    return changed


def _put(connection: apsw.Connection, intake: Intake, session_id: int, row: Row, new: Message) -> list[tuple[int, int]]:
    """Store a message that changed, and index it anew; (new digest, old digest) where its text has another one now."""
    message_id, digest, key, said_at, repository_id, worktree_id, subagent, copied = (row[0], *row[6:])
    # A copy keeps the digest of the text it no longer holds; it follows its original (_FOLLOW_COPIES).
    new_digest = digest if copied else archive.digest_of(new)
    # Two texts may have become one: it is then said once more.
    occurrence = 1
    if not key and new_digest != digest:
        occurrence += sum(int(last) for (last,) in connection.execute(_LAST_OCCURRENCE, (session_id, new_digest)))
    values = (new.text, new.tool, "\n".join(new.files), new.branch, new_digest)
    connection.execute(_PUT_MESSAGE, (*values, occurrence, message_id))
    remove_passages(connection, message_id)
    if not copied:
        intake.index_message(
            connection,
            StoredMessage(
                message_id, session_id, repository_id, worktree_id, new.role, new.text, said_at, bool(subagent)
            ),
        )
    return [(new_digest, digest)] if new_digest != digest else []


def _rescan_tables(connection: apsw.Connection) -> int:
    """Number of rows that changed: paths of repositories and worktrees, and what is known of the transcripts.

    Like everything that is looked up by its text, they carry no fingerprints.
    """
    changed = 0
    for table in ("repositories", "worktrees"):
        places: list[Row] = connection.execute(f"select id, key, path from {table}").fetchall()
        for row_id, *texts in places:
            masked = [redact(text).text for text in texts]
            if masked != texts:
                changed += 1
                connection.execute(f"update or ignore {table} set key = ?, path = ? where id = ?", (*masked, row_id))
    transcripts: list[Row] = connection.execute(_TRANSCRIPTS).fetchall()
    for row_id, path, state, skipped, problem in transcripts:
        texts = [path, state, skipped, problem]
        masked = [redact(path).text, _masked_json(state), _masked_json(skipped), redact(problem).text]
        if masked != texts:
            changed += 1
            connection.execute(_PUT_TRANSCRIPT, (*masked, row_id))
    return changed


def _masked_json(document: str) -> str:
    value: Any = orjson.loads(document)
    masked = ledger.redacted(value)
    return document if masked == value else orjson.dumps(masked).decode()


_OUTDATED = "select id from sessions where rules_version < ? order by id desc"
_MESSAGES = """
select m.id, m.role, m.text, m.tool, m.files, m.branch, m.digest, m.key, m.said_at, w.repository_id, m.worktree_id,
  m.subagent, m.copied_from is not null
from messages m join worktrees w on w.id = m.worktree_id where m.session_id = ? order by m.number
"""
_LAST_OCCURRENCE = "select ifnull(max(occurrence), 0) from messages where session_id = ? and digest = ? and key = ''"
_PUT_MESSAGE = """
update messages set text = ?, tool = ?, files = ?, branch = ?, digest = ?5,
  occurrence = iif(digest = ?5, occurrence, ?6) where id = ?7
"""
_FOLLOW_COPIES = "update messages set digest = ? where digest = ? and copied_from is not null"
_FIELDS = "select title, preview, cwd, branch, remote from sessions where id = ?"
_PUT_FIELDS = """
update sessions set title = ?, preview = ?, cwd = ?, branch = ?, remote = ?, rules_version = ? where id = ?
"""
_TRANSCRIPTS = "select id, path, state, skipped, problem from transcripts"
_PUT_TRANSCRIPT = "update or ignore transcripts set path = ?, state = ?, skipped = ?, problem = ? where id = ?"
