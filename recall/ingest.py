"""Taking transcripts in, file by file: only what is new, each message once, whatever happened to the file."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from recall import archive, ledger
from recall.ahead import MOST_WORKERS, WORTH_BYTES, Ahead, Settings
from recall.database import Database
from recall.errors import TranscriptError
from recall.intake import Intake
from recall.ledger import Entry
from recall.marks import hidden_fields
from recall.minilm import available_cpus
from recall.privacy import LEFT_OUT
from recall.prompts import ingest_prompts
from recall.reading import DETECT_SIZE, EMPTY, Reading, digest_of_head, is_over, raw_head, report_of, unread
from recall.transcripts.detect import detect
from recall.transcripts.history import HistoryReader
from recall.transcripts.lines import read_head
from recall.transcripts.reader import Reader
from recall.types import FileReport

Progress = Callable[[int, int], None]
"""Called with (files done, files in all)."""


def ingest_files(
    database: Database,
    intake: Intake,
    paths: Iterable[Path],
    progress: Progress | None = None,
    budget_seconds: float | None = None,
    settings: Settings | None = None,
) -> tuple[list[FileReport], int]:
    """(a report for each file read, number of files left because the time was up). One bad file stops no other.

    settings: with them, and without a budget, a large backlog is read by workers too.
    """
    waiting = list(paths)
    began = time.monotonic()
    until: float | None = None
    reports: list[FileReport] = []
    new = _backlog(database, intake, waiting) if settings and budget_seconds is None else []
    workers = min(available_cpus(), MOST_WORKERS, len(new))
    unfinished = 0
    with Ahead(settings, new, workers) if settings and new else contextlib.nullcontext() as ahead:
        for path in waiting:
            # The newest is always read: on a slow disk a search would otherwise never learn anything.
            if budget_seconds is not None:
                until = began + budget_seconds + intake.loading_seconds
            if reports and is_over(until):
                break
            reports.append(ingest_file(database, intake, path, until, ahead))
            if ahead:
                ahead.skip(path)
            if is_over(until):
                unfinished = int(_is_unfinished(database, path))
            if progress:
                progress(len(reports), len(waiting))
    return reports, len(waiting) - len(reports) + unfinished


def _is_unfinished(database: Database, path: Path) -> bool:
    known = ledger.find(database.connection, path)
    return known is not None and path.exists() and known.size != path.stat().st_size


def _backlog(database: Database, intake: Intake, paths: Sequence[Path]) -> list[Path]:
    """Files that were never read; none where they are too few, or the processors, for workers to pay."""
    sizes: dict[Path, int] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            sizes[path] = path.stat().st_size
    if available_cpus() < 2 or sum(sizes.values()) < WORTH_BYTES:
        return []
    wanted = (path for path in sizes if not intake.excluded.covers(str(path)))
    new = [path for path in wanted if ledger.find(database.connection, path) is None]
    return new if sum(sizes[path] for path in new) >= WORTH_BYTES else []


def put_titles(database: Database, intake: Intake, titles: Mapping[str, str]) -> None:
    """Give sessions the names their owners gave them; writes nothing where they have them already."""
    ready = [(name, intake.prepare_title(title)) for name, title in titles.items()]
    hidden = hidden_fields(database.connection, intake.marks, (title for _, title in ready))
    changed = [pair for pair in ready if pair[1] not in hidden and archive.has_other_title(database.connection, *pair)]
    if changed:
        with database.write() as connection:
            for name, title in changed:
                archive.put_title(connection, name, title)


def ingest_file(
    database: Database, intake: Intake, path: Path, until: float | None = None, ahead: Ahead | None = None
) -> FileReport:
    """Take in what is new in one transcript. A file that cannot be read is reported, and remembered as such.

    until: when to stop, on the monotonic clock, also inside the file; the next call goes on from there.
    ahead: workers that may have read the file already.
    """
    try:
        if intake.excluded.covers(str(path)):
            return FileReport(str(path), "excluded", f"{path} is excluded by the configuration")
        stat = path.stat()
        known = ledger.find(database.connection, path)
        if known and (known.size, known.modified_ns) == (stat.st_size, stat.st_mtime_ns):
            return _report_known(path, known)
        raw = raw_head(path)
        session_name = ""
        if known is None and (known := ledger.find_moved(database.connection, len(raw), digest_of_head(raw))):
            with database.write() as connection:
                ledger.move(connection, known, path)
            session_name = archive.name_of(database.connection, known.session_id)
        entry = unread(raw, known.session_id if known else None)
        try:
            reader_class = detect(path, read_head(path, DETECT_SIZE))
            entry = replace(entry, reader=reader_class.__name__)
            grew = known is not None and _only_grew(known, entry, raw, stat.st_size, reader_class)
            if issubclass(reader_class, HistoryReader):
                return ingest_prompts(database, intake, path, known if known and grew else entry, grew)
            if known and grew:
                return Reading(database, intake, path, reader_class, known, goes_on=True, until=until).run()
            reading = Reading(database, intake, path, reader_class, entry, goes_on=False, until=until)
            if session_name:  # where the file has no id of its own, the reader made one from the path, which changed
                reading.reader.session = replace(reading.reader.session, id=session_name)
            if ahead and known is None:
                if report := reading.store(ahead.batches(path)):
                    return report
                return ingest_file(database, intake, path)  # from where the worker ended
            return reading.run()
        except TranscriptError as error:
            problem = str(error)
            entry = replace(entry, size=stat.st_size, modified_ns=stat.st_mtime_ns, problem=problem)
            with database.write() as connection:
                ledger.put(connection, path, entry)
            return report_of(path, "skipped", entry)
    except OSError as error:
        return FileReport(str(path), "failed", f"cannot be read: {error.strerror or error}")


def _only_grew(known: Entry, now: Entry, raw: bytes, size: int, reader_class: type[Reader]) -> bool:
    """Whether the file still begins with what was read of it, so that reading can go on behind that."""
    return (
        not known.problem
        and not reader_class.rewritten
        and known.reader == now.reader
        and size >= known.size
        and digest_of_head(raw[: known.head_size]) == known.head_digest
    )


def _report_known(path: Path, known: Entry) -> FileReport:
    """The report of a file in which nothing has changed."""
    if (known.session_id or known.reader == HistoryReader.__name__) and not known.problem:
        return report_of(path, "unchanged", known)
    if known.problem.endswith(LEFT_OUT):
        return report_of(path, "excluded", known)
    return report_of(path, "skipped" if known.problem else "empty", known, reason=known.problem or EMPTY)
