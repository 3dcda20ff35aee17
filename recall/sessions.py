"""Reading sessions back from the archive: summaries, the latest ones, and the messages around a place."""

from __future__ import annotations

import os
from collections.abc import Iterable

import apsw

from recall.archive import moment
from recall.database import Row
from recall.errors import NotFoundError, UsageError
from recall.rendering import safe_text, shown
from recall.scope_sql import ScopeSql
from recall.types import SessionSummary, ShownMessage, Source
from scanning import RULES_VERSION

PROMPTS_ONLY = "(prompts only)"
"""What the title of a session begins with of which only the prompts are known."""

WINDOW_MAX = 200
"""Messages that `show` gives on either side at most."""


def summaries(connection: apsw.Connection, session_ids: Iterable[int]) -> dict[int, SessionSummary]:
    """Row id to summary."""
    found = {}
    for session_id in set(session_ids):
        row = connection.execute(f"{_SUMMARY} where s.id = ?", (session_id,)).fetchone()
        if row:
            found[session_id] = _summary(row)
    return found


def latest(connection: apsw.Connection, where: ScopeSql, limit: int) -> list[SessionSummary]:
    """The sessions with something inside the scope, newest first."""
    sql = f"""{_SUMMARY} where s.id in (select p.session_id from passages p where {where.sql})
    order by ifnull(s.updated_at, s.started_at) desc nulls last, s.id desc limit ?"""
    return [_summary(row) for row in connection.execute(sql, (*where.values, limit))]


def window(connection: apsw.Connection, ref: str, before: int, after: int) -> list[ShownMessage]:
    """The message that `ref` names, with those before and after it in its session, in order.

    Raises UsageError for a ref of another form, NotFoundError where there is no such message.
    """
    name, _, number_text = ref.rpartition(":")
    if not name or not number_text.isdecimal():
        raise UsageError(f'"{ref}" is no ref; expected <session id>:<message number>, as search prints it')
    if min(before, after) < 0:
        raise UsageError(f"before is {before} and after {after}; expected 0 or more")
    (session_id, name), number = named(connection, name), int(number_text)
    first, last = number - min(before, WINDOW_MAX), number + min(after, WINDOW_MAX)
    rows = connection.execute(_WINDOW, (session_id, first, last)).fetchall() if last < 2**63 else []
    if not any(row[0] == number for row in rows):
        held = connection.execute(_NUMBERS, (session_id,)).fetchone()
        assert held is not None
        range_held = f"{held[0]} to {held[1]}" if held[0] is not None else "none: all of it is a copy"
        raise NotFoundError(f'session "{name}" has no message {number} of its own; it has {range_held}')
    return [_shown(name, row) for row in rows]


def named(connection: apsw.Connection, name: str) -> tuple[int, str]:
    """(row id, name) by name, or by a beginning of the name that only one session has. Raises NotFoundError."""
    rows: list[Row] = connection.execute("select id, name from sessions where name = ?", (name,)).fetchall()
    if not rows and len(name) >= 4:
        pattern = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        rows = connection.execute(
            "select id, name from sessions where name like ? escape '\\' limit 2", (pattern,)
        ).fetchall()
    if not rows:  # it may have been shown under a name that was masked on its way out
        old = connection.execute("select id, name from sessions where rules_version < ?", (RULES_VERSION,))
        rows = [row for row in old if shown(str(row[1])) == name]
    if not rows:
        raise NotFoundError(f'no session is named "{name}"; list those of this repository with: recall recent')
    if len(rows) > 1:
        raise NotFoundError(f'more than one session begins with "{name}"; give more of its id')
    return rows[0][0], rows[0][1]


def _summary(row: Row) -> SessionSummary:
    rules = int(row[13])
    name, agent, parent = shown(str(row[0]), rules), safe_text(str(row[1])), shown(str(row[8]), rules)
    title = shown(str(row[2]), rules)
    worktree, source = str(row[4]), str(row[11] or "")
    removed = not _exists(worktree)
    # Claude Code looks for a session below the name of the directory one stands in.
    can_resume = not row[14] and _exists(source) and not (removed and agent == "claude")
    return SessionSummary(
        id=name,
        agent=agent,
        title=f"{PROMPTS_ONLY} {title}" if row[14] else title,
        repository=shown(str(row[3]), rules),
        worktree=shown(str(row[4]), rules),
        branch=shown(str(row[5]), rules),
        started_at=moment(row[6]),
        updated_at=moment(row[7]),
        parent=parent,
        message_count=int(row[9] or 0),
        preview=shown(str(row[10]), rules),
        source=shown(source, rules),
        resume=_resume(agent, name, parent) if can_resume else "",
        first_ref=f"{name}:{row[12] or 1}",
        prompts_only=bool(row[14]),
        worktree_removed=removed,
    )


def _exists(path: str) -> bool:
    """Whether a stored path leads somewhere; true for none, and for one that is masked."""
    try:
        return not path or "[REDACTED:" in path or os.path.lexists(path)
    except ValueError:
        return False


def _resume(agent: str, name: str, parent: str) -> str:
    """How the agent reopens the session. One that another agent started is reopened through that one's session."""
    command = {"codex": "codex resume", "claude": "claude --resume"}.get(agent)
    return f"{command} {parent or name}" if command else ""


def _shown(name: str, row: Row) -> ShownMessage:
    role, rules = str(row[1]), int(row[8])
    return ShownMessage(
        ref=f"{shown(name, rules)}:{row[0]}",
        number=int(row[0] or 0),
        role="user" if role == "user" else "assistant" if role == "assistant" else "tool",
        tool=shown(str(row[2]), rules),
        timestamp=moment(row[3]),
        text=shown(str(row[4]), rules),
        source=Source(shown(str(row[5] or ""), rules), int(row[6] or 0)),
        subagent=bool(row[7]),
    )


_SUMMARY = """
select s.name, s.agent, s.title, r.path, w.path, s.branch, s.started_at, s.updated_at, s.parent,
  (select count(*) from messages m where m.session_id = s.id and m.copied_from is null), s.preview,
  ifnull((select t.path from transcripts t where t.session_id = s.id order by t.id desc limit 1),
    (select t.path from messages m join transcripts t on t.id = m.transcript_id where m.session_id = s.id limit 1)),
  (select min(number) from messages m where m.session_id = s.id and m.copied_from is null), s.rules_version,
  s.prompts_only
from sessions s join worktrees w on w.id = s.worktree_id join repositories r on r.id = w.repository_id
"""
_WINDOW = """
select m.number, m.role, m.tool, m.said_at, m.text, t.path, m.line, m.subagent, s.rules_version
from messages m join sessions s on s.id = m.session_id left join transcripts t on t.id = m.transcript_id
where m.session_id = ? and m.number between ? and ? and m.copied_from is null order by m.number
"""
_NUMBERS = "select min(number), max(number) from messages where session_id = ? and copied_from is null"
