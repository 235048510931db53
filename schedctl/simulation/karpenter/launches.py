"""Whether kube-scheduler runs pods on what Karpenter launches for them: the nodes join, and a run places the pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import msgspec

from schedctl.autoscaling.groups import NodeTemplate
from schedctl.autoscaling.joining import Joining
from schedctl.autoscaling.templates import with_labels
from schedctl.cache.pod_info import PodInfo
from schedctl.reports.drains import DrainFate
from schedctl.scheduler import Scheduler
from schedctl.simulation.drains import DrainFlags, drain
from schedctl.simulation.karpenter.offers import OfferedType, Offering
from schedctl.simulation.karpenter.targets import Claim
from schedctl.simulation.outcomes import PodState, RunEnd
from schedctl.simulation.replacement import ReplacementController
from schedctl.simulation.runs import Options, run


class Launch(msgspec.Struct, frozen=True):
    """A node as the cloud would launch it for a claim, taken to be the cheapest that the claim allows.

    Attributes:
        claim: the claim.
        instance_type, offering: what is launched.
        template: the node, None where nothing says what one is like.
    """

    claim: Claim
    instance_type: OfferedType
    offering: Offering
    template: NodeTemplate | None


@dataclass(frozen=True, slots=True)
class Verification:
    """What kube-scheduler makes of nodes that were launched, or removed.

    Attributes:
        pods: how many pods were to find a node.
        placed: how many did.
        pending: the others, by key.
        evicted: how many pods were preempted.
    """

    pods: int = 0
    placed: int = 0
    pending: tuple[str, ...] = field(default=())
    evicted: int = 0


def launch(claim: Claim) -> Launch | None:
    """Return what is launched for a claim, None where no offering is left."""
    chosen = claim.cheapest()
    if chosen is None:
        return None
    instance_type, offering = chosen
    template = offering.template
    if template is not None:
        labels = {key: only for key, values in claim.final_requirements.items() if (only := values.only) is not None}
        template = with_labels(template, labels, f"what the pods require of NodePool {claim.pool.name}")
    return Launch(claim, instance_type, offering, template)


def verify_launches(scheduler: Scheduler, launches: Iterable[Launch], pods: Sequence[PodInfo]) -> Verification:
    """Return whether a whole run places pods when nodes have joined; the cluster is as before.

    Raises:
        KeyboardInterrupt: the user interrupted it.
    """
    with scheduler.fork():
        _join(scheduler, launches)
        facts = run(scheduler, list(pods), options=Options(trace=False), controller=ReplacementController(scheduler))
        if facts.end is RunEnd.INTERRUPTED:
            raise KeyboardInterrupt
    pending = tuple(info.key for info in pods if facts.pods[info.key].state is not PodState.BOUND)
    return Verification(len(pods), len(pods) - len(pending), pending, len(facts.evictions))


def verify_removals(scheduler: Scheduler, names: Sequence[str], launches: Iterable[Launch]) -> Verification:
    """Return whether the pods of nodes find another one by a drain when replacements have joined.

    Raises:
        KeyboardInterrupt: the user interrupted it.
    """
    flags = DrainFlags(ignore_daemonsets=True, delete_emptydir_data=True, force=True)
    with ExitStack() as stack:
        stack.enter_context(scheduler.fork())
        _join(scheduler, launches)
        found = drain(scheduler, list(names), flags, options=Options(trace=False))
        if found.interrupted:
            raise KeyboardInterrupt
    pods = [pod for node in found.nodes for pod in node.pods if pod.fate is not DrainFate.LOST]
    stuck = tuple(pod.info.key for pod in pods if pod.fate is not DrainFate.MOVED)
    return Verification(len(pods), len(pods) - len(stuck), stuck, len(found.displaced))


def _join(scheduler: Scheduler, launches: Iterable[Launch]) -> None:
    joining = Joining(scheduler.cluster)
    for each in launches:
        if each.template is not None:
            joining.add(each.template)
