"""A Kubernetes control plane on loopback: etcd, kube-apiserver and, on request, scheduler and controllers.

There is no kubelet: nodes are objects the test writes, and a bound pod stays Pending forever, which is all a scheduler
ever looks at. Everything a cluster owns lies in one directory (`cluster.json` records the processes), so that `stop`
needs nothing but that directory. Standard library only; Linux, because pids are identified through /proc.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypedDict

HERE = Path(__file__).resolve().parent
FIRST_PORT = 10000
LOOPBACK = "127.0.0.1"
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
READY_SECONDS = 120.0
STOP_SECONDS = 10.0

# Those that turn workloads into pods and keep what the scheduler reads true (PDB status, volume binding, claims from
# templates). Not the node lifecycle controller: without kubelets it would mark every node unreachable after 50 s.
CONTROLLERS = (
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "ephemeral-volume-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "persistentvolume-binder-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "resourceclaim-controller",
    "serviceaccount-controller",
    "statefulset-controller",
)

# Those that have an identity of their own.
COMPONENTS = ("kube-scheduler", "kube-controller-manager")

# ServiceAccount would refuse every pod until a controller has made the namespace's account; TaintNodesByCondition would
# taint every node not-ready until a node lifecycle controller lifts it.
DISABLED_ADMISSION = ("ServiceAccount", "TaintNodesByCondition")


class ClusterError(Exception):
    """The control plane did not come up; the message names the component and quotes the end of its log."""


def binaries(*names: str) -> Path:
    """Build what is missing of `names` (see `build`) and return the folder of the binaries."""
    process = subprocess.Popen([HERE / "build", *names], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, _ = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)  # the compilers too
        process.wait()
        raise
    if process.returncode:
        raise ClusterError(f"build failed with exit status {process.returncode}")
    return Path(output.strip())


def start(
    directory: Path,
    *,
    scheduler: bool = False,
    controllers: bool = False,
    audit: bool = False,
    users: Iterable[str] = (),
    tied: bool = False,
    gates: str = "",
    apis: str = "",
) -> list[Path]:
    """Start a control plane in the empty `directory` and return its kubeconfigs: the administrator's, then the users'.

    `users` can authenticate and may do nothing else. `gates` are for all processes, also those that are started later,
    `apis` those that the server serves besides; both as Kubernetes' own options have them. `tied` processes die with
    the calling thread, however it ends. On any failure, an interrupt included, whatever was started is stopped again;
    the directory is left to the caller.
    """
    names = ["etcd", "kube-apiserver"]
    names += ["kube-scheduler"] if scheduler else []
    names += ["kube-controller-manager"] if controllers else []
    control_plane = _ControlPlane(directory, binaries(*names), tied=tied, gates=gates)
    try:
        return control_plane.start(
            scheduler=scheduler, controllers=controllers, audit=audit, users=tuple(users), apis=apis
        )
    except BaseException:
        stop(directory)
        raise


def start_scheduler(directory: Path, *, tied: bool = False, configuration: dict[str, Any] | None = None) -> str:
    """Start kube-scheduler in a running cluster and return its URL, where `/metrics` may be read by anybody.

    It follows its defaults, or a KubeSchedulerConfiguration that says nothing about the API server.
    """
    if not (directory / "cluster.json").is_file():
        raise ClusterError(f"no cluster was started in {directory}: there is no cluster.json")
    gates = json.loads((directory / "cluster.json").read_text())["gates"]
    control_plane = _ControlPlane(directory, binaries("kube-scheduler"), tied=tied, gates=gates)
    (port,) = _free_ports(1)
    try:
        control_plane.run_scheduler(port, configuration)
    except BaseException:
        stop_scheduler(directory)
        raise
    return f"https://{LOOPBACK}:{port}"


def stop_scheduler(directory: Path) -> None:
    """Stop the kube-scheduler of a cluster; the rest runs on. It is no error when there is none."""
    for process in _recorded(directory):
        if process["name"] == "kube-scheduler":
            _terminate(process["pid"], process["started"])


def stop(directory: Path) -> None:
    """Stop, newest first, every process recorded in `directory`; it is no error when some or all are already gone."""
    for process in reversed(_recorded(directory)):
        _terminate(process["pid"], process["started"])


def remove(directory: Path) -> None:
    """Stop the cluster in `directory` and delete it. Refuses a directory that no cluster was started in."""
    if not (directory / "cluster.json").is_file():
        raise ClusterError(f"no cluster was started in {directory}: there is no cluster.json")
    stop(directory)
    shutil.rmtree(directory)


def make_directory() -> Path:
    """A fresh private directory for one cluster, under $TMPDIR."""
    return Path(tempfile.mkdtemp(prefix="schedctl-testcluster-"))


def die_with_parent(with_signal: int) -> None:
    """Ask the kernel to send this process `with_signal` when the thread that started it ends (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, with_signal)


def interrupt_once() -> None:
    """Let the first SIGINT, SIGTERM or SIGHUP raise KeyboardInterrupt, and none after it disturb the clearing up."""

    def interrupted(number: int, frame: object) -> None:
        interrupt_no_more()
        raise KeyboardInterrupt

    for each in _ENDING:
        signal.signal(each, interrupted)


def interrupt_no_more() -> None:
    """Let nothing disturb the clearing up."""
    for each in _ENDING:
        signal.signal(each, lambda number, frame: None)  # SIG_IGN would complain of one that is on its way


class _Process(TypedDict):
    """What `cluster.json` records; `started` (see `_started`) is None when it ended at once."""

    name: str
    pid: int
    started: str | None


def _recorded(directory: Path) -> list[_Process]:
    """Every process ever started for the cluster in `directory`, in order; empty before the first."""
    try:
        processes: list[_Process] = json.loads((directory / "cluster.json").read_text())["processes"]
    except FileNotFoundError:
        return []
    return processes


class _ControlPlane:
    """The start sequence, with the paths, ports and credentials its steps share."""

    def __init__(self, directory: Path, bin_dir: Path, *, tied: bool, gates: str) -> None:
        self.directory = directory
        self.bin_dir = bin_dir
        self.tied = tied
        self.gates = gates
        self.processes = _recorded(directory)
        self.tokens: dict[str, str] = {}
        self.server = ""
        self.authority = ""

    def start(
        self, *, scheduler: bool, controllers: bool, audit: bool, users: tuple[str, ...], apis: str
    ) -> list[Path]:
        for name in ("certs", "logs"):
            (self.directory / name).mkdir()
        etcd, peers, api, scheduling, controlling = _free_ports(5)
        self._write_credentials(users)

        self._run_etcd(etcd, peers)
        self._run_apiserver(api, etcd, audit, apis)
        kubeconfigs = [self._write_kubeconfig("admin", self.directory / "kubeconfig")]
        kubeconfigs += [self._write_kubeconfig(user, self.directory / f"{user}.kubeconfig") for user in users]
        for name in COMPONENTS:
            self._write_kubeconfig(f"system:{name}", self._component_kubeconfig(name))
        if controllers:
            self._run_controllers(controlling)
        if scheduler:
            self.run_scheduler(scheduling)
        return kubeconfigs

    def run_scheduler(self, port: int, configuration: dict[str, Any] | None = None) -> None:
        kubeconfig = self._component_kubeconfig("kube-scheduler")
        flags = [f"--kubeconfig={kubeconfig}", "--kube-api-qps=5000", "--kube-api-burst=5000"]
        if configuration is not None:  # beside a file, those flags count for nothing
            connection = {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 5000}
            file = self.directory / "kube-scheduler.json"
            file.write_text(json.dumps({**configuration, "clientConnection": connection}))
            flags = [f"--config={file}"]
        self._spawn(
            "kube-scheduler",
            *flags,
            *self._component_flags(port),
            "--authorization-always-allow-paths=/healthz,/metrics",
        )
        self._wait_component("kube-scheduler", port)

    def _run_etcd(self, port: int, peers: int) -> None:
        client_url, peer_url = f"http://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{peers}"
        self._spawn(
            "etcd",
            f"--data-dir={self.directory / 'etcd'}",
            "--name=testcluster",
            f"--listen-client-urls={client_url}",
            f"--advertise-client-urls={client_url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=testcluster={peer_url}",
            "--unsafe-no-fsync",  # the data does not outlive the test
            f"--quota-backend-bytes={8 << 30}",
            "--log-level=warn",
        )
        self._wait("etcd", lambda: _get(f"{client_url}/readyz"))

    def _run_apiserver(self, port: int, etcd: int, audit: bool, apis: str) -> None:
        certs = self.directory / "certs"
        self.server = f"https://{LOOPBACK}:{port}"
        flags = [
            f"--etcd-servers=http://{LOOPBACK}:{etcd}",
            f"--bind-address={LOOPBACK}",
            f"--advertise-address={LOOPBACK}",
            "--endpoint-reconciler-type=none",  # a loopback address is no valid endpoint
            f"--secure-port={port}",
            f"--cert-dir={certs}",
            f"--token-auth-file={certs / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-signing-key-file={certs / 'service-account.key'}",
            f"--service-account-key-file={certs / 'service-account.key'}",
            "--service-cluster-ip-range=10.96.0.0/16",
            f"--disable-admission-plugins={','.join(DISABLED_ADMISSION)}",
            "--allow-privileged",
            "--max-requests-inflight=1000",
            "--max-mutating-requests-inflight=500",
            *self._gate_flags(),
            *([f"--runtime-config={apis}"] if apis else []),
        ]
        if audit:
            policy = {
                "apiVersion": "audit.k8s.io/v1",
                "kind": "Policy",
                "omitStages": ["RequestReceived"],
                "rules": [{"level": "Metadata"}],
            }
            (certs / "audit-policy.json").write_text(json.dumps(policy))
            flags += [
                f"--audit-policy-file={certs / 'audit-policy.json'}",
                f"--audit-log-path={self.directory / 'audit.jsonl'}",
                "--audit-log-mode=blocking-strict",  # a request answered is a request logged
            ]
        self._spawn("kube-apiserver", *flags)
        self._wait("kube-apiserver", self._apiserver_ready)

    def _apiserver_ready(self) -> bool:
        # The server signs its own certificate on start and appends the authority that signed it.
        begin = "-----BEGIN CERTIFICATE-----"
        self.authority = begin + (self.directory / "certs" / "apiserver.crt").read_text().rpartition(begin)[2]
        context = ssl.create_default_context(cadata=self.authority)
        token = self.tokens["admin"]
        return _get(f"{self.server}/readyz", context, token) and _get(
            # a hook makes it some time after the server calls itself ready
            f"{self.server}/api/v1/namespaces/default",
            context,
            token,
        )

    def _run_controllers(self, port: int) -> None:
        self._spawn(
            "kube-controller-manager",
            f"--kubeconfig={self._component_kubeconfig('kube-controller-manager')}",
            f"--controllers={','.join(CONTROLLERS)}",
            *self._component_flags(port),
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        )
        self._wait_component("kube-controller-manager", port)

    def _component_flags(self, port: int) -> list[str]:
        return [
            "--leader-elect=false",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={port}",
            f"--cert-dir={self.directory / 'certs'}",
            "--authentication-skip-lookup",
            *self._gate_flags(),
        ]

    def _gate_flags(self) -> list[str]:
        return [f"--feature-gates={self.gates}"] if self.gates else []

    def _component_kubeconfig(self, name: str) -> Path:
        return self.directory / "certs" / f"{name}.kubeconfig"

    def _wait_component(self, name: str, port: int) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing secret is sent or read
        self._wait(name, lambda: _get(f"https://{LOOPBACK}:{port}/healthz", context))

    def _write_credentials(self, users: tuple[str, ...]) -> None:
        groups = {
            "admin": "system:masters",
            "system:kube-scheduler": "",  # bound to its role by the server's own bootstrap policy, as in any cluster
            "system:kube-controller-manager": "system:masters",  # one identity for all controllers
        } | dict.fromkeys(users, "")
        self.tokens = {user: secrets.token_hex(16) for user in groups}
        rows = [f'{token},{user},{user},"{groups[user]}"' for user, token in self.tokens.items()]
        _write_private(self.directory / "certs" / "tokens.csv", "\n".join(rows) + "\n")

        # A P-256 key as RFC 5915 writes it without its optional public half; the leading zero keeps it below the order.
        key = bytes.fromhex("3031020101042000") + secrets.token_bytes(31) + bytes.fromhex("a00a06082a8648ce3d030107")
        pem = f"-----BEGIN EC PRIVATE KEY-----\n{base64.encodebytes(key).decode()}-----END EC PRIVATE KEY-----\n"
        _write_private(self.directory / "certs" / "service-account.key", pem)

    def _write_kubeconfig(self, user: str, path: Path) -> Path:
        authority = base64.b64encode(self.authority.encode()).decode()
        text = f"""\
apiVersion: v1
kind: Config
clusters:
- name: testcluster
  cluster:
    server: {self.server}
    certificate-authority-data: {authority}
users:
- name: "{user}"
  user:
    token: {self.tokens[user]}
contexts:
- name: testcluster
  context:
    cluster: testcluster
    user: "{user}"
current-context: testcluster
"""
        return _write_private(path, text)

    def _spawn(self, name: str, *flags: str) -> None:
        with (self.directory / "logs" / f"{name}.log").open("wb") as log, _uninterrupted() as mask:

            def prepare() -> None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                if self.tied:
                    die_with_parent(signal.SIGKILL)

            process = subprocess.Popen(
                [self.bin_dir / name, *flags],
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a Ctrl-C meant for the caller stops them in order, not all at once
                preexec_fn=prepare,
            )
            self.processes.append({"name": name, "pid": process.pid, "started": _started(process.pid)})
            record = {"bin": str(self.bin_dir), "gates": self.gates, "processes": self.processes}
            (self.directory / "cluster.json").write_text(json.dumps(record, indent=2))

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        process = self.processes[-1]
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):  # refused, reset, no certificate yet, urllib's own errors
                if ready():
                    return
            if not _alive(process["pid"], process["started"]):
                raise ClusterError(f"{name} ended while starting:\n{self._log_tail(name)}")
            time.sleep(0.05)
        raise ClusterError(f"{name} was not ready after {READY_SECONDS:.0f} s:\n{self._log_tail(name)}")

    def _log_tail(self, name: str) -> str:
        return "\n".join((self.directory / "logs" / f"{name}.log").read_text(errors="replace").splitlines()[-15:])


@contextlib.contextmanager
def _uninterrupted() -> Iterator[Iterable[int]]:
    """Hold back the signals that end us, so that no process is started without being recorded; yields the old mask."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield mask
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _get(url: str, context: ssl.SSLContext | None = None, token: str | None = None) -> bool:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    # Never through a proxy named by the environment: these are loopback addresses.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    with opener.open(request, timeout=5) as response:
        return bool(response.status == 200)


def _free_ports(count: int) -> list[int]:
    """Ports free a moment ago. Held open together so that they differ.

    They lie below those that the system gives to clients: one that connects to a server which is being started again
    might else be given the very port of the server, connect to itself, and hold it.
    """
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            each = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):  # somebody has it already
                each.bind((LOOPBACK, FIRST_PORT + secrets.randbelow(_first_client_port() - FIRST_PORT)))
                ports.append(each.getsockname()[1])
        return ports


def _first_client_port() -> int:
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except OSError:
        return 32768


def _write_private(path: Path, text: str) -> Path:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    return path


def _started(pid: int) -> str | None:
    """When the process began, in clock ticks since boot; with the pid it names one process for good. None: no more."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields[19]


def _alive(pid: int, started: str | None) -> bool:
    return started is not None and _started(pid) == started


def _terminate(pid: int, started: str | None) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not _alive(pid, started):
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + STOP_SECONDS
        while _alive(pid, started) and time.monotonic() < deadline:
            time.sleep(0.02)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
