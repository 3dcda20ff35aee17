"""Corpus of look-alikes: text that is harmless and must not be masked, though it may look as if it held a secret.

What stands in transcripts, code and logs, in English and Chinese: digests, ids, public keys, look-ups, placeholders,
marks of redaction, published examples, and code and prose about secrets. The kinds are written down from such text and
from public documentation, without regard to the rules of any scanner. A kind that is arguably a secret is left out.

The lines are in benchmarks/lookalike_lines.py; the values in them are drawn anew for every sample.
"""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from uuid import UUID

from benchmarks.lookalike_lines import SHEETS

_LOWER = string.ascii_lowercase
_DIGITS = string.digits
_BASE64 = string.ascii_letters + _DIGITS + "+/"

ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": _DIGITS,
    "alnum": string.ascii_letters + _DIGITS,
    "ALNUM": string.ascii_uppercase + _DIGITS,
    "base36": _LOWER + _DIGITS,
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "bech32": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "base32": "abcdefghijklmnopqrstuvwxyz234567",
    "crockford": "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
    "nix": "0123456789abcdfghijklmnpqrsvwxyz",
    "pod": "bcdfghjklmnpqrstvwxz2456789",
    "char64": _BASE64,
    "charurl": string.ascii_letters + _DIGITS + "-_",
    "dna": "ACGT",
    "protein": "ACDEFGHIKLMNPQRSTVWY",
}
"""Fields of so many characters drawn from an alphabet."""

VOCABULARY = {
    "word": "account adapter batch billing cache catalog client cluster config context cursor editor engine export"
    " filter gateway handler import index invoice ledger loader message metrics mirror parser payment pipeline planner"
    " queue reader recall record render report router runner sample scanner schema search server session signal socket"
    " source stream summary syncer tracker upload vector viewer widget worker writer",
    "person": "Ada Byrne|Bo Lindqvist|Carla Mendes|Dmitri Volkov|Emeka Obi|Hana Sato|Li Wei|Maya Rao|Noor Haddad",
    "user": "ada bo carla dmitri emeka hana liwei maya noor",
    "host": "api.example.com app.example.org build.internal cdn.example.net docs.example.com registry.example.io",
    "package": "lodash axios numpy requests serde tokio pydantic fastapi react vite rollup chalk zod httpx orjson",
    "VAR": "OPENAI_API_KEY ANTHROPIC_API_KEY DB_PASSWORD GITHUB_TOKEN JWT_SECRET SLACK_BOT_TOKEN STRIPE_SECRET_KEY"
    " REDIS_PASSWORD AWS_SECRET_ACCESS_KEY SMTP_PASSWORD NPM_TOKEN SENTRY_AUTH_TOKEN SESSION_SECRET DEEPSEEK_API_KEY",
    "var": "api_key password db_password secret_key access_token auth_token client_secret private_key refresh_token",
    "camelvar": "apiKey password dbPassword secretKey accessToken authToken clientSecret refreshToken userToken",
    "subject": "fix: close the cursor before retry|feat(index): skip empty documents|refactor token bucket"
    "|docs: explain key rotation|Bump serde from 1.0.203 to 1.0.204|修复分页游标丢失的问题|test: cover expired tokens",
    "weekday": "Mon Tue Wed Thu Fri Sat Sun",
    "month": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "region": "us-east-1 us-west-2 eu-central-1 eu-west-1 ap-southeast-1 ap-northeast-1",
}
"""Fields of one entry out of a list, which is set off by bars where entries have spaces."""

_FIELD = re.compile(r"«(?:(\w+)=)?(@?\w*)(?::([^»]*))?»")


@dataclass(frozen=True, slots=True)
class LookAlike:
    name: str
    """In snake case, unique."""
    make: Callable[[Random], str]
    """A line, or a few lines, as they stand in transcripts, code or logs."""


def cases(per_kind: int, seed: int) -> Iterator[tuple[LookAlike, str]]:
    """So many samples of every kind, kind by kind. The samples of a kind depend on its name and the seed alone."""
    for kind in LOOK_ALIKES:
        rng = Random(f"{seed}:{kind.name}")
        for _ in range(per_kind):
            yield kind, kind.make(rng)


def fill(templates: tuple[str, ...], rng: Random) -> str:
    """One of the templates with its fields drawn. ⏎ is the end of a line. «name=field» keeps what was drawn, so that
    «@name» repeats it and «@name:7» its first 7 characters.
    """
    kept: dict[str, str] = {}

    def draw(match: re.Match[str]) -> str:
        keep, name, argument = match.group(1) or "", match.group(2), match.group(3) or ""
        if name.startswith("@"):
            return kept[name[1:]][: int(argument) if argument else None]
        value = _value(rng, name, argument)
        if keep:
            kept[keep] = value
        return value

    return _FIELD.sub(draw, rng.choice(templates).replace("⏎", "\n"))


def _value(rng: Random, name: str, argument: str) -> str:
    """What a field stands for; an empty field is nothing and keeps a literal in pieces."""
    if name in ALPHABETS:
        return "".join(rng.choices(ALPHABETS[name], k=int(argument)))
    if name in VOCABULARY:
        entries = VOCABULARY[name]
        return rng.choice(entries.split("|" if "|" in entries else " "))
    if not name:
        return ""
    return _MAKERS[name](rng, argument)


def _pick(rng: Random, argument: str) -> str:
    return rng.choice(argument.split("|"))


def _int(rng: Random, argument: str) -> str:
    low, high = argument.split("-")
    return str(rng.randint(int(low), int(high)))


def _number(rng: Random, argument: str) -> str:
    """So many digits, the first of them not 0."""
    return str(rng.randrange(10 ** (int(argument) - 1), 10 ** int(argument)))


def _uuid(rng: Random, argument: str) -> str:
    """A UUID of a version, 4 unless told."""
    text = str(UUID(int=rng.getrandbits(128), version=4))
    version = argument or "4"
    time = "0190" + text[4:14] if version == "7" else text[:14]
    return time + version + text[15:]


def _base64(rng: Random, argument: str) -> str:
    return base64.b64encode(rng.randbytes(int(argument))).decode("ascii")


def _words64(rng: Random, argument: str) -> str:
    return base64.b64encode(_words(rng, argument).encode("ascii")).decode("ascii")


def _colons(rng: Random, argument: str) -> str:
    return rng.randbytes(int(argument)).hex(":")


def _pem(rng: Random, argument: str) -> str:
    """So many lines of 64 characters, and a shorter last one."""
    lines = ["".join(rng.choices(_BASE64, k=64)) for _ in range(int(argument))]
    return "\n".join([*lines, _base64(rng, "28")])


def _mappings(rng: Random, argument: str) -> str:
    """So many segments of a source map."""
    letters = string.ascii_letters
    segments = (f"{rng.choice(letters)}A{rng.choice('ACDSU')}{rng.choice(letters)}" for _ in range(int(argument)))
    return "".join(segment + rng.choice(",,,,;") for segment in segments) + "AAAA"


def _words(rng: Random, argument: str) -> str:
    return " ".join(_value(rng, "word", "") for _ in range(int(argument)))


def _camel(rng: Random, argument: str) -> str:
    first, *rest = _words(rng, argument).split()
    return first + "".join(word.capitalize() for word in rest)


def _snake(rng: Random, argument: str) -> str:
    return _words(rng, argument).replace(" ", "_")


def _pascal(rng: Random, argument: str) -> str:
    return _words(rng, argument).title().replace(" ", "")


def _mangled(rng: Random, argument: str) -> str:
    """So many nested names, each behind its length, as C++ and Rust symbols have them."""
    return "".join(f"{len(word)}{word}" for word in _words(rng, argument).split())


def _date(rng: Random, _: str) -> str:
    return f"{rng.randint(2021, 2026)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def _clock(rng: Random, _: str) -> str:
    return f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"


def _version(rng: Random, _: str) -> str:
    return f"{rng.randint(0, 12)}.{rng.randint(0, 30)}.{rng.randint(0, 20)}"


def _ip(rng: Random, _: str) -> str:
    return f"10.{rng.randint(0, 255)}.{rng.randint(0, 255)}.{rng.randint(1, 254)}"


_MAKERS: dict[str, Callable[[Random, str], str]] = {
    "pick": _pick,
    "int": _int,
    "number": _number,
    "uuid": _uuid,
    "base64": _base64,
    "words64": _words64,
    "colons": _colons,
    "pem": _pem,
    "mappings": _mappings,
    "words": _words,
    "camel": _camel,
    "snake": _snake,
    "pascal": _pascal,
    "mangled": _mangled,
    "date": _date,
    "clock": _clock,
    "version": _version,
    "ip": _ip,
}


def _kinds() -> Iterator[LookAlike]:
    """The kinds of all sheets; their form is told in benchmarks/lookalike_lines.py."""
    for sheet in SHEETS:
        templates: dict[str, list[str]] = {}
        name = ""
        for line in sheet.strip("\n").split("\n"):
            if line.startswith("    "):
                templates[name][-1] += line[4:]
            elif line.startswith("  "):
                templates[name].append(line[2:])
            else:
                name, _, template = line.partition(": ")
                templates.setdefault(name, []).append(template)
        for name, variants in templates.items():
            yield LookAlike(name, partial(fill, tuple(variants)))


LOOK_ALIKES: tuple[LookAlike, ...] = tuple(_kinds())
