"""Policies for certain versions of Kubernetes: nothing they say of another one is green."""

import pytest

from schedctl.policy import documents
from schedctl.policy.evaluations import Conditions
from schedctl.policy.kube_versions import VersionDemand
from schedctl.policy.reading import policies_in
from schedctl.reports.checks import CheckOutcome
from schedctl.reports.metadata import Metadata, VersionSkew
from schedctl.testing.builders import cluster
from tests.policy.evaluating import LOSE_ZONE, check, deployment, manifests_of, policy, report, zoned


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        pytest.param(">=1.35", {35, 36, 37}, id="at least"),
        pytest.param("1.36", {36}, id="exactly"),
        pytest.param("= v1.36", {36}, id="exactly, in other words"),
        pytest.param(">1.34 <1.37", {35, 36}, id="between"),
        pytest.param(">= 1.34, != 1.35, <= 1.36", {34, 36}, id="with commas"),
    ],
)
def test_a_demand_allows_minor_versions(text, allowed):
    demand = VersionDemand.parse(text)
    assert {minor for minor in range(34, 38) if demand.allows((1, minor))} == allowed


@pytest.mark.parametrize("text", ["newest", "1", ">=1.35.4", "1.35 or newer", "~1.35", ",", "1.35>"])
def test_what_is_no_demand_is_refused(text):
    with pytest.raises(ValueError, match="minor version"):
        VersionDemand.parse(text)


SKEW = VersionSkew(
    source="Snapshot", state_version="v1.32.1", rules_version="v1.34.4", differences=[], text="of another version"
)


@pytest.mark.parametrize(
    ("demand", "version", "source", "skew", "message"),
    [
        pytest.param(">=1.35", "v1.36.3", "Snapshot", None, "", id="met"),
        pytest.param(
            ">=1.37", "v1.36.3", "APIServer", None, "the policy is for Kubernetes >=1.37, and this is v1.36.3", id="not"
        ),
        pytest.param(
            ">=1.34", "v1.34.4", "Snapshot", SKEW, "the policy is for Kubernetes >=1.34, and this is v1.32.1",
            id="the state is older than all that are reproduced",
        ),
        pytest.param(">=1.34", "v1.34.4", "Option", SKEW, "", id="the option asks for the rules of a newer version"),
        pytest.param(
            ">=1.34", "v1.37.1", "Newest", None, "the policy is for Kubernetes >=1.34, and the state has no version",
            id="the state has no version",
        ),
    ],
)  # fmt: skip
def test_a_policy_for_other_versions_is_inconclusive(demand, version, source, skew, message):
    demanding = policy(
        check("schedulable", documents.Schedulable(), "fits"),
        check("survives", documents.Survives(scenario="lose-zone"), "zone-loss"),
        scenarios=[LOSE_ZONE],
        kube_version=VersionDemand.parse(demand),
    )
    metadata = Metadata(kubernetes_version=version, version_source=source, version_skew=skew)
    state, manifests = cluster(*zoned(1, 1, 1)), manifests_of(deployment())
    found = report(state, manifests, demanding, conditions=Conditions(metadata=metadata))
    unclear = [result for result in found.results if result.outcome is CheckOutcome.INCONCLUSIVE]
    assert [(result.check, result.message) for result in unclear] == (
        [("fits", message), ("zone-loss", message)] if message else []
    )
    assert (found.summary.exit_code == 0) == (not message)
    assert all("--kube-version" in hint for result in unclear for hint in result.hints)


def test_a_demand_that_cannot_be_read_is_an_error_with_its_place():
    text = (
        "apiVersion: schedctl.dev/v1alpha1\nkind: CheckPolicy\nmetadata: {name: new}\n"
        "spec:\n  kubeVersion: newest\n  checks: [{name: fits, builtin: schedulable}]\n"
    )
    _, (problem,) = policies_in(text.encode(), "policy.yaml")
    assert (problem.line, problem.path) == (5, "spec.kubeVersion")
    assert ">=1.35" in problem.hint
