from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.analysis import query_terms, terms
from recall.snippets import SNIPPET_LIMIT, cut_snippet

WORDS = (
    "lantern",
    "key",
    "灯塔",
    "密钥",
    "rotates",
    "🤖",
    "the",
    "(lantern)",
    "a/b/key",
    "é",
    "x" * 30,
    "\n",
    ". ",
    "。",
)
PIECES = ("lantern ", "灯塔", "key。", "🤖", ". ", "\n\n", "word ")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=120).map(" ".join)
JOINED = st.lists(st.sampled_from(PIECES), max_size=120).map("".join)
LIMITS = st.integers(min_value=20, max_value=400)
WEIGHTS = {term: 1.0 + place for place, term in enumerate(query_terms("lantern key 灯塔 密钥"))}


@given(st.one_of(TEXTS, JOINED, st.text(max_size=500)), LIMITS)
def test_a_snippet_is_never_longer_than_its_limit(text: str, limit: int) -> None:
    assert len(cut_snippet(text, WEIGHTS, limit).text) <= limit


@given(st.one_of(TEXTS, JOINED), LIMITS)
def test_highlights_lie_inside_apart_and_on_terms(text: str, limit: int) -> None:
    snippet = cut_snippet(text, WEIGHTS, limit)
    end_before = -1
    for start, end in snippet.highlights:
        assert end_before < start < end <= len(snippet.text)
        end_before = end
        assert WEIGHTS.keys() & set(terms(snippet.text[start:end])), snippet.text[start:end]


@given(st.one_of(TEXTS, JOINED), LIMITS)
def test_a_text_with_a_match_shows_one(text: str, limit: int) -> None:
    if WEIGHTS.keys() & set(terms(text)):
        assert cut_snippet(text, WEIGHTS, limit).highlights


@given(st.text(max_size=300), LIMITS, st.text(max_size=20))
def test_any_text_any_query_and_any_limit_give_a_snippet(text: str, limit: int, query: str) -> None:
    weights = dict.fromkeys(query_terms(query), 1.0)
    assert isinstance(cut_snippet(text, weights, limit).text, str)


@given(st.one_of(TEXTS, JOINED), LIMITS)
def test_a_snippet_is_a_part_of_the_text(text: str, limit: int) -> None:
    shown = cut_snippet(text, WEIGHTS, limit).text.strip("…")
    assert "".join(shown.split()) in "".join(text.split())


def test_a_short_text_is_shown_whole() -> None:
    snippet = cut_snippet("the lantern key rotates", {"lantern": 1.0, "key": 1.0})
    assert snippet.text == "the lantern key rotates"
    assert snippet.highlights == ((4, 11), (12, 15))


def test_offsets_count_code_points() -> None:
    snippet = cut_snippet("🤖🤖 灯塔 lantern", {"灯塔": 1.0, "lantern": 1.0})
    assert [snippet.text[start:end] for start, end in snippet.highlights] == ["灯塔", "lantern"]


def test_pairs_that_overlap_are_one_highlight() -> None:
    assert cut_snippet("用灯塔密钥登录", {"灯塔": 1.0, "塔密": 1.0, "密钥": 1.0}).highlights == ((1, 5),)


def test_the_window_holds_the_terms_that_stand_together() -> None:
    far = "lantern " + "filler " * 200
    text = f"{far}Here the lantern key rotates on Fridays. {'filler ' * 200}key"
    snippet = cut_snippet(text, {"lantern": 1.0, "key": 1.0, "rotat": 1.0}, 120)
    assert "lantern key rotates" in snippet.text
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")


def test_a_rare_term_is_worth_more_than_two_common_ones() -> None:
    text = f"login test {'filler ' * 100} Kirchhoff {'filler ' * 100}"
    assert "Kirchhoff" in cut_snippet(text, {"login": 0.5, "test": 0.5, "kirchhoff": 4.0}, 100).text


def test_a_term_counts_once_in_a_window() -> None:
    text = f"{'login ' * 20}{'filler ' * 100} login test {'filler ' * 100}"
    assert "login test" in cut_snippet(text, {"login": 1.0, "test": 1.0}, 100).text


def test_of_equal_windows_the_first_is_shown() -> None:
    text = "lantern one. " + "filler " * 100 + "lantern two. " + "filler " * 100
    assert "lantern one" in cut_snippet(text, {"lantern": 1.0}, 100).text


def test_a_snippet_begins_at_a_sentence_that_is_near() -> None:
    text = f"{'filler ' * 100}The end. So the lantern key rotates on Fridays. {'filler ' * 100}"
    assert cut_snippet(text, {"lantern": 1.0, "key": 1.0}, 100).text.startswith("…So the lantern key")


def test_without_a_match_the_beginning_is_shown() -> None:
    snippet = cut_snippet("First words. " + "filler " * 100, {"lantern": 1.0}, 100)
    assert snippet.text.startswith("First words.")
    assert snippet.highlights == ()


@pytest.mark.parametrize("distance", range(0, 221, 10))
def test_two_terms_within_two_thirds_of_the_limit_are_shown_together(distance: int) -> None:
    between = ("filler " * 40)[: max(0, distance - 20)]
    text = f"{'word ' * 200}lantern {between} key{' word' * 200}"
    snippet = cut_snippet(text, {"lantern": 1.0, "key": 1.0}, SNIPPET_LIMIT)
    assert [snippet.text[start:end] for start, end in snippet.highlights] == ["lantern", "key"]


def test_blank_lines_and_indentation_are_folded() -> None:
    assert cut_snippet("a\n\n\n    b   c\t d\n", {}).text == "a\nb c d"


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_a_text_of_nothing_gives_a_snippet_of_nothing(text: str) -> None:
    assert cut_snippet(text, {"lantern": 1.0}).text.strip() == ""
