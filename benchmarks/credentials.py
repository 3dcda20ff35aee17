"""Generated credentials: what kinds there are and how one of each is made.

Written from the providers' own descriptions of their formats and from nothing of `scanning`, so that it can judge every
scanner alike. No value stands in the source, only its form, as a template in which `{a36}` is 36 characters of a class
(`{a20-40}`: some number of them), `{us|eu}` one of the words, `{uuid}` a UUID, and `[...]` encloses the secret part
where that is not all of it. Classes: d digits, n a number without leading zero, h and H hexadecimal, z and Z letters of
one case, A letters, l and u letters of one case and digits, a letters and digits, b base64, w base64url, t base32, e
and f bech32, k Django's characters, p a password's. B, W, P: so many bytes in base64, in base64url without padding, in
base64 escaped for a URL.
"""

from __future__ import annotations

import base64
import re
import string
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from urllib.parse import quote
from uuid import UUID

_ITEM = re.compile(r"\{(?:([A-Za-z])(\d+)(?:-(\d+))?|(uuid|[^{}\"]*\|[^{}\"]*))\}")
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BECH32 = "qpzry9x8gf2tvdw0" + "s3jn54khce6mua7l"
_SIGNS = "!@#$%^&*?"
_CLASSES = {
    "d": string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "z": string.ascii_lowercase,
    "Z": string.ascii_uppercase,
    "A": string.ascii_letters,
    "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "a": _BASE62,
    "b": _BASE62 + "+/",
    "w": _BASE62 + "-_",
    "t": string.ascii_uppercase + "234567",
    "e": _BECH32.upper(),
    "f": _BECH32,
    "k": string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)",
    "p": _BASE62 + _SIGNS + "-_+=.",
}


@dataclass(frozen=True, slots=True)
class Planted:
    text: str
    """What stands in the surrounding; for most kinds the value itself."""
    secret: str
    """The part of it that must not survive."""


@dataclass(frozen=True, slots=True)
class Credential:
    name: str
    label: str
    """The customary environment variable."""
    make: Callable[[Random], Planted]


def shape(name: str, label: str, template: str) -> Credential:
    """The kind whose values a template describes."""
    before, marked, rest = template.partition("[")
    secret, _, after = rest.partition("]")

    def make(random: Random) -> Planted:
        if not marked:
            text = expand(template, random)
            return Planted(text, text)
        parts = [expand(part, random) for part in (before, secret, after)]
        return Planted("".join(parts), parts[1])

    return Credential(name, label, make)


def checksummed(name: str, label: str, prefix: str, length: int) -> Credential:
    """The kind whose random part is followed by its CRC32 as six digits of base 62."""

    def make(random: Random) -> Planted:
        body = drawn(_BASE62, length, random)
        rest, digits = zlib.crc32(body.encode()), ""
        while len(digits) < 6:
            rest, digit = divmod(rest, 62)
            digits = _BASE62[digit] + digits
        return Planted(prefix + body + digits, prefix + body + digits)

    return Credential(name, label, make)


def encoded(name: str, label: str, *parts: str, url: bool = False, only: bool = False) -> Credential:
    """The kind made of templates, the second, fourth and so on in base64. url: in base64url without padding. only:
    whether the secret is the base64 alone.
    """

    def make(random: Random) -> Planted:
        values = [expand(part, random) for part in parts]
        for place in range(1, len(values), 2):
            raw = values[place].encode()
            values[place] = _base64url(raw) if url else base64.b64encode(raw).decode()
        text = "".join(values)
        return Planted(text, values[1] if only else text)

    return Credential(name, label, make)


def expand(template: str, random: Random) -> str:
    """A template with every item in braces drawn."""
    return _ITEM.sub(lambda item: _item(item, random), template)


def drawn(alphabet: str, length: int, random: Random) -> str:
    """Characters of an alphabet; from four on with a digit and a letter, from eight on with each case and a sign, where
    the alphabet has them.
    """
    kinds = (string.digits, string.ascii_letters, string.ascii_lowercase, string.ascii_uppercase, _SIGNS)
    wanted = [set(kind) & set(alphabet) for kind in kinds[: 0 if length < 4 else 2 if length < 8 else 5]]
    while True:
        value = "".join(random.choices(alphabet, k=length))
        if all(not kind or kind & set(value) for kind in wanted):
            return value


def _item(item: re.Match[str], random: Random) -> str:
    code, low, high, word = item.groups()
    words: list[str] = word.split("|") if word else []
    if word == "uuid":
        return str(UUID(int=random.getrandbits(128), version=4))
    if words:
        return random.choice(words)
    length = random.randint(int(low), int(high or low))
    match code:
        case "n":
            return str(random.randrange(10 ** (length - 1), 10**length))
        case "W":
            return _base64url(random.randbytes(length))
        case "B" | "P":
            value = base64.b64encode(random.randbytes(length)).decode()
            return value if code == "B" else quote(value, safe="")
        case _:
            return drawn(_CLASSES[code], length, random)


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


LABELLED: tuple[Credential, ...] = (
    # Monitoring and search
    shape("datadog_api_key", "DD_API_KEY", "{h32}"),
    shape("datadog_application_key", "DD_APP_KEY", "{h40}"),
    shape("algolia_admin_key", "ALGOLIA_ADMIN_API_KEY", "{h32}"),
    shape("snyk_token", "SNYK_TOKEN", "{uuid}"),
    # Clouds
    shape("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "{b40}"),
    shape("aws_session_token", "AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2Vj{b320-480}=="),
    shape("cloudflare_global_key", "CLOUDFLARE_API_KEY", "{h37}"),
    shape("cloudflare_older_token", "CLOUDFLARE_API_TOKEN", "{w40}"),
    shape("alibaba_access_key_secret", "ALIBABA_CLOUD_ACCESS_KEY_SECRET", "{a30}"),
    shape("tencent_secret_key", "TENCENTCLOUD_SECRET_KEY", "{a32}"),
    shape("linode_token", "LINODE_TOKEN", "{h64}"),
    shape("hetzner_token", "HCLOUD_TOKEN", "{a64}"),
    shape("heroku_older_key", "HEROKU_API_KEY", "{uuid}"),
    shape("fastly_token", "FASTLY_API_TOKEN", "{w32}"),
    shape("minio_secret_key", "MINIO_SECRET_KEY", "{a40}"),
    # Models
    shape("mistral_api_key", "MISTRAL_API_KEY", "{a32}"),
    shape("cohere_api_key", "COHERE_API_KEY", "{a40}"),
    shape("together_older_key", "TOGETHER_API_KEY", "{h64}"),
    shape("azure_openai_older_key", "AZURE_OPENAI_API_KEY", "{h32}"),
    shape("deepgram_api_key", "DEEPGRAM_API_KEY", "{h40}"),
    shape("wandb_older_key", "WANDB_API_KEY", "{h40}"),
    # Sign-in and messages
    shape("twilio_auth_token", "TWILIO_AUTH_TOKEN", "{h32}"),
    shape("wechat_app_secret", "WECHAT_APP_SECRET", "{h32}"),
    shape("feishu_app_secret", "FEISHU_APP_SECRET", "{a32}"),
    shape("github_client_secret", "GITHUB_CLIENT_SECRET", "{h40}"),
    shape("spotify_client_secret", "SPOTIFY_CLIENT_SECRET", "{h32}"),
    shape("twitch_client_secret", "TWITCH_CLIENT_SECRET", "{l30}"),
    shape("paypal_client_secret", "PAYPAL_CLIENT_SECRET", "E{w79}"),
    shape("okta_api_token", "OKTA_API_TOKEN", "00{w40}"),
    # Building
    shape("circleci_older_token", "CIRCLECI_TOKEN", "{h40}"),
    shape("azure_devops_older_token", "AZURE_DEVOPS_TOKEN", "{l52}"),
    shape("gitee_token", "GITEE_ACCESS_TOKEN", "{h32}"),
    encoded("npmrc_auth", "NPMRC", "//registry.npmjs.org/:_auth=", "{z5-8}:{a16-24}", only=True),
    encoded(
        "docker_config_auth",
        "DOCKER_AUTH_CONFIG",
        '{"auths":{"https://index.docker.io/v1/":{"auth":"',
        "{z5-8}:{a20}",
        '"}}}',
        only=True,
    ),
    shape("netrc_password", "NETRC", "machine git.{z6-9}.net login {z5-8} password [{a16-24}]"),
    # Keys of an application of one's own
    shape("django_secret_key", "DJANGO_SECRET_KEY", "{k50}"),
    shape("rails_secret_key_base", "SECRET_KEY_BASE", "{h128}"),
    shape("rails_master_key", "RAILS_MASTER_KEY", "{h32}"),
    shape("session_secret", "SESSION_SECRET", "{a32-64}"),
    shape("nextauth_secret", "NEXTAUTH_SECRET", "{B32}"),
    shape("jwt_secret", "JWT_SECRET", "{w43-64}"),
    shape("encryption_key", "ENCRYPTION_KEY", "{h64}"),
    shape("wireguard_private_key", "WIREGUARD_PRIVATE_KEY", "{B32}"),
    shape("ethereum_private_key", "DEPLOYER_PRIVATE_KEY", "0x{h64}"),
    shape("vault_secret_id", "VAULT_SECRET_ID", "{uuid}"),
    # Passwords
    shape("database_password", "DB_PASSWORD", "{p8-16}"),
    shape("postgres_password", "PGPASSWORD", "{a12-20}"),
    shape(
        "mysql_root_password",
        "MYSQL_ROOT_PASSWORD",
        "{Harbour|Meadow|Lantern|Copper|Walnut|Granite}{!|@|#|_}{n2-4}{z2}",
    ),
    shape("redis_password", "REDIS_PASSWORD", "{a16-24}"),
    shape("smtp_password", "SMTP_PASSWORD", "{p12-16}"),
    shape("gmail_app_password", "GMAIL_APP_PASSWORD", "{z4} {z4} {z4} {z4}"),
)
