"""R06: what a bundled model that knows English only means for questions and archives in other languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conftest import Home
from transcript_lines import codex_lines, uid, write

import recall
from recall import Message, Scope, SearchResult, Session

EVERYWHERE = Scope.everywhere()

POOL = "数据库连接池耗尽，服务整体雪崩"
BUTTON = "把首页按钮改成蓝色"
ENGLISH = "The connection pool was exhausted, so every request waited until it timed out."
TOKEN = "令牌刷新失败是因为 refreshToken 在 auth_service.py 里过期，已改成提前续期"

# Every subject with three objects: sixty short Chinese messages that differ in what they say.
_SUBJECTS = "网关缓存日志队列索引图标首页权限登录支付订单迁移部署监控告警脚本接口图表测试回滚"
_NOUNS = [_SUBJECTS[place : place + 2] for place in range(0, len(_SUBJECTS), 2)]
_CHINESE = [
    f"今天把{subject}的{_NOUNS[(place + step) % len(_NOUNS)]}重写了一遍，同事看过以后合并了"
    for place, subject in enumerate(_NOUNS)
    for step in (3, 7, 11)
]


def index_of(**texts: str) -> recall.Index:
    """An index in memory with a session for each text, named by the keyword."""
    index = recall.open(":memory:")
    for name, text in texts.items():
        index.add(Session(name, messages=(Message("assistant", text),)))
    return index


def ask(index: recall.Index, query: str, mode: recall.types.Mode = "hybrid") -> SearchResult:
    return index.search(query, EVERYWHERE, mode=mode)


def names(result: SearchResult) -> list[str]:
    return [hit.session.id for hit in result]


@pytest.fixture(scope="module")
def two() -> Iterator[recall.Index]:
    """The two messages of R06, with vectors."""
    with index_of(pool=POOL, button=BUTTON) as index:
        assert index.embed() == 2
        yield index


@pytest.fixture(scope="module")
def chinese() -> Iterator[recall.Index]:
    """Sixty Chinese messages, an English one and a mixed one, with vectors."""
    numbered = {f"zh{number}": text for number, text in enumerate(_CHINESE)}
    with index_of(**numbered, english=ENGLISH, token=TOKEN) as index:
        assert index.embed() == len(_CHINESE) + 2
        yield index


# A question in Chinese: the model reads it through the glossary


def test_a_chinese_question_is_answered(two: recall.Index) -> None:
    result = ask(two, "连接数被占满导致宕机")
    assert names(result)[0] == "pool"
    assert result.mode == "hybrid"
    assert result.degraded is None


@pytest.mark.parametrize("query", ["连接数被占满导致宕机", "connection pool exhausted outage"])
def test_vectors_alone_tell_the_chinese_answer_from_another_message_by_a_clear_margin(
    two: recall.Index, query: str
) -> None:
    first, second = ask(two, query, mode="dense")
    assert (first.session.id, second.session.id) == ("pool", "button")
    assert first.score > second.score + 0.1


@pytest.mark.parametrize("query", ["令牌为什么刷新失败", "监控告警"])
def test_a_chinese_question_puts_what_shares_its_words_first(chinese: recall.Index, query: str) -> None:
    shared = {hit.ref for hit in chinese.search(query, EVERYWHERE, limit=100, mode="lexical")}
    assert ask(chinese, query)[0].ref in shared


@pytest.mark.parametrize("query", ["雨", "灯塔潮汐"])
def test_a_chinese_question_gets_no_hit_from_a_model_that_cannot_read_it(two: recall.Index, query: str) -> None:
    assert names(ask(two, query)) == names(ask(two, query, mode="lexical"))


@pytest.mark.parametrize("query", ["雨", "灯塔潮汐"])
def test_a_question_that_vectors_alone_cannot_read_says_so_and_is_no_error(two: recall.Index, query: str) -> None:
    result = ask(two, query, mode="dense")
    assert not result.hits
    assert result.degraded == "the embedder understands nothing in this query"


def test_a_chinese_question_without_an_answer_is_not_said_to_have_one(chinese: recall.Index) -> None:
    assert ask(chinese, "潮汐时刻表贴在哪里").confidence != "strong"


def test_no_threshold_takes_a_chinese_answer_away_when_only_vectors_are_asked(two: recall.Index) -> None:
    assert set(names(ask(two, "连接数被占满导致宕机", mode="dense"))) == {"pool", "button"}


def test_only_vectors_and_a_question_they_are_not_sure_of_is_no_strong_match(two: recall.Index) -> None:
    assert ask(two, "连接数被占满导致宕机", mode="dense").confidence == "none"


# Across languages


def test_an_english_question_finds_the_chinese_message_that_answers_it(two: recall.Index) -> None:
    assert names(ask(two, "connection pool exhausted outage"))[0] == "pool"


@pytest.mark.parametrize("query", ["连接池为什么耗尽", "请求超时的原因"])
def test_a_chinese_question_finds_the_english_message_by_its_words(query: str) -> None:
    with index_of(english=ENGLISH, other="The button on the start page is blue now.") as index:
        result = ask(index, query, mode="lexical")
        assert names(result)[0] == "english"
        assert result[0].snippet.highlights


# An English question in an archive full of Chinese


@pytest.mark.parametrize(
    "query",
    [
        "connection pool exhausted outage",
        "why did the service run out of database connections",
        "the server hung because nothing was free",  # no word of it is in the message
    ],
)
def test_an_english_question_finds_its_english_message_among_chinese_ones(chinese: recall.Index, query: str) -> None:
    result = ask(chinese, query)
    assert names(result)[0] == "english"
    assert "dense" in result[0].evidence


def test_vectors_still_count_for_an_english_question_with_a_chinese_name_in_it(chinese: recall.Index) -> None:
    query = "nothing was free for the server in 张伟's benchmark"
    assert names(ask(chinese, query, mode="lexical")) == []
    assert names(ask(chinese, query))[0] == "english"


# Chinese and English in one question


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(
    "query",
    [
        "refreshToken为什么过期",
        "auth_service.py里的令牌",
        "令牌 expired refresh",
        "refresh token 刷新失败怎么办",
        "那个 auth service 的续期是怎么改的",
    ],
)
def test_a_question_in_two_languages_is_answered_by_the_words_of_both(
    chinese: recall.Index, query: str, mode: recall.types.Mode
) -> None:
    result = ask(chinese, query, mode)
    assert names(result)[0] == "token"
    assert result.confidence != "none"


def test_the_half_in_chinese_decides_between_messages_with_the_same_english_half() -> None:
    with index_of(
        deploy="部署 Redis 集群时磁盘写满了", cache="给 Redis 缓存加了过期时间", session="Redis 里的会话键名改短了"
    ) as index:
        index.embed()
        assert names(ask(index, "Redis 缓存过期"))[0] == "cache"
        assert names(ask(index, "Redis 磁盘"))[0] == "deploy"
        assert names(ask(index, "Redis 会话"))[0] == "session"


def test_the_half_in_english_decides_between_messages_with_the_same_chinese_half() -> None:
    with index_of(
        nginx="网关超时的原因是 nginx 缓冲区太小",
        kafka="网关超时的原因是 kafka 积压",
        dns="网关超时的原因是 DNS 解析慢",
    ) as index:
        index.embed()
        for name in ("nginx", "kafka", "dns"):
            assert names(ask(index, f"{name} 网关超时"))[0] == name


# Words inside the sentences of other languages


def highlighted(result: SearchResult) -> list[str]:
    """The marked parts of the first snippet."""
    snippet = result[0].snippet
    return [snippet.text[start:end] for start, end in snippet.highlights]


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("把getUserName改名为fetch_user以后测试就过了", "getUserName", "getUserName"),
        ("把getUserName改名为fetch_user以后测试就过了", "fetch_user", "fetch_user"),
        ("把getUserName改名为fetch_user以后测试就过了", "fetchUser", "fetch_user"),
        ("报错ModuleNotFoundError在第42行出现", "ModuleNotFoundError", "ModuleNotFoundError"),
        ("报错ModuleNotFoundError在第42行出现", "module not found", "ModuleNotFoundError"),
        ("用`pnpm`装依赖、再跑vite.config.ts里的脚本", "vite.config.ts", "vite"),
        ("用`pnpm`装依赖、再跑vite.config.ts里的脚本", "pnpm", "pnpm"),
        ("合并了PR#128和ISSUE-77两个改动", "ISSUE-77", "ISSUE"),
        ("端口从8080换成了９０９０才启动", "9090", "９０９０"),
        ("环境变量DATABASE_URL没有设置", "database url", "DATABASE_URL"),
    ],
)
def test_an_identifier_inside_chinese_text_is_found_and_shown(text: str, query: str, marked: str) -> None:
    with index_of(text=text, other=BUTTON) as index:
        result = ask(index, query, mode="lexical")
        assert names(result) == ["text"]
        assert marked in highlighted(result)


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("昨日の障害はデータベース接続が枯渇したのが原因でした。", "データベース", "データベース"),
        ("昨日の障害はデータベース接続が枯渇したのが原因でした。", "枯渇", "枯渇"),
        ("昨日の障害はデータベース接続が枯渇したのが原因でした。", "障害の原因", "障害"),
        ("昨日の障害はデータベース接続が枯渇したのが原因でした。", "ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
        ("ログインできない不具合を直しました", "ログイン", "ログイン"),
        ("어제 데이터베이스연결이 고갈되어서 서비스가 멈췄습니다.", "데이터베이스", "데이터베이스"),
        ("어제 데이터베이스연결이 고갈되어서 서비스가 멈췄습니다.", "서비스", "서비스"),
        ("어제 데이터베이스연결이 고갈되어서 서비스가 멈췄습니다.", "연결 고갈", "고갈"),
        ("เมื่อวานฐานข้อมูลล่มเพราะการเชื่อมต่อเต็ม", "ฐานข้อมูล", "ฐานข้อมูล"),
        ("เมื่อวานฐานข้อมูลล่มเพราะการเชื่อมต่อเต็ม", "การเชื่อมต่อ", "การเชื่อมต่อ"),
        ("昨天資料庫連線池耗盡，服務整個掛掉", "資料庫", "資料庫"),
    ],
)
def test_a_word_inside_a_sentence_of_another_script_is_found_and_shown(text: str, query: str, marked: str) -> None:
    with index_of(text=text, other=BUTTON, english=ENGLISH) as index:
        result = ask(index, query, mode="lexical")
        assert names(result) == ["text"]
        assert any(marked in part for part in highlighted(result)), highlighted(result)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Вчера упала база данных, соединения закончились", "база данных"),
        ("Χθες έπεσε η βάση δεδομένων", "ΒΆΣΗ δεδομένων"),
        ("Gestern war der Verbindungspool erschöpft", "erschopft"),
        ("La réponse arrivait après l'échéance", "echeance"),
        ("İstanbul sunucusu kapandı", "istanbul"),
        ("نفدت اتصالات قاعدة البيانات أمس", "قاعدة البيانات"),
        ("कल डेटाबेस कनेक्शन खत्म हो गए", "डेटाबेस"),
        ("Hôm qua kết nối cơ sở dữ liệu bị cạn", "kết nối"),
    ],
)
def test_a_word_of_a_language_with_spaces_is_found_whatever_its_case_and_accents(text: str, query: str) -> None:
    with index_of(text=text, other=BUTTON, english=ENGLISH) as index:
        assert names(ask(index, query, mode="lexical")) == ["text"]


def test_two_scripts_do_not_find_each_other() -> None:
    with index_of(japanese="ログインできない不具合", korean="로그인 오류", chinese="登录不了的问题") as index:
        assert names(ask(index, "ログイン", mode="lexical")) == ["japanese"]
        assert names(ask(index, "로그인", mode="lexical")) == ["korean"]
        assert names(ask(index, "登录", mode="lexical")) == ["chinese"]


# The doctor


@pytest.mark.parametrize(
    ("model", "state"), [("minilm", "warning"), ("BAAI/bge-small-en-v1.5", "warning"), ("BAAI/bge-small-zh-v1.5", "ok")]
)
def test_the_doctor_warns_when_a_model_that_reads_english_only_meets_an_archive_with_chinese(
    home: Home, model: str, state: str
) -> None:
    write(home.codex / "rollout-1.jsonl", codex_lines(uid(1), home.root, ("user", POOL), ("assistant", BUTTON)))
    assert home.run("ingest").code == 0
    (home.recall / "config.toml").write_text(f'model = "{model}"\n', encoding="utf-8")
    checks = {check["name"]: check for check in home.run("doctor", "--json").document["checks"]}
    languages = checks["languages"]
    assert languages["state"] == state
    assert "100%" in languages["found"]
    if state == "warning":
        assert "English" in languages["found"]
        assert "recall model use" in languages["remedy"]


def test_the_doctor_has_no_warning_about_languages_for_an_archive_in_english(home: Home) -> None:
    write(home.codex / "rollout-1.jsonl", codex_lines(uid(1), home.root, ("user", "why?"), ("assistant", ENGLISH)))
    assert home.run("ingest").code == 0
    checks = {check["name"]: check for check in home.run("doctor", "--json").document["checks"]}
    assert checks["languages"]["state"] == "ok"


# The command line


def test_a_question_in_two_languages_is_answered_on_the_command_line(home: Home) -> None:
    write(home.codex / "rollout-1.jsonl", codex_lines(uid(1), home.root, ("user", POOL), ("assistant", TOKEN)))
    ran = home.run("search", "refreshToken为什么过期", "--json")
    document = ran.document
    assert (ran.code, document["query"]) == (0, "refreshToken为什么过期")
    assert document["hits"][0]["ref"] == f"{uid(1)}:2"
    assert TOKEN in document["hits"][0]["snippet"]["text"]
