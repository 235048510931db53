"""schedctl's own configuration file: what it may say, and what is said of mistakes in it."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.custom_kinds import FORMS
from schedctl.config import custom_kinds, settings_file
from schedctl.config.settings_file import CheckConfig, Config, DefaultsConfig, PodsEntry, read
from schedctl.errors import ConfigError
from schedctl.render import check_outputs

HEAD = "apiVersion: schedctl.dev/v1alpha1\nkind: Config\n"
GOOD = """customKinds:
  Shop.example.com:
    template: spec.web.template
    replicas: [spec, web, example.com/size]
  Rollout.argoproj.io: []
  Farm.example.com:
    - {spec: "spec.farms.*.pod", named: "spec.farms.*.name", default: 2}
    - {template: spec.barn, perNode: true}
"""


def test_the_entries_are_read_as_the_table_takes_them():
    table = {str(kind): kind for kind in custom_kinds.with_custom_kinds(read(HEAD + GOOD).custom_kinds)}
    assert [len(table[name].pods) for name in ("Shop.example.com", "Farm.example.com")] == [1, 2]
    assert table["Shop.example.com"].pods[0].replicas == ("spec", "web", "example.com/size")
    assert "Rollout.argoproj.io" not in table


def test_what_the_schema_describes_is_what_is_read():
    document = {"apiVersion": "schedctl.dev/v1alpha1", "kind": "Config", "customKinds": read(HEAD + GOOD).custom_kinds}
    assert set(msgspec.convert(document, Config).custom_kinds) == set(document["customKinds"])
    fields = {field.encode_name: field.default for field in msgspec.structs.fields(PodsEntry)}
    assert set(fields) == set(custom_kinds._FIELDS)
    others = {name: default for name, default in fields.items() if name not in FORMS}
    custom_kinds.with_custom_kinds({"A.b": {"template": "x", **others}})


@pytest.mark.parametrize("rest", ["", "customKinds:\n", "customKinds: {}\n"])
def test_a_file_may_set_nothing(rest):
    assert read(HEAD + rest) == ({}, CheckConfig(), DefaultsConfig())


@pytest.mark.parametrize(
    ("text", "beginning", "hint"),
    [
        pytest.param("", "own.yaml:1:1: kind: Object 'Kind' is missing", 'add "kind: Config"', id="nothing at all"),
        pytest.param(
            "a: [",
            "own.yaml:2:1: did not find expected node content",
            "the [ or { of line 2 is not closed, or has a comma too many",
            id="no YAML",
        ),
        pytest.param("- 1\n", "own.yaml:1:1: expected a mapping with apiVersion and kind", "", id="a list"),
        pytest.param(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
            'own.yaml:2:7: kind: expected "Config", got text "KubeSchedulerConfiguration"',
            "",
            id="the configuration of kube-scheduler",
        ),
        pytest.param(
            "apiVersion: v2\nkind: Config\n",
            'own.yaml:1:13: apiVersion: unsupported version "v2": only schedctl.dev/v1alpha1 is supported',
            "",
            id="another version",
        ),
        pytest.param(
            HEAD + "customKind: {}\n",
            'own.yaml:3:1: customKind: unknown field "customKind"',
            'did you mean "customKinds"?',
            id="a misspelt field",
        ),
        pytest.param(
            HEAD + "kubeconfig: /etc/x\n",
            'own.yaml:3:1: kubeconfig: "kubeconfig" cannot be set in a file: the author of the file would choose'
            " credentials",
            "give it on the command line",
            id="credentials",
        ),
        pytest.param(
            HEAD + "customKinds: [a]\n",
            "own.yaml:3:14: customKinds: expected a mapping, got a list",
            "",
            id="a list of kinds",
        ),
        pytest.param(
            HEAD + "customKinds:\n  Rollout: {template: x}\n",
            "own.yaml:4:12: customKinds.Rollout: expected Kind.group, e.g. Rollout.argoproj.io",
            "",
            id="a kind without its group",
        ),
        pytest.param(
            HEAD + "customKinds:\n  A.b:\n    template: x\n    replica: y\n",
            'own.yaml:6:14: customKinds.A.b.replica: unknown field "replica"',
            'did you mean "replicas"?',
            id="a misspelt field of an entry",
        ),
        pytest.param(
            HEAD + "customKinds:\n  A.b:\n    - template: x\n    - spec: 4\n",
            "own.yaml:6:13: customKinds.A.b[1].spec: expected a path with dots, or a list of its steps",
            "",
            id="a wrong value in the second of several",
        ),
        pytest.param(
            HEAD + "customKinds:\n  A.b:\n",
            "own.yaml:4:3: customKinds.A.b: expected a mapping, or a list of mappings",
            "",
            id="no entry",
        ),
        pytest.param(
            HEAD + "customKinds:\n  A.b: {template: x}\n  A.b: {template: z}\n",
            'own.yaml:5:3: customKinds.A.b: duplicate field "A.b"',
            "",
            id="the same kind twice",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_place_and_the_next_step(text, beginning, hint):
    with pytest.raises(ConfigError) as raised:
        read(text, "own.yaml")
    (problem,) = raised.value.problems
    assert str(problem).startswith(beginning)
    assert problem.hint == hint


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file():
    text = HEAD + "customKinds:\n  A.b: {spec: 1, less: -1}\n  C: {}\nplugins: [x]\n"
    with pytest.raises(ConfigError) as raised:
        read(text, "own.yaml")
    assert [problem.path for problem in raised.value.problems] == [
        "customKinds.A.b.spec",
        "customKinds.A.b.less",
        "customKinds.C",
        "plugins",
    ]


def test_the_outputs_that_may_be_set_are_those_that_there_are():
    assert settings_file.CHOICES["output"] == check_outputs.CHECK_FORMATS
