"""The page of Kubernetes' plugins: what each is for, what it reads, what requeues a pod it rejects, what proves it."""

from __future__ import annotations

from collections.abc import Iterator

from docs._reference.markdown import GENERATED, anchor, code, sentence, table
from schedctl.cache.cluster import Cluster
from schedctl.config.args import ARGS
from schedctl.framework.events import Action, ClusterEvent
from schedctl.framework.points import Plugin
from schedctl.reports.listings import PluginItem, Proof
from schedctl.scheduler import Scheduler
from schedctl.session.plugins import list_plugins
from schedctl.versions import KUBERNETES_VERSION

REFUSING = {"preEnqueue", "preFilter", "filter", "reserve", "permit"}
"""The extension points at which a plugin can reject a pod, and is asked for events."""


def page() -> str:
    """Return the page."""
    items = list_plugins()
    made = Scheduler(Cluster()).profiles["default-scheduler"].plugins
    overview = [
        [f"[{item.name}](#{anchor(item.name)})", str(item.weight or ""), item.fidelity, _compared(item.proof)]
        for item in items
    ]
    return f"""{GENERATED}

# Plugins

What does a plugin of kube-scheduler read, when is a pod that it rejected tried again, and what proves that schedctl
answers as kube-scheduler {KUBERNETES_VERSION} does? `schedctl plugins list -o wide` prints a part of this; how to write
a plugin of your own is told in [plugins](../plugins.md).

{table(["Plugin", "Weight", "Fidelity", "Compared with kube-scheduler"], overview)}
*Weight* is that of the default profile. *Fidelity* is `exact` where verdicts, reasons and scores equal kube-scheduler's
in every compared cycle, and `partial` where one differs. A plugin without compared cycles is held to its rules by unit
tests. [Exactness](../exactness.md) says how the comparison works.

{chr(10).join(_section(item, made[item.name]) for item in items)}
Next: [how exact are the answers?](../exactness.md)
"""


def _section(item: PluginItem, plugin: Plugin) -> str:
    lines = [f"Extension points: {', '.join(map(code, item.extension_points))}"]
    if item.name in ARGS:
        lines.append(f"Arguments: {code(ARGS[item.name].__name__)}")
    if plugin.reads:
        lines.append(f"Reads besides pods and nodes: {', '.join(code(kind.__name__) for kind in plugin.reads)}")
    if REFUSING & set(item.extension_points):
        lines.append(f"Requeues a pod that it rejected after: {', '.join(_events(plugin))}")
    lines.append(f"Proved by: {_proof(item.proof)}")
    return f"## {item.name}\n\n{sentence(item.description)}\n\n" + "".join(f"- {line}\n" for line in lines)


def _events(plugin: Plugin) -> Iterator[str]:
    """Yield the events that requeue a pod, by kube-scheduler's names."""
    for registration in plugin.events_to_register():
        event = registration.event
        if event.label != event.resource.value:  # it has a name of its own, and is no union
            yield code(event.label)
            continue
        for action in Action:
            if action in event.action and action.bit_count() == 1:
                yield code(ClusterEvent(event.resource, action).label)


def _compared(proof: Proof | None) -> str:
    """Return how many cycles were compared, and how many differ."""
    if proof is None:
        return "unit tests"
    cycles = sum(proof.cycles.values())
    return f"{proof.differences or 'no'} difference{'' if proof.differences == 1 else 's'} in {cycles:,} cycles"


def _proof(proof: Proof | None) -> str:
    if proof is None:
        return _compared(proof)
    families = sorted(proof.cycles, key=proof.cycles.__getitem__, reverse=True)
    listed = ", ".join(f"{code(family)} ({proof.cycles[family]:,})" for family in families)
    return f"{_compared(proof)} of seeds {proof.seeds}, by family of cases: {listed}"
