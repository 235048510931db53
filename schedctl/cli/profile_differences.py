"""``schedctl profiles diff``: what two configurations do differently once all is merged."""

from __future__ import annotations

import json
import os
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.help_text import OUTPUT
from schedctl.cli.notifiers import StandardError
from schedctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedctl.config.differences import Difference

EXAMPLES = """
Examples:
  schedctl profiles diff default bin-packing
  schedctl profiles diff default@1.34 default@1.37
  schedctl profiles diff before.yaml after.yaml --exit-code
  schedctl profiles diff policy.cfg converted.yaml -o json

Exit codes: 0 answered; 1 they differ (with --exit-code); 2 usage, configuration or output; 70 a bug; 130 interrupted;
141 output closed
"""

Configuration = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE[@VERSION]",
        help="A shipped profile, or a configuration file of any version",
        autocompletion=suggestions.profiles,
    ),
]


def diff(
    left: Configuration,
    right: Configuration,
    plugin: options.Plugins = None,
    feature_gates: options.OfFeatureGates = None,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text (default) or json",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("text", "json"),
        ),
    ] = "text",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if there are differences", rich_help_panel=OUTPUT)
    ] = False,
) -> int:
    """Show what two configurations do differently.

    What is in effect after defaults and merging is compared: plugins, their order where it matters, weights, arguments,
    how many nodes are scored, and extenders. Profiles of the same scheduler name are compared; if each side has only
    one, these two. A version of kube-scheduler may stand behind @: its defaults complete the configuration.
    Feature gates are set on both sides.
    """
    from schedctl.config.differences import differences
    from schedctl.render import layout, machine, terminals
    from schedctl.reports.listings import ProfileDiff, ProfileDifference
    from schedctl.session import profiles

    if output not in ("text", "json"):
        raise UsageError(f'unknown output "{output}"', "-o takes text or json")
    notifier = StandardError()
    sides = (
        profiles.effective(each, plugin or (), notifier, options.one_list(feature_gates)) for each in (left, right)
    )
    found = differences(*sides)
    if output == "json":
        items = [
            ProfileDifference(scheduler_name=one.scheduler_name, field=list(one.field), left=one.left, right=one.right)
            for one in found
        ]
        typer.echo(machine.json(ProfileDiff(left=left, right=right, items=items)), nl=False)
    else:
        number = f"{len(found)} difference{'' if len(found) == 1 else 's'} in effect"
        lines = [(0, f"{left} → {right}: {number}"), *_lines(found)]
        shown = [layout.Line((layout.Span(text),), indent) for indent, text in lines]
        layout.write(shown, sys.stdout, terminals.of(sys.stdout, environ=os.environ))
    return 1 if found and exit_code else 0


def _lines(found: Sequence[Difference]) -> Iterator[tuple[int, str]]:
    """Yield the lines of the text, each with its indent."""
    for name, group in groupby(found, key=lambda one: one.scheduler_name):
        ones = list(group)
        yield 0, f"profile {name}" if name else "outside the profiles"
        for heading, part in groupby(ones, key=_heading):
            if heading:
                yield 2, heading
            for one in part:
                yield (4 if heading else 2), _line(one)


def _heading(difference: Difference) -> str:
    from schedctl.config.differences import PLUGIN_CONFIG, PLUGINS

    field = difference.field
    if field[:1] == (PLUGINS,):
        return field[1]
    return {PLUGIN_CONFIG: "arguments", "extenders": "extenders"}.get(field[0] if field else "", "")


def _line(difference: Difference) -> str:
    """Return one difference; a sign says whether a plugin, a profile or an extender comes or goes."""
    from schedctl.config.differences import ORDER, PLUGIN_CONFIG, PLUGINS

    field, left, right = difference.field, difference.left, difference.right
    if not field:
        return "only on the left" if right is None else "only on the right"
    if field[0] == PLUGINS and field[2] == ORDER:
        return f"order: {', '.join(left)} → {', '.join(right)}"
    if field[0] == PLUGINS:
        shown = [field[2] if value is True else f"{field[2]} x{value}" for value in (left, right)]
        if left is not None and right is not None:
            return f"~ {shown[0]} → x{right}"
        return f"- {shown[0]}" if right is None else f"+ {shown[1]}"
    if field[0] == "percentageOfNodesToScore":
        return "nodes to score: " + " → ".join(f"{value} %" if value else "adaptive" for value in (left, right))
    if field[0] == "extenders" and len(field) == 2:
        return f"- {field[1]}" if right is None else f"+ {field[1]}"
    name = ".".join(field[1:] if field[0] in (PLUGIN_CONFIG, "extenders") else field)
    return f"{name}: {_display_value(left)} → {_display_value(right)}"


def _display_value(value: Any) -> str:
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
