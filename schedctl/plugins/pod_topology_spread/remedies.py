"""What would undo a rejection of PodTopologySpread: a larger skew, fewer domains, a constraint that only prefers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec

from schedctl.api.pods import Pod, TopologySpreadConstraint
from schedctl.api.tolerations import first_untolerated, is_automatic
from schedctl.api.topology import HOSTNAME
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.cache.node_edits import UNSCHEDULABLE_TAINT
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.remedies import Reach, Rejection, Remedies, Remedy, edit_pod
from schedctl.framework.usable_nodes import domain_noun
from schedctl.plugins.pod_topology_spread.constraints import DO_NOT_SCHEDULE, own_constraints
from schedctl.plugins.pod_topology_spread.counts import hard_state
from schedctl.plugins.pod_topology_spread.wording import skew

_replace = msgspec.structs.replace


def remedies(pod: PodInfo, rejection: Rejection, cluster: ClusterView) -> Remedies:
    """Return that the constraint leaves out tainted nodes or allows the skew; without a domain, that it prefers."""
    evidence = rejection.evidence
    match rejection.reference:
        case "pod-topology-spread/skewed":
            key = evidence["topologyKey"]
            if "minDomains" in evidence:
                return _with_enough_domains(rejection, cluster)
            honor = [_honor_taints(key)] if _fits_without_tainted_nodes(pod, rejection, cluster) else []
            return [*honor, _raise_max_skew(key, skew(evidence))]
        case "pod-topology-spread/missing":
            return [_soften(evidence["topologyKey"])]
    return []


def _with_enough_domains(rejection: Rejection, cluster: ClusterView) -> Remedies:
    """Return that there are as many domains as ``minDomains`` asks for, or that it asks for no more than there are."""
    evidence = rejection.evidence
    key, domains = evidence["topologyKey"], evidence["domains"]
    enough = skew(evidence) - min(domains.values(), default=0) <= evidence["maxSkew"]
    change = _lower_min_domains(key, evidence["presentDomains"]) if enough else _raise_max_skew(key, skew(evidence))
    return [change, _add_domain(key, rejection.node)]


def _lower_min_domains(key: str, number: int) -> Remedy:
    def lower(constraint: TopologySpreadConstraint) -> TopologySpreadConstraint:
        return _replace(constraint, min_domains=min(constraint.min_domains or 1, number))

    condition = f"minDomains over {key} is {number}"
    return Remedy(
        "lower-min-domains", condition, _edit_constraints(key, lower), effort=2, subject=key, reach=Reach.RULE
    )


def _add_domain(key: str, like: str) -> Remedy:
    def add(pod: Pod, cluster: Cluster) -> Pod:
        name, table = f"another-{like}", cluster.node_table
        node = node_edits.rename_node(node_edits.as_new(table.objects[table.row_of[like]]), name)
        cluster.add_node(node if key == HOSTNAME else node_edits.set_label(node, key, f"another-{key}"))
        node_edits.publish_like(cluster, like, name)
        return pod

    where = "" if key == HOSTNAME else f" in a new {domain_noun(key)}"
    condition = f"a node like {like} is added{where}"
    return Remedy("add-domain", condition, add, effort=6, subject=key, reach=Reach.NODE, size=2)


def _fits_without_tainted_nodes(pod: PodInfo, rejection: Rejection, cluster: ClusterView) -> bool:
    """Return whether the skew on a node would be allowed if taints that people have set left nodes out of the count."""
    key, table, tolerations = rejection.evidence["topologyKey"], cluster.node_table, pod.pod.spec.tolerations or ()
    taints = [first_untolerated(each, tolerations, cluster.compares_taints) for each in table.taint_sets.values]
    if taints[table.taints[table.row_of[rejection.node]]] is not None:
        return False  # it would need a toleration as well, with which its own taint leaves nothing out
    written = pod.pod.spec.topology_spread_constraints or ()
    constraints = own_constraints(written, pod.labels, DO_NOT_SCHEDULE, cluster.release)
    untolerated = {taint.key for code in set(table.taints[cluster.rows].tolist()) if (taint := taints[code])}
    if all(map(_is_condition, untolerated)):
        return False
    honoring = [replace(each, honors_taints=each.honors_taints or each.topology_key == key) for each in constraints]
    for spread in hard_state(cluster, pod, honoring).spreads:
        if spread.constraint.topology_key == key:
            domain = spread.domains.values.find_code(rejection.evidence["domain"])
            if int(spread.counts[domain]) + spread.self_match - spread.floor > spread.constraint.max_skew:
                return False
    return True


def _is_condition(taint: str) -> bool:
    """Return whether a taint says that something is wrong with a node, which is not to be hidden."""
    return is_automatic(taint) and taint != UNSCHEDULABLE_TAINT.key


def _honor_taints(key: str) -> Remedy:
    def honor(constraint: TopologySpreadConstraint) -> TopologySpreadConstraint:
        return _replace(constraint, node_taints_policy="Honor")

    condition = f"the spread over {key} has `nodeTaintsPolicy: Honor`"
    return Remedy("honor-taints", condition, _edit_constraints(key, honor), effort=2, subject=key)


def _raise_max_skew(key: str, most: int) -> Remedy:
    def allow(constraint: TopologySpreadConstraint) -> TopologySpreadConstraint:
        return _replace(constraint, max_skew=max(constraint.max_skew, most))

    condition = f"maxSkew over {key} is {most}"
    return Remedy("raise-max-skew", condition, _edit_constraints(key, allow), effort=3, subject=key, reach=Reach.RULE)


def _soften(key: str) -> Remedy:
    def soften(constraint: TopologySpreadConstraint) -> TopologySpreadConstraint:
        return _replace(constraint, when_unsatisfiable="ScheduleAnyway")

    condition = f"the spread over {key} has whenUnsatisfiable: ScheduleAnyway"
    return Remedy("soften-spread", condition, _edit_constraints(key, soften), effort=3, subject=key, reach=Reach.RULE)


def _edit_constraints(
    key: str, change: Callable[[TopologySpreadConstraint], TopologySpreadConstraint]
) -> Callable[..., Pod]:
    def edit(pod: Pod) -> Pod:
        constraints = [
            change(each) if each.topology_key == key else each for each in pod.spec.topology_spread_constraints or ()
        ]
        return _replace(pod, spec=_replace(pod.spec, topology_spread_constraints=constraints or None))

    return edit_pod(edit)
