"""The JSON Schema that ships and what is written are the same thing."""

import json

import jsonschema
import msgspec
import pytest

from schedctl.api.gaps import Gap
from schedctl.api.storage import PersistentVolumeClaim, StorageClass
from schedctl.explain import bound_pods
from schedctl.explain.explanations import report
from schedctl.explain.histories import with_history
from schedctl.reports.explanations import ExplainReport, OwnerPods
from schedctl.reports.metadata import Input, Metadata, VersionSkew
from schedctl.reports.reasons import Hint, ManifestEdit, Remark
from schedctl.reports.schemas import schema_of
from schedctl.scheduler.gaps import missing_kinds
from schedctl.testing.builders import cluster, node, pod
from schedctl.versions import KUBERNETES_VERSION

CLAIMED = (
    msgspec.convert(
        {"metadata": {"name": "data", "namespace": "default"}, "spec": {"storageClassName": "ssd"}},
        PersistentVolumeClaim,
    ),
    msgspec.convert(
        {"metadata": {"name": "ssd"}, "provisioner": "p", "volumeBindingMode": "WaitForFirstConsumer"}, StorageClass
    ),
)

CONDITION = {"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available: 1 Too many pods."}
REFUSED = pod("refused", cpu="99", status={"phase": "Pending", "conditions": [CONDITION]})
CRASHING = pod(
    "crashing",
    on="node-2",
    status={
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
        "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
    },
).pod


@pytest.fixture
def reports(shop, ask):
    """Reports that between them have every part of the schema."""
    running = next(iter(shop.pod_table))
    zoned = [{"maxSkew": 1, "topologyKey": "x", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]
    answers = [
        ask(shop, pod(cpu="500m"), matrix=True, node="node-2"),
        ask(shop, pod(cpu="3"), matrix=True, node="gpu-0"),
        ask(shop, running),
        ask(shop, pod(schedulingGates=[{"name": "g"}])),
        ask(shop, pod(schedulerName="other")),
        ask(shop, pod(topologySpreadConstraints=zoned)),
        ask(cluster(node("a")), pod(nodeSelector={"a": "b"})),
        ask(cluster(), pod()),
        ask(shop, pod(cpu="3", priority=10)),
        ask(cluster(node("a"), *CLAIMED), pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])),
    ]
    unlisted = cluster(node("a"), node("b"))
    unlisted.lack([Gap("Service", "Forbidden")])
    answers.append(ask(unlisted, pod(labels={"app": "web"})))
    answers.append(bound_pods.explain(CRASHING, shop))
    answers.append(with_history(ask(shop, REFUSED), REFUSED.pod, shop))
    remark = Remark(plugin="Coscheduling", text="none starts", details=["one is missing"], evidence={"members": 2})
    fix = Hint("lower-request", "would fit if cpu <= 1", edits=[ManifestEdit("web.yaml", 7, "spec.cpu", "set", "1")])
    answers[0] = msgspec.structs.replace(answers[0], remarks=[remark], hints=[*answers[0].hints, fix])
    owners = [OwnerPods("Deployment default/web", 1)]
    answers[0] = msgspec.structs.replace(answers[0], pods=["default/web"], owners=owners)
    digest = Input(source="cluster.yaml", digest="sha256:00", role="State")
    skew = VersionSkew("Kubelets", "v1.29.3", KUBERNETES_VERSION)
    metadata = Metadata(inputs=[digest], missing=missing_kinds(unlisted), version_skew=skew)
    return [report(answers, metadata=metadata), *(report([each]) for each in answers)]


def as_json(document):
    return json.loads(msgspec.json.encode(document))


def test_every_report_is_valid(reports):
    validator = jsonschema.Draft202012Validator(forbid_unknown_fields(schema_of(ExplainReport)))
    for each in reports:
        validator.validate(as_json(each))


def test_every_part_of_the_schema_is_written(reports):
    defined = schema_of(ExplainReport)["$defs"]
    names = {definition["title"] for definition in defined.values() if "properties" in definition}
    seen = set()
    for each in reports:
        collect(each, seen)
    of_groups = {"PodGroupResult", "GroupTrial", "MemberCause", "MissingResource"}  # tests/cli/test_pod_groups.py
    of_scale_ups = {"ScaleUp", "ScaleUpGroup", "GroupScaleUp"}  # tests/explain/test_scale_ups.py
    of_pages = {"DomainPods", "MappedNode", "NodeMap"}  # tests/render/html
    of_calls = {"PluginCalls"}  # of -v alone: tests/cli/test_plugin_calls.py
    assert names - seen - of_groups - of_scale_ups - of_pages == of_calls


def test_a_report_is_read_back_as_it_was(reports):
    for each in reports:
        assert msgspec.json.decode(msgspec.json.encode(each), type=ExplainReport) == each


def test_the_schema_is_json_schema_itself():
    jsonschema.Draft202012Validator.check_schema(schema_of(ExplainReport))
    assert schema_of(ExplainReport)["title"] == "ExplainReport"


def test_the_same_question_has_the_same_bytes(shop, ask):
    once, again = (msgspec.json.encode(report([ask(shop, pod(cpu="3"), matrix=True)])) for _ in range(2))
    assert once == again


def forbid_unknown_fields(found):
    """The schema, refusing properties it does not know."""
    for definition in found["$defs"].values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    return found


def collect(value, seen):
    if isinstance(value, msgspec.Struct):
        seen.add(type(value).__name__)
        value = [getattr(value, name) for name in value.__struct_fields__]
    if isinstance(value, list):
        for each in value:
            collect(each, seen)


def test_properties_are_described_under_the_names_they_are_written_with():
    metadata = schema_of(ExplainReport)["$defs"]["Metadata"]
    assert metadata["description"] == "Under which conditions the report was made."
    assert metadata["properties"]["toolVersion"]["description"] == "of schedctl."
    assert not any("Attributes:" in each.get("description", "") for each in schema_of(ExplainReport)["$defs"].values())
