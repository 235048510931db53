"""Which objects a check is asked about, by its scope, and what stands behind each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.policy.builtins import drain_safe
from schedctl.policy.documents import Check, DrainSafe, Scope
from schedctl.policy.findings import RUN, Judged, View
from schedctl.policy.judged_groups import judged_groups
from schedctl.policy.judged_namespaces import judged_namespaces
from schedctl.policy.namespaces import quotas_of
from schedctl.policy.situations import JudgedWorkload
from schedctl.policy.verdicts import Doubts


def objects(check: Check, view: View) -> Iterator[Judged]:
    """Yield the objects that a check is asked about, in order."""
    match check.scope:
        case Scope.RUN:
            yield RUN
        case Scope.NODE if isinstance(check.arguments, DrainSafe):
            yield from drain_safe.objects(view, check.arguments)
        case Scope.NODE:
            yield from map(Judged.of_node, sorted(view.situation.cluster.node_table.row_of))
        case Scope.NAMESPACE:
            yield from (Judged.of_namespace(name, view.situation) for name in judged_namespaces(view))
        case Scope.QUOTA:
            yield from _quotas(check, view)
        case Scope.GROUP:
            for key in judged_groups(view):
                namespace, _, name = key.partition("/")
                yield Judged.of_group(namespace, name, view.situation)
        case Scope.WORKLOAD:
            yield from map(Judged.of_workload, view.workloads)
        case Scope.POD:
            yield from (Judged.of_pod(pod, judged) for judged in view.workloads for pod in judged.pods)


def _quotas(check: Check, view: View) -> Iterator[Judged]:
    """Yield the quotas of those namespaces, and in place of what is missing the namespace."""
    for namespace in judged_namespaces(view):
        found = quotas_of(view.situation, namespace)
        yield from (Judged.of_quota(namespace, each.quota.metadata.name, view.situation) for each in found)
        if not (found or check.allow_unknown_names):
            yield Judged.of_namespace(namespace, view.situation)


def namespace_of(about: Judged) -> str:
    """Return the namespace that an object is in, or is; "" where it is in none."""
    if about.workload is not None:
        return about.workload.workload.namespace
    return about.name if about.kind == "Namespace" else about.namespace


def workloads_behind(about: Judged, view: View) -> Sequence[JudgedWorkload]:
    """Return the workloads that a finding speaks of: of nodes or the run, all of the policy."""
    if about.workload is not None:
        return [about.workload]
    if namespace := namespace_of(about):
        return [each for each in view.workloads if each.workload.namespace == namespace]
    return view.workloads


def doubts(about: Judged, view: View) -> Doubts:
    """Return the pods behind an object of which not everything is known."""
    facts = view.facts
    everywhere = ("result", "node", "nodes", "namespaceObject", "namespaces")
    unclear = dict.fromkeys(everywhere, facts.unclear_pods(view.situation))
    if about.workload is not None:
        unclear["workload"] = facts.unclear_pods(about.workload)
    if about.pod is not None:
        unclear["pod"] = about.pod.name if about.pod.is_unclear else ""
    return Doubts(
        {root: pods for root, pods in unclear.items() if pods}, facts.in_namespaces.rejected_names(namespace_of(about))
    )
