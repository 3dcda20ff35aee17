"""Taking messages in: made fit to store, redacted, archived, cut into passages and indexed, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import apsw

from recall import archive, copies, dense, lexical, passages
from recall.archive import Occurrences, StoredMessage
from recall.places import Place, place_of
from recall.transcripts.text import clean, shorten_far, shorten_output
from recall.types import Message, Session
from scanning import redact

Spans = Callable[[str], Sequence[passages.Span]]


class Intake:
    """What every way in shares: the tokenizer that passages are measured with, and counts of what was masked."""

    def __init__(self, token_spans: Spans, max_tokens: int) -> None:
        self._token_spans = token_spans
        self._max_tokens = max_tokens
        self._places: dict[str, Place] = {}
        self.redactions: Counter[str] = Counter()

    def prepare_session(self, session: Session) -> Session:
        """The session's own fields without secrets; its messages stay as they are."""
        return replace(
            session,
            title=self.prepare_title(session.title),
            cwd=self._safe(session.cwd),
            branch=self._safe(session.branch),
            remote=self._safe(session.remote),
        )

    def prepare_title(self, title: str) -> str:
        """One line without secrets, redacted first and shortened afterwards."""
        return archive.shortened(" ".join(self._safe(title).split()), archive.TITLE_LIMIT)

    def prepare(self, message: Message) -> Message | None:
        """The message as it may be stored; None where nothing is left of it. Redacted first, shortened afterwards."""
        text = message.text
        if message.role == "tool":
            text = shorten_far(text)
        text = self._safe(text).strip()
        if not text:
            return None
        if message.role == "tool":
            text = shorten_output(text)
        return replace(
            message,
            text=text,
            tool=self._safe(message.tool),
            files=tuple(self._safe(file) for file in message.files),
            branch=self._safe(message.branch),
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
            parts = passages.put_passages(connection, message, self._token_spans, self._max_tokens)
            lexical.put_terms(connection, parts, message.repository_id, session_id)
        return session_id, stored

    def finish(self, connection: apsw.Connection, session_id: int, first_new: int) -> int:
        """Bring the session up to date after its last new message; number of messages that were copies.

        first_new: id of the first message that is new. Inside the caller's transaction.
        """
        archive.refresh_session(connection, session_id)
        copied = copies.mark_copies(connection, session_id, first_new)
        for message_id in copied:
            remove_passages(connection, message_id)
        return len(copied)

    def _place(self, cwd: str) -> Place:
        if cwd not in self._places:
            self._places[cwd] = archive.stored_place(place_of(cwd))
        return self._places[cwd]

    def _safe(self, text: str) -> str:
        if not text:
            return text
        redacted = redact(clean(text))
        for finding in redacted.findings:
            self.redactions[finding.rule] += 1
        return redacted.text


def remove_passages(connection: apsw.Connection, message_id: int) -> None:
    """Take a message out of everything that is searched."""
    ids = [int(row[0]) for row in connection.execute("select id from passages where message_id = ?", (message_id,))]
    lexical.remove_terms(connection, ids)
    dense.remove_vectors(connection, ids)
    connection.execute("delete from passages where message_id = ?", (message_id,))
