"""Families that lean on all of it: the configuration, odd objects, everything at once, one pod after another."""

from __future__ import annotations

import json

from families.cases import APPS, HOST, NAMESPACES, PREEMPT_ALL, TIERS, ZONE, Case, Manifest, Mi
from families.devices import device, device_claim, device_slice, driver, exactly
from families.storage import mounts, pv, pvc, storage_class


def profiles(c: Case) -> None:
    """Plugin sets, weights and arguments."""
    c.cluster(3, 12, taints=0.2, gpu=0.5, images=True)
    c.existing(0, 25, gpu=0.2, anti=0.15)
    res = [{"name": n, "weight": c.r.randint(1, 5)} for n in c.some(["cpu", "memory", "nvidia.com/gpu"], 1, 3)]
    strat = c.pick(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"])
    fit = {"scoringStrategy": {"type": strat, "resources": res}}
    if strat == "RequestedToCapacityRatio":
        pts = sorted(c.some(range(0, 101, 5), 2, 4))
        fit["scoringStrategy"]["requestedToCapacityRatio"] = {
            "shape": [{"utilization": u, "score": c.r.randint(0, 10)} for u in pts]
        }
    if c.p(0.3):
        fit["ignoredResources"] = ["example.com/fpga"]
    if c.p(0.2):
        fit["ignoredResourceGroups"] = ["nvidia.com"]
    pc = [{"name": "NodeResourcesFit", "args": fit}]
    if c.p(0.5):
        pc.append(
            {
                "name": "NodeResourcesBalancedAllocation",
                "args": {"resources": [{"name": r["name"], "weight": 1} for r in res]},
            }
        )
    if c.p(0.5):
        pc.append(
            {
                "name": "InterPodAffinity",
                "args": {
                    "hardPodAffinityWeight": c.pick([0, 1, 5, 100]),
                    "ignorePreferredTermsOfExistingPods": c.p(0.5),
                },
            }
        )
    if c.p(0.4):
        pc.append({"name": "NodeAffinity", "args": {"addedAffinity": c.node_affinity(0.5, 0.9)}})
    if c.p(0.4):
        pc.append(
            {
                "name": "PodTopologySpread",
                "args": {
                    "defaultingType": "List",
                    "defaultConstraints": [
                        {
                            "maxSkew": 1,
                            "topologyKey": ZONE,
                            "whenUnsatisfiable": c.pick(["DoNotSchedule", "ScheduleAnyway"]),
                        }
                    ],
                },
            }
        )
        c.add(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"selector": {"app": "web"}},
            }
        )
    names = [
        "TaintToleration",
        "NodeAffinity",
        "NodeResourcesFit",
        "PodTopologySpread",
        "InterPodAffinity",
        "NodeResourcesBalancedAllocation",
        "ImageLocality",
    ]
    points = {}
    if c.p(0.6):
        points["score"] = {"disabled": [{"name": n} for n in c.some(names, 1, 3)]}
        if c.p(0.5):
            points["score"]["enabled"] = [
                {"name": d["name"], "weight": c.r.randint(1, 20)} for d in points["score"]["disabled"][:2]
            ]
    if c.p(0.3):
        points["filter"] = {
            "disabled": [
                {"name": n} for n in c.some(["TaintToleration", "NodeAffinity", "InterPodAffinity", "NodePorts"], 1, 2)
            ]
        }
    if c.p(0.15):
        points["multiPoint"] = {"enabled": [{"name": n, "weight": c.r.randint(1, 9)} for n in c.some(names, 1, 3)]}
    prof = {"schedulerName": "default-scheduler", "pluginConfig": pc}
    if points:
        prof["plugins"] = points
    second = {
        "schedulerName": "other-scheduler",
        "plugins": {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit", "weight": 1}]}},
    }
    c.config = json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [prof, second],
        }
    )
    for name, ns in c.pending(3):
        spec = {"tolerations": c.tolerations()} if c.p(0.5) else {}
        if c.p(0.5):
            spec["affinity"] = {"nodeAffinity": c.node_affinity(0.3, 0.8), "podAffinity": c.pod_affinity(0.2, 0.8)}
        if c.p(0.2):
            spec["schedulerName"] = "other-scheduler"
        c.pod(name, ns=ns, containers=[c.container("c", gpu=0.3)], **spec)


def edge_objects(c: Case) -> None:
    """Odd but legal objects: leftovers on their way out, quantities at the rim, empty selectors, repeated entries."""
    c.cluster(2, 8, taints=0.3, unsched=0.1, numeric=True, images=True)
    for n in c.nodes:
        a = n["status"]["allocatable"]
        if c.p(0.15):
            a["memory"] = c.pick(["1Ei", "7Ei", "9Ei", "1e10", "12e9", "1G", "0", "4503599627370497"])
        if c.p(0.15):
            a["cpu"] = c.pick(["1e3", "0.5", "2500000u", "1n", "0", "16.0001", "999999999n"])
        if c.p(0.1):
            a.pop(c.pick(["cpu", "memory", "pods"]))
        if c.p(0.1):
            n["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/drain"]}
        if c.p(0.1) and n["spec"].get("taints"):
            n["spec"]["taints"] *= 2
        if c.p(0.5):
            n["status"].setdefault("images", []).extend(
                [
                    {
                        "names": c.pick(
                            [
                                ["nginx:latest"],
                                ["hub.example/library/nginx:latest"],
                                ["nginx:latest", "nginx@sha256:" + "1" * 64],
                            ]
                        ),
                        "sizeBytes": c.pick([0, 30, 700]) * Mi,
                    },
                    {
                        "names": [
                            "registry.example:5000/tools:latest",
                            "registry.example:5000/tools@sha256:" + "2" * 64,
                        ],
                        "sizeBytes": c.pick([25, 3000]) * Mi,
                    },
                ]
            )
    c.existing(2, 14, affinity=0.1, anti=0.2, ports=0.2)
    for a in c.some(APPS, 0, 2):
        c.add(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": a, "namespace": c.pick(NAMESPACES)},
                "spec": c.pick([{}, {"selector": {}}, {"selector": {"app": a}}]),
            }
        )
    for p in [o for o in c.objects if o["kind"] == "Pod"]:
        k = c.r.random()
        if k < 0.12:
            p["status"]["phase"] = c.pick(["Succeeded", "Failed"])
        elif k < 0.24:
            p["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
        elif k < 0.32:
            p["spec"]["nodeName"] = "node-999"
        elif k < 0.4:
            p["spec"]["containers"][0]["resources"] = {
                "requests": c.pick(
                    [
                        {"cpu": "0", "memory": "0"},
                        {"memory": "1Ei"},
                        {"memory": "6Ei"},
                        {"cpu": "1n"},
                        {"example.com/fpga": "0"},
                    ]
                )
            }
        elif k < 0.46:
            p["metadata"].pop("labels")

    def named(*names: str, operator: str = "In") -> Manifest:
        return {"key": "metadata.name", "operator": operator, "values": list(names)}

    def term() -> Manifest:
        t = {"topologyKey": c.pick([HOST, ZONE, "disktype"])}
        if c.p(0.85):
            t["labelSelector"] = c.pick(
                [
                    {},
                    {"matchLabels": {}},
                    {"matchExpressions": []},
                    {"matchLabels": {"app": c.pick(APPS)}},
                    {
                        "matchExpressions": [
                            {"key": "app", "operator": "NotIn", "values": ["web"]},
                            {"key": "tier", "operator": "Exists"},
                        ]
                    },
                ]
            )
        ns = c.pick(["absent", "absent", "empty", "none", "some", "both"])
        if ns in ("empty", "both"):
            t["namespaceSelector"] = {} if ns == "empty" else {"matchLabels": {"team": "a"}}
        if ns in ("some", "both"):
            t["namespaces"] = ["team-b", "ghost"]
        if ns == "none":
            t["namespaceSelector"] = {"matchLabels": {"team": "nobody"}}
        if c.p(0.15):
            t[c.pick(["matchLabelKeys", "mismatchLabelKeys"])] = ["tier"]
        return t

    for name, ns in c.pending(4):
        cs = [c.container(f"c{i}") for i in range(c.r.randint(1, 2))]
        spec = {}
        for odd in c.some(
            [
                "quantity",
                "tolerations",
                "affinity",
                "anti",
                "preferred",
                "spread",
                "ports",
                "node",
                "images",
                "priority",
                "bare",
            ],
            1,
            2,
        ):
            if odd == "quantity":
                cs[0]["resources"] = {
                    "requests": c.pick(
                        [
                            {"cpu": "0.5", "memory": "1e9"},
                            {"cpu": "1n"},
                            {"cpu": "1e3"},
                            {"memory": "1Ei"},
                            {"memory": "5Ei"},
                            {"memory": "0.5Gi"},
                            {"cpu": "100u", "memory": "1"},
                            {"memory": "1500m"},
                            {"cpu": "0", "memory": "0"},
                            {"example.com/fpga": "0"},
                            {"nvidia.com/gpu": "1e0"},
                            {"ephemeral-storage": "1k"},
                        ]
                    )
                }
                if c.p(0.1) and len(cs) > 1:
                    cs[1]["resources"] = {"requests": {"memory": "6Ei"}}
            elif odd == "tolerations":
                t = c.tolerations()
                spec["tolerations"] = (
                    t
                    + t
                    + [{"key": "gpu", "operator": "Exists", "effect": ""}, {"operator": "Exists", "key": ""}][
                        : c.r.randint(0, 2)
                    ]
                )
            elif odd in ("affinity", "anti"):
                spec.setdefault("affinity", {})["podAffinity" if odd == "affinity" else "podAntiAffinity"] = {
                    "requiredDuringSchedulingIgnoredDuringExecution": [term() for _ in range(c.r.randint(1, 2))]
                }
            elif odd == "preferred":
                spec.setdefault("affinity", {})["podAffinity"] = {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": c.pick([1, 100]), "podAffinityTerm": term()} for _ in range(2)
                    ]
                }
            elif odd == "spread":
                k = c.spread("DoNotSchedule") | {"minDomains": c.pick([1, 3, 9])}
                if c.p(0.5):
                    k |= {"nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor"}
                if c.p(0.3):
                    k |= {"labelSelector": {}, "matchLabelKeys": ["app", "tier"]}
                spec["topologySpreadConstraints"] = [k]
            elif odd == "ports":
                cs[0]["ports"] = [c.port() for _ in range(2)] + [{"containerPort": 80}]
                spec["hostNetwork"] = c.p(0.4)
                if spec["hostNetwork"]:
                    for x in cs[0]["ports"]:
                        x["hostPort"] = x["containerPort"]
            elif odd == "node":
                required = c.pick(
                    [
                        [],
                        [{}],
                        [{"matchExpressions": []}],
                        [{}, c.node_term(True)],
                        [
                            {
                                "matchExpressions": [
                                    {"key": "cores", "operator": "Gt", "values": [c.pick(["-5", "007", "7"])]}
                                ]
                            }
                        ],
                        [
                            {
                                "matchExpressions": [{"key": "disktype", "operator": "NotIn", "values": ["ssd"]}],
                                "matchFields": [named("node-001", operator="NotIn")],
                            }
                        ],
                        [{"matchFields": [named("node-000")]}, {"matchFields": [named("node-001")]}],
                        [{"matchFields": [named("node-000")]}, c.node_term()],
                        [{"matchFields": [named("node-000", "node-001"), named("node-001", "node-002")]}],
                        [{"matchFields": [named("node-000"), named("node-001")]}],
                    ]
                )
                spec.setdefault("affinity", {})["nodeAffinity"] = {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": required},
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 5, "preference": {}},
                        {"weight": 3, "preference": c.node_term(True)},
                    ],
                }
                if c.p(0.3):
                    spec["nodeSelector"] = c.pick([{}, {"disktype": ""}, {"missing": ""}])
            elif odd == "images":
                for x in cs:
                    x["image"] = c.pick(
                        [
                            "nginx",
                            "nginx:latest",
                            "registry.example:5000/tools",
                            "registry.example:5000/tools@sha256:" + "2" * 64,
                            "nginx@sha256:" + "1" * 64,
                            "library/nginx",
                        ]
                    )
                spec["volumes"] = [
                    {"name": "model", "image": {"reference": c.pick(["nginx", "registry.example:5000/tools:latest"])}}
                ]
            elif odd == "priority":
                spec["priorityClassName"] = c.pick(["system-cluster-critical", "ghost-class"])
            elif odd == "bare":
                cs = [{"name": "c", "image": ""}]
        p = c.pod(name, ns=ns, containers=cs, **spec)
        if c.p(0.06):
            p["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z"}
        if c.p(0.1):
            p["metadata"].pop("labels")
        if c.p(0.06):
            p["status"] = {"phase": "Pending", "nominatedNodeName": c.pick(["ghost", "node-000"])}
    c.config = PREEMPT_ALL


def mixed(c: Case) -> None:
    """Everything that is not storage or a device, at once."""
    c.cluster(
        4, 20, taints=0.15, unsched=0.05, gpu=0.3, images=True, missing_labels=0.05, numeric=True, ephemeral=c.p(0.4)
    )
    for a in c.some(APPS, 0, 3):
        c.add(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": a, "namespace": c.pick(NAMESPACES)},
                "spec": {"selector": {"app": a}},
            }
        )
    c.existing(0, 60, prio=0.3, ports=0.15, affinity=0.15, anti=0.15, gpu=0.15, ephemeral=0.1)
    c.config = PREEMPT_ALL if c.p(0.5) else None
    for name, ns in c.pending(4):
        spec = {}
        if c.p(0.4):
            spec["tolerations"] = c.tolerations()
        aff = {}
        if c.p(0.4):
            aff["nodeAffinity"] = c.node_affinity(0.5, 0.7, numeric=True)
        if c.p(0.35):
            aff["podAffinity"] = c.pod_affinity(0.3, 0.7)
        if c.p(0.35):
            aff["podAntiAffinity"] = c.pod_affinity(0.5, 0.5)
        if aff:
            spec["affinity"] = aff
        if c.p(0.4):
            spec["topologySpreadConstraints"] = [c.spread()]
        if c.p(0.3):
            spec["priority"] = c.pick([0, 10, 1000])
        cs = [c.container(f"c{i}", gpu=0.2, ephemeral=0.15, big=c.p(0.2)) for i in range(c.r.randint(1, 3))]
        if c.p(0.2):
            cs[0]["ports"] = [c.port()]
        c.pod(name, ns=ns, containers=cs, **spec)


def sequence(c: Case) -> None:
    """Many pods of a few templates, placed one after another: what each leaves behind decides the next."""
    c.cluster(4, 12, taints=0.15, gpu=0.3, images=True)
    c.existing(0, 15, anti=0.1)
    templates = []
    for _ in range(c.r.randint(2, 4)):
        spec = {}
        if c.p(0.4):
            spec["topologySpreadConstraints"] = [c.spread()]
        if c.p(0.4):
            spec["affinity"] = {"podAntiAffinity": c.pod_affinity(0.5, 0.6)}
        if c.p(0.3):
            spec.setdefault("affinity", {})["podAffinity"] = c.pod_affinity(0.2, 0.9)
        cs = [c.container("c", gpu=0.2)]
        if c.p(0.2):
            cs[0]["ports"] = [c.port()]
        templates.append((c.pick(NAMESPACES), {"app": c.pick(APPS), "tier": c.pick(TIERS)}, cs, spec))
    for i in range(c.r.randint(8, 30)):
        ns, labels, cs, spec = c.pick(templates)
        c.pod(
            f"new-{i:02d}", ns=ns, labels=labels, containers=json.loads(json.dumps(cs)), **json.loads(json.dumps(spec))
        )
    c.simulate = True
    c.config = PREEMPT_ALL


def sequence_claims(c: Case) -> None:
    """Pods that take volumes and devices as they go: what one has reserved, the next finds gone."""
    c.cluster(3, 6)
    d = driver(c, "plain")
    storage_class(c, "local", provisioner="kubernetes.io/no-provisioner")
    storage_class(c, "wait", topo=["zone-0", "zone-1"] if c.p(0.5) else None)
    sizes = iter(c.r.sample(range(1, 60), 30))
    for n in (n["metadata"]["name"] for n in c.nodes):
        device_slice(
            c, d, n, f"plain-{n}", nodeName=n, devices=[device(c, f"dev-{i}") for i in range(c.r.randint(1, 3))]
        )
        for i in range(c.r.randint(0, 2)):
            pv(c, f"local-{n}-{i}", f"{next(sizes)}Gi", "local", host=n)
    for i in range(c.r.randint(8, 18)):
        spec = {}
        if c.p(0.7):
            device_claim(c, f"claim-{i}", [exactly("plain", count=c.r.randint(1, 2))])
            spec["resourceClaims"] = [{"name": "d", "resourceClaimName": f"claim-{i}"}]
        if c.p(0.6):
            pvc(c, "default", f"data-{i}", f"{c.pick([1, 5, 20])}Gi", c.pick(["local", "local", "wait"]))
            spec["volumes"] = mounts([f"data-{i}"])
        c.pod(f"new-{i:02d}", ns="default", **spec)
    c.simulate = True
    c.config = PREEMPT_ALL
