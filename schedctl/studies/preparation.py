"""What is known of a study before its first scenario: what it reads, its scenarios, and whether each can be made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from schedctl.documents.spelling import suggest_names
from schedctl.errors import ConfigError, UsageError
from schedctl.reports.metadata import Metadata
from schedctl.reports.sweeps import SweepHead
from schedctl.session.configurations import read_bytes, shipped_files
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.session.sessions import Session
from schedctl.session.states import State, StateSource
from schedctl.session.what_ifs import WhatIfs
from schedctl.sources import Manifests
from schedctl.studies import axes as axis
from schedctl.studies import configurations, forms, questions, traces
from schedctl.studies.axes import Axis, Grid, Scenario
from schedctl.studies.reading import ReadStudy
from schedctl.studies.scenario_work import SweepWork, session_of
from schedctl.versions import __version__
from schedctl.workloads.clusters import assemble


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
        ConfigError: an axis names what is not there; with its place in the study.
    """
    spec = read.study.spec
    _check_configurations(read)
    state = _state(spec, notifier)
    cluster = state.assembled.cluster if state is not None else _first_state(spec).assembled.cluster
    if spec.axes.lose is not None:
        with _placed(read, "spec.axes.lose"):
            axis.losses_to_choose_from(spec.axes.lose, cluster)
    with _placed(read, "spec.axes"):
        grid = axis.grid_of(spec.axes, cluster)
    questions.question_of(spec)
    session = _try_each(read, grid, state)
    if spec.axes.weights is not None:
        kind = "grid" if spec.axes.weights.grid else "draw"
        for name in getattr(spec.axes.weights, kind):
            with _placed(read, f"spec.axes.weights.{kind}.{name}"):
                configurations.check_weights([name], session.choice.registry)
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


_FIELDS = {axis.VERSION: "versions", axis.GATES: "featureGates", axis.CONFIGURATION: "configurations"}


@contextmanager
def _placed(read: ReadStudy, path: str) -> Iterator[None]:
    """Tell what cannot be done as a problem of the field of the study that asks for it."""
    try:
        yield
    except UsageError as fault:
        raise ConfigError([read.problem(path, str(fault), fault.hint)]) from None


def _check_configurations(read: ReadStudy) -> None:
    """Hold up a study with configurations that are neither files nor profiles that ship; with all of them."""
    spec, shipped = read.study.spec, shipped_files()
    named = {f"spec.axes.configurations[{index}]": each for index, each in enumerate(spec.axes.configurations)}
    if spec.configuration:
        named["spec.configuration"] = spec.configuration
    problems = [
        read.problem(
            path,
            f'"{each}" is neither a file nor a profile that ships',
            suggest_names(each, sorted(shipped), "profiles"),
        )
        for path, each in named.items()
        if each not in shipped and not Path(each).is_file()
    ]
    if problems:
        raise ConfigError(problems)


def _try_each(read: ReadStudy, grid: Grid, state: State | None) -> Session:
    """Return the session of the first scenario, after all versions, gates, configurations and scales were tried."""
    spec = read.study.spec
    first: Session | None = None
    for each in grid.axes:
        if each.name in _FIELDS:
            for index, value in enumerate(each.values):
                with _placed(read, f"spec.axes.{_FIELDS[each.name]}[{index}]"):
                    session = session_of(spec, Scenario(0, {each.name: value} | _first_own_state(grid)), state)
                first = first or session
    found = first or _session_of_first(read, grid, state)
    for each in grid.axes:
        if each.name.startswith(f"{axis.SCALE}/"):
            with _placed(read, f"spec.axes.{each.name.replace('/', '.', 1)}"):
                _try_change(found, each.values[0].value)
    return found


def _session_of_first(read: ReadStudy, grid: Grid, state: State | None) -> Session:
    with _placed(read, "spec"):
        return session_of(read.study.spec, grid[0], state)


def _try_change(session: Session, change: tuple[str, str]) -> None:
    """Make a change of the cluster, and take it back."""
    with session.scheduler().fork():
        session.with_what_ifs(WhatIfs((change,))).change()


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
