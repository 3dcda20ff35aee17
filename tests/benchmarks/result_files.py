"""What every result file and every printed table has to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import retrieval
from benchmarks.metrics import MEASURES


def read_result(path: Path) -> list[dict[str, Any]]:
    """Results of a file that says where they come from."""
    document = json.loads(path.read_text(encoding="utf-8"))
    assert set(document) - {"tables"} == {"provenance", "results"}
    assert set(document["provenance"]) == {"commit", "date", "python", "machine", "packages"}
    assert {"repo-recall", "bm25s"} <= set(document["provenance"]["packages"])
    results: list[dict[str, Any]] = document["results"]
    return results


def assert_interval(values: dict[str, float]) -> None:
    assert set(values) == {"mean", "low", "high"}
    # A mean of equal values can be off its interval by the last bit.
    assert -1e-9 <= values["low"] <= values["mean"] + 1e-9
    assert values["mean"] - 1e-9 <= values["high"] <= 1 + 1e-9


RESULT = ("dataset", "checksum", "documents", "questions", "units", "ceilings", "oracle", "embedder", "reranker")
"""What every result of the retrieval benchmark holds."""


def assert_units(result: dict[str, Any], *units: str) -> None:
    """Every system has every measure, each between 0 and 1."""
    assert tuple(result["units"]) == units
    for systems in result["units"].values():
        assert tuple(systems) == retrieval.SYSTEMS
        for name, values in systems.items():
            assert set(values) == {*MEASURES, *(() if name == "bm25s" else ("p against bm25s",))}
            assert 0 < values.get("p against bm25s", 1.0) <= 1
            for measure in MEASURES:
                assert_interval(values[measure])
    for unit, values in result["oracle"].items():
        best = max(systems["nDCG@10"]["mean"] for systems in result["units"].get(unit, {"": values}).values())
        assert values["nDCG@10"]["mean"] >= best - 1e-9, "the oracle is never behind a system"


def markdown_tables(text: str) -> list[list[str]]:
    """Rows of each table in the text; every row has as many cells as the header, and the second one is the rule."""
    tables: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("|"):
            if not inside:
                tables.append([])
            tables[-1].append(line)
        inside = line.startswith("|")
    for rows in tables:
        assert set(rows[1]) == {"|", "-"}
        assert {row.count("|") for row in rows} == {rows[0].count("|")}
    return tables
