"""What all use cases share: a state, configurations and what-ifs, in the order in which they come about.

The constructor chooses, `Session.load` reads, `Session.change` changes; what is asked then is in a file of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import msgspec

from schedctl.engine.call_recorder import CallRecorder
from schedctl.reports.metadata import Input, Metadata, PluginCalls
from schedctl.scheduler.gaps import missing_kinds
from schedctl.session import comparisons, configurations, kube_versions, schedulers, what_ifs
from schedctl.session.deferred_resizes import warn_of_resizes
from schedctl.session.extenders import NO_EXTENDERS, ExtenderOptions
from schedctl.session.kube_versions import VersionFields
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.session.what_ifs import NO_WHAT_IFS, WhatIfs
from schedctl.simulation import broken_groups

if TYPE_CHECKING:
    from schedctl.api.kinds import Kind
    from schedctl.cache.cluster import Cluster
    from schedctl.reports.pod_groups import BrokenGroup
    from schedctl.scheduler import Scheduler
    from schedctl.session.configurations import ConfigurationChoice
    from schedctl.session.names import Names
    from schedctl.session.states import About, State, StateSource
    from schedctl.simulation.what_ifs import WhatIfResult
    from schedctl.sources import Manifests


R = TypeVar("R", bound=msgspec.Struct)


class SchedulerOptions(msgspec.Struct, frozen=True):
    """Which scheduler is asked.

    Attributes:
        configuration: the file of a KubeSchedulerConfiguration, ``-``, or "" for the one in force.
        profile: the profile that every pod is placed by, "" for the one it asks for.
        compare: configurations and profiles whose answers are compared with the first one's.
        plugins: what ``--plugin`` names.
        extenders: what may be asked of extenders.
    """

    configuration: str = ""
    profile: str = ""
    compare: Sequence[str] = ()
    plugins: Sequence[str] = ()
    extenders: ExtenderOptions = NO_EXTENDERS


class Session:
    """A state, the configurations that were chosen for it, and what is changed before the question.

    Attributes:
        source: where the state is read from.
        options: which scheduler is asked.
        choices: the configurations; the others are compared with the first.
        state: the state, once it is loaded.
        rules: the kube-scheduler that judges, for good once the state is loaded.
        changes: what the what-ifs did, once they are made.
        broken_groups: the gangs that they leave with fewer pods on nodes than they need.
        notifier: hears what is said on the way.

    Raises:
        ClusterError: the cluster cannot be asked for its configuration.
        ConfigError: a configuration cannot be read, or kube-scheduler would refuse it.
        UsageError: there is no such profile, or a plugin cannot be loaded.
    """

    state: State

    def __init__(
        self,
        source: StateSource,
        options: SchedulerOptions | None = None,
        notifier: Notifier = SILENT,
        what_ifs: WhatIfs = NO_WHAT_IFS,
        kinds: tuple[Kind, ...] = (),
    ) -> None:
        """Choose the configurations; nothing is read yet.

        Args:
            source: where the state is read from.
            options: which scheduler is asked.
            notifier: hears what is said on the way.
            what_ifs: what is changed before the question.
            kinds: further kinds that the question is about, and no plugin reads.
        """
        options = options or SchedulerOptions()
        self._kinds = kinds
        self.source = source
        self.notifier = notifier
        self.changes: list[WhatIfResult] = []
        self.broken_groups: list[BrokenGroup] = []
        # Which gates can be set depends on the version, which the state may have to say first.
        self.rules = kube_versions.rules_of(source.versions) if source.versions.kube_version else kube_versions.Rules()
        self.options = options
        self._extenders = options.extenders
        self._what_ifs = what_ifs
        self._reporter = schedulers.PluginFaultReporter(notifier)
        self._recorder = CallRecorder() if notifier.verbose else None
        # Chosen before anything is read: a mistake in an option is told before a long listing, not after it.
        self.choices = self._choose(notifier)

    @property
    def choice(self) -> ConfigurationChoice:
        """The configuration in force; where several are compared, the first."""
        return self.choices[0]

    @property
    def names(self) -> Names:
        """The names in the question, as the state has them."""
        return self.state.names

    @property
    def cluster(self) -> Cluster:
        """The cluster in memory."""
        return self.state.assembled.cluster

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that plugins read and that are not Kubernetes' own."""
        return configurations.kinds(self.choices)

    @property
    def kinds_of_state(self) -> tuple[Kind, ...]:
        """Those that are read of the state: besides those of plugins what the question is about."""
        return (*self.kinds, *self._kinds)

    def read_also(self, kinds: Iterable[Kind]) -> None:
        """Have further kinds read of the state, which is not loaded yet."""
        self._kinds = tuple(dict.fromkeys((*self._kinds, *kinds)))

    def load(self, state: State | None = None, *, about: About | None = None, created: Manifests | None = None) -> None:
        """Read the state, and complete the configurations by what it says.

        Args:
            state: the state where it was read already.
            about: whether a pod or workload is asked about; see `StateSource.load`.
            created: the manifests that are asked about; likewise.

        Raises:
            ClusterError: the live cluster cannot be read.
            ConfigError: kube-scheduler would refuse the configuration in a snapshot.
            InputError: the files cannot be read or understood, or hold nothing.
            UsageError: there are snapshots with different configurations, or the options of extenders do not fit.
        """
        # The plugins of the chosen configurations say which kinds are read; what a snapshot says completes the choice.
        self.state = state or self.source.load(self.notifier, kinds=self.kinds_of_state, about=about, created=created)
        chosen_for, self.rules = self.rules.release, self.state.rules or self.rules
        if self.rules.release != chosen_for:
            self.choices = self._choose(SILENT)
        self.choices = comparisons.complete(self.choices, self.state, self._extenders, self.notifier)
        if self.source.redaction is not None:
            self.choices = [*map(configurations.hide_names, self.choices)]
        self._what_ifs = msgspec.structs.replace(self._what_ifs, names=self.names)
        kube_versions.tell(self.rules, self.notifier)
        warn_of_resizes(self.cluster, self.notifier)

    def under_version(self, version: str) -> Session:
        """Return the same state and options under another version of kube-scheduler.

        Raises:
            ConfigError: that kube-scheduler would refuse the configuration.
            UsageError: it is no version, or none that is reproduced and has to be; or it refuses a feature gate.
        """
        versions = msgspec.structs.replace(
            self.source.versions, kube_version=version, option="--compare-version", setting="--compare-version "
        )
        source = replace(self.source, versions=versions)
        other = Session(source, self.options, SILENT, self._what_ifs, self._kinds)
        kube_versions.tell_nearest(other.rules, self.notifier)
        other.load(source.state_under(self.state, other.rules, other.kinds_of_state))
        other.notifier, other._reporter, other._recorder = self.notifier, self._reporter, self._recorder
        return other

    def with_what_ifs(self, what_ifs: WhatIfs) -> Session:
        """Return a session about the same state and configurations with other changes, none of which is made yet."""
        other = copy(self)
        other._what_ifs, other.changes, other.broken_groups = what_ifs, [], []
        return other

    def silent(self) -> Session:
        """Return the same session that says nothing, for work that is done many times over."""
        other = copy(self)
        other.notifier, other._reporter, other._recorder = SILENT, schedulers.PluginFaultReporter(SILENT), None
        return other

    def _choose(self, notifier: Notifier) -> list[ConfigurationChoice]:
        options = self.options
        return comparisons.choose(
            options.compare,
            options.configuration,
            options.profile,
            self.source,
            options.plugins,
            notifier,
            self.rules.release,
        )

    def change(self, namespace: str = "") -> None:
        """Carry the what-ifs out.

        Args:
            namespace: of pods and workloads that name none; "" for the usual one.

        Raises:
            UsageError: one cannot be read, or what it is about is not there.
            InputError: a file of nodes cannot be understood.
        """
        groups = broken_groups.pods_on_nodes(self.cluster) if self._what_ifs else {}
        self.changes = self._what_ifs.apply(self.cluster, namespace)
        self.broken_groups = broken_groups.broken_since(groups, self.cluster) if groups else []

    @property
    def change_texts(self) -> list[str]:
        """What was laid over the live cluster and what the what-ifs did, in words, and which gangs they break."""
        broken = (f"podgroup {each.group} would break: {each.text}" for each in self.broken_groups)
        return [*self.state.overlay, *(each.text for each in self.changes), *broken]

    @property
    def what_if_words(self) -> tuple[tuple[str, str], ...]:
        """The what-ifs as they are written: words of the command line, and their texts."""
        return self._what_ifs.written

    @property
    def inputs(self) -> list[Input]:
        """The digests of the files of the state, as reports list them."""
        return self.inputs_with({}, {})

    def inputs_with(self, manifests: Mapping[str, str], settings: Mapping[str, str]) -> list[Input]:
        """Return them with those of what is to be created and of the settings; none where names are redacted."""
        if self.source.redaction is not None:
            return []
        found = [Input(source=name, digest=digest, role="Manifests") for name, digest in manifests.items()]
        state = self.state.manifests.digests
        found += [Input(source=name, digest=digest, role="State") for name, digest in state.items()]
        return found + [Input(source=name, digest=digest, role="Config") for name, digest in settings.items()]

    @property
    def version_fields(self) -> VersionFields:
        """What every report says of the kube-scheduler that judged, by the names of `Metadata`."""
        return kube_versions.fields(self.rules)

    def metadata(self, settled: Sequence[str] = ()) -> Metadata:
        """Return what a report says of the state and the configuration, as they are now.

        Args:
            settled: what `settle` returned.
        """
        return Metadata(
            configuration=self.choice.origin,
            what_if=[*self.change_texts, *settled],
            inputs=self.inputs,
            missing=missing_kinds(self.cluster, self.choice.registry),
            **self.version_fields,
        )

    def scheduler(self, choice: ConfigurationChoice | None = None) -> Scheduler:
        """Return a scheduler over the cluster, by the configuration in force unless another one is given."""
        return schedulers.build(self.cluster, choice or self.choice, self._reporter, self._recorder)

    def with_calls(self, report: R) -> R:
        """Return a report that says, where the notifier is verbose, how often plugins were called up to now."""
        if self._recorder is None:
            return report
        calls = [
            PluginCalls(
                extension_point=point,
                plugin=plugin,
                calls=count.calls,
                seconds=round(count.seconds, 6),
                rows=count.rows,
            )
            for point, plugin, count in self._recorder.in_cycle_order()
        ]
        conditions: Metadata = report.metadata  # type: ignore[attr-defined]
        metadata = msgspec.structs.replace(conditions, plugin_calls=calls)
        return msgspec.structs.replace(report, metadata=metadata)

    def settle(self, scheduler: Scheduler) -> list[str]:
        """Place the pods that what-ifs took off their nodes; return a line about that, or none."""
        return what_ifs.settle(self.changes, scheduler)
