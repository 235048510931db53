"""A pod group, explained again whenever the live cluster changes, until it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedctl.api.pod_groups import PodGroup
from schedctl.explain.pod_groups import explain_group
from schedctl.reports import counts, exit_codes
from schedctl.reports.pod_groups import PodGroupResult
from schedctl.reports.watches import WatchEvent, WatchLine
from schedctl.session.sessions import Session
from schedctl.session.watch import follow, timestamp


def watch_group(
    session: Session,
    group: PodGroup,
    write: Callable[[WatchLine], None],
    *,
    seconds: float | None = None,
    digest: Callable[[PodGroupResult], Any] = lambda answer: answer,
) -> int:
    """Explain a group and again whenever its answer changes; return the exit code once all its pods run or it is gone.

    Args:
        session: with the state of a live cluster loaded, in which groups are on.
        group: the group.
        write: takes each change of the answer.
        seconds: how long to watch, None for ever.
        digest: what of an answer has to differ for it to be another one.
    """
    return follow(session, GroupWatch(session, group, write, digest), seconds)


class GroupWatch:
    """One pod group."""

    def __init__(
        self,
        session: Session,
        group: PodGroup,
        write: Callable[[WatchLine], None],
        digest: Callable[[PodGroupResult], Any],
    ) -> None:
        self._session = session
        self._group = group
        self._write = write
        self._digest = digest
        self._last: PodGroupResult | None = None

    def give_up(self) -> None:
        """Write that the time is over."""
        self._end(WatchEvent.PENDING, f"podgroup {self._group.key} is still pending")

    def look(self) -> int | None:
        """Write the answer if it has changed; return the exit code once there is nothing left to wait for."""
        key = self._group.key
        now = self._session.cluster.get(PodGroup, key)
        if now is None or now.metadata.uid != self._group.metadata.uid:
            self._end(WatchEvent.DELETED, f"podgroup {key} was deleted")
            return exit_codes.FAILED
        answer = explain_group(self._session.scheduler(), now, hints=False).result
        if answer.scheduled == answer.pods >= max(1, answer.min_count):
            self._end(WatchEvent.BOUND, f"podgroup {key} runs: {counts.of(answer.pods, 'pod')} bound")
            return 0
        if self._last is None or self._digest(answer) != self._digest(self._last):
            self._write(WatchLine(time=timestamp(), event=WatchEvent.ANSWER, group=key, group_result=answer))
        self._last = answer
        return None

    def _end(self, event: WatchEvent, text: str) -> None:
        self._write(WatchLine(time=timestamp(), event=event, group=self._group.key, text=text))


def headline(answer: PodGroupResult) -> tuple[object, ...]:
    """Return what the text for people shows of an answer; where that stays, there is no news for them."""
    return answer.verdict, answer.text, answer.message
