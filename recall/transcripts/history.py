"""Prompt histories, `history.jsonl` of Claude Code and of Codex: what a person typed, in every session of the agent.

They outlive the transcripts, which Claude Code deletes after 30 days. Claude Code writes `{"display", "pastedContents",
"timestamp", "project"}`, since 2.0 with `"sessionId"`; Codex `{"session_id", "ts", "text"}`, without a directory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import PurePath
from typing import Any, ClassVar

from recall.transcripts.claude_text import typed_text
from recall.transcripts.own import without_own_blocks
from recall.transcripts.reader import JsonLinesReader
from recall.types import Message, Session

GAP_MS = 3_600_000
"""Prompts of one project belong together as long as no more time is between them; where no line names its session."""

_PASTED = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d{1,6})(?: \+\d{1,9} lines)?(?:\.\.\.)?\]")
_COMMAND = re.compile(r"/[\w:.-]{1,80}(?:\s|\Z)")
_LATEST_MS = 253_402_300_799_000
"""The end of the year 9999."""


def is_history(record: Mapping[str, Any]) -> bool:
    """Whether a line is one of a prompt history."""
    if "type" in record or "role" in record:
        return False
    if isinstance(record.get("display"), str):
        return isinstance(record.get("project"), str) and "timestamp" in record
    return isinstance(record.get("text"), str) and "ts" in record and bool(_codex_session(record))


class HistoryReader(JsonLinesReader):
    """Reads one history; `session` is that of the prompt which was read last.

    A text that was pasted stands in its prompt as in the transcript; of one over 1,024 characters the history has
    the mark only. Commands of the agent (`/clear`) and of the shell (`!ls`) are no prompts.
    """

    agent: ClassVar[str] = "history"

    def __init__(self, path: PurePath, state: Mapping[str, Any] | None = None) -> None:
        self.session = Session("history", prompts_only=True)
        self.skipped = Counter()
        self._groups: dict[str, tuple[str, int]] = {
            project: (name, last) for project, (name, last) in (state or {}).get("groups", {}).items()
        }
        """By project: the session that its latest prompts without one were given, and when the last was typed."""

    def state(self) -> dict[str, Any]:
        return {"groups": {project: list(group) for project, group in self._groups.items()}}

    def record(self, record: dict[str, Any], number: int) -> Iterator[Message]:
        if not is_history(record):
            self.skipped["line without prompt"] += 1
            return
        typed = record.get("display")
        if isinstance(typed, str):
            milliseconds = _milliseconds(record.get("timestamp"), 1)
            text = _with_pasted(typed, record.get("pastedContents"))
            project, name = str(record["project"]), record.get("sessionId")
            if not isinstance(name, str) or not name:
                name = self._group(project, milliseconds or 0)
            self.session = Session(name, "claude", cwd=project, prompts_only=True)
        else:
            milliseconds = _milliseconds(record.get("ts"), 1000)
            text = str(record["text"])
            self.session = Session(_codex_session(record), "codex", prompts_only=True)
        text = without_own_blocks(typed_text(text)).strip()
        if text and not text.startswith("!") and not _COMMAND.match(text):
            said_at = datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds is not None else None
            # Hexadecimal, so that it is short enough to be no secret's shape.
            yield Message("user", text, said_at, number, key=f"{milliseconds:x}" if milliseconds is not None else "")

    def _group(self, project: str, milliseconds: int) -> str:
        place = _digest(project)
        name, last = self._groups.get(place, ("", 0))
        if not name or milliseconds - last > GAP_MS:
            name = f"prompts-{_digest(f'{project} {milliseconds}')}"
        # Those that can no longer grow need not be known.
        self._groups = {key: group for key, group in self._groups.items() if milliseconds - group[1] <= GAP_MS}
        self._groups[place] = (name, max(last, milliseconds))
        return name


def _with_pasted(text: str, pasted: Any) -> str:
    """The prompt with what was pasted in the place of its marks, as far as the history has it."""
    if not isinstance(pasted, dict) or not pasted:
        return text

    def content(mark: re.Match[str]) -> str:
        part = pasted.get(mark[1])
        held = part.get("content") if isinstance(part, dict) and part.get("type") == "text" else None
        return held if isinstance(held, str) else mark[0]

    return _PASTED.sub(content, text)


def _codex_session(record: Mapping[str, Any]) -> str:
    name = record.get("session_id") or record.get("conversation_id")
    return name if isinstance(name, str) else ""


def _milliseconds(value: Any, unit: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value * unit <= _LATEST_MS:
        return None
    return int(value * unit)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
