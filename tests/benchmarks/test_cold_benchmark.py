"""The benchmark of whole commands, on one session."""

from __future__ import annotations

from pathlib import Path

import pytest
from result_files import markdown_tables, read_result

from benchmarks import cold


def test_every_command_is_timed_beside_the_bare_interpreter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results" / "cold.json"
    assert cold.main(["--sessions", "1", "--rounds", "1", "--out", str(out)]) == 0

    [result] = read_result(out)
    assert result["archive"] == {"sessions": 1, "passages": 4 * cold.TURNS}
    assert tuple(result["commands"]) == tuple(cold.COMMANDS)
    assert result["commands"][cold.BARE]["times bare"] == 1.0
    for one in result["commands"].values():
        assert 0 < one["fastest"] <= one["median"] <= one["slowest"]
    [rows] = markdown_tables(capsys.readouterr().out)
    assert len(rows) == 2 + len(cold.COMMANDS)


def test_a_command_that_fails_is_not_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "COMMANDS", {cold.BARE: (["-c", "raise SystemExit('no archive')"], None)})
    with pytest.raises(RuntimeError, match=r"ended with 1: no archive"):
        cold.measured(tmp_path, {}, 1)
