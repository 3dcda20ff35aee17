"""Prompts from an agent's history, kept as sessions of their own only as long as no transcript tells the same.

Each prompt is stored once, and the transcript wins, whichever was read first: a session that a transcript tells has no
prompts from the history, and no prompt stays that somebody said in another session at about that time (a fork).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import apsw
import orjson

from recall import archive, ledger
from recall.archive import Occurrences, digest_of, milliseconds
from recall.database import Database, Row
from recall.forgetting import forget_session, take_out
from recall.ledger import Entry
from recall.privacy import ExcludedError, Privacy, is_private
from recall.transcripts.history import HistoryReader
from recall.transcripts.lines import read_lines
from recall.transcripts.reader import Line
from recall.types import FileReport, FileStatus, Message, Session

if TYPE_CHECKING:
    from recall.intake import Intake

BATCH_PROMPTS = 500
TWIN_MS = 3_600_000
"""How far the times of a prompt and of the message it became may differ: one typed ahead waits for the agent."""

Prompt: TypeAlias = tuple[Session, Message]


def ingest_prompts(database: Database, intake: Intake, path: Path, entry: Entry, goes_on: bool) -> FileReport:
    """Take in what is new in one prompt history, from where the entry says."""
    stat = path.stat()
    reader = HistoryReader(path, entry.state if goes_on else None)
    reader.skipped.update(entry.skipped if goes_on else {})
    before = ledger.find(database.connection, path)
    expected = before.read_to if before else None
    unwanted: dict[str, None] = {}
    new = 0
    for batch, done in _batches(path, reader, entry):
        prompts, asked = _prepared(intake, batch)
        unwanted.update(dict.fromkeys(asked))
        entry = replace(done, state=reader.state(), skipped=dict(reader.skipped), reader=HistoryReader.__name__)
        if len(batch) < BATCH_PROMPTS:
            entry = replace(entry, size=stat.st_size, modified_ns=stat.st_mtime_ns)
        with database.write() as connection:
            at = ledger.find(connection, path)
            if (at.read_to if at else None) != expected:
                return FileReport(str(path), "unchanged", "another process has just read it")
            transcript_id = ledger.put(connection, path, entry)
            new += _store(connection, intake, prompts, transcript_id)
        expected = entry.read_to
    for name in unwanted:
        forget_session(database, intake.marks, name)
    status: FileStatus = "unchanged" if not new else "updated" if goes_on else "new"
    return FileReport(str(path), status, new_messages=new, skipped_lines=dict(reader.skipped))


def give_way(
    connection: apsw.Connection, session: Session, session_id: int | None, messages: Sequence[Message]
) -> None:
    """Make room for the messages of a transcript: prompts that tell the same go. Inside the caller's transaction.

    session_id: its row id, where something of the session is here already.
    """
    if connection.execute("select 1 from sessions where prompts_only = 1 limit 1").fetchone() is None:
        return
    own: list[Row] = connection.execute(_ITS_PROMPTS, (session_id,)).fetchall()
    said = {digest_of(one): milliseconds(one.timestamp) for one in messages if one.role == "user"}
    rows: list[Row] = connection.execute(_TWIN_PROMPTS, (json.dumps(list(said)),)).fetchall()
    twins = {
        id: other
        for id, digest, said_at, other, name in rows
        if name == session.forked_from or _is_near(said[digest], said_at)
    }
    if not own and not twins:
        return
    take_out(connection, [*(int(row[0]) for row in own), *twins])
    for other in {*twins.values(), *([session_id] if own else [])}:
        # The title was its first prompt, unless that is still there.
        connection.execute("update sessions set title = '', preview = '' where id = ?", (other,))
        archive.refresh_session(connection, other)
    connection.execute(_REMOVE_EMPTY, (json.dumps([other for other in twins.values() if other != session_id]),))


def _batches(path: Path, reader: HistoryReader, entry: Entry) -> Iterator[tuple[list[Prompt], Entry]]:
    """(prompts, the entry that covers them), the last one shorter than BATCH_PROMPTS."""
    batch: list[Prompt] = []
    read_to, count = entry.read_to, entry.line_count
    for raw in read_lines(path, read_to):
        if not raw.complete and not _is_json(raw.text):
            break
        read_to, count = raw.end, count + 1
        batch += [(reader.session, message) for message in reader.read(Line(count, raw.text))]
        if len(batch) >= BATCH_PROMPTS:
            yield batch, replace(entry, read_to=read_to, line_count=count)
            batch = []
    yield batch, replace(entry, read_to=read_to, line_count=count)


def _prepared(intake: Intake, batch: Sequence[Prompt]) -> tuple[list[Prompt], list[str]]:
    """(the prompts as they may be stored, names of sessions that somebody asked not to remember)."""
    kept: list[Prompt] = []
    asked: list[str] = []
    for session, message in batch:
        # A prompt without a directory may come from one that is excluded.
        if intake.excluded.patterns and not session.cwd:
            continue
        privacy = Privacy(intake.excluded)
        privacy.begin([message])
        try:
            prepared = intake.prepare(message, privacy, session.cwd)
        except ExcludedError as reason:
            if reason.by_its_user:
                asked.append(intake.masked(session.id))
            continue
        if prepared and not is_private(prepared.text):
            kept.append((session, prepared))
    return kept, asked


def _store(connection: apsw.Connection, intake: Intake, prompts: Sequence[Prompt], transcript_id: int) -> int:
    """Number of prompts that were new."""
    sessions: dict[str, tuple[Session, list[Message]]] = {}
    for session, message in prompts:
        sessions.setdefault(intake.masked(session.id), (session, []))[1].append(message)
    new = 0
    for name, (session, messages) in sessions.items():
        if archive.is_forgotten(connection, name) or connection.execute(_IS_TOLD, (name,)).fetchone():
            continue
        untold = [message for message in messages if not _has_twin(connection, name, message)]
        session_id, stored = intake.store(connection, session, untold, Occurrences(goes_on=True), transcript_id)
        if session_id is not None and stored:
            archive.refresh_session(connection, session_id)
        new += len(stored)
    return new


def _has_twin(connection: apsw.Connection, name: str, message: Message) -> bool:
    """Whether a transcript tells the prompt."""
    rows: list[Row] = connection.execute(_TWINS, (digest_of(message),)).fetchall()
    said_at = milliseconds(message.timestamp)
    return any(forked_from == name or _is_near(said_at, other) for other, forked_from in rows)


def _is_near(said_at: int | None, other: int | None) -> bool:
    return said_at is None or other is None or abs(said_at - other) <= TWIN_MS


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


_IS_TOLD = "select 1 from sessions where name = ? and prompts_only = 0"
_TWINS = """
select m.said_at, s.forked_from from messages m join sessions s on s.id = m.session_id
where m.digest = ? and m.role = 'user' and s.prompts_only = 0
"""
_ITS_PROMPTS = """
select m.id from messages m join sessions s on s.id = m.session_id where s.id = ? and s.prompts_only = 1
"""
_TWIN_PROMPTS = """
select m.id, m.digest, m.said_at, s.id, s.name from json_each(?) j
join messages m on m.digest = j.value and m.role = 'user'
join sessions s on s.id = m.session_id where s.prompts_only = 1
"""
_REMOVE_EMPTY = """
delete from sessions where id in (select value from json_each(?))
  and not exists (select 1 from messages m where m.session_id = sessions.id)
"""
