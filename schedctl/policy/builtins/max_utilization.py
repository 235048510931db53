"""``max-utilization``: no more than so much of a resource is requested."""

from __future__ import annotations

import math
from collections.abc import Iterable

from schedctl.api.amounts import on_one_scale
from schedctl.policy.builtins.grouping import Group, UndecidedDemand, groups, undecided_demand
from schedctl.policy.documents import MaxUtilization
from schedctl.policy.findings import Finding, Judged, View, inconclusive
from schedctl.reports.checks import CheckOutcome


def judge(view: View, arguments: MaxUtilization, about: Judged) -> Iterable[Finding]:
    """Judge the cluster, or each group of its nodes: what is requested is no more than so much of a hundred."""
    undecided = undecided_demand(view.situation, arguments.resource, arguments.ignore_pending)
    found = groups(view.situation.cluster, arguments.resource, arguments.by, arguments.node_selector)
    if not any(group.allocatable for group in found):
        yield inconclusive(
            f"no schedulable node offers {arguments.resource}", hints=["compare its name with what nodes offer"]
        )
        return
    for group in found:
        yield _judge(group, arguments, undecided)


def _judge(group: Group, arguments: MaxUtilization, undecided: UndecidedDemand) -> Finding:
    resource = arguments.resource
    scaled = on_one_scale(resource, (group.requested, group.allocatable))
    message = (
        f"{group.percent(group.requested):g} % of {resource} requested, at most {arguments.percent:g} % allowed"
        f" ({scaled(group.requested)} of {scaled(group.allocatable)})"
    )
    if not group.allocatable:
        return Finding(CheckOutcome.PASSED, f"offers no {resource}", about=group.about)
    most = arguments.percent * group.allocatable
    if 100 * group.requested > most:
        over = math.ceil(group.percent(group.requested) - arguments.percent)
        return Finding(CheckOutcome.VIOLATED, message, about=group.about, violates={f"{resource}, percent over": over})
    if 100 * (group.requested + undecided.amount) > most:
        return undecided.finding(message, group.about)
    return Finding(CheckOutcome.PASSED, message, about=group.about)
