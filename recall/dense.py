"""Nearest neighbours by cosine: vectors in sqlite-vec, one table an embedder, the repository as partition key.

The scope is part of the search. Filtered afterwards, a repository with 0.1% of the passages got no hits at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from recall.database import Row, Value
from recall.embedding import Embedder, Vectors
from recall.fusion import Background

if TYPE_CHECKING:
    from recall.scope_sql import ScopeSql

KNN_LIMIT = 4_096
"""Largest `k` that vec0 takes."""

SAMPLE = 256
"""Cosines that tell what is usual: their mean and deviation are then known to about 5% of the deviation."""


def table_of(connection: apsw.Connection, embedder: Embedder) -> str | None:
    """Name of the table with this embedder's vectors; None where there are none yet."""
    row = connection.execute(_EMBEDDER_IN_USE, (embedder.name,)).fetchone()
    return f"vectors_{row[0]}" if row else None


def other_embedder(connection: apsw.Connection, embedder: Embedder) -> str:
    """Name of another embedder that the index holds vectors from; empty where it holds none."""
    row = connection.execute(_OTHER_IN_USE, (embedder.name,)).fetchone()
    return str(row[0]) if row else ""


def make_table(connection: apsw.Connection, embedder: Embedder) -> str:
    """Name of the table with this embedder's vectors, made if need be."""
    connection.execute(
        "insert into embedders (name, dimension) values (?, ?) on conflict do nothing",
        (embedder.name, embedder.dimension),
    )
    row = connection.execute("select id from embedders where name = ?", (embedder.name,)).fetchone()
    table = f"vectors_{row[0] if row else 0}"
    connection.execute(
        f"create virtual table if not exists {table} using vec0(passage_id integer primary key, "
        f"repository_id integer partition key, embedding float[{embedder.dimension}] distance_metric = cosine)"
    )
    return table


def without_vector(connection: apsw.Connection, table: str | None, limit: int) -> list[tuple[int, int, str]]:
    """(passage id, repository id, text) of passages that still lack a vector, newest first."""
    rows = connection.execute(_WITHOUT_VECTOR, (embedder_id(table), limit))
    return [(int(row[0]), int(row[1]), str(row[2])) for row in rows]


def count_without_vector(connection: apsw.Connection, table: str | None) -> int:
    """Number of passages worth a vector that have none."""
    row = connection.execute(_COUNT_WITHOUT_VECTOR, (embedder_id(table),)).fetchone()
    return int(row[0]) if row else 0


def put_vectors(connection: apsw.Connection, table: str, passages: Sequence[tuple[int, int]], vectors: Vectors) -> None:
    """Store the vectors of passages given as (passage id, repository id). Passages that are gone are left out."""
    for (passage_id, repository_id), vector in zip(passages, vectors, strict=True):
        if not connection.execute("select 1 from passages where id = ?", (passage_id,)).fetchone():
            continue
        # vec0 knows no "insert or replace": it raises a UNIQUE error instead.
        connection.execute(f"delete from {table} where passage_id = ?", (passage_id,))
        if vector.any():  # the cosine of a zero vector is not defined, and its distance null
            connection.execute(
                f"insert into {table} (passage_id, repository_id, embedding) values (?, ?, ?)",
                (passage_id, repository_id, vector.astype("float32").tobytes()),
            )
        connection.execute(
            "insert or ignore into embedded (embedder_id, passage_id) values (?, ?)", (embedder_id(table), passage_id)
        )


def search_dense(
    connection: apsw.Connection, table: str, vector: Vectors, where: ScopeSql, depth: int
) -> list[tuple[int, float]]:
    """(passage id, cosine) of the nearest passages inside the filter, best first, at most `depth` (4,096 at most)."""
    sql = f"select passage_id, distance from {table} where embedding match ? and k = ?"
    values: list[Value] = [vector.astype("float32").tobytes(), min(depth, KNN_LIMIT)]
    if where.repository_ids:
        sql += f" and repository_id in ({', '.join('?' * len(where.repository_ids))})"
        values.extend(where.repository_ids)
    sql += f" and passage_id in (select p.id from passages p where p.embeddable = 1 and {where.sql})"
    values.extend(where.values)
    rows = connection.execute(sql + " order by distance", tuple(values))
    # Of several repositories, vec0 returns k each.
    return [(int(row[0]), 1.0 - float(row[1])) for row in rows if row[1] is not None][:depth]


def cosines(connection: apsw.Connection, table: str, vector: Vectors, passage_ids: Sequence[int]) -> dict[int, float]:
    """Cosine of each of these passages that has a vector."""
    import numpy as np

    sql = f"select v.passage_id, v.embedding from json_each(?) as j join {table} v on v.passage_id = j.value"
    rows: list[Row] = connection.execute(sql, (json.dumps(list(passage_ids)),)).fetchall()
    if not rows:
        return {}
    matrix = np.frombuffer(b"".join(bytes(row[1]) for row in rows), dtype=np.float32).reshape(len(rows), -1)
    return dict(zip((row[0] for row in rows), (matrix @ vector).tolist(), strict=True))


def background(connection: apsw.Connection, table: str, vector: Vectors, repository_ids: Sequence[int]) -> Background:
    """What cosines are usual here: of up to SAMPLE passages, spread over all of the repositories; empty means all."""
    import numpy as np

    sampled: list[int] = []
    filters = [f"embeddable = 1 and repository_id = {int(id)}" for id in repository_ids] or ["embeddable = 1"]
    for one in filters:
        row = connection.execute(f"select min(id), max(id) from passages where {one}").fetchone()
        if row is None or row[0] is None:
            continue
        spread = np.unique(np.linspace(int(row[0]), int(row[1]), max(1, SAMPLE // len(filters)), dtype=np.int64))
        found = connection.execute(_SPREAD.format(where=one), (json.dumps(spread.tolist()),))
        sampled += [int(id) for (id,) in found]
    values = list(cosines(connection, table, vector, sampled).values())
    return Background(float(np.mean(values)), float(np.std(values))) if values else Background(0.0, 0.0)


def remove_vectors(connection: apsw.Connection, passage_ids: Sequence[int]) -> None:
    """Take passages out of every embedder's table. Without sqlite-vec the vectors stay until `remove_orphans`."""
    if connection.execute(_HAS_VEC0).fetchone():
        for (embedder,) in connection.execute("select id from embedders").fetchall():
            for passage_id in passage_ids:
                connection.execute(f"delete from vectors_{embedder} where passage_id = ?", (passage_id,))
    for passage_id in passage_ids:
        connection.execute("delete from embedded where passage_id = ?", (passage_id,))


def remove_orphans(connection: apsw.Connection, table: str) -> None:
    """Remove vectors whose passage went while sqlite-vec could not be loaded."""
    orphans: list[Row] = connection.execute(
        f"select rowid from {table}_rowids where rowid not in (select id from passages)"
    ).fetchall()
    for (passage_id,) in orphans:
        connection.execute(f"delete from {table} where passage_id = ?", (passage_id,))


def embedder_id(table: str | None) -> int:
    """The id inside a table's name; 0, which no embedder has, for None."""
    return int(table.removeprefix("vectors_")) if table else 0


_SPREAD = """
select distinct (select id from passages where {where} and id >= j.value order by id limit 1) from json_each(?) as j
"""
_HAS_VEC0 = "select 1 from pragma_module_list where name = 'vec0'"
_WITHOUT_VECTOR = """
select p.id, p.repository_id, substr(m.text, p.start_at + 1, p.end_at - p.start_at)
from passages p join messages m on m.id = p.message_id
where p.embeddable = 1 and not exists (select 1 from embedded e where e.embedder_id = ? and e.passage_id = p.id)
order by p.id desc limit ?
"""
_COUNT_WITHOUT_VECTOR = """
select (select count(*) from passages where embeddable = 1) - (select count(*) from embedded where embedder_id = ?)
"""
_IN_USE = "exists (select 1 from embedded where embedder_id = embedders.id)"
_EMBEDDER_IN_USE = f"select id from embedders where name = ? and {_IN_USE}"
_OTHER_IN_USE = f"select name from embedders where name <> ? and {_IN_USE} order by id desc"
