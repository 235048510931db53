"""What the rows of a study come to: distributions, groups, curves, the worst scenarios, and which pods ever pend."""

from __future__ import annotations

import heapq
from collections import Counter

import msgspec

from schedctl.documents.spelling import suggest_names
from schedctl.errors import ConfigError
from schedctl.reports import exit_codes
from schedctl.reports.sweeps import (
    CurvePoint,
    PendingShare,
    SweepCase,
    SweepCurve,
    SweepGroup,
    SweepReport,
    SweepRow,
    SweepSummary,
)
from schedctl.studies import axes as axis
from schedctl.studies import questions, results
from schedctl.studies.preparation import Prepared
from schedctl.studies.reading import ReadStudy
from schedctl.studies.statistics import distribution_of

_WORST = 5
_FEW_VALUES = 40
"""An axis with more values has no groups in the summary."""
_FEW_CURVES = 8
"""An axis with more values has no curves: nobody could tell them apart."""
_MOST_PENDING = 20


def summarize(prepared: Prepared, lines: str, path: str, resumed: int, command: str) -> SweepReport:
    """Return what the rows of a file come to."""
    decisive, most_is_worst = _decisive(prepared.read)
    rows = _Rows(decisive, most_is_worst, _few_axes(prepared, _FEW_VALUES), _curve_axis(prepared))
    for row in results.rows_of(lines):
        rows.add(row)
    failed, run = rows.errors.total(), prepared.work.spec.run
    order = {each.name: place for place, each in enumerate(prepared.work.grid.axes)}
    return SweepReport(
        metadata=prepared.metadata,
        summary=SweepSummary(
            exit_code=exit_codes.of_answer(failed=False, inconclusive=failed > 0),
            scenarios=prepared.head.scenarios,
            answered=len(rows.every.get(decisive, ())),
            failed=failed,
            resumed=resumed,
        ),
        study=prepared.head.study,
        question=prepared.read.question,
        results=path,
        decisive=decisive,
        values={name: distribution_of(values) for name, values in rows.every.items()},
        groups=[
            SweepGroup(name, value, len(values), distribution_of(values))
            for (name, value), values in sorted(rows.groups.items(), key=lambda item: order[item[0][0]])
        ],
        worst=[
            SweepCase(
                row.scenario, row.axes, row.values.get(decisive, 0.0), f"{command} --only {row.scenario}", row.pending
            )
            for *_, row in sorted(rows.worst, key=lambda each: each[:2], reverse=True)
        ],
        pending=[
            PendingShare(pod, number) for pod, number in sorted(rows.pending.items(), key=lambda i: (-i[1], i[0]))
        ][:_MOST_PENDING],
        errors=dict(rows.errors.most_common()),
        arrived=run.by if run is not None and rows.curves else "",
        curves=rows.summarized_curves(),
    )


class _Rows(msgspec.Struct):
    """What is kept of rows while they are read one after another."""

    decisive: str
    most_is_worst: bool
    few: frozenset[str]
    curve_axis: str
    every: dict[str, list[float]] = msgspec.field(default_factory=dict)
    groups: dict[tuple[str, str | int], list[float]] = msgspec.field(default_factory=dict)
    curves: dict[tuple[str, str | int], dict[int, list[float]]] = msgspec.field(default_factory=dict)
    pending: Counter[str] = msgspec.field(default_factory=Counter)
    errors: Counter[str] = msgspec.field(default_factory=Counter)
    worst: list[tuple[float, int, SweepRow]] = msgspec.field(default_factory=list)

    def add(self, row: SweepRow) -> None:
        """Take a row into account."""
        if row.error:
            self.errors[row.error] += 1
            return
        self.pending.update(row.pending)
        for name, value in row.values.items():
            self.every.setdefault(name, []).append(value)
            metric, at, share = name.rpartition("@")
            if at:
                key = metric, row.axes.get(self.curve_axis, "")
                self.curves.setdefault(key, {}).setdefault(int(share), []).append(value)
        value = row.values[self.decisive]
        for axis_name in self.few & row.axes.keys():
            self.groups.setdefault((axis_name, row.axes[axis_name]), []).append(value)
        heapq.heappush(self.worst, (value if self.most_is_worst else -value, -row.scenario, row))
        if len(self.worst) > _WORST:
            heapq.heappop(self.worst)

    def summarized_curves(self) -> list[SweepCurve]:
        """Return the curves of metrics over what has arrived: of more than one point, and not of zeros alone."""
        found = []
        for (metric, value), points in self.curves.items():
            numbers = {value for values in points.values() for value in values}
            if len(points) > 1 and numbers != {0}:
                line = []
                for share, values in sorted(points.items()):
                    spread = distribution_of(values)
                    line.append(CurvePoint(share, spread.mean, spread.lowest, spread.highest))
                found.append(SweepCurve(metric, self.curve_axis, value, line))
        return found


def check_decisive(read: ReadStudy, row: SweepRow) -> None:
    """Hold up a study whose rows lack the number that decides which scenario is the worst.

    Raises:
        ConfigError: there is no number of that name.
    """
    decisive, _ = _decisive(read)
    if not row.error and decisive not in row.values:
        hint = suggest_names(decisive, sorted(row.values), "numbers")
        raise ConfigError([read.problem("spec.decisive", f'no number "{decisive}"', hint)])


def _few_axes(prepared: Prepared, most: int) -> frozenset[str]:
    return frozenset(each.name for each in prepared.work.grid.axes if len(each.values) <= most)


def _curve_axis(prepared: Prepared) -> str:
    """Return the first axis whose values are worth a curve each, "" where there is none."""
    few = _few_axes(prepared, _FEW_CURVES)
    return next((each.name for each in prepared.work.grid.axes if each.name in few and each.name != axis.SEED), "")


def _decisive(read: ReadStudy) -> tuple[str, bool]:
    """Return the number that decides which scenario is the worst, and whether that is the one with most of it."""
    name, most = questions.WORST[read.question]
    spec = read.study.spec
    return spec.decisive or name, spec.worst == "most" if spec.worst else most
