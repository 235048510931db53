"""What ``--compare`` stands for: the same question asked under several configurations over one state.

The state is read once. Each side gets a scheduler of its own on a fork of the same cluster, so that none sees what
another has done, and the cluster is as before at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from schedctl.cli import faults
from schedctl.cli.progress import Bar
from schedctl.config.types import DEFAULT_SCHEDULER
from schedctl.errors import Problem, UsageError
from schedctl.reports.metadata import Side
from schedctl.scheduler import Scheduler, discovery
from schedctl.scheduler.gaps import Gathering, gathering
from schedctl.scheduler.sides import sides
from schedctl.session import configurations
from schedctl.session.explain import answers
from schedctl.simulation import utilisation

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster
    from schedctl.reports.metadata import Metadata
    from schedctl.reports.pod_comparisons import ExplainComparison
    from schedctl.reports.run_comparisons import SimulationComparison
    from schedctl.session.configurations import Chosen
    from schedctl.session.extenders import Extending
    from schedctl.session.states import State, Where
    from schedctl.simulation.simulations import Simulation


def choose(
    compare: Sequence[str], path: str, profile: str, where: Where, plugins: Sequence[str] | None
) -> list[Chosen]:
    """Return the configurations of a command; one, where nothing is compared.

    The first is what the others are compared with: the one in force, unless ``--compare`` names two or more and nobody
    says which is. A profile that was named takes the place of the default scheduler in its configuration: then pods
    that are not asked about, and those that come back after an eviction, are placed by it as well.

    Args:
        compare: what ``--compare`` names, files and profiles that ship.
        path: of ``--scheduler-config``, see `schedctl.session.configurations.choose`.
        profile: likewise.
        where: likewise.
        plugins: likewise.

    Raises:
        ClusterError: the cluster cannot be asked.
        ConfigError: a configuration cannot be read, or kube-scheduler would refuse it.
        UsageError: there is no such profile, or a plugin cannot be loaded.
    """
    found = discovery.find(plugins or ()) if compare else configurations.NO_OTHERS
    others = [_named(text, found) for text in compare]
    if len(others) > 1 and not (path or profile or where.configured):
        return [_as_default(each) for each in others]
    chosen = configurations.choose(path, profile, where, plugins)
    return [_as_default(each) for each in (chosen, *others)] if others else [chosen]


def _named(text: str, plugins: discovery.Found) -> Chosen:
    """Return what one ``--compare`` names: a profile that ships, or a file."""
    if Path(text).is_file():
        return configurations.given(text, plugins)
    try:
        return configurations.shipped_profile(text, plugins)
    except UsageError as mistake:
        raise UsageError(f"{mistake}, and no file of that name", mistake.hint) from None


def _as_default(chosen: Chosen) -> Chosen:
    """Return a choice of a profile as a configuration in which the default scheduler is that profile."""
    if not chosen.profile:
        return chosen
    profiles = {one.scheduler_name: one for one in chosen.configuration.profiles}
    origin = chosen.origin
    if chosen.profile != DEFAULT_SCHEDULER:
        profiles[DEFAULT_SCHEDULER] = msgspec.structs.replace(
            profiles[chosen.profile], scheduler_name=DEFAULT_SCHEDULER
        )
        origin = f"{origin}, profile {chosen.profile} as {DEFAULT_SCHEDULER}"
    configuration = msgspec.structs.replace(chosen.configuration, profiles=tuple(profiles.values()))
    return replace(chosen, configuration=configuration, origin=origin, profile="")


def completed(given: Sequence[Chosen], state: State, extending: Extending, *, quiet: bool) -> list[Chosen]:
    """Return what was chosen, each as the state and the options about extenders complete it.

    Raises:
        ConfigError: kube-scheduler would refuse the configuration in the snapshot, or TLS settings cannot be used.
        InputError: the record of extenders' answers cannot be read.
        UsageError: there are snapshots with different configurations, or several sides would write one record.
    """
    if len(given) > 1:
        alone(("--extender-record", extending.record))
    found = [configurations.completed(each, state, quiet=quiet) for each in given]
    for each in found if len(found) > 1 and not quiet else ():
        names = [one.scheduler_name for one in each.configuration.profiles]
        if DEFAULT_SCHEDULER not in names:
            faults.say(
                f"warning: no profile of {each.origin} is called {DEFAULT_SCHEDULER}, so that pods must ask for"
                f" {' or '.join(names)}",
                "`--compare NAME` puts a profile of `schedctl profiles list` in the place of the default scheduler",
            )
    return [extending.connected(each, quiet=quiet, compared=len(found) > 1) for each in found]


def alone(*given: tuple[str, object]) -> None:
    """See to it that nothing is asked for that only one configuration can answer.

    Raises:
        UsageError: it is.
    """
    asked = [option for option, wanted in given if wanted]
    if asked:
        raise UsageError(f"--compare and {asked[0]} were both given", f"ask for {asked[0]} under one configuration")


def explained(
    chosen: Sequence[Chosen],
    objects: Sequence[Any],
    state: State,
    *,
    metadata: Metadata,
    fail: bool,
    progress: bool,
) -> ExplainComparison:
    """Return the comparison of what each configuration says of the same pods; the cluster is as before.

    Args:
        chosen: the configurations; the others are compared with the first.
        objects: pods and workloads.
        state: the state.
        metadata: under which conditions they are asked.
        fail: ``--exit-code``.
        progress: whether a bar is shown.
    """
    from schedctl.explain import comparisons

    cluster = state.assembled.cluster
    found = []
    for side, each in zip(_sides(chosen), chosen, strict=True):
        with cluster.fork(), Bar(f"explaining {side.name}", wanted=progress) as bar:
            asked = answers(
                Scheduler(cluster, each.configuration, each.registry, extenders=each.extenders),
                objects,
                profile="",
                matrix=False,
                node="",
                sampling=metadata.sampling,
                advance=bar.advance,
                unknown=state.assembled.unknown,
                hints=False,
            )
            found.append(list(asked))
    zones = utilisation.zones(cluster)
    return comparisons.compare(_sides(chosen), found, metadata=metadata, zones=zones, fail=fail)


def simulated(
    chosen: Sequence[Chosen],
    run: Callable[[Chosen], tuple[Scheduler, Simulation]],
    cluster: Cluster,
    *,
    metadata: Metadata,
    problems: Sequence[Problem],
    unknown: Mapping[str, Collection[type]],
    gathered: Gathering,
    fail: bool,
) -> SimulationComparison:
    """Return the comparison of what each configuration makes of the same manifests; the cluster is as before.

    Args:
        chosen: the configurations; the others are compared with the first.
        run: carries the manifests out under one of them.
        cluster: the cluster, which runs change.
        metadata: under which conditions.
        problems: why objects of the manifests did not take part.
        unknown: see `schedctl.scheduler.gaps.Gathering.admission`.
        gathered: what all runs rest on.
        fail: ``--exit-code``.

    Raises:
        KeyboardInterrupt: somebody interrupted a run, so that there is nothing to compare.
    """
    from schedctl.simulation import comparisons, report_builder
    from schedctl.simulation.outcomes import RunEnd

    runs = []
    for side, each in zip(_sides(chosen), chosen, strict=True):
        with cluster.fork(), gathering(cluster) as own:
            own.guesses |= gathered.guesses
            _, facts = run(each)
            if facts.run.end is RunEnd.INTERRUPTED:
                raise KeyboardInterrupt
            own.admission(unknown)
            report = report_builder.report(facts, cluster, metadata=metadata, problems=problems, guesses=own.told())
        runs.append(comparisons.Ran.of(side, report, facts))
    faults.report(facts.expansion.refused, "error")
    return comparisons.compare(runs, metadata=metadata, zones=utilisation.zones(cluster), fail=fail)


def _sides(chosen: Sequence[Chosen]) -> list[Side]:
    return sides(each.origin for each in chosen)
