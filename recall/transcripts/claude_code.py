"""Transcripts of Claude Code: `projects/<slug>/<session>.jsonl` and the `agent-*.jsonl` of its subagents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import PurePath
from typing import Any, ClassVar

from recall.transcripts.claude_calls import describe, is_own_call
from recall.transcripts.claude_session import REMEMBERED, TITLES, SessionFacts, branch_of, string
from recall.transcripts.claude_text import (
    is_from_person,
    is_human_origin,
    is_interruption,
    rejection_reason,
    shell_input,
    shell_output,
    typed_text,
    without_injected,
)
from recall.transcripts.own import is_own_command, is_own_json, without_own_blocks
from recall.transcripts.reader import JsonLinesReader
from recall.transcripts.times import time_of
from recall.types import Message, Role

_QUIET_LINES = TITLES.keys() | {
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "bridge-session",
    "cost-state",
    "file-history-snapshot",
    "frame-link",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "result",
    "started",
    "system",
    "tools-used",
    "worktree-state",
}
"""Bookkeeping, and copies of what other lines say."""
_QUIET_PARTS = ("thinking", "redacted_thinking", "fallback", "image", "document", "tool_reference")
_READABLE = re.compile(r"[\w.-]{1,40}")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a message stands, as its line tells."""

    line: int
    timestamp: datetime | None
    cwd: str
    branch: str
    subagent: bool


class ClaudeCodeReader(JsonLinesReader):
    """Reads one transcript of a session, or of one of its subagents.

    A message is yielded once in a reading, however often its line is repeated; between readings the last
    REMEMBERED keys are kept. Who speaks in a user line: `claude_text`; the session: `claude_session`.
    """

    agent: ClassVar[str] = "claude"
    rewritten: ClassVar[bool] = False

    def __init__(self, path: PurePath, state: Mapping[str, Any] | None = None) -> None:
        self._facts = SessionFacts(path, state["facts"] if state else None)
        self.session = self._facts.session
        self.skipped = Counter()
        self._keys: dict[str, None] = dict.fromkeys(state["keys"] if state else ())
        self._calls: dict[str, str | None] = dict(state["calls"] if state else {})
        """The names of the tools called last, by the id of the call; None for a call of recall itself."""
        self._warming_up: bool = state["warming_up"] if state else False
        self._own_shell: bool = state["own_shell"] if state else False

    def state(self) -> dict[str, Any]:
        return {
            "facts": self._facts.state(),
            "keys": list(self._keys)[-REMEMBERED:],
            "calls": dict(self._calls),
            "warming_up": self._warming_up,
            "own_shell": self._own_shell,
        }

    def record(self, record: dict[str, Any], number: int) -> Iterator[Message]:
        self._facts.learn(record)
        self.session = self._facts.session
        match record.get("type"):
            case "user":
                yield from self._read_user(record, self._place(record, number))
            case "assistant":
                yield from self._read_assistant(record, self._place(record, number))
            case "attachment":
                yield from self._read_attachment(record, self._place(record, number))
            case str() as kind if kind in _QUIET_LINES:
                pass
            case str() as kind:
                self._skip("unknown line type", kind)
            case _:
                self._skip("line without type")

    def _place(self, record: dict[str, Any], number: int) -> _Place:
        cwd, branch = string(record.get("cwd")), branch_of(record)
        return _Place(
            line=number,
            timestamp=time_of(record.get("timestamp")),
            cwd=cwd if cwd != self.session.cwd else "",
            branch=branch if branch != self.session.branch else "",
            subagent=self._facts.of_agent or record.get("isSidechain") is True,
        )

    # Lines

    def _read_user(self, record: dict[str, Any], place: _Place) -> Iterator[Message]:
        # Its text is a replay of what came before.
        if record.get("isCompactSummary"):
            return
        # No person writes to a subagent: what stands there is its task, whatever the labels say.
        spoken = not record.get("isMeta") if place.subagent else is_from_person(record)
        uuid, texts = string(record.get("uuid")), 0
        for part in self._parts(record):
            match part.get("type"):
                case "text":
                    key = f"{uuid}:{texts}" if uuid and texts else uuid
                    texts += 1
                    if spoken:
                        yield from self._read_spoken(_text(part.get("text")), key, place)
                case "tool_result":
                    yield from self._read_result(part, record.get("toolUseResult"), place)
                case kind:
                    self._skip_part(kind)

    def _read_assistant(self, record: dict[str, Any], place: _Place) -> Iterator[Message]:
        message = record["message"] if isinstance(record.get("message"), dict) else {}
        # Under this name Claude Code itself speaks: "API Error: 529 …", "No response requested."
        synthetic = message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") is True
        # When 1.0 copies a session, the id of the answer survives and the id of the line does not.
        answer = string(message.get("id")) or string(record.get("uuid"))
        for part in self._parts(record):
            match part.get("type"):
                case "text":
                    text = _text(part.get("text"))
                    if not synthetic:
                        key = f"{answer}:{_digest(text)}" if answer else ""
                        yield from self._say("assistant", text, key, place)
                case "tool_use":
                    yield from self._read_call(part, place)
                case kind:
                    self._skip_part(kind)

    def _read_attachment(self, record: dict[str, Any], place: _Place) -> Iterator[Message]:
        """What a person typed while the agent was busy; other attachments are context that nobody typed."""
        queued = record.get("attachment")
        if not isinstance(queued, dict) or queued.get("type") != "queued_command":
            return
        typed = queued.get("commandMode") in (None, "prompt") and is_human_origin(queued.get("origin"))
        if typed and not queued.get("isMeta") and is_from_person(record):
            text = self._joined(queued.get("prompt"))
            yield from self._read_spoken(text, string(record.get("uuid")), place)

    # Parts

    def _read_spoken(self, text: str, key: str, place: _Place) -> Iterator[Message]:
        if place.subagent:
            task = typed_text(text)
            if task.strip():
                # 2.0 starts agents with this word to have them ready; most never hear another.
                self._warming_up = task.strip() == "Warmup"
                yield from self._say("assistant", task, key, place)
        elif (command := shell_input(text)) is not None:
            self._own_shell = is_own_command(command)
            if not self._own_shell:
                yield from self._say("tool", command, key, place, tool="Bash")
        elif (output := shell_output(text)) is not None:
            if not self._own_shell and not is_own_json(output):
                yield from self._say("tool", output, key, place, tool="Bash")
            self._own_shell = False
        else:
            yield from self._say("user", typed_text(text), key, place)

    def _read_call(self, part: dict[str, Any], place: _Place) -> Iterator[Message]:
        name, call_id, arguments = string(part.get("name")), string(part.get("id")), part.get("input")
        own = is_own_call(name, arguments)
        if call_id:
            self._calls[call_id] = None if own else name
            if len(self._calls) > REMEMBERED:
                del self._calls[next(iter(self._calls))]
        if not own:
            text, files = describe(name, arguments)
            yield from self._say("tool", text, call_id, place, tool=name, files=files)

    def _read_result(self, part: dict[str, Any], structured: Any, place: _Place) -> Iterator[Message]:
        call_id = string(part.get("tool_use_id"))
        name = self._calls.get(call_id, "")
        text = without_injected(self._joined(part.get("content")) or _streams(structured))
        if name is None or not text.strip() or is_interruption(text) or is_own_json(text):
            return
        key = f"result:{call_id}" if call_id else ""
        failed = part.get("is_error") is True
        # An MCP server writes its errors itself, and could put words into the person's mouth.
        if failed and not name.startswith("mcp__") and (reason := rejection_reason(text)):
            yield from self._say("user", reason, key, place)
        else:
            yield from self._say("tool", f"error\n{text}" if failed else text, key, place, tool=name)

    def _say(
        self, role: Role, text: str, key: str, place: _Place, tool: str = "", files: tuple[str, ...] = ()
    ) -> Iterator[Message]:
        cut = without_own_blocks(text)
        if len(cut) != len(text):
            text = cut.strip("\n")
        if not text.strip() or key in self._keys or (place.subagent and self._warming_up):
            return
        if key:
            self._keys[key] = None
        yield Message(
            role=role,
            text=text,
            timestamp=place.timestamp,
            line=place.line,
            key=key,
            tool=tool,
            files=files,
            cwd=place.cwd,
            branch=place.branch,
            subagent=place.subagent,
        )

    def _parts(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The parts of a line's content; a string is one text part."""
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, str | list):
            self._skip("line without content")
            return
        for part in [content] if isinstance(content, str) else content:
            if isinstance(part, dict):
                yield part
            elif isinstance(part, str):
                yield {"type": "text", "text": part}
            else:
                self._skip("broken part")

    def _joined(self, content: Any) -> str:
        """The text of a string, or of the text parts of a list."""
        if not isinstance(content, list):
            return _text(content)
        texts = []
        for part in content:
            if isinstance(part, dict) and part.get("type") == "text":
                texts.append(_text(part.get("text")))
            elif isinstance(part, dict):
                self._skip_part(part.get("type"))
            else:
                texts.append(_text(part))
        return "\n".join(text for text in texts if text)

    def _skip_part(self, kind: Any) -> None:
        if kind not in _QUIET_PARTS:
            self._skip("unknown part type", kind)

    def _skip(self, what: str, kind: Any = None) -> None:
        # The kind is whatever the file says, and is shown to people.
        readable = isinstance(kind, str) and _READABLE.fullmatch(kind)
        self.skipped[f"{what} {kind}" if readable else what] += 1


def _streams(structured: Any) -> str:
    """What a command printed, from the structured copy of a result."""
    if not isinstance(structured, dict) or structured.get("isImage"):
        return ""
    streams = (_text(structured.get("stdout")), _text(structured.get("stderr")))
    return "\n".join(stream for stream in streams if stream)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
