"""What an API server would refuse is refused of objects written by hand, and what it takes is taken.

The cases are in ``refused.yaml`` and ``accepted.yaml``: one object a document, with what is said about it in a comment.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from schedctl.api import kinds
from schedctl.sources import load_text, relations, validation

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: c}]\n"
REPLICA_SET = (
    "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a}\n"
    "spec:\n  selector: {matchLabels: {app: a}}\n  template: {metadata: {labels: {app: a}}, spec: {containers: [{}]}}\n"
)


def cases(file: str):
    """The documents of a file, each named by its comment."""
    for document in (Path(__file__).parent / file).read_text().split("---\n")[1:]:
        comment, _, text = document.partition("\n")
        yield pytest.param(text, comment.removeprefix("# "), id=comment.removeprefix("# ")[:120])


@pytest.mark.parametrize(("text", "message"), list(cases("refused.yaml")))
def test_what_an_api_server_refuses_is_a_problem(read, text, message):
    (problem,) = read.problems(text)
    assert f"{problem.path}: {problem.message}" == message
    assert problem.line > 0


@pytest.mark.parametrize(("text", "what"), list(cases("accepted.yaml")))
def test_what_an_api_server_takes_is_fine(read, text, what):
    assert read(text).warnings == []


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        pytest.param("a" * 10240, "", id="an expression of ten KiB is taken"),
        pytest.param(
            "a" * 10241,
            "a CEL expression has at most 10240 bytes, and this one 10241",
            id="an expression of a byte more than ten KiB is refused",
        ),
        pytest.param(
            "ä" * 5121,
            "a CEL expression has at most 10240 bytes, and this one 10242",
            id="the length of an expression counts in bytes",
        ),
    ],
)
def test_cel_expression_has_a_maximum_length(read, expression, message):
    text = (
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: a}\n"
        f"spec: {{selectors: [{{cel: {{expression: {expression}}}}}]}}\n"
    )
    assert [problem.message for problem in (read.problems(text) if message else [])] == [message] * bool(message)
    if not message:
        assert read(text).warnings == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(POD + "  volumes: [{name: v, emptyDir: {}, nfs: {}}, {name: v}]\n", id="a pod with odd volumes"),
        pytest.param(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: a}\n"
            "spec: {devices: {requests: [{name: A}, {name: A}], constraints: [{matchAttribute: m, requests: [b]}]}}\n",
            id="a claim full of mistakes",
        ),
    ],
)
def test_what_came_out_of_a_cluster_is_taken_as_it_is(read, text):
    assert read(text.replace("name: a}", "name: a, uid: u}", 1)).warnings == []


def test_a_number_that_is_none_is_a_warning_because_an_api_server_takes_it(read):
    term = "nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [large]}]}]"
    affinity = f"  affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{{term}}}}}}}\n"
    (warning,) = read(POD + affinity).warnings
    assert warning.message == 'Gt needs an integer, got "large": it never matches'


@pytest.mark.parametrize(
    ("amounts", "message", "hint"),
    [
        pytest.param(
            "requests: {memory: 512m}",
            'spec.containers[0].resources.requests.memory: "512m" is 0.512 bytes, expected a whole number',
            'did you mean "512Mi"?',
            id="a request of memory in thousandths of a byte",
        ),
        pytest.param(
            "limits: {ephemeral-storage: 1.5}",
            'spec.containers[0].resources.limits[ephemeral-storage]: "1.5" is 1.5 bytes, expected a whole number',
            "write a whole number of bytes",
            id="a limit of storage between two bytes",
        ),
    ],
)
def test_a_fraction_of_a_byte_is_a_warning_because_an_api_server_takes_it(read, amounts, message, hint):
    container = f"{{name: c, resources: {{{amounts}}}}}"
    containers = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: [{container}]}}\n"
    (warning,) = read(containers).warnings
    assert str(warning).endswith(message)
    assert (warning.line > 0, warning.hint) == (True, hint)


def test_whole_bytes_in_thousandths_are_fine(read):
    containers = "spec: {containers: [{name: c, resources: {requests: {cpu: 5m, memory: 2000m}}}]}\n"
    assert read(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\n{containers}").warnings == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param(
            "kind: Pod\napiVersion: v1\nmetadata: {name: a}\n", "spec.containers", id="a pod without containers"
        ),
        pytest.param(REPLICA_SET.replace("selector", "selektor"), "spec.selector", id="a workload without a selector"),
        pytest.param(
            REPLICA_SET.replace("{app: a}", "{app: b}", 1),
            "spec.template.metadata.labels",
            id="a workload that does not select its pods",
        ),
    ],
)
def test_what_an_api_server_refuses_but_scheduling_understands_is_a_warning(read, text, path):
    manifests = read(text)
    assert len(manifests.objects) == 1
    assert [warning.path for warning in manifests.warnings if "API server" in warning.hint] == [path]


def test_a_pod_of_a_known_template_on_a_bad_node_is_still_a_problem(read):
    read(POD)
    (problem,) = read.problems(POD + "  nodeName: '!'\n")
    assert problem.path == "spec.nodeName"


def test_objects_in_retired_versions_are_not_held_to_the_rules_of_new_ones():
    text = b"apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {}}}\n"
    assert len(load_text(text).objects) == 1


def test_every_rule_is_about_a_field_that_exists():
    reachable: set[type] = set()

    def reach(struct: type) -> None:
        if struct not in reachable:
            reachable.add(struct)
            for field in msgspec.structs.fields(struct):
                for inner in validation._structs_in(field.type):
                    reach(inner)

    for kind in kinds.KINDS:
        reach(kind.struct)
    tables = [*validation.WORDS, *validation.RANGES, *validation.REQUIRED, *validation.SYNTAX]
    assert [(s.__name__, f) for s, f in tables if s not in reachable or f not in s.__struct_fields__] == []
    assert set(relations.RELATIONS) <= reachable
