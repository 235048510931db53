"""The least that any plan costs: worked out from sums of resources, or by the solver HiGHS where it is installed."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from schedctl.reports.nodes import BoundProof
from schedctl.simulation.scale_ups.options import Counts, Objective
from schedctl.simulation.scale_ups.relaxation import Relaxation

SOLVER = "highspy"
"""The package of the solver, an extra of the wheel."""
_NODES = 2_000
"""How many nodes of its tree the solver visits at most; steps, so that the answer is the same on any machine."""
_SLACK = 1e-6
"""How much the solver's arithmetic may be off."""


class Bound(msgspec.Struct, frozen=True):
    """What no plan costs less than.

    Attributes:
        value: of the objective.
        by: what proves it.
        start: how many nodes of each option the solver would take, None where it was not asked or says nothing.
    """

    value: float
    by: BoundProof = BoundProof.RESOURCES
    start: Counts | None = None


def lower_bound(relaxation: Relaxation, objective: Objective) -> Bound:
    """Return the best bound there is."""
    by_resources = Bound(_by_resources(relaxation, objective))
    solved = _by_solver(relaxation, objective)
    return by_resources if solved is None or solved.value < by_resources.value else solved


def solver_installed() -> bool:
    """Return whether the solver is there."""
    from importlib.util import find_spec

    return find_spec(SOLVER) is not None


def _by_resources(relaxation: Relaxation, objective: Objective) -> float:
    """Return the most that one resource asks for by itself."""
    best = 0.0
    for resource in relaxation.resources():
        requested = sum(each.requests.get(resource, 0) * len(each.pods) for each in relaxation.classes)
        usable = {kind for kind, each in enumerate(relaxation.classes) if each.requests.get(resource, 0)}
        free = sum(heap.free[resource] for heap in relaxation.heaps if usable & heap.most.keys())
        missing = requested - free
        if missing <= 0:
            continue
        per_unit = [
            option.cost / room[resource]
            for option, room in zip(relaxation.options, relaxation.room, strict=True)
            if room[resource] > 0
        ]
        if per_unit:
            best = max(best, missing * min(per_unit))
    return whole(best, objective)


def whole(value: float, objective: Objective) -> float:
    """Return a bound of the objective, rounded up where nodes are counted."""
    return float(math.ceil(value - _SLACK)) if objective == "count" else value


def _by_solver(relaxation: Relaxation, objective: Objective) -> Bound | None:
    if not solver_installed() or not relaxation.options:
        return None
    import highspy

    with _without_banner():
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
    model = _Model(highs)
    counts = [model.column(option.cost, whole=True) for option in relaxation.options]
    _add_limits(model, counts, relaxation)
    _add_pods(model, counts, relaxation)
    found = model.solve()
    if found is None:
        return None
    bound, values = found
    # a node or two of the relaxation may hold pieces of pods, so that it is a start and no plan
    start = tuple(max(0, round(values[each])) for each in counts) if values else None
    return Bound(max(0.0, whole(bound - _SLACK, objective)), BoundProof.SOLVER, start)


@contextmanager
def _without_banner() -> Iterator[None]:
    """Keep what the solver prints when it is made, before it can be told not to, out of the answer."""
    sys.stdout.flush()
    try:
        stdout = os.dup(1)
    except OSError:  # closed
        yield
        return
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a descriptor is wanted, not a path
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)


class _Model:
    """A mixed integer program, row by row."""

    def __init__(self, highs: Any) -> None:
        self._highs = highs
        self._infinity = highs.inf if hasattr(highs, "inf") else math.inf
        for option, value in (("output_flag", False), ("threads", 1), ("random_seed", 0), ("mip_max_nodes", _NODES)):
            highs.setOptionValue(option, value)
        self._columns = 0
        self._whole: list[int] = []

    def column(self, cost: float = 0.0, most: float = math.inf, *, whole: bool = False) -> int:
        """Add a variable that is not below 0 and return its number."""
        self._highs.addVar(0.0, most if most != math.inf else self._infinity)
        self._highs.changeColCost(self._columns, cost)
        if whole:
            import highspy

            self._highs.changeColIntegrality(self._columns, highspy.HighsVarType.kInteger)
        self._columns += 1
        return self._columns - 1

    def row(self, terms: Sequence[tuple[int, float]], *, least: float = -math.inf, most: float = math.inf) -> None:
        """Demand that a sum lies between two amounts."""
        low = -self._infinity if least == -math.inf else least
        high = self._infinity if most == math.inf else most
        columns, factors = [column for column, _ in terms], [factor for _, factor in terms]
        self._highs.addRow(low, high, len(terms), columns, factors)

    def solve(self) -> tuple[float, list[float]] | None:
        """Return a bound of the least sum of costs and the values found, None where there is no bound."""
        self._highs.run()
        info = self._highs.getInfo()
        bound = info.mip_dual_bound
        if not math.isfinite(bound):
            return None
        values = list(self._highs.getSolution().col_value)
        return bound, values if len(values) == self._columns else []


def _add_limits(model: _Model, counts: Sequence[int], relaxation: Relaxation) -> None:
    """Let no group have more than it may."""
    groups = {option.group.name: option.group for option in relaxation.options}
    for name, group in groups.items():
        of_group = [
            (column, each) for column, each in zip(counts, relaxation.options, strict=True) if each.group.name == name
        ]
        if group.max_size is not None:
            most = max(0, group.max_size - len(group.nodes))
            model.row([(column, 1.0) for column, _ in of_group], most=most)
        for resource, limit in group.limits.items():
            terms = [(column, float(each.capacity.get(resource, 0))) for column, each in of_group]
            scale = max((factor for _, factor in terms), default=0.0)
            if scale > 0:
                left = max(0, limit - group.used.get(resource, 0))
                model.row([(column, factor / scale) for column, factor in terms], most=left / scale)


def _add_pods(model: _Model, counts: Sequence[int], relaxation: Relaxation) -> None:
    """Have every pod placed, on new nodes or on those there are, within what these have."""
    resources = relaxation.resources()
    on_new: dict[int, list[tuple[int, int]]] = {}
    on_old: dict[int, list[tuple[int, int]]] = {}
    for kind, each in enumerate(relaxation.classes):
        terms: list[tuple[int, float]] = []
        for option, count in enumerate(counts):
            most = relaxation.most.get((kind, option), 0)
            if most:
                column = model.column()
                terms.append((column, 1.0))
                on_new.setdefault(option, []).append((kind, column))
                model.row([(column, 1.0), (count, -float(most))], most=0.0)
        for number, heap in enumerate(relaxation.heaps):
            if heap.most.get(kind):
                column = model.column(most=float(heap.most[kind]))
                terms.append((column, 1.0))
                on_old.setdefault(number, []).append((kind, column))
        if terms:
            model.row(terms, least=float(len(each.pods)))
    for option, users in on_new.items():
        for resource in resources:
            room = relaxation.room[option][resource]
            requests = [(column, relaxation.classes[kind].requests.get(resource, 0)) for kind, column in users]
            if room and any(amount for _, amount in requests):
                scaled = [(column, amount / room) for column, amount in requests if amount]
                model.row([*scaled, (counts[option], -1.0)], most=0.0)
    for number, users in on_old.items():
        for resource in resources:
            room = relaxation.heaps[number].free[resource]
            requests = [(column, relaxation.classes[kind].requests.get(resource, 0)) for kind, column in users]
            if room and any(amount for _, amount in requests):
                model.row([(column, amount / room) for column, amount in requests if amount], most=1.0)
