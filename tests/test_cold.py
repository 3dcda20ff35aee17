"""What each command loads before it answers: a heavy import is time that everybody waits, at every start."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from transcript_lines import claude_lines, uid, write

import recall

ROOT = Path(__file__).resolve().parents[1]

TERMINAL = {"typer"}
ARCHIVE = {"apsw", "orjson", "platformdirs", "py_rust_stemmers", "redact_secret", "zstandard"}
WORDS = {"numpy"}
"""Reads the word index: SQLite's own ranking takes seventy times as long. Nothing but a search does so."""
MODEL = {"numpy", "onnxruntime", "tokenizers"}
NEVER = {
    "click", "fastembed", "google", "httpx", "huggingface_hub", "hypothesis", "jinja2", "loguru", "pydantic", "pytest",
    "requests", "rich", "scipy", "sklearn", "sqlite3", "sqlite_vec", "tqdm", "urllib3",
}  # fmt: skip
"""Too slow for any command that answers at once. sqlite_vec, which imports numpy, is only asked where it is."""
THIRD_PARTIES = TERMINAL | ARCHIVE | MODEL | NEVER

QUESTION = "why did the lantern go out"
TO_RELINK, TO_FORGET = uid(3), uid(4)


@dataclass(frozen=True, slots=True)
class Machine:
    """A person's machine with a few sessions that have their vectors."""

    root: Path
    environment: dict[str, str]
    ref: str

    def imports(self, *arguments: str) -> set[str]:
        """Names of all modules that Python imports when it is given these arguments."""
        _, told = self._python("-X", "importtime", *arguments)
        return set(re.findall(r"^import time:.*\| +(\S+)\s*$", told, re.MULTILINE))

    def ran(self, *arguments: str) -> str:
        """What `recall` prints for these arguments."""
        return self._python("-m", "recall", *arguments)[0]

    def _python(self, *arguments: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.root / "work", env=self.environment,
            capture_output=True, input=b"nothing in here", timeout=120,
        )  # fmt: skip
        out, err = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
        assert done.returncode == 0, err[-2_000:]
        return out, err


def top_levels(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    root = tmp_path_factory.mktemp("machine").resolve()
    (root / "work").mkdir()
    own = {"RECALL_HOME": "home", "CODEX_HOME": "codex", "CLAUDE_CONFIG_DIR": "claude"}
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "RECALL_"))},
        **{name: str(root / folder) for name, folder in own.items()},
        "CODEX_SELF_EVOLUTION_HOME": str(root / "plugin"),
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
    }
    transcripts = root / "claude" / "projects"
    said = (("user", f"{QUESTION}?"), ("assistant", "its wick was too short"))
    write(transcripts / "-work" / f"{uid(1)}.jsonl", claude_lines(uid(1), root / "work", *said))
    for name, cwd in ((TO_RELINK, "gone"), (TO_FORGET, "work")):
        write(transcripts / "-work" / f"{name}.jsonl", claude_lines(name, root / cwd, ("user", f"the fog in {name}")))
    (root / "plugin" / "projects").mkdir(parents=True)
    with recall.open(root / "home") as index:
        assert index.ingest(transcripts).new_messages == 4
        index.embed()
    return Machine(root, environment, f"{uid(1)}:1")


COMMANDS: dict[str, tuple[set[str], int]] = {
    "--version": (TERMINAL, 170),
    "--help": (TERMINAL, 170),
    "search --help": (TERMINAL, 170),
    "model --help": (TERMINAL, 170),
    "search --mode lexical --no-sync QUESTION": (TERMINAL | ARCHIVE | WORDS, 405),
    "search --mode lexical QUESTION": (TERMINAL | ARCHIVE | WORDS, 405),
    "search --no-sync QUESTION": (TERMINAL | ARCHIVE | MODEL, 430),
    "search QUESTION": (TERMINAL | ARCHIVE | MODEL, 430),
    "recent": (TERMINAL | ARCHIVE, 295),
    "show REF": (TERMINAL | ARCHIVE, 295),
    "ingest": (TERMINAL | ARCHIVE, 295),
    "relink GONE WORK": (TERMINAL | ARCHIVE, 295),
    "forget --session TO_FORGET --yes": (TERMINAL | ARCHIVE, 295),
    "migrate-worktrees": (TERMINAL | ARCHIVE, 225),
    "embed": (TERMINAL | ARCHIVE | MODEL, 420),
    "status": (TERMINAL | ARCHIVE | MODEL, 420),
    "doctor": (TERMINAL | ARCHIVE | MODEL, 425),
    "doctor --fix": (TERMINAL | ARCHIVE | MODEL, 425),
    "scan -": (TERMINAL | ARCHIVE, 235),
    "redact -": (TERMINAL | ARCHIVE, 215),
}
"""What a command may load of other people's packages, and of modules in all: about a tenth more than it does today."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_what_it_needs_and_no_more(machine: Machine, command: str) -> None:
    allowed, most = COMMANDS[command]
    words = {"QUESTION": QUESTION, "REF": machine.ref, "TO_FORGET": TO_FORGET}
    words |= {"GONE": str(machine.root / "gone"), "WORK": str(machine.root / "work")}
    loaded = machine.imports("-m", "recall", *(words.get(word, word) for word in command.split()))

    assert top_levels(loaded) & (THIRD_PARTIES - allowed) == set()
    assert len(loaded) <= most


def test_every_command_is_counted() -> None:
    from recall.cli.commands import app

    counted = {command.split()[0] for command in COMMANDS}
    names = {command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands}
    assert names | {group.name for group in app.registered_groups} == {name for name in counted if name[0] != "-"}


def test_the_counted_search_is_one_by_words_and_meaning(machine: Machine) -> None:
    assert machine.ran("search", "--json", QUESTION).count('"mode":"hybrid"') == 1


def test_a_new_message_is_taken_in_without_numpy(machine: Machine) -> None:
    said = [("user", f"the keeper polishes the lens {'again and ' * 200}again")]
    write(machine.root / "claude" / "projects" / "-work" / f"{uid(2)}.jsonl",
          claude_lines(uid(2), machine.root / "work", *said))  # fmt: skip
    loaded = machine.imports("-c", "import recall\nwith recall.open() as index: index.ingest()")

    assert top_levels(loaded) & (THIRD_PARTIES - ARCHIVE) == {"tokenizers"}
    assert uid(2) in machine.ran("search", "--mode", "lexical", "--no-sync", "keeper polishes lens")


@pytest.mark.parametrize(
    ("code", "allowed", "most"),
    [
        ("import recall", set[str](), 60),
        ("from recall import RecallError, Hit, Scope; Scope.here()", set[str](), 100),
        ("from recall.database import Database; Database(None).close()", {"apsw"}, 80),
        ("import recall\nwith recall.open() as index: index.ingest(); index.recent()", ARCHIVE, 220),
    ],
    ids=["the package", "values", "the database", "the index"],
)
def test_a_part_of_the_library_loads_what_it_needs_and_no_more(
    machine: Machine, code: str, allowed: set[str], most: int
) -> None:
    loaded = machine.imports("-c", code)
    assert top_levels(loaded) & (THIRD_PARTIES - allowed) == set()
    assert len(loaded) <= most


def test_a_type_checker_and_python_find_the_same_public_names_in_the_same_places() -> None:
    tree = ast.parse(Path(recall.__file__).read_text(encoding="utf-8"))
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    checked = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert list(checked) != []
    assert checked.keys() == set(recall.__all__)
    for name, (module, attribute) in checked.items():
        assert getattr(recall, name) is getattr(import_module(str(module)), attribute)
    assert set(recall.__all__) <= set(dir(recall))
    with pytest.raises(AttributeError, match="has no attribute 'searhc'"):
        recall.searhc  # type: ignore[attr-defined]  # noqa: B018
