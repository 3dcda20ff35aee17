from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.fusion import Ranked, confidence_of, cosine_weight, fuse
from recall.types import Confidence

WORDS = st.dictionaries(st.integers(1, 30), st.floats(0.01, 50.0), max_size=12)
COSINES = st.dictionaries(st.integers(1, 30), st.floats(-1.0, 1.0), max_size=12)


def fused(words: dict[int, float], cosines: dict[int, float], weight: float = 30.0) -> list[Ranked]:
    """fuse() with 60 as the largest that words can reach."""
    return fuse(words, 60.0, cosines, weight, {}, {})


def score_of(ranking: list[Ranked], passage: int) -> float:
    return next(ranked.score for ranked in ranking if ranked.passage_id == passage)


def test_words_and_meaning_add_up_as_a_share_of_the_most_they_can_reach() -> None:
    ranking = fused({1: 30.0, 2: 6.0}, {1: 0.2, 2: 0.8})
    assert score_of(ranking, 1) == pytest.approx((30 + 30 * 0.2) / (60 + 30))
    assert score_of(ranking, 2) == pytest.approx((6 + 30 * 0.8) / (60 + 30))


def test_meaning_weighs_as_much_as_three_and_a_half_words_that_one_passage_has() -> None:
    assert cosine_weight(passages=999, readable=1.0) == pytest.approx(3.5 * math.log(1000))


def test_half_a_question_that_can_be_read_gives_the_vectors_a_quarter_of_their_weight() -> None:
    assert cosine_weight(999, 0.5) == pytest.approx(cosine_weight(999, 1.0) / 4)
    assert cosine_weight(999, 0.0) == 0


def test_the_evidence_holds_the_rank_in_each_retriever_that_found_it() -> None:
    ranks = {"lexical": {1: 1, 2: 2}, "dense": {2: 1, 3: 2}}
    ranking = fuse({1: 8.0, 2: 4.0, 3: 0.0}, 60.0, {1: 0.1, 2: 0.6, 3: 0.4}, 30.0, ranks, {})
    evidence = {ranked.passage_id: ranked.evidence for ranked in ranking}
    assert evidence == {1: {"lexical": 1}, 2: {"lexical": 2, "dense": 1}, 3: {"dense": 2}}


def test_a_question_the_model_cannot_read_is_ranked_by_words_alone() -> None:
    ranking = fused({1: 8.0, 2: 4.0, 3: 0.0}, {3: 0.9, 2: 0.8, 1: 0.1}, weight=0.0)
    assert [ranked.passage_id for ranked in ranking] == [1, 2, 3]


def test_without_words_the_cosines_decide_alone() -> None:
    ranking = fuse({}, 0.0, {3: 0.9, 4: 0.7, 5: -0.5}, 1.0, {}, {})
    assert [(ranked.passage_id, ranked.score) for ranked in ranking] == [(3, 0.9), (4, 0.7), (5, 0.0)]


def test_without_vectors_the_words_decide_alone() -> None:
    ranking = fused({1: 45.0, 2: 15.0}, {})
    assert [(ranked.passage_id, ranked.score) for ranked in ranking] == [(1, 0.75), (2, 0.25)]


def test_what_has_no_cosine_counts_as_the_mean_of_those_that_have_one() -> None:
    ranking = fused({1: 10.0, 2: 10.0}, {2: 0.3, 3: 0.1})
    assert score_of(ranking, 1) == pytest.approx((10 + 30 * 0.2) / 90)


def test_of_equal_scores_the_latest_comes_first_and_time_decides_nothing_else() -> None:
    ranking = fuse({1: 3.0, 9: 3.0, 5: 3.0, 4: 3.1}, 60.0, {}, 0.0, {}, {1: 2_000, 9: 1_000, 5: 3_000})
    assert [ranked.passage_id for ranked in ranking] == [4, 5, 1, 9]


def test_nothing_found_is_nothing_ranked() -> None:
    assert fused({}, {}) == []


@given(WORDS, COSINES, st.floats(0.0, 60.0))
def test_every_candidate_is_ranked_once_between_0_and_1_best_first(
    words: dict[int, float], cosines: dict[int, float], weight: float
) -> None:
    ranking = fused(words, cosines, weight)
    assert sorted(ranked.passage_id for ranked in ranking) == sorted(words.keys() | cosines.keys())
    assert all(0 <= ranked.score <= 1 for ranked in ranking)
    assert [ranked.score for ranked in ranking] == sorted((ranked.score for ranked in ranking), reverse=True)


@given(WORDS, COSINES, st.floats(0.0, 60.0))
def test_what_is_better_in_both_is_never_ranked_below(
    words: dict[int, float], cosines: dict[int, float], weight: float
) -> None:
    places = {ranked.passage_id: place for place, ranked in enumerate(fused(words, cosines, weight))}
    both = words.keys() & cosines.keys()
    for one in both:
        for other in both:
            if words[one] > words[other] and cosines[one] >= cosines[other]:
                assert places[one] < places[other]


@pytest.mark.parametrize(
    ("coverage", "cosine", "readable", "expected"),
    [
        (1.0, 0.7, 1.0, "strong"),  # (1 + 3 · 0.7) / 4 = 0.775
        (0.3, 0.5, 1.0, "strong"),  # (0.3 + 3 · 0.5) / 4 = 0.45
        (0.0, 0.6, 1.0, "strong"),  # 0.45
        (0.3, 0.4, 1.0, "weak"),  # 0.375
        (1.0, 0.0, 1.0, "none"),  # 0.25: the words are there, but not what they mean together
        (0.2, 0.2, 1.0, "none"),  # 0.2
        (0.4, 0.9, 0.0, "strong"),  # unreadable: (0.4 + 3 · (0.35 + 0.4 · 0.4)) / 4 = 0.4825
        (0.2, 0.9, 0.0, "weak"),  # 0.3725
        (0.0, 0.9, 0.0, "none"),  # 0.2625
    ],
)
def test_confidence_comes_from_the_better_evidence_as_far_as_it_can_be_read(
    coverage: float, cosine: float, readable: float, expected: Confidence
) -> None:
    assert confidence_of(coverage, cosine, readable) == expected


@given(st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_evidence_never_lowers_the_confidence(
    coverage: float, cosine: float, readable: float, more: float
) -> None:
    order = ("none", "weak", "strong")
    before = order.index(confidence_of(coverage, cosine, readable))
    assert order.index(confidence_of(min(1.0, coverage + more), cosine, readable)) >= before
    assert order.index(confidence_of(coverage, min(1.0, cosine + more), readable)) >= before
