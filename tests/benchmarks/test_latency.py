from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from result_files import markdown_tables

from benchmarks import latency, word_vectors
from benchmarks.vocabulary import english, of


def test_every_system_is_timed_and_the_coarse_search_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = of(english().words[:60])
    monkeypatch.setattr(word_vectors, "english", lambda: few)
    monkeypatch.setattr(word_vectors, "chinese", lambda: few)
    out = tmp_path / "latency.json"
    assert latency.main(["--passages", "300", "--questions", "4", "--out", str(out)]) == 0
    results: dict[str, list[dict[str, Any]]] = json.loads(out.read_text(encoding="utf-8"))["results"]
    document = results["systems"]
    assert [row["system"] for row in document] == [
        "repository, hybrid", "everywhere, hybrid", "everywhere, by words", "everywhere, by meaning", "numpy product",
        "bm25s",
    ]  # fmt: skip
    assert all(0 < row["p50"] <= row["p95"] for row in document)
    (recalls,) = [row["recall@50"] for row in document if row["recall@50"] is not None]
    assert recalls > 0.9  # all are compared here: only the 8 bits of the vectors differ
    systems, ways = markdown_tables(capsys.readouterr().out)
    assert len(systems) == 2 + len(document)
    assert len(ways) > 2
