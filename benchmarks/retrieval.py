"""What does this library find that BM25, vectors and textbook fusion do not?

    python -m benchmarks retrieval --data FOLDER [--data FOLDER:qrels_core.tsv:own] [--embedder NAME] [--reranker NAME]
                                   [--system NAME] [--sample N] [--cache DIR] [--out FILE]

Each data set goes through the public API as sessions of messages; each question is asked with the scope it belongs to.
`--embedder` and `--reranker` name others than the default. The oracle is no system: of each question it takes the best
of the systems, knowing the answer.
Systems: bm25s (an outside implementation, Lucene's formula, no stemming), lexical and dense (the library's modes),
rrf (reciprocal rank fusion of these two, k = 60: Cormack, Clarke, Büttcher, SIGIR 2009), hybrid (the default).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import recall
from benchmarks.datasets import Dataset, Question, load
from benchmarks.metrics import MEASURES, interval, measures, p_value
from benchmarks.running import DATA, data_argument, progress, write_result

DEPTH = 100
RRF_K = 60
SYSTEMS = ("bm25s", "lexical", "dense", "rrf", "hybrid")
WORDS = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")

Ranker = Callable[[Question], list[str]]


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; prints tables and writes the result file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks retrieval", description=__doc__)
    parser.add_argument("--data", action="append", required=True, type=data_argument, metavar=DATA)
    parser.add_argument("--system", action="append", choices=SYSTEMS)
    parser.add_argument("--sample", type=int, default=0, help="about so many questions a set")
    parser.add_argument("--cache", type=Path, help="folder that keeps the indexes between runs")
    parser.add_argument("--embedder", help="as in recall.open(embedder=…)")
    parser.add_argument("--reranker", help="as in recall.open(reranker=…)")
    parser.add_argument("--out", type=Path, help="result file")
    options = parser.parse_args(arguments)
    results = []
    for data in options.data:
        folder, judgements, own = data
        dataset = load(folder, judgements, own, options.sample)
        result = evaluate(dataset, options.system or SYSTEMS, options.cache, options.embedder, options.reranker)
        result["judgements"] = judgements
        print(table(result), flush=True)
        results.append(result)
    if options.out:
        write_result(options.out, {"results": results})
    return 0


def evaluate(
    dataset: Dataset,
    systems: Iterable[str],
    cache: Path | None,
    embedder: str | None = None,
    reranker: str | None = None,
) -> dict[str, Any]:
    """Measures of each system on a data set, per document and per session.

    `ceilings`: share of what is relevant among the first DEPTH of lexical or dense. No ranking of these finds more.
    """
    home = cache / f"{dataset.name}-{dataset.checksum}" if cache else ":memory:"
    session_of = {document.id: document.session for document in dataset.documents}
    with recall.open(home, embedder, reranker) as index:
        fill(index, dataset)
        rankers = {name: _ranker(name, index, dataset) for name in systems}
        scores: dict[str, dict[str, list[tuple[float, ...]]]] = {
            unit: {name: [] for name in rankers} for unit in ("document", "session")
        }
        best: dict[str, list[tuple[float, ...]]] = {"document": [], "session": []}
        ceilings: dict[str, list[float]] = {"document": [], "session": []}
        for done, question in enumerate(dataset.questions, 1):
            found: set[str] = set()
            for name, ranker in rankers.items():
                ranking = ranker(question)
                found.update(ranking if name in ("lexical", "dense") else ())
                scores["document"][name].append(measures(ranking, question.documents))
                by_session = list(dict.fromkeys(session_of[document] for document in ranking))
                scores["session"][name].append(measures(by_session, question.sessions))
            for unit, by_system in scores.items():  # the first measure, nDCG@10, decides
                best[unit].append(max(by_system[name][-1] for name in by_system))
            in_sessions = {session_of[document] for document in found}
            ceilings["document"].append(len(question.documents & found) / len(question.documents))
            ceilings["session"].append(len(question.sessions & in_sessions) / len(question.sessions))
            progress(f"{dataset.name}: questions", done, len(dataset.questions))
    return {
        "dataset": dataset.name,
        "checksum": dataset.checksum,
        "documents": len(dataset.documents),
        "questions": len(dataset.questions),
        "units": {unit: _summary(by_system) for unit, by_system in scores.items()},
        "ceilings": {unit: asdict(interval(values)) for unit, values in ceilings.items()},
        "oracle": {unit: _means(rows) for unit, rows in best.items()},
        "embedder": index.embedder.name,
        "reranker": reranker,
    }


def fill(index: recall.Index, dataset: Dataset) -> None:
    """Take the documents in, as messages of their sessions, and embed them."""
    sessions: dict[tuple[str, str], list[recall.Message]] = {}
    for document in dataset.documents:
        messages = sessions.setdefault((document.group, document.session), [])
        messages.append(recall.Message("assistant", document.text, key=f"benchmark document {document.id}"))
    for done, ((group, session), messages) in enumerate(sessions.items(), 1):
        index.add(recall.Session(session, cwd=directory_of(group), messages=tuple(messages)))
        progress(f"{dataset.name}: sessions", done, len(sessions))
    index.embed(lambda done, total: progress(f"{dataset.name}: passages", done, total))


def directory_of(group: str) -> str:
    """A directory that stands for the repository of a group; it does not exist."""
    return f"/benchmark/{group}"


def _ranker(name: str, index: recall.Index, dataset: Dataset) -> Ranker:
    if name == "bm25s":
        return _bm25s(dataset)
    if name == "rrf":
        lexical, dense = _mode("lexical", index, dataset), _mode("dense", index, dataset)
        return lambda question: _fused([lexical(question), dense(question)])
    return _mode("lexical" if name == "lexical" else "dense" if name == "dense" else "hybrid", index, dataset)


def _mode(mode: Literal["lexical", "dense", "hybrid"], index: recall.Index, dataset: Dataset) -> Ranker:
    """The library in one of its modes, without grouping: judgements count every document."""
    numbers: dict[tuple[str, int], str] = {}
    counts: dict[str, int] = {}
    for document in dataset.documents:
        counts[document.session] = counts.get(document.session, 0) + 1
        numbers[document.session, counts[document.session]] = document.id

    def ranker(question: Question) -> list[str]:
        scope = recall.Scope.everywhere()
        if question.group:
            scope = recall.Scope.repository(directory_of(question.group))
        hits = index.search(question.text, scope, limit=DEPTH, mode=mode, per_session=None)
        refs = (hit.ref.rpartition(":") for hit in hits)
        return [numbers[session, int(number)] for session, _, number in refs]

    return ranker


def _bm25s(dataset: Dataset) -> Ranker:
    import bm25s

    groups: dict[str, list[int]] = {}
    for place, document in enumerate(dataset.documents):
        groups.setdefault(document.group, []).append(place)
        groups.setdefault("", []).append(place)
    wanted = {question.group for question in dataset.questions}
    engines = {}
    for group, places in groups.items():
        if group in wanted:
            engines[group] = bm25s.BM25()
            engines[group].index([_tokens(dataset.documents[place].text) for place in places], show_progress=False)

    def ranker(question: Question) -> list[str]:
        places = groups[question.group]
        found, scores = engines[question.group].retrieve(
            [_tokens(question.text)], k=min(DEPTH, len(places)), show_progress=False
        )
        pairs = zip(found[0], scores[0], strict=True)
        return [dataset.documents[places[int(place)]].id for place, score in pairs if score > 0]

    return ranker


def _tokens(text: str) -> list[str]:
    """Lower-case words; Chinese as pairs of characters. What data/README of the sets calls the baseline."""
    tokens = []
    for run in WORDS.findall(text.lower()):
        if run.isascii():
            tokens.append(run)
        else:
            tokens.extend([run[i : i + 2] for i in range(len(run) - 1)] or [run])
    return tokens


def _fused(rankings: Sequence[Sequence[str]]) -> list[str]:
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda name: -scores[name])


def _means(rows: Sequence[tuple[float, ...]]) -> dict[str, dict[str, float]]:
    columns = zip(*rows, strict=True)
    return {measure: asdict(interval(column)) for measure, column in zip(MEASURES, columns, strict=True)}


def _summary(by_system: dict[str, list[tuple[float, ...]]]) -> dict[str, Any]:
    baseline = by_system.get("bm25s")
    summary: dict[str, Any] = {}
    for name, rows in by_system.items():
        summary[name] = dict(_means(rows))
        if baseline is not None and name != "bm25s":
            summary[name]["p against bm25s"] = p_value([row[0] for row in rows], [row[0] for row in baseline])
    return summary


def table(result: dict[str, Any]) -> str:
    """A Markdown table of one data set's result."""
    lines = [f"\n### {result['dataset']} ({result['documents']} documents, {result['questions']} questions)"]
    for unit, systems in result["units"].items():
        lines += ["", f"| per {unit} | " + " | ".join(MEASURES) + " | p |", "|---" * (len(MEASURES) + 2) + "|"]
        for name, values in systems.items():
            cells = [f"{values[m]['mean']:.3f} ({values[m]['low']:.3f}–{values[m]['high']:.3f})" for m in MEASURES]
            chance = values.get("p against bm25s")
            lines.append(f"| {name} | {' | '.join(cells)} | {'' if chance is None else f'{chance:.4f}'} |")
    return "\n".join(lines)
