"""EarliestDeadlineFirst: a QueueSort that tries first what has to be ready first.

For batch work with a due time, which the annotation ``batch.example.com/deadline`` gives (RFC 3339).

Extension point: ``queueSort``. A scheduler has one QueueSort only, so that PrioritySort gives way to it::

    schedctl simulate jobs.yaml -f cluster.yaml --plugin examples/plugins/earliest_deadline_first.py \
        --scheduler-config examples/profiles/earliest-deadline-first.yaml
"""

from __future__ import annotations

from schedctl.api import times
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.points import QueueSortPlugin

DEADLINE = "batch.example.com/deadline"
NEVER = 1 << 62


class EarliestDeadlineFirst(QueueSortPlugin):
    """Puts pods of higher priority first; of equal ones, those with the nearest deadline.

    Pods without a deadline come last, in order of arrival.
    """

    def signature(self, pod: PodInfo) -> tuple[int, int]:
        """Its priority and its deadline."""
        return pod.priority, _deadline(pod)

    def sort_key(self, pod: PodInfo, arrival: float) -> tuple[int, int, float]:
        """Return the priority, turned round, the deadline, and the arrival."""
        return -pod.priority, _deadline(pod), arrival


def _deadline(pod: PodInfo) -> int:
    """Return the deadline of a pod in nanoseconds since 1970."""
    text = (pod.pod.metadata.annotations or {}).get(DEADLINE, "")
    try:
        return times.unix_nanoseconds(text) if text else NEVER
    except ValueError:  # a deadline that is no time counts as none: a sort key cannot refuse a pod
        return NEVER
