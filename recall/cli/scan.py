"""`recall scan` and `recall redact`: the scanner on files and standard input, and on what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from recall.cli import streams
from recall.cli.options import AsJson

if TYPE_CHECKING:
    from scanning import Kind

BLOCKED = 3
"""Exit status: refused by a safety rule."""

Personal = Annotated[bool, typer.Option("--personal", help="Also personal data: cards, identity numbers, addresses.")]


def scan_files(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Files; - or none: standard input.")] = None,
    personal: Personal = False,
    archive: Annotated[bool, typer.Option("--archive", help="Scan what is stored again, with newer rules.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find secrets, private links and injection; exit status 3 when something blocks."""
    from collections import Counter

    from recall.cli.documents import STANDARD_INPUT, findings, read
    from recall.cli.render import counted
    from recall.errors import UsageError
    from recall.rendering import safe_text
    from scanning import SCANNED

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
            found += findings(read(path), kinds)
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
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file; - or none: standard input.")] = "-",
    links: Annotated[bool, typer.Option("--links", help="Also links to machines that are not public.")] = False,
    personal: Personal = False,
    as_json: AsJson = False,
) -> None:
    """Print text with its secrets masked; exit status 3 when it had to be withheld."""
    from recall.cli import documents
    from recall.errors import UsageError
    from recall.rendering import safe_text
    from scanning import MASKED, UNSCANNABLE

    wanted: dict[Kind, bool] = {"link": links, "personal": personal}
    kinds = [*MASKED, *(kind for kind, is_wanted in wanted.items() if is_wanted)]
    try:
        document = documents.read(file)
    except OSError as error:
        raise UsageError(safe_text(f"{file} cannot be read: {error.strerror or error}")) from error
    redacted, findings = documents.redacted_text(document, kinds)
    if as_json:
        streams.print_json({"text": documents.without_surrogates(redacted.text), "findings": findings})
    else:
        streams.print_bytes(document.encoded(redacted.text))
    if any(one.rule == UNSCANNABLE for one in redacted.findings):
        streams.complain(
            f"{safe_text(document.path)} could not be scanned and was withheld; split it into smaller parts"
        )
        raise typer.Exit(BLOCKED)


def _line(one: dict[str, Any]) -> str:
    from recall.rendering import safe_text

    place = f"{safe_text(one['path'])}:{one['line']}:{one['column']}"
    said = f": {' '.join(one['text'].split())}" if "text" in one else ""
    return f"{place}: {one['severity']}: {one['kind']} {one['rule']}{said}"


def _scan_archive(as_json: bool) -> None:
    from recall.cli.render import counted
    from recall.cli.settings import open_configured
    from recall.home import home_directory
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
