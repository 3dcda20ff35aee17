"""redact() as a home needs it: with its fingerprint key, and a time limit for each text."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from recall.home import KEY_NAME
from scanning import Redacted, redact

Redact = Callable[[str], Redacted]

SCAN_SECONDS = 10.0
SLOWEST = 500_000
"""Seconds for one text, and one more for so many characters. Ordinary text takes a twentieth of that; what takes longer
is withheld."""

# Where a text was shortened (recall/archive.py, recall/transcripts/text.py), and the word that stands there.
_CUT_OFF = re.compile(
    r"(?<![\w+=.~-])[\w+=.~-]{8,}+(?=…\Z|\n\[… \d{1,12} characters …\]\n)|(?<= characters …\]\n)[\w+=.~-]{8,}+",
    re.ASCII,
)
_DIGIT = re.compile("[0-9]")

KEY_BYTES = 32


def redact_with(key: bytes, seconds: float = SCAN_SECONDS) -> Redact:
    """A function from text to redacted text whose labels carry fingerprints under `key`; without a key, none."""

    return lambda text: redact(text, key=key, expired=time_limit(text, seconds))


def hide_cut_off(text: str) -> str:
    """`text` of the same length with stars for what may be a part of a secret where it was shortened.

    Rules that know the secret now do not know a part of it, and what told more of it is gone.
    """
    if "…" not in text:
        return text
    return _CUT_OFF.sub(lambda word: "*" * len(word[0]) if _DIGIT.search(word[0]) else word[0], text)


def time_limit(text: str, seconds: float = SCAN_SECONDS) -> Callable[[], bool]:
    """A function that says whether the time for `text`, which begins now, is up."""
    deadline = monotonic() + seconds + len(text) / SLOWEST
    return lambda: monotonic() > deadline


def read_key(home: Path | None) -> bytes:
    """The fingerprint key of a home; empty where it has none yet, or is in memory."""
    with contextlib.suppress(OSError):
        key = (home / KEY_NAME).read_bytes() if home else b""
        if len(key) == KEY_BYTES:
            return key
    return b""


def make_key(home: Path | None) -> bytes:
    """The fingerprint key of a home, made if need be: call it under the database's lock. In memory, a new one.

    It is kept beside the database and not in it: whoever is given the database alone can confirm no guess.
    """
    if key := read_key(home):
        return key
    key = os.urandom(KEY_BYTES)
    if home:
        written = home / f".{KEY_NAME}"
        with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        written.replace(home / KEY_NAME)
    return key
