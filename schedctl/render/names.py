"""``-o name``: a line for each pod, as kubectl writes names, and the node it goes to; of a capacity, for each node."""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.explain.reports import ExplainReport
from schedctl.render import sanitise
from schedctl.simulation.capacity_reports import CapacityReport
from schedctl.simulation.drain_reports import DrainReport
from schedctl.simulation.reports import Fate, SimulationReport


def lines(report: ExplainReport | SimulationReport | DrainReport | CapacityReport) -> Iterator[str]:
    """Yield ``pod/web-7 node/node-3``, the pod alone where it has no node; of a capacity ``node/node-3 12``."""
    if isinstance(report, CapacityReport):
        for result in report.results:
            yield from (f"node/{sanitise.text(name)} {fits}" for name, fits in result.nodes.items())
        return
    for name, node in _pairs(report):
        pod = f"pod/{sanitise.text(name)}"
        yield f"{pod} node/{sanitise.text(node)}" if node else pod


def _pairs(report: ExplainReport | SimulationReport | DrainReport) -> Iterator[tuple[str, str]]:
    match report:
        case SimulationReport():
            return _placed(report)
        case DrainReport():
            return _moved(report)
        case _:
            return _chosen(report)


def _moved(report: DrainReport) -> Iterator[tuple[str, str]]:
    for result in report.results:
        for pod in result.pods:
            if pod.successor:
                yield pod.successor.partition("/")[2], pod.node


def _chosen(report: ExplainReport) -> Iterator[tuple[str, str]]:
    for result in report.results:
        yield result.pod.name, result.chosen


def _placed(report: SimulationReport) -> Iterator[tuple[str, str]]:
    for result in report.results:
        for pod in result.pods:
            yield pod.name, pod.node if pod.fate is Fate.PLACED else ""
