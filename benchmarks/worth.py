"""What is worth a vector?

    python -m benchmarks worth --sessions FOLDER [--commits QUERIES.jsonl] [--sample N] [--out FILE]

The transcripts below FOLDER are taken in, and their messages go into one index for each rule of what gets a vector;
what gets none is found by its words in all of them. Two kinds of questions are asked of all sessions and judged per
session: `request`, the first thing a person said, which is taken out of its session (as in the benchmark known-item),
and `commit`, the subject of a commit that a session led to: QUERIES.jsonl names it and its checkpoint, which is in the
name of the transcript too. Commands that commit are left out of the sessions, and the subjects wherever they stand.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

import recall
from benchmarks.known_item import messages_of, query_of, why_not
from benchmarks.metrics import interval, measures, p_value
from benchmarks.running import progress, write_result

DEPTH = 100
MODES: tuple[Literal["hybrid", "dense"], ...] = ("hybrid", "dense")

_SESSION = re.compile(r'"sessionId": ?"([^"]+)"')

Rule = Callable[[recall.ShownMessage], bool]


def is_said(message: recall.ShownMessage) -> bool:
    """Whether a person or the assistant said it: the rule of the library."""
    return message.role != "tool"


def has_words(least: int) -> Rule:
    """Said, and of so many words at least; a Chinese character is a word."""

    def rule(message: recall.ShownMessage) -> bool:
        chinese = sum("\u3400" <= character <= "\u9fff" for character in message.text)
        return is_said(message) and chinese + len(message.text.split()) >= least

    return rule


RULES: dict[str, Rule] = {
    "what was said": is_said,
    "said, 3 words or more": has_words(3),
    "said, 6 words or more": has_words(6),
    "what was said, and what tools did": lambda message: True,
}


class Remembering:
    """The embedder of an index, which computes each text once for all rules."""

    def __init__(self, embedder: Any) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.max_tokens: int = embedder.max_tokens
        self.token_spans: Callable[[str], Sequence[tuple[int, int]]] = embedder.token_spans
        self.readable_share: Callable[[str], float] = embedder.readable_share
        self._embedder = embedder
        self._known: dict[str, Any] = {}

    def embed_passages(self, texts: Sequence[str]) -> Any:
        new = [text for text in texts if text not in self._known]
        self._known.update(zip(new, self._embedder.embed_passages(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def embed_query(self, text: str) -> Any:
        return self._embedder.embed_query(text)


@dataclass(frozen=True, slots=True)
class Asked:
    kind: str
    text: str
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sessions:
    """Id to messages, without what the questions would give away, and the questions."""

    messages: dict[str, tuple[recall.ShownMessage, ...]]
    questions: tuple[Asked, ...]


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; prints the table and writes the result file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks worth", description=__doc__)
    parser.add_argument("--sessions", type=Path, required=True, metavar="FOLDER", help="folder with transcripts")
    parser.add_argument("--commits", type=Path, metavar="QUERIES.jsonl", help="commits and their checkpoints")
    parser.add_argument("--sample", type=int, default=0, help="about so many sessions, spread over all; 0 takes all")
    parser.add_argument("--out", type=Path, help="result file")
    options = parser.parse_args(arguments)
    sessions = read(options.sessions, options.commits, options.sample)
    with recall.open(":memory:") as index:
        embedder = Remembering(index.embedder)
    results = [evaluate(name, rule, sessions, embedder) for name, rule in RULES.items()]
    text = table(results, sessions)
    print(text, flush=True)
    if options.out:
        for result in results:
            del result["scores"]
        write_result(options.out, {"tables": [text], "results": results})
    return 0


def read(folder: Path, commits: Path | None = None, sample: int = 0) -> Sessions:
    """The sessions below a folder, without subagents, and the questions that they answer."""
    with recall.open(":memory:") as index:
        index.ingest([folder])
        summaries = sorted(index.recent(recall.Scope.everywhere(), limit=100_000), key=lambda summary: summary.id)
        summaries = summaries[:: max(1, len(summaries) // sample)] if sample else summaries
        messages = {summary.id: messages_of(index, summary) for summary in summaries}
    questions = _requests(messages)
    subjects = _commits(folder, commits, set(messages)) if commits else []
    kept = {name: tuple(_without_commits(some, [asked.text for asked in subjects])) for name, some in messages.items()}
    return Sessions(kept, (*questions, *subjects))


def _requests(messages: dict[str, list[recall.ShownMessage]]) -> list[Asked]:
    """The questions that are no other session's too; what they ask with is taken out of `messages`."""
    found: dict[str, list[Asked]] = {}
    for name, some in messages.items():
        request = next((message.text for message in some if message.role == "user"), "")
        some[:] = [message for message in some if message.text != request]
        query = query_of(request)
        if not why_not(query, len(some) + 1):
            found.setdefault(query.casefold(), []).append(Asked("request", query, frozenset({name})))
    return [same[0] for same in found.values() if len(same) == 1]


def _commits(folder: Path, queries: Path, names: set[str]) -> list[Asked]:
    sessions: dict[str, set[str]] = {}
    for path in folder.rglob("??-??????????-*.jsonl"):
        ids = set(_SESSION.findall(path.read_text(encoding="utf-8")))
        sessions.setdefault(path.name[:13].replace("-", ""), set()).update(ids & names)
    asked = []
    with queries.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            relevant = sessions.get(record["metadata"].get("checkpoint", ""))
            if relevant and record["metadata"].get("subset") == "specific":
                asked.append(Asked("commit", record["text"], frozenset(relevant)))
    return asked


def _without_commits(messages: list[recall.ShownMessage], subjects: list[str]) -> list[recall.ShownMessage]:
    kept = []
    for message in messages:
        if message.role == "tool" and ("git commit" in message.text or "gh pr create" in message.text):
            continue
        text = message.text
        for subject in subjects:
            text = text.replace(subject, "…")
        kept.append(replace(message, text=text))
    return kept


def evaluate(name: str, rule: Rule, sessions: Sessions, embedder: recall.Embedder) -> dict[str, Any]:
    """Measures of a rule, and what it costs."""
    scores: dict[str, list[float]] = {}
    with recall.open(":memory:", embedder) as index:
        for done, (session, messages) in enumerate(sessions.messages.items(), 1):
            index.add(recall.Session(session, messages=tuple(_ruled(message, rule) for message in messages)))
            progress(f"{name}: sessions", done, len(sessions.messages))
        without = index.counts()["without_vector"]
        index.embed(lambda done, total: progress(f"{name}: passages", done, total))
        for done, question in enumerate(sessions.questions, 1):
            for mode in MODES:
                hits = index.search(question.text, recall.Scope.everywhere(), DEPTH, mode, per_session=None)
                ranking = list(dict.fromkeys(hit.session.id for hit in hits))
                score = measures(ranking, question.sessions)[0]
                scores.setdefault(f"{question.kind}, {mode}", []).append(score)
            progress(f"{name}: questions", done, len(sessions.questions))
        passages = index.counts()["passages"]
    return {
        "rule": name,
        "vectors": without,
        "passages": passages,
        "nDCG@10": {kind: asdict(interval(values)) for kind, values in scores.items()},
        "scores": scores,
    }


def _ruled(message: recall.ShownMessage, rule: Rule) -> recall.Message:
    """A message that gets a vector if the rule says so: one of a tool gets none, one of the assistant does."""
    role = message.role
    if rule(message) != is_said(message):
        role = "assistant" if rule(message) else "tool"
    return recall.Message(role, message.text, key=f"benchmark message {message.ref}")


def table(results: Sequence[dict[str, Any]], sessions: Sessions) -> str:
    """A Markdown table: vectors, and nDCG@10 of each kind of question with its distance from the first rule."""
    kinds = list(results[0]["scores"])
    counts = {kind: len(results[0]["scores"][kind]) for kind in kinds}
    heads = " | ".join(f"{kind} ({counts[kind]})" for kind in kinds)
    lines = [f"| what gets a vector | vectors | {heads} |", "|---" * (2 + len(kinds)) + "|"]
    for result in results:
        cells = []
        for kind in kinds:
            mine, first = result["scores"][kind], results[0]["scores"][kind]
            cell = f"{result['nDCG@10'][kind]['mean']:.3f}"
            if result is not results[0]:
                lost = interval([a - b for a, b in zip(mine, first, strict=True)])
                cell += f", {lost.mean:+.3f} ({lost.low:+.3f} to {lost.high:+.3f}, p {p_value(mine, first):.2f})"
            cells.append(cell)
        lines.append(f"| {result['rule']} | {result['vectors']:,} | {' | '.join(cells)} |")
    return "\n".join([f"{len(sessions.messages)} sessions.", "", *lines])
