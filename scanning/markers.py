"""Marks that stand where a secret was: ours and those of other tools. They are no secrets, and no text to be kept."""

from __future__ import annotations

import re

from scanning.rule import Expired, Rule, RuleSet, anything, never
from scanning.types import Finding

# In lower case most of these words are names: [secret] is a table of TOML, <private> opens a span of ours.
_WORD = r"(?:PRIVATE|WITHHELD|MASKED|REMOVED|FILTERED|SECRET|(?i:redacted))"

LABEL = Rule(
    name="redaction_label",
    anchors=(
        "[redacted",
        "[private",
        "[withheld",
        "[masked",
        "[removed",
        "[filtered",
        "[secret",
        "<redacted",
        "<secret",
    ),
    pattern=re.compile(
        rf"(?P<value_brackets>\[{_WORD}(?:[:_ #-][\w :#-]{{0,64}})?\])"
        r"|(?P<value_angles><(?:SECRET|(?i:redacted))(?:[:_-][\w:-]{1,40})?>)"
    ),
    accepts=anything,
    matches=(
        ("token [REDACTED:github_token#3fa9c1] on Fridays", "[REDACTED:github_token#3fa9c1]"),
        ("a [PRIVATE] b", "[PRIVATE]"),
        ("[WITHHELD: could not be scanned]", "[WITHHELD: could not be scanned]"),
        ("pw=[MASKED]", "[MASKED]"),
        ("pw=[REMOVED]", "[REMOVED]"),
        ("pw=[FILTERED]", "[FILTERED]"),
        ("pw=[SECRET_1]", "[SECRET_1]"),
        ("pw=[redacted]", "[redacted]"),
        ("token=<SECRET_1>", "<SECRET_1>"),
        ("token=<REDACTED>", "<REDACTED>"),
        ("token=<redacted>", "<redacted>"),
    ),
    ignores=("[secret]", "<private>", "a [private] key", "[removed the old file]", "<secret>", "redacted"),
    kind="marker",
    severity="info",
)

STARS = Rule(
    name="masked_value",
    anchors=("***", "•••", "●●●", "██"),
    pattern=re.compile(
        # Stars are a mark only where a value would stand: elsewhere they are Markdown, comments and globs.
        r"(?:(?<=[:=：＝][ ])|(?<=[:=：＝\"'_-]))(?P<value_stars>\*{3,256})(?![\w*])"
        r"|(?P<value_dots>[•●█]{2,256})"
    ),
    accepts=anything,
    matches=(
        ("db_pass: ******", "******"),
        ('"password":"***"', "***"),
        ("密码：****", "****"),
        ("ghp_************", "************"),
        ("pin ••••", "••••"),
        ("pin ●●●●", "●●●●"),
        ("pin ██", "██"),
    ),
    ignores=("***bold***", "/*** comment ***/", "note: ***bold***", "src/***/x", "• one • two"),
    kind="marker",
    severity="info",
)

_PREFIXES = ("sk-", "sk_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "akia", "hf_", "npm_")

ELIDED = Rule(
    name="elided_token",
    anchors=_PREFIXES,
    pattern=re.compile(
        rf"(?<![A-Za-z0-9_-])(?P<value_elided>(?i:{'|'.join(_PREFIXES)})[\w-]{{0,24}}(?:…|\.{{3}})\w{{0,8}})"
    ),
    accepts=anything,
    matches=(("key sk-…abcd", "sk-…abcd"), *((f"use {prefix}Kt...9Q now", f"{prefix}Kt...9Q") for prefix in _PREFIXES)),
    ignores=("task-… done", "sk- and more …", "akia"),
    kind="marker",
    severity="info",
)

MARKER_RULES = (LABEL, STARS, ELIDED)
_RULE_SET = RuleSet(MARKER_RULES)


def find_markers(text: str, expired: Expired = never) -> list[Finding]:
    """Marks of redaction in `text`, in no order."""
    return list(_RULE_SET.find(text, expired))
