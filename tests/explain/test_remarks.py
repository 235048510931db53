"""What plugins say beyond their verdicts, what they may try first, and what Reserve and Permit make of a choice."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api import workloads
from schedctl.api.gaps import FORBIDDEN, Gap
from schedctl.config import loading
from schedctl.explain.explanations import explain
from schedctl.explain.remarks import ForkedTrials
from schedctl.framework import contracts
from schedctl.framework.points import PermitPlugin, PostBindPlugin, ReservePlugin
from schedctl.framework.registries import Registry
from schedctl.framework.remarks import Remark
from schedctl.framework.statuses import SUCCESS, error, unschedulable, wait
from schedctl.plugins.in_tree import IN_TREE
from schedctl.reports.explanations import Verdict
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod


def scheduler_with(made, *plugins):
    """A scheduler of the default profile and these plugins."""
    named = ", ".join(f"{{name: {plugin.name}}}" for plugin in plugins)
    text = f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{{plugins: {{multiPoint: {{enabled: [{named}]}}}}}}]
"""
    return Scheduler(made, loading.load(text), Registry((*IN_TREE.values(), *plugins)))


class Silent(PostBindPlugin):
    def post_bind(self, cycle, node_name):
        pass


class Counts(Silent):
    """Says how many pods like this one find room together."""

    def remarks(self, cycle, trials):
        tried = trials.together([pod(f"more-{i}", cpu="1") for i in range(4)])
        room = [each.node for each in tried if each.node]
        return (Remark(f"{len(room)} more", (tried[-1].message,), {"plugins": tried[-1].plugins, "pod": cycle.pod}),)


class Fails(Silent):
    def remarks(self, cycle, trials):
        raise KeyError("team")


def test_the_same_pods_are_tried_together_once_however_many_explanations_ask(monkeypatch):
    scheduler, attempts = scheduler_with(cluster(node("a", cpu="3")), Silent, Counts), []
    attempt = scheduler.attempt
    monkeypatch.setattr(scheduler, "attempt", lambda pod, **options: attempts.append(pod) or attempt(pod, **options))
    trials = ForkedTrials(scheduler)
    first, second = (explain(scheduler, pod(name), hints=False, trials=trials) for name in ("one", "two"))
    assert first.remarks[0].text == second.remarks[0].text == "3 more"
    assert sum(one.pod.metadata.name.startswith("more-") for one in attempts) == 4


def test_a_remark_stands_in_the_explanation_in_the_name_of_its_plugin():
    made = cluster(node("a", cpu="3"))
    (remark,) = explain(scheduler_with(made, Silent, Counts), pod()).remarks
    assert (remark.plugin, remark.text) == ("Counts", "3 more")
    assert remark.details == ["0/1 nodes are available: 1 Insufficient cpu."]
    assert remark.evidence == {"plugins": ["NodeResourcesFit"], "pod": "default/web"}


def test_what_was_tried_is_undone():
    made = cluster(node("a", cpu="3"))
    explain(scheduler_with(made, Counts), pod())
    assert not made.pod_table.row_of
    assert not made.pending


def test_a_fault_in_a_remark_is_told_and_spoils_nothing_else():
    (remark,) = explain(scheduler_with(cluster(node("a")), Fails), pod()).remarks
    assert remark.text.startswith("failed in remarks: KeyError: 'team'")


def test_the_end_of_the_process_is_not_for_a_remark_to_decide():
    class Quits(Silent):
        def remarks(self, cycle, trials):
            raise SystemExit(0)

    (remark,) = explain(scheduler_with(cluster(node("a")), Quits), pod()).remarks
    assert remark.text.startswith("failed in remarks: SystemExit: 0 (test_remarks.py:")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ([1, None], "remarks returned 1, expected a sequence of Remark"),
        (None, "remarks returned None, expected a sequence of Remark"),
        ("full", "remarks returned 'full', expected a sequence of Remark"),
        ([Remark(3)], "remarks gave 3 for the text, expected a text"),
        ([Remark("full", details=(1,))], "remarks gave a tuple for details, expected a tuple of texts"),
        ([Remark("full", evidence=3)], "remarks gave 3 for evidence, expected values by name"),
    ],
)
def test_an_answer_that_is_no_remark_is_the_fault_of_its_plugin(answer, fault):
    class Odd(Silent):
        def remarks(self, cycle, trials):
            return answer

    (remark,) = explain(scheduler_with(cluster(node("a")), Odd), pod()).remarks
    assert remark.plugin == "Odd"
    assert remark.text.startswith(f"failed: {fault}")


class Warns(Silent):
    """Warns of how many replicas there are to be."""

    def warnings(self, pod, replicas):
        return [Remark(f"{pod.key}: {replicas}", evidence={"pod": pod})]


def owned_by(kind, name="web"):
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}
    return pod(metadata={"ownerReferences": [reference]})


def workload(kind, name="web", owners=(), **spec):
    metadata = {"name": name, "namespace": "default", "ownerReferences": list(owners)}
    return msgspec.convert({"metadata": metadata, "spec": spec}, kind)


def test_a_warning_stands_in_the_explanation_though_the_pod_finds_a_node():
    found = explain(scheduler_with(cluster(node("a")), Silent, Warns), pod())
    assert (found.verdict, found.remarks) == (Verdict.SCHEDULED, [])
    (warning,) = found.warnings
    assert (warning.plugin, warning.text, warning.evidence) == ("Warns", "default/web: 1", {"pod": "default/web"})


def test_a_warning_does_not_wait_for_a_cycle():
    gated = pod(schedulingGates=[{"name": "quota"}])
    assert [each.text for each in explain(scheduler_with(cluster(), Warns), gated).warnings] == ["default/web: 1"]


@pytest.mark.parametrize(
    ("subject", "objects", "replicas"),
    [
        pytest.param(pod(), [], 1, id="a bare pod is one"),
        pytest.param(owned_by("ReplicaSet"), [workload(workloads.ReplicaSet, replicas=3)], 3, id="of its ReplicaSet"),
        pytest.param(
            owned_by("ReplicaSet", "web-5f"),
            [
                workload(
                    workloads.ReplicaSet,
                    "web-5f",
                    [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}],
                    replicas=1,
                ),
                workload(workloads.Deployment, replicas=4),
            ],
            4,
            id="of the Deployment above, which has several ReplicaSets while it rolls out",
        ),
        pytest.param(
            owned_by("StatefulSet"), [workload(workloads.StatefulSet, replicas=5)], 5, id="of its StatefulSet"
        ),
        pytest.param(owned_by("StatefulSet"), [workload(workloads.StatefulSet)], 1, id="one where nothing is said"),
        pytest.param(
            owned_by("Job"),
            [workload(workloads.Job, parallelism=8, completions=6)],
            6,
            id="as many as a Job runs at once",
        ),
        pytest.param(
            owned_by("DaemonSet"), [workload(workloads.DaemonSet)], 1, id="each pod of a DaemonSet has its node"
        ),
        pytest.param(owned_by("ReplicaSet"), [], 1, id="one where the workload is not there"),
    ],
)
def test_warnings_are_asked_for_with_the_replicas_of_the_workload(subject, objects, replicas):
    (warning,) = explain(scheduler_with(cluster(node("a"), *objects), Warns), subject).warnings
    assert warning.text == f"default/web: {replicas}"


def test_no_verdict_rests_on_what_a_warning_reads():
    class Reads(Silent):
        def warnings(self, pod, replicas):
            self.handle.cluster.every(workloads.ReplicaSet)
            return ()

    made = cluster(node("a"))
    made.lack([Gap("ReplicaSet", FORBIDDEN)])
    found = explain(scheduler_with(made, Reads), owned_by("ReplicaSet"))
    assert (found.verdict, found.guesses) == (Verdict.SCHEDULED, [])


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        pytest.param(["full"], "failed: warnings returned 'full', expected a sequence of Remark", id="no remark"),
        pytest.param([Remark(3)], "failed: warnings gave 3 for the text, expected a text", id="a remark without text"),
        pytest.param(KeyError("team"), "failed in warnings: KeyError: 'team'", id="an exception"),
    ],
)
def test_a_fault_in_a_warning_is_told_and_spoils_nothing_else(answer, fault):
    class Odd(Silent):
        def warnings(self, pod, replicas):
            if isinstance(answer, Exception):
                raise answer
            return answer

    found = explain(scheduler_with(cluster(node("a")), Odd, Warns), pod())
    odd, warning = found.warnings
    assert odd.text.startswith(fault)
    assert (warning.plugin, found.verdict) == ("Warns", Verdict.SCHEDULED)


class Answers(ReservePlugin, PermitPlugin):
    """Answers what a test sets."""

    at_reserve = at_permit = SUCCESS

    def reserve(self, cycle, node_name):
        return self.at_reserve

    def unreserve(self, cycle, node_name):
        pass

    def permit(self, cycle, node_name):
        return self.at_permit


@pytest.mark.parametrize(
    ("point", "answer", "verdict", "text"),
    [
        pytest.param("at_permit", SUCCESS, Verdict.SCHEDULED, "", id="nobody minds"),
        pytest.param(
            "at_permit",
            wait(90),
            Verdict.SCHEDULED,
            "Permit holds the pod back on a: Answers for at most 90s",
            id="a pod that waits has its node",
        ),
        pytest.param(
            "at_permit",
            unschedulable("no"),
            Verdict.UNSCHEDULABLE,
            "Answers rejects the pod on the chosen node a: no",
            id="what Permit refuses is unschedulable",
        ),
        pytest.param(
            "at_reserve",
            unschedulable("no"),
            Verdict.UNSCHEDULABLE,
            "Answers rejects the pod on the chosen node a: no",
            id="and so is what Reserve refuses",
        ),
        pytest.param(
            "at_reserve",
            error("broken"),
            Verdict.ERROR,
            'Answers rejects the pod on the chosen node a: running Reserve plugin "Answers": broken',
            id="a fault is a fault",
        ),
    ],
)
def test_the_choice_of_a_node_is_not_the_last_word(monkeypatch, point, answer, verdict, text):
    monkeypatch.setattr(Answers, point, answer)
    made = cluster(node("a"), pod("x"))
    found = explain(scheduler_with(made, Answers), made.pending["default/x"])
    assert (found.verdict, found.chosen, found.reservation.text) == (verdict, "a", text)
    if verdict is Verdict.UNSCHEDULABLE:
        assert found.message == "0/1 nodes are available: 1 no."
        assert found.unschedulable_plugins == ["Answers"]
    assert list(made.pending) == ["default/x"]


def test_kinds_of_a_plugin_are_checked_when_it_is_registered():
    class Wrong(Silent):
        kinds = ("PodGroup",)

    assert contracts.broken_rules(Wrong) == ["Wrong.kinds is ('PodGroup',): expected a tuple of Kind"]
