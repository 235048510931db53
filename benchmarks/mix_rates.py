"""The mixes through schedctl and through kube-scheduler's own plugins: the very same pods, placed on the same nodes.

For each mix, in turn: the oracle judging every node, then schedctl, which is told the oracle's order and takes over
each of its placements after looking for it among its own ties. So both do the same work on the same cluster, the first
cycle and every first encounter of a template included. Both sides filter, score, assume and Reserve; nothing else is on
the clock, so that mixes in which pods evict others are left out.

The two take turns, and ours has three runs in each, every one in a process of its own: it is on the clock for half a
second where the oracle takes many, so that one slow moment of the machine would be all of a run. Of both the median
counts.
"""

import argparse
import json
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import goals, machines, oracles, results
from benchmarks.mixes import ENCOUNTERS, MIXES, nodes_of, options, pods_of, running
from benchmarks.placing import follow
from benchmarks.processes import in_new_process
from benchmarks.shapes import all_decisions, decisions, rate, theirs
from benchmarks.tables import Column, bullets, head, line, markdown, times

COMPARED = tuple(name for name, mix in MIXES.items() if not mix.evicts)
OURS_IN_TURN = 3
"""How many runs ours has where the oracle has one."""


def row(name: str, oracle: str, nodes: int, pods: int, seed: int, runs: int) -> dict[str, Any]:
    """One mix, measured on both sides."""
    mix = MIXES[name]
    drawn = [each for _, made in pods_of(mix, pods, seed) for each in made]
    objects = [*nodes_of(mix, nodes), *running(mix, nodes), *drawn]
    with tempfile.TemporaryDirectory() as folder:
        judged, chosen = Path(folder, "case.json"), Path(folder, "placements.json")
        judged.write_text(json.dumps({"id": name, "objects": objects, "bench": True, "percent": 100}))
        others, ours = [], []
        for _ in range(runs):  # in turn, so that a machine that is slow for a while is slow for both
            exhaustive, placements = theirs(oracle, judged)
            chosen.write_text(json.dumps(placements))
            others.append(exhaustive)
            ours += [in_new_process(follow, str(judged), str(chosen)) for _ in range(OURS_IN_TURN)]
    exhaustive, median = _median(others), _median(ours)
    return {
        "mix": name,
        "nodes": nodes,
        "running": mix.running,
        "templates": mix.templates,
        "goal": goals.least_of_mix(mix),
        "exhaustive": exhaustive | {"runs": [run["seconds"] for run in others]},
        "ours": {
            "pods": median["pods"],
            "seconds": median["seconds"],
            "runs": [run["seconds"] for run in ours],
            "spent": encounters([key for key, _ in placements], median["spent"]),
        },
        "ratio": rate(median) / rate(exhaustive),
        "decisions": {"replayed": len(placements), "differ": sorted({pod for run in ours for pod in run["others"]})},
    }


def _median(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The run in the middle by its seconds."""
    return sorted(runs, key=lambda run: run["seconds"])[(len(runs) - 1) // 2]


def encounters(keys: list[str], spent: list[float]) -> dict[str, float]:
    """The mean microseconds of all pods, and of the first, second and later ones of their templates.

    Args:
        keys: of the pods, which end in their template.
        spent: the microseconds of each.
    """
    seen: Counter[str] = Counter()
    times_of: dict[str, list[float]] = {each: [] for each in ENCOUNTERS}
    for key, of_pod in zip(keys, spent, strict=True):
        template = key.rpartition("-")[2]
        times_of[ENCOUNTERS[min(seen[template], 2)]].append(of_pod)
        seen[template] += 1
    return {"all": statistics.mean(spent)} | {each: statistics.mean(found) for each, found in times_of.items() if found}


def _spent(encounter: str) -> Any:
    return lambda row: f"{row['ours']['spent'][encounter]:,.0f}" if encounter in row["ours"]["spent"] else "-"


COLUMNS = (
    Column("mix", lambda row: row["mix"], 20, left=True),
    Column(
        "nodes / running / pods", lambda row: f"{row['nodes']:,} / {row['running']:,} / {row['ours']['pods']:,}", 22
    ),
    Column("templates", lambda row: f"{row['templates']:,}", 9),
    Column("ours", lambda row: f"{rate(row['ours']):,.0f}", 6),
    Column("exhaustive", lambda row: f"{rate(row['exhaustive']):,.0f}", 10),
    Column("ratio", lambda row: times(row["ratio"]), 5),
    Column("goal", lambda row: goals.verdict(row["ratio"], row["goal"]), 14),
    Column("µs CPU", _spent("all"), 6),
    *(Column(each, _spent(each), 6) for each in ENCOUNTERS),
    Column("decisions", decisions, 14),
)


def together(document: results.Document, shapes: results.Document) -> tuple[int, float]:
    """How many mixes and shapes there are, and the median of their ratios over the very same first pods."""
    ratios = [row["ratio"] for row in document["rows"]]
    ratios += [row["samePods"]["exhaustive"] for row in shapes["rows"] if "goal" in row and "samePods" in row]
    return len(ratios), statistics.median(ratios)


def summary(document: results.Document) -> Iterator[str]:
    """What the rows come to, in sentences."""
    rows = document["rows"]
    median = statistics.median(row["ratio"] for row in rows)
    yield (
        f"Median over {len(rows)} mixes: {times(median)} kube-scheduler judging every node "
        f"({goals.verdict(median, goals.MEDIAN_MIXES)}); the least {times(min(row['ratio'] for row in rows))}."
    )
    missed = [row["mix"] for row in rows if row["ratio"] < row["goal"]]
    yield f"Goals by mix: {len(rows) - len(missed)} of {len(rows)} reached" + (
        f"; missed: {'; '.join(missed)}." if missed else "."
    )
    yield all_decisions(rows)


def as_markdown(document: results.Document) -> str:
    """The results as Markdown."""
    many, median = together(document, results.read("shapes"))
    first = document["rows"][0]
    text = (
        "Pods a second. Timed are filter, score, assume and Reserve of the very same pods on both sides, every node "
        "judged, the first cycle and every first encounter included; of both the median, ours of "
        f"{len(first['ours']['runs'])} runs and kube-scheduler's of {len(first['exhaustive']['runs'])}, taken in turn. "
        "Below µs CPU is our processor time for a pod, then that of the first, the second and later pods of a "
        f"template. {machines.sentence(document['about'])}"
    )
    both = f"Mixes and shapes together, {many}, over the very same first pods: median {times(median)}."
    return "\n".join([f"{text}\n", bullets((*summary(document), both)), markdown(COLUMNS, document["rows"])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options(parser, COMPARED)
    parser.add_argument("--runs", type=int, default=3, help="of the oracle, each with three of ours")
    oracles.option(parser)
    results.options(parser)
    args = parser.parse_args()
    oracle = oracles.require(args.oracle)
    document: results.Document = {"about": machines.about(), "seed": args.seed, "rows": []}
    print(head(COLUMNS), flush=True)
    for name in args.mix or COMPARED:
        pods = max(args.pods, 3 * MIXES[name].templates)
        document["rows"].append(row(name, oracle, args.nodes, pods, args.seed, args.runs))
        print(line(COLUMNS, document["rows"][-1]), flush=True)
    print(*summary(document), sep="\n")
    results.write(args, document, as_markdown)


if __name__ == "__main__":
    main()
