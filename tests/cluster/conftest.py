"""A control plane for each test, empty and without a scheduler: a test runs that when it wants it to."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from schedctl.releases import OF_GROUPS
from tests.cluster.control_plane import KIT, Api


@pytest.fixture
def api():
    """The API server of a control plane that is gone after the test; ``SCHEDCTL_TEST_GATES`` sets gates of it."""
    gates = os.environ.get("SCHEDCTL_TEST_GATES", "")
    with _control_plane(*(("--feature-gates", gates) if gates else ())) as server:
        yield server


@pytest.fixture
def controlled_api():
    """The API server of a control plane with kube-controller-manager and kube-scheduler that is gone after the test."""
    with _control_plane("--with-scheduler", "--with-controllers") as server:
        yield server


@pytest.fixture(scope="session")
def _api_of_groups():
    with _control_plane(*_with_groups(*OF_GROUPS)) as server:
        yield server


@pytest.fixture(scope="session")
def api_of_jobs():
    """The API server of a control plane whose Job controller makes pod groups, the same one for all tests.

    Nobody schedules.
    """
    with _control_plane("--with-controllers", *_with_groups(*OF_GROUPS, "WorkloadWithJob")) as server:
        yield server


def _with_groups(*gates):
    switches = ",".join(f"{gate}=true" for gate in sorted(gates))
    return "--feature-gates", switches, "--runtime-config", "scheduling.k8s.io/v1beta1=true"


@pytest.fixture
def api_of_groups(_api_of_groups):
    """The API server of a control plane in which kube-scheduler schedules pod groups, the same one for all tests.

    Pods, groups, nodes and priority classes of a test are gone after it.
    """
    yield _api_of_groups
    for kind in ("Pod", "PodGroup", "Node", "PriorityClass"):
        for obj in _api_of_groups.all(kind):
            if kind == "PodGroup":  # no controller lifts what protects it
                obj["metadata"]["finalizers"] = []
                _api_of_groups.replace(obj)
            if not obj["metadata"]["name"].startswith("system-"):
                _api_of_groups.delete(obj)


@contextmanager
def _control_plane(*options):
    if shutil.which("go") is None:
        pytest.skip("the control plane is built with Go and Go is not here")
    with subprocess.Popen([KIT / "up", "--hold", *options], stdout=subprocess.PIPE, text=True) as up:
        kubeconfig = up.stdout.readline().strip()
        if not kubeconfig:
            pytest.fail("the control plane did not come up; the reason is on stderr")
        try:
            with closing(Api(Path(kubeconfig))) as server:
                yield server
        finally:
            up.terminate()
