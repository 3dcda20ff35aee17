"""The words of generated archives: those of Python's own library as often as they stand there, and Chinese ones."""

from __future__ import annotations

import re
import sysconfig
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PROSE, NAMES = 14_000, 6_000
"""Plain words, and names such as `read_head` and `BytesIO`, of the 20,000."""

_WORD = re.compile(r"\b(?:[a-z]{2,14}|[A-Z][a-z]{2,13})\b")
_NAME = re.compile(r"\b(?:[a-z]+(?:_[a-z]+){1,3}|[A-Z][a-z]+(?:[A-Z][a-z]+){1,2})\b")
_FOLDERS = ("", "asyncio", "concurrent/futures", "email", "http", "importlib", "json", "logging", "multiprocessing",
            "sqlite3", "unittest", "urllib", "wsgiref", "xml/dom", "xml/sax", "xmlrpc", "idlelib")  # fmt: skip

# What holds a Chinese sentence together; the glossary has none of it.
_PARTICLES = ("的", "了", "是", "在", "不", "这个", "就", "也", "和", "有", "把", "要", "我", "那", "会", "还", "可以",
              "没有", "一下", "怎么", "为什么", "如果", "然后", "因为", "所以", "已经", "现在", "看", "都")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words from the most to the least usual, and how often each one is used."""

    words: NDArray[np.object_]
    cumulative: NDArray[np.float64]
    """The share of each word and all before it."""

    def draw(self, count: int, random: np.random.Generator) -> NDArray[np.object_]:
        """So many words, each as often as Zipf's law has it."""
        drawn: NDArray[np.object_] = self.words[np.searchsorted(self.cumulative, random.random(count))]
        return drawn

    def part(self, count: int, first: int, last: int, random: np.random.Generator) -> Vocabulary:
        """A topic: so many words from between two ranks, the same word perhaps twice."""
        return of(self.words[random.integers(min(first, len(self.words) // 2), min(last, len(self.words)), count)])


def of(words: NDArray[np.object_]) -> Vocabulary:
    """Words in the order given, under Zipf's law as Mandelbrot has it: the share of rank r goes with 1 / (r + 2.7)."""
    shares = 1 / (np.arange(1, len(words) + 1) + 2.7)
    cumulative = np.cumsum(shares)
    return Vocabulary(words, cumulative / cumulative[-1])


@cache
def english() -> Vocabulary:
    """20,000 words and names of this Python's library; another version of Python has a few others."""
    words: Counter[str] = Counter()
    names: Counter[str] = Counter()
    library = Path(sysconfig.get_paths()["stdlib"])
    for folder in _FOLDERS:
        for path in sorted((library / folder).glob("*.py")):
            text = path.read_text(encoding="utf-8", errors="replace")
            words.update(_WORD.findall(text))
            names.update(_NAME.findall(text))
    usual = sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))[:PROSE]
    rarer = sorted(names.items(), key=lambda pair: (-pair[1], pair[0]))[:NAMES]
    merged = sorted(usual + rarer, key=lambda pair: (-pair[1], pair[0]))
    return of(np.array([word for word, _ in merged], dtype=object))


@cache
def printed() -> Vocabulary:
    """What tools print: names, paths, numbers and words."""
    words = english().words
    random = np.random.default_rng(20_000)
    forms = ("{0}.py", "src/{0}/{1}.py", "{0}()", "{0}={1}", "tests/test_{0}.py", '"{0}"', "{0}.{1}", "{0}:{2}", "{2}",
             "{0}", "{0}", "{0}")  # fmt: skip
    made = [
        forms[form].format(words[a], words[b], number)
        for form, a, b, number in zip(
            random.integers(0, len(forms), 20_000).tolist(), random.integers(0, 9_000, 20_000).tolist(),
            random.integers(0, 20_000, 20_000).tolist(), random.integers(0, 5_000, 20_000).tolist(), strict=True,
        )
    ]  # fmt: skip
    return of(np.array(made, dtype=object))


@cache
def chinese() -> Vocabulary:
    """Chinese words of programming, the most usual first, between those that every sentence has."""
    lines = files("recall").joinpath("glossary.tsv").read_text(encoding="utf-8").splitlines()
    words = [line.split("\t")[0] for line in lines if line and not line.startswith("#")]
    order = np.random.default_rng(4_500).permutation(len(words))
    return of(np.array([*_PARTICLES, *(words[place] for place in order)], dtype=object))
