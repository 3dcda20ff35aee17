"""Secrets planted in every field of a transcript, and searched for in every byte that is stored or printed.

The values are invented and stand here in pieces, so that no scanner finds them in this file.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Home, Ran
from transcript_lines import at, cl, cl_call, cl_result, cx, cx_call, cx_echo, cx_meta, cx_msg, cx_output, uid, write

RUN = 8
"""Longest part of a planted value that may be seen by accident."""

PLANTED = {
    "github": "ghp_" + "Kt7" * 12,
    "openai": "sk-" + "proj-" + "Qx4wLm9ZtR2vBn7c" * 3,
    "anthropic": "sk-" + "ant-api03-" + "Jw8nRq3yTz6uKp1s" * 5 + "AA",
    "aws": "AKIA" + "QZ7X4MTLWBR9VHC2",
    "slack": "xoxb-" + "734920185562-" + "736128840917-" + "hGq7LzW2cVt9XbN4mRk8PdYs",
    "stripe": "sk_" + "live_" + "51Nw8yGkz7QxTm4vRb2LcJd9",
    "google": "AIza" + "SyD4kQ9wXz7LmT2vRb8NcJf6HgYp1sUe3xW",
    "npm": "npm_" + "w7Kq2Zx9Lm4Tv8Rb3Nc6Jf1Hg5Yp0sUe2dAa",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiJraXRlIn0." + "Wq7Zx2Lm9Tv4Rb8Nc3Jf6Hg1Yp5sUe0dKkMmQq",
    "gitlab": "glpat-" + "Zx7Lm2Tv9Rb4Nc8Jf3Hg",
    "password": "Harbor9" + "kite22xQ",
    "database": "Quay7" + "anchor31zW",
    "private": "the vault code is " + "pelican-meadow-3141",
}
ASSIGNED = f"export DEPLOY_PASSWORD={PLANTED['password']}"
DATABASE = f"postgres://svc:{PLANTED['database']}@db.kite.example:5432/app"
PRIVATE = f"<private>{PLANTED['private']}</private>"
REMOTE = f"https://ana:{PLANTED['gitlab']}@git.kite.example/ana/kite.git"

HEADER = f"-H 'Authorization: Bearer {PLANTED['jwt']}'"
SAID_BY_USER = f"deploy the lantern with {PLANTED['github']} please; {ASSIGNED} {PRIVATE}"
SAID_BY_ASSISTANT = f"the lantern answers with {PLANTED['openai']} at {DATABASE}"
COMMAND = f"curl {HEADER} https://api.kite.example/lantern?key={PLANTED['google']}"
PRINTED = f"lantern ok\nANTHROPIC_API_KEY={PLANTED['anthropic']}\naws {PLANTED['aws']}\n{PRIVATE}\n"
TITLE = f"lantern {PLANTED['slack']}"
BRANCH = f"fix/{PLANTED['stripe']}"
FILE = f"/srv/kite/{PLANTED['npm']}/lantern.txt"
CWD = f"/srv/kite/{PLANTED['github']}/lantern"

CODEX, CLAUDE = uid(0xD1), uid(0xD2)
SHOW_CLAUDE = f"show {CLAUDE}:1 --after 20 --json"


def codex_transcript(home: Home) -> Path:
    patch = f"*** Begin Patch\n*** Update File: {FILE}\n+{ASSIGNED}\n*** End Patch"
    lines = [
        cx_meta(at(0), CODEX, CWD, git={"branch": BRANCH, "repository_url": REMOTE}),
        cx_msg(at(1), "user", SAID_BY_USER),
        cx_echo(at(1), "user_message", SAID_BY_USER),
        cx_msg(at(2), "assistant", SAID_BY_ASSISTANT),
        cx_call(at(3), f"call_{PLANTED['npm']}", COMMAND),
        cx_output(at(4), f"call_{PLANTED['npm']}", PRINTED),
        cx_call(at(5), "call_2", f"apply_patch <<'EOF'\n{patch}\nEOF"),
        cx_output(at(6), "call_2", json.dumps({"output": PRINTED, "metadata": {"exit_code": 1}})),
        cx(at(7), "event_msg", {"type": "thread_name_updated", "thread_name": TITLE}),
        cx(at(8), "turn_context", {"cwd": f"{CWD}/deeper", "model": PLANTED["openai"]}),
        cx_msg(at(9), "user", f"and again, lantern: {PLANTED['jwt']}"),
        cx(at(10), PLANTED["github"], {"type": PLANTED["github"]}),
    ]
    return write(home.codex / "2026" / "03" / "02" / f"rollout-2026-03-02T10-00-00-{CODEX}.jsonl", lines)


def claude_transcript(home: Home) -> Path:
    place = {"gitBranch": BRANCH}
    edit = {
        "type": "tool_use",
        "id": "toolu_2",
        "name": "Write",
        "input": {"file_path": FILE, "content": f"{ASSIGNED}\n{PRIVATE}"},
    }
    lines = [
        cl(at(0), "user", uid(1), CLAUDE, CWD, SAID_BY_USER, **place),
        cl(at(1), "assistant", uid(2), CLAUDE, CWD, [{"type": "text", "text": SAID_BY_ASSISTANT}], **place),
        cl(at(2), "assistant", uid(3), CLAUDE, CWD, [cl_call("toolu_1", COMMAND)], **place),
        cl(at(3), "user", uid(4), CLAUDE, CWD, [cl_result("toolu_1", PRINTED)], **place),
        cl(at(4), "assistant", uid(5), CLAUDE, CWD, [edit], **place),
        cl(at(5), "user", uid(6), CLAUDE, f"{CWD}/deeper", [cl_result("toolu_2", [{"type": "text", "text": PRINTED}])]),
        json.dumps({"type": "ai-title", "aiTitle": TITLE, "sessionId": CLAUDE}),
        json.dumps({"type": "summary", "summary": TITLE, "leafUuid": uid(99)}),
        json.dumps({"type": PLANTED["github"], "sessionId": CLAUDE}),
    ]
    return write(home.claude / f"-srv-kite-{PLANTED['github']}-lantern" / f"{CLAUDE}.jsonl", lines)


def traces(data: bytes) -> dict[str, str]:
    """Planted values of which a run of RUN characters is in `data`, with that run."""
    text = data.decode("utf-8", "replace").casefold()
    return {name: run for name, value in PLANTED.items() for run in runs(value.casefold()) if run in text}


COMMON = (
    "sk-proj-", "sk-ant-a", "k-ant-ap", "-ant-api", "ant-api0", "nt-api03", "t-api03-", "sk_live_",
    "the vault", "vault code", "code is ",
)  # fmt: skip
"""Beginnings that every credential of a kind has, and words of everyday; they give nothing away."""


def runs(value: str) -> Iterator[str]:
    for start in range(len(value) - RUN + 1):
        run = value[start : start + RUN]
        if not any(run in common or common in run for common in COMMON):
            yield run


def commands(ref: str) -> list[list[str]]:
    asked = [PLANTED["github"], ASSIGNED, "lantern deploy", PRIVATE, REMOTE]
    plain = [
        ["search", "lantern", "--repo", CWD, "--limit", "20", "--explain"],
        ["search", "lantern", "--all", "--limit", "20", "--branch", BRANCH, "--mode", "lexical"],
        ["recent", "--all"],
        ["show", ref, "--before", "20", "--after", "20"],
        ["status"],
    ]
    return [
        ["ingest"],
        ["embed"],
        *(["search", query, "--all", "--mode", "lexical", "--json"] for query in asked),
        ["search", PLANTED["github"], "--all", "--no-sync"],
        *plain,
        *([*arguments, "--json"] for arguments in plain),
        ["show", f"{CLAUDE}:1", "--after", "20", "--json"],
    ]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, dict[str, Ran]]]:
    """The whole path by the command line, once for all tests: (the machine, what each command printed)."""
    patch = pytest.MonkeyPatch()
    root = tmp_path_factory.mktemp("canary").resolve()
    home = Home(root, root / "recall", root / ".codex" / "sessions", root / ".claude" / "projects")
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_", "RECALL_"))]:
        patch.delenv(name)
    for name, folder in {
        "HOME": root,
        "USERPROFILE": root,
        "RECALL_HOME": home.recall,
        "CODEX_HOME": home.codex.parent,
        "CLAUDE_CONFIG_DIR": home.claude.parent,
    }.items():
        patch.setenv(name, str(folder))
    codex_transcript(home)
    claude_transcript(home)
    printed: dict[str, Ran] = {}
    for arguments in commands(f"{CODEX}:1"):
        printed[" ".join(arguments)] = home.run(*arguments)
    yield home, printed
    patch.undo()


def test_every_command_ends_well_and_finds_what_is_no_secret(walked: tuple[Home, dict[str, Ran]]) -> None:
    _, printed = walked
    for command, ran in printed.items():
        assert (command, ran.code) == (command, 0), ran.complaint
    hits = printed["search lantern deploy --all --mode lexical --json"].document["hits"]
    assert {hit["session"]["id"] for hit in hits} == {CODEX, CLAUDE}
    assert "lantern" in printed[f"show {CODEX}:1 --before 20 --after 20"].text
    messages = printed[SHOW_CLAUDE].document["messages"]
    assert {message["role"] for message in messages} == {"user", "assistant", "tool"}
    assert len(messages) == 6


def test_no_planted_value_and_no_part_of_one_is_stored(walked: tuple[Home, dict[str, Ran]]) -> None:
    home, _ = walked
    files = [path for path in home.recall.rglob("*") if path.is_file()]
    assert home.recall / "recall.db" in files
    found = {str(path.relative_to(home.recall)): traces(path.read_bytes()) for path in files}
    assert {name: seen for name, seen in found.items() if seen} == {}


def test_no_planted_value_is_in_the_name_of_a_file(walked: tuple[Home, dict[str, Ran]]) -> None:
    home, _ = walked
    names = "\n".join(str(path.relative_to(home.recall)) for path in home.recall.rglob("*"))
    assert traces(names.encode()) == {}


def test_no_planted_value_and_no_part_of_one_is_printed(walked: tuple[Home, dict[str, Ran]]) -> None:
    _, printed = walked
    found = [(command, traces(ran.out + b"\n" + ran.err)) for command, ran in printed.items()]
    assert [(command, seen) for command, seen in found if seen] == []


def test_a_secret_that_is_asked_for_finds_nothing_of_itself(walked: tuple[Home, dict[str, Ran]]) -> None:
    _, printed = walked
    for query in (PLANTED["github"], REMOTE):
        document = printed[f"search {query} --all --mode lexical --json"].document
        assert "REDACTED" in document["query"]
        for hit in document["hits"]:
            assert traces(json.dumps(hit).encode()) == {}


def test_the_host_and_the_names_around_a_secret_stay(walked: tuple[Home, dict[str, Ran]]) -> None:
    _, printed = walked
    shown = "\n".join(message["text"] for message in printed[SHOW_CLAUDE].document["messages"])
    for kept in ("DEPLOY_PASSWORD=", "db.kite.example:5432/app", "ANTHROPIC_API_KEY=", "lantern ok", "[PRIVATE]"):
        assert kept in shown


def test_the_check_itself_sees_a_part_of_a_value() -> None:
    for name, value in PLANTED.items():
        part = next(runs(value))
        assert name in traces(f"… {part} …".encode())


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_nobody_else_on_the_machine_can_read_what_is_stored(walked: tuple[Home, dict[str, Ran]]) -> None:
    home, _ = walked
    modes = {
        str(path.relative_to(home.root)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in [home.recall, *home.recall.rglob("*")]
    }
    expected = {name: "0o700" if (home.root / name).is_dir() else "0o600" for name in modes}
    assert modes == expected


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_the_modes_do_not_depend_on_the_umask(home: Home) -> None:
    codex_transcript(home)
    before = os.umask(0)
    try:
        assert home.run("ingest").code == 0
    finally:
        os.umask(before)
    for path in [home.recall, *home.recall.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_secret_that_is_written_in_two_goes_is_not_stored_either(home: Home) -> None:
    """A tool's output is cut in its middle before it is stored, and a transcript is read in pieces."""
    import recall

    whole = "x" * 1_990 + f" token={PLANTED['github']} " + "y" * 5_000 + f" {PLANTED['password']}"
    lines = [
        cx_meta(at(0), CODEX, "/srv/kite"),
        cx_call(at(1), "c1", "make"),
        cx_output(at(2), "c1", f"{ASSIGNED}\n{whole}\npassword: {PLANTED['password']}"),
    ]
    path = write(home.root / "rollout-1.jsonl", lines)
    data = path.read_bytes()
    with recall.open() as index:
        for size in (len(data) - 40, len(data) - 3, len(data)):
            path.write_bytes(data[:size])
            index.ingest([path])
        assert index.counts()["messages"] == 2
    # The password stands once without its label, and there nothing tells that it is one.
    stored = b"".join(file.read_bytes() for file in home.recall.glob("recall.db*"))
    assert "github" not in traces(stored)
