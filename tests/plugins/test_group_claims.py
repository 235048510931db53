"""Claims of pod groups: pods of a group share what one of them is given, and a claim may be the group's."""

import msgspec
import pytest

from schedctl.api.devices import ResourceClaim, ResourceClaimTemplate
from schedctl.api.meta import ObjectMeta
from schedctl.api.pod_groups import PodGroup
from schedctl.config import loading
from schedctl.devices.allocated import PendingAllocation
from schedctl.framework.statuses import SUCCESS
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod
from schedctl.workloads.pod_claims import generated_claims
from schedctl.workloads.pod_groups import admit_group
from tests.plugins.test_dynamic_resources import allocated, claim, device_class, devices

RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))
WITHOUT_CLAIMS = RELEASE.with_gates({"DRAWorkloadResourceClaims": False})
SHARED = {"name": "all", "resourceClaimName": "shared"}
TEMPLATE = {"name": "all", "resourceClaimTemplateName": "template"}
GENERATED = {"resourceClaimStatuses": [{"name": "all", "resourceClaimName": "shared"}]}


def group(least=2, claims=(SHARED,), status=None):
    metadata = {"name": "train", "namespace": "default", "uid": "uid-train"}
    spec = {"schedulingPolicy": {"gang": {"minCount": least}}, "resourceClaims": list(claims)}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status or {}}, PodGroup)


def member(number, *claims, status=None):
    of_pod = {"schedulingGroup": {"podGroupName": "train"}, "resourceClaims": list(claims or (SHARED,))}
    return pod(f"train-{number}", cpu="1", status=status or {}, **of_pod)


def scheduler_of(*objects, pods, release=RELEASE):
    there = cluster(node("a", cpu="2"), node("b", cpu="2"), device_class(), *objects, release=release)
    for info in pods:
        there.add_pod(info)
    return Scheduler(there, loading.default(release), plugins_of(release))


def attempt(of_group, *objects, pods, release=RELEASE):
    scheduler = scheduler_of(of_group, *objects, pods=pods, release=release)
    return scheduler, scheduler.attempt_group(of_group, pods)


@pytest.mark.parametrize("release", [RELEASE, WITHOUT_CLAIMS], ids=["with claims of groups", "without"])
def test_pods_of_a_group_share_the_devices_that_the_first_of_them_is_given(release):
    pods = [member(0), member(1)]
    _, outcome = attempt(group(), claim("shared"), devices("a"), pods=pods, release=release)
    assert [each.node_name for each in outcome.members] == ["a", "a"]


def test_a_pod_that_shares_devices_has_to_go_where_they_are():
    pods = [member(0), member(1), member(2)]
    _, outcome = attempt(group(3), claim("shared"), devices("a"), pods=pods)
    assert [each.node_name for each in outcome.members] == ["a", "a", ""]
    message = outcome.members[2].status.message
    assert message == "0/2 nodes are available: 1 Insufficient cpu, 1 resourceclaim not available on the node."


def test_trying_a_group_leaves_no_devices_taken():
    scheduler, _ = attempt(group(3), claim("shared"), devices("a"), pods=[member(0), member(1), member(2)])
    assert not scheduler.cluster.every(PendingAllocation)


@pytest.mark.parametrize(
    ("of_group", "users"),
    [
        pytest.param(group(), [("podgroups", "train", "uid-train")], id="a claim of the group"),
        pytest.param(
            group(claims=()),
            [("pods", "train-0", "default/train-0"), ("pods", "train-1", "default/train-1")],
            id="a claim of the pods alone",
        ),
    ],
)
def test_for_whom_a_shared_claim_is_reserved(of_group, users):
    scheduler, outcome = attempt(of_group, claim("shared"), devices("a"), pods=[member(0), member(1)])
    for each in outcome.members:
        scheduler.place(each.outcome)
    plugin = scheduler.profiles["default-scheduler"].plugins["DynamicResources"]
    assert [plugin.pre_bind(each.outcome.cycle, each.node_name) for each in outcome.members] == [SUCCESS, SUCCESS]
    written = scheduler.cluster.get(ResourceClaim, "default/shared")
    assert [(user.resource, user.name, user.uid) for user in written.status.reserved_for] == users
    assert not scheduler.cluster.every(PendingAllocation)


@pytest.mark.parametrize(
    ("owner", "release", "message"),
    [
        pytest.param("train", RELEASE, "", id="its group"),
        pytest.param(
            "other",
            RELEASE,
            "ResourceClaim default/shared was not created for Pod default/train-0 "
            "(neither Pod nor PodGroup train is the owner)",
            id="another group",
        ),
        pytest.param(
            "train",
            WITHOUT_CLAIMS,
            "ResourceClaim default/shared was not created for Pod default/train-0 (Pod is not owner)",
            id="its group, while claims of groups are off",
        ),
    ],
)
def test_who_may_own_a_claim_that_was_made_of_a_template(owner, release, message):
    owners = [{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": owner, "controller": True}]
    pods = [member(0, TEMPLATE, status=GENERATED)]
    made = claim("shared", ownerReferences=owners)
    scheduler = scheduler_of(group(1), made, devices("a"), pods=pods, release=release)
    plugin = scheduler.profiles["default-scheduler"].plugins["DynamicResources"]
    assert plugin.pre_enqueue(pods[0]).message == message


def reserved(made):
    """The claim, reserved for the group, in place of the pods."""
    user = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "train", "uid": "uid-train"}
    raw = msgspec.to_builtins(made)
    raw["status"]["reservedFor"] = [user]
    return msgspec.convert(raw, ResourceClaim)


@pytest.mark.parametrize(
    ("on", "release", "left"),
    [
        pytest.param("gone", WITHOUT_CLAIMS, (True, 1), id="nothing while claims of groups are off"),
        pytest.param("gone", RELEASE, (False, 0), id="the devices of a claim that is of no use anywhere"),
        pytest.param(None, RELEASE, (True, 0), id="its place among the users of one that is of use"),
    ],
)
def test_what_a_group_that_cannot_start_gives_up(on, release, left):
    held = reserved(allocated(claim("shared"), on=on))
    _, outcome = attempt(group(5), held, devices("a"), pods=[member(number) for number in range(5)], release=release)
    now = next((each for each in outcome.post_filter.objects if each.metadata.name == "shared"), held)
    assert (now.status.allocation is not None, len(now.status.reserved_for or ())) == left


def test_a_group_that_gives_up_its_place_is_told_so_in_kube_schedulers_words():
    held = reserved(allocated(claim("shared")))
    _, outcome = attempt(group(5), held, devices("a"), pods=[member(number) for number in range(5)])
    status = outcome.post_filter.status
    assert (status.plugin, status.message) == ("DynamicResources", "ResourceClaim unreserved for PodGroup")


def test_of_a_template_of_the_group_one_claim_is_made_for_all_of_its_pods():
    metadata, spec = {"name": "template", "namespace": "default"}, {"spec": {"devices": {"requests": []}}}
    template = msgspec.convert({"metadata": metadata, "spec": spec}, ResourceClaimTemplate)
    written = PodGroup(metadata=ObjectMeta(name="train", namespace="default"), spec=group(claims=[TEMPLATE]).spec)
    admitted = admit_group(written, {}, RELEASE)
    there = cluster(template, admitted, release=RELEASE)
    first, (made,) = generated_claims(member(0, TEMPLATE).pod, there)
    there.put(made)
    second, more = generated_claims(member(1, TEMPLATE).pod, there)
    names = {each.status.resource_claim_statuses[0].resource_claim_name for each in (first, second)}
    assert names == {made.metadata.name, admitted.status.resource_claim_statuses[0].resource_claim_name}
    assert (more, made.metadata.owner_references[0].kind) == ((), "PodGroup")
