"""What is forgotten is gone, down to the bytes of every file, and no transcript brings it back; all else stays."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Home
from hashed import Hashed, holding_vector
from here import run_here
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import PLANTED
from transcript_lines import append, at, cl, claude_lines, codex_lines, cx_msg, session_lines, uid, write

import recall
from recall import ForgetReport, Message, Scope, Session, reading, vector_removal

EVERYWHERE = Scope.everywhere(subagents=True)
S1, S2, S3 = uid(0xB1), uid(0xB2), uid(0xB3)
KITE, QUAY = "/srv/kite", "/srv/quay"
WORD = "zyxquelmor"
SAID = [
    ("user", f"why does the {WORD} lantern flicker at dusk?"),
    ("assistant", f"the {WORD} wick is damp"),
    ("tool", f"{WORD}.txt"),
    ("user", "ok"),
    ("assistant", f"I dried the {WORD} wick and lit it"),
]
OTHER = [("user", "where does the harbor end?"), ("assistant", "behind the quay"), ("user", "ok")]


def transcript(home: Home, name: str, cwd: str, said: list[tuple[str, str]], start: int = 0, file: str = "") -> Path:
    lines = session_lines("codex", name, cwd, *said, start=start)
    return write(home.codex / "2026" / f"rollout-{file or name}.jsonl", lines)


def holding(folder: Path, word: str = WORD) -> list[str]:
    """Names of the files that hold a word, also as a term that shares its beginning with the one before it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if word[2:].encode() in path.read_bytes().lower()]


def texts(index: recall.Index, name: str) -> list[str]:
    """What is stored of a session."""
    sql = """select text from messages m join sessions s on s.id = m.session_id
             where s.name = ? and copied_from is null order by number"""
    return [str(row[0]) for row in index.database.rows(sql, (name,))]


@pytest.fixture
def filled(home: Home) -> recall.Index:
    """A session of kite that holds the word, one of quay that does not, and their vectors."""
    transcript(home, S1, KITE, SAID)
    transcript(home, S2, QUAY, OTHER, start=100)
    index = recall.open(embedder=Hashed())
    index.ingest()
    index.embed()
    assert holding(home.recall) != []
    assert holding_vector(home.recall, SAID[1][1]) != []
    return index


WAYS = [{"session": S1}, {"session": S1[:8]}, {"repository": KITE}, {"match": WORD}, {"match": f" {WORD.upper()} "}]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way))
def test_what_is_forgotten_is_in_no_file_and_all_else_is_found(
    home: Home, filled: recall.Index, way: dict[str, str]
) -> None:
    with filled as index:
        would = index.would_forget(**way)
        report = index.forget(**way)
        assert (report.sessions, report.messages, report.complete) == (would.sessions, would.messages, True)
        assert (report.sessions, report.messages) == ((0, 5) if "match" in way else (1, 6))
        assert holding(home.recall) == []
        assert holding_vector(home.recall, SAID[1][1]) == []
        assert texts(index, S2) == [text for _, text in OTHER]
        assert holding_vector(home.recall, OTHER[1][1]) != []
        assert f"{S2}:1" in [hit.ref for hit in index.search("harbor", EVERYWHERE, mode="lexical")]
        assert index.search(WORD, EVERYWHERE, mode="lexical").hits == ()
    assert holding(home.recall) == []


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way))
def test_no_transcript_brings_back_what_was_forgotten(home: Home, filled: recall.Index, way: dict[str, str]) -> None:
    with filled as index:
        index.forget(**way)
        grown = home.codex / "2026" / f"rollout-{S1}.jsonl"
        append(grown, [cx_msg(at(50), "user", "and now?")])
        transcript(home, S1, KITE, SAID, file=f"second-{S1}")
        fork = codex_lines(S3, KITE, *(one for one in SAID if one[0] != "tool"), ("user", "anything else?"), start=300)
        write(home.codex / f"rollout-{S3}.jsonl", fork)
        unnamed = claude_lines(uid(9), QUAY, *(one for one in SAID if one[0] != "tool"), start=500)
        write(home.claude / "-srv-quay" / f"{uid(9)}.jsonl", unnamed)
        index.ingest()
        assert holding(home.recall) == []
        assert texts(index, S3)[-1] == "anything else?"
        assert all(WORD not in text for text in texts(index, S3))
        index.ingest()
        assert holding(home.recall) == []


def test_what_is_said_later_in_a_forgotten_session_is_not_taken_in(home: Home, filled: recall.Index) -> None:
    with filled as index:
        index.forget(session=S1)
        append(home.codex / "2026" / f"rollout-{S1}.jsonl", [cx_msg(at(50), "user", "a new heron")])
        [report] = [file for file in index.ingest().files if S1 in file.path]
        assert (report.status, report.new_messages) == ("excluded", 0)
        assert index.problems() == []
        added = index.add(Session(S1, messages=(Message("user", "from memory"),)))
        assert (added.new_messages, added.excluded) == (0, "it was forgotten")
        assert texts(index, S1) == []


def test_a_later_session_of_a_forgotten_repository_is_taken_in(home: Home, filled: recall.Index) -> None:
    with filled as index:
        index.forget(repository=KITE)
        assert index.database.value("select count(*) from repositories where path = ?", (KITE,)) == 0
        transcript(home, S3, KITE, [("user", "a new heron"), ("assistant", "seen")], start=900)
        index.ingest()
        assert texts(index, S3) == ["a new heron", "seen"]
        assert texts(index, S1) == []


def test_what_another_session_said_in_a_forgotten_repository_goes_and_stays_away(
    home: Home, index: recall.Index
) -> None:
    lines = [
        cl(at(0), "user", uid(1), S1, QUAY, "look at the harbor"),
        cl(at(1), "assistant", uid(2), S1, KITE, f"inside kite: {WORD}"),
        cl(at(2), "user", uid(3), S1, QUAY, "back in the harbor"),
    ]
    path = write(home.claude / "-srv-quay" / f"{S1}.jsonl", lines)
    index.ingest()
    assert index.forget(repository=KITE) == ForgetReport(0, 1)
    write(path, [*lines, cl(at(3), "user", uid(4), S1, QUAY, "and the quay")])
    index.ingest()
    assert texts(index, S1) == ["look at the harbor", "back in the harbor", "and the quay"]
    assert holding(home.recall) == []


def test_what_many_sessions_say_is_not_lost_with_one_of_them(home: Home, index: recall.Index) -> None:
    daily = "Read AGENTS.md, run all the tests and tell me in one sentence what is broken, please."
    transcript(home, S1, KITE, [("user", daily), ("assistant", f"the {WORD}"), ("user", "ok"), ("tool", "a.txt")])
    index.ingest()
    index.forget(session=S1)
    later = [("user", daily), ("assistant", "nothing is broken"), ("user", "ok")]
    transcript(home, S2, KITE, later, start=2000)
    index.ingest()
    assert texts(index, S2) == [text for _, text in later]


def test_a_fork_keeps_what_it_added_and_the_parent_keeps_what_it_shared(home: Home, index: recall.Index) -> None:
    shared = [("user", "where is the heron?"), ("assistant", "on the pier")]
    write(home.codex / f"rollout-{S1}.jsonl", codex_lines(S1, KITE, *shared, ("user", "parent goes on")))
    mine = ("user", f"fork says {WORD}")
    write(home.codex / f"rollout-{S2}.jsonl", codex_lines(S2, KITE, *shared, mine, start=60, forked_from_id=S1))
    index.ingest()
    index.forget(session=S2)
    assert texts(index, S1) == [*(text for _, text in shared), "parent goes on"]
    write(
        home.codex / f"rollout-{S3}.jsonl",
        codex_lines(S3, KITE, *shared, mine, ("user", "third"), start=90, forked_from_id=S2),
    )
    index.ingest()
    assert texts(index, S3)[-1] == "third"
    assert holding(home.recall) == []


def test_a_fork_has_nothing_of_a_session_that_asked_to_be_forgotten_before_it_was_stored(
    home: Home, index: recall.Index
) -> None:
    shared = [("user", f"the {WORD}"), ("assistant", "lit")]
    for order in (0, 1):
        name, fork = uid(0xC0 + order), uid(0xD0 + order)
        asked = codex_lines(name, KITE, *shared, ("user", "do not remember this session"))
        forked = codex_lines(fork, KITE, *shared, ("user", "and now?"), start=60, forked_from_id=name)
        paths = [
            write(home.codex / f"rollout-{name}.jsonl", asked),
            write(home.codex / f"rollout-{fork}.jsonl", forked),
        ]
        for path in paths if order else reversed(paths):
            index.ingest([path])
        assert texts(index, fork) == ["and now?"]
        assert holding(home.recall) == []


def test_a_text_is_forgotten_in_titles_branches_and_names_of_files(home: Home, index: recall.Index) -> None:
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": f"/srv/kite/{WORD}.py"}}
    branch = f"fix/{WORD}"
    lines = [
        cl(at(0), "user", uid(1), S1, KITE, "light the lantern", gitBranch=branch),
        cl(at(1), "assistant", uid(2), S1, KITE, [edit], gitBranch=branch),
        cl(at(2), "assistant", uid(3), S1, KITE, "it is lit", gitBranch=branch),
        f'{{"type": "ai-title", "aiTitle": "Light the {WORD}", "sessionId": "{S1}"}}',
    ]
    path = write(home.claude / "-srv-kite" / f"{S1}.jsonl", lines)
    index.ingest()
    report = index.forget(match=WORD)
    assert report.messages == 1
    assert report.names >= 2
    assert texts(index, S1) == ["light the lantern", "it is lit"]
    assert holding(home.recall) == []
    append(path, [cl(at(3), "user", uid(4), S1, KITE, "thank you", gitBranch=branch)])
    index.ingest()
    [session] = index.recent(EVERYWHERE)
    assert (session.title, session.branch) == ("light the lantern", "")
    assert holding(home.recall) == []


def test_a_secret_finds_where_it_was_masked_and_no_other_secret(home: Home, index: recall.Index) -> None:
    mine, other = PLANTED["github"].value, PLANTED["gitlab"].value
    said = [("user", f"use {mine}"), ("assistant", f"I used {other}"), ("user", "thanks")]
    transcript(home, S1, KITE, said)
    index.ingest()
    assert index.forget(match=mine).messages == 1
    assert [text.split()[0] for text in texts(index, S1)] == ["I", "thanks"]
    assert index.forget(match=f"<private>{mine}</private>").messages == 0


@pytest.mark.parametrize(("stored", "asked"), [("ＦＵＬＬ　width", "full width"), ("Straße\n  im Hafen", "STRASSE IM")])
def test_width_case_and_white_space_of_a_text_make_no_difference(index: recall.Index, stored: str, asked: str) -> None:
    index.add(Session("s", messages=(Message("user", f"the {stored} lamp"), Message("assistant", "heron"))))
    assert index.forget(match=asked).messages == 1
    assert texts(index, "s") == ["heron"]


def test_a_path_that_holds_the_text_is_named_and_stays(home: Home, filled: recall.Index) -> None:
    with filled as index:
        assert index.would_forget(match="kite").kept_paths == (KITE,)
        assert index.forget(match="kite").kept_paths == (KITE,)
        assert len(texts(index, S1)) == 6


@pytest.mark.parametrize("way", [{}, {"session": S1, "match": WORD}, {"match": "  "}])
def test_one_thing_is_to_be_named(filled: recall.Index, way: dict[str, str]) -> None:
    with filled as index, pytest.raises(recall.UsageError):
        index.forget(**way)


def test_an_unknown_session_is_named_and_one_that_was_forgotten_is_not(filled: recall.Index) -> None:
    with filled as index:
        with pytest.raises(recall.NotFoundError):
            index.forget(session="unheard-of")
        index.forget(session=S1)
        assert index.forget(session=S1) == ForgetReport(0, 0)


def test_vectors_that_go_by_the_chunk_leave_a_table_that_works(
    home: Home, filled: recall.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_removal, "BLOCK_ROWS", 1)
    with filled as index:
        index.forget(repository=KITE)
        assert [holding_vector(home.recall, text) for role, text in SAID if role == "assistant"] == [[], []]
        for name in ("vectors_1_chunks", "vectors_1_vector_chunks00"):
            assert index.database.value(f"select count(*) from {name}") == 1
        transcript(home, S3, KITE, [("user", "a new heron"), ("assistant", "seen")], start=900)
        index.ingest()
        index.embed()
        for text, name in (("a new heron", S3), (OTHER[1][1], S2)):
            assert index.search(text, EVERYWHERE, mode="dense")[0].session.id == name
        index.forget(match="heron")
        assert holding_vector(home.recall, "a new heron") == []
        assert holding_vector(home.recall, "seen") != []


def test_a_reader_keeps_the_bytes_only_until_it_ends(home: Home, filled: recall.Index) -> None:
    with filled as index, recall.open(embedder=Hashed()) as reader:
        with reader.database.read() as connection:
            connection.execute("select count(*) from messages").fetchall()
            assert not index.forget(session=S1).complete
        index.ingest()
        assert holding(home.recall) == []


def test_a_session_that_is_forgotten_while_it_is_read_stays_forgotten(
    home: Home, filled: recall.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH_MESSAGES", 1)
    original = reading.Reading.batches

    def forgotten_meanwhile(this: reading.Reading) -> Iterator[object]:
        for count, batch in enumerate(original(this)):
            yield batch
            if count == 0:
                with recall.open(embedder=Hashed()) as other:
                    other.forget(session=S1)

    with filled as index:
        append(
            home.codex / "2026" / f"rollout-{S1}.jsonl", [cx_msg(at(50 + n), "user", f"{n} {WORD}") for n in range(3)]
        )
        monkeypatch.setattr(reading.Reading, "batches", forgotten_meanwhile)
        index.ingest([home.codex / "2026" / f"rollout-{S1}.jsonl"])
        monkeypatch.undo()
        assert texts(index, S1) == []
        index.ingest()
        assert texts(index, S1) == []


_KILLED = """
import os, sys
import recall
from recall import forgetting, lexical
from recall.database import Database
stage = sys.argv[1]
def die(*_, **__): os._exit(9)
if stage == "inside": forgetting._remove_places = die
if stage == "merge": lexical.merge_terms = die
if stage == "sweep": Database.sweep = die
with recall.open() as index:
    index.forget(session=sys.argv[2])
"""


@pytest.mark.parametrize("stage", ["inside", "merge", "sweep"])
def test_a_forget_that_was_killed_is_undone_or_completed(home: Home, filled: recall.Index, stage: str) -> None:
    filled.close()
    ended = subprocess.run([sys.executable, "-c", _KILLED, stage, S1], env=home.environment(), timeout=60)
    assert ended.returncode == 9
    with recall.open(embedder=Hashed()) as index:
        if stage == "inside":
            assert len(texts(index, S1)) == 6
            index.forget(session=S1)
        index.ingest()
        assert texts(index, S1) == []
        assert texts(index, S2) == [text for _, text in OTHER]
        assert holding(home.recall) == []


@settings(max_examples=12)
@given(data=st.data())
def test_no_byte_of_a_word_is_left_and_everything_else_is(data: st.DataObject, tmp_path_factory: object) -> None:
    assert isinstance(tmp_path_factory, pytest.TempPathFactory)
    folder = tmp_path_factory.mktemp("law")
    vocabulary = [WORD, "lantern", "harbor", "quay", "好的", "ok"]
    sentences = st.lists(st.sampled_from(vocabulary), min_size=1, max_size=4).map(" ".join)
    roles = st.sampled_from(["user", "assistant"])
    written: dict[str, list[tuple[str, str]]] = {}
    paths: dict[str, Path] = {}
    for number in range(data.draw(st.integers(1, 4))):
        name = uid(0x100 + number)
        said = data.draw(st.lists(st.tuples(roles, sentences), min_size=1, max_size=6))
        parent = data.draw(st.sampled_from([None, *written]))
        history = written[parent][: data.draw(st.integers(0, len(written[parent])))] if parent else []
        written[name] = [*history, *said]
        meta = {"forked_from_id": parent} if parent and data.draw(st.booleans()) else {}
        lines = codex_lines(name, KITE, *written[name], start=number * 100, **meta)
        paths[name] = write(folder / "t" / f"rollout-{name}.jsonl", lines)
    order = data.draw(st.permutations(sorted(paths)))
    late = data.draw(st.integers(0, len(order)))
    with recall.open(folder / "home", embedder=Hashed()) as index:
        for name in order[late:]:
            index.ingest([paths[name]])
        before = {text for name in written for text in texts(index, name)}
        index.forget(match=WORD)
        assert holding(folder / "home") == []
        after = {text for name in written for text in texts(index, name)}
        assert after == {text for text in before if WORD not in text}
        for text in after:
            assert any(hit.snippet.text for hit in index.search(text, EVERYWHERE, mode="lexical"))
        for name in order[late:]:
            index.ingest([paths[name]])
            write(
                paths[name], [*paths[name].read_text(encoding="utf-8").splitlines(), cx_msg(at(9999), "user", "last")]
            )
        index.ingest([folder / "t"])
        known = {one for name in order[late:] for one in written[name] if WORD in one[1]}
        stored = set(index.database.rows("select role, text from messages where copied_from is null"))
        assert known & stored == set()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way))
def test_a_database_that_is_made_anew_does_not_take_in_what_was_forgotten(
    home: Home, filled: recall.Index, way: dict[str, str]
) -> None:
    with filled as index:
        index.forget(**way)
    for path in home.recall.glob("recall.db*"):
        path.unlink()
    with recall.open(embedder=Hashed()) as index:
        index.ingest()
        assert holding(home.recall) == []
        assert texts(index, S2) == [text for _, text in OTHER]
        index.forget(session=S2)
    for path in home.recall.glob("recall.db*"):
        path.unlink()
    with recall.open(embedder=Hashed()) as index:
        index.ingest()
        assert [texts(index, S2), holding(home.recall)] == [[], []]


def test_a_spoiled_note_of_what_was_forgotten_stops_nothing(home: Home, filled: recall.Index) -> None:
    filled.close()
    for path in home.recall.glob("recall.db*"):
        path.unlink()
    (home.recall / "forgotten.json").write_bytes(b'{"sessions": 3')
    with recall.open(embedder=Hashed()) as index:
        assert index.ingest().new_messages == 9


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_the_command_asks_and_shows_what_would_go(
    home: Home, filled: recall.Index, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.close()
    for answer, status, left in ((b"n\n", 3, 6), (b"", 3, 6), (b"y\n", 0, 0)):
        monkeypatch.setattr("here.io.TextIOWrapper", _Terminal)
        ran = run_here("forget", "--session", S1, given=answer)
        assert ran.code == status
        assert "Forget 1 session with 6 messages? This cannot be undone." in ran.complaint
        with recall.open(embedder=Hashed()) as index:
            assert len(texts(index, S1)) == left


def test_the_command_does_nothing_where_nobody_can_be_asked(home: Home, filled: recall.Index, work: Path) -> None:
    filled.close()
    refused = run_here("forget", "--match", WORD)
    assert (refused.code, refused.out) == (3, b"")
    assert (
        "5 messages, 1 title or branch name would be forgotten; nobody is here to ask, so add --yes to do it"
        in refused.complaint
    )
    assert holding(home.recall) != []
    done = run_here("forget", "--match", WORD, "--yes")
    assert (done.code, done.text) == (0, "forgotten: 5 messages, 1 title or branch name\n")
    assert holding(home.recall) == []
    assert run_here("forget", "--match", WORD, "--yes").text == "nothing of it is stored\n"


def test_the_command_says_what_is_wrong(home: Home, filled: recall.Index, work: Path) -> None:
    filled.close()
    assert run_here("forget").code == run_here("forget", "--session", S1, "--match", "x", "--yes").code == 2
    assert run_here("forget", "--session", "unheard-of", "--yes").code == 1


def test_an_older_copy_of_the_database_is_named(home: Home, filled: recall.Index, work: Path) -> None:
    filled.close()
    (home.recall / "recall.db.2026-03-02.bak").write_bytes(b"")
    assert "recall.db.2026-03-02.bak is an older copy" in run_here("forget", "--session", S1, "--yes").complaint
