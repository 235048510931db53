"""Whole runs beside the real kube-scheduler: the process, its queue and its API server, all with their defaults.

It places pods on a cluster; we take the same objects, as the API server gave them, through `schedctl.simulation.runs`,
and follow its choice wherever several nodes are equally good. Then nothing may differ: the node of each pod, whether
its choice was among our ties, every message a pending pod ever had, who was promised which node, who had to go.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby

import msgspec
import pytest
from msgspec.structs import replace

from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache.pod_info import PodInfo
from schedctl.config import loading
from schedctl.conformance.cases import Case, cluster_of
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, parse_gates, parse_release
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import EventAction, SimulatedEvent
from schedctl.simulation.outcomes import PodState, Run
from schedctl.simulation.runs import Options, run
from schedctl.simulation.tie_breaking import ReplayError, replay_nodes
from schedctl.simulation.timeline import Chosen, Failed, Nominated, Refused
from tests.cluster.scenarios import GRACE, ScenarioAction, crowd, furniture, releases, steps

pytestmark = pytest.mark.cluster

STEP = 0.25
"""Seconds on our clock between two steps. All together stay below the five minutes after which anything is tried again;
so does the real time they take."""

RELEASE = parse_release(os.environ.get("SCHEDCTL_TEST_RELEASE", NEWEST.version)).with_gates(
    parse_gates(os.environ.get("SCHEDCTL_TEST_GATES", ""))
)
"""The release of the process, which ``conformance/cluster/build`` builds for the newest API server, and its gates."""


@dataclass
class Ours:
    """What we made of it: the run, and where we could not follow."""

    facts: Run
    disagreements: list[str] = field(default_factory=list)

    def values(self, kind, attribute):
        """What the records of a kind say, by pod, without repetitions."""
        found = {}
        for record in self.facts.timeline:
            if isinstance(record, kind):
                found.setdefault(record.pod, []).append(getattr(record, attribute))
        return {pod: [value for value, _ in groupby(values)] for pod, values in found.items()}

    def attempts_until(self, at):
        """How many attempts were made until then."""
        return sum(record.at <= at for record in self.facts.timeline if isinstance(record, (Chosen, Refused, Failed)))


def simulate_run(objects, theirs, events, until):
    """Run the pending pods of these objects and what happens besides, following their choices."""
    cluster, _ = cluster_of(Case(id="cluster", objects=objects), RELEASE)
    disagreements = []
    follow = replay_nodes({key: pod.node for key, pod in theirs.items() if pod.node})

    def choose(outcome, number):
        try:
            return follow(outcome, number)
        except ReplayError as error:
            ties = ", ".join(outcome.ties)
            disagreements.append(f"{error.pod}: the node\n    theirs  {error.node}\n    ours    one of {ties}")
            return outcome.chosen

    scheduler = Scheduler(cluster, loading.default(RELEASE), plugins_of(RELEASE))
    facts = run(scheduler, options=Options(choose=choose, horizon=until), events=events)
    return Ours(facts, disagreements)


def differences(theirs, ours, messages=lambda all_of_them: all_of_them):
    """Say what differs, pod by pod; `messages` says which of the messages a pod had are compared."""
    refused, promised = ours.values(Refused, "message"), ours.values(Nominated, "node")
    ties = {record.pod: record.ties for record in ours.facts.timeline if isinstance(record, Chosen)}
    found = list(ours.disagreements)
    for key, real in sorted(theirs.items()):
        outcome = ours.facts.pods.get(key)
        if (outcome is None) == real.ours:
            found.append(f"{key}: {'theirs' if real.ours else 'ours'} alone takes it")
        if outcome is None:
            continue
        for what, theirs_is, ours_is in (
            ("the node", real.node, outcome.node),
            ("whether it is gone", real.gone, outcome.state is PodState.GONE),
            ("whether it is gated", real.gated, outcome.state is PodState.GATED),
            ("whether it is a victim", real.preempted, bool(outcome.preempted_by)),
            ("the nodes promised", real.nominated, [node for node in promised.get(key, []) if node]),
            ("the messages", messages(real.messages), messages(refused.get(key, []))),
        ):
            if theirs_is != ours_is:
                tied = f" (one of {ties[key]})" if what == "the node" and key in ties else ""
                found.append(f"{key}: {what}\n    theirs  {theirs_is}\n    ours    {ours_is}{tied}")
    return found


def change(api, step):
    """Do what a step says; return what that is to our run, None for nothing."""
    if step.action is ScenarioAction.CREATE:
        return SimulatedEvent(typed_object(api.create(step.subject)))
    now = api.get(step.subject)
    if step.action is ScenarioAction.GO:  # ours goes by itself when its grace period is over
        assert "deletionTimestamp" in now["metadata"], f"kube-scheduler was to evict {key_of(now)} and has not"
        api.delete(now)
        return None
    if step.action is ScenarioAction.DELETE:
        api.delete(now)
        return SimulatedEvent(typed_object(now), EventAction.DELETE, grace=0)
    if step.action is ScenarioAction.UNGATE:
        now["spec"]["schedulingGates"] = []
    elif step.action is ScenarioAction.RELABEL:
        now["metadata"]["labels"].update(step.subject["metadata"]["labels"])
    else:
        now["spec"]["unschedulable"] = step.action is ScenarioAction.CORDON
    return SimulatedEvent(typed_object(api.replace(now)))


def typed_object(obj):
    """A pod or node of the API server, as we take it."""
    return PodInfo(msgspec.convert(obj, Pod)) if obj["kind"] == "Pod" else msgspec.convert(obj, Node)


def key_of(obj):
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def test_simulation_agrees_with_kube_scheduler_step_by_step(api):
    for obj in furniture():
        api.create(obj)
    objects, events, clock, tried = api.everything(), [], 0.0, []
    with api.watch_pods() as watch, api.run_scheduler() as scheduler:
        for step in steps():
            event = change(api, step)
            clock += STEP + (GRACE if step.action is ScenarioAction.GO else 0)
            if event is not None:
                events.append(replace(event, at=clock))
            scheduler.settle(watch, [key_of(step.subject)] if step.action is ScenarioAction.CREATE else ())
            tried.append((step, clock, sum(scheduler.attempts().values())))
        notes = api.refusal_notes()
    theirs = watch.pods
    ours = simulate_run(objects, theirs, events, until=clock + STEP / 2)

    found = differences(theirs, ours)
    assert not found, f"{len(found)} differences\n" + "\n".join(found)
    for step, at, attempts in tried:  # the queue has let the same pods go on, and no others
        until = f"attempts until {step.action.value} {step.subject['metadata']['name']}"
        assert (until, attempts) == (until, ours.attempts_until(at + STEP / 2))
    messages = ours.values(Refused, "message")
    assert {key: note for key, note in notes.items() if not note <= set(messages.get(key, ()))} == {}
    assert_that_much_was_asked(ours)


def test_pods_pending_at_start_end_where_kube_scheduler_puts_them(api):
    for obj in (*furniture(), *crowd()):
        api.create(obj)
    objects, late = api.everything(), 60.0
    with api.watch_pods() as watch:
        for pod in api.all("Pod"):
            watch.note(pod)
        waiting = list(watch.pods)
        with api.run_scheduler() as scheduler:
            scheduler.settle(watch, waiting)
            events = [replace(change(api, step), at=late) for step in releases()]
            scheduler.settle(watch, waiting)
    theirs = watch.pods
    ours = simulate_run(objects, theirs, events, until=2 * late)

    # How often a pod is tried in between depends on how fast kube-scheduler is; what it is told at last does not.
    found = differences(theirs, ours, messages=lambda all_of_them: all_of_them[-1:])
    assert not found, f"{len(found)} differences\n" + "\n".join(found)


def assert_that_much_was_asked(ours):
    """Nobody is to shrink the story without noticing: it covers what it is there to cover."""
    chosen = [record for record in ours.facts.timeline if isinstance(record, Chosen)]
    count = Counter(outcome.state for outcome in ours.facts.pods.values())
    assert len(ours.facts.pods) >= 200
    assert sum(record.ties == 1 for record in chosen) >= 120
    assert count[PodState.BOUND] >= 120
    assert count[PodState.UNSCHEDULABLE] >= 20
    assert len({outcome.preempted_by for outcome in ours.facts.pods.values()} - {""}) >= 3
    refused_by = {plugin for record in ours.facts.timeline if isinstance(record, Refused) for plugin in record.plugins}
    assert refused_by >= {
        "DynamicResources",
        "InterPodAffinity",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "NodeUnschedulable",
        "NodeVolumeLimits",
        "PodTopologySpread",
        "TaintToleration",
        "VolumeBinding",
        "VolumeRestrictions",
    }
