"""``schedctl version``: which schedctl this is, and which kube-scheduler it follows, with its feature gates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.help_text import OUTPUT
from schedctl.cli.program import VERSIONS
from schedctl.errors import UsageError
from schedctl.versions import KUBERNETES_VERSION, __version__

if TYPE_CHECKING:
    from schedctl.reports.listings import FeatureGateItem

EXAMPLES = """
Examples:
  schedctl version
  schedctl version -o json
  schedctl version --gates
  schedctl version --gates --kube-version 1.35 -o wide
"""

HEADS = ("NAME", "STAGE", "DEFAULT", "CAN BE SET")
WIDE = ("NAME", "STAGE", "DEFAULT", "LOCKED", "CHANGES DECISIONS", "MODELLED", "REQUIRES", "PROOF")


def version(
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text (default) or json; with --gates also wide: every gate",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("text", "wide", "json"),
        ),
    ] = "text",
    gates: Annotated[
        bool, typer.Option("--gates", help="List the feature gates of kube-scheduler that change decisions")
    ] = False,
    kube_version: options.OfVersion = "",
) -> None:
    """Print the versions of schedctl and of the kube-scheduler that it follows, or the feature gates of one."""
    if gates:
        _list_gates(kube_version, output)
    elif kube_version:
        raise UsageError("--kube-version without --gates", "`schedctl version --gates` lists the gates of a version")
    elif output == "text":
        typer.echo(VERSIONS, nl=False)
    elif output == "json":
        typer.echo(json.dumps({"schedctl": __version__, "kubernetesVersion": KUBERNETES_VERSION}))
    else:
        raise UsageError(f'unknown output "{output}"', "-o takes text or json")


def _list_gates(kube_version: str, output: str) -> None:
    from schedctl.cli import tables
    from schedctl.cli.notifiers import StandardError
    from schedctl.render import machine
    from schedctl.reports.listings import FeatureGateList
    from schedctl.reports.metadata import Head
    from schedctl.session import feature_gates, kube_versions

    if output not in ("text", "wide", "json"):
        raise UsageError(f'unknown output "{output}"', "-o takes text, wide or json")
    release = kube_versions.release_of(kube_version, StandardError())
    items = feature_gates.list_gates(release)
    if output == "json":
        head = Head(kubernetes_version=release.version)
        typer.echo(machine.json(FeatureGateList(metadata=head, items=items)), nl=False)
    elif output == "wide":
        tables.show(WIDE, [_wide_row(item) for item in items])
    else:
        shown = [item for item in items if item.decisive]
        tables.show(HEADS, [_row(item) for item in shown])
        typer.echo(
            f"\nkube-scheduler {release.version}: these gates change decisions;"
            f"\n{len(items) - len(shown)} others do not, `-o wide` lists all"
            "\nyes (20 cases): so many were compared with kube-scheduler, the gate set"
        )


def _row(item: FeatureGateItem) -> tuple[str, ...]:
    return item.name, item.stage, _on(item.default), _can_be_set(item)


def _can_be_set(item: FeatureGateItem) -> str:
    if item.locked or not item.modelled:
        return "locked" if item.locked else "to off" if item.only_off else "not modelled"
    return f"yes ({item.proof.cases} cases)" if item.proof else "yes"


def _wide_row(item: FeatureGateItem) -> tuple[str, ...]:
    facts = (item.locked, item.decisive, item.modelled)
    words = ("yes" if each else "no" for each in facts)
    return item.name, item.stage, _on(item.default), *words, ", ".join(item.requires) or "-", _proof(item)


def _proof(item: FeatureGateItem) -> str:
    if item.proof is None:
        return "-"
    compared = f"{item.proof.cases} cases with it {_on(not item.default)}, {item.proof.differences or 'none'} differ"
    return f"{compared}; {item.proof.changed} change ({', '.join(item.proof.families)})"


def _on(default: bool) -> str:
    return "on" if default else "off"
