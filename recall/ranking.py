"""The candidates of both retrievers, with all that is known of them, to one ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import apsw

from recall import dense, lexical
from recall.bm25f import NEIGHBOUR_WEIGHTS, bm25f, largest
from recall.database import Database
from recall.dense import Filter
from recall.embedding import Embedder, Vectors, unit
from recall.errors import ModelError
from recall.fusion import Ranked, cosine_weight, fuse
from recall.passages import count, neighbours, origins


@dataclass(frozen=True, slots=True)
class Nearest:
    """What the vectors say: candidates by cosine, best first, and all that is needed to look up more cosines."""

    found: dict[int, float]
    table: str
    vector: Vectors
    notes: tuple[str, ...]


def rank(
    connection: apsw.Connection,
    weights: Mapping[str, float],
    matching: Sequence[int],
    nearest: Nearest | None,
    readable: float,
) -> tuple[list[Ranked], dict[int, float]]:
    """(the candidates of both retrievers, best first, SESSION_SHARE of one session at most; the cosine of each).

    weights: the query's terms and their inverse document frequency. matching: passage ids by BM25, best first.
    """
    found = nearest.found if nearest else {}
    candidates = list(dict.fromkeys([*matching, *found]))
    around = {passage: neighbours(connection, passage, len(NEIGHBOUR_WEIGHTS)) for passage in candidates}
    ranks = {
        "lexical": {passage: rank for rank, passage in enumerate(matching, 1)},
        "dense": {passage: rank for rank, passage in enumerate(found, 1)},
    }
    known = origins(connection, candidates)
    said_at = {passage: time for passage, (_, time) in known.items() if time is not None}
    words: dict[int, float] = {}
    if matching:
        counts = lexical.count_terms(connection, list(weights), [session for session, _ in known.values()])
        scores = bm25f(candidates, around, counts, list(weights.values()), lexical.average_length(connection))
        words = dict(zip(candidates, scores.tolist(), strict=True))
    cosines = _all_cosines(connection, nearest, candidates, around) if nearest else {}
    weight = cosine_weight(count(connection), readable)
    ranking = fuse(words, largest(list(weights.values())), cosines, weight, ranks, said_at)
    taken: Counter[int] = Counter()
    shared = []
    for ranked in ranking:
        session = known[ranked.passage_id][0] if ranked.passage_id in known else 0
        taken[session] += 1
        if taken[session] <= lexical.SESSION_SHARE:
            shared.append(ranked)
    return shared, cosines


def _all_cosines(
    connection: apsw.Connection, nearest: Nearest, candidates: Sequence[int], around: Mapping[int, list[list[int]]]
) -> dict[int, float]:
    """Cosine of each candidate; of one without a vector, such as a command, the mean of the words next to it."""
    cosines = dict(nearest.found)
    cosines |= dense.cosines(connection, nearest.table, nearest.vector, [p for p in candidates if p not in cosines])
    bare = {passage: around[passage][0] for passage in candidates if passage not in cosines}
    wanted = {neighbour for beside in bare.values() for neighbour in beside if neighbour not in cosines}
    known = cosines | dense.cosines(connection, nearest.table, nearest.vector, list(wanted))
    for passage, beside in bare.items():
        if values := [known[neighbour] for neighbour in beside if neighbour in known]:
            cosines[passage] = sum(values) / len(values)
    return cosines


def nearest_to(database: Database, embedder: Embedder, text: str, where: Filter, depth: int) -> Nearest:
    """Candidates by cosine. Raises ModelError, saying why, where vectors cannot be searched."""
    connection = database.connection
    if database.vectors_missing:
        raise ModelError(database.vectors_missing)
    table = dense.table_of(connection, embedder)
    if table is None:
        other = connection.execute("select name from embedders order by id desc").fetchone()
        if other:
            raise ModelError(
                f'the index holds vectors from {other[0]}, but the embedder is {embedder.name}; run "recall embed", '
                "or choose the other model again"
            )
        raise ModelError('the index holds no vectors yet; run "recall embed"')
    vector = unit(embedder.embed_query(text))
    if not vector.any():
        raise ModelError("the embedder understands nothing in this query")
    notes: tuple[str, ...] = ()
    if missing := dense.count_without_vector(connection, table):
        notes = (f'{missing} passages have no vector yet and are found by their words only; run "recall embed"',)
    return Nearest(dict(dense.search_dense(connection, table, vector, where, depth)), table, vector, notes)
