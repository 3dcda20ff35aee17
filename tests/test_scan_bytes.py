"""`recall scan` and `recall redact`: places in a text, bytes that are kept, what is withheld, locales."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Home
from here import run_here
from scan_runs import CLEAN, INJECTED, OTHER, TOKEN, WITHHELD, put, run

from recall.cli import documents

# Places


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_offsets_lines_and_columns_count_code_points(work: Path, end: str) -> None:
    text = f"灯塔 🚀🏳️‍🌈{end}\t密钥是 {TOKEN}，别外传{end}{end}é e\u0301 {OTHER}"
    put(work, "a.txt", text)
    found = run_here("scan", "a.txt", "--json").document["findings"]
    secrets = [one for one in found if one["kind"] == "secret"]
    assert [text[one["start"] : one["end"]] for one in secrets] == [TOKEN, OTHER]
    assert [(one["line"], one["column"]) for one in secrets] == [(2, 6), (4, 6)]


def test_a_line_of_256_kb_is_scanned_and_the_place_in_it_told(work: Path) -> None:
    before = '{"a": [1, 2, 3], "b": "lantern"}, ' * 7_500
    put(work, "a.min.js", f"{before}{TOKEN} {CLEAN}")
    ran = run_here("scan", "a.min.js", "--json")
    assert [(one["line"], one["column"]) for one in ran.document["findings"]] == [(1, len(before) + 1)]
    assert len(run_here("scan", "a.min.js").out) < 200


# Bytes


ENCODINGS = {
    "utf-8": (b"", "utf-8"),
    "utf-8 with a byte order mark": (b"\xef\xbb\xbf", "utf-8"),
    "utf-16 little": (b"\xff\xfe", "utf-16-le"),
    "utf-16 big": (b"\xfe\xff", "utf-16-be"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_redacted_file_keeps_its_encoding_and_every_byte_around_the_secret(work: Path, encoding: str) -> None:
    bom, name = ENCODINGS[encoding]
    text = f"{TOKEN} 灯塔 🚀\r\nlast line"
    path = put(work, "a.txt", bom + text.encode(name))
    assert run_here("redact", path).out == bom + text.replace(TOKEN, "[REDACTED:github_token]").encode(name)
    (found,) = run_here("scan", path, "--json").document["findings"]
    assert (found["line"], found["column"], found["start"], found["end"]) == (1, 1, 0, len(TOKEN))
    put(work, "clean", clean := bom + "灯塔 🚀\r\n\n\r".encode(name))
    assert run_here("redact", "clean").out == clean


def test_bytes_that_are_no_utf_8_come_back_as_they_were(work: Path) -> None:
    around = (b"\xff\x80 caf\xe9 \xed\xa0\x80 ", b" \xf0\x9f\x9a\r\n\xfe")
    path = put(work, "a.txt", TOKEN.encode().join(around))
    assert run_here("redact", path).out == b"[REDACTED:github_token]".join(around)
    assert run_here("scan", path).code == 3
    json.loads(run_here("redact", path, "--json").out.decode("utf-8"))
    put(work, "b.txt", around[0] + INJECTED.encode())
    json.loads(run_here("scan", "b.txt", "--json").out.decode("utf-8"))


def test_in_a_binary_file_a_secret_is_found_and_nothing_else(work: Path) -> None:
    noise = b"\x7fELF\0\0" + "w\u200bord \u202e".encode() + INJECTED.encode() + bytes(range(256))
    assert run_here("scan", put(work, "program", noise)).out == b""
    ran = run_here("scan", put(work, "program", noise + b"\0" + TOKEN.encode() + b"\0"))
    assert (ran.code, ran.text.count("\n"), "github_token" in ran.text) == (3, 1, True)
    assert run_here("redact", "program").out == noise + b"\0[REDACTED:github_token]\0"


def test_what_cannot_be_scanned_is_withheld_and_never_passed_through(work: Path) -> None:
    put(work, "a.txt", f"{TOKEN}\n" * 60_000)
    ran = run_here("redact", "a.txt")
    assert (ran.code, ran.text) == (3, WITHHELD)
    assert "could not be scanned and was withheld" in ran.complaint
    ran = run_here("redact", "a.txt", "--json")
    assert (ran.code, ran.document["text"]) == (3, WITHHELD)
    ran = run_here("scan", "a.txt")
    assert (ran.code, ran.text) == (3, "a.txt:1:1: block: secret unscannable\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_over_the_size_limit_is_withheld_and_no_part_of_it_passed_on(
    work: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setattr(documents, "SIZE_LIMIT", 1_000)
    content = f"{'lantern ' * 400}{TOKEN}".encode(encoding)
    put(work, "a.txt", content)
    for arguments, given in ((("a.txt",), b""), ((), content)):
        ran = run_here("scan", *arguments, given=given)
        assert (ran.code, "unscannable" in ran.text) == (3, True)
        ran = run_here("redact", *arguments, given=given)
        assert (ran.code, WITHHELD in ran.out.decode(encoding), "lantern" in ran.out.decode(encoding)) == (
            3,
            True,
            False,
        )
    put(work, "b.txt", ("lantern " * 125).encode())
    assert (run_here("scan", "b.txt").code, run_here("redact", "b.txt").code) == (0, 0)


# Terminals and locales


@pytest.mark.parametrize(
    ("environment", "options"),
    [
        ({"PYTHONIOENCODING": "cp936"}, ()),
        ({"PYTHONIOENCODING": "ascii"}, ("--json",)),
        ({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}, ()),
        ({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}, ("--json",)),
    ],
    ids=["cp936", "ascii", "C", "C, JSON"],
)
def test_no_code_page_and_no_locale_stops_it(
    home: Home, work: Path, environment: dict[str, str], options: tuple[str, ...]
) -> None:
    path = put(work, "密钥🚀.txt", f"密钥是 {TOKEN}，{INJECTED}")
    ran = run(home, work, "scan", path, *options, environment=environment)
    assert (ran.code, b"github_token" in ran.out, b"Traceback" in ran.err) == (3, True, False)
    assert not options or {one["path"] for one in ran.document["findings"]} == {path}


@pytest.mark.skipif(os.name == "nt", reason="no file can have such a name there")
def test_the_name_of_a_file_commands_no_terminal(work: Path) -> None:
    name = put(work, "a\x1b[31m\u202e.txt", f"x {TOKEN}\n")
    gone = "gone\x1b[31m\u202e.txt"
    for ran in (run_here("scan", name, gone), run_here("redact", gone)):
        assert ran.code in (2, 3)
        assert not {0x1B} & {*ran.out, *ran.err}
        assert "\u202e" not in ran.text + ran.complaint
