"""Taking transcripts in, file by file: only what is new, each message once, whatever happened to the file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import orjson

from recall import archive, ledger
from recall.archive import Occurrences
from recall.database import Database
from recall.errors import TranscriptError
from recall.intake import Intake, forget_session, is_forgotten
from recall.ledger import Entry
from recall.privacy import NOT_REMEMBERED, ExcludedError, Privacy
from recall.rendering import shown
from recall.transcripts.detect import detect
from recall.transcripts.lines import LINE_LIMIT, read_head, read_lines
from recall.transcripts.reader import Line, Reader
from recall.types import FileReport, FileStatus, Message
from scanning import redact

BATCH_MESSAGES = 1_000
"""Messages in one transaction: few enough that a giant transcript neither fills the memory nor holds up a writer."""

DETECT_SIZE = 65_536

EMPTY = "holds nothing that a person or the assistant said"

Progress = Callable[[int, int], None]
"""Called with (files done, files in all)."""


def ingest_files(
    database: Database,
    intake: Intake,
    paths: Iterable[Path],
    progress: Progress | None = None,
    budget_seconds: float | None = None,
) -> tuple[list[FileReport], int]:
    """(a report for each file read, number of files left because the time was up). One bad file stops no other."""
    waiting = list(paths)
    started = time.monotonic()
    reports: list[FileReport] = []
    for path in waiting:
        # The newest is always read: on a slow disk a search would otherwise never learn anything.
        spent = time.monotonic() - started - intake.loading_seconds
        if reports and budget_seconds is not None and spent > budget_seconds:
            break
        reports.append(ingest_file(database, intake, path))
        if progress:
            progress(len(reports), len(waiting))
    return reports, len(waiting) - len(reports)


def put_titles(database: Database, intake: Intake, titles: Mapping[str, str]) -> None:
    """Give sessions the names their owners gave them; writes nothing where they have them already."""
    ready = [(name, intake.prepare_title(title)) for name, title in titles.items()]
    changed = [pair for pair in ready if archive.has_other_title(database.connection, *pair)]
    if changed:
        with database.write() as connection:
            for name, title in changed:
                archive.put_title(connection, name, title)


def ingest_file(database: Database, intake: Intake, path: Path) -> FileReport:
    """Take in what is new in one transcript. A file that cannot be read is reported, and remembered as such."""
    try:
        if intake.excluded.covers(str(path)):
            return FileReport(str(path), "excluded", f"{path} is excluded by the configuration")
        stat = path.stat()
        known = ledger.find(database.connection, path)
        if known and (known.size, known.modified_ns) == (stat.st_size, stat.st_mtime_ns):
            return _report_known(path, known)
        raw = _raw_head(path)
        session_name = ""
        if known is None and (known := ledger.find_moved(database.connection, len(raw), _digest(raw))):
            with database.write() as connection:
                ledger.move(connection, known, path)
            session_name = archive.name_of(database.connection, known.session_id)
        entry = Entry(0, 0, len(raw), _digest(raw), 0, 0, "", {}, {}, "", known.session_id if known else None)
        try:
            reader_class = detect(path, read_head(path, DETECT_SIZE))
            entry = replace(entry, reader=reader_class.__name__)
            if known and _only_grew(known, entry, raw, stat.st_size, reader_class):
                return _Reading(database, intake, path, reader_class, known, goes_on=True).run()
            reading = _Reading(database, intake, path, reader_class, entry, goes_on=False)
            if session_name:  # where the file has no id of its own, the reader made one from the path, which changed
                reading.reader.session = replace(reading.reader.session, id=session_name)
            return reading.run()
        except TranscriptError as error:
            problem = str(error)
            entry = replace(entry, size=stat.st_size, modified_ns=stat.st_mtime_ns, problem=problem)
            with database.write() as connection:
                ledger.put(connection, path, entry)
            return _report(path, "skipped", entry)
    except OSError as error:
        return FileReport(str(path), "failed", f"cannot be read: {error.strerror or error}")


class _Reading:
    """One pass over one file, from where the entry says."""

    def __init__(
        self, database: Database, intake: Intake, path: Path, reader_class: type[Reader], entry: Entry, goes_on: bool
    ) -> None:
        self.database, self.intake, self.path = database, intake, path
        self.stat = path.stat()
        self.reader = reader_class(path, entry.state if goes_on else None)
        self.reader.skipped.update(entry.skipped)
        self.occurrences = Occurrences(goes_on)
        self.entry = entry
        """How far the reading is; what has been stored always ends where this says."""
        before = ledger.find(database.connection, path)
        self.expected = before.read_to if before else None
        """What the ledger must still say when the next batch is written."""
        self.privacy = Privacy(
            intake.excluded, goes_on and archive.ends_privately(database.connection, entry.session_id)
        )

    def run(self) -> FileReport:
        """Read to the end of the file."""
        try:
            return self._run()
        except ExcludedError as reason:
            if reason.by_its_user:
                self._forget(f"{self.path}: {reason}")
            return FileReport(str(self.path), "excluded", str(reason))

    def _run(self) -> FileReport:
        was_known = self.entry.session_id is not None
        new_messages = first_new = 0
        for batch, done in self._batches():
            with self.database.write() as connection:
                before = ledger.find(connection, self.path)
                if (before.read_to if before else None) != self.expected:
                    return _report(self.path, "unchanged", self.entry, reason="another process has just read it")
                transcript_id = ledger.put(connection, self.path, self.entry)
                is_named = done and self.entry.session_id is not None and self.reader.session.title
                if batch or is_named:  # a title may come alone
                    session_id, stored = self.intake.store(
                        connection, self.reader.session, batch, self.occurrences, transcript_id
                    )
                    self.entry = replace(self.entry, session_id=session_id)
                    ledger.put(connection, self.path, self.entry)
                    new_messages += len(stored)
                    first_new = first_new or (stored[0].id if stored else 0)
                if done and self.entry.session_id is not None:
                    ledger.adopt_messages(connection, self.entry.session_id, transcript_id)
                    if new_messages:
                        self.intake.finish(connection, self.entry.session_id, first_new)
            self.expected = self.entry.read_to
        if self.entry.session_id is None:
            return _report(self.path, "empty", self.entry, reason=EMPTY)
        status: FileStatus = "unchanged" if not new_messages else "updated" if was_known else "new"
        return _report(self.path, status, self.entry, new_messages)

    def _forget(self, reason: str) -> None:
        """Take out what is stored of the session, and remember not to read the file again until it grows."""
        forget_session(self.database, self.intake.masked(self.reader.session.id))
        size, time = self.stat.st_size, self.stat.st_mtime_ns
        entry = replace(self.entry, size=size, modified_ns=time, problem=reason, session_id=None, state={})
        with self.database.write() as connection:
            ledger.put(connection, self.path, entry)

    def _batches(self) -> Iterator[tuple[list[Message], bool]]:
        """(prepared messages, whether they are the last); `self.entry` then says what the batch covers.

        A batch ends at the end of a line, so that a killed ingest goes on exactly there.
        """
        batch: list[Message] = []
        read_to, line_count = self.entry.read_to, self.entry.line_count
        for raw in read_lines(self.path, read_to):
            # The beginning of a JSON object is never itself valid JSON, so what can be parsed is complete.
            if not raw.complete and not self.reader.rewritten and not _is_json(raw.text):
                break
            read_to, line_count = raw.end, line_count + 1
            if raw.too_long:
                self.reader.skipped[f"line over {LINE_LIMIT // 2**20} MB"] += 1
                continue
            batch.extend(self._prepared(self.reader.read(Line(line_count, raw.text))))
            if len(batch) >= BATCH_MESSAGES:
                # Size and time are entered with the last batch only: until then the file does not count as read.
                self._advance(read_to, line_count)
                yield batch, False
                batch = []
        batch.extend(self._prepared(self.reader.finish()))
        self._advance(read_to, line_count)
        self.entry = replace(self.entry, size=self.stat.st_size, modified_ns=self.stat.st_mtime_ns)
        yield batch, True

    def _prepared(self, messages: Iterable[Message]) -> Iterator[Message]:
        parts = list(messages)
        parent = self.reader.session.parent
        if parts and parent and is_forgotten(self.database.connection, parent):
            raise ExcludedError(NOT_REMEMBERED, by_its_user=True)
        self.privacy.begin(parts)
        for message in parts:
            if prepared := self.intake.prepare(message, self.privacy, self.reader.session.cwd):
                yield prepared

    def _advance(self, read_to: int, line_count: int) -> None:
        self.entry = replace(
            self.entry,
            read_to=read_to,
            line_count=line_count,
            state=self.reader.state(),
            # The kind of an unknown line is a word of the file, so it may be anything.
            skipped={redact(kind).text: count for kind, count in self.reader.skipped.items()},
            reader=type(self.reader).__name__,
        )


def _only_grew(known: Entry, now: Entry, raw: bytes, size: int, reader_class: type[Reader]) -> bool:
    """Whether the file still begins with what was read of it, so that reading can go on behind that."""
    return (
        not known.problem
        and not reader_class.rewritten
        and known.reader == now.reader
        and size >= known.size
        and _digest(raw[: known.head_size]) == known.head_digest
    )


def _report_known(path: Path, known: Entry) -> FileReport:
    """The report of a file in which nothing has changed."""
    if known.session_id and not known.problem:
        return _report(path, "unchanged", known)
    if known.problem.endswith(NOT_REMEMBERED):
        return _report(path, "excluded", known)
    return _report(path, "skipped" if known.problem else "empty", known, reason=known.problem or EMPTY)


def _report(path: Path, status: FileStatus, entry: Entry, new_messages: int = 0, reason: str = "") -> FileReport:
    return FileReport(str(path), status, shown(reason or entry.problem), new_messages, entry.skipped)


def _raw_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(ledger.HEAD_SIZE)


def _digest(head: bytes) -> bytes:
    return blake2b(head, digest_size=16).digest()


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return bool(text.strip())
