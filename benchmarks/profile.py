"""Where the time of the shapes goes, by module of schedctl, from a sampling profiler.

py-spy looks at the process that places a shape's published pods from outside, so the program runs as it always does; a
call costs nothing extra, and what is in C is seen too. Only samples within the placing count. A sample belongs to the
module of schedctl whose code ran, or called what ran; if that was inside NumPy, it is NumPy's share of the module.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import machines, results, workloads
from benchmarks.placing import measure
from benchmarks.processes import ROOT, command
from benchmarks.tables import Column, head, line, markdown

PER_SECOND = 500
ENOUGH, RUNS = 1000, 5
"""A shape is placed anew until there are so many samples, or so many times."""
PROFILED = (
    "SchedulingBasic",
    "SchedulingNodeAffinity",
    "SchedulingCSIPVs",
    "SchedulingPodAntiAffinity",
    "SchedulingPreferredPodAffinity",
    "TopologySpreading",
    "SchedulingWithNodeInclusionPolicy",
    "SchedulingWithResourceClaimTemplate",
    "Deployments",
)
"""One or two of each family; the others go the same ways."""
FLAMES = ("SchedulingBasic", "SchedulingPodAntiAffinity", "Deployments")
"""The shapes whose stacks are kept, for a flame graph each."""
WITHIN = "place (benchmarks/placing.py"
FRAME = re.compile(r"(.+) \((.+?)(?::\d+)?\)")
SMALL = 0.004
"""The share below which a stack is counted with its caller."""

Stacks = Counter[tuple[tuple[str, str], ...]]
"""Samples by stack, outermost frame first; a frame is a name and a file."""


def sample(shape: str, pods: int | None) -> Stacks:
    """The samples of placing a shape."""
    _, nodes, init, published, *_ = workloads.SHAPES[shape]
    with tempfile.TemporaryDirectory() as folder:
        state, raw = Path(folder, "cluster.json"), Path(folder, "stacks.txt")
        listed = list(workloads.objects(shape, nodes, init, pods or published))
        state.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": listed}))
        run = [_profiler(), "record", "--native", "--rate", str(PER_SECOND), "--format", "raw", "--output", str(raw)]
        words = [*run, "--", *command(measure, str(state), "", True, [])]
        ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"py-spy could not look at its own child:\n{ran.stderr.strip()}")
        return stacks(raw.read_text(encoding="utf-8", errors="replace").splitlines())


def _profiler() -> str:
    beside = Path(sys.executable).with_name("py-spy")
    found = str(beside) if beside.exists() else shutil.which("py-spy")
    return found or sys.exit("py-spy is not installed: `make bench` does that")


def stacks(lines: Iterable[str]) -> Stacks:
    """The stacks within the placing, without line numbers."""
    found: Stacks = Counter()
    for text in lines:
        frames, _, count = text.rpartition(" ")
        _, within, inner = frames.rpartition(WITHIN)
        if within:
            called = inner.partition(";")[2]  # what follows the line number of the caller
            found[tuple(_frame(frame) for frame in called.split(";") if frame)] += int(count)
    return found


def _frame(text: str) -> tuple[str, str]:
    match = FRAME.fullmatch(text)
    return (match[1], match[2]) if match else (text, "")


def module(file: str) -> str:
    """The module of schedctl that a file is, without the package; "" for all others."""
    _, inside, path = file.rpartition("schedctl/")
    return path.removesuffix(".py").replace("/", ".") if inside and path.endswith(".py") else ""


def shares(samples: Stacks) -> list[dict[str, Any]]:
    """By module the share of all samples, and the part of it inside NumPy; the largest first."""
    counts, in_numpy = Counter[str](), Counter[str]()
    for stack, count in samples.items():
        deepest = max((depth for depth, (_, file) in enumerate(stack) if module(file)), default=-1)
        name = module(stack[deepest][1]) if deepest >= 0 else "benchmarks"
        numpy = any("numpy" in file for _, file in stack[deepest + 1 :])
        counts[name] += count
        in_numpy[name] += count if numpy else 0
    total = counts.total()
    return [
        {"module": name, "share": round(count / total, 4), "numpy": round(in_numpy[name] / total, 4)}
        for name, count in counts.most_common()
    ]


def top_stacks(samples: Stacks) -> dict[str, int]:
    """Stacks of schedctl's functions, as lines, without what is too small to be seen."""
    folded: Counter[tuple[str, ...]] = Counter()
    for stack, count in samples.items():
        folded[tuple(_names(stack))] += count
    least = SMALL * folded.total()
    for depth in range(max(map(len, folded), default=0), 1, -1):
        for stack in [stack for stack, count in folded.items() if len(stack) == depth and count < least]:
            folded[stack[:-1]] += folded.pop(stack)
    return {";".join(stack): count for stack, count in sorted(folded.items())}


def _names(stack: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """The frames in schedctl and the edge to NumPy; what is below that, and the interpreter's own, is left out."""
    for name, file in stack:
        if where := module(file):
            yield f"{where}:{name}"
        elif "numpy" in file:
            yield "numpy"
            return


def row(shape: str, pods: int | None, *, flame: bool) -> dict[str, Any]:
    """One shape, profiled."""
    samples: Stacks = Counter()
    for _ in range(RUNS):
        samples += sample(shape, pods)
        if samples.total() >= ENOUGH:
            break
    found = {"shape": shape, "samples": samples.total(), "modules": shares(samples)}
    return found | ({"stacks": top_stacks(samples)} if flame else {})


def in_numpy(row: dict[str, Any]) -> float:
    """The share of NumPy in a shape."""
    return sum(each["numpy"] for each in row["modules"])


def bounds(row: dict[str, Any]) -> str:
    """What bounds a shape: the modules with the most of its time."""
    return ", ".join(f"{each['module']} {each['share']:.0%}" for each in row["modules"][:4])


COLUMNS = [
    Column("shape", lambda row: row["shape"], 48, left=True),
    Column("samples", lambda row: f"{row['samples']:,}", 8),
    Column("in NumPy", lambda row: f"{in_numpy(row):.0%}", 8),
    Column("where most of the time goes", bounds, 0, left=True),
]
MODULES = [
    Column("module", lambda row: row["module"], left=True),
    Column("share", lambda row: f"{row['share']:.0%}"),
    Column("of it in NumPy", lambda row: f"{row['numpy']:.0%}"),
]


def as_markdown(document: results.Document) -> str:
    """The results as Markdown: all shapes, and the modules of those with a flame graph."""
    pods = f"{document['pods']:,} pods" if document["pods"] else "the published pods"
    parts = [
        f"From {PER_SECOND} samples a second while {pods} of a shape are placed. "
        f"{machines.sentence(document['about'])}\n",
        markdown(COLUMNS, document["rows"]),
    ]
    for row in document["rows"]:
        if "stacks" in row:
            large = [each for each in row["modules"] if each["share"] >= 0.01]
            parts += [f"Of {row['shape']}, the modules with 1% or more:\n", markdown(MODULES, large)]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--shape", action="append", choices=workloads.SHAPES, help="repeatable; one or two of each family unless told"
    )
    parser.add_argument("--pods", type=int, help="how many pods are placed; as many as published unless told")
    results.options(parser)
    args = parser.parse_args()
    document: results.Document = {"about": machines.about(), "pods": args.pods, "rows": []}
    print(head(COLUMNS), flush=True)
    for shape in args.shape or PROFILED:
        document["rows"].append(row(shape, args.pods, flame=shape in (args.shape or FLAMES)))
        print(line(COLUMNS, document["rows"][-1]), flush=True)
    results.write(args, document, as_markdown)


if __name__ == "__main__":
    main()
