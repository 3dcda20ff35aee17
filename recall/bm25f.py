"""How well a passage matches by its words, its surroundings included.

    L(p) = Σ_t idf(t) · f(t) · (K1 + 1) / (f(t) + K1 · (1 - B + B · len / avglen))

    f(t)    how often the passage holds term t, plus NEIGHBOUR_WEIGHTS[d - 1] times how often each passage at distance
            d before or behind it does
    len     length in terms, weighted in the same way; avglen, that of an average passage with all its neighbours
    idf(t)  ln(1 + (N - n + 0.5) / (n + 0.5)), N passages, n with the term

BM25F, with the neighbours as fields: Robertson, Zaragoza, Taylor, "Simple BM25 Extension to Multiple Weighted Fields",
CIKM 2004. In a conversation the words of a question stand in one message and those of its answer in the next, so what
stands around a message tells more of it than a larger model does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

K1 = 0.9
B = 0.5
NEIGHBOUR_WEIGHTS = (0.4, 0.2)


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often a passage holds each term of the query, in the query's order, and its length in terms."""

    counts: tuple[int, ...]
    length: int


def bm25f(
    passages: Sequence[int],
    neighbours: Mapping[int, Sequence[Sequence[int]]],
    counts: Mapping[int, TermCounts],
    idf: Sequence[float],
    average_length: float,
) -> NDArray[np.float64]:
    """L of each passage, in their order; 0 where neither it nor its surroundings hold a term.

    neighbours: passage id to the ids at distance 1, 2, …. counts: those of every passage that holds any term; the
    others count as of average length. idf: of each term, in the order of the counts.
    """
    frequencies = np.zeros((len(passages), len(idf)))
    lengths = np.zeros(len(passages))
    for row, passage in enumerate(passages):
        around = zip(NEIGHBOUR_WEIGHTS, neighbours.get(passage, ()), strict=False)
        for weight, ids in ((1.0, (passage,)), *around):
            for id in ids:
                found = counts.get(id)
                if found is not None:
                    frequencies[row] += weight * np.asarray(found.counts)
                lengths[row] += weight * (found.length if found is not None else average_length)
    full_length = average_length * (1 + 2 * sum(NEIGHBOUR_WEIGHTS))
    saturation = K1 * (1 - B + B * lengths / full_length) if full_length else np.full(len(passages), K1)
    gains = frequencies * (K1 + 1) / (frequencies + saturation[:, None])
    result: NDArray[np.float64] = gains @ np.asarray(idf, dtype=np.float64)
    return result


def largest(idf: Sequence[float]) -> float:
    """What L comes close to where every term is repeated without end."""
    return (K1 + 1) * sum(idf)
