"""R27: another model, another revision of it, another prefix or passage size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Home
from recording import Recording
from test_embedding import write_model
from transcript_lines import claude_lines, uid, write

import recall
from recall import Message, ModelError, Scope, Session, database, embedding_run
from recall.database import Database
from recall.embedding import Vectors
from recall.errors import DatabaseError

EVERYWHERE = Scope.everywhere()
TEXTS = [f"the lantern of quay {number} went out" for number in range(10)]


class Missing(Recording):
    """A model that cannot be loaded."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise ModelError("the model is not on this machine")

    def embed_query(self, text: str) -> Vectors:
        raise ModelError("the model is not on this machine")


def add(index: recall.Index, texts: Sequence[str], name: str = "one") -> None:
    index.add(Session(name, messages=tuple(Message("user", text, key=f"{name} {text[:40]}") for text in texts)))


def widths(index: recall.Index) -> dict[str, list[int]]:
    """Name of each embedder with vectors to the numbers of floats of its vectors."""
    found = {}
    for id, name in index.database.rows("select id, name from embedders"):
        found[str(name)] = [int(row[0]) for row in index.database.rows(f"select length(embedding) from vectors_{id}")]
    return found


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A home with ten messages that have vectors of a model of 384 numbers."""
    with recall.open(tmp_path / "home", Recording("narrow", 384)) as index:
        add(index, TEXTS)
        assert index.embed() == 10
    return tmp_path / "home"


def test_after_a_change_words_are_searched_until_the_new_vectors_are_there(old: Path) -> None:
    with recall.open(old, Recording("wide", 512)) as index:
        result = index.search("lantern of quay 3", EVERYWHERE)
        assert (result.mode, result[0].session.id) == ("lexical", "one")
        assert result.degraded is not None
        assert "\n" not in result.degraded
        for named in ("narrow", "wide", "recall embed"):
            assert named in result.degraded
        with pytest.raises(ModelError, match="narrow"):
            index.search("lantern", EVERYWHERE, mode="dense")
        assert index.ingest([]).new_messages == 0
        assert index.embed() == 10
        assert widths(index) == {"wide": [512] * 10}
        result = index.search(TEXTS[3], EVERYWHERE, mode="dense")
        assert (result[0].snippet.text, result.degraded) == (TEXTS[3], None)
        assert index.embed() == 0


def test_a_change_that_was_interrupted_goes_on_and_the_old_model_is_searched_meanwhile(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_run, "EMBED_BATCH", 4)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    first, second = Recording("wide", 512), Recording("wide", 512)
    with recall.open(old, first) as index, pytest.raises(KeyboardInterrupt):
        index.embed(stop)
    with recall.open(old, Recording("narrow", 384)) as index:
        assert widths(index) == {"narrow": [384] * 10, "wide": [512] * 4}
        result = index.search(TEXTS[3], EVERYWHERE, mode="dense")
        assert (result[0].snippet.text, result.notes) == (TEXTS[3], ())
        assert index.counts()["without_vector"] == 0
    with recall.open(old, second) as index:
        assert index.embed() == 6
        assert sorted(first.texts + second.texts) == sorted(TEXTS)
        assert widths(index) == {"wide": [512] * 10}


def test_going_back_before_the_new_vectors_are_complete_costs_nothing(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_run, "EMBED_BATCH", 4)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with recall.open(old, Recording("wide", 512)) as index, pytest.raises(KeyboardInterrupt):
        index.embed(stop)
    back = Recording("narrow", 384)
    with recall.open(old, back) as index:
        assert index.embed() == 0
        assert widths(index) == {"narrow": [384] * 10}
    assert back.batches == []


@pytest.mark.parametrize("max_tokens", [254, 3], ids=["same size", "smaller"])
def test_a_new_model_that_cannot_be_loaded_leaves_the_old_vectors(old: Path, max_tokens: int) -> None:
    missing = Missing("wide", 512)
    missing.max_tokens = max_tokens
    with recall.open(old, missing) as index, pytest.raises(ModelError):
        index.embed()
    with recall.open(old, Recording("narrow", 384)) as index:
        assert widths(index)["narrow"] == [384] * 10
        assert index.search(TEXTS[3], EVERYWHERE, mode="dense")[0].snippet.text == TEXTS[3]
        assert index.embed() == 0


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("dimension", 512, "narrow with 384 numbers a vector"),
        ("revision", "b2", "another revision of narrow"),
        ("prefix", "passage: ", 'narrow with the prefix ""'),
        ("max_tokens", 128, "narrow for passages of 254 tokens"),
    ],
)
def test_under_the_same_name_too_vectors_are_compared_with_their_like_only(
    tmp_path: Path, field: str, value: object, told: str
) -> None:
    before, after = Recording("narrow", 384), Recording("narrow", 384)
    before.revision = after.revision = "a1"
    setattr(after, field, value)
    with recall.open(tmp_path, before) as index:
        add(index, TEXTS)
        index.embed()
    with recall.open(tmp_path, after) as index:
        result = index.search("lantern", EVERYWHERE)
        assert result.mode == "lexical"
        assert result.degraded is not None
        assert told in result.degraded
        assert index.embed() == 10
        assert index.search("lantern", EVERYWHERE).mode == "hybrid"
        assert len(widths(index)["narrow"]) == 10
    assert after.texts


@pytest.mark.parametrize(("before", "after"), [("", "a1"), ("a1", ""), ("a1", "a1")])
def test_a_revision_that_is_not_known_is_not_compared(tmp_path: Path, before: str, after: str) -> None:
    """As of a model that has to be downloaded again."""
    for revision, embedded in ((before, 10), (after, 0)):
        embedder = Recording("narrow", 384)
        embedder.revision = revision
        with recall.open(tmp_path, embedder) as index:
            add(index, TEXTS)
            assert index.embed() == embedded
            assert index.database.value("select revision from embedders") == (revision or before)


def test_vectors_from_before_all_this_was_known_are_kept_until_there_are_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = database._migrations()
    number = next(number for number, sql in steps.items() if "embedders_known" in sql)
    monkeypatch.setattr(database, "_migrations", lambda: {n: sql for n, sql in steps.items() if n < number})
    earlier = Database(tmp_path / "recall.db")
    earlier.connection.execute("insert into embedders (name, dimension) values ('narrow', 384)")
    earlier.connection.execute("insert into embedded values (1, 7), (1, 9)")
    earlier.close()
    monkeypatch.undo()
    later = Database(tmp_path / "recall.db")
    assert later.rows("select * from embedders") == [(1, "narrow in 32 bits", 384, "", None, None)]
    assert later.rows("select * from embedded") == [(1, 7, None), (1, 9, None)]
    with pytest.raises(DatabaseError, match="FOREIGN KEY"), later.write() as connection:
        connection.execute("insert into embedded values (2, 7, null)")
    later.close()
    embedder = Recording("narrow", 384)
    embedder.revision = "a1"
    with recall.open(tmp_path, embedder) as index:
        add(index, TEXTS)
        assert index.counts()["without_vector"] == index.embed() == len(TEXTS)
        assert index.database.rows("select revision, prefix, passage_tokens from embedders") == [("a1", "", 254)]


LONG = " ".join(f"word{number}" for number in range(200))


def test_passages_too_long_for_the_new_model_are_cut_anew_and_in_order(tmp_path: Path) -> None:
    with recall.open(tmp_path, Recording("wide", 8)) as index:
        add(index, ["before", LONG, "behind"])
        add(index, ["apart"], "two")
        index.add(Session("three", messages=(Message("tool", LONG, tool="shell"),)))
        assert index.embed() == 4
    small = Recording("small", 8)
    small.max_tokens = 50
    with recall.open(tmp_path, small) as index:
        index.embed()
        assert index.counts()["without_vector"] == 0
        assert all(len(text.split()) <= 50 for text in small.texts)
        assert {word for text in small.texts for word in text.split()} >= set(LONG.split())
        numbers = [
            row[0]
            for row in index.database.rows(
                "select m.number from passages p join messages m on m.id = p.message_id "
                "join sessions s on s.id = p.session_id where s.name = 'one' order by p.id"
            )
        ]
        assert numbers == sorted(numbers)
        assert len(numbers) > 5
        found = index.search("word199", Scope.everywhere(role="user"), mode="lexical")
        assert [hit.ref for hit in found] == ["one:2"]
        last = small.texts[-1]
        assert index.search(last, EVERYWHERE, mode="dense")[0].ref == "one:2"
        assert index.embed() == 0


def test_a_tokenizer_that_never_agrees_with_itself_does_not_keep_a_run_from_ending(tmp_path: Path) -> None:
    class Growing(Recording):
        def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
            return super().token_spans(text) if len(text) > 900 else [(0, len(text))] * 99

    embedder = Growing()
    embedder.max_tokens = 50
    with recall.open(tmp_path, embedder) as index:
        add(index, [LONG])
        assert index.embed() > 0
        assert index.counts()["without_vector"] == 0


def test_a_larger_model_leaves_the_passages_as_they_are(tmp_path: Path) -> None:
    small = Recording("small", 8)
    small.max_tokens = 50
    passages = "select message_id, start_at, end_at from passages order by id"
    with recall.open(tmp_path, small) as index:
        add(index, ["before", LONG])
        count = index.embed()
        before = index.database.rows(passages)
    with recall.open(tmp_path, Recording("wide", 8)) as index:
        assert index.embed() == count
        assert index.database.rows(passages) == before
        add(index, [LONG], "later")
        assert index.embed() == 1


def test_a_folder_with_another_file_in_it_holds_another_revision(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "keeper")
    before, same = recall.embedding.choose(folder), recall.embedding.choose(folder)
    assert isinstance(before, recall.embedding.Revised)
    assert isinstance(same, recall.embedding.Revised)
    assert before.revision == same.revision != ""
    content = bytearray((folder / "model.onnx").read_bytes())
    content[len(content) // 2 : len(content) // 2 + 200_000] = bytes(200_000)
    (folder / "model.onnx").write_bytes(content)
    after = recall.embedding.choose(folder)
    assert isinstance(after, recall.embedding.Revised)
    assert after.revision != before.revision


def test_on_the_command_line_one_line_says_what_to_do_and_the_command_does_it(home: Home) -> None:
    said = [("user", "the database pool ran out of connections"), ("user", "paint the buttons blue")]
    write(home.claude / "-srv" / f"{uid(1)}.jsonl", claude_lines(uid(1), "/srv", *said))
    with recall.open() as index:
        index.ingest()
        assert index.embed() == 2
    folder = write_model(home.root / "模 型")
    ran = home.run("model", "use", folder)
    assert ran.code == 0, ran.complaint
    assert "recall embed" in ran.text
    ran = home.run("search", "connections", "--all")
    assert (ran.code, "database pool" in ran.text) == (0, True)
    (line,) = [line for line in ran.complaint.splitlines() if "all-MiniLM" in line]
    for named in ("模 型", "recall embed"):
        assert named in line
    ran = home.run("embed")
    assert (ran.code, ran.text.split()[0]) == (0, "2"), ran.complaint
    ran = home.run("search", "too many clients exhausted postgres", "--all", "--json")
    assert (ran.document["mode"], ran.document["degraded"]) == ("hybrid", None)
    assert ran.document["hits"][0]["snippet"]["text"] == said[0][1]
