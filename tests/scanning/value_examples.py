"""Examples for what the rules stand on: predicates of values, private keys, private spans, and shapes of tokens."""

from __future__ import annotations

from collections.abc import Callable

from scanning import pem, values

_K = "Kt7Qx3Zp9"
_HASH = "9f2c" * 16
_UUID = "7c1c2f0e-5d3b-4a86-" + "9f0e-3b1f6f0c2d11"

_Predicate = Callable[..., bool]
_Cases = tuple[tuple[object, ...], ...]


def _words(text: str) -> list[str]:
    return text.split()


def _each(*values: str) -> _Cases:
    return tuple((value,) for value in values)


def _literal(*values: str) -> _Cases:
    return tuple((value, True) for value in values)


BEGIN, END = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
_BEGIN_PGP, _END_PGP = "-----BEGIN " + "PGP PRIVATE KEY BLOCK-----", "-----END " + "PGP PRIVATE KEY BLOCK-----"
_BEGIN_X = "-----BEGIN " + "X25519 PRIVATE KEY-----"
_RUN = "MIIe9Q/+" * 4

PREDICATES: tuple[tuple[_Predicate, _Cases, _Cases], ...] = (
    (
        values.has_marker,
        _each(
            *(f"[{word}_1]" for word in _words("PRIVATE MASKED REMOVED WITHHELD FILTERED SECRET TOKEN")),
            *_words("<SECRET_1> <token> sk-REDACTED-9 redacted *** ••• ●●● ██ … ..."),
        ),
        _each(*_words("[SECRETS] predacted redactedly a**b •• ●● █ ..")),
    ),
    (
        values.is_placeholder,
        _each(
            *(f"{_K}{word}" for word in _words("EXAMPLE EXAMPLEKEY EXAMPLETOKEN -example9 _placeholder9 .changeme9")),
            *(f"{_K}{word}" for word in _words("-change-me9 -change_me9 -YOUR-9 -your_9 … 1234567890 abcdefgh")),
            *(f"{_K}{word}" for word in _words("1a2b3c4d xyxyxyxyxyxy")), f"pk_live_{_K}",
        ),
        _each(f"{_K}EXAMPLES", f"{_K}example9", _K, f"{_K}xyzxyzxyzxyz", f"{_K}xyxyxyxyxyx"),
    ),
    (values.is_public, _each(f"pk_live_{_K}", f"pk_test_{_K}", f"pk.eyJ{_K}"), _each(f"kpk_live_{_K}")),
    (
        values.is_harmless,
        _each(
            *_words("$Harbor9 $harbor9 $_harbor9 9kite${harbor 9kite$(harbor 9kite/$KIT 9kite/$_IT 9kite{{harbor"),
            *_words("9kite<%harbor 9kite#{harbor 9kite%(harbor %K9% @K9@ '%s' '%d' '%r' kite_%s kite-%s kite_%v"),
            *_words("kite9{harbor.b} kite9{}x <Kite9> <k>9harbor"), "<kite.b:c|d/e-f 9>",
            *(f"9/{name}.harbor" for name in _words("os process import.meta self this config settings secrets env")),
            *(f"9/{name}.harbor" for name in _words("ENV vars inputs args options opts")),
            *_words("9/env[harbor 9/getenv(harbor 9/environ(harbor kite9->Harbor kite9->harbor kite9::_x"),
            *(f"{scheme}:harbor9" for scheme in _words("env file vault op ssm arn keychain urn data")),
            *(f"9{verb}x密钥" for verb in _words("粘贴 填写 填入 输入 替换 你的 您的")),
            *_words("9你的密码 9你的口令 9你的令牌 在这里9x （在此9x"),
            *(f"kite9{sign}" for sign in _words(r"\s \S \w \W \d \D \b \B [^ .* .+ (? [A-Za-z [a-z {8,} {8,12}")),
            *_words(r"Kite://harbor9 kite://harbor9 k+i.t-e://harbor9 k://harbor9 mailto:kite9 C:\kite9 c:\kite9"),
            *_words("~/kite9 ./kite9 ../kite9 @kite-9/har-bor9 /srv/k.i@t-e9 /k9"),
            *_words("v2048.4096 ^2048.4096 ~>2048.4096 >=2048.4096 <2048.4096 2048.4096-rc.1-x9 2048.4096+b9"),
            *_words("k9k9 Harbor9***kite bcdefghijk 'bcdefghijk' token123 token234567 api.the.key.user"),
            *_words("api-the-key-user-api-the-key-user-api-the-key-user"),
            *_words("2048.4096.dev9 MyAPIToken myPassword my-token my_token my2token"),
        ),
        _each(
            *_words("9$harbor 9kite$KITE 9kite/$KI 9%k9% %K9%x 9@k9@ @K9@x 9kite-%s kite-%sx9 harborx! 9xself.harbor"),
            *_words("xgetenv9kite 9env:harbor 9kite在这里x /kite9!harbor @/kite9 @kite9/ @kite9/x! v.2048.4096 v2048"),
            *_words("api-the-key-user-api-the-key-user-api-the-key-user-api k9!k9! 739 token7391 /Kt7Qx3Zp9Rw2Yb5N"),
            *_words("v2048..4096 2048.4096- 2048.4096! token风筝 token2048 /9!kite/x kite9{,5}x"),
        ),
    ),
    (
        values.is_code,
        _each(
            *_words("kite2.token kite.harbor kite?.harbor ki$te.ha$r my$_token _kite"),
            *(f"kite2{name}x" for name in _words("token secret passw passphrase pwd _pass apikey credential _key")),
            *(f"kite2{name}" for name in _words("_hashx Key Hash TOKEN")),
        ),
        _each(
            *_words("kite.harbor! .harbor kite..harbor kite.! kite kite2Keyx kite2Hashx my_token! kite2 kite2.harbor"),
            "Kt7tokenQx3Zp9Rw2Yb5",
        ),
    ),
    (
        values.is_key,
        _literal(
            *_words("-harborkite9 harborkite9 2048kite 0x9f2cDE01kite harbor-kite2204 Harbor-kite9! HARBORKITE9"),
            *_words("_HARBORKITE9 HARBOR_KITE9X kite92bc KtQxZpRwYbNdKtQxZpRw"),
        ),
        _literal(
            *(f"2048000{unit}" for unit in _words("ms s m h d k KB MiB GiB kb px em rem chars")),
            *(f"4096{sign}2048px" for sign in ",:_+/%.-"), "kite 92bc",
            *_words("kite92b kite2Token 2048!4096 KtQxZpRwYbNdKtQxZpR harborkiteharborkiteh your-key-9kite ********9k"),
            *_words("4096chars 0x9f2cDE01 0x9f2cULL 0x9F2CEuL 0x9f2ceUl 2026-01-01T10:00:00.5Z 1920x1080"),
            *_words("harbor-kite-22 harbor_kite_22 harbor:kite22 harbor.kite22 harbor/kite22 harbor9-kite22"),
            *_words("HARBOR_KITE_22 HARBOR9_KITE22"),
        ),
    ),
    (
        values.is_password,
        (
            *_literal("har9bor kite", "harthe bor 9", "har thebor 9", "q w r t p s d 9", "ab1!", "739155"),
            *_literal("harborki", "harbor!kite", "kite2token"), ("Harbor9kite", False), ("739155", False),
        ),
        (
            *((word, False) for word in (*_words("kite2token harborkite"), "har bor 9")),
            *_literal("har9bor ", "q w r t p s d f 9", "har bor kite", "ab1", "73915",),
            *_literal(*_words("harbork harborkité HarborKite harbor-kite Harbor_kite changeme9")),
            *_literal(
            *(f"har bor 9 {word}" for word in _words("is are must should The your a an be to for of and or not enter")),
            *(f"har bor 9 {word}" for word in _words("required invalid please this that with in")),
            ),
        ),
    ),
    (
        values.is_mixed,
        _each(*_words("Harbor9kite Harbor!22 KtQxZp!RwYbNdKtQxZpRw")),
        _each(*_words("harbor9kite HARBOR9KITE Harbor22 Har9b")),
    ),
    (
        values.is_header_credential,
        _each(*_words("harbor9kite2 YTpi9MI= aGFyYmbyKtQxZp")),
        _each(*_words("harbor9kite authentication1 kite2Token9ab authenticatedby")),
    ),
    (
        values._looks_random,
        _each(*_words("a1b2c3d4e5f6g7h8 A1B2C3D4E5F6G7H8 aBaBaBaBaBaBaBaB a1a1a1a1a2aaaaaaaaaa")),
        _each(*_words("a1b2c3d4e5f6g7h a-b-c-d-e-f-g-h- 1-2-3-4-5-6-7-8- a1a1a1a1aaaaaaaaaaaa")),
    ),
    (
        values.is_chinese_password,
        _each(*_words("kite9风筝 风9筝x 风筝港口x 风筝港口9 风筝港a harborki")),
        _each(
            *_words("风9x 风筝港口 在这里9x ab1 harbor-kite"),
            *(f"kite9{character}" for character in "请见見的了吗呢必须至少不最以位个字符长短度错误正确输入修改重置"),
            *(f"kite9{character}" for character in "忘记过期空默认加密每更换次"),
        ),
    ),
    (
        pem.has_content,
        _each(f"{BEGIN}\nMIIe_Q9+/-zx\n{END}"),
        _each(f"{BEGIN}\nMIIe_Q9+/-z\n{END}", f"{BEGIN}...{END}", f"{_BEGIN_PGP}...{_END_PGP}", f"{_BEGIN_X}..."),
    ),
)  # fmt: skip
"""Each with arguments for which it is true, and such for which it is not."""

KEYS = (
    ("see\n", f"{BEGIN}\n{_RUN}\nzz", ""),
    ("", f"{BEGIN}{_RUN}", ""),
    ("", f"{_BEGIN_PGP}\nVersion: 2\n\n{_RUN}", ""),
    ("", f"{_BEGIN_X}\nMIIE: 2\n{_RUN}", ""),
    ("", f"{BEGIN}\nProc-Type: 4\n{_RUN}", ""),
    ("", f"{BEGIN}\nComment: \n{_RUN}", ""),
    ("", f"{BEGIN}\nMIIEvQ9x", ""),
    ("", f"{BEGIN}\nabCdef+/", ""),
    ("", f"{BEGIN}\nMIIEvQ9=", ""),
    ("", f"{BEGIN}\nabcdefgh9", ""),
    ("", f'{BEGIN}\nMIIEvQ9x",', ""),
    ("x\n", f"{_RUN}\n{END}", " y"),
    ("x y\n", f"> Zz9y\n>{_RUN}9z,\n> Zz9x\n{END}", " y"),
    ("see 9f here\n", f"{_RUN}\n{END}", ""),
    ("9f here\n", f"{_RUN}\n{END}", ""),
    ("note 9f here\n", f"{_RUN}\n{END}", ""),
    ("\n", f"{_RUN}\n{END}", ""),
    ("", f"{BEGIN}\n{_RUN}\n", f"{BEGIN} is its first line"),
    ("", f"{_BEGIN_PGP}\n...\n{_RUN[:16]}\n{_END_PGP}", ""),
)
"""Texts with a private key: what stands before it, the key, and what stands behind."""

NO_KEYS = (
    f"{BEGIN} and {BEGIN} again", f"{_RUN} {END}",
    f"{BEGIN}\nFollowing\n", f"{BEGIN}\nfollowing", f"{BEGIN}\nContents", f"{BEGIN}\nMIIEvQ9", f"{BEGIN}[***]{_RUN}",
    f"{BEGIN} is at sha512:{_RUN}", f"{BEGIN}\nNote: x\nsee sha512:{_RUN}", f"{BEGIN}\nkeyfile9 is here",
    f"{BEGIN}\nNote: x\n*{_RUN}", f"{BEGIN}PASSWORD=[***]", f"{_RUN}*\n{END}", f"*{_RUN}\n{END}",
    f"{BEGIN}\n...\n{_RUN[:15]}\n{END}", f"{BEGIN}\n{_RUN[1:]}\nxx", f"{BEGIN}\nNote: x\nsee",
)  # fmt: skip

PRIVATE = (
    ("a <private>b</private> c", ["<private>b</private>"]),
    ("a <PRIVATE >b</Private > c", ["<PRIVATE >b</Private >"]),
    ("Local<Private> name", []),
    ("a <Private>b", ["<Private>b"]),
    ("字<Private>b", ["<Private>b"]),
)
"""Texts, and the private spans in them."""

TOKENS = (
    "hf_" + "Kt7" * 11 + "K",
    "glpat-" + "Kt7-" * 5 + ".a1." + "9f2k" * 2,
    "u-s4t2ud-" + _HASH,
    "sk-ant-ort01-" + "Kt7-" * 20,
    "mob-" + _UUID,
    "987654321" + "054321|" + "Kt7" * 9,
    "access-sandbox-" + _UUID,
    "access-development-" + _UUID,
    "FLWSECK_TEST-" + _HASH[:32] + "-X",
    "test_" + _HASH[:35],
    "ck_" + _HASH[:40],
    "shippo_test_" + _HASH[:40],
    "EZTK" + "Kt7" * 18,
    "duffel_test_" + "Kt7-" * 10 + "Kt7",
    "sl.u." + "Kt7-" * 40,
    "sat." + "Kt7-" * 5 + "Kt." + _HASH[:24] + "." + "Kt79" * 5,
    "access_token$sandbox$" + "9f2k" * 4 + "$" + _HASH[:32],
    "1/" + "12345678" * 2 + ":" + _HASH[:32],
)
"""Tokens of the kinds or forms that the benchmark's corpus does not hold."""
