"""Which objects a text holds: documents, lists, kinds, and what is counted instead of read."""

from __future__ import annotations

import json

import pytest
import yaml

from schedctl.api.devices import ResourceClaim, ResourceSlice
from schedctl.api.kinds import Kind
from schedctl.api.meta import ObjectMeta, Struct
from schedctl.api.pods import Pod
from schedctl.errors import InputError
from schedctl.sources import Terms, load_text
from tests.effort import SOON, Effort

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: c, image: i}]}\n"
JSON = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":{"containers":[{"name":"c"}]}}'
A, B, JSON_A, JSON_B = POD % "a", POD % "b", JSON % "a", JSON % "b"
BARE = "metadata: {name: %s}, spec: {containers: [{name: c}]}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param(A + "---\n" + B, "a b", id="documents are parted by ---"),
        pytest.param(A + "--- # two\n" + B, "a b", id="a comment may follow the separator"),
        pytest.param(A + "---   \t\n" + B, "a b", id="space may follow the separator"),
        pytest.param((A + "---\n" + B).replace("\n", "\r\n"), "a b", id="lines may end as on Windows"),
        pytest.param("---\n---\n" + A + "---\n---\n# c\n---\n" + B + "---\n", "a b", id="empty documents are nothing"),
        pytest.param("null\n---\n~\n---\n" + A, "a", id="null documents are nothing"),
        pytest.param(A + "...\n---\n" + B, "a b", id="a document may have an end marker"),
        pytest.param("\ufeff" + A + "---\n\ufeff" + B, "a b", id="byte order marks may precede documents"),
        pytest.param(JSON_A + JSON_B, "a b", id="JSON documents may follow without anything between"),
        pytest.param(JSON_A + "\n\n  " + JSON_B + "\n", "a b", id="or with space between"),
        pytest.param("\ufeff" + JSON_A, "a", id="a byte order mark may precede JSON"),
        pytest.param(" \n" + JSON_A, "a", id="space may precede JSON"),
        pytest.param(A + "---\n" + JSON_B, "a b", id="a JSON document may follow a YAML one"),
        pytest.param(JSON_A + "\n---\n" + B, "a b", id="a YAML document may follow a JSON one"),
        pytest.param(A + "---\n{apiVersion: v1, kind: Pod, %s}" % (BARE % "b"), "a b", id="YAML may look like JSON"),
        pytest.param(f"apiVersion: v1\nkind: List\nitems: [{JSON_A}, {JSON_B}]", "a b", id="a List in YAML"),
        pytest.param(f'{{"kind":"List","apiVersion":"v1","items":[{JSON_A},{JSON_B}]}}', "a b", id="a List in JSON"),
        pytest.param(f'{{"items":[{JSON_A} , \n {JSON_B}],"kind":"List"}}', "a b", id="items before the kind"),
        pytest.param(
            f"apiVersion: v1\nkind: PodList\nitems: [{{{BARE % 'a'}}}, {{{BARE % 'b'}}}]",
            "a b",
            id="items of a typed list need not say what they are",
        ),
        pytest.param(
            '{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}]}',
            "a",
            id="nor do they in JSON",
        ),
        pytest.param(f"items: [{JSON_A}]\nkind: PodList\napiVersion: v1", "a", id="items before the kind in YAML"),
        pytest.param(
            f"apiVersion: v1\nkind: ConfigMap\nitems: [{JSON_A}]", "a", id="as for kubectl, items make a list"
        ),
        pytest.param(f"apiVersion: v1\nkind: List\nitems: null\n---\n{A}", "a", id="items may be null"),
        pytest.param(f"apiVersion: v1\nkind: List\n---\n{A}", "a", id="a List may have no items"),
        pytest.param(
            f"x: &c [{{name: c}}]\n{A.replace('[{name: c, image: i}]', '*c')}", "a", id="an alias stands for its anchor"
        ),
    ],
)
def test_pods_of_a_text_are_read(text, names):
    manifests = load_text(text.encode())
    assert [sourced.object.metadata.name for sourced in manifests.objects] == names.split()
    assert all(isinstance(sourced.object, Pod) for sourced in manifests.objects)
    assert manifests.warnings == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_says_how_a_file_is_encoded(encoding, tmp_path):
    from schedctl.sources import load

    (tmp_path / "a.yaml").write_bytes((A + "# é\n").encode(encoding))
    assert [one.subject for one in load([str(tmp_path / "a.yaml")]).objects] == ["Pod default/a"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(A + "---foo\n" + B, 'm:5:4: expected nothing after "---"', id="text behind a separator"),
        pytest.param(A + "--- {a: 1}\n", 'm:5:4: expected nothing after "---"', id="a document behind a separator"),
        pytest.param("a\n---\n" + A, 'm:1:1: expected an object with apiVersion and kind, got the text "a"', id="text"),
        pytest.param("5\n", "m:1:1: expected an object with apiVersion and kind, got the number 5", id="a number"),
        pytest.param("- a\n", "m:1:1: expected an object with apiVersion and kind, got a list", id="a YAML list"),
        pytest.param("[1]", "m:1:1: expected an object with apiVersion and kind, got a list", id="a JSON list"),
        pytest.param("{}\n", 'm:1:1: apiVersion: the field "apiVersion" is required', id="an empty object"),
        pytest.param("kind: Pod\n", 'm:1:1: apiVersion: the field "apiVersion" is required', id="no apiVersion"),
        pytest.param("apiVersion: v1\n", 'm:1:1: kind: the field "kind" is required', id="no kind"),
        pytest.param(
            "apiVersion: 1\nkind: Pod\n", "m:1:13: apiVersion: expected text, got the number 1", id="a number for it"
        ),
        pytest.param('{"apiVersion":"v1","kind":5}', "m:1:27: kind: expected text, got the number 5", id="and in JSON"),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems: {}\n",
            "m:3:8: items: expected a list, got a mapping",
            id="items no list",
        ),
        pytest.param(
            '{"apiVersion":"v1","kind":"PodList","items":5}',
            "m:1:45: items: expected a list, got the number 5",
            id="items of a typed list no list",
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- null\n",
            "m:4:3: expected an object with apiVersion and kind, got null",
            id="an item that is null",
        ),
        pytest.param(
            '{"kind":"List","apiVersion":"v1","items":[\n 1]}',
            "m:2:2: expected an object with apiVersion and kind, got the number 1",
            id="an item that is a number",
        ),
        pytest.param(
            f"apiVersion: v1\nkind: List\nitems:\n- {{kind: List, apiVersion: v1, items: [{JSON_A}]}}\n",
            "m:4:3: a list inside a list is not read (nor by kubectl",
            id="a list inside a list",
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n",
            'm:4:3: apiVersion: the field "apiVersion" is required',
            id="an item of a plain List that does not say what it is",
        ),
        pytest.param(JSON_A[:-1] + ",}", "m:1:94: this is not JSON: trailing comma in object", id="a comma too many"),
        pytest.param(JSON_A[:-1], "m:1:93: this is not JSON: the text ends too early", id="JSON cut short"),
        pytest.param(JSON_A + " x", "m:1:95: this is not JSON: invalid character", id="text behind JSON"),
        pytest.param(
            "{apiVersion: v1}", "m:1:2: this is not JSON: object keys must be strings", id="YAML in JSON's place"
        ),
        pytest.param("a:\n\t- b\n", "m:2:1: found character that cannot start any token", id="a tab for indentation"),
        pytest.param(f"{A}---\nx: [\n", "m:7:1: did not find expected node content", id="a list without its end"),
        pytest.param("%YAML 1.1\n---\n" + A, "m:2:1: did not find expected <document start>", id="a YAML directive"),
    ],
)
def test_what_is_no_object_is_a_problem(text, problem):
    with pytest.raises(InputError) as caught:
        load_text(text.encode(), "m")
    assert str(caught.value.problems[0]).startswith(problem)


@pytest.mark.parametrize(
    ("api_version", "kind", "problem", "hint"),
    [
        pytest.param("v1", "Deployment", 'unknown kind "Deployment" in v1', "apps/v1", id="a kind of another group"),
        pytest.param("app/v1", "Deployment", 'unknown kind "Deployment" in app/v1', "apps/v1", id="a misspelt group"),
        pytest.param(
            "apps/v2", "Deployment", 'unknown apiVersion "apps/v2" for Deployment', "apps/v1", id="a version to come"
        ),
        pytest.param(
            "node.k8s.io/v1alpha1",
            "RuntimeClass",
            'unknown apiVersion "node.k8s.io/v1alpha1" for RuntimeClass',
            "node.k8s.io/v1",
            id="a version of another shape",
        ),
        pytest.param("v1", "pod", 'unknown kind "pod" in v1', "Pod", id="a kind in lower case"),
        pytest.param("v1", "Nodes", 'unknown kind "Nodes" in v1', "Node", id="a kind in the plural"),
        pytest.param("apps/v1", "Deploymet", 'unknown kind "Deploymet" in apps/v1', "Deployment", id="a misspelt kind"),
    ],
)
def test_a_kind_of_kubernetes_under_a_wrong_name_is_a_problem(read, api_version, kind, problem, hint):
    (found,) = read.problems(f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n")
    assert (found.message, found.hint) == (problem, f'did you mean "{hint}"?')


def test_other_kinds_are_counted_and_never_an_error(read):
    manifests = read(
        """
        apiVersion: serving.knative.dev/v1
        kind: Service
        spec: 5
        ---
        {apiVersion: v1, kind: ConfigMap, data: {a: b}}
        ---
        {apiVersion: v1, kind: ConfigMap}
        ---
        {apiVersion: cluster.x-k8s.io/v1, kind: Cluster, metadata: [1]}
        """
    )
    assert manifests.objects == []
    assert manifests.ignored == {
        "serving.knative.dev/v1 Service": 1,
        "v1 ConfigMap": 2,
        "cluster.x-k8s.io/v1 Cluster": 1,
    }


def test_versions_with_the_same_fields_are_read_and_retired_ones_said(read):
    manifests = read(
        """
        apiVersion: policy/v1beta1
        kind: PodDisruptionBudget
        metadata: {name: a}
        spec: {minAvailable: 1}
        ---
        apiVersion: policy/v1beta1
        kind: PodDisruptionBudget
        metadata: {name: b}
        ---
        apiVersion: resource.k8s.io/v1beta2
        kind: DeviceClass
        metadata: {name: gpu}
        """
    )
    assert [str(one.kind) for one in manifests.objects] == ["PodDisruptionBudget", "PodDisruptionBudget", "DeviceClass"]
    assert manifests.objects[0].object.spec.min_available == 1
    assert [warning.message for warning in manifests.warnings] == [
        "Kubernetes 1.37 does not serve PodDisruptionBudget as policy/v1beta1; it is read as policy/v1"
    ]


def test_devices_of_v1beta1_are_rewritten(read):
    slice_, claim = (
        one.object
        for one in read(
            """
        apiVersion: resource.k8s.io/v1beta1
        kind: ResourceSlice
        metadata: {name: s}
        spec:
          driver: gpu.example.com
          nodeName: node-a
          pool: {name: node-a, generation: 1, resourceSliceCount: 1}
          devices:
          - name: gpu-0
            basic: {attributes: {model: {string: big}}, capacity: {memory: {value: 40Gi}}}
        ---
        apiVersion: resource.k8s.io/v1beta1
        kind: ResourceClaim
        metadata: {name: c}
        spec: {devices: {requests: [{name: r, deviceClassName: gpu, count: 2, allocationMode: ExactCount}]}}
        """
        ).objects
    )
    assert isinstance(slice_, ResourceSlice)
    assert isinstance(claim, ResourceClaim)
    assert slice_.spec.devices[0].attributes["model"].string_value == "big"
    assert slice_.spec.devices[0].capacity["memory"].value == "40Gi"
    assert claim.spec.devices.requests[0].exactly.count == 2


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param(A + "---\n" + B, [1, 6], id="documents"),
        pytest.param("# c\n\n" + A, [3], id="a document behind comments"),
        pytest.param("kind: List\napiVersion: v1\nitems:\n- " + A.replace("\n", "\n  "), [4], id="items in YAML"),
        pytest.param(
            json.dumps(json.loads(f'{{"kind":"List","items":[{JSON_A},{JSON_B}]}}'), indent=1),
            [4, 18],
            id="items in JSON",
        ),
        pytest.param(JSON_A + "\n\n" + JSON_B, [1, 3], id="JSON documents"),
    ],
)
def test_objects_know_their_lines(text, lines):
    assert [one.line for one in load_text(text.encode()).objects] == lines


def test_fields_can_be_located_after_loading(read):
    (pod,) = read(POD % "a").objects
    assert pod.place_of(("spec", "containers", 0, "image")) == (4, 38)
    assert pod.place_of(("spec", "nodeSelector")) == (4, 7)
    problem = pod.problem("does not fit", ("spec", "containers"), "make it smaller")
    assert str(problem) == "m.yaml:4:20: Pod default/a: spec.containers: does not fit"


def test_fields_of_long_texts_are_located_at_their_object(monkeypatch):
    monkeypatch.setattr("schedctl.sources.loading.KEPT_BYTES", 10)
    _, pod = load_text((A + "---\n" + B).encode()).objects
    assert pod.place_of(("spec", "containers")) == (6, 1)


def test_names_and_namespaces_are_settled(read):
    manifests = read(
        """
        apiVersion: v1
        kind: Pod
        metadata: {generateName: job-}
        spec: {containers: [{name: c}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {generateName: job-}
        spec: {containers: [{name: c}]}
        ---
        apiVersion: v1
        kind: Node
        metadata: {name: node-a, uid: u, namespace: odd}
        """
    )
    assert [one.object.metadata.namespace for one in manifests.objects] == ["default", "default", ""]
    assert manifests.warnings == []


def test_json_null_is_an_absent_field(read):
    pod = read.one(
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: a, labels: null, creationTimestamp: null}
        spec:
          nodeName: null
          nodeSelector: {disk: null}
          containers: [{name: c, ports: null, resources: {requests: {cpu: null}}}]
        status: null
        """
    )
    assert pod.spec.node_name == ""
    assert pod.spec.node_selector == {"disk": ""}
    assert pod.spec.containers[0].resources.requests == {"cpu": "0"}


def test_a_number_without_a_fraction_is_an_integer(read):
    pod = read.one('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"priority":1e3,"containers":[{}]}}')
    assert pod.spec.priority == 1000


def test_the_garbage_collector_is_left_as_it_was():
    import gc

    assert gc.isenabled()
    load_text(A.encode())
    assert gc.isenabled()
    gc.disable()
    try:
        with pytest.raises(InputError):
            load_text(b"kind: Pod")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_nothing_at_all_is_a_problem_unless_allowed():
    with pytest.raises(InputError, match="no objects in the input"):
        load_text(b"# nothing\n")
    manifests = load_text(b"", "empty.yaml", allow_empty=True)
    assert [str(warning) for warning in manifests.warnings] == ["empty.yaml: is empty"]


def dump(*parts: str | tuple[str, str]) -> str:
    """What ``kubectl cluster-info dump`` writes: lists, indented, and the logs of containers (pod, log) between."""
    return "".join(
        f"==== START logs for container main of pod {part[0]} ====\n{part[1]}"
        f"==== END logs for container main of pod {part[0]} ====\n"
        if isinstance(part, tuple)
        else part
        for part in parts
    )


def listed(kind: str, *names: str, namespace: str = "", as_yaml: bool = False) -> str:
    metadata = [{"name": name, "namespace": namespace, "uid": name} for name in names]
    value = {
        "kind": f"{kind}List",
        "apiVersion": "v1",
        "metadata": {},
        "items": [{"metadata": one} for one in metadata],
    }
    return "---\n" + yaml.safe_dump(value) if as_yaml else json.dumps(value, indent=4) + "\n"


LOGS = {
    "nothing": "",
    "lines": "starting\nready\n",
    "a last line without an end": "starting",
    "documents": A + "---\n" + JSON_A + "\n---oops\n{ broken\n",
    "another dump": "==== START logs for container a of pod b/c ====\n==== END logs for container a of pod b/c ====\n",
    "the marker of another end": "==== END logs for container main of pod shop/web-2 ====\n",
}


@pytest.mark.parametrize("as_yaml", [pytest.param(False, id="in JSON"), pytest.param(True, id="in YAML")])
@pytest.mark.parametrize("log", [pytest.param(log, id=f"logs hold {name}") for name, log in LOGS.items()])
def test_a_cluster_dump_in_one_file_is_read_without_its_logs(log, as_yaml):
    text = dump(
        listed("Node", "n1", as_yaml=as_yaml),
        listed("Event", "e1", namespace="shop", as_yaml=as_yaml),
        listed("Pod", "web", "db", namespace="shop", as_yaml=as_yaml),
        ("shop/web", log),
        ("shop/db", log),
        listed("Event", namespace="kube-system", as_yaml=as_yaml),
        listed("Pod", "dns", namespace="kube-system", as_yaml=as_yaml),
        ("kube-system/dns", log),
    )
    for ends in ("\n", "\r\n"):
        manifests = load_text(text.replace("\n", ends).encode())
        assert [one.subject for one in manifests.objects] == [
            "Node n1",
            "Pod shop/web",
            "Pod shop/db",
            "Pod kube-system/dns",
        ]
        assert (manifests.ignored, manifests.warnings) == ({"v1 Event": 1}, [])
        dns = manifests.objects[-1]
        assert '"dns"' in text.splitlines()[dns.line + 1] or as_yaml


def test_the_logs_in_a_cluster_dump_need_not_be_text():
    text = dump(
        listed("Pod", "web", namespace="shop"), ("shop/web", "LOG"), listed("Pod", "dns", namespace="kube-system")
    )
    manifests = load_text(text.encode().replace(b"LOG", b"\xff\x00\x1b[2J\n"))
    assert [one.subject for one in manifests.objects] == ["Pod shop/web", "Pod kube-system/dns"]


def test_places_behind_logs_in_a_cluster_dump_are_those_in_the_file(read):
    text = dump(listed("Pod", "web", namespace="shop"), ("shop/web", "one\ntwo\n"), '{"apiVersion": "v1", "kind": 7}\n')
    (problem,) = read.problems(text.encode())
    line = text.splitlines()[problem.line - 1]
    assert line[problem.column - 1 :] == "7}"


def test_a_cluster_dump_that_ends_in_the_middle_of_logs_is_a_warning():
    whole = listed("Pod", "web", namespace="shop")
    manifests = load_text((whole + dump(("shop/web", "one\ntwo\n"))[:-20]).encode(), "cid.txt")
    assert [one.subject for one in manifests.objects] == ["Pod shop/web"]
    (warning,) = manifests.warnings
    place = f"cid.txt:{whole.count(chr(10)) + 1}:1"
    assert str(warning) == f"{place}: the logs of this container have no end marker; nothing after them is read"


def test_many_logs_are_passed_over_quickly():
    with Effort() as effort:
        load_text(dump(listed("Pod", "web", namespace="shop"), *[("shop/web", "==== START\n" * 100)] * 5000).encode())
    assert effort.turns < SOON


def test_what_looks_like_logs_inside_an_object_is_part_of_it(read):
    line = "==== START logs for container c of pod a/b ===="
    pod = read.one(A + f"x: |\n  {line}\nstatus: {{phase: Running}}\n")
    assert pod.status.phase == "Running"


class Crew(Struct, frozen=True):
    """An object of somebody else's kind."""

    metadata: ObjectMeta = ObjectMeta()
    size: int = 0


CREW = "apiVersion: crews.example.com/v1\nkind: Crew\nmetadata: {name: c}\nsize: %s\n"
CREWS = Terms(kinds=(Kind("crews.example.com/v1", "Crew", Crew),))


def test_foreign_kinds_are_read_on_request_and_counted_otherwise():
    (read,) = load_text((CREW % 3).encode(), terms=CREWS).objects
    assert (read.object.size, read.object.metadata.namespace) == (3, "default")
    assert load_text((CREW % 3).encode()).ignored == {"crews.example.com/v1 Crew": 1}


def test_mistake_in_a_requested_kind_has_its_place():
    with pytest.raises(InputError) as raised:
        load_text((CREW % "many").encode(), "crew.yaml", terms=CREWS)
    (problem,) = raised.value.problems
    assert (problem.line, problem.path) == (4, "size")
