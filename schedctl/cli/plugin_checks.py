"""``schedctl plugins check``: whether a plugin keeps the contract and the laws, over drawn clusters and a given state.

What a class must be is checked when it is loaded. The laws are those of `schedctl.testing.laws`, which the author's own
tests can ask as well (`schedctl.testing.laws_of`).
"""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options

EXAMPLES = """\b
Examples:
  schedctl plugins check fence.py
  schedctl plugins check fences:TeamFence -f cluster.yaml
  schedctl plugins check fence.py --clusters 1000

\b
Exit codes: 0 nothing found, 1 a law is broken, 2 no plugin, or one that cannot be made, 3 input, 70 a bug.
"""


def check(
    plugins: Annotated[
        list[str], typer.Argument(metavar="PLUGIN...", help="FILE.py, FILE.py:Class, MODULE or MODULE:Class.")
    ],
    state: options.State = None,
    clusters: Annotated[int, typer.Option(min=0, metavar="N", help="How many clusters are drawn.")] = 100,
) -> int:
    """Check what a plugin must be, and that it keeps the laws every plugin must satisfy.

    Slice: a node's verdict and raw score depend on that node alone. Order: they do not depend on the order of nodes.
    Purity: asking changes nothing. Range: normalised scores lie in 0 to 100.

    The others are of what a plugin promises so as to be asked less often. Signature: pods of equal signatures get equal
    answers. Following: what moved_by and follow do not name has not moved. Template: pods written alike are answered
    alike. Extremes: a normalised score depends on the raw one, the least and the largest alone.

    Each is asked over clusters drawn at random, the same every time, and over the pods of the state of -f if there is
    one.
    """
    from schedctl.framework.points import POINTS
    from schedctl.scheduler import discovery
    from schedctl.session import library
    from schedctl.testing.laws import LAWS
    from schedctl.testing.ready_tests import broken_laws, broken_on, plugin_on

    found = discovery.find(plugins)
    faults = 0
    for name in found.named:
        plugin = found.registry[name]
        points = ", ".join(point for point in POINTS if found.registry.implements(name, point))
        typer.echo(f"{name} of {found.origins[name]}: {points}")
        broken = broken_laws(plugin, seeds=range(clusters))
        if state:
            cluster = library.read(*state)
            made, pods = plugin_on(plugin, cluster), [*cluster.pending.values(), *cluster.pod_table]
            for law in LAWS:
                told = broken_on(made, cluster, pods, law)
                if told and law not in broken:
                    broken[law] = f"{told} (in {', '.join(state)})"
        for law in LAWS:
            typer.echo(f"  {law}: {broken.get(law, 'holds')}")
        faults += len(broken)
    return 1 if faults else 0


def add_to(parent: typer.Typer) -> None:
    """Register the command."""
    parent.command("check", short_help="Check that plugins keep the contract and the laws.", epilog=EXAMPLES)(check)
