from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from conftest import Home
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import recall
from recall import (
    AddReport,
    Message,
    ModelError,
    NotFoundError,
    Scope,
    Session,
    UsageError,
    embedded,
    embedding_run,
)
from recall.embedding import Vectors, unit
from recall.fusion import Background
from recall.nearest import Neighbours, cosines_of, search_dense
from recall.scope_sql import ScopeSql

EVERYWHERE = Scope.everywhere()
START = datetime(2026, 3, 2, 10, tzinfo=UTC)

THEMES = {
    "light": ("lantern", "lamp", "beacon", "lighthouse"),
    "water": ("harbor", "sea", "tide", "boat"),
    "login": ("login", "session", "password", "cookie"),
}


class Themes:
    """An embedder that understands three themes: a vector says how often each is touched."""

    name = "themes"
    dimension = 3
    max_tokens = 254

    def __init__(self) -> None:
        self.batches: list[int] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(len(texts))
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        counts = [sum(text.lower().count(word) for word in words) for words in THEMES.values()]
        return np.array(counts, dtype=np.float32)

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [(place, place + 1) for place, c in enumerate(text) if not c.isspace()]


def session(name: str, *said: str, day: int = 0, **more: str) -> Session:
    """A person's messages and the answers in turn, a minute apart."""
    messages = tuple(
        Message("assistant" if place % 2 else "user", text, START + timedelta(days=day, minutes=place))
        for place, text in enumerate(said)
    )
    return replace(Session(name, "codex", messages=messages), **more)  # type: ignore[arg-type]


def names(result: Sequence[recall.Hit]) -> list[str]:
    return [hit.session.id for hit in result]


@pytest.fixture
def index() -> Iterator[recall.Index]:
    with recall.open(":memory:", Themes()) as index:
        yield index


@pytest.fixture
def harbor(index: recall.Index) -> recall.Index:
    """Three sessions, one a theme, with their vectors."""
    index.add(session("lights", "the lantern went out", "a new wick makes the lantern burn", day=1))
    index.add(session("boats", "why did the boat miss the tide?", "the harbor clock was an hour late", day=2))
    index.add(session("logins", "the login test is flaky", "the cookie of another session was reused", day=3))
    index.embed()
    return index


def test_adding_a_session_makes_it_searchable_at_once(index: recall.Index) -> None:
    assert index.add(session("one", "the lantern went out", "trim the wick")) == AddReport("one", 2, 0)
    result = index.search("wick", EVERYWHERE)
    assert [(hit.ref, hit.role, hit.session.agent) for hit in result] == [("one:2", "assistant", "codex")]


def test_adding_a_session_again_writes_nothing(index: recall.Index) -> None:
    lights = session("one", "the lantern went out", "trim the wick")
    index.add(lights)
    before = index.database.value("select total_changes()")
    assert index.add(lights) == AddReport("one", 0, 0)
    assert index.database.value("select total_changes()") == before


def test_a_session_that_grew_adds_what_is_new(index: recall.Index) -> None:
    index.add(session("one", "the lantern went out", "trim the wick"))
    assert index.add(session("one", "the lantern went out", "trim the wick", "and the tide?")).new_messages == 1
    assert [hit.ref for hit in index.search("tide", EVERYWHERE)] == ["one:3"]


def test_a_text_said_twice_is_two_messages(index: recall.Index) -> None:
    assert index.add(session("one", "go on", "done", "go on")).new_messages == 3


def test_a_message_of_nothing_is_none(index: recall.Index) -> None:
    assert index.add(session("one", "  \n", "trim the wick")).new_messages == 1
    assert index.add(Session("empty", messages=(Message("user", ""),))) == AddReport("empty", 0, 0)
    assert index.counts()["sessions"] == 1


def test_a_session_without_an_id_is_refused(index: recall.Index) -> None:
    with pytest.raises(UsageError, match="no id"):
        index.add(session("", "the lantern went out"))


def test_a_secret_is_masked_before_it_is_stored(tmp_path: Path) -> None:
    password = "Harbor9" + "kite" + "Tern"
    with recall.open(tmp_path, Themes()) as index:
        index.add(session("one", f"DB_PASSWORD={password}", "noted", title=f"DB_PASSWORD={password}"))
        assert "[REDACTED" in index.show("one:1")[0].text
        assert index.search(f"DB_PASSWORD={password}", EVERYWHERE).query.startswith("DB_PASSWORD=[REDACTED:password#")
    assert not any(password.encode() in file.read_bytes() for file in tmp_path.iterdir())


def test_vectors_come_in_batches_and_once(index: recall.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_run, "EMBED_BATCH", 2)
    index.add(session("one", "lantern", "lamp", "tide", "boat", "login"))
    seen: list[tuple[int, int]] = []
    assert index.embed(lambda done, total: seen.append((done, total))) == 5
    assert seen == [(2, 5), (4, 5), (5, 5)]
    assert index.embed() == 0
    assert isinstance(index.embedder, Themes)
    assert index.embedder.batches == [2, 2, 1]


def test_embedding_that_was_stopped_goes_on_where_it_was(index: recall.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_run, "EMBED_BATCH", 2)
    index.add(session("one", "lantern", "lamp", "tide", "boat", "login"))

    def stop(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.embed(stop)
    assert index.counts()["without_vector"] == 1
    assert index.embed() == 1


def test_what_a_tool_printed_gets_no_vector(index: recall.Index) -> None:
    index.add(Session("one", messages=(Message("user", "run it"), Message("tool", "lantern: 3 passed", tool="shell"))))
    assert index.embed() == 1
    assert index.counts()["without_vector"] == 0
    assert [(hit.role, hit.tool) for hit in index.search("lantern", EVERYWHERE)] == [("tool", "shell")]


def test_a_text_the_embedder_understands_nothing_of_is_not_embedded_again(index: recall.Index) -> None:
    index.add(session("one", "nothing of any theme"))
    assert index.embed() == 1
    assert index.embed() == 0
    assert index.search("lantern", EVERYWHERE, mode="dense").hits == ()


def test_vectors_of_the_wrong_shape_are_refused_and_not_stored(index: recall.Index) -> None:
    class Narrow(Themes):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            return np.ones((len(texts), 2), dtype=np.float32)

    with recall.open(":memory:", Narrow()) as narrow:
        narrow.add(session("one", "lantern"))
        with pytest.raises(ModelError, match=r"shape \(1, 2\), expected \(1, 3\)"):
            narrow.embed()
        assert narrow.counts()["without_vector"] == 1


def test_by_words_only_what_holds_the_word_is_found(harbor: recall.Index) -> None:
    result = harbor.search("lantern", EVERYWHERE, mode="lexical")
    assert set(names(result)) == {"lights"}
    assert all(hit.evidence.keys() == {"lexical"} for hit in result)
    assert (result.mode, result.degraded) == ("lexical", None)


def test_by_meaning_another_word_is_found(harbor: recall.Index) -> None:
    result = harbor.search("beacon", EVERYWHERE, mode="dense")
    assert names(result)[0] == "lights"
    assert all(hit.evidence.keys() == {"dense"} for hit in result)
    assert (result.mode, result.degraded) == ("dense", None)


def test_a_hybrid_search_says_where_each_retriever_ranked_a_hit(harbor: recall.Index) -> None:
    result = harbor.search("harbor clock", EVERYWHERE)
    assert result.mode == "hybrid"
    assert result[0].ref == "boats:2"
    assert result[0].evidence.keys() == {"lexical", "dense"}
    assert result[0].evidence["lexical"] == 1
    assert 0 < result[0].score <= 1
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)


def test_without_vectors_a_hybrid_search_goes_by_words_and_says_so(index: recall.Index) -> None:
    index.add(session("one", "the lantern went out"))
    result = index.search("lantern", EVERYWHERE)
    assert (names(result), result.mode) == (["one"], "lexical")
    assert result.degraded is not None
    assert "recall embed" in result.degraded


def test_without_vectors_a_search_by_meaning_is_refused(index: recall.Index) -> None:
    index.add(session("one", "the lantern went out"))
    with pytest.raises(ModelError, match="no vectors yet"):
        index.search("lantern", EVERYWHERE, mode="dense")


def test_a_search_by_words_is_never_degraded(index: recall.Index) -> None:
    index.add(session("one", "the lantern went out"))
    assert index.search("lantern", EVERYWHERE, mode="lexical").degraded is None


def test_passages_that_lack_a_vector_are_found_by_words_and_counted(harbor: recall.Index) -> None:
    harbor.add(session("late", "the beacon burns green"))
    result = harbor.search("beacon green", EVERYWHERE)
    assert result.mode == "hybrid"
    assert "late" in names(result)
    assert any(note.startswith("1 passages have no vector yet") for note in result.notes)


def test_vectors_of_another_embedder_are_not_compared_with(tmp_path: Path) -> None:
    class Other(Themes):
        name = "other"

    with recall.open(tmp_path, Themes()) as index:
        index.add(session("one", "the lantern went out"))
        index.embed()
    with recall.open(tmp_path, Other()) as index:
        result = index.search("lantern", EVERYWHERE)
        assert result.mode == "lexical"
        assert result.degraded is not None
        assert "themes" in result.degraded
        assert "other" in result.degraded
        assert index.counts()["without_vector"] == 1
        assert index.embed() == 1
        assert index.search("lantern", EVERYWHERE).mode == "hybrid"
    with recall.open(tmp_path, Themes()) as index:
        assert index.search("lantern", EVERYWHERE).mode == "lexical"
        assert index.embed() == 1
        assert index.search("lantern", EVERYWHERE).mode == "hybrid"


def test_without_the_extension_words_still_find_and_the_reason_is_said(index: recall.Index) -> None:
    index.add(session("one", "the lantern went out"))
    index.database.vectors_missing = "sqlite-vec cannot be loaded"
    assert index.search("lantern", EVERYWHERE).degraded == "sqlite-vec cannot be loaded"
    with pytest.raises(ModelError, match="cannot be loaded"):
        index.embed()


def test_a_query_the_embedder_does_not_understand_goes_by_words(harbor: recall.Index) -> None:
    result = harbor.search("clock", EVERYWHERE)
    assert (names(result), result.mode) == (["boats"], "lexical")


@pytest.mark.parametrize(
    ("query", "confidence"),
    [("harbor clock late", "strong"), ("zzyzx qwop quux", "none"), ("why did the boat miss the tide?", "strong")],
)
def test_the_confidence_says_whether_anything_answers(
    harbor: recall.Index, query: str, confidence: recall.types.Confidence
) -> None:
    assert harbor.search(query, EVERYWHERE, mode="lexical").confidence == confidence


def test_an_empty_archive_answers_nothing(index: recall.Index) -> None:
    result = index.search("lantern", EVERYWHERE)
    assert (len(result), result.confidence) == (0, "none")


def test_a_result_is_a_sequence_of_hits(harbor: recall.Index) -> None:
    result = harbor.search("the", EVERYWHERE, limit=3, mode="lexical")
    assert len(result) == len(list(result)) == len(result[:]) == 3
    assert result[0] == result.hits[0]
    assert result.scope == {"kind": "everywhere", "repository": None, "worktree": None}


def test_a_hit_can_be_shown_and_reopened(harbor: recall.Index) -> None:
    hit = harbor.search("cookie", EVERYWHERE, mode="lexical")[0]
    assert hit.resume == "codex resume logins"
    assert hit.session.title == "the login test is flaky"
    assert hit.timestamp == START + timedelta(days=3, minutes=1)
    assert "cookie" in harbor.show(hit.ref, 0, 0)[0].text
    marked = [hit.snippet.text[start:end] for start, end in hit.snippet.highlights]
    assert marked == ["cookie"]


@pytest.mark.parametrize(
    ("text", "limit", "mode"),
    [("", 5, "hybrid"), (" \n", 5, "hybrid"), ("x", 0, "hybrid"), ("x", -1, "hybrid"), ("x", 5, "magic")],
)
def test_a_query_that_cannot_be_is_refused(index: recall.Index, text: str, limit: int, mode: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        index.search(text, EVERYWHERE, limit=limit, mode=mode)  # type: ignore[arg-type]


def test_a_limit_above_the_highest_is_lowered_and_said(harbor: recall.Index) -> None:
    assert any("limit lowered from 1000 to" in note for note in harbor.search("the", EVERYWHERE, limit=1000).notes)


def test_no_more_hits_than_the_limit(harbor: recall.Index) -> None:
    assert len(harbor.search("the", EVERYWHERE, limit=2)) == 2


@pytest.fixture(scope="module")
def bundled() -> Iterator[recall.Index]:
    """An index with the bundled model and its vectors."""
    with recall.open(":memory:") as index:
        index.add(session("one", "where is the lantern key?", "灯塔密钥每周五轮换"))
        index.embed()
        yield index


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(), min_size=1, max_size=80))
@example("\ud83e lantern")
@example("\x00")
@example('"')
@example("lantern NOT key")
@example("terms : lantern")
@example("*" * 50)
def test_any_text_that_is_not_blank_is_a_valid_query(bundled: recall.Index, text: str) -> None:
    if text.strip():
        assert bundled.search(text, EVERYWHERE).mode in ("hybrid", "lexical")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(alphabet=st.characters(), max_size=60), min_size=1, max_size=4))
@example(["\ud83e", "\x00", "a\x1b[31mb"])
def test_any_text_can_be_taken_in_and_shown_again(said: list[str]) -> None:
    with recall.open(":memory:", Themes()) as index:
        report = index.add(session("any", *said))
        index.embed()
        if report.new_messages:
            shown = index.show("any:1", 0, 10)
            assert len(shown) == report.new_messages
            json.dumps([message.text for message in shown]).encode("utf-8")


def test_the_latest_sessions_come_first(harbor: recall.Index) -> None:
    assert [found.id for found in harbor.recent(EVERYWHERE)] == ["logins", "boats", "lights"]
    assert [found.id for found in harbor.recent(EVERYWHERE, limit=1)] == ["logins"]
    newest = harbor.recent(EVERYWHERE)[0]
    assert (newest.message_count, newest.preview, newest.updated_at) == (
        2,
        "the login test is flaky",
        START + timedelta(days=3, minutes=1),
    )


def test_the_latest_sessions_of_nothing_are_none(index: recall.Index) -> None:
    assert index.recent(EVERYWHERE) == []
    with pytest.raises(UsageError, match="limit is 0"):
        index.recent(EVERYWHERE, limit=0)


def test_a_scope_shows_only_what_happened_there(index: recall.Index, tmp_path: Path) -> None:
    kite, owl = tmp_path / "kite", tmp_path / "owl"
    for folder in (kite, owl):
        folder.mkdir()
        index.add(session(folder.name, "the lantern went out", cwd=str(folder)))
    index.add(session("nowhere", "the lantern went out"))
    for folder in (kite, owl):
        assert names(index.search("lantern", Scope.repository(folder))) == [folder.name]
        assert [found.id for found in index.recent(Scope.repository(folder))] == [folder.name]
    assert set(names(index.search("lantern", EVERYWHERE))) <= {"kite", "owl", "nowhere"}
    assert len(index.recent(EVERYWHERE)) == 3
    assert len(index.search("lantern", Scope.repository(tmp_path / "unknown"))) == 0


def test_without_a_scope_the_current_directory_decides(
    index: recall.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add(session("here", "the lantern went out", cwd=str(tmp_path)))
    index.add(session("there", "the lantern went out", cwd=str(tmp_path.parent / "there")))
    monkeypatch.chdir(tmp_path)
    result = index.search("lantern")
    assert names(result) == ["here"]
    assert result.scope == {"kind": "repository", "repository": str(tmp_path.resolve()), "worktree": None}
    assert [found.id for found in index.recent()] == ["here"]


def test_a_message_is_shown_with_its_neighbours(harbor: recall.Index) -> None:
    harbor.add(session("long", *(f"word{place}" for place in range(1, 11))))
    assert [message.number for message in harbor.show("long:5", 2, 3)] == [3, 4, 5, 6, 7, 8]
    assert [message.number for message in harbor.show("long:1", 2, 1)] == [1, 2]
    assert [message.number for message in harbor.show("long:10")] == [7, 8, 9, 10]
    shown = harbor.show("long:2", 0, 0)[0]
    assert (shown.ref, shown.role, shown.text) == ("long:2", "assistant", "word2")


def test_the_beginning_of_an_id_is_enough_where_it_is_the_only_one(index: recall.Index) -> None:
    index.add(session("0199a7c4-aaaa", "the lantern went out"))
    index.add(session("0199a7c4-bbbb", "the tide is late"))
    assert index.show("0199a7c4-a:1")[0].text == "the lantern went out"
    with pytest.raises(NotFoundError, match="more than one session"):
        index.show("0199a7c4:1")


def test_a_ref_shown_by_the_beginning_of_its_id_can_be_used_again(index: recall.Index) -> None:
    index.add(session("0199a7c4-aaaa", "the lantern went out"))
    assert index.show("0199a7:1")[0].ref == "0199a7c4-aaaa:1"


def test_a_wildcard_in_a_ref_stands_for_itself(index: recall.Index) -> None:
    index.add(session("0199a7c4", "the lantern went out"))
    for ref in ("%%%%:1", "0199_7c4:1", "____:1"):
        with pytest.raises(NotFoundError):
            index.show(ref)


@pytest.mark.parametrize("ref", ["", "one", "one:", "one:x", ":1", "one:-1", "one:1.5", "one:²"])
def test_what_is_no_ref_is_refused(index: recall.Index, ref: str) -> None:
    with pytest.raises(UsageError, match="expected <session id>:<message number>"):
        index.show(ref)


@pytest.mark.parametrize("ref", ["one:0", "one:3", "one:99999999999999999999", "other:1"])
def test_what_is_not_there_is_not_found(index: recall.Index, ref: str) -> None:
    index.add(session("one", "the lantern went out", "trim the wick"))
    with pytest.raises(NotFoundError):
        index.show(ref)


def test_a_window_of_less_than_nothing_is_refused(harbor: recall.Index) -> None:
    with pytest.raises(UsageError, match="expected 0 or more"):
        harbor.show("lights:1", before=-1)


def test_counts_say_what_is_stored(harbor: recall.Index) -> None:
    assert harbor.counts() == {"sessions": 3, "messages": 6, "passages": 6, "transcripts": 0, "without_vector": 0}
    harbor.add(session("late", "the beacon burns green"))
    assert harbor.counts()["without_vector"] == 1


def write_transcript(path: Path, *said: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"role": "user", "content": text, "session_id": path.stem}) for text in said]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_transcripts_are_taken_in_once_and_their_growth_too(index: recall.Index, tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "logs" / "kite.jsonl", "the lantern went out")
    seen: list[tuple[int, int]] = []
    report = index.ingest([tmp_path / "logs"], lambda done, total: seen.append((done, total)))
    assert ([file.status for file in report.files], report.new_messages, seen) == (["new"], 1, [(1, 1)])
    assert [file.status for file in index.ingest([path]).files] == ["unchanged"]
    write_transcript(path, "the lantern went out", "and the tide is late")
    report = index.ingest([str(path)])
    assert ([file.status for file in report.files], report.new_messages) == (["updated"], 1)
    hit = index.search("tide", EVERYWHERE)[0]
    assert (hit.source.path, hit.source.line) == (str(path.resolve()), 2)


def test_one_bad_transcript_stops_no_other_and_is_remembered(index: recall.Index, tmp_path: Path) -> None:
    write_transcript(tmp_path / "good.jsonl", "the lantern went out")
    (tmp_path / "bad.jsonl.zst").write_bytes(b"no zstd")
    report = index.ingest([tmp_path])
    statuses = {Path(file.path).name: file.status for file in report.files}
    assert statuses == {"good.jsonl": "new", "bad.jsonl.zst": "skipped"}
    assert len(index.problems()) == 1
    assert "bad.jsonl.zst" in index.problems()[0]
    assert [file.status for file in index.ingest([tmp_path / "bad.jsonl.zst"]).files] == ["skipped"]


def test_a_path_that_is_not_there_is_refused(index: recall.Index, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        index.ingest([tmp_path / "nowhere"])


def test_what_does_not_fit_into_the_time_is_left_for_the_next_call(index: recall.Index, tmp_path: Path) -> None:
    for number in range(3):
        write_transcript(tmp_path / f"{number}.jsonl", f"lantern {number}")
    report = index.ingest([tmp_path], budget_seconds=-1)
    assert (len(report.files), report.left) == (1, 2)  # the newest is always read
    report = index.ingest([tmp_path])
    assert (len(report.files), report.left) == (3, 0)


def test_without_paths_the_agents_of_this_machine_are_read(home: Home) -> None:
    write_transcript(home.claude / "-work-kite" / "kite.jsonl", "the lantern went out")
    with recall.open(embedder=Themes()) as index:
        assert index.home == home.recall
        assert index.ingest().new_messages == 1


def test_an_index_in_a_folder_is_there_again_when_it_is_opened_again(tmp_path: Path) -> None:
    for folder in (tmp_path / "a" / "b", str(tmp_path / "c")):
        with recall.open(folder, Themes()) as index:
            index.add(session("one", "the lantern went out"))
        with recall.open(folder, Themes()) as index:
            assert names(index.search("lantern", EVERYWHERE)) == ["one"]


def test_many_small_sessions_are_taken_in_fast_with_any_embedder() -> None:
    class Plain:
        """No tokenizer of its own."""

        name = "plain"
        dimension = 2

        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            return np.ones((len(texts), 2), dtype=np.float32)

        def embed_query(self, text: str) -> Vectors:
            return np.ones(2, dtype=np.float32)

    made = 0
    original = tokenizers.BertWordPieceTokenizer

    def counted(*arguments: Any, **more: Any) -> Any:
        nonlocal made
        made += 1
        return original(*arguments, **more)

    with pytest.MonkeyPatch.context() as patch, recall.open(":memory:", Plain()) as index:
        patch.setattr(tokenizers, "BertWordPieceTokenizer", counted)
        for number in range(20):
            index.add(session(f"s{number}", "the lantern went out"))
        # Reading the vocabulary takes longer than taking in a short session.
        assert made <= 1
        assert index.embed() == 20


def test_one_search_after_another_counts_its_own_words(harbor: recall.Index) -> None:
    # Once a function that was registered anew for each search went on answering for the first one.
    for query, session in (("wick", "lights"), ("clock", "boats"), ("cookie", "logins")):
        first = harbor.search(query, EVERYWHERE, mode="lexical")[0]
        assert first.session.id == session
        assert first.score > 0.2


def test_an_answer_is_found_by_the_words_of_its_question_and_stands_before_it(harbor: recall.Index) -> None:
    hits = harbor.search("tide", EVERYWHERE, mode="lexical")
    assert [hit.ref for hit in hits] == ["boats:2", "boats:1"]
    assert hits[0].evidence == {}


def test_an_answer_outside_the_scope_is_not_found_by_its_question(harbor: recall.Index) -> None:
    hits = harbor.search("tide", Scope.everywhere(role="user"), mode="lexical")
    assert [hit.ref for hit in hits] == ["boats:1"]


def test_what_cosines_are_usual_is_told_by_the_passages_of_the_repositories(harbor: recall.Index) -> None:
    connection = harbor.database.connection
    table = embedded.table_of(connection, harbor.embedder)
    assert table is not None
    vector = unit(harbor.embedder.embed_query("the lantern"))
    ids = [int(row[0]) for row in connection.execute("select id from passages")]
    cosines = list(cosines_of(connection, table, vector, ids).values())
    usual = search_dense(connection, table, vector, ScopeSql((), "1", ()), 10).background
    assert (usual.mean, usual.deviation) == pytest.approx((np.mean(cosines), np.std(cosines)))
    nothing = search_dense(connection, table, vector, ScopeSql((999,), "1", ()), 10)
    assert nothing == Neighbours({}, Background(0.0, 0.0))
