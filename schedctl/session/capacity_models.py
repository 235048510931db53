"""What ``schedctl capacity --like`` names: a pod or workload of the cluster, or those in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from schedctl import sources
from schedctl.api.defaults import with_namespace
from schedctl.api.nodes import Node
from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod
from schedctl.api.policies import PriorityClass
from schedctl.api.short_names import NAMES
from schedctl.api.workloads import DaemonSet, StatefulSet
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import UsageError
from schedctl.framework.pod_edits import as_pending
from schedctl.framework.pod_groups import group_key
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.scheduler import Scheduler
from schedctl.session import subjects
from schedctl.session.explain import pod_of
from schedctl.session.states import State
from schedctl.session.subject_kinds import POD_GROUP
from schedctl.simulation import group_capacities
from schedctl.simulation.capacities import CopiesOfPod, PodCopies, StatefulSetCopies
from schedctl.workloads import admission
from schedctl.workloads.expansion import UnsourcedObject, expand
from schedctl.workloads.pod_groups import admit_group

_FILES = (".yaml", ".yml", ".json", ".gz")
_replace = msgspec.structs.replace


class Model(msgspec.Struct, frozen=True):
    """What others are to be like.

    Attributes:
        object: a pod or workload.
        subject: how messages name it, e.g. ``deploy shop/web``.
        companions: what was given beside it and joins the cluster.
        notes: what should be known of it; admission adds to them.
    """

    object: Any
    subject: str
    companions: Sequence[Any] = ()
    notes: list[str] = msgspec.field(default_factory=list)


def find(text: str, state: State, namespace: str) -> list[Model]:
    """Return what a text names: a file, or an object of the cluster.

    Raises:
        UsageError: there is no such thing, or it is a DaemonSet, of which there is one for each node.
        InputError: the file cannot be understood.
    """
    if is_file(text):
        found = _in_file(state.names.file(text), namespace)
    else:
        _, names = subjects.parse_names([text])
        scope = subjects.scope(namespace, everywhere=False).under(state.names)
        named = (name.under(state.names) for name in names)
        found = [_model(obj) for name in named for obj in subjects.find(name, state.assembled, scope)]
    for model in found:
        if isinstance(model.object, DaemonSet):
            raise UsageError(
                f"capacity cannot count {model.subject}: it has one pod per node", "name a pod or another workload"
            )
    return found


def is_named(like: Sequence[str], namespace: str, kind: str, key: str) -> bool:
    """Return whether an object of the cluster, by its kind and key, is among those that texts name.

    Raises:
        UsageError: a text is neither a file nor a name.
    """
    names = [name for text in like if not is_file(text) for name in subjects.parse_names([text])[1]]
    return subjects.named_among(names, subjects.scope(namespace, everywhere=False), kind, key)


def gang_of(model: Model, scheduler: Scheduler) -> tuple[PodGroup, list[PodInfo]] | None:
    """Return the group that a model is, or is scheduled with, and the pods of it; None where its pods count one by one.

    These are the pods that are there, else those that a workload would make. A group without ``minCount`` and without a
    topology key takes whatever fits, so that its pods count one by one as well. What joins the model is put into the
    cluster.
    """
    cluster, obj = scheduler.cluster, model.object
    if isinstance(obj, PodGroup):
        return obj, group_capacities.members_of(obj, cluster)
    if not cluster.release.enabled(GENERIC_WORKLOAD):
        return None
    for companion in model.companions:
        cluster.put(companion)
    made, new = [obj], {}
    if not isinstance(obj, Pod):
        expansion = expand([UnsourcedObject(obj)], cluster)
        made = [pod for workload in expansion.groups for pod in workload.pods]
        new = {group.key: group for group in expansion.joined if isinstance(group, PodGroup)}
    key = group_key(PodInfo(made[0])) if made else ""
    group = new.get(key) or cluster.get(PodGroup, key) if key else None
    if key and group is None:
        model.notes.append(
            f"PodGroup {key} does not exist: its pods wait for it, and are counted as if they stood alone"
        )
    if group is None or not (group.is_gang or group.topology_key):
        return None
    if key in new:
        group = admit_group(group, cluster.every(PriorityClass), cluster.release)
    there = group_capacities.members_of(group, cluster)
    return group, there or [PodInfo(admission.admit(pod, cluster).pod) for pod in made]


def copies(model: Model, scheduler: Scheduler, profile: str) -> PodCopies:
    """Return the pods that are like a model; what they need is put into the cluster.

    Args:
        model: the model.
        scheduler: with the cluster.
        profile: the scheduler name to use, "" for the one the pods ask for.

    Raises:
        UsageError: no profile serves them.
    """
    cluster, obj = scheduler.cluster, model.object
    for companion in model.companions:
        cluster.put(companion)
    if isinstance(obj, StatefulSet) and obj.spec.volume_claim_templates:
        made: PodCopies = StatefulSetCopies(_replace(obj, metadata=with_namespace(obj.metadata)), cluster, profile)
        asked_for = profile or obj.spec.template.spec.scheduler_name
    else:
        pod, *_ = pod_of(obj, cluster, "")
        assert pod is not None, "only a DaemonSet may have no next pod, and `find` takes none"
        # A pod with a uid met an API server; one from a file, or from a template, has admission still before it.
        if not isinstance(obj, Pod) or not obj.metadata.uid:
            admitted = admission.admit(pod, cluster)
            pod = admitted.pod
            model.notes.extend(
                f"the API server would reject such a pod: {refusal.message}"
                for refusal in admitted.refusals
                if refusal.plugin != admission.RESOURCE_QUOTA  # counted apart, by how many pods fit
            )
            for claim in admitted.claims:
                cluster.put(claim)
        pod = as_pending(pod)
        # A gang is counted as a whole (`gang_of`): here is a pod of it that is asked about by itself.
        spec = _replace(
            pod.spec,
            scheduler_name=profile or pod.spec.scheduler_name,
            scheduling_gates=None,
            scheduling_group=None,
        )
        made, asked_for = CopiesOfPod(_replace(pod, spec=spec), cluster), spec.scheduler_name
    if asked_for and asked_for not in scheduler.profiles:
        raise UsageError(
            f'no profile has schedulerName "{asked_for}" of {model.subject}',
            f"the profiles are: {', '.join(scheduler.profiles)}",
        )
    return made


def is_file(text: str) -> bool:
    """Return whether a text is taken for a file, and not for the name of an object."""
    return text == "-" or text.endswith(_FILES) or Path(text).exists()


def _in_file(path: str, namespace: str) -> list[Model]:
    objects = [one.object for one in sources.load([path]).objects]
    makers = [obj for obj in objects if type(obj) in NAMES]
    if not makers:
        raise UsageError(f'no pod or workload in "{path}"')
    others = [obj for obj in objects if type(obj) not in NAMES and not isinstance(obj, Node)]
    return [_model(_in_namespace(obj, namespace), others) for obj in makers]


def _in_namespace(obj: Any, namespace: str) -> Any:
    """Return an object in the namespace it names, else in the one of ``-n``."""
    metadata = obj.metadata
    if namespace and not metadata.uid and metadata.namespace in ("", "default"):
        metadata = _replace(metadata, namespace=namespace)
    return _replace(obj, metadata=with_namespace(metadata))


def _model(obj: Any, others: Sequence[Any] = ()) -> Model:
    metadata = with_namespace(obj.metadata)
    notes = []
    if isinstance(obj, Pod):
        info = PodInfo(obj)
        if any(volume.persistent_volume_claim is not None for volume in info.pod.spec.volumes or ()):
            notes.append("all copies would use the same volume claims as the original pod")
        if obj.spec.scheduling_gates:
            notes.append("its scheduling gates are ignored")
    name = POD_GROUP.names[0] if isinstance(obj, PodGroup) else NAMES[type(obj)][0]
    return Model(obj, f"{name} {metadata.namespace}/{metadata.name}", others, notes)
