"""What a value looks like: pure predicates, with no regard to where it stands.

Names and placeholders surround secrets everywhere; a scanner that masks them ruins the snippets it protects.
"""

from __future__ import annotations

import re
from itertools import pairwise

_MARKER = re.compile(
    r"(?<![a-z])REDACTED(?![a-z])|[\[<](?:PRIVATE|MASKED|REMOVED|WITHHELD|FILTERED|SECRET|TOKEN)(?![a-z])"
    r"|\*{3}|•{3}|●{3}|█{2}|…|\.{3}",
    re.IGNORECASE,
)
"""Marks that this program and others leave where a secret was: `[REDACTED:x]`, `***`, `<SECRET_1>`, `sk-…abcd`."""

_PLACEHOLDER = re.compile(r"EXAMPLE(?:KEY|TOKEN)?\b|(?<![^\W_])(?i:example|placeholder|change[_-]?me|your[_-])")
"""A word that says that this is no value; at the end, as in the key that AWS publishes, or at the start of a part."""

_PUBLISHED = (
    "SflKxwRJSMeKKF2QT4fwp" + "MeJf36POk6yJV_adQssw5c",  # jwt.io
    "2YotnFZFEjr1" + "zCsicMWpAA",  # RFC 6749
    "QWxhZGRpbjpvcGVu" + "IHNlc2FtZQ",  # RFC 7617
    "JBSWY3DP" + "EHPK3PXP",  # the key URI format of authenticator apps
    "Eby8vdM02xNOcqFl" + "qUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq",  # the storage emulator of Azure
    "AIzaSyDaGmWKa4Js" + "XZ-HjGw7ISLn_3namBGewQe",  # Google's page about API keys
)
"""Keys in standards and manuals, as far as they look like real ones."""

_PUBLISHABLE = re.compile(r"pk_(?:live|test)_|pk\.eyJ")
"""Of payment and map services, meant for pages that anybody can read."""

_LOOKUP = re.compile(
    r"^\$[A-Za-z_]|\$[{(]|(?<!\w)\$[A-Z_]{3}|\{\{|<%|#\{|%\(|^%\w{2,40}%$|^@\w{2,40}@$"
    r"|^[a-z_]{0,9}(?:\W{0,3}%[dsrv]){1,5}\W{0,3}$|\{[\w.]{0,40}\}|<[A-Za-z][\w .:|/-]{0,60}>"
    r"|\b(?:os|process|import\.meta|self|this|config|settings|secrets|env|ENV|vars|inputs|args|options|opts)[.\[]"
    r"|\b(?:getenv|environ)|(?:->|::)[A-Za-z_]|^(?:env|file|vault|op|ssm|arn|keychain|urn|data):"
)
"""Something that stands for a value: a variable, a template, a look-up."""

_REGEX = re.compile(r"\\[sSwWdDbB]|\[\^|\.[*+]|\(\?|\[A-Za-z|\[a-z|\{\d+,\d*\}")
_PATH_OR_URL = re.compile(r"[A-Za-z][\w+.-]{0,30}://|mailto:|[A-Za-z]:\\|~/|\.{1,2}/|@[\w-]{1,80}/[\w-]{1,80}$")
_ABSOLUTE_PATH = re.compile(r"/[\w.@/-]{2,}$")
_ATTRIBUTE = re.compile(r"[\w$]+(?:\??\.[\w$]+)+$")
_NUMBER = re.compile(
    r"0x[0-9a-fA-F]{4,16}[uUlL]{0,3}$|[\d.,:_+/%TZx-]{4,}(?:ms|s|m|h|d|[kKMG]i?[bB]?|px|em|rem|chars)?$"
)
_VERSION = re.compile(r"[v^~>=<]{0,2}\d+(?:\.\d+){1,3}(?:[-+.][\w.-]+)?$")
_NOT_IN_NAMES = re.compile(r"[^\w$]")
_SLUG = re.compile(r"[a-z]+\d?(?:[-_:./][a-z]*\d{0,3})+$|[A-Z]+\d?(?:_[A-Z]*\d{0,3})+$")
_LABEL = re.compile(r"token|secret|passw|passphrase|pwd|_pass|apikey|credential|_key|Key\b|_hash|Hash\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W_]+")
_SEQUENCE = "01234567890123456789 98765432109876543210 abcdefghijklmnopqrstuvwxyz"

# Words of placeholders, types and messages; a value made of nothing else gives nothing away.
_HARMLESS = """
a abc abcd abcdef above access account actual add admin aes algorithm all alphanumeric and any api app are argon
as at auth authentication authorization b bad bar base basic baz bcrypt be bearer been bool boolean bot bytes
callback cannot change changed changeme char character characters chars check cli client code com common config
configured confirm content correct count credential credentials csrf current custom data db debug decode
decodebytes decoded def default demo deploy dev different digit disabled doc docs does dont dummy ecdsa ed ef
email empty enabled encode encoded encrypted enter env environment error es example exists expected expired
expires fail failed fake false field file filter float foo for forgot from fuga func function generic get github
given goes gpt guest handler has hash hashed header hello here hex hidden hide hoge hs http https i id if in
incorrect info input insert int integer invalid is it jane john json jwt kdf key keychain keys keyword lambda
length let list live localhost login long manager mask masked match md md5 me message minimum missing mock model
must my mypass mypasswd mypassword mysecret mysql mytoken myuser name need new nil no non none not null num
number oauth object of ok old omitted on one only op optional or original other page param parameter pass
passphrase passwd password passwords paste pat path pbkdf per personal phrase pin pkcs placeholder plain please
post postgres postgresql pre private prod production prompt provided proxy public put pw pwd query quux qux
random read redacted redis refresh release removed replace replaced request require required reset response
result root rs rsa safe sample scrypt secret secrets secure see sensitive server service session set sha short
should show sk smtp some something spam ssh staging static stdin stored str string strip strong super
supersecret svc system temp template test testing tests text that the this three tmp todo token tokens true two
type uint unauthorized undefined uninitialized unknown unsafe unset update uri url use used user username utf
uuid v val valid value values var variable verified version via wants was weak web webhook will with word write
wrong www x xx xxx xxxx xyz yaml yes you your youre yyy zzz
"""
_HARMLESS_WORDS = frozenset(_HARMLESS.split())

_MESSAGE_WORDS = re.compile(
    r"\b(?:is|are|must|should|the|your|a|an|be|to|for|of|and|or|not|enter|required|invalid|please|this|that|with|in)\b",
    re.IGNORECASE,
)
_CHINESE_MESSAGE = re.compile(
    r"[请見见的了吗呢必须至少不最以位个字符长短度错误正确输入修改重置忘记过期空默认加密每更换次]"
)
_CHINESE_PLACEHOLDER = re.compile(
    r"(?:粘贴|填写|填入|输入|替换|你的|您的).{0,8}(?:密钥|密码|口令|令牌)|^\W?在(?:这里|此)"
)


_JUDGED = 64
"""Characters by which a value is judged: a megabyte of `token=token=…` took two minutes with all of them."""


def has_marker(text: str) -> bool:
    """Whether `text` contains a mark that stands where a secret was."""
    return _MARKER.search(text) is not None


def is_placeholder(value: str) -> bool:
    """Whether `value`, which has the shape of a token, was published as an example or is filled with anything."""
    return (
        len(set(value[-12:].casefold())) <= 2
        or has_marker(value)
        or _PLACEHOLDER.search(value) is not None
        or any(sequence in value for sequence in ("0123456789", "1234567890", "abcdefgh", "1a2b3c4d"))
        or is_public(value)
    )


def is_public(value: str) -> bool:
    """Whether everybody may see `value`: it stands in a standard or manual, or its provider calls it publishable."""
    return any(example in value for example in _PUBLISHED) or _PUBLISHABLE.match(value) is not None


def is_harmless(value: str) -> bool:
    """Whether `value` gives nothing away under any label: a marker, a placeholder, a look-up, a number, a path."""
    letters = value.casefold()
    if len(set(letters)) <= 2 or has_marker(value) or letters.strip("\"'` ") in _SEQUENCE:
        return True
    if (
        is_public(value)
        or _PLACEHOLDER.search(value)
        or _CHINESE_PLACEHOLDER.search(value)
        or _LOOKUP.search(value)
        or _REGEX.search(value)
        or _PATH_OR_URL.match(value)
        or _VERSION.match(value)
    ):
        return True
    if _ABSOLUTE_PATH.match(value) and not _looks_random(value):
        return True
    return _only_harmless_words(value)


def is_password(value: str, literal: bool) -> bool:
    """Whether `value`, labelled as a password, is one; `literal` says that it is quoted or a setting, so no code."""
    value = value[:_JUDGED]
    if len(value) < 4 or is_harmless(value):
        return False
    if value.isdigit():
        return len(value) >= 6
    if " " in value:
        return literal and _is_passphrase(value)
    if not literal and is_code(value):
        return False
    if value.isalpha():
        return literal and len(value) >= 8 and value.isascii() and value.islower()
    return any(map(str.isdigit, value)) or not (_SLUG.match(value) or is_code(value))


def is_key(value: str, literal: bool) -> bool:
    """Whether `value`, labelled as a token or key, is one: those are generated, so they mix letters and digits."""
    value = value[:_JUDGED]
    if len(value) < 8 or is_harmless(value) or _NUMBER.match(value) or " " in value:
        return False
    if is_code(value) or _SLUG.match(value):
        return False
    has_digit = any(map(str.isdigit, value))
    has_letter = any(map(str.isalpha, value))
    return has_letter and (has_digit or (literal and len(value) >= 20 and _looks_random(value)))


def is_mixed(value: str) -> bool:
    """Whether `value` mixes what names do not: a capital and a digit inside a word, or digits and signs."""
    if not is_key(value, True):
        return False
    has_upper, has_lower = any(map(str.isupper, value)), any(map(str.islower, value))
    # Harbor9kite, not LoginForm2: in a name the digits come last.
    return has_upper and has_lower and re.search(r"\d[A-Za-z]|[!@#$%^&*+~?]", value) is not None


def is_header_credential(value: str) -> bool:
    """Whether `value`, behind `Bearer` or `Basic`, is a credential and not the next word of a sentence."""
    if is_harmless(value) or is_code(value) or (len(value) < 12 and not value.endswith("=")):
        return False
    return any(map(str.isdigit, value)) or re.search("[a-z][A-Z]", value) is not None


def is_chinese_password(value: str) -> bool:
    """Whether `value`, behind a Chinese label, is a password and not a remark about passwords."""
    if value.isascii():
        return is_password(value, literal=True)
    return (
        len(value) >= 4
        and not is_harmless(value)
        and any(character.isdigit() or ("a" <= character.lower() <= "z") for character in value)
        and _CHINESE_MESSAGE.search(value) is None
    )


def is_code(value: str) -> bool:
    """Whether `value` is a name in a program: an attribute, or an identifier that says it holds a secret."""
    names_secret = _LABEL.search(value) is not None and not _looks_random(value)
    has_digit = any(map(str.isdigit, value))
    if _ATTRIBUTE.match(value):
        return names_secret or not has_digit
    # hf_oauth__refresh_token names a token; a generated token that spells "token" is rare.
    return not _NOT_IN_NAMES.search(value) and (names_secret or ("_" in value and not has_digit))


def _is_passphrase(value: str) -> bool:
    words = value.split()
    return 2 <= len(words) <= 8 and any(map(str.isdigit, value)) and _MESSAGE_WORDS.search(value) is None


def _only_harmless_words(value: str) -> bool:
    words = _WORD.findall(value)
    return len(words) <= 12 and not value.isdigit() and all(map(_is_harmless_word, words))


def _is_harmless_word(word: str) -> bool:
    return word.casefold() in _HARMLESS_WORDS or (word.isdigit() and (len(word) <= 3 or word in _SEQUENCE))


def _looks_random(value: str) -> bool:
    """Whether letters and digits change place so often that nobody wrote them: at two in five characters."""
    kinds = [1 if c.isdigit() else 2 if c.isupper() else 3 if c.islower() else 0 for c in value]
    changes = sum(1 for one, two in pairwise(kinds) if one != two)
    return len(value) >= 16 and changes * 5 > len(value) * 2 and len({*kinds} - {0}) >= 2
