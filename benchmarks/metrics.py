"""Measures of a ranking, with intervals and paired tests.

nDCG@10, gains 0 or 1: Järvelin, Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques", TOIS 2002; the ideal
is taken from all relevant documents, not from those that were returned. Recall@k: share of all relevant documents among
the first k; success@k: whether any is. MRR@10: Voorhees, TREC-8, 1999. Intervals: percentile bootstrap over queries.
Paired test: randomisation of signs, Smucker, Allan, Carterette, CIKM 2007.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
SEED = 7
MEASURES = ("nDCG@10", "recall@5", "recall@10", "MRR@10", "success@5")


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over queries with its 95% bootstrap interval."""

    mean: float
    low: float
    high: float


def measures(ranking: Sequence[str], relevant: frozenset[str]) -> tuple[float, ...]:
    """The MEASURES of one ranking of distinct ids, best first."""
    gains = [1.0 if name in relevant else 0.0 for name in ranking[:10]]
    dcg = sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(relevant))))
    first = next((place for place, gain in enumerate(gains) if gain), None)
    return (
        dcg / ideal,
        sum(gains[:5]) / len(relevant),
        sum(gains) / len(relevant),
        1 / (first + 1) if first is not None else 0.0,
        1.0 if any(gains[:5]) else 0.0,
    )


def interval(values: Sequence[float]) -> Interval:
    """Mean and 95% interval of a measure over queries."""
    array = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(SEED).integers(0, len(array), (RESAMPLES, len(array)))
    means = array[draws].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(array.mean()), float(low), float(high))


def p_value(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided probability that two systems that are equally good differ as much as a and b do."""
    differences: NDArray[np.float64] = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    signs = np.random.default_rng(SEED).choice((-1.0, 1.0), (RESAMPLES, len(differences)))
    chance = np.abs((signs * differences).mean(axis=1))
    return float((np.sum(chance >= abs(differences.mean()) - 1e-12) + 1) / (RESAMPLES + 1))
