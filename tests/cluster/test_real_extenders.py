"""The same extenders asked by the real kube-scheduler and by us, on the same cluster: nothing may differ.

Two extenders stand on loopback. One is sent whole nodes and sends whole nodes back, the other knows nodes by name; both
filter, score and have a say in preemption, by labels of the pod that name nodes.
"""

from __future__ import annotations

import json
import time
from contextlib import closing

import pytest
from msgspec.structs import replace

from schedctl.config import loading
from schedctl.conformance.cases import Case, cluster_of
from schedctl.extenders import webhooks
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import SimulatedEvent
from schedctl.simulation.runs import Options, run
from schedctl.simulation.tie_breaking import replay_nodes
from tests.cluster.scenarios import GRACE
from tests.cluster.test_real_scheduler import STEP, Ours, differences, key_of, typed_object
from tests.live.servers import FakeServer, Reply

pytestmark = pytest.mark.cluster

CPUS = {"n1": "8", "n2": "4", "n3": "4", "n4": "2", "n5": "1"}


def labels_of(pod, label):
    """What a label of the pod says for one of the extenders: nodes, separated by dots."""
    text = pod["metadata"].get("labels", {}).get(label)
    return None if text is None else [name for name in text.split(".") if name]


def extender_reply(who):
    """An extender that does what the labels of a pod say: ``whole-keep: n1.n2`` and so on."""

    def answer(request):
        question = json.loads(request.body)
        pod = question["Pod"]
        if labels_of(pod, f"{who}-fail") is not None:
            return Reply({}, 500)
        if request.path == "/preempt":
            chosen = labels_of(pod, f"{who}-preempt")
            whole = question["NodeNameToVictims"] or {}
            named = question["NodeNameToMetaVictims"] or {
                node: {
                    "Pods": [{"UID": each["metadata"]["uid"]} for each in victims["Pods"]],
                    "NumPDBViolations": victims["NumPDBViolations"],
                }
                for node, victims in whole.items()
            }
            kept = {node: victims for node, victims in named.items() if chosen is None or node in chosen}
            return Reply({"NodeNameToMetaVictims": kept})
        items = (question["Nodes"] or {}).get("items", [])
        names = question["NodeNames"] or [item["metadata"]["name"] for item in items]
        if request.path == "/prioritize":
            chosen = labels_of(pod, f"{who}-score") or []
            return Reply([{"Host": node, "Score": 2 * (place + 1)} for place, node in enumerate(chosen)])
        chosen = labels_of(pod, f"{who}-keep")
        hard = labels_of(pod, f"{who}-hard") or []
        silent = labels_of(pod, f"{who}-silent") or []
        kept = [name for name in names if chosen is None or name in chosen]
        failed = {name: f"{who} will not have it" for name in names if name not in (*kept, *hard, *silent)}
        failed |= dict.fromkeys(labels_of(pod, f"{who}-ghost") or [], f"{who} haunts")
        refused = {"FailedNodes": failed, "FailedAndUnresolvableNodes": {n: f"{who} never" for n in hard if n in names}}
        if question["NodeNames"] is not None:
            return Reply({"NodeNames": kept, **refused})
        return Reply({"Nodes": {"items": [item for item in items if item["metadata"]["name"] in kept]}, **refused})

    return answer


def node(name, cpu):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "50"},
            "capacity": {"cpu": cpu, "memory": "16Gi", "pods": "50"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "images": [{"names": ["registry.example/web:v1"], "sizeBytes": 900 << 20}] if name == "n3" else [],
        },
    }


def pod(name, cpu="200m", priority=None, resource=None, spread=False, **labels):
    requests = {"cpu": cpu, "memory": "100Mi", **({resource: "1"} if resource else {})}
    resources = {"requests": requests, "limits": {resource: "1"} if resource else {}}
    labels = {key.replace("_", "-"): value for key, value in labels.items()}
    spec = {
        "containers": [{"name": "main", "image": "registry.example/web:v1", "resources": resources}],
        "terminationGracePeriodSeconds": 30,
        **({"priorityClassName": priority} if priority else {}),
    }
    if spread:
        labels["app"] = "spread"
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "spread"}},
            }
        ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": spec,
    }


def furniture():
    yield from (node(name, cpu) for name, cpu in CPUS.items())
    yield {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
    }


def story():
    yield from (pod(f"plain-{i}", cpu="700m") for i in range(4))
    yield from (pod(f"spread-{i}", spread=True) for i in range(3))
    yield pod("kept", whole_keep="n2.n3", named_keep="n3.n4")
    yield pod("scored", whole_score="n5.n4.n3", named_score="n3")
    yield pod("scored-by-name-only", whole_keep="n1.n2", named_score="n2.n1.n5")
    yield pod("torn", whole_keep="n1.n2", named_keep="n3.n4")
    yield pod("never", whole_keep="n1", whole_hard="n2.n3", named_keep="", named_hard="n1")
    yield pod("unsaid", whole_keep="", whole_silent="n1.n2.n3.n4.n5")
    yield pod("half-said", whole_keep="", whole_silent="n1.n2")
    yield pod("haunted", whole_keep="", whole_ghost="ghost.n1")
    yield pod("haunted-and-large", cpu="3", whole_keep="", whole_ghost="ghost.n5")
    yield pod("large", cpu="5", whole_keep="n4.n5")
    yield pod("full", cpu="50")
    yield from (pod(f"crowd-{i}", cpu="800m", whole_keep=f"n{4 + i % 2}") for i in range(2))
    yield pod("urgent", cpu="900m", priority="urgent", whole_keep="n5", whole_preempt="n5", named_preempt="n4.n5")


def test_runs_with_extenders_agree_with_kube_scheduler(api, tmp_path):
    with closing(FakeServer(extender_reply("whole"))) as whole, closing(FakeServer(extender_reply("named"))) as named:
        verbs = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "preemptVerb": "preempt", "weight": 3}
        tree = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "extenders": [
                {"urlPrefix": named.url, "nodeCacheCapable": True, "ignorable": True, **verbs},
                {"urlPrefix": whole.url, **verbs},
            ],
        }
        file = tmp_path / "scheduler.json"
        file.write_text(json.dumps(tree))
        for obj in furniture():
            api.create(obj)
        objects, events, clock = api.everything(), [], 0.0
        with api.watch_pods() as watch, api.run_scheduler(file) as scheduler:
            for obj in story():
                events.append(replace(SimulatedEvent(typed_object(api.create(obj))), at=(clock := clock + STEP)))
                scheduler.settle(watch, [key_of(obj)])
            (victim,) = [each for each in api.all("Pod") if "deletionTimestamp" in each["metadata"]]
            api.delete(victim)  # ours goes by itself when its grace period is over
            clock += GRACE
            scheduler.settle(watch, ())
            theirs = dict(watch.pods)
            questions = [first_questions(server.requests) for server in (whole, named)]
            failing = api.create(pod("failing", whole_fail=""))
            _wait(lambda: watch.pods.get(key_of(failing)) and watch.pods[key_of(failing)].messages)
            message = watch.pods[key_of(failing)].messages[0]
        whole.requests.clear()
        named.requests.clear()

        configuration = loading.load(json.dumps(tree), "scheduler.json")
        cluster, _ = cluster_of(Case(id="cluster", objects=objects))
        extenders = webhooks.connect(configuration.extenders, "scheduler.json")
        made = Scheduler(cluster, configuration, extenders=extenders)
        follow = replay_nodes({key: each.node for key, each in theirs.items() if each.node})
        facts = run(made, options=Options(choose=follow, horizon=clock + STEP / 2), events=events)

        found = differences(theirs, Ours(facts), messages=comparable_messages)
        assert not found, f"{len(found)} differences\n" + "\n".join(found)
        assert questions == [first_questions(server.requests) for server in (whole, named)]
        outcome = made.attempt(typed_object(failing))
        assert outcome.error == message


def comparable_messages(messages):
    """The messages that do not depend on chance.

    A preemptor that an extender refused is moved by any event. Whether that of its own nomination finds it still kept
    out, or the eviction under way, is a race inside kube-scheduler.
    """
    return [message for message in messages if "terminating pod on the nominated node" not in message]


def first_questions(requests):
    """What was asked first about each pod, as far as it does not depend on the order of nodes.

    How often a pod is tried again between two steps depends on how fast everybody is.
    """
    found = {}
    for request in requests:
        body = json.loads(request.body)
        items = (body.get("Nodes") or {}).get("items", ())
        nodes = body.get("NodeNames") or [item["metadata"]["name"] for item in items]
        victims = body.get("NodeNameToVictims") or body.get("NodeNameToMetaVictims") or {}
        found.setdefault((request.path, body["Pod"]["metadata"]["name"]), (sorted(nodes), sorted(victims)))
    return found


def _wait(condition):
    """Wait until something has happened.

    Raises:
        TimeoutError: it does not.
    """
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.02)
