"""NodeAffinity."""

import msgspec
import pytest

from schedctl.api.selectors import Requirement, SelectorError
from schedctl.config.args import NodeAffinityArgs
from schedctl.errors import PluginError
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import NodeSet
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status, error
from schedctl.plugins.node_affinity.plugin import NodeAffinity
from schedctl.testing.builders import cluster, node, pod

UNMATCHED = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match Pod's node affinity/selector",))
ENFORCED = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match scheduler-enforced node affinity",))
NODES = cluster(node("a", labels={"disk": "ssd"}), node("b", labels={"disk": "hdd"}), node("c")).nodes


def plugin(**added):
    return NodeAffinity(msgspec.convert({"addedAffinity": added or None}, NodeAffinityArgs), None)


def where(key, operator, *values):
    return {"key": key, "operator": operator, "values": list(values)}


def required(*terms):
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}


def preferred(*weighted):
    terms = [{"weight": weight, "preference": {"matchExpressions": [each]}} for weight, each in weighted]
    return {"preferredDuringSchedulingIgnoredDuringExecution": terms}


def attracted(affinity, **spec):
    return Cycle(pod(affinity={"nodeAffinity": affinity}, **spec))


def named(*sets):
    return {"matchFields": [where("metadata.name", "In", *names) for names in sets]}


SSD = {"matchExpressions": [where("disk", "In", "ssd")]}


@pytest.mark.parametrize(
    ("cycle", "answer"),
    [
        pytest.param(Cycle(pod()), SKIP, id="a pod that demands nothing is skipped"),
        pytest.param(attracted(preferred((1, where("disk", "Exists")))), SKIP, id="so is one that only prefers"),
        pytest.param(Cycle(pod(nodeSelector={})), None, id="an empty node selector is not skipped"),
        pytest.param(attracted(required(SSD)), None, id="labels do not narrow the search"),
        pytest.param(attracted(required()), None, id="nor do no terms at all"),
        pytest.param(attracted(required(named("a"))), NodeSet(frozenset("a")), id="named nodes narrow it"),
        pytest.param(attracted(required(named("a"), named("bc"))), NodeSet(frozenset("abc")), id="terms add nodes"),
        pytest.param(attracted(required(named("ab", "bc"))), NodeSet(frozenset("b")), id="fields of a term intersect"),
        pytest.param(attracted(required(named("a"), SSD)), None, id="a term that names no node leaves all"),
        pytest.param(attracted(required(named("a"), {})), None, id="even one that matches nothing"),
        pytest.param(
            attracted(required(named("a", "b"))),
            Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("pod affinity terms conflict",)),
            id="terms that name no common node refuse the pod",
        ),
    ],
)
def test_what_pre_filter_makes_of_a_pod(cycle, answer):
    assert plugin().pre_filter(cycle, NODES) == answer


@pytest.mark.parametrize(
    ("cycle", "fits"),
    [
        pytest.param(Cycle(pod(nodeSelector={"disk": "ssd"})), "a", id="a node selector must match"),
        pytest.param(attracted(required(SSD)), "a", id="a required term must match"),
        pytest.param(attracted(required(SSD), nodeSelector={"disk": "hdd"}), "", id="both must match"),
        pytest.param(attracted(required(SSD, named("c"))), "ac", id="one term is enough"),
        pytest.param(attracted(required({"matchExpressions": [where("disk", "NotIn", "ssd")]})), "bc", id="NotIn"),
        pytest.param(attracted(required()), "", id="no terms match nothing"),
        pytest.param(attracted(required({"matchExpressions": [where("disk", "Near")]}, SSD)), "a", id="a bad term"),
        pytest.param(attracted(required(named("ab"))), "", id="two names narrow the search but cannot be parsed"),
        pytest.param(Cycle(pod(nodeSelector={})), "abc", id="an empty node selector matches all"),
    ],
)
@pytest.mark.parametrize("prepared", [True, False], ids=["with PreFilter", "without PreFilter"])
def test_which_nodes_fit(cycle, fits, prepared):
    affinity = plugin()
    cycle = cycle.scratch()
    if prepared:
        affinity.pre_filter(cycle, NODES)
    verdicts = affinity.filter(cycle, NODES)
    statuses = {name: verdicts.status(i) for i, name in enumerate(NODES.names)}
    assert statuses == {name: SUCCESS if name in fits else UNMATCHED for name in NODES.names}


def test_the_evidence_is_what_a_node_does_not_meet():
    cycle = attracted(required({"matchExpressions": [where("disk", "In", "ssd"), where("gpu", "Exists")]}, named("a")))
    (part,) = plugin().filter(cycle, NODES).parts
    unmet = part.at(1)["unmet"]
    assert unmet[0] == ()
    assert unmet[1] == (Requirement("disk", "In", frozenset(("ssd",))), Requirement("gpu", "Exists"))
    assert [field.value for field in unmet[2]] == ["a"]


def test_the_affinity_of_the_profile_is_asked_first():
    affinity = plugin(**required(SSD))
    cycle = Cycle(pod(nodeSelector={"disk": "hdd"}))
    assert affinity.pre_filter(cycle, NODES) is None
    verdicts = affinity.filter(cycle, NODES)
    assert [verdicts.status(i) for i in range(3)] == [UNMATCHED, ENFORCED, ENFORCED]


def test_a_profile_with_a_malformed_affinity_cannot_be_made():
    with pytest.raises(SelectorError, match="nodeSelectorTerms"):
        plugin(**required({"matchExpressions": [where("disk", "Near")]}))


@pytest.mark.parametrize(
    ("added", "cycle", "raw", "normalized"),
    [
        pytest.param(
            {},
            attracted(preferred((10, where("disk", "Exists")), (30, where("disk", "In", "ssd")))),
            [40, 10, 0],
            [100, 25, 0],
            id="weights of the terms that match add up",
        ),
        pytest.param({}, attracted(preferred()), [0, 0, 0], [0, 0, 0], id="an empty list of terms is scored"),
        pytest.param(
            preferred((5, where("disk", "DoesNotExist"))), Cycle(pod()), [0, 0, 5], [0, 0, 100], id="the profile's own"
        ),
        pytest.param(
            preferred((5, where("disk", "Exists"))),
            attracted(preferred((5, where("disk", "In", "hdd")))),
            [5, 10, 0],
            [50, 100, 0],
            id="the profile's and the pod's add up",
        ),
    ],
)
@pytest.mark.parametrize("prepared", [True, False], ids=["with PreScore", "without PreScore"])
def test_a_matching_preferred_term_scores_its_weight(added, cycle, raw, normalized, prepared):
    affinity = plugin(**added)
    cycle = cycle.scratch()
    if prepared:
        assert affinity.pre_score(cycle, NODES) is None
    scores = affinity.score(cycle, NODES)
    assert scores.tolist() == raw
    assert affinity.normalize(cycle, NODES, scores).tolist() == normalized


def test_a_pod_without_preferences_is_not_scored():
    assert plugin().pre_score(attracted(required(SSD)), NODES) == SKIP


def test_a_malformed_preference_is_an_error():
    cycle = attracted(preferred((1, where("disk", "In"))))
    message = (
        "[0].matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
    )
    assert plugin().pre_score(cycle, NODES) == error(message)
    with pytest.raises(PluginError) as fault:
        plugin().score(cycle, NODES)
    assert str(fault.value) == message


def test_pods_with_equal_selector_and_affinity_have_one_signature():
    affinity = plugin()
    assert affinity.signature(pod("x", cpu="1")) == affinity.signature(pod("y"))
    assert affinity.signature(pod(nodeSelector={})) != affinity.signature(pod())
    one, other = (attracted(required(named(name))).pod for name in "ab")
    assert affinity.signature(one) != affinity.signature(other)
