"""Passages that were made for another model, cut anew where they are too long for this one.

A model that takes more leaves the passages as they are: they still fit, and what is new is cut to its size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import apsw

from recall.archive import StoredMessage
from recall.database import Database, Row
from recall.embedded import Lacking
from recall.embedding import Embedder, Tokenizing
from recall.intake import index_messages, remove_passages
from recall.passages import Span, parts_of

ATTEMPTS = 4
"""Times a session is cut anew, each time a quarter shorter: cut inside a word, a part may be more tokens by itself."""


class Fitting:
    """Sees to it in one embedding run that the model gets no text that it would cut off."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._attempts: Counter[int] = Counter()

    def only(self, window: Sequence[Lacking]) -> Sequence[Lacking]:
        """Those that the model takes whole; the sessions of all others are cut anew, and lack vectors then.

        Raises ModelError where the model cannot be used: nothing is cut for it then.
        """
        embedder = self._embedder
        if not isinstance(embedder, Tokenizing):
            return window
        long = {
            passage.session_id
            for passage in window
            # A token is one character at least.
            if len(passage.text) > embedder.max_tokens
            and self._attempts[passage.session_id] < ATTEMPTS
            and len(embedder.token_spans(passage.text)) > embedder.max_tokens
        }
        if not long:
            return window
        embedder.embed_query("can it be used?")
        for session_id in long:
            limit = max(1, embedder.max_tokens * (ATTEMPTS - self._attempts[session_id]) // ATTEMPTS)
            self._attempts[session_id] += 1
            with self._database.write() as connection:
                recut(connection, session_id, embedder.token_spans, limit)
        return [passage for passage in window if passage.session_id not in long]


def recut(
    connection: apsw.Connection,
    session_id: int,
    token_spans: Callable[[str], Sequence[Span]],
    max_tokens: int,
) -> None:
    """Cut all of a session anew and index it; its vectors go. Inside the caller's transaction.

    All of it, since the order of its passages is that of their ids.
    """
    rows: list[Row] = connection.execute(_MESSAGES, (session_id,)).fetchall()
    for row in rows:
        remove_passages(connection, int(row[0]))
    messages = [
        StoredMessage(id, session, repository_id, worktree_id, role, text, said_at, bool(subagent))
        for id, session, repository_id, worktree_id, role, text, said_at, subagent in rows
    ]
    index_messages(
        connection, ((message, parts_of(message.role, message.text, token_spans, max_tokens)) for message in messages)
    )


_MESSAGES = """
select m.id, m.session_id, w.repository_id, m.worktree_id, m.role, m.text, m.said_at, m.subagent
from messages m join worktrees w on w.id = m.worktree_id
where m.session_id = ? and m.copied_from is null order by m.number
"""
