"""Losses of nodes for people: the first line says how many losses do harm, and of how many there is no answer."""

from __future__ import annotations

import io

import pytest

from schedctl.render import outputs, terminals
from schedctl.reports.metadata import Metadata
from schedctl.reports.node_losses import LossResult, NodeLossReport, NodeLossSummary


def first_line(**numbers):
    summary = NodeLossSummary(**({"exit_code": 0, "harmless": 0, "leaving_pending": 0, "most_pending": 0} | numbers))
    results = [
        LossResult(rank=number + 1, by="node", name=f"n{number}", nodes=1, displaced=0, pending=0)
        for number in range(summary.scenarios)
    ]
    stream = io.StringIO()
    report = NodeLossReport(metadata=Metadata(), summary=summary, results=results)
    outputs.write(
        report, outputs.parse("text"), stream, terminals.of(stream, color="never", environ={"COLUMNS": "120"})
    )
    return stream.getvalue().splitlines()[0]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        pytest.param(
            {"scenarios": 3, "harmless": 3},
            "no single loss would leave a pod pending (3 nodes tried)",
            id="no loss does harm",
        ),
        pytest.param(
            {"scenarios": 3, "harmless": 1, "failed": 2},
            "no loss with an answer would leave a pod pending (3 nodes tried); 2 of 3 could not be answered",
            id="what could not be answered is no answer",
        ),
        pytest.param(
            {"scenarios": 3, "leaving_pending": 1, "failed": 1},
            "1 of 3 losses would leave pods pending (3 nodes tried); 1 of 3 could not be answered",
            id="some do harm, and of some nothing is known",
        ),
    ],
)
def test_the_first_line_says_what_could_not_be_answered(numbers, expected):
    assert first_line(**numbers) == expected
