"""``bind --execute`` calls plugins as the real kube-scheduler calls them, in eight stories with the same two plugins.

The plugins of ``conformance/cluster/calls`` write down every call and do what a pod's annotations say; those below do
the same in Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from tests.live.control_planes import PROGRAMS
from tests.live.test_bind_cluster import node, pod
from tests.live.test_bind_command import HEADER

pytestmark = pytest.mark.cluster

PREFIX = "calls.schedctl.dev/"
PATIENCE = 60.0
PLUGINS = f'''
import os, threading, time
from schedctl.framework import *
from schedctl.framework.statuses import error, wait


class _Recorder(ReservePlugin, PermitPlugin, PreBindPlugin, BindPlugin, PostBindPlugin):
    def call(self, point, cycle):
        with open(os.environ["CALLS"], "a") as log:
            log.write(f"{{point}} {{self.name}} {{cycle.pod.key}}\\n")
        return (cycle.pod.pod.metadata.annotations or {{}}).get(f"{PREFIX}{{point}}-{{self.name}}", "")

    def status(self, point, cycle):
        return {{"fail": error("broken"), "refuse": unschedulable("no")}}.get(self.call(point, cycle), SUCCESS)

    def reserve(self, cycle, node_name):
        return self.status("Reserve", cycle)

    def unreserve(self, cycle, node_name):
        self.call("Unreserve", cycle)

    def permit(self, cycle, node_name):
        how, waits, timeout = self.call("Permit", cycle).partition(" ")
        if not waits:
            return {{"fail": error("broken"), "refuse": unschedulable("no")}}.get(how, SUCCESS)
        threading.Timer(0.2, self.decide, [how, cycle.pod.uid]).start()
        return wait(float(timeout.removesuffix("ms")) / 1000)

    def decide(self, how, uid):
        (waiting,) = [each for each in self.handle.waiting_pods() if each.pod.uid == uid]
        if how == "allow":
            waiting.allow(self.name)
        elif how == "reject":
            waiting.reject(self.name, "thought better of it")

    def pre_bind(self, cycle, node_name):
        return self.status("PreBind", cycle)

    def bind(self, cycle, node_name):
        status = self.status("Bind", cycle)
        return SKIP if status.successful else status

    def post_bind(self, cycle, node_name):
        self.call("PostBind", cycle)


class One(_Recorder):
    pass


class Two(_Recorder):
    pass
'''
STORIES = {
    "nothing fails": {},
    "Reserve fails": {"Reserve-Two": "fail"},
    "Permit refuses": {"Permit-Two": "refuse"},
    "PreBind fails": {"PreBind-One": "fail"},
    "Bind fails": {"Bind-Two": "fail"},
    "Permit waits and is allowed": {"Permit-One": "allow 30000ms"},
    "Permit waits and is rejected": {"Permit-Two": "reject 30000ms"},
    "Permit waits for too long": {"Permit-One": "time 500ms"},
}


def configuration(scheduler: str, **more: object) -> str:
    enabled = [{"name": "One"}, {"name": "Two"}]
    binders = {"disabled": [{"name": "*"}], "enabled": [*enabled, {"name": "DefaultBinder"}]}
    profile = {"schedulerName": scheduler, "plugins": {"multiPoint": {"enabled": enabled}, "bind": binders}}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return json.dumps({**head, "profiles": [profile], **more})


@pytest.fixture(scope="module")
def real_calls(_control_plane, tmp_path_factory) -> Iterator[Callable[[], list[str]]]:
    """What the real kube-scheduler has called so far, which runs in the cluster."""
    folder = tmp_path_factory.mktemp("real")
    connection, election = {"kubeconfig": str(_control_plane.kubeconfig)}, {"leaderElect": False}
    settings = configuration("theirs", clientConnection=connection, leaderElection=election)
    (folder / "config.json").write_text(settings)
    log = folder / "calls.log"
    log.touch()
    command = [PROGRAMS / "kube-scheduler-calls", "--config", folder / "config.json", "--secure-port=0"]
    with (folder / "scheduler.log").open("wb") as messages:
        process = subprocess.Popen(command, env={**os.environ, "CALLS": str(log)}, stdout=messages, stderr=messages)
    try:
        yield lambda: log.read_text().splitlines()
    finally:
        process.terminate()
        process.wait()


def first_attempt(lines: list[str], key: str) -> list[str]:
    """Return the calls for a pod up to the end of its first cycle, without the pod."""
    calls = [line.removesuffix(f" {key}") for line in lines if line.endswith(f" {key}")]
    end = next((calls.index(last) for last in ("Unreserve One", "PostBind Two") if last in calls), None)
    return [] if end is None else calls[: end + 1]


def until(found: Callable[[], object]) -> object:
    deadline = time.monotonic() + PATIENCE
    while not (answer := found()):
        assert time.monotonic() < deadline, "kube-scheduler does not come to an end"
        time.sleep(0.05)
    return answer


@pytest.mark.parametrize("story", STORIES)
def test_calls_are_those_of_kube_scheduler(
    schedctl, control_plane, namespace, real_calls, tmp_path, monkeypatch, story
):
    annotations = {PREFIX + point: answer for point, answer in STORIES[story].items()}
    control_plane.api.create(node("node-1"))
    theirs, ours = (pod(namespace, name, schedulerName=name) for name in ("theirs", "ours"))
    for each in (theirs, ours):
        each["metadata"]["annotations"] = annotations
        control_plane.api.create(each)

    def message() -> str:
        stored = control_plane.api.get(theirs)
        if stored["spec"].get("nodeName"):
            return "bound"
        return next((one["message"] for one in stored["status"].get("conditions", ()) if one.get("message")), "")

    real = until(lambda: first_attempt(real_calls(), f"{namespace}/theirs"))
    became = until(message)
    control_plane.api.delete(theirs)

    log = tmp_path / "calls.log"
    monkeypatch.setenv("CALLS", str(log))
    (tmp_path / "plugins.py").write_text(PLUGINS)
    (tmp_path / "scheduler.json").write_text(configuration("ours"))
    ended = schedctl(
        "bind", f"{namespace}/ours", "--execute", "--yes", "-o", "json", "--kubeconfig", str(control_plane.kubeconfig),
        "--plugin", str(tmp_path / "plugins.py"), "--scheduler-config", str(tmp_path / "scheduler.json"),
    )  # fmt: skip
    assert first_attempt(log.read_text().splitlines(), f"{namespace}/ours") == real
    assert len(log.read_text().splitlines()) == len(real)
    summary = json.loads(ended.out)["summary"]
    assert ended.code == (0 if became == "bound" else 4)
    assert (summary["outcome"] == "Bound") == (became == "bound")
    assert became == "bound" or summary["text"].rpartition(": ")[2] in str(became)
    assert (control_plane.api.get(ours)["spec"].get("nodeName") == "node-1") == (became == "bound")


@contextmanager
def nominations_of(control_plane, obj) -> Iterator[list[str]]:
    """Create a pod, and hear to which nodes it is nominated, in order, "" for none."""
    control_plane.api.create(obj)
    seen, ended = [""], threading.Event()

    def look() -> None:
        with closing(control_plane.client()) as api:
            while not ended.wait(0.02):
                named = api.get(obj)["status"].get("nominatedNodeName", "")
                if named != seen[-1]:
                    seen.append(named)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        ended.set()
        looking.join()


def test_waiting_pod_is_nominated_as_by_kube_scheduler(
    schedctl, control_plane, namespace, real_calls, tmp_path, monkeypatch
):
    control_plane.api.create(node("node-1"))
    theirs, ours = (pod(namespace, name, schedulerName=name) for name in ("theirs", "ours"))
    for each in (theirs, ours):
        each["metadata"]["annotations"] = {PREFIX + "Permit-One": "time 1500ms"}
    with nominations_of(control_plane, theirs) as real:
        until(lambda: first_attempt(real_calls(), f"{namespace}/theirs") and len(real) > 2)
    control_plane.api.delete(theirs)
    monkeypatch.setenv("CALLS", str(tmp_path / "calls.log"))
    (tmp_path / "plugins.py").write_text(PLUGINS)
    (tmp_path / "scheduler.json").write_text(configuration("ours"))
    with nominations_of(control_plane, ours) as found:
        ended = schedctl(
            "bind", f"{namespace}/ours", "--execute", "--yes", "--kubeconfig", str(control_plane.kubeconfig),
            "--plugin", str(tmp_path / "plugins.py"), "--scheduler-config", str(tmp_path / "scheduler.json"),
        )  # fmt: skip
        until(lambda: len(found) > 2)
    assert ended.code == 4
    assert found[:3] == real[:3] == ["", "node-1", ""]


CLIENT = """
from kubernetes.client import CoreV1Api, V1Binding, V1ObjectMeta, V1ObjectReference
from schedctl.api.kinds import Kind
from schedctl.api.meta import ObjectMeta, Struct
from schedctl.framework import *


class ConfigMap(Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


CONFIG_MAP = Kind("v1", "ConfigMap", ConfigMap)


class OwnBinder(PreBindPlugin, BindPlugin):
    wants_client = True

    def pre_bind(self, cycle, node_name):
        metadata = {"name": cycle.pod.pod.metadata.name, "namespace": cycle.pod.namespace}
        journal = self.handle.journal(cycle.pod)
        journal.create(CONFIG_MAP, {"metadata": metadata, "data": {"node": node_name}})
        journal.update(CONFIG_MAP, cycle.pod.key, lambda obj: obj["data"].update(sure="yes"))
        return SUCCESS

    def bind(self, cycle, node_name):
        if cycle.pod.labels["app"] == "refused":
            return unschedulable("no")
        metadata = V1ObjectMeta(name=cycle.pod.pod.metadata.name)
        body = V1Binding(metadata=metadata, target=V1ObjectReference(kind="Node", name=node_name))
        CoreV1Api(self.handle.client).create_namespaced_binding(cycle.pod.namespace, body, _preload_content=False)
        return SUCCESS
"""


@pytest.fixture
def bind(schedctl, control_plane, tmp_path):
    """``schedctl bind --execute``, with plugins given as text."""

    def run(*arguments: str, plugins: str = ""):
        profile = "profiles: [{schedulerName: ours}]"
        if plugins:
            (tmp_path / "plugins.py").write_text(plugins)
            enabled = "{enabled: [{name: OwnBinder}]}, bind: {disabled: [{name: '*'}], enabled: [{name: OwnBinder}]}"
            profile = f"profiles: [{{schedulerName: ours, plugins: {{multiPoint: {enabled}}}}}]"
        (tmp_path / "scheduler.yaml").write_text(HEADER + profile)
        loaded = ("--plugin", str(tmp_path / "plugins.py")) if plugins else ()
        return schedctl(
            "bind", *arguments, "--execute", "--yes", "--kubeconfig", str(control_plane.kubeconfig),
            "--scheduler-config", str(tmp_path / "scheduler.yaml"), *loaded,
        )  # fmt: skip

    return run


def test_bind_plugin_binds_by_the_official_client(bind, control_plane, namespace):
    for obj in (node("node-1"), pod(namespace, "web")):
        control_plane.api.create(obj)
    ended = bind(f"{namespace}/web", plugins=CLIENT)
    assert ended.code == 0, ended
    assert control_plane.api.get(pod(namespace, "web"))["spec"]["nodeName"] == "node-1"
    stored = control_plane.api.request("GET", f"/api/v1/namespaces/{namespace}/configmaps/web")
    assert stored["data"] == {"node": "node-1", "sure": "yes"}
    control_plane.api.request("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/web")


def test_object_that_a_plugin_created_is_deleted_if_the_pod_is_not_bound(bind, control_plane, namespace):
    for obj in (node("node-1"), pod(namespace, "refused")):
        control_plane.api.create(obj)
    ended = bind(f"{namespace}/refused", plugins=CLIENT)
    assert ended.code == 4
    assert "nodeName" not in control_plane.api.get(pod(namespace, "refused"))["spec"]
    found = control_plane.api.request("GET", f"/api/v1/namespaces/{namespace}/configmaps")["items"]
    assert [each["metadata"]["name"] for each in found if each["metadata"]["name"] == "refused"] == []


def test_pods_of_a_gang_are_bound_together_or_not_at_all(bind, control_plane, namespace):
    """Each node has room for one of them."""
    requests = [{"name": "app", "image": "app", "resources": {"requests": {"cpu": "3"}}}]
    gang = [pod(namespace, f"train-{number}", containers=requests) for number in range(2)]
    for each in gang:
        each["metadata"]["labels"] = {"job": "train"}
    for obj in (node("node-1"), *gang):
        control_plane.api.create(obj)
    ended = bind("-n", namespace, "-l", "job=train")
    assert (ended.code, [control_plane.api.get(each)["spec"].get("nodeName") for each in gang]) == (1, [None, None])
    control_plane.api.create(node("node-2"))
    assert bind("-n", namespace, "-l", "job=train").code == 0
    assert {control_plane.api.get(each)["spec"].get("nodeName") for each in gang} == {"node-1", "node-2"}
