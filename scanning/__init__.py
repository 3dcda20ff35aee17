"""Secrets and private spans in text, found and masked.

>>> from scanning import redact, scan
>>> scan("see commit 9f2c1e7ab04d55c3e8716f0d2b9a4c67e1f03d58")
[]
>>> redacted = redact("DB_PASSWORD=" + "Harbor9" + "kite")
>>> redacted.text
'DB_PASSWORD=[REDACTED:password]'
>>> [(found.rule, found.kind, found.start, found.end) for found in redacted.findings]
[('password', 'secret', 12, 23)]

Offsets are code points. The package is pure: text in, findings out; no files, no clock, no SQL. Nothing is logged.

ScanningError: the text could not be scanned, so that nothing may be said about it; `redact` withholds it.
"""

from scanning.errors import ScanningError
from scanning.redaction import redact
from scanning.scanner import scan
from scanning.types import Finding, Kind, Redacted

RULES_VERSION = 1
"""Rises whenever a rule changes what it finds: text that was stored under an older version has to be scanned again."""

__all__ = ["RULES_VERSION", "Finding", "Kind", "Redacted", "ScanningError", "redact", "scan"]
