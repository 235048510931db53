"""Pod groups on the command line: what comes first, exit codes, groups that are off, missing or somebody else's."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from schedctl.reports.explanations import ExplainReport
from schedctl.reports.schemas import schema_of
from schedctl.reports.simulations import SimulationReport

ON = ("--feature-gates", "GenericWorkload=true")
TOPOLOGY = ("--feature-gates", "GenericWorkload=true,TopologyAwareWorkloadScheduling=true")
GPU = ("-f", "fixtures/clusters/gpu")
NODE = """
apiVersion: v1
kind: Node
metadata: {{name: {name}}}
status: {{allocatable: {{cpu: '4', pods: '9'}}}}
---
"""
STATE = NODE.format(name="n1") + NODE.format(name="n2")
GROUP = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {{name: train, namespace: ml}}
spec: {{schedulingPolicy: {{gang: {{minCount: {least}}}}}}}
---
"""
MEMBER = """
apiVersion: v1
kind: Pod
metadata: {{name: train-{number}, namespace: ml{labels}}}
spec:
  schedulingGroup: {{podGroupName: train}}
  containers: [{{name: a, image: a, resources: {{requests: {{cpu: '3'}}}}}}]
---
"""


def manifest(pods, least=None, labels=""):
    of_group = GROUP.format(least=least) if least else ""
    return of_group + "".join(MEMBER.format(number=number, labels=labels) for number in range(pods))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "state.yaml").write_text(STATE)
    return tmp_path


@pytest.mark.parametrize(
    ("pods", "least", "code", "first"),
    [
        pytest.param(2, 2, 0, "podgroup ml/train: GANG WOULD START: 2 of 2 placed, needs 2", id="a gang that starts"),
        pytest.param(
            3,
            2,
            1,
            "podgroup ml/train: GANG WOULD START: 2 of 3 placed, needs 2",
            id="a gang that starts without one of its pods",
        ),
        pytest.param(3, 3, 1, "podgroup ml/train: GANG WAITS: 2 of 3 placed, needs 3", id="a gang that waits"),
        pytest.param(
            1, 2, 1, "podgroup ml/train: GANG GATED: waiting for minCount pods", id="a gang with too few pods"
        ),
        pytest.param(0, 1, 1, "podgroup ml/train: GANG WAITS: it has no pods, needs 1", id="a gang without pods"),
    ],
)
def test_the_group_comes_first_and_decides_the_exit_code(schedctl, folder, pods, least, code, first):
    (folder / "group.yaml").write_text(manifest(pods, least))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    ended = schedctl("explain", "podgroup", "train", "-n", "ml", *files, *ON, "--exit-code")
    assert (ended.code, ended.out.splitlines()[0].startswith(first)) == (code, True), ended.out


def test_a_member_is_headlined_by_its_group(schedctl):
    ended = schedctl("explain", "pod", "ml/train-0", *GPU, *TOPOLOGY, "--exit-code")
    assert ended.code == 1
    assert ended.out.startswith("podgroup ml/train: GANG WAITS: 48 of 64 placed, needs 64\n")
    assert "pod ml/train-0: UNSCHEDULABLE (GANG WAITS: 48 of 64 placed, needs 64)" in ended.out


@pytest.mark.parametrize("subject", [("podgroup", "train"), ("job/train",), ("podgroup/train", "pod/train-7")])
def test_a_group_is_explained_once_by_whatever_name_it_is_asked_for(schedctl, subject):
    ended = schedctl("explain", *subject, "-n", "ml", *GPU, *TOPOLOGY, "-o", "json")
    report = json.loads(ended.out)
    (group,) = report["groups"]
    assert (group["verdict"], group["placed"], group["pods"]) == ("Waits", 48, 64)
    assert group["missing"][0]["text"] == "16 nvidia.com/gpu for 16 pods in fabric.example/block=b1, 0 left there"
    assert report["summary"]["pods"] == report["summary"]["unschedulable"] == 64
    assert [each["tried"] for each in group["trials"]] == [49, 33, 25, 25]
    jsonschema.validate(report, schema_of(ExplainReport))


def job(name, pods):
    template = "{spec: {schedulingGroup: {podGroupName: train}, restartPolicy: Never,"
    template += " containers: [{name: a, image: a, resources: {requests: {cpu: '3'}}}]}}"
    of_job = f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, namespace: ml}}\n"
    return f"{of_job}spec: {{parallelism: {pods}, completions: {pods}, template: {template}}}\n---\n"


@pytest.mark.parametrize(
    "subjects",
    [
        pytest.param(("job/one", "podgroup/train"), id="the Job first"),
        pytest.param(("podgroup/train", "job/one"), id="the group first"),
    ],
)
def test_a_group_as_it_is_and_with_the_pods_of_a_job_are_two_answers(schedctl, folder, subjects):
    (folder / "group.yaml").write_text(manifest(0, 2) + job("one", 2))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    report = json.loads(schedctl("explain", *subjects, "-n", "ml", *files, *ON, "-o", "json").out)
    texts = {each["notes"][0]: each["text"] for each in report["groups"]}
    assert texts == {
        "0 pods of 2 exist: 2 more would have to be created": "GANG WAITS: it has no pods, needs 2",
        "with the 2 pods that Job ml/one would make": "GANG WOULD START: 2 of 2 placed, needs 2",
    }


def test_a_job_whose_group_runs_is_told_to_run_and_not_to_make_other_pods(schedctl, folder):
    owner = "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: one, uid: u, controller: true}]"
    members = "".join(
        MEMBER.format(number=number, labels=f", {owner}").replace("spec:\n", f"spec:\n  nodeName: n{number + 1}\n")
        for number in range(2)
    )
    text = GROUP.format(least=2) + job("one", 2).replace("namespace: ml}", "namespace: ml, uid: u}") + members
    (folder / "all.yaml").write_text(text)
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "all.yaml"))
    of_group = schedctl("explain", "podgroup/train", "-n", "ml", *files, *ON, "--exit-code")
    of_job = schedctl("explain", "job/one", "-n", "ml", *files, *ON, "--exit-code")
    assert (of_job.code, of_job.out) == (of_group.code, of_group.out)
    assert of_job.code == 0
    assert "would make" not in of_job.out


def test_pods_of_one_job_are_not_there_for_another(schedctl, folder):
    (folder / "group.yaml").write_text(manifest(0, 2) + job("one", 2) + job("two", 1))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    report = json.loads(schedctl("explain", "job/one", "job/two", "-n", "ml", *files, *ON, "-o", "json").out)
    assert [each["verdict"] for each in report["groups"]] == ["Placed", "Gated"]


def test_a_run_places_a_job_that_makes_a_group_and_reports_it(schedctl):
    ended = schedctl("simulate", "fixtures/workloads/fine-tune.yaml", *GPU, *TOPOLOGY, "-o", "json", "--exit-code")
    report = json.loads(ended.out)
    assert ended.code == 0
    assert [(each["name"], each["verdict"]) for each in report["groups"]] == [
        ("fine-tune", "Placed"),
        ("train", "Waits"),
    ]
    assert len(report["groups"][0]["nodes"]) == 2
    assert (report["summary"]["groups"], report["summary"]["groupsWaiting"]) == (1, 0)
    jsonschema.validate(report, schema_of(SimulationReport))


def test_a_run_of_a_gang_that_does_not_fit_fails(schedctl, folder):
    (folder / "group.yaml").write_text(manifest(3, 3))
    ended = schedctl("simulate", str(folder / "group.yaml"), "-f", str(folder / "state.yaml"), *ON, "--exit-code")
    assert ended.code == 1
    assert "0 of 3 pods would be placed; 3 pending; 1 of 1 group would not start" in ended.out
    assert "Permit holds" not in ended.out


def test_pods_of_a_workload_that_wait_for_several_reasons_are_listed_once(schedctl, folder):
    job = (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: tune, namespace: ml}\nspec:\n  parallelism: 5\n"
        "  scheduling: {schedulingPolicy: {gang: {}}}\n"
        "  template:\n    spec:\n      restartPolicy: Never\n"
        "      containers: [{name: a, image: a, resources: {requests: {cpu: 3}}}]\n"
    )
    (folder / "job.yaml").write_text(job)
    gates = ("--feature-gates", "GenericWorkload=true,WorkloadWithJob=true")
    ended = schedctl("simulate", str(folder / "job.yaml"), "-f", str(folder / "state.yaml"), *gates)
    assert "GANG WAITS: 2 of 5 placed, needs 5" in ended.out  # two fit, one does not, two are no longer tried
    assert [line.split(":")[0] for line in ended.out.splitlines() if " pending: " in line] == ["  5 pending"]


def test_while_groups_are_off_each_pod_is_judged_alone_with_a_warning_that_names_the_gate(schedctl):
    ended = schedctl("explain", "pod", "ml/train-0", *GPU)
    assert ended.code == 0
    assert ended.out.startswith("pod ml/train-0 → ")
    assert "by itself while GenericWorkload is off (--feature-gates GenericWorkload=true" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        pytest.param((), "GROUPS ARE OFF: kube-scheduler v1.37.1", id="groups are off"),
        pytest.param(("--kube-version", "1.36"), "NO GROUPS: kube-scheduler v1.36", id="an older kube-scheduler"),
    ],
)
def test_a_group_cannot_be_explained_while_there_are_none(schedctl, options, text):
    ended = schedctl("explain", "podgroup", "train", "-n", "ml", *GPU, *options)
    assert ended.code == 5
    assert text in ended.out


@pytest.mark.parametrize(
    ("options", "named"),
    [
        pytest.param(("--feature-gates", "CompositePodGroup=true"), "CompositePodGroups", id="composite groups"),
        pytest.param(
            ("--kube-version", "1.36", "--feature-gates", "DRAWorkloadResourceClaims=true"),
            "pod groups of the alpha APIs before v1.37",
            id="claims of groups in an older minor",
        ),
        pytest.param(("--kube-version", "1.36", *ON), "pod groups of the alpha APIs before v1.37", id="an older minor"),
        pytest.param(
            ("--kube-version", "1.35", "--feature-gates", "GangScheduling=true"),
            "pod groups of the alpha APIs before v1.37",
            id="the gate of an older minor",
        ),
    ],
)
def test_what_of_groups_is_not_modelled_is_refused_by_name(schedctl, options, named):
    ended = schedctl("explain", "podgroup", "train", "-n", "ml", *GPU, *options)
    assert ended.code == 5
    assert f"{named} are not modelled yet" in ended.err


def test_a_member_without_its_group_is_gated_in_kube_schedulers_words(schedctl, folder):
    (folder / "pods.yaml").write_text(manifest(1))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "pods.yaml"))
    ended = schedctl("explain", "pod", "ml/train-0", *files, *ON, "--exit-code")
    assert ended.code == 1
    assert ended.out.startswith("pod ml/train-0: GATED (PodGroup ml/train does not exist)")
    assert 'waiting for pods\'s pod group "train" to appear in scheduling queue' in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("written", "named"),
    [
        pytest.param(
            "labels: {scheduling.x-k8s.io/pod-group: train}", "scheduler-plugins' PodGroup ml/train", id="label"
        ),
        pytest.param("labels: {kueue.x-k8s.io/queue-name: team}", "Kueue's LocalQueue ml/team", id="Kueue"),
        pytest.param("annotations: {scheduling.k8s.io/group-name: train}", "Volcano's PodGroup ml/train", id="Volcano"),
    ],
)
def test_groups_that_others_schedule_are_never_placed_in_silence(schedctl, folder, written, named):
    (folder / "pods.yaml").write_text(
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a, namespace: ml, {written}}}\n"
        "spec:\n  containers: [{name: a, image: a}]\n"
    )
    state, pods = str(folder / "state.yaml"), str(folder / "pods.yaml")
    explained = schedctl("explain", "pod", "ml/a", "-f", state, "-f", pods)
    simulated = schedctl("simulate", pods, "-f", state)
    checked = schedctl("check", pods, "-f", state)
    assert (explained.code, simulated.code, checked.code) == (5, 5, 5)
    for ended in (explained, simulated):
        assert f"{named} is not modelled, its pods are placed one by one" in " ".join(ended.out.split())


JOBSET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: run, namespace: ml, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  replicatedJobs:
  - name: workers
    template: {spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: a, image: a}]}}}}
"""


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(
            job("one", 2)
            .replace("namespace: ml", "namespace: ml, labels: {kueue.x-k8s.io/queue-name: team}")
            .replace("schedulingGroup: {podGroupName: train}, ", ""),
            id="of a Job",
        ),
        pytest.param(JOBSET, id="of a JobSet"),
    ],
)
def test_the_queue_of_kueue_that_a_workload_names_itself_is_never_passed_over(schedctl, folder, written):
    (folder / "workload.yaml").write_text(written)
    state, workload = str(folder / "state.yaml"), str(folder / "workload.yaml")
    simulated = schedctl("simulate", workload, "-f", state)
    checked = schedctl("check", workload, "-f", state)
    assert (simulated.code, checked.code) == (5, 5)
    assert "Kueue's LocalQueue ml/team is not modelled" in " ".join(simulated.out.split())


KUEUE_JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: one, namespace: ml, labels: {kueue.x-k8s.io/queue-name: team}}
spec: {suspend: true, parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
"""
KUEUE_CRON_JOB = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: one, namespace: ml}
spec:
  schedule: '@hourly'
  jobTemplate:
    metadata: {labels: {kueue.x-k8s.io/queue-name: team}}
    spec: {parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
"""


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(KUEUE_JOB, id="a Job, written suspended as Kueue's documentation has it"),
        pytest.param(JOBSET.replace("spec:\n  repl", "spec:\n  suspend: true\n  repl"), id="a suspended JobSet"),
        pytest.param(KUEUE_CRON_JOB, id="a CronJob, whose Jobs name the queue"),
    ],
)
def test_pods_that_kueue_will_make_room_for_are_judged_and_never_certain(schedctl, folder, written):
    (folder / "run.yaml").write_text(written)
    state, run = str(folder / "state.yaml"), str(folder / "run.yaml")
    simulated, checked = schedctl("simulate", run, "-f", state), schedctl("check", run, "-f", state)
    assert (simulated.code, checked.code) == (5, 5)
    assert simulated.out.startswith("2 of 2 pods would be placed; INCONCLUSIVE")
    assert "Kueue's LocalQueue ml/team is not modelled" in simulated.out
    if "suspend: true" in written:
        assert "is suspended until Kueue admits it (LocalQueue team); these are its pods then" in simulated.out


def test_a_suspended_job_of_nobody_makes_no_pods(schedctl, folder):
    (folder / "run.yaml").write_text(KUEUE_JOB.replace(", labels: {kueue.x-k8s.io/queue-name: team}", ""))
    ended = schedctl("simulate", str(folder / "run.yaml"), "-f", str(folder / "state.yaml"))
    assert (ended.code, "note: is suspended and makes no pods" in ended.out) == (0, True)


def test_a_cron_job_that_asks_for_a_gang_is_told_that_it_gets_none(schedctl, folder):
    scheduling = "spec: {scheduling: {schedulingPolicy: {gang: {}}}, parallelism"
    (folder / "run.yaml").write_text(KUEUE_CRON_JOB.replace("spec: {parallelism", scheduling))
    files = (str(folder / "run.yaml"), "-f", str(folder / "state.yaml"))
    refused = schedctl("simulate", *files)
    assert "spec.jobTemplate.spec.scheduling: is forbidden while the gate WorkloadWithJob is off" in refused.err
    ended = schedctl("simulate", *files, "--feature-gates", "GenericWorkload=true,WorkloadWithJob=true")
    assert "note: its Jobs get no PodGroup" in ended.out


def test_a_pod_of_a_job_that_kueue_admits_is_not_explained_as_if_it_stood_alone(schedctl, folder):
    owner = "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: one, uid: u, controller: true}]"
    (folder / "all.yaml").write_text(
        job("one", 1).replace("namespace: ml", "namespace: ml, uid: u, labels: {kueue.x-k8s.io/queue-name: team}")
        + MEMBER.format(number=0, labels=f", {owner}").replace("  schedulingGroup: {podGroupName: train}\n", "")
    )
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "all.yaml"))
    ended = schedctl("explain", "pod", "ml/train-0", *files)
    assert ended.code == 5
    assert "Kueue's LocalQueue ml/team is not modelled" in " ".join(ended.out.split())


def test_nothing_of_the_fixture_is_far_from_a_cluster(schedctl):
    """The 64 nodes stand in four blocks of four racks, and every pod of the job is of its group."""
    nodes = Path("fixtures/clusters/gpu/nodes.yaml").read_text()
    assert nodes.count("kind: Node") == 64
    assert Path("fixtures/clusters/gpu/training.yaml").read_text().count("podGroupName: train") == 65


@pytest.mark.parametrize(
    ("subject", "pods", "least", "code", "text"),
    [
        pytest.param("podgroup/train", 2, 2, 0, "pod ml/train-1 would be bound to n2", id="the whole group"),
        pytest.param(
            "podgroup/train", 3, 3, 1, "NOT BOUND (GANG WAITS: 2 of 3 placed, needs 3)", id="a gang that waits"
        ),
        pytest.param("podgroup/train", 3, 2, 0, "1 pod of PodGroup ml/train would stay pending", id="without the rest"),
        pytest.param("pod/train-0", 2, 2, 1, "1 other pod of it would be left behind", id="one of its pods alone"),
    ],
)
def test_a_group_is_bound_as_a_whole_or_not_at_all(schedctl, folder, subject, pods, least, code, text):
    (folder / "group.yaml").write_text(manifest(pods, least))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    ended = schedctl("bind", subject, "-n", "ml", *files, *ON, "--exit-code")
    assert (ended.code, text in " ".join(ended.out.split())) == (code, True), ended.out


def test_a_group_is_not_bound_while_groups_are_off(schedctl, folder):
    (folder / "group.yaml").write_text(manifest(2, 2))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    ended = schedctl("bind", "podgroup/train", "-n", "ml", *files)
    assert ended.code == 2
    assert "cannot be bound as a group: GenericWorkload is off" in ended.err


def test_a_strictly_redacted_snapshot_tells_the_same_of_a_group(schedctl, folder):
    snapshot = str(folder / "gpu.json.gz")
    assert schedctl("snapshot", "create", snapshot, *GPU, "--redact", "strict").code == 0
    report = json.loads(schedctl("explain", "--all-pending", "-f", snapshot, *TOPOLOGY, "-o", "json").out)
    (group,) = report["groups"]
    assert [(each["nodes"], each["placed"]) for each in group["trials"]] == [(16, 48), (16, 32), (16, 24), (16, 24)]
    assert "train" not in json.dumps(report["results"])


@pytest.mark.parametrize(
    ("pods", "least", "options", "code", "text"),
    [
        pytest.param(1, 1, (), 0, "podgroup ml/train: 2 more groups would start (1 pod each)", id="groups are counted"),
        pytest.param(3, 3, (), 1, "podgroup ml/train: no more groups would start", id="not one starts"),
        pytest.param(
            3, 2, (), 0, "podgroup ml/train: 1 more group would start (3 pods each)", id="without all its pods"
        ),
        pytest.param(2, 1, ("--max", "1"), 0, "at least 1 more group would start", id="no more are tried"),
    ],
)
def test_how_many_more_groups_would_start(schedctl, folder, pods, least, options, code, text):
    (folder / "group.yaml").write_text(manifest(pods, least))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    ended = schedctl("capacity", "--like", "podgroup/train", "-n", "ml", *files, *ON, *options, "--exit-code")
    assert (ended.code, text in ended.out) == (code, True), ended.out


def running_gang():
    """A gang of two pods that run on n1 and n2, and the Job that recreates them."""
    member = MEMBER.format(
        number=0, labels=", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: j, controller: true}]"
    )
    running = member.replace("spec:\n", "spec:\n  nodeName: n1\n").replace("\n---", "\nstatus: {phase: Running}\n---")
    there = running + running.replace("train-0", "train-1").replace("n1", "n2")
    of_job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ml, uid: j}\n"
    template = "{metadata: {labels: {a: b}}, spec: {schedulingGroup: {podGroupName: train}, restartPolicy: Never,"
    template += " containers: [{name: a, image: a, resources: {requests: {cpu: '3'}}}]}}"
    of_job += f"spec: {{selector: {{matchLabels: {{a: b}}}}, template: {template}}}\n"
    return GROUP.format(least=2) + there + of_job


def test_fixes_of_a_group_that_a_job_makes_are_changes_of_the_job(schedctl, folder):
    of_job = job("tune", 3).replace("schedulingGroup: {podGroupName: train}, ", "")
    constraints = "schedulingConstraints: {topology: [{key: rack}]}"
    gang = of_job.replace("spec: {", f"spec: {{scheduling: {{schedulingPolicy: {{gang: {{}}}}, {constraints}}}, ", 1)
    state = STATE.replace("{name: n1}", "{name: n1, labels: {rack: a}}").replace(
        "{name: n2}", "{name: n2, labels: {rack: b}}"
    )
    (folder / "job.yaml").write_text(gang)
    (folder / "state.yaml").write_text(state + NODE.format(name="n3, labels: {rack: c}"))
    gates = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,WorkloadWithJob=true"
    files = (str(folder / "job.yaml"), "-f", str(folder / "state.yaml"))
    report = json.loads(schedctl("simulate", *files, "--feature-gates", gates, "-o", "json").out)
    fixes = {each["type"]: each for each in report["groups"][0]["hints"]}
    assert fixes["lower-min-count"]["command"] == (
        "kubectl patch job tune -n ml --type=merge -p"
        ' \'{"spec":{"scheduling":{"schedulingPolicy":{"gang":{"minCount":1}}}}}\''
    )
    assert "delete the Job and create it again" in fixes["no-topology"]["text"]


def test_a_gang_is_counted_as_a_whole_by_whatever_name(schedctl, folder):
    (folder / "group.yaml").write_text(manifest(2, 2))
    (folder / "job.yaml").write_text(GROUP.format(least=2) + job("tune", 2))
    state = ("-f", str(folder / "state.yaml"))
    for subject, files in (
        ("podgroup/train", (*state, "-f", str(folder / "group.yaml"))),
        ("pod/train-0", (*state, "-f", str(folder / "group.yaml"))),
        ("job/tune", (*state, "-f", str(folder / "job.yaml"))),
        (str(folder / "job.yaml"), state),
    ):
        first, *rest = schedctl("capacity", "--like", subject, "-n", "ml", *files, *ON).out.splitlines()
        assert first.endswith("1 more group would start (2 pods each)"), (subject, first)
        by_another_name = "note: its pods are scheduled as PodGroup ml/train: whole groups are counted"
        assert (by_another_name in rest) is (subject != "podgroup/train")


def test_a_job_whose_controller_makes_a_gang_is_counted_as_gangs(schedctl, folder):
    gang = job("tune", 2).replace("schedulingGroup: {podGroupName: train}, ", "")
    gang = gang.replace("spec: {", "spec: {scheduling: {schedulingPolicy: {gang: {}}}, ", 1)
    (folder / "job.yaml").write_text(gang)
    gates = ("--feature-gates", "GenericWorkload=true,WorkloadWithJob=true")
    files = ("--like", str(folder / "job.yaml"), "-f", str(folder / "state.yaml"))
    assert "1 more group would start (2 pods each)" in schedctl("capacity", *files, *gates).out
    # a basic group takes what fits: its pods count one by one
    (folder / "job.yaml").write_text(gang.replace("gang: {}", "basic: {}"))
    assert "2 more pods would fit" in schedctl("capacity", *files, *gates).out


def test_a_group_with_too_few_pods_to_start_is_not_counted_as_if_there_were_no_room(schedctl, folder):
    (folder / "group.yaml").write_text(manifest(1, 2))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    ended = schedctl("capacity", "--like", "podgroup/train", "-n", "ml", *files, *ON)
    assert ended.code == 2
    assert "PodGroup ml/train needs 2 pods to start, and 1 of them are there" in ended.err


def test_a_pod_whose_group_is_not_there_is_counted_alone_and_that_is_said(schedctl, folder):
    (folder / "group.yaml").write_text(manifest(1))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    ended = schedctl("capacity", "--like", "pod/train-0", "-n", "ml", *files, *ON)
    assert "2 more pods would fit" in ended.out
    assert "note: PodGroup ml/train does not exist: its pods wait for it" in ended.out


def test_the_command_of_a_fix_that_adds_nodes_lets_the_group_start(schedctl, folder):
    (folder / "group.yaml").write_text(manifest(4, 4))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    explain = ("explain", "podgroup", "train", "-n", "ml", *files, *ON)
    (group,) = json.loads(schedctl(*explain, "-o", "json").out)["groups"]
    (fix,) = [each for each in group["hints"] if each["type"] == "add-nodes"]
    assert schedctl(*explain, *fix["command"].split(), "--exit-code").code == 0


def test_a_drain_says_which_gang_breaks(folder, schedctl):
    (folder / "all.yaml").write_text(STATE + running_gang())
    ended = schedctl("drain", "n1", "-f", str(folder / "all.yaml"), *ON)
    assert "podgroup ml/train would break: 1 of 2 pods left, needs 2" in ended.out
    assert "no fixes were tried" not in ended.out


@pytest.mark.parametrize(
    ("change", "breaks"),
    [
        pytest.param(("--remove-node", "n1"), True, id="a node of the gang goes"),
        pytest.param(("--cordon", "n1"), False, id="its pods stay where they are"),
    ],
)
def test_a_what_if_says_which_gang_breaks(folder, schedctl, change, breaks):
    (folder / "all.yaml").write_text(STATE + running_gang())
    (folder / "pod.yaml").write_text(MEMBER.format(number=9, labels="").replace("{podGroupName: train}", "null"))
    files = ("-f", str(folder / "all.yaml"))
    for question in (("explain", "podgroup", "train", "-n", "ml"), ("simulate", str(folder / "pod.yaml"))):
        ended = schedctl(*question, *files, *change, *ON)
        assert ("what if: podgroup ml/train would break: 1 of 2 pods left, needs 2" in ended.out) == breaks, ended.out
    assert "would break" not in schedctl("explain", "podgroup", "train", "-n", "ml", *files, *change).out


@pytest.mark.parametrize(
    ("pods", "least", "text"),
    [
        pytest.param(4, 4, "scale-up: 2 new nodes of group gpu would let it start", id="a gang that waits"),
        pytest.param(3, 2, "scale-up: 1 new node of group gpu would place all its pods", id="one that starts in part"),
        pytest.param(9, 9, "scale-up: no new nodes of any group would let it start", id="the group of nodes is full"),
    ],
)
def test_new_nodes_are_tried_on_the_whole_group(schedctl, folder, pods, least, text):
    (folder / "group.yaml").write_text(manifest(pods, least))
    node_group = "{name: gpu, like: n1, nodeSelector: {pool: gpu}, maxSize: 4}"
    (folder / "nodes.yaml").write_text(f"apiVersion: schedctl.dev/v1alpha1\nkind: NodeGroups\ngroups: [{node_group}]\n")
    (folder / "state.yaml").write_text(STATE.replace("metadata: {", "metadata: {labels: {pool: gpu}, "))
    files = ("-f", str(folder / "state.yaml"), "-f", str(folder / "group.yaml"))
    explain = ("explain", "podgroup", "train", "-n", "ml", *files, *ON)
    assert text in schedctl(*explain, "--node-groups", str(folder / "nodes.yaml")).out
    assert "scale-up" not in schedctl(*explain).out


JOBSET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train, namespace: ml}
spec:
  replicatedJobs:
    - name: worker
      template:
        spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: a, image: a}]}}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: train, namespace: ml}
spec: {podGroupTemplates: [{name: workers, schedulingPolicy: {gang: {minCount: 2}}}]}
---
"""


ITS_GROUP = GROUP.format(least=2).replace("spec: {", "spec: {workloadRef: {workloadName: train}, ")
PASSED_OVER = "note: ignored, because scheduling does not read them: 1 Workload"


@pytest.mark.parametrize(
    ("more", "gates", "code", "line"),
    [
        pytest.param("", ON, 5, "guess: Workload ml/train: not modelled", id="its groups are unknown"),
        pytest.param("", (), 0, PASSED_OVER, id="groups are off"),
        pytest.param(ITS_GROUP, ON, 1, PASSED_OVER, id="its group is there, of which the pods are none"),
    ],
)
def test_a_workload_beside_a_job_set_is_never_passed_over(schedctl, folder, more, gates, code, line):
    (folder / "new.yaml").write_text(JOBSET + more)
    ended = schedctl("simulate", str(folder / "new.yaml"), "-f", str(folder / "state.yaml"), *gates, "--exit-code")
    assert (ended.code, line in ended.out) == (code, True), ended.err + ended.out


def test_a_group_that_is_not_there_is_told_with_the_pods_that_wait_for_it(schedctl, folder):
    (folder / "pods.yaml").write_text(manifest(2))
    ended = schedctl("explain", "podgroup", "train", "-n", "ml", "-f", str(folder), *ON)
    assert ended.code == 2
    assert ended.err.splitlines() == [
        'error: no PodGroup "train" in namespace ml',
        "hint: 2 pods (ml/train-0, ml/train-1) name it and wait for it: create it, or correct"
        " spec.schedulingGroup.podGroupName",
    ]


def test_pods_of_a_run_whose_group_is_not_there_are_told_how_to_get_one(schedctl, folder):
    (folder / "new.yaml").write_text(
        manifest(2).replace("podGroupName: train", "podGroupName: trian") + GROUP.format(least=2)
    )
    ended = schedctl("simulate", str(folder / "new.yaml"), "-f", str(folder / "state.yaml"), *ON)
    hint = 'hint: create PodGroup ml/trian, or correct spec.schedulingGroup.podGroupName (did you mean "train"?)'
    assert hint in ended.out.splitlines()


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  parallelism: 3
  completions: 3
  scheduling: {schedulingPolicy: {gang: {}}}
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: a, resources: {requests: {cpu: '3'}}}]
"""


def test_a_job_whose_controller_makes_the_group_is_explained_as_that_group(schedctl, folder):
    (folder / "job.yaml").write_text(JOB)
    gates = ("--feature-gates", "GenericWorkload=true,WorkloadWithJob=true")
    ended = schedctl("explain", "job/train", "-n", "ml", "-f", str(folder), *gates, "--exit-code")
    assert ended.code == 1, ended.out + ended.err
    assert "-train-pgt-0-" in ended.out.splitlines()[0]
    assert ended.out.splitlines()[0].endswith(": GANG WAITS: 2 of 3 placed, needs 3")
