"""Whatever is in the files, a command ends with an exit code of its contract, in bounded time, and without a traceback.

A small cluster is damaged at random: values of the wrong type and size at any path, extreme quantities, control
characters in names. The whole way is run, from reading to printing.
"""

import copy
import json

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedctl.cli.running import run

EXAMPLES = settings.default.max_examples // 2  # HYPOTHESIS_PROFILE=explore has more
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a", "labels": {"kubernetes.io/hostname": "a", "topology.kubernetes.io/zone": "z"}},
    "spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110", "example.com/gpu": "1"},
        "images": [{"names": ["registry.example/web:v1"], "sizeBytes": 50_000_000}],
    },
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {
        "priorityClassName": "high",
        "containers": [
            {
                "name": "main",
                "image": "registry.example/web:v1",
                "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"example.com/gpu": "1"}},
                "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
            }
        ],
        "initContainers": [{"name": "first", "image": "x", "restartPolicy": "Always"}],
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "nodeSelector": {"topology.kubernetes.io/zone": "z"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["3"]}]},
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]},
                    ]
                }
            },
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 10,
                        "podAffinityTerm": {
                            "topologyKey": "kubernetes.io/hostname",
                            "labelSelector": {"matchLabels": {"app": "web"}},
                        },
                    }
                ]
            },
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ],
        "overhead": {"cpu": "10m"},
        "schedulingGates": [],
    },
}
RUNNING = {
    **POD,
    "metadata": {"name": "old", "namespace": "shop", "labels": {"app": "web"}, "uid": "u"},
    "spec": {**POD["spec"], "nodeName": "a"},
    "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"},
}
OBJECTS = [
    NODE,
    POD,
    RUNNING,
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 0},
    },
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"app": "web"}},
    },
]
ODD = [
    None, True, 0, -1, 2**31, 2**63, -(2**63) - 1, 10**40, 1.5, float("1e308"), "", " ",
    "lots", "-5", "9Ei", "1e999", "1e-999", "0x10",
    "9223372036854775808", "-9223372036854775808", "1n", ".", "a\x00b", "\x1b[31mred",
    "\u202egnp", "x" * 5000, "é", "web\n", [], {},
    [[]], [None], {"": ""}, {"a": None}, [{"": []}], "a/b/c", "Never", "NotIn", "1.0.0.0",
]  # fmt: skip


def paths(value, path=()):
    """Every place in a document."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*path, index))


PLACES = [path for path in paths(OBJECTS) if len(path) > 1]


def damaged(changes, whole=OBJECTS):
    objects = copy.deepcopy(whole)
    for path, odd in changes:
        inner = objects
        try:
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = copy.deepcopy(odd)
        except (KeyError, IndexError, TypeError):
            continue
    return {"apiVersion": "v1", "kind": "List", "items": objects}


@pytest.mark.parametrize("form", ["json", "yaml"])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(ODD)), min_size=1, max_size=4))
def test_a_damaged_cluster_is_answered_or_refused(form, changes, tmp_path, capsys):
    path = tmp_path / f"cluster.{form}"
    document = damaged(changes)
    path.write_text(json.dumps(document) if form == "json" else yaml.safe_dump(document))
    code = run(["explain", "--all-pending", "--matrix", "-f", str(path)])
    out, err = capsys.readouterr()
    assert code in (0, 2, 3, 5), err
    assert "Traceback" not in err
    assert code == 0 or err
    assert not any(ord(c) < 32 and c != "\n" for c in out + err)
    assert "\u202e" not in out + err


SPEC = {key: value for key, value in POD["spec"].items() if key not in ("overhead", "schedulingGates")}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": SPEC}
ENDING = {**TEMPLATE, "spec": {**SPEC, "restartPolicy": "Never"}}
RELEASE = [
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
            "template": TEMPLATE,
        },
    },
    {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "ordinals": {"start": 1},
            "updateStrategy": {"rollingUpdate": {"partition": 0}},
            "template": TEMPLATE,
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "data"},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }
            ],
        },
    },
    {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "shop"},
        "spec": {
            "schedule": "0 0 * * *",
            "jobTemplate": {"spec": {"parallelism": 2, "completions": 3, "template": ENDING}},
        },
    },
    {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "minReplicas": 2, "maxReplicas": 3},
    },
    {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "shop"},
        "spec": {"hard": {"pods": "5", "requests.cpu": "4"}},
    },
    {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "small", "namespace": "shop"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "2"}}]},
    },
    {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": "blue", "namespace": "shop"},
        "spec": {"replicas": 1, "template": TEMPLATE},
    },
]
RELEASE_PLACES = [path for path in paths(RELEASE) if len(path) > 1]


@pytest.mark.parametrize("rollout", ["replace", "add", "rolling"])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=st.lists(st.tuples(st.sampled_from(RELEASE_PLACES), st.sampled_from(ODD)), min_size=1, max_size=3),
    state=st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(ODD)), max_size=1),
)
def test_a_damaged_release_is_simulated_or_refused(rollout, changes, state, tmp_path, capsys):
    release, cluster = tmp_path / "release.json", tmp_path / "cluster.json"
    document = damaged(changes, RELEASE)
    release.write_text(json.dumps(document))
    cluster.write_text(json.dumps(damaged(state)))
    code = run(["simulate", str(release), "-f", str(cluster), "--rollout", rollout])
    out, err = capsys.readouterr()
    assert code in (0, 2, 3, 5), err
    assert "Traceback" not in err
    assert not any(ord(c) < 32 and c != "\n" for c in out + err)
    assert "\u202e" not in out + err


CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "percentageOfNodesToScore": 50,
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit", "weight": 5}]}},
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "RequestedToCapacityRatio",
                            "resources": [{"name": "cpu", "weight": 3}],
                            "requestedToCapacityRatio": {
                                "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
                            },
                        }
                    },
                },
                {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}},
                {"name": "NodeAffinity", "args": {"addedAffinity": POD["spec"]["affinity"]["nodeAffinity"]}},
            ],
        }
    ],
    "extenders": [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "weight": 1}],
}
CONFIG_PLACES = [path for path in paths(CONFIG) if path]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.sampled_from(CONFIG_PLACES), st.sampled_from(ODD)), min_size=1, max_size=3))
def test_a_damaged_configuration_is_followed_or_refused(changes, tmp_path, capsys):
    config = copy.deepcopy(CONFIG)
    for path, odd in changes:
        inner = config
        try:
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = copy.deepcopy(odd)
        except (KeyError, IndexError, TypeError):
            continue
    cluster, file = tmp_path / "cluster.json", tmp_path / "scheduler.yaml"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS}))
    file.write_text(yaml.safe_dump(config))
    code = run(["explain", "--all-pending", "-f", str(cluster), "--scheduler-config", str(file)])
    out, err = capsys.readouterr()
    assert code in (0, 2), err
    assert not any(ord(c) < 32 and c != "\n" for c in out + err)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_random_bytes_are_refused(data, tmp_path, capsys):
    path = tmp_path / "cluster.yaml"
    path.write_bytes(data)
    code = run(["explain", "--all-pending", "-f", str(path)])
    err = capsys.readouterr().err
    assert code == 3, err
    assert "Traceback" not in err


def test_a_node_with_ten_thousand_labels_is_a_node(tmp_path, capsys):
    node = copy.deepcopy(NODE)
    node["metadata"]["labels"] |= {f"label-{i}": str(i) for i in range(10_000)}
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, *OBJECTS[1:]]}))
    assert run(["explain", "--all-pending", "-f", str(path)]) == 0


@pytest.mark.parametrize(
    "number",
    [
        pytest.param("9" * 5000, id="a number of 5000 digits"),
        pytest.param("1e99999999999", id="an exponent of 11 digits"),
        pytest.param("1e" + "9" * 5000, id="an exponent of 5000 digits"),
    ],
)
def test_thousands_of_digits_from_a_cluster_are_answered_or_refused(number, tmp_path, capsys):
    path = tmp_path / "cluster.json"
    node, pod = copy.deepcopy(NODE), copy.deepcopy(POD)
    node["metadata"] |= {"uid": "1", "labels": {"size": number}}
    term = {"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["3"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    pod["metadata"]["uid"] = "2"
    pod["spec"] = {"containers": pod["spec"]["containers"], "affinity": {"nodeAffinity": required}}
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod]}))
    assert run(["explain", "--all-pending", "-f", str(path)]) == 0
    assert "its nodeAffinity does not require size>3" in capsys.readouterr().out
    node["status"]["allocatable"]["cpu"] = number
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod]}))
    assert run(["explain", "--all-pending", "-f", str(path)]) == 3
    assert "status.allocatable.cpu: expected a quantity" in capsys.readouterr().err
