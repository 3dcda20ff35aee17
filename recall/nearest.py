"""Nearest neighbours by cosine inside a scope.

A scope of few passages is gone through whole. In a wide one the sign bits of the vectors come first: their Hamming
distance to the query's says where the near ones are, and only those are compared by their int8 vectors (Charikar,
"Similarity estimation techniques from rounding algorithms", STOC 2002). Both are exact as to the scope: candidates are
taken in the order of nearness until enough of them lie inside it. Filtered afterwards, a repository with 0.1% of the
passages got no hits at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from recall.dense import sign_bits
from recall.embedding import Vectors
from recall.fusion import Background
from recall.postings import growing
from recall.scope_sql import ScopeSql, inside
from recall.vector_blocks import Codes, Integers, count_rows, places_of, read_bits, read_codes, read_codes_at

EXACT_ROWS = 16_384
"""Rows up to which going through all is as quick as through their bits first (benchmarks/README.md)."""

CANDIDATES, CANDIDATE_SHARE = 4_000, 50
"""Rows that are compared after their bits: at least so many, and one of CANDIDATE_SHARE in a larger scope."""

SAMPLE = 512
"""Cosines that tell what is usual, where not all are known: mean and deviation to 4% of the deviation."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What the vectors of a scope say about a query."""

    found: dict[int, float]
    """Passage id to cosine, best first."""
    background: Background
    """Of the scope's repositories, whatever else narrows it."""


def search_dense(connection: apsw.Connection, table: str, vector: Vectors, where: ScopeSql, depth: int) -> Neighbours:
    """The nearest passages inside the filter, at most `depth`, with what cosines are usual around them."""
    if count_rows(connection, table, where.repository_ids) <= EXACT_ROWS:
        return _among_all(connection, table, vector, where, depth)
    return _by_bits(connection, table, vector, where, depth)


def cosines_of(
    connection: apsw.Connection, table: str, vector: Vectors, passage_ids: Sequence[int]
) -> dict[int, float]:
    """Cosine of each of these passages that has a vector."""
    found, places = places_of(connection, table, passage_ids)
    return dict(zip(found.tolist(), _compare(read_codes_at(connection, table, places), vector).tolist(), strict=True))


def _among_all(connection: apsw.Connection, table: str, vector: Vectors, where: ScopeSql, depth: int) -> Neighbours:
    rows = read_codes(connection, table, where.repository_ids)
    passages = rows.passage_ids[rows.used]
    values = _compare(rows.values.view(np.int8), vector)[rows.used]
    return Neighbours(_best_inside(connection, passages, values, where, depth), _usual(values))


def _by_bits(connection: apsw.Connection, table: str, vector: Vectors, where: ScopeSql, depth: int) -> Neighbours:
    rows = read_bits(connection, table, where.repository_ids)
    passages, places = rows.passage_ids[rows.used], rows.places[rows.used]
    distances = _hamming(rows.values, sign_bits(vector))[rows.used]
    enough = max(CANDIDATES, len(passages) // CANDIDATE_SHARE)
    found: dict[int, float] = {}
    for near in growing(np.argsort(distances, kind="stable"), enough):
        near = near[np.argsort(places[near])]
        values = _compare(read_codes_at(connection, table, places[near]), vector)
        found |= _best_inside(connection, passages[near], values, where, depth)
        if len(found) >= depth:
            break
    best = sorted(found.items(), key=lambda pair: -pair[1])[:depth]
    sample = np.sort(places)[np.linspace(0, len(places) - 1, SAMPLE, dtype=np.int64)]
    return Neighbours(dict(best), _usual(_compare(read_codes_at(connection, table, sample), vector)))


def _best_inside(
    connection: apsw.Connection, passages: Integers, values: NDArray[np.float32], where: ScopeSql, depth: int
) -> dict[int, float]:
    """Passage id to cosine of the best that lie inside the filter, best first, at most `depth`."""
    found: dict[int, float] = {}
    for some in growing(np.argsort(-values, kind="stable"), 2 * depth):
        kept = {id for (id,) in inside(connection, passages[some].tolist(), where)}
        found |= {passage: value for passage, value in _pairs(passages[some], values[some]) if passage in kept}
        if len(found) >= depth:
            break
    return dict(list(found.items())[:depth])


def _hamming(rows: NDArray[np.uint8], bits: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Number of bits in which each row differs."""
    distances = np.zeros(len(rows), np.uint16)
    for words, word in zip(rows.view(np.uint64).T, bits.view(np.uint64), strict=True):
        distances += np.bitwise_count(words ^ word)
    return distances


def _compare(codes: Codes, vector: Vectors) -> NDArray[np.float32]:
    """Cosines of int8 vectors, each of a scale of its own, with a vector of unit norm."""
    rows = codes.astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    compared: NDArray[np.float32] = rows @ vector[: rows.shape[1]] / np.maximum(norms, 1.0)
    return compared


def _pairs(passages: Integers, values: NDArray[np.float32]) -> Iterator[tuple[int, float]]:
    return zip(passages.tolist(), values.tolist(), strict=True)


def _usual(values: NDArray[np.float32]) -> Background:
    return Background(float(values.mean()), float(values.std())) if len(values) else Background(0.0, 0.0)
