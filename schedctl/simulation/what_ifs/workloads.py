"""What-ifs about pods and workloads: scale, priority; and how they are found by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from schedctl.api import workloads
from schedctl.api.defaults import with_namespace
from schedctl.api.meta import ObjectMeta
from schedctl.api.pods import Pod, PodTemplate
from schedctl.api.policies import PriorityClass
from schedctl.api.priorities import SYSTEM_CLASSES
from schedctl.api.short_names import NAMES
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.documents.spelling import similar, suggest_names
from schedctl.errors import UsageError
from schedctl.reports import counts
from schedctl.simulation.what_ifs.changes import WhatIf, WhatIfResult
from schedctl.simulation.what_ifs.displacement import create_pods
from schedctl.simulation.what_ifs.phrases import abbreviate, describe_displaced
from schedctl.workloads import garbage, pod_templates
from schedctl.workloads.api_server import Admission, join
from schedctl.workloads.clusters import every_pod, find_pod
from schedctl.workloads.expansion import UnsourcedObject, expand
from schedctl.workloads.rollouts import plan

_SCALED = (workloads.Deployment, workloads.ReplicaSet, workloads.StatefulSet, workloads.ReplicationController)
_replace = msgspec.structs.replace


class Subject(msgspec.Struct, frozen=True):
    """A pod or workload by its name.

    Attributes:
        struct: its kind, one of `schedctl.api.short_names.NAMES`.
        namespace, name: which.
    """

    struct: type
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{NAMES[self.struct][0]}/{self.namespace}/{self.name}"

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Scale(WhatIf):
    """A workload is to have another number of pods, as with ``kubectl scale``.

    Attributes:
        workload: a Deployment, ReplicaSet, StatefulSet or ReplicationController.
        replicas: how many pods.
    """

    workload: Subject
    replicas: int

    kind: ClassVar[str] = "scale"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Scale the workload: further pods wait, admitted; those that are too many are gone.

        Raises:
            UsageError: there is no such workload, or it is of a kind that cannot be scaled.
        """
        if self.workload.struct not in _SCALED:
            kinds = ", ".join(NAMES[struct][0] for struct in _SCALED)
            raise UsageError(f"{self.workload} cannot be scaled", f"kinds that can be scaled: {kinds}")
        workload = _workload(cluster, self.workload)
        before = 1 if workload.spec.replicas is None else workload.spec.replicas
        scaled = _replace(workload, spec=_replace(workload.spec, replicas=self.replicas))
        expansion = expand([UnsourcedObject(scaled)], cluster)
        if expansion.refused:
            raise UsageError(f"{self.workload} cannot be scaled: {expansion.refused[0].message}")
        admit = Admission(cluster)
        waiting: list[str] = []
        gone: list[str] = []
        updates = plan(join(expansion, cluster, admit), cluster, "rolling")
        for update in updates:
            while step := update.next():
                for info in step.remove:
                    cluster.remove_pod(info)
                    garbage.sweep(info.pod, cluster)
                    admit.credit(info.pod)
                    gone.append(info.key)
                waiting += create_pods(cluster, admit, step.create)
                for replica in step.create:  # as if each new pod ran at once; nothing is scheduled here
                    update.note(replica.pod.key, runs=True)
        refused = f", {len(admit.rejected)} refused ({admit.rejected[0].message})" if admit.rejected else ""
        fewer = f" ({counts.of(len(gone), 'pod')} gone)" if gone else ""
        text = f"scaled {self.workload} from {before} to {self.replicas}{fewer}{describe_displaced(waiting)}{refused}"
        return WhatIfResult(kind=self.kind, text=text, waiting=waiting, gone=gone)


@dataclass(frozen=True, slots=True)
class SetPriority(WhatIf):
    """A pod, or all pods of a workload now and later, have another priority.

    Attributes:
        subject: the pod or workload.
        value: the priority, or the name of a PriorityClass, whose preemption policy comes with it.
    """

    subject: Subject
    value: int | str

    kind: ClassVar[str] = "priority"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Change the priority of pods and templates; a bare number becomes a class of its own, as clusters demand.

        Raises:
            UsageError: there is no such subject, or no such class.
        """
        if self.subject.struct is Pod:
            pods = [_pod(cluster, self.subject)]
        else:
            workload = _workload(cluster, self.subject)
            groups = expand([UnsourcedObject(workload)], cluster).groups
            pods = [info for update in plan(groups, cluster) for info in update.old]
            for each in (workload, *_replica_sets(workload, cluster)):
                cluster.put(_with_template(each, lambda spec: self._with_priority(spec, cluster, None)))
        before = sorted({info.priority for info in pods})
        value = self.value if isinstance(self.value, int) else self._priority_class(cluster, self.value).value
        for info in pods:
            pod = info.pod
            _change_pod(cluster, info, _replace(pod, spec=self._with_priority(pod.spec, cluster, value)))
        was = f", was {' and '.join(map(str, before))}" if before else ""
        many = f" ({len(pods)} pods)" if self.subject.struct is not Pod else ""
        return WhatIfResult(kind=self.kind, text=f"priority of {self.subject} is {value}{many}{was}")

    def _with_priority(self, spec: Any, cluster: Cluster, value: int | None) -> Any:
        """Return a pod's spec with the class, and with its value where it has been admitted."""
        chosen = self._class(cluster, spec.preemption_policy)
        policy = (chosen.preemption_policy or "PreemptLowerPriority") if value is not None else None
        return _replace(spec, priority_class_name=chosen.metadata.name, priority=value, preemption_policy=policy)

    def _class(self, cluster: Cluster, policy: str | None) -> PriorityClass:
        """Return the class of a pod; that of a bare number joins the cluster, and keeps the pod's policy."""
        if isinstance(self.value, str):
            return self._priority_class(cluster, self.value)
        name = f"what-if-{self.value}{'-never' if policy == 'Never' else ''}"
        made = PriorityClass(metadata=ObjectMeta(name=name), value=self.value, preemption_policy=policy)
        if cluster.get(PriorityClass, name) is None:
            cluster.put(made)
        return made

    def _priority_class(self, cluster: Cluster, name: str) -> PriorityClass:
        if name in SYSTEM_CLASSES:
            return PriorityClass(metadata=ObjectMeta(name=name), value=SYSTEM_CLASSES[name])
        classes = cluster.every(PriorityClass)
        if name not in classes:
            raise UsageError(
                f'PriorityClass "{name}" not found', suggest_names(name, [*classes, *SYSTEM_CLASSES], "classes")
            )
        return classes[name]


def _workload(cluster: Cluster, subject: Subject) -> Any:
    found: Any = cluster.every(subject.struct).get(subject.key)
    if found is None:
        there = list(cluster.every(subject.struct))
        raise UsageError(
            f'{subject.struct.__name__} "{subject.name}" not found in namespace {subject.namespace}',
            _nearest(subject, there),
        )
    return found


def _pod(cluster: Cluster, subject: Subject) -> PodInfo:
    found = find_pod(subject.key, cluster)
    if found is None:
        hint = _nearest(subject, [info.key for info in every_pod(cluster)])
        raise UsageError(f'pod "{subject.name}" not found in namespace {subject.namespace}', hint)
    return found


def _nearest(subject: Subject, keys: Sequence[str]) -> str:
    """The next step: the namespace that has the name, else the nearest names."""
    elsewhere = [key.partition("/")[0] for key in keys if key.partition("/")[2] == subject.name]
    if elsewhere:
        there = Subject(subject.struct, elsewhere[0], subject.name)
        return f"one exists in namespace {abbreviate(elsewhere)}: `{there}`"
    inside = [key.partition("/")[2] for key in keys if key.partition("/")[0] == subject.namespace]
    close = similar(subject.name, inside)
    close = close or [name for name in inside if name.startswith(subject.name)]
    return (
        f"did you mean {abbreviate(close)}?" if close else f"choose one of {abbreviate(sorted(keys))}" if keys else ""
    )


def _change_pod(cluster: Cluster, info: PodInfo, pod: Pod) -> None:
    if info.key in cluster.pending:
        cluster.update_pending(PodInfo(pod))
    else:
        cluster.remove_pod(info)
        cluster.add_pod(PodInfo(pod))


def _replica_sets(workload: Any, cluster: Cluster) -> list[workloads.ReplicaSet]:
    """Return the ReplicaSets of a Deployment."""
    if not isinstance(workload, workloads.Deployment):
        return []
    metadata = with_namespace(workload.metadata)
    return [
        one
        for one in cluster.every(workloads.ReplicaSet).values()
        if one.metadata.namespace == metadata.namespace
        and pod_templates.has_controller(one.metadata, "Deployment", metadata)
    ]


def _with_template(workload: Any, change: Callable[[Any], Any]) -> Any:
    """Return a workload whose pods will have another spec."""

    def with_spec(template: Any) -> Any:
        return None if template is None else _replace(template, spec=change(template.spec))

    if isinstance(workload, PodTemplate):
        return _replace(workload, template=with_spec(workload.template))
    if isinstance(workload, workloads.CronJob):
        job = workload.spec.job_template
        job = _replace(job, spec=_replace(job.spec, template=with_spec(job.spec.template)))
        return _replace(workload, spec=_replace(workload.spec, job_template=job))
    return _replace(workload, spec=_replace(workload.spec, template=with_spec(workload.spec.template)))
