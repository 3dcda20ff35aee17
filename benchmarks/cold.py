"""How long does a command take from the shell, until it has printed its answer and ended?

    python -m benchmarks cold --out benchmarks/results/cold.json

Invented sessions of Claude Code are written to a temporary folder, taken in and embedded; then whole commands run in
turn, with the bare interpreter and `import numpy` among them, so that a busy moment hits all alike. The seconds tell of
the machine too, their ratio to the bare interpreter of the program.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import recall
from benchmarks.demo.claude_code import transcript, transcript_name
from benchmarks.demo.scripts import Script, Step
from benchmarks.running import progress, write_result

SEED = 5
TURNS = 8
"""A request, a command and an answer each."""
SYLLABLES = ["ka", "lo", "mi", "ren", "tas", "vo", "du", "pel", "qui", "sor", "bra", "nex"]
BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)

QUESTION = "why did the lantern service lose its sessions after the restart"

BARE = "python -c pass"
NUMPY = 'python -c "import numpy"'
COMMANDS: Mapping[str, tuple[Sequence[str], float | None]] = {
    BARE: (["-c", "pass"], None),
    NUMPY: (["-c", "import numpy"], None),
    "recall --help": (["-m", "recall", "--help"], 0.3),
    "recall search --mode lexical": (["-m", "recall", "search", "--mode", "lexical", QUESTION], 0.35),
    "recall search": (["-m", "recall", "search", QUESTION], 1.0),
    "recall recent": (["-m", "recall", "recent"], None),
    "recall status": (["-m", "recall", "status"], None),
    "recall redact": (["-m", "recall", "redact", "-"], None),
}
"""Arguments of the interpreter by what a person would type, and the most seconds the project allows."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table and write the result file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks cold", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=150, help="invented sessions (default: 150)")
    parser.add_argument("--rounds", type=int, default=15, help="how often each command runs (default: 15)")
    parser.add_argument("--out", type=Path, help="result file")
    options = parser.parse_args(arguments)
    if options.sessions < 1 or options.rounds < 1:
        parser.error("--sessions and --rounds must be 1 or more")
    with tempfile.TemporaryDirectory(prefix="recall-cold-") as folder:
        root = Path(folder).resolve()
        environment = prepared(root, options.sessions)
        held = archive(root, environment)
        seconds = measured(root / "work", environment, options.rounds)
    result = {"archive": held, "rounds": options.rounds, "commands": {name: summary(seconds, name) for name in seconds}}
    print(table(result), flush=True)
    if options.out:
        write_result(options.out, {"results": [result], "tables": [table(result)]})
    return 0


def prepared(root: Path, sessions: int) -> dict[str, str]:
    """The environment of a person with so many sessions below `root`, which are written there."""
    work = root / "work"
    (work / ".git").mkdir(parents=True)
    (work / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    for script in scripts(sessions):
        path = root / "claude" / "projects" / transcript_name(script, work)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in transcript(script, work))
        path.write_text("".join(lines), encoding="utf-8")
    own = {
        "RECALL_HOME": str(root / "home"),
        "CLAUDE_CONFIG_DIR": str(root / "claude"),
        "CODEX_HOME": str(root / "codex"),
        "PYTHONPATH": str(Path(recall.__file__).parents[1]),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONDONTWRITEBYTECODE": "",  # an installed package is compiled once, and so is this one, in the first turn
    }
    return {**os.environ, **own}


def scripts(count: int) -> Iterator[Script]:
    """Invented sessions, the same each time, of words that follow Zipf's law roughly."""
    words = random.Random(SEED)
    known = QUESTION.split() + ["".join(words.choices(SYLLABLES, k=words.randint(2, 4))) for _ in range(4_000)]
    weights = [1 / place for place in range(5, 5 + len(known))]

    def said(longest: int) -> str:
        return " ".join(words.choices(known, weights, k=words.randint(6, longest)))

    for number in range(count):
        turns = tuple(
            (Step("user", f"{said(12)}?"), Step("run", said(8), said(60)), Step("assistant", f"{said(25)}."))
            for _ in range(TURNS)
        )
        begin = BEGIN + timedelta(hours=number)
        yield Script(f"cold-{number}", "claude", "work", "", "main", begin, said(8), turns)


def archive(root: Path, environment: Mapping[str, str]) -> dict[str, int]:
    """Take the sessions in and embed them; what is then in the archive."""
    with recall.open(environment["RECALL_HOME"]) as index:
        index.ingest(root / "claude" / "projects")
        index.embed(lambda done, total: progress("passages embedded:", done, total))
        counts = index.counts()
        return {"sessions": counts["sessions"], "passages": counts["passages"]}


def measured(work: Path, environment: Mapping[str, str], rounds: int) -> dict[str, list[float]]:
    """Seconds of each run of each command, in turn. The first turn, which compiles, is left out."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for done in range(rounds + 1):
        for name, (arguments, _) in COMMANDS.items():
            began = perf_counter()
            ran = subprocess.run(
                [sys.executable, *arguments], cwd=work, env=environment, input=QUESTION.encode(), capture_output=True
            )
            if done:
                seconds[name].append(perf_counter() - began)
            if ran.returncode:
                raise RuntimeError(f"{name} ended with {ran.returncode}: {ran.stderr.decode('utf-8', 'replace')}")
        progress("rounds:", done, rounds)
    return seconds


def summary(seconds: Mapping[str, Sequence[float]], name: str) -> dict[str, Any]:
    """Median and range of a command, and its median in those of the bare interpreter."""
    own = sorted(seconds[name])
    return {
        "median": round(median(own), 4),
        "fastest": round(own[0], 4),
        "slowest": round(own[-1], 4),
        "times bare": round(median(own) / median(seconds[BARE]), 2),
        "target": COMMANDS[name][1],
    }


def table(result: Mapping[str, Any]) -> str:
    """The commands of a result as Markdown."""
    lines = ["| command | median, s | range, s | × bare interpreter | target, s |", "|---|---|---|---|---|"]
    for name, one in result["commands"].items():
        target = (
            "" if one["target"] is None else f"{one['target']} {'met' if one['median'] <= one['target'] else 'missed'}"
        )
        spread = f"{one['fastest']:.3f}–{one['slowest']:.3f}"
        lines.append(f"| `{name}` | {one['median']:.3f} | {spread} | {one['times bare']:.1f} | {target} |")
    held = result["archive"]
    return "\n".join(
        [*lines, "", f"{held['sessions']} sessions, {held['passages']} passages; {result['rounds']} runs each."]
    )
