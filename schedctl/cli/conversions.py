"""``schedctl profiles convert`` and ``validate``: configurations of other times, and what is wrong with one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.cli import faults, options, suggestions
from schedctl.cli.help_text import OUTPUT
from schedctl.cli.notifiers import StandardError
from schedctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedctl.config.legacy.converting import Conversion
    from schedctl.render.layout import Line

EXAMPLES_OF_CONVERT = """
Examples:
  schedctl profiles convert kube-scheduler.yaml > kube-scheduler-v1.yaml
  schedctl profiles convert policy.cfg -o text
  schedctl profiles convert v1alpha1.yaml policy.cfg   # with what it refers to

Exit codes: 0 converted; 1 something is lost; 2 usage, configuration or output; 70 a bug; 130 interrupted;
141 output closed
"""
EXAMPLES_OF_VALIDATE = """
Examples:
  schedctl profiles validate kube-scheduler.yaml
  schedctl profiles validate config/*.yaml
  schedctl profiles validate kube-scheduler.yaml --kube-version 1.35

Exit codes: 0 no problem; 2 a problem; 70 a bug; 130 interrupted; 141 output closed
"""
SOMETHING_LOST = 1
"""What `convert` ends with when pods may be placed differently for what could not be carried over."""


def convert(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Configuration of any version; - for standard input")],
    policies: Annotated[
        list[str] | None,
        typer.Argument(metavar="[POLICY]...", help="Files with the Policy, or its ConfigMap, to which FILE refers"),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="The configuration as yaml (default) or json, or text: only the report",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("yaml", "json", "text"),
        ),
    ] = "yaml",
) -> int:
    """Convert an old scheduler configuration to the version that kube-scheduler reads today.

    Reads v1alpha1 to v1beta3 of kubescheduler.config.k8s.io, and the Policy with predicates and priorities. Defaults of
    the old version that differ from today's are written out. The configuration goes to standard output, the changes and
    their reasons go to standard error. Something is lost if pods may be placed differently without it.
    """
    from schedctl.config.legacy.changes import Outcome
    from schedctl.render import layout, machine, terminals
    from schedctl.session import conversions

    if output not in ("text", "yaml", "json"):
        raise UsageError(f'unknown output "{output}"', "-o takes yaml, json or text")
    converted = conversions.convert(file, policies or ())
    conversion, source = converted.conversion, converted.source
    if conversion is None:
        faults.say(f"{source} is {converted.document['apiVersion']}: nothing to convert")
    if output == "text":
        lines = list(_report(conversion, source)) if conversion is not None else []
        layout.write(lines, sys.stdout, terminals.of(sys.stdout, environ=os.environ))
    else:
        write = machine.json if output == "json" else machine.yaml
        typer.echo(write(converted.document), nl=False)
        if conversion is not None:
            for change in conversion.changes:
                faults.report([change.problem(source)], str(change.outcome))
            faults.say(_headline(conversion, source))
    return SOMETHING_LOST if conversion is not None and conversion.count(Outcome.LOST) else 0


def _headline(conversion: Conversion, source: str) -> str:
    return f"{source} is {conversion.version}: {conversion.summary()}"


def _report(conversion: Conversion, source: str) -> Iterator[Line]:
    """Yield the lines of the report: the counts, then what changed, the worst first, the same in many places once."""
    from schedctl.config.legacy.changes import Outcome
    from schedctl.render.layout import line

    yield line(_headline(conversion, source))
    for outcome in reversed(Outcome):
        places: dict[tuple[str, str], list[str]] = {}
        for change in conversion.changes:
            if change.outcome is outcome:
                place = f"line {change.line}: {change.path}" if change.line else change.path
                places.setdefault((change.text, change.hint), []).append(place)
        if places:
            yield line()
            yield line(str(outcome))
        for (text, hint), where in places.items():
            yield line(text, indent=2)
            if any(where):
                yield line("; ".join(where), indent=4)
            if hint:
                yield line(f"hint: {hint}", indent=4)


def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Configurations; - for standard input")],
    plugin: options.Plugins = None,
    kube_version: options.OfVersion = "",
    feature_gates: options.OfFeatureGates = None,
) -> None:
    """List all problems of scheduler configurations, with file, line, column and field.

    Everything that kube-scheduler would refuse is a problem, and so is a version that it no longer reads. Exits with 2
    if there is a problem.
    """
    from schedctl.render import sanitise
    from schedctl.session import conversions, kube_versions

    release = kube_versions.release_of(kube_version, StandardError(), options.one_list(feature_gates))
    for source, profiles in conversions.validate(files, plugin or (), release):
        typer.echo(sanitise.text(f"{source} is valid: {', '.join(profiles)}"))
