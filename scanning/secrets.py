"""Credentials: a maintained engine, plus the rules it lacks."""

from __future__ import annotations

import re

import redact_secret

from scanning import pem
from scanning.errors import ScanningError
from scanning.labelled import LABELLED
from scanning.places import PLACES
from scanning.rule import Expired, Rule, RuleSet, never
from scanning.shapes import ShapeSet, runs
from scanning.types import Finding
from scanning.values import is_harmless, is_header_credential, is_key, is_placeholder, is_public
from scanning.vendors import SHAPES

RULES: tuple[Rule, ...] = (*PLACES, *LABELLED)
_RULE_SET = RuleSet(RULES)
_SHAPE_SET = ShapeSet(SHAPES)

_CODE_CHARACTERS = re.compile(r"[()\[\]{}\s]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MASKING_ACTIONS = frozenset({"redact", "block"})
# Named by its label alone, and it takes code for values: of 24 such findings with action "redact" in 34 MB of sessions
# and 54 MB of Python nearly all were, while "warn" holds real ones such as {"password": "…"}. So, whatever the action,
# our own predicates decide. All other types are shapes, and trusted; none of them ever came with "warn".
_CONTEXTUAL_TYPE = "contextual_secret"
_GLUE = re.compile(
    r"[-_](?=sk-proj-|sk-ant-|sk_live_|glpat-|xoxb-|xoxp-|ghp_|gho_|ghs_|github_pat_|AIza|hf_|npm_|pypi-AgE)"
)
_JWT_HEAD, _FEW, _LONG_RUN = "eyJ", 64, 4_096
_HEADER_TYPES = frozenset({"authorization_credential", "bearer_token"})
_KEY_BLOCK_TYPE = "private_key"
_PASSWORD_TYPE = "connection_string_password"


def find_secrets(text: str, expired: Expired = never) -> list[Finding]:
    """Credentials in `text`, the best named first; spans may overlap. Offsets are code points.

    JSON escapes are not undone here: `scanner.scan` does that first. Raises ScanningError for a text beyond what the
    engine can take (64 MiB, 50,000 findings), and when the time is up.
    """
    apart = _without_glue(text)
    shapes, labelled = _find_with_engine(apart)
    own = list(_RULE_SET.find(text, expired))
    keys = [Finding(pem.RULE, "secret", start, end) for start, end in pem.find_keys(text)]
    # Of two findings with one span the first gives the name: github_token says more than labelled_key.
    return [*keys, *shapes, *_SHAPE_SET.find(apart), *own, *labelled]


def _find_with_engine(text: str) -> tuple[list[Finding], list[Finding]]:
    """What the engine knows by its shape, and what it knows by its label."""
    try:
        found = redact_secret.scan(_without_traps(_without_surrogates(text)))
    except redact_secret.SecretScanError as error:
        raise ScanningError(
            f"the text of {len(text)} characters could not be scanned: {error}; split it, or leave it out"
        ) from error
    shapes = [
        _finding(one) for one in found if one.type != _CONTEXTUAL_TYPE and _is_shape(one, text[one.start : one.end])
    ]
    labelled = [
        _finding(one)
        for one in found
        if one.type == _CONTEXTUAL_TYPE and _is_contextual_secret(text, one.start, text[one.start : one.end])
    ]
    return shapes, labelled


def _finding(found: redact_secret.Finding) -> Finding:
    return Finding(found.type, "secret", found.start, found.end)


def _is_shape(found: redact_secret.Finding, value: str) -> bool:
    if found.type in _HEADER_TYPES:
        # The engine takes "Basic authentication" for a credential.
        return is_header_credential(value) and not is_public(value)
    if found.type == _KEY_BLOCK_TYPE:
        # Inside a block the engine reports nothing else, so only a block without any content may stay.
        return pem.has_content(value)
    if found.type == _PASSWORD_TYPE:
        return not is_harmless(value)
    return found.action in _MASKING_ACTIONS and not is_placeholder(value)


def _is_contextual_secret(text: str, start: int, value: str) -> bool:
    if "public" in text[max(0, start - 32) : start].casefold():
        return False
    quoted = text[start - 1 : start] in {'"', "'", "`"}
    return is_key(value, quoted) and (quoted or not _CODE_CHARACTERS.search(value))


def _without_glue(text: str) -> str:
    """`text` of the same length, with a space before a token that hangs on a name, where it would not be looked for."""
    return _GLUE.sub(" ", text)


def _without_traps(text: str) -> str:
    """`text` of the same length, without what takes the engine quadratic time.

    At each `eyJ` it reads to the end of the run, to see whether that is a JWT: 256 kB of nothing else took 12 s. In a
    run that is longer than any token only the one at the beginning stays.
    """
    if len(text) < _LONG_RUN or text.count(_JWT_HEAD) < _FEW:
        return text
    parts: list[str] = []
    done = 0
    for start, end in runs(text, _LONG_RUN):
        inside = start + len(_JWT_HEAD)
        parts += (text[done:inside], text[inside:end].replace(_JWT_HEAD, " " * len(_JWT_HEAD)))
        done = end
    return "".join((*parts, text[done:]))


def _without_surrogates(text: str) -> str:
    # JSON can hold half of a surrogate pair, which has no UTF-8 form; the replacement keeps every offset.
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text
