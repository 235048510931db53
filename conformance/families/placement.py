"""Families that lean on where a pod may be: taints, affinities, ports, spreading, images, names, declared features."""

from __future__ import annotations

from families.cases import APPS, NAMESPACES, ZONE, Case


def taints(c: Case) -> None:
    """Taints, tolerations and cordoned nodes."""
    c.cluster(taints=0.7, unsched=0.25)
    c.existing(0, 10)
    for name, ns in c.pending(3):
        c.pod(name, ns=ns, tolerations=c.tolerations())


def nodeaffinity(c: Case) -> None:
    """Required and preferred node affinity, node selectors, Gt and Lt, match fields."""
    c.cluster(missing_labels=0.2, numeric=True)
    c.existing(0, 8)
    for name, ns in c.pending(3):
        spec = {"affinity": {"nodeAffinity": c.node_affinity(numeric=True)}} if c.p(0.85) else {}
        if c.p(0.35):
            spec["nodeSelector"] = {c.pick(["disktype", ZONE]): c.pick(["ssd", "hdd", "zone-0", "zone-1"])}
        c.pod(name, ns=ns, **spec)


def ports(c: Case) -> None:
    """Host ports: protocols, addresses, the host network."""
    c.cluster(2, 8)
    c.existing(2, 20, ports=0.7)
    for name, ns in c.pending(3):
        cs = [
            c.container(f"c{i}") | {"ports": [c.port() for _ in range(c.r.randint(1, 2))]}
            for i in range(c.r.randint(1, 2))
        ]
        c.pod(name, ns=ns, containers=cs, **({"hostNetwork": True} if c.p(0.2) else {}))


def spread(c: Case) -> None:
    """Topology spread constraints with minDomains, inclusion policies and label keys."""
    c.cluster(3, 16, missing_labels=0.1 if c.p(0.4) else 0, taints=0.2, unsched=0.1)
    c.existing(0, 30)
    for name, ns in c.pending(3):
        spec = {"topologySpreadConstraints": []}
        seen = set()
        for _ in range(c.r.randint(1, 3)):
            k = c.spread()
            if (k["topologyKey"], k["whenUnsatisfiable"]) not in seen:
                seen.add((k["topologyKey"], k["whenUnsatisfiable"]))
                spec["topologySpreadConstraints"].append(k)
        if c.p(0.3):
            spec["affinity"] = {"nodeAffinity": c.node_affinity(0.8, 0.2)}
        if c.p(0.3):
            spec["tolerations"] = c.tolerations()
        c.pod(name, ns=ns, **spec)


def podaffinity(c: Case) -> None:
    """Affinity and anti-affinity between pods, in both directions, required and preferred."""
    c.cluster(3, 16, missing_labels=0.1 if c.p(0.3) else 0)
    c.existing(0, 30, affinity=0.25, anti=0.25)
    for name, ns in c.pending(3):
        a = {}
        if c.p(0.6):
            a["podAffinity"] = c.pod_affinity()
        if c.p(0.6) or not a:
            a["podAntiAffinity"] = c.pod_affinity()
        c.pod(name, ns=ns, affinity=a)


def images(c: Case) -> None:
    """Nodes that already have some of the images."""
    c.cluster(3, 12, images=True)
    c.existing(0, 8)
    for name, ns in c.pending(3):
        cs = [c.container(f"c{i}") for i in range(c.r.randint(1, 4))]
        spec = {}
        if c.p(0.4):
            spec["initContainers"] = [c.container("i0")]
        c.pod(name, ns=ns, containers=cs, **spec)


def image_volumes(c: Case) -> None:
    """Images that are mounted as volumes, on nodes that already have some of them."""
    c.cluster(3, 8, images=True)
    known = [name for node in c.nodes for image in node["status"].get("images") or () for name in image["names"]]
    for name, ns in c.pending(3):
        mounted = [c.pick(known) if known and c.p(0.8) else "example.com/nowhere:1" for _ in range(c.r.randint(1, 4))]
        volumes = [{"name": f"v{number}", "image": {"reference": image}} for number, image in enumerate(mounted)]
        c.pod(name, ns=ns, containers=[c.container(f"c{i}") for i in range(c.r.randint(1, 3))], volumes=volumes)


def names_gates(c: Case) -> None:
    """nodeName-by-field, scheduling gates, unknown schedulers, empty clusters."""
    if c.p(0.9):
        c.cluster(1, 5)
    else:
        c.namespaces()
    for name, ns in c.pending(3):
        spec = {}
        if c.p(0.4):
            spec["schedulingGates"] = [{"name": g} for g in c.some(["example.com/quota", "example.com/data"], 1)]
        if c.p(0.4):
            spec["affinity"] = {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchFields": [
                                    {
                                        "key": "metadata.name",
                                        "operator": "In",
                                        "values": [c.pick(["node-000", "node-001", "ghost"])],
                                    }
                                ]
                            }
                        ]
                    }
                }
            }
        if c.p(0.15):
            spec["schedulerName"] = "other-scheduler"
        c.pod(name, ns=ns, **spec)


def default_spread(c: Case) -> None:
    """Cluster-default topology spreading through Services and owning controllers."""
    c.cluster(3, 14, missing_labels=0.2 if c.p(0.3) else 0)
    for a in c.some(APPS, 2):
        c.add(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": a, "namespace": c.pick(NAMESPACES)},
                "spec": {"selector": {"app": a}},
            }
        )
        if c.p(0.5):
            kind, api = c.pick([("ReplicaSet", "apps/v1"), ("StatefulSet", "apps/v1"), ("ReplicationController", "v1")])
            sel = {"app": a} if kind == "ReplicationController" else {"matchLabels": {"app": a}}
            c.add(
                {
                    "apiVersion": api,
                    "kind": kind,
                    "metadata": {"name": f"{a}-owner", "namespace": "default"},
                    "spec": {"selector": sel},
                }
            )
    c.existing(0, 30)
    owners = [o for o in c.objects if o["kind"] in ("ReplicaSet", "StatefulSet", "ReplicationController")]
    for name, ns in c.pending(3):
        p = c.pod(name, ns=ns)
        if owners and c.p(0.6):
            o = c.pick(owners)
            p["metadata"]["ownerReferences"] = [
                {
                    "apiVersion": o["apiVersion"],
                    "kind": o["kind"],
                    "name": o["metadata"]["name"],
                    "uid": "u",
                    "controller": True,
                }
            ]


def declared_features(c: Case) -> None:
    """Pods that need what only some nodes declare: restart rules, user namespaces, bind mount options."""
    c.cluster(2, 8)
    known = ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"]
    for n in c.nodes:
        if c.p(0.8):
            n["status"]["declaredFeatures"] = sorted(
                c.some([*known, "InPlacePodVerticalScalingInitContainers", "FromTheFuture"], 1, 2)
            )
    for name, ns in c.pending(3):
        main, spec = c.container(), {}
        init = c.container("i0") | ({"restartPolicy": "Always"} if c.p(0.5) else {})
        rule = {
            "action": c.pick(["RestartAllContainers", "RestartAllContainers", "Restart"]),
            "exitCodes": {"operator": "In", "values": [42]},
        }
        for need in c.some(["rule", "users", "mount", "mount", "none"], 1, 3):
            if need == "rule":
                c.pick([main, init]).update(restartPolicyRules=[rule])
            elif need == "users":
                spec |= {"hostNetwork": c.p(0.8), "hostUsers": c.p(0.2)}
            elif need == "mount":
                spec["volumes"] = [{"name": "v", "emptyDir": {}}]
                c.pick([main, init]).update(
                    volumeMounts=[
                        {"name": "v", "mountPath": "/v", **({"bindMountOptions": ["noexec"]} if c.p(0.8) else {})}
                    ]
                )
        c.pod(name, ns=ns, containers=[main], initContainers=[init], **spec)
