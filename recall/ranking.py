"""The candidates of both retrievers, with all that is known of them, to one ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import apsw

from recall import dense, lexical
from recall.bm25f import gains, largest
from recall.concepts import Wording
from recall.database import Database
from recall.embedding import Embedder, Vectors, unit
from recall.errors import ModelError
from recall.fusion import QUESTION_PENALTY, Background, Ranked, add_up, lift_sessions, order
from recall.passages import Origin, origins
from recall.scope_sql import ScopeSql


class UnreadableError(ModelError):
    """The embedder understands nothing in the query. No fault of anyone: such a query is asked by words."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """What the vectors say: candidates by cosine, best first, and all that is needed to look up more cosines."""

    found: dict[int, float]
    table: str
    vector: Vectors
    background: Background
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates, best first, SESSION_SHARE of one session at most, and what confidence is judged by."""

    ranked: tuple[Ranked, ...] = ()
    words: Mapping[int, float] = field(default_factory=dict)
    """Passage id to the share of what all words can tell that it reaches, 0 to 1."""
    cosines: Mapping[int, float] = field(default_factory=dict)
    nats: float = 0.0
    """How much evidence a score of 1 stands for; 0 where the score is a cosine."""


def rank(
    connection: apsw.Connection,
    wording: Wording,
    matching: Sequence[int],
    answers: Sequence[int],
    nearest: Nearest | None,
    readable: float,
    by_words: bool,
) -> Ranking:
    """One ranking of the candidates of both retrievers.

    matching: passage ids by BM25, best first. answers: more candidates, found only by the question that stands before
    them. readable: share of the query that the embedder can read. by_words: whether words count at all; without them
    the cosine is the score.
    """
    found = nearest.found if nearest else {}
    known = origins(connection, list(dict.fromkeys([*matching, *found, *answers])))
    ranks = {
        "lexical": {passage: rank for rank, passage in enumerate(matching, 1)},
        "dense": {passage: rank for rank, passage in enumerate(found, 1)},
    }
    said_at = {passage: origin.said_at for passage, origin in known.items() if origin.said_at is not None}
    cosines: dict[int, float] = {}
    if nearest:
        others = [passage for passage in known if passage not in found]
        cosines = found | dense.cosines(connection, nearest.table, nearest.vector, others)
    if not by_words:
        return Ranking(_shared(order(cosines, 1.0, ranks, said_at), known), {}, cosines)
    words, most = _words(connection, wording, known)
    surprises: dict[int, float] = {}
    whole = QUESTION_PENALTY + most
    if nearest:
        surprises = {passage: nearest.background.surprise(cosine) for passage, cosine in cosines.items()}
        whole += readable**2 * nearest.background.surprise(1.0)
    evidence = add_up(words, surprises, readable, [passage for passage, origin in known.items() if origin.asks])
    scores = lift_sessions(evidence, {passage: origin.session_id for passage, origin in known.items()})
    # Shifted by what a question can lose, so that no score is negative.
    shifted = {passage: QUESTION_PENALTY + score for passage, score in scores.items()}
    ranking = _shared(order(shifted, whole, ranks, said_at), known)
    shares = {passage: told / most for passage, told in words.items()} if most else {}
    return Ranking(ranking, shares, cosines, whole)


def _words(
    connection: apsw.Connection, wording: Wording, known: Mapping[int, Origin]
) -> tuple[dict[int, float], float]:
    """(L of every candidate, the most that L can come close to)."""
    terms, idf = list(wording.weights), list(wording.weights.values())
    around = {other for origin in known.values() for pair in origin.neighbours for other in pair}
    counts = lexical.count_terms(
        connection, terms, [origin.session_id for origin in known.values()], known.keys() | around
    )
    told = wording.evidence(gains(known, counts, idf, lexical.average_length(connection)))
    return dict(zip(known, told, strict=True)), wording.evidence(largest(idf))[0]


def _shared(ranking: Sequence[Ranked], known: Mapping[int, Origin]) -> tuple[Ranked, ...]:
    taken: Counter[int] = Counter()
    shared = []
    for ranked in ranking:
        session = known[ranked.passage_id].session_id
        taken[session] += 1
        if taken[session] <= lexical.SESSION_SHARE:
            shared.append(ranked)
    return tuple(shared)


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
        raise UnreadableError("the embedder understands nothing in this query")
    notes: tuple[str, ...] = ()
    usual = dense.background(connection, table, vector, where.repository_ids)
    if missing := dense.count_without_vector(connection, table):
        notes = (f'{missing} passages have no vector yet and are found by their words only; run "recall embed"',)
    return Nearest(dict(dense.search_dense(connection, table, vector, where, depth)), table, vector, usual, notes)
