"""Findings: where text holds something that must not be stored or shown. They carry offsets, never the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["secret", "private", "link", "personal", "marker", "injection"]
"""secret: a credential · private: what the writer asked not to keep · link: a URL of a machine or network that is not
public · personal: a number or address of a person · marker: where a secret was, masked by this program or another ·
injection: text that tries to instruct a model, or hides what it says."""

Severity = Literal["info", "warn", "block"]
"""info: worth knowing · warn: a person should look at it · block: must not be committed, promoted or passed on."""

KINDS: tuple[Kind, ...] = ("secret", "private", "link", "personal", "marker", "injection")
SEVERITIES: tuple[Severity, ...] = ("info", "warn", "block")


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
    severity: Severity = "block"


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets."""

    text: str
    findings: tuple[Finding, ...]
    """What was masked; offsets refer to the text before redaction."""
