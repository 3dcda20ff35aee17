"""`recall status` and `recall doctor`: what is stored, what is missing, what is wrong."""

from __future__ import annotations

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


def doctor(as_json: AsJson = False) -> None:
    """Check all that search needs; say what is wrong and what to do."""
    from recall.cli.doctor import doctor_document, doctor_text, examine, is_well
    from recall.home import home_directory

    home = home_directory()
    checks = examine(home)
    if as_json:
        streams.print_json(doctor_document(home, checks))
    else:
        streams.print_text(doctor_text(home, checks))
    if not is_well(checks):
        raise typer.Exit(1)
