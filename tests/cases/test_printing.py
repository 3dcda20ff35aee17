"""R32, R33: consoles with legacy code pages, files read with them, and brackets that look like markup."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import COMMAND, ROOT, Home
from repositories import repository
from transcript_lines import claude_lines, uid, write

RELEASED = "发布完成 ✅ 耗时 3s"
BRACKETS = [
    "route [/health] added",
    "open pages/[lang].vue",
    "list[str] of arr[0]",
    "[red]alert[/red] text",
    "[link=http://kite.example]press[/link] [/] [bold",
]


ASCII_LOCALE = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}


def session(home: Home, *texts: str, cwd: Path | str = "/srv/kite") -> str:
    lines = claude_lines(uid(1), cwd, *(("user", text) for text in texts))
    write(home.claude / "-srv-kite" / f"{uid(1)}.jsonl", lines)
    return uid(1)


# R32: legacy code pages


@pytest.mark.parametrize("code_page", ["gbk", "cp1252", "ascii"])
def test_on_a_legacy_code_page_text_is_printed_with_replacements(home: Home, code_page: str) -> None:
    session(home, RELEASED)
    legacy = {"PYTHONUTF8": "0", "PYTHONIOENCODING": code_page}
    ran = home.run("search", "发布", "--all", environment=legacy)
    assert ran.code == 0, ran.err
    assert b"Traceback" not in ran.err
    shown = ran.out.decode(code_page)
    assert "3s" in shown
    if code_page == "gbk":
        assert "发布完成" in shown


@pytest.mark.parametrize("code_page", ["gbk", "cp1252"])
def test_on_a_legacy_code_page_json_is_utf_8_all_the_same(home: Home, code_page: str) -> None:
    name = session(home, RELEASED)
    legacy = {"PYTHONUTF8": "0", "PYTHONIOENCODING": code_page}
    for arguments, path in (
        (("search", "发布", "--all"), ("hits", 0, "snippet", "text")),
        (("recent", "--all"), ("sessions", 0, "title")),
        (("show", f"{name}:1"), ("messages", 0, "text")),
    ):
        ran = home.run(*arguments, "--json", environment=legacy)
        assert ran.code == 0, ran.err
        value = json.loads(ran.out.decode("utf-8"))
        for key in path:
            value = value[key]
        assert value == RELEASED


@pytest.mark.parametrize("code_page", ["gbk", "cp1252"])
def test_on_a_legacy_code_page_an_error_is_still_one_line(home: Home, code_page: str) -> None:
    legacy = {"PYTHONUTF8": "0", "PYTHONIOENCODING": code_page}
    ran = home.run("ingest", "港口 ✅.jsonl", environment=legacy)
    assert ran.code == 2
    assert b"Traceback" not in ran.err
    assert len(ran.err.splitlines()) == 1


def test_transcripts_are_read_as_utf_8_whatever_the_locale_says(home: Home) -> None:
    session(home, RELEASED)
    ran = home.run("search", "3s", "--all", "--json", environment={**ASCII_LOCALE, "PYTHONWARNDEFAULTENCODING": "1"})
    assert ran.document["hits"][0]["snippet"]["text"] == RELEASED
    assert "EncodingWarning" not in ran.complaint


@pytest.mark.skipif(os.name == "nt", reason="arguments are UTF-16 there")
def test_a_chinese_query_is_understood_where_the_locale_is_ascii(home: Home) -> None:
    """In a container or under cron the locale is C, and Python hands over the bytes of an argument as surrogates."""
    session(home, RELEASED)
    ran = home.run("search", "发布", "--all", "--json", environment=ASCII_LOCALE)
    assert ran.code == 0, ran.complaint
    assert ran.document["query"] == "发布"
    assert ran.document["hits"][0]["snippet"]["text"] == RELEASED


TEXT_CALLS = {"open", "fdopen", "read_text", "write_text", "NamedTemporaryFile", "TemporaryFile"}
MODE_AT = {"open": 0, "fdopen": 1, "NamedTemporaryFile": 0, "TemporaryFile": 0}
"""Where the mode stands among a method's arguments; the builtin `open` has its path before it."""


def calls_without_encoding(source: str) -> list[int]:
    """Lines that open a file as text and do not say in which encoding."""
    return [call.lineno for call in ast.walk(ast.parse(source)) if isinstance(call, ast.Call) and _is_bare(call)]


def _is_bare(call: ast.Call) -> bool:
    if any(keyword.arg in ("encoding", None) for keyword in call.keywords):
        return False
    if isinstance(call.func, ast.Name):
        name, mode_at = call.func.id, 1 if call.func.id == "open" else MODE_AT.get(call.func.id, 0)
    elif isinstance(call.func, ast.Attribute):
        name, mode_at = call.func.attr, MODE_AT.get(call.func.attr, 0)
        if isinstance(call.func.value, ast.Name) and call.func.value.id in ("os", "recall") and name == "open":
            return False  # a file descriptor; our own index
        if name == "read_text" and call.args:
            return False  # the encoding by position
        if isinstance(call.func.value, ast.Name) and call.func.value.id == "io":
            mode_at = 1
    else:
        return False
    if name == "TextIOWrapper":
        return len(call.args) < 2
    if name not in TEXT_CALLS:
        return False
    if name == "write_text":
        return len(call.args) < 2
    modes = list(call.args[mode_at : mode_at + 1])
    modes += [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    mode = modes[0].value if modes and isinstance(modes[0], ast.Constant) else ""
    if "TemporaryFile" in name and not modes:
        return False  # binary unless told otherwise
    return "b" not in str(mode)


def product_sources() -> Iterator[Path]:
    for package in ("recall", "memory", "scanning", "benchmarks"):
        yield from sorted((ROOT / package).rglob("*.py"))


def test_no_source_opens_a_text_file_in_the_encoding_of_the_locale() -> None:
    sources = list(product_sources())
    assert len(sources) > 50
    bare = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources
        for line in calls_without_encoding(path.read_text(encoding="utf-8"))
    ]
    assert bare == []


@pytest.mark.parametrize(
    ("source", "is_bare"),
    [
        ("open('a')", True),
        ("open('a', 'w')", True),
        ("open('a', mode='a')", True),
        ("open('a', 'rb')", False),
        ("open('a', encoding='utf-8')", False),
        ("path.open()", True),
        ("path.open('r')", True),
        ("path.open('rb')", False),
        ("path.read_text()", True),
        ("path.read_text('utf-8')", False),
        ("path.write_text(text)", True),
        ("path.write_text(text, 'utf-8')", False),
        ("path.write_text(text, encoding='utf-8')", False),
        ("os.fdopen(3, 'w')", True),
        ("os.open('a', 0)", False),
        ("io.open('a', 'rb')", False),
        ("io.TextIOWrapper(raw)", True),
        ("NamedTemporaryFile('w')", True),
        ("tempfile.NamedTemporaryFile()", False),
    ],
)
def test_the_rule_itself_tells_text_from_bytes(source: str, is_bare: bool) -> None:
    assert calls_without_encoding(source) == ([1] if is_bare else [])


# R33: brackets


@pytest.mark.parametrize("arguments", [(), ("--explain",), ("--json",)])
def test_brackets_in_hits_are_printed_as_written(home: Home, arguments: tuple[str, ...]) -> None:
    session(home, *BRACKETS)
    ran = home.run("search", "health lang arr alert press", "--all", "--limit", "10", *arguments)
    assert ran.code == 0, ran.complaint
    for text in BRACKETS:
        assert text in ran.text


def test_brackets_are_printed_as_written_in_lists_and_windows(home: Home) -> None:
    name = session(home, *BRACKETS)
    ran = home.run("recent", "--all")
    assert (ran.code, BRACKETS[0] in ran.text) == (0, True)
    ran = home.run("show", f"{name}:1", "--after", "10")
    for text in BRACKETS:
        assert text in ran.text


@pytest.mark.parametrize(
    "arguments",
    [
        ("ingest", "PATH"),
        ("show", "PATH"),
        ("search", "kite", "--mode", "PATH"),
        ("search", "kite", "--since", "PATH"),
        ("search", "kite", "--PATH"),
        ("PATH",),
    ],
)
def test_brackets_in_an_error_are_printed_as_written(home: Home, arguments: tuple[str, ...]) -> None:
    path = "pages/[lang]/[/x].vue"
    ran = home.run(*(argument.replace("PATH", path) for argument in arguments))
    assert ran.code in (1, 2)
    assert path in ran.complaint.replace("\n", "")
    assert "Traceback" not in ran.complaint
    assert "MarkupError" not in ran.complaint


def test_a_repository_at_a_path_with_brackets_is_named_as_it_is(home: Home, tmp_path: Path) -> None:
    app = repository(tmp_path / "[kite]" / "[/x] app")
    session(home, "the quay is closed", cwd=app)
    ran = home.run("search", "quay", cwd=app)
    assert (ran.code, str(app) in ran.text) == (0, True)
    ran = home.run("search", "quay", "--json", cwd=app)
    assert ran.document["scope"]["repository"] == str(app)
    assert len(ran.document["hits"]) == 1


@pytest.mark.skipif(os.name == "nt", reason="there is no pseudo terminal")
def test_on_a_terminal_too_nothing_is_coloured_or_lost_by_what_was_said(home: Home) -> None:
    session(home, *BRACKETS, "\x1b[31mred\x1b[0m and \x1b]0;title\x07 press")
    assert home.run("ingest").code == 0
    for arguments in (
        ("search", "health lang arr alert press", "--all", "--no-sync", "--limit", "10"),
        ("recent", "--all", "--no-sync"),
        ("show", f"{uid(1)}:1", "--after", "10"),
        ("search", "kite", "--mode", "[red]alert[/red] text"),
        ("search", "kite", "--[red]alert[/red] text"),
    ):
        shown = on_a_terminal(home, *arguments)
        assert "\x1b]0;title" not in shown
        assert "\x1b[31mred" not in shown
        assert "Traceback" not in shown
        if arguments[0] == "search":
            assert "[red]alert[/red] text" in shown
        else:
            assert BRACKETS[0] in shown


def on_a_terminal(home: Home, *arguments: str) -> str:
    """What a person sees, standard error with it."""
    import pty

    ours, theirs = pty.openpty()
    environment = home.environment({"TERM": "xterm-256color", "COLUMNS": "200", "LINES": "50"})
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=home.root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    ):
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # Linux says so when the other side has closed
                break
            if not part:
                break
            shown += part
    os.close(ours)
    return shown.decode("utf-8", "replace")
