"""What the path and the lines of a Claude Code transcript tell about its session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from recall.transcripts.times import time_of
from recall.types import Session

REMEMBERED = 200
"""How much of each kind a reader takes with it from one reading to the next: keys, calls, ids of lines."""

TITLES = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "agent-name": "agentName",
    "summary": "summary",
}
"""Line types that name the session, with the field that holds the name. The first type there is wins."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ERROR = re.compile(
    r"API Error|Invalid API key|Credit balance|Prompt is too long|Request timed out|OAuth|"
    r"Claude (?:AI )?usage limit|.*Please run /login",
    re.IGNORECASE,
)


class SessionFacts:
    """Gathers the `session` line by line.

    Its id is the file's name where that is a session id, since the lines of a fork or a resume may carry
    another one. A subagent's is `<session id>/<file name>`: agents of one session have the same `sessionId`.
    """

    def __init__(self, path: PurePath, state: Mapping[str, Any] | None) -> None:
        self._stem = string(path.stem) or "unnamed"
        self.of_agent = self._stem.startswith("agent-")
        self.session = Session(self._stem, "claude")
        self._titles: dict[str, str] = {}
        # A summary names the conversation that ends at a line, which may follow, or stand in another file.
        self._summaries: dict[str, str] = {}
        self._lines: dict[str, None] = {}
        self._named = not self.of_agent and _UUID.fullmatch(self._stem) is not None
        if parent := _parent_of(path) if self.of_agent else "":
            self._name(parent)
        if state is not None:
            known = state["session"]
            self.session = replace(self.session, **known | {"started_at": time_of(known["started_at"])})
            self._titles = dict(state["titles"])
            self._summaries = dict(state["summaries"])
            self._lines = dict.fromkeys(state["lines"])
            self._named = state["named"]

    def state(self) -> dict[str, Any]:
        session = self.session
        return {
            "session": {
                "id": session.id,
                "title": session.title,
                "started_at": session.started_at.isoformat() if session.started_at else None,
                "cwd": session.cwd,
                "branch": session.branch,
                "parent": session.parent,
                "forked_from": session.forked_from,
            },
            "titles": dict(self._titles),
            "summaries": dict(list(self._summaries.items())[-REMEMBERED:]),
            "lines": list(self._lines)[-REMEMBERED:],
            "named": self._named,
        }

    def learn(self, record: dict[str, Any]) -> None:
        """Take from a line what it tells, of whatever type it is."""
        given = string(record.get("sessionId"))
        if given and not self._named:
            self._name(given)
        session = self.session
        # Where a fork was forked itself, its history names both; the last one is the session it copies.
        forked_from = string(record.get("requestSessionId")) if not self.of_agent else ""
        if forked_from in ("", given, session.id):
            forked_from = session.forked_from
        self.session = replace(
            session,
            started_at=session.started_at or time_of(record.get("timestamp")),
            cwd=session.cwd or string(record.get("cwd")),
            branch=session.branch or branch_of(record),
            forked_from=forked_from,
        )
        if line := string(record.get("uuid")):
            self._lines[line] = None
            if line in self._summaries:
                self._learn_title("summary", self._summaries.pop(line))
        kind = record.get("type")
        if isinstance(kind, str) and kind in TITLES:
            title, leaf = string(record.get(TITLES[kind])).strip(), string(record.get("leafUuid"))
            if kind != "summary" or leaf in self._lines:
                self._learn_title(kind, title)
            else:
                self._summaries[leaf] = title

    def _learn_title(self, kind: str, title: str) -> None:
        # When no title could be generated, 1.0 wrote the error in its place.
        if title and (kind == "custom-title" or not _ERROR.match(title)):
            self._titles[kind] = title
            best = next(self._titles[kind] for kind in TITLES if kind in self._titles)
            self.session = replace(self.session, title=best)

    def _name(self, session_id: str) -> None:
        self._named = True
        if self.of_agent:
            self.session = replace(self.session, id=f"{session_id}/{self._stem}", parent=session_id)
        else:
            self.session = replace(self.session, id=session_id)


def _parent_of(path: PurePath) -> str:
    """The folder that holds `subagents`, named like the session; empty where the path has none."""
    folders = path.parts[:-1]
    at = max((number for number, folder in enumerate(folders) if folder == "subagents"), default=0)
    return string(folders[at - 1]) if at else ""


def branch_of(record: dict[str, Any]) -> str:
    """The git branch of a line; empty on a detached HEAD."""
    branch = string(record.get("gitBranch"))
    return "" if branch == "HEAD" else branch


def string(value: Any) -> str:
    """An id, a name or a directory, fit for JSON and SQLite; empty where the value is no string."""
    if not isinstance(value, str):
        return ""
    return value.replace("\x00", "").encode("utf-8", "replace").decode()
