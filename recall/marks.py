"""Recognising what was forgotten without keeping it: keyed digests, of which none says anything without the key.

A text alone proves nothing: "ok", a prompt of every day and what `git status` prints stand in many sessions. A message
of a forgotten session is known again by its neighbour, which stands beside it in every copy, or by the minute in which
it was said; only what was chosen by its text (`recall forget --match`) is known by its text.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import apsw

from recall.archive import digest_of, milliseconds
from recall.database import Row
from recall.types import Message, Session

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Said:
    """What marks are made of: a message, without its text."""

    digest: int
    """Of role and text, as `archive.digest_of` gives it."""
    role: str
    said_at: int | None
    """Milliseconds since 1970."""

    @property
    def was_spoken(self) -> bool:
        """Whether a side said it. Imports leave out the calls of tools, or give them another form."""
        return self.role != "tool"


class Marks:
    """Makes marks under a home's fingerprint key: 64 bits of keyed BLAKE2b, signed as SQLite stores."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of_texts(self, messages: Iterable[Said]) -> set[int]:
        """The marks of messages that are to be known by their text, wherever it stands."""
        return {self._mark(b"text", message.digest) for message in messages}

    def of_field(self, text: str) -> int:
        """The mark of a title, a branch or a remote."""
        return self._mark(b"field", text=text)

    def of_messages(self, messages: Sequence[Said], chosen: Iterable[int], session: str) -> set[int]:
        """The marks of the chosen ones among the messages of a session, which are all given, in order."""
        around = _neighbours(messages, None)
        marks: set[int] = set()
        for i in chosen:
            marks.update(self._of_message(messages[i], *around[i], (0,)))
            if around[i][0] is None:  # nothing is before it
                marks |= self.of_session([messages[i]], session)
        return marks

    def of_session(self, messages: Iterable[Said], session: str) -> set[int]:
        """The marks of messages that are to be known in a session of that name, and in those that copy it."""
        return {self._mark(b"of", message.digest, text=session) for message in messages}

    def known(
        self, connection: apsw.Connection, messages: Sequence[Said], previous: int | None, sessions: Sequence[str]
    ) -> set[int]:
        """Places of those messages, in order, that were forgotten.

        previous: digest of what was said before them. sessions: the names of their session and of what it copies.
        """
        around = _neighbours(messages, previous)
        candidates: dict[int, list[int]] = {}
        for i, message in enumerate(messages):
            for mark in self._of_message(message, *around[i], (-1, 0, 1)):
                candidates.setdefault(mark, []).append(i)
            for mark in self.of_texts([message]).union(*(self.of_session([message], name) for name in sessions)):
                candidates.setdefault(mark, []).append(i)
        return {i for mark in _stored(connection, candidates) for i in candidates[mark]}

    def _of_message(
        self, message: Said, before: int | None, after: int | None, minutes: Sequence[int]
    ) -> Iterator[int]:
        if before is not None:
            yield self._mark(b"behind", message.digest, before)
        if after is not None and message.was_spoken:
            yield self._mark(b"before", message.digest, after)
        if message.role == "user" and message.said_at is not None:
            minute = message.said_at // MINUTE_MS
            for step in minutes:
                yield self._mark(b"minute", message.digest, minute + step)

    def _mark(self, kind: bytes, *numbers: int, text: str = "") -> int:
        content = struct.pack(f"<{len(numbers)}q", *numbers) + text.encode("utf-8", "surrogatepass")
        digest = blake2b(content, digest_size=8, key=self._key, person=kind).digest()
        return int.from_bytes(digest, "big", signed=True)


def any_stored(connection: apsw.Connection) -> bool:
    """Whether anything was ever forgotten."""
    return connection.execute("select 1 from forgotten_messages limit 1").fetchone() is not None


def put(connection: apsw.Connection, marks: Iterable[int]) -> None:
    """Store marks."""
    connection.executemany("insert or ignore into forgotten_messages (mark) values (?)", ((mark,) for mark in marks))


def said(message: Message) -> Said:
    """A message that may be stored, as marks see it."""
    return Said(digest_of(message), message.role, milliseconds(message.timestamp))


def said_in(connection: apsw.Connection, session_id: int) -> list[tuple[int, Said, int | None]]:
    """(row id, message, the session that holds its text where this is a copy) of a stored session, in order."""
    rows: list[Row] = connection.execute(_SAID_IN, (session_id,)).fetchall()
    return [(row[0], Said(row[1], row[2], row[3]), row[4]) for row in rows]


def without_forgotten(
    connection: apsw.Connection, marks: Marks, session: Session, session_id: int | None, messages: Sequence[Message]
) -> tuple[Session, list[Message]]:
    """A session and prepared messages that follow each other in it, without what was forgotten."""
    if not any_stored(connection):
        return session, list(messages)
    row = connection.execute(_LAST_SAID, (session_id,)).fetchone()
    previous = int(row[0]) if row else None
    origins = [name for name in (session.id, session.forked_from) if name]
    gone = marks.known(connection, [said(message) for message in messages], previous, origins)
    fields = {text for text in (session.title, session.branch, session.remote, *(m.branch for m in messages)) if text}
    hidden = hidden_fields(connection, marks, fields)
    kept = [message for i, message in enumerate(messages) if i not in gone]
    if hidden:
        kept = [replace(message, branch="") if message.branch in hidden else message for message in kept]
        title, branch, remote = (
            "" if text in hidden else text for text in (session.title, session.branch, session.remote)
        )
        session = replace(session, title=title, branch=branch, remote=remote)
    return session, kept


def hidden_fields(connection: apsw.Connection, marks: Marks, texts: Iterable[str]) -> set[str]:
    """Those of some titles, branches and remotes that were forgotten."""
    candidates = {marks.of_field(text): text for text in texts}
    return {candidates[mark] for mark in _stored(connection, candidates)}


def _neighbours(messages: Sequence[Said], previous: int | None) -> list[tuple[int | None, int | None]]:
    """Digests of what was said before and after each message."""
    before: list[int | None] = []
    for message in messages:
        before.append(previous)
        if message.was_spoken:
            previous = message.digest
    after: list[int | None] = []
    following = None
    for message in reversed(messages):
        after.append(following)
        if message.was_spoken:
            following = message.digest
    return list(zip(before, reversed(after), strict=True))


def _stored(connection: apsw.Connection, marks: Iterable[int]) -> list[int]:
    rows: list[Row] = connection.execute(_STORED, (json.dumps(list(marks)),)).fetchall()
    return [row[0] for row in rows]


_STORED = "select f.mark from json_each(?) j cross join forgotten_messages f on f.mark = j.value"
_SAID_IN = "select id, digest, role, said_at, copied_from from messages where session_id = ? order by number"
_LAST_SAID = "select digest from messages where session_id = ? and role <> 'tool' order by number desc limit 1"
