"""The probe of secrets at rest: 22 kinds, planted in every field of both agents' transcripts, on three ways in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pytest
from conftest import Home
from here import run_here
from planted import PLANTED, RUN, Secret, left_in, runs, traces
from transcript_lines import append, at, cl, cl_call, cl_result, cx, cx_call, cx_echo, cx_meta, cx_output, uid, write

import recall
from recall import Message, Scope, Session

EVERYWHERE = Scope.everywhere()
WINDOW = ("--before", "200", "--after", "200", "--budget-chars", "100000")


def field(secret: Secret, otherwise: str) -> str:
    """The secret as it would stand in a path; only where its shape tells what it is."""
    return secret.value if secret.has_shape else otherwise


def codex(number: int, secret: Secret) -> list[str]:
    spoken, place = secret.spoken, field(secret, "plain")
    words = f"the lantern says {spoken} and burns"
    patch = f"*** Begin Patch\n*** Update File: /srv/{place}/wick.txt\n+{spoken}\n*** End Patch"
    remote = f"https://ana:{place}@git.kite.example/ana/kite.git"
    return [
        cx_meta(at(0), uid(number), f"/srv/{place}/kite", git={"branch": f"fix/{place}", "repository_url": remote}),
        cx(at(1), "response_item", _said("user", words)),
        cx_echo(at(1), "user_message", words),
        cx(at(2), "response_item", _said("assistant", f"wick: {words}")),
        cx_call(at(3), "c1", f"curl -d '{spoken}' https://kite.example/lantern"),
        cx_output(at(4), "c1", f"lantern printed\n{spoken}\nend"),
        cx_call(at(5), "c2", f"apply_patch <<'EOF'\n{patch}\nEOF"),
        cx_output(at(6), "c2", json.dumps({"output": f"lantern\n{spoken}", "metadata": {"exit_code": 1}})),
        cx(at(7), "response_item", {"type": "custom_tool_call", "name": "exec", "call_id": "c3", "input": spoken}),
        cx(at(8), "event_msg", {"type": "thread_name_updated", "thread_name": f"lantern {spoken}"}),
        cx(at(9), "turn_context", {"cwd": f"/srv/{place}/deeper", "model": spoken}),
        cx(at(10), "response_item", _said("user", f"once more {words}")),
        cx(at(11), place, {"type": place, "text": spoken}),
        cx(at(12), "event_msg", {"type": place, "message": spoken}),
        cx(at(13), "response_item", {"type": place, "text": spoken}),
    ]


def _said(role: str, text: str) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def claude(number: int, secret: Secret) -> list[str]:
    spoken, place = secret.spoken, field(secret, "plain")
    session, cwd, more = uid(number), f"/srv/{place}/kite", {"gitBranch": f"fix/{place}"}
    words = f"the lantern says {spoken} and burns"
    written = {"file_path": f"/srv/{place}/wick.txt", "content": spoken}
    write_call = {"type": "tool_use", "id": "t2", "name": "Write", "input": written}
    other_call = {"type": "tool_use", "id": "t3", "name": place, "input": {"query": [spoken]}}
    queued = {"type": "queued_command", "commandMode": "prompt", "prompt": f"later, {words}"}
    return [
        json.dumps({"type": "summary", "summary": f"lantern {spoken}", "leafUuid": "1"}),
        cl(at(0), "user", "1", session, cwd, words, **more),
        cl(at(1), "assistant", "2", session, cwd, [{"type": "text", "text": f"wick: {words}"}], **more),
        cl(at(2), "assistant", "3", session, cwd, [cl_call("t1", f"curl -d '{spoken}' https://kite.example")], **more),
        cl(at(3), "user", "4", session, cwd, [cl_result("t1", f"lantern printed\n{spoken}\nend")], **more),
        cl(at(4), "assistant", "5", session, cwd, [write_call], **more),
        cl(at(5), "user", "6", session, f"{cwd}/deeper", [cl_result("t2", [{"type": "text", "text": spoken}])]),
        cl(at(6), "assistant", "7", session, cwd, [other_call], **more),
        cl(at(7), "user", "8", session, cwd, [cl_result("t3", "")], toolUseResult={"stdout": spoken}, **more),
        cl(at(8), "attachment", "9", session, cwd, "", attachment=queued, **more),
        json.dumps({"type": "ai-title", "aiTitle": f"lantern {spoken}", "sessionId": session}),
        json.dumps({"type": "custom-title", "customTitle": f"lantern {spoken}", "sessionId": session}),
        json.dumps({"type": place, "sessionId": session, "text": spoken}),
        cl(at(9), "user", "10", session, cwd, [{"type": place, "text": spoken}], **more),
    ]


def transcripts(home: Home) -> dict[Path, list[str]]:
    """Two for each kind: an invented file name that holds the secret, where its shape tells what it is."""
    found = {}
    for number, (name, secret) in enumerate(PLANTED.items(), 1):
        stem = field(secret, name)
        found[home.codex / "2026" / f"{stem}.jsonl"] = codex(number, secret)
        found[home.claude / stem / f"{stem}.jsonl"] = claude(number + 100, secret)
    return found


def take_in_at_once(home: Home) -> None:
    for path, lines in transcripts(home).items():
        write(path, lines)
    names = [
        {"id": uid(number), "thread_name": f"lantern {one.spoken}"} for number, one in enumerate(PLANTED.values(), 1)
    ]
    write(home.codex.parent / "session_index.jsonl", map(json.dumps, names))
    ran = run_here("ingest")
    assert (ran.code, traces(ran.out + ran.err)) == (0, {})


def take_in_line_by_line(home: Home) -> None:
    files = transcripts(home)
    with recall.open() as index:
        for step in zip_longest(*files.values()):
            for path, line in zip(files, step, strict=True):
                if line is not None:
                    append(path, [line]) if path.exists() else write(path, [line])
            report = index.ingest()
        assert {file.status for file in report.files} <= {"updated", "unchanged"}


def add_from_memory(home: Home) -> None:
    with recall.open() as index:
        for number, secret in enumerate(PLANTED.values(), 1):
            index.add(in_memory(number, secret))


def in_memory(number: int, secret: Secret) -> Session:
    spoken, place = secret.spoken, field(secret, "plain")
    said = Message("user", f"the lantern says {spoken} and burns", cwd=f"/srv/{place}/deeper", branch=f"fix/{place}")
    messages = (
        said,
        replace(said, role="assistant", text=f"wick: the lantern says {spoken}"),
        replace(said, role="tool", text=spoken, tool=place, files=(f"/srv/{place}/wick.txt",)),
    )
    session = Session(
        field(secret, f"session {number}"), "other", f"lantern {spoken}", cwd=f"/srv/{place}/kite", messages=messages
    )
    return replace(session, branch=place, remote=f"https://ana:{place}@git.kite.example", parent=place)


WAYS: dict[str, Callable[[Home], None]] = {
    "at once": take_in_at_once,
    "line by line": take_in_line_by_line,
    "from memory": add_from_memory,
}


@pytest.fixture(scope="module", params=WAYS)
def planted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A machine on which everything has been taken in on one way."""
    root = tmp_path_factory.mktemp("planted").resolve()
    home = Home(root, root / "recall", root / ".codex" / "sessions", root / ".claude" / "projects")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_", "RECALL_"))]:
            patch.delenv(name)
        folders = {"HOME": root, "USERPROFILE": root, "RECALL_HOME": home.recall}
        folders |= {"CODEX_HOME": home.codex.parent, "CLAUDE_CONFIG_DIR": home.claude.parent}
        for name, folder in folders.items():
            patch.setenv(name, str(folder))
        for folder in (home.codex, home.claude):
            folder.mkdir(parents=True)
        WAYS[request.param](home)
        yield home


def all_refs() -> list[str]:
    with recall.open() as index:
        return [session.first_ref for session in index.recent(EVERYWHERE, limit=200)]


def test_no_part_of_a_planted_secret_is_in_any_byte_of_the_home(planted: Home) -> None:
    assert (planted.recall / "recall.db").stat().st_size > 100_000
    assert left_in(planted.recall) == {}


def test_while_the_database_is_open_no_part_is_in_its_log_either(home: Home, index: recall.Index) -> None:
    for number, secret in enumerate(PLANTED.values(), 1):
        index.add(in_memory(number, secret))
    assert (home.recall / "recall.db-wal").stat().st_size > 0
    assert left_in(home.recall) == {}


def test_the_text_beside_each_secret_is_kept_and_found(planted: Home) -> None:
    refs = all_refs()
    assert len(refs) >= len(PLANTED)
    with recall.open() as index:
        for ref in refs:
            messages = index.show(ref, before=0, after=200)
            text = "\n".join(message.text for message in messages)
            assert "the lantern says" in text
            assert "[REDACTED:" in text
            assert {message.role for message in messages} == {"user", "assistant", "tool"}
        assert len(index.search("lantern burns", EVERYWHERE, limit=100, mode="lexical", per_session=1)) >= len(PLANTED)


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_no_part_of_a_planted_secret_is_printed_by_any_command(planted: Home, form: tuple[str, ...]) -> None:
    whole = ("--limit", "100", "--budget-chars", "1000000")
    commands = [
        ("search", "lantern", "--all", *whole, "--per-session", "99", "--mode", "lexical"),
        ("search", "wick", "--all", *whole),
        ("recent", "--all", *whole),
        ("status",),
        ("doctor",),
        *(("show", ref, *WINDOW) for ref in all_refs()),
    ]
    printed = {command: run_here(*command, *form) for command in commands}
    assert {command: ran.complaint for command, ran in printed.items() if ran.code} == {}
    assert traces(b"\n".join(part for ran in printed.values() for part in (ran.out, ran.err))) == {}


def test_a_part_of_a_secret_finds_nothing_of_it(planted: Home) -> None:
    with recall.open() as index:
        for secret in PLANTED.values():
            for part in (secret.body[:12], secret.body[-12:], secret.body[4 : 4 + RUN + 2]):
                found = index.search(part, EVERYWHERE, limit=50, mode="lexical")
                assert traces(repr((found.hits, found.notes)).encode()) == {}


def test_a_secret_that_is_asked_for_and_a_part_of_it_are_not_printed(planted: Home) -> None:
    ask = ("search", "--all", "--no-sync", "--mode", "lexical")
    printed = []
    for secret in PLANTED.values():
        part, whole = run_here(*ask, "--", secret.body[:12]), run_here(*ask, "--json", "--", secret.spoken)
        assert (part.code, whole.code, "[REDACTED:" in whole.document["query"]) == (0, 0, True)
        printed += [part.out, part.err, whole.out, whole.err]
    assert traces(b"\n".join(printed)) == {}


@pytest.mark.parametrize("name", PLANTED)
def test_the_check_itself_sees_any_part_of_any_secret(name: str, tmp_path: Path) -> None:
    parts = list(runs(PLANTED[name].body))
    assert len(parts) >= 8
    for part in (parts[0], parts[len(parts) // 2], parts[-1]):
        assert name in traces(f"… {part.upper()} …".encode())
        (tmp_path / "recall.db-wal").write_bytes(b"\0\xff" + part.encode() + b"\0")
        assert name in left_in(tmp_path)["recall.db-wal"]
