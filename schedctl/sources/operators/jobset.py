"""JobSet, as its controller and pod webhook of v0.13 (development) make its Jobs.

All pods of a Job with an exclusive topology share a domain by pod affinity, where the webhook gives it to the first and
makes the others follow by a node selector; Jobs that wait for others (``dependsOn``, ``startupPolicy``) do not wait.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from schedctl.sources.operators.fields import (
    Fields,
    Manifest,
    claim,
    claim_volume,
    name_of,
    service,
    with_exclusive_affinity,
    with_metadata,
)

_DOMAIN = "jobset.sigs.k8s.io"
_NAME, _JOB_KEY = f"{_DOMAIN}/jobset-name", f"{_DOMAIN}/job-key"
_KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
_EXCLUSIVE, _BY_NODE_SELECTOR = f"alpha.{_DOMAIN}/exclusive-topology", f"alpha.{_DOMAIN}/node-selector"


def objects_of(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    """Yield the claims, the headless Service, and a Job for each replica of each replicated job."""
    spec, name = resource.at("spec"), name_of(resource)
    claims = [template for policy in spec.each("volumeClaimPolicies") for template in policy.each("templates")]
    for template in claims:
        yield claim(f"{name_of(template)}-{name}", template.at("spec").value)
    network = spec.at("network")
    if network.truth("enableDNSHostnames", True):
        yield service(network.text("subdomain", name), {_NAME: name})
    jobs = spec.each("replicatedJobs")
    if spec.at("startupPolicy").text("startupPolicyOrder") == "InOrder" or any("dependsOn" in job for job in jobs):
        notes.append("its Jobs are created together, without waiting for those they depend on")
    ranks = _ranks(jobs)
    for number, job in enumerate(jobs):
        for index in range(job.number("replicas", 1)):
            yield _job(resource, job, index, ranks[number] + index, claims)


def _ranks(jobs: list[Fields]) -> list[int]:
    """Return how many Jobs come before those of each replicated job."""
    counts = [job.number("replicas", 1) for job in jobs]
    return [sum(counts[:index]) for index in range(len(counts))]


def _job(resource: Fields, replicated: Fields, index: int, rank: int, claims: list[Fields]) -> Manifest:
    template, name, role = replicated.at("template"), name_of(resource), replicated.text("name")
    job_name = f"{name}-{role}-{index}"
    namespace = resource.at("metadata").text("namespace", "default")
    labels = {
        _NAME: name,
        f"{_DOMAIN}/replicatedjob-name": role,
        f"{_DOMAIN}/replicatedjob-replicas": str(replicated.number("replicas", 1)),
        f"{_DOMAIN}/job-index": str(index),
        f"{_DOMAIN}/job-global-index": str(rank),
        f"{_DOMAIN}/restart-attempt": "0",
        _JOB_KEY: hashlib.sha1(f"{namespace}/{job_name}".encode(), usedforsecurity=False).hexdigest(),
    }
    pods = template.at("spec", "template")
    spec = pods.at("spec")
    more: Manifest = {"restartPolicy": spec.text("restartPolicy", "OnFailure")}
    mounted = {mount.text("name") for mount in _mounts(spec)}
    volumes = [claim_volume(name_of(one), f"{name_of(one)}-{name}") for one in claims if name_of(one) in mounted]
    if volumes:
        more["volumes"] = [*spec.items("volumes"), *volumes]
    # what the replicated job says of its own wins over the JobSet
    annotations = {**resource.at("metadata", "annotations").value, **template.at("metadata", "annotations").value}
    topology = Fields(annotations).text(_EXCLUSIVE)
    if topology and _BY_NODE_SELECTOR in annotations:
        more["nodeSelector"] = {
            **spec.at("nodeSelector").value,
            f"alpha.{_DOMAIN}/namespaced-job": f"{namespace}_{job_name}",
        }
        tolerated = {"key": f"alpha.{_DOMAIN}/no-schedule", "operator": "Exists", "effect": "NoSchedule"}
        more["tolerations"] = [*spec.items("tolerations"), tolerated]
    elif topology:
        more["affinity"] = with_exclusive_affinity(spec, _JOB_KEY, labels[_JOB_KEY], topology, namespaceSelector={})
    job_spec = {
        "completionMode": "Indexed",
        **template.at("spec").value,
        "suspend": resource.at("spec").truth("suspend"),
        "template": with_metadata(pods, labels, {_EXCLUSIVE: topology} if topology else None, **more),
    }
    # Kueue admits the JobSet by this label; its Jobs stand for it here, so that their pods are known to wait for Kueue
    queue = {key: value for key, value in resource.at("metadata", "labels").value.items() if key == _KUEUE_QUEUE}
    metadata = {"name": job_name, "labels": {**template.at("metadata", "labels").value, **queue, **labels}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job_spec}


def _mounts(spec: Fields) -> Iterator[Fields]:
    for container in (*spec.each("containers"), *spec.each("initContainers")):
        yield from container.each("volumeMounts")
