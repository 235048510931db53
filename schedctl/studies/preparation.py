"""What is known of a study before its first scenario: what it reads, its scenarios, and whether each can be made."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from schedctl.errors import UsageError
from schedctl.reports.metadata import Metadata
from schedctl.reports.sweeps import SweepHead
from schedctl.session.configurations import read_bytes
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.session.sessions import Session
from schedctl.session.states import State, StateSource
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
