"""DynamicResources: where a pod's claims can be satisfied, what it takes, and what it gives back."""

import msgspec
import numpy as np
import pytest

from schedctl.api.devices import DeviceClass, ResourceClaim, ResourceClaimStatus, ResourceSlice
from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.devices.allocated import PendingAllocation
from schedctl.errors import Inconclusive, PluginError
from schedctl.explain.evidence import camel_case
from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import SUCCESS, Code, Status, error
from schedctl.plugins.dynamic_resources import search
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.plugin_answers import nodes_affected

CARD = "example.com/card"
LONG_AGO, LATER = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"


def device_class(name="gpu", extended=None):
    return msgspec.convert({"metadata": {"name": name}, "spec": {"extendedResourceName": extended}}, DeviceClass)


def devices(on, number=1, **more):
    """The slice of a node with so many devices of the driver d, in a pool named like the node."""
    spec = {
        "driver": "d",
        "nodeName": on,
        "pool": {"name": on, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"dev-{i}", **more} for i in range(number)],
    }
    return msgspec.convert({"metadata": {"name": f"slice-{on}"}, "spec": spec}, ResourceSlice)


def exactly(number=1, name="r", of="gpu"):
    return {"name": name, "exactly": {"deviceClassName": of, "allocationMode": "ExactCount", "count": number}}


def first_of(*numbers, name="r"):
    """A request for so many devices, or else so many."""
    each = [
        {"name": f"a{i}", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": number}
        for i, number in enumerate(numbers)
    ]
    return {"name": name, "firstAvailable": each}


def claim(name="c", *requests, **metadata):
    spec = {"devices": {"requests": list(requests) or [exactly()]}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata}
    return msgspec.convert({"metadata": metadata, "spec": spec}, ResourceClaim)


def allocated(made, device="a/dev-0", *, on=None, users=(), conditions=(), timestamp=None, **result):
    """The claim with a device; `on` are the nodes that reach it, `conditions` (type, status) are its driver's."""
    pool, name = device.split("/")
    placed = {"driver": "d", "pool": pool, "device": name}
    allocation = {"devices": {"results": [{"request": "r", **placed, **result}]}, "allocationTimestamp": timestamp}
    if on is not None:
        fields = [{"key": "metadata.name", "operator": "In", "values": [on]}]
        allocation["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": fields}]}
    reported = [{"type": kind, "status": value, "reason": "Why", "message": 'm "q"'} for kind, value in conditions]
    status = {
        "allocation": allocation,
        "reservedFor": [{"resource": "pods", "name": user, "uid": f"default/{user}"} for user in users],
        "devices": [{**placed, "conditions": reported}] if conditions else None,
    }
    return msgspec.structs.replace(made, status=msgspec.convert(status, ResourceClaimStatus))


def using(*claims, name="web", status=None, **spec):
    """A pod that refers to claims by name, or by a reference of its own making."""
    references = [each if isinstance(each, dict) else {"resourceClaimName": each} for each in claims]
    numbered = [{"name": f"ref-{i}", **each} for i, each in enumerate(references)]
    return pod(name, status=status, resourceClaims=numbered, **spec)


def generated(**names):
    """The status of a pod with claims from templates, under these names; None where none was made."""
    statuses = [{"name": key.replace("_", "-"), "resourceClaimName": name} for key, name in names.items()]
    return {"phase": "Pending", "resourceClaimStatuses": statuses}


FROM_TEMPLATE = {"resourceClaimTemplateName": "t"}


def owned_by(name, uid=""):
    return [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": True}]


def attempt(c, incoming):
    c.add_pod(incoming)
    return Scheduler(c).attempt(incoming)


def placed(c, incoming, *, bind=False):
    """Place a pod, to be bound or not; return the scheduler, the attempt and the last status."""
    c.add_pod(incoming)
    scheduler = Scheduler(c)
    outcome = scheduler.attempt(incoming)
    assert outcome.chosen, outcome.error or outcome.filtering.histogram()
    status = scheduler.place(outcome).status
    if bind and status.successful:
        status = scheduler.bind(outcome)
    return scheduler, outcome, status


def refusals(outcome):
    """What is said of each refused node, by name."""
    statuses = ((name, outcome.filtering.status(i)) for i, name in enumerate(outcome.filtering.nodes.names))
    return {name: status.reasons[0] for name, status in statuses if not status.successful}


def evidence(outcome, name):
    """What stands behind the refusal of a node."""
    position = outcome.filtering.nodes.names.index(name)
    ((_, parts, _),) = outcome.filtering.refusal_at(position)
    return camel_case(parts[0][0].at(parts[0][1]))


# -- which claims ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "incoming", "text"),
    [
        pytest.param([], using("c"), 'could not find ResourceClaim "default/c"', id="a claim that is not there"),
        pytest.param(
            [],
            using({}),
            'pod "default/web", spec.resourceClaim "ref-0": none of the supported fields are set',
            id="a reference to nothing",
        ),
        pytest.param(
            [],
            using(FROM_TEMPLATE),
            'pod "default/web": ResourceClaim not created yet',
            id="a template from which nothing was made yet",
        ),
        pytest.param(
            [],
            using(FROM_TEMPLATE, status=generated(other="c")),
            'pod "default/web": ResourceClaim not created yet',
            id="a template from which only the claim of another reference was made",
        ),
        pytest.param(
            [claim("c")],
            using(FROM_TEMPLATE, status=generated(ref_0="c")),
            "ResourceClaim default/c was not created for Pod default/web (Pod is not owner)",
            id="a generated claim that nobody owns",
        ),
        pytest.param(
            [claim("c", ownerReferences=owned_by("other"))],
            using(FROM_TEMPLATE, status=generated(ref_0="c")),
            "ResourceClaim default/c was not created for Pod default/web (Pod is not owner)",
            id="a generated claim of another pod",
        ),
        pytest.param(
            [claim("c", ownerReferences=owned_by("web", "of-an-earlier-one"))],
            using(FROM_TEMPLATE, status=generated(ref_0="c"), metadata={"uid": "mine"}),
            "ResourceClaim default/c was not created for Pod default/web (Pod is not owner)",
            id="a generated claim of an earlier pod of that name",
        ),
        pytest.param(
            [claim("c", deletionTimestamp=LONG_AGO)],
            using("c"),
            'resourceclaim "c" is being deleted',
            id="a claim on its way out",
        ),
        pytest.param(
            [claim("c", namespace="elsewhere")],
            using("c"),
            'could not find ResourceClaim "default/c"',
            id="a claim in another namespace",
        ),
    ],
)
def test_pre_enqueue_keeps_a_pod_out_until_its_claims_exist(claims, incoming, text):
    c = cluster(node("a"), devices("a"), device_class(), *claims)
    outcome = attempt(c, incoming)
    assert (outcome.gated.code, outcome.gated.reasons) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
    assert outcome.gated.causes[0].evidence["pod"] == "default/web"


@pytest.mark.parametrize(
    ("claims", "incoming"),
    [
        pytest.param([claim("c")], using("c"), id="by name, whoever owns it"),
        pytest.param(
            [claim("c", ownerReferences=owned_by("web"))],
            using(FROM_TEMPLATE, status=generated(ref_0="c")),
            id="from a template, owned by the pod",
        ),
        pytest.param(
            [claim("c", ownerReferences=owned_by("anything", "mine"))],
            using(FROM_TEMPLATE, status=generated(ref_0="c"), metadata={"uid": "mine"}),
            id="from a template, owned by the pod by its uid",
        ),
        pytest.param([], using(FROM_TEMPLATE, status=generated(ref_0=None)), id="deliberately none"),
    ],
)
def test_pre_enqueue_lets_a_pod_with_its_claims_in(claims, incoming):
    c = cluster(node("a"), devices("a"), device_class(), *claims)
    assert attempt(c, incoming).chosen == "a"


@pytest.mark.parametrize(
    ("requests", "text"),
    [
        pytest.param([exactly(of="fpga")], "request r: device class fpga does not exist", id="of no class there is"),
        pytest.param(
            [{"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "fpga", "count": 1}]}],
            "request r/a: device class fpga does not exist",
            id="with an alternative of no class there is",
        ),
        pytest.param(
            [{"name": "r"}], "resource claim default/c, request r: unknown request type", id="for nothing at all"
        ),
    ],
)
def test_a_request_no_node_could_satisfy_refuses_the_pod(requests, text):
    outcome = attempt(cluster(node("a"), devices("a"), device_class(), claim("c", *requests)), using("c"))
    assert (outcome.pre_filter.code, outcome.pre_filter.reasons) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
    assert outcome.post_filter.status.reasons == (
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    )


def test_a_request_without_a_class_is_a_fault():
    outcome = attempt(cluster(node("a"), devices("a"), device_class(), claim("c", exactly(of=""))), using("c"))
    assert outcome.error == 'running PreFilter plugin "DynamicResources": request r: unsupported request type'


def test_classes_of_a_claim_that_has_its_devices_do_not_matter():
    c = cluster(node("a"), allocated(claim("c", exactly(of="gone"))))
    assert attempt(c, using("c")).chosen == "a"


# -- where ----------------------------------------------------------------------------------------


def test_a_claim_is_allocated_where_there_are_devices():
    c = cluster(node("a"), node("b"), devices("b"), device_class(), claim())
    outcome = attempt(c, using("c"))
    assert outcome.chosen == "b"
    assert refusals(outcome) == {"a": "cannot allocate all claims"}


def test_all_claims_of_a_pod_must_be_satisfied_by_the_same_node():
    c = cluster(node("a"), node("b"), devices("a"), devices("b", 2), device_class(), claim("c"), claim("d"))
    assert refusals(attempt(c, using("c", "d"))) == {"a": "cannot allocate all claims"}


def test_devices_held_by_another_claim_are_not_available():
    c = cluster(node("a"), devices("a"), device_class(), allocated(claim("held")), claim())
    outcome = attempt(c, using("c"))
    assert refusals(outcome) == {"a": "cannot allocate all claims"}
    assert evidence(outcome, "a") == {
        "claims": ["default/c"],
        "scarcity": {
            "lacking": [
                {
                    "claim": "default/c",
                    "request": "r",
                    "deviceClass": "gpu",
                    "wanted": 1,
                    "found": 0,
                    "tooMany": False,
                    "passedOver": {"held by another claim": 1},
                    "closest": {
                        "device": "d/a/dev-0",
                        "refusals": [
                            {
                                "why": "held by another claim",
                                "number": -1,
                                "subject": "",
                                "needed": "",
                                "left": "",
                                "holders": ["default/held"],
                            }
                        ],
                    },
                    "others": [],
                }
            ],
            "pools": {},
            "error": "",
            "incomplete": [],
            "users": {"default/held": []},
        },
    }


def test_an_allocated_claim_ties_the_pod_to_the_nodes_that_reach_its_devices():
    c = cluster(node("a"), node("b"), allocated(claim(), on="a"))
    outcome = attempt(c, using("c"))
    assert outcome.chosen == "a"
    assert refusals(outcome) == {"b": "resourceclaim not available on the node"}
    reach = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}
    held = {"claim": "default/c", "because": "elsewhere", "detail": "", "reach": reach}
    assert evidence(outcome, "b") == {"claims": [held]}


def test_an_allocated_claim_without_a_node_selector_is_reached_from_everywhere():
    c = cluster(node("a"), node("b"), allocated(claim(), users=["someone", "else"]))
    assert attempt(c, using("c")).ties == ["a", "b"]


def test_a_node_selector_of_an_allocation_that_cannot_be_parsed_is_a_fault():
    broken = allocated(claim(), on="a")
    selector = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["x"]}]}]}
    allocation = msgspec.to_builtins(broken.status.allocation) | {"nodeSelector": selector}
    status = msgspec.convert({"allocation": allocation}, ResourceClaimStatus)
    outcome = attempt(cluster(node("a"), msgspec.structs.replace(broken, status=status)), using("c"))
    assert outcome.error.startswith(
        'running PreFilter plugin "DynamicResources": nodeSelectorTerms[0].matchExpressions[0].operator: '
        'Unsupported value: "Near"'
    )


@pytest.mark.parametrize(
    ("features", "fits"),
    [
        pytest.param(["DRAOptionalNodeOperations"], True, id="a node that says it can"),
        pytest.param(["B", "DRAOptionalNodeOperations"], True, id="a node that says so out of order"),
        pytest.param([], False, id="a node that says nothing"),
    ],
)
def test_devices_without_node_operations_need_a_node_that_declares_the_feature(features, fits):
    held = allocated(claim(), skipNodeOperations=["NodePrepareResources"])
    outcome = attempt(cluster(node("a", declared_features=features), held), using("c"))
    assert bool(outcome.chosen) is fits
    if not fits:
        held = [{"claim": "default/c", "because": "incapable", "detail": "DRAOptionalNodeOperations", "reach": None}]
        assert evidence(outcome, "a") == {"claims": held}


READY = {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]}


@pytest.mark.parametrize(
    ("conditions", "timestamp", "because"),
    [
        pytest.param([("ready", "True")], LONG_AGO, None, id="ready devices will do"),
        pytest.param([], LATER, None, id="devices of which nothing is known yet may get ready"),
        pytest.param([("ready", "False")], None, None, id="nobody knows how long they have been getting ready"),
        pytest.param([("ready", "False")], LONG_AGO, "timeout", id="they take too long"),
        pytest.param([], LONG_AGO, "timeout", id="they take too long and say nothing"),
        pytest.param([("broken", "True"), ("ready", "True")], LATER, "unready", id="their driver gave up"),
        pytest.param([("broken", "False"), ("ready", "True")], LATER, None, id="their driver did not give up"),
    ],
)
def test_devices_with_binding_conditions(conditions, timestamp, because):
    c = cluster(node("a"), allocated(claim(), conditions=conditions, timestamp=timestamp, **READY))
    outcome = attempt(c, using("c"))
    assert bool(outcome.chosen) is (because is None)
    if because:
        assert refusals(outcome) == {"a": "resourceclaim not available on the node"}
        assert evidence(outcome, "a")["claims"][0]["because"] == because


def test_a_fault_of_the_search_ends_the_cycle():
    c = cluster(node("a"), devices("a"), device_class(), claim("c", exactly(33)))
    assert attempt(c, using("c")).error == (
        'running "DynamicResources" filter plugin: claim default/c, request r: adding 33 devices exceeds the claim '
        "limit of 32, with 0 already accounted for"
    )


def test_a_search_beyond_its_budget_is_inconclusive(monkeypatch):
    c = cluster(node("a"), devices("a", 3), device_class(), claim("c", exactly(2)))
    every = search.allocator.Allocator.allocate_all

    def short(self, rows, claims):
        self._budget = 2
        return every(self, rows, claims)

    monkeypatch.setattr(search.allocator.Allocator, "allocate_all", short)
    with pytest.raises(
        Inconclusive, match=r'on node a was given up .* \(pod default/web, claims "default/c"\)'
    ) as raised:
        attempt(c, using("c"))
    assert raised.value.exit_code == 5


# -- taking ---------------------------------------------------------------------------------------


def test_a_reserved_claim_is_being_allocated_until_it_is_written():
    c = cluster(node("a"), devices("a", 2), device_class(), claim("c"), claim("d"))
    scheduler, _, status = placed(c, using("c", name="first"))
    assert status == SUCCESS
    assert c.get(ResourceClaim, "default/c").status.allocation is None
    second, third = using("c", name="second"), using("d", name="third")
    c.add_pod(second)
    c.add_pod(third)
    text = "resource claim default/c is in the process of being allocated"
    assert scheduler.attempt(second).pre_filter.reasons == (text,)
    outcome = scheduler.attempt(third)
    scheduler.place(outcome)
    taken = {
        pending.claim.status.allocation.devices.results[0].device for pending in c.every(PendingAllocation).values()
    }
    assert taken == {"dev-0", "dev-1"}


def test_binding_writes_the_allocation_and_reserves_the_claim():
    c = cluster(node("a"), devices("a"), device_class(), claim())
    _, _, status = placed(c, using("c"), bind=True)
    written = c.get(ResourceClaim, "default/c")
    assert status.successful
    assert not c.every(PendingAllocation)
    assert [user.uid for user in written.status.reserved_for] == ["default/web"]
    assert written.status.allocation.devices.results[0].device == "dev-0"
    assert written.metadata.finalizers == ["resource.kubernetes.io/delete-protection"]


def test_a_claim_with_devices_is_shared_by_reserving_it_once_more():
    c = cluster(node("a"), allocated(claim(), users=["other"]))
    placed(c, using("c"), bind=True)
    users = c.get(ResourceClaim, "default/c").status.reserved_for
    assert [user.uid for user in users] == ["default/other", "default/web"]


def test_a_claim_reserved_for_the_pod_already_is_left_as_it_is():
    before = allocated(claim(), users=["web"])
    c = cluster(node("a"), before)
    placed(c, using("c"), bind=True)
    assert c.get(ResourceClaim, "default/c") is before


def test_the_api_server_refuses_to_reserve_a_claim_for_more_than_256_pods():
    c = cluster(node("a"), allocated(claim(), users=[f"p{i}" for i in range(256)]))
    _, _, status = placed(c, using("c"), bind=True)
    assert status.code is Code.ERROR
    assert status.message == (
        'running PreBind plugin "DynamicResources": add reservation to claim default/c: '
        'ResourceClaim.resource.k8s.io "c" is invalid: status.reservedFor: '
        "Too many: 257: must have at most 256 items"
    )


def test_unreserving_gives_everything_back_and_can_be_done_twice():
    c = cluster(node("a"), devices("a"), device_class(), claim())
    scheduler, outcome, _ = placed(c, using("c"))
    plugin = scheduler.profiles["default-scheduler"].plugins["DynamicResources"]
    for _ in range(2):
        plugin.unreserve(outcome.cycle, "a")
        assert not c.every(PendingAllocation)
    again = using("c", name="again")
    c.add_pod(again)
    assert scheduler.attempt(again).chosen == "a"


def test_a_pod_that_is_not_bound_after_all_leaves_the_claim_allocated_but_not_reserved():
    c = cluster(node("a"), devices("a"), device_class(), claim())
    scheduler, outcome, _ = placed(c, using("c"), bind=True)
    scheduler.profiles["default-scheduler"].plugins["DynamicResources"].unreserve(outcome.cycle, "a")
    status = c.get(ResourceClaim, "default/c").status
    assert status.allocation is not None
    assert not status.reserved_for


def test_reverting_a_fork_frees_the_devices():
    c = cluster(node("a"), devices("a"), device_class(), claim(), using("c"))
    scheduler = Scheduler(c)
    for _ in range(2):
        with scheduler.fork():
            outcome = scheduler.attempt(c.pending["default/web"])
            assert scheduler.place(outcome).status == SUCCESS
            assert c.every(PendingAllocation)
        assert not c.every(PendingAllocation)


@pytest.mark.parametrize(
    ("conditions", "timestamp", "text"),
    [
        pytest.param((), None, "", id="nothing is known yet: they are taken to get ready"),
        pytest.param([("ready", "True")], LONG_AGO, "", id="they are ready"),
    ],
)
def test_binding_with_conditions(conditions, timestamp, text):
    c = cluster(node("a"), allocated(claim(), conditions=conditions, timestamp=timestamp, **READY))
    _, _, status = placed(c, using("c"), bind=True)
    assert status.message == text


@pytest.mark.parametrize(
    ("conditions", "timestamp", "text"),
    [
        pytest.param(
            [("broken", "True")], None, 'device binding failed: claim=c, reason=Why, message="m \\"q\\""', id="gave up"
        ),
        pytest.param([], LONG_AGO, "device binding timeout: claim=c", id="took too long"),
    ],
)
def test_binding_to_devices_that_will_never_be_ready_is_a_fault(conditions, timestamp, text):
    c = cluster(node("a"), allocated(claim(), **READY))
    c.add_pod(using("c"))
    scheduler = Scheduler(c)
    outcome = scheduler.attempt(c.pending["default/web"])
    scheduler.place(outcome)
    c.put(allocated(claim(), conditions=conditions, timestamp=timestamp, **READY))
    assert scheduler.bind(outcome).message == f'running PreBind plugin "DynamicResources": {text}'


# -- making room ----------------------------------------------------------------------------------


def out_of_reach(name, **more):
    return allocated(claim(name), on="gone", **more)


@pytest.mark.parametrize(
    ("claims", "deallocated"),
    [
        pytest.param([out_of_reach("c")], "c", id="one that nobody uses"),
        pytest.param([out_of_reach("c", users=["web"])], "c", id="one that only the pod uses"),
        pytest.param([out_of_reach("c", users=["other"])], None, id="not one that another pod uses"),
        pytest.param([out_of_reach("c", users=["web", "other"])], None, id="not one that another pod uses, too"),
        pytest.param([allocated(claim("c")), out_of_reach("d")], "d", id="not one that was available"),
        pytest.param([out_of_reach("c"), out_of_reach("d")], "c", id="of several the first of the pod"),
    ],
)
def test_an_idle_claim_out_of_reach_is_deallocated_when_no_node_will_do(claims, deallocated):
    c = cluster(node("a"), *claims)
    outcome = attempt(c, using(*(each.metadata.name for each in claims)))
    helpless = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    done = ("deallocation of ResourceClaim completed",) if deallocated else ()
    assert outcome.post_filter.status.reasons == (*done, helpless)
    assert [each.metadata.name for each in outcome.post_filter.objects] == ([deallocated] if deallocated else [])
    if deallocated:
        Scheduler(c).make_room(outcome)
        status = c.get(ResourceClaim, f"default/{deallocated}").status
        assert (status.allocation, status.reserved_for, status.devices) == (None, None, None)


def test_a_claim_is_not_deallocated_for_nodes_that_others_refuse():
    c = cluster(node("a", cpu="1"), out_of_reach("c"))
    assert not attempt(c, using("c", cpu="2")).post_filter.objects


def test_evictions_free_no_devices():
    holder = pod("low", on="a", resourceClaims=[{"name": "d", "resourceClaimName": "held"}])
    c = cluster(node("a"), devices("a"), device_class(), allocated(claim("held"), users=["low"]), claim(), holder)
    outcome = attempt(c, using("c", priority=1000))
    assert outcome.post_filter.victims == ()


# -- scores ---------------------------------------------------------------------------------------


def raw_scores(outcome):
    (scores,) = (each for each in outcome.scoring.plugins if each.plugin == "DynamicResources")
    return dict(
        zip(outcome.scoring.nodes.names, zip(scores.raw.tolist(), scores.normalized.tolist(), strict=True), strict=True)
    )


def test_a_node_scores_by_the_alternative_it_would_allocate():
    c = cluster(*(node(name) for name in "abc"), devices("a"), devices("b", 2), devices("c", 3), device_class())
    c.put(claim("c", first_of(3, 2, 1)))
    assert raw_scores(attempt(c, using("c"))) == {"a": (6, 75), "b": (7, 87), "c": (8, 100)}


def test_every_request_with_alternatives_counts_and_so_do_claims_that_have_their_devices():
    has = allocated(claim("has", first_of(2, 1)), "a/dev-3", request="r/a1")
    c = cluster(node("a"), devices("a", 4), device_class(), has, claim("c", first_of(2, 1), first_of(1, name="s")))
    assert raw_scores(attempt(c, using("c", "has"))) == {"a": (8 + 8 + 7, 100)}


def test_without_a_claim_to_be_allocated_nothing_is_scored():
    c = cluster(node("a"), allocated(claim("has", first_of(2, 1)), request="r/a1"))
    assert raw_scores(attempt(c, using("has"))) == {"a": (0, 0)}


def test_exact_requests_score_nothing():
    c = cluster(node("a"), devices("a"), device_class(), claim())
    assert raw_scores(attempt(c, using("c"))) == {"a": (0, 0)}


# -- reuse ----------------------------------------------------------------------------------------


def plugin_over(c):
    return Scheduler(c).profiles["default-scheduler"].plugins["DynamicResources"]


def test_pods_with_equal_unallocated_claims_have_one_signature():
    has, odd = allocated(claim("has")), claim("odd", {"name": "r"})
    claims = claim("one"), claim("other"), claim("more", exactly(2)), has, odd
    c = cluster(node("a"), devices("a", 3), device_class(), *claims)
    plugin = plugin_over(c)
    assert plugin.signature(using("one")) == plugin.signature(using("other", name="x"))
    assert plugin.signature(using("one")) not in (None, plugin.signature(pod()))
    assert plugin.signature(using("one")) != plugin.signature(using("more"))
    assert plugin.signature(using("one")) != plugin.signature(using("one", "other"))
    for other in ("has", "odd", "missing"):
        assert plugin.signature(using("one", other)) is None


def test_pods_with_extended_resources_that_are_devices_have_no_signature():
    c = cluster(node("a"), device_class(extended=CARD))
    plugin = plugin_over(c)
    assert plugin.signature(pod(requests={CARD: "1"})) is None
    assert plugin.signature(pod(requests={"example.com/disk": "1"})) is not None
    assert plugin.signature(pod(requests={CARD: "0"})) is not None


@pytest.mark.parametrize(
    ("happens", "affected"),
    [
        pytest.param(lambda c: c.put(device_class()), set(), id="a class"),
        pytest.param(lambda c: c.put(claim()), set(), id="a claim"),
        pytest.param(lambda c: c.put(Namespace(metadata=ObjectMeta(name="x"))), set(), id="else"),
        pytest.param(lambda c: c.assume(pod("x"), "a"), set(), id="a pod"),
    ],
)
def test_which_changes_affect_a_pod_that_needs_no_devices(happens, affected):
    c = cluster(node("a"), node("b"))
    assert nodes_affected(plugin_over(c), pod(cpu="1"), c, happens) == affected


@pytest.mark.parametrize(
    ("happens", "affected"),
    [
        pytest.param(lambda c: c.put(device_class()), None, id="a class"),
        pytest.param(lambda c: c.put(claim("more")), set(), id="a claim that holds nothing"),
        pytest.param(lambda c: c.assume(pod("x"), "a"), set(), id="a pod"),
    ],
)
def test_which_changes_affect_a_pod_with_a_claim(happens, affected):
    c = cluster(node("a"), node("b"), devices("a"), devices("b"), device_class(), claim())
    assert nodes_affected(plugin_over(c), using("c"), c, happens) == affected


def test_a_device_that_is_taken_affects_the_node_that_sees_it():
    c = cluster(node("a"), node("b"), devices("a"), devices("b"), device_class(), claim(), claim("other"))
    scheduler = Scheduler(c)
    outcome = scheduler.attempt(using("other", name="x"))

    def place(_):
        assert scheduler.place(outcome, "b").status.successful

    assert nodes_affected(plugin_over(c), using("c"), c, place) == {"b"}


def test_one_search_serves_columns_in_any_order_and_with_repetitions():
    c = cluster(node("a"), node("b"), node("c"), devices("b"), device_class(), claim())
    outcome = attempt(c, using("c"))
    plugin = plugin_over(c)
    verdicts = plugin.filter(outcome.cycle, c.nodes.take([2, 1, 1, 0]))
    assert verdicts.mask.tolist() == [True, False, False, True]
    assert np.flatnonzero([verdicts.findings.at(i) is not None for i in range(4)]).tolist() == [1, 2]


# -- pods that need no devices --------------------------------------------------------------------


def test_a_pod_without_claims_skips_and_scores_nothing():
    c = cluster(node("a"), node("b"), device_class(extended=CARD))
    outcome = attempt(c, pod(requests={"deviceclass.resource.kubernetes.io/other": "0"}))
    assert "DynamicResources" in outcome.cycle.skip_filter
    assert raw_scores(outcome) == {"a": (0, 0), "b": (0, 0)}


def test_an_implicit_resource_name_without_a_class_is_ignored():
    c = cluster(node("a", **{"deviceclass.resource.kubernetes.io/other": "1"}), device_class())
    outcome = attempt(c, pod(requests={"deviceclass.resource.kubernetes.io/other": "1"}))
    assert "DynamicResources" in outcome.cycle.skip_filter
    assert outcome.chosen == "a"


def test_without_prefilter_everything_fails_as_upstream_does():
    c = cluster(node("a"))
    plugin, cycle = plugin_over(c), Cycle(pod())
    verdicts = plugin.filter(cycle, c.nodes)
    assert (verdicts.status(0).code, verdicts.status(0).message) == (Code.ERROR, "not found")
    assert plugin.post_filter(cycle, c.nodes, np.zeros(1, np.int8)).status == error("not found")
    assert plugin.reserve(cycle, "a") == plugin.pre_bind(cycle, "a") == error("not found")
    plugin.unreserve(cycle, "a")
    with pytest.raises(PluginError, match="not found"):
        plugin.score(cycle, c.nodes)


def test_preemption_is_not_tried_when_an_earlier_prefilter_refused():
    c = cluster(node("a"), claim())
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchFields": [
                        {"key": "metadata.name", "operator": "In", "values": ["a"]},
                        {"key": "metadata.name", "operator": "In", "values": ["b"]},
                    ]
                }
            ]
        }
    }
    outcome = attempt(c, using("c", affinity={"nodeAffinity": affinity}))
    assert outcome.post_filter.status == Status(Code.ERROR, ("not found",), "DynamicResources")
