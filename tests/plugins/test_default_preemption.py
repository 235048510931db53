"""DefaultPreemption: who has to go, where, and who is spared."""

from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.policies import PodDisruptionBudget
from schedctl.config import loading
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.registries import Registry
from schedctl.framework.statuses import Code
from schedctl.plugins.default_preemption.candidates import Criterion
from schedctl.plugins.default_preemption.plugin import AWAITED, NEVER
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"


def running(
    name, on, cpu="1", priority=0, started=None, labels=None, terminating=False, by="PreemptionByScheduler", **more
):
    """A running pod; `started` is a second of the day on which all of them started."""
    status = {"phase": "Running"}
    metadata = {}
    if started is not None:
        status["startTime"] = f"2026-02-01T00:{started // 60:02d}:{started % 60:02d}Z"
    if terminating:
        metadata["deletionTimestamp"] = "2026-03-01T00:00:00Z"
        status["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": by}]
    return pod(name, on=on, cpu=cpu, priority=priority, labels=labels, status=status, metadata=metadata, **more)


def budget(name, selector, allowed=0, disrupted=(), namespace="default"):
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {} if selector is None else {"selector": selector},
            "status": {
                "disruptionsAllowed": allowed,
                "disruptedPods": dict.fromkeys(disrupted, "2026-03-01T00:00:00Z"),
            },
        },
        PodDisruptionBudget,
    )


def app(name):
    return {"matchLabels": {"app": name}}


def wanting(percentage=10, absolute=100, filters=()):
    """A configuration whose preemption wants so many candidates."""
    return loading.load(
        f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint: {{enabled: [{", ".join(f"{{name: {name}}}" for name in filters)}]}}
  pluginConfig:
  - name: DefaultPreemption
    args: {{minCandidateNodesPercentage: {percentage}, minCandidateNodesAbsolute: {absolute}}}
""",
        "config",
    )


def high(cpu="2", **spec):
    return pod("high", cpu=cpu, **{"priority": 100, **spec})


def preempt(c, incoming, configuration=None, registry=IN_TREE):
    """What PostFilter says of a pod."""
    return Scheduler(c, configuration, registry).attempt(incoming).post_filter


def outcome(result):
    """(node, victims by name)."""
    return result.nominated_node, [info.pod.metadata.name for info in result.victims]


# -- whether it is tried ------------------------------------------------------------------


def test_a_pod_with_preemption_policy_never_is_not_eligible():
    c = cluster(node("a", cpu="2"), running("low", "a"))
    result = preempt(c, high(preemptionPolicy="Never"))
    assert result.status.message == f"preemption: {NEVER}"
    assert (result.nominated_node, result.findings.ineligible) == (None, NEVER)


def promised(**spec):
    return high(status={"phase": "Pending", "nominatedNodeName": "a"}, **spec)


@pytest.mark.parametrize(
    ("there", "incoming", "waits"),
    [
        pytest.param({}, promised(), True, id="a pod waits for a victim on its way out from the node it was promised"),
        pytest.param({"priority": 100}, promised(), False, id="a pod of its own priority cannot have been its victim"),
        pytest.param({"terminating": False}, promised(), False, id="a pod that stays is not waited for"),
        pytest.param({"by": "EvictionByEvictionAPI"}, promised(), False, id="nor is one whom somebody else evicted"),
        pytest.param({}, high(), False, id="nor is anybody by a pod that was promised nothing"),
        pytest.param({}, promised(nodeSelector={"no": "such"}), False, id="nor on a node that evictions cannot help"),
    ],
)
def test_a_pod_with_terminating_victims_on_its_nominated_node_is_not_eligible(there, incoming, waits):
    c = cluster(node("a", cpu="2"), running("low", "a", **{"terminating": True, **there}))
    assert (preempt(c, incoming).status.message == f"preemption: {AWAITED}") is waits


def test_a_pod_nominated_to_a_deleted_node_preempts_again():
    c = cluster(node("a", cpu="2"), running("low", "a"))
    incoming = high(status={"phase": "Pending", "nominatedNodeName": "gone"})
    assert outcome(preempt(c, incoming)) == ("a", ["low"])


# -- when it does not help ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("objects", "incoming", "line"),
    [
        pytest.param(
            [node("a", cpu="1"), node("b", cpu="1")],
            high(),
            f"0/2 nodes are available: 2 {NOT_HELPFUL}.",
            id="no eviction makes a node larger than it is",
        ),
        pytest.param(
            [node("a", cpu="2"), running("equal", "a", priority=100)],
            high(),
            f"0/1 nodes are available: 1 {NO_VICTIMS}.",
            id="pods of equal priority are no victims",
        ),
        pytest.param(
            [node("a", cpu="2"), running("equal", "a", priority=100), running("low", "a")],
            high(),
            "0/1 nodes are available: 1 Insufficient cpu.",
            id="even without its victims a node may be too full",
        ),
        pytest.param(
            [
                *(node(name, cpu="2") for name in "abc"),
                node("d", cpu="1"),
                running("equal", "a", priority=100),
                running("one", "b", priority=100),
                running("low", "b"),
                running("other", "c", priority=100),
                running("last", "c", priority=7),
            ],
            high(),
            f"0/4 nodes are available: 1 {NO_VICTIMS}, 1 {NOT_HELPFUL}, 2 Insufficient cpu.",
            id="every node stays refused for a reason of its own",
        ),
    ],
)
def test_a_preemption_that_does_not_help_says_why(objects, incoming, line):
    result = preempt(cluster(*objects), incoming)
    assert result.status.code is Code.UNSCHEDULABLE
    assert result.status.message == f"preemption: {line}"
    assert outcome(result) == ("", [])


# -- who has to go ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pods", "cpu", "victims"),
    [
        pytest.param(
            [running("x", "a"), running("y", "a", priority=5)], "1", ["x"], id="the more important one is spared"
        ),
        pytest.param(
            [running("x", "a", started=1), running("y", "a", started=9)],
            "1",
            ["y"],
            id="of equals the older one is spared",
        ),
        pytest.param(
            [running("x", "a"), running("y", "a", started=9)],
            "1",
            ["x"],
            id="a pod that has not started is the youngest",
        ),
        pytest.param(
            [running("x", "a", cpu="1500m", priority=5), running("y", "a", cpu="500m")],
            "1",
            ["x"],
            id="a pod that is too large goes, however important, and a smaller one stays",
        ),
        pytest.param(
            [running("x", "a", started=3), running("y", "a", priority=-1, started=2)],
            "2",
            ["x", "y"],
            id="victims are told from the most important to the least",
        ),
        pytest.param(
            [running("x", "a", terminating=True), running("y", "a", started=1)],
            "1",
            ["x"],
            id="a pod on its way out is a victim like any other",
        ),
    ],
)
def test_as_many_victims_as_possible_are_reprieved_by_importance(pods, cpu, victims):
    result = preempt(cluster(node("a", cpu="2"), *pods), high(cpu=cpu))
    assert outcome(result) == ("a", victims)
    text = f"preemption: found a potential placement for pod on node a, preempting {len(victims)} victims"
    assert (result.status.code, result.status.message) == (Code.SUCCESS, text)


@pytest.mark.parametrize(
    ("budgets", "victims"),
    [
        pytest.param([], ["x"], id="without a budget the least important goes"),
        pytest.param(
            [budget("b", app("x"))], ["y"], id="a pod whose eviction breaks a budget is spared before any other"
        ),
        pytest.param([budget("b", app("x"), allowed=1)], ["x"], id="a budget with room protects nobody"),
        pytest.param([budget("b", {})], ["x"], id="an empty selector protects nobody"),
        pytest.param([budget("b", None)], ["x"], id="nor does an absent one"),
        pytest.param(
            [budget("b", {"matchExpressions": [{"key": "app", "operator": "Is"}]})],
            ["x"],
            id="nor does one that cannot be read",
        ),
        pytest.param([budget("b", app("x"), namespace="other")], ["x"], id="nor does a budget of another namespace"),
        pytest.param(
            [budget("b", app("x"), disrupted=["x"])], ["x"], id="nor does a budget that knows of the disruption already"
        ),
        pytest.param(
            [budget("b", {"matchExpressions": [{"key": "app", "operator": "Exists"}]}, allowed=1)],
            ["y"],
            id="a budget is drawn by the more important first",
        ),
    ],
)
def test_victims_that_violate_a_budget_are_reprieved_first(budgets, victims):
    x, y = running("x", "a", labels={"app": "x"}), running("y", "a", priority=5, labels={"app": "y"})
    result = preempt(cluster(node("a", cpu="2"), x, y, *budgets), high(cpu="1"))
    assert outcome(result) == ("a", victims)


def test_a_pod_without_labels_violates_no_budget():
    c = cluster(node("a", cpu="2"), running("x", "a", priority=5), running("y", "a", labels={"app": "y"}))
    c.put(budget("b", {"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}]}))
    assert outcome(preempt(c, high(cpu="1"))) == ("a", ["x"])


def test_a_victim_counts_against_no_budget_after_the_first_it_violates():
    x, y = (running(name, "a", priority=p, labels={"app": name, "tier": "t"}) for name, p in (("x", 5), ("y", 0)))
    c = cluster(node("a", cpu="2"), x, y, budget("1", app("x")), budget("2", {"matchLabels": {"tier": "t"}}, allowed=1))
    result = preempt(c, high(cpu="2"))
    assert outcome(result) == ("a", ["x", "y"])
    assert result.findings.candidates.violating.tolist() == [True, False]


def test_budgets_are_counted_for_each_node_on_its_own():
    c = cluster(
        *(node(name, cpu="1") for name in "ab"),
        *(running(f"on-{name}", name, labels={"app": "x"}) for name in "ab"),
        budget("b", app("x"), allowed=1),
    )
    assert preempt(c, high(cpu="1")).findings.candidates.violations.tolist() == [0, 0]


def test_host_ports_of_a_node_are_a_set_that_the_first_evicted_pod_shrinks():
    """Two pods share a port by mistake; when both come back, the second to go frees it for good."""
    port = [{"containerPort": 80, "hostPort": 80}]
    pods = [running(name, "a", priority=p, ports=port) for name, p in (("x", 9), ("y", 5))]
    assert outcome(preempt(cluster(node("a"), *pods), high(cpu="1", ports=port))) == ("a", ["x", "y"])


def test_nominated_pods_of_higher_priority_keep_their_room():
    rival = pod("rival", cpu="1", priority=100, status={"phase": "Pending", "nominatedNodeName": "a"})
    pods = [running("x", "a"), running("y", "a", priority=1)]
    assert outcome(preempt(cluster(node("a", cpu="2"), *pods, rival), high(cpu="1"))) == ("a", ["y", "x"])
    lower = pod("lower", cpu="1", priority=99, status={"phase": "Pending", "nominatedNodeName": "a"})
    assert outcome(preempt(cluster(node("a", cpu="2"), *pods, lower), high(cpu="1"))) == ("a", ["x"])


def test_plugins_that_count_pods_count_a_nominated_and_an_evicted_pod_once_each():
    """With the victim gone and the rival there, one web pod more in zone a would be one too many."""
    spread = {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "labelSelector": app("web")}
    web = {"labels": {"app": "web"}}
    rival = pod("rival", cpu="500m", priority=100, status={"phase": "Pending", "nominatedNodeName": "a"}, **web)
    c = cluster(
        node("a", cpu="2", zone="a"),
        node("b", cpu="1", zone="b"),
        running("x", "a", cpu="2", **web),
        running("rest", "b", priority=500),
        rival,
    )
    incoming = high(cpu="1", topologySpreadConstraints=[{"whenUnsatisfiable": "DoNotSchedule", **spread}], **web)
    line = f"0/2 nodes are available: 1 {NO_VICTIMS}, 1 node(s) didn't match pod topology spread constraints."
    assert preempt(c, incoming).status.message == f"preemption: {line}"
    c.remove_pod(rival)
    assert outcome(preempt(c, incoming)) == ("a", ["x"])


def test_evicting_a_pod_that_affinity_requires_makes_no_room():
    c = cluster(node("a", cpu="2", zone="z"), running("friend", "a", cpu="2", labels={"app": "friend"}))
    needs = {"labelSelector": app("friend"), "topologyKey": "topology.kubernetes.io/zone"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [needs]}}
    line = "0/1 nodes are available: 1 node(s) didn't match pod affinity rules."
    assert preempt(c, high(affinity=affinity)).status.message == f"preemption: {line}"


def test_pods_whose_anti_affinity_repels_the_pod_are_evicted():
    shuns = {"labelSelector": app("foe"), "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [shuns]}}
    foe, other = (running(name, "a", labels={"app": name}) for name in ("foe", "other"))
    assert outcome(preempt(cluster(node("a"), foe, other), high(affinity=affinity))) == ("a", ["foe"])


# -- where --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pods", "chosen", "criterion", "ties"),
    [
        pytest.param(
            [running("x", "a", labels={"app": "x"}), running("y", "b", priority=9)],
            "b",
            Criterion.VIOLATIONS,
            1,
            id="the fewest broken budgets count first",
        ),
        pytest.param(
            [running("x", "a", priority=9), *(running(f"y{i}", "b", cpu="500m", priority=8) for i in range(2))],
            "b",
            Criterion.HIGHEST_PRIORITY,
            1,
            id="then the priority of the most important victim",
        ),
        pytest.param(
            [
                *(running(f"x{i}", "a", cpu="500m", priority=p) for i, p in enumerate((9, 3))),
                *(running(f"y{i}", "b", cpu="500m", priority=p) for i, p in enumerate((9, 2))),
            ],
            "b",
            Criterion.PRIORITY_SUM,
            1,
            id="then the sum of priorities",
        ),
        pytest.param(
            [*(running(f"x{i}", "a", cpu="500m", priority=-5) for i in range(2)), running("y", "b", priority=-5)],
            "b",
            Criterion.PRIORITY_SUM,
            1,
            id="in which more victims of negative priority are not better than fewer",
        ),
        pytest.param(
            [running("x", "a", started=1), running("y", "b", started=2)],
            "b",
            Criterion.START_TIME,
            1,
            id="last the latest start of the most important victims",
        ),
        pytest.param(
            [running("x", "a", started=1), running("y", "b")],
            "b",
            Criterion.START_TIME,
            1,
            id="for which a pod that has not started is the latest",
        ),
        pytest.param(
            [running("x", "b", started=1), running("y", "a", started=1)],
            "a",
            None,
            2,
            id="of nodes equal in everything the first by name is taken",
        ),
    ],
)
def test_the_node_where_evictions_cost_least_is_chosen(pods, chosen, criterion, ties):
    c = cluster(node("b", cpu="1"), node("a", cpu="1"), *pods, budget("b", app("x")))
    result = preempt(c, high(cpu="1"))
    choice = result.findings.choice
    assert (result.nominated_node, choice.criterion, len(choice.ties)) == (chosen, criterion, ties)


def test_the_number_of_victims_decides_between_equal_priority_sums():
    """Only priorities at the very bottom make equal sums of different numbers."""
    bottom = -(2**31)
    c = cluster(
        *(node(name, cpu="1") for name in "ab"),
        *(running(f"x{i}", "a", cpu="500m", priority=bottom) for i in range(2)),
        running("y", "b", priority=bottom),
    )
    result = preempt(c, high(cpu="1"))
    assert (result.nominated_node, result.findings.choice.criterion) == ("b", Criterion.VICTIMS)


# -- how long it is looked for ------------------------------------------------------------


def row_of_nodes(*kinds):
    """Nodes n0, n1, …: `o` holds a victim, `x` one whose eviction breaks a budget, `.` one that is no victim."""
    objects = [budget("b", app("x"))]
    for i, kind in enumerate(kinds):
        priority = 100 if kind == "." else len(kinds) - i
        objects += [node(f"n{i}", cpu="1"), running(f"p{i}", f"n{i}", priority=priority, labels={"app": kind})]
    return cluster(*objects)


@pytest.mark.parametrize(
    ("nodes", "enough", "candidates", "tried"),
    [
        pytest.param("oooo", 2, ["n0", "n1"], 2, id="the search ends with enough candidates"),
        pytest.param("o..oo", 2, ["n0", "n3"], 4, id="nodes that do not help are passed over"),
        pytest.param("xxxo", 2, ["n0", "n1", "n3"], 4, id="it goes on until one of them breaks no budget"),
        pytest.param("oxoo", 2, ["n0", "n1"], 2, id="with one that breaks none the others may"),
        pytest.param("xxxx", 2, ["n0", "n1"], 4, id="of those that break one no more are kept than would be enough"),
        pytest.param("...o", 1, ["n3"], 4, id="it may end with the last node"),
        pytest.param("oo", 9, ["n0", "n1"], 2, id="all nodes are enough"),
    ],
)
def test_the_dry_run_ends_with_enough_candidates(nodes, enough, candidates, tried):
    found = preempt(row_of_nodes(*nodes), high(cpu="1"), wanting(0, enough)).findings
    assert (found.candidates.nodes.names, found.tried) == (candidates, tried)
    assert (found.potential, found.enough) == (len(nodes), min(enough, len(nodes)))


def test_a_share_of_too_few_nodes_is_no_candidate_at_all():
    result = preempt(row_of_nodes("o", "o", "."), high(cpu="1"), wanting(10, 0))
    assert result.status.message == f"preemption: 0/3 nodes are available: 1 {NO_VICTIMS}, 2 {NOT_HELPFUL}."


# -- faults -------------------------------------------------------------------------------


class NeedsCompany(FilterPlugin):
    """Refuses nodes labelled so, and cannot judge any of them once it is empty."""

    disliked = Reason("disliked")
    broken = Reason("nobody on {where}", code=Code.ERROR)

    @per_node
    def filter(self, cycle, node):
        if node.labels.get("disliked") is None:
            return None
        return self.disliked() if node.pods else self.broken(where=node.name)


class Fickle(FilterPlugin):
    """Refuses a node until something was supposed on it."""

    unheard = Reason("unheard of")

    def filter(self, cycle, nodes):
        return self.unheard.where(np.full(len(nodes), not nodes.is_hypothetical))


def with_plugin(plugin):
    return wanting(filters=[plugin.__name__]), Registry([*IN_TREE.values(), plugin])


def test_a_fault_on_one_node_does_not_keep_another_from_being_chosen():
    c = cluster(
        node("a", cpu="1", labels={"disliked": ""}),
        node("b", cpu="1"),
        running("x", "a"),
        running("y", "b", priority=5),
    )
    assert outcome(preempt(c, high(cpu="1"), *with_plugin(NeedsCompany))) == ("b", ["y"])


def test_faults_are_reported_when_there_is_no_candidate():
    c = cluster(*(node(n, labels={"disliked": ""}) for n in "ab"), *(running(f"on-{n}", n) for n in "ab"))
    result = preempt(c, high(), *with_plugin(NeedsCompany))
    texts = (f'running "NeedsCompany" filter plugin: nobody on {name}' for name in "ab")
    assert (result.status.code, result.status.message) == (Code.ERROR, f"preemption: [{', '.join(texts)}]")


def test_a_node_where_nobody_has_to_go_is_a_fault():
    result = preempt(cluster(node("a"), running("x", "a")), high(cpu="1"), *with_plugin(Fickle))
    text = 'preemption: expected at least one victim pod on node "a"'
    assert (result.status.code, result.status.message) == (Code.ERROR, text)


# -- what follows -------------------------------------------------------------------------


def test_preemption_evicts_the_victims_and_clears_nominations_of_lower_priority():
    def waiting(name, priority, on):
        return pod(name, cpu="10m", priority=priority, status={"phase": "Pending", "nominatedNodeName": on})

    lesser, greater, elsewhere = waiting("lesser", 50, "a"), waiting("greater", 500, "a"), waiting("elsewhere", 50, "b")
    going = running("going", "a", terminating=True)
    c = cluster(
        node("a", cpu="2"), node("b", cpu="1"), going, running("low", "a", cpu="500m"), lesser, greater, elsewhere
    )
    scheduler = Scheduler(c)
    attempt = scheduler.attempt(high(cpu="1900m"))
    scheduler.make_room(attempt)
    assert [info.key for info in c.pod_table] == [going.key]
    promises = [scheduler.nominator.node_of(info) for info in (lesser, greater, elsewhere)]
    assert promises == ["", "a", "b"]


def test_a_failed_preemption_changes_nothing():
    c = cluster(node("a", cpu="1"), running("low", "a"))
    scheduler = Scheduler(c)
    generation = c.generation
    scheduler.make_room(scheduler.attempt(high()))
    assert c.generation == generation


# -- a referee ----------------------------------------------------------------------------


class Sketch(NamedTuple):
    """A running pod of the referee."""

    name: str
    cpu: int
    priority: int
    started: int
    app: str
    port: int
    terminating: bool


@dataclass
class Referee:
    """Preemption as the rules tell it, one node and one pod at a time; it knows cpu, the number of pods and ports."""

    cpu: int
    most: int
    pods: list[Sketch]
    budgets: list[tuple[str, int]]

    def fits(self, there, requested, port):
        room = self.cpu - sum(p.cpu for p in there) >= requested and len(there) < self.most
        return room and not (port and any(p.port == port for p in there))

    def try_out(self, requested, port, priority):
        """Return (victims, violations), or None."""
        possible = sorted((p for p in self.pods if p.priority < priority), key=lambda p: (-p.priority, p.started))
        there = [p for p in self.pods if p.priority >= priority]
        if not possible or not self.fits(there, requested, port):
            return None
        allowed = dict(enumerate(number for _, number in self.budgets))
        violating = []
        for p in possible:
            for i, (name, _) in enumerate(self.budgets):
                if p.app == name:
                    allowed[i] -= 1
                    if allowed[i] < 0:
                        violating.append(p)
                        break
        victims = []
        for p in violating + [p for p in possible if p not in violating]:
            if self.fits([*there, p], requested, port):
                there.append(p)
            else:
                victims.append(p)
        victims.sort(key=possible.index)
        return victims, sum(p in violating for p in victims)


def cost(found):
    victims, violations = found
    first = victims[0]
    return violations, first.priority, sum(p.priority + 2**31 for p in victims), len(victims), -first.started


sketches = st.builds(
    Sketch,
    name=st.just(""),
    cpu=st.integers(1, 4),
    priority=st.integers(0, 4),
    started=st.integers(0, 59),
    app=st.sampled_from("abc"),
    port=st.sampled_from([0, 0, 0, 80, 81]),
    terminating=st.booleans(),
)


@given(
    st.lists(st.tuples(st.integers(2, 8), st.integers(1, 5), st.lists(sketches, max_size=6)), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=3),
    st.tuples(st.integers(1, 6), st.sampled_from([0, 80]), st.integers(0, 5)),
)
def test_a_naive_referee_finds_the_same_candidates_and_victims(nodes, budgets, incoming):
    requested, port, priority = incoming
    objects, referees = [budget(f"b{i}", app(name), allowed) for i, (name, allowed) in enumerate(budgets)], {}
    for i, (cpu, most, pods) in enumerate(nodes):
        distinct = {(p.priority, p.started): p for p in pods}.values()
        used: set[int] = set()
        there = []
        for j, p in enumerate(distinct):
            kept = p._replace(name=f"p{i}-{j}", port=0 if p.port in used else p.port)
            used.add(kept.port)
            there.append(kept)
        referees[f"n{i}"] = Referee(cpu, most, there, budgets)
        objects.append(node(f"n{i}", cpu=str(cpu), pods=str(most)))
        objects += (
            running(
                p.name,
                f"n{i}",
                cpu=str(p.cpu),
                priority=p.priority,
                started=p.started,
                labels={"app": p.app},
                terminating=p.terminating,
                ports=[{"containerPort": 80, "hostPort": p.port}] if p.port else None,
            )
            for p in there
        )
    ports = [{"containerPort": 80, "hostPort": port}] if port else None
    attempt = Scheduler(cluster(*objects), wanting(100)).attempt(
        high(cpu=str(requested), priority=priority, ports=ports)
    )
    if attempt.chosen:
        assert any(r.fits(r.pods, requested, port) for r in referees.values())
        return
    larger = {name: r for name, r in referees.items() if requested <= r.cpu}
    found = {name: answer for name, r in larger.items() if (answer := r.try_out(requested, port, priority)) is not None}
    result = attempt.post_filter
    candidates = result.findings.candidates
    names = [] if candidates is None else candidates.nodes.names
    assert names == sorted(found)
    for i, name in enumerate(names):
        victims = [info.pod.metadata.name for info in candidates.victims(i)]
        assert (victims, int(candidates.violations[i])) == ([p.name for p in found[name][0]], found[name][1])
    if found:
        best = min(map(cost, found.values()))
        ties = [name for name in sorted(found) if cost(found[name]) == best]
        assert [names[i] for i in result.findings.choice.ties] == ties
        assert result.nominated_node == ties[0]
