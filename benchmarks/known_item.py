"""How well does recall find what is in your own archive?

    python -m benchmarks known-item [--limit N] [--out FILE]

The first thing a person said in a session is the query, the rest of that session is what should be found. The latest
sessions of the usual home, without these first messages, go into an index in memory; each query is asked of all of
them, which is harder than asking one repository. Systems and table are those of the benchmark `retrieval`, per session.
Nothing of the text is printed or written, only numbers.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import recall
from benchmarks import retrieval
from benchmarks.datasets import Dataset, Document, Question
from benchmarks.running import write_result

QUERY_CHARACTERS = 200
MESSAGES_MIN = 3
SIZE_MIN = 8
"""Of a query: a word counts two, a Chinese or Japanese character one."""

WINDOW = 200
"""Messages asked for at once."""
NUMBERS_TRIED = 20_000
"""Up to this number a message is looked for: those that a fork copied are another session's and leave gaps."""

FEW = f"fewer than {MESSAGES_MIN} messages"
NO_REQUEST = "nothing said by a person"
SHORT = "first request shorter than 4 words or 8 Chinese characters"
IDENTICAL = "first request identical to that of another session"

_CHARACTER = re.compile("[\u3040-\u9fff]")
_WORD = re.compile("[^\\W\u3040-\u9fff]+")
_HALF_WORD = re.compile(f"{_WORD.pattern}$")


@dataclass(frozen=True, slots=True)
class KnownItems:
    """An archive as a data set, and what became of its sessions."""

    dataset: Dataset
    read: int
    """Sessions in all. Those without a question are in the data set too: they may be found by mistake."""
    unused: dict[str, int]
    """Sessions that give no question, counted by the reason."""


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; prints the table and writes the result file. 1 where no session gives a question."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks known-item",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--limit", type=int, default=100, help="so many of the latest sessions (default: 100)")
    parser.add_argument("--out", type=Path, help="result file")
    options = parser.parse_args(arguments)
    if options.limit < 1:
        parser.error(f"--limit is {options.limit}; expected 1 or more")
    with recall.open() as index:
        items = read_archive(index, options.limit)
    print(account(items), flush=True)
    if not items.dataset.questions:
        print("nothing to measure; take sessions in with: recall ingest")
        return 1
    result = retrieval.evaluate(items.dataset, retrieval.SYSTEMS, None)
    del result["units"]["document"]  # which message of the session comes first is not judged
    result["sessions"] = {"read": items.read, "used": len(items.dataset.questions), "not used": items.unused}
    print(retrieval.table(result), flush=True)
    if options.out:
        write_result(options.out, {"results": [result]})
    return 0


def read_archive(index: recall.Index, limit: int) -> KnownItems:
    """The latest sessions of an archive, newest first, as a data set: a document a message, a question a session."""
    summaries = index.recent(recall.Scope.everywhere(), limit=limit)
    documents: list[Document] = []
    asked: dict[str, list[Question]] = {}
    unused: Counter[str] = Counter()
    for summary in summaries:
        messages = messages_of(index, summary)
        request = next((message.text for message in messages if message.role == "user"), "")
        rest = [
            Document(message.ref, message.text, summary.repository or "outside every repository", summary.id)
            for message in messages
            if message.text != request
        ]
        documents += rest
        query = query_of(request)
        reason = why_not(query, len(rest) + 1)
        if reason:
            unused[reason] += 1
            continue
        relevant = frozenset(document.id for document in rest)
        asked.setdefault(query.casefold(), []).append(
            Question(summary.id, query, group="", documents=relevant, sessions=frozenset({summary.id}))
        )
    for same in asked.values():
        if len(same) > 1:
            unused[IDENTICAL] += len(same)
    questions = tuple(same[0] for same in asked.values() if len(same) == 1)
    # Of the places of the messages, not of their text: the result file may be shown to others.
    checksum = hashlib.sha256("\n".join(document.id for document in documents).encode("utf-8")).hexdigest()[:16]
    dataset = Dataset("known-item", checksum, tuple(documents), questions)
    return KnownItems(dataset, len(summaries), dict(unused))


def messages_of(index: recall.Index, summary: recall.SessionSummary) -> list[recall.ShownMessage]:
    """What was said and done in a session, in order, without what it copied from another and without subagents."""
    messages: list[recall.ShownMessage] = []
    number = 1
    while len(messages) < summary.message_count and number <= NUMBERS_TRIED:
        try:
            messages += index.show(f"{summary.id}:{number}", before=0, after=WINDOW)
        except recall.NotFoundError:
            number += 1
        else:
            number = messages[-1].number + 1
    return [message for message in messages if message.text.strip() and not message.subagent]


def query_of(request: str) -> str:
    """A request on one line, cut to QUERY_CHARACTERS at the end of a word."""
    line = " ".join(request.split())
    query = line[:QUERY_CHARACTERS]
    if _WORD.match(line, QUERY_CHARACTERS):
        query = _HALF_WORD.sub("", query) or query
    return query.strip()


def why_not(query: str, messages: int) -> str:
    """Why a session of so many messages gives no question; empty where it gives one."""
    if not query:
        return NO_REQUEST
    if messages < MESSAGES_MIN:
        return FEW
    size = 2 * len(_WORD.findall(query)) + len(_CHARACTER.findall(query))
    return SHORT if size < SIZE_MIN else ""


def account(items: KnownItems) -> str:
    """What became of the sessions, as lines of Markdown."""
    lines = [f"{items.read} sessions read, {len(items.dataset.questions)} of them used. Not used:", ""]
    lines += [f"- {count}: {reason}" for reason, count in items.unused.items()] or ["- none"]
    return "\n".join(lines)
