"""Making again, in their place, the parts of the database that are derived: passages, word index, vectors.

Everything here runs in one transaction: a process that is killed leaves the damage as it was. What was said is never
touched; where that is damaged too, `recall doctor --fix` (recall/salvage.py) helps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import apsw

from recall import lexical
from recall.analysis import index_terms
from recall.archive import StoredMessage
from recall.database import Database, Row
from recall.home import KEY_NAME
from recall.intake import Intake, remove_passages
from recall.soundness import (
    EMBEDDED,
    EMBEDDED_IN_VAIN,
    EMBEDDED_NOTHING,
    PASSAGES,
    TOTALS,
    TRIGGERS,
    WITHOUT_PASSAGES,
    WORDS,
    Damage,
    damages,
    embedder_of,
    vector_tables,
)

MakeIntake = Callable[[], Intake]
"""Makes what cuts messages into passages: loads a tokenizer, so only where it is needed."""

BATCH = 2_000
"""Passages whose text is in memory at once."""


def greeting(database: Database) -> list[str]:
    """One sentence where an archive that was here is gone, and a new one has just been made."""
    if not database.is_new or database.path is None or not (database.path.parent / KEY_NAME).exists():
        return []
    return [f'{database.path} is new, though there was one before; take transcripts in again with "recall ingest"']


def mend(database: Database, intake: MakeIntake, counted: bool = False) -> list[str]:
    """Make again what is damaged; a sentence for each part. Nothing is written where nothing is.

    counted: look thoroughly, see `soundness.damages`. Raises DatabaseError where the damage goes deeper, or another
    process holds the lock.
    """
    with database.read() as connection:
        found = damages(connection, counted)
    if not found or database.is_read_only:
        return [f"{_name(damage.part)} is damaged and the home is read-only: {damage.found}" for damage in found]
    cutter = intake()  # may write a key, and takes the lock for that
    # FTS5 remembers what it has seen of its tables, and would write what it remembers into the new ones: so this
    # connection begins anew, and another one looks again, behind the lock, in case a process has just mended this.
    database.reopen()
    other = Database(database.path)
    try:
        with database.write():
            with other.read() as connection:
                found = damages(connection, counted)
            said = [sentence for damage in found for sentence in _mend(database, damage, cutter)]
    finally:
        other.close()
    database.reopen()
    return said


def _mend(database: Database, damage: Damage, intake: Intake) -> Iterator[str]:
    connection = database.connection
    fresh = Database(None)
    try:
        if damage.part == PASSAGES:
            count = _make_passages(connection, fresh.connection, intake)
            yield f"{PASSAGES} was damaged ({damage.found}); made again from the messages: {count} passages"
        elif damage.part == TOTALS:
            _make_totals(connection, fresh.connection)
            yield f"{TOTALS} was wrong ({damage.found}); counted again"
        elif damage.part == WORDS:
            is_older = connection.execute(_NEVER_COUNTED).fetchone() is not None
            count = make_words(connection, fresh.connection)
            if is_older:
                yield f"{WORDS} has been made anew in the form of this version: {count} passages"
            else:
                yield f"{WORDS} was damaged ({damage.found}); made again from the messages: {count} passages"
        elif damage.part == EMBEDDED:
            _make_embedded(connection, fresh.connection)
            yield f'{EMBEDDED} was out of step ({damage.found}); run "recall embed" to compute what is missing'
        elif not database.vectors_missing:
            _empty_vectors(connection, fresh.connection, damage.part)
            name = _embedder(connection, damage.part)
            yield f'the vectors of {name} were damaged ({damage.found}); run "recall embed" to compute them again'
    finally:
        fresh.close()


def make_words(connection: apsw.Connection, fresh: apsw.Connection) -> int:
    """Make the word index again; number of passages in it. fresh: a new database, whose empty one is copied."""
    _restore(connection, fresh, "lexical")
    if not connection.execute(_HAS, ("lexical_terms",)).fetchone():
        connection.execute(_definition(fresh, "lexical_terms"))
    rows: list[Row]
    count, last = 0, 0
    while rows := connection.execute(_TEXTS, (last, BATCH)).fetchall():
        indexed = [(id, repository, *index_terms(text)) for id, text, repository in rows]
        lexical.put_terms(connection, ((id, repository, terms) for id, repository, terms, _ in indexed))
        connection.executemany(
            "update passages set length = ? where id = ?", ((length, id) for id, _, _, length in indexed)
        )
        count, last = count + len(rows), rows[-1][0]
    return count


def _make_passages(connection: apsw.Connection, fresh: apsw.Connection, intake: Intake) -> int:
    """Cut messages into passages again, with all that hangs on them; number of the new ones.

    Those of whole sessions: the order of their ids is the order in which things were said.
    """
    rows: list[Row]
    if not connection.execute(_HAS, ("totals",)).fetchone():  # triggers write to it
        connection.execute(_definition(fresh, "totals"))
    if connection.execute(_HAS, ("passages",)).fetchone() and connection.execute(_ANY_PASSAGE).fetchone():
        rows = connection.execute(f"select distinct m.session_id {WITHOUT_PASSAGES}").fetchall()
    else:
        connection.execute("drop table if exists passages")
        for (sql,) in fresh.execute(_DEFINITIONS, ("passages",)):
            connection.execute(str(sql))
        _restore(connection, fresh, "lexical")
        for table in vector_tables(connection):  # ids of passages begin anew
            _empty_vectors(connection, fresh, table)
        rows = connection.execute("select id from sessions order by id").fetchall()
    before = _last(connection)
    for (session_id,) in rows:
        messages: list[Row] = connection.execute(_MESSAGES, (session_id,)).fetchall()
        for message in messages:
            remove_passages(connection, int(message[0]))
        intake.index_messages(
            connection,
            [
                StoredMessage(id, session_id, repository, worktree, role, text, said_at, bool(subagent))
                for id, repository, worktree, role, text, said_at, subagent in messages
            ],
        )
    _make_totals(connection, fresh)
    return _last(connection) - before


def _make_totals(connection: apsw.Connection, fresh: apsw.Connection) -> None:
    """Count the passages again, and let the triggers do so from now on."""
    if not connection.execute(_HAS, ("totals",)).fetchone():
        connection.execute(_definition(fresh, "totals"))
    for name in TRIGGERS:
        connection.execute(f"drop trigger if exists {name}")
        connection.execute(_definition(fresh, name))
    connection.execute("delete from totals")
    connection.execute("insert into totals select count(*), ifnull(sum(length), 0) from passages")


def _make_embedded(connection: apsw.Connection, fresh: apsw.Connection) -> None:
    if not connection.execute(_HAS, ("embedders",)).fetchone():  # ids begin anew, and are names of tables
        for table in vector_tables(connection):
            connection.execute(f"drop table {table}")
    for name in ("embedders", "embedded"):
        if not connection.execute(_HAS, (name,)).fetchone():
            for (sql,) in fresh.execute(_DEFINITIONS, (name,)):
                connection.execute(str(sql))
    connection.execute(f"delete {EMBEDDED_NOTHING}")
    connection.execute("delete from embedded where embedder_id not in (select id from embedders)")
    for table in vector_tables(connection):
        if connection.execute(_HAS, (f"{table}_rowids",)).fetchone():
            connection.execute(f"delete {EMBEDDED_IN_VAIN.format(table=table)}", (embedder_of(table),))


def _empty_vectors(connection: apsw.Connection, fresh: apsw.Connection, table: str) -> None:
    """Make a table of vectors again, with nothing in it."""
    row = connection.execute("select sql from sqlite_schema where name = ?", (table,)).fetchone()
    if connection.execute(_HAS, ("embedded",)).fetchone():
        connection.execute("delete from embedded where embedder_id = ?", (embedder_of(table),))
    if row is None:  # made by the next `embed`, for which the way has to be clear
        for name in _own_tables(connection, table):
            connection.execute(f'drop table "{name}"')
        return
    fresh.execute(f"drop table if exists {table}")
    fresh.execute(str(row[0]))
    _restore(connection, fresh, table)


def _restore(connection: apsw.Connection, fresh: apsw.Connection, table: str) -> None:
    """Give a virtual table the tables of its own that an empty one has: it cannot be dropped without them."""
    for name in _own_tables(connection, table):
        connection.execute(f'drop table "{name}"')
    if not connection.execute(_HAS, (table,)).fetchone():
        connection.execute(_definition(fresh, table))
    for name in _own_tables(fresh, table):
        if not connection.execute(_HAS, (name,)).fetchone():
            connection.execute(_definition(fresh, name))
        connection.execute(f'delete from "{name}"')
        for row in fresh.execute(f'select * from "{name}"').fetchall():
            connection.execute(f'insert into "{name}" values ({", ".join("?" * len(row))})', row)


def _own_tables(connection: apsw.Connection, table: str) -> list[str]:
    ends = ("data", "idx", "docsize", "config") if table == "lexical" else ("info", "chunks", "rowids")
    rows = connection.execute(_OWN, (f"{table}_*",)).fetchall()
    names = [str(row[0]) for row in rows]
    return [name for name in names if name.removeprefix(f"{table}_") in ends or "_vector_chunks" in name]


def _definition(connection: apsw.Connection, name: str) -> str:
    row = connection.execute("select sql from sqlite_schema where name = ?", (name,)).fetchone()
    assert row is not None
    return str(row[0])


def _last(connection: apsw.Connection) -> int:
    row = connection.execute("select ifnull(max(id), 0) from passages").fetchone()
    return int(row[0]) if row else 0


def _embedder(connection: apsw.Connection, table: str) -> str:
    row = connection.execute("select name from embedders where id = ?", (embedder_of(table),)).fetchone()
    return str(row[0]) if row else "an unknown model"


def _name(part: str) -> str:
    return part if part in (PASSAGES, WORDS, TOTALS, EMBEDDED) else "a table of vectors"


# A migration has emptied the index, and knows no terms yet.
_NEVER_COUNTED = "select 1 from totals where passages > 0 and terms = 0"
_HAS = "select 1 from sqlite_schema where name = ?"
_ANY_PASSAGE = "select 1 from passages limit 1"
_OWN = "select name from sqlite_schema where type = 'table' and name glob ? order by name"
_DEFINITIONS = """
select sql from sqlite_schema where tbl_name = ? and sql is not null order by type <> 'table', type <> 'index', name
"""
_TEXTS = """
select p.id, substr(m.text, p.start_at + 1, p.end_at - p.start_at), p.repository_id
from passages p join messages m on m.id = p.message_id where p.id > ? order by p.id limit ?
"""
_MESSAGES = """
select m.id, w.repository_id, m.worktree_id, m.role, m.text, m.said_at, m.subagent
from messages m join worktrees w on w.id = m.worktree_id
where m.session_id = ? and m.copied_from is null and m.text <> '' order by m.number
"""
