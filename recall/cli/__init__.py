"""The command line: the only place that reads configuration and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `recall`; exits with 0 done, 1 failed, 2 wrong usage, 3 refused by a safety rule."""
    from recall.cli import streams
    from recall.cli.commands import app
    from recall.errors import RecallError, UsageError

    streams.prepare()
    try:
        app(prog_name="recall")
    except UsageError as error:
        streams.complain(error)
        sys.exit(2)
    except RecallError as error:
        streams.complain(error)
        sys.exit(1)
    except KeyboardInterrupt:
        streams.complain("stopped; what was done is kept, and the same command goes on from there")
        sys.exit(1)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        sys.stderr.close()
        sys.exit(0)
