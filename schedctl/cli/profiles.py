"""``schedctl profiles``: the scheduler profiles that ship, and what a configuration comes to once it is merged.

`conversions` has the commands for configurations of other times, `profile_differences` the comparison of two.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedctl.cli import conversions, options, profile_differences, suggestions
from schedctl.cli.notifiers import StandardError
from schedctl.errors import UsageError

if TYPE_CHECKING:
    from schedctl.config.types import SchedulerConfiguration
    from schedctl.framework.registries import Registry

EXAMPLES_OF_LIST = """\b
Examples:
  schedctl profiles list
  schedctl explain pod web-0 -f cluster.yaml --profile bin-packing
"""
EXAMPLES_OF_SHOW = """\b
Examples:
  schedctl profiles show default
  schedctl profiles show my-scheduler-config.yaml
  schedctl profiles show bin-packing -o yaml
"""

application = typer.Typer(rich_markup_mode=None, help="Show, convert and compare scheduler profiles.")


@application.command("list", short_help="List the profiles that ship with schedctl.", epilog=EXAMPLES_OF_LIST)
def list_profiles(
    output: Annotated[str, typer.Option("-o", "--output", metavar="FORMAT", help="text, name or json.")] = "text",
    no_headers: Annotated[bool, typer.Option("--no-headers", help="No heading.")] = False,
) -> None:
    """List the profiles that ship with schedctl, with the file each comes from."""
    from schedctl.cli import tables
    from schedctl.render import machine
    from schedctl.reports.listings import ProfileItem, ProfileList
    from schedctl.session import configurations

    if output not in ("text", "name", "json"):
        raise UsageError(f'there is no output "{output}"', "-o takes text, name or json")
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


@application.command("show", short_help="Show what a profile comes to once all is merged.", epilog=EXAMPLES_OF_SHOW)
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A profile that ships, or a configuration file.",
            autocompletion=suggestions.profiles,
        ),
    ],
    plugin: options.Plugins = None,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FORMAT", help="text, yaml or json.")] = "text",
) -> None:
    """Show the plugins of each extension point in order, with weights and arguments, once all is merged.

    `-o yaml` and `-o json` print the same as a KubeSchedulerConfiguration in which nothing is left to defaults.
    """
    from schedctl.scheduler import discovery
    from schedctl.session import configurations

    if output not in ("text", "yaml", "json"):
        raise UsageError(f'there is no output "{output}"', "-o takes text, yaml or json")
    shipped = configurations.shipped_files()
    if name not in shipped and not Path(name).is_file():
        raise configurations.unknown_profile(name)
    path = str(shipped.get(name, name))
    chosen = configurations.load_file(path, discovery.find(plugin or ()))
    configurations.warn_of_conversion(chosen, StandardError())
    document = spelled_out(chosen.configuration, chosen.registry)
    if output == "text":
        from schedctl.render import layout, terminals

        lines = [layout.Line((layout.Span(text),), indent, whole=True) for indent, text in _lines(document)]
        layout.write(lines, sys.stdout, terminals.of(sys.stdout, environ=os.environ))
    else:
        from schedctl.render import machine

        write = machine.json if output == "json" else machine.yaml
        typer.echo(write(document), nl=False)


def spelled_out(configuration: SchedulerConfiguration, registry: Registry | None = None) -> dict[str, Any]:
    """Return a KubeSchedulerConfiguration of the same meaning that leaves nothing to defaults and merging.

    `multiPoint` enables nothing, so that each extension point lists what runs there.

    Args:
        configuration: the configuration.
        registry: the plugins there are, Kubernetes' own if None.
    """
    from schedctl.config.expansion import WEIGHTED, expand_all
    from schedctl.config.types import API_VERSION, KIND, POINTS
    from schedctl.plugins.in_tree import IN_TREE

    expanded, _ = expand_all(configuration, registry or IN_TREE)
    profiles = []
    for profile in configuration.profiles:
        points = expanded[profile.scheduler_name]
        plugins: dict[str, Any] = {"multiPoint": {"disabled": [{"name": "*"}]}}
        for point in sorted(POINTS, key=_place):
            weighted = point in WEIGHTED
            plugins[point] = {
                "enabled": [
                    {"name": plugin.name, "weight": plugin.weight} if weighted else {"name": plugin.name}
                    for plugin in points[point]
                ]
            }
        named = {plugin.name for chosen in points.values() for plugin in chosen}
        config = [
            {"name": one.name, "args": _plain(one.args)}
            for one in profile.plugin_config
            if one.name in named and one.args is not None
        ]
        spelled: dict[str, Any] = {"schedulerName": profile.scheduler_name, "plugins": plugins, "pluginConfig": config}
        if profile.percentage_of_nodes_to_score is not None:
            spelled["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
        profiles.append(spelled)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "percentageOfNodesToScore": configuration.percentage_of_nodes_to_score,
        "profiles": profiles,
    }


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
        lines += [(4, f"{one['name']}: {json.dumps(one['args'])}") for one in profile["pluginConfig"]]
    return lines


def _place(point: str) -> int:
    """Where in a cycle an extension point stands; those we do not run come last."""
    from schedctl.framework.points import POINTS

    return [*POINTS, point].index(point)


def _plain(args: Any) -> Any:
    """Return plugin arguments as a file writes them."""
    import msgspec

    return msgspec.to_builtins(args, enc_hook=str)


def _purpose(file: Path) -> str:
    """Return the first comment of a file, which says what it is for."""
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def add_to(parent: typer.Typer) -> None:
    """Register the commands."""
    conversions.add_to(application)
    profile_differences.add_to(application)
    parent.add_typer(application, name="profiles")
