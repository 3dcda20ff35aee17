"""Secrets known by their place: URLs, headers, options of known tools; and shapes the engine has no rule for."""

from __future__ import annotations

import base64
import re

from scanning.rule import QUOTE, Rule
from scanning.values import is_harmless, is_header_credential, is_mixed, is_password, is_placeholder

_P = "Harbor9" + "kite"
_ENCODED = "Harbor" + "%409kite"
_BASE64 = "aGFyYm9yOm" + "tpdGU5OTk="

URL_PASSWORD = Rule(
    name="url_password",
    anchors=("://",),
    # The host follows the last @ before the path, so that a raw @ inside the password stays inside.
    pattern=re.compile(r"""://[^\s/?#@:"'`<>\\]{0,128}:(?P<value_url>[^\s/?#"'`<>\\]{4,256})@(?!\])"""),
    accepts=lambda _, value: (len(value) >= 6 or not value.isalpha()) and not is_harmless(value),
    matches=(
        (f"redis://:{_P}@cache.kite.internal:6379/0", _P),
        (f"amqp://svc:{_ENCODED}@mq:5672", _ENCODED),
        (f"https://kite:{_P}@git.example.org/x.git", _P),
    ),
    ignores=(
        "postgres://user:pass@localhost/db", "postgres://user:password@localhost/db", "https://kite:${TOKEN}@host",
        "http://localhost:3000", "http://10.4.18.2:8080/admin", "ssh://git@host:22/x", "redis://:***@cache",
        "github://org:repo@main/x", "git://[path[:]][ref@]file",
    ),
)  # fmt: skip

AUTHORIZATION = Rule(
    name="authorization",
    anchors=("authorization", "bearer"),
    pattern=re.compile(
        rf"""(?i:authorization(?:{QUOTE})?\s{{0,4}}(?:[:=：]|=>|,)\s{{0,4}}(?:{QUOTE})?"""
        r"""(?P<scheme>(?:basic|token|bot)[ ]{1,4})?|(?P<bearer>bearer[ ]{1,4}))"""
        r"""(?P<value_header>[A-Za-z0-9+/=._~-]{8,4096}+)(?![(\[])"""
    ),
    # Without a scheme the word may be a variable: `authorization = base64.decodebytes(…)`.
    accepts=lambda match, value: (
        is_header_credential(value) and (bool(match["scheme"] or match["bearer"]) or is_mixed(value))
    ),
    matches=(
        (f'curl -H "Authorization: Basic {_BASE64}"', _BASE64),
        (f'"Authorization": "Bearer {_P}22kites"', f"{_P}22kites"),
        (f"Authorization: token {_P}22kites", f"{_P}22kites"),
    ),
    ignores=(
        "Authorization: Basic authentication", "Authorization: Bearer <token>", "Authorization: Bearer ${TOKEN}",
        "the Bearer authentication scheme", "authorization = base64.b64encode(origin)",
        "Authorization: Bearer YOUR_ACCESS_TOKEN", "bearer responsibilities",
    ),
)  # fmt: skip

# What may stand between a tool and its option, which begins a word.
_REST = r"(?=[ ])[^\n|;]{0,300}?[ ]"
_SHELL_QUOTE = r"""(?:\\{0,15}["'])?"""
_PORTS = re.compile(r"[\d.]*:\d+")

TOOL_OPTION = Rule(
    name="tool_option",
    anchors=("pass", "mysql", "mongo", "docker login", "redis-cli", "curl"),
    pattern=re.compile(
        rf"""(?i:(?<=ssh)pass[ ]{{1,4}}-p[ ]{{0,4}}|mysql(?:dump|admin)?{_REST}-p"""
        rf"""|(?:mongo(?:sh|dump|restore)?|docker login){_REST}-p[ ]{{1,4}}|redis-cli{_REST}-a[ ]{{1,4}}"""
        rf"""|curl{_REST}(?:-u|--user)[ ]{{0,4}}[^\s:]{{0,64}}:){_SHELL_QUOTE}"""
        r"""(?P<value_option>(?!-)[^\s\\"'`<>|;()]{4,256})"""
    ),
    accepts=lambda _, value: not value.isalpha() and not _PORTS.match(value) and is_password(value, True),
    matches=(
        (f"sshpass -p '{_P}' ssh kite@host", _P),
        (f"mysql -u root -p{_P} kite", _P),
        (f"docker login -u kite -p {_P} registry", _P),
        (f"curl -s -u kite:{_P} https://host", _P),
    ),
    ignores=(
        "mysql -u root -p kite", "mkdir -p /srv/kite9", "curl -u kite:$PASS https://host",
        "docker run -p 8080:8080 mysql",
    ),
)  # fmt: skip

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_HOOK_ID = "7c1c2f0e-5d3b-4a86-" + "9f0e-3b1f6f0c2d11"

WEBHOOK = Rule(
    name="webhook",
    anchors=("://",),
    pattern=re.compile(
        r"://hooks\.slack\.com/services/(?P<value_slack>T\w{8,12}/B\w{8,12}/\w{24})"
        r"|://\S{1,60}/api/webhooks/\d{17,20}/(?P<value_discord>[\w-]{60,80})"
        rf"|://\S{{1,60}}\.office\.com/webhookb2/\S{{1,80}}/IncomingWebhook/(?P<value_teams>\w{{32}}/{_UUID})"
        rf"|://open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/(?P<value_feishu>{_UUID})"
        rf"|://qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=(?P<value_wecom>{_UUID})",
        re.ASCII,
    ),
    accepts=lambda _, value: not is_placeholder(value),
    matches=(
        ("https://hooks.slack.com/services/" + "T0KITE9AB/B0KITE9AB/" + "Kt7" * 8, "T0KITE9AB/B0KITE9AB/" + "Kt7" * 8),
        ("https://discord.com/api/webhooks/" + "123456789012345678/" + "Kt7" * 22, "Kt7" * 22),
        (
            f"https://kite.webhook.office.com/webhookb2/{_HOOK_ID}@{_HOOK_ID}/IncomingWebhook/{'9f2c' * 8}/{_HOOK_ID}",
            f"{'9f2c' * 8}/{_HOOK_ID}",
        ),
        (f"https://open.feishu.cn/open-apis/bot/v2/hook/{_HOOK_ID}", _HOOK_ID),
        (f"https://open.larksuite.com/open-apis/bot/v2/hook/{_HOOK_ID}", _HOOK_ID),
        (f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={_HOOK_ID}", _HOOK_ID),
    ),
    ignores=(
        "https://discord.com/api/webhooks/docs", "https://hooks.slack.com/services/T00000000/B00000000/XXXX",
        "https://open.feishu.cn/open-apis/bot/v2/hook/xxxxxxxx", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=KEY",
    ),
)  # fmt: skip

AZURE_KEY = Rule(
    name="azure_key",
    anchors=("key=", "sig="),
    pattern=re.compile(
        r"(?i:(?<=account)key=|(?<=sharedaccess)key=|(?<=[?&])sig=)(?P<value_key>[A-Za-z0-9+/=%]{43,100})"
    ),
    accepts=lambda _, value: any(map(str.isdigit, value)) and not is_harmless(value),
    matches=(
        ("AccountName=kite;AccountKey=" + "Kt7+" * 21 + "Kg==;", "Kt7+" * 21 + "Kg=="),
        ("https://kite.blob.core.windows.net/c?ss=b&sig=" + "Kt7a" * 11 + "%3D", "Kt7a" * 11 + "%3D"),
    ),
    ignores=("AccountKey=<key>", "design&sig=none"),
)  # fmt: skip

REGISTRY_AUTH = Rule(
    name="registry_auth",
    anchors=("auth\"", "auth\\", "auth=", "auth ="),
    pattern=re.compile(
        r"""auth(?:\\{0,15}"\s{0,4}:\s{0,4}\\{0,15}"|[ ]?=[ ]?"?)(?P<value_auth>[A-Za-z0-9+/]{16,1024}={0,2})"""
    ),
    accepts=lambda _, value: _is_user_and_password(value),
    matches=(
        (f'{{"auths": {{"r.example": {{"auth": "{_BASE64}"}}}}}}', _BASE64),
        (f'\\"auth\\": \\"{_BASE64}\\"', _BASE64),
        (f"//r.example/:_auth={_BASE64}", _BASE64),
        (f'_auth = "{_BASE64}"', _BASE64),
    ),
    ignores=('"auth": "authenticationMethod"', 'auth = "authenticateUser"'),
)  # fmt: skip


def _is_user_and_password(value: str) -> bool:
    try:
        decoded = base64.b64decode(value)
    except ValueError:
        return False
    return re.fullmatch(rb"[!-~]+:[ -~]+", decoded) is not None


_LINES = "Kt7+" * 16 + "\n" + "Kt7+" * 4 + "\n"

PUTTY_KEY = Rule(
    name="putty_key",
    anchors=("private-lines:",),
    # The lines of the key may be quoted or part of a diff; what follows them is named again: "Private-MAC: …".
    pattern=re.compile(
        r"Private-Lines:[^\n]{2,8}\n(?P<value_lines>(?:[ \t>|+-]{0,24}[A-Za-z0-9+/=]{4,128}\\?(?:\r?\n|\Z)){1,200})"
    ),
    accepts=lambda _, value: any(map(str.isdigit, value)),
    matches=(
        (f"Private-Lines: 2\n{_LINES}Private-MAC: 9f2c", _LINES),
    ),
    ignores=("Private-Lines: 2\n(not shown)",),
)  # fmt: skip

_GROUPS = "qhzt mkwp" + " vnxd rjfb"
_COMMON_WORDS = """
also been does each from have here into just like made make more must need once only over some such than that them then
they this used user uses very when will with work your
"""

APP_PASSWORD = Rule(
    name="app_password",
    anchors=("app password", "app_password", "app-password", "apppassword", "应用专用密码", "应用密码"),
    pattern=re.compile(
        rf"(?i:app[ _-]?password|应用(?:专用)?密码)(?:[ ]for[ ]\w{{1,24}})?(?:{QUOTE})?[ ]?(?:is|[:=：是为])?"
        rf"[ ]?(?:{QUOTE})?(?P<value_groups>[a-z]{{4}} [a-z]{{4}} [a-z]{{4}} [a-z]{{4}})(?![A-Za-z])"
    ),
    # "app password that will work with …"
    accepts=lambda _, value: not any(group in _COMMON_WORDS for group in value.split()),
    matches=(
        (f"the gmail app password is {_GROUPS}", _GROUPS),
        (f"GMAIL_APP_PASSWORD='{_GROUPS}'", _GROUPS),
        (f'\\"appPassword\\": \\"{_GROUPS}\\"', _GROUPS),
        (f'"gmail-app-password": "{_GROUPS}"', _GROUPS),
        (f"app password for kite is {_GROUPS}", _GROUPS),
        (f"应用专用密码：{_GROUPS}", _GROUPS),
        (f"应用密码是{_GROUPS}", _GROUPS),
    ),
    ignores=("the app password is needed", "app password: ask your admin"),
)  # fmt: skip

PLACES = (
    URL_PASSWORD, AUTHORIZATION, TOOL_OPTION, WEBHOOK, AZURE_KEY, REGISTRY_AUTH, PUTTY_KEY, APP_PASSWORD,
)  # fmt: skip
