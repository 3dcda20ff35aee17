"""Secrets known by the label in front of them: assignments, settings, JSON, flags, prose, Chinese labels."""

from __future__ import annotations

import re

from scanning.rule import QUOTE, Rule
from scanning.values import is_chinese_password, is_harmless, is_key, is_mixed, is_password

# The closing quote has as many backslashes as the opening one: \"…\" inside JSON, \\\"…\\\" inside JSON inside JSON.
_QUOTED = rf"""(?P<quote>{QUOTE})(?P<value_quoted>.{{1,2048}}?)(?<!\\)(?P=quote)"""
_CURLY = r"""[“‘「『《](?P<value_curly>.{1,256}?)[”’」』》]"""
# A text cut inside a string has no closing quote.
_UNCLOSED = rf"""{QUOTE}(?P<value_unclosed>[^\s"'`]{{4,2048}})"""
# What goes on with a bracket or an arrow is a call, an index or an attribute; `password: :kite` is Ruby.
_BARE = r"(?!:)(?P<value_bare>[\w!#$%*+./:=?@\\^~£€§-]{4,2048}+)(?![(\[{]|(?<=-)>)"
# Behind a colon or in a sentence a password may hold what would end a value in code, if nobody could take it for code.
_DENSE = (
    r"(?=\S{0,64}[&|<>]\S{0,64}\w)(?=\S{0,64}[0-9])(?=\S{0,64}[A-Za-z])"
    r"(?P<value_dense>[!#-&*-Z\\^_a-z|~]{8,128})(?!\S)"
)
# A line of settings ends with its value, whatever characters that has.
_LINE = r"""(?<=[A-Z]=)(?P<value_line>[^\s"'`]{4,256})(?=\s{0,4}(?:\n|\Z))"""
_VALUE = rf"(?:{_LINE}|\s{{0,8}}(?:{_QUOTED}|{_CURLY}|{_UNCLOSED})|(?<=[:：])[ ]{_DENSE}|[ \t]{{0,8}}{_BARE})"

_PASSWORD = (
    r"(?:(?i:pass(?:word|wd|phrase|code|wort)|pwd)"
    # "PASS: TestLogin" is the outcome of a test.
    r"|(?<![^\W_])pass|(?<=[a-z])Pass|(?<=_)PASS|\bPASS(?==))"
)
_KEY = r"(?:token|credentials?|secret(?:[ _-]?access)?(?:[ _-]?(?:key|id))?(?:[ _-]?base)?|key)"
_SUFFIX = r"(?:[_-]?(?:\d{0,3}|prod(?:uction)?|dev|test|staging|live|value|old|new|main))"
# Between label and separator: the quote of a JSON key, Markdown's **bold**, a remark in brackets, a type annotation.
_REMARK = r"(?:[ ]?[(（].{1,24}?[)）])?"
_LABEL_END = rf"(?:{QUOTE}|\*\*|__)?\]?{_REMARK}"
_ANNOTATION = r"(?:[ ]?:[\w.\[\]| ?]{0,40}(?==))?"
_DEFAULT = rf"(?:{QUOTE},|[ ]?(?:\|\||\?\?))(?=[ ]?{QUOTE})|:-"
# {"name": "DB_PASSWORD", "value": "…"}, on one line or on two as in YAML.
_NAME_AND_VALUE = rf"(?:{QUOTE})?,?\s{{0,16}}(?:{QUOTE})?value(?:{QUOTE})?:"
_SEPARATOR = (
    rf"(?:{_LABEL_END}{_ANNOTATION}[ \t]{{0,8}}(?:=>|=(?!=)|:(?!-)|＝|：)(?:\*\*|__)?|>(?=[^<]{{4,256}}</)"
    rf"|{_NAME_AND_VALUE}|{_DEFAULT})"
)
_NOT_IN_NAMES = re.compile(r"[^\w.-]")
# Tokens of grammars, models and pages are no secrets, nor are public keys.
_OTHER_NAME = re.compile(
    r"(?:page|sync|continuation|resume|cancel(?:lation)?|public(?:_?key)?)[_-]?\Z",
    re.IGNORECASE,
)
# "key" says little by itself: these do, and so does a name in capitals when the value looks generated.
_KEY_NAME = re.compile(
    r"(?:api|app|access|private|auth|account|encrypt(?:ion)?|sign(?:ing)?|master|license|service|subscription"
    r"|deploy|webhook|hmac|admin|root)[_ -]?\Z",
    re.IGNORECASE,
)
_OTHER_KEY_NAME = re.compile(r"(?:PUBLIC|CACHE|PRIMARY|FOREIGN|SORT|HOST|STORAGE|ID|PARTITION|INDEX)_\Z")
_RESOURCE_NAME = re.compile(r"arn:\S{8,80}:\Z")
_LOOKUP_CALL = re.compile(r"(?:get|env)\w{0,12}\(\W{1,10}[\w.-]{0,40}\Z", re.IGNORECASE)


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 64) : match.start()]


def _name_before(match: re.Match[str]) -> str:
    """The part of the name that stands before the label: `KITE_` for `KITE_TOKEN`."""
    return _NOT_IN_NAMES.split(_before(match))[-1]


def _is_value_of_label(match: re.Match[str]) -> bool:
    # ("password", "repository") is a list of names; getenv("PASSWORD", "…") has a value.
    separator = match.group("separator")
    return "," not in separator or "value" in separator or _LOOKUP_CALL.search(_before(match)) is not None


def _is_setting(match: re.Match[str]) -> bool:
    """Whether label and value are a line of settings, such as `export KITE_TOKEN=…`."""
    return match.group("label").isupper() and match.group("separator") == "="


def _is_literal(match: re.Match[str]) -> bool:
    return match.group("value_bare") is None or _is_setting(match)


def _is_phrase(match: re.Match[str], value: str) -> bool:
    # In settings a phrase is a value; anywhere else it may be a message to the user.
    return _is_setting(match) and " " in value and not is_harmless(value)


def _accepts_password(match: re.Match[str], value: str) -> bool:
    return _is_value_of_label(match) and (is_password(value, _is_literal(match)) or _is_phrase(match, value))


def _accepts_key(match: re.Match[str], value: str) -> bool:
    if not _is_value_of_label(match):
        return False
    name = _name_before(match)
    if match.group("label").casefold().startswith("key") and not _KEY_NAME.search(_before(match)):
        return match.group("label").isupper() and not _OTHER_KEY_NAME.search(name) and _is_generated(value)
    if _OTHER_NAME.search(name) or _RESOURCE_NAME.search(_before(match)):
        return False
    return is_key(value, _is_literal(match)) or _is_phrase(match, value)


def _is_generated(value: str) -> bool:
    return any(map(str.isupper, value)) and any(map(str.islower, value)) and is_key(value, True)


def _accepts_prose(match: re.Match[str], value: str) -> bool:
    if match.group("label").casefold() == "key" and not _KEY_NAME.search(_before(match)):
        return False
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return has_both and len(value) >= 6 and is_password(value, False) and (is_key(value, False) or len(value) < 8)


def _accepts_flag(match: re.Match[str], value: str) -> bool:
    is_flag = _name_before(match).startswith("--")
    return is_flag and not value.startswith("-") and is_password(value, match.group("value_bare") is None)


_P = "Harbor9" + "kite"  # fake, and in pieces so that no scanner finds it here
_LONG = "Harbor9" + "kite22xQ"
_PHRASE = "harbor 9" + " with spaces"

PASSWORD = Rule(
    name="password",
    anchors=("pass", "pwd"),
    pattern=re.compile(rf"(?P<label>{_PASSWORD}(?i:{_SUFFIX}))(?P<separator>{_SEPARATOR}){_VALUE}"),
    accepts=_accepts_password,
    matches=(
        (f"password={_P}", _P),
        (f"+DB_PASSWORD={_P}\n", _P),
        (f'"password": "{_P}"', _P),
        (f'\\"password\\": \\"{_P}\\"', _P),
        (f"postgres://svc@db/app?password={_P}&sslmode=require", _P),
        (f"password：{_P}-22", f"{_P}-22"),
        (f"password: string = '{_P}'", _P),
        (f'os.getenv("DB_PASSWORD", "{_P}")', _P),
        (f"export DB_PASSWORD='{_PHRASE}'", _PHRASE),
        ("DB_PASSWORD=harbor" + "kite", "harbor" + "kite"),
        (f"db password: w&{_P}=n3", f"w&{_P}=n3"),
        (f'"password": "{_P}', _P),
    ),
    ignores=(
        "password: str", "password: string", "password = input('x')", "getPassword()", "password=${DB_PASSWORD}",
        "password = os.environ['PASSWORD']", 'password: "changeme"', "db_pass: ******", "password = self.password",
        "password_hash = abc123def", "--- PASS: TestHarbor9 (0.01s)", 'password: "Password is required"',
        "pwd=/srv/kite9", "const password = await promptPassword2()", "password == other9",
        "fields = ['password', 'repository']", "$pass = ResultPass->find2()",
    ),
)  # fmt: skip

KEY = Rule(
    name="labelled_key",
    anchors=("token", "secret", "key", "credential"),
    pattern=re.compile(rf"(?P<label>(?i:{_KEY}{_SUFFIX}))(?P<separator>{_SEPARATOR}){_VALUE}"),
    accepts=_accepts_key,
    matches=(
        (f'kite_token = "{_LONG}"', _LONG),
        (f"+KITE_SECRET={_P}22", f"{_P}22"),
        (f'"KITE_TOKEN={_P}22"', f"{_P}22"),
        (f"/v1?token={_LONG}&page=2", _LONG),
        (f"X-Api-Key: {_LONG}", _LONG),
        (f"export KITE_API_KEY='{_PHRASE}'", _PHRASE),
        (f'{{"service":"kite","op":"Auth.login","auth_token":"{_LONG}"}}', _LONG),
        (f"KITE_KEY={_LONG}", _LONG),
        (f"API key: {_LONG}", _LONG),
        (f"process.env.KITE_TOKEN || '{_LONG}'", _LONG),
    ),
    ignores=(
        'kite_token = os.getenv("KITE_TOKEN")', "KITE_KEY=process.env.KITE_KEY", "KITE_TOKEN=${KITE_TOKEN}",
        "max_tokens=4096", 'api_key="<your-key>"', "token: tokens[i]", "token: string", "secret: my-secret-2",
        "const oldToken = user.sessionToken;", "API_KEY=[REDACTED:github]", 'next_page_token: "CAESBx9kite"',
        "tokenizer: bpe2024x", "token = get_token_v2(x)", 'api_key = "sk-…abcd"', "token: Token2 | None",
        "secretName: kite9-tls-cert", 'token="sk-xxxxxxxxxxxx"', "CACHE_KEY=v2-Linux-9f2c1e7ab0",
        "SORT_KEY=created_at", 'publicKeyToken="1fc8b3b9a1e18e3b"', "key: value2Harbor",
    ),
)  # fmt: skip

PROSE = Rule(
    name="password_in_prose",
    anchors=("pass", "token", "key", "secret", "credential"),
    pattern=re.compile(
        rf"(?i:(?P<label>pass(?:word|phrase|code)|{_KEY})(?:[ ](?:for|of)[\w.@ -]{{2,60}}?)?"
        r"[ ](?:is|was|to):?[ ](?:now |set to )?)"
        rf"(?:{_QUOTED}|{_CURLY}|{_DENSE}|{_BARE})"
    ),
    accepts=_accepts_prose,
    matches=(
        (f"the admin password is {_P[:7]}-kite, keep it out of code", f"{_P[:7]}-kite"),
        (f'Password for root on kite is "{_P}"', _P),
        (f"I set the password to `{_LONG}`.", _LONG),
        (f"the password is {_P}*q&3x and stays", f"{_P}*q&3x"),
        (f"The API key is {_LONG}.", _LONG),
        (f"The ENCRYPTION_KEY for staging is {_LONG} and it works", _LONG),
    ),
    ignores=(
        "the password is wrong", "token is base64 encoded", "the secret is sha256 hashed", "the token is 4096 long",
        "the password is required", "the cache key is v2Linux9f2c1e", "the token is tokens[0]",
        "token is `access_token_2`",
    ),
)  # fmt: skip

FLAG = Rule(
    name="flag",
    anchors=("pass", "token", "key", "secret"),
    pattern=re.compile(
        r"(?:pass(?:word|wd|phrase)?|token|secret(?:-key)?|(?:(?<=api-)|(?<=access-)|(?<=auth-))key)[ ]{1,4}"
        rf"(?:{_QUOTED}|{_BARE})"
    ),
    accepts=_accepts_flag,
    matches=((f"psql --password {_P}", _P), (f'kite --api-key "{_LONG}" --fast', _LONG)),
    ignores=(
        "--password string", "--token $KITE_TOKEN", "--password <password>", "--password --user kite",
        "--token YOUR_TOKEN",
    ),
)  # fmt: skip

# Without a separator only the shape of the value speaks for it.
SPACED = Rule(
    name="password_after_label",
    anchors=("pass", "token", "key", "secret", "identified"),
    pattern=re.compile(
        r"(?i:pass(?:word|wd|phrase)|(?<=require)pass|token|(?<=api[ _])key|secret(?:[ _]key)?|identified by)"
        rf"(?:[ \t]{{1,4}}|[ ]{{0,16}}\|[ ]{{0,16}}|\((?={QUOTE}))(?:{_QUOTED}|{_BARE})"
    ),
    accepts=lambda _, value: is_mixed(value),
    matches=(
        (f"machine kite.example.org login kite password {_P}", _P),
        (f"CREATE USER kite WITH PASSWORD '{_P}';", _P),
        (f"ENV KITE_PASSWORD {_P}", _P),
        (f"| password | {_P} |", _P),
        (f'client.setPassword("{_P}")', _P),
    ),
    ignores=(
        "the password reset page", "token Authorization2", "echo $password | docker login", "the token JWT2024 format",
        "password SHA256-hashed", "the secret AWS S3 bucket", "password LoginForm2", "getToken('accessTokenV2')",
    ),
)  # fmt: skip

_HAN_LABEL = r"(?:密码|密碼|口令|密钥|密鑰|金鑰|令牌|私钥|パスワード|비밀번호)"
CHINESE = Rule(
    name="password_zh",
    anchors=("密", "口令", "令牌", "金鑰", "私钥", "パスワード", "비밀번호"),
    pattern=re.compile(
        rf"{_HAN_LABEL}(?:{QUOTE}|[”’」】]|\*\*)?{_REMARK}[ \t\u3000]{{0,4}}"
        r"(?P<separator>[:：=＝]|(?:就是|设为|改为|改成|設為|是|为|為|は)[:：]?|)(?:\*\*)?[ \t\u3000]{0,4}"
        rf"(?:{_QUOTED}|{_CURLY}|{_UNCLOSED}"
        # An ASCII value glued to the next Chinese word ends there; one that starts in Chinese goes on to the stop.
        r"|(?P<value_bare>[!#-&(-+\--:<-_a-~]{6,2048})|(?P<value_han>[\w!#$%&*+./=?@^~-]{4,64}))"
    ),
    accepts=lambda match, value: (
        is_chinese_password(value) and (match.group("separator") != "" or is_mixed(value))
    ),
    matches=(
        (f"口令：{_P}", _P),
        (f"数据库密码＝{_P}-22", f"{_P}-22"),
        ("密码：风筝港口" + "2026", "风筝港口" + "2026"),
        (f"密码是{_P}别外传", _P),
        (f"密码：“{_P}”", _P),
        (f'"密码": "{_P}"', _P),
        (f"root密码 {_P}", _P),
        (f"密码（初始）：{_P}", _P),
    ),
    ignores=(
        "密码学课程", "密码：请问管理员", "口令：见下文", "密码：至少8位字符", "密码是错误的", "密码：******",
        "令牌：${TOKEN}", "密码SHA256加密", "密码 login.html",
    ),
)  # fmt: skip

LABELLED = (PASSWORD, KEY, PROSE, SPACED, FLAG, CHINESE)
