"""Checks that have to hold in most draws among tied nodes (``confidence``): judged in each, and counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from schedctl.policy.summaries import summarize
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult
from schedctl.session import check as use_case
from schedctl.session.check import CheckInputs, CheckOptions
from schedctl.session.sessions import Session
from schedctl.studies.engines import Engine, Failure, InProcess
from schedctl.studies.statistics import share_of

DRAWS = 200
"""How many draws there are unless somebody says otherwise."""
Key = tuple[str, str, str, str]
"""Of results that are about one thing in every draw: policy, check, scenario, and the workload or object."""


def are_demanded(inputs: CheckInputs) -> bool:
    """Return whether some check has to hold in most draws."""
    return bool(_demands(inputs))


def check(
    session: Session, inputs: CheckInputs, options: CheckOptions, draws: int, engine: Engine | None = None
) -> CheckReport:
    """Return the report of a check; checks with a confidence are judged over many draws. The state is as before.

    Args:
        session: with the state loaded.
        inputs: what must hold, and of what.
        options: how; the first seed is 0 unless there is one.
        draws: how many.
        engine: where they are judged; in this process if None.

    Raises:
        ConfigError: see `schedctl.session.check.check`.
        InputError: likewise.
        UsageError: likewise.
    """
    report = use_case.check(session, inputs, options)
    demands = _demands(inputs)
    # what answers rest on where kinds are missing is heard in this process alone
    chosen = InProcess() if engine is None or session.cluster.missing else engine
    first = options.seed or 0
    work = _Work(session.silent(), inputs, replace(options, processes=1), frozenset(demands))
    found: list[list[CheckResult]] = []
    failures: list[str] = []
    with session.notifier.progress("drawing") as progress:
        for result in chosen.results(work, range(first, first + draws)):
            if isinstance(result, Failure):
                failures.append(result.error)
            else:
                found.append(result)
            progress.advance(len(found) + len(failures), draws, f"{len(found)} draws")
    results = _merged(report.results, found, demands)
    notes = list(report.notes)
    if failures:
        notes.append(f"{len(failures)} of {draws} draws could not be judged: {failures[0]}")
    return msgspec.structs.replace(
        report,
        results=results,
        notes=notes,
        summary=summarize(results, options.fail_on, options.on_inconclusive, report.not_judged),
    )


class _Work(msgspec.Struct, frozen=True):
    """Judges with one seed after another."""

    session: Session
    inputs: CheckInputs
    options: CheckOptions
    checks: frozenset[tuple[str, str]]

    def begin(self) -> Callable[[int], list[CheckResult]]:
        return self._judge

    def _judge(self, seed: int) -> list[CheckResult]:
        report = use_case.check(self.session, self.inputs, replace(self.options, seed=seed))
        return [each for each in report.results if (each.policy, each.check) in self.checks]


def _demands(inputs: CheckInputs) -> dict[tuple[str, str], float]:
    """Return in which part of the draws which checks must hold."""
    return {
        (policy.name, check.name): check.confidence
        for policy in inputs.rules.policies
        for check in policy.checks
        if check.confidence
    }


def _key(result: CheckResult) -> Key:
    return result.policy, result.check, result.scenario, result.workload or result.subject


def _merged(
    before: Sequence[CheckResult], draws: Sequence[Sequence[CheckResult]], demands: Mapping[tuple[str, str], float]
) -> list[CheckResult]:
    """Return the results of one run, those of checks with a confidence as all draws have them."""
    violated: dict[Key, int] = {}
    unclear: dict[Key, int] = {}
    examples: dict[Key, CheckResult] = {}
    for results in draws:
        bad = {_key(each): each for each in results if each.outcome is CheckOutcome.VIOLATED}
        doubtful = {_key(each) for each in results if each.outcome is CheckOutcome.INCONCLUSIVE} - bad.keys()
        for key in bad:
            violated[key] = violated.get(key, 0) + 1
        for key in doubtful:
            unclear[key] = unclear.get(key, 0) + 1
        for each in results:
            examples.setdefault(_key(each), each)
        examples |= {key: each for key, each in bad.items() if examples[key].outcome is not CheckOutcome.VIOLATED}
    kept = [each for each in before if (each.policy, each.check) not in demands or each.refused]
    judged = [
        _over_draws(each, violated.get(key, 0), unclear.get(key, 0), len(draws), demands[each.policy, each.check])
        for key, each in examples.items()
        if not each.refused
    ]
    order = {(each.policy, each.check): place for place, each in reversed([*enumerate(before)])}
    return sorted((*kept, *judged), key=lambda each: order.get((each.policy, each.check), len(order)))


def _over_draws(example: CheckResult, violated: int, unclear: int, draws: int, demand: float) -> CheckResult:
    """Return what a check comes to over all draws; a result that is accepted stays accepted."""
    holds = share_of(draws - violated - unclear, draws)
    counted = f"holds in {100 * holds.share:g} % of {draws} draws among tied nodes"
    demanded = f"{100 * demand:g} % demanded"
    if draws - violated - unclear >= demand * draws:
        return msgspec.structs.replace(
            example,
            outcome=CheckOutcome.PASSED,
            message=f"{counted}, {demanded}",
            reasons=[],
            hints=[],
            fixes=[],
            violates={},
        )
    if example.outcome in (CheckOutcome.EXEMPTED, CheckOutcome.BASELINED):
        return example
    outcome = CheckOutcome.VIOLATED if draws - violated < demand * draws else CheckOutcome.INCONCLUSIVE
    return msgspec.structs.replace(example, outcome=outcome, message=f"{counted}, {demanded}: {example.message}")
