"""``explain --history`` beside the real kube-scheduler: what it has said agrees with what we say."""

import json
import time

import pytest

from tests.live.test_watching import node, pod

pytestmark = pytest.mark.cluster


@pytest.fixture
def explain_pod(control_plane, capsys):
    """Run ``schedctl explain --history -o json`` and return the one result."""
    from schedctl.cli.running import run

    def ask(key):
        capsys.readouterr()
        code = run(["explain", key, "--history", "-o", "json", "--kubeconfig", str(control_plane.kubeconfig)])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        (result,) = json.loads(printed.out)["results"]
        return result

    return ask


def test_condition_equals_event_which_is_truncated_at_1024_bytes(control_plane, namespace, explain_pod):
    api = control_plane.api
    for name in ("a", "b"):
        api.create(node(name, cpu="1"))
    api.create(pod("big", namespace, cpu="3"))
    greedy = pod("greedy", namespace)
    requests = {f"example.com/{'x' * 50}-{i:02}": "1" for i in range(16)}
    greedy["spec"]["containers"][0]["resources"] = {"requests": requests, "limits": requests}
    api.create(greedy)
    keys = [f"{namespace}/big", f"{namespace}/greedy"]
    with api.watch_pods() as watch, api.run_scheduler() as scheduler:
        scheduler.settle(watch, [])
        for each in api.all("Pod"):
            watch.note(each)
        scheduler.settle(watch, keys)

    result = explain_pod(keys[0])
    (both,) = result["history"]
    assert (both["source"], both["agreement"]) == ("Condition", "Agrees")
    assert (both["message"], both["reporter"]) == (result["message"], "default-scheduler")
    assert both["first"]
    result = explain_pod(keys[1])
    condition, event = result["history"]
    assert (condition["source"], condition["agreement"]) == ("Condition", "Agrees")
    assert condition["message"] == result["message"]
    assert (event["source"], event["agreement"]) == ("Event", "AgreesAsFar")
    assert (event["reporter"], event["reason"]) == ("default-scheduler", "FailedScheduling")
    assert len(event["message"].encode()) == 1024

    time.sleep(1.1)  # creation times are whole seconds: what comes within the second of an event is not seen as later
    api.create(node("c", cpu="1"))
    (entry,) = explain_pod(keys[0])["history"]
    assert entry["agreement"] == "Differs"
    assert [each["text"] for each in entry["differences"]][:2] == [
        "2 nodes then, 3 now",
        "Insufficient cpu: 2 nodes then, 3 now  [NodeResourcesFit]",
    ]
    assert entry["circumstances"] == ["1 node created since: c"]


def test_event_without_event_time_is_read(control_plane, namespace, explain_pod):
    api = control_plane.api
    api.create(node("a", cpu="1"))
    made = api.create(pod("big", namespace, cpu="3"))
    about = {"kind": "Pod", "namespace": namespace, "name": "big", "uid": made["metadata"]["uid"]}
    refusal = {"reason": "FailedScheduling", "message": "0/1 nodes are available: 1 Too many pods.", "count": 3}
    times = {"firstTimestamp": "2026-11-20T09:00:00Z", "lastTimestamp": "2026-11-20T10:00:00Z"}
    event = {"metadata": {"name": "old", "namespace": namespace}, "involvedObject": about, **refusal, **times}
    api.request("POST", f"/api/v1/namespaces/{namespace}/events", {**event, "source": {"component": "old-scheduler"}})
    (entry,) = explain_pod(f"{namespace}/big")["history"]
    assert entry["text"] == "event 3 times from 2026-11-20T09:00:00Z to 2026-11-20T10:00:00Z by old-scheduler: differs"


def test_pod_without_failed_scheduling_events_has_no_history(control_plane, namespace, explain_pod):
    control_plane.api.create(node("a"))
    control_plane.api.create(pod("small", namespace))
    result = explain_pod(f"{namespace}/small")
    assert result["history"] == []
    assert any("no failed scheduling is recorded" in note for note in result["notes"])
