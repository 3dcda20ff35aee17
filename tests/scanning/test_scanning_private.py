from __future__ import annotations

import json

import pytest

from scanning import redact, scan


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("a <private>b</private> c", "a [PRIVATE] c"),
        ("a <PRIVATE>b\nb</Private> c", "a [PRIVATE] c"),
        ("a <private>b, to the end", "a [PRIVATE]"),
        ("<private>a <private>b</private> c</private> d", "[PRIVATE] d"),
        ("<private>a</private><private>b</private>", "[PRIVATE][PRIVATE]"),
        ("字<private>密</private>字", "字[PRIVATE]字"),
        ("no span</private> here", "no span</private> here"),
        ("Local<Private> name", "Local<Private> name"),
        ("the private road", "the private road"),
    ],
)
def test_a_private_span_goes_with_its_tags(text: str, redacted: str) -> None:
    assert redact(text).text == redacted


def test_a_private_span_with_escaped_brackets_goes_too() -> None:
    text = json.dumps({"text": "a <private>b</private> c"}).replace("<", "\\u003c").replace(">", "\\u003e")
    assert json.loads(redact(text).text) == {"text": "a [PRIVATE] c"}


def test_a_private_span_is_a_finding_of_its_own_kind() -> None:
    assert [(one.rule, one.kind, one.start, one.end) for one in scan("a <private>b</private>")] == [
        ("private_span", "private", 2, 22)
    ]


def test_a_secret_in_a_private_span_is_one_finding() -> None:
    text = "<private>DB_PASSWORD=" + "Harbor9" + "kite</private>"
    assert redact(text).text == "[PRIVATE]"


def test_a_secret_in_a_private_span_still_blocks() -> None:
    plain, secret = "<private>a note</private>", "<private>DB_PASSWORD=" + "Harbor9" + "kite</private>"
    assert [(one.kind, one.severity) for text in (plain, secret) for one in scan(text)] == [
        ("private", "warn"), ("private", "block"),
    ]  # fmt: skip
