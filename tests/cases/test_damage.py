"""R24: damage to the search index alone, or to the file. Nothing found is never the answer of a damaged index."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from conftest import Home
from hashed import Hashed
from transcript_lines import codex_lines, uid, write

import recall
from recall import DatabaseError, Message, Scope, Session
from recall.cli.doctor import examine
from recall.errors import DamagedError
from recall.rescue import mend_home
from recall.salvage import backups

SESSIONS, EACH = 20, 25
GONE, KEPT = range(10), range(10, SESSIONS)
"""Sessions whose transcripts their agent has deleted, and those whose transcripts are there."""

ALL = Scope.everywhere()

KNOWN: dict[str, list[tuple[int | str, ...]]] = {
    "forgotten": [("one that was forgotten",)],
    "forgotten_messages": [(mark,) for mark in (-(2**62), 7, 2**61)],
    "signs": [(1, "a0"), (1, "b1")],
    "relinks": [("/srv/owl", "/srv/Owl", "/srv/kite")],
}
"""What stands in no transcript."""


def texts(session: int) -> list[str]:
    return [
        f"lantern {session} rung{session * EACH + number} {'quay ' * (number % 9)}".strip() for number in range(EACH)
    ]


def said(index: recall.Index) -> dict[str, list[str]]:
    """Every text of every session."""
    texts: dict[str, list[str]] = {}
    for name, text in index.database.rows(
        "select s.name, m.text from messages m join sessions s on s.id = m.session_id order by m.session_id, m.number"
    ):
        texts.setdefault(name, []).append(text)
    return texts


EVERYTHING = {uid(session): texts(session) for session in range(SESSIONS)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A machine with all sessions and their vectors, kept in `saved`. Half of the transcripts are gone."""
    root = tmp_path_factory.mktemp("whole").resolve()
    home = Home(root, root / "recall", root / ".codex" / "sessions", root / ".claude" / "projects")
    home.claude.mkdir(parents=True)
    for session in range(SESSIONS):
        lines = [("user" if number % 2 else "assistant", text) for number, text in enumerate(texts(session))]
        write(home.codex / f"rollout-{session}.jsonl", codex_lines(uid(session), "/srv/kite", *lines))
    with recall.open(home.recall, embedder=Hashed()) as index:
        assert index.ingest(home.codex).new_messages == SESSIONS * EACH
        shutil.copytree(home.recall, root / "killed")  # as a process leaves it that is killed
        index.embed()
        for table, values in KNOWN.items():
            for row in values:
                marks = ", ".join("?" * len(row))
                index.database.connection.execute(f"insert into {table} values ({marks})", row)
    shutil.copytree(home.codex, root / "all")
    for session in GONE:
        (home.codex / f"rollout-{session}.jsonl").unlink()
    home.recall.rename(root / "saved")
    return home


@pytest.fixture
def broken(home: Home, whole: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """That machine, with a home to be damaged."""
    shutil.rmtree(whole.recall, ignore_errors=True)
    shutil.copytree(whole.root / "saved", whole.recall)
    for name, folder in {
        "HOME": whole.root,
        "USERPROFILE": whole.root,
        "RECALL_HOME": whole.recall,
        "CODEX_HOME": whole.codex.parent,
        "CLAUDE_CONFIG_DIR": whole.claude.parent,
    }.items():
        monkeypatch.setenv(name, str(folder))
    return whole


def damage(home: Home, *statements: str) -> None:
    connection = apsw.Connection(str(home.recall / "recall.db"))
    for sql in statements:
        connection.execute(sql)
    connection.close()


def found(index: recall.Index, text: str, mode: recall.types.Mode = "hybrid") -> set[str]:
    return {hit.ref for hit in index.search(text, ALL, limit=100, mode=mode, per_session=None)}


def read_all() -> None:
    with recall.open(embedder=Hashed()) as index:
        found(index, "rung77 rung202", "lexical")
        said(index)


def mended(home: Home) -> list[str]:
    return mend_home(home.recall, lambda: recall.open(embedder=Hashed()))


# The index alone

WORDS = {
    "pages deleted": ["delete from lexical_data where id > 10"],
    "one page deleted": ["delete from lexical_data where id = (select max(id) from lexical_data)"],
    "everything deleted": ["delete from lexical_data"],
    "pages filled with garbage": ["update lexical_data set block = randomblob(length(block)) where id > 10"],
    "structure filled with garbage": ["update lexical_data set block = x'0000000100000000' where id = 10"],
    "structure cut short": ["update lexical_data set block = substr(block, 1, 12) where id = 10"],
    "contents deleted": ["delete from lexical_idx"],
    "lengths deleted": ["delete from lexical_docsize"],
    "settings deleted": ["delete from lexical_config"],
    "emptied": ["delete from lexical"],
    "half of the passages deleted": ["delete from lexical where rowid % 2"],
    "a passage deleted": ["delete from lexical where rowid = 7"],
    "table dropped": ["drop table lexical"],
    **{f"{name} dropped": [f"drop table lexical_{name}"] for name in ("data", "idx", "docsize", "config")},
    "all dropped": ["drop table lexical_terms", "drop table lexical"],
}


@pytest.mark.parametrize("name", WORDS)
def test_a_damaged_word_index_is_made_again_and_all_is_found_and_one_line_says_so(broken: Home, name: str) -> None:
    damage(broken, *WORDS[name])
    with recall.open(embedder=Hashed()) as index:
        for session in range(SESSIONS):
            refs = found(index, f"rung{session * EACH + 3} rung{session * EACH + 4}", "lexical")
            assert {f"{uid(session)}:4", f"{uid(session)}:5"} <= refs
        assert [re.sub(r" \(.*\)", "", line) for line in index.repaired] == [
            f"the word index was damaged; made again from the messages: {SESSIONS * EACH} passages"
        ]
        assert index.counts()["without_vector"] == 0
    with recall.open(embedder=Hashed()) as index:
        index.mend()
        assert index.repaired == []
        assert index.search("lantern", ALL, mode="dense").hits


def test_lengths_that_only_a_removal_needs_are_made_again_by_it_and_by_doctor(broken: Home) -> None:
    damage(broken, "delete from lexical_docsize where id % 2")
    with recall.open(embedder=Hashed()) as index:
        assert f"{uid(3)}:3" in found(index, "rung77", "lexical")
        assert index.forget(session=uid(3)).messages == EACH
        assert len(index.repaired) == 1
        assert f"{uid(3)}:3" not in found(index, "rung77", "lexical")
        assert f"{uid(4)}:3" in found(index, "rung102", "lexical")
    damage(broken, "delete from lexical_docsize where id % 2")
    assert len(mended(broken)) == 1
    assert mended(broken) == []


TOTALS = {
    "dropped": ["drop table totals"],
    "emptied": ["delete from totals"],
    "twice": ["insert into totals select * from totals"],
    "too many passages": ["update totals set passages = passages + 7"],
    "too few terms": ["update totals set terms = 3"],
    "a trigger dropped": ["drop trigger passages_discounted"],
    "lengths of nothing": ["update passages set length = 0"],
    "dropped with its triggers": [
        "drop table totals",
        *(f"drop trigger passages_{name}" for name in ("counted", "discounted", "recounted")),
    ],
    "dropped with the passages": ["drop table totals", "drop table passages"],
    "wrong, with a damaged word index": ["update totals set passages = 3", "delete from lexical_data where id > 10"],
}


@pytest.mark.parametrize("name", TOTALS)
def test_a_wrong_count_of_the_passages_is_found_when_the_index_is_opened_and_counted_again(
    broken: Home, name: str
) -> None:
    with recall.open(embedder=Hashed()) as index:
        right = index.database.rows("select * from totals")
    damage(broken, *TOTALS[name])
    with recall.open(embedder=Hashed()) as index:
        assert index.repaired
        assert index.database.rows("select * from totals") == right
        assert f"{uid(3)}:3" in found(index, "rung77", "lexical")
        index.forget(session=uid(3))
        index.add(Session("own", messages=(Message("user", "beacon"),)))
        counted = index.database.rows("select count(*), sum(length) from passages")
        assert index.database.rows("select * from totals") == counted
        known = len(index.repaired)
        index.mend()
        assert index.repaired[known:] == []


def test_too_many_terms_are_found_by_looking(broken: Home) -> None:
    damage(broken, "update totals set terms = terms + 1000")
    assert len(mended(broken)) == 1
    assert mended(broken) == []


def test_a_count_that_is_gone_while_it_is_used_is_made_again(broken: Home) -> None:
    with recall.open(embedder=Hashed()) as index:
        damage(broken, "delete from totals")
        assert f"{uid(3)}:3" in found(index, "rung77", "lexical")
        assert len(index.repaired) == 1


def test_what_was_forgotten_is_not_taken_in_again_where_the_list_of_it_is_lost_with_the_rest(broken: Home) -> None:
    with recall.open(embedder=Hashed()) as index:
        index.forget(session=uid(15))
    fill_from_the_second_page(broken.recall / "recall.db")
    mended(broken)
    with recall.open(embedder=Hashed()) as index:
        assert set(said(index)) == {uid(session) for session in KEPT if session != 15}


def test_the_command_line_says_it_in_one_line_and_doctor_finds_nothing_afterwards(broken: Home) -> None:
    damage(broken, "delete from lexical_data where id > 10")
    assert examine(broken.recall)["index"].state == "problem"
    ran = broken.run("search", "--all", "--mode", "lexical", "rung77")
    assert (ran.code, f"{uid(3)}:3" in ran.text) == (0, True)
    assert ran.complaint.count("the word index was damaged") == 1
    assert examine(broken.recall)["index"].state == "ok"
    assert examine(broken.recall)["database"].state == "ok"


def test_an_index_that_is_used_while_it_is_damaged_is_made_again(broken: Home) -> None:
    with recall.open(embedder=Hashed()) as index:
        assert found(index, "rung77", "lexical")
        damage(broken, "delete from lexical_data where id > 10", "update lexical_docsize set sz = x'' where id % 2")
        assert f"{uid(3)}:3" in found(index, "rung77", "lexical")
        assert len(index.repaired) == 1


def test_messages_that_lost_their_passages_get_them_again(broken: Home) -> None:
    damage(broken, "delete from passages where id % 3 = 0")
    with recall.open(embedder=Hashed()) as index:
        index.mend()
        assert f"{uid(3)}:3" in found(index, "rung77", "lexical")
        assert len(index.repaired) >= 1
        index.embed()
        assert index.counts()["without_vector"] == 0
        assert index.counts()["passages"] == SESSIONS * EACH


VECTORS = {
    "chunks deleted": ["delete from vectors_1_chunks"],
    "vectors deleted": ["delete from vectors_1_vector_chunks00"],
    "vectors of the wrong size": ["update vectors_1_vector_chunks00 set vectors = substr(vectors, 1, 100)"],
    "places deleted": ["delete from vectors_1_rowids"],
    "half of the places deleted": ["delete from vectors_1_rowids where rowid % 2"],
    **{f"{name} dropped": [f"drop table vectors_1_{name}"] for name in ("chunks", "rowids", "vector_chunks00")},
    "all of its tables dropped": [f"drop table vectors_1_{n}" for n in ("chunks", "rowids", "vector_chunks00", "info")],
    "list dropped": ["drop table embedded"],
    "models dropped": ["drop table embedders"],
    "half of the list deleted": ["delete from embedded where passage_id % 2"],
    "list of what does not exist": ["insert into embedded select 1, id + 100000, null from passages"],
    "signs deleted": ["delete from vectors_1_vector_chunks01"],
    "signs dropped": ["drop table vectors_1_vector_chunks01"],
    "list of what has none": [
        "delete from vectors_1_rowids",
        "delete from vectors_1_chunks",
        "delete from vectors_1_vector_chunks00",
    ],
}


@pytest.mark.parametrize("name", VECTORS)
def test_damaged_vectors_are_found_by_looking_and_words_go_on_and_embed_brings_them_back(
    broken: Home, name: str
) -> None:
    damage(broken, *VECTORS[name])
    with recall.open(embedder=Hashed()) as index:
        assert f"{uid(3)}:3" in found(index, "rung77")
    mended(broken)
    assert examine(broken.recall)["index"].state == "ok"
    with recall.open(embedder=Hashed()) as index:
        index.embed()
        assert index.counts()["without_vector"] == 0
        exactly = texts(3)[2]
        assert index.search(exactly, ALL, mode="dense")[0].ref == f"{uid(3)}:3"
        assert index.database.value("select count(*) from vectors_1_rowids") == SESSIONS * EACH


def test_passages_whose_table_is_gone_are_cut_again(broken: Home) -> None:
    damage(broken, "drop table passages")
    with recall.open(embedder=Hashed()) as index:
        assert f"{uid(3)}:3" in found(index, "rung77")
        index.embed()
        assert index.search(texts(3)[2], ALL, mode="dense")[0].ref == f"{uid(3)}:3"


# The file


def zero_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(64))


def truncate(path: Path) -> None:
    path.write_bytes(b"")


def halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def fill_pages_of_messages(path: Path) -> None:
    connection = apsw.Connection(str(path))
    sql = "select pageno from dbstat where name = 'messages' and pagetype = 'leaf' order by pageno"
    pages = [int(str(row[0])) for row in connection.execute(sql)]
    connection.close()
    with path.open("r+b") as file:
        for page in pages[len(pages) // 3 : len(pages) * 3 // 4]:
            file.seek((page - 1) * 4096)
            file.write(b"\xab" * 4096)


def fill_from_the_second_page(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4096] + os.urandom(len(content) - 4096))


def put_text(path: Path) -> None:
    path.write_text("these are the notes of a keeper, and no database\n" * 200, encoding="utf-8")


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "note.txt").write_text("kept", encoding="utf-8")


def drop_messages(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("pragma foreign_keys = off")
    connection.execute("drop table messages")
    connection.close()


FILE: dict[str, Callable[[Path], None]] = {
    one.__name__: one
    for one in (
        zero_header,
        truncate,
        halve,
        fill_pages_of_messages,
        fill_from_the_second_page,
        put_text,
        put_folder,
        drop_messages,
    )
}


def content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


@pytest.mark.parametrize("name", FILE)
def test_a_damaged_file_is_named_kept_and_replaced_on_request_and_nothing_readable_is_lost(
    broken: Home, name: str
) -> None:
    path = broken.recall / "recall.db"
    FILE[name](path)
    damaged = content(path)
    with pytest.raises(DatabaseError, match="recall doctor --fix"):
        read_all()
    # Nothing is moved without being asked.
    assert (content(path), backups(broken.recall)) == (damaged, [])
    assert examine(broken.recall)["database"].state == "problem"

    (line,) = mended(broken)

    (backup,) = backups(broken.recall)
    assert re.fullmatch(r"recall\.db\.damaged-\d{8}T\d{6}", backup.name)
    assert content(backup) == damaged
    assert backup.name in line
    assert examine(broken.recall)["database"].state == "ok"
    with recall.open(embedder=Hashed()) as index:
        now = said(index)
        assert {name: now.get(name) for name in map(uid, KEPT)} == {uid(one): texts(one) for one in KEPT}
        for session, lines in now.items():  # nothing is made up, or out of order
            assert [text for text in EVERYTHING[session] if text in lines] == lines
        saved = sum(len(now.get(uid(session), ())) for session in GONE)
        if "nothing is lost" in line:
            assert now == EVERYTHING
        else:
            assert "lost" in line
            assert saved < len(GONE) * EACH
        # What can be read is carried over.
        carried = re.search(r"sessions with (\d+) messages were saved", line)
        assert carried is not None
        assert int(carried[1]) >= {"zero_header": 500, "fill_pages_of_messages": 200, "halve": 1}.get(name, 0)
        if name in ("zero_header", "fill_pages_of_messages", "drop_messages"):
            for table, values in KNOWN.items():
                assert set(values) <= set(index.database.rows(f"select * from {table}"))
        assert f"{uid(15)}:3" in found(index, "rung377", "lexical")
        index.embed()
        index.mend()
        assert index.repaired == []
        assert index.ingest().new_messages == 0
    assert mended(broken) == []


def test_a_mending_that_was_killed_between_its_two_renames_is_finished_by_the_next(broken: Home) -> None:
    path = broken.recall / "recall.db"
    zero_header(path)
    mended(broken)
    path.replace(broken.recall / "recall.db.salvaged")
    with pytest.raises(DamagedError, match="doctor --fix"):
        recall.open(embedder=Hashed())
    mended(broken)
    with recall.open(embedder=Hashed()) as index:
        assert said(index) == EVERYTHING


def test_on_the_command_line_a_damaged_file_is_one_line_and_doctor_mends_it(broken: Home) -> None:
    zero_header(broken.recall / "recall.db")
    ran = broken.run("search", "--all", "rung77")
    assert (ran.code, ran.out, ran.complaint.count("\n")) == (1, b"", 1)
    assert "recall doctor --fix" in ran.complaint
    fixed = broken.run("doctor", "--fix", "--json")
    assert fixed.document["fixed"][0].endswith('run "recall embed" to compute the vectors')
    assert "nothing is lost" in fixed.document["fixed"][0]
    assert {check["name"]: check["state"] for check in fixed.document["checks"]}["database"] == "ok"
    assert f"{uid(3)}:3" in broken.run("search", "--all", "rung77").text


def test_a_log_that_was_deleted_costs_nothing_that_a_transcript_holds(broken: Home) -> None:
    copied = broken.recall / "copied"
    shutil.copytree(broken.root / "killed", copied)
    assert (copied / "recall.db-wal").stat().st_size
    (copied / "recall.db-wal").unlink()
    with recall.open(copied, embedder=Hashed()) as index:
        index.ingest(broken.root / "all")
        assert said(index) == EVERYTHING
        known = len(index.repaired)
        index.mend()
        assert index.repaired[known:] == []


def test_a_log_that_belongs_to_no_one_is_harmless(broken: Home) -> None:
    (broken.recall / "recall.db-shm").write_bytes(os.urandom(32_768))
    with recall.open(embedder=Hashed()) as index:
        assert said(index) == EVERYTHING


def test_a_home_whose_database_was_deleted_begins_anew_and_says_so(broken: Home) -> None:
    (broken.recall / "recall.db").unlink()
    with recall.open(embedder=Hashed()) as index:
        assert "is new, though there was one before" in index.repaired[0]
        assert index.ingest().new_messages == len(KEPT) * EACH


def test_a_database_of_a_newer_version_is_left_alone_by_the_mending_too(broken: Home) -> None:
    damage(broken, "pragma user_version = 99")
    with pytest.raises(DatabaseError, match="pip install --upgrade"):
        mended(broken)
    assert backups(broken.recall) == []


def test_a_database_in_use_is_not_moved_away(broken: Home) -> None:
    path = broken.recall / "recall.db"
    with recall.open(embedder=Hashed()) as other:
        fill_pages_of_messages(path)
        with other.database.read() as connection:
            connection.execute("select count(*) from sessions").fetchone()
            with pytest.raises(recall.RecallError):
                mended(broken)
    assert backups(broken.recall) == []


def test_a_session_added_by_a_program_survives_the_loss_of_the_index(home: Home) -> None:
    with recall.open(embedder=Hashed()) as index:
        index.add(Session("own", messages=tuple(Message("user", f"beacon {number}") for number in range(500))))
        index.embed()
    damage(home, "delete from lexical_data where id > 10", "delete from vectors_1_vector_chunks00")
    with recall.open(embedder=Hashed()) as index:
        hits = index.search("beacon", Scope.everywhere(), limit=100, mode="lexical", per_session=None)
        assert len(hits) == 30  # as many as one session may put forward
        assert len(index.repaired) == 2
