"""What an API server refuses of objects that are about to be created, beyond what changes scheduling.

`validation` holds what is written by hand to the rules that scheduling depends on, and lets a state leave out what it
does not need: containers without images, workloads without selectors. These are the other rules that real manifests
break: names and images of containers, mounts of volumes that are not there, selectors, restart policies, strategies,
schedules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Any

from schedctl.api import quantities, selectors, workloads
from schedctl.api.meta import Int32, ObjectMeta
from schedctl.api.pods import PersistentVolumeClaimSpec, Pod, PodSpec, PodTemplate, PodTemplateSpec
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.documents.findings import Finding, Path, quote
from schedctl.documents.spelling import CLOSE, did_you_mean

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_RULE = "at most 63 lower-case letters, digits and - with a letter or digit at both ends"
_SHARE = re.compile(r"[0-9]+%")
_MACROS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_SCHEDULE_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    ("day of week", 0, 6, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)
_LONGEST_CRON_JOB, _LONGEST_JOB = 52, 63
"""Of names: a CronJob's Jobs have eleven letters more (the time), and a Job's pods are labelled with its name."""
_FOREVER, _ENDING = ("Always",), ("OnFailure", "Never")
_TEMPLATE: Path = ("spec", "template")


def refusals(obj: Any) -> list[Finding]:
    """Return what an API server would refuse about an object, beyond `validation.validate`."""
    rule = _RULES.get(type(obj))
    return list(rule(obj)) if rule else []


def template_refusals(
    spec: PodSpec, path: Path, *, restart: tuple[str, ...] = (), claims: Collection[str] = ()
) -> Iterator[Finding]:
    """Yield what an API server would refuse about a pod's spec.

    Args:
        spec: the spec.
        path: where it is.
        restart: the restart policies its workload allows, () for any; Always is the default.
        claims: volumes that its workload adds.
    """
    if not spec.containers:
        yield _missing_field(path, "containers")
    seen: set[str] = set()
    volumes = dict.fromkeys([*(volume.name for volume in spec.volumes or ()), *claims])
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers or ()):
            where = (*path, field, index)
            yield from _unique_label(container.name, where, seen)
            if not container.image.strip():
                yield _missing_field(where, "image")
            for number, mount in enumerate(container.volume_mounts or ()):
                if mount.name not in volumes:
                    message = f"the pod has no volume {quote(mount.name)}"
                    hint = did_you_mean(mount.name, volumes, "", cutoff=CLOSE) if mount.name else ""
                    yield Finding((*where, "volumeMounts", number, "name"), message, hint)
    named: set[str] = set()
    for index, volume in enumerate(spec.volumes or ()):
        yield from _unique_label(volume.name, (*path, "volumes", index), named)
        if volume.ephemeral is not None and volume.ephemeral.volume_claim_template is not None:
            where = (*path, "volumes", index, "ephemeral", "volumeClaimTemplate", "spec")
            yield from _claim_spec(volume.ephemeral.volume_claim_template.spec, where)
    policy = spec.restart_policy or "Always"
    if restart and policy not in restart:
        got = "" if spec.restart_policy else " by default"
        message = f"expected {' or '.join(restart)}, got {quote(policy)}{got}"
        yield Finding((*path, "restartPolicy"), message, f"write restartPolicy: {restart[0]}")
    for field, seconds, least in (
        ("terminationGracePeriodSeconds", spec.termination_grace_period_seconds, 0),
        ("activeDeadlineSeconds", spec.active_deadline_seconds, 1),
    ):
        if seconds is not None and seconds < least:
            yield Finding((*path, field), f"expected a number at least {least}, got {seconds}")


def _missing_field(path: Path, field: str) -> Finding:
    return Finding((*path, field), f"the field {quote(field)} is required")


def _unique_label(name: str, path: Path, seen: set[str]) -> Iterator[Finding]:
    if not name:
        yield _missing_field(path, "name")
    elif not _LABEL.fullmatch(name):
        yield Finding((*path, "name"), f"{quote(name)} is not a name: {_LABEL_RULE}")
    elif name in seen:
        yield Finding((*path, "name"), f"duplicate name {quote(name)}")
    seen.add(name)


def _selector_problems(selector: Any, template: PodTemplateSpec) -> Iterator[Finding]:
    """Yield what is wrong with a workload's selector and the labels it has to match."""
    if selector is None or not (selector.match_labels or selector.match_expressions):
        yield _missing_field(("spec",), "selector")
        return
    try:
        matches = selectors.compile_selector(selector).matches(template.metadata.labels)
    except ValueError:
        return  # the selector's own rules say what is wrong with it
    if not matches:
        yield _mismatch()


def _mismatch() -> Finding:
    return Finding((*_TEMPLATE, "metadata", "labels"), "`selector` does not match template `labels`")


def _strategy(strategy: workloads.UpdateStrategy | None, path: Path, types: tuple[str, ...]) -> Iterator[Finding]:
    if strategy is None:
        return
    if strategy.type and strategy.type not in types:
        hint = did_you_mean(strategy.type, types, "", cutoff=CLOSE)
        yield Finding((*path, "type"), f"expected one of {', '.join(types)}, got {quote(strategy.type)}", hint)
    elif strategy.type == "Recreate" and strategy.rolling_update is not None:
        yield Finding((*path, "rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")
    rolling = strategy.rolling_update or workloads.RollingUpdate()
    for field, value in (("maxSurge", rolling.max_surge), ("maxUnavailable", rolling.max_unavailable)):
        where = (*path, "rollingUpdate", field)
        if isinstance(value, str) and not _SHARE.fullmatch(value):
            yield Finding(where, f"expected a number or a percentage, got {quote(value)}")
        elif isinstance(value, int) and value < 0:
            yield Finding(where, f"expected a number at least 0, got {value}")
    if _is_zero(rolling.max_unavailable) and _is_zero(rolling.max_surge):
        yield Finding((*path, "rollingUpdate", "maxUnavailable"), "may not be 0 when `maxSurge` is 0")


def _is_zero(value: Int32 | str | None) -> bool:
    return value == 0 or (isinstance(value, str) and value.rstrip("%").strip("0") == "" and value.endswith("%"))


def _deployment(obj: workloads.Deployment) -> Iterator[Finding]:
    yield from _selector_problems(obj.spec.selector, obj.spec.template)
    yield from _strategy(obj.spec.strategy, ("spec", "strategy"), ("RollingUpdate", "Recreate"))
    yield from template_refusals(obj.spec.template.spec, (*_TEMPLATE, "spec"), restart=_FOREVER)


def _replica_set(obj: workloads.ReplicaSet) -> Iterator[Finding]:
    yield from _selector_problems(obj.spec.selector, obj.spec.template)
    yield from template_refusals(obj.spec.template.spec, (*_TEMPLATE, "spec"), restart=_FOREVER)


def _daemon_set(obj: workloads.DaemonSet) -> Iterator[Finding]:
    yield from _selector_problems(obj.spec.selector, obj.spec.template)
    yield from _strategy(obj.spec.update_strategy, ("spec", "updateStrategy"), ("RollingUpdate", "OnDelete"))
    yield from template_refusals(obj.spec.template.spec, (*_TEMPLATE, "spec"), restart=_FOREVER)


def _stateful_set(obj: workloads.StatefulSet) -> Iterator[Finding]:
    yield from _selector_problems(obj.spec.selector, obj.spec.template)
    strategy = obj.spec.update_strategy
    yield from _strategy(strategy, ("spec", "updateStrategy"), ("RollingUpdate", "OnDelete"))
    partition = strategy.rolling_update.partition if strategy and strategy.rolling_update else None
    if partition is not None and partition < 0:
        where = ("spec", "updateStrategy", "rollingUpdate", "partition")
        yield Finding(where, f"expected a number at least 0, got {partition}")
    templates = obj.spec.volume_claim_templates or ()
    for index, template in enumerate(templates):
        yield from _claim_spec(template.spec, ("spec", "volumeClaimTemplates", index, "spec"))
    claims = [template.metadata.name for template in templates]
    yield from template_refusals(obj.spec.template.spec, (*_TEMPLATE, "spec"), restart=_FOREVER, claims=claims)


def _replication_controller(obj: workloads.ReplicationController) -> Iterator[Finding]:
    template = obj.spec.template
    if template is None:
        yield _missing_field(("spec",), "template")
        return
    labels = template.metadata.labels or {}
    if not (obj.spec.selector or labels):
        yield _missing_field(("spec",), "selector")
    elif not selectors.compile_labels(obj.spec.selector).matches(labels):
        yield _mismatch()
    yield from template_refusals(template.spec, (*_TEMPLATE, "spec"), restart=_FOREVER)


def _job(obj: workloads.Job) -> Iterator[Finding]:
    yield from _short(obj.metadata, _LONGEST_JOB if obj.spec.completion_mode != "Indexed" else _LONGEST_JOB - 2)
    yield from _job_spec(obj.spec, ("spec",))


def _job_spec(spec: workloads.JobSpec, path: Path) -> Iterator[Finding]:
    # the server fills in both numbers where neither is given
    if spec.completion_mode == "Indexed" and spec.completions is None and spec.parallelism is not None:
        yield Finding((*path, "completions"), "completionMode: Indexed needs completions")
    yield from template_refusals(spec.template.spec, (*path, "template", "spec"), restart=_ENDING)


def _cron_job(obj: workloads.CronJob) -> Iterator[Finding]:
    yield from _short(obj.metadata, _LONGEST_CRON_JOB)
    if not obj.spec.schedule:
        yield _missing_field(("spec",), "schedule")
    elif message := schedule_problem(obj.spec.schedule):
        yield Finding(("spec", "schedule"), message)
    yield from _job_spec(obj.spec.job_template.spec, ("spec", "jobTemplate", "spec"))


def _short(metadata: ObjectMeta, most: int) -> Iterator[Finding]:
    if len(metadata.name) > most:
        yield Finding(("metadata", "name"), f"must be no more than {most} characters")


def _pod_template(obj: PodTemplate) -> Iterator[Finding]:
    yield from template_refusals(obj.template.spec, ("template", "spec"))


def _pod(obj: Pod) -> Iterator[Finding]:
    yield from template_refusals(obj.spec, ("spec",))


def _claim(obj: PersistentVolumeClaim) -> Iterator[Finding]:
    yield from _claim_spec(obj.spec, ("spec",))


def _claim_spec(spec: PersistentVolumeClaimSpec, path: Path) -> Iterator[Finding]:
    if not spec.access_modes:
        yield _missing_field(path, "accessModes")
    size = ((spec.resources.requests if spec.resources else None) or {}).get("storage")
    where = (*path, "resources", "requests")
    if size is None:
        yield _missing_field(where, "storage")
    elif quantities.parse(size).unscaled <= 0:
        yield Finding((*where, "storage"), f"expected a size greater than 0, got {size}")


def _scaler(obj: workloads.HorizontalPodAutoscaler) -> Iterator[Finding]:
    least, most = obj.spec.min_replicas, obj.spec.max_replicas
    if most < 1:
        yield Finding(("spec", "maxReplicas"), f"expected a number at least 1, got {most}")
    elif least is not None and least > most:
        yield Finding(("spec", "maxReplicas"), f"expected a number at least minReplicas, which is {least}, got {most}")
    if least is not None and least < 0:
        yield Finding(("spec", "minReplicas"), f"expected a number at least 0, got {least}")
    for field, text in (("kind", obj.spec.scale_target_ref.kind), ("name", obj.spec.scale_target_ref.name)):
        if not text:
            yield _missing_field(("spec", "scaleTargetRef"), field)


@lru_cache(maxsize=1024)
def schedule_problem(text: str) -> str:
    """Return what is wrong with a CronJob's schedule, "" if nothing is."""
    if text.startswith("@"):
        if text in _MACROS or re.fullmatch(r"@every ([0-9.]+(ns|us|µs|ms|s|m|h))+", text):
            return ""
        return f"unknown schedule {quote(text)}; expected one of {', '.join(_MACROS)}"
    if "TZ=" in text:  # also CRON_TZ=; the parser would take both, the API server takes neither
        return "a time zone in the schedule is not allowed; use timeZone"
    fields = text.split()
    if len(fields) != len(_SCHEDULE_FIELDS):
        return f"expected five fields (minute, hour, day of month, month, day of week), got {len(fields)}"
    for field, (name, least, most, words) in zip(fields, _SCHEDULE_FIELDS, strict=True):
        for part in field.split(","):
            if not _schedule_part(part.lower(), least, most, words):
                return f"{quote(part)} is not a valid {name}"
    return ""


def _schedule_part(part: str, least: int, most: int, words: tuple[str, ...]) -> bool:
    span, slash, step = part.partition("/")
    if slash and not (step.isdecimal() and int(step) > 0):
        return False
    if span in ("*", "?"):
        return True
    ends = [_schedule_number(end, least, words) for end in span.split("-")]
    return len(ends) <= 2 and all(end is not None and least <= end <= most for end in ends) and ends == sorted(ends)


def _schedule_number(text: str, least: int, words: tuple[str, ...]) -> int:
    if text in words:
        return words.index(text) + least
    return int(text) if text.isdecimal() else -1


_RULES: dict[type, Callable[[Any], Iterator[Finding]]] = {
    Pod: _pod,
    PodTemplate: _pod_template,
    workloads.Deployment: _deployment,
    workloads.ReplicaSet: _replica_set,
    workloads.DaemonSet: _daemon_set,
    workloads.StatefulSet: _stateful_set,
    workloads.ReplicationController: _replication_controller,
    workloads.Job: _job,
    workloads.CronJob: _cron_job,
    PersistentVolumeClaim: _claim,
    workloads.HorizontalPodAutoscaler: _scaler,
}
"""By struct, what is refused about an object that is about to be created."""
