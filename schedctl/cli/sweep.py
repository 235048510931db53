"""``schedctl sweep``: one question in many scenarios, on the cores at hand or a cluster of machines."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options
from schedctl.cli.help_text import OUTPUT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.errors import UsageError

EXAMPLES = """
Examples:
  schedctl sweep n-1-with-spot.yaml
  schedctl sweep weights.yaml --jobs 8 --results weights.jsonl
  schedctl sweep weights.yaml --only 17          # one scenario again
  schedctl sweep fgd.yaml --set openb=traces/openb -o html > fgd.html
  schedctl sweep fgd.yaml --engine dask --scheduler tcp://10.0.0.1:8786

Exit codes: 0 answered; 2 usage, configuration or output; 3 input; 5 a scenario has no answer; 70 a bug;
130 interrupted; 141 output closed
"""
_ENGINES = ("processes", "dask")


@with_notifier
def sweep(
    study: Annotated[
        str, typer.Argument(metavar="STUDY.yaml", help="The question, and what differs", show_default=False)
    ],
    results: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Write a line of JSON for each scenario, or Parquet to FILE.parquet (default: STUDY.jsonl)",
            rich_help_panel=OUTPUT,
        ),
    ] = "",
    restart: Annotated[bool, typer.Option("--restart", help="Throw away results that are there")] = False,
    only: Annotated[int, typer.Option(metavar="N", help="Ask in scenario N alone, and print its line")] = -1,
    variables: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="What ${NAME} is in the study; repeatable")
    ] = None,
    jobs: options.Jobs = 0,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="processes or dask")] = "processes",
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Dask scheduler, e.g. tcp://10.0.0.1:8786 (default: a local one)")
    ] = "",
    output: options.OutputOrPage = "text",
    limit: options.Limit = 0,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
) -> int:
    """Ask one question in many scenarios: seeds, lost nodes, weights, versions, scales, snapshots.

    Scenarios are written to a file in order, whoever runs them. A run that was stopped goes on where it ended. The
    summary has how numbers are distributed, the worst scenarios with the command that repeats each, and which pods are
    ever pending. Nothing is changed: the state is read from files.
    """
    import sys
    from pathlib import Path

    from schedctl.cli.printing import Printer
    from schedctl.studies import reading, sweeps
    from schedctl.studies.engines import Engine, engine_of

    printer = Printer.of(output, color, pages=True)
    if engine not in _ENGINES:
        raise UsageError(f'unknown engine "{engine}"', f"--engine takes {', '.join(_ENGINES)}")
    if scheduler and engine != "dask":
        raise UsageError("--scheduler is about Dask", "add --engine dask")
    if results == "-":
        raise UsageError("--results names a file, since a stopped run goes on there", "e.g. `--results results.jsonl`")
    values = _variables(variables or ())
    prepared = sweeps.prepare(reading.read(study, values), notifier)
    if only >= 0:
        from schedctl.render import machine
        from schedctl.reports import exit_codes

        row = sweeps.ask_only(prepared, only)
        sys.stdout.write(machine.json(row))
        return exit_codes.of_answer(failed=False, inconclusive=bool(row.error))
    chosen: Engine = engine_of(1 if notifier.verbose else jobs)
    if engine == "dask":
        from schedctl.studies.dask_engine import DaskEngine

        chosen = DaskEngine(scheduler, jobs)
    report = sweeps.sweep(
        prepared,
        results or f"{Path(study).stem}.jsonl",
        engine=chosen,
        notifier=notifier,
        anew=restart,
        command=sweeps.command_of(study, values),
    )
    printer.write(report, limit=limit)
    return report.summary.exit_code


def _variables(texts: list[str] | tuple[str, ...]) -> dict[str, str]:
    """Return what stands for variables.

    Raises:
        UsageError: one has no name.
    """
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UsageError(f'invalid --set "{text}"', "e.g. `--set openb=traces/openb`")
        found[name] = value
    return found
