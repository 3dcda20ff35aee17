"""A process that reads transcripts for another one that writes: paths on standard input, batches on standard output."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from recall.ahead import Batch, send
from recall.index import Index
from recall.intake import Intake
from recall.reading import fresh_reading


def main() -> None:
    """Read until there is nothing more to read. The first line says which index it is for: see ahead.Settings."""
    sending = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a library prints must not come between the batches
    home, embedder, exclude = json.loads(sys.stdin.buffer.readline())
    with Index(Path(home), embedder, exclude=exclude) as index:
        intake = index._intake()
        for line in sys.stdin.buffer:
            try:
                for batch in read(index, intake, Path(json.loads(line))):
                    send(sending, batch)
            except BrokenPipeError:  # the writer has ended
                return
            except Exception:  # the writer reads the file itself, and meets what is wrong with it
                send(sending, None)


def read(index: Index, intake: Intake, path: Path) -> Iterator[Batch]:
    """The batches of a file that was never read, with their passages."""
    for batch in fresh_reading(index.database, intake, path).batches():
        parts = [intake.parts(message.role, message.text) for message in batch.messages]
        yield replace(batch, parts=parts, redactions=dict(intake.redactions))
        intake.redactions = Counter()
