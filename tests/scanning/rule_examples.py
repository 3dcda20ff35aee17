"""More examples of the rules, for which there is no room beside them: each part of a rule needs one of them."""

from __future__ import annotations

_P = "Harbor9" + "kite"
_LONG = "Harbor9" + "kite22xQ"
_ANA = "ana" + "9"
_SHORT = "kit" + "9"
_SIGNS = "Ab9!#$%*+./:=?@\\^~£€§-" + "x"
_HAN = "风筝9!#$%&*+./=?@^~-" + "x"
_SPACED = "har bor 9" + "kite"
_ESCAPED = 'Har9bor\\"' + "kite"
_HEADER = "ab+/c._" + "~d-E9kite="
_BASE64 = "aGFyYm9yOm" + "tpdGU5OTk="
_PADDED = "YW5hOng5PmtpdGU/" + "Pg=="
_AZURITE = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1" + "OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_QUOTES = ('"', "'", "`", '\\"')
_HOOK_ID = "7c1c2f0e-5d3b-4a86-" + "9f0e-3b1f6f0c2d11"
_PUTTY = "Kt7+" * 16 + "\n" + "Kt7=" + "\n"
_OPTIONS = (("mysql", "-p"), ("mongo", "-p "), ("redis-cli", "-a "), ("curl", "-u kite:"))
_SUFFIXES = ("", "2", "prod", "production", "dev", "test", "staging", "live", "value", "old", "new", "main")
_CURLY = ("“”", "‘’", "「」", "『』", "《》")
_KEY_NAMES = """
api app access private auth account encrypt encryption sign signing master license service subscription deploy webhook
hmac admin root
"""
_OTHER_KEYS = "PUBLIC CACHE PRIMARY FOREIGN SORT HOST STORAGE ID PARTITION INDEX"
_OTHER_NAMES = "page sync continuation resume cancel cancellation public publickey public_key"
_HAN_LABELS = "密码 密碼 口令 密钥 密鑰 金鑰 令牌 私钥 パスワード 비밀번호"
_HAN_VERBS = "就是 设为 改为 改成 設為 是 为 為 は 是: 为："
_UNCLOSED = ('" ', "'\"", "\"'", '"`')
_DENSE = (
    *(f"{_P}{sign}x" for sign in "&|<>"),
    "9!#*Z\\^_|a~" + "x", "W&HARBOR" + "9", "w&harbor" + "9", "w&104" + "2077", "&harbor" + "9", "harbor9" + "&!k",
    "harb9" + "&kt",
)  # fmt: skip
_NOT_DENSE = ("boat|house", "1050|2077|3101", "a<harbor9&&k(x)")
_PHRASE = "harbor 9" + " with spaces"
_NAME = "kite2" + "token"
_LETTERS = "KtQxZpRwYbNd" + "KtQxZpRwYbNd"
_GROUPS = "qhzt mkwp" + " vnxd rjfb"

MORE_MATCHES: dict[str, tuple[tuple[str, str], ...]] = {
    "url_password": (
        ("https://kite:" + "boaten@git.example.org", "boaten"),
        ("https://kite:" + "9kit@git.example.org", "9kit"),
        ("https://kite:" + "har:bor9kite@git.example.org", "har:bor9kite"),
        ("https://kite:" + "har@bor9kite@git.example.org", "har@bor9kite"),
        (f'f"postgres://kite:{_P}@{{host}}/kite"', _P),
    ),
    "authorization": (
        *((f"{quote}Authorization{quote}: {quote}Basic {_BASE64}{quote}", _BASE64) for quote in _QUOTES),
        (f"Authorization=Basic {_BASE64}", _BASE64),
        (f"Authorization：Basic {_BASE64}", _BASE64),
        (f"['Authorization' => 'Basic {_BASE64}']", _BASE64),
        (f"header('authorization', 'Basic {_BASE64}')", _BASE64),
        (f"AUTHORIZATION : Bot {_LONG}", _LONG),
        (f"authorization:{_LONG}", _LONG),
        (f"BEARER {_LONG}", _LONG),
        ("Bearer harbor9" + "kite22", "harbor9" + "kite22"),
        (f"Bearer {_HEADER}", _HEADER),
        ("Authorization: Basic YTpi" + "MTI=", "YTpi" + "MTI="),
    ),
    "tool_option": (
        (f"SSHPASS -p{_P} ssh kite@host", _P),
        *((f"{tool} -p{_P} kite", _P) for tool in ("mysql", "mysqldump", "mysqladmin")),
        *((f"{tool} -u kite -p {_P}", _P) for tool in ("mongo", "mongosh", "mongodump", "mongorestore")),
        (f"redis-cli -h cache -a {_P} ping", _P),
        (f"redis-cli -a {_P}", _P),
        (f"docker login -p {_P}", _P),
        (f"docker login -p {_NAME}", _NAME),
        (f"mongo -p 9:{_P}", f"9:{_P}"),
        (f"curl -ukite:{_P} https://host", _P),
        (f"curl --user kite:{_P} https://host", _P),
        *((f"curl -s -u {quote}kite:{_P}{quote} https://host", _P) for quote in ('"', "'", '\\"')),
        *((f"mysql -p{quote}{_P}{quote} kite", _P) for quote in ('"', "'", '\\"')),
        *((f"mysql -p{_P}{stop} kite", _P) for stop in "\\`<>|;()"),
        (f"mysql -p{_SHORT} kite", _SHORT),
        (f"curl -u k:{_P} https://host", _P),
        *((f"{tool}{_P} {tool.split(' ', 1)[1]}test", _P) for tool in ("mysql -p", "mongo -p ", "redis-cli -a ")),
        ("curl -u kite:har:" + "bor9kite https://host", "har:" + "bor9kite"),
        (f"curl -u :{_P} https://host -u test:test", _P),
    ),
    "webhook": (
        (f"https://discord.com/api/webhooks/{'12345678' + '901234567'}/" + "Kt-7" * 15 + "请保密", "Kt-7" * 15),
        (f"https://k/api/webhooks/{'12345678' + '901234567'}/" + "Kt-7" * 15, "Kt-7" * 15),
    ),
    "azure_key": (
        ("SharedAccessKeyName=kite;sharedaccesskey=" + "Kt7/" * 10 + "Kg=", "Kt7/" * 10 + "Kg="),
        ("https://kite.blob.core.windows.net/c?sig=" + "Kt7a" * 11 + "%3D", "Kt7a" * 11 + "%3D"),
    ),
    "registry_auth": (
        ('"auth":"YW5hOjl+' + 'PmtpdGU/"', "YW5hOjl+" + "PmtpdGU/"),
        (f'"auth" : "{_PADDED}"', _PADDED),
    ),
    "putty_key": (
        ("Private-Lines: 2\r\n" + _PUTTY.replace("\n", "\r\n"), _PUTTY.replace("\n", "\r\n")),
        ("Private-Lines: 2\\\n" + _PUTTY.replace("\n", "\\\n"), _PUTTY.replace("\n", "\\\n")),
        ("Private-Lines: 2\n" + _PUTTY[:-1], _PUTTY[:-1]),
        *(
            (f"{edge}Private-Lines: 2\n{edge}Kt7/\n{edge}Kt7=\n{edge}Private-MAC: 9f2c", f"{edge}Kt7/\n{edge}Kt7=\n")
            for edge in ("    ", "\t", "> ", "| ", "+    ", "-")
        ),
    ),
    "app_password": (
        (f"app password for k is {_GROUPS}", _GROUPS),
        (f"App Password '{_GROUPS}'", _GROUPS),
        (f"应用密码为{_GROUPS}", _GROUPS),
        *((f"{quote}app_password{quote}: {quote}{_GROUPS}{quote}", _GROUPS) for quote in _QUOTES),
    ),
    "password": (
        *((f"db_{label}={_P}", _P) for label in ("passwd", "passphrase", "passcode", "passwort", "pwd", "pass")),
        (f"password{'2'}={_P}", _P),
        *((f"passwort_{suffix} = {_P}", _P) for suffix in _SUFFIXES),
        (f"PASSWORD-PROD = {_P}", _P),
        (f"dbPass = {_P}", _P),
        (f"my pass: {_P}", _P),
        (f"DB_PASS: {_P}", _P),
        (f"export PASS={_P}", _P),
        ("DB_PASSWORD=harbor" + "kite kite", "harbor" + "kite"),
        *((f"{quote}password{quote}: {quote}{_P}{quote}, {quote}user{quote}: 1", _P) for quote in _QUOTES),
        *(
            (f"{quote}name{quote}: {quote}DB_PASSWORD{quote}, {quote}value{quote}: {quote}{_P}{quote}", _P)
            for quote in _QUOTES
        ),
        (f'"DB_PASSWORD","value":"{_P}"', _P),
        (f"name: DB_PASSWORD\n  value: {_P}", _P),
        *((f"getenv({quote}PASSWORD{quote}, {quote}{_P}{quote})", _P) for quote in _QUOTES),
        *((f"getenv({quote}PASSWORD{quote},{quote}{_P}{quote})", _P) for quote in _QUOTES),
        (f"config.get('db.my-password', '{_P}')", _P),
        (f"Env('password', '{_P}')", _P),
        (f"config.getString('password', '{_P}')", _P),
        *((f"env.PASSWORD {sign} {quote}{_P}{quote}", _P) for sign in ("||", "??") for quote in _QUOTES),
        (f"env.PASSWORD||'{_P}'", _P),
        (f"${{DB_PASSWORT:-{_P}}}", _P),
        *((f"passwort{sign}{_P}", _P) for sign in ("=>", ":=", "＝", "：", "\t=\t", "：  ")),
        *((f"password {left}initial{right}: {_P}", _P) for left, right in ("()", "（）")),
        (f"password(a): {_P} (b): changeme", _P),
        (f"config['password'] = '{_P}'", _P),
        *((f"{mark}Password{mark}: {_P}", _P) for mark in ("**", "__")),
        *((f"{mark}Password:{mark} {_P}", _P) for mark in ("**", "__")),
        *((f"password{kind} = '{_P}'", _P) for kind in (": Optional[str]", ":str | None", " : t.Text", ": String?")),
        ("<password>" + "kit9</password>", "kit9"),
        *((f"{quote}DB_PASSWORD={_P}{quote}", _P) for quote in "\"'`"),
        *((f"DB_PASSWORD={_P}(|{end}", f"{_P}(|") for end in ("", " ", "\n", "\r\nUSER=kite")),
        ("DB_PASSWORT=k9(|", "k9(|"),
        (f"passwort={_P}|x", _P),
        (f'"password": "{_P}\\"9"', f'{_P}\\"9'),
        *((f"passwort: {left}{_P}{right} {left}x{right}", _P) for left, right in _CURLY),
        *((f"password: {quote}{_P}{stop}x", _P) for quote, stop in _UNCLOSED),
        (f"password: `{_SPACED}`", _SPACED),
        (f'\\"password\\": \\"{_SHORT}', _SHORT),
        (f"passwort: `{_P}", _P),
        *((f"password{colon} w&{_P}=n3", f"w&{_P}=n3") for colon in ":："),
        *((f"password: {value}", value) for value in _DENSE),
        (f"passwort: {_P}&", _P),
        (f"passwort = {_P}&x", _P),
        (f"password={_SIGNS},", _SIGNS),
        (f"password={_SHORT}", _SHORT),
        (f"<db passwort={_P}>", _P),
    ),
    "labelled_key": (
        *(
            (f"kite_{label} = {_LONG}", _LONG)
            for label in ("credential", "credentials", "secret_id", "token_2", "token-prod")
        ),
        *((f"secret{sign}access{sign}key{sign}base = {_LONG}", _LONG) for sign in ("", " ", "_", "-")),
        (f"kite_token2 = {_LONG}", _LONG),
        *((f"kite {name} key: {_LONG}", _LONG) for name in _KEY_NAMES.split()),
        (f"kite api_key: {_LONG}", _LONG),
        (f"kite api-key: {_LONG}", _LONG),
        (f"apikey: {_LONG}", _LONG),
        (f"CACHE_KITE_KEY={_LONG}", _LONG),
        (f"KITE_KEY={_LETTERS}", _LETTERS),
        (f"page_kite_token: {_LONG}", _LONG),
        (f"arn:aws:kms::9 kite_secret:{_LONG}", _LONG),
    ),
    "password_in_prose": (
        *((f"the {label} is {_LONG}", _LONG) for label in ("passphrase", "passcode", "token", "secret", "credential")),
        *((f"the kite secret{sign}access{sign}key{sign}base is {_LONG}", _LONG) for sign in ("", " ", "_", "-")),
        (f"the credentials for k.t-e@kite was {_LONG}", _LONG),
        (f"the secret id of k is {_LONG}", _LONG),
        (f"the password: token for kite is {_LONG} and that for x is changeme", _LONG),
        *((f"the password is {value}", value) for value in ("har9bor", "har9bo")),
        *((f"PASSWORD {verb} {_LONG}", _LONG) for verb in ("is", "is:", "was", "to", "is now", "is set to")),
        *((f"the password is {quote}{_P}{quote} {quote}x{quote}", _P) for quote in _QUOTES),
        (f'the password is "{_ESCAPED}"', _ESCAPED),
        *((f"the password is {left}{_P}{right} {left}x{right}", _P) for left, right in _CURLY),
        *((f"the password is {value}", value) for value in _DENSE),
    ),
    "password_after_label": (
        *(
            (f"kite {label} {_P}", _P)
            for label in ("passwd", "passphrase", "token", "api key", "api_key", "IDENTIFIED BY")
        ),
        *((f"kite {label} {_P}", _P) for label in ("secret", "secret key", "secret_key", "password\t")),
        (f"requirepass {_P}", _P),
        (f"|password|{_P}|", _P),
        (f'setPassword("{_ESCAPED}")', _ESCAPED),
        *((f"setPassword({quote}{_P}{quote})", _P) for quote in _QUOTES),
    ),
    "flag": (
        *((f"kite --{flag} {_P}", _P) for flag in ("pass", "passwd", "passphrase", "token", "secret", "secret-key")),
        *((f"kite --{flag} {_P}", _P) for flag in ("api-key", "access-key", "auth-key")),
        (f'kite --password "{_ESCAPED}"', _ESCAPED),
        (f"kite --db.password {_P}", _P),
        (f'kite --password "{_NAME}"', _NAME),
        *((f"kite --db-password {quote}{_P}{quote} {quote}x{quote}", _P) for quote in _QUOTES),
    ),
    "password_zh": (
        *((f"{label}：{_P}", _P) for label in _HAN_LABELS.split()),
        *((f"{quote}密码{quote}: {quote}{_P}{quote} {quote}x{quote}", _P) for quote in _QUOTES),
        *((f"密码{mark}：{_P}", _P) for mark in ("”", "’", "」", "】", "**", " (root)", "（root）")),
        *((f"密码：{left}{_P}{right} {left}x{right}", _P) for left, right in _CURLY),
        *((f"密码{verb}{_P}", _P) for verb in _HAN_VERBS.split()),
        *((f"密码{sign}{_P}", _P) for sign in (":", "=", "：**", " ：", "\t：\t", "\u3000：\u3000")),
        *((f"密码：{_P}{quote}x", _P) for quote in _QUOTES),
        (f"密码：{_HAN}。", _HAN),
        ("密码：风筝2" + "6", "风筝2" + "6"),
        ("密码：kite" + "92", "kite" + "92"),
        ("密码：kit" + ":92", "kit" + ":92"),
        ("密码：!#-&(+:<_a~" + "9kite，", "!#-&(+:<_a~" + "9kite"),
        *((f"密码：{quote}{_P}{stop}x", _P) for quote, stop in _UNCLOSED),
        ("密码：'kit" + "9", "kit" + "9"),
        (f"密码(a)：{_P} (b)：changeme", _P),
    ),
    "redaction_label": (
        *((f"pw=[REDACTED{sign}x]", f"[REDACTED{sign}x]") for sign in ":_ #-"),
        *((f"pw=[REDACTED:x{sign}y]", f"[REDACTED:x{sign}y]") for sign in ":_ #-"),
        *((f"pw=<REDACTED{sign}x>", f"<REDACTED{sign}x>") for sign in ":_-"),
        *((f"pw=<SECRET_1{sign}x>", f"<SECRET_1{sign}x>") for sign in ":_-"),
        ("pw=[Redacted:]", "[Redacted:]"),
    ),
    "masked_value": (
        *((f"pw{sign}***", "***") for sign in ":=：＝"),
        *((f"pw{sign} ***", "***") for sign in ":=：＝"),
        *((f"pw {sign}***", "***") for sign in "\"'_-"),
        *((f"pw {sign * 3}", sign * 3) for sign in "•●█"),
    ),
    "elided_token": (
        ("key sk-proj-…", "sk-proj-…"),
        ("AKIA…9Q", "AKIA…9Q"),
    ),
}
"""By the name of the rule: a text, and the value that must be found in it."""

MORE_IGNORES: dict[str, tuple[str, ...]] = {
    "url_password": (
        *(f"https://git.example.org{sign}to:{_ANA}@kite.example" for sign in ' /?#@"`<>\\'),
        f"fetch('https://git.example.org',{{to:{_ANA}@kite.example}})",
        *(f"https://git.example.org:8080{sign}to-ana9@kite.example" for sign in ' /?#"`<>\\'),
        "fetch('https://git.example.org:8080',to-ana9@kite.example)", "github://org:repos@main/x",
    ),
    "authorization": (
        "authorization = Harbor9kiteFor(x)", "authorization = Harbor9kiteFor[x]", "Authorization: basicharbor9kite22",
        "Authorization: bearerharbor9kite22",
    ),
    "tool_option": (
        "compass -p harbor9kite", "docker run --name mongo -p 127.0.0.1:27017:27017", "docker run mongo -p 27018:27017",
        "docker run mongo -p :27017", "mongo -u kite -p --authenticationDatabase",
        "mongodb -p harbor9kite", "redis-cli_2 -a harbor9kite",
        *(f"{tool}_x {option}harbor9kite" for tool, option in _OPTIONS),
        *(f"{tool} x{option}harbor9kite" for tool, option in _OPTIONS), "sshpass-p harbor9kite",
        "docker login -pharbor9kite", "redis-cli -aharbor9kite", "curl -u kite at 10:harbor9kite",
        "redis-cli -a harborkite",
        *(f"{tool} x{stop} mkdir {option}harbor9kite" for tool, option in _OPTIONS for stop in "\n|;"),
    ),
    "webhook": (
        "https://hooks.slack.com/services/T00000000/B00000000/" + "X" * 24,
        "file:///api/webhooks/12345678901234567/" + "Kt-7" * 15,
        f"https://.office.com/webhookb2/{_HOOK_ID}/IncomingWebhook/{'9f2c' * 8}/{_HOOK_ID}",
        f"https://kite.office.com/webhookb2//IncomingWebhook/{'9f2c' * 8}/{_HOOK_ID}",
    ),
    "registry_auth": ('auth = "authenticationMethodX"',),
    "azure_key": (
        "AccountKey=YourAccountKeyFromThePortalGoesHereInOnePiece",
        f"AccountKey={_AZURITE}", "integrity_key=" + "Kt7a" * 11, "design_sig=" + "Kt7a" * 11,
    ),
    "putty_key": ("Private-Lines: 2\nnone\nshown\n",),
    "app_password": (
        "app password for blue sign chat page", "app password that will work with it", f"app password: {_GROUPS}s",
        f"app password: {_GROUPS}S",
    ),
    "password": (
        "bypass = harbor9kite", "Bypass: harbor9kite", "MyPASS=harbor9kite", "Pass: harbor9kite",
        "--- PASS: harbor9kite", "password: first: harbor9kite", "DB_PASSWORT==harbor9kite",
        "DB_PASSWORT=harbor9kite(x) y", "password(): harbor9kite", "password::harbor9kite", "password://harbor9kite",
        "getenv('PASSWORD', harbor9kite)", "getenv(PASSWORD', 'harbor9kite')", "get(x, 'password', 'harbor9kite')",
        "getenv('x'), 'password', 'harbor9kite'", "password || harbor9kite", "password>harbor9kite",
        "password: :harbor9kite", *(f"password: {value}" for value in _NOT_DENSE), "password = harbor9kite->find",
        "password = harbor9kite(x)", "password = harbor9kite[x]", "password = harbor9kite{x}",
        f"password='{_PHRASE}'", f"PASSWORD: '{_PHRASE}'", "DB_PASSWORD=harbor-kite",
        "DB_PASSWORD='your password here'",
    ),
    "labelled_key": (
        *(f"{name}_token: {_LONG}" for name in _OTHER_NAMES.split()), f"page-token: {_LONG}", f"pageToken: {_LONG}",
        *(f"{name}_KEY={_LONG}" for name in _OTHER_KEYS.split()), f"api cache key: {_LONG}",
        f"fields = ['kite_token', '{_LONG}']", "KITE_KEY=harbor9kite22xq", "KITE_KEY=HARBOR9KITE22XQ",
        f"arn:aws:kms::secret:{_LONG}", f"arn:aws:secretsmanager:eu-west-1:123456789012:secret:{_LONG}",
    ),
    "password_in_prose": (
        *(f"the password is {value}" for value in _NOT_DENSE), "the password is :harbor9kite",
        *(f"the password is {value}" for value in ("har!bor", "7391!1", "har9b", "my2pwdx", "kite-922")),
    ),
    "password_after_label": (
        "passHarbor9kite", "pass Harbor9kite", "cache key Harbor9kite", "passwordHarbor9kite", "password(Harbor9kite)",
        "IDENTIFIED BY :Harbor9kite",
    ),
    "flag": (
        "--x key harbor9kite", "--apikey harbor9kite", "--sort-key harbor9kite", "--passwordharbor9kite",
        "--password --harbor9", "--password kite2token",
    ),
    "password_zh": ("密码（）：harbor9kite",),
    "override_instructions": tuple(f"override the system prompt {noun}" for noun in ("menu", "file", "engine")),
    "override_instructions_zh": ("忽略之前的规则集",),
    "unbound_persona": ("pretend we have no rules for branches",),
    "redaction_label": ("[REDACTEDx]", "<REDACTEDx>", "<SECRET_>", "<REDACTED: x y>"),
    "masked_value": ("note: ****bold****", "pw=**", "pw=***x", "a•b"),
    "elided_token": tuple(f"{before}sk-…abcd" for before in "kK9_-"),
}  # fmt: skip
"""By the name of the rule: look-alikes in which nothing must be found."""
