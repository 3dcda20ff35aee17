from __future__ import annotations

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.transcripts.generic import session_id_of
from recall.transcripts.markdown import MarkdownReader, role_heading
from recall.transcripts.reader import Line
from recall.types import Message
from tests.transcripts.golden import INPUTS, check, read_all

PATH = PurePath("/home/ana/chat.md")

MEANINGFUL = (
    *("## User", "### Assistant", "## Tool", "**User:**", "**Claude**", "Human: x", "助手：x", "System: x"),
    *("```", "~~~", "````md", "", "---", "# Title", "<recalled-sessions>"),
    '{"query": "x", "scope": {"kind": "all"}}',
)
lines = st.sampled_from(MEANINGFUL) | st.text(max_size=40)


def read(*lines: str) -> list[Message]:
    return read_with(MarkdownReader(PATH), *lines)


def read_with(reader: MarkdownReader, *lines: str) -> list[Message]:
    messages: list[Message] = []
    for number, line in enumerate("\n".join(lines).split("\n"), start=1):
        messages.extend(reader.read(Line(number, line.encode("utf-8", "surrogatepass"))))
    messages.extend(reader.finish())
    return messages


def said(messages: list[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


def test_every_style_is_read_as_it_was_reviewed() -> None:
    readings = {}
    for path in sorted((INPUTS / "markdown").glob("*.md")):
        reading = read_all(MarkdownReader, path)
        # The hash in it depends on where the repository lies.
        assert reading["session"]["id"] == session_id_of(path)
        reading["session"]["id"] = path.stem
        readings[path.name] = reading
    check("outputs", "markdown", readings)


@pytest.mark.parametrize(
    ("line", "role", "text"),
    [
        ("## User", "user", ""),
        ("###### **Human**", "user", ""),
        ("# ASSISTANT:", "assistant", ""),
        ("## Claude (2026-01-01 10:00)", "assistant", ""),
        ("## User: why?", "user", "why?"),
        ("## ChatGPT said:", "assistant", ""),
        ("**User:** why?", "user", "why?"),
        ("**User**: why?", "user", "why?"),
        ("**Claude**", "assistant", ""),
        ("**Tool result:** 3", "tool", "3"),
        ("Human: why?", "user", "why?"),
        ("ai：because", "assistant", "because"),
        ("用户：为什么", "user", "为什么"),
        ("助手: 因为", "assistant", "因为"),
        ("System: be brief", None, "be brief"),
    ],
)
def test_these_lines_are_role_headings(line: str, role: str | None, text: str) -> None:
    heading = role_heading(line)
    assert heading is not None
    assert (heading.role, heading.text) == (role, text)


@pytest.mark.parametrize(
    "line",
    [
        "## Users",
        "## User guide",
        "**User** stories",
        "**AI** is one.",
        "User, you",
        " User: x",
        "Agent: x",
        "#User",
        "- User: x",
    ],
)
def test_these_lines_are_text(line: str) -> None:
    assert role_heading(line) is None


def test_a_heading_in_a_code_block_is_text() -> None:
    text = "````\n```\n## Assistant\n````"
    assert said(read("## User", text, "## Assistant", "yes")) == [("user", text), ("assistant", "yes")]


def test_a_file_keeps_the_style_of_its_first_heading() -> None:
    assert said(read("User: a", "## Assistant", "Claude: b")) == [
        ("user", "a\n## Assistant"),
        ("assistant", "b"),
    ]


def test_a_line_with_three_backticks_within_a_sentence_opens_no_code_block() -> None:
    assert said(read("User: a", "```x``` is code", "Claude: b")) == [
        ("user", "a\n```x``` is code"),
        ("assistant", "b"),
    ]


def test_a_file_without_role_headings_yields_nothing_and_says_why() -> None:
    reader = MarkdownReader(PATH)
    assert read_with(reader, "# Notes", "", "text") == []
    assert reader.skipped == {"no role heading": 1}


def test_what_recall_printed_is_not_taken_in_again() -> None:
    printed = '{"query": "x", "scope": {"kind": "all"}}'
    block = "<recalled-sessions>\nold\n</recalled-sessions>"
    assert said(read("## User", "a", "## Tool", printed, "## Assistant", block, "b")) == [
        ("user", "a"),
        ("assistant", "b"),
    ]


@given(st.lists(lines))
def test_any_lines_can_be_read(lines: list[str]) -> None:
    reader = MarkdownReader(PATH)
    messages = read_with(reader, *lines)
    for message in messages:
        assert message.text.strip()
        message.text.encode("utf-8")
        assert message.line >= 1
    assert reader.session.id
    assert reader.state() == {}
    assert not messages or not reader.skipped


@given(st.binary())
def test_any_bytes_can_be_read(text: bytes) -> None:
    reader = MarkdownReader(PATH)
    for number, line in enumerate((b"## User", text)):
        list(reader.read(Line(number, line)))
    list(reader.finish())
