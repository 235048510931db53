"""How many nodes of which group would be added, what of that is proved, and what no node helps."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.workloads import DaemonSet
from schedctl.autoscaling.detection import detect
from schedctl.autoscaling.groups import NodeGroup
from schedctl.autoscaling.instance_types import Catalogue, InstanceType, Offering
from schedctl.autoscaling.judgements import judge_groups
from schedctl.errors import UsageError
from schedctl.reports.nodes import BoundProof, ScaleUpObstacle
from schedctl.scheduler import Scheduler
from schedctl.simulation.scale_ups import bounds, planning
from schedctl.simulation.scale_ups.options import options_of
from schedctl.simulation.scale_ups.planning import plan
from schedctl.testing.builders import ZONE, cluster, node, pod

GIB = 1 << 30
WEB = {"app": "web"}
TAINT = [{"key": "big", "value": "", "effect": "NoSchedule"}]


def planned(state, *, objective="count", catalogue=None, groups=None, **more):
    found = detect(state, catalogue or Catalogue()) if groups is None else groups
    options, _ = options_of(getattr(found, "groups", found), objective)
    return plan(Scheduler(state), list(state.pending.values()), options, objective=objective, **more)


def added(facts) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for option, count in zip(facts.options, facts.counts, strict=True):
        if count:
            numbers[option.group.name] = numbers.get(option.group.name, 0) + count
    return numbers


def general(name: str = "a", **more):
    return node(name, cpu="4", labels={"pool": "general"}, zone="z1", **more)


def full(*pods):
    """A full node of four CPUs, and pods that wait."""
    return cluster(general(), pod("busy", on="a", cpu="4"), *pods)


def test_nothing_is_added_where_all_pods_fit():
    facts = planned(cluster(general(), pod("p", cpu="1")))
    assert (added(facts), facts.fitting, facts.gap) == ({}, 1, 0.0)


def test_as_few_nodes_are_added_as_the_pods_need():
    facts = planned(full(*(pod(f"p{i}", cpu="1500m") for i in range(5))))
    assert added(facts) == {"general": 3}
    assert facts.gap == 0.0
    assert len(facts.placement.placed) == 5


def test_pods_that_need_no_new_node_are_placed_first():
    facts = planned(cluster(general(), *(pod(f"p{i}", cpu="2") for i in range(3))))
    assert (added(facts), facts.fitting) == ({"general": 1}, 2)
    assert sorted(facts.placement.placed.values()) == ["a", "a", "general-new-1"]


def test_pods_that_want_each_other_share_new_nodes():
    affinity = {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
            ]
        }
    }
    facts = planned(full(pod("web", cpu="1", affinity=affinity), pod("db", cpu="1", labels={"app": "db"})))
    assert added(facts) == {"general": 1}


def test_pods_that_shun_each_other_have_a_new_node_each():
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": WEB}}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    facts = planned(full(*(pod(f"p{i}", cpu="100m", labels=WEB, affinity=anti) for i in range(3))))
    assert added(facts) == {"general": 3}
    assert facts.gap == 0.0


def test_pods_that_are_spread_have_new_nodes_in_each_zone():
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": WEB},
    }
    state = cluster(
        node("a", cpu="4", labels={"pool": "x"}, zone="z1"),
        node("b", cpu="4", labels={"pool": "x"}, zone="z2"),
        *(pod(f"busy-{name}", on=name, cpu="4") for name in ("a", "b")),
        *(pod(f"p{i}", cpu="2", labels=WEB, topologySpreadConstraints=[spread]) for i in range(4)),
    )
    facts = planned(state)
    assert added(facts) == {"x": 2}
    assert {facts.options[number].template.zone for number in facts.placement.nodes.values()} == {"z1", "z2"}


def test_the_share_of_daemon_sets_is_taken_from_new_nodes():
    template = {
        "metadata": {"labels": {"app": "agent"}},
        "spec": {"containers": [{"name": "a", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
    }
    selector = {"matchLabels": {"app": "agent"}}
    written = {
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {"selector": selector, "template": template},
    }
    agent = msgspec.convert(written, DaemonSet)
    state = full(agent, pod("p", cpu="3500m"))
    facts = planned(state)
    assert [info.key for info in facts.unplaced] == ["default/p"]


def test_a_limit_holds_the_plan_back_and_is_named():
    state = full(*(pod(f"p{i}", cpu="4") for i in range(3)))
    (found,) = detect(state).groups
    limited = NodeGroup(found.name, found.origin, templates=found.templates, nodes=found.nodes, max_size=2)
    facts = planned(state, groups=[limited])
    assert added(facts) == {"general": 1}
    assert len(facts.unplaced) == 2
    reached = NodeGroup(found.name, found.origin, templates=found.templates, nodes=found.nodes, max_size=1)
    (judged,) = judge_groups(Scheduler(state), facts.unplaced[0], [reached])
    assert judged.obstacle is ScaleUpObstacle.LIMIT
    assert judged.text == "limit reached: maximum size 1 of the group, which has 1"


@pytest.mark.parametrize(
    ("spec", "obstacle", "text"),
    [
        pytest.param({"cpu": "5"}, ScaleUpObstacle.SIZE, "larger than a new node: cpu 5 requested, 4 free", id="size"),
        pytest.param({"nodeSelector": {"disk": "ssd"}}, ScaleUpObstacle.LABELS, "its labels do not match", id="labels"),
    ],
)
def test_why_a_group_does_not_help(spec, obstacle, text):
    state = full(pod("p", **spec))
    (judged,) = judge_groups(Scheduler(state), state.pending["default/p"], detect(state).groups)
    assert judged.obstacle is obstacle
    assert text in judged.text


def test_a_taint_that_is_not_tolerated_is_named():
    state = cluster(general(taints=TAINT), pod("p"))
    (judged,) = judge_groups(Scheduler(state), state.pending["default/p"], detect(state).groups)
    assert (judged.obstacle, judged.text) == (ScaleUpObstacle.TAINT, "taint big:NoSchedule is not tolerated")


def test_running_pods_are_not_preempted_by_a_plan():
    state = cluster(general(), pod("low", on="a", cpu="4", priority=-5), pod("p", cpu="2", priority=5))
    facts = planned(state)
    assert (added(facts), facts.preempting) == ({"general": 1}, 1)


def catalogue(**prices: float) -> Catalogue:
    types = {
        name: InstanceType(name, 4000 if name == "small" else 8000, 16 * GIB, offerings=(Offering(price),))
        for name, price in prices.items()
    }
    return Catalogue(types, "types.csv")


def priced(*pods):
    label = "node.kubernetes.io/instance-type"
    return cluster(
        node("a", cpu="4", labels={"pool": "small", label: "small"}),
        node("b", cpu="8", labels={"pool": "large", label: "large"}),
        pod("busy-a", on="a", cpu="4"),
        pod("busy-b", on="b", cpu="8"),
        *pods,
    )


def test_the_cheapest_nodes_are_not_the_fewest():
    pods = [pod(f"p{i}", cpu="4") for i in range(2)]
    dear = catalogue(small=1.0, large=3.0)
    assert added(planned(priced(*pods), catalogue=dear)) == {"large": 1}
    assert added(planned(priced(*pods), catalogue=dear, objective="cost")) == {"small": 2}


def test_the_cheapest_nodes_need_prices():
    with pytest.raises(UsageError, match="no price of any node is known"):
        planned(priced(pod("p")), objective="cost")


def test_an_expander_may_choose_worse_than_the_search():
    state = priced(*(pod(f"p{i}", cpu="4") for i in range(2)))
    dear = catalogue(small=1.0, large=3.0)
    by_price = planned(state, catalogue=dear, objective="cost", expander="price")
    assert added(by_price) == {"small": 2}
    by_waste = planned(state, catalogue=dear, expander="least-waste")
    assert by_waste.proposals[0].by == "least-waste"


def test_a_plan_is_the_same_each_time():
    state = full(*(pod(f"p{i}", cpu=f"{300 + 170 * i}m") for i in range(9)))
    first, second = planned(state), planned(state)
    assert (first.counts, first.placement.placed, first.proposals) == (
        second.counts,
        second.placement.placed,
        second.proposals,
    )


def test_the_cluster_is_as_before():
    state = full(*(pod(f"p{i}", cpu="2") for i in range(5)))
    before = (list(state.node_table.row_of), list(state.pod_table.row_of), list(state.pending))
    planned(state)
    assert (list(state.node_table.row_of), list(state.pod_table.row_of), list(state.pending)) == before


def test_without_a_solver_sums_of_resources_are_the_bound(monkeypatch):
    monkeypatch.setattr(bounds, "solver_installed", lambda: False)
    facts = planned(full(*(pod(f"p{i}", cpu="2") for i in range(4))))
    assert (facts.bound.value, facts.bound.by, facts.gap) == (2.0, BoundProof.RESOURCES, 0.0)


def test_an_interrupt_leaves_the_best_so_far():
    state = full(*(pod(f"p{i}", cpu="1300m") for i in range(8)))

    def interrupt(made: int, most: int) -> None:
        if made > 1:
            raise KeyboardInterrupt

    groups = detect(priced()).groups
    facts = planned(state, groups=[*groups, *detect(state).groups], on_trial=interrupt)
    assert facts.interrupted or facts.gap == 0.0
    early = planned(state, on_trial=lambda made, most: (_ for _ in ()).throw(KeyboardInterrupt))
    assert early.interrupted
    assert early.placement is None
    assert list(state.pending), "the cluster is as before"


def test_a_pod_that_is_too_large_is_held_against_the_largest_type_of_a_group():
    label = "node.kubernetes.io/instance-type"
    sizes = {"m1": "4", "m2": "8"}
    state = cluster(
        *(node(size, cpu=cpu, labels={"pool": "general", label: size}) for size, cpu in sizes.items()),
        pod("huge", cpu="100"),
    )
    (judged,) = judge_groups(Scheduler(state), state.pending["default/huge"], detect(state).groups)
    assert (judged.obstacle, judged.text) == (
        ScaleUpObstacle.SIZE,
        "larger than a new node: cpu 100 requested, 8 free",
    )


def test_a_plan_for_many_pods_that_is_near_to_the_bound_is_not_improved(monkeypatch):
    state = cluster(
        node("a", cpu="2", labels={"pool": "general"}),
        pod("full", cpu="2", on="a"),
        *(pod(f"p{number}", cpu=f"{number}00m") for number in (11, 12, 13)),
    )
    improved = planned(state)
    assert (improved.gap, improved.bound.by) == (0.0, BoundProof.SEARCH)
    monkeypatch.setattr(planning, "_MANY", 3)
    assert planned(state).tried == improved.tried, "3 nodes where 2 could be enough is not near"
    monkeypatch.setattr(planning, "_NEAR", 0.5)
    near = planned(state)
    assert (near.gap, sum(near.counts)) == (0.5, 3)
    assert near.tried < improved.tried
    assert planned(state, effort=9).tried == improved.tried, "who says how many plans are tried has them tried"
