"""`CheckReport`: what ``schedctl check`` says, as data. The machine contract, and all that ``render`` reads.

Within ``schedctl.dev/v1alpha1`` fields are only added, and every field is always there; policies are in the order
given, checks as they stand there, objects as the manifests have them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schedctl.reports.metadata import Metadata, Record, schema_name
from schedctl.reports.node_maps import NodeMap
from schedctl.reports.reasons import Hint


class Severity(StrEnum):
    """How bad a violation is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@schema_name("Outcome")
class CheckOutcome(StrEnum):
    """What came of one check of one object."""

    PASSED = "Passed"
    VIOLATED = "Violated"
    INCONCLUSIVE = "Inconclusive"
    """schedctl cannot tell: something is not modelled or not known, or an expression failed."""
    EXEMPTED = "Exempted"
    """It is violated or inconclusive, and the policy or the object says why that is accepted."""
    BASELINED = "Baselined"
    """It is violated, and it was when the baseline was written."""


class Location(Record, frozen=True, kw_only=True):
    """Where the deciding field is in the manifests.

    Attributes:
        file: the file, or the Helm template that it was rendered from; "" where there is none to show.
        line, column: 1-based, 0 where unknown, as in rendered templates.
        path: the field, e.g. ``spec.template.spec.topologySpreadConstraints``; "" for the object itself.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    path: str = ""


class Acceptance(Record, frozen=True, kw_only=True):
    """Why a finding does not count.

    Attributes:
        by: ``policy`` for an exemption, ``object`` for an annotation of the object, ``baseline`` for a baseline file.
        reason: the reason given in the policy or annotation; "" for a baseline.
        expires: the last day of an exemption, "" for none.
    """

    by: Literal["policy", "object", "baseline"]
    reason: str = ""
    expires: str = ""


class CheckResult(Record, frozen=True, kw_only=True):
    """One check of one object in one scenario.

    Attributes:
        policy, check: by name; together they say which rule.
        scenario: the scenario, ``baseline`` or e.g. ``lose-zone=eu-1a``.
        severity: of the check.
        outcome: what came of it.
        refused: whether the object took no part, because it cannot be read or is rejected; that cannot be accepted.
        group, kind, namespace, name: the object; kind is ``""`` for a check of the run as a whole.
        subject: how messages name it, e.g. ``Deployment shop/web``; ``the run`` for the run as a whole.
        workload: the workload of pods, e.g. ``Deployment shop/web``; "" for everything else, and for a pod on its own.
        pods: how many pods it is about: equal pods of one workload are one result, ``Pod shop/web[0..59]``; else 0.
        message: the finding in one line without the subject, e.g. ``2 zones, needs 3 (eu-1a 4, eu-1b 2, eu-1c 0)``.
        reasons: what stands behind it, a line each.
        hints: next steps, a line each.
        fixes: those of the next steps that are changes, with what to type or to write in the manifests.
        location: where the deciding field is.
        violates: what is violated and how far, e.g. ``{"pods pending": 2}``; empty where only the object is known.
        fingerprint: the same as long as the finding is the same: of policy, check, scenario and object, and, behind a
            dash, of what is violated; pods are known by their workload, however many they are.
        acceptance: why it does not count, null where it does.
    """

    policy: str
    check: str
    scenario: str = "baseline"
    severity: Severity
    outcome: CheckOutcome
    refused: bool = False
    group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    subject: str
    workload: str = ""
    pods: int = 0
    message: str
    reasons: list[str] = []
    hints: list[str] = []
    fixes: list[Hint] = []
    location: Location = Location()
    violates: dict[str, int] = {}
    fingerprint: str
    acceptance: Acceptance | None = None


class CheckRule(Record, frozen=True, kw_only=True):
    """A check as a policy states it, for outputs that list rules.

    Attributes:
        name: its name.
        severity: of its violations.
        builtin: the built-in, "" for expressions.
        description: what it demands, in words.
        expressions: what must be true, in CEL; none for a built-in.
        remediation: what to do about a violation, in words.
        url: a page with more about it, "" for none.
        tags: words by which checks are grouped.
        location: where the policy states it.
    """

    name: str
    severity: Severity
    builtin: str = ""
    description: str = ""
    expressions: list[str] = []
    remediation: str = ""
    url: str = ""
    tags: list[str] = []
    location: Location = Location()


class PolicyRules(Record, frozen=True, kw_only=True):
    """A policy and its checks.

    Attributes:
        name: its name.
        source: the file, "" for the built-in one.
        checks: its checks.
    """

    name: str
    source: str = ""
    checks: list[CheckRule]


class NotJudged(Record, frozen=True, kw_only=True):
    """Something among the manifests that no check has judged.

    Attributes:
        kind: ``File`` for one that looks like a manifest and was not read; ``Workload`` for one that no check is about;
            ``Resource`` for one of which an operator may make pods, a Helm chart or a kustomization; ``Object`` for
            objects of a kind that scheduling does not read.
        name: the file, the workload as messages name it, or ``apiVersion kind`` of the objects.
        count: how many objects of that kind; 1 for a file or workload.
        reason: why it was not judged.
    """

    kind: Literal["File", "Workload", "Resource", "Object"]
    name: str
    count: int = 1
    reason: str


class ScenarioNodes(Record, frozen=True, kw_only=True):
    """What a scenario does to nodes.

    Attributes:
        scenario: its name, e.g. ``lose-zone=eu-1a``.
        changes: what it changes, in words.
        lost: the nodes that are gone in it, by name.
    """

    scenario: str
    changes: list[str] = []
    lost: list[str] = []


@schema_name("Summary")
class CheckSummary(Record, frozen=True, kw_only=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        results: how many checks of objects there were.
        passed, exempted, baselined, inconclusive: how many ended so.
        errors, warnings, infos: violations, by severity.
        not_judged: how many files, workloads and objects among the manifests no check has judged.
        fail_on: from which severity on violations fail.
        on_inconclusive: what inconclusive results do.
    """

    exit_code: int
    results: int
    passed: int = 0
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    exempted: int = 0
    baselined: int = 0
    inconclusive: int = 0
    not_judged: int = 0
    fail_on: Literal["error", "warning", "info", "never"] = "error"
    on_inconclusive: Literal["fail", "warn", "ignore"] = "fail"


class CheckReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl check``.

    Attributes:
        api_version, kind: what this is.
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        policies: what was checked.
        results: every check of every object.
        not_judged: what is among the manifests and was not judged.
        notes: what a reader must know, e.g. that an exemption has expired.
        scenarios: what each scenario that was simulated does to nodes, in order.
        node_map: the nodes that pictures show; null unless the output has pictures (``html``).
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["CheckReport"] = "CheckReport"
    metadata: Metadata = Metadata()
    summary: CheckSummary
    policies: list[PolicyRules] = []
    results: list[CheckResult] = []
    not_judged: list[NotJudged] = []
    notes: list[str] = []
    scenarios: list[ScenarioNodes] = []
    node_map: NodeMap | None = None
