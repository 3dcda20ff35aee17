"""Cross-encoders through fastembed: models that read the query and a passage together.

fastembed is imported when a model is first used: the import takes more than a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recall.errors import ModelError
from recall.minilm import available_cpus
from recall.onnx_embedder import BATCH_SIZE
from recall.reranking import Scores

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder


class CrossEncoder:
    """A reranker by its fastembed name (`jinaai/jina-reranker-v1-tiny-en`).

    Nothing is downloaded before `fetch()`. Raises ModelError at its first use for a name that fastembed does not know,
    and for a model that is not on this machine or cannot be loaded.
    """

    def __init__(self, name: str, cache: Path | None = None) -> None:
        self.name = name
        self._cache = cache
        self._may_download = False

    def fetch(self) -> None:
        """Download the model if it is not on this machine, and load it; raises ModelError where that fails."""
        self._may_download = True
        try:
            self._model  # noqa: B018 - loads it
        finally:
            self._may_download = False  # or each search after a download that failed would try it again, for 40 s

    def score(self, query: str, passages: Sequence[str]) -> Scores:
        """The model's logits, which are nats, shape (len(passages),); all 0 for a blank query."""
        scores = np.zeros(len(passages), dtype=np.float32)
        if passages and query.strip():
            order = sorted(range(len(passages)), key=lambda place: len(passages[place]))
            texts = [passages[place] for place in order]
            scores[order] = list(self._model.rerank(query, texts, batch_size=BATCH_SIZE))
        return scores

    @cached_property
    def _model(self) -> TextCrossEncoder:
        from fastembed.rerank.cross_encoder import TextCrossEncoder
        from loguru import logger

        logger.disable("fastembed")  # it prints to standard error what the exception says too
        known = [str(model["model"]) for model in TextCrossEncoder.list_supported_models()]
        if self.name.lower() not in map(str.lower, known):
            raise ModelError(
                f'fastembed knows no cross-encoder "{self.name}"; give one of {", ".join(known)}, or minilm'
            )
        try:
            return TextCrossEncoder(
                self.name,
                cache_dir=str(self._cache) if self._cache else None,
                threads=available_cpus(),
                local_files_only=not self._may_download,
            )
        except Exception as error:  # fastembed passes on what onnxruntime, the hub and the file system raise
            reason = str(error).partition("\n")[0][:160]
            raise ModelError(
                f'the reranker "{self.name}" is not on this machine or cannot be loaded ({reason}); '
                "with a network, fetch it with: recall embed, or use minilm, which is here"
            ) from error
