from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from recall.bm25f import K1, NEIGHBOUR_WEIGHTS, QUESTION_WEIGHT, B, largest
from recall.bm25f import gains as gains_of
from recall.passages import Origin

IDF = (2.0, 0.5)
AVERAGE = 10.0


class TermCounts(NamedTuple):
    counts: tuple[int, int]
    length: int


COUNTS = st.dictionaries(
    st.integers(0, 9),
    st.builds(TermCounts, st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(1, 40)),
    max_size=10,
)


def gains(
    origins: Mapping[int, Origin], counts: Mapping[int, TermCounts], idf: Sequence[float], average_length: float
) -> NDArray[np.float64]:
    """What is not in `counts` holds no term, and is of average length."""
    ids = sorted({*origins, *(other for origin in origins.values() for pair in origin.neighbours for other in pair)})
    held = [counts.get(id, TermCounts((0, 0), int(AVERAGE))) for id in ids]
    return gains_of(
        origins,
        np.array(ids, dtype=np.int64),
        np.array([one.counts for one in held], dtype=np.float64).reshape(-1, 2),
        np.array([one.length for one in held], dtype=np.float64),
        idf,
        average_length,
    )


def origin(neighbours: Sequence[Sequence[int]] = (), question: int | None = None) -> Origin:
    return Origin(1, None, True, False, tuple(map(tuple, neighbours)), question)


ROW = {i: origin([[j for j in (i - d, i + d) if 0 <= j <= 9] for d in (1, 2)]) for i in range(10)}


def test_the_formula_by_hand() -> None:
    # Passage 5 holds the first term twice; at distance 1 one neighbour holds it once and the second term three times.
    counts = {5: TermCounts((2, 0), 12), 6: TermCounts((1, 3), 8)}
    gain = gains({5: origin([[4, 6], [3, 7]])}, counts, IDF, average_length=10.0)
    near, far = NEIGHBOUR_WEIGHTS
    first, second = 2 + near * 1, near * 3
    length = 12 + near * (10 + 8) + far * (10 + 10)
    saturation = K1 * (1 - B + B * length / (10 * (1 + 2 * near + 2 * far)))
    expected = [2.0 * first * (K1 + 1) / (first + saturation), 0.5 * second * (K1 + 1) / (second + saturation)]
    assert gain[0].tolist() == pytest.approx(expected)


def test_what_a_question_asks_counts_for_what_follows_it_and_its_length_does_not() -> None:
    counts = {4: TermCounts((1, 0), 10)}
    near, far = NEIGHBOUR_WEIGHTS
    gain = gains({5: origin([[4, 6], [3, 7]], question=4)}, counts, IDF, 10.0)[0, 0]
    frequency = near + QUESTION_WEIGHT
    assert gain == pytest.approx(2.0 * frequency * (K1 + 1) / (frequency + K1))
    assert near < frequency, far


def test_a_passage_without_a_term_is_found_by_what_stands_next_to_it() -> None:
    alone, beside = gains({1: origin(), 8: origin([[7]])}, {7: TermCounts((1, 0), 10)}, IDF, 10.0).sum(axis=1)
    assert alone == 0
    assert beside > 0


def test_a_term_in_the_passage_is_worth_more_than_the_same_term_beside_it() -> None:
    around = {7: origin([[8]]), 8: origin([[7]], question=7)}
    own, beside = gains(around, {7: TermCounts((1, 0), 10)}, IDF, 10.0).sum(axis=1)
    assert own >= beside


def test_an_empty_index_has_no_average_length() -> None:
    assert gains({1: origin()}, {1: TermCounts((1, 0), 3)}, IDF, 0.0)[0, 0] > 0
    assert gains({}, {}, IDF, 10.0).shape == (0, 2)


@given(COUNTS)
def test_no_gain_is_negative_or_reaches_the_largest(counts: dict[int, TermCounts]) -> None:
    gain = gains(ROW, counts, IDF, 10.0)
    assert np.all(gain >= 0)
    assert np.all(gain < largest(IDF))


@given(COUNTS, st.integers(0, 9))
def test_one_more_occurrence_never_lowers_a_gain(counts: dict[int, TermCounts], passage: int) -> None:
    found = counts.get(passage, TermCounts((0, 0), 10))
    more = {**counts, passage: TermCounts((found.counts[0] + 1, found.counts[1]), found.length)}
    one = {passage: ROW[passage]}
    assert np.all(gains(one, more, IDF, 10.0) >= gains(one, {**counts, passage: found}, IDF, 10.0))
