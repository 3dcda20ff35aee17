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
    number: int
    digest: int
    said: bool


def mark_copies(connection: apsw.Connection, session_id: int, first_new: int) -> list[int]:
    """Blank the messages that this session, or one related to it, only copied; their ids come back.

    first_new: id of the first message that is new in this session.
    """
    marked: list[int] = []
    for other in _related(connection, session_id, first_new):
        pair = [_header(connection, session_id), _header(connection, other)]
        parent, child = _by_age(pair[0], pair[1])
        last = _copied_up_to(_entries(connection, parent.id), _entries(connection, child.id))
        marked.extend(int(row[0]) for row in connection.execute(_MARK, (child.id, last)))
        # An id that is unique in the world proves the relation; then every id they share with the same text is a copy,
        # wherever it stands. Other ids prove nothing: a local model may number its answers 1, 2, 3 in every session.
        if connection.execute(_SHARES_UUID, (child.id, parent.id)).fetchone():
            marked.extend(int(row[0]) for row in connection.execute(_MARK_BY_KEY, (child.id, parent.id)))
    return marked


def _copied_up_to(parent: Sequence[_Entry], child: Sequence[_Entry]) -> int:
    """Number of the child's last copied message; 0 where it begins with something of its own.

    What was said is aligned first: imports flatten tool calls. Tool messages behind the last copied words are copies
    as long as they equal the parent's.
    """
    parent_said = [i for i, entry in enumerate(parent) if entry.said]
    child_said = [i for i, entry in enumerate(child) if entry.said]
    best = best_start = 0
    for start in range(len(parent_said)):
        length = 0
        while (
            length < len(child_said)
            and start + length < len(parent_said)
            and parent[parent_said[start + length]].digest == child[child_said[length]].digest
        ):
            length += 1
        if length > best:
            best, best_start = length, start
    if not best:
        return 0
    at_parent, at_child = parent_said[best_start + best - 1] + 1, child_said[best - 1] + 1
    while (
        at_parent < len(parent)
        and at_child < len(child)
        and not child[at_child].said
        and parent[at_parent].digest == child[at_child].digest
    ):
        at_parent += 1
        at_child += 1
    return child[at_child - 1].number


def _by_age(a: _Header, b: _Header) -> tuple[_Header, _Header]:
    """(older, younger): by what they say of each other, else by their times."""
    if b.forked_from == a.name or (b.imported and not a.imported):
        return a, b
    if a.forked_from == b.name or (a.imported and not b.imported):
        return b, a
    older = min(a, b, key=lambda header: (header.started_at, header.updated_at, header.id))
    return (a, b) if older is a else (b, a)


def _related(connection: apsw.Connection, session_id: int, first_new: int) -> list[int]:
    rows = connection.execute(_RELATED, {"session": session_id, "first_new": first_new})
    return sorted({int(row[0]) for row in rows} - {session_id})


def _header(connection: apsw.Connection, session_id: int) -> _Header:
    row = connection.execute(_HEADER, (session_id,)).fetchone()
    assert row is not None
    return _Header(int(row[0]), str(row[1]), int(row[2]), int(row[3]), str(row[4]), bool(row[5]))


def _entries(connection: apsw.Connection, session_id: int) -> list[_Entry]:
    return [_Entry(int(row[0]), int(row[1]), bool(row[2])) for row in connection.execute(_ENTRIES, (session_id,))]


_RELATED = """
select other.id from sessions me join sessions other on other.name = me.forked_from where me.id = :session
union
select other.id from sessions me join sessions other on other.forked_from = me.name where me.id = :session
  and me.name <> ''
union
select theirs.session_id from messages mine join messages theirs on theirs.key = mine.key
  where mine.session_id = :session and mine.id >= :first_new and mine.key <> '' and theirs.session_id <> :session
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
select number, digest, role in ('user', 'assistant') from messages where session_id = ? order by number
"""
_MARK = """
update messages set copied = 1, text = '', files = '' where session_id = ? and number <= ? and copied = 0 returning id
"""
_SHARES_UUID = """
select 1 from messages mine join messages theirs on theirs.key = mine.key and theirs.digest = mine.digest
where mine.session_id = ? and theirs.session_id = ? and mine.key like '________-____-____-____-____________%' limit 1
"""
_MARK_BY_KEY = """
update messages set copied = 1, text = '', files = '' where session_id = ? and copied = 0 and key <> '' and exists (
  select 1 from messages theirs where theirs.session_id = ? and theirs.key = messages.key
    and theirs.digest = messages.digest)
returning id
"""
