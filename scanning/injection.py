"""Text that tries to instruct a model, or hides what it says: find_injection()."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace

from scanning.hidden import find_hidden, readable, readable_offsets
from scanning.injection_rules import PHRASES
from scanning.merging import by_severity, merge
from scanning.roles import MARKS, ROLES, TURN
from scanning.rule import Expired, Rule, RuleSet, never
from scanning.types import Finding

INJECTION_RULES: tuple[Rule, ...] = (*PHRASES, *ROLES, *MARKS)
_RULE_SET = RuleSet(INJECTION_RULES)
_MARK_NAMES = frozenset(rule.name for rule in MARKS)

_NEARBY = 160
"""How far, in code points, quotes, the start of a sentence, and what follows a mark are looked for."""

_DIRECTED_QUOTES = (("“", "”"), ("‘", "'"), ("「", "」"))
_QUOTES = ('"', "'", "`")
_ANY_QUOTE = re.compile("[\"'`“‘「]")
_OPENS_QUOTE = re.compile(r"(?:\A|[^\w.!?)\]}\"'`])[fr]?\Z", re.IGNORECASE)
_TRANSCRIPT = re.compile(r"\s{0,8}(?:human|user|assistant):", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]{0,3}```", re.MULTILINE)

_SENTENCE_START = re.compile(r"(?<!e\.g)[.!?]\s|。|\n(?=[\W_]{0,6}[A-Z]|[ \t]{0,8}(?:[-*+•]|\d{1,2}\))[ \t])")
_BULLET = re.compile(r"\s{0,16}(?:[-*+•>|]|\d{1,2}[.)])\s|\s{0,16}\Z")
_WRAPPED_LINE = 50
"""A line of this length may go on in the next one; after a shorter one a sentence starts."""

_TALK = (
    "refus", "reject", "detect", "prevent", "such as", "e.g.", " example", "instance", "attack", "inject", "jailbreak",
    "malicious", "untrusted", "attempt", "phrase", "pattern",
    "例如", "比如", "诸如", "防止", "拒绝", "检测", "识别", "注入", "攻击", "恶意", "过滤",
)  # fmt: skip
_TALK_BEHIND = re.compile(r"[^.!?\n。]{0,12}?(?:\b(?:attack|injection|blocked|rejected)|这类|之类|攻击)", re.IGNORECASE)
# The subject is another: "the job fails without telling the user"; but "the agent must ignore all earlier rules".
_DESCRIBES = re.compile(r"\W{0,8}(?:(?:we|they|it)\b|(?:the|this|that|an?)\s+\w)", re.IGNORECASE)
_DEMANDS = re.compile(r"\b(?:you|must|should|always)\b", re.IGNORECASE)
_ALLOWS = re.compile(r"\b(?:lets you|can|could|may|tries to|may try to)\s\Z", re.IGNORECASE)
# Rules of the writer, of a file, of a program that is being written.
_OWN = re.compile(r"\bmy\b|我", re.IGNORECASE)
_OF_A_FILE = re.compile(r"\s(?:if|unless|(?:in|of|with)\s[^.\n]{0,24}?(?:\.\w|--\w|config|file))", re.IGNORECASE)
_CONFIGURES = re.compile(r"(?:override|bypass)\s(?:the\s)?system prompt", re.IGNORECASE)
_SIGNS_IN = re.compile(r"://\S{0,80}(?:auth|login|token)", re.IGNORECASE)


def find_injection(text: str, expired: Expired = never) -> list[Finding]:
    """Attempts in `text` to instruct a model or to hide something, in order and without overlaps.

    `block` only for what is meant: a phrase in quotes, or one that the sentence speaks about, is a `warn`. A mark
    between speakers is a `warn`, in quotes or in a transcript an `info`, and a `block` where a phrase follows that is
    meant.
    """
    plain = readable(text)
    found = list(_RULE_SET.find(plain, expired))
    if found:
        context = _Context(plain)
        found = _raise_marks([context.weigh(one) for one in found])
    if found and len(plain) != len(text):
        offsets = readable_offsets(text)
        found = [
            Finding(one.rule, one.kind, offsets.original(one.start), offsets.original(one.end - 1) + 1, one.severity)
            for one in found
        ]
    return merge([*found, *find_hidden(text)], by_severity)


class _Context:
    """What stands around the findings in one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_transcript = _TRANSCRIPT.match(text) is not None
        self._fences = [match.start() for match in _FENCE.finditer(text)] if "```" in text else []

    def weigh(self, finding: Finding) -> Finding:
        """`finding` with the severity that it has at its place."""
        if finding.rule in _MARK_NAMES:
            belongs = self._is_quoted(finding) or (finding.rule == TURN.name and self._is_transcript)
            return replace(finding, severity="info") if belongs else finding
        if finding.severity != "block" or self._is_meant(finding):
            return finding
        return replace(finding, severity="warn")

    def _is_meant(self, finding: Finding) -> bool:
        return not (
            self._is_quoted(finding) or self._is_spoken_about(finding) or self._is_about_rules_of_others(finding)
        )

    def _is_quoted(self, finding: Finding) -> bool:
        fences = bisect_right(self._fences, finding.start)
        if fences % 2 and fences < len(self._fences):
            return True
        before = self._text[max(0, finding.start - _NEARBY) : finding.start]
        if not _ANY_QUOTE.search(before):
            return False
        behind = self._text[finding.end : finding.end + _NEARBY]
        return any(
            before.rfind(opening) > before.rfind(closing) and closing in behind for opening, closing in _DIRECTED_QUOTES
        ) or any(_is_between(quote, before, behind) for quote in _QUOTES)

    def _is_spoken_about(self, finding: Finding) -> bool:
        if _TALK_BEHIND.match(self._text, finding.end):
            return True
        sentence = self._sentence_before(finding.start)
        return (
            any(map(f" {self._list_head(finding.start)} {sentence}".lower().__contains__, _TALK))
            or _ALLOWS.search(sentence) is not None
            or (_DESCRIBES.match(sentence) is not None and not _DEMANDS.search(sentence))
        )

    def _sentence_before(self, end: int) -> str:
        """The sentence up to `end`, or as much of it as is near."""
        # With the next character: a capital on a new line starts a sentence.
        sentence = _SENTENCE_START.split(self._text[max(0, end - _NEARBY) : end + 1])[-1][:-1]
        lines = sentence.split("\n")
        first = len(lines) - 1
        while first > 0 and len(lines[first - 1]) >= _WRAPPED_LINE:
            first -= 1
        return "\n".join(lines[first:])

    def _list_head(self, end: int) -> str:
        """The line that announces the list in which `end` stands, such as "Patterns to refuse:"."""
        for line in reversed(self._text[max(0, end - 4 * _NEARBY) : end].split("\n")[:-1]):
            if line.rstrip().endswith(":"):
                return line
            if not _BULLET.match(line):
                break
        return ""

    def _is_about_rules_of_others(self, finding: Finding) -> bool:
        value = self._text[finding.start : finding.end]
        if finding.rule == "exfiltrate":
            return _SIGNS_IN.search(value) is not None
        return finding.rule.startswith("override_instructions") and bool(
            _OWN.search(value) or _CONFIGURES.fullmatch(value) or _OF_A_FILE.match(self._text, finding.end)
        )


def _is_between(quote: str, before: str, behind: str) -> bool:
    """Whether the last `quote` before a span opens one, and another follows to close it."""
    at = before.rfind(quote)
    closes = behind.find(quote)
    if at < 0 or closes < 0 or before[at + 1 : at + 2].isspace() or behind[closes - 1 : closes].isspace():
        return False
    return _OPENS_QUOTE.search(before[max(0, at - 2) : at]) is not None


def _raise_marks(findings: list[Finding]) -> list[Finding]:
    """`findings`, with `block` for each mark between speakers behind which a phrase is meant."""
    meant = sorted(one.start for one in findings if one.severity == "block")

    def is_followed(mark: Finding) -> bool:
        following = bisect_left(meant, mark.end)
        return following < len(meant) and meant[following] < mark.end + _NEARBY

    return [
        replace(one, severity="block")
        if one.rule in _MARK_NAMES and one.severity == "warn" and is_followed(one)
        else one
        for one in findings
    ]
