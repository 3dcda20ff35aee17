"""The people here are invented: a number has the check character of its standard, and nobody has the number."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanning.checksums import (
    IBAN_LENGTHS,
    is_card,
    is_credit_code,
    is_hong_kong_number,
    is_iban,
    is_luhn,
    is_resident_number,
    is_taiwan_number,
)
from scanning.personal import CARD, PERSONAL_RULES, UNANCHORED_RULES, Unanchored, find_personal
from scanning.rule import Rule, RuleSet
from scanning.types import Finding

ALL: tuple[Unanchored | Rule, ...] = (*UNANCHORED_RULES, *PERSONAL_RULES)
MATCHES = [(rule, text, value) for rule in ALL for text, value in rule.matches]
IGNORES = [(rule, text) for rule in ALL for text in rule.ignores]

DIGITS = "0123456789"
CREDIT_CODE_CHARACTERS = "0123456789ABCDEFGHJKLMNPQRTUWXY"
PROVINCES = ["11", "15", "21", "23", "31", "37", "41", "46", "50", "54", "61", "65", "71", "81", "83"]
# No character of these goes on with a number.
AROUND = st.sampled_from(
    ["", " ", "\n", "（", "：", "，", "。", "号", "é", '"', "'", "`", "<", ">", "=", ",", "(", ")", "\ud800"]
)


def digits(size: int) -> st.SearchStrategy[str]:
    return st.text(DIGITS, min_size=size, max_size=size)


def checked(body: str, characters: Iterable[str], is_valid: Callable[[str], bool]) -> str:
    """`body` with the one check character that makes it valid."""
    valid = [body + character for character in characters if is_valid(body + character)]
    assert len(valid) == 1
    return valid[0]


def card(prefix: str, size: int, body: str) -> str:
    return checked((prefix + body)[: size - 1], DIGITS, is_luhn)


def iban(country: str, body: str) -> str:
    body = body[: IBAN_LENGTHS[country] - 4]
    return next(number for check in range(2, 99) if is_iban(number := f"{country}{check:02d}{body}"))


CARDS = st.builds(
    lambda issuer, body: card(issuer[0], issuer[1], body),
    st.sampled_from(
        [
            ("4", 16), ("51", 16), ("55", 16), ("2221", 16), ("2720", 16), ("34", 15), ("37", 15), ("300", 14),
            ("305", 14), ("36", 14), ("38", 14), ("3528", 16), ("3589", 16), ("6011", 16), ("644", 16), ("65", 16),
            ("62", 16), ("62", 19),
        ]
    ),
    st.text("123456789", min_size=18, max_size=18),
).filter(lambda number: number not in CARD.ignores)  # fmt: skip
IBANS = st.builds(iban, st.sampled_from(sorted(IBAN_LENGTHS)), st.text(DIGITS + "ABKXZ", min_size=29, max_size=29))
RESIDENTS = st.builds(
    lambda province, area, born, order: checked(
        f"{province}{area}{born:%Y%m%d}{order}", f"{DIGITS}X", is_resident_number
    ),
    st.sampled_from(PROVINCES),
    digits(4),
    st.dates(date(1800, 1, 1), date(2099, 12, 31)),
    digits(3),
)
CREDIT_CODES = st.builds(
    lambda kind, province, area, body: checked(f"{kind}{province}{area}{body}", CREDIT_CODE_CHARACTERS, is_credit_code),
    st.sampled_from(["91", "92", "12", "59", "N2", "A1", "Y1"]),
    st.sampled_from([*PROVINCES, "10"]),
    digits(4),
    # With a letter, so that it is no other number.
    st.text(CREDIT_CODE_CHARACTERS, min_size=8, max_size=8).map("M{}".format),
)
TAIWAN_NUMBERS = st.builds(
    lambda letter, kind, body: next(n for last in DIGITS if is_taiwan_number(n := f"{letter}{kind}{body}{last}")),
    st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    st.sampled_from("1289"),
    digits(7),
)
HONG_KONG_NUMBERS = st.builds(
    lambda letters, body: (
        f"{letters}{body}({checked(body, f'{DIGITS}A', lambda number: is_hong_kong_number(letters, number))[-1]})"
    ),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=1, max_size=2),
    digits(6),
)
NUMBERS = {
    "payment_card": CARDS,
    "iban": IBANS,
    "cn_resident_number": RESIDENTS,
    "cn_credit_code": CREDIT_CODES,
    "tw_identity_number": TAIWAN_NUMBERS,
    "hk_identity_number": HONG_KONG_NUMBERS,
}
# 8, 6, 5, 4 and 2 share a divisor with 10, so a wrong digit of a Taiwanese number can go unnoticed.
NOTICED = sorted(NUMBERS.keys() - {"tw_identity_number"})

FRAGMENTS = st.sampled_from(
    [
        "4999123456789010", "4999 1234", " 5678 9010", "-", " ", ".", "+86", "13800138000", "手机", "tel", "ssn",
        "123-45-6789", "护照", "E12345678", "A123456(3)", "A123456789", "DE43 1234 5678 9012 3456 78",
        "110000190001010004", "ana", "@", "kite.io", "://", "91110000MA0000000H", "号", "\n", "\ud800", "İ",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS, max_size=12).map("".join)

SIZE = 1_000_000
SLOWEST_SECONDS = 20.0
UNITS = [
    "a", "0", "1", "4", "4 ", "4-", "4999 1234 5678 9010 ", "4999123456789010", "4999123456789010 ", "A", "A1",
    "A123456(", "DE43", "DE43 1234 ", "NO28", "1100001900010100", "110000190001010004 ", "9111", "a@", "@", "a@a.",
    "a@a.aa ", "a.", "a" * 64 + "@" + "a." * 9, "://a:b@kite.io ", "+", "+1 ", "+1 415 555 01 ", "+86", "手机",
    "手机" + "a" * 24, "tel", "phone ", "ssn", "ssn 123-45-", "护照", "passport", "passport E1234567", "風", "\ud800",
]  # fmt: skip


def values(rule: Unanchored | Rule, text: str) -> set[str]:
    findings: Iterable[Finding] = rule.find(text) if isinstance(rule, Unanchored) else RuleSet([rule]).find(text)
    return {text[found.start : found.end] for found in findings}


def found(text: str) -> list[tuple[str, str]]:
    return [(one.rule, text[one.start : one.end]) for one in find_personal(text)]


@pytest.mark.parametrize(("rule", "text", "value"), MATCHES)
def test_each_rule_takes_exactly_the_value_of_its_examples(rule: Unanchored | Rule, text: str, value: str) -> None:
    assert values(rule, text) == {value}
    assert found(text) == [(rule.name, value)]


@pytest.mark.parametrize(("rule", "text"), IGNORES)
def test_no_rule_finds_personal_data_in_a_look_alike(rule: Unanchored | Rule, text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(("rule", "anchor"), [(rule, anchor) for rule in PERSONAL_RULES for anchor in rule.anchors])
def test_each_anchor_alone_finds_one_of_the_examples(rule: Rule, anchor: str) -> None:
    assert any(
        rule.match(text, position) is not None
        for text, _ in rule.matches
        for position in range(len(text))
        if text.lower().startswith(anchor, position)
    )


def test_every_finding_is_personal_and_a_warning() -> None:
    findings = [one for rule in ALL for text, _ in rule.matches for one in find_personal(text)]
    assert {(one.kind, one.severity) for one in findings} == {("personal", "warn")}


def test_every_rule_has_true_and_false_examples() -> None:
    assert [rule.name for rule in ALL if not rule.matches or not rule.ignores] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("身份证号110000190001010004，手机13800138000", ["110000190001010004", "13800138000"]),
        ("张三的邮箱是ana@kite.io，电话：138-0013-8000。", ["ana@kite.io", "138-0013-8000"]),
        ("卡号：4999 1234 5678 9010（工行）", ["4999 1234 5678 9010"]),
        ("统一社会信用代码91110000MA0000000H公司", ["91110000MA0000000H"]),
        ("香港身份證A123456(3)及台灣身分證A123456789", ["A123456(3)", "A123456789"]),
        ("护照：E12345678，拨打+86 138 0013 8000", ["E12345678", "+86 138 0013 8000"]),
        ("汇款到DE43 1234 5678 9012 3456 78即可", ["DE43 1234 5678 9012 3456 78"]),
        ("订单号 20260101123456789，版本 1.2.3", []),
        ("时间戳 1712345678901，行号 13800138000", []),
    ],
)
def test_personal_data_beside_chinese_text_is_found_exactly(text: str, expected: list[str]) -> None:
    assert [value for _, value in found(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "commit 9f2c1e7ab04d55c3e8716f0d2b9a4c67e1f03d58",
        "7c1c2f0e-5d3b-4a86-9f0e-3b1f6f0c2d11",
        "0.4999123456789010",
        "ids: [1712345678901234567, 18446744073709551615]",
        "+100 200 300",
        "@@ -1,3 +1,4 @@",
        "+2026-01-01 10:00:00",
        "npm i kite@1.2.3 @kite/ui@2.0.0",
        "import kite.store@v2",
        "ssh git@github.com",
        "@dataclass(frozen=True)",
    ],
)
def test_what_programs_are_full_of_is_no_personal_data(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("name", NUMBERS)
@given(before=AROUND, after=AROUND, data=st.data())
@settings(max_examples=200, deadline=None)
def test_a_valid_number_is_found_exactly_in_any_surrounding(
    name: str, before: str, after: str, data: st.DataObject
) -> None:
    number = data.draw(NUMBERS[name])
    assert (name, number) in found(f"{before}{number}{after}")


@pytest.mark.parametrize("name", NOTICED)
@given(data=st.data(), shift=st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_a_number_with_one_wrong_digit_is_not_found(name: str, data: st.DataObject, shift: int) -> None:
    number = data.draw(NUMBERS[name])
    place = data.draw(st.sampled_from([place for place, character in enumerate(number) if character.isdigit()]))
    wrong = f"{number[:place]}{(int(number[place]) + shift) % 10}{number[place + 1 :]}"
    assert name not in {rule for rule, _ in found(wrong)}


@pytest.mark.parametrize("country", sorted(IBAN_LENGTHS))
def test_the_iban_of_each_country_ends_where_its_length_says(country: str) -> None:
    number = iban(country, "1234KITE5678901234567890123456789")
    grouped = " ".join(number[start : start + 4] for start in range(0, len(number), 4))
    assert found(number) == [("iban", number)]
    assert found(f"{grouped} KITE") == [("iban", grouped)]
    assert found(number[:-1]) == []


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("neighbour", ["7", "f", "_"])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_number_inside_a_longer_word_is_not_found(name: str, neighbour: str, data: st.DataObject) -> None:
    number = data.draw(NUMBERS[name])
    assert number not in {value for _, value in found(f"{neighbour}{number}")}
    assert name == "hk_identity_number" or number not in {value for _, value in found(f"{number}{neighbour}")}


@pytest.mark.parametrize(
    "prefix", ["50", "56", "2220", "2721", "33", "35", "3060", "3590", "6010", "6012", "643", "66", "70", "61"]
)
@pytest.mark.parametrize("size", [14, 15, 16, 19])
def test_a_number_of_no_issuer_is_no_card(prefix: str, size: int) -> None:
    number = card(prefix, size, "0123456789012345678")
    assert not is_card(number)
    assert found(number) == []


@pytest.mark.parametrize(("prefix", "size"), [("4", 15), ("4", 19), ("34", 16), ("36", 16), ("62", 15), ("51", 17)])
def test_a_card_has_one_of_the_lengths_of_its_issuer(prefix: str, size: int) -> None:
    assert not is_card(card(prefix, size, "123456789012345678"))


@given(born=st.sampled_from(["19000229", "20230431", "20001301", "20000100"]), order=digits(3))
def test_nobody_was_born_on_a_day_that_never_was(born: str, order: str) -> None:
    body = f"110000{born}{order}"
    assert [last for last in f"{DIGITS}X" if is_resident_number(body + last)] == []


def test_the_numbers_that_the_standards_print_are_valid() -> None:
    assert is_luhn("79927398713")
    assert is_iban("GB82WEST12345698765432")
    assert is_resident_number("11010519491231002X")
    assert is_credit_code("91350100M000100Y43")
    assert is_taiwan_number("A123456789")
    assert is_hong_kong_number("G", "123456A")
    assert is_hong_kong_number("AB", "9876543")


@given(text=TEXTS | st.text())
@settings(max_examples=1500, deadline=None)
def test_the_findings_of_any_text_are_in_order_and_inside_it(text: str) -> None:
    findings = find_personal(text)
    assert [one.start for one in findings] == sorted(one.start for one in findings)
    assert all(0 <= one.start < one.end <= len(text) for one in findings)
    assert len(set(findings)) == len(findings)


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_length_of_hostile_text_and_no_faster(unit: str) -> None:
    # A quadratic pattern takes minutes for a megabyte of its worst text; the slowest here takes about 1 s.
    text = unit * (SIZE // len(unit))
    started = time.process_time()
    find_personal(text)
    assert time.process_time() - started < SLOWEST_SECONDS
