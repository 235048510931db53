"""Next steps: what would make the pod fit, found from the evidence and said only after it was tried.

There are two kinds: a typo is a fact about the pod and the cluster (``typos``), a `Plan` is the remedies that undo all
rejections of one node, of which `plans` tries the smallest and least invasive first. What helped is worded here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.api.policies import PriorityClass, RuntimeClass
from schedctl.api.priorities import SYSTEM_CLASSES
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt
from schedctl.explain import group_remedies, pod_remedies, typo_remedies
from schedctl.explain.plans import Plan, Search, candidates
from schedctl.explain.remedies import PluginRemedies
from schedctl.explain.scaling import scale_to_running
from schedctl.explain.trials import Trial, Trials
from schedctl.explain.typo_remedies import Typo
from schedctl.explain.typos import claim_typos, typos
from schedctl.framework.pod_groups import group_key
from schedctl.framework.remedies import Reach
from schedctl.framework.similar import closest_name, did_you_mean
from schedctl.framework.statuses import Status
from schedctl.framework.wording import few
from schedctl.reports import counts
from schedctl.reports.reasons import Hint, Reason
from schedctl.scheduler.schedulers import Scheduler
from schedctl.workloads.quotas import QuotaShortage

_CANDIDATES = 24
"""For how many nodes a plan is made; they differ in who refuses them, or on what evidence."""


def find(
    scheduler: Scheduler,
    pod: PodInfo,
    outcome: Attempt,
    reasons: Sequence[Reason],
    node: str = "",
    *,
    matrix: bool = False,
    hypothetical_nodes: Collection[str] = (),
) -> list[Hint]:
    """Return the next steps after an attempt, which tries changes in forks of the scheduler's cluster.

    Args:
        scheduler: to try with.
        pod: the pod.
        outcome: of its attempt; must be read out already, since trying makes its evidence unreadable.
        reasons: why nodes were refused, from the attempt.
        node: look for what would make this one node take the pod, "" for any node.
        matrix: whether every refusal is shown already.
        hypothetical_nodes: nodes that are as a what-if has them, which no fix undoes.
    """
    trials = Trials(scheduler, pod.pod)
    offers = PluginRemedies(outcome, hypothetical_nodes)
    if outcome.deleted:
        return [_replace_hint(trials)]
    if outcome.gated is not None:
        found = _typos(claim_typos(pod, scheduler.cluster), trials)
        missing = _missing_group(scheduler.cluster, pod, outcome.gated)
        return [*found, *missing, *_gate_hints(trials, pod, [*found, *missing])]
    if outcome.error:
        return _typos(claim_typos(pod, scheduler.cluster), trials)
    if outcome.chosen and not node:
        return []
    if not outcome.total_nodes:
        return [Hint(type="no-nodes", text="the cluster has no nodes: is the input complete?")]
    search = Search(offers, trials, node)
    search.add_first(outcome, reasons, [node] if node else candidates(outcome, reasons, _CANDIDATES))
    hints = [] if node else _typos(typos(pod, scheduler.cluster), trials, search)
    # A misspelt name is one change: where it is enough, no set of several is told.
    helped = search.run(most=1 if any(hint.fits for hint in hints) else None)
    next_steps = [_plan_hint(plan, trial, trials, node) for plan, trial in helped]
    if not next_steps and not node and not any(hint.fits for hint in hints) and not _preempts(outcome):
        next_steps = [_preemption_hint(plan, trial, trials) for plan, trial in search.preempting[:1]]
    by_hand = [Hint(type=each.kind, text=each.text, command=each.command) for each in offers.advice(reasons)]
    by_hand += [] if node else scale_to_running(scheduler, pod)
    faults = [Hint(type="plugin-failed", text=fault) for fault in (*offers.faults, *trials.faults)]
    hints += [*next_steps, *by_hand, *faults]
    more = not matrix and not node and _was_filtered(outcome)
    if by_hand or any(hint.fits for hint in hints) or (hints and trials.made <= len(hints) and not more):
        return hints
    return [*hints, _nothing(trials, more=more)]


def foreign(scheduler: Scheduler, pod: PodInfo) -> list[Hint]:
    """Return the next step for a pod that no profile serves."""
    served = list(scheduler.profiles)
    other = closest_name(pod.pod.spec.scheduler_name, served)
    name = other or served[0]
    trials = Trials(scheduler, pod.pod)
    trial = trials.attempt([pod_remedies.use_scheduler(name)])
    changed = f'did you mean schedulerName "{other}"? with {name}' if other else f"with schedulerName {name}"
    text = f"{changed} it {_would(trial)}"
    return [_hint(pod_remedies.USE_SCHEDULER, text, trial, trials)]


def admission_fixes(scheduler: Scheduler, pod: PodInfo, shortages: Sequence[QuotaShortage] = ()) -> list[Hint]:
    """Return what would make the API server take a pod, none where that is in its message already.

    Args:
        scheduler: to try with.
        pod: the pod.
        shortages: what quotas lack for it.
    """
    cluster, spec = scheduler.cluster, pod.pod.spec
    name, runtime = spec.priority_class_name, spec.runtime_class_name
    if name and name not in cluster.every(PriorityClass) and name not in SYSTEM_CLASSES:
        return _missing_priority_class(scheduler, pod, name)
    if runtime and cluster.get(RuntimeClass, runtime) is None:
        return _missing_runtime_class(scheduler, pod, runtime)
    return _quota_hints(scheduler, pod, shortages)


def _quota_hints(scheduler: Scheduler, pod: PodInfo, shortages: Sequence[QuotaShortage]) -> list[Hint]:
    """Return the amounts with which quotas would admit a pod: lower ones of its own, or higher ones of the quotas."""
    if not shortages:
        return []
    hints = []
    if all(each.room for each in shortages):
        most = dict.fromkeys(f"{each.resource} <= {each.room}" for each in shortages)
        hints.append(Hint(type="quota", text=f"would be admitted with {' and '.join(most)}"))
    enough = " and ".join(f"quota {each.quota} allows {each.resource}={each.needed}" for each in shortages)
    trials = Trials(scheduler, pod.pod)
    trial = trials.attempt([])
    then = f"would be placed on {trial.chosen}" if trial.fits else "would then fit nowhere"
    text = f"would be admitted if {enough}; the pod {then}"
    return [*hints, _hint("quota", text, trial, trials)]


def _missing_runtime_class(scheduler: Scheduler, pod: PodInfo, name: str) -> list[Hint]:
    fact = f'runtime class "{name}" is not in the cluster'
    other = closest_name(name, list(scheduler.cluster.every(RuntimeClass)))
    if not other:
        return [Hint(type="missing-runtime-class", text=f"{fact}; create it, or leave runtimeClassName out")]
    trials = Trials(scheduler, pod.pod)
    trial = trials.attempt([typo_remedies.use_runtime_class(other)])
    text = f"{fact}{did_you_mean(other)}; if fixed, the pod {_would(trial)}"
    return [Hint(type=typo_remedies.USE_RUNTIME_CLASS, text=text, tried=True, fits=trial.fits, node=trial.chosen)]


def _missing_priority_class(scheduler: Scheduler, pod: PodInfo, name: str) -> list[Hint]:
    """Return the next steps for a pod whose priority class is not in the cluster: another class, or to create it."""
    fact = f'priority class "{name}" is not in the cluster'
    other = closest_name(name, {*scheduler.cluster.every(PriorityClass), *SYSTEM_CLASSES})
    trials, found = Trials(scheduler, pod.pod), []
    if other:
        fact += did_you_mean(other)
        trial = trials.attempt([typo_remedies.use_priority_class(other)])
        found.append(
            _hint(typo_remedies.USE_PRIORITY_CLASS, f"{fact}; if fixed, the pod {_would(trial)}", trial, trials)
        )
    remedy = pod_remedies.create_priority_class(name)
    trial = trials.attempt([remedy])
    start = "" if other else f"{fact}; "
    found.append(_hint(remedy.kind, f"{start}if {remedy.condition} the pod {_would(trial)}", trial, trials))
    return found


def _was_filtered(outcome: Attempt) -> bool:
    """Return whether any filter was asked about any node."""
    return outcome.evaluated_column is not None and len(outcome.evaluated_column) > 0


def _preempts(outcome: Attempt) -> bool:
    return outcome.post_filter is not None and bool(outcome.post_filter.nominated_node)


# -- wording ---------------------------------------------------------------------


def _plan_hint(plan: Plan, trial: Trial, trials: Trials, node: str) -> Hint:
    conditions = _conditions(plan)
    named = any(plan.node in remedy.condition.split() for remedy in plan.remedies)
    subject = "would fit"
    if plan.node and not (named and (node or trial.fits == 1)):
        subject = f"would fit on {node}" if node else f"would fit {_where(trial)}"
        if plan.reach is Reach.RESERVED and not node:  # who asks about one node sees its taint
            subject += ", which is reserved for others," if trial.fits == 1 else " that are reserved for others"
    hint = _hint("+".join(remedy.kind for remedy in plan.remedies), f"{subject} if {conditions}", trial, trials)
    return msgspec.structs.replace(hint, undoes=list(plan.undoes))


def _conditions(plan: Plan) -> str:
    """Return the conditions in one sentence; those that differ in their last word stand as one."""
    last_words: dict[str, list[str]] = {}
    for remedy in plan.remedies:
        start, _, last = remedy.condition.rpartition(" ")
        last_words.setdefault(start, []).append(last)
    return " and ".join(f"{start} {', '.join(words)}" for start, words in last_words.items())


def _preemption_hint(plan: Plan, trial: Trial, trials: Trials) -> Hint:
    """Return the hint of what is only enough once running pods were preempted."""
    conditions = _conditions(plan)
    trial = msgspec.structs.replace(trial, fits=1, chosen=trial.nominated)
    pods = counts.of(len(trial.victims), "pod")
    text = f"would fit on {trial.nominated} if {conditions}, and preempt {pods} there: {few(trial.victims)}"
    hint = _hint("+".join(remedy.kind for remedy in plan.remedies), text, trial, trials)
    return msgspec.structs.replace(hint, undoes=list(plan.undoes))


def _typos(found: Sequence[Typo], trials: Trials, search: Search | None = None) -> list[Hint]:
    """Tell each fact once, with what comes of mending it; and of mending all, where no single one is enough.

    What more it takes where mending is not enough is for the search, if there is one.
    """
    facts: dict[str, list[Typo]] = {}
    for typo in found:
        facts.setdefault(typo.fact, []).append(typo)
    hints = [_typo(fact, same, trials, search) for fact, same in facts.items()]
    if sum(hint.tried for hint in hints) > 1 and not any(hint.fits for hint in hints) and trials.left:
        remedies = [typo.remedy for typo in found if typo.remedy is not None]
        trial = trials.attempt(remedies, near=search is not None)
        if trial.fits:
            kind = "+".join(dict.fromkeys(typo.kind for typo in found if typo.remedy is not None))
            hints.append(_hint(kind, f"with all of these fixed the pod {_would(trial)}", trial, trials))
        elif search is not None:
            search.extend(Plan("", tuple(remedies)), trial)
    return hints


def _typo(fact: str, typos: Sequence[Typo], trials: Trials, search: Search | None) -> Hint:
    remedies = [typo.remedy for typo in typos if typo.remedy is not None]
    if not remedies or not trials.left:
        return Hint(type=typos[0].kind, text=fact)
    if len(typos) == 1 and typos[0].choices:
        return _choice(typos[0], trials, search)
    trial = trials.attempt(remedies, near=search is not None)
    if search is not None and not trial.fits:
        search.extend(Plan("", tuple(remedies)), trial)
    recreated = next((each.condition for each in remedies if each.command), "")  # what no edit of the pod does
    fixed = f"if {recreated}, the pod" if recreated else "if fixed, the pod"
    return _hint(typos[0].kind, f"{fact}; {fixed} {_would(trial)}", trial, trials)


def _choice(typo: Typo, trials: Trials, search: Search | None) -> Hint:
    """Return the first of several names, any of which may have been meant, with which the pod would be placed."""
    for number, (name, remedy) in enumerate(typo.choices):
        trial = trials.attempt([remedy], near=search is not None)
        if trial.fits:
            return _hint(typo.kind, f'{typo.fact}; with "{name}" the pod {_would(trial)}', trial, trials)
        if number == 0 and search is not None:
            search.extend(Plan("", (remedy,)), trial)
    return _hint(typo.kind, f"{typo.fact}; with any of them the pod {_would(Trial())}", Trial(), trials)


def _replace_hint(trials: Trials) -> Hint:
    trial = trials.attempt([pod_remedies.replace_pod()])
    return _hint(
        pod_remedies.REPLACE_POD,
        f"it is terminating and not scheduled any more; a new pod like it {_would(trial)}",
        trial,
        trials,
    )


def _missing_group(cluster: Cluster, pod: PodInfo, gated: Status) -> list[Hint]:
    """Return what helps a pod whose group is not there; nothing where something else keeps it out of the queue."""
    key = group_key(pod)
    missing = gated.plugin == "GangScheduling" and cluster.get(PodGroup, key) is None
    return [group_remedies.of_missing(key, cluster)] if missing else []


def _gate_hints(trials: Trials, pod: PodInfo, found: Sequence[Hint]) -> list[Hint]:
    gates = tuple(gate.name for gate in pod.pod.spec.scheduling_gates or ())
    if not gates:
        return (
            []
            if found
            else [Hint(type="wait", text="a PreEnqueue plugin keeps it out of the queue; its message says why")]
        )
    remedy = pod_remedies.remove_gates(gates)
    trial = trials.attempt([remedy])
    owner = "find the controller that removes the gate: removing it by hand skips its check"
    text = f"{owner}; once {remedy.condition}, the pod {_would(trial)}"
    # A gate is a check that is not done yet: nothing to paste may skip it.
    return [msgspec.structs.replace(_hint(remedy.kind, text, trial, trials), command="", patches=[])]


def _nothing(trials: Trials, *, more: bool) -> Hint:
    tried = "schedctl knows no change that helps"
    if trials.made == 1:
        tried = f"the one change tried ({' and '.join(dict.fromkeys(trials.kinds))}) does not make it fit"
    elif trials.made:
        tried = f"none of {trials.made} changes tried makes it fit"
    further = "; run it again with `--matrix` for the verdict of every filter" if more else ""
    return Hint(type="nothing-helps", text=f"{tried}{further}", tried=trials.made > 0)


def _hint(kind: str, text: str, trial: Trial, trials: Trials) -> Hint:
    patches, command = trials.patches_and_command(trial) if trial.fits else ([], "")
    return Hint(
        type=kind,
        text=text,
        tried=True,
        fits=trial.fits,
        node=trial.chosen,
        consequences=[*trial.consequences, *filter(None, [trials.unchanged_job(patches)])],
        cut=max(trials.cut(trial), 0),
        command=command,
        patches=patches,
    )


def _would(trial: Trial) -> str:
    return f"would be placed on {trial.chosen}" if trial.fits else "would still fit nowhere"


def _where(trial: Trial) -> str:
    return f"on {trial.chosen}" if trial.fits == 1 else f"on {trial.fits} nodes"
