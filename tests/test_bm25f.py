from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.bm25f import K1, NEIGHBOUR_WEIGHTS, B, TermCounts, bm25f, largest

IDF = (2.0, 0.5)
COUNTS = st.dictionaries(
    st.integers(0, 9),
    st.builds(TermCounts, st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(1, 40)),
    max_size=10,
)
ROW = {i: [[j for j in (i - d, i + d) if 0 <= j <= 9] for d in (1, 2)] for i in range(10)}


def test_the_formula_by_hand() -> None:
    # Passage 5 holds the first term twice; at distance 1 one neighbour holds it once and the second term three times.
    counts = {5: TermCounts((2, 0), 12), 6: TermCounts((1, 3), 8)}
    score = bm25f([5], {5: [[4, 6], [3, 7]]}, counts, IDF, average_length=10.0)[0]
    near, far = NEIGHBOUR_WEIGHTS
    first, second = 2 + near * 1, near * 3
    length = 12 + near * (10 + 8) + far * (10 + 10)
    saturation = K1 * (1 - B + B * length / (10 * (1 + 2 * near + 2 * far)))
    expected = 2.0 * first * (K1 + 1) / (first + saturation) + 0.5 * second * (K1 + 1) / (second + saturation)
    assert score == pytest.approx(expected)


def test_a_passage_without_a_term_is_found_by_what_stands_next_to_it() -> None:
    alone, beside = bm25f([1, 8], {8: [[7]]}, {7: TermCounts((1, 0), 10)}, IDF, 10.0)
    assert alone == 0
    assert beside > 0


def test_a_term_in_the_passage_is_worth_more_than_the_same_term_beside_it() -> None:
    own, beside = bm25f([7, 8], {7: [[8]], 8: [[7]]}, {7: TermCounts((1, 0), 10)}, IDF, 10.0)
    assert own > beside


def test_an_empty_index_has_no_average_length() -> None:
    assert bm25f([1], {}, {1: TermCounts((1, 0), 3)}, IDF, 0.0)[0] > 0
    assert len(bm25f([], {}, {}, IDF, 10.0)) == 0


@given(COUNTS)
def test_no_score_is_negative_or_reaches_the_largest(counts: dict[int, TermCounts]) -> None:
    scores = bm25f(list(range(10)), ROW, counts, IDF, 10.0)
    assert all(0 <= score < largest(IDF) for score in scores)


@given(COUNTS, st.integers(0, 9))
def test_one_more_occurrence_never_lowers_a_score(counts: dict[int, TermCounts], passage: int) -> None:
    found = counts.get(passage, TermCounts((0, 0), 10))
    more = {**counts, passage: TermCounts((found.counts[0] + 1, found.counts[1]), found.length)}
    assert bm25f([passage], ROW, more, IDF, 10.0)[0] >= bm25f([passage], ROW, {**counts, passage: found}, IDF, 10.0)[0]
