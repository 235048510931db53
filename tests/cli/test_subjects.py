"""How objects can be named, and how labels select them."""

from __future__ import annotations

import pytest

from schedctl.api import label_selectors
from schedctl.cli import running
from schedctl.errors import UsageError
from schedctl.session import subject_kinds, subjects


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["pod", "web-0"], [("Pod", "", "web-0")], id="a kind and a name"),
        pytest.param(["po", "web-0", "web-1"], [("Pod", "", "web-0"), ("Pod", "", "web-1")], id="a kind and names"),
        pytest.param(["pod/web-0"], [("Pod", "", "web-0")], id="kind/name"),
        pytest.param(["shop/web-0"], [("Pod", "shop", "web-0")], id="namespace/name is a pod"),
        pytest.param(["pod", "shop/web-0"], [("Pod", "shop", "web-0")], id="a kind and namespace/name"),
        pytest.param(["pod/shop/web-0"], [("Pod", "shop", "web-0")], id="kind/namespace/name"),
        pytest.param(["pods", "pod/web-0"], [("Pod", "", "web-0")], id="the kind may be repeated"),
        pytest.param(["deploy/web", "sts/db"], [("Deployment", "", "web"), ("StatefulSet", "", "db")], id="two kinds"),
        pytest.param(["deployments.apps", "web"], [("Deployment", "", "web")], id="a kind with its group"),
        pytest.param(["deployments.v1.apps/web"], [("Deployment", "", "web")], id="a kind with version and group"),
        pytest.param(["CronJob", "shop/report"], [("CronJob", "shop", "report")], id="a kind as manifests write it"),
        pytest.param(["cj/report"], [("CronJob", "", "report")], id="the shortest name of a kind"),
    ],
)
def test_the_ways_to_name_an_object(arguments, expected):
    _, names = subjects.parse_names(arguments)
    assert [(one.kind.name, one.namespace, one.name) for one in names] == expected


PODS = """
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "9"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: api-0, namespace: shop}, spec: {containers: [{name: a, image: a}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: twice, namespace: shop}, spec: {containers: [{name: a, image: a}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: twice, namespace: test}, spec: {containers: [{name: a, image: a}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: report, namespace: shop}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
"""


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        pytest.param(("api-0",), ["shop/api-0"], id="the only pod of that name, wherever it is"),
        pytest.param(("api-0", "-A"), ["shop/api-0"], id="in all namespaces"),
        pytest.param(("twice", "-n", "test"), ["test/twice"], id="the one of a namespace"),
        pytest.param(("-n", "test", "twice"), ["test/twice"], id="the namespace in front"),
        pytest.param(("report",), ["shop/report-"], id="a workload of that name"),
        pytest.param(("pods", "-A"), ["shop/api-0", "shop/twice", "test/twice"], id="all pods"),
        pytest.param(("pod", "-A"), ["shop/api-0", "shop/twice", "test/twice"], id="all of the kind in the singular"),
    ],
)
def test_a_name_stands_for_the_only_object_it_can_be(schedctl, arguments, keys):
    template = "jsonpath={range .results[*]}{.pod.namespace}/{.pod.name} {end}"
    ended = schedctl("explain", *arguments, "-f", "-", "--no-group", "-o", template, stdin=PODS)
    assert ended.code == 0, ended.err
    found = ended.out.split()
    assert len(found) == len(keys)
    assert all(key.startswith(start) for key, start in zip(found, keys, strict=True)), found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ("twice",),
            'error: "twice" is the name of 2 objects\nhint: choose one: `pod shop/twice`, `pod test/twice`\n',
            id="two namespaces have one",
        ),
        pytest.param(
            ("api-0", "-n", "test"), "there is one in namespace shop: add `-n shop`", id="not where it is sought"
        ),
        pytest.param(("api-1",), "did you mean api-0?", id="a name like another"),
    ],
)
def test_a_name_that_could_be_several_or_none(schedctl, arguments, message):
    ended = schedctl("explain", *arguments, "-f", "-", stdin=PODS)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["-o=json"], ["-o", "json"], id="the sign is left out"),
        pytest.param(["-l=app=web"], ["-l", "app=web"], id="the first one only"),
        pytest.param(["-n="], ["-n", ""], id="a value may be empty"),
        pytest.param(["-f=-"], ["-f", "-"], id="or stand for standard input"),
        pytest.param(["-ojson", "--output=json"], ["-ojson", "--output=json"], id="other forms are left alone"),
        pytest.param(["--", "-o=json"], ["--", "-o=json"], id="so is what is no option"),
    ],
)
def test_a_short_option_and_its_value_may_be_joined_as_kubectl_does(arguments, expected):
    assert running._without_equals(arguments) == expected


def test_every_workload_that_makes_pods_can_be_asked_about():
    kinds = {kind.name for kind in subject_kinds.KINDS}
    assert kinds == {
        "CronJob",
        "DaemonSet",
        "Deployment",
        "Job",
        "Pod",
        "PodTemplate",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
    }


LABELS = {"app": "web", "tier": "front", "size": "5"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        pytest.param("app=web", True, id="equal"),
        pytest.param("app==web", True, id="equal, written twice"),
        pytest.param("app=api", False, id="not equal"),
        pytest.param("app!=api", True, id="unequal"),
        pytest.param("zone!=a", True, id="unequal holds for an absent label"),
        pytest.param("app = web , tier = front", True, id="blanks are nothing"),
        pytest.param("app in (api, web)", True, id="one of a set"),
        pytest.param("app notin (api,web)", False, id="none of a set"),
        pytest.param("app in (web),tier in (back,front)", True, id="two sets"),
        pytest.param("tier", True, id="a label that is there"),
        pytest.param("!zone", True, id="a label that is not there"),
        pytest.param("!app", False, id="a label that should not be there"),
        pytest.param("size>4", True, id="more than a number"),
        pytest.param("size<4", False, id="less than a number"),
        pytest.param("app=web,!tier", False, id="all must hold"),
        pytest.param("zone=", False, id="an empty value is a value"),
        pytest.param("inside", False, id="a key that begins like an operator"),
    ],
)
def test_label_selectors(text, matches):
    assert label_selectors.parse(text).matches(LABELS) is matches


@pytest.mark.parametrize("text", ["app=(web", "app in web", "=web", "app=a=b", "a/b/c=d", "size>x", "app=ü"])
def test_what_is_no_label_selector(text):
    with pytest.raises(UsageError, match="cannot read the selector"):
        label_selectors.parse(text)
