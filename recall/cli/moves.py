"""`recall relink`: where a directory has gone."""

from __future__ import annotations

from typing import Annotated

import typer

from recall.cli import streams


def relink(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Where sessions ran; it may be gone.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The directory that it is now.")],
    undo: Annotated[bool, typer.Option("--undo", help="Take back what was said of OLD.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Also where OLD is a repository that still exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document in UTF-8 and nothing else.")] = False,
) -> None:
    """Say that what ran in OLD belongs to NEW, from now on; moves nothing."""
    from dataclasses import asdict

    from recall.cli.render import counted
    from recall.cli.settings import open_configured
    from recall.home import home_directory

    with open_configured(home_directory()) as index:
        report = index.undo_relink(old) if undo else index.relink(old, new, even_existing=yes)
    if as_json:
        document = asdict(report) | {"sessions": report.sessions, "undone": undo}
        document["repositories"] = [{"path": path, "sessions": count} for path, count in report.repositories]
        streams.print_json(document)
        return
    sessions = counted(report.sessions, "session")
    if undo:
        streams.print_text(f"taken back: {sessions} of {report.old} no longer belong to {report.new}")
        return
    already = "" if report.changed else ", as before"
    lines = [f"{sessions} of {report.old} now belong to {report.new}{already}"]
    if len(report.repositories) > 1:
        lines += [f"  {path}: {counted(count, 'session')}" for path, count in report.repositories]
    lines.append("take it back with the same command and --undo")
    streams.print_text("\n".join(lines))
