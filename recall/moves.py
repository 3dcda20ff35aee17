"""Repositories that are no longer where their sessions ran: which repository they are now.

A person may have said so (relink.py). Else git's files tell: a file that moved along, a linked worktree that both name,
or the URL of the remote, where only one repository that exists has it. What is only likely is offered, never done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import apsw

from recall import archive
from recall.database import Row
from recall.identity import is_remote, remote_sign, signs_in, signs_of
from recall.marks import Marks, hidden_fields
from recall.places import (
    Place,
    common_directory,
    is_below,
    is_there,
    key_as_written,
    linked_worktrees,
    path_key,
    place_of,
    repository_named_by,
)
from recall.relink import Relink, destination, origins, relinks, repositories_below
from recall.rendering import shown

LINKED, ASKED = 64, 3
"""Linked worktrees whose paths are read, which takes 30 µs for each, and how many are asked whose they are."""

ALIKE = 0.6
"""How alike two names beside each other are, from 0 to 1, for one to be offered as the other's new name."""


@dataclass(frozen=True, slots=True)
class Known:
    """A repository, or a plain folder, that sessions ran in."""

    id: int
    key: str
    path: str

    @property
    def is_there(self) -> bool:
        return is_there(self.key, self.path)

    @property
    def was_git(self) -> bool:
        """Whether it was seen as a repository of git's; a plain folder, or one that was gone by then, was not."""
        return self.key.endswith(".git") or self.key != path_key(self.path)


def note_signs(connection: apsw.Connection, place: Place, remote: str, marks: Marks) -> None:
    """Store what a repository is known by, for the time when it is gone. remote: URL that a transcript names.

    Not what was forgotten, which the marks know. Inside the caller's transaction, after the place itself is stored.
    """
    row = connection.execute("select id from repositories where key = ?", (place.repository,)).fetchone()
    if row is None or not row[0]:
        return
    signs = signs_of(place)
    before = {str(sign) for (sign,) in connection.execute("select sign from signs where repository_id = ?", row)}
    if not signs:  # it is gone: the transcript is all there is
        signs = before | ({remote_sign(remote)} - {""})
    signs -= hidden_fields(connection, marks, signs)
    for sign in before - signs:
        connection.execute("delete from signs where repository_id = ? and sign = ?", (row[0], sign))
    for sign in signs - before:
        connection.execute("insert into signs values (?, ?)", (row[0], sign))


def covered(connection: apsw.Connection, place: Place, whole_repository: bool) -> list[tuple[int, int]]:
    """(repository id, worktree id) of all that a scope covers, under every name that the repository had."""
    known = archive.known_places(connection, archive.stored_place(place), whole_repository)
    told = relinks(connection)
    now = _relinked(told, place)
    common = common_directory(now)
    if common is None:
        now = _now(connection, now)
        common = common_directory(now)
    if now != place:
        known += archive.known_places(connection, archive.stored_place(now), whole_repository)
    for one in _family(connection, now, common, told):
        rows: list[Row] = connection.execute(_WORKTREES, (one.id,)).fetchall()
        for worktree_id, key, path in rows:
            is_main = path == one.path and now.worktree_path == now.repository_path
            if whole_repository or is_main or key in (place.worktree, now.worktree):
                known.append((one.id, int(worktree_id)))
    return list(dict.fromkeys(known))


def _now(connection: apsw.Connection, place: Place) -> Place:
    """The place of a repository that is gone under the name it has now; the same place where that is not known."""
    if place.kind == "unknown" or is_there(place.repository, place.repository_path):
        return place
    row = connection.execute("select id, key, path from repositories where key = ?", (place.repository,)).fetchone()
    heir = _heir(connection, Known(*row)) if row else None
    return _renamed(place, place_of(heir.path)) if heir else place


def _family(connection: apsw.Connection, place: Place, common: Path | None, told: list[Relink]) -> list[Known]:
    """Repositories that are gone from where they were and are now the one at the place."""
    found: dict[int, Known] = {}
    waiting = [place.repository_path]
    for moved in _moved_to(connection, place, common) if common else ():
        found[moved.id] = moved
        waiting.append(moved.path)
    for path in waiting if told else ():
        here = key_as_written(path)
        for old in origins(told, path):
            for one in (Known(*row) for row in repositories_below(connection, old)):
                if one.id in found or one.id == 0:
                    continue
                final = place_of(destination(told, one.path))
                if final.repository == place.repository or is_below(here, key_as_written(final.worktree_path)):
                    found[one.id] = one
                    waiting.append(one.path)
    return [one for one in found.values() if one.key != place.repository]


def offer(connection: apsw.Connection, place: Place) -> str:
    """One line that offers a relink, where a repository that is gone may be the one at the place; else empty."""
    from difflib import SequenceMatcher  # not at the top: a search that finds something needs none

    if common_directory(place) is None:
        return ""
    signs = {sign for sign in signs_of(place) if is_remote(sign)}
    belongs = {id for id, _ in covered(connection, place, True)}
    likely: list[tuple[int, int, Known]] = []
    rows: list[Row] = connection.execute(_WITH_SESSIONS).fetchall()
    for id, key, path, sessions in rows:
        one = Known(int(id), str(key), str(path))
        if one.id in belongs:
            continue
        old, new = PurePath(one.path), PurePath(place.repository_path)
        renamed = old.parent == new.parent and SequenceMatcher(None, old.name, new.name).ratio() >= ALIKE
        likeness = 3 if signs & _signs(connection, one) else 2 * (old.name == new.name) + renamed
        if likeness and (one.was_git or likeness == 3) and not one.is_there:
            likely.append((likeness, int(sessions), one))
    if not likely:
        return ""
    _, sessions, best = max(likely, key=lambda one: one[:2])
    ran = "1 session" if sessions == 1 else f"{sessions} sessions"
    more = f" ({len(likely) - 1} more are gone, see recall doctor)" if len(likely) > 1 else ""
    return shown(
        f"{ran} ran in {best.path}, which is gone; if that is this repository: "
        f"recall relink {_quoted(best.path)} {_quoted(place.repository_path)}{more}"
    )


def is_found_elsewhere(connection: apsw.Connection, one: Known) -> bool:
    """Whether the sessions of a repository that is gone are found from one that exists."""
    place = place_of(destination(relinks(connection), one.path))
    return common_directory(place) is not None or _heir(connection, one) is not None


def _relinked(told: list[Relink], place: Place) -> Place:
    if not told or place.kind == "unknown":
        return place
    path = destination(told, place.worktree_path)
    if path != place.worktree_path:
        return place_of(path)
    path = destination(told, place.repository_path)
    return _renamed(place, place_of(path)) if path != place.repository_path else place


def _renamed(place: Place, repository: Place) -> Place:
    """The place as one of that repository: its main checkout stays the main checkout."""
    if place.worktree_path == place.repository_path:
        return repository
    return replace(place, kind="git", repository=repository.repository, repository_path=repository.repository_path)


def _moved_to(connection: apsw.Connection, place: Place, common: Path) -> Iterator[Known]:
    """Repositories that are gone and of which git's files say that they are the one at the place."""
    linked = linked_worktrees(common, LINKED)
    keys = [key_as_written(path) for _, path in linked]
    named = [repository_named_by(Path(path), gitdir) for gitdir, path in linked[:ASKED]]
    rows: list[Row] = connection.execute(_OF_WORKTREES, (json.dumps(keys), json.dumps(named))).fetchall()
    for key in [key for key, (_, path) in zip(keys, linked, strict=True) if not os.path.lexists(path)]:
        slash = "/" if "/" in key else "\\"
        rows += connection.execute(_FOLDERS, (key + slash, key + chr(ord(slash) + 1))).fetchall()
    yield from (one for one in (Known(*row) for row in rows) if one.key != place.repository and not one.is_there)
    for sign in signs_in(common):
        gone, there = _sharing(connection, sign, place.repository)
        # Of two clones nobody knows which one a third belonged to.
        if not is_remote(sign):
            yield from gone
        elif not there:
            yield from (one for one in gone if _has_one_remote(connection, one))


def _heir(connection: apsw.Connection, one: Known) -> Known | None:
    """The repository that one which is gone is now, as far as the archive knows it; None where that is not certain."""
    for sign in sorted(_signs(connection, one)):
        _, there = _sharing(connection, sign, one.key)
        if len(there) == 1 and (not is_remote(sign) or _has_one_remote(connection, one)):
            return there[0]
    return None


def _sharing(connection: apsw.Connection, sign: str, key: str) -> tuple[list[Known], list[Known]]:
    """(those that are gone, the repositories that exist) with a sign, without the one of that key."""
    known = [Known(*row) for row in connection.execute(_WITH_SIGN, (sign, key))]
    gone = [one for one in known if not one.is_there]
    # What was noted may have changed since; a plain folder is no clone.
    there = [one for one in known if one not in gone and sign in signs_of(place_of(one.path))]
    return gone, there


def _has_one_remote(connection: apsw.Connection, one: Known) -> bool:
    """Whether all that is known of it is one remote; a folder that transcripts name may have held one after another."""
    return one.was_git or len([sign for sign in _signs(connection, one) if is_remote(sign)]) == 1


def _signs(connection: apsw.Connection, one: Known) -> set[str]:
    rows: Iterable[Row] = connection.execute("select sign from signs where repository_id = ?", (one.id,))
    return {str(sign) for (sign,) in rows}


def _quoted(path: str) -> str:
    return path if path and not set(path) & set(" \t'\"&|;<>()$`*?!#~[]{}") else f'"{path}"'


_WORKTREES = "select id, key, path from worktrees where repository_id = ?"
_OF_WORKTREES = """
select r.id, r.key, r.path from json_each(?) j join worktrees w on w.key = j.value
join repositories r on r.id = w.repository_id
union select r.id, r.key, r.path from json_each(?) j join repositories r on r.key = j.value where j.value <> ''
"""
_FOLDERS = """
select r.id, r.key, r.path from worktrees w join repositories r on r.id = w.repository_id
where w.key >= ? and w.key < ? and r.key = w.key
"""
_WITH_SIGN = """
select r.id, r.key, r.path from signs s join repositories r on r.id = s.repository_id where s.sign = ? and r.key <> ?
"""
_WITH_SESSIONS = """
select r.id, r.key, r.path, count(*) from sessions s join worktrees w on w.id = s.worktree_id
join repositories r on r.id = w.repository_id where r.id <> 0 group by r.id
"""
