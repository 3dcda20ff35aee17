"""What was stored under older rules is masked by a rescan, wherever it stands in the file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from conftest import Home
from hashed import Hashed, holding_vector
from here import run_here
from older import HIDDEN, S1, S2, TOKEN, older_rules, transcripts
from planted import left_in, traces
from transcript_lines import at, cx_msg, write

import recall
from recall import Message, Scope, Session
from recall.cli.doctor import examine
from recall.forgetting import forget_session
from recall.marks import Marks
from recall.rescan import RescanReport
from scanning import RULES_VERSION

EVERYWHERE = Scope.everywhere()


def state(index: recall.Index) -> int:
    return index.database.connection.total_changes()


def test_after_a_rescan_no_part_of_a_secret_is_in_any_byte_of_the_home(home: Home, old: recall.Index) -> None:
    with older_rules():
        old.ingest([write(home.root / f"{TOKEN['google']}.jsonl.zst", ["no zstd"])])
    report = old.rescan()
    assert (report.sessions, report.left) == (3, 0)
    assert report.changed >= 12
    assert report.redactions.keys() >= {"github_token", "private_key", "private_span", "slack_token"}
    assert left_in(home.recall, HIDDEN) == {}
    (problem,) = old.problems()
    assert "[REDACTED:" in problem
    first = next(session for session in old.recent(EVERYWHERE) if session.id == S1)
    for field in (first.title, first.preview, first.branch, first.repository, first.worktree, first.source):
        assert "[REDACTED:" in field
    text = "\n".join(message.text for message in old.show(f"{S1}:1", 0, 50))
    assert "the lantern says [REDACTED:slack_token#" in text
    assert "harbor\n[REDACTED:private_key#" in text
    old.close()
    assert left_in(home.recall, HIDDEN) == {}


def test_after_a_rescan_no_part_of_a_secret_is_found_and_the_words_beside_it_are(old: recall.Index) -> None:
    part = TOKEN["slack"].rsplit("-", 1)[1]
    assert f"{S1}:1" in [hit.ref for hit in old.search(part, EVERYWHERE, mode="lexical")]
    old.rescan()
    assert old.search(part, EVERYWHERE, mode="lexical").hits == ()
    assert f"{S1}:1" in [hit.ref for hit in old.search("lantern says", EVERYWHERE, mode="lexical")]
    assert f"{S1}:1" in [hit.ref for hit in old.search(TOKEN["slack"], EVERYWHERE, mode="lexical")]


def test_the_vectors_of_what_changed_go_and_come_anew_and_the_others_stay(home: Home, old: recall.Index) -> None:
    before, beside = f"lantern {TOKEN['stripe']}", "beside: plain"
    assert holding_vector(home.recall, before) != []
    assert old.counts()["without_vector"] == 0
    old.rescan()
    assert holding_vector(home.recall, before) == []
    assert holding_vector(home.recall, beside) != []
    missing = old.counts()["without_vector"]
    assert 0 < missing < old.counts()["passages"]
    assert old.embed() == missing
    assert holding_vector(home.recall, old.show(f"{S2}:1", 0, 0)[0].text) != []


def test_a_second_rescan_changes_nothing(home: Home, old: recall.Index) -> None:
    old.rescan()
    before, stored = state(old), (home.recall / "recall.db").read_bytes()
    assert old.rescan() == RescanReport(0, 0, {}, 0)
    assert state(old) == before
    assert (home.recall / "recall.db").read_bytes() == stored


def test_what_holds_no_secret_keeps_its_text_and_its_vectors(home: Home) -> None:
    said = tuple(Message("user", text) for text in ("the lantern burns", "harbor…", "风筝港口"))
    with recall.open(embedder=Hashed()) as index:
        with older_rules():
            index.add(Session("plain", title="harbor", messages=said))
            index.embed()
        assert index.rescan() == RescanReport(1, 0, {}, 0)
        assert index.counts()["without_vector"] == 0
        assert [message.text for message in index.show("plain:1")] == [message.text for message in said]


@pytest.mark.parametrize("change", ["touched", "written anew", "grown"])
def test_reading_the_transcripts_again_adds_no_message_twice(home: Home, old: recall.Index, change: str) -> None:
    old.rescan()
    count = old.counts()
    for path in transcripts(home):
        if change == "written anew":  # with another beginning, so that it is read from there
            path.write_text("\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
        if change == "grown" and S2 in path.name:
            with path.open("a", encoding="utf-8") as file:
                file.write(cx_msg(at(30), "user", f"once more lantern {TOKEN['stripe']}") + "\n")
        os.utime(path, (2_000_000_000, 2_000_000_000))
    assert old.ingest().new_messages == (1 if change == "grown" else 0)
    assert old.counts()["messages"] == count["messages"] + (1 if change == "grown" else 0)
    assert old.counts()["sessions"] == count["sessions"]
    assert left_in(home.recall, HIDDEN) == {}


def test_doctor_warns_before_a_rescan_and_is_content_after_it(home: Home, old: recall.Index) -> None:
    check = examine(home.recall)["redaction"]
    assert (check.state, check.remedy) == ("warning", "recall scan --archive")
    assert check.found.startswith("3 sessions scanned by older rules")
    old.rescan()
    assert examine(home.recall)["redaction"].state == "ok"


# In parts


def test_a_budget_leaves_the_rest_for_the_next_call_and_says_so(home: Home, old: recall.Index) -> None:
    seen: list[tuple[int, int]] = []
    assert (old.rescan(lambda *now: seen.append(now), budget_seconds=-1).sessions, seen) == (1, [(1, 3)])
    report = old.rescan(budget_seconds=-1)
    assert (report.sessions, report.left) == (1, 1)
    assert left_in(home.recall, HIDDEN) != {}
    assert examine(home.recall)["redaction"].found.startswith("1 session scanned by older rules")
    assert old.rescan(budget_seconds=60).left == 0
    assert left_in(home.recall, HIDDEN) == {}


def test_a_session_that_is_forgotten_meanwhile_stops_nothing(home: Home, old: recall.Index) -> None:
    def forget(*_: int) -> None:
        for session in old.recent(EVERYWHERE)[-2:]:
            forget_session(old.database, Marks(b""), session.id)

    report = old.rescan(forget)
    assert (report.sessions, report.left) == (3, 0)
    assert examine(home.recall)["redaction"].state == "ok"


_KILLED = """
import sys
import recall
from recall import rescan

original, calls = rescan._rescan_fields, []

def hang(*arguments):
    calls.append(arguments)
    if len(calls) == int(sys.argv[1]):
        print("now", flush=True)
        sys.stdin.read()
    return original(*arguments)

rescan._rescan_fields = hang
with recall.open() as index:
    index.rescan()
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
@pytest.mark.parametrize("at_session", [1, 3])
def test_a_rescan_that_is_killed_in_its_middle_is_completed_by_the_next(home: Home, at_session: int) -> None:
    transcripts(home)
    with older_rules(), recall.open() as index:
        index.ingest()
    command = [sys.executable, "-c", _KILLED, str(at_session)]
    with subprocess.Popen(
        command, env=home.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"now\n"
        running.send_signal(signal.SIGKILL)
    assert examine(home.recall)["redaction"].found.startswith(f"{4 - at_session} session")
    with recall.open() as index:
        assert index.rescan().sessions == 4 - at_session
        assert index.rescan().sessions == 0
        assert index.counts()["messages"] == 9
        assert left_in(home.recall, HIDDEN) == {}
    assert examine(home.recall)["database"].state == "ok"


# The command


def test_the_command_says_what_it_masked_and_then_that_nothing_is_left(home: Home, old: recall.Index) -> None:
    old.close()
    first = home.run("scan", "--archive")
    assert first.code == 0
    assert first.text.startswith(f"3 sessions scanned with the rules of version {RULES_VERSION}; newly masked: ")
    assert "1 × private_key" in first.text
    assert traces(first.out + first.err, HIDDEN) == {}
    assert "recall embed" in first.complaint
    assert left_in(home.recall, HIDDEN) == {}
    second = run_here("scan", "--archive")
    assert (second.code, second.text) == (0, f"all that is stored has passed the rules of version {RULES_VERSION}\n")


def test_the_document_of_the_command_has_exactly_these_keys(old: recall.Index) -> None:
    old.close()
    ran = run_here("scan", "--archive", "--json")
    assert (ran.code, ran.text.count("\n")) == (0, 1)
    assert list(ran.document) == ["findings", "archive"]
    assert list(ran.document["archive"]) == ["rules_version", "sessions", "changed", "redactions"]
    assert ran.document["archive"]["sessions"] == 3
    assert ran.document["archive"]["redactions"]["private_key"] == 1
    again = run_here("scan", "--archive", "--json").document["archive"]
    assert again == {"rules_version": RULES_VERSION, "sessions": 0, "changed": 0, "redactions": {}}


def test_the_archive_and_files_are_not_scanned_in_one_go(home: Home) -> None:
    ran = run_here("scan", "--archive", "README.md")
    assert (ran.code, ran.out) == (2, b"")
    assert not home.recall.exists()
