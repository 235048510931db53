"""``gang-schedulable``: each pod group of the manifests starts."""

from __future__ import annotations

from collections.abc import Iterable

from schedctl.policy import findings
from schedctl.policy.documents import GangSchedulable
from schedctl.policy.judged_groups import result_of, starts
from schedctl.releases import GENERIC_WORKLOAD


def judge(view: findings.View, arguments: GangSchedulable, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a group: as many of its pods have a node as it needs to start, or all of them."""
    situation, key = view.situation, f"{about.namespace}/{about.name}"
    release = situation.cluster.release
    if not release.enabled(GENERIC_WORKLOAD):
        hint = f"`--feature-gates {GENERIC_WORKLOAD}=true`, with a kube-scheduler that has it on"
        text = f"pod groups are off ({GENERIC_WORKLOAD}): kube-scheduler {release.version} schedules each pod by itself"
        yield findings.inconclusive(text, hints=[hint])
        return
    result = result_of(situation, key)
    if result is None:
        yield findings.violation("the PodGroup does not exist: its pods wait for it", violates={"group missing": 1})
        return
    needed = result.pods if arguments.whole else result.min_count
    if starts(result) and result.scheduled >= needed:
        yield findings.pass_finding(result.text)
        return
    missing = max(1, needed - result.scheduled)
    violation = findings.violation(result.text, violates={"pods missing": missing})
    yield violation.because(view.causes.explain_group(key))
