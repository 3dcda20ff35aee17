"""The tables of benchmarks/README.md, made from the result files beside it.

    python -m benchmarks report

A table stands between `<!-- NAME.json -->` and `<!-- end -->`, that of the targets between `<!-- targets -->` and
`<!-- end -->`; a test holds them together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
README = FOLDER / "README.md"
RESULTS = FOLDER / "results"

_TABLE = re.compile(r"(<!-- ([\w-]+\.json|targets) -->\n).*?(<!-- end -->)", re.DOTALL)

TARGETS = (
    ("locomo", "document", "nDCG@10", 0.60),
    ("locomo", "document", "recall@10", 0.78),
    ("locomo", "session", "MRR@10", 0.88),
    ("locomo", "session", "success@5", 0.96),
    ("sess-entire-commit", "session", "nDCG@10", 0.79),
    ("sess-entire-commit", "session", "recall@10", 0.91),
    ("sess-specstory", "session", "nDCG@10", 0.70),
    ("sess-specstory", "session", "recall@10", 0.90),
    ("cosqa", "document", "nDCG@10", 0.61),
    ("cosqa", "document", "recall@10", 0.83),
    ("zh-commit2diff", "document", "nDCG@10", 0.36),
    ("zh-commit2diff", "document", "recall@10", 0.50),
    ("cmrc2018-zh", "document", "nDCG@10", 0.978),
    ("cmrc2018-zh", "document", "recall@10", 0.995),
)
"""What the project asks of hybrid: data set, unit, measure, at least."""


def main(arguments: Sequence[str]) -> int:
    """Rewrite the tables of the README."""
    del arguments
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


def filled(text: str) -> str:
    """`text` with each table made anew from its result file."""
    return _TABLE.sub(lambda match: f"{match[1]}{_between(match[2])}\n{match[3]}", text)


def _between(name: str) -> str:
    return _targets() if name == "targets" else _tables(RESULTS / name)


def _targets() -> str:
    """Each target, what hybrid reached with its 95% interval, and what the oracle would."""
    results = {
        result["dataset"]: result
        for name in ("retrieval.json", "retrieval-chinese.json")
        for result in json.loads((RESULTS / name).read_text(encoding="utf-8"))["results"]
    }
    lines = ["", "| data set | unit | measure | target | hybrid | | oracle |", "|---|---|---|---|---|---|---|"]
    for dataset, unit, measure, target in TARGETS:
        values = results[dataset]["units"][unit]["hybrid"][measure]
        verdict = "met" if values["mean"] >= target else "in the interval" if values["high"] >= target else "missed"
        reached = f"{values['mean']:.3f} ({values['low']:.3f}–{values['high']:.3f})"
        oracle = results[dataset]["oracle"][unit][measure]["mean"]
        lines.append(f"| {dataset} | {unit} | {measure} | {target} | {reached} | {verdict} | {oracle:.3f} |")
    return "\n".join([*lines, ""])


def _tables(path: Path) -> str:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    made = document["provenance"]
    tables = document["tables"] if "tables" in document else [_headline(document["results"])]
    packages = ", ".join(f"{name} {version}" for name, version in made["packages"].items() if name != "repo-recall")
    foot = f"Commit {made['commit'][:10]}, {made['date']}, Python {made['python']}, {made['machine']}; {packages}."
    return "\n\n".join(["", *tables, foot, ""])


def _headline(results: Sequence[dict[str, Any]]) -> str:
    """nDCG@10 with half its 95% interval, and recall@10, of each system and the oracle; a row a data set and unit."""
    systems = list(results[0]["units"]["document"])
    compared = len(systems) > 1  # an oracle needs something to choose from
    heads = ["data set", "unit", "questions", *systems, *(("oracle", "in the candidates") if compared else ())]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for result in results:
        for unit in ("document", "session"):
            values = result["units"][unit]
            if unit == "session" and values == result["units"]["document"]:
                continue  # every document is a session of its own
            cells = []
            best = max(values[name]["nDCG@10"]["mean"] for name in systems)
            for name in systems:
                ndcg, recall = values[name]["nDCG@10"], values[name]["recall@10"]
                number = f"{ndcg['mean']:.3f}"
                number = f"**{number}**" if ndcg["mean"] == best else number
                cells.append(f"{number} ±{(ndcg['high'] - ndcg['low']) / 2:.3f} / {recall['mean']:.3f}")
            if compared:
                oracle = result["oracle"][unit]
                cells.append(f"{oracle['nDCG@10']['mean']:.3f} / {oracle['recall@10']['mean']:.3f}")
                cells.append(f"{result['ceilings'][unit]['mean']:.3f}")
            lines.append(f"| {result['dataset']} | {unit} | {result['questions']} | {' | '.join(cells)} |")
    return "\n".join(lines)
