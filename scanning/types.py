"""Findings: where text holds something that must not be stored or shown. They carry offsets, never the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["secret", "private"]
"""secret: a credential · private: a `<private>` span, which the writer asked not to keep."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One span of the scanned text."""

    rule: str
    """Stable name of the rule that found it, for instance `github_token`."""
    kind: Kind
    start: int
    """Code point offset, inclusive."""
    end: int
    """Code point offset, exclusive."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets."""

    text: str
    findings: tuple[Finding, ...]
    """What was masked; offsets refer to the text before redaction."""
