from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recall
from recall import Message, Scope, Session
from recall.cross_encoder import CrossEncoder
from recall.embedding import Fetching, Vectors
from recall.errors import ModelError
from recall.fusion import Ranked
from recall.late_interaction import SHARPNESS, LateInteraction
from recall.minilm import MiniLM
from recall.reranking import DEPTH, Reranker, Scores, choose_reranker, rerank

KNOWN = "Xenova/ms-marco-MiniLM-L-6-v2"
FASTEMBED_CLASS = "fastembed.rerank.cross_encoder.TextCrossEncoder"
QUERY = "How did we fix the flaky login test?"
ANSWER = "The sign-in check failed now and then; a fresh session made it stable."
OTHER = "The CSV importer reads dates in the German format."
ROUNDING = SHARPNESS * 2e-2
"""Processors differ in how they multiply int8: as TOLERANCE in test_minilm.py, for cosines times SHARPNESS."""

passage_lists = st.lists(st.sampled_from([ANSWER, OTHER, QUERY, "", "lantern " * 40, "灯塔 key", "?"]), max_size=6)


class OwnColours(MiniLM):
    """Each word piece has a direction of its own, wherever it stands: cosines are 1 for the same piece, else 0."""

    def __init__(self) -> None:
        super().__init__()
        self.colours: dict[int, int] = {}

    def token_states(self, texts: Sequence[str]) -> list[tuple[list[int], Vectors]]:
        found = []
        for encoding in self._tokenizer.encode_batch(list(texts)):
            states = np.zeros((len(encoding.ids), 100), dtype=np.float32)
            for place, token in enumerate(encoding.ids):
                states[place, self.colours.setdefault(token, len(self.colours))] = 3.0
            found.append((encoding.ids, states))
        return found


class Shortest:
    """A reranker of a user's own."""

    name = "shortest"

    def score(self, query: str, passages: Sequence[str]) -> Scores:
        return -np.array([len(passage) for passage in passages], dtype=np.float32)


class Stub:
    """Stands where fastembed's class stands: a passage's score is its length. Remembers how it was made."""

    made: list[dict[str, Any]]

    def __init__(self, model_name: str, **settings: Any) -> None:
        self.made.append({"model_name": model_name, **settings})

    @staticmethod
    def list_supported_models() -> list[dict[str, Any]]:
        return [{"model": KNOWN}]

    def rerank(self, query: str, documents: Iterable[str], batch_size: int) -> Iterable[float]:
        yield from (float(len(document)) for document in documents)


@pytest.fixture(scope="module")
def late() -> LateInteraction:
    return LateInteraction()


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> type[Stub]:
    class Fresh(Stub):
        made: list[dict[str, Any]] = []  # noqa: RUF012 - one list a test

    monkeypatch.setattr(FASTEMBED_CLASS, Fresh)
    return Fresh


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


# Choosing


@pytest.mark.parametrize("choice", [None, ""])
def test_without_a_choice_nothing_is_reranked(choice: str | None) -> None:
    assert choose_reranker(choice) is None


def test_a_string_names_the_bundled_model_or_one_of_fastembed() -> None:
    assert isinstance(choose_reranker("minilm"), LateInteraction)
    chosen = choose_reranker(KNOWN)
    assert isinstance(chosen, CrossEncoder)
    assert chosen.name == KNOWN


def test_a_user_object_is_taken_as_it_is() -> None:
    reranker = Shortest()
    assert choose_reranker(reranker) is reranker


@pytest.mark.parametrize(
    ("choice", "missing"), [(object(), "name and score"), (Path("minilm"), "lacks score"), (7, "name and score")]
)
def test_an_object_that_is_no_reranker_is_refused_with_what_is_missing(choice: Any, missing: str) -> None:
    with pytest.raises(ModelError, match=missing) as caught:
        choose_reranker(choice)
    assert repr(choice) in str(caught.value)
    assert "give minilm" in str(caught.value)


@pytest.mark.parametrize("name", ["minilm", KNOWN])
def test_our_own_are_rerankers(name: str) -> None:
    assert isinstance(choose_reranker(name), Reranker)


def test_only_a_model_that_may_have_to_be_downloaded_can_be_fetched() -> None:
    assert isinstance(choose_reranker(KNOWN), Fetching)
    assert not isinstance(choose_reranker("minilm"), Fetching)


def test_choosing_loads_no_model() -> None:
    code = (
        "import sys; from recall.reranking import choose_reranker as choose;"
        f"choose('minilm'); choose({KNOWN!r});"
        "print({'fastembed', 'onnxruntime', 'tokenizers'} & set(sys.modules))"
    )
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "set()"


# Late interaction


@pytest.mark.parametrize(
    ("query", "passage", "share"),
    [
        ("lantern key", "the key of the lantern", 2 / 2),
        ("lantern key", "the keeper has a lantern", 1 / 2),
        ("lantern key", "nothing of it", 0),
        ("where is the lantern key?", "where is the ?", 0),  # stop words and punctuation tell nothing
        ("where is the lantern key?", "lantern", 1 / 2),
        ("lantern lantern key", "lantern", 2 / 3),
        ("lantern", "lantern " * 100, 1),  # the largest cosine, not the sum
        ("where is it?", "it is here", 2 / 4),  # nothing but stop words: all count, the question mark too
        ("itsy", "its", 1 / 2),  # its ##y: no stop word when it is only the beginning of one
        ("itsy", "day to day", 0),
        ("lantern", "", 0),
        ("c++", "c", 1),
        ("++", "c++", 1),
    ],
)
def test_a_score_is_the_mean_of_what_each_word_of_the_query_finds(query: str, passage: str, share: float) -> None:
    assert LateInteraction(OwnColours()).score(query, [passage]) == pytest.approx([SHARPNESS * share])


@pytest.mark.parametrize("query", ["", " \n", "[CLS] [SEP]", "🤖"])
def test_a_query_that_says_nothing_leaves_the_ranking_as_it_was(query: str) -> None:
    assert LateInteraction(OwnColours()).score(query, [ANSWER, OTHER]).tolist() == [0, 0]


def test_the_passage_that_answers_is_above_another(late: LateInteraction) -> None:
    answer, other = late.score(QUERY, [ANSWER, OTHER])
    assert answer > other + 2


def test_the_query_itself_is_the_best_passage_of_all(late: LateInteraction) -> None:
    itself, answer = late.score(QUERY, [QUERY, ANSWER])
    assert itself == pytest.approx(SHARPNESS, abs=ROUNDING)
    assert answer < itself


def test_scores_are_as_many_as_passages_and_within_the_cosines(late: LateInteraction) -> None:
    scores = late.score(QUERY, [ANSWER, OTHER, "", "lantern " * 2_000, "\x00", "\ufffd"])
    assert scores.shape == (6,)
    assert scores.dtype == np.float32
    assert (np.abs(scores) <= SHARPNESS + ROUNDING).all()


def test_an_embedder_that_is_there_is_used_again() -> None:
    model = OwnColours()
    reranker = LateInteraction(model)
    reranker.score("lantern", ["key"])
    assert model.colours
    assert model.name in reranker.name


@settings(deadline=None, max_examples=15)
@given(passages=passage_lists, data=st.data())
def test_the_order_of_the_passages_does_not_change_their_scores(
    late: LateInteraction, passages: list[str], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(passages))))
    scores = late.score(QUERY, passages)
    assert late.score(QUERY, [passages[place] for place in order]).tolist() == scores[list(order)].tolist()


@settings(deadline=None, max_examples=15)
@given(passages=passage_lists)
def test_a_passage_scores_the_same_whatever_stands_beside_it(late: LateInteraction, passages: list[str]) -> None:
    alone = [float(late.score(QUERY, [passage])[0]) for passage in passages]
    assert late.score(QUERY, passages).tolist() == pytest.approx(alone, abs=ROUNDING)


@settings(deadline=None, max_examples=30)
@given(query=st.text(max_size=20), passage=st.text(max_size=40))
def test_any_text_can_be_scored(late: LateInteraction, query: str, passage: str) -> None:
    scores = late.score(query, [passage])
    assert np.isfinite(scores).all()
    assert (np.abs(scores) <= SHARPNESS + ROUNDING).all()


# Cross-encoders


@given(query=st.text(max_size=20))
@pytest.mark.parametrize("reranker", [LateInteraction(), CrossEncoder(KNOWN)], ids=["bundled", "fastembed"])
def test_no_passages_have_no_scores(reranker: Reranker, query: str) -> None:
    scores = reranker.score(query, [])
    assert scores.shape == (0,)
    assert scores.dtype == np.float32


@pytest.mark.parametrize("name", ["no/such-model", "lantern", " ", "BAAI/bge-small-zh-v1.5"])
def test_an_unknown_name_is_refused_with_what_could_be_given(name: str, tmp_path: Path) -> None:
    reranker = CrossEncoder(name, tmp_path / "models")
    for ask in (reranker.fetch, lambda: reranker.score(QUERY, [ANSWER])):
        with pytest.raises(ModelError, match="knows no cross-encoder") as caught:
            ask()
        assert f'"{name}"' in str(caught.value)
        assert KNOWN in str(caught.value)
        assert "minilm" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_model_that_is_not_here_is_reported_at_once_and_not_fetched(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ModelError):
        CrossEncoder("no/such-model").score(QUERY, [ANSWER])  # pays for the import of fastembed
    reranker = CrossEncoder(KNOWN, tmp_path / "models")
    started = time.monotonic()
    with pytest.raises(ModelError, match="not on this machine") as caught:
        reranker.score(QUERY, [ANSWER])
    assert time.monotonic() - started < 2
    assert KNOWN in str(caught.value)
    assert "recall embed" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.rglob("*.onnx"))
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("offline")
def test_a_model_that_cannot_be_fetched_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="with a network"):
        CrossEncoder(KNOWN, tmp_path / "models").fetch()


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "ms-marco-MiniLM-L-6-v2"  # where fastembed looks when the hub's layout is not there
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        CrossEncoder(KNOWN, tmp_path).score(QUERY, [ANSWER])
    assert "any source" not in str(caught.value)


def test_an_error_that_says_nothing_is_reported_too(stub: type[Stub], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(stub, "__init__", fail)
    with pytest.raises(ModelError, match="cannot be loaded"):
        CrossEncoder(KNOWN).score(QUERY, [ANSWER])


def test_a_search_downloads_nothing_and_fetching_may(stub: type[Stub], tmp_path: Path) -> None:
    CrossEncoder(KNOWN, tmp_path).score(QUERY, [ANSWER])
    CrossEncoder(KNOWN, tmp_path).fetch()
    assert [made["local_files_only"] for made in stub.made] == [True, False]
    assert {made["cache_dir"] for made in stub.made} == {str(tmp_path)}


def test_after_a_fetch_that_failed_a_search_still_downloads_nothing(
    stub: type[Stub], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object, model_name: str, **settings: Any) -> None:
        stub.made.append(settings)
        raise ValueError("no network")

    monkeypatch.setattr(stub, "__init__", fail)
    reranker = CrossEncoder(KNOWN)
    for ask in (reranker.fetch, lambda: reranker.score(QUERY, [ANSWER])):
        with pytest.raises(ModelError, match="no network"):
            ask()
    assert [made["local_files_only"] for made in stub.made] == [False, True]


@pytest.mark.usefixtures("stub")
@pytest.mark.parametrize("lengths", [[30, 1, 12, 3], [2, 2, 1], [0], list(range(40, 0, -1))])
def test_logits_come_back_in_the_order_of_the_passages(lengths: list[int]) -> None:
    scores = CrossEncoder(KNOWN).score(QUERY, ["x" * length for length in lengths])
    assert scores.tolist() == lengths
    assert scores.dtype == np.float32


def test_a_model_is_loaded_once(stub: type[Stub]) -> None:
    reranker = CrossEncoder(KNOWN.upper())  # fastembed does not mind the case
    reranker.score(QUERY, [ANSWER])
    reranker.score(QUERY, [OTHER])
    assert len(stub.made) == 1


@pytest.mark.parametrize("query", ["", " \n"])
def test_a_blank_query_asks_no_model(query: str) -> None:
    assert CrossEncoder("no/such-model").score(query, [ANSWER, OTHER]).tolist() == [0, 0]


# In a search


class Fixed:
    """A reranker of a user's own: prefers passages that hold a word."""

    name = "fixed"

    def __init__(self, word: str, worth: float = 50.0) -> None:
        self.word, self.worth = word, worth

    def score(self, query: str, passages: Sequence[str]) -> Scores:
        return np.array([self.worth * (self.word in passage) for passage in passages], dtype=np.float32)


def refs(reranker: Reranker | None, mode: recall.types.Mode = "lexical") -> tuple[list[str], tuple[str, ...]]:
    """(sessions found for `lantern`, best first; the notes)."""
    with recall.open(":memory:", reranker=reranker) as index:
        for name, text in (
            ("wick", "the lantern needs a lantern wick"),
            ("oil", "oil for the old lantern in the hall"),
        ):
            index.add(Session(name, messages=(Message("assistant", text),)))
        found = index.search("lantern", Scope.everywhere(), mode=mode)
        return [hit.session.id for hit in found], found.notes


def test_a_search_takes_the_order_of_its_reranker() -> None:
    assert refs(None) == (["wick", "oil"], ())
    assert refs(Fixed("oil")) == (["oil", "wick"], ())


@pytest.mark.parametrize("worth", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_leave_the_order_as_it_was_and_are_named(worth: float) -> None:
    found, notes = refs(Fixed("oil", worth))
    assert found == ["wick", "oil"]
    assert "fixed returned scores" in notes[0]


def test_a_model_that_is_not_here_leaves_the_order_as_it_was_and_is_named(tmp_path: Path) -> None:
    found, notes = refs(CrossEncoder(KNOWN, tmp_path))
    assert found == ["wick", "oil"]
    assert "recall embed" in notes[0]


@given(st.lists(st.floats(0, 1), max_size=DEPTH + 20))
def test_a_reranking_keeps_every_passage_once_and_scores_that_fall(scores: list[float]) -> None:
    ranking = [Ranked(place, score, {}) for place, score in enumerate(sorted(scores, reverse=True))]
    again = rerank(Fixed("7"), "query", ranking, str, nats=60.0)
    assert sorted(ranked.passage_id for ranked in again) == list(range(len(scores)))
    assert [ranked.passage_id for ranked in again[DEPTH:]] == list(range(DEPTH, len(scores)))
    falling = [ranked.score for ranked in again]
    assert falling == sorted(falling, reverse=True)
    assert all(0 <= score <= 1 for score in falling)
