"""`<private>…</private>`: what the writer asked not to keep."""

from __future__ import annotations

import re

from scanning.types import Finding

_TAG = re.compile(r"<(/?)private\s{0,8}>", re.IGNORECASE)
_TYPE_PARAMETER = re.compile(r"(?<=\w)<Private>", re.ASCII)


def find_private(text: str) -> list[Finding]:
    """Private spans with their tags, in order; a span inside a span is part of it.

    A span without its end goes on to the end of the text: to keep too little can be repaired, to keep too much cannot.
    """
    findings: list[Finding] = []
    depth = start = 0
    closes = None
    for tag in _TAG.finditer(text):
        if tag.group(1):
            if depth == 1:
                findings.append(Finding("private_span", "private", start, tag.end(), "warn"))
            depth = max(0, depth - 1)
            continue
        if _TYPE_PARAMETER.match(text, tag.start()):
            # Local<Private> is C++; as a tag it would hide the rest of every header.
            closes = "</private" in text.lower() if closes is None else closes
            if not closes:
                continue
        start = start if depth else tag.start()
        depth += 1
    if depth:
        findings.append(Finding("private_span", "private", start, len(text), "warn"))
    return findings
