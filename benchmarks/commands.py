"""Whole commands beside what they cannot do without: loading for questions, reading for snapshots, half of the work.

Five groups, each of commands that are run in turn, in processor time, since others may be at work on the machine; what
counts are the ratios. Questions about a snapshot stand beside loading it, and `snapshot create` beside reading the same
JSON. A release of a hundred Deployments stands beside loading the cluster that it comes to. A rolling update, and a
gang that has no room for its last members, stand beside those of half the size, of which they would take twice the time
if they were linear. Of a large cluster the peak memory is told.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import machines, snapshots, workloads
from benchmarks.processes import ROOT, in_new_process, peak
from benchmarks.startup import processor_seconds

LOADING, READING, DOUBLE = 1.5, 1.5, 2.2
"""At most so many times loading, reading, and the time of half of the work."""
RELEASE_SECONDS, GANG_SECONDS, GIGABYTES = 2.0, 1.0, 1.0
LOAD = "import sys; from benchmarks.placing import assemble_cluster; assemble_cluster(sys.argv[1])"
READ = "import sys; from schedctl import sources; sources.load([sys.argv[1]])"
GROUP = "scheduling.x-k8s.io/pod-group"
SCHEDCTL = ("-m", "schedctl")


def write(path: Path, *items: dict[str, Any]) -> str:
    """Write objects as one list, and return the name of the file."""
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}))
    return str(path)


def deployment(name: str, replicas: int, image: str, **metadata: Any) -> dict[str, Any]:
    """A Deployment of small pods."""
    box = {"name": "main", "image": image, "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [box]}},
        },
    }


def in_turn(commands: dict[str, list[str]], runs: int) -> dict[str, list[float]]:
    """The processor seconds of each run of each command, run in turn."""
    rounds = [{name: processor_seconds(words) for name, words in commands.items()} for _ in range(runs)]
    return {name: [each[name] for each in rounds] for name in commands}


def show(measured: dict[str, list[float]], goals: dict[str, float]) -> None:
    """Print the median seconds of each command, and its median ratio to the first."""
    first, *others = measured
    print(f"{first:<34}{statistics.median(measured[first]):8.2f} s")
    for name in others:
        ratio = statistics.median(one / other for one, other in zip(measured[name], measured[first], strict=True))
        goal = f" (goal {goals[name]:g}x)" if name in goals else ""
        print(f"{name:<34}{statistics.median(measured[name]):8.2f} s {ratio:6.2f}x{goal}", flush=True)


def ask(folder: Path, nodes: int, running: int, runs: int) -> None:
    """Questions about a snapshot beside loading it, and making one beside reading what it is made of."""
    raw, packed, again = (str(folder / name) for name in ("state.json", "state.snap", "again.snap"))
    snapshots.write(raw, nodes, running, 1, noise=True, indent=4)
    subprocess.run([sys.executable, *SCHEDCTL, "snapshot", "create", packed, "-f", raw, "-q"], cwd=ROOT, check=True)
    model = write(folder / "model.json", deployment("model", 1, "model"))
    state = ("-f", packed)
    commands = {
        "loading the snapshot": ["-c", LOAD, packed],
        "explain pod": [*SCHEDCTL, "explain", "pod", "pod-00000", "-n", "sched-1", *state],
        "explain --all-pending": [*SCHEDCTL, "explain", "--all-pending", *state],
        "capacity --max 1000": [*SCHEDCTL, "capacity", "--like", model, "--max", "1000", *state],
        "drain": [*SCHEDCTL, "drain", "node-00000", *state],
    }
    show(in_turn(commands, runs), dict.fromkeys(commands, LOADING))
    commands = {
        "reading the JSON": ["-c", READ, raw],
        "snapshot create": [*SCHEDCTL, "snapshot", "create", again, "--force", "-f", raw],
    }
    show(in_turn(commands, runs), dict.fromkeys(commands, READING))


def release(folder: Path, nodes: int, pods: int, runs: int) -> None:
    """A release of a hundred Deployments, of ten kinds of constraint, beside loading the nodes they come to."""
    state: list[dict[str, Any]] = []
    manifests: list[dict[str, Any]] = []
    of_app: dict[str, list[dict[str, Any]]] = {}
    for item in workloads.objects("Deployments", nodes, nodes, pods):
        if item["kind"] == "Service":
            manifests.append(item)
        elif item["kind"] == "Node" or item["spec"].get("nodeName"):
            item["metadata"]["uid"] = item["metadata"]["name"]  # it comes out of a cluster
            state.append(item)
        elif item["kind"] == "Pod":
            of_app.setdefault(item["metadata"]["labels"]["app"], []).append(item)
    for app, replicas in of_app.items():
        made = deployment(app, len(replicas), "")
        made["spec"]["template"]["spec"] = replicas[0]["spec"]
        manifests.append(made)
    created, cluster = write(folder / "release.json", *manifests), write(folder / "cluster.json", *state)
    name = f"simulate {len(of_app)} Deployments"
    commands = {
        "loading the cluster": ["-c", LOAD, cluster],
        name: [*SCHEDCTL, "simulate", created, "-f", cluster, "-q"],
    }
    show(in_turn(commands, runs), {})
    print(f"goal of {pods} pods on {nodes} nodes: {RELEASE_SECONDS:g} s")


def roll(folder: Path, replicas: int, runs: int) -> None:
    """A rolling update of so many replicas beside one of half of them."""
    commands = {}
    for number in (replicas // 2, replicas):
        state = write(folder / f"web-{number}.json", *running_deployment(number))
        release = write(folder / f"release-{number}.json", deployment("web", number, "new"))
        words = [*SCHEDCTL, "simulate", release, "--rollout", "rolling", "-f", state, "-q"]
        commands[f"rolling update of {number} replicas"] = words
    show(in_turn(commands, runs), dict.fromkeys(commands, DOUBLE))


def running_deployment(replicas: int) -> Iterator[dict[str, Any]]:
    """Nodes with the pods of a Deployment."""
    nodes = max(1, replicas // 4)
    yield from (workloads.node(f"node-{number}") for number in range(nodes))
    web = deployment("web", replicas, "old", uid="web")
    yield web
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "web", "controller": True}
    labels = {"app": "web", "pod-template-hash": "1"}
    metadata = {"name": "web-1", "namespace": "default", "uid": "web-1", "labels": labels, "ownerReferences": [owner]}
    template = {**web["spec"]["template"], "metadata": {"labels": labels}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    yield {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "web-1", "controller": True}
    for number in range(replicas):
        pod = workloads.pod(f"web-1-{number}", "default", labels=labels, on=f"node-{number % nodes}")
        pod["metadata"] |= {"uid": f"pod-{number}", "ownerReferences": [owner]}
        yield pod


def start_gang(folder: Path, members: int, runs: int) -> None:
    """A gang of so many members of which two thirds find room, beside one of half of them."""
    commands = {}
    plugin = ("--plugin", "examples/plugins/coscheduling.py")
    profile = ("--scheduler-config", "examples/profiles/coscheduling.yaml")
    for number in (members // 2, members):
        nodes = [workloads.node(f"node-{n}", cpu="2") for n in range(max(1, number // 3))]
        state = write(folder / f"gang-{number}.json", *nodes)
        box = {"name": "main", "image": "train", "resources": {"requests": {"cpu": "900m"}}}
        pod = {"restartPolicy": "Never", "containers": [box]}
        template = {"metadata": {"labels": {GROUP: "train"}}, "spec": pod}
        group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "spec": {"minMember": number}}
        job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": number, "template": template}}
        named = {"metadata": {"name": "train", "namespace": "default"}}
        release = write(folder / f"job-{number}.json", group | named, job | named)
        commands[f"gang of {number}"] = [*SCHEDCTL, "simulate", release, "-f", state, *plugin, *profile, "-q"]
    show(in_turn(commands, runs), dict.fromkeys(commands, DOUBLE))
    print(f"goal of a gang of 600: {GANG_SECONDS:g} s")


def load_large(folder: Path, nodes: int, running: int) -> None:
    """The peak memory of loading a large cluster from a snapshot."""
    raw, packed = str(folder / "large.json"), str(folder / "large.snap")
    snapshots.write(raw, nodes, running, 1, noise=True)
    subprocess.run([sys.executable, *SCHEDCTL, "snapshot", "create", packed, "-f", raw, "-q"], cwd=ROOT, check=True)
    Path(raw).unlink()
    taken = in_new_process(memory_of_question, packed)
    print(f"{nodes} nodes, {running} running pods: {taken / 1e9:.2f} GB at most (goal {GIGABYTES:g} GB)")


def memory_of_question(path: str) -> int:
    """The most bytes that asking about the pending pods of a snapshot takes."""
    from benchmarks.placing import assemble_cluster
    from schedctl.scheduler import Scheduler

    scheduler = Scheduler(assemble_cluster(path).cluster)
    for info in list(scheduler.cluster.pending.values()):
        scheduler.attempt(info)
    return peak()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sizes = {"nodes": 5000, "running": 50_000, "pods": 10_000, "replicas": 4000, "members": 600, "runs": 3}
    sizes |= {"large-nodes": 15_000, "large-running": 300_000}
    for name, number in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument(
        "--only", choices=("questions", "release", "rollout", "gang", "large"), action="append", default=[]
    )
    args = parser.parse_args()
    groups: dict[str, Callable[[Path], None]] = {
        "questions": lambda folder: ask(folder, args.nodes, args.running, args.runs),
        "release": lambda folder: release(folder, args.nodes, args.pods, args.runs),
        "rollout": lambda folder: roll(folder, args.replicas, args.runs),
        "gang": lambda folder: start_gang(folder, args.members, args.runs),
        "large": lambda folder: load_large(folder, args.large_nodes, args.large_running),
    }
    print(machines.sentence(machines.about()), flush=True)
    for name, measure in groups.items():
        if not args.only or name in args.only:
            with tempfile.TemporaryDirectory() as folder:
                measure(Path(folder))


if __name__ == "__main__":
    main()
