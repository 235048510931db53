"""``schedctl check`` as a page: the findings, the worst first, each with what stands behind it and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from schedctl.render.checks import findings
from schedctl.render.checks import texts as check_texts
from schedctl.render.checks.findings import BASELINE, FindingGroup
from schedctl.render.html import fixes, node_maps
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Page, Section
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import stack
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult, ScenarioNodes, Severity

_SHOWN = 100
_REASONS = 12
_MAPS = 6
"""How many scenarios have a map of their own."""
_STYLES = {Severity.ERROR: "bad", Severity.WARNING: "unsure", Severity.INFO: ""}
_OUTCOMES = (
    (CheckOutcome.PASSED, "passed", "good"),
    (CheckOutcome.VIOLATED, "violated", "bad"),
    (CheckOutcome.INCONCLUSIVE, "inconclusive", "p2"),
    (CheckOutcome.EXEMPTED, "exempted", "lost"),
    (CheckOutcome.BASELINED, "in the baseline", "lost"),
)


def page(report: CheckReport) -> Page:
    """Return the page of a report."""
    summary = report.summary
    found = findings.grouped_findings(report)
    violated = summary.errors + summary.warnings + summary.infos
    if summary.exit_code == 0:
        verdict, style = ("passes", "good") if not violated else ("passes, with findings", "good")
    else:
        verdict, style = ("fails", "bad") if violated else ("cannot be decided", "unsure")
    subject = f"check by {findings.policies(report)}"
    tally = _tally(report)
    if found:
        worst = found[0]
        others = f" and {counts.of(len(found) - 1, 'other finding')}" if len(found) > 1 else ""
        verdict = f"{verdict}: {worst.first.subject}: {worst.first.message}{others}"
        if worst.first.scenario != BASELINE or len(worst.results) > 1:
            tally = f"In {worst.scenarios}. {tally}"
    data: dict[str, Any] = {}
    drawn = _drawn(report)
    if report.node_map is not None and drawn:
        maps = [node_maps.answers_data(report.node_map, _answers(each)) for each in drawn]
        data = {"nodes": node_maps.data(report.node_map), "maps": maps}
    return Page(
        "check",
        subject,
        verdict,
        style,
        report.metadata,
        f"{tally}.",
        [*_sections(report, found)],
        data,
    )


def _tally(report: CheckReport) -> str:
    """Return the numbers that are not 0, in words."""
    summary = report.summary
    parts = (
        (summary.errors, counts.of(summary.errors, "error")),
        (summary.warnings, counts.of(summary.warnings, "warning")),
        (summary.infos, f"{summary.infos} info"),
        (summary.inconclusive, f"{summary.inconclusive} inconclusive"),
        (summary.exempted, f"{summary.exempted} exempted"),
        (summary.baselined, f"{summary.baselined} in the baseline"),
        (summary.passed, f"{summary.passed} passed"),
    )
    numbers = ", ".join(text for number, text in parts if number)
    left_out = "".join(f"; {text}" for text in findings.not_judged(report))
    return f"{counts.of(summary.results, 'result')}: {numbers or 'none'}{left_out}"


def _sections(report: CheckReport, found: Sequence[FindingGroup]) -> Iterator[Section]:
    if found:
        parts = [_finding(report, group) for group in found[:_SHOWN]]
        rest = len(found) - _SHOWN
        more = element("p", f"{counts.of(rest, 'more finding')} in -o json", class_="rest") if rest > 0 else None
        yield Section("Findings", [_table(report, found), *parts, more])
    if report.scenarios:
        yield Section("Scenarios", _scenarios(report))
    drawn = _drawn(report)
    if report.node_map is not None:
        for number, scenario in enumerate(drawn):
            lead = f"{'; '.join(scenario.changes)}." if scenario.changes else ""
            figure = node_maps.figure(report.node_map, _answers(scenario), number)
            yield Section(f"Scenario {scenario.scenario}", [figure, node_maps.node_list(number)], lead, number > 0)
    yield Section("Rules", _rules(report))
    accepted = findings.accepted_results(report)
    if accepted:
        taken = [[each.check, findings.subject_of(each), each.message, findings.acceptance(each)] for each in accepted]
        columns = (Column("Check", "name"), Column("Object", "name"), Column("Finding"), Column("Accepted because"))
        yield Section("Accepted", table("Accepted findings", columns, taken, shown=_SHOWN), folded=True)
    if report.not_judged:
        rows: list[Sequence[Content | Value]] = [
            [each.kind, each.name, Value(each.count, each.count), each.reason] for each in report.not_judged
        ]
        columns = (Column("Kind"), Column("Name", "name"), Column("Number", "number"), Column("Why"))
        yield Section("Not judged", table("What no check has judged", columns, rows, shown=_SHOWN), folded=True)
    if report.notes:
        yield Section("Notes", element("ul", [element("li", note) for note in report.notes]))
    yield Section("The same as text", as_text(check_texts.lines(report)), folded=True)


def _scenarios(report: CheckReport) -> Markup:
    """Return what was supposed to happen, and how many findings there are then."""
    found = Counter(result.scenario for result in findings.open_findings(report))
    rows: list[Sequence[Content | Value]] = []
    for each in report.scenarios:
        number = found[each.scenario]
        tag = element("span", str(number) if number else "none", class_=f"tag {'bad' if number else 'good'}")
        rows.append([each.scenario, "; ".join(each.changes), Value(len(each.lost), len(each.lost)), Value(tag, number)])
    columns = (
        Column("Scenario", "name"),
        Column("What happens"),
        Column("Nodes lost", "number"),
        Column("Findings", "number"),
    )
    return table("Scenarios that were simulated", columns, rows, shown=_SHOWN)


def _level(report: CheckReport, result: CheckResult) -> Markup:
    level = findings.level(report, result)
    word = "inconclusive" if findings.inconclusive(result) else level.value
    return element("span", word, class_=f"tag {_STYLES[level]}".strip())


def _table(report: CheckReport, found: Sequence[FindingGroup]) -> Content:
    if len(found) < 2:
        return None
    rows = [
        [
            _level(report, group.first),
            findings.rule_id(group.first.policy, group.first.check),
            group.subject,
            group.first.message,
        ]
        for group in found
    ]
    columns = (Column("Severity"), Column("Check", "name"), Column("Object", "name"), Column("Finding"))
    return table("Findings, the worst first", columns, rows, shown=_SHOWN * 5)


def _finding(report: CheckReport, group: FindingGroup) -> Markup:
    result = group.first
    place = findings.place(result.location)
    tried = {fix.text for fix in result.fixes}
    hints = [element("li", hint) for hint in result.hints if hint not in tried]
    return element(
        "div",
        element("h3", _level(report, result), f"{group.subject}: {result.message}"),
        element("p", f"{findings.rule_id(result.policy, result.check)}{f' · {place}' if place else ''}", class_="rest"),
        element("ul", [element("li", each) for each in result.reasons[:_REASONS]]) if result.reasons else None,
        fixes.fixes(result.fixes),
        element("ul", hints) if hints else None,
        class_="part",
    )


def _rules(report: CheckReport) -> Markup:
    """Return what came of each check, as a table of bars."""
    outcomes: dict[tuple[str, str], Counter[CheckOutcome]] = {}
    for result in report.results:
        outcomes.setdefault((result.policy, result.check), Counter())[result.outcome] += 1
    rows: list[Sequence[Content | Value]] = []
    for policy in report.policies:
        for rule in policy.checks:
            found = outcomes.get((policy.name, rule.name), Counter())
            total = sum(found.values())
            numbers = ", ".join(f"{found[outcome]} {word}" for outcome, word, _ in _OUTCOMES if found[outcome])
            picture = stack([(found[outcome], style) for outcome, _, style in _OUTCOMES], max(total, 1))
            rows.append([findings.rule_id(policy.name, rule.name), rule.description, picture, numbers or "not applied"])
    columns = (Column("Check", "name"), Column("Demands"), Column("Results", "picture"), Column("In numbers"))
    return table("Checks and what came of them", columns, rows, shown=_SHOWN)


# -- scenarios --------------------------------------------------------------------


def _drawn(report: CheckReport) -> list[ScenarioNodes]:
    """Return the scenarios that have a map: those with findings, in the order of the report."""
    found = {result.scenario for result in findings.open_findings(report)}
    return [each for each in report.scenarios if each.scenario in found][:_MAPS]


def _answers(scenario: ScenarioNodes) -> NodeAnswers:
    categories = [Category("lost", "c1"), Category("stands", "feasible")]
    return NodeAnswers(categories, dict.fromkeys(scenario.lost, 0))
