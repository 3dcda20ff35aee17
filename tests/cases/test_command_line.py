"""The command line as programs use it: exit statuses, narrowing, and a ref that leads back to its message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Home
from transcript_lines import at, cl, cl_call, cl_result, claude_lines, codex_lines, uid, write

import recall
from recall import NotFoundError, Scope, UsageError
from recall.scope import parse_when

CODEX, CLAUDE = uid(0xF1), uid(0xF2)


@pytest.fixture
def sessions(home: Home) -> Path:
    """Two sessions in one folder, a day apart: (the folder)."""
    work = home.root / "work"
    work.mkdir()
    write(
        home.codex / f"rollout-2026-03-02T10-00-00-{CODEX}.jsonl",
        codex_lines(
            CODEX,
            work,
            ("user", "why does the lantern flicker"),
            ("assistant", "the lantern wick is too short"),
            ("user", "thanks"),
            git={"branch": "main"},
        ),
    )
    day = 24 * 60
    edit = {"type": "tool_use", "id": "t2", "name": "Edit", "input": {"file_path": "src/wick.py", "new_string": "trim"}}
    lines = [
        cl(at(day), "user", uid(1), CLAUDE, work, "trim the lantern wick", gitBranch="fix/wick"),
        cl(
            at(day + 1),
            "assistant",
            uid(2),
            CLAUDE,
            work,
            [cl_call("t1", "grep lantern wick.txt")],
            gitBranch="fix/wick",
        ),
        cl(at(day + 2), "user", uid(3), CLAUDE, work, [cl_result("t1", "lantern: 3 cm")], gitBranch="fix/wick"),
        cl(at(day + 3), "assistant", uid(4), CLAUDE, work, [edit], gitBranch="fix/wick"),
    ]
    write(home.claude / "-work" / f"{CLAUDE}.jsonl", lines)
    return work


def found(index: recall.Index, scope: Scope) -> set[str]:
    return {hit.ref for hit in index.search("lantern wick", scope, limit=20, mode="lexical")}


ALL_REFS = {f"{CODEX}:1", f"{CODEX}:2", f"{CLAUDE}:1", f"{CLAUDE}:2", f"{CLAUDE}:3", f"{CLAUDE}:4"}
OF_CODEX = {ref for ref in ALL_REFS if ref.startswith(CODEX)}
OF_CLAUDE = ALL_REFS - OF_CODEX


def test_each_narrowing_keeps_what_it_names_and_nothing_else(index: recall.Index, sessions: Path) -> None:
    index.ingest()
    between = parse_when("2026-03-03T00:00+00:00")
    everywhere = Scope.everywhere
    assert found(index, everywhere()) == ALL_REFS
    assert found(index, everywhere(agent="codex")) == OF_CODEX
    assert found(index, everywhere(agent="claude")) == OF_CLAUDE
    assert found(index, everywhere(since=between)) == OF_CLAUDE
    assert found(index, everywhere(until=between)) == OF_CODEX
    assert found(index, everywhere(role="user")) == {f"{CODEX}:1", f"{CLAUDE}:1"}
    assert found(index, everywhere(role="assistant")) == {f"{CODEX}:2"}
    assert found(index, everywhere(role="tool")) == {f"{CLAUDE}:2", f"{CLAUDE}:3", f"{CLAUDE}:4"}
    assert found(index, everywhere(branch="main")) == OF_CODEX
    assert found(index, everywhere(branch="fix/wick")) == OF_CLAUDE
    assert found(index, everywhere(file="src/wick.py")) == OF_CLAUDE
    assert found(index, everywhere(file="wick_py")) == set()
    assert found(index, everywhere(agent="codex", since=between)) == set()
    assert found(index, everywhere(agent="nobody")) == set()


@pytest.mark.parametrize(
    ("arguments", "agents"),
    [
        ([], {"codex", "claude"}),
        (["--since", "2026-03-03T00:00+00:00"], {"claude"}),
        (["--until", "2026-03-03T00:00+00:00", "--agent", "codex", "--role", "user", "--branch", "main"], {"codex"}),
        (["--file", "wick.py"], {"claude"}),
    ],
)
def test_the_command_line_narrows_too(home: Home, sessions: Path, arguments: list[str], agents: set[str]) -> None:
    ran = home.run("search", "lantern", "--limit", "20", "--json", *arguments, cwd=sessions)
    assert ran.code == 0, ran.complaint
    assert {hit["session"]["agent"] for hit in ran.document["hits"]} == agents


def test_a_ref_that_search_prints_leads_to_its_message(home: Home, sessions: Path) -> None:
    hits = home.run("search", "lantern wick short", "--limit", "2", "--json", cwd=sessions).document["hits"]
    for hit in hits:
        shown = home.run("show", hit["ref"], "--before", "0", "--after", "0", "--json").document["messages"]
        assert [message["ref"] for message in shown] == [hit["ref"]]
        assert shown[0]["text"].startswith(hit["snippet"]["text"].strip("…")[:20])
        assert {key: shown[0][key] for key in ("role", "timestamp", "source")} == {
            key: hit[key] for key in ("role", "timestamp", "source")
        }
        line = Path(hit["source"]["path"]).read_text(encoding="utf-8").splitlines()[hit["source"]["line"] - 1]
        assert json.loads(line)["timestamp"][:16] == hit["timestamp"][:16] or "+00:00" not in hit["timestamp"]


def test_a_window_is_in_order_and_ends_where_the_session_does(index: recall.Index, sessions: Path) -> None:
    index.ingest()
    numbers = [message.number for message in index.show(f"{CODEX}:2", before=1, after=1)]
    assert numbers == [1, 2, 3]
    assert [message.number for message in index.show(f"{CODEX}:3", before=0, after=9)] == [3]
    assert [message.number for message in index.show(f"{CODEX}:1", before=9, after=0)] == [1]


def test_a_beginning_of_an_id_that_only_one_session_has_is_enough(index: recall.Index, sessions: Path) -> None:
    index.ingest()
    assert index.show(f"{CODEX[:8]}:1")[0].ref in (f"{CODEX}:1", f"{CODEX[:8]}:1")
    with pytest.raises(NotFoundError, match="more than one"):
        index.show("00000:1")


@pytest.mark.parametrize("ref", ["", ":", "S", "S:", ":1", "S:x", "S:-1", "S:1.5", "S:②"])
def test_what_is_no_ref_is_wrong_usage(index: recall.Index, ref: str) -> None:
    with pytest.raises(UsageError, match="no ref"):
        index.show(ref)


@pytest.mark.parametrize("ref", ["nobody:1", f"{CODEX}:99", f"{CODEX}:0", f"{CODEX}:{10**30}", "%:1", "____:1"])
def test_a_ref_that_leads_nowhere_is_not_found(index: recall.Index, sessions: Path, ref: str) -> None:
    index.ingest()
    with pytest.raises(NotFoundError):
        index.show(ref)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", "no such word", "--all"], 0),
        (["show", "nobody:1"], 1),
        (["search", "kite", "--mode", "dense", "--all"], 1),
        (["search", "kite", "--mode", "fast"], 2),
        (["search", "kite", "--all", "--worktree"], 2),
        (["search", "kite", "--since", "soon"], 2),
        (["search", "kite", "--unknown"], 2),
        (["ingest", "/nowhere/at/all"], 2),
        (["show", "kite"], 2),
        (["fly"], 2),
    ],
)
def test_the_exit_status_tells_done_failed_and_wrong_usage(home: Home, arguments: list[str], code: int) -> None:
    ran = home.run(*arguments)
    assert (ran.code, "Traceback" in ran.complaint) == (code, False), ran.complaint
    if code:
        assert ran.out == b""
        assert ran.complaint.strip()


def test_a_home_that_cannot_be_written_fails_in_one_line(home: Home) -> None:
    home.recall.write_text("a file where a folder should be", encoding="utf-8")
    ran = home.run("search", "kite", "--all")
    assert (ran.code, ran.out) == (1, b"")
    assert len(ran.complaint.splitlines()) == 1


def test_status_makes_no_home(home: Home) -> None:
    ran = home.run("status", "--json")
    assert ran.document["session_recall"]["db_exists"] is False
    assert not home.recall.exists()


def test_json_is_one_document_and_nothing_else(home: Home, sessions: Path) -> None:
    for arguments in (["search", "lantern"], ["recent"], ["show", f"{CODEX}:1"], ["status"]):
        ran = home.run(*arguments, "--json", cwd=sessions)
        assert ran.code == 0
        assert ran.text.endswith("\n")
        assert len(ran.text.splitlines()) == 1
        assert isinstance(ran.document, dict)


def test_a_small_budget_shortens_before_it_drops_and_says_so(home: Home) -> None:
    said = [("user", f"lantern {word} " * 60) for word in ("amber", "brass", "copper", "damp", "early", "faint")]
    write(home.claude / "-work" / f"{CLAUDE}.jsonl", claude_lines(CLAUDE, "/work", *said))
    whole = home.run("search", "lantern", "--all", "--limit", "6", "--json").document
    assert (len(whole["hits"]), whole["truncated"], whole["omitted"]) == (6, False, 0)
    short = home.run("search", "lantern", "--all", "--limit", "6", "--json", "--budget-chars", "6000").document
    assert (len(short["hits"]), short["truncated"], short["omitted"]) == (6, True, 0)
    tiny = home.run("search", "lantern", "--all", "--limit", "6", "--json", "--budget-chars", "2000").document
    assert len(tiny["hits"]) + tiny["omitted"] == 6
    assert tiny["omitted"] > 0
    assert tiny["truncated"]
