from __future__ import annotations

from pathlib import Path

import pytest

from recall.embedding import choose
from recall.errors import ModelError, UsageError
from recall.models import SMALLEST_CHINESE, accepted, describe, known_models, reads_english_only
from recall.onnx_embedder import is_downloaded, listing

REVISION = "0123456789abcdef0123456789abcdef01234567"


def download(cache: Path) -> None:
    """The smallest Chinese model, as the hub's client leaves it behind."""
    folder = cache / "models--Qdrant--bge-small-zh-v1.5"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text(REVISION, encoding="utf-8")
    (folder / "snapshots" / REVISION).mkdir(parents=True)
    (folder / "snapshots" / REVISION / "model_optimized.onnx").write_bytes(b"not looked at")


def test_the_bundled_model_comes_first_and_is_always_here(tmp_path: Path) -> None:
    first = next(known_models(tmp_path))
    assert (first.name, first.source, first.here) == ("minilm", "bundled", True)
    assert "Chinese only through a glossary of programming terms" in first.languages


def test_every_model_that_is_named_can_be_chosen_and_reads_chinese_unless_it_says_otherwise(tmp_path: Path) -> None:
    models = list(known_models(tmp_path))
    assert [model.name for model in models[:2]] == ["minilm", SMALLEST_CHINESE]
    assert len(models) >= 4
    for model in models:
        embedder = choose(model.name, tmp_path)
        assert embedder.dimension > 0
        assert reads_english_only(embedder) == model.languages.startswith("English")
        assert model.languages
        assert model.megabytes


def test_naming_the_models_makes_no_folder_and_says_what_is_not_here(tmp_path: Path) -> None:
    models = list(known_models(tmp_path / "models"))
    assert {model.here for model in models if model.source == "fastembed"} == {False}
    assert not (tmp_path / "models").exists()


def test_a_model_that_was_downloaded_is_here(tmp_path: Path) -> None:
    download(tmp_path)
    assert is_downloaded(SMALLEST_CHINESE, tmp_path)
    assert not is_downloaded("intfloat/multilingual-e5-large", tmp_path)
    here = describe(SMALLEST_CHINESE, tmp_path)
    assert here is not None
    assert here.here


def test_a_name_is_taken_as_fastembed_spells_it(tmp_path: Path) -> None:
    assert accepted(" baai/BGE-small-zh-v1.5 ", tmp_path).name == SMALLEST_CHINESE
    assert listing("no/such-model") is None
    assert describe("no/such-model", tmp_path) is None


def test_a_model_of_fastembed_that_is_not_named_is_described_as_far_as_it_is_known(tmp_path: Path) -> None:
    english = describe("BAAI/bge-small-en-v1.5", tmp_path)
    german = describe("jinaai/jina-embeddings-v2-base-de", tmp_path)
    assert english is not None
    assert german is not None
    assert (english.languages, german.languages) == ("English", "")


@pytest.mark.parametrize("name", ["no/such-model", "../nowhere", "~nobody-of-that-name/models"])
def test_a_name_that_nobody_knows_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="fastembed knows no model"):
        accepted(name, tmp_path)


@pytest.mark.parametrize("name", ["", "  "])
def test_no_name_is_not_the_current_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no name"):
        accepted(name, tmp_path)


def test_a_folder_without_a_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keeper").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"holds no \.onnx file"):
        accepted("keeper", tmp_path)


def test_a_folder_with_a_damaged_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "config.json").write_text('{"hidden_size": 384}', encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be loaded"):
        accepted(str(tmp_path), tmp_path)


def test_the_name_of_a_model_is_no_folder_even_where_there_is_one_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "minilm").mkdir()
    monkeypatch.chdir(tmp_path)
    assert accepted("minilm", tmp_path).source == "bundled"
