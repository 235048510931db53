"""Broken pods on one cluster: the cause and a fix stand on the first screen, and the fix works."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from schedctl.cli.running import run

HERE = Path(__file__).parent
CLUSTER = HERE / "cluster"
COLUMNS, ROWS = 80, 22


class Broken(NamedTuple):
    """A pod that does not run, and what the person on call must find about it on the first screen.

    Attributes:
        name: the manifest's file in the folder `pods`, and the pod's.
        cause: words that say what is wrong.
        fix: words that say what would help.
        repair: what to replace in the manifest, and by what, "" where the fix is elsewhere.
        state: what to replace in the files of the cluster, and by what, where the fix is there.
    """

    name: str
    cause: tuple[str, ...]
    fix: tuple[str, ...]
    repair: tuple[str, str] = ("", "")
    state: tuple[str, str] = ("", "")


def row(sentence: str, *fields, waits_for: str = "", **options):
    marks = [pytest.mark.xfail(strict=True, reason=waits_for)] if waits_for else []
    return pytest.param(Broken(*fields, **options), id=sentence, marks=marks)


PODS = [
    # labels of nodes
    row(
        "a label value has two letters swapped",
        "label-value",
        ("9 nodes: node(s) didn't match Pod's node affinity/selector", "disktype=sdd"),
        ('did you mean "ssd"?',),
        ("sdd", "ssd"),
    ),
    row(
        "a label key has a dash too many",
        "label-key",
        ('label "disk-type" is on no node',),
        ('did you mean "disktype"?',),
        ("disk-type: ssd", "disktype: ssd"),
    ),
    row(
        "an architecture is misspelt",
        "arch",
        ("kubernetes.io/arch=amd46",),
        ('did you mean "amd64"?',),
        ("amd46", "amd64"),
    ),
    row(
        "two labels are never on one node",
        "label-of-two-pools",
        ("pool=batch", "disktype=ssd"),
        ("would fit on 3 nodes if its nodeSelector does not require disktype=ssd",),
        (", disktype: ssd", ""),
    ),
    row(
        "the zone of a node affinity does not exist",
        "zone-that-is-none",
        ("topology.kubernetes.io/zone=eu-1d",),
        ('did you mean "eu-1a", "eu-1b" or "eu-1c"?',),
        ("eu-1d", "eu-1c"),
    ),
    row(
        "a node affinity asks for the old name of the zone label",
        "beta-label",
        ('label "failure-domain.beta.kubernetes.io/zone" is on no node',),
        ('did you mean "topology.kubernetes.io/zone"?',),
        ("failure-domain.beta", "topology"),
    ),
    row(
        "the host name it asks for is no node's",
        "hostname-that-is-none",
        ("no node has kubernetes.io/hostname=std-a-9",),
        ('did you mean "std-a-1", "std-a-2" or "std-a-3"?); with "std-a-1"',),
        ("std-a-9", "std-a-1"),
    ),
    row(
        "the one node it asks for is cordoned",
        "cordoned",
        ("std-c-4 cordoned",),
        ("would fit if std-c-4 is uncordoned kubectl uncordon std-c-4",),
        state=(
            "spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}",
            "",
        ),
    ),
    # taints and tolerations
    row(
        "no toleration at all",
        "toleration-missing",
        ("bat-a-1, bat-b-1, bat-c-1 taint dedicated=batch:NoSchedule",),
        ("would fit on 3 nodes if it tolerates dedicated=batch:NoSchedule",),
        ("{pool: batch}", "{pool: batch}\n  tolerations: [{key: dedicated, value: batch, effect: NoSchedule}]"),
    ),
    row(
        "the value of a toleration is the plural",
        "toleration-value",
        ("taint dedicated=batch:NoSchedule", 'toleration dedicated=batches:NoSchedule: value "batches", not "batch"'),
        ('has value: "batch"',),
        ("batches", "batch"),
    ),
    row(
        "a toleration has the effect of another taint",
        "toleration-effect",
        (
            "taint dedicated=batch:NoSchedule",
            'toleration dedicated=batch:NoExecute: effect "NoExecute", not "NoSchedule"',
        ),
        ('has effect: "NoSchedule"',),
        ("NoExecute", "NoSchedule"),
    ),
    row(
        "the key of a toleration lacks its last letter",
        "toleration-key",
        ("taint dedicated=batch:NoSchedule", 'toleration dedicate=batch:NoSchedule: key "dedicate", not "dedicated"'),
        ('has key: "dedicated"',),
        ("dedicate,", "dedicated,"),
    ),
    row(
        "the key of a toleration lacks .com",
        "toleration-exists-with-prefix",
        ("taint nvidia.com/gpu=present:NoSchedule", 'key "nvidia/gpu", not "nvidia.com/gpu"'),
        ('has key: "nvidia.com/gpu"',),
        ("nvidia/gpu", "nvidia.com/gpu"),
    ),
    row(
        "a label and the value of a toleration are both wrong",
        "label-and-toleration",
        ("no node has pool=bacth", 'value "batches", not "batch"'),
        ("fix: would fit on 3 nodes if it asks for pool=batch and toleration", 'has value: "batch"'),
        (
            "{pool: bacth}\n  tolerations: [{key: dedicated, value: batches",
            "{pool: batch}\n  tolerations: [{key: dedicated, value: batch",
        ),
    ),
    row(
        "two labels and the value of a toleration are wrong, and giving up both labels would do",
        "two-labels-and-toleration",
        ('value "batches", not "batch"',),
        (
            "fix: would fit on 3 nodes if it asks for pool=batch, kubernetes.io/arch=amd64 and toleration",
            'has value: "batch"',
        ),
        (
            "{pool: bacth, kubernetes.io/arch: amd46}\n  tolerations: [{key: dedicated, value: batches",
            "{pool: batch, kubernetes.io/arch: amd64}\n  tolerations: [{key: dedicated, value: batch",
        ),
    ),
    row(
        "the node that it asks for by name has another number",
        "node-name-that-is-none",
        ('node "std-a-9" is not in the cluster',),
        ('did you mean "std-a-1", "std-a-2" or "std-a-3"?); with "std-a-1"',),
        ("std-a-9", "std-a-1"),
    ),
    row(
        "without the taint of a node the pod would run, and so would everybody's on its GPUs",
        "taint-removed",
        ("gpu-a-1, gpu-b-1 taint nvidia.com/gpu=present:NoSchedule",),
        ("fix: would fit on 2 nodes if it tolerates nvidia.com/gpu=present:NoSchedule",),
        state=(
            "gpu.8xlarge, pool: gpu}\nspec: {taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}",
            "gpu.8xlarge, pool: gpu}",
        ),
    ),
    row(
        "no node has the label yet",
        "label-on-no-node",
        ('label "licence" is on no node',),
        (
            "its nodeSelector does not require licence=oracle",
            "or: would fit if std-a-1 has label licence=oracle kubectl label node std-a-1 licence=oracle",
        ),
        state=("pool: standard, disktype: ssd}", "pool: standard, disktype: ssd, licence: oracle}"),
    ),
    row(
        "the node it asks for is not ready",
        "node-not-ready",
        ("edge-1 taint node.kubernetes.io/not-ready:NoSchedule",),
        ("would fit if edge-1 becomes Ready kubectl describe node edge-1",),
        ("spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}\n", ""),
    ),
    # requests
    row(
        "cpu 100 was to be 100m",
        "cpu-100",
        ("9 nodes: Insufficient cpu", "cpu: 100 is 100 cores; did you mean 100m?"),
        ("would fit on 9 nodes if container main has cpu: 100m",),
        ("cpu: 100,", "cpu: 100m,"),
    ),
    row(
        "memory is larger than any node, even an empty one",
        "memory-1000gi",
        ("Insufficient memory", "larger than any node: 1000Gi memory requested, largest allocatable 120Gi"),
        ("would fit on 9 nodes if container main has memory: 1000Mi", "if memory <= 14208Mi"),
        ("1000Gi", "14208Mi"),
    ),
    row(
        "1Gb is no quantity",
        "memory-1gb",
        ("memory-1gb.yaml:6:", "spec.containers[0].resources.requests.memory", 'got the text "1Gb"'),
        ('did you mean "1G"?',),
        ("1Gb", "1G"),
    ),
    row(
        "a whole machine's cpu is more than the machine leaves to pods",
        "cpu-too-much-for-standard",
        ("9 nodes: Insufficient cpu", "3820m free of 3920m"),
        ("would fit on std-a-3 if cpu <= 3820m",),
        ('cpu: "4"', "cpu: 3820m"),
    ),
    row(
        "an init container asks for more than the containers",
        "init-container",
        ("Insufficient cpu", "cpu 5 = init container migrate 5"),
        ("would fit on std-a-3 if cpu <= 3820m",),
        ('cpu: "5"', "cpu: 3820m"),
    ),
    row(
        "a sidecar's request is added to the container's",
        "sidecar",
        ("Insufficient cpu", "cpu 4100m = containers 200m + sidecar proxy 3900m"),
        ("would fit on std-a-3 if cpu of main + proxy together <= 3820m",),
        ("cpu: 3900m", "cpu: 3620m"),
    ),
    row(
        "limits became requests",
        "limits-only",
        ("Insufficient cpu", " limit"),
        ("would fit on std-a-3 if cpu <= 3820m",),
        ('cpu: "8"', "cpu: 3820m"),
    ),
    row(
        "a runtime class adds its overhead",
        "overhead",
        ("Insufficient cpu", "cpu 4000m = containers 3500m + overhead of RuntimeClass sandboxed 500m"),
        ("would fit on std-a-3 if cpu <= 3820m",),
        ("cpu: 3500m", "cpu: 3320m"),
    ),
    # GPUs
    row(
        "more GPUs than a node has free",
        "gpu-free",
        ("nvidia.com/gpu: 3 requested, 0 to 2 free", "gpu-a-1, gpu-b-1 2 free of 4"),
        ("would fit on 2 nodes if nvidia.com/gpu <= 2",),
        ('nvidia.com/gpu: "3"', 'nvidia.com/gpu: "2"'),
    ),
    row(
        "it asks for a label that says what a machine is, and is called as the resource",
        "gpu-label",
        ('label "gpu" is on no node',),
        ("fix: would fit on 9 nodes if its nodeSelector does not require gpu=true",),
        ('{gpu: "true"}', "{}"),
    ),
    row(
        "a taint, the cpu and the memory are in the way, of a node with room as well as of full ones",
        "three-causes",
        ("taint dedicated=batch:NoSchedule",),
        ("fix: would fit on", "if it tolerates dedicated=batch:NoSchedule and cpu <=", "memory <="),
    ),
    row(
        "no node has huge pages",
        "huge-pages",
        ("hugepages-2Mi: 64Mi requested, 0 free",),
        ("fix: would fit on 9 nodes if it does not request hugepages-2Mi", "no node offers hugepages-2Mi"),
    ),
    row(
        "more GPUs than any node has",
        "gpu-too-many",
        ("larger than any node: 8 nvidia.com/gpu requested, largest allocatable 4 (gpu-a-1)",),
        ("would fit on 2 nodes if nvidia.com/gpu <= 2",),
        ('nvidia.com/gpu: "8"', 'nvidia.com/gpu: "2"'),
    ),
    row(
        "the resource has an s too many",
        "gpu-name",
        ("no node offers nvidia.com/gpus",),
        ('did you mean "nvidia.com/gpu"?', "would be placed on gpu-a-1"),
        ("nvidia.com/gpus", "nvidia.com/gpu"),
    ),
    row(
        "a GPU without the toleration for it",
        "gpu-toleration",
        ("gpu-a-1, gpu-b-1 taint nvidia.com/gpu=present:NoSchedule",),
        ("would fit on 2 nodes if it tolerates nvidia.com/gpu=present:NoSchedule",),
        ("spec:", "spec:\n  tolerations: [{key: nvidia.com/gpu, operator: Exists}]"),
    ),
    row(
        "a GPU is requested without a limit",
        "gpu-limit",
        ("gpu-limit.yaml:7:", "nvidia.com/gpu cannot be overcommitted", "got none"),
        ('hint: write nvidia.com/gpu: "1" under resources.limits',),
        ('resources: {requests: {cpu: "1", ', 'resources: {requests: {cpu: "1"}, limits: {'),
    ),
    # volumes
    row(
        "the claim's name lacks its last letter",
        "claim-missing",
        ('persistentvolumeclaim "archiv" not found',),
        ('did you mean "archive"?', "would be placed on std-c-1"),
        ("claimName: archiv}", "claimName: archive}"),
    ),
    row(
        "the claim is in another namespace",
        "claim-in-another-namespace",
        ('persistentvolumeclaim "archive" not found',),
        ('claim "archive" is not in namespace search, but in orders; a pod mounts only claims of its own namespace',),
    ),
    row(
        "the volume is in another zone than the node selector",
        "claim-in-another-zone",
        ("3 nodes: node(s) didn't match PersistentVolume's node affinity", "zone=eu-1a"),
        ("its nodeSelector does not require topology.kubernetes.io/zone=eu-1a",),
        ("nodeSelector: {topology.kubernetes.io/zone: eu-1a}", "nodeSelector: {}"),
    ),
    row(
        "the claim's storage class is misspelt",
        "claim-class",
        ("claim uploads is not bound yet: its class fsat does not exist",),
        ('did you mean "fast"?', "if claim uploads is recreated with class fast"),
        state=("fsat", "fast"),
    ),
    row(
        "the claim is being deleted",
        "claim-deleting",
        ('persistentvolumeclaim "drafts" is being deleted', "finalizer example.com/backup keeps it"),
        ("create claim drafts again once it is gone", "kubectl describe pvc drafts -n orders"),
        state=(', deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [example.com/backup]', ""),
    ),
    # pods among each other
    row(
        "a spread constraint counts pods of another label",
        "spread-selector",
        ("does not count the pod itself: selector app=spread-selektor",),
        ("the pod has app=spread-selector",),
    ),
    row(
        "a topology key has an s too many",
        "spread-key",
        ('topology key "topology.kubernetes.io/zones" is on no node',),
        ('did you mean "topology.kubernetes.io/zone"?',),
        ("kubernetes.io/zones", "kubernetes.io/zone"),
    ),
    row(
        "a topology key for racks, where there are none",
        "spread-rack",
        ('topology key "topology.kubernetes.io/rack" is on no node',),
        ('"topology.kubernetes.io/zone"',),
        ("kubernetes.io/rack", "kubernetes.io/zone"),
    ),
    row(
        "the zones with GPUs have one of its like each, and the third zone has no GPUs",
        "spread-skew",
        ("2 nodes: node(s) didn't match pod topology spread constraints",),
        ("maxSkew over topology.kubernetes.io/zone is 2 then: pod batch/spread-skew has skew 2 over",),
        ("maxSkew: 1", "maxSkew: 2"),
    ),
    row(
        "minDomains asks for four zones, and there are three",
        "spread-min-domains",
        ("only 3 of the 4 zones that minDomains asks for, so each may hold at most 1 (maxSkew)",),
        (
            "would fit on 9 nodes if minDomains over topology.kubernetes.io/zone is 3",
            "would fit if a node like std-a-1 is added in a new zone",
        ),
        ("minDomains: 4", "minDomains: 3"),
    ),
    row(
        "the spread counts nodes that are reserved for others",
        "spread-counts-reserved",
        ("spread over kubernetes.io/hostname: maxSkew 1",),
        ("fix: would fit on 9 nodes if the spread over kubernetes.io/hostname has `nodeTaintsPolicy: Honor`",),
        ("maxSkew: 1", "maxSkew: 1\n      nodeTaintsPolicy: Honor"),
    ),
    row(
        "each zone has a pod that it keeps away from",
        "anti-affinity-by-zone",
        ("node(s) didn't match pod anti-affinity rules", "has orders/api-1-x"),
        (
            "would fit on 9 nodes if its pod anti-affinity over topology.kubernetes.io/zone is preferred, not required",
            "then: a pod like orders/api-1-x would find",
        ),
        ("\n        - {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: api}}}", " []"),
    ),
    row(
        "the pod it wants to be near is in another namespace",
        "affinity-namespace",
        ("pods app=redis in orders: none there, 1 in caches",),
        ("would fit on 3 nodes if its pod affinity to app=redis has `namespaces: [caches]`",),
        ("{topologyKey:", "{namespaces: [caches], topologyKey:"),
    ),
    row(
        "a label of the pod it wants to be near is misspelt",
        "affinity-label",
        ("no running pod has app=apii",),
        ('did you mean "api"?',),
        ("apii", "api"),
    ),
    row(
        "the label of the pod it wants to be near is called otherwise",
        "affinity-label-key",
        ("pods name=redis in caches: none is running",),
        ('no running pod has name=redis, nor any label "name" (did you mean "app"?)', "would be placed on std-b"),
        ("{name: redis}", "{app: redis}"),
    ),
    row(
        "the port of the host is taken on every node",
        "host-port",
        ("didn't have free ports", "443/TCP is used by kube-system/ingress-a1"),
        ("would fit on 9 nodes if it does not request host port 443/TCP",),
        (", hostPort: 443", ""),
    ),
    # before and beside the filters
    row(
        "its priority class does not exist",
        "priority-missing",
        (
            "REJECTED by the API server",
            'pods "priority-missing" is forbidden: no PriorityClass with name critcal was found',
        ),
        ('did you mean "critical"?', "kubectl create priorityclass critcal --value=0"),
        ("critcal", "critical"),
    ),
    row(
        "its class may not preempt",
        "preemption-never",
        ("Insufficient cpu", "not eligible due to preemptionPolicy=Never"),
        ("would fit on std-c-1 if cpu <= 3320m",),
        ("cpu: 3900m", "cpu: 3320m"),
    ),
    row(
        "a scheduling gate is left",
        "gate",
        ("GATED (waits for example.com/approval)",),
        ("find the controller that removes the gate",),
        ("schedulingGates: [{name: example.com/approval}]", "schedulingGates: []"),
    ),
    row(
        "schedulerName is misspelt",
        "scheduler-name",
        ('schedulerName "default-schedular" belongs to another scheduler',),
        ('did you mean schedulerName "default-scheduler"?',),
        ("default-schedular", "default-scheduler"),
    ),
]

BOUND = [
    ("image-pull", ("std-a-3", "ImagePullBackOff", 'Back-off pulling image "registry.example/shop:lates"')),
    ("config-missing", ("std-b-3", "CreateContainerConfigError", 'configmap "shop-settings" not found')),
    ("crash-loop", ("std-b-3", "CrashLoopBackOff", "back-off 5m0s")),
    ("volume-mount", ("std-c-1", "ContainerCreating")),
    ("node-gone", ("std-d-1", "not in the cluster")),
]


@pytest.fixture
def schedctl(capsys, monkeypatch):
    """Run a command; return what a terminal of 80 columns shows of both streams."""
    monkeypatch.setenv("COLUMNS", str(COLUMNS))

    def command(*arguments: str | Path) -> str:
        capsys.readouterr()
        assert run(list(map(str, arguments))) != 70
        printed = capsys.readouterr()
        return printed.err + printed.out

    return command


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    """What was printed about pods, by name: several tests look at the same answer."""
    return {}


@pytest.fixture
def explain(schedctl, answers):
    """Return what is printed about a pod of the folder `pods`."""

    def explain(name: str) -> str:
        if name not in answers:
            manifest = HERE / f"pods/{name}.yaml"
            answers[name] = schedctl("explain", "pod", name, "-n", namespace(manifest), "-f", CLUSTER, "-f", manifest)
        return answers[name]

    return explain


def first_screen(printed: str) -> str:
    """Return the first screen, with the words that were folded onto a next line side by side again."""
    return " ".join(" ".join(printed.splitlines()[:ROWS]).split())


def namespace(manifest: Path) -> str:
    """Return the namespace that a manifest names first."""
    return re.search(r"namespace: ([\w-]+)", manifest.read_text(encoding="utf-8"))[1]


def placed(printed: str) -> bool:
    """Return whether a run placed its one pod."""
    return printed.startswith("{") and json.loads(printed)["summary"]["placed"] == 1


@pytest.mark.parametrize("broken", PODS)
def test_the_cause_and_the_fix_are_on_the_first_screen(broken, explain):
    printed = explain(broken.name)
    screen = first_screen(printed)
    assert [words for words in (*broken.cause, *broken.fix) if words not in screen] == [], printed


REPAIRED = [
    pytest.param(each.values[0], id=each.id) for each in PODS if each.values[0].repair[0] or each.values[0].state[0]
]


@pytest.mark.parametrize("broken", REPAIRED)
def test_the_fix_makes_the_pod_run(broken, schedctl, tmp_path):
    manifest = HERE / f"pods/{broken.name}.yaml"
    assert not placed(schedctl("simulate", manifest, "-f", CLUSTER, "-o", "json")), "it runs as it is"
    repaired = copy(manifest, tmp_path / "repaired.yaml", broken.repair)
    cluster = tmp_path / "cluster"
    cluster.mkdir()
    found = [copy(each, cluster / each.name, broken.state) for each in CLUSTER.iterdir()]
    assert repaired + sum(found) == 1
    assert placed(schedctl("simulate", tmp_path / "repaired.yaml", "-f", cluster, "-o", "json"))


def copy(source: Path, target: Path, replaced: tuple[str, str]) -> bool:
    """Copy a file with a text replaced; return whether it was there."""
    text = source.read_text(encoding="utf-8")
    found, better = replaced
    target.write_text(text.replace(found, better) if found else text, encoding="utf-8")
    return bool(found) and found in text


@pytest.mark.parametrize("name", sorted(path.stem for path in (HERE / "pods").iterdir()))
def test_no_line_is_wider_than_the_screen(name, explain):
    assert [line for line in explain(name).splitlines() if len(line) > COLUMNS] == []


@pytest.mark.parametrize(("name", "words"), BOUND, ids=[name for name, _ in BOUND])
def test_a_pod_that_is_bound_is_not_placed_anew(name, words, schedctl):
    manifest = HERE / f"bound/{name}.yaml"
    printed = schedctl("explain", "pod", name, "-n", "orders", "-f", CLUSTER, "-f", manifest)
    screen = first_screen(printed)
    assert [each for each in ("BOUND", *words) if each not in screen] == [], printed
    assert "→" not in screen
