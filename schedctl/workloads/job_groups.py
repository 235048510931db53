"""The PodGroup that the Job controller makes for a Job, with the gate WorkloadWithJob (KEP-5547).

Of v1.37, whose controller makes one for each Job that nothing else controls, gang or not, before it makes the first
pod; of a Job that is in the cluster already it only looks for the one that it made.
"""

from __future__ import annotations

from typing import Final

import msgspec

from schedctl.api import pod_groups, workloads
from schedctl.api.meta import OwnerReference
from schedctl.api.pods import PodSchedulingGroup, PodTemplateSpec
from schedctl.cache.cluster import Cluster
from schedctl.releases import Release
from schedctl.workloads.names import letters_of
from schedctl.workloads.pod_templates import Owner, has_controller

WORKLOAD_WITH_JOB: Final = "WorkloadWithJob"
_replace = msgspec.structs.replace


def objection(spec: workloads.JobSpec, release: Release) -> tuple[str, tuple[str, ...], str]:
    """Return why the API server refuses what a Job says of its scheduling, where, and the next step; "" if it does not.

    Args:
        spec: of the Job.
        release: the Kubernetes whose gates hold.
    """
    scheduling = spec.scheduling
    if scheduling is None:
        return "", (), ""
    if not release.enabled(WORKLOAD_WITH_JOB):
        switches = f"--feature-gates GenericWorkload=true,{WORKLOAD_WITH_JOB}=true"
        return f"is forbidden while the gate {WORKLOAD_WITH_JOB} is off", ("spec", "scheduling"), switches
    policy = scheduling.scheduling_policy
    least = policy.gang.min_count if policy is not None and policy.gang is not None else None
    parallel = _parallelism(spec)
    if least is not None and least > parallel:
        path = ("spec", "scheduling", "schedulingPolicy", "gang", "minCount")
        return f"must not be greater than parallelism ({parallel})", path, "without minCount it is the parallelism"
    return "", (), ""


def group_for(job: workloads.Job, cluster: Cluster) -> tuple[pod_groups.PodGroup | None, str]:
    """Return the PodGroup that the pods of a Job get, and what should be known about it.

    Args:
        job: the Job, with a namespace; as it was written.
        cluster: where it is created; it is not changed.

    Returns:
        None where its pods get none: the gate is off, their template names one, or a controller has made the Job.
    """
    if not cluster.release.enabled(WORKLOAD_WITH_JOB) or job.spec.template.spec.scheduling_group is not None:
        return None, ""
    if any(owner.controller for owner in job.metadata.owner_references or ()):
        return None, ""
    metadata = job.metadata
    live = cluster.get(workloads.Job, f"{metadata.namespace}/{metadata.name}")
    if live is not None and live.metadata.uid:  # one without comes out of a file, and no controller has seen it
        for group in cluster.every(pod_groups.PodGroup).values():
            of_job = group.metadata.namespace == metadata.namespace and has_controller(group.metadata, "Job", metadata)
            if of_job and group.spec.workload_ref is not None:
                return group, ""
        return None, "is in the cluster without a PodGroup of its own, so that its pods are scheduled one by one"
    group = _new_group(job)
    note = (
        f"its controller makes PodGroup {group.metadata.name} ({WORKLOAD_WITH_JOB}), "
        "in whose real name a hash of the Job's uid stands"
    )
    return group, note


def in_group(template: PodTemplateSpec, group: pod_groups.PodGroup) -> PodTemplateSpec:
    """Return a template whose pods are of a group."""
    named = PodSchedulingGroup(pod_group_name=group.metadata.name)
    return _replace(template, spec=_replace(template.spec, scheduling_group=named))


def _new_group(job: workloads.Job) -> pod_groups.PodGroup:
    metadata, spec = job.metadata, job.spec
    scheduling = spec.scheduling or workloads.JobScheduling()
    workload = f"{metadata.name}-{letters_of(f'{metadata.namespace}/{metadata.name}')}"
    template = f"{metadata.name}-pgt-0"
    return pod_groups.PodGroup(
        metadata=_replace(
            metadata,
            name=f"{workload}-{template}-{letters_of(workload + template)}",
            uid="",
            labels=None,
            annotations=None,
            owner_references=[
                Owner("batch/v1", "Job", metadata).reference,
                OwnerReference(api_version="scheduling.k8s.io/v1beta1", kind="Workload", name=workload),
            ],
        ),
        spec=pod_groups.PodGroupSpec(
            workload_ref=pod_groups.WorkloadReference(workload_name=workload, template_name=template),
            scheduling_policy=_policy(scheduling, _parallelism(spec)),
            scheduling_constraints=scheduling.scheduling_constraints,
            disruption_mode=scheduling.disruption_mode,
            resource_claims=scheduling.resource_claims,
            priority_class_name=spec.template.spec.priority_class_name,
        ),
    )


def _policy(scheduling: workloads.JobScheduling, parallel: int) -> pod_groups.PodGroupSchedulingPolicy:
    policy = scheduling.scheduling_policy
    if policy is None or policy.gang is None:
        return pod_groups.PodGroupSchedulingPolicy(basic=pod_groups.BasicSchedulingPolicy())
    least = max(1, parallel) if policy.gang.min_count is None else policy.gang.min_count
    return pod_groups.PodGroupSchedulingPolicy(gang=pod_groups.GangSchedulingPolicy(min_count=least))


def _parallelism(spec: workloads.JobSpec) -> int:
    return 1 if spec.parallelism is None else spec.parallelism
