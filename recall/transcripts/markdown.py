"""Markdown with role headings, as chats are copied and exported.

    ## User            **User:** why does it fail?       User: why does it fail?
    ### Assistant      **Claude**                        助手：缺少编译器。

A file keeps one style, that of its first role heading: `User:` under `## Assistant` is text. So is everything
within a fenced code block. What comes before the first role heading is not said by anybody.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, ClassVar, Literal

from recall.transcripts.generic import session_id_of, spoken
from recall.transcripts.own import is_own_json
from recall.transcripts.reader import Line
from recall.transcripts.text import clean
from recall.types import Message, Role, Session

Style = Literal["heading", "bold", "plain"]

_SPEAKERS: dict[str, Role] = {
    **dict.fromkeys(("user", "human", "用户", "人类"), "user"),
    **dict.fromkeys(("assistant", "ai", "claude", "chatgpt", "codex", "助手", "助理"), "assistant"),
}
_SILENT = ("system", "developer", "系统")
# As plain `Agent:` these also begin lines of settings and of reports.
_MARKED_SPEAKERS: dict[str, Role] = {
    **dict.fromkeys(("agent", "bot", "model", "gpt", "gemini", "copilot", "cursor", "claude code"), "assistant"),
    **dict.fromkeys(("tool", "tool output", "tool result", "工具"), "tool"),
}
_ROLES = _SPEAKERS | _MARKED_SPEAKERS

_PLAIN_NAME = "|".join((*_SPEAKERS, *_SILENT))
_NAME = "|".join((*_MARKED_SPEAKERS, *_SPEAKERS, *_SILENT))
_HEADINGS: dict[Style, re.Pattern[str]] = {
    "heading": re.compile(
        rf"#{{1,6}}[ \t]+\**({_NAME})(?: said)?\**(?:[ \t]*\([^()]*\))?\**[ \t]*(?:[:：]\**(.*)|#*)$",
        re.IGNORECASE,
    ),
    "bold": re.compile(rf"\*\*({_NAME})[ \t]*(?:[:：][ \t]*\*\*|\*\*[ \t]*[:：]|\*\*[ \t]*$)(.*)$", re.IGNORECASE),
    "plain": re.compile(rf"({_PLAIN_NAME})[ \t]*[:：](.*)$", re.IGNORECASE),
}
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_TITLE = re.compile(r"#[ \t]+(\S.*)")
_RULERS = ("---", "***", "___", "* * *")


@dataclass(frozen=True, slots=True)
class RoleHeading:
    """A line that says who speaks from here on."""

    style: Style
    role: Role | None
    """None for who is no part of the session: the system."""
    text: str
    """What stands on the same line after the name."""


class MarkdownReader:
    """Reads a Markdown file with role headings; one without them yields nothing."""

    agent: ClassVar[str] = "markdown"
    rewritten: ClassVar[bool] = True

    def __init__(self, path: PurePath, state: Mapping[str, Any] | None = None) -> None:
        self.session = Session(id=session_id_of(path), agent=self.agent)
        self.skipped: Counter[str] = Counter()
        self.style: Style | None = None
        """Style of the role headings; None before the first."""
        self._role: Role | None = None
        self._line = 0
        self._lines: list[str] = []
        self._fence = ""

    def state(self) -> dict[str, Any]:
        return {}

    def read(self, line: Line) -> Iterator[Message]:
        text = line.text.decode("utf-8", "replace").rstrip("\r")
        if self._fence:
            if _closes(text, self._fence):
                self._fence = ""
        elif fence := _FENCE.match(text):
            self._fence = fence[1]
        elif heading := role_heading(text, self.style):
            yield from self._flush()
            self.style = heading.style
            self._role, self._line, self._lines = heading.role, line.number, [heading.text]
            return
        if self.style is not None:
            self._lines.append(text)
        elif not self.session.title and not self._fence and (title := _TITLE.match(text)):
            self.session = replace(self.session, title=clean(title[1]).strip())

    def finish(self) -> Iterator[Message]:
        if self.style is None:
            self.skipped["no role heading"] = 1
        yield from self._flush()

    def _flush(self) -> Iterator[Message]:
        lines, self._lines = self._lines, []
        while lines and not lines[-1].strip():
            lines.pop()
        if lines and lines[-1].strip() in _RULERS:
            lines.pop()
        text = spoken("\n".join(lines))
        if self._role and text and not (self._role == "tool" and is_own_json(text)):
            yield Message(role=self._role, text=text, line=self._line)


def role_heading(line: str, style: Style | None = None) -> RoleHeading | None:
    """The role heading that a line is, of any style or of the given one; None for any other line."""
    for known, pattern in _HEADINGS.items():
        if style in (None, known) and (found := pattern.match(line)):
            return RoleHeading(known, _ROLES.get(found[1].casefold()), (found[2] or "").strip())
    return None


def _closes(line: str, fence: str) -> bool:
    """Whether a line closes a code block: a fence of the same character, not shorter, nothing after it."""
    line = line.strip()
    return len(line) >= len(fence) and not line.strip(fence[0])
