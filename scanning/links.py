"""Links to machines and networks that are not public: of no use to a reader elsewhere, and a map for an intruder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from scanning.rule import Expired, Rule, RuleSet, never
from scanning.types import Finding

_LOOPBACK_NETWORKS = tuple(map(ip_network, ("127.0.0.0/8", "::1/128", "0.0.0.0/32")))
# RFC 1918, link-local with the metadata services of clouds (RFC 3927), carrier-grade NAT (RFC 6598); for IPv6 unique
# local (RFC 4193) and link-local (RFC 4291). The networks of RFC 5737 are for documentation, so they are not here.
_PRIVATE_NETWORKS = tuple(
    map(
        ip_network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10"),
    )
)
_INTERNAL_SUFFIXES = (
    ".local", ".internal", ".intranet", ".corp", ".lan", ".localdomain", ".home.arpa", ".ts.net",
)  # fmt: skip
_INTERNAL_LABELS = frozenset({"internal", "intranet", "corp"})
_RESERVED_SUFFIXES = (".test", ".example", ".invalid")  # RFC 2606: nobody can own such a name
# Without a scheme `kite.internal.py` is a file and `org.kite.internal.store` a package; a host ends in one of these.
_COMMON_SUFFIXES = (".com", ".net", ".org", ".io", ".dev", ".cn")
_PLACEHOLDERS = frozenset(
    {"host", "hostname", "server", "example", "domain", "foo", "bar", "test", "testserver", "url"}
)
_PROGRAM_OBJECTS = frozenset({"self", "this"})

_IPV6 = r"\[[0-9A-Fa-f:.]{2,45}(?:%\w{1,20})?\]"
_NAME = r"(?>[A-Za-z0-9][\w.-]{1,252}(?<![._-]))"
_USER_OF_URL = r"""[^\s/?#"'`<>\\\u0080-\U0010ffff]{1,256}"""
_USER = r"[\w.-]{1,64}(?::[\w.-]{1,64})?"  # reads the same in reversed text
# `10.0.0.0/8` is a network: a path has a letter.
_PORT_OR_PATH = r":[1-9][0-9]{1,4}|(?=/(?:[\w.~-]{0,32}[A-Za-z]|[^\x00-\x7f]))"
_COPY_PATH = r":[\w.~/-]{1,256}"  # as in scp and Git: user@host:path
_HEAD = re.compile(
    rf"(?P<value_head>(?:(?P<scheme>[A-Za-z+]{{2,20}})://(?:{_USER_OF_URL}@)?|(?<![\w.@/$%-])(?:(?P<user>{_USER})@)?)"
    rf"(?P<host>{_IPV6}|{_NAME})"
    rf"(?(scheme)(?P<port>:[0-9]{{1,5}})?|(?:{_PORT_OR_PATH}|(?(user){_COPY_PATH}|(?!)))))"
    # What goes on with a variable is the template of many hosts.
    r"(?![.-]{0,2}[\w${%])",
    re.ASCII,
)
# Where another link begins, in a list or behind `?to=`, this one ends, so that each is judged by itself.
_PATH_CHARACTER = r"(?!https?://)[\w.~%!$&*+,;:=@?/#-]"
_TAIL = re.compile(rf"[/?#](?:{_PATH_CHARACTER}|\((?:{_PATH_CHARACTER}){{0,64}}\)){{0,2048}}", re.ASCII)
_TRAILING = ".,;:!?*_"
# Searched in the reversed text before an anchor, so the parts stand in reverse order.
_SCHEME_BEFORE = re.compile(r"[A-Za-z+]{0,20}")
_HOST_BEFORE = re.compile(rf"[\w.-]{{0,253}}(?:@{_USER})?", re.ASCII)
_LONGEST_HEAD = 320


@dataclass(frozen=True, slots=True)
class LinkRule(Rule):
    """A rule whose anchor stands inside the head of a link: after the scheme, or in the name of the host.

    The path is read once the host is accepted, so that a link to a public host costs no more than its name.
    """

    def match(self, text: str, position: int) -> tuple[int, int] | None:
        """The span of the link around the anchor at `position`, without the punctuation of the sentence, or None."""
        span = Rule.match(self, text, _head_start(text, position))
        return (span[0], _tail_end(text, span[1])) if span is not None else None


def find_links(text: str, expired: Expired = never) -> list[Finding]:
    """Links in `text` to machines and networks that are not public, in order and without overlaps.

    A link has a scheme, a port or a path: an address by itself may be a version. It ends before the first character
    outside ASCII.
    """
    links: list[Finding] = []
    end = 0
    for link in sorted(_RULE_SET.find(text, expired), key=lambda one: (one.start, -one.end)):
        # Several anchors of a link find it, or only the part behind a sign in its password.
        if link.start >= end:
            links.append(link)
            end = link.end
    return links


def _head_start(text: str, position: int) -> int:
    before = text[max(0, position - _LONGEST_HEAD) : position][::-1]
    run = (_SCHEME_BEFORE if text.startswith("://", position) else _HOST_BEFORE).match(before)
    return position - run.end() if run is not None else position


def _tail_end(text: str, head_end: int) -> int:
    tail = _TAIL.match(text, head_end)
    return head_end + len(tail.group().rstrip(_TRAILING)) if tail is not None else head_end


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


def _accepts_loopback(match: re.Match[str], _: str) -> bool:
    return _is_loopback(match["host"].lower())


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith((".localhost", ".docker.internal")):
        return True
    address = _address(host)
    return address is not None and any(address in network for network in _LOOPBACK_NETWORKS)


def _accepts_private(match: re.Match[str], _: str) -> bool:
    address = _address(match["host"])
    return address is not None and any(address in network for network in _PRIVATE_NETWORKS)


def _accepts_internal(match: re.Match[str], _: str) -> bool:
    host = match["host"].lower()
    labels = host.split(".")
    if host.startswith("[") or host.endswith(_RESERVED_SUFFIXES) or labels[0] in _PROGRAM_OBJECTS or _is_loopback(host):
        return False
    if len(labels) == 1:
        return _is_internal_name(match)
    if host.endswith(_INTERNAL_SUFFIXES) or (len(labels) > 2 and labels[-1] == "svc"):
        return True
    # corp.com is a company; corp.kite.com is its network.
    is_inside = not _INTERNAL_LABELS.isdisjoint(labels[:-2])
    return is_inside and (match["scheme"] is not None or host.endswith(_COMMON_SUFFIXES))


def _is_internal_name(match: re.Match[str]) -> bool:
    """Whether a name without a domain is a host: s3://kite names a bucket, redis://cache a service of the same file."""
    host = match["host"].lower()
    is_web = match["scheme"] is not None and match["scheme"].lower() in {"http", "https"}
    has_port_or_path = match["port"] is not None or match.string.startswith("/", match.end())
    return is_web and has_port_or_path and len(host) > 2 and not host.isdigit() and host not in _PLACEHOLDERS


LOOPBACK = LinkRule(
    name="loopback_link",
    anchors=("://", "localhost", "127.", "0.0.0.0", "[::1]", ".docker.internal"),
    pattern=_HEAD,
    accepts=_accepts_loopback,
    kind="link",
    severity="info",
    matches=(
        ("see http://localhost:3000.", "http://localhost:3000"),
        ("localhost:5432", "localhost:5432"),
        ("curl 127.8.0.1:8080/health", "127.8.0.1:8080/health"),
        ("0.0.0.0:9000->9000/tcp", "0.0.0.0:9000"),
        ("[::1]:8080", "[::1]:8080"),
        ("host.docker.internal:11434", "host.docker.internal:11434"),
        ("https://app.localhost/login", "https://app.localhost/login"),
    ),
    ignores=("the localhost", "127.0.0.1", "values[::1]", "localhost:port", "http://localhost.kite.io/"),
)

PRIVATE = LinkRule(
    name="private_address",
    anchors=("://", "10.", "192.168.", "172.", "169.254.", "100.", "[f"),
    pattern=_HEAD,
    accepts=_accepts_private,
    kind="link",
    severity="warn",
    matches=(
        ("http://10.4.18.2:8080/admin", "http://10.4.18.2:8080/admin"),
        ("10.4.18.2:8080", "10.4.18.2:8080"),
        ("open (192.168.1.7/a).", "192.168.1.7/a"),
        ("192.168.1.7/~ana", "192.168.1.7/~ana"),
        ("172.31.0.9:6379", "172.31.0.9:6379"),
        ("169.254.169.254/latest/meta-data/", "169.254.169.254/latest/meta-data/"),
        ("100.100.7.9:22", "100.100.7.9:22"),
        ("[fd12:9::7]:8443/x", "[fd12:9::7]:8443/x"),
        ("http://[fe80::7%25eth0]/", "http://[fe80::7%25eth0]/"),
        ("ssh://kite:pass@10.4.18.2/srv", "ssh://kite:pass@10.4.18.2/srv"),
        ("scp a.txt kite@10.4.18.2:/srv/a", "kite@10.4.18.2:/srv/a"),
        ("访问http://10.1.2.3:8080/管理页面", "http://10.1.2.3:8080/"),
        ("[wiki](http://10.1.2.3/a_(b)?c=d#e)", "http://10.1.2.3/a_(b)?c=d#e"),
        ("http://10.1.2.3?a=1, then", "http://10.1.2.3?a=1"),
        ("http://10.1.2.3#top!", "http://10.1.2.3#top"),
        ("It is at http://10.1.2.3. Try it.", "http://10.1.2.3"),
    ),
    ignores=(
        "release 10.4.18.2", "10.0.0.1", "10.0.0.0/8", "10.0.0.0/255.0.0.0", "http://192.0.2.7:80/",
        "http://198.51.100.7:80/", "http://203.0.113.7:80/", "http://8.8.8.8/", "100.1.2.3:80", "172.32.0.1:80",
        "/opt/10.4.18.2/bin", "kite-10.4.18.2/bin", "v10.4.18.2:80", "10.30.00:15", "foo:1.2", "C:/x",
        "kite@10.4.18.2", "10.4.18.2:80ms",
    ),
)  # fmt: skip

INTERNAL = LinkRule(
    name="internal_host",
    anchors=(
        "://", ".local", ".internal", "internal.", ".intranet", "intranet.", ".corp", "corp.", ".lan", ".home.arpa",
        ".svc", ".ts.net",
    ),
    pattern=_HEAD,
    accepts=_accepts_internal,
    kind="link",
    severity="warn",
    matches=(
        ("http://jenkins/job/kite", "http://jenkins/job/kite"),
        ("HTTPS://wiki:8080", "HTTPS://wiki:8080"),
        ("nas.local:5000", "nas.local:5000"),
        ("db.kite.internal:5432", "db.kite.internal:5432"),
        ("internal.kite.io/plan", "internal.kite.io/plan"),
        ("docs.intranet:8080", "docs.intranet:8080"),
        ("intranet.kite.org/hr", "intranet.kite.org/hr"),
        ("mail.corp:25", "mail.corp:25"),
        ("corp.kite.com/plan", "corp.kite.com/plan"),
        ("git.corp.kite.net:8443", "git.corp.kite.net:8443"),
        ("build.corp.kite.dev:8443", "build.corp.kite.dev:8443"),
        ("wiki.intranet.kite.cn/首页", "wiki.intranet.kite.cn/"),
        ("https://jira.internal.kite.fr/browse/K-1", "https://jira.internal.kite.fr/browse/K-1"),
        ("router.lan:8443", "router.lan:8443"),
        ("kite.localdomain:8080", "kite.localdomain:8080"),
        ("nas.home.arpa:5001", "nas.home.arpa:5001"),
        ("api.prod.svc:8080", "api.prod.svc:8080"),
        ("http://api.prod.svc.cluster.local/v1", "http://api.prod.svc.cluster.local/v1"),
        ("kite.tail9.ts.net:8080", "kite.tail9.ts.net:8080"),
        ("git clone git@git.kite.internal:team/kite.git", "git@git.kite.internal:team/kite.git"),
        ("deploy:pass@nas.kite.internal:5000", "deploy:pass@nas.kite.internal:5000"),
    ),
    ignores=(
        "com.kite.internal.Foo", "kite.internal:func", "self.internal/2x", "this.local/x", "@internal/pkg",
        "@kite.internal/pkg", "git.internal.py", "git.internal.py:42", "org.kite.internal.store:42", "https://corp.com/",
        "kite@git.internal.kite.io", "src/kite.local/x", "settings.local.json", "Kite.svc/x", "http://wiki.corp.kite.test/",
        "http://wiki.corp.kite.example/", "http://wiki.corp.kite.invalid/", "http://kite", "s3://kite/x", "http://ab/",
        "http://2026/", "http://www.kite.io/", "http://api-$ENV.kite.internal/", "http://nas.local.{domain}/",
        *(f"http://{name}:80/" for name in sorted(_PLACEHOLDERS)),
    ),
)  # fmt: skip

FILE_SERVER = Rule(
    name="internal_host",
    anchors=("\\\\",),
    pattern=re.compile(
        r"(?<![\w\\.:/*+)\]}-])(?P<value_share>(?P<slash>\\\\?)(?P=slash)(?P<host>[A-Za-z][A-Za-z0-9.-]{1,62}+)"
        r"(?:(?P=slash)[A-Za-z0-9][A-Za-z0-9_.$-]{0,79}+){1,16}+)",
        re.ASCII,
    ),
    accepts=lambda match, _: not _is_loopback(match["host"].lower()),
    kind="link",
    severity="warn",
    matches=(
        (r"打开 \\nas7\kite\plan.docx。", r"\\nas7\kite\plan.docx"),
        (r'"\\\\nas7\\c$\\p"', r"\\\\nas7\\c$\\p"),
    ),
    ignores=(
        r"\\.\pipe\kite", r"\\?\C:\kite", r"C:\\kite\\plan", r"\\localhost\c$", r"\\wsl.localhost\kite",
        r"[\w]\\nas7\kite", r"\\\nas7\kite", r"\\nas7 \kite", r"\\nas7\\kite", r"\\x\y",
    ),
)  # fmt: skip

LINK_RULES: tuple[Rule, ...] = (LOOPBACK, PRIVATE, INTERNAL, FILE_SERVER)
_RULE_SET = RuleSet(LINK_RULES)
