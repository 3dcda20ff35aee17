"""Messages to passages: parts that fit the embedder whole, cut where the text itself pauses, overlapping a little."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import apsw

from recall import analysis
from recall.archive import StoredMessage
from recall.database import Row, Value
from recall.scope_sql import ScopeSql

Span = tuple[int, int]

Part = tuple[int, int, str, int]
"""[start, end) of a passage in its message's text, and what analysis.index_terms gives of it."""

OVERLAP_TOKENS = 32
"""About a sentence: what is said across a cut stands whole in one of the two passages."""

CHARACTERS_A_TOKEN = 4
"""For text that gets no vector (tool output), measured in characters instead of being tokenised."""

EMBEDDABLE_ROLES = ("user", "assistant")
"""What is worth a vector: what was said. Commands and their output are found by their words."""

_QUESTION_ENDS = ("?", "？", "吗")
_CLOSING = "\t\n\r \"'*_`)]}>”’）】」』》"

_PAUSES = ("\n\n", "\n", "。", "！", "？", ". ", "! ", "? ", "；", "; ", "，", ", ", " ")
"""Best places to cut, best first."""


def parts_of(role: str, text: str, token_spans: Callable[[str], Sequence[Span]], max_tokens: int) -> list[Part]:
    """The passages of a message's text, ascending, at most `max_tokens` tokens each."""
    # Tokenising takes as long as all else, so short texts are spared it: a tokenizer makes one token of a character of
    # ASCII at most.
    short = len(text) <= max_tokens and text.isascii()
    tokens = () if short else token_spans(text) if role in EMBEDDABLE_ROLES else character_spans(text)
    return [(start, end, *analysis.index_terms(text[start:end])) for start, end in split(text, tokens, max_tokens)]


def put_passages(
    connection: apsw.Connection, messages: Iterable[tuple[StoredMessage, Sequence[Part]]]
) -> list[tuple[int, StoredMessage, str]]:
    """Store the passages of messages; (id, message, index terms) of each, in order. Inside the caller's transaction."""
    last: Row | None = connection.execute("select seq from sqlite_sequence where name = 'passages'").fetchone()
    id = last[0] if last else 0
    rows: list[tuple[Value, ...]] = []
    stored = []
    for message, parts in messages:
        embeddable = message.role in EMBEDDABLE_ROLES
        for start, end, terms, length in parts:
            id += 1
            rows.append(
                (
                    id, message.id, message.session_id, message.repository_id, message.worktree_id, message.role,
                    int(message.subagent), message.said_at, start, end, int(embeddable),
                    int(embeddable and asks(message.text[start:end])), length,
                )
            )  # fmt: skip
            stored.append((id, message, terms))
    connection.executemany(_ADD_PASSAGE, rows)
    return stored


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a passage comes from, and what stands around it."""

    session_id: int
    said_at: int | None
    """Milliseconds since 1970."""
    embeddable: bool
    """Whether it is something that was said, and no command."""
    asks: bool
    neighbours: tuple[tuple[int, ...], ...]
    """Ids of what was said at distance 1 and 2 before and behind it in its session; commands are no neighbours."""
    question: int | None
    """Id of the passage directly before it, if that one asks."""


def origins(connection: apsw.Connection, passage_ids: Sequence[int]) -> dict[int, Origin]:
    """Passage id to its origin."""
    rows: list[Row] = connection.execute(_WANTED, (json.dumps(list(passage_ids)),)).fetchall()
    said: dict[int, list[int]] = {}
    # One row a session, and not five index look-ups a passage, which took half the time of a search.
    in_sessions = json.dumps(sorted({row[1] for row in rows}))
    for session, marked in connection.execute(_SAID_IN_SESSIONS, (in_sessions,)):
        said[session] = sorted(map(int, marked.split(",")))
    found = {}
    for id, session, said_at, embeddable, asks in rows:
        around: tuple[tuple[int, ...], ...] = ()
        question = None
        if embeddable:
            line = said[session]
            place = bisect_left(line, 2 * id)
            before, behind = line[max(0, place - 2) : place], line[place + 1 : place + 3]
            around = (
                (*[one >> 1 for one in before[-1:]], *[one >> 1 for one in behind[:1]]),
                (*[one >> 1 for one in before[:-1]], *[one >> 1 for one in behind[1:]]),
            )
            if before and before[-1] & 1:
                question = before[-1] >> 1
        found[id] = Origin(session, said_at, bool(embeddable), bool(asks), around, question)
    return found


def answers_to(connection: apsw.Connection, passage_ids: Sequence[int], where: ScopeSql) -> list[int]:
    """Ids of what stands directly behind those of these passages that ask, inside the filter.

    The words of a question need not stand in its answer, which no retriever finds then.
    """
    rows = connection.execute(_ANSWERS.format(where=where.sql), (*where.values, json.dumps(list(passage_ids))))
    return [int(row[0]) for row in rows]


def lengths(connection: apsw.Connection, passage_ids: Sequence[int]) -> dict[int, int]:
    """Passage id to its number of terms."""
    rows = connection.execute(_LENGTHS, (json.dumps(list(passage_ids)),))
    return {int(id): int(length) for id, length in rows}


def asks(text: str) -> bool:
    """Whether a text ends as a question does. The same rule as in schema/0003_questions.sql."""
    return text.rstrip(_CLOSING).endswith(_QUESTION_ENDS)


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
    starts = range(0, len(text), CHARACTERS_A_TOKEN)
    return list(zip(starts, range(CHARACTERS_A_TOKEN, len(text) + CHARACTERS_A_TOKEN, CHARACTERS_A_TOKEN), strict=True))


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
insert into passages (id, message_id, session_id, repository_id, worktree_id, role, subagent, said_at, start_at, end_at,
                      embeddable, asks, length)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LENGTHS = "select p.id, p.length from json_each(?) as j cross join passages p on p.id = j.value"
_ANSWERS = """
select p.id from passages p where {where} and p.id in (
  select (select min(o.id) from passages o where o.session_id = w.session_id and o.embeddable = 1 and o.id > w.id)
  from json_each(?) as j cross join passages w on w.id = j.value where w.asks = 1
) order by p.id
"""
_WANTED = """
select p.id, p.session_id, p.said_at, p.embeddable, p.asks
from json_each(?) as j cross join passages p on p.id = j.value
"""
# Of each, twice its id, and one more where it asks.
_SAID_IN_SESSIONS = """
select session_id, group_concat(2 * id + asks) from passages
where session_id in (select value from json_each(?)) and embeddable = 1 group by session_id
"""
