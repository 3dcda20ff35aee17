"""What every reader of a transcript format has in common."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, ClassVar, Protocol

import orjson

from recall.types import Message, Session


@dataclass(frozen=True, slots=True)
class Line:
    """One complete line of a transcript, without its line ending."""

    number: int
    """1-based."""
    text: bytes


class Reader(Protocol):
    """Reads one transcript, line by line.

    A reader opens nothing: it is fed the lines in order and yields messages as they stand in the file, unredacted
    and uncut. What it does not understand it counts in `skipped`, and goes on. It can stop after any line and go
    on later, in another process, from `state()`.
    """

    agent: ClassVar[str]
    rewritten: ClassVar[bool]
    """True where the agent writes the whole file again each time; it is then read from the start."""
    session: Session
    """What is known of the session so far (without messages). Its id is never empty."""
    skipped: Counter[str]
    """Kind of what was skipped, and how often."""

    def __init__(self, path: PurePath, state: Mapping[str, Any] | None = None) -> None: ...

    def read(self, line: Line) -> Iterator[Message]:
        """The messages that this line completes."""
        ...

    def finish(self) -> Iterator[Message]:
        """The messages that the end of the file completes."""
        ...

    def state(self) -> dict[str, Any]:
        """All that is needed to go on after the last line read, as plain JSON. Asked for after `finish()`."""
        ...


class JsonLinesReader(ABC):
    """The part of a reader that JSON lines share: one object a line, a broken line is counted."""

    agent: ClassVar[str] = "other"
    rewritten: ClassVar[bool] = False
    session: Session
    skipped: Counter[str]

    def read(self, line: Line) -> Iterator[Message]:
        if not line.text.strip():
            return
        try:
            record = orjson.loads(line.text)
        except orjson.JSONDecodeError:
            record = loads_leniently(line.text)
        if not isinstance(record, dict):
            self.skipped["broken line"] += 1
            return
        yield from self.record(record, line.number)

    @abstractmethod
    def record(self, record: dict[str, Any], number: int) -> Iterator[Message]:
        """The messages of one JSON object."""

    def finish(self) -> Iterator[Message]:
        yield from ()


def loads_leniently(text: bytes) -> Any:
    """What the standard parser makes of a line that orjson refuses; None where that fails too.

    Agents cut strings inside a surrogate pair (`"\\ud83d"`): legal JSON, refused by orjson.
    """
    try:
        return json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
