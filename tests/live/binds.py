"""A plan carried out by the engine, as ``bind --execute`` carries it out, without what comes before the plan."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.binding import BindingCycle
from schedctl.engine.handles import ProfileHandle
from schedctl.engine.nominators import Nominator
from schedctl.engine.reporters import Reporter
from schedctl.errors import ClusterError
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import PreBindPlugin
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import SUCCESS
from schedctl.live.binding import PodBind
from schedctl.live.plans import BindPlan, ChangedObject, Refusal
from schedctl.live.prebind_volumes import wait_for_volumes
from schedctl.plugins.default_binder import DefaultBinder
from schedctl.scheduler import Scheduler
from schedctl.session.decisions import decide, reserve
from schedctl.testing.builders import cluster, node


class Planned(PreBindPlugin):
    """Stands for a plugin whose changes are in the plan already."""

    memory_only = True

    def pre_bind(self, cycle, node_name):
        return SUCCESS


class VolumeBinding(Planned):
    pass


class DynamicResources(Planned):
    pass


class Bound(NamedTuple):
    """What a bind leaves to be told."""

    moved: tuple[str, ...]
    warnings: tuple[str, ...]


def plan_of(scheduler: Scheduler, key: str, patience: float = 5.0) -> BindPlan:
    """Return the plan for a pending pod, by a scheduler that is not needed any more."""
    info = scheduler.cluster.pending[key]
    decision = decide(reserve(scheduler, info, scheduler.attempt(info).chosen))
    assert not decision.refusal
    changed = tuple(ChangedObject(before, after, plugin) for plugin, before, after in decision.changed)
    return BindPlan(info.pod, decision.node, changed, decision.mappings, patience)


def bind(
    connection, plan: BindPlan, observed, *, dry_run: bool = False, wait=wait_for_volumes, companions: Set[str] = set()
) -> Bound:
    """Carry a plan out; what could not be taken back is part of the fault."""
    live = PodBind(connection, plan, observed, wait=wait, companions=companions)
    if dry_run:
        live.rehearse()
        return Bound((), tuple(live.warnings))
    memory, info = cluster(node(plan.node)), PodInfo(plan.pod)
    memory.add_pod(info)
    handle = ProfileHandle(memory, Nominator())
    handle.live[info.uid] = live
    plugins = (VolumeBinding(None, handle), DynamicResources(None, handle))
    profile = Profile("ours", pre_bind=plugins, bind=(DefaultBinder(None, handle),))
    cycle = BindingCycle(profile, memory, Cycle(info), plan.node, Reporter(), live)
    try:
        assert cycle.reserve().status.successful
        assert cycle.pre_bind().successful
        assert cycle.bind().successful
    except BaseException as fault:
        assert info.key in memory.pending
        if live.left:
            kind = Refusal if isinstance(fault, Refusal) else ClusterError
            raise kind("; ".join((str(fault) or "interrupted", *live.left))) from fault
        raise
    return Bound(tuple(live.moved), tuple(live.warnings))
