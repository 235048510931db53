"""What one worker does with a study: it makes the scheduler of a scenario, or keeps it, and asks the question there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from schedctl.scheduler import Scheduler
from schedctl.session import comparisons, kube_versions
from schedctl.session.configurations import shipped_files
from schedctl.session.sessions import SchedulerOptions, Session
from schedctl.session.states import State, StateSource
from schedctl.session.version_options import VersionOptions
from schedctl.session.what_ifs import WhatIfs
from schedctl.studies import axes as axis
from schedctl.studies import configurations, forms, questions
from schedctl.studies.axes import Grid, Scenario
from schedctl.studies.questions import Answer, Setting

_KEPT = 4
"""Of how many combinations of state, version and configuration a worker keeps the scheduler."""


class SweepWork(msgspec.Struct, frozen=True):
    """Asks the question of a study in one scenario after another.

    Attributes:
        spec: the study.
        grid: its scenarios.
        state: the cluster, None where an axis has the states.
    """

    spec: forms.StudySpec
    grid: Grid
    state: State | None

    def begin(self) -> Callable[[int], Answer]:
        """Return what asks in the scenario of a number."""
        return _Asker(self).ask


class _Asker:
    """Asks in one worker, which keeps what scenarios have in common."""

    def __init__(self, work: SweepWork) -> None:
        self._work = work
        self._question = questions.question_of(work.spec)
        self._known: OrderedDict[tuple[object, ...], tuple[Session, Scheduler]] = OrderedDict()

    def ask(self, number: int) -> Answer:
        """Return the answer in a scenario."""
        scenario = self._work.grid[number]
        session, scheduler = self._common(scenario)
        session = session.with_what_ifs(WhatIfs(scenario.what_ifs))
        with scheduler.fork():
            return self._question(Setting(session, scheduler, scenario.value(axis.SEED)))

    def _common(self, scenario: Scenario) -> tuple[Session, Scheduler]:
        """Return the session and the scheduler of a scenario, without its what-ifs."""
        names = (axis.STATE, axis.VERSION, axis.GATES, axis.CONFIGURATION, axis.WEIGHTS)
        key = tuple(each.label if (each := scenario.values.get(name)) else None for name in names)
        found = self._known.get(key)
        if found is None:
            session = session_of(self._work.spec, scenario, self._work.state)
            found = self._known[key] = session, session.scheduler()
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return found


def session_of(spec: forms.StudySpec, scenario: Scenario, state: State | None) -> Session:
    """Return a session for what a scenario has of state, version, gates, configuration and weights; loaded.

    Raises:
        ConfigError: a configuration cannot be read, or kube-scheduler would refuse it.
        InputError: the state cannot be read.
        UsageError: there is no such version, profile, plugin or feature gate.
    """
    snapshot = scenario.value(axis.STATE)
    version = scenario.value(axis.VERSION, "")
    # a version that a study asks for has to be there; that of a cluster may be outside the range, which is told
    versions = VersionOptions(
        version, scenario.value(axis.GATES, ""), strict=bool(version), option="version", setting="version: "
    )
    source = StateSource((snapshot,) if snapshot else spec.state, versions=versions)
    named = scenario.value(axis.CONFIGURATION, spec.configuration)
    session = Session(source, options_of(named, spec.plugins))
    if snapshot or state is None:
        session.load()
    elif versions.kube_version or versions.feature_gates:
        session.rules = kube_versions.rules_of(versions, kube_versions.state_version(state.manifests, state.listing))
        session.load(source.state_under(state, session.rules, session.kinds))
    else:
        session.load(state)
    # as with --compare, a profile takes the place of the default scheduler, which the pods ask for
    choice, chosen = comparisons.as_default(session.choice), scenario.value(axis.WEIGHTS)
    configuration = configurations.with_arguments(choice.configuration, spec.arguments, choice.registry)
    if chosen is not None:
        configuration = configurations.with_weights(configuration, chosen)
    session.choices = [replace(choice, configuration=configuration)]
    return session


def options_of(configuration: str, plugins: tuple[str, ...]) -> SchedulerOptions:
    """Return the options for a configuration: a file, or a profile that ships."""
    is_file = Path(configuration).is_file() or configuration not in shipped_files()
    if configuration and not is_file:
        return SchedulerOptions(profile=configuration, plugins=plugins)
    return SchedulerOptions(configuration, plugins=plugins)
