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
from recall.embedded import BLOCK_ROWS
from recall.embedding import Embedder, Vectors

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


_STILL_THERE = "select p.id from json_each(?) as j cross join passages p on p.id = j.value"
_VECTORS = "select v.passage_id, v.embedding from json_each(?) as j cross join {table} v on v.passage_id = j.value"
