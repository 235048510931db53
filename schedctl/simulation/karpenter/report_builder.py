"""Makes the `KarpenterAnswer` of what Karpenter would launch, or consolidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from schedctl.api import node_labels
from schedctl.reports import counts
from schedctl.reports.nodes import KarpenterAnswer, KarpenterCommand, KarpenterStep, KeptNode, LaunchedNode, PlacedPod
from schedctl.simulation.karpenter.consolidation import Command, Consolidation
from schedctl.simulation.karpenter.launches import Launch, Verification, launch
from schedctl.simulation.karpenter.offers import in_price_order
from schedctl.simulation.karpenter.solving import Solution, Step
from schedctl.simulation.karpenter.targets import Claim
from schedctl.simulation.karpenter.value_sets import texts


def launch_answer(solution: Solution, verification: Verification) -> KarpenterAnswer:
    """Return the answer about pods that wait.

    Args:
        solution: what Karpenter makes of them.
        verification: what kube-scheduler makes of the nodes.
    """
    names = _names(solution.claims)
    launched = [_launched(claim, names[claim.number], launch(claim)) for claim in solution.claims]
    prices = [each.price_per_hour for each in launched]
    known = [each for each in prices if each is not None]
    return KarpenterAnswer(
        text=_launch_text(launched, len(solution.unplaced)),
        launched=launched,
        existing=[PlacedPod(pod.key, name) for name, pods in sorted(solution.existing.items()) for pod in pods],
        pending=[_step(each, names) for each in solution.unplaced.values()],
        steps=[_step(each, names) for each in solution.steps],
        cost_per_hour=round(sum(known), 6) if known and len(known) == len(prices) else None,
        pods=verification.pods,
        placed=verification.placed,
        unplaced=list(verification.pending),
    )


def consolidation_answer(
    facts: Consolidation, nodes: int, groups: Mapping[str, str], verification: Verification
) -> KarpenterAnswer:
    """Return the answer about nodes that go.

    Args:
        facts: what Karpenter does.
        nodes: how many nodes there are.
        groups: the group of each node.
        verification: what kube-scheduler makes of the pods that move.
    """
    gone = sum(len(each.nodes) for each in facts.commands)
    new = sum(each.replacement is not None for each in facts.commands)
    saved = [each.saved for each in facts.commands]
    known = [each for each in saved if each is not None]
    return KarpenterAnswer(
        text=_consolidation_text(gone - new, new, nodes, interrupted=facts.interrupted),
        commands=[_command(each) for each in facts.commands],
        kept=[
            KeptNode(name=name, group=groups.get(name, ""), keeper=why.keeper, text=why.text, pods=list(why.pods))
            for name, why in sorted(facts.kept.items())
        ],
        removed=gone - new,
        cost_per_hour=round(sum(known), 6) if known and len(known) == len(saved) else None,
        pods=verification.pods,
        placed=verification.placed,
        unplaced=list(verification.pending),
    )


def _launch_text(launched: Sequence[LaunchedNode], pending: int) -> str:
    stays = f"; it does nothing for {counts.of(pending, 'pod')}" if pending else ""
    if not launched:
        return f"Karpenter would launch no node{stays}"
    by_pool = Counter(each.group for each in launched)
    parts = ", ".join(f"{count} {name}" for name, count in sorted(by_pool.items()))
    return f"Karpenter would launch {counts.nodes(len(launched))}: {parts}{stays}"


def _consolidation_text(fewer: int, new: int, nodes: int, *, interrupted: bool) -> str:
    limited = "so far: " if interrupted else ""
    if not fewer and not new:
        return f"{limited}Karpenter would consolidate no node"
    cheaper = "a cheaper one" if new == 1 else "cheaper ones"
    of_all = "" if fewer else f" of {counts.nodes(nodes)}"
    replaced = f"{' and' if fewer else ''} replace {new}{of_all} by {cheaper}" if new else ""
    removed = f" remove {fewer} of {counts.nodes(nodes)}" if fewer else ""
    return f"{limited}Karpenter would{removed}{replaced}"


def _names(claims: Sequence[Claim]) -> dict[int, str]:
    """Return the names of claims: that of the pool, and a number."""
    seen: Counter[str] = Counter()
    found = {}
    for claim in claims:
        seen[claim.pool.name] += 1
        found[claim.number] = f"{claim.pool.name}-new-{seen[claim.pool.name]}"
    return found


def _launched(claim: Claim, name: str, chosen: Launch | None) -> LaunchedNode:
    requirements = {
        key: values for key, values in claim.final_requirements.items() if key != node_labels.KARPENTER_POOL
    }
    return LaunchedNode(
        name=name,
        group=claim.pool.name,
        pods=[pod.key for pod in claim.pods],
        instance_types=[each.name for each in in_price_order(claim.types, claim.requirements)],
        requirements=list(texts(requirements)),
        instance_type=chosen.instance_type.name if chosen is not None else "",
        zone=chosen.offering.zone if chosen is not None else "",
        spot=chosen is not None and chosen.offering.capacity_type == node_labels.SPOT,
        price_per_hour=chosen.offering.price if chosen is not None else None,
    )


def _step(step: Step, names: Mapping[int, str]) -> KarpenterStep:
    return KarpenterStep(
        pod=step.pod,
        node=step.node or names.get(step.claim, ""),
        launches=step.is_new,
        relaxed=list(step.relaxed),
        instance_types=step.types,
        refusals=dict(step.refusals),
    )


def _command(command: Command) -> KarpenterCommand:
    new = command.replacement
    chosen = Launch(new.claim, new.instance_type, new.offering, new.offering.template) if new is not None else None
    return KarpenterCommand(
        method=command.method.value,
        nodes=list(command.nodes),
        replacement=_launched(new.claim, new.name, chosen) if new is not None else None,
        moved=[
            PlacedPod(pod, node, new is not None and node == new.name) for pod, node in sorted(command.moved.items())
        ],
        saved_per_hour=round(command.saved, 6) if command.saved is not None else None,
    )
