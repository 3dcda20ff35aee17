"""Text as transcripts hold it, made fit to be stored: valid Unicode, no NUL, no embedded files."""

from __future__ import annotations

import re

BASE64_LIMIT = 200
"""Longest run of base64 that may be text. Anything longer is an embedded file, not something that was said."""

FAR = 64_000
OUTPUT_HEAD = 2_000
OUTPUT_TAIL = 1_000
"""Code points kept of what a tool printed. Errors stand at the end, what was asked for at the beginning."""

_DATA_URL = re.compile(r"data:[\w.+-]{1,60}/[\w.+-]{1,80}(?:;[\w=.+-]{1,60})*;base64,[A-Za-z0-9+/=_\-\s]{16,}")
_BASE64 = re.compile(rf"[A-Za-z0-9+/_-]{{{BASE64_LIMIT + 1},}}={{0,2}}")
_RUN = b"a" * (BASE64_LIMIT + 1)
_TO_RUNS = bytes(ord("a") if chr(code).isalnum() or code in b"+/_-" else ord(" ") for code in range(128)) + b" " * 128
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def clean(text: str) -> str:
    """`text` as SQLite and a terminal can hold it.

    Half surrogate pairs become U+FFFD, NUL goes, terminal colours go, CRLF becomes LF, embedded files become
    `[base64]`.
    """
    if "\x00" in text:
        text = text.replace("\x00", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if not text.isascii():
        # A proper pair written as two escapes is one character; what is left alone afterwards is half of one.
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            text = _SURROGATE.sub("\ufffd", text)
    if ";base64," in text:
        text = _DATA_URL.sub("[base64]", text)
    # Looked for first in a way that is twenty times as fast as the pattern: few texts hold such a run.
    if len(text) > BASE64_LIMIT and _RUN in text.encode("ascii", "replace").translate(_TO_RUNS):
        text = _BASE64.sub(_drop_file, text)
    return text


def _drop_file(match: re.Match[str]) -> str:
    run = match[0]
    # A ruler (-----) or a long path is no file: base64 has many different characters, and a slash in 64 of them.
    is_file = len(set(run)) >= 4 and run.count("/") * 16 < len(run)
    return "[base64]" if is_file else run


def shorten_far(text: str) -> str:
    """A giant output without its middle, before redaction.

    What is cut away here lies so far from what `shorten_output` keeps that no secret can reach across.
    """
    if len(text) <= 2 * FAR:
        return text
    return f"{text[:FAR]}\n[…]\n{text[-FAR:]}"


def shorten_output(text: str) -> str:
    """The head and the tail of what a tool printed, with the number of characters left out. Redact it first."""
    left_out = len(text) - OUTPUT_HEAD - OUTPUT_TAIL
    if left_out <= 0:
        return text
    return f"{text[:OUTPUT_HEAD]}\n[… {left_out} characters …]\n{text[-OUTPUT_TAIL:]}"
