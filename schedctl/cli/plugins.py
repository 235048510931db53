"""``schedctl plugins``: the scheduler plugins there are, and how exactly each is modelled."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from schedctl import KUBERNETES_VERSION
from schedctl.errors import UsageError

EXAMPLES = """\b
Examples:
  schedctl plugins list
  schedctl plugins list -o wide
  schedctl plugins list -o json
"""

NOT_MODELLED = {
    "DefaultPreemption": "preemption",
    "DynamicResources": "resource claims, extended resources of a DeviceClass",
    "NodeVolumeLimits": "volumes that are attached",
    "VolumeBinding": "volume claims",
    "VolumeRestrictions": "disks in line, volume claims",
    "VolumeZone": "volume claims",
}
"""What a plugin cannot be asked about yet; a pod that needs it gets no answer rather than a guess."""

HEADS = ("NAME", "WEIGHT", "FIDELITY", "EXTENSION POINTS", "DESCRIPTION")

application = typer.Typer(rich_markup_mode=None, help="Show the scheduler plugins there are.")


@application.command("list", epilog=EXAMPLES)
def list_plugins(
    output: Annotated[str, typer.Option("-o", "--output", metavar="FORMAT", help="text, wide, name or json.")] = "text",
    no_headers: Annotated[bool, typer.Option("--no-headers", help="No heading.")] = False,
) -> None:
    """List the plugins with their weight in the default profile, their fidelity and their extension points."""
    if output not in ("text", "wide", "name", "json"):
        raise UsageError(f'there is no output "{output}"', "-o takes text, wide, name or json")
    plugins = described()
    if output == "json":
        document = {
            "apiVersion": "schedctl.dev/v1alpha1",
            "kind": "PluginList",
            "metadata": {"kubernetesVersion": KUBERNETES_VERSION},
            "items": plugins,
        }
        typer.echo(json.dumps(document, indent=2))
    elif output == "name":
        typer.echo("\n".join(plugin["name"] for plugin in plugins))
    else:
        from schedctl.cli import tables

        shown = len(HEADS) if output == "wide" else len(HEADS) - 1
        tables.show(
            HEADS[:shown],
            (_row(plugin)[:shown] for plugin in plugins),
            headers=not no_headers,
        )


def _row(plugin: dict[str, Any]) -> list[str]:
    missing = f" Not modelled: {plugin['notModelled']}." if plugin["notModelled"] else ""
    points = ", ".join(plugin["extensionPoints"])
    return [plugin["name"], str(plugin["weight"] or "-"), plugin["fidelity"], points, plugin["description"] + missing]


def described() -> list[dict[str, Any]]:
    """Return all plugins of the registry, in the order of the default profile."""
    from schedctl.config import loading
    from schedctl.config.expansion import expand_all
    from schedctl.framework.points import POINTS
    from schedctl.plugins.in_tree import IN_TREE

    configuration = loading.default()
    expanded, _ = expand_all(configuration, IN_TREE)
    weights = {plugin.name: plugin.weight for plugin in expanded[configuration.profiles[0].scheduler_name]["score"]}
    return [
        {
            "name": name,
            "extensionPoints": [point for point in POINTS if IN_TREE.implements(name, point)],
            "weight": weights.get(name, 0),
            "fidelity": fidelity(name),
            "notModelled": NOT_MODELLED.get(name, ""),
            "description": (IN_TREE[name].__doc__ or "").partition("\n")[0].replace("``", ""),
        }
        for name in IN_TREE
    ]


def fidelity(name: str) -> str:
    """Return ``exact`` or ``partial``: whether a plugin answers all that kube-scheduler's does."""
    return "partial" if name in NOT_MODELLED else "exact"


def add_to(parent: typer.Typer) -> None:
    """Register the commands."""
    parent.add_typer(application, name="plugins")
