"""The commands of `recall`, a family a module.

Such a module says what a command takes, and imports what it needs when it runs: all of them are read for every command
and for --help, which nobody wants to wait for. tests/test_cold.py counts what each command loads.
"""

from __future__ import annotations

from typing import Annotated

import typer

from recall import __version__
from recall.cli import forget, ingest, legacy, models, moves, scan, search, state, streams

app = typer.Typer(
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    # Text from transcripts and paths must never be read as markup: "[/x]" raises, "[lang].vue" loses its brackets.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Recall what was said and done in earlier Codex and Claude Code sessions of this repository."""
    if version:
        streams.print_text(__version__)
        raise typer.Exit


# In the order of the help.
app.command()(search.search)
app.command()(search.recent)
app.command()(search.show)
app.command()(ingest.ingest)
app.command()(ingest.embed)
app.command()(forget.forget)
app.command("scan")(scan.scan_files)
app.command("redact")(scan.redact_file)
app.command()(state.status)
app.command()(state.doctor)
app.command()(moves.relink)
app.command("migrate-worktrees")(legacy.migrate_worktrees)
app.add_typer(models.app, name="model")
