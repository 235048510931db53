"""The results of an evaluation: findings with their place in the files, their fingerprint, and who accepts them.

`schedctl.policy.evaluations` finds; here is what of it goes into a `CheckReport`, in the order of policies and checks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from schedctl.api.selectors import EVERYTHING
from schedctl.cache.cluster import Cluster
from schedctl.errors import Problem
from schedctl.policy import findings, pod_groups
from schedctl.policy.documents import BASELINE, BUILT_IN_POLICY, BUILTINS, Check, CheckPolicy
from schedctl.policy.fields import Path, in_object
from schedctl.policy.fingerprints import fingerprint
from schedctl.policy.locations import Locator
from schedctl.reports import checks
from schedctl.sources.manifests import Sourced
from schedctl.sources.unmodelled import OPERATOR, Unmodelled

_SCHEDULABLE = "schedulable"
_STDIN = "<stdin>"
_replace = msgspec.structs.replace

_Field = tuple[Sourced, Path]
"""An object of the manifests, and the field of it that decides."""


class Rule(NamedTuple):
    """A check of a policy, each by its number."""

    policy: int
    check: int


class AcceptancePolicy(Protocol):
    """Who says that a finding does not count: exemptions, annotations of the objects, a baseline."""

    def acceptance(
        self, policy: CheckPolicy, result: checks.CheckResult, objects: Sequence[Any]
    ) -> checks.Acceptance | None:
        """Return why a violated or inconclusive result does not count, None where it does.

        Args:
            policy: whose check it is.
            result: the result as it would be reported, with its fingerprint.
            objects: the API objects whose annotations may accept it: the object itself; for a pod its workload too.
        """

    def notes(self) -> list[str]:
        """Return what a reader must know once all has been asked, e.g. of exemptions that have expired."""


class Results:
    """What was found so far.

    Attributes:
        policies: those that were asked, and the built-in one where objects that took no part needed it.
    """

    def __init__(self, policies: Sequence[CheckPolicy], cluster: Cluster, accepting: AcceptancePolicy | None) -> None:
        self.policies = list(policies)
        self._cluster, self._accepting = cluster, accepting
        self._results: dict[Rule, list[tuple[checks.CheckResult, _Field | None]]] = {}

    def add(self, rule: Rule, finding: findings.Finding, about: findings.Judged, scenario: str) -> None:
        """Add what a check finds of an object."""
        judged = about.workload
        where: _Field | checks.Location = checks.Location()
        if judged is not None and judged.sourced is not None:
            where = judged.sourced, in_object(judged, finding.path)
        elif about.sourced is not None:
            where = about.sourced, ()
        self._add(rule, finding, about, scenario, where, self._annotated_objects(about))

    def _add(
        self,
        rule: Rule,
        finding: findings.Finding,
        about: findings.Judged,
        scenario: str,
        where: _Field | checks.Location,
        objects: Sequence[Any],
        refused: Problem | None = None,
    ) -> None:
        """Add a result; that of an object that took no part, because of a problem, is nobody's to accept."""
        policy = self.policies[rule.policy]
        check = policy.checks[rule.check]
        owner = about.workload.workload if about.workload is not None else None
        group_of_owner = owner.api_version.rpartition("/")[0] if owner is not None else ""
        # Pods of a workload are known by the workload: its template is what is judged, and replicas come and go.
        owned = owner if about.pod is not None and owner is not None and owner.kind != "Pod" else None
        group = group_of_owner if about.pod is None else ""
        more: tuple[str, ...] = (group_of_owner, owned.kind) if owned is not None else ()
        if refused is not None:
            more = (refused.source, refused.path, "" if refused.subject else refused.message)
        known_by = fingerprint(
            policy=policy.name,
            check=check.name,
            scenario=scenario,
            group=group,
            kind=about.kind,
            namespace=about.namespace,
            name=owned.name if owned is not None else about.name,
            more=more,
            violates=finding.violates,
        )
        result = checks.CheckResult(
            policy=policy.name,
            check=check.name,
            scenario=scenario,
            severity=check.severity if refused is None else checks.Severity.ERROR,
            outcome=finding.outcome,
            refused=refused is not None,
            group=group,
            kind=about.kind,
            namespace=about.namespace,
            name=about.name,
            subject=about.subject,
            workload=owned.subject if owned is not None else "",
            pods=1 if about.pod is not None else 0,
            message=finding.message,
            reasons=list(finding.reasons),
            hints=list(finding.hints),
            fixes=list(finding.fixes),
            location=where if isinstance(where, checks.Location) else checks.Location(),
            violates=dict(finding.violates),
            fingerprint=known_by,
        )
        deciding = None if isinstance(where, checks.Location) else where
        self._results.setdefault(rule, []).append((self._with_acceptance(policy, result, objects), deciding))

    def _with_acceptance(
        self, policy: CheckPolicy, result: checks.CheckResult, objects: Sequence[Any]
    ) -> checks.CheckResult:
        if result.outcome is checks.CheckOutcome.PASSED or result.refused or self._accepting is None:
            return result
        acceptance = self._accepting.acceptance(policy, result, objects)
        if acceptance is None:
            return result
        outcome = checks.CheckOutcome.BASELINED if acceptance.by == "baseline" else checks.CheckOutcome.EXEMPTED
        return _replace(result, outcome=outcome, acceptance=acceptance)

    def _annotated_objects(self, about: findings.Judged) -> list[Any]:
        """Return the objects whose annotations may accept a finding."""
        objects: list[Any] = [about.pod.info.pod] if about.pod is not None else []
        if about.workload is not None:
            objects.append(about.workload.workload.object)
        elif about.sourced is not None:
            objects.append(about.sourced.object)
        elif about.kind == "Node":
            table = self._cluster.node_table
            if about.name in table.row_of:
                objects.append(table.objects[table.row_of[about.name]])
        return objects

    def add_refused(self, problems: Iterable[Problem]) -> None:
        """Add a violation for each object that cannot be read or that the API server refuses.

        It is one of every ``schedulable`` check that could be about the object; where there is none, of the one that is
        built in, because a gate must not pass what nobody looked at.
        """
        for problem in problems:
            about = _subject_of(problem)
            why = f"{problem.path}: {problem.message}" if problem.path else problem.message
            finding = findings.Finding(
                checks.CheckOutcome.VIOLATED, f"not checked: {why}", hints=(problem.hint,) if problem.hint else ()
            )
            for rule in self._rules_about(about):
                self._add(rule, finding, about, BASELINE, _place_of(problem), (), problem)

    def add_unmodelled(self, resources: Iterable[Unmodelled]) -> None:
        """Add an inconclusive result for each resource of which pods may be made that nobody placed.

        It is one of the checks that `add_refused` names, but of policies that allow its kind.
        """
        for resource in resources:
            allowing = [policy.allows(resource.kind) for policy in self.policies]
            about = _subject_of(resource.problem)
            hint = f"`allowUnmodelledKinds: [{resource.kind}]` in the policy accepts it"
            if resource.problem.hint:
                hint = f"{resource.problem.hint}; {hint}"
            if resource.problem.message == OPERATOR:
                hint = f"`customKinds` in the settings says where its pod templates are; {hint}"
            message = f"not checked: {resource.problem.message}"
            finding = findings.Finding(checks.CheckOutcome.INCONCLUSIVE, message, hints=(hint,))
            for rule in () if all(allowing) else self._rules_about(about):
                if rule.policy >= len(allowing) or not allowing[rule.policy]:
                    self._add(rule, finding, about, BASELINE, _place_of(resource.problem), ())

    def _rules_about(self, about: findings.Judged) -> list[Rule]:
        """Return the ``schedulable`` checks that could be about an object, or the built-in one."""
        kind, namespace, name = about.kind, about.namespace, about.name
        schedulable = [
            Rule(number, place)
            for number, policy in enumerate(self.policies)
            for place, check in enumerate(policy.checks)
            if check.builtin == _SCHEDULABLE
            and (not kind or replace(policy.match, labels=EVERYTHING).selects(kind, namespace, name, {}))
        ]
        if not schedulable:
            if self.policies[-1] is not BUILT_IN_POLICY:
                self.policies.append(BUILT_IN_POLICY)
            schedulable = [Rule(len(self.policies) - 1, 0)]
        return schedulable

    def idle(self, unmatched: Collection[int]) -> Iterator[str]:
        """Yield a note for each check that has judged nothing, other than those of policies that match nothing."""
        for number, policy in enumerate(self.policies):
            for place, check in enumerate(policy.checks):
                if Rule(number, place) not in self._results and number not in unmatched:
                    yield f"check {check.name} of policy {policy.name} applied to nothing"

    def located(self) -> list[checks.CheckResult]:
        """Return the results with the places of the fields that decided them."""
        results = [
            result
            for number, policy in enumerate(self.policies)
            for place in range(len(policy.checks))
            for result in pod_groups.merge(self._results.get(Rule(number, place), ()))
        ]
        fields = {(id(of[0]), of[1]): of for _, of in results if of is not None}
        # All at once, so that a document is read once more however many results point into it.
        places = dict(zip(fields, Locator().locate(fields.values()), strict=True))
        return [result if of is None else _replace(result, location=places[id(of[0]), of[1]]) for result, of in results]

    def rules(self) -> list[checks.PolicyRules]:
        """Return the policies and their checks, as the report has them."""
        return [
            checks.PolicyRules(name=policy.name, source=policy.source, checks=[_rule(check) for check in policy.checks])
            for policy in self.policies
        ]


def _subject_of(problem: Problem) -> findings.Judged:
    kind, namespace, name = _parse_subject(problem.subject)
    return findings.Judged(kind, namespace, name, problem.subject or problem.source or "the manifests")


def _rule(check: Check) -> checks.CheckRule:
    described = check.description or (BUILTINS[check.builtin].description if check.builtin else "")
    return checks.CheckRule(
        name=check.name,
        severity=check.severity,
        builtin=check.builtin,
        description=described,
        expressions=[validation.expression.text for validation in check.validations],
        remediation=check.remediation,
        url=check.url,
        tags=list(check.tags),
        location=check.location,
    )


def _place_of(problem: Problem) -> checks.Location:
    file = "" if problem.source == _STDIN else problem.source
    return checks.Location(
        file=file, line=problem.line if file else 0, column=problem.column if file else 0, path=problem.path
    )


def _parse_subject(subject: str) -> tuple[str, str, str]:
    """Return kind, namespace and name of an object as messages name it."""
    kind, _, rest = subject.partition(" ")
    namespace, slash, name = rest.partition("/")
    return (kind, namespace, name) if slash else (kind, "", rest)
