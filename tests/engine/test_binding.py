"""From the chosen node to the bound pod: who is asked in which order, and what a failure undoes."""

import pytest

from schedctl.engine.binding import MAX_WAIT, bind, reserve
from schedctl.engine.reporters import Reporter
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import BindPlugin, PermitPlugin, PostBindPlugin, PreBindPlugin, ReservePlugin
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import SKIP, SUCCESS, Code, error, unschedulable, wait
from schedctl.testing.builders import cluster, node, pod


class RecordingPlugin(ReservePlugin, PermitPlugin, PreBindPlugin, BindPlugin, PostBindPlugin):
    """Writes down what it is asked, and answers what `args` says for each point."""

    def __init__(self, label, calls, **answers):
        super().__init__(answers, None)
        self.label, self.calls = label, calls

    def _answer(self, point):
        self.calls.append(f"{point} {self.label}")
        return self.args.get(point, SUCCESS)

    def reserve(self, cycle, node_name):
        return self._answer("reserve")

    def unreserve(self, cycle, node_name):
        self._answer("unreserve")

    def permit(self, cycle, node_name):
        return self._answer("permit")

    def pre_bind(self, cycle, node_name):
        return self._answer("pre_bind")

    def bind(self, cycle, node_name):
        return self._answer("bind")

    def post_bind(self, cycle, node_name):
        self._answer("post_bind")


def run(first=None, second=None):
    """Carry a pod through with two plugins; returns the calls, the last status, and where the pod is."""
    calls = []
    plugins = (RecordingPlugin("1", calls, **(first or {})), RecordingPlugin("2", calls, **(second or {})))
    points = ("reserve", "permit", "pre_bind", "bind", "post_bind")
    profile = Profile("default-scheduler", **dict.fromkeys(points, plugins))
    made = cluster(node("a"), pod("p"))
    cycle = Cycle(made.pending["default/p"])
    reservation = reserve(profile, made, cycle, "a", Reporter())
    status = reservation.status
    if status.successful:
        status = bind(profile, made, cycle, "a", Reporter())
    return calls, status, reservation.waits, "default/p" in made.pod_table.row_of


def test_first_bind_plugin_that_does_not_skip_binds_the_pod():
    calls, status, _, placed = run({"bind": SKIP})
    assert calls == [
        "reserve 1", "reserve 2", "permit 1", "permit 2", "pre_bind 1", "pre_bind 2", "bind 1", "bind 2",
        "post_bind 1", "post_bind 2",
    ]  # fmt: skip
    assert status.successful
    assert placed


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        pytest.param({}, {"reserve": unschedulable("taken")}, Code.UNSCHEDULABLE, id="a reservation that is refused"),
        pytest.param({}, {"reserve": error("broken")}, Code.ERROR, id="a reservation that fails"),
        pytest.param({"permit": unschedulable("no")}, {}, Code.UNSCHEDULABLE, id="a pod that is not permitted"),
        pytest.param({"pre_bind": error("broken")}, {}, Code.ERROR, id="a PreBind that fails"),
        pytest.param({"bind": error("broken")}, {}, Code.ERROR, id="a Bind that fails"),
        pytest.param({"bind": SKIP}, {"bind": SKIP}, Code.SKIP, id="a pod nobody binds"),
    ],
)
def test_failure_unreserves_in_reverse_order_and_forgets_the_pod(first, second, code):
    calls, status, _, placed = run(first, second)
    assert calls[-2:] == ["unreserve 2", "unreserve 1"]
    assert status.code is code
    assert not placed


def test_permit_wait_is_capped():
    calls, status, waits, placed = run({"permit": wait(5)}, {"permit": wait(10_000)})
    assert status.code is Code.WAIT
    assert list(waits.values()) == [MAX_WAIT]  # both plugins share a name here; the later one counts
    assert calls[-1] == "permit 2"
    assert placed
