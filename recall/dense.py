"""Vectors in sqlite-vec: one table an embedder, the repository as partition key; nearest.py searches them.

A row holds the vector in 8 bits a component, and the signs alone for a first look in wide scopes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from recall import embedded
from recall.database import Row
from recall.embedding import Embedder, Vectors
from recall.vector_blocks import BLOCK_ROWS

WORD = 64
"""Bits that are compared at once."""


def make_table(connection: apsw.Connection, embedder: Embedder) -> str:
    """Name of the table with this embedder's vectors, made if need be."""
    table = embedded.put_embedder(connection, embedder)
    connection.execute(
        f"create virtual table if not exists {table} using vec0(passage_id integer primary key, "
        f"repository_id integer partition key, embedding int8[{embedder.dimension}] distance_metric = cosine, "
        f"signs bit[{WORD * -(-embedder.dimension // WORD)}], chunk_size = {BLOCK_ROWS})"
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
    connection.executemany(
        f"insert into {table} (passage_id, repository_id, embedding, signs) values (?, ?, vec_int8(?), vec_bit(?))",
        (
            (*passages[place], codes(vectors[place]).tobytes(), sign_bits(vectors[place]).tobytes())
            for place in places
            if vectors[place].any()  # the cosine of a zero vector is not defined
        ),
    )
    embedded.record(connection, table, ((passages[place][0], digests[place] if digests else None) for place in places))


def vectors_of(connection: apsw.Connection, table: str, passage_ids: Sequence[int]) -> dict[int, Vectors]:
    """The vector of each of these passages that has one, as it is stored: of no particular norm, shape (dimension,)."""
    rows: list[Row] = connection.execute(_VECTORS.format(table=table), (json.dumps(list(passage_ids)),)).fetchall()
    return {int(row[0]): np.frombuffer(bytes(row[1]), dtype=np.int8).astype(np.float32) for row in rows}


def codes(vector: Vectors) -> NDArray[np.int8]:
    """The vector in 8 bits a component: its largest becomes 127. A cosine changes by less than 0.003."""
    quantized: NDArray[np.int8] = np.rint(vector * (127 / np.abs(vector).max())).astype(np.int8)
    return quantized


def sign_bits(vector: Vectors) -> NDArray[np.uint8]:
    """One bit a component, 1 where it is positive, filled up with zeros to whole words."""
    bits = np.zeros(WORD * -(-len(vector) // WORD), dtype=np.uint8)
    bits[: len(vector)] = vector > 0
    return np.packbits(bits)


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
  select r.chunk_id, count(*) as gone from json_each(?) j join {table}_rowids r on r.rowid = j.value group by r.chunk_id
)
select chunk_id from gone where gone = (select count(*) from {table}_rowids r where r.chunk_id = gone.chunk_id)
"""
_PARTS = "select name from sqlite_schema where type = 'table' and name glob ?"
_HAS_VEC0 = "select 1 from pragma_module_list where name = 'vec0'"
_STILL_THERE = "select p.id from json_each(?) as j cross join passages p on p.id = j.value"
_VECTORS = "select v.passage_id, v.embedding from json_each(?) as j join {table} v on v.passage_id = j.value"
