"""Whose session a rollout is: its own, a fork, a subagent's, one of ours, or one imported from Claude."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

from recall.transcripts.own import OWN_ORIGINATORS
from recall.transcripts.text import clean
from recall.transcripts.times import time_of
from recall.types import Session

IMPORTED_TURN = "external-import-turn-"
"""How the ids of imported turns begin."""

TURN_BEGINS = frozenset({"task_started", "turn_started"})


class Origin:
    """What the lines without words tell of a rollout, learned line by line."""

    def __init__(self, agent: str, fallback_id: str, state: Mapping[str, Any]) -> None:
        self.session = Session(
            id=state.get("id") or fallback_id,
            agent=agent,
            started_at=time_of(state.get("started_at")),
            cwd=state.get("session_cwd", ""),
            parent=state.get("parent", ""),
            forked_from=state.get("forked_from", ""),
            imported=state.get("imported", False),
        )
        self.is_known: bool = state.get("is_known", False)
        """Whether the line that owns the file has come."""
        self.is_silent: bool = state.get("is_silent", False)
        """A background session: nobody said anything in it."""
        self.is_subagent: bool = state.get("is_subagent", False)
        self.is_imported_turn: bool = state.get("is_imported_turn", False)
        self.turn_time = time_of(state.get("turn_time"))
        """When an imported turn really was; None in any other turn."""
        self.cwd: str = state.get("cwd", "")
        """Working directory of the turn."""
        self._has_copy: bool = state.get("has_copy", False)
        self._own_from: int = state.get("own_from", 0)
        self._is_inherited_turn: bool = state.get("is_inherited_turn", False)

    def state(self) -> dict[str, Any]:
        """Without title, branch and remote, which reading on does not need: they may hold a secret."""
        return {
            "id": self.session.id,
            "started_at": iso(self.session.started_at),
            "session_cwd": self.session.cwd,
            "parent": self.session.parent,
            "forked_from": self.session.forked_from,
            "imported": self.session.imported,
            "is_known": self.is_known,
            "is_silent": self.is_silent,
            "is_subagent": self.is_subagent,
            "is_imported_turn": self.is_imported_turn,
            "turn_time": iso(self.turn_time),
            "cwd": self.cwd,
            "has_copy": self._has_copy,
            "own_from": self._own_from,
            "is_inherited_turn": self._is_inherited_turn,
        }

    def learn_meta(self, meta: dict[str, Any], time: datetime | None) -> None:
        """From a `session_meta`. Only the first owns the file; a second is that of the session it copies."""
        identity = string(meta, "id")
        if self.is_known:
            if identity and identity != self.session.id:
                self._has_copy = True
                self.session = replace(self.session, forked_from=self.session.forked_from or identity)
            return
        self.is_known = True
        git, source, thread_source = table(meta, "git"), table(meta, "source"), string(meta, "thread_source")
        spawn = table(table(source, "subagent"), "thread_spawn")
        self.is_subagent = "subagent" in source or thread_source == "subagent"
        # Memory consolidation is a background job of Codex that sums up other sessions.
        jobs = (string(source, "subagent"), string(source, "internal"), thread_source)
        self.is_silent = string(meta, "originator") in OWN_ORIGINATORS or "memory_consolidation" in jobs
        own_from = meta.get("subagent_history_start_ordinal")
        self._own_from = own_from if isinstance(own_from, int) and abs(own_from) < 2**53 else 0
        self.cwd = string(meta, "cwd")
        self.session = replace(
            self.session,
            id=identity or self.session.id,
            started_at=time_of(meta.get("timestamp")) or time,
            cwd=self.cwd,
            branch=string(git, "branch"),
            remote=string(git, "repository_url"),
            parent=string(meta, "parent_thread_id") or string(spawn, "parent_thread_id"),
            forked_from=string(meta, "forked_from_id"),
        )

    def learn_context(self, context: dict[str, Any]) -> None:
        """From a `turn_context`."""
        self.cwd = string(context, "cwd") or self.cwd
        if not self.session.cwd:
            self.session = replace(self.session, cwd=self.cwd)

    def learn_name(self, event: dict[str, Any]) -> None:
        """From a `thread_name_updated`; a fork holds those of its parent too."""
        if string(event, "thread_id") in ("", self.session.id):
            self.session = replace(self.session, title=string(event, "thread_name"))

    def learn_turn(self, turn: dict[str, Any]) -> None:
        """From the event that begins a turn."""
        begun, turn_begun = self.session.started_at, time_of(turn.get("started_at"))
        self.is_imported_turn = string(turn, "turn_id").startswith(IMPORTED_TURN)
        # An import stamps its lines and its session_meta with its own time, the turn with that of the words.
        self.turn_time = turn_begun if self.is_imported_turn else None
        if self.is_imported_turn and not self.session.imported:
            self.session = replace(self.session, imported=True, started_at=turn_begun or begun)
        # A subagent may begin with a copy of its parent's words: lines are stamped anew, turns are not.
        self._is_inherited_turn = (
            self.is_subagent
            and self._has_copy
            and begun is not None
            and turn_begun is not None
            and begun - turn_begun > timedelta(seconds=1)
        )

    def is_inherited(self, record: dict[str, Any], payload: dict[str, Any]) -> bool:
        """Whether a subagent's line is only a copy of its parent's."""
        ordinal = record.get("ordinal")
        if isinstance(ordinal, int) and ordinal < self._own_from:
            return True
        return self._is_inherited_turn and string(payload, "type") not in TURN_BEGINS


def string(value: Any, key: str) -> str:
    """The string under `key`, fit to be stored; empty where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return clean(found) if isinstance(found, str) else ""


def table(value: Any, key: str) -> dict[str, Any]:
    """The object under `key`; empty where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def call_id(item: dict[str, Any], key: str) -> str:
    """A short name of a call, empty where it has none. It is kept in the state, and an id may be any text."""
    identity = string(item, key)
    return blake2b(identity.encode("utf-8"), digest_size=8).hexdigest() if identity else ""
