"""The command line: the only place that reads configuration and prints."""

from __future__ import annotations

import os
import re
import sys

_SURROGATE = re.compile("[\ud800-\udfff]")
INTERRUPTED = 130


def main() -> None:
    """Run `recall`; exits with 0 done, 1 failed, 2 wrong usage, 3 refused by a safety rule."""
    from recall.cli import streams
    from recall.cli.commands import app
    from recall.errors import RecallError, UsageError

    streams.prepare()
    sys.argv[1:] = [_as_utf8(argument) for argument in sys.argv[1:]]
    try:
        app(prog_name="recall")
    except UsageError as error:
        streams.complain(error)
        sys.exit(2)
    except RecallError as error:
        streams.complain(error)
        sys.exit(1)
    except SystemExit as ending:  # typer turns these two exceptions into exit statuses of its own
        if isinstance(ending.__context__, BrokenPipeError):  # the reader (head, less) has seen enough
            sys.exit(0)
        if ending.code == INTERRUPTED:
            streams.complain("stopped; what was done is kept, and the same command goes on from there")
            sys.exit(1)
        raise
    except Exception as error:
        from recall.faults import FAULTS, explain
        from recall.home import home_directory

        if not isinstance(error, FAULTS):
            raise
        streams.complain(explain(error, home_directory() / "recall.db"))  # a damaged page, met while reading
        sys.exit(1)


def _as_utf8(argument: str) -> str:
    """The argument as it was typed: under an ASCII locale Python hands over its bytes as surrogates."""
    if argument.isascii():
        return argument
    return os.fsencode(argument).decode("utf-8", "replace") if _SURROGATE.search(argument) else argument
