"""Reads the blocks in which sqlite-vec keeps the rows of a vec0 table, so that numpy can go through them.

vec0's own search over 100,000 rows took 130 ms for int8 and 55 ms for bits; read as blocks, the same rows took 20 ms
and 2 ms. sqlite-vec writes, finds and removes the rows; only its blocks are read here, by the
layout of its version 0.1 (`ARCHITECTURE.md` of asg017/sqlite-vec): `<table>_chunks` holds the ids of a block's rows and
which of them are in use, `<table>_vector_chunks00` and `01` their values of the first and the second vector column. A
test compares what is read with what vec0 itself answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from recall.database import Row, Value
from recall.embedded import BLOCK_ROWS

Integers = NDArray[np.int64]
Codes = NDArray[np.int8]


class Rows(NamedTuple):
    """The rows of some blocks; all arrays are as long as the blocks have room for."""

    passage_ids: Integers
    places: Integers
    """Where each row stands: block id × BLOCK_ROWS + number in the block."""
    used: NDArray[np.bool_]
    """Whether there is a row at that place."""
    values: NDArray[np.uint8]
    """Its bytes, shape (rows, bytes a row)."""


def read_codes(connection: apsw.Connection, table: str, repository_ids: Sequence[int]) -> Rows:
    """All rows of these repositories (none: of all) with their int8 vectors."""
    return _rows(connection, table, "00", repository_ids)


def read_bits(connection: apsw.Connection, table: str, repository_ids: Sequence[int]) -> Rows:
    """The same with their bits."""
    return _rows(connection, table, "01", repository_ids)


def count_rows(connection: apsw.Connection, table: str, repository_ids: Sequence[int]) -> int:
    """Upper bound of the rows of these repositories (none: of all): what their blocks have room for."""
    sql = f"select count(*) from {table}_chunks" + _inside("", repository_ids)
    row = connection.execute(sql, tuple(repository_ids)).fetchone()
    return BLOCK_ROWS * int(row[0]) if row else 0


def places_of(connection: apsw.Connection, table: str, passage_ids: Sequence[int]) -> tuple[Integers, Integers]:
    """(passage ids, places) of those of these passages that have a vector, ordered by place."""
    rows: list[Row] = connection.execute(
        f"select rowid, chunk_id * {BLOCK_ROWS} + chunk_offset as place from {table}_rowids "
        "where rowid in (select value from json_each(?)) order by place",
        (json.dumps([int(id) for id in passage_ids]),),
    ).fetchall()
    found = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def read_codes_at(connection: apsw.Connection, table: str, places: Integers) -> Codes:
    """The int8 vectors at these places, which ascend, one row each."""
    row = connection.execute(f"select length(vectors) from {table}_vector_chunks00 limit 1").fetchone()
    width = int(row[0]) // BLOCK_ROWS if row else 0
    values = bytearray(len(places) * width)
    blocks, numbers = np.divmod(places, BLOCK_ROWS)
    blob, current = None, -1
    try:
        for i, (block, number) in enumerate(zip(blocks.tolist(), numbers.tolist(), strict=True)):
            if blob is None:
                blob = connection.blob_open("main", f"{table}_vector_chunks00", "vectors", block, False)
            elif block != current:
                blob.reopen(block)
            current = block
            blob.seek(number * width)
            blob.read_into(values, i * width, width)
    finally:
        if blob is not None:
            blob.close()
    return np.frombuffer(values, dtype=np.int8).reshape(len(places), width)


def _rows(connection: apsw.Connection, table: str, column: str, repository_ids: Sequence[int]) -> Rows:
    sql = (
        f"select c.chunk_id, c.validity, c.rowids, v.vectors from {table}_chunks c "
        f"join {table}_vector_chunks{column} v on v._rowid_ = c.chunk_id"
    )
    ids: tuple[Value, ...] = tuple(repository_ids)
    # All at once: numpy takes longer to begin with one block of a million rows than to go through it.
    found: list[Row] = connection.execute(sql + _inside("c.", repository_ids), ids).fetchall()
    blocks, used, passages, values = zip(*found, strict=True) if found else ((), (), (), ())
    places = np.add.outer(np.array(blocks, dtype=np.int64) * BLOCK_ROWS, np.arange(BLOCK_ROWS)).reshape(-1)
    bits = np.unpackbits(np.frombuffer(b"".join(used), dtype=np.uint8), bitorder="little")
    width = len(values[0]) // BLOCK_ROWS if values else 1
    return Rows(
        np.frombuffer(b"".join(passages), dtype=np.int64),
        places,
        bits.view(np.bool_),
        np.frombuffer(b"".join(values), dtype=np.uint8).reshape(-1, width),
    )


def _inside(prefix: str, repository_ids: Sequence[int]) -> str:
    return f" where {prefix}partition00 in ({', '.join('?' * len(repository_ids))})" if repository_ids else ""
