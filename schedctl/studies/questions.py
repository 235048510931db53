"""The base question of a study, asked in one scenario: numbers by name, and the pods that stay pending.

Each is asked on a fork of the cluster, makes the changes of the scenario there, and has a decisive number (`WORST`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import msgspec
from msgspec.structs import replace

from schedctl.errors import UsageError
from schedctl.reports.simulations import Fate
from schedctl.scheduler import Scheduler
from schedctl.session import capacity as capacities
from schedctl.session import capacity_models
from schedctl.session import check as checks
from schedctl.session import drain as drains
from schedctl.session import manifests as inputs
from schedctl.session.runs import chooser
from schedctl.session.sessions import Session
from schedctl.session.settings import Settings
from schedctl.simulation import report_builder
from schedctl.simulation.drains import DrainFlags
from schedctl.simulation.outcomes import PodState, Run, RunEnd
from schedctl.simulation.replacement import ReplacementController
from schedctl.simulation.runs import Options, run
from schedctl.simulation.simulations import simulate as run_simulation
from schedctl.simulation.tie_breaking import TieBreaker, draw_ties, first_by_name, first_in_shuffled_order
from schedctl.sources import Manifests
from schedctl.studies import arrivals, forms, traces
from schedctl.studies.arrival_runs import ArrivalRun, RunCounts, run_with_queue
from schedctl.studies.arrivals import Arrival
from schedctl.studies.metrics import AnnotatedResource, ArrivalMetrics, CountedResource, Resource, capacity_of
from schedctl.studies.traces import TracedPod

_NAMESPACE_OPTION = re.compile(r"`-n ([^`]+)`")
"""How a hint names a namespace on the command line."""
_SKIPPED = 5
"""How many percent a single pod may be."""
MOST_NAMED = 50
"""How many pending pods a row names."""
WORST: Mapping[str, tuple[str, bool]] = {
    "pending": ("pending", True),
    "simulate": ("pending", True),
    "drain": ("pending", True),
    "capacity": ("fits", False),
    "check": ("violations", True),
    "run": ("bound", False),
}
"""By question, the number that decides which scenario is the worst, and whether that is the one with most of it."""


class Answer(msgspec.Struct, frozen=True):
    """What a question comes to in one scenario.

    Attributes:
        values: numbers by name, the same names in every scenario of a study.
        pending: pods that are pending, as ``namespace/name``, a few of many.
    """

    values: dict[str, float]
    pending: list[str] = msgspec.field(default_factory=list)


class Setting(msgspec.Struct, frozen=True):
    """Where a question is asked.

    Attributes:
        session: the state, on a fork, and the changes of the scenario, which are still to be made.
        scheduler: over its cluster.
        seed: of draws among tied nodes and of arrivals, None for the first by name.
    """

    session: Session
    scheduler: Scheduler
    seed: int | None


Question = Callable[[Setting], Answer]


def question_of(spec: forms.StudySpec) -> Question:
    """Return the question of a study, with what it is about read.

    Raises:
        ConfigError: a policy cannot be understood.
        InputError: manifests or a trace cannot be read.
    """
    if spec.simulate is not None:
        return partial(_simulate, spec.simulate, _manifests(spec.simulate.manifests, spec.simulate.namespace))
    if spec.drain is not None:
        return partial(_drain, spec.drain)
    if spec.capacity is not None:
        return partial(_capacity, spec.capacity)
    if spec.check is not None:
        rules = checks.load_policies(spec.check.policies, ())
        manifests = _manifests(spec.check.manifests, spec.check.namespace)
        return partial(_check, checks.CheckInputs(rules, manifests, []))
    if spec.run is not None:
        return partial(_run, spec.run, _traced(spec.run))
    return _pending


def check_names(spec: forms.StudySpec, session: Session) -> Iterator[tuple[str, UsageError]]:
    """Yield the fields of a question that name what the cluster does not have, and what is to be said of each.

    Args:
        spec: the study.
        session: of a scenario, loaded; without what the scenario changes.
    """
    form = spec.drain
    named: list[tuple[str, Callable[[], object]]] = []
    if form is not None and form.nodes and not (form.selector or form.zone):
        named += (
            (
                f"spec.drain.nodes[{index}]",
                partial(drains.NodeSelection((name,)).find, session.cluster, session.names),
            )
            for index, name in enumerate(form.nodes)
        )
    elif form is not None:
        selection = drains.NodeSelection((), form.selector, form.zone)
        named.append(
            (
                f"spec.drain.{'zone' if form.zone else 'selector'}",
                partial(selection.find, session.cluster, session.names),
            )
        )
    if spec.capacity is not None:
        namespace, state = spec.capacity.namespace, session.state
        named += (
            (f"spec.capacity.like[{index}]", partial(capacity_models.find, text, state, namespace))
            for index, text in enumerate(spec.capacity.like)
        )
    for path, find in named:
        try:
            find()
        except UsageError as fault:
            yield path, UsageError(str(fault), _NAMESPACE_OPTION.sub(r"`namespace: \1`", fault.hint))
    if spec.run is not None:
        yield from _shares_too_large(spec.run, session)


def _shares_too_large(form: forms.RunForm, session: Session) -> Iterator[tuple[str, UsageError]]:
    """Yield the shares at which a study asks for metrics and that the pods of its trace never come to."""
    if form.arrivals.process not in ("traced", "atOnce") or not form.at:
        return
    counted = next(each for each in resources_of(form) if each.name == form.by)
    capacity = capacity_of(session.cluster, counted)
    if not capacity:
        yield "spec.run.by", UsageError(f"no node offers {form.by}")
        return
    most = round(100 * sum(counted.amount(each.model) for each in _traced(form)) / capacity)
    for index, at in enumerate(form.at):
        if at > most + _SKIPPED:
            hint = f"all pods of the trace ask for {most} % of it"
            yield f"spec.run.at[{index}]", UsageError(f"{at} % of {form.by} never arrive", hint)


def _manifests(paths: tuple[str, ...], namespace: str) -> Manifests:
    return inputs.load(
        paths,
        (),
        recursive=True,
        stdin_filename="<stdin>",
        namespace=namespace or "default",
        allow_empty=False,
        strict=True,
        custom_kinds=Settings().custom_kinds,
    )


# -- what the state and manifests come to ------------------------------------------------


def _pending(setting: Setting) -> Answer:
    scheduler, cluster = setting.scheduler, setting.scheduler.cluster
    setting.session.change()
    waiting = [info for info in cluster.pending.values() if scheduler.profile_of(info)]
    controller = ReplacementController(scheduler)
    facts = run(scheduler, waiting, options=Options(choose=chooser(setting.seed), trace=False), controller=controller)
    return _of_run(facts, {})


def _of_run(facts: Run, more: Mapping[str, float]) -> Answer:
    if facts.end is RunEnd.INTERRUPTED:
        raise KeyboardInterrupt
    waiting = [key for key, each in facts.pods.items() if each.is_pending]
    placed = [each for each in facts.pods.values() if each.state is PodState.BOUND]
    values = {
        "pods": len(facts.pods),
        "placed": len(placed),
        "pending": len(waiting),
        "preempted": sum(bool(each.by) for each in facts.evictions),
        "nodesUsed": len({each.node for each in placed}),
        "attempts": facts.attempts,
        "clock": facts.clock,
    }
    return Answer({name: float(value) for name, value in (values | dict(more)).items()}, waiting[:MOST_NAMED])


def _simulate(form: forms.SimulateForm, manifests: Manifests, setting: Setting) -> Answer:
    scheduler = setting.scheduler
    setting.session.change(form.namespace)
    facts = run_simulation(
        scheduler,
        manifests.objects,
        passed=manifests.ignored,
        strategy=form.rollout,
        strict=True,
        name=setting.session.choice.profile,
        options=Options(choose=chooser(setting.seed), sampling=form.sampling, trace=False),
    )
    results = report_builder.workloads(facts, scheduler.cluster)
    pods, placed = sum(each.wanted for each in results), sum(each.placed for each in results)
    found = _of_run(facts.run, {"pods": pods, "placed": placed, "pending": pods - placed})
    names = [f"{each.namespace}/{pod.name}" for each in results for pod in each.pods if pod.fate is not Fate.PLACED]
    return Answer(found.values, names[:MOST_NAMED])


def _drain(form: forms.DrainForm, setting: Setting) -> Answer:
    flags = DrainFlags(
        ignore_daemonsets=form.ignore_daemon_sets,
        delete_emptydir_data=form.delete_empty_dir_data,
        force=form.force,
    )
    report = drains.drain(setting.session, drains.NodeSelection(form.nodes, form.selector, form.zone), flags)
    values = msgspec.to_builtins(report.summary)
    return Answer({name: float(value) for name, value in values.items() if name != "exitCode"})


def _capacity(form: forms.CapacityForm, setting: Setting) -> Answer:
    report = capacities.capacity(setting.session, form.like, namespace=form.namespace, most=form.most)
    values = {f"fits.{each.subject}": float(each.fits) for each in report.results}
    return Answer({"fits": sum(values.values())} | values)


def _check(read: checks.CheckInputs, setting: Setting) -> Answer:
    setting.session.change()
    options = checks.CheckOptions(allow_empty=True)
    summary = checks.check(setting.session, read, options).summary
    violations = summary.errors + summary.warnings + summary.infos
    values = {"violations": violations, "errors": summary.errors, "warnings": summary.warnings}
    more = {"infos": summary.infos, "passed": summary.passed, "inconclusive": summary.inconclusive}
    return Answer({name: float(value) for name, value in (values | more).items()})


# -- pods that arrive ---------------------------------------------------------------------


def _traced(form: forms.RunForm) -> list[TracedPod]:
    if form.trace.openb:
        return traces.read_openb_pods(form.trace.openb)
    from schedctl.api.pods import Pod

    found = _manifests(form.trace.manifests, "").objects if form.trace.manifests else []
    pods = {one.object.key: one.object for one in found if isinstance(one.object, Pod)}
    return traces.read_timeline(form.trace.timeline, pods)


def resources_of(form: forms.RunForm) -> list[Resource]:
    """Return what metrics count: cpu, memory, and what the study adds."""
    return [CountedResource("cpu"), CountedResource("memory"), *map(_resource, form.resources)]


def _resource(form: forms.ResourceForm) -> Resource:
    if form.annotations:
        return AnnotatedResource(form.name, form.annotations, form.offered or form.name)
    return CountedResource(form.name, form.offered)


def arrivals_of(form: forms.RunForm, pods: list[TracedPod], seed: int, scheduler: Scheduler) -> list[Arrival]:
    """Return when the pods of a trace arrive."""
    process = form.arrivals
    if process.process == "traced":
        return arrivals.as_traced(pods, lifetimes=form.lifetimes)
    if process.process == "atOnce":
        return arrivals.at_once(pods, seed, lifetimes=form.lifetimes)
    if process.process == "poisson":
        return [*arrivals.poisson(pods, seed, rate=process.rate, count=process.count, lifetimes=form.lifetimes)]
    resource = next(each for each in resources_of(form) if each.name == process.of)
    capacity = capacity_of(scheduler.cluster, resource)
    return [*arrivals.inflated(pods, seed, share=process.share, capacity=capacity, amount=resource.amount)]


def _run(form: forms.RunForm, pods: list[TracedPod], setting: Setting) -> Answer:
    scheduler, seed = setting.scheduler, setting.seed or 0
    setting.session.change()
    coming = arrivals_of(form, pods, seed, scheduler)
    horizon = form.horizon or None
    choose = _tie_breaker(form.ties, seed, scheduler)
    metrics = ArrivalMetrics(resources_of(form), form.by)
    if form.pending == "retry":
        facts = run_with_queue(
            scheduler, coming, choose=choose, sampling=form.sampling, horizon=horizon, observers=[metrics]
        )
        found = _of_run(facts, _of_counts(metrics.counts))
        return replace(found, values=found.values | _sampled(form, metrics))
    loop = ArrivalRun(scheduler, choose=choose, sampling=form.sampling, horizon=horizon, observers=[metrics])
    return Answer(_of_counts(loop.run(coming)) | _sampled(form, metrics))


def _of_counts(counts: RunCounts) -> dict[str, float]:
    values = {"arrived": counts.arrived, "bound": counts.bound, "dropped": counts.dropped, "gone": counts.gone}
    return {name: float(value) for name, value in values.items()}


def _tie_breaker(ties: str, seed: int, scheduler: Scheduler) -> TieBreaker:
    if ties == "shuffled":
        return first_in_shuffled_order(scheduler.cluster.node_table.row_of, seed)
    return draw_ties(seed) if ties == "drawn" else first_by_name


def _sampled(form: forms.RunForm, metrics: ArrivalMetrics) -> dict[str, float]:
    """Return the metrics at the shares that a study asks about, by ``NAME@SHARE``."""
    table = metrics.table()
    return {f"{name}@{at}": float(value) for at in form.at for name, value in _row_at(table, at, form.by).items()}


def _row_at(table: Mapping[int, Mapping[str, float]], percent: int, by: str) -> Mapping[str, float]:
    """Return the metrics at a share, or at the last one before it: large pods skip some.

    Raises:
        UsageError: so much never arrived, or more than that at once.
    """
    most = max(table, default=0)
    if most + _SKIPPED < percent:
        raise UsageError(f"{percent} % of {by} never arrived", f"at most {most} % did: see spec.run.at")
    at = max((each for each in table if each <= percent), default=None)
    if at is None:
        raise UsageError(f"{percent} % of {by} had arrived at no time: with the first pod it was {min(table)} %")
    return table[at]
