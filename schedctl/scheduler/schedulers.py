"""`Scheduler`: profiles by scheduler name over one cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod
from schedctl.cache.arrays import IndexArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config import loading
from schedctl.config.expansion import expand_all
from schedctl.config.types import SchedulerConfiguration
from schedctl.engine.attempts import Attempt, attempt, filter_only
from schedctl.engine.batching.signature_cache import SignatureCache, signature
from schedctl.engine.binding import BindingCycle, Reservation
from schedctl.engine.clocks import Clock
from schedctl.engine.faults import CycleError
from schedctl.engine.groups.cycles import GroupAttempt, attempt_group, group_cycle
from schedctl.engine.groups.trials import NodeChooser, Surroundings, Trial, first_by_name, place_in
from schedctl.engine.handles import ProfileHandle
from schedctl.engine.nominators import Nominator
from schedctl.engine.queue.group_queue import GroupQueue
from schedctl.engine.queue.hints import Hints
from schedctl.engine.queue.preemptors import Preemptors
from schedctl.engine.queue.queues import Backoff, Mover, SchedulingQueue
from schedctl.engine.reporters import Reporter
from schedctl.errors import ConfigError
from schedctl.framework.extenders import Extender, in_order
from schedctl.framework.group_points import Placement
from schedctl.framework.live_binds import LiveBind
from schedctl.framework.points import Plugin
from schedctl.framework.profiles import Profile
from schedctl.framework.registries import Registry
from schedctl.framework.statuses import Status
from schedctl.plugins.in_tree import IN_TREE
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.scheduler.configurations import load_configuration
from schedctl.scheduler.profiles import build

if TYPE_CHECKING:
    from schedctl.scheduler.judgements import Judgement
    from schedctl.scheduler.plugin_references import PluginReference

ADAPTIVE = 0
"""The ``percentageOfNodesToScore`` that depends on the size of the cluster."""


class Scheduler:
    """A dry-run scheduler over a cluster in memory.

    Attributes:
        cluster: what pods are placed on; attempts leave it as it was, `place` does not.
        configuration: what it was made from.
        profiles: by scheduler name.
        handles: what the plugins of each profile see of the scheduler, by scheduler name.
        nominator: pods promised to nodes, from the pending pods' statuses.
        registry: the plugins there are.
        preemptors: pods with evictions under way; `make_room` evicts at once, so only a run has any.

    Raises:
        ConfigError: the configuration names unknown plugins or breaks a rule that needs the registry, or a plugin
            cannot be made.
    """

    def __init__(
        self,
        cluster: Cluster,
        configuration: SchedulerConfiguration | None = None,
        registry: Registry = IN_TREE,
        reporter: Reporter | None = None,
        extenders: Sequence[Extender] | None = None,
    ) -> None:
        self.cluster = cluster
        self.configuration = configuration or loading.default()
        self.nominator = Nominator()
        self.preemptors = Preemptors(cluster)
        self.registry = registry
        self.handles: dict[str, ProfileHandle] = {}
        self.profiles: dict[str, Profile] = {}
        self._reporter = reporter or Reporter()
        self._cache = SignatureCache(cluster)
        if extenders is None:
            extenders = [Extender(each, name) for each, name in in_order(self.configuration.extenders)]
        expanded, problems = expand_all(self.configuration, registry, partial=True)
        if problems:
            raise ConfigError(problems)
        names = frozenset(each.scheduler_name for each in self.configuration.profiles)
        for profile_config in self.configuration.profiles:
            handle = ProfileHandle(cluster, self.nominator, self.preemptors, self._reporter, names)
            profile = build(profile_config, expanded[profile_config.scheduler_name], registry, handle)
            profile = replace(profile, extenders=tuple(extenders))
            handle.profile = profile  # only now: its plugins were made with the handle
            self.handles[profile.scheduler_name] = handle
            self.profiles[profile.scheduler_name] = profile
        # A pod of another scheduler holds no room by its nomination.
        for info in filter(self.profile_of, cluster.pending.values()):
            self.nominator.nominate(info, info.pod.status.nominated_node_name)

    @classmethod
    def configured(
        cls, cluster: Cluster, configuration: str | bytes | Path = b"", plugins: Iterable[type[Plugin] | str] = ()
    ) -> Scheduler:
        """Return a scheduler that follows a configuration, and may have plugins that are not Kubernetes' own.

        Args:
            cluster: what pods are placed on.
            configuration: a KubeSchedulerConfiguration, YAML or JSON, or the path of one; Kubernetes' defaults if
                empty, in which the plugins take part.
            plugins: classes, or what ``--plugin`` takes: ``module:Class``, ``file.py``.

        Raises:
            ConfigError: the configuration cannot be read or followed, or a plugin cannot be made.
            UsageError: a plugin cannot be loaded, is none, or has the name of another.
        """
        chosen, registry = load_configuration(configuration, plugins, cluster.release)
        return cls(cluster, chosen, registry)

    def __reduce__(self) -> tuple[Callable[..., Scheduler], tuple[object, ...]]:
        """Return what a copy in another process is made of: its plugins are made there, and know nothing yet.

        Who hears of faults stays here; the files of plugins have to be there, too.
        """
        from schedctl.scheduler.plugin_references import refer

        nominations = [(pod, node) for node in self.nominator for pod in self.nominator.pods(node)]
        extenders = next((profile.extenders for profile in self.profiles.values()), ())
        return _copy, (self.cluster, self.configuration, refer(self.registry), extenders, nominations)

    def profile_of(self, pod: PodInfo) -> Profile | None:
        """Return the profile that serves a pod, None when its scheduler is another one."""
        return self.profiles.get(pod.pod.spec.scheduler_name)

    def queue(self, clock: Clock, moved: Mover | None = None) -> SchedulingQueue:
        """Return an empty queue for the pods of all profiles.

        Args:
            clock: its time.
            moved: called after each move of a pod.
        """
        config = self.configuration
        backoff = Backoff(config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds)
        hints = Hints(self.profiles.values(), self._reporter, self.cluster.release)
        if not self.cluster.release.enabled(GENERIC_WORKLOAD):
            return SchedulingQueue(hints, clock, backoff, moved)
        return GroupQueue(hints, clock, backoff, moved, find_group=lambda key: self.cluster.get(PodGroup, key))

    def attempt(
        self,
        pod: PodInfo | Pod,
        *,
        sampling: bool = False,
        make_room: bool = True,
        admitted: bool = False,
        lazy: bool = False,
    ) -> Attempt:
        """Run one scheduling cycle for a pod and return its facts; nothing is placed.

        Args:
            pod: the pod, defaulted. A pod that stands in the cluster counts there: remove it first to ask anew.
            sampling: look at as many nodes as kube-scheduler would, instead of all.
            make_room: whether to run PostFilter when no node is feasible.
            admitted: whether PreEnqueue has let the pod in already, as it has those that come out of a queue.
            lazy: where no node is feasible, work out why only when it is read, as long as the cluster stays as it is;
                for whoever asks many pods whether they fit.

        Raises:
            KeyError: no profile serves the pod's scheduler name.
        """
        info = (pod if isinstance(pod, PodInfo) else PodInfo(pod)).count_by(self.cluster.request_rules)
        profile = self.profiles[info.pod.spec.scheduler_name]
        return attempt(
            profile,
            self.cluster,
            info,
            self.nominator,
            percentage=self.percentage(profile) if sampling else None,
            # What an extender answers may change at any time, so nothing is reused.
            cache=None if profile.extenders else self._cache,
            make_room=make_room,
            admitted=admitted,
            lazy=lazy,
        )

    def attempt_group(
        self,
        group: PodGroup,
        pods: Sequence[PodInfo],
        *,
        make_room: bool = True,
        choose: NodeChooser = first_by_name,
    ) -> GroupAttempt:
        """Run the scheduling cycle of a pod group and return its facts; nothing is placed.

        Args:
            group: the group.
            pods: its pods that are to be placed, at least one, in the order of trying.
            make_room: whether to run PodGroupPostFilter when no placement will do.
            choose: which of several equally good nodes a pod takes.
        """
        cycle = group_cycle(self.cluster, group, pods)
        return attempt_group(
            msgspec.structs.replace(self._surroundings(pods), choose=choose), cycle, self.profiles, make_room=make_room
        )

    def place_whole_group(self, group: PodGroup, pods: Sequence[PodInfo], placement: Placement) -> Trial:
        """Try every pod of a group in a placement, also those that kube-scheduler would no longer try.

        Args:
            group: the group.
            pods: its pods that are to be placed, at least one, in the order of trying.
            placement: the nodes, as `attempt_group` returned them.
        """
        whole = len(placement.nodes) == len(self.cluster.nodes)
        cycle = group_cycle(self.cluster, group, pods)
        return place_in(self._surroundings(pods), cycle, placement, whole=whole, to_the_end=True)

    def _surroundings(self, pods: Sequence[PodInfo]) -> Surroundings:
        # where no profile serves them, which the group's rules find out, it does not matter which one is asked
        profile = self.profile_of(pods[0]) or next(iter(self.profiles.values()))
        cache = None if profile.extenders else self._cache
        return Surroundings(profile, self.cluster, self.nominator, cache)

    def judge(
        self, pod: PodInfo | Pod, nodes: Iterable[str] | None = None, plugins: Collection[str] | None = None
    ) -> Judgement:
        """Return what PreFilter and Filter say of a pod, node by node; nothing else is run, and nothing is placed.

        Args:
            pod: the pod, defaulted; see `attempt`.
            nodes: the names of the nodes to ask about, all if None.
            plugins: the names of the plugins to ask, all of the pod's profile if None.

        Raises:
            KeyError: no profile serves the pod's scheduler name, or there is no such node.
            ValueError: the profile has no such plugin.
        """
        from schedctl.scheduler.judgements import judgement_of

        outcome, column = self._filter_only(pod, nodes, plugins)
        return judgement_of(outcome, column.names)

    def feasible_nodes(
        self, pod: PodInfo | Pod, nodes: Iterable[str] | None = None, plugins: Collection[str] | None = None
    ) -> tuple[str, ...]:
        """Return the nodes on which PreFilter and Filter let a pod be: those of `judge`, without a word on the others.

        Args:
            pod: the pod, defaulted; see `attempt`.
            nodes: the names of the nodes to ask about, all if None.
            plugins: the names of the plugins to ask, all of the pod's profile if None.

        Raises:
            KeyError: no profile serves the pod's scheduler name, or there is no such node.
            ValueError: the profile has no such plugin.
        """
        outcome, column = self._filter_only(pod, nodes, plugins)
        filtering = outcome.filtering
        if filtering is None:
            return ()
        fits = {filtering.nodes.names[at] for at in np.flatnonzero(filtering.feasible).tolist()}
        return tuple(name for name in column.names if name in fits)

    def feasible_rows(self, pod: PodInfo | Pod, plugins: Collection[str] | None = None) -> IndexArray:
        """Return the rows of the nodes on which PreFilter and Filter let a pod be, intp; see `feasible_nodes`.

        Args:
            pod: the pod, defaulted; see `attempt`.
            plugins: the names of the plugins to ask, all of the pod's profile if None.

        Raises:
            KeyError: no profile serves the pod's scheduler name.
            ValueError: the profile has no such plugin.
        """
        filtering = self._filter_only(pod, None, plugins)[0].filtering
        return np.empty(0, np.intp) if filtering is None else filtering.nodes.rows[filtering.feasible]

    def _filter_only(
        self, pod: PodInfo | Pod, nodes: Iterable[str] | None, plugins: Collection[str] | None
    ) -> tuple[Attempt, Nodes]:
        """Run PreFilter and Filter alone, and return what comes of it and the nodes in question."""
        from schedctl.scheduler.judgements import with_plugins_only

        info = (pod if isinstance(pod, PodInfo) else PodInfo(pod)).count_by(self.cluster.request_rules)
        profile = self.profiles[info.pod.spec.scheduler_name]
        if plugins is not None:
            profile = with_plugins_only(profile, plugins)
        if nodes is None:
            column = self.cluster.nodes_by_name
        else:
            row_of, names = self.cluster.node_table.row_of, list(nodes)
            unknown = [name for name in names if name not in row_of]
            if unknown:
                raise KeyError(f"node {unknown[0]} not found")
            column = self.cluster.nodes_named(names)
        return filter_only(profile, self.cluster, info, self.nominator, column), column

    def percentage(self, profile: Profile) -> int:
        """Return the ``percentageOfNodesToScore`` that kube-scheduler goes by in a profile."""
        of_profile = profile.percentage_of_nodes_to_score
        return of_profile if of_profile is not None else self.configuration.percentage_of_nodes_to_score or ADAPTIVE

    def equivalence_key(self, pod: PodInfo) -> Hashable | None:
        """Return something that is equal for pods that are refused for the same reasons on an equal cluster.

        None where nothing can be said: a plugin that decides about the pod, PostFilter included, declares no reuse,
        there are extenders, the pod is promised a node, or has claims, which refusals name.
        """
        profile = self.profiles[pod.pod.spec.scheduler_name]
        if profile.extenders:
            return None
        if self.nominator.node_of(pod) or pod.pod.status.nominated_node_name or pod.is_terminating:
            return None
        spec = pod.pod.spec
        if spec.resource_claims or any(v.persistent_volume_claim or v.ephemeral for v in spec.volumes or ()):
            return None
        try:
            return signature(profile, pod, (*profile.deciding_plugins, *profile.post_filter))
        except CycleError:  # which the attempt will tell of
            return None

    @contextmanager
    def fork(self) -> Iterator[None]:
        """Place pods and make room for the length of a ``with`` block; leaving it undoes everything."""
        with self.cluster.fork(), self.nominator.fork():
            yield

    def make_room(self, outcome: Attempt) -> None:
        """Do what the PostFilter plugins of an attempt did to make room: change objects, and evict victims.

        Those on their way out already are left to it. Pods of lower priority that were promised the node lose it; the
        preemptor is not promised it, for it is expected to be tried again at once.
        """
        self.settle(outcome)
        result = outcome.post_filter
        if result is None or not result.nominated_node:
            return
        for victim in result.victims:
            if not victim.is_terminating:
                self.cluster.remove_pod(victim)
        for other in tuple(self.nominator.pods(result.nominated_node)):
            if other.priority < outcome.pod.priority:
                self.nominator.withdraw(other)

    def settle(self, outcome: Attempt) -> None:
        """Change the objects that the PostFilter plugins of an attempt changed, such as claims that lose devices."""
        result = outcome.post_filter
        for obj in () if result is None else result.objects:
            self.cluster.put(obj)
        for obj in () if result is None else result.removed:
            self.cluster.delete(obj)

    def place(self, outcome: Attempt, node_name: str | None = None) -> Reservation:
        """Assume the pod of a successful attempt on its chosen node (or this one) and reserve what it needs.

        Raises:
            KeyError: there is no such node.
            ValueError: the pod is on a node already.
        """
        reservation = self.binding_cycle(outcome, node_name).reserve()
        if reservation.status.successful or reservation.waits:
            self.nominator.withdraw(outcome.pod)
        return reservation

    def bind(self, outcome: Attempt, node_name: str | None = None) -> Status:
        """Carry a placed pod through PreBind, Bind and PostBind, as a dry run: nothing leaves this process."""
        cycle = self.binding_cycle(outcome, node_name)
        status = cycle.pre_bind()
        if status.successful:
            status = cycle.bind()
        if status.successful:
            cycle.post_bind()
        return status

    def has_to_pre_bind(self, outcome: Attempt, node_name: str) -> bool:
        """Return whether PreBind has anything to do for a placed pod."""
        return any(each.pre_bind_pre_flight(outcome.cycle, node_name) for each in outcome.profile.pre_bind)

    def release(self, outcome: Attempt, node_name: str, status: Status) -> None:
        """Take a placed pod back, for the reason given: what it reserved is free, and it is pending again.

        One that is pending, or placed on another node by now, is left as it is.
        """
        key, elsewhere = outcome.pod.key, self.cluster.node_of(outcome.pod.key) not in (None, node_name)
        if key not in self.cluster.pending and not elsewhere:
            self.binding_cycle(outcome, node_name).give_up(status)

    def binding_cycle(
        self,
        outcome: Attempt,
        node_name: str | None = None,
        live: LiveBind | None = None,
        reporter: Reporter | None = None,
    ) -> BindingCycle:
        """Return the binding cycle of a successful attempt, which nobody has begun.

        Args:
            outcome: the attempt.
            node_name: the node, None for the chosen one.
            live: the live cluster, None for a dry run.
            reporter: hears of every call, None for that of the scheduler.
        """
        return BindingCycle(
            outcome.profile, self.cluster, outcome.cycle, node_name or outcome.chosen, reporter or self._reporter, live
        )

    def rotate(self, outcome: Attempt) -> None:
        """Let the next sampled cycle begin at the node after the last that this one looked at."""
        if outcome.sampled is not None and outcome.filtering is not None:
            start = self.cluster.next_start + outcome.filtering.evaluated_nodes
            self.cluster.start_next_at(start % outcome.total_nodes)


def _copy(
    cluster: Cluster,
    configuration: SchedulerConfiguration,
    plugins: Iterable[PluginReference],
    extenders: Sequence[Extender],
    nominations: Sequence[tuple[PodInfo, str]],
) -> Scheduler:
    from schedctl.scheduler.plugin_references import resolve

    copy = Scheduler(cluster, configuration, resolve(plugins), extenders=extenders)
    for node in tuple(copy.nominator):
        for pod in tuple(copy.nominator.pods(node)):
            copy.nominator.withdraw(pod)
    for pod, node in nominations:
        copy.nominator.nominate(pod, node)
    return copy
