from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.errors import TranscriptError
from recall.transcripts.claude_code import ClaudeCodeReader
from recall.transcripts.codex import CodexReader
from recall.transcripts.detect import DECIDING_LINES, detect
from recall.transcripts.generic import GenericReader
from recall.transcripts.lines import read_head
from recall.transcripts.markdown import MarkdownReader
from recall.transcripts.reader import Reader
from recall.transcripts.specstory import SpecStoryReader
from tests.transcripts.golden import INPUTS, SAMPLES, WITHOUT_SAMPLES

FILE = Path("/home/ana/chat.jsonl")
ROLLOUT = Path("/home/ana/.codex/sessions/2026/01/05/rollout-2026-01-05T10-00-00-abc.jsonl")
PROJECT = Path("/home/ana/.claude/projects/-home-ana-shop/abc.jsonl")

CODEX = {"timestamp": "2026-01-05T10:00:00Z", "type": "event_msg", "payload": {"type": "user_message"}}
CLAUDE = {"type": "user", "sessionId": "abc", "message": {"role": "user", "content": "hi"}}
GENERIC = {"role": "user", "content": "hi"}
UNKNOWN = {"level": "info", "msg": "started"}
FIELDS = ("type", "role", "id", "timestamp", "payload", "content", "message")


def head_of(*records: Mapping[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.mark.parametrize(
    "record",
    [
        CODEX,
        {"id": "abc", "timestamp": "2025-06-01T10:00:00Z", "instructions": None},
        {"id": "abc", "timestamp": "2025-06-01T10:00:00Z", "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}"},
    ],
)
def test_these_lines_are_of_codex(record: dict[str, Any]) -> None:
    assert detect(FILE, head_of(record)) is CodexReader


@pytest.mark.parametrize(
    "record",
    [
        CLAUDE,
        {"type": "assistant", "message": {"role": "assistant", "content": []}},
        {"type": "summary", "summary": "a title", "leafUuid": "abc"},
        {"type": "file-history-snapshot", "messageId": "abc", "snapshot": {}},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "abc"},
    ],
)
def test_these_lines_are_of_claude_code(record: dict[str, Any]) -> None:
    assert detect(FILE, head_of(record)) is ClaudeCodeReader


@pytest.mark.parametrize(
    "record",
    [
        GENERIC,
        {"role": "Human", "text": "hi"},
        {"sender": "ai", "message": "hi"},
        {"role": "system", "content": "be brief"},
        {"type": "message", "role": "user", "content": "hi", "sessionId": "abc"},
        {"role": "assistant", "tool_calls": []},
    ],
)
def test_a_role_and_a_text_are_enough(record: dict[str, Any]) -> None:
    assert detect(FILE, head_of(record)) is GenericReader


@pytest.mark.parametrize("beginning", [b"", b'{"cut": "in the mid\n', b'"payload":{}}\n', b"\n\n", b"[1]\n"])
def test_a_broken_first_line_does_not_decide(beginning: bytes) -> None:
    assert detect(FILE, beginning + head_of(CLAUDE)) is ClaudeCodeReader


def test_a_line_that_tells_nothing_does_not_decide() -> None:
    assert detect(FILE, head_of(*[UNKNOWN] * (DECIDING_LINES - 1), CODEX)) is CodexReader


def test_content_outweighs_the_name() -> None:
    assert detect(ROLLOUT, head_of(CLAUDE)) is ClaudeCodeReader
    assert detect(PROJECT, head_of(GENERIC)) is GenericReader
    assert detect(FILE.with_suffix(".md"), head_of(CODEX)) is CodexReader


def test_the_name_decides_where_the_content_does_not() -> None:
    assert detect(ROLLOUT, head_of(UNKNOWN)) is CodexReader
    assert detect(PROJECT, head_of(UNKNOWN)) is ClaudeCodeReader


@pytest.mark.parametrize(
    ("record", "reader"),
    [
        ({"timestamp": "t", "type": "session_meta", "payload": {"instructions": "x" * 100_000}}, CodexReader),
        ({"id": "a", "timestamp": "t", "instructions": "x" * 100_000}, CodexReader),
        (
            {"parentUuid": None, "type": "user", "message": {"role": "user", "content": "x" * 100_000}},
            ClaudeCodeReader,
        ),
        ({"role": "user", "content": "x" * 100_000}, GenericReader),
    ],
)
def test_a_first_line_longer_than_the_head_decides_by_its_beginning(
    record: dict[str, Any], reader: type[Reader]
) -> None:
    assert detect(FILE, head_of(record)[: 64 * 1024]) is reader


def test_a_markdown_file_that_shows_json_lines_is_markdown() -> None:
    head = b"## User\nwhat is this?\n" + head_of(CLAUDE) + b"## Assistant\nA line of Claude Code.\n"
    assert detect(FILE.with_suffix(".md"), head) is MarkdownReader


@pytest.mark.parametrize(
    ("folder", "reader"),
    [("generic", GenericReader), ("specstory", SpecStoryReader), ("markdown", MarkdownReader)],
)
def test_our_own_inputs_are_recognised(folder: str, reader: type[Reader]) -> None:
    for path in sorted((INPUTS / folder).iterdir()):
        if path.name != "no-roles.md":
            assert detect(path, read_head(path, 64 * 1024)) is reader, path.name


@pytest.mark.skipif(SAMPLES is None, reason=WITHOUT_SAMPLES)
def test_what_the_agents_wrote_is_recognised() -> None:
    assert SAMPLES is not None
    readers: dict[str, type[Reader]] = {"codex": CodexReader, "claude": ClaudeCodeReader}
    for path in sorted(SAMPLES.rglob("*.jsonl*")):
        agent = path.relative_to(SAMPLES).parts[0].partition("-")[0]
        assert detect(path, read_head(path, 64 * 1024)) is readers[agent], path.name


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a binary file or not UTF-8"),
        ("构建失败".encode("gbk"), "is a binary file or not UTF-8"),
        (
            json.dumps({"sessionId": "a", "messages": []}, indent=2).encode(),
            "is one JSON document (keys: sessionId, messages)",
        ),
        (
            json.dumps({"sessionId": "a", "messages": []}).encode(),
            "is one JSON document (keys: sessionId, messages)",
        ),
        (json.dumps([GENERIC]).encode(), "is one JSON document (a list)"),
        (b'{"a": "cut', "has no complete line of JSON"),
        (head_of(UNKNOWN, UNKNOWN), "has lines of JSON without a role or a known type (keys: level, msg)"),
        (b"# Notes\n\nUser: postgres\n", "has no role headings of two sides"),
    ],
)
def test_what_is_no_transcript_is_refused_with_what_was_found(head: bytes, found: str) -> None:
    with pytest.raises(TranscriptError) as error:
        detect(FILE, head)
    assert str(error.value).startswith(f"{FILE} {found}")
    assert "expected JSON lines" in str(error.value)


def test_a_long_document_is_told_by_its_outermost_names() -> None:
    document = json.dumps({f"key{number}": {"inner": ["x" * 9_000]} for number in range(9)}, indent=2)
    with pytest.raises(TranscriptError, match=r"\(keys: key0, key1, key2, key3, key4, key5, …\)"):
        detect(FILE, document.encode()[: 64 * 1024])


def is_recognised_or_refused(head: bytes) -> bool:
    try:
        return detect(FILE, head).agent != ""
    except TranscriptError as error:
        return str(error).startswith(str(FILE))


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_file_is_recognised_or_refused(head: bytes) -> None:
    assert is_recognised_or_refused(head)


@given(st.dictionaries(st.sampled_from(FIELDS), st.none() | st.integers() | st.text() | st.just({})))
def test_any_json_line_is_recognised_or_refused(record: dict[str, Any]) -> None:
    assert is_recognised_or_refused(head_of(record, record))
