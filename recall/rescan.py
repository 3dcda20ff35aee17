"""Scanning again what was stored under older rules; what is newly found goes from text, index, vectors and file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import apsw
import orjson

from recall import archive, ledger, lexical
from recall.archive import StoredMessage
from recall.database import Database, Row
from recall.intake import Intake, remove_passages
from recall.redacting import hide_cut_off
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
    waiting = [int(row[0]) for row in database.rows(_OUTDATED, (RULES_VERSION,))]
    changed = done = 0
    if waiting:
        intake.load()
    started = monotonic()
    if waiting:
        with database.write() as connection:
            changed += _rescan_tables(connection)
    for session_id in waiting:
        if done and budget_seconds is not None and monotonic() - started > budget_seconds:
            break
        with database.write() as connection:
            changed += _rescan_session(connection, intake, session_id)
            done += 1
            if done == len(waiting):  # whatever changed: a rescan that was killed may have left terms behind
                lexical.drop_terms(connection)
        if progress:
            progress(done, len(waiting))
    if changed and done < len(waiting):
        with database.write() as connection:
            lexical.drop_terms(connection)
    if waiting:
        database.sweep()
    return RescanReport(done, changed, dict(intake.redactions), len(waiting) - done)


def _rescan_session(connection: apsw.Connection, intake: Intake, session_id: int) -> int:
    """Number of messages and fields that changed."""
    new_digests: dict[int, int] = {}
    changed = 0
    rows: list[Row] = connection.execute(_MESSAGES, (session_id,)).fetchall()
    for row in rows:
        old = Message(role=row[1], text=row[2], tool=row[3], files=tuple(row[4].split("\n")), branch=row[5])
        new = Message(
            role=old.role,
            text=intake.masked(hide_cut_off(old.text) if old.role == "tool" else old.text),
            tool=intake.masked(old.tool),
            files=tuple(intake.masked(file) for file in old.files),
            branch=intake.masked(old.branch),
        )
        if new != old:
            changed += 1
            new_digests |= _put(connection, intake, session_id, row, new)
    _follow(connection, session_id, new_digests)
    return changed + _rescan_fields(connection, intake, session_id)


def _rescan_fields(connection: apsw.Connection, intake: Intake, session_id: int) -> int:
    """Number of the session's own fields that changed."""
    row = connection.execute(_FIELDS, (session_id,)).fetchone()
    if row is None:  # another process has just forgotten it
        return 0
    fields = [str(field) for field in row]
    *whole, title, preview = fields
    # What fills its length has been cut, maybe inside a secret.
    shortened = ((title, archive.TITLE_LIMIT), (preview, archive.PREVIEW_LIMIT))
    rest = [hide_cut_off(text) if len(text) == limit else text for text, limit in shortened]
    masked = [intake.masked(text) for text in (*whole, *rest)]
    if connection.execute("select 1 from sessions where name = ? and id <> ?", (masked[0], session_id)).fetchone():
        masked[0] = f"{masked[0]}~{session_id}"
    connection.execute(_PUT_FIELDS, (*masked, RULES_VERSION, session_id))
    return sum(1 for old, new in zip(fields, masked, strict=True) if old != new)


def _put(connection: apsw.Connection, intake: Intake, session_id: int, row: Row, new: Message) -> dict[int, int]:
    """Store a message that changed, and index it anew; old digest to new one where its text has another one now."""
    message_id, digest, key, said_at, repository_id, worktree_id, subagent, copied = (row[0], *row[6:])
    # A copy keeps the digest of the text it no longer holds; it follows its original.
    new_digest = digest if copied else archive.digest_of(new)
    connection.execute(_PUT_MESSAGE, (new.text, new.tool, "\n".join(new.files), new.branch, message_id))
    if new_digest != digest:
        _put_digest(connection, message_id, session_id, key, new_digest)
    remove_passages(connection, message_id)
    if not copied:
        indexed = StoredMessage(
            message_id, session_id, repository_id, worktree_id, new.role, new.text, said_at, bool(subagent)
        )
        intake.index_messages(connection, [indexed])
    return {digest: new_digest} if new_digest != digest else {}


def _follow(connection: apsw.Connection, session_id: int, new_digests: dict[int, int]) -> None:
    """Give the copies that other sessions hold of this one's messages the new digests of those."""
    copies: list[Row] = connection.execute(_COPIES, (session_id,)).fetchall() if new_digests else []
    for message_id, other_id, key, digest in copies:
        if digest in new_digests:
            _put_digest(connection, message_id, other_id, key, new_digests[digest])


def _put_digest(connection: apsw.Connection, message_id: int, session_id: int, key: str, digest: int) -> None:
    # Two texts may have become one: it is then said once more.
    last = connection.execute(_LAST_OCCURRENCE, (session_id, digest)).fetchone()
    occurrence = 1 if key or last is None else int(last[0]) + 1
    connection.execute("update messages set digest = ?, occurrence = ? where id = ?", (digest, occurrence, message_id))


def _rescan_tables(connection: apsw.Connection) -> int:
    """Number of rows that changed: paths of repositories and worktrees, and what is known of the transcripts.

    Like everything that is looked up by its text, they carry no fingerprints.
    """
    changed = 0
    for table in ("repositories", "worktrees"):
        places: list[Row] = connection.execute(f"select id, key, path from {table}").fetchall()
        for row_id, *texts in places:
            key, path = masked = [redact(text).text for text in texts]
            if masked == texts:
                continue
            changed += 1
            put = f"update {table} set key = ?, path = ? where id = ?"
            try:
                connection.execute(put, (key, path, row_id))
            except apsw.ConstraintError:  # masked, two places may look alike
                connection.execute(put, (f"{key}#{row_id}", path, row_id))
    for table, column in (("signs", "sign"), ("relinks", "old_path"), ("relinks", "new_path")):
        kept: list[Row] = connection.execute(f"select distinct {column} from {table}").fetchall()
        for (text,) in kept:
            if redact(text).text != text:  # masked, it would lead nowhere
                changed += 1
                connection.execute(f"delete from {table} where {column} = ?", (text,))
    transcripts: list[Row] = connection.execute(_TRANSCRIPTS).fetchall()
    for row_id, path, state, skipped, problem in transcripts:
        texts = [path, state, skipped, problem]
        masked = [redact(path).text, _masked_json(state), _masked_json(skipped), redact(problem).text]
        if masked == texts:
            continue
        changed += 1
        try:
            connection.execute(_PUT_TRANSCRIPT, (*masked, row_id))
        except apsw.ConstraintError:  # as when they are read: both are known by one path
            connection.execute(_ADOPT_MESSAGES, (masked[0], row_id))
            connection.execute("delete from transcripts where id = ?", (row_id,))
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
_PUT_MESSAGE = "update messages set text = ?, tool = ?, files = ?, branch = ? where id = ?"
_COPIES = "select id, session_id, key, digest from messages where copied_from = ? order by session_id, number"
_FIELDS = "select name, parent, forked_from, cwd, branch, remote, title, preview from sessions where id = ?"
_PUT_FIELDS = """
update sessions set name = ?, parent = ?, forked_from = ?, cwd = ?, branch = ?, remote = ?, title = ?, preview = ?,
  rules_version = ? where id = ?
"""
_TRANSCRIPTS = "select id, path, state, skipped, problem from transcripts"
_PUT_TRANSCRIPT = "update transcripts set path = ?, state = ?, skipped = ?, problem = ? where id = ?"
_ADOPT_MESSAGES = """
update messages set transcript_id = (select id from transcripts where path = ?) where transcript_id = ?
"""
