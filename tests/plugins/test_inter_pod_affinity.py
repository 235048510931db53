"""InterPodAffinity: tables for each rule, and a naive referee that is asked the same about random clusters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.config.args import InterPodAffinityArgs
from schedctl.engine.handles import ProfileHandle
from schedctl.engine.nominators import Nominator
from schedctl.errors import PluginError
from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import SKIP, Code, Status
from schedctl.plugins.inter_pod_affinity.evidence import Cause
from schedctl.plugins.inter_pod_affinity.plugin import InterPodAffinity
from schedctl.testing.builders import HOSTNAME, ZONE, cluster, node, pod
from schedctl.testing.plugin_answers import nodes_affected

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
WEB, DB = {"app": "web"}, {"app": "db"}


def term(labels=None, key=ZONE, **more):
    selector = {} if labels is None else {"labelSelector": {"matchLabels": labels}}
    return {"topologyKey": key, **selector, **more}


def wants(*terms):
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def avoids(*terms):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def soft(kind, *weighted):
    terms = [{"weight": weight, "podAffinityTerm": each} for weight, each in weighted]
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


def likes(*weighted):
    return soft("podAffinity", *weighted)


def dislikes(*weighted):
    return soft("podAntiAffinity", *weighted)


def namespace(name, **labels):
    return Namespace(metadata=ObjectMeta(name=name, labels=labels or None))


def nodes():
    """Two zones of two nodes, and a node without any label but its hostname."""
    return [node(f"{zone}{i}", zone=zone) for zone in "ab" for i in "12"] + [node("bare")]


def plugin(c, **args):
    return InterPodAffinity(InterPodAffinityArgs(**args), ProfileHandle(c, Nominator()))


def refusals(c, incoming):
    """What is said of each refused node by name; "Skip" or a Status where PreFilter ends it."""
    judge, cycle, column = plugin(c), Cycle(incoming), c.nodes_by_name
    status = judge.pre_filter(cycle, column)
    if status is not None:
        return "Skip" if status == SKIP else status
    found = judge.filter(cycle, column)
    return {name: found.status(i).message for i, name in enumerate(column.names) if found.at(i)}


ALL = ["a1", "a2", "b1", "b2", "bare"]


def outside(*fine, reason=AFFINITY):
    return {name: reason for name in ALL if name not in fine}


FILTER = {
    "a pod that wants nobody and that nobody minds is not looked at": (pod(labels=WEB), [pod("x", on="a1")], "Skip"),
    "preferences of either side do not make Filter look": (
        pod(labels=WEB, affinity=likes((1, term(DB)))),
        [pod("x", on="a1", labels=DB, affinity=dislikes((1, term(WEB))))],
        "Skip",
    ),
    "company anywhere in the zone will do": (
        pod(affinity=wants(term(DB))),
        [pod("x", on="a2", labels=DB)],
        outside("a1", "a2"),
    ),
    "company on a node without the label counts for nothing": (
        pod(affinity=wants(term(DB))),
        [pod("x", on="bare", labels=DB)],
        outside(),
    ),
    "two pods that match one term each are no company": (
        pod(affinity=wants(term(DB), term({"tier": "gold"}))),
        [pod("x", on="a1", labels=DB), pod("y", on="a1", labels={"tier": "gold"})],
        outside(),
    ),
    "one pod that matches all terms is looked for in the domain of each": (
        pod(affinity=wants(term(DB), term(DB, HOSTNAME))),
        [pod("x", on="a1", labels=DB)],
        outside("a1"),
    ),
    "the first of a series is let in wherever the label is": (
        pod(labels=WEB, affinity=wants(term(WEB))),
        [pod("x", on="a1", labels=DB)],
        {"bare": AFFINITY},
    ),
    "the first of a series stands aside when one runs on a node without the label": (
        pod(labels=WEB, affinity=wants(term(WEB))),
        [pod("x", on="bare", labels=WEB)],
        {"bare": AFFINITY},
    ),
    "the next of a series must join it": (
        pod(labels=WEB, affinity=wants(term(WEB))),
        [pod("x", on="b1", labels=WEB)],
        outside("b1", "b2"),
    ),
    "a pod that does not match its own terms is not the first of a series": (
        pod(labels=WEB, affinity=wants(term(DB))),
        [],
        outside(),
    ),
    "a series that looks in another namespace has no first": (
        pod(labels=WEB, affinity=wants(term(WEB, namespaces=["other"]))),
        [],
        outside(),
    ),
    "a zone with company to avoid is avoided": (
        pod(affinity=avoids(term(DB))),
        [pod("x", on="a1", labels=DB)],
        {"a1": ANTI, "a2": ANTI},
    ),
    "a node without the label is nobody's neighbour": (
        pod(affinity=avoids(term(DB))),
        [pod("x", on="bare", labels=DB)],
        {},
    ),
    "a terminating pod is company like any other": (
        pod(affinity=avoids(term(DB, HOSTNAME))),
        [pod("x", on="a1", labels=DB, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
        {"a1": ANTI},
    ),
    "running pods keep others away, too": (
        pod(labels=WEB),
        [pod("x", on="b2", affinity=avoids(term(WEB)))],
        {"b1": EXISTING, "b2": EXISTING},
    ),
    "a running pod keeps away pods of its own namespace only": (
        pod(labels=WEB),
        [pod("x", namespace="other", on="b2", affinity=avoids(term(WEB)))],
        "Skip",
    ),
    "a running pod on a node without the label keeps nobody away": (
        pod(labels=WEB),
        [pod("x", on="bare", affinity=avoids(term(WEB)))],
        "Skip",
    ),
    "the first reason is affinity, then anti-affinity, then that of others": (
        pod(labels=WEB, affinity=wants(term(DB)) | avoids(term({"tier": "gold"}, HOSTNAME))),
        [
            pod("x", on="a1", labels=DB | {"tier": "gold"}),
            pod("y", on="a2", affinity=avoids(term(WEB))),
            pod("z", on="b1", labels={"tier": "gold"}, affinity=avoids(term(WEB))),
        ],
        {"a1": ANTI, "a2": EXISTING, "b1": AFFINITY, "b2": AFFINITY, "bare": AFFINITY},
    ),
    "a term may name namespaces": (
        pod(affinity=avoids(term(DB, HOSTNAME, namespaces=["x", "y"]))),
        [pod("x", namespace="x", on="a1", labels=DB), pod("d", on="a2", labels=DB)],
        {"a1": ANTI},
    ),
    "and select further ones by label": (
        pod(affinity=avoids(term(DB, HOSTNAME, namespaces=["x"], namespaceSelector={"matchLabels": {"team": "t"}}))),
        [
            *(pod("x", namespace=ns, on=on, labels=DB) for ns, on in (("x", "a1"), ("y", "a2"), ("z", "b1"))),
            namespace("y", team="t"),
            namespace("z", team="u"),
        ],
        {"a1": ANTI, "a2": ANTI},
    ),
    "a selector of all namespaces covers those of which there is no object": (
        pod(affinity=avoids(term(DB, HOSTNAME, namespaceSelector={}))),
        [pod("x", namespace="ghost", on="a1", labels=DB)],
        {"a1": ANTI},
    ),
    "for the pod's own terms a namespace without an object has no labels to lack": (
        pod(
            affinity=avoids(
                term(DB, HOSTNAME, namespaceSelector={"matchExpressions": [{"key": "t", "operator": "DoesNotExist"}]})
            )
        ),
        [pod("x", namespace="ghost", on="a1", labels=DB), pod("y", namespace="y", on="a2", labels=DB), namespace("y")],
        {"a2": ANTI},
    ),
    "for a running pod's terms it has none": (
        pod(namespace="ghost", labels=WEB),
        [
            pod(
                "x",
                on="a1",
                affinity=avoids(
                    term(
                        WEB,
                        HOSTNAME,
                        namespaceSelector={"matchExpressions": [{"key": "t", "operator": "DoesNotExist"}]},
                    )
                ),
            )
        ],
        {"a1": EXISTING},
    ),
    "a term without a label selector is about nobody": (
        pod(affinity=avoids(term(None))),
        [pod("x", on="a1", labels=DB)],
        {},
    ),
    "a term with an empty one is about everybody": (
        pod(affinity=avoids({"topologyKey": HOSTNAME, "labelSelector": {}})),
        [pod("x", on="a1", labels=DB)],
        {"a1": ANTI},
    ),
}


@pytest.mark.parametrize(("incoming", "others", "expected"), FILTER.values(), ids=FILTER)
def test_filter(incoming, others, expected):
    assert refusals(cluster(*nodes(), *others), incoming) == expected


def test_unmatched_affinity_is_unresolvable_and_anti_affinity_is_not():
    c = cluster(*nodes(), pod("x", on="a1", labels=DB))
    for affinity, code in (
        (wants(term(WEB)), Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
        (avoids(term(DB)), Code.UNSCHEDULABLE),
    ):
        judge, cycle = plugin(c), Cycle(pod(affinity=affinity))
        judge.pre_filter(cycle, c.nodes)
        assert judge.filter(cycle, c.nodes).status(0).code is code


MALFORMED = {"matchExpressions": [{"key": "app", "operator": "In"}]}
NO_VALUES = "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"


@pytest.mark.parametrize(
    ("affinity", "text"),
    [
        (wants({"topologyKey": ZONE, "labelSelector": MALFORMED}), f"requiredAffinityTerms: {NO_VALUES}"),
        (likes((1, term(WEB, namespaceSelector=MALFORMED))), f"preferredAffinityTerms: {NO_VALUES}"),
        (
            avoids({"topologyKey": ZONE, "labelSelector": MALFORMED})
            | wants(term(None, labelSelector={"matchExpressions": [{"key": "a", "operator": "Like"}]})),
            f'[requiredAffinityTerms: "Like" is not a valid label selector operator, '
            f"requiredAntiAffinityTerms: {NO_VALUES}]",
        ),
    ],
    ids=["in a required term", "in the namespaces of a preferred one", "in several lists"],
)
def test_a_malformed_selector_refuses_the_pod_and_says_where(affinity, text):
    c = cluster(*nodes())
    incoming = pod(affinity=affinity)
    assert refusals(c, incoming) == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (f"parsing pod: {text}",))
    assert plugin(c).pre_score(Cycle(incoming), c.nodes) == Status(Code.ERROR, (f"failed to parse pod: {text}",))
    assert plugin(c).signature(incoming) is None


def test_a_profile_without_its_pre_points_fails_as_upstream_does():
    c = cluster(*nodes())
    found = plugin(c).filter(Cycle(pod()), c.nodes)
    assert found.status(0).code is Code.ERROR
    assert found.status(0).message == 'error reading "PreFilterInterPodAffinity" from cycleState: not found'
    with pytest.raises(PluginError, match='failed to read "PreScoreInterPodAffinity" from cycleState: not found'):
        plugin(c).score(Cycle(pod()), c.nodes)


def scores(c, incoming, **args):
    """(raw, normalised) score by node; "Skip" where PreScore leaves Score out."""
    judge, cycle, column = plugin(c, **args), Cycle(incoming), c.nodes_by_name
    status = judge.pre_score(cycle, column)
    if status is not None:
        return "Skip" if status == SKIP else status
    raw = judge.score(cycle, column)
    normal = judge.normalize(cycle, column, raw)
    return {name: pair for name, *pair in zip(column.names, raw.tolist(), normal.tolist(), strict=True)}


def by_zone(a, b, bare):
    return {"a1": a, "a2": a, "b1": b, "b2": b, "bare": bare}


SCORE = {
    "nobody prefers anything": (pod(labels=WEB), [pod("x", on="a1", labels=DB)], {}, "Skip"),
    "a preference that nobody meets is none": (
        pod(affinity=likes((5, term(WEB)))),
        [pod("x", on="a1", labels=DB)],
        {},
        "Skip",
    ),
    "preferred company counts once a pod": (
        pod(affinity=likes((5, term(DB)))),
        [pod("x", on="a1", labels=DB), pod("y", on="a2", labels=DB), pod("z", on="b1", labels=DB)],
        {},
        by_zone([10, 100], [5, 50], [0, 0]),
    ),
    "company to shun counts against": (
        pod(affinity=dislikes((30, term(DB)))),
        [pod("x", on="a1", labels=DB)],
        {},
        by_zone([-30, 0], [0, 100], [0, 100]),
    ),
    "running pods have preferences, too": (
        pod(labels=WEB),
        [pod("x", on="a1", affinity=likes((7, term(WEB)))), pod("y", on="b1", affinity=dislikes((2, term(WEB))))],
        {},
        by_zone([7, 100], [-2, 0], [0, 22]),
    ),
    "what a running pod required counts as a weak preference": (
        pod(labels=WEB),
        [pod("x", on="a1", affinity=wants(term(WEB)))],
        {},
        by_zone([1, 100], [0, 0], [0, 0]),
    ),
    "or as strong a one as is configured": (
        pod(labels=WEB),
        [pod("x", on="a1", affinity=wants(term(WEB))), pod("y", on="b1", affinity=likes((50, term(WEB))))],
        {"hard_pod_affinity_weight": 100},
        by_zone([100, 100], [50, 50], [0, 0]),
    ),
    "or none": (
        pod(labels=WEB),
        [pod("x", on="a1", affinity=wants(term(WEB)))],
        {"hard_pod_affinity_weight": 0},
        "Skip",
    ),
    "a running pod's anti-affinity is no matter of preference": (
        pod(labels=WEB),
        [pod("x", on="a1", affinity=avoids(term(WEB)))],
        {},
        "Skip",
    ),
    "preferences of running pods can be ignored": (
        pod(labels=WEB),
        [pod("x", on="a1", affinity=likes((7, term(WEB))))],
        {"ignore_preferred_terms_of_existing_pods": True},
        "Skip",
    ),
    "unless the pod has preferences of its own": (
        pod(labels=WEB, affinity=likes((1, term({"app": "nobody"})))),
        [pod("x", on="a1", affinity=likes((7, term(WEB))))],
        {"ignore_preferred_terms_of_existing_pods": True},
        by_zone([7, 100], [0, 0], [0, 0]),
    ),
    "preferences that cancel each other leave all nodes equal": (
        pod(affinity=likes((5, term(DB))) | dislikes((5, term(DB)))),
        [pod("x", on="a1", labels=DB)],
        {},
        by_zone([0, 0], [0, 0], [0, 0]),
    ),
    "thirds are cut off, not rounded": (
        pod(affinity=likes((1, term(DB, HOSTNAME)))),
        [pod(f"p{i}", on=on, labels=DB) for i, on in enumerate(["a1", "a1", "a1", "a2", "a2", "b1"])],
        {},
        {"a1": [3, 100], "a2": [2, 66], "b1": [1, 33], "b2": [0, 0], "bare": [0, 0]},
    ),
}


@pytest.mark.parametrize(("incoming", "others", "args", "expected"), SCORE.values(), ids=SCORE)
def test_score(incoming, others, args, expected):
    assert scores(cluster(*nodes(), *others), incoming, **args) == expected


# -- evidence ------------------------------------------------------------------------


def causes(c, incoming):
    judge, cycle, column = plugin(c), Cycle(incoming), c.nodes_by_name
    assert judge.pre_filter(cycle, column) is None
    found = judge.filter(cycle, column)
    return {name: part.at(i)["cause"] for i, name in enumerate(column.names) for part in found.at(i)}


def test_the_cause_of_unmatched_affinity_names_the_term_and_matching_pods_elsewhere():
    c = cluster(*nodes(), pod("x", on="a1", labels=DB))
    found = causes(c, pod(affinity=wants(term(DB))))
    assert found["b1"] == Cause(ZONE, "b", "app=db", ("default",), ("default/x",), 1)
    assert found["bare"] == Cause(ZONE, None, "app=db", ("default",), ("default/x",), 1)


@pytest.mark.parametrize(
    ("others", "affinity", "elsewhere"),
    [
        pytest.param([("x", "data"), ("y", "data"), ("z", "ops")], {}, {"data": 2, "ops": 1}, id="most pods first"),
        pytest.param([("x", "default"), ("y", "data")], {}, {}, id="not where the namespace has such a pod"),
        pytest.param([("x", "data")], {"namespaces": ["dta"]}, {"data": 1}, id="also where the term names another"),
        pytest.param([], {}, {}, id="nowhere, if there is none"),
    ],
)
def test_the_cause_of_unmatched_affinity_names_the_namespaces_that_have_such_pods(others, affinity, elsewhere):
    c = cluster(*nodes(), *(pod(name, namespace=namespace, on="a1", labels=DB) for name, namespace in others))
    found = causes(c, pod(affinity=wants(term(DB) | affinity)))
    assert list(found["b1"].elsewhere.items()) == list(elsewhere.items())


def test_pods_in_other_namespaces_must_have_the_labels_of_all_required_terms():
    c = cluster(*nodes(), pod("x", namespace="data", on="a1", labels=DB))
    assert causes(c, pod(affinity=wants(term(DB), term(WEB))))["b1"].elsewhere == {}


def test_the_cause_of_anti_affinity_names_the_matching_pods_in_the_domain():
    c = cluster(*nodes(), pod("x", on="a1", labels=DB), pod("y", on="b1", labels=DB), pod("z", on="a2"))
    anti = {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}
    found = causes(c, pod(affinity=avoids(anti | {"namespaceSelector": {}})))
    assert found["a2"] == Cause(ZONE, "a", "app", None, ("default/x",), 1)


def test_the_cause_of_existing_anti_affinity_names_the_pods_that_carry_it():
    c = cluster(*nodes(), *(pod(name, on=on, affinity=avoids(term(WEB))) for name, on in (("x", "a1"), ("y", "b1"))))
    assert causes(c, pod(labels=WEB))["b2"] == Cause(ZONE, "b", "app=web", ("default",), ("default/y",), 1)


# -- pods gained and lost ----------------------------------------------------------


def hypothetical(c, incoming, changes):
    """What is said of each position of a column of all nodes, each with its own pods gained and lost."""
    judge, cycle = plugin(c), Cycle(incoming)
    column = c.nodes_by_name
    if judge.pre_filter(cycle, column) is not None:
        return None
    position = {name: i for i, name in enumerate(column.names)}
    supposed = column.hypothetical(
        [position[on] for on, _, _ in changes], [p for _, p, _ in changes], [s for _, _, s in changes]
    )
    judge.with_pods(cycle, supposed)
    found = judge.filter(cycle, supposed)
    for i in range(len(column)):
        for part in found.at(i):
            part.at(i)
    return {name: found.status(i).message for name, i in position.items()}


def test_a_supposed_pod_matches_affinity_in_its_own_domain_only():
    c = cluster(*nodes())
    refusals = hypothetical(c, pod(affinity=wants(term(DB))), [("a1", pod("x", labels=DB), 1)])
    assert refusals == {"a1": ""} | outside("a1")


def test_a_pod_supposed_gone_matches_no_anti_affinity():
    x = pod("x", on="a1", labels=DB, affinity=avoids(term(WEB)))
    c = cluster(*nodes(), x)
    refusals = hypothetical(c, pod(labels=WEB, affinity=avoids(term(DB))), [("a1", x, -1)])
    assert refusals == {"a1": "", "a2": ANTI, "b1": "", "b2": "", "bare": ""}


def test_a_pod_that_matches_its_own_affinity_may_start_where_the_last_match_is_gone():
    x = pod("x", on="a1", labels=WEB)
    c = cluster(*nodes(), x)
    refusals = hypothetical(c, pod(labels=WEB, affinity=wants(term(WEB))), [("a1", x, -1)])
    assert refusals == {"a1": "", "a2": ""} | outside("a1", "a2")


def test_a_pod_that_matches_its_own_affinity_must_join_a_supposed_match():
    c = cluster(*nodes())
    incoming = pod(labels=WEB, affinity=wants(term(WEB), term(WEB, HOSTNAME)))
    refusals = hypothetical(c, incoming, [("a1", pod("x", labels=WEB), 1), ("bare", pod("y", labels=WEB), 1)])
    assert refusals == {"a1": "", "a2": "", "b1": "", "b2": "", "bare": AFFINITY}


def test_a_supposed_pod_on_a_node_without_the_label_is_in_no_domain():
    c = cluster(*nodes(), pod("x", on="a1", labels=DB, affinity=avoids(term(WEB))))
    incoming = pod(labels=WEB, affinity=avoids(term(DB)))
    refusals = hypothetical(c, incoming, [("bare", pod("y", labels=DB, affinity=avoids(term(WEB))), 1)])
    assert refusals == {"a1": ANTI, "a2": ANTI, "b1": "", "b2": "", "bare": ""}


def test_a_skipped_filter_stays_skipped_whatever_pods_are_supposed():
    c = cluster(*nodes())
    assert hypothetical(c, pod(labels=WEB), [("a1", pod("x", affinity=avoids(term(WEB))), 1)]) is None


# -- reuse -------------------------------------------------------------------------


ANY = None
"""All nodes are asked about again."""
ZONE_A = {"a1", "a2"}

CHANGES = {
    "a pod no term is about": (wants(term(DB)), pod("x", labels=WEB), set()),
    "company, where there was none": (wants(term(DB)), pod("x", labels=DB), ZONE_A),
    "a pod the pod would rather have near": (likes((1, term(DB))), pod("x", labels=DB), ANY),
    "the first pod whose terms keep the pod away": ({}, pod("x", affinity=avoids(term(WEB))), ANY),
    "a pod whose terms are about pods elsewhere": (
        {},
        pod("x", namespace="other", affinity=avoids(term(WEB))),
        set(),
    ),
    "a pod in a domain of one node": (avoids(term(DB, HOSTNAME)), pod("x", labels=DB), {"a1"}),
}


@pytest.mark.parametrize(("affinity", "other", "affected"), CHANGES.values(), ids=CHANGES)
def test_which_nodes_a_pod_affects(affinity, other, affected):
    c = cluster(*nodes())
    incoming = pod(labels=WEB, affinity=affinity)
    assert nodes_affected(plugin(c), incoming, c, lambda c: c.assume(other, "a1")) == affected
    assert nodes_affected(plugin(c), incoming, c, lambda c: c.remove_pod(other)) == affected


def test_a_second_pod_of_a_zone_affects_no_node():
    c = cluster(*nodes(), pod("x", on="a1", labels=DB))
    second = pod("y", labels=DB)
    assert nodes_affected(plugin(c), pod(affinity=wants(term(DB))), c, lambda c: c.assume(second, "a2")) == set()


def test_nodes_and_namespaces_affect_pods_where_there_are_terms():
    def relabel(c):
        c.add_node(node("a1", zone="b"))

    empty = cluster(*nodes())
    assert nodes_affected(plugin(empty), pod(labels=WEB), empty, relabel) == set()
    assert nodes_affected(plugin(empty), pod(affinity=wants(term(DB))), empty, relabel) is ANY
    full = cluster(*nodes(), pod("x", on="a1", affinity=avoids(term(WEB))))
    assert nodes_affected(plugin(full), pod(labels=WEB), full, relabel) is ANY
    labelled = cluster(*nodes())
    put = nodes_affected(plugin(labelled), pod(labels=WEB), labelled, lambda c: c.put(namespace("default", team="t")))
    assert put is ANY


def test_pods_of_one_template_have_one_signature():
    judge = plugin(cluster())
    affinity = wants(term(WEB)) | avoids(term(DB, HOSTNAME))
    assert judge.signature(pod("x", labels=WEB, affinity=affinity)) == judge.signature(
        pod("y", labels=WEB, affinity=affinity)
    )
    assert judge.signature(pod("x", labels=WEB)) != judge.signature(pod("x", labels=DB))
    assert judge.signature(pod("x", labels=WEB)) != judge.signature(pod("x", namespace="other", labels=WEB))


# -- the referee -------------------------------------------------------------------


def refereed(placed, labels_of, incoming, spaces, hard=1):
    """(verdict by node, raw score by node), each None for Skip, by asking every pod about every node.

    Args:
        placed: (pod, node) of each running pod.
        labels_of: node labels by name.
        incoming: the pod to be placed.
        spaces: namespace labels by name, of those that exist.
        hard: what a required term of a running pod weighs.
    """

    def of_mine(each, other):
        chosen = {name for name, labels in spaces.items() if each.namespace_selector.matches(labels)}
        inside = other.namespace in each.namespaces | chosen or each.namespace_selector.everything
        return inside and each.selector.matches(other.labels)

    def of_theirs(each):
        labels = spaces.get(incoming.namespace, {})
        return (
            incoming.namespace in each.namespaces or each.namespace_selector.matches(labels)
        ) and each.selector.matches(incoming.labels)

    def together(each, a, b):
        return each.topology_key in labels_of[a] and labels_of[a][each.topology_key] == labels_of[b].get(
            each.topology_key
        )

    def placeable(each, on):
        return each.topology_key in labels_of[on]

    required, anti = incoming.required_affinity, incoming.required_anti_affinity
    friends = [on for other, on in placed if required and all(of_mine(each, other) for each in required)]
    series = not any(placeable(each, on) for on in friends for each in required)
    series = series and all(of_mine(each, incoming) for each in required)
    objections = [(each, on) for other, on in placed for each in other.required_anti_affinity if of_theirs(each)]
    refusals = {}
    for name in labels_of:
        met = all(any(together(each, name, on) for on in friends) for each in required)
        if not met and not (series and all(placeable(each, name) for each in required)):
            refusals[name] = AFFINITY
        elif any(of_mine(each, other) and together(each, name, on) for each in anti for other, on in placed):
            refusals[name] = ANTI
        elif any(together(each, name, on) for each, on in objections):
            refusals[name] = EXISTING
        else:
            refusals[name] = ""
    if not (required or anti or any(placeable(each, on) for each, on in objections)):
        refusals = None

    weighed = []
    for other, on in placed:
        weighed += [(each, w, on) for each, w in incoming.preferred_affinity if of_mine(each, other)]
        weighed += [(each, -w, on) for each, w in incoming.preferred_anti_affinity if of_mine(each, other)]
        weighed += [(each, hard, on) for each in other.required_affinity if of_theirs(each)]
        weighed += [(each, w, on) for each, w in other.preferred_affinity if of_theirs(each)]
        weighed += [(each, -w, on) for each, w in other.preferred_anti_affinity if of_theirs(each)]
    weighed = [entry for entry in weighed if placeable(entry[0], entry[2])]
    raw = {name: sum(w for each, w, on in weighed if together(each, name, on)) for name in labels_of}
    return refusals, raw if weighed else None


label_maps = st.fixed_dictionaries(
    {}, optional={"app": st.sampled_from(["web", "db"]), "tier": st.sampled_from(["gold", ""])}
)
selectors = st.one_of(
    st.none(),
    st.just({}),
    st.builds(lambda labels: {"matchLabels": labels}, label_maps),
    st.builds(
        lambda key, operator, values: {
            "matchExpressions": [{"key": key, "operator": operator} | ({"values": values} if "In" in operator else {})]
        },
        st.sampled_from(["app", "tier"]),
        st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
        st.lists(st.sampled_from(["web", "db", ""]), min_size=1, max_size=2),
    ),
)
NAMESPACES = ["default", "other", "ghost"]
terms = st.builds(
    lambda selector, key, names, chosen: (
        {"topologyKey": key, "labelSelector": selector, "namespaces": names, "namespaceSelector": chosen}
    ),
    selectors,
    st.sampled_from([ZONE, HOSTNAME, "rack"]),
    st.one_of(st.none(), st.lists(st.sampled_from(NAMESPACES), max_size=2)),
    st.one_of(st.none(), st.none(), selectors),
)
some_terms = st.one_of(st.none(), st.lists(terms, min_size=1, max_size=2))
weighted = st.lists(st.tuples(st.integers(1, 100), terms), max_size=2)
affinities = st.builds(
    lambda affinity, anti_affinity, preferred, preferred_anti: {
        kind: {
            "requiredDuringSchedulingIgnoredDuringExecution": required,
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": w, "podAffinityTerm": t} for w, t in soft],
        }
        for kind, required, soft in (
            ("podAffinity", affinity, preferred),
            ("podAntiAffinity", anti_affinity, preferred_anti),
        )
    },
    some_terms,
    some_terms,
    weighted,
    weighted,
)
pods = st.tuples(st.sampled_from(NAMESPACES), label_maps, st.one_of(st.none(), affinities))
NODES = {
    "a1": {HOSTNAME: "a1", ZONE: "a", "rack": "1"},
    "a2": {HOSTNAME: "a2", ZONE: "a", "rack": ""},
    "b1": {HOSTNAME: "b1", ZONE: "b"},
    "c": {ZONE: "b", "rack": "1"},
}


def world(placed):
    spaces = [namespace("default", app="web"), namespace("other", tier="gold")]
    made = [node(name, labels=labels) for name, labels in NODES.items()]
    c = cluster(*made, *spaces)
    labels_of = {each.metadata.name: each.metadata.labels for each in made}
    for i, ((where, labels, affinity), on) in enumerate(placed):
        c.add_pod(pod(f"x{i}", namespace=where, labels=labels, affinity=affinity, on=on))
    return c, labels_of, {each.metadata.name: each.metadata.labels for each in spaces}


def standing(c):
    return [(info, c.node_table.names[c.pod_table.node[c.pod_table.row_of[info.key]]]) for info in c.pod_table]


@given(st.lists(st.tuples(pods, st.sampled_from(list(NODES))), max_size=5), pods)
def test_a_naive_referee_gives_the_same_verdicts_and_scores(placed, sketch):
    c, labels_of, spaces = world(placed)
    incoming = pod("new", namespace=sketch[0], labels=sketch[1], affinity=sketch[2])
    verdicts, raw = refereed(standing(c), labels_of, incoming, spaces)
    assert hypothetical(c, incoming, []) == verdicts
    found = scores(c, incoming)
    assert (None if found == "Skip" else {name: pair[0] for name, pair in found.items()}) == raw


@given(
    st.lists(st.tuples(pods, st.sampled_from(list(NODES))), max_size=4),
    st.lists(st.tuples(pods, st.sampled_from(list(NODES))), max_size=3),
    st.sets(st.integers(0, 3)),
    pods,
)
def test_a_naive_referee_gives_the_same_verdicts_with_supposed_pods(placed, gained, lost, sketch):
    c, labels_of, spaces = world(placed)
    incoming = pod("new", namespace=sketch[0], labels=sketch[1], affinity=sketch[2])
    now = standing(c)
    changes = [(on, info, -1) for i, (info, on) in enumerate(now) if i in lost]
    changes += [
        (on, pod(f"y{i}", namespace=where, labels=labels, affinity=affinity), 1)
        for i, ((where, labels, affinity), on) in enumerate(gained)
    ]
    refusals = hypothetical(c, incoming, changes)
    if refusals is None:
        return
    for name in NODES:
        here = [(info, on) for info, on in now if (name, info, -1) not in changes]
        here += [(info, on) for on, info, sign in changes if on == name and sign > 0]
        verdicts, _ = refereed(here, labels_of, incoming, spaces)
        assert refusals[name] == (verdicts[name] if verdicts is not None else "")
