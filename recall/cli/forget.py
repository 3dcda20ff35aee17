"""`recall forget`: shows what would go, asks, and takes it out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recall.cli import streams

if TYPE_CHECKING:
    from recall.types import ForgetReport

REFUSED = 3
"""Exit status: not approved."""


def forget(
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="That session, also what is said in it later.")
    ] = None,
    repo: Annotated[
        str | None, typer.Option("--repo", metavar="PATH", help="All that is stored of the repository of a directory.")
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", metavar="TEXT", help="Every message that holds the text, anywhere.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Take out what was said, down to the bytes of the files; it is not taken in again."""
    from recall.cli.settings import open_configured
    from recall.errors import UsageError
    from recall.home import home_directory

    if sum(option is not None for option in (session, repo, match)) != 1:
        raise UsageError("give one of --session ID, --repo PATH and --match TEXT")
    home = home_directory()
    with open_configured(home) as index:
        found = index.would_forget(session=session, repository=repo, match=match)
        _say_kept(found)
        if not (found.sessions or found.messages or found.names or session):
            streams.print_text("nothing of it is stored")
            return
        if not yes and not _approved(found):
            raise typer.Exit(REFUSED)
        report = index.forget(session=session, repository=repo, match=match)
    streams.print_text(f"forgotten: {_counts(report)}")
    if not report.complete:
        streams.complain(
            "another process is reading the database, whose write-ahead log holds it until that one ends; "
            "the next ingest or forget then clears it"
        )
    for copy in _copies(home):
        streams.complain(f"{copy} is an older copy of the database and may still hold it; delete it when it can go")


def _approved(found: ForgetReport) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        streams.complain(f"{_counts(found)} would be forgotten; nobody is here to ask, so add --yes to do it")
        return False
    for example in found.examples:
        sys.stderr.write(f"  {example}\n")
    sys.stderr.write(f"Forget {_counts(found)}? This cannot be undone. [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().casefold() in ("y", "yes"):
        return True
    streams.complain("nothing was forgotten")
    return False


def _counts(report: ForgetReport) -> str:
    from recall.cli.render import counted

    messages = counted(report.messages, "message")
    whole = f"{counted(report.sessions, 'session')} with {messages}" if report.sessions else messages
    return f"{whole}, {counted(report.names, 'title or branch name')}" if report.names else whole


def _say_kept(found: ForgetReport) -> None:
    if found.kept_paths:
        first = found.kept_paths[0]
        others = f" and {len(found.kept_paths) - 1} more" if len(found.kept_paths) > 1 else ""
        streams.complain(f"the text also stands in the path {first}{others}, which stays; see --repo PATH")


def _copies(home: Path) -> list[Path]:
    """Copies of the database that were left beside it."""
    live = {f"recall.db{end}" for end in ("", "-wal", "-shm", "-journal")}
    return sorted(path for path in home.glob("recall.db*") if path.name not in live)
