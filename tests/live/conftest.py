"""What tests of live clusters share: the command line, servers that pretend, and a real control plane."""

from __future__ import annotations

import json
import shutil
import ssl
from collections.abc import Callable
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trustme

from schedctl.live import connections
from tests.cli.conftest import schedctl  # noqa: F401  the command line, as a fixture
from tests.cluster.control_plane import Object
from tests.live import control_planes
from tests.live.servers import Answer, FakeServer

_NUMBERS = count(1)


@pytest.fixture(autouse=True)
def _no_cluster_of_this_machine(monkeypatch, tmp_path):
    """Whatever the machine is used for: no test reaches its clusters, and none goes through its proxies.

    The programs of the control plane stay where they were built.
    """
    monkeypatch.setenv("SCHEDCTL_TEST_BIN", str(control_planes.PROGRAMS))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def impatient(monkeypatch):
    """Pauses before another attempt are short, and patience is as long as a busy machine needs for a few of them."""
    monkeypatch.setattr(connections, "FIRST_PAUSE", 0.005)
    monkeypatch.setattr(connections, "LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(connections, "PATIENCE", 1.0)


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """Who signs the certificates of the servers that pretend."""
    return trustme.CA()


@pytest.fixture
def serve(authority) -> Callable[..., FakeServer]:
    """Start a server that pretends: ``serve(answer, tls=True, names=["127.0.0.1"])``."""
    with ExitStack() as stack:

        def start(answer: Answer, *, tls: bool = False, names: tuple[str, ...] = ("127.0.0.1",), **options: Any):
            context = None
            if tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                authority.issue_cert(*names, **options).configure_cert(context)
                authority.configure_trust(context)
                context.verify_mode = ssl.CERT_OPTIONAL
            return stack.enter_context(closing(FakeServer(answer, context)))

        yield start


@pytest.fixture
def kubeconfig(tmp_path) -> Callable[..., str]:
    """Write a kubeconfig of one context and return its path; JSON is YAML."""

    def write(server: str, *, user: Object | None = None, name: str = "config", **cluster: Any) -> str:
        path: Path = tmp_path / name
        cluster = {key.replace("_", "-"): value for key, value in cluster.items()}
        tree = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "here", "user": "me"}}],
            "clusters": [{"name": "here", "cluster": {"server": server, **cluster}}],
            "users": [{"name": "me", "user": user or {}}],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(tree))
        return str(path)

    return write


@pytest.fixture(scope="session")
def _control_plane():
    if shutil.which("go") is None:
        pytest.skip("the control plane is built with Go and Go is not here")
    with control_planes.run_control_plane() as started:
        yield started


@pytest.fixture
def control_plane(_control_plane):
    """The real control plane, the same one for all tests; what a test makes through its `api` is gone after it."""
    _control_plane.api.reconnect()
    yield _control_plane
    _control_plane.await_restart()  # of a test that failed before it was over
    _control_plane.api.clear()


@pytest.fixture
def namespace(control_plane) -> str:
    """A namespace of this test alone."""
    name = f"test-{next(_NUMBERS)}"
    made: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    control_plane.api.create(made)
    return name
