"""Which numbers can have been given out: the check characters, prefixes and lengths of the standards.

Pure functions over the bare characters of a number, without spaces and signs.
"""

from __future__ import annotations

import calendar

# First four digits and lengths, as the issuers publish them: Visa, Mastercard, American Express, Diners Club, JCB,
# Discover, UnionPay.
_ISSUERS = (
    (range(4000, 5000), {16}), (range(5100, 5600), {16}), (range(2221, 2721), {16}), (range(3400, 3500), {15}),
    (range(3700, 3800), {15}), (range(3000, 3060), {14}), (range(3600, 3700), {14}), (range(3800, 4000), {14}),
    (range(3528, 3590), {16}), (range(6011, 6012), {16}), (range(6440, 6600), {16}),
    (range(6200, 6300), {16, 17, 18, 19}),
)  # fmt: skip

_COUNTRIES_BY_IBAN_LENGTH = {
    15: "NO", 16: "BE", 18: "DK FI FK FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK",
    21: "CH CR HR LI LV", 22: "BG BH DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV", 29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC", 32: "LC",
    33: "RU",
}  # fmt: skip
IBAN_LENGTHS = {
    country: length for length, countries in _COUNTRIES_BY_IBAN_LENGTH.items() for country in countries.split()
}
"""The length of an IBAN by its country, after the registry of ISO 13616."""

# GB/T 2260: the first two digits, of provinces and of what stands in their place.
_PROVINCES = frozenset(
    map(
        str,
        (
            *range(11, 16),
            *range(21, 24),
            *range(31, 38),
            *range(41, 47),
            *range(50, 55),
            *range(61, 66),
            71,
            81,
            82,
            83,
        ),
    )
)
_STATE = "10"  # of a body that is registered with the state itself
_CREDIT_CODE_CHARACTERS = "0123456789ABCDEFGHJKLMNPQRTUWXY"
_CREDIT_CODE_WEIGHTS = tuple(pow(3, place, 31) for place in range(17))
_RESIDENT_WEIGHTS = tuple(pow(2, place, 11) for place in range(17, -1, -1))
# In the order of their values 10 to 35, which is that of the counties when the letters were given out.
_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"
_TAIWAN_WEIGHTS = (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)
_HONG_KONG_SPACE = 36


def is_luhn(digits: str) -> bool:
    """Whether the last digit checks the others: ISO/IEC 7812-1, Annex B.

    From the right, every second digit is doubled and the digits of the products are added up; the sum is a multiple
    of 10.
    """
    plain = sum(map(int, digits[-1::-2]))
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (plain + doubled) % 10 == 0


def is_card(digits: str) -> bool:
    """Whether a payment card can have this number: the prefix and length of an issuer, and the check digit."""
    return is_luhn(digits) and any(int(digits[:4]) in prefixes and len(digits) in sizes for prefixes, sizes in _ISSUERS)


def is_iban(iban: str) -> bool:
    """Whether the two check digits after the country fit: ISO 13616-1, with MOD 97-10 of ISO/IEC 7064.

    The first four characters go to the end, letters become 10 to 35, and the number is one more than a multiple of 97.
    """
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1


def is_resident_number(number: str) -> bool:
    """Whether this can be a Chinese resident identity number: province, date of birth, and check character of GB 11643.

    That is MOD 11-2 of ISO/IEC 7064: the values times 2^(18 - i) mod 11, with X as 10 in the last place, add up to one
    more than a multiple of 11.
    """
    values = (10 if character in "Xx" else int(character) for character in number)
    total = sum(value * weight for value, weight in zip(values, _RESIDENT_WEIGHTS, strict=True))
    return total % 11 == 1 and number[:2] in _PROVINCES and _is_date(number[6:14])


def _is_date(digits: str) -> bool:
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:])
    return year >= 1 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


def is_credit_code(code: str) -> bool:
    """Whether this can be a Chinese unified social credit code: province, and check character of GB 32100.

    The first 17 values times 3^(i - 1) mod 31, and the last value, add up to a multiple of 31; I, O, S, V and Z are no
    characters of a code.
    """
    *values, check = map(_CREDIT_CODE_CHARACTERS.index, code)
    total = sum(value * weight for value, weight in zip(values, _CREDIT_CODE_WEIGHTS, strict=True))
    return (total + check) % 31 == 0 and (code[2:4] in _PROVINCES or code[2:4] == _STATE)


def is_taiwan_number(number: str) -> bool:
    """Whether the last digit of a Taiwanese identity number fits.

    The letter becomes two digits, 10 to 35; the eleven digits times 1, 9, 8, …, 2, 1, 1 add up to a multiple of 10, as
    the Ministry of the Interior's rules for identity cards have it.
    """
    letter = 10 + _TAIWAN_LETTERS.index(number[0])
    digits = map(int, f"{letter}{number[1:]}")
    return sum(digit * weight for digit, weight in zip(digits, _TAIWAN_WEIGHTS, strict=True)) % 10 == 0


def is_hong_kong_number(letters: str, digits: str) -> bool:
    """Whether the last of `digits` checks a Hong Kong identity card: the Immigration Department's mod 11.

    Letters are 10 to 35, a missing first letter is a space and 36, a last A is 10; the values times 9, 8, …, 2, 1 add
    up to a multiple of 11.
    """
    values = [_HONG_KONG_SPACE] * (2 - len(letters)) + [int(character, 36) for character in letters + digits]
    return sum(value * weight for value, weight in zip(values, range(9, 0, -1), strict=True)) % 11 == 0
