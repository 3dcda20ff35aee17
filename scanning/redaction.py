"""redact(): spans to labels."""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import blake2b

from scanning.errors import ScanningError
from scanning.merging import merge
from scanning.rule import Expired, never
from scanning.scanner import scan
from scanning.types import Finding, Kind, Redacted
from scanning.unescape import unescape

MASKED: tuple[Kind, ...] = ("secret", "private")
"""What `redact` masks unless told otherwise."""

PRIVATE_LABEL = "[PRIVATE]"
WITHHELD = "[WITHHELD: could not be scanned]"
UNSCANNABLE = "unscannable"

FINGERPRINT_BYTES = 3
"""Enough to tell a person's few hundred secrets apart, too few to confirm a guess among millions of passwords."""

_SPELLING = re.compile(r"[\\\s]+")


def redact(text: str, kinds: Collection[Kind] = MASKED, key: bytes = b"", expired: Expired = never) -> Redacted:
    """`text` with a label for every secret and private span, or for findings of the `kinds` asked for.

    The label is `[PRIVATE]`, or `[REDACTED:<rule>]`; with a key (64 bytes at most) `[REDACTED:<rule>#<fingerprint>]`,
    so that one secret is recognised wherever it stood. expired: see `scan`. A text that cannot be scanned comes back
    as `[WITHHELD: could not be scanned]`, with one finding over all of it.
    """
    try:
        findings = merge(scan(text, kinds, expired))
    except ScanningError:
        return Redacted(WITHHELD, (Finding(UNSCANNABLE, "secret", 0, len(text)),))
    parts: list[str] = []
    done = 0
    for finding in findings:
        parts += (text[done : finding.start], _label(finding, text, key))
        done = finding.end
    parts.append(text[done:])
    return Redacted("".join(parts), tuple(findings))


def redact_part(text: str, start: int, end: int) -> str:
    """`text[start:end]` with what `redact` masks in all of `text`: what tells a secret may stand outside the part."""
    try:
        findings = merge(scan(text, MASKED))
    except ScanningError:
        return WITHHELD
    parts: list[str] = []
    for finding in findings:
        if finding.start < end and finding.end > start:
            parts += (text[start : max(start, finding.start)], _label(finding, text, b""))
            start = min(end, finding.end)
    return "".join((*parts, text[start:end]))


def fingerprint(value: str, key: bytes) -> str:
    """Six hexadecimal digits that tell `value` from others, however it is escaped: keyed BLAKE2b (RFC 7693)."""
    # In UTF-16 a character and the two escapes that JSON writes for it are the same.
    spelled = _SPELLING.sub("", unescape(value)).encode("utf-16-le", "surrogatepass")
    return blake2b(spelled, digest_size=FINGERPRINT_BYTES, key=key).hexdigest()


def _label(finding: Finding, text: str, key: bytes) -> str:
    if finding.kind == "private":
        return PRIVATE_LABEL
    mark = f"#{fingerprint(text[finding.start : finding.end], key)}" if key else ""
    return f"[REDACTED:{finding.rule}{mark}]"
