"""Text that hides what it says: characters that show nothing, or that show the text in another order.

Emoji, Persian, the scripts of India and text that runs from right to left need some of these characters; there they
are no findings. What is judged is the place: a joiner between two emoji joins them, one inside a word of ASCII letters
can only keep a machine from reading the word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from scanning.types import Finding, Severity
from scanning.unescape import Offsets

_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_MARKS = "\u061c\u200e\u200f"
_FILLERS = "\u115f\u1160\u3164\uffa0"
_ZERO_WIDTH = "\u00ad\u034f\u17b4\u17b5\u180b-\u180e\u200b-\u200d\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"
_INVISIBLE = f"{_TAGS}{_SELECTORS}{_MARKS}{_FILLERS}{_ZERO_WIDTH}"
_REORDERING = "\u202a-\u202e\u2066-\u2069"
_HAN = "\u3400-\u9fff"

_RUN = re.compile(f"[{_INVISIBLE}]{{1,4096}}+")
_HIDDEN = re.compile(f"[{_INVISIBLE}{_REORDERING}]")
_HAS_TAG = re.compile(f"[{_TAGS}]")
_HAS_FILLER = re.compile(f"[{_FILLERS}]")
_ONLY_MARKS = re.compile(f"[{_MARKS}]{{1,2}}")
_BYTES = re.compile(f"[{_SELECTORS}]{{2,4096}}+")
_HAS_HAN = re.compile(f"[{_HAN}]")
_DROPPED = re.compile(f"[{_INVISIBLE}{_REORDERING}]{{1,4096}}+")
# Between Han characters a space, a line break or Markdown's emphasis says nothing either.
_DROPPED_FROM_HAN = re.compile(
    rf"(?<=[{_HAN}])(?:[ \t\u3000*_~{_INVISIBLE}]{{1,16}}+|[ \t]{{0,4}}+\r?\n[ \t>]{{0,8}}+)(?=[{_HAN}])"
    rf"|{_DROPPED.pattern}"
)

_EMOJI = "\u00a9\u00ae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINED = "\u0600-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff"
# Runs that belong where they stand, each with the character before it and the one after.
_BELONGS = re.compile(
    "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f."  # the flag of a part of a country
    f"|[{_EMOJI}]\ufe0f?\u200d[{_EMOJI}]"
    "|[0-9#*]\ufe0f\u20e3"  # a keycap
    f"|[^\\x00-\\x7f][{_SELECTORS}]."
    f"|[{_JOINED}][\u200c\u200d].|.[\u200c\u200d][{_JOINED}]"
    f"|[{_UNSPACED}]\u200b."  # a place where the line may break
    "|[\u1800-\u18af][\u180b-\u180e].",
    re.DOTALL,
)
_WORD = "[A-Za-z0-9_]"
_IN_WORD = re.compile("[A-Za-z_].{1,2}[A-Za-z_]", re.DOTALL)
_WORD_BEFORE = re.compile(rf"{_WORD}{{0,32}}\Z")
_WORD_AFTER = re.compile(rf"{_WORD}{{0,32}}+")

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_REORDERS = re.compile(f"[{_REORDERING}]")
_REORDERS_OR_LINE = re.compile(f"[{_REORDERING}\n]")
_OVERRIDE = re.compile("[\u202d\u202e]")
_ISOLATES, _ISOLATE_END, _EMBEDDING_END = "\u2066\u2067\u2068", "\u2069", "\u202c"
_NEARBY = 16
_UNCLOSED = 80


def find_hidden(text: str) -> list[Finding]:
    """Hidden characters in `text`; spans may overlap, and are in no order.

    `block` where they can only mislead: tags, bytes in variation selectors, a payload, a split word, another order than
    the one shown. `warn` or `info` where one stands astray, as in copied text.
    """
    if text.isascii() or not _HIDDEN.search(text):
        return []
    return [*_find_invisible(text), *_find_reordered(text)]


def reveal(text: str) -> str:
    """`text` with what its hidden characters say: tags and bytes as letters, others by number, such as `\\u{200B}`."""
    return _HIDDEN.sub(_name, _BYTES.sub(_decode, text))


def readable(text: str) -> str:
    """A copy of `text` for rules about words: nothing hidden in it, and plain letters for those that look like them."""
    if text.isascii():
        return text
    return _NOT_PLAIN.sub(_plain_letter, _dropped(text).sub("", text))


def readable_offsets(text: str) -> Offsets:
    """The way back from `readable(text)`: from the offset of each character to where that stands in `text`."""
    ends: list[int] = []
    shifts: list[int] = []
    shift = 0
    for match in _dropped(text).finditer(text):
        shift += match.end() - match.start()
        ends.append(match.end() - shift)
        shifts.append(shift)
    return Offsets(tuple(ends), tuple(shifts))


def _dropped(text: str) -> re.Pattern[str]:
    return _DROPPED_FROM_HAN if _HAS_HAN.search(text) else _DROPPED


def _find_invisible(text: str) -> Iterator[Finding]:
    for match in _RUN.finditer(text):
        start, end = match.span()
        if start == 0 and match.group().startswith("\ufeff"):
            start = 1  # a byte order mark
        before, run, after = text[max(0, start - 1) : start] or "\n", text[start:end], text[end : end + 1] or "\n"
        if not run or _BELONGS.fullmatch(before + run + after):
            continue
        if _ONLY_MARKS.fullmatch(run) and _is_beside_right_to_left(text, start, end):
            continue
        rule, severity = _judge(before, run, after)
        if rule == "hidden_in_word":
            # The whole word, so that a reviewer can read it.
            before_word, after_word = (
                _WORD_BEFORE.search(text[max(0, start - 32) : start]),
                _WORD_AFTER.match(text, end),
            )
            start -= len(before_word.group()) if before_word else 0
            end = after_word.end() if after_word else end
        yield Finding(rule, "injection", start, end, severity)


def _judge(before: str, run: str, after: str) -> tuple[str, Severity]:
    """The rule for a run that does not belong between the characters `before` and `after`."""
    if _HAS_TAG.search(run):
        return "hidden_tags", "block"
    if _BYTES.search(run):
        return "hidden_bytes", "block"
    if len(run) >= 3:
        return "hidden_payload", "block"
    if _IN_WORD.fullmatch(before + run + after):
        # A soft hyphen is also what remains of a page that was copied; what it hides is found without it (readable).
        return "hidden_in_word", "warn" if run == "\u00ad" else "block"
    around = before + after
    if _HAS_FILLER.search(run) and around.isascii() and not around.isspace():
        # A filler counts as a letter: in code it is a name that nobody sees.
        return "hidden_filler", "block"
    return "hidden_character", "warn" if around.isalnum() else "info"


def _find_reordered(text: str) -> Iterator[Finding]:
    """Each outermost group of characters that change the order, from its first to the one that closes it."""
    opened: list[int] = []
    for match in _REORDERS_OR_LINE.finditer(text) if _REORDERS.search(text) else ():
        at, character = match.start(), match.group()
        if character == "\n":
            # The end of the line ends whatever is still open.
            if opened:
                yield _unclosed(opened[0], at)
            opened.clear()
        elif character not in (_ISOLATE_END, _EMBEDDING_END):
            opened.append(at)
        elif not opened:
            yield Finding("hidden_order", "injection", at, at + 1, "warn")
        else:
            first = opened[0]
            _close(text, opened, character)
            if not opened:
                severity: Severity = "info" if _runs_right_to_left(text, first, at + 1) else "block"
                yield Finding("hidden_order", "injection", first, at + 1, severity)
    if opened:
        yield _unclosed(opened[0], len(text))


def _unclosed(start: int, end: int) -> Finding:
    return Finding("hidden_order", "injection", start, min(end, start + _UNCLOSED))


def _close(text: str, opened: list[int], character: str) -> None:
    """Takes from `opened` what `character` closes: one embedding, or an isolate with all that is open in it."""
    if character == _EMBEDDING_END:
        if text[opened[-1]] not in _ISOLATES:
            opened.pop()
        return
    while opened and text[opened.pop()] not in _ISOLATES:
        pass


def _runs_right_to_left(text: str, start: int, end: int) -> bool:
    """Whether the span needs an order of its own: most of its letters, or those around it, run right to left."""
    span = text[start:end]
    if _OVERRIDE.search(span):
        return False
    is_mostly = 2 * len(_RIGHT_TO_LEFT.findall(span)) > sum(map(str.isalpha, span))
    return is_mostly or _is_beside_right_to_left(text, start, end)


def _is_beside_right_to_left(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - _NEARBY) : start] + text[end : end + _NEARBY]
    return _RIGHT_TO_LEFT.search(around) is not None


def _name(match: re.Match[str]) -> str:
    code = ord(match.group())
    return chr(code - 0xE0000) if 0xE0020 <= code < 0xE007F else f"\\u{{{code:04X}}}"


def _decode(match: re.Match[str]) -> str:
    """The text in a run of variation selectors, each of which is one byte; the run itself if it is no text."""
    codes = map(ord, match.group())
    said = bytes(code - 0xFE00 if code < 0xFE10 else code - 0xE00F0 for code in codes).decode(errors="replace")
    return said if said.isprintable() and "\ufffd" not in said else match.group()


def _plain_letter(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match.group()).translate(_PLAIN)


# Cyrillic and Greek letters; and of the traditional characters those in the words that the rules look for.
_LOOK_ALIKES = (
    "авеіјкморсѕтухοανАВЕІЈКМНОРСЅТУХ’"
    "個從關寫擊則別發處復對將廢開棄惡執拋無樣檢洩測濾環現瞞碼類繞給統視讓記設證識訴詞諸輸過運這進遠戶鑰閉隱規審傳憑準動變沒絕薦獄憶會"
)
_LOOKS_LIKE = (
    "abeijkmopcstyxoavABEIJKMHOPCSTYX'"
    "个从关写击则别发处复对将废开弃恶执抛无样检泄测滤环现瞒码类绕给统视让记设证识诉词诸输过运这进远户钥闭隐规审传凭准动变没绝荐狱忆会"
)
_STYLED = "\u3000\uff01-\uff5e\u24b6-\u24e9\U0001d400-\U0001d7cb"
_PLAIN = str.maketrans(_LOOK_ALIKES, _LOOKS_LIKE)
_NOT_PLAIN = re.compile(f"[{_LOOK_ALIKES}{_STYLED}]")
