"""A pending pod, explained again whenever the live cluster changes, until it is bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Protocol

from schedctl import sources
from schedctl.api.gaps import Gap
from schedctl.api.pods import FINISHED, Pod
from schedctl.explain import explanations
from schedctl.framework.pod_edits import with_scheduler
from schedctl.live import watching
from schedctl.reports import exit_codes
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.reports.watches import WatchEvent, WatchLine
from schedctl.session.notifiers import Notifier
from schedctl.session.pod_groups import GroupAnswers
from schedctl.session.sessions import Session
from schedctl.workloads import cluster_updates
from schedctl.workloads.clusters import AssembledCluster, every_pod


def watch(
    session: Session,
    pod: Pod,
    write: Callable[[WatchLine], None],
    *,
    seconds: float | None = None,
    digest: Callable[[Explanation], Any] = lambda answer: answer,
) -> int:
    """Explain a pod and again whenever its answer changes; return the exit code once it is bound or gone.

    Args:
        session: with the state of a live cluster loaded.
        pod: the pod.
        write: takes each change of the answer.
        seconds: how long to watch, None for ever.
        digest: what of an answer has to differ for it to be another one.
    """
    return follow(session, PodWatch(session, pod, write, digest), seconds)


def follow(session: Session, subject: Subject, seconds: float | None) -> int:
    """Look at something whenever the live cluster changes; return the exit code once there is nothing to wait for.

    Args:
        session: with the state of a live cluster loaded.
        subject: what is watched.
        seconds: how long to watch, None for ever.
    """
    assert session.state.connection is not None
    assert session.state.listing is not None
    with watching.Watch(session.state.connection, session.state.listing) as watched:
        return follow_events(session, subject, watched.events, seconds)


def follow_events(
    session: Session,
    subject: Subject,
    read_events: Callable[[float | None], list[watching.WatchEvent]],
    seconds: float | None,
) -> int:
    """Look at something whenever events change the cluster, until it says so or the time is over."""
    assembled, warnings = session.state.assembled, WatchWarnings(session.notifier)
    until = None if seconds is None else time.monotonic() + seconds
    changed = True
    while True:
        if changed:
            exit_code = subject.look()
            if exit_code is not None:
                return exit_code
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            subject.give_up()
            return exit_codes.FAILED
        events = read_events(left)
        warnings.report(events)
        changed = apply_events(assembled, events)


class Subject(Protocol):
    """What is followed in the cluster in memory as that changes."""

    def look(self) -> int | None:
        """Write the answer if it has changed; return the exit code once there is nothing left to wait for."""

    def give_up(self) -> None:
        """Write that the time is over."""


class PodWatch:
    """One pod."""

    def __init__(
        self,
        session: Session,
        pod: Pod,
        write: Callable[[WatchLine], None],
        digest: Callable[[Explanation], Any],
    ) -> None:
        self._session = session
        self._pod = pod
        self._write = write
        self._digest = digest
        self._last: Explanation | None = None

    def give_up(self) -> None:
        """Write that the time is over."""
        self._end(WatchEvent.PENDING, f"pod {self._pod.key} is still pending")

    def look(self) -> int | None:
        """Write the answer if it has changed; return the exit code once there is nothing left to wait for."""
        key, assembled = self._pod.key, self._session.state.assembled
        pods = [info.pod for info in every_pod(assembled.cluster)] + list(assembled.finished.values())
        now = next((each for each in pods if each.key == key), None)
        # A pod of the same name with another uid is another pod, as a StatefulSet makes one.
        if now is None or now.metadata.uid != self._pod.metadata.uid:
            self._end(WatchEvent.DELETED, f"pod {key} was deleted")
            return exit_codes.FAILED
        if now.spec.node_name:
            self._end(WatchEvent.BOUND, describe_binding(key, now.spec.node_name, self._last), now.spec.node_name)
            return 0
        if now.status.phase in FINISHED:
            self._end(WatchEvent.ENDED, f"pod {key} ended without a node ({now.status.phase})")
            return exit_codes.FAILED
        answer = self._explain(now)
        if self._last is None or self._digest(answer) != self._digest(self._last):
            self._write(WatchLine(time=timestamp(), event=WatchEvent.ANSWER, pod=key, result=answer))
        self._last = answer
        return None

    def _explain(self, pod: Pod) -> Explanation:
        scheduler = self._session.scheduler()
        of_group = GroupAnswers(scheduler, hints=False).of_pod(pod)
        if of_group is not None:
            return of_group
        return explanations.explain(scheduler, with_scheduler(pod, self._session.choice.profile), hints=False)

    def _end(self, event: WatchEvent, text: str, node: str = "") -> None:
        self._write(WatchLine(time=timestamp(), event=event, pod=self._pod.key, node=node, text=text))


def timestamp() -> str:
    """Return the time of this machine, as news tell it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def apply_events(assembled: AssembledCluster, events: Iterable[watching.WatchEvent]) -> bool:
    """Change the cluster in memory as the live one has changed; return whether scheduling reads any of it.

    A kind that cannot be watched at all is not known any more, so that an answer that needs it is a guess.
    """
    changed = False
    for each in events:
        match each:
            case watching.Changed(body=body):
                for obj in _decode(body):
                    changed |= cluster_updates.put(assembled, obj)
            case watching.Deleted(body=body):
                for obj in _decode(body):
                    changed |= cluster_updates.remove(assembled, obj)
            case watching.Relisted(kind=kind, bodies=bodies):
                changed |= cluster_updates.replace_all(assembled, kind.struct, _decode(*bodies))
            case watching.WatchFailure(kind=kind, text=text, lasting=True):
                known = assembled.cluster.missing.values()
                assembled.cluster.lack([*known, Gap(kind.name, "Unwatched", text)])
                changed = True
    return changed


def _decode(*bodies: bytes) -> list[Any]:
    return [one.object for one in sources.load_listed("the live cluster", bodies).objects]


class WatchWarnings:
    """Warns once when the watch is interrupted, until it works again, and of kinds that cannot be watched at all."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._interrupted: set[str] = set()

    def report(self, events: Iterable[watching.WatchEvent]) -> None:
        """Warn of the failures among these events."""
        for each in events:
            kind = each.kind.resource
            if not isinstance(each, watching.WatchFailure):
                self._interrupted.discard(kind)
            elif each.lasting:
                self._notifier.warn(f"{kind} cannot be watched, so their changes are missed: {each.text}")
            elif kind not in self._interrupted:
                if not self._interrupted:
                    self._notifier.warn(f"the watch of the cluster is interrupted: {each.text}")
                self._interrupted.add(kind)


def headline(answer: Explanation) -> tuple[object, ...]:
    """Return what the text for people shows of an answer; where that stays, there is no news for them."""
    return (
        answer.verdict,
        answer.pod_group_text,
        answer.message,
        answer.error,
        answer.gates,
        answer.chosen,
        answer.score,
        len(answer.ties),
        answer.nodes.total,
    )


def describe_binding(pod: str, node: str, last: Explanation | None) -> str:
    """Say where a pod has gone, and whether that is where the last answer would have put it."""
    text = f"pod {pod} is bound to {node}"
    if last is None:
        return text
    if last.verdict is not Verdict.SCHEDULED:
        return f"{text}; the last answer did not place it"
    if node == last.chosen:
        return f"{text}, as predicted"
    if node in last.ties:
        return f"{text}, one of the {len(last.ties)} nodes with the highest score"
    score = next((each.total for each in last.scores if each.node == node), None)
    if score is None:
        return f"{text}, which was not feasible in the last answer"
    return f"{text} (score {score}); predicted was {last.chosen} (score {last.score})"
