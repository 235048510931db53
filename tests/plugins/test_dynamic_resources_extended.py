"""Extended resources that devices stand in for: the claim made up for them, and where its devices come from."""

import msgspec
import pytest

from schedctl.api.devices import DeviceClass, ResourceClaim, ResourceClaimStatus, ResourceSlice
from schedctl.cache.pod_info import PodInfo
from schedctl.config.loading import load
from schedctl.devices.allocated import PendingAllocation
from schedctl.plugins.dynamic_resources.extended_resources import on_node, special_claim
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

CARD = "example.com/card"
IMPLICIT = "deviceclass.resource.kubernetes.io/card"
ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
CLASS = msgspec.convert({"metadata": {"name": "card"}, "spec": {"extendedResourceName": CARD}}, DeviceClass)
HELPLESS = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."


def cards(on, number=1):
    pool = {"name": on, "generation": 1, "resourceSliceCount": 1}
    offered = [{"name": f"dev-{i}"} for i in range(number)]
    spec = {"driver": "d", "nodeName": on, "pool": pool, "devices": offered}
    return msgspec.convert({"metadata": {"name": f"slice-{on}"}, "spec": spec}, ResourceSlice)


def claim(name, *, left_by=None, requests=(), result=None):
    """A claim; `left_by` is the pod for whose extended resources it was made, `result` the device it holds."""
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    if left_by:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": left_by, "controller": True}
        metadata |= {"annotations": {ANNOTATION: "true"}, "ownerReferences": [owner]}
    spec = {"devices": {"requests": None if requests is None else list(requests)}}
    status = {}
    if result:
        pool, device = result.split("/")
        status["allocation"] = {"devices": {"results": [{"driver": "d", "pool": pool, "device": device}]}}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, ResourceClaim)


def exactly(name="r", number=1):
    return {"name": name, "exactly": {"deviceClassName": "card", "allocationMode": "ExactCount", "count": number}}


def attempt(c, incoming, config=None):
    c.add_pod(incoming)
    return Scheduler(c, config).attempt(incoming)


def refusals(outcome):
    statuses = ((name, outcome.filtering.status(i)) for i, name in enumerate(outcome.filtering.nodes.names))
    return {name: status.reasons for name, status in statuses if not status.successful}


@pytest.mark.parametrize("resource", [pytest.param(CARD, id="by its name"), pytest.param(IMPLICIT, id="by the class")])
def test_a_resource_can_be_devices(resource):
    c = cluster(node("a"), node("b"), node("c", **{resource: "0"}), cards("b", 2), cards("c", 2), CLASS)
    outcome = attempt(c, pod(requests={resource: "2"}))
    assert outcome.ties == ["b", "c"]
    assert refusals(outcome) == {"a": ("cannot allocate all claims",)}


def test_what_a_device_plugin_offers_is_not_searched_for_among_devices():
    c = cluster(node("a", **{CARD: "2"}), node("b", **{CARD: "1"}), cards("b", 2), CLASS)
    outcome = attempt(c, pod(requests={CARD: "2"}))
    assert outcome.chosen == "a"
    assert refusals(outcome) == {"b": (f"Insufficient {CARD}",)}
    assert Scheduler(c).place(outcome).status.successful
    assert not c.every(PendingAllocation)


def test_a_resource_that_nobody_asks_for_needs_no_devices():
    c = cluster(node("a"), CLASS)
    assert attempt(c, pod(requests={CARD: "0"})).chosen == "a"


def test_another_extended_resource_must_be_listed_by_the_node():
    disabled = [{"name": "NodeResourcesFit"}]
    profile = {"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"disabled": disabled}}}
    header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config = load(msgspec.json.encode(header | {"profiles": [profile]}).decode(), "config")
    c = cluster(node("a"), node("b", **{"example.com/disk": "0"}), cards("a"), cards("b"), CLASS)
    outcome = attempt(c, pod(requests={CARD: "1", "example.com/disk": "1"}), config)
    assert refusals(outcome) == {"a": ("cannot fit resource",)}


def test_claims_of_the_pod_and_its_extended_resources_share_the_devices():
    c = cluster(node("a"), node("b"), cards("a"), cards("b", 2), CLASS, claim("c", requests=[exactly()]))
    incoming = pod(requests={CARD: "1"}, resourceClaims=[{"name": "d", "resourceClaimName": "c"}])
    assert attempt(c, incoming).ties == ["b"]


# -- the claim ------------------------------------------------------------------------------------


def container(name, number=None, *, sidecar=False, **more):
    requests = {**({CARD: number} if number else {}), **more}
    restart = {"restartPolicy": "Always"} if sidecar else {}
    return {"name": name, "image": "i", "resources": {"requests": requests}, **restart}


def made_up(*containers, init=(), resources=(CARD,)):
    """What the claim requests, as {name: number}, and who gets what, as (container, request)."""
    incoming = pod(containers=list(containers), initContainers=list(init))
    c = cluster(CLASS)
    made = on_node(special_claim(incoming, c), incoming, resources, dict.fromkeys((CARD, IMPLICIT), CLASS))
    requests = made.claim.spec.devices.requests or []
    return (
        {each.name: each.exactly.count for each in requests},
        [(each.container_name, each.request_name) for each in made.mappings],
    )


@pytest.mark.parametrize(
    ("containers", "init", "requests", "mappings"),
    [
        pytest.param(
            [container("m", "2")],
            [],
            {"container-0-request-0": 2},
            [("m", "container-0-request-0")],
            id="one container has one request",
        ),
        pytest.param(
            [container("m"), container("n", "1", cpu="1")],
            [],
            {"container-1-request-1": 1},
            [("n", "container-1-request-1")],
            id="named by the places of the container and of the resource among its requests",
        ),
        pytest.param(
            [container("m", "2")],
            [container("i", "1")],
            {"container-1-request-0": 2},
            [("m", "container-1-request-0"), ("i", "container-1-request-0")],
            id="an init container uses what a later one will have",
        ),
        pytest.param(
            [container("m", "1")],
            [container("i", "3")],
            {"container-0-request-0": 2, "container-1-request-0": 1},
            [("m", "container-1-request-0"), ("i", "container-1-request-0"), ("i", "container-0-request-0")],
            id="and asks for the rest",
        ),
        pytest.param(
            [container("m")],
            [container("i", "1"), container("j", "3"), container("k", "2")],
            {"container-1-request-0": 3},
            [("i", "container-1-request-0"), ("j", "container-1-request-0"), ("k", "container-1-request-0")],
            id="of init containers, one after another, the largest request serves all",
        ),
        pytest.param(
            [container("m", "1")],
            [container("s", "1", sidecar=True), container("i", "2")],
            {"container-0-request-0": 1, "container-1-request-0": 1, "container-2-request-0": 1},
            [
                ("s", "container-0-request-0"),
                ("m", "container-2-request-0"),
                ("i", "container-2-request-0"),
                ("i", "container-1-request-0"),
            ],
            id="a sidecar keeps what it has",
        ),
        pytest.param([container("m", "1000m")], [], {}, [], id="thousandths are no number of devices"),
        pytest.param(
            [container("m", "1k")],
            [],
            {"container-0-request-0": 1000},
            [("m", "container-0-request-0")],
            id="thousands are",
        ),
    ],
)
def test_what_the_claim_requests(containers, init, requests, mappings):
    assert made_up(*containers, init=init) == (requests, mappings)


def test_the_claim_requests_only_what_the_device_plugin_does_not_offer():
    both = container("m", "1", **{IMPLICIT: "2"})
    assert made_up(both, resources=[IMPLICIT])[0] == {"container-0-request-0": 2}
    assert made_up(both, resources=[CARD, IMPLICIT])[0] == {"container-0-request-0": 2, "container-0-request-1": 1}


def test_requests_are_in_order_of_their_names():
    many = [container(f"m{i}", "1") for i in range(11)]
    assert list(made_up(*many)[0])[:3] == ["container-0-request-0", "container-1-request-0", "container-10-request-0"]


# -- its life -------------------------------------------------------------------------------------


def placed(c, incoming):
    c.add_pod(incoming)
    scheduler = Scheduler(c)
    outcome = scheduler.attempt(incoming)
    assert scheduler.place(outcome).status.successful
    return scheduler, outcome


def test_reserve_takes_the_devices_and_binding_writes_the_claim():
    c = cluster(node("a"), cards("a", 2), CLASS)
    scheduler, outcome = placed(c, pod(requests={CARD: "2"}))
    (pending,) = c.every(PendingAllocation).values()
    assert [result.device for result in pending.claim.status.allocation.devices.results] == ["dev-0", "dev-1"]
    assert not c.every(ResourceClaim)
    assert scheduler.bind(outcome).successful
    assert not c.every(PendingAllocation)
    ((key, written),) = c.every(ResourceClaim).items()
    assert key == "default/web-extended-resources-…"
    assert written.metadata.annotations == {ANNOTATION: "true"}
    assert [user.name for user in written.status.reserved_for] == ["web"]
    other = pod("other", requests={CARD: "1"})
    c.add_pod(other)
    assert refusals(scheduler.attempt(other)) == {"a": ("cannot allocate all claims",)}


def test_unreserving_deletes_the_claim():
    c = cluster(node("a"), cards("a"), CLASS)
    scheduler, outcome = placed(c, pod(requests={CARD: "1"}))
    scheduler.bind(outcome)
    scheduler.profiles["default-scheduler"].plugins["DynamicResources"].unreserve(outcome.cycle, "a")
    assert not c.every(ResourceClaim)
    assert not c.every(PendingAllocation)


def test_two_pods_whose_names_begin_alike_get_claims_of_their_own():
    c = cluster(node("a"), cards("a", 2), CLASS)
    for end in "xy":
        scheduler, outcome = placed(c, pod("p" * 60 + end, requests={CARD: "1"}))
        assert scheduler.bind(outcome).successful
    assert list(c.every(ResourceClaim)) == [f"default/{'p' * 58}…", f"default/{'p' * 58}…2"]


def test_a_claim_left_behind_is_deleted_so_that_the_next_attempt_begins_anew():
    c = cluster(node("a"), cards("a"), CLASS, claim("left", left_by="web", requests=[exactly()], result="a/dev-0"))
    incoming = pod(requests={CARD: "1"})
    outcome = attempt(c, incoming)
    assert refusals(outcome) == {"a": ("cannot schedule extended resource claim",)}
    assert outcome.post_filter.status.reasons == ("deletion of ResourceClaim completed", HELPLESS)
    scheduler = Scheduler(c)
    scheduler.make_room(outcome)
    assert not c.every(ResourceClaim)
    assert scheduler.attempt(incoming).chosen == "a"


def test_a_claim_left_behind_without_requests_is_used():
    c = cluster(node("a"), cards("a"), CLASS, claim("left", left_by="web", requests=None))
    scheduler, outcome = placed(c, pod(requests={CARD: "1"}))
    assert scheduler.bind(outcome).successful
    assert c.get(ResourceClaim, "default/left").status != ResourceClaimStatus()


def test_a_claim_of_another_pod_is_not_taken_for_one_left_behind():
    c = cluster(node("a"), cards("a"), CLASS, claim("left", left_by="other", requests=[exactly()]))
    assert attempt(c, pod(requests={CARD: "1"})).chosen == "a"


def test_kube_scheduler_cannot_bind_a_pod_with_claims_whose_resources_the_device_plugin_offers():
    c = cluster(node("a", **{CARD: "1"}), cards("a"), CLASS, claim("c", requests=[exactly()]))
    incoming = pod(requests={CARD: "1"}, resourceClaims=[{"name": "d", "resourceClaimName": "c"}])
    scheduler, outcome = placed(c, incoming)
    assert scheduler.bind(outcome).message == (
        'running PreBind plugin "DynamicResources": '
        "nil or empty request mappings, no update of pod default/web ExtendedResourceClaimStatus"
    )
    assert isinstance(c.pending["default/web"], PodInfo)
    assert not c.every(PendingAllocation)
