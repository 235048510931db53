"""Which custom resources are said to be an operator's, and which are counted beside ConfigMaps."""

from __future__ import annotations

import re

import pytest

from schedctl.api.custom_kinds import CUSTOM_KINDS
from schedctl.sources import Terms, load_text
from schedctl.sources.unmodelled import OPERATOR, POD_GROUP

CREATING = Terms(creating=True, custom_kinds=CUSTOM_KINDS)
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: farms.example.com}
spec:
  group: example.com
  names: {kind: Farm}
  versions:
  - schema: {openAPIV3Schema: {properties: {spec: {properties: {%s: {}}}}}}
"""


def resource(api_version: str, kind: str, spec: str = "") -> str:
    return f"\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a, namespace: shop}}\nspec: {{{spec}}}\n"


@pytest.fixture
def unmodelled():
    def find(text: str) -> list[tuple[str, str]]:
        found = load_text(text.encode(), "given.yaml", terms=CREATING).unmodelled
        return [(each.problem.subject, each.problem.message) for each in found]

    return find


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(resource("example.com/v1", "Shop", "web: {containers: []}"), OPERATOR, id="containers, anywhere"),
        pytest.param(resource("example.com/v1", "Shop", "tolerations: []"), OPERATOR, id="a field of pods"),
        pytest.param(resource("example.com/v1", "Shop", "replicas: 3, image: x"), OPERATOR, id="a number and an image"),
        pytest.param(resource("example.com/v1", "Shop", "replicas: 3"), OPERATOR, id="a number of replicas of its own"),
        pytest.param(resource("example.com/v1", "Shop", "web: {members: 3}"), OPERATOR, id="a number of a part of it"),
        pytest.param(resource("example.com/v1", "Shop", "replicas: three"), "", id="which is a number"),
        pytest.param(resource("shop-operator.example.com/v1", "Shop"), OPERATOR, id="a group named after an operator"),
        pytest.param(resource("operators.coreos.com/v1", "OperatorGroup"), "", id="but not all of its kinds"),
        pytest.param(resource("rabbitmq.com/v1beta1", "RabbitmqCluster"), OPERATOR, id="an operator's without fields"),
        pytest.param(resource("operator.tigera.io/v1", "Whisker"), OPERATOR, id="another of them"),
        pytest.param(resource("ceph.rook.io/v1", "CephBlockPool", "replicated: {size: 3}"), "", id="a pool of disks"),
        pytest.param(
            resource("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", "template: {spec: {containers: []}}"),
            "",
            id="a template that waits for its TrainJob",
        ),
        pytest.param(resource("projectcalico.org/v3", "BGPPeer", "nodeSelector: all()"), "", id="a selector of nodes"),
        pytest.param(
            resource("serving.kserve.io/v1beta1", "InferenceService", "predictor: {model: {storageUri: s3:a}}"),
            OPERATOR,
            id="a known kind whose pods come from elsewhere",
        ),
        pytest.param(resource("apps.kruise.io/v1alpha1", "CloneSet"), OPERATOR, id="a known kind without a template"),
        pytest.param(resource("kafka.strimzi.io/v1", "KafkaTopic", "replicas: 3"), "", id="replicas of a topic"),
        pytest.param(resource("argoproj.io/v1alpha1", "AnalysisTemplate", "containers: []"), "", id="a template alone"),
        pytest.param(resource("example.com/v1", "Shop", "image: x"), "", id="an image alone may be a picture"),
        pytest.param(resource("argoproj.io/v1alpha1", "Application"), OPERATOR, id="a kind known to make pods"),
        pytest.param(resource("monitoring.coreos.com/v1", "ServiceMonitor", "endpoints: []"), "", id="a monitor"),
        pytest.param(
            resource("networking.istio.io/v1", "Gateway", "nodeSelector: {}"), "", id="a group that makes none"
        ),
        pytest.param(resource("networking.k8s.io/v1", "Ingress", "resources: {}, image: x"), "", id="Kubernetes' own"),
        pytest.param(
            DEFINITION % "nodeSelector" + "---" + resource("example.com/v1", "Farm", "size: 3"),
            OPERATOR,
            id="a kind whose definition has a field of pods",
        ),
        pytest.param(
            resource("example.com/v1", "Farm", "size: 3") + "---" + DEFINITION % "nodeSelector",
            OPERATOR,
            id="wherever the definition stands",
        ),
        pytest.param(
            DEFINITION.replace("schema:", "subresources: {scale: {}}\n    schema:") % "colour"
            + "---"
            + resource("example.com/v1", "Farm"),
            OPERATOR,
            id="a kind that can be scaled",
        ),
        pytest.param(
            DEFINITION % "colour" + "---" + resource("example.com/v1", "Farm", "size: 3"),
            "",
            id="another definition",
        ),
        pytest.param(resource("scheduling.x-k8s.io/v1alpha1", "PodGroup"), POD_GROUP, id="a PodGroup of plugins"),
        pytest.param(resource("scheduling.volcano.sh/v1beta1", "PodGroup"), POD_GROUP, id="one of Volcano"),
        pytest.param(resource("scheduling.k8s.io/v1alpha2", "PodGroup"), POD_GROUP, id="and one of Kubernetes"),
    ],
)
def test_a_resource_that_may_make_pods_is_kept_by_name(unmodelled, text, reason):
    found = unmodelled(text)
    assert [message for _, message in found] == ([reason] if reason else [])
    assert all(subject.endswith(" shop/a") for subject, _ in found)


def test_a_part_without_containers_is_told_beside_the_pods_of_the_others(unmodelled):
    spec = "predictor: {model: {storageUri: s3:a}}, transformer: {containers: [{name: a, image: a}]}"
    text = resource("serving.kserve.io/v1beta1", "InferenceService", spec).encode()
    found = load_text(text, "given.yaml", terms=CREATING)
    assert [(each.problem.subject, each.problem.path) for each in found.unmodelled] == [
        ("InferenceService shop/a", "spec.predictor")
    ]
    assert [group.group for one in found.objects for group in one.object.replicas] == ["transformer"]


def test_generated_names_are_completed_and_differ(unmodelled):
    one = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: hello-}\n"
    subjects = [subject for subject, _ in unmodelled(f"{one}---\n{one}")]
    assert len(set(subjects)) == 2
    assert all(re.fullmatch("Workflow default/hello-[a-z0-9]{5}", subject) for subject in subjects)


def test_one_without_metadata_is_named_all_the_same(unmodelled):
    assert unmodelled("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: []\n") == [
        ("Workflow default/without a name", OPERATOR)
    ]


@pytest.mark.parametrize(
    ("version", "kind", "named"),
    [
        pytest.param("v1alpha1", "Workload", "the API of Kubernetes 1.35", id="a workload of v1.35"),
        pytest.param("v1alpha2", "PodGroup", "the API of Kubernetes 1.36", id="a group of v1.36"),
        pytest.param("v1alpha3", "PodGroup", "an alpha API of Kubernetes 1.37", id="a group of the alpha API of v1.37"),
    ],
)
@pytest.mark.parametrize("terms", [pytest.param(CREATING, id="to be created"), pytest.param(Terms(), id="of a state")])
def test_groups_of_other_versions_are_named_with_the_version_that_is_read(version, kind, named, terms):
    text = resource(f"scheduling.k8s.io/{version}", kind)
    (warning,) = load_text(text.encode(), "given.yaml", terms=terms).warnings
    assert warning.message.startswith(f"{kind} as scheduling.k8s.io/{version} is {named}, which is not read")
    assert "scheduling.k8s.io/v1beta1" in warning.message


def test_a_group_of_the_version_that_is_read_is_not_warned_about():
    text = resource("scheduling.k8s.io/v1beta1", "PodGroup", "schedulingPolicy: {basic: {}}")
    assert not load_text(text.encode(), "given.yaml").warnings
