from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanning import MASKED, redact, scan
from scanning.merging import merge
from scanning.types import Finding
from scanning.unescape import Offsets, unescape

ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
TOKENS = st.text(ALPHANUMERIC, min_size=36, max_size=36).filter(lambda text: len(set(text)) > 6).map("ghp_".__add__)
# A value that calls itself an example, or is named like the field that would hold it, is no secret; and hypothesis
# reads such words in the source.
CALLED_EXAMPLE = re.compile(
    "example|placeholder|change.?me|your|redacted|credential|passw|passphrase|secret|token|key", re.IGNORECASE
)
PASSWORDS = (
    st.text(f"{ALPHANUMERIC}!#%+-", min_size=4, max_size=24)
    .map("Harbor9{}x".format)
    .filter(lambda text: not CALLED_EXAMPLE.search(text))
)

SURROUNDINGS: dict[str, Callable[[str], str]] = {
    "settings": lambda value: f"DB_PASSWORD={value}",
    "a diff line": lambda value: f"@@ -1 +1 @@\n-DB_PASSWORD=\n+DB_PASSWORD={value}\n",
    "JSON": lambda value: json.dumps({"user": "kite", "password": value}),
    "JSON in JSON": lambda value: json.dumps({"text": json.dumps({"password": value, "user": "kite"})}),
    "JSON in JSON in JSON": lambda value: json.dumps(json.dumps(json.dumps({"password": value}))),
    "a line inside JSON": lambda value: json.dumps({"text": f"first\nDB_PASSWORD={value}\nlast"}),
    "source": lambda value: f'db.connect(user="kite", password="{value}", port=5432)',
    "YAML": lambda value: f"db:\n  password: {value}\n  user: kite\n",
    "Chinese": lambda value: f"管理员的密码：{value}，别外传",
    "Chinese, glued": lambda value: f"密码是{value}请保密",
    "escaped Chinese": lambda value: json.dumps(json.dumps({"密码": value})),
    "an option": lambda value: f"kite login --password {value} --fast",
    "XML": lambda value: f"<password>{value}</password>",
    "Markdown": lambda value: f"- **Password:** `{value}`",
}
TOKEN_SURROUNDINGS: dict[str, Callable[[str], str]] = {
    "alone": lambda value: value,
    "the start": lambda value: f"{value} is the token",
    "the end": lambda value: f"the token is {value}",
    "after an escaped line break": lambda value: f"first\\n{value}\\nlast",
    "after a twice escaped line break": lambda value: f"first\\\\n{value}\\\\nlast",
    "a coloured log line": lambda value: f"\x1b[33mWARN\x1b[0m \x1b[1m{value}\x1b[0m",
    "Chinese, glued": lambda value: f"用{value}这个",
}

LABELS = """password PASSWORD= token: KITE_TOKEN api_key secret 密码 口令 密钥是 --password mysql -p curl -u of user
    Authorization: Basic Bearer https:// kite: @host/ os.getenv("X") ${X} changeme value export"""
SIGNS = """： : = ＝ " ' ` \\" \\\\\\" , ， 。 & ? :// / - -- ( ) [ ] { } | > < \\u5bc6\\u7801 \\u003d \\u0022 \\n
    \\\\n + ** . İ"""
OTHERS = """<private> </private> [REDACTED:password] [REDACTED] *** <SECRET_1> [PRIVATE] … ... x 风筝港口2026
    9f2c1e7ab04d55c3 MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw"""
FRAGMENTS = st.sampled_from([*LABELS.split(), *SIGNS.split(), *OTHERS.split(), " ", "\n", "\ud800"])
PLANTED = st.sampled_from(
    [
        "Harbor9" + "kite",
        "Harbor9" + "kite-22",
        "ghp_" + "Kt7" * 12,
        "AKIA" + "Q3EGRSZ7PLMT4VWX",
        "-----BEGIN " + "PRIVATE KEY-----",
    ]
)
TEXTS = st.lists(FRAGMENTS | PLANTED, max_size=16).map("".join)


def survives(value: str, text: str) -> bool:
    """Whether any run of 8 characters of `value` stands in `text`."""
    return any(value[start : start + 8] in text for start in range(len(value) - 7))


@pytest.mark.parametrize("surrounding", SURROUNDINGS)
@given(password=PASSWORDS)
@settings(max_examples=60, deadline=None)
def test_no_part_of_a_labelled_password_survives(surrounding: str, password: str) -> None:
    assert not survives(password, redact(SURROUNDINGS[surrounding](password)).text)


@pytest.mark.parametrize("surrounding", [*SURROUNDINGS, *TOKEN_SURROUNDINGS])
@given(token=TOKENS)
@settings(max_examples=40, deadline=None)
def test_no_part_of_a_token_survives_wherever_it_stands(surrounding: str, token: str) -> None:
    text = {**SURROUNDINGS, **TOKEN_SURROUNDINGS}[surrounding](token)
    assert not survives(token, redact(text).text)


@given(text=TEXTS | st.text())
@settings(max_examples=1500, deadline=None)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(text=TEXTS | st.text())
@settings(max_examples=500, deadline=None)
def test_findings_are_in_order_inside_the_text_and_apart(text: str) -> None:
    findings = scan(text, MASKED)
    bounds = [0, *(offset for one in findings for offset in (one.start, one.end)), len(text)]
    assert bounds == sorted(bounds)
    assert all(one.start < one.end for one in findings)


@given(text=TEXTS | st.text())
@settings(max_examples=500, deadline=None)
def test_a_text_without_findings_comes_back_unchanged(text: str) -> None:
    redacted = redact(text)
    assert bool(redacted.findings) == (redacted.text != text)


@given(text=TEXTS)
@settings(max_examples=300, deadline=None)
def test_the_text_between_findings_stays(text: str) -> None:
    redacted = redact(text)
    kept = [0, *(offset for one in redacted.findings for offset in (one.start, one.end)), len(text)]
    position = 0
    for start, end in zip(kept[::2], kept[1::2], strict=True):
        position = redacted.text.index(text[start:end], position) + end - start
    assert redacted.text.count("[") == text.count("[") - sum(
        text[one.start : one.end].count("[") - 1 for one in redacted.findings
    )


@pytest.mark.parametrize("quote", ['"', "'", "`", '\\"', '\\\\\\"'])
def test_quotes_around_a_masked_value_stay(quote: str) -> None:
    text = f"{quote}password{quote}: {quote}{'Harbor9' + 'kite'}{quote}, {quote}user{quote}: 1"
    assert redact(text).text == f"{quote}password{quote}: {quote}[REDACTED:password]{quote}, {quote}user{quote}: 1"


def test_overlapping_findings_become_one_with_the_name_of_the_longest() -> None:
    parts = [Finding("a", "secret", 0, 5), Finding("b", "secret", 3, 20), Finding("c", "secret", 20, 22)]
    assert merge(parts) == [Finding("b", "secret", 0, 20), Finding("c", "secret", 20, 22)]


@given(
    text=st.lists(st.sampled_from(["\\n", "\\\\t", "\\u5bc6", "\\\\\\u003d", "\\/", "\\", "a", "密", "\\\\"])).map(
        "".join
    )
)
def test_each_character_of_the_unescaped_text_knows_where_it_came_from(text: str) -> None:
    readable, offsets = unescape(text), Offsets.of(text)
    origins = [text[offsets.original(at) : offsets.original(at + 1)] for at in range(len(readable))]
    assert "".join(origins) == text
    assert [unescape(origin) for origin in origins] == list(readable)
