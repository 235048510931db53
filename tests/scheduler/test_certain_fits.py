"""Pods that are certain to find a node: whatever nodes the others take, in whatever order they come."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from schedctl.api.meta import ObjectMeta
from schedctl.api.workloads import Service, ServiceSpec
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import FilterPlugin
from schedctl.framework.reasons import ACCEPT, Verdicts
from schedctl.scheduler import Scheduler
from schedctl.scheduler.certain_fits import all_fit
from schedctl.testing.builders import HOSTNAME, ZONE, cluster, node, pod

SPREAD = "topologySpreadConstraints"
WEB = {"matchLabels": {"app": "web"}}
PORT = [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}]
CLAIM = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]


def zones(*sizes: int, cpu: str = "8", **more: Any) -> list[Any]:
    """Nodes a0, a1, ..., b0, ... in the zones a, b, ..."""
    return [
        node(f"{zone}{n}", zone=zone, cpu=cpu, memory="64Gi", **more)
        for zone, size in zip("abc", sizes, strict=False)
        for n in range(size)
    ]


def webs(number: int, *, cpu: str = "1", app: str = "web", **spec: Any) -> list[PodInfo]:
    """Pods of one ReplicaSet that are on no node."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": app, "controller": True}
    metadata = {"ownerReferences": [owner]}
    return [pod(f"{app}-{n}", cpu=cpu, labels={"app": app}, metadata=metadata, **spec) for n in range(number)]


def spread(key: str = ZONE, **more: Any) -> dict[str, Any]:
    """A topology spread constraint of pods of the app web."""
    rule = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": WEB, **more}
    return {SPREAD: [rule]}


def two_keys() -> dict[str, Any]:
    """A constraint of zones, and one of nodes."""
    return {SPREAD: [*spread()[SPREAD], *spread(HOSTNAME)[SPREAD]]}


def term(kind: str, key: str, **more: Any) -> dict[str, Any]:
    """A required affinity or anti-affinity to pods of the app web."""
    rule = {"labelSelector": WEB, "topologyKey": key, **more}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}}


IN_B = {"nodeSelector": {ZONE: "b"}}
RUNNING = pod("web-old", on="a0", labels={"app": "web"})
LEAVING = pod(
    "web-old",
    on="a0",
    labels={"app": "web"},
    metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 5},
)
CASES = {
    "pods with room in plenty": (zones(2, 2), webs(8), True),
    "no pods": (zones(1), [], True),
    "a pod that fits nowhere": (zones(1), webs(1, cpu="9"), False),
    "pods that fill every node to the last": (zones(2), webs(16), True),
    "pods of which one is too many": (zones(2), webs(17), False),
    "large pods that small ones may keep out of every node": (zones(2), webs(1, cpu="8") + webs(2, app="small"), False),
    "large pods of which small ones cannot fill every node": (zones(3), webs(1, cpu="8") + webs(2, app="small"), True),
    "pods for which there are too few places on nodes": (zones(2, pods="2"), webs(5, cpu="1m"), False),
    "pods of a nodeSelector that others fill": (zones(4, 1), webs(1, **IN_B) + webs(8, app="other"), False),
    "pods that tolerate no taint": (
        zones(2, taints=[{"key": "gpu", "value": "", "effect": "NoSchedule"}]),
        webs(1),
        False,
    ),
    "pods spread over zones that all have room": (zones(2, 2), webs(4, **spread()), True),
    "pods spread over zones of which one is full": (
        [*zones(2, 1), pod("full", on="b0", cpu="8")],
        webs(2, **spread()),
        False,
    ),
    "pods spread over a zone that they cannot use": (
        [*zones(2), node("b0", zone="b", taints=[{"key": "gpu", "value": "", "effect": "NoSchedule"}])],
        webs(2, **spread()),
        False,
    ),
    "pods spread over fewer zones than they need": (zones(2, 2), webs(2, **spread(minDomains=3)), False),
    "pods spread over two keys at once": (
        zones(2, 2),
        webs(1, **two_keys()),
        False,
    ),
    "pods that would rather be spread": (zones(2, 2), webs(4, **spread(whenUnsatisfiable="ScheduleAnyway")), True),
    "pods apart from each other on nodes enough": (zones(2, 2), webs(3, **term("podAntiAffinity", HOSTNAME)), True),
    "pods apart from each other on too few nodes": (zones(2, 2), webs(5, **term("podAntiAffinity", HOSTNAME)), False),
    "pods that others keep away from their zones": (
        zones(2, 2),
        webs(1) + webs(2, app="shy", **term("podAntiAffinity", ZONE)),
        False,
    ),
    "pods that need company that is there": ([*zones(2, 2), RUNNING], webs(2, **term("podAffinity", ZONE)), True),
    "pods whose company is leaving": ([*zones(2, 2), LEAVING], webs(2, **term("podAffinity", ZONE)), False),
    "pods that follow the first of them wherever it goes": (zones(2, 2), webs(4, **term("podAffinity", ZONE)), True),
    "pods that follow the first of them into a zone too small": (
        zones(4, 1),
        webs(9, **term("podAffinity", ZONE)),
        False,
    ),
    "pods whose host port is free on nodes enough": (zones(2, 1), webs(3, ports=PORT), True),
    "pods whose host port others take": (zones(2), webs(1, ports=PORT) + webs(2, app="other", ports=PORT), False),
    "pods that wait for a gate": (zones(2), webs(1, schedulingGates=[{"name": "wait"}]), False),
    "pods with a claim, which is bound to a volume on the way": (zones(2), webs(1, volumes=CLAIM), False),
    "pods that a kubelet has granted more than they ask for": (
        zones(2),
        [pod("web-0", cpu="1", status={"phase": "Pending", "allocatedResources": {"cpu": "8"}})],
        False,
    ),
    "pods of another scheduler": (zones(2), webs(1, schedulerName="volcano"), False),
}


@pytest.mark.parametrize(("state", "pods", "certain"), CASES.values(), ids=CASES)
def test_whether_it_is_certain(state: Sequence[Any], pods: list[PodInfo], certain: bool) -> None:
    assert all_fit(Scheduler(cluster(*state, *pods)), pods) is certain


def test_nothing_is_certain_beside_a_pod_that_was_promised_a_node() -> None:
    promised = pod("first", cpu="1", status={"phase": "Pending", "nominatedNodeName": "a0"})
    pods = webs(1)
    assert not all_fit(Scheduler(cluster(*zones(3), promised, *pods)), pods)


class AnyNode(FilterPlugin):
    """Takes every node, which nobody knows beforehand."""

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        return ACCEPT


def test_nothing_is_certain_of_plugins_that_are_not_kube_schedulers_own() -> None:
    pods = webs(1)
    state = cluster(*zones(3), *pods)
    assert all_fit(Scheduler(state), pods)
    assert not all_fit(Scheduler.configured(state, plugins=(AnyNode,)), pods)


def test_nothing_is_certain_where_the_configuration_spreads_pods_that_do_not_ask_for_it() -> None:
    defaults = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
"""
    service = Service(metadata=ObjectMeta(name="web", namespace="default"), spec=ServiceSpec(selector={"app": "web"}))
    pods = webs(1)
    assert not all_fit(Scheduler.configured(cluster(*zones(3), service, *pods), defaults), pods)


# -- whatever the others do --------------------------------------------------------

CPUS = ("100m", "500m", "1", "2")
RULES: dict[str, dict[str, Any]] = {
    "none": {},
    "zone b": IN_B,
    "spread over zones": spread(),
    "spread over nodes": spread(HOSTNAME),
    "apart on nodes": term("podAntiAffinity", HOSTNAME),
    "apart in zones": term("podAntiAffinity", ZONE),
    "together in a zone": term("podAffinity", ZONE),
    "together on a node": term("podAffinity", HOSTNAME),
    "port": {"ports": PORT},
}


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Any], list[PodInfo]]:
    """A cluster with a few running pods, and pods of several kinds that want a node."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    nodes = zones(*sizes, cpu=draw(st.sampled_from(("2", "4", "16"))), pods=draw(st.sampled_from(("3", "110"))))
    rules, apps = st.sampled_from([*RULES.values()]), st.sampled_from(("web", "db"))
    running = [
        pod(f"old-{n}", on=draw(st.sampled_from(nodes)).metadata.name, labels={"app": draw(apps)}, **draw(rules))
        for n in range(draw(st.integers(0, 3)))
    ]
    pods: list[PodInfo] = []
    for number in range(draw(st.integers(1, 3))):
        spec = {"labels": {"app": draw(apps)}, "cpu": draw(st.sampled_from(CPUS)), **draw(rules)}
        pods += [pod(f"new-{number}-{n}", **spec) for n in range(draw(st.integers(1, 4)))]
    return [*nodes, *running], pods


def feasible_nodes(attempt: Attempt) -> list[str]:
    """The names of the nodes that are feasible in an attempt."""
    filtering = attempt.filtering
    assert filtering is not None
    return [name for name, fits in zip(filtering.nodes.names, filtering.feasible, strict=True) if fits]


@settings(max_examples=150, deadline=None)
@given(scenes(), st.randoms(use_true_random=False))
def test_what_is_certain_comes_true_in_any_order_on_any_nodes(
    scene: tuple[list[Any], list[PodInfo]], chance: random.Random
) -> None:
    state, pods = scene
    scheduler = Scheduler(cluster(*state, *pods))
    certain = all_fit(scheduler, pods)
    event(f"certain: {certain}")
    if not certain:
        return

    def pods_on(name: str) -> int:
        return int(scheduler.cluster.nodes_named([name]).pod_count[0])

    for choose in (chance.choice, lambda names: max(names, key=pods_on), lambda names: min(names, key=pods_on)):
        with scheduler.fork():
            for info in chance.sample(pods, len(pods)):
                attempt = scheduler.attempt(info, make_room=False)
                assert attempt.fits, f"{info.key} finds no node"
                scheduler.place(attempt, choose(feasible_nodes(attempt)))
