"""The text about a pod whose scheduling is done: where it is, what the kubelet says, and the command to type next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import notices
from schedctl.render.layout import Block, Line, Span, line
from schedctl.reports import counts
from schedctl.reports.bound_pods import BoundPod, ContainerReport
from schedctl.reports.explanations import Explanation

_MESSAGE_LINES = 3
"""How many lines of a container's message are shown; what a program says last is what it died of."""
_NOT_READY = ("False", "Unknown")
_INITIALIZING = "PodInitializing"


def state(bound: BoundPod, *, owners: int = 1) -> str:
    """Return in a few words where a pod is and whether it runs; of pods of several owners only whether they run."""
    nodes = len(set(bound.nodes))
    where = f"on {counts.nodes(nodes)}" if nodes > 1 else f"on {bound.node}"
    if owners > 1 and nodes > 1:
        return "running" if bound.running else f"not running: {bound.cause}" if bound.cause else "on several nodes"
    if bound.running:
        return f"running {where}{f' since {bound.since}' if bound.since else ''}"
    if bound.cause:
        runs = "whether it runs is unknown" if bound.node_ready in _NOT_READY else "not running"
        return f"{where}, {runs}: {bound.cause}"
    return where


def sections(result: Explanation, bound: BoundPod, *, entries: int, wide: bool) -> Iterator[Sequence[Block]]:
    """Yield what follows the first line of the answer, part by part.

    Args:
        result: the answer.
        bound: the part of it that is shown.
        entries: how many containers are shown.
        wide: whether containers that run and whole messages are shown too.
    """
    yield [node_state(bound, entries)]
    yield [*kubelet(bound, entries, wide)]
    yield [*_next_steps(result)]
    yield [notices.note(note) for note in result.notes]


def node_state(bound: BoundPod, entries: int) -> Line:
    """Return whether the nodes of pods are there and Ready."""
    names = sorted(set(bound.nodes))
    if len(names) > 1:
        nodes, are, exist = f"nodes {notices.few(names, entries)}", "are", "exist"
        they_are, their = "they are", "their kubelets do"
    else:
        nodes, are, exist = f"node {bound.node}", "is", "exists"
        they_are, their = "it is", "its kubelet does"
    if not bound.node_exists:
        return line(f"scheduling is done; {nodes} {are} not in the cluster", "bad")
    ready = {
        "True": f"{are} Ready",
        "False": f"{are} not Ready",
        "Unknown": f"{are} not Ready: {their} not report",
        "": f"{exist}; whether {they_are} Ready is not known",
    }[bound.node_ready]
    return line(f"scheduling is done; {nodes} {ready}", "bad" if bound.node_ready in _NOT_READY else "")


def kubelet(bound: BoundPod, entries: int, wide: bool) -> Iterator[Block]:
    """Yield the phase, the containers that do not run, and the conditions that are False."""
    if bound.reason or bound.message:
        yield Line((Span(f"{bound.phase}: ", "strong"), Span(": ".join(filter(None, (bound.reason, bound.message))))))
    shown = [*bound.containers] if wide else _worth_a_look(bound.containers)
    for container in shown[:entries]:
        yield from _container(container, wide)
    yield from notices.rest(len(shown) - entries, 0)
    if bound.running and not wide:
        return
    types: dict[tuple[str, str], list[str]] = {}
    for condition in bound.conditions:
        types.setdefault((condition.reason, condition.message), []).append(condition.type)
    for (reason, message), named in types.items():
        why = ": ".join(filter(None, (reason, message)))
        yield Line((Span(f"{', '.join(named)} False: ", "strong"), Span(why or "no reason given")))


def _worth_a_look(containers: Sequence[ContainerReport]) -> list[ContainerReport]:
    """Return the containers that do not run or were restarted; those that wait for another only where no other does."""
    odd = [each for each in containers if each.state != "Unknown" and not _is_fine(each)]
    return [each for each in odd if each.reason != _INITIALIZING] or odd


def _is_fine(container: ContainerReport) -> bool:
    if container.state == "Running":
        return not container.restarts and not container.init
    return container.state == "Terminated" and not container.exit_code


def _container(container: ContainerReport, wide: bool) -> Iterator[Block]:
    kind = "init container" if container.init else "container"
    code = "" if container.exit_code is None else f"exit code {container.exit_code}"
    restarts = ""
    if container.restarts:
        last = "" if container.last_exit_code is None else f", last exit code {container.last_exit_code}"
        why = f" ({container.last_reason})" if container.last_reason else ""
        restarts = f"{counts.of(container.restarts, 'restart')}{last}{why}"
    words = ", ".join(filter(None, (container.state.lower(), container.reason, code, restarts)))
    yield Line(
        (Span(f"{kind} {container.name}: ", "strong"), Span(words, "" if container.state == "Running" else "bad"))
    )
    message = container.message.strip().splitlines()
    for each in message if wide else message[-_MESSAGE_LINES:]:
        yield line(each, indent=2)


def _next_steps(result: Explanation) -> Iterator[Block]:
    for number, hint in enumerate(result.hints):
        head = Span("next: " if number == 0 else "then: ", "hint")
        if not hint.command:  # a name in it is not safe to paste: the text alone says what to do
            yield Line((head, Span(hint.text)), hang=6)
            continue
        # whole: a command that is folded cannot be pasted
        yield Line((head, Span(hint.command)), whole=True)
        yield line(hint.text.removeprefix(hint.command).strip(), "faint", indent=6)
