"""A study carried out: every scenario asked on the engine, and its rows written as they come."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping

import msgspec

from schedctl.errors import UsageError
from schedctl.reports import exit_codes
from schedctl.reports.sweeps import SweepReport, SweepRow
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.studies import results
from schedctl.studies.axes import Scenario
from schedctl.studies.engines import Engine, Failure, InProcess
from schedctl.studies.preparation import Prepared, prepare
from schedctl.studies.questions import Answer
from schedctl.studies.summaries import check_decisive, summarize

__all__ = ["Prepared", "ask_only", "command_of", "prepare", "sweep"]


def sweep(
    prepared: Prepared,
    path: str,
    *,
    engine: Engine | None = None,
    notifier: Notifier = SILENT,
    anew: bool = False,
    command: str = "",
) -> SweepReport:
    """Return what a study comes to; a row for each scenario is in the file, and a stopped run goes on there.

    Args:
        prepared: the study.
        path: the file; one of the extension .parquet is made of lines of JSON beside it in the end.
        engine: where scenarios are run; in this process if None.
        notifier: hears how far the work is.
        anew: whether results that are there are thrown away.
        command: what runs the study, to repeat scenarios by.

    Raises:
        UsageError: the results cannot be written, or are those of another study.
    """
    lines = f"{path}.jsonl" if path.endswith(results.PARQUET) else path
    if path.endswith(results.PARQUET):
        results.require_parquet()
    total, interrupted = prepared.head.scenarios, False
    with results.ResultsFile(lines, prepared.head, anew=anew) as file:
        resumed = file.done
        found = (engine or InProcess()).results(prepared.work, range(resumed, total))
        try:
            with notifier.progress("running") as progress:
                began = time.monotonic()
                for answer in found if resumed < total else ():
                    row = _row(prepared.work.grid[file.done], answer)
                    check_decisive(prepared.read, row)
                    file.add(row)
                    left = (time.monotonic() - began) / (file.done - resumed) * (total - file.done)
                    progress.advance(file.done, total, f"{file.done} of {total}, {_time(left)} left")
        except KeyboardInterrupt:
            interrupted = True
            notifier.say(
                f"interrupted: {file.done} of {total} scenarios are in {lines}; the same command goes on there"
            )
    report = summarize(prepared, lines, path, resumed, command)
    if path.endswith(results.PARQUET) and not interrupted:
        results.write_parquet(lines, path)
    if interrupted:
        summary = msgspec.structs.replace(report.summary, exit_code=exit_codes.INTERRUPTED)
        report = msgspec.structs.replace(report, summary=summary)
    return report


def ask_only(prepared: Prepared, number: int) -> SweepRow:
    """Return the row of one scenario.

    Raises:
        UsageError: there is none of that number.
    """
    if not 0 <= number < prepared.head.scenarios:
        raise UsageError(f"no scenario {number}", f"they are numbered from 0 to {prepared.head.scenarios - 1}")
    (answer,) = InProcess().results(prepared.work, [number])
    return _row(prepared.work.grid[number], answer)


def command_of(path: str, variables: Mapping[str, str]) -> str:
    """Return the command that runs a study."""
    options = (word for name, value in variables.items() for word in ("--set", f"{name}={value}"))
    return shlex.join(["schedctl", "sweep", path, *options])


def _row(scenario: Scenario, answer: Answer | Failure) -> SweepRow:
    if isinstance(answer, Failure):
        return SweepRow(scenario=scenario.number, axes=scenario.labels, error=answer.error)
    return SweepRow(scenario=scenario.number, axes=scenario.labels, values=answer.values, pending=answer.pending)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
