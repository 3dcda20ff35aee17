"""An archive from the time of older rules: transcripts full of secrets, taken in unmasked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Home
from planted import PLANTED, Secret, made_up
from transcript_lines import at, cl, cl_call, cl_result, codex_lines, uid, write

from recall import archive, identity, ledger, reading, redacting
from scanning import Redacted

KEY = "\n".join(made_up(64, number) for number in range(200, 247))
PEM = "-----BEGIN " + f"PRIVATE KEY-----\n{KEY}\n-----END " + "PRIVATE KEY-----"
HIDDEN = {
    "key": Secret("", KEY),
    "private": Secret("", "pelican-meadow-3141-granite"),
    **{name: PLANTED[name] for name in ("github", "gitlab", "stripe", "npm", "google", "slack", "openai", "postgres")},
}
TOKEN = {name: secret.value for name, secret in HIDDEN.items()}
S1, S2 = uid(0xC1), uid(0xC2)


@contextmanager
def older_rules() -> Iterator[None]:
    """As if these were the rules of version 1, and knew nothing."""

    def find_nothing(text: str, *_: object, **__: object) -> Redacted:
        return Redacted(text, ())

    with pytest.MonkeyPatch.context() as patch:
        for module in (archive, identity, ledger, reading, redacting):
            patch.setattr(module, "redact", find_nothing)
        patch.setattr(archive, "RULES_VERSION", 1)
        yield


def transcripts(home: Home) -> list[Path]:
    cwd, branch = f"/srv/{TOKEN['github']}/kite", f"fix/{TOKEN['stripe']}"
    written = {"file_path": f"/srv/{TOKEN['npm']}.txt", "content": f"wick {TOKEN['google']}"}
    edit = {"type": "tool_use", "id": "t2", "name": TOKEN["npm"], "input": written}
    claude = [
        cl(at(0), "user", uid(1), S1, cwd, f"the lantern says {TOKEN['slack']}, why?", gitBranch=branch),
        cl(at(1), "assistant", uid(2), S1, cwd, f"harbor\n{PEM}\nquay", gitBranch=branch),
        cl(at(2), "assistant", uid(3), S1, f"{cwd}/in", [cl_call("t1", f"curl {HIDDEN['postgres'].spoken}")]),
        cl(at(3), "user", uid(4), S1, cwd, [cl_result("t1", f"printed <private>{TOKEN['private']}</private>")]),
        cl(at(4), "assistant", uid(5), S1, cwd, [edit], gitBranch=f"on/{TOKEN['gitlab']}"),
        json.dumps({"type": TOKEN["github"], "sessionId": S1}),
        json.dumps({"type": "ai-title", "aiTitle": f"lantern {TOKEN['openai']}", "sessionId": S1}),
        cl(at(5), "user", uid(6), S1, cwd, f"and the lantern of {TOKEN['github']}?", gitBranch=branch),
    ]
    git = {"branch": branch, "repository_url": f"https://ana:{TOKEN['gitlab']}@git.kite.example/kite.git"}
    codex = codex_lines(S2, cwd, ("user", f"lantern {TOKEN['stripe']}"), ("assistant", f"ok {TOKEN['npm']}"), git=git)
    return [
        write(home.claude / TOKEN["github"] / f"{S1}.jsonl", claude),
        write(home.codex / f"rollout-{S2}.jsonl", codex),
        write(
            home.claude / "x" / f"{TOKEN['github']}.jsonl", [json.dumps({"role": "user", "content": "beside: plain"})]
        ),
    ]
