"""Which messages of a session are copies of another session's: forks, resumes and imports.

Agents copy history in several ways: a Codex fork repeats its parent's lines under new times, Claude Code 1.0 repeats
them under new ids when it resumes, Claude Code 2 keeps the ids, and Codex imports whole Claude sessions. What they
share is the order of the texts, so that is what is compared: a copy is a run of messages at the beginning of one
session that stands, in the same order, in an older one. The order in which the two were taken in makes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from recall.database import Row


@dataclass(frozen=True, slots=True)
class _Header:
    id: int
    name: str
    started_at: int
    updated_at: int
    forked_from: str
    imported: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    id: int
    digest: int
    said: bool
    said_at: int | None
    copied_from: int | None


def mark_copies(connection: apsw.Connection, session_id: int, first_new: int) -> list[int]:
    """Blank the messages that this session, or one related to it, only copied; their ids come back.

    first_new: id of the first message that is new in this session.
    """
    marked: list[int] = []
    for other in _related(connection, session_id, first_new):
        parent, child = _by_age(_header(connection, session_id), _header(connection, other))
        originals, copies = _entries(connection, parent.id), _entries(connection, child.id)
        # An id that is unique in the world proves the relation; then every id they share with the same text is a copy,
        # wherever it stands. Other ids prove nothing: a local model may number its answers 1, 2, 3 in every session.
        if connection.execute(_SHARES_UUID, (child.id, parent.id)).fetchone():
            pairs = _with_equal_keys(connection, parent.id, child.id)
        else:
            pairs = _aligned(originals, copies, dated=not child.imported)
        for original, copy in pairs:
            # Exactly one session holds a text: one that is itself a copy passes its owner on, but never back.
            owner = original.copied_from or parent.id
            if copy.copied_from is None and owner != child.id and copy.id not in marked:
                connection.execute(_MARK, (owner, copy.id))
                marked.append(copy.id)
    return marked


def _aligned(parent: Sequence[_Entry], child: Sequence[_Entry], dated: bool) -> list[tuple[_Entry, _Entry]]:
    """(original, copy) for the run of messages at the child's beginning that stands in the parent.

    dated: whether the child's times mean anything; an import gives all messages of a turn the time of its beginning.

    What was said is aligned: imports flatten tool calls. Tool messages between and right behind the copied words are
    copies too; those that the parent has in another form are paired with the words before them.
    """
    parent_said = [i for i, entry in enumerate(parent) if entry.said]
    child_said = [i for i, entry in enumerate(child) if entry.said]
    best = best_start = 0
    for start in range(len(parent_said)):
        length = 0
        while (
            length < len(child_said)
            and start + length < len(parent_said)
            and _is_copy(parent[parent_said[start + length]], child[child_said[length]], dated)
        ):
            length += 1
        if length > best:
            best, best_start = length, start
    if not best:
        return []
    pairs = []
    at = parent_said[best_start]
    for i in range(child_said[best - 1] + 1):
        if child[i].said:
            at = parent_said[best_start + child_said.index(i)]
        pairs.append((parent[at], child[i]))
    at, i = parent_said[best_start + best - 1] + 1, child_said[best - 1] + 1
    while at < len(parent) and i < len(child) and not child[i].said and _is_copy(parent[at], child[i], dated):
        pairs.append((parent[at], child[i]))
        at, i = at + 1, i + 1
    return pairs


def _is_copy(original: _Entry, copy: _Entry, dated: bool) -> bool:
    """Whether one can be a copy of the other: the same text, and not older."""
    if original.digest != copy.digest:
        return False
    if not dated or original.said_at is None or copy.said_at is None:
        return True
    return copy.said_at >= original.said_at


def _with_equal_keys(connection: apsw.Connection, parent: int, child: int) -> list[tuple[_Entry, _Entry]]:
    copies = {entry.id: entry for entry in _entries(connection, child)}
    originals = {entry.id: entry for entry in _entries(connection, parent)}
    rows: list[Row] = connection.execute(_EQUAL_KEYS, (parent, child)).fetchall()
    return [(originals[row[0]], copies[row[1]]) for row in rows]


def _by_age(a: _Header, b: _Header) -> tuple[_Header, _Header]:
    """(older, younger): by what they say of each other, else by their times.

    Two sessions with one beginning: the copy is the one that goes on longer.
    """
    if b.forked_from == a.name or (b.imported and not a.imported):
        return a, b
    if a.forked_from == b.name or (a.imported and not b.imported):
        return b, a
    older = min(a, b, key=lambda header: (header.started_at, header.updated_at, header.id))
    return (a, b) if older is a else (b, a)


def _related(connection: apsw.Connection, session_id: int, first_new: int) -> list[int]:
    rows: list[Row] = connection.execute(_RELATED, {"session": session_id, "first_new": first_new}).fetchall()
    return sorted({row[0] for row in rows} - {session_id})


def _header(connection: apsw.Connection, session_id: int) -> _Header:
    row = connection.execute(_HEADER, (session_id,)).fetchone()
    assert row is not None
    return _Header(int(row[0]), str(row[1]), int(row[2]), int(row[3]), str(row[4]), bool(row[5]))


def _entries(connection: apsw.Connection, session_id: int) -> list[_Entry]:
    rows: list[Row] = connection.execute(_ENTRIES, (session_id,)).fetchall()
    return [_Entry(row[0], row[1], bool(row[2]), row[3], row[4]) for row in rows]


# A condition such as `key <> ''` says what `key = …` implies already: without it SQLite does not use the partial index,
# and reads all messages of the archive for each session that is taken in.
_RELATED = """
select other.id from sessions me join sessions other on other.name = me.forked_from where me.id = :session
union
select other.id from sessions me join sessions other on other.forked_from = me.name where me.id = :session
  and other.forked_from <> ''
union
select theirs.session_id from messages mine join messages theirs on theirs.key = mine.key
  where mine.session_id = :session and mine.id >= :first_new and length(mine.key) >= 16 and theirs.key <> ''
    and theirs.session_id <> :session
union
select theirs.session_id from messages mine
  join messages theirs on theirs.digest = mine.digest and theirs.number <= 4
  join sessions me on me.id = mine.session_id join sessions other on other.id = theirs.session_id
  where mine.session_id = :session and mine.number <= 4 and mine.role = 'user' and me.imported <> other.imported
"""
_HEADER = """
select id, name, ifnull(started_at, 0), ifnull(updated_at, 0), forked_from, imported from sessions where id = ?
"""
_ENTRIES = """
select id, digest, role in ('user', 'assistant'), said_at, copied_from
from messages where session_id = ? order by number
"""
_MARK = "update messages set copied_from = ?, text = '', files = '' where id = ?"
_SHARES_UUID = """
select 1 from messages mine join messages theirs on theirs.key = mine.key and theirs.digest = mine.digest
where mine.session_id = ? and theirs.session_id = ? and theirs.key <> ''
  and mine.key like '________-____-____-____-____________%' limit 1
"""
_EQUAL_KEYS = """
select theirs.id, mine.id from messages theirs
join messages mine on mine.key = theirs.key and mine.digest = theirs.digest
where theirs.session_id = ? and mine.session_id = ? and theirs.key <> '' and mine.key <> ''
"""
