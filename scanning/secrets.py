"""Credentials: a maintained engine, plus the rules it lacks."""

from __future__ import annotations

import re

import redact_secret

from scanning import pem
from scanning.errors import ScanningError
from scanning.labelled import LABELLED
from scanning.places import PLACES
from scanning.rule import Rule, RuleSet
from scanning.types import Finding
from scanning.values import has_marker, is_harmless, is_header_credential, is_key

RULES: tuple[Rule, ...] = (*PLACES, *LABELLED)
_RULE_SET = RuleSet(RULES)

_CODE_CHARACTERS = re.compile(r"[()\[\]{}\s]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MASKING_ACTIONS = frozenset({"redact", "block"})
# Named by its label alone. Measured over 54 MB of Python and 34 MB of sessions, whatever its action: 62 of 62 "warn" and
# 21 of 25 "redact" were code, so these go through our own predicates; all other types are shapes, and trusted.
_CONTEXTUAL_TYPE = "contextual_secret"
_HEADER_TYPES = frozenset({"authorization_credential", "bearer_token"})
_KEY_BLOCK_TYPE = "private_key"
_PASSWORD_TYPE = "connection_string_password"


def find_secrets(text: str) -> list[Finding]:
    """Credentials in `text`, in no order; spans may overlap. Offsets are code points.

    JSON escapes are not undone here: `scanner.scan` does that first. Raises ScanningError for a text beyond what the
    engine can take (64 MiB, 50,000 findings).
    """
    findings = _find_with_engine(text)
    findings += (Finding(rule, "secret", start, end) for rule, start, end in _RULE_SET.find(text))
    findings += (Finding(pem.RULE, "secret", start, end) for start, end in pem.find_keys(text))
    return findings


def _find_with_engine(text: str) -> list[Finding]:
    try:
        found = redact_secret.scan(_without_surrogates(text))
    except redact_secret.SecretScanError as error:
        raise ScanningError(
            f"the text of {len(text)} characters could not be scanned: {error}; split it, or leave it out"
        ) from error
    findings = []
    for one in found:
        value = text[one.start : one.end]
        if one.type == _CONTEXTUAL_TYPE:
            secret = _is_contextual_secret(text, one.start, value)
        elif one.type in _HEADER_TYPES:
            # The engine takes "Basic authentication" for a credential.
            secret = is_header_credential(value)
        elif one.type == _KEY_BLOCK_TYPE:
            # Inside a block the engine reports nothing else, so only a block without any content may stay.
            secret = pem.has_content(value)
        elif one.type == _PASSWORD_TYPE:
            secret = not is_harmless(value)
        else:
            secret = one.action in _MASKING_ACTIONS and not has_marker(value)
        if secret:
            findings.append(Finding(one.type, "secret", one.start, one.end))
    return findings


def _is_contextual_secret(text: str, start: int, value: str) -> bool:
    if "public" in text[max(0, start - 32) : start].casefold():
        return False
    quoted = text[start - 1 : start] in {'"', "'", "`"}
    return is_key(value, quoted) and (quoted or not _CODE_CHARACTERS.search(value))


def _without_surrogates(text: str) -> str:
    # JSON can hold half of a surrogate pair, which has no UTF-8 form; the replacement keeps every offset.
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text
