"""Next steps: what would make the pod fit, found from the evidence and said only after it was tried.

There are two kinds: a typo is a fact about the pod and the cluster (``typos``), a `Plan` is the remedies that undo all
rejections of one node (``remedies``). Plans are made for the nodes with the fewest rejections, tried in order of how
much they ask of people (``trials``), and told if the pod then fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from schedctl.api.policies import PriorityClass
from schedctl.api.priorities import SYSTEM_CLASSES
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import attempts
from schedctl.engine.attempts import Attempt
from schedctl.explain import pod_remedies
from schedctl.explain.remedies import PluginRemedies, join
from schedctl.explain.trials import Trial, Trials, rejections_on
from schedctl.explain.typo_remedies import Typo
from schedctl.explain.typos import claim_typos, typos
from schedctl.framework.remedies import Together
from schedctl.framework.similar import closest_name, did_you_mean
from schedctl.framework.statuses import Code
from schedctl.reports.reasons import Hint, Reason
from schedctl.scheduler.schedulers import Scheduler

MOST_PLANS = 3
"""How many plans are told."""
_CANDIDATES = 24
"""For how many nodes a plan is made; they differ in who refuses them, or on what evidence."""
_DEPTH = 3
"""How many tries a plan gets: a node may have further objections once the first are met."""
_MODELS = 2
"""Like how many nodes another one is tried."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The remedies that would undo the rejections of a node, which are named in Kubernetes' words."""

    node: str
    remedies: Together
    undoes: tuple[str, ...] = ()

    @property
    def effort(self) -> tuple[int, int]:
        """How much it asks of people, for sorting."""
        return len(self.remedies), sum(remedy.effort for remedy in self.remedies)

    @property
    def shape(self) -> frozenset[object]:
        """What it is about; the amounts may differ."""
        return frozenset((remedy.kind, remedy.subject) for remedy in self.remedies)


def find(
    scheduler: Scheduler,
    pod: PodInfo,
    outcome: Attempt,
    reasons: Sequence[Reason],
    node: str = "",
    *,
    matrix: bool = False,
) -> list[Hint]:
    """Return the next steps after an attempt, which tries changes in forks of the scheduler's cluster.

    Args:
        scheduler: to try with.
        pod: the pod.
        outcome: of its attempt; must be read out already, since trying makes its evidence unreadable.
        reasons: why nodes were refused, from the attempt.
        node: look for what would make this one node take the pod, "" for any node.
        matrix: whether every refusal is shown already.
    """
    trials = Trials(scheduler, pod.pod)
    offers = PluginRemedies(outcome)
    if outcome.deleted:
        return [_replace_hint(trials)]
    if outcome.gated is not None:
        found = _typos(claim_typos(pod, scheduler.cluster), trials)
        return [*found, *_gate_hints(trials, pod, found)]
    if outcome.error:
        return _typos(claim_typos(pod, scheduler.cluster), trials)
    if outcome.chosen and not node:
        return []
    if not outcome.total_nodes:
        return [Hint(type="no-nodes", text="the cluster has no nodes; is this the whole state?")]
    candidates = [node] if node else _candidates(outcome, reasons)
    plans = sorted(_plans(outcome, offers, reasons, candidates), key=lambda plan: plan.effort)
    hints = [] if node else _typos(typos(pod, scheduler.cluster), trials)
    helped = _try_plans(plans, offers, trials, node)
    if not node and not helped and not any(hint.fits for hint in hints):
        helped = _another_node(candidates, trials)
    by_hand = [Hint(type=each.kind, text=each.text, command=each.command) for each in offers.advice(reasons)]
    faults = [Hint(type="plugin-failed", text=fault) for fault in offers.faults]
    hints += [*helped, *by_hand, *faults]
    more = not matrix and not node and _was_filtered(outcome)
    if by_hand or any(hint.fits for hint in hints) or (hints and trials.made <= len(hints) and not more):
        return hints
    return [*hints, _nothing(trials, more=more)]


def nearest_first(reasons: Sequence[Reason], hints: Sequence[Hint]) -> list[Reason]:
    """Return reasons, the nearest to being fixed first: what the best fix undoes, then what evictions might undo."""
    fixes = [hint.undoes for hint in hints if hint.fits and hint.undoes]
    # Only the first rejection of a node is counted in its reason; the others may be counted for nodes out of reach, as
    # that of the taint beside a cordon is.
    rank = {text: number + len(fixes) for number, texts in enumerate(fixes) for text in texts[1:]}
    for number, (first, *_) in reversed(list(enumerate(fixes))):
        rank[first] = number
    unresolvable = Code.UNSCHEDULABLE_AND_UNRESOLVABLE.label
    # The sort is stable: reasons that are equally near stay the most frequent first.
    return sorted(reasons, key=lambda reason: (rank.get(reason.text, 2 * len(fixes)), reason.code == unresolvable))


def foreign(scheduler: Scheduler, pod: PodInfo) -> list[Hint]:
    """Return the next step for a pod that no profile serves."""
    served = list(scheduler.profiles)
    other = closest_name(pod.pod.spec.scheduler_name, served)
    name = other or served[0]
    trials = Trials(scheduler, pod.pod)
    trial = trials.attempt([pod_remedies.use_scheduler(name)])
    known = f'did you mean schedulerName "{other}"?' if other else f"the profiles serve {', '.join(served)};"
    return [_hint(pod_remedies.USE_SCHEDULER, f"{known} with {name} it {_would(trial)}", trial, trials)]


def missing_class(pod: PodInfo, cluster: Cluster) -> list[Hint]:
    """Return the hint about a priority class that is not in the cluster, which makes the API server refuse the pod."""
    name = pod.pod.spec.priority_class_name
    classes = cluster.every(PriorityClass)
    if not name or name in SYSTEM_CLASSES or name in classes or pod.priority:
        return []
    question = did_you_mean(closest_name(name, {*classes, *SYSTEM_CLASSES}))
    return [Hint(type="missing-priority-class", text=f'priority class "{name}" is not in the cluster{question}')]


# -- plans -----------------------------------------------------------------------


def _plans(
    outcome: Attempt, offers: PluginRemedies, reasons: Sequence[Reason], candidates: Sequence[str]
) -> Iterator[Plan]:
    """Yield what each candidate needs; one with a rejection that nothing is known against needs too much."""
    if not _was_filtered(outcome):
        needed = [offers.of_whole_pod(reason) for reason in reasons]
        if needed and all(needed):
            yield Plan("", join(needed), tuple(reason.text for reason in reasons))
        return
    for node in candidates:
        rejections = rejections_on(outcome, node)
        choices = [offers.of(each) for each in rejections]
        undoes = tuple(dict.fromkeys(each.text for each in rejections))
        if len(choices) == 1:
            yield from (Plan(node, together, undoes) for together in choices[0])
        elif choices and all(choices):
            yield Plan(node, join(best for best, *_ in choices), undoes)


def _was_filtered(outcome: Attempt) -> bool:
    """Return whether any filter was asked about any node."""
    return outcome.evaluated_column is not None and len(outcome.evaluated_column) > 0


def _candidates(outcome: Attempt, reasons: Sequence[Reason]) -> list[str]:
    """Return the nodes to plan for: of each group of a reason one for each set of reasons, fewest reasons first."""
    references: dict[str, list[str]] = {}
    names = outcome.evaluated_column.names if outcome.evaluated_column is not None else []
    for verdicts in attempts.matrix(outcome).values():
        for part in verdicts.parts:
            for position in part.mask.nonzero()[0].tolist():
                references.setdefault(names[position], []).append(part.reason.reference)
    chosen: dict[str, int] = {}
    for reason in reasons:
        for group in reason.groups:
            seen = set()
            for name in group.nodes:
                pattern = tuple(references.get(name, ()))
                if pattern and pattern not in seen:
                    seen.add(pattern)
                    chosen.setdefault(name, len(pattern))
    return sorted(chosen, key=chosen.__getitem__)[:_CANDIDATES]


def _try_plans(plans: Sequence[Plan], offers: PluginRemedies, trials: Trials, node: str) -> list[Hint]:
    """Try plans until enough have helped; no plan is told that asks for more than another that helps."""
    helped: list[tuple[Plan, Plan, Trial]] = []
    failed: dict[frozenset[object], int] = {}
    for plan in plans:
        asks_more = any(
            other.shape <= plan.shape or len(done.remedies) < len(plan.remedies) for other, done, _ in helped
        )
        if asks_more or failed.get(plan.shape, 0) > 1:
            continue
        if not trials.left or len(_smallest(helped)) == MOST_PLANS:
            break
        done, trial = _pursue(plan, offers, trials)
        if trial.feasible if node else trial.fits:
            helped.append((plan, done, trial))
        else:
            failed[plan.shape] = failed.get(plan.shape, 0) + 1
    return [_plan_hint(done, trial, trials, node) for done, trial in _smallest(helped)]


def _smallest(helped: Sequence[tuple[Plan, Plan, Trial]]) -> list[tuple[Plan, Trial]]:
    """Return, of plans and what became of them, those that came to the fewest remedies."""
    fewest = min((len(done.remedies) for _, done, _ in helped), default=0)
    return [(done, trial) for _, done, trial in helped if len(done.remedies) == fewest]


def _pursue(plan: Plan, offers: PluginRemedies, trials: Trials) -> tuple[Plan, Trial]:
    """Try a plan, extending it by what undoes the rejections that its node still has."""
    trial = Trial()
    for _ in range(_DEPTH):
        if not trials.left:
            break
        trial = trials.attempt(plan.remedies, plan.node)
        further = [offers.of(each) for each in trial.rejections]
        more = join((plan.remedies, *(best for best, *_ in further))) if all(further) else plan.remedies
        if trial.fits or more == plan.remedies:
            break
        plan = Plan(plan.node, more, tuple(dict.fromkeys((*plan.undoes, *(each.text for each in trial.rejections)))))
    return plan, trial


def _another_node(candidates: Sequence[str], trials: Trials) -> list[Hint]:
    """Try one more node like each of those that object least."""
    for like in candidates[:_MODELS]:
        if trials.left:
            plan = Plan("", (pod_remedies.add_node(like),))
            trial = trials.attempt(plan.remedies)
            if trial.fits:
                return [_plan_hint(plan, trial, trials, "")]
    return []


# -- wording ---------------------------------------------------------------------


def _plan_hint(plan: Plan, trial: Trial, trials: Trials, node: str) -> Hint:
    conditions = " and ".join(remedy.condition for remedy in plan.remedies)
    named = any(plan.node in remedy.condition.split() for remedy in plan.remedies)
    subject = "would fit"
    if plan.node and not (named and (node or trial.fits == 1)):
        subject = f"would fit on {node}" if node else f"would fit {_where(trial)}"
    hint = _hint("+".join(remedy.kind for remedy in plan.remedies), f"{subject} if {conditions}", trial, trials)
    return msgspec.structs.replace(hint, undoes=list(plan.undoes))


def _typos(found: Sequence[Typo], trials: Trials) -> list[Hint]:
    """Tell each fact once, with what comes of mending it; and of mending all, where no single one is enough."""
    facts: dict[str, list[Typo]] = {}
    for typo in found:
        facts.setdefault(typo.fact, []).append(typo)
    hints = [_typo(fact, same, trials) for fact, same in facts.items()]
    if sum(hint.tried for hint in hints) > 1 and not any(hint.fits for hint in hints) and trials.left:
        trial = trials.attempt([typo.remedy for typo in found if typo.remedy is not None])
        if trial.fits:
            kind = "+".join(dict.fromkeys(typo.kind for typo in found if typo.remedy is not None))
            hints.append(_hint(kind, f"with all of these fixed the pod {_would(trial)}", trial, trials))
    return hints


def _typo(fact: str, typos: Sequence[Typo], trials: Trials) -> Hint:
    remedies = [typo.remedy for typo in typos if typo.remedy is not None]
    if not remedies or not trials.left:
        return Hint(type=typos[0].kind, text=fact)
    trial = trials.attempt(remedies)
    return _hint(typos[0].kind, f"{fact}; with it the pod {_would(trial)}", trial, trials)


def _replace_hint(trials: Trials) -> Hint:
    trial = trials.attempt([pod_remedies.replace_pod()])
    return _hint(
        pod_remedies.REPLACE_POD,
        f"it is terminating and not scheduled any more; a new pod like it {_would(trial)}",
        trial,
        trials,
    )


def _gate_hints(trials: Trials, pod: PodInfo, found: Sequence[Hint]) -> list[Hint]:
    gates = tuple(gate.name for gate in pod.pod.spec.scheduling_gates or ())
    if not gates:
        return [] if found else [Hint(type="wait", text="a PreEnqueue plugin holds it back; see its message")]
    remedy = pod_remedies.remove_gates(gates)
    trial = trials.attempt([remedy])
    return [_hint(remedy.kind, f"if {remedy.condition} it {_would(trial)}", trial, trials)]


def _nothing(trials: Trials, *, more: bool) -> Hint:
    tried = "no change is known that helps"
    if trials.made == 1:
        tried = f"the one change tried ({' and '.join(dict.fromkeys(trials.kinds))}) does not make it fit"
    elif trials.made:
        tried = f"none of {trials.made} changes tried makes it fit"
    further = "; the same with `--matrix` shows every refusal" if more else ""
    return Hint(type="nothing-helps", text=f"{tried}{further}", tried=trials.made > 0)


def _hint(kind: str, text: str, trial: Trial, trials: Trials) -> Hint:
    patches, command = trials.written(trial) if trial.fits else ([], "")
    return Hint(
        type=kind,
        text=text,
        tried=True,
        fits=trial.fits,
        node=trial.chosen,
        command=command,
        patches=patches,
    )


def _would(trial: Trial) -> str:
    return f"would go to {trial.chosen}" if trial.fits else "would still fit nowhere"


def _where(trial: Trial) -> str:
    return f"on {trial.chosen}" if trial.fits == 1 else f"on {trial.fits} nodes"
