"""Sandboxes: a scheduler over a cluster, and a few pods that stand for all that will come, drawn from a seed.

``examples`` has clusters to look at once; these are to be changed for long (``random_changes``). Storage and devices
are not in them; a `Sandbox` can be made of any cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any, TypeVar

import msgspec

from schedctl.api.meta import Struct
from schedctl.api.nodes import Node
from schedctl.api.pods import Affinity, Container
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.config import loading
from schedctl.config.types import API_VERSION, KIND
from schedctl.scheduler import Scheduler
from schedctl.testing import builders
from schedctl.testing.builders import HOSTNAME, ZONE
from schedctl.testing.side_by_side import OBJECT_KINDS, OWN_KINDS

APPS = ("web", "db", "cache")
NAMESPACES = ("default", "shop", "lab")
IMAGES = ("registry.example/web:v1", "registry.example/db:v1", "registry.example/tools:v2")
TAINTS = tuple(
    {"key": key, "value": "y", "effect": effect}
    for key in ("spot", "gpu")
    for effect in ("NoSchedule", "PreferNoSchedule", "NoExecute")
)
SIZES = (1, 2, 3, 5, 8, 13, 21, 40, 90)

T = TypeVar("T", bound=Struct)
Maker = Callable[[Cluster], Scheduler]
Manifest = dict[str, Any]


class Sandbox:
    """A scheduler, and the pods that stand for those to come.

    Attributes:
        scheduler: the scheduler; its cluster is the sandbox's.
        templates: pods that a profile of it serves, to be asked about under ever new names.
        gone: objects that were deleted and may come back.
    """

    def __init__(self, cluster: Cluster, templates: Iterable[PodInfo], scheduler_of: Maker = Scheduler) -> None:
        """Make a sandbox.

        Args:
            cluster: its cluster.
            templates: pods; those that no profile serves are left out.
            scheduler_of: makes the scheduler, and others like it over other clusters.
        """
        self.scheduler_of = scheduler_of
        self.scheduler = scheduler_of(cluster)
        self.templates = [pod for pod in templates if self.scheduler.profile_of(pod) is not None]
        self.gone: list[Any] = []
        self._made = 0

    @property
    def cluster(self) -> Cluster:
        """The cluster."""
        return self.scheduler.cluster

    def name(self, stem: str) -> str:
        """Return a name that nothing has had yet."""
        self._made += 1
        return f"{stem}-no-{self._made}"

    def twin(self, template: PodInfo, **spec: Any) -> PodInfo:
        """Return a pod like a template, under a name of its own; extra keyword arguments replace parts of its spec."""
        old = template.pod
        name = self.name(old.metadata.name.partition("-no-")[0])
        metadata = msgspec.structs.replace(old.metadata, name=name, uid=f"uid-{name}")
        return PodInfo(msgspec.structs.replace(old, metadata=metadata, spec=msgspec.structs.replace(old.spec, **spec)))

    def rebuild(self) -> Scheduler:
        """Return a scheduler like the sandbox's over a cluster that was given the same objects just now."""
        made, old = Cluster(), self.cluster
        made.now = old.now
        for row in old.rows.tolist():
            made.add_node(old.node_table.objects[row])
        for kind in (*OBJECT_KINDS, *OWN_KINDS):
            every: Mapping[str, Any] = old.every(kind)
            for obj in every.values():
                made.put(obj)
        for info, row in zip(old.pod_table.infos.tolist(), old.pod_table.node.tolist(), strict=True):
            if info is not None:
                made.assume(info, old.node_table.names[row])
        for info in (*old.pending.values(), *old.strays.values()):
            made.add_pod(info)
        scheduler = self.scheduler_of(made)
        for info in made.pending.values():
            scheduler.nominator.withdraw(info)  # whose promise may have been taken back since
        for name in self.scheduler.nominator:
            for info in self.scheduler.nominator.pods(name):
                scheduler.nominator.nominate(info, name)
        return scheduler


def draw_sandbox(seed: int) -> Sandbox:
    """Return the sandbox of a seed."""
    random = Random(f"world {seed}")
    nodes = [node(random, f"node-{number:03}") for number in range(random.choice(SIZES))]
    names = [each.metadata.name for each in nodes]
    templates = [_template(random, f"pod-{number}", names) for number in range(random.randrange(1, 4))]
    others = [_template(random, "other", names) for _ in range(3)]
    templates += [sibling(random, random.choice(templates), random.choice(others)) for _ in range(random.randrange(5))]
    config = _configuration(random)
    cluster = builders.cluster(*nodes)
    sandbox = Sandbox(cluster, templates, lambda over: Scheduler(over, loading.load(config, "the world's")))
    for _ in range(random.randrange(2 * len(nodes))):
        cluster.add_pod(sandbox.twin(random.choice(templates), node_name=random.choice(names)))
    return sandbox


def sibling(random: Random, pod: PodInfo, other: PodInfo) -> PodInfo:
    """Return a pod that has one thing from another pod, and is itself otherwise."""
    mine, theirs = pod.pod, other.pod
    where = random.choice(("metadata", "spec", "spec", "spec", "affinity", "affinity", "container", "container"))
    if where == "metadata":
        metadata = _with_one_of(random, mine.metadata, theirs.metadata, ("labels", "namespace", "owner_references"))
        return PodInfo(msgspec.structs.replace(mine, metadata=metadata))
    if where == "spec":
        names = [name for name in mine.spec.__struct_fields__ if name not in ("node_name", "scheduler_name")]
        spec = _with_one_of(random, mine.spec, theirs.spec, names)
    elif where == "affinity":
        affinity, other_affinity = mine.spec.affinity or Affinity(), theirs.spec.affinity or Affinity()
        affinity = _with_one_of(random, affinity, other_affinity, affinity.__struct_fields__)
        spec = msgspec.structs.replace(mine.spec, affinity=affinity)
    else:
        (first, *rest), (other_first, *_) = (
            mine.spec.containers or [Container()],
            theirs.spec.containers or [Container()],
        )
        first = _with_one_of(random, first, other_first, ("image", "ports", "resources"))
        spec = msgspec.structs.replace(mine.spec, containers=[first, *rest])
    return PodInfo(msgspec.structs.replace(mine, spec=spec))


def _with_one_of(random: Random, mine: T, theirs: T, names: Iterable[str]) -> T:
    """Return a struct with one of the fields in which it is unlike another taken from there."""
    unlike = [name for name in names if getattr(mine, name) != getattr(theirs, name)]
    if not unlike:
        return mine
    name = random.choice(unlike)
    return msgspec.structs.replace(mine, **{name: getattr(theirs, name)})


def node(random: Random, name: str) -> Node:
    """Return a node of a sandbox."""
    more: Manifest = {"nvidia.com/gpu": random.choice("124")} if random.random() < 0.3 else {}
    return builders.node(
        name,
        cpu=random.choice(("1", "2", "4", "8")),
        memory=random.choice(("2Gi", "4Gi", "16Gi")),
        pods=random.choice(("4", "10", "110")),
        zone=random.choice((None, "a", "a", "b", "b", "c")),
        labels={"disk": random.choice(("ssd", "hdd"))} if random.random() < 0.8 else None,
        taints=random.sample(TAINTS, random.randrange(1, 3)) if random.random() < 0.2 else None,
        unschedulable=random.random() < 0.05,
        images=[
            {"names": [name], "sizeBytes": random.choice((30, 400, 900)) << 20}
            for name in random.sample(IMAGES, random.randrange(len(IMAGES)))
        ],
        **more,
    )


def _template(random: Random, name: str, nodes: list[str]) -> PodInfo:
    gpu = {"nvidia.com/gpu": "1"} if random.random() < 0.15 else None
    return builders.pod(
        name,
        namespace=random.choice(NAMESPACES),
        cpu=random.choice((None, "10m", "100m", "300m", "1")),
        memory=random.choice((None, "16Mi", "200Mi", "1Gi")),
        requests=gpu,
        labels={"app": random.choice(APPS), **({"tier": "front"} if random.random() < 0.3 else {})},
        image=random.choice(IMAGES),
        ports=[_port(random)] if random.random() < 0.15 else None,
        metadata={"ownerReferences": [_owner(random)]} if random.random() < 0.2 else None,
        priority=random.choice((0, 0, 0, 10, 1000)),
        schedulerName=random.choice(("default-scheduler", "default-scheduler", "packing")),
        **_placement_fields(random, nodes),
    )


def _placement_fields(random: Random, nodes: list[str]) -> Manifest:
    spec: Manifest = {}
    affinity: Manifest = {}
    if random.random() < 0.3:
        spec["tolerations"] = [_toleration(random) for _ in range(random.randrange(1, 3))]
    if random.random() < 0.1:
        spec["nodeSelector"] = {"disk": "ssd"}
    if random.random() < 0.3:
        affinity["nodeAffinity"] = _node_affinity(random, nodes)
    for kind, chance in (("podAffinity", 0.3), ("podAntiAffinity", 0.35)):
        if random.random() < chance:
            affinity[kind] = _pod_affinity(random)
    if affinity:
        spec["affinity"] = affinity
    if random.random() < 0.4:
        spec["topologySpreadConstraints"] = _constraints(random)
    return spec


def _node_affinity(random: Random, nodes: list[str]) -> Manifest:
    def term() -> Manifest:
        if random.random() < 0.2:
            named = {"key": "metadata.name", "operator": "In", "values": [random.choice(nodes)]}
            return {"matchFields": [named]}
        key, values = random.choice(((ZONE, ["a"]), (ZONE, ["a", "b"]), ("disk", ["ssd"]), (HOSTNAME, nodes[:3])))
        return {"matchExpressions": [{"key": key, "operator": random.choice(("In", "NotIn")), "values": values}]}

    made: Manifest = {}
    if random.random() < 0.5:
        made["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [term()]}
    if not made or random.random() < 0.5:
        preferred = [{"weight": random.choice((1, 30, 100)), "preference": term()} for _ in range(2)]
        made["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    return made


def _pod_affinity(random: Random) -> Manifest:
    def term() -> Manifest:
        made: Manifest = {"topologyKey": random.choice((ZONE, HOSTNAME, HOSTNAME, "disk"))}
        if random.random() < 0.9:
            made["labelSelector"] = _selector(random)
        if random.random() < 0.2:
            made["namespaces"] = random.sample(NAMESPACES, 2)
        if random.random() < 0.3:
            made["namespaceSelector"] = random.choice(({}, {"matchLabels": {"team": "a"}}))
        return made

    made: Manifest = {}
    if random.random() < 0.5:
        made["requiredDuringSchedulingIgnoredDuringExecution"] = [term() for _ in range(random.choice((1, 1, 2)))]
    if not made or random.random() < 0.5:
        preferred = [{"weight": random.choice((1, 50, 100)), "podAffinityTerm": term()} for _ in range(2)]
        made["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    return made


def _constraints(random: Random) -> list[Manifest]:
    return [_constraint(random, key) for key in random.sample((ZONE, HOSTNAME, "disk"), random.choice((1, 1, 2)))]


def _constraint(random: Random, key: str) -> Manifest:
    hard = random.random() < 0.5
    made: Manifest = {
        "maxSkew": random.choice((1, 1, 2, 5)),
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": _selector(random),
    }
    if hard and random.random() < 0.3:
        made["minDomains"] = random.choice((2, 3, 5))
    if random.random() < 0.3:
        made["nodeAffinityPolicy"] = random.choice(("Honor", "Ignore"))
    if random.random() < 0.3:
        made["nodeTaintsPolicy"] = random.choice(("Honor", "Ignore"))
    if random.random() < 0.2:
        made["matchLabelKeys"] = ["tier"]
    return made


def _selector(random: Random) -> Manifest:
    choices: tuple[Manifest, ...] = (
        {"matchLabels": {"app": random.choice(APPS)}},
        {"matchLabels": {"app": random.choice(APPS)}},
        {"matchExpressions": [{"key": "tier", "operator": random.choice(("Exists", "DoesNotExist"))}]},
        {},
    )
    return random.choice(choices)


def _toleration(random: Random) -> Manifest:
    made: Manifest = {"operator": "Exists"}
    if random.random() < 0.8:
        made["key"] = random.choice(("spot", "gpu"))
    if random.random() < 0.5:
        made["effect"] = random.choice(("NoSchedule", "PreferNoSchedule"))
    return made


def _port(random: Random) -> Manifest:
    made: Manifest = {"containerPort": 80, "hostPort": random.choice((80, 8080))}
    if random.random() < 0.3:
        made["hostIP"] = random.choice(("10.0.0.1", "10.0.0.2"))
    return made


def _owner(random: Random) -> Manifest:
    name = f"{random.choice(APPS)}-owner"
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": "u", "controller": True}


def _configuration(random: Random) -> str:
    """A profile that is mostly the default, and one that packs."""
    defaulting: Manifest = {"defaultingType": "List", "defaultConstraints": []}
    for key in random.sample((ZONE, HOSTNAME), random.choice((0, 1, 2))):
        when = random.choice(("DoNotSchedule", "ScheduleAnyway"))
        defaulting["defaultConstraints"].append({"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when})
    arguments = []
    if random.random() < 0.3:
        arguments.append({"name": "PodTopologySpread", "args": defaulting})
    if random.random() < 0.3:
        weights = {"hardPodAffinityWeight": random.choice((0, 1, 100))}
        arguments.append({"name": "InterPodAffinity", "args": weights})
    scorers = ("NodeResourcesFit", "ImageLocality", "InterPodAffinity", "NodeAffinity", "PodTopologySpread")
    disabled = [{"name": name} for name in random.sample(scorers, random.choice((0, 0, 1, 2)))]
    usual = {
        "schedulerName": "default-scheduler",
        "pluginConfig": arguments,
        "plugins": {"score": {"disabled": disabled}},
    }
    shape = [{"utilization": 0, "score": 0}, {"utilization": 70, "score": 10}, {"utilization": 100, "score": 4}]
    strategy = random.choice(
        ({"type": "MostAllocated"}, {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": shape}})
    )
    packing = {
        "schedulerName": "packing",
        "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}],
        "plugins": {"filter": {"disabled": [{"name": random.choice(("TaintToleration", "NodePorts", "NodeName"))}]}},
    }
    return json.dumps({"apiVersion": API_VERSION, "kind": KIND, "profiles": [usual, packing]})
