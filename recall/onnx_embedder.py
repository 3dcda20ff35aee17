"""Other models through fastembed: any that it knows by name, and any local folder with an ONNX model.

fastembed is imported when a model is first used: the import takes more than a second.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall.embedding import DEFAULT_MAX_TOKENS, Vectors, english_share, unit
from recall.errors import ModelError
from recall.minilm import available_cpus

if TYPE_CHECKING:
    from fastembed import TextEmbedding

BATCH_SIZE = 16
"""Texts padded to one length at a time; larger batches cost memory and gain nothing on a processor."""

DIGEST_BLOCKS, DIGEST_BLOCK_BYTES = 256, 4_096
"""What is read of a model's file to tell it from another one: each search does so, and a model may be a gigabyte."""

REASON_CHARACTERS = 400
"""Of what the runtime says: enough for the path of a file."""

_PREFIXES = {"e5-": ("query: ", "passage: "), "nomic-embed": ("search_query: ", "search_document: ")}
"""What a family of models wants before a query and before a passage, as their model cards say."""


class FastembedModel:
    """An embedder by its fastembed name (`BAAI/bge-small-zh-v1.5`), or in a local folder.

    The folder holds one .onnx file, tokenizer.json, config.json, tokenizer_config.json and special_tokens_map.json.
    Nothing is downloaded before `fetch()`. Raises ModelError for a name that fastembed does not know.
    """

    def __init__(self, choice: str | Path, cache: Path | None = None) -> None:
        folder = folder_of(choice)
        self._folder = folder if isinstance(choice, Path) or folder.is_dir() else None
        self._cache = cache
        self._may_download = False
        self._model_name = f"local:{folder.resolve()}" if self._folder else str(choice)
        family = folder.resolve().name if self._folder else str(choice)
        self._before_query, self._before_passage = next(
            (prefixes for part, prefixes in _PREFIXES.items() if part in family.lower()), ("", "")
        )
        self._reads_english_only = _is_english_only(family.lower())
        self.max_tokens = DEFAULT_MAX_TOKENS

    @property
    def name(self) -> str:
        """Names the model and its prefixes."""
        return f"{self._model_name}+{self._before_query}" if self._before_query else self._model_name

    @property
    def prefix(self) -> str:
        """What stands before a passage and before a query."""
        return f"{self._before_passage}{self._before_query}"

    @property
    def revision(self) -> str:
        """Of a folder, a digest of its files; else that of the hub, empty as long as the model was not downloaded."""
        return self._digest if self._folder else _hub_revision(self._model_name, self._cache)

    @cached_property
    def _digest(self) -> str:
        try:
            return _digest(self._folder) if self._folder else ""
        except OSError:  # loading the model will say so
            return ""

    @cached_property
    def dimension(self) -> int:
        if self._folder:
            return _local_dimension(self._folder)
        from fastembed import TextEmbedding

        try:
            return int(TextEmbedding.get_embedding_size(self._model_name))
        except ValueError as error:
            raise ModelError(
                f'fastembed knows no model "{self._model_name}"; give one of its names, a folder with an ONNX model, '
                "or minilm"
            ) from error

    def fetch(self) -> None:
        """Load the model, downloaded if it is not on this machine, and anew if it is damaged. Raises ModelError."""
        try:
            self._model.embedding_size  # noqa: B018 - loads it, without a network where it is here
        except ModelError:
            if self._folder:
                raise
            with _damaged_aside(self._model_name, self._cache):
                self._download()

    def _download(self) -> None:
        self._may_download = True
        try:
            self._model.embedding_size  # noqa: B018 - loads it
        finally:
            self._may_download = False  # or each search after a download that failed would try it again, for 40 s

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text, shape (len(texts), dimension)."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        prefixed = [self._before_passage + text for text in texts]
        order = sorted(range(len(prefixed)), key=lambda i: len(prefixed[i]))
        rows = list(self._model.passage_embed([prefixed[i] for i in order], batch_size=BATCH_SIZE))
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        vectors[order] = np.stack(rows)
        return unit(vectors)

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (dimension,); zeros where the text holds nothing to embed."""
        import numpy as np

        if not text.strip():
            return np.zeros(self.dimension, dtype=np.float32)
        rows = self._model.query_embed(self._before_query + text)
        return unit(np.asarray(next(iter(rows)), dtype=np.float32))

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        tokenizer = self._measure
        spans: Sequence[tuple[int, int]] = tokenizer.encode(text, add_special_tokens=False).offsets
        return spans

    def readable_share(self, text: str) -> float:
        return english_share(text) if self._reads_english_only else 1.0

    @cached_property
    def _measure(self) -> Any:
        from tokenizers import Tokenizer

        inner: Any = self._model.model
        tokenizer = Tokenizer.from_str(inner.tokenizer.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _model(self) -> TextEmbedding:
        from fastembed import TextEmbedding
        from loguru import logger

        logger.disable("fastembed")  # it prints to standard error what the exception says too
        dimension = self.dimension  # raises for an unknown name, before anything is fetched
        settings: dict[str, Any] = {"threads": available_cpus()}
        if self._folder:
            _register(self._model_name, self._folder, dimension)
            settings["specific_model_path"] = str(self._folder)
        else:
            settings["cache_dir"] = str(self._cache) if self._cache else None
            settings["local_files_only"] = not self._may_download
        try:
            return TextEmbedding(self._model_name, **settings)
        except Exception as error:  # fastembed passes on what onnxruntime, the hub and the file system raise
            reason = (str(error) or type(error).__name__).splitlines()[0][:REASON_CHARACTERS]
            raise ModelError(
                f'the model "{self._model_name}" is not on this machine or cannot be loaded ({reason}); '
                "with a network, fetch it with: recall embed"
            ) from error


def folder_of(choice: str | Path) -> Path:
    """The path that a person means by a name, whether there is such a folder or not."""
    try:
        return Path(choice).expanduser()
    except RuntimeError:  # ~nobody: no such user
        return Path(choice)


def listing(name: str) -> tuple[str, int] | None:
    """(the name as fastembed spells it, megabytes of the model); None for one that it does not know."""
    from fastembed import TextEmbedding

    for known in TextEmbedding.list_supported_models():
        if str(known["model"]).lower() == name.lower():
            return str(known["model"]), round(float(known["size_in_GB"]) * 1_000)
    return None


def is_downloaded(name: str, cache: Path) -> bool:
    """Whether the fastembed model of this name is in `cache`. Neither loads nor downloads it."""
    from fastembed import TextEmbedding
    from loguru import logger

    if not cache.is_dir():  # fastembed would make it
        return False
    logger.disable("fastembed")
    try:
        TextEmbedding(name, cache_dir=str(cache), local_files_only=True, lazy_load=True)
    except Exception:  # what fastembed passes on of the hub and the file system
        return False
    return True


def _is_english_only(name: str) -> bool:
    return any(mark in name for mark in ("-en-", "_en_", "minilm-l6")) or name.endswith(("-en", "_en"))


def _register(name: str, folder: Path, dimension: int) -> None:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    if any(name.lower() == str(known["model"]).lower() for known in TextEmbedding.list_supported_models()):
        return
    pooling = _json(folder / "1_Pooling" / "config.json")
    TextEmbedding.add_custom_model(
        name,
        pooling=PoolingType.CLS if pooling.get("pooling_mode_cls_token") else PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(url="file:///"),
        dim=dimension,
        model_file=_model_file(folder).relative_to(folder).as_posix(),
    )


def _model_file(folder: Path) -> Path:
    files = sorted(folder.rglob("*.onnx"), key=lambda file: (file.name != "model.onnx", file.as_posix()))
    if not files:
        raise ModelError(f"{folder} holds no .onnx file; give a folder with an ONNX model and its tokenizer")
    return files[0]


def _digest(folder: Path) -> str:
    """Of the files that a vector depends on: their names, sizes, and DIGEST_BLOCKS blocks spread over each."""
    digest = hashlib.sha256()
    for path in sorted(file for file in folder.rglob("*") if file.suffix in (".onnx", ".json") or ".onnx" in file.name):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()} {size}\n".encode())
        with path.open("rb") as file:
            for block in range(DIGEST_BLOCKS):
                file.seek(size * block // DIGEST_BLOCKS)
                digest.update(file.read(DIGEST_BLOCK_BYTES))
    return digest.hexdigest()[:16]


def _hub_folder(name: str, cache: Path | None) -> Path | None:
    """Where the hub's client keeps what it has downloaded of a model, whether it is there or not."""
    from fastembed import TextEmbedding

    for known in TextEmbedding.list_supported_models() if cache else ():
        if cache and str(known["model"]).lower() == name.lower():
            return cache / f"models--{str(known['sources'].get('hf')).replace('/', '--')}"
    return None


def _hub_revision(name: str, cache: Path | None) -> str:
    if folder := _hub_folder(name, cache):
        with contextlib.suppress(OSError):
            return (folder / "refs" / "main").read_text(encoding="utf-8").strip()[:16]
    return ""


@contextlib.contextmanager
def _damaged_aside(name: str, cache: Path | None) -> Iterator[None]:
    """Out of the way of a download, a model that is here and cannot be loaded; put back where the download fails.

    A damaged file counts as downloaded, also for the hub's client, so that it would never be mended.
    """
    folder = _hub_folder(name, cache)
    if folder is None or cache is None or not is_downloaded(name, cache):
        yield
        return
    aside = folder.with_name(f"{folder.name}.damaged")
    shutil.rmtree(aside, ignore_errors=True)
    folder.rename(aside)
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _local_dimension(folder: Path) -> int:
    _model_file(folder)
    size = _json(folder / "config.json").get("hidden_size")
    if not isinstance(size, int):
        raise ModelError(f'{folder / "config.json"} names no "hidden_size"; it is needed for the width of the vectors')
    return size


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
