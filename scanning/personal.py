"""Personal data: numbers that people and accounts are known by, addresses, telephones. For those who ask for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scanning.checksums import (
    IBAN_LENGTHS,
    is_card,
    is_credit_code,
    is_hong_kong_number,
    is_iban,
    is_resident_number,
    is_taiwan_number,
)
from scanning.rule import Expired, Rule, RuleSet, never
from scanning.types import Finding, Kind, Severity


@dataclass(frozen=True, slots=True)
class Unanchored:
    """A rule without anchors: a number has no letters in common with the next one, so a pattern has to look for it.

    The pattern begins with the class of its first character, which `re` skips to as fast as it can; what stands before
    is looked at from there. Every repeat is bounded, so the time is linear in the length of the text.
    """

    name: str
    pattern: re.Pattern[str]
    accepts: Callable[[re.Match[str]], bool]
    """Whether the match is what the rule looks for, by its checksum for instance."""
    matches: tuple[tuple[str, str], ...]
    """Examples: a text, and the value that must be found in it."""
    ignores: tuple[str, ...]
    """Look-alikes in which nothing must be found."""
    kind: Kind = "personal"
    severity: Severity = "warn"

    def find(self, text: str) -> Iterator[Finding]:
        """What the rule finds in `text`, in order."""
        for match in self.pattern.finditer(text):
            if self.accepts(match):
                yield Finding(self.name, self.kind, match.start(), match.end(), self.severity)


def find_personal(text: str, expired: Expired = never) -> list[Finding]:
    """Personal data in `text`, in order; spans may overlap, for a number can be of two kinds."""
    found = {*_RULE_SET.find(text, expired), *(finding for rule in UNANCHORED_RULES for finding in rule.find(text))}
    return sorted(found, key=lambda one: (one.start, one.end, one.rule))


_PUNCTUATION = re.compile("[^0-9A-Za-z]")
_NUMBER_END = r"(?![0-9A-Za-z_]|[.-][0-9])"


def _not_after(first: str) -> str:
    """What stands behind the first character of a number: it is not the middle of a word, a decimal or a longer one."""
    return rf"(?<![0-9A-Za-z_-]{first})(?<![0-9]\.{first})"


def _bare(match: re.Match[str]) -> str:
    return _PUNCTUATION.sub("", match.group())


# Whoever sells card processing publishes cards that pay nothing; those not here are mostly zeros.
_TEST_CARDS = (
    "4242424242424242", "4111111111111111", "4012888888881881", "4000056655665556", "5555555555554444",
    "5105105105105100", "5200828282828210", "2223003122003222", "378282246310005", "371449635398431", "378734493671000",
    "30569309025904", "36227206271667", "6011111111111117", "6011000990139424", "3566002020360505",
)  # fmt: skip


def _is_card(match: re.Match[str]) -> bool:
    digits = _bare(match)
    return is_card(digits) and digits not in _TEST_CARDS and "00000" not in digits


def _iban_pattern(country: str, length: int) -> str:
    groups, rest = divmod(length - 4, 4)
    last = f"[ ]?[0-9A-Z]{{{rest}}}" if rest else ""
    return f"{country}(?<![0-9A-Za-z_]{country})[0-9]{{2}}(?:[ ]?[0-9A-Z]{{4}}){{{groups}}}{last}"


# Each country has its own alternative, so that an IBAN ends where its country says.
_IBAN = "|".join(_iban_pattern(country, length) for country, length in IBAN_LENGTHS.items())

# RFC 2606 and mDNS; and files: logo@2x.png.
_NO_DOMAINS = frozenset({"example", "test", "invalid", "local", "localhost"})
_FILES = frozenset({"png", "jpg", "gif", "svg", "webp", "js", "ts", "css", "html", "json", "yml", "yaml", "txt"})
_EXAMPLES = re.compile(r"(?:[\w-]{1,63}\.){0,8}example\.(?:com|org|net)")
_NO_PERSON = re.compile(r"(?:git|no-?reply|do-?not-?reply)(?:[+.-].*)?@")
_GITHUB_ALIAS = "@users.noreply.github.com"


def _is_address(match: re.Match[str]) -> bool:
    address = match.group().lower()
    domain = match["domain"].lower()
    last = domain.rpartition(".")[2]
    if last in _NO_DOMAINS or last in _FILES or _EXAMPLES.fullmatch(domain):
        return False
    if address.endswith(_GITHUB_ALIAS) or _NO_PERSON.match(address):
        return False
    # https://kite:pass@git.kite.io: what stands before the @ is a password.
    _, scheme, authority = match.string[max(0, match.start() - 64) : match.start()].rpartition("://")
    return not scheme or re.search(r"[\s/]", authority) is not None


CARD = Unanchored(
    name="payment_card",
    pattern=re.compile(
        rf"[2-6]{_not_after('[2-6]')}[0-9]{{3}}(?:[0-9]{{10,15}}|(?P<sign>[ -])(?<![0-9]{{4}}[ ][0-9]{{4}}.)"
        r"(?:[0-9]{4}(?P=sign)[0-9]{4}(?P=sign)[0-9]{4}(?:(?P=sign)[0-9]{3})?|[0-9]{6}(?P=sign)[0-9]{4,5}))"
        # More groups of four are a table.
        rf"{_NUMBER_END}(?!(?P=sign)[0-9]{{4}})"
    ),
    accepts=_is_card,
    matches=(
        ("4999123456789010", "4999123456789010"), ("卡号4999 1234 5678 9010，有效期", "4999 1234 5678 9010"),
        ("4999123456789010 12/27 123", "4999123456789010"), ("5199-1234-5678-9015.", "5199-1234-5678-9015"),
        ("5599123456789011", "5599123456789011"), ("2221123456789014", "2221123456789014"),
        ("2720123456789010", "2720123456789010"), ("3400 123456 78902", "3400 123456 78902"),
        ("379912345678907", "379912345678907"), ("30001234567891", "30001234567891"),
        ("3059 123456 7891", "3059 123456 7891"), ("36001234567895", "36001234567895"),
        ("38991234567895", "38991234567895"), ("39991234567894", "39991234567894"),
        ("3528123456789012", "3528123456789012"), ("3589123456789018", "3589123456789018"),
        ("6011123456789019", "6011123456789019"), ("6440123456789010", "6440123456789010"),
        ("6599123456789019", "6599123456789019"), ("6299123456789012", "6299123456789012"),
        ("62001234567890128", "62001234567890128"), ("621212345678901238", "621212345678901238"),
        ("6217 1234 5678 9012 341", "6217 1234 5678 9012 341"),
    ),
    ignores=(
        "4000002500003155", "38520000023237", "4999123456789011", "a4999123456789010", "_4999123456789010",
        "-4999123456789010", "0.4999123456789010", "4999123456789010.5", "4999123456789010-5", "4999123456789010f",
        "4999 1234 5678-9010", "4999 1234 5678 9010 2048", "1024 4999 1234 5678 9010", "1700123456789012",
        "4999123456789010_", "4999123456789012346", "5600123456789017", *_TEST_CARDS,
    ),
)  # fmt: skip

IBAN = Unanchored(
    name="iban",
    pattern=re.compile(rf"(?:{_IBAN})(?![0-9A-Za-z_])"),
    accepts=lambda match: is_iban(_bare(match)),
    matches=(
        ("NO2812345678901", "NO2812345678901"),
        ("账户DE43 1234 5678 9012 3456 78。", "DE43 1234 5678 9012 3456 78"),
        ("BE53 1234 5678 9012 BIC KITEBEBB", "BE53 1234 5678 9012"),
        ("MT02KITE12345KITEKITEKITE12345K", "MT02KITE12345KITEKITEKITE12345K"),
    ),
    ignores=("DE44123456789012345678", "DE431234567890123456", "XDE43123456789012345678", "DE431234567890123456780"),
)

RESIDENT = Unanchored(
    name="cn_resident_number",
    pattern=re.compile(rf"[1-8]{_not_after('[1-8]')}[0-9]{{5}}(?:18|19|20)[0-9]{{9}}[0-9Xx]{_NUMBER_END}"),
    accepts=lambda match: is_resident_number(match.group()),
    matches=(
        ("身份证110000190001010004，", "110000190001010004"),
        ("11000019000101008X", "11000019000101008X"),
        ("71000020000229123x", "71000020000229123x"),
        ("830000189912310009", "830000189912310009"),
    ),
    ignores=(
        "110000190001010005", "990000190001010008", "110000190002300001", "0110000190001010004", "110000190001010004.5",
        "110000190001010004f",
        "x110000190001010004", "1.110000190001010004",
    ),
)  # fmt: skip

CREDIT_CODE = Unanchored(
    name="cn_credit_code",
    pattern=re.compile(rf"[1-9ANY]{_not_after('[1-9ANY]')}[1-59][0-9]{{6}}[0-9A-HJ-NPQRTUWXY]{{10}}{_NUMBER_END}"),
    accepts=lambda match: is_credit_code(match.group()),
    matches=(
        ("信用代码91110000MA0000000H。", "91110000MA0000000H"),
        ("12100000000000000F", "12100000000000000F"),
        ("N2650000MAXKYTEHJL", "N2650000MAXKYTEHJL"),
        ("A1510000123456789J", "A1510000123456789J"),
        ("Y1440000WUTRQPNML1", "Y1440000WUTRQPNML1"),
    ),
    ignores=(
        "91110000MA0000000J",
        "x91110000MA0000000H",
        "91110000MA0000000HK",
        "91990000MA00000004",
        "1.91110000MA0000000H",
        "91110000MA0000000H-1",
    ),
)

TAIWAN = Unanchored(
    name="tw_identity_number",
    pattern=re.compile(rf"[A-Z](?<![0-9A-Za-z_-][A-Z])[1289][0-9]{{8}}{_NUMBER_END}"),
    accepts=lambda match: is_taiwan_number(match.group()),
    matches=(("身分證A123456789，", "A123456789"), ("O200000006", "O200000006"), ("Z800000006", "Z800000006")),
    ignores=("A123456788", "XA123456789", "a123456789", "A1234567890", "A323456785", "part-A123456789", "A123456789-1"),
)

HONG_KONG = Unanchored(
    name="hk_identity_number",
    pattern=re.compile(r"[A-Z](?<![0-9A-Za-z_-][A-Z])[A-Z]?[0-9]{6}\([0-9A]\)"),
    accepts=lambda match: is_hong_kong_number(match.group()[:-9], _PUNCTUATION.sub("", match.group()[-9:])),
    matches=(("身份證A123456(3)，", "A123456(3)"), ("G123456(A)", "G123456(A)"), ("AB987654(3)", "AB987654(3)")),
    ignores=("A123456(4)", "XAB987654(3)", "A1234563", "f_A123456(3)"),
)

EMAIL = Unanchored(
    name="email_address",
    pattern=re.compile(
        r"[A-Za-z0-9](?<![0-9A-Za-z_.%+/-][A-Za-z0-9])[A-Za-z0-9_.%+-]{0,63}+@"
        r"(?P<domain>(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24})(?![0-9A-Za-z_-]|\.[0-9A-Za-z])"
    ),
    accepts=_is_address,
    matches=(
        ("Ana Kite <ana.kite+hr@mail.kite.io>.", "ana.kite+hr@mail.kite.io"),
        ("邮箱a@kite.io，", "a@kite.io"),
        ("mailto:ana_1%2@kite-9.dev", "ana_1%2@kite-9.dev"),
        ("see http://kite.io/ or ana@kite.io", "ana@kite.io"),
        ("https://kite.io/?to=ana@kite.io", "ana@kite.io"),
    ),
    ignores=(
        "ana@example.com", "ana@mail.example.org", "ana@example.net", "noreply@kite.io", "no-reply@kite.io",
        "donotreply@kite.io", "do-not-reply@kite.io", "noreply+7@kite.io", "7+ana@users.noreply.github.com",
        "git@git.kite.io:team/kite.git", "pkg@1.2.3", "kite/checkout@main.rev", "@kite.fixture", "ana@kite", "a@b.T",
        "https://kite:pass@git.kite.io/x", "ssh://ana@git.kite.io", "ana@kite.io.7", "ana@kite.io_x",
        *(f"ana@kite.{name}" for name in sorted(_NO_DOMAINS)), *(f"logo@2x.{name}" for name in sorted(_FILES)),
    ),
)  # fmt: skip

# Nobody is known by the numbers of the examples: 138 0013 8000 is an operator's own, +1 … 555 01xx are for fiction.
_MOBILE = r"1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}"

LABELLED_PHONE = Rule(
    name="phone_number",
    anchors=("手机", "手機", "电话", "電話", "phone", "mobile", "tel"),
    pattern=re.compile(
        r"(?i:手机|手機|电话|電話|phone|mobile|tel)[^0-9+\n]{0,24}"
        rf"(?:(?P<value_mobile>{_MOBILE})|(?P<value_international>\+[1-9][0-9]{{7,14}})){_NUMBER_END}"
    ),
    accepts=lambda *_: True,
    matches=(
        ("手机号：13800138000，", "13800138000"),
        ("手機138-0013-8000", "138-0013-8000"),
        ("电话是138 0013 8000", "138 0013 8000"),
        ("電話：+14155550132。", "+14155550132"),
        ('"phone": "13800138000"', "13800138000"),
        ("mobile=13800138000", "13800138000"),
        ("Tel. +14155550132", "+14155550132"),
    ),
    ignores=(
        "13800138000", "phone: 12800138000", "phone: 138001380001", "telemetry 1380013800", "phone\n13800138000",
        "mobile +1415555", "手机13800138000.5",
    ),
    kind="personal",
    severity="warn",
)  # fmt: skip


def _is_international(_: re.Match[str], value: str) -> bool:
    """Whether the number has as many digits as E.164 and the countries 1 and 7 give out; the lines of a diff have +."""
    digits = _PUNCTUATION.sub("", value)
    return len(digits) == 11 if digits[0] in "17" else 10 <= len(digits) <= 15


# Without a label the groups of the digits speak for a telephone, or the country that is written in front of a mobile.
PHONE = Rule(
    name="phone_number",
    anchors=("+",),
    pattern=re.compile(
        rf"(?<![0-9A-Za-z_+])(?:(?P<value_mobile>\+86\)?[ -]?{_MOBILE})"
        r"|(?P<value_international>\+[1-9][0-9]{0,2}(?:[ -]?\([0-9]{1,4}\)[ -]?|[ -][0-9]{1,4}[ -])[0-9]{2,8}"
        rf"(?:[ -][0-9]{{2,5}}){{0,4}})){_NUMBER_END}"
    ),
    accepts=_is_international,
    matches=(
        ("联系+8613800138000吧", "+8613800138000"),
        ("(+86) 138-0013-8000", "+86) 138-0013-8000"),
        ("+86 138 0013 8000", "+86 138 0013 8000"),
        ("call +1 (415) 555-0132.", "+1 (415) 555-0132"),
        ("+1(415)5550132", "+1(415)5550132"),
        ("+1-415-555-0132", "+1-415-555-0132"),
        ("+999 1 23 45 67 89", "+999 1 23 45 67 89"),
    ),
    ignores=(
        "+14155550132", "+1 415 555", "1+1 415 555 0132", "++1 415 555 0132", "+99 415 555 0132 0132 01321",
        "+86138001380001", "+1.415.555.0132", "+0 415 555 0132", "+2026-01-01 10:00:00", "+100 200 300",
        "+1 200 300 4000 5000", "+7 200 300", "+1 415 555 0132.5", "+1 415 555 0132f",
    ),
    kind="personal",
    severity="warn",
)  # fmt: skip

US_SSN = Rule(
    name="us_social_security_number",
    anchors=("ssn", "social security"),
    pattern=re.compile(
        r"(?i:ssn|social security)[^0-9\n]{1,24}"
        # The areas, groups and serial numbers that the Social Security Administration never gives out.
        r"(?P<value_number>(?!000|666|9)[0-9]{3}(?P<sign>[ -]?)(?!00)[0-9]{2}(?P=sign)(?!0000)[0-9]{4})"
        rf"{_NUMBER_END}"
    ),
    accepts=lambda *_: True,
    matches=(
        ("SSN: 123-45-6789", "123-45-6789"),
        ("social security number 123 45 6789.", "123 45 6789"),
        ('"ssn": "123456789"', "123456789"),
    ),
    ignores=(
        "123-45-6789", "SSN 000-12-3456", "SSN 666-12-3456", "SSN 912-12-3456", "SSN 123-00-6789", "SSN 123-45-0000",
        "SSN 123-45 6789", "SSN 123-45-67890", "session 123456789", "SSN 123-45-6789.5",
    ),
    kind="personal",
    severity="warn",
)  # fmt: skip

PASSPORT = Rule(
    name="cn_passport",
    anchors=("护照", "護照", "passport"),
    pattern=re.compile(
        rf"(?i:护照|護照|passport)[^0-9\n]{{0,24}}?(?<![0-9A-Za-z_])(?P<value_passport>[EG][0-9]{{8}}){_NUMBER_END}"
    ),
    accepts=lambda *_: True,
    matches=(
        ("护照号E12345678，", "E12345678"),
        ("護照G12345678", "G12345678"),
        ("Passport No. E12345678", "E12345678"),
    ),
    ignores=(
        "E12345678",
        "passport F12345678",
        "passport E123456789",
        "passport XE12345678",
        "passport\nE12345678",
        "passport E12345678-9",
    ),
    kind="personal",
    severity="warn",
)

UNANCHORED_RULES: tuple[Unanchored, ...] = (CARD, IBAN, RESIDENT, CREDIT_CODE, TAIWAN, HONG_KONG, EMAIL)
PERSONAL_RULES: tuple[Rule, ...] = (LABELLED_PHONE, PHONE, US_SSN, PASSPORT)
_RULE_SET = RuleSet(PERSONAL_RULES)
