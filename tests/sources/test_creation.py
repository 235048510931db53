"""What is refused of objects that are about to be created: by field, beside the others, and no word of a mere state."""

from __future__ import annotations

import textwrap

import pytest

from schedctl.api.custom_kinds import CUSTOM_KINDS
from schedctl.errors import InputError
from schedctl.sources import Terms, load, load_text
from schedctl.sources.creation import schedule_problem

CREATING = Terms(creating=True, custom_kinds=CUSTOM_KINDS)


def creating(text: str):
    return load_text(textwrap.dedent(text).encode(), "web.yaml", terms=CREATING)


def deployment(spec: str = "replicas: 1", labels: str = "app: web", pod: str = "", container: str = "") -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  {spec}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{{labels}}}}}
    spec:
      {pod}
      containers: [{{name: app, image: app:1{container}}}]
"""


JOB = """
apiVersion: batch/v1
kind: %s
metadata: {name: %s}
spec:
  %s
"""
JOB_SPEC = "template: {spec: {%scontainers: [{name: app, image: a}]}}"


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        pytest.param(
            deployment(labels="app: shop"),
            "spec.template.metadata.labels",
            "`selector` does not match template `labels`",
            id="a selector that does not match the template",
        ),
        pytest.param(
            deployment().replace("  selector: {matchLabels: {app: web}}\n", ""),
            "spec.selector",
            'the field "selector" is required',
            id="no selector",
        ),
        pytest.param(
            deployment("replicas: -1"), "spec.replicas", "expected a number at least 0, got -1", id="replicas below 0"
        ),
        pytest.param(
            deployment().replace("      containers: [{name: app, image: app:1}]\n", "      containers: []\n"),
            "spec.template.spec.containers",
            'the field "containers" is required',
            id="no containers",
        ),
        pytest.param(
            deployment().replace(", image: app:1", ""),
            "spec.template.spec.containers[0].image",
            'the field "image" is required',
            id="no image",
        ),
        pytest.param(
            deployment().replace("name: app,", "name: App_1,"),
            "spec.template.spec.containers[0].name",
            '"App_1" is not a name: at most 63 lower-case letters, digits and - with a letter or digit at both ends',
            id="a container's name is a label",
        ),
        pytest.param(
            deployment(pod="initContainers: [{name: app, image: a}]"),
            "spec.template.spec.containers[0].name",
            'duplicate name "app"',
            id="init containers share their names with the others",
        ),
        pytest.param(
            deployment(pod="volumes: [{name: data}]", container=", volumeMounts: [{name: dta, mountPath: /x}]"),
            "spec.template.spec.containers[0].volumeMounts[0].name",
            'the pod has no volume "dta"',
            id="a mount of a volume that is not there",
        ),
        pytest.param(
            deployment(pod="restartPolicy: Never"),
            "spec.template.spec.restartPolicy",
            'expected Always, got "Never"',
            id="a Deployment restarts always",
        ),
        pytest.param(
            deployment("strategy: {type: Rolling}"),
            "spec.strategy.type",
            'expected one of RollingUpdate, Recreate, got "Rolling"',
            id="an unknown strategy",
        ),
        pytest.param(
            deployment("strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0%}}"),
            "spec.strategy.rollingUpdate.maxUnavailable",
            "may not be 0 when `maxSurge` is 0",
            id="a rollout that cannot move",
        ),
        pytest.param(
            JOB % ("Job", "sum", JOB_SPEC % ""),
            "spec.template.spec.restartPolicy",
            'expected OnFailure or Never, got "Always" by default',
            id="a Job ends",
        ),
        pytest.param(
            JOB % ("Job", "sum", "completionMode: Indexed\n  parallelism: 2\n  " + JOB_SPEC % "restartPolicy: Never, "),
            "spec.completions",
            "completionMode: Indexed needs completions",
            id="an indexed Job without a number",
        ),
        pytest.param(
            JOB
            % (
                "CronJob",
                "c" * 53,
                "schedule: '@daily'\n  jobTemplate: {spec: {%s}}" % (JOB_SPEC % "restartPolicy: Never, "),
            ),
            "metadata.name",
            "must be no more than 52 characters",
            id="a CronJob needs room for the time in the names of its Jobs",
        ),
        pytest.param(
            JOB
            % (
                "CronJob",
                "sum",
                "schedule: 0 25 * * *\n  jobTemplate: {spec: {%s}}" % (JOB_SPEC % "restartPolicy: Never, "),
            ),
            "spec.schedule",
            '"25" is not a valid hour',
            id="a day of 25 hours",
        ),
        pytest.param(
            "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, "
            "spec: {accessModes: [ReadWriteOnce]}}",
            "spec.resources.requests.storage",
            'the field "storage" is required',
            id="a claim for nothing",
        ),
        pytest.param(
            "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, "
            "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 0Gi}}}}",
            "spec.resources.requests.storage",
            "expected a size greater than 0, got 0Gi",
            id="a claim for an empty volume",
        ),
        pytest.param(
            "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {serviceName: db, "
            "selector: {matchLabels: {app: db}}, volumeClaimTemplates: [{metadata: {name: data}, "
            "spec: {resources: {requests: {storage: 1Gi}}}}], template: {metadata: {labels: {app: db}}, "
            "spec: {containers: [{name: app, image: a}]}}}}",
            "spec.volumeClaimTemplates[0].spec.accessModes",
            'the field "accessModes" is required',
            id="a claim of a StatefulSet without access modes",
        ),
        pytest.param(
            "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: app, image: a}], volumes: "
            "[{name: tmp, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]}}",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests.storage",
            'the field "storage" is required',
            id="an ephemeral volume of no size",
        ),
        pytest.param(
            "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, "
            "spec: {scaleTargetRef: {kind: Deployment, name: web}, minReplicas: 3, maxReplicas: 2}}",
            "spec.maxReplicas",
            "expected a number at least minReplicas, which is 3, got 2",
            id="a maximum below the minimum",
        ),
        pytest.param(
            deployment().replace("apps/v1", "extensions/v1beta1"),
            "apiVersion",
            'no matches for kind "Deployment" in version "extensions/v1beta1"',
            id="a version that is served no more",
        ),
        pytest.param(
            "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: web}, "
            "spec: {template: {spec: {containers: [{name: app, image: a, resources: {requests: {cpu: lots}}}]}}}}",
            "spec.template.spec.containers[0].resources.requests.cpu",
            'expected a quantity such as "500m" or "2Gi", got the text "lots"',
            id="templates of custom resources are looked at too",
        ),
    ],
)
def test_objects_the_api_server_refuses_are_problems(text, path, message):
    manifests = creating("# YAML\n" + text + "\n---\n{apiVersion: v1, kind: Service, metadata: {name: other}}")
    assert [(problem.path, problem.message) for problem in manifests.problems] == [(path, message)]
    assert all(problem.source == "web.yaml" and problem.line > 1 for problem in manifests.problems)
    assert [one.object.metadata.name for one in manifests.objects] == ["other"], "the others are not hidden"


def test_what_cannot_be_parsed_hides_no_other_document():
    manifests = creating(deployment() + "\n---\na: [\n")
    assert [one.object.metadata.name for one in manifests.objects] == ["web"]
    (problem,) = manifests.problems
    assert problem.line > 10


def test_a_state_may_leave_out_what_scheduling_does_not_read():
    text = deployment().replace(", image: app:1", "").replace("apps/v1", "extensions/v1beta1")
    assert load_text(text.encode()).problems == []


def test_a_good_manifest_has_no_problems():
    assert creating(deployment()).problems == []


def test_without_any_object_there_is_nothing_to_go_on_with():
    with pytest.raises(InputError):
        creating("a: [\n")


def test_missing_file_is_an_error(tmp_path):
    good = tmp_path / "good.yaml"
    good.write_text(deployment())
    with pytest.raises(InputError, match="no such file"):
        load([str(good), str(tmp_path / "missing.yaml")], terms=CREATING)


def test_objects_that_name_no_namespace_are_created_in_the_one_that_was_named():
    manifests = load_text(deployment().encode(), terms=Terms(creating=True, namespace="shop"))
    assert manifests.objects[0].object.metadata.namespace == "shop"


def test_custom_resources_are_counted_unless_their_kinds_are_known():
    text = b"{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: web}, spec: {}}"
    assert load_text(b"# YAML\n" + text).ignored == {"argoproj.io/v1alpha1 Rollout": 1}


def test_knative_names_the_containers_that_have_no_name():
    def names(containers: str, kind: str = "Service") -> list[str]:
        spec = f"{{containers: [{containers}]}}"
        spec = spec if kind == "Revision" else f"{{template: {{spec: {spec}}}}}"
        text = f"# YAML\n{{apiVersion: serving.knative.dev/v1, kind: {kind}, metadata: {{name: web}}, spec: {spec}}}"
        manifests = creating(text)
        assert manifests.problems == []
        (group,) = manifests.objects[0].object.replicas
        return [container.name for container in group.template.spec.containers]

    assert names("{image: a}") == names("{image: a}", "Configuration") == names("{image: a}", "Revision")
    assert names("{image: a}") == ["user-container"]
    assert names("{image: a}, {image: b, name: user-container-0}") == ["user-container-1", "user-container-0"]


def test_kinds_of_one_name_in_two_groups_are_two():
    text = """
    apiVersion: apps.kruise.io/v1beta1
    kind: StatefulSet
    metadata: {name: web}
    spec: {template: {spec: {containers: [{name: app, image: a}]}}}
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      selector: {matchLabels: {app: web}}
      template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: a}]}}
    """
    manifests = creating(text)
    assert (len(manifests.objects), manifests.warnings, manifests.problems) == (2, [], [])


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        pytest.param("# Source: shop/templates/web.yaml\n", "shop/templates/web.yaml", id="as Helm writes it"),
        pytest.param("# a licence\n\n# Source: a.yaml\n", "a.yaml", id="behind other comments"),
        pytest.param("", "", id="none"),
    ],
)
def test_the_template_of_a_document_is_kept(text, origin):
    manifests = creating(f"---\n{text}{deployment().lstrip()}")
    assert manifests.objects[0].origin == origin


@pytest.mark.parametrize(
    ("schedule", "wrong"),
    [
        ("0 3 * * *", False),
        ("*/15 0-6,18-23 1 jan-mar mon", False),
        ("@hourly", False),
        ("@every 1h30m", False),
        ("0 3 * *", True),
        ("60 * * * *", True),
        ("0 5-3 * * *", True),
        ("0 0 0 * *", True),
        ("@often", True),
        ("TZ=UTC 0 3 * * *", True),
    ],
)
def test_invalid_cron_schedule_is_a_problem(schedule, wrong):
    assert bool(schedule_problem(schedule)) == wrong


def test_a_kustomization_among_the_files_says_how_it_is_built(tmp_path):
    (tmp_path / "kustomization.yaml").write_text("resources: [web.yaml]\n")
    (tmp_path / "web.yaml").write_text(deployment())
    (kustomization,) = load([str(tmp_path)], terms=CREATING).unmodelled
    problem = kustomization.problem
    assert problem.hint == f"`-k {tmp_path}` builds it"
