from __future__ import annotations

from importlib import resources
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.analysis import terms
from recall.glossary import in_english, readable_share, words

CHINESE = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=20)


def test_the_glossary_is_chinese_a_tab_and_one_to_three_in_english_each_word_once() -> None:
    lines = (resources.files("recall") / "glossary.tsv").read_text(encoding="utf-8").splitlines()
    entries = [line.split("\t") for line in lines if not line.startswith("#")]
    for chinese, *english in entries:
        assert len(chinese) >= 2, chinese
        assert all("\u4e00" <= character <= "\u9fff" for character in chinese), chinese
        assert 1 <= len(english) <= 3, chinese
        assert all(words and words == words.strip().lower() and words.isascii() for words in english), chinese
        assert all(terms(words) for words in english), chinese
    names = [chinese for chinese, *_ in entries]
    assert len(names) == len(set(names))
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("如何删除远程分支", "delete remote branch"),
        ("数据库连接池耗尽", "database connection pool exhausted"),
        ("修复 login 页面的缓存问题", "fix login page cache problem"),
        ("为什么测试会失败？", "test failed?"),
    ],
)
def test_what_programmers_say_in_chinese_is_said_in_english(chinese: str, english: str) -> None:
    assert terms(in_english(chinese)) == terms(english)


def test_a_text_is_cut_so_that_little_is_left_over_and_the_longest_word_counts() -> None:
    assert [span[:2] for span in words("数据库连接池")] == [(0, 3), (3, 6)]  # and not 数据库连接, which leaves 池
    assert [span[:2] for span in words("连接池")] == [(0, 3)]


@pytest.mark.parametrize("text", ["", "how did we fix the login?", "naïve café", "getUserName()"])
def test_what_is_written_without_chinese_stays_as_it_is(text: str) -> None:
    assert in_english(text) == text


def test_what_can_be_read_is_english_and_the_words_that_are_known() -> None:
    assert readable_share("where is the key") == 1
    assert readable_share("删除远程分支") == 1
    assert readable_share("删除了远程的分支") == 1  # function words do not count
    assert readable_share("灯塔潮汐") == 0
    assert 0 < readable_share("删除灯塔") < 1
    assert readable_share("のとは") == 0


@given(st.text())
def test_any_text_can_be_read_as_far_as_it_goes(text: str) -> None:
    assert 0 <= readable_share(text) <= 1
    in_english(text)


@given(CHINESE)
def test_words_do_not_overlap_and_stand_in_order(run: str) -> None:
    spans = [(start, end) for start, end, _ in words(run)]
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
