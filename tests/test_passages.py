from __future__ import annotations

import re
from importlib import resources
from itertools import pairwise

import apsw
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recall import passages
from recall.minilm import MiniLM
from recall.passages import CHARACTERS_A_TOKEN, OVERLAP_TOKENS, Span, asks, character_spans, split

ENGLISH_END = "the lantern key rotates on Fridays"
CHINESE_END = "灯塔密钥每周五轮换"

TEXTS = st.text(alphabet=st.sampled_from("ab.,;!? \n。，；灯🤖\t\u3000"), max_size=300)
MAX_TOKENS = st.integers(min_value=1, max_value=40)


def words(text: str) -> list[Span]:
    """Tokens of a plain tokenizer: words, and every other visible character for itself."""
    return [match.span() for match in re.finditer(r"[a-z]+|\S", text)]


def held(passage: Span, tokens: list[Span]) -> int:
    """How many tokens have a part inside the passage."""
    return sum(start < passage[1] and end > passage[0] for start, end in tokens)


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


@given(TEXTS, MAX_TOKENS)
def test_every_visible_character_stands_in_a_passage(text: str, max_tokens: int) -> None:
    covered = {place for start, end in split(text, words(text), max_tokens) for place in range(start, end)}
    assert [c for place, c in enumerate(text) if place not in covered and not c.isspace()] == []


@given(TEXTS, MAX_TOKENS)
def test_passages_ascend_and_neither_begin_nor_end_with_white_space(text: str, max_tokens: int) -> None:
    found = split(text, words(text), max_tokens)
    for start, end in found:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
    for one, other in pairwise(found):
        assert one[0] < other[0]
        assert one[1] < other[1]


@given(TEXTS, MAX_TOKENS)
def test_no_passage_holds_more_tokens_than_it_may(text: str, max_tokens: int) -> None:
    tokens = words(text)
    assert all(held(passage, tokens) <= max_tokens for passage in split(text, tokens, max_tokens))


@given(TEXTS, MAX_TOKENS)
def test_neighbours_share_a_sentence_at_most(text: str, max_tokens: int) -> None:
    tokens = words(text)
    found = split(text, tokens, max_tokens)
    for one, other in pairwise(found):
        shared = held((other[0], one[1]), tokens) if other[0] < one[1] else 0
        assert shared <= min(OVERLAP_TOKENS, max_tokens // 4) + 1


@given(TEXTS)
def test_a_text_that_fits_is_one_passage(text: str) -> None:
    whole = [text.strip()] if text.strip() else []
    assert [text[start:end] for start, end in split(text, words(text), 1_000)] == whole


@given(TEXTS, MAX_TOKENS)
def test_text_measured_in_characters_keeps_the_same_laws(text: str, max_tokens: int) -> None:
    tokens = character_spans(text)
    found = split(text, tokens, max_tokens)
    covered = {place for start, end in found for place in range(start, end)}
    assert all(c.isspace() for place, c in enumerate(text) if place not in covered)
    assert all(end - start <= max_tokens * CHARACTERS_A_TOKEN for start, end in found)


@given(
    st.text(alphabet="ab 灯", min_size=1, max_size=60),
    st.lists(st.integers(min_value=0, max_value=59), max_size=80).map(sorted),
    st.integers(min_value=1, max_value=12),
)
def test_it_ends_whatever_spans_a_tokenizer_gives(text: str, starts: list[int], max_tokens: int) -> None:
    """Byte-level tokenizers give several tokens one place; others give empty ones."""
    tokens = [(min(start, len(text)), min(start + 1, len(text))) for start in starts]
    assume(len(tokens) > max_tokens)
    calls = 0
    stripped = passages._stripped

    def counted(text: str, start: int, end: int) -> Span | None:
        nonlocal calls
        calls += 1
        assert calls <= 4 * len(tokens) + 8, "split does not come to an end"
        return stripped(text, start, end)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "_stripped", counted)
        found = split(text, tokens, max_tokens)
    covered = {place for start, end in found for place in range(start, end)}
    assert all(c.isspace() for place, c in enumerate(text) if place not in covered)


def test_white_space_alone_gives_no_passage() -> None:
    assert split("", [], 10) == []
    assert split(" \n\t\u3000", [], 10) == []
    assert split(" " * 400, character_spans(" " * 400), 10) == []


def test_a_passage_ends_at_the_best_pause_of_its_last_third() -> None:
    text = "aa bb cc dd ee ff gg.\n\nhh ii jj kk ll mm"
    tokens = [match.span() for match in re.finditer(r"\w+\.?", text)]
    assert text[slice(*split(text, tokens, 9)[0])] == "aa bb cc dd ee ff gg."


def test_a_sentence_is_not_cut_where_it_could_be_kept_whole() -> None:
    sentences = [f"Step {i} moves the lever {i} and then waits for the lamp to go out again." for i in range(60)]
    text = " ".join(sentences)
    found = [text[start:end] for start, end in split(text, words(text), 100)]
    assert all(any(sentence in passage for passage in found) for sentence in sentences)


@pytest.mark.parametrize(
    ("sentence", "length", "last"),
    [
        ("The keeper writes the hour and the weather into the big green book, then climbs down. ", 6_000, ENGLISH_END),
        ("守塔人把时间和天气写进绿色的大本子，然后走下楼梯。", 3_000, CHINESE_END),
    ],
    ids=["English", "Chinese"],
)
def test_the_end_of_a_long_text_stands_whole_in_a_passage_that_fits_the_model(
    model: MiniLM, sentence: str, length: int, last: str
) -> None:
    text = (sentence * (length // len(sentence) + 1))[: length - len(last)] + last
    found = [text[start:end] for start, end in split(text, model.token_spans(text), model.max_tokens)]
    assert any(last in passage for passage in found)
    assert max(len(model.token_spans(passage)) for passage in found) <= model.max_tokens == 254
    assert len(found) > 1


@pytest.mark.parametrize("text", ["x" * 20_000, "a/b" * 5_000, "🤖" * 3_000, "é\u0301" * 3_000, "\ufffd" * 900])
def test_text_without_any_pause_is_cut_too(model: MiniLM, text: str) -> None:
    found = split(text, model.token_spans(text), model.max_tokens)
    covered = {place for start, end in found for place in range(start, end)}
    assert covered == set(range(len(text)))
    assert max(len(model.token_spans(text[start:end])) for start, end in found) <= model.max_tokens


# Questions


@pytest.mark.parametrize(
    "text",
    ["why does it fail?", "为什么会失败？", "这个要改吗", "(is it the cache?)", 'He asked: "which one?"', "**why?**\n"],
)
def test_what_ends_as_a_question_does_asks(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["", "it fails", "why? Because of the cache.", "还没呢。", "a ? b : c"])
def test_what_goes_on_behind_its_question_mark_does_not_ask(text: str) -> None:
    assert not asks(text)


@given(st.text(alphabet=st.sampled_from("a?？吗。 \t\n\r\"'*_`)]}>”’）】」』》"), max_size=12))
def test_an_archive_that_is_brought_up_to_date_asks_by_the_same_rule(text: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(
        "create table messages (id integer primary key, text text);"
        "create table passages (id integer primary key, message_id, repository_id, embeddable, start_at, end_at)"
    )
    connection.execute("insert into messages values (1, ?)", (f"before{text}behind",))
    connection.execute("insert into passages values (1, 1, 1, 1, 6, ?), (2, 1, 1, 0, 6, ?)", (6 + len(text),) * 2)
    connection.execute((resources.files("recall") / "schema" / "0003_questions.sql").read_text(encoding="utf-8"))
    assert connection.execute("select asks from passages order by id").fetchall() == [(int(asks(text)),), (0,)]
