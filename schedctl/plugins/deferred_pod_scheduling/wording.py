"""How rejections of DeferredPodScheduling read."""

from __future__ import annotations

from schedctl.framework.wording import Wording

WORDING = {
    "deferred-pod-scheduling/elsewhere": Wording(summary=lambda found: f"the pod runs on {found[0]['node']}"),
    "deferred-pod-scheduling/disabled": Wording(
        summary=lambda found: f"resize preemption is disabled by {', '.join(found[0]['owners'])}"
    ),
}
