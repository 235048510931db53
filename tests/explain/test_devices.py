"""Devices: which request of which claim fails, how near a device came, and the next steps that were tried."""

import msgspec
import pytest

from schedctl.api.devices import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from schedctl.api.meta import OwnerReference
from schedctl.explain.pod_remedies import add_node
from schedctl.testing.builders import cluster, node, pod

DRIVER = "gpu.example.com"
ROOT = "resource.kubernetes.io/pcieRoot"
SMALL = f"device.capacity['{DRIVER}'].memory.compareTo(quantity('40Gi')) >= 0"
LONG = (
    f"device.driver == '{DRIVER}'\n  && device.attributes['{DRIVER}'].model.startsWith('large')  // and fast\n  && true"
)
MODEL = f"device.attributes['{DRIVER}'].model == 'large'"


def device(name, *, model="small", memory="20Gi", root="0", taint=None, counters=None):
    taints = [{"key": taint, "value": "x", "effect": "NoSchedule"}] if taint else None
    eats = [{"counterSet": "set", "counters": {"slots": {"value": counters}}}] if counters else None
    attributes = {"model": {"string": model}, ROOT: {"string": root}}
    capacity = {"memory": {"value": memory}}
    return {
        "name": name, "attributes": attributes, "capacity": capacity, "taints": taints, "consumesCounters": eats
    }  # fmt: skip


def devices(on, *offered, part=0, parts=1, counters=None):
    shared = [{"name": "set", "counters": {"slots": {"value": counters}}}] if counters else None
    pool = {"name": on, "generation": 1, "resourceSliceCount": parts}
    spec = {"driver": DRIVER, "nodeName": on, "pool": pool, "devices": list(offered) or None, "sharedCounters": shared}
    return msgspec.convert({"metadata": {"name": f"{on}-{part}"}, "spec": spec}, ResourceSlice)


def device_class(name="gpu", *expressions, extended=None):
    selectors = [{"cel": {"expression": each}} for each in expressions] or None
    made = {"metadata": {"name": name}, "spec": {"selectors": selectors, "extendedResourceName": extended}}
    return msgspec.convert(made, DeviceClass)


def request(name="gpu", count=1, *selectors, of="gpu", **capacity):
    selected = [{"cel": {"expression": each}} for each in selectors] or None
    exactly = {"deviceClassName": of, "allocationMode": "ExactCount", "count": count, "selectors": selected}
    return {"name": name, "exactly": exactly | ({"capacity": {"requests": capacity}} if capacity else {})}


def claim(name="one", *requests, match=None, holds=None, users=()):
    """A claim; `holds` is the ``node/device`` it was given, `users` are the pods it is reserved for."""
    constraints = [{"matchAttribute": match}] if match else None
    status = {}
    if holds:
        pool, held = holds.split("/")
        terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pool]}]}]
        status["allocation"] = {
            "devices": {"results": [{"request": "gpu", "driver": DRIVER, "pool": pool, "device": held}]},
            "nodeSelector": {"nodeSelectorTerms": terms},
        }
        status["reservedFor"] = [{"resource": "pods", "name": user, "uid": f"uid-{user}"} for user in users]
    made = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"devices": {"requests": list(requests) or [request()], "constraints": constraints}},
        "status": status,
    }
    return msgspec.convert(made, ResourceClaim)


def using(*claims, name="web", **spec):
    references = [{"name": f"r{i}", "resourceClaimName": each} for i, each in enumerate(claims)]
    return pod(name, resourceClaims=references, metadata={"uid": f"uid-{name}"}, **spec)


def template(name):
    spec = {"spec": {"devices": {"requests": [request()]}}}
    return msgspec.convert({"metadata": {"name": name, "namespace": "default"}, "spec": spec}, ResourceClaimTemplate)


def made_for_web(generated):
    owner = OwnerReference(api_version="v1", kind="Pod", name="web", uid="uid-web", controller=True)
    metadata = msgspec.structs.replace(generated.metadata, owner_references=[owner])
    return msgspec.structs.replace(generated, metadata=metadata)


def from_template(name, made=""):
    """A pod whose claim comes from a template, and is `made` already if it has a name."""
    statuses = [{"name": "r0", "resourceClaimName": made}] if made else None
    return pod(
        "web",
        resourceClaims=[{"name": "r0", "resourceClaimTemplateName": name}],
        metadata={"uid": "uid-web"},
        status={"resourceClaimStatuses": statuses},
    )


A, B, GPU = node("a"), node("b"), device_class()
HELD = claim("two", holds="a/dev-0")


def details(answer):
    """What stands below the reasons: summaries, then details."""
    summaries = [reason.summary for reason in answer.reasons if reason.summary]
    return summaries + [group.detail for reason in answer.reasons for group in reason.groups]


@pytest.mark.parametrize(
    ("objects", "subject", "texts"),
    [
        pytest.param(
            [A, GPU, claim()],
            using("one"),
            ["claim one, request gpu: 1 device of class gpu", "no device here"],
            id="a node without devices",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request("gpu", 1, SMALL, MODEL))],
            using("one"),
            ["claim one, request gpu: 1 device of class gpu", f"dev-0 does not match {SMALL}"],
            id="a selector that the only device does not match",
        ),
        pytest.param(
            [A, device_class("gpu", MODEL), devices("a", device("dev-0")), claim()],
            using("one"),
            ["claim one, request gpu: 1 device of class gpu", "dev-0 is not of class gpu"],
            id="a device of another class",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0"), device("dev-1", taint="broken")), HELD, claim()],
            using("one"),
            [
                "claim one, request gpu: 1 device of class gpu",
                "dev-1 has taint broken=x:NoSchedule (others: 1 allocated)",
            ],
            id="the nearest device first, the others by their first reason",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), HELD, claim()],
            using("one"),
            [
                "claim one, request gpu: 1 device of class gpu",
                "dev-0 is allocated to claim default/two, which no pod uses",
            ],
            id="who holds a device",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("two", holds="a/dev-0", users=["x"]), claim()],
            using("one"),
            [
                "claim one, request gpu: 1 device of class gpu",
                "dev-0 is allocated to claim default/two of pod default/x",
            ],
            id="whose claim holds a device",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0"), parts=2), claim()],
            using("one"),
            [
                "claim one, request gpu: 1 device of class gpu",
                f"pool {DRIVER}/a: 1 of 2 slices, so its devices are ignored",
            ],
            id="a pool that is incomplete, and nothing said of devices",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request("gpu", 1, LONG))],
            using("one"),
            ["claim one, request gpu: 1 device of class gpu", f"dev-0 does not match {' '.join(LONG.split())[:99]}…"],
            id="a long selector of several lines, on one line and without its end",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request("x"), request("y"))],
            using("one"),
            [
                "claim one, request y: 1 device of class gpu",
                "0 of 1 found, the other devices are for other requests",
            ],
            id="a device that another request takes",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request(), match=f"{DRIVER}/mdl")],
            using("one"),
            [
                "claim one, request gpu: 1 device of class gpu",
                f"dev-0 has no attribute {DRIVER}/mdl, which a constraint names",
            ],
            id="a constraint on an attribute that a device does not have",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request("gpu", memory="30Gi"))],
            using("one"),
            ["claim one, request gpu: 1 device of class gpu", "dev-0 has 20Gi memory, not 30Gi"],
            id="a device that is too small",
        ),
        pytest.param(
            [A, GPU, devices("a", counters="4", parts=2),
             devices("a", device("whole", counters="4"), device("half", counters="2"), part=1, parts=2),
             claim("two", holds="a/half"), claim()],
            using("one"),
            [
                "claim one, request gpu: 1 device of class gpu",
                "whole needs 4 of set/slots where 2 is left (others: 1 allocated)",
            ],
            id="a partition for which too little is left",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0", root="0"), device("dev-1", root="1")),
             claim("one", request("gpu", 2), match=ROOT)],
            using("one"),
            [
                "claim one, request gpu: 2 devices of class gpu",
                f"1 of 2 found, but dev-1 violates the constraint on {ROOT}",
            ],
            id="devices that have nothing in common",
        ),
        pytest.param(
            [A, B, GPU, claim(holds="a/dev-0")],
            using("one", nodeSelector={"kubernetes.io/hostname": "b"}),
            [
                "the devices of claim one are reachable only from metadata.name=a",
                "label kubernetes.io/hostname=b missing",
            ],
            id="a claim that is allocated elsewhere",
        ),
        pytest.param(
            [A, device_class(extended="example.com/gpu"), devices("a", device("dev-0"))],
            pod(requests={"example.com/gpu": "2"}),
            ["extended resources: 2 devices of class gpu", "only 1 device here, 2 requested"],
            id="an extended resource that a class stands behind",
        ),
    ],
)  # fmt: skip
def test_what_stands_behind_a_refusal_is_told(ask, objects, subject, texts):
    assert details(ask(cluster(*objects), subject)) == texts


@pytest.mark.parametrize(
    ("objects", "subject", "texts"),
    [
        pytest.param(
            [A, GPU, devices("a", device("dev-0", memory="80Gi")), claim("one", request("gpu", 1, SMALL, MODEL))],
            using("one"),
            [f"would fit on a if request gpu of claim one does not select on {MODEL}"],
            id="the one selector in the way is dropped, the others stay",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request("gpu", 1, SMALL, MODEL))],
            using("one"),
            [
                f"would fit on a if request gpu of claim one does not select on {SMALL}"
                f" and request gpu of claim one does not select on {MODEL}"
            ],
            id="two selectors in the way are dropped together",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request("gpu", 2))],
            using("one"),
            ["would fit on a if request gpu of claim one asks for 1 device (class gpu: 1 free for it, 2 requested)"],
            id="fewer devices",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0", taint="broken")), claim()],
            using("one"),
            ["would fit on a if request gpu of claim one tolerates broken=x:NoSchedule"],
            id="a taint of a device is tolerated",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request("gpu", memory="30Gi"))],
            using("one"),
            ["would fit on a if request gpu of claim one asks for 20Gi of memory"],
            id="less of a capacity",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0", root="0"), device("dev-1", root="1")),
             claim("one", request("gpu", 2), match=ROOT)],
            using("one"),
            [
                "would fit on a if request gpu of claim one asks for 1 device (class gpu: 1 free for it, 2 requested)",
                f"would fit on a if claim one has no constraint on {ROOT}",
            ],
            id="without the constraint",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("two", holds="a/dev-0", users=["x"]),
             using("two", name="x", on="a"), claim()],
            using("one"),
            [
                "would fit if another node like a is added",
                "would fit on a if claim default/two is no longer in use by pod default/x"
                " (class gpu: 0 free for it, 1 requested)",
            ],
            id="a claim that holds a device is given up",
        ),
        pytest.param(
            [A, B, GPU, devices("b", device("dev-0")), claim(holds="a/dev-1")],
            using("one", nodeSelector={"kubernetes.io/hostname": "b"}),
            [
                "would fit on a if its nodeSelector does not require kubernetes.io/hostname=b",
                "would fit on b if claim default/one is no longer in use",
            ],
            id="a claim that is allocated elsewhere is given up",
        ),
        pytest.param(
            [A, device_class("gpu", MODEL), device_class("any"), devices("a", device("dev-0")), claim()],
            using("one"),
            ["would fit on a if request gpu of claim one asks for class any"],
            id="another class",
        ),
        pytest.param(
            [A, device_class(extended="example.com/gpu"), devices("a", device("dev-0"))],
            pod(requests={"example.com/gpu": "2"}),
            ["would fit on a if example.com/gpu <= 1"],
            id="less of an extended resource",
        ),
        pytest.param(
            [A, device_class(extended="example.com/gpu"), devices("a", device("dev-0")),
             claim("two", holds="a/dev-0", users=["x"]), using("two", name="x", on="a")],
            pod(requests={"example.com/gpu": "1"}),
            [
                "would fit if another node like a is added",
                "would fit on a if claim default/two is no longer in use by pod default/x"
                " (class gpu: 0 free for it, 1 requested)",
            ],
            id="a claim that holds what is asked for as an extended resource",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0"), parts=2), claim()],
            using("one"),
            [
                f"would fit on a if the pools of driver {DRIVER} are complete"
                f" (`kubectl get resourceslices --field-selector spec.driver={DRIVER}`)"
            ],
            id="a pool of which slices are missing",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), template("h100")],
            from_template("h1000"),
            ['resource claim template "h1000" is not in namespace default (did you mean "h100"?);'
             " if fixed, the pod would be placed on a"],
            id="a misspelt claim template",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), template("h100")],
            from_template("h100"),
            ['the claim controller has not made claim "r0" from template h100 yet'
             " (`kubectl describe pod web -n default`); if fixed, the pod would be placed on a"],
            id="a claim that is not made from its template yet",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), made_for_web(claim("one", request(of="gpus")))],
            from_template("t", made="one"),
            ['device class "gpus" of resource claim template t is not in the cluster (did you mean "gpu"?);'
             " if fixed, the pod would be placed on a"],
            id="a misspelt device class of a claim from a template",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request("gpu", 1, MODEL.replace("large", "small")
             .replace("model", "modle")))],
            using("one"),
            [f'request gpu of claim one: no device has attribute {DRIVER}/modle, only model (did you mean "model"?);'
             " if fixed, the pod would be placed on a"],
            id="a misspelt attribute, on which the selector fails",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request("gpu", 1, MODEL.replace("large", "small")
             .replace("gpu.", "gpus.")))],
            using("one"),
            [f'request gpu of claim one: no device has attribute model of "gpus.example.com", only of {DRIVER},'
             f' resource.kubernetes.io (did you mean "{DRIVER}"?); if fixed, the pod would be placed on a'],
            id="a misspelt domain of an attribute",
        ),
        pytest.param(
            [A, device_class("gpu", f"device.attributes['{DRIVER}'].?modle.orValue('') == 'small'"),
             devices("a", device("dev-0")), claim()],
            using("one"),
            [f'device class gpu: no device has attribute {DRIVER}/modle, only model (did you mean "model"?);'
             " if fixed, the pod would be placed on a"],
            id="a misspelt attribute in a class",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0"), device("dev-1")),
             claim("one", request("gpu", 2), match=f"{DRIVER}/modle")],
            using("one"),
            [f"no device has attribute {DRIVER}/modle, which a constraint of claim one names"
             f' (did you mean "{DRIVER}/model"?); if fixed, the pod would be placed on a',
             f"would fit on a if claim one has no constraint on {DRIVER}/modle"],
            id="a misspelt attribute of a constraint",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0"), device("dev-1")),
             claim("one", request("gpu", 1, of="gpuu"), match=f"{DRIVER}/modle")],
            using("one"),
            ["with all of these fixed the pod would be placed on a"],
            id="two misspelt names, of which one is not enough",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("training")],
            using("trainning"),
            ['resource claim "trainning" is not in namespace default (did you mean "training"?);'
             " if fixed, the pod would be placed on a"],
            id="a misspelt resource claim, though the pod is not even queued",
        ),
        pytest.param(
            [A, GPU, devices("a", device("dev-0")), claim("one", request(of="gpus"))],
            using("one"),
            ['device class "gpus" of resource claim one is not in the cluster (did you mean "gpu"?);'
             " if fixed, the pod would be placed on a"],
            id="a misspelt device class",
        ),
    ],
)  # fmt: skip
def test_a_next_step_is_told_after_it_was_tried(ask, objects, subject, texts):
    hints = ask(cluster(*objects), subject).hints
    commands = [f" (`{hint.command}`)" if hint.command and not hint.patches else "" for hint in hints]
    assert [hint.text + command for hint, command in zip(hints, commands, strict=True) if hint.fits] == texts


def test_a_selector_that_does_not_compile_is_told_with_the_nodes_it_fails_on(ask):
    nodes = [node(name) for name in "abc"]
    slices = [devices(name, device("dev-0")) for name in "abc"]
    answer = ask(cluster(*nodes, *slices, GPU, claim("one", request("gpu", 1, "device."))), using("one"))
    assert answer.verdict == "Error"
    assert [hint.text for hint in answer.hints] == [
        "selector #0 of request gpu of claim one does not compile; the API server would refuse it"
    ]
    assert answer.notes[0].endswith("at the fault on a and tries the pod again later; it would fail on b, c too")


def test_a_claim_in_another_namespace_is_told(ask):
    other = msgspec.structs.replace(claim(), metadata=msgspec.structs.replace(claim().metadata, namespace="lab"))
    answer = ask(cluster(A, GPU, devices("a", device("dev-0")), other), using("one"))
    assert [hint.text for hint in answer.hints] == [
        'resource claim "one" is not in namespace default, but in lab',
    ]


def test_a_whole_selector_stays_in_the_evidence(ask):
    answer = ask(cluster(A, GPU, devices("a", device("dev-0")), claim("one", request("gpu", 1, LONG))), using("one"))
    (lack,) = answer.reasons[0].groups[0].evidence["scarcity"]["lacking"]
    assert lack["closest"]["refusals"][0]["subject"] == LONG


@pytest.mark.parametrize(
    ("objects", "subject", "takes"),
    [
        pytest.param(
            [claim("one", request("x"), request("y", 2))],
            using("one"),
            [("default/one", "x", "claim one, request x: dev-0 of gpu.example.com/a"),
             ("default/one", "y", "claim one, request y: dev-1, dev-2 of gpu.example.com/a")],
            id="for each request the devices it gets",
        ),
        pytest.param(
            [HELD],
            using("two"),
            [("default/two", "gpu", "claim two, request gpu: dev-0 of gpu.example.com/a (allocated before)")],
            id="devices that the claim has already",
        ),
        pytest.param(
            [device_class(extended="example.com/gpu")],
            pod(requests={"example.com/gpu": "1"}),
            [("", "container-0-request-0", "example.com/gpu of container main: dev-0 of gpu.example.com/a")],
            id="devices of an extended resource, for a container",
        ),
    ],
)  # fmt: skip
def test_a_pod_that_fits_is_told_its_devices(ask, objects, subject, takes):
    offered = devices("a", device("dev-0"), device("dev-1"), device("dev-2"))
    answer = ask(cluster(A, GPU, offered, *objects), subject)
    assert [(each.claim, each.request, each.text) for each in answer.takes] == takes


def test_a_share_of_a_device_is_told_with_what_it_consumes(ask):
    shareable = device("dev-0") | {"allowMultipleAllocations": True}
    answer = ask(cluster(A, GPU, devices("a", shareable), claim("one", request("gpu", memory="5Gi"))), using("one"))
    (taking,) = answer.takes
    assert taking.text == "claim one, request gpu: dev-0 (a share, 5Gi memory) of gpu.example.com/a"
    assert taking.names == ["gpu.example.com/a/dev-0"]


def test_nodes_whose_devices_fail_alike_are_told_together(ask):
    nodes = [node(f"n{i}") for i in range(4)]
    slices = [devices(each.metadata.name, device("dev-0")) for each in nodes]
    answer = ask(cluster(*nodes, *slices, GPU, claim("one", request("gpu", 1, MODEL))), using("one"))
    (reason,) = answer.reasons
    assert [group.nodes for group in reason.groups] == [["n0", "n1", "n2", "n3"]]


def test_an_empty_node_is_no_promise_where_claims_keep_their_devices(ask):
    answer = ask(cluster(A, GPU, devices("a", device("dev-0")), HELD, claim()), using("one"))
    assert answer.notes == ["the pod would fit on no node, even if it were empty; devices would stay with their claims"]


def test_trying_leaves_claims_and_pods_as_they_were(ask):
    holder = using("two", name="x", on="a")
    c = cluster(A, GPU, devices("a", device("dev-0")), claim("two", holds="a/dev-0", users=["x"]), holder, claim())
    before = dict(c.every(ResourceClaim))
    ask(c, using("one"))
    assert dict(c.every(ResourceClaim)) == before
    assert [info.key for info in c.pod_table] == ["default/x"]


def test_another_node_has_devices_like_those_of_the_one_it_is_like():
    c = cluster(A, devices("a", device("dev-0")))
    add_node("a").apply(using("one").pod, c)
    added = c.get(ResourceSlice, "another-a-0")
    assert (added.spec.node_name, added.spec.pool.name, added.spec.devices[0].name) == (
        "another-a",
        "another-a",
        "dev-0",
    )
