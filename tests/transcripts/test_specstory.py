from __future__ import annotations

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.transcripts.generic import session_id_of
from recall.transcripts.reader import Line
from recall.transcripts.specstory import SpecStoryReader
from recall.types import Message
from tests.transcripts.golden import INPUTS, check, read_all

PATH = PurePath("/home/ana/.specstory/history/2026-02-03_09-15-00Z-review.md")
SESSION = "<!-- Claude Code Session 6f0c1f6e-1111-4222-8333-9a9a9a9a9a9a (2026-02-03 09:15:00Z) -->"
OTHER_SESSION = "<!-- Codex CLI Session 0aaaaaaa-bbbb-4ccc-8ddd-000000000002 (2026-02-03 10:00:00Z) -->"
USER = "_**User (2026-02-03 09:15:00Z)**_"
AGENT = "_**Agent (claude-opus-4-5 2026-02-03 09:15:04Z)**_"

MEANINGFUL = (
    *(USER, AGENT, "_**Assistant**_", "_**User**_", "_**Agent - sidechain (x 2026-99-99 09:15:04Z)**_"),
    *(
        '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>',
        "</details></tool-use>",
        "</tool-use>",
    ),
    *("<think>", "</think>", "<think><details>", "</details></think>", "<details>", "</details>"),
    *("<summary>Tool use: **Bash**</summary>", "### Rule: x", "Read file: x", "Tool use: **Read** `x`"),
    *(SESSION, OTHER_SESSION, "# Title", "<command-name>/x</command-name>", "recall search x", "Cancelled"),
    *("---", "", "```", "```bash"),
)
lines = st.sampled_from(MEANINGFUL) | st.text(max_size=40)


def read(*lines: str) -> list[Message]:
    return read_with(SpecStoryReader(PATH), *lines)


def read_with(reader: SpecStoryReader, *lines: str) -> list[Message]:
    messages: list[Message] = []
    for number, line in enumerate("\n".join(lines).split("\n"), start=1):
        messages.extend(reader.read(Line(number, line.encode("utf-8", "surrogatepass"))))
    messages.extend(reader.finish())
    return messages


def tool_use(name: str, *lines: str) -> str:
    opened = f'<tool-use data-tool-type="shell" data-tool-name="{name}"><details>'
    return "\n".join([opened, f"<summary>Tool use: **{name}**</summary>", *lines, "</details></tool-use>"])


def said(messages: list[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


def test_both_generations_are_read_as_they_were_reviewed() -> None:
    readings = {}
    for path in sorted((INPUTS / "specstory").glob("*.md")):
        reading = read_all(SpecStoryReader, path)
        # The hash in it depends on where the repository lies.
        reading["session"]["id"] = reading["session"]["id"].replace(session_id_of(path), path.stem)
        readings[path.name] = reading
    check("outputs", "specstory", readings)


def test_the_session_is_named_after_the_one_it_was_exported_from() -> None:
    reader = SpecStoryReader(PATH)
    read_with(reader, SESSION, "", USER, "", "hi")
    assert reader.session.id == "specstory-6f0c1f6e-1111-4222-8333-9a9a9a9a9a9a"


def test_a_file_with_two_sessions_is_named_after_neither() -> None:
    reader = SpecStoryReader(PATH)
    read_with(reader, SESSION, OTHER_SESSION, "", USER, "", "hi")
    assert reader.session.id == session_id_of(PATH)


def test_a_session_comment_in_what_was_said_changes_nothing() -> None:
    reader = SpecStoryReader(PATH)
    messages = read_with(reader, SESSION, "", USER, "", OTHER_SESSION)
    assert reader.session.id == "specstory-6f0c1f6e-1111-4222-8333-9a9a9a9a9a9a"
    assert said(messages) == [("user", OTHER_SESSION)]


@pytest.mark.parametrize("heading", ["# 2026-02-03 09:15:00Z", "# Untitled (2026-02-03 09:15:00)"])
def test_a_heading_that_says_only_when_is_no_title(heading: str) -> None:
    reader = SpecStoryReader(PATH)
    read_with(reader, heading, "", USER, "", "hi")
    assert reader.session.title == ""
    assert reader.session.started_at is not None
    assert reader.session.started_at.isoformat() == "2026-02-03T09:15:00+00:00"


def test_a_header_that_a_tool_printed_opens_no_section() -> None:
    messages = read(AGENT, "", tool_use("Bash", "`cat old.md`", "", "```text", USER, "", "old", "```"), "", "Done.")
    assert [(message.role, message.tool) for message in messages] == [("tool", "Bash"), ("assistant", "")]


def test_a_thought_that_is_never_closed_ends_at_the_next_header() -> None:
    assert said(read(AGENT, "", "<think>", "hm", USER, "", "hi")) == [("user", "hi")]


def test_a_tool_block_in_a_persons_words_is_theirs() -> None:
    block = tool_use("Bash", "`ls`")
    assert said(read(USER, "", block)) == [("user", block)]


def test_a_tag_inside_a_paragraph_opens_no_block() -> None:
    messages = read(AGENT, "", "```", "<think>", "```", "", "So it goes.")
    assert said(messages) == [("assistant", "```\n<think>\n```\n\nSo it goes.")]


def test_prose_before_and_after_a_tool_is_two_messages_in_order() -> None:
    messages = read(AGENT, "", "Before.", "", tool_use("Bash", "`ls`"), "", "After.")
    assert [(message.text, message.line) for message in messages] == [
        ("Before.", 1),
        ("`ls`", 5),
        ("After.", 10),
    ]


def test_a_slash_command_is_what_the_person_typed_after_it_and_its_prompt_is_nobodys() -> None:
    command = "<command-name>/review</command-name>\n<command-args>the parser</command-args>"
    messages = read(
        USER, "", command, "", USER, "", "## Context", "", "_**User (2026-02-03 09:16:00Z)**_", "", "thanks"
    )
    assert said(messages) == [("user", "the parser"), ("user", "thanks")]


@pytest.mark.parametrize(
    "text", ["[Request interrupted by user]", "[Image: source: /tmp/a.png]", "<system-reminder>x</system-reminder>"]
)
def test_what_the_agent_wrote_in_a_persons_name_is_dropped(text: str) -> None:
    assert read(USER, "", text) == []


def test_a_prompt_for_suggestions_is_dropped() -> None:
    assert (
        read("_**Agent - sidechain (2026-02-03 09:15:00Z)**_", "", "[SUGGESTION MODE: Suggest what", "", "comes next.")
        == []
    )


def test_the_text_of_a_skill_is_nobodys() -> None:
    messages = read(AGENT, "", tool_use("Skill", "- skill: `review`"), "", "---", "", USER, "", "# How to review")
    assert [message.role for message in messages] == ["tool"]


@pytest.mark.parametrize(
    "block",
    [
        tool_use("Bash", "Look back", "", "`recall search x`", "", "```text", "1 hit", "```"),
        tool_use("Bash", "```bash", "cd shop", "recall show 1:2", "```", "", "```text", "1 hit", "```"),
        tool_use("mcp__recall__recall_search", "- query: `x`"),
        tool_use("Bash", "`./find.sh`", "", "```text", '{"query": "x", "scope": {"kind": "all"}}', "```"),
    ],
)
def test_what_recall_printed_is_not_taken_in_again(block: str) -> None:
    assert read(AGENT, "", block) == []


def test_a_command_that_only_names_recall_is_kept() -> None:
    assert len(read(AGENT, "", tool_use("Bash", "`grep -r recall src`", "", "```text", "recall search", "```"))) == 1


def test_a_ruler_in_a_printed_document_does_not_end_its_segment() -> None:
    document = "```markdown\n# A\n\n---\n\nb\n```"
    assert said(read("_**Assistant**_", "", document, "", "---", "", "Read.")) == [
        ("tool", document),
        ("assistant", "Read."),
    ]


def test_a_ruler_in_an_agents_answer_stays() -> None:
    assert said(read(AGENT, "", "a", "", "---", "", "b", "", "---", "", USER, "", "c")) == [
        ("assistant", "a\n\n---\n\nb"),
        ("user", "c"),
    ]


def test_a_file_without_headers_yields_nothing_and_says_why() -> None:
    reader = SpecStoryReader(PATH)
    assert read_with(reader, "# SpecStory: a summary", "", "text") == []
    assert reader.skipped == {"no role heading": 1}


def test_a_block_that_the_end_of_the_file_cuts_is_counted() -> None:
    reader = SpecStoryReader(PATH)
    messages = read_with(reader, AGENT, "", '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>', "ls")
    assert said(messages) == [("tool", "ls")]
    assert reader.skipped == {"unclosed block": 1}


@given(st.lists(lines))
def test_any_lines_can_be_read(lines: list[str]) -> None:
    reader = SpecStoryReader(PATH)
    for message in read_with(reader, *lines):
        assert message.text.strip()
        message.text.encode("utf-8")
        assert 1 <= message.line <= sum(line.count("\n") + 1 for line in lines)
        assert bool(message.tool) <= (message.role == "tool")
    assert reader.session.id
    assert reader.state() == {}


@given(st.binary())
def test_any_bytes_can_be_read(text: bytes) -> None:
    reader = SpecStoryReader(PATH)
    for number, line in enumerate((b"_**Assistant**_", b"", text)):
        list(reader.read(Line(number, line)))
    list(reader.finish())
