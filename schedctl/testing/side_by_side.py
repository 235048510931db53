"""Side by side: two attempts to place one pod that must have come to the same, compared in everything.

One was answered from what earlier cycles have left (`schedctl.engine.batching`), the other worked out anew, or on
a cluster built anew from the same objects. Nodes are told apart by name, since clusters with the same nodes may have
them in different rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from schedctl.api.kinds import KINDS
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.devices.allocated import PendingAllocation
from schedctl.engine.attempts import Attempt, matrix
from schedctl.engine.filtering import Filtering
from schedctl.engine.fit_error import message
from schedctl.framework.reasons import Verdicts
from schedctl.plugins.volume_binding.assume_cache import AssumedClaim, AssumedVolume

OBJECT_KINDS: tuple[type, ...] = tuple(kind.struct for kind in KINDS if kind.struct not in (Node, Pod))
"""What a cluster keeps as objects and an API server knows."""
OWN_KINDS: tuple[type, ...] = (AssumedClaim, AssumedVolume, PendingAllocation)
"""What plugins keep there besides, of what is reserved."""
_FEW = 3
"""How many rows' evidence is compared for each reason; the texts of all are."""
_ABSENT = "absent"


class Difference(NamedTuple):
    """One thing in which two answers differ.

    Attributes:
        what: the thing: the plugin and the node where it has any.
        fast: what the answer from memory says.
        slow: what the other says.
    """

    what: str
    fast: Any
    slow: Any

    def __str__(self) -> str:
        if isinstance(self.fast, str) and "\n" in self.fast:
            return f"{self.what}: {self.fast}"
        return f"{self.what}: {self.fast!r} reused, {self.slow!r} asked again"


def differences(fast: Attempt, slow: Attempt, *, wholly: bool = True) -> Iterator[Difference]:
    """Yield in what two attempts differ.

    Args:
        fast: the answer from memory.
        slow: the answer to hold it against.
        wholly: read all of it; else what decided is compared and nothing is read that is worked out for readers.
    """
    # what decided comes first: much of an answer from memory is worked out only when somebody reads it, and reading it
    # must not be what makes the two agree
    yield from _each("", _decision(fast), _decision(slow))
    yield from _each("", {"ties": fast.ties}, {"ties": slow.ties})
    yield from _totals(fast, slow)
    yield from _each("PostFilter: ", _post_filter(fast), _post_filter(slow))
    if not wholly:
        return
    yield from _each("", _judgement(fast), _judgement(slow))
    yield from _each("", _scores(fast), _scores(slow))
    yield from _each("matrix: ", _matrix(fast), _matrix(slow))


def picture(cluster: Cluster) -> dict[str, Any]:
    """Return all that a cluster holds, for `picture_differences`: nodes, pods, objects, and what is taken.

    Nothing in it depends on how the cluster came to hold it.
    """
    table, names = cluster.node_table, cluster.node_table.names
    rows = cluster.nodes_by_name.rows.tolist()
    seen: dict[str, Any] = {}
    for row in rows:
        resources = {
            name: (int(table.allocatable[code, row]), int(table.requested[code, row]))
            for name, code in table.resource_names.codes.items()
            if table.allocatable[code, row] or table.requested[code, row]
        }
        seen[f"node {names[row]}"] = table.objects[row]
        seen[f"room on {names[row]}"] = resources, table.scored[:, row].tolist(), int(table.pod_count[row])
    where = zip(cluster.pod_table.infos.tolist(), cluster.pod_table.node.tolist(), strict=True)
    seen |= {f"pod {info.key}": (names[row], info.pod) for info, row in where if info is not None}
    seen |= {f"stray {key}": info.pod for key, info in cluster.strays.items()}
    seen["pending"] = {key: info.pod for key, info in cluster.pending.items()}
    seen["order of pending"] = list(cluster.pending)
    seen["ports"] = ports(cluster)
    seen["next start"] = cluster.next_start
    for kind in (*OBJECT_KINDS, *OWN_KINDS):
        every: Mapping[str, Any] = cluster.every(kind)
        seen |= {f"{kind.__name__} {key}": obj for key, obj in every.items()}
    return seen


def ports(cluster: Cluster) -> dict[tuple[str, str, int], frozenset[str]]:
    """Return the addresses taken, by node, protocol and port."""
    table = cluster.node_table
    return {
        (table.names[row], *port): frozenset(addresses)
        for port, users in table.ports.items()
        for row, addresses in users.items()
        if table.alive[row] and addresses
    }


def picture_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield in what two pictures differ."""
    return _each("", before, after)


def _each(prefix: str, fast: Mapping[str, Any], slow: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield the entries that differ; an entry that only one side has is absent on the other."""
    if fast == slow:
        return
    for key in (*fast, *(key for key in slow if key not in fast)):
        ours, theirs = fast.get(key, _ABSENT), slow.get(key, _ABSENT)
        if ours != theirs:
            yield Difference(prefix + key, ours, theirs)


def _decision(outcome: Attempt) -> dict[str, Any]:
    return {
        "nodes in all": outcome.total_nodes,
        "deleted": outcome.deleted,
        "gated": plain(outcome.gated),
        "error": outcome.error,
        "failed on": outcome.failed_on,
        "PreFilter": plain(outcome.pre_filter),
        "nodes PreFilter narrowed to": plain(outcome.pre_filter_nodes),
        "narrowing plugins": plain(outcome.narrowing_plugins),
        "nominated node first": outcome.nominated_first,
        "enough nodes": outcome.sampled,
        "feasible nodes": outcome.feasible,
        "chosen": outcome.chosen,
        "refused everywhere": outcome.is_unschedulable,
        "guesses": outcome.assumptions,
    }


def _totals(fast: Attempt, slow: Attempt) -> Iterator[Difference]:
    """Hold the totals that the answer was read off against the scores worked out anew.

    Plugins that are asked anew for every pod have no part in them.
    """
    known = fast.equivalence_class
    if known is None or slow.scoring is None:
        return
    names = fast.cluster.node_table.names
    kept = zip(known.nodes.rows[known.feasible].tolist(), known.totals[known.feasible].tolist(), strict=True)
    scoring = slow.scoring
    totals = scoring.totals.copy()
    for scores in scoring.plugins:
        if scores.plugin in known.anew:
            totals -= scores.weighted
    total_of = {f"kept total of {names[row]}": total for row, total in kept}
    yield from _each("", total_of, _column("kept total of", scoring.nodes, totals))


def _post_filter(outcome: Attempt) -> dict[str, Any]:
    result = outcome.post_filter
    if result is None:
        return {}
    return {
        "status": plain(result.status),
        "nominated node": result.nominated_node,
        "victims": [info.key for info in result.victims],
        "objects": plain(result.objects),
        "removed": plain(result.removed),
    }


def _judgement(outcome: Attempt) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "refusing plugins": sorted(outcome.unschedulable_plugins),
        "pending plugins": sorted(outcome.pending_plugins),
        "message": message(outcome),
        "plugins left out of Filter": sorted(outcome.cycle.skip_filter),
        "nodes judged": None if outcome.evaluated_column is None else sorted(outcome.evaluated_column.names),
    }
    filtering = outcome.filtering
    if filtering is None:
        return facts
    facts |= {
        "histogram": filtering.histogram(),
        "looked at": filtering.evaluated_nodes,
        "explained": filtering.explained_nodes,
        "faults": {filtering.nodes.names[position]: fault for position, fault in filtering.faults.items()},
    }
    facts |= _column("feasible:", filtering.nodes, filtering.feasible)
    facts |= _column("code of", filtering.nodes, filtering.codes)
    facts |= {f"status of {name}": plain(filtering.status(row)) for row, name in enumerate(filtering.nodes.names)}
    return facts | _evidence(filtering) | _findings(filtering)


def _evidence(filtering: Filtering) -> dict[str, Any]:
    """What stands behind refusals: of a few nodes by name for each reason, for some of it is dear to work out."""
    names = filtering.nodes.names
    evidence: dict[str, Any] = {}
    for refusal in filtering.refusals:
        for number, part in enumerate(refusal.verdicts.parts):
            refused = np.flatnonzero(part.mask & refusal.mask).tolist()
            for row in sorted(refused, key=names.__getitem__)[:_FEW]:
                evidence[f"evidence {number} of {refusal.plugin} about {names[row]}"] = plain(part.at(row))
    return evidence


def _findings(filtering: Filtering) -> dict[str, Any]:
    nodes = filtering.nodes
    return {
        f"finding of {plugin} about {name}": plain(found.at(row))
        for plugin, found in filtering.findings.items()
        for row, name in zip(nodes.rows.tolist(), nodes.names, strict=True)
    }


def _scores(outcome: Attempt) -> dict[str, Any]:
    facts: dict[str, Any] = {"plugins left out of Score": sorted(outcome.cycle.skip_score)}
    scoring = outcome.scoring
    if scoring is None:
        return facts | {"scored": False}
    facts["plugins"] = [(scores.plugin, scores.weight) for scores in scoring.plugins]
    for scores in scoring.plugins:
        facts |= _column(f"{scores.plugin}, raw score of", scoring.nodes, scores.raw)
        facts |= _column(f"{scores.plugin}, normalised score of", scoring.nodes, scores.normalized)
        facts |= _column(f"{scores.plugin}, weighted score of", scoring.nodes, scores.weighted)
    return facts | _column("total of", scoring.nodes, scoring.totals)


def _matrix(outcome: Attempt) -> dict[str, Any]:
    if outcome.evaluated_column is None or outcome.error:
        return {}
    names = outcome.evaluated_column.names
    facts: dict[str, Any] = {}
    for plugin, verdicts in matrix(outcome).items():
        facts |= {f"{plugin} about {names[row]}": plain(verdicts.status(row)) for row in _rejected_rows(verdicts)}
    return facts


def _rejected_rows(verdicts: Verdicts) -> list[int]:
    refused: list[int] = np.flatnonzero(verdicts.mask).tolist()
    return refused


def _column(what: str, nodes: Nodes, values: Any) -> dict[str, Any]:
    return {f"{what} {name}": value for name, value in zip(nodes.names, values.tolist(), strict=True)}


def plain(value: Any) -> Any:
    """Return a value of plugins such that equal answers are equal: pods by their keys, objects by their fields."""
    if isinstance(value, PodInfo):
        return value.key
    if isinstance(value, Nodes):
        return list(value.names)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, set | frozenset):
        return frozenset(plain(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, tuple(plain(getattr(value, each.name)) for each in fields(value))
    by_identity: Any = object.__eq__  # what has no notion of equality is only held against its kind
    if isinstance(value, FunctionType) or type(value).__eq__ is by_identity:
        return type(value).__name__
    return value
