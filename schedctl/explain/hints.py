"""Next steps: what would make the pod fit, found from the evidence and said only after it was tried.

There are two kinds. A typo is a fact about the pod and the cluster (``typos``). A `Plan` is the changes that undo
everything one node objects to (``remedies``); plans are made for the nodes that object least, tried in order of how
much they ask of people (``trials``), and told if the pod then fits. Where nothing helps, the hint says how much was
tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from schedctl.api.policies import PriorityClass
from schedctl.api.priorities import SYSTEM_CLASSES
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import attempts
from schedctl.engine.attempts import Attempt
from schedctl.explain import storage_steps
from schedctl.explain.cluster_changes import AddNode, RemovePods
from schedctl.explain.pod_changes import RemoveGates, Replace, UseScheduler
from schedctl.explain.remedies import Remedy, remedies, whole_pod_remedy
from schedctl.explain.similar import Typo, did_you_mean, meant
from schedctl.explain.trials import Trial, Trials, refusals_on
from schedctl.explain.typos import claim_typos, typos
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
    """The changes that would undo what a node objects to."""

    node: str
    changes: Remedy

    @property
    def effort(self) -> tuple[int, int]:
        """How much it asks of people, for sorting."""
        return len(self.changes), sum(change.effort for change in self.changes)

    @property
    def shape(self) -> frozenset[object]:
        """What it is about; the amounts may differ."""
        return frozenset((change.kind, change.subject) for change in self.changes)


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
    if outcome.deleted:
        return [_replaced(trials)]
    if outcome.gated is not None:
        told = _typos(claim_typos(pod, scheduler.cluster), trials)
        return [*told, *_ungated(trials, pod, told)]
    if outcome.error:
        return _typos(claim_typos(pod, scheduler.cluster), trials)
    if outcome.chosen and not node:
        return []
    if not outcome.total_nodes:
        return [Hint(type="no-nodes", text="the cluster has no nodes; is this the whole state?")]
    candidates = [node] if node else _candidates(outcome, reasons)
    plans = sorted(_plans(outcome, reasons, candidates), key=lambda plan: plan.effort)
    hints = [] if node else _typos(typos(pod, scheduler.cluster), trials)
    helped = _told(plans, trials, node)
    if not node and not helped and not any(hint.fits for hint in hints):
        helped = _another_node(candidates, trials)
    by_hand = storage_steps.steps(reasons, scheduler.cluster)
    hints += [*helped, *by_hand]
    more = not matrix and not node and _judged(outcome)
    if by_hand or any(hint.fits for hint in hints) or (hints and trials.made <= len(hints) and not more):
        return hints
    return [*hints, _nothing(trials, more=more)]


def foreign(scheduler: Scheduler, pod: PodInfo) -> list[Hint]:
    """Return the next step for a pod that no profile serves."""
    wanted, served = pod.pod.spec.scheduler_name, list(scheduler.profiles)
    other = meant(wanted, served)
    name = other or served[0]
    trial = Trials(scheduler, pod.pod).attempt([UseScheduler(name)])
    known = f'did you mean schedulerName "{other}"?' if other else f"the profiles serve {', '.join(served)};"
    return [_hint(UseScheduler.kind, f"{known} with {name} it {_would(trial)}", trial)]


def missing_class(pod: PodInfo, cluster: Cluster) -> list[Hint]:
    """Return the hint about a priority class that is not in the cluster, which makes the API server refuse the pod."""
    name = pod.pod.spec.priority_class_name
    classes = cluster.every(PriorityClass)
    if not name or name in SYSTEM_CLASSES or name in classes or pod.priority:
        return []
    question = did_you_mean(meant(name, {*classes, *SYSTEM_CLASSES}))
    return [Hint(type="missing-priority-class", text=f'priority class "{name}" is not in the cluster{question}')]


# -- plans -----------------------------------------------------------------------


def _plans(outcome: Attempt, reasons: Sequence[Reason], candidates: Sequence[str]) -> Iterator[Plan]:
    """Yield what each candidate needs; one that objects to something nothing is known against needs too much."""
    if not _judged(outcome):
        needed = [whole_pod_remedy(outcome.pod, reason, outcome.cluster) for reason in reasons]
        if needed and all(needed):
            yield Plan("", _together(needed))
        return
    for node in candidates:
        choices = [remedies(each, outcome.cluster) for each in refusals_on(outcome, node)]
        if len(choices) == 1:
            yield from (Plan(node, remedy) for remedy in choices[0])
        elif choices and all(choices):
            yield Plan(node, _together(remedy for remedy, *_ in choices))


def _judged(outcome: Attempt) -> bool:
    """Return whether any filter was asked about any node."""
    return outcome.judged is not None and len(outcome.judged) > 0


def _candidates(outcome: Attempt, reasons: Sequence[Reason]) -> list[str]:
    """The nodes to plan for: of each group of a reason one for each set of objections, fewest objections first."""
    objections: dict[str, list[str]] = {}
    names = outcome.judged.names if outcome.judged is not None else []
    for verdicts in attempts.matrix(outcome).values():
        for part in verdicts.parts:
            for position in part.mask.nonzero()[0].tolist():
                objections.setdefault(names[position], []).append(part.reason.reference)
    chosen: dict[str, int] = {}
    for reason in reasons:
        for group in reason.groups:
            seen = set()
            for name in group.nodes:
                pattern = tuple(objections.get(name, ()))
                if pattern and pattern not in seen:
                    seen.add(pattern)
                    chosen.setdefault(name, len(pattern))
    return sorted(chosen, key=chosen.__getitem__)[:_CANDIDATES]


def _together(found: Iterable[Remedy]) -> Remedy:
    """Every change once; pods to be removed are removed by one change."""
    changes = dict.fromkeys(change for changes in found for change in changes)
    pods = {pod for change in changes if isinstance(change, RemovePods) for pod in change.pods}
    kept = tuple(change for change in changes if not isinstance(change, RemovePods))
    return (*kept, RemovePods(tuple(sorted(pods)))) if pods else kept


def _told(plans: Sequence[Plan], trials: Trials, node: str) -> list[Hint]:
    """Try plans until enough have helped; no plan is told that asks for more than another that helps."""
    helped: list[tuple[Plan, Plan, Trial]] = []
    failed: dict[frozenset[object], int] = {}
    for plan in plans:
        asks_more = any(other.shape <= plan.shape or len(done.changes) < len(plan.changes) for other, done, _ in helped)
        if asks_more or failed.get(plan.shape, 0) > 1:
            continue
        if not trials.left or len(_smallest(helped)) == MOST_PLANS:
            break
        done, trial = _pursue(plan, trials)
        if trial.feasible if node else trial.fits:
            helped.append((plan, done, trial))
        else:
            failed[plan.shape] = failed.get(plan.shape, 0) + 1
    return [_plan_hint(done, trial, node) for done, trial in _smallest(helped)]


def _smallest(helped: Sequence[tuple[Plan, Plan, Trial]]) -> list[tuple[Plan, Trial]]:
    """Return, of plans and what became of them, those that came to the fewest changes."""
    fewest = min((len(done.changes) for _, done, _ in helped), default=0)
    return [(done, trial) for _, done, trial in helped if len(done.changes) == fewest]


def _pursue(plan: Plan, trials: Trials) -> tuple[Plan, Trial]:
    """Try a plan, extending it by what its node still objects to."""
    trial = Trial()
    for _ in range(_DEPTH):
        if not trials.left:
            break
        trial = trials.attempt(plan.changes, plan.node)
        further = [remedies(each, trials.cluster) for each in trial.refused]
        more = _together((plan.changes, *(remedy for remedy, *_ in further))) if all(further) else plan.changes
        if trial.fits or more == plan.changes:
            break
        plan = Plan(plan.node, more)
    return plan, trial


def _another_node(candidates: Sequence[str], trials: Trials) -> list[Hint]:
    """Try one more node like each of those that object least."""
    for like in candidates[:_MODELS]:
        if trials.left:
            plan = Plan("", (AddNode(like),))
            trial = trials.attempt(plan.changes)
            if trial.fits:
                return [_plan_hint(plan, trial, "")]
    return []


# -- wording ---------------------------------------------------------------------


def _plan_hint(plan: Plan, trial: Trial, node: str) -> Hint:
    conditions = " and ".join(change.condition for change in plan.changes)
    commands = [change.command for change in plan.changes if change.command]
    named = any(plan.node in change.condition.split() for change in plan.changes)
    subject = "would fit"
    if plan.node and not (named and (node or trial.fits == 1)):
        subject = f"{node} would take it" if node else f"would fit {_where(trial)}"
    text = f"{subject} if {conditions}" + "".join(f" (`{command}`)" for command in commands[:1])
    return _hint("+".join(change.kind for change in plan.changes), text, trial, "".join(commands[:1]))


def _typos(found: Sequence[Typo], trials: Trials) -> list[Hint]:
    """Tell each fact once, with what comes of mending it; and of mending all, where no single one is enough."""
    facts: dict[str, list[Typo]] = {}
    for typo in found:
        facts.setdefault(typo.fact, []).append(typo)
    hints = [_typo(fact, alike, trials) for fact, alike in facts.items()]
    if sum(hint.tried for hint in hints) > 1 and not any(hint.fits for hint in hints) and trials.left:
        trial = trials.attempt([typo.change for typo in found if typo.change is not None])
        if trial.fits:
            kind = "+".join(dict.fromkeys(typo.kind for typo in found if typo.change is not None))
            hints.append(_hint(kind, f"with all of these mended the pod {_would(trial)}", trial))
    return hints


def _typo(fact: str, alike: Sequence[Typo], trials: Trials) -> Hint:
    changes = [typo.change for typo in alike if typo.change is not None]
    if not changes or not trials.left:
        return Hint(type=alike[0].kind, text=fact)
    trial = trials.attempt(changes)
    return _hint(alike[0].kind, f"{fact}; with it the pod {_would(trial)}", trial)


def _replaced(trials: Trials) -> Hint:
    trial = trials.attempt([Replace()])
    return _hint(Replace.kind, f"kube-scheduler leaves it alone; a new pod like it {_would(trial)}", trial)


def _ungated(trials: Trials, pod: PodInfo, told: Sequence[Hint]) -> list[Hint]:
    gates = tuple(gate.name for gate in pod.pod.spec.scheduling_gates or ())
    if not gates:
        return [] if told else [Hint(type="wait", text="a PreEnqueue plugin holds it back; see its message")]
    change = RemoveGates(gates)
    trial = trials.attempt([change])
    return [_hint(change.kind, f"if {change.condition} it {_would(trial)}", trial)]


def _nothing(trials: Trials, *, more: bool) -> Hint:
    tried = "no change is known that helps"
    if trials.made == 1:
        tried = f"the one change tried ({' and '.join(dict.fromkeys(trials.kinds))}) does not make it fit"
    elif trials.made:
        tried = f"none of {trials.made} changes tried makes it fit"
    further = "; the same with `--matrix` shows every refusal" if more else ""
    return Hint(type="nothing-helps", text=f"{tried}{further}", tried=trials.made > 0)


def _hint(kind: str, text: str, trial: Trial, command: str = "") -> Hint:
    return Hint(type=kind, text=text, tried=True, fits=trial.fits, node=trial.chosen, command=command)


def _would(trial: Trial) -> str:
    return f"would go to {trial.chosen}" if trial.fits else "would still fit nowhere"


def _where(trial: Trial) -> str:
    return f"on {trial.chosen}" if trial.fits == 1 else f"on {trial.fits} nodes"
