"""Footprints are worked out once for pods that share their parts, and tell apart all that differ."""

from __future__ import annotations

import msgspec
import numpy as np

from schedctl.api.pods import Container, ContainerStatus, Pod, PodCondition, PodSpec, PodStatus, ResourceRequirements
from schedctl.api.resources import NEWEST_RULES
from schedctl.api.sharing import Sharing
from schedctl.cache import footprints
from schedctl.cache.cluster import Cluster
from schedctl.cache.footprints import Footprints
from schedctl.cache.pod_info import PodInfo
from schedctl.testing.builders import ZONE, cluster, node, pod

ASKING = [Container(name="c", resources=ResourceRequirements(requests={"cpu": "1"}))]
GRANTED = [ContainerStatus(name="c", allocated_resources={"cpu": "2"})]
INFEASIBLE = [PodCondition(type="PodResizePending", reason="Infeasible")]


def requested(status: PodStatus, known: Footprints) -> dict[str, int]:
    info = PodInfo(Pod(spec=PodSpec(containers=ASKING), status=status))
    code = known.code(info)
    assert known.amounts("cpu")[code] == info.requests.exact.get("cpu", 0)
    return info.requests.exact


def test_pods_that_share_their_parts_share_what_they_ask_for():
    known, spec = Footprints(), PodSpec(containers=ASKING)
    a, b = (PodInfo(Pod(spec=msgspec.structs.replace(spec, node_name=name))) for name in "ab")
    assert known.code(a) == known.code(b)
    assert a.demand is b.demand


def test_pod_that_is_counted_by_other_rules_has_no_equal_any_more():
    spec = PodSpec(containers=ASKING, resources=ResourceRequirements(requests={"cpu": "3"}))
    first, second = PodInfo(Pod(spec=spec)), PodInfo(Pod(spec=spec))
    known = Footprints()
    assert known.code(first) == known.code(second)
    assert second.equal is first
    assert second.count_by(NEWEST_RULES._replace(pod_level=False)).equal is None
    assert first.requests.exact["cpu"] == 3000
    assert second.requests.exact["cpu"] == 1000


def test_what_the_kubelet_has_granted_tells_pods_of_one_template_apart():
    known = Footprints()
    assert requested(PodStatus(), known) == {"cpu": 1000}
    assert requested(PodStatus(container_statuses=GRANTED), known) == {"cpu": 2000}
    assert requested(PodStatus(container_statuses=GRANTED, conditions=INFEASIBLE), known) == {"cpu": 2000}
    assert requested(PodStatus(conditions=INFEASIBLE), known) == {}
    assert requested(PodStatus(), known) == {"cpu": 1000}


def test_more_pods_than_are_remembered_keep_their_codes():
    known = Footprints()
    infos = [pod(f"p{i}", cpu=f"{i % 7 + 1}") for i in range(footprints._PODS_KEPT + 10)]
    codes = [known.code(info) for info in infos]
    assert codes == [i % 7 for i in range(len(infos))]


def test_many_pods_at_once_make_the_cluster_that_they_make_one_by_one():
    anti = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "a"}}}
            ]
        }
    }
    sharing = Sharing()
    infos = [
        PodInfo(sharing.pod(pod(f"p{i}", on="ab"[i % 2], labels={"app": "ab"[i % 3 > 0]}, cpu="1", **more).pod))
        for i, more in enumerate([{}, {"affinity": anti}] * 6)
    ]
    known: list[Cluster] = []
    for at_once in (True, False):
        made = cluster(node("a"), node("b"))
        made.pod_table.labels.column("app")  # a column that is there already is kept current
        if at_once:
            made.add_pods(infos)
        else:
            for info in infos:
                made.add_pod(info)
        known.append(made)
    many, single = known
    for of in (
        lambda c: c.pod_table.node,
        lambda c: c.pod_table.footprint,
        lambda c: c.pod_table.labels.column("app"),
        lambda c: c.node_table.requested[:, :2],
        lambda c: c.node_table.pod_count[:2],
    ):
        assert np.array_equal(of(many), of(single))
    assert many.pod_table.row_of == single.pod_table.row_of
    assert many.pod_table.labels.maps == single.pod_table.labels.maps
