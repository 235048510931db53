"""``schedctl watch`` on a real control plane: it tells what changes, and ends when the pod is bound."""

import json
import queue
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster
PATIENCE = 90.0
"""Seconds to wait for a line; after a fault the watch itself pauses for up to 30 s."""


class Watching:
    """A running ``schedctl watch``; its lines are read by a thread, so that one that never comes fails the test."""

    def __init__(self, process):
        self.process = process
        self._lines = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def line(self):
        """The next line, None where there are no more."""
        return self._lines.get(timeout=PATIENCE)

    def report(self):
        """The next line of ``-o json``."""
        return json.loads(self.line())

    def wait_for_end(self):
        """The exit code and standard error."""
        return self.process.wait(PATIENCE), self.process.stderr.read()


def _heed_interrupts():
    """Have Ctrl-C end the program although the tests run in the background of a shell, where it is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def start_watch(control_plane):
    """Run ``schedctl watch`` beside the test."""

    @contextmanager
    def run(*arguments, kubeconfig=control_plane.kubeconfig):
        command = [sys.executable, "-m", "schedctl", "watch", *arguments, "--kubeconfig", str(kubeconfig)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **pipes, preexec_fn=_heed_interrupts) as process:
            try:
                yield Watching(process)
            finally:
                process.kill()

    return run


def node(name, cpu="4", **spec):
    status = {"capacity": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}
    made = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec}
    return {**made, "status": {**status, "allocatable": status["capacity"]}}


def pod(name, namespace, cpu="2", **spec):
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def bind(api, name, namespace, target):
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"kind": "Node", "name": target},
    }
    api.request("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", body)


def test_watch_prints_each_change_until_the_pod_is_bound(control_plane, namespace, start_watch):
    api = control_plane.api
    small = api.create(node("small", cpu="1"))
    api.create(pod("web", namespace))
    with start_watch("pod", f"{namespace}/web", "-o", "json") as watch:
        first = watch.report()
        assert (first["event"], first["result"]["verdict"]) == ("Answer", "Unschedulable")
        assert first["result"]["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")

        api.create(node("large"))
        assert watch.report()["result"]["chosen"] == "large"

        api.create(pod("hog", namespace, cpu="3", nodeName="large"))
        again = watch.report()["result"]
        assert again["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")

        small["status"]["capacity"]["cpu"] = small["status"]["allocatable"]["cpu"] = "8"
        api.request("PUT", "/api/v1/nodes/small/status", small)
        assert watch.report()["result"]["chosen"] == "small"

        bind(api, "web", namespace, "small")
        last = watch.report()
        assert (last["event"], last["node"]) == ("Bound", "small")
        assert last["text"] == f"pod {namespace}/web is bound to small, as predicted"
        assert watch.line() is None
        assert watch.wait_for_end() == (0, "")


def test_irrelevant_changes_are_not_printed(control_plane, namespace, start_watch):
    api = control_plane.api
    there = api.create(node("only", cpu="1"))
    api.create(pod("web", namespace))
    with start_watch("pod", "web", "-n", namespace) as watch:
        assert watch.line().endswith(f"pod {namespace}/web: UNSCHEDULABLE (0/1 nodes feasible)")
        assert watch.line().startswith("  0/1 nodes are available: 1 Insufficient cpu.")
        assert watch.line() == "  0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        there["status"]["conditions"] = [
            {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-20T10:00:00Z"}
        ]
        api.request("PUT", "/api/v1/nodes/only/status", there)
        api.create(pod("other", namespace, cpu="1m", nodeName="only"))
        api.create(
            {"kind": "Service", "metadata": {"name": "web", "namespace": namespace}, "spec": {"ports": [{"port": 80}]}}
        )
        api.delete(pod("web", namespace))
        assert watch.line().endswith(f"pod {namespace}/web was deleted")
        assert watch.wait_for_end() == (1, "")


def test_watch_survives_an_api_server_restart(control_plane, namespace, start_watch):
    api = control_plane.api
    api.create(node("small", cpu="1"))
    api.create(pod("web", namespace))
    with start_watch("pod", "web", "-n", namespace, "-o", "json") as watch:
        assert watch.report()["result"]["verdict"] == "Unschedulable"
        control_plane.restart_api_server()
        control_plane.await_restart()
        api.create(node("large"))
        assert watch.report()["result"]["chosen"] == "large"
        bind(api, "web", namespace, "large")
        assert watch.report()["event"] == "Bound"
        code, errors = watch.wait_for_end()
        assert code == 0
        assert "Traceback" not in errors


def test_watch_timeout_and_interrupt(control_plane, namespace, start_watch):
    api = control_plane.api
    api.create(node("small", cpu="1"))
    api.create(pod("web", namespace))
    with start_watch("pod", "web", "-n", namespace, "--timeout", "3s", "-o", "json") as watch:
        assert watch.report()["event"] == "Answer"
        last = watch.report()
        assert (last["event"], last["text"]) == ("Pending", f"pod {namespace}/web is still pending")
        assert watch.wait_for_end() == (1, "")
    with start_watch("pod", "web", "-n", namespace) as watch:
        watch.line()
        watch.process.send_signal(signal.SIGINT)
        assert watch.wait_for_end() == (130, "interrupted\n")


def test_watch_of_a_bound_pod_ends_at_once(control_plane, namespace, start_watch):
    api = control_plane.api
    api.create(node("a"))
    api.create(pod("web", namespace, nodeName="a"))
    with start_watch("pod", "web", "-n", namespace) as watch:
        assert watch.line().endswith(f"pod {namespace}/web is bound to a")
        assert watch.wait_for_end() == (0, "")


def test_missing_watch_permission_is_reported(control_plane, namespace, start_watch):
    control_plane.api.create(node("a"))
    control_plane.api.create(pod("web", namespace, cpu="9"))
    rule = {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]}
    role = {"kind": "ClusterRole", "metadata": {"name": "lists-only"}, "rules": [rule]}
    with (
        control_plane.grant({"apiVersion": "rbac.authorization.k8s.io/v1", **role}),
        start_watch("pod", "web", "-n", namespace, "-q", kubeconfig=Path(control_plane.nobody)) as watch,
    ):
        code, errors = watch.wait_for_end()
    assert code == 4
    assert "watch" in errors
