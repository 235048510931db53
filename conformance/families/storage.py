"""Families that lean on volumes: claims in every state, disks in the pod, attach limits, storage capacity."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from families.cases import HOST, REGION, TIERS, ZONE, Case, Manifest, config_of


def storage_class(
    c: Case,
    name: str,
    provisioner: str = "csi.example.com",
    mode: str = "WaitForFirstConsumer",
    topo: list[str] | None = None,
) -> Manifest:
    """A StorageClass, limited to the zones of `topo` when given."""
    sc = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }
    if topo:
        sc["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": topo}]}]
    return c.add(sc)


def pv(
    c: Case,
    name: str,
    size: str,
    sc: str,
    modes: Sequence[str] = ("ReadWriteOnce",),
    zone: str | None = None,
    claim: tuple[str, str] | None = None,
    driver: str = "csi.example.com",
    host: str | None = None,
    labels: Manifest | None = None,
) -> Manifest:
    """A PersistentVolume, free, or bound to `claim` (a namespace and a name)."""
    o = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": list(modes),
            "storageClassName": sc,
            "csi": {"driver": driver, "volumeHandle": name},
        },
        "status": {"phase": "Available"},
    }
    terms = []
    if zone:
        terms.append({"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]})
    if host:
        terms.append({"matchExpressions": [{"key": HOST, "operator": "In", "values": [host]}]})
    if terms:
        o["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    if claim:
        o["spec"]["claimRef"] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": claim[0],
            "name": claim[1],
            "uid": f"uid-{claim[0]}/{claim[1]}",
        }
        o["status"]["phase"] = "Bound"
    return c.add(o)


def pvc(
    c: Case,
    ns: str,
    name: str,
    size: str,
    sc: str,
    modes: Sequence[str] = ("ReadWriteOnce",),
    volume: str | None = None,
) -> Manifest:
    """A PersistentVolumeClaim, pending, or bound to `volume`."""
    o = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": ns, "uid": f"uid-{ns}/{name}", "annotations": {}},
        "spec": {"accessModes": list(modes), "storageClassName": sc, "resources": {"requests": {"storage": size}}},
        "status": {"phase": "Pending"},
    }
    if volume:
        o["spec"]["volumeName"] = volume
        o["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes"
        o["status"]["phase"] = "Bound"
    return c.add(o)


def csi_node(c: Case, node: Manifest, drivers: list[Manifest], **metadata: Any) -> Manifest:
    """The CSINode of a node: which drivers run there, and how many volumes each attaches."""
    return c.add(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSINode",
            "metadata": {"name": node["metadata"]["name"], **metadata},
            "spec": {"drivers": drivers},
        }
    )


def mounts(claims: Iterable[str]) -> list[Manifest]:
    """The volumes of a pod that uses these claims."""
    return [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": cl}} for i, cl in enumerate(claims)]


def volumes(c: Case) -> None:
    """Bound, static-unbound, dynamic and missing claims; zones; read-write-once-pod; CSI limits and capacity."""
    c.cluster(3, 10)
    storage_class(c, "wait", topo=c.some(["zone-0", "zone-1", "zone-2"], 1, 2) if c.p(0.4) else None)
    storage_class(c, "now", mode="Immediate")
    storage_class(c, "static", provisioner="kubernetes.io/no-provisioner")
    if c.p(0.5):
        c.add(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIDriver",
                "metadata": {"name": "csi.example.com"},
                "spec": {"storageCapacity": True, "attachRequired": c.p(0.8)},
            }
        )
        for z in c.some(["zone-0", "zone-1", "zone-2"], 1, 3):
            cap = {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIStorageCapacity",
                "metadata": {"name": f"cap-{z}", "namespace": "default"},
                "storageClassName": "wait",
                "nodeTopology": {"matchLabels": {ZONE: z}},
                "capacity": c.pick(["1Gi", "20Gi", "500Gi"]),
            }
            if c.p(0.3):
                cap["maximumVolumeSize"] = c.pick(["2Gi", "50Gi"])
            c.add(cap)
    for n in c.nodes:
        if c.p(0.8):
            c.add(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSINode",
                    "metadata": {"name": n["metadata"]["name"]},
                    "spec": {
                        "drivers": [
                            {
                                "name": "csi.example.com",
                                "nodeID": n["metadata"]["name"],
                                "topologyKeys": [ZONE],
                                **({"allocatable": {"count": c.pick([1, 2, 3, 25])}} if c.p(0.7) else {}),
                            }
                        ]
                    },
                }
            )
    claims = []
    for i in range(c.r.randint(2, 7)):
        ns, name = "default", f"claim-{i}"
        k = c.r.random()
        size = c.pick(["1Gi", "5Gi", "10Gi", "30Gi"])
        modes = c.pick([("ReadWriteOnce",), ("ReadWriteOnce",), ("ReadWriteMany",), ("ReadWriteOncePod",)])
        if k < 0.4:
            pv(
                c,
                f"pv-{i}",
                size,
                c.pick(["wait", "now"]),
                modes,
                zone=c.pick(["zone-0", "zone-1", None]),
                claim=(ns, name),
                labels={ZONE: c.pick(["zone-0", "zone-1", "zone-0__zone-1"])} if c.p(0.3) else None,
            )
            pvc(c, ns, name, size, "now", modes, volume=f"pv-{i}")
        elif k < 0.6:
            pvc(c, ns, name, size, "static", modes)
        elif k < 0.8:
            pvc(c, ns, name, size, "wait", modes)
        elif k < 0.9:
            pvc(c, ns, name, size, "now", modes)
        else:
            name = "ghost"
        claims.append(name)
    for i in range(c.r.randint(0, 4)):
        pv(
            c,
            f"free-{i}",
            c.pick(["1Gi", "5Gi", "20Gi", "100Gi"]),
            "static",
            c.pick([("ReadWriteOnce",), ("ReadWriteMany", "ReadWriteOnce")]),
            zone=c.pick(["zone-0", "zone-1", "zone-2", None]),
            host=c.pick([None, None, "node-000"]),
        )

    def vols(k: int) -> list[Manifest]:
        out = []
        for j, cl in enumerate(c.some(claims, 1, k)):
            out.append(
                {
                    "name": f"v{j}",
                    "persistentVolumeClaim": {"claimName": cl, **({"readOnly": True} if c.p(0.1) else {})},
                }
            )
        return out

    bound = {
        o["metadata"]["name"] for o in c.objects if o["kind"] == "PersistentVolumeClaim" and o["spec"].get("volumeName")
    }
    for _ in range(c.r.randint(0, 6)):
        p = c.existing_one()
        p["metadata"]["namespace"] = "default"
        if bound and c.p(0.7):
            p["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": c.pick(sorted(bound))}}]
    for name, _ in c.pending(3):
        c.pod(name, ns="default", volumes=vols(3))


def inline_disks(c: Case) -> None:
    """VolumeRestrictions on in-line disks that two pods may not share."""
    c.cluster(2, 6)

    def disk() -> Manifest:
        k = c.r.randrange(4)
        ro = {"readOnly": True} if c.p(0.4) else {}
        if k == 0:
            return {"gcePersistentDisk": {"pdName": c.pick(["a", "b"]), **ro}}
        if k == 1:
            return {"awsElasticBlockStore": {"volumeID": c.pick(["a", "b"]), **ro}}
        if k == 2:
            return {"iscsi": {"targetPortal": "127.0.0.1:3260", "iqn": c.pick(["iqn.a", "iqn.b"]), "lun": 0, **ro}}
        return {"rbd": {"monitors": c.some(["m1", "m2", "m3"], 1, 2), "image": c.pick(["i", "j"]), "pool": "p", **ro}}

    for _ in range(c.r.randint(2, 10)):
        p = c.existing_one()
        p["spec"]["volumes"] = [{"name": "v", **disk()}]
    for name, ns in c.pending(3):
        c.pod(name, ns=ns, volumes=[{"name": f"v{i}", **disk()} for i in range(c.r.randint(1, 2))])


def csi_limits(c: Case) -> None:
    """Attach limits: counts per driver, migrated in-tree volumes, attachments nobody mounts, drivers a node lacks."""
    c.cluster(2, 6)
    ebs, pd, csi = "ebs.csi.aws.com", "pd.csi.storage.gke.io", "csi.example.com"
    storage_class(c, "wait")
    storage_class(c, "gp2", provisioner="kubernetes.io/aws-ebs")
    needed = c.pick([csi, csi, ebs, pd, None])  # one at most: of two that a node lacks, kube-scheduler names either
    for name in (csi, ebs, pd):
        if name == needed or c.p(0.5):
            c.add(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSIDriver",
                    "metadata": {"name": name},
                    "spec": {"preventPodSchedulingIfMissing": name == needed},
                }
            )
    for n in c.nodes:
        if c.p(0.5):
            n["metadata"]["labels"]["topology.ebs.csi.aws.com/zone"] = n["metadata"]["labels"][ZONE]
        if c.p(0.9):
            migrated = (
                {
                    "annotations": {
                        "storage.alpha.kubernetes.io/migrated-plugins": ",".join(
                            c.some(["kubernetes.io/aws-ebs", "kubernetes.io/gce-pd"], 1)
                        )
                    }
                }
                if c.p(0.6)
                else {}
            )
            csi_node(
                c,
                n,
                [
                    {
                        "name": d,
                        "nodeID": "x",
                        "topologyKeys": [ZONE],
                        **({"allocatable": {"count": c.pick([0, 1, 1, 2, 3, 26])}} if c.p(0.8) else {}),
                    }
                    for d in c.some([csi, ebs, pd], 1)
                ],
                **migrated,
            )
    claims = []
    for i in range(c.r.randint(4, 9)):
        name, k = f"claim-{i}", c.r.randrange(6)
        source = None
        if k == 0:
            source = {"awsElasticBlockStore": {"volumeID": f"aws://zone-0/vol-{i:08x}"}}
        elif k == 1:
            source = (
                {"gcePersistentDisk": {"pdName": f"disk-{i}"}} if c.p(0.8) else {"nfs": {"server": "s", "path": "/"}}
            )
        if k < 4:
            v = pv(
                c,
                f"pv-{i}",
                "1Gi",
                "wait",
                claim=("default", name),
                zone=c.pick([None, None, "zone-0"]) if source else None,
                labels={ZONE: "zone-0"} if source and c.p(0.2) else None,
            )
            if source:
                v["spec"].pop("csi")
                v["spec"] |= source
            elif c.p(0.3):
                v["spec"]["csi"]["volumeHandle"] = "same"
        if k == 3 and c.p(0.3):
            c.objects.pop()  # bound to a volume that does not exist
        pvc(c, "default", name, "1Gi", "gp2" if k == 4 else "wait", volume=f"pv-{i}" if k < 4 else None)
        claims.append(name)
    inline = [
        {"awsElasticBlockStore": {"volumeID": "vol-77"}},
        {"gcePersistentDisk": {"pdName": "disk-77"}},
        {"gcePersistentDisk": {"pdName": "disk-78", "readOnly": True}},
        {"azureDisk": {"diskName": "d", "diskURI": "/subscriptions/s/d", "kind": "Managed"}},
        {"cinder": {"volumeID": "c-1"}},
        {"portworxVolume": {"volumeID": "p-1"}},
        {"hostPath": {"path": "/x"}},
    ]

    def volumes(n: int) -> list[Manifest]:
        return mounts(c.some(claims, 1, n)) + ([{"name": "in", **c.pick(inline)}] if c.p(0.25) else [])

    for _ in range(c.r.randint(0, 8)):
        p = c.existing_one()
        p["metadata"]["namespace"] = "default"
        p["spec"]["volumes"] = volumes(2) if c.p(0.9) else mounts(["vanished"])
    for i, v in enumerate(o for o in [*c.objects] if o["kind"] == "PersistentVolume"):
        if c.p(0.4):
            c.add(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "VolumeAttachment",
                    "metadata": {"name": f"va-{i}"},
                    "spec": {
                        "attacher": c.pick([csi, csi, ebs]),
                        "nodeName": c.pick(c.nodes)["metadata"]["name"],
                        "source": {"persistentVolumeName": v["metadata"]["name"] if c.p(0.9) else "gone"},
                    },
                    "status": {"attached": True},
                }
            )
    for name, _ in c.pending(3):
        c.pod(name, ns="default", volumes=volumes(3))


def storage_scores(c: Case) -> None:
    """How full the storage of a node would get: capacities a driver publishes, volumes that wait to be bound."""
    c.cluster(3, 9)
    classes = {"fast": "fast.example.com", "bulk": "bulk.example.com", "local": "kubernetes.io/no-provisioner"}
    for name, provisioner in classes.items():
        storage_class(c, name, provisioner=provisioner)
        if name != "local" and c.p(0.85):
            c.add(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSIDriver",
                    "metadata": {"name": provisioner},
                    "spec": {"storageCapacity": c.p(0.9)},
                }
            )
    for name in ("fast", "bulk"):
        per_node = c.p(0.5)
        for place in sorted({n["metadata"]["labels"][HOST if per_node else ZONE] for n in c.nodes}):
            if c.p(0.12):
                continue
            capacity = {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIStorageCapacity",
                "metadata": {"name": f"{name}-{place}", "namespace": "default"},
                "storageClassName": name,
                "capacity": c.pick(["9Gi", "20Gi", "33Gi", "100Gi", "0"]),
            }
            if c.p(0.95):
                capacity["nodeTopology"] = {"matchLabels": {HOST if per_node else ZONE: place}}
            if c.p(0.2):
                capacity["maximumVolumeSize"] = c.pick(["8Gi", "50Gi"])
            elif c.p(0.06):  # never without both: kube-scheduler 1.37.1 crashes on a size limit of unknown capacity
                capacity.pop("capacity")
            c.add(capacity)
    sizes = iter(c.r.sample(range(1, 80), 20))
    for i in range(c.r.randint(0, 7)):
        v = pv(
            c,
            f"local-{i}",
            f"{next(sizes)}Gi",
            c.pick(["local", "local", "fast"]),
            zone=c.pick([None, "zone-0"]),
            host=c.pick(c.nodes)["metadata"]["name"] if c.p(0.7) else None,
        )
        v["spec"].pop("csi")
        v["spec"]["local"] = {"path": "/mnt"}
    if c.p(0.5):
        shape = [{"utilization": u, "score": c.r.randint(0, 10)} for u in sorted(c.some(range(0, 101, 10), 2, 4))]
        c.config = config_of({"name": "VolumeBinding", "args": {"shape": shape}})
    for i, (name, _) in enumerate(c.pending(3)):
        wanted = [f"want-{i}-{j}" for j in range(c.r.randint(1, 3))]
        for claim in wanted:
            size = f"{c.pick([1, 2, 5, 8, 20, 60])}Gi"
            pvc(c, "default", claim, size, c.pick(["fast", "fast", "bulk", "local"]))
        c.pod(name, ns="default", volumes=mounts(wanted))


def volume_states(c: Case) -> None:
    """Claims that are lost, deleted, pre-bound, picky or owned by somebody else; zones under their old names."""
    c.cluster(2, 7, missing_labels=0.1)
    for n in c.nodes:
        if c.p(0.3) and ZONE in n["metadata"]["labels"]:
            n["metadata"]["labels"]["failure-domain.beta.kubernetes.io/zone"] = n["metadata"]["labels"][ZONE]
    storage_class(c, "wait")
    storage_class(c, "now", mode="Immediate")
    storage_class(c, "local", provisioner="kubernetes.io/no-provisioner")
    for i in range(c.r.randint(1, 4)):
        v = pv(
            c,
            f"free-{i}",
            f"{i + 2}Gi",
            c.pick(["local", "local", "wait"]),
            c.pick([("ReadWriteOnce",), ("ReadWriteMany", "ReadWriteOnce")]),
            zone=c.pick([None, "zone-0", "zone-1"]),
            labels={"tier": c.pick(TIERS)},
        )
        for chance, change in ((0.15, {"volumeMode": "Block"}), (0.15, {"volumeAttributesClassName": "gold"})):
            if c.p(chance):
                v["spec"] |= change
        if c.p(0.1):
            v["metadata"] |= {
                "deletionTimestamp": "2026-01-01T00:00:00Z",
                "finalizers": ["kubernetes.io/pv-protection"],
            }
        if c.p(0.1):
            v["status"]["phase"] = "Released"
    if c.p(0.15):
        c.config = json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [
                    {
                        "schedulerName": "default-scheduler",
                        "plugins": {"multiPoint": {"disabled": [{"name": "VolumeZone"}]}},
                    }
                ],
            }
        )
    for i in range(4):
        name = f"claim-{i}"
        k = c.pick(
            [
                "bound",
                "bound",
                "bound",
                "bound",
                "wait",
                "wait",
                "local",
                "local",
                "picky",
                "picky",
                "prebound",
                "reserved",
                "selected",
                "selected",
                "lost",
                "deleting",
                "gone",
                "classless",
                "ghost",
                "no-class",
                "ephemeral",
                "ephemeral",
                "rwop",
            ]
        )
        vols = mounts([name])
        if k in ("bound", "rwop", "lost", "gone"):
            labels = {
                c.pick([ZONE, "failure-domain.beta.kubernetes.io/zone"]): c.pick(
                    ["zone-0", "zone-1", "zone-0__zone-1", ""]
                ),
                **(
                    {c.pick([REGION, "failure-domain.beta.kubernetes.io/region"]): c.pick(["r1", "r1", "r2"])}
                    if c.p(0.3)
                    else {}
                ),
            }
            if k != "gone":
                pv(
                    c,
                    f"pv-{i}",
                    "5Gi",
                    "now",
                    ("ReadWriteOncePod",) if k == "rwop" else ("ReadWriteOnce",),
                    claim=("default", name),
                    zone=c.pick([None, "zone-0"]),
                    labels=labels if c.p(0.6) else None,
                )
            o = pvc(
                c,
                "default",
                name,
                "5Gi",
                "now",
                ("ReadWriteOncePod",) if k == "rwop" else ("ReadWriteOnce",),
                volume=f"pv-{i}",
            )
            if k == "lost":
                o["status"]["phase"] = "Lost"
            if k == "rwop" and c.p(0.7):
                c.existing_one()["spec"]["volumes"] = vols
                c.objects[-1]["metadata"]["namespace"] = "default"
        elif k == "ephemeral":
            vols = [
                {
                    "name": "scratch",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "storageClassName": "wait",
                                "resources": {"requests": {"storage": "1Gi"}},
                            }
                        }
                    },
                }
            ]
            if c.p(0.8):
                o = pvc(c, "default", f"new-{i}-scratch", "1Gi", "wait")
                owner = f"new-{i}" if c.p(0.75) else "somebody"
                o["metadata"]["ownerReferences"] = [
                    {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "name": owner,
                        "uid": f"uid-default/{owner}",
                        "controller": True,
                    }
                ]
        else:
            o = pvc(
                c,
                "default",
                name,
                f"{c.pick([1, 2, 4])}Gi",
                {"wait": "wait", "selected": "wait", "ghost": "ghost", "deleting": "wait"}.get(k, "local"),
            )
            if k == "picky":
                o["spec"] |= c.pick(
                    [
                        {"selector": {"matchLabels": {"tier": "front"}}},
                        {"volumeMode": "Block"},
                        {"volumeAttributesClassName": "gold"},
                        {"selector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["front"]}]}},
                        {"accessModes": ["ReadWriteMany"]},
                    ]
                )
            elif k == "prebound":  # the claim names a volume, nobody completed the binding
                o["spec"]["volumeName"] = "free-0"
            elif k == "reserved":  # the volume names a claim
                pv(c, f"kept-{i}", "9Gi", "local", claim=("default", name), zone=c.pick([None, "zone-0", "zone-1"]))[
                    "status"
                ]["phase"] = "Available"
            elif k == "selected":
                o["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = c.pick(
                    [*c.nodes, {"metadata": {"name": "ghost"}}]
                )["metadata"]["name"]
            elif k == "deleting":
                o["metadata"] |= {
                    "deletionTimestamp": "2026-01-01T00:00:00Z",
                    "finalizers": ["kubernetes.io/pvc-protection"],
                }
            elif k == "classless":
                o["spec"]["storageClassName"] = ""
            elif k == "no-class":
                o["spec"].pop("storageClassName")
                o["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"] = c.pick(["wait", "local"])
        c.pod(f"new-{i}", ns="default", volumes=vols)
