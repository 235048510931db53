"""The plugins of kube-scheduler v1.37.1, as a registry would know them, and a short way to all problems of a text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schedctl.config.expansion import expand_all
from schedctl.config.loading import load
from schedctl.errors import ConfigError

KUBERNETES = """
    SchedulingGates                  preEnqueue
    PrioritySort                     queueSort
    NodeName                         preFilter filter
    NodeUnschedulable                preFilter filter
    TaintToleration                  preFilter filter preScore score
    NodeAffinity                     preFilter filter preScore score
    NodePorts                        preFilter filter
    NodeResourcesFit                 preFilter filter preScore score placementScore
    VolumeRestrictions               preFilter filter
    NodeVolumeLimits                 preFilter filter
    VolumeBinding                    preFilter filter preScore score reserve preBind
    VolumeZone                       preFilter filter
    PodTopologySpread                preFilter filter preScore score
    InterPodAffinity                 preFilter filter preScore score
    DynamicResources                 preEnqueue preFilter filter postFilter score reserve preBind podGroupPostFilter
    DefaultPreemption                preEnqueue postFilter podGroupPostFilter
    NodeResourcesBalancedAllocation  preScore score
    ImageLocality                    score
    DefaultBinder                    bind
    NodeDeclaredFeatures             preFilter filter
    GangScheduling                   preEnqueue permit
    DeferredPodScheduling            preFilter filter permit
    TopologyPlacementGenerator       placementGenerate
    PodGroupPodsCount                placementScore
"""


class Known(dict[str, set[str]]):
    """Extension points by plugin."""

    def implements(self, name: str, point: str) -> bool:
        return point in self.get(name, ())


@pytest.fixture(scope="session")
def kubernetes() -> Known:
    return Known((name, set(points)) for name, *points in map(str.split, KUBERNETES.strip().splitlines()))


@pytest.fixture(scope="session")
def problems_of(kubernetes) -> Callable[[str | bytes], list]:
    """Give every problem kube-scheduler's own plugins and we find in a text; none when it is accepted."""

    def problems(text: str | bytes) -> list:
        try:
            load(text, "config.yaml", check=lambda config: expand_all(config, kubernetes)[1])
        except ConfigError as error:
            return list(error.problems)
        return []

    return problems
