"""A study carried out: every scenario asked on the engine, its rows written, and what all of them come to."""

from __future__ import annotations

import hashlib
import heapq
import shlex
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from schedctl.documents.spelling import suggest_names
from schedctl.errors import UsageError
from schedctl.reports import exit_codes
from schedctl.reports.metadata import Metadata
from schedctl.reports.sweeps import PendingShare, SweepCase, SweepGroup, SweepHead, SweepReport, SweepRow, SweepSummary
from schedctl.scheduler import Scheduler
from schedctl.session import comparisons, kube_versions
from schedctl.session.configurations import read_bytes, shipped_files
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.session.sessions import SchedulerOptions, Session
from schedctl.session.states import State, StateSource
from schedctl.session.version_options import VersionOptions
from schedctl.session.what_ifs import WhatIfs
from schedctl.sources import Manifests
from schedctl.studies import axes as axis
from schedctl.studies import configurations, forms, questions, results, traces
from schedctl.studies.axes import Axis, Grid, Scenario
from schedctl.studies.engines import Engine, Failure, InProcess
from schedctl.studies.questions import Answer, Setting
from schedctl.studies.reading import ReadStudy
from schedctl.studies.statistics import distribution_of
from schedctl.versions import __version__
from schedctl.workloads.clusters import assemble

_KEPT = 4
"""Of how many combinations of state, version and configuration a worker keeps the scheduler."""
_WORST = 5
_FEW_VALUES = 40
"""An axis with more values has no groups in the summary."""
_MOST_PENDING = 20


@dataclass(frozen=True, slots=True)
class SweepWork:
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
    versions = VersionOptions(scenario.value(axis.VERSION, ""), scenario.value(axis.GATES, ""), False)
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


@dataclass(frozen=True, slots=True)
class Prepared:
    """A study of which all is known that can be before the first scenario.

    Attributes:
        read: the study.
        work: what is done in each scenario.
        head: the first line of its results.
        metadata: under which conditions it is run.
    """

    read: ReadStudy
    work: SweepWork
    head: SweepHead
    metadata: Metadata


def prepare(read: ReadStudy, notifier: Notifier = SILENT) -> Prepared:
    """Return a study ready to be run; what is wrong with it is told here, as far as it can be.

    Raises:
        ConfigError: a configuration or policy cannot be read, or kube-scheduler would refuse it.
        InputError: the state, manifests or a trace cannot be read.
        UsageError: an axis names what is not there.
    """
    spec = read.study.spec
    state = _state(spec, notifier)
    cluster = state.assembled.cluster if state is not None else _first_state(spec).assembled.cluster
    grid = axis.grid_of(spec.axes, cluster)
    if not len(grid):
        raise UsageError("the study has no scenarios")
    questions.question_of(spec)
    session = _try_each(spec, grid, state)
    if spec.axes.weights is not None:
        configurations.check_weights(spec.axes.weights.grid or spec.axes.weights.draw, session.choice.registry)
    digests = {**session.state.manifests.digests, **_digests(spec)}
    text = msgspec.json.encode([read.digest, sorted(digests.items())])
    head = SweepHead(
        study=read.study.metadata.name,
        digest=f"sha256:{hashlib.sha256(text).hexdigest()}",
        scenarios=len(grid),
        axes={each.name: len(each.values) for each in grid.axes},
        tool_version=__version__,
    )
    needs_objects = spec.axes.versions or spec.axes.feature_gates
    sent = state if state is None or needs_objects else _without_objects(state)
    return Prepared(read, SweepWork(spec, grid, sent), head, session.metadata())


def sweep(
    prepared: Prepared,
    path: str,
    *,
    engine: Engine | None = None,
    notifier: Notifier = SILENT,
    anew: bool = False,
    command: str = "",
) -> SweepReport:
    """Return what a study comes to; a row for each scenario is in the file, and a stopped run goes on there.

    Args:
        prepared: the study.
        path: the file; one of the extension .parquet is made of lines of JSON beside it in the end.
        engine: where scenarios are run; in this process if None.
        notifier: hears how far the work is.
        anew: whether results that are there are thrown away.
        command: what runs the study, to repeat scenarios by.

    Raises:
        UsageError: the results cannot be written, or are those of another study.
    """
    lines = f"{path}.jsonl" if path.endswith(results.PARQUET) else path
    if path.endswith(results.PARQUET):
        results.require_parquet()
    total, interrupted = prepared.head.scenarios, False
    with results.ResultsFile(lines, prepared.head, anew=anew) as file:
        resumed = file.done
        found = (engine or InProcess()).results(prepared.work, range(resumed, total))
        try:
            with notifier.progress("running") as progress:
                began = time.monotonic()
                for answer in found if resumed < total else ():
                    file.add(_row(prepared.work.grid[file.done], answer))
                    left = (time.monotonic() - began) / (file.done - resumed) * (total - file.done)
                    progress.advance(file.done, total, f"{file.done} of {total}, {_time(left)} left")
        except KeyboardInterrupt:
            interrupted = True
            notifier.say(
                f"interrupted: {file.done} of {total} scenarios are in {lines}; the same command goes on there"
            )
    report = summarize(prepared, lines, path, resumed, command)
    if path.endswith(results.PARQUET) and not interrupted:
        results.write_parquet(lines, path)
    if interrupted:
        summary = msgspec.structs.replace(report.summary, exit_code=exit_codes.INTERRUPTED)
        report = msgspec.structs.replace(report, summary=summary)
    return report


def ask_only(prepared: Prepared, number: int) -> SweepRow:
    """Return the row of one scenario.

    Raises:
        UsageError: there is none of that number.
    """
    if not 0 <= number < prepared.head.scenarios:
        raise UsageError(f"no scenario {number}", f"they are numbered from 0 to {prepared.head.scenarios - 1}")
    (answer,) = InProcess().results(prepared.work, [number])
    return _row(prepared.work.grid[number], answer)


def summarize(prepared: Prepared, lines: str, path: str, resumed: int, command: str) -> SweepReport:
    """Return what the rows of a file come to."""
    question = prepared.read.question
    decisive, most_is_worst = _decisive(prepared.read)
    every: dict[str, list[float]] = {}
    groups: dict[tuple[str, str | int], list[float]] = {}
    pending: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    worst: list[tuple[float, int, SweepRow]] = []
    few = {each.name for each in prepared.work.grid.axes if len(each.values) <= _FEW_VALUES}
    for row in results.rows_of(lines):
        if row.error:
            errors[row.error] += 1
            continue
        pending.update(row.pending)
        for name, value in row.values.items():
            every.setdefault(name, []).append(value)
        if decisive not in row.values:
            raise UsageError(f'no number "{decisive}"', suggest_names(decisive, sorted(row.values), "numbers"))
        value = row.values[decisive]
        for name in few & row.axes.keys():
            groups.setdefault((name, row.axes[name]), []).append(value)
        heapq.heappush(worst, (value if most_is_worst else -value, -row.scenario, row))
        if len(worst) > _WORST:
            heapq.heappop(worst)
    answered = len(every.get(decisive, ()))
    failed = errors.total()
    order = {each.name: place for place, each in enumerate(prepared.work.grid.axes)}
    return SweepReport(
        metadata=prepared.metadata,
        summary=SweepSummary(
            exit_code=exit_codes.of_answer(failed=False, inconclusive=failed > 0),
            scenarios=prepared.head.scenarios,
            answered=answered,
            failed=failed,
            resumed=resumed,
        ),
        study=prepared.head.study,
        question=question,
        results=path,
        decisive=decisive,
        values={name: distribution_of(values) for name, values in every.items()},
        groups=[
            SweepGroup(name, value, len(values), distribution_of(values))
            for (name, value), values in sorted(groups.items(), key=lambda item: order[item[0][0]])
        ],
        worst=[
            SweepCase(
                row.scenario, row.axes, row.values.get(decisive, 0.0), f"{command} --only {row.scenario}", row.pending
            )
            for *_, row in sorted(worst, key=lambda each: each[:2], reverse=True)
        ],
        pending=[PendingShare(pod, number) for pod, number in sorted(pending.items(), key=lambda i: (-i[1], i[0]))][
            :_MOST_PENDING
        ],
        errors=dict(errors.most_common()),
    )


def _decisive(read: ReadStudy) -> tuple[str, bool]:
    """Return the number that decides which scenario is the worst, and whether that is the one with most of it."""
    name, most = questions.WORST[read.question]
    spec = read.study.spec
    return spec.decisive or name, spec.worst == "most" if spec.worst else most


def command_of(path: str, variables: Mapping[str, str]) -> str:
    """Return the command that runs a study."""
    options = (word for name, value in variables.items() for word in ("--set", f"{name}={value}"))
    return shlex.join(["schedctl", "sweep", path, *options])


def _row(scenario: Scenario, answer: Answer | Failure) -> SweepRow:
    if isinstance(answer, Failure):
        return SweepRow(scenario=scenario.number, axes=scenario.labels, error=answer.error)
    return SweepRow(scenario=scenario.number, axes=scenario.labels, values=answer.values, pending=answer.pending)


def _state(spec: forms.StudySpec, notifier: Notifier) -> State | None:
    """Return the state that scenarios have in common, None where each has its own."""
    if spec.axes.states:
        return None
    if spec.run is not None and spec.run.nodes:
        nodes = traces.read_openb_nodes(spec.run.nodes)
        return State(Manifests([]), assemble(nodes))
    return StateSource(spec.state).load(notifier)


def _first_state(spec: forms.StudySpec) -> State:
    return StateSource((spec.axes.states[0],)).load()


def _try_each(spec: forms.StudySpec, grid: Grid, state: State | None) -> Session:
    """Return the session of the first scenario, after those of all versions, gates and configurations could be made."""
    first: Session | None = None
    for each in grid.axes if len(grid) else ():
        if each.name in (axis.VERSION, axis.GATES, axis.CONFIGURATION):
            for value in each.values:
                session = session_of(spec, Scenario(0, {each.name: value} | _first_own_state(grid)), state)
                first = first or session
    return first or session_of(spec, grid[0], state)


def _first_own_state(grid: Grid) -> dict[str, axis.AxisValue]:
    states: Axis | None = next((each for each in grid.axes if each.name == axis.STATE), None)
    return {axis.STATE: states.values[0]} if states is not None else {}


def _without_objects(state: State) -> State:
    """Return a state without the objects it was made of, which no scenario reads and which are as much as the rest."""
    return replace(state, manifests=replace(state.manifests, objects=[], reported=[]), connection=None)


def _digests(spec: forms.StudySpec) -> dict[str, str]:
    """Return the digests of the files that a study reads besides the state.

    Raises:
        ConfigError: one cannot be read.
    """
    files = [spec.configuration, *spec.axes.configurations, *(each.partition(":")[0] for each in spec.plugins)]
    files += spec.axes.states
    if spec.simulate is not None:
        files += spec.simulate.manifests
    if spec.check is not None:
        files += (*spec.check.manifests, *spec.check.policies)
    if spec.run is not None:
        files += (spec.run.nodes, spec.run.trace.openb, spec.run.trace.timeline, *spec.run.trace.manifests)
    found = {}
    for file in filter(None, files):
        for each in sorted(Path(file).rglob("*")) if Path(file).is_dir() else [Path(file)]:
            if each.is_file():
                found[str(each)] = f"sha256:{hashlib.sha256(read_bytes(str(each))).hexdigest()}"
    return found


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
