from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recall.grouping import PER_SESSION, Candidate, group


def candidate(passage: int, session: int, text: str = "", message: int | None = None) -> Candidate:
    """A passage whose text is like no other's, unless one is given."""
    words = text or " ".join(f"word{chr(97 + passage % 26)}{chr(97 + passage // 26)}{letter}" for letter in "abcdef")
    return Candidate(passage, passage if message is None else message, session, words)


Row = tuple[int, int, str]
ROWS: st.SearchStrategy[list[Row]] = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 6), st.sampled_from(["", "the lantern key", "a flaky login test"])),
    max_size=25,
)


def ranking_of(rows: list[Row]) -> list[Candidate]:
    """Passages from (session, number of the message in it, text)."""
    return [
        candidate(place, session, text, message * 10 + session) for place, (session, message, text) in enumerate(rows)
    ]


RANKINGS = ROWS.map(ranking_of)


def shown(candidates: list[Candidate], limit: int) -> list[int]:
    return [found.candidate.passage_id for found in group(candidates, limit)]


def test_the_order_of_the_ranking_is_kept() -> None:
    assert shown([candidate(7, 1), candidate(3, 2), candidate(5, 3)], 5) == [7, 3, 5]


def test_a_message_is_shown_once() -> None:
    assert shown([candidate(1, 1, message=9), candidate(2, 1, message=9), candidate(3, 2)], 5) == [1, 3]


def test_parts_of_one_message_are_not_counted_as_similar_places() -> None:
    assert [found.similar for found in group([candidate(1, 1, message=9), candidate(2, 1, message=9)], 5)] == [0]


def test_nearly_identical_passages_are_one_hit_that_stands_for_the_others() -> None:
    text = "FAILED tests/test_login.py::test_session - TimeoutError after"
    found = group([candidate(i, i, f"{text} {i}.{i} seconds") for i in range(1, 5)] + [candidate(9, 9)], 5)
    assert [(shown.candidate.passage_id, shown.similar) for shown in found] == [(1, 3), (9, 0)]


def test_passages_that_share_some_words_stay_apart() -> None:
    one = candidate(1, 1, "the login test fails because the fixture is not reset")
    other = candidate(2, 2, "the login page fails because the cookie is not set")
    assert shown([one, other], 5) == [1, 2]


def test_a_session_gives_two_hits_as_long_as_others_have_something() -> None:
    crowd = [candidate(i, 1) for i in range(1, 6)]
    assert PER_SESSION == 2
    assert shown([*crowd, candidate(8, 2), candidate(9, 3)], 4) == [1, 2, 8, 9]


def test_places_that_no_other_session_takes_are_filled_up_in_the_order_of_the_ranking() -> None:
    crowd = [candidate(i, 1) for i in range(1, 6)]
    assert shown([*crowd, candidate(9, 2)], 4) == [1, 2, 3, 9]
    assert shown(crowd, 4) == [1, 2, 3, 4]


def test_repeats_do_not_use_up_the_places_of_their_session() -> None:
    repeats = [candidate(i, 1, "the lantern key rotates on fridays") for i in range(1, 5)]
    assert shown([*repeats, candidate(7, 1), candidate(8, 2)], 3) == [1, 7, 8]


def test_texts_without_words_are_alike_in_one_session() -> None:
    assert shown([candidate(1, 1, "…"), candidate(2, 1, "!"), candidate(3, 2, "?")], 5) == [1, 3]


def test_a_short_text_is_shown_for_each_session_that_says_it() -> None:
    said = "run the tests again"
    assert shown([candidate(1, 1, said), candidate(2, 1, said), candidate(3, 2, said)], 5) == [1, 3]


def test_a_caller_may_ask_for_more_hits_of_a_session() -> None:
    ranking = [*(candidate(i, 1) for i in range(1, 6)), candidate(8, 2), candidate(9, 3)]
    assert [found.candidate.passage_id for found in group(ranking, 4, per_session=4)] == [1, 2, 3, 4]
    assert [found.candidate.passage_id for found in group(ranking, 4, per_session=1)] == [1, 2, 8, 9]


@given(RANKINGS, st.integers(1, 8))
def test_no_more_than_the_limit_each_message_once_in_order(ranking: list[Candidate], limit: int) -> None:
    found = group(ranking, limit)
    places = [ranking.index(shown.candidate) for shown in found]
    assert len(found) <= limit
    assert places == sorted(set(places))
    assert len({shown.candidate.message_id for shown in found}) == len(found)


@given(RANKINGS)
def test_every_message_is_shown_or_stood_for(ranking: list[Candidate]) -> None:
    found = group(ranking, 100)
    assert sum(1 + shown.similar for shown in found) == len({candidate.message_id for candidate in ranking})


@given(RANKINGS, st.integers(1, 8))
def test_a_crowding_session_only_fills_places_that_are_left(ranking: list[Candidate], limit: int) -> None:
    everything = [shown.candidate for shown in group(ranking, 100)]
    found = [shown.candidate for shown in group(ranking, limit)]
    assert len(found) == min(limit, len(everything))
    crowding = {c.session_id for c in found if sum(d.session_id == c.session_id for d in found) > PER_SESSION}
    for other in {c.session_id for c in everything} - crowding:
        entitled = [c for c in everything if c.session_id == other][:PER_SESSION]
        assert not crowding or {c.passage_id for c in entitled} <= {c.passage_id for c in found}


@given(RANKINGS)
def test_the_best_is_always_shown(ranking: list[Candidate]) -> None:
    if ranking:
        assert group(ranking, 1)[0].candidate == ranking[0]
