"""Lists are whole, each of one version, and say what is missing."""

from __future__ import annotations

import json
import threading
import time

import pytest

from schedctl import sources
from schedctl.api.kinds import KINDS, named
from schedctl.errors import ClusterError
from schedctl.live import listing
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
def listed(serve, kubeconfig, cluster):
    """List the cluster; the server is at hand as `listed.server`."""
    server = serve(cluster)

    def read(**options):
        return listing.read(Connection.open(Access(kubeconfig=kubeconfig(server.url))), **options)

    read.server = server
    return read


def names(found, kind):
    pages = [json.loads(page.body) for page in found.pages if page.kind.name == kind]
    return [item["metadata"]["name"] for page in pages for item in page["items"]]


def test_every_kind_is_there_whole_and_in_order(listed):
    found = listed()
    assert names(found, "Pod") == [f"x-{i}" for i in range(1203)]
    assert len(names(found, "Node")) == 3
    assert list(dict.fromkeys(page.kind for page in found.pages)) == list(KINDS)
    assert (found.missing, found.unserved) == ((), ())
    assert set(found.versions.values()) == {"100"}
    assert len(found.versions) == len(KINDS)


def test_a_list_that_goes_in_circles_is_not_followed(listed, cluster):
    def answer(request):
        metadata = {"resourceVersion": "100", "continue": "again"}
        return Reply({"metadata": metadata, "items": []}) if request.path == PODS else None

    cluster.before = answer
    with pytest.raises(ClusterError, match="goes in circles"):
        listed()
    assert listed.server.paths().count(PODS) == 2


def test_lists_become_objects(listed):
    found = sources.load_listed("context test", (page.body for page in listed().pages))
    assert len(found.objects) == 1203 + 3
    assert found.digests.keys() == {"context test"}


def test_the_server_says_its_version_and_the_time(listed):
    found = listed()
    assert (found.server_version, found.taken) == ("v1.37.1", "2026-11-22T01:02:03Z")


def test_pages_are_asked_for_in_turn_and_unfinished_ones_are_told(listed):
    told = []
    listed(kinds=[named("Pod")], progress=lambda *step: told.append(step))
    asked = [request.query for request in listed.server.requests if request.path == PODS]
    assert asked == [
        {"limit": "500"},
        {"limit": "500", "continue": "100@500"},
        {"limit": "500", "continue": "100@1000"},
    ]
    assert told == [("Pod", 500, 1203), ("Pod", 1000, 1203), ("Pod", 1203, 1203)]


def test_no_secret_and_no_config_map_is_asked_for(listed):
    listed()
    assert sorted(listed.server.paths()) == sorted(
        ["/version", *(collection(kind) for kind in KINDS), PODS, PODS]  # pods are three pages
    )
    assert not {"secrets", "configmaps"} & {path.rpartition("/")[2] for path in listed.server.paths()}
    assert {request.method for request in listed.server.requests} == {"GET"}


def test_kinds_are_listed_side_by_side(listed, cluster):
    together = threading.Barrier(listing.SIDE_BY_SIDE, timeout=20)
    first = {collection(kind) for kind in KINDS[: listing.SIDE_BY_SIDE]}

    def before(request):
        if request.path in first and "continue" not in request.query:
            together.wait()

    cluster.before = before
    assert len(listed().versions) == len(KINDS)


def test_a_list_that_has_expired_is_begun_anew(listed, cluster):
    def before(request):
        if request.path == PODS and request.query.get("continue", "").startswith("100@"):
            cluster.version = "200"
            return status(410, "Expired", "The provided continue parameter is too old")
        return None

    cluster.before = before
    found = listed()
    assert names(found, "Pod") == [f"x-{i}" for i in range(1203)]
    assert found.versions["Pod"] == "200"


def test_a_list_of_two_versions_is_begun_anew(listed, cluster):
    cluster.objects[PODS] = things(600)
    odd = [True]

    def before(request):
        if "continue" in request.query and odd:
            odd.clear()
            return Reply({"metadata": {"resourceVersion": "101"}, "items": things(100)})
        return None

    cluster.before = before
    found = listed()
    assert names(found, "Pod") == [f"x-{i}" for i in range(600)]
    assert found.versions["Pod"] == "100"


def test_a_list_that_expires_again_and_again_is_given_up(listed, cluster):
    cluster.before = lambda r: status(410, "Expired", "too old") if "continue" in r.query else None
    with pytest.raises(ClusterError, match="/api/v1/pods could not be listed to its end in 4 attempts: too old"):
        listed()


def test_a_list_goes_on_where_it_broke_off(listed, cluster):
    broken = [Reply(reset=True), status(429, "TooManyRequests", Retry_After="0"), Reply({"a": "b" * 99}, cut=5)]
    cluster.before = lambda request: broken.pop() if "continue" in request.query and broken else None
    found = listed()
    assert names(found, "Pod") == [f"x-{i}" for i in range(1203)]
    assert broken == []


@pytest.mark.parametrize("kind", ["Service", "ReplicaSet", "StorageClass", "ResourceSlice"])
def test_a_kind_that_is_forbidden_is_a_gap(listed, cluster, kind):
    path = collection(named(kind))
    cluster.before = lambda request: status(403, "Forbidden", "cannot list") if request.path == path else None
    (gap,) = listed().missing
    assert (gap.kind, gap.reason, gap.text) == (kind, "Forbidden", "cannot list")


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_nodes_and_pods_have_to_be_allowed(listed, cluster, kind):
    path = collection(named(kind))
    cluster.before = lambda request: status(403, "Forbidden", "cannot list") if request.path == path else None
    with pytest.raises(ClusterError, match=r"cannot list \(403\)") as raised:
        listed()
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


def test_a_kind_in_an_older_version_is_read(listed, cluster):
    cluster.before = serving("v1beta1", resources=["resourceslices"])
    device = {"name": "gpu", "basic": {"attributes": {"a": {"string": "b"}}}}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": [device]}
    cluster.objects = {"/apis/resource.k8s.io/v1beta1/resourceslices": [{"metadata": {"name": "x"}, "spec": spec}]}
    found = listed()
    (one,) = sources.load_listed("x", (page.body for page in found.pages)).objects
    assert one.object.spec.devices[0].attributes.keys() == {"a"}


def test_a_kind_that_the_server_does_not_have_is_absent_and_not_missing(listed, cluster):
    cluster.before = serving("v1beta1", resources=["resourceslices"])
    found = listed()
    assert found.missing == ()
    assert set(found.unserved) == {"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "DeviceTaintRule"}


def test_a_kind_in_a_version_that_is_not_read_is_a_gap(listed, cluster):
    cluster.before = serving("v1alpha2", resources=["resourceclaims"])
    (gap,) = listed().missing
    assert (gap.kind, gap.reason) == ("ResourceClaim", "Unread")
    assert "resource.k8s.io/v1alpha2, which is not read" in gap.text


def test_a_server_that_hides_what_every_server_has_leaves_a_gap(listed, cluster):
    cluster.before = lambda r: status(404, "NotFound", "no") if r.path == "/api/v1/services" else None
    (gap,) = listed().missing
    assert (gap.kind, gap.reason) == ("Service", "Unread")


def test_somebody_who_is_no_api_server_is_told_from_one(listed, cluster):
    cluster.before = lambda request: Reply({"hello": "world"})
    with pytest.raises(ClusterError, match="the answer cannot be understood"):
        listed()
    cluster.before = lambda request: Reply(b"{", 200)
    with pytest.raises(ClusterError, match="the answer cannot be understood"):
        listed()


def test_without_a_version_and_a_time_a_list_is_a_list(listed, cluster):
    cluster.before = lambda r: status(403, "Forbidden", "no") if r.path == "/version" else None
    found = listed()
    assert (found.server_version, found.taken) == ("", "")


def test_an_interrupt_does_not_wait_for_a_silent_server(listed, cluster):
    stuck = threading.Event()

    def before(request):
        if request.path == NODES:
            stuck.wait(30)

    cluster.before = before

    def interrupt(kind, done, total):
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        listed(progress=interrupt)
    assert time.monotonic() - began < 20, "it waited for the answer"
    stuck.set()
