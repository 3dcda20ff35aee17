"""Messages to passages: parts that fit the embedder whole, cut where the text itself pauses, overlapping a little."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import apsw

from recall.archive import StoredMessage
from recall.database import Row

Span = tuple[int, int]

OVERLAP_TOKENS = 32
"""About a sentence: what is said across a cut stands whole in one of the two passages."""

CHARACTERS_A_TOKEN = 4
"""For text that gets no vector (tool output), measured in characters instead of being tokenised."""

EMBEDDABLE_ROLES = ("user", "assistant")
"""What is worth a vector: what was said. Commands and their output are found by their words."""

_PAUSES = ("\n\n", "\n", "。", "！", "？", ". ", "! ", "? ", "；", "; ", "，", ", ", " ")
"""Best places to cut, best first."""


def put_passages(
    connection: apsw.Connection,
    message: StoredMessage,
    token_spans: Callable[[str], Sequence[Span]],
    max_tokens: int,
) -> list[tuple[int, str]]:
    """Store the passages of a message; (id, text) of each, in order."""
    embeddable = message.role in EMBEDDABLE_ROLES
    spans = token_spans(message.text) if embeddable else character_spans(message.text)
    stored = []
    for start, end in split(message.text, spans, max_tokens):
        row = connection.execute(
            _ADD_PASSAGE,
            (
                message.id, message.session_id, message.repository_id, message.worktree_id, message.role,
                int(message.subagent), message.said_at, start, end, int(embeddable),
            ),
        ).fetchone()  # fmt: skip
        assert row is not None
        stored.append((int(row[0]), message.text[start:end]))
    return stored


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a passage comes from."""

    session_id: int
    said_at: int | None
    """Milliseconds since 1970."""
    embeddable: bool
    """Whether it is something that was said, and no command."""


def origins(connection: apsw.Connection, passage_ids: Sequence[int]) -> dict[int, Origin]:
    """Passage id to its origin."""
    found = {}
    for passage_id in passage_ids:
        row: Row | None = connection.execute(_ORIGIN, (passage_id,)).fetchone()
        if row:
            found[passage_id] = Origin(row[0], row[1], bool(row[2]))
    return found


def count(connection: apsw.Connection) -> int:
    """Number of passages in the index."""
    row: Row | None = connection.execute("select count(*) from passages").fetchone()
    return row[0] if row else 0


def neighbours(connection: apsw.Connection, passage_id: int, distance: int) -> list[list[int]]:
    """Ids of what was said at distance 1, 2, … before and behind a passage in its session: one or two a distance.

    Commands and their output are no neighbours.
    """
    before = [int(row[0]) for row in connection.execute(_SAID_BEFORE, (passage_id, passage_id, distance))]
    behind = [int(row[0]) for row in connection.execute(_SAID_BEHIND, (passage_id, passage_id, distance))]
    return [before[i : i + 1] + behind[i : i + 1] for i in range(distance)]


def split(text: str, tokens: Sequence[Span], max_tokens: int) -> list[Span]:
    """[start, end) of passages of at most `max_tokens` tokens that cover all of `text` but white space, ascending.

    tokens: [start, end) of each token, ascending, by the embedder's own tokenizer. A passage ends at the best pause in
    its last third; the next one begins up to OVERLAP_TOKENS earlier, behind a pause.
    """
    if len(tokens) <= max_tokens:
        return [span] if (span := _stripped(text, 0, len(text))) else []
    starts = [token[0] for token in tokens]
    passages: list[Span] = []
    first = 0
    while True:
        last = min(first + max_tokens, len(tokens))
        if last < len(tokens):
            cut = _last_pause(text, starts[first + max_tokens * 2 // 3], starts[last])
            last = max(bisect_left(starts, cut), first + 1)
        end = starts[last] if last < len(tokens) else len(text)
        if span := _stripped(text, starts[first] if passages else 0, end):
            passages.append(span)
        if last == len(tokens):
            return passages
        back = max(last - min(OVERLAP_TOKENS, max_tokens // 4), first + 1)
        overlap = bisect_left(starts, _first_pause(text, starts[back], end))
        first = min(max(overlap, first + 1), last)


def character_spans(text: str) -> list[Span]:
    """Pseudo-tokens of CHARACTERS_A_TOKEN code points."""
    return [(i, i + CHARACTERS_A_TOKEN) for i in range(0, len(text), CHARACTERS_A_TOKEN)]


def _last_pause(text: str, start: int, end: int) -> int:
    for pause in _PAUSES:
        found = text.rfind(pause, start, end)
        if found >= 0:
            return found + len(pause)
    return end


def _first_pause(text: str, start: int, end: int) -> int:
    """The best pause between start and end, so that the overlap holds whole lines or sentences where it can."""
    for pause in _PAUSES:
        found = text.find(pause, start, end)
        if 0 <= found < end - len(pause):
            return found + len(pause)
    return start


def _stripped(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


_ADD_PASSAGE = """
insert into passages (message_id, session_id, repository_id, worktree_id, role, subagent, said_at, start_at, end_at,
                      embeddable)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
returning id
"""
_ORIGIN = "select session_id, said_at, embeddable from passages where id = ?"
_SAID_BEFORE = """
select id from passages where session_id = (select session_id from passages where id = ?) and embeddable = 1 and id < ?
order by id desc limit ?
"""
_SAID_BEHIND = """
select id from passages where session_id = (select session_id from passages where id = ?) and embeddable = 1 and id > ?
order by id limit ?
"""
