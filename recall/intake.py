"""Taking messages in: made fit to store, redacted, archived, cut into passages and indexed, in one transaction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from time import monotonic

import apsw

from recall import archive, copies, dense, lexical, passages
from recall.archive import Occurrences, StoredMessage
from recall.database import Database, Row
from recall.places import Place, place_of
from recall.privacy import Excluded, Privacy
from recall.redacting import Redact
from recall.transcripts.text import clean, shorten_far, shorten_output
from recall.types import Message, Session
from scanning import redact

Spans = Callable[[str], Sequence[passages.Span]]

Measure = tuple[Spans, int]
"""How a text is cut into tokens, and how many of them a passage may have."""


SHORT, REMEMBERED = 200, 10_000
"""Characters of a text that is remembered as harmless, and how many of them are."""

_PLAIN_KEY = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|.{0,12}")


class Intake:
    """What every way in shares: how text is masked and measured, what is not taken in, what was masked."""

    def __init__(self, measure: Callable[[], Measure], redact: Redact, excluded: Excluded) -> None:
        """measure: called for the first message that is new; most searches find none and need no tokenizer."""
        self._measure = measure
        self.loading_seconds = 0.0
        """What the first measure took. No time bound has to pay for it: the tokenizer may be that of a large model."""
        self._redact = redact
        self.excluded = excluded
        self._places: dict[str, Place] = {}
        self._harmless: set[str] = set()
        """Names of tools, branches and files come again and again; to scan one takes 12 µs."""
        self.redactions: Counter[str] = Counter()

    def load(self) -> None:
        """Make ready to cut passages, if it is not done yet: a model is not loaded while the database is locked."""
        self._measured  # noqa: B018 - loads it

    def prepare_session(self, session: Session) -> Session:
        """The session's own fields without secrets; its messages stay as they are."""
        return replace(
            session,
            id=self.masked(session.id),
            parent=self.masked(session.parent),
            forked_from=self.masked(session.forked_from),
            title=self.prepare_title(session.title),
            cwd=self.masked(session.cwd),
            branch=self.masked(session.branch),
            remote=self.masked(session.remote),
        )

    def prepare_title(self, title: str) -> str:
        """One line without secrets, redacted first and shortened afterwards."""
        return archive.shortened(" ".join(self.masked(title).split()), archive.TITLE_LIMIT)

    def prepare(self, message: Message, privacy: Privacy, session_cwd: str) -> Message | None:
        """The message as it may be stored; None where nothing is left of it. Redacted first, shortened afterwards.

        Messages of one session come in order. Raises ExcludedError where nothing of the session is to be kept.
        """
        text = privacy.admit(message, session_cwd)
        if text is None:
            return None
        if message.role == "tool":
            text = shorten_far(text)
        text = self.masked(text).strip()
        privacy.note(message.role, text)
        if not text:
            return None
        if message.role == "tool":
            text = shorten_output(text)
        self.load()
        return replace(
            message,
            text=text,
            tool=self.masked(message.tool),
            files=tuple(self.masked(file) for file in message.files),
            branch=self.masked(message.branch),
            key=safe_key(message.key),
        )

    def store(
        self,
        connection: apsw.Connection,
        session: Session,
        messages: Iterable[Message],
        occurrences: Occurrences,
        transcript_id: int | None = None,
    ) -> tuple[int, list[StoredMessage]]:
        """(session row id, the messages that were new) of prepared messages. Inside the caller's transaction."""
        home = archive.put_place(connection, self._place(session.cwd))
        session_id = archive.put_session(connection, self.prepare_session(session), home[1])
        placed = [
            (message, archive.put_place(connection, self._place(message.cwd)) if message.cwd else home)
            for message in messages
        ]
        stored = archive.put_messages(connection, session_id, placed, occurrences, transcript_id)
        for message in stored:
            self.index_message(connection, message)
        return session_id, stored

    def index_message(self, connection: apsw.Connection, message: StoredMessage) -> None:
        """Cut a stored message into passages and index them. Inside the caller's transaction."""
        token_spans, max_tokens = self._measured
        parts = passages.put_passages(connection, message, token_spans, max_tokens)
        lexical.put_terms(connection, parts, message.repository_id, message.session_id)

    def finish(self, connection: apsw.Connection, session_id: int, first_new: int) -> int:
        """Bring the session up to date after its last new message; number of messages that were copies.

        first_new: id of the first message that is new. Inside the caller's transaction.
        """
        archive.refresh_session(connection, session_id)
        copied = copies.mark_copies(connection, session_id, first_new)
        for message_id in copied:
            remove_passages(connection, message_id)
        return len(copied)

    @cached_property
    def _measured(self) -> Measure:
        began = monotonic()
        measure = self._measure()
        self.loading_seconds = monotonic() - began
        return measure

    def _place(self, cwd: str) -> Place:
        if cwd not in self._places:
            self._places[cwd] = archive.stored_place(place_of(cwd))
        return self._places[cwd]

    def masked(self, text: str) -> str:
        """`text` without what must not be stored; what was masked is counted."""
        if not text or text in self._harmless:
            return text
        redacted = self._redact(clean(text))
        for finding in redacted.findings:
            self.redactions[finding.rule] += 1
        if redacted.text == text and len(text) <= SHORT and len(self._harmless) < REMEMBERED:
            self._harmless.add(text)
        return redacted.text


def safe_key(key: str) -> str:
    """The agent's id of a message as it is stored and compared: masked without a fingerprint, which may change."""
    return key if _PLAIN_KEY.fullmatch(key) else redact(key).text


def remove_passages(connection: apsw.Connection, message_id: int) -> None:
    """Take a message out of everything that is searched."""
    ids = [int(row[0]) for row in connection.execute("select id from passages where message_id = ?", (message_id,))]
    lexical.remove_terms(connection, ids)
    dense.remove_vectors(connection, ids)
    connection.execute("delete from passages where message_id = ?", (message_id,))


def forget_session(database: Database, name: str) -> None:
    """Take a session out, with those of its subagents and the copies that others hold, down to the bytes of the file.

    Its name stays, so that what its subagents wrote is not taken in later.
    """
    with database.write() as connection:
        connection.execute("insert or ignore into forgotten (session) values (?)", (name,))
        rows: list[Row] = connection.execute(_WITH_SUBAGENTS, (name,)).fetchall()
        for (session_id,) in rows:
            _remove_session(connection, int(session_id))
        if rows:
            lexical.drop_terms(connection)
    if rows:
        database.sweep()


def is_forgotten(connection: apsw.Connection, name: str) -> bool:
    """Whether the session of that name was forgotten."""
    return connection.execute("select 1 from forgotten where session = ?", (name,)).fetchone() is not None


def _remove_session(connection: apsw.Connection, session_id: int) -> None:
    messages: list[Row] = connection.execute("select id from messages where session_id = ?", (session_id,)).fetchall()
    for (message_id,) in messages:
        remove_passages(connection, message_id)
    forks: list[Row] = connection.execute(_FORKS, (session_id,)).fetchall()
    connection.execute("delete from messages where copied_from = ?", (session_id,))
    connection.execute("delete from sessions where id = ?", (session_id,))
    for (fork,) in forks:  # their titles were the first words of what is gone
        connection.execute("update sessions set title = '', preview = '' where id = ?", (fork,))
        archive.refresh_session(connection, int(fork))


_WITH_SUBAGENTS = """
with recursive gone (id, name) as (
  select id, name from sessions where name = ?1 or parent = ?1
  union select s.id, s.name from sessions s join gone on s.parent = gone.name
)
select id from gone
"""
_FORKS = "select distinct session_id from messages where copied_from = ?"
