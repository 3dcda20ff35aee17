"""`recall doctor`, and `--fix`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from recall.cli import streams
from recall.cli.doctor import doctor_document, doctor_text, examine, is_well
from recall.cli.settings import open_quietly
from recall.errors import RecallError
from recall.rescue import mend_home


def doctor(home: Path, fix: bool, as_json: bool) -> None:
    """Print how things are, with `fix` after mending them. Exits with 1 where something does not work."""
    fixed = _fixed(home) if fix else []
    checks = examine(home)
    if as_json:
        streams.print_json(doctor_document(home, checks) | ({"fixed": fixed} if fix else {}))
    else:
        streams.print_text("\n".join([*(f"fixed    {sentence}" for sentence in fixed), doctor_text(home, checks)]))
    if not is_well(checks):
        raise typer.Exit(1)


def _fixed(home: Path) -> list[str]:
    """What was mended. What cannot be is said, and the checks then name it."""
    try:
        with streams.progress("taking in transcripts") as bar:
            return mend_home(home, partial(open_quietly, home), bar)
    except RecallError as error:
        streams.complain(error)
        return []
