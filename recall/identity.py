"""What a git repository is known by, wherever it is: where it is published, and a file that moves along with it."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from recall.places import Place, common_directory, git_text
from scanning import redact

_URL = re.compile(r"(?:git\+)?(ssh|https?|git)://(?:[^/]*@)?(\[[^\]]*\]|[^/:]*)(?::(\d*))?/+(.*)", re.IGNORECASE)
_SCP = re.compile(r"(?:([^/@:]+)@)?(\[[^\]]*\]|[^/:@]{2,}):(?!//)(.+)")
_USUAL_PORTS = {"ssh": "22", "http": "80", "https": "443", "git": "9418"}
_CASELESS = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", ""})
_QUOTED = re.compile(r'\\(["\\])|"')
_SECTION = re.compile(r'\[remote\s+"(.*)"\]', re.IGNORECASE)


def remote_key(url: str) -> str:
    """One text for all spellings of a remote's URL: `github.com/ana/kite`; empty where it names no other machine.

    A protocol, credentials, the usual port, `.git` and the case of the host make no difference. A path is empty: two
    machines may have two repositories there.
    """
    url = url.strip()
    if found := _URL.fullmatch(url):
        scheme, host, port, path = found.groups()
        port = "" if port in (None, "", _USUAL_PORTS[scheme.lower()]) else f":{port}"
        home = ""
    elif found := _SCP.fullmatch(url):
        user, host, path = found.groups()
        port = ""
        # A path without a slash is below somebody's home folder, unless the machine serves git only.
        home = f"{user}@" if user not in (None, "git") and not path.startswith("/") else ""
    else:
        return ""
    path = unquote(path).strip("/").removesuffix(".git").strip("/")
    if "[REDACTED:" in host + path:
        return ""
    host = host.lower().rstrip(".")
    if host in _LOOPBACK or not path:
        return ""
    if host in _CASELESS:
        path, home = path.lower(), ""
    return f"{home}{host}{port}/{path}"


def remote_sign(url: str) -> str:
    """The sign of a repository whose transcript names that remote; empty where it says nothing."""
    key = remote_key(redact(url).text)
    return f"remote {key}" if key else ""


def is_remote(sign: str) -> bool:
    """Whether a sign may be shared by several repositories: every clone has its remote."""
    return sign.startswith("remote ")


def signs_of(place: Place) -> set[str]:
    """What the repository at a place is known by; empty for what is no repository of git's, or is gone."""
    common = common_directory(place)
    return signs_in(common) if common else set()


def signs_in(common: Path) -> set[str]:
    """What the repository with that git directory is known by."""
    signs = {remote_sign(_remote_url(git_text(common / "config")))}
    try:
        # Git makes this file with the repository and never again; a rename keeps both numbers, a copy neither.
        made = (common / "description").stat()
        if made.st_ino:
            signs.add(f"file {made.st_ino:x}-{made.st_mtime_ns:x}")
    except OSError:
        pass
    return signs - {""}


def _remote_url(config: str) -> str:
    """URL of `origin` in a git configuration, or of the only remote; empty where there is neither."""
    urls: dict[str, str] = {}
    section = ""
    for line in config.splitlines():
        name, _, text = line.strip().partition("=")
        if name.startswith("["):
            found = _SECTION.match(name)
            section = found[1] if found else ""
        elif section and name.strip().lower() == "url":
            urls.setdefault(section, _QUOTED.sub(lambda quoted: quoted[1] or "", text.strip()))
    return urls.get("origin", "") or (next(iter(urls.values())) if len(urls) == 1 else "")
