"""`recall ingest` and `recall embed`: taking transcripts in, and giving them vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recall.cli import streams

if TYPE_CHECKING:
    from recall.types import FileReport, IngestReport


def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATHS", help="Transcripts, or folders with some; none: those of the agents here."),
    ] = None,
) -> None:
    """Take transcripts in, so that they can be searched."""
    from recall.cli.render import counted
    from recall.cli.settings import open_configured
    from recall.home import home_directory

    with open_configured(home_directory()) as index, streams.progress("taking in transcripts") as bar:
        report = index.ingest(paths or None, bar)
        missing = index.counts()["without_vector"]
    if not report.files:
        where = ", ".join(paths) if paths else "the folders of Codex and Claude Code (CODEX_HOME, CLAUDE_CONFIG_DIR)"
        streams.complain(f"no transcripts found in {where}; name files or folders: recall ingest PATH")
        return
    streams.print_text(_ingest_text(report))
    if missing:
        streams.complain(f'{counted(missing, "passage")} without a vector; bring them up to date with "recall embed"')
    if paths and all(file.status in ("skipped", "failed") for file in report.files):
        raise typer.Exit(1)


def embed() -> None:
    """Bring vectors up to date; can be stopped and goes on where it was."""
    from recall.cli.render import counted
    from recall.cli.settings import open_configured
    from recall.errors import BusyError
    from recall.home import home_directory

    try:
        with open_configured(home_directory()) as index, streams.progress("embedding passages") as bar:
            done = index.embed(bar)
            name = index.embedder.name
    except BusyError as error:  # what the other process does is what was asked for
        streams.complain(error)
        return
    embedded = f"{counted(done, 'passage')} embedded with {name}"
    streams.print_text(embedded if done else "all passages have their vectors")


def _ingest_text(report: IngestReport) -> str:
    from recall.cli.render import counted

    shown = ("new", "updated", "unchanged", *(["excluded"] if report.count("excluded") else []))
    counts = [f"{report.count(status)} {status}" for status in shown]
    problems = [file for file in report.files if file.status in ("empty", "skipped", "failed")]
    lines = [f"{counted(len(report.files), 'transcript')}: {', '.join(counts)}, {len(problems)} without a session"]
    masked = counted(sum(report.redactions.values()), "secret")
    lines.append(f"{counted(report.new_messages, 'new message')}; {masked} masked")
    if report.removed:
        lines.append(f"{counted(report.removed, 'session')} removed, older than what config.toml keeps")
    lines += [f"  {file.status}: {_problem(file)}" for file in problems]
    unknown: dict[str, int] = {}
    for file in report.files:
        if file.status in ("new", "updated"):
            for kind, count in file.skipped_lines.items():
                unknown[kind] = unknown.get(kind, 0) + count
    if unknown:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in sorted(unknown.items(), key=lambda item: -item[1]))
        lines.append(f"lines not understood: {kinds}")
    return "\n".join(lines)


def _problem(file: FileReport) -> str:
    from recall.rendering import shown

    return shown(file.reason if file.path in file.reason else f"{file.path}: {file.reason}")
