"""Carrying out and taking back what legacy_buckets.py plans. At every moment each line is in one of the files.

Backups and a record of what every file is to become are written first, then each target file is replaced at once, then
the source is renamed. A run that was killed is made good by running it again, or by taking it back.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from memory.errors import MemoryStoreError
from memory.json_merge import merge_json
from memory.legacy_buckets import SIDECAR, Plan, is_markdown, memory_files
from memory.markdown_merge import count_entries, merge
from recall.errors import BusyError
from recall.files import replace_file
from recall.locks import alone

TRIES = 5
"""How often a file is read again that somebody else changes meanwhile."""

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of one plan."""

    plan: Plan
    archived_as: str
    merged_entries: int
    kept_aside: tuple[str, ...]
    """New files of the target that hold what could not be merged."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the target: what it held, and what it is to hold. None: it did not exist."""

    name: str
    before: bytes | None
    after: bytes
    source: Path
    entries: int
    aside: bool = False
    """Whether it holds what could not be merged."""


def apply(home: Path, plans: list[Plan], now: datetime | None = None) -> list[Applied]:
    """Merge each source into its target and archive it; one that fails stops no other. Raises MemoryStoreError."""
    if not plans:
        return []
    stamp = (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    with _locked(home):
        folder = _free(home / "backups" / f"migrate-worktrees-{stamp}")
        folder.mkdir(mode=0o700, parents=True)
        record: Record = {"home": str(home), "undone": False, "plans": []}
        return [_applied(plan, folder, record, stamp) for plan in plans]


def undo(home: Path) -> list[str]:
    """Take back the latest migration that was not taken back; the folders that are as they were, by name.

    Raises MemoryStoreError, and changes nothing, where a file is no longer what the migration made of it.
    """
    with _locked(home):
        for folder in sorted((home / "backups").glob("migrate-worktrees-*"), key=_age, reverse=True):
            path = folder / "record.json"
            record: Record = _read(path)
            if record["plans"] and not record["undone"]:
                drift = [reason for plan in record["plans"] for reason in _drift(plan, record["plans"])]
                if drift:
                    raise MemoryStoreError(
                        f"not taken back, for it would lose what was written since: {'; '.join(drift)}; "
                        f"what there was before is in {folder}"
                    )
                for plan in reversed(record["plans"]):
                    _restore(plan, folder)
                replace_file(path, _json(record | {"undone": True}))
                return [Path(plan["source"]).name for plan in record["plans"]]
    raise MemoryStoreError(f"no migration to take back in {home / 'backups'}")


def _applied(plan: Plan, folder: Path, record: Record, stamp: str) -> Applied:
    archived = _free(plan.source.with_name(f"{plan.source.name}.archived.{stamp}"))
    is_touched = False
    try:
        entries, aside, source = 0, list[str](), plan.source
        if not source.is_dir():
            raise MemoryStoreError(f"{source} is no longer there; run the command again")
        # Again from what was archived, if somebody wrote into it between the reading and the renaming.
        for _ in range(TRIES):
            read = _digests(source)
            files = _merged(source, plan.target, plan.source.name)
            _enter(record, plan, archived, files, read, folder)
            for file in files:
                _replace(plan.target / "memory" / file.name, file)
                is_touched = True
                entries += file.entries
                aside += [file.name] if file.aside else []
            if plan.target.is_dir() and not (plan.target / SIDECAR).exists():
                replace_file(plan.target / SIDECAR, f"{plan.target_cwd}\n".encode())
            if source != archived:
                source.rename(archived)
                source, is_touched = archived, True
            if _digests(source) == read:
                return Applied(plan, archived.name, entries, tuple(aside))
        raise MemoryStoreError(f"{source} is being written to; try again later")
    except (OSError, MemoryStoreError) as error:
        if not is_touched:  # what came to nothing is nothing to take back
            record["plans"] = [one for one in record["plans"] if one["source"] != str(plan.source)]
            replace_file(folder / "record.json", _json(record))
        return Applied(plan, archived.name if archived.exists() else "", 0, (), str(error))


def _merged(source: Path, target: Path, bucket: str) -> list[_File]:
    """The files of the target that change."""
    files = []
    for name in memory_files(source):
        path, own = source / "memory" / name, target / "memory" / name
        theirs, ours = path.read_bytes(), _content(own)
        if ours is None and not os.path.lexists(own):
            added = count_entries(theirs) if is_markdown(name) else 0
            files.append(_File(name, None, theirs, path, added))
            continue
        merged, added = (None, 0) if ours is None else _together(name, ours, theirs)
        if merged is None:
            name, ours = _aside(target / "memory", name, bucket, theirs)
            files.append(_File(name, ours, theirs, path, 0, aside=True))
        else:
            files.append(_File(name, ours, merged, path, added))
    return [file for file in files if file.after != file.before]


def _together(name: str, ours: bytes, theirs: bytes) -> tuple[bytes | None, int]:
    """(the merged file, entries it got); None where the two do not go into one file."""
    try:
        if ours == theirs:
            return ours, 0
        if is_markdown(name):
            merged = merge(ours, theirs)
            return merged.content, merged.added
        return (merge_json(ours, theirs) if name.lower().endswith(".json") else None), 0
    except (ValueError, RecursionError):
        return None, 0


def _aside(folder: Path, name: str, bucket: str, content: bytes) -> tuple[str, bytes | None]:
    """(name, what it holds) of a file beside `name` that does not exist yet, or holds that content already."""
    path, number = PurePosixPath(name), 1
    while True:
        again = f".{number}" if number > 1 else ""
        beside = str(path.with_name(f"{path.stem[:80]}.from-{bucket[-80:].strip('-')}{again}{path.suffix}"))
        held = _content(folder / beside)
        if held == content or not os.path.lexists(folder / beside):
            return beside, held
        number += 1


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _enter(
    record: Record, plan: Plan, archived: Path, files: list[_File], source: dict[str, str], folder: Path
) -> None:
    """Write down what is about to happen, and back up what it changes."""
    number = next((at for at, one in enumerate(record["plans"]) if one["source"] == str(plan.source)), None)
    if number is None:
        number = len(record["plans"])
        made = [str(one) for one in (plan.target, plan.target / "memory") if not one.exists()]
        entry: Record = {
            "source": str(plan.source), "archived": str(archived), "target": str(plan.target), "files": {},
            "made": made, "sidecar": None if (plan.target / SIDECAR).exists() else f"{plan.target_cwd}\n",
        }  # fmt: skip
        record["plans"].append(entry)
    entry = record["plans"][number]
    entry["digests"] = source
    for file in files:
        known = entry["files"].setdefault(file.name, {"before": None, "digests": []})
        if not known["digests"]:
            known["digests"].append(_digest(file.before))
        if len(known["digests"]) == 1 and file.before is not None:
            known["before"] = f"{number}/{file.name}"
            backup = folder / known["before"]
            backup.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(backup, file.before)
            shutil.copymode(plan.target / "memory" / file.name, backup)
        known["digests"].append(_digest(file.after))
    replace_file(folder / "record.json", _json(record))


def _replace(path: Path, file: _File) -> None:
    """Put the merged text in the place of what was read. Raises MemoryStoreError where that is no longer there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if _content(path) != file.before:
        raise MemoryStoreError(f"{path} was written to while it was being merged; run the command again")
    replace_file(path, file.after, like=file.source if file.before is None else path)


def _drift(plan: Record, plans: list[Record]) -> list[str]:
    """What is no longer as the migration left it, or would have left it had it not been killed."""
    drift = []
    source, archived, target = Path(plan["source"]), Path(plan["archived"]), Path(plan["target"])
    if archived.exists() and source.exists():
        drift.append(f"{source} is there again")
    held = archived if archived.exists() else source
    if _digests(held) != plan["digests"]:
        drift.append(f"{held} has changed")
    together = [one["files"] for one in plans if one["target"] == plan["target"]]
    for name in plan["files"]:
        expected = [digest for files in together if name in files for digest in files[name]["digests"]]
        if _digest(_content(target / "memory" / name)) not in expected:
            drift.append(f"{target / 'memory' / name} has changed")
    return drift


def _restore(plan: Record, folder: Path) -> None:
    target, archived, source = Path(plan["target"]), Path(plan["archived"]), Path(plan["source"])
    for name, file in plan["files"].items():
        path = target / "memory" / name
        if file["before"] is not None:
            backup = folder / file["before"]
            replace_file(path, backup.read_bytes(), like=backup)
        else:
            path.unlink(missing_ok=True)
    sidecar = target / SIDECAR
    if plan["sidecar"] is not None and sidecar.is_file() and sidecar.read_text(encoding="utf-8") == plan["sidecar"]:
        sidecar.unlink()
    for made in sorted(plan["made"], key=len, reverse=True):
        for inside in sorted(Path(made).rglob("*"), key=lambda path: len(path.parts), reverse=True):
            _remove_empty(inside)
        _remove_empty(Path(made))
    if archived.exists():
        archived.rename(source)


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()


def _digests(bucket: Path) -> dict[str, str]:
    """Digest of every file of a bucket's memory, by name."""
    return {name: _digest((bucket / "memory" / name).read_bytes()) for name in memory_files(bucket)}


def _digest(content: bytes | None) -> str:
    """Empty for a file that does not exist."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _read(path: Path) -> Record:
    content = _content(path)
    if content is None:  # killed before it had done anything
        return {"plans": [], "undone": True}
    record: Record = json.loads(content.decode("utf-8", "surrogateescape"))
    return record


def _json(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape")


def _age(folder: Path) -> tuple[str, int]:
    """In the order in which `_free` names them."""
    stamp, _, number = folder.name.partition("Z")
    return stamp, int(number[1:]) if number[1:].isdecimal() else 1


def _free(path: Path) -> Path:
    """The path, or the first like it that is not taken."""
    number, free = 1, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """One migration at a time; the lock dies with its process. Raises MemoryStoreError where there is no such home."""
    if not home.is_dir():
        raise MemoryStoreError(f"{home} does not exist; expected the home of codex-self-evolution: name it with --home")
    try:
        with alone(home / ".migrate-worktrees.lock", f"another migration is at work in {home}; wait for it to end"):
            yield
    except BusyError as error:
        raise MemoryStoreError(str(error)) from error
