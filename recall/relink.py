"""Where a person says that a directory has gone. Nothing is moved: places are looked up under both names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import apsw

from recall import archive
from recall.database import Database, Row
from recall.errors import NotFoundError, UsageError
from recall.places import (
    Place,
    is_below,
    is_there,
    is_windows_path,
    key_as_written,
    path_key,
    place_of,
    readable_path,
    real_path,
)
from recall.rendering import shown
from scanning import redact

NEAR = 3
"""Known places that are named where the one asked for is not known."""


@dataclass(frozen=True, slots=True)
class Relink:
    """What ran at or below the old path belongs to what is at or below the new one."""

    old_key: str
    old_path: str
    new_path: str
    """A real path."""

    def forward(self, path: str) -> str | None:
        """Where a path has gone; None for one that is not below the old path."""
        if not is_below(_key(path), self.old_key):
            return None
        return str(Path(self.new_path, *_parts(path)[len(_parts(self.old_key)) :]))

    def backward(self, path: str) -> str | None:
        """Where what is at a path was; None where nothing of it came from the old path."""
        key, new_key = _key(path), _key(self.new_path)
        if is_below(key, new_key):
            rest = _parts(path)[len(_parts(new_key)) :]
            return str(PurePath(self.old_path).joinpath(*rest)) if rest else self.old_path
        return self.old_path if is_below(new_key, key) else None


@dataclass(frozen=True, slots=True)
class RelinkReport:
    """What `Index.relink` or `Index.undo_relink` did."""

    old: str
    new: str
    repositories: tuple[tuple[str, int], ...]
    """(path, number of sessions) of every repository at or below the old path."""
    changed: bool
    """False where all was so before."""

    @property
    def sessions(self) -> int:
        return sum(count for _, count in self.repositories)


def relinks(connection: apsw.Connection) -> list[Relink]:
    """All of them, those of the innermost directories first."""
    rows: list[Row] = connection.execute(_RELINKS).fetchall()
    return [Relink(*row) for row in rows]


def destination(known: Iterable[Relink], path: str) -> str:
    """Where a path has gone in the end; the path itself where nobody said anything of it."""
    rest = list(known)
    while found := next(((one, to) for one in rest if (to := one.forward(path)) is not None), None):
        rest.remove(found[0])  # each counts once, so that nothing goes round in a circle
        path = found[1]
    return path


def origins(known: Sequence[Relink], path: str) -> list[str]:
    """The paths at or below which something may have been that is now at a path."""
    found = [path]
    for at in found:
        found += [old for one in known if (old := one.backward(at)) is not None and old not in found]
    return found[1:]


def repositories_below(connection: apsw.Connection, path: str) -> list[tuple[int, str, str]]:
    """(id, key, path) of the repositories at or below a path."""
    key = _key(path)
    inside = key.rstrip("/\\") + ("\\" if is_windows_path(path) else "/")
    return [
        (int(id), str(key), str(path))
        for id, key, path in connection.execute(_BELOW, (key, inside, inside[:-1] + chr(ord(inside[-1]) + 1)))
    ]


def relink(database: Database, old: str, new: str, even_existing: bool = False) -> RelinkReport:
    """From now on the sessions at or below `old`, also future ones, belong to what is at or below `new`.

    even_existing: also where `old` is a repository that still exists. Raises UsageError, NotFoundError.
    """
    old, new = _real(old), _real(new)
    for path in (old, new):
        if redact(path).text != path:
            raise UsageError("a path holds a secret, and is not stored for that; rename the folder first")
    if not Path(new).is_dir():
        raise UsageError(f"{new} is no directory; expected the one that what was in {old} has moved to")
    with database.write() as connection:
        found = _repositories(connection, old)
        if not found:
            raise _unknown(connection, old)
        if any(key == path_key(old) for _, key, _ in found):  # a git directory: what people mean is the checkout
            old = next(path for _, key, path in found if key == path_key(old))
        added = Relink(path_key(old), readable_path(old), readable_path(new))
        if is_below(added.old_key, path_key(new)) and is_below(path_key(new), added.old_key):
            raise UsageError(f"{old} and {new} are one directory; expected two")
        living = [path for _, key, path in found if is_there(key, path) and Path(path).is_dir()]
        if any(place_of(path).repository == place_of(added.forward(path) or new).repository for path in living):
            raise UsageError(f"{old} and {new} are one repository already; nothing has to be done")
        if living and not even_existing:
            raise UsageError(
                f"{living[0]} still exists; expected a directory that has moved or is gone: "
                f"if its sessions are to be found from {new} all the same, add --yes"
            )
        before = relinks(connection)
        changed = added not in before
        if changed:
            _remove_contrary(connection, before, added)
            connection.execute(_PUT, (added.old_key, added.old_path, added.new_path))
        return _report(connection, added, found, changed)


def undo_relink(database: Database, old: str) -> RelinkReport:
    """Take back what `relink` was told of `old`. Raises NotFoundError where it was told nothing."""
    old = _real(old)
    with database.write() as connection:
        known = {one.old_key: one for one in relinks(connection)}
        one = known.get(path_key(old))
        if one is None:
            told = "; ".join(shown(f"{one.old_path} → {one.new_path}") for one in known.values()) or "none"
            raise NotFoundError(f"{old} was never relinked; those that were: {told}")
        connection.execute("delete from relinks where old_key = ?", (one.old_key,))
        return _report(connection, one, _repositories(connection, old), True)


def _real(path: str) -> str:
    """A path that a person gave, from the root of its file system, links followed. Raises UsageError for none."""
    if not path.strip():
        raise UsageError("a path is empty; expected a directory")
    return real_path(path if place_of(path).kind != "unknown" else str(Path(path).expanduser().absolute()))


def _repositories(connection: apsw.Connection, old: str) -> list[tuple[int, str, str]]:
    return [one for one in repositories_below(connection, old) if one[0]]


def _remove_contrary(connection: apsw.Connection, before: list[Relink], added: Relink) -> None:
    """Forget what would lead back: who moves a directory back says the contrary, and the latest word counts."""
    path, rest = added.new_path, list(before)
    while found := next(((one, to) for one in rest if (to := one.forward(path)) is not None), None):
        rest.remove(found[0])
        path = found[1]
        if is_below(path_key(path), added.old_key):
            connection.execute("delete from relinks where old_key = ?", (found[0].old_key,))
            return


def _report(connection: apsw.Connection, one: Relink, found: list[tuple[int, str, str]], changed: bool) -> RelinkReport:
    counts = []
    for id, _, path in found:
        row = connection.execute(_COUNT, (id,)).fetchone()
        counts.append((shown(path), int(row[0]) if row else 0))
    return RelinkReport(shown(one.old_path), shown(one.new_path), tuple(counts), changed)


def _unknown(connection: apsw.Connection, old: str) -> Exception:
    from difflib import get_close_matches

    holding: Place = archive.stored_place(place_of(old))
    ids = {repository for repository, _ in archive.known_places(connection, holding, True)}
    paths = {int(id): str(path) for id, path in connection.execute("select id, path from repositories where id <> 0")}
    for id in ids & paths.keys():
        return UsageError(f"{old} is part of {shown(paths[id])}; relink that, as a whole")
    names = {PurePath(path).name: path for path in paths.values()} | {path: path for path in paths.values()}
    near = dict.fromkeys(
        names[name] for wanted in (old, PurePath(old).name) for name in get_close_matches(wanted, names, NEAR, 0.7)
    )
    told = f"near ones: {', '.join(map(shown, list(near)[:NEAR]))}" if near else "recall recent --all lists what is"
    return NotFoundError(f"no session is known that ran in {old} or below; {told}")


def _key(path: str) -> str:
    """As `path_key`, of a path that was stored without links: to follow them takes a hundred times as long."""
    return key_as_written(path, windows=is_windows_path(path))


def _parts(path: str) -> tuple[str, ...]:
    return (PureWindowsPath(path) if is_windows_path(path) else PurePosixPath(path)).parts


_RELINKS = "select old_key, old_path, new_path from relinks order by length(old_key) desc"
_BELOW = "select id, key, path from repositories where key = ? or (key >= ? and key < ?) order by key"
_PUT = """
insert into relinks values (?, ?, ?)
on conflict (old_key) do update set old_path = excluded.old_path, new_path = excluded.new_path
"""
_COUNT = "select count(*) from sessions s join worktrees w on w.id = s.worktree_id where w.repository_id = ?"
