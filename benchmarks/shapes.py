"""The shapes of scheduler_perf through schedctl, and through kube-scheduler's own plugins, in the same run.

For each shape, one after the other: the oracle judging every node (`percentageOfNodesToScore: 100`), schedctl, which
always judges every node, and the oracle looking at as many nodes as kube-scheduler does by default. Both sides filter,
score, assume and Reserve; nothing else is on the clock. Nodes and running pods are the published ones.

How many pods are timed differs, for the oracle takes long: the first 300 with every node judged, the first 1,500
sampled, and of ours the first 1,500 unless told, everything on the clock, the first cycle too, in which columns are
built, and which weighs the less the more there are. The rates over the very same first pods are in the results as well.

Ours runs three times, each in a process of its own, and the median on the clock counts, with the processor time and
the peak memory of that run; the oracle runs once. The nodes chosen by the oracle with every node judged are replayed:
at each step, its node must be among our ties. What sampling chose cannot be replayed that way: the best of the nodes
it looked at need not be the best.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import goals, machines, oracles, results, workloads
from benchmarks.placing import measure, replay
from benchmarks.processes import in_new_process
from benchmarks.tables import Column, bullets, head, line, markdown, times

QUICK = (
    "SchedulingBasic",
    "SchedulingDaemonset",
    "SchedulingCSIPVs",
    "SchedulingPodAntiAffinity",
    "SchedulingPreferredPodAffinity",
    "TopologySpreading",
    "SchedulingWithResourceClaimTemplate",
    "Deployments",
)
UNCONSTRAINED = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List, defaultConstraints: []}
"""


@dataclass(frozen=True)
class Variant:
    """A shape run in another way: with a configuration, or with our pods in the order of the file."""

    shape: str
    explanation: str
    config: str = ""
    shuffled: bool = True


VARIANTS = {
    "SchedulingBasic, batching": Variant(
        "SchedulingBasic",
        "a configuration without default constraints, with which kube-scheduler's opportunistic batching can work at "
        "all; the default is what users run",
        config=UNCONSTRAINED,
    ),
    "Deployments, one by one": Variant(
        "Deployments",
        "on our side all pods of a Deployment come before those of the next; in the shape itself they come mixed, as "
        "they do in the oracle",
        shuffled=False,
    ),
}


@dataclass(frozen=True)
class Sizes:
    """How much is run: the published shape divided, the pods of each side (None: as published), our runs."""

    divisor: int = 1
    pods: int | None = 1500
    exhaustive: int = 300
    sampled: int = 1500
    runs: int = 3

    def of(self, shape: str) -> tuple[int, int, int]:
        """Nodes, running pods and pending pods of our side."""
        _, nodes, init, published, *_ = workloads.SHAPES[shape]
        return nodes // self.divisor, init // self.divisor, self.pods or published


def case(shape: str, config: str, sizes: tuple[int, int, int], percent: int, path: Path) -> Path:
    """Write a shape as a case of the oracle."""
    case = {"id": shape, "objects": list(workloads.objects(shape, *sizes)), "bench": True, "percent": percent}
    path.write_text(json.dumps(case | ({"config": config} if config else {}), separators=(",", ":")))
    return path


def theirs(oracle: str, path: Path) -> tuple[dict[str, Any], list[Any]]:
    """What the oracle says to a case: pods, how many found a node, seconds; and its placements."""
    answer, _ = oracles.answer_of(oracle, path)
    found = answer["placements"]
    return {"pods": len(found), "placed": sum(node != "" for _, node in found), "seconds": answer["seconds"]}, found


def row(name: str, sizes: Sizes, oracle: str | None) -> dict[str, Any]:
    """One shape, measured on all sides."""
    variant = VARIANTS.get(name, Variant(name, ""))
    shape, config = variant.shape, variant.config
    nodes, init, pods = sizes.of(shape)
    found: dict[str, Any] = {"shape": name, "nodes": nodes, "running": init}
    if name in workloads.SHAPES:
        found["goal"] = goals.least(shape)
    with tempfile.TemporaryDirectory() as folder:
        marks = []
        if oracle:
            judged = case(shape, config, (nodes, init, min(pods, sizes.exhaustive)), 100, Path(folder, "every.json"))
            found["exhaustive"], placements = theirs(oracle, judged)
            chosen = Path(folder, "placements.json")
            chosen.write_text(json.dumps(placements))
            found["decisions"] = {
                "replayed": len(placements),
                "differ": in_new_process(replay, str(judged), str(chosen)),
            }
            looked = case(shape, config, (nodes, init, min(pods, sizes.sampled)), -1, Path(folder, "some.json"))
            found["sampled"], _ = theirs(oracle, looked)
            marks = [found["exhaustive"]["pods"], found["sampled"]["pods"]]
        state = Path(folder, "cluster.json")
        listed = {"apiVersion": "v1", "kind": "List", "items": list(workloads.objects(shape, nodes, init, pods))}
        state.write_text(json.dumps(listed, separators=(",", ":")))
        del listed
        runs = [in_new_process(measure, str(state), config, variant.shuffled, marks) for _ in range(sizes.runs)]
    runs.sort(key=lambda run: run["seconds"])
    found["ours"] = runs[(len(runs) - 1) // 2]
    found["ours"]["runs"] = [run["seconds"] for run in runs]
    if oracle:
        found["ratios"] = {side: rate(found["ours"]) / rate(found[side]) for side in ("exhaustive", "sampled")}
        found["samePods"] = {
            side: found[side]["seconds"] / until
            for side in ("exhaustive", "sampled")
            if (until := found["ours"]["secondsUntil"].get(str(found[side]["pods"])))
        }
    return found


def rate(side: dict[str, Any]) -> float:
    """Pods a second, with those that fit nowhere."""
    return side["pods"] / side["seconds"]


def _rate(side: str) -> Any:
    return lambda row: f"{rate(row[side]):,.0f}" if side in row else "-"


def _ratio(side: str) -> Any:
    return lambda row: times(row["ratios"][side]) if "ratios" in row else "-"


def decisions(row: dict[str, Any]) -> str:
    """How many of the oracle's placements are not among ours."""
    if "decisions" not in row:
        return "-"
    differ, steps = len(row["decisions"]["differ"]), row["decisions"]["replayed"]
    return f"{differ} of {steps:,} differ" if differ else f"the same {steps:,}"


def all_decisions(rows: list[dict[str, Any]]) -> str:
    """The same of all rows, in a sentence."""
    differ = sum(len(row["decisions"]["differ"]) for row in rows)
    steps = sum(row["decisions"]["replayed"] for row in rows)
    return f"Decisions: {steps:,} placements of kube-scheduler replayed, {differ or 'none'} not among our ties."


def _size(row: dict[str, Any]) -> str:
    return f"{row['nodes']:,} / {row['running']:,} / {row['ours']['pods']:,}"


def _goal(row: dict[str, Any]) -> str:
    return goals.verdict(row["ratios"]["exhaustive"], row["goal"]) if "goal" in row else "-"


def columns(full_size: bool) -> list[Column]:
    """What is shown of each shape; goals only at the size that they are for."""
    shown = [
        Column("shape", lambda row: row["shape"], 48, left=True),
        Column("nodes / running / pods", _size, 23),
        Column("ours", _rate("ours"), 6),
        Column("exhaustive", _rate("exhaustive"), 10),
        Column("sampled", _rate("sampled"), 7),
        Column("ratio", _ratio("exhaustive"), 5),
        Column("goal", _goal, 14),
        Column("to sampled", _ratio("sampled"), 10),
        Column("µs CPU", lambda row: f"{of_processor(row):,.0f}", 6),
        Column("first ms", lambda row: f"{row['ours']['firstSeconds'] * 1000:,.0f}", 8),
        Column("peak MB", lambda row: f"{row['ours']['peakBytes'] / 1e6:,.0f}", 7),
        Column("decisions", decisions, 12),
    ]
    return [column for column in shown if full_size or column.title != "goal"]


def of_processor(row: dict[str, Any]) -> float:
    """Microseconds of our processor time for a pod."""
    return row["ours"]["processorSeconds"] / row["ours"]["pods"] * 1e6


def summary(document: results.Document) -> Iterator[str]:
    """What the rows come to, in sentences."""
    rows = [row for row in document["rows"] if "ratios" in row]
    if not rows:
        yield "Without the oracle: ours alone, nothing to compare with."
        return
    shapes = [row for row in rows if "goal" in row] or rows
    full_size = document["sizes"]["divisor"] == 1 and "goal" in shapes[0]
    for side, goal in (("exhaustive", goals.MEDIAN_EXHAUSTIVE), ("sampled", goals.MEDIAN_SAMPLED)):
        median = statistics.median(row["ratios"][side] for row in shapes)
        verdict = f" ({goals.verdict(median, goal)})" if full_size else ""
        same = [row["samePods"][side] for row in shapes if side in row["samePods"]]
        over = f"; over the very same first pods {times(statistics.median(same))}" if same else ""
        what = "judging every node" if side == "exhaustive" else "sampling"
        yield f"Median over {len(shapes)} shapes: {times(median)} kube-scheduler {what}{verdict}{over}."
    if full_size:
        missed = goals.misses(shapes)
        yield f"Goals by shape: {len(shapes) - len(missed)} of {len(shapes)} reached" + (
            f"; missed: {', '.join(missed)}." if missed else "."
        )
    else:
        yield "Fewer nodes than published, so no goals are held against this run."
    yield all_decisions(rows)
    for row in rows:
        if row["shape"] in VARIANTS:
            yield f"“{row['shape']}” is in no median: {VARIANTS[row['shape']].explanation}."


def timing(document: results.Document) -> str:
    """What was timed, in a paragraph."""
    sizes = document["sizes"]
    pods = f"the first {sizes['pods']:,}" if sizes["pods"] else "all that are published"
    runs = f"the median of {sizes['runs']} runs" if sizes["runs"] > 1 else "one run"
    text = (
        f"Pods a second. Timed are filter, score, assume and Reserve. Of ours {pods} (every node judged, the first "
        f"cycle included, {runs})"
    )
    if any("ratios" in row for row in document["rows"]):
        text += (
            f", of kube-scheduler the first {sizes['exhaustive']:,} with every node judged (exhaustive) and the first "
            f"{sizes['sampled']:,} sampled, or all if there are fewer, one run each"
        )
    text += (
        "; pods that come before these for their priority count as well. Below µs CPU is our processor time for a pod, "
        "below first ms our first cycle; peak memory is that of our whole process, reading included."
    )
    if any("ratios" in row for row in document["rows"]):
        text += (
            " Each placement of kube-scheduler judging every node was replayed and looked for among our ties; what "
            "sampling chose cannot be replayed."
        )
    return text


def as_markdown(document: results.Document) -> str:
    """The results as Markdown."""
    full_size = document["sizes"]["divisor"] == 1 and any("ratios" in row for row in document["rows"])
    return "\n".join(
        [
            f"{timing(document)} {machines.sentence(document['about'])}\n",
            bullets(summary(document)),
            markdown(columns(full_size), document["rows"]),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", action="append", choices=(*workloads.SHAPES, *VARIANTS), help="repeatable")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--pods", type=int, help="how many pods of ours are timed, 1,500 unless told")
    size.add_argument("--published", action="store_true", help="time as many pods of ours as scheduler_perf does")
    size.add_argument("--quick", action="store_true", help="a few shapes with a fifth of their nodes, in a minute")
    side = parser.add_mutually_exclusive_group()
    oracles.option(side)
    side.add_argument("--without-oracle", action="store_true", help="ours alone")
    results.options(parser)
    args = parser.parse_args()
    if args.quick:
        sizes, oracle = Sizes(divisor=5, pods=500, exhaustive=100, sampled=300, runs=1), oracles.found(args.oracle)
    else:
        sizes = Sizes(pods=None if args.published else args.pods or Sizes.pods)
        oracle = None if args.without_oracle else oracles.require(args.oracle, ", or go --without-oracle")
    oracle = None if args.without_oracle else oracle
    if not oracle:
        print("without the oracle: ours alone" if args.without_oracle else f"{oracles.MISSING}; ours alone")
    names = args.shape or (QUICK if args.quick else (*workloads.SHAPES, *VARIANTS))
    document: results.Document = {"about": machines.about(), "sizes": vars(sizes), "rows": []}
    shown = columns(full_size=bool(oracle) and not args.quick)
    print(head(shown), flush=True)
    for name in names:
        document["rows"].append(row(name, sizes, oracle))
        print(line(shown, document["rows"][-1]), flush=True)
    print(timing(document), *summary(document), sep="\n", file=sys.stdout)
    results.write(args, document, as_markdown)


if __name__ == "__main__":
    main()
