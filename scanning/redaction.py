"""redact(): spans to labels."""

from __future__ import annotations

from scanning.errors import ScanningError
from scanning.scanner import scan
from scanning.types import Finding, Redacted

PRIVATE_LABEL = "[PRIVATE]"
WITHHELD = "[WITHHELD: could not be scanned]"


def redact(text: str) -> Redacted:
    """`text` with `[REDACTED:<rule>]` for every secret and `[PRIVATE]` for every private span.

    A text that cannot be scanned comes back as `[WITHHELD: could not be scanned]`, with one finding over all of it.
    """
    try:
        findings = scan(text)
    except ScanningError:
        return Redacted(WITHHELD, (Finding("unscannable", "secret", 0, len(text)),))
    parts: list[str] = []
    done = 0
    for finding in findings:
        parts += (text[done : finding.start], _label(finding))
        done = finding.end
    parts.append(text[done:])
    return Redacted("".join(parts), tuple(findings))


def _label(finding: Finding) -> str:
    return PRIVATE_LABEL if finding.kind == "private" else f"[REDACTED:{finding.rule}]"
