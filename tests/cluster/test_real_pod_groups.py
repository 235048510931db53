"""Pod groups on the real kube-scheduler with its gates on: nodes, messages, conditions and victims equal ours.

Each story is told to the process and to `schedctl.simulation.runs`, which follows the choices of the process among
equally good nodes.
"""

from __future__ import annotations

import time
from collections import Counter
from itertools import groupby

import msgspec
import pytest

from schedctl.api.nodes import Node
from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod
from schedctl.cache.pod_info import PodInfo
from schedctl.config import loading
from schedctl.conformance.cases import Case, cluster_of
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import SimulatedEvent
from schedctl.simulation.outcomes import PodState
from schedctl.simulation.runs import Options, run
from schedctl.simulation.tie_breaking import replay_nodes
from schedctl.simulation.timeline import Failed, Refused
from tests.cluster.control_plane import PATIENCE
from tests.cluster.control_plane import Refused as RefusedRequest
from tests.cluster.group_stories import CLASSES, NODES, STORIES
from tests.cluster.test_real_scheduler import Ours, differences, key_of

pytestmark = pytest.mark.cluster
RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))
STEP = 30.0
"""Seconds on our clock between two steps: longer than a group backs off."""
REST = 1.5
"""Seconds without a change after which kube-scheduler is at rest: longer than a group backs off the first time."""
BACKOFF = 12.0
"""Seconds after which a group that backs off has been tried again: as long as it may back off at that size."""
KINDS = {"Pod": Pod, "Node": Node, "PodGroup": PodGroup}


@pytest.fixture
def api(api_of_groups):
    """The API server with what the stories share."""
    for obj in CLASSES:
        create(api_of_groups, obj)
    return api_of_groups


def create(api, obj):
    """Create an object; a PriorityClass just made may be unknown to admission for a moment."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return api.create(obj)
        except RefusedRequest as refusal:
            if "no PriorityClass" not in str(refusal) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def rest(api, watch, bound=frozenset()):
    """Wait until pods are bound and nothing has changed for a while, and return the conditions of the groups.

    Pods that stay without a node although their group backs off are seen by the caller: they are not waited for longer
    than it may back off.
    """
    begun, since, before = time.monotonic(), time.monotonic(), None
    while True:
        conditions = {key_of(group): condition_of(group) for group in api.all("PodGroup")}
        there = bound <= nodes_of(watch)
        now = (conditions, {key: repr(pod) for key, pod in watch.pods.items()})
        elapsed = time.monotonic()
        if now != before:
            before, since = now, elapsed
        elif elapsed - since >= REST and (there or elapsed - begun >= BACKOFF):
            return conditions
        assert elapsed - begun < PATIENCE, "kube-scheduler does not come to rest"
        time.sleep(0.05)


def nodes_of(watch):
    """The pods that have a node."""
    return {key for key, pod in watch.pods.items() if pod.node and not pod.gone}


def condition_of(group):
    """What the group's condition says, None where it has none."""
    found = [
        (each["status"], each["reason"], each["message"])
        for each in group.get("status", {}).get("conditions", ())
        if each["type"] == "PodGroupInitiallyScheduled"
    ]
    return found[0] if found else None


def typed(obj):
    there = msgspec.convert(obj, KINDS[obj["kind"]])
    return PodInfo(there) if isinstance(there, Pod) else there


class OurRun(Ours):
    """What we made of it; a fault is written into the condition of a pod as a refusal is."""

    def values(self, kind, attribute):
        if kind is not Refused:
            return super().values(kind, attribute)
        found = {}
        for record in self.facts.timeline:
            if isinstance(record, (Refused, Failed)):
                found.setdefault(record.pod, []).append(record.message)
        return {pod: [text for text, _ in groupby(texts)] for pod, texts in found.items()}


def our_run(objects, theirs, events, until):
    """Run the same story, following the choices of those who made some."""
    cluster, _ = cluster_of(Case(id="cluster", objects=objects), RELEASE)
    choose = replay_nodes({key: pod.node for key, pod in theirs.items() if pod.node})
    scheduler = Scheduler(cluster, loading.default(RELEASE), plugins_of(RELEASE))
    return OurRun(run(scheduler, options=Options(choose=choose, horizon=until), events=events))


def endings(theirs):
    """How the pods ended, by whether they have a node and what they were told, whichever of them it was."""
    return Counter((bool(pod.node), *pod.messages) for pod in theirs.values())


def our_endings(ours):
    told = ours.values(Refused, "message")
    return Counter((bool(outcome.node), *told.get(key, ())) for key, outcome in ours.facts.pods.items())


@pytest.mark.parametrize("story", [pytest.param(story, id=story.title) for story in STORIES])
def test_groups_end_as_kube_scheduler_has_them(api, story):
    objects, events, clock = api.everything("PodGroup"), [], 0.0
    with api.watch_pods() as watch, api.run_scheduler() as scheduler:
        for step in (NODES, *story.steps):  # nodes that are there before it does kube-scheduler sees in any order
            clock += STEP
            events += [SimulatedEvent(typed(create(api, obj)), at=clock) for obj in step]
            conditions = rest(api, watch, story.bound if step is story.steps[-1] else frozenset())
        queued = scheduler.queued()
    theirs = watch.pods
    for pod in theirs.values():
        pod.gated = pod.pending and not pod.messages  # of those it writes nothing, and has a gauge
        if pod.nominated[-1:] == [pod.node] and not story.victims:
            del pod.nominated[-1]  # it was promised to the pod while that waited at Permit for the rest of its gang
    assert sum(pod.gated for pod in theirs.values()) == queued["incomplete"] + queued["gated"]
    ours = our_run(objects, {} if story.races else theirs, events, until=clock + STEP - 1)

    if story.races:
        assert endings(theirs) == our_endings(ours)
    found = [] if story.races else differences(theirs, ours)
    assert not found, f"{len(found)} differences\n" + "\n".join(found)
    ours_say = {key: group.condition for key, group in ours.facts.groups.items()}
    for key, theirs_say in conditions.items() if not story.races else ():
        said = ours_say.get(key)
        assert theirs_say == (said and (said.status, said.reason, said.message)), key

    # the story is about what it says it is about
    of_train = None if story.races else conditions.get("default/train")
    assert (of_train is None) == (story.says is None)
    assert story.says is None or story.says in of_train[2]
    assert story.bound <= {key for key, pod in theirs.items() if pod.node and not pod.gone}
    gone = Counter(key.rpartition("-")[0] for key, pod in theirs.items() if pod.preempted)
    assert {f"{count} of {whose}" for whose, count in gone.items()} == story.victims
    assert all(ours.facts.pods[key].state is PodState.GONE for key, pod in theirs.items() if pod.preempted)
