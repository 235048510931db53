"""Finds the tests of policies, runs them, and rewrites what they expect where that is asked for."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from schedctl.api.custom_kinds import CustomKind
from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.api.kinds import Kind
from schedctl.documents.spelling import did_you_mean
from schedctl.errors import ConfigError, InputError, Problem, ProblemsError, SchedctlError, UsageError
from schedctl.policy import baselines, expectation_updates, expectations, reading
from schedctl.policy.coverage import Coverage
from schedctl.policy.documents import BUILT_IN_POLICY, CheckPolicy
from schedctl.policy.expectations import PolicyTest
from schedctl.reports import exit_codes
from schedctl.reports.checks import CheckReport, CheckSummary
from schedctl.reports.policy_tests import CheckPolicyTestReport, PolicyTestResult, PolicyTestSummary
from schedctl.session import check, manifests, report_files, runs
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.session.sessions import SchedulerOptions, Session
from schedctl.session.states import State, StateSource
from schedctl.session.version_options import DEFAULT_VERSION, VersionOptions
from schedctl.sources import files

_MOST_BYTES = 4 << 20
_MARK = re.compile(rb"schedctl\.dev/|" + reading.TEST_KIND.encode(), re.IGNORECASE)
_States = dict[tuple[tuple[str, ...], tuple[Kind, ...], VersionOptions], State]


class TestDefaults(msgspec.Struct, frozen=True):
    """What holds for tests that say nothing else.

    Attributes:
        scheduler: the configuration of those that set neither one nor a profile, and the plugins of all.
        versions: the version and the feature gates of those that set none.
    """

    __test__ = False  # pytest would collect it

    scheduler: SchedulerOptions = msgspec.field(default_factory=SchedulerOptions)
    versions: VersionOptions = DEFAULT_VERSION


"""What was read of the files of tests, by the files and the kinds that plugins read."""


def find(paths: Sequence[str], *, allow_empty: bool, notifier: Notifier = SILENT) -> list[PolicyTest]:
    """Return the tests in folders and files.

    Raises:
        ConfigError: a test cannot be understood.
        InputError: there is nothing of a name, or there are no tests.
    """
    problems: list[Problem] = []
    left_out: list[Problem] = []
    sources = files.find(paths, recursive=True, stdin_filename="<stdin>", problems=problems, warnings=left_out)
    if not notifier.quiet:
        notifier.report(left_out, "warning")
    if problems:
        raise InputError(problems)
    tests: list[PolicyTest] = []
    for source in sources:
        if source.path is None or source.size > _MOST_BYTES:
            continue
        try:
            data = source.read(None)
        except files.Unreadable:
            continue  # whatever it is, it is no test
        # A folder may be full of other YAML, good and bad: only what may hold a test is parsed.
        if _MARK.search(data):
            found, wrong = expectations.tests_in(data, source.name)
            tests += found
            problems += wrong
    if problems:
        raise ConfigError(problems)
    if not (tests or allow_empty):
        hint = "a test is a document of `kind: CheckPolicyTest`; use `--allow-empty` to accept none"
        raise InputError([Problem(f"no tests in {', '.join(paths)}", hint=hint)])
    return tests


def find_policies(paths: Sequence[str]) -> tuple[list[CheckPolicy], list[str]]:
    """Return the policies in folders and files, and the files with some that cannot be read, as tests may need them."""
    policies: list[CheckPolicy] = []
    unreadable = []
    for source in files.find(paths, recursive=True, stdin_filename="<stdin>", problems=[], warnings=[]):
        if source.path is None or source.size > _MOST_BYTES:
            continue
        try:
            data = source.read(None)
        except files.Unreadable:
            continue
        if _MARK.search(data):
            found, wrong = reading.policies_in(data, source.name, others=True)
            policies += [] if wrong else found
            unreadable += [source.name] if wrong else []
    return policies, unreadable


class CoverageDemand(msgspec.Struct, frozen=True):
    """What tests have to exercise.

    Attributes:
        paths: folders and files whose policies count, besides those that the tests name.
        least: of a hundred outcomes and answers, how many have to come.
    """

    paths: Sequence[str]
    least: float = 0

    def measure(self, report: CheckPolicyTestReport, coverage: Coverage) -> CheckPolicyTestReport:
        """Return a report with what its tests exercised, which fails where that is too little."""
        policies, unreadable = find_policies(self.paths)
        coverage.add_policies(policies)
        measured = coverage.report(self.least, unreadable)
        exit_code = report.summary.exit_code if measured.is_enough else 1
        summary = msgspec.structs.replace(report.summary, exit_code=exit_code)
        return msgspec.structs.replace(report, summary=summary, coverage=measured)


def select(tests: Sequence[PolicyTest], names: Sequence[str]) -> list[PolicyTest]:
    """Return the tests whose name or file has one of some words in it, in any case; all if there are no words.

    Raises:
        InputError: a word is in none.
    """
    words = {name: name.casefold() for name in names}
    places = [f"{test.source}: {test.name}".casefold() for test in tests]
    for name, word in words.items():
        if not any(word in place for place in places):
            hint = did_you_mean(name, [test.name for test in tests])
            raise InputError([Problem(f'no test is called "{name}"', hint=hint)])
    return [
        test
        for test, place in zip(tests, places, strict=True)
        if not words or any(word in place for word in words.values())
    ]


def run(
    tests: Sequence[PolicyTest],
    *,
    update: bool,
    not_selected: int = 0,
    demand: CoverageDemand | None = None,
    defaults: TestDefaults | None = None,
    custom_kinds: tuple[CustomKind, ...],
    notifier: Notifier = SILENT,
) -> CheckPolicyTestReport:
    """Return what came of tests.

    Args:
        tests: in the order in which they are run.
        update: whether to rewrite what they expect; what is rewritten is said.
        not_selected: how many tests there are besides.
        demand: what they have to exercise, None for anything.
        defaults: what holds for tests that say nothing else.
        custom_kinds: the custom kinds that are read.
        notifier: hears what policies warn of, and what is rewritten.

    Raises:
        ConfigError: the configuration cannot be read, or kube-scheduler would refuse it.
        UsageError: a plugin cannot be loaded, the version is none, or the configuration is to come from standard input.
    """
    defaults = defaults or TestDefaults()
    scheduler = defaults.scheduler
    if scheduler.configuration == files.STDIN:
        raise UsageError("each test reads --scheduler-config, and standard input can be read only once", "name a file")
    Session(StateSource((), versions=defaults.versions), scheduler)  # a mistake in an option is no failure of a test
    states: _States = {}
    coverage = Coverage() if demand is not None else None
    results, reports = [], []
    with notifier.progress("testing") as progress:
        for number, test in enumerate(tests):
            progress.advance(number, len(tests), test.name)
            report, fault_lines = _check(test, states, defaults, custom_kinds, coverage, notifier)
            reports.append(report)
            results.append(_result(test, report, fault_lines))
    if update:
        results = _update(tests, results, reports, notifier)
    outcomes = [result.outcome for result in results]
    summary = PolicyTestSummary(
        exit_code=exit_codes.of_answer(failed="Failed" in outcomes),
        tests=len(results),
        passed=outcomes.count("Passed"),
        failed=outcomes.count("Failed"),
        updated=outcomes.count("Updated"),
        not_selected=not_selected,
    )
    whole = CheckPolicyTestReport(summary=summary, results=results)
    return whole if demand is None or coverage is None else demand.measure(whole, coverage)


def _result(test: PolicyTest, report: CheckReport, fault_lines: list[str]) -> PolicyTestResult:
    differences = [*expectations.differences(test, report, fault_lines)]
    if differences:
        differences += fault_lines
    outcome: Literal["Passed", "Failed"] = "Failed" if differences else "Passed"
    return PolicyTestResult(
        test=test.name,
        file=test.source,
        line=test.line,
        outcome=outcome,
        differences=differences,
        exit_code=report.summary.exit_code,
        results=[expectations.describe(each) for each in report.results],
    )


def _check(
    test: PolicyTest,
    states: _States,
    defaults: TestDefaults,
    custom_kinds: tuple[CustomKind, ...],
    coverage: Coverage | None,
    notifier: Notifier,
) -> tuple[CheckReport, list[str]]:
    """Return what checking says, and the lines of a fault that ended it, whose exit code may well be expected."""
    try:
        return _report(test, states, defaults, custom_kinds, coverage, notifier), []
    except ProblemsError as fault:
        lines = [str(problem) + (f" ({problem.hint})" if problem.hint else "") for problem in fault.problems]
        return CheckReport(summary=CheckSummary(exit_code=fault.exit_code, results=0)), lines
    except SchedctlError as fault:
        return CheckReport(summary=CheckSummary(exit_code=fault.exit_code, results=0)), [str(fault)]


def _report(
    test: PolicyTest,
    states: _States,
    defaults: TestDefaults,
    custom_kinds: tuple[CustomKind, ...],
    coverage: Coverage | None,
    notifier: Notifier,
) -> CheckReport:
    options = test.options
    now = _seconds(options.now) if options.now else time.time()
    scheduler, versions = defaults.scheduler, defaults.versions
    if options.kube_version or options.feature_gates:
        versions = VersionOptions(
            options.kube_version, options.feature_gates, versions.strict, "kubeVersion", "kubeVersion: "
        )
    source = StateSource(test.state, versions=versions)
    configuration = options.scheduler_config or ("" if options.profile else scheduler.configuration)
    session = Session(source, SchedulerOptions(configuration, options.profile, plugins=scheduler.plugins))
    # Tests of the same state share it, for a check leaves it as it was.
    shared = (test.state, session.kinds, versions)
    if shared not in states:
        states[shared] = source.load(kinds=session.kinds)
    session.load(states[shared])
    check_options = check.CheckOptions(
        fail_on=check.parse_word("failOn", options.fail_on, check.FAIL_ON),
        on_inconclusive=check.parse_word("onInconclusive", options.on_inconclusive, check.ON_INCONCLUSIVE),
        max_age=check.parse_max_age(options.max_age),
        inline=options.inline_ignores,
        allow_empty=options.allow_empty,
        baseline=baselines.read(options.baseline) if options.baseline else None,
        strategy=runs.rollout_strategy(options.rollout),
        now=now,
        observe=coverage.add_condition if coverage is not None else None,
    )
    rules = reading.load(test.policies) if test.policies else reading.Read([BUILT_IN_POLICY])
    if coverage is not None:
        coverage.add_policies(rules.policies)
    read = manifests.load(
        test.manifests,
        (),
        recursive=True,
        stdin_filename="",
        namespace=options.namespace or DEFAULT_NAMESPACE,
        allow_empty=options.allow_empty,
        strict=False,
        custom_kinds=custom_kinds,
        kinds=session.kinds,
    )
    report = check.check(session, check.CheckInputs(rules, read, ()), check_options)
    if coverage is not None:
        coverage.add_report(report)
    return report


def _seconds(time_of_day: str) -> float:
    """Return a time in Unix seconds; one without a zone is UTC, wherever the test runs."""
    moment = datetime.fromisoformat(time_of_day)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _update(
    tests: Sequence[PolicyTest],
    results: Sequence[PolicyTestResult],
    reports: Sequence[CheckReport],
    notifier: Notifier,
) -> list[PolicyTestResult]:
    """Rewrite what failing tests expect, from the last in a file to the first, so that places stay right."""
    updated = list(results)
    texts: dict[str, tuple[str, str]] = {}
    order = sorted(range(len(tests)), key=lambda number: tests[number].expect[0], reverse=True)
    for number in order:
        test, result = tests[number], results[number]
        if result.outcome != "Failed":
            continue
        if reports[number].summary.exit_code >= 2 and not reports[number].results:
            continue  # nothing was checked, and what is broken is no expectation
        before, now = texts.get(test.source) or (_text(test.source),) * 2
        written = expectation_updates.rewrite_expectation(now, test, reports[number])
        if written is None:
            hint = "cannot update it: write `expect:` on its own line below `spec:`, with its fields below"
            updated[number] = msgspec.structs.replace(result, differences=[*result.differences, hint])
            continue
        texts[test.source] = (before, written)
        updated[number] = msgspec.structs.replace(result, outcome="Updated")
    for file, (before, now) in sorted(texts.items()):
        lines = difflib.unified_diff(before.splitlines(), now.splitlines(), file, file, lineterm="", n=2)
        for line in lines:
            notifier.say(line)
        report_files.write(file, now, "--update")
    return updated


def _text(file: str) -> str:
    return Path(file).read_bytes().decode()
