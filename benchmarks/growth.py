"""Time for a pod and resident memory, as the nodes and as the running pods become more.

Each point is a cluster of its own in a process of its own, read by ``schedctl`` from a list as kubectl prints it. Its
pods are of the mixed templates. One sweep varies the nodes, the other the running pods.

Time is processor time of a whole cycle with Reserve: for pods whose like was never seen, and for their equals, of which
some follow each. Pods of a template differ in what they request. The medians count.

Memory is what the process is resident with once everything is read and those pods are placed: interpreter, libraries,
columns, objects, and whatever the cycles keep. For a running pod it is that, less what the same takes without any.

How fast a cost grows is the slope of a line through the logarithms: 1 is linear, 0 is flat.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import goals, machines, results, snapshots, workloads
from benchmarks.placing import assemble_cluster
from benchmarks.processes import in_new_process, resident
from benchmarks.tables import Column, bullets, head, line, markdown

TEMPLATES = {"plain": "default", "anti-affinity": "anti", "zone spread": "spread", "preferred affinity": "prefer"}
"""What pending pods want, and the templates that say so."""
NODES, RUNNING = (1000, 2000, 5000, 10_000, 15_000), (5000, 15_000, 50_000, 100_000, 150_000)
FIXED_NODES, FIXED_RUNNING = 5000, 15_000
LINEAR, FLAT = 1.0, 0.1
"""The goals: at most linear in the nodes, and with 30 times the running pods not much more than 1.4 times the time."""
BYTES = 2048
"""The goal: what a running pod may add to the resident memory."""


def point(path: str, templates: list[str], kinds: int, equals: int) -> dict[str, Any]:
    """By template the medians of a cycle in seconds, on the cluster of a file, and the resident bytes in the end."""
    from schedctl.scheduler import Scheduler
    from schedctl.session.library import pod

    scheduler = Scheduler(assemble_cluster(path).cluster)

    def cycle(template: str, number: int, like: int) -> float:
        name, cpu = f"{template.replace(' ', '-')}-{number:03d}-{like:03d}", f"{40 + number}m"
        info = pod(workloads.pod(name, "sched-1", TEMPLATES[template], cpu=cpu, memory="50Mi"))
        began = time.process_time()
        outcome = scheduler.attempt(info, make_room=False)
        if not outcome.chosen:
            raise ValueError(f"{name} fits nowhere: this measures placements")
        scheduler.place(outcome)
        return time.process_time() - began

    cycle("plain", 999, 0)  # columns built, as in a scheduler that has been running for a while
    found: dict[str, Any] = {}
    for template in templates:
        seconds = [[cycle(template, number, like) for like in range(equals + 1)] for number in range(kinds)]
        found[template] = {
            "new": statistics.median(each[0] for each in seconds),
            "equal": statistics.median(one for each in seconds for one in each[1:]),
        }
    return {"seconds": found, "residentBytes": resident()}


def row(nodes: int, running: int, templates: list[str], kinds: int, equals: int) -> dict[str, Any]:
    """One point, and the memory of the same cluster without pods."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "cluster.json"))
        snapshots.write(path, nodes, running, 0, True)
        found = {"nodes": nodes, "running": running, "fileBytes": Path(path).stat().st_size}
        found |= in_new_process(point, path, templates, kinds, equals)
        snapshots.write(path, nodes, 0, 0, True)
        found["emptyBytes"] = in_new_process(point, path, templates, kinds, equals)["residentBytes"]
    found["bytesPerPod"] = (found["residentBytes"] - found["emptyBytes"]) / running
    return found


def slope(rows: list[dict[str, Any]], along: str, template: str, kind: str) -> float:
    """The exponent with which a time grows."""
    many = [[row[along], row["seconds"][template][kind]] for row in rows]
    return float(np.polyfit(*np.log(many).T, 1)[0])


def sweep(document: results.Document, along: str) -> list[dict[str, Any]]:
    """The points of one sweep."""
    other = {"nodes": "running", "running": "nodes"}[along]
    rows = [row for row in document["rows"] if row[other] == document["fixed"][other]]
    return sorted(rows, key=lambda row: row[along])


def slopes(document: results.Document) -> dict[str, dict[str, dict[str, float]]]:
    """The exponents by sweep, template, and whether a pod's like was seen before."""
    return {
        along: {
            template: {kind: slope(rows, along, template, kind) for kind in ("new", "equal")}
            for template in document["templates"]
        }
        for along in ("nodes", "running")
        if len(rows := sweep(document, along)) > 1
    }


def columns(templates: list[str]) -> list[Column]:
    """What is shown of each point."""

    def micros(template: str, kind: str) -> Any:
        return lambda row: f"{row['seconds'][template][kind] * 1e6:,.0f}"

    shown = [
        Column("nodes", lambda row: f"{row['nodes']:,}", 7),
        Column("running", lambda row: f"{row['running']:,}", 8),
        Column("file MB", lambda row: f"{row['fileBytes'] / 1e6:,.0f}", 8),
        Column("resident MB", lambda row: f"{row['residentBytes'] / 1e6:,.0f}", 11),
        Column("without MB", lambda row: f"{row['emptyBytes'] / 1e6:,.0f}", 10),
        Column("bytes/pod", lambda row: f"{row['bytesPerPod']:,.0f}", 9),
    ]
    for template in templates:
        shown.append(Column(f"{template}, new µs", micros(template, "new"), len(template) + 8))
        shown.append(Column("equal µs", micros(template, "equal"), 8))
    return shown


def exponents(document: results.Document) -> str:
    """The exponents, as a table in Markdown."""
    named = {"nodes": "in the nodes", "running": "in the running pods"}
    shown = [Column("exponent", lambda row: row["name"], left=True)]
    for along in document["exponents"]:
        for kind, label in (("new", "new"), ("equal", "its equal")):
            shown.append(Column(f"{named[along]}, {label}", lambda row, at=along, of=kind: f"{row[at][of]:+.2f}"))
    by_template = [
        {"name": template} | {along: found[template] for along, found in document["exponents"].items()}
        for template in document["templates"]
    ]
    return markdown(shown, by_template)


def summary(document: results.Document) -> Iterator[str]:
    """Exponents and memory beside the goals, in sentences."""
    named = {"nodes": ("nodes", LINEAR), "running": ("running pods", FLAT)}
    for along, by_template in document["exponents"].items():
        many, goal = named[along]
        found = [exponent for kinds in by_template.values() for exponent in kinds.values()]
        rows = sweep(document, along)
        yield (
            f"Time for a pod, {many} from {rows[0][along]:,} to {rows[-1][along]:,}: exponents from {min(found):+.2f} "
            f"to {max(found):+.2f} ({goals.limit(max(found), goal)})."
        )
    for row in sweep(document, "running")[-1:]:
        found = row["bytesPerPod"]
        yield (
            f"Memory: {found:,.0f} bytes for each of {row['running']:,} running pods ({goals.limit(found, BYTES)}); "
            f"{row['residentBytes'] / 1e6:,.0f} MB in all, read from {row['fileBytes'] / 1e6:,.0f} MB."
        )


def timing(document: results.Document) -> str:
    """What was measured, in a paragraph."""
    return (
        f"Microseconds of processor time for a pod, medians: of {document['kinds']} pods whose like was never seen, "
        f"and of {document['equals']} equals after each. Files are as kubectl prints them. Resident is the whole "
        "process once these are placed; bytes for a pod are that less what the same takes without running pods."
    )


def as_markdown(document: results.Document) -> str:
    """The results as Markdown."""
    shown = columns(document["templates"])
    return "\n".join(
        [
            f"{timing(document)} {machines.sentence(document['about'])}\n",
            *(markdown(shown, sweep(document, along)) for along in document["exponents"]),
            exponents(document),
            bullets(summary(document)),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--template", action="append", choices=TEMPLATES, help="repeatable")
    parser.add_argument("--quick", action="store_true", help="small clusters, in half a minute")
    results.options(parser)
    args = parser.parse_args()
    divisor, kinds, equals = (10, 5, 5) if args.quick else (1, 10, 20)
    fixed = {"nodes": FIXED_NODES // divisor, "running": FIXED_RUNNING // divisor}
    points = {(many // divisor, fixed["running"]) for many in (NODES[::2] if args.quick else NODES)}
    points |= {(fixed["nodes"], many // divisor) for many in (RUNNING[:3] if args.quick else RUNNING)}
    document = measure(sorted(points), fixed, args.template or list(TEMPLATES), kinds, equals)
    print(exponents(document), timing(document), *summary(document), sep="\n")
    results.write(args, document, as_markdown)


def measure(
    points: list[tuple[int, int]], fixed: dict[str, int], templates: list[str], kinds: int, equals: int
) -> results.Document:
    """Measure points of so many nodes and running pods, printing each as it is done."""
    document: results.Document = {"about": machines.about(), "fixed": fixed, "templates": templates}
    document |= {"kinds": kinds, "equals": equals, "rows": []}
    shown = columns(templates)
    print(head(shown), flush=True)
    for nodes, running in points:
        document["rows"].append(row(nodes, running, templates, kinds, equals))
        print(line(shown, document["rows"][-1]), flush=True)
    return document | {"exponents": slopes(document)}


if __name__ == "__main__":
    main()
