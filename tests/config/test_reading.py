"""YAML and JSON as kube-scheduler reads them, with the line and column of everything that is wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.config.loading import default, load
from schedctl.documents.trees import MAX_DEPTH, MAX_SIZE
from schedctl.errors import ConfigError, Problem
from tests.effort import SOON, Effort

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
JSON_HEAD = '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"'


def refusals(text: str | bytes) -> list[Problem]:
    with pytest.raises(ConfigError) as refused:
        load(text, "config.yaml")
    return list(refused.value.problems)


def problem_texts(text: str | bytes) -> list[str]:
    return [str(problem) for problem in refusals(text)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("", "config.yaml:1:1: kind: Object 'Kind' is missing", id="an empty file"),
        pytest.param("[]", "config.yaml:1:1: expected a mapping with apiVersion and kind", id="a list"),
        pytest.param(
            "apiVersion: v1\nkind: Pod\n",
            'config.yaml:2:7: kind: expected "KubeSchedulerConfiguration", got text "Pod"',
            id="another kind of object",
        ),
        pytest.param(
            "kind: KubeSchedulerConfiguration",
            "config.yaml:1:1: apiVersion: Object 'apiVersion' is missing",
            id="no version",
        ),
        pytest.param(
            HEAD.replace("/v1", "/v1beta3") + "unknown: 1\n",
            'config.yaml:1:13: apiVersion: unsupported version "kubescheduler.config.k8s.io/v1beta3":'
            " only kubescheduler.config.k8s.io/v1 is supported",
            id="an older version, of which nothing else is said",
        ),
    ],
)
def test_a_document_that_is_no_configuration(text, problem):
    assert problem_texts(text) == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            HEAD + "paralellism: 3\n", 'config.yaml:3:1: paralellism: unknown field "paralellism"', id="in YAML"
        ),
        pytest.param(
            JSON_HEAD + ',\n "paralellism": 3}',
            'config.yaml:2:2: paralellism: unknown field "paralellism"',
            id="in JSON",
        ),
        pytest.param(
            HEAD + "profiles:\n- plugins:\n    prefilter: {}\n",
            'config.yaml:5:5: profiles[0].plugins.prefilter: unknown field "prefilter"',
            id="of a nested mapping",
        ),
        pytest.param(
            HEAD + "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      ignoredResource: []\n",
            'config.yaml:7:7: profiles[0].pluginConfig[0].args.ignoredResource: unknown field "ignoredResource"',
            id="of a plugin's arguments",
        ),
    ],
)
def test_an_unknown_field_is_refused_where_it_stands(text, problem):
    assert problem_texts(text) == [problem]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("paralellism", 'did you mean "parallelism"?'),
        ("PARALLELISM", 'did you mean "parallelism"?'),
        ("percentageOfNodes", 'did you mean "percentageOfNodesToScore"?'),
        ("apiversion", 'did you mean "apiVersion"?'),
    ],
)
def test_an_unknown_field_comes_with_the_nearest_name(written, hint):
    assert refusals(f"{HEAD}{written}: 1\n")[0].hint == hint


def test_where_no_name_is_near_it_comes_with_all_there_are():
    hint = refusals(f"{HEAD}xyzzy: 1\n")[0].hint
    assert (hint.startswith("expected one of parallelism, "), hint.endswith(", profiles, extenders")) == (True, False)
    assert "percentageOfNodesToScore" in hint


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ("parallelism: eight", 'config.yaml:3:14: parallelism: expected an integer, got text "eight"'),
        ("parallelism: '8'", 'config.yaml:3:14: parallelism: expected an integer, got text "8"'),
        ("parallelism: 8.5", "config.yaml:3:14: parallelism: expected an integer, got the number 8.5"),
        ("parallelism: yes", "config.yaml:3:14: parallelism: expected an integer, got true"),
        ("parallelism: [8]", "config.yaml:3:14: parallelism: expected an integer, got a list"),
        ("parallelism: 2147483648", "parallelism: 2147483648 is not between -2147483648 and 2147483647"),
        ("podMaxBackoffSeconds: 9223372036854775808", "is not between -9223372036854775808 and 9223372036854775807"),
        ("delayCacheUntilActive: 1", "delayCacheUntilActive: expected true or false, got the number 1"),
        ("clientConnection: {qps: fast}", 'clientConnection.qps: expected a number, got text "fast"'),
        ("clientConnection: {qps: 3.5e38}", "clientConnection.qps: 3.5e+38 does not fit a 32-bit float"),
        ("clientConnection: []", "clientConnection: expected a mapping, got a list"),
        ("profiles: {}", "profiles: expected a list, got a mapping"),
        ("profiles: [x]", 'profiles[0]: expected a mapping, got text "x"'),
        ("profiles: [{schedulerName: 5}]", "profiles[0].schedulerName: expected text, got the number 5"),
        ("leaderElection: {leaseDuration: 15}", 'leaseDuration: expected a duration such as "15s", got the number 15'),
        ("leaderElection: {leaseDuration: '15'}", 'leaderElection.leaseDuration: the duration "15" lacks a unit'),
        ("leaderElection: {leaseDuration: null}", 'leaderElection.leaseDuration: "" is not a duration'),
        ("extenders: [{tlsConfig: {caData: '%'}}]", "extenders[0].tlsConfig.caData: expected base64 text"),
        ("parallelism: 1\nparallelism: 2", 'config.yaml:4:1: parallelism: duplicate field "parallelism"'),
        ("parallelism: '" + "x" * 99 + "'", 'got text "' + "x" * 60 + '…"'),
    ],
)
def test_a_value_of_the_wrong_kind(field, problem):
    (found,) = problem_texts(f"{HEAD}{field}\n")
    assert found.endswith(problem)


def test_all_problems_come_at_once_from_every_stage(kubernetes, problems_of):
    text = f"""{HEAD}
parallelism: many
unknown: true
podInitialBackoffSeconds: 0
profiles:
- schedulerName: a
  plugins:
    filter:
      enabled: [{{name: Foo}}, {{name: EBSLimits}}]
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {{type: Least}}
      unknown: 1
- schedulerName: a
"""
    assert [(problem.line, problem.path) for problem in problems_of(text)] == [
        (4, "parallelism"),
        (5, "unknown"),
        (16, "profiles[0].pluginConfig[0].args.unknown"),
        (11, "profiles[0].plugins.filter.enabled[1]"),
        (15, "profiles[0].pluginConfig[0].args.scoringStrategy.type"),
        (17, "profiles[1].schedulerName"),
        (6, "podInitialBackoffSeconds"),
        (11, "profiles[0].plugins.filter.enabled[0]"),
    ]


def test_a_value_that_cannot_be_used_is_reported_once_and_not_what_follows_from_it():
    args = "{defaultingType: List, defaultConstraints: [{maxSkew: x, topologyKey: zone, whenUnsatisfiable: y}]}"
    text = f"{HEAD}profiles: [{{pluginConfig: [{{name: PodTopologySpread, args: {args}}}]}}]\n"
    path = "profiles[0].pluginConfig[0].args.defaultConstraints[0]"
    assert [problem.path for problem in refusals(text)] == [f"{path}.maxSkew", f"{path}.whenUnsatisfiable"]


def test_a_free_mapping_is_read_pair_by_pair():
    args = "{defaultingType: List, defaultConstraints: [{labelSelector: {matchLabels: {a: b, c: null, d: 5}}}]}"
    text = f"{HEAD}profiles: [{{pluginConfig: [{{name: PodTopologySpread, args: {args}}}]}}]\n"
    path = "profiles[0].pluginConfig[0].args.defaultConstraints[0]"
    found = [str(problem) for problem in refusals(text) if "labelSelector" in problem.path]
    assert found == [f"config.yaml:3:153: {path}.labelSelector.matchLabels.d: expected text, got the number 5"]


def test_a_problem_of_a_default_is_placed_at_the_nearest_field_that_is_written():
    text = f"{HEAD}leaderElection:\n  leaseDuration: 5s\n  resourceLock: endpoints\n"
    assert [(problem.path, problem.line) for problem in refusals(text)] == [
        ("leaderElection.leaseDuration", 4),
        ("leaderElection.resourceLock", 5),
    ]
    text = f"{HEAD}podInitialBackoffSeconds: 11\n"
    assert [(problem.path, problem.line) for problem in refusals(text)] == [("podMaxBackoffSeconds", 0)]


@pytest.mark.parametrize(
    ("scalar", "meaning"),
    [
        ("8", 8),
        ("8.0", 8),
        ("8e0", 8),
        ("010", 8),
        ("0o10", 8),
        ("0x8", 8),
        ("0b1000", 8),
        ("+8", 8),
        ("08", 8),
        ("0_8", 8),
        ("8_0", 80),
        ("!!int '8'", 8),
        ("null", 16),
        ("~", 16),
        ("", 16),
    ],
)
def test_a_plain_scalar_means_what_it_means_to_kube_scheduler(scalar, meaning):
    assert load(f"{HEAD}parallelism: {scalar}\n").parallelism == meaning


def test_a_float_is_no_integer_in_json():
    assert problem_texts(JSON_HEAD + ', "parallelism": 8.0}')[0].endswith("expected an integer, got the number 8.0")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\ufeff" + HEAD, id="a byte order mark"),
        pytest.param("# comment\n---\n" + HEAD, id="comments and a separator"),
        pytest.param(HEAD + "---\nnot: [closed\n", id="a second document, however broken"),
        pytest.param(JSON_HEAD + "}\n\n", id="JSON with white space behind it"),
        pytest.param(JSON_HEAD.replace("/", "\\/") + "}", id="JSON with escaped slashes"),
        pytest.param(HEAD + "profiles:\n", id="an empty field"),
    ],
)
def test_what_kube_scheduler_overlooks(text):
    assert load(text) == default()
    assert load(text.encode()) == default()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            "{apiVersion: v1}", "config.yaml:1:2: expected a key in double quotes", id="flow YAML, which is JSON"
        ),
        pytest.param(JSON_HEAD + ",}", "expected a key in double quotes", id="a trailing comma"),
        pytest.param(JSON_HEAD + "} x", "config.yaml:1:88: expected the end of the document", id="something behind it"),
        pytest.param(JSON_HEAD, 'config.yaml:1:86: expected "," or "}"', id="no closing brace"),
        pytest.param('{"a":', "the document ends too early", id="no value"),
        pytest.param('{"a" 1}', 'config.yaml:1:6: expected ":"', id="no colon"),
        pytest.param('{"a\n": 1}', "config.yaml:1:4: invalid control character", id="a line break in a text"),
        pytest.param('{"a": "', "config.yaml:1:7: unterminated string starting", id="a text without end"),
        pytest.param('{"a": NaN}', "config.yaml:1:7: expected a JSON value", id="not a number"),
        pytest.param(HEAD + "profiles: [\n", "did not find expected node content", id="YAML that stops"),
        pytest.param(
            HEAD + "\tprofiles: []\n", "config.yaml:3:1: found a tab character that violates indentation", id="a tab"
        ),
        pytest.param(
            HEAD + "a: \x07\n", "config.yaml:3:4: control characters are not allowed", id="a control character"
        ),
        pytest.param(HEAD + "a: *b\n", "config.yaml:3:4: unknown anchor 'b' referenced", id="an alias of nothing"),
        pytest.param(
            HEAD + "a: &a [*a]\n", "config.yaml:3:8: anchor 'a' value contains itself", id="an alias of itself"
        ),
        pytest.param(HEAD + "? [a]\n: 1\n", "a key must be text, a number, true or false", id="a list as a key"),
        pytest.param(HEAD + "<<: 5\n", "<< needs a mapping or a list of mappings", id="a merge of a number"),
        pytest.param(HEAD + "a: !!int x\n", 'config.yaml:3:4: "x" is not a !!int', id="a tag that lies"),
        pytest.param(HEAD + "a: !!binary x\n", "!!binary value contains invalid base64 data", id="bad binary"),
        pytest.param("%YAML 1.2\n---\n" + HEAD, "config.yaml:1:1: only YAML 1.1 is understood", id="a newer YAML"),
        pytest.param(b"a: \xff", "config.yaml: is not UTF-8 text", id="bytes that are no text"),
        pytest.param("a: \ud800", "config.yaml: is not UTF-8 text", id="half a character"),
    ],
)
def test_what_is_neither_yaml_nor_json(text, problem):
    (found,) = problem_texts(text)
    assert problem in found


def test_anchors_and_merges_work():
    text = f"{HEAD}profiles:\n- &a {{schedulerName: a, percentageOfNodesToScore: 5}}\n- {{<<: *a, x: 1}}\n"
    assert [problem.path for problem in refusals(text)] == ["profiles[1].x", "profiles[1].schedulerName"]
    shared = "plugins: &p {score: {disabled: [{name: ImageLocality}]}}"
    config = load(f"{HEAD}profiles:\n- {{schedulerName: a, {shared}}}\n- {{schedulerName: b, plugins: *p}}\n")
    assert config.profiles[0].plugins == config.profiles[1].plugins


ALIASES = "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30))
CHAIN = "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 2 * MAX_DEPTH))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{HEAD}a0: &a0 [x]\n{ALIASES}", id="aliases that multiply"),
        pytest.param(f"{HEAD}a0: &a0 [x]\n{CHAIN}", id="aliases that nest"),
        pytest.param(
            f"{HEAD}a0: &a0 {{x: 1}}\n" + ALIASES.replace("[*", "{<<: [*").replace("]\n", "]}\n"), id="merges"
        ),
        pytest.param(HEAD + "a: " + "[" * 100_000, id="a deep YAML list"),
        pytest.param(JSON_HEAD + ', "a": ' + "[" * 100_000, id="a deep JSON list"),
        pytest.param(JSON_HEAD + ', "a": ' + '{"a":' * 100_000, id="a deep JSON mapping"),
        pytest.param(HEAD + "a:\n" + "- x\n" * (MAX_SIZE + 1), id="a long YAML list"),
        pytest.param(JSON_HEAD + ', "a": [' + "1," * (MAX_SIZE + 1), id="a long JSON list"),
        pytest.param(HEAD + "parallelism: " + "9" * 500_000, id="a long number"),
        pytest.param(JSON_HEAD + ', "parallelism": ' + "9" * 500_000 + "}", id="a long JSON number"),
    ],
)
def test_a_document_built_to_blow_up_ends_in_an_error_and_soon(text):
    with Effort() as effort:
        assert len(refusals(text)) == 1
    assert effort.turns < SOON


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)
FIELDS = ["profiles", "extenders", "parallelism", "leaderElection", "clientConnection", "enableProfiling"]


def refused_with_reasons(text: str | bytes) -> bool:
    try:
        load(text)
    except ConfigError as error:
        return bool(error.problems)
    return False


@given(st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES))
def test_whatever_json_holds_it_is_a_configuration_or_a_list_of_problems(fields):
    fields = {name: value for name, value in fields.items() if value is not None}
    text = JSON_HEAD + "".join(f", {json.dumps(name)}: {json.dumps(value)}" for name, value in fields.items()) + "}"
    assert refused_with_reasons(text) or load(text)


@given(st.text() | st.text().map(HEAD.__add__) | st.binary())
def test_whatever_a_file_holds_it_is_a_configuration_or_a_list_of_problems(text):
    assert refused_with_reasons(text) or load(text)


def test_further_checks_join_the_list_and_find_their_place():
    def check(config):
        yield Problem("nobody likes it", path="profiles[0].plugins.filter.enabled[0]")
        yield Problem("said before", path="parallelism")

    text = f"{HEAD}parallelism: 0\nprofiles:\n- plugins: {{filter: {{enabled: [{{name: X}}]}}}}\n"
    with pytest.raises(ConfigError) as refused:
        load(text, "config.yaml", check)
    assert [str(problem) for problem in refused.value.problems] == [
        "config.yaml:3:14: parallelism: Invalid value: 0: should be an integer value greater than zero",
        "config.yaml:5:32: profiles[0].plugins.filter.enabled[0]: nobody likes it",
    ]
