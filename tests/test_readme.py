"""README, help texts and behaviour agree."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import recall
from benchmarks.demo.build import write_sessions

ROOT = Path(__file__).parents[1]
READMES = [ROOT / "README.md", ROOT / "README.zh.md"]


def _help(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "recall", *command, "--help"],
        capture_output=True, text=True, encoding="utf-8", check=True, cwd=ROOT,
    )  # fmt: skip
    return done.stdout


def _commands(*group: str) -> set[str]:
    return set(re.findall(r"^ +([\w-]+) {2,}\S", _help(*group).split("Commands:")[1], re.MULTILINE))


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_the_readme_names_exactly_the_commands_and_the_options_of_the_program(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `recall ([\w-]+(?: [a-z]+)?)[^`]*` \| (.*) \|$", text, re.MULTILINE))
    groups = {command.partition(" ")[0] for command in rows if " " in command}
    commands = _commands() - groups | {f"{group} {command}" for group in groups for command in _commands(group)}

    assert set(rows) == commands
    options = set(re.findall(r"--[a-z][a-z-]+", _help("search"))) - {"--help"}
    assert set(re.findall(r"--[a-z][a-z-]+", rows["search"])) == options
    for command, row in rows.items():
        assert set(re.findall(r"--[a-z][a-z-]+", row)) <= set(re.findall(r"--[a-z][a-z-]+", _help(*command.split())))


def test_both_readmes_say_the_same_in_the_same_order() -> None:
    english, chinese = (readme.read_text(encoding="utf-8") for readme in READMES)

    for pattern in (r"^##? ", r"^- ", r"^```", r"^\| `"):
        assert len(re.findall(pattern, english, re.MULTILINE)) == len(re.findall(pattern, chinese, re.MULTILINE))


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_the_library_example_of_the_readme_runs(
    readme: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents, shop = tmp_path / "agents", tmp_path / "shop"
    shop.mkdir()
    write_sessions(agents, shop, tmp_path / "notes")
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CODEX_HOME", str(agents / "codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(agents / "claude"))
    monkeypatch.chdir(shop)
    example = re.search(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None

    exec(compile(example[1], readme.name, "exec"), {})

    printed = capsys.readouterr().out
    question = re.search(r'index\.search\("([^"]+)"', example[1])
    assert question is not None
    with recall.open() as index:
        first = index.search(question[1])[0]
    assert first.ref in printed
    assert first.session.title == ("Flaky login test" if "flaky" in question[1] else "订单 hooks 的设计")


def test_the_numbers_of_the_readme_are_those_of_the_code() -> None:
    from recall.cli.search import SYNC_BUDGET_SECONDS
    from recall.transcripts.text import OUTPUT_HEAD, OUTPUT_TAIL

    for readme in READMES:
        text = readme.read_text(encoding="utf-8")
        assert f"{OUTPUT_HEAD:,}" in text
        assert f"{OUTPUT_TAIL:,}" in text
    assert SYNC_BUDGET_SECONDS <= 1 / 3
