from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall import analysis
from recall.analysis import STOP_WORDS, TERM_LIMIT, matching_spans, query_terms, terms, unspaced_share

WORDS = st.text(
    alphabet=st.one_of(
        st.sampled_from("aZ09_ .-é\u0301ßİ灯塔密钥のをガｶﾞ한국กา½ﷺヿ\ufb01\n\"'*:()🤖"), st.characters(codec="utf-8")
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("running tests", ["run", "test"]),
        ("connected connections", ["connect", "connect"]),
        ("the flaky login", ["the", "flaki", "login"]),
        ("is", ["is"]),
        ("v2 3.14", ["v2", "3", "14"]),
        ("", []),
        ("— … !?", []),
    ],
)
def test_a_word_becomes_its_stem(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("spelling", ["getUserName", "get_user_name", "GetUserName", "get__user_name", "GET_USER_NAME"])
def test_every_spelling_of_an_identifier_gives_its_parts_and_itself(spelling: str) -> None:
    assert terms(spelling) == ["get", "user", "name", "getusernam"]


def test_an_acronym_in_an_identifier_stays_whole() -> None:
    assert terms("HTTPServer") == ["http", "server", "httpserver"]
    assert terms("parseJSONLines")[:3] == ["pars", "json", "line"]


def test_a_private_name_is_found_without_its_underscores() -> None:
    assert terms("__init__ _cache") == ["init", "cach"]


def test_a_chinese_run_gives_its_characters_and_its_pairs() -> None:
    assert terms("灯塔密钥") == ["灯", "塔", "密", "钥", "灯塔", "塔密", "密钥"]


@pytest.mark.parametrize("run", ["テスト", "データベース", "데이터베이스", "ภาษาไทย", "ភាសា", "မြန်မာ"])
def test_scripts_without_spaces_give_pairs(run: str) -> None:
    assert {run[i : i + 2] for i in range(len(run) - 1)} <= set(terms(run))


def test_latin_and_chinese_side_by_side_are_two_words() -> None:
    assert terms("用Redis缓存") == ["用", "redi", "缓", "存", "缓存"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lantern", "LANTERN"),
        ("ｗｉｄｅ", "wide"),
        ("café", "cafe"),
        ("naïve", "NAIVE"),
        ("straße", "STRASSE"),
        ("ﬁle", "file"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("Ångström", "angstrom"),
        ("tiếng Việt", "tieng Viet"),
    ],
)
def test_case_width_and_accents_make_no_difference(one: str, other: str) -> None:
    assert terms(one) == terms(other)


@pytest.mark.parametrize("word", ["résumé", "über", "señor", "データ", "한국어"])
def test_composed_and_decomposed_spellings_are_one_word(word: str) -> None:
    """macOS hands out file names decomposed."""
    assert terms(unicodedata.normalize("NFD", word)) == terms(unicodedata.normalize("NFC", word))


def test_letters_that_only_look_accented_are_kept_apart() -> None:
    assert terms("й") != terms("и")


def test_a_long_token_is_cut_alike_in_text_and_query() -> None:
    token = "q9" * 100
    assert terms(token) == query_terms(token) == [token[:TERM_LIMIT]]


def test_stop_words_are_left_out_of_a_query_that_holds_anything_else() -> None:
    assert query_terms("how did we fix the login?") == ["fix", "login"]
    assert query_terms("我们怎么修复 登录") == ["修复", "登录"]


@pytest.mark.parametrize("text", ["to be or not to be", "AND", "What is that?", "这个 什么"])
def test_stop_words_alone_are_searched_for(text: str) -> None:
    assert query_terms(text)


def test_stop_words_stay_in_the_index() -> None:
    assert terms("to be or not") == ["to", "be", "or", "not"]


def test_every_stop_word_is_recognised_whatever_its_case() -> None:
    for word in STOP_WORDS:
        assert query_terms(f"{word.upper()} lantern") == ["lantern"], word


def test_a_query_has_no_repeats() -> None:
    assert query_terms("login Login logins 登录登录") == ["login", "登录", "录登"]


def test_a_single_character_asks_for_itself() -> None:
    assert query_terms("灯") == ["灯"]


@given(WORDS)
def test_every_term_of_a_query_is_a_term_of_the_same_text(text: str) -> None:
    assert set(query_terms(text)) <= set(terms(text))


@given(WORDS)
def test_a_text_with_terms_can_always_be_asked_for(text: str) -> None:
    assert bool(query_terms(text)) == bool(terms(text))


@given(WORDS)
def test_terms_are_short_and_never_empty(text: str) -> None:
    assert all(0 < len(term) <= TERM_LIMIT for term in terms(text))


@given(WORDS)
@example("a\u0301_b\u0301 灯塔\u0301 _c")
def test_the_quick_patterns_find_what_the_whole_one_finds(text: str) -> None:
    found = [
        analysis._run_terms(analysis._fold(match[0])) if match["run"] else analysis._word_terms(match[0])
        for match in analysis._TOKEN.finditer(text)
    ]
    assert terms(text) == [term for of_token in found for term in of_token]


@given(WORDS, WORDS)
def test_terms_of_two_lines_are_the_terms_of_each(one: str, other: str) -> None:
    assert terms(f"{one}\n{other}") == terms(one) + terms(other)


@given(WORDS)
@example("ｶﾞヿ")  # two characters become one, one becomes two: the length stays, the places do not
def test_the_place_of_a_term_really_gives_the_term(text: str) -> None:
    wanted = frozenset(query_terms(text))
    for start, end, term in matching_spans(text, wanted):
        assert 0 <= start < end <= len(text)
        assert term in wanted
        assert term in terms(text[start:end]), (text[start:end], term)


@given(WORDS)
def test_places_ascend_and_every_text_shows_what_it_was_asked_for(text: str) -> None:
    spans = list(matching_spans(text, frozenset(query_terms(text))))
    assert spans == sorted(spans)
    assert bool(spans) == bool(query_terms(text))


def test_places_count_code_points_not_bytes() -> None:
    assert list(matching_spans("🤖🤖 灯塔 lantern", frozenset({"灯塔", "lantern"}))) == [
        (3, 5, "灯塔"),
        (6, 13, "lantern"),
    ]


def test_pairs_may_overlap() -> None:
    assert [span[:2] for span in matching_spans("登录登录", frozenset({"登录", "录登"}))] == [(0, 2), (1, 3), (2, 4)]


def test_an_identifier_is_marked_whole_for_any_of_its_parts() -> None:
    assert list(matching_spans("call getUserName now", frozenset({"user"}))) == [(5, 16, "user")]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("12 !?", 0, 0),
        ("where is the lantern key", 0, 0),
        ("灯塔密钥每周五轮换", 1, 1),
        ("用 Redis 缓存会话", 0.6, 0.95),
        ("the word 灯塔 means lighthouse in Chinese", 0.05, 0.4),
    ],
)
def test_the_share_of_scripts_without_spaces(text: str, low: float, high: float) -> None:
    assert low <= unspaced_share(text) <= high


@pytest.mark.parametrize("unit", ["a", "灯", "aB", "a_", "_", "é", "a b ", "ｶﾞ", "\u0301"])
def test_twenty_times_the_text_takes_no_more_than_about_twenty_times_as_long(unit: str) -> None:
    def seconds(text: str) -> float:
        started = time.perf_counter()
        terms(text)
        list(matching_spans(text, frozenset(query_terms(text))))
        return time.perf_counter() - started

    short = min(seconds(unit * 5_000) for _ in range(3))
    # A quadratic step would take four hundred times as long.
    assert seconds(unit * 100_000) < max(0.2, short * 120)
