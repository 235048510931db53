"""A pod that has a node: why it does not run, what to type next, and that it is not judged unless that is asked for."""

import io

import pytest

from schedctl.explain import bound_pods, equal_answers
from schedctl.render import bound_pods as render
from schedctl.render import layout
from schedctl.render.terminals import Terminal
from schedctl.reports.explanations import Verdict
from schedctl.scheduler import Scheduler
from schedctl.session.explain import ExplainOptions, explain_objects
from schedctl.testing.builders import cluster, node, pod

UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
STARTED = "2026-03-01T10:00:00Z"


def container(state, name="main", **more):
    return {"name": name, "state": state, **more}


def waiting(reason="", message=""):
    return {"waiting": {"reason": reason, "message": message}}


def status(*containers, init=(), phase="Pending", **more):
    return {
        "phase": phase,
        "startTime": STARTED,
        "containerStatuses": [*containers],
        "initContainerStatuses": [*init],
        **more,
    }


def explained(subject, *nodes):
    state = cluster(*(nodes or (node("a"), node("lost", taints=[UNREACHABLE]))), subject)
    return bound_pods.explain(subject.pod, state)


@pytest.mark.parametrize(
    ("written", "cause", "command"),
    [
        pytest.param(
            status(container(waiting("ImagePullBackOff", "Back-off pulling image"))),
            "ImagePullBackOff",
            "kubectl describe pod web -n default",
            id="an image that cannot be pulled",
        ),
        pytest.param(
            status(container(waiting("CrashLoopBackOff"), restartCount=4), phase="Running"),
            "CrashLoopBackOff",
            "kubectl logs web -n default -c main --previous",
            id="a container that crashes is looked up in the logs of the time before",
        ),
        pytest.param(
            status(container(waiting("CreateContainerConfigError"))),
            "CreateContainerConfigError",
            "kubectl describe pod web -n default",
            id="a ConfigMap that is missing",
        ),
        pytest.param(
            status(container(waiting("PodInitializing")), init=[container({"running": {}}, "migrate")]),
            "init container migrate has not ended yet",
            "kubectl logs web -n default -c migrate",
            id="an init container that runs is what the others wait for",
        ),
        pytest.param(
            status(container(waiting("PodInitializing")), init=[container(waiting("ErrImagePull"), "migrate")]),
            "init container migrate: ErrImagePull",
            "kubectl describe pod web -n default",
            id="an init container at fault is named before the containers that wait for it",
        ),
        pytest.param(
            status(container(waiting("ContainerCreating"))),
            "ContainerCreating",
            "kubectl get events -n default --field-selector involvedObject.name=web",
            id="a container that is being created",
        ),
        pytest.param(
            {"phase": "Pending"},
            "the kubelet has not started it",
            "kubectl get events -n default --field-selector involvedObject.name=web",
            id="a kubelet that has said nothing yet",
        ),
        pytest.param(
            {"phase": "Failed", "reason": "OutOfcpu"},
            "Failed: OutOfcpu",
            "kubectl describe pod web -n default",
            id="a pod that the kubelet refused",
        ),
    ],
)
def test_what_keeps_a_bound_pod_from_running_and_what_shows_more_of_it(written, cause, command):
    answer = explained(pod(on="a", status=written))
    assert answer.verdict is Verdict.BOUND
    assert (answer.bound.running, answer.bound.cause) == (False, cause)
    assert answer.hints[0].command == command


@pytest.mark.parametrize(
    ("name", "exists", "ready", "cause", "command"),
    [
        pytest.param("gone", False, "", "its node is not in the cluster", "kubectl get node gone", id="gone"),
        pytest.param("lost", True, "Unknown", "its node is not Ready", "kubectl describe node lost", id="unreachable"),
    ],
)
def test_a_node_that_is_gone_or_not_ready_comes_before_what_its_kubelet_said_last(name, exists, ready, cause, command):
    answer = explained(pod(on=name, status=status(container({"running": {}}), phase="Running")))
    assert (answer.bound.node_exists, answer.bound.node_ready) == (exists, ready)
    assert (answer.bound.running, answer.bound.cause) == (False, cause)
    assert answer.hints[0].command == command


def test_a_pending_manifest_that_misspells_its_node_is_told_so():
    answer = explained(pod(on="lots", metadata={"uid": ""}, status={"phase": "Pending"}))
    assert [hint.text for hint in answer.hints] == [
        'spec.nodeName lots does not exist (did you mean "lost"?): the scheduler never sees this pod; remove nodeName'
    ]
    assert answer.notes == []


def test_a_pod_that_runs_needs_no_next_step():
    answer = explained(pod(on="a", status=status(container({"running": {}}), phase="Running")))
    assert (answer.bound.running, answer.bound.since, answer.hints) == (True, STARTED, [])


def test_a_sidecar_that_runs_keeps_nobody_waiting():
    sidecar = {"name": "proxy", "restartPolicy": "Always"}
    written = status(container(waiting("ErrImagePull")), init=[container({"running": {}}, "proxy")])
    assert explained(pod(on="a", initContainers=[sidecar], status=written)).bound.cause == "ErrImagePull"


@pytest.mark.parametrize(
    ("written", "note"),
    [
        pytest.param(status({"name": "main"}), "a snapshot holds none", id="states that a snapshot leaves out"),
        pytest.param({"phase": ""}, "whether it runs is not known", id="no status at all"),
    ],
)
def test_what_is_not_known_of_the_containers_is_not_guessed(written, note):
    answer = explained(pod(on="a", status=written))
    assert any(note in each for each in answer.notes)
    assert all(each.state == "Unknown" for each in answer.bound.containers)


def test_names_in_commands_are_quoted_for_the_shell():
    answer = explained(pod("web; rm", on="a", status=status(container(waiting("ErrImagePull")))))
    assert answer.hints[0].command == "kubectl describe pod 'web; rm' -n default"


@pytest.mark.parametrize("name", ["--kubeconfig=x", "web\x1b[2J"])
def test_a_name_that_could_do_harm_in_a_command_leaves_the_text_without_one(name):
    (hint,) = explained(pod(name, on="a", status=status(container(waiting("ErrImagePull"))))).hints
    assert (hint.command, hint.text.split(" shows ")[0]) == ("", "kubectl describe pod")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("web", ["next: kubectl describe pod web -n default", "      shows what"], id="a command"),
        pytest.param("-web", ["next: kubectl describe pod shows what"], id="no command that is safe to paste"),
    ],
)
def test_the_next_step_is_shown_with_its_command_or_in_words(name, shown):
    answer = explained(pod(name, on="a", status=status(container(waiting("CreateContainerError")))))
    steps = [*render.sections(answer, answer.bound, entries=5, wide=False)][2]
    text = io.StringIO()
    layout.write(steps, text, Terminal())
    lines = text.getvalue().splitlines()
    assert len(lines) == len(shown)
    assert all(line.startswith(start) for line, start in zip(lines, shown, strict=True))


# -- when it is judged all the same ----------------------------------------------


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        pytest.param({}, Verdict.BOUND, id="not unless it is asked for"),
        pytest.param({"reconsider": True}, Verdict.SCHEDULED, id="with reconsider"),
        pytest.param({"node": "b"}, Verdict.SCHEDULED, id="with a node to go into"),
        pytest.param({"matrix": True}, Verdict.SCHEDULED, id="with the matrix of filters"),
        pytest.param({"history": True}, Verdict.SCHEDULED, id="with the history, which stands beside the answer"),
    ],
)
def test_a_bound_pod_is_judged_only_where_the_question_is_about_placement(options, verdict):
    running = pod(cpu="1", on="a")
    scheduler = Scheduler(cluster(node("a"), node("b"), running))
    (answer,) = explain_objects(scheduler, [running.pod], options=ExplainOptions(**options))
    assert answer.verdict is verdict
    assert (answer.current is not None) == (verdict is Verdict.SCHEDULED)


def test_pods_on_one_node_that_do_not_run_for_one_reason_are_one_answer():
    def crashing(name):
        message = f"back-off 5m0s restarting failed container=main pod={name}"
        return pod(name, on="a", status=status(container(waiting("CrashLoopBackOff", message), restartCount=3)))

    pods = [crashing("web-1"), crashing("web-2"), pod("web-3", on="a", status=status(container(waiting("Other"))))]
    state = cluster(node("a"), *pods)
    merged = equal_answers.merge((bound_pods.explain(each.pod, state) for each in pods), lambda reference: "")
    assert [answer.pods for answer in merged] == [["default/web-1", "default/web-2"], ["default/web-3"]]


# -- how many there are ----------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "number"),
    [
        pytest.param(pod(on="a"), 0, id="a pod that runs"),
        pytest.param(pod(), 0, id="a pending pod, which is explained instead"),
        pytest.param(pod(on="a", status={"phase": ""}), 0, id="a pod of which nobody says whether it runs"),
        pytest.param(pod(on="a", status={"phase": "Pending"}), 1, id="a pod that has not started"),
        pytest.param(pod(on="a", status=status(container(waiting("X")), phase="Running")), 1, id="a pod that crashes"),
        pytest.param(
            pod(on="a", status=status(container({"terminated": {"exitCode": 0}}), phase="Running")),
            0,
            id="a container that ended well",
        ),
        pytest.param(pod(on="gone"), 1, id="a pod whose node is gone"),
        pytest.param(pod(on="gone", namespace="other"), 0, id="a pod of another namespace"),
    ],
)
def test_bound_pods_that_do_not_run_are_counted(subject, number):
    state = cluster(node("a"), subject)
    assert bound_pods.count_not_running(state, lambda each: each.metadata.namespace == "default") == number
