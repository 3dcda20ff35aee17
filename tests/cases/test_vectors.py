"""R26, R30: limits of nearest neighbours, and what works without vectors at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import Home
from numpy.typing import NDArray
from transcript_lines import claude_lines, uid, write

import recall
from recall import Message, ModelError, Scope, Session, UsageError

Vectors = NDArray[np.float32]
EVERYWHERE = Scope.everywhere()


class Compass:
    """An embedder of the caller's own: a text points where its first number of degrees says; without one it is zero."""

    name = "compass"
    dimension = 4
    max_tokens = 64

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        degrees = next((float(word) for word in text.split() if word.replace(".", "", 1).isdigit()), None)
        if degrees is None:
            return np.zeros(self.dimension, dtype=np.float32)
        angle = np.radians(degrees)
        return np.array([np.cos(angle), np.sin(angle), 0, 0], dtype=np.float32)

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [(place, place + 4) for place in range(0, len(text), 4)]


class Missing(Compass):
    """A model that is not on this machine."""

    name = "missing"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise ModelError('the model "missing" is not on this machine; fetch it with: recall embed')

    def embed_query(self, text: str) -> Vectors:
        raise ModelError('the model "missing" is not on this machine; fetch it with: recall embed')

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        raise ModelError('the model "missing" is not on this machine; fetch it with: recall embed')


def add(index: recall.Index, name: str, texts: Sequence[str], cwd: str = "") -> None:
    index.add(Session(name, cwd=cwd, messages=tuple(Message("user", text) for text in texts)))


# R26: limits


BUSY, QUIET = "/srv/busy", "/srv/quiet"
BUSY_COUNT = 5_000


@pytest.fixture(scope="module")
def crowded() -> Iterator[recall.Index]:
    """5,000 vectors in one repository, all nearer to the query than the three in another."""
    with recall.open(":memory:", embedder=Compass()) as index:
        for part in range(50):
            add(index, f"busy {part}", [f"{n / 5_000} b{part}x{n}" for n in range(part * 100, part * 100 + 100)], BUSY)
        add(index, "quiet", ["40 quiet crane", "50 quiet anchor", "60 quiet pilot"], QUIET)
        assert index.embed() == BUSY_COUNT + 3
        yield index


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_small_repository_is_not_starved_by_a_busy_one(crowded: recall.Index, mode: recall.types.Mode) -> None:
    result = crowded.search("0", Scope.repository(QUIET), limit=3, mode=mode)
    assert [hit.snippet.text for hit in result] == ["40 quiet crane", "50 quiet anchor", "60 quiet pilot"]
    assert (result.mode, result.degraded) == (mode, None)


def test_narrowing_does_not_starve_either(crowded: recall.Index) -> None:
    scope = Scope.repository(BUSY, role="user")
    # They differ in numbers only, so one stands for all that were looked at.
    assert sum(1 + hit.similar for hit in crowded.search("90", scope, limit=10, mode="dense")) >= 10
    assert list(crowded.search("0", Scope.repository(BUSY, role="assistant"), limit=3, mode="dense")) == []


@pytest.mark.parametrize("limit", [0, -1])
@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_a_limit_below_one_is_wrong_usage(crowded: recall.Index, limit: int, mode: recall.types.Mode) -> None:
    with pytest.raises(UsageError, match=f"limit is {limit}"):
        crowded.search("0", EVERYWHERE, limit=limit, mode=mode)


@pytest.mark.parametrize("limit", [4_096, 4_097, 5_000, 10**12])
def test_a_limit_beyond_what_can_be_answered_is_lowered_and_says_so(crowded: recall.Index, limit: int) -> None:
    result = crowded.search("0", EVERYWHERE, limit=limit, mode="dense")
    assert 0 < len(result) <= limit
    assert any(str(limit) in note for note in result.notes)


def test_a_limit_below_one_on_the_command_line_is_wrong_usage(home: Home) -> None:
    ran = home.run("search", "kite", "--all", "--limit", "0")
    assert (ran.code, ran.out) == (2, b"")
    assert "--limit" in ran.complaint


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_vector_of_zeros_never_ranks_first_and_never_raises(mode: recall.types.Mode) -> None:
    with recall.open(":memory:", embedder=Compass()) as index:
        add(index, "zero", ["nothing to embed"])
        add(index, "far", ["170 degrees"])
        assert index.embed() == 2
        assert index.embed() == 0
        result = index.search("0", EVERYWHERE, mode=mode)
        assert [hit.session.id for hit in result] == ["far"]


def test_a_query_that_embeds_to_zeros_is_answered_by_its_words() -> None:
    with recall.open(":memory:", embedder=Compass()) as index:
        add(index, "a", ["10 degrees to the quay"])
        index.embed()
        result = index.search("quay", EVERYWHERE)
        assert [hit.session.id for hit in result] == ["a"]
        assert result.mode == "lexical"
        assert result.degraded is not None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_vector_that_holds_no_number_is_one_of_zeros(bad: float) -> None:
    class Broken(Compass):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            vectors = super().embed_passages(texts)
            vectors[["bad" in text for text in texts]] = bad
            return vectors

    with recall.open(":memory:", embedder=Broken()) as index:
        add(index, "a", ["10 bad quay", "20 good quay"])
        index.embed()
        assert [hit.snippet.text for hit in index.search("0", EVERYWHERE, mode="dense")] == ["20 good quay"]


def test_a_passage_that_is_embedded_again_has_its_new_vector_only() -> None:
    """As after a crash between the vector and the record that it is there."""
    embedder = Compass()
    with recall.open(":memory:", embedder=embedder) as index:
        add(index, "a", ["10 to the quay", "80 past the crane"])
        index.embed()
        with index.database.write() as connection:
            connection.execute("delete from embedded")
        embedder.embed_passages = lambda texts: Compass().embed_passages(  # type: ignore[method-assign]
            [str(90 - float(text.split()[0])) for text in texts]
        )
        assert index.embed() == 2
        result = index.search("80", EVERYWHERE, mode="dense")
        assert [hit.snippet.text for hit in result] == ["10 to the quay", "80 past the crane"]


def test_vectors_of_the_wrong_shape_are_named_with_the_model() -> None:
    class Narrow(Compass):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            return super().embed_passages(texts)[:, :2]

    with recall.open(":memory:", embedder=Narrow()) as index:
        add(index, "a", ["10 degrees"])
        with pytest.raises(ModelError, match=r"compass returned vectors of shape \(1, 2\), expected \(1, 4\)"):
            index.embed()
        assert [hit.session.id for hit in index.search("degrees", EVERYWHERE)] == ["a"]


def test_what_has_no_vector_yet_is_found_by_its_words_and_counted() -> None:
    with recall.open(":memory:", embedder=Compass()) as index:
        add(index, "a", ["10 degrees"])
        index.embed()
        add(index, "b", ["lantern"])
        result = index.search("10 lantern", EVERYWHERE)
        assert {hit.session.id for hit in result} == {"a", "b"}
        assert result.mode == "hybrid"
        assert any("1 passage" in note for note in result.notes)


# R30: without sqlite-vec, or without a model


PARENT = [("user", "10 degrees"), ("user", "20 degrees")]
FORK = [*PARENT, ("user", "30 quay")]


@pytest.fixture
def without_sqlite_vec(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("recall.database.vector_extension", lambda: tmp_path / "vec0")


@pytest.fixture
def without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sqlite_vec", None)


@pytest.mark.parametrize("how", ["without_sqlite_vec", "without_the_package"])
def test_without_sqlite_vec_words_are_searched_and_the_cause_is_said(
    request: pytest.FixtureRequest, home: Home, how: str
) -> None:
    request.getfixturevalue(how)
    with recall.open(embedder=Compass()) as index:
        add(index, "a", ["10 degrees to the quay"])
        write(home.claude / "-srv" / f"{uid(1)}.jsonl", claude_lines(uid(1), "/srv", ("user", "the quay is closed")))
        assert index.ingest().new_messages == 1
        result = index.search("quay", EVERYWHERE)
        assert {hit.session.id for hit in result} == {"a", uid(1)}
        assert result.mode == "lexical"
        assert result.degraded is not None
        assert "sqlite-vec cannot be loaded" in result.degraded
        assert "pip install" in result.degraded
        assert len(index.recent(EVERYWHERE)) == 2
        assert [message.text for message in index.show("a:1")] == ["10 degrees to the quay"]
        assert index.counts()["messages"] == 2


@pytest.mark.parametrize("how", ["without_sqlite_vec", "without_the_package"])
def test_without_sqlite_vec_only_what_needs_vectors_fails(request: pytest.FixtureRequest, how: str) -> None:
    request.getfixturevalue(how)
    with recall.open(":memory:", embedder=Compass()) as index:
        add(index, "a", ["10 degrees to the quay"])
        with pytest.raises(ModelError, match="sqlite-vec cannot be loaded"):
            index.search("quay", EVERYWHERE, mode="dense")
        with pytest.raises(ModelError, match="sqlite-vec cannot be loaded"):
            index.embed()
        result = index.search("quay", EVERYWHERE, mode="lexical")
        assert (len(result), result.degraded) == (1, None)


def test_an_archive_with_vectors_goes_on_without_sqlite_vec(home: Home, request: pytest.FixtureRequest) -> None:
    """The file was made where sqlite-vec loads, and is now opened where it does not: copies must still be removed."""
    with recall.open(embedder=Compass()) as index:
        path = write(home.root / "1.jsonl", claude_lines(uid(1), "/srv", *PARENT))
        index.ingest([path])
        index.embed()
    request.getfixturevalue("without_sqlite_vec")
    with recall.open(embedder=Compass()) as index:
        fork = claude_lines(uid(2), "/srv", *FORK)
        report = index.ingest([write(home.root / "2.jsonl", fork)])
        assert [file.status for file in report.files] == ["new"]
        assert [hit.session.id for hit in index.search("quay", EVERYWHERE)] == [uid(2)]
        assert sum(1 + hit.similar for hit in index.search("degrees", EVERYWHERE)) == 2


def test_the_older_session_that_comes_later_is_taken_in_without_sqlite_vec(
    home: Home, request: pytest.FixtureRequest
) -> None:
    """Then what is removed has vectors, in a table that cannot be opened."""
    fork = claude_lines(uid(2), "/srv", *FORK)
    with recall.open(embedder=Compass()) as index:
        index.ingest([write(home.root / "2.jsonl", fork)])
        index.embed()
    request.getfixturevalue("without_sqlite_vec")
    with recall.open(embedder=Compass()) as index:
        path = write(home.root / "1.jsonl", claude_lines(uid(1), "/srv", *PARENT))
        assert [file.status for file in index.ingest([path]).files] == ["new"]
        assert sum(1 + hit.similar for hit in index.search("degrees", EVERYWHERE)) == 2


def test_without_a_model_sessions_are_taken_in_and_found_by_their_words(home: Home) -> None:
    with recall.open(embedder=Missing()) as index:
        write(home.claude / "-srv" / f"{uid(1)}.jsonl", claude_lines(uid(1), "/srv", ("user", "the quay is closed")))
        assert index.ingest().new_messages == 1
        result = index.search("quay", EVERYWHERE)
        assert [hit.session.id for hit in result] == [uid(1)]
        assert result.mode == "lexical"
        assert result.degraded is not None
        with pytest.raises(ModelError):
            index.embed()


def test_a_model_that_goes_missing_after_it_was_used_costs_the_vectors_only() -> None:
    embedder = Compass()
    with recall.open(":memory:", embedder=embedder) as index:
        add(index, "a", ["10 degrees to the quay"])
        index.embed()
        embedder.embed_query = Missing().embed_query  # type: ignore[method-assign]
        result = index.search("quay", EVERYWHERE)
        assert [hit.session.id for hit in result] == ["a"]
        assert (result.mode, result.degraded) == (
            "lexical",
            'the model "missing" is not on this machine; fetch it with: recall embed',
        )
        with pytest.raises(ModelError, match="not on this machine"):
            index.search("quay", EVERYWHERE, mode="dense")


def test_on_the_command_line_a_missing_model_is_said_in_one_line_and_ends_well(home: Home) -> None:
    write(home.claude / "-srv" / f"{uid(1)}.jsonl", claude_lines(uid(1), "/srv", ("user", "the quay is closed")))
    home.recall.mkdir()
    (home.recall / "config.toml").write_text('model = "BAAI/bge-small-zh-v1.5"\n', encoding="utf-8")
    offline = {"HF_HUB_OFFLINE": "1", "HTTPS_PROXY": "http://127.0.0.1:9"}
    ran = home.run("search", "quay", "--all", "--json", environment=offline)
    assert ran.code == 0, ran.complaint
    assert [hit["session"]["id"] for hit in ran.document["hits"]] == [uid(1)]
    assert (ran.document["mode"], ran.document["degraded"] is None) == ("lexical", False)
    ran = home.run("search", "quay", "--all", "--mode", "dense", environment=offline)
    assert (ran.code, ran.out) == (1, b"")
    assert len(ran.complaint.splitlines()) == 1


def test_the_bundled_model_finds_what_is_meant_and_not_only_what_is_said(home: Home) -> None:
    said = [("user", "the database pool ran out of connections"), ("user", "paint the buttons blue")]
    write(home.claude / "-srv" / f"{uid(1)}.jsonl", claude_lines(uid(1), "/srv", *said))
    assert home.run("ingest").code == 0
    assert home.run("embed").code == 0
    ran = home.run("search", "too many clients exhausted postgres", "--all", "--json")
    assert ran.document["mode"] == "hybrid"
    assert ran.document["degraded"] is None
    assert ran.document["hits"][0]["snippet"]["text"] == said[0][1]
