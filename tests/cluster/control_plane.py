"""A client of the API server under test: what is put there, what becomes of it, and when the scheduler is at rest.

Standard library only, so that nothing stands between the test and what the server really answers. A watch in the
background writes down every state each pod was in; the gauges of kube-scheduler's queue tell when it is at rest.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import subprocess
import threading
import time
from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

KIT = Path(__file__).parents[2] / "conformance" / "cluster"
PATIENCE = 60.0  # seconds until the scheduler must have come to rest
POLL = 0.02
IDLE = 20.0
"""Seconds after which a connection that nobody has used is taken for closed by the server."""

_PATHS = {
    "Namespace": ("/api/v1", "namespaces", False),
    "Node": ("/api/v1", "nodes", False),
    "Pod": ("/api/v1", "pods", True),
    "Service": ("/api/v1", "services", True),
    "StatefulSet": ("/apis/apps/v1", "statefulsets", True),
    "Job": ("/apis/batch/v1", "jobs", True),
    "PersistentVolume": ("/api/v1", "persistentvolumes", False),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims", True),
    "StorageClass": ("/apis/storage.k8s.io/v1", "storageclasses", False),
    "CSINode": ("/apis/storage.k8s.io/v1", "csinodes", False),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets", True),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1", "priorityclasses", False),
    "ResourceSlice": ("/apis/resource.k8s.io/v1", "resourceslices", False),
    "ResourceClaim": ("/apis/resource.k8s.io/v1", "resourceclaims", True),
    "DeviceClass": ("/apis/resource.k8s.io/v1", "deviceclasses", False),
    "PodGroup": ("/apis/scheduling.k8s.io/v1beta1", "podgroups", True),
}
"""Where each kind lives that a scenario may use; another is one line. Owners come before what they own."""
_OFF_BY_DEFAULT = frozenset({"PodGroup"})
"""Kinds of APIs that a server serves only where it is told to."""

Object = dict[str, Any]


class Refused(Exception):
    """The API server refused a request; the message is its own."""


@dataclass
class History:
    """Every state a pod was in, as far as scheduling goes, without repetitions.

    Attributes:
        node: where it is bound, "" for nowhere.
        messages: what its PodScheduled condition said, while it said no.
        nominated: the nodes promised to it after it was refused; not the one it is about to be bound to.
        preempted: whether kube-scheduler marked it as a victim.
        terminating: whether it has been told to go.
        gone: whether it has been deleted.
    """

    node: str = ""
    messages: list[str] = field(default_factory=list)
    nominated: list[str] = field(default_factory=list)
    preempted: bool = False
    terminating: bool = False
    gone: bool = False
    gated: bool = False
    ours: bool = True

    def see(self, pod: Object) -> None:
        status, spec = pod.get("status", {}), pod["spec"]
        self.ours = spec.get("schedulerName") == "default-scheduler"
        self.node = spec.get("nodeName", "")
        self.gated = bool(spec.get("schedulingGates"))
        self.terminating = "deletionTimestamp" in pod["metadata"]
        for condition in status.get("conditions", ()):
            if condition["type"] == "PodScheduled" and condition.get("reason") not in ("SchedulingGated", None):
                _note(self.messages, condition.get("message", ""))
                if status.get("nominatedNodeName"):
                    _note(self.nominated, status["nominatedNodeName"])
            if condition["type"] == "DisruptionTarget":
                self.preempted = True

    @property
    def pending(self) -> bool:
        """Whether kube-scheduler's queue holds it."""
        return self.ours and not (self.node or self.terminating or self.gone)

    @property
    def answered(self) -> bool:
        """Whether there is an outcome yet; that of a gated pod is that nothing happens."""
        return bool(self.node or self.messages or self.gated or self.gone or not self.ours)


class Api:
    """The API server, as its administrator."""

    def __init__(self, kubeconfig: Path, *, timeout: float | None = None) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._server = urlsplit(cluster["server"])
        self._context = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
        self._token = user["token"]
        self._timeout = timeout
        self._connection = self._connect()
        self._used = time.monotonic()
        self.kubeconfig = kubeconfig

    def create(self, obj: Object) -> Object:
        """Create an object, its status too, and return it as it is stored."""
        stored = self.request("POST", _collection(obj), obj)
        status = obj.get("status")
        if status and not all(stored.get("status", {}).get(key) == value for key, value in status.items()):
            stored = self.request("PUT", f"{_path(stored)}/status", {**stored, "status": status})
        return stored

    def replace(self, obj: Object) -> Object:
        """Replace an object and return it as it is stored."""
        return self.request("PUT", _path(obj), obj)

    def get(self, obj: Object) -> Object:
        """Return an object as it is now."""
        return self.request("GET", _path(obj))

    def delete(self, obj: Object) -> None:
        """Delete an object at once; it is no error when it is gone already."""
        with suppress(Refused):
            self.request("DELETE", _path(obj), {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})

    def all(self, kind: str) -> list[Object]:
        """Return all objects of a kind, in all namespaces."""
        root, plural, _ = _PATHS[kind]
        found = self.request("GET", f"{root}/{plural}")
        version = root.removeprefix("/api/").removeprefix("/apis/")
        return [{"apiVersion": version, "kind": kind, **item} for item in found["items"]]

    def everything(self, *besides: str) -> list[Object]:
        """Return all objects of the kinds that scenarios use, and of kinds that not every server serves."""
        return [obj for kind in _PATHS if kind not in _OFF_BY_DEFAULT or kind in besides for obj in self.all(kind)]

    def refusal_notes(self) -> dict[str, set[str]]:
        """Return the notes of the FailedScheduling events, by ``namespace/name`` of the pod."""
        notes: dict[str, set[str]] = {}
        for event in self.request("GET", "/apis/events.k8s.io/v1/events")["items"]:
            if event["reason"] == "FailedScheduling":
                regarding = event["regarding"]
                notes.setdefault(f"{regarding['namespace']}/{regarding['name']}", set()).add(event["note"])
        return notes

    def request(self, verb: str, path: str, body: Object | None = None) -> Object:
        """Send one request and return the answer."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        before, self._used = self._used, time.monotonic()
        if self._used - before > IDLE:
            self._connection.close()  # http.client connects again
        try:
            self._connection.request(verb, path, json.dumps(body) if body is not None else None, headers)
            response = self._connection.getresponse()
            answer: Object = json.loads(response.read())
        except BaseException:
            # Half-way through a request http.client takes no other (CannotSendRequest); closed, it connects again.
            self._connection.close()
            raise
        if response.status >= 300:
            raise Refused(f"{verb} {path}: {answer.get('message', response.status)}")
        return answer

    @contextmanager
    def watch_pods(self) -> Iterator[Watch]:
        """Watch all pods from now on."""
        version = self.request("GET", "/api/v1/pods?limit=1")["metadata"]["resourceVersion"]
        connection = self._connect()
        connection.connect()
        plug = connection.sock
        path = f"/api/v1/pods?watch=1&resourceVersion={version}"
        connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}"})
        watch = Watch(connection.getresponse())
        try:
            yield watch
        finally:
            plug.shutdown(socket.SHUT_RDWR)  # a connection that somebody reads from cannot be closed
            watch.thread.join()
            connection.close()

    @contextmanager
    def run_scheduler(self, configuration: Path | None = None) -> Iterator[RealScheduler]:
        """Run kube-scheduler with its default configuration, or with one in a file, as JSON."""
        command = [KIT / "schedule", self.kubeconfig, *(("--config", configuration) if configuration else ())]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url, "kube-scheduler did not start; the reason is on stderr"
            try:
                with closing(RealScheduler(url)) as scheduler:
                    yield scheduler
            finally:
                process.terminate()

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> http.client.HTTPSConnection:
        host, port = self._server.hostname, self._server.port
        assert host is not None
        return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._context)


class Watch:
    """What became of every pod since the watch began, by ``namespace/name``; a thread keeps it up to date."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.pods: dict[str, History] = {}
        self.thread = threading.Thread(target=self._read, args=(response,), daemon=True)
        self.thread.start()

    def _read(self, response: http.client.HTTPResponse) -> None:
        with suppress(OSError, http.client.HTTPException):  # the watch was closed
            while line := response.readline():
                event = json.loads(line)
                pod = event["object"]
                if pod.get("kind") != "Pod":
                    continue
                self.note(pod).gone = event["type"] == "DELETED"

    def note(self, pod: Object) -> History:
        """Write down the state a pod is in."""
        key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        history = self.pods.setdefault(key, History())
        history.see(pod)
        return history


class RealScheduler:
    """The running kube-scheduler, as far as its metrics tell."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing secret is sent or read
        assert parts.hostname is not None
        self._connection = http.client.HTTPSConnection(parts.hostname, parts.port, context=context)

    def attempts(self) -> dict[str, int]:
        """Return how many attempts ended how: scheduled, unschedulable, error."""
        return self._read()[1]

    def queued(self) -> dict[str, int]:
        """Return how many pods wait in which part of the queue."""
        return self._read()[0]

    def settle(self, watch: Watch, keys: Iterable[str]) -> None:
        """Wait until these pods have an outcome and nothing moves any more.

        That is when the queue holds every pending pod and none of them is going to be tried, and every pod that a node
        was promised to still waits for one that has been told to leave it.
        """
        keys, deadline, before = list(keys), time.monotonic() + PATIENCE, None
        while True:
            pods = list(watch.pods.values())
            queued, attempts = self._read()
            pending = [pod for pod in pods if pod.pending]
            leaving = {pod.node for pod in pods if pod.terminating and not pod.gone}
            calm = (
                all(key in watch.pods and watch.pods[key].answered for key in keys)
                and not queued["active"] + queued["backoff"]
                and sum(queued.values()) == len(pending)
                and all(not pod.nominated or pod.nominated[-1] in leaving for pod in pending)
            )
            now = (queued, attempts, [(pod.node, len(pod.messages), pod.gone) for pod in pods])
            if calm and now == before:
                return
            before = now if calm else None
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"kube-scheduler does not come to rest: {queued}, {len(pending)} pending, {attempts}"
                )
            time.sleep(POLL)

    def close(self) -> None:
        self._connection.close()

    def _read(self) -> tuple[dict[str, int], dict[str, int]]:
        self._connection.request("GET", "/metrics")
        text = self._connection.getresponse().read().decode()
        queued = re.findall(r'^scheduler_pending_pods\{queue="(\w+)"\} (\S+)', text, re.MULTILINE)
        made = re.findall(r'^scheduler_schedule_attempts_total\{.*result="(\w+)"\} (\S+)', text, re.MULTILINE)
        return {name: int(float(n)) for name, n in queued}, {name: int(float(n)) for name, n in made}


def _note(seen: list[str], value: str) -> None:
    if not seen or seen[-1] != value:
        seen.append(value)


def _collection(obj: Object) -> str:
    root, plural, namespaced = _PATHS[obj["kind"]]
    space = f"/namespaces/{obj['metadata'].get('namespace', 'default')}" if namespaced else ""
    return f"{root}{space}/{plural}"


def _path(obj: Object) -> str:
    return f"{_collection(obj)}/{obj['metadata']['name']}"
