"""Equal pods are judged once, and equal answers are told once with the pods that they hold for."""

from __future__ import annotations

from typing import ClassVar

import pytest

from schedctl.config import loading
from schedctl.explain import equal_answers
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin
from schedctl.framework.registries import Registry
from schedctl.plugins.in_tree import IN_TREE
from schedctl.reports.explanations import OwnerPods
from schedctl.scheduler import Scheduler
from schedctl.session.explain import ExplainOptions, explain_objects
from schedctl.testing.builders import cluster, node, pod

WITH_COUNTING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Counting}]}}}]
"""
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7d9", "uid": "u", "controller": True}


class Counting(FilterPlugin):
    """Accepts all nodes, and remembers which pods it was asked about."""

    subjects: ClassVar[list[str]] = []

    def signature(self, pod):
        """Nothing of the pod."""
        return ()

    @per_node
    def filter(self, cycle, node):
        """Remember the pod."""
        self.subjects.append(cycle.pod.pod.metadata.name)


def replicas(count, **spec):
    """Pods of one ReplicaSet, equal but for their names."""
    return [
        pod(f"web-7d9-{n}", cpu="8", metadata={"uid": f"u{n}", "ownerReferences": [OWNER]}, **spec)
        for n in range(count)
    ]


def explained(pods, *, group=True):
    """What is explained of pods that are pending, and the pods that a filter was asked about."""
    Counting.subjects = []
    state = cluster(node("a", cpu="4"), *pods)
    scheduler = Scheduler(state, loading.load(WITH_COUNTING), Registry([*IN_TREE.values(), Counting]))
    answers = list(explain_objects(scheduler, [each.pod for each in pods], options=ExplainOptions(group=group)))
    return answers, set(Counting.subjects)


def test_of_the_pods_of_a_replica_set_one_is_judged():
    answers, judged = explained(replicas(30))
    assert judged == {"web-7d9-0"}
    assert [answer.pod.name for answer in answers] == [f"web-7d9-{n}" for n in range(30)]
    assert {answer.message for answer in answers} == {answers[0].message}


@pytest.mark.parametrize(
    ("other", "judged"),
    [
        pytest.param({"cpu": "9"}, {"one", "two"}, id="its requests"),
        pytest.param({"labels": {"app": "db"}}, {"one", "two"}, id="its labels"),
        pytest.param({"namespace": "shop"}, {"one", "two"}, id="its namespace"),
        pytest.param({"metadata": {"annotations": {"a": "b"}}}, {"one", "two"}, id="its annotations"),
        pytest.param({"priority": 7}, {"one", "two"}, id="its priority"),
        pytest.param({"on": "a"}, {"one"}, id="the node that it is bound to, and then it is not judged at all"),
        pytest.param(
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
            {"one"},
            id="a claim, which is not there, so that no filter is asked",
        ),
    ],
)
def test_a_pod_is_judged_by_itself_if_it_differs_in(other, judged):
    first, second = pod("one", cpu="8"), pod("two", **{"cpu": "8", **other})
    assert explained([first, second])[1] == judged
    classes = equal_answers.JudgedClasses(Scheduler(cluster(node("a"))))
    assert classes.class_key(second.pod) != classes.class_key(first.pod)


def test_a_plugin_that_declares_no_signature_may_tell_pods_apart_by_name(monkeypatch):
    monkeypatch.setattr(Counting, "signature", lambda self, pod: None)
    _, judged = explained(replicas(3))
    assert judged == {"web-7d9-0", "web-7d9-1", "web-7d9-2"}


def test_equal_answers_are_one_with_the_pods_and_owners_that_it_holds_for():
    answers, _ = explained([*replicas(3), pod("single", cpu="100m")])
    owners = {"web-7d9-0": "Deployment default/web", "web-7d9-1": "Deployment default/web"}
    merged = equal_answers.merge(answers, lambda reference: owners.get(reference.name, ""))
    assert [answer.pods for answer in merged] == [[f"default/web-7d9-{n}" for n in range(3)], ["default/single"]]
    assert merged[0].owners == [OwnerPods("Deployment default/web", 2), OwnerPods("", 1)]


def test_the_answer_of_most_pods_comes_first():
    answers, _ = explained([pod("single", cpu="100m"), *replicas(2)])
    assert [len(answer.pods) for answer in equal_answers.merge(answers, lambda _: "")] == [2, 1]


def test_answers_told_apart_each_have_their_own_pod():
    answers, _ = explained(replicas(2), group=False)
    apart = equal_answers.separate(answers, lambda _: "")
    assert [answer.pods for answer in apart] == [["default/web-7d9-0"], ["default/web-7d9-1"]]
    assert [answer.pod.uid for answer in apart] == ["u0", "u1"]


def test_a_pod_that_is_answered_apart_is_judged_if_its_name_is_in_the_answer():
    pods = [pod(name, cpu="8") for name in ("cpu", "web")]  # the answer is about cpu, so it holds the first name
    _, together = explained(pods)
    _, apart = explained(pods, group=False)
    assert (together, apart) == ({"cpu"}, {"cpu", "web"})


def test_a_fix_for_two_workloads_has_the_patches_of_both_and_one_command():
    def unplaced(name):
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "controller": True}
        return pod(f"{name}-x", cpu="8", metadata={"ownerReferences": [owner]})

    answers, _ = explained([unplaced("api"), unplaced("web")])
    (merged,) = equal_answers.merge(answers, lambda subject: f"Deployment {subject.name}")
    fix, *_ = [hint for hint in merged.hints if hint.fits]
    assert [patch.name for patch in fix.patches] == ["api", "web"]
    assert fix.command == (
        "kubectl set resources deployment/api -n default --containers=main --requests=cpu=4 && "
        "kubectl set resources deployment/web -n default --containers=main --requests=cpu=4"
    )
