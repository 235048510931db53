"""Where pods would go, why there, and why nowhere else; under several configurations, how their answers differ.

A pod is explained as it is, a workload by the pod that it would make next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import FINISHED, Pod
from schedctl.api.workloads import DaemonSet
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import bound_pods, equal_answers, explanations, remarks, resizes, scale_ups
from schedctl.framework.pod_edits import as_pending, with_scheduler
from schedctl.reports.explanations import ExplainReport, Explanation, PodReference
from schedctl.scheduler import Scheduler
from schedctl.scheduler.assumed_volumes import claim_notes
from schedctl.scheduler.gaps import log_assumptions
from schedctl.session import node_maps, subjects, what_ifs
from schedctl.session.created_pods import CreatedPods
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.session.pod_groups import GroupAnswers
from schedctl.session.sessions import Session
from schedctl.session.subjects import Question
from schedctl.workloads import admission, ownership
from schedctl.workloads.volume_controller import complete_written

if TYPE_CHECKING:
    from schedctl.autoscaling.detection import NodeGroups
    from schedctl.reports.metadata import Metadata
    from schedctl.reports.pod_comparisons import ExplainComparison

_replace = msgspec.structs.replace


class ExplainOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How pods are explained.

    Attributes:
        matrix: whether every filter is asked about every node.
        node: the node to go into in depth, "" for none.
        sampling: whether only as many nodes are looked at as kube-scheduler would look at.
        history: whether what schedulers have said of the pods is put next to the answer.
        group: whether equal answers are given once, with the pods that they hold for.
        reconsider: whether a pod that has a node is judged as if it were pending again. So it is as well where what is
            asked makes sense of a pending pod only: `matrix`, `node`, `sampling`, `history`, several configurations.
        fail: whether a pod that is unschedulable, or that another configuration breaks, makes the exit code 1.
        hypothetical_nodes: nodes that are as a what-if has them, which no next step undoes.
        groups: the groups of nodes of which a new node might help; None where that is not asked.
        node_map: whether the report has the nodes that pictures show.
    """

    matrix: bool = False
    node: str = ""
    sampling: bool = False
    history: bool = False
    group: bool = True
    reconsider: bool = False
    fail: bool = False
    hypothetical_nodes: frozenset[str] = frozenset()
    groups: NodeGroups | None = None
    node_map: bool = False

    @property
    def judges_bound_pods(self) -> bool:
        """Whether pods that have a node are judged as if they were pending again."""
        return self.reconsider or self.matrix or bool(self.node) or self.sampling or self.history


def explain(session: Session, question: Question, options: ExplainOptions) -> ExplainReport | ExplainComparison:
    """Return the explanations of what a question names; a session that compares returns how they differ.

    Args:
        session: with its state loaded and its what-ifs made.
        question: which objects.
        options: how.

    Raises:
        UsageError: an object or a node is not there.
    """
    state, notifier, names = session.state, session.notifier, session.names
    question = question.under(names)
    objects = question.with_successors(what_ifs.successors(session.changes)).objects(state.assembled)
    if not objects:
        notifier.say(*subjects.nothing_pending(question.scope, state.assembled, of_files=not session.source.of_cluster))
    metadata = _replace(session.metadata(), sampling=options.sampling)
    node = names.name(options.node) if options.node else ""
    options = replace(options, node=node, hypothetical_nodes=what_ifs.hypothetical_nodes(session.changes))
    if len(session.choices) > 1:
        return _compare(session, objects, metadata, options)
    scheduler = session.scheduler()
    groups = GroupAnswers(scheduler, node_groups=options.groups)
    with notifier.progress("explaining") as progress:
        results = list(
            explain_objects(
                scheduler,
                objects,
                groups=groups,
                profile=session.choice.profile,
                options=options,
                advance=progress.advance,
                unknown=state.assembled.unknown,
                notifier=notifier,
            )
        )
    if options.history:
        from schedctl.session import histories

        results = histories.with_history(results, objects, state, hypothetical=bool(session.changes))
    owner_of = owner_names(session.cluster)
    results = equal_answers.merge(results, owner_of) if options.group else equal_answers.separate(results, owner_of)
    not_running = 0
    if question.all_pending:
        not_running = bound_pods.count_not_running(
            session.cluster, lambda pod: pod.metadata.namespace in question.scope
        )
    report = explanations.report(
        results, metadata=metadata, fail=options.fail, bound_not_running=not_running, groups=groups.results
    )
    return node_maps.add(report, session.cluster) if options.node_map else report


def _compare(
    session: Session, objects: Sequence[Any], metadata: Metadata, options: ExplainOptions
) -> ExplainComparison:
    """Return what each configuration says of the same objects; each side asks on a fork of the cluster."""
    from schedctl.explain import comparisons
    from schedctl.scheduler.sides import sides
    from schedctl.simulation import utilisation

    found = []
    letters = sides(choice.origin for choice in session.choices)
    options = replace(options, reconsider=True)
    for side, choice in zip(letters, session.choices, strict=True):
        with session.cluster.fork(), session.notifier.progress(f"explaining {side.name}") as progress:
            answers = explain_objects(
                session.scheduler(choice),
                objects,
                options=options,
                advance=progress.advance,
                unknown=session.state.assembled.unknown,
                hints=False,
                notifier=session.notifier,
            )
            found.append(list(answers))
    zones = utilisation.zones(session.cluster)
    report = comparisons.compare(letters, found, metadata=metadata, zones=zones, fail=options.fail)
    return node_maps.add(report, session.cluster) if options.node_map else report


def explain_objects(
    scheduler: Scheduler,
    objects: Sequence[Any],
    *,
    profile: str = "",
    options: ExplainOptions | None = None,
    advance: Callable[[int, int, str], None] | None = None,
    unknown: Mapping[str, frozenset[type]] | None = None,
    hints: bool = True,
    notifier: Notifier = SILENT,
    groups: GroupAnswers | None = None,
) -> Iterator[Explanation]:
    """Yield the explanation of each object that has a pod to explain; the cluster is as before.

    A pod that has a node is not judged unless the options say so. Of pods that no plugin can tell apart one is judged.
    A DaemonSet with all its pods has none, which is said.

    Args:
        scheduler: the profiles and the cluster.
        objects: pods and workloads.
        profile: the scheduler name whose profile is used for every pod, "" for the one the pod asks for.
        options: how.
        advance: called with how far the work is.
        unknown: by pod key, the missing kinds that admission would have looked at; see `AssembledCluster.unknown`.
        hints: whether next steps are looked for.
        notifier: hears what has nothing to explain.
        groups: takes down the pod groups that come up.

    Raises:
        UsageError: there is no such node.
    """
    options = options or ExplainOptions()
    groups = groups or GroupAnswers(scheduler, hints=hints)
    answered: set[str] = set()
    judged = equal_answers.JudgedClasses(scheduler, one_name_for_all=options.group)
    created = CreatedPods(scheduler.cluster)
    trials = remarks.ForkedTrials(scheduler)
    for number, obj in enumerate(objects):
        if advance is not None:
            advance(number, len(objects), obj.metadata.name)
        if isinstance(obj, Pod) and obj.spec.node_name and not options.judges_bound_pods:
            bound, info = bound_pods.explain(obj, scheduler.cluster), PodInfo(obj)
            notes = [*bound.notes, *resizes.prospect(scheduler, info)]
            yield _replace(bound, notes=notes, warnings=remarks.warnings(scheduler, info))
            continue
        if (answers := _as_group(obj, groups)) is not None:
            for answer in answers:
                if answer.pod_group and (key := f"{answer.pod.namespace}/{answer.pod.name}") not in answered:
                    answered.add(key)
                    yield answer
            continue
        with scheduler.cluster.fork() as cluster:
            with log_assumptions(cluster) as assumptions:
                pod, notes, refusals = pod_of(obj, cluster, options.node)
            if pod is not None and (message := created.refusal(pod, refusals)):
                info, shortages = PodInfo(with_scheduler(pod, profile)), created.shortages(pod)
                rejected = explanations.explain_rejection(scheduler, info, message, shortages, hints=hints)
                yield _replace(rejected, notes=notes)
                continue
            if pod is None:
                for note in notes:
                    notifier.say(note)
                continue
            # The pod was admitted when the state was read, and what that lacked weakens this answer.
            unknown_kinds = (unknown or {}).get(pod.key, frozenset[type]())
            for kind in unknown_kinds:
                assumptions.read(kind)
            pod = with_scheduler(pod, profile)
            about_claims = claim_notes(pod, cluster)  # of this pod alone, so that it shares no answer
            may_share = isinstance(obj, Pod) and not about_claims
            equivalence_class = judged.class_key(pod, unknown_kinds) if may_share else None
            if equivalence_class in judged:
                yield judged.answer(equivalence_class, pod)
                continue
            explanation = explanations.explain(
                scheduler,
                pod,
                matrix=options.matrix,
                node=options.node,
                sampling=options.sampling,
                hints=hints,
                assumptions=assumptions.guesses,
                hypothetical_nodes=options.hypothetical_nodes,
                trials=trials if pod.key in cluster.pending else None,  # another pod brings objects of its own
            )
            if options.groups is not None and hints:
                explanation = scale_ups.with_scale_up(scheduler, PodInfo(pod), explanation, options.groups)
        explanation = _replace(explanation, notes=[*notes, *about_claims, *explanation.notes])
        judged.add(equivalence_class, explanation)
        yield explanation


def _as_group(obj: Any, groups: GroupAnswers) -> Sequence[Explanation] | None:
    """Return the answers about the pods that an object stands for as pods of groups, None where it stands for none."""
    if isinstance(obj, PodGroup):
        return list(groups.of_group(obj))
    if isinstance(obj, Pod):
        answer = groups.of_pod(obj)
        return None if answer is None else [answer]
    return groups.of_workload(obj)


def owner_names(cluster: Cluster) -> Callable[[PodReference], str]:
    """Return a function that names the workload of a pod of the cluster."""
    return lambda pod: ownership.owner_name(f"{pod.namespace}/{pod.name}", cluster)


def pod_of(obj: Any, cluster: Cluster, node: str) -> tuple[Pod | None, list[str], Sequence[admission.Refusal] | None]:
    """Return the pod to explain, what to know about it, and why it would be refused, None for a pod that is there.

    Objects that come with it are put into the cluster. Of a DaemonSet that has all its pods there is none, and the note
    says so.
    """
    if isinstance(obj, Pod):
        if obj.status.phase not in FINISHED:
            return obj, [], None
        return as_pending(obj), [f"the pod has ended ({obj.status.phase}): this is about a new pod like it"], None
    from schedctl.workloads import daemon_sets, pod_templates

    try:
        made = (
            daemon_sets.pod_for(obj, cluster, node)
            if isinstance(obj, DaemonSet)
            else pod_templates.pod_of(obj, cluster)
        )
    except daemon_sets.Complete as complete:
        return None, [str(complete)], ()
    for companion in made.companions:
        cluster.put(companion)
    admitted = admission.admit(made.pod, cluster)
    for claim in admitted.claims:
        cluster.put(claim)
    complete_written(cluster)
    metadata = obj.metadata
    note = f"this is the pod that {type(obj).__name__} {metadata.namespace}/{metadata.name} would make next"
    return admitted.pod, [made.note or note, *admitted.warnings], admitted.refusals
