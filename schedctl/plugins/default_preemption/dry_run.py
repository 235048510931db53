"""The dry run of preemption: on which nodes would evictions make room, and who could stay.

On every node all possible victims are taken away; where the pod then fits, they come back one by one, and whoever it
still fits beside is spared. Each step is one supposed column: the next victim of all nodes at once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.nodes import Nodes
from schedctl.framework.cycles import Cycle
from schedctl.framework.handles import Handle
from schedctl.plugins.default_preemption.candidates import Candidates, concatenate
from schedctl.plugins.default_preemption.victims import Victims, group_order, possible_victims

NO_VICTIMS = "No preemption victims found for incoming pod"


@dataclass(frozen=True, slots=True)
class Search:
    """What the dry run found.

    Attributes:
        candidates: nodes where evictions would make room, in the order in which they were tried.
        tried: how many nodes were tried.
        refused: how many of them no eviction helps.
        reasons: how many of those stay refused for each reason, if the search went through all nodes.
        faults: what went wrong on single nodes.
    """

    candidates: Candidates
    tried: int
    refused: int
    reasons: Counter[str]
    faults: tuple[str, ...]


def search(handle: Handle, cycle: Cycle, nodes: Nodes, enough: int) -> Search:
    """Try nodes in order until there are enough candidates, one of which at least violates no budget.

    Candidates that violate one are counted apart, and only as many as would be enough are kept. Nodes are tried in
    stretches that begin with the number wanted and double, and what was found behind the end of the search is dropped.

    Args:
        handle: to run filters with.
        cycle: the failed cycle.
        nodes: the nodes, each once and at least one.
        enough: how many candidates are enough.
    """
    found: list[Candidates] = []
    reasons: Counter[str] = Counter()
    faults: list[str] = []
    tried, size = 0, max(enough, 1)
    while tried < len(nodes):
        stretch = nodes.take(np.arange(tried, min(tried + size, len(nodes))))
        tried, size = tried + len(stretch), 2 * size
        found.append(_try(handle, cycle, stretch, reasons, faults))
        candidates = concatenate(found)
        kept, end = _select_candidates(candidates.violations > 0, enough)
        if end is not None:
            # the nodes behind it count as untried, as if they had been tried one after another
            last = np.flatnonzero(nodes.rows == candidates.nodes.rows[end])
            tried = int(last[0]) + 1
            break
    refused = tried - (len(candidates) if end is None else end + 1)
    return Search(candidates.take(kept), tried, refused, reasons, tuple(faults))


def _select_candidates(costly: BoolArray, enough: int) -> tuple[BoolArray, int | None]:
    """Return which candidates are kept, bool (c,), and which one ends the search, None where none does.

    Args:
        costly: bool (c,), candidates that violate a budget.
        enough: how many candidates are enough.
    """
    harmless_so_far, costly_so_far = np.cumsum(~costly), np.cumsum(costly)
    kept = np.where(costly, costly_so_far, harmless_so_far) <= enough
    harmless = np.minimum(harmless_so_far, enough)
    ends = np.flatnonzero((harmless > 0) & (harmless + np.minimum(costly_so_far, enough) >= enough))
    if not len(ends):
        return kept, None
    kept[ends[0] + 1 :] = False
    return kept, int(ends[0])


def _try(handle: Handle, cycle: Cycle, nodes: Nodes, reasons: Counter[str], faults: list[str]) -> Candidates:
    """Return the candidates among some nodes, and count why the others stay refused and what went wrong."""
    victims = possible_victims(nodes, cycle.pod.priority)
    if len(victims.nodes) < len(nodes):
        reasons[NO_VICTIMS] += len(nodes) - len(victims.nodes)
    if not len(victims.nodes):
        return Candidates(victims.nodes, victims.begin, victims.pods, np.zeros(0, np.bool_))
    emptied = victims.nodes.hypothetical_running(victims.at, victims.pods, -1)
    filtered = handle.run_filters(cycle, emptied, nominated=True)
    helped = np.flatnonzero(filtered.feasible)
    evicted = _final_victims(handle, cycle, emptied, helped, victims)
    gone = np.flatnonzero(evicted)
    counts = np.bincount(victims.at[gone], minlength=len(emptied))
    wrong = {position: fault.text for position, fault in filtered.faults.items()}
    # the pod was refused here, but fits beside all: a filter does not answer twice alike
    for position in helped[counts[helped] == 0].tolist():
        wrong[position] = f'expected at least one victim pod on node "{emptied.names[position]}"'
    faults += (wrong[position] for position in sorted(wrong))
    reasons.update(filtered.histogram())
    having = counts > 0
    begin = np.concatenate((np.zeros(1, np.intp), np.cumsum(counts[having])))
    violating = victims.violates_budget[gone] if len(gone) else np.zeros(0, np.bool_)
    return Candidates(victims.nodes.take(having), begin, victims.pods[gone], violating)


def _final_victims(handle: Handle, cycle: Cycle, emptied: Nodes, helped: IndexArray, victims: Victims) -> BoolArray:
    """Return which victims cannot stay, bool (v,), on the nodes where evictions help; none elsewhere.

    The column of each step supposes just what kube-scheduler would have done to the node by then, in the same order.
    """
    evicted = np.zeros(len(victims.pods), np.bool_)
    if not len(helped):
        return evicted
    order = _reprieve_order(victims)
    begin, counts = victims.begin[helped], np.diff(victims.begin)[helped]
    column = emptied.take(helped)
    for step in range(int(counts.max(initial=0))):
        left = counts > step
        if not left.all():
            column, begin, counts = column.take(left), begin[left], counts[left]
        back = order[begin + step]
        pods = victims.pods[back]
        column = column.hypothetical_running(np.arange(len(back)), pods, 1)
        cramped = np.flatnonzero(~handle.run_filters(cycle, column, nominated=True).feasible)
        if len(cramped):
            evicted[back[cramped]] = True
            column = column.hypothetical_running(cramped, pods[cramped], -1)
    return evicted


def _reprieve_order(victims: Victims) -> IndexArray:
    """Return the victims of each node in the order in which they may come back, intp (v,).

    Those whose eviction breaks a budget come first, and of either kind the most important.
    """
    if not victims.violates_budget.any():
        return np.arange(len(victims.pods))
    return group_order(2 * victims.at + ~victims.violates_budget, 2 * len(victims.nodes))
