"""Vectors in sqlite-vec: one table an embedder, the repository as partition key; nearest.py searches them.

A row holds the vector in 8 bits a component, and the signs alone for a first look in wide scopes.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from recall.database import Row
from recall.embedding import Embedder, Vectors
from recall.vector_blocks import BLOCK_ROWS

WORD = 64
"""Bits that are compared at once."""


def table_of(connection: apsw.Connection, embedder: Embedder) -> str | None:
    """Name of the table with this embedder's vectors; None where there are none yet."""
    row = connection.execute(_EMBEDDER_IN_USE, (embedder.name,)).fetchone()
    return f"codes_{row[0]}" if row else None


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
    table = f"codes_{row[0] if row else 0}"
    connection.execute(
        f"create virtual table if not exists {table} using vec0(passage_id integer primary key, "
        f"repository_id integer partition key, embedding int8[{embedder.dimension}] distance_metric = cosine, "
        f"signs bit[{WORD * -(-embedder.dimension // WORD)}], chunk_size = {BLOCK_ROWS})"
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
                f"insert into {table} (passage_id, repository_id, embedding, signs) "
                "values (?, ?, vec_int8(?), vec_bit(?))",
                (passage_id, repository_id, codes(vector).tobytes(), sign_bits(vector).tobytes()),
            )
        connection.execute(
            "insert or ignore into embedded (embedder_id, passage_id) values (?, ?)", (embedder_id(table), passage_id)
        )


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
    if connection.execute(_HAS_VEC0).fetchone():
        for (embedder,) in connection.execute("select id from embedders").fetchall():
            for passage_id in passage_ids:
                connection.execute(f"delete from codes_{embedder} where passage_id = ?", (passage_id,))
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
    return int(table.removeprefix("codes_")) if table else 0


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
