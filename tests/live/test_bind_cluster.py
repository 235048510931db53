"""``schedctl bind`` against a real API server: what it does, what it refuses, and that no lost race is a wrong bind."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from schedctl import sources
from schedctl.api.kinds import kind_named
from schedctl.config import loading
from schedctl.live import listing
from schedctl.live.connections import Answer, Connection
from schedctl.live.kubeconfigs import Access
from schedctl.live.observed_state import ObservedState
from schedctl.live.plans import BindPlan, Refusal
from schedctl.scheduler import Scheduler
from schedctl.workloads.clusters import assemble
from tests.cluster.control_plane import KIT, Api, Object, Refused
from tests.live.binds import Bound, bind, plan_of
from tests.live.test_bind_command import HEADER, PROFILE

pytestmark = pytest.mark.cluster

RACES = 500
THREADS = 4
GPU_DRIVER = "gpus.example.com"


def node(name: str, **status: str) -> Object:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110", **status}
    labels = {"kubernetes.io/hostname": name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }


def pod(namespace: str, name: str, node: str = "", **spec: Any) -> Object:
    containers = [{"name": "app", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    placed = {"nodeName": node} if node else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": name}},
        "spec": {"schedulerName": "ours", "containers": containers, **placed, **spec},
    }


@pytest.fixture
def api(control_plane, namespace) -> Api:
    """The API server with one node, and a pod in the namespace that waits for it."""
    control_plane.api.create(node("node-1"))
    control_plane.api.create(pod(namespace, "web"))
    return control_plane.api


@pytest.fixture
def command(schedctl, control_plane, tmp_path):
    """``schedctl bind`` as the administrator, with a configuration that serves ``ours``."""
    (tmp_path / "scheduler.yaml").write_text(HEADER + PROFILE)
    options = ("--scheduler-config", str(tmp_path / "scheduler.yaml"))

    def run(*arguments: str, kubeconfig: Path = control_plane.kubeconfig):
        return schedctl("bind", *arguments, *options, "--kubeconfig", str(kubeconfig))

    return run


def plan_bind(connection: Connection, key: str, *, kinds=("Pod", "Node")) -> tuple[BindPlan, ObservedState]:
    """A decision about a pod, made on what the API server lists."""
    listed = listing.read(connection, [kind_named(kind) for kind in kinds])
    manifests = sources.load_listed(connection.name, (page.body for page in listed.pages))
    cluster = assemble(one.object for one in manifests.objects).cluster
    scheduler = Scheduler(cluster, loading.load((HEADER + PROFILE).encode(), "test"))
    return plan_of(scheduler, key, 20.0), ObservedState(listed)


class Interrupted:
    """A connection that lets something happen right before the first request to a path."""

    def __init__(self, connection: Connection, part: str, happens: Callable[[], None]) -> None:
        self._connection, self._part, self._happens = connection, part, happens
        self.name, self.namespace = connection.name, connection.namespace

    def get(self, path: str, query: Any = None) -> Answer:
        self._look_at(path)
        return self._connection.get(path, query)

    def send(self, method: str, path: str, body: Any, query: Any = None) -> Answer:
        if not query:
            self._look_at(path)
        return self._connection.send(method, path, body, query)

    def _look_at(self, path: str) -> None:
        if path.endswith(self._part) and self._happens is not None:
            happens, self._happens = self._happens, None
            happens()


def events_of(api: Api, namespace: str) -> list[Object]:
    return api.request("GET", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")["items"]


# -- one bind ---------------------------------------------------------------------


def test_bind_binds_the_pod_and_records_an_event(api, command, namespace):
    result = command(f"{namespace}/web", "--execute", "--yes")
    assert (result.code, result.err) == (0, "")
    stored = api.get(pod(namespace, "web"))
    assert stored["spec"]["nodeName"] == "node-1"
    (event,) = events_of(api, namespace)
    assert event["note"] == f"Successfully assigned {namespace}/web to node-1"
    assert (event["reason"], event["action"], event["type"]) == ("Scheduled", "Binding", "Normal")
    assert event["regarding"]["uid"] == stored["metadata"]["uid"]


def test_no_write_without_execute_or_with_dry_run(api, command, namespace, control_plane):
    seen = len(control_plane.audit())
    assert command(f"{namespace}/web").code == 0
    assert command(f"{namespace}/web", "--dry-run=server").code == 0
    requests = [one for one in control_plane.audit()[seen:] if namespace in one["requestURI"]]
    changing = [one for one in requests if one["verb"] not in ("get", "list", "watch")]
    assert [one["objectRef"].get("subresource", "") for one in changing] == ["binding", ""]
    assert all("dryRun=All" in one["requestURI"] for one in changing)
    assert "nodeName" not in api.get(pod(namespace, "web"))["spec"]
    assert events_of(api, namespace) == []


def test_api_server_refuses_stale_resource_version_and_wrong_uid(api, namespace):
    stored = api.get(pod(namespace, "web"))
    for wrong in ({"resourceVersion": "1"}, {"uid": "00000000-0000-0000-0000-000000000000"}):
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "web", "namespace": namespace, "uid": stored["metadata"]["uid"], **wrong},
            "target": {"kind": "Node", "name": "node-1"},
        }
        with pytest.raises(Refused, match="Precondition failed"):
            api.request("POST", f"/api/v1/namespaces/{namespace}/pods/web/binding", body)


READER = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "bind-reader"},
    "rules": [{"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["get", "list"]}],
}
GRANTS = {
    "nothing more": ([], 'resources: ["pods/binding"], verbs: ["create"]'),
    "binding, but no events": (
        [{"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]}],
        'resources: ["events"], verbs: ["create"]',
    ),
}


@pytest.mark.parametrize("grant", GRANTS)
def test_missing_permission_is_named(api, command, namespace, control_plane, grant):
    more, rule = GRANTS[grant]
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}
    role = {**READER, "rules": [everything, *more]}
    with control_plane.grant(role):
        result = command(f"{namespace}/web", "--execute", "--yes", kubeconfig=control_plane.nobody)
    output = result.out + result.err
    assert rule in output
    assert "403" in output
    bound = api.get(pod(namespace, "web"))["spec"].get("nodeName", "")
    assert (result.code, bound) == ((0, "node-1") if more else (4, ""))


def test_shipped_roles_are_sufficient(api, command, namespace, control_plane):
    documents = yaml.safe_load_all((KIT.parents[1] / "deploy/clusterrole.yaml").read_text())
    roles = [each for each in documents if each["metadata"]["name"] in ("schedctl-reader", "schedctl-binder")]
    with control_plane.grant(*roles):
        result = command(f"{namespace}/web", "--execute", "--yes", kubeconfig=control_plane.nobody)
    assert (result.code, result.err) == (0, "")
    assert api.get(pod(namespace, "web"))["spec"]["nodeName"] == "node-1"
    assert len(events_of(api, namespace)) == 1


def test_two_concurrent_binds_bind_once(api, namespace, control_plane):
    connection = Connection.open(Access(kubeconfig=str(control_plane.kubeconfig)))
    plan, observed = plan_bind(connection, f"{namespace}/web")
    outcomes: Counter[str] = Counter()

    def try_it() -> None:
        try:
            bind(connection, plan, observed)
            outcomes["bound"] += 1
        except Refusal:
            outcomes["refused"] += 1

    threads = [threading.Thread(target=try_it) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert outcomes == {"bound": 1, "refused": 7}
    assert len(events_of(api, namespace)) == 1


# -- races ------------------------------------------------------------------------


@dataclass
class Race:
    """A pod, its node, and a decision about them that is about to be carried out."""

    api: Api
    namespace: str
    name: str

    @property
    def pod(self) -> Object:
        return pod(self.namespace, self.name, nodeSelector={"kubernetes.io/hostname": self.name})

    @property
    def neighbour(self) -> Object:
        return pod(self.namespace, f"{self.name}-old", self.name)

    def on_pod(self, change: Callable[[Object], None]) -> None:
        self._patch(self.pod, change)

    def on_node(self, change: Callable[[Object], None], part: str = "") -> None:
        self._patch(node(self.name), change, part)

    def _patch(self, obj: Object, change: Callable[[Object], None], part: str = "") -> None:
        stored = self.api.get(obj)
        change(stored)
        kind = obj["kind"]
        self.api.request("PUT", _path(kind, obj, part), {"apiVersion": "v1", "kind": kind, **stored})


def _path(kind: str, obj: Object, part: str = "") -> str:
    metadata = obj["metadata"]
    where = f"/api/v1/namespaces/{metadata['namespace']}/pods" if kind == "Pod" else "/api/v1/nodes"
    return f"{where}/{metadata['name']}" + (f"/{part}" if part else "")


def _bind_elsewhere(race: Race) -> None:
    metadata = {"name": race.name, "namespace": race.namespace}
    target = {"apiVersion": "v1", "kind": "Node", "name": "elsewhere"}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
    race.api.request("POST", f"{_path('Pod', race.pod)}/binding", body)


def _make_again(race: Race) -> None:
    race.api.delete(race.pod)
    race.api.create(race.pod)


def _relabel(race: Race) -> None:
    race.on_pod(lambda obj: obj["metadata"]["labels"].update(app="other"))


def _cordon(race: Race) -> None:
    race.on_node(lambda obj: obj["spec"].update(unschedulable=True))


def _taint(race: Race) -> None:
    race.on_node(lambda obj: obj["spec"].update(taints=[{"key": "k", "effect": "NoSchedule"}]))


def _shrink(race: Race) -> None:
    race.on_node(lambda obj: obj["status"]["allocatable"].update(cpu="1"), "status")


def _land(race: Race) -> None:
    race.api.create(pod(race.namespace, f"{race.name}-new", race.name))


POD, PODS, NODE, BINDING = "/pods/{}", "/api/v1/pods", "/nodes/{}", "/binding"
POD_MOVES: dict[str, tuple[Callable[[Race], None], str]] = {
    "bound by somebody else": (_bind_elsewhere, "already bound to elsewhere|already assigned|Precondition failed"),
    "deleted": (lambda race: race.api.delete(race.pod), "it is gone|not found"),
    "made again": (_make_again, "another pod has its name|Precondition failed"),
    "relabelled": (_relabel, "it has changed: metadata.labels|Precondition failed"),
}
NODE_MOVES: dict[str, tuple[Callable[[Race], None], str]] = {
    "cordoned": (_cordon, "has changed: spec.taints, spec.unschedulable|has changed: spec.unschedulable"),
    "deleted": (lambda race: race.api.delete(node(race.name)), "is gone"),
    "tainted": (_taint, "has changed: spec.taints"),
    "shrunk": (_shrink, "has changed: status.allocatable"),
}
PODS_MOVES: dict[str, tuple[Callable[[Race], None], str]] = {
    "landed": (_land, "was added to the node"),
    "left": (lambda race: race.api.delete(race.neighbour), "left the node"),
}
FORCED = [
    *((f"pod {what}", move, part) for what, move in POD_MOVES.items() for part in (POD, PODS, NODE, BINDING)),
    *((f"node {what}", move, part) for what, move in NODE_MOVES.items() for part in (POD, PODS, NODE)),
    *((f"neighbour {what}", move, part) for what, move in PODS_MOVES.items() for part in (POD, PODS)),
]
"""What happens, and before which request: every one up to the last that can notice."""


def _run(race: Race, connection: Connection, forced: Any) -> str:
    """Race once, and return what was wrong with how it ended, "" for nothing."""
    what, (move, words), part = forced or ("nothing", (None, ""), "")
    for obj in (node(race.name), race.neighbour, race.pod):
        race.api.create(obj)
    try:
        plan, observed = plan_bind(connection, f"{race.namespace}/{race.name}")
        assert plan.node == race.name
        disturbed = Interrupted(connection, part.format(race.name), lambda: move(race)) if move else connection
        try:
            bound: Bound | None = bind(disturbed, plan, observed)
            message = ""
        except Refusal as refusal:
            bound, message = None, str(refusal)
        try:
            now = race.api.get(race.pod)
        except Refused:
            now = {"spec": {}, "metadata": {}}
        ours = now["spec"].get("nodeName") == race.name
        if move is None:
            right = bound is not None and not bound.moved and ours
            return "" if right else f"{race.name}: nothing happened, and it was not bound: {message or bound}"
        if bound is not None or ours:
            return f"{race.name}: {what} before {part}, and it was bound all the same"
        if not any(word in message for word in words.split("|")):
            return f"{race.name}: {what} before {part}, and it said {message}"
        return ""
    finally:
        for name in (race.name, f"{race.name}-old", f"{race.name}-new"):
            race.api.delete(pod(race.namespace, name))
        race.api.delete(node(race.name))


def test_lost_races_never_bind_wrongly(control_plane, namespace):
    """500 times something happens between the decision and the bind, or, one time in five, nothing does."""
    draw = random.Random(7)
    races = [(number, draw.choice(FORCED) if draw.random() < 0.8 else None) for number in range(RACES)]
    connection = Connection.open(Access(kubeconfig=str(control_plane.kubeconfig)))
    clients: dict[int, Api] = {}

    def race(numbered: tuple[int, Any]) -> str:
        thread, (number, forced) = threading.get_ident(), numbered
        if thread not in clients:
            clients[thread] = control_plane.client()
        return _run(Race(clients[thread], namespace, f"race-{number}"), connection, forced)

    with ThreadPoolExecutor(THREADS) as pool:
        wrong = [complaint for complaint in pool.map(race, races) if complaint]
    for client in clients.values():
        client.close()
    assert wrong == []
    happened = Counter(forced[0] if forced else "nothing" for _, forced in races)
    assert len(happened) == 1 + len(POD_MOVES) + len(NODE_MOVES) + len(PODS_MOVES)
    assert happened["nothing"] > RACES / 10


@pytest.mark.parametrize(
    ("move", "words"),
    [(_cordon, "spec.unschedulable"), (_land, "was added to the node"), (_shrink, "status.allocatable")],
)
def test_changes_between_the_last_read_and_the_bind_are_reported(control_plane, namespace, move, words):
    race = Race(control_plane.api, namespace, "late")
    for obj in (node(race.name), race.neighbour, race.pod):
        control_plane.api.create(obj)
    connection = Connection.open(Access(kubeconfig=str(control_plane.kubeconfig)))
    plan, observed = plan_bind(connection, f"{namespace}/late")
    bound = bind(Interrupted(connection, BINDING, lambda: move(race)), plan, observed)
    assert any(words in each for each in bound.moved)
    control_plane.api.delete(pod(namespace, "late-new"))


# -- what is written before the bind ----------------------------------------------


@pytest.fixture(scope="module")
def run_controllers() -> Iterator[Api]:
    """A control plane with its controllers and its kube-scheduler, and a node with devices."""
    command = [KIT / "up", "--hold", "--with-controllers", "--with-scheduler"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        kubeconfig = Path(up.stdout.readline().strip() or os.devnull)
        assert kubeconfig.is_file(), "the control plane did not come up; the reason is on stderr"
        try:
            with closing(Api(kubeconfig)) as api:
                for obj in (node("node-1", cpu="64"), node("node-2"), *_offers()):
                    _create(api, obj)
                yield api
        finally:
            up.terminate()


def _create(api: Api, obj: Object) -> None:
    """Create an object without spaces in its JSON: parameters for drivers are kept as they were written."""
    collection = _COLLECTIONS[obj["kind"]]
    Connection.open(Access(kubeconfig=str(api.kubeconfig))).send("POST", collection, obj)
    if obj["kind"] == "Node":
        api.request("PUT", f"{collection}/{obj['metadata']['name']}/status", {**api.get(obj), "status": obj["status"]})


_COLLECTIONS = {
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/default/pods",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "PersistentVolumeClaim": "/api/v1/namespaces/default/persistentvolumeclaims",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    "DeviceClass": "/apis/resource.k8s.io/v1/deviceclasses",
    "ResourceSlice": "/apis/resource.k8s.io/v1/resourceslices",
    "ResourceClaim": "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
}


def _parameters(**parameters: Any) -> Object:
    return {"opaque": {"driver": GPU_DRIVER, "parameters": parameters}}


def _offers() -> list[Object]:
    """Storage that waits for a pod, and devices on the first node."""
    wait = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    selector = {"cel": {"expression": f"device.driver == '{GPU_DRIVER}'"}}
    gpu = {"selectors": [selector], "extendedResourceName": "example.com/gpu", "config": [_parameters(mode="fast")]}
    devices = [{"name": f"gpu-{number}"} for number in range(20)]
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
    offered = {"driver": GPU_DRIVER, "pool": pool, "nodeName": "node-1", "devices": devices}
    return [
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "wait"}, **wait},
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": gpu},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "gpus"}, "spec": offered},
    ]


def _storage(name: str) -> list[Object]:
    """A volume of the first node and a claim that only it can be for."""
    there = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}
    of_both = {"storageClassName": "wait", "accessModes": ["ReadWriteOnce"]}
    volume = {
        **of_both,
        "capacity": {"storage": "1Gi"},
        "local": {"path": "/disk"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [there]}]}},
    }
    claim_spec = {**of_both, "resources": {"requests": {"storage": "1Gi"}}, "selector": {"matchLabels": {"for": name}}}
    labels = {"for": name}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"disk-{name}", "labels": labels},
            "spec": volume,
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": "default", "name": f"data-{name}"},
            "spec": claim_spec,
        },
    ]


def _claim(name: str) -> Object:
    """A claim with every kind of request and configuration."""
    sizes = [
        {"name": "many", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 31},
        {"name": "few", "deviceClassName": "gpu", "tolerations": [{"key": "k", "operator": "Exists"}]},
    ]
    devices = {
        "requests": [{"name": "one", "exactly": {"deviceClassName": "gpu"}}, {"name": "some", "firstAvailable": sizes}],
        "config": [
            {"requests": ["some/few"], **_parameters(x=1)},
            {"requests": ["some/many"], **_parameters(x=2)},
            {"opaque": {"driver": GPU_DRIVER, "parameters": msgspec.Raw(b'{"everywhere":"\\u003cyes\\u003e"}')}},
        ],
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "default", "name": f"gpus-{name}"},
        "spec": {"devices": devices},
    }


def _pods(name: str, scheduler: str) -> list[Object]:
    """A pod with a volume and devices, and one with an extended resource."""
    amounts = {"cpu": "1", "example.com/gpu": "2"}
    asking = [{"name": "app", "image": "app", "resources": {"requests": amounts, "limits": amounts}}]
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}}]
    claims = [{"name": "gpus", "resourceClaimName": f"gpus-{name}"}]
    return [
        pod("default", f"web-{name}", schedulerName=scheduler, volumes=volumes, resourceClaims=claims),
        pod("default", f"ext-{name}", schedulerName=scheduler, containers=asking),
    ]


def _make(api: Api, name: str, scheduler: str) -> None:
    for obj in (*_storage(name), _claim(name)):
        _create(api, obj)
    _until(lambda: api.get(_storage(name)[0])["status"].get("phase") == "Available")
    for obj in _pods(name, scheduler):
        _create(api, obj)


def _until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _writes_of(api: Api, name: str) -> Object:
    """What became of the objects of one name, without what differs between any two objects."""
    found = {}
    with_extended_resources = api.get(_pods(name, "")[1])
    claim_status = with_extended_resources["status"].get("extendedResourceClaimStatus", {})
    special = claim_status.get("resourceClaimName", "")
    objects = {
        "volume": api.get(_storage(name)[0]),
        "claim": api.get(_storage(name)[1]),
        "devices": api.get(_claim(name)),
        "extended": api.get({**_claim(name), "metadata": {"namespace": "default", "name": special}}) if special else {},
        "mappings": claim_status.get("requestMappings"),
        "nodes": [api.get(each)["spec"].get("nodeName") for each in _pods(name, "")],
        "conditions": [api.get(each)["status"].get("conditions") for each in _pods(name, "")],
    }
    text = json.dumps(objects)
    for obj in (objects["volume"], objects["claim"], objects["devices"], objects["extended"], with_extended_resources):
        text = text.replace(obj["metadata"]["uid"], "uid") if obj else text
    text = text.replace(api.get(_pods(name, "")[0])["metadata"]["uid"], "uid")
    text = re.sub(rf"(ext-{name}-extended-resources-)[a-z0-9]{{5}}", r"\1xxxxx", text).replace(f"-{name}", "-name")
    text = re.sub(r'"\d{4}-\d\d-\d\dT[0-9:]+Z"', '"then"', text).replace(f'"for": "{name}"', '"for": "name"')
    text = re.sub(r'"device": "gpu-\d+"', '"device": "gpu"', text)
    text = re.sub(r'"resourceVersion": "\d+"', '"resourceVersion": "version"', text)
    found = json.loads(text)
    for obj in found.values():
        if isinstance(obj, dict) and obj:
            obj["metadata"].pop("managedFields", None)
    return found


@pytest.fixture
def bind_there(schedctl, run_controllers, tmp_path):
    (tmp_path / "scheduler.yaml").write_text(HEADER + PROFILE)
    options = ("--scheduler-config", str(tmp_path / "scheduler.yaml"), "--kubeconfig", run_controllers.kubeconfig)

    def run(*arguments: str):
        return schedctl("bind", *arguments, *map(str, options))

    return run


def test_prebind_writes_equal_kube_schedulers(run_controllers, bind_there):
    _make(run_controllers, "theirs", "default-scheduler")
    pods = _pods("theirs", "")
    _until(lambda: all(run_controllers.get(each)["spec"].get("nodeName") for each in pods))
    _make(run_controllers, "ours", "ours")
    for each in _pods("ours", ""):
        result = bind_there(f"default/{each['metadata']['name']}", "--execute", "--yes")
        assert result.code == 0, result
    ours, theirs = _writes_of(run_controllers, "ours"), _writes_of(run_controllers, "theirs")
    assert ours["nodes"] == ["node-1", "node-1"]
    assert ours == theirs


def test_unwritable_parameters_are_refused_before_any_write(run_controllers, bind_there):
    odd = _claim("odd")
    odd["spec"]["devices"]["config"] = [_parameters(everywhere="<yes>")]
    for obj in (*_storage("odd"), odd, _pods("odd", "ours")[0]):
        _create(run_controllers, obj)
    _until(lambda: run_controllers.get(_storage("odd")[0])["status"].get("phase") == "Available")
    result = bind_there("default/web-odd", "--execute", "--yes")
    assert result.code == 4
    assert "the parameters for its drivers are stored with spaces" in result.err
    assert "claimRef" not in run_controllers.get(_storage("odd")[0])["spec"]


def test_failed_bind_reverts_every_write(run_controllers):
    """The volume controller is quick, so that only the devices go back where a volume is among what was written."""
    _create(run_controllers, _claim("back"))
    _, with_extended_resources = _pods("back", "ours")
    claims = [{"name": "gpus", "resourceClaimName": "gpus-back"}]
    both = {**with_extended_resources, "spec": {**with_extended_resources["spec"], "resourceClaims": claims}}
    _create(run_controllers, both)
    connection = Connection.open(Access(kubeconfig=str(run_controllers.kubeconfig)))
    kinds = ("Pod", "Node", "ResourceClaim", "ResourceSlice", "DeviceClass")
    plan, observed = plan_bind(connection, "default/ext-back", kinds=kinds)
    before = [_without_versions(run_controllers.get(each)) for each in (_claim("back"), both)]

    def relabel() -> None:
        stored = run_controllers.get(both)
        stored["metadata"]["labels"]["late"] = "yes"
        run_controllers.replace({"apiVersion": "v1", "kind": "Pod", **stored})

    with pytest.raises(Refusal, match=r"it has changed: metadata.labels.*does not allow to clear it"):
        bind(Interrupted(connection, BINDING, relabel), plan, observed)
    before[1]["metadata"]["labels"]["late"] = "yes"
    after = [_without_versions(run_controllers.get(each)) for each in (_claim("back"), both)]
    assert after[0] == before[0]
    assert "extendedResourceClaimStatus" in after[1]["status"]  # which the API server lets nobody clear
    del after[1]["status"]["extendedResourceClaimStatus"]
    assert after[1] == before[1]
    owners = [
        each["metadata"].get("ownerReferences", [{}])[0].get("name") for each in run_controllers.all("ResourceClaim")
    ]
    assert "ext-back" not in owners


def _without_versions(obj: Object) -> Object:
    del obj["metadata"]["resourceVersion"], obj["metadata"]["managedFields"]
    return obj
