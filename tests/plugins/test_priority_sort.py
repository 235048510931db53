"""PrioritySort."""

from schedctl.plugins.priority_sort import PrioritySort
from schedctl.testing.builders import pod


def test_pods_are_sorted_by_priority_and_then_by_arrival():
    arrivals = {"late": (10, 3.0), "early": (10, 1.0), "urgent": (20, 9.0), "none": (None, 0.0), "negative": (-1, 0.0)}
    key = PrioritySort(None, None).sort_key
    keys = {name: key(pod(name, priority=priority), arrival) for name, (priority, arrival) in arrivals.items()}
    assert sorted(keys, key=keys.__getitem__) == ["urgent", "early", "late", "none", "negative"]
