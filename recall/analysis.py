"""Text to index terms: the same for what is stored and what is asked.

A word becomes its Snowball stem (Porter2, https://snowballstem.org/algorithms/english/stemmer.html). An identifier
becomes its parts and itself: `getUserName` and `get_user_name` both give `get`, `user`, `name`, `getusernam`. Runs of
Chinese, Japanese, Korean and of scripts that write no spaces become characters and pairs of characters, because a
word segmenter would have to agree with itself between the question and the text, and the measured data sets favour
pairs wherever the two differ.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from operator import add

from py_rust_stemmers import SnowballStemmer

_stem = SnowballStemmer("english").stem_word

TERM_LIMIT = 64
"""Longest term in code points; what is longer (a hash of hashes, an embedded key) is cut, here and in queries."""

WORD_LIMIT = 512
"""Code points of one unbroken word that are looked at."""

TIMES = {1: "", 2: "\ue002", 3: "\ue003", 5: "\ue005"}
"""How often a text must hold a term to be indexed under it with that mark: characters that stand in no term."""

_RUNS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana, iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af\u1100-\u11ff\u3130-\u318f"  # Hangul
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
_LETTER = rf"[^\W_{_RUNS}][\u0300-\u036f]*"  # with its accents, where they are written apart
_TOKEN = re.compile(rf"(?P<run>[{_RUNS}]+)|(?:{_LETTER})+(?:_+(?:{_LETTER})+)*")
# Each pattern with these characters takes milliseconds to compile, at every start.
_RUN = re.compile(rf"([{_RUNS}]+)")
# What _TOKEN finds between two runs, two to four times as fast.
_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)*")
_COMBINING = re.compile("[\u0300-\u036f]")
_LETTERS = re.compile(r"[^\W\d_]+")
_HAN = re.compile("[\u4e00-\u9fff]+")
_ACCENTED = re.compile("[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]")
_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

STOP_WORDS = frozenset(
    """a about after again all also am an and any are as at be because been before being between both but by can could
    did do does doing done down each else ever few for from further get got had has have having he her here hers him
    his how i if in into is it its itself just let like may me might more most must my no nor not now of off on once
    only or other our ours out over own please same shall she should so some such than that the their theirs them then
    there these they this those through to too under until up upon us very was we were what when where which while who
    whom why will with would you your yours s t re ve ll d m don doesn didn isn wasn aren couldn won
    """.split()  # noqa: SIM905 - a list of 150 quoted words would be harder to read
)
"""Left out of a query that holds anything else. They stay in the index, so that `AND` can be found."""

_WEAK_CHARACTERS = frozenset("的了吗呢么吧啊呀嘛着")
_WEAK_PAIRS = frozenset(
    """这个 那个 这些 那些 什么 为什 怎么 怎样 如何 哪里 哪个 我们 你们 他们 之前 以前 上次 当时 现在 一下 可以 是不
    有没 没有 不是 还是 就是 因为 所以 然后 如果 但是 的话 一个 请问 帮我""".split()  # noqa: SIM905
)


def terms(text: str) -> list[str]:
    """Index terms of a stored text, in order, with repeats."""
    found: list[str] = []
    for place, part in enumerate(_RUN.split(text)):
        if place % 2:
            found += _run_terms(_fold(part))
        elif part.isascii():
            found += chain.from_iterable(map(_word_terms, _ASCII_WORD.findall(part)))
        elif not _COMBINING.search(part):
            found += chain.from_iterable(map(_word_terms, _WORD.findall(part)))
        else:
            found += chain.from_iterable(_word_terms(match[0]) for match in _TOKEN.finditer(part))
    return found


def index_terms(text: str) -> tuple[str, int]:
    """(what the word index stores of a text, number of its terms with repeats).

    Each term once, and once more with a mark for each of TIMES that it reaches, a space between them.
    """
    found = terms(text)
    marked = []
    for term, count in Counter(found).items():
        marked.append(term)
        if count > 1:
            marked += [term + mark for times, mark in TIMES.items() if 1 < times <= count]
    return " ".join(marked), len(found)


def words(text: str) -> frozenset[str]:
    """The different words of a text, digits apart, and of Chinese the characters and pairs: to compare texts by.

    Quicker than terms, of which it takes no stems and no parts.
    """
    found: list[str] = []
    for place, part in enumerate(_RUN.split(text.casefold())):
        found += _run_terms(part) if place % 2 else _LETTERS.findall(part)
    return frozenset(found)


def query_terms(text: str) -> list[str]:
    """Terms to search for, in order, without repeats: no stop words, unless the query holds nothing else.

    A run of Chinese, Japanese or Korean gives its pairs; a single character gives itself.
    """
    strong: dict[str, None] = {}
    weak: dict[str, None] = {}
    for match in _TOKEN.finditer(text):
        if match["run"]:
            run = _fold(match[0])
            pairs = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            for i, pair in enumerate(pairs):
                # A pair that reaches into a function word (是怎 before 怎么) belongs to no word at all.
                beside = pairs[max(0, i - 1) : i + 2]
                is_weak = not _WEAK_PAIRS.isdisjoint(beside) or not _WEAK_CHARACTERS.isdisjoint(pair)
                (weak if is_weak else strong)[pair] = None
        else:
            word = match[0].lower()
            for term in _word_terms(match[0]):
                (weak if word in STOP_WORDS else strong)[term] = None
    return list(strong or weak)


def matching_spans(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """(start, end, term) of each place in `text` that gives a wanted term, ascending; offsets in code points.

    Pairs of characters may overlap.
    """
    for match in _TOKEN.finditer(text):
        if match["run"]:
            run = _fold(match[0])
            if run != "".join(map(_fold, match[0])) or len(run) != len(match[0]):  # offsets inside it mean nothing
                term = next((t for t in _run_terms(run) if t in wanted), None)
                if term:
                    yield match.start(), match.end(), term
                continue
            for i in range(len(run)):
                pair = run[i : i + 2]
                if len(pair) == 2 and pair in wanted:
                    yield match.start() + i, match.start() + i + 2, pair
                elif run[i] in wanted:
                    yield match.start() + i, match.start() + i + 1, run[i]
        else:
            term = next((t for t in _word_terms(match[0]) if t in wanted), None)
            if term:
                yield match.start(), match.end(), term


def is_function_word(character: str) -> bool:
    """Whether a Chinese character says little by itself, such as 的."""
    return character in _WEAK_CHARACTERS


def unspaced_runs(text: str) -> Iterator[tuple[int, int]]:
    """[start, end) of each run of a script that writes no spaces, Chinese among them, ascending."""
    return (match.span() for match in _TOKEN.finditer(text) if match["run"])


def unspaced_share(text: str) -> float:
    """Share of letters that belong to scripts without spaces, Chinese among them; 0 for a text without letters."""
    runs = sum(map(len, _RUN.findall(text)))
    if not runs:
        return 0.0
    # A Chinese character says about as much as half an English word, so letters are weighed down.
    words = sum(len(match[0]) for match in _TOKEN.finditer(text) if not match["run"])
    return runs / (runs + words / 3)


def _run_terms(run: str) -> list[str]:
    return [*run, *map(add, run, run[1:])]


@lru_cache(maxsize=65_536)
def _word_terms(word: str) -> tuple[str, ...]:
    if word.isascii() and "_" not in word and word == (lower := word.lower()):
        return (_stemmed(lower),)
    parts = [part for piece in word[:WORD_LIMIT].split("_") if piece for part in _HUMP.split(piece)]
    found = [_stemmed(_fold(part)) for part in parts]
    if len(parts) > 1:
        found.append(_stemmed(_fold("".join(parts))))
    return tuple(term for term in found if term)


def _stemmed(word: str) -> str:
    word = word[:TERM_LIMIT]  # first: the stemmer's time grows with the square of the length
    if len(word) > 2 and word.isascii() and word.isalpha():
        stem: str = _stem(word)
        return stem
    return word


def _fold(text: str) -> str:
    """Without differences of case, width and accent."""
    if text.isascii():
        return text.lower()
    if _HAN.fullmatch(text):
        return text
    folded = unicodedata.normalize("NFKC", text).casefold()
    if _ACCENTED.search(folded):
        decomposed = unicodedata.normalize("NFKD", folded)
        folded = "".join(c for c in decomposed if not unicodedata.combining(c))
    return folded
