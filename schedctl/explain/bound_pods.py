"""Pods whose scheduling is done: where they are, what the kubelet says of them, and what to look at next.

Nothing is judged here; how such a pod would be placed today is asked of `explanations`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from schedctl.api.pods import FINISHED, ContainerStateWaiting, ContainerStatus, Pod, PodStatus, is_pending_manifest
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import explanations
from schedctl.framework.commands import kubectl
from schedctl.framework.similar import closest_names, did_you_mean
from schedctl.reports.bound_pods import BoundPod, ContainerReport, FalseCondition
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.reports.reasons import Hint
from schedctl.workloads.admission import NOT_READY, UNREACHABLE

if TYPE_CHECKING:
    from schedctl.api.nodes import Node

_replace = msgspec.structs.replace
_INITIALIZING = "PodInitializing"
"""The reason of a container that waits for an init container, which is the one to look at."""
_IMAGE = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ErrImagePullBackOff")
_CONFIGURATION = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")


def explain(pod: Pod, cluster: Cluster) -> Explanation:
    """Return the answer about a pod that has a node: the node, the words of the kubelet, and the next step."""
    bound = _bound_pod(pod, cluster)
    return Explanation(
        pod=explanations.reference(PodInfo(pod), pod.spec.node_name),
        verdict=Verdict.BOUND,
        bound=bound,
        hints=[*_next_steps(pod, bound, cluster.node_table.row_of)],
        notes=[*_notes(pod, bound)],
    )


def count_not_running(cluster: Cluster, counts: Callable[[Pod], bool]) -> int:
    """Return how many pods have a node and do not run, by their phase and containers or because the node is gone.

    A pod of which the state of the cluster does not say whether it runs is not counted.

    Args:
        cluster: the cluster.
        counts: whether a pod is one of those in question.
    """
    # Statuses are shared between pods, and most pods run: each status is looked into once.
    runs: dict[int, bool] = {}
    number = sum(1 for info in cluster.strays.values() if counts(info.pod))
    for info in cluster.pod_table:
        status = info.pod.status
        running = runs.get(id(status))
        if running is None:
            running = runs[id(status)] = _runs(status)
        if not running and counts(info.pod):
            number += 1
    return number


def _runs(status: PodStatus) -> bool:
    if status.phase not in ("", "Running"):
        return False
    states = (each.state for each in status.container_statuses or ())
    return not any(
        state is not None and (state.waiting or (state.terminated and state.terminated.exit_code)) for state in states
    )


def _bound_pod(pod: Pod, cluster: Cluster) -> BoundPod:
    name, status = pod.spec.node_name, pod.status
    row = cluster.node_table.row_of.get(name)
    ready = "" if row is None else ready_status(cluster.node_table.objects[row])
    containers = [*_containers(pod)]
    cause = _cause(pod, row is not None, ready, containers)
    return BoundPod(
        node=name,
        node_exists=row is not None,
        node_ready=ready,
        running=status.phase == "Running" and not cause,
        phase=status.phase,
        reason=status.reason,
        message=status.message,
        since=status.start_time or "",
        deleted=pod.metadata.deletion_timestamp or "",
        cause=cause,
        containers=containers,
        conditions=[
            FalseCondition(each.type, each.reason, each.message)
            for each in status.conditions or ()
            if each.status == "False"
        ],
    )


def ready_status(node: Node) -> str:
    """Return the status of a node's Ready condition, "" where neither conditions nor taints tell it."""
    condition = next((each.status for each in node.status.conditions or () if each.type == "Ready"), "")
    if condition:
        return condition
    taints = {each.key for each in node.spec.taints or ()}
    return "Unknown" if UNREACHABLE in taints else "False" if NOT_READY in taints else ""


def _containers(pod: Pod) -> Iterator[ContainerReport]:
    status, spec = pod.status, pod.spec
    sidecars = {each.name for each in spec.init_containers or () if each.restart_policy == "Always"}
    for init, statuses, containers in (
        (True, status.init_container_statuses, spec.init_containers),
        (False, status.container_statuses, spec.containers),
    ):
        images = {each.name: each.image for each in containers or ()}
        for each in statuses or ():
            yield _container(each, init and each.name not in sidecars, images.get(each.name, ""))


def _container(status: ContainerStatus, init: bool, image: str) -> ContainerReport:
    state = status.state
    ended = status.last_state.terminated if status.last_state is not None else None
    report = ContainerReport(
        name=status.name,
        init=init,
        state="Unknown",  # an API server always gives a state: this is of a snapshot, or written by hand
        restarts=status.restart_count,
        last_reason=ended.reason if ended is not None else "",
        last_exit_code=ended.exit_code if ended is not None else None,
        image=image,
    )
    if state is None:
        return report
    if state.terminated is not None:
        how = state.terminated
        return _replace(report, state="Terminated", reason=how.reason, message=how.message, exit_code=how.exit_code)
    if state.running is not None:
        return _replace(report, state="Running")
    why = state.waiting or ContainerStateWaiting()
    return _replace(report, state="Waiting", reason=why.reason, message=why.message)


# -- what keeps it from running --------------------------------------------------


def _cause(pod: Pod, node_exists: bool, ready: str, containers: Sequence[ContainerReport]) -> str:
    """Return in a few words what keeps a pod from running, "" where nothing does or nobody says."""
    status = pod.status
    if status.phase in FINISHED:
        return f"{status.phase}: {status.reason}" if status.reason else status.phase
    if not node_exists:
        return "its node is not in the cluster"
    if ready in ("False", "Unknown"):
        return "its node is not Ready"
    if pod.metadata.deletion_timestamp:
        return "being deleted"
    at_fault = _container_at_fault(containers, status.phase)
    if at_fault is not None:
        return _container_cause(at_fault)
    if status.phase in ("", "Running"):
        return ""
    if status.phase != "Pending":
        return f"phase {status.phase}"
    return "the kubelet has not started it" if status.start_time is None else "its containers have not started"


def _container_at_fault(containers: Sequence[ContainerReport], phase: str) -> ContainerReport | None:
    """Return the first container that the others or the pod wait for, None where there is none."""
    waiting = [each for each in containers if _keeps_from_running(each, phase)]
    return next((each for each in waiting if each.reason != _INITIALIZING), next(iter(waiting), None))


def _keeps_from_running(container: ContainerReport, phase: str) -> bool:
    if container.state == "Running":
        return container.init and phase == "Pending"
    return container.state == "Waiting" or bool(container.exit_code)


def _container_cause(container: ContainerReport) -> str:
    kind = "init container" if container.init else "container"
    if container.state == "Running":
        return f"{kind} {container.name} has not ended yet"
    how = container.reason or container.state.lower()
    return f"{kind} {container.name}: {how}" if container.init else how


# -- what to do next -------------------------------------------------------------


def _next_steps(pod: Pod, bound: BoundPod, known: Collection[str]) -> Iterator[Hint]:
    """Yield the command that shows more of what keeps a pod from running, none for one that runs."""
    if not bound.cause:
        return
    if bound.phase in FINISHED:
        yield _describe(pod, "shows why the pod has ended; its controller, if it has one, replaces it")
        return
    if not bound.node_exists and (is_pending_manifest(pod) or not (bound.phase or pod.metadata.uid)):
        meant = did_you_mean(*closest_names(bound.node, known))
        text = f"spec.nodeName {bound.node} does not exist{meant}: the scheduler never sees this pod; remove nodeName"
        yield Hint("bound-pod", text)
        return
    if not bound.node_exists:
        yield _step(("get", "node"), bound.node, "shows whether the node is really gone")
        yield _events(pod, "shows what became of the pod; Kubernetes deletes pods of nodes that are gone")
        return
    if bound.node_ready in ("False", "Unknown"):
        yield _step(("describe", "node"), bound.node, "shows why the kubelet of the node is not Ready")
        return
    if bound.deleted:
        finalizers = ", ".join(pod.metadata.finalizers or ())
        waits = f"; it waits for its finalizers: {finalizers}" if finalizers else ""
        yield _describe(pod, f"shows what delays the deletion{waits}")
        return
    yield _container_step(_container_at_fault(bound.containers, bound.phase), pod)


def _container_step(container: ContainerReport | None, pod: Pod) -> Hint:
    """Return the next step about the container that keeps its pod from running."""
    kubelet = "shows what the kubelet is doing: images, volumes, network"
    if container is None or (container.state == "Waiting" and not container.restarts and not container.reason):
        return _events(pod, kubelet)
    if container.reason in _IMAGE:
        return _describe(pod, f"shows why the image cannot be pulled: its name, or the pull secret ({container.image})")
    if container.reason in _CONFIGURATION:
        return _describe(pod, "shows what the container lacks, such as a ConfigMap, a Secret or a command")
    if container.restarts:
        return _logs(pod, container, "shows the output of the container before its last restart", "--previous")
    if container.state in ("Running", "Terminated"):
        return _logs(pod, container, "shows the output of the container")
    return _events(pod, kubelet)


def _describe(pod: Pod, text: str) -> Hint:
    return _step(("describe", "pod"), pod.metadata.name, text, namespace=pod.metadata.namespace)


def _events(pod: Pod, text: str) -> Hint:
    selector = ("--field-selector", f"involvedObject.name={pod.metadata.name}")
    return _step(("get", "events"), "", text, namespace=pod.metadata.namespace, options=selector)


def _logs(pod: Pod, container: ContainerReport, text: str, *options: str) -> Hint:
    options = ("-c", container.name, *options)
    return _step(("logs",), pod.metadata.name, text, namespace=pod.metadata.namespace, options=options)


def _step(verb: Sequence[str], name: str, text: str, *, namespace: str = "", options: Sequence[str] = ()) -> Hint:
    command = kubectl(*verb, *filter(None, (name,)), namespace=namespace, options=options)
    # without a command that is safe to paste, the text names what to type
    subject = command or " ".join(("kubectl", *verb))
    return Hint("bound-pod", f"{subject} {text}", command=command)


def _notes(pod: Pod, bound: BoundPod) -> Iterator[str]:
    if not bound.phase:
        yield "the cluster as it was read says nothing of the pod's status: whether it runs is not known"
    elif bound.phase not in FINISHED and any(each.state == "Unknown" for each in bound.containers):
        yield "the states of its containers are not known: a snapshot holds none"
    elif bound.cause and bound.phase == "Pending" and not (bound.containers or is_pending_manifest(pod)):
        yield "no container statuses: the kubelet has not reported any, or the cluster was read from a snapshot or file"
    if pod.metadata.deletion_timestamp:
        yield f"its deletion was asked for at {pod.metadata.deletion_timestamp}"
