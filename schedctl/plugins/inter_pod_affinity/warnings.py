"""What in a pod's inter-pod (anti-)affinity does not do what was probably meant, found without a cycle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schedctl.api.meta import Namespace
from schedctl.api.selectors import SelectorError
from schedctl.cache.arrays import BoolArray
from schedctl.cache.domain_sums import NO_DOMAIN
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.framework.remarks import Remark
from schedctl.framework.selector_wording import describe_mismatch, describe_selector, is_near_miss
from schedctl.framework.similar import closest_name, did_you_mean
from schedctl.framework.usable_nodes import at_most, count_domains, usable_domains, usable_nodes
from schedctl.framework.wording import few
from schedctl.plugins.inter_pod_affinity.state import resolve_namespaces

_EFFECTS = {
    "required pod anti-affinity": "keeps nothing apart",
    "preferred pod anti-affinity": "keeps nothing apart",
    "required pod affinity": "can never be met",
    "preferred pod affinity": "has no effect",
}
"""What a term does that matches no pod, by what it is."""


def warnings(pod: PodInfo, replicas: int, cluster: ClusterView) -> list[Remark]:
    """Return the terms over labels of no node or that match no pod, and anti-affinity too strict for the replicas."""
    try:
        return [
            *_unknown_keys(pod, cluster),
            *_unmatched_terms(pod, cluster),
            *_too_many_replicas(pod, replicas, cluster),
        ]
    except SelectorError:  # kube-scheduler rejects the pod for it
        return []


def _unknown_keys(pod: PodInfo, cluster: ClusterView) -> Iterator[Remark]:
    """Yield the terms over a label that no node has; where affinity is required, the scheduler itself says so."""
    table, rows = cluster.node_table, cluster.rows
    kinds = {
        "required pod anti-affinity": pod.required_anti_affinity,
        "preferred pod anti-affinity": [each.term for each in pod.preferred_anti_affinity],
        "preferred pod affinity": [each.term for each in pod.preferred_affinity],
    }
    for kind, terms in kinds.items() if len(rows) else ():
        for key in dict.fromkeys(term.topology_key for term in terms):
            if (table.labels.domains(key).codes[rows] == NO_DOMAIN).all():
                known = {label for row in rows.tolist() for label in table.objects[row].metadata.labels or ()}
                meant = did_you_mean(closest_name(key, known))
                text = f"its {kind} over {key} {_EFFECTS[kind]}: no node has this label{meant}"
                yield Remark(text, evidence={"kind": kind, "topology_key": key})


def _unmatched_terms(pod: PodInfo, cluster: ClusterView) -> Iterator[Remark]:
    for kind, terms in (
        ("required pod anti-affinity", pod.required_anti_affinity),
        ("preferred pod anti-affinity", [each.term for each in pod.preferred_anti_affinity]),
        ("required pod affinity", pod.required_affinity),
        ("preferred pod affinity", [each.term for each in pod.preferred_affinity]),
    ):
        for written, term in zip(terms, resolve_namespaces(terms, cluster), strict=True):
            why = _why_unmatched(kind, written, term, pod, cluster)
            if why:
                text = f"its {kind} over {term.topology_key} {_EFFECTS[kind]}: {why}"
                yield Remark(text, evidence={"kind": kind, "topology_key": term.topology_key})


def _why_unmatched(kind: str, written: AffinityTerm, term: AffinityTerm, pod: PodInfo, cluster: ClusterView) -> str:
    """Return why a term matches no pod, "" where it matches one or is about pods that may come later."""
    if term.selector.nothing:
        return "it has no labelSelector, which matches no pod"
    by_namespace_labels = not (written.namespace_selector.nothing or written.namespace_selector.everything)
    if by_namespace_labels and Namespace in cluster.missing:
        return ""
    if term.matches(pod.namespace, None, pod.labels) or _matches_any(term, cluster):
        return ""
    if not term.selector.matches(pod.labels):
        difference = describe_mismatch(term.selector, pod.labels)
        if is_near_miss(term.selector, pod.labels):
            return difference
        # Pods that the pod wants near it may be created later; who keeps away from pods mostly means its own replicas.
        return f"no pod matches, this one included: {difference}" if "anti" in kind else ""
    if "anti" not in kind:
        return ""
    namespaces = f"namespace {few(sorted(term.namespaces))}" if term.namespaces else "no namespace"
    selector = describe_selector(term.selector) or "any pod"
    return f"no pod matches {selector} in {namespaces}, and this pod is in {pod.namespace}"


def _matches_any(term: AffinityTerm, cluster: ClusterView) -> bool:
    namespaces = None if term.namespace_selector.everything else term.namespaces
    if namespaces is not None and not namespaces:
        return False
    if cluster.pod_table.select(term.selector, namespaces).any():
        return True
    return any(term.matches(other.namespace, None, other.labels) for other in cluster.pending.values())


def _too_many_replicas(pod: PodInfo, replicas: int, cluster: ClusterView) -> Iterator[Remark]:
    """Yield the term that leaves room for the fewest replicas, if not for all of them."""
    if replicas == 1 or not pod.required_anti_affinity:
        return
    usable = usable_nodes(cluster, pod.pod)
    terms = resolve_namespaces(pod.required_anti_affinity, cluster)
    numbers = [
        (number, term)
        for term in terms
        if term.matches(pod.namespace, None, pod.labels) and (number := _domains_for(term, usable, cluster)) is not None
    ]
    fit, term = min(numbers, key=lambda each: each[0], default=(0, None))
    if term is None or not 0 < fit < replicas:
        return
    key, missing = term.topology_key, replicas - fit
    domains = cluster.node_table.labels.domains(key).codes[cluster.rows]
    every = len(np.unique(domains[domains != NO_DOMAIN]))
    text = (
        f"{at_most(replicas, fit)}: required pod anti-affinity over {key} allows one"
        f" {usable_domains(fit, every, key)}; {count_domains(missing, key)} {'is' if missing == 1 else 'are'} missing"
    )
    yield Remark(text, evidence={"topology_key": key, "replicas": replicas, "fit": fit, "missing": missing})


def _domains_for(term: AffinityTerm, usable: BoolArray, cluster: ClusterView) -> int | None:
    """Return in how many domains a pod may be or such a pod is; None where nodes without the label allow any number."""
    codes, table = cluster.node_table.labels.domains(term.topology_key).codes, cluster.pod_table
    usable_codes = codes[: len(usable)][usable]
    if (usable_codes == NO_DOMAIN).any():
        return None
    namespaces = None if term.namespace_selector.everything else term.namespaces
    holders = table.node[np.flatnonzero(table.select(term.selector, namespaces))]
    there = np.union1d(usable_codes, codes[holders[holders >= 0]])
    return int(np.count_nonzero(there != NO_DOMAIN))
