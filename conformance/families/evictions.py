"""Families that lean on preemption: victims, budgets, and nodes already promised to somebody."""

from __future__ import annotations

from families.cases import APPS, HOST, NAMESPACES, PREEMPT_ALL, TIERS, ZONE, Case, Manifest
from families.devices import allocate, device, device_claim, device_slice, driver, exactly, only_on
from families.storage import mounts, pv, pvc, storage_class


def started(c: Case, pod: Manifest) -> Manifest:
    """Victims with start times of their own, so that preemption has one answer."""
    c.n_started += 1
    pod["status"]["startTime"] = (
        f"2026-02-{c.n_started % 28 + 1:02d}T{c.n_started % 24:02d}:{c.n_started % 60:02d}:{c.r.randint(0, 59):02d}Z"
    )
    return pod


def preemption(c: Case) -> None:
    """A pod of high priority on a full cluster: whom it would evict, and where."""
    c.cluster(2, 8, small=True, taints=0.1)
    c.existing(8, 40, prio=0.95, anti=0.05, ports=0.1)
    for a in c.some(APPS, 0, 3):
        pdb = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": a, "namespace": c.pick(NAMESPACES)},
            "spec": {"selector": {"matchLabels": {"app": a}}},
            "status": {"disruptionsAllowed": c.pick([0, 0, 1, 2])},
        }
        c.add(pdb)
    spec = {"priority": c.pick([50, 1000, 2000])}
    if c.p(0.15):
        spec["preemptionPolicy"] = "Never"
    if c.p(0.2):
        spec["affinity"] = {"podAntiAffinity": c.pod_affinity(0.9, 0.1)}
    if c.p(0.2):
        spec["topologySpreadConstraints"] = [c.spread("DoNotSchedule")]
    cs = [c.container("c0", requests=False)]
    cs[0]["resources"] = {"requests": {"cpu": c.cpu(600, 1900), "memory": c.mem(200, 1800)}}
    if c.p(0.2):
        cs[0]["ports"] = [c.port()]
    c.pod("new-0", ns=c.pick(NAMESPACES), containers=cs, **spec)
    c.config = PREEMPT_ALL


def preemption_pdb(c: Case) -> None:
    """Whom preemption picks and spares: budgets, policies, victims the pod needs, nodes no eviction can help."""
    c.cluster(2, 6, small=True, taints=0.15)
    c.config = PREEMPT_ALL
    for n, value, policy in (("high", 1000, None), ("polite", 1000, "Never"), ("low", -5, None)):
        c.add(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": n},
                "value": value,
                **({"preemptionPolicy": policy} if policy else {}),
            }
        )
    for n in c.nodes:
        n["status"]["allocatable"]["pods"] = c.pick(["3", "5", "10"])
        for _ in range(c.r.randint(1, 5)):
            p = started(c, c.existing_one(prio=0.9, ports=0.15, anti=0.1))
            p["spec"]["nodeName"] = n["metadata"]["name"]
            p["spec"]["containers"][0]["resources"] = {"requests": {"cpu": c.cpu(300, 1200), "memory": c.mem(100, 900)}}
            if c.p(0.1):
                p["metadata"]["labels"] = {}
            if c.p(0.12):
                p["metadata"] |= {"deletionTimestamp": "2026-03-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
                if c.p(0.7):
                    p["status"]["conditions"] = [
                        {
                            "type": "DisruptionTarget",
                            "status": "True",
                            "reason": c.pick(["PreemptionByScheduler", "EvictionByEvictionAPI"]),
                        }
                    ]
    pods = [o for o in c.objects if o["kind"] == "Pod"]
    for i in range(c.r.randint(1, 4)):
        selector = c.pick(
            [
                {"matchLabels": {"app": c.pick(APPS)}},
                {"matchLabels": {"tier": c.pick(TIERS)}},
                {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
                {},
                None,
            ]
        )
        status = {"disruptionsAllowed": c.pick([0, 0, 1, 2])}
        if c.p(0.25):
            status["disruptedPods"] = {p["metadata"]["name"]: "2026-03-01T00:00:00Z" for p in c.some(pods, 1, 3)}
        c.add(
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": f"budget-{i}", "namespace": c.pick(NAMESPACES)},
                "spec": {"selector": selector} if selector is not None else {},
                "status": status,
            }
        )
    for name, _ in c.pending(3):
        spec = {"priorityClassName": c.pick(["high", "high", "high", "high", "polite", "low", "system-node-critical"])}
        k = c.r.random()
        place, app, tier = (
            c.pick([HOST, ZONE]),
            {"matchLabels": {"app": c.pick(APPS)}},
            {"matchLabels": {"tier": c.pick(TIERS)}},
        )
        if k < 0.35:
            spec["affinity"] = {
                "podAffinity" if k < 0.2 else "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": place, "labelSelector": app}]
                }
            }
        elif k < 0.5:
            spec["topologySpreadConstraints"] = [
                {"maxSkew": 1, "topologyKey": place, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": tier}
            ]
        elif k < 0.6:
            spec["volumes"] = mounts(["exclusive"])
        elif k < 0.7:
            spec["nodeSelector"] = {"disktype": c.pick(["ssd", "hdd"])}
        elif k < 0.8:
            spec["resourceClaims"] = [{"name": "d", "resourceClaimName": f"claim-{name}"}]
        cs = [c.container("c", requests=False)]
        cs[0]["resources"] = {"requests": {"cpu": c.cpu(300, 2200), "memory": c.mem(100, 1500)}}
        if c.p(0.2):
            cs[0]["ports"] = [c.port()]
        p = c.pod(name, ns="default", containers=cs, **spec)
        if c.p(0.2):
            p["status"] = {
                "phase": "Pending",
                "nominatedNodeName": c.pick([*c.nodes, {"metadata": {"name": "ghost"}}])["metadata"]["name"],
            }
    wanting = [p["metadata"]["name"] for p in c.objects if p["kind"] == "Pod" and p["spec"].get("resourceClaims")]
    if wanting:  # evicting a pod does not free its devices in the dry run
        d = driver(c, "plain")
        for n in (n["metadata"]["name"] for n in c.some(c.nodes)):
            device_slice(c, d, n, f"plain-{n}", nodeName=n, devices=[device(c, "dev-0")])
            holder = next(p for p in pods if p["spec"]["nodeName"] == n)
            if c.p(0.5):
                allocate(
                    device_claim(c, f"held-{n}", [exactly("plain")]),
                    only_on(n),
                    {"request": "r0", "driver": d, "pool": n, "device": "dev-0"},
                    users=[holder["metadata"]["name"]],
                )
                holder["metadata"]["namespace"] = "default"
                holder["spec"]["resourceClaims"] = [{"name": "d", "resourceClaimName": f"held-{n}"}]
        for name in wanting:
            device_claim(c, f"claim-{name}", [exactly("plain")])
    if any(p["spec"].get("volumes") for p in c.objects if p["kind"] == "Pod"):
        pv(c, "pv-exclusive", "1Gi", "now", ("ReadWriteOncePod",), claim=("default", "exclusive"))
        pvc(c, "default", "exclusive", "1Gi", "now", ("ReadWriteOncePod",), volume="pv-exclusive")
        storage_class(c, "now", mode="Immediate")
        holder = c.pick(pods)
        holder["metadata"]["namespace"] = "default"
        holder["spec"]["volumes"] = mounts(["exclusive"])


def nominated(c: Case) -> None:
    """Pods nominated to nodes, which others must leave room for."""
    c.cluster(2, 8, small=True)
    c.existing(4, 20, prio=0.5)
    for i in range(c.r.randint(1, 3)):
        p = c.pod(
            f"nom-{i}",
            ns=c.pick(NAMESPACES),
            priority=c.pick([10, 500, 5000]),
            containers=[c.container("c")],
            **({"affinity": {"podAntiAffinity": c.pod_affinity(0.9, 0)}} if c.p(0.3) else {}),
        )
        p["status"] = {"nominatedNodeName": c.pick(c.nodes)["metadata"]["name"], "phase": "Pending"}
    c.pod(
        "new-0",
        ns=c.pick(NAMESPACES),
        priority=c.pick([0, 100, 1000]),
        containers=[c.container("c", big=c.p(0.5))],
        **({"affinity": {"podAffinity": c.pod_affinity(0.5, 0.5)}} if c.p(0.3) else {}),
    )
    c.config = PREEMPT_ALL
