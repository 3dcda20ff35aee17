"""The memory folders of codex-self-evolution, one a directory, and which of them belong to one repository.

`<home>/projects/<path with - for />/memory/` holds the files; `.canonical_cwd` beside it names the directory, in newer
ones. Each worktree and each subdirectory had a folder of its own; a repository needs one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memory.markdown_merge import count_entries
from recall.places import common_directory, place_of

SIDECAR = ".canonical_cwd"
MARKDOWN = (".md", ".markdown")
CANDIDATES = 2
"""Directories that make a name ambiguous."""

_ARCHIVED = re.compile(r"\.archived\.[0-9TZ.-]+$")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be moved from one folder into another. `source` and `target` are folders below `projects`."""

    source: Path
    target: Path
    source_cwd: str
    target_cwd: str
    files: tuple[str, ...]
    """Files of the source's memory, relative to it, with `/`."""
    entries: int
    """Entries of its Markdown files."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A folder that stays as it is."""

    bucket: str
    reason: str


def plan_migration(home: Path) -> tuple[list[Plan], list[Skipped]]:
    """What belongs elsewhere, and what stays, by name. Changes nothing."""
    plans: list[Plan] = []
    skipped: list[Skipped] = []
    for bucket in sorted(_folders(home / "projects")):
        planned = _planned(bucket)
        if isinstance(planned, Plan):
            plans.append(planned)
        else:
            skipped.append(Skipped(bucket.name, planned))
    return plans, skipped


def memory_files(bucket: Path) -> list[str]:
    """Files below the memory folder of a bucket, relative to that and with `/`, by name."""
    folder = bucket / "memory"
    found = []
    for at, _, names in os.walk(folder):
        found += [(Path(at) / name).relative_to(folder).as_posix() for name in names if (Path(at) / name).is_file()]
    return sorted(found)


def is_markdown(name: str) -> bool:
    """Whether a file holds Markdown, as far as its name tells."""
    return name.lower().endswith(MARKDOWN)


def mangled(directory: str) -> str:
    """The name that the plugin gives to a directory. Several directories may share one."""
    return directory.replace("/", "-")


def _planned(bucket: Path) -> Plan | str:
    """The plan for a bucket, or the reason why it stays."""
    if _ARCHIVED.search(bucket.name):
        return "already archived"
    if bucket.is_symlink():
        return "is a link; nothing is moved through one"
    named = _named(bucket)
    if named is not None:
        cwds = [named]
    else:
        cwds = list(islice(_directories(Path("/"), bucket.name), CANDIDATES)) if bucket.name.startswith("-") else []
        if len(cwds) >= CANDIDATES:
            return f"its name may stand for {cwds[0]} or {cwds[1]}; write the right one into {bucket / SIDECAR}"
    if not cwds or not Path(cwds[0]).is_dir():
        return f"its directory no longer exists: {cwds[0] if cwds else bucket.name}"
    common = common_directory(place_of(cwds[0]))
    if common is None:
        return f"not in a git repository: {cwds[0]}"
    # The plugin's own rule, so that it finds what is merged here.
    target_cwd = str(common.parent if common.name == ".git" else common)
    target = bucket.parent / mangled(target_cwd)
    if target.name == bucket.name or os.path.realpath(cwds[0]) == target_cwd:
        return "already canonical"
    other = _named(target)
    if other is not None and os.path.realpath(other) != target_cwd:
        return f"the folder of its repository, {target.name}, is used by {other}"
    if target.is_symlink():
        return f"the folder of its repository, {target.name}, is a link"
    files = memory_files(bucket)
    entries = sum(count_entries((bucket / "memory" / name).read_bytes()) for name in files if is_markdown(name))
    return Plan(bucket, target, cwds[0], target_cwd, tuple(files), entries)


def _folders(projects: Path) -> list[Path]:
    try:
        return [entry for entry in projects.iterdir() if entry.is_dir()]
    except OSError:
        return []


def _named(bucket: Path) -> str | None:
    """The directory that a bucket's sidecar names; None where there is no sidecar, or nothing in it."""
    try:
        return (bucket / SIDECAR).read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _directories(folder: Path, rest: str) -> Iterator[str]:
    """The existing directories below `folder` whose path is written as `rest`."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if rest.startswith(f"-{entry.name}") and entry.is_dir())
    except OSError:
        return
    for name in names:
        left = rest[len(name) + 1 :]
        if not left:
            yield str(folder / name)
        elif left.startswith("-"):
            yield from _directories(folder / name, left)
