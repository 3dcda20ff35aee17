"""Which reader a file needs, from what it holds; its name decides only where the content leaves it open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from recall.errors import TranscriptError
from recall.transcripts.generic import ROLE_KEYS, ROLES, SILENT_ROLES, TEXT_KEYS, GenericReader
from recall.transcripts.history import HistoryReader, is_history
from recall.transcripts.markdown import MarkdownReader
from recall.transcripts.reader import Line, Reader, loads_leniently
from recall.transcripts.specstory import GENERATED, HEADER, SpecStoryReader

DECIDING_LINES = 50
"""Objects that are looked at. The first may be broken, or the rest of a line that was cut."""

_EXPECTED = "expected JSON lines of Codex, Claude Code or any role and text, or Markdown with role headings"
_REMEDY = "convert it, or leave it out"

_CODEX_TYPES = ("function_call", "function_call_output", "reasoning", "local_shell_call", "custom_tool_call")
_CLAUDE_KEYS = ("sessionId", "leafUuid", "parentUuid", "messageId")
_FIELD = re.compile(r'"(\w{1,40})"\s*:\s*(?:"([^"\\]{0,200})"|(\{))?')
_DOCUMENT = re.compile(rb"\s*(?:\{\s*\n|\[\s*[\n{\]])")
_DOCUMENT_KEY = re.compile(rb'^([ \t]+)"([^"\n]{1,60})"\s*:', re.MULTILINE)
_KEYS_SHOWN = 6


def detect(path: Path, head: bytes) -> type[Reader]:
    """The reader for a file that begins with `head`: about its first 64 kB, decompressed and without BOM.

    Raises TranscriptError for what is no transcript.
    """
    if not head.strip():
        raise TranscriptError(f"{path} is empty; {_EXPECTED}; take it in again when something was said in it")
    text = head.decode("utf-8", "replace")
    # A crash leaves NULs inside a transcript; only a file that begins with some is no text.
    if "\0" in text[:80] or text.count("\ufffd") > len(text) // 10:
        raise TranscriptError(f"{path} is a binary file or not UTF-8; {_EXPECTED}; {_REMEDY}")
    if not head.lstrip().startswith((b"{", b"[")):
        reader = _markdown_reader(path, text) or _json_reader(path, head)
        if reader is None:
            found = "has no role headings of two sides, such as `## User` and `## Assistant`"
            raise TranscriptError(f"{path} {found}; {_EXPECTED}; {_REMEDY}")
        return reader
    document = _DOCUMENT.match(head) is not None
    reader = None if document else _json_reader(path, head)
    if reader is None:
        raise TranscriptError(f"{path} {_found(head, document)}; {_EXPECTED}; {_REMEDY}")
    return reader


def _markdown_reader(path: Path, text: str) -> type[Reader] | None:
    """The reader of Markdown that begins with `text`; None where nobody speaks in it."""
    lines = text.split("\n")
    if text.lstrip().startswith(GENERATED) or any(HEADER.match(line) for line in lines[:DECIDING_LINES]):
        return SpecStoryReader
    reader = MarkdownReader(path)
    messages = [
        message
        for number, line in enumerate(lines, start=1)
        for message in reader.read(Line(number, line.encode("utf-8")))
    ]
    messages.extend(reader.finish())
    # `# Codex` and `User: postgres` stand in many a README; a session has two sides.
    sides = {message.role for message in messages}
    return MarkdownReader if {"user", "assistant"} <= sides else None


def _json_reader(path: Path, head: bytes) -> type[Reader] | None:
    """The reader of JSON lines that begin with `head`; None where no line tells."""
    named = _named_reader(path)
    seen = False
    for record in islice(_records(head), DECIDING_LINES):
        seen = True
        if reader := _reader_of(record):
            return reader
    if not seen and head.lstrip().startswith(b"{"):
        # The first line is longer than the head, as the first lines of Codex can be.
        return _reader_of(_fields(head)) or named
    return named if seen else None


def _records(head: bytes) -> Iterator[dict[str, Any]]:
    """The objects among the lines of `head`. Its last line is one only if it is complete."""
    for line in head.split(b"\n"):
        if not line.lstrip().startswith(b"{"):
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            record = loads_leniently(line)
        if isinstance(record, dict):
            yield record


def _fields(line: bytes) -> dict[str, Any]:
    """The names in the beginning of a line that was cut, up to the first object within it.

    Of their values only short strings are told.
    """
    fields: dict[str, Any] = {}
    for field in _FIELD.finditer(line[:4096].decode("utf-8", "replace")):
        fields.setdefault(field[1], {} if field[3] else field[2] or "")
        if field[3]:
            break
    return fields


def _reader_of(record: Mapping[str, Any]) -> type[Reader] | None:
    """The reader of a file that holds this line; None where the line does not tell."""
    kind = record.get("type")
    if is_history(record):
        return HistoryReader
    if _is_codex(record, kind):
        from recall.transcripts.codex import CodexReader

        return CodexReader
    roles = [role.casefold() for key in ROLE_KEYS if isinstance(role := record.get(key), str)]
    if any(role in ROLES or role in SILENT_ROLES for role in roles):
        return GenericReader if any(key in record for key in (*TEXT_KEYS, "tool_calls")) else None
    if isinstance(kind, str) and (
        any(key in record for key in _CLAUDE_KEYS) or isinstance(record.get("message"), dict)
    ):
        from recall.transcripts.claude_code import ClaudeCodeReader

        return ClaudeCodeReader
    return None


def _is_codex(record: Mapping[str, Any], kind: object) -> bool:
    """Whether Codex wrote a line: a record with a payload, or one from before there were payloads."""
    if "record_type" in record or kind in _CODEX_TYPES:
        return True
    if "timestamp" in record and "payload" in record:
        return isinstance(kind, str)
    if "timestamp" in record and "id" in record and kind is None and "role" not in record:
        return "instructions" in record or "git" in record
    content = record.get("content")
    parts = content if kind == "message" and isinstance(content, list) else ()
    return any(isinstance(part, dict) and part.get("type") in ("input_text", "output_text") for part in parts)


def _named_reader(path: Path) -> type[Reader] | None:
    """The reader that the name of a file asks for."""
    if path.name.startswith("rollout-"):
        from recall.transcripts.codex import CodexReader

        return CodexReader
    if "projects" in path.parts and ".claude" in path.parts:
        from recall.transcripts.claude_code import ClaudeCodeReader

        return ClaudeCodeReader
    return None


def _found(head: bytes, document: bool) -> str:
    """What JSON is that is no transcript, with its outermost names."""
    records = list(islice(_records(head), 2))
    if document or len(records) == 1 or (not records and head.lstrip().startswith(b"[")):
        return f"is one JSON document ({_names(head, records)})"
    if not records:
        return "has no complete line of JSON"
    return f"has lines of JSON without a role or a known type ({_names(head, records)})"


def _names(head: bytes, records: list[dict[str, Any]]) -> str:
    if head.lstrip().startswith(b"["):
        return "a list"
    if records:
        names = list(records[0])
    else:
        keys = _DOCUMENT_KEY.findall(head)
        indent = min((len(indent) for indent, _ in keys), default=0)
        names = [name.decode("utf-8", "replace") for spaces, name in keys if len(spaces) == indent]
    shown = ", ".join(name[:40] for name in names[:_KEYS_SHOWN])
    return f"keys: {shown}{', …' if len(names) > _KEYS_SHOWN else ''}" if names else "no keys"
