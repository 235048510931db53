"""What commands say of running pods that wait for a resize, where kube-scheduler evicts others for their sake."""

import json

import pytest

GATE = "InPlacePodVerticalScalingSchedulerPreemption"
ON = ("--feature-gates", f"{GATE}=true")


def running(name, cpu, priority, reason=""):
    waiting = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "nodeName": "a",
            "priorityClassName": priority,
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}],
        },
        "status": {"phase": "Running", "conditions": waiting},
    }


def cluster(*pods, cpu="2"):
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": name},
                    "value": value,
                }
                for name, value in (("low", 0), ("high", 10))
            ]
            + [
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {"name": "a"},
                    "status": {"allocatable": {"cpu": cpu, "memory": "4Gi", "pods": "10"}},
                },
                *pods,
            ],
        }
    )


@pytest.mark.parametrize(
    ("pods", "cpu", "said"),
    [
        pytest.param(
            (running("grow", "1500m", "high", "Deferred"), running("other", "1", "low")),
            "2",
            "its resize is deferred: to make room for it on a, kube-scheduler would evict default/other",
            id="somebody of lower priority is in the way",
        ),
        pytest.param(
            (running("grow", "1500m", "low", "Deferred"), running("other", "1", "high")),
            "2",
            "its resize is deferred: kube-scheduler can make no room for it: 0/1 nodes are available",
            id="nobody of lower priority is",
        ),
        pytest.param(
            (running("grow", "1500m", "low", "Deferred"),),
            "2",
            "its resize is deferred: a has room for it, and kube-scheduler leaves it to the kubelet",
            id="nobody is in the way any more",
        ),
    ],
)
def test_explain_says_what_is_done_about_a_resize(schedctl, pods, cpu, said):
    ended = schedctl("explain", "grow", "-f", "-", *ON, stdin=cluster(*pods, cpu=cpu))
    assert f"note: {said}" in ended.out
    assert "deferred" not in schedctl("explain", "grow", "-f", "-", stdin=cluster(*pods, cpu=cpu)).out
    assert (
        "deferred"
        not in schedctl("explain", "other", "-f", "-", *ON, stdin=cluster(*pods, running("other", "1m", "low"))).out
    )


def test_a_run_evicts_nobody_for_it_and_says_so(schedctl):
    world = cluster(running("grow", "1500m", "high", "Deferred"), running("other", "1", "low"))
    warning = (
        f"warning: the resize of default/grow is deferred: kube-scheduler may evict other pods to make room ({GATE})"
    )
    assert warning in schedctl("drain", "a", "--force", "-f", "-", *ON, stdin=world).err
    assert "deferred" not in schedctl("drain", "a", "--force", "-f", "-", stdin=world).err
    infeasible = cluster(running("grow", "1500m", "high", "Infeasible"))
    assert "deferred" not in schedctl("drain", "a", "--force", "-f", "-", *ON, stdin=infeasible).err
