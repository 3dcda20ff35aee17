"""R13, R15: text that carries a person's role and is none of theirs, and text that this tool printed itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Home
from transcript_lines import (
    at,
    cl,
    cl_call,
    cl_result,
    codex_lines,
    cx_call,
    cx_meta,
    cx_msg,
    cx_output,
    uid,
    write,
)

import recall
from recall import Hit, Scope

SRV = "/srv/w/kite"
S1 = uid(0xB1)
EVERYTHING = Scope.everywhere(subagents=True)


def found(index: recall.Index, query: str, scope: Scope | None = None) -> list[Hit]:
    return list(index.search(query, scope or Scope.everywhere(), mode="lexical", limit=50))


def said_by(index: recall.Index, role: str) -> list[str]:
    """Every stored text of a role."""
    return [
        message.text
        for session in index.recent(EVERYTHING, limit=100)
        for message in index.show(f"{session.id}:1", before=0, after=200)
        if message.role == role
    ]


def claude(home: Home, session: str, lines: Sequence[str]) -> Path:
    return write(home.claude / "-srv-w-kite" / f"{session}.jsonl", lines)


def codex(home: Home, session: str, lines: Sequence[str]) -> Path:
    return write(home.codex / f"rollout-{session}.jsonl", lines)


# R13: role "user" that no user wrote


CONTROL = "explain what <environment_context> means for the kite"
REQUEST = "rename the harbor flag"
ENVIRONMENT = (
    "<environment_context>\n  <cwd>/srv/w/kite</cwd>\n  <shell>zsh</shell>\n  kite harbor\n</environment_context>"
)
AGENTS = "# AGENTS.md instructions for /srv/w/kite\n\n<INSTRUCTIONS>\nharbor kite: be brief\n</INSTRUCTIONS>"
IDE = (
    "# Context from my IDE setup:\n\n## Active file: kite/harbor.py\n\n## Open tabs:\n- harbor.py: kite/harbor.py\n\n"
    f"## My request for Codex:\n{REQUEST}\n"
)

FROM_CODEX = [("user", ENVIRONMENT), ("user", AGENTS), ("user", IDE), ("user", CONTROL)]

FROM_CLAUDE = [
    cl(at(0), "user", uid(1), S1, SRV, "Caveat: kite harbor was run by a local command", isMeta=True),
    cl(at(1), "user", uid(2), S1, SRV, "Summary: the kite was moored in the harbor", isCompactSummary=True),
    cl(at(2), "user", uid(3), S1, SRV, "<command-name>/clear</command-name>\n<command-message>clear</command-message>"),
    cl(at(3), "assistant", uid(4), S1, SRV, [cl_call("toolu_1", "ls kite/harbor")]),
    cl(at(4), "user", uid(5), S1, SRV, [cl_result("toolu_1", "kite harbor crane.txt")]),
    cl(at(5), "user", uid(6), S1, SRV, REQUEST),
    cl(at(6), "user", uid(7), S1, SRV, CONTROL),
]


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_only_what_a_person_typed_is_a_users(home: Home, index: recall.Index, agent: str) -> None:
    if agent == "codex":
        index.ingest([codex(home, S1, codex_lines(S1, SRV, *FROM_CODEX))])
    else:
        index.ingest([claude(home, S1, FROM_CLAUDE)])
    hits = found(index, "kite harbor", Scope.everywhere(role="user"))
    assert sorted(hit.snippet.text for hit in hits) == sorted([REQUEST, CONTROL])
    assert sorted(said_by(index, "user")) == sorted([REQUEST, CONTROL])


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_session_is_called_by_what_a_person_typed_first(home: Home, index: recall.Index, agent: str) -> None:
    if agent == "codex":
        index.ingest([codex(home, S1, codex_lines(S1, SRV, *FROM_CODEX))])
    else:
        index.ingest([claude(home, S1, FROM_CLAUDE)])
    (session,) = index.recent(Scope.everywhere())
    assert (session.title, session.preview) == (REQUEST, REQUEST)


def test_instructions_glued_to_a_request_leave_the_request(home: Home, index: recall.Index) -> None:
    index.ingest([codex(home, S1, codex_lines(S1, SRV, ("user", f"{AGENTS}\n\n{ENVIRONMENT}\n\n{REQUEST}")))])
    assert said_by(index, "user") == [REQUEST]


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_what_a_tool_printed_has_its_own_role(home: Home, index: recall.Index, agent: str) -> None:
    if agent == "codex":
        lines = [
            *codex_lines(S1, SRV, ("user", "go on")),
            cx_call(at(2), "c1", "ls kite/harbor"),
            cx_output(at(3), "c1", "kite harbor crane.txt"),
        ]
        index.ingest([codex(home, S1, lines)])
    else:
        index.ingest([claude(home, S1, FROM_CLAUDE)])
    (hit,) = found(index, "crane.txt")
    assert hit.role == "tool"
    assert found(index, "crane.txt", Scope.everywhere(role="user")) == []
    assert [hit.snippet.text for hit in found(index, "crane.txt", Scope.everywhere(role="tool"))] == [hit.snippet.text]


def subagent_lines(session: str, task: str, answer: str, first: int) -> list[str]:
    return [
        cl(at(10), "user", uid(first), session, SRV, task, isSidechain=True, agentId="a"),
        cl(at(11), "assistant", uid(first + 1), session, SRV, answer, isSidechain=True, agentId="a"),
    ]


def two_subagents(home: Home) -> list[Path]:
    folder = home.claude / "-srv-w-kite" / S1 / "subagents"
    one = subagent_lines(S1, "list every caller of openLease", "lantern one", 20)
    two = subagent_lines(S1, "list every caller of closeLease", "lantern two", 30)
    # In a directory that exists: a session of one that is gone cannot be reopened.
    parent, one, two = ([line.replace(SRV, home.root.as_posix()) for line in some] for some in (FROM_CLAUDE, one, two))
    return [
        claude(home, S1, parent),
        write(folder / "agent-a1.jsonl", one),
        write(folder / "agent-a2.jsonl", two),
    ]


def test_what_subagents_said_is_found_only_on_demand_and_names_its_parent(home: Home, index: recall.Index) -> None:
    index.ingest(two_subagents(home))
    assert found(index, "lantern") == []
    assert found(index, "caller openLease") == []
    hits = found(index, "lantern", EVERYTHING)
    # Nearly the same is shown once, and counted.
    assert sum(1 + hit.similar for hit in hits) == 2
    for hit in hits:
        assert (hit.session.parent, hit.resume) == (S1, f"claude --resume {S1}")


def test_two_subagents_of_one_session_do_not_overwrite_each_other(home: Home, index: recall.Index) -> None:
    index.ingest(two_subagents(home))
    children = [session for session in index.recent(EVERYTHING) if session.parent == S1]
    assert [session.message_count for session in children] == [2, 2]
    assert len({session.id for session in children}) == 2
    assert {hit.snippet.text for query in ("one", "two") for hit in found(index, f"lantern {query}", EVERYTHING)} >= {
        "lantern one",
        "lantern two",
    }


def test_the_task_of_a_subagent_is_no_users_word(home: Home, index: recall.Index) -> None:
    index.ingest(two_subagents(home))
    assert found(index, "caller openLease", Scope.everywhere(role="user", subagents=True)) == []
    assert [hit.role for hit in found(index, "caller openLease", EVERYTHING)][:1] == ["assistant"]


def test_a_subagent_without_the_flag_is_known_by_its_folder(home: Home, index: recall.Index) -> None:
    """The flag is not always set."""
    lines = [
        cl(at(10), "user", uid(40), S1, SRV, "list every caller of openLease"),
        cl(at(11), "assistant", uid(41), S1, SRV, "lantern three"),
    ]
    folder = home.claude / "-srv-w-kite" / S1 / "subagents"
    index.ingest([claude(home, S1, FROM_CLAUDE), write(folder / "agent-a3.jsonl", lines)])
    assert found(index, "lantern") == []
    assert [hit.session.parent for hit in found(index, "lantern", EVERYTHING)] == [S1]


def test_a_subagent_of_codex_is_found_only_on_demand_and_names_its_parent(home: Home, index: recall.Index) -> None:
    child = uid(0xB2)
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": S1, "depth": 1}}}
    index.ingest(
        [
            codex(home, S1, codex_lines(S1, SRV, ("user", REQUEST))),
            codex(home, child, codex_lines(child, SRV, ("user", "list"), ("assistant", "lantern"), source=spawned)),
        ]
    )
    assert found(index, "lantern") == []
    assert [(hit.session.parent, hit.resume) for hit in found(index, "lantern", EVERYTHING)] == [
        (S1, f"codex resume {S1}")
    ]
    assert said_by(index, "user") == [REQUEST]


# R15: the tool indexes itself


PORT = "harbor port is 8443"
COMMANDS = [
    'recall search "harbor port"',
    'recall search "harbor port" --all --json',
    "cd /srv/w/kite && recall search harbor port",
    "RECALL_HOME=/tmp/x recall recent --all",
    "/usr/local/bin/recall show S:12 --before 5",
    "uvx repo-recall search harbor",
    "python3 -m recall search harbor",
    "recall search harbor | head -20",
]


def session_that_asked(home: Home, agent: str, number: int, command: str, printed: str) -> Path:
    """A session in which the agent ran recall, and its output came back."""
    session = uid(0xC00 + number)
    if agent == "codex":
        lines = [
            *codex_lines(session, SRV, ("user", f"round {number}: what did we decide?"), start=60 * number),
            cx_call(at(60 * number + 2), "c1", command),
            cx_output(at(60 * number + 3), "c1", printed),
            cx_msg(at(60 * number + 4), "assistant", f"round {number} is answered"),
        ]
        return codex(home, session, lines)
    start, first = 60 * number, 1000 * number
    lines = [
        cl(at(start), "user", uid(first), session, SRV, f"round {number}: what did we decide?"),
        cl(at(start + 1), "assistant", uid(first + 1), session, SRV, [cl_call(f"t{number}", command)]),
        cl(at(start + 2), "user", uid(first + 2), session, SRV, [cl_result(f"t{number}", printed)]),
        cl(at(start + 3), "assistant", uid(first + 3), session, SRV, f"round {number} is answered"),
    ]
    return claude(home, session, lines)


def source(home: Home) -> Path:
    return codex(home, S1, codex_lines(S1, SRV, ("user", "where do the boats go?"), ("assistant", PORT)))


def test_three_rounds_of_asking_recall_change_no_answer(home: Home) -> None:
    source(home)
    as_json = home.run("search", "harbor port", "--all", "--json")
    first = [hit["ref"] for hit in as_json.document["hits"]]
    assert first == [f"{S1}:2"]
    for number in (1, 2, 3):
        as_text = home.run("search", "harbor port", "--all")
        assert PORT in as_text.text
        command = 'recall search "harbor port" --all'
        session_that_asked(home, "codex", 2 * number, command, as_text.text)
        session_that_asked(home, "claude", 2 * number + 1, f"{command} --json", as_json.text)
        as_json = home.run("search", "harbor port", "--all", "--json")
        assert [hit["ref"] for hit in as_json.document["hits"]] == first
        assert [hit["similar"] for hit in as_json.document["hits"]] == [0]
    recent = home.run("recent", "--all", "--json").document["sessions"]
    # The rounds themselves were taken in.
    assert len(recent) == 7


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_neither_the_call_nor_the_answer_of_recall_is_stored(home: Home, index: recall.Index, agent: str) -> None:
    """The answer is given without frame or JSON: what tells is the command."""
    for number, command in enumerate(COMMANDS, 1):
        session_that_asked(home, agent, number, command, PORT)
    index.ingest([home.codex, home.claude])
    assert said_by(index, "tool") == []
    assert found(index, "harbor port") == []
    assert len(found(index, "answered")) >= 1


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("kind", ["text", "json", "cut text", "recent", "recent json", "show", "show json"])
def test_what_recall_printed_is_known_whatever_command_printed_it(
    home: Home, index: recall.Index, agent: str, kind: str
) -> None:
    """A script may have run it, or a file may hold it."""
    from recall.cli import render

    index.ingest([source(home)])
    result = index.search("harbor port", Scope.everywhere(), mode="lexical")
    printed = {
        "text": render.search_text(result, result.hits, 0, False, True),
        "json": json.dumps(render.search_json(result, result.hits, False, 0)),
        "cut text": render.search_text(result, result.hits, 0, False, True).rpartition("\n")[0],
        "recent": render.recent_text(index.recent(Scope.everywhere()), Scope.everywhere().describe(), True),
        "recent json": json.dumps(render.recent_json(index.recent(Scope.everywhere()))),
        "show": render.show_text(index.show(f"{S1}:2"), f"{S1}:2", True),
        "show json": json.dumps(render.show_json(index.show(f"{S1}:2"), False)),
    }[kind]
    assert "boats" in printed or PORT in printed
    index.ingest([session_that_asked(home, agent, 5, "./ask.sh", printed)])
    # The second one is a question: its answer stands before it.
    for query, refs in (("harbor port", [f"{S1}:2"]), ("where boats", [f"{S1}:2", f"{S1}:1"])):
        assert [(hit.ref, hit.similar) for hit in found(index, query)] == [(ref, 0) for ref in refs]


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("kind", ["text", "json"])
def test_the_answer_of_recall_is_cut_out_of_what_other_commands_printed(
    home: Home, index: recall.Index, agent: str, kind: str
) -> None:
    from recall.cli import render

    index.ingest([source(home)])
    result = index.search("harbor port", Scope.everywhere(), mode="lexical")
    as_json = json.dumps(render.search_json(result, result.hits, False, 0))
    printed = render.search_text(result, result.hits, 0, False, True) if kind == "text" else as_json
    command = "make kite && recall search 'harbor port'" + (" --json" if kind == "json" else "")
    index.ingest([session_that_asked(home, agent, 5, command, f"the crane is built\n{printed}")])
    assert [hit.role for hit in found(index, "crane is built")] == ["tool"]
    assert PORT not in "\n".join(said_by(index, "tool"))


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_block_that_recall_put_before_a_prompt_is_cut_out_of_it(home: Home, index: recall.Index, agent: str) -> None:
    from recall.cli import render

    index.ingest([source(home)])
    result = index.search("harbor port", Scope.everywhere(), mode="lexical")
    block = render.search_text(result, result.hits, 0, False, True)
    said = f"{block}\n\npaint the crane"
    other = uid(0xB3)
    if agent == "codex":
        index.ingest([codex(home, other, codex_lines(other, SRV, ("user", said), start=60))])
    else:
        index.ingest([claude(home, other, [cl(at(60), "user", uid(50), other, SRV, said)])])
    assert "paint the crane" in said_by(index, "user")
    assert [hit.ref for hit in found(index, "harbor port")] == [f"{S1}:2"]


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_block_that_is_all_of_a_message_leaves_no_message(home: Home, index: recall.Index, agent: str) -> None:
    block = f"<recalled-sessions>\n{PORT}\n</recalled-sessions>"
    if agent == "codex":
        index.ingest([codex(home, S1, codex_lines(S1, SRV, ("user", block), ("user", "paint the crane")))])
    else:
        lines = [cl(at(n), "user", uid(n), S1, SRV, text) for n, text in enumerate([block, "paint the crane"])]
        index.ingest([claude(home, S1, lines)])
    assert said_by(index, "user") == ["paint the crane"]


PROSE = [
    "does recall search look into subagents, and is the harbor port in it?",
    "I ran `recall search harbor port` and it found nothing",
    "add a page about recall search to the docs of the harbor port",
    "what does <recalled-sessions mean in the harbor port log?",
]


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("text", PROSE)
def test_prose_about_recall_is_indexed(home: Home, index: recall.Index, agent: str, text: str) -> None:
    if agent == "codex":
        index.ingest([codex(home, S1, codex_lines(S1, SRV, ("user", text)))])
    else:
        index.ingest([claude(home, S1, [cl(at(0), "user", uid(1), S1, SRV, text)])])
    # A frame that someone names is shown with another bracket: what is shown must not open one.
    assert [hit.snippet.text.replace("‹", "<") for hit in found(index, "harbor port")] == [text]


OTHER_COMMANDS = ["grep -rn 'recall search' docs", "cat recall/search.py", "pytest tests/test_recall.py -k search"]


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("command", OTHER_COMMANDS)
def test_other_commands_that_name_recall_are_indexed(home: Home, index: recall.Index, agent: str, command: str) -> None:
    index.ingest([session_that_asked(home, agent, 1, command, PORT)])
    assert said_by(index, "tool") == [command, PORT]


def test_a_background_session_of_recall_itself_is_not_indexed(home: Home, index: recall.Index) -> None:
    meta: dict[str, Any] = {"originator": "recall"}
    index.ingest([codex(home, S1, [cx_meta(at(0), S1, SRV, **meta), cx_msg(at(1), "user", f"sum up: {PORT}")])])
    assert found(index, "harbor port") == []
