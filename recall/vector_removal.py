"""Taking vectors out of the tables of dense.py. Needs no numpy: whatever takes sessions in may have to."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from recall import embedded
from recall.database import Row
from recall.embedded import BLOCK_ROWS


def drop_table(connection: apsw.Connection, table: str) -> None:
    """Remove all vectors of an embedder, and the embedder with them."""
    connection.execute(f"drop table if exists {table}")
    embedded.remove_embedder(connection, table)


def remove_vectors(connection: apsw.Connection, passage_ids: Sequence[int]) -> None:
    """Take passages out of every embedder's table. Without sqlite-vec the vectors stay until `remove_orphans`."""
    has_vec0 = connection.execute(_HAS_VEC0).fetchone() is not None
    for (embedder,) in connection.execute("select id from embedders").fetchall():
        if has_vec0:
            table = f"vectors_{embedder}"
            rest = _remove_chunks(connection, table, passage_ids)
            connection.executemany(f"delete from {table} where passage_id = ?", ((one,) for one in rest))
    embedded.strike(connection, passage_ids)


def _remove_chunks(connection: apsw.Connection, table: str, passage_ids: Sequence[int]) -> Sequence[int]:
    """Remove the chunks of a vec0 table in which nothing else is left, at once; the passages that are in others.

    vec0 looks at all chunks for each row that it deletes: 50,000 of 100,000 took more than a minute.
    """
    if len(passage_ids) < BLOCK_ROWS:
        return passage_ids
    listed = (json.dumps(list(passage_ids)),)
    chunks: list[Row] = connection.execute(_WHOLE_CHUNKS.format(table=table), listed).fetchall()
    parts: list[Row] = connection.execute(_PARTS, (f"{table}_*",)).fetchall()
    names = {str(name).removeprefix(table) for (name,) in parts}
    if not chunks or not names <= {"_info", "_chunks", "_rowids"} | {f"_vector_chunks{n:02}" for n in range(16)}:
        return passage_ids
    rows = f"select rowid from {table}_rowids where chunk_id = ?"
    removed = {int(row[0]) for chunk in chunks for row in connection.execute(rows, chunk)}
    connection.executemany(f"delete from {table}_rowids where rowid = ?", ((one,) for one in removed))
    for name in sorted(names - {"_info", "_rowids"}):
        connection.executemany(f"delete from {table}{name} where rowid = ?", chunks)
    return [one for one in passage_ids if one not in removed]


def remove_orphans(connection: apsw.Connection, table: str) -> None:
    """Remove vectors whose passage went while sqlite-vec could not be loaded."""
    orphans: list[Row] = connection.execute(
        f"select rowid from {table}_rowids where rowid not in (select id from passages)"
    ).fetchall()
    for (passage_id,) in orphans:
        connection.execute(f"delete from {table} where passage_id = ?", (passage_id,))


_WHOLE_CHUNKS = """
with gone as materialized (
  select r.chunk_id, count(*) as gone
  from json_each(?) j cross join {table}_rowids r on r.rowid = j.value group by r.chunk_id
)
select chunk_id from gone where gone = (select count(*) from {table}_rowids r where r.chunk_id = gone.chunk_id)
"""
_PARTS = "select name from sqlite_schema where type = 'table' and name glob ?"
_HAS_VEC0 = "select 1 from pragma_module_list where name = 'vec0'"
