"""Verdicts, the Kubernetes line, reasons with their nodes and numbers, scores, and what else one must know."""

import pytest

from schedctl.api.topology import ZONE
from schedctl.config import loading
from schedctl.errors import NotModelled, UsageError
from schedctl.explain.explanations import explain, report
from schedctl.framework.points import FilterPlugin, ScorePlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.registries import Registry
from schedctl.plugins.in_tree import IN_TREE
from schedctl.reports.explanations import NodeVerdict, Verdict
from schedctl.reports.metadata import Metadata
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod


def spread(**more):
    selector = {"matchLabels": {"app": "web"}}
    return [
        {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, **more}
    ]


# -- verdicts --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "verdict", "message"),
    [
        pytest.param(pod(cpu="1"), Verdict.SCHEDULED, "", id="a pod that fits is scheduled"),
        pytest.param(
            pod(cpu="32"),
            Verdict.UNSCHEDULABLE,
            "0/7 nodes are available: 1 node(s) had untolerated taint(s), 6 Insufficient cpu.",
            id="a pod too big for every node is unschedulable",
        ),
        pytest.param(
            pod(schedulingGates=[{"name": "quota"}]), Verdict.GATED, "", id="a pod with a gate does not enter the queue"
        ),
        pytest.param(
            pod(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            Verdict.DELETING,
            "skip schedule deleting pod: default/web",
            id="a pod on its way out is left alone",
        ),
        pytest.param(
            pod(schedulerName="other"), Verdict.FOREIGN_SCHEDULER, "", id="a pod of another scheduler is not ours"
        ),
    ],
)
def test_every_pod_gets_a_verdict(shop, ask, subject, verdict, message):
    found = ask(shop, subject)
    assert found.verdict is verdict
    assert found.message.startswith(message)
    assert bool(found.message) == bool(message)


def test_an_empty_cluster_has_kubernetes_own_line(ask):
    found = ask(cluster(), pod())
    assert (found.verdict, found.message) == (Verdict.UNSCHEDULABLE, "no nodes available to schedule pods")
    assert [hint.type for hint in found.hints] == ["no-nodes"]


def test_the_gates_are_named(shop, ask):
    assert ask(shop, pod(schedulingGates=[{"name": "a"}, {"name": "b"}])).gates == ["a", "b"]


def test_what_is_not_modelled_is_inconclusive_and_never_a_guess(shop, ask, monkeypatch):
    def attempt(*arguments, **options):
        raise NotModelled("VolumeBinding", "snapshots of volumes", "pod default/web")

    monkeypatch.setattr(Scheduler, "attempt", attempt)
    found = ask(shop, pod())
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "snapshots of volumes are not modelled" in found.error
    assert report([found]).summary.exit_code == 5


def test_a_fault_in_a_plugin_is_an_error_with_its_words(shop, ask):
    subject = pod(
        topologySpreadConstraints=spread(labelSelector={"matchExpressions": [{"key": "app", "operator": "Sometimes"}]})
    )
    found = ask(shop, subject)
    assert found.verdict is Verdict.ERROR
    assert '"PodTopologySpread"' in found.error
    assert "tries the pod again later" in found.notes[0]


# -- why not ---------------------------------------------------------------------


def test_reasons_are_counted_as_kubernetes_counts_them(shop, ask):
    found = ask(shop, pod(cpu="3"))
    assert [(reason.count, reason.text, reason.reference, reason.plugin) for reason in found.reasons] == [
        (6, "Insufficient cpu", "node-resources-fit/insufficient", "NodeResourcesFit"),
        (1, "node(s) had untolerated taint(s)", "taint-toleration/untolerated", "TaintToleration"),
    ]
    assert found.unschedulable_plugins == ["NodeResourcesFit", "TaintToleration"]
    assert (found.nodes.total, found.nodes.judged, found.nodes.feasible) == (7, 7, 0)


def test_nodes_with_the_same_numbers_are_one_group_and_the_nearest_miss_comes_first(shop, ask):
    (shortage, _) = ask(shop, pod(cpu="3")).reasons
    assert [(group.nodes, group.detail) for group in shortage.groups] == [
        (["node-0", "node-1"], "2 free of 4 (2 used), 1 missing"),
        (["node-2", "node-3"], "1500m free of 4000m (2500m used), 1500m missing"),
        (["node-4", "node-5"], "500m free of 4000m (3500m used), 2500m missing"),
    ]
    assert shortage.summary == "cpu: 3000m requested, 500m to 2000m free"
    assert shortage.zones == {"zone-a": 2, "zone-b": 2, "zone-c": 2}
    assert shortage.groups[0].evidence == {"resource": "cpu", "requested": 3000, "used": 2000, "capacity": 4000}


def test_the_deprecated_zone_label_counts_where_a_node_has_no_other(ask):
    labels = {"failure-domain.beta.kubernetes.io/zone": "old"}
    (reason,) = ask(cluster(node("a", labels=labels), node("b", zone="new")), pod(cpu="64")).reasons
    assert reason.zones == {"old": 1, "new": 1}


def test_a_request_above_the_size_of_the_node_is_unresolvable_and_one_above_what_is_free_is_not(ask):
    state = cluster(node("small", cpu="1"), node("big", cpu="8"), pod("fill", on="big", cpu="7"))
    (reason,) = ask(state, pod(cpu="4")).reasons
    assert reason.code == "Unschedulable"
    assert {group.nodes[0]: group.code for group in reason.groups} == {
        "small": "UnschedulableAndUnresolvable",
        "big": "Unschedulable",
    }


def test_a_node_short_of_two_resources_counts_for_both(ask):
    found = ask(cluster(node("a", cpu="1", memory="1Gi")), pod(cpu="2", memory="2Gi"))
    assert [(reason.count, reason.text) for reason in found.reasons] == [
        (1, "Insufficient cpu"),
        (1, "Insufficient memory"),
    ]


@pytest.mark.parametrize(
    ("subject", "detail"),
    [
        pytest.param(
            pod(nodeSelector={"disk": "ssd", "arch": "arm64"}),
            "labels arch=arm64, disk=ssd missing",
            id="the node selector names what a node lacks",
        ),
        pytest.param(
            pod(
                affinity={
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}]},
                                {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
                            ]
                        }
                    }
                }
            ),
            "nodeAffinity disk in (nvme,ssd) or tier not met",
            id="node affinity names what a node lacks of each term",
        ),
        pytest.param(
            pod(ports=[{"containerPort": 80, "hostPort": 8080}]),
            "8080/TCP is used by default/running",
            id="a busy port names the pod that holds it",
        ),
        pytest.param(
            pod(labels={"app": "web"}, topologySpreadConstraints=spread()),
            "a: 1 matching pod, 2 with this one; skew 2, at most 1 allowed",
            id="a spread constraint names the domain, its count and the skew",
        ),
        pytest.param(
            pod(topologySpreadConstraints=spread(topologyKey="rack")),
            "no label rack",
            id="a node outside every domain lacks the label",
        ),
        pytest.param(
            pod(
                affinity={
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
                        ]
                    }
                }
            ),
            f"{ZONE}=a has default/running (app=web in default)",
            id="anti-affinity names the pod in the way",
        ),
    ],
)
def test_the_numbers_behind_a_refusal_are_told(ask, subject, detail):
    running = pod("running", on="one", labels={"app": "web"}, ports=[{"containerPort": 80, "hostPort": 8080}])
    other = node("two", zone="b", unschedulable=True)
    found = ask(cluster(node("one", zone="a"), other, running), subject, matrix=True)
    details = [
        group.detail
        for each in found.matrix.filters
        for reason in each.reasons
        for group in reason.groups
        if "one" in group.nodes
    ]
    assert details == [detail]


def test_nodes_that_pre_filter_left_out_are_a_reason_of_their_own(ask):
    only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only]}}}
    found = ask(cluster(node("a"), node("b", cpu="1"), node("c")), pod(cpu="2", affinity=affinity))
    assert found.pre_filter.nodes == ["b"]
    assert found.nodes.left_out == 2
    (shortage, left_out) = found.reasons
    assert (left_out.count, left_out.text) == (2, "node(s) didn't satisfy plugin(s) [NodeAffinity]")
    assert left_out.groups[0].nodes == ["a", "c"]
    assert left_out.summary == "PreFilter searched only b"
    assert (shortage.count, shortage.groups[0].nodes) == (1, ["b"])


def test_a_refusal_of_the_pod_as_a_whole_names_no_node(ask):
    terms = [
        {
            "matchFields": [
                {"key": "metadata.name", "operator": "In", "values": [name]},
                {"key": "metadata.name", "operator": "In", "values": [f"not-{name}"]},
            ]
        }
        for name in ("a", "b")
    ]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    found = ask(cluster(node("a"), node("b")), pod(affinity=affinity))
    (reason,) = found.reasons
    assert reason.whole_pod
    assert (reason.count, reason.groups, reason.plugin) == (0, [], "NodeAffinity")
    assert found.message.startswith("0/2 nodes are available: pod affinity terms conflict.")


def test_pods_promised_to_a_node_are_counted_there_and_named(ask):
    promised = pod("first", cpu="3", priority=10, status={"phase": "Pending", "nominatedNodeName": "a"})
    found = ask(cluster(node("a", cpu="4"), promised), pod(cpu="2"))
    (group,) = found.reasons[0].groups
    assert group.nominated_pods == ["default/first"]
    assert group.detail.endswith("counting default/first, promised to this node")


# -- why here --------------------------------------------------------------------


def test_scores_add_up_and_the_best_node_comes_first(shop, ask):
    found = ask(shop, pod(cpu="500m"))
    assert found.chosen == found.scores[0].node == "node-0"
    assert found.ties == ["node-0", "node-1"]
    assert "node-0, node-1 have the same score: kube-scheduler takes any one of them" in found.notes[0]
    for score in found.scores:
        assert score.total == sum(each.weighted for each in score.plugins)
        assert all(each.weighted == each.normalized * each.weight for each in score.plugins)
    assert [score.total for score in found.scores] == sorted((s.total for s in found.scores), reverse=True)
    assert found.score == found.scores[0].total


def test_the_winner_is_compared_with_the_best_of_those_that_lost(shop, ask):
    found = ask(shop, pod(cpu="500m"))
    assert (found.comparison.node, found.comparison.other) == ("node-0", "node-2")
    assert found.comparison.difference == sum(each.difference for each in found.comparison.plugins)
    assert found.comparison.text.startswith(f"node-0 beats node-2 by {found.comparison.difference}: NodeResourcesFit +")


def test_a_single_node_has_nobody_to_beat(ask):
    found = ask(cluster(node("a")), pod())
    assert found.comparison is None
    assert "kube-scheduler would not score it" in found.notes[0]


# -- a bound pod -----------------------------------------------------------------


def test_a_bound_pod_is_asked_about_as_if_it_were_pending_and_its_own_usage_is_gone(ask):
    running = pod("web", on="a", cpu="3")
    state = cluster(node("a", cpu="4"), running)
    found = ask(state, running)
    assert found.chosen == "a"
    assert (found.current.name, found.current.best) == ("a", True)
    assert found.current.text == "runs on a, where it would go again"
    assert "its own usage removed first" in found.notes[-1]
    assert state.nodes.requested("cpu").tolist() == [3000]


@pytest.mark.parametrize(
    ("objects", "text"),
    [
        pytest.param(
            [node("a"), node("b"), pod("fill", on="a", cpu="2")],
            "runs on a (score 438), but b beats a by 25: NodeResourcesFit +25 (92 against 67)",
            id="a worse node is told by how much and why",
        ),
        pytest.param([node("a"), node("b")], "runs on a, where it would go again", id="of two the first by name"),
        pytest.param([node("0"), node("a")], "runs on a, which is as good as 0", id="a tie is as good"),
        pytest.param(
            [node("a", taints=[{"key": "k", "effect": "NoSchedule"}]), node("b")],
            "runs on a, which would reject it now: node(s) had untolerated taint(s)",
            id="a node that would reject it now",
        ),
        pytest.param([node("b")], "bound to a, which is not in the cluster", id="a node that is gone"),
    ],
)
def test_where_it_is_is_compared_with_where_it_would_go(ask, objects, text):
    running = pod("web", on="a", cpu="500m")
    assert ask(cluster(*objects, running), running).current.text.startswith(text)


# -- depth -----------------------------------------------------------------------


def test_the_matrix_has_every_refusal_and_not_only_the_first(ask):
    tainted = node("a", cpu="1", taints=[{"key": "k", "effect": "NoSchedule"}], unschedulable=True)
    found = ask(cluster(tainted), pod(cpu="2"), matrix=True)
    assert [reason.plugin for reason in found.reasons] == ["NodeUnschedulable"]
    assert [each.plugin for each in found.matrix.filters if each.refused] == [
        "NodeUnschedulable",
        "TaintToleration",
        "NodeResourcesFit",
    ]
    assert [(p.refused_by, p.nodes) for p in found.matrix.patterns] == [
        (["NodeUnschedulable", "TaintToleration", "NodeResourcesFit"], ["a"])
    ]


def test_filters_that_pre_filter_skipped_are_not_asked(ask):
    found = ask(cluster(node("a")), pod(), matrix=True)
    was_called = {each.plugin: each.asked for each in found.matrix.filters}
    assert was_called["NodeResourcesFit"]
    assert not was_called["NodePorts"]


def test_one_node_in_depth(shop, ask):
    found = ask(shop, pod(cpu="500m"), node="node-2").node
    assert found.verdict is NodeVerdict.FEASIBLE
    assert (found.rank, found.pods) == (3, 1)
    assert found.comparison.node == "node-0"
    (cpu, *_) = found.resources
    assert (cpu.resource, cpu.allocatable, cpu.used, cpu.free, cpu.requested) == ("cpu", 4000, 2500, 1500, 500)


def test_one_refused_node_in_depth_has_its_own_next_step(shop, ask):
    found = ask(shop, pod(cpu="1"), node="gpu-0")
    assert found.node.verdict is NodeVerdict.REFUSED
    assert found.node.taints == ["dedicated=gpu:NoSchedule"]
    assert [each.plugin for each in found.node.filters if each.refused] == ["TaintToleration"]
    assert found.hints[0].text == "would fit on gpu-0 if it tolerates dedicated=gpu:NoSchedule"


def test_a_node_that_is_not_there_is_a_usage_error_with_the_nearest_names(shop, ask):
    with pytest.raises(UsageError, match='node "nod-2" not found') as caught:
        ask(shop, pod(), node="nod-2")
    assert "did you mean node-2" in caught.value.hint


def test_sampling_says_what_it_did_not_look_at():
    state = cluster(*(node(f"n{i:03}") for i in range(200)))
    found = explain(Scheduler(state), pod(), sampling=True)
    assert found.nodes.judged < 200
    assert found.nodes.unseen == 200 - found.nodes.judged
    assert found.notes[-1].startswith("nodes were sampled: the search stopped at 100 feasible nodes")
    assert report([found], metadata=Metadata(sampling=True)).metadata.sampling


def test_explaining_leaves_the_cluster_as_it_was(shop, ask):
    before = {name: shop.nodes.requested(name).tolist() for name in ("cpu", "memory")}
    for subject in (pod(cpu="3"), next(iter(shop.pod_table)), pod(schedulingGates=[{"name": "g"}])):
        ask(shop, subject, matrix=True, node="node-1")
    assert {name: shop.nodes.requested(name).tolist() for name in ("cpu", "memory")} == before
    assert len(shop.rows) == 7
    assert not shop.node_table.objects[shop.node_table.row_of["gpu-0"]].spec.unschedulable


# -- plugins of others -----------------------------------------------------------


class TeamFence(FilterPlugin, ScorePlugin):
    """Keeps pods off other teams' nodes."""

    outside = Reason("node(s) belong to team {team}")

    def filter(self, cycle, nodes):
        return self.outside.where(nodes.label("team") >= 0, team="blue", since=[2024, "May"])

    def score(self, cycle, nodes):
        return nodes.rows * 0


def test_a_reason_nobody_knows_is_told_by_its_evidence():
    text = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: TeamFence, weight: 1}]}}
"""
    registry = Registry([*IN_TREE.values(), TeamFence])
    scheduler = Scheduler(cluster(node("a", labels={"team": "blue"})), loading.load(text), registry)
    found = explain(scheduler, pod())
    (reason,) = found.reasons
    assert (reason.reference, reason.text) == ("team-fence/outside", "node(s) belong to team blue")
    assert reason.groups[0].detail == 'team blue, since [2024,"May"]'
    assert found.hints[-1].type in ("nothing-helps", "add-node")


# -- the report ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subjects", "fail", "code"),
    [
        pytest.param([pod(cpu="1")], True, 0, id="a yes is 0"),
        pytest.param([pod(cpu="32")], False, 0, id="an answered question is 0"),
        pytest.param([pod(cpu="1"), pod(cpu="32")], True, 1, id="one no is 1 when asked for"),
        pytest.param([pod(schedulingGates=[{"name": "g"}])], True, 1, id="a gated pod is no yes"),
    ],
)
def test_exit_codes(shop, ask, subjects, fail, code):
    assert report([ask(shop, subject) for subject in subjects], fail=fail).summary.exit_code == code


def test_the_summary_counts_verdicts_and_the_metadata_names_the_version(shop, ask):
    found = report([ask(shop, pod(cpu="1")), ask(shop, pod(cpu="32"))], metadata=Metadata(configuration="my.yaml"))
    assert (found.summary.pods, found.summary.scheduled, found.summary.unschedulable) == (2, 1, 1)
    assert found.metadata.kubernetes_version.startswith("v1.")
    assert found.metadata.configuration == "my.yaml"
