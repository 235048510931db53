"""Fixes as patches and commands: what is pasted does what was tried."""

import copy
import shlex

import pytest

from schedctl.framework.commands import kubectl
from schedctl.scheduler import Scheduler
from schedctl.session import library
from schedctl.session.explain import explain_objects

KEYS = {"containers": "name", "initContainers": "name", "volumes": "name", "topologySpreadConstraints": "topologyKey"}


def merge(written, patch, *, lists=()):
    """Apply a merge patch; a strategic one merges these lists by the keys of their entries."""
    merged = dict(written)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = merge(merged.get(key) or {}, value, lists=lists)
        elif key in lists:
            name = KEYS[key]
            changes = {entry[name]: entry for entry in value}
            assert changes.keys() <= {entry[name] for entry in merged[key]}, "a fix makes no containers"
            merged[key] = [merge(entry, changes.get(entry[name], {}), lists=lists) for entry in merged[key]]
        else:
            merged[key] = value
    return merged


def operate(written, operations):
    """Apply a JSON patch."""
    changed = copy.deepcopy(written)
    for operation in operations:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        parent = changed
        for part in path:
            parent = parent[int(part) if isinstance(parent, list) else part]
        if operation["op"] == "remove":
            del parent[int(last) if isinstance(parent, list) else last]
        elif last == "-":
            parent.append(operation["value"])
        else:
            parent[int(last) if isinstance(parent, list) else last] = operation["value"]
    return changed


def apply(written, patch):
    if patch.type == "json":
        return operate(written, patch.patch)
    return merge(written, patch.patch, lists=KEYS if patch.type == "strategic" else ())


def manifest(api_version, kind, name, **rest):
    namespace = {} if kind == "Node" else {"namespace": "shop"}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **namespace}, **rest}


def machine(name, labels=None, taints=None, *, cpu="2", unschedulable=False, **resources):
    spec = {"taints": taints or [], "unschedulable": unschedulable}
    written = manifest("v1", "Node", name, spec=spec, status={"allocatable": {"cpu": cpu, "pods": "9", **resources}})
    written["metadata"]["labels"] = {"kubernetes.io/hostname": name, **(labels or {})}
    return written


def template(cpu="1", **spec):
    return {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "web", "resources": {"requests": {"cpu": cpu}}}], **spec},
    }


def deployment(**spec):
    selector = {"matchLabels": {"app": "web"}}
    return manifest("apps/v1", "Deployment", "web", spec={"selector": selector, "template": template(**spec)})


def explained(workload, objects):
    (explanation,) = explain_objects(Scheduler(library.read(*objects)), library.objects(workload))
    return explanation


SPOT = {"key": "spot", "value": "true", "effect": "NoSchedule"}
SEEN = {"key": "seen", "operator": "Exists"}
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
TWO_LIMITED = [
    {"name": "web", "image": "web", "resources": {"requests": {"cpu": "3"}}},
    {"name": "log", "image": "log", "resources": {"limits": {"cpu": "500m"}}},
]
GPUS = [{"name": "web", "image": "web", "resources": {"limits": {"nvidia.com/gpu": "2"}}}]


def affinity(operator, **more):
    term = {"matchExpressions": [{"key": "disk", "operator": operator, **more}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


@pytest.mark.parametrize(
    ("objects", "types", "command"),
    [
        pytest.param(
            [machine("a"), deployment(cpu="4")],
            ["strategic"],
            "kubectl set resources deployment/web -n shop --containers=web --requests=cpu=2",
            id="a request is lowered by set resources",
        ),
        pytest.param(
            [machine("a"), deployment(containers=TWO_LIMITED)],
            ["strategic"],
            "kubectl patch deployment web -n shop -p "
            """'{"spec":{"template":{"spec":{"containers":[{"name":"web","resources":{"requests":{"cpu":"1714m"}}},"""
            """{"name":"log","resources":{"requests":{"cpu":"285m"}}}]}}}}'""",
            id="a request that comes from a limit counts, and containers share in proportion",
        ),
        pytest.param(
            [machine("a", **{"nvidia.com/gpu": "1"}), deployment(containers=GPUS)],
            ["strategic"],
            "kubectl patch deployment web -n shop -p "
            """'{"spec":{"template":{"spec":{"containers":[{"name":"web","resources":{"""
            """"requests":{"nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"1"}}}]}}}}'""",
            id="of a resource that is not overcommitted the limit is lowered too",
        ),
        pytest.param(
            [machine("a", taints=[SPOT]), deployment()],
            ["strategic"],
            "kubectl patch deployment web -n shop -p "
            """'{"spec":{"template":{"spec":{"tolerations":[{"key":"spot","operator":"Equal","value":"true","""
            """"effect":"NoSchedule"}]}}}}'""",
            id="the first toleration",
        ),
        pytest.param(
            [machine("a", taints=[SPOT]), deployment(tolerations=[SEEN])],
            ["json"],
            "kubectl patch deployment web -n shop --type=json -p "
            """'[{"op":"add","path":"/spec/template/spec/tolerations/-","value":"""
            """{"key":"spot","operator":"Equal","value":"true","effect":"NoSchedule"}}]'""",
            id="one more toleration leaves the others alone",
        ),
        pytest.param(
            [machine("a", {"disk": "hdd"}), deployment(nodeSelector={"disk": "ssd", "kubernetes.io/hostname": "a"})],
            ["strategic"],
            "kubectl patch deployment web -n shop -p "
            """'{"spec":{"template":{"spec":{"nodeSelector":{"disk":null}}}}}'""",
            id="a label is no longer asked for",
        ),
        pytest.param(
            [machine("a", {"disk": "hdd"}), deployment(affinity=affinity("In", values=["ssd"]))],
            ["strategic"],
            "kubectl patch deployment web -n shop -p "
            """'{"spec":{"template":{"spec":{"affinity":{"nodeAffinity":"""
            """{"requiredDuringSchedulingIgnoredDuringExecution":null}}}}}}'""",
            id="an affinity is given up",
        ),
        pytest.param(
            [machine("a"), deployment(topologySpreadConstraints=[SPREAD])],
            ["json"],
            "kubectl patch deployment web -n shop --type=json -p "
            """'[{"op":"replace","path":"/spec/template/spec/topologySpreadConstraints/0/whenUnsatisfiable","""
            """"value":"ScheduleAnyway"}]'""",
            id="a constraint is changed in its place",
        ),
        pytest.param(
            [machine("a", unschedulable=True), deployment()],
            ["merge"],
            "kubectl uncordon a",
            id="a node is uncordoned",
        ),
        pytest.param(
            [machine("a", unschedulable=True), deployment(cpu="4")],
            ["merge", "strategic"],
            "kubectl uncordon a && "
            "kubectl set resources deployment/web -n shop --containers=web --requests=cpu=2",
            id="a node and a workload together",
        ),
        pytest.param(
            [
                machine("a"),
                manifest(
                    "batch/v1",
                    "CronJob",
                    "web",
                    spec={"schedule": "@daily", "jobTemplate": {"spec": {"template": template(cpu="4")}}},
                ),
            ],
            ["strategic"],
            "kubectl set resources cronjob/web -n shop --containers=web --requests=cpu=2",
            id="the template of a CronJob is deeper",
        ),
        pytest.param(
            [machine("a"), manifest("batch/v1", "Job", "web", spec={"template": template(cpu="4")})],
            ["strategic"],
            "",
            id="the template of a Job cannot be changed, its manifest can",
        ),
        pytest.param(
            [machine("a", taints=[SPOT]), {**manifest("v1", "Pod", "web"), "spec": template()["spec"]}],
            ["strategic"],
            "kubectl patch pod web -n shop -p "
            """'{"spec":{"tolerations":[{"key":"spot","operator":"Equal","value":"true","effect":"NoSchedule"}]}}'""",
            id="a pod without a workload may be given a toleration",
        ),
        pytest.param(
            [machine("a"), {**manifest("v1", "Pod", "web"), "spec": template(cpu="4")["spec"]}],
            ["strategic"],
            "",
            id="what a pod asks for cannot be changed, its manifest can",
        ),
    ],
)  # fmt: skip
def test_a_fix_that_is_applied_makes_the_pod_fit(objects, types, command):
    workload = objects[-1]
    before = explained(workload, objects)
    assert before.verdict == "Unschedulable"
    fix = next(hint for hint in before.hints if hint.fits)
    assert ([patch.type for patch in fix.patches], fix.command) == (types, command)
    patched = list(objects)
    for patch in fix.patches:
        found = next(n for n, each in enumerate(patched) if each["kind"] == patch.kind)
        assert patched[found]["metadata"]["name"] == patch.name
        patched[found] = apply(patched[found], patch)
    after = explained(patched[-1], patched)
    assert (after.verdict, after.chosen) == ("Scheduled", fix.node)


def owned(written, owner):
    """Return a manifest with a uid that is controlled by another object, None for none."""
    references = (
        [{"apiVersion": "batch/v1", "kind": owner["kind"], "controller": True, **owner["metadata"]}] if owner else []
    )
    for each in references:
        each.pop("namespace", None)
        each.pop("ownerReferences", None)
    metadata = {**written["metadata"], "uid": f"uid-{written['kind']}", "ownerReferences": references}
    return {**written, "metadata": metadata}


JOB = owned(manifest("batch/v1", "Job", "web-1", spec={"template": template(cpu="8")}), None)
CRON_JOB = owned(
    manifest("batch/v1", "CronJob", "web", spec={"schedule": "@daily", "jobTemplate": {"spec": JOB["spec"]}}), None
)


@pytest.mark.parametrize(
    ("owners", "consequence"),
    [
        pytest.param(
            [CRON_JOB, owned(JOB, CRON_JOB)],
            "only later Jobs of CronJob shop/web have it: the pods of Job shop/web-1 stay as they are",
            id="a CronJob makes later Jobs of it",
        ),
        pytest.param(
            [JOB],
            "the pod template of Job shop/web-1 cannot be changed: it has to be deleted and created again",
            id="a Job is what it is",
        ),
    ],
)
def test_a_fix_says_that_the_pods_of_a_job_that_is_there_stay_as_they_are(owners, consequence):
    pod = owned({**manifest("v1", "Pod", "web-1-x"), "spec": template(cpu="8")["spec"]}, owners[-1])
    fix = next(hint for hint in explained(pod, [machine("a"), *owners, pod]).hints if hint.fits)
    assert consequence in fix.consequences
    assert fix.cut == 75


def test_a_job_of_manifests_takes_the_fix_as_it_is_made():
    job = manifest("batch/v1", "Job", "web", spec={"template": template(cpu="4")})
    fix = next(hint for hint in explained(job, [machine("a"), job]).hints if hint.fits)
    assert fix.consequences == []
    assert fix.cut == 50


@pytest.mark.parametrize(
    ("words", "namespace", "command"),
    [
        pytest.param(("uncordon", "a"), "", "kubectl uncordon a", id="a plain name"),
        pytest.param(("uncordon", "a; reboot"), "", "kubectl uncordon 'a; reboot'", id="a name that is a command"),
        pytest.param(("uncordon", "$(reboot)'"), "", """kubectl uncordon '$(reboot)'"'"''""", id="a name with quotes"),
        pytest.param(("uncordon", "--all"), "", "", id="a name that is an option"),
        pytest.param(("uncordon", "a\x1b[2J"), "", "", id="a name that would move the cursor"),
        pytest.param(("uncordon", "a\nreboot"), "", "", id="a name of two lines"),
        pytest.param(("patch", "pvc", "data"), "--all", "", id="a namespace that is an option"),
    ],
)
def test_a_name_from_a_cluster_does_no_harm_in_a_shell(words, namespace, command):
    assert kubectl(*words, namespace=namespace) == command
    assert not command or shlex.split(command)[1:] == list(words)
