"""``schedctl profiles``: the scheduler profiles that ship, and what a configuration comes to once it is merged.

`conversions` has the commands for configurations of other times, `profile_differences` the comparison of two.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from schedctl.cli import conversions, options, profile_differences, suggestions
from schedctl.cli.coercion import Application
from schedctl.cli.help_text import OUTPUT
from schedctl.cli.notifiers import StandardError
from schedctl.errors import UsageError

EXAMPLES_OF_LIST = """
Examples:
  schedctl profiles list
  schedctl explain pod web-0 -f cluster.yaml --profile bin-packing
"""
EXAMPLES_OF_SHOW = """
Examples:
  schedctl profiles show default
  schedctl profiles show default --kube-version 1.35
  schedctl profiles show my-scheduler-config.yaml
  schedctl profiles show bin-packing -o yaml
"""

application = Application(help="Show, convert and compare scheduler profiles.")


@application.command("list", short_help="List the profiles that ship with schedctl.", epilog=EXAMPLES_OF_LIST)
def list_profiles(
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text (default), name or json",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("text", "name", "json"),
        ),
    ] = "text",
    no_headers: options.NoHeaders = False,
) -> None:
    """List the scheduler profiles that ship with schedctl."""
    from schedctl.cli import tables
    from schedctl.render import machine
    from schedctl.reports.listings import ProfileItem, ProfileList
    from schedctl.session import configurations

    if output not in ("text", "name", "json"):
        raise UsageError(f'unknown output "{output}"', "-o takes text, name or json")
    items = [
        ProfileItem(
            name=name,
            scheduler_names=[profile.scheduler_name for profile in configurations.read(str(file)).profiles],
            description=_purpose(file),
            file=str(file),
        )
        for name, file in configurations.shipped_files().items()
    ]
    if output == "json":
        typer.echo(machine.json(ProfileList(items=items)), nl=False)
    elif output == "name":
        typer.echo("\n".join(item.name for item in items))
    else:
        rows = [[item.name, ", ".join(item.scheduler_names), item.description] for item in items]
        tables.show(["NAME", "SCHEDULER NAMES", "DESCRIPTION"], rows, headers=not no_headers)


@application.command("show", short_help="Show a profile after defaults and merging.", epilog=EXAMPLES_OF_SHOW)
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A shipped profile, or a configuration file",
            autocompletion=suggestions.profiles,
        ),
    ],
    plugin: options.Plugins = None,
    kube_version: options.OfVersion = "",
    feature_gates: options.OfFeatureGates = None,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text (default), yaml or json",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("text", "yaml", "json"),
        ),
    ] = "text",
) -> None:
    """Show a profile after defaults and merging: the plugins of each extension point, with weights and arguments.

    `-o yaml` and `-o json` print it as a KubeSchedulerConfiguration with every default written out.
    """
    from schedctl.scheduler import discovery
    from schedctl.session import kube_versions, profiles

    if output not in ("text", "yaml", "json"):
        raise UsageError(f'unknown output "{output}"', "-o takes text, yaml or json")
    notifier = StandardError()
    release = kube_versions.release_of(kube_version, notifier, options.one_list(feature_gates))
    plugins = discovery.find(plugin or (), release)
    choice = profiles.load(name, plugins, notifier)
    document = profiles.spell_out(choice.configuration, choice.registry, release)
    if output == "text":
        from schedctl.render import layout, terminals

        lines = [layout.Line((layout.Span(text),), indent) for indent, text in _lines(document)]
        layout.write(lines, sys.stdout, terminals.of(sys.stdout, environ=os.environ))
    else:
        from schedctl.render import machine

        write = machine.json if output == "json" else machine.yaml
        typer.echo(write(document), nl=False)


def _lines(document: dict[str, Any]) -> list[tuple[int, str]]:
    """Return the lines of the text, each with its indent."""
    percentage = document["percentageOfNodesToScore"]
    lines: list[tuple[int, str]] = []
    for profile in document["profiles"]:
        share = profile.get("percentageOfNodesToScore", percentage)
        lines += [
            (0, f"profile {profile['schedulerName']}"),
            (2, f"nodes to score: {f'{share} %' if share else 'adaptive'}"),
        ]
        for point, chosen in profile["plugins"].items():
            names = [
                f"{plugin['name']} x{plugin['weight']}" if "weight" in plugin else plugin["name"]
                for plugin in chosen.get("enabled", ())
            ]
            if names:
                lines += [(2, point), *((4, name) for name in names)]
        lines.append((2, "arguments"))
        lines += [(4, text) for one in profile["pluginConfig"] for text in _arguments(one["name"], one["args"])]
    return lines


def _arguments(path: str, value: Any) -> Iterator[str]:
    """Yield the arguments below a path, a line each; lists stay whole."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _arguments(f"{path}.{name}", inner)
    else:
        yield f"{path}: {'none' if value is None else json.dumps(value)}"


def _purpose(file: Path) -> str:
    """Return the first comment of a file, which says what it is for."""
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""


application.command(
    "convert", short_help="Convert an old configuration to today's version.", epilog=conversions.EXAMPLES_OF_CONVERT
)(conversions.convert)
application.command(
    "validate", short_help="List all problems of configurations.", epilog=conversions.EXAMPLES_OF_VALIDATE
)(conversions.validate)
application.command(
    "diff", short_help="Show what two configurations do differently.", epilog=profile_differences.EXAMPLES
)(profile_differences.diff)
