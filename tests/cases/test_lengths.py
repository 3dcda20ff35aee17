"""R31: lengths, batches, lost tails and threads of embedding."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pytest
from recording import Recording

import recall
from recall import Message, Scope, Session, embedding_run
from recall.embedding import Vectors
from recall.minilm import BATCH_TOKENS, WORD_PIECES, MiniLM
from recall.onnx_embedder import FastembedModel

EVERYWHERE = Scope.everywhere()
SHORT = [f"note {number}: the tide turns" for number in range(64)]
ENORMOUS = " ".join(f"plank{number}" for number in range(8_000))[:70_000]
ENGLISH_END, CHINESE_END = "the lantern key rotates on Fridays", "灯塔密钥每周五轮换"
ENGLISH = ("the harbour master walks along the quay and counts the boats. " * 100)[:6_000] + f"\n{ENGLISH_END}"
CHINESE = ("港口的主人沿着码头走，数着停在那里的船。" * 200)[:3_000] + f"\n{CHINESE_END}"


class Measured(Recording):
    """Cuts as the bundled model does."""

    _model = MiniLM()

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return self._model.token_spans(text)


@pytest.fixture(scope="module")
def embedder() -> Measured:
    return Measured()


@pytest.fixture(scope="module")
def mixed(embedder: Measured) -> Iterator[recall.Index]:
    with recall.open(":memory:", embedder) as index:
        texts = {"short": SHORT, "enormous": [ENORMOUS], "english": [ENGLISH], "chinese": [CHINESE]}
        for name, said in texts.items():
            index.add(Session(name, messages=tuple(Message("user", text) for text in said)))
        index.embed()
        yield index


def test_no_text_is_longer_than_the_model_takes(mixed: recall.Index, embedder: Measured) -> None:
    assert len(embedder.texts) > 64 + 70_000 // 2_000
    assert max(len(embedder.token_spans(text)) for text in embedder.texts) <= embedder.max_tokens


def test_no_call_gets_more_than_a_batch_and_long_and_short_are_apart(mixed: recall.Index, embedder: Measured) -> None:
    assert max(map(len, embedder.batches)) <= embedding_run.EMBED_BATCH
    lengths = [[len(text) for text in batch] for batch in embedder.batches]
    assert sum(min(batch) < 40 and max(batch) > 400 for batch in lengths) <= 1


@pytest.mark.parametrize(("session", "end"), [("english", ENGLISH_END), ("chinese", CHINESE_END)])
def test_the_last_sentence_of_a_long_message_is_whole_in_a_passage_and_found_once(
    mixed: recall.Index, embedder: Measured, session: str, end: str
) -> None:
    holding = [text for text in embedder.texts if end in text]
    assert len(holding) == 1
    for query in (holding[0], end):
        hits = mixed.search(query, EVERYWHERE, limit=20)
        assert hits[0].session.id == session
        assert [hit.ref for hit in hits].count(f"{session}:1") == 1
    assert end in mixed.search(end, EVERYWHERE)[0].snippet.text


def test_nothing_of_a_message_is_in_no_passage(mixed: recall.Index, embedder: Measured) -> None:
    words = {word for text in embedder.texts for word in text.split()}
    assert set(ENORMOUS.split()) <= words


class Padding(MiniLM):
    """The bundled model without its runtime: what would be given to that is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[list[int]] = []

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        self.runs.append([len(row) for row in ids])
        vectors: Vectors = Recording(dimension=384).embed_passages([str(list(row)) for row in ids])
        return vectors


def test_the_bundled_model_pads_little_and_never_runs_on_more_than_it_should() -> None:
    model = Padding()
    with recall.open(":memory:", model) as index:
        said = (*SHORT, ENORMOUS, ENGLISH, CHINESE)
        index.add(Session("all", messages=tuple(Message("user", text) for text in said)))
        index.embed()
    for lengths in model.runs:
        assert max(lengths) <= WORD_PIECES
        assert len(lengths) * max(lengths) <= max(BATCH_TOKENS, max(lengths))
    real = sum(map(sum, model.runs))
    padded = sum(len(lengths) * max(lengths) for lengths in model.runs)
    assert padded <= 1.1 * real


def test_a_model_uses_the_processors_that_this_process_may_use_and_no_more() -> None:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert allowed is not None
    options = MiniLM()._session.get_session_options()
    assert 1 <= options.intra_op_num_threads <= allowed
    assert options.inter_op_num_threads == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process to processors")
def test_a_process_that_may_use_one_processor_uses_one(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert MiniLM()._session.get_session_options().intra_op_num_threads == 1
    finally:
        os.sched_setaffinity(0, before)


def test_a_model_of_fastembed_gets_a_number_of_threads_too(monkeypatch: pytest.MonkeyPatch) -> None:
    import fastembed

    given: dict[str, object] = {}

    class Spy(fastembed.TextEmbedding):
        def __init__(self, *arguments: object, **more: object) -> None:
            given.update(more)
            raise ValueError("not loaded here")

    monkeypatch.setattr(fastembed, "TextEmbedding", Spy)
    with pytest.raises(recall.ModelError):
        FastembedModel("BAAI/bge-small-zh-v1.5").embed_query("lantern")
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert given["threads"] == allowed
