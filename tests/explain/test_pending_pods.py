"""Groups of pending pods, each explained by one of its pods; fixes are looked for as long as the budget lasts."""

import pytest

from schedctl.explain.pending_pods import PendingPodExplainer
from schedctl.reports.simulations import Fate, PendingPods
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod


@pytest.mark.parametrize(
    ("budget", "tried"),
    [pytest.param(1, True, id="within the budget"), pytest.param(0, False, id="beyond it, which is said")],
)
def test_a_group_has_fixes_or_says_that_none_were_tried(budget, tried):
    scheduler = Scheduler(cluster(node("a", labels={"disk": "ssd"})))
    pending = pod("web", nodeSelector={"disk": "sdd"})
    group = PendingPods(fate=Fate.UNSCHEDULABLE, message="", plugins=[], pods=["web"])
    explained = PendingPodExplainer(scheduler, budget).add_reasons(group, pending)
    assert bool(explained.hints) is tried
    assert any(note.startswith("no fixes were tried") for note in explained.notes) is not tried
