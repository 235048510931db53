"""Reports that are kept in a cluster: Report and ClusterReport of OpenReports, or the PolicyReports they come from.

A List that `kubectl apply --server-side` takes: a Report for each namespace with results, and one ClusterReport for
nodes, for the run, and for what has to be known of it. Each holds as much as an object in etcd may, the failures first,
and says how many results it does not list; its summary counts them all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from schedctl.api import kinds
from schedctl.render import machine, sanitise
from schedctl.render.checks import findings
from schedctl.reports import counts
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult, CheckRule, Severity

MOST_BYTES: Final = 1_000_000
"""Of an object: etcd takes 1.5 MiB by default, and the API server adds who manages which field."""
_LONG: Final = 2_000
_NAME: Final = "schedctl"
_OUTCOMES: Final = ("fail", "warn", "error", "skip", "pass")
"""The worst first."""
_SEVERITIES: Final = {Severity.ERROR: "high", Severity.WARNING: "medium", Severity.INFO: "info"}
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Group(NamedTuple):
    """An API group that has such reports.

    Attributes:
        api_version: the version that is written.
        namespaced: the kind of the reports of a namespace.
        cluster: the kind of the report of the cluster.
    """

    api_version: str
    namespaced: str
    cluster: str


OPEN_REPORTS: Final = Group("openreports.io/v1alpha1", "Report", "ClusterReport")
POLICY_REPORTS: Final = Group("wgpolicyk8s.io/v1alpha2", "PolicyReport", "ClusterPolicyReport")


def document(report: CheckReport, group: Group, *, now: datetime | None = None) -> str:
    """Return the List as JSON.

    Args:
        report: what to tell.
        group: whose kinds the reports are of.
        now: when it was found, where the state does not say when it was taken.
    """
    timestamp = _timestamp(report.metadata.state_taken, now)
    rules = {(rule.policy.name, rule.check.name): rule.check for rule in findings.rules(report)}
    namespaces: dict[str, list[dict[str, Any]]] = {}
    of_cluster: list[dict[str, Any]] = []
    for result in report.results:
        # An object in a namespace that cannot exist is refused, and is nowhere.
        named = bool(_NAMESPACE.fullmatch(result.namespace))
        results = namespaces.setdefault(result.namespace, []) if named else of_cluster
        results.append(_result(result, rules[result.policy, result.check], timestamp))
    notes = [_note("note", text, timestamp) for text in report.notes]
    items = [_object(group.cluster, group, "", of_cluster, notes, timestamp)]
    items += [
        _object(group.namespaced, group, name, results, [], timestamp) for name, results in sorted(namespaces.items())
    ]
    return machine.json({"apiVersion": "v1", "kind": "List", "items": items})


def _object(
    kind: str,
    group: Group,
    namespace: str,
    results: Iterable[dict[str, Any]],
    notes: list[dict[str, Any]],
    timestamp: dict[str, int],
) -> dict[str, Any]:
    """Return a report with as many of its results as fit, the worst first; notes come before them."""
    found = sorted(results, key=lambda each: _OUTCOMES.index(each["result"]))
    counted, ordered = Counter(each["result"] for each in found), [*notes, *found]
    metadata = {"name": _NAME, "labels": {"app.kubernetes.io/managed-by": _NAME}}
    made = {
        "apiVersion": group.api_version,
        "kind": kind,
        "metadata": {**metadata, **({"namespace": namespace} if namespace else {})},
        "summary": {outcome: counted[outcome] for outcome in sorted(_OUTCOMES)},
        "results": ordered,
    }
    room = MOST_BYTES
    for number, each in enumerate(ordered):
        room -= len(machine.encode(each)) + 1
        if room < _LONG * 4:
            left = f"{counts.of(len(ordered) - number, 'more result')} not listed: the report is as large as may be"
            made["results"] = [_note("results-not-listed", left, timestamp), *ordered[:number]]
            break
    return made


def _result(result: CheckResult, check: CheckRule, timestamp: dict[str, int]) -> dict[str, Any]:
    properties = {"scenario": result.scenario, "fingerprint": result.fingerprint}
    if place := findings.place(result.location):
        properties["place"] = place
    if result.acceptance is not None:
        properties["accepted"] = findings.acceptance(result)
    made = {
        "source": _NAME,
        "policy": result.policy,
        "rule": result.check,
        "category": ", ".join(check.tags),
        "severity": _SEVERITIES[result.severity],
        "result": _outcome(result),
        "scored": result.severity is Severity.ERROR,
        "timestamp": timestamp,
        "resources": [*_resources(result)],
        "message": _cut("\n".join((findings.sentence(result), *findings.details(result)))),
        "properties": properties,
    }
    return {name: value for name, value in made.items() if value not in ("", [])}


def _note(rule: str, text: str, timestamp: dict[str, int]) -> dict[str, Any]:
    """Return something to know about the run, as a result of no policy."""
    head = {"source": _NAME, "policy": _NAME, "rule": rule, "result": "skip"}
    return {**head, "timestamp": timestamp, "message": _cut(text)}


def _outcome(result: CheckResult) -> Literal["pass", "fail", "warn", "error", "skip"]:
    match result.outcome:
        case CheckOutcome.PASSED:
            return "pass"
        case CheckOutcome.INCONCLUSIVE:
            return "error"
        case CheckOutcome.VIOLATED:
            return "fail" if result.severity is Severity.ERROR else "warn"
        case _:
            return "skip"


def _resources(result: CheckResult) -> Iterable[dict[str, str]]:
    """Yield the object that a result is about; for pods of a workload that is the workload."""
    if not result.kind:
        return
    kind, name = result.kind, result.name
    if result.workload:
        kind, _, key = result.workload.partition(" ")
        name = key.rpartition("/")[2]
    known = kinds.intended_kind("", kind)
    group = "" if result.workload else result.group
    version = known.api_version if known is not None and known.api_version.startswith(group) else ""
    made = {"apiVersion": version, "kind": kind, "namespace": result.namespace, "name": name}
    yield {field: value for field, value in made.items() if value}


def _timestamp(taken: str, now: datetime | None) -> dict[str, int]:
    moment = now
    if taken:
        try:
            moment = datetime.fromisoformat(taken)
        except ValueError:
            moment = now
    if moment is None:
        return {"seconds": 0, "nanos": 0}
    return {"seconds": int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()), "nanos": 0}


def _cut(text: str) -> str:
    clean = "\n".join(map(sanitise.text, text.split("\n")))
    return clean if len(clean) <= _LONG else f"{clean[: _LONG - 1]}…"
