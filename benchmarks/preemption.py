"""PostFilter beside kube-scheduler's own: on which of 5,000 nodes would evictions make room, and which is the best.

Every node runs four pods of 900 millicores, so 20,000 in all, of several priorities and start times. Pending pods of
one kind come several at a time, each with requests of its own; nobody is evicted in between. Two configurations: the
default one, with which the search ends at 500 candidates, and one that wants all nodes. The oracle answers the same
cases with ``"timing": true``; what is compared is PostFilter alone, the medians of both.
"""

import argparse
import statistics
import tempfile
import time

import msgspec

from benchmarks import machines, oracles, workloads
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.engine.attempts import post_filter
from schedctl.scheduler import Scheduler

KINDS = {
    "one victim": {"cpu": 800},
    "two victims": {"cpu": 1700},
    "all victims": {"cpu": 3600},
    "host port": {"cpu": 1700, "box": {"ports": [{"containerPort": 80, "hostPort": 80}]}},
    "spread": {"cpu": 1700, "template": "spread"},
    "anti-affinity": {"cpu": 1700, "template": "anti"},
    "budgets": {"cpu": 1700},
}
"""What pending pods ask for, in millicores, and what they want besides."""

ALL_NODES = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 100}
"""


def case(kind: str, config: str, nodes: int, pods: int) -> dict:
    """A full cluster, and pods of high priority."""
    spec = dict(KINDS[kind])
    cpu, template = spec.pop("cpu"), spec.pop("template", "high")
    names = [f"node-{i:05d}" for i in range(nodes)]
    objects = [workloads.node(name, f"zone{i % 3}") for i, name in enumerate(names)]
    for i in range(4 * nodes):
        pod = workloads.pod(f"low-{i:05d}", "sched-0", "low", on=names[i % nodes], labels={"app": f"app-{i % 100}"})
        pod["spec"]["priority"] = i * 7 % 5
        seconds = i * 7919 % (4 * nodes)
        clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        pod["status"] = {**pod.get("status", {}), "phase": "Running", "startTime": f"2026-02-01T{clock}Z"}
        objects.append(pod)
    if kind == "budgets":
        objects += [budget(f"app-{i}", i % 3) for i in range(50)]
    for i in range(pods):
        pod = workloads.pod(f"high-{i:02d}", "sched-0", template, cpu=f"{cpu + i}m", memory="500Mi", **spec)
        pod["spec"]["priority"] = 1000
        objects.append(pod)
    case = {"id": kind, "objects": objects, "lean": True, "timing": True}
    return case | ({"config": config} if config else {})


def budget(app: str, allowed: int) -> dict:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": "sched-0"},
        "spec": {"selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed},
    }


def ours(raw: dict) -> tuple[float, list[str]]:
    """The median of PostFilter in seconds, and the nodes nominated."""
    made = msgspec.convert(raw, Case)
    cluster, pods = cluster_of(made)
    scheduler = Scheduler(cluster, configuration(made))
    times, nominated = [], []
    for pod in pods:
        outcome = scheduler.attempt(pod)
        began = time.perf_counter()
        result = post_filter(outcome)
        times.append(time.perf_counter() - began)
        nominated.append(result.nominated_node)
    return statistics.median(times), nominated


def theirs(oracle: str, raw: dict) -> tuple[float, list[str]]:
    """The same of the oracle."""
    with tempfile.TemporaryDirectory() as folder:
        answer, _ = oracles.answer_of_case(oracle, raw, folder)
    found = [cycle["postFilter"] for cycle in answer["cycles"]]
    return statistics.median(each["seconds"] for each in found), [each.get("nominatedNode", "") for each in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    oracles.option(parser)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=5)
    parser.add_argument("--kind", action="append", choices=KINDS)
    args = parser.parse_args()
    print(machines.sentence(machines.about()), flush=True)
    oracle = oracles.require(args.oracle)
    print(f"{args.nodes} nodes, {4 * args.nodes} running pods; medians of {args.pods} pods, milliseconds a PostFilter")
    print(f"{'pending pod':<16}{'candidates':>12}{'ours':>10}{'oracle':>10}{'ratio':>8}")
    for kind in args.kind or KINDS:
        for candidates, config in ((f"{args.nodes // 10}", ""), ("all", ALL_NODES)):
            raw = case(kind, config, args.nodes, args.pods)
            mine, my_nodes = ours(raw)
            other, nodes = theirs(oracle, raw)
            same = "" if config == "" or nodes == my_nodes else "  other nodes!"
            print(
                f"{kind:<16}{candidates:>12}{mine * 1000:>10.2f}{other * 1000:>10.2f}{other / mine:>7.0f}x{same}",
                flush=True,
            )


if __name__ == "__main__":
    main()
