"""What every family draws from: one case, and the small draws it is made of.

A case is a cluster with a few pods to ask about. Everything in it comes from one generator, seeded with the family's
name and the seed, so a family's cases do not depend on the other families. Clusters are small and wrong on purpose:
labels are missing, nodes are overcommitted, selectors match nothing.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Manifest: TypeAlias = dict[str, Any]

ZONE, HOST, REGION = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "topology.kubernetes.io/region"
Gi, Mi = 1 << 30, 1 << 20
APPS = ["web", "db", "cache", "batch", "api"]
TIERS = ["front", "back"]
NAMESPACES = ["default", "team-a", "team-b"]
TAINT_KEYS = ["gpu", "spot", "dedicated", "node.kubernetes.io/not-ready", "node.kubernetes.io/disk-pressure"]
EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]

# DefaultPreemption samples candidates from a random offset; asking for all of them makes the answer unique.
PREEMPT_ALL = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: DefaultPreemption
    args:
      minCandidateNodesPercentage: 100
      minCandidateNodesAbsolute: 1000
"""


class Case:
    """Builds one case; every draw comes from one seeded generator."""

    def __init__(self, family: str, seed: int) -> None:
        self.r = random.Random(f"{family}/{seed}")
        self.id = f"{family}-{seed}"
        self.objects: list[Manifest] = []
        self.config: str | None = None
        self.simulate = self.groups = False
        self.nodes: list[Manifest] = []
        self.n_existing = self.n_started = 0

    # -- small draws ------------------------------------------------------
    def p(self, x: float) -> bool:
        """True, x times in one."""
        return self.r.random() < x

    def pick(self, xs: Iterable[T]) -> T:
        """Any one of them."""
        return self.r.choice(list(xs))

    def some(self, xs: Iterable[T], lo: int = 1, hi: int | None = None) -> list[T]:
        """Between `lo` and `hi` of them, in any order, none twice."""
        xs = list(xs)
        k = self.r.randint(lo, min(hi or len(xs), len(xs)))
        return self.r.sample(xs, k)

    def cpu(self, lo: int = 50, hi: int = 4000) -> str:
        """A quantity of CPU, in any spelling; the bounds are in milli-CPU."""
        v = self.r.randrange(lo, hi, 10)
        return self.pick([f"{v}m", f"{v}m", f"{v / 1000:.3f}", str(max(1, v // 1000))])

    def mem(self, lo: int = 16, hi: int = 8192) -> str:
        """A quantity of memory, in any spelling; the bounds are in Mi, more or less."""
        v = self.r.randrange(lo, hi)
        return self.pick([f"{v}Mi", f"{v}Mi", f"{v}M", str(v * Mi), f"{max(1, v // 1024)}Gi", f"{v * 1000}k"])

    # -- cluster ------------------------------------------------------------
    def add(self, o: Manifest) -> Manifest:
        """Puts an object into the case, and hands it back for more changes."""
        self.objects.append(o)
        return o

    def namespaces(self) -> None:
        """The three namespaces every cluster has, each labelled with its last letter as its team."""
        for ns in NAMESPACES:
            self.add(
                {
                    "apiVersion": "v1",
                    "kind": "Namespace",
                    "metadata": {"name": ns, "labels": {"kubernetes.io/metadata.name": ns, "team": ns[-1]}},
                }
            )

    def node(
        self,
        i: int,
        *,
        zones: int = 3,
        taints: float = 0.0,
        gpu: float = 0.0,
        images: bool = False,
        small: bool = False,
        missing_labels: float = 0.0,
        unsched: float = 0.0,
        numeric: bool = False,
        ephemeral: bool = False,
        hugepages: bool = False,
    ) -> Manifest:
        """A node with some room. Fractions are chances; flags say whether such nodes have the thing at all."""
        name = f"node-{i:03d}"
        labels = {
            HOST: name,
            ZONE: f"zone-{self.r.randrange(zones)}",
            REGION: "r1",
            "disktype": self.pick(["ssd", "hdd"]),
            "node.kubernetes.io/instance-type": self.pick(["m5", "c5", "g4"]),
        }
        for k in (ZONE, HOST, "disktype"):
            if self.p(missing_labels):
                labels.pop(k, None)
        if numeric:
            labels["cores"] = self.pick(["4", "8", "16", "0", "-3", "many", "+5"])
        cpu, mem = (
            (self.pick([1, 2, 4]), self.pick([2, 4]))
            if small
            else (self.pick([2, 4, 8, 16, 32]), self.pick([4, 8, 16, 64]))
        )
        alloc = {
            "cpu": self.pick([str(cpu), f"{cpu * 1000 - self.pick([0, 70, 100])}m"]),
            "memory": self.pick([f"{mem}Gi", f"{mem * 1024 * 1024 - 102400}Ki"]),
            "pods": str(self.pick([3, 5, 10, 110]) if small else self.pick([10, 30, 110])),
        }
        if ephemeral:
            alloc["ephemeral-storage"] = self.pick(["10Gi", "100Gi", "20G"])
        if hugepages:
            alloc["hugepages-2Mi"] = self.pick(["0", "64Mi", "1Gi"])
        if self.p(gpu):
            alloc["nvidia.com/gpu"] = self.pick(["1", "2", "4", "8"])
        if self.p(gpu / 2):
            alloc["example.com/fpga"] = self.pick(["0", "1", "3"])
        n = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {},
            "status": {"allocatable": alloc, "capacity": dict(alloc)},
        }
        if self.p(taints):
            ts = []
            for k in self.some(TAINT_KEYS, 1, 3):
                t = {"key": k, "effect": self.pick(EFFECTS)}
                if self.p(0.7):
                    t["value"] = self.pick(["y", "n", "team-a"])
                ts.append(t)
            n["spec"]["taints"] = ts
        if self.p(unsched):
            n["spec"]["unschedulable"] = True
            if self.p(0.5):
                n["spec"].setdefault("taints", []).append(
                    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
                )
        if images:
            n["status"]["images"] = [
                {
                    "names": [f"registry.example/{a}:v1", f"registry.example/{a}@sha256:{'0' * 63}{j}"],
                    "sizeBytes": self.pick([1, 20, 90, 500, 1200, 4000]) * Mi,
                }
                for j, a in enumerate(self.some(APPS, 0 if self.p(0.3) else 1))
            ]
        self.nodes.append(n)
        return self.add(n)

    def cluster(self, lo: int = 3, hi: int = 14, **kw: Any) -> None:
        """The namespaces, and between `lo` and `hi` nodes of one kind (`kw` is for `node`)."""
        if not any(o["kind"] == "Namespace" for o in self.objects):
            self.namespaces()
        for i in range(self.r.randint(lo, hi)):
            self.node(i, **kw)

    # -- pods -----------------------------------------------------------------
    def container(
        self,
        name: str = "c",
        *,
        requests: bool = True,
        limits: bool = False,
        image: str | None = None,
        gpu: float = 0.0,
        ephemeral: float = 0.0,
        hugepages: float = 0.0,
        big: bool = False,
    ) -> Manifest:
        """A container; what may not be overcommitted has limits equal to its requests."""
        c = {"name": name, "image": image or f"registry.example/{self.pick(APPS)}:{self.pick(['v1', 'v2', 'v1'])}"}
        if self.p(0.1):
            c["image"] = self.pick(["nginx", "busybox:latest", f"registry.example/{self.pick(APPS)}"])
        res = {}
        if requests:
            req = {}
            if self.p(0.85):
                req["cpu"] = self.cpu(50, 8000 if big else 1500)
            if self.p(0.85):
                req["memory"] = self.mem(16, 8192 if big else 1500)
            if self.p(ephemeral):
                req["ephemeral-storage"] = self.mem(100, 12000)
            if self.p(gpu):
                req["nvidia.com/gpu"] = str(self.r.randint(1, 4))
            if self.p(gpu / 3):
                req["example.com/fpga"] = "1"
            if self.p(hugepages):
                req["hugepages-2Mi"] = self.pick(["2Mi", "64Mi", "128Mi"])
            res["requests"] = req
        if limits and self.p(0.6):
            res["limits"] = {"cpu": self.cpu(100, 3000), "memory": self.mem(64, 3000)}
            if self.p(0.5):
                res.pop("requests", None)
        if any(k.startswith(("nvidia", "example", "hugepages")) for k in res.get("requests", {})):
            lim = res.setdefault("limits", {})
            for k, v in res["requests"].items():
                if k.startswith(("nvidia", "example", "hugepages")):
                    lim[k] = v
        if res:
            c["resources"] = res
        return c

    def pod(
        self,
        name: str,
        *,
        ns: str | None = None,
        node: str | None = None,
        labels: Manifest | None = None,
        containers: list[Manifest] | None = None,
        **spec: Any,
    ) -> Manifest:
        """A pod, running if it has a node and pending otherwise; `spec` is merged into its spec."""
        labels = {"app": self.pick(APPS), "tier": self.pick(TIERS)} if labels is None else labels
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": ns or "default", "labels": labels},
            "spec": {"containers": containers or [self.container()], **spec},
        }
        if node:
            pod["spec"]["nodeName"] = node
            pod["status"] = {
                "phase": "Running",
                "startTime": f"2026-01-{self.r.randint(1, 28):02d}T00:00:{self.r.randint(0, 59):02d}Z",
            }
        return self.add(pod)

    def existing(self, lo: int = 0, hi: int = 25, **kw: Any) -> None:
        """Pods that already run, each on a random node (not checked for fit: clusters do get overcommitted)."""
        for _ in range(self.r.randint(lo, hi)):
            self.existing_one(**kw)

    def existing_one(
        self, prio: float = 0.0, ports: float = 0.0, affinity: float = 0.0, anti: float = 0.0, **kw: Any
    ) -> Manifest:
        """One pod that already runs somewhere; `kw` is for its container."""
        spec = {}
        if self.p(prio):
            spec["priority"] = self.pick([-10, 0, 5, 100, 1000])
        if self.p(affinity):
            spec["affinity"] = {"podAffinity": self.pod_affinity(required=0.3)}
        if self.p(anti):
            spec.setdefault("affinity", {})["podAntiAffinity"] = self.pod_affinity(required=0.6)
        cs = [self.container(**kw)]
        if self.p(ports):
            cs[0]["ports"] = [self.port()]
        p = self.pod(
            f"run-{self.n_existing:03d}",
            ns=self.pick(NAMESPACES),
            node=self.pick(self.nodes)["metadata"]["name"],
            containers=cs,
            **spec,
        )
        self.n_existing += 1
        return p

    # -- constraints ---------------------------------------------------------
    def port(self) -> Manifest:
        """A host port, sometimes on one protocol or one address only."""
        p = {"containerPort": 80, "hostPort": self.pick([80, 443, 8080])}
        if self.p(0.4):
            p["protocol"] = self.pick(["TCP", "UDP", "SCTP"])
        if self.p(0.4):
            p["hostIP"] = self.pick(["0.0.0.0", "10.0.0.1", "127.0.0.1"])
        return p

    def node_requirement(self, numeric: bool = False) -> Manifest:
        """One requirement of a node selector term, Gt and Lt only where nodes have a number to compare."""
        op = self.pick(["In", "In", "NotIn", "Exists", "DoesNotExist"] + (["Gt", "Lt"] if numeric else []))
        if op in ("Gt", "Lt"):
            return {"key": "cores", "operator": op, "values": [str(self.pick([0, 4, 7, 16]))]}
        key = self.pick([ZONE, "disktype", HOST, "missing", "node.kubernetes.io/instance-type"])
        r = {"key": key, "operator": op}
        if op in ("In", "NotIn"):
            r["values"] = self.some(
                {
                    ZONE: ["zone-0", "zone-1", "zone-2"],
                    "disktype": ["ssd", "hdd", "nvme"],
                    HOST: [f"node-{i:03d}" for i in range(5)],
                    "missing": ["x"],
                    "node.kubernetes.io/instance-type": ["m5", "c5", "g4"],
                }[key],
                1,
                2,
            )
        return r

    def node_term(self, numeric: bool = False) -> Manifest:
        """A node selector term: expressions, fields, both or neither."""
        t = {}
        if self.p(0.9):
            t["matchExpressions"] = [self.node_requirement(numeric) for _ in range(self.r.randint(1, 2))]
        if self.p(0.15):
            t["matchFields"] = [
                {
                    "key": "metadata.name",
                    "operator": self.pick(["In", "In", "NotIn"]),
                    "values": [self.pick([f"node-{i:03d}" for i in range(6)])],
                }
            ]
        return t

    def node_affinity(self, required: float = 0.7, preferred: float = 0.7, numeric: bool = False) -> Manifest:
        """A node affinity with either half by chance."""
        a = {}
        if self.p(required):
            a["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [self.node_term(numeric) for _ in range(self.r.randint(1, 2))]
            }
        if self.p(preferred):
            a["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": self.r.randint(1, 100), "preference": self.node_term(numeric)}
                for _ in range(self.r.randint(1, 3))
            ]
        return a

    def label_selector(self) -> Manifest:
        """A selector over pods: labels, an expression, both labels, or everything."""
        k = self.r.random()
        if k < 0.55:
            return {"matchLabels": {"app": self.pick(APPS)}}
        if k < 0.8:
            op = self.pick(["In", "NotIn", "Exists", "DoesNotExist"])
            e = {"key": self.pick(["app", "tier", "nope"]), "operator": op}
            if op in ("In", "NotIn"):
                e["values"] = self.some(APPS + TIERS, 1, 3)
            return {"matchExpressions": [e]}
        if k < 0.9:
            return {"matchLabels": {"app": self.pick(APPS), "tier": self.pick(TIERS)}}
        return {}

    def pod_term(self, keys: bool = False) -> Manifest:
        """A pod affinity term, in its own namespace or beyond."""
        t = {"topologyKey": self.pick([ZONE, HOST, ZONE, HOST, "disktype", REGION])}
        if self.p(0.93):
            t["labelSelector"] = self.label_selector()
        if self.p(0.25):
            t["namespaces"] = self.some([*NAMESPACES, "ghost"], 1, 2)
        if self.p(0.2):
            t["namespaceSelector"] = self.pick(
                [{}, {"matchLabels": {"team": "a"}}, {"matchExpressions": [{"key": "team", "operator": "Exists"}]}]
            )
        if keys and t.get("labelSelector") and self.p(0.5):
            t[self.pick(["matchLabelKeys", "mismatchLabelKeys"])] = [self.pick(["tier", "nope"])]
        return t

    def pod_affinity(self, required: float = 0.5, preferred: float = 0.6) -> Manifest:
        """An affinity or anti-affinity to pods with at least one half."""
        a = {}
        if self.p(required):
            a["requiredDuringSchedulingIgnoredDuringExecution"] = [self.pod_term() for _ in range(self.r.randint(1, 2))]
        if self.p(preferred) or not a:
            a["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": self.r.randint(1, 100), "podAffinityTerm": self.pod_term()}
                for _ in range(self.r.randint(1, 2))
            ]
        return a

    def spread(self, hard: str | None = None) -> Manifest:
        """A topology spread constraint; `hard` fixes what happens when it is unsatisfiable."""
        when = hard or self.pick(["DoNotSchedule", "ScheduleAnyway"])
        c = {
            "maxSkew": self.pick([1, 1, 2, 3]),
            "topologyKey": self.pick([ZONE, HOST, ZONE, HOST, "disktype", "missing"]),
            "whenUnsatisfiable": when,
        }
        if self.p(0.93):
            c["labelSelector"] = self.label_selector()
        if when == "DoNotSchedule" and self.p(0.3):
            c["minDomains"] = self.pick([1, 2, 3, 4, 6])
        if self.p(0.3):
            c["nodeAffinityPolicy"] = self.pick(["Honor", "Ignore"])
        if self.p(0.3):
            c["nodeTaintsPolicy"] = self.pick(["Honor", "Ignore"])
        if "labelSelector" in c and self.p(0.25):
            c["matchLabelKeys"] = [self.pick(["tier", "app", "nope"])]
        return c

    def tolerations(self) -> list[Manifest]:
        """Up to three tolerations, from one exact taint to everything."""
        out = []
        for _ in range(self.r.randint(0, 3)):
            t = {"operator": self.pick(["Equal", "Exists", "Exists"])}
            if t["operator"] == "Equal" or not self.p(0.15):
                t["key"] = self.pick([*TAINT_KEYS, "node.kubernetes.io/unschedulable"])
            if t["operator"] == "Equal":
                t["value"] = self.pick(["y", "n", "team-a", ""])
                if self.p(0.3):
                    t.pop("operator")
            if self.p(0.6):
                t["effect"] = self.pick(EFFECTS)
            if t.get("effect") == "NoExecute" and self.p(0.3):
                t["tolerationSeconds"] = 300
            out.append(t)
        return out

    def pending(self, n: int = 2) -> Iterator[tuple[str, str]]:
        """Names and namespaces for `n` pods to ask about."""
        for i in range(n):
            yield f"new-{i}", self.pick(NAMESPACES)

    def done(self) -> Manifest:
        """The case as the oracle reads it."""
        d = {"id": self.id, "objects": self.objects}
        if self.config:
            d["config"] = self.config
        if self.simulate:
            d["simulate"] = True
        if self.groups:
            d["groups"] = True
        return d


def config_of(*plugins: Manifest) -> str:
    """The default scheduler with arguments for these plugins."""
    return json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "default-scheduler", "pluginConfig": list(plugins)}],
        }
    )
