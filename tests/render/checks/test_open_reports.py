"""Reports that are kept in a cluster: what API servers take of them, and how results become theirs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from schedctl.render.checks import openreports
from schedctl.reports.checks import CheckOutcome, Severity
from schedctl.reports.metadata import Metadata
from tests.render.checks.builders import REPORTS, exempted, of_the_run, report, result, written

SCHEMA = jsonschema.Draft202012Validator(
    json.loads((Path(__file__).with_name("schemas") / "open-reports.json").read_text())
)
FORMS = {
    "openreports": ("openreports.io/v1alpha1", "Report", "ClusterReport"),
    "policyreports": ("wgpolicyk8s.io/v1alpha2", "PolicyReport", "ClusterPolicyReport"),
}
TAKEN = Metadata(state_taken="2026-11-20T10:00:00Z")
PASSED = CheckOutcome.PASSED


def ingest(text):
    """Return the objects of a List by their namespaces ("" for the cluster's), as an API server would take them."""
    listed = json.loads(text)
    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    found = {}
    for each in listed["items"]:
        SCHEMA.validate(each)
        assert len(json.dumps(each).encode()) < 1_500_000, "more than etcd takes"
        namespace = each["metadata"].get("namespace", "")
        assert each["kind"].startswith("Cluster") == (not namespace)
        assert namespace not in found
        found[namespace] = each
    return found


def of(document, form="openreports"):
    return ingest(written(document, form))


@pytest.mark.parametrize("form", FORMS)
@given(document=REPORTS)
@settings(max_examples=60, deadline=None)
def test_an_api_server_takes_any_report(form, document):
    found = of(document, form)
    version, namespaced, cluster = FORMS[form]
    assert {(each["apiVersion"], each["kind"]) for each in found.values()} <= {
        (version, namespaced),
        (version, cluster),
    }
    summaries = [sum(each["summary"].values()) for each in found.values()]
    assert sum(summaries) == len(document.results)


def test_a_namespace_has_a_report_and_the_cluster_has_one():
    document = report(
        result(), result(PASSED, name="api"), result(namespace="pay", subject="Deployment pay/web"), of_the_run()
    )
    found = of(document)
    assert list(found) == ["", "pay", "shop"]
    assert {name: each["summary"]["fail"] for name, each in found.items()} == {"": 1, "pay": 1, "shop": 1}
    assert found["shop"]["metadata"] == {
        "name": "schedctl",
        "labels": {"app.kubernetes.io/managed-by": "schedctl"},
        "namespace": "shop",
    }


def test_a_result():
    violated = result(reasons=["eu-1c: 4 nodes rejected"], hints=["fits with memory <= 1638Mi"])
    (found,) = of(report(violated, metadata=TAKEN))["shop"]["results"]
    assert found == {
        "source": "schedctl",
        "policy": "payments-placement",
        "rule": "three-zones",
        "severity": "high",
        "result": "fail",
        "scored": True,
        "timestamp": {"seconds": 1795168800, "nanos": 0},
        "resources": [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}],
        "message": "Deployment shop/web: 2 zones, needs 3\neu-1c: 4 nodes rejected\nhint: fits with memory <= 1638Mi",
        "properties": {
            "scenario": "baseline",
            "fingerprint": "sha256:three-zones-web",
            "place": "deploy/web.yaml:14:7",
        },
    }


@pytest.mark.parametrize(
    ("one", "outcome", "scored"),
    [
        pytest.param(result(PASSED), "pass", True, id="what holds passes"),
        pytest.param(result(), "fail", True, id="a violation fails"),
        pytest.param(result(severity=Severity.WARNING), "warn", False, id="one that is a warning does not count"),
        pytest.param(result(severity=Severity.INFO), "warn", False, id="nor does one that is for information"),
        pytest.param(result(CheckOutcome.INCONCLUSIVE), "error", True, id="what nobody can tell is an error"),
        pytest.param(exempted(), "skip", True, id="what is exempted is skipped"),
        pytest.param(result(CheckOutcome.BASELINED), "skip", True, id="and what is in the baseline"),
    ],
)
def test_how_a_result_ends(one, outcome, scored):
    found = of(report(one))["shop"]
    assert (found["results"][0]["result"], found["results"][0]["scored"]) == (outcome, scored)
    assert {name for name, count in found["summary"].items() if count} == {outcome}


@pytest.mark.parametrize(
    ("more", "resource"),
    [
        pytest.param(
            {"group": "", "kind": "Pod", "name": "web[0..59]", "workload": "Deployment shop/web", "pods": 60},
            {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
            id="pods of a workload are the workload",
        ),
        pytest.param(
            {"group": "", "kind": "Pod", "name": "alone"},
            {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "alone"},
            id="a pod on its own is itself",
        ),
        pytest.param(
            {"group": "argoproj.io", "kind": "Rollout"},
            {"kind": "Rollout", "namespace": "shop", "name": "web"},
            id="of another group the version is not known",
        ),
        pytest.param(
            {"group": "example.com", "kind": "Deployment"},
            {"kind": "Deployment", "namespace": "shop", "name": "web"},
            id="nor of a kind of theirs with the name of one of Kubernetes",
        ),
    ],
)
def test_the_object_of_a_result(more, resource):
    assert of(report(result(**more)))["shop"]["results"][0]["resources"] == [resource]


def test_what_is_to_be_known_of_the_run_is_in_the_report_of_the_cluster():
    found = of(report(result(), notes=["1 file not judged: a.txt (its name does not end in .yaml, .yml or .json)"]))
    (note,) = found[""]["results"]
    assert (note["policy"], note["rule"], note["result"]) == ("schedctl", "note", "skip")
    assert note["message"].startswith("1 file not judged: a.txt")
    assert found[""]["summary"]["skip"] == 0


def test_a_cluster_without_findings_replaces_the_report_of_one_that_had_some():
    assert list(of(report())) == [""]


def test_an_object_of_a_namespace_that_cannot_be_is_in_the_report_of_the_cluster():
    assert list(of(report(result(namespace="Shop")))) == [""]


def test_it_was_found_when_the_state_was_taken_or_else_now():
    now = datetime(2027, 1, 1, tzinfo=UTC)

    def seconds(metadata):
        listed = json.loads(written(report(result(), metadata=metadata), "openreports", now=now))
        return listed["items"][1]["results"][0]["timestamp"]["seconds"]

    assert seconds(TAKEN) == 1795168800
    assert seconds(Metadata()) == seconds(Metadata(state_taken="yesterday")) == now.timestamp()


def test_a_report_is_no_larger_than_etcd_takes_and_says_what_it_leaves_out():
    passed = [result(PASSED, name=f"web-{number}", message="m" * 900) for number in range(2000)]
    found = of(report(*passed, result(name="broken")))["shop"]
    first, second, *_ = found["results"]
    left_out = 2001 - (len(found["results"]) - 1)
    assert first["rule"] == "results-not-listed"
    assert first["message"] == f"{left_out} more results not listed: the report is as large as may be"
    assert second["result"] == "fail", "the worst is listed"
    assert found["summary"] == {"error": 0, "fail": 1, "pass": 2000, "skip": 0, "warn": 0}
    assert 900_000 < len(json.dumps(found, separators=(",", ":")).encode()) <= openreports.MOST_BYTES


def test_a_message_as_long_as_a_book_is_cut():
    (found,) = of(report(result(message="m" * 1_000_000)))["shop"]["results"]
    assert len(found["message"]) == 2000


def test_the_tags_of_a_check_are_its_category():
    document = report(result())
    (policy,) = document.policies
    tagged = replace(policy, checks=[replace(policy.checks[0], tags=["availability", "zones"])])
    (found,) = of(replace(document, policies=[tagged]))["shop"]["results"]
    assert found["category"] == "availability, zones"
