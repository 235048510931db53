"""Sequences: pods asked about fast and slow, side by side, while a sandbox goes through random changes.

Forks are opened and reverted by steps of their own and may be nested; those still open when a sequence ends are
reverted then, and every revert is held against what was there before.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from random import Random
from typing import Any, NamedTuple

import msgspec

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt, attempt
from schedctl.errors import NotModelled
from schedctl.framework.statuses import Code, Status
from schedctl.scheduler import Scheduler
from schedctl.testing import side_by_side
from schedctl.testing.random_changes import LONG_AGO, make_random_change
from schedctl.testing.sandboxes import Sandbox

_MOST_OPEN_FORKS = 3
"""How many forks are open at once at most."""
_DIFFERENCES_SHOWN = 12
"""How many differences are told of."""


class ChangeSequence(NamedTuple):
    """A sequence that can be gone through again, and made shorter by leaving out steps.

    Attributes:
        name: the name of the sandbox, which seeds the steps.
        make: makes the sandbox as it is at the beginning.
        steps: numbers; each seeds, with the name, all that happens in the step, whatever came before.
    """

    name: str
    make: Callable[[], Sandbox]
    steps: Sequence[int]


class AnswersDiffer(AssertionError):
    """Fast and slow came to different answers; the text is the whole account.

    Attributes:
        sequence: the sequence, with no step after the one that showed it.
        found: the differences.
    """

    def __init__(
        self, sequence: ChangeSequence, story: Iterable[str], found: Sequence[side_by_side.Difference]
    ) -> None:
        self.sequence = sequence
        self.found = found
        more = [f"and {len(found) - _DIFFERENCES_SHOWN} more"] if len(found) > _DIFFERENCES_SHOWN else []
        steps = ",".join(map(str, sequence.steps))
        shown = map(str, found[:_DIFFERENCES_SHOWN])
        lines = [f"{sequence.name}, steps {steps}", *story, "differ in:", *shown]
        super().__init__("\n".join([*lines, *more]))


def run_sequence(sequence: ChangeSequence) -> int:
    """Go through a sequence and return how many answers were compared.

    Raises:
        Unequal: two of them differ, or something failed.
    """
    run = _SequenceRun(sequence.make())
    taken: list[int] = []
    try:
        with run.forks:
            for step in sequence.steps:
                taken.append(step)
                run.story.append(f"step {step}")
                run.take(Random(f"{sequence.name} {step}"))
    except _DifferencesFound as found:
        raise AnswersDiffer(sequence._replace(steps=taken), run.story, found.differences) from None
    except Exception as fault:
        where = "".join(traceback.format_exception(fault, limit=-4, chain=False)).rstrip()
        raise AnswersDiffer(
            sequence._replace(steps=taken), run.story, [side_by_side.Difference("fault", where, None)]
        ) from fault
    return run.compared


def shorten(unequal: AnswersDiffer, tries: int = 400) -> AnswersDiffer:
    """Return a difference met on a shorter way, found by leaving out steps; the same if there is none."""
    size = len(unequal.sequence.steps) // 2
    while size and tries:
        position = 0
        while position < len(unequal.sequence.steps) and tries:
            tries -= 1
            steps = unequal.sequence.steps
            try:
                run_sequence(unequal.sequence._replace(steps=[*steps[:position], *steps[position + size :]]))
                position += size
            except AnswersDiffer as shorter:
                unequal = shorter
        size //= 2
    return unequal


class _DifferencesFound(Exception):
    """Differences, on their way to whoever knows the steps."""

    def __init__(self, differences: Sequence[side_by_side.Difference]) -> None:
        super().__init__()
        self.differences = differences


class _SequenceRun:
    """One way through a sequence.

    Attributes:
        forks: closes the forks that are open.
        story: what happened, line by line.
        compared: how many answers have been compared.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._scheduler, self._cluster = sandbox.scheduler, sandbox.cluster
        self._open: list[tuple[ExitStack, dict[str, Any]]] = []
        self._reserved: dict[str, tuple[Attempt, str]] = {}
        self._unread: list[tuple[Attempt, list[str]]] = []
        self.forks = ExitStack()
        self.forks.callback(self._revert_all)
        self.story: list[str] = []
        self.compared = 0

    def take(self, random: Random) -> None:
        """Take a step."""
        if not self._sandbox.templates:
            return
        steps = (self._change, self._place_some, self._ask_some, self._fork, self._revert, self._release)
        (step,) = random.choices(steps, (10, 8, 3, 2, 2, 1))
        step(random)

    # -- steps -------------------------------------------------------------------

    def _change(self, random: Random) -> None:
        for _ in range(random.choice((1, 1, 1, 2, 5))):
            self._tell(make_random_change(self._sandbox, random))
        if random.random() < 0.8:
            self._ask_some(random)

    def _ask_some(self, random: Random) -> None:
        for _ in range(random.choice((1, 2, 2, 4))):
            self._ask(self._some_pod(random), random)

    def _place_some(self, random: Random) -> None:
        """Place pods of one template or of several in turn, until there is no room or for a while."""
        templates = random.sample(
            self._sandbox.templates, min(len(self._sandbox.templates), random.choice((1, 1, 2, 3)))
        )
        sampled = random.random() < 0.07
        for number in range(random.choice((1, 2, 5, 5, 12, 12, 40, 120))):
            template = templates[number % len(templates)]
            outcome = self._ask(self._sandbox.twin(template), random, sampled=sampled)
            if outcome is None or not outcome.chosen:
                if outcome is not None and random.random() < 0.4:
                    self._make_room(outcome, random)
                return
            self._place(outcome, random)

    def _fork(self, random: Random) -> None:
        if len(self._open) == _MOST_OPEN_FORKS:
            return
        before, fork = side_by_side.picture(self._cluster), ExitStack()
        fork.enter_context(self._scheduler.fork())
        self._open.append((fork, before))
        self._tell(f"fork {len(self._open)} is opened")

    def _revert(self, random: Random) -> None:
        if not self._open:
            return
        self._read_ties()
        self._tell(f"fork {len(self._open)} is reverted")
        fork, before = self._open.pop()
        fork.close()
        self._must_equal(side_by_side.picture_differences(side_by_side.picture(self._cluster), before))
        self._ask(self._some_pod(random), random, whole=True)
        self._ask_some(random)

    def _revert_all(self) -> None:
        while self._open:
            fork, _ = self._open.pop()
            fork.close()

    def _release(self, random: Random) -> None:
        """Take back a pod that was placed, as when its binding fails."""
        table = self._cluster.pod_table
        there = {
            info.key: self._cluster.node_table.names[row]
            for info, row in zip(table.infos.tolist(), table.node.tolist(), strict=True)
            if info is not None and not info.pod.spec.node_name
        }
        self._reserved = {key: each for key, each in self._reserved.items() if there.get(key) == each[1]}
        if not self._reserved:
            return
        key = random.choice(list(self._reserved))
        outcome, name = self._reserved.pop(key)
        self._tell(f"{key} is released from {name}")
        self._scheduler.release(outcome, name, Status(Code.ERROR, ("released",)))
        self._ask_some(random)

    # -- asking ------------------------------------------------------------------

    def _some_pod(self, random: Random) -> PodInfo:
        """A new pod mostly; or one that waits or runs already, is promised a node, or is on its way out."""
        template, chance = random.choice(self._sandbox.templates), random.random()
        waiting = [pod for pod in self._cluster.pending.values() if self._scheduler.profile_of(pod) is not None]
        running = sorted(self._cluster.pod_table, key=lambda pod: pod.key)
        running = [pod for pod in running if self._scheduler.profile_of(pod) is not None]
        if chance < 0.1 and waiting:
            return random.choice(waiting)
        if chance < 0.15 and running:
            return random.choice(running)
        pod = self._sandbox.twin(template)
        if chance < 0.2 and self._cluster.node_table.row_of:
            name = random.choice(sorted(self._cluster.node_table.row_of))
            status = msgspec.structs.replace(pod.pod.status, nominated_node_name=name)
            return PodInfo(msgspec.structs.replace(pod.pod, status=status))
        if chance < 0.22:
            metadata = msgspec.structs.replace(pod.pod.metadata, deletion_timestamp=LONG_AGO)
            return PodInfo(msgspec.structs.replace(pod.pod, metadata=metadata))
        return pod

    def _ask(
        self, pod: PodInfo, random: Random, *, sampled: bool | None = None, whole: bool | None = None
    ) -> Attempt | None:
        """Ask about a pod fast and slow, compare, and return the fast answer; None where there is none.

        Args:
            pod: the pod.
            random: chance.
            sampled: whether to look at as many nodes as kube-scheduler would; left to chance if None.
            whole: whether to look at the whole cluster before and after, and to build one anew; likewise.
        """
        if sampled is None:
            sampled = random.random() < 0.07
        if whole is None:
            whole = random.random() < 0.08
        make_room, admitted, reading = random.random() < 0.6, random.random() < 0.5, random.random()
        profile = self._scheduler.profile_of(pod)
        assert profile is not None

        def fast() -> Attempt:
            return self._scheduler.attempt(pod, sampling=sampled, make_room=make_room, admitted=admitted)

        def slow(scheduler: Scheduler = self._scheduler) -> Attempt:
            return attempt(
                scheduler.profiles[profile.scheduler_name],
                scheduler.cluster,
                pod,
                scheduler.nominator,
                percentage=scheduler.percentage(profile) if sampled else None,
                make_room=make_room,
                admitted=admitted,
            )

        self._read_ties()
        self._tell(f"{pod.key} is asked about{', sampled' if sampled else ''}")
        before = (side_by_side.picture(self._cluster) if whole else {}), self._cluster.generation
        if random.random() < 0.3:
            other, outcome = _answer(slow), _answer(fast)
        else:
            outcome, other = _answer(fast), _answer(slow)
        self.compared += 1
        if isinstance(outcome, str) or isinstance(other, str):
            texts = [each if isinstance(each, str) else "an answer" for each in (outcome, other)]
            self._must_equal([side_by_side.Difference("not modelled", *texts)] if texts[0] != texts[1] else [])
            return None
        if reading < 0.2:
            found = [("error", outcome.error, other.error), ("chosen", outcome.chosen, other.chosen)]
            self._must_equal(side_by_side.Difference(what, fast, slow) for what, fast, slow in found if fast != slow)
            self._unread.append((outcome, other.ties))
        else:
            self._must_equal(side_by_side.differences(outcome, other, wholly=reading < 0.7))
        after = (side_by_side.picture(self._cluster) if whole else {}), self._cluster.generation
        self._must_equal(
            side_by_side.Difference(f"left behind: {each.what}", *each[1:])
            for each in side_by_side.picture_differences(after[0], before[0])
        )
        self._must_equal([side_by_side.Difference("generation", after[1], before[1])] if after[1] != before[1] else [])
        if whole or outcome.error:
            self._hold_against_a_cluster_built_anew(outcome, slow)
        return outcome

    def _read_ties(self) -> None:
        """Read the ties of answers whose ties nobody has read yet, though the cluster has moved on since."""
        for outcome, ties in self._unread:
            if outcome.ties != ties:
                self._must_equal([side_by_side.Difference(f"ties of {outcome.pod.key}, read late", outcome.ties, ties)])
        self._unread.clear()

    def _hold_against_a_cluster_built_anew(self, outcome: Attempt, slow: Callable[[Scheduler], Attempt]) -> None:
        """Compare with the answer on a cluster of the same objects; what it had been through must not matter.

        But for evidence: which of several causes it names first goes by the order in which they came.
        """
        anew = self._sandbox.rebuild()
        if outcome.sampled is not None or side_by_side.ports(anew.cluster) != side_by_side.ports(self._cluster):
            return  # where sampling goes on, and whose port it is that two pods held, are matters of the past
        other = _answer(lambda: slow(anew))
        if not isinstance(other, str):
            found = (each for each in side_by_side.differences(outcome, other) if not each.what.startswith("evidence"))
            self._must_equal(side_by_side.Difference(f"on a rebuilt cluster: {each.what}", *each[1:]) for each in found)

    # -- acting on the answer ------------------------------------------------------

    def _place(self, outcome: Attempt, random: Random) -> None:
        """Place a pod where the answer says, and see that the other answer would have left the same behind."""
        chance = random.random()
        name = outcome.chosen if chance < 0.6 else random.choice(outcome.ties)
        if chance > 0.95:  # as when somebody else decides
            name = random.choice(self._cluster.nodes_by_name.names)
        both = None
        if random.random() < 0.1:
            profile, pod = outcome.profile, outcome.pod
            other = attempt(profile, self._cluster, pod, self._scheduler.nominator, make_room=False)
            if name in other.ties:
                with self._scheduler.fork():
                    reservation = self._scheduler.place(other, name)
                    both = side_by_side.plain(reservation), side_by_side.picture(self._cluster)
        self._scheduler.rotate(outcome)
        reservation = self._scheduler.place(outcome, name)
        self._tell(f"  and placed on {name}" + ("" if reservation.status.successful else f": {reservation.status}"))
        if both is not None:
            self._must_equal(
                side_by_side.picture_differences(
                    {"reservation": side_by_side.plain(reservation)}, {"reservation": both[0]}
                )
            )
            after = side_by_side.picture(self._cluster) | {"next start": both[1]["next start"]}
            self._must_equal(
                side_by_side.Difference(f"placed: {each.what}", *each[1:])
                for each in side_by_side.picture_differences(after, both[1])
            )
        if reservation.status.successful:
            self._reserved[outcome.pod.key] = outcome, name
            if random.random() < 0.2:
                self._tell(f"  and bound: {self._scheduler.bind(outcome, name)}")
                del self._reserved[outcome.pod.key]

    def _make_room(self, outcome: Attempt, random: Random) -> None:
        """Follow up on a preemption, as a what-if does at once or as kube-scheduler does with a nomination."""
        result = outcome.post_filter
        if result is None or not result.nominated_node:
            return
        if random.random() < 0.5:
            self._tell(f"  and {len(result.victims)} pods are evicted from {result.nominated_node} for it")
            self._scheduler.make_room(outcome)
            self._ask(outcome.pod, random)
        else:
            self._tell(f"  and is promised {result.nominated_node}")
            self._scheduler.nominator.nominate(outcome.pod, result.nominated_node)

    def _tell(self, what: str) -> None:
        if what:
            self.story.append(f"  {what}")

    def _must_equal(self, differences: Iterable[side_by_side.Difference]) -> None:
        found = list(differences)
        if found:
            raise _DifferencesFound(found)


def _answer(ask: Callable[[], Attempt]) -> Attempt | str:
    """Return the answer, or in words why there is none."""
    try:
        return ask()
    except NotModelled as missing:
        return str(missing)
