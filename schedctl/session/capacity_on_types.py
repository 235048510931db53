"""How many pods like one fit on a new node of an instance type, alone in a fresh cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from schedctl.api.amounts import quantity
from schedctl.api.resources import CPU, MEMORY
from schedctl.autoscaling.groups import NodeTemplate
from schedctl.autoscaling.instance_types import Catalogue
from schedctl.autoscaling.joining import Joining
from schedctl.autoscaling.templates import templates_like
from schedctl.cache.cluster import Cluster
from schedctl.documents.spelling import suggest_names
from schedctl.errors import UsageError
from schedctl.reports import counts
from schedctl.scheduler import Scheduler

_PREFIX = "type="


def templates(texts: Sequence[str], catalogue: Catalogue, cluster: Cluster) -> list[NodeTemplate]:
    """Return a new node of each type that ``--on`` names: like a node of that type, else as the catalogue has it.

    Raises:
        UsageError: a text names no type, or one that neither the cluster nor the catalogue has.
    """
    like: dict[str, NodeTemplate] = {}
    for each in templates_like(cluster, cluster.node_table.row_of, "fresh"):
        like.setdefault(each.instance_type, each)
    found = []
    for text in texts:
        if not text.startswith(_PREFIX) or text == _PREFIX:
            raise UsageError(f'invalid --on "{text}"', "--on takes an instance type, e.g. `--on type=m6i.xlarge`")
        name = text.removeprefix(_PREFIX)
        if name in like:
            found.append(like[name])
        elif (known := catalogue.types.get(name)) is not None:
            found.append(known.template("fresh", next(iter(known.zones), "")))
        else:
            names = sorted({*like, *catalogue.types} - {""})
            hint = suggest_names(name, names, "types") or "`--instance-types FILE` says what it is"
            raise UsageError(f'unknown instance type "{name}"', hint)
    return found


@contextmanager
def fresh_cluster(scheduler: Scheduler, template: NodeTemplate) -> Iterator[list[str]]:
    """Have one new node and no other for the length of a ``with`` block; what DaemonSets take of it is returned."""
    cluster = scheduler.cluster
    with scheduler.fork():
        others = list(cluster.node_table.row_of)
        (name,) = Joining(cluster).add(template)
        for other in others:
            cluster.remove_node(other)
        yield [_origin(template), *_daemons(cluster, name)]


def _origin(template: NodeTemplate) -> str:
    origin = next(each.origin for each in template.fields if each.name == "allocatable")
    return f"one new node alone in the cluster, as {origin} has it"


def _daemons(cluster: Cluster, name: str) -> list[str]:
    """Say how much of a node the DaemonSets take."""
    nodes = cluster.nodes_named([name])
    number = int(nodes.pod_count[0])
    if not number:
        return []
    taken = ", ".join(f"{each} {quantity(each, int(nodes.requested(each)[0]))}" for each in (CPU, MEMORY))
    return [f"{counts.of(number, 'pod')} of DaemonSets take {taken} of it"]
