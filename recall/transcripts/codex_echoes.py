"""The two streams of a rollout: which texts came on one and still wait for their echo on the other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from recall.transcripts.times import time_of

Stream = Literal["item", "event"]

WAITING_LIMIT = 64
"""Texts that wait for their echo. It follows within a few lines; what waits longer than this has none."""
REPEAT_TIME = timedelta(seconds=2)
"""A review writes its prompt as two events within milliseconds. No person sends a text twice that fast."""

_PLAN, _PLAN_END = "<proposed_plan>", "</proposed_plan>"


class Echoes:
    """Tells a text that is said for the first time from its echo. Keeps digests, never a text."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        # (stream, digest), oldest first.
        self._waiting = [(str(stream), str(digest)) for stream, digest in state.get("waiting", ())]
        self._last_event: str = state.get("last_event", "")
        self._last_line: int = state.get("last_line", 0)
        self._last_time = time_of(state.get("last_time"))

    def state(self) -> dict[str, Any]:
        return {
            "waiting": self._waiting,
            "last_event": self._last_event,
            "last_line": self._last_line,
            "last_time": self._last_time.isoformat() if self._last_time else None,
        }

    def is_echo(self, stream: Stream, role: str, text: str, line: int, time: datetime | None) -> bool:
        """Whether the other stream has said `text`, or an equal event stands in the line before.

        Each text has one echo: what was really sent twice is said twice. A text that is no echo waits for
        its own.
        """
        digest = _digest(role, text)
        if stream == "event":
            is_next = line == self._last_line + 1 and _is_soon(self._last_time, time)
            is_repeat = is_next and digest == self._last_event
            self._last_event, self._last_line, self._last_time = digest, line, time
            if is_repeat:
                return True
        twin = ("event" if stream == "item" else "item", digest)
        if twin in self._waiting:
            self._waiting.remove(twin)
            return True
        self._waiting.append((stream, digest))
        del self._waiting[:-WAITING_LIMIT]
        return False


def _digest(role: str, text: str) -> str:
    # Events join the parts of a message in their own way, and leave out the plan of plan mode.
    text = "".join(_without_plans(text).split()) or text
    return hashlib.blake2b(f"{role}\n{text}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _without_plans(text: str) -> str:
    kept, end = [], 0
    while (start := text.find(_PLAN, end)) >= 0 and (closing := text.find(_PLAN_END, start)) >= 0:
        kept.append(text[end:start])
        end = closing + len(_PLAN_END)
    return "".join(kept) + text[end:]


def _is_soon(earlier: datetime | None, later: datetime | None) -> bool:
    return earlier is None or later is None or abs(later - earlier) < REPEAT_TIME
