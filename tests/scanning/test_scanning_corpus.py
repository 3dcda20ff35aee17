"""The corpora of the benchmark as tests, with few samples of each kind: what was found is, what was left alone is."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import pytest

from benchmarks.credential_shapes import SHAPED
from benchmarks.credentials import LABELLED
from benchmarks.lookalikes import cases as look_alikes
from benchmarks.surroundings import SURROUNDINGS, Case, cases
from scanning import MASKED, redact, scan

SEED = 3
LEFT = 8


def is_masked(case: Case) -> bool:
    """Whether no run of LEFT characters of the secret is left where it stood."""
    start = at = case.text.index(case.secret)
    end = start + len(case.secret)
    least = min(LEFT, len(case.secret))
    for finding in scan(case.text, MASKED):
        if finding.end > start and finding.start < end:
            if finding.start - at >= least:
                return False
            at = max(at, finding.end)
    return end - at < least


@pytest.mark.parametrize("surrounding", SURROUNDINGS)
def test_every_kind_of_credential_with_a_shape_is_masked(surrounding: str) -> None:
    made = [(kind.name, case) for kind, where, case in cases(SHAPED, 1, SEED) if where == surrounding]
    assert len(made) == len(SHAPED)
    assert [name for name, case in made if not is_masked(case)] == []


def test_nearly_all_credentials_with_a_label_are_masked() -> None:
    masked: defaultdict[str, list[bool]] = defaultdict(list)
    for _, surrounding, case in cases(LABELLED, 3, SEED):
        masked[surrounding].append(is_masked(case))
    assert fmean(one for ones in masked.values() for one in ones) >= 0.98
    assert {surrounding: fmean(ones) for surrounding, ones in masked.items() if fmean(ones) < 0.95} == {}


def test_no_look_alike_is_taken_for_what_must_be_blocked() -> None:
    found = {
        (kind.name, one.rule, text[one.start : one.end])
        for kind, text in look_alikes(2, SEED)
        for one in scan(text)
        if one.severity == "block"
    }
    assert found == set()


def test_no_look_alike_is_changed_by_redaction() -> None:
    assert [kind.name for kind, text in look_alikes(1, SEED) if redact(text).text != text] == []
