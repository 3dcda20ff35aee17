"""The short form of `make stress`."""

from __future__ import annotations

from pathlib import Path

import stress


def test_a_store_whose_processes_are_killed_at_random_points_becomes_what_an_undisturbed_one_is(tmp_path: Path) -> None:
    assert "ingest 1 " in stress.kills(tmp_path, times=4, seed=5)


def test_a_file_that_is_damaged_at_random_is_said_or_mended_and_loses_no_transcripts_text(tmp_path: Path) -> None:
    assert stress.damages(tmp_path, times=3, seed=5).startswith("3 files")
