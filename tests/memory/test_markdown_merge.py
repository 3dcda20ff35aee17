"""Merging loses no line, doubles no entry and leaves what was there as it was."""

from __future__ import annotations

import codecs
import re
from collections import Counter

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memory.markdown_merge import count_entries, lines_of, merge

PIECE = st.sampled_from(
    ["# Memory", "## Rules", "## Rules ", "### 规", "- tabs", "- tabs\n  and why", "- run `make`", "* 空格", "1. one",
     "text", "more", "", " ", "```\n# no\n\n- x\n```", "~~~sh\n~~~", "# no heading", "    code", "  indented", "---",
     "<!-- mark -->", "\ufeff", "caf\u0085e\u2028x\x0by\x0c", "\0", "\t", "- "]
)  # fmt: skip
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
END = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])
MARKDOWN = st.builds(
    lambda lines, last: "".join(line + end for line, end in lines) + last,
    st.lists(st.tuples(PIECE | st.text(max_size=5), END), max_size=14),
    PIECE,
).map(lambda text: text.encode("utf-8", "replace"))
BYTES = (
    MARKDOWN
    | MARKDOWN.map(lambda content: codecs.BOM_UTF8 + content)
    | MARKDOWN.map(lambda content: codecs.BOM_UTF16_LE + content.decode().encode("utf-16-le"))
    | st.binary(max_size=40)
)


@given(BYTES, BYTES)
@example(b"\n", codecs.BOM_UTF8 * 2 + b"x")
@example(b"- a", b"- b\r\n")
@example(b"\xff\xfe", b"a\xff")
@example(b"# M\n", b"\xff\xfe# M\n\n")
@example(b"# M\n", codecs.BOM_UTF8 * 2 + b"x")
def test_no_line_of_either_text_is_lost(target: bytes, source: bytes) -> None:
    try:
        merged = merge(target, source).content
    except ValueError:
        return  # the caller keeps the source in a file of its own
    held = set(lines_of(merged))
    assert held >= set(lines_of(target))
    assert held >= set(lines_of(source))


@given(MARKDOWN, MARKDOWN)
def test_what_was_there_stays_in_its_order_with_its_line_ends(target: bytes, source: bytes) -> None:
    try:
        merged = merge(target, source).content.decode()
    except ValueError:
        assume(False)
    rest = iter(re.findall(LINE, merged))
    lines = re.findall(LINE, target.decode())
    assert all(line in rest for line in lines[:-1])
    assert not lines or any(line.startswith(lines[-1]) for line in rest)


@given(MARKDOWN, MARKDOWN)
def test_merging_again_adds_nothing(target: bytes, source: bytes) -> None:
    try:
        once = merge(target, source)
    except ValueError:
        assume(False)
    again = merge(once.content, source)
    assert (again.content, again.added) == (once.content, 0)


@given(BYTES)
def test_a_text_merged_with_itself_or_with_nothing_stays_as_it_is(text: bytes) -> None:
    assert merge(text, text).content == text
    assert merge(text, b"").content == text
    assert merge(b"", text).content == text


@given(st.lists(st.sampled_from("abcdef")), st.lists(st.sampled_from("abcdef")))
def test_an_entry_is_there_as_often_as_in_the_text_that_has_it_more_often(ours: list[str], theirs: list[str]) -> None:
    target, source = ("# M\n" + "".join(f"- {one}\n" for one in some) for some in (ours, theirs))
    merged = merge(target.encode(), source.encode())
    lines = merged.content.decode().splitlines()[1:]
    entries = Counter(line.removeprefix("- ") for line in lines if line)
    assert entries == Counter(ours) | Counter(theirs)
    assert merged.added == (Counter(theirs) - Counter(ours)).total()


def test_an_entry_goes_to_the_end_of_its_section_and_a_new_section_to_the_end() -> None:
    target = b"# Memory\n\n## Rules\n\n- tabs\n- long\n  and why\n\n## Notes\nlast"
    source = b"\xef\xbb\xbf# Memory\n\n## Rules\n- long\n  and why\n- spaces\n\n  because\n\n## New\n\ntext\n"
    source = source.replace(b"\n", b"\r\n")
    merged = merge(target, source)
    assert merged.added == 2
    assert merged.content.decode() == (
        "# Memory\n\n## Rules\n\n- tabs\n- long\n  and why\n- spaces\n\n  because\n\n## Notes\nlast\n\n## New\n\ntext\n"
    )


def test_a_heading_inside_a_fence_is_no_heading() -> None:
    source = b"# M\n\n```sh\n# build\n\nmake\n```\n"
    assert count_entries(source) == 1
    assert merge(b"# M\n\n- a\n", source).content == b"# M\n\n- a\n\n```sh\n# build\n\nmake\n```\n"


def test_the_same_words_under_another_heading_are_another_entry() -> None:
    merged = merge(b"# Python\n- use tabs\n", b"# Go\n- use tabs\n")
    assert merged.content == b"# Python\n- use tabs\n\n# Go\n\n- use tabs\n"


def test_the_texts_may_have_other_encodings() -> None:
    target = codecs.BOM_UTF16_LE + "- 用空格\r\n".encode("utf-16-le")
    merged = merge(target, "- 风筝\n".encode())
    assert merged.content == codecs.BOM_UTF16_LE + "- 用空格\r\n- 风筝\r\n".encode("utf-16-le")
    with pytest.raises(ValueError):
        merge(target, b"- \xff\n")


def test_indented_text_does_not_become_part_of_another_item() -> None:
    with pytest.raises(ValueError, match="part of the item"):
        merge(b"- a\n", b"  why\n")


@pytest.mark.parametrize(("target", "source"), [(b"```\n- a\n", b"- b\n"), (b"- a\n", b"~~~\n- b\n")])
def test_a_fence_that_is_never_closed_swallows_nothing(target: bytes, source: bytes) -> None:
    with pytest.raises(ValueError, match="never closed"):
        merge(target, source)


def test_a_section_stands_under_its_own_heading() -> None:
    merged = merge(b"# A\n- a\n\n## X\n- x\n\n# B\n- b\n", b"# A\n\n## Y\n- y\n")
    assert merged.content == b"# A\n- a\n\n## X\n- x\n\n## Y\n\n- y\n\n# B\n- b\n"
