"""PodTopologySpread: tables for each rule, and a naive referee that is asked the same about random clusters."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.workloads import ReplicaSet, ReplicationController, Service, StatefulSet
from schedctl.config.args import PodTopologySpreadArgs
from schedctl.engine.handles import ProfileHandle
from schedctl.engine.nominators import Nominator
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import natural_log
from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status, unresolvable, unschedulable
from schedctl.plugins.pod_topology_spread.plugin import PodTopologySpread
from schedctl.testing.builders import HOSTNAME, ZONE, cluster, node, pod
from schedctl.testing.plugin_answers import nodes_affected

SKEWED = unschedulable("node(s) didn't match pod topology spread constraints")
MISSING = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
WEB = {"app": "web"}
GONE = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def plugin(made, **args):
    return PodTopologySpread(msgspec.convert(args, PodTopologySpreadArgs), ProfileHandle(made, Nominator()))


def constraint(key=ZONE, skew=1, action="DoNotSchedule", labels=WEB, **more):
    selector = {} if labels is None else {"labelSelector": {"matchLabels": labels}}
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": action, **selector, **more}


def soft(key=ZONE, skew=1, **more):
    return constraint(key, skew, "ScheduleAnyway", **more)


def web(name="web", labels=WEB, **more):
    return pod(name, labels=labels, **more)


def spread(*constraints, **more):
    return web(topologySpreadConstraints=list(constraints), **more)


def webs(**counts):
    """Return running web pods: so many on each node."""
    return [web(f"{on}-{i}", on=on) for on, number in counts.items() for i in range(number)]


def zones(**more):
    """Return nodes a1, a2 in zone a, b1 in zone b, c1 in zone c."""
    return [node(name, zone=name[0], **more.get(name, {})) for name in ("a1", "a2", "b1", "c1")]


def judged(incoming, *objects, **args):
    """Return what Filter says of each node, by name; only refusals."""
    made = cluster(*objects)
    spread_plugin, cycle = plugin(made, **args), Cycle(incoming)
    assert spread_plugin.pre_filter(cycle, made.nodes) is None
    verdicts = spread_plugin.filter(cycle, made.nodes)
    return {name: status for i, name in enumerate(made.nodes.names) if (status := verdicts.status(i)) != SUCCESS}


def scored(incoming, *objects, feasible=None, **args):
    """Return the raw and normalised score of each feasible node, by name; None where PreScore skips."""
    made = cluster(*objects)
    spread_plugin, cycle = plugin(made, **args), Cycle(incoming)
    nodes = made.nodes if feasible is None else made.nodes_named(feasible)
    if spread_plugin.pre_score(cycle, nodes) == SKIP:
        return None
    raw = spread_plugin.score(cycle, nodes)
    normalized = spread_plugin.normalize(cycle, nodes, raw)
    return dict(zip(nodes.names, zip(raw.tolist(), normalized.tolist(), strict=True), strict=True))


@pytest.mark.parametrize(
    ("incoming", "objects", "refused"),
    [
        pytest.param(spread(constraint()), webs(a1=1, b1=1, c1=1), "", id="a balanced topology takes a pod anywhere"),
        pytest.param(spread(constraint()), webs(a1=1, b1=1), "a1 a2 b1", id="the emptiest domain comes first"),
        pytest.param(spread(constraint(skew=2)), webs(a1=2, b1=1), "a1 a2", id="maxSkew says by how much"),
        pytest.param(
            spread(constraint(), labels={}), webs(a1=1, b1=1), "", id="a pod that is not counted itself adds nothing"
        ),
        pytest.param(spread(constraint(labels=None)), webs(a1=3), "", id="an absent selector counts nothing"),
        pytest.param(spread(constraint(labels={})), webs(a1=3), "", id="an empty selector counts nothing either"),
        pytest.param(
            spread(constraint()),
            [web(f"x{i}", on="a1", namespace="other") for i in range(3)],
            "",
            id="other namespaces",
        ),
        pytest.param(
            spread(constraint()), [web("x", on="a1", metadata=GONE)], "", id="terminating pods are not counted"
        ),
        pytest.param(spread(constraint(HOSTNAME)), webs(a1=1), "a1", id="with the host name each node is a domain"),
        pytest.param(
            spread(constraint(minDomains=4)), webs(a1=1, b1=1, c1=1), "a1 a2 b1 c1", id="too few domains count as empty"
        ),
        pytest.param(spread(constraint(minDomains=3)), webs(a1=1, b1=1, c1=1), "", id="enough domains do not"),
        pytest.param(
            spread(constraint(matchLabelKeys=["hash", "absent"]), labels={**WEB, "hash": "2"}),
            webs(a1=2, b1=1),
            "",
            id="matchLabelKeys count only pods of the same revision",
        ),
        pytest.param(
            spread(constraint(labels={}, matchLabelKeys=["app"])),
            webs(a1=1, b1=1),
            "a1 a2 b1",
            id="matchLabelKeys make an empty selector count",
        ),
        pytest.param(
            spread(constraint(), nodeSelector={ZONE: "a"}), webs(a1=3), "", id="nodes the pod cannot use do not count"
        ),
        pytest.param(
            spread(constraint(nodeAffinityPolicy="Ignore"), nodeSelector={ZONE: "a"}),
            webs(a1=1),
            "a1 a2",
            id="unless nodeAffinityPolicy is Ignore",
        ),
        pytest.param(
            spread(constraint(), constraint(HOSTNAME)), webs(a1=1, b1=1, c1=1), "a1 b1 c1", id="all must be satisfied"
        ),
    ],
)
def test_which_nodes_exceed_max_skew(incoming, objects, refused):
    assert judged(incoming, *zones(), *objects) == dict.fromkeys(refused.split(), SKEWED)


@pytest.mark.parametrize(
    ("policy", "tolerations", "refused"),
    [
        pytest.param(None, [], "a1 a2 b1", id="tainted nodes count"),
        pytest.param("Honor", [], "", id="unless nodeTaintsPolicy is Honor"),
        pytest.param("Honor", [{"operator": "Exists"}], "a1 a2 b1", id="and the pod does not tolerate them"),
    ],
)
def test_tainted_nodes(policy, tolerations, refused):
    nodes = zones(c1={"taints": [{"key": "t", "effect": "NoSchedule"}]})
    incoming = spread(constraint(**({"nodeTaintsPolicy": policy} if policy else {})), tolerations=tolerations)
    assert judged(incoming, *nodes, *webs(a1=1, b1=1)) == dict.fromkeys(refused.split(), SKEWED)


def test_a_node_without_the_label_is_unresolvable_and_its_pods_do_not_count():
    objects = [*zones(), node("bare"), *webs(a1=1, b1=1, c1=1, bare=5)]
    assert judged(spread(constraint()), *objects) == {"bare": MISSING}


def test_a_node_that_lacks_any_key_counts_for_no_constraint():
    objects = [*zones(), node("d1", zone="d", labels={"rack": "r"}), *webs(a1=2)]
    assert judged(spread(constraint(), constraint("rack")), *objects) == dict.fromkeys(
        ["a1", "a2", "b1", "c1"], MISSING
    )


def test_the_first_constraint_a_node_does_not_satisfy_decides():
    objects = [
        node("a1", zone="a", labels={"rack": "r"}),
        node("a2", zone="a"),
        node("b1", zone="b", labels={"rack": "s"}),
    ]
    both = constraint(), constraint("rack")
    assert judged(spread(*both), *objects, *webs(a1=1)) == {"a1": SKEWED, "a2": SKEWED}
    assert judged(spread(*reversed(both)), *objects, *webs(a1=1)) == {"a1": SKEWED, "a2": MISSING}


def test_an_empty_label_is_a_domain():
    objects = [node("a", labels={ZONE: ""}), node("b", zone="b"), *webs(a=1)]
    assert judged(spread(constraint()), *objects) == {"a": SKEWED}


def test_the_evidence_is_the_domain_its_count_and_what_it_is_compared_with():
    made = cluster(*zones(), *webs(a1=2, a2=1, b1=1, c1=1))
    spread_plugin, cycle = plugin(made), Cycle(spread(constraint()))
    spread_plugin.pre_filter(cycle, made.nodes)
    (part,) = spread_plugin.filter(cycle, made.nodes).parts
    made.add_pod(web("late", on="a1"))
    assert part.at(1) == {
        "topology_key": ZONE,
        "domain": "a",
        "count": 3,
        "self_match": 1,
        "minimum": 1,
        "max_skew": 1,
        "domains": {"b": 1, "c": 1, "a": 3},
    }


def test_a_pod_without_hard_constraints_is_skipped():
    made = cluster(*zones())
    assert plugin(made).pre_filter(Cycle(spread(soft())), made.nodes) == SKIP
    assert plugin(made).pre_filter(Cycle(web()), made.nodes) == SKIP


BROKEN = {"matchExpressions": [{"key": "app", "operator": "Near"}]}


def test_a_malformed_selector_is_an_error():
    made = cluster(*zones())
    hard = Cycle(spread(constraint(labels=None, labelSelector=BROKEN)))
    assert plugin(made).pre_filter(hard, made.nodes) == Status(
        Code.ERROR,
        (
            "get constraints from pod: obtaining pod's hard topology spread constraints: "
            '"Near" is not a valid label selector operator',
        ),
    )
    mild = Cycle(spread(soft(labels=None, labelSelector=BROKEN)))
    assert plugin(made).pre_score(mild, made.nodes) == Status(
        Code.ERROR,
        (
            "calculating preScoreState: obtaining pod's soft topology spread constraints: "
            '"Near" is not a valid label selector operator',
        ),
    )


def test_filter_and_score_without_their_pre_points_are_faults():
    made = cluster(*zones())
    status = plugin(made).filter(Cycle(web()), made.nodes).status(0)
    assert status == Status(Code.ERROR, ('reading "PreFilterPodTopologySpread" from cycleState: not found',))
    with pytest.raises(PluginError, match='error reading "PreScorePodTopologySpread" from cycleState: not found'):
        plugin(made).score(Cycle(web()), made.nodes)


# -- score ------------------------------------------------------------------------


def test_a_domain_scores_less_the_more_pods_it_holds():
    raw = [round(count * natural_log(5)) for count in (3, 3, 1, 0)]
    assert scored(spread(soft()), *zones(), *webs(a1=1, a2=2, b1=1)) == {
        "a1": (raw[0], 0),
        "a2": (raw[1], 0),
        "b1": (raw[2], 100 * (raw[0] - raw[2]) // raw[0]),
        "c1": (raw[3], 100),
    }


def test_host_names_are_counted_node_by_node_whatever_the_policies_say():
    nodes = zones(a1={"taints": [{"key": "t", "effect": "NoSchedule"}]})
    scores = scored(spread(soft(HOSTNAME, nodeTaintsPolicy="Honor")), *nodes, *webs(a1=2, b1=1))
    assert [raw for raw, _ in scores.values()] == [round(2 * natural_log(6)), 0, round(natural_log(6)), 0]


def test_a_larger_skew_is_added_once_for_each_constraint():
    assert scored(spread(soft(skew=4), soft(HOSTNAME, skew=2)), *zones()) == dict.fromkeys(
        ["a1", "a2", "b1", "c1"], (4, 100)
    )


def test_without_counted_pods_all_nodes_are_best():
    assert scored(spread(soft()), *zones()) == dict.fromkeys(["a1", "a2", "b1", "c1"], (0, 100))


def test_nodes_that_lack_a_key_score_nothing():
    objects = [*zones(), node("bare"), *webs(a1=1, bare=9)]
    scores = scored(spread(soft()), *objects)
    assert scores["bare"] == (0, 0)
    assert scores["b1"] == (0, 100)


def test_all_pods_count_but_only_the_domains_of_feasible_nodes_weigh():
    scores = scored(spread(soft()), *zones(), *webs(a1=1, a2=2, b1=1), feasible=["a2", "b1"])
    assert [raw for raw, _ in scores.values()] == [round(3 * natural_log(4)), round(natural_log(4))]


def test_a_pod_without_soft_constraints_is_not_scored():
    assert scored(spread(constraint()), *zones()) is None
    assert scored(web(), *zones()) is None


# -- the cluster's defaults ---------------------------------------------------------


def service(selector, namespace="default"):
    return msgspec.convert({"metadata": {"name": "s", "namespace": namespace}, "spec": {"selector": selector}}, Service)


def owner(kind, selector):
    return msgspec.convert(
        {"metadata": {"name": "owner", "namespace": "default"}, "spec": {"selector": selector}}, kind
    )


def owned(kind, version, labels=WEB, controller=True):
    reference = {"apiVersion": version, "kind": kind.__name__, "name": "owner", "uid": "u", "controller": controller}
    return web(labels=labels, metadata={"ownerReferences": [reference]})


APPS = {"matchLabels": WEB}


@pytest.mark.parametrize(
    ("incoming", "objects", "counts"),
    [
        pytest.param(web(), [], None, id="a pod nothing selects has no defaults"),
        pytest.param(web(), [service(WEB)], (2, 1), id="a Service that selects the pod says what to count"),
        pytest.param(web(), [service(WEB, "other")], None, id="a Service elsewhere does not"),
        pytest.param(web(), [service({"app": "db"})], None, id="nor one that selects other pods"),
        pytest.param(web(), [service({})], None, id="nor one that selects all pods"),
        pytest.param(web(), [service(None)], None, id="nor one without a selector"),
        pytest.param(owned(ReplicaSet, "apps/v1"), [owner(ReplicaSet, APPS)], (2, 1), id="a ReplicaSet does"),
        pytest.param(owned(StatefulSet, "apps/v1"), [owner(StatefulSet, APPS)], (2, 1), id="so does a StatefulSet"),
        pytest.param(
            owned(ReplicationController, "v1"),
            [owner(ReplicationController, WEB)],
            (2, 1),
            id="and a controller of old",
        ),
        pytest.param(owned(ReplicaSet, "v1"), [owner(ReplicaSet, APPS)], None, id="by its proper version"),
        pytest.param(owned(ReplicaSet, "apps/v1"), [], None, id="an owner that is gone says nothing"),
        pytest.param(
            owned(ReplicaSet, "apps/v1", controller=False), [owner(ReplicaSet, APPS)], None, id="nor one not in charge"
        ),
        pytest.param(
            owned(ReplicaSet, "apps/v1"), [owner(ReplicaSet, BROKEN)], None, id="nor one whose selector is malformed"
        ),
        pytest.param(owned(ReplicaSet, "apps/v1"), [owner(ReplicaSet, None)], None, id="nor one without a selector"),
        pytest.param(
            owned(ReplicationController, "v1"),
            [service(WEB), owner(ReplicationController, {"app": "db"})],
            (0, 0),
            id="a controller of old overrules Services",
        ),
        pytest.param(
            owned(ReplicaSet, "apps/v1"),
            [service(WEB), owner(ReplicaSet, {"matchLabels": {"app": "db"}})],
            (0, 0),
            id="a ReplicaSet narrows them",
        ),
    ],
)
def test_what_the_default_constraints_count(incoming, objects, counts):
    scores = scored(incoming, *zones(), *webs(a1=2, b1=1), *objects)
    if counts is None:
        assert scores is None
        return
    host, zone = natural_log(6), natural_log(5)
    expected = [round(count * host + 2 + count * zone + 4) for count in counts]
    assert [scores["a1"][0], scores["b1"][0]] == expected


def test_defaults_do_not_need_all_keys_and_nodes_without_a_zone_share_none():
    scores = scored(web(), *zones(), node("bare"), *webs(bare=3), service(WEB))
    assert scores["bare"][0] == round(3 * natural_log(7) + 2)
    assert scores["b1"] == (6, 100)


def test_nodes_without_a_zone_and_those_with_an_empty_one_share_it():
    objects = [node("bare"), node("blank", labels={ZONE: ""}), node("a", zone="a"), *webs(bare=3), service(WEB)]
    assert scored(web(), *objects)["blank"][0] == round(2 + 3 * natural_log(4) + 4)


def test_a_profile_may_bring_defaults_of_its_own():
    defaults = {"defaultingType": "List", "defaultConstraints": [constraint(labels=None), soft(HOSTNAME, labels=None)]}
    objects = [*zones(), node("bare"), *webs(a1=1, b1=1), service(WEB)]
    refused = {**dict.fromkeys(["a1", "a2", "b1"], SKEWED), "bare": MISSING}
    assert judged(web(), *objects, **defaults) == refused
    assert scored(web(), *objects, **defaults)["b1"] == (round(natural_log(7)), 0)


def test_a_pod_with_constraints_of_its_own_gets_no_defaults():
    assert scored(spread(constraint()), *zones(), service(WEB)) is None


def test_services_that_come_and_go_change_the_default_constraints():
    made = cluster(*zones(), *webs(a1=1))
    spread_plugin, grouping = plugin(made), service(WEB)
    answers = []
    for change in (lambda: None, lambda: made.put(grouping), lambda: made.delete(grouping)):
        change()
        answers.append(spread_plugin.pre_score(Cycle(web()), made.nodes))
    with made.fork():
        made.put(grouping)
        answers.append(spread_plugin.pre_score(Cycle(web()), made.nodes))
    answers.append(spread_plugin.pre_score(Cycle(web()), made.nodes))
    assert answers == [SKIP, None, SKIP, None, SKIP]


# -- pods supposed to come or go ------------------------------------------------------


def hypothetical(made, incoming, positions, pods, signs):
    """Return the verdict of Filter for each position of a supposed column."""
    spread_plugin, cycle = plugin(made), Cycle(incoming)
    assert spread_plugin.pre_filter(cycle, made.nodes) is None
    column = made.nodes_named(["a1", "a2", "b1", "c1"]).take(positions)
    column = column.hypothetical(range(len(positions)), pods, signs)
    spread_plugin.with_pods(cycle, column)
    verdicts = spread_plugin.filter(cycle, column)
    return [verdicts.status(i) == SUCCESS for i in range(len(column))]


@pytest.mark.parametrize(
    ("running", "fields", "position", "other", "sign", "fits"),
    [
        pytest.param({"a1": 1}, {}, 0, web("a1-0"), -1, True, id="a pod that goes makes room"),
        pytest.param({"a1": 1}, {}, 2, web("x"), 1, False, id="a pod that comes takes it"),
        pytest.param({"a1": 1}, {}, 1, web("a1-0"), -1, True, id="and all nodes of its domain see it"),
        pytest.param({"a1": 1, "b1": 1, "c1": 1}, {}, 2, web("b1-0"), -1, True, id="the minimum falls"),
        pytest.param({"a1": 2, "b1": 1, "c1": 1}, {}, 0, web("a1-0"), -1, True, id="the minimum is that of the others"),
        pytest.param({"a1": 3, "b1": 1, "c1": 1}, {}, 0, web("a1-0"), -1, False, id="one pod less may not be enough"),
        pytest.param({}, {}, 0, web("x", labels={}), 1, True, id="pods that are not counted change nothing"),
        pytest.param({}, {}, 0, web("x", namespace="other"), 1, True, id="nor do those of other namespaces"),
        pytest.param({"a1": 1}, {}, 0, web("x", metadata=GONE), -1, True, id="terminating pods are, unlike before"),
        pytest.param({}, {"labels": {}}, 0, web("x"), 1, False, id="so are all under an empty selector"),
        pytest.param(
            {"a1": 1},
            {"nodeAffinityPolicy": "Honor"},
            2,
            web("x"),
            1,
            True,
            id="but not on nodes that do not take part",
        ),
        pytest.param({"a1": 1, "b1": 1, "c1": 1}, {"minDomains": 9}, 0, web("a1-0"), -1, True, id="minDomains holds"),
    ],
)
def test_a_pod_that_comes_or_goes_counts_on_its_own_node(running, fields, position, other, sign, fits):
    more = {"nodeSelector": {ZONE: "a"}} if "nodeAffinityPolicy" in fields else {}
    made = cluster(*zones(), *webs(**running))
    assert hypothetical(made, spread(constraint(**fields), **more), [position], [other], [sign]) == [fits]


def test_each_position_sees_its_own_changes_only():
    made = cluster(*zones(), *webs(a1=1, b1=1))
    leaving, coming = web("a1-0"), web("x")
    places, pods, signs = [0, 0, 3], [leaving, coming, coming], [-1, 1, 1]
    assert hypothetical(made, spread(constraint()), places, pods, signs) == [True, False, True]


# -- what moves the answers -----------------------------------------------------------


def comes(other, on="a1"):
    return lambda c: c.assume(other, on)


@pytest.mark.parametrize(
    ("incoming", "happens", "affected"),
    [
        pytest.param(spread(constraint()), comes(web("x")), {"a1", "a2"}, id="a counted pod affects its domain"),
        pytest.param(spread(constraint()), comes(web("x"), "b1"), None, id="all nodes where the minimum moves"),
        pytest.param(spread(soft()), comes(web("x")), {"a1", "a2"}, id="one that is scored"),
        pytest.param(spread(constraint()), comes(web("x", labels={})), set(), id="another pod"),
        pytest.param(spread(constraint()), comes(web("x", namespace="other")), set(), id="a pod elsewhere"),
        pytest.param(spread(constraint()), comes(web("x", metadata=GONE)), set(), id="a pod that does not count"),
        pytest.param(spread(constraint(labels={})), comes(web("x")), set(), id="of no selector"),
        pytest.param(spread(soft()), lambda c: c.add_node(node("a1", zone="b")), None, id="a node"),
        pytest.param(web(), lambda c: c.add_node(node("a1", zone="b")), set(), id="a node, without constraints"),
        pytest.param(web(), lambda c: c.put(service(WEB)), None, id="a Service, with defaults"),
        pytest.param(spread(soft()), lambda c: c.put(service(WEB)), set(), id="a Service, without"),
    ],
)
def test_which_nodes_a_change_affects(incoming, happens, affected):
    made = cluster(*(node(name, zone=name[0]) for name in ("a1", "a2", "b1")), web("w", on="a2"))
    assert nodes_affected(plugin(made), incoming, made, happens) == affected


def test_pods_with_equal_constraints_and_labels_have_one_signature():
    spread_plugin = plugin(cluster())
    assert spread_plugin.signature(spread(soft(), cpu="1")) == spread_plugin.signature(spread(soft()))
    assert spread_plugin.signature(spread(soft())) != spread_plugin.signature(spread(soft(), labels={}))
    assert spread_plugin.signature(spread(soft())) != spread_plugin.signature(spread(soft(), nodeSelector={"a": "b"}))
    assert spread_plugin.signature(web()) != spread_plugin.signature(owned(ReplicaSet, "apps/v1"))
    unconstrained = plugin(cluster(), defaultingType="List")
    assert unconstrained.signature(web()) == unconstrained.signature(pod("x", namespace="other"))


# -- the referee ------------------------------------------------------------------------

LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["web", "db"]), max_size=2)
NODE_LABELS = st.fixed_dictionaries(
    {}, optional={ZONE: st.sampled_from(["a", "b", "c"]), "rack": st.sampled_from("rs")}
)
CONSTRAINTS = st.lists(
    st.builds(
        constraint,
        st.sampled_from([ZONE, "rack", HOSTNAME]),
        st.integers(1, 3),
        labels=LABELS,
        minDomains=st.integers(1, 4),
    ),
    min_size=1,
    max_size=3,
)


def naive(nodes, running, incoming):
    """Judge each node by the words of the API documentation: skew is the count of a domain less the least count."""
    constraints = incoming.pod.spec.topology_spread_constraints
    keys = [c.topology_key for c in constraints]
    complete = [n for n in nodes if all(key in n.metadata.labels for key in keys)]

    def refuses(c, candidate):
        key, selector = c.topology_key, c.label_selector.match_labels
        if key not in candidate.metadata.labels:
            return MISSING
        counts = {n.metadata.labels[key]: 0 for n in complete}
        for each in running:
            on = next(n for n in complete + nodes if n.metadata.name == each.pod.spec.node_name)
            if on in complete and selector and selector.items() <= each.labels.items():
                counts[on.metadata.labels[key]] += 1
        least = min(counts.values(), default=2**31 - 1) if len(counts) >= c.min_domains else 0
        after = counts.get(candidate.metadata.labels[key], 0) + (selector.items() <= incoming.labels.items())
        return SKEWED if after - least > c.max_skew else None

    return {
        n.metadata.name: verdict
        for n in nodes
        if (verdict := next((v for c in constraints if (v := refuses(c, n))), None)) is not None
    }


@given(st.lists(NODE_LABELS, min_size=1, max_size=6), st.data())
def test_a_naive_referee_gives_the_same_verdicts(labels, data):
    nodes = [node(f"n{i}", labels=each) for i, each in enumerate(labels)]
    places = data.draw(st.lists(st.tuples(st.sampled_from(range(len(nodes))), LABELS), max_size=12))
    running = [pod(f"p{i}", on=f"n{on}", labels=each) for i, (on, each) in enumerate(places)]
    incoming = pod("new", labels=data.draw(LABELS), topologySpreadConstraints=data.draw(CONSTRAINTS))
    assert judged(incoming, *nodes, *running) == naive(nodes, running, incoming)


@given(st.lists(NODE_LABELS, min_size=1, max_size=6), st.data())
def test_a_supposed_pod_counts_as_one_that_is_there(labels, data):
    nodes = [node(f"n{i}", labels=each) for i, each in enumerate(labels)]
    places = data.draw(st.lists(st.tuples(st.sampled_from(range(len(nodes))), LABELS), max_size=12))
    running = [pod(f"p{i}", on=f"n{on}", labels=each) for i, (on, each) in enumerate(places)]
    constraints = [c for c in data.draw(CONSTRAINTS) if c["labelSelector"]["matchLabels"]] or [constraint()]
    incoming = pod("new", labels=data.draw(LABELS), topologySpreadConstraints=constraints)
    on = data.draw(st.sampled_from(range(len(nodes))))
    here = [each for each in running if each.pod.spec.node_name == f"n{on}"]
    leaving = data.draw(st.lists(st.sampled_from(here), unique_by=id)) if here else []
    coming = [pod(f"c{i}", on=f"n{on}", labels=each) for i, each in enumerate(data.draw(st.lists(LABELS, max_size=3)))]

    made = cluster(*nodes, *running)
    spread_plugin, cycle = plugin(made), Cycle(incoming)
    spread_plugin.pre_filter(cycle, made.nodes)
    changes = [*leaving, *coming]
    signs = np.repeat([-1, 1], [len(leaving), len(coming)])
    column = made.nodes.take([on]).hypothetical(np.zeros(len(changes)), changes, signs)
    spread_plugin.with_pods(cycle, column)
    after = [each for each in running if each not in leaving] + coming
    assert spread_plugin.filter(cycle, column).status(0) == judged(incoming, *nodes, *after).get(f"n{on}", SUCCESS)
