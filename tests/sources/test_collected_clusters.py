"""Clusters as tools collect them: bundles, dumps, must-gathers, backups and exports of etcd, read as they are."""

from __future__ import annotations

import base64
import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from schedctl.errors import InputError
from schedctl.sources import Manifests, Terms, archives, files, load

Files = dict[str, Any]


def object_of(kind: str, name: str, namespace: str = "", version: str = "v1", **more: Any) -> dict[str, Any]:
    """Return an object as it comes out of a cluster."""
    metadata = {"name": name, "uid": f"{kind}-{namespace}-{name}"} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def listed(kind: str, *items: dict[str, Any], version: str = "v1") -> dict[str, Any]:
    return {"kind": f"{kind}List", "apiVersion": version, "metadata": {"resourceVersion": "7"}, "items": [*items]}


def without_head(one: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name not in ("apiVersion", "kind")}


NODE, OTHER_NODE = object_of("Node", "node-a"), object_of("Node", "node-b")
WEB = object_of("Pod", "web-0", "shop", spec={"nodeName": "node-a", "containers": [{"name": "web"}]})
DNS = object_of("Pod", "dns", "kube-system", spec={"nodeName": "node-b", "containers": [{"name": "dns"}]})
VOLUME = object_of("PersistentVolume", "pv-1")
BUDGET = object_of("PodDisruptionBudget", "web", "shop", "policy/v1", spec={"minAvailable": 1})
OLD_BUDGET = object_of("PodDisruptionBudget", "web", "shop", "policy/v1beta1", spec={"minAvailable": 2})
ROUTE = object_of("Route", "web", "shop", "route.openshift.io/v1")

SUPPORT_BUNDLE: Files = {
    "version.yaml": "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec: {versionNumber: v0.100.0}\n",
    "analysis.json": [{"name": "node-count", "isPass": True}],
    "cluster-info/cluster_version.json": {"info": {"major": "1"}, "string": "v1.37.0"},
    "cluster-resources/nodes.json": listed("Node", NODE, without_head(OTHER_NODE)),
    "cluster-resources/nodes-errors.json": ["nodes is forbidden"],
    "cluster-resources/groups.json": [{"name": "apps", "versions": []}],
    "cluster-resources/resources.json": [{"kind": "APIResourceList", "groupVersion": "v1", "resources": []}],
    "cluster-resources/pods/shop.json": listed("Pod", WEB),
    "cluster-resources/pods/logs/shop/web-0/web.log": "kind: Pod\n",
    "cluster-resources/pods/kube-system.json": listed("Pod", without_head(DNS)),
    "cluster-resources/pvs.json": {"metadata": {}, "items": [without_head(VOLUME)]},
    "cluster-resources/pod-disruption-budgets/shop.json": [BUDGET],
    "cluster-resources/auth-cani-list/shop.json": {"resourceRules": [], "incomplete": False},
    "cluster-resources/custom-resources/routes.route.openshift.io/shop.yaml": [ROUTE],
}
MUST_GATHER: Files = {
    "quay-io-ocp-must-gather/timestamp": "2026-01-01 10:00:00",
    "quay-io-ocp-must-gather/cluster-scoped-resources/core/nodes/node-a.yaml": NODE,
    "quay-io-ocp-must-gather/cluster-scoped-resources/core/nodes/node-b.yaml": OTHER_NODE,
    "quay-io-ocp-must-gather/cluster-scoped-resources/core/persistentvolumes/pv-1.yaml": VOLUME,
    "quay-io-ocp-must-gather/namespaces/shop/core/pods.yaml": listed("Pod", without_head(WEB)),
    "quay-io-ocp-must-gather/namespaces/shop/pods/web-0/web-0.yaml": WEB,
    "quay-io-ocp-must-gather/namespaces/shop/pods/web-0/web/web/logs/current.log": "started",
    "quay-io-ocp-must-gather/namespaces/shop/policy/poddisruptionbudgets.yaml": listed(
        "PodDisruptionBudget", without_head(BUDGET), version="policy/v1"
    ),
    "quay-io-ocp-must-gather/namespaces/shop/route.openshift.io/routes.yaml": listed(
        "Route", without_head(ROUTE), version="route.openshift.io/v1"
    ),
    "quay-io-ocp-must-gather/namespaces/kube-system/core/pods.yaml": listed("Pod", DNS),
    "quay-io-ocp-must-gather/etcd_info/endpoint_health.json": [{"endpoint": "a", "health": True}],
}
INSIGHTS: Files = {
    "insights-operator/gathers.json": {"status_reports": [], "memory_alloc_bytes": 1},
    "config/node/node-a.json": without_head(NODE),
    "config/node/node-b.json": without_head(OTHER_NODE),
    "config/persistentvolumes/pv-1.json": without_head(VOLUME),
    "config/pod/shop/web-0.json": without_head(WEB),
    "conditional/namespaces/kube-system/pods/dns/dns.json": without_head(DNS),
    "config/pdbs/shop/web.json": BUDGET,
    "config/infrastructure.json": without_head(object_of("Infrastructure", "cluster")),
    "events/shop.json": {"items": [{"namespace": "shop", "reason": "FailedUpdate"}]},
}
VELERO: Files = {
    "metadata/version": "1.1.0",
    "resources/nodes/cluster/node-a.json": NODE,
    "resources/nodes/v1-preferredversion/cluster/node-a.json": NODE,
    "resources/nodes/cluster/node-b.json": OTHER_NODE,
    "resources/persistentvolumes/cluster/pv-1.json": VOLUME,
    "resources/pods/namespaces/shop/web-0.json": WEB,
    "resources/pods/v1-preferredversion/namespaces/shop/web-0.json": WEB,
    "resources/pods/namespaces/kube-system/dns.json": DNS,
    "resources/poddisruptionbudgets.policy/v1-preferredversion/namespaces/shop/web.json": BUDGET,
    "resources/poddisruptionbudgets.policy/v1beta1/namespaces/shop/web.json": OLD_BUDGET,
    "resources/routes.route.openshift.io/namespaces/shop/web.json": ROUTE,
}
DUMP: Files = {
    "nodes.json": listed("Node", without_head(NODE), without_head(OTHER_NODE)),
    "shop/pods.json": listed("Pod", without_head(WEB)),
    "shop/events.json": listed("Event", without_head(object_of("Event", "e", "shop"))),
    "shop/web-0/logs.txt": "==== START logs for container web of pod shop/web-0 ====\nkind: Pod\n",
    "kube-system/pods.json": listed("Pod", without_head(DNS)),
}
EVERYTHING = {"Node node-a", "Node node-b", "Pod shop/web-0", "Pod kube-system/dns"}
WITH_BUDGET = EVERYTHING | {"PersistentVolume pv-1", "PodDisruptionBudget shop/web"}


def text_of(content: Any) -> bytes:
    return (content if isinstance(content, str) else json.dumps(content, indent=2)).encode()


def write_folder(folder: Path, tree: Files) -> str:
    for name, content in tree.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text_of(content))
    return str(folder)


def packed(tree: Files, mode: Any = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in tree.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text_of(content))
            archive.addfile(entry, io.BytesIO(text_of(content)))
    return buffer.getvalue()


def subjects(manifests: Manifests) -> list[str]:
    return sorted(one.subject for one in manifests.objects)


@pytest.mark.parametrize(
    ("tree", "expected", "ignored", "warnings"),
    [
        pytest.param(
            SUPPORT_BUNDLE,
            WITH_BUDGET,
            {"troubleshoot.sh/v1beta2 SupportBundle": 1, "route.openshift.io/v1 Route": 1},
            ["6 files are left out: they hold no object of Kubernetes"],
            id="a support bundle",
        ),
        pytest.param(
            MUST_GATHER,
            WITH_BUDGET,
            {"route.openshift.io/v1 Route": 1},
            ["is left out: it holds no object of Kubernetes"],
            id="a must-gather, in which pods are written twice",
        ),
        pytest.param(
            INSIGHTS,
            WITH_BUDGET,
            {"without a kind": 1},
            ["2 files are left out: they hold no object of Kubernetes"],
            id="an Insights archive, in which the folder says the kind",
        ),
        pytest.param(
            VELERO,
            WITH_BUDGET,
            {"route.openshift.io/v1 Route": 1},
            ["is left out: it holds another version of what is read in the preferred one"],
            id="a Velero backup, in which the preferred version counts",
        ),
        pytest.param(DUMP, EVERYTHING, {"v1 Event": 1}, [], id="a cluster-info dump"),
    ],
)
def test_what_tools_collect_is_read_as_it_is(tree, expected, ignored, warnings, tmp_path):
    (tmp_path / "cluster.tar.gz").write_bytes(packed(tree))
    (tmp_path / "cluster.tar").write_bytes(packed(tree, "w"))
    folder = load([write_folder(tmp_path / "cluster", tree)])
    from_archive, from_tar = (load([str(tmp_path / name)]) for name in ("cluster.tar.gz", "cluster.tar"))
    from_stdin = load(["-"], stdin=io.BytesIO(packed(tree)))
    for manifests in (folder, from_archive, from_tar, from_stdin):
        assert subjects(manifests) == sorted(expected)
        assert manifests.ignored == ignored
        budgets = [one.object.spec.min_available for one in manifests.objects if one.kind.name == "PodDisruptionBudget"]
        assert budgets in ([], [1])
    assert [warning.message.partition(" Kubernetes: ")[0] for warning in folder.warnings] == [
        warning.removesuffix(" Kubernetes") if warning[0].isdigit() else warning for warning in warnings
    ]
    # Logs are counted, too, where they are in an archive: in a folder there may be anything.
    logs = [
        warning
        for warning in from_archive.warnings
        if "names do not end" in warning.message or "its name" in warning.message
    ]
    assert len(from_archive.warnings) == len(warnings) + len(logs)
    assert len(logs) == any(not files.is_manifest_name(name) for name in tree)


def test_a_cluster_info_dump_on_standard_output_is_read_with_its_logs():
    around = "==== {} logs for container web of pod shop/web-0 ====\n"
    logs = around.format("START") + "{not JSON\n" + around.format("END")
    text = "\n".join(json.dumps(content, indent=4) for name, content in DUMP.items() if name.endswith(".json"))
    assert subjects(load(["-"], stdin=io.BytesIO((text + "\n" + logs).encode()))) == sorted(EVERYTHING)


@pytest.mark.parametrize(
    "export",
    [
        pytest.param([NODE, WEB], id="a bare list of objects"),
        pytest.param(
            [{"key": "/registry/minions/node-a", "value": NODE}, {"key": "/registry/pods/shop/web-0", "value": WEB}],
            id="keys with objects",
        ),
        pytest.param(
            [{"key": "/k", "value": json.dumps(one), "mod_revision": 7} for one in (NODE, WEB)],
            id="keys with objects as text",
        ),
        pytest.param(
            {
                "header": {"revision": 7},
                "kvs": [
                    {
                        "key": base64.b64encode(b"/k").decode(),
                        "value": base64.b64encode(json.dumps(one).encode()).decode(),
                    }
                    for one in (NODE, WEB)
                ],
                "count": 2,
            },
            id="what etcdctl prints",
        ),
    ],
)
def test_an_export_of_etcd_is_read(export, tmp_path):
    file = tmp_path / "etcd.json"
    file.write_text(json.dumps(export))
    assert subjects(load([str(file)])) == ["Node node-a", "Pod shop/web-0"]


def test_values_of_etcd_that_are_protobuf_are_refused_with_the_next_step(tmp_path):
    value = base64.b64encode(b"k8s\0\n\x0f\n\x02v1\x12\x09Namespace").decode()
    file = tmp_path / "etcd.json"
    file.write_text(json.dumps({"kvs": [{"key": base64.b64encode(b"/k").decode(), "value": value}]}))
    with pytest.raises(InputError) as caught:
        load([str(file)])
    (problem,) = caught.value.problems
    assert problem.message == "1 of 1 values is protobuf, which is not read"
    assert "auger decode" in problem.hint


def test_a_bare_list_is_no_manifest(tmp_path):
    file = tmp_path / "list.json"
    file.write_text(json.dumps([NODE]))
    with pytest.raises(InputError, match="expected an object with apiVersion and kind, got a list"):
        load([str(file)], terms=Terms(creating=True))


def test_an_archive_is_no_manifest(tmp_path):
    (tmp_path / "chart.tgz").write_bytes(packed(DUMP))
    with pytest.raises(InputError) as caught:
        load([str(tmp_path / "chart.tgz")], terms=Terms(creating=True))
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == (
        "is an archive, which is read as a state only",
        "unpack it, and name the folder",
    )


def test_an_object_that_a_person_wrote_without_a_kind_is_refused_still(tmp_path):
    write_folder(tmp_path, {"pods/web.yaml": {"metadata": {"name": "web", "namespace": "shop"}}, "node.json": NODE})
    with pytest.raises(InputError, match='the field "kind" is required'):
        load([str(tmp_path)])


def test_what_is_no_file_in_an_archive_is_not_followed(tmp_path):
    secret = tmp_path / "secret.yaml"
    secret.write_bytes(text_of(OTHER_NODE))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for number, (kind, target) in enumerate(
            (
                (tarfile.SYMTYPE, str(secret)),
                (tarfile.LNKTYPE, str(secret)),
                (tarfile.FIFOTYPE, ""),
                (tarfile.CHRTYPE, ""),
            )
        ):
            entry = tarfile.TarInfo(f"link-{number}.yaml")
            entry.type, entry.linkname = kind, target
            archive.addfile(entry)
        for name in ("../../escaped.json", "/etc/absolute.json", "._hidden.json", "a/.git/config.json"):
            content = text_of(object_of("Node", name.rpartition("/")[2].removesuffix(".json").strip("._")))
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    (tmp_path / "odd.tar.gz").write_bytes(buffer.getvalue())
    before = sorted(tmp_path.rglob("*"))
    assert subjects(load([str(tmp_path / "odd.tar.gz")])) == ["Node absolute", "Node escaped"]
    assert sorted(tmp_path.rglob("*")) == before


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MIN_UNPACKED", 1 << 20)
    monkeypatch.setattr(files, "MAX_RATIO", 2)
    (tmp_path / "bomb.tar.gz").write_bytes(packed({"a.log": "0" * (4 << 20), "nodes.json": NODE}))
    with pytest.raises(InputError) as caught:
        load([str(tmp_path / "bomb.tar.gz")])
    assert caught.value.problems[0].message == "unpacks to more than 1 MiB"


def test_a_file_in_an_archive_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 1 << 30)
    (tmp_path / "long.tar").write_bytes(packed({"nodes.json": "x" * 4000}, "w"))
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match=r"long\.tar/nodes\.json: is larger than"):
        load([str(tmp_path / "long.tar")])


@pytest.mark.parametrize("cut", [700, 1100])
def test_an_archive_that_is_cut_short_is_refused(cut, tmp_path):
    whole = packed({"nodes.json": listed("Node", NODE), "pods.json": listed("Pod", WEB)}, "w")
    (tmp_path / "cut.tar.gz").write_bytes(gzip.compress(whole)[:-20])
    (tmp_path / "cut.tar").write_bytes(whole[:cut])
    for name in ("cut.tar.gz", "cut.tar"):
        with pytest.raises(InputError, match="is damaged: the archive cannot be read to its end"):
            load([str(tmp_path / name)])


def test_a_text_is_no_archive():
    assert not archives.is_archive(io.BytesIO(b"apiVersion: v1\n" * 100))
    assert not archives.is_archive(io.BytesIO(gzip.compress(b"apiVersion: v1\n")))
    assert not archives.is_archive(io.BytesIO(archives.GZIP + b"damaged"))


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"key": "é", "value": "é"}, id="no base64"),
        pytest.param({"key": 5, "value": None}, id="no text"),
        pytest.param("x", id="no pair"),
        pytest.param({"key": "L2s=", "value": base64.b64encode(b"5").decode()}, id="no object"),
    ],
)
def test_what_is_no_object_in_an_export_of_etcd_is_counted(entry, tmp_path):
    node = {"key": "L2s=", "value": base64.b64encode(json.dumps(NODE).encode()).decode()}
    (tmp_path / "etcd.json").write_text(json.dumps({"kvs": [entry, node]}))
    manifests = load([str(tmp_path / "etcd.json")])
    assert (subjects(manifests), manifests.ignored) == (["Node node-a"], {"without a kind": 1})


@pytest.mark.parametrize("name", [[], {}, None, 5])
def test_an_object_without_kind_may_have_any_name(name, tmp_path):
    odd = {"metadata": {"uid": "1", "namespace": "shop", "name": name}}
    manifests = load([write_folder(tmp_path, {"config/pod/shop/a.json": WEB, "config/pod/x/a.json": odd})])
    assert manifests.ignored == {"without a kind": 1}


def test_files_that_are_empty_are_counted_in_one_warning(tmp_path):
    tree = {"nodes.json": NODE, **{f"errors-{number}.json": "null" for number in range(5)}}
    (warning,) = load([write_folder(tmp_path, tree)]).warnings
    assert warning.message == "5 files are empty: errors-0.json, errors-1.json, errors-2.json and 2 more"


def test_files_that_are_left_out_may_be_in_folders_of_any_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path, {"one/nodes.json": NODE, "one/tool.json": {"a": 1}, "two/tool.json": {"a": 1}})
    (warning,) = load(["one", str(tmp_path / "two")]).warnings
    assert warning.message.endswith(f": one/tool.json, {tmp_path}/two/tool.json")
    assert warning.source == ""
