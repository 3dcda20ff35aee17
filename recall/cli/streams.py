"""Standard output and standard error, safe on every console: results to the one, everything else to the other."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from time import monotonic

REPORT_EVERY_SECONDS = 5.0
"""How often progress is said where standard error is no terminal."""


def prepare() -> None:
    """Keep a console with a legacy code page (cp936, cp1252) from raising on what it cannot show."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def print_json(document: object) -> None:
    """Print one JSON document, always in UTF-8, whatever the console's code page."""
    print_bytes(json_text(document).encode("utf-8"))


def print_bytes(content: bytes) -> None:
    """Print bytes as they are."""
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # a caller has put a text stream in its place
        sys.stdout.write(content.decode("utf-8", "replace"))
        return
    sys.stdout.flush()
    binary.write(content)
    binary.flush()


def json_text(document: object) -> str:
    """A JSON document as it is printed."""
    import orjson

    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE).decode("utf-8")


def print_text(text: str) -> None:
    """Print a result as it is: no markup, no colours."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def complain(message: object) -> None:
    """One line on standard error."""
    from recall.rendering import shown  # not at the top: --help needs no scanner

    sys.stderr.write(f"recall: {shown(' '.join(str(message).split()))}\n")


def is_for_a_person() -> bool:
    """Whether standard output is a terminal; else an agent or a program reads it."""
    return sys.stdout.isatty()


@contextlib.contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, as a function of (done, total); a line now and then where it is no terminal."""
    if not sys.stderr.isatty():
        yield _plain_progress(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _plain_progress(what: str) -> Callable[[int, int], None]:
    said = monotonic()

    def say(done: int, total: int) -> None:
        nonlocal said
        if monotonic() - said >= REPORT_EVERY_SECONDS:
            said = monotonic()
            sys.stderr.write(f"{what}: {done} of {total}\n")
            sys.stderr.flush()

    return say
