"""Volcano's Job, as its controller and webhook of v1.16 make its pods.

A job that names no scheduler is Volcano's own; its PodGroup is not modelled. Of its plugins only ``svc`` is, which
others bring along; tasks that wait for others (``dependsOn``) do not wait.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.sources.operators.fields import Fields, Manifest, claim, claim_volume, name_of, service, with_metadata

_DOMAIN = "volcano.sh"
_SCHEDULER = "volcano"
_WITH_SERVICE = ("svc", "tensorflow", "mpi", "pytorch", "ray")


def objects_of(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    """Yield the claims of the job, its headless Service, and a pod for each replica of each task."""
    spec, name = resource.at("spec"), name_of(resource)
    namespace = resource.at("metadata").text("namespace", "default")
    claims: list[str] = []
    for index, volume in enumerate(spec.each("volumes")):
        # the controller draws the end of the name by lot
        claims.append(volume.text("volumeClaimName", f"{name}-pvc-{index}"))
        if "volumeClaim" in volume and "volumeClaimName" not in volume:
            yield claim(claims[-1], volume.at("volumeClaim").value)
    if any(plugin in spec.at("plugins") for plugin in _WITH_SERVICE):
        yield service(name, {f"{_DOMAIN}/job-name": name, f"{_DOMAIN}/job-namespace": namespace})
    volumes = [claim_volume(f"{name}-{each}", each) for each in dict.fromkeys(claims)]
    if any("dependsOn" in task for task in spec.each("tasks")):
        notes.append("its tasks are created together, without waiting for those they depend on")
    for number, task in enumerate(spec.each("tasks")):
        template = task.at("template")
        pod_spec = template.at("spec")
        role = task.text("name", f"default{number}")
        more: Manifest = {"schedulerName": pod_spec.text("schedulerName", spec.text("schedulerName", _SCHEDULER))}
        if priority := pod_spec.text("priorityClassName", spec.text("priorityClassName")):
            more["priorityClassName"] = priority
        if volumes:
            more["volumes"] = [*pod_spec.items("volumes"), *volumes]
        labels = {
            f"{_DOMAIN}/job-name": name,
            f"{_DOMAIN}/job-namespace": namespace,
            f"{_DOMAIN}/task-spec": role,
            f"{_DOMAIN}/queue-name": spec.text("queue", "default"),
        }
        for index in range(task.number("replicas", 1)):
            pod = with_metadata(template, {**labels, f"{_DOMAIN}/task-index": str(index)}, **more)
            pod["metadata"]["name"] = f"{name}-{role}-{index}"
            yield {"apiVersion": "v1", "kind": "Pod", **pod}
