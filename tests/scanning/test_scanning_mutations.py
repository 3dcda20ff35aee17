"""Whatever is changed in a rule, an example fails: each anchor, part of a pattern and kind of token is needed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from random import Random

import pytest
from mutants import Mutant, mutants
from rule_examples import MORE_IGNORES, MORE_MATCHES
from test_scanning_injection import ATTACKS, RANKS, gravest
from value_examples import KEYS, NO_KEYS, PREDICATES, PRIVATE, TOKENS

from benchmarks.credential_shapes import SHAPED
from scanning import injection, labelled, pem, places, private, values
from scanning.hidden import readable
from scanning.injection import INJECTION_RULES
from scanning.labelled import LABELLED
from scanning.links import LINK_RULES
from scanning.markers import MARKER_RULES
from scanning.personal import PERSONAL_RULES, UNANCHORED_RULES, Unanchored
from scanning.places import PLACES
from scanning.rule import Rule, RuleSet, anything
from scanning.shapes import Shape, ShapeSet
from scanning.vendors import SHAPES

NAMES = {
    "places": "url_password authorization tool_option webhook azure_key registry_auth putty_key app_password",
    "labelled": "password labelled_key password_in_prose password_after_label flag password_zh",
    "markers": "redaction_label masked_value elided_token",
    "links": "loopback_link private_address internal_host internal_host",
    "personal": "phone_number phone_number us_social_security_number cn_passport",
    "numbers": """payment_card iban cn_resident_number cn_credit_code tw_identity_number hk_identity_number
        email_address""",
    "injection": """
        override_instructions override_above override_instructions_zh disable_safety instructions_void
        instructions_void_zh hide_from_user hide_from_user_zh mention_to_user reveal_prompt reveal_prompt_zh
        reveal_system_prompt exfiltrate exfiltrate_shell approve_everything unbound_persona persona
        new_instructions new_instructions_heading poison_memory write_to_memory write_to_prompt role_token
        role_heading role_tag role_turn addressed_to_model""",
}
GROUPS: dict[str, Sequence[Rule | Unanchored]] = {
    "places": PLACES,
    "labelled": LABELLED,
    "markers": MARKER_RULES,
    "links": LINK_RULES,
    "personal": PERSONAL_RULES,
    "numbers": UNANCHORED_RULES,
    "injection": INJECTION_RULES,
}
CHANGED_IN_EVERY_PART = ("places", "labelled", "markers")
ACCEPTING = "accepts everything"
COARSE = (ACCEPTING, "no alternative", "no assertion", "none", "not optional")
"""Changes of the other groups, whose limits and classes the tests of their own hold with generated texts."""
FORGIVING = {"us_social_security_number", "cn_passport"}
"""Rules that accept whatever their pattern matches, but do not say so with `anything`."""
BEHIND_RULES = {
    f"{module.__name__}.{name}": (module, name)
    for module in (values, labelled, places, pem, private)
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
}
"""Patterns that predicates and finders use; those of the rules are changed with the rules."""

SHAPE_NAMES = """
adafruit_io_key age_key airtable_token alibaba_access_key amazon_mws_token anthropic_token anthropic_token
apify_token artifactory_token artifactory_token asana_token asana_token azure_key azure_key azure_key azure_key
backblaze_application_key bitbucket_token bitbucket_token braintree_token braintree_token brevo_key brevo_key
checkly_api_key circleci_token clickup_token clojars_token cloudflare_origin_key contentful_token deno_token
dingtalk_secret docker_swarm_token dropbox_access_token dropbox_access_token duffel_token duffel_token
easypost_api_key easypost_api_key facebook_access_token facebook_app_token facebook_app_token figma_token
firecrawl_api_key flutterwave_key flutterwave_key frameio_token ghost_admin_key github_token gitlab_token
gitlab_token google_access_token google_api_key google_refresh_token grafana_token harness_token harness_token
hubspot_token hugging_face_token infisical_token infracost_api_key intercom_token intra42_secret intra42_secret
jd_cloud_access_key jina_api_key jwt k3s_token klaviyo_key launchdarkly_key launchdarkly_key launchdarkly_key
linkedin_client_secret live_api_key live_api_key mailersend_token mailgun_api_key mailgun_api_key matrix_token
mercado_pago_token mongodb_atlas_secret new_relic_key new_relic_key ngrok_token nostr_key notion_token npm_token
nuget_api_key octopus_api_key onepassword_key openai_compatible_key openai_key openshift_token pagerduty_api_key
plaid_access_token plaid_access_token plaid_access_token planetscale_token planetscale_token planetscale_token
prefect_api_key prefect_api_key qianfan_api_key rancher_token readme_api_key render_api_key rubygems_api_key
salesforce_token scalingo_token sentry_token shippo_token shippo_token shopify_token shopify_token shopify_token
slack_token slack_token sourcegraph_token square_token square_token stripe_key stripe_key supabase_key tailscale_key
telnyx_api_key tencent_secret_id trello_token twilio_api_key twitter_bearer_token typeform_token vault_token
vk_access_token voyage_api_key wakatime_api_key woocommerce_key woocommerce_key yandex_api_key yandex_iam_token
yandex_oauth_token zhipu_api_key zoho_token
"""
"""One for each form of a kind of token."""
_PART = re.compile(r"\{([a-zA-Z])(\d+)(-\d+)?\}")
_GLUE = "kK9_-.~/+"


def examples(rule: Rule | Unanchored) -> tuple[Sequence[tuple[str, str]], Sequence[str]]:
    return (
        (*rule.matches, *MORE_MATCHES.get(rule.name, ())),
        (*rule.ignores, *MORE_IGNORES.get(rule.name, ())),
    )


def holds(rule: Rule | Unanchored) -> bool:
    """Whether the rule finds what it must find in its examples, and nothing else."""
    find = rule.find if isinstance(rule, Unanchored) else RuleSet([rule]).find
    matches, ignores = examples(rule)
    return all({text[one.start : one.end] for one in find(text)} == {value} for text, value in matches) and all(
        not list(find(text)) for text in ignores
    )


def nothing(*_: object) -> bool:
    return False


def everything(*_: object) -> bool:
    return True


def changed(
    rule: Rule | Unanchored, changes: Collection[str] | None
) -> Iterator[tuple[str, Callable[[], Rule | Unanchored]]]:
    """(what is changed, how to make the rule so) of each mutant; of those that can be left out, only these changes."""
    anchors = () if isinstance(rule, Unanchored) else rule.anchors
    for anchor in anchors:
        others = tuple(one for one in anchors if one != anchor)
        yield f"{rule.name} without the anchor {anchor}", partial(replace, rule, anchors=others)
    yield f"{rule.name} accepts nothing", partial(replace, rule, accepts=nothing)
    if rule.accepts is not anything and rule.name not in FORGIVING and (changes is None or ACCEPTING in changes):
        yield f"{rule.name} {ACCEPTING}", partial(replace, rule, accepts=everything)
    for mutant in mutants(rule.pattern):
        if changes is None or mutant.change in changes:
            yield f"{mutant.change}: {mutant.site}", partial(with_pattern, rule, mutant)


def with_pattern(rule: Rule | Unanchored, mutant: Mutant) -> Rule | Unanchored:
    return replace(rule, pattern=mutant.pattern)


def survivors(
    rules: Collection[Rule | Unanchored],
    changes: Collection[str] | None = None,
    survives: Callable[[Rule | Unanchored], bool] = holds,
) -> list[str]:
    """Mutants that no example kills. One in a part that rules share must be killed in one of these rules."""
    made: defaultdict[str, list[Callable[[], Rule | Unanchored]]] = defaultdict(list)
    for rule in rules:
        for what, make in changed(rule, changes):
            made[what].append(make)
    return [what for what, makers in made.items() if all(survives(make()) for make in makers)]


@pytest.mark.parametrize("group", GROUPS)
def test_every_rule_is_in_the_list_and_holds(group: str) -> None:
    assert [rule.name for rule in GROUPS[group]] == NAMES[group].split()
    assert [rule.name for rule in GROUPS[group] if not holds(rule)] == []


@pytest.mark.parametrize(
    ("group", "kind", "severity"),
    [
        ("places", "secret", "block"), ("labelled", "secret", "block"), ("markers", "marker", "info"),
        ("personal", "personal", "warn"), ("numbers", "personal", "warn"),
    ],
)  # fmt: skip
def test_the_rules_of_a_group_say_how_grave_their_findings_are(group: str, kind: str, severity: str) -> None:
    assert {(rule.kind, rule.severity) for rule in GROUPS[group]} == {(kind, severity)}


@pytest.mark.parametrize("group", CHANGED_IN_EVERY_PART)
def test_a_change_to_any_part_of_a_rule_makes_an_example_fail(group: str) -> None:
    assert survivors(GROUPS[group]) == []


@pytest.mark.parametrize("group", ["links", "personal", "numbers"])
def test_without_an_anchor_an_alternative_or_an_assertion_an_example_fails(group: str) -> None:
    # An IBAN has an alternative for each country, made from a table; the tests of the table go through all of them.
    assert survivors([rule for rule in GROUPS[group] if rule.name != "iban"], COARSE) == []


def test_without_an_anchor_or_an_alternative_an_example_fails_or_an_attack_is_less_grave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def survives(rule: Rule | Unanchored) -> bool:
        assert isinstance(rule, Rule)
        rules = [rule if one.name == rule.name else one for one in INJECTION_RULES]
        monkeypatch.setattr(injection, "_RULE_SET", RuleSet(rules))
        return holds(rule) and all(gravest(text) >= RANKS[severity] for severity, text in attacks_of(rule.name))

    assert survivors(INJECTION_RULES, ("no alternative",), survives) == []


@cache
def attacks_of(name: str) -> tuple[tuple[str, str], ...]:
    """Attacks of the corpus in which the rule of this name finds something."""
    rules = RuleSet([rule for rule in INJECTION_RULES if rule.name == name])
    return tuple((severity, text) for severity, text in ATTACKS if list(rules.find(readable(text))))


def all_examples_hold() -> bool:
    return (
        all(predicate(*one) for predicate, yes, _ in PREDICATES for one in yes)
        and not any(predicate(*one) for predicate, _, no in PREDICATES for one in no)
        and all(list(pem.find_keys("".join(text))) == [span_of(*text)] for text in KEYS)
        and not any(list(pem.find_keys(text)) for text in NO_KEYS)
        and all([text[one.start : one.end] for one in private.find_private(text)] == spans for text, spans in PRIVATE)
        and all(holds(rule) for rule in (*PLACES, *LABELLED))
    )


def span_of(before: str, key: str, _: str) -> tuple[int, int]:
    return len(before), len(before) + len(key)


def test_the_examples_behind_the_rules_hold() -> None:
    assert all_examples_hold()


@pytest.mark.parametrize("pattern", BEHIND_RULES)
def test_a_change_to_a_pattern_behind_the_rules_makes_an_example_fail(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name = BEHIND_RULES[pattern]
    survived = []
    for mutant in mutants(getattr(module, name)):
        monkeypatch.setattr(module, name, mutant.pattern)
        if all_examples_hold():
            survived.append(f"{mutant.change}: {mutant.site}")
    assert survived == []


@cache
def tokens() -> tuple[str, ...]:
    """Tokens of the benchmark's corpus, which knows nothing of our shapes, and of the examples."""
    made = (kind.make(Random(f"{kind.name}/{number}")).text for kind in SHAPED for number in range(3))
    return (*made, *TOKENS)


@cache
def tokens_of(shape: Shape) -> tuple[str, ...]:
    return tuple(token for token in tokens() if spans(shape, token) == [(0, len(token))])


def spans(shape: Shape, text: str) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in ShapeSet([shape]).find(text)]


def changed_shapes(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """(what is changed, the shape so) of each mutant of a shape."""
    template = spelled_out(shape)
    for part in _PART.finditer(template):
        letter, length, more = part[1], int(part[2]), part[3] or ""
        instead = [] if letter == "d" else [f"{{d{length}{more}}}"]
        instead += [] if more else [f"{{{letter}{length + 1}}}", f"{{{letter}{length - 1}}}"]
        for one in instead:
            yield f"{one} for {part[0]}", with_template(shape, template[: part.start()] + one + template[part.end() :])
    for at in fixed_places(template):
        other = "k" if template[at] != "k" else "q"
        yield f"{other} at {at}", with_template(shape, template[:at] + other + template[at + 1 :])
    if shape.found_by:
        yield "found by something else", replace(shape, found_by="?" * len(shape.found_by))
    for step in (-1, 1):
        if shape.found_by or shape.offset:
            yield f"offset {step}", replace(shape, offset=shape.offset + step)
        if shape.run_length:
            yield f"run length {step}", replace(shape, run_length=shape.run_length + step)


def spelled_out(shape: Shape) -> str:
    return shape.template.replace("{uuid}", "{h8}-{h4}-{h4}-{h4}-{h12}")


def fixed_places(template: str) -> list[int]:
    """Where a template has a character of its own."""
    inside = {at for part in _PART.finditer(template) for at in range(*part.span())}
    return [at for at in range(len(template)) if at not in inside]


def with_template(shape: Shape, template: str) -> Shape:
    return replace(shape, template=template)


def filled(shape: Shape, text: str) -> str:
    """The shape with as few characters as it may have, all from `text`."""
    return _PART.sub(lambda part: (text * int(part[2]))[: int(part[2])], spelled_out(shape))


def test_every_form_of_a_token_is_in_the_list() -> None:
    assert Counter(shape.name for shape in SHAPES) == Counter(SHAPE_NAMES.split())


def test_each_shape_finds_a_token_of_the_corpus_or_of_the_examples() -> None:
    assert [shape.template for shape in SHAPES if not tokens_of(shape)] == []


def test_a_change_to_a_shape_loses_one_of_its_tokens() -> None:
    survived = [
        f"{shape.name} {shape.template}: {what}"
        for shape in SHAPES
        for what, mutant in changed_shapes(shape)
        if all(spans(mutant, token) == [(0, len(token))] for token in tokens_of(shape))
    ]
    assert survived == []


def test_each_shape_is_needed() -> None:
    all_shapes = ShapeSet(SHAPES)
    whole = {(shape.name, token) for shape in SHAPES for token in tokens_of(shape)}
    found = {(one.rule, token) for _, token in whole for one in all_shapes.find(token)}
    assert whole <= found
    for shape in SHAPES:
        others = ShapeSet([one for one in SHAPES if one is not shape])
        assert not any(list(others.find(token)) for token in tokens_of(shape)), shape.template


def test_what_is_nearly_a_token_is_none() -> None:
    for shape in SHAPES:
        least = len(filled(shape, "x"))
        parts = list(_PART.finditer(spelled_out(shape)))
        near = [filled(shape, "x"), filled(shape, "0123456789") if max(int(part[2]) for part in parts) > 9 else ""]
        for token in tokens_of(shape):
            near += [token[: least - 1], *(sign + token for sign in _GLUE)]
            near += [] if any(part[3] for part in parts) else [token + sign for sign in "kK9_"]
        assert [text for text in near if spans(shape, text)] == [], shape.template
