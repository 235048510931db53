"""Clusters that lack kinds: what admission would have looked at is remembered by pod."""

import msgspec
import pytest

from schedctl.api.gaps import Gap
from schedctl.api.pods import Pod
from schedctl.api.policies import LimitRange, PriorityClass, RuntimeClass
from schedctl.workloads.clusters import assemble


def manifest_pod(uid="", **spec):
    spec = {"containers": [{"name": "main", "image": "web"}], **spec}
    return msgspec.convert({"metadata": {"name": "web", "namespace": "default", "uid": uid}, "spec": spec}, Pod)


ADMITTED = {
    "a range could complete a pod written by hand": (manifest_pod(), "LimitRange", {LimitRange}),
    "a class could give it a priority": (manifest_pod(), "PriorityClass", {PriorityClass}),
    "it names a class that may be there": (manifest_pod(runtimeClassName="kata"), "RuntimeClass", {RuntimeClass}),
    "it names no runtime": (manifest_pod(), "RuntimeClass", set()),
    "a pod of a cluster has been admitted": (manifest_pod(uid="u"), "LimitRange", set()),
    "no quota is asked of pods that are there": (manifest_pod(), "ResourceQuota", set()),
}


@pytest.mark.parametrize(("pod", "missing", "unknown"), ADMITTED.values(), ids=ADMITTED)
def test_missing_kinds_that_admission_reads(pod, missing, unknown):
    made = assemble([pod], [Gap(missing, "Forbidden")])
    assert {kind for kinds in made.unknown.values() for kind in kinds} == unknown
    assert [gap.kind for gap in made.cluster.missing.values()] == [missing]
