"""What a pod is given on a node besides room: the volumes bound or made for its claims, the devices allocated to it.

Filters find it out for every feasible node, and keep it for their own later steps; they say it in `allocations`.
"""

from __future__ import annotations

from functools import partial

from schedctl.engine.attempts import Attempt
from schedctl.explain.plugin_texts import collect
from schedctl.framework.wording import Allocation
from schedctl.reports.explanations import ClaimAllocation


def allocations(outcome: Attempt, node: str) -> list[ClaimAllocation]:
    """Return what the pod is given on a feasible node, in the order of the profile's filters."""
    row = outcome.cluster.node_table.row_of[node]
    found: list[ClaimAllocation] = []
    for plugin in outcome.profile.filter:
        findings = outcome.cycle.findings.get(plugin.name)
        here = findings.at(row) if findings is not None else None
        if here is not None:
            faults: list[str] = []
            taken = collect(plugin, "allocations", partial(plugin.allocations, here), Allocation, faults.append)
            taken += map(Allocation, faults)
            found += (
                ClaimAllocation(
                    plugin=plugin.name,
                    claim=each.claim,
                    request=each.request,
                    names=list(each.names),
                    made=each.made,
                    text=each.text,
                )
                for each in taken
            )
    return found
