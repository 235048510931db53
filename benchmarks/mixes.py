"""Mixed pods: what a pod costs when a hundred templates come round-robin over 5,000 nodes.

Every round has one pod of each template, in an order of its own, so that round one is the first encounter of every
template and round two the second. Every node is judged; attempt and place are on the clock, which counts the time of
the processor. `--checkout` measures other checkouts of schedctl as well, in turn with this one, and says where their
placements differ.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import workloads
from benchmarks.workloads import HOST, ZONE

SIZES = [(cpu, memory) for cpu in ("100m", "250m", "500m", "1") for memory in ("128Mi", "256Mi", "512Mi", "1Gi", "2Gi")]
"""Requests of which templates have one by chance."""
ENCOUNTERS = ("first", "second", "later")
Object = dict[str, Any]


@dataclass(frozen=True)
class Mix:
    """Pods of many templates.

    Attributes:
        terms: what all templates want besides cpu and memory, each about its own app.
        templates: how many there are.
        different: whether no two of them request the same.
        running: how many pods run before.
        devices, claims: whether each pod has a device, or a bound volume.
        evicts: whether the nodes are full of less important pods.
    """

    terms: str = ""
    templates: int = 100
    different: bool = False
    running: int = 0
    devices: bool = False
    claims: bool = False
    evicts: bool = False


MIXES = {
    "plain": Mix(),
    "hard spread": Mix("spread"),
    "hard anti-affinity": Mix("anti"),
    "soft both": Mix("soft"),
    "claims": Mix(claims=True),
    "devices": Mix(devices=True),
    "preemption": Mix(evicts=True),
    "different requests": Mix(different=True),
    "filled, plain": Mix(running=20_000, different=True),
    "filled, soft both": Mix("soft", running=20_000, different=True),
    "1,000 templates": Mix("every", templates=1000),
}


def terms(kind: str, number: int) -> Object:
    """What a template wants, about the pods of its own app."""
    app = f"app-{number:04d}"
    about = {**workloads.label_selector(app=app), "topologyKey": HOST}
    if kind == "every":
        kind = ("", "spread", "anti", "soft")[number % 4]
    if kind == "spread":
        return {"topologySpreadConstraints": [workloads.spread(1, ZONE, "DoNotSchedule", {"app": app})]}
    if kind == "anti":
        return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [about]}}}
    if kind == "soft":
        weighted = [{"weight": 100, "podAffinityTerm": about}]
        keys = (ZONE, HOST)
        return {
            "topologySpreadConstraints": [workloads.spread(1, k, "ScheduleAnyway", {"app": app}) for k in keys],
            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}},
        }
    return {}


def nodes_of(mix: Mix, count: int) -> Iterator[Object]:
    """The nodes, and what belongs to them."""
    cpu, memory = ("4", "32Gi") if mix.evicts else ("32", "256Gi")
    more = {f"attachable-volumes-csi-{workloads.EBS}": "39"} if mix.claims else None
    for i in range(count):
        name = f"scheduler-perf-dra-{i:05d}" if mix.devices else f"node-{i:05d}"
        yield workloads.node(name, f"zone{i % 3}", cpu, memory, more=more)
        if mix.claims:
            yield workloads.csi_node(name, False)
        if mix.devices:
            yield workloads.devices(i)
        if mix.evicts:
            low = (workloads.pod(f"low-{i:05d}-{k}", "sched-0", "low", on=name, priority=k) for k in range(4))
            yield from low
    if mix.devices:
        selector = {"cel": {"expression": f'device.driver == "{workloads.DRIVER}"'}}
        kind, version = "DeviceClass", "resource.k8s.io/v1"
        yield workloads.thing(kind, "test-class", version=version, spec={"selectors": [selector]})


def requests_of(mix: Mix, number: int, chance: random.Random) -> tuple[str, str]:
    """What a template requests of cpu and memory."""
    if mix.evicts:
        return f"{700 + chance.randrange(100) * 10}m", "500Mi"
    return (f"{100 + number}m", f"{256 + number}Mi") if mix.different else chance.choice(SIZES)


def pods_of(mix: Mix, count: int, seed: int) -> Iterator[tuple[int, list[Object]]]:
    """Each pod with its round: the pod, last, and the objects that come with it."""
    chance = random.Random(seed)
    wishes = [(terms(mix.terms, n), requests_of(mix, n, chance)) for n in range(mix.templates)]
    for number in range(count):
        turn, place = divmod(number, mix.templates)
        if not place:
            order = chance.sample(range(mix.templates), mix.templates)
        template = order[place]
        spec, (cpu, memory) = wishes[template]
        # the oracle takes equals by name
        name, labels = f"round-{turn:04d}-{place:04d}-app-{template:04d}", {"app": f"app-{template:04d}"}
        pod = workloads.pod(name, "default", labels=labels, cpu=cpu, memory=memory, **spec)
        made = list(workloads.volume("csi", [pod])) if mix.claims else [pod]
        if mix.evicts:
            pod["spec"]["priority"] = 1000
        if mix.devices:
            made = [with_device(pod), pod]
        yield turn, made


def with_device(pod: Object) -> Object:
    """Give a pod a claim of one device; return the claim."""
    pod["metadata"]["uid"] = f"uid-{pod['metadata']['name']}"
    name = f"{pod['metadata']['name']}-device"
    pod["spec"]["resourceClaims"] = [{"name": "device", "resourceClaimTemplateName": "device"}]
    pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": "device"}]
    pod["status"] = {"resourceClaimStatuses": [{"name": "device", "resourceClaimName": name}]}
    return workloads.claim(name, "default", owner=pod)


def running(mix: Mix, nodes: int) -> Iterator[Object]:
    """The pods that run before, of apps of their own."""
    for i in range(mix.running):
        size = {"cpu": f"{100 + i * 37 % 400}m", "memory": f"{128 + i * 53 % 900}Mi"}
        on, labels = f"node-{i * 7919 % nodes:05d}", {"app": f"old-{i % 200:03d}"}
        yield workloads.pod(f"old-{i:05d}", "default", on=on, labels=labels, **size)


def measure(name: str, nodes: int, pods: int, seed: int) -> Object:
    """Place the pods of a mix; return the microseconds of each encounter, and where the pods went."""
    import msgspec

    from schedctl.conformance.cases import Case, cluster_of, configuration
    from schedctl.scheduler import Scheduler

    mix = MIXES[name]
    drawn = list(pods_of(mix, pods + 1, seed))  # one more, which is only asked about: columns are built then
    objects = [*nodes_of(mix, nodes), *running(mix, nodes), *(each for _, made in drawn for each in made)]
    case = msgspec.convert({"id": name, "objects": objects, "bench": True, "percent": 100}, Case)
    cluster, pending = cluster_of(case)
    scheduler = Scheduler(cluster, configuration(case))
    by_key = {info.key: info for info in pending}
    turns = [(turn, by_key[f"default/{made[-1]['metadata']['name']}"]) for turn, made in drawn]
    scheduler.attempt(turns.pop()[1], make_room=mix.evicts)
    gc.collect()
    gc.freeze()
    spent: dict[str, list[float]] = {each: [] for each in ENCOUNTERS}
    chosen = hashlib.sha256()
    for turn, info in turns:
        began = time.process_time_ns()
        outcome = scheduler.attempt(info, make_room=mix.evicts)
        if mix.evicts and not outcome.chosen:
            scheduler.make_room(outcome)
            outcome = scheduler.attempt(info, make_room=False)
        if outcome.chosen:
            scheduler.place(outcome)
        spent[ENCOUNTERS[min(turn, 2)]].append((time.process_time_ns() - began) / 1000)
        chosen.update(f"{info.key} {outcome.chosen}\n".encode())
    means = {each: statistics.mean(times) for each, times in spent.items() if times}
    return {"all": sum(map(sum, spent.values())) / len(turns), **means, "placements": chosen.hexdigest()[:12]}


def measure_in(checkout: Path, *what: Any) -> Object:
    """Return what `measure` does with the schedctl of a checkout, in a process of its own."""
    command = [sys.executable, "-P", __file__, "--measure", json.dumps(what)]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: Object = json.loads(done.stdout)
    return found


def lines(name: str, checkouts: Iterable[Path], options: argparse.Namespace) -> Iterator[str]:
    """One line for each checkout: the least microseconds of a few runs, taken in turn."""
    places = list(checkouts)
    pods = max(options.pods, 3 * MIXES[name].templates)
    runs = [
        [measure_in(place, name, options.nodes, pods, options.seed) for place in places] for _ in range(options.runs)
    ]
    for place, of_place in zip(places, zip(*runs, strict=True), strict=True):
        best = min(of_place, key=lambda run: run["all"])
        times = "".join(f"{best.get(each, float('nan')):>9,.0f}" for each in ("all", *ENCOUNTERS))
        yield f"{name:<20}{times}  {best['placements']}  {place}"


def options(parser: argparse.ArgumentParser, mixes: Iterable[str]) -> None:
    """Give a command the options that say which mixes are run, and how large."""
    parser.add_argument("--mix", action="append", choices=mixes, help="repeatable; all of them unless named")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=1000, help="at least three rounds are run")
    parser.add_argument("--seed", type=int, default=0, help="of the requests and the order")


def main() -> None:
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options(parser, MIXES)
    parser.add_argument("--runs", type=int, default=3, help="of which the fastest counts")
    parser.add_argument("--checkout", action="append", type=Path, default=[], help="measure this one as well")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(*json.loads(arguments.measure))))
        return
    columns = "".join(f"{each:>9}" for each in ("all", *ENCOUNTERS))
    print(f"{'µs of processor a pod':<20}{columns.removeprefix(' ')}  placements", flush=True)
    for name in arguments.mix or MIXES:
        print(*lines(name, (*(p.resolve() for p in arguments.checkout), here), arguments), sep="\n", flush=True)


if __name__ == "__main__":
    main()
