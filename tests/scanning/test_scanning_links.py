from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanning.links import LINK_RULES, find_links
from scanning.rule import Rule, RuleSet

MATCHES = [(rule, text, value) for rule in LINK_RULES for text, value in rule.matches]
IGNORES = [(rule, text) for rule in LINK_RULES for text in rule.ignores]

PRIVATE_HOSTS = st.one_of(
    st.builds("10.{}.{}.{}".format, *[st.integers(0, 255)] * 3),
    st.builds("172.{}.{}.{}".format, st.integers(16, 31), *[st.integers(0, 255)] * 2),
    st.builds("192.168.{}.{}".format, *[st.integers(0, 255)] * 2),
    st.builds("169.254.{}.{}".format, *[st.integers(0, 255)] * 2),
    st.builds("100.{}.{}.{}".format, st.integers(64, 127), *[st.integers(0, 255)] * 2),
    st.builds("[fd{:02x}:{:x}::{:x}]".format, *[st.integers(0, 255)] * 3),
)
PORTS = st.integers(10, 65535)
# No character of these goes on with a link or a host.
AROUND = st.sampled_from(["", " ", "\n", "（", "，", "。", "“", "”", "在", "é", '"', "'", "`", "<", ">", "|", "[", "]"])
FRAGMENTS = st.sampled_from(
    [
        "http", "https", "://", "localhost", "10.4.18.2", "127.0.0.1", "[::1]", "[fe80::", "]", ":8080", ":", "/", "/a",
        "kite", ".internal", ".local", ".corp.", "git@", "@", "\\\\", "\\", "(", ")", ".", ",", "-", "%", "管理", " ",
        "\ud800", "İ", "0", "8",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS, max_size=16).map("".join)

WITH_AT, WITH_SIGN = "p@" + "ss", "pa!" + "ss"  # in pieces, so that no scanner takes them for secrets

SIZE = 1_000_000
SLOWEST_SECONDS = 20.0
UNITS = [
    "a", "10.", "10.0.0.1", "10.0.0.1:80/", "://", "://a", "://a/", "http://10.0.0.1/", "http://100.1.1.1/",
    "http://ab/", "x@10.0.0.1:", "a@", ".local", ".local/", "a.corp.", "internal.internal.com/", "[f", "[::1]",
    "localhost",
    "localhost:1", "127.", ".svc", "\\\\", "\\\\ab\\c", "\\\\\\\\ab\\\\c", "(", "http://10.0.0.1/(", "http://10.0.0.1/.",
    "a:b@10.0.0.1/",
    "http://" + "a" * 250,
    "://" + "u" * 255, "a" * 60 + ".local", "http://10.1.1.1/" + "a" * 2047 + ")", "\\\\ab" + "\\c" * 15,
    "a" * 60 + ":" + "a" * 60 + "@10.", "風", "http://10.1.1.1:80/管", "10.1.1.1:80 ", "\ud800",
]  # fmt: skip


def values(rule: Rule, text: str) -> set[str]:
    return {text[found.start : found.end] for found in RuleSet([rule]).find(text)}


def found(text: str) -> list[tuple[str, str, str]]:
    return [(one.rule, one.severity, text[one.start : one.end]) for one in find_links(text)]


@pytest.mark.parametrize(("rule", "text", "value"), MATCHES)
def test_each_rule_takes_exactly_the_link_of_its_examples(rule: Rule, text: str, value: str) -> None:
    assert values(rule, text) == {value}
    assert found(text) == [(rule.name, rule.severity, value)]


@pytest.mark.parametrize(("rule", "text"), IGNORES)
def test_no_rule_finds_a_link_in_a_look_alike(rule: Rule, text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(("rule", "anchor"), [(rule, anchor) for rule in LINK_RULES for anchor in rule.anchors])
def test_each_anchor_alone_finds_one_of_the_examples(rule: Rule, anchor: str) -> None:
    assert any(
        rule.match(text, position) is not None
        for text, _ in rule.matches
        for position in range(len(text))
        if text.lower().startswith(anchor, position)
    )


def test_every_finding_is_a_link_and_only_those_to_the_machine_itself_are_for_information() -> None:
    findings = [one for rule in LINK_RULES for text, _ in rule.matches for one in find_links(text)]
    assert {one.kind for one in findings} == {"link"}
    assert {(one.rule, one.severity) for one in findings} == {
        ("loopback_link", "info"), ("private_address", "warn"), ("internal_host", "warn"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://localhost:3000", [("loopback_link", "info", "http://localhost:3000")]),
        ("release 10.4.18.2", []),
        ("http://10.4.18.2:8080/admin", [("private_address", "warn", "http://10.4.18.2:8080/admin")]),
        ("http://127.255.255.254/", [("loopback_link", "info", "http://127.255.255.254/")]),
        ("http://172.15.0.1/ http://172.32.0.1/ http://11.0.0.1/ http://192.169.0.1/", []),
        ("http://100.63.0.1/ http://100.128.0.1/ http://169.253.0.1/ http://[2001:db8::1]/", []),
        ("http://[fc00::1]/", [("private_address", "warn", "http://[fc00::1]/")]),
        ("redis://cache:6379 s3://bucket/key file:///srv", []),
        ("http://host.docker.internal:80/", [("loopback_link", "info", "http://host.docker.internal:80/")]),
        ("http://10.0.0.1:8080.", [("private_address", "warn", "http://10.0.0.1:8080")]),
        ("http://10.0.0.1.kite.io/", []),
        ("http://010.0.0.1/", []),
        ("'http://jenkins.' + domain", []),
        ("http://wiki.{domain}/", []),
        ("**http://wiki/start**", [("internal_host", "warn", "http://wiki/start")]),
        ("https://kite:pass@wiki.kite.internal/x", [("internal_host", "warn", "https://kite:pass@wiki.kite.internal/x")]),
        (f"https://kite:{WITH_AT}@10.4.18.2/x", [("private_address", "warn", f"https://kite:{WITH_AT}@10.4.18.2/x")]),
        (
            "http://localhost/?to=http://10.4.18.2/x",
            [("loopback_link", "info", "http://localhost/?to="), ("private_address", "warn", "http://10.4.18.2/x")],
        ),
        (
            "http://10.0.0.1/,http://10.0.0.2/",
            [("private_address", "warn", "http://10.0.0.1/"), ("private_address", "warn", "http://10.0.0.2/")],
        ),
        (f"ssh://kite:{WITH_SIGN}@10.4.18.2/x", [("private_address", "warn", f"ssh://kite:{WITH_SIGN}@10.4.18.2/x")]),
        ("https://kite.io/?to=http://10.4.18.2/x", [("private_address", "warn", "http://10.4.18.2/x")]),
        (
            "10.0.0.1:9092,10.0.0.2:9092",
            [("private_address", "warn", "10.0.0.1:9092"), ("private_address", "warn", "10.0.0.2:9092")],
        ),
    ],
)  # fmt: skip
def test_a_link_is_found_by_where_it_leads(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("访问http://10.1.2.3:8080/管理页面", "http://10.1.2.3:8080/"),
        ("后台在http://10.1.2.3:8080，密码另发", "http://10.1.2.3:8080"),
        ("（http://10.1.2.3:8080/admin）", "http://10.1.2.3:8080/admin"),
        ("地址：10.1.2.3:8080。", "10.1.2.3:8080"),
        ("数据库db.kite.internal:5432连不上", "db.kite.internal:5432"),
        ("见http://jenkins/job/kite、日志", "http://jenkins/job/kite"),
        ("共享目录\\\\nas7\\kite，自取", "\\\\nas7\\kite"),
        ("从kite@10.1.2.3:/srv复制", "kite@10.1.2.3:/srv"),
    ],
)
def test_a_link_beside_chinese_text_is_found_exactly(text: str, link: str) -> None:
    assert [value for _, _, value in found(text)] == [link]


@given(before=AROUND, host=PRIVATE_HOSTS, port=PORTS, after=AROUND)
@settings(max_examples=500, deadline=None)
def test_a_private_address_with_a_port_is_found_exactly(before: str, host: str, port: int, after: str) -> None:
    link = f"{host}:{port}"
    assert found(f"{before}{link}{after}") == [("private_address", "warn", link)]
    assert found(f"{before}http://{link}/a?b=c{after}") == [("private_address", "warn", f"http://{link}/a?b=c")]


@given(before=AROUND, host=PRIVATE_HOSTS, after=AROUND, prefix=st.integers(0, 128))
@settings(max_examples=300, deadline=None)
def test_an_address_by_itself_or_with_the_length_of_its_prefix_is_no_link(
    before: str, host: str, after: str, prefix: int
) -> None:
    assert found(f"{before}{host}{after}") == []
    assert found(f"{before}{host}/{prefix}{after}") == []


@given(
    octets=st.tuples(*[st.integers(0, 255)] * 4).filter(
        lambda octets: octets[0] not in {0, 10, 100, 127, 169, 172, 192}
    )
)
@settings(max_examples=300, deadline=None)
def test_a_public_address_is_never_found(octets: tuple[int, ...]) -> None:
    assert found(f"http://{'.'.join(map(str, octets))}:8080/x") == []


@given(text=TEXTS | st.text())
@settings(max_examples=1500, deadline=None)
def test_the_links_of_any_text_are_in_order_and_apart(text: str) -> None:
    links = find_links(text)
    bounds = [0, *(offset for one in links for offset in (one.start, one.end)), len(text)]
    assert bounds == sorted(bounds)
    assert all(one.start < one.end for one in links)
    assert all(text[one.start : one.end].isascii() for one in links)


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_length_of_hostile_text_and_no_faster(unit: str) -> None:
    # A quadratic pattern takes minutes for a megabyte of its worst text; the slowest here takes about 2 s.
    text = unit * (SIZE // len(unit))
    started = time.process_time()
    find_links(text)
    assert time.process_time() - started < SLOWEST_SECONDS
