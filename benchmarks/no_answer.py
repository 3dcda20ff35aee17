"""Does `confidence` know when there is nothing to find?

    python -m benchmarks no-answer --data FOLDER[:JUDGEMENTS[:own]] … [--sample N] [--cache DIR] [--out FILE]

Each question is asked twice, through the public API with its defaults: where the answer is (answered), and where it is
not (unanswered). A set marked `own` is asked in the question's own group, then in the scope of the next group in the
order of the corpus. Any other set is asked of everything, then in the index of another data set: the next one in the
order given, and the first after the last, whose questions are in the same language. So such a set needs a second one:
a Chinese question in an English index would be no test. That a question has no answer elsewhere is assumed, not judged:
the rate of false recall is an upper bound.

False recall: unanswered, marked strong. Missed: answered, marked none. Not strong: answered, marked weak or none.
Rates are means over questions with 95% bootstrap intervals (benchmarks/metrics.py).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import recall
from benchmarks.datasets import Dataset, Question, load
from benchmarks.metrics import interval
from benchmarks.retrieval import directory_of, fill
from benchmarks.running import DATA, data_argument, progress, write_result

CONFIDENCES = ("strong", "weak", "none")
RATES = {
    "false recall": ("unanswered", ("strong",)),
    "missed": ("answered", ("none",)),
    "not strong": ("answered", ("weak", "none")),
}
"""Name of a rate to the questions it is of, and the confidences it counts."""

_HAN = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the questions of a data set are asked."""

    name: str
    index: recall.Index
    scope_of: Callable[[Question], recall.Scope]


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; prints tables and writes the result file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks no-answer",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", action="append", required=True, type=data_argument, metavar=DATA)
    parser.add_argument("--sample", type=int, default=0, help="about so many questions a set")
    parser.add_argument("--cache", type=Path, help="folder that keeps the indexes between runs")
    parser.add_argument("--out", type=Path, help="result file")
    options = parser.parse_args(arguments)
    datasets, judged = [], []
    for data in options.data:
        folder, judgements, own = data
        judged.append(judgements)
        datasets.append(load(folder, judgements, own, options.sample))
    for place in range(len(datasets)):
        if problem := why_not(datasets, place):
            parser.error(problem)
    results: list[dict[str, Any]] = []
    with ExitStack() as stack:
        indexes = [stack.enter_context(filled(dataset, options.cache)) for dataset in datasets]
        for place, dataset in enumerate(datasets):
            result = evaluate(dataset, *places(datasets, indexes, place))
            result["judgements"] = judged[place]
            print(table(result), flush=True)
            results.append(result)
    if options.out:
        write_result(options.out, {"results": results, "tables": [table(result).strip() for result in results]})
    return 0


def filled(dataset: Dataset, cache: Path | None) -> recall.Index:
    """An open index of the data set; in the cache, the one that the benchmark `retrieval` keeps there."""
    index = recall.open(cache / f"{dataset.name}-{dataset.checksum}" if cache else ":memory:")
    fill(index, dataset)
    return index


def why_not(datasets: Sequence[Dataset], place: int) -> str:
    """Why the data set at that place of the list has nowhere without an answer; empty where it has."""
    dataset = datasets[place]
    if not dataset.questions:
        return f"{dataset.name} has no judged question"
    if is_scoped(dataset):
        return "" if len(_groups(dataset)) > 1 else f"{dataset.name} has one group; expected two, or leave out :own"
    if other_set(datasets, place) is None:
        return f"{dataset.name} needs another data set whose questions are in the same language; name one with --data"
    return ""


def places(datasets: Sequence[Dataset], indexes: Sequence[recall.Index], place: int) -> tuple[Place, Place]:
    """(where its answers are, where they are not) for the data set at that place of the list."""
    dataset, index = datasets[place], indexes[place]
    if is_scoped(dataset):
        groups = _groups(dataset)
        following = dict(zip(groups, groups[1:] + groups[:1], strict=True))
        return (
            Place("own group", index, lambda question: _scope(question.group)),
            Place("next group", index, lambda question: _scope(following[question.group])),
        )
    other = other_set(datasets, place)
    assert other is not None
    return (
        Place(dataset.name, index, lambda _: recall.Scope.everywhere()),
        Place(datasets[other].name, indexes[other], lambda _: recall.Scope.everywhere()),
    )


def is_scoped(dataset: Dataset) -> bool:
    """Whether each question is asked in a group."""
    return all(question.group for question in dataset.questions)


def other_set(datasets: Sequence[Dataset], place: int) -> int | None:
    """Place of the next other data set, cyclically, with questions in the same language; None where there is none."""
    dataset = datasets[place]
    following = [*range(place + 1, len(datasets)), *range(place)]
    return next(
        (
            other
            for other in following
            if datasets[other].name != dataset.name and _is_chinese(datasets[other]) == _is_chinese(dataset)
        ),
        None,
    )


def evaluate(dataset: Dataset, answered: Place, unanswered: Place) -> dict[str, Any]:
    """Shares of the confidences of a data set's questions, asked in two places; and what each question was given."""
    given = {
        kind: confidences(dataset, place, f"{dataset.name}: {kind}")
        for kind, place in (("answered", answered), ("unanswered", unanswered))
    }
    return {
        "dataset": dataset.name,
        "checksum": dataset.checksum,
        "questions": len(dataset.questions),
        "asked in": {"answered": answered.name, "unanswered": unanswered.name},
        "shares": {
            kind: {confidence: _share(values, (confidence,)) for confidence in CONFIDENCES}
            for kind, values in given.items()
        },
        "rates": {name: _share(given[kind], counted) for name, (kind, counted) in RATES.items()},
        "confidence": given,
    }


def confidences(dataset: Dataset, place: Place, what: str) -> dict[str, str]:
    """Question id to the confidence of its result in that place."""
    given = {}
    for done, question in enumerate(dataset.questions, 1):
        given[question.id] = str(place.index.search(question.text, place.scope_of(question)).confidence)
        progress(what, done, len(dataset.questions))
    return given


def table(result: dict[str, Any]) -> str:
    """Two Markdown tables of one data set's result: the shares of the confidences, and the rates of error."""
    lines = [f"\n### {result['dataset']} ({result['questions']} questions)", ""]
    lines += ["| | asked in | " + " | ".join(CONFIDENCES) + " |", "|---" * (len(CONFIDENCES) + 2) + "|"]
    for kind, shares in result["shares"].items():
        cells = " | ".join(_cell(shares[confidence]) for confidence in CONFIDENCES)
        lines.append(f"| {kind} | {result['asked in'][kind]} | {cells} |")
    lines += ["", "| " + " | ".join(RATES) + " |", "|---" * len(RATES) + "|"]
    lines.append("| " + " | ".join(_cell(result["rates"][name]) for name in RATES) + " |")
    return "\n".join(lines)


def _share(given: Mapping[str, str], counted: Sequence[str]) -> dict[str, float]:
    return asdict(interval([float(confidence in counted) for confidence in given.values()]))


def _cell(values: Mapping[str, float]) -> str:
    return f"{values['mean']:.3f} ({values['low']:.3f}–{values['high']:.3f})"


def _groups(dataset: Dataset) -> list[str]:
    return list(dict.fromkeys(document.group for document in dataset.documents))


def _scope(group: str) -> recall.Scope:
    return recall.Scope.repository(directory_of(group))


def _is_chinese(dataset: Dataset) -> bool:
    """Whether most questions hold a Chinese character."""
    return 2 * sum(bool(_HAN.search(question.text)) for question in dataset.questions) > len(dataset.questions)
