"""What in a pod's topology spread constraints does not do what was probably meant, found without a cycle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schedctl.api.selectors import SelectorError
from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.remarks import Remark
from schedctl.framework.selector_wording import describe_mismatch
from schedctl.framework.usable_nodes import at_most, count_domains, usable_domains, usable_nodes
from schedctl.framework.wording import few
from schedctl.plugins.pod_topology_spread.constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    Constraint,
    own_constraints,
)
from schedctl.plugins.pod_topology_spread.counts import HardSpread, hard_state


def warnings(pod: PodInfo, replicas: int, cluster: ClusterView) -> list[Remark]:
    """Return the constraints that do not count the pod itself, and the one that leaves no room for some replicas."""
    written = pod.pod.spec.topology_spread_constraints or ()
    try:
        hard = own_constraints(written, pod.labels, DO_NOT_SCHEDULE, cluster.release)
        constraints = (*hard, *own_constraints(written, pod.labels, SCHEDULE_ANYWAY, cluster.release))
    except SelectorError:  # kube-scheduler rejects the pod for it
        return []
    return [*_not_counting_itself(pod, constraints), *_too_many_replicas(pod, replicas, hard, cluster)]


def _not_counting_itself(pod: PodInfo, constraints: tuple[Constraint, ...]) -> Iterator[Remark]:
    for constraint in constraints:
        selector, spread = constraint.selector, f"its topology spread over {constraint.topology_key}"
        if selector.nothing:
            text = f"{spread} has no effect: it has no labelSelector, which counts no pod"
        elif selector.everything:
            # Unlike everywhere else: an empty selector selects the pod itself and no running pod.
            text = f"{spread} has no effect: its labelSelector is empty, which counts no running pod"
        elif not selector.matches(pod.labels):
            text = f"{spread} does not count the pod itself: {describe_mismatch(selector, pod.labels)}"
        else:
            continue
        yield Remark(text, evidence={"topology_key": constraint.topology_key})


def _too_many_replicas(
    pod: PodInfo, replicas: int, hard: tuple[Constraint, ...], cluster: ClusterView
) -> Iterator[Remark]:
    """Yield the constraint that leaves room for the fewest replicas, if not for all of them."""
    if replicas == 1 or not hard:
        return
    usable = usable_nodes(cluster, pod.pod)
    limits = [_limit(spread, usable, replicas) for spread in hard_state(cluster, pod, hard).spreads]
    tight = [each for each in limits if each is not None and 0 < each[0] < replicas]
    if tight:
        yield min(tight, key=lambda each: each[0])[1]


def _limit(spread: HardSpread, usable: BoolArray, replicas: int) -> tuple[int, Remark] | None:
    """Return how many replicas a constraint allows at most, and that in words; None where it sets no limit.

    It sets one where the emptiest domain can get no pod: there are fewer domains than ``minDomains``, or one that
    counts has no node that the pod may use.
    """
    constraint, key = spread.constraint, spread.constraint.topology_key
    taking_part = usable if spread.eligible is None else usable & spread.eligible
    open_domains = np.zeros(len(spread.domains), np.bool_)
    open_domains[spread.domains.codes[: len(usable)][taking_part]] = True
    open_domains[0] = False
    closed = np.flatnonzero(spread.present & ~open_domains)
    if not spread.self_match or constraint.selector.everything or not (spread.lacks_domains or len(closed)):
        return None
    floor = 0 if spread.lacks_domains else int(spread.counts[closed].min())
    number = int(np.count_nonzero(open_domains))
    fit = number * (constraint.max_skew + floor) + int(spread.counts[closed].sum())
    text = (
        f"{at_most(replicas, fit)}: its topology spread over {key} (maxSkew {constraint.max_skew}) allows"
        f" {constraint.max_skew + floor} {usable_domains(number, number + len(closed), key)}"
        f"{_too_few(spread) if spread.lacks_domains else _unusable(spread, closed, floor)}"
    )
    return fit, Remark(text, evidence={"topology_key": key, "replicas": replicas, "fit": fit})


def _too_few(spread: HardSpread) -> str:
    constraint = spread.constraint
    missing = constraint.min_domains - spread.number
    are = f"{count_domains(missing, constraint.topology_key)} {'is' if missing == 1 else 'are'} missing"
    return f" while there are fewer than minDomains {constraint.min_domains}; {are}"


def _unusable(spread: HardSpread, closed: IndexArray, floor: int) -> str:
    values = spread.domains.values.values
    emptiest = [str(values[code]) for code in closed.tolist() if int(spread.counts[code]) == floor]
    counts, stay = ("counts", "stays") if len(emptiest) == 1 else ("count", "stay")
    return f", because {few(emptiest)} also {counts} and {stay} at {floor}"
