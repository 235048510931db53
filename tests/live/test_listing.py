"""Lists are whole, each of one version, and say what is missing."""

from __future__ import annotations

import json
import threading

import pytest

from schedctl import sources
from schedctl.api.kinds import KINDS, kind_named
from schedctl.errors import ClusterError
from schedctl.live import listing, pages
from schedctl.live.connections import Connection
from schedctl.live.kubeconfigs import Access
from schedctl.live.objects import collection
from tests.live.servers import Cluster, Reply, status

pytestmark = pytest.mark.usefixtures("impatient")
PODS, NODES = "/api/v1/pods", "/api/v1/nodes"


def things(number, **fields):
    return [{"metadata": {"name": f"x-{i}", "namespace": "a"}, **fields} for i in range(number)]


@pytest.fixture
def cluster():
    return Cluster(
        {
            PODS: things(1203, spec={"containers": [{"name": "c", "image": "i"}]}),
            NODES: [{"metadata": {"name": f"n-{i}"}} for i in range(3)],
        }
    )


@pytest.fixture
def list_kinds(serve, kubeconfig, cluster):
    """List the cluster; the server is at hand as `list_kinds.server`."""
    server = serve(cluster)

    def read(**options):
        return listing.read(Connection.open(Access(kubeconfig=kubeconfig(server.url))), **options)

    read.server = server
    return read


def names(found, kind):
    pages = [json.loads(page.body) for page in found.pages if page.kind.name == kind]
    return [item["metadata"]["name"] for page in pages for item in page["items"]]


def test_every_kind_is_listed_completely_in_order(list_kinds):
    found = list_kinds()
    assert names(found, "Pod") == [f"x-{i}" for i in range(1203)]
    assert len(names(found, "Node")) == 3
    assert list(dict.fromkeys(page.kind for page in found.pages)) == list(KINDS)
    assert (found.missing, found.unserved) == ((), ())
    assert set(found.versions.values()) == {"100"}
    assert len(found.versions) == len(KINDS)


def test_repeated_continue_token_is_an_error(list_kinds, cluster):
    def answer(request):
        metadata = {"resourceVersion": "100", "continue": "again"}
        return Reply({"metadata": metadata, "items": []}) if request.path == PODS else None

    cluster.before = answer
    with pytest.raises(ClusterError, match="never ends"):
        list_kinds()
    assert list_kinds.server.paths().count(PODS) == 2


@pytest.mark.parametrize(
    ("bound", "most", "says"),
    [("MOST_PAGES", 20, "more than 20 pages"), ("MOST_BYTES", 1 << 12, "more than 0 GiB")],
)
def test_a_list_that_never_ends_is_given_up(list_kinds, cluster, monkeypatch, bound, most, says):
    def answer(request):
        metadata = {"resourceVersion": "100", "continue": f"more-{len(list_kinds.server.requests)}"}
        return Reply({"metadata": metadata, "items": things(1)}) if request.path == PODS else None

    monkeypatch.setattr(pages, bound, most)
    cluster.before = answer
    with pytest.raises(ClusterError, match=f"the list of {PODS} never ends: there are {says}"):
        list_kinds()


@pytest.mark.parametrize("where", ["the list", "an item", "the version"])
def test_brackets_nested_without_end_are_a_fault_of_the_server(list_kinds, cluster, where):
    nested = b"[" * 100_000 + b"]" * 100_000
    body = {"the list": b'{"items": %s}', "an item": b'{"items": [{"spec": %s}]}', "the version": b'{"a": %s}'}[where]
    path = "/version" if where == "the version" else NODES
    cluster.before = lambda request: Reply(body % nested) if request.path == path else None
    with pytest.raises(ClusterError, match="cannot be read"):
        list_kinds()


def test_lists_are_decoded(list_kinds):
    found = sources.load_listed("context test", (page.body for page in list_kinds().pages))
    assert len(found.objects) == 1203 + 3
    assert found.digests.keys() == {"context test"}


def test_server_version_and_time_are_recorded(list_kinds):
    found = list_kinds()
    assert (found.server_version, found.taken) == ("v1.37.1", "2026-11-22T01:02:03Z")


def test_pages_are_requested_in_turn_with_progress(list_kinds):
    steps = []
    list_kinds(kinds=[kind_named("Pod")], progress=lambda *step: steps.append(step))
    requests = [request.query for request in list_kinds.server.requests if request.path == PODS]
    assert requests == [
        {"limit": "500"},
        {"limit": "500", "continue": "100@500"},
        {"limit": "500", "continue": "100@1000"},
    ]
    assert steps == [("Pod", 500, 1203), ("Pod", 1000, 1203), ("Pod", 1203, 1203)]


def test_secrets_and_config_maps_are_never_requested(list_kinds):
    list_kinds()
    assert sorted(list_kinds.server.paths()) == sorted(
        ["/version", *(collection(kind) for kind in KINDS), PODS, PODS]  # pods are three pages
    )
    assert not {"secrets", "configmaps"} & {path.rpartition("/")[2] for path in list_kinds.server.paths()}
    assert {request.method for request in list_kinds.server.requests} == {"GET"}


def test_kinds_are_listed_concurrently(list_kinds, cluster):
    together = threading.Barrier(listing.THREADS, timeout=20)
    first = {collection(kind) for kind in KINDS[: listing.THREADS]}

    def before(request):
        if request.path in first and "continue" not in request.query:
            together.wait()

    cluster.before = before
    assert len(list_kinds().versions) == len(KINDS)


def test_expired_list_is_restarted(list_kinds, cluster):
    def before(request):
        if request.path == PODS and request.query.get("continue", "").startswith("100@"):
            cluster.version = "200"
            return status(410, "Expired", "The provided continue parameter is too old")
        return None

    cluster.before = before
    found = list_kinds()
    assert names(found, "Pod") == [f"x-{i}" for i in range(1203)]
    assert found.versions["Pod"] == "200"


def test_list_with_two_resource_versions_is_restarted(list_kinds, cluster):
    cluster.objects[PODS] = things(600)
    odd = [True]

    def before(request):
        if "continue" in request.query and odd:
            odd.clear()
            return Reply({"metadata": {"resourceVersion": "101"}, "items": things(100)})
        return None

    cluster.before = before
    found = list_kinds()
    assert names(found, "Pod") == [f"x-{i}" for i in range(600)]
    assert found.versions["Pod"] == "100"


def test_list_that_keeps_expiring_fails(list_kinds, cluster):
    cluster.before = lambda r: status(410, "Expired", "too old") if "continue" in r.query else None
    with pytest.raises(ClusterError, match="/api/v1/pods could not be listed completely in 4 attempts: too old"):
        list_kinds()


def test_list_resumes_after_a_broken_connection(list_kinds, cluster):
    broken = [Reply(reset=True), status(429, "TooManyRequests", Retry_After="0"), Reply({"a": "b" * 99}, cut=5)]
    cluster.before = lambda request: broken.pop() if "continue" in request.query and broken else None
    found = list_kinds()
    assert names(found, "Pod") == [f"x-{i}" for i in range(1203)]
    assert broken == []


@pytest.mark.parametrize("kind", ["Service", "ReplicaSet", "StorageClass", "ResourceSlice"])
def test_forbidden_kind_is_a_gap(list_kinds, cluster, kind):
    path = collection(kind_named(kind))
    cluster.before = lambda request: status(403, "Forbidden", "cannot list") if request.path == path else None
    (gap,) = list_kinds().missing
    assert (gap.kind, gap.reason, gap.text) == (kind, "Forbidden", "cannot list")


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_forbidden_nodes_or_pods_are_an_error(list_kinds, cluster, kind):
    path = collection(kind_named(kind))
    cluster.before = lambda request: status(403, "Forbidden", "cannot list") if request.path == path else None
    with pytest.raises(ClusterError, match=r"cannot list \(403\)") as raised:
        list_kinds()
    assert f'resources: ["{kind.lower()}s"], verbs: ["list"]' in raised.value.hint


def serving(*versions, resources=()):
    """The answers of a server that has a group in these versions, the last of them with these resources."""

    def before(request):
        group = "/apis/resource.k8s.io"
        if request.path == group:
            return Reply({"versions": [{"groupVersion": f"resource.k8s.io/{one}"} for one in versions]})
        if request.path.removeprefix(f"{group}/") in versions:
            return Reply({"resources": [{"name": name} for name in resources]})
        if request.path.startswith(f"{group}/{versions[-1]}/") and request.path.rpartition("/")[2] in resources:
            return None
        return status(404, "NotFound", "page not found") if request.path.startswith(group) else None

    return before


def test_older_served_version_is_read(list_kinds, cluster):
    cluster.before = serving("v1beta1", resources=["resourceslices"])
    device = {"name": "gpu", "basic": {"attributes": {"a": {"string": "b"}}}}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": [device]}
    cluster.objects = {"/apis/resource.k8s.io/v1beta1/resourceslices": [{"metadata": {"name": "x"}, "spec": spec}]}
    found = list_kinds()
    (one,) = sources.load_listed("x", (page.body for page in found.pages)).objects
    assert one.object.spec.devices[0].attributes.keys() == {"a"}


def test_unserved_kind_is_no_gap(list_kinds, cluster):
    cluster.before = serving("v1beta1", resources=["resourceslices"])
    found = list_kinds()
    assert found.missing == ()
    assert set(found.unserved) == {"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "DeviceTaintRule"}


def test_unsupported_served_version_is_a_gap(list_kinds, cluster):
    cluster.before = serving("v1alpha2", resources=["resourceclaims"])
    (gap,) = list_kinds().missing
    assert (gap.kind, gap.reason) == ("ResourceClaim", "Unread")
    assert "resource.k8s.io/v1alpha2, which schedctl does not read" in gap.text


def test_hidden_core_kind_is_a_gap(list_kinds, cluster):
    cluster.before = lambda r: status(404, "NotFound", "no") if r.path == "/api/v1/services" else None
    (gap,) = list_kinds().missing
    assert (gap.kind, gap.reason) == ("Service", "Unread")


def test_foreign_server_is_detected(list_kinds, cluster):
    cluster.before = lambda request: Reply({"hello": "world"})
    with pytest.raises(ClusterError, match="the answer cannot be read"):
        list_kinds()
    cluster.before = lambda request: Reply(b"{", 200)
    with pytest.raises(ClusterError, match="the answer cannot be read"):
        list_kinds()


def test_missing_version_and_date_are_tolerated(list_kinds, cluster):
    cluster.before = lambda r: status(403, "Forbidden", "no") if r.path == "/version" else None
    found = list_kinds()
    assert (found.server_version, found.taken) == ("", "")


def test_interrupt_does_not_wait_for_a_silent_server(list_kinds, cluster):
    stuck, answering = threading.Event(), threading.Event()

    def before(request):
        if request.path == NODES:
            stuck.wait(600)
            answering.set()

    cluster.before = before

    def interrupt(kind, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list_kinds(progress=interrupt)
    assert not answering.is_set(), "it waited for the answer"
    stuck.set()
