"""What is not known of a cluster, for reports: which kinds are missing, and which answers rest on an assumption.

`engine.assumptions` decides which assumptions matter; here they get their words. What else reads the cluster than the
scheduler's plugins, admission and controllers, is heard by an `AssumptionLog`::

    with log_assumptions(cluster) as assumptions:
        facts = simulate(scheduler, ...)
    report(facts, guesses=assumptions.describe())
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from schedctl.api import policies, workloads
from schedctl.api.devices import ResourceClaimTemplate
from schedctl.api.gaps import Gap
from schedctl.api.kinds import KINDS, plural
from schedctl.api.meta import Namespace
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.storage import PersistentVolumeClaim, StorageClass
from schedctl.cache.cluster import Cluster
from schedctl.engine.assumptions import ADMISSION, FILTERING, PLACING, AbsentPlugin, Assumption, ForeignGroup
from schedctl.engine.attempts import Attempt
from schedctl.engine.certainty import assumptions_affecting_verdict
from schedctl.framework.extenders import EXTENDER_PLUGIN, Unanswered
from schedctl.framework.registries import Registry
from schedctl.plugins.in_tree import IN_TREE
from schedctl.reports.metadata import ABSENT, MissingKind, ReportedAssumption

_ADMISSION: dict[type, str] = {
    policies.LimitRange: "LimitRanger",
    Namespace: "NamespaceLifecycle",
    policies.PriorityClass: "Priority",
    policies.ResourceQuota: "ResourceQuota",
    policies.RuntimeClass: "RuntimeClass",
    StorageClass: "DefaultStorageClass",
}
"""The admission plugins, by kube-apiserver's names, that read a kind."""
_CONTROLLERS = frozenset(
    (
        workloads.CronJob,
        workloads.DaemonSet,
        workloads.Deployment,
        workloads.HorizontalPodAutoscaler,
        workloads.Job,
        PersistentVolumeClaim,
        policies.PodDisruptionBudget,
        workloads.ReplicaSet,
        workloads.ReplicationController,
        ResourceClaimTemplate,
        workloads.StatefulSet,
    )
)
"""The kinds that are read when controllers make or replace pods, and when pods are evicted."""
_WHY = {
    "Forbidden": "which may not be listed",
    "Unread": "which the API server serves in no version that schedctl reads",
    "LeftOut": "which were not requested",
    "Unwatched": "whose changes are not watched",
}
_ORDER = {point: place for place, point in enumerate((ADMISSION, "preEnqueue", *sorted(FILTERING), "postFilter"))}


class AssumptionLog:
    """Logs what the answers of a whole command rest on: what attempts guess, and what makes their pods reads.

    Attributes:
        guesses: what decides about some answer.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.guesses: set[Assumption] = set()
        self._cluster = cluster

    def read(self, kind: type) -> None:
        """Take down what admission and controllers read; what else is read outside of attempts decides nothing."""
        if kind in _ADMISSION or kind in _CONTROLLERS:
            self.guesses.add(Assumption(ADMISSION, _ADMISSION.get(kind, ""), kind))

    def after_attempt(self, outcome: Attempt) -> None:
        """Take down what an attempt rests on; see `schedctl.engine.attempts.AttemptObserver`."""
        self.guesses.update(assumptions_affecting_verdict(outcome))
        # Of several pods the order may decide, which is of no account for one.
        self.guesses.update(each for each in outcome.assumptions if each.point == "queueSort")

    def admission(self, unknown: Mapping[str, Iterable[type]]) -> None:
        """Take down what admission would have looked at for pods that were there before, by their keys."""
        if unknown:
            for kind in set[type]().union(*unknown.values()):
                self.read(kind)

    def describe(self) -> list[ReportedAssumption]:
        """Return what was logged, in words."""
        return _describe(self.guesses, self.guesses, self._cluster.missing, lambda _: "the answer is a guess")


@contextmanager
def log_assumptions(cluster: Cluster) -> Iterator[AssumptionLog]:
    """Hear what is read of missing kinds for the length of a ``with`` block."""
    assumptions = AssumptionLog(cluster)
    with cluster.observe_reads(assumptions):
        yield assumptions


def missing_kinds(cluster: Cluster, registry: Registry = IN_TREE) -> list[MissingKind]:
    """Return what could not be listed, in the order in which outputs list kinds."""
    return [
        MissingKind(kind.name, gap.reason, list(weakened_plugins(kind.struct, registry)), gap.text)
        for kind in (*KINDS, *registry.kinds)
        if (gap := cluster.missing.get(kind.struct)) is not None
    ]


def weakened_plugins(kind: type, registry: Registry = IN_TREE) -> tuple[str, ...]:
    """Return the plugins whose answers may be guesses without a kind: the scheduler's, then those of admission."""
    # Plugins do not declare that they read pods and nodes: all of them do.
    everybody = tuple(registry) if kind in (Node, Pod) else registry.plugins_reading(kind)
    return (*everybody, *((_ADMISSION[kind],) if kind in _ADMISSION else ()))


def guesses_of(outcome: Attempt, before: Collection[Assumption] = ()) -> list[ReportedAssumption]:
    """Return what the answer of an attempt rests on, what decides first.

    Args:
        outcome: the attempt.
        before: what was guessed when the pod was made.
    """
    deciding = assumptions_affecting_verdict(outcome) | frozenset(before)

    def consequence(points: Collection[str]) -> str:
        if outcome.error:
            return "the error is a guess"
        if outcome.chosen:
            filtered = not PLACING.union((ADMISSION,)).isdisjoint(points)
            return "that it fits, and where, is a guess" if filtered else "the chosen node is a guess"
        if set(points) == {"postFilter"}:
            return "the result of preemption is a guess"
        return "that no node is feasible is a guess" if outcome.is_unschedulable else "the answer is a guess"

    return _describe((*before, *_effective(outcome)), deciding, outcome.cluster.missing, consequence)


def _effective(outcome: Attempt) -> Collection[Assumption]:
    """The guesses that can have changed anything: where one node is left, nobody asks for scores."""
    scored = outcome.scoring is not None and len(outcome.scoring.nodes) > 1
    return [each for each in outcome.assumptions if scored or each.point not in ("preScore", "score")]


def _describe(
    guesses: Iterable[Assumption],
    deciding: Collection[Assumption],
    missing: dict[type, Gap],
    consequence: Callable[[Collection[str]], str],
) -> list[ReportedAssumption]:
    """Return guesses in words, one for each plugin and kind; what follows goes by the points at which they decide."""
    decides: dict[tuple[str, type], list[str]] = {}
    for guess in sorted(guesses, key=lambda each: (_ORDER.get(each.point, 9), each.plugin, each.kind.__name__)):
        points = decides.setdefault((guess.plugin, guess.kind), [])
        points += [guess.point] if guess in deciding else []
    found = []
    for (plugin, kind), points in decides.items():
        if kind is ForeignGroup:
            named, text = "PodGroup", f"{plugin} is not modelled, its pods are placed one by one"
        elif kind is AbsentPlugin:
            named, text = (
                ABSENT,
                f"{plugin} was not asked (not part of schedctl; `--plugin FILE` loads one of your own)",
            )
        elif issubclass(kind, Unanswered):
            named, text = EXTENDER_PLUGIN, f"{plugin} {kind.text}"
        else:
            named, what = kind.__name__, plural(kind.__name__)
            text = f"{plugin or 'kube-scheduler'} would also look at {what}, {_WHY[missing[kind].reason]}"
        then = consequence(points) if points else "it might give other reasons, which would change nothing"
        found.append(ReportedAssumption(plugin, named, bool(points), f"{text}: {then}"))
    return sorted(found, key=lambda each: not each.decides)
