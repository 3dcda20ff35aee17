from __future__ import annotations

import pytest
from rule_examples import MORE_IGNORES, MORE_MATCHES

from scanning import MASKED, scan
from scanning.injection import INJECTION_RULES
from scanning.markers import MARKER_RULES
from scanning.rule import Rule, RuleSet
from scanning.secrets import RULES

MATCHES = [(rule, text, value) for rule in RULES for text, value in (*rule.matches, *MORE_MATCHES.get(rule.name, ()))]
IGNORES = [(rule, text) for rule in RULES for text in (*rule.ignores, *MORE_IGNORES.get(rule.name, ()))]


def values(rule: Rule, text: str) -> set[str]:
    return {text[found.start : found.end] for found in RuleSet([rule]).find(text)}


@pytest.mark.parametrize(("rule", "text", "value"), MATCHES)
def test_each_rule_takes_exactly_the_value_of_its_examples(rule: Rule, text: str, value: str) -> None:
    assert values(rule, text) == {value}


@pytest.mark.parametrize(("rule", "text", "value"), MATCHES)
def test_the_whole_scan_agrees_with_the_rule_on_its_examples(rule: Rule, text: str, value: str) -> None:
    assert [text[found.start : found.end] for found in scan(text, MASKED)] == [value]


@pytest.mark.parametrize(("rule", "text"), IGNORES)
def test_nothing_is_found_in_the_look_alikes_of_a_rule(rule: Rule, text: str) -> None:
    assert values(rule, text) == set()
    assert scan(text, MASKED) == []


def test_every_rule_has_true_and_false_examples() -> None:
    assert [rule.name for rule in RULES if not rule.matches or not rule.ignores] == []


def test_all_further_examples_are_of_a_rule() -> None:
    assert {*MORE_MATCHES, *MORE_IGNORES} <= {rule.name for rule in (*RULES, *MARKER_RULES, *INJECTION_RULES)}


def test_every_anchor_is_lower_case_because_the_searched_text_is() -> None:
    assert [anchor for rule in RULES for anchor in rule.anchors if anchor != anchor.lower()] == []
