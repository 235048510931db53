"""How a simulation is told: bars, zones and nodes, groups of pending pods, and what happened to the cluster."""

from __future__ import annotations

import io
import re

import msgspec
import pytest

from schedctl.render import outputs, simulations
from schedctl.render.terminals import PLAIN, Terminal
from schedctl.reports.explanations import OwnerPods
from schedctl.reports.metadata import Metadata
from schedctl.reports.reasons import Hint, Reason
from schedctl.reports.simulations import (
    AdmissionEffect,
    Balance,
    Ending,
    EndReason,
    Evenness,
    Fate,
    GroupUse,
    NodePods,
    OtherPod,
    PendingPods,
    Preempted,
    RejectedPods,
    ReportedChange,
    SimulationReport,
    SimulationSummary,
    Use,
    Utilisation,
    WorkloadPod,
    WorkloadResult,
)

EVEN = Evenness(mean=50, deviation=10, lowest=20, highest=80)
HOSTILE = "\x1b[31mred\u202e\n[bold]x[/bold]"


def workload(name="web", **more):
    return WorkloadResult(
        **{
            "api_version": "apps/v1",
            "kind": "Deployment",
            "namespace": "shop",
            "name": name,
            "source": "deploy/web.yaml:3",
            "changes": [ReportedChange(what="new", text="new")],
            "wanted": 2,
            "placed": 2,
            **more,
        }
    )


def report(*results, **more):
    placed, pods = sum(each.placed for each in results), sum(each.wanted for each in results)
    return SimulationReport(
        **{
            "metadata": Metadata(),
            "summary": SimulationSummary(
                exit_code=0, workloads=len(results), pods=pods, placed=placed, pending=pods - placed
            ),
            "results": list(results),
            "preemptions": [],
            "others": [],
            "utilisation": Utilisation(
                label="pool",
                groups=[
                    GroupUse(
                        name="general",
                        nodes=3,
                        uses=[
                            Use(resource="cpu", allocatable_before=4000, allocatable=4000, before=1000, after=3000),
                            Use(resource="memory", allocatable_before=100, allocatable=100, before=50, after=20),
                            Use(resource="pods", allocatable_before=100, allocatable=100, before=1, after=2),
                        ],
                    )
                ],
            ),
            "balance": [Balance(resource="cpu", before=EVEN, after=EVEN)],
            "ending": Ending(reason=EndReason.SETTLED, text="no pod waits for a node any more", clock=0, attempts=2),
            **more,
        }
    )


def shown(document, output="", terminal=PLAIN, limit=0):
    stream = io.StringIO()
    outputs.write(document, outputs.parse(output), stream, terminal, limit=limit)
    return stream.getvalue()


PLACED = workload(
    zones={"a": 3, "b": 1},
    nodes=[
        NodePods(name="n1", zone="a", pods=2),
        NodePods(name="n2", zone="a", pods=1),
        NodePods(name="n3", zone="b", pods=1),
    ],
    zone_skew=2,
)


@pytest.mark.parametrize(
    ("before", "after", "bar"),
    [
        pytest.param(0, 0, "··········", id="empty"),
        pytest.param(1, 1, "█·········", id="a little is something"),
        pytest.param(50, 50, "█████·····", id="half"),
        pytest.param(20, 50, "██▒▒▒·····", id="more than before"),
        pytest.param(50, 20, "██░░░·····", id="less than before"),
        pytest.param(99, 99, "█████████·", id="nearly full is not full"),
        pytest.param(100, 100, "██████████", id="full"),
        pytest.param(90, 130, "█████████▒", id="more than there is"),
        pytest.param(-5, 0, "··········", id="less than nothing"),
    ],
)
def test_a_bar(before, after, bar):
    assert simulations.bar(before, after) == bar
    assert len(bar) == 10


def test_the_first_line_answers():
    assert shown(report(PLACED)).startswith("2 of 2 pods would be placed\n")
    summary = SimulationSummary(
        exit_code=3,
        workloads=1,
        pods=120,
        placed=100,
        pending=2,
        rejected=3,
        not_created=4,
        inconclusive=5,
        foreign_scheduler=6,
        preempted=1,
        mistakes=2,
    )
    assert shown(report(PLACED, summary=summary)).partition("\n")[0] == (
        "100 of 120 pods would be placed; 2 pending; 4 not created; 3 rejected; 5 inconclusive; "
        "6 skipped (of another scheduler); 1 would be preempted; 2 mistakes in the manifests"
    )
    assert shown(report()).startswith("no pods to place\n")


def test_the_pods_of_a_workload_are_counted_by_zone_and_node():
    assert (
        "\nDeployment shop/web: 2 of 2 would be placed  [new, zone skew 2, deploy/web.yaml:3]\n"
        "  a  3  n1 ×2, n2\n  b  1  n3\n"
    ) in shown(report(PLACED))
    assert "  a  3  n1 ×2, +1 on 1 more node\n" in shown(report(PLACED), limit=1)


def test_changes_of_a_workload_are_listed():
    changes = [
        ReportedChange(what="scaled", text="scaled from 3 to 5"),
        *(ReportedChange(what="template", text=f"c{i}") for i in "12"),
    ]
    text = shown(report(workload(changes=changes, removed=3, left=1)))
    assert "  change: scaled from 3 to 5\n  change: c1\n" in text
    assert "  change: 3 old pods would be removed\n" in text
    assert "  change: 1 old pod would stay, since new pods are not running\n" in text
    assert "  +3 more changes\n" in shown(report(workload(changes=changes, removed=3, left=1)), limit=2)


PENDING = PendingPods(
    fate=Fate.UNSCHEDULABLE,
    message="0/3 nodes are available: 3 Insufficient cpu.",
    plugins=["NodeResourcesFit"],
    pods=["web-1", "web-2"],
    example="web-1",
    reasons=[Reason(reference="x/y", plugin="P", code="Unschedulable", text="Insufficient cpu", count=3, detail="d")],
    hints=[
        Hint(type="t", text="would fit if cpu <= 1", tried=True, fits=2),
        Hint(type="u", text="would fit if cpu <= 2", tried=True, fits=1),
        Hint(type="v", text="ask somebody"),
    ],
    notes=["n"],
    owners=[OwnerPods("Deployment shop/web", 2)],
)


def test_pending_pods_are_explained_right_after_the_answer_in_the_shape_of_explain():
    text = shown(report(workload(placed=0, pending=[PENDING])))
    assert text.startswith(
        "0 of 2 pods would be placed; 2 pending\n"
        "\n"
        "2 pods of Deployment shop/web would stay pending\n"
        "  for example shop/web-1, shop/web-2\n"
        "\n"
        "3 nodes: Insufficient cpu  [P]\n"
        "  d\n"
        "fix:  would fit if cpu <= 1\n"
        "  or: would fit if cpu <= 2\n"
        "hint: ask somebody\n"
        "note: n\n"
        "\n"
        "0/3 nodes are available: 3 Insufficient cpu.\n"
        "\n"
        "Deployment shop/web: 0 of 2 would be placed"
    )
    assert "  2 pending: web-1, web-2\n" in text


@pytest.mark.parametrize(
    ("changes", "answers"),
    [
        pytest.param({}, 1, id="another workload with the same answer has no block of its own"),
        pytest.param({"message": "0/2 nodes are available."}, 1, id="nor where only the line of its attempt differs"),
        pytest.param({"reasons": []}, 2, id="other causes are another answer"),
        pytest.param({"hints": []}, 2, id="other fixes are another answer"),
        pytest.param({"fate": Fate.NOMINATED, "node": "n1"}, 2, id="pods with a nominated node are told apart"),
    ],
)
def test_an_answer_is_given_once(changes, answers):
    other = msgspec.structs.replace(PENDING, pods=["api-1"], owners=[OwnerPods("Deployment shop/api", 1)], **changes)
    results = workload(placed=0, pending=[PENDING]), workload("api", placed=0, pending=[other])
    text = shown(report(*results))
    assert len(re.findall("^.* would stay pending", text, re.MULTILINE)) == answers
    assert "\nPODS  OWNER                CAUSE" in text
    assert ("\n3 pods would stay pending\n  for example shop/web-1, shop/web-2, shop/api-1\n" in text) == (answers == 1)


def test_the_table_of_answers_has_the_most_pods_first_and_the_limit_counts_answers():
    few = msgspec.structs.replace(
        PENDING, pods=["api-1"], reasons=[], message="held", hints=[], owners=[OwnerPods("Job shop/api", 1)]
    )
    document = report(workload("api", placed=0, pending=[few]), workload(placed=0, pending=[PENDING]))
    assert (
        "PODS  OWNER                CAUSE       FIX\n"
        "   2  Deployment shop/web  3 nodes: d  would fit if cpu <= 1\n"
        "   1  Job shop/api         held\n"
        "\n"
        "2 pods of Deployment shop/web would stay pending\n"
    ) in shown(document)
    cut = shown(document, limit=1)
    assert "pod shop/api-1 would stay pending" not in cut
    assert "+1 more answer: --limit 2 shows them\n" in cut


def test_a_reason_given_for_pods_of_the_manifests_is_not_given_again_for_other_pods():
    others = [OtherPod(pod="a/b", fate=Fate.UNSCHEDULABLE, message=PENDING.message)]
    text = shown(report(workload(placed=0, pending=[PENDING]), others=others))
    assert "  a/b\n    for the same reasons as 2 pods of Deployment shop/web\n" in text
    assert text.count(PENDING.message) == 1


@pytest.mark.parametrize(
    ("fate", "words"),
    [
        (Fate.NOMINATED, "1 pending, nominated to n1: web-1"),
        (Fate.GATED, "1 gated: web-1"),
        (Fate.WAITING, "1 waiting for Permit on n1: web-1"),
        (Fate.QUEUED, "1 still in the queue: web-1"),
        (Fate.FAILED, "1 pending after an error: web-1"),
        (Fate.EVICTED, "1 lost (no controller recreates it): web-1"),
        (Fate.FOREIGN_SCHEDULER, "1 skipped (belongs to another scheduler): web-1"),
        (Fate.INCONCLUSIVE, "1 inconclusive: web-1"),
    ],
)
def test_every_fate_has_words(fate, words):
    pending = PendingPods(fate=fate, message="", plugins=[], pods=["web-1"], node="n1")
    assert f"  {words}\n" in shown(report(workload(placed=1, pending=[pending])))


def test_rejected_and_not_created_pods_are_listed():
    rejected = [RejectedPods(plugin="ResourceQuota", message='pods "web-1" is forbidden: x', pods=["web-1"])]
    text = shown(
        report(workload(placed=0, rejected=rejected, not_created=["web-2"]), rejected=["claims are forbidden"])
    )
    assert '  1 rejected: web-1\n    pods "web-1" is forbidden: x\n' in text
    assert "  1 not created: web-2\n    the controller waits for the pods before them to be ready\n" in text
    assert "\nrejected: claims are forbidden\n" in text


def test_preempted_pods_and_their_successors_are_listed():
    gone = {"priority": 1, "node": "n1", "by": "shop/web-1", "at": 0.0}
    text = shown(
        report(
            PLACED,
            preemptions=[
                Preempted(pod="a/b", **gone),
                Preempted(pod="a/c", **gone, successor="a/d", fate=Fate.PLACED, successor_node="n2"),
                Preempted(pod="a/e", **gone, successor="a/f", fate=Fate.UNSCHEDULABLE),
            ],
        )
    )
    assert "  a/b  priority 1 on n1  by shop/web-1  lost: no controller recreates it\n" in text
    assert "  a/c  priority 1 on n1  by shop/web-1  recreated on n2\n" in text
    assert "  a/e  priority 1 on n1  by shop/web-1  recreated as f: pending\n" in text


def test_other_pending_pods_are_listed_by_whether_they_were_placed():
    others = [
        OtherPod(pod="a/b", fate=Fate.PLACED, node="n1"),
        OtherPod(pod="a/c", fate=Fate.UNSCHEDULABLE, message="no"),
    ]
    text = shown(report(PLACED, others=others))
    assert "1 other pending pod would be placed\n  a/b  n1\n" in text
    assert "1 other pending pod would stay pending\n  a/c\n    no\n" in text


def test_an_effect_of_admission_is_listed_once_with_its_workloads():
    effects = [AdmissionEffect(plugin="Priority", text="priority 1", objects=2)]
    both = report(workload(effects=effects), workload("api", effects=effects))
    one = report(workload(effects=effects), workload("api"))
    assert "  Priority  priority 1  all\n" in shown(both)
    assert "  Priority  priority 1  shop/web\n" in shown(one)


def test_utilisation_is_shown_before_and_after():
    assert "  general      3  ███▒▒▒▒▒·· 25% → 75%  ██░░░····· 50% → 20%\n" in shown(report(PLACED))
    assert "PODS" not in shown(report(PLACED))
    assert "(3 of 4)" in shown(report(PLACED), "wide")
    assert "PODS" in shown(report(PLACED), "wide")


def test_every_sign_has_an_ascii_form():
    text = shown(report(PLACED), terminal=Terminal(encoding="ascii"))
    assert "###+++++.. 25% -> 75%" in text
    assert "##---....." in text
    assert "n1 x2" in text
    assert text.isascii()
    assert "\\" not in text


def test_a_note_says_how_ties_were_broken():
    tied = workload(pods=[WorkloadPod(name="web-1", fate=Fate.PLACED, node="n1", ties=2)])
    assert "1 pod had several nodes with the same highest score: the first by name is taken" in shown(report(tied))
    assert "with the same highest score: seed 3 draws one" in shown(report(tied, metadata=Metadata(seed=3)))
    assert "  web-1  n1  2 tied\n" in shown(report(tied), "wide")


def test_the_names_are_those_of_kubectl():
    pods = [
        WorkloadPod(name="web-1", fate=Fate.PLACED, node="n1"),
        WorkloadPod(name="web-2", fate=Fate.NOMINATED, node="n1"),
    ]
    assert shown(report(workload(pods=pods)), "name") == "pod/web-1 node/n1\npod/web-2\n"


@pytest.mark.parametrize("output", ["", "wide", "json", "yaml", "name", "jsonpath={.results[*].pods[*].name}"])
@pytest.mark.parametrize("color", [False, True], ids=["plain", "in colour"])
def test_names_from_a_cluster_do_nothing_to_a_terminal(output, color):
    hostile = workload(
        HOSTILE,
        kind=HOSTILE,
        source=HOSTILE,
        changes=[ReportedChange(what="template", text=HOSTILE)],
        effects=[AdmissionEffect(plugin="P", text=HOSTILE, objects=1)],
        notes=[HOSTILE],
        nodes=[NodePods(name=HOSTILE, zone=HOSTILE, pods=1)],
        pods=[WorkloadPod(name=HOSTILE, fate=Fate.PLACED, node=HOSTILE)],
        pending=[PendingPods(fate=Fate.GATED, message=HOSTILE, plugins=[HOSTILE], pods=[HOSTILE])],
        rejected=[RejectedPods(plugin=HOSTILE, message=HOSTILE, pods=[HOSTILE])],
        not_created=[HOSTILE],
    )
    gone = Preempted(pod=HOSTILE, priority=0, node=HOSTILE, by=HOSTILE, at=0.0)
    use = Utilisation(label=HOSTILE, groups=[GroupUse(name=HOSTILE, nodes=1, uses=report().utilisation.groups[0].uses)])
    document = report(
        hostile,
        preemptions=[gone],
        others=[OtherPod(pod=HOSTILE, fate=Fate.PLACED, node=HOSTILE)],
        utilisation=use,
        rejected=[HOSTILE],
        passed={f"v1 {HOSTILE}": 1},
    )
    text = shown(document, output, Terminal(color=color))
    assert "\x1b[31m" not in text
    assert "\u202e" not in text
    if output in ("", "wide"):
        assert "[bold]x[/bold]" in text


def test_successors_that_are_on_no_node_are_named_with_the_reason():
    gone = Preempted(
        pod="a/old",
        priority=0,
        node="n1",
        by="a/new",
        at=0,
        successor="a/next",
        fate=Fate.UNSCHEDULABLE,
        message="0/1 nodes are available.",
    )
    summary = SimulationSummary(exit_code=0, workloads=1, pods=1, placed=1, preempted=1, not_returned=1)
    text = shown(report(PLACED, preemptions=[gone], summary=summary))
    assert text.startswith("1 of 1 pod would be placed; 1 would be preempted; 1 of those would not be placed again\n")
    assert "  1 replacement would not be placed:\n  a/next\n    0/1 nodes are available.\n" in text
