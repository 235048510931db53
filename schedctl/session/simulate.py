"""Where the pods of whole manifests would go; under several configurations, how their runs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from schedctl.reports import counts, exit_codes
from schedctl.reports.metadata import Metadata
from schedctl.reports.run_comparisons import SimulationComparison
from schedctl.reports.simulations import EndReason, SimulationReport
from schedctl.scheduler import Scheduler
from schedctl.scheduler.gaps import AssumptionLog, log_assumptions
from schedctl.scheduler.sides import sides
from schedctl.session import node_maps, pending_reasons, runs, traces, what_ifs
from schedctl.session.configurations import ConfigurationChoice
from schedctl.session.node_order_reuse import warn_of_reuse
from schedctl.session.sessions import Session
from schedctl.simulation import report_builder, run_steps, utilisation
from schedctl.simulation.outcomes import RunEnd
from schedctl.simulation.runs import Options
from schedctl.simulation.simulations import Simulation
from schedctl.simulation.simulations import simulate as run_simulation
from schedctl.sources import Manifests
from schedctl.workloads import ownership
from schedctl.workloads.rollouts import RolloutStrategy


class SimulateOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How manifests are placed.

    Attributes:
        rollout: how new pods take the place of old ones.
        skip_admission: admission plugins that are switched off.
        sampling: whether only as many nodes are looked at as kube-scheduler would look at.
        seed: draws among equally good nodes; None takes the first by name.
        strict: whether nothing is simulated if the API server would refuse any object.
        trace: the file that every step is written to, "" for none.
        fail: whether a pod that is not placed, or that another configuration breaks, makes the exit code 1.
        version: the kube-scheduler that the one in force is compared with, "" for none.
        pictures: whether the report has what pictures show: the nodes, and what happened when.
    """

    rollout: RolloutStrategy = "replace"
    skip_admission: Sequence[str] = ()
    sampling: bool = False
    seed: int | None = None
    strict: bool = False
    trace: str = ""
    fail: bool = False
    version: str = ""
    pictures: bool = False


class _Question(msgspec.Struct, frozen=True):
    """Everything that one run depends on but the configuration."""

    session: Session
    manifests: Manifests
    options: SimulateOptions
    before: utilisation.Measure
    metadata: Metadata

    def run(self, choice: ConfigurationChoice) -> tuple[Scheduler, Simulation]:
        """Carry the manifests out under a configuration."""
        scheduler, options = self.session.scheduler(choice), self.options
        if options.sampling and options.seed is not None:
            runs.draw_first_node(scheduler.cluster, options.seed)
        with self.session.notifier.progress("scheduling") as progress:
            facts = run_simulation(
                scheduler,
                self.manifests.objects,
                passed=self.manifests.ignored,
                strategy=options.rollout,
                disabled=options.skip_admission,
                strict=options.strict,
                name=choice.profile,
                before=self.before,
                options=Options(
                    choose=runs.chooser(options.seed),
                    sampling=options.sampling,
                    trace=bool(options.trace) or options.pictures,
                ),
                progress=runs.RunProgress(progress),
            )
        warn_of_reuse(facts.run, scheduler, self.session.notifier)
        return scheduler, facts


def simulate(
    session: Session,
    manifests: Manifests,
    options: SimulateOptions,
    *,
    namespace: str = "",
    settings: Mapping[str, str] | None = None,
) -> SimulationReport | SimulationComparison:
    """Return what comes of manifests; a session that compares returns how the runs differ.

    Args:
        session: with its state loaded; its what-ifs are made here.
        manifests: what is to be created.
        options: how.
        namespace: of pods and workloads that what-ifs name without one.
        settings: the digests of schedctl's own configuration files, by name.

    Raises:
        InputError: strictly, the API server would refuse an object; or a file of nodes cannot be understood.
        KeyboardInterrupt: somebody interrupted a comparison.
        UsageError: a what-if cannot be carried out, or the trace cannot be written.
    """
    cluster, notifier, unknown = session.cluster, session.notifier, session.state.assembled.unknown
    with log_assumptions(cluster) as assumptions:
        # What-ifs are part of what the report compares with the cluster as it was.
        before = utilisation.measure(cluster)
        session.change(namespace)
        if notifier.verbose:
            notifier.say(f"manifests: {counts.of(len(manifests.objects), 'object')} that scheduling reads")
        metadata = msgspec.structs.replace(
            session.metadata(),
            sampling=options.sampling,
            rollout=options.rollout,
            seed=options.seed,
            skipped_admission=list(options.skip_admission),
            inputs=session.inputs_with(manifests.digests, settings or {}),
        )
        question = _Question(session, manifests, options, before, metadata)
        if options.version:
            return _compare(question, _versions(question, namespace), assumptions)
        if len(session.choices) > 1:
            return _compare(question, [(each.origin, question, each) for each in session.choices], assumptions)
        scheduler, facts = question.run(session.choice)
    assumptions.admission(unknown)
    notifier.report(facts.expansion.refused, "error")
    report = report_builder.report(
        facts,
        cluster,
        metadata=metadata,
        problems=manifests.problems,
        unmodelled=manifests.unmodelled,
        fail=options.fail,
        guesses=assumptions.describe(),
    )
    report = pending_reasons.add_warnings(report, facts, scheduler)
    if options.pictures:
        steps = run_steps.steps(facts.run.timeline)
        report = msgspec.structs.replace(node_maps.add(report, cluster, before), timeline=steps)
    if report.ending.reason is not EndReason.INTERRUPTED:
        try:
            with notifier.progress("explaining") as progress:
                kept = what_ifs.hypothetical_nodes(session.changes)
                report = pending_reasons.of_simulation(
                    report, facts, scheduler, manifests.objects, progress.advance, kept
                )
        except KeyboardInterrupt:
            report = report_builder.mark_interrupted(report)
    if report.summary.exit_code == exit_codes.INTERRUPTED:
        notifier.say("interrupted: this is the result so far")
    if options.trace:
        traces.write(facts.run.timeline, options.trace)
    return report


def _versions(question: _Question, namespace: str) -> list[tuple[str, _Question, ConfigurationChoice]]:
    """Return the question as it is, and to the kube-scheduler of the other version; each with its name."""
    other = question.session.under_version(question.options.version)
    other.change(namespace)
    return [
        (
            f"kube-scheduler {each.session.rules.release.version}, {each.session.choice.origin}",
            each,
            each.session.choice,
        )
        for each in (question, replace(question, session=other))
    ]


def _compare(
    question: _Question, compared: Sequence[tuple[str, _Question, ConfigurationChoice]], assumptions: AssumptionLog
) -> SimulationComparison:
    """Return what each side makes of the same manifests, each on a fork of its cluster.

    Args:
        question: that of the first side.
        compared: of each side what it is called, its question and its configuration.
        assumptions: what is assumed of the state.

    Raises:
        KeyboardInterrupt: somebody interrupted a run, so that there is nothing to compare.
    """
    from schedctl.simulation import comparisons

    session, results = question.session, []
    names = [name for name, *_ in compared]
    versions = [each.session.rules.release.version for _, each, _ in compared] if question.options.version else []
    for side, (_, side_question, choice) in zip(sides(names, versions), compared, strict=True):
        cluster = side_question.session.cluster
        with cluster.fork(), log_assumptions(cluster) as assumptions_of_side:
            assumptions_of_side.guesses |= assumptions.guesses
            _, facts = side_question.run(choice)
            if facts.run.end is RunEnd.INTERRUPTED:
                raise KeyboardInterrupt
            assumptions_of_side.admission(session.state.assembled.unknown)
            report = report_builder.report(
                facts,
                cluster,
                metadata=question.metadata,
                problems=question.manifests.problems,
                unmodelled=question.manifests.unmodelled,
                guesses=assumptions_of_side.describe(),
            )
        results.append(comparisons.SideRun.of(side, report, facts))
    session.notifier.report(facts.expansion.refused, "error")
    zones = utilisation.zones(session.cluster)
    comparison = comparisons.compare(
        results,
        metadata=question.metadata,
        zones=zones,
        owner_of=lambda pod: ownership.owner_name(pod, session.cluster),
        fail=question.options.fail,
    )
    return node_maps.add(comparison, session.cluster) if question.options.pictures else comparison
