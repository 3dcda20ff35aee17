"""Realistic archives of any size: sessions as people and agents write them, and questions about what is in them.

    for session in sessions(100_000): index.add(session)

Sizes are heavy-tailed, as in 75 published sessions of Claude Code (github.com/entireio/cli); words follow Zipf's law, a
repository and a session have words of their own, a part is Chinese, some sessions are forks and some outputs are
printed again and again. Nothing is made of anyone's sessions. The same arguments give the same sessions, on the same
version of Python.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.vocabulary import Vocabulary, chinese, english, printed
from recall import Message, Session

KNOWN = "/srv/projects/harbour"
"""Directory of the repository whose size can be chosen."""

BEGIN, DAYS = datetime(2024, 11, 1, 8, tzinfo=UTC), 730

CHINESE, FORKS, AGAIN = 0.18, 0.02, 0.05
"""Shares: of sessions held in Chinese, of sessions that are forks, of outputs that were printed before."""

PROSE_CHARACTERS, CHINESE_CHARACTERS, OUTPUT_CHARACTERS, OUTPUT_LIMIT = 740, 240, 760, 3_000
"""Characters of a long message to a passage, as measured; and what recall keeps of an output."""

_PROSE = (*[" "] * 52, *[", "] * 5, *[". "] * 4, ".\n\n", ":\n- ", " `")
_CHINESE = (*[""] * 48, *["，"] * 9, *["。"] * 4, "。\n\n", "：\n- ", " ")
_OUTPUT = (*[" "] * 40, *["\n"] * 12, *["\n    "] * 6, ": ", ", ", " = ", " | ", "\t", " -> ")
_TOOLS = {"codex": ("exec_command", "exec_command", "apply_patch"), "claude": ("Bash", "Read", "Edit")}
_COMMANDS = ("rg -n", "python -m pytest", "git diff", "sed -n 1,80p", "ls -la", "cat", "make", "npm run", "git log --")
_CHINESE_QUESTIONS = ("为什么{0}{1}会失败", "{0}的{1}是怎么改的", "上次{0}{1}报错怎么解决", "{0}和{1}有什么区别",
                      "{2} 的{0}在哪里配置")  # fmt: skip
_QUESTIONS = (
    "why does {0} {1} fail", "how did we fix {0} in {4}", "where is {0} {1} configured", "{0} {1} {4} {2}",
    "what was the reason for {0} instead of {1}", "which test covers {0} and {1} {4}", "error {0} {1} when {4} {2} {3}",
    "the change to {0} {1} after {4}",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of an archive, with the words that are its own."""

    cwd: str
    topic: Vocabulary
    topic_chinese: Vocabulary


def repositories_of(count: int, seed: int) -> list[Repository]:
    """The repositories of an archive, KNOWN first."""
    made = []
    for number in range(count):
        random = np.random.default_rng((seed, 1, number))
        name = "-".join(english().part(2, 200, 6_000, random).words).lower()
        cwd = KNOWN if number == 0 else f"/srv/projects/{name}-{number}"
        made.append(Repository(cwd, english().part(300, 150, 8_000, random), chinese().part(80, 40, 4_000, random)))
    return made


def sessions(passages: int, repositories: int = 200, seed: int = 0, known: int = 5_000) -> Iterator[Session]:
    """Sessions of about so many passages in all, oldest first; about `known` of them are of the repository KNOWN.

    The other repositories have sizes by Zipf's law. About two in five passages are worth a vector.
    """
    random = np.random.default_rng((seed, 0))
    places = repositories_of(repositories, seed)
    shares = 1 / np.arange(1, repositories + 1)
    shares[0] = 0.0 if repositories > 1 else 1.0
    shares *= (1 - min(1.0, known / passages)) / shares.sum() if repositories > 1 else 1.0
    shares[0] = 1 - shares[1:].sum()
    due = np.zeros(repositories)
    earlier: deque[Session] = deque(maxlen=50)
    outputs: deque[str] = deque(["no matches found\n"], maxlen=200)
    done, number = 0.0, 0
    while done < passages:
        which = int(np.argmax(due + random.random(repositories) * 20))  # no repository gets all of its sessions at once
        written = _Writing(places[which], number, done / passages, random, seed, outputs)
        session = written.session(float(passages - done))
        origins = [one for one in earlier if (one.cwd, one.agent) == (session.cwd, session.agent)]
        if origins and random.random() < FORKS * 2:  # about half of all sessions have an origin among the last
            session = _fork(origins[-1], session)
        else:
            earlier.append(session)
        due += shares * written.passages
        due[which] -= written.passages
        done, number = done + written.passages, number + 1
        yield session


def questions(count: int, seed: int = 0, cwd: str = "", repositories: int = 200) -> list[str]:
    """Questions of 4 to 12 words about an archive of the same seed; cwd: about that repository only."""
    random = np.random.default_rng((seed, 2))
    places = [place for place in repositories_of(repositories, seed) if cwd in ("", place.cwd)]
    asked = []
    for _ in range(count):
        place = places[int(random.integers(len(places)))]
        in_chinese = random.random() < CHINESE
        forms = _CHINESE_QUESTIONS if in_chinese else _QUESTIONS
        topic = place.topic_chinese if in_chinese else place.topic
        words = [*topic.draw(2, random), *place.topic.draw(2, random), *english().part(1, 100, 2_000, random).words]
        asked.append(forms[int(random.integers(len(forms)))].format(*words))
    return asked


class _Writing:
    """One session being written. Words are drawn for all of it at once: one by one, a million passages take hours."""

    def __init__(
        self, place: Repository, number: int, at: float, random: np.random.Generator, seed: int, outputs: deque[str]
    ) -> None:
        """at: share of the archive that is older. outputs: what was printed before, and is now and then again."""
        self.place, self.random, self.outputs = place, random, outputs
        self.in_chinese = random.random() < CHINESE
        self.agent = "codex" if random.random() < 0.5 else "claude"
        self.id = f"{number:08x}-{seed & 0xFFFF:04x}-7000-8000-{number * 2_654_435_761 % 2**48:012x}"
        self.time = BEGIN + timedelta(days=DAYS * at, seconds=float(random.random()) * 3_600)
        self.passages = 0.0
        """About how many the session will make."""
        self.messages: list[Message] = []

    def session(self, most: float) -> Session:
        """The session, of about `most` passages at most."""
        began = self.time
        turns = min(1 + int(self.random.lognormal(0.7, 0.9)), 60)
        steps = self.random.geometric(0.35, turns)
        said = self._texts(self._sizes(turns, steps), self.in_chinese)
        calls = self._output(np.minimum(self.random.lognormal(2.2, 0.9, int(steps.sum())), 1_500).astype(int) + 2)
        outputs = self._output(np.minimum(self.random.lognormal(3.6, 2.1, int(steps.sum())), 20_000).astype(int) + 1)
        for turn in range(turns):
            self._say("user", next(said))
            for _ in range(int(steps[turn])):
                if commentary := next(said):
                    self._say("assistant", commentary)
                self._run(next(calls), next(outputs))
            self._say("assistant", next(said))
            if self.passages >= most:
                break
        return Session(
            id=self.id, agent=self.agent, started_at=began, cwd=self.place.cwd, branch="main",
            messages=tuple(self.messages),
        )  # fmt: skip

    def _sizes(self, turns: int, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Words of all that is said in a session, in order; 0 where the assistant calls a tool without a word."""
        parts = []
        for turn in range(turns):
            between = self.random.lognormal(2.9, 0.6, int(steps[turn])) * (self.random.random(int(steps[turn])) < 0.7)
            ends = self.random.lognormal((2.6, 4.2), (1.4, 0.9))
            parts += [ends[:1] + 2, between, ends[1:] + 2]
        return np.minimum(np.concatenate(parts), 3_000).astype(np.int64)

    def _texts(self, sizes: NDArray[np.int64], in_chinese: bool) -> Iterator[str]:
        topic = self.place.topic_chinese if in_chinese else self.place.topic
        words = self._draw(chinese() if in_chinese else english(), topic, int(sizes.sum()))
        if in_chinese:  # a tenth are names of the program, in English
            names = self.random.random(len(words)) < 0.1
            words[names] = self.place.topic.draw(int(names.sum()), self.random)
        return self._joined(words, sizes, _CHINESE if in_chinese else _PROSE)

    def _output(self, sizes: NDArray[np.int64]) -> Iterator[str]:
        words = self._draw(printed(), self.place.topic, int(sizes.sum()))
        rare = self.random.integers(0, len(words), len(words) // 60)  # hashes and addresses, each of which comes once
        words[rare] = [f"{value:08x}" for value in self.random.integers(0, 2**32, len(rare)).tolist()]
        return self._joined(words, sizes, _OUTPUT)

    def _draw(self, usual: Vocabulary, topic: Vocabulary, count: int) -> NDArray[np.object_]:
        """Words of which a fifth are the repository's own and a seventh the session's."""
        words = usual.draw(count, self.random)
        kinds = self.random.random(count)
        for chosen, source in ((kinds < 0.2, topic), (kinds > 0.86, usual.part(30, 1_000, 20_000, self.random))):
            words[chosen] = source.draw(int(chosen.sum()), self.random)
        return words

    def _joined(self, words: NDArray[np.object_], sizes: NDArray[np.int64], between: tuple[str, ...]) -> Iterator[str]:
        pieces = np.empty(2 * len(words), dtype=object)
        pieces[0::2] = words
        pieces[1::2] = np.array(between, dtype=object)[self.random.integers(0, len(between), len(words))]
        ends = 2 * np.cumsum(sizes)
        for size, end in zip(sizes.tolist(), ends.tolist(), strict=True):
            yield "".join(pieces[end - 2 * size : max(end - 1, 0)].tolist()) if size else ""

    def _say(self, role: Literal["user", "assistant"], text: str) -> None:
        if role == "user" and self.random.random() < 0.3:
            text += "？" if self.in_chinese else "?"
        self._add(role, text)
        self.passages += _passages(text, CHINESE_CHARACTERS if self.in_chinese else PROSE_CHARACTERS)

    def _run(self, call: str, output: str) -> None:
        kind = int(self.random.integers(3))
        tool, file = _TOOLS[self.agent][kind], str(self.place.topic.draw(1, self.random)[0]) + ".py"
        command = _COMMANDS[int(self.random.integers(len(_COMMANDS)))]
        if self.random.random() < AGAIN:
            output = self.outputs[int(self.random.integers(len(self.outputs)))]
        elif self.random.random() < AGAIN:
            self.outputs.append(output)
        self._add("tool", f"{command} {call}", tool, (file,))
        self._add("tool", output, tool)
        self.passages += _passages(call, OUTPUT_CHARACTERS) + _passages(output[:OUTPUT_LIMIT], OUTPUT_CHARACTERS)

    def _add(
        self, role: Literal["user", "assistant", "tool"], text: str, tool: str = "", files: tuple[str, ...] = ()
    ) -> None:
        self.time += timedelta(milliseconds=int(self.random.exponential(20_000)) + 1)
        key = f"{self.id[:8]}-{len(self.messages):04x}-4{self.id[10:13]}-8000-{self.id[-12:]}"
        key = key if self.agent == "claude" else ""
        self.messages.append(Message(role, text, self.time, key=key, tool=tool, files=files))


def _passages(text: str, characters: int) -> float:
    return max(1.0, len(text) / characters)


def _fork(origin: Session, session: Session) -> Session:
    """The session as one that begins with the history of another of its repository."""
    own = session.messages[0].timestamp
    assert own is not None
    # Claude copies lines with their ids and times; Codex gives the copies the time of the fork.
    copied = [message if message.key else replace(message, timestamp=own) for message in origin.messages]
    return replace(session, forked_from=origin.id, messages=(*copied, *session.messages))
