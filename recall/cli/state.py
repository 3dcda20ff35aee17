"""`recall status` and `recall doctor`: what is stored, what is missing, what is wrong."""

from __future__ import annotations

from typing import Annotated

import typer

from recall.cli import streams
from recall.cli.options import AsJson


def status(as_json: AsJson = False) -> None:
    """Tell what is stored, and what is missing."""
    from recall.cli.status import status_document, status_text
    from recall.home import home_directory

    document = status_document(home_directory())
    if as_json:
        streams.print_json(document)
    else:
        streams.print_text(status_text(document))


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended; a damaged file is kept.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check all that search needs; say what is wrong and what to do."""
    from recall.cli import mending
    from recall.home import home_directory

    mending.doctor(home_directory(), fix, as_json)
