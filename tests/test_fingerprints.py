"""The six digits in a label: one secret is recognised wherever it stood, and nothing is told of it."""

from __future__ import annotations

import json
import os
import re
import stat
import string
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Home
from here import run_here
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from planted import PLANTED, left_in, made_up, traces
from transcript_lines import claude_lines, codex_lines, uid, write

import recall
from recall import Message, Scope, Session
from recall.redacting import KEY_BYTES, KEY_NAME, read_key, redact_with
from scanning import fingerprint, redact

EVERYWHERE = Scope.everywhere()
TOKEN, OTHER = (f"{PLANTED['github'].prefix}{made_up(36, number)}" for number in (401, 402))
PASSWORD = 'Harbor9"ki\\te' + "22xQ"
LABEL = re.compile(r"\[REDACTED:([a-z_]+)#([0-9a-f]{6})\]")
KEYS = st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES)

SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "escaped": json.dumps,
    "escaped twice": lambda text: json.dumps(json.dumps({"text": text})),
    "escaped to ASCII in a list": lambda text: json.dumps(["灯塔", text], ensure_ascii=True),
}


def labels(index: recall.Index, name: str) -> list[str]:
    messages = index.show(f"{name}:1", before=0, after=50)
    return [match[0] for message in messages for match in LABEL.finditer(message.text)]


def one_label(index: recall.Index, name: str, text: str) -> str:
    index.add(Session(name, messages=(Message("user", text),)))
    (label,) = labels(index, name)
    return label


# What a label tells


def test_two_secrets_of_a_kind_have_two_labels_and_one_has_one_in_every_session(index: recall.Index) -> None:
    first = one_label(index, "one", f"the lantern says {TOKEN}")
    assert one_label(index, "two", f"and here: {TOKEN}.") == first
    other = one_label(index, "three", f"the lantern says {OTHER}")
    assert first != other
    assert LABEL.sub(r"\1", first) == LABEL.sub(r"\1", other) == "github_token"


@pytest.mark.parametrize("name", [name for name in PLANTED if name != "pem"])
def test_a_secret_has_one_fingerprint_however_it_is_escaped(index: recall.Index, name: str) -> None:
    said = f"first\n{PLANTED[name].spoken}\nlast"
    found = {spelling: one_label(index, spelling, spell(said)) for spelling, spell in SPELLINGS.items()}
    assert len({LABEL.sub(r"\2", label) for label in found.values()}) == 1, found


def test_a_key_of_many_lines_has_one_fingerprint_however_they_are_broken(index: recall.Index) -> None:
    pem = PLANTED["pem"].spoken
    spellings: dict[str, Callable[[str], str]] = {
        **SPELLINGS,
        "windows": lambda text: text.replace("\n", "\r\n"),
        "indented": lambda text: f"x\n  {text}",
    }
    found = {spelling: one_label(index, spelling, spell(pem)) for spelling, spell in spellings.items()}
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_password_with_a_quote_and_a_backslash_has_one_fingerprint(index: recall.Index, spelling: str) -> None:
    plain = one_label(index, "plain", f"DB_PASSWORD='{PASSWORD}'")
    assert one_label(index, "other", SPELLINGS[spelling](f"DB_PASSWORD='{PASSWORD}'")) == plain


def test_both_agents_and_all_fields_give_one_label(home: Home, index: recall.Index) -> None:
    said = [("user", f"lantern {TOKEN}"), ("assistant", f"yes, `{TOKEN}`")]
    write(home.codex / f"rollout-{uid(1)}.jsonl", codex_lines(uid(1), "/srv/kite", *said))
    write(home.claude / "-srv-kite" / f"{uid(2)}.jsonl", claude_lines(uid(2), "/srv/kite", *said, gitBranch=TOKEN))
    index.ingest()
    found = {label for number in (1, 2) for label in labels(index, uid(number))}
    assert len(found) == 1
    (branch,) = {session.branch for session in index.recent(EVERYWHERE)} - {""}
    assert {branch} == found


def test_another_home_gives_another_fingerprint_and_the_same_home_the_same(tmp_path: Path) -> None:
    found: list[str] = []
    for home in ("a", "b", "a"):
        with recall.open(tmp_path / home) as index:
            found.append(one_label(index, f"s{len(found)}", TOKEN))
    assert found[0] == found[2] != found[1]


def test_in_memory_every_index_has_a_key_of_its_own() -> None:
    found = set()
    for _ in range(2):
        with recall.open(":memory:") as index:
            found.add(one_label(index, "one", TOKEN))
            assert one_label(index, "two", TOKEN) in found
    assert len(found) == 2


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_who_has_the_whole_secret_finds_where_it_was_used_and_no_part_of_it(
    home: Home, mode: recall.types.Mode
) -> None:
    said = {"used": TOKEN, "escaped": json.dumps({"token": TOKEN}), "other": OTHER, "none": "no token"}
    with recall.open() as index:
        for name, text in said.items():
            index.add(Session(name, messages=(Message("user", f"the harbor {name}: {text}"),)))
        if mode == "hybrid":
            index.embed()
        result = index.search(TOKEN, EVERYWHERE, mode=mode)
        assert {hit.session.id for hit in result[:2]} == {"used", "escaped"}
        assert traces(repr(result).encode()) == {}
        assert index.search(TOKEN[4:], EVERYWHERE, mode="lexical").hits == ()
    assert left_in(home.recall) == {}


# The key


def test_the_key_is_32_bytes_for_its_owner_only_and_not_in_the_database(home: Home, index: recall.Index) -> None:
    one_label(index, "one", TOKEN)
    path = home.recall / KEY_NAME
    key = path.read_bytes()
    assert len(key) == KEY_BYTES == 32
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for file in home.recall.glob("recall.db*"):
        content = file.read_bytes()
        assert key not in content
        assert key.hex().encode() not in content
    assert {file.name for file in home.recall.iterdir()} <= {KEY_NAME, "recall.db", "recall.db-wal", "recall.db-shm"}


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_the_mode_of_the_key_does_not_depend_on_the_umask(home: Home) -> None:
    before = os.umask(0)
    try:
        with recall.open() as index:
            one_label(index, "one", TOKEN)
    finally:
        os.umask(before)
    assert stat.S_IMODE((home.recall / KEY_NAME).stat().st_mode) == 0o600


def test_looking_makes_no_key(home: Home) -> None:
    with recall.open() as index:
        assert index.search(TOKEN, EVERYWHERE).query == "[REDACTED:github_token]"
        index.recent(EVERYWHERE)
    assert not (home.recall / KEY_NAME).exists()


@pytest.mark.parametrize("left", [None, b"", b"torn", b"x" * 31, b"x" * 33])
def test_a_key_that_is_lost_or_torn_is_replaced_and_nothing_breaks(home: Home, left: bytes | None) -> None:
    with recall.open() as index:
        before = one_label(index, "one", TOKEN)
    path = home.recall / KEY_NAME
    path.unlink() if left is None else path.write_bytes(left)
    with recall.open() as index:
        assert index.search(TOKEN, EVERYWHERE, mode="lexical").query == "[REDACTED:github_token]"
        after = one_label(index, "two", TOKEN)
        assert (before != after, len(read_key(home.recall))) == (True, KEY_BYTES)
        assert labels(index, "one") == [before]
        assert index.add(Session("two", messages=(Message("user", TOKEN),))).new_messages == 0
        assert [hit.session.id for hit in index.search(TOKEN, EVERYWHERE, limit=1, mode="lexical")] == ["two"]
        assert index.rescan().changed == 0
    assert run_here("doctor").code == 0


def test_a_key_that_was_half_written_when_the_power_went_is_written_anew(home: Home) -> None:
    home.recall.mkdir()
    (home.recall / f".{KEY_NAME}").write_bytes(b"half")
    with recall.open() as index:
        one_label(index, "one", TOKEN)
    assert len(read_key(home.recall)) == KEY_BYTES
    assert not (home.recall / f".{KEY_NAME}").exists()


_ADD = """
import sys
import recall
from recall import Message, Session
sys.stdin.readline()
with recall.open() as index:
    index.add(Session(sys.argv[1], messages=(Message("user", sys.argv[2]),)))
"""


def test_ten_processes_that_begin_at_once_agree_on_one_key(home: Home) -> None:
    home.recall.mkdir()
    command = (sys.executable, "-c", _ADD)
    running = [
        subprocess.Popen(
            [*command, f"session {number}", TOKEN],
            env=home.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for number in range(10)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=60)[0] for process in running]
    assert ([process.returncode for process in running], b"".join(printed)) == ([0] * 10, b"")
    with recall.open() as index:
        assert len({label for number in range(10) for label in labels(index, f"session {number}")}) == 1
        assert index.counts()["messages"] == 10


# Laws


SURROUNDINGS = st.sampled_from(
    ["{}", "x {}", '{{"token": "{}"}}', "API_TOKEN={}", '\\"{}\\"', "密钥是{}，", "a\\n{}\\nb"]
)
TOKENS = st.text(string.ascii_letters + string.digits, min_size=36, max_size=36).filter(
    lambda text: len(set(text)) > 14
)


@given(st.lists(st.tuples(SURROUNDINGS, TOKENS), min_size=1, max_size=3), KEYS)
@settings(max_examples=150)
def test_redacting_again_with_the_same_key_another_or_none_changes_nothing(
    said: list[tuple[str, str]], key: bytes
) -> None:
    text = " ".join(around.format("gh" + "p_" + token) for around, token in said)
    once = redact(text, key=key).text
    assert redact(once, key=key).text == redact(once, key=bytes(KEY_BYTES)).text == redact(once).text == once


@given(SURROUNDINGS, TOKENS, KEYS)
@settings(max_examples=150)
def test_a_label_holds_six_digits_and_no_part_of_the_value(around: str, token: str, key: bytes) -> None:
    text = redact(around.format("gh" + "p_" + token), key=key).text
    assume("[REDACTED" in text)
    assert LABEL.sub("", text) == around.format("")
    assert not [run for start in range(33) if (run := token[start : start + 4]) in LABEL.sub(r"\1", text)]


@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60), KEYS)
def test_a_fingerprint_depends_on_the_value_and_the_key_alone(value: str, key: bytes) -> None:
    mark = fingerprint(value, key)
    assert re.fullmatch(r"[0-9a-f]{6}", mark)
    assert fingerprint(value, key) == mark
    assert fingerprint(json.dumps(value)[1:-1], key) == mark
    assert fingerprint(json.dumps(json.dumps(value))[3:-3], key) == mark


@given(KEYS, KEYS)
@settings(max_examples=50)
def test_without_the_key_the_fingerprints_of_a_guess_tell_nothing(one: bytes, two: bytes) -> None:
    """One of sixteen values may agree by chance, of sixteen all never."""
    assume(one != two)
    guesses = [made_up(20, number) for number in range(16)]
    assert [fingerprint(guess, one) for guess in guesses] != [fingerprint(guess, two) for guess in guesses]


def test_without_a_key_a_label_has_no_fingerprint() -> None:
    assert redact_with(b"")(f"x {TOKEN}").text == "x [REDACTED:github_token]"
