"""The redaction benchmark on a few kinds, and what it counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import redaction
from benchmarks.credential_shapes import SHAPED
from benchmarks.redaction import digest, false_alarms, findings_in, found_share, is_out, main, tables
from benchmarks.scanners import OURS, scanners
from tests.benchmarks.result_files import read_result

SECRET = "Kt7aQ9xZ" * 3


@pytest.mark.parametrize(
    ("spans", "out"),
    [
        ([], True),
        ([(4, 28)], False),
        ([(4, 21)], False),  # seven characters are left
        ([(4, 20)], True),
        ([(12, 28)], True),
        ([(4, 10), (17, 28)], False),
        ([(20, 28), (4, 20)], False),
        ([(0, 40)], False),
    ],
)
def test_a_secret_is_out_when_eight_of_its_characters_are_left(spans: list[tuple[int, int]], out: bool) -> None:
    assert is_out(f"key={SECRET} and more", SECRET, spans) is out


def test_a_short_secret_is_out_only_as_a_whole() -> None:
    assert is_out("pin=1234 x", "1234", [])
    assert not is_out("pin=1234 x", "1234", [(4, 6)])


def test_a_scanner_that_finds_nothing_has_no_share_and_no_false_alarm() -> None:
    assert found_share(lambda _: [], SHAPED[:2], 1)["all"] == 0
    assert false_alarms(lambda _: [], 1)["alarms"] == 0


def test_a_scanner_that_masks_everything_finds_all_and_alarms_at_every_look_alike() -> None:
    everything = found_share(lambda text: [(0, len(text))], SHAPED[:2], 1)
    assert (everything["all"], everything["kinds_below_1"]) == (1, {})
    alarms = false_alarms(lambda text: [(0, len(text))], 1)
    assert alarms["alarms"] == alarms["samples"] == alarms["kinds"]


def test_a_finding_that_nobody_has_judged_is_a_false_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x" * 1_000_000
    found = findings_in(lambda _: [(0, 3)], [text], OURS)
    assert (found["per_mb"], found["false_alarms_per_mb"]) == (1.0, 1.0)
    monkeypatch.setattr(redaction, "verdicts", lambda: {digest("xxx"): "secret"})
    assert findings_in(lambda _: [(0, 3)], [text], OURS)["false_alarms_per_mb"] == 0


def test_the_review_holds_a_verdict_and_a_reason_for_each_finding() -> None:
    lines = redaction.REVIEW.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert all(len(row) == 4 and row[1] in ("secret", "harmless") and row[3] for row in rows)


def test_the_benchmark_writes_a_result_with_its_tables(tmp_path: Path) -> None:
    sessions, out = tmp_path / "sessions", tmp_path / "redaction.json"
    sessions.mkdir()
    (sessions / "one.jsonl").write_text("a line of a session\n" * 2_000, encoding="utf-8")
    assert main(["--kinds", "2", "--per-kind", "1", "--sessions", str(sessions), "--out", str(out)]) == 0
    results = read_result(out)
    assert [result["scanner"] for result in results] == list(scanners())
    ours = results[0]
    assert (ours["scanner"], ours["shaped"]["all"], ours["sessions"]["findings"]) == (OURS, 1.0, 0)
    assert ours["speed"]["mb_per_second"] > 0
    assert [table.splitlines()[0].split(" |")[0] for table in tables(results)[:3]] == [
        "| found", "| false alarms", "| cost",
    ]  # fmt: skip
