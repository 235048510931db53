"""What is known of a study before its first scenario: what it reads, its scenarios, and whether each can be made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from schedctl.documents.decoding import Decoder
from schedctl.documents.spelling import suggest_names
from schedctl.errors import ConfigError, Problem, UsageError
from schedctl.reports import counts
from schedctl.reports.metadata import Metadata
from schedctl.reports.sweeps import SweepHead
from schedctl.scheduler import discovery
from schedctl.session import comparisons
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


class Prepared(msgspec.Struct, frozen=True):
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
    _check_files(read)
    _check_arguments(read)
    state = _state(spec, notifier)
    cluster = state.assembled.cluster if state is not None else _first_state(spec).assembled.cluster
    if spec.axes.lose is not None:
        with _placed(read, "spec.axes.lose"):
            axis.losses_to_choose_from(spec.axes.lose, cluster)
    with _placed(read, "spec.axes"):
        grid = axis.grid_of(spec.axes, cluster)
    questions.question_of(spec)
    session, versions = _try_each(read, grid, state, notifier)
    missing = [read.problem(path, str(each), each.hint) for path, each in questions.check_names(spec, session)]
    if missing:
        raise ConfigError(missing)
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
    return Prepared(read, SweepWork(spec, grid, sent), head, _metadata_of_all(grid, session.metadata(), versions))


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


def _check_files(read: ReadStudy) -> None:
    """Hold up a study that names configurations or files that are not there; with all of them."""
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
    folder = Path(read.source).parent
    problems += (
        read.problem(path, f"{each} does not exist", f"paths in a study begin in its own folder, {folder}")
        for path, each in _files(spec)
        if each not in ("", "-") and not Path(each).exists()
    )
    if problems:
        raise ConfigError(sorted(problems, key=lambda each: (each.line, each.column)))


def _files(spec: forms.StudySpec) -> Iterator[tuple[str, str]]:
    """Yield the files that a study reads and that are nothing but files, with the paths of their fields."""
    lists = {"spec.state": spec.state, "spec.axes.states": spec.axes.states}
    if spec.simulate is not None:
        lists["spec.simulate.manifests"] = spec.simulate.manifests
    if spec.check is not None:
        lists |= {"spec.check.manifests": spec.check.manifests, "spec.check.policies": spec.check.policies}
    if spec.run is not None:
        yield "spec.run.nodes", spec.run.nodes
        yield "spec.run.trace.openb", spec.run.trace.openb
        yield "spec.run.trace.timeline", spec.run.trace.timeline
        lists["spec.run.trace.manifests"] = spec.run.trace.manifests
    for path, files in lists.items():
        yield from ((f"{path}[{index}]", each) for index, each in enumerate(files))


def _check_arguments(read: ReadStudy) -> None:
    """Hold up a study with arguments that no plugin has or would take; with all of them.

    Raises:
        ConfigError: there are such arguments, or a plugin of the study cannot be loaded.
    """
    with _placed(read, "spec.plugins"):
        catalog = discovery.with_installed(discovery.find(read.study.spec.plugins), set(read.arguments))
    problems: list[Problem] = []
    decoder = Decoder()
    for name, node in read.arguments.items():
        path, kind = f"spec.arguments.{name}", catalog.registry.args_types.get(name)
        if name not in catalog.registry:
            hint = suggest_names(name, sorted(catalog.registry), "plugins")
            problems.append(read.problem(path, f'no plugin "{name}"', hint))
        elif kind is not None:
            decoder.struct(node, kind, path)
        elif node.value:
            problems.append(read.problem(path, f"plugin {name} takes no arguments"))
    problems += (replace(each, source=read.source) for each in decoder.problems)
    if problems:
        raise ConfigError(sorted(problems, key=lambda each: (each.line, each.column)))


def _try_each(read: ReadStudy, grid: Grid, state: State | None, notifier: Notifier) -> tuple[Session, list[str]]:
    """Try all versions, gates, configurations and scales; return a session of the first scenario, and the versions."""
    spec, versions = read.study.spec, list[str]()
    first: Session | None = None
    for each in grid.axes:
        if each.name in _FIELDS:
            for index, value in enumerate(each.values):
                with _placed(read, f"spec.axes.{_FIELDS[each.name]}[{index}]"):
                    session = session_of(spec, Scenario(0, {each.name: value} | _first_own_state(grid)), state)
                first = first or session
                if each.name == axis.CONFIGURATION:
                    _warn_without_default(session, notifier)
                if each.name == axis.VERSION:
                    versions.append(session.metadata().kubernetes_version)
    found = first or _session_of_first(read, grid, state)
    if axis.CONFIGURATION not in (each.name for each in grid.axes):
        _warn_without_default(found, notifier)
    for each in grid.axes:
        if each.name.startswith(f"{axis.SCALE}/"):
            with _placed(read, f"spec.axes.{each.name.replace('/', '.', 1)}"):
                _try_change(found, each.values[0].value)
    return found, versions


def _warn_without_default(session: Session, notifier: Notifier) -> None:
    hint = "a name of `schedctl profiles list` puts that profile in the place of the default scheduler"
    comparisons.warn_without_default(session.choice, hint, notifier)


def _metadata_of_all(grid: Grid, metadata: Metadata, versions: Sequence[str]) -> Metadata:
    """Return under which conditions all scenarios are run, given those of one, without what is that one's alone."""
    if versions:
        metadata = msgspec.structs.replace(metadata, kubernetes_version=" and ".join(dict.fromkeys(versions)))
    for each in grid.axes:
        if each.name == axis.GATES:
            metadata = msgspec.structs.replace(metadata, feature_gates=[])
        elif each.name == axis.CONFIGURATION and len(each.values) > 1:
            text = counts.of(len(each.values), "configuration")
            metadata = msgspec.structs.replace(metadata, configuration=text)
    return metadata


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
