from __future__ import annotations

from benchmarks.report import README, filled


def test_the_tables_of_the_readme_are_those_of_the_result_files() -> None:
    text = README.read_text(encoding="utf-8")
    assert filled(text) == text
