"""Families that lean on dynamic resource allocation, and the objects it takes: classes, slices, claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from families.cases import ZONE, Case, Manifest, config_of

GPU = "gpu.example.com"
RESOURCE = "resource.k8s.io/v1"


def device_class(c: Case, name: str, expression: str, **spec: Any) -> Manifest:
    """A DeviceClass of the devices a CEL expression accepts."""
    return c.add(
        {
            "apiVersion": RESOURCE,
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}], **spec},
        }
    )


def driver(c: Case, concern: str) -> str:
    """A driver and the class that selects its devices, both named by what they exercise."""
    device_class(c, concern, f'device.driver == "{concern}.example.com"')
    return f"{concern}.example.com"


def device_slice(
    c: Case, driver: str, pool: str, name: str, *, generation: int = 1, count: int = 1, **spec: Any
) -> Manifest:
    """A ResourceSlice, one of the `count` slices of its pool."""
    return c.add(
        {
            "apiVersion": RESOURCE,
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": {
                "driver": driver,
                "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
                **spec,
            },
        }
    )


def device(c: Case, name: str, **more: Any) -> Manifest:
    """A device with a model and a NUMA node."""
    return {
        "name": name,
        "attributes": {"model": {"string": c.pick(["a100", "l4"])}, "numa": {"int": c.r.randrange(2)}},
        **more,
    }


def exactly(cls: str, name: str = "r0", count: int = 1, **more: Any) -> Manifest:
    """A request for `count` devices of a class."""
    return {"name": name, "exactly": {"deviceClassName": cls, "allocationMode": "ExactCount", "count": count, **more}}


def every(cls: str, name: str = "r0", **more: Any) -> Manifest:
    """A request for all devices of a class that a node can see."""
    return {"name": name, "exactly": {"deviceClassName": cls, "allocationMode": "All", **more}}


def device_claim(
    c: Case, name: str, requests: list[Manifest], *, constraints: Iterable[Manifest] = (), **metadata: Any
) -> Manifest:
    """A ResourceClaim nobody has allocated yet."""
    devices = {"requests": requests, **({"constraints": list(constraints)} if constraints else {})}
    return c.add(
        {
            "apiVersion": RESOURCE,
            "kind": "ResourceClaim",
            "spec": {"devices": devices},
            "status": {},
            "metadata": {"name": name, "namespace": "default", "uid": f"uid-default/{name}", **metadata},
        }
    )


def only_on(node: str) -> Manifest:
    """The node selector of one node by name."""
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}


def allocate(claim: Manifest, selector: Manifest | None, *results: Manifest, users: Iterable[str] = ()) -> Manifest:
    """Marks a claim as allocated to these devices and reserved for these pods."""
    claim["status"]["allocation"] = {
        "devices": {"results": list(results)},
        **({"nodeSelector": selector} if selector else {}),
    }
    if users:
        claim["status"]["reservedFor"] = [{"resource": "pods", "name": u, "uid": f"uid-default/{u}"} for u in users]
    return claim


def hold(c: Case, name: str, node: str, driver: str, pool: str, device: str, **more: Any) -> Manifest:
    """A claim some running pod already holds: one device, gone from the free ones."""
    user = c.existing_one()
    user["metadata"]["namespace"] = "default"
    user["spec"] |= {"nodeName": node, "resourceClaims": [{"name": "d", "resourceClaimName": name}]}
    return allocate(
        device_claim(c, name, [exactly(driver.split(".")[0])]),
        only_on(node),
        {"request": "r0", "driver": driver, "pool": pool, "device": device, **more},
        users=[user["metadata"]["name"]],
    )


def use_claims(c: Case, name: str, claims: Iterable[str], **more: Any) -> Manifest:
    """A pending pod that uses these claims."""
    p = c.pod(
        name,
        ns="default",
        containers=[c.container(requests=c.p(0.5))],
        resourceClaims=[{"name": f"d{i}", "resourceClaimName": cl} for i, cl in enumerate(claims)],
    )
    p["spec"] |= more
    return p


def devices(c: Case) -> None:
    """Whole devices: slices, classes with CEL selectors, claims allocated and not, claims shared between pods."""
    c.cluster(2, 8)
    for cls, expr in (
        ("gpu", f'device.driver == "{GPU}"'),
        ("big-gpu", f'device.driver == "{GPU}" && device.capacity["{GPU}"].memory.compareTo(quantity("40Gi")) >= 0'),
    ):
        c.add(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "DeviceClass",
                "metadata": {"name": cls},
                "spec": {"selectors": [{"cel": {"expression": expr}}]},
            }
        )
    inventory = {}
    for n in c.nodes:
        if not c.p(0.75):
            continue
        name = n["metadata"]["name"]
        devs = [
            {
                "name": f"gpu-{i}",
                "attributes": {
                    "model": {"string": c.pick(["a100", "l4"])},
                    "index": {"int": i},
                    "nvlink": {"bool": c.p(0.5)},
                    "numa": {"int": i % 2},
                    "driverVersion": {"version": c.pick(["1.2.3", "2.0.0"])},
                },
                "capacity": {"memory": {"value": c.pick(["24Gi", "40Gi", "80Gi"])}},
            }
            for i in range(c.r.randint(1, 4))
        ]
        inventory[name] = [d["name"] for d in devs]
        c.add(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"slice-{name}"},
                "spec": {
                    "driver": GPU,
                    "nodeName": name,
                    "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                    "devices": devs,
                },
            }
        )

    def request(i: int) -> Manifest:
        e = {"deviceClassName": c.pick(["gpu", "gpu", "big-gpu"] + (["ghost-class"] if c.p(0.1) else []))}
        if c.p(0.2):
            e["allocationMode"] = "All"
        elif c.p(0.4):
            e |= {"allocationMode": "ExactCount", "count": c.r.randint(1, 3)}
        if c.p(0.5):
            e["selectors"] = [
                {
                    "cel": {
                        "expression": c.pick(
                            [
                                f'device.attributes["{GPU}"].model == "a100"',
                                f'device.attributes["{GPU}"].nvlink',
                                f'device.attributes["{GPU}"].index > 0',
                                f'device.attributes["{GPU}"].driverVersion.isGreaterThan(semver("1.5.0"))',
                                f'device.attributes["{GPU}"].model in ["l4", "t4"]',
                            ]
                        )
                    }
                }
            ]
        if c.p(0.2):
            return {
                "name": f"r{i}",
                "firstAvailable": [
                    {"name": "best", "deviceClassName": "big-gpu", "count": 2, "allocationMode": "ExactCount"},
                    {"name": "any", "deviceClassName": "gpu", "count": 1, "allocationMode": "ExactCount"},
                ],
            }
        return {"name": f"r{i}", "exactly": {"allocationMode": "ExactCount", "count": 1, **e}}

    def claim(name: str, allocated_on: str | None = None, users: Iterable[str] = ()) -> Manifest:
        reqs = [request(i) for i in range(c.r.randint(1, 2))]
        spec = {"devices": {"requests": reqs}}
        if c.p(0.2):
            spec["devices"]["constraints"] = [{"matchAttribute": f"{GPU}/{c.pick(['numa', 'model'])}"}]
        o = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "default", "uid": f"uid-default/{name}"},
            "spec": spec,
            "status": {},
        }
        if allocated_on:
            free = inventory[allocated_on]
            dev = free.pop()
            o["spec"]["devices"] = {
                "requests": [
                    {"name": "r0", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
                ]
            }
            o["status"] = {
                "allocation": {
                    "devices": {"results": [{"request": "r0", "driver": GPU, "pool": allocated_on, "device": dev}]},
                    "nodeSelector": {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [allocated_on]}]}
                        ]
                    },
                }
            }
            if users:
                o["status"]["reservedFor"] = [{"resource": "pods", "name": u, "uid": f"uid-default/{u}"} for u in users]
        return c.add(o)

    shared = []
    for i in range(c.r.randint(0, 4)):
        where = [n for n, d in inventory.items() if d]
        if not where:
            break
        node = c.pick(where)
        p = c.existing_one()
        p["metadata"]["namespace"] = "default"
        p["spec"]["nodeName"] = node
        claim(f"used-{i}", node, [p["metadata"]["name"]] if c.p(0.8) else [])
        p["spec"]["resourceClaims"] = [{"name": "d", "resourceClaimName": f"used-{i}"}]
        shared.append(f"used-{i}")
    for i, (name, _) in enumerate(c.pending(3)):
        use = []
        for j in range(c.r.randint(1, 2)):
            if shared and c.p(0.2):
                use.append({"name": f"d{j}", "resourceClaimName": c.pick(shared)})
            elif c.p(0.05):
                use.append({"name": f"d{j}", "resourceClaimName": "missing-claim"})
            else:
                claim(f"want-{i}-{j}")
                use.append({"name": f"d{j}", "resourceClaimName": f"want-{i}-{j}"})
        if len(use) == 2 and use[0]["resourceClaimName"] == use[1]["resourceClaimName"]:
            use.pop()
        c.pod(name, ns="default", resourceClaims=use)


def devices_claims(c: Case) -> None:
    """The life of a claim: from a template, allocated, reserved, waiting for conditions, being deleted, broken."""
    c.cluster(2, 6)
    d = driver(c, "plain")
    for n in (n["metadata"]["name"] for n in c.nodes):
        conditions = {"bindingConditions": ["example.com/ready"], "bindingFailureConditions": ["example.com/failed"]}
        device_slice(
            c,
            d,
            n,
            f"plain-{n}",
            nodeName=n,
            devices=[device(c, f"dev-{i}", **(conditions if c.p(0.3) else {})) for i in range(c.r.randint(1, 2))],
        )
    for i in range(4):
        name, node = f"claim-{i}", c.pick(c.nodes)["metadata"]["name"]
        result = {"request": "r0", "driver": d, "pool": node, "device": "dev-0"}
        k = c.pick(
            [
                "template",
                "template",
                "allocated",
                "allocated",
                "binding",
                "binding",
                "plain",
                "plain",
                "deleting",
                "cel",
                "big",
                "classless",
                "config",
            ]
        )
        pod = use_claims(c, f"new-{i}", [name])
        if k == "template":
            pod["spec"]["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "t"}]
            status = c.pick([name, name, name, name, None, "absent"])
            if status != "absent":
                pod["status"] = {
                    "phase": "Pending",
                    "resourceClaimStatuses": [{"name": "d", **({"resourceClaimName": status} if status else {})}],
                }
            owner = f"new-{i}" if c.p(0.8) else "somebody"
            device_claim(
                c,
                name,
                [exactly("plain")],
                ownerReferences=[
                    {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "name": owner,
                        "uid": f"uid-default/{owner}",
                        "controller": True,
                    }
                ],
            )
        elif k == "allocated":
            users = c.pick([(), (f"new-{i}",), ("other",), (f"new-{i}", "other")])
            selector = only_on(c.pick([node, node, "node-999"]))
            if c.p(0.3):
                selector = {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": ZONE, "operator": "In", "values": [c.pick(["zone-0", "zone-9"])]}
                            ]
                        }
                    ]
                }
            allocate(device_claim(c, name, [exactly("plain")]), selector, result, users=users)
        elif k == "binding":
            claim = device_claim(c, name, [exactly("plain")])
            allocate(
                claim,
                only_on(node),
                result
                | {"bindingConditions": ["example.com/ready"], "bindingFailureConditions": ["example.com/failed"]},
                users=c.pick([(), (f"new-{i}",)]),
            )
            if c.p(0.5):
                claim["status"]["allocation"]["allocationTimestamp"] = "2026-01-01T00:00:00Z"
            if c.p(0.7):
                conditions = [
                    {
                        "type": f"example.com/{t}",
                        "status": c.pick(["True", "False"]),
                        "reason": "R",
                        "message": "m",
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }
                    for t in c.some(["ready", "failed"], 1)
                ]
                claim["status"]["devices"] = [{"driver": d, "pool": node, "device": "dev-0", "conditions": conditions}]
        elif k == "deleting":
            device_claim(
                c,
                name,
                [exactly("plain")],
                deletionTimestamp="2026-01-01T00:00:00Z",
                finalizers=["resource.kubernetes.io/delete-protection"],
            )
        elif k == "cel":
            e = c.pick(
                [
                    f'device.attributes["{d}"].nope == "x"',
                    f'has(device.attributes["{d}"].nope)',
                    f'"{d}" in device.attributes && device.attributes["{d}"].numa == 0',
                    f'device.attributes["{d}"].model.startsWith("a")',
                    f'device.attributes["{d}"].?nope.orValue("a") == "a"',
                    f'cel.bind(x, device.attributes["{d}"], x.numa == 1 || x.model == "l4")',
                ]
            )
            device_claim(c, name, [exactly("plain", selectors=[{"cel": {"expression": e}}])])
        elif k == "big":
            many = c.pick(
                [
                    [exactly("plain", count=33)],
                    [exactly("plain", count=5)],
                    [exactly("plain", f"r{j}", count=20) for j in range(2)],
                    [
                        exactly("plain"),
                        {
                            "name": "alt",
                            "firstAvailable": [
                                {
                                    "name": f"n{n}",
                                    "deviceClassName": "plain",
                                    "allocationMode": "ExactCount",
                                    "count": n,
                                }
                                for n in (32, 1)
                            ],
                        },
                    ],
                ]
            )
            device_claim(c, name, many)
        elif k == "classless":
            device_claim(
                c,
                name,
                [
                    {
                        "name": "r0",
                        "firstAvailable": [
                            {"name": s, "deviceClassName": cls, "allocationMode": "ExactCount", "count": 1}
                            for s, cls in (("a", "plain"), ("b", c.pick(["ghost", "plain"])))
                        ],
                    }
                ],
            )
        elif k == "config":
            claim = device_claim(c, name, [exactly("plain")])
            claim["spec"]["devices"]["config"] = [
                {"requests": ["r0"], "opaque": {"driver": d, "parameters": {"apiVersion": "v1", "kind": "X"}}}
            ]
        else:
            device_claim(c, name, [exactly("plain")])
    if c.p(0.3):
        use_claims(c, "new-4", ["claim-0", "claim-1"])


def devices_extended(c: Case) -> None:
    """Extended resources that a DeviceClass backs with devices, beside nodes where a device plugin offers them."""
    c.cluster(2, 7)
    device_class(c, "card", f'device.driver == "{GPU}"', extendedResourceName="example.com/card")
    if c.p(0.3):
        device_class(
            c,
            "later",
            f'device.driver == "{GPU}" && device.attributes["{GPU}"].model == "a100"',
            extendedResourceName="example.com/card",
        )
        c.objects[-1]["metadata"]["creationTimestamp"] = "2026-01-02T00:00:00Z"
    if c.p(0.2):
        c.objects[-1]["spec"].pop("selectors")  # any device will do
    zone = {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["zone-0"]}]}]}
    if c.p(0.4):
        where = c.pick([{"allNodes": True}, {"nodeSelector": zone}, {"perDeviceNodeSelection": True}])
        device_slice(
            c,
            GPU,
            "network",
            "card-network",
            **where,
            devices=[
                device(
                    c,
                    f"net-{i}",
                    **(
                        c.pick([{"nodeSelector": zone}, {"allNodes": True}, {"nodeName": "node-000"}])
                        if "perDeviceNodeSelection" in where
                        else {}
                    ),
                )
                for i in range(c.r.randint(1, 2))
            ],
        )
    implicit = "deviceclass.resource.kubernetes.io/card"
    for n in c.nodes:
        name, k = n["metadata"]["name"], c.r.random()
        if k < 0.6:
            names = [f"dev-{i}" for i in range(c.r.randint(1, 4))]
            device_slice(c, GPU, name, f"card-{name}", nodeName=name, devices=[device(c, x) for x in names])
            if c.p(0.4):
                hold(c, f"held-{name}", name, GPU, name, names[0])
                c.objects[-1]["spec"]["devices"]["requests"] = [exactly("card")]
                c.objects[-1]["metadata"]["annotations"] = {"resource.kubernetes.io/extended-resource-claim": "true"}
            if c.p(0.15):
                n["status"]["allocatable"]["example.com/card"] = "0"
        elif k < 0.8:
            n["status"]["allocatable"]["example.com/card"] = c.pick(["1", "3"])
    for name, _ in c.pending(3):
        cs = []
        for i in range(c.r.randint(1, 2)):
            k = c.container(f"c{i}", requests=False)
            amount = {c.pick(["example.com/card", "example.com/card", implicit]): c.pick(["1", "1", "2", "0"])}
            if c.p(0.1):
                amount["example.com/unknown"] = c.pick(["0", "1"])
            k["resources"] = {"requests": {"cpu": "100m", **amount}, "limits": amount}
            cs.append(k)
        inits = (
            [
                {
                    "name": "i0",
                    "image": "registry.example/web:v1",
                    "resources": {"requests": {"example.com/card": "2"}, "limits": {"example.com/card": "2"}},
                    **({"restartPolicy": "Always"} if c.p(0.5) else {}),
                }
            ]
            if c.p(0.25)
            else []
        )
        pod = c.pod(name, ns="default", containers=cs, **({"initContainers": inits} if inits else {}))
        if c.p(0.15):
            device_claim(c, f"own-{name}", [exactly("card")])
            pod["spec"]["resourceClaims"] = [{"name": "d", "resourceClaimName": f"own-{name}"}]
        if c.p(0.1):  # left behind by an earlier attempt
            stale = device_claim(
                c,
                f"stale-{name}",
                [exactly("card", "container-0-request-0")],
                annotations={"resource.kubernetes.io/extended-resource-claim": "true"},
                ownerReferences=[
                    {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"uid-default/{name}", "controller": True}
                ],
            )
            if c.p(0.5):
                allocate(
                    stale,
                    only_on("node-000"),
                    {"request": "container-0-request-0", "driver": GPU, "pool": "node-000", "device": "dev-0"},
                )
    if c.p(0.5):
        resources = [{"name": "example.com/card", "weight": 3}, {"name": "cpu", "weight": 1}]
        # not for NodeResourcesBalancedAllocation: kube-scheduler 1.37.1 crashes scoring a resource that devices back
        c.config = config_of(
            {
                "name": "NodeResourcesFit",
                "args": {
                    "scoringStrategy": {"type": c.pick(["LeastAllocated", "MostAllocated"]), "resources": resources}
                },
            }
        )
