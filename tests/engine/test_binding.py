"""From the chosen node to the bound pod: who is asked in which order, and what a failure undoes."""

import pytest

from schedctl.engine.binding import MAX_WAIT, BindingCycle, wait_on_permit
from schedctl.engine.reporters import Reporter
from schedctl.framework.cycles import Cycle
from schedctl.framework.idle_methods import idle_when_skipped
from schedctl.framework.points import BindPlugin, PermitPlugin, PostBindPlugin, PreBindPlugin, ReservePlugin
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import SKIP, SUCCESS, Code, error, unschedulable, wait
from schedctl.framework.waiting_pods import WaitingPod
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
    cycle = BindingCycle(profile, made, Cycle(made.pending["default/p"]), "a", Reporter())
    reservation = cycle.reserve()
    status = reservation.status
    if status.successful:
        status = cycle.pre_bind()
    if status.successful:
        status = cycle.bind()
    if status.successful:
        cycle.post_bind()
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


@pytest.mark.parametrize("point", ["reserve", "permit", "pre_bind", "bind"])
def test_plugins_after_one_that_refuses_are_not_called(point):
    calls, _, _, _ = run({point: unschedulable("no")})
    assert calls[-3:] == [f"{point} 1", "unreserve 2", "unreserve 1"]


def test_bind_plugins_after_one_that_binds_are_not_called():
    calls, status, _, _ = run()
    assert "bind 2" not in calls
    assert status.successful


def test_pod_that_one_permit_plugin_would_hold_and_another_rejects_is_rejected_at_once():
    calls, status, waits, placed = run({"permit": wait(5)}, {"permit": unschedulable("no")})
    assert (status.code, waits, placed) == (Code.UNSCHEDULABLE, {}, False)
    assert calls[-4:] == ["permit 1", "permit 2", "unreserve 2", "unreserve 1"]


class Looking(ReservePlugin, PostBindPlugin):
    """Looks where the pod is."""

    def __init__(self, made):
        super().__init__(None, None)
        self.made, self.seen = made, []

    def reserve(self, cycle, node_name):
        self.seen.append(cycle.pod.key in self.made.pod_table.row_of)
        return unschedulable("no")

    def unreserve(self, cycle, node_name):
        self.seen.append(cycle.pod.key in self.made.pod_table.row_of)

    def post_bind(self, cycle, node_name):
        raise AssertionError("it is not bound")


def test_pod_is_assumed_before_reserve_and_forgotten_after_unreserve():
    made = cluster(node("a"), pod("p"))
    plugin = Looking(made)
    profile = Profile("default-scheduler", reserve=(plugin,), post_bind=(plugin,))
    BindingCycle(profile, made, Cycle(made.pending["default/p"]), "a", Reporter()).reserve()
    assert plugin.seen == [True, True]
    assert "default/p" in made.pending


def test_pod_is_given_up_once():
    calls, _, _, _ = run({"bind": unschedulable("no")})
    assert calls.count("unreserve 1") == 1


class Broken(RecordingPlugin):
    def unreserve(self, cycle, node_name):
        super().unreserve(cycle, node_name)
        raise KeyboardInterrupt


def test_unreserve_goes_on_through_an_interrupt():
    calls, made = [], cluster(node("a"), pod("p"))
    plugins = (RecordingPlugin("1", calls, reserve=unschedulable("no")), Broken("2", calls))
    profile = Profile("default-scheduler", reserve=plugins)
    cycle = BindingCycle(profile, made, Cycle(made.pending["default/p"]), "a", Reporter())
    with pytest.raises(KeyboardInterrupt):
        cycle.reserve()
    assert calls == ["reserve 1", "unreserve 2", "unreserve 1"]
    assert "default/p" in made.pending
    cycle.give_up(error("again"))
    assert calls.count("unreserve 1") == 1


def waiting_pods(*waits):
    infos = [cluster(pod(f"p{number}")).pending[f"default/p{number}"] for number in range(len(waits))]
    return [WaitingPod(info, "a", each, 0.0) for info, each in zip(infos, waits, strict=True)]


def test_pods_that_wait_on_permit_go_on_when_all_plugins_allow_all_of_them():
    one, two = waiting_pods({"A": 5.0, "B": 5.0}, {"A": 5.0})
    allow = iter([lambda: one.allow("A"), lambda: two.allow("A"), lambda: one.allow("B")])
    assert wait_on_permit([one, two], now=lambda: 1.0, sleep=lambda seconds: next(allow)()) is None
    assert list(allow) == []


def test_rejection_of_one_waiting_pod_ends_the_wait_of_all():
    one, two = waiting_pods({"A": 5.0}, {"A": 5.0})
    refused = wait_on_permit([one, two], now=lambda: 1.0, sleep=lambda seconds: two.reject("A", "no"))
    assert refused is two
    assert refused.verdict.message == "no"


def test_wait_on_permit_ends_with_the_first_timeout():
    now = iter(range(10))
    (one,) = waiting_pods({"A": 3.0, "B": 5.0})
    refused = wait_on_permit([one], now=lambda: float(next(now)), sleep=lambda seconds: None)
    assert refused.verdict.message == "rejected due to timeout after waiting 3s at plugin A"


def test_permit_wait_is_capped():
    calls, status, waits, placed = run({"permit": wait(5)}, {"permit": wait(10_000)})
    assert status.code is Code.WAIT
    assert list(waits.values()) == [MAX_WAIT]  # both plugins share a name here; the later one counts
    assert calls[-1] == "permit 2"
    assert placed


class IdlePlugin(RecordingPlugin):
    """Has nothing to reserve for pods that its PreFilter skips."""

    name = "Idle"

    @idle_when_skipped
    def reserve(self, cycle, node_name):
        return super().reserve(cycle, node_name)


class BusyPlugin(IdlePlugin):
    """Has."""

    name = "Busy"

    def reserve(self, cycle, node_name):
        return self._answer("reserve")


@pytest.mark.parametrize(
    ("skipped", "called"),
    [({"Idle", "Busy"}, ["reserve busy"]), ({"Busy"}, ["reserve idle", "reserve busy"])],
    ids=["skipped", "not skipped"],
)
def test_method_that_is_idle_is_not_called_for_a_skipped_pod_and_counts_as_success(skipped, called):
    calls, heard = [], []

    class Hears(Reporter):
        def plugin_called(self, pod, point, plugin, status):
            heard.append((point, plugin, status.successful))

    profile = Profile("default-scheduler", reserve=(IdlePlugin("idle", calls), BusyPlugin("busy", calls)))
    made = cluster(node("a"), pod("p"))
    cycle = Cycle(made.pending["default/p"], skip_filter=skipped)
    binding = BindingCycle(profile, made, cycle, "a", Hears())
    assert binding.reserve().status.successful
    assert calls == called
    assert heard == [("Reserve", "Idle", True), ("Reserve", "Busy", True)]
    binding.give_up(unschedulable("no"))
    assert calls[len(called) :] == ["unreserve busy", "unreserve idle"]
