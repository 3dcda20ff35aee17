"""One pass over one transcript: its messages in batches, each stored in a transaction."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from recall import archive, ledger
from recall.ahead import Batch
from recall.archive import Occurrences
from recall.database import Database
from recall.forgetting import forget_session
from recall.intake import Intake
from recall.ledger import Entry
from recall.marks import Said, any_stored, hidden_fields, said
from recall.privacy import FORGOTTEN, ExcludedError, Privacy
from recall.rendering import shown
from recall.transcripts.detect import detect
from recall.transcripts.lines import LINE_LIMIT, read_head, read_lines
from recall.transcripts.reader import Line, Reader
from recall.types import FileReport, FileStatus, Message
from scanning import redact

BATCH_MESSAGES, BATCH_CHARACTERS = 1_000, 2_000_000
"""What one transaction holds: so little that a giant transcript neither fills the memory nor holds up a writer."""

BATCH_IN_A_HURRY, BYTES_IN_A_HURRY = 100, 1_000_000
"""The same where the time is short: a batch is stored whole, and the time is looked at behind it."""

DETECT_SIZE = 65_536

EMPTY = "holds nothing that a person or the assistant said"


def fresh_reading(database: Database, intake: Intake, path: Path) -> Reading:
    """A pass over all of a file. Raises OSError, TranscriptError."""
    reader_class = detect(path, read_head(path, DETECT_SIZE))
    entry = replace(unread(raw_head(path)), reader=reader_class.__name__)
    return Reading(database, intake, path, reader_class, entry, goes_on=False)


class Reading:
    """One pass over one file, from where the entry says."""

    def __init__(
        self,
        database: Database,
        intake: Intake,
        path: Path,
        reader_class: type[Reader],
        entry: Entry,
        goes_on: bool,
        until: float | None = None,
    ) -> None:
        self.database, self.intake, self.path = database, intake, path
        self.until = until
        self.stat = path.stat()
        self.reader = reader_class(path, entry.state if goes_on else None)
        self.reader.skipped.update(entry.skipped)
        self.occurrences = Occurrences(goes_on)
        self.entry = entry
        """How far the reading is; what has been stored always ends where this says."""
        self.interrupted = goes_on and not entry.size and entry.session_id is not None
        """Whether an earlier reading did not come to its end: what it stored is not finished either."""
        before = ledger.find(database.connection, path)
        self.expected = before.read_to if before else None
        """What the ledger must still say when the next batch is written."""
        self.checked: tuple[str, str] | None = None
        """Names of the session and its parent, once it is known that neither was forgotten."""
        self.privacy = Privacy(
            intake.excluded, goes_on and archive.ends_privately(database.connection, entry.session_id)
        )

    def run(self) -> FileReport:
        """Read to the end of the file."""
        try:
            report = self.store(self.batches())
            assert report is not None
            return report
        except ExcludedError as reason:
            if reason.by_its_user:
                self._forget(f"{self.path}: {reason}")
            return FileReport(str(self.path), "excluded", str(reason))

    def store(self, batches: Iterable[Batch]) -> FileReport | None:
        """Store the batches of this pass, whoever has read them; None where the last of them is missing."""
        was_known = self.entry.session_id is not None
        new_messages = first_new = 0
        done = False
        for batch in batches:
            done = batch.done
            self.entry = replace(batch.entry, session_id=self.entry.session_id)
            self.intake.take_over(batch)
            with self.database.write() as connection:
                before = ledger.find(connection, self.path)
                if (before.read_to if before else None) != self.expected:
                    return report_of(self.path, "unchanged", self.entry, reason="another process has just read it")
                if archive.is_forgotten(connection, self.intake.masked(self.reader.session.id)):
                    raise ExcludedError(FORGOTTEN, by_its_user=True)  # by another process, since the last batch
                transcript_id = ledger.put(connection, self.path, self.entry)
                is_named = done and self.entry.session_id is not None and batch.session.title
                if batch.messages or is_named:  # a title may come alone
                    session_id, stored = self.intake.store(
                        connection, batch.session, batch.messages, self.occurrences, transcript_id
                    )
                    if session_id is not None and session_id != self.entry.session_id:
                        self.entry = replace(self.entry, session_id=session_id)
                        ledger.put_session(connection, transcript_id, session_id)
                    new_messages += len(stored)
                    first_new = first_new or (stored[0].id if stored else 0)
                if done and self.entry.session_id is not None:
                    ledger.adopt_messages(connection, self.entry.session_id, transcript_id)
                    if new_messages or self.interrupted:
                        self.intake.finish(connection, self.entry.session_id, 0 if self.interrupted else first_new)
            self.expected = self.entry.read_to
        if not done:
            return None
        if self.entry.session_id is None:
            return report_of(self.path, "empty", self.entry, reason=EMPTY)
        status: FileStatus = "unchanged" if not new_messages else "updated" if was_known else "new"
        return report_of(self.path, status, self.entry, new_messages)

    def _forget(self, reason: str) -> None:
        """Take out what is stored of the session, and remember not to read the file again until it grows."""
        name = self.intake.masked(self.reader.session.id)
        if not archive.is_forgotten(self.database.connection, name):
            forget_session(self.database, self.intake.marks, name, list(self._seen()))
        size, time = self.stat.st_size, self.stat.st_mtime_ns
        entry = replace(self.entry, size=size, modified_ns=time, problem=reason, session_id=None, state={})
        with self.database.write() as connection:
            ledger.put(connection, self.path, entry)

    def _seen(self) -> Iterator[Said]:
        """All messages of the file: a fork may hold them whose parent was never stored."""
        reader, privacy = type(self.reader)(self.path), Privacy()
        for number, raw in enumerate(read_lines(self.path, 0), start=1):
            for message in reader.read(Line(number, raw.text)) if raw.text else ():
                with contextlib.suppress(ExcludedError):
                    if prepared := self.intake.prepare(message, privacy, reader.session.cwd):
                        yield said(prepared)

    def batches(self) -> Iterator[Batch]:
        """What is new in the file, in order. Raises ExcludedError where nothing of the session is to be kept.

        A batch ends at the end of a line, so that a killed ingest goes on exactly there.
        """
        batch: list[Message] = []
        characters = 0
        read_to, line_count = self.entry.read_to, self.entry.line_count
        most, written_to = BATCH_MESSAGES if self.until is None else BATCH_IN_A_HURRY, read_to
        for raw in read_lines(self.path, read_to):
            # The beginning of a JSON object is never itself valid JSON, so what can be parsed is complete.
            if not raw.complete and not self.reader.rewritten and not _is_json(raw.text):
                break
            read_to, line_count = raw.end, line_count + 1
            if raw.too_long:
                self.reader.skipped[f"line over {LINE_LIMIT // 2**20} MB"] += 1
                continue
            for message in self._prepared(self.reader.read(Line(line_count, raw.text))):
                batch.append(message)
                characters += len(message.text)
            if len(batch) >= most or characters >= BATCH_CHARACTERS or self._has_read_enough(read_to - written_to):
                # Size and time are entered with the last batch only: until then the file does not count as read.
                self._advance(read_to, line_count)
                is_last = is_over(self.until) and not self.reader.rewritten  # there, the next call begins anew
                yield Batch(batch, self.reader.session, self.entry, done=is_last)
                if is_last:
                    return
                batch, characters, written_to = [], 0, read_to
        batch.extend(self._prepared(self.reader.finish()))
        self._advance(read_to, line_count)
        self.entry = replace(self.entry, size=self.stat.st_size, modified_ns=self.stat.st_mtime_ns)
        yield Batch(batch, self.reader.session, self.entry, done=True)

    def _has_read_enough(self, size: int) -> bool:
        return self.until is not None and size >= BYTES_IN_A_HURRY

    def _prepared(self, messages: Iterable[Message]) -> Iterator[Message]:
        parts = list(messages)
        if parts:
            self._require_remembered()
        self.privacy.begin(parts)
        for message in parts:
            if prepared := self.intake.prepare(message, self.privacy, self.reader.session.cwd):
                yield prepared

    def _require_remembered(self) -> None:
        """Raises ExcludedError where the session, or the one whose agent started it, was forgotten."""
        names = (self.reader.session.id, self.reader.session.parent)
        if names == self.checked:
            return
        for name in filter(None, names):
            if archive.is_forgotten(self.database.connection, self.intake.masked(name)):
                raise ExcludedError(FORGOTTEN, by_its_user=True)
        self.checked = names

    def _advance(self, read_to: int, line_count: int) -> None:
        self.entry = replace(
            self.entry,
            read_to=read_to,
            line_count=line_count,
            state=self._noted(),
            # The kind of an unknown line is a word of the file, so it may be anything.
            skipped={redact(kind).text: count for kind, count in self.reader.skipped.items()},
            reader=type(self.reader).__name__,
        )

    def _noted(self) -> dict[str, Any]:
        """What the reader notes to go on with, without what was forgotten of it."""
        state = self.reader.state()
        connection = self.database.connection
        if not any_stored(connection):
            return state
        noted: dict[str, Any] = ledger.redacted(state)
        hidden = hidden_fields(connection, self.intake.marks, ledger.texts_of(noted))
        without: dict[str, Any] = ledger.without(noted, hidden)
        return without


def unread(raw_head: bytes, session_id: int | None = None) -> Entry:
    return Entry(0, 0, len(raw_head), digest_of_head(raw_head), 0, 0, "", {}, {}, "", session_id)


def digest_of_head(head: bytes) -> bytes:
    return blake2b(head, digest_size=16).digest()


def raw_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(ledger.HEAD_SIZE)


def report_of(path: Path, status: FileStatus, entry: Entry, new_messages: int = 0, reason: str = "") -> FileReport:
    return FileReport(str(path), status, shown(reason or entry.problem), new_messages, entry.skipped)


def is_over(until: float | None) -> bool:
    """Whether that moment of the monotonic clock is past."""
    return until is not None and time.monotonic() > until


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return bool(text.strip())
