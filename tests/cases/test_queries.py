"""R01, R03, R04: any text is a valid query, and words are found in every script."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from conftest import Home
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import recall
from recall import Message, Scope, SearchResult, Session, UsageError

EVERYWHERE = Scope.everywhere()
ROW = "lease-broker drops TICKET-4417 while foo::bar retries; keep the notes AND the trace"
GATEWAY = "上周把网关限流改成令牌桶，压测后延迟降了一半；另外重跑build-lint才通过"
BUTTON = "今天只改了按钮颜色"


def index_of(*rows: str) -> recall.Index:
    """An index in memory with a session for each row, named by its number."""
    index = recall.open(":memory:")
    for number, row in enumerate(rows, 1):
        index.add(Session(str(number), messages=(Message("user", row),)))
    return index


def lexical(index: recall.Index, query: str) -> SearchResult:
    return index.search(query, EVERYWHERE, mode="lexical")


def names(result: SearchResult) -> list[str]:
    return [hit.session.id for hit in result]


def highlighted(result: SearchResult) -> list[str]:
    """The marked parts of the first snippet."""
    snippet = result[0].snippet
    return [snippet.text[start:end] for start, end in snippet.highlights]


@pytest.fixture(scope="module")
def archive() -> Iterator[recall.Index]:
    with index_of(ROW, "the harbor crane stands idle") as index:
        yield index


# R01: ordinary words are not FTS5 syntax


@pytest.mark.parametrize("query", ["lease-broker", "TICKET-4417", "foo::bar", "ticket 4417", "LEASE-BROKER?"])
def test_punctuation_inside_a_word_is_no_operator(archive: recall.Index, query: str) -> None:
    assert names(lexical(archive, query)) == ["1"]


@pytest.mark.parametrize(
    "query", ["body:notes", "notes:trace", "terms:trace", "scope:notes", "text:notes", "-notes", "{terms}:notes"]
)
def test_a_colon_makes_no_column_filter_whatever_the_columns_are_called(archive: recall.Index, query: str) -> None:
    assert names(lexical(archive, query)) == ["1"]


@pytest.mark.parametrize("query", ["r0", "w0", "r1", "w1", "scope:r0", "scope : r0"])
def test_nothing_but_the_text_is_matched(archive: recall.Index, query: str) -> None:
    assert names(lexical(archive, query)) == []


def test_an_operator_is_found_as_the_word_that_it_is(archive: recall.Index) -> None:
    assert names(lexical(archive, "AND")) == ["1"]


@pytest.mark.parametrize("query", ["trace NOT", "NEAR(lease", 'NEAR("lease" "trace", 2)', '"trace', "trace*", "^trace"])
def test_a_broken_expression_is_a_few_words(archive: recall.Index, query: str) -> None:
    assert names(lexical(archive, query)) == ["1"]


def test_a_negated_word_is_searched_for_like_any_other(archive: recall.Index) -> None:
    assert set(names(lexical(archive, "lease NOT crane"))) == {"1", "2"}


@pytest.mark.parametrize("query", ["*", "^", '"', "()", "--", "' OR 1=1 --", "%", "\\", "\x00", "\ud83d", "🙂", "-1"])
def test_what_has_no_words_finds_nothing_and_raises_nothing(archive: recall.Index, query: str) -> None:
    assert names(lexical(archive, query)) == []


@given(st.text(st.characters(exclude_categories=()), max_size=60))
@example("AND")
@example("\ud800 kite")
@example("\x00")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_that_is_not_blank_is_a_valid_query(archive: recall.Index, query: str) -> None:
    if query.strip():
        lexical(archive, query)
    else:
        with pytest.raises(UsageError, match="empty"):
            lexical(archive, query)


_SYNTAX = st.sampled_from(
    ["AND", "OR", "NOT", "NEAR", "NEAR(", "(", ")", '"', "''", "*", "^", ":", "-", "+", "{", "}", ",", ";", "\\", "--"]
)


@given(st.lists(_SYNTAX, max_size=4), st.lists(_SYNTAX, max_size=4), st.sampled_from(["", " "]))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_syntax_around_a_word_never_hides_it(
    archive: recall.Index, before: list[str], after: list[str], glue: str
) -> None:
    assert "1" in names(lexical(archive, f"{glue.join(before)} lease {glue.join(after)}"))


@given(st.text(st.characters(exclude_categories=()), max_size=60))
@settings(max_examples=50, deadline=None)
def test_any_text_can_be_stored_and_asked_for(text: str) -> None:
    with recall.open(":memory:") as index:
        index.add(Session("one", messages=(Message("user", text),)))
        if text.strip():
            lexical(index, text)


@pytest.mark.parametrize("query", ["", " \t\n\u3000"])
def test_a_blank_query_on_the_command_line_is_wrong_usage(home: Home, query: str) -> None:
    ran = home.run("search", query, "--all", "--json")
    assert ran.code == 2
    assert ran.out == b""
    assert "the query is empty" in ran.complaint
    assert len(ran.complaint.splitlines()) == 1


@pytest.mark.parametrize("query", ["NEAR(lease", "*"])
def test_syntax_on_the_command_line_is_no_error(home: Home, query: str) -> None:
    ran = home.run("search", query, "--all", "--json")
    assert (ran.code, ran.document["query"], ran.document["hits"]) == (0, query, [])
    assert "Traceback" not in ran.complaint


@pytest.mark.skipif(os.name == "nt", reason="arguments are UTF-16 there")
def test_bytes_that_are_no_text_on_the_command_line_are_no_error(home: Home) -> None:
    for arguments in ([b"kite \xff\xfe", "--json"], [b"kite \xff\xfe"]):
        ran = home.run("search", "--all", *arguments)
        assert ran.code == 0, ran.complaint
        assert "Traceback" not in ran.complaint


# R03: Chinese text, and identifiers next to it


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("令牌桶", "令牌桶"),
        ("延迟降了", "延迟降"),
        ("lint", "lint"),
        ("build-lint", "build"),
        ("BUILD", "build"),
        ("ｂｕｉｌｄ", "build"),
        ("网关限流为什么会影响延迟", "网关限流"),
        ("网关", "网关"),
    ],
)
def test_words_inside_chinese_text_are_found_and_shown(query: str, marked: str) -> None:
    with index_of(GATEWAY, BUTTON) as index:
        result = lexical(index, query)
        assert names(result) == ["1"]
        assert any(marked in part for part in highlighted(result))


def test_the_matched_characters_are_shown_wherever_they_stand_in_a_long_text() -> None:
    with index_of("前面说的都是别的事情。" * 200 + GATEWAY + "后面又说了许多。" * 200, BUTTON) as index:
        result = lexical(index, "令牌桶")
        assert names(result) == ["1"]
        assert highlighted(result) == ["令牌桶"]
        assert len(result[0].snippet.text) <= 300


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("配置文件config.yaml要放在根目录", "config.yaml"),
        ("调用getUserName时返回空值", "getUserName"),
        ("调用getUserName时返回空值", "user name"),
        ("修复get_user_name的空值", "get_user_name"),
        ("昨日ビルドが失敗した原因", "ビルド"),
        ("어제 빌드가실패했다", "빌드"),
        ("閘道限流改為權杖桶", "權杖桶"),
        ("错误码E4417出现在日志", "E4417"),
        ("版本v2上线", "v2"),
    ],
)
def test_words_of_other_scripts_and_identifiers_beside_them_are_found(text: str, query: str) -> None:
    with index_of(text, BUTTON) as index:
        result = lexical(index, query)
        assert names(result) == ["1"]
        assert highlighted(result)


# R04: words of one or two characters


@pytest.fixture(scope="module")
def short_words() -> Iterator[recall.Index]:
    with index_of("缓存穿透的修复放在周四发布", "回滚手册写在内部文档", "数据迁移脚本") as index:
        yield index


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("缓存", {"1"}),
        ("缓存穿透", {"1"}),
        ("雨", set()),
        ("滚", {"2"}),
        ("迁移", {"3"}),
        ("缓存 回滚 迁移", {"1", "2", "3"}),
        ("缓存 OR 回滚 OR 迁移", {"1", "2", "3"}),
        ("缓存，回滚、迁移", {"1", "2", "3"}),
        ("缓存 rollback 迁移", {"1", "3"}),
        ("缓存 雨", {"1"}),
    ],
)
def test_short_words_are_found_alone_and_as_any_of_several(
    short_words: recall.Index, query: str, found: set[str]
) -> None:
    assert set(names(lexical(short_words, query))) == found
