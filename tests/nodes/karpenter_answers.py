"""What schedctl, and the real Karpenter, make of a case."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from schedctl.api import autoscalers, defaults
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.quantities import parse
from schedctl.api.workloads import DaemonSet
from schedctl.autoscaling.detection import detect
from schedctl.autoscaling.instance_types import Catalogue, InstanceType, Offering
from schedctl.autoscaling.templates import node_of
from schedctl.cache.cluster import Cluster
from schedctl.simulation.karpenter.consolidation import Method, consolidate
from schedctl.simulation.karpenter.models import Model, model_of
from schedctl.simulation.karpenter.offers import pools_of
from schedctl.simulation.karpenter.preparation import PreparedModel
from schedctl.simulation.karpenter.solving import Solution, solve
from schedctl.simulation.karpenter.waiting_pods import waiting_pod
from schedctl.workloads.clusters import assemble
from schedctl.workloads.disruption_budgets import Budgets

_METHODS = {Method.EMPTINESS: "empty", Method.MULTI_NODE: "multi", Method.SINGLE_NODE: "single"}
_KINDS = {"nodePools": autoscalers.NodePool, "nodes": Node, "daemonSets": DaemonSet}


def catalogue_of(types: Iterable[dict[str, Any]]) -> Catalogue:
    """The instance types of a case."""
    found = {}
    for each in types:
        capacity = each["capacity"]
        found[each["name"]] = InstanceType(
            each["name"],
            parse(capacity["cpu"]).milli_value,
            parse(capacity["memory"]).value,
            int(capacity["pods"]),
            architecture=each["labels"]["kubernetes.io/arch"],
            offerings=tuple(
                Offering(offer["price"], offer["capacityType"] == "spot", (offer["zone"],))
                for offer in each["offerings"]
            ),
        )
    return Catalogue(found, "types.json")


def solution_of(case: dict[str, Any]) -> Solution:
    """What schedctl says that Karpenter does."""
    cluster, model = _model(case)
    return solve(PreparedModel(model), [waiting_pod(info) for info in cluster.pending.values()])


def _model(case: dict[str, Any], prices: Mapping[str, float | None] | None = None) -> tuple[Cluster, Model]:
    objects: list[Any] = [msgspec.convert(each, kind) for field, kind in _KINDS.items() for each in case[field]]
    objects += [defaults.pod(msgspec.convert(each, Pod)) for each in case["pods"]]
    cluster = assemble(objects, kinds=autoscalers.KINDS).cluster
    catalogue = catalogue_of(case["instanceTypes"])
    node_pools = {each.metadata.name: each for each in cluster.every(autoscalers.NodePool).values()}
    pools = pools_of(detect(cluster, catalogue).groups, node_pools, catalogue)
    return cluster, model_of(cluster, pools, prices or {})


def command_of(case: dict[str, Any]) -> dict[str, Any] | None:
    """What schedctl says that Karpenter's consolidation does first, in the form of the answers of Karpenter."""
    cluster, _ = _model(case)
    catalogue = catalogue_of(case["instanceTypes"])
    prices = {}
    for name in cluster.node_table.row_of:
        labels = node_of(cluster, name).metadata.labels or {}
        known = catalogue.types[labels["node.kubernetes.io/instance-type"]]
        spot = labels["karpenter.sh/capacity-type"] == "spot"
        prices[name] = known.price(labels["topology.kubernetes.io/zone"], spot=spot)
    _, model = _model(case, prices)
    commands = consolidate(model, Budgets.of(cluster), {}).commands
    if not commands:
        return None
    first = commands[0]
    replacements = []
    if first.replacement is not None:
        claim = first.replacement.claim
        types = sorted(each.name for each in claim.types)
        replacements = [{"nodePool": claim.pool.name, "instanceTypes": types}]
    return {"method": _METHODS[first.method], "nodes": sorted(first.nodes), "replacements": replacements}


def outcome_of(solution: Solution) -> dict[str, Any]:
    """A solution in the form of the answers of Karpenter."""
    claims = [
        {
            "nodePool": claim.pool.name,
            "pods": sorted(pod.info.pod.metadata.name for pod in claim.pods),
            "instanceTypes": sorted(each.name for each in claim.types),
        }
        for claim in solution.claims
    ]
    return {
        "nodeClaims": sorted(claims, key=lambda claim: claim["pods"]),
        "existing": {
            name: sorted(pod.info.pod.metadata.name for pod in pods) for name, pods in solution.existing.items()
        },
        "unplaced": sorted(key.partition("/")[2] for key in solution.unplaced),
    }


def ask(path: str, cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the real Karpenter makes of cases."""
    text = "".join(json.dumps(each) + "\n" for each in cases)
    answers = subprocess.run([path], input=text, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in answers.splitlines()]
