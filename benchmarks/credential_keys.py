"""The kinds of credential that are private keys: in their armour, bare, or in a file around them."""

from __future__ import annotations

import base64
import json
from random import Random

from benchmarks.credentials import Credential, Planted, expand, shape

# What the bytes of a key begin with, whatever key it is.
_RSA = bytes.fromhex("30 82 04 a4 02 01 00 02 82 01 01 00")
_PKCS8 = bytes.fromhex("30 82 04 be 02 01 00 30 0d 06 09 2a 86 48 86 f7 0d 01 01 01 05 00 04 82 04 a8") + _RSA
_ENCRYPTED = bytes.fromhex(
    "30 82 05 2d 30 57 06 09 2a 86 48 86 f7 0d 01 05 0d 30 4a 30 29 06 09 2a 86 48 86 f7 0d 01 05"
)
_OPENSSH = b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none\0\0\0\0\0\0\0\1\0\0\0\x33\0\0\0\x0bssh-ed25519\0\0\0 "


def _armoured(
    name: str, label: str, title: str, start: bytes, length: int, headers: str = "", tail: str = ""
) -> Credential:
    """The kind between BEGIN and END lines. start: its first bytes. length: of all bytes. headers, tail: templates of
    what stands before and after the lines of base64, which alone are the secret.
    """

    def make(random: Random) -> Planted:
        value = base64.b64encode(start + random.randbytes(length - len(start))).decode()
        width = 70 if "OPENSSH" in title else 64
        body = "\n".join(value[place : place + width] for place in range(0, len(value), width))
        lines = (f"-----BEGIN {title}-----\n", expand(headers, random), body, expand(tail, random))
        return Planted("".join(lines) + f"\n-----END {title}-----", body)

    return Credential(name, label, make)


def _service_account(random: Random) -> Planted:
    """The JSON file of a Google service account."""
    project = expand("{billing|orders|search|media}-{z5}-{n6}", random)
    key = _armoured("", "", "PRIVATE KEY", _PKCS8, 1218).make(random)
    pem = key.text + "\n"
    fields = {
        "type": "service_account",
        "project_id": project,
        "private_key_id": expand("{h40}", random),
        "private_key": pem,
        "client_email": f"deployer@{project}.iam.gserviceaccount.com",
        "client_id": expand("{n21}", random),
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    return Planted(json.dumps(fields, indent=2), json.dumps(key.secret)[1:-1])


KEYS: tuple[Credential, ...] = (
    _armoured("rsa_private_key", "SSH_PRIVATE_KEY", "RSA PRIVATE KEY", _RSA, 1192),
    _armoured(
        "rsa_encrypted_key",
        "TLS_KEY",
        "RSA PRIVATE KEY",
        b"",
        1200,
        headers="Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,{H32}\n\n",
    ),
    _armoured("ec_private_key", "APPLE_SIGNING_KEY", "EC PRIVATE KEY", bytes.fromhex("30 77 02 01 01 04 20"), 121),
    _armoured("pkcs8_private_key", "JWT_PRIVATE_KEY", "PRIVATE KEY", _PKCS8, 1218),
    _armoured("pkcs8_encrypted_key", "TLS_KEY", "ENCRYPTED PRIVATE KEY", _ENCRYPTED, 1329),
    _armoured("openssh_private_key", "DEPLOY_KEY", "OPENSSH PRIVATE KEY", _OPENSSH, 290),
    _armoured("pgp_private_key", "GPG_KEY", "PGP PRIVATE KEY BLOCK", b"\x95\x05\x86\x04", 1650, "\n", "\n={b4}"),
    shape(
        "putty_private_key",
        "DEPLOY_PPK",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: deploy\nPublic-Lines: 2\n"
        "AAAAC3NzaC1lZDI1NTE5AAAAI{b39}\n{b4}\nPrivate-Lines: 1\n[{B36}]\nPrivate-MAC: {h64}",
    ),
    shape("age_secret_key", "SOPS_AGE_KEY", "AGE-SECRET-KEY-1{e58}"),
    shape("nostr_secret_key", "NOSTR_NSEC", "nsec1{f58}"),
    shape("otp_address", "TOTP_URI", "otpauth://totp/{AWS|GitHub|GitLab}:{z4-7}?secret=[{t32}]&issuer=Work"),
    Credential("google_service_account", "GOOGLE_APPLICATION_CREDENTIALS_JSON", _service_account),
)
