from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.fusion import QUESTION_PENALTY, Background, add_up, confidence_of, lift_sessions, order
from recall.types import Confidence

WORDS = st.dictionaries(st.integers(1, 30), st.floats(0.01, 50.0), max_size=12)
SURPRISES = st.dictionaries(st.integers(1, 30), st.floats(0.0, 40.0), max_size=12)
USUAL = Background(mean=0.2, deviation=0.1)


def test_the_surprise_of_a_cosine_is_the_logarithm_of_how_seldom_it_is() -> None:
    assert USUAL.surprise(0.2) == pytest.approx(math.log(2))  # half of all are larger
    assert USUAL.surprise(0.2 + 0.1 * 1.6448536) == pytest.approx(math.log(20))  # one in twenty
    assert USUAL.surprise(0.2 + 0.1 * 2.3263479) == pytest.approx(math.log(100))  # one in a hundred


def test_a_cosine_beyond_all_floating_point_is_still_more_surprising() -> None:
    narrow = Background(0.0, 0.01)
    assert narrow.surprise(0.29) < narrow.surprise(0.31) < narrow.surprise(0.8) < math.inf
    assert narrow.surprise(0.3 + 1e-9) == pytest.approx(
        narrow.surprise(0.3 - 1e-9), rel=1e-3
    )  # where the series begins


def test_where_all_cosines_are_equal_none_is_surprising() -> None:
    assert Background(0.3, 0.0).surprise(0.9) == 0


@given(st.floats(-1, 1), st.floats(0, 1))
def test_a_larger_cosine_is_never_less_surprising_and_no_surprise_is_negative(cosine: float, more: float) -> None:
    assert 0 <= USUAL.surprise(cosine) <= USUAL.surprise(cosine + more)


def test_words_and_meaning_add_up_as_they_are() -> None:
    assert add_up({1: 30.0, 2: 6.0}, {1: 2.0, 2: 9.0}, 1.0, []) == {1: 32.0, 2: 15.0}


def test_half_a_question_that_can_be_read_gives_the_vectors_a_quarter_of_their_weight() -> None:
    assert add_up({1: 10.0}, {1: 8.0}, 0.5, []) == {1: 12.0}


def test_a_question_the_model_cannot_read_is_ranked_by_words_alone() -> None:
    assert add_up({1: 8.0, 2: 4.0}, {2: 30.0}, 0.0, []) == {1: 8.0, 2: 4.0}


def test_what_has_no_vector_counts_as_the_mean_of_those_that_have_one() -> None:
    assert add_up({1: 10.0}, {2: 3.0, 3: 1.0}, 1.0, [])[1] == 12.0


def test_a_question_stands_behind_an_answer_that_matches_as_well() -> None:
    evidence = add_up({1: 10.0, 2: 10.0}, {}, 1.0, [1])
    assert evidence == {1: 10.0 - QUESTION_PENALTY, 2: 10.0}


def test_a_passage_alone_in_its_session_keeps_its_evidence() -> None:
    assert lift_sessions({1: 7.0, 2: -4.0}, {1: 1, 2: 2}) == pytest.approx({1: 7.0, 2: -4.0})


def test_of_equal_passages_the_one_whose_session_has_another_good_place_comes_first() -> None:
    scores = lift_sessions({1: 20.0, 2: 20.0, 3: 18.0}, {1: 1, 2: 2, 3: 2})
    assert scores[2] > scores[1]
    assert scores[2] == pytest.approx((20 + 2 * math.log(math.exp(10) + math.exp(9)) / 2) / 1.5)


def test_evidence_of_any_size_lifts_without_overflow() -> None:
    assert lift_sessions({1: 5e3, 2: -5e3}, {1: 1, 2: 1})[1] == pytest.approx(5e3)


def test_the_evidence_holds_the_rank_in_each_retriever_that_found_it() -> None:
    ranks = {"lexical": {1: 1, 2: 2}, "dense": {2: 1, 3: 2}}
    evidence = {ranked.passage_id: ranked.evidence for ranked in order({1: 8.0, 2: 4.0, 3: 0.0}, 60.0, ranks, {})}
    assert evidence == {1: {"lexical": 1}, 2: {"lexical": 2, "dense": 1}, 3: {"dense": 2}}


def test_of_equal_scores_the_latest_comes_first_and_time_decides_nothing_else() -> None:
    ranking = order({1: 3.0, 9: 3.0, 5: 3.0, 4: 3.1}, 60.0, {}, {1: 2_000, 9: 1_000, 5: 3_000})
    assert [ranked.passage_id for ranked in ranking] == [4, 5, 1, 9]


def test_nothing_found_is_nothing_ranked() -> None:
    assert order(lift_sessions(add_up({}, {}, 1.0, []), {}), 0.0, {}, {}) == []


@given(WORDS, SURPRISES, st.floats(0.0, 1.0))
def test_every_candidate_is_ranked_once_between_0_and_1_best_first(
    words: dict[int, float], surprises: dict[int, float], readable: float
) -> None:
    evidence = add_up(words, surprises, readable, [])
    ranking = order(lift_sessions(evidence, {passage: passage % 3 for passage in evidence}), 60.0, {}, {})
    assert sorted(ranked.passage_id for ranked in ranking) == sorted(words.keys() | surprises.keys())
    assert all(0 <= ranked.score <= 1 for ranked in ranking)
    assert [ranked.score for ranked in ranking] == sorted((ranked.score for ranked in ranking), reverse=True)


@given(WORDS, SURPRISES)
def test_what_is_better_in_both_is_never_ranked_below_inside_its_session(
    words: dict[int, float], surprises: dict[int, float]
) -> None:
    scores = lift_sessions(add_up(words, surprises, 1.0, []), dict.fromkeys(words.keys() | surprises.keys(), 1))
    both = words.keys() & surprises.keys()
    for one in both:
        for other in both:
            if words[one] >= words[other] and surprises[one] >= surprises[other]:
                assert scores[one] >= scores[other]


@pytest.mark.parametrize(
    ("words", "cosine", "calibrated", "expected"),
    [
        (0.8, 0.7, 1.0, "strong"),  # 0.4 · 0.8 + 0.75 · 0.7 = 0.845
        (0.2, 0.5, 1.0, "strong"),  # 0.08 + 0.375 = 0.455
        (0.0, 0.6, 1.0, "strong"),  # 0.45
        (0.2, 0.4, 1.0, "weak"),  # 0.38
        (0.6, 0.1, 1.0, "none"),  # 0.315: the words are there, but not what they mean together
        (0.2, 0.2, 1.0, "none"),  # 0.23
        (0.2, 0.9, 0.0, "strong"),  # not calibrated: 0.08 + 0.75 · 0.6 = 0.53
        (0.1, 0.9, 0.0, "weak"),  # 0.04 + 0.75 · 0.5 = 0.415
        (0.0, 0.9, 0.0, "none"),  # 0.3
    ],
)
def test_confidence_comes_from_words_and_from_the_cosine_as_far_as_it_is_calibrated(
    words: float, cosine: float, calibrated: float, expected: Confidence
) -> None:
    assert confidence_of(words, cosine, calibrated) == expected


@given(st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_evidence_never_lowers_the_confidence(words: float, cosine: float, calibrated: float, more: float) -> None:
    levels = ("none", "weak", "strong")
    before = levels.index(confidence_of(words, cosine, calibrated))
    assert levels.index(confidence_of(min(1.0, words + more), cosine, calibrated)) >= before
    assert levels.index(confidence_of(words, min(1.0, cosine + more), calibrated)) >= before
