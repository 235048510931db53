"""The text for people: what it says, how it folds, and that a terminal cannot be steered by it."""

import io
import re

import pytest

from schedctl.explain.explanations import report
from schedctl.render import notices, outputs
from schedctl.render.terminals import PLAIN, Terminal
from schedctl.reports.explanations import Explanation, PodReference, RequeueEvent, Verdict
from schedctl.reports.reasons import Hint, NodeGroup, Reason
from schedctl.testing.builders import cluster, node, pod

TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
RULES = "\ndry run, nothing was changed; kube-scheduler v1.37.1 rules"
CODES = re.compile(r"\x1b\[[0-9;]*m")


def shop(nodes=6):
    """Nodes of 4 cpu over three zones, with 2 cpu or more and some memory taken from each, and two tainted ones."""
    names = [f"node-{i}" for i in range(nodes)]
    made = [node(name, cpu="4", zone=f"zone-{'abc'[i % 3]}") for i, name in enumerate(names)]
    made += [node(f"gpu-{i}", cpu="16", taints=[TAINT]) for i in range(2)]
    used = [
        pod(f"fill-{i}", on=name, cpu=f"{2000 + 50 * (i // 2)}m", memory=f"{1 + i // 4}Gi")
        for i, name in enumerate(names)
    ]
    return cluster(*made, *used)


def test_what_requeues_a_pod_is_one_line_unless_all_is_asked_for(show):
    narrow, wide = (
        show(shop(), pod(cpu="3"), output=output).partition("requeued when: ")[2].partition("\n")[0]
        for output in ("text", "wide")
    )
    assert narrow == "a node is added; +9 more"
    assert "more" not in wide
    assert wide.startswith("a node is added [TaintToleration, NodeResourcesFit]; taints of a node change")
    assert wide.count("; ") == 9


@pytest.mark.parametrize(
    ("event", "tally"),
    [
        (
            RequeueEvent("NodeAdd", "a node is added", counting=0, asked=3),
            " (a copy of none of the 3 nodes would count)",
        ),
        (RequeueEvent("NodeAdd", "a node is added", counting=1, asked=3), " (a copy of 1 of the 3 nodes would count)"),
        (
            RequeueEvent("AssignedPodDelete", "a pod goes", counting=1, asked=2),
            " (1 of the 2 running pods would count)",
        ),
        (RequeueEvent("NodeAdd", "a node is added", counting=3, asked=3), ""),
        (RequeueEvent("NodeAdd", "a node is added"), ""),
    ],
)
def test_wide_output_says_which_of_the_objects_there_would_requeue_the_pod(event, tally):
    document = report([Explanation(PodReference("default", "p"), Verdict.UNSCHEDULABLE, wakings=[event])])
    stream = io.StringIO()
    outputs.write(document, outputs.parse("wide"), stream, PLAIN)
    assert f"requeued when: {event.text}{tally}\n" in stream.getvalue()


def test_what_all_fixes_would_cause_is_said_once():
    texts = {"one": ["web loses its spread", "db is lost"], "two": ["web loses its spread"]}
    hints = [Hint("t", text, tried=True, fits=1, consequences=found) for text, found in texts.items()]

    def lines(hints):
        document = report([Explanation(PodReference("default", "p"), Verdict.UNSCHEDULABLE, hints=hints)])
        stream = io.StringIO()
        outputs.write(document, outputs.parse("text"), stream, PLAIN)
        return [line.strip() for line in stream.getvalue().splitlines()[1:] if line and "dry run" not in line]

    assert lines(hints) == ["fix:  one", "then: db is lost", "or: two", "then, with any of these: web loses its spread"]
    assert lines(hints[1:]) == ["fix:  two", "then: web loses its spread"]


def test_an_unschedulable_pod(show):
    assert show(shop(), pod("web-7", namespace="shop", cpu="3")) == (
        """pod shop/web-7: UNSCHEDULABLE (0/8 nodes feasible)

6 nodes: Insufficient cpu  [NodeResourcesFit]
  cpu: 3000m requested, 1900m to 2000m free
  node-0, node-1  2 free of 4 (2 used), 1 missing
  node-2, node-3  1950m free of 4000m (2050m used), 1050m missing
  node-4, node-5  1900m free of 4000m (2100m used), 1100m missing
2 nodes: node(s) had untolerated taint(s)  [TaintToleration]
  gpu-0, gpu-1  taint dedicated=gpu:NoSchedule

fix:  would fit on 2 nodes if cpu <= 2
  or: would fit if another node like node-0 is added
note: the pod would fit on node-0, node-1, node-2 and 3 more if no pod ran there

0/8 nodes are available: 2 node(s) had untolerated taint(s), 6 Insufficient cpu. preemption: 0/8 nodes are available:\
 2 Preemption is not helpful for scheduling, 6 No preemption victims found for incoming pod.
requeued when: a node is added; +9 more
"""
        + RULES
        + "; more: -o wide\n"
    )


def test_a_scheduled_pod_shows_the_scores_that_decided(show):
    assert show(shop(), pod("web-7", namespace="shop", cpu="500m")) == (
        """pod shop/web-7 → node-2 (score 436, 2 tied)

scores: normalised × weight; raw: -o wide
  NODE    SUM  NodeResourcesFit  NodeResourcesBalancedAllocation
  node-2  436                64                               72
  node-3  436                64                               72
  node-0  435                64                               71
  node-1  435                64                               71
  node-4  431                60                               71
  node-5  431                60                               71
  the same for every node: TaintToleration 300, VolumeBinding 0, DynamicResources 0, ImageLocality 0
node-2 beats node-0 by 1: NodeResourcesBalancedAllocation +1 (72 against 71)

6 of 8 nodes feasible; 2 rejected:
2 nodes: node(s) had untolerated taint(s)  [TaintToleration]
  gpu-0, gpu-1  taint dedicated=gpu:NoSchedule

note: node-2, node-3 have the same score: kube-scheduler takes any one of them, schedctl the first by name
"""
        + RULES
        + "; more: -o wide\n"
    )


def test_wide_shows_what_each_score_is_made_of(show):
    text = show(shop(), pod(cpu="500m"), output="wide")
    assert "\n  node-2  436  0 → 100 × 3 = 300 " in text
    assert " 64 → 64 × 1 = 64 " in text


@pytest.mark.parametrize(
    ("hints", "fix"),
    [
        pytest.param([Hint("a", "look", command="kubectl get a"), Hint("b", "fits", fits=1)], "fits", id="a fix first"),
        pytest.param(
            [Hint("a", "look"), Hint("b", "see", command="kubectl get b")], "next: kubectl get b", id="a step"
        ),
        pytest.param([Hint("a", "look")], "", id="neither"),
    ],
)
def test_the_fix_of_a_row_is_what_works_else_what_to_type_next(hints, fix):
    assert notices.best_fix(hints) == fix


def test_several_answers_begin_with_a_table_and_end_with_a_tally(show):
    text = show(shop(), pod("a", cpu="3"), pod("b", schedulingGates=[{"name": "g"}]))
    head, first, second, *_ = text.splitlines()
    assert [re.split("  +", each.strip()) for each in (head, first, second)] == [
        ["PODS", "OWNER", "CAUSE", "FIX"],
        [
            "1",
            "pod default/a",
            "6 nodes: cpu: 3000m requested, 1900m to 2000m free",
            "would fit on 2 nodes if cpu <= 2",
        ],
        [
            "1",
            "pod default/b",
            "GATED (waits for g)",
            "find the controller that removes the gate: removing it by hand skips its check; once scheduling gate g is "
            "removed, the pod would be placed on node-0",
        ],
    ]
    assert "\n\npod default/a: UNSCHEDULABLE (0/8 nodes feasible)\n" in text
    assert text.endswith(
        """
2 pods: 1 unschedulable, 1 gated; each judged alone on the cluster as it is

dry run, nothing was changed; kube-scheduler v1.37.1 rules; more: -o wide
"""
    )
    assert text.count("dry run") == 1


@pytest.mark.parametrize(
    ("answers", "limit", "rows", "blocks"),
    [
        pytest.param(3, 0, 3, 3, id="few answers are all shown"),
        pytest.param(30, 0, 20, 10, id="of many the table has more than are shown in full"),
        pytest.param(30, 2, 20, 2, id="a limit counts those in full"),
        pytest.param(30, 25, 25, 25, id="and the table grows with it"),
    ],
)
def test_the_table_of_answers_ends_somewhere(show, answers, limit, rows, blocks):
    text = show(shop(), *(pod(f"p{number}", cpu=str(10 + number)) for number in range(answers)), limit=limit)
    assert len(re.findall(r"^   1  pod default/p", text, re.MULTILINE)) == rows
    assert text.count("UNSCHEDULABLE") == blocks


def test_a_limit_counts_answers(show):
    text = show(shop(), *(pod(f"p{cpu}", cpu=str(cpu)) for cpu in (3, 4, 5)), limit=2)
    assert text.count("UNSCHEDULABLE") == 2
    assert "+1 more answer: --limit 3 shows them" in text


def test_the_answer_about_one_pod_fits_a_screen_however_many_causes_there_are(show):
    state = cluster(
        *(node(f"n{i:02}", cpu=f"{i + 1}", zone=f"z{i % 3}", labels={"disk": f"d{i % 4}"}) for i in range(40)),
        *(node(f"t{i}", cpu="64", taints=[{"key": f"key-{i}", "effect": "NoSchedule"}]) for i in range(6)),
        node("c", cpu="64", unschedulable=True),
    )
    text = show(state, pod(cpu="64", nodeSelector={"disk": "d1"}), terminal=Terminal(80))
    assert len(text.splitlines()) <= 24


@pytest.mark.parametrize(
    ("subject", "first"),
    [
        pytest.param(pod(schedulingGates=[{"name": "g"}]), "pod default/web: GATED (waits for g)", id="gated"),
        pytest.param(
            pod(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            "pod default/web: DELETING (is not scheduled any more)",
            id="deleting",
        ),
        pytest.param(
            pod(schedulerName="other"),
            'pod default/web: SKIPPED (schedulerName "other" belongs to another scheduler)',
            id="of another scheduler",
        ),
    ],
)
def test_the_first_line_is_the_answer(show, subject, first):
    assert show(shop(), subject).splitlines()[0] == first


def test_the_fix_stands_before_the_kubernetes_line(show):
    text = show(shop(), pod(cpu="3"), matrix=True, node="node-1")
    assert text.index("\nfix:  ") < text.index("\n0/8 nodes are available") < text.index("\nrequeued when: ")


def test_long_lists_are_folded_and_wide_shows_them_all(show):
    state = shop(40)
    folded = show(state, pod(cpu="3"))
    assert re.search(r"^  \+\d+ more nodes$", folded, re.MULTILINE)
    wide = show(state, pod(cpu="3"), output="wide")
    assert "more node" not in wide
    assert all(f"node-{i}" in wide for i in range(40))


def test_a_limit_shows_so_many(show):
    text = show(shop(40), pod(cpu="3"), limit=2)
    assert "  +36 more nodes\n" in text
    assert "  node-2, node-3  1950m free" in text
    assert "  node-4" not in text


def test_the_score_table_shows_the_best_and_says_how_many_more(show):
    text = show(shop(40), pod(cpu="100m"))
    assert len(re.findall(r"^  node-", text, re.MULTILINE)) == 5
    assert "  +35 more nodes, " in text


def test_many_nodes_with_the_same_numbers_are_one_entry_with_their_zones(show):
    state = cluster(*(node(f"n{i}", zone=f"z{i % 2}") for i in range(20)))
    text = show(state, pod(nodeSelector={"disk": "ssd"}))
    assert "  20 nodes: label disk=ssd missing\n    n0, n1, n10, n11, n12, +15 more (z0 10, z1 10)\n" in text


def test_five_thousand_nodes_stay_readable(show):
    state = cluster(*(node(f"n{i:04}", cpu=f"{1000 + i}m", zone=f"z{i % 3}") for i in range(5000)))
    text = show(state, pod(cpu="64"), matrix=True)
    assert len(text.splitlines()) < 40
    assert max(map(len, text.splitlines())) < 300


def test_the_matrix_tells_patterns_and_who_was_not_asked(show):
    text = show(shop(), pod(cpu="3"), matrix=True)
    assert "  NODES  REJECTED BY       NAMES\n" in text
    assert "      2  TaintToleration   gpu-0, gpu-1\n" in text
    assert "skipped, since nothing in the pod concerns them: NodeAffinity, NodePorts," in text


def test_one_node_in_depth(show):
    text = show(shop(), pod(cpu="3"), node="node-1")
    assert (
        """node node-1: rejected
  1 pod
  RESOURCE  ALLOCATABLE  USED  FREE  REQUESTED
  cpu                 4     2     2          3
  memory           16Gi   1Gi  15Gi          0
  pods              110     1   109          1
  NodeResourcesFit: Insufficient cpu: 2 free of 4 (2 used), 1 missing
"""
        in text
    )


# -- terminals -------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(show, width):
    text = show(shop(), pod(cpu="3"), pod(cpu="500m"), matrix=True, node="node-0", terminal=Terminal(width))
    assert [line for line in text.splitlines() if len(line) > width] == []


def test_a_table_of_numbers_that_does_not_fit_is_written_cell_by_cell(show):
    text = show(shop(), pod(cpu="500m"), output="wide", terminal=Terminal(60))
    assert "  node-2\n    SUM: 436\n    TaintToleration: 0 → 100 × 3 = 300\n" in text


def test_a_table_of_scores_drops_the_columns_that_decide_least(show):
    text = show(shop(), pod(cpu="500m"), terminal=Terminal(40))
    assert "\n  NODE    SUM  NodeResourcesFit\n  node-2  436                64\n" in text


def test_colour_changes_nothing_but_colour(show):
    plain = show(shop(), pod(cpu="3"), pod(cpu="500m"), matrix=True)
    colour = show(shop(), pod(cpu="3"), pod(cpu="500m"), matrix=True, terminal=Terminal(None, color=True))
    assert CODES.search(colour)
    assert CODES.sub("", colour) == plain


def test_a_terminal_without_utf_8_gets_ascii(show):
    text = show(shop(), pod(cpu="500m"), terminal=Terminal(None, encoding="ascii"))
    assert text.isascii()
    assert text.startswith("pod default/web -> node-2")
    assert "normalised x weight" in text


@pytest.mark.parametrize("terminal", [Terminal(), Terminal(60, color=True), Terminal(30)], ids=str)
def test_names_from_the_cluster_cannot_steer_a_terminal(show, terminal):
    evil = "\x1b[2J\x9b31m\u202egnp.exe\u2028\r\n[red]:smile:[/]"
    state = cluster(
        node("a", taints=[{"key": evil, "effect": "NoSchedule"}], labels={evil: evil}),
        pod(evil, on="a"),
    )
    text = show(state, pod(evil, nodeSelector={evil: evil}), matrix=True, node="a", terminal=terminal)
    bare = CODES.sub("", text) if terminal.color else text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028]", bare)
    assert r"\x1b[2J\x9b31m\u202egnp.exe\u2028\x0d\x0a" in bare
    assert "[red]:smile:[/]" in bare


def test_the_kubernetes_line_is_folded_after_commas_but_whole_where_no_terminal_limits_it(show):
    folded, whole = (show(shop(), pod(cpu="3"), terminal=Terminal(width)) for width in (72, None))
    assert (
        """
0/8 nodes are available: 2 node(s) had untolerated taint(s),
6 Insufficient cpu. preemption: 0/8 nodes are available:
"""
        in folded
    )
    assert re.search(r"^0/8 nodes are available: .*, 6 No preemption victims found for incoming pod\.$", whole, re.M)


def test_a_fault_of_several_lines_keeps_them_and_its_caret_in_place():
    fault = "CEL compile error: ERROR: <input>:1:8: Syntax error\n | device.\x1b\n | .......^"
    explanation = Explanation(pod=PodReference("default", "web"), verdict=Verdict.ERROR, error=fault)
    stream = io.StringIO()
    outputs.write(report([explanation]), outputs.parse(""), stream, Terminal(40))
    text = stream.getvalue()
    assert "\n   | device.\\x1b\n   | .......^\n" in text


def test_what_is_told_of_a_node_is_broken_where_it_goes_on_to_another_matter():
    detail = "; ".join(f"gpu/{name}: {'x' * 60}" for name in ("one", "two"))
    group = NodeGroup(nodes=["a"], code="Unschedulable", detail=detail)
    reason = Reason("r", "P", "Unschedulable", "no", 1, summary=detail.replace("; ", ", "), groups=[group])
    explanation = Explanation(pod=PodReference("default", "web"), verdict=Verdict.UNSCHEDULABLE, reasons=[reason])
    stream = io.StringIO()
    outputs.write(report([explanation]), outputs.parse(""), stream, PLAIN)
    assert f"\n  a  gpu/one: {'x' * 60}\n     gpu/two: {'x' * 60}\n" in stream.getvalue()
