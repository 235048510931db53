"""``schedctl plugins``: the scheduler plugins there are, and how exactly each is modelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.errors import UsageError

if TYPE_CHECKING:
    from schedctl.cli.documents import PluginItem, Proof

EXAMPLES = """\b
Examples:
  schedctl plugins list
  schedctl plugins list -o wide
  schedctl plugins list -o json
"""

HEADS = ("NAME", "WEIGHT", "FIDELITY", "PROOF", "EXTENSION POINTS", "DESCRIPTION")
NARROW = ("NAME", "WEIGHT", "FIDELITY", "PROOF")
NAMED = 2
"""How many families of cases are named, those with most cycles first; ``-o wide`` names all."""

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
        wide = output == "wide"
        heads = HEADS if wide else NARROW
        tables.show(heads, [_row(item, wide)[: len(heads)] for item in items], headers=not no_headers)


def _row(item: PluginItem, wide: bool) -> list[str]:
    points = ", ".join(item.extension_points)
    proof = _told(item.proof, wide) if item.proof else "unit tests"
    return [item.name, str(item.weight or "-"), item.fidelity, proof, points, item.description]


def _told(proof: Proof, wide: bool) -> str:
    families = sorted(proof.cycles, key=proof.cycles.__getitem__, reverse=True)
    more = "" if wide or len(families) <= NAMED else f" and {len(families) - NAMED} more"
    named = ", ".join(families if wide else families[:NAMED]) + more
    return f"{proof.differences} differences in {sum(proof.cycles.values())} cycles of seeds {proof.seeds}: {named}"


def described() -> list[PluginItem]:
    """Return all plugins of the registry, in the order of the default profile."""
    from schedctl.cli.documents import PluginItem
    from schedctl.config import loading
    from schedctl.config.expansion import expand_all
    from schedctl.framework.points import POINTS
    from schedctl.plugins.in_tree import IN_TREE

    proofs = _proofs()
    configuration = loading.default()
    expanded, _ = expand_all(configuration, IN_TREE)
    weights = {plugin.name: plugin.weight for plugin in expanded[configuration.profiles[0].scheduler_name]["score"]}
    return [
        PluginItem(
            name=name,
            extension_points=[point for point in POINTS if IN_TREE.implements(name, point)],
            weight=weights.get(name, 0),
            fidelity="partial" if name in proofs and proofs[name].differences else "exact",
            proof=proofs.get(name),
            description=(plugin.__doc__ or "").partition("\n")[0].replace("``", ""),
        )
        for name, plugin in IN_TREE.items()
    ]


def _proofs() -> dict[str, Proof]:
    """Read what was compared, by plugin."""
    import json

    from schedctl import shipped
    from schedctl.cli.documents import Proof

    proof = json.loads(shipped.proof().read_bytes())
    families = proof["families"]
    return {
        plugin: Proof(
            kubernetes_version=proof["kubernetesVersion"],
            seeds=proof["seeds"],
            cycles=cycles,
            differences=sum(families[family]["differences"] + families[family]["notModelled"] for family in cycles),
        )
        for plugin, cycles in proof["plugins"].items()
    }


def add_to(parent: typer.Typer) -> None:
    """Register the commands."""
    parent.add_typer(application, name="plugins")
