"""Data sets in BEIR form: corpus.jsonl, queries.jsonl and a table of judgements.

`metadata.group` of a document is its repository, `metadata.session` its session; a document without a session is one of
its own. Format: https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    text: str
    group: str
    session: str


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    group: str
    """Empty where the question is asked of everything."""
    documents: frozenset[str]
    """Ids of the documents that answer it."""
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    checksum: str
    """SHA-256 of the files read, shortened."""
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


def load(folder: Path, judgements: str = "qrels.tsv", scoped: bool = False, sample: int = 0) -> Dataset:
    """The data set in a folder. scoped: whether a question is asked in its own group only. sample: every how many-th
    question is taken so that about this many are, spread over all; 0 takes all.
    """
    digest = hashlib.sha256()
    documents = tuple(
        Document(
            id=record["_id"],
            text="\n".join(part for part in (record.get("title", ""), record["text"]) if part),
            group=record.get("metadata", {}).get("group") or folder.name,
            session=record.get("metadata", {}).get("session") or record["_id"],
        )
        for record in _records(folder / "corpus.jsonl", digest)
    )
    session_of = {document.id: document.session for document in documents}
    queries = {record["_id"]: record for record in _records(folder / "queries.jsonl", digest)}
    relevant: dict[str, set[str]] = {}
    for line in _lines(folder / judgements, digest):
        query, document, score = line.split("\t")
        if score.strip() != "0" and query in queries and document in session_of:
            relevant.setdefault(query, set()).add(document)
    step = max(1, len(relevant) // sample) if sample else 1
    questions = tuple(
        Question(
            id=query,
            text=queries[query]["text"],
            group=queries[query].get("metadata", {}).get("group", "") if scoped else "",
            documents=frozenset(found),
            sessions=frozenset(session_of[document] for document in found),
        )
        for query, found in list(relevant.items())[::step]
    )
    return Dataset(folder.name, digest.hexdigest()[:16], documents, questions)


def _records(path: Path, digest: Any) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            digest.update(line)
            yield json.loads(line)


def _lines(path: Path, digest: Any) -> Iterator[str]:
    with path.open("rb") as file:
        next(file)
        for line in file:
            digest.update(line)
            yield line.decode("utf-8")
