"""Findings about the pods of one workload: equal ones are one finding, about the template that made these pods.

`schedctl.policy.results` has judged and accepted each pod on its own; here is only what is reported together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

import msgspec

from schedctl.reports.checks import CheckOutcome, CheckResult

_NUMBERED: Final = re.compile(r"(?P<stem>.*?)(?:\[(?P<index>[0-9]+)\]|(?<=-)(?P<ordinal>[0-9]+))")
_ORDER: Final = tuple(CheckOutcome(word) for word in ("Violated", "Inconclusive", "Exempted", "Baselined", "Passed"))
_MOST_RUNS: Final = 6
_HERE: Final = "\0"
"""Stands for the name of the pod in a message, so that messages that differ only in that are equal."""
_Place = TypeVar("_Place")
_replace = msgspec.structs.replace


def merge(results: Iterable[tuple[CheckResult, _Place]]) -> list[tuple[CheckResult, _Place]]:
    """Return the results of a check, those about pods of one workload that came out equal as one.

    Of one workload in one scenario what is violated comes first, else the order stays. The pods of a group share
    fingerprint, outcome and who accepts it, so that a group never hides a pod that came out otherwise.
    """
    groups: dict[object, dict[object, list[tuple[CheckResult, _Place]]]] = {}
    for number, each in enumerate(results):
        result = each[0]
        owner: object = (result.scenario, result.namespace, result.workload) if result.workload else number
        key = (_ORDER.index(result.outcome), result.fingerprint, result.acceptance)
        groups.setdefault(owner, {}).setdefault(key, []).append(each)
    return [
        (_join([result for result, _ in group]), group[0][1])
        for of_owner in groups.values()
        for _, group in sorted(of_owner.items(), key=lambda item: _ORDER.index(item[1][0][0].outcome))
    ]


def group_names(names: Iterable[str]) -> list[str]:
    """Return the names of pods with those of one workload as one: ``big[0..59]``, or ``db-[0..4]`` of a StatefulSet."""
    numbers: dict[str, list[int]] = {}
    groups: dict[str, list[str]] = {}
    for name in names:
        found = _NUMBERED.fullmatch(name)
        stem = found["stem"] if found else name
        groups.setdefault(stem, []).append(name)
        numbers.setdefault(stem, []).extend([int(found["index"] or found["ordinal"])] if found else [])
    return [
        f"{stem}[{_ranges(numbers[stem])}]" if len(group) > 1 and numbers[stem] else group[0]
        for stem, group in groups.items()
    ]


def _ranges(numbers: Iterable[int]) -> str:
    """Return numbers in a few signs: runs of them, and how many there are besides where the runs are many."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = ",".join(f"{first}..{last}" if first < last else str(first) for first, last in runs[:_MOST_RUNS])
    more = sum(last - first + 1 for first, last in runs[_MOST_RUNS:])
    return f"{shown} and {more} more" if more else shown


def _join(results: Sequence[CheckResult]) -> CheckResult:
    """Return one result for those of some pods, with the messages of all where they differ."""
    first = results[0]
    if len(results) == 1:
        return first
    name = ", ".join(group_names(each.name for each in results))
    by_lines: dict[tuple[str, ...], list[CheckResult]] = {}
    for each in results:
        by_lines.setdefault(tuple(_rename((each.message, *each.reasons), each.name, _HERE)), []).append(each)
    message, *reasons = _rename((first.message, *first.reasons), first.name, name)
    if len(by_lines) > 1:
        messages = {lines[0] for lines in by_lines}
        others = len(messages) - 1
        message = f"{message} (and {others} other message{'s' if others > 1 else ''})" if others else message
        reasons = []
        for lines, group in by_lines.items():
            names = ", ".join(group_names(each.name for each in group))
            message_of_group, *why = (line.replace(_HERE, names) for line in lines)
            reasons += [f"{names}: {message_of_group}", *(f"    {line}" for line in why)]
    return _replace(
        first,
        name=name,
        subject=first.subject.removesuffix(first.name) + name,
        pods=len(results),
        message=message,
        reasons=reasons,
        hints=list(dict.fromkeys(hint for each in results for hint in each.hints)),
        fixes=list({fix.text: fix for each in reversed(results) for fix in reversed(each.fixes)}.values())[::-1],
    )


def _rename(lines: Iterable[str], name: str, other: str) -> list[str]:
    """Return lines with another name for a pod; ``db-1`` is not in ``db-10``."""
    pod = re.compile(rf"(?<![\w-]){re.escape(name)}(?!\w)")
    return [pod.sub(lambda found: other, line) for line in lines]
