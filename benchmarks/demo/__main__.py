"""`python -m benchmarks.demo`: invented sessions and real searches, in a home that is gone afterwards."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from benchmarks.demo.build import write_sessions
from benchmarks.demo.scripts import FAKE_PASSWORD, FAKE_TOKEN
from benchmarks.demo.surroundings import DemoError, environment_of, make_repositories, output_of

TRANSCRIPTS = "<folder with the transcripts>"
FIRST_HIT = "<ref of the first hit>"
PART_OF_TOKEN = FAKE_TOKEN[10:28]


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the demo."""

    title: str
    directory: str
    """Where it runs: a repository or a worktree of the demo; empty for the folder around them."""
    arguments: tuple[str, ...]


def search(title: str, query: str, *options: str, directory: str = "shop") -> Step:
    """A step that searches."""
    return Step(title, directory, ("search", query, *options, "--limit", "2"))


FIRST_SEARCH = search("In other words than the session's", "why did that test only break once in a while?")
STEPS = [
    Step("Take in the sessions of both agents", "", ("ingest", TRANSCRIPTS)),
    Step("Prepare search by meaning", "", ("embed",)),
    FIRST_SEARCH,
    Step("What was said around the first hit", "shop", ("show", FIRST_HIT, "--before", "1", "--after", "1")),
    search("用中文问", "这个仓库之前 hooks 怎么设计的"),
    search("用中文问一个英文会话：靠其中的标识符", "PaymentTimeout 是怎么解决的"),
    search("用中文问一个英文会话：问题里一个英文词也没有", "迁移为什么锁住了订单表"),
    search("An error message, pasted", "psycopg.errors.LockNotAvailable: canceling statement due to lock timeout"),
    search(
        "A file name; the linked worktree knows what the main checkout does",
        "ratelimit.py",
        directory="shop-fix",
    ),
    search("Only the repository notes knows this, and the scope does not widen", "merge notes edited offline"),
    search("The same question, asked of everything", "merge notes edited offline", "--all"),
    search("The middle of a token that someone pasted", PART_OF_TOKEN, "--mode", "lexical"),
    Step("The latest sessions of this repository", "shop", ("recent",)),
    Step("What is stored", "shop", ("status",)),
]


def main() -> int:
    """0 after the whole demo, 1 with a message where a step failed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A console with a legacy code page cannot show the Chinese lines; it must not stop the demo.
            stream.reconfigure(encoding="utf-8", errors="replace")
    with tempfile.TemporaryDirectory(prefix="recall-demo-") as folder:
        # Resolved, because git reports the real path and macOS keeps its temporary files behind a link.
        root = Path(folder).resolve()
        try:
            run_demo(root)
        except (DemoError, OSError) as error:
            print(f"\ndemo: {error}", file=sys.stderr)
            return 1
    print(f"\nNothing of yours was read or changed, and the temporary home {root} is gone.")
    return 0


def run_demo(root: Path) -> None:
    """Makes repositories and sessions below `root`, runs every step; DemoError at the first that fails."""
    environment = environment_of(root, os.environ)
    (root / "user").mkdir()
    make_repositories(root, environment)
    write_sessions(root / "agents", root / "shop", root / "notes")
    first_hit = ""
    for step in STEPS:
        directory = root / step.directory
        known = {TRANSCRIPTS: str(root / "agents"), FIRST_HIT: first_hit}
        command = ["recall", *(known.get(argument, argument) for argument in step.arguments)]
        print(f"\n# {step.title}\n{step.directory}$ {shlex.join(command)}", flush=True)
        python = [sys.executable, "-m", *command]
        print(output_of(python, directory, environment, stderr=subprocess.STDOUT).strip(), flush=True)
        if step is FIRST_SEARCH:
            first_hit = next(iter(refs(python, directory, environment)), "")
            if not first_hit:
                raise DemoError(f"found no hit for {step.arguments[1]!r}; the session about it was expected")
        if PART_OF_TOKEN in step.arguments:
            require_no_trace(root / "home")
            print("(in no file of the index, neither token nor password)", flush=True)
            if not refs(python, directory, environment):
                print("(no hits: it was never stored)", flush=True)


def refs(python: list[str], directory: Path, environment: dict[str, str]) -> list[str]:
    """The refs of the hits of a search command, best first, from its JSON form."""
    document = json.loads(output_of([*python, "--json"], directory, environment))
    return [hit["ref"] for hit in document["hits"]]


def require_no_trace(home: Path) -> None:
    """DemoError where a file below `home` holds the token or the password that stand in the transcripts."""
    for path in sorted(home.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        if any(secret.encode("utf-8") in content for secret in (PART_OF_TOKEN, FAKE_PASSWORD)):
            raise DemoError(f"found a secret in {path.name}; it should have been masked before it was stored")


if __name__ == "__main__":
    sys.exit(main())
