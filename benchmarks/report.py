"""The tables of benchmarks/README.md, made from the result files beside it.

    python -m benchmarks report

A table stands between `<!-- NAME.json -->` and `<!-- end -->`; a test holds both together.
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

_TABLE = re.compile(r"(<!-- ([\w-]+\.json) -->\n).*?(<!-- end -->)", re.DOTALL)


def main(arguments: Sequence[str]) -> int:
    """Rewrite the tables of the README."""
    del arguments
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


def filled(text: str) -> str:
    """`text` with each table made anew from its result file."""
    return _TABLE.sub(lambda match: f"{match[1]}{_tables(RESULTS / match[2])}\n{match[3]}", text)


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
    heads = ["data set", "unit", "questions", *systems, "oracle", "in the candidates"]
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
            oracle = result["oracle"][unit]
            cells.append(f"{oracle['nDCG@10']['mean']:.3f} / {oracle['recall@10']['mean']:.3f}")
            cells.append(f"{result['ceilings'][unit]['mean']:.3f}")
            lines.append(f"| {result['dataset']} | {unit} | {result['questions']} | {' | '.join(cells)} |")
    return "\n".join(lines)
