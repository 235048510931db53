"""A policy of ten checks, with the loss of each zone, beside a plain simulation of the same manifests.

500 pods of ten Deployments, one for each kind of constraint of the shape `Deployments`, come into its fleet of 5,000
nodes in three zones, where its workloads run already, 20,000 pods of them. A third of all pods loses its node with each
zone. A fifth of the workloads is critical; with `--critical 100` all pods are, so that nobody may be pending and every
displaced pod has its turn before that is known.

Told are the call of `simulate` and the call of `evaluate` in one process, and the commands ``schedctl simulate`` and
``schedctl check`` as a whole, which read the same snapshot and manifests first; all in processor time, since others may
be at work on the machine. What counts is the ratio.
"""

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import machines, workloads

GOALS = {20: 2.0, 100: 3.0}
"""At most so many times the processor time of `simulate`, as commands, by the percentage of critical pods."""
CRITICAL = 1000
POLICY = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: ten-checks}
spec:
  scenarios:
    - name: lose-zone
      forEach: {topologyKey: topology.kubernetes.io/zone}
      remove: {nodeSelector: {topology.kubernetes.io/zone: "$value"}}
  checks:
    - {name: all-fit, builtin: schedulable, with: {minPercent: 100}}
    - {name: no-preemption, builtin: no-preemption, with: {max: 0}}
    - name: two-zones
      scope: workload
      matchConditions: [{name: big, expression: "workload.replicas >= 3"}]
      builtin: spread
      with: {topologyKey: topology.kubernetes.io/zone, minDomains: 1}
    - name: zone-loss
      builtin: survives
      with: {scenario: lose-zone, allowPending: "priority < 1000", allowPreemption: true}
    - name: cpu-headroom
      severity: warning
      builtin: headroom
      with: {resource: cpu, percent: 20, by: topology.kubernetes.io/zone}
    - {name: room, severity: warning, builtin: headroom, with: {replicasOf: deploy/new-0, absolute: 5}}
    - name: gpu-nodes-for-gpu-pods
      scope: pod
      validations:
        - expression: >-
            !pod.scheduled || !('nvidia.com/gpu' in pod.node.allocatable)
            || pod.requests[?'nvidia.com/gpu'].orValue(0) > 0
          messageExpression: "'no GPU asked, but lands on GPU node ' + pod.node.name"
    - name: no-new-pending
      scope: run
      validations:
        - expression: "result.pods.pending <= baseline.pods.pending"
          message: rollout leaves more pods pending than before
    - {name: nothing-lost, builtin: no-regression}
    - {name: not-too-full, builtin: max-utilization, with: {resource: memory, percent: 90, by: zone}}
"""


def state(nodes: int, running: int, critical: int) -> Iterator[dict[str, Any]]:
    """The fleet of `Deployments` with its workloads running, each pod on a node that its constraints allow."""
    objects = list(workloads.deployments(nodes, 0, max(running, 100)))
    labels = {one["metadata"]["name"]: one["metadata"]["labels"] for one in objects if one["kind"] == "Node"}
    common = [name for name, node_labels in labels.items() if node_labels["pool"] != "batch"]
    zones = {f"zone{n}": [name for name in common if labels[name][workloads.ZONE] == f"zone{n}"] for n in range(3)}
    large = [name for name in common if labels[name]["pool"] == "large"]
    count = 0
    for one in objects:
        if one["kind"] != "Pod":
            yield one
            continue
        if count == running:
            continue
        app = int(one["metadata"]["labels"]["app"][-3:])
        places = {1: large, 7: zones[f"zone{app // 10 % 3}"], 8: zones["zone1"] + zones["zone2"]}.get(app % 10, common)
        one["spec"]["nodeName"] = places[count * 7 % len(places)]
        one["spec"]["priority"] = CRITICAL if app * 37 % 100 < critical else 0
        one["status"] = {"phase": "Running"}
        count += 1
        yield one
    for name, value in (("critical", CRITICAL), ("standard", 0)):
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }


def manifests(pods: int, critical: int) -> Iterator[dict[str, Any]]:
    """Ten Deployments, one for each kind of constraint."""
    size = max(1, pods // 10)
    templates = [one for one in workloads.deployments(0, 0, 100) if one["kind"] == "Pod"][:10]
    for number, pod in enumerate(templates):
        name = f"new-{number}"
        text = json.dumps(pod["spec"]).replace(f"app-{number:03d}", name)
        spec = json.loads(text)
        spec["priorityClassName"] = "critical" if number * 37 % 100 < critical else "standard"
        yield {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": size,
                "selector": {"matchLabels": {"app": name}},
                "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
            },
        }


def write(folder: Path, nodes: int, running: int, pods: int, critical: int) -> tuple[str, str, str]:
    """State, manifests and policy as files."""
    names = (folder / "cluster.json", folder / "release.json", folder / "policy.yaml")
    listed = (list(state(nodes, running, critical)), list(manifests(pods, critical)))
    for name, items in zip(names, listed, strict=False):
        name.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    names[2].write_text(POLICY)
    return str(names[0]), str(names[1]), str(names[2])


def calls(cluster: str, release: str, policy: str, profile: bool) -> dict[str, Any]:
    """Seconds of the calls of `simulate` and `evaluate`, each on a state of its own, the better of two each."""
    from schedctl import sources
    from schedctl.policy import reading
    from schedctl.policy.evaluations import evaluate
    from schedctl.scheduler import Scheduler
    from schedctl.simulation.runs import Options
    from schedctl.simulation.simulations import simulate
    from schedctl.sources import Terms
    from schedctl.workloads.clusters import assemble

    assembled = assemble(one.object for one in sources.load([cluster]).objects).cluster
    manifests = sources.load([release], terms=Terms(creating=True))
    policies = reading.load([policy]).policies
    plain, checked, report = [], [], None
    for _ in range(2):
        scheduler = Scheduler(assembled)
        began = time.process_time()
        with scheduler.fork():
            facts = simulate(scheduler, manifests.objects, options=Options(trace=False))
            plain.append(time.process_time() - began)
    profiler = cProfile.Profile()
    for _ in range(2):
        scheduler = Scheduler(assembled)
        began = time.process_time()
        if profile:
            profiler.enable()
        report = evaluate(policies, scheduler, manifests)
        profiler.disable()
        checked.append(time.process_time() - began)
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("cumtime").print_stats(60)
    assert report is not None
    pods = sum(len(rollout.update.created) for rollout in facts.controller.rollouts)
    return {"simulate": min(plain), "check": min(checked), "pods": pods, "summary": repr(report.summary)}


def command(*words: str) -> float:
    """Processor seconds of a command, the better of two."""
    times = []
    for _ in range(2):
        before = os.times()
        subprocess.run([sys.executable, "-m", "schedctl", *words], stdout=subprocess.DEVNULL, check=False)
        after = os.times()
        times.append(sum(after[2:4]) - sum(before[2:4]))
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("nodes", 5000), ("running", 20_000), ("pods", 500), ("critical", 20)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--profile", action="store_true", help="where the time of `evaluate` goes")
    args = parser.parse_args()
    print(machines.sentence(machines.about()), flush=True)
    print(
        f"{args.nodes} nodes, {args.running} running pods, {args.pods} new ones, {args.critical} % critical", flush=True
    )
    with tempfile.TemporaryDirectory() as folder:
        cluster, release, policy = write(Path(folder), args.nodes, args.running, args.pods, args.critical)
        measured = calls(cluster, release, policy, args.profile)
        print(measured["summary"])
        print(f"{'seconds':<12}{'simulate':>12}{'check':>12}{'ratio':>9}")
        ratio = measured["check"] / measured["simulate"]
        print(f"{'the call':<12}{measured['simulate']:>12.2f}{measured['check']:>12.2f}{ratio:>8.1f}x", flush=True)
        state_words = ("-f", cluster, "--no-progress", "-q")
        plain = command("simulate", release, *state_words)
        checked = command("check", release, "-p", policy, "--jobs", "1", *state_words)
        print(f"{'the command':<12}{plain:>12.2f}{checked:>12.2f}{checked / plain:>8.1f}x")
    if args.critical in GOALS:
        print(f"goal: the command at most {GOALS[args.critical]:g}x")


if __name__ == "__main__":
    main()
