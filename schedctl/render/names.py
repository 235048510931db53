"""``-o name``: a line for each pod, as kubectl writes names, and the node it goes to; of a capacity, for each node.

Of losses, each that leaves pods pending, and how many; of a sweep, the worst scenarios; of nodes to add each group with
its number, of nodes that can go each node. Of a comparison, each object that differs; of a calibration, each pod and
the node that was taken; of a node, each pending pod that fits there.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.render import sanitise
from schedctl.reports.bindings import BindReport, GangBindReport
from schedctl.reports.calibrations import CalibrationReport
from schedctl.reports.capacities import CapacityReport
from schedctl.reports.drains import DrainReport
from schedctl.reports.explanations import ExplainReport
from schedctl.reports.node_explanations import NodeExplainReport
from schedctl.reports.node_losses import NodeLossReport
from schedctl.reports.nodes import NodesReport
from schedctl.reports.pod_comparisons import ExplainComparison, PodEffect
from schedctl.reports.run_comparisons import SimulationComparison
from schedctl.reports.simulations import Fate, SimulationReport
from schedctl.reports.snapshots import SnapshotDiff, SnapshotReport
from schedctl.reports.sweeps import SweepReport
from schedctl.reports.traces import TraceDiff, TraceReport

Placing = ExplainReport | NodeExplainReport | SimulationReport | DrainReport | BindReport | GangBindReport
"""What has pods and nodes for them."""


Comparing = SnapshotDiff | ExplainComparison | SimulationComparison | TraceDiff
"""What has objects that differ."""


def lines(
    report: Placing
    | CapacityReport
    | NodeLossReport
    | NodesReport
    | SweepReport
    | CalibrationReport
    | SnapshotReport
    | TraceReport
    | Comparing,
) -> Iterator[str]:
    """Yield ``pod/web-7 node/node-3``, the pod alone where it has no node; of a capacity ``node/node-3 12``."""
    if isinstance(report, CapacityReport):
        for result in report.results:
            yield from (f"node/{sanitise.text(name)} {fits}" for name, fits in result.nodes.items())
        return
    if isinstance(report, NodeLossReport):
        lossy = (each for each in report.results if each.pending)
        yield from (f"{each.by.rpartition('/')[2]}/{sanitise.text(each.name)} {each.pending}" for each in lossy)
        return
    if isinstance(report, SweepReport):
        yield from (f"scenario/{case.scenario} {case.value:g}" for case in report.worst)
        return
    if isinstance(report, NodesReport):
        yield from (f"group/{sanitise.text(group.name)} {group.count}" for group in report.groups if group.count)
        yield from (f"node/{sanitise.text(node.name)}" for node in report.nodes)
        return
    if isinstance(report, CalibrationReport):
        for decision in report.decisions:
            yield f"pod/{sanitise.text(decision.pod.partition('/')[2])} node/{sanitise.text(decision.node)}"
        return
    if isinstance(report, SnapshotReport):
        yield f"snapshot/{sanitise.text(report.file)}"
        return
    if isinstance(report, TraceReport):
        for each in report.pods:
            pod = f"pod/{sanitise.text(each.pod.rpartition('/')[2])}"
            yield f"{pod} node/{sanitise.text(each.node)}" if each.node else pod
        return
    if isinstance(report, Comparing):
        yield from (f"{kind.lower()}/{sanitise.text(name)}" for kind, name in _differences(report))
        return
    for name, node in _pairs(report):
        pod = f"pod/{sanitise.text(name)}"
        yield f"{pod} node/{sanitise.text(node)}" if node else pod


def _differences(report: Comparing) -> Iterator[tuple[str, str]]:
    """Yield the kind and name of what differs; a workload does where pods of it are not where they were."""
    match report:
        case SnapshotDiff():
            yield from ((one.kind, one.name.rpartition("/")[2]) for one in report.results)
        case TraceDiff():
            yield from (("pod", each.pod.rpartition("/")[2]) for each in report.placements)
        case ExplainComparison():
            for pod in report.results:
                if any(difference.effect is not PodEffect.SAME for difference in pod.differences):
                    yield "pod", pod.pod.name
        case SimulationComparison():
            for one in report.results:
                if any(each.moves or each.breaks or each.mends for each in one.differences):
                    yield one.kind, one.name
            yield from (("pod", other.pod.rpartition("/")[2]) for other in report.others)


def _pairs(report: Placing) -> Iterator[tuple[str, str]]:
    match report:
        case SimulationReport():
            return _placed_pods(report)
        case DrainReport():
            return _moved_pods(report)
        case NodeExplainReport():
            return _fitting_pods(report)
        case GangBindReport():
            return ((each.decision.pod.name, each.summary.node) for each in report.results)
        case BindReport():
            return iter([(report.decision.pod.name, report.summary.node)])
        case _:
            return _chosen_nodes(report)


def _moved_pods(report: DrainReport) -> Iterator[tuple[str, str]]:
    for result in report.results:
        for pod in result.pods:
            if pod.successor:
                yield pod.successor.partition("/")[2], pod.node


def _chosen_nodes(report: ExplainReport) -> Iterator[tuple[str, str]]:
    for result in report.results:
        # an answer that holds for many pods is one result, and each of them has a line all the same
        keys = result.pods or [f"{result.pod.namespace}/{result.pod.name}"]
        nodes = [result.chosen] * len(keys) if result.bound is None else result.bound.nodes or [result.bound.node]
        yield from zip((key.partition("/")[2] for key in keys), nodes, strict=True)


def _fitting_pods(report: NodeExplainReport) -> Iterator[tuple[str, str]]:
    for result in report.results:
        for group in result.fitting:
            yield from ((pod.partition("/")[2], result.node) for pod in group.pods)


def _placed_pods(report: SimulationReport) -> Iterator[tuple[str, str]]:
    for result in report.results:
        for pod in result.pods:
            yield pod.name, pod.node if pod.fate is Fate.PLACED else ""
