"""What is likely to be wrong with a pod: said in one line below the cause, and the correction tried."""

import copy

import pytest

from schedctl.api import defaults
from schedctl.explain.topology_keys import closest_topology_key
from schedctl.testing.builders import cluster, node, pod


def taint(key, value="", effect="NoSchedule"):
    return {"key": key, "value": value, "effect": effect}


SPOT = node("spot-1", taints=[taint("spot", "true")])


def diagnosis(found, reference):
    """Return what is diagnosed below a cause, and the best fix that was tried."""
    (reason,) = [reason for reason in found.reasons if reason.reference == reference]
    return reason.diagnosis, [hint.text for hint in found.hints if hint.fits][:1]


# -- tolerations -----------------------------------------------------------------

UNTOLERATED = "taint-toleration/untolerated"


@pytest.mark.parametrize(
    ("toleration", "sentence", "fix"),
    [
        pytest.param(
            {"key": "spot", "value": "yes", "effect": "NoSchedule"},
            'taint spot=true:NoSchedule, toleration spot=yes:NoSchedule: value "yes", not "true"',
            'would fit on spot-1 if toleration spot=yes:NoSchedule has value: "true"',
            id="another value",
        ),
        pytest.param(
            {"key": "spot", "operator": "Exists", "effect": "NoExecute"},
            'taint spot=true:NoSchedule, toleration spot:NoExecute op=Exists: effect "NoExecute", not "NoSchedule"',
            'would fit on spot-1 if toleration spot:NoExecute op=Exists has effect: "NoSchedule"',
            id="another effect",
        ),
        pytest.param(
            {"key": "spto", "value": "true"},
            'taint spot=true:NoSchedule, toleration spto=true: key "spto", not "spot"',
            'would fit on spot-1 if toleration spto=true has key: "spot"',
            id="a misspelt key",
        ),
        pytest.param(
            {"key": "example.com/spot", "value": "true"},
            'taint spot=true:NoSchedule, toleration example.com/spot=true: key "example.com/spot", not "spot"',
            'would fit on spot-1 if toleration example.com/spot=true has key: "spot"',
            id="a key with a prefix that the taint does not have",
        ),
        pytest.param(
            {"key": "spot", "effect": "NoSchedule"},
            'taint spot=true:NoSchedule, toleration spot:NoSchedule: operator "Equal" without a value, not "Exists"',
            'would fit on spot-1 if toleration spot:NoSchedule has operator: "Exists"',
            id="no operator and no value, where any value was meant",
        ),
        pytest.param(
            {"key": "spot", "value": "yes", "effect": "NoExecute"},
            "taint spot=true:NoSchedule, toleration spot=yes:NoExecute:"
            ' value "yes", not "true" and effect "NoExecute", not "NoSchedule"',
            'would fit on spot-1 if toleration spot=yes:NoExecute has value: "true" and effect: "NoSchedule"',
            id="two words at once",
        ),
    ],
)
def test_a_toleration_that_misses_a_taint_by_a_word_stands_beside_it(ask, toleration, sentence, fix):
    found = ask(cluster(SPOT), pod(tolerations=[toleration]))
    assert diagnosis(found, UNTOLERATED) == ([sentence], [fix])


@pytest.mark.parametrize(
    ("nodes", "tolerations", "subject"),
    [
        pytest.param([], [], "spot-1", id="a pod without tolerations"),
        pytest.param([], [{"key": "dedicated", "value": "true"}], "spot-1", id="a toleration of something else"),
        pytest.param([], [{"key": "spto", "value": "yes"}], "spot-1", id="another key and another value"),
        pytest.param(
            [node("full", pods="0", taints=[taint("spot", "gpu")])],
            [{"key": "spot", "value": "gpu"}],
            "spot-1, which is reserved for others,",
            id="a toleration that tolerates another node's taint is as it was meant",
        ),
    ],
)
def test_a_toleration_that_was_not_meant_for_the_taint_is_left_alone(ask, nodes, tolerations, subject):
    found = ask(cluster(SPOT, *nodes), pod(tolerations=tolerations))
    assert diagnosis(found, UNTOLERATED) == ([], [f"would fit on {subject} if it tolerates spot=true:NoSchedule"])


def test_a_condition_of_the_node_is_nothing_to_tolerate_better(ask):
    not_ready = node("a", taints=[taint("node.kubernetes.io/not-ready")])
    subject = pod(tolerations=[{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}])
    sentences, (fix,) = diagnosis(ask(cluster(not_ready), subject), UNTOLERATED)
    assert sentences == []
    assert fix == "would fit if a becomes Ready"


def test_of_several_taints_a_misspelt_value_is_meant_for_the_one_it_is_like(ask):
    nodes = [node(name, taints=[taint("dedicated", name)]) for name in ("database", "frontend")]
    found = ask(cluster(*nodes), pod(tolerations=[{"key": "dedicated", "value": "databse"}]))
    sentences, (fix,) = diagnosis(found, UNTOLERATED)
    assert sentences == [
        'taint dedicated=database:NoSchedule, toleration dedicated=databse: value "databse", not "database"'
    ]
    assert fix == 'would fit on database if toleration dedicated=databse has value: "database"'


# -- requests --------------------------------------------------------------------

INSUFFICIENT = "node-resources-fit/insufficient"


def container(name="web", restart="", **requests):
    written = {"name": name, "resources": {"requests": requests}}
    return {**written, "restartPolicy": restart} if restart else written


def sidecar(name, **requests):
    return container(name, "Always", **requests)


SPACIOUS = node("large", cpu="64", taints=[taint("k")])
NODES = [node("a", cpu="2", memory="4Gi"), node("b", cpu="3920m", memory="16Gi"), node("c", cpu="3920m", memory="8Gi")]


@pytest.mark.parametrize(
    ("requests", "sentences", "fix"),
    [
        pytest.param(
            {"cpu": "6"},
            ["larger than any node: 6000m cpu requested, largest allocatable 3920m (b)"],
            "would fit on 2 nodes if cpu <= 3920m",
            id="more cores than any node has",
        ),
        pytest.param(
            {"memory": "20Gi"},
            ["larger than any node: 20Gi memory requested, largest allocatable 16Gi (b)"],
            "would fit on b if memory <= 16Gi",
            id="more memory than any node has",
        ),
        pytest.param(
            {"cpu": 100},
            [
                "larger than any node: 100000m cpu requested, largest allocatable 3920m (b)",
                "cpu: 100 is 100 cores; did you mean 100m?",
            ],
            "would fit on 3 nodes if container web has cpu: 100m",
            id="cores where millicores were meant",
        ),
        pytest.param(
            {"memory": "512Gi"},
            [
                "larger than any node: 512Gi memory requested, largest allocatable 16Gi (b)",
                "memory: 512Gi; did you mean 512Mi?",
            ],
            "would fit on 3 nodes if container web has memory: 512Mi",
            id="Gi where Mi was meant",
        ),
        pytest.param(
            {"memory": "2Ti"},
            [
                "larger than any node: 2048Gi memory requested, largest allocatable 16Gi (b)",
                "memory: 2Ti; did you mean 2Gi?",
            ],
            "would fit on 3 nodes if container web has memory: 2Gi",
            id="Ti where Gi was meant",
        ),
        pytest.param(
            {"cpu": "96"},
            ["larger than any node: 96000m cpu requested, largest allocatable 3920m (b)"],
            "would fit on 2 nodes if cpu <= 3920m",
            id="96 are cores: millicores are round numbers",
        ),
        pytest.param(
            {"memory": "64Gi"},
            ["larger than any node: 64Gi memory requested, largest allocatable 16Gi (b)"],
            "would fit on b if memory <= 16Gi",
            id="64Gi are meant: few would write 64Mi",
        ),
        pytest.param(
            {"nvidia.com/gpu": "1"}, [], "would fit if another node like a is added", id="what no node offers at all"
        ),
    ],
)
def test_a_pod_that_no_node_is_large_enough_for_is_told_so(ask, requests, sentences, fix):
    found = ask(cluster(*NODES), pod(containers=[container(**requests)]))
    said, fixes = diagnosis(found, INSUFFICIENT)
    assert said == sentences
    assert fixes in ([fix], [])
    if sentences:
        assert fixes == [fix]


def test_a_pod_that_would_fit_on_an_empty_node_is_not_too_large(ask):
    found = ask(cluster(node("a", cpu="2"), pod("x", on="a", cpu="1")), pod(cpu="1500m"))
    assert diagnosis(found, INSUFFICIENT)[0] == []


def test_the_largest_node_is_looked_for_among_those_that_others_reject_too(ask):
    found = ask(cluster(node("a", cpu="2"), node("large", cpu="64", taints=[taint("spot")])), pod(cpu="4"))
    assert diagnosis(found, INSUFFICIENT)[0] == []


def test_limits_that_slipped_with_the_request_are_corrected_with_it(ask):
    resources = {"requests": {"cpu": "250"}, "limits": {"cpu": "250"}}
    found = ask(cluster(*NODES), pod(containers=[{"name": "web", "resources": resources}]))
    assert diagnosis(found, INSUFFICIENT)[1] == ["would fit on 3 nodes if container web has cpu: 250m"]


@pytest.mark.parametrize(
    ("spec", "sentences"),
    [
        pytest.param({"containers": [container(cpu="3"), container("b", cpu="2")]}, [], id="containers alone"),
        pytest.param(
            {
                "containers": [container(cpu="2500m")],
                "initContainers": [sidecar("proxy", cpu="2300m")],
                "overhead": {"cpu": "100m"},
            },
            ["cpu 4900m = containers 2500m + sidecar proxy 2300m + overhead 100m"],
            id="a sidecar and overhead",
        ),
        pytest.param(
            {
                "containers": [container(cpu="1")],
                "initContainers": [sidecar("proxy", cpu="1"), container("migrate", cpu="4")],
            },
            ["cpu 5 = init container migrate 4 + sidecar proxy 1"],
            id="an init container that needs more than the running pod, beside the sidecars before it",
        ),
        pytest.param(
            {
                "containers": [container(cpu="5")],
                "initContainers": [container("migrate", cpu="3")],
            },
            [],
            id="an init container that needs less than the running pod does",
        ),
        pytest.param(
            {"containers": [container(cpu="1")], "initContainers": [sidecar(name, cpu="2") for name in "xyz"]},
            ["cpu 7 = containers 1 + 3 sidecars 6"],
            id="many sidecars are added up",
        ),
        pytest.param(
            {
                "containers": [container(cpu="4800m")],
                "overhead": {"cpu": "100m"},
                "runtimeClassName": "sandboxed",
            },
            ["cpu 4900m = containers 4800m + overhead of RuntimeClass sandboxed 100m"],
            id="overhead that a runtime class adds",
        ),
        pytest.param(
            {"containers": [container(cpu="500m")], "resources": {"requests": {"cpu": "5"}}},
            ["cpu 5 = pod-level resources 5"],
            id="the pod as a whole asks for more than its containers",
        ),
    ],
)
def test_what_a_request_is_made_of_is_told_where_the_containers_do_not_say_it(ask, spec, sentences):
    found = ask(cluster(node("a", cpu="4500m"), SPACIOUS), pod(**spec))
    assert diagnosis(found, INSUFFICIENT)[0] == sentences


def test_limits_that_became_requests_are_named_as_such(ask):
    subject = pod(containers=[{"name": "web", "resources": {"limits": {"cpu": "5500m"}}}, container("b", cpu="1")])
    assert diagnosis(ask(cluster(NODES[1], SPACIOUS), defaults.pod(subject.pod)), INSUFFICIENT)[0] == [
        "cpu 6500m = containers 1000m + limit of container web 5500m"
    ]


def test_a_request_that_is_written_beside_an_equal_limit_is_a_request(ask):
    amounts = {side: {"cpu": 6} for side in ("requests", "limits")}
    subject = pod(containers=[{"name": "web", "resources": amounts}])
    assert diagnosis(ask(cluster(NODES[1], SPACIOUS), defaults.pod(subject.pod)), INSUFFICIENT)[0] == []


def test_a_limit_counts_for_a_request_that_is_missing_beside_others(ask):
    resources = {"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi", "cpu": "5500m"}}
    subject = defaults.pod(pod(containers=[{"name": "web", "resources": resources}]).pod)
    found = ask(cluster(NODES[1], SPACIOUS), copy.deepcopy(subject))
    assert diagnosis(found, INSUFFICIENT)[0] == ["container web sets no cpu request, so its limit 5500m is the request"]


def test_the_parts_are_called_as_the_pod_at_hand_calls_them(ask):
    state = cluster(node("a", cpu="1"), SPACIOUS)
    for name in ("proxy", "mesh"):
        subject = pod(containers=[container(cpu="1")], initContainers=[sidecar(name, cpu="1")])
        assert diagnosis(ask(state, subject), INSUFFICIENT)[0] == [f"cpu 2 = containers 1 + sidecar {name} 1"]


@pytest.mark.parametrize(
    ("memory", "text"),
    [
        pytest.param(
            "500m",
            "memory: 500m of container web is 0.5 bytes; did you mean 500Mi? if fixed, the pod would be placed on a",
            id="thousandths of a byte",
        ),
        pytest.param(
            1024,
            "memory: 1024 of container web is 1024 bytes; did you mean 1024Mi? if fixed, the pod would fit nowhere",
            id="a number without a unit",
        ),
    ],
)
def test_memory_in_bytes_is_remarked_upon_although_it_fits_anywhere(ask, memory, text):
    found = ask(cluster(node("a", memory="512Mi")), pod(containers=[container(memory=memory)]))
    assert found.verdict == "Scheduled"
    assert [remark.text for remark in found.remarks] == [text]


# -- one scale -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allocatable", "used", "requested", "summary", "detail"),
    [
        pytest.param(
            {"cpu": "3920m"},
            {"cpu": "2"},
            {"cpu": "3"},
            "cpu: 3000m requested, 1920m free",
            "1920m free of 3920m (2000m used), 1080m missing",
            id="millicores wherever one amount of the line is no whole number of cores",
        ),
        pytest.param(
            {"cpu": "4"},
            {"cpu": "2"},
            {"cpu": "3"},
            "cpu: 3 requested, 2 free",
            "2 free of 4 (2 used), 1 missing",
            id="cores where all are whole",
        ),
        pytest.param(
            {"memory": "16Gi"},
            {"memory": "12Gi"},
            {"memory": "4100Mi"},
            "memory: 4100Mi requested, 4096Mi free",
            "4096Mi free of 16384Mi (12288Mi used), 4Mi missing",
            id="memory in the unit in which the smallest difference shows",
        ),
        pytest.param(
            {"memory": "16Gi"},
            {"memory": "9728Mi"},
            {"memory": "8Gi"},
            "memory: 8Gi requested, 6.5Gi free",
            "6.5Gi free of 16Gi (9.5Gi used), 1.5Gi missing",
            id="memory in the largest unit that says it all",
        ),
        pytest.param(
            {"memory": "14Gi"},
            {"memory": "128Mi"},
            {"memory": "1000Gi"},
            "",
            "13.9Gi free of 14Gi (0.1Gi used), 986.1Gi missing",
            id="but not in hundreds of thousands of a unit",
        ),
    ],
)
def test_the_amounts_of_a_line_have_one_unit(ask, allocatable, used, requested, summary, detail):
    state = cluster(node("a", **allocatable), pod("x", on="a", requests=used))
    (reason,) = ask(state, pod(requests=requested)).reasons
    assert (reason.summary, reason.groups[0].detail) == (summary, detail)


# -- topology keys ---------------------------------------------------------------


def spread(key):
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return pod(labels={"app": "web"}, topologySpreadConstraints=[constraint])


def regional(**labels):
    """Return three nodes in two zones of a region, with labels that the kubelet sets and others."""
    kubelet = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    place = {"topology.kubernetes.io/region": "eu"}
    return cluster(*(node(name, zone=name[0], labels={**kubelet, **place, **labels}) for name in ("a1", "a2", "b1")))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        pytest.param("rack", "topology.kubernetes.io/zone", id="a rack is a zone where no node knows of racks"),
        pytest.param(
            "topology.kubernetes.io/rack",
            "topology.kubernetes.io/zone",
            id="a prefix of Kubernetes' own does not make it another key with that prefix",
        ),
        pytest.param(
            "kubernetes.io/rack", "topology.kubernetes.io/zone", id="a rack is not arch, however alike they are spelt"
        ),
        pytest.param("example.com/region", "topology.kubernetes.io/region", id="a region of another prefix"),
        pytest.param("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone", id="the deprecated zone"),
        pytest.param("kubernetes.io/host", "kubernetes.io/hostname", id="a host is a hostname"),
        pytest.param("topology.kubernetes.io/zoen", "topology.kubernetes.io/zone", id="a misspelt word"),
    ],
)
def test_a_missing_topology_key_is_the_one_of_the_same_role(ask, key, meant):
    (hint,) = [hint for hint in ask(regional(), spread(key)).hints if hint.type == "rename-label"]
    assert hint.text.startswith(
        f'topology key "{key}" is on no node (did you mean "{meant}"?); if fixed, the pod would'
    )
    assert hint.fits == 3


def test_racks_are_preferred_where_nodes_tell_of_them_in_another_word():
    values = {"example.com/row": {"x": 2, "y": 2}, "topology.kubernetes.io/zone": {"a": 2, "b": 2}}
    assert closest_topology_key("rack", values, 4) == "example.com/row"


@pytest.mark.parametrize(
    ("key", "values"),
    [
        pytest.param("rack", {"kubernetes.io/arch": {"amd64": 4}}, id="what all nodes have alike divides none"),
        pytest.param("rack", {"topology.kubernetes.io/zone": {"a": 1}}, id="what few nodes have"),
        pytest.param("colour", {"topology.kubernetes.io/zone": {"a": 2, "b": 2}}, id="a role that nobody knows"),
    ],
)
def test_no_other_topology_key_is_guessed(key, values):
    assert closest_topology_key(key, values, 4) == ""
