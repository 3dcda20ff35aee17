"""The candidates of both retrievers, with all that is known of them, to one ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import apsw
import numpy as np

from recall import embedded, lexical
from recall.bm25f import gains, largest
from recall.concepts import Wording
from recall.database import Database
from recall.embedding import Embedder, Vectors, unit
from recall.errors import ModelError
from recall.fusion import QUESTION_PENALTY, Ranked, add_up, lift_sessions, order
from recall.nearest import Neighbours, cosines_of, search_dense
from recall.passages import Origin, lengths, origins
from recall.postings import Postings, shared
from recall.scope_sql import ScopeSql


class UnreadableError(ModelError):
    """The embedder understands nothing in the query. No fault of anyone: such a query is asked by words."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """What the vectors say: candidates by cosine, best first, and all that is needed to look up more cosines."""

    neighbours: Neighbours
    table: str
    vector: Vectors
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
    postings: Postings,
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
    found = nearest.neighbours.found if nearest else {}
    known = origins(connection, list(dict.fromkeys([*matching, *found, *answers])))
    ranks = {
        "lexical": {passage: rank for rank, passage in enumerate(matching, 1)},
        "dense": {passage: rank for rank, passage in enumerate(found, 1)},
    }
    said_at = {passage: origin.said_at for passage, origin in known.items() if origin.said_at is not None}
    cosines: dict[int, float] = {}
    if nearest:
        others = [passage for passage in known if passage not in found]
        cosines = found | cosines_of(connection, nearest.table, nearest.vector, others)
    if not by_words:
        return Ranking(_shared(order(cosines, 1.0, ranks, said_at), known), {}, cosines)
    words, most = _words(connection, wording, postings, known)
    surprises: dict[int, float] = {}
    whole = QUESTION_PENALTY + most
    if nearest:
        surprises = {passage: nearest.neighbours.background.surprise(cosine) for passage, cosine in cosines.items()}
        whole += readable**2 * nearest.neighbours.background.surprise(1.0)
    evidence = add_up(words, surprises, readable, [passage for passage, origin in known.items() if origin.asks])
    scores = lift_sessions(evidence, {passage: origin.session_id for passage, origin in known.items()})
    # Shifted by what a question can lose, so that no score is negative.
    shifted = {passage: QUESTION_PENALTY + score for passage, score in scores.items()}
    ranking = _shared(order(shifted, whole, ranks, said_at), known)
    shares = {passage: told / most for passage, told in words.items()} if most else {}
    return Ranking(ranking, shares, cosines, whole)


def _words(
    connection: apsw.Connection, wording: Wording, postings: Postings, known: Mapping[int, Origin]
) -> tuple[dict[int, float], float]:
    """(L of every candidate, the most that L can come close to)."""
    idf = list(wording.weights.values())
    around = {other for origin in known.values() for pair in origin.neighbours for other in pair}
    ids = np.array(sorted(known.keys() | around), dtype=np.int64)
    counts = postings.counts(ids)
    average = lexical.average_length(connection)
    length_of = lengths(connection, ids[counts.any(axis=1)].tolist())
    # What holds no term counts as of average length.
    of_each = np.array([length_of.get(id, average) for id in ids.tolist()], dtype=np.float64)
    told = wording.evidence(gains(known, ids, counts, of_each, idf, average))
    return dict(zip(known, told.tolist(), strict=True)), float(wording.evidence(largest(idf))[0])


def _shared(ranking: Sequence[Ranked], known: Mapping[int, Origin]) -> tuple[Ranked, ...]:
    ranked = {one.passage_id: one for one in ranking}
    return tuple(ranked[passage] for passage in shared(list(ranked), lambda passage: known[passage].session_id))


def nearest_to(database: Database, embedder: Embedder, text: str, where: ScopeSql, depth: int) -> Nearest:
    """Candidates by cosine. Raises ModelError, saying why, where vectors cannot be searched."""
    connection = database.connection
    if database.vectors_missing:
        raise ModelError(database.vectors_missing)
    table = embedded.table_of(connection, embedder)
    if table is None:
        if others := embedded.others(connection, embedder):
            raise ModelError(
                f"the index holds vectors from {others[0].name}, but the embedder is {embedder.name}; "
                'run "recall embed", or choose the other model again'
            )
        raise ModelError('the index holds no vectors yet; run "recall embed"')
    vector = unit(embedder.embed_query(text))
    if not vector.any():
        raise UnreadableError("the embedder understands nothing in this query")
    notes: tuple[str, ...] = ()
    missing = database.unchanged(table, partial(embedded.count_without_vector, connection, table))
    if missing:
        notes = (f'{missing} passages have no vector yet and are found by their words only; run "recall embed"',)
    return Nearest(search_dense(connection, table, vector, where, depth), table, vector, notes)
