"""One real control plane for all tests of a session, and what a test has made in it, which is gone after the test."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import threading
import time
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from schedctl import KUBERNETES_VERSION
from tests.cluster.control_plane import KIT, Api, Object, Refused

PROGRAMS = Path(
    os.environ.get("SCHEDCTL_TEST_BIN")
    or Path.home() / ".cache/schedctl-testcluster" / KUBERNETES_VERSION.removeprefix("v")
)
"""Where `conformance/cluster/build` puts what it builds; asked while HOME is still the user's own."""
PATIENCE = 240.0
"""Seconds until a server that was started again must answer: several times what it takes on a busy machine."""
PORT_TAKEN = "address already in use"
"""What a server says that cannot listen, yet."""
ENVIRONMENT = dict(os.environ)
"""Of this process, before a test moves its home: the programs of the control plane lie there."""
TOGETHER = 100
"""How many objects etcd takes at once; it would take 128."""


class Notebook(Api):
    """The API server as its administrator, who remembers what was made."""

    def __init__(self, kubeconfig: Path) -> None:
        super().__init__(kubeconfig)
        self.made: list[Object] = []

    def create(self, obj: Object) -> Object:
        stored = super().create(obj)
        self.made.append(obj)
        return stored

    def clear(self) -> None:
        """Delete what was made, the newest first; no namespace ever goes, because no controller empties it."""
        for obj in reversed(self.made):
            if obj["kind"] != "Namespace":
                self.delete(obj)
        self.made.clear()

    def reconnect(self) -> None:
        """Let the next request open a new connection, as after a restart of the server."""
        self._connection.close()

    def may(self, user: str, rule: Object) -> bool:
        """Whether a user has a right, by the first resource and verb of the rule; the server learns of roles late."""
        resource, _, subresource = rule["resources"][0].partition("/")
        attributes = {"group": rule["apiGroups"][0], "resource": resource, "subresource": subresource}
        attributes |= {"verb": rule["verbs"][0], "name": (rule.get("resourceNames") or [""])[0]}
        attributes |= {"namespace": rule.get("namespace", "")}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "groups": ["system:authenticated"], "resourceAttributes": attributes},
        }
        answer = self.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        return bool(answer["status"]["allowed"])


class ControlPlane:
    """A running control plane.

    Attributes:
        kubeconfig: the administrator's.
        nobody: that of the user ``nobody``, who may authenticate and has no rights until a test gives some.
        api: a client for making objects, as the administrator. It is one connection: not for several threads.
    """

    def __init__(self, kubeconfig: Path, nobody: Path) -> None:
        self.kubeconfig, self.nobody = kubeconfig, nobody
        self.directory = kubeconfig.parent
        self.api = Notebook(kubeconfig)
        self._again: list[subprocess.Popen[bytes]] = []
        self._restart: threading.Thread | None = None
        self._restart_failure: BaseException | None = None

    def client(self) -> Api:
        """Return a client of its own, for a thread."""
        return Api(self.kubeconfig)

    def audit(self, user: str = "") -> list[dict[str, Any]]:
        """Return what was asked of the API server so far, by a user."""
        with (self.directory / "audit.jsonl").open() as log:
            entries = [json.loads(line) for line in log if line.endswith("\n")]
        return [one for one in entries if not user or one["user"]["username"] == user]

    @contextmanager
    def grant(self, *roles: Object, user: str = "nobody") -> Iterator[None]:
        """Give a user Roles or ClusterRoles, which takes effect before this goes on, and take them away again."""
        root, made = "/apis/rbac.authorization.k8s.io/v1", []
        rules = [
            {**rule, "namespace": role["metadata"].get("namespace", "")} for role in roles for rule in role["rules"]
        ]
        try:
            for role in roles:
                kind, metadata = role["kind"], role["metadata"]
                space = f"{root}/namespaces/{metadata['namespace']}" if kind == "Role" else root
                binding = {
                    "apiVersion": "rbac.authorization.k8s.io/v1",
                    "kind": f"{kind}Binding",
                    "metadata": metadata,
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": metadata["name"]},
                    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
                }
                for obj in (role, binding):
                    collection = f"{space}/{obj['kind'].lower()}s"
                    self.api.request("POST", collection, obj)
                    made.append(f"{collection}/{metadata['name']}")
            self._wait(lambda: all(self.api.may(user, rule) for rule in rules), "the roles have not taken effect")
            yield
        finally:
            for path in reversed(made):
                self.api.request("DELETE", path)
            self._wait(lambda: not any(self.api.may(user, rule) for rule in rules), "the roles stayed in effect")

    def compact(self) -> None:
        """Let etcd forget all versions but the present one."""
        revision = self._etcd("range", {"key": "AA=="})["header"]["revision"]
        self._etcd("compaction", {"revision": revision, "physical": True})

    def store(self, objects: Mapping[str, Object]) -> None:
        """Put objects straight into etcd, by key, as an API server would have stored them: many in little time."""
        puts = [
            {"requestPut": {"key": _base64(key.encode()), "value": _base64(json.dumps(obj).encode())}}
            for key, obj in objects.items()
        ]
        for begin in range(0, len(puts), TOGETHER):
            self._etcd("txn", {"success": puts[begin : begin + TOGETHER]})

    def _etcd(self, path: str, body: Object) -> Object:
        """Ask etcd, which speaks JSON as well."""
        (pid,) = [one["pid"] for one in self._processes() if one["name"] == "kube-apiserver"]
        flags = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        url = next(flag.partition("=")[2] for flag in flags if flag.startswith("--etcd-servers="))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{url}/v3/kv/{path}", json.dumps(body).encode()) as response:
            answer: Object = json.load(response)
        return answer

    def stop_api_server(self, how: int = signal.SIGKILL) -> list[str]:
        """End kube-apiserver and return its command line."""
        (pid,) = [one["pid"] for one in self._processes() if one["name"] == "kube-apiserver"]
        command = Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
        os.kill(pid, how)
        for process in self._again:
            process.wait()
        while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_text():
            time.sleep(0.02)
        return command

    def restart_api_server(self) -> None:
        """End kube-apiserver and start it again in the background; `await_restart` waits until it is ready."""
        command = self.stop_api_server()

        def start() -> None:
            try:
                self.start_api_server(command)
            except BaseException as failure:  # raised where the restart is awaited
                self._restart_failure = failure

        self._restart = threading.Thread(target=start, daemon=True)
        self._restart.start()

    def await_restart(self) -> None:
        """Wait until a restart in the background is over, and let `api` connect again; without one, do nothing."""
        if self._restart is None:
            return
        self._restart.join()
        failure, self._restart, self._restart_failure = self._restart_failure, None, None
        self.api.reconnect()
        if failure is not None:
            raise failure

    def start_api_server(self, command: list[str]) -> None:
        """Start kube-apiserver with a command line, and wait until it is ready; `up` ends it with the rest.

        Its port may be taken for a moment by what was connected to it: it is started again for as long.
        """
        deadline = time.monotonic() + PATIENCE
        while self._start_api_server_once(command) == PORT_TAKEN and time.monotonic() < deadline:
            time.sleep(1.0)

    def _start_api_server_once(self, command: list[str]) -> str:
        """Start it and return "" once it is ready, `PORT_TAKEN` where its port is taken."""
        with (self.directory / "logs/kube-apiserver.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._again.append(process)
        self._record(process.pid)
        # A client for this alone: `api` is one connection, and the thread of the test may be using it.
        with closing(Api(self.kubeconfig, timeout=5.0)) as client:
            self._wait(lambda: self._is_ready(process, client), "kube-apiserver does not answer")
        return PORT_TAKEN if process.poll() is not None else ""

    def close(self) -> None:
        self.api.close()
        for process in self._again:
            process.kill()
            process.wait()

    def _processes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((self.directory / "cluster.json").read_text())["processes"]
        return found

    def _record(self, pid: int) -> None:
        path = self.directory / "cluster.json"
        record = json.loads(path.read_text())
        started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        for one in record["processes"]:
            if one["name"] == "kube-apiserver":
                one["pid"], one["started"] = pid, started
        path.write_text(json.dumps(record))

    @staticmethod
    def _wait(holds: Callable[[], bool], complaint: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, f"{complaint} for {PATIENCE:g} s"
            time.sleep(0.05)

    def _is_ready(self, process: subprocess.Popen[bytes], client: Api) -> bool:
        if process.poll() is not None:
            log = (self.directory / "logs/kube-apiserver.log").read_text(errors="replace")
            if PORT_TAKEN in log[-2000:]:
                return True
            raise AssertionError(f"kube-apiserver ended with {process.returncode} when started again: {log[-2000:]}")
        try:
            client.request("GET", "/api/v1/namespaces/default")
        except (OSError, http.client.HTTPException, ValueError, Refused):  # ValueError: it answers with a text yet
            return False
        return True


@contextmanager
def run_control_plane() -> Iterator[ControlPlane]:
    """Start a control plane that is gone afterwards."""
    command = [KIT / "up", "--hold", "--audit", "--rbac-user", "nobody"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as up:
        assert up.stdout is not None
        kubeconfig, nobody = (Path(up.stdout.readline().strip() or os.devnull) for _ in range(2))
        assert kubeconfig.is_file(), "the control plane did not come up; the reason is on stderr"
        try:
            with closing(ControlPlane(kubeconfig, nobody)) as control_plane:
                yield control_plane
        finally:
            up.terminate()


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
