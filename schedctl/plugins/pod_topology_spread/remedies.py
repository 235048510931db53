"""What would undo a rejection of PodTopologySpread: a larger skew, or a constraint that only prefers."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from schedctl.api.pods import Pod, TopologySpreadConstraint
from schedctl.framework.remedies import Rejection, Remedies, Remedy, edit_pod
from schedctl.plugins.pod_topology_spread.wording import skew

_replace = msgspec.structs.replace


def remedies(rejection: Rejection) -> Remedies:
    """Return that the constraint allows the skew; where the node has no domain, that it only prefers."""
    evidence = rejection.evidence
    match rejection.reference:
        case "pod-topology-spread/skewed":
            return [_raise_max_skew(evidence["topologyKey"], skew(evidence))]
        case "pod-topology-spread/missing":
            return [_soften(evidence["topologyKey"])]
    return []


def _raise_max_skew(key: str, most: int) -> Remedy:
    def allow(constraint: TopologySpreadConstraint) -> TopologySpreadConstraint:
        return _replace(constraint, max_skew=max(constraint.max_skew, most))

    condition = f"maxSkew over {key} is {most}"
    return Remedy("raise-max-skew", condition, _edit_constraints(key, allow), effort=3, subject=key)


def _soften(key: str) -> Remedy:
    def soften(constraint: TopologySpreadConstraint) -> TopologySpreadConstraint:
        return _replace(constraint, when_unsatisfiable="ScheduleAnyway")

    condition = f"the spread over {key} has whenUnsatisfiable: ScheduleAnyway"
    return Remedy("soften-spread", condition, _edit_constraints(key, soften), effort=3, subject=key)


def _edit_constraints(
    key: str, change: Callable[[TopologySpreadConstraint], TopologySpreadConstraint]
) -> Callable[..., Pod]:
    def edit(pod: Pod) -> Pod:
        constraints = [
            change(each) if each.topology_key == key else each for each in pod.spec.topology_spread_constraints or ()
        ]
        return _replace(pod, spec=_replace(pod.spec, topology_spread_constraints=constraints or None))

    return edit_pod(edit)
