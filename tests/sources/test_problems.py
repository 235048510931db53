"""What is said about input that is wrong: every problem, its place, what was expected, and the nearest right name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from schedctl.errors import InputError, Problem
from schedctl.sources import Terms, load, load_text

HERE = Path(__file__).parent


def told(problems: list[Problem]) -> str:
    return "".join(f"{problem}\n" + (f"    hint: {problem.hint}\n" if problem.hint else "") for problem in problems)


def in_order(fault: InputError) -> list[Problem]:
    return sorted((*fault.problems, *fault.warnings), key=lambda problem: problem.line)


def test_all_mistakes_of_a_file_are_reported_at_once(monkeypatch):
    monkeypatch.chdir(HERE)
    with pytest.raises(InputError) as caught:
        load(["five_mistakes.yaml"])
    assert told(in_order(caught.value)) == Path("five_mistakes.txt").read_text()
    assert caught.value.exit_code == 3


def test_warnings_stay_warnings_beside_problems(monkeypatch):
    monkeypatch.chdir(HERE)
    with pytest.raises(InputError) as caught:
        load(["five_mistakes.yaml"])
    assert len(caught.value.problems) == 4
    assert [warning.path for warning in caught.value.warnings] == ["spec.template.spec.nodeSelectr"]


def test_the_same_mistakes_in_json_have_their_own_places():
    value = yaml.safe_load((HERE / "five_mistakes.yaml").read_text())
    with pytest.raises(InputError) as caught:
        load_text(json.dumps(value, indent=2).encode(), "m.json")
    recorded = (HERE / "five_mistakes.txt").read_text().splitlines()[::2]
    problems = in_order(caught.value)
    assert [str(problem).split(": ", 1)[1] for problem in problems] == [line.split(": ", 1)[1] for line in recorded]
    lines = json.dumps(value, indent=2).splitlines()
    for problem, word in zip(problems, ['"3"', "5", '"nodeSelectr"', '"Equals"', '"1GB"'], strict=True):
        assert lines[problem.line - 1][problem.column - 1 :].startswith(word)


SPEC = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: c}]\n  "


@pytest.mark.parametrize(
    ("field", "message", "hint"),
    [
        pytest.param("priority: many", 'expected an integer, got the text "many"', "", id="text for an integer"),
        pytest.param(
            "priority: '5'", 'expected an integer, got the text "5"', "write it without quotes", id="a quoted integer"
        ),
        pytest.param("priority: 1.5", "expected an integer, got the number 1.5", "", id="a fraction"),
        pytest.param("priority: true", "expected an integer, got true", "", id="a boolean for an integer"),
        pytest.param(
            "priority: 3000000000",
            "expected an integer of at most 32 bits, got the number 3000000000",
            "",
            id="a big integer",
        ),
        pytest.param(
            "hostNetwork: 'true'",
            'expected true or false, got the text "true"',
            "write it without quotes",
            id="a quoted boolean",
        ),
        pytest.param("hostNetwork: 1", "expected true or false, got the number 1", "", id="a number for a boolean"),
        pytest.param("schedulerName: 5", "expected text, got the number 5", "put it in quotes", id="a number for text"),
        pytest.param(
            "schedulerName: on",
            "expected text, got true",
            "put it in quotes; YAML reads yes, no, on, off, y and n as true and false, too",
            id="a word that YAML takes for a boolean",
        ),
        pytest.param("schedulerName: [a]", "expected text, got a list", "", id="a list for text"),
        pytest.param("nodeSelector: a", 'expected a mapping, got the text "a"', "", id="text for a mapping"),
        pytest.param("nodeSelector: [a]", "expected a mapping, got a list", "", id="a list for a mapping"),
        pytest.param("affinity: [a]", "expected a mapping, got a list", "", id="a list for a structure"),
        pytest.param(
            "tolerations: {key: a}",
            "expected a list, got a mapping",
            'a list item begins with "- "',
            id="a mapping for a list",
        ),
        pytest.param(
            "overhead: {cpu: true}",
            'expected a quantity such as "500m" or "2Gi", got true',
            "",
            id="a boolean for a quantity",
        ),
        pytest.param(
            "overhead: {memory: 512 MB}",
            'expected a quantity such as "500m" or "2Gi", got the text "512 MB"',
            'did you mean "512M"?',
            id="a unit with a B",
        ),
        pytest.param(
            "overhead: {memory: 2gib}",
            'expected a quantity such as "500m" or "2Gi", got the text "2gib"',
            'did you mean "2Gi"?',
            id="a unit in lower case",
        ),
        pytest.param(
            "overhead: {memory: 10Q}",
            'expected a quantity such as "500m" or "2Gi", got the text "10Q"',
            "units are m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi and Ei; the API server says: quantities must match the"
            " regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            id="a unit that does not exist",
        ),
        pytest.param(
            "overhead: {cpu: ''}",
            'expected a quantity such as "500m" or "2Gi", got the text ""',
            "",
            id="an empty quantity",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_a_problem(field, message, hint):
    with pytest.raises(InputError) as caught:
        load_text((SPEC + field + "\n").encode(), "m")
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == (message, hint)
    assert problem.line == 6


def test_a_missing_field_is_reported_where_it_is_missing(read):
    spread = (
        "{labelSelector: {matchExpressions: [{key: a}]}, maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}"
    )
    (problem,) = read.problems(f"{SPEC}topologySpreadConstraints: [{spread}]")
    assert str(problem) == (
        "m.yaml:6:67: Pod default/a: spec.topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator: "
        'the field "operator" is required'
    )


def test_an_object_without_a_name_is_a_problem(read):
    (problem,) = read.problems("apiVersion: v1\nkind: Service\nmetadata: {labels: {a: b}}\n")
    assert str(problem) == 'm.yaml:3:11: Service: metadata.name: the field "name" is required'


DEVICES, STORAGE = "apiVersion: resource.k8s.io/v1\nkind: ", "apiVersion: storage.k8s.io/v1\nkind: "
REQUEST = "spec: {devices: {requests: [{name: a, exactly: {deviceClassName: g, %s}}]}}"


@pytest.mark.parametrize(
    ("text", "path", "hint"),
    [
        pytest.param(
            SPEC + "nodeSelectr: {a: b}", "spec.nodeSelectr", 'did you mean "nodeSelector"?', id="a letter too few"
        ),
        pytest.param(
            SPEC + "tolerationss: []", "spec.tolerationss", 'did you mean "tolerations"?', id="a letter too many"
        ),
        pytest.param(SPEC + "nodeselector: {}", "spec.nodeselector", 'did you mean "nodeSelector"?', id="another case"),
        pytest.param(
            SPEC + "topologySpreadConstraint: []",
            "spec.topologySpreadConstraint",
            'did you mean "topologySpreadConstraints"?',
            id="the singular",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nnodeSelector: {}\nspec: {containers: [{}]}",
            "nodeSelector",
            'it belongs at "spec.nodeSelector"',
            id="not deep enough",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, tolerations: []}]}",
            "spec.containers[0].tolerations",
            'it belongs at "spec.tolerations"',
            id="too deep",
        ),
        pytest.param(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
            "spec:\n  affinity: {}\n  selector: {matchLabels: {a: b}}\n"
            "  template: {metadata: {labels: {a: b}}, spec: {containers: [{}]}}",
            "spec.affinity",
            'it belongs at "spec.template.spec.affinity"',
            id="beside the template",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Node\nmetadata: {name: a}\ntaints: []",
            "taints",
            'it belongs at "spec.taints"',
            id="on a node",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {alocatable: {cpu: 1}}",
            "status.alocatable",
            'did you mean "allocatable"?',
            id="in a node's status",
        ),
        pytest.param(
            SPEC + "affinity: {nodeAffinity: {requiredDuringScheduling: {}}}",
            "spec.affinity.nodeAffinity.requiredDuringScheduling",
            'did you mean "requiredDuringSchedulingIgnoredDuringExecution"?',
            id="half a name",
        ),
        pytest.param(
            DEVICES + "ResourceClaimTemplate\nmetadata: {name: a}\nspec: {devices: {requests: []}}",
            "spec.devices",
            'it belongs at "spec.spec.devices"',
            id="a claim template with one spec instead of two",
        ),
        pytest.param(
            DEVICES + "ResourceClaim\nmetadata: {name: a}\nspec: {requests: []}",
            "spec.requests",
            'it belongs at "spec.devices.requests"',
            id="a claim without its devices",
        ),
        pytest.param(
            DEVICES + f"ResourceClaim\nmetadata: {{name: a}}\n{REQUEST % 'selector: []'}",
            "spec.devices.requests[0].exactly.selector",
            'did you mean "selectors"?',
            id="in a claim's request",
        ),
        pytest.param(
            DEVICES + f"ResourceClaim\nmetadata: {{name: a}}\n{REQUEST % 'requests: {}'}",
            "spec.devices.requests[0].exactly.requests",
            'it belongs at "spec.devices.requests[0].exactly.capacity.requests"',
            id="an amount not deep enough",
        ),
        pytest.param(
            DEVICES + f"ResourceClaim\nmetadata: {{name: a}}\n{REQUEST % 'capacity: {request: {}}'}",
            "spec.devices.requests[0].exactly.capacity.request",
            'did you mean "requests"?',
            id="in what a claim asks of a capacity",
        ),
        pytest.param(
            DEVICES + "ResourceSlice\nmetadata: {name: a}\nspec: {driver: d, allNodes: true, "
            "pool: {name: p, resourceSlicesCount: 1}}",
            "spec.pool.resourceSlicesCount",
            'did you mean "resourceSliceCount"?',
            id="in a slice's pool",
        ),
        pytest.param(
            DEVICES + "DeviceClass\nmetadata: {name: a}\nselectors: []",
            "selectors",
            'it belongs at "spec.selectors"',
            id="on a class of devices",
        ),
        pytest.param(
            DEVICES + "DeviceTaintRule\nmetadata: {name: a}\n"
            "spec: {devicesSelector: {}, taint: {key: a, effect: NoExecute}}",
            "spec.devicesSelector",
            'did you mean "deviceSelector"?',
            id="in a rule that taints devices",
        ),
        pytest.param(
            STORAGE + "StorageClass\nmetadata: {name: a}\nprovisioner: p\nvolumeBindngMode: Immediate",
            "volumeBindngMode",
            'did you mean "volumeBindingMode"?',
            id="in a class of volumes",
        ),
        pytest.param(
            "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: a}\nspec: {nodeAfinity: {}}",
            "spec.nodeAfinity",
            'did you mean "nodeAffinity"?',
            id="in a volume",
        ),
        pytest.param(
            STORAGE
            + "CSINode\nmetadata: {name: a}\nspec: {drivers: [{name: d, nodeID: id, allocateable: {count: 1}}]}",
            "spec.drivers[0].allocateable",
            'did you mean "allocatable"?',
            id="in what a node can attach",
        ),
        pytest.param(
            STORAGE + "CSIDriver\nmetadata: {name: a}\nattachRequired: false",
            "attachRequired",
            'it belongs at "spec.attachRequired"',
            id="on a CSI driver",
        ),
        pytest.param(
            STORAGE + "CSIStorageCapacity\nmetadata: {name: a}\nstorageClass: s",
            "storageClass",
            'did you mean "storageClassName"?',
            id="in what a driver can still provision",
        ),
        pytest.param(
            STORAGE + "VolumeAttachment\nmetadata: {name: a}\n"
            "spec: {attacher: d, nodeName: w, source: {persistentVolume: p}}",
            "spec.source.persistentVolume",
            'did you mean "persistentVolumeName"?',
            id="in an attached volume",
        ),
        pytest.param(
            "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: a}\n"
            "spec: {schedulingPolicy: {basic: {}}, schedulingConstraint: {topology: [{key: rack}]}}",
            "spec.schedulingConstraint",
            'did you mean "schedulingConstraints"?',
            id="in a pod group, which would go anywhere",
        ),
        pytest.param(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n"
            "  template: {spec: {restartPolicy: Never, containers: [{name: c}]}}\n"
            "  scheduling: {schedulingPolicy: {gang: {mincount: 2}}}",
            "spec.scheduling.schedulingPolicy.gang.mincount",
            'did you mean "minCount"?',
            id="in how a Job is scheduled",
        ),
        pytest.param(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n"
            "spec: {selector: {matchLabels: {a: b}}, minAvailabe: 1}",
            "spec.minAvailabe",
            'did you mean "minAvailable"?',
            id="in a budget, which would allow every eviction",
        ),
        pytest.param(
            "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a}\nspec: {Hard: {pods: 1}}",
            "spec.Hard",
            'did you mean "hard"?',
            id="in a quota, which would limit nothing",
        ),
    ],
)
def test_a_misspelt_scheduling_field_is_a_warning(read, text, path, hint):
    (warning,) = read(text).warnings
    assert (warning.path, warning.hint) == (path, hint)
    assert warning.message == f'unknown field "{path.rpartition(".")[2]}", which is ignored'
    assert warning.line > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("replica: 50", 'unknown field "replica", which is ignored', id="a misspelt field"),
        pytest.param(
            "replicas: 1\n  replicas: 2",
            'the key "replicas" is written twice; the last one counts',
            id="a repeated key",
        ),
    ],
)
def test_what_kubectl_refuses_is_a_warning_and_a_problem_where_manifests_are_judged_strictly(text, message):
    manifest = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  {text}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: app, image: app}}]}}
""".encode()
    lenient, strict = (load_text(manifest, terms=Terms(creating=True, strict=strict)) for strict in (False, True))
    assert message in [warning.message for warning in lenient.warnings]
    assert message not in [problem.message for problem in lenient.problems]
    refusal = message.removesuffix(", which is ignored")
    (problem,) = [problem for problem in strict.problems if problem.message == refusal]
    assert problem.line > 4


def test_known_fields_that_scheduling_does_not_read_are_no_findings(read):
    manifests = read(
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: a, managedFields: [], generation: 1, selfLink: x}
        spec:
          dnsPolicy: None
          hostname: a
          securityContext: {}
          serviceAccountName: default
          containers:
          - name: c
            env: [{name: A, value: b}]
            livenessProbe: {httpGet: {port: 80}}
            volumeMounts: []
          somethingNew: true
        """
    )
    assert manifests.warnings == []


def test_states_that_a_program_wrote_are_not_searched_for_misspelt_fields(monkeypatch):
    monkeypatch.setattr("schedctl.sources.manifests.SPELLED_BYTES", 10)
    assert load_text((SPEC + "nodeSelectr: {}").encode()).warnings == []


def test_an_object_from_a_cluster_is_taken_as_it_is():
    text = SPEC.replace("name: a}", "name: a, uid: u}") + "nodeSelectr: {}\n  tolerations: [{operator: Eksists}]\n"
    manifests = load_text(text.encode())
    assert manifests.objects[0].object.spec.tolerations[0].operator == "Eksists"
    assert manifests.warnings == []


def test_the_name_of_an_object_from_a_cluster_must_still_fit_a_line():
    text = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a\n\x1b[2Jb", "uid": "u"}})
    with pytest.raises(InputError) as caught:
        load_text(text.encode(), "m")
    assert [problem.message for problem in caught.value.problems] == ['"a\\n\\x1b[2Jb" is not a name']


def test_secret_values_are_not_in_messages(read):
    problems = read.problems(SPEC.replace("name: c", "name: c, env: [{name: A, value: hunter2}]") + "priority: x\n")
    assert "hunter2" not in told(problems)


POD = {"apiVersion": "v1", "kind": "Pod"}


@pytest.mark.parametrize("uid", [pytest.param("", id="written by hand"), pytest.param("1", id="from a cluster")])
@pytest.mark.parametrize("as_yaml", [pytest.param(False, id="in JSON"), pytest.param(True, id="in YAML")])
@pytest.mark.parametrize(
    ("written", "got"),
    [
        pytest.param('"1e99999"', 'the text "1e99999"', id="a huge exponent"),
        pytest.param('"-1e-10001"', 'the text "-1e-10001"', id="an exponent just beyond the last one"),
        pytest.param('"' + "9" * 5000 + '"', 'the text "' + "9" * 48 + '…"', id="endless digits"),
        pytest.param("1e99999", "a very large number", id="a number with a huge exponent"),
        pytest.param("9" * 5000, "a very large number", id="a number of endless digits"),
    ],
)
def test_quantity_out_of_range_is_a_problem_at_its_path(read, written, got, as_yaml, uid):
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "Q"}}}
    pod = POD | {"metadata": {"name": "a", "uid": uid}, "spec": {"containers": [container]}}
    text = ("# YAML\n" if as_yaml else "") + json.dumps(pod).replace('"Q"', written)
    if as_yaml and not written.startswith('"'):
        got = f'the text "{written[:48]}{"…" if len(written) > 48 else ""}"'  # to YAML it is no number then
    (problem,) = read.problems(text)
    assert problem.path == "spec.containers[0].resources.requests.cpu"
    assert problem.message == f'expected a quantity such as "500m" or "2Gi", got {got}'


@pytest.mark.parametrize("written", ["1e10000", "1e-010000", "9" * 4000])
def test_quantity_at_the_limit_is_read(read, written):
    pod = read.one(json.dumps(POD | {"metadata": {"name": "a", "uid": "1"}, "spec": {"overhead": {"cpu": written}}}))
    assert pod.spec.overhead == {"cpu": written}
