"""The real command line in this process: for what a process of its own would make slow, or what has to be patched."""

from __future__ import annotations

import io
import sys

import pytest
from conftest import Ran

from recall.cli import main


def run_here(*arguments: str, given: bytes = b"", encoding: str = "utf-8") -> Ran:
    """What `recall` prints for these arguments, with `given` on its standard input."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["recall", *arguments])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            main()
    out.flush()
    err.flush()
    assert isinstance(out.buffer, io.BytesIO)
    assert isinstance(err.buffer, io.BytesIO)
    return Ran(int(ended.value.code or 0), out.buffer.getvalue(), err.buffer.getvalue())
