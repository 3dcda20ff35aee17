"""Candidates by their words: the lists of the word index, and BM25 over them.

SQLite's own bm25() took 290 ms for a question about 100,000 passages, because it looks up the length of each one that
holds any word; numpy goes through the same lists in 4 ms, and lengths are looked up for the best only.
bm25f.py then scores the candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from recall.analysis import TIMES
from recall.bm25f import bm25, saturated
from recall.database import Row
from recall.lexical import REPOSITORY, average_length
from recall.scope_sql import ScopeSql, inside

SESSION_SHARE = 30
"""Candidates one session may put forward: one with five hundred short hits must not crowd out every other."""

GROWTH = 8
"""How many times as many candidates are looked at next, where too few were inside the scope."""

LOOKED_AT = 4
"""How many times as many candidates are looked at with their length, as are returned."""

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Postings:
    """The passages of a scope's repositories that hold each term of a query."""

    lists: tuple[tuple[Ids, ...], ...]
    """Of each term, one list of passage ids for each of analysis.TIMES, ascending."""

    def counts(self, passage_ids: Ids) -> Floats:
        """How often each of these passages holds each term, by analysis.TIMES; shape (passages, terms)."""
        counts = np.zeros((len(passage_ids), len(self.lists)))
        for column, lists in enumerate(self.lists):
            for times, ids in zip(TIMES, lists, strict=True):
                counts[_holds(ids, passage_ids), column] = times
        return counts

    def scored(self, idf: Sequence[float]) -> tuple[Ids, Floats]:
        """(passage ids, ascending; BM25 of each without its length) of all that hold any term."""
        lists = [ids for lists in self.lists for ids in lists if len(ids)]
        if not lists:
            return np.empty(0, np.int64), np.empty(0)
        first, last = min(int(ids[0]) for ids in lists), max(int(ids[-1]) for ids in lists)
        scores = np.zeros(last - first + 1)
        for weight, of_term in zip(idf, self.lists, strict=True):
            before = 0.0
            for times, ids in zip(TIMES, of_term, strict=True):
                scores[ids - first] += weight * (saturated(times) - before)
                before = saturated(times)
        found = np.flatnonzero(scores)
        return found + first, scores[found]


def read_postings(connection: apsw.Connection, terms: Sequence[str], repository_ids: Sequence[int]) -> Postings:
    """Who holds these terms in these repositories; none: in all."""
    scope = " OR ".join(f'"{REPOSITORY}{id}"' for id in repository_ids)
    within = f"({scope}) AND " if scope else ""
    return Postings(
        tuple(tuple(_ids(connection, f'{within}"{term}{mark}"') for mark in TIMES.values()) for term in terms)
    )


def search_lexical(
    connection: apsw.Connection, postings: Postings, idf: Sequence[float], where: ScopeSql, depth: int
) -> list[int]:
    """Ids of passages that hold any of the terms, inside the filter, best first by BM25, at most `depth`.

    idf: what each term weighs, in the order of the postings. At most SESSION_SHARE are of one session.
    """
    ids, scores = postings.scored(idf)
    # The newest first among equals.
    best = ids[::-1][best_first(scores[::-1])]
    found: list[Row] = []
    for some in growing(best, LOOKED_AT * depth):
        found += inside(connection, some.tolist(), where, "p.id, p.session_id, p.length")
        if len(found) >= 2 * depth:
            break
    if not found:
        return []
    passages, sessions, lengths = np.array(found, dtype=np.int64).T
    ranked = bm25(postings.counts(passages), np.asarray(idf), lengths, average_length(connection))
    order = np.lexsort((-passages, -ranked))
    session_of = dict(zip(passages.tolist(), sessions.tolist(), strict=True))
    return shared(passages[order].tolist(), session_of.__getitem__)[:depth]


def best_first(scores: Floats) -> Ids:
    """Places of the scores from the highest to the lowest, equal ones in their order, to 16 bits of the highest one.

    In so few bits numpy sorts by counting: half a million in 5 ms instead of 50.
    """
    if not len(scores):
        return np.empty(0, np.int64)
    steps = (65_535 * (1 - scores / max(float(scores.max()), 1e-9))).astype(np.uint16)
    return np.argsort(steps, kind="stable")


def growing(order: Ids, first: int) -> Iterator[Ids]:
    """Parts of `order`: first so many, then each GROWTH times as many as all before it."""
    start, end = 0, first
    while start < len(order):
        yield order[start:end]
        start, end = end, end * GROWTH


def shared(passages: Sequence[int], session_of: Callable[[int], int]) -> list[int]:
    """The passages in their order, without those of a session that has put forward SESSION_SHARE already."""
    taken: Counter[int] = Counter()
    kept = []
    for passage in passages:
        session = session_of(passage)
        taken[session] += 1
        if taken[session] <= SESSION_SHARE:
            kept.append(passage)
    return kept


def _ids(connection: apsw.Connection, match: str) -> Ids:
    # As one text, a list is five times as quick to read as row by row.
    row = connection.execute("select group_concat(rowid) from lexical where lexical match ?", (match,)).fetchone()
    return np.fromstring(row[0], dtype=np.int64, sep=",") if row and row[0] else np.empty(0, np.int64)


def _holds(ids: Ids, wanted: Ids) -> NDArray[np.bool_]:
    if not len(ids):
        return np.zeros(len(wanted), np.bool_)
    places = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    held: NDArray[np.bool_] = ids[places] == wanted
    return held
