"""R29: a model that has to be downloaded, without a network, behind a proxy, damaged."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Home
from recording import Recording
from test_embedding import write_model
from transcript_lines import claude_lines, uid, write

import recall
from recall import BusyError, Message, ModelError, Session
from recall.embedding import choose

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
SAID = [("user", "the database pool ran out of connections"), ("user", "paint the buttons blue")]
QUERY = "too many clients exhausted postgres"


class Proxy:
    """Counts who wants to have a connection with the world, and gives none."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setblocking(False)
        url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
        self.environment = dict.fromkeys((*names, *map(str.lower, names)), url) | {"NO_PROXY": "", "no_proxy": ""}

    def asked(self) -> bool:
        """Whether anyone has wanted one."""
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return False
        connection.close()
        return True

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    proxy = Proxy()
    yield proxy
    proxy.close()


@pytest.fixture
def configured(home: Home) -> Home:
    """A machine with a transcript, and a model of fastembed in its configuration."""
    write(home.claude / "-srv" / f"{uid(1)}.jsonl", claude_lines(uid(1), "/srv", *SAID))
    home.recall.mkdir()
    (home.recall / "config.toml").write_text(f'model = "{MODEL}"\n', encoding="utf-8")
    return home


def downloaded(home: Home) -> Path:
    """The model's file, after the model was put where a download leaves it."""
    folder = home.recall / "models" / "models--Qdrant--all-MiniLM-L6-v2-onnx"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("0123456789abcdef0123456789abcdef01234567", encoding="utf-8")
    return write_model(folder / "snapshots" / "0123456789abcdef0123456789abcdef01234567") / "model.onnx"


def assert_found_by_words(home: Home, proxy: Proxy, more: dict[str, str], *named: str) -> None:
    """Standard output is one document, and what is wrong is said once."""
    ran = home.run("search", "connections", "--all", "--json", environment=proxy.environment | more)
    assert ran.code == 0, ran.complaint
    assert [hit["snippet"]["text"] for hit in ran.document["hits"]] == [SAID[0][1]]
    assert ran.document["mode"] == "lexical"
    for part in named:
        assert part in ran.document["degraded"]
    assert len(ran.complaint.splitlines()) <= 1
    assert not proxy.asked()


@pytest.mark.parametrize("offline", [{}, {"HF_HUB_OFFLINE": "1"}], ids=["behind a proxy", "offline"])
def test_without_the_model_words_are_searched_and_nobody_waits_for_a_network(
    configured: Home, proxy: Proxy, offline: dict[str, str]
) -> None:
    assert_found_by_words(configured, proxy, offline, "recall embed")
    assert not list(configured.recall.rglob("*.onnx"))


def test_a_model_that_was_downloaded_needs_no_network(configured: Home, proxy: Proxy) -> None:
    downloaded(configured)
    with recall.open(embedder=MODEL) as index:
        index.ingest()
    ran = configured.run("embed", environment=proxy.environment)
    assert (ran.code, ran.text.split()[0]) == (0, "2"), ran.complaint
    ran = configured.run("search", QUERY, "--all", "--json", environment=proxy.environment)
    assert (ran.document["mode"], ran.document["degraded"]) == ("hybrid", None)
    assert ran.document["hits"][0]["snippet"]["text"] == SAID[0][1]
    assert not proxy.asked()


def test_a_damaged_model_is_named_with_the_repair_and_words_are_searched(configured: Home, proxy: Proxy) -> None:
    file = downloaded(configured)
    with recall.open(embedder=MODEL) as index:
        index.ingest()
        assert index.embed() == 2
    with file.open("r+b") as content:
        content.truncate(1_000)
    assert_found_by_words(configured, proxy, {}, MODEL, file.name, "recall embed")
    ran = configured.run("embed", environment=proxy.environment | {"HF_HUB_OFFLINE": "1"})
    assert (ran.code, ran.out) == (1, b"")
    assert MODEL in ran.complaint
    assert "Traceback" not in ran.complaint
    assert file.stat().st_size == 1_000


def test_a_damaged_model_is_downloaded_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The download is a copy: what is tested is that the damaged file does not stand in its way."""
    from recall.onnx_embedder import FastembedModel

    file = downloaded(home)
    whole = file.parent.parent.parent
    shutil.copytree(whole, home.root / "hub")
    file.write_bytes(b"half of a download")
    embedder = choose(MODEL, home.recall / "models")
    assert isinstance(embedder, FastembedModel)
    download = FastembedModel._download

    def from_the_hub(model: FastembedModel) -> None:
        assert not whole.exists()
        shutil.copytree(home.root / "hub", whole)
        download(model)

    monkeypatch.setattr(FastembedModel, "_download", from_the_hub)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    embedder.fetch()
    assert embedder.embed_query("lantern").any()
    assert [path.name for path in whole.parent.iterdir()] == [whole.name]


def test_of_two_that_need_a_model_at_first_one_downloads_it(home: Home) -> None:
    class Downloading(Recording):
        fetched = 0

        def fetch(self) -> None:
            Downloading.fetched += 1
            with recall.open(embedder=Downloading()) as other, pytest.raises(BusyError):
                other.embed()

    with recall.open(embedder=Downloading()) as index:
        index.add(Session("one", messages=(Message("user", "the lantern"),)))
        assert index.embed() == 1
    assert Downloading.fetched == 1


def test_models_are_kept_with_the_users_data(home: Home) -> None:
    with recall.open(embedder=MODEL) as index, pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(ModelError):
            index.embed()
        downloaded(home)
        index.add(Session("one", messages=(Message("user", "the lantern"),)))
        assert index.embed() == 1
