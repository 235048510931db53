"""The intervals of the scheduling queue, in seconds, as in kube-scheduler; `explain` names them beside `queues`."""

from __future__ import annotations

MAX_UNSCHEDULABLE = 5 * 60.0
"""A pod that has been unschedulable for longer than this is tried again, whatever happened."""
FLUSH_INTERVAL = 30.0
"""How often the queue looks for such pods."""
WINDOW = 1.0
"""Backoffs end at whole multiples of this; pods whose backoffs end together are ordered as if they were active."""
