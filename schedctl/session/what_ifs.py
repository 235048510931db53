"""The what-if options, the same on every command that has a cluster to change.

A command gets all of them by one line, and what was given, in the order given, as one argument::

    @with_what_ifs
    def explain(..., what_if: WhatIf) -> int:
        ...
        changed = what_if.apply(cluster, namespace)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedctl.cli.signatures import Command, extended

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster
    from schedctl.scheduler import Scheduler
    from schedctl.simulation.what_ifs import Changed

_OPTIONS = {
    "cordon": ("NODE", "NODE takes no more pods. NODE is a name, `all`, or a label as zone=eu-1a."),
    "drain": ("NODE", "NODE is cordoned and its pods have to go elsewhere."),
    "remove-node": ("NODE", "NODE is gone, and its pods have to go elsewhere."),
    "add-node": ("FILE×N", "N nodes of a file join, or as like:NODE×N such as one there is; x will do for ×."),
    "taint": ("NODE:TAINT", "NODE has TAINT, as KEY=VALUE:EFFECT; KEY:EFFECT- and KEY- remove it."),
    "label": ("NODE:LABEL", "NODE has LABEL, as KEY=VALUE; KEY- removes it."),
    "scale": ("NAME=N", "A workload as deploy/web or deploy/NS/web has N pods."),
    "priority": ("NAME=VALUE", "pod/web-0 or deploy/web has this priority or PriorityClass."),
    "lose": ("LABEL=VALUE", "All nodes of zone=eu-1a, or with another label, are gone."),
}
"""By word, what it takes and what it does."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The what-ifs of a command line; false where there are none.

    Attributes:
        written: words and texts, in the order given.
    """

    written: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.written)

    def apply(self, cluster: Cluster, namespace: str = "") -> list[Changed]:
        """Change the cluster for good and return what each what-if did.

        Args:
            cluster: the cluster.
            namespace: of pods and workloads that name none; "" for the usual one.

        Raises:
            UsageError: a text cannot be read, or what it is about is not there.
            InputError: a file of nodes cannot be understood.
        """
        if not self.written:
            return []
        from schedctl.api.defaults import DEFAULT_NAMESPACE
        from schedctl.simulation import what_if_syntax, what_ifs

        namespace = namespace or DEFAULT_NAMESPACE
        changes = [what_if_syntax.parse(word, text, namespace) for word, text in self.written]
        return what_ifs.apply(changes, cluster)


NOTHING = WhatIf()
"""No what-if."""


def successors(changed: Iterable[Changed]) -> dict[str, str]:
    """Return by key of a pod that is gone the key of the pod that has taken its place in the end."""
    found: dict[str, str] = {}
    for each in changed:
        found = {gone: each.successors.get(made, made) for gone, made in found.items()} | each.successors
    return found


def settle(changed: Iterable[Changed], scheduler: Scheduler) -> list[str]:
    """Place the pods that have no node because of what-ifs, as a run does it; return a line about that, or none."""
    waiting = dict.fromkeys(key for each in changed for key in each.waiting)
    pods = [info for key in waiting if (info := scheduler.cluster.pending.get(key)) and scheduler.profile_of(info)]
    if not pods:
        return []
    from schedctl.simulation.replacement import ReplacementController
    from schedctl.simulation.runs import Options, run

    facts = run(scheduler, pods, options=Options(trace=False), controller=ReplacementController(scheduler))
    placed = sum(info.key in scheduler.cluster.pod_table.row_of for info in pods)
    others = len(facts.evictions)
    gone = f"; {others} other{'s' if others > 1 else ''} had to make room" if others else ""
    return [f"{placed} of the pods that had to be placed found a node, {len(pods) - placed} did not{gone}"]


def with_what_ifs(command: Command) -> Command:
    """Give a command the what-if options; it gets them as the argument ``what_if``."""
    names = {word: f"what_if_{word.replace('-', '_')}" for word in _OPTIONS}

    def make(given: Mapping[str, Any], context: typer.Context) -> WhatIf:
        texts = {word: given[name] or [] for word, name in names.items()}
        return WhatIf(_in_order(texts, context.find_root().obj or ()))

    return extended(command, "what_if", {name: (_option(word), None) for word, name in names.items()}, make)


def _option(word: str) -> Any:
    metavar, text = _OPTIONS[word]
    return Annotated[list[str] | None, typer.Option(f"--{word}", metavar=metavar, help=text)]


def _in_order(texts: dict[str, list[str]], arguments: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return words and texts in the order of the command line, which the parser has kept for each word alone."""
    left = {word: list(given) for word, given in texts.items()}
    ordered = []
    for argument in arguments:
        word = argument.partition("=")[0].removeprefix("--")
        if argument.startswith("--") and left.get(word):
            ordered.append((word, left[word].pop(0)))
    return (*ordered, *((word, text) for word, rest in left.items() for text in rest))
