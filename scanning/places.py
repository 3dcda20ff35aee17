"""Secrets known by their place: URLs, headers, options of known tools; and shapes the engine has no rule for."""

from __future__ import annotations

import re

from scanning.rule import Rule
from scanning.values import is_harmless, is_header_credential, is_mixed, is_password

_P = "Harbor9" + "kite"
_ENCODED = "Harbor" + "%409kite"
_BASE64 = "aGFyYm9yOm" + "tpdGU5OTk="

URL_PASSWORD = Rule(
    name="url_password",
    anchors=("://",),
    # The host follows the last @ before the path, so that a raw @ inside the password stays inside.
    pattern=re.compile(r"""://[^\s/?#@:"'`<>\\]{0,128}:(?P<value_url>[^\s/?#"'`<>\\]{1,256})@(?=[\w.\[%$-])"""),
    accepts=lambda _, value: len(value) >= (6 if value.isalpha() else 4) and not is_harmless(value),
    matches=(
        (f"redis://:{_P}@cache.kite.internal:6379/0", _P),
        (f"amqp://svc:{_ENCODED}@mq:5672", _ENCODED),
        (f"https://kite:{_P}@git.example.org/x.git", _P),
    ),
    ignores=(
        "postgres://user:pass@localhost/db", "postgres://user:password@localhost/db", "https://kite:${TOKEN}@host",
        "http://localhost:3000", "http://10.4.18.2:8080/admin", "ssh://git@host:22/x", "redis://:***@cache",
    ),
)  # fmt: skip

AUTHORIZATION = Rule(
    name="authorization",
    anchors=("authorization", "bearer"),
    pattern=re.compile(
        r"""(?i:authorization\\{0,15}["'`]?[ \t]{0,4}(?:[:=：]|=>|,)[ \t]{0,4}\\{0,15}["'`]?(?:f["'])?"""
        r"""(?P<scheme>(?:basic|bearer|token|bot|digest)[ \t]{1,4})?|(?P<bearer>bearer[ \t]{1,4}))"""
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

TOOL_OPTION = Rule(
    name="tool_option",
    anchors=("pass", "mysql", "mongo", "docker login", "redis-cli", "curl "),
    pattern=re.compile(
        r"""(?i:(?<=ssh)pass[ ]{1,4}-p[ ]{0,4}|mysql(?:dump|admin)?\b[^\n|;]{0,200}?[ ]-p"""
        r"""|mongo(?:sh|dump|restore)?\b[^\n|;]{0,200}?[ ]-p[ ]{1,4}|docker login\b[^\n|;]{0,200}?[ ]-p[ ]{1,4}"""
        r"""|redis-cli\b[^\n|;]{0,200}?[ ]-a[ ]{1,4}"""
        r"""|curl[ ][^\n|;]{0,300}?[ ](?:-u|--user)[ ]{0,4}["']?[^\s:"']{1,64}:)"""
        r"""["']?(?P<value_option>[^\s"'`<>|;()]{4,256})"""
    ),
    accepts=lambda _, value: not value.startswith("-") and not value.isalpha() and is_password(value, True),
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

# Shapes that the engine has no rule for.
VENDOR_TOKEN = Rule(
    name="vendor_token",
    anchors=("sk-", "ntn_", "figd_", "ya29.", "ltai5t", "akid", "sntrys_", "age-secret-key-1"),
    pattern=re.compile(
        r"(?P<value_prefix>(?<![A-Za-z0-9_-])(?:sk-[0-9a-f]{32}|ntn_\w{40,60}|figd_[\w-]{30,50}|ya29\.[\w-]{40,500}"
        r"|LTAI5t[A-Za-z0-9]{14,24}|AKID[A-Za-z0-9]{32}|sntrys_[\w+/=-]{40,200}|AGE-SECRET-KEY-1[A-Z0-9]{58})(?![A-Za-z0-9_]))",
        re.ASCII,  # a Han character beside the token is no part of it
    ),
    accepts=lambda _, value: any(map(str.isdigit, value)) and not is_harmless(value),
    matches=(
        ("DEEPSEEK " + "sk-" + "9f2c1e7a" * 4, "sk-" + "9f2c1e7a" * 4),
        ("用" + "LTAI5t" + "Kt7" * 6 + "这个", "LTAI5t" + "Kt7" * 6),
    ),
    ignores=("task-based work", "key sk-…abcd", "risk-9f2c1e7a", "ghr_token"),
)  # fmt: skip

WEBHOOK = Rule(
    name="webhook",
    anchors=("://",),
    pattern=re.compile(
        r"://hooks\.slack\.com/services/(?P<value_slack>T\w{6,12}/B\w{6,12}/\w{16,32})"
        r"|://[\w.:-]{1,60}/api/webhooks/\d{15,20}/(?P<value_discord>[\w-]{50,80})",
        re.ASCII,
    ),
    accepts=lambda _, value: not is_harmless(value),
    matches=(
        ("https://hooks.slack.com/services/" + "T0KITE9AB/B0KITE9AB/" + "Kt7" * 8, "T0KITE9AB/B0KITE9AB/" + "Kt7" * 8),
        ("https://discord.com/api/webhooks/" + "123456789012345678/" + "Kt7" * 22, "Kt7" * 22),
    ),
    ignores=("https://discord.com/api/webhooks/docs", "https://hooks.slack.com/services/T00000000/B00000000/XXXX"),
)  # fmt: skip

AZURE_KEY = Rule(
    name="azure_key",
    anchors=("key=", "sig="),
    pattern=re.compile(
        r"(?i:(?<=account)key=|(?<=sharedaccess)key=)(?P<value_account>[A-Za-z0-9+/]{40,90}={0,2})"
        r"|(?<=[?&])sig=(?P<value_signature>[A-Za-z0-9%+/]{40,80}=?)"
    ),
    accepts=lambda _, value: any(map(str.isdigit, value)) and not is_harmless(value),
    matches=(
        ("AccountName=kite;AccountKey=" + "Kt7+" * 21 + "Kg==;", "Kt7+" * 21 + "Kg=="),
        ("https://kite.blob.core.windows.net/c?ss=b&sig=" + "Kt7a" * 11 + "%3D", "Kt7a" * 11 + "%3D"),
    ),
    ignores=("AccountKey=<key>", "design&sig=none"),
)  # fmt: skip

PLACES = (URL_PASSWORD, AUTHORIZATION, TOOL_OPTION, VENDOR_TOKEN, WEBHOOK, AZURE_KEY)
