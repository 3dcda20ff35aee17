"""What users of other tools reported: secrets that passed, and harmless text that was masked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scanning import MASKED, redact, scan

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "ghp_" + "Kt7" * 12
WORD = "Harbor9" + "kite"
LONG = "Harbor9" + "kite22xQ"
PHRASE = "harbor 9" + " with spaces"
ENCODED = "Harbor" + "%409kite"
BEGIN, END = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n" * 3
KEY_BLOCK = f"{BEGIN}\n{BODY}{END}\n"


def found(text: str) -> list[str]:
    return [text[finding.start : finding.end] for finding in scan(text, MASKED)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"密钥是{TOKEN}，别外传", TOKEN),
        (f"用{TOKEN}这个", TOKEN),
        (f"１{TOKEN}", TOKEN),
        (f"口令：{WORD}", WORD),
        (f"数据库密码＝{WORD}-22", f"{WORD}-22"),
        (f"password：{WORD}-22", f"{WORD}-22"),
        ("密码：风筝港口" + "2026", "风筝港口" + "2026"),
        (f"用户名：kite，密码：{WORD}，请保密", WORD),
        (f"\x1b[32m{TOKEN}\x1b[0m", TOKEN),
    ],
)
def test_a_secret_beside_chinese_text_is_found_exactly(text: str, value: str) -> None:
    assert found(text) == [value]


@pytest.mark.parametrize("text", ["密码学课程", "密码：请问管理员", "口令：见下文", "tokenizer速度"])
def test_chinese_text_about_passwords_stays(text: str) -> None:
    assert scan(text, MASKED) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"redis://:{WORD}@cache.kite.internal:6379/0", WORD),
        (f"postgres://svc@db/app?password={WORD}&sslmode=require", WORD),
        (f"amqp://svc:{ENCODED}@mq:5672", ENCODED),
        (f"export KITE_API_KEY='{PHRASE}'", PHRASE),
        (f'"KITE_TOKEN={WORD}22"', f"{WORD}22"),
        (f"+KITE_SECRET={WORD}22", f"{WORD}22"),
        ('curl -H "Authorization: Basic ' + 'aGFyYm9yOmtpdGU5OTk="', "aGFyYm9yOmtpdGU5OTk="),
        (f"--password {WORD}", WORD),
        (f'kite_token = "{LONG}"', LONG),
        (f'{{"service":"kite","op":"Auth.login","auth_token":"{LONG}"}}', LONG),
        (f"the admin password is {WORD[:7]}-kite, keep it out of code", f"{WORD[:7]}-kite"),
    ],
)
def test_a_secret_known_by_its_place_is_found_and_its_surroundings_stay(text: str, value: str) -> None:
    assert found(text) == [value]
    before, after = text.split(value)
    redacted = redact(text).text
    assert redacted.startswith(before)
    assert redacted.endswith(after)


def test_two_tokens_on_one_line_are_both_found() -> None:
    other = "ghp_" + "Qx3" * 12
    assert found(f"{TOKEN} and {other}") == [TOKEN, other]


@pytest.mark.parametrize(
    "text",
    [
        KEY_BLOCK,
        json.dumps(KEY_BLOCK),
        json.dumps(json.dumps(KEY_BLOCK)),
        f"{BEGIN}\n{BODY}",
        json.dumps(f"{BEGIN}\n{BODY}")[:-1],
        json.dumps(json.dumps(f"{BEGIN}\n{BODY}"))[:-1],
        f"{BODY}{END}",
        json.dumps(f"x\n{BODY}{END}"),
        "\n".join(f"+{line}" for line in KEY_BLOCK.splitlines()),
        "\n".join(f"    {line}" for line in KEY_BLOCK.splitlines()),
    ],
)
def test_no_line_of_a_private_key_survives_however_it_is_quoted_or_cut(text: str) -> None:
    assert "MIIEv" not in redact(text).text
    assert "Us8cKj" not in redact(text).text


def test_a_private_key_without_its_end_is_masked_to_the_end_of_the_text() -> None:
    text = f"see\n{BEGIN}\n{BODY}"
    assert [(one.rule, one.start, one.end) for one in scan(text, MASKED)] == [("private_key", 4, len(text))]


@pytest.mark.parametrize(
    "text",
    [
        f'if "{BEGIN}" in text: return True',
        f"A file that begins with {BEGIN}\nFollowing that line come the bytes.",
        f"{BEGIN}\n...\n{END}",
    ],
)
def test_a_text_that_speaks_about_private_keys_stays(text: str) -> None:
    assert scan(text, MASKED) == []


@pytest.mark.parametrize(
    "text",
    [
        "commit 9f2c1e7ab04d55c3e8716f0d2b9a4c67e1f03d58",
        "7c1c2f0e-5d3b-4a86-9f0e-3b1f6f0c2d11",
        '"integrity": "sha512-' + "Kt7+" * 21 + 'Kg=="',
        "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 8,
        'kite_token = os.getenv("KITE_TOKEN")',
        "KITE_KEY=process.env.KITE_KEY",
        "KITE_KEY=${KITE_KEY}",
        "max_tokens=4096",
        "password: str",
        "`password: string`",
        'api_key="<your-key>"',
        "AKIA" + "IOSFODNN7EXAMPLE",
        "task-based",
        "callFunctionToRefreshHarborIndexNow",
        "release 10.4.18.2",
        "http://localhost:3000",
        "token: tokens[i]",
        "password = input('Password: ')",
        'password = "changeme"',
        "password: xxxxxxxx",
        "Authorization: Basic authentication",
        "the password is wrong",
    ],
)
def test_look_alikes_are_not_masked(text: str) -> None:
    assert scan(text, MASKED) == []
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "db_pass: ******",
        "API_KEY=[REDACTED:github]",
        "key sk-…abcd",
        "Deploy with token [REDACTED:github] on Fridays",
        "token=<SECRET_1>",
        "password: [REDACTED]",
        "github_token: ***\\ntest\\tUNKNOWN STEP",
        '"password": "[PRIVATE]"',
    ],
)
def test_a_mark_of_redaction_is_never_taken_for_a_secret(text: str) -> None:
    assert scan(text, MASKED) == []


def test_our_own_source_gives_the_scanner_nothing_to_find() -> None:
    files = [*(ROOT / "scanning").rglob("*.py"), *(ROOT / "tests" / "scanning").rglob("*.py")]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    secrets = {name: [text[one.start : one.end] for one in scan(text, ["secret"])] for name, text in texts.items()}
    assert {name: values for name, values in secrets.items() if values} == {}
