from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.cli.commands import app
from recall.transcripts.own import (
    FRAME_CLOSE,
    FRAME_OPEN,
    is_own_command,
    is_own_json,
    is_own_tool,
    without_own_blocks,
)


@pytest.mark.parametrize(
    "command",
    [
        'recall search "flaky login"',
        "recall recent",
        "recall show 0199:12 --before 2",
        "recall ingest ~/.codex/sessions",
        "recall status --json",
        "  recall search x",
        "recall.exe search x",
        "/home/ana/.venv/bin/recall search x",
        ".venv/bin/recall search x",
        r".venv\Scripts\recall.exe search x",
        "RECALL_HOME=/tmp/r recall search x",
        "A=1 B=2 recall search x",
        "cd /work/kite && recall search x",
        "cd /work/kite; recall search x",
        "python -m recall search x",
        "python3 -m recall search x",
        "python3.12 -m recall recent",
        "uv run recall search x",
        "uvx --from repo-recall recall search x",
        "pipx run --spec repo-recall recall search x",
        "uv run --project /work/kite recall search x",
        "recall migrate-worktrees",
        "recall hook stop",
    ],
)
def test_a_command_line_that_runs_recall_is_ours(command: str) -> None:
    assert is_own_command(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "recall",
        "recall --version",
        "make test",
        'git commit -m "recall search finds Chinese"',
        "git log --grep 'recall search'",
        'grep -rn "recall search" docs',
        "rg recall search",
        "echo recall search",
        "cat recall/search.py",
        "vim recall search",
        "pytest tests/test_recall.py search",
        "totalrecall search x",
        "recaller search x",
        "recall searching",
        "recall-tools search x",
        "python -m recall_tools search x",
        "pip install repo-recall",
        "man recall",
        "which recall",
    ],
)
def test_a_command_line_that_only_names_recall_is_not_ours(command: str) -> None:
    assert not is_own_command(command)


def test_every_command_of_ours_is_recognised() -> None:
    names = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    assert names
    assert [name for name in names if not is_own_command(f"recall {name} x")] == []


@pytest.mark.parametrize("unit", ["A=", "A=1 ", "cd x", "cd x;", " ", "a/", "recall ", "-x ", "uv run ", "uvx "])
def test_a_command_line_of_megabytes_is_judged_at_once(unit: str) -> None:
    started = time.perf_counter()
    is_own_command(unit * (2_000_000 // len(unit)))
    is_own_command("recall " + unit * (2_000_000 // len(unit)))
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    "name",
    [
        "recall_search",
        "recall_show",
        "recall_recent",
        "mcp__recall__recall_search",
        "recall.recall_show",
        "memory_list",
    ],
)
def test_our_tools_are_recognised_under_the_names_agents_give_them(name: str) -> None:
    assert is_own_tool(name)


@pytest.mark.parametrize(
    "name", ["", "search", "shell", "recall", "recall_search_all", "my_recall_search", "Bash", "memory"]
)
def test_other_tools_are_not_ours(name: str) -> None:
    assert not is_own_tool(name)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ('{"query":"x","scope":{"kind":"repository","repository":"/kite"}}', True),
        ('\n{ "query": "say \\"hi\\"", "scope": { "kind": "everywhere" } }', True),
        ('{"query":"x"}', False),
        ('{"scope":{"kind":"repository"}}', False),
        ('the document {"query":"x","scope":{"kind":"repository"}}', False),
        ("", False),
        ("[]", False),
    ],
)
def test_the_document_of_a_search_is_recognised(text: str, own: bool) -> None:
    assert is_own_json(text) is own


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("words", "words"),
        (f"a {FRAME_OPEN}quoted{FRAME_CLOSE} b", "a  b"),
        (f"a {FRAME_OPEN}\nquoted\n{FRAME_CLOSE}\n{FRAME_OPEN}more{FRAME_CLOSE} b", "a \n b"),
        (f"a {FRAME_OPEN}cut off", "a "),
        (f"a {FRAME_CLOSE} b", f"a {FRAME_CLOSE} b"),
        (f"{FRAME_OPEN}{FRAME_CLOSE}", ""),
    ],
)
def test_what_we_put_into_a_context_is_taken_out_again(text: str, expected: str) -> None:
    assert without_own_blocks(text) == expected


@given(st.lists(st.sampled_from([FRAME_OPEN, FRAME_CLOSE, "word ", "\n", "<"])).map("".join))
def test_no_block_is_left(text: str) -> None:
    assert FRAME_OPEN not in without_own_blocks(text)
    assert without_own_blocks(without_own_blocks(text)) == without_own_blocks(text)
