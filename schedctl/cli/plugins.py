"""``schedctl plugins``: the scheduler plugins there are, and how exactly each is modelled.

`plugin_skeletons` writes new ones, `plugin_checks` holds them to the laws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.cli import options, plugin_checks, plugin_skeletons, suggestions
from schedctl.cli.coercion import Application
from schedctl.cli.help_text import OUTPUT
from schedctl.errors import UsageError
from schedctl.versions import KUBERNETES_VERSION

if TYPE_CHECKING:
    from schedctl.reports.listings import PluginItem, Proof

EXAMPLES = """
Examples:
  schedctl plugins list
  schedctl plugins list -o wide
  schedctl plugins list -o json
  schedctl plugins list --plugin fence.py
"""

HEADS = ("NAME", "ORIGIN", "WEIGHT", "FIDELITY", "PROOF", "EXTENSION POINTS", "DESCRIPTION")
NARROW = ("NAME", "ORIGIN", "WEIGHT", "FIDELITY", "PROOF")
EXACT = """
exact: gives the verdicts, reasons and scores of kube-scheduler {version}, with no
difference in any compared cycle; `-o wide` names the compared cases
"""

application = Application(help="List the scheduler plugins, and write your own.")


@application.command("list", short_help="List the plugins and how exactly each is modelled.", epilog=EXAMPLES)
def list_plugins(
    plugin: options.Plugins = None,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text (default), wide, name or json",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("text", "wide", "name", "json"),
        ),
    ] = "text",
    no_headers: options.NoHeaders = False,
) -> None:
    """List the scheduler plugins, with their weight in the default profile and how exactly each is modelled.

    These are Kubernetes' own, those of installed packages, and those of --plugin.
    """
    from schedctl.cli import tables
    from schedctl.cli.notifiers import StandardError
    from schedctl.render import machine
    from schedctl.reports.listings import PluginList
    from schedctl.session import plugins

    if output not in ("text", "wide", "name", "json"):
        raise UsageError(f'unknown output "{output}"', "-o takes text, wide, name or json")
    items = plugins.list_plugins(plugin or (), StandardError())
    if output == "json":
        typer.echo(machine.json(PluginList(items=items)), nl=False)
    elif output == "name":
        typer.echo("\n".join(item.name for item in items))
    else:
        wide = output == "wide"
        rows = [_row(item, wide) for item in items]
        foreign = any(item.origin != plugins.KUBERNETES for item in items)
        heads = [head for head in (HEADS if wide else NARROW) if head != "ORIGIN" or foreign]
        tables.show(heads, [[row[head] for head in heads] for row in rows], headers=not no_headers)
        if not (wide or no_headers):
            typer.echo(EXACT.format(version=KUBERNETES_VERSION), nl=False)


def _row(item: PluginItem, wide: bool) -> dict[str, str]:
    from schedctl.session.plugins import YOURS

    points = ", ".join(item.extension_points)
    without_cases = "unit tests" if item.fidelity != YOURS else "-"
    proof = _describe_proof(item.proof, wide) if item.proof else without_cases
    cells = (item.name, item.origin, str(item.weight or "-"), item.fidelity, proof, points, item.description)
    return dict(zip(HEADS, cells, strict=True))


def _describe_proof(proof: Proof, wide: bool) -> str:
    compared = f"{sum(proof.cycles.values())} cycles, {proof.differences or 'none'} differ"
    if not wide:
        return compared
    families = sorted(proof.cycles, key=proof.cycles.__getitem__, reverse=True)
    return f"{compared}; seeds {proof.seeds}: {', '.join(families)}"


application.command("new", short_help="Write a working plugin, and its tests.", epilog=plugin_skeletons.EXAMPLES)(
    plugin_skeletons.new
)
application.command(
    "check", short_help="Check that plugins keep the contract and the laws.", epilog=plugin_checks.EXAMPLES
)(plugin_checks.check)
