"""``gang-schedulable`` and expressions about pod groups: a group starts, or what it lacks is told."""

from __future__ import annotations

import pytest

ON = ("--feature-gates", "GenericWorkload=true")
NODES = "".join(
    f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: n{number}}}\n"
    "status: {allocatable: {cpu: '4', pods: '9'}}\n"
    for number in range(3)
)
POLICY = """
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: gangs}
spec:
  checks:
"""


def release(pods, least, group=True):
    made = (
        "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: train, namespace: ml}\n"
        f"spec: {{schedulingPolicy: {{gang: {{minCount: {least}}}}}}}\n"
    )
    members = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: train-{number}, namespace: ml}}\nspec:\n"
        "  schedulingGroup: {podGroupName: train}\n"
        "  containers: [{name: a, image: a, resources: {requests: {cpu: '3'}}}]\n"
        for number in range(pods)
    )
    return (made if group else "") + members


@pytest.fixture
def check(schedctl, tmp_path):
    def check(checks, manifests, *options):
        for name, text in (("state", NODES), ("policy", POLICY + checks), ("release", manifests)):
            (tmp_path / f"{name}.yaml").write_text(text)
        files = (tmp_path / "release.yaml", "-f", tmp_path / "state.yaml", "-p", tmp_path / "policy.yaml")
        return schedctl("check", *map(str, files), *(options or ON))

    return check


STARTS = "    - {name: starts, builtin: gang-schedulable}\n"


@pytest.mark.parametrize(
    ("checks", "manifests", "code", "text"),
    [
        pytest.param(STARTS, release(3, 3), 0, "1 passed", id="a gang that starts"),
        pytest.param(STARTS, release(4, 3), 0, "1 passed", id="a gang that starts without all of its pods"),
        pytest.param(
            "    - {name: starts, builtin: gang-schedulable, with: {whole: true}}\n",
            release(4, 3),
            1,
            "PodGroup ml/train: GANG WOULD START: 3 of 4 placed, needs 3",
            id="all of its pods are demanded",
        ),
        pytest.param(
            STARTS, release(4, 4), 1, "PodGroup ml/train: GANG WAITS: 3 of 4 placed, needs 4", id="a gang that waits"
        ),
        pytest.param(STARTS, release(1, 1, group=False), 1, "the PodGroup does not exist", id="the group is missing"),
    ],
)
def test_whether_a_gang_starts(check, checks, manifests, code, text):
    ended = check(checks, manifests)
    assert (ended.code, text in ended.out) == (code, True), ended.out


def test_what_a_gang_lacks_and_what_would_let_it_start_stand_beneath(check):
    ended = check(STARTS, release(4, 4))
    assert "missing: 3 cpu for 1 pod, 3 left there, but in pieces too small for a pod" in ended.out
    assert "fix:  minCount 3 instead of 4" in ended.out


def test_while_groups_are_off_nothing_can_be_said_of_them(check):
    ended = check(STARTS, release(3, 3), "--kube-version", "1.37")
    assert ended.code == 5
    assert "pod groups are off (GenericWorkload)" in ended.out


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        pytest.param("group.starts && group.policy == 'Gang' && group.minCount == 3", 0, id="it starts"),
        pytest.param("group.pods.scheduled == 3 && group.pods.pending == 0", 0, id="its pods are counted"),
        pytest.param("size(group.nodes) < 3", 1, id="the nodes it is on"),
    ],
)
def test_an_expression_sees_the_group(check, expression, code):
    checks = f'    - {{name: mine, scope: group, validations: [{{expression: "{expression}"}}]}}\n'
    assert check(checks, release(3, 3)).code == code


AFTER = "    - {name: up, builtin: schedulable, with: {after: scaleUp%s}}\n"


@pytest.mark.parametrize(
    ("checks", "code", "text"),
    [
        pytest.param(AFTER % "", 0, "5 passed", id="new nodes are planned for the whole gang of a pod"),
        pytest.param(
            AFTER % ", maxNewNodes: 1",
            1,
            "2 new nodes (2 n) would take 1 more, at most 1 allowed",
            id="too many new nodes",
        ),
    ],
)
def test_new_nodes_are_planned_for_a_gang_as_one(check, checks, code, text):
    ended = check(checks, release(5, 5))
    assert (ended.code, text in " ".join((ended.out + ended.err).split())) == (code, True), ended


@pytest.mark.parametrize(
    ("pods", "least", "text"),
    [
        pytest.param(5, 5, "add 2 nodes", id="a gang is given its nodes"),
        pytest.param(2, 3, "no new node lets 2 gated pods into the queue", id="a gang with too few pods is not"),
    ],
)
def test_nodes_for_a_gang(schedctl, tmp_path, pods, least, text):
    (tmp_path / "state.yaml").write_text(f"{NODES}---\n{release(pods, least)}")
    ended = schedctl("nodes", "-f", str(tmp_path / "state.yaml"), *ON)
    assert ended.code == 0, ended
    assert text in ended.out


def test_a_finding_about_a_group_that_is_not_in_the_manifests_stands_at_what_makes_its_pods(check):
    ended = check(STARTS, release(1, 1, group=False))
    assert "release.yaml:3:1: error [starts] PodGroup ml/train: the PodGroup does not exist" in ended.out
    job = (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: tune, namespace: ml}\nspec:\n  parallelism: 4\n"
        "  scheduling: {schedulingPolicy: {gang: {}}}\n"
        "  template:\n    spec:\n      restartPolicy: Never\n"
        "      containers: [{name: a, image: a, resources: {requests: {cpu: 3}}}]\n"
    )
    ended = check(STARTS, job, "--feature-gates", "GenericWorkload=true,WorkloadWithJob=true")
    assert "release.yaml:2:1: error [starts] PodGroup ml/tune-" in ended.out
    assert "GANG WAITS: 3 of 4 placed, needs 4" in ended.out
