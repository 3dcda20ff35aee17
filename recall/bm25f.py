"""How much each term of a query tells for a passage, its surroundings included.

    g(t, p) = idf(t) · f · (K1 + 1) / (f + K1 · (1 - B + B · len / avglen))

    f       how often passage p holds term t, plus NEIGHBOUR_WEIGHTS[d - 1] times how often each passage at distance d
            before or behind it does, plus QUESTION_WEIGHT times how often a question directly before it does
    len     length in terms, weighted as the neighbours are; avglen, that of an average passage with all its neighbours
    idf(t)  ln(1 + (N - n + 0.5) / (n + 0.5)), N passages, n with the term

BM25F, with the neighbours as fields: Robertson, Zaragoza, Taylor, "Simple BM25 Extension to Multiple Weighted Fields",
CIKM 2004. In a conversation the words of a question stand in one message and those of its answer in the next, so what
stands around a message tells more of it than a larger model does.

Plain lists: there are some hundred candidates, and to import numpy takes longer than all of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recall.passages import Origin

K1 = 0.9
B = 0.6
NEIGHBOUR_WEIGHTS = (0.4, 0.2)
QUESTION_WEIGHT = 0.6


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often a passage holds each term of the query, in the query's order, and its length in terms."""

    counts: tuple[int, ...]
    length: int


def gains(
    origins: Mapping[int, Origin], counts: Mapping[int, TermCounts], idf: Sequence[float], average_length: float
) -> list[list[float]]:
    """g of each passage, in the order of `origins`, and in it of each term, in the order of `idf`.

    origins: passage id to what stands around it. counts: those of every passage that holds any term; the others count
    as of average length. idf: of each term, in the order of the counts.
    """
    full_length = average_length * (1 + 2 * sum(NEIGHBOUR_WEIGHTS))
    rows = []
    for passage, origin in origins.items():
        frequencies = [0.0] * len(idf)
        length = 0.0
        around = zip(NEIGHBOUR_WEIGHTS, origin.neighbours, strict=False)
        for weight, ids in ((1.0, (passage,)), *around):
            for id in ids:
                found = counts.get(id)
                if found is not None:
                    _add(frequencies, weight, found.counts)
                length += weight * (found.length if found is not None else average_length)
        if origin.question is not None and origin.question in counts:
            _add(frequencies, QUESTION_WEIGHT, counts[origin.question].counts)
        saturation = K1 * (1 - B + B * length / full_length) if full_length else K1
        rows.append(
            [weight * f * (K1 + 1) / (f + saturation) if f else 0.0 for weight, f in zip(idf, frequencies, strict=True)]
        )
    return rows


def largest(idf: Sequence[float]) -> list[list[float]]:
    """What g comes close to where every term is repeated without end: one row."""
    return [[(K1 + 1) * weight for weight in idf]]


def _add(frequencies: list[float], weight: float, counts: Sequence[int]) -> None:
    for term, count in enumerate(counts):
        if count:
            frequencies[term] += weight * count
