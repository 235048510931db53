"""What is said of a check in every form: which results are findings, the worst first, and how they are called.

The words are plain text of one line; each form escapes them in its own way.
"""

from __future__ import annotations

import contextlib
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

import msgspec

from schedctl.policy import summaries
from schedctl.render import notices
from schedctl.reports import counts
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult, CheckRule, Location, PolicyRules, Severity

BASELINE = "baseline"
"""The scenario in which nothing is changed, which is not mentioned."""
STDIN = "<stdin>"
"""The name of what came without one; it is no file that somebody could open."""
_INCONCLUSIVE = {"fail": Severity.ERROR, "warn": Severity.WARNING, "ignore": Severity.INFO}
_SCENARIOS = 4
"""How many scenarios are named."""
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


class Rule(msgspec.Struct, frozen=True):
    """A check and the policy it stands in.

    Attributes:
        policy: the policy.
        check: the check.
        id: how the check is called where all checks of a run have one list: ``policy/check``, whatever other policies
            there are.
    """

    policy: PolicyRules
    check: CheckRule
    id: str


class FindingGroup(msgspec.Struct, frozen=True):
    """One finding in all scenarios in which it is the same; what stands behind it may differ.

    Attributes:
        results: a result for each scenario.
    """

    results: list[CheckResult]

    @property
    def first(self) -> CheckResult:
        """The result that stands for all of them."""
        return self.results[0]

    @property
    def subject(self) -> str:
        """Whom it is about, ``Deployment shop/web (in each of 2 scenarios, lose-zone=eu-1a, eu-1b)``."""
        if len(self.results) == 1:
            return subject_of(self.first)
        return f"{self.first.subject} (in {self.scenarios})"

    @property
    def scenarios(self) -> str:
        """The scenarios of which it is true, ``each of 2 scenarios, lose-zone=eu-1a, eu-1b``."""
        names = _join_scenarios([each.scenario for each in self.results])
        return f"each of {len(self.results)} scenarios, {names}" if len(self.results) > 1 else f"scenario {names}"

    @property
    def others(self) -> str:
        """The scenarios in which something else stands behind the finding than in the first; "" for none."""
        others = [each for each in self.results if each.reasons != self.first.reasons]
        return _join_scenarios([each.scenario for each in others])


def _join_scenarios(names: list[str]) -> str:
    """Return scenarios in words: their name once where each is another value of it."""
    parts = [name.partition("=") for name in names]
    if len(names) > 1 and all(value for *_, value in parts) and len({scenario for scenario, *_ in parts}) == 1:
        return f"{parts[0][0]}={_shorten([value for *_, value in parts])}"
    return _shorten(names)


def _shorten(names: list[str]) -> str:
    more = f" and {len(names) - _SCENARIOS} more" if len(names) > _SCENARIOS else ""
    return ", ".join(names[:_SCENARIOS]) + more


def grouped_findings(report: CheckReport) -> list[FindingGroup]:
    """Return the open findings, those that are equal in several scenarios once."""
    groups: dict[object, list[CheckResult]] = {}
    for each in open_findings(report):
        key = (each.policy, each.check, each.kind, each.namespace, each.name, each.subject, each.outcome, each.message)
        groups.setdefault((*key, each.refused), []).append(each)
    return [FindingGroup(results) for results in groups.values()]


def open_findings(report: CheckReport) -> list[CheckResult]:
    """Return what is violated or inconclusive and not accepted, the worst first, else in the order of the report."""
    results = [each for each in report.results if each.outcome in (CheckOutcome.VIOLATED, CheckOutcome.INCONCLUSIVE)]
    return sorted(results, key=lambda each: (_ORDER[level(report, each)], each.outcome is CheckOutcome.INCONCLUSIVE))


def accepted_results(report: CheckReport) -> list[CheckResult]:
    """Return what would be a finding if nobody had accepted it."""
    return [each for each in report.results if each.outcome in (CheckOutcome.EXEMPTED, CheckOutcome.BASELINED)]


def level(report: CheckReport, result: CheckResult) -> Severity:
    """Return how bad a finding is: the severity of its check, or less where the run makes less of inconclusive ones."""
    severities = [result.severity, *([_INCONCLUSIVE[report.summary.on_inconclusive]] if inconclusive(result) else [])]
    return max(severities, key=_ORDER.__getitem__)  # the milder one


def fails(report: CheckReport, result: CheckResult) -> bool:
    """Return whether a finding keeps the run from passing."""
    return summaries.fails(result, report.summary.fail_on, report.summary.on_inconclusive)


def inconclusive(result: CheckResult) -> bool:
    """Return whether nobody can tell."""
    return result.outcome is CheckOutcome.INCONCLUSIVE


def rules(report: CheckReport) -> list[Rule]:
    """Return all checks; those of results whose policy is not listed are made up from the results."""
    listed = {(policy.name, check.name): (policy, check) for policy in report.policies for check in policy.checks}
    for each in report.results:
        if (each.policy, each.check) not in listed:
            check = CheckRule(name=each.check, severity=each.severity)
            listed[each.policy, each.check] = (PolicyRules(name=each.policy, checks=[check]), check)
    return [Rule(policy, check, rule_id(policy.name, check.name)) for policy, check in listed.values()]


def rule_id(policy: str, check: str) -> str:
    """Return how a check is called in a list of all checks."""
    return f"{policy}/{check}"


def share_out(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Return results in the order in which places are given to them where there are not enough.

    Each rule gets a place before any gets another, so that one rule with many findings does not hide the others.
    """
    seen: Counter[tuple[str, str]] = Counter()
    turns = []
    for each in results:
        turns.append((seen[each.policy, each.check], each))
        seen[each.policy, each.check] += 1
    return [each for _, each in sorted(turns, key=lambda turn: turn[0])]


def count_by_rule(results: Iterable[CheckResult]) -> str:
    """Return how many results there are of each check, in words, the most frequent first."""
    return ", ".join(f"{count} of {name}" for name, count in Counter(each.check for each in results).most_common())


def subject_of(result: CheckResult) -> str:
    """Return whom a result is about, ``Deployment shop/web (lose-zone=eu-1a)``."""
    return result.subject if result.scenario == BASELINE else f"{result.subject} ({result.scenario})"


def sentence(result: CheckResult) -> str:
    """Return what was found, in one line."""
    return f"{subject_of(result)}: {'inconclusive: ' if inconclusive(result) else ''}{result.message}"


def details(result: CheckResult) -> Iterator[str]:
    """Yield what stands behind a finding and what could be done, a line each."""
    yield from result.reasons
    yield from (f"hint: {hint}" for hint in result.hints)


def file_of(location: Location) -> str:
    """Return the file that a location is in, from where we are, as code hosts name it; "" where there is none."""
    if location.file in ("", STDIN):
        return ""
    path = PurePath(location.file)
    if path.is_absolute():
        with contextlib.suppress(ValueError):
            path = path.relative_to(Path.cwd())
    return posixpath.normpath(path.as_posix())


def place(location: Location) -> str:
    """Return ``file:line:column`` as far as it is known."""
    if not location.file or not location.line:
        return location.file
    return (
        f"{location.file}:{location.line}:{location.column}" if location.column else f"{location.file}:{location.line}"
    )


def location_of(report: CheckReport, result: CheckResult) -> Location:
    """Return where to show a result: at its object, else at the line of the policy that states the check.

    Code hosts leave out what has no file, or refuse the whole upload.
    """
    if file_of(result.location):
        return result.location
    policy = next((each for each in report.policies if each.name == result.policy), None)
    check = next((each for each in policy.checks if each.name == result.check), None) if policy is not None else None
    if check is not None and file_of(check.location):
        return check.location
    return Location(file=policy.source if policy is not None else "")


def acceptance(result: CheckResult) -> str:
    """Return why an accepted result does not count."""
    why = result.acceptance
    if why is None or why.by == "baseline":
        return "in the baseline" if result.outcome is CheckOutcome.BASELINED else "exempted"
    until = f", until {why.expires}" if why.expires else ""
    return f"exempted by the {why.by}{until}: {why.reason}"


def tally(report: CheckReport) -> str:
    """Return the numbers, in words; what most runs do not have is mentioned only where there is some."""
    summary = report.summary
    parts = [
        counts.of(summary.results, "result"),
        f"{summary.passed} passed",
        counts.of(summary.errors, "error"),
        counts.of(summary.warnings, "warning"),
        *([f"{summary.infos} info"] if summary.infos else []),
        f"{summary.exempted} exempted",
        *([f"{summary.baselined} in the baseline"] if summary.baselined else []),
        f"{summary.inconclusive} inconclusive",
        *not_judged(report),
    ]
    return ", ".join(parts)


def not_judged(report: CheckReport) -> list[str]:
    """Return how much was not judged, in words, as the last part of the numbers; nothing if everything was."""
    numbers = Counter[str]()
    for each in report.not_judged:
        numbers[each.kind.lower()] += each.count
    return [f"not judged: {', '.join(counts.of(count, kind) for kind, count in numbers.items())}"] if numbers else []


def basis(report: CheckReport) -> str:
    """Return by which policies and which kube-scheduler was judged, in words."""
    source = notices.source_of_version(report.metadata)
    return ", ".join(filter(None, (policies(report), notices.rules(report.metadata), source)))


def policies(report: CheckReport) -> str:
    """Return the names of the policies, in words."""
    names = [policy.name for policy in report.policies]
    return f"{'policy' if len(names) == 1 else 'policies'} {', '.join(names)}" if names else "no policy"
