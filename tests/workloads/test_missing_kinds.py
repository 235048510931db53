"""Clusters that lack kinds: what admission would have looked at is remembered by pod."""

import msgspec
import pytest

from schedctl.api.gaps import Gap
from schedctl.api.pods import Pod
from schedctl.api.policies import LimitRange, PriorityClass, RuntimeClass
from schedctl.workloads.clusters import assemble


def written(uid="", **spec):
    spec = {"containers": [{"name": "main", "image": "web"}], **spec}
    return msgspec.convert({"metadata": {"name": "web", "namespace": "default", "uid": uid}, "spec": spec}, Pod)


ADMITTED = {
    "a range could complete a pod written by hand": (written(), "LimitRange", {LimitRange}),
    "a class could give it a priority": (written(), "PriorityClass", {PriorityClass}),
    "it names a class that may be there": (written(runtimeClassName="kata"), "RuntimeClass", {RuntimeClass}),
    "it names no runtime": (written(), "RuntimeClass", set()),
    "a pod of a cluster has been admitted": (written(uid="u"), "LimitRange", set()),
    "no quota is asked of pods that are there": (written(), "ResourceQuota", set()),
}


@pytest.mark.parametrize(("pod", "missing", "unknown"), ADMITTED.values(), ids=ADMITTED)
def test_what_admission_would_have_looked_at(pod, missing, unknown):
    made = assemble([pod], [Gap(missing, "Forbidden")])
    assert {kind for kinds in made.unknown.values() for kind in kinds} == unknown
    assert [gap.kind for gap in made.cluster.missing.values()] == [missing]
