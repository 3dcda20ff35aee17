"""Taking messages in: made fit to store, redacted, archived, cut into passages and indexed, in one transaction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from time import monotonic

import apsw

from recall import archive, copies, lexical, moves, passages, vector_removal
from recall.ahead import Batch
from recall.archive import Occurrences, StoredMessage
from recall.marks import Marks, without_forgotten
from recall.places import Place, place_of
from recall.privacy import Excluded, Privacy
from recall.prompts import give_way
from recall.redacting import Redact
from recall.transcripts.text import clean, shorten_far, shorten_output
from recall.types import Message, Session
from scanning import redact

Spans = Callable[[str], Sequence[passages.Span]]

Measure = tuple[Spans, int]
"""How a text is cut into tokens, and how many of them a passage may have."""


SHORT, REMEMBERED = 200, 10_000
"""Characters of a text that is remembered as harmless, and how many of them are."""

_PLAIN_KEY = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:result:)?toolu_\w{10,30}|msg_\w{10,30}:[0-9a-f]{8}|.{0,12}",
    re.ASCII,
)
"""Ids as agents make them, which are no secrets: to scan one takes 20 µs."""


class Intake:
    """What every way in shares: how text is masked and measured, what is not taken in, what was masked."""

    def __init__(self, measure: Callable[[], Measure], redact: Redact, excluded: Excluded, marks: Marks) -> None:
        """measure: called for the first message that is new; most searches find none and need no tokenizer."""
        self._measure = measure
        self.loading_seconds = 0.0
        """What the first measure took. No time bound has to pay for it: the tokenizer may be that of a large model."""
        self._redact = redact
        self.excluded = excluded
        self.marks = marks
        """Know what was forgotten."""
        self._places: dict[str, Place] = {}
        self._noted: set[tuple[str, str]] = set()
        self._harmless: set[str] = set()
        """Names of tools, branches and files come again and again; to scan one takes 12 µs."""
        self.redactions: Counter[str] = Counter()
        self._cut_ahead: dict[tuple[str, str], Sequence[passages.Part]] = {}

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
        messages: Sequence[Message],
        occurrences: Occurrences,
        transcript_id: int | None = None,
    ) -> tuple[int | None, list[StoredMessage]]:
        """(session row id, the messages that were new) of prepared messages. Inside the caller's transaction.

        What was forgotten is left out, as all of a session may be: the row id of one that is not here is then None.
        """
        prepared = self.prepare_session(session)
        # Another process may have forgotten it since the reading began.
        if any(name and archive.is_forgotten(connection, name) for name in (prepared.id, prepared.parent)):
            return None, []
        known = archive.id_of(connection, prepared.id)
        prepared, messages = without_forgotten(connection, self.marks, prepared, known, list(messages))
        if known is None and not messages:
            return None, []
        if not session.prompts_only:
            give_way(connection, prepared, known, messages)
        home = archive.put_place(connection, self._place(session.cwd))
        session_id = archive.put_session(connection, prepared, home[1])
        placed = [
            (message, archive.put_place(connection, self._place(message.cwd)) if message.cwd else home)
            for message in messages
        ]
        for cwd in dict.fromkeys([session.cwd, *(message.cwd for message in messages if message.cwd)]):
            self._note(connection, self._place(cwd), session.remote if cwd == session.cwd else "")
        stored = archive.put_messages(connection, session_id, placed, occurrences, transcript_id)
        self.index_messages(connection, stored)
        return session_id, stored

    def index_messages(self, connection: apsw.Connection, messages: Iterable[StoredMessage]) -> None:
        """Cut stored messages into passages and index them. Inside the caller's transaction."""
        index_messages(connection, ((message, self.parts(message.role, message.text)) for message in messages))

    def parts(self, role: str, text: str) -> Sequence[passages.Part]:
        """The passages of a prepared text, cut ahead or now."""
        parts = self._cut_ahead.get((role, text))
        return passages.parts_of(role, text, *self._measured) if parts is None else parts

    def take_over(self, batch: Batch) -> None:
        """Learn what a worker has done already for the messages that are stored next."""
        texts = ((message.role, message.text) for message in batch.messages)
        self._cut_ahead = dict(zip(texts, batch.parts, strict=True)) if batch.parts else {}
        self.redactions.update(batch.redactions)

    def finish(self, connection: apsw.Connection, session_id: int, first_new: int) -> int:
        """Bring the session up to date after its last new message; number of messages that were copies.

        first_new: id of the first message that is new. Inside the caller's transaction.
        """
        archive.refresh_session(connection, session_id)
        copied = copies.mark_copies(connection, session_id, first_new)
        for message_id in copied:
            remove_passages(connection, message_id)
        return len(copied)

    def _note(self, connection: apsw.Connection, place: Place, remote: str) -> None:
        """Once a run: a transaction may be undone and come again, which then notes it in the next run."""
        if place.repository and (place.repository, remote) not in self._noted:
            self._noted.add((place.repository, remote))
            moves.note_signs(connection, place, remote, self.marks)

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


def index_messages(
    connection: apsw.Connection, messages: Iterable[tuple[StoredMessage, Sequence[passages.Part]]]
) -> None:
    """Index stored messages by their passages. Inside the caller's transaction."""
    stored = passages.put_passages(connection, messages)
    lexical.put_terms(connection, ((id, said.repository_id, terms) for id, said, terms in stored))


def remove_passages(connection: apsw.Connection, message_id: int) -> None:
    """Take a message out of everything that is searched."""
    ids = [int(row[0]) for row in connection.execute("select id from passages where message_id = ?", (message_id,))]
    lexical.remove_terms(connection, ids)
    vector_removal.remove_vectors(connection, ids)
    connection.execute("delete from passages where message_id = ?", (message_id,))
