from __future__ import annotations

import base64
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.transcripts.text import BASE64_LIMIT, FAR, OUTPUT_HEAD, OUTPUT_TAIL, clean, shorten_far, shorten_output

PICTURE = base64.b64encode(random.Random(7).randbytes(900)).decode("ascii")
ANY_TEXT = st.text(alphabet=st.characters(), max_size=300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain words", "plain words"),
        ("a\x00b", "ab"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("50%\r100%", "50%\r100%"),
        ("\x1b[31mred\x1b[0m and \x1b[1;32mgreen\x1b[m", "red and green"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://kite.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2K\x1b[1Gdone", "done"),
        ("灯塔 🤖 é", "灯塔 🤖 é"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_what_a_terminal_or_a_database_cannot_hold_goes(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\ud83e\udd16", "🤖"),
        ("a\ud83eb", "a\ufffdb"),
        ("b\udd16c", "b\ufffdc"),
        ("\udd16\ud83e", "\ufffd\ufffd"),
        ("灯\ud800塔", "灯\ufffd塔"),
        ("\ud83e", "\ufffd"),
        ("🤖\ud83e\udd16", "🤖🤖"),
    ],
)
def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_is_its_character(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(ANY_TEXT)
def test_any_text_can_be_stored_afterwards(text: str) -> None:
    cleaned = clean(text)
    assert "\x00" not in cleaned
    assert "\r\n" not in cleaned
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=BASE64_LIMIT))
def test_text_that_can_be_stored_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_an_embedded_file_is_named_instead_of_stored() -> None:
    assert clean(f"see {PICTURE} here") == "see [base64] here"


def test_a_picture_in_a_data_url_is_named_instead_of_stored() -> None:
    assert clean(f"![shot](data:image/png;base64,{PICTURE}) ok") == "![shot]([base64]) ok"
    short = base64.b64encode(b"a small picture, shorter than the limit").decode("ascii")
    assert clean(f"{'words ' * 40}data:image/svg+xml;charset=utf-8;base64,{short}") == f"{'words ' * 40}[base64]"


def test_base64_in_lines_is_an_embedded_file_too() -> None:
    wrapped = base64.encodebytes(random.Random(3).randbytes(3_000)).decode("ascii")
    cleaned = clean(f"data:application/pdf;base64,{wrapped}")
    assert "[base64]" in cleaned
    assert len(cleaned) < 100


def test_hex_of_a_whole_file_is_no_text_either() -> None:
    assert clean(random.Random(5).randbytes(400).hex()) == "[base64]"


@pytest.mark.parametrize(
    "text",
    [
        "-" * 400,
        "/" * 400,
        "=" * 400,
        "_" * 400,
        "a" * 400,
        "ab" * 200,
        "/home/ana/work/kite/" + "packages/web/src/components/" * 12,
        "https://kite.example/" + "a-long-path/" * 30,
        "词" * 400,
        "word " * 100,
        PICTURE[:BASE64_LIMIT],
    ],
    ids=["----", "////", "====", "____", "one letter", "two letters", "path", "url", "chinese", "words", "short"],
)
def test_long_text_that_is_no_file_stays(text: str) -> None:
    assert clean(text) == text


def test_a_long_path_with_capitals_is_no_file() -> None:
    path = "/Users/Ana/Work/Kite/" + "packages/Web/src/Components/" * 12
    assert clean(path) == path


@pytest.mark.parametrize(
    "unit", ["a", "A1", "data:a/b;base64,", "data:image/", "\x1b[", "\x1b]0;", "a;a=", "\ud83e", "=\n"]
)
def test_cleaning_takes_time_in_proportion_to_the_text(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    started = time.perf_counter()
    clean(text)
    assert time.perf_counter() - started < 2


def test_short_output_stays_whole() -> None:
    text = "x" * (OUTPUT_HEAD + OUTPUT_TAIL)
    assert shorten_output(text) == text


def test_of_long_output_the_head_and_the_tail_stay() -> None:
    text = "h" * OUTPUT_HEAD + "m" * 500 + "t" * OUTPUT_TAIL
    assert shorten_output(text) == "h" * OUTPUT_HEAD + "\n[… 500 characters …]\n" + "t" * OUTPUT_TAIL


@given(st.integers(0, 3 * (OUTPUT_HEAD + OUTPUT_TAIL)))
def test_shortened_output_says_exactly_how_much_is_missing(length: int) -> None:
    shortened = shorten_output("灯" * length)
    missing = length - shortened.count("灯")
    assert len(shortened) <= OUTPUT_HEAD + OUTPUT_TAIL + 40
    assert (f"[… {missing} characters …]" in shortened) == (missing > 0)


def test_giant_output_loses_its_middle_before_it_is_redacted() -> None:
    assert shorten_far("x" * (2 * FAR)) == "x" * (2 * FAR)
    shortened = shorten_far("h" * FAR + "m" * 1_000_000 + "t" * FAR)
    assert shortened == "h" * FAR + "\n[…]\n" + "t" * FAR


def test_what_is_cut_away_first_lies_far_from_what_is_kept() -> None:
    assert 10 * max(OUTPUT_HEAD, OUTPUT_TAIL) < FAR
