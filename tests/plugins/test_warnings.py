"""What plugins find in the spec of a pod that was probably not meant, whether or not the pod finds a node."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.gaps import FORBIDDEN, Gap
from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.cache.pod_info import PodInfo
from schedctl.explain.remarks import warnings
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import HOSTNAME, ZONE, cluster, node, pod

WEB = {"app": "web"}
ZONES = [node(f"{zone}{i}", zone=zone) for zone in "abc" for i in (1, 2)]
DEDICATED = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
TAINTED = node("d1", zone="d", taints=[DEDICATED])


def constraint(labels=None, key=ZONE, **more):
    selector = {} if labels is None else {"labelSelector": {"matchLabels": labels}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", **selector, **more}


def spread(*constraints, labels=WEB):
    return pod(labels=labels, topologySpreadConstraints=list(constraints))


def term(labels=None, key=ZONE, **more):
    selector = {} if labels is None else {"labelSelector": {"matchLabels": labels}}
    return {"topologyKey": key, **selector, **more}


def required(kind, *terms, labels=WEB, **spec):
    affinity = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}
    return pod(labels=labels, affinity=affinity, **spec)


def preferred(kind, *terms, labels=WEB):
    weighted = [{"weight": 1, "podAffinityTerm": each} for each in terms]
    return pod(labels=labels, affinity={kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}})


def texts(subject, *objects, replicas=1):
    return [each.text for each in warnings(Scheduler(cluster(*objects)), subject, replicas)]


SPREADS = {
    "a constraint that counts the pod is fine": (spread(constraint(WEB)), []),
    "a misspelt value, with the label it stands beside": (
        spread(constraint({"app": "webb"})),
        [f"its topology spread over {ZONE} does not count the pod itself: selector app=webb, the pod has app=web"],
    ),
    "a misspelt key, with the label that was meant": (
        spread(constraint({"ap": "web"})),
        [f"its topology spread over {ZONE} does not count the pod itself: selector ap=web, the pod has app=web"],
    ),
    "the same name under another key, with the label that was meant": (
        spread(constraint({"app.kubernetes.io/name": "web"})),
        [
            f"its topology spread over {ZONE} does not count the pod itself:"
            " selector app.kubernetes.io/name=web, the pod has app=web"
        ],
    ),
    "a label that the pod lacks": (
        spread(constraint({"app": "web", "tier": "front"})),
        [
            f"its topology spread over {ZONE} does not count the pod itself:"
            " selector tier=front, the pod has no label tier"
        ],
    ),
    "no selector at all": (
        spread(constraint()),
        [f"its topology spread over {ZONE} has no effect: it has no labelSelector, which counts no pod"],
    ),
    "an empty selector, which counts no pod here": (
        spread(constraint({})),
        [f"its topology spread over {ZONE} has no effect: its labelSelector is empty, which counts no running pod"],
    ),
    "an empty selector is none where matchLabelKeys add to it": (
        spread(constraint({}, matchLabelKeys=["app"])),
        [],
    ),
    "a constraint that only prefers": (
        spread(constraint({"app": "webb"}, whenUnsatisfiable="ScheduleAnyway")),
        [f"its topology spread over {ZONE} does not count the pod itself: selector app=webb, the pod has app=web"],
    ),
    "a pod without constraints has no say in the defaults of the cluster": (pod(labels=WEB), []),
    "a selector that cannot be parsed is kube-scheduler's to reject": (
        spread(constraint(labelSelector={"matchExpressions": [{"key": "app", "operator": "Near"}]})),
        [],
    ),
}


@pytest.mark.parametrize(("subject", "expected"), SPREADS.values(), ids=SPREADS)
def test_a_spread_constraint_that_does_not_count_its_own_pod(subject, expected):
    assert texts(subject, *ZONES) == expected


KEEPS_NOTHING = f"its required pod anti-affinity over {ZONE} keeps nothing apart"
TERMS = {
    "anti-affinity of replicas to each other is fine": (required("podAntiAffinity", term(WEB)), [], []),
    "a misspelt value": (
        required("podAntiAffinity", term({"app": "webb"})),
        [],
        [f"{KEEPS_NOTHING}: selector app=webb, the pod has app=web"],
    ),
    "anti-affinity to other pods that run is meant": (
        required("podAntiAffinity", term({"app": "db"})),
        [pod("db", on="a1", labels={"app": "db"})],
        [],
    ),
    "anti-affinity to other pods that are pending is meant": (
        required("podAntiAffinity", term({"app": "db"})),
        [pod("db", labels={"app": "db"})],
        [],
    ),
    "anti-affinity to pods that are in another namespace alone": (
        required("podAntiAffinity", term({"app": "db"})),
        [pod("db", namespace="data", on="a1", labels={"app": "db"})],
        [f"{KEEPS_NOTHING}: no pod matches, this one included: selector app=db, the pod has app=web"],
    ),
    "anti-affinity to its own labels in another namespace": (
        required("podAntiAffinity", term(WEB, namespaces=["shpo"])),
        [],
        [f"{KEEPS_NOTHING}: no pod matches app=web in namespace shpo, and this pod is in default"],
    ),
    "anti-affinity in namespaces that have a label": (
        required("podAntiAffinity", term({"app": "db"}, namespaceSelector={"matchLabels": {"team": "data"}})),
        [
            Namespace(metadata=ObjectMeta(name="data", labels={"team": "data"})),
            pod("db", namespace="data", on="a1", labels={"app": "db"}),
        ],
        [],
    ),
    "anti-affinity without a selector": (
        required("podAntiAffinity", term()),
        [],
        [f"{KEEPS_NOTHING}: it has no labelSelector, which matches no pod"],
    ),
    "an empty selector matches every pod": (required("podAntiAffinity", term({})), [], []),
    "preferred anti-affinity": (
        preferred("podAntiAffinity", term({"app": "webb"})),
        [],
        [f"its preferred pod anti-affinity over {ZONE} keeps nothing apart: selector app=webb, the pod has app=web"],
    ),
    "affinity to pods that may come later is meant": (required("podAffinity", term({"app": "cache"})), [], []),
    "affinity that misses its own pod by a letter": (
        preferred("podAffinity", term({"app": "webb"})),
        [],
        [f"its preferred pod affinity over {ZONE} has no effect: selector app=webb, the pod has app=web"],
    ),
    "affinity without a selector": (
        required("podAffinity", term()),
        [],
        [f"its required pod affinity over {ZONE} can never be met: it has no labelSelector, which matches no pod"],
    ),
    "a selector that cannot be parsed is kube-scheduler's to reject": (
        required("podAntiAffinity", term(labelSelector={"matchExpressions": [{"key": "app", "operator": "Near"}]})),
        [],
        [],
    ),
}


@pytest.mark.parametrize(("subject", "others", "expected"), TERMS.values(), ids=TERMS)
def test_an_affinity_term_that_matches_no_pod(subject, others, expected):
    assert texts(subject, *ZONES, *others) == expected


UNKNOWN_KEYS = {
    "required anti-affinity over a label of no node": (
        required("podAntiAffinity", term(WEB, "topology.kubernetes.io/zones")),
        [
            "its required pod anti-affinity over topology.kubernetes.io/zones keeps nothing apart:"
            f' no node has this label (did you mean "{ZONE}"?)'
        ],
    ),
    "preferred anti-affinity over a label of no node": (
        preferred("podAntiAffinity", term(WEB, "rack")),
        ["its preferred pod anti-affinity over rack keeps nothing apart: no node has this label"],
    ),
    "preferred affinity over a label of no node": (
        preferred("podAffinity", term(WEB, "rack")),
        ["its preferred pod affinity over rack has no effect: no node has this label"],
    ),
    "required affinity over it is the scheduler's to reject": (required("podAffinity", term(WEB, "rack")), []),
}


@pytest.mark.parametrize(("subject", "expected"), UNKNOWN_KEYS.values(), ids=UNKNOWN_KEYS)
def test_a_topology_key_that_no_node_has(subject, expected):
    assert texts(subject, *ZONES, replicas=3) == expected


def test_a_topology_key_that_one_node_has_is_fine():
    assert texts(required("podAntiAffinity", term(WEB, "rack")), *ZONES, node("r1", labels={"rack": "1"})) == []


def test_namespaces_that_could_not_be_listed_leave_it_open_what_a_namespace_selector_matches():
    made = cluster(*ZONES)
    made.lack([Gap("Namespace", FORBIDDEN)])
    selected = term({"app": "db"}, namespaceSelector={"matchLabels": {"team": "data"}})
    assert warnings(Scheduler(made), required("podAntiAffinity", selected), 1) == []


APART = required("podAntiAffinity", term(WEB))
APART_BY_NODE = required("podAntiAffinity", term(WEB, HOSTNAME))
REPLICAS = {
    "one replica in each zone, and no zone too few": (APART, ZONES, 3, []),
    "one replica in each zone, and two zones too few": (
        APART,
        ZONES,
        5,
        [
            f"at most 3 of 5 replicas can run: required pod anti-affinity over {ZONE} allows one in each of 3 zones;"
            " 2 zones are missing"
        ],
    ),
    "zones whose nodes the pod does not tolerate are not for it": (
        APART,
        [*ZONES, TAINTED],
        4,
        [
            f"at most 3 of 4 replicas can run: required pod anti-affinity over {ZONE} allows one in each of the 3 of"
            " 4 zones that the pod may use; 1 zone is missing"
        ],
    ),
    "nor are cordoned nodes": (
        APART_BY_NODE,
        [node("a"), node("b", unschedulable=True)],
        2,
        [
            f"at most 1 of 2 replicas can run: required pod anti-affinity over {HOSTNAME} allows one on each of the 1"
            " of 2 nodes that the pod may use; 1 node is missing"
        ],
    ),
    "but a replica that runs on a cordoned node stays there": (
        APART_BY_NODE,
        [node("a"), node("b", unschedulable=True), pod("web-1", on="b", labels=WEB)],
        2,
        [],
    ),
    "nodes outside every zone take any number": (APART, [*ZONES, node("bare")], 5, []),
    "anti-affinity to others does not limit replicas": (
        required("podAntiAffinity", term({"app": "db"})),
        [*ZONES, pod("db", on="a1", labels={"app": "db"})],
        5,
        [],
    ),
    "preferred anti-affinity does not limit replicas": (preferred("podAntiAffinity", term(WEB)), ZONES, 5, []),
    "of several terms the one that allows fewest": (
        required("podAntiAffinity", term(WEB, HOSTNAME), term(WEB)),
        ZONES,
        4,
        [
            f"at most 3 of 4 replicas can run: required pod anti-affinity over {ZONE} allows one in each of 3 zones;"
            " 1 zone is missing"
        ],
    ),
    "a spread over enough zones has room for any number": (spread(constraint(WEB)), ZONES, 9, []),
    "a spread over fewer zones than minDomains": (
        spread(constraint(WEB, minDomains=4, maxSkew=2)),
        ZONES,
        7,
        [
            f"at most 6 of 7 replicas can run: its topology spread over {ZONE} (maxSkew 2) allows 2 in each of 3 zones"
            " while there are fewer than minDomains 4; 1 zone is missing"
        ],
    ),
    "a spread that counts a zone that the pod may not use": (
        spread(constraint(WEB)),
        [*ZONES, TAINTED],
        4,
        [
            f"at most 3 of 4 replicas can run: its topology spread over {ZONE} (maxSkew 1) allows 1 in each of the 3"
            " of 4 zones that the pod may use, because d also counts and stays at 0"
        ],
    ),
    "unless it leaves out nodes with such taints": (
        spread(constraint(WEB, nodeTaintsPolicy="Honor")),
        [*ZONES, TAINTED],
        4,
        [],
    ),
    "pods that are in that zone already leave more room in the others": (
        spread(constraint(WEB)),
        [*ZONES, TAINTED, pod("web-1", on="d1", labels=WEB)],
        7,
        [],
    ),
    "a spread that only prefers limits nothing": (
        spread(constraint(WEB, whenUnsatisfiable="ScheduleAnyway")),
        [*ZONES, TAINTED],
        9,
        [],
    ),
}


@pytest.mark.parametrize(("subject", "objects", "replicas", "expected"), REPLICAS.values(), ids=REPLICAS)
def test_more_replicas_than_anti_affinity_or_spreading_allows(subject, objects, replicas, expected):
    assert texts(subject, *objects, replicas=replicas) == expected


def placed(subject, objects, replicas):
    """How many of so many equal pods find a node, one after another."""
    scheduler = Scheduler(cluster(*objects))
    number = 0
    for i in range(replicas):
        metadata = msgspec.structs.replace(subject.pod.metadata, name=f"new-{i}")
        outcome = scheduler.attempt(PodInfo(msgspec.structs.replace(subject.pod, metadata=metadata)))
        if outcome.chosen and scheduler.place(outcome).status.successful:
            number += 1
    return number


LIMITED = {sentence: case for sentence, case in REPLICAS.items() if case[3]}


@pytest.mark.parametrize(("subject", "objects", "replicas", "expected"), LIMITED.values(), ids=LIMITED)
def test_as_many_are_placed_as_the_warning_says(subject, objects, replicas, expected):
    number = placed(subject, objects, replicas)
    assert expected[0].startswith(f"at most {number} of {replicas} ")
