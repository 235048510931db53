"""Tests of policies: `CheckPolicyTest`, what it expects of a report, and in what a report differs from that.

`schedctl.policy.reading` tells these documents from policies; ``schedctl test --update`` has expectations rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec.structs import replace

from schedctl.config.loading import conversion_hint
from schedctl.config.settings_file import CHOICES, is_age
from schedctl.documents.heads import HEAD, open_document, place
from schedctl.documents.spelling import did_you_mean, nearest
from schedctl.errors import ConfigError, Problem
from schedctl.policy.confinement import is_inside, root_of
from schedctl.policy.documents import API_VERSION, BASELINE
from schedctl.policy.forms import Form, Metadata
from schedctl.policy.reading import TEST_KIND, documents, kind_in
from schedctl.reports import exit_codes
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult
from schedctl.sources.pins import split_pin
from schedctl.workloads.rollouts import RolloutStrategy

_OUTCOMES: Final = tuple(outcome.value for outcome in CheckOutcome)
_NEAR: Final = 3
_EXIT_CODES: Final = (0, 1, 2, 3, 4, 5)
_FAULTS: Final = (2, 3, 4)


class Expected(Form, frozen=True):
    """A result that is expected; what is not given may be anything.

    Attributes:
        policy, check, scenario: which rule.
        subject: how messages name the object, e.g. ``Deployment shop/web``; pods also go by that of their workload.
        kind, namespace, name: the object.
        outcome: what came of it.
        message: a part of the message, or all of it.
    """

    policy: str = ""
    check: str = ""
    scenario: str = ""
    subject: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    outcome: str = ""
    message: str = ""

    def about(self, result: CheckResult) -> bool:
        """Return whether a result is the one that is meant, whatever came of it."""
        return self.of_check(result) and all(
            not expected or expected == got
            for expected, got in (
                (self.subject, result.workload if self.subject == result.workload else result.subject),
                (self.kind, result.kind),
                (self.namespace, result.namespace),
                (self.name, result.name),
            )
        )

    def of_check(self, result: CheckResult) -> bool:
        """Return whether a result is of the check that is meant."""
        return (
            self.check == result.check
            and self.policy in ("", result.policy)
            and (self.scenario or result.scenario) == result.scenario
        )

    def matches_outcome(self, result: CheckResult) -> bool:
        """Return whether it came as expected."""
        return self.outcome == result.outcome.value and self.message in result.message

    @property
    def label(self) -> str:
        """What it is about, in words."""
        parts = (self.kind, "/".join(part for part in (self.namespace, self.name) if part))
        about = self.subject or " ".join(part for part in parts if part)
        scenario = f" in {self.scenario}" if self.scenario else ""
        return f"{self.check}{scenario}{f' of {about}' if about else ''}"


class Options(Form, frozen=True):
    """What a test sets in place of the command line's options.

    Attributes:
        namespace: of objects that name none.
        rollout: how new pods take the place of old ones.
        profile: of the scheduler.
        scheduler_config: the KubeSchedulerConfiguration to follow.
        kube_version: the version of kube-scheduler that judges, e.g. ``1.36``; the state's if it is not given.
        feature_gates: its feature gates, ``A=true,B=false``.
        fail_on, on_inconclusive, max_age: as on the command line.
        inline_ignores: whether annotations of objects accept findings.
        allow_empty: whether it is fine that nothing is judged.
        baseline: the file of the violations that are accepted.
        now: the time it is, RFC 3339; the time of the test if it is not given.
    """

    namespace: str = ""
    rollout: str = "replace"
    profile: str = ""
    scheduler_config: str = ""
    kube_version: str = ""
    feature_gates: str = ""
    fail_on: str = "error"
    on_inconclusive: str = "fail"
    max_age: str = ""
    inline_ignores: bool = True
    allow_empty: bool = False
    baseline: str = ""
    now: str = ""


class Expectation(Form, frozen=True):
    """What is expected.

    Attributes:
        exit_code: what the command should end with.
        message: a part of what is said where nothing can be checked, that is with exit code 2, 3 or 4.
        results: the results; where none are given only the exit code counts.
    """

    exit_code: Any = None
    message: str = ""
    results: tuple[Expected, ...] | None = None


class Spec(Form, frozen=True):
    """What a test says; every path is relative to its file.

    Attributes:
        state: files and folders of the state.
        manifests: files and folders of what is judged.
        policies: files and folders of policies; the built-in one if none are given.
        options: what it sets in place of the command line's options.
        expect: what is expected.
    """

    state: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    options: Options = Options()
    expect: Expectation = Expectation()


class Written(Form, frozen=True):
    """A test without its head.

    Attributes:
        metadata: what it is called.
        spec: what it says.
    """

    metadata: Metadata = Metadata()
    spec: Spec = Spec()


class CheckPolicyTest(Written, frozen=True, kw_only=True):
    """A test of policies, as ``schedctl test`` reads it.

    Attributes:
        api_version, kind: what this is.
    """

    api_version: Literal["schedctl.dev/v1alpha1"]
    kind: Literal["CheckPolicyTest"]


class PolicyTest(msgspec.Struct, frozen=True):
    """A test.

    Attributes:
        name: its name.
        source: the file.
        line: where it begins to say something.
        state, manifests, policies: files and folders, from where the user is.
        options: what it sets.
        exit_code: what the command should end with.
        message: a part of what is said where nothing can be checked.
        results: the results that are expected, None where only the exit code is.
        expect: line and column of the key ``expect``, 0 where there is none.
    """

    name: str
    source: str
    line: int
    state: tuple[str, ...]
    manifests: tuple[str, ...]
    policies: tuple[str, ...]
    options: Options
    exit_code: int = 0
    message: str = ""
    results: tuple[Expected, ...] | None = None
    expect: tuple[int, int] = (0, 0)


# -- reading -----------------------------------------------------------------------


def tests_in(data: bytes, source: str) -> tuple[list[PolicyTest], list[Problem]]:
    """Return the tests in a text, and everything that is wrong with them; other documents are passed over."""
    tests: list[PolicyTest] = []
    problems: list[Problem] = []
    for text in documents(data, source, problems):
        kind, wrong = kind_in(text, source)
        problems += wrong
        if wrong or kind != TEST_KIND:
            continue
        try:
            test, wrong = _read_test(text, source)
        except ConfigError as error:
            problems += error.problems
            continue
        tests.append(test)
        problems += wrong
    return tests, problems


def _read_test(text: str, source: str) -> tuple[PolicyTest, list[Problem]]:
    node, decoder = open_document(text, source, TEST_KIND, API_VERSION, conversion_hint)
    written = decoder.struct(node, Written, also=HEAD)
    spec = written.spec

    def wrong(path: str, message: str, hint: str = "") -> None:
        if path not in decoder.spoilt:
            decoder.problems.append(place(Problem(message, path=path, hint=hint), decoder.places))

    for name in ("state", "manifests"):
        if not getattr(spec, name):
            wrong(f"spec.{name}", f"a test needs {name}", f"e.g. {name}: [cluster.yaml], relative to this file")
    exit_code = spec.expect.exit_code.value if spec.expect.exit_code is not None else None
    if exit_code is not None and (isinstance(exit_code, bool) or exit_code not in _EXIT_CODES):
        wrong("spec.expect.exitCode", f"{exit_code} is not an exit code of `schedctl check`", "0, 1, 2, 3 or 5")
        exit_code = None
    if spec.expect.message and exit_code not in _FAULTS:
        hint = "`message` is about a failed run; for a result, use `results[].message`"
        wrong("spec.expect.message", "`message` needs exitCode 2, 3 or 4", hint)
    for name in ("state", "manifests", "policies"):
        if "-" in getattr(spec, name):
            at = getattr(spec, name).index("-")
            wrong(f"spec.{name}[{at}]", "a test cannot read standard input", "name a file")
    _check_files(spec, Path(source).parent, wrong)
    _check_options(spec.options, wrong)
    for index, one in enumerate(spec.expect.results or ()):
        path = f"spec.expect.results[{index}]"
        if not one.check:
            wrong(f"{path}.check", "`check` is required")
        if one.outcome not in _OUTCOMES:
            hint = did_you_mean(one.outcome, tuple(_OUTCOMES))
            wrong(f"{path}.outcome", f'unknown outcome "{one.outcome}"', hint)
    if exit_code is None:
        failing = any(one.outcome == CheckOutcome.VIOLATED.value for one in spec.expect.results or ())
        exit_code = exit_codes.of_answer(failed=failing)
    beside = Path(source).parent
    line = next((key.line for key, _ in node.value), 1) if node.is_mapping else 1
    problems = [replace(problem, source=source) for problem in decoder.problems]
    return (
        PolicyTest(
            name=written.metadata.name or Path(source).name,
            source=source,
            line=line,
            state=_beside(beside, spec.state),
            manifests=_beside(beside, spec.manifests),
            policies=_beside(beside, spec.policies),
            options=_resolve_files(spec.options, beside),
            exit_code=exit_code,
            message=spec.expect.message,
            results=spec.expect.results,
            expect=_key_of_expect(node),
        ),
        problems,
    )


def _check_files(spec: Spec, folder: Path, wrong: Callable[..., None]) -> None:
    """Report each file outside of the repository of a test, or of the current folder where it is in no repository."""
    try:
        root = root_of(folder, Path.cwd())
    except (OSError, RuntimeError):
        root = folder
    for path, name in _files(spec):
        if Path(name).is_absolute() or not is_inside(folder / name, root):
            hint = "a test can name only files in its repository, relative to its own folder"
            wrong(path, f'"{name}" is outside of the repository', hint)


def _files(spec: Spec) -> Iterator[tuple[str, str]]:
    """Yield every file and folder that a test names, with the path of the field."""
    for name, files in (("state", spec.state), ("manifests", spec.manifests), ("policies", spec.policies)):
        yield from ((f"spec.{name}[{index}]", split_pin(file).path) for index, file in enumerate(files))
    options = spec.options
    for name, file in (("schedulerConfig", options.scheduler_config), ("baseline", options.baseline)):
        if file:
            yield f"spec.options.{name}", file


def _check_options(options: Options, wrong: Callable[..., None]) -> None:
    for path, option, value, words in _word_options(options):
        if value not in words:
            wrong(path, f'{option} cannot be "{value}"', did_you_mean(value, words, ", ".join(words)))
    if options.max_age and not is_age(options.max_age):
        wrong("spec.options.maxAge", f'"{options.max_age}" is not a duration', 'e.g. maxAge: "24h"')
    if options.now:
        try:
            datetime.fromisoformat(options.now)
        except ValueError:
            wrong("spec.options.now", f'"{options.now}" is not a time', "e.g. 2026-11-20T12:00:00Z")


def _word_options(options: Options) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield the options that take one of a few words: path, name, what is given, and the words."""
    yield "spec.options.rollout", "rollout", options.rollout, get_args(RolloutStrategy)
    yield "spec.options.failOn", "failOn", options.fail_on, CHOICES["failOn"]
    yield "spec.options.onInconclusive", "onInconclusive", options.on_inconclusive, CHOICES["onInconclusive"]


def _beside(folder: Path, paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(folder / path) for path in paths)


def _resolve_files(options: Options, folder: Path) -> Options:
    files = {
        name: str(folder / value) for name in ("scheduler_config", "baseline") if (value := getattr(options, name))
    }
    return msgspec.structs.replace(options, **files) if files else options


def _key_of_expect(node: Any) -> tuple[int, int]:
    """Return where the key ``expect`` of ``spec`` stands."""
    for outer in node.value if node.is_mapping else ():
        if outer[0].value == "spec" and outer[1].is_mapping:
            for key, _ in outer[1].value:
                if key.value == "expect":
                    return key.line, key.column
    return 0, 0


# -- comparing ---------------------------------------------------------------------


def differences(test: PolicyTest, report: CheckReport, fault: Sequence[str] = ()) -> list[str]:
    """Return in what a report differs from what a test expects, a line each.

    Every result that is expected has to be there; and every result that did not pass has to be expected, so that a
    policy that begins to complain about something else does not go unnoticed.

    Args:
        test: what is expected.
        report: what came.
        fault: the lines of the fault because of which nothing was checked, if there was one.
    """
    found = []
    if report.summary.exit_code != test.exit_code:
        found.append(f"expected exit code {test.exit_code}, got {report.summary.exit_code}")
    elif test.message and not any(test.message in line for line in fault):
        found.append(f'expected "{test.message}" in the message')
    if test.results is None:
        return found
    met: set[int] = set()
    for expected in test.results:
        fits = [number for number, result in enumerate(report.results) if expected.about(result)]
        good = [number for number in fits if expected.matches_outcome(report.results[number])]
        # Where no outcome is as expected, the difference is told once and not again as unexpected.
        met.update(good or fits)
        if not good:
            found += _describe_missing(expected, [report.results[number] for number in fits], report)
    for number, result in enumerate(report.results):
        if number not in met and result.outcome is not CheckOutcome.PASSED:
            found.append(f"not expected: {describe(result)}")
    return found


def describe(result: CheckResult) -> str:
    """Return what a check says of an object, in one line."""
    return f"{_label(result)}: {result.outcome.value}: {result.message}"


def _describe_missing(expected: Expected, fits: Sequence[CheckResult], report: CheckReport) -> Iterator[str]:
    for result in fits:
        got = f"{_label(result)}: expected {expected.outcome}"
        if result.outcome.value != expected.outcome:
            yield f"{got}, got {result.outcome.value}: {result.message}"
        else:
            yield f'{got} with "{expected.message}" in its message, got "{result.message}"'
    if fits:
        return
    of_check = [result for result in report.results if expected.of_check(result)]
    if of_check:
        yield f"expected {expected.label}, but no such object was checked; {_nearest(expected, of_check)}"
        return
    of_name = [result for result in report.results if result.check == expected.check]
    if of_name and expected.scenario:
        scenarios = dict.fromkeys(result.scenario for result in of_name)
        yield f"expected {expected.label}, but the run has no such scenario; {_near(expected.scenario, scenarios)}"
        return
    names = [check.name for policy in report.policies for check in policy.checks]
    if expected.check in names:
        yield f"expected {expected.label}, but the check applied to no object"
    else:
        yield f"expected {expected.label}, but the run has no such check; {_near(expected.check, names)}"


def _nearest(expected: Expected, results: Iterable[CheckResult]) -> str:
    about = expected.label.partition(" of ")[2]
    return _near(about, dict.fromkeys(result.subject for result in results))


def _near(name: str, names: Iterable[str]) -> str:
    known = list(names)
    if not known:
        return "the run has none"
    close = nearest(name, known)
    if close:
        return f"the nearest is {close}"
    more = f" and {len(known) - _NEAR} more" if len(known) > _NEAR else ""
    return f"the run has {', '.join(known[:_NEAR])}{more}"


def _label(result: CheckResult) -> str:
    scenario = "" if result.scenario == BASELINE else f" in {result.scenario}"
    return f"{result.check}{scenario} of {result.subject}"
