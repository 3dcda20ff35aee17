"""Files and standard input as text, and what the scanner finds in them, as documents for JSON."""

from __future__ import annotations

import codecs
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recall.home import home_directory
from recall.redacting import read_key, time_limit
from recall.rendering import safe_text
from scanning import MASKED, UNSCANNABLE, Finding, Kind, Redacted, ScanningError, redact, reveal, scan
from scanning.hidden import readable
from scanning.redaction import WITHHELD

STANDARD_INPUT = "-"
SIZE_LIMIT = 64 * 2**20
"""Bytes of the largest file that is scanned."""

SHOWN_LENGTH = 80
BINARY_HEAD = 8_000
ALLOWED = ("gitleaks:allow", "pragma: allowlist secret")
"""Marks of other scanners: a person has looked at this line. They count for `scan`, never for what is stored."""

_LINE_END = re.compile("\n")
_SPACE = re.compile(r"\s")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"", "utf-8"),
)
_WORD_LONGEST = 512


@dataclass(frozen=True, slots=True)
class Document:
    """A file, or standard input, as text. What is no UTF-8 in it is kept as lone surrogates."""

    path: str
    text: str
    encoding: str
    bom: bytes
    is_too_long: bool
    """Whether there is more than `text`."""

    @property
    def is_binary(self) -> bool:
        """Whether it is no text: as for git, a NUL near its beginning says so."""
        return "\0" in self.text[:BINARY_HEAD]

    def lines(self) -> list[int]:
        """Offset of the beginning of each line."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def encoded(self, text: str) -> bytes:
        """`text` in the document's own encoding."""
        return self.bom + text.encode(self.encoding, _errors(self.encoding))


def read(path: str) -> Document:
    """The file as text, as much of it as is scanned. Raises OSError."""
    if path == STANDARD_INPUT:
        raw = sys.stdin.buffer.read(SIZE_LIMIT + 1)
    else:
        # Under an ASCII locale Python encodes no other name, and takes the bytes of it as surrogates.
        with Path(os.fsdecode(path.encode("utf-8", "surrogateescape"))).open("rb") as file:
            raw = file.read(SIZE_LIMIT + 1)
    bom, encoding = next(one for one in _BOMS if raw.startswith(one[0]))
    text = raw[len(bom) : SIZE_LIMIT].decode(encoding, _errors(encoding))
    name = "standard input" if path == STANDARD_INPUT else path
    return Document(name, text, encoding, bom, len(raw) > SIZE_LIMIT)


def _errors(encoding: str) -> str:
    return "surrogateescape" if encoding == "utf-8" else "replace"


def findings(document: Document, kinds: tuple[Kind, ...]) -> Iterator[dict[str, Any]]:
    """What is found in a document and not allowed by a mark in its line; what cannot be scanned is one finding."""
    # What hides in the bytes of an image or a program is no text for anybody; a key in them still is a key.
    wanted: tuple[Kind, ...] = ("secret",) if document.is_binary else kinds
    try:
        if document.is_too_long:
            raise ScanningError(f"{document.path} holds more than {SIZE_LIMIT} bytes")
        found = scan(document.text, wanted, time_limit(document.text))
    except ScanningError:
        found = [_unscannable(document)]
    lines = document.lines() if found else []
    for one in found:
        line = _line_around(document.text, one.start)
        if one.rule == UNSCANNABLE or not any(mark in line for mark in ALLOWED):
            yield _finding(one, document, lines)


def _unscannable(document: Document) -> Finding:
    return Finding(UNSCANNABLE, "secret", 0, len(document.text))


def _line_around(text: str, position: int) -> str:
    start, end = text.rfind("\n", 0, position) + 1, text.find("\n", position)
    # A line may be a whole minified file; a mark for it stands at its end or near the value.
    return text[max(start, position - 1000) : min(end if end >= 0 else len(text), position + 1000)]


def _finding(found: Finding, document: Document, lines: list[int]) -> dict[str, Any]:
    line = bisect_right(lines, found.start)
    one: dict[str, Any] = {
        "path": document.path,
        "line": line,
        "column": found.start - lines[line - 1] + 1,
        "rule": found.rule,
        "kind": found.kind,
        "severity": found.severity,
        "start": found.start,
        "end": found.end,
    }
    if found.kind == "injection":  # no secret, and the reviewer has to see it: also what is hidden
        one["text"] = safe_text(without_surrogates(_revealed(document.text, found)))[:SHOWN_LENGTH]
    return one


def _revealed(text: str, found: Finding) -> str:
    """What a finding says, also what is hidden in it, without secrets, which may hide there too."""
    span = text[found.start : found.end]
    before = _SPACE.split(text[max(0, found.start - _WORD_LONGEST) : found.start])[-1]
    after = _SPACE.split(text[found.end : found.end + _WORD_LONGEST], maxsplit=1)[0]
    whole = readable(f"{before}{span}{after}")
    return redact(whole if scan(whole, MASKED) else reveal(span)).text


def redacted_text(document: Document, kinds: Sequence[Kind]) -> tuple[Redacted, list[dict[str, Any]]]:
    """(the document's text with these kinds masked, what was found)."""
    if document.is_too_long:
        redacted = Redacted(WITHHELD, (_unscannable(document),))
    else:
        redacted = redact(document.text, kinds, read_key(home_directory()), time_limit(document.text))
    lines = document.lines() if redacted.findings else []
    return redacted, [_finding(one, document, lines) for one in redacted.findings]


def without_surrogates(text: str) -> str:
    """`text` as it can be printed: what was no UTF-8 in it becomes question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
