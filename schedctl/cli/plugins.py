"""``schedctl plugins``: the scheduler plugins there are, and how exactly each is modelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.errors import UsageError

if TYPE_CHECKING:
    from schedctl.cli.documents import PluginItem

EXAMPLES = """\b
Examples:
  schedctl plugins list
  schedctl plugins list -o wide
  schedctl plugins list -o json
"""

NOT_MODELLED = {
    "DynamicResources": "resource claims, extended resources of a DeviceClass",
    "NodeVolumeLimits": "volumes that are attached",
    "VolumeBinding": "volume claims",
    "VolumeRestrictions": "disks in line, volume claims",
    "VolumeZone": "volume claims",
}
"""What a plugin cannot be asked about yet; a pod that needs it gets no answer rather than a guess."""

HEADS = ("NAME", "WEIGHT", "FIDELITY", "EXTENSION POINTS", "DESCRIPTION")

application = typer.Typer(rich_markup_mode=None, help="Show the scheduler plugins there are.")


@application.command("list", short_help="List the plugins and how exactly each is modelled.", epilog=EXAMPLES)
def list_plugins(
    output: Annotated[str, typer.Option("-o", "--output", metavar="FORMAT", help="text, wide, name or json.")] = "text",
    no_headers: Annotated[bool, typer.Option("--no-headers", help="No heading.")] = False,
) -> None:
    """List the plugins with their weight in the default profile, their fidelity and their extension points."""
    from schedctl.cli import tables
    from schedctl.cli.documents import PluginList
    from schedctl.render import machine

    if output not in ("text", "wide", "name", "json"):
        raise UsageError(f'there is no output "{output}"', "-o takes text, wide, name or json")
    items = described()
    if output == "json":
        typer.echo(machine.json(PluginList(items=items)), nl=False)
    elif output == "name":
        typer.echo("\n".join(item.name for item in items))
    else:
        shown = len(HEADS) if output == "wide" else len(HEADS) - 1
        tables.show(HEADS[:shown], [_row(item)[:shown] for item in items], headers=not no_headers)


def _row(item: PluginItem) -> list[str]:
    missing = f" Not modelled: {item.not_modelled}." if item.not_modelled else ""
    points = ", ".join(item.extension_points)
    return [item.name, str(item.weight or "-"), item.fidelity, points, item.description + missing]


def described() -> list[PluginItem]:
    """Return all plugins of the registry, in the order of the default profile."""
    from schedctl.cli.documents import PluginItem
    from schedctl.config import loading
    from schedctl.config.expansion import expand_all
    from schedctl.framework.points import POINTS
    from schedctl.plugins.in_tree import IN_TREE

    configuration = loading.default()
    expanded, _ = expand_all(configuration, IN_TREE)
    weights = {plugin.name: plugin.weight for plugin in expanded[configuration.profiles[0].scheduler_name]["score"]}
    return [
        PluginItem(
            name=name,
            extension_points=[point for point in POINTS if IN_TREE.implements(name, point)],
            weight=weights.get(name, 0),
            fidelity=fidelity(name),
            not_modelled=NOT_MODELLED.get(name, ""),
            description=(plugin.__doc__ or "").partition("\n")[0].replace("``", ""),
        )
        for name, plugin in IN_TREE.items()
    ]


def fidelity(name: str) -> str:
    """Return ``exact`` or ``partial``: whether a plugin answers all that kube-scheduler's does."""
    return "partial" if name in NOT_MODELLED else "exact"


def add_to(parent: typer.Typer) -> None:
    """Register the commands."""
    parent.add_typer(application, name="plugins")
