"""Devices that take some of their node's own resources (DRANodeAllocatableResources): CPU, memory, huge pages."""

from __future__ import annotations

from collections.abc import Callable

from families.cases import PREEMPT_ALL, ZONE, Case, Manifest
from families.devices import (
    allocate,
    device,
    device_claim,
    device_class,
    device_slice,
    driver,
    every,
    exactly,
    hold,
    only_on,
    use_claims,
)
from families.evictions import started

_SHARES = "cores"


def devices_charging(c: Case) -> None:
    """Devices that stand for a node's CPU or memory, or cost some: claims new, allocated and held by others."""
    c.cluster(2, 5, small=True, hugepages=c.p(0.4), ephemeral=True)
    c.config = PREEMPT_ALL
    c.simulate = c.p(0.4)
    d = driver(c, "charging")
    for n in c.nodes:
        _slices(c, d, n["metadata"]["name"])
    if c.p(0.3):
        where: Manifest = {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [_in_zone(c)]}]}}
        where = c.pick([where, {"allNodes": True}])
        device_slice(c, d, "far", "charging-far", devices=[_device(c, f"far-{i}") for i in range(3)], **where)
    elif c.p(0.3):
        each = [_device(c, f"far-{i}") | {"nodeName": c.pick(c.nodes)["metadata"]["name"]} for i in range(3)]
        device_slice(c, d, "far", "charging-far", devices=each, perDeviceNodeSelection=True)
    _running(c, d)
    _pending(c, d)


def _in_zone(c: Case) -> Manifest:
    return {"key": ZONE, "operator": "In", "values": c.some(["zone-0", "zone-1", "zone-2"], 1, 2)}


def _slices(c: Case, d: str, node: str) -> None:
    """The devices of one node, now and then in two slices of one pool."""
    devices = [_device(c, f"dev-{i}") for i in range(c.r.randint(1, 4))]
    split = c.p(0.2) and len(devices) > 1
    device_slice(c, d, node, f"charging-{node}-a", count=1 + split, nodeName=node, devices=devices[split:])
    if split:
        device_slice(c, d, node, f"charging-{node}-b", count=2, nodeName=node, devices=devices[:1])


def _amounts(c: Case) -> dict[str, Callable[[], str]]:
    return {
        "cpu": lambda: c.pick(["100m", "0.25", "500m", "1", "1500m", "0.0005"]),
        "memory": lambda: c.pick(["64Mi", "256Mi", "1Gi", "100M", "1500Mi"]),
        "ephemeral-storage": lambda: c.pick(["100Mi", "1Gi", "8G"]),
        "hugepages-2Mi": lambda: c.pick(["2Mi", "32Mi", "64Mi"]),
    }


def _device(c: Case, name: str) -> Manifest:
    """A device that stands for some resources, costs some, both, or neither."""
    amounts = _amounts(c)
    kinds = ["cpu", "cpu", "memory", "memory", "ephemeral-storage", "hugepages-2Mi"]
    made = device(c, name)
    charged: dict[str, Manifest] = {}
    shared = c.p(0.4)
    if shared:
        made |= {
            "allowMultipleAllocations": c.p(0.85),
            "capacity": {_SHARES: {"value": c.pick(["4", "8"]), "requestPolicy": {"default": "1"}}},
        }
    for resource in c.some(kinds, 0, 2):
        entry: Manifest = {}
        if c.p(0.6):
            if shared and c.p(0.8):
                multiplier = "250m" if resource == "cpu" else "64Mi"
                entry["mapping"] = {
                    "capacityKey": _SHARES if c.p(0.9) else "other",
                    "capacityMultiplier": c.pick(["1", multiplier, multiplier, "1.5"]),
                }
            else:
                entry["mapping"] = {"deviceMultiplier": amounts[resource]()}
        if not entry or c.p(0.4):
            entry["overhead"] = {
                key: amounts[resource]() for key in c.some(["perPod", "perContainer"], 0 if c.p(0.1) else 1)
            }
        charged[resource] = entry
    if charged:
        made["nodeAllocatableResources"] = charged
    return made


def _running(c: Case, d: str) -> None:
    """Pods of several priorities, some with a status that says what their claims take of the node."""
    amounts = _amounts(c)
    for node in c.nodes:
        for _ in range(c.r.randint(0, 3)):
            pod = started(c, c.existing_one(prio=0.8))
            pod["spec"]["nodeName"] = node["metadata"]["name"]
            if c.p(0.5):
                pod["status"]["nodeAllocatableResourceClaimStatuses"] = [
                    {
                        "resourceClaimName": f"claim-{i}",
                        "containers": ["c"] * c.pick([0, 1, 1, 2]),
                        **({"mapping": [{"name": "cpu", "quantity": amounts["cpu"]()}]} if c.p(0.6) else {}),
                        **(
                            {"overhead": [{"name": "memory", c.pick(["perPod", "perContainer"]): amounts["memory"]()}]}
                            if c.p(0.6)
                            else {}
                        ),
                    }
                    for i in range(c.pick([1, 1, 2]))
                ]
            if c.p(0.3):
                pod["status"]["containerStatuses"] = [
                    {
                        "name": "c",
                        "ready": True,
                        "restartCount": 0,
                        "image": "x",
                        "imageID": "x",
                        "allocatedResources": {"cpu": c.cpu(50, 1500)},
                        **({"resources": {"requests": {"cpu": c.cpu(50, 1500)}}} if c.p(0.6) else {}),
                    }
                ]
        if c.p(0.3):
            name = node["metadata"]["name"]
            hold(c, f"held-charging-{name}", name, d, name, "dev-0")


def _pending(c: Case, d: str) -> None:
    """Pods that ask for such devices, or share a claim that has them."""
    taken = c.pick(c.nodes)["metadata"]["name"]
    for i in range(3):
        names = []
        for j in range(c.r.randint(1, 2)):
            more = {"capacity": {"requests": {_SHARES: c.pick(["1", "2", "3"])}}} if c.p(0.3) else {}
            wanted = every("charging", **more) if c.p(0.1) else exactly("charging", count=c.r.randint(1, 2), **more)
            claim = device_claim(c, f"want-{i}-{j}", [wanted])
            names.append(claim["metadata"]["name"])
            if c.p(0.25):
                consumed = {"consumedCapacity": {_SHARES: "2"}} if c.p(0.6) else {}
                known = c.pick(["dev-0", "dev-0", "dev-1", "dev-9"])
                result = {"request": "r0", "driver": d, "pool": taken, "device": known, **consumed}
                users = c.pick([(), (), (f"new-{i}",), ("another",), (f"new-{i}", "another")])
                allocate(claim, c.pick([only_on(taken), only_on(taken), None]), result, users=users)
        pod = use_claims(c, f"new-{i}", names if c.p(0.9) else [names[0], names[0]])
        _containers(c, pod, len(names))
        if c.p(0.4):
            pod["spec"]["priority"] = c.pick([50, 1000])
    if c.p(0.3):
        _extended(c)


def _containers(c: Case, pod: Manifest, claims: int) -> None:
    """Containers that name the claims or do not, and resources of the pod as a whole."""
    spec = pod["spec"]
    spec["containers"] = [c.container(f"c{i}", requests=c.p(0.8), limits=c.p(0.3)) for i in range(c.r.randint(1, 2))]
    if c.p(0.3):
        spec["initContainers"] = [c.container("i0", hugepages=0.1) | ({"restartPolicy": "Always"} if c.p(0.5) else {})]
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        used = [{"name": f"d{c.r.randrange(claims)}"} for _ in range(c.pick([0, 1, 1, 2]))]
        if used:
            container.setdefault("resources", {})["claims"] = used
    if c.p(0.35):
        amounts = {"cpu": c.cpu(300, 2500), "memory": c.mem(200, 2500)}
        huge = {"hugepages-2Mi": c.pick(["4Mi", "64Mi"])} if c.p(0.3) else {}
        one = c.pick(list(amounts))
        spec["resources"] = c.pick(
            [
                {"requests": amounts},
                {"requests": {one: amounts[one]}},
                {"requests": amounts | huge, "limits": amounts | huge},
                {"limits": amounts | huge},
            ]
        )
    if c.p(0.2):
        spec["overhead"] = {"cpu": "100m"}


def _extended(c: Case) -> None:
    """A pod that gets such a device for an extended resource."""
    device_class(
        c, "backing", 'device.driver == "charging.example.com"', extendedResourceName="charging.example.com/dev"
    )
    pod = c.pod("new-extended", ns="default")
    amount = {"charging.example.com/dev": c.pick(["1", "2"])}
    pod["spec"]["containers"][0]["resources"] = {"requests": amount | {"cpu": c.cpu(50, 1500)}, "limits": dict(amount)}


CHARGE_FAMILIES: dict[str, Callable[[Case], None]] = {"devices_charging": devices_charging}
"""Those about what devices take of a node."""
