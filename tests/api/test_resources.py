"""What pods ask for and nodes offer, in each of the ways the scheduler counts it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api import resources
from schedctl.api.pods import Pod
from schedctl.api.resources import DEFAULT_MEMORY, DEFAULT_MILLI_CPU

MI = 1 << 20


def container(name="main", *, sidecar=False, **requests):
    made = {"name": name, "resources": {"requests": requests}}
    return {**made, "restartPolicy": "Always"} if sidecar else made


def demand(*containers, init=(), status=None, **spec):
    obj = {"spec": {"containers": list(containers), "initContainers": list(init), **spec}, "status": status or {}}
    return resources.demand_of(msgspec.convert(obj, Pod))


def granted(name="main", *, actual=None, **allocated):
    status = {"name": name, "allocatedResources": allocated}
    return {**status, "resources": {"requests": actual}} if actual is not None else status


INFEASIBLE = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
DEFERRED = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]


@pytest.mark.parametrize(
    ("pod", "pending"),
    [
        pytest.param(demand(), {}, id="a pod without containers asks for nothing"),
        pytest.param(
            demand(container("a", cpu="1", memory="1Gi"), container("b", cpu="500m")),
            {"cpu": 1500, "memory": 1024 * MI},
            id="containers add up",
        ),
        pytest.param(
            demand(container(cpu="1"), init=[container("i", cpu="3"), container("j", cpu="2", memory="1Mi")]),
            {"cpu": 3000, "memory": MI},
            id="init containers count by the largest of them",
        ),
        pytest.param(
            demand(container(cpu="1"), init=[container("s", sidecar=True, cpu="2")]),
            {"cpu": 3000},
            id="a sidecar stays beside the containers",
        ),
        pytest.param(
            demand(container(cpu="1"), init=[container("s", sidecar=True, cpu="2"), container("i", cpu="3")]),
            {"cpu": 5000},
            id="an init container runs beside the sidecars before it",
        ),
        pytest.param(
            demand(container(cpu="1"), init=[container("i", cpu="3"), container("s", sidecar=True, cpu="2")]),
            {"cpu": 3000},
            id="an init container does not run beside the sidecars behind it",
        ),
        pytest.param(
            demand(container(cpu="1"), overhead={"cpu": "250m", "memory": "1Mi"}),
            {"cpu": 1250, "memory": MI},
            id="overhead comes on top",
        ),
        pytest.param(
            demand(container(cpu="1", memory="2Gi"), resources={"requests": {"cpu": "3"}}, overhead={"cpu": "1"}),
            {"cpu": 4000, "memory": 2048 * MI},
            id="a pod-level request replaces the containers', overhead comes on top",
        ),
        pytest.param(
            demand(container(**{"nvidia.com/gpu": "1"}), resources={"requests": {"nvidia.com/gpu": "5"}}),
            {"nvidia.com/gpu": 1},
            id="an extended resource cannot be asked for at pod level",
        ),
        pytest.param(
            demand(container(**{"foo": "1", "storage": "1Gi", "pods": "2", "hugepages-2Mi": "2Mi"})),
            {"hugepages-2Mi": 2 * MI},
            id="resources the scheduler does not know are dropped",
        ),
        pytest.param(
            demand(container("a", memory="5Ei"), container("b", memory="6Ei")),
            {"memory": 0},
            id="a sum that wraps below 0 asks for nothing",
        ),
        pytest.param(
            demand(container(cpu="1"), status={"containerStatuses": [granted(cpu="4")]}),
            {"cpu": 1000},
            id="the status of a pending pod does not count",
        ),
    ],
)
def test_what_a_pending_pod_asks_for(pod, pending):
    assert pod.fit_requests == pending


@pytest.mark.parametrize(
    ("status", "cpu"),
    [
        pytest.param({"containerStatuses": [granted(cpu="1")]}, 2000, id="a resize up counts before it is granted"),
        pytest.param({"containerStatuses": [granted(cpu="3")]}, 3000, id="a resize down counts once it is granted"),
        pytest.param(
            {"containerStatuses": [granted(cpu="1", actual={"cpu": "4"})]},
            4000,
            id="a resize down counts once it is done",
        ),
        pytest.param(
            {"containerStatuses": [granted(cpu="1")], "conditions": DEFERRED}, 2000, id="a deferred resize counts"
        ),
        pytest.param(
            {"containerStatuses": [granted(cpu="1")], "conditions": INFEASIBLE},
            1000,
            id="a refused resize does not count",
        ),
        pytest.param({"conditions": INFEASIBLE}, 0, id="nothing is known of what a refused resize left behind"),
        pytest.param({"containerStatuses": [granted("other", cpu="9")]}, 2000, id="a stranger's status does not count"),
        pytest.param(
            {"allocatedResources": {"cpu": "5"}, "resources": {"requests": {"cpu": "6"}}},
            6000,
            id="the status of the pod as a whole stands for its containers'",
        ),
        pytest.param(
            {"allocatedResources": {"cpu": "5"}, "containerStatuses": [granted(cpu="1")]},
            2000,
            id="half a status of the pod as a whole does not",
        ),
    ],
)
def test_what_a_running_pod_takes_while_it_is_resized(status, cpu):
    pod = demand(container(cpu="2"), status=status)
    assert pod.requests.exact.get("cpu", 0) == cpu
    assert pod.balanced_allocation_requests.get("cpu", 0) == cpu


@pytest.mark.parametrize(
    ("status", "cpu"),
    [
        pytest.param({}, 3000, id="without a status what is asked for counts"),
        pytest.param({"resources": {"requests": {"cpu": "4"}}}, 4000, id="what it runs with counts"),
        pytest.param({"allocatedResources": {"cpu": "4"}}, 3000, id="a grant alone does not"),
        pytest.param(
            {"resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "2"}, "conditions": INFEASIBLE},
            2000,
            id="a refused resize leaves what was granted",
        ),
    ],
)
def test_what_a_running_pod_takes_while_it_is_resized_as_a_whole(status, cpu):
    assert demand(container(cpu="1"), resources={"requests": {"cpu": "3"}}, status=status).requests.exact["cpu"] == cpu


@pytest.mark.parametrize(
    ("pod", "running", "pending"),
    [
        pytest.param(
            demand(container("a"), container("b", cpu="0", memory="0")),
            (DEFAULT_MILLI_CPU, DEFAULT_MEMORY),
            (DEFAULT_MILLI_CPU, DEFAULT_MEMORY),
            id="a container that asks for nothing counts a little, one that asks for 0 counts 0",
        ),
        pytest.param(
            demand(container(cpu="1"), resources={"requests": {"cpu": "3"}}),
            (3000, DEFAULT_MEMORY),
            (1000, DEFAULT_MEMORY),
            id="NodeResourcesFit does not score by pod-level requests, running pods are charged with them",
        ),
        pytest.param(
            demand(container("a", memory="1Gi"), container("b"), resources={"requests": {"cpu": "3"}}),
            (3000, 1024 * MI),
            (2 * DEFAULT_MILLI_CPU, 1024 * MI + DEFAULT_MEMORY),
            id="with pod-level requests a container counts a little only where no container asks",
        ),
        pytest.param(
            demand(container(), overhead={"cpu": "10m"}),
            (DEFAULT_MILLI_CPU + 10, DEFAULT_MEMORY),
            (DEFAULT_MILLI_CPU + 10, DEFAULT_MEMORY),
            id="overhead comes on top",
        ),
    ],
)
def test_what_a_pod_counts_as_when_nodes_are_scored(pod, running, pending):
    assert (pod.requests.scored_cpu, pod.requests.scored_memory) == running
    assert (pod.fit_score_requests["cpu"], pod.fit_score_requests["memory"]) == pending


@pytest.mark.parametrize(
    ("name", "extended", "scalar"),
    [
        pytest.param("nvidia.com/gpu", True, True, id="a vendor's resource is extended"),
        pytest.param("hugepages-2Mi", False, True, id="huge pages are counted"),
        pytest.param("attachable-volumes-aws-ebs", False, True, id="attachable volumes are counted"),
        pytest.param("kubernetes.io/batteries", False, True, id="Kubernetes' own names are counted but not extended"),
        pytest.param("deviceclass.resource.kubernetes.io/gpu", False, True, id="so are device classes"),
        pytest.param("gpu", False, False, id="a name without a prefix is not counted"),
        pytest.param("requests.nvidia.com/gpu", False, False, id="a quota name is not counted"),
        pytest.param("Nvidia.com/gpu", False, False, id="a prefix is lower case"),
        pytest.param("nvidia.com/a/b", False, False, id="a name has one slash"),
        pytest.param("nvidia.com/" + "a" * 64, False, False, id="a name has 63 letters at most"),
    ],
)
def test_a_resource_name_is_extended_or_scalar(name, extended, scalar):
    assert (resources.is_extended(name), resources.is_scalar(name)) == (extended, scalar)


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        ("nvidia.com/gpu", True),
        ("cpu", False),
        ("kubernetes.io/x", False),
        ("x.kubernetes.io/y", False),
        ("requests.example.com/x", False),
        ("a" * 250 + "/x", False),
    ],
    ids=[
        "one of a vendor",
        "a native one",
        "one of Kubernetes",
        "one beneath Kubernetes",
        "one that looks like a quota",
        "one too long for a quota",
    ],
)
def test_an_extended_resource_is(name, fine):
    assert (resources.extended_resource_problems(name) == []) is fine


def test_what_a_node_offers():
    offered = {"cpu": "3500m", "memory": "1Gi", "pods": "110", "nvidia.com/gpu": "2", "storage": "1Gi"}
    assert resources.allocatable(offered) == {
        "cpu": 3500,
        "memory": 1024 * MI,
        "pods": 110,
        "nvidia.com/gpu": 2,
    }
    assert resources.allocatable(None) == {}


cpu = st.integers(0, 5000).map(lambda milli: f"{milli}m")
containers = st.lists(
    st.builds(lambda cpu, sidecar: container(sidecar=sidecar, cpu=cpu), cpu, st.booleans()), max_size=4
)


def total(containers):
    return sum(int(each["resources"]["requests"]["cpu"][:-1]) for each in containers)


@given(containers, containers)
def test_a_pod_asks_for_no_less_than_its_containers_and_no_more_than_all_together(main, init):
    requested = demand(*main, init=init).fit_requests.get("cpu", 0)
    assert max([total(main), *(total([each]) for each in init)]) <= requested <= total(main) + total(init)


@given(containers, containers)
def test_without_a_status_running_and_pending_pods_ask_for_the_same(main, init):
    pod = demand(*main, init=init)
    assert pod.requests.exact == pod.fit_requests == pod.balanced_allocation_requests


@given(containers, containers)
def test_pods_written_alike_share_their_demand(main, init):
    assert demand(*main, init=init) is demand(*main, init=init)
