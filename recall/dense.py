"""Nearest neighbours by cosine: vectors in sqlite-vec, one table an embedder, the repository as partition key.

The scope is part of the search. Filtered afterwards, a repository with 0.1% of the passages got no hits at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw
import numpy as np

from recall import embedded
from recall.database import Row, Value
from recall.embedding import Embedder, Vectors
from recall.fusion import Background

if TYPE_CHECKING:
    from recall.scope_sql import ScopeSql

KNN_LIMIT = 4_096
"""Largest `k` that vec0 takes."""

SAMPLE = 256
"""Cosines that tell what is usual: their mean and deviation are then known to about 5% of the deviation."""


def make_table(connection: apsw.Connection, embedder: Embedder) -> str:
    """Name of the table with this embedder's vectors, made if need be."""
    table = embedded.put_embedder(connection, embedder)
    connection.execute(
        f"create virtual table if not exists {table} using vec0(passage_id integer primary key, "
        f"repository_id integer partition key, embedding float[{embedder.dimension}] distance_metric = cosine)"
    )
    return table


def drop_table(connection: apsw.Connection, table: str) -> None:
    """Remove all vectors of an embedder, and the embedder with them."""
    connection.execute(f"drop table if exists {table}")
    embedded.remove_embedder(connection, table)


def put_vectors(
    connection: apsw.Connection,
    table: str,
    passages: Sequence[tuple[int, int]],
    vectors: Vectors,
    digests: Sequence[int] | None = None,
) -> None:
    """Store the vectors of passages given as (passage id, repository id). Passages that are gone are left out.

    digests: of their texts (`embedded.digest_of`); a passage with an equal text then gets its vector from here.
    """
    rows: list[Row] = connection.execute(_STILL_THERE, (json.dumps([passage for passage, _ in passages]),)).fetchall()
    there = {int(row[0]) for row in rows}
    places = [place for place, (passage, _) in enumerate(passages) if passage in there]
    # vec0 knows no "insert or replace": it raises a UNIQUE error instead.
    connection.executemany(f"delete from {table} where passage_id = ?", ((passages[place][0],) for place in places))
    wide = np.ascontiguousarray(vectors, dtype=np.float32)
    connection.executemany(
        f"insert into {table} (passage_id, repository_id, embedding) values (?, ?, ?)",
        # The cosine of a zero vector is not defined, and its distance null.
        ((*passages[place], wide[place].tobytes()) for place in places if wide[place].any()),
    )
    embedded.record(connection, table, ((passages[place][0], digests[place] if digests else None) for place in places))


def vectors_of(connection: apsw.Connection, table: str, passage_ids: Sequence[int]) -> dict[int, Vectors]:
    """The vector of each of these passages that has one, shape (dimension,)."""
    rows: list[Row] = connection.execute(_VECTORS.format(table=table), (json.dumps(list(passage_ids)),)).fetchall()
    return {int(row[0]): np.frombuffer(bytes(row[1]), dtype=np.float32) for row in rows}


def search_dense(
    connection: apsw.Connection, table: str, vector: Vectors, where: ScopeSql, depth: int
) -> list[tuple[int, float]]:
    """(passage id, cosine) of the nearest passages inside the filter, best first, at most `depth` (4,096 at most)."""
    sql = f"select passage_id, distance from {table} where embedding match ? and k = ?"
    values: list[Value] = [vector.astype(np.float32).tobytes(), min(depth, KNN_LIMIT)]
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
    rows: list[Row] = connection.execute(_VECTORS.format(table=table), (json.dumps(list(passage_ids)),)).fetchall()
    if not rows:
        return {}
    matrix = np.frombuffer(b"".join(bytes(row[1]) for row in rows), dtype=np.float32).reshape(len(rows), -1)
    return dict(zip((row[0] for row in rows), (matrix @ vector).tolist(), strict=True))


def background(connection: apsw.Connection, table: str, vector: Vectors, repository_ids: Sequence[int]) -> Background:
    """What cosines are usual here: of up to SAMPLE passages, spread over all of the repositories; empty means all."""
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
    embedded.strike(connection, passage_ids)


def remove_orphans(connection: apsw.Connection, table: str) -> None:
    """Remove vectors whose passage went while sqlite-vec could not be loaded."""
    orphans: list[Row] = connection.execute(
        f"select rowid from {table}_rowids where rowid not in (select id from passages)"
    ).fetchall()
    for (passage_id,) in orphans:
        connection.execute(f"delete from {table} where passage_id = ?", (passage_id,))


_SPREAD = """
select distinct (select id from passages where {where} and id >= j.value order by id limit 1) from json_each(?) as j
"""
_HAS_VEC0 = "select 1 from pragma_module_list where name = 'vec0'"
_STILL_THERE = "select p.id from json_each(?) as j join passages p on p.id = j.value"
_VECTORS = "select v.passage_id, v.embedding from json_each(?) as j join {table} v on v.passage_id = j.value"
