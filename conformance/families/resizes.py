"""Running pods that ask for more than their node has free (InPlacePodVerticalScalingSchedulerPreemption)."""

from __future__ import annotations

from collections.abc import Callable

from families.cases import APPS, NAMESPACES, PREEMPT_ALL, TIERS, Case, Manifest
from families.devices import device_claim, exactly
from families.evictions import started
from families.storage import mounts, pvc, storage_class

WITHOUT_NODE_NAME = (
    PREEMPT_ALL
    + """  plugins:
    multiPoint:
      disabled:
      - name: NodeName
"""
)


def deferred_resizes(c: Case) -> None:
    """Pods whose resize is deferred, among pods that could make room; a few others beside them."""
    c.cluster(2, 5, small=True, taints=0.3, unsched=0.2, gpu=0.2, hugepages=c.p(0.2), ephemeral=c.p(0.3))
    c.config = WITHOUT_NODE_NAME if c.p(0.1) else PREEMPT_ALL
    storage_class(c, "wait")
    for node in c.nodes:
        if c.p(0.2):
            node["spec"]["podPreemptionPolicy"] = {"disableResizePreemption": c.some(["autoscaler", "admin"], 0, 2)}
    for node in c.nodes:
        for _ in range(c.r.randint(1, 5)):
            pod = started(c, c.existing_one(prio=0.9, ports=0.1, anti=0.1, gpu=0.1))
            pod["spec"]["nodeName"] = node["metadata"]["name"]
            if c.p(0.1):
                pod["metadata"] |= {"deletionTimestamp": "2026-03-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
    for app in c.some(APPS, 0, 2):
        c.add(
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": app, "namespace": c.pick(NAMESPACES)},
                "spec": {"selector": {"matchLabels": {"app": app}}},
                "status": {"disruptionsAllowed": c.pick([0, 1])},
            }
        )
    for number in range(c.r.randint(1, 3)):
        _deferred(c, number)
    for name, ns in c.pending(1):
        c.pod(name, ns=ns, priority=c.pick([0, 2000]))


def _deferred(c: Case, number: int) -> None:
    """Adds a pod that runs, was asked to grow, and waits for room, whatever has become of its node since."""
    containers = [c.container("c0", gpu=0.2, hugepages=0.15, ephemeral=0.15)]
    if c.p(0.4):
        containers.append(c.container("c1"))
    if c.p(0.15):
        containers[0]["ports"] = [c.port()]
    pod = started(c, c.pod(f"grow-{number}", ns=c.pick(NAMESPACES), node=_somewhere(c), containers=containers))
    if c.p(0.8):
        pod["spec"]["priority"] = c.pick([0, 50, 1000, 2000])
    if c.p(0.1):
        pod["spec"]["preemptionPolicy"] = "Never"
    if c.p(0.1):
        pod["spec"]["schedulerName"] = "somebody-else"
    _constraints(c, pod)
    pod["status"]["containerStatuses"] = [
        {
            "name": each["name"],
            "ready": True,
            "restartCount": 0,
            "image": "x",
            "imageID": "x",
            **({"allocatedResources": _amounts(c)} if c.p(0.8) else {}),
            **({"resources": {"requests": _amounts(c)}} if c.p(0.8) else {}),
        }
        for each in containers
        if c.p(0.95)
    ]
    conditions = [{"type": "PodResizePending", "status": "True", "reason": c.pick(["Deferred"] * 6 + ["Infeasible"])}]
    if c.p(0.1):
        conditions.append({"type": "PodResizePending", "status": "True", "reason": c.pick(["Deferred", "Infeasible"])})
    if c.p(0.3):
        conditions.insert(0, {"type": "Ready", "status": "True", "reason": "Deferred"})
    pod["status"]["conditions"] = conditions
    if c.p(0.05):
        pod["metadata"] |= {"deletionTimestamp": "2026-03-01T00:00:00Z", "deletionGracePeriodSeconds": 30}


def _somewhere(c: Case) -> str:
    name: str = c.pick(c.nodes)["metadata"]["name"]
    return name if c.p(0.97) else "node-gone"


def _amounts(c: Case) -> Manifest:
    return {name: amount for name, amount in (("cpu", c.cpu(50, 900)), ("memory", c.mem(32, 900))) if c.p(0.9)}


def _constraints(c: Case, pod: Manifest) -> None:
    """Gives the pod what would keep a new one like it off its node, by chance."""
    spec, metadata = pod["spec"], pod["metadata"]
    if c.p(0.3):
        spec["affinity"] = {"nodeAffinity": c.node_affinity()}
    if c.p(0.2):
        spec.setdefault("affinity", {})[c.pick(["podAffinity", "podAntiAffinity"])] = c.pod_affinity(0.9, 0.3)
    if c.p(0.2):
        spec["topologySpreadConstraints"] = [c.spread("DoNotSchedule")]
    if c.p(0.2):
        spec["nodeSelector"] = {"disktype": c.pick(["ssd", "nvme"])}
    if c.p(0.15):
        pvc(c, metadata["namespace"], f"data-{metadata['name']}", "1Gi", c.pick(["wait", "missing"]))
        spec["volumes"] = mounts([f"data-{metadata['name']}", *(["nobody"] if c.p(0.3) else [])])
    if c.p(0.15):
        metadata["namespace"] = "default"
        device_claim(c, f"claim-{metadata['name']}", [exactly("missing")])
        spec["resourceClaims"] = [{"name": "d", "resourceClaimName": f"claim-{metadata['name']}"}]
    if c.p(0.1):
        spec["hostNetwork"] = True
    if c.p(0.1):
        metadata["labels"] = {"app": c.pick(APPS), "tier": c.pick(TIERS)}


RESIZE_FAMILIES: dict[str, Callable[[Case], None]] = {deferred_resizes.__name__: deferred_resizes}
"""Those about running pods that are to get more of their node."""
