"""Invented secrets of the kinds that stand in real sessions, and the search for what is left of them.

The values stand here in pieces, so that no scanner finds them in this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

RUN = 8
"""Longest part of a value that may be seen by accident."""


@dataclass(frozen=True, slots=True)
class Secret:
    """An invented credential, and how people write it."""

    prefix: str
    """What every credential of the kind begins with; it gives nothing away."""
    body: str
    """What nobody else may see."""
    label: str = "{}"
    """The text around it that tells what it is; `{}` alone where its shape does."""

    @property
    def value(self) -> str:
        return self.prefix + self.body

    @property
    def spoken(self) -> str:
        """As it stands in a sentence, a command or a file."""
        return self.label.format(self.value)

    @property
    def has_shape(self) -> bool:
        """Whether it is known for one also in a path, where no label stands beside it."""
        return self.label == "{}" and not set(self.value) & set("/:.\n")


_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"


def made_up(length: int, seed: int, alphabet: str = _LETTERS) -> str:
    """Characters as a provider draws them; the same for the same seed."""
    return "".join(Random(seed).choices(alphabet, k=length))


_DIGITS, _UPPER, _HEX = "1234567890", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdef"
_BASE64 = f"{_LETTERS}01+/"
_SLACK = f"{made_up(12, 61, _DIGITS)}-{made_up(12, 62, _DIGITS)}-{made_up(24, 63)}"
_SLACK_HOOK = f"T0{made_up(8, 71, _UPPER)}/B0{made_up(8, 72, _UPPER)}/{made_up(24, 73)}"
_PEM = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw" + made_up(28, 80), *(made_up(64, n) for n in range(81, 92))])
_JWT = "eyJ" + "zdWIiOiJraXRlLTQyIn0." + made_up(43, 101)
_AZURE = "DefaultEndpointsProtocol=https;AccountName=kite;AccountKey={};EndpointSuffix=core.windows.net"

PLANTED: dict[str, Secret] = {
    "openai": Secret("sk-" + "proj-", made_up(48, 1)),
    "anthropic": Secret("sk-" + "ant-api03-", made_up(93, 2) + "AA"),
    "github": Secret("gh" + "p_", made_up(36, 3)),
    "github_pat": Secret("github" + "_pat_", f"11B{made_up(19, 4)}_{made_up(59, 5)}"),
    "gitlab": Secret("gl" + "pat-", made_up(20, 6)),
    "aws_key_id": Secret("AK" + "IA", made_up(16, 7, _UPPER)),
    "aws_secret": Secret("", made_up(40, 8), "AWS_SECRET_ACCESS_KEY={}"),
    "slack": Secret("xox" + "b-", _SLACK),
    "slack_hook": Secret("https://hooks." + "slack.com/services/", _SLACK_HOOK),
    "stripe": Secret("sk_" + "live_", made_up(24, 9)),
    "google": Secret("AI" + "za", "Sy" + made_up(33, 10)),
    "hugging_face": Secret("hf" + "_", made_up(34, 11)),
    "npm": Secret("np" + "m_", made_up(36, 12)),
    "pypi": Secret("py" + "pi-AgEIcHlwaS5vcmc", made_up(120, 13)),
    "pem": Secret("-----BEGIN " + "RSA PRIVATE KEY-----\n", _PEM, "{}\n-----END " + "RSA PRIVATE KEY-----"),
    "jwt": Secret("eyJ" + "hbGciOiJIUzI1NiJ9.", _JWT),
    "postgres": Secret("", "Quay7anchor31zW", "postgres://svc:{}@db.kite.example:5432/app"),
    "azure": Secret("", made_up(86, 14, _BASE64) + "==", _AZURE),
    "telegram": Secret("", f"8{made_up(9, 15, _DIGITS)}:AA{made_up(33, 16)}", "https://api.telegram.org/bot{}/getMe"),
    "chinese": Secret("", "Gangkou7fengzheng22", "数据库密码：{}"),
    "bearer": Secret("", made_up(24, 17), "Authorization: Bearer {}"),
    "npmrc": Secret("", made_up(32, 18, _HEX), "//registry.kite.example/:_authToken={}"),
}


def traces(data: bytes, secrets: Mapping[str, Secret] = PLANTED) -> dict[str, str]:
    """Secrets of which RUN characters in a row are in `data`, with the first such run. Case makes no difference."""
    text = data.decode("utf-8", "replace").casefold()
    found = ((name, next((run for run in runs(one.body) if run in text), "")) for name, one in secrets.items())
    return {name: run for name, run in found if run}


def runs(body: str) -> Iterator[str]:
    """Each run of RUN characters of a secret, as it would stand in text or in an index."""
    for line in body.casefold().split("\n"):
        yield from (line[start : start + RUN] for start in range(len(line) - RUN + 1))


def left_in(folder: Path, secrets: Mapping[str, Secret] = PLANTED) -> dict[str, dict[str, str]]:
    """Traces in the name or in the bytes of any file below a folder, by its name."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    seen = {path.name: traces(path.read_bytes() + path.name.encode(), secrets) for path in files}
    return {name: found for name, found in seen.items() if found}
