"""Replacing a file at once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def replace_file(path: Path, content: bytes, like: Path | None = None) -> None:
    """Put content in a file's place at once: a reader sees the old file or the new one. A link is followed.

    like: the file whose permissions it gets; where there is none, its owner alone may read it. Raises OSError.
    """
    import tempfile  # not at the top: with its random numbers it takes as long as reading the settings

    path = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    written = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if like is not None and like.exists():
            shutil.copymode(like, written)
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
