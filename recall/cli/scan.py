"""`recall scan` and `recall redact`: the scanner on files and standard input, and on what is stored."""

from __future__ import annotations

import codecs
import os
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from recall.cli import streams
from recall.cli.render import counted
from recall.errors import UsageError
from recall.home import home_directory
from recall.redacting import read_key, time_limit
from recall.rendering import safe_text
from scanning import MASKED, SCANNED, UNSCANNABLE, Finding, Kind, Redacted, ScanningError, redact, reveal, scan
from scanning.hidden import readable
from scanning.redaction import WITHHELD

STANDARD_INPUT = "-"
SIZE_LIMIT = 64 * 2**20
"""Bytes of the largest file that is scanned."""

BLOCKED = 3
"""Exit status: refused by a safety rule."""

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

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document in UTF-8 and nothing else.")]
Personal = Annotated[bool, typer.Option("--personal", help="Also personal data: cards, identity numbers, addresses.")]


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


def scan_files(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Files; - or none: standard input.")] = None,
    personal: Personal = False,
    archive: Annotated[bool, typer.Option("--archive", help="Scan what is stored again, with newer rules.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find secrets, private links and injection; exit status 3 when something blocks."""
    if archive:
        if files:
            raise UsageError("--archive scans what is stored; leave the files out")
        _scan_archive(as_json)
        return
    kinds = (*SCANNED, "personal") if personal else SCANNED
    found: list[dict[str, Any]] = []
    problems: list[str] = []
    for path in files or [STANDARD_INPUT]:
        try:
            found += _findings(_read(path), kinds)
        except OSError as error:
            problems.append(safe_text(f"{path} cannot be read: {error.strerror or error}"))
    if as_json:
        streams.print_json({"findings": found, "problems": problems})
    elif found:
        streams.print_text("\n".join(map(_line, found)))
    for problem in problems:
        streams.complain(problem)
    severities = Counter(one["severity"] for one in found)
    if severities["block"]:
        streams.complain(f"{counted(severities['block'], 'finding')} of {len(found)} must not be passed on")
        raise typer.Exit(BLOCKED)
    if problems:
        raise typer.Exit(1)


def redact_file(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file; - or none: standard input.")] = STANDARD_INPUT,
    links: Annotated[bool, typer.Option("--links", help="Also links to machines that are not public.")] = False,
    personal: Personal = False,
    as_json: AsJson = False,
) -> None:
    """Print text with its secrets masked; exit status 3 when it had to be withheld."""
    wanted: dict[Kind, bool] = {"link": links, "personal": personal}
    kinds = [*MASKED, *(kind for kind, is_wanted in wanted.items() if is_wanted)]
    try:
        document = _read(file)
    except OSError as error:
        raise UsageError(safe_text(f"{file} cannot be read: {error.strerror or error}")) from error
    if document.is_too_long:
        redacted = Redacted(WITHHELD, (_unscannable(document),))
    else:
        redacted = redact(document.text, kinds, read_key(home_directory()), time_limit(document.text))
    if as_json:
        lines = document.lines()
        findings = [_finding(one, document, lines) for one in redacted.findings]
        streams.print_json({"text": _without_surrogates(redacted.text), "findings": findings})
    else:
        streams.print_bytes(document.encoded(redacted.text))
    if any(one.rule == UNSCANNABLE for one in redacted.findings):
        streams.complain(
            f"{safe_text(document.path)} could not be scanned and was withheld; split it into smaller parts"
        )
        raise typer.Exit(BLOCKED)


def _read(path: str) -> Document:
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


def _findings(document: Document, kinds: tuple[Kind, ...]) -> Iterator[dict[str, Any]]:
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
        one["text"] = safe_text(_without_surrogates(_revealed(document.text, found)))[:SHOWN_LENGTH]
    return one


def _revealed(text: str, found: Finding) -> str:
    """What a finding says, also what is hidden in it, without secrets, which may hide there too."""
    span = text[found.start : found.end]
    before = _SPACE.split(text[max(0, found.start - _WORD_LONGEST) : found.start])[-1]
    after = _SPACE.split(text[found.end : found.end + _WORD_LONGEST], maxsplit=1)[0]
    whole = readable(f"{before}{span}{after}")
    return redact(whole if scan(whole, MASKED) else reveal(span)).text


def _line(one: dict[str, Any]) -> str:
    place = f"{safe_text(one['path'])}:{one['line']}:{one['column']}"
    said = f": {' '.join(one['text'].split())}" if "text" in one else ""
    return f"{place}: {one['severity']}: {one['kind']} {one['rule']}{said}"


def _without_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _scan_archive(as_json: bool) -> None:
    from recall.cli.settings import open_configured
    from scanning import RULES_VERSION

    with open_configured(home_directory()) as index, streams.progress("scanning again") as bar:
        report = index.rescan(bar)
        missing = index.counts()["without_vector"]
    if as_json:
        document = {"rules_version": RULES_VERSION, "sessions": report.sessions, "changed": report.changed}
        streams.print_json({"findings": [], "archive": document | {"redactions": report.redactions}})
        return
    if not report.sessions:
        streams.print_text(f"all that is stored has passed the rules of version {RULES_VERSION}")
        return
    masked = ", ".join(f"{count} × {rule}" for rule, count in sorted(report.redactions.items())) or "nothing"
    scanned = f"{counted(report.sessions, 'session')} scanned with the rules of version {RULES_VERSION}"
    streams.print_text(f"{scanned}; newly masked: {masked}")
    if missing:
        streams.complain(f'{counted(missing, "passage")} without a vector; bring them up to date with "recall embed"')
