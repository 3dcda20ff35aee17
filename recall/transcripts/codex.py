"""Rollouts of the Codex CLI, from the bare lines of 0.8 to the paginated ones of 0.171.

A rollout says most things twice: as `response_item`, which is what the model saw, and as `event_msg`, which
is what the person saw. Which of the two is there, and which comes first, differs from version to version. So
a text counts when it comes on one stream, and its echo on the other is dropped. Tools are read from the
response items; an event stands in for a call that has none: a command that the person ran, or a call from
inside a script.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath
from typing import Any, ClassVar

from recall.transcripts.codex_echoes import Echoes, Stream
from recall.transcripts.codex_kinds import (
    QUIET_EVENT_FAMILIES,
    QUIET_EVENTS,
    QUIET_ITEMS,
    QUIET_LINES,
    QUIET_RESPONSE_ITEMS,
)
from recall.transcripts.codex_session import TURN_BEGINS, Origin, call_id, string, table
from recall.transcripts.codex_text import (
    assistant_text,
    flattened_claude_text,
    human_text,
    part_kinds,
    text_parts,
    user_shell_command,
)
from recall.transcripts.codex_tools import (
    PATCH_BEGIN,
    SCRIPT_TOOL,
    call_text,
    change_text,
    claude_call,
    command_text,
    output_text,
    query_text,
    script_commands,
    with_exit_code,
)
from recall.transcripts.own import is_own_command, is_own_json, without_own_blocks
from recall.transcripts.reader import JsonLinesReader, Line
from recall.transcripts.times import time_of
from recall.types import Message, Role

BOM = b"\xef\xbb\xbf"
IMPORT_MARK = "<EXTERNAL SESSION IMPORTED>"
CALL_LIMIT = 256
"""Calls whose tool is remembered, for their output and their event."""

_LINES = frozenset({"event_msg", "inter_agent_communication", "response_item", "session_meta", "turn_context"})
_CALLS = frozenset({"custom_tool_call", "function_call", "local_shell_call", "web_search_call"})
_OUTPUTS = frozenset({"custom_tool_call_output", "function_call_output", "local_shell_call_output"})
_RESPONSE_ITEMS = _CALLS | _OUTPUTS | QUIET_RESPONSE_ITEMS | {"agent_message", "message"}
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_KIND = re.compile(r"[\w.-]{1,40}", re.ASCII)


class CodexReader(JsonLinesReader):
    """Reads one rollout."""

    agent: ClassVar[str] = "codex"
    rewritten: ClassVar[bool] = False

    def __init__(self, path: PurePath, state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        self.skipped: Counter[str] = Counter()
        self._origin = Origin(self.agent, _id_of(path), state)
        self.session = self._origin.session
        self._echoes = Echoes(state.get("echoes", {}))
        # Tool of each call, oldest first; None for a call to recall.
        self._calls: dict[str, str | None] = dict(state.get("calls", ()))
        # Patches that scripts spell out and whose event is to come.
        self._patches: int = state.get("patches", 0)
        # Tools of imported calls whose result is to come, oldest first; None for a call to recall.
        self._imported_calls: list[str | None] = list(state.get("imported_calls", ()))
        self._line = 0
        self._time: datetime | None = None

    def state(self) -> dict[str, Any]:
        """See Reader. It is stored as it is, so it holds nothing that was said."""
        return {
            **self._origin.state(),
            "echoes": self._echoes.state(),
            "calls": list(self._calls.items()),
            "patches": self._patches,
            "imported_calls": self._imported_calls,
        }

    def read(self, line: Line) -> Iterator[Message]:
        if line.text.startswith(BOM):
            line = Line(line.number, line.text.removeprefix(BOM))
        yield from super().read(line)

    def record(self, record: dict[str, Any], number: int) -> Iterator[Message]:
        try:
            yield from self._record(record, number)
        except RecursionError:
            self.skipped["line nested too deeply"] += 1
        self.session = self._origin.session

    def _record(self, record: dict[str, Any], number: int) -> Iterator[Message]:
        kind, payload = record.get("type"), record.get("payload")
        self._line, self._time = number, self._origin.turn_time or time_of(record.get("timestamp"))
        if not isinstance(kind, str):
            self._bare(record)
        elif kind in QUIET_LINES:
            return
        elif kind in _RESPONSE_ITEMS and "payload" not in record:
            # 0.8 to 0.20 wrote response items without an envelope.
            yield from self._response_item(kind, record)
        elif kind not in _LINES:
            self._skip("line type", kind)
        elif not isinstance(payload, dict):
            self.skipped["line without payload"] += 1
        elif kind == "session_meta":
            self._origin.learn_meta(payload, self._time)
        elif self._origin.is_silent or self._origin.is_inherited(record, payload):
            return
        elif kind == "turn_context":
            self._origin.learn_context(payload)
        elif kind == "response_item":
            yield from self._response_item(string(payload, "type"), payload)
        elif kind == "event_msg":
            yield from self._event(string(payload, "type"), payload)
        else:
            yield from self._between_agents("event", payload)

    def _bare(self, record: dict[str, Any]) -> None:
        if "id" in record and not self._origin.is_known:
            self._origin.learn_meta(record, None)
        elif "record_type" not in record:
            self.skipped["line without type"] += 1

    # Lines that say something

    def _response_item(self, kind: str, item: dict[str, Any]) -> Iterator[Message]:
        if self._origin.is_silent or kind in QUIET_RESPONSE_ITEMS:
            return
        if kind == "message":
            yield from self._said("item", string(item, "role"), item.get("content"), part_kinds(item))
        elif kind == "agent_message":
            yield from self._between_agents("item", item)
        elif kind == "web_search_call":
            yield from self._tool("web_search", query_text(item.get("action")))
        elif kind == "local_shell_call":
            yield from self._call(call_id(item, "call_id"), "local_shell", item.get("action"))
        elif kind in _CALLS:
            arguments = item.get("arguments") if kind == "function_call" else item.get("input")
            yield from self._call(call_id(item, "call_id"), string(item, "name"), arguments)
        elif kind in _OUTPUTS:
            yield from self._output(call_id(item, "call_id"), item.get("output"))
        else:
            self._skip("response item", kind)

    def _event(self, kind: str, event: dict[str, Any]) -> Iterator[Message]:
        call = call_id(event, "call_id")
        if kind == "user_message":
            yield from self._said("event", "user", event.get("message"), [])
        elif kind == "agent_message":
            yield from self._said("event", "assistant", event.get("message"), [])
        elif kind == "item_completed":
            item = table(event, "item")
            yield from self._item(string(item, "type"), item)
        elif kind in TURN_BEGINS:
            self._imported_calls.clear()
            self._origin.learn_turn(event)
        elif kind == "exec_command_end":
            yield from self._command(call, event)
        elif kind == "patch_apply_end":
            yield from self._changes(call, event.get("changes"))
        elif kind == "mcp_tool_call_end":
            yield from self._mcp_call(call, table(event, "invocation"))
        elif kind == "thread_name_updated":
            self._origin.learn_name(event)
        elif kind not in QUIET_EVENTS and not QUIET_EVENT_FAMILIES.fullmatch(kind):
            self._skip("event", kind)

    def _item(self, kind: str, item: dict[str, Any]) -> Iterator[Message]:
        call = call_id(item, "id")
        if kind == "UserMessage":
            yield from self._said("event", "user", item.get("content"), [])
        elif kind == "AgentMessage":
            yield from self._said("event", "assistant", item.get("content"), [])
        elif kind == "CommandExecution":
            yield from self._command(call, item)
        elif kind == "FileChange":
            yield from self._changes(call, item.get("changes"))
        elif kind == "McpToolCall":
            yield from self._mcp_call(call, item)
        elif kind not in QUIET_ITEMS:
            self._skip("item", kind)

    # What was said

    def _said(self, stream: Stream, role: str, content: Any, kinds: list[Any]) -> Iterator[Message]:
        """What a person or the assistant said; the other roles are Codex itself."""
        if role == "user":
            for _, part in text_parts(content):
                if ran := user_shell_command(part):
                    yield from self._user_shell(stream, ran[0], output_text(ran[1]))
            text = human_text(content, kinds, self._origin.is_imported_turn)
        elif role == "assistant":
            text = assistant_text(content)
        else:
            return
        if not text or self._is_echo(stream, role, text):
            return
        if role == "assistant" and self._origin.is_imported_turn:
            yield from self._imported(text)
        elif role == "assistant" or self._origin.is_subagent:
            # What is said to a subagent in the name of the user, another agent wrote.
            yield self._message("assistant", text)
        else:
            yield self._message("user", text)

    def _between_agents(self, stream: Stream, payload: dict[str, Any]) -> Iterator[Message]:
        text = assistant_text(payload.get("content"))
        if text and not self._is_echo(stream, "agent", text):
            yield replace(self._message("assistant", text), subagent=True)

    def _imported(self, text: str) -> Iterator[Message]:
        """What Claude said; the import flattened its tool calls and their results into text."""
        for tool, body in flattened_claude_text(text.removesuffix(IMPORT_MARK)):
            if tool is None:
                yield self._message("assistant", body)
            elif tool:
                body, files, own = claude_call(tool, body)
                self._imported_calls.append(None if own else tool)
                if not own:
                    yield from self._tool(tool, body, files)
            else:
                name = self._imported_calls.pop(0) if self._imported_calls else ""
                if name is not None and not is_own_json(body):
                    yield from self._tool(name, body)

    # What was done with tools

    def _call(self, call: str, tool: str, arguments: Any) -> Iterator[Message]:
        text, files, own = call_text(tool, arguments)
        self._remember(call, None if own else tool)
        if own:
            return
        if tool == SCRIPT_TOOL:
            # The event of each command and patch follows, under an id of its own.
            commands, are_all = script_commands(text)
            for command in commands:
                self._is_echo("item", "command", command)
            self._patches += text.count(PATCH_BEGIN)
            text = "\n".join(commands) if are_all else text
        yield from self._tool(tool, text, files)

    def _output(self, call: str, output: Any) -> Iterator[Message]:
        tool = self._calls.get(call, "")
        text = output_text(output)
        if tool is not None and not is_own_json(text):
            yield from self._tool(tool, text)

    def _command(self, call: str, event: dict[str, Any]) -> Iterator[Message]:
        """A command that an event reports: the person's own, or one that a script ran."""
        command, source = command_text(event.get("command")), string(event, "source")
        printed = with_exit_code(string(event, "aggregated_output"), event.get("exit_code"))
        if source == "user_shell":
            yield from self._user_shell("event", command, printed)
        elif call in self._calls or source == "unified_exec_interaction":
            return
        elif command and not self._is_echo("event", "command", command):
            own = is_own_command(command)
            # The output of a script tells what its commands printed.
            in_script = SCRIPT_TOOL in self._calls.values()
            yield from self._reported_call(call, "exec_command", command, own=own)
            if not (own or in_script or is_own_json(printed)):
                yield from self._tool("exec_command", printed)

    def _changes(self, call: str, changes: Any) -> Iterator[Message]:
        text, files = change_text(changes)
        if self._patches and call not in self._calls:
            self._patches -= 1
            return
        yield from self._reported_call(call, "apply_patch", text, files)

    def _mcp_call(self, call: str, invocation: dict[str, Any]) -> Iterator[Message]:
        tool = f"mcp__{string(invocation, 'server')}__{string(invocation, 'tool')}"
        text, files, own = call_text(tool, invocation.get("arguments"))
        # A script spells out the calls it makes.
        if own or SCRIPT_TOOL not in self._calls.values():
            yield from self._reported_call(call, tool, text, files, own=own)

    def _reported_call(
        self, call: str, tool: str, text: str, files: tuple[str, ...] = (), *, own: bool = False
    ) -> Iterator[Message]:
        """The call that an event reports, unless a response item or an earlier event has told of it."""
        if call in self._calls:
            return
        if own:
            # The script that asked recall prints the answer.
            for script, name in reversed(self._calls.items()):
                if name in (SCRIPT_TOOL, None):
                    self._remember(script, None)
                    break
        self._remember(call, None if own else tool)
        if not own:
            yield from self._tool(tool, text, files)

    def _user_shell(self, stream: Stream, command: str, printed: str) -> Iterator[Message]:
        if is_own_command(command) or self._is_echo(stream, "tool", command):
            return
        yield from self._tool("shell", command)
        if not is_own_json(printed):
            yield from self._tool("shell", printed)

    def _remember(self, call: str, tool: str | None) -> None:
        if call:
            self._calls[call] = tool
            while len(self._calls) > CALL_LIMIT:
                del self._calls[next(iter(self._calls))]

    # Messages

    def _tool(self, tool: str, text: str, files: tuple[str, ...] = ()) -> Iterator[Message]:
        text = without_own_blocks(text).strip("\n")
        if text.strip():
            yield self._message("tool", text, tool, files)

    def _message(self, role: Role, text: str, tool: str = "", files: tuple[str, ...] = ()) -> Message:
        cwd = self._origin.cwd if self._origin.cwd != self._origin.session.cwd else ""
        subagent = self._origin.is_subagent
        return Message(role, text, self._time, self._line, tool=tool, files=files, cwd=cwd, subagent=subagent)

    def _is_echo(self, stream: Stream, role: str, text: str) -> bool:
        return self._echoes.is_echo(stream, role, text, self._line, self._time)

    def _skip(self, what: str, name: str) -> None:
        self.skipped[f"unknown {what} {name if _KIND.fullmatch(name) else ''}".rstrip()] += 1


def _id_of(path: PurePath) -> str:
    """The uuid in the file's name, else the name without its endings."""
    uuids = _UUID.findall(path.name)
    return uuids[-1].lower() if uuids else path.name.split(".jsonl")[0] or "rollout"
