"""Charts of the results, as SVG made of their JSON alone: the same results, the same bytes.

Rates of the shapes as bars, growth as curves, memory as a curve beside its goal, and flame graphs.
"""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure  # without pyplot, which keeps figures and looks for a display

from benchmarks import growth, results, shapes
from benchmarks.processes import ROOT

FOLDER = ROOT / "docs/charts"
SIDES = (("ours", "schedctl, every node judged"), ("exhaustive", "kube-scheduler, every node judged"),
         ("sampled", "kube-scheduler, sampled"))  # fmt: skip
COLOURS = {"ours": "#0b6e4f", "exhaustive": "#b23a48", "sampled": "#e0a458"}
CURVES = ("#0b6e4f", "#b23a48", "#2b59c3", "#e0a458")
WARM = ("#f4a259", "#e76f51", "#f6bd60", "#e9843f", "#f28482")
STYLE = {
    "svg.hashsalt": "schedctl",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
LEAST_RATE = 10
"""Where the bars begin: below what kube-scheduler reaches on any shape."""
LETTERS = 200
"""How many letters fit the width of a flame graph."""


def bars(document: results.Document) -> Figure:
    """The rates of the shapes, side by side."""
    rows = document["rows"][::-1]
    sides = [(side, label) for side, label in SIDES if any(side in row for row in rows)]
    figure = Figure(figsize=(9, 1.2 + 0.36 * len(rows)), layout="constrained")
    axes = figure.subplots()
    thick = 0.8 / len(sides)
    for place, (side, label) in enumerate(sides):
        at = [number - place * thick for number in range(len(rows))]
        rates = [shapes.rate(row[side]) if side in row else 0 for row in rows]
        axes.barh(at, rates, height=thick, color=COLOURS[side], label=label)
    axes.set_yticks([number - 0.4 + thick / 2 for number in range(len(rows))], [row["shape"] for row in rows])
    axes.set_ylim(-0.9, len(rows) - 0.4)
    axes.set_xscale("log")
    axes.set_xlim(left=LEAST_RATE)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("pods a second (logarithmic)")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=len(sides), frameon=False)
    return figure


def curves(document: results.Document) -> Figure:
    """The time for a pod along both sweeps; dashed for pods whose like was never seen."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    panels = figure.subplots(1, max(1, len(document["exponents"])), sharey=True, squeeze=False)[0]
    names = {"nodes": ("nodes", "running pods"), "running": ("running pods", "nodes")}
    other = {"nodes": "running", "running": "nodes"}
    for axes, along in zip(panels, document["exponents"], strict=False):
        rows = growth.sweep(document, along)
        for template, colour in zip(document["templates"], CURVES, strict=False):
            for kind, dashes in (("new", "--"), ("equal", "-")):
                micros = [row["seconds"][template][kind] * 1e6 for row in rows]
                label = f"{template}, {'never seen' if kind == 'new' else 'its equal'}"
                axes.plot([row[along] for row in rows], micros, dashes, marker=".", color=colour, label=label)
        many, fixed = names[along]
        axes.set_xlabel(f"{many} ({document['fixed'][other[along]]:,} {fixed})")
        _logarithmic(axes, [row[along] for row in rows])
    panels[0].set_ylim(10 ** math.floor(math.log10(panels[0].get_ylim()[0])))
    panels[0].set_ylabel("µs of processor time for a pod")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def memory(document: results.Document) -> Figure:
    """Resident memory along the running pods, beside what the goal allows."""
    rows = growth.sweep(document, "running")
    running = [row["running"] for row in rows]
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    allowed = [(row["emptyBytes"] + row["running"] * growth.BYTES) / 1e6 for row in rows]
    axes.plot(running, allowed, "--", color=COLOURS["exhaustive"], label="goal: 2 KiB for a running pod")
    axes.plot(running, [row["residentBytes"] / 1e6 for row in rows], "-", marker=".", color=COLOURS["ours"],
              label="the whole process")  # fmt: skip
    axes.plot(running, [row["emptyBytes"] / 1e6 for row in rows], ":", color="#777777", label="without running pods")
    axes.set_xlabel(f"running pods ({document['fixed']['nodes']:,} nodes)")
    axes.set_ylabel("resident MB")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def _logarithmic(axes: Axes, ticks: list[int]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_minor_formatter("")
    axes.grid(alpha=0.3)


def flames(shape: str, folded: dict[str, int]) -> Figure:
    """A flame graph: a frame is as wide as its share of the samples, and stands on its caller."""
    total = sum(folded.values())
    frames = list(_frames({tuple(stack.split(";")): count for stack, count in folded.items()}, 0, 0))
    deepest = max(depth for *_, depth in frames)
    figure = Figure(figsize=(12, 1 + 0.24 * (deepest + 1)), layout="constrained")
    axes = figure.subplots()
    for name, start, count, depth in frames:
        colour = "#9fb4d8" if name == "numpy" else WARM[sum(name.encode()) % len(WARM)]
        axes.barh(depth, count / total, left=start / total, height=0.95, color=colour, edgecolor="white", linewidth=0.4)
        text = _shorten(name, int(count / total * LETTERS) - 1)
        if text:
            axes.text(start / total + 0.002, depth, text, va="center", fontsize=6.5, clip_on=True)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_title(f"{shape}: {total:,} samples; blue is NumPy", loc="left", fontsize=9)
    return figure


def _shorten(name: str, room: int) -> str:
    """The name, without its module or its end where there is no room for them; "" where there is none at all."""
    if len(name) <= room:
        return name
    short = name.rpartition(":")[2]
    return short if len(short) <= room else f"{short[: room - 1]}…" if room > 4 else ""


def _frames(stacks: dict[tuple[str, ...], int], start: int, depth: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, start, samples and depth of every frame, callees after their callers."""
    inner: dict[str, dict[tuple[str, ...], int]] = {}
    for stack, count in stacks.items():
        if stack and stack[0]:
            inner.setdefault(stack[0], {})[stack[1:]] = count
    for name, below in sorted(inner.items()):
        count = sum(below.values())
        yield name, start, count, depth
        yield from _frames(below, start, depth + 1)
        start += count


def save(figure: Figure, path: Path) -> None:
    """Write a figure, with nothing in it that differs from run to run."""
    figure.savefig(path, metadata={"Date": None, "Creator": None})


def draw(shaped: results.Document, grown: results.Document, profiled: results.Document) -> dict[str, Figure]:
    """All charts, by file name."""
    found = {"shapes.svg": bars(shaped), "growth.svg": curves(grown), "memory.svg": memory(grown)}
    for row in profiled["rows"]:
        if "stacks" in row:
            found[f"flames-{row['shape']}.svg"] = flames(row["shape"], row["stacks"])
    return found


def write(folder: Path, *documents: results.Document) -> None:
    """Draw the charts of the results of shapes, growth and profile into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, figure in draw(*documents).items():
            save(figure, folder / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder of the charts")
    args = parser.parse_args()
    write(args.into, *map(results.read, ("shapes", "growth", "profile")))


if __name__ == "__main__":
    main()
