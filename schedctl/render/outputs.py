"""The values of ``-o`` and who writes them.

What the command line calls::

    output = outputs.parse(args.output)              # raises UsageError before any work is done
    terminal = terminals.of(sys.stdout, color=args.color, environ=os.environ)
    outputs.write(document, output, sys.stdout, terminal, limit=args.limit)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, TextIO

import msgspec

from schedctl.errors import UsageError
from schedctl.render import sanitise
from schedctl.render.terminals import Terminal

if TYPE_CHECKING:
    from schedctl.render import jsonpath
    from schedctl.render.layout import Part
    from schedctl.reports.bindings import BindReport, GangBindReport
    from schedctl.reports.calibrations import CalibrationReport
    from schedctl.reports.capacities import CapacityReport
    from schedctl.reports.drains import DrainReport
    from schedctl.reports.explanations import ExplainReport
    from schedctl.reports.node_explanations import NodeExplainReport
    from schedctl.reports.node_losses import NodeLossReport
    from schedctl.reports.nodes import NodesReport
    from schedctl.reports.pod_comparisons import ExplainComparison
    from schedctl.reports.run_comparisons import SimulationComparison
    from schedctl.reports.simulations import SimulationReport
    from schedctl.reports.snapshots import SnapshotDiff, SnapshotReport
    from schedctl.reports.sweeps import SweepReport
    from schedctl.reports.traces import TraceDiff, TraceReport
    from schedctl.reports.watches import WatchLine

    Report = (
        ExplainReport
        | NodeExplainReport
        | NodeLossReport
        | SimulationReport
        | DrainReport
        | CapacityReport
        | NodesReport
        | CalibrationReport
        | BindReport
        | GangBindReport
        | ExplainComparison
        | SimulationComparison
        | SnapshotReport
        | SnapshotDiff
        | SweepReport
        | TraceDiff
        | TraceReport
    )
    """What can be written."""

FORMATS = ("text", "wide", "json", "yaml", "name", "jsonpath=TEMPLATE")
"""What ``-o`` takes."""
PAGE = "html"
"""What ``-o`` takes as well where there is a page of the report."""
_MODULES = {
    "BindReport": "bindings",
    "GangBindReport": "bindings",
    "CalibrationReport": "calibrations",
    "CapacityReport": "capacities",
    "DrainReport": "drains",
    "ExplainComparison": "pod_comparisons",
    "ExplainReport": "explanations",
    "NodeExplainReport": "node_explanations",
    "NodeLossReport": "node_losses",
    "NodesReport": "nodes",
    "SimulationComparison": "run_comparisons",
    "SimulationReport": "simulations",
    "SnapshotDiff": "snapshots",
    "SnapshotReport": "snapshots",
    "SweepReport": "sweeps",
    "TraceDiff": "traces",
    "TraceReport": "traces",
}
"""Who lays out which kind of report for people."""


class Output(msgspec.Struct, frozen=True):
    """A parsed ``-o``: the format, and the template of ``jsonpath=``."""

    format: str
    template: jsonpath.Template | None = None


def parse(text: str, *, pages: bool = False) -> Output:
    """Return the output a value of ``-o`` stands for; "" is the text for people.

    Args:
        text: the value.
        pages: whether there is a page of the report.

    Raises:
        UsageError: there is no such output, or its template cannot be read.
    """
    name, _, template = text.partition("=")
    if name == "jsonpath":
        if not template:
            raise UsageError("-o jsonpath needs a template", "e.g. `-o jsonpath='{.results[*].chosen}'`")
        from schedctl.render import jsonpath

        return Output(name, jsonpath.parse(template))
    return Output(parse_format(text, (*FORMATS[:-1], PAGE, FORMATS[-1]) if pages else FORMATS))


def parse_format(text: str, formats: Sequence[str]) -> str:
    """Return the format that a value of ``-o`` names; "" is the text for people.

    Raises:
        UsageError: it is none of them.
    """
    if text and text not in formats:
        raise UsageError(f'unknown output "{sanitise.text(text)}"', f"the outputs are: {', '.join(formats)}")
    return text or "text"


def write(report: Report, output: Output, stream: TextIO, terminal: Terminal, *, limit: int = 0) -> None:
    """Write a report to a stream.

    Args:
        report: what to write.
        output: in which form.
        stream: where to.
        terminal: what the stream can show; only the text for people cares.
        limit: how many entries a list in the text for people shows, 0 for a few, or for all in ``wide``.

    Raises:
        UsageError: a jsonpath template indexes what the report does not have.
    """
    if output.format in ("text", "wide"):
        from schedctl.render import layout

        layout.write(_text(report, wide=output.format == "wide", limit=limit), stream, terminal)
    else:
        stream.writelines(_machine(report, output))


def write_news(news: WatchLine, output: Output, stream: TextIO, terminal: Terminal) -> None:
    """Write a piece of news to a stream: as a line of JSON, or for people."""
    if output.format == "json":
        from schedctl.render import machine

        stream.write(machine.json_line(news))
    else:
        from schedctl.render import layout, watches

        layout.write(watches.lines(news), stream, terminal)


def _text(report: Report, *, wide: bool, limit: int) -> Iterable[Part]:
    """Return the report for people, from the module that knows its kind; no other is imported."""
    module = import_module(f"schedctl.render.{_MODULES[report.kind]}")
    blocks: Iterable[Part] = module.lines(report, wide=wide, limit=limit)
    return blocks


def _machine(report: Report, output: Output) -> Iterable[str]:
    from schedctl.render import machine, names

    if output.template is not None:
        return [output.template.render(machine.plain(report), sanitise.text)]
    if output.format == PAGE:
        from schedctl.render.html import documents

        return [documents.document(report)]
    if output.format == "name":
        return (f"{line}\n" for line in names.lines(report))
    return [machine.json(report) if output.format == "json" else machine.yaml(report)]
