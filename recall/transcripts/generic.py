"""JSON lines of no particular agent: a role and a text a line, in the usual spellings.

    {"role": "user", "content": "why does the build fail?", "timestamp": "2026-03-01T10:00:00Z"}
    {"role": "assistant", "content": [{"type": "text", "text": "`make` finds no compiler."}]}

| field   | spellings                                                                              |
|---------|----------------------------------------------------------------------------------------|
| role    | `role` or `sender`: user, human; assistant, ai, model, bot, agent; tool, function      |
| text    | `text`, `content` or `message`: a string, or a list of `{"type": "text", "text": …}`   |
| time    | `timestamp`, `ts`, `time` or `created_at`: ISO 8601, or seconds or milliseconds of Unix |
| session | `session_id`, `session` or `conversation_id`; the first message's counts               |
| rest    | `id`, `cwd`, `title`, `name` (of a tool), `tool_calls` as the OpenAI API writes them   |

What system and developer say is no part of the session. A time without a zone is UTC.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, ClassVar

from recall.transcripts.own import is_own_command, is_own_json, is_own_tool, without_own_blocks
from recall.transcripts.reader import JsonLinesReader
from recall.transcripts.text import clean
from recall.transcripts.times import time_of
from recall.transcripts.tools import command_of, describe_call
from recall.types import Message, Role, Session

ROLE_KEYS = ("role", "sender")
TEXT_KEYS = ("text", "content", "message")
TIME_KEYS = ("timestamp", "ts", "time", "created_at")
SESSION_KEYS = ("session_id", "session", "conversation_id")

ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "agent"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
PART_TYPES = ("text", "input_text", "output_text")
SILENT_ROLES = frozenset({"system", "developer"})

KEY_LENGTH = 16
"""Shortest message id that is taken as one. Shorter ids are counters, equal in files that share nothing."""


class GenericReader(JsonLinesReader):
    """Reads JSON lines that hold a role and a text."""

    agent: ClassVar[str] = "other"
    rewritten: ClassVar[bool] = False

    def __init__(self, path: PurePath, state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        self.skipped: Counter[str] = Counter()
        self.session = Session(
            id=state.get("id") or session_id_of(path),
            agent=self.agent,
            title=state.get("title", ""),
            cwd=state.get("cwd", ""),
            started_at=time_of(state.get("started_at")),
        )
        self._begun = bool(state.get("begun"))
        """Whether the session's id is settled: a message may have gone out under it."""
        # Ids of calls to recall whose output is still to come; "" for a call without an id.
        self._own_calls: set[str] = set(state.get("own_calls", ()))

    def state(self) -> dict[str, Any]:
        started_at = self.session.started_at
        return {
            "id": self.session.id,
            "title": self.session.title,
            "cwd": self.session.cwd,
            "started_at": started_at.isoformat() if started_at else None,
            "begun": self._begun,
            "own_calls": sorted(self._own_calls),
        }

    def record(self, record: dict[str, Any], number: int) -> Iterator[Message]:
        timestamp = next((time for key in TIME_KEYS if (time := time_of(record.get(key)))), None)
        cwd = _string(record, "cwd")
        self._learn(record, timestamp, cwd)
        name = next((word for key in ROLE_KEYS if (word := _string(record, key))), "").casefold()
        if name in SILENT_ROLES:
            return
        role = ROLES.get(name)
        if role is None:
            self.skipped["unknown role" if name else "no role"] += 1
            return
        self._begun = True
        text = spoken(next((text for key in TEXT_KEYS if (text := _text(record.get(key)))), ""))
        key = _string(record, "id")
        message = Message(
            role=role,
            text=text,
            timestamp=timestamp,
            line=number,
            key=key if len(key) >= KEY_LENGTH else "",
            tool=_string(record, "name", "tool_name") if role == "tool" else "",
            cwd=cwd if cwd != self.session.cwd else "",
        )
        if role == "tool":
            if not self._is_own_output(record, text) and text:
                yield message
            return
        self._own_calls.clear()
        if text:
            yield message
        yield from self._calls(record, message)

    def _learn(self, record: dict[str, Any], timestamp: datetime | None, cwd: str) -> None:
        """Take from a line what is still unknown of the session."""
        session = self.session
        named = next((name for key in SESSION_KEYS if (name := _name(record.get(key)))), "")
        self.session = replace(
            session,
            id=named if named and not self._begun else session.id,
            title=session.title or _string(record, "title"),
            cwd=session.cwd or cwd,
            started_at=session.started_at or timestamp,
        )

    def _calls(self, record: dict[str, Any], said: Message) -> Iterator[Message]:
        """The tool calls of an assistant's line."""
        calls = record.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict):
                continue
            name = _string(function, "name")
            arguments = function.get("arguments")
            if not isinstance(arguments, (str, dict)):
                arguments = ""
            if is_own_tool(name) or is_own_command(command_of(arguments)):
                self._own_calls.add(_string(call, "id"))
                continue
            text, files = describe_call(arguments)
            text = spoken(text)
            if text or name:
                files = tuple(clean(file) for file in files)
                yield replace(said, role="tool", text=text or name, key="", tool=name, files=files)

    def _is_own_output(self, record: dict[str, Any], text: str) -> bool:
        call = _string(record, "tool_call_id")
        if call in self._own_calls:
            self._own_calls.discard(call)
            return True
        return is_own_tool(_string(record, "name", "tool_name")) or is_own_json(text)


def session_id_of(path: PurePath) -> str:
    """Id of a session whose transcript names none: the file's stem, and 8 hex digits of its path's hash.

    With the stem alone, two `chat.jsonl` in two folders would be one session.
    """
    whole = str(Path(path).absolute()).encode("utf-8", "surrogatepass")
    return f"{clean(path.stem) or 'session'}-{hashlib.blake2b(whole, digest_size=4).hexdigest()}"


def spoken(text: str) -> str:
    """What a message says: valid Unicode, without what recall put there, without white space around it."""
    return clean(without_own_blocks(text)).strip()


def _text(value: object) -> str:
    """The text of a string, of a list of parts, or of an object that holds one of them."""
    if isinstance(value, dict):
        value = next((inner for key in TEXT_KEYS if (inner := value.get(key))), "")
    if isinstance(value, list):
        return "\n".join(text for part in value if (text := _part(part)))
    return value if isinstance(value, str) else ""


def _part(part: object) -> str:
    """The text of one part of a message; empty for an image, a thought or a tool's result."""
    if isinstance(part, dict) and part.get("type", "text") in PART_TYPES:
        part = part.get("text")
    return part if isinstance(part, str) else ""


def _string(record: Mapping[str, Any], *keys: str) -> str:
    """The first of the values under `keys` that is a string with something in it, cleaned; else empty."""
    strings = (value for key in keys if isinstance(value := record.get(key), str))
    return next((text for value in strings if (text := clean(value).strip())), "")


def _name(value: object) -> str:
    """A session's name: a string or a whole number."""
    if isinstance(value, str):
        return clean(value).strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
