"""Families of pod groups: gangs that fit, nearly fit and compete, topology, preemption by groups, mixed constraints.

They are answered with the gates of :data:`GATES` on and go through the real queue, one group after another, which
is why they are no families of the corpus that default gates answer.
"""

from __future__ import annotations

from typing import Any

from families.cases import APPS, HOST, ZONE, Case, Manifest
from families.devices import GPU, allocate, device, device_claim, device_class, device_slice, exactly, hold, only_on
from families.evictions import started

RACK, BLOCK = "example.com/rack", "example.com/block"
GATES = ",".join(
    (
        "SchedulerAsyncPreemption=false",
        "SchedulerAsyncAPICalls=false",
        "SchedulerPopFromBackoffQ=false",
        "GenericWorkload=true",
        "TopologyAwareWorkloadScheduling=true",
        "PodGroupPreemptionPolicy=true",
        "DRAWorkloadResourceClaims=true",
    )
)
"""What the oracle is to set; nobody is popped from the backoff queue, so that a case comes to rest."""


def pod_groups(c: Case) -> None:
    """Gangs and basic groups that fit, nearly fit and compete, among pods of no group."""
    _cluster(c)
    for i in range(c.r.randint(1, 3)):
        _workload(c, f"g{i}", size=c.r.randint(1, 8))
    _singles(c, 3)
    _shuffle_arrivals(c)


def pod_groups_topology(c: Case) -> None:
    """Groups that must stay within one rack, block or zone."""
    _cluster(c, missing=0.15)
    for i in range(c.r.randint(1, 3)):
        key = c.pick([RACK, RACK, BLOCK, ZONE, HOST, "example.com/nowhere"])
        _workload(c, f"g{i}", size=c.r.randint(2, 8), topology=key if c.p(0.9) else None)
    _singles(c, 2)
    _shuffle_arrivals(c)


def pod_groups_preemption(c: Case) -> None:
    """Groups that need others to go: single pods, pods of groups, whole groups; budgets; who may not preempt."""
    _cluster(c, busy=0)
    for name, value, policy in (("high", 1000, None), ("middle", 100, None), ("polite", 1000, "Never")):
        c.add(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                **({"preemptionPolicy": policy} if policy else {}),
            }
        )
    for i in range(c.r.randint(0, 2)):
        _running_group(c, f"old{i}")
    for n in c.nodes:
        for _ in range(c.r.randint(0, 3)):
            p = started(c, c.existing_one(prio=0.7))
            p["metadata"]["namespace"] = "default"
            p["spec"] |= {"nodeName": n["metadata"]["name"], "containers": [_container(c, 300, 1500)]}
    for i in range(c.r.randint(0, 2)):
        c.add(
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": f"budget-{i}", "namespace": "default"},
                "spec": {"selector": {"matchLabels": {"app": c.pick(APPS)}}},
                "status": {"disruptionsAllowed": c.pick([0, 0, 1, 2])},
            }
        )
    for i in range(c.r.randint(1, 2)):
        topology = c.pick([RACK, BLOCK]) if c.p(0.3) else None
        _workload(c, f"g{i}", size=c.r.randint(1, 5), topology=topology, classes=("high", "high", "middle", "polite"))
    _shuffle_arrivals(c)


def pod_groups_mixed(c: Case) -> None:
    """Groups whose pods spread, attract and repel each other, and tolerate what others do not."""
    _cluster(c, taints=0.2)
    for i in range(c.r.randint(1, 3)):
        spec: Manifest = {}
        app = {"matchLabels": {"app": c.pick(APPS)}}
        if c.p(0.4):
            spec["topologySpreadConstraints"] = [c.spread()]
        if c.p(0.4):
            affinity = c.pick(["podAffinity", "podAntiAffinity"])
            spec["affinity"] = {
                affinity: {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": c.pick([HOST, RACK, ZONE]), "labelSelector": app}
                    ]
                }
                if c.p(0.7)
                else c.pod_affinity()
            }
        if c.p(0.3):
            spec["tolerations"] = c.tolerations()
        if c.p(0.2):
            spec["nodeSelector"] = {"disktype": c.pick(["ssd", "hdd"])}
        if c.p(0.2):
            spec["ports"] = True
        _workload(c, f"g{i}", size=c.r.randint(1, 6), topology=RACK if c.p(0.3) else None, spec=spec)
    _singles(c, 2)
    _shuffle_arrivals(c)


def pod_groups_claims(c: Case) -> None:
    """Groups whose pods claim devices: each its own, all of them one, both; claims of the group, and such in use."""
    _cluster(c, busy=4)
    device_class(c, "gpu", f'device.driver == "{GPU}"')
    for n in c.nodes:
        name = n["metadata"]["name"]
        names = [f"gpu-{i}" for i in range(c.r.randint(0, 5))]
        if names:
            device_slice(c, GPU, name, f"slice-{name}", nodeName=name, devices=[device(c, each) for each in names])
            if c.p(0.3):
                hold(c, f"held-{name}", name, GPU, name, names[0])
    if c.p(0.3):
        shelf = [device(c, f"shelf-{i}") for i in range(c.r.randint(1, 3))]
        device_slice(c, GPU, "shelf", "slice-shelf", allNodes=True, devices=shelf)
    # the oracle's scheduler does not see that a claim is deallocated (no new resourceVersion): nobody comes after it
    allocated = c.p(0.4)
    for i in range(1 if allocated else c.r.randint(1, 2)):
        topology = RACK if c.p(0.2) else None
        _claiming_workload(c, f"g{i}", size=c.r.randint(1, 5), topology=topology, allocated=allocated)
    _singles(c, 2)
    _shuffle_arrivals(c)


def _claiming_workload(c: Case, name: str, *, size: int, topology: str | None, allocated: bool) -> None:
    """A group whose pods claim devices; a claim of all of them may be the group's, by name or from a template."""
    least = max(1, min(size, size - c.pick([0, 0, 0, 1])))
    policy: Manifest = {"gang": {"minCount": least}} if c.p(0.8) else {"basic": {}}
    scheme = c.pick(["own", "shared", "shared", "both", "both"])
    of_group, generated = c.p(0.6), c.p(0.3)
    claims: list[Manifest] = []
    statuses: list[Manifest] = []
    if scheme != "own":
        shared = device_claim(c, f"{name}-shared", [exactly("gpu", count=c.pick([1, 1, 2]))])
        entry: Manifest = {"name": "all"}
        if generated:
            entry["resourceClaimTemplateName"] = f"{name}-template"
            statuses = [{"name": "all", "resourceClaimName": f"{name}-shared"}]
            _own(c, shared, name if c.p(0.9) else "somebody")
        else:
            entry["resourceClaimName"] = f"{name}-shared"
        claims.append(entry)
        slices = [o for o in c.objects if o["kind"] == "ResourceSlice"]
        if allocated and slices:
            _allocate_to_group(c, shared, c.pick(slices), name if c.p(0.7) else "")
    group = _group(c, name, policy, topology, **({"resourceClaims": claims} if claims and of_group else {}))
    if statuses and of_group:
        group["status"] = {"resourceClaimStatuses": statuses}
    for i in range(size):
        mine = list(claims)
        if scheme != "shared":
            device_claim(c, f"{name}-{i}", [exactly("gpu")])
            mine.insert(c.r.randint(0, len(mine)), {"name": "own", "resourceClaimName": f"{name}-{i}"})
        pod = c.pod(
            f"{name}-{i}",
            ns="default",
            containers=[_container(c, 50, 500)],
            schedulingGroup={"podGroupName": name},
            resourceClaims=mine,
        )
        if statuses:
            pod.setdefault("status", {})["resourceClaimStatuses"] = statuses


def _own(c: Case, claim: Manifest, group: str) -> None:
    claim["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "name": group,
            "uid": f"uid-group-default/{group}",
            "controller": True,
        }
    ]


def _allocate_to_group(c: Case, claim: Manifest, where: Manifest, group: str) -> None:
    """Mark a claim as allocated, on the node of a slice or another, and reserved for a group or nobody."""
    spec = where["spec"]
    node = spec.get("nodeName") or c.pick(c.nodes)["metadata"]["name"]
    result = {"request": "r0", "driver": GPU, "pool": spec["pool"]["name"], "device": spec["devices"][-1]["name"]}
    allocate(claim, only_on(node if c.p(0.7) else "gone"), result)
    if group:
        reference = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": group}
        claim["status"]["reservedFor"] = [{**reference, "uid": f"uid-group-default/{group}"}]


GROUP_FAMILIES = {
    family.__name__: family
    for family in (pod_groups, pod_groups_claims, pod_groups_mixed, pod_groups_preemption, pod_groups_topology)
}


def _cluster(c: Case, *, missing: float = 0.0, taints: float = 0.0, busy: int = 12) -> None:
    """A small cluster of racks in blocks in zones."""
    c.groups = True
    c.cluster(2, 9, small=True, taints=taints)
    for i, n in enumerate(c.nodes):
        labels = n["metadata"]["labels"]
        labels |= {RACK: f"rack-{i // 2}", BLOCK: f"block-{i // 4}"}
        for key in (RACK, BLOCK):
            if c.p(missing):
                del labels[key]
    c.existing(0, busy)


def _container(c: Case, least: int = 100, most: int = 1800) -> Manifest:
    container = c.container("c", requests=False)
    container["resources"] = {"requests": {"cpu": c.cpu(least, most), "memory": c.mem(64, 1500)}}
    return container


def _group(c: Case, name: str, policy: Manifest, topology: str | None, **spec: Any) -> Manifest:
    if topology:
        spec["schedulingConstraints"] = {"topology": [{"key": topology}]}
    return c.add(
        {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"schedulingPolicy": policy, **spec},
        }
    )


def _workload(
    c: Case,
    name: str,
    *,
    size: int,
    topology: str | None = None,
    classes: tuple[str, ...] = (),
    spec: Manifest | None = None,
) -> None:
    """A group and its pods: most alike, some not; now and then without the group, with too few pods, or at odds."""
    spec = dict(spec or {})
    ports = spec.pop("ports", False)
    extra: Manifest = {"priorityClassName": c.pick(classes)} if classes else {}
    if c.p(0.8):
        policy: Manifest = {"gang": {"minCount": max(1, min(size + 1, size - c.pick([-1, 0, 0, 0, 0, 1, 2])))}}
    else:
        policy = {"basic": {}}
    if not c.p(0.05):
        _group(c, name, policy, topology, **extra)
    alike = _container(c)
    for i in range(size):
        container = alike if c.p(0.75) else _container(c, 100, 3500)
        if ports:
            container = {**container, "ports": [{"containerPort": 80, "hostPort": 80}]}
        pod = c.pod(
            f"{name}-{i}",
            containers=[container],
            schedulingGroup={"podGroupName": name},
            **extra,
            **spec,
        )
        if c.p(0.01):
            pod["spec"]["priorityClassName"] = "system-node-critical"
    if c.p(0.15):  # one of the group runs already
        running = c.pod(
            f"{name}-running",
            node=c.pick(c.nodes)["metadata"]["name"],
            containers=[_container(c)],
            schedulingGroup={"podGroupName": name},
            **extra,
        )
        started(c, running)


def _running_group(c: Case, name: str) -> None:
    """A group that runs, to be disrupted one by one or as a whole."""
    mode = c.pick([None, {"single": {}}, {"all": {}}, {"all": {}}])
    spec: Manifest = {"disruptionMode": mode} if mode else {}
    extra: Manifest = {"priorityClassName": "middle"} if c.p(0.5) else {}
    _group(c, name, {"basic": {}}, None, **spec, **extra)
    for i in range(c.r.randint(1, 4)):
        pod = c.pod(
            f"{name}-{i}",
            node=c.pick(c.nodes)["metadata"]["name"],
            containers=[_container(c, 300, 1500)],
            schedulingGroup={"podGroupName": name},
            **extra,
        )
        started(c, pod)


def _singles(c: Case, most: int) -> None:
    for i in range(c.r.randint(0, most)):
        c.pod(f"single-{i}", containers=[_container(c)])


def _shuffle_arrivals(c: Case) -> None:
    """Let pending pods arrive in any order, after their groups: those that wait for their group enter it by chance."""
    groups = [o for o in c.objects if o["kind"] == "PodGroup"]
    pending = [o for o in c.objects if o["kind"] == "Pod" and "nodeName" not in o["spec"]]
    if c.p(0.5):
        c.r.shuffle(pending)
    c.objects = [o for o in c.objects if o not in groups and o not in pending] + groups + pending
