"""R11, R12: history that agents write again, in forks, resumes, compactions and imports, and on two streams."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import pytest
from conftest import Home
from transcript_lines import append, at, cl, claude_lines, codex_lines, cx, cx_echo, cx_meta, cx_msg, uid, write

import recall
from recall import Scope, SearchResult

EVERYWHERE = Scope.everywhere()
SRV = "/srv/kite"

P, F = uid(0x90), uid(0x91)
ASKED, ANSWERED = "why is the kite cache cold", "the key changed"
ORDERS = pytest.mark.parametrize("backwards", [False, True], ids=["parent first", "fork first"])


def search(index: recall.Index, query: str, scope: Scope = EVERYWHERE) -> SearchResult:
    return index.search(query, scope, mode="lexical", limit=50)


def owners(index: recall.Index, query: str) -> list[str]:
    """Sessions of the hits, one for each passage that was found, hidden as similar or not."""
    return [hit.session.id for hit in search(index, query) for _ in range(1 + hit.similar)]


def roles(index: recall.Index, session: str) -> list[tuple[str, str]]:
    """(role, text) of what the archive holds of a session; copies are not held."""
    (name,) = [known.id for known in index.recent(Scope.everywhere(subagents=True), limit=100) if known.id == session]
    number = next(
        number for number in itertools.count(1) if (shown := _shown(index, f"{name}:{number}")) or number > 200
    )
    assert shown
    return [(message.role, message.text) for message in index.show(f"{name}:{number}", before=0, after=200)]


def _shown(index: recall.Index, ref: str) -> bool:
    try:
        return bool(index.show(ref, before=0, after=0))
    except recall.NotFoundError:
        return False


def take_in(index: recall.Index, paths: Sequence[Path], backwards: bool) -> None:
    """One after the other, so that the order is certain."""
    for path in reversed(paths) if backwards else paths:
        index.ingest([path])


def rollout(home: Home, name: str, lines: Sequence[str]) -> Path:
    return write(home.codex / "2026" / "03" / "02" / f"rollout-2026-03-02T10-00-00-{name}.jsonl", lines)


# R11: forks of Codex


def codex_parent(start: float = 0) -> list[str]:
    return codex_lines(P, SRV, ("user", ASKED), ("assistant", ANSWERED), start=start)


@ORDERS
def test_a_codex_fork_holds_only_what_was_said_after_it_forked(
    home: Home, index: recall.Index, backwards: bool
) -> None:
    parent = rollout(home, P, codex_parent())
    fork_lines = [
        cx_meta(at(60), F, SRV, forked_from_id=P),
        *codex_parent(start=61),
        cx_msg(at(70), "user", "now fix harbor"),
    ]
    take_in(index, [parent, rollout(home, F, fork_lines)], backwards)
    assert owners(index, "kite cache cold") == [P]
    assert owners(index, "the key changed") == [P]
    assert owners(index, "now fix harbor") == [F]


@ORDERS
def test_a_fork_of_a_fork_holds_only_its_own(home: Home, index: recall.Index, backwards: bool) -> None:
    second = uid(0x92)
    fork_lines = [
        cx_meta(at(60), F, SRV, forked_from_id=P),
        *codex_parent(start=61),
        cx_msg(at(70), "user", "now fix harbor"),
    ]
    again = [
        cx_meta(at(120), second, SRV, forked_from_id=F),
        *codex_parent(start=121),
        cx_msg(at(130), "user", "now fix harbor"),
        cx_msg(at(131), "user", "and paint the crane"),
    ]
    paths = [rollout(home, P, codex_parent()), rollout(home, F, fork_lines), rollout(home, second, again)]
    take_in(index, paths, backwards)
    assert owners(index, "kite cache cold") == [P]
    assert owners(index, "now fix harbor") == [F]
    assert owners(index, "paint the crane") == [second]


@ORDERS
def test_a_parent_that_goes_on_after_the_fork_keeps_what_it_says(
    home: Home, index: recall.Index, backwards: bool
) -> None:
    fork_lines = [
        cx_meta(at(60), F, SRV, forked_from_id=P),
        *codex_parent(start=61),
        cx_msg(at(70), "user", "now fix harbor"),
    ]
    parent, fork = rollout(home, P, codex_parent()), rollout(home, F, fork_lines)
    take_in(index, [parent, fork], backwards)
    append(parent, [cx_msg(at(80), "user", "now fix harbor"), cx_msg(at(81), "assistant", "the quay is repaired")])
    index.ingest([parent, fork])
    assert sorted(owners(index, "now fix harbor")) == sorted([P, F])
    assert owners(index, "the quay is repaired") == [P]
    assert owners(index, "kite cache cold") == [P]


def test_a_fork_whose_parent_is_gone_keeps_the_history(home: Home, index: recall.Index) -> None:
    fork_lines = [
        cx_meta(at(60), F, SRV, forked_from_id=P),
        *codex_parent(start=61),
        cx_msg(at(70), "user", "now fix harbor"),
    ]
    index.ingest([rollout(home, F, fork_lines)])
    assert owners(index, "kite cache cold") == [F]
    assert owners(index, "now fix harbor") == [F]


# R11: resumes and compactions of Claude Code

S1, S2 = uid(0xA1), uid(0xA2)


def project(home: Home, session: str, lines: Sequence[str]) -> Path:
    return write(home.claude / "-srv-kite" / f"{session}.jsonl", lines)


def claude_parent(session: str) -> list[str]:
    return claude_lines(session, SRV, ("user", ASKED), ("assistant", ANSWERED))


@ORDERS
@pytest.mark.parametrize("relabelled", [False, True], ids=["session id kept", "session id new"])
def test_a_resumed_claude_session_holds_each_uuid_once(
    home: Home, index: recall.Index, backwards: bool, relabelled: bool
) -> None:
    copied = claude_parent(S2 if relabelled else S1)
    resumed = [*copied, *copied, cl(at(60), "user", uid(70), S2, SRV, "now fix harbor"), *copied, *copied, *copied]
    take_in(index, [project(home, S1, claude_parent(S1)), project(home, S2, resumed)], backwards)
    assert owners(index, "kite cache cold") == [S1]
    assert owners(index, "the key changed") == [S1]
    assert owners(index, "now fix harbor") == [S2]


@ORDERS
def test_lines_that_a_compaction_repeats_behind_new_words_are_still_copies(
    home: Home, index: recall.Index, backwards: bool
) -> None:
    compacted = [
        cl(at(60), "user", uid(71), S2, SRV, "This session is being continued: kite cache", isCompactSummary=True),
        cl(at(61), "user", uid(70), S2, SRV, "now fix harbor"),
        *claude_parent(S2),
    ]
    take_in(index, [project(home, S1, claude_parent(S1)), project(home, S2, compacted)], backwards)
    assert owners(index, "kite cache cold") == [S1]
    assert owners(index, "now fix harbor") == [S2]


@ORDERS
def test_a_resume_that_gives_every_line_a_new_uuid_is_still_a_copy_of_its_beginning(
    home: Home, index: recall.Index, backwards: bool
) -> None:
    """Claude Code 1.0 does so; only the id of an answer survives."""

    def lines(session: str, first: int) -> list[str]:
        answer = {"role": "assistant", "id": "msg_01kite", "content": [{"type": "text", "text": ANSWERED}]}
        return [
            cl(at(0), "user", uid(first), session, SRV, ASKED),
            cl(at(1), "assistant", uid(first + 1), session, SRV, "", message=answer),
        ]

    resumed = [*lines(S2, 500), cl(at(60), "user", uid(502), S2, SRV, "now fix harbor")]
    take_in(index, [project(home, S1, lines(S1, 1)), project(home, S2, resumed)], backwards)
    assert owners(index, "kite cache cold") == [S1]
    assert owners(index, "the key changed") == [S1]
    assert owners(index, "now fix harbor") == [S2]


@ORDERS
def test_a_resume_that_is_taken_in_while_its_copies_are_being_written_repeats_and_loses_nothing(
    home: Home, index: recall.Index, backwards: bool
) -> None:
    """Until it holds more than its parent, nothing tells which of the two is the copy."""
    resumed = [*claude_parent(S2), cl(at(60), "user", uid(70), S2, SRV, "now fix harbor")]
    paths = [project(home, S1, claude_parent(S1)), project(home, S2, resumed[:1])]
    take_in(index, paths, backwards)
    for line in resumed[1:]:
        append(paths[1], [line])
        index.ingest(paths)
    assert len(owners(index, "kite cache cold")) == 1
    assert len(owners(index, "the key changed")) == 1
    assert owners(index, "now fix harbor") == [S2]


# R11: Codex imports the sessions of Claude


def imported(session: str) -> list[str]:
    """A Claude session as Codex imports it: stamped with the import's time, tool calls flattened into text."""
    turn = {"type": "task_started", "turn_id": "external-import-turn-1", "started_at": _unix(at(0))}
    call = "[external_agent_tool_call: Bash]\ncommand: kitectl stats\n[/external_agent_tool_call]"
    result = "[external_agent_tool_result]\nhit rate 3 percent\n[/external_agent_tool_result]"
    said = [("user", ASKED), ("assistant", call), ("assistant", result), ("assistant", ANSWERED)]
    lines = [cx_meta(at(600), session, SRV), cx(at(600), "event_msg", turn)]
    for role, text in said:
        lines += [cx_echo(at(600), "user_message" if role == "user" else "agent_message", text)]
        lines += [cx_msg(at(600), role, text)]
    lines += [cx_msg(at(600), "user", "<EXTERNAL SESSION IMPORTED>")]
    return lines


def claude_original(session: str) -> list[str]:
    call = [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "kitectl stats"}}]
    result = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "hit rate 3 percent"}]
    return [
        cl(at(0), "user", uid(1), session, SRV, ASKED),
        cl(at(1), "assistant", uid(2), session, SRV, call),
        cl(at(2), "user", uid(3), session, SRV, result),
        cl(at(3), "assistant", uid(4), session, SRV, [{"type": "text", "text": ANSWERED}]),
    ]


def _unix(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp())


@ORDERS
def test_a_claude_session_that_codex_imported_stays_claudes(home: Home, index: recall.Index, backwards: bool) -> None:
    take_in(index, [project(home, S1, claude_original(S1)), rollout(home, F, imported(F))], backwards)
    assert owners(index, "kite cache cold") == [S1]
    assert owners(index, "the key changed") == [S1]
    assert owners(index, "hit rate percent") == [S1]
    assert [hit.session.agent for hit in search(index, "kite cache cold")] == ["claude"]


@ORDERS
def test_what_is_said_after_an_import_is_codexs(home: Home, index: recall.Index, backwards: bool) -> None:
    goes_on = [
        cx(at(660), "event_msg", {"type": "task_started", "turn_id": "turn-2", "started_at": _unix(at(660))}),
        cx_msg(at(661), "user", "now fix harbor"),
        cx_msg(at(662), "assistant", "the quay is repaired"),
    ]
    take_in(index, [project(home, S1, claude_original(S1)), rollout(home, F, imported(F) + goes_on)], backwards)
    assert owners(index, "kite cache cold") == [S1]
    assert owners(index, "now fix harbor") == [F]
    assert owners(index, "the quay is repaired") == [F]


def test_an_imported_session_whose_original_is_gone_keeps_its_words(home: Home, index: recall.Index) -> None:
    index.ingest([rollout(home, F, imported(F))])
    assert owners(index, "kite cache cold") == [F]
    assert owners(index, "the key changed") == [F]


# R11: controls


def two_sessions(home: Home, kind: str, *said: tuple[str, str]) -> tuple[list[Path], list[str]]:
    """(transcripts, ids) of two unrelated sessions in which the same was said."""
    if kind == "codex":
        paths = [rollout(home, name, codex_lines(name, SRV, *said, start=start)) for start, name in ((0, P), (60, F))]
        return paths, [P, F]
    if kind == "claude":
        return [
            project(home, S1, claude_lines(S1, SRV, *said)),
            project(home, S2, claude_lines(S2, SRV, *said, start=60, first=800)),
        ], [S1, S2]
    return [
        rollout(home, P, codex_lines(P, SRV, *said)),
        project(home, S1, claude_lines(S1, SRV, *said, start=60)),
    ], [P, S1]


@ORDERS
@pytest.mark.parametrize("kind", ["codex", "claude", "codex and claude"])
@pytest.mark.parametrize("said", [[("user", "run the tests")], [("user", "run the tests"), ("assistant", "all pass")]])
def test_sessions_that_only_say_the_same_are_no_copies(
    home: Home, index: recall.Index, backwards: bool, kind: str, said: list[tuple[str, str]]
) -> None:
    paths, ids = two_sessions(home, kind, *said)
    take_in(index, paths, backwards)
    assert {session.id: session.message_count for session in index.recent(EVERYWHERE)} == dict.fromkeys(ids, len(said))
    result = search(index, "run the tests")
    assert sum(1 + hit.similar for hit in result) == 2
    for session in ids:
        assert roles(index, session) == said


@pytest.mark.parametrize("kind", ["codex", "claude", "codex and claude"])
def test_each_of_two_sessions_that_say_the_same_is_found_when_the_other_is_out_of_scope(
    home: Home, index: recall.Index, kind: str
) -> None:
    paths, ids = two_sessions(home, kind, ("user", "run the tests"))
    index.ingest(paths)
    noon = datetime.fromisoformat(at(30))
    earlier, later = Scope.everywhere(until=noon), Scope.everywhere(since=noon)
    assert [[hit.session.id for hit in search(index, "run the tests", scope)] for scope in (earlier, later)] == [
        [ids[0]],
        [ids[1]],
    ]


def test_ids_that_a_model_counts_from_one_in_every_session_prove_no_copy(home: Home, index: recall.Index) -> None:
    said = [("user", "rename the harbor flag"), ("assistant", "done")]
    first = [cl(at(n), role, str(n), S1, SRV, text) for n, (role, text) in enumerate(said)]
    other = [("user", "explain the quay"), ("assistant", "done"), ("user", "paint it")]
    second = [cl(at(60 + n), role, str(n), S2, SRV, text) for n, (role, text) in enumerate(other)]
    index.ingest([project(home, S1, first), project(home, S2, second)])
    assert roles(index, S1) == said
    assert roles(index, S2) == other


# R12: one message on two streams, or on only one


USER, ASSISTANT = "retry the harbor build", "the harbor build is green"


def turn(start: float, user: str = USER, assistant: str = ASSISTANT, streams: str = "both") -> list[str]:
    pairs = [
        (cx_msg(at(start), "user", user), cx_echo(at(start), "user_message", user)),
        (cx_msg(at(start + 1), "assistant", assistant), cx_echo(at(start + 1), "agent_message", assistant)),
    ]
    pick: Callable[[tuple[str, str]], tuple[str, ...]] = {
        "both": lambda pair: pair,
        "echo first": lambda pair: (pair[1], pair[0]),
        "messages only": lambda pair: (pair[0],),
        "echoes only": lambda pair: (pair[1],),
    }[streams]
    if streams == "all echoes last":
        return [pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]]
    return [line for pair in pairs for line in pick(pair)]


STREAMS = pytest.mark.parametrize("streams", ["both", "echo first", "messages only", "echoes only"])


@STREAMS
def test_each_message_is_stored_once_whatever_streams_a_version_writes(
    home: Home, index: recall.Index, streams: str
) -> None:
    index.ingest([rollout(home, P, [cx_meta(at(0), P, SRV), *turn(1, streams=streams)])])
    assert roles(index, P) == [("user", USER), ("assistant", ASSISTANT)]
    (session,) = index.recent(EVERYWHERE)
    assert (session.message_count, session.preview) == (2, USER)


@STREAMS
def test_what_a_person_really_sends_twice_is_two_messages(home: Home, index: recall.Index, streams: str) -> None:
    again = "still red"
    lines = [*turn(1, streams=streams), *turn(5, assistant=again, streams=streams)]
    index.ingest([rollout(home, P, [cx_meta(at(0), P, SRV), *lines])])
    assert roles(index, P) == [("user", USER), ("assistant", ASSISTANT), ("user", USER), ("assistant", again)]


@STREAMS
def test_streams_that_are_read_line_by_line_give_the_same(home: Home, index: recall.Index, streams: str) -> None:
    path = rollout(home, P, [cx_meta(at(0), P, SRV)])
    for line in [*turn(1, streams=streams), *turn(5, assistant="still red", streams=streams)]:
        append(path, [line])
        index.ingest([path])
    assert [role for role, _ in roles(index, P)] == ["user", "assistant", "user", "assistant"]


def test_an_item_that_is_reported_as_completed_is_an_echo_too(home: Home, index: recall.Index) -> None:
    done = {"type": "AgentMessage", "id": "i1", "content": [{"type": "Text", "text": ASSISTANT}]}
    lines = [*turn(1, streams="messages only"), cx(at(3), "event_msg", {"type": "item_completed", "item": done})]
    index.ingest([rollout(home, P, [cx_meta(at(0), P, SRV), *lines])])
    assert roles(index, P) == [("user", USER), ("assistant", ASSISTANT)]
