"""How objects can be named, and how labels select them."""

from __future__ import annotations

import pytest

from schedctl.api import label_selectors
from schedctl.cli import running
from schedctl.errors import UsageError
from schedctl.session import subjects


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
    kinds = {kind.name for kind in subjects.KINDS}
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
