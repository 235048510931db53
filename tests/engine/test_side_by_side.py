"""Fast answers are the slow ones: over random sequences of changes, each is held against one worked out anew.

`conformance/side_by_side.py` goes on for as long as one likes, over the worlds of all families.
"""

import gzip
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl import KUBERNETES_VERSION
from schedctl.cache.reads import Reads
from schedctl.config import loading
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.engine.batching import reading
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from schedctl.testing import sandboxes
from schedctl.testing.builders import HOSTNAME, ZONE, cluster, node, pod
from schedctl.testing.sandboxes import Sandbox
from schedctl.testing.sequences import AnswersDiffer, ChangeSequence, run_sequence, shorten
from schedctl.testing.side_by_side import differences, picture, picture_differences
from tests.hidden_reads import hide_reads

CORPUS = Path(__file__).parents[2] / "conformance/corpus" / KUBERNETES_VERSION
FAMILIES = sorted(path.name.removesuffix(".jsonl.gz") for path in CORPUS.glob("*.jsonl.gz"))
READERS = [
    "NodeResourcesFit",
    "NodeResourcesBalancedAllocation",
    "NodePorts",
    "NodeAffinity",
    "TaintToleration",
    "NodeUnschedulable",
    "InterPodAffinity",
    "PodTopologySpread",
]
SIGNERS = ["NodePorts", "NodeAffinity", "TaintToleration", "ImageLocality", "InterPodAffinity", "PodTopologySpread"]


NO_DEFAULTS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List}
"""


def crowd(seed, steps):
    return ChangeSequence(f"crowd {seed}", lambda: sandboxes.draw_sandbox(seed), steps)


def pairs():
    """A world of pods that are alike but for one thing, each of which a plugin of its own reads."""
    image = "registry.example/web:v1"
    nodes = [
        node("a", zone="a", pods="9", images=[{"names": [image], "sizeBytes": 900 << 20}]),
        node("b", zone="a", pods="9", taints=[{"key": "spot", "effect": "NoSchedule"}]),
        node("c", zone="b", pods="9", taints=[{"key": "spot", "effect": "PreferNoSchedule"}]),
    ]
    about = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
    spread = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **about}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [about]}}
    alike = {"cpu": "300m", "memory": "64Mi", "labels": {"app": "web"}, "image": "registry.example/other:v1"}
    pods = [
        pod("plain", **alike),
        pod("port", **alike, ports=[{"containerPort": 80, "hostPort": 80}]),
        pod("zone", **alike, nodeSelector={ZONE: "a"}),
        pod("spot", **alike, tolerations=[{"key": "spot", "operator": "Exists"}]),
        pod("spread", **alike, topologySpreadConstraints=[spread]),
        pod("apart", **alike, affinity=anti),
        pod("image", **{**alike, "image": image}),
        pod("memory", **{**alike, "memory": "4Gi"}),
    ]
    return Sandbox(cluster(*nodes), pods, lambda over: Scheduler(over, loading.load(NO_DEFAULTS)))


def run_pairs():
    for number in range(24):
        run_sequence(ChangeSequence(f"pairs {number}", pairs, range(30)))


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 1 << 20), max_size=30))
def test_cached_answers_equal_fresh_ones_after_random_changes(seed, steps):
    run_sequence(crowd(seed, steps))


@pytest.mark.parametrize("family", FAMILIES)
def test_cached_answers_equal_fresh_ones_in_every_family(family):
    lines = gzip.decompress((CORPUS / f"{family}.jsonl.gz").read_bytes()).splitlines()
    case = msgspec.convert(msgspec.json.decode(lines[0])["case"], Case)

    def sandbox():
        made, pods = cluster_of(case)
        return Sandbox(made, pods, lambda over: Scheduler(over, configuration(case)))

    run_sequence(ChangeSequence(case.id, sandbox, range(6)))


@pytest.mark.parametrize("plugin", READERS)
def test_plugin_that_hides_what_it_reads_is_detected(plugin, monkeypatch):
    hide_reads(plugin, monkeypatch)
    with pytest.raises(AnswersDiffer):
        run_pairs()


@pytest.mark.parametrize("plugin", SIGNERS)
def test_plugin_with_a_wrong_signature_is_detected(plugin, monkeypatch):
    monkeypatch.setattr(IN_TREE[plugin], "signature", lambda plugin, pod: ())
    with pytest.raises(AnswersDiffer):
        run_pairs()


@pytest.mark.parametrize("part", ["description", "occupancy"])
def test_read_that_is_not_taken_down_is_detected(part, monkeypatch):
    deaf = property(lambda reads: False, lambda reads, value: None)
    monkeypatch.setattr(reading, "Reads", type("Deaf", (Reads,), {part: deaf}))
    with pytest.raises(AnswersDiffer):
        run_pairs()


def test_shortened_sequence_reproduces_the_difference(monkeypatch):
    hide_reads("TaintToleration", monkeypatch)
    with pytest.raises(AnswersDiffer) as found:
        run_pairs()
    short = shorten(found.value)
    assert len(short.sequence.steps) <= len(found.value.sequence.steps)
    with pytest.raises(AnswersDiffer) as again:
        run_sequence(short.sequence)
    assert str(again.value) == str(short)
    account = str(short)
    assert account.startswith(f"{short.sequence.name}, steps {','.join(map(str, short.sequence.steps))}\n")
    assert "taints" in account
    assert "reused" in account


def test_exception_is_reported_like_a_difference(monkeypatch):
    def fail(plugin, pod):
        raise MemoryError("too much")

    monkeypatch.setattr(IN_TREE["NodePorts"], "signature", fail)
    with pytest.raises(AnswersDiffer, match="too much"):
        run_pairs()


def test_answers_for_different_pods_differ():
    scheduler = Scheduler(cluster(node("a", cpu="2"), node("b", cpu="1")))
    small, big = scheduler.attempt(pod("p", cpu="1")), scheduler.attempt(pod("p", cpu="2"))
    lines = {str(each) for each in differences(big, small)}
    assert "feasible: b: False reused, True asked again" in lines
    assert "NodeResourcesFit, raw score of a: 49 reused, 74 asked again" in lines
    assert not list(differences(small, scheduler.attempt(pod("p", cpu="1"))))


def test_rebuilt_sandbox_equals_the_original():
    sandbox = sandboxes.draw_sandbox(3)
    assert not list(picture_differences(picture(sandbox.rebuild().cluster), picture(sandbox.cluster)))
