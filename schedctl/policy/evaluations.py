"""From policies, manifests and a state to the `CheckReport`.

The manifests are placed on the state once, as ``schedctl simulate`` does it: the situation called ``baseline``. Each
case of a scenario that a check asks about is played on top of it (`schedctl.policy.scenarios`), and judged while it
lasts; `schedctl.policy.results` keeps what was found.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from schedctl.api.pods import Pod
from schedctl.api.times import unix_nanoseconds
from schedctl.autoscaling.group_files import NO_FILES, GroupFiles
from schedctl.cache.pod_info import PodInfo
from schedctl.documents.spelling import nearest
from schedctl.errors import ConfigError, Problem, UsageError
from schedctl.explain import remarks
from schedctl.policy import documents, idle_budgets, judged_objects, not_judged, scenarios, side_by_side, situations
from schedctl.policy import facts as data
from schedctl.policy.builtins import JUDGES, survives
from schedctl.policy.causes import Causes
from schedctl.policy.expressions import PolicyExpressions
from schedctl.policy.facts import Facts
from schedctl.policy.findings import RUN, Finding, Identity, Judged, View, inconclusive
from schedctl.policy.judged_groups import group_data
from schedctl.policy.kube_versions import version_doubt
from schedctl.policy.results import AcceptancePolicy, Results, Rule
from schedctl.policy.scenarios import Case
from schedctl.policy.situations import Key, Situation
from schedctl.policy.standing_failures import Answer, fold_standing
from schedctl.policy.summaries import FailOn, OnInconclusive, summarize, without_verdicts
from schedctl.policy.unknown_names import KnownNames, find_unknown_names
from schedctl.policy.verdicts import EvaluationFailed, ObserveCondition, Verdict
from schedctl.reports.checks import (
    CheckOutcome,
    CheckReport,
    ScenarioNodes,
)
from schedctl.reports.metadata import AssumedVolumes, Metadata
from schedctl.scheduler import Scheduler
from schedctl.scheduler.assumed_volumes import assumed_volumes
from schedctl.simulation import report_builder
from schedctl.simulation.outcomes import RunEnd
from schedctl.simulation.runs import Options
from schedctl.simulation.simulations import Simulation, simulate
from schedctl.simulation.tie_breaking import TieBreaker, first_by_name
from schedctl.sources import Manifests
from schedctl.workloads.clusters import every_pod
from schedctl.workloads.rollouts import RolloutStrategy

if TYPE_CHECKING:
    from schedctl.policy.judgements import Programs

Advance = Callable[[int, int, str], None]

_WITHOUT_QUOTA = "`allowUnknownNames: true` in the check accepts namespaces without one"
_MANY_PODS = 500
"""Running pods from which on it pays to play scenarios in processes of their own."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under which conditions manifests are placed and judged.

    Attributes:
        metadata: goes into the report; its `state_taken` is the time that ``snapshot-fresh`` looks at.
        fail_on, on_inconclusive: as in the summary of the report. Inconclusive results of checks whose violations
            would not fail do not fail either.
        strategy: how new pods take the place of old ones.
        disabled: admission plugins that are switched off.
        profile: the scheduler name of all pods that are created, "" for their own.
        now: Unix seconds, for ages.
        observe: hears what match conditions come to; nobody does if None.
        choose: which of several equally good nodes is taken.
        group_files: what files say of the groups of nodes that may grow.
    """

    metadata: Metadata = field(default_factory=Metadata)
    fail_on: FailOn = "error"
    on_inconclusive: OnInconclusive = "fail"
    strategy: RolloutStrategy = "replace"
    disabled: Sequence[str] = ()
    profile: str = ""
    now: Callable[[], float] = field(default=time.time)
    observe: ObserveCondition | None = None
    choose: TieBreaker = first_by_name
    group_files: GroupFiles = NO_FILES


def evaluate(
    policies: Sequence[documents.CheckPolicy],
    scheduler: Scheduler,
    manifests: Manifests,
    *,
    conditions: Conditions | None = None,
    accepting: AcceptancePolicy | None = None,
    advance: Advance | None = None,
    processes: int = 1,
) -> CheckReport:
    """Place the manifests on the scheduler's cluster, judge every check, and return the report.

    Everything happens in forks; in the end the cluster is as it was. `manifests` are as ``sources.load`` returns them
    on the terms of creating; their `problems` become violations.

    Args:
        policies: in the order given.
        scheduler: profiles and the state.
        manifests: what is judged.
        conditions: how it is placed and judged.
        accepting: what does not count; everything counts if None.
        advance: told how far the work is: so many of so many, and what is done now.
        processes: how many may play scenarios side by side; the report is the same for any number.

    Raises:
        ConfigError: a policy that demands it matches nothing.
        KeyboardInterrupt: the work was interrupted.
    """
    going = _Evaluation(policies, scheduler, manifests, conditions or Conditions(), accepting, advance)
    with scheduler.fork():
        going.place()
        going.judge(processes)
    return going.report()


class _ScenarioChecks(msgspec.Struct):
    """A scenario, and the checks that are judged in it."""

    scenario: documents.Scenario
    rules: list[Rule] = msgspec.field(default_factory=list)


class _Play(msgspec.Struct, frozen=True):
    """A case of a scenario, and what is judged in it.

    Attributes:
        case: the case.
        rules: the checks.
        deciding: the keys of the pods on which the answers depend, None where that is all of them.
    """

    case: Case
    rules: Sequence[Rule]
    deciding: set[str] | None


class _Answers(msgspec.Struct, frozen=True):
    """What was found in a situation.

    Attributes:
        situation: its name.
        found: by which check, what, and of which object.
        judged: the workloads that were judged.
        nodes: what the scenario does to nodes, None where nothing was simulated.
    """

    situation: str
    found: list[tuple[Rule, Finding, Judged]] = msgspec.field(default_factory=list)
    judged: set[Key] = msgspec.field(default_factory=set)
    nodes: ScenarioNodes | None = None


class _Evaluation:
    """One evaluation while it goes on."""

    def __init__(
        self,
        policies: Sequence[documents.CheckPolicy],
        scheduler: Scheduler,
        manifests: Manifests,
        conditions: Conditions,
        accepting: AcceptancePolicy | None,
        advance: Advance | None,
    ) -> None:
        self._policies = list(policies)
        self._scheduler = scheduler
        self._manifests = manifests
        self._conditions = conditions
        self._accepting = accepting
        self._advance = advance or (lambda done, total, what: None)
        self._expressions = [PolicyExpressions(policy) for policy in self._policies]
        self._programs: dict[int, Programs] = {}
        self._results = Results(policies, scheduler.cluster, accepting)
        self._notes: list[str] = []
        self._now = conditions.now()
        self._group_files = conditions.group_files
        self._taken = _seconds(conditions.metadata.state_taken)
        self._unmatched: set[int] = set()
        self._judged: set[Key] = set()
        self._scenarios: list[ScenarioNodes] = []
        self._before: dict[str, PodInfo] = {}
        self._state: data.Data = {}
        self._placed: Situation
        self._placed_names: KnownNames
        self._facts: Simulation
        self._assumed: list[AssumedVolumes]

    # -- the situations ----------------------------------------------------------

    def place(self) -> None:
        """Place the manifests."""
        cluster, conditions = self._scheduler.cluster, self._conditions
        self._before = {info.key: info for info in cluster.pod_table}
        if any("baseline" in texts.roots(scope) for texts in self._expressions for scope in documents.Scope):
            self._state = data.before(cluster)
        self._advance(0, 1, "placing the manifests")
        self._facts = simulate(
            self._scheduler,
            self._manifests.objects,
            passed=self._manifests.ignored,
            strategy=conditions.strategy,
            disabled=conditions.disabled,
            name=conditions.profile,
            options=Options(choose=conditions.choose, trace=False),
        )
        if self._facts.run.end is RunEnd.INTERRUPTED:
            raise KeyboardInterrupt
        # one whose name is generated is found by its place
        sourced = {
            (str(one.kind), one.object.metadata.namespace or "default", one.object.metadata.name or one.place): one
            for one in self._manifests.objects
        }
        self._placed = situations.released_situation(self._facts, self._scheduler, sourced)
        self._placed.choose = conditions.choose
        self._placed_names = KnownNames.of(self._placed)
        pods = (outcome.pod.pod for outcome in self._facts.run.pods.values())
        self._assumed = assumed_volumes(pods, cluster)
        self._notes += self._warnings()
        self._notes += map(str, idle_budgets.find(self._manifests.objects, self._placed))

    def _warnings(self) -> Iterator[str]:
        """Yield what plugins find in the specs of the manifests that does not do what was probably meant."""
        rollouts = self._facts.controller.rollouts
        for rollout, (pod, replicas) in zip(rollouts, report_builder.examples(self._facts), strict=True):
            for each in remarks.warnings(self._scheduler, pod, replicas) if pod is not None else ():
                yield f"{rollout.update.workload.subject}: {each.text}"

    def judge(self, processes: int) -> None:
        """Judge every check in every situation that it asks about."""
        to_play: dict[str, _ScenarioChecks] = {}
        unchanged: list[Rule] = []
        for number, policy in enumerate(self._policies):
            self._look_at_match(number, policy)
            if self._find_version_doubt(policy) is not None:
                unchanged += (Rule(number, place) for place in range(len(policy.checks)))
                continue
            by_name = {scenario.name: scenario for scenario in policy.scenarios}
            for place, check in enumerate(policy.checks):
                for name in check.judged_in:
                    if name == documents.BASELINE:
                        unchanged.append(Rule(number, place))
                    else:
                        scenario = by_name[name]
                        # Policies may have a scenario in common; it is played once for all of them.
                        same = to_play.setdefault(_identity(scenario), _ScenarioChecks(scenario))
                        same.rules.append(Rule(number, place))
        before = self._collect(self._judge_all(self._placed, unchanged))
        steps = [step for each in to_play.values() for step in self._steps(each)]
        plays = [step for step in steps if isinstance(step, _Play)]
        known = [part for judged in self._placed.workloads for part in (judged.workload, judged.sourced)]
        answers = side_by_side.answers(
            lambda number: self._play(plays[number]), len(plays), self._processes(processes), known
        )
        in_scenarios: list[Answer] = []
        for number, step in enumerate(steps):
            if isinstance(step, _Play):
                self._advance(number, len(steps), f"simulating {step.case.name}")
            in_scenarios += self._collect(next(answers) if isinstance(step, _Play) else step)
        for answer in fold_standing(before, self._before_scenarios(in_scenarios, unchanged), in_scenarios):
            self._results.add(*answer)

    def _before_scenarios(self, in_scenarios: Iterable[Answer], judged_before: Collection[Rule]) -> list[Answer]:
        """Return what checks that are judged in scenarios alone find before them, about the objects that fail there."""
        failing: dict[Rule, set[Identity]] = {}
        for each in in_scenarios:
            if each.is_failure and each.rule not in judged_before:
                failing.setdefault(each.rule, set()).add(each.about.identity)
        return self._collect(self._judge_all(self._placed, failing, failing))

    def _processes(self, processes: int) -> int:
        """Return how many processes play scenarios; it is one where it would not pay, or could not be done."""
        cluster = self._scheduler.cluster
        with_others = any(profile.extenders or profile.absent for profile in self._scheduler.profiles.values())
        # What answers rest on where kinds are missing is heard in this process alone; so are others and conditions.
        is_heard = cluster.missing or with_others or self._conditions.observe is not None
        return 1 if is_heard or len(cluster.pod_table) < _MANY_PODS else processes

    def _steps(self, each: _ScenarioChecks) -> Sequence[_Play | _Answers]:
        """Return the cases of a scenario, or the answer that there are none to play."""
        try:
            cases = scenarios.cases(each.scenario, self._scheduler.cluster)
        except UsageError as error:
            return [_unplayable(each.rules, each.scenario.name, error)]
        deciding = self._decisive_keys(each.rules)
        return [_Play(case, each.rules, deciding) for case in cases]

    def _play(self, play: _Play) -> _Answers:
        """Judge the checks of a scenario in one of its cases."""
        try:
            with scenarios.play(play.case, self._placed, play.deciding) as situation:
                return replace(self._judge_all(situation, play.rules), nodes=_nodes_in(situation))
        except UsageError as error:
            return _unplayable(play.rules, play.case.name, error)

    def _collect(self, answers: _Answers) -> list[Answer]:
        """Return what was found, and note what was judged."""
        self._judged |= answers.judged
        if answers.nodes is not None:
            self._scenarios.append(answers.nodes)
        return [Answer(*each, answers.situation) for each in answers.found]

    def _decisive_keys(self, rules: Iterable[Rule]) -> set[str] | None:
        """Return the keys of the pods on which the answers depend, None where that is all of them."""
        keys: set[str] = set()
        for number, place in rules:
            policy = self._policies[number]
            arguments = policy.checks[place].arguments
            # Other checks, and conditions, may ask about every pod.
            if not isinstance(arguments, documents.Survives) or policy.checks[place].conditions:
                return None
            for judged in situations.selected_workloads(self._placed.workloads, policy.match):
                keys.update(survives.decisive_pods(judged, arguments))
        return keys

    def _look_at_match(self, number: int, policy: documents.CheckPolicy) -> None:
        self._notes += _misspelt_namespaces(policy, self._placed)
        none = not self._placed.workloads
        if situations.selected_workloads(self._placed.workloads, policy.match) or (none and self._manifests.problems):
            return
        self._unmatched.add(number)
        message = f"policy {policy.name} matches nothing in the manifests"
        if policy.require_match:
            place = policy.location
            unmatched = Problem(message, policy.source, place.line, place.column, "spec.match")
            # what the policy is about may be among the objects that could not be read
            raise ConfigError([*self._problems(), unmatched])
        if not none:
            self._notes.append(message)

    # -- the checks --------------------------------------------------------------

    def _judge_all(
        self, situation: Situation, rules: Iterable[Rule], only: Mapping[Rule, Collection[Identity]] | None = None
    ) -> _Answers:
        """Return what checks find in a situation.

        Args:
            situation: the situation; the cluster is as it says.
            rules: the checks.
            only: the objects to ask about, by check; None for all.
        """
        answers = _Answers(situation.name)
        for programs in self._programs.values():
            programs.begin_situation()
        causes = Causes(situation)
        facts = Facts(situation, causes)
        views: dict[int, View] = {}
        for rule in rules:
            number, place = rule
            policy = self._policies[number]
            if number not in views:
                matched = situations.selected_workloads(situation.workloads, policy.match)
                views[number] = View(
                    situation,
                    facts,
                    causes,
                    matched,
                    policy.match,
                    self._before,
                    self._taken,
                    self._now,
                    self._group_files,
                )
            check = policy.checks[place]
            causes.begin_check()
            unclear = self._find_version_doubt(policy) or self._find_unknown_names(check, views[number])
            if unclear is not None:
                answers.found.append((rule, unclear, RUN))
                continue
            for about in judged_objects.objects(check, views[number]):
                # What is said of the run may be about groups of nodes, which have identities of their own.
                if only is not None and about != RUN and about.identity not in only[rule]:
                    continue
                for finding in self._findings(number, check, about, views[number]):
                    answers.found.append((rule, finding, finding.about or about))
                    # What a check says of nodes or the run, it says of the pods of all workloads of its policy.
                    if not isinstance(check.arguments, documents.SnapshotFresh):
                        judged = judged_objects.workloads_behind(about, views[number])
                        answers.judged.update(each.key for each in judged)
        return answers

    def _find_version_doubt(self, policy: documents.CheckPolicy) -> Finding | None:
        """Return what to say of the checks of a policy for other versions than this one, None where it is for it."""
        doubt = version_doubt(policy.kube_version, self._conditions.metadata)
        return inconclusive(doubt[0], hints=[doubt[1]]) if doubt is not None else None

    def _find_unknown_names(self, check: documents.Check, view: View) -> Finding | None:
        """Return what to say of a built-in check that names what is not there, None where it can be judged."""
        if check.scope is documents.Scope.WORKLOAD and not view.workloads:
            return None
        return find_unknown_names(check, self._placed_names, view.situation)

    def _findings(self, number: int, check: documents.Check, about: Judged, view: View) -> Iterator[Finding]:
        judgement = None
        if check.scope is documents.Scope.QUOTA and about.kind != "ResourceQuota":
            hint = "`kubectl get resourcequotas --all-namespaces -o yaml` lists them; " + _WITHOUT_QUOTA
            yield inconclusive("the state has no ResourceQuota of this namespace", hints=[hint])
            return
        if check.conditions or check.validations:
            values = self._values(number, check.scope, about, view)
            judgement = self._programs_of(number).judgement(check.scope, values, judged_objects.doubts(about, view))
        if not check.builtin:
            verdict = judgement.judge(check) if judgement is not None else None
            if verdict is not None:
                yield _of_verdict(verdict)
            return
        try:
            if judgement is not None and not judgement.applies(check):
                return
        except EvaluationFailed as failed:
            yield _of_verdict(failed.verdict)
            return
        yield from JUDGES[check.builtin](view, check.arguments, about)

    def _programs_of(self, number: int) -> Programs:
        if number not in self._programs:
            # Loads the CEL engine, which policies of built-in checks alone do without.
            from schedctl.policy.judgements import Programs

            self._programs[number] = Programs(self._expressions[number], self._conditions.observe)
        return self._programs[number]

    def _values(self, number: int, scope: documents.Scope, about: Judged, view: View) -> dict[str, Any]:
        """Return what the expressions of a policy read of an object."""
        made: dict[str, Callable[[], Any]] = {"result": view.facts.result, "baseline": lambda: self._state}
        if about.workload is not None:
            judged = about.workload
            made["workload"] = lambda: view.facts.workload(judged, self._expressions[number].words(scope))
            if about.pod is not None:
                pod = about.pod
                made["pod"] = lambda: view.facts.pod(pod, judged)
        elif scope is documents.Scope.RUN:
            known = view.facts.in_namespaces
            made |= {"nodes": view.facts.nodes, "namespaces": known.namespaces, "quotas": known.quotas}
        elif about.kind == "Node":
            made["node"] = lambda: view.facts.node(about.name)
        if about.kind == "PodGroup":
            made["group"] = lambda: group_data(view.situation, f"{about.namespace}/{about.name}")
        if about.kind == "ResourceQuota":
            made["quota"] = lambda: view.facts.in_namespaces.quota(about.namespace, about.name)
        if namespace := judged_objects.namespace_of(about):
            made["namespaceObject"] = lambda: view.facts.in_namespaces.namespace(namespace)
        uses = self._expressions[number].roots(scope)
        return {name: make() for name, make in made.items() if name in uses}

    def _problems(self) -> Iterator[Problem]:
        yield from self._manifests.problems
        yield from self._facts.expansion.refused
        for rejected in self._facts.controller.admission.rejected:
            if not isinstance(rejected.object, Pod):
                metadata = rejected.object.metadata
                name = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
                yield Problem(rejected.message, subject=f"{type(rejected.object).__name__} {name}")

    # -- the report --------------------------------------------------------------

    def report(self) -> CheckReport:
        """Return the report."""
        self._results.add_refused(self._problems())
        self._results.add_unmodelled(self._manifests.unmodelled)
        conditions = self._conditions
        doubts = [f"assumed: {each.text}" for each in self._assumed if not each.certain]
        results = without_verdicts(self._results.located(), doubts)
        unjudged = not_judged.find(self._manifests, self._placed.workloads, self._judged, self._facts.expansion.skipped)
        notes = [
            *self._notes,
            *_unused_scenarios(self._policies),
            *not_judged.remarks(self._placed.workloads),
            *(f"assumed: {each.text}" for each in self._assumed if each.certain),
            *self._results.idle(self._unmatched),
            *(self._accepting.notes() if self._accepting is not None else ()),
            *not_judged.notes(unjudged),
        ]
        return CheckReport(
            metadata=conditions.metadata,
            summary=summarize(results, conditions.fail_on, conditions.on_inconclusive, unjudged),
            policies=self._results.rules(),
            results=results,
            not_judged=unjudged,
            notes=list(dict.fromkeys(notes)),
            scenarios=self._scenarios,
        )


def _unplayable(rules: Iterable[Rule], name: str, error: UsageError) -> _Answers:
    hints = (error.hint,) if error.hint else ()
    finding = Finding(CheckOutcome.INCONCLUSIVE, f"{name} cannot be simulated: {error}", hints=hints)
    return _Answers(name, [(rule, finding, RUN) for rule in rules])


def _misspelt_namespaces(policy: documents.CheckPolicy, placed: Situation) -> Iterator[str]:
    """Yield a note for each namespace that a policy matches, that nothing is in, and that is spelt like another one."""
    there = {judged.workload.namespace for judged in placed.workloads}
    there |= {info.namespace for info in every_pod(placed.cluster)} if policy.match.namespaces else set()
    for namespace in policy.match.namespaces:
        if namespace not in there and (close := nearest(namespace, sorted(there))):
            yield f"policy {policy.name} matches namespace {namespace}, which has no pods; did you mean {close}?"


def _unused_scenarios(policies: Iterable[documents.CheckPolicy]) -> Iterator[str]:
    """Yield a note for each scenario in which nothing is judged."""
    for policy in policies:
        used = {name for check in policy.checks for name in check.judged_in}
        for scenario in policy.scenarios:
            if scenario.name not in used:
                yield f"scenario {scenario.name} of policy {policy.name} is not used by any check"


def _identity(scenario: documents.Scenario) -> str:
    """Return what is equal for scenarios that have one name and change the same."""
    return json.dumps([scenario.name, scenario.topology_key, list(scenario.changes)], default=str, sort_keys=True)


def _of_verdict(verdict: Verdict) -> Finding:
    violates = dict.fromkeys(verdict.violates, 1)
    return Finding(verdict.outcome, verdict.message or "holds", verdict.reasons, verdict.hints, violates=violates)


def _seconds(written: str) -> float | None:
    """Return a time in Unix seconds, None where it is none."""
    try:
        return unix_nanoseconds(written) / 1e9 if written else None
    except ValueError:
        return None


def _nodes_in(situation: Situation) -> ScenarioNodes:
    """Return what a scenario does to nodes."""
    lost = situation.nodes_before.keys() - situation.cluster.node_table.row_of.keys()
    return ScenarioNodes(scenario=situation.name, changes=situation.changes, lost=sorted(lost))
