"""Reuse gives the answers that asking anew would give, whatever happens to the cluster in between."""

import gzip
import random
from pathlib import Path

import msgspec
import numpy as np
import pytest

from schedctl import KUBERNETES_VERSION
from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.api.workloads import Service, ServiceSpec
from schedctl.cache.pod_info import PodInfo
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.engine.attempts import attempt
from schedctl.engine.batching.signature_cache import SignatureCache
from schedctl.engine.fit_error import message
from schedctl.engine.nominators import Nominator
from schedctl.errors import NotModelled
from schedctl.framework.points import ScorePlugin
from schedctl.framework.profiles import Profile
from schedctl.framework.signatures import AsWritten
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

CORPUS = Path(__file__).parents[2] / "conformance/corpus" / KUBERNETES_VERSION
FAMILIES = [
    "sequence",
    "mixed",
    "spread",
    "default_spread",
    "podaffinity",
    "ports",
    "profiles",
    "images",
    "declared_features",
]


def cases(family: str, number: int) -> list[Case]:
    lines = gzip.decompress((CORPUS / f"{family}.jsonl.gz").read_bytes()).splitlines()[:number]
    return [msgspec.convert(msgspec.json.decode(line)["case"], Case) for line in lines]


def facts(outcome):
    """Everything an attempt decided and says."""
    scoring = outcome.scoring
    return (
        outcome.ties,
        message(outcome),
        outcome.error,
        sorted(outcome.unschedulable_plugins),
        None
        if scoring is None
        else {s.plugin: (s.raw.tolist(), s.normalized.tolist()) for s in scoring.plugins}
        | {"": scoring.totals.tolist()},
    )


def twin(info: PodInfo, number: int) -> PodInfo:
    """A pod like this one, under another name."""
    meta = msgspec.structs.replace(info.pod.metadata, name=f"{info.pod.metadata.name}-{number}", uid=f"twin-{number}")
    return PodInfo(msgspec.structs.replace(info.pod, metadata=meta))


def change(cluster, pending, pick: random.Random, number: int) -> None:
    """Something that happens in clusters."""
    names = sorted(cluster.node_table.row_of)
    running = sorted(cluster.pod_table, key=lambda info: info.key)
    what = pick.randrange(7)
    if what <= 1:
        placed = twin(pick.choice(pending), 1000 + number)
        cluster.add_pod(placed)
        cluster.assume(placed, pick.choice(names))
    elif what == 2 and running:
        cluster.remove_pod(pick.choice(running))
    elif what == 3:
        old = cluster.node_table.objects[cluster.node_table.row_of[pick.choice(names)]]
        cordoned = msgspec.structs.replace(old.spec, unschedulable=not old.spec.unschedulable)
        cluster.add_node(msgspec.structs.replace(old, spec=cordoned))
    elif what == 4 and len(names) > 1:
        cluster.remove_node(pick.choice(names))
    elif what == 5:
        selector = {"app": pick.choice(["web", "db", "api"])}
        cluster.put(Service(metadata=ObjectMeta(name="s", namespace="default"), spec=ServiceSpec(selector=selector)))
    else:
        labels = {"team": pick.choice("abc")}
        cluster.put(Namespace(metadata=ObjectMeta(name="team-a", labels=labels)))


@pytest.mark.parametrize("family", FAMILIES)
def test_equal_pod_gets_the_answer_of_a_full_cycle(family):
    for case in cases(family, 12):
        pick = random.Random(case.id)
        cluster, pods = cluster_of(case)
        scheduler = Scheduler(cluster, configuration(case))
        cache = SignatureCache(cluster)
        served_pods = [pod for pod in pods if scheduler.profile_of(pod) is not None]
        for number in range(14 if served_pods else 0):
            pod = twin(pick.choice(served_pods), number)
            profile = scheduler.profile_of(pod)
            try:
                again = attempt(profile, cluster, pod, Nominator(), cache=cache)
                anew = attempt(profile, cluster, pod, Nominator())
            except NotModelled:
                continue
            assert facts(again) == facts(anew), (case.id, number)
            if pick.random() < 0.3:
                with cluster.fork():
                    change(cluster, served_pods, pick, 100 + number)
                    inside = attempt(profile, cluster, pod, Nominator(), cache=cache)
                    assert facts(inside) == facts(attempt(profile, cluster, pod, Nominator())), (case.id, number)
            change(cluster, served_pods, pick, number)


class Once(ScorePlugin):
    """Fails whenever it is told to."""

    reads_feasible_set = False

    def score(self, cycle, nodes):
        if self.args["broken"]:
            raise KeyError("broken")
        return np.full(len(nodes), 7)

    def signature(self, pod):
        return ()


def test_a_plugin_that_failed_is_asked_again():
    args = {"broken": True}
    plugin = Once(args, None)
    profile = Profile("default-scheduler", {"Once": plugin}, score=(plugin,), weights={"Once": 1})
    made = cluster(node("a"), node("b"))
    cache = SignatureCache(made)
    assert "broken" in attempt(profile, made, pod("p"), Nominator(), cache=cache).error
    assert "broken" in attempt(profile, made, pod("q"), Nominator(), cache=cache).error
    args["broken"] = False
    assert attempt(profile, made, pod("r"), Nominator(), cache=cache).scoring.totals.tolist() == [7, 7]


class Fussy(Once):
    """Reads the names of pods whose priority is above 0."""

    def signature(self, pod):
        self.args["asked"].append(pod.pod.metadata.name)
        return (pod.pod.metadata.name,) if pod.priority else AsWritten((0,))


def test_a_signature_that_rests_on_the_template_is_asked_for_once():
    asked = []
    plugin = Fussy({"broken": False, "asked": asked}, None)
    profile = Profile("default-scheduler", {"Fussy": plugin}, score=(plugin,), weights={"Fussy": 1})
    made = cluster(node("a"), node("b"))
    cache = SignatureCache(made)
    plain = [attempt(profile, made, pod(name), Nominator(), cache=cache).equivalence_class for name in "pqr"]
    assert asked == ["p"]
    assert plain[0] is plain[1] is plain[2]
    own = [attempt(profile, made, pod(name, priority=1), Nominator(), cache=cache).equivalence_class for name in "st"]
    assert set(asked) == {"p", "s", "t"}
    assert own[0] is not own[1]


def test_a_signature_of_its_own_is_asked_for_anew_over_all_nodes_after_a_placement():
    asked = []
    plugin = Fussy({"broken": False, "asked": asked}, None)
    profile = Profile("default-scheduler", {"Fussy": plugin}, score=(plugin,), weights={"Fussy": 1})
    made = cluster(*map(node, "abc"))
    whole = SignatureCache(made)
    within = whole.within(made.nodes_named(["a", "b"]))
    first, second = (pod(name, priority=1) for name in "st")
    attempt(profile, made, first, Nominator(), cache=within, among=made.nodes_named(["a", "b"]))
    found = [attempt(profile, made, each, Nominator(), cache=whole).equivalence_class for each in (first, second)]
    assert found[0] is not found[1]
    assert asked.count("s") == 3, "once to find out who is to be asked, then once for each memory"
