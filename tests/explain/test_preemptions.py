"""What an explanation says of preemption: candidates, costs, what decided, and what becomes of the victims."""

import msgspec
import pytest

from schedctl.api.policies import PodDisruptionBudget
from schedctl.config import loading
from schedctl.explain.explanations import explain
from schedctl.reports.explanations import Candidate, Outlook, Victim
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod


def running(name, on, cpu="2", priority=0, hour=1, **more):
    status = {"phase": "Running", "startTime": f"2026-02-01T{hour:02d}:00:00Z"}
    return pod(name, on=on, cpu=cpu, priority=priority, status=status, **more)


def budget(name, app, allowed=0):
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"disruptionsAllowed": allowed},
        },
        PodDisruptionBudget,
    )


def high(cpu="3", **more):
    return pod("high", cpu=cpu, priority=100, **more)


@pytest.mark.parametrize(
    ("subject", "outlook", "note"),
    [
        pytest.param(pod(cpu="1"), Outlook.FITS, "", id="it fits now"),
        pytest.param(pod(cpu="3", priority=9), Outlook.FITS_AFTER_PREEMPTION, "", id="it fits after preemption"),
        pytest.param(
            pod(cpu="3"),
            Outlook.FITS_EMPTY_NODE,
            "the pod would fit on node-0, node-1, node-2 and 3 more if no pod ran there",
            id="it fits a node without pods, and preemption does not make one",
        ),
        pytest.param(
            pod(cpu="5", priority=9),
            Outlook.FITS_NOWHERE,
            "",
            id="it fits no node that the cluster has, whatever runs there: its causes say that already",
        ),
        pytest.param(pod(schedulingGates=[{"name": "g"}]), None, "", id="of a pod that is not tried nothing is said"),
    ],
)
def test_four_outlooks_are_told_apart(shop, ask, subject, outlook, note):
    found = ask(shop, subject)
    assert found.outlook is outlook
    assert [each for each in found.notes if each.startswith("the pod would fit")] == ([note] if note else [])


def full():
    """Two nodes of 4 cpu with two pods each; on b the less important ones, of which a budget protects one."""
    return cluster(
        *(node(name, cpu="4") for name in ("a", "b", "c")),
        running("a1", "a", priority=5, hour=3),
        running("a2", "a", priority=4),
        running("b1", "b", priority=2, labels={"app": "kept"}),
        running("b2", "b", priority=1, labels={"app": "free"}),
        running("rest", "c", cpu="1900m", priority=500),
        budget("kept", "kept"),
        budget("free", "free", allowed=1),
    )


def test_candidates_come_with_their_costs_the_best_first(ask):
    found = ask(full(), high()).preemption
    assert found.candidates == [
        Candidate("a", 0, 5, 9, ["default/a1", "default/a2"], "2026-02-01T03:00:00Z"),
        Candidate("b", 1, 2, 3, ["default/b1", "default/b2"], "2026-02-01T01:00:00Z"),
    ]
    assert (found.nominated_node, found.ties, found.criterion) == ("a", ["a"], "fewest budget violations")
    assert found.text == "of 2 nodes where evictions make room, a has the fewest budget violations"
    assert (found.potential_nodes, found.tried_nodes, found.enough) == (3, 3, 3)


def test_victims_come_with_their_budgets_and_the_places_they_would_find(ask):
    found = ask(full(), high(nodeSelector={"kubernetes.io/hostname": "b"})).preemption
    assert found.evictions == [
        Victim(
            "default/b1",
            2,
            "2026-02-01T01:00:00Z",
            budgets=["default/kept"],
            breaks_budget=True,
            elsewhere="c",
            text="priority 2, violates PDB default/kept; one like it would find room on c",
        ),
        Victim(
            "default/b2",
            1,
            "2026-02-01T01:00:00Z",
            budgets=["default/free"],
            elsewhere="",
            text="priority 1, within PDB default/free; one like it would find no room",
        ),
    ]
    assert found.text == "b is the only node found where evictions make room"


def test_one_that_is_on_its_way_out_finds_no_place(ask):
    going = {"deletionTimestamp": "2026-03-01T00:00:00Z"}
    c = cluster(node("a", cpu="4"), node("b", cpu="1"), running("x", "a", metadata=going))
    (victim,) = ask(c, high()).preemption.evictions
    assert (victim.terminating, victim.elsewhere) == (True, None)
    assert victim.text == "priority 0, already terminating"


def test_one_that_schedctl_cannot_place_is_left_open(ask):
    c = cluster(node("a", cpu="4"), running("x", "a", schedulerName="somebody-elses"))
    (victim,) = ask(c, high()).preemption.evictions
    assert (victim.elsewhere, victim.text) == (None, "priority 0")


def test_where_the_name_decides_it_is_said(ask):
    c = cluster(*(node(name, cpu="4") for name in ("a", "b", "c")), *(running(f"on-{n}", n) for n in ("a", "b", "c")))
    found = ask(c, high()).preemption
    assert (found.ties, found.criterion) == (["a", "b", "c"], "")
    assert found.text == (
        "of 3 nodes where evictions make room, a is chosen as the first by name: 2 others are equally good"
    )


def test_where_not_every_node_was_tried_it_is_said():
    c = cluster(*(node(name, cpu="4") for name in ("a", "b", "c")), *(running(f"on-{n}", n) for n in ("a", "b", "c")))
    one = loading.load(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{pluginConfig: "
        "[{name: DefaultPreemption, args: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1}}]}]",
        "config",
    )
    found = explain(Scheduler(c, one), high()).preemption
    assert (found.tried_nodes, found.potential_nodes, found.enough) == (1, 3, 1)
    assert found.text.endswith(
        "the search ended after 1 of 3 nodes (kube-scheduler begins at a random node, schedctl with the first by name)"
    )


def test_everything_is_as_before(ask):
    promised = pod("promised", cpu="1", priority=1, status={"phase": "Pending", "nominatedNodeName": "a"})
    c = full()
    c.add_pod(promised)
    scheduler = Scheduler(c)
    keys = sorted(info.key for info in c.pod_table)
    assert explain(scheduler, high()).preemption.nominated_node == "a"
    assert sorted(info.key for info in c.pod_table) == keys
    assert scheduler.nominator.node_of(promised) == "a"
    assert explain(scheduler, high(), hints=False).preemption.evictions[0].elsewhere is None
