"""The lines of the look-alikes (benchmarks/lookalikes.py), one sheet a subject.

`name: template` begins a kind, a line indented by 2 is another template of it, a line indented by 4 goes on
with the one above, ⏎ is the end of a line. «field:argument» is
drawn for every sample, «» is nothing and stands inside published examples, so that no scanner takes this file for one
that leaks. Examples: docs.aws.amazon.com, jwt.io, cloud.google.com/docs/authentication/api-keys, RFC 6749 and 7617,
the TOTP wiki of google-authenticator, and the Azurite emulator's well-known account.
"""

CHECKSUMS = r"""
git_commit_hash: commit «hex:40»⏎Author: «person» <«user»@example.com>⏎Date:   «weekday» «month» «int:1-28» «clock» 2025
    ⏎⏎    «subject»
git_log_oneline: «hex:7» «subject»⏎«hex:7» (tag: v«version») «subject»⏎«hex:7» «subject»
git_merge: commit «hex:40»⏎Merge: «hex:7» «hex:7»⏎Author: «person» <«user»@example.com>
  Updating «hex:7»..«hex:7»⏎Fast-forward⏎ src/«word».py | «int:2-40» ++++--
git_diff_header: diff --git a/«w=word».py b/«@w».py⏎index «hex:7»..«hex:7» 100644⏎--- a/«@w».py⏎+++ b/«@w».py
git_rev_parse: $ git rev-parse HEAD⏎«h=hex:40»⏎$ git rev-parse --short HEAD⏎«@h:7»
git_reflog: «hex:7» HEAD@{«int:0-20»}: commit: «subject»
git_blame: «hex:8» («person» «date» «clock» +0200 «int:10-400») return «word».«snake:2»(token)
git_submodule: 160000 commit «hex:40»	vendor/«word»
git_format_patch: From «hex:40» Mon Sep 17 00:00:00 2001⏎From: «person» <«user»@example.com>⏎Subject: [PATCH] «subject»
git_lfs_pointer: version https://git-lfs.github.com/spec/v1⏎oid sha256:«hex:64»⏎size «number:8»
gerrit_change_id: Change-Id: I«hex:40»
github_commit_url: https://github.com/«user»/«word»/commit/«hex:40»
commit_in_prose: The regression came in with commit «h=hex:40»; reverting «@h:9» makes the tests pass again.
  问题是在提交 «h=hex:40» 中引入的，已经用 git revert «@h:8» 回退。
sha_sums_output: «hex:64»  «package»-«version».tar.gz⏎«hex:128»  «package»-«version».tar.xz
md5sum_output: «hex:32»  «word».csv
  MD5 («word».iso) = «hex:32»
hashlib_session: >>> hashlib.sha256(b"«word»").hexdigest()⏎'«hex:64»'
docker_image_digest: docker.io/library/«package»@sha256:«hex:64»
docker_pull: «hex:12»: Pull complete⏎«hex:12»: Pull complete⏎Digest: sha256:«hex:64»
docker_images: REPOSITORY   TAG      IMAGE ID       SIZE⏎«package»      latest   «hex:12»   «int:90-900»MB
docker_build_log: #14 writing image sha256:«hex:64» done⏎#14 naming to docker.io/«user»/«word»:dev done
dockerfile_pinned_from: FROM python:3.12-slim@sha256:«hex:64»
package_lock_integrity: "integrity": "sha512-«base64:64»",
yarn_lock: resolved "https://registry.yarnpkg.com/«p=package»/-/«@p»-«version».tgz#«hex:40»"⏎
      integrity sha512-«base64:64»
pnpm_lock: '@types/«package»@«version»':⏎    resolution: {integrity: sha512-«base64:64»}
poetry_lock: {file = "«package»-«version»-py3-none-any.whl", hash = "sha256:«hex:64»"},
uv_lock: { url = "https://files.pythonhosted.org/packages/«hex:2»/«hex:2»/«hex:60»/«package»-«version».whl",⏎
      hash = "sha256:«hex:64»", size = «number:6» },
cargo_lock: name = "«package»"⏎version = "«version»"⏎checksum = "«hex:64»"
go_sum: github.com/«user»/«w=word» v«v=version» h1:«base64:32»⏎
    github.com/«user»/«@w» v«@v»/go.mod h1:«base64:32»
go_pseudo_version: github.com/«user»/«word» v0.0.0-2024«int:10-12»«int:10-28»«int:10-23»«int:10-59»«int:10-59»-«hex:12»
gemfile_lock: CHECKSUMS⏎  rails (7.1.«int:1-5») sha256=«hex:64»
composer_lock: "url": "https://api.github.com/repos/«user»/«word»/zipball/«h=hex:40»",⏎"reference": "«@h»",
pip_hash: «package»==«version» \⏎    --hash=sha256:«hex:64» \⏎    --hash=sha256:«hex:64»
pipfile_lock: "hashes": [⏎    "sha256:«hex:64»",⏎    "sha256:«hex:64»"⏎],
bun_lock: "«p=package»": ["«@p»@«version»", "", {}, "sha512-«base64:64»"],
terraform_lock: hashes = [⏎    "h1:«base64:32»",⏎    "zh:«hex:64»",⏎  ]
swift_package_resolved: "state" : { "revision" : "«hex:40»", "version" : "«version»" }
flake_lock: "narHash": "sha256-«base64:32»",⏎"rev": "«hex:40»",
nix_store_path: /nix/store/«nix:32»-«package»-«version»/bin/«package»
nix_fetcher: rev = "v«version»";⏎hash = "sha256-«base64:32»";
homebrew_bottle: sha256 cellar: :any_skip_relocation, arm64_sonoma: "«hex:64»"
actions_pinned_sha: - uses: actions/checkout@«hex:40» # v4.«int:0-9».«int:0-9»
renovate_digest: | [actions/cache](https://github.com/actions/cache) | action | digest | `«hex:7»` -> `«hex:7»` |
pre_commit_rev: - repo: https://github.com/astral-sh/ruff-pre-commit⏎  rev: «hex:40»  # frozen: v«version»
dvc_file: outs:⏎- md5: «hex:32».dir⏎  size: «number:8»⏎  path: data/«word»
huggingface_snapshot: ~/.cache/huggingface/hub/models--«user»--«word»/snapshots/«hex:40»/config.json
sri_script_tag: <script src="https://cdn.jsdelivr.net/npm/«package»@«version»"⏎
      integrity="sha384-«base64:48»" crossorigin="anonymous"></script>
csp_hash: Content-Security-Policy: script-src 'self' 'sha256-«base64:32»'
etag_header: ETag: W/"«hex:8»-«base64:20»"
content_md5: Content-MD5: «base64:16»
s3_object_etag: {"Key": "«word»/«date».parquet", "ETag": "\"«hex:32»\"", "Size": «number:7»}
"""

NAMES = r"""
webpack_chunk: main.«hex:8».js   «int:90-900» KiB [immutable]⏎vendors~«word».«hex:20».chunk.js   «int:90-900» KiB
vite_asset: dist/assets/index-«charurl:8».js   «int:90-900».«digit:2» kB │ gzip: «int:20-90».«digit:2» kB
css_module_class: <button class="Button_root__«alnum:5» css-«base36:6»-MuiButton-root">
cdn_url: https://cdn.example.com/assets/«word»-«hex:32».css?v=«number:10»
cache_path: node_modules/.cache/babel-loader/«hex:64».json.gz
temp_file: Wrote /var/folders/«base36:2»/«base36:30»/T/x.log
docker_ps: CONTAINER ID   IMAGE       STATUS⏎«hex:12»   «package»   Up «int:2-59» minutes
docker_run_id: $ docker run -d «package»⏎«hex:64»
k8s_pod: api-«hex:10»-«pod:5»   1/1   Running   0   9m⏎«word»-«hex:9»-«pod:5»   0/1   CrashLoopBackOff
kustomize_config_map: configMapRef:⏎  name: «word»-config-«pod:10»
aws_resource_ids: "InstanceId": "i-0«hex:16»", "VpcId": "vpc-0«hex:16»", "GroupId": "sg-0«hex:16»"
aws_arn: arn:aws:iam::«number:12»:role/«word»-deploy-role
gcp_project: gcloud config set project «word»-«word»-«number:6»
azure_resource_id: /subscriptions/«uuid»/resourceGroups/rg-«word»/providers/Microsoft.KeyVault/vaults/kv-«word»
azure_tenant: "tenantId": "«uuid»",⏎"clientId": "«uuid»"
terraform_plan: ~ ami = "ami-0«hex:16»" -> "ami-0«hex:16»"⏎  id  = "i-0«hex:16»"  # aws_instance.«word»
terraform_sensitive: + «var» = (sensitive value)⏎  + «word»_token = (known after apply)
s3_url_plain: https://«word»-assets.s3.«region».amazonaws.com/uploads/«uuid»/«word».png
query_string_ids: GET /api/v1/«word»s?id=«number:9»&page=«int:2-40»&ref=«hex:16»&sort=-created_at 200
localhost_url: Local:   http://localhost:«int:3000-9000»/⏎Network: http://«ip»:«int:3000-9000»/
git_remote: origin	git@github.com:«user»/«word».git (fetch)⏎up	https://«user»@github.com/«user»/«word».git
scoped_packages: import { «pascal:1» } from "@«user»-labs/«word»-«word»";⏎npm i @«word»/«word»-tokens@^«version»
file_path_hash: .git/objects/«hex:2»/«hex:38»
module_path: com.«word».«word».security.«pascal:2»PasswordEncoderConfiguration
long_camel: const «camel:6»Factory = create«pascal:6»();
long_snake: def test_«snake:7»_when_token_expires(): ...
cpp_mangled: undefined reference to `_ZN«mangled:3»C1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE'
rust_mangled: _ZN«mangled:3»17h«hex:16»E
cuda_symbol: void at::native::_GLOBAL__N__«hex:8»_«int:2-99»_«pascal:2»_cu_«hex:8»::kernel<float>
stack_trace_js: at load (/app/dist/«word».«hex:8».js:1:«number:6»)⏎    at _compile (node:internal/modules/loader:1554)
stack_trace_native: #0  0x0000«hex:12» in «pascal:2»::run (this=0x55«hex:10») at «word».cc:«int:10-900»
object_repr: <«word».«pascal:2» object at 0x7f«hex:10»>
hex_dump: 000000«hex:1»0  «hex:2» «hex:2» «hex:2» «hex:2» 00 00 «hex:2» «hex:2»  ff d8 «hex:2» «hex:2» 01 0a  |..JFIF..|
"""

IDS = r"""
uuid_plain: «uuid:4», urn:uuid:«uuid:1» and {«uuid:5»}
session_id_log: «date» «clock» INFO session «uuid» started (resumed from «uuid:7»)
request_id_header: X-Request-Id: «uuid»
github_request_id: x-github-request-id: «HEX:4»:«HEX:6»:«HEX:7»:«HEX:7»:«HEX:8»
correlation_id: {"level":"info","msg":"«words:3»","correlationId":"«uuid»","spanId":"«hex:16»"}
trace_parent: traceparent: 00-«hex:32»-«hex:16»-01
trace_id: trace_id=«hex:32» span_id=«hex:16» token_count=«number:4»
amzn_trace: X-Amzn-Trace-Id: Root=1-«hex:8»-«hex:24»;Parent=«hex:16»;Sampled=1
cf_ray: cf-ray: «hex:16»-FRA
ulid: 01J«crockford:23»
nanoid: const [id] = useState("«charurl:21»");
mongo_object_id: { _id: ObjectId('«hex:24»'), owner: {"$oid": "«hex:24»"}, name: '«word»' }
snowflake_id: https://x.com/«user»/status/1«digit:18»
discord_ids: <@«number:18»> in channel «number:19»
slack_ids: "channel":"C0«ALNUM:9»","user":"U0«ALNUM:9»","ts":"17«digit:8».«digit:6»","team":"T0«ALNUM:8»"
stripe_object_ids: {"id": "evt_1«alnum:23»", "customer": "cus_«alnum:14»", "price": "price_1«alnum:23»"}
twilio_message_sid: sent message SM«hex:32» status=queued
youtube_video: https://www.youtube.com/watch?v=«charurl:11»
graphql_node_id: "node_id": "PR_kwDO«charurl:8»M5«charurl:8»",
graphql_cursor: "endCursor": "«words64:3»", "hasNextPage": true
wandb_run: wandb: View run at https://wandb.ai/«user»/«word»/runs/«base36:8»
jupyter_cell: {"cell_type": "code", "execution_count": «int:2-99», "id": "«hex:8»", "metadata": {}}
sentry_event: Sent event «hex:32» to Sentry (release «word»@«version»+«hex:7»)
jira_keys: SEC-«number:4», KEY-«number:3» and TOKEN-«number:2» block the «word» epic
codex_call_id: {"type":"function_call","name":"shell","arguments":"{}","call_id":"call_«alnum:24»"}
codex_response_ids: {"response_id":"resp_«hex:50»","id":"msg_«hex:50»","status":"completed"}
codex_reasoning: {"type":"reasoning","id":"rs_«hex:50»","summary":[],"encrypted_content":"gAAAAAB«charurl:360»=="}
codex_session_meta: {"type":"session_meta","payload":{"id":"«uuid:7»","git":{"commit_hash":"«hex:40»"}}}
claude_tool_use: {"type":"tool_use","id":"toolu_01«base58:22»","name":"Bash","input":{"command":"pytest -q"}}
claude_tool_result: {"tool_use_id":"toolu_01«base58:22»","type":"tool_result","content":"«int:2-99» passed"}
claude_message: {"id":"msg_01«base58:22»","type":"message","role":"assistant","model":"claude-sonnet-4-20250514"}
claude_transcript_line: {"parentUuid":"«uuid»","sessionId":"«uuid»","uuid":"«uuid»","requestId":"req_011«base58:21»"}
claude_thinking_signature: {"type":"thinking","thinking":"","signature":"E«pick:q|r|s»«char64:2»«base64:240»"}
openai_chat_id: {"id":"chatcmpl-«alnum:29»","object":"chat.completion","system_fingerprint":"fp_«hex:10»"}
fine_tune_name: model = "ft:gpt-4o-mini-2024-07-18:«word»-labs::«alnum:8»"
message_id_mail: Message-ID: <CA«charurl:48»@mail.gmail.com>⏎References: <«number:14».«number:5»-1-«user»@example.com>
doi: doi:10.«number:4»/s«number:5»-024-«number:5»-«base36:1»
isbn: ISBN 978-3-16-«number:6»-«int:0-9»
arxiv: arXiv:24«int:10-12».«number:5»v2 [cs.CL]
ethereum: Transfer 0x«hex:40» -> 0x«hex:40», tx 0x«hex:64»
bitcoin_address: bc1q«bech32:38» and 1«base58:33»
ipfs_cid: ipfs://bafybei«base32:52»/metadata.json, formerly Qm«base58:44»
spdx_header: // SPDX-License-Identifier: «pick:MIT|Apache-2.0|BSD-3-Clause OR GPL-2.0-only» AND LicenseRef-«word»-1.0
big_integer: seed = «number:18»; offset = «number:19»; prime = 2**«int:100-521» - 1; n = «number:40»
phone_like: +1 (555) 01«digit:1»-«digit:4», 客服热线 400-«digit:3»-«digit:4»
iso_timestamps: start=«date»T«clock».«digit:6»Z end=«date»T«clock»+08:00 epoch=17«digit:11»
version_build: «word» «version»-rc.«int:1-9»+build.«number:8».«hex:9» (linux-x86_64, «hex:10» «date»)
ip_and_port: listening on «ip»:«int:1024-65000», peer [2001:db8:«hex:4»:«hex:4»::«hex:4»]:«int:1024-65000»
mac_address: link/ether «colons:6» brd ff:ff:ff:ff:ff:ff
hex_colours: --accent: #«hex:6»; --shadow: #«hex:8»; fill="#«HEX:6»"
design_tokens: {"token": {"color-primary": {"value": "#«hex:6»"}, "radius-lg": {"value": "«int:2-20»px"}}}
dna_sequence: >chr«int:1-22»:«number:6»-«number:6»⏎«dna:60»⏎«dna:60»
chess_fen: r1bqkb1r/pp«int:1-2»p1ppp/2n2n2/3p4/3P4/2N2N2/PP2PPPP/R1BQKB1R w KQkq - «int:0-9» «int:5-20»
"""

PUBLIC = r"""
ssh_rsa_public: ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ«char64:342» «user»@«host»
ssh_ed25519_public: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«char64:43» «user»@laptop
known_hosts: github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«char64:43»
  |1|«base64:20»|«base64:20» ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«char64:43»
pem_public_key: -----BEGIN PUBLIC KEY-----⏎
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA«char64:20»⏎«pem:5»⏎-----END PUBLIC KEY-----
pem_certificate: -----BEGIN CERTIFICATE-----⏎MIID«char64:60»⏎«pem:10»⏎-----END CERTIFICATE-----
ssh_fingerprint: ED25519 key fingerprint is SHA256:«char64:43».
  256 SHA256:«char64:43» «user»@laptop (ED25519)
md5_fingerprint: Fingerprint: MD5:«colons:16»
x509_text: Serial Number: «colons:18»⏎    X509v3 Subject Key Identifier: «colons:20»
gpg_key_id: gpg: Signature made «date»⏎gpg:                using RSA key 0x«HEX:16»
gpg_fingerprint: pub   rsa4096 «date» [SC]⏎      «HEX:40»⏎uid           [ultimate] «person» <«user»@example.com>
apt_key: W: GPG error: https://«host» stable InRelease: NO_PUBKEY «HEX:16»
wireguard_public: [Peer]⏎PublicKey = «base64:32»⏎AllowedIPs = «ip»/32
age_recipient: age -r age1«bech32:58» -o backup.age
jwk_public: {"kty":"RSA","use":"sig","alg":"RS256","kid":"«hex:40»","e":"AQAB","n":"«charurl:342»"}
vapid_public: VAPID_PUBLIC_KEY=B«charurl:86»
minisign_public: "pubkey": "RWQ«char64:53»"
dkim_record: default._domainkey IN TXT "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ«char64:176»QIDAQAB"
dnssec_record: example.com. 3600 IN DS «number:5» 13 2 «HEX:64»
site_verification: example.com. TXT "google-site-verification=«charurl:43»"
openssl_session: Protocol  : TLSv1.3⏎    Session-ID: «HEX:64»⏎    Session-ID-ctx:
stripe_publishable_key: loadStripe("pk_live_51«alnum:97»")
  NEXT_PUBLIC_STRIPE_KEY=pk_test_51«alnum:97»
sentry_dsn: Sentry.init({ dsn: "https://«hex:32»@o«number:6».ingest.sentry.io/«number:7»" });
recaptcha_site_key: <div class="g-recaptcha" data-sitekey="6L«charurl:6»AAAAA«charurl:27»"></div>
turnstile_site_key: <div class="cf-turnstile" data-sitekey="0x4AAAAAAA«charurl:14»"></div>
mapbox_public_token: mapboxgl.accessToken = "pk.eyJ1Ijoi«charurl:40».«charurl:22»";
analytics_ids: gtag("config", "G-«ALNUM:10»"); // was UA-«number:8»-«int:1-9», GTM-«ALNUM:7»
posthog_project_key: posthog.init("phc_«alnum:43»", { api_host: "https://eu.i.posthog.com" })
oauth_client_id: client_id=«number:12»-«base36:32».apps.googleusercontent.com
github_app_client_id: client-id: Iv1.«hex:16»
example_aws_access_key: aws_access_key_id = AKIA«»IOSFODNN7«»EXAMPLE⏎region = «region»
example_aws_secret: AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/«»K7MDENG/bPxRfiCY«»EXAMPLEKEY # AWS docs, «region»
example_jwt_io: «pick:The example on jwt.io is|jwt.io 首页的示例是» eyJhbGciOiJIUzI1NiIs«»InR5cCI6IkpXVCJ9.
    eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6«»IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.
    SflKxwRJSMeKKF2QT4fw«»pMeJf36POk6yJV_adQssw5c
example_google_key: The key string looks like AIzaSyDaGmWKa4«»JsXZ-HjGw7ISLn_«»3namBGewQe (Google docs, «word»)
example_rfc_6749: {"access_token":"2YotnFZFEjr1«»zCsicMWpAA","token_type":"example"} // RFC 6749, «word»
example_rfc_7617: Authorization: Basic QWxhZGRpbjpv«»cGVuIHNlc2FtZQ== # RFC 7617, Aladdin, for the «word» test
example_totp: otpauth://totp/Example:alice@google.com?secret=JBSWY3DP«»EHPK3PXP&issuer=«word»
example_azurite: AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1«»
    OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;BlobEndpoint=http://«ip»:10000
data_uri_image: <img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA«base64:150»" alt="«word»">
data_uri_font: src: url(data:font/woff2;base64,d09GMgAB«base64:120») format("woff2");
svg_path: <path d="M«int:1-24».«digit:2» «int:1-24».«digit:3»l-3.«digit:3» 4.«digit:3»z" fill="#«hex:6»"/>
source_map: {"version":3,"sources":["../src/«word».ts"],"names":["token","key"],"mappings":"«mappings:40»"}
  //# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpb«base64:90»
base64_of_words: $ echo -n "«word»" | base64⏎«words64:3»
minified_js: !function(e,t){"use strict";var n=t(«number:4»),r=e.token||n.key;
    u(r,function(e){return e.password===t.pw&&n.«pick:aB|xr|$e»(«number:5»)})}(window,«number:3»);
protobuf_descriptor: AddSerializedFile(b'\n\x0b«word».proto\x12\x04auth\n\x05Token\x12\r\n\x05value\x18\x«digit:2»')
jwt_structure: A JWT is header.payload.signature; here alg=«pick:HS256|RS256|ES256» and exp is 17«digit:8».
  JWT 由 header.payload.signature 三段组成，中间一段解码后可见 exp=17«digit:8»。
"""

BLANKS = r"""
env_python: «var» = os.getenv("«VAR»")
  «var» = os.environ["«VAR»"]
env_node: const «camelvar» = process.env.«VAR»;
env_vite: const «camelvar» = import.meta.env.VITE_«VAR»;
env_deno: const «camelvar» = Deno.env.get("«VAR»")!;
env_java: String «camelvar» = System.getenv("«VAR»");
env_ruby: «var»: ENV.fetch("«VAR»")
env_rust: let «var» = std::env::var("«VAR»").expect("«VAR» is not set");
env_go: cfg.«pascal:1»Password = viper.GetString("«word».password")
env_csharp: var «camelvar» = Environment.GetEnvironmentVariable("«VAR»") ?? Configuration["Jwt:Key"];
config_get: password = config.get("«word»", "password")
settings_attribute: client = Client(api_key=settings.«word»_api_key.get_secret_value(), timeout=«int:2-90»)
github_actions_secret: env:⏎  «v=VAR»: ${{ secrets.«@v» }}
shell_variable: curl -s -H "Authorization: Bearer $«VAR»" https://«host»/v1/«word»s
shell_default: export «v=VAR»="${«@v»:-}"
make_variable: docker login -u $(USER) -p $(«VAR») $(REGISTRY)
windows_variable: set DEPLOY_PASSWORD=%«VAR»%
helm_value: password: {{ .Values.«word».password | quote }}
erb_template: password: <%= ENV["«VAR»"] %>
vault_read: vault kv get -field=password secret/«word»/prod
one_password_reference: «VAR»=op://Private/«word»/password
secrets_manager_arn: SecretId: arn:aws:secretsmanager:«region»:«number:12»:secret:prod/«word»/db-password-«alnum:6»
ssm_reference: MasterUserPassword: '{{resolve:ssm-secure:/prod/«word»/db_password:«int:1-9»}}'
k8s_secret_reference: - name: «VAR»⏎  valueFrom:⏎    secretKeyRef:⏎      name: «word»-secrets⏎      key: password
terraform_variable: password = var.«word»_password⏎token    = data.aws_ssm_parameter.«word»_token.value
keychain_lookup: security find-generic-password -a "$USER" -s «word»-token -w
secret_file: POSTGRES_PASSWORD_FILE: /run/secrets/«word»_«var»
spring_property: spring.datasource.password=${«VAR»}
url_of_variables: postgres://${DB_USER}:${DB_PASSWORD}@${DB_HOST}:5432/«word»
bearer_interpolated: headers = {"Authorization": f"Bearer {self.«var»}"}
  headers: { Authorization: `Bearer ${«camelvar»}` },
dockerfile_arg: ARG «VAR»⏎RUN npm ci --registry https://«host»
placeholder_angle: «VAR»=<your-«word»-key>
placeholder_your: «var» = "YOUR_«pick:API_KEY|ACCESS_TOKEN|SECRET_HERE|PASSWORD»"
placeholder_x: «VAR»=«pick:xxxxxxxxxxxxxxxxxxxx|XXXXXXXX-XXXX-XXXX|sk-xxxxxxxxxxxxxxxxxxxxxxxx|xxxx»
placeholder_stars: «var»: ********
placeholder_changeme: «VAR»=«pick:changeme|change-me|change_me_please|CHANGE_ME»
placeholder_dots: export «VAR»=«pick:sk-...|ghp_...|sk-ant-...|...»
placeholder_replace: "«camelvar»": "«pick:REPLACE_ME|REPLACE_WITH_YOUR_TOKEN|INSERT_KEY_HERE|put-your-token-here»"
placeholder_todo: «var» = "TODO"  # ask «user»
placeholder_dummy: client = «pascal:1»(«var»="«pick:dummy|fake|dummy-key|not-needed|none»")
placeholder_test: login(«var»="«pick:test|test-token|wrong|example|foo»", host="«host»")
placeholder_empty: «var» = ""⏎"«camelvar»": null,⏎«VAR»=
placeholder_url: DATABASE_URL=postgresql://<user>:<password>@<host>:5432/<«word»>
placeholder_zh_yours: «VAR»=你的密钥⏎«var»: "你的«pick:密码|令牌|API密钥|访问令牌»"
placeholder_zh_fill: «var» = "«pick:请填写密钥|请填写|请替换为你自己的密钥|待填写»"
placeholder_zh_enter: "«camelvar»": "«pick:在此输入|在此处填入您的密钥|请输入密码|<在这里粘贴令牌>»"
redacted_word: «VAR»=«pick:[REDACTED]|<redacted>|REDACTED|[FILTERED]|(hidden)»
redacted_stars: > Authorization: Bearer «pick:***|*****|[***]»⏎> Host: «host»
redacted_middle: using key sk-…«alnum:4» for «host»
  «VAR»=sk-proj-****«alnum:4»
redacted_numbered: "«camelvar»": "<SECRET_«int:1-40»>", "«word»": true
redacted_prefix: remote: token ghp_************************************ expired on «date»
redacted_bullets: Password: ••••••••••••  Last changed «date»
redacted_repr: «pascal:1»(user='«user»', «var»=SecretStr('**********'))
redacted_zh: 密码：«pick:******|已脱敏|（已隐藏）|【已打码】»，令牌：<已移除>，«date»
"""

CODE = r"""
tokenizer: tokenizer = AutoTokenizer.from_pretrained("«user»/«word»-base")⏎pad_token_id=tokenizer.eos_token_id
max_tokens: max_tokens=«pick:1024|4096|8192», temperature=0.«int:0-9», stop_token="<|endoftext|>"
token_count: token_count: «number:4», tokens_per_second: «int:20-90».«digit:2»
usage_statistics: "usage": {"input_tokens": «number:5», "output_tokens": «number:3», "cached_tokens": «number:6»}
rate_limit_headers: anthropic-ratelimit-tokens-remaining: «number:6»⏎x-ratelimit-reset-tokens: «int:1-59»ms
parser_tokens: Token(type='NAME', value='«word»', lineno=«int:2-90», index=«number:4»)
type_hints: def login(user: str, password: str, «var»: SecretStr | None = None) -> «pascal:1»Token: ...
typescript_interface: interface «pascal:1»Credentials {⏎  user: string;⏎  password: string;⏎  «camelvar»?: string;⏎}
go_struct: Password string `json:"password" validate:"required,min=«int:6-16»"`⏎«pascal:1»Token *string `yaml:"token"`
password_functions: def check_password(password): return verify(password, user.«word»_password_hash)
  return getPasswordHash(«camelvar») === user.passwordHash;
password_comparison: if (password !== confirmPassword) setError("«word».passwordMismatch");
keyword_passthrough: connect(host=host, user=user, password=password, «var»=«var», port=«int:3000-9000»)
password_field: self.passwordField = QLineEdit(); passwordField.setEchoMode(QLineEdit.«pick:Password|NoEcho»)
  <input type="password" name="password" id="«word»-password" autocomplete="current-password" placeholder="Password">
dictionary_access: «var» = payload["«word»"]["«var»"]
secret_name: tls:⏎- hosts: [«host»]⏎  secretName: «word»-tls-cert
api_key_header: api_key_header = APIKeyHeader(name="X-API-Key", auto_error=False)  # «word»
keyboard_shortcut: { "key": "ctrl+shift+«base36:1»", "command": "«word».action.«camel:2»", "when": "editorTextFocus" }
primary_key: «word»_id = Column(Integer, primary_key=True); key = ForeignKey("«word».id", ondelete="CASCADE")
cache_key: cache_key = f"«word»:{user.id}:{page}:v«int:1-9»"
sort_key: rows.sort(key=lambda row: row["«word»"]); sort_key = "«snake:2»_desc"; max(c.items(), key=lambda x: x[1])
react_key: {items.map((item) => <«pascal:2» key={item.«word»Id} token={token} />)}
i18n_english: "«word».pass«»word": "Password",⏎"«word».forgot": "Forgot your password?",⏎"token": "Access token"
i18n_chinese: "password": "密码",⏎"confirmPassword": "确认密码",⏎"«camelvar»": "«pick:密钥|令牌|访问令牌|口令»"
error_message: raise ValueError("Invalid password: must contain at least «int:6-16» characters and a digit")
  AuthenticationError: Incorrect API key provided. You can find your API key at https://«host»/account.
validation_regex: PASSWORD_RE = re.compile(r"^(?=.*[A-Z])(?=.*\d)[A-Za-z\d@$!%*?&]{«int:8-12»,64}$")
detection_regex: { id: "«word»-token", regex: /\bsk-[A-Za-z0-9_-]{«int:20-48»,}\b/, keywords: ["sk-"] }
docstring: '''Return the «word» token.⏎⏎Args:⏎    password: hashed with argon2.⏎    «var»: optional.⏎'''
sql_column: CREATE TABLE «word»s (id BIGINT PRIMARY KEY, password VARCHAR(255) NOT NULL, token CHAR(«int:16-64»));
sql_bound_password: CREATE USER «word» WITH PASSWORD :pw;
  ALTER USER «word» IDENTIFIED BY ?;
test_assertion: assert not check_password("wrong-password", user)  # «word»
  expect(screen.getByLabelText("Password")).toHaveAttribute("type", "password"); // «word»
mock_name: mock_«word»_token = Mock(name="«word»_token"); fakeSecretStore.password.mockReturnValue(undefined)
css_variables: --token-color-«word»: var(--«word»-500); --key-size: «int:2-40»px;
command_help: --password <password>    Password of the «word» (prompted for if absent)⏎  --token TOKEN   «word» token
manual_page: -p, --password=PASSWORD⏎       Use PASSWORD for the «word»; asked for if left out. See «word»(«int:1-8»).
pytest_output: tests/test_«word».py::test_password_is_hashed[«word»-«hex:6»] PASSED   [ «int:10-99»%]
coverage_table: src/«word»/token_store.py     «int:90-400»     «int:2-40»    «int:60-99»%   «int:10-40»-«int:41-60»
benchmark_table: | secret scan, «int:2-90» MB | «int:2-90».«digit:2» ms | ±0.«digit:3» | «number:7» |
latex: \cite{«word»2017attention} where $K = XW^K$ is the key matrix \label{eq:key-«word»}
yaml_anchor: x-credentials: &credentials⏎  <<: *«word»⏎auth: *credentials
cookie_preference: Set-Cookie: theme=«pick:dark|light»; Path=/«word»; SameSite=Lax
search_command: $ rg -n "password|api_key|secret" src/«word»⏎src/«word»/auth.py:«int:2-90»:    password: str
generated_at_runtime: token = secrets.token_urlsafe(«int:16-64»); key = Fernet.generate_key()  # «word»
"""

PROSE = r"""
csrf_explained: The CSRF token is bound to the session and sent in a hidden field of the «word» form, never in the URL.
oauth_flow: The client exchanges the authorization code for an access token; when it expires it uses the refresh token.
  Send the access token in the header, Authorization: Bearer ACCESS_TOKEN, and refresh it after «int:5-60» minutes.
oauth_flow_zh: 客户端用授权码换取访问令牌（access token），过期后用刷新令牌续期，有效期为«int:2-72»小时。
task_request: Add a password field to the «word» form and keep the token in the keychain, not in config.«word».
  把«word»里的 password 字段改名为 passphrase，并检查 token 是否过期，不要把密钥写进日志。
zh_cryptography: 密码学课程第«int:1-20»章：对称密码、公钥密码、密钥交换与数字签名，作业见«word».pdf。
zh_token_bucket: 限流采用令牌桶算法，令牌：每秒«number:3»个，桶容量为«number:4»，令牌不足时返回429。
zh_key_management: 密钥管理：主密钥存放在KMS中，数据密钥每«int:7-90»天轮换一次，由«word»服务负责。
zh_password_gift: 口令红包玩法：群主发出口令，群友输入后即可领取，最多«number:3»人，活动到«date»结束。
zh_password_rule: 密码：至少«int:6-16»位，包含数字、大小写字母和特殊字符⏎口令：每«int:30-90»天更换一次
zh_form_labels: 用户名：⏎密码：⏎确认密码：⏎验证码（«int:4-6»位）：
zh_login_error: 登录失败：密码错误，还可以尝试«int:1-5»次。错误码：«number:5»
zh_code_comment: # 令牌过期时间（秒），默认«number:4»，密码不会写入日志⏎token_ttl = «number:4»
  // 校验密码：为空时直接返回 false，密钥由«camel:2»注入
zh_prose_api: 调用接口前请先在控制台申请 API Key，并通过环境变量 «VAR» 传入，不要提交到仓库。
"""

SHEETS = (CHECKSUMS, NAMES, IDS, PUBLIC, BLANKS, CODE, PROSE)
"""All of them."""
