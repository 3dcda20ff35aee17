"""Forgetting: taking sessions and messages out, down to the bytes of the files, so that no transcript brings them back.

A session is remembered as forgotten by its name, which agents make up, and what was said by marks (recall/marks.py).
Marks and deletion are one transaction. What follows takes longer: leaving the word index and the write-ahead log, and
noting it beside the database (recall/forgotten.py). The table `forgetting` says that it is still to be done, and the
next run that takes something in does it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import monotonic

import apsw

from recall import archive, forgotten, ledger, lexical, marks, vector_removal
from recall.choosing import Choose, Chosen, session_and_subagents
from recall.database import SWEEP_TIMEOUT_MS, Database, Row
from recall.marks import Marks, Said
from recall.privacy import FORGOTTEN
from recall.rendering import shown
from recall.types import ForgetReport


def forget(database: Database, keyed: Marks, choose: Choose) -> ForgetReport:
    """Forget what `choose` finds; it is called inside the transaction that forgets."""
    with database.write() as connection:
        report = _forget(connection, keyed, choose(connection))
    return replace(report, complete=complete(database))


def forget_session(database: Database, keyed: Marks, name: str, seen: Sequence[Said] = ()) -> ForgetReport:
    """Forget a session by its whole name, whether or not it is stored, with its subagents and copies elsewhere.

    seen: its messages as its transcript has them.
    """

    def choose(connection: apsw.Connection) -> Chosen:
        return Chosen(session_and_subagents(connection, name), names=[name], seen=list(seen))

    return forget(database, keyed, choose)


def complete(database: Database, budget_seconds: float | None = None) -> bool:
    """Do what is still to be done of earlier forgets.

    Whether it is done; it is not where the time is up, or another process reads what was there before.
    """
    due = {str(row[0]) for row in database.rows("select step from forgetting")}
    started = monotonic()
    if "file" in due:
        with database.write() as connection:
            forgotten.save(connection, database)
            connection.execute("delete from forgetting where step = 'file'")
    if "terms" in due:
        for _ in lexical.merging(database):
            if budget_seconds is not None and monotonic() - started > budget_seconds:
                return False
        with database.write() as connection:
            connection.execute("delete from forgetting where step = 'terms'")
    if due:
        rest = SWEEP_TIMEOUT_MS if budget_seconds is None else int(budget_seconds * 1000)
        if not database.sweep(min(rest, SWEEP_TIMEOUT_MS)):
            return False
        with database.write() as connection:
            connection.execute("delete from forgetting where step = 'bytes'")
    return True


def take_out(connection: apsw.Connection, message_ids: Sequence[int]) -> None:
    """Delete messages and all that is derived from them. Inside the caller's transaction."""
    listed = (json.dumps(list(message_ids)),)
    passages = [int(row[0]) for row in connection.execute(_PASSAGES_OF, listed)]
    lexical.remove_terms(connection, passages)
    vector_removal.remove_vectors(connection, passages)
    connection.execute("delete from passages where id in (select value from json_each(?))", (json.dumps(passages),))
    connection.execute("delete from messages where id in (select value from json_each(?))", listed)


def _forget(connection: apsw.Connection, keyed: Marks, chosen: Chosen) -> ForgetReport:
    names = dict.fromkeys(chosen.names)
    gone = {session_id: archive.name_of(connection, session_id) for session_id in chosen.sessions}
    names.update(dict.fromkeys(gone.values()))
    connection.executemany("insert or ignore into forgotten (session) values (?)", ((name,) for name in names))
    mine = _own_messages(connection, gone)
    made, spoken = _marks_of(connection, keyed, chosen, gone)
    marks.put(connection, made)
    messages = [*mine, *chosen.messages]
    messages += _twins(connection, keyed, spoken, gone, chosen.names)
    copies = _copies(connection, chosen, gone)
    touched = _rename_forks(connection, copies) | _rename(connection, messages)
    _leave_ledger(connection, gone)
    take_out(connection, [*messages, *copies, *_all_messages(connection, gone)])
    listed = json.dumps(list(gone))
    connection.execute("delete from sessions where id in (select value from json_each(?))", (listed,))
    touched |= _blank(connection, keyed, chosen.fields)
    for session_id in touched - gone.keys():
        archive.refresh_session(connection, session_id)
    _remove_places(connection, chosen.repositories)
    connection.execute("insert or ignore into forgetting (step) values ('file'), ('terms'), ('bytes')")
    paths = tuple(shown(path) for path in chosen.kept_paths)
    return ForgetReport(len(gone), len(set(messages)), names=len(chosen.fields), kept_paths=paths)


def _marks_of(
    connection: apsw.Connection, keyed: Marks, chosen: Chosen, gone: dict[int, str]
) -> tuple[set[int], set[int]]:
    """(marks of all that is chosen, digests of what people said among it)."""
    made: set[int] = set()
    spoken: set[int] = set()
    wanted: dict[int, set[int] | None] = dict.fromkeys(gone)
    listed = (json.dumps(chosen.messages),)
    chosen_rows: list[Row] = connection.execute(_SESSION_OF, listed).fetchall()
    for message_id, session_id in chosen_rows:
        if (some := wanted.setdefault(session_id, set())) is not None:
            some.add(message_id)
    for session_id, some in wanted.items():
        rows = marks.said_in(connection, session_id)
        messages = [message for _, message, _ in rows]
        # A copy is another session's: with it, what was not to be forgotten would be.
        places = [i for i, (id, _, owner) in enumerate(rows) if owner is None and (some is None or id in some)]
        if some is not None and chosen.by_text:
            made |= keyed.of_texts(messages[i] for i in places)
        else:
            made |= keyed.of_messages(messages, places, archive.name_of(connection, session_id))
            spoken |= {messages[i].digest for i in places if messages[i].role == "user"}
    for name in chosen.names:
        made |= keyed.of_session(chosen.seen, name)
    return made, spoken


def _twins(
    connection: apsw.Connection, keyed: Marks, spoken: set[int], gone: dict[int, str], names: Sequence[str]
) -> list[int]:
    """Messages of other sessions that are copies of what is forgotten, and were not known as such."""
    found: list[int] = []
    listed = (json.dumps(list(spoken)), json.dumps(list(names)))
    alike: list[Row] = connection.execute(_ALIKE, listed).fetchall()
    for session_id, name, forked_from in alike:
        if session_id in gone:
            continue
        rows = marks.said_in(connection, session_id)
        origins = [origin for origin in (name, forked_from) if origin]
        known = keyed.known(connection, [message for _, message, _ in rows], None, origins)
        found += [rows[i][0] for i in sorted(known) if rows[i][2] is None]
    return found


def _copies(connection: apsw.Connection, chosen: Chosen, gone: dict[int, str]) -> list[int]:
    """Blank copies of what goes, which hold its digest."""
    rows: list[Row] = connection.execute(_COPIES_OF_SESSIONS, (json.dumps(list(gone)),)).fetchall()
    rows += connection.execute(_COPIES_OF_MESSAGES, (json.dumps(chosen.messages),)).fetchall()
    return [int(row[0]) for row in rows]


def _own_messages(connection: apsw.Connection, gone: Iterable[int]) -> list[int]:
    return [int(row[0]) for row in connection.execute(_OWN, (json.dumps(list(gone)),))]


def _all_messages(connection: apsw.Connection, gone: Iterable[int]) -> list[int]:
    return [int(row[0]) for row in connection.execute(_ALL, (json.dumps(list(gone)),))]


def _sessions_of(connection: apsw.Connection, message_ids: Sequence[int]) -> set[int]:
    rows: list[Row] = connection.execute(_SESSION_OF, (json.dumps(list(message_ids)),)).fetchall()
    return {session_id for _, session_id in rows}


def _leave_ledger(connection: apsw.Connection, gone: dict[int, str]) -> None:
    """Remember of the transcripts only that they are not to be read: what a reader noted of them may be their text."""
    rows: list[Row] = connection.execute(_TRANSCRIPTS, (json.dumps(list(gone)),)).fetchall()
    connection.executemany(_LEAVE, ((f"{path}: {FORGOTTEN}", id) for id, path in rows))


def _rename_forks(connection: apsw.Connection, copies: Sequence[int]) -> set[int]:
    """Blank the names of the sessions that hold these copies: they were the first words of what is gone."""
    forks = _sessions_of(connection, copies)
    connection.executemany("update sessions set title = '', preview = '' where id = ?", ((id,) for id in forks))
    return forks


def _rename(connection: apsw.Connection, messages: Sequence[int]) -> set[int]:
    """Blank the names that sessions have from the first words of these messages."""
    sessions = _sessions_of(connection, messages)
    for session_id in sessions:
        title, preview = archive.first_words(connection, session_id)
        connection.execute(_BLANK_NAMES, {"id": session_id, "title": title, "preview": preview})
    return sessions


def _blank(connection: apsw.Connection, keyed: Marks, fields: Sequence[str]) -> set[int]:
    """Blank these titles, previews, branches and remotes wherever they stand; row ids of the sessions named by them."""
    if not fields:
        return set()
    marks.put(connection, (keyed.of_field(text) for text in fields))
    listed = (json.dumps(list(fields)),)
    renamed = {int(row[0]) for row in connection.execute(_NAMED, listed)}
    for column in ("sessions.title", "sessions.preview", "sessions.branch", "sessions.remote", "messages.branch"):
        table, _, name = column.partition(".")
        connection.execute(f"update {table} set {name} = '' where {name} in (select value from json_each(?))", listed)
    connection.execute("delete from signs where sign in (select value from json_each(?))", listed)
    ledger.blank(connection, fields)
    return renamed


def _remove_places(connection: apsw.Connection, repositories: Sequence[int]) -> None:
    """Remove the paths of these repositories, as far as nothing is left in them."""
    for repository in repositories:
        worktrees: list[Row] = connection.execute(_UNUSED_WORKTREES, (repository,)).fetchall()
        connection.executemany("delete from worktrees where id = ?", worktrees)
        connection.execute(_REMOVE_REPOSITORY, (repository,))


_OWN = """
select id from messages where copied_from is null and session_id in (select value from json_each(?))
"""
_ALL = "select id from messages where session_id in (select value from json_each(?))"
_PASSAGES_OF = "select id from passages where message_id in (select value from json_each(?))"
_SESSION_OF = "select id, session_id from messages where id in (select value from json_each(?))"
_COPIES_OF_SESSIONS = "select id from messages where copied_from in (select value from json_each(?))"
_COPIES_OF_MESSAGES = """
select c.id from messages c where c.copied_from is not null and (c.copied_from, c.digest) in (
  select m.session_id, m.digest from messages m where m.id in (select value from json_each(?)))
"""
# What people said leads to the sessions that hold a copy: of all messages, only theirs are indexed by their digest.
_ALIKE = """
select s.id, s.name, s.forked_from from sessions s where s.id in (
  select m.session_id from json_each(?) j join messages m on m.digest = j.value and m.role = 'user'
) or (s.forked_from <> '' and s.forked_from in (select value from json_each(?)))
"""
_TRANSCRIPTS = "select id, path from transcripts where session_id in (select value from json_each(?))"
_LEAVE = "update transcripts set session_id = null, state = '{}', skipped = '{}', problem = ? where id = ?"
_BLANK_NAMES = """
update sessions set title = iif(title = :title, '', title), preview = iif(preview = :preview, '', preview)
where id = :id
"""
_NAMED = """
select id from sessions where title in (select value from json_each(?1)) or preview in (select value from json_each(?1))
"""
_UNUSED_WORKTREES = """
select id from worktrees where repository_id = ? and id <> 0
  and id not in (select worktree_id from sessions) and id not in (select worktree_id from messages)
"""
_REMOVE_REPOSITORY = """
delete from repositories where id = ?1 and id <> 0 and not exists (select 1 from worktrees where repository_id = ?1)
"""
