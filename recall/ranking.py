"""The candidates of both retrievers, with all that is known of them, to one ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import apsw

from recall import dense, lexical
from recall.bm25f import NEIGHBOUR_WEIGHTS, bm25f, largest
from recall.database import Database
from recall.embedding import Embedder, Vectors, unit
from recall.errors import ModelError
from recall.fusion import Ranked, cosine_weight, fuse
from recall.passages import count, neighbours, origins
from recall.scope_sql import ScopeSql


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
    by_words: bool,
) -> tuple[list[Ranked], dict[int, float]]:
    """(the candidates of both retrievers, best first, SESSION_SHARE of one session at most; the cosine of each).

    weights: the query's terms and their inverse document frequency. matching: passage ids by BM25, best first.
    by_words: whether words count at all; without them the cosine is the score.
    """
    found = nearest.found if nearest else {}
    candidates = list(dict.fromkeys([*matching, *found]))
    ranks = {
        "lexical": {passage: rank for rank, passage in enumerate(matching, 1)},
        "dense": {passage: rank for rank, passage in enumerate(found, 1)},
    }
    known = origins(connection, candidates)
    said_at = {passage: origin.said_at for passage, origin in known.items() if origin.said_at is not None}
    # A command stands for itself: the words around it are found themselves, and would only lift it beside them.
    around = {
        passage: neighbours(connection, passage, len(NEIGHBOUR_WEIGHTS))
        for passage, origin in known.items()
        if origin.embeddable
    }
    words: dict[int, float] = {}
    if matching:
        counts = lexical.count_terms(connection, list(weights), [origin.session_id for origin in known.values()])
        scores = bm25f(candidates, around, counts, list(weights.values()), lexical.average_length(connection))
        words = dict(zip(candidates, scores.tolist(), strict=True))
    cosines: dict[int, float] = {}
    if nearest:
        others = [passage for passage in candidates if passage not in found]
        cosines = found | dense.cosines(connection, nearest.table, nearest.vector, others)
    weight = cosine_weight(count(connection), readable) if by_words else 1.0
    most = largest(list(weights.values())) if by_words else 0.0
    ranking = fuse(words, most, cosines, weight, ranks, said_at)
    taken: Counter[int] = Counter()
    shared = []
    for ranked in ranking:
        session = known[ranked.passage_id].session_id if ranked.passage_id in known else 0
        taken[session] += 1
        if taken[session] <= lexical.SESSION_SHARE:
            shared.append(ranked)
    return shared, cosines


def nearest_to(database: Database, embedder: Embedder, text: str, where: ScopeSql, depth: int) -> Nearest:
    """Candidates by cosine. Raises ModelError, saying why, where vectors cannot be searched."""
    connection = database.connection
    if database.vectors_missing:
        raise ModelError(database.vectors_missing)
    table = dense.table_of(connection, embedder)
    if table is None:
        other = dense.other_embedder(connection, embedder)
        if other:
            raise ModelError(
                f'the index holds vectors from {other}, but the embedder is {embedder.name}; run "recall embed", '
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
