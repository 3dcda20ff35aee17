"""What a generated credential stands in: bare, settings, JSON once and twice escaped, Chinese, a diff or a log.

A kind that only its label tells is never without one: its variable's name, or in Chinese a Chinese word. One whose text
brings its label along (a line of .netrc) stands bare as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks.credentials import LABELLED, Credential, Planted, expand

_UNQUOTED = re.compile(r"[\w@%+=:,./~-]+", re.ASCII)
_LABELLED = frozenset(credential.name for credential in LABELLED)


@dataclass(frozen=True, slots=True)
class Case:
    text: str
    """All of what a scanner is given."""
    secret: str
    """What must not survive, exactly as it stands in the text, escapes and prefixes of lines included."""


def plant(credential: Credential, surrounding: str, random: Random) -> Case:
    """One credential of a kind in a surrounding of SURROUNDINGS."""
    case = SURROUNDINGS[surrounding](credential, credential.make(random), random)
    assert case.secret in case.text, (credential.name, surrounding)
    return case


def cases(kinds: Iterable[Credential], per_surrounding: int, seed: int) -> Iterator[tuple[Credential, str, Case]]:
    """So many cases of every kind in every surrounding. Those of one kind do not depend on which others there are."""
    for credential in kinds:
        for surrounding in SURROUNDINGS:
            random = Random(f"{seed}/{credential.name}/{surrounding}")
            for _ in range(per_surrounding):
                yield credential, surrounding, plant(credential, surrounding, random)


def _bare(credential: Credential, planted: Planted, random: Random) -> Case:
    if credential.name not in _LABELLED or planted.text != planted.secret:
        return Case(planted.text, planted.secret)
    label = credential.label
    spoken = label.lower().replace("_", " ")
    return _around(
        planted,
        random.choice(
            (
                (f"{label}: ", ""),
                (f"{spoken}: ", ""),
                (f"The {label} for staging is ", " and it works from my machine."),
                (f"I rotated it, the new {spoken} is ", ""),
            )
        ),
    )


def _env(credential: Credential, planted: Planted, random: Random) -> Case:
    quoted = planted.text
    if not _UNQUOTED.fullmatch(quoted):
        quoted = f"'{quoted}'" if '"' in quoted or "\n" not in quoted else f'"{quoted}"'
    line = f"{credential.label}={quoted}"
    texts = (
        f"export {line}",
        f"NODE_ENV=production\nPORT={expand('{n4}', random)}\n{line}\nLOG_LEVEL=info\n",
        f"# {random.choice(('staging', 'do not commit', 'from the wiki'))}\n{line}\nTZ=UTC\n",
    )
    return Case(random.choice(texts), planted.secret)


def _json(credential: Credential, planted: Planted, random: Random) -> Case:
    text = json.dumps(_fields(credential, planted, random), indent=random.choice((None, 2)), ensure_ascii=False)
    return Case(text, _escaped(planted.secret))


def _json_twice(credential: Credential, planted: Planted, random: Random) -> Case:
    output = json.dumps(_fields(credential, planted, random), indent=2, ensure_ascii=False)
    at = expand("2026-0{n1}-1{d1}T1{d1}:2{d1}:3{d1}.{d3}Z", random)
    result = {"type": "tool_result", "tool_use_id": expand("toolu_{d4}", random), "content": output}
    call = {"type": "function_call_output", "call_id": expand("call_{d4}", random), "output": output}
    record: dict[str, Any] = random.choice(
        (
            {"type": "user", "message": {"role": "user", "content": [result]}, "timestamp": at},
            {"timestamp": at, "type": "response_item", "payload": call},
        )
    )
    return Case(json.dumps(record, ensure_ascii=False), _escaped(_escaped(planted.secret)))


def _chinese(credential: Credential, planted: Planted, random: Random) -> Case:
    if credential.name in _LABELLED:
        word = _chinese_word(credential.label, random)
        return _around(
            planted,
            random.choice(
                (
                    (f"{word}：", ""),
                    (f"线上的{word}：", "，用完记得换掉"),
                    (f"我先把新的{word}：", "发给你，重启之后就能连上了"),
                    (f"部署一直失败，你看看，{word}：", "。是不是配置写错了？"),
                )
            ),
        )
    return _around(
        planted,
        random.choice(
            (
                ("部署的时候报错了，现在用的是", "你帮我看看哪里不对"),
                ("昨天换成了", "之后还是连不上"),
                ("把", "填进配置里再跑一遍测试"),
                ("线上配的是", "，帮我改成从环境变量读取"),
                ("内容是：", "。先不要提交"),
            )
        ),
    )


def _diff_or_log(credential: Credential, planted: Planted, random: Random) -> Case:
    return random.choice((_diff, _log))(credential, planted, random)


def _diff(credential: Credential, planted: Planted, random: Random) -> Case:
    name = _cased(credential.label, random.choice(("snake", "camel", "upper")))
    if "\n" in planted.text:
        start = "\n+    "
        value = "|" + start + planted.text.replace("\n", start)
        secret = planted.secret.replace("\n", start)
    else:
        value, secret = _quoted(planted)
    file = random.choice(("deploy/values.yaml", "config/production.yml", "docker-compose.yml"))
    text = (
        f"diff --git a/{file} b/{file}\n@@ -12,4 +12,{5 + value.count(chr(10))} @@ env:\n"
        f"   region: eu-central-1\n   replicas: 2\n+  {name}: {value}\n   log_level: info\n   timeout: 30s\n"
    )
    return Case(text, secret)


def _log(credential: Credential, planted: Planted, random: Random) -> Case:
    value, secret = _quoted(planted)
    at = expand("2026-0{n1}-1{d1}T1{d1}:2{d1}:3{d1}.{d3}Z", random)
    name = _cased(credential.label, random.choice(("snake", "upper")))
    texts = [
        f"{at} INFO  [main] settings loaded env=production {name}={value} workers=4",
        f"{at} ERROR request failed status=403 attempt=2 {name}={value}\n{at} ERROR giving up after 3 attempts",
    ]
    if credential.name not in _LABELLED:
        texts.append(f"{at} WARN  upstream refused {value} (401), retrying in 5s")
    return Case(random.choice(texts), secret)


def _around(planted: Planted, around: tuple[str, str]) -> Case:
    return Case(around[0] + planted.text + around[1], planted.secret)


def _fields(credential: Credential, planted: Planted, random: Random) -> dict[str, Any]:
    """An object with the credential in a field named by its label."""
    name = _cased(credential.label, random.choice(("snake", "camel", "kebab", "upper")))
    return random.choice(
        (
            {name: planted.text},
            {"name": "billing", "region": "eu-west-1", name: planted.text, "retries": 3},
            {"mcpServers": {"tools": {"command": "npx", "args": ["-y", "server"], "env": {name: planted.text}}}},
            {"environment": "production", "options": {"verbose": False, name: planted.text}},
        )
    )


def _cased(label: str, style: str) -> str:
    words = label.lower().split("_")
    match style:
        case "snake":
            return "_".join(words)
        case "kebab":
            return "-".join(words)
        case "camel":
            return words[0] + "".join(word.capitalize() for word in words[1:])
        case _:
            return label


def _quoted(planted: Planted) -> tuple[str, str]:
    """The text as a value on a line, in quotes where it needs them, and the secret as it then stands."""
    if _UNQUOTED.fullmatch(planted.text):
        return planted.text, planted.secret
    return f'"{_escaped(planted.text)}"', _escaped(planted.secret)


def _escaped(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]


def _chinese_word(label: str, random: Random) -> str:
    if "PASS" in label or label == "NETRC":
        return random.choice(("密码", "口令"))
    return "令牌" if "TOKEN" in label else "密钥"


SURROUNDINGS: dict[str, Callable[[Credential, Planted, Random], Case]] = {
    "bare": _bare,
    "env": _env,
    "json": _json,
    "json-twice": _json_twice,
    "chinese": _chinese,
    "diff-or-log": _diff_or_log,
}
