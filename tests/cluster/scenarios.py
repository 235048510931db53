"""The same cluster and the same pods every time: 40 unlike nodes, and pods that ask for a bit of everything.

`steps` is a story: one thing happens, and the scheduler comes to rest before the next; `crowd` is the same pods all at
once. To cover another constraint, add a function to `KINDS`; objects of another kind join `furniture`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any

Object = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
SPACE = "shop"
PODS = 200
STORY = int(os.environ.get("SCHEDCTL_STORY", "6"))
"""Another number draws other pods."""
GRACE = 40
"""Seconds between one `ScenarioAction.GO` and the next."""
APPS = ("web", "api", "cache", "queue")


class ScenarioAction(Enum):
    """What a step does."""

    CREATE = "create"
    UNGATE = "take the gates off"
    RELABEL = "change labels of"
    CORDON = "cordon"
    UNCORDON = "uncordon"
    DELETE = "delete"
    GO = "let go"
    """What a kubelet does with a pod whose grace period is over."""


@dataclass(frozen=True)
class Step:
    """One thing that happens.

    Attributes:
        action: what.
        subject: the object it is done to, at least its kind and name.
    """

    action: ScenarioAction
    subject: Object


def furniture() -> Iterator[Object]:
    """Yield everything that is there before the first pod."""
    yield {"kind": "Namespace", "metadata": {"name": SPACE, "labels": {"team": "shop"}}}
    yield {"kind": "Namespace", "metadata": {"name": "tools", "labels": {"team": "platform"}}}
    yield {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    yield {"kind": "PriorityClass", "metadata": {"name": "meek"}, "value": 1000, "preemptionPolicy": "Never"}
    for i, k in product(range(3), range(3)):
        yield {"kind": "PriorityClass", "metadata": {"name": f"low-{i}-{k}"}, "value": -10 * i - k - 1}
    yield {
        "kind": "Service",
        "metadata": {"name": "served", "namespace": SPACE},
        "spec": {"selector": {"served": "yes"}, "ports": [{"port": 80}]},
    }
    yield {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "guarded", "namespace": SPACE},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"guarded": "yes"}}},
    }
    yield from nodes()
    yield from storage()
    yield from devices()


def storage() -> Iterator[Object]:
    """Yield disks that are bound already, for binding them takes a controller, and claims that never will be."""
    yield {
        "kind": "StorageClass",
        "metadata": {"name": "disks"},
        "provisioner": "disks.example.com",
        "volumeBindingMode": "Immediate",
    }
    for node in nodes():
        name = node["metadata"]["name"]
        driver = {"name": "disks.example.com", "nodeID": name, "topologyKeys": [ZONE], "allocatable": {"count": 1}}
        yield {"kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": [driver]}}
    claimed = {
        volume["persistentVolumeClaim"]["claimName"] for pod in mixed() for volume in pod["spec"].get("volumes", ())
    }
    for i, name in enumerate(sorted(claimed - {"unbound", "missing"})):
        mode = "ReadWriteOncePod" if i % 2 else "ReadWriteOnce"
        claim = {"name": name, "namespace": SPACE, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
        same = {"accessModes": [mode], "storageClassName": "disks"}
        reach = {"nodeSelectorTerms": [{"matchExpressions": [_in(ZONE, "abc"[i % 3])]}]}
        yield {
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                **same,
                "capacity": {"storage": "1Gi"},
                "csi": {"driver": "disks.example.com", "volumeHandle": name},
                "claimRef": {"kind": "PersistentVolumeClaim", "namespace": SPACE, "name": name},
                "nodeAffinity": {"required": reach},
            },
        }
        yield {
            "kind": "PersistentVolumeClaim",
            "metadata": claim,
            "spec": {**same, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": name},
            "status": {"phase": "Bound"},
        }
    yield {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "unbound", "namespace": SPACE},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "disks",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def devices() -> Iterator[Object]:
    """Yield two cards on each node of the gpu pool, and claims for one of any or of a certain model."""
    ours = {"cel": {"expression": 'device.driver == "cards.example.com"'}}
    yield {"kind": "DeviceClass", "metadata": {"name": "cards"}, "spec": {"selectors": [ours]}}
    for node in nodes():
        name = node["metadata"]["name"]
        if node["metadata"]["labels"]["pool"] == "gpu":
            cards = [{"name": f"card-{k}", "attributes": {"model": {"string": model}}} for k, model in enumerate("lm")]
            pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
            yield {
                "kind": "ResourceSlice",
                "metadata": {"name": name},
                "spec": {"driver": "cards.example.com", "pool": pool, "nodeName": name, "devices": cards},
            }
    model_m = {"cel": {"expression": 'device.attributes["cards.example.com"].model == "m"'}}
    taken = {claim["resourceClaimName"] for pod in mixed() for claim in pod["spec"].get("resourceClaims", ())}
    for i, name in enumerate(sorted(taken)):
        request: Object = {"deviceClassName": "cards", **({"selectors": [model_m]} if i % 2 else {})}
        yield {
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": SPACE},
            "spec": {"devices": {"requests": [{"name": "card", "exactly": request}]}},
        }


def nodes() -> Iterator[Object]:
    """Yield the nodes: a general pool over three zones, and small pools of their own kinds.

    An image is equally large everywhere: kube-scheduler keeps the size that the first node told, whichever that was.
    """
    for i in range(40):
        pool = "general" if i < 26 else ("gpu", "spot", "batch", "edge")[(i - 26) % 4]
        name = f"{pool}-{i:02}"
        labels = {HOSTNAME: name, "pool": pool, "generation": str(1 + i % 5), "disk": ("ssd", "hdd")[i % 3 == 0]}
        if pool != "edge":
            labels[ZONE] = "abc"[i % 3]
        # Unlike sizes, so that few placements are ties.
        room = {"cpu": f"{4000 + 130 * i}m", "memory": f"{8192 + 317 * i}Mi", "pods": "12" if pool == "edge" else "110"}
        taints = {
            "gpu": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
            "spot": [{"key": "spot", "effect": "PreferNoSchedule"}],
            "batch": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}],
            "edge": [{"key": "far", "value": "yes", "effect": "NoExecute"}],
        }.get(pool, [])
        if pool == "gpu":
            room["nvidia.com/gpu"] = str(i % 4 + 1)
        if i % 4 == 1:
            room["hugepages-2Mi"] = "64Mi"
        images = [(app, 400_000_000 + 90_000_000 * k) for k, app in enumerate(APPS) if (i + k) % 7 == 0]
        yield {
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": taints, "unschedulable": i in (7, 19)},
            "status": {
                "allocatable": room,
                "capacity": room,
                "images": [{"names": [f"registry.example/{app}:v1"], "sizeBytes": size} for app, size in images],
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }


def steps() -> Iterator[Step]:
    """Yield the story."""
    drawn = list(mixed())
    yield from (Step(ScenarioAction.CREATE, pod) for pod in drawn[: PODS // 2])
    yield from preemption()
    yield Step(ScenarioAction.UNCORDON, {"kind": "Node", "metadata": {"name": "general-07"}})
    yield from (Step(ScenarioAction.CREATE, pod) for pod in drawn[PODS // 2 :])
    yield from releases()
    yield Step(ScenarioAction.RELABEL, {"kind": "Node", "metadata": {"name": "general-03", "labels": {"rack": "r9"}}})
    yield Step(ScenarioAction.CORDON, {"kind": "Node", "metadata": {"name": "general-12"}})
    yield Step(ScenarioAction.UNCORDON, {"kind": "Node", "metadata": {"name": "general-19"}})
    for i in (20, 40, 60, 80, 120):
        yield Step(ScenarioAction.DELETE, drawn[i])


def releases() -> Iterator[Step]:
    """Yield the end of all gates."""
    yield from (Step(ScenarioAction.UNGATE, pod) for pod in mixed() if pod["spec"].get("schedulingGates"))


def preemption() -> Iterator[Step]:
    """Yield a fight for the batch pool: victims of low priority, budgets, one who takes his time, and who may not."""
    batch = {"nodeSelector": {"pool": "batch"}, "tolerations": [{"key": "dedicated", "operator": "Exists"}]}
    places = [node["metadata"]["name"] for node in nodes() if node["metadata"]["labels"]["pool"] == "batch"]
    for i, place in enumerate(places):
        room = 4000 + 130 * int(place[-2:])
        for k, share in enumerate((0.5, 0.3, 0.15)):
            victim = pod(
                f"low-{i}-{k}",
                cpu=f"{int(room * share)}m",
                labels={"app": "batch", "guarded": "yes" if (i, k) == (0, 1) else "no"},
                **{**batch, "nodeSelector": {HOSTNAME: place}},
                priorityClassName=f"low-{i}-{k}",
            )
            victim["spec"]["terminationGracePeriodSeconds"] = GRACE * (k + 1) if i == 1 else 0
            yield Step(ScenarioAction.CREATE, victim)
    yield Step(ScenarioAction.CREATE, pod("meek", cpu="3", priorityClassName="meek", **batch))
    yield Step(ScenarioAction.CREATE, pod("anywhere-in-batch", cpu="1500m", priorityClassName="high", **batch))
    there = {**batch, "nodeSelector": {HOSTNAME: places[0]}}
    yield Step(ScenarioAction.CREATE, pod("against-a-budget", cpu="2", priorityClassName="high", **there))
    there = {**batch, "nodeSelector": {HOSTNAME: places[1]}}
    yield Step(ScenarioAction.CREATE, pod("patient", cpu="7500m", priorityClassName="high", **there))
    yield Step(ScenarioAction.CREATE, pod("bystander", cpu="300m", **there))
    yield Step(ScenarioAction.CREATE, pod("poor", cpu="1", **there))
    for k in range(3):
        yield Step(ScenarioAction.GO, {"kind": "Pod", "metadata": {"name": f"low-1-{k}", "namespace": SPACE}})
    yield Step(ScenarioAction.CREATE, pod("hopeless", cpu="64", priorityClassName="high"))


def crowd() -> Iterator[Object]:
    """Yield the mixed pods and a class for each, so that their order is theirs alone; nobody preempts anybody."""
    for i in range(PODS):
        name = f"order-{i:03}"
        yield {"kind": "PriorityClass", "metadata": {"name": name}, "value": 5000 - i, "preemptionPolicy": "Never"}
    for i, each in enumerate(mixed()):
        yield {**each, "spec": {**each["spec"], "priorityClassName": f"order-{i:03}"}}


def mixed() -> Iterator[Object]:
    """Yield the pods that ask for a bit of everything."""
    draw = random.Random(STORY)
    for i in range(PODS):
        kind = KINDS[i % len(KINDS)]
        yield kind(f"{kind.__name__.replace('_', '-')}-{i:03}", draw)


def pod(name: str, *, cpu: str = "", memory: str = "", labels: Object | None = None, **spec: Any) -> Object:
    """Return a pod."""
    container = spec.pop("container", {})
    requests = {**({"cpu": cpu} if cpu else {}), **({"memory": memory} if memory else {})}
    container = {
        "name": "main",
        "image": "registry.example/web:v1",
        "resources": {"requests": requests},
        **container,
    }
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": spec.pop("namespace", SPACE), "labels": labels or {}},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [container], **spec},
    }


def _size(draw: random.Random) -> Object:
    return {"cpu": f"{draw.randrange(100, 1300, 7)}m", "memory": f"{draw.randrange(64, 2000, 11)}Mi"}


def _term(key: str, app: str, **more: Any) -> Object:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}


def plain(name: str, draw: random.Random) -> Object:
    return pod(name, labels={"app": draw.choice(APPS)}, **_size(draw))


def node_affinity(name: str, draw: random.Random) -> Object:
    zones = draw.sample("abc", 2)
    required = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": zones}]}
    newer = {"matchExpressions": [{"key": "generation", "operator": "Gt", "values": [str(draw.randrange(1, 5))]}]}
    ssd = {"weight": draw.randrange(1, 100), "preference": {"matchExpressions": [_in("disk", "ssd")]}}
    new = {"weight": draw.randrange(1, 100), "preference": newer}
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [required]},
        "preferredDuringSchedulingIgnoredDuringExecution": [ssd, new],
    }
    return pod(name, labels={"app": draw.choice(APPS)}, affinity={"nodeAffinity": affinity}, **_size(draw))


def tolerant(name: str, draw: random.Random) -> Object:
    tolerations = [
        [{"key": "spot", "operator": "Exists"}],
        [{"key": "far", "operator": "Equal", "value": "yes"}, {"key": "spot", "operator": "Exists"}],
        [{"operator": "Exists"}],
    ][draw.randrange(3)]
    selector = draw.choice([{}, {"pool": "edge"}, {"pool": "spot"}])
    return pod(name, labels={"app": "web"}, tolerations=tolerations, nodeSelector=selector, **_size(draw))


def spread_over_zones(name: str, draw: random.Random) -> Object:
    app = draw.choice(APPS[:2])
    spread = [
        {
            "maxSkew": draw.randrange(1, 3),
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app, "spread": "zones"}},
            "nodeTaintsPolicy": draw.choice(["Honor", "Ignore"]),
            "minDomains": draw.choice([2, 4]),
        }
    ]
    return pod(name, labels={"app": app, "spread": "zones"}, topologySpreadConstraints=spread, **_size(draw))


def spread_softly(name: str, draw: random.Random) -> Object:
    app = draw.choice(APPS)
    spread = [
        {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": of}}
        for key, of in ((ZONE, {"app": app}), (HOSTNAME, {"spread": "softly"}))
    ]
    return pod(name, labels={"app": app, "spread": "softly"}, topologySpreadConstraints=spread, **_size(draw))


def alone(name: str, draw: random.Random) -> Object:
    group = draw.choice("xyz")
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": [_term(HOSTNAME, group)]}
    return pod(name, labels={"app": group}, affinity={"podAntiAffinity": rule}, **_size(draw))


def beside(name: str, draw: random.Random) -> Object:
    rule = {
        "requiredDuringSchedulingIgnoredDuringExecution": [_term(ZONE, draw.choice(APPS))],
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": draw.randrange(1, 100), "podAffinityTerm": _term(HOSTNAME, draw.choice(APPS))}
        ],
    }
    away = [{"weight": draw.randrange(1, 100), "podAffinityTerm": _term(HOSTNAME, "x")}]
    affinity = {"podAffinity": rule, "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": away}}
    return pod(name, labels={"app": "beside"}, affinity=affinity, **_size(draw))


def beside_another_team(name: str, draw: random.Random) -> Object:
    term = _term(ZONE, "tool", namespaceSelector={"matchLabels": {"team": "platform"}})
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return pod(name, labels={"app": "guest"}, affinity=affinity, **_size(draw))


def tool(name: str, draw: random.Random) -> Object:
    return pod(name, namespace="tools", labels={"app": "tool"}, nodeSelector={ZONE: draw.choice("ab")}, **_size(draw))


def early(name: str, draw: random.Random) -> Object:
    """Waits for a pod that comes right after it."""
    number = int(name[-3:])
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(HOSTNAME, f"late-{number}")]}}
    return pod(name, labels={"app": "early"}, affinity=affinity, cpu="100m")


def late(name: str, draw: random.Random) -> Object:
    return pod(name, labels={"app": f"late-{int(name[-3:]) - 1}"}, **_size(draw))


def on_a_port(name: str, draw: random.Random) -> Object:
    ports = [{"containerPort": 80, "hostPort": 8080}]
    return pod(name, container={"ports": ports}, nodeSelector={"pool": "spot"}, **_size(draw))


def on_a_gpu(name: str, draw: random.Random) -> Object:
    resources = {"requests": {"cpu": "250m"}, "limits": {"nvidia.com/gpu": str(draw.randrange(1, 3))}}
    gpu = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    return pod(name, container={"resources": resources}, tolerations=gpu)


def with_an_image(name: str, draw: random.Random) -> Object:
    image = f"registry.example/{draw.choice(APPS)}:v1"
    return pod(name, container={"image": image}, labels={"app": "image"}, memory=f"{draw.randrange(64, 900)}Mi")


def served(name: str, draw: random.Random) -> Object:
    return pod(name, labels={"served": "yes"}, **_size(draw))


def started_in_turn(name: str, draw: random.Random) -> Object:
    first = {"name": "first", "image": "i", "resources": {"requests": {"cpu": f"{draw.randrange(500, 3000)}m"}}}
    beside = {"name": "beside", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "200m"}}}
    return pod(name, initContainers=[beside, first], **_size(draw))


def with_huge_pages(name: str, draw: random.Random) -> Object:
    amounts = {"hugepages-2Mi": f"{2 * draw.randrange(4, 24)}Mi", "memory": "64Mi", "cpu": "50m"}
    return pod(name, container={"resources": {"requests": amounts, "limits": amounts}})


def gated(name: str, draw: random.Random) -> Object:
    return pod(name, schedulingGates=[{"name": "example.com/quota"}], labels={"app": "web"}, **_size(draw))


def impossible(name: str, draw: random.Random) -> Object:
    wishes: list[Object] = [
        {"nodeSelector": {"rack": "r9"}},  # which a node gets later
        {"container": {"resources": {"requests": {"cpu": "40"}}}},
        {"nodeSelector": {"pool": "batch"}},
        {"container": {"resources": {"limits": {"example.com/fpga": "1"}}}},
        {"nodeSelector": {HOSTNAME: "general-19"}},  # which is cordoned until later
    ]
    return pod(name, **draw.choice(wishes))


def with_a_disk(name: str, draw: random.Random) -> Object:
    """Shares its disk with the one after it, now and then, which the disk may not allow."""
    claim = f"disk-{int(name[-3:]) // 2:03}"
    data = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    return pod(name, volumes=[data], nodeSelector={"generation": "3"}, **_size(draw))


def without_a_disk(name: str, draw: random.Random) -> Object:
    claim = draw.choice(["unbound", "missing"])
    return pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}])


def with_a_card(name: str, draw: random.Random) -> Object:
    taken = [{"name": "card", "resourceClaimName": f"card-{int(name[-3:]) // 2:03}"}]
    return pod(name, resourceClaims=taken, tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}], cpu="150m")


def replica(name: str, draw: random.Random) -> Object:
    """Like every other of its kind; several come in a row, which kube-scheduler may place by what it knows already."""
    return pod(name, cpu="300m", memory="200Mi")


def of_another_scheduler(name: str, draw: random.Random) -> Object:
    return pod(name, schedulerName="somebody-else", **_size(draw))


KINDS: tuple[Callable[[str, random.Random], Object], ...] = (
    plain,
    node_affinity,
    tolerant,
    spread_over_zones,
    early,
    late,
    spread_softly,
    alone,
    beside_another_team,
    tool,
    beside,
    on_a_port,
    on_a_gpu,
    with_an_image,
    served,
    started_in_turn,
    with_huge_pages,
    gated,
    impossible,
    with_a_disk,
    with_a_disk,
    with_a_card,
    with_a_card,
    without_a_disk,
    spread_over_zones,
    alone,
    of_another_scheduler,
    replica,
    replica,
    replica,
)
"""What the mixed pods are, in turn."""


def _in(key: str, *values: str) -> Object:
    return {"key": key, "operator": "In", "values": list(values)}
