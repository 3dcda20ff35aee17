"""Transcripts that are read again, grow, are rewritten, move, are compressed or go: each message once, none lost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
import zstandard
from conftest import Home
from transcript_lines import append, at, claude_lines, codex_lines, cx_msg, uid, write

import recall
from recall import Scope

EVERYWHERE = Scope.everywhere()
S1 = uid(0xE1)
SAID = [("user", "lantern one"), ("assistant", "harbor two"), ("user", "lantern one")]


def rollout(home: Home, said: Sequence[tuple[str, str]] = SAID, folder: str = "sessions") -> Path:
    path = home.codex.parent / folder / "2026" / "03" / "02" / f"rollout-2026-03-02T10-00-00-{S1}.jsonl"
    return write(path, codex_lines(S1, "/srv/kite", *said))


def texts(index: recall.Index) -> list[str]:
    (session,) = index.recent(EVERYWHERE)
    return [message.text for message in index.show(f"{session.id}:1", before=0, after=200)]


def is_found(index: recall.Index, query: str) -> bool:
    return S1 in {hit.session.id for hit in index.search(query, EVERYWHERE, mode="lexical")}


def state(index: recall.Index) -> int:
    """A number that any change of any row changes."""
    return index.database.connection.total_changes()


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_ingesting_twice_writes_nothing_the_second_time(home: Home, agent: str) -> None:
    if agent == "codex":
        rollout(home)
    else:
        write(home.claude / "-srv-kite" / f"{S1}.jsonl", claude_lines(S1, "/srv/kite", *SAID))
    write(home.claude / "-srv-kite" / "broken.jsonl", ["{}", "{oops"])
    with recall.open() as index:
        index.ingest()
    before = (home.recall / "recall.db").read_bytes()
    with recall.open() as index:
        changes = state(index)
        report = index.ingest()
        assert (report.new_messages, state(index) - changes) == (0, 0)
        assert {file.status for file in report.files} <= {"unchanged", "skipped", "empty"}
    assert (home.recall / "recall.db").read_bytes() == before


def test_a_file_that_is_only_touched_adds_no_message(home: Home, index: recall.Index) -> None:
    path = rollout(home)
    index.ingest()
    os.utime(path, (2_000_000_000, 2_000_000_000))
    assert index.ingest().new_messages == 0
    assert texts(index) == [text for _, text in SAID]


def test_what_is_appended_is_added_and_nothing_else(home: Home, index: recall.Index) -> None:
    path = rollout(home)
    index.ingest()
    for number, text in enumerate(["harbor four", "lantern one"]):
        append(path, [cx_msg(at(10 + number), "user", text)])
        assert index.ingest().new_messages == 1
    assert texts(index) == [*(text for _, text in SAID), "harbor four", "lantern one"]


def test_a_file_that_is_written_anew_keeps_what_was_said_and_adds_what_is_new(home: Home, index: recall.Index) -> None:
    rollout(home)
    index.ingest()
    rollout(home, [SAID[0], SAID[1], ("user", "harbor five")])
    assert index.ingest().new_messages == 1
    assert texts(index) == [*(text for _, text in SAID), "harbor five"]


def test_a_file_that_is_written_anew_and_shorter_loses_nothing(home: Home, index: recall.Index) -> None:
    """A transcript that was cut is no order to forget."""
    rollout(home)
    index.ingest()
    rollout(home, SAID[:1])
    assert index.ingest().new_messages == 0
    assert texts(index) == [text for _, text in SAID]


def test_another_session_under_the_name_of_an_old_file_is_taken_in(home: Home, index: recall.Index) -> None:
    path = write(home.root / "chat.jsonl", codex_lines(S1, "/srv/kite", *SAID))
    index.ingest([path])
    write(path, codex_lines(uid(0xE2), "/srv/kite", ("user", "buoy one"), ("user", "buoy two")))
    assert index.ingest([path]).new_messages == 2
    assert {session.id for session in index.recent(EVERYWHERE)} == {S1, uid(0xE2)}
    assert is_found(index, "lantern")


@pytest.mark.parametrize("folder", ["archived_sessions", "sessions/elsewhere"])
def test_a_file_that_moved_gives_each_message_once_and_names_its_new_place(
    home: Home, index: recall.Index, folder: str
) -> None:
    path = rollout(home)
    index.ingest()
    moved = home.codex.parent / folder / path.name
    moved.parent.mkdir(parents=True, exist_ok=True)
    path.rename(moved)
    assert index.ingest().new_messages == 0
    assert texts(index) == [text for _, text in SAID]
    hits = index.search("lantern", EVERYWHERE, mode="lexical")
    assert {hit.source.path for hit in hits} == {str(moved)}
    append(moved, [cx_msg(at(10), "user", "harbor six")])
    assert index.ingest().new_messages == 1


def compressed(path: Path) -> Path:
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    return packed


@pytest.mark.parametrize("kept", [True, False], ids=["beside the plain file", "instead of the plain file"])
def test_a_file_that_was_compressed_gives_each_message_once(home: Home, index: recall.Index, kept: bool) -> None:
    path = rollout(home)
    index.ingest()
    packed = compressed(path)
    if not kept:
        path.unlink()
    assert index.ingest().new_messages == 0
    assert texts(index) == [text for _, text in SAID]
    (source,) = {hit.source.path for hit in index.search("lantern", EVERYWHERE, mode="lexical")}
    assert source == str(path if kept else packed)


def test_a_compressed_file_that_is_read_first_is_not_read_again_when_it_is_unpacked(
    home: Home, index: recall.Index
) -> None:
    path = rollout(home)
    packed = compressed(path)
    path.unlink()
    assert index.ingest().new_messages == 3
    path.write_bytes(zstandard.ZstdDecompressor().decompress(packed.read_bytes()))
    packed.unlink()
    append(path, [cx_msg(at(10), "user", "harbor seven")])
    assert index.ingest().new_messages == 1
    assert texts(index) == [*(text for _, text in SAID), "harbor seven"]


def test_a_damaged_compressed_file_is_reported_and_stops_nothing(home: Home, index: recall.Index) -> None:
    packed = compressed(rollout(home))
    packed.with_suffix("").unlink()
    packed.write_bytes(packed.read_bytes()[:-10])
    write(home.claude / "-srv" / f"{S1}.jsonl", claude_lines(S1, "/srv", ("user", "buoy")))
    report = index.ingest()
    assert sorted(file.status for file in report.files) == ["new", "skipped"]
    (damaged,) = [file for file in report.files if file.status == "skipped"]
    assert damaged.path == str(packed)
    assert damaged.reason in index.problems()
    assert "zstd" in damaged.reason
    assert "empty" not in damaged.reason


def test_a_compressed_file_that_is_cut_short_gives_what_it_holds_and_is_not_taken_for_whole(
    home: Home, index: recall.Index
) -> None:
    """Of a long file whole blocks are left, which can be read."""
    said = [("user", f"lantern {number} {uid(number * 7919)[::-1]}") for number in range(3_000)]
    packed = compressed(rollout(home, said))
    packed.with_suffix("").unlink()
    whole = packed.read_bytes()
    packed.write_bytes(whole[:-10])
    report = index.ingest()
    assert report.new_messages < 3_000
    assert [file.status for file in report.files] == ["skipped"]
    assert any("zstd" in problem for problem in index.problems())
    packed.write_bytes(whole)
    index.ingest()
    assert index.counts()["messages"] == 3_000


def test_a_session_whose_transcript_was_deleted_is_still_found_and_shown(home: Home, index: recall.Index) -> None:
    path = rollout(home)
    index.ingest()
    path.unlink()
    assert index.ingest().new_messages == 0
    assert is_found(index, "harbor")
    assert texts(index) == [text for _, text in SAID]


def test_the_same_transcript_at_two_places_gives_each_message_once(home: Home, index: recall.Index) -> None:
    path = rollout(home)
    copy = write(home.root / "backup" / path.name, path.read_text(encoding="utf-8").splitlines())
    assert index.ingest([path, copy]).new_messages == 3
    assert texts(index) == [text for _, text in SAID]


def test_a_path_that_is_named_in_two_ways_is_one_transcript(
    home: Home, index: recall.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rollout(home)
    index.ingest([path])
    monkeypatch.chdir(path.parent)
    report = index.ingest([path.name, path.parent / ".." / path.parent.name / path.name])
    assert {file.status for file in report.files} == {"unchanged"}
    assert index.counts()["transcripts"] == 1


def test_what_is_no_transcript_is_reported_once_with_its_reason(home: Home, index: recall.Index) -> None:
    write(home.codex / "rollout-notes.jsonl", ['{"name": "settings"}', '{"name": "more"}'])
    (home.codex / "rollout-empty.jsonl").touch()
    rollout(home)
    report = index.ingest()
    assert report.new_messages == 3
    assert sorted(file.status for file in report.files) == ["empty", "new", "skipped"]
    assert all(file.reason for file in report.files if file.status != "new")
    assert index.problems() == [file.reason for file in report.files if file.status == "skipped"]


def test_a_path_that_does_not_exist_is_wrong_usage(index: recall.Index, tmp_path: Path) -> None:
    with pytest.raises(recall.UsageError, match="does not exist"):
        index.ingest([tmp_path / "nowhere"])


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="every file can be read by this user")
def test_a_file_that_may_not_be_read_is_reported_and_stops_nothing(home: Home, index: recall.Index) -> None:
    path = rollout(home)
    closed = write(home.codex / "rollout-closed.jsonl", codex_lines(uid(1), "/srv", ("user", "buoy")))
    closed.chmod(0)
    report = index.ingest()
    assert {file.path: file.status for file in report.files} == {str(path): "new", str(closed): "failed"}


def test_a_budget_leaves_the_rest_for_the_next_time(home: Home, index: recall.Index) -> None:
    for number in range(5):
        write(
            home.codex / f"rollout-{number}.jsonl",
            codex_lines(uid(number), "/srv", ("user", f"buoy {number}"), start=number),
        )
    report = index.ingest(budget_seconds=0)
    assert report.left + len(report.files) == 5
    assert report.left > 0
    assert index.ingest().new_messages + report.new_messages == 5
