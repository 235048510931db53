"""Random clusters of Karpenter: pools, instance types, nodes and pods that wait, as Kubernetes' JSON."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
AWS = "karpenter.k8s.aws/instance-"
SLOT = "example.com/slot"
"""A label of which pools list values, and which no instance type has."""
ZONES = ("zone-a", "zone-b", "zone-c")
_SHAPES = {"c5": 2, "m5": 4, "r5": 8, "m6g": 4}
_SIZES = {"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16}


def case(seed: int, runs: int = 4) -> dict[str, Any]:
    """A case of a seed; its pods ask for more the higher the seed is, modulo 6."""
    random = Random(seed)
    types = _types(random)
    pools = [_pool(random, number) for number in range(random.choice((1, 1, 2, 3)))]
    nodes = [_node(random, number, pools, types) for number in range(random.choice((0, 0, 1, 3)))]
    daemons = [_daemon_set(random, number) for number in range(random.choice((0, 0, 1, 2)))]
    rules = (_plain, _placed, _spread, _company, _soft, _everything)[seed % 6]
    pods = [
        pod
        for app in range(random.choice((1, 2, 3)))
        for pod in _application(random, f"app-{app}", rules, [each["metadata"]["name"] for each in nodes])
    ]
    return {
        "id": f"karpenter-{seed}",
        "nodePools": pools,
        "instanceTypes": types,
        "nodes": nodes,
        "pods": pods,
        "daemonSets": daemons,
        "runs": runs,
    }


def case_with_slots(seed: int) -> dict[str, Any]:
    """A case of a seed in which pools list values of a label of their own, and pods choose among them."""
    found, random = case(6 * seed + seed % 2), Random(20_000 + seed)
    for pool in found["nodePools"]:
        if random.random() < 0.7:
            values = list(random.choice((("a",), ("a", "b"), ("a", "b", "c"))))
            requirement = {"key": SLOT, "operator": "In", "values": values}
            pool["spec"]["template"]["spec"]["requirements"].append(requirement)
            for node in found["nodes"]:
                if node["metadata"]["labels"]["karpenter.sh/nodepool"] == pool["metadata"]["name"]:
                    node["metadata"]["labels"][SLOT] = random.choice(values)
    chosen = {f"app-{number}": random.choice(("", "a", "b", "d")) for number in range(3)}
    for pod in found["pods"]:
        if slot := chosen[pod["metadata"]["labels"]["app"]]:
            pod["spec"]["nodeSelector"] = {**pod["spec"].get("nodeSelector", {}), SLOT: slot}
    return {**found, "id": f"slots-{seed}"}


def consolidation_case(seed: int, runs: int = 6) -> dict[str, Any]:
    """A case of a seed in which every pod runs, and of which the next command of consolidation is asked."""
    random = Random(10_000 + seed)
    types = _types(random)
    pools = [_pool(random, number) for number in range(random.choice((1, 1, 2)))]
    for pool in pools:
        budgets = random.choice(([{"nodes": "100%"}], [{"nodes": "50%"}], [{"nodes": "2"}], [{"nodes": "10%"}]))
        policy = random.choice(("WhenEmptyOrUnderutilized",) * 4 + ("WhenEmpty",))
        pool["spec"]["disruption"] = {"consolidateAfter": "0s", "consolidationPolicy": policy, "budgets": budgets}
    nodes = [_node(random, number, pools, types) for number in range(random.choice((2, 3, 5, 8)))]
    rules = (_plain, _plain, _placed, _spread, _company, _everything)[seed % 6]
    return {
        "id": f"consolidation-{seed}",
        "nodePools": pools,
        "instanceTypes": types,
        "nodes": nodes,
        "pods": list(_running(random, nodes, rules)),
        "daemonSets": [_daemon_set(random, number) for number in range(random.choice((0, 0, 1)))],
        "consolidate": True,
        "runs": runs,
    }


def _running(random: Random, nodes: list[dict[str, Any]], rules: Any) -> Iterator[dict[str, Any]]:
    """Pods on nodes that have room for them, each of which costs something else to evict."""
    free = {each["metadata"]["name"]: float(each["status"]["allocatable"]["cpu"]) for each in nodes}
    empty, used = {name for name in free if random.random() < 0.03}, set[str]()
    for app in range(random.choice((2, 3, 4))):
        cpu = random.choice((0.25, 0.5, 1.0, 1.5))
        spec = {"containers": [_container(f"{int(cpu * 1000)}m", "256Mi")], **rules(random, f"app-{app}")}
        for number in range(random.randrange(1, 6)):
            room = [name for name, left in free.items() if left >= cpu and name not in empty]
            if not room:
                continue
            # nodes without a pod first, as empty ones hide what the other methods would do
            node, name = random.choice([each for each in room if each not in used] or room), f"app-{app}-{number}"
            free[node] -= cpu
            used.add(node)
            cost = {"controller.kubernetes.io/pod-deletion-cost": str(random.randrange(-10_000_000, 10_000_000))}
            yield {
                "metadata": {
                    "name": name,
                    "namespace": "default",
                    "uid": name,
                    "labels": {"app": f"app-{app}"},
                    "annotations": {
                        **cost,
                        **({"karpenter.sh/do-not-disrupt": "true"} if random.random() < 0.03 else {}),
                    },
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                },
                "spec": {**spec, "nodeName": node},
                "status": {"phase": "Running"},
            }


def _types(random: Random) -> list[dict[str, Any]]:
    names = [f"{family}.{size}" for family in _SHAPES for size in _SIZES]
    return [_type(random, name) for name in sorted(random.sample(names, random.randrange(2, 9)))]


def _type(random: Random, name: str) -> dict[str, Any]:
    family, _, size = name.partition(".")
    cpu, memory = _SIZES[size], _SIZES[size] * _SHAPES[family]
    zones = sorted(random.sample(ZONES, random.choice((1, 2, 3, 3))))
    price = round(cpu * 0.03 + memory * 0.004, 4)
    offerings = [{"zone": zone, "capacityType": "on-demand", "price": price} for zone in zones]
    if random.random() < 0.5:
        offerings += [{"zone": zone, "capacityType": "spot", "price": round(price / 3, 4)} for zone in zones]
    labels = {
        "node.kubernetes.io/instance-type": name,
        "kubernetes.io/arch": "arm64" if family.endswith("g") else "amd64",
        "kubernetes.io/os": "linux",
        f"{AWS}family": family,
        f"{AWS}size": size,
        f"{AWS}category": family[0],
        f"{AWS}generation": family[1],
        f"{AWS}cpu": str(cpu),
        f"{AWS}memory": str(memory * 1024),
    }
    capacity = {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": str(random.choice((8, 29, 58)))}
    return {"name": name, "labels": labels, "capacity": capacity, "offerings": offerings}


def _pool(random: Random, number: int) -> dict[str, Any]:
    requirements = []

    def require(chance: float, key: str, operator: str, *values: str, **more: int) -> None:
        if random.random() < chance:
            requirements.append({"key": key, "operator": operator, "values": list(values), **more})

    require(0.3, ZONE, "In", *random.sample(ZONES, 2))
    require(0.3, "kubernetes.io/arch", "In", "amd64")
    require(0.3, "karpenter.sh/capacity-type", "In", *random.choice((("spot",), ("on-demand",), ("spot", "on-demand"))))
    require(0.2, f"{AWS}cpu", random.choice(("Gt", "Lt")), random.choice(("3", "9")))
    require(0.2, f"{AWS}family", "NotIn", random.choice(("r5", "c5")))
    require(0.1, "node.kubernetes.io/instance-type", "Exists", minValues=2)
    taints = [{"key": "team", "value": "a", "effect": random.choice(("NoSchedule", "PreferNoSchedule"))}]
    spec: dict[str, Any] = {
        "template": {
            "metadata": {"labels": {"tier": random.choice(("gold", "silver"))} if random.random() < 0.5 else {}},
            "spec": {"requirements": requirements, "taints": taints if random.random() < 0.25 else []},
        }
    }
    if random.random() < 0.3:
        spec["limits"] = {"cpu": str(random.choice((8, 20, 40)))}
    if random.random() < 0.5:
        spec["weight"] = random.choice((1, 10, 50))
    return {"metadata": {"name": f"pool-{number}"}, "spec": spec}


def _node(random: Random, number: int, pools: list[dict[str, Any]], types: list[dict[str, Any]]) -> dict[str, Any]:
    name, kind, pool = f"node-{number}", random.choice(types), random.choice(pools)
    offering = random.choice(kind["offerings"])
    template = pool["spec"]["template"]
    labels = {
        **kind["labels"],
        **template["metadata"]["labels"],
        HOST: name,
        ZONE: offering["zone"],
        "karpenter.sh/capacity-type": offering["capacityType"],
        "karpenter.sh/nodepool": pool["metadata"]["name"],
        "karpenter.sh/initialized": "true",
        "karpenter.sh/registered": "true",
    }
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": f"cloud:///{name}", "taints": template["spec"]["taints"]},
        "status": {"allocatable": kind["capacity"], "capacity": kind["capacity"]},
    }


def _daemon_set(random: Random, number: int) -> dict[str, Any]:
    name = f"daemon-{number}"
    spec: dict[str, Any] = {"containers": [_container(random.choice(("100m", "250m")), "128Mi")]}
    if random.random() < 0.5:
        spec["tolerations"] = [{"operator": "Exists"}]
    if random.random() < 0.3:
        spec["nodeSelector"] = {"kubernetes.io/arch": random.choice(("amd64", "arm64"))}
    labels = {"daemon": name}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def _container(cpu: str, memory: str, **more: Any) -> dict[str, Any]:
    return {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu, "memory": memory}}, **more}


def _application(random: Random, app: str, rules: Any, nodes: list[str]) -> list[dict[str, Any]]:
    """The pods of an application, some of which run already."""
    container = _container(
        random.choice(("250m", "500m", "1", "1500m", "3", "6")), random.choice(("256Mi", "1Gi", "3Gi", "9Gi"))
    )
    spec = {"containers": [container], **rules(random, app)}
    if random.random() < 0.1:
        container["ports"] = [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}]
    if random.random() < 0.3:
        spec["tolerations"] = [{"key": "team", "operator": "Exists"}]
    found = []
    for number in range(random.randrange(1, 13)):
        name = f"{app}-{number}"
        runs = bool(nodes) and random.random() < 0.15
        found.append(
            {
                "metadata": {
                    "name": name,
                    "namespace": "default",
                    "uid": name,
                    "labels": {"app": app},
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                },
                "spec": {**spec, **({"nodeName": random.choice(nodes)} if runs else {})},
                "status": {"phase": "Running" if runs else "Pending"},
            }
        )
    return found


def _plain(random: Random, app: str) -> dict[str, Any]:
    return {}


def _placed(random: Random, app: str) -> dict[str, Any]:
    """What pods ask of nodes."""
    found: dict[str, Any] = {}
    if random.random() < 0.4:
        key, values = random.choice(
            (
                (ZONE, ZONES),
                ("tier", ("gold", "silver", "none")),
                (f"{AWS}family", tuple(_SHAPES)),
                ("kubernetes.io/arch", ("amd64", "arm64")),
                ("karpenter.sh/capacity-type", ("spot", "on-demand")),
            )
        )
        found["nodeSelector"] = {key: random.choice(values)}
    affinity: dict[str, Any] = {}
    if random.random() < 0.5:
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [_term(random) for _ in range(random.choice((1, 1, 2)))]
        }
    if random.random() < 0.4:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": random.choice((1, 50)), "preference": _term(random)} for _ in range(random.choice((1, 2)))
        ]
    return {**found, "affinity": {"nodeAffinity": affinity}} if affinity else found


def _term(random: Random) -> dict[str, Any]:
    expression = random.choice(
        (
            {"key": ZONE, "operator": "In", "values": random.sample(ZONES, 2)},
            {"key": ZONE, "operator": "NotIn", "values": [random.choice(ZONES)]},
            {"key": "tier", "operator": random.choice(("Exists", "DoesNotExist"))},
            {"key": "tier", "operator": "NotIn", "values": ["gold"]},
            {"key": f"{AWS}cpu", "operator": "Gt", "values": ["2"]},
            {"key": f"{AWS}category", "operator": "In", "values": ["c", "m"]},
        )
    )
    return {"matchExpressions": [expression]}


def _about(random: Random, app: str) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": random.choice((ZONE, HOST))}


def _spread(random: Random, app: str) -> dict[str, Any]:
    constraints = []
    for _ in range(random.choice((1, 1, 2))):
        constraint = {
            **_about(random, app),
            "maxSkew": random.choice((1, 1, 2)),
            "whenUnsatisfiable": random.choice(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")),
        }
        if constraint["whenUnsatisfiable"] == "DoNotSchedule" and random.random() < 0.2:
            constraint["minDomains"] = random.choice((2, 3))
        if random.random() < 0.3:
            constraint["nodeTaintsPolicy"] = "Honor"
        if random.random() < 0.2:
            constraint["nodeAffinityPolicy"] = "Ignore"
        if constraint["topologyKey"] not in [each["topologyKey"] for each in constraints]:
            constraints.append(constraint)
    placed = _placed(random, app) if random.random() < 0.3 else {}
    return {**placed, "topologySpreadConstraints": constraints}


def _company(random: Random, app: str) -> dict[str, Any]:
    about = _about(random, random.choice((app, app, "app-0")))
    kind = random.choice(("podAffinity", "podAntiAffinity"))
    if random.random() < 0.3:
        return {
            "affinity": {
                kind: {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": random.choice((1, 100)), "podAffinityTerm": about}
                    ]
                }
            }
        }
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [about]}}}


def _soft(random: Random, app: str) -> dict[str, Any]:
    """Preferences of several sorts, which are given up one after another."""
    affinity = {
        **_placed(random, app).get("affinity", {}),
        **(_company(random, app)["affinity"] if random.random() < 0.5 else {}),
    }
    constraint = {**_about(random, app), "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    return {"affinity": affinity, "topologySpreadConstraints": [constraint] if random.random() < 0.7 else []}


def _everything(random: Random, app: str) -> dict[str, Any]:
    found = {**_placed(random, app), **(_spread(random, app) if random.random() < 0.5 else {})}
    if random.random() < 0.5:
        found["affinity"] = {**found.get("affinity", {}), **_company(random, app)["affinity"]}
    return found
