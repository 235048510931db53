"""``schedctl plugins check``: whether a plugin keeps the contract and the laws, over drawn and given clusters."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options

_NOTHING_HAPPENED = "hint: give a cluster in which {} has something to reject or to prefer: -f FILE"

EXAMPLES = """
Examples:
  schedctl plugins check fence.py
  schedctl plugins check fences:TeamFence -f cluster.yaml
  schedctl plugins check fence.py --clusters 1000
  schedctl plugins check fence.py -f cluster.yaml --scheduler-config conf.yaml

Exit codes: 0 every law holds; 1 a law is broken; 2 no plugin, or one that cannot be created; 3 input; 70 a bug
"""


def check(
    plugins: Annotated[
        list[str], typer.Argument(metavar="PLUGIN...", help="FILE.py, FILE.py:Class, MODULE or MODULE:Class")
    ],
    state: options.State = None,
    scheduler_config: options.SchedulerConfig = "",
    clusters: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of random clusters to try (default 100)")
    ] = 100,
) -> int:
    """Check that plugins keep the laws that every scheduler plugin has to satisfy.

    Slice: a node's verdict and raw score depend on that node alone. Order: they do not depend on the order of nodes.
    Purity: asking changes nothing. Range: normalised scores lie in 0 to 100. Reserve: a pod that is reserved and
    released, once or twice, leaves the answers of before. State: what a plugin keeps follows the cluster.

    The other laws are about what a plugin declares so that its answers can be reused. Signature: pods with equal
    signatures get equal answers. Following: an answer changes only where what it was read from has. Template:
    pods of the same template get the same answer. Extremes: a normalised score depends only on the raw score and on the
    least and the largest one.

    Of plugins that take part in the cycle of a pod group: placements have names of their own and nodes of the cluster;
    one more pod that has found a node never makes it worse; and purity, range and asking twice, of placements.

    Each law is tried on random clusters, the same ones every time, and on pods of the cluster of -f if given. A law
    "saw nothing happen" if Filter rejected no node there and Score preferred none: it has proved nothing then.
    """
    from schedctl.documents.findings import printable
    from schedctl.session import plugin_checks

    broken = 0
    for each in plugin_checks.find(plugins):
        typer.echo(f"{each.name} of {each.origin}: {', '.join(each.points)}")
        result = each.run(state or (), clusters, scheduler_config)
        for line in result.lines():
            typer.echo(f"  {printable(line)}")
        broken += result.broken
        if result.saw_nothing:
            typer.echo(_NOTHING_HAPPENED.format(each.name), err=True)
    return 1 if broken else 0
