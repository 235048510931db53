"""Families that lean on how much a pod takes: container and pod-level resources, overhead, resizes."""

from __future__ import annotations

from families.cases import Case, Manifest, config_of


def resources(c: Case) -> None:
    """What pods ask for against what nodes have: requests, limits, extended resources, huge pages, overhead."""
    c.cluster(small=c.p(0.5), gpu=0.4, ephemeral=c.p(0.5), hugepages=c.p(0.3))
    c.existing(0, 30, gpu=0.2, ephemeral=0.2, limits=c.p(0.3))
    for name, ns in c.pending(3):
        cs = [
            c.container(
                f"c{i}", big=c.p(0.15), gpu=0.3, ephemeral=0.3, hugepages=0.15, limits=c.p(0.4), requests=c.p(0.9)
            )
            for i in range(c.r.randint(1, 3))
        ]
        spec = {}
        if c.p(0.4):
            spec["initContainers"] = [
                c.container(f"i{i}", big=c.p(0.3), gpu=0.1) | ({"restartPolicy": "Always"} if c.p(0.4) else {})
                for i in range(c.r.randint(1, 3))
            ]
        if c.p(0.2):
            spec["overhead"] = {"cpu": c.cpu(10, 500), "memory": c.mem(8, 300)}
        if c.p(0.2):
            spec["resources"] = {"requests": {"cpu": c.cpu(3000, 9000), "memory": c.mem(5000, 9000)}}
        c.pod(name, ns=ns, containers=cs, **spec)


def pod_level(c: Case) -> None:
    """What a pod weighs: pod-level resources, init containers and sidecars, overhead, and resizes on their way."""
    c.cluster(2, 8, small=True, hugepages=c.p(0.3), ephemeral=True)
    if c.p(0.3):
        resources = [{"name": r, "weight": 1} for r in ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi")]
        c.config = config_of(
            {
                "name": "NodeResourcesFit",
                "args": {
                    "scoringStrategy": {"type": c.pick(["LeastAllocated", "MostAllocated"]), "resources": resources}
                },
            },
            {"name": "NodeResourcesBalancedAllocation", "args": {"resources": resources}},
        )

    def amount(hi: int) -> Manifest:
        return {k: v for k, v in (("cpu", c.cpu(50, hi)), ("memory", c.mem(32, hi))) if c.p(0.8)}

    def spec(hi: int = 900) -> Manifest:
        s = {"containers": [c.container(f"c{i}", requests=c.p(0.8), limits=c.p(0.3)) for i in range(c.r.randint(1, 2))]}
        if c.p(0.5):
            s["initContainers"] = [
                c.container(f"i{i}", big=c.p(0.1)) | ({"restartPolicy": "Always"} if c.p(0.6) else {})
                for i in range(c.r.randint(1, 3))
            ]
        if c.p(0.5):
            s["resources"] = {"requests": amount(hi)}
            if c.p(0.3):
                s["resources"] = {
                    c.pick(["limits", "requests"]): amount(hi) | ({"hugepages-2Mi": "4Mi"} if c.p(0.2) else {})
                }
        if c.p(0.3):
            s["overhead"] = amount(200)
        return s

    for _ in range(c.r.randint(2, 10)):
        p = c.existing_one()
        p["spec"] |= spec()
        if c.p(0.6):
            names = [k["name"] for k in p["spec"]["containers"]]
            p["status"]["containerStatuses"] = [
                {
                    "name": n,
                    "ready": True,
                    "restartCount": 0,
                    "image": "x",
                    "imageID": "x",
                    **({"allocatedResources": amount(1500)} if c.p(0.7) else {}),
                    **({"resources": {"requests": amount(1500)}} if c.p(0.6) else {}),
                }
                for n in names
                if c.p(0.9)
            ]
            if c.p(0.4) and "initContainers" in p["spec"]:
                p["status"]["initContainerStatuses"] = [
                    {
                        "name": "i0",
                        "ready": True,
                        "restartCount": 0,
                        "image": "x",
                        "imageID": "x",
                        "allocatedResources": amount(1500),
                    }
                ]
            if c.p(0.4):
                p["status"] |= {
                    "resources": {"requests": amount(1500)},
                    **({"allocatedResources": amount(1500)} if c.p(0.7) else {}),
                }
            if c.p(0.5):
                p["status"]["conditions"] = [
                    {"type": "PodResizePending", "status": "True", "reason": c.pick(["Infeasible", "Deferred"])}
                ]
    for name, ns in c.pending(4):
        s = spec(2500)
        c.pod(name, ns=ns, containers=s.pop("containers"), **s)
