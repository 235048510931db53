"""Dynamic resource allocation beyond whole devices on one node, one concern at a time or up to three together.

A concern publishes its devices on the nodes of a case, and returns a function that draws what a claim wants of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from families.cases import ZONE, Case, Manifest
from families.devices import (
    RESOURCE,
    allocate,
    device,
    device_claim,
    device_slice,
    driver,
    every,
    exactly,
    hold,
    only_on,
    use_claims,
)

Wanted: TypeAlias = tuple[list[Manifest], list[Manifest]]
"""The requests of a claim, and the constraints between them."""
Want: TypeAlias = Callable[[], Wanted]


def tainted(c: Case) -> Want:
    """Taints on devices, by the driver or by a DeviceTaintRule, and requests that tolerate some."""
    d = driver(c, "tainted")

    def taint() -> Manifest:
        return {
            "key": c.pick(["broken", "old"]),
            "effect": c.pick(["NoSchedule", "NoExecute", "None"]),
            **({"value": c.pick(["y", "n"])} if c.p(0.6) else {}),
        }

    for n in (n["metadata"]["name"] for n in c.nodes):
        device_slice(
            c,
            d,
            n,
            f"tainted-{n}",
            nodeName=n,
            devices=[
                device(c, f"dev-{i}", **({"taints": [taint() for _ in range(c.r.randint(1, 2))]} if c.p(0.6) else {}))
                for i in range(c.r.randint(1, 3))
            ],
        )
    for i in range(c.r.randint(0, 2)):
        where = {
            k: v
            for k, v in (
                ("driver", d),
                ("pool", c.pick(c.nodes)["metadata"]["name"]),
                ("device", c.pick(["dev-0", "dev-1"])),
            )
            if c.p(0.6)
        }
        c.add(
            {
                "apiVersion": RESOURCE,
                "kind": "DeviceTaintRule",
                "metadata": {"name": f"rule-{i}"},
                "spec": {"taint": taint(), **({"deviceSelector": where} if c.p(0.85) else {})},
            }
        )

    def want() -> Wanted:
        tolerations = []
        for _ in range(c.r.randint(0, 2)):
            t = (
                {"operator": "Exists"}
                if c.p(0.5)
                else {"operator": "Equal", "value": c.pick(["y", "n"]), "key": c.pick(["broken", "old"])}
            )
            if c.p(0.6):
                t["key"] = c.pick(["broken", "old"])
            if c.p(0.5):
                t["effect"] = c.pick(["NoSchedule", "NoExecute"])
            tolerations.append(t)
        return [
            exactly("tainted", count=c.r.randint(1, 2), **({"tolerations": tolerations} if tolerations else {}))
        ], []

    return want


def partitioned(c: Case) -> Want:
    """Devices cut from one card: they share counters, so taking one rules out others."""
    d = driver(c, "partitioned")
    for n in (n["metadata"]["name"] for n in c.nodes):
        broken, elsewhere = c.p(0.06), c.p(0.3)
        device_slice(
            c,
            d,
            n,
            f"partitioned-{n}-counters",
            count=2,
            **({"nodeName": n} if not elsewhere else {"nodeSelector": only_on(n)}),
            sharedCounters=[
                {"name": "card", "counters": {"memory": {"value": c.pick(["40Gi", "80Gi"])}, "engines": {"value": "7"}}}
            ],
        )
        parts = []
        for size, engines, copies in (("40Gi", 4, 2), ("20Gi", 2, 3), ("5Gi", 1, 4)):
            for i in range(c.r.randint(0, copies)):
                counters = {"memory": {"value": size}, "engines": {"value": str(engines)}}
                if broken:
                    counters["nope"] = {"value": "1"}
                parts.append(
                    device(
                        c,
                        f"part-{size.lower()}-{i}",
                        capacity={"memory": {"value": size}},
                        consumesCounters=[{"counterSet": "card", "counters": counters}],
                    )
                )
        if elsewhere:
            device_slice(
                c,
                d,
                n,
                f"partitioned-{n}",
                count=2,
                perDeviceNodeSelection=True,
                devices=[p | {"nodeName": n} for p in parts],
            )
        else:
            device_slice(c, d, n, f"partitioned-{n}", count=2, nodeName=n, devices=parts)
        if parts and c.p(0.5):
            hold(c, f"held-partitioned-{n}", n, d, n, c.pick(parts)["name"])
    if c.p(0.4):  # one card that two nodes can reach; its counters are published on the first
        first, second = (n["metadata"]["name"] for n in c.nodes[:2])
        device_slice(
            c,
            d,
            "both",
            "partitioned-both-counters",
            count=3,
            nodeName=first,
            sharedCounters=[{"name": "card", "counters": {"memory": {"value": "40Gi"}}}],
        )
        for n in (first, second):
            device_slice(
                c,
                d,
                "both",
                f"partitioned-both-{n}",
                count=3,
                nodeName=n,
                devices=[
                    device(
                        c,
                        f"{n}-{size.lower()}",
                        capacity={"memory": {"value": size}},
                        consumesCounters=[{"counterSet": "card", "counters": {"memory": {"value": size}}}],
                    )
                    for size in ("20Gi", "40Gi")
                ],
            )
        if c.p(0.5):
            hold(c, "held-partitioned-both", first, d, "both", f"{first}-20gi")

    def want() -> Wanted:
        least = c.pick(["5Gi", "20Gi", "40Gi"])
        e = f'device.capacity["{d}"].memory.compareTo(quantity("{least}")) >= 0'
        return [exactly("partitioned", count=c.r.randint(1, 3), selectors=[{"cel": {"expression": e}}])], []

    return want


def shared(c: Case) -> Want:
    """Devices that many claims may use at once, each taking part of their capacity."""
    d = driver(c, "shared")
    policy = c.pick(
        [
            None,
            {"default": "1Gi"},
            {"default": "1Gi", "validValues": ["1Gi", "4Gi", "8Gi"]},
            {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi", "max": "12Gi"}},
            {"default": "500m", "validRange": {"min": "500m", "step": "250m"}},
            {"default": "2Gi", "validRange": {"min": "2Gi"}},
        ]
    )
    for n in (n["metadata"]["name"] for n in c.nodes):
        devices = []
        for i in range(c.r.randint(1, 2)):
            memory = {"value": c.pick(["8Gi", "16Gi"]), **({"requestPolicy": policy} if policy else {})}
            devices.append(
                device(
                    c,
                    f"dev-{i}",
                    capacity={
                        "memory": memory,
                        **({"bandwidth": {"value": "10G", "requestPolicy": {"default": "1G"}}} if c.p(0.3) else {}),
                    },
                    **({"allowMultipleAllocations": True} if c.p(0.85) else {}),
                )
            )
            for j in range(c.r.randint(0, 2)):
                more = {
                    "shareID": f"00000000-0000-4000-8000-{n[-3:]}{i}{j:08d}",
                    "consumedCapacity": {"memory": c.pick(["1Gi", "4Gi", "8Gi"])},
                }
                if "allowMultipleAllocations" in devices[-1]:
                    hold(c, f"held-shared-{n}-{i}-{j}", n, d, n, f"dev-{i}", **more)
        device_slice(c, d, n, f"shared-{n}", nodeName=n, devices=devices)

    def want() -> Wanted:
        capacity = {"memory": c.pick(["1Gi", "1536Mi", "3Gi", "4Gi", "6Gi", "12Gi", "13Gi", "700m"])}
        if c.p(0.2):
            capacity[c.pick(["bandwidth", "nope"])] = "2G"
        more = {"capacity": {"requests": capacity}} if c.p(0.8) else {}
        if c.p(0.2):
            more["selectors"] = [{"cel": {"expression": "device.allowMultipleAllocations"}}]
        requests = [(every if c.p(0.15) else exactly)("shared", f"r{i}", **more) for i in range(c.r.randint(1, 2))]
        # distinctAttribute keeps two shares apart
        return requests, [{"distinctAttribute": f"{d}/numa"}] if c.p(0.25) else []

    return want


def administered(c: Case) -> Want:
    """Admin access sees devices that are in use, and takes none away."""
    d = driver(c, "administered")
    for n in (n["metadata"]["name"] for n in c.nodes):
        names = [f"dev-{i}" for i in range(c.r.randint(1, 2))]
        device_slice(c, d, n, f"administered-{n}", nodeName=n, devices=[device(c, x) for x in names])
        for x in names:
            if c.p(0.6):
                hold(c, f"held-administered-{n}-{x}", n, d, n, x, **({"adminAccess": True} if c.p(0.2) else {}))

    def want() -> Wanted:
        more = {"adminAccess": True} if c.p(0.5) else {}
        first = every("administered", **more) if c.p(0.3) else exactly("administered", count=c.r.randint(1, 2), **more)
        return [first] + ([exactly("administered", "r1", adminAccess=True)] if c.p(0.3) else []), []

    return want


def pooled(c: Case) -> Want:
    """Pools of several slices: outdated generations, slices still missing, names used twice."""
    d = driver(c, "pooled")
    for n in (n["metadata"]["name"] for n in c.nodes):
        k = c.r.random()
        two = c.p(0.5)
        device_slice(
            c,
            d,
            n,
            f"pooled-{n}-a",
            generation=2,
            count=2 if two or k < 0.15 else 1,
            nodeName=n,
            devices=[device(c, f"a{i}") for i in range(2)],
        )
        if two:
            device_slice(
                c,
                d,
                n,
                f"pooled-{n}-b",
                generation=2,
                count=2,
                nodeName=n,
                devices=[device(c, "a0" if k < 0.3 else "b0")],
            )
        if c.p(0.3):
            device_slice(
                c, d, n, f"pooled-{n}-old", generation=1, nodeName=n, devices=[device(c, f"old{i}") for i in range(4)]
            )
        if k > 0.7:
            hold(c, f"held-pooled-{n}", n, d, n, "a0")
        if k < 0.15 and not two:  # what is there of the pool gives way to a newer generation, on another node
            device_slice(c, d, n, f"pooled-{n}-moved", generation=3, nodeName="node-999", devices=[device(c, "m0")])
    if c.p(0.4):  # one pool over several nodes, one slice each
        some, missing = c.some(c.nodes, 2), c.p(0.2)
        for i, n in enumerate(n["metadata"]["name"] for n in some):
            device_slice(
                c,
                d,
                "spread",
                f"pooled-spread-{i}",
                count=len(some) + missing,
                nodeName=n,
                devices=[device(c, f"s{i}-{j}") for j in range(2)],
            )

    return lambda: ([every("pooled") if c.p(0.25) else exactly("pooled", count=c.pick([1, 1, 2, 3, 4]))], [])


def networked(c: Case) -> Want:
    """Devices that no single node owns: reachable from all nodes, from a zone, or each from its own set."""
    d = driver(c, "networked")
    zone = {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {"key": ZONE, "operator": "In", "values": c.some(["zone-0", "zone-1", "zone-2"], 1, 2)}
                ]
            }
        ]
    }
    if c.p(0.4):
        device_slice(
            c,
            d,
            "everywhere",
            "networked-everywhere",
            allNodes=True,
            devices=[device(c, f"any-{i}") for i in range(c.r.randint(1, 2))],
        )
    device_slice(
        c,
        d,
        "zonal",
        "networked-zonal",
        nodeSelector=zone,
        devices=[device(c, f"zonal-{i}") for i in range(c.r.randint(1, 3))],
    )
    if c.p(0.6):
        device_slice(
            c,
            d,
            "mixed",
            "networked-mixed",
            perDeviceNodeSelection=True,
            devices=[
                device(c, "here") | {"nodeName": c.pick(c.nodes)["metadata"]["name"]},
                device(c, "zone") | {"nodeSelector": zone},
            ]
            + ([device(c, "all") | {"allNodes": True}] if c.p(0.3) else []),
        )
    if c.p(0.5):
        claim = device_claim(c, "held-zonal", [exactly("networked")])
        allocate(
            claim, zone if c.p(0.7) else None, {"request": "r0", "driver": d, "pool": "zonal", "device": "zonal-0"}
        )

    def want() -> Wanted:
        if c.p(0.15):
            return [every("networked")], []
        return [exactly("networked", count=c.r.randint(1, 2))], []

    return want


def constrained(c: Case) -> Want:
    """Requests tied together by attributes, and alternatives that are tried in order."""
    d = driver(c, "constrained")
    for n in (n["metadata"]["name"] for n in c.nodes):
        devices = [device(c, f"dev-{i}") for i in range(c.r.randint(1, 4))]
        for x in devices:
            if c.p(0.2):
                x["attributes"].pop("numa")
            if c.p(0.2):
                x["attributes"]["numa"] = {"string": "0"}
            if c.p(0.5):
                x["attributes"]["resource.kubernetes.io/pcieRoot"] = {"string": c.pick(["pci0", "pci1"])}
            x["attributes"] |= {"nvlink": {"bool": c.p(0.5)}, "firmware": {"version": c.pick(["1.2.0", "1.10.0"])}}
        device_slice(c, d, n, f"constrained-{n}", nodeName=n, devices=devices)

    def select(model: str) -> list[Manifest]:
        return [{"cel": {"expression": f'device.attributes["{d}"].model == "{model}"'}}]

    def want() -> Wanted:
        requests = [
            exactly(
                "constrained", f"r{i}", count=c.r.randint(1, 2), **({"selectors": select("a100")} if c.p(0.25) else {})
            )
            for i in range(c.r.randint(1, 2))
        ]
        if c.p(0.3):
            requests.append(
                {
                    "name": "alt",
                    "firstAvailable": [
                        {
                            "name": "two",
                            "deviceClassName": "constrained",
                            "allocationMode": "ExactCount",
                            "count": 2,
                            "selectors": select("a100"),
                        },
                        {
                            "name": "all",
                            "deviceClassName": "constrained",
                            "allocationMode": "All",
                            "selectors": select("l4"),
                        },
                        {"name": "one", "deviceClassName": "constrained", "allocationMode": "ExactCount", "count": 1},
                    ][c.r.randrange(2) :],
                }
            )
        constraints = []
        for _ in range(c.r.randint(0, 2)):
            attributes = (
                ["resource.kubernetes.io/pcieRoot", f"{d}/nope"]
                if c.p(0.25)
                else [f"{d}/{a}" for a in ("numa", "model", "nvlink", "firmware")]
            )
            k = {c.pick(["matchAttribute", "distinctAttribute"]): c.pick(attributes)}
            if c.p(0.5):
                k["requests"] = c.some(
                    [r["name"] for r in requests] + (["alt/one"] if requests[-1]["name"] == "alt" else []), 1, 2
                )
            constraints.append(k)
        return requests, constraints

    return want


DEVICE_CONCERNS = [tainted, partitioned, shared, administered, pooled, networked, constrained]


def devices_advanced(c: Case) -> None:
    """The concerns above, one to three at a time."""
    c.cluster(2, 5)
    wants = [concern(c) for concern in c.some(DEVICE_CONCERNS, 1, 3)]
    for i in range(3):
        claims = []
        for j, want in enumerate(c.some(wants, 1, 2)):
            requests, constraints = want()
            device_claim(c, f"want-{i}-{j}", requests, constraints=constraints)
            claims.append(f"want-{i}-{j}")
        use_claims(c, f"new-{i}", claims)
