"""What whole manifests become: which pods, under which names and owners, with which claims."""

from __future__ import annotations

import re

import pytest

from schedctl.workloads.expansion import expand

GENERATED = "[bcdfghjklmnpqrstvwxz2456789]{5}"
HASH = "[bcdfghjklmnpqrstvwxz2456789]{1,10}"


def workload(kind: str, spec: str = "", *, name: str = "web", api: str = "apps/v1", restart: str = "Always") -> str:
    return f"""
apiVersion: {api}
kind: {kind}
metadata: {{name: {name}, namespace: shop}}
spec:
  {spec}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      restartPolicy: {restart}
      containers: [{{name: app, image: app:1}}]
"""


def job(spec: str = "") -> str:
    text = workload("Job", spec, name="sum", api="batch/v1", restart="Never")
    return text.replace("  selector: {matchLabels: {app: sum}}\n", "")


@pytest.fixture
def expand_manifests(manifests_of, cluster_of):
    def expand_it(text: str, state: str = ""):
        manifests = manifests_of(text)
        assert manifests.problems == []
        return expand(manifests.objects, cluster_of(state), manifests.ignored)

    return expand_it


def names(group) -> list[str]:
    return [pod.metadata.name for pod in group.pods]


def refusals(expansion) -> list[str]:
    return [str(problem) for problem in expansion.refused]


# -- names and owners ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count", "pattern", "owner"),
    [
        pytest.param(
            workload("Deployment", "replicas: 3"),
            3,
            f"web-{HASH}-{GENERATED}",
            "ReplicaSet",
            id="a Deployment's pods are named after its ReplicaSet, which owns them",
        ),
        pytest.param(workload("Deployment"), 1, f"web-{HASH}-{GENERATED}", "ReplicaSet", id="one is the default"),
        pytest.param(workload("Deployment", "replicas: 0"), 0, "", "", id="scaled to 0 there are none"),
        pytest.param(
            workload("ReplicaSet", "replicas: 2"), 2, f"web-{GENERATED}", "ReplicaSet", id="a ReplicaSet by itself"
        ),
        pytest.param(
            workload("StatefulSet", "replicas: 2"), 2, "web-[01]", "StatefulSet", id="a StatefulSet counts from 0"
        ),
        pytest.param(
            workload("StatefulSet", "ordinals: {start: 5}\n  replicas: 2"),
            2,
            "web-[56]",
            "StatefulSet",
            id="unless it begins elsewhere",
        ),
        pytest.param(
            workload("ReplicationController", "replicas: 2", api="v1").replace(
                "{matchLabels: {app: web}}", "{app: web}"
            ),
            2,
            f"web-{GENERATED}",
            "ReplicationController",
            id="a ReplicationController",
        ),
        pytest.param(job("parallelism: 3"), 3, f"sum-{GENERATED}", "Job", id="a Job runs as many as it may at once"),
        pytest.param(
            job("parallelism: 3\n  completions: 2"), 2, f"sum-{GENERATED}", "Job", id="but no more than it needs"
        ),
        pytest.param(
            job("parallelism: 2\n  completions: 5\n  completionMode: Indexed"),
            2,
            f"sum-[01]-{GENERATED}",
            "Job",
            id="the pods of an indexed Job carry their index in their names",
        ),
        pytest.param(job("suspend: true"), 0, "", "", id="a suspended Job makes none"),
    ],
)
def test_pods_of(expand_manifests, text, count, pattern, owner):
    (group,) = expand_manifests(text).groups
    assert len(group.pods) == count
    for pod in group.pods:
        assert re.fullmatch(pattern, pod.metadata.name), pod.metadata.name
        (reference,) = pod.metadata.owner_references
        assert (reference.kind, reference.controller) == (owner, True)
    assert len(set(names(group))) == count


def test_the_same_manifest_makes_the_same_names_and_another_template_others(expand_manifests):
    once, again = (names(expand_manifests(workload("Deployment", "replicas: 2")).groups[0]) for _ in range(2))
    other = names(expand_manifests(workload("Deployment", "replicas: 2").replace("app:1", "app:2")).groups[0])
    assert once == again
    assert once != other


def test_a_long_name_is_cut_as_a_server_cuts_it(expand_manifests):
    (group,) = expand_manifests(workload("ReplicaSet", name="w" * 62)).groups
    assert re.fullmatch(f"w{{58}}{GENERATED}", names(group)[0])


def test_the_replica_set_of_a_new_deployment_joins_and_selects_its_pods(expand_manifests):
    expansion = expand_manifests(workload("Deployment"))
    (group,) = expansion.groups
    joined = {type(obj).__name__: obj for obj in expansion.joined}
    assert sorted(joined) == ["Deployment", "ReplicaSet"]
    labels = group.pods[0].metadata.labels
    assert joined["ReplicaSet"].spec.selector.match_labels.items() <= labels.items()
    assert names(group)[0].startswith(joined["ReplicaSet"].metadata.name)


def test_a_deployment_whose_replica_set_runs_makes_its_pods_under_that(expand_manifests):
    state = workload("ReplicaSet", name="web").replace(
        "name: web, namespace: shop",
        "name: web-abc12, namespace: shop, uid: '7', "
        "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: '1', controller: true}]",
    )
    expansion = expand_manifests(workload("Deployment", "replicas: 2"), state)
    assert [type(obj).__name__ for obj in expansion.joined] == ["Deployment"]
    assert all(name.startswith("web-abc12-") for name in names(expansion.groups[0]))


def test_a_template_is_the_same_however_its_amounts_are_written(expand_manifests):
    asking = workload("Deployment").replace("image: app:1", "image: app:1, resources: {requests: {cpu: %s}}")
    short, long = (names(expand_manifests(asking % amount).groups[0]) for amount in ("'1'", "1000m"))
    assert short == long


def test_a_paused_deployment_makes_no_pods_of_a_new_template(expand_manifests):
    (group,) = expand_manifests(workload("Deployment", "paused: true")).groups
    assert (group.pods, group.notes) == ((), ("is paused and makes no pods of a new template",))


def test_a_stateful_set_brings_its_claims_and_mounts_them(expand_manifests):
    templates = "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], "
    templates += "resources: {requests: {storage: 1Gi}}}}]"
    there = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-web-0, namespace: shop}}"
    (group,) = expand_manifests(workload("StatefulSet", f"replicas: 2\n  {templates}"), there).groups
    assert [claim.metadata.name for claim in group.claims] == ["data-web-1"], "the other is there already"
    mounted = [pod.spec.volumes[0].persistent_volume_claim.claim_name for pod in group.pods]
    assert mounted == ["data-web-0", "data-web-1"]
    assert group.ordered
    labels = group.pods[1].metadata.labels
    assert labels["statefulset.kubernetes.io/pod-name"] == "web-1"


def test_a_parallel_stateful_set_does_not_wait(expand_manifests):
    (group,) = expand_manifests(workload("StatefulSet", "podManagementPolicy: Parallel")).groups
    assert not group.ordered


NODES = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, labels: {disk: ssd}}}
- {apiVersion: v1, kind: Node, metadata: {name: b}}
- {apiVersion: v1, kind: Node, metadata: {name: c, labels: {disk: ssd}}, spec: {taints: [{key: x, effect: NoSchedule}]}}
- {apiVersion: v1, kind: Node, metadata: {name: d, labels: {disk: ssd}}, spec: {unschedulable: true,
   taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}}
"""


def test_a_daemon_set_makes_one_pod_for_each_eligible_node(expand_manifests):
    text = workload("DaemonSet").replace("restartPolicy: Always", "nodeSelector: {disk: ssd}")
    (group,) = expand_manifests(text, NODES).groups
    assert [replica.node for replica in group.replicas] == ["a", "d"]
    affinity = group.pods[0].spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
    assert affinity.node_selector_terms[0].match_fields[0].values == ["a"]


def test_new_nodes_get_daemon_pods(expand_manifests):
    node = "---\n{apiVersion: v1, kind: Node, metadata: {name: new}}\n"
    (group,) = expand_manifests(workload("DaemonSet") + node).groups
    assert [replica.node for replica in group.replicas] == ["new"]


def test_a_node_in_manifests_keeps_the_labels_of_the_live_node(expand_manifests):
    text = workload("DaemonSet").replace("restartPolicy: Always", "nodeSelector: {disk: ssd}")
    again = "---\n{apiVersion: v1, kind: Node, metadata: {name: a, labels: {more: x}}}\n"
    (group,) = expand_manifests(text + again, NODES).groups
    assert [replica.node for replica in group.replicas] == ["a", "d"]


def test_daemon_sets_of_the_cluster_get_pods_on_new_nodes_only(expand_manifests):
    nodes = "".join(f"---\n{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}}}\n" for name in ("new", "a"))
    (group,) = expand_manifests(nodes, NODES + "---" + workload("DaemonSet")).groups
    assert group.standing
    assert [replica.node for replica in group.replicas] == ["new"]


def test_a_daemon_set_of_cluster_and_manifests_is_expanded_once(expand_manifests):
    new = "---\n{apiVersion: v1, kind: Node, metadata: {name: new}}\n"
    (group,) = expand_manifests(workload("DaemonSet") + new, workload("DaemonSet")).groups
    assert not group.standing


def test_a_daemon_set_without_an_eligible_node_has_a_note(expand_manifests):
    (group,) = expand_manifests(workload("DaemonSet")).groups
    assert group.notes == ("no node meets its node selector, affinity and tolerations",)


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        pytest.param("pool: genral", ': no node has pool=genral (did you mean "general"?)', id="a misspelt value"),
        pytest.param("pol: general", ': no node has a label pol (did you mean "pool"?)', id="a misspelt key"),
        pytest.param("pool: arm", "", id="a value like no other"),
    ],
)
def test_a_daemon_set_for_misspelt_nodes_says_which_were_meant(expand_manifests, selector, why):
    nodes = "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {pool: general}}}\n"
    text = (
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n  selector: {matchLabels: {app: a}}\n"
        "  template:\n    metadata: {labels: {app: a}}\n"
        f"    spec: {{nodeSelector: {{{selector}}}, containers: [{{name: c, image: i}}]}}\n"
    )
    (group,) = expand_manifests(text, nodes).groups
    assert group.notes == (f"no node meets its node selector, affinity and tolerations{why}",)


def test_pods_of_an_indexed_job_have_their_index(expand_manifests):
    (group,) = expand_manifests(job("parallelism: 2\n  completions: 5\n  completionMode: Indexed")).groups
    key = "batch.kubernetes.io/job-completion-index"
    assert [(pod.metadata.annotations[key], pod.metadata.labels[key]) for pod in group.pods] == [
        ("0", "0"),
        ("1", "1"),
    ]
    assert group.notes == ("runs 2 at a time until 5 have succeeded; these are the first",)


CRON = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec:
  schedule: "0 3 * * *"
  suspend: %s
  jobTemplate:
    spec:
      parallelism: 2
      template: {spec: {restartPolicy: Never, containers: [{name: app, image: app:1}]}}
"""


def test_a_cron_job_makes_the_pods_of_its_next_run(expand_manifests):
    (group,) = expand_manifests(CRON % "false").groups
    assert all(re.fullmatch(f"nightly-next-{GENERATED}", name) for name in names(group))
    assert len(group.pods) == 2
    assert group.notes == ("these are the pods of its next run (0 3 * * *)",)


def test_a_suspended_cron_job_makes_no_pods(expand_manifests):
    (group,) = expand_manifests(CRON % "true").groups
    assert (group.pods, group.notes) == ((), ("is suspended and makes no jobs",))


def test_a_pod_template_makes_one_pod_without_an_owner(expand_manifests):
    text = """
    apiVersion: v1
    kind: PodTemplate
    metadata: {name: web, namespace: shop}
    template: {spec: {containers: [{name: app, image: app:1}]}}
    """
    (group,) = expand_manifests(text).groups
    assert group.pods[0].metadata.owner_references is None
    assert group.notes


POD = "{apiVersion: v1, kind: Pod, metadata: {%s}, spec: {%scontainers: [{name: app, image: app:1}]}}\n"


def test_a_bare_pod_makes_itself_and_one_on_a_node_joins(expand_manifests):
    pods = (("name: one", ""), ("name: two, uid: u", "nodeName: a, "), ("name: three", "nodeName: a, "))
    expansion = expand_manifests("---\n".join(POD % each for each in pods))
    assert [group.subject for group in expansion.groups] == ["Pod default/one", "Pod default/three"]
    assert [obj.metadata.name for obj in expansion.joined] == ["two"], "it comes out of a cluster"


def test_a_generated_name_is_completed(expand_manifests):
    (group,) = expand_manifests(POD % ("generateName: run-", "")).groups
    assert re.fullmatch(f"run-{GENERATED}", names(group)[0])


def test_replica_sets_and_pods_of_a_workload_in_the_manifests_are_not_expanded(expand_manifests):
    owned = "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: '1', controller: true}]"
    replica_set = workload("ReplicaSet").replace("name: web, namespace", f"name: web-1, {owned}, namespace")
    expansion = expand_manifests(workload("Deployment", "replicas: 2") + "---" + replica_set)
    assert [group.subject for group in expansion.groups] == ["Deployment shop/web"]
    assert len(expansion.groups[0].pods) == 2


# -- how many -----------------------------------------------------------------------------

SCALER = """
---
apiVersion: autoscaling/%s
kind: HorizontalPodAutoscaler
metadata: {name: scale, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 3, maxReplicas: 6}
"""


@pytest.mark.parametrize(
    ("spec", "version", "running", "count"),
    [
        pytest.param("", "v2", None, 3, id="an autoscaler's minimum counts where replicas are not set"),
        pytest.param("", "v1", None, 3, id="in either version"),
        pytest.param("replicas: 4", "v2", None, 4, id="replicas that are set count"),
        pytest.param("replicas: 2", "v2", 4, 3, id="but the autoscaler raises them to its minimum"),
        pytest.param("replicas: 9", "v1", None, 6, id="and lowers them to its maximum"),
        pytest.param("replicas: 0", "v2", 4, 0, id="it leaves 0 alone"),
        pytest.param("", "v2", 5, 5, id="an autoscaler keeps what it has scaled to"),
        pytest.param("", "v2", 2, 3, id="but no less than its minimum"),
        pytest.param("", "v2", 9, 6, id="and no more than its maximum"),
    ],
)
def test_replicas(expand_manifests, spec, version, running, count):
    state = workload("Deployment", f"replicas: {running}") if running else ""
    (group,) = expand_manifests(workload("Deployment", spec) + SCALER % version, state).groups
    assert len(group.pods) == count
    assert bool(group.notes) == (spec not in ("replicas: 4", "replicas: 0"))


def test_an_autoscaler_in_the_cluster_counts_too(expand_manifests):
    (group,) = expand_manifests(workload("Deployment"), SCALER % "v2").groups
    assert len(group.pods) == 3


def test_replicas_that_are_not_set_stay_as_they_are(expand_manifests):
    (group,) = expand_manifests(workload("Deployment"), workload("Deployment", "replicas: 4")).groups
    assert (len(group.pods), group.notes) == (4, ("replicas are not set; the current 4 stay",))


# -- other people's kinds -----------------------------------------------------------------

TEMPLATE = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: app:1}]}}"


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        pytest.param(
            "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: web}, spec: {replicas: 2, %s}}",
            [f"web-{HASH}-{GENERATED}"] * 2,
            id="an Argo Rollout is like a Deployment",
        ),
        pytest.param(
            "{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: web}, spec: {%s}}",
            [f"web-{GENERATED}"],
            id="without replicas there is one",
        ),
        pytest.param(
            "{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web}, spec: {template: {metadata: "
            "{annotations: {autoscaling.knative.dev/min-scale: '2'}}, spec: {containers: [{name: a, image: a}]}}}}",
            [f"web-{GENERATED}"] * 2,
            id="Knative keeps the number in an annotation, as text",
        ),
        pytest.param(
            "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: web}, spec: {pytorchReplicaSpecs: "
            "{Master: {replicas: 1, %s}, Worker: {replicas: 2, %s}}}}",
            [f"web-master-{GENERATED}", *[f"web-worker-{GENERATED}"] * 2],
            id="the roles of a training job are keys of a mapping",
        ),
        pytest.param(
            "{apiVersion: core.strimzi.io/v1beta2, kind: StrimziPodSet, metadata: {name: web}, spec: {pods: "
            "[{apiVersion: v1, kind: Pod, metadata: {name: web-kafka-0}, spec: {containers: [{name: a, image: a}]}}]}}",
            ["web-kafka-0"],
            id="Strimzi names its pods itself",
        ),
    ],
)
def test_custom_workloads(expand_manifests, text, patterns):
    (group,) = expand_manifests(text.replace("%s", TEMPLATE)).groups
    found = names(group)
    assert len(found) == len(patterns)
    for name, pattern in zip(found, patterns, strict=True):
        assert re.fullmatch(pattern, name), name
    owners = {pod.metadata.owner_references[0].kind for pod in group.pods}
    assert owners == {"ReplicaSet" if group.kind == "Rollout" else group.kind}


# -- what joins, passes, is refused ---------------------------------------------------------


def test_what_scheduling_reads_joins_and_the_rest_is_counted(expand_manifests):
    text = """
    {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}}}
    ---
    {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 10}
    ---
    {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}
    ---
    {apiVersion: example.com/v1, kind: Thing, metadata: {name: thing}, spec: {size: 3}}
    """
    expansion = expand_manifests(text)
    assert [obj.metadata.name for obj in expansion.joined] == ["web", "high"]
    assert expansion.passed == {"v1 ConfigMap": 1, "example.com/v1 Thing": 1}
    assert expansion.groups == []


def test_a_changed_selector_is_refused_at_its_line(expand_manifests):
    changed = workload("Deployment").replace("app: web", "app: shop")
    expansion = expand_manifests(changed, workload("Deployment"))
    assert refusals(expansion) == ["given.yaml:7:13: Deployment shop/web: spec.selector: field is immutable"]
    assert (expansion.groups, expansion.joined) == ([], [])


def test_a_refused_object_does_not_stop_the_others(expand_manifests):
    changed = workload("Deployment").replace("app: web", "app: shop")
    expansion = expand_manifests(changed + "---" + workload("Deployment", name="other"), workload("Deployment"))
    assert [group.name for group in expansion.groups] == ["other"]


def test_changed_claim_templates_of_a_stateful_set_are_refused(expand_manifests):
    spec = "accessModes: [ReadWriteOnce], resources: {requests: {storage: %s}}"
    claim_template = f"volumeClaimTemplates: [{{metadata: {{name: data}}, spec: {{{spec}}}}}]"
    before, same, other = (workload("StatefulSet", claim_template % size) for size in ("1Gi", "1024Mi", "2Gi"))
    assert expand_manifests(same, before).refused == []
    (refused,) = expand_manifests(other, before).refused
    assert refused.message.startswith("updates to statefulset spec for fields other than 'replicas'")


def test_a_changed_job_is_refused(expand_manifests):
    (refused,) = expand_manifests(job().replace("app:1", "app:2"), job()).refused
    assert (refused.path, refused.message) == ("spec.template", "field is immutable")


def test_two_objects_that_make_a_pod_of_one_name_are_refused(expand_manifests):
    (refused,) = expand_manifests(
        workload("StatefulSet") + "---\n" + POD % ("name: web-0, namespace: shop", "")
    ).refused
    assert refused.message == 'pods "web-0" already exists'


def test_more_than_100000_replicas_are_refused(expand_manifests):
    (refused,) = expand_manifests(workload("Deployment", "replicas: 2000000")).refused
    assert refused.path == "spec.replicas"


def test_a_workload_has_its_helm_template_and_line(expand_manifests):
    text = "---\n# Source: shop/templates/web.yaml" + workload("Deployment")
    (group,) = expand_manifests(text).groups
    assert (group.origin, group.source) == ("shop/templates/web.yaml", "given.yaml:3")


# -- objects that are taken as they are ----------------------------------------------------

RUNS = """\
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, uid: "%s", labels: {from: "%s"}}
spec: {nodeName: a, containers: [{name: a, image: a}]}
status: {phase: Running}
"""


def test_a_running_pod_of_the_manifests_joins_the_cluster_and_is_told_apart(expand_manifests):
    found = expand_manifests(RUNS % ("1", "manifest"))
    assert [pod.metadata.name for pod in found.joined] == ["web-0"]
    assert found.skipped == [("Pod shop/web-0", "it comes out of a cluster, where it has a node already")]


def test_but_does_not_take_the_place_of_one_that_runs(expand_manifests):
    found = expand_manifests(
        RUNS % ("1", "manifest"), "{apiVersion: v1, kind: Node, metadata: {name: a}}\n---\n" + RUNS % ("2", "cluster")
    )
    assert (found.joined, len(found.skipped)) == ([], 1)


@pytest.mark.parametrize(
    ("owner", "skipped"),
    [
        pytest.param("StatefulSet", False, id="a StatefulSet makes no Deployments"),
        pytest.param("Shop", False, id="an owner that is not among the manifests makes nothing"),
    ],
)
def test_an_owner_has_to_be_one_that_makes_such_objects(expand_manifests, owner, skipped):
    above = workload("StatefulSet", "replicas: 1")
    below = workload("Deployment", "replicas: 1").replace(
        "namespace: shop",
        f"namespace: shop, ownerReferences: [{{apiVersion: a/v1, kind: {owner}, name: web, controller: true}}]",
    )
    found = expand_manifests(f"{above}---\n{below}")
    assert ([group.kind for group in found.groups], bool(found.skipped)) == (["StatefulSet", "Deployment"], skipped)


@pytest.mark.parametrize(
    ("target", "skipped"),
    [
        pytest.param("web", [], id="of the manifests is followed"),
        pytest.param(
            "cart",
            [("HorizontalPodAutoscaler shop/h", "its target Deployment cart is not among the manifests")],
            id="that is only in the cluster is told apart, since no pods are made for it",
        ),
    ],
)
def test_an_autoscaler_of_a_workload(expand_manifests, target, skipped):
    scaler = f"""\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: h, namespace: shop}}
spec: {{minReplicas: 3, maxReplicas: 9, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}}}
"""
    found = expand_manifests(f"{workload('Deployment', 'replicas: 1')}---\n{scaler}")
    assert [tuple(each) for each in found.skipped] == skipped
