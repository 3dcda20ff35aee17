"""The tables of 0001_archive.sql: repositories, sessions and messages. What is here has been redacted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import apsw

from recall.database import Row
from recall.places import Place
from recall.privacy import is_private
from recall.types import Message, Session
from scanning import RULES_VERSION, redact

TITLE_LIMIT = 80
PREVIEW_LIMIT = 160


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message that was new to the archive, with what the tables derived from it need."""

    id: int
    session_id: int
    repository_id: int
    worktree_id: int
    role: str
    text: str
    said_at: int | None
    subagent: bool


class Occurrences:
    """Counts equal messages that carry no id, so that a text said twice is two messages and a line read twice is one.

    A reading that starts at the beginning of a file counts from nothing; one that goes on counts from what is stored.
    """

    def __init__(self, goes_on: bool) -> None:
        self._goes_on = goes_on
        self._counts: Counter[int] = Counter()

    def next(self, connection: apsw.Connection, session_id: int, digest: int) -> int:
        if self._goes_on and digest not in self._counts:
            row = connection.execute(_LAST_OCCURRENCE, (session_id, digest)).fetchone()
            self._counts[digest] = int(row[0]) if row and row[0] is not None else 0
        self._counts[digest] += 1
        return self._counts[digest]


def put_place(connection: apsw.Connection, place: Place) -> tuple[int, int]:
    """(repository id, worktree id) of a place; both 0 for an unknown one."""
    if not place.worktree:
        return 0, 0
    row: Row | None = connection.execute(_WORKTREE, (place.repository, place.worktree)).fetchone()
    if row is None and place.kind == "folder" and not Path(place.worktree_path).exists():
        row = removed_worktree(connection, place)
    if row is None:
        connection.execute(_ADD_REPOSITORY, (place.repository, place.repository_path))
        connection.execute(_ADD_WORKTREE, (place.worktree, place.worktree_path, place.repository))
        row = connection.execute(_WORKTREE, (place.repository, place.worktree)).fetchone()
        assert row is not None
    return int(row[0]), int(row[1])


def removed_worktree(connection: apsw.Connection, place: Place) -> tuple[int, int] | None:
    """(repository id, worktree id) of a git worktree that was known when a directory that is gone was still there.

    None where no known worktree holds that directory.
    """
    found: Row | None = connection.execute(_HOLDING_WORKTREE, (place.worktree,)).fetchone()
    return (found[0], found[1]) if found else None


def stored_place(place: Place) -> Place:
    """The place with any secret in its paths masked, as it is stored and looked up."""
    return replace(
        place,
        repository=redact(place.repository).text,
        worktree=redact(place.worktree).text,
        repository_path=redact(place.repository_path).text,
        worktree_path=redact(place.worktree_path).text,
    )


def known_places(connection: apsw.Connection, place: Place, whole_repository: bool) -> list[tuple[int, int]]:
    """(repository id, worktree id) of all that a scope covers: one worktree, or all of its repository.

    A repository that `git init` made of a plain folder has that folder's sessions too; a directory that is gone
    belongs to the worktree that held it.
    """
    rows: list[Row] = connection.execute(_KNOWN_PLACES, (place.repository, place.worktree)).fetchall()
    if not rows and place.kind == "folder" and not Path(place.worktree_path).exists():
        removed = removed_worktree(connection, place)
        return [removed] if removed else []
    return [(int(row[0]), int(row[1])) for row in rows if whole_repository or row[2] == place.worktree]


def put_session(connection: apsw.Connection, session: Session, worktree_id: int) -> int:
    """Row id of the session, added or brought up to date. What is known already is not overwritten by nothing."""
    values = {
        "name": session.id, "agent": session.agent, "title": session.title, "cwd": session.cwd,
        "worktree_id": worktree_id, "branch": session.branch, "remote": session.remote,
        "started_at": milliseconds(session.started_at), "parent": session.parent,
        "forked_from": session.forked_from, "imported": int(session.imported), "rules_version": RULES_VERSION,
        "prompts_only": int(session.prompts_only),
    }  # fmt: skip
    row = connection.execute(_PUT_SESSION, values).fetchone()
    if row is None:  # nothing to change
        row = connection.execute("select id from sessions where name = ?", (session.id,)).fetchone()
        assert row is not None
    return int(row[0])


def put_messages(
    connection: apsw.Connection,
    session_id: int,
    messages: Iterable[tuple[Message, tuple[int, int]]],
    occurrences: Occurrences,
    transcript_id: int | None = None,
) -> list[StoredMessage]:
    """Store messages with their (repository id, worktree id); those that were new come back, in order."""
    row = connection.execute("select max(number) from messages where session_id = ?", (session_id,)).fetchone()
    number = int(row[0] or 0) if row else 0
    stored = []
    for message, (repository_id, worktree_id) in messages:
        digest = digest_of(message)
        occurrence = 1 if message.key else occurrences.next(connection, session_id, digest)
        said_at = milliseconds(message.timestamp)
        added = connection.execute(
            _ADD_MESSAGE,
            (
                session_id, number + 1, message.role, message.tool, message.text, "\n".join(message.files), said_at,
                transcript_id, message.line, message.key, digest, occurrence, worktree_id, message.branch,
                int(message.subagent),
            ),
        ).fetchone()  # fmt: skip
        if added is None:
            continue
        number += 1
        stored.append(
            StoredMessage(
                int(added[0]), session_id, repository_id, worktree_id, message.role, message.text, said_at,
                message.subagent,
            )
        )  # fmt: skip
    return stored


def refresh_session(connection: apsw.Connection, session_id: int) -> None:
    """Bring the title, the preview and the times of a session up to date with its messages."""
    title, preview = first_words(connection, session_id)
    connection.execute(_REFRESH_SESSION, {"id": session_id, "title": title, "preview": preview})


def first_words(connection: apsw.Connection, session_id: int) -> tuple[str, str]:
    """(title, preview) that a session has from the first thing a person said in it."""
    first = connection.execute(_FIRST_WORDS, (session_id,)).fetchone()
    words = " ".join(str(first[0]).split()) if first else ""
    return shortened(words, TITLE_LIMIT), shortened(words, PREVIEW_LIMIT)


def ends_privately(connection: apsw.Connection, session_id: int | None) -> bool:
    """Whether the last thing that a person said in the session is one of which nothing was kept."""
    row = connection.execute(_LAST_WORDS, (session_id,)).fetchone()
    return row is not None and is_private(str(row[0]))


def has_other_title(connection: apsw.Connection, name: str, title: str) -> bool:
    """Whether that session is here under another title."""
    return bool(connection.execute("select 1 from sessions where name = ? and title <> ?", (name, title)).fetchone())


def put_title(connection: apsw.Connection, name: str, title: str) -> None:
    """Name a session."""
    connection.execute("update sessions set title = ? where name = ?", (title, name))


def is_forgotten(connection: apsw.Connection, name: str) -> bool:
    """Whether the session of that name was forgotten."""
    return connection.execute("select 1 from forgotten where session = ?", (name,)).fetchone() is not None


def id_of(connection: apsw.Connection, name: str) -> int | None:
    """Row id of the session of that name; None where it is not here."""
    row = connection.execute("select id from sessions where name = ?", (name,)).fetchone()
    return int(row[0]) if row else None


def name_of(connection: apsw.Connection, session_id: int | None) -> str:
    """The agent's id of a session; empty where there is none."""
    row = connection.execute("select name from sessions where id = ?", (session_id,)).fetchone()
    return str(row[0]) if row else ""


def digest_of(message: Message) -> int:
    """A number that equal messages share, whatever their white space: 64 bits of BLAKE2b, signed as SQLite stores."""
    text = f"{message.role}\0{' '.join(message.text.split())}"
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def shortened(text: str, limit: int) -> str:
    """`text` in at most `limit` code points, cut at a space where one is near, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ", limit * 2 // 3)
    return f"{cut[:space] if space > 0 else cut}…"


def milliseconds(time: datetime | None) -> int | None:
    """Milliseconds since 1970 in UTC; a naive time is taken as UTC."""
    if time is None:
        return None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return int(time.timestamp() * 1000)


def moment(ms: object) -> datetime | None:
    """The aware datetime, in the local zone, of milliseconds from the database."""
    if not isinstance(ms, int):
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone()


_WORKTREE = """
select r.id, w.id from worktrees w join repositories r on r.id = w.repository_id where r.key = ? and w.key = ?
"""
_KNOWN_PLACES = """
select r.id, w.id, w.key from repositories r join worktrees w on w.repository_id = r.id where r.key in (?, ?)
"""
_HOLDING_WORKTREE = """
select r.id, w.id, w.key from worktrees w join repositories r on r.id = w.repository_id
where r.key <> w.key and w.id <> 0 and (w.key = ?1 or substr(?1, 1, length(w.key) + 1) in (w.key || '/', w.key || '\'))
order by length(w.key) desc limit 1
"""
_ADD_REPOSITORY = "insert into repositories (key, path) values (?, ?) on conflict do nothing"
_ADD_WORKTREE = """
insert into worktrees (key, path, repository_id) select ?, ?, id from repositories where key = ?
"""
_PUT_SESSION = """
insert into sessions (name, agent, title, preview, cwd, worktree_id, branch, remote, started_at, updated_at, parent,
                      forked_from, imported, rules_version, prompts_only)
values (:name, :agent, :title, '', :cwd, :worktree_id, :branch, :remote, :started_at, null, :parent, :forked_from,
        :imported, :rules_version, :prompts_only)
on conflict (name) do update set
  title = iif(excluded.title <> '', excluded.title, title),
  cwd = iif(cwd <> '', cwd, excluded.cwd),
  worktree_id = iif(worktree_id <> 0, worktree_id, excluded.worktree_id),
  branch = iif(branch <> '', branch, excluded.branch),
  remote = iif(remote <> '', remote, excluded.remote),
  started_at = min(ifnull(started_at, excluded.started_at), ifnull(excluded.started_at, started_at)),
  parent = iif(parent <> '', parent, excluded.parent),
  forked_from = iif(forked_from <> '', forked_from, excluded.forked_from),
  imported = max(imported, excluded.imported),
  rules_version = min(rules_version, excluded.rules_version),
  prompts_only = min(prompts_only, excluded.prompts_only)
where (excluded.title <> '' and excluded.title <> title) or (cwd = '' and excluded.cwd <> '')
   or (worktree_id = 0 and excluded.worktree_id <> 0) or (branch = '' and excluded.branch <> '')
   or (remote = '' and excluded.remote <> '') or (started_at is null and excluded.started_at is not null)
   or excluded.started_at < started_at or (parent = '' and excluded.parent <> '')
   or (forked_from = '' and excluded.forked_from <> '') or excluded.imported > imported
   or excluded.rules_version < rules_version or excluded.prompts_only < prompts_only
returning id
"""
_LAST_OCCURRENCE = "select max(occurrence) from messages where session_id = ? and digest = ? and key = ''"
_ADD_MESSAGE = """
insert into messages (session_id, number, role, tool, text, files, said_at, transcript_id, line, key, digest,
                      occurrence, worktree_id, branch, subagent)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
returning id
"""
_FIRST_WORDS = """
select text from messages where session_id = ? and role = 'user' and text <> '' order by number limit 1
"""
_LAST_WORDS = "select text from messages where session_id = ? and role = 'user' order by number desc limit 1"
_REFRESH_SESSION = """
update sessions set
  title = iif(title <> '', title, :title),
  preview = iif(preview <> '', preview, :preview),
  started_at = ifnull(started_at, (select min(said_at) from messages where session_id = :id)),
  updated_at = ifnull((select max(said_at) from messages where session_id = :id), updated_at)
where id = :id
"""
