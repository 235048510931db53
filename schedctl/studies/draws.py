"""A simulation repeated: kube-scheduler takes any of several equally good nodes, so that one run is a sample."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.errors import UsageError
from schedctl.reports.draws import DrawnNode, DrawnPod, Draws, WorkloadDraws
from schedctl.reports.simulations import Fate, SimulationReport, WorkloadResult
from schedctl.scheduler import Scheduler
from schedctl.session import runs
from schedctl.session import simulate as use_case
from schedctl.session.command_words import options_of
from schedctl.session.sessions import Session
from schedctl.session.simulate import SimulateOptions
from schedctl.simulation import report_builder
from schedctl.simulation.outcomes import RunEnd
from schedctl.simulation.runs import Options
from schedctl.simulation.simulations import simulate as run_simulation
from schedctl.simulation.tie_breaking import draw_ties
from schedctl.sources import Manifests
from schedctl.sources.files import STDIN
from schedctl.studies.engines import Engine, Failure, InProcess
from schedctl.studies.statistics import distribution_of, share_of

Subject = tuple[str, str, str]
"""Kind, namespace and name of a workload."""


class DrawnWorkload(msgspec.Struct, frozen=True):
    """What became of a workload in one draw.

    Attributes:
        subject: which.
        pods: how many it is to have.
        nodes: how many are on which node.
        pending: why its other pods are pending, by name.
    """

    subject: Subject
    pods: int
    nodes: tuple[tuple[str, int], ...]
    pending: tuple[tuple[str, str], ...]

    @property
    def placed(self) -> int:
        """How many are placed."""
        return sum(number for _, number in self.nodes)


class Draw(msgspec.Struct, frozen=True):
    """How one draw ends.

    Attributes:
        workloads: in the order given.
        preempted: how many running pods had to make room.
    """

    workloads: tuple[DrawnWorkload, ...]
    preempted: int

    @property
    def placed(self) -> int:
        """How many pods are placed."""
        return sum(each.placed for each in self.workloads)


class DrawWork(msgspec.Struct, frozen=True):
    """Runs manifests with one seed after another.

    Attributes:
        scheduler: the profiles and the cluster.
        manifests: what is to be created.
        options: how.
        profile: the scheduler name of all pods, "" for their own.
    """

    scheduler: Scheduler
    manifests: Manifests
    options: SimulateOptions
    profile: str = ""

    def begin(self) -> Callable[[int], Draw]:
        """Return what runs one seed."""
        return self._draw

    def _draw(self, seed: int) -> Draw:
        scheduler, cluster = self.scheduler, self.scheduler.cluster
        with scheduler.fork():
            if self.options.sampling:
                runs.draw_first_node(cluster, seed)
            facts = run_simulation(
                scheduler,
                self.manifests.objects,
                passed=self.manifests.ignored,
                strategy=self.options.rollout,
                disabled=self.options.skip_admission,
                strict=self.options.strict,
                name=self.profile,
                options=Options(choose=draw_ties(seed), sampling=self.options.sampling, trace=False),
            )
            if facts.run.end is RunEnd.INTERRUPTED:
                raise KeyboardInterrupt
            results, evictions = report_builder.workloads(facts, cluster), facts.run.evictions
        return Draw(tuple(map(_workload, results)), sum(bool(each.by) for each in evictions))


def simulate(
    session: Session,
    manifests: Manifests,
    options: SimulateOptions,
    draws: int,
    *,
    engine: Engine | None = None,
    namespace: str = "",
    settings: Mapping[str, str] | None = None,
    sources: Sequence[str] = (),
) -> SimulationReport:
    """Return what comes of manifests, and over many draws.

    Args:
        session: with its state loaded; its what-ifs are made here.
        manifests: what is to be created.
        options: how; the seed is that of the first draw, None for 0, and the report itself is as without draws.
        draws: how many.
        engine: where they are run; in this process if None.
        namespace: of pods and workloads that what-ifs name without one.
        settings: see `schedctl.session.simulate.simulate`.
        sources: what the manifests were read from.

    Raises:
        InputError: see `schedctl.session.simulate.simulate`.
        UsageError: likewise; or configurations are compared.
    """
    if len(session.choices) > 1 or options.version:
        raise UsageError("--draws and a comparison were both given", "draw for each configuration by itself")
    first = options.seed or 0
    seeds = range(first, first + draws)
    with session.cluster.fork():
        session.change(namespace)
        work = DrawWork(session.scheduler(), manifests, options, session.choice.profile)
        # what answers rest on where kinds are missing is heard in this process alone
        chosen = InProcess() if engine is None or session.cluster.missing else engine
        found: list[Draw | Failure] = []
        with session.notifier.progress("drawing") as progress:
            for result in chosen.results(work, seeds):
                found.append(result)
                progress.advance(len(found), draws, f"seed {first + len(found) - 1}")
    report = use_case.simulate(session, manifests, options, namespace=namespace, settings=settings)
    assert isinstance(report, SimulationReport)
    command = _command(session, options, namespace, sources)
    return msgspec.structs.replace(report, draws=summarize(found, first, command))


def summarize(found: Sequence[Draw | Failure], first_seed: int, command: str) -> Draws:
    """Return what draws come to.

    Args:
        found: the draws, or why there is none, by seed.
        first_seed: that of the first.
        command: what shows one in full, with ``{seed}`` for its seed; "" for nothing.

    Raises:
        UsageError: not one draw could be run.
    """
    good = {seed: each for seed, each in enumerate(found, first_seed) if isinstance(each, Draw)}
    failures = {seed: each.error for seed, each in enumerate(found, first_seed) if isinstance(each, Failure)}
    if not good:
        raise UsageError(f"no draw could be run: {next(iter(failures.values()))}")
    draws = list(good.values())
    pods = sum(each.pods for each in draws[0].workloads)
    worst = min(good, key=lambda seed: (good[seed].placed, seed))
    return Draws(
        draws=len(draws),
        first_seed=first_seed,
        placed=share_of(sum(each.placed == pods for each in draws), len(draws)),
        pods_placed=distribution_of([each.placed for each in draws]),
        preempted=distribution_of([each.preempted for each in draws]),
        outcomes=len({each.workloads for each in draws}),
        workloads=[_over_draws([each.workloads[place] for each in draws]) for place in range(len(draws[0].workloads))],
        worst_seed=worst,
        worst_command=command.format(seed=worst),
        failures=failures,
    )


def _over_draws(results: Sequence[DrawnWorkload]) -> WorkloadDraws:
    kind, namespace, name = results[0].subject
    on_nodes: Counter[str] = Counter()
    draws: Counter[str] = Counter()
    pending: Counter[str] = Counter()
    messages: dict[str, str] = {}
    for each in results:
        on_nodes.update(dict(each.nodes))
        draws.update(node for node, _ in each.nodes)
        pending.update(pod for pod, _ in each.pending)
        messages = dict(each.pending) | messages
    by_pods = sorted(on_nodes.items(), key=lambda item: (-item[1], item[0]))
    return WorkloadDraws(
        kind=kind,
        namespace=namespace,
        name=name,
        wanted=results[0].pods,
        placed=share_of(sum(each.placed == each.pods for each in results), len(results)),
        pods_placed=distribution_of([each.placed for each in results]),
        nodes_used=distribution_of([len(each.nodes) for each in results]),
        nodes=[DrawnNode(node, draws[node], round(number / len(results), 3)) for node, number in by_pods],
        pending=[
            DrawnPod(pod, len(results) - number, messages[pod])
            for pod, number in sorted(pending.items(), key=lambda item: (-item[1], item[0]))
        ],
    )


def _workload(result: WorkloadResult) -> DrawnWorkload:
    messages = {pod: group.message for group in result.pending for pod in group.pods}
    pending = (pod for pod in result.pods if pod.fate is not Fate.PLACED)
    return DrawnWorkload(
        (result.kind, result.namespace, result.name),
        result.wanted,
        tuple((node.name, node.pods) for node in result.nodes),
        tuple((pod.name, messages.get(pod.name, pod.fate.value)) for pod in pending),
    )


def _command(session: Session, options: SimulateOptions, namespace: str, sources: Sequence[str]) -> str:
    if not sources or STDIN in (*sources, *session.source.paths):
        return ""
    words = ["schedctl", "simulate", *sources, *options_of(session)]
    words += ["-n", namespace] if namespace not in ("", DEFAULT_NAMESPACE) else []
    words += ["--skip-admission", ",".join(options.skip_admission)] if options.skip_admission else []
    if options.rollout != "replace":
        words += ["--rollout", options.rollout]
    words += ["--sampling"] if options.sampling else []
    words += ["--strict"] if options.strict else []
    return f"{shlex.join(words)} --seed {{seed}}".replace("{", "{{").replace("}", "}}").replace("{{seed}}", "{seed}")
