"""What only shows when everything is read: objects given twice, pods on nodes that nobody gave."""

from __future__ import annotations

from schedctl.sources import load, load_listed


def pod(name: str, fields: str = "", labels: str = "") -> str:
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n"
        f"spec: {{containers: [{{name: c}}]{fields}}}\n"
    )


NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n"


def test_the_last_of_several_objects_of_one_name_counts(read):
    manifests = read(f"{pod('a')}---\n{pod('b')}---\n{pod('a', labels='last: one')}")
    assert [one.subject for one in manifests.objects] == ["Pod default/a", "Pod default/b"]
    assert manifests.objects[0].object.metadata.labels == {"last": "one"}
    assert [str(warning) for warning in manifests.warnings] == [
        "m.yaml:13:18: Pod default/a: metadata.name: replaces the one at line 1"
    ]


def test_an_object_given_in_two_files_names_both(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(pod("a"))
    (tmp_path / "b.yaml").write_text("# again\n" + pod("a"))
    (warning,) = load(["a.yaml", "b.yaml"]).warnings
    assert str(warning) == "b.yaml:4:18: Pod default/a: metadata.name: replaces the one at a.yaml:1"


def test_objects_that_differ_in_kind_or_namespace_are_not_the_same(read):
    text = (
        pod("a")
        + "---\n"
        + pod("a").replace("name: a,", "name: a, namespace: other,")
        + "---\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
    )
    manifests = read(text)
    assert len(manifests.objects) == 3
    assert manifests.warnings == []


def test_the_same_object_in_two_versions_is_the_same(read):
    claims = "apiVersion: resource.k8s.io/{}\nkind: DeviceClass\nmetadata: {{name: a}}\n"
    manifests = read(claims.format("v1") + "---\n" + claims.format("v1beta2"))
    assert len(manifests.objects) == 1
    assert len(manifests.warnings) == 1


def test_pods_on_unknown_nodes_are_one_warning(read):
    pods = [pod(f"p{i}", f", nodeName: node-{i % 7}") for i in range(20)]
    (warning,) = read(NODE + "---\n" + "---\n".join(pods)).warnings
    assert str(warning) == (
        "m.yaml:8:43: Pod default/p0: spec.nodeName: 20 pods run on nodes that are not in the input: "
        "node-0 (3), node-1 (3), node-2 (3), node-3 (3), node-4 (3) and 2 more"
    )
    assert warning.hint == "read the nodes, too; without them these pods are ignored"


def test_one_pod_on_one_unknown_node_is_in_the_singular(read):
    (warning,) = read(NODE + "---\n" + pod("p", ", nodeName: node-b")).warnings
    assert warning.message == "1 pod runs on a node that is not in the input: node-b (1)"


def test_pending_pods_on_an_unknown_node_have_a_mistaken_name(read):
    pending = [pod(name, ", nodeName: nod-a") + "status: {phase: Pending}\n" for name in ("p", "q")]
    (warning,) = read(NODE + "---\n" + "---\n".join(pending)).warnings
    assert warning.message == (
        'the scheduler is skipped, and node "nod-a" is not in the input (did you mean "node-a"?); '
        "other pods that name it: 1"
    )
    assert warning.hint == "remove spec.nodeName, and the scheduler chooses a node"


def test_pods_that_have_ended_and_pods_on_known_nodes_are_fine(read):
    ended = pod("done", ", nodeName: gone") + "status: {phase: Succeeded}\n"
    assert read(NODE + "---\n" + ended + "---\n" + pod("p", ", nodeName: node-a")).warnings == []


def test_without_any_node_nothing_is_known_about_nodes(read):
    assert read(pod("p", ", nodeName: node-a")).warnings == []


def test_an_answer_of_an_api_server_has_no_place_to_edit():
    lost = '{"metadata": {"name": "lost", "namespace": "shop", "uid": "u"}, "spec": {"nodeName": "gone"}}'
    nodes = b'{"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "a", "uid": "n"}}]}'
    pods = f'{{"apiVersion": "v1", "kind": "PodList", "items": [{lost}]}}'.encode()
    (warning,) = load_listed("prod", [nodes, pods]).warnings
    assert str(warning) == (
        "prod: Pod shop/lost: spec.nodeName: 1 pod runs on a node that is not in the cluster: gone (1)"
    )
