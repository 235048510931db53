"""SchedulingGates."""

import pytest

from schedctl.framework.statuses import SUCCESS, unresolvable
from schedctl.plugins.scheduling_gates import SchedulingGates
from schedctl.testing.builders import pod


@pytest.mark.parametrize(
    ("gates", "status"),
    [
        pytest.param(None, SUCCESS, id="a pod without gates enters the queue"),
        pytest.param([], SUCCESS, id="so does one whose gates are all gone"),
        pytest.param(["a"], unresolvable("waiting for scheduling gates: [a]"), id="one gate keeps it out"),
        pytest.param(
            ["b", "a/c"], unresolvable("waiting for scheduling gates: [b a/c]"), id="gates are named in their order"
        ),
    ],
)
def test_pre_enqueue_keeps_a_gated_pod_out(gates, status):
    gated = None if gates is None else [{"name": name} for name in gates]
    assert SchedulingGates(None, None).pre_enqueue(pod(schedulingGates=gated)) == status
